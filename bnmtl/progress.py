"""Tells how far a learner is: to a callable of the user's own or by a bar on the terminal."""

import threading
from collections import namedtuple

ProgressEvent = namedtuple("ProgressEvent", ["stage", "task", "done", "total", "score"])
ProgressEvent.__doc__ = """One step of a learner.

Parameters
----------
stage : str
    What is being done.
task : str or None
    For which task, None for all.
done : int
    Steps done.
total : int or None
    Steps in all; None where nobody knows.
score : float or None
    Best score so far, in nats.
"""


class Reporter:
    """Context in which a learner runs and through which it reports.

    A copy that is sent to another process stays silent.

    Parameters
    ----------
    progress : False, True or callable
        True shows a bar on the terminal; a callable gets every `ProgressEvent`, one at a time, from
        whichever thread does the work.

    Raises
    ------
    TypeError
        If ``progress`` is something else.
    """

    def __init__(self, progress):
        if not isinstance(progress, bool) and not callable(progress):
            raise TypeError(
                "`progress` must be True, False or a callable that takes an event, got "
                f"{progress!r}."
            )
        self._progress = progress
        self._listener = progress if callable(progress) else None
        self._bar = None
        self._lock = threading.Lock()

    def __call__(self, stage, task=None, done=0, total=None, score=None):
        if self._listener is not None:
            with self._lock:
                self._listener(ProgressEvent(stage, task, done, total, score))

    def of(self, stage, task=None):
        """A function (done, total, score) that reports for one stage and task."""
        return lambda done, total, score: self(stage, task, done, total, score)

    def __enter__(self):
        if self._progress is True:
            self._bar = _Bar()
            self._listener = self._bar
            self._bar.start()
        return self

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._listener = None

    def __reduce__(self):
        return Reporter, (False,)


class _Bar:
    """A rich progress display with one line per stage and task."""

    def __init__(self):
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self._display = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[score]}"),
            TimeElapsedColumn(),
            transient=True,
        )
        self._lines = {}
        self.start = self._display.start
        self.stop = self._display.stop

    def __call__(self, event):
        key = (event.stage, event.task)
        if key not in self._lines:
            text = event.stage if event.task is None else f"{event.stage} {event.task}"
            self._lines[key] = self._display.add_task(text, total=event.total, score="")
        score = "" if event.score is None else f"score {event.score:.2f}"
        self._display.update(self._lines[key], completed=event.done, total=event.total, score=score)
