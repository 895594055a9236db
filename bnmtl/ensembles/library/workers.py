"""Worker processes, each of which can be ended when a task takes too long or too much memory."""

import sys
import time
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from joblib.externals.loky import ProcessPoolExecutor

from bnmtl.errors import InputError
from bnmtl.processes import ending_with_this

# Workers compute in one thread: they are the parallel axis, and sums do not depend on threads.
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
_POLL = 0.5  # seconds
_SPARE = 2**26  # bytes that a task needs at least, besides what is loaded


class Done(NamedTuple):
    """A finished task: its result, or the reason why it has none."""

    task: Any
    result: Any
    failure: str | None
    seconds: float


class _Worker:
    """A process that runs one task at a time."""

    def __init__(self, memory, warm_up=None):
        self._memory, self._warm_up = memory, warm_up
        self._executor = None
        self.prepare()

    def prepare(self):
        """Start the process, if there is none, without waiting for it."""
        if self._executor is None:
            self._executor = ProcessPoolExecutor(1, env=_ONE_THREAD, **ending_with_this())
            # Not in the initializer: the process waits for its parent's end before it loads more.
            self._ready = self._executor.submit(_begin, self._memory, self._warm_up)

    def start(self, task, function, arguments):
        """Run a task; its time begins when the process is ready."""
        self.prepare()
        self._ready.result()
        self.task, self.began, self.ended = task, time.monotonic(), None
        self.future = self._executor.submit(function, *arguments)
        self.future.add_done_callback(self._stop_clock)

    def has_memory(self):
        """Whether its limit leaves memory for tasks, once the process is ready."""
        return self._ready.result()

    def _stop_clock(self, _):
        self.ended = time.monotonic()

    @property
    def seconds(self):
        """Time that the task has taken."""
        return (self.ended or time.monotonic()) - self.began

    def end(self):
        """End the process at once."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None


def _begin(memory, warm_up):
    """In a new process: load and compile what tasks need, then limit the memory, if that can be."""
    import bnmtl.ensembles.library.families  # noqa: F401

    if warm_up is not None:
        warm_up()
    has_memory = _has_memory(memory)
    if memory is not None and has_memory:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    return has_memory


def _has_memory(memory):
    """Whether a limit leaves memory for tasks."""
    if memory is None:
        return True
    lines = Path("/proc/self/status").read_text().splitlines()
    (loaded,) = (int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
    return loaded + _SPARE <= memory


def check_memory_limit(max_memory):
    """Raise if the memory of processes cannot be limited on this system."""
    if max_memory is not None and not sys.platform.startswith("linux"):
        message = f"must be None on this system, got {max_memory!r}"
        raise InputError(message, argument="max_memory", remedy="only Linux limits memory")


def check_memory(max_memory, n_workers):
    """Raise if a limit for all processes leaves them no memory for tasks."""
    if max_memory is None:
        return
    worker = _Worker(max_memory // n_workers)
    try:
        if not worker.has_memory():
            message = f"must be enough for every process, got {max_memory / 1e9:g} GB"
            raise InputError(
                message, argument="max_memory", remedy="set it higher, or use fewer jobs"
            )
    finally:
        worker.end()


def run(function, tasks, arguments_of, n_workers, time_limit=None, memory=None, warm_up=None):
    """Run a function on tasks in processes; yield a `Done` for each as it finishes.

    Parameters
    ----------
    function : callable
    tasks : iterable
    arguments_of : callable
        A task -> the arguments of the function.
    n_workers : int
    time_limit : float, default=None
        Seconds after which the process of a task is ended, and its result does not count.
    memory : int, default=None
        Most bytes of data of a process.
    warm_up : callable, default=None
        Called in each new process, before the time of tasks begins.
    """
    waiting, busy = iter(tasks), []
    idle = [_Worker(memory, warm_up) for _ in range(n_workers)]
    try:
        while True:
            while idle and (task := next(waiting, None)) is not None:
                worker = idle.pop()
                busy.append(worker)
                worker.start(task, function, arguments_of(task))
            if not busy:
                return
            wait([worker.future for worker in busy], _POLL, FIRST_COMPLETED)
            for worker in list(busy):
                done = _finished(worker, time_limit)
                if done is not None:
                    busy.remove(worker)
                    idle.append(worker)
                    yield done
    finally:
        for worker in [*idle, *busy]:
            worker.end()


def _finished(worker, time_limit):
    """The `Done` of a worker, or None while it is busy; ends the process if it must."""
    is_done = worker.future.done()
    if time_limit is not None and worker.seconds >= time_limit:
        if not is_done:
            worker.end()
        return Done(worker.task, None, f"it took more than {time_limit:g} seconds", time_limit)
    if not is_done:
        return None
    try:
        return Done(worker.task, worker.future.result(), None, worker.seconds)
    except MemoryError:
        failure = "it needed more memory than it may have"
    except BrokenProcessPool:
        failure = "its process ended, for example for lack of memory"
    except Exception as error:
        line = (str(error).splitlines() or [""])[0].rstrip(". ")
        return Done(worker.task, None, f"{type(error).__name__}: {line}", worker.seconds)
    worker.end()
    return Done(worker.task, None, failure, worker.seconds)
