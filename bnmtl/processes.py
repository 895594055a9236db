"""Worker processes, none of which outlives the process that starts it, and their temporary files.

A worker gets the number of its parent and the end of a pipe whose other end only the parent has.
The system closes that end when the parent ends, however it ends. Programs that fork have a second
copy of it, so a worker also looks whether there still is a process of that number.
"""

import atexit
import contextlib
import functools
import multiprocessing
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import threading
import warnings
from pathlib import Path

from filelock import FileLock, Timeout
from joblib import Parallel, effective_n_jobs

from bnmtl.progress import STARTING

_LOOK = 0.5  # seconds after which a worker looks for its parent again
_LOCK = r"bnmtl-[0-9a-f]{16}\.lock"
# Memory that is enough for joblib to prefer it to a disk, in bytes.
_SHARED, _ENOUGH = "/dev/shm", 2e9


@functools.cache
def _pipe(_):
    """Both ends of the pipe to the workers of the process with a number."""
    return multiprocessing.Pipe(duplex=False)


def ending_with_this():
    """Arguments of executors whose workers end together with this process.

    Returns
    -------
    dict
        With the same values every time, so that joblib may use the same workers again.
    """
    number = os.getpid()
    return {"initializer": _watch, "initargs": (_pipe(number)[0], number)}


def _watch(pipe, parent):
    """In a worker: start to wait for the end of the parent."""
    threading.Thread(target=_end_with, args=(pipe, parent), daemon=True).start()


def _end_with(pipe, parent):
    # A worker may be a copy of another process, which the parent has started for that.
    started_by = os.getppid()
    while os.getppid() == started_by and _exists(parent) and not pipe.poll(_LOOK):
        pass
    os._exit(1)


def _exists(number):
    """Whether there is a process with a number; always true where looking would end it."""
    if os.name != "posix":
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def n_workers(n_jobs, n_tasks):
    """How many processes or threads there are: never more than there are tasks.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib: -1 is as many as there are cores that this process may use.
    n_tasks : int

    Returns
    -------
    int

    Examples
    --------
    >>> n_workers(8, 3), n_workers(None, 3), n_workers(2, 0)
    (3, 1, 1)
    """
    return max(1, min(effective_n_jobs(n_jobs), n_tasks))


def in_processes(n_jobs, n_tasks, report=None, kind=Parallel, **options):
    """A `joblib.Parallel` whose workers end together with this process.

    Parameters
    ----------
    n_jobs : int or None
    n_tasks : int
        At most this number of workers is started.
    report : Reporter, default=None
        Gets how many are started, and about how much memory each will need.
    kind : type, default=joblib.Parallel
    **options
        As in `joblib.Parallel`.

    Returns
    -------
    joblib.Parallel, or of the given kind
    """
    n = n_workers(n_jobs, n_tasks)
    if n > 1:
        options = {**options, **ending_with_this(), "temp_folder": _folder_of(os.getpid())}
        if report is not None:
            report_start(report, n)
    return kind(n, **options)


def report_start(report, n):
    """Report how many processes are started, if several, and the memory each will need at least.

    A process loads the libraries that this one has loaded, and gets its rows, so it will hold about
    as much. What its models need comes on top.
    """
    memory = resident()
    if n > 1 and memory is not None:
        report(f"{STARTING} {n} processes of about {memory / 1e9:.1f} GB each, as this one has now")


def resident():
    """Bytes of memory that this process holds now, or at most so far; None if unknown."""
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(ImportError):
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return None


@functools.cache
def _folder_of(number):
    """Where joblib puts arrays for workers of the process with a number, until that ends.

    It is where joblib would put them itself, in a folder with a lock.
    """
    opened = contextlib.ExitStack()
    folder = opened.enter_context(temporary_folder(_place_of_arrays()))

    def remove():
        if os.getpid() == number:
            opened.close()

    atexit.register(remove)
    return str(folder)


def _place_of_arrays():
    given = os.environ.get("JOBLIB_TEMP_FOLDER")
    if given is not None:
        Path(given).mkdir(parents=True, exist_ok=True)
        return given
    if os.access(_SHARED, os.W_OK) and shutil.disk_usage(_SHARED).free > _ENOUGH:
        return _SHARED
    return tempfile.gettempdir()


@contextlib.contextmanager
def temporary_folder(place=None):
    """Yield the path of a temporary folder that only this user may read.

    Its lock tells whether its process lives, also in containers that number processes anew. Folders
    of this kind that a killed process has left there are removed first.

    Parameters
    ----------
    place : str, default=None
        The folder in which it is made; None is that of the system.
    """
    place = Path(tempfile.gettempdir() if place is None else place)
    _remove_left(place)
    folder = place / f"bnmtl-{secrets.token_hex(8)}"
    lock = FileLock(f"{folder}.lock", timeout=60, mode=0o600)
    with warnings.catch_warnings(action="ignore"):  # where there are no locks, nothing is removed
        lock.acquire()
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        _remove(folder, lock)


def _remove_left(place):
    """Remove the temporary folders of this user's processes that are no more."""
    for file in place.glob("bnmtl-*.lock"):
        with contextlib.suppress(OSError, Timeout):
            if re.fullmatch(_LOCK, file.name) and _is_of_this_user(file):
                lock = FileLock(file, timeout=0)
                with warnings.catch_warnings(action="ignore"):
                    lock.acquire()
                _remove(file.with_suffix(""), lock)


def _is_of_this_user(file):
    found = file.lstat()
    is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return stat.S_ISREG(found.st_mode) and is_own


def _remove(folder, lock):
    """Remove a folder, and then its lock while that is still held."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        Path(lock.lock_file).unlink()
    lock.release()
