"""Progress: what is drawn, and that only real totals are promised."""

import io
import pickle

import pytest
from rich.console import Console

from bnmtl.progress import Bar, ProgressEvent, Reporter

pytestmark = pytest.mark.beside_kernels


@pytest.fixture
def bar():
    with Bar(Console(file=io.StringIO(), force_terminal=True)) as bar:
        yield bar


def shown(bar):
    """Every line of the display: description -> (completed, total, count, detail)."""
    return {
        line.description: (line.completed, line.total, line.fields["count"], line.fields["detail"])
        for line in bar._display.tasks
    }


def test_steps_add_up_over_tasks(bar):
    bar(ProgressEvent("single-task", "north", 3, 10, -5.0))
    bar(ProgressEvent("single-task", "south", 10, 10, -7.5))
    assert shown(bar) == {"single-task": (13, 20, "13/20", "south  score -7.5")}


def test_without_a_total_there_is_a_counter(bar):
    bar(ProgressEvent("multitask from empty", None, 4, None, -1234.25))
    assert shown(bar) == {"multitask from empty": (4, None, "4", "  score -1,234.2")}


def test_what_has_no_steps_is_shown_until_a_step_is_done(bar):
    bar(ProgressEvent("compiling", None, 0, None, None))
    bar(ProgressEvent("single-task", "north", 0, 10, None))
    assert list(shown(bar)) == ["compiling", "single-task"]
    bar(ProgressEvent("single-task", "north", 1, 10, -5.0))
    assert list(shown(bar)) == ["single-task"]


def test_a_callable_gets_every_event():
    events = []
    with Reporter(events.append) as report:
        report.of("single-task", "north")(1, 5, -2.0)
        report("compiling")
    assert events == [
        ProgressEvent("single-task", "north", 1, 5, -2.0),
        ProgressEvent("compiling", None, 0, None, None),
    ]


def test_what_is_offered_does_not_wait():
    """Compilation reports in the middle of anything, even of the listener's own call."""
    events = []

    def listen(event):
        report.offer("compiling", done=1, total=3)
        events.append(event)

    with Reporter(listen) as report:
        report("single-task")
        assert [event.stage for event in events] == ["single-task"]
    with Reporter(events.append) as report:
        report.offer("compiling", done=2, total=3)
    assert events[1:] == [ProgressEvent("compiling", None, 2, 3, None)]


def test_a_copy_in_another_process_is_silent():
    """Workers of a cluster cannot draw on this terminal, and their listener may not travel."""
    copy = pickle.loads(pickle.dumps(Reporter(lambda event: None)))
    copy("single-task")
    assert copy._listener is None


def test_true_draws_and_clears(capsys):
    with Reporter(True) as report:
        report("single-task", "north", 1, 2, -1.0)
        assert report._listener is not None
    assert report._listener is None


def test_the_time_left_is_shown():
    text = io.StringIO()
    with Bar(Console(file=text, force_terminal=True, width=120)) as bar:
        for done in range(1, 4):
            bar(ProgressEvent("bootstrap", None, done, 4, None))
        bar._display.refresh()
    assert " left" in text.getvalue()
