"""Progress reports of learners, to a callable or as a bar on the terminal."""

import threading
from typing import NamedTuple

from bnmtl.errors import InputTypeError
from bnmtl.wording import printable, shown

# How the stage is called in which processes are started, before their number and memory.
STARTING = "starting"


class ProgressEvent(NamedTuple):
    """One step of a learner.

    Parameters
    ----------
    stage : str
        The current stage.
    task : str or None
        The task; None for all.
    done : int
        Number of completed steps.
    total : int or None
        Total number of steps; None if unknown.
    score : float or None
        Best score so far, in nats.
    """

    stage: str
    task: str | None
    done: int
    total: int | None
    score: float | None


def starts_processes(event):
    """Whether an event says how many processes are started, and how much memory each will need."""
    return event.stage.startswith(f"{STARTING} ") and event.total is None


class Reporter:
    """Context in which a learner runs and reports progress.

    A copy in another process stays silent.

    Parameters
    ----------
    progress : False, True or callable
        True shows a bar on the terminal; a callable receives every `ProgressEvent`, one at a time,
        from any thread.

    Raises
    ------
    InputTypeError
        If ``progress`` has another value.
    """

    def __init__(self, progress):
        if not isinstance(progress, bool) and (
            not callable(progress) or isinstance(progress, type)
        ):
            message = (
                f"must be True, False or a callable that takes an event, got {shown(progress)}"
            )
            raise InputTypeError(message, argument="progress")
        self._progress = progress
        self._listener = progress if callable(progress) else None
        self._lock = threading.Lock()

    def __call__(self, stage, task=None, done=0, total=None, score=None, wait=True):
        if self._listener is not None and self._lock.acquire(blocking=wait):
            try:
                self._listener(ProgressEvent(stage, task, done, total, score))
            finally:
                self._lock.release()

    def offer(self, stage, done, total):
        """Report a step, unless another thread or the listener itself is in the middle of one."""
        self(stage, done=done, total=total, wait=False)

    def of(self, stage, task=None):
        """A function (done, total, score) that reports one stage; None without a listener."""
        if self._listener is None:
            return None
        return lambda done, total, score: self(stage, task, done, total, score)

    def of_part(self, stage, before, total):
        """A function (done) that reports steps of a stage after ``before`` earlier ones."""
        return lambda done: self(stage, None, before + done, total)

    def __enter__(self):
        if self._progress is True:
            self._listener = Bar().__enter__()
        return self

    def __exit__(self, *problem):
        if self._progress is True:
            self._listener.__exit__(*problem)
            self._listener = None

    def __reduce__(self):
        return Reporter, (False,)


class Bar:
    """A display with a line per stage: steps done over all tasks, the latest score, time left.

    Parameters
    ----------
    console : rich.console.Console, default=None
        Output console; None uses rich's default for terminals and notebooks.
    """

    def __init__(self, console=None):
        from rich import progress

        self._display = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=24),
            progress.TextColumn("{task.fields[count]}"),
            progress.TextColumn("{task.fields[detail]}", style="dim", markup=False),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("left"),
            console=console,
            transient=True,
        )
        self._lines, self._counts = {}, {}
        # Stages without steps, such as compiling, are shown until the first step is done.
        self._announced = None

    def __enter__(self):
        self._display.start()
        return self

    def __exit__(self, *_):
        self._display.stop()

    def __call__(self, event):
        event = event._replace(stage=printable(event.stage))
        if self._announced is not None and event.done > 0:
            self._display.remove_task(self._announced)
            self._announced = None
        if event.total is None and event.done == 0:
            self._announced = self._display.add_task(event.stage, total=None, count="", detail="")
            return
        counts = self._counts.setdefault(event.stage, {})
        counts[event.task] = (event.done, event.total)
        if event.stage not in self._lines:
            line = self._display.add_task(event.stage, total=None, count="", detail="")
            self._lines[event.stage] = line
        done = sum(done for done, _ in counts.values())
        totals = [total for _, total in counts.values()]
        total = None if None in totals else sum(totals)
        count = f"{done}" if total is None else f"{done}/{total}"
        detail = printable(event.task or "")
        if event.score is not None:
            detail += f"  score {event.score:,.1f}"
        line = self._lines[event.stage]
        self._display.update(line, completed=done, total=total, count=count, detail=detail)
