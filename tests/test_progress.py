"""Progress: what is drawn, and that only real totals are promised."""

import io
import pickle
import re

import pytest
from rich.console import Console

from bnmtl.progress import Bar, ProgressEvent, Reporter

pytestmark = pytest.mark.beside_kernels


# A stage, its bar, what is said of it, and the time that it has taken.
LINE = re.compile(r"^(\S.*?) +(━*╸?) +((?:\S.*)?) +\d:\d\d:\d\d ", re.MULTILINE)


def shown(*events):
    """Every line on a terminal after some events: stage -> (bar of up to 24 signs, text)."""
    text = io.StringIO()
    with Bar(Console(file=text, force_terminal=True, color_system=None, width=120)) as bar:
        for event in events:
            bar(ProgressEvent(*event))
    # All lines are drawn once more before the end, in place of the earlier ones.
    last = text.getvalue().split("\x1b[?25h")[0].split("\x1b[2K")[-1]
    return {stage: (signs, words.strip()) for stage, signs, words in LINE.findall(last)}


def test_steps_add_up_over_tasks():
    events = [("single-task", "north", 3, 10, -5.0), ("single-task", "south", 10, 10, -7.5)]
    # 13 of 20 are 15 of 24 and a half.
    assert shown(*events) == {"single-task": ("━" * 15 + "╸", "13/20 south  score -7.5")}


def test_without_a_total_there_is_a_counter():
    event = ("multitask from empty", None, 4, None, -1234.25)
    assert shown(event) == {"multitask from empty": ("━" * 24, "4   score -1,234.2")}


def test_what_has_no_steps_is_shown_until_a_step_is_done():
    events = [("compiling", None, 0, None, None), ("single-task", "north", 0, 10, None)]
    assert shown(*events) == {"compiling": ("━" * 24, ""), "single-task": ("", "0/10 north")}
    assert list(shown(*events, ("single-task", "north", 1, 10, -5.0))) == ["single-task"]


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
    events = []
    reporter = Reporter(events.append)
    copy = pickle.loads(pickle.dumps(reporter))
    copy("single-task")
    assert events == [] and copy.of("single-task") is None
    reporter("single-task")
    assert len(events) == 1


def test_true_draws_and_clears(capsys):
    with Reporter(True) as report:
        report("single-task", "north", 1, 2, -1.0)
        assert report.of("single-task") is not None
    assert report.of("single-task") is None


def test_the_time_left_is_shown():
    text = io.StringIO()
    with Bar(Console(file=text, force_terminal=True, width=120)) as bar:
        for done in range(1, 4):
            bar(ProgressEvent("bootstrap", None, done, 4, None))
    assert " left" in text.getvalue()
