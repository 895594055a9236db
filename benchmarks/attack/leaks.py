"""What a call with bad input must not do: fail in words that are not ours, run on, or grow."""

import contextlib
import json
import os
import re
import resource
import select
import signal
import time
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

from bnmtl.errors import InputWarning, Mistake

SECONDS, GRACE = 10, 20  # for a case, and until a process that hears nothing is ended
# Bytes, of growth in one call, where the limit on text that is unpacked is 1 GiB; and of all that a
# process may address, so that a bomb does no harm.
MEMORY, ADDRESSED = 3 * 2**30, 48 * 2**30
_OURS = ("NotFittedError", "InvalidParameterError")
# Warnings of scikit-learn about the input itself.
_KNOWN_WARNINGS = ("DataConversionWarning", "ConvergenceWarning", "UndefinedMetricWarning")


class Case(NamedTuple):
    """A call with bad input.

    Attributes
    ----------
    name : str
        What is wrong with what.
    call : callable
    must_fail : bool
        Whether it must not be accepted.
    arguments : tuple of str
        Parameters that scikit-learn may name.
    """

    name: str
    call: object
    must_fail: bool = False
    arguments: tuple = ()


class Wrong(Exception):
    """A call that was accepted and did something wrong."""


class _TooLong(BaseException):
    """A call that did not end within its time."""


@contextlib.contextmanager
def _limit(seconds):
    def stop(signum, frame):
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def leak(case, seconds=SECONDS):
    """What leaks from a case, in one line; None if nothing does."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # nobody sees them
        try:
            with _limit(seconds):
                case.call()
        except _TooLong:
            return f"more than {seconds} s"
        except BaseException as error:
            found = of_error(error, case.arguments)
        else:
            found = "accepted" if case.must_fail else None
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if found is None and grown > MEMORY:
        found = f"{grown / 2**30:.1f} GiB more memory"
    return found or next((text for text in map(of_warning, caught) if text), None)


def of_error(error, arguments=()):
    """How an exception leaks; None if it is a sentence about the input."""
    text = str(error)
    if isinstance(error, Wrong):
        return f"wrong: {text}"
    if isinstance(error, Mistake):
        return _of_mistake(error, text)
    if isinstance(error, OSError) and (error.filename or "`path`" in text):
        return None  # about a path that was given
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{'/'.join(Path(last.filename).parts[-2:])}:{last.lineno}"
    if "sklearn" in last.filename and isinstance(error, ValueError | TypeError):
        names = "|".join(["X", "y", "sample_weight", *map(re.escape, arguments)])
        known = rf"\b({names})\b|Found array|feature|Reshape your data|n_samples|Unknown label"
        if re.search(known, text) or "sparse" in text.lower() or "inconsistent" in text:
            return None
    if type(error).__name__ in _OURS:
        return None
    return f"{type(error).__name__} at {where}: {text[:150]!r}"


def _of_mistake(error, text):
    """How one of our own errors is not a sentence that says what is wrong."""
    if not (error.argument or error.column or error.task or error.file or "`" in text):
        return f"no name: {text[:150]!r}"
    if "\n" in error.message or not text.endswith("."):
        return f"not one sentence: {text[:150]!r}"
    return None


def of_warning(caught):
    """How a warning leaks; None if it is about the input."""
    text = str(caught.message)
    if issubclass(caught.category, InputWarning) or caught.category.__name__ in _KNOWN_WARNINGS:
        return None
    if ("sklearn" in caught.filename and "X" in text) or "number of unique classes" in text:
        return None
    return f"warning {caught.category.__name__}: {text[:120]!r}"


def leaks(cases, seconds=SECONDS):
    """The number of cases and what leaks from them, by name; a process of its own does them.

    A case that hangs where no signal is heard, or ends the process, is one that leaks, too.
    """
    found, n_done, goes_on = {}, 0, True
    while goes_on:
        child, pipe = _child(cases, n_done, seconds)
        name, goes_on = None, False
        with os.fdopen(pipe, "rb", buffering=0) as lines:
            for line in _lines_until(lines, 2 * seconds + GRACE):
                kind, text = json.loads(line)
                if kind == "begin":
                    name, n_done = text, n_done + 1
                elif text is not None:
                    found[name] = text
                if kind == "end":
                    name = None
            else:
                is_hanging = select.select([lines], [], [], 0)[0] == []
        if is_hanging:
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if name is not None:
            found[name] = "hangs" if is_hanging else f"ends the process with {status}"
            goes_on = True
        elif status:
            raise RuntimeError(f"the cases end after {n_done}; see above")
    return n_done, found


def _child(cases, n_done, seconds):
    """A fork that does the cases after the first ones, and the pipe to which it reports."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSED, resource.RLIM_INFINITY))
        with os.fdopen(writing, "w", buffering=1) as report:
            for at, case in enumerate(cases()):
                if at >= n_done:
                    print(json.dumps(["begin", case.name]), file=report)
                    print(json.dumps(["end", leak(case, seconds)]), file=report)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _lines_until(file, seconds):
    """Yield lines of a pipe, up to its end, or until none comes for some seconds."""
    rest, deadline = b"", time.monotonic() + seconds
    while select.select([file], [], [], max(0, deadline - time.monotonic()))[0]:
        read = file.read(1 << 16)
        if not read:
            return
        deadline = time.monotonic() + seconds
        *lines, rest = (rest + read).split(b"\n")
        yield from lines
