"""Files and folders of results that are written completely or not at all.

What is not complete has a hidden name that is derived from the name of the file or folder, so that
the next process that writes or reads it finds what a killed one has left.
"""

import contextlib
import errno
import gzip
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import tempfile
import threading
import unicodedata
import warnings
from pathlib import Path, PurePosixPath

from filelock import FileLock, Timeout

from bnmtl.errors import InputError, InputTypeError, warn
from bnmtl.wording import listed, type_of

_LONGEST_STEM = 150  # bytes of UTF-8
# Names of files that are not complete yet and of locks, of empty files that test whether one can be
# written, and of folders.
_HIDDEN_FILE, _TRIAL = r"\.bnmtl-[0-9a-f]{16}\.(?:partial|lock)", r"\.bnmtl-[a-z0-9_]{8}"
_HIDDEN_FOLDER = r"\.bnmtl-[0-9a-f]{16}\.(?:new|old)"
# Of these, what is there while a folder is written.
_IN_USE = r"\.bnmtl-[0-9a-f]{16}\.(?:new|old|lock)"
# Names of devices on Windows, with any suffix.
_DEVICE = r"(?i)^(con|prn|aux|nul|(?:com|lpt)[1-9\u00b9\u00b2\u00b3])(?=\.|$)"


class OutputFile:
    """An output file of a command, checked before the work.

    Parameters
    ----------
    path : str
    suffixes : tuple of str
        Allowed extensions; with `.gz` the file is compressed.
    force : bool or None, default=None
        Whether to replace an existing file; None if the command has no such option.
    inputs : iterable of str
        Files that the command reads, which are never replaced.

    Raises
    ------
    InputError
        If the name has another extension, the file exists and `force` is not True, it is an input,
        or it cannot be written.
    """

    def __init__(self, path, suffixes, force=None, inputs=()):
        if not path.endswith(suffixes):
            suffixes = " or ".join(suffixes)
            raise InputError(f"must end in {suffixes}, got {path!r}", argument="out")
        self._path, self._force = Path(path), force
        if any(_is_same(given, self._path) for given in inputs):
            message = f"must be another file than the input, got {path!r}"
            raise InputError(message, argument="out", remedy="choose another name")
        self._check_new()
        _check_place(self._path)

    def _check_new(self):
        _check_no_folder(self._path)
        if self._force or not os.path.lexists(self._path):
            return
        message = f"must be a new file, got `{self._path}`, which exists"
        remedy = "remove it first" + ("" if self._force is None else ", or set `force=True`")
        raise InputError(message, argument="out", options=("force",), remedy=remedy)

    def write(self, content):
        """Write bytes through a temporary file in the same folder."""
        if self._path.name.endswith(".gz"):
            content = gzip.compress(content, mtime=0)
        write_whole(self._path, content, self._check_new)


def _is_same(path, other):
    """Whether two paths are those of one file or folder, which exists."""
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def check_file(path):
    """Raise unless a path is that of a file, or of a new one, which can be written.

    Parameters
    ----------
    path : pathlib.Path

    Raises
    ------
    InputError
        If it is a folder, or its folder does not exist or cannot be written to.
    """
    _check_no_folder(path)
    _check_place(path)


def _check_no_folder(path):
    if os.path.isdir(path):
        message = f"must be a file, got the folder `{path}`"
        raise InputError(message, argument="out", remedy="choose another name")


def _check_place(path):
    """Raise unless a file can be created next to a path, and have its name."""
    _real(path, "out")
    try:
        tempfile.NamedTemporaryFile(dir=path.parent, prefix=".bnmtl-").close()
        with contextlib.suppress(FileNotFoundError):
            os.lstat(path)
    except OSError as error:
        message = f"must be a file that can be written, got `{path}` ({error.strerror})"
        raise InputError(message, argument="out", remedy="choose another place") from None


def _real(path, argument):
    """The path of a file or folder without links, or an error if no file can have its name."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise InputTypeError(f"must be a path, got {type_of(path)}", argument=argument) from None
    try:
        if os.fsencode(text).count(b"\0"):
            raise ValueError
    except ValueError:  # zero bytes, and what is not in the encoding of names
        message = f"must be a name that files can have, got {text!r}"
        raise InputError(message, argument=argument) from None
    return Path(os.path.realpath(text))


def write_whole(path, content, check=lambda: None):
    """Write bytes through a temporary file in the same folder, unless `check` raises before.

    A link is replaced, not followed. The temporary name is random and must be new, so that nobody
    can prepare a link of that name.
    """
    _real(path, "path")
    temporary = path.with_name(f".bnmtl-{secrets.token_hex(8)}.partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        check()
        os.replace(temporary, path)
        _sync(path.parent)
    except OSError as error:
        if error.errno is None:
            raise
        # Errors must not mention the temporary file.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def _sync(folder):
    """Let the names in a folder survive a loss of power, where the system can."""
    with contextlib.suppress(OSError):
        # A pipe that has a name from a stranger's journal would wait for its other end.
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _sync_all(folder):
    """The same for all files and folders inside, which are our own: others may be pipes."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            with open(Path(place, name), "rb") as file:
                os.fsync(file.fileno())
        _sync(place)


def _hidden(home, place, suffix):
    """A hidden name in the folder `home` for what belongs to a file or folder, of fixed length.

    In a folder itself, it is not the one that belongs to a folder inside with the same name.
    """
    name = "." if home == place else place.name
    name = hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()
    return home / f".bnmtl-{name}.{suffix}"


def _home_of(place):
    """The folder of hidden names: the one that a folder is in; itself if it cannot be renamed."""
    parent = place.parent
    cannot_move = os.path.ismount(place) or not os.access(parent, os.W_OK | os.X_OK)
    return place if cannot_move and place.is_dir() else parent


# Locks that are held, by the thread and the file.
_HELD = set()


@contextlib.contextmanager
def locked(path, argument, wait=0):
    """Hold the lock of a file or folder while it is written.

    The system releases a lock when its process ends, however it ends. Its file is removed while the
    lock is still held; `filelock` tries again if the file that it has locked was removed. A thread
    that holds the lock may ask for it again.

    Parameters
    ----------
    path : str or path-like
    argument : str
        The name of the argument in the error.
    wait : float, default=0
        Seconds to wait for another process.

    Raises
    ------
    InputError
        If another process or thread holds the lock.

    Warns
    -----
    UserWarning
        If the file system has no locks.
    """
    place = _real(path, argument)
    with _parents_of(place), _lock_in(_home_of(place), place, path, argument, wait):
        yield


@contextlib.contextmanager
def _lock_in(home, place, path, argument, wait=0):
    """Hold the lock of a file or folder that is in the folder `home`, unless this thread does."""
    file = _hidden(home, place, "lock")
    key = os.getpid(), threading.get_ident(), file
    if key in _HELD:
        yield
        return
    with _lock_file(file, path, argument, wait):
        _HELD.add(key)
        try:
            yield
        finally:
            _HELD.discard(key)


@contextlib.contextmanager
def _parents_of(place):
    """Make the folders that a file or folder is in, and remove those that are empty at the end."""
    made = [parent for parent in place.parents if not parent.exists()]
    try:
        for parent in reversed(made):
            parent.mkdir(exist_ok=True)
        if not place.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place.parent))
        yield
    finally:
        for parent in made:
            with contextlib.suppress(OSError):
                parent.rmdir()


@contextlib.contextmanager
def _lock_file(file, path, argument, wait):
    lock = FileLock(file, timeout=wait)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            lock.acquire()
    except Timeout:
        # `filelock` also waits where no file can be made, as in /proc; this raises an OSError then.
        tempfile.NamedTemporaryFile(dir=file.parent, prefix=".bnmtl-").close()
        message = (
            f"must not be written by two processes at once, got `{path}`, which one is writing"
        )
        raise InputError(message, argument=argument, remedy="wait for its end") from None
    if caught:
        what = "has no locks, so two processes that write there at once are not noticed"
        warn(f"The file system of `{path}` {what}; let only one write there.")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink()
        lock.release()


# In the folder of new files: the names of old and new files, and old files that were set aside.
_JOURNAL, _ASIDE = ".bnmtl-journal.json", ".bnmtl-aside"


class OutputFolder:
    """The output folder of a run, checked and locked before the work and filled after it.

    A context manager that holds the lock of the folder to its end. New files are written to a
    hidden folder beside it, or in it if it cannot be renamed. A folder that has only files of an
    earlier run is then exchanged for the new one. Otherwise its files are replaced one by one, and
    a journal lets the next process that writes or reads it finish what a killed one has begun.

    Parameters
    ----------
    path : str or path-like
        A folder, which need not exist, or a link to one.
    force : bool, default=False
        Whether to allow a folder that is not empty. Files of an earlier run are replaced or
        removed; all others are kept.
    earlier : callable, default=None
        Returns the files of an earlier run in a folder, as paths inside with `/`; None if there are
        none.
    last : str, default=None
        The file to move into place after all others: the record that lists them.
    keeps_others : bool, default=True
        Whether other files may be in a folder that is replaced.

    Raises
    ------
    InputError
        If the path is empty, not a folder or not writable, another process writes to it, or the
        folder is not empty and `force` is False or other files are not kept.
    """

    def __init__(self, path, force=False, earlier=None, last=None, keeps_others=True):
        self._place = _real(path, "out")
        if not os.fspath(path):
            raise InputError(f"must name a folder, got {path!r}", argument="out")
        self.path = Path(path)
        if os.path.lexists(self._place) and not os.path.isdir(self._place):
            message = f"must be a folder, got the file `{path}`"
            raise InputError(message, argument="out", remedy="choose another name")
        self._earlier = (lambda _: None) if earlier is None else earlier
        self._last, self._stack = last, contextlib.ExitStack()
        self._force, self._keeps_others = force, keeps_others
        try:
            self._begin()
            self._replaceable = self._listed_files()
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _begin(self):
        """Lock the folder, finish what a killed process has begun, and find where to write."""
        place, stack = self._place, self._stack
        try:
            stack.enter_context(locked(self.path, "out"))
            finish(self.path, place, self._earlier, "out")
            for home in (place.parent, place):
                new, old = _hidden(home, place, "new"), _hidden(home, place, "old")
                _discard(new, self._earlier(new), place)
                _discard(old, self._earlier(old) or (), place)
            self._new = _tried(place)
        except OSError as error:
            message = (
                "must be a folder that can be written to, and so must the folder it is in, got "
                f"`{self.path}` ({error.strerror})"
            )
            raise InputError(message, argument="out", remedy="choose another place") from None

    def _listed_files(self):
        """The files of an earlier run that may be replaced, or an error."""
        place, path, keeps_others = self._place, self.path, self._keeps_others
        entries = _entries(place)
        if not entries:
            return set()
        files = self._earlier(place)
        replaces = "replace it" if not keeps_others else "replace the files of an earlier run there"
        if not self._force or (files is None and not keeps_others):
            found = f"`{path}`, which holds {listed(entries, limit=2)}"
            remedy = "choose another one"
            if keeps_others or files is not None:
                remedy += f", or set `force=True` to {replaces}"
            raise InputError(
                f"must be a new or empty folder, got {found}",
                argument="out",
                options=("force",),
                remedy=remedy,
            )
        files = set(files or ())
        other = next(_unlisted(place, files), None)
        if other is not None and not keeps_others:
            rule = "must not hold other files if it is replaced"
            message = f"{rule}, got `{path}`, which holds `{other}`"
            raise InputError(message, argument="out", remedy="move them, or choose another one")
        return {name for name in files if _is_inside(place, name) and _is_file(place / name)}

    def keep(self, inputs):
        """Raise if a file that the run reads is one of an earlier run, and would be replaced."""
        for given in inputs:
            if any(_is_same(given, self._place / name) for name in self._replaceable):
                message = f"must not hold an input that it replaces, got `{given}`"
                raise InputError(message, argument="out", remedy="choose another folder")

    def reserve(self, names):
        """Raise if a file from elsewhere has a name that will be written."""
        # What was a file may be a folder of the user by now.
        ours = {name for name in self._replaceable if _is_file(self._place / name)}
        foreign = {_folded(name): name for name in _unlisted(self._place, ours)}
        for name in names:
            found = foreign.get(_folded(name))
            for parent in PurePosixPath(name).parents:
                # A folder may hold files of both; a link to one leads elsewhere.
                other = foreign.get(_folded(str(parent)))
                found = other if other and _is_file(self._place / other) else found
            if found is not None:
                message = "must not hold other files of the same name, got "
                message += f"`{self.path / found}`, which is not from bnmtl"
                remedy = "move it, or choose another folder"
                raise InputError(message, argument="out", remedy=remedy)
        self._replaceable = ours

    @contextlib.contextmanager
    def writing(self):
        """Yield a temporary folder whose files replace those of an earlier run at the end.

        If the block fails or is interrupted, the temporary folder is removed and nothing changes.
        """
        with self._filling():
            yield self._new
            names = sorted(_files_in(self._new), key=lambda name: name == self._last)
            if not self._keeps_others:
                self._replaceable = self._listed_files()
            self.reserve(names)
            with _signals_held():
                self._replace(names)
        self._replaceable = set(names)

    @contextlib.contextmanager
    def adding(self):
        """Yield a temporary folder whose files are added, one by one, to those of `writing`."""
        with self._filling():
            yield self._new
            names = sorted(_files_in(self._new), key=lambda name: name == self._last)
            self.reserve(names)
            with _signals_held():
                _sync_all(self._new)
                for name in names:
                    os.replace(self._new / name, self._place / name)
                _sync(self._place)
                self._new.rmdir()
        self._replaceable |= set(names)

    @contextlib.contextmanager
    def _filling(self):
        """A new folder at the hidden name, and errors that do not mention it."""
        new, place = self._new, self._place
        try:
            new.mkdir()
            yield
        except BaseException as error:
            if not (new / _JOURNAL).exists():
                shutil.rmtree(new, ignore_errors=True)
            if isinstance(error, OSError) and error.strerror and _is_about(error, new, place):
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            raise

    def _replace(self, names):
        """Let the new files, all of them on disk, take the place of the old ones."""
        new, place = self._new, self._place
        _sync_all(new)
        if not os.path.lexists(place):
            os.rename(new, place)
        elif self._can_exchange():
            _exchange(new, place)
            _discard(new, self._replaceable, place)
        else:
            old = sorted(self._replaceable, key=lambda name: name != self._last)
            journal = {"old": old, "new": names}
            write_whole(new / _JOURNAL, json.dumps(journal).encode())
            try:
                _move_each(new, place, journal)
            except Exception:
                _move_back(new, place, journal)
                raise
        _sync(place.parent)

    def _can_exchange(self):
        """Whether the new folder can take the place of the old one, with its mode and group."""
        new, place = self._new, self._place
        if new.parent == place or next(_unlisted(place, self._replaceable), None) is not None:
            return False
        # Our working directory may not vanish, nor what is being written inside the folder.
        is_in_use = any(re.fullmatch(_IN_USE, name) for name in os.listdir(place))
        if is_in_use or _is_working_directory(place):
            return False
        try:
            if place.stat().st_uid != new.stat().st_uid:
                return False
            shutil.copystat(place, new)
            if hasattr(os, "chown"):
                os.chown(new, -1, place.stat().st_gid)
        except OSError:
            return False
        return True


def _tried(place):
    """Where new files of a folder are written; an OSError if they cannot be moved to it."""
    new = _hidden(_home_of(place), place, "new")
    new.mkdir()
    try:
        if place.is_dir() and new.parent != place:
            inside = _hidden(place, place, "new")
            try:
                os.rename(new, inside)
                os.rename(inside, new)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                new.rmdir()
                new = inside
                new.mkdir()
        elif not place.exists():  # the name is too long or not allowed on this file system
            (new / place.name).mkdir()
            (new / place.name).rmdir()
        return new
    finally:
        new.rmdir()


def _exchange(new, place):
    """Let two folders change places, in one step where the system can."""
    if _exchanged_at_once(new, place):
        return
    old = _hidden(new.parent, place, "old")
    os.rename(place, old)
    try:
        os.rename(new, place)
    except BaseException:
        os.rename(old, place)
        raise
    os.rename(old, new)


def _exchanged_at_once(new, place):
    """Let two folders change places by `renameat2` of Linux; whether that was possible."""
    if os.name == "nt":
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE
    paths = os.fsencode(new), os.fsencode(place)
    return rename(here, paths[0], here, paths[1], ctypes.c_uint(exchange)) == 0


def _is_working_directory(place):
    """Whether the working directory is a folder or in it; it may not exist any more."""
    try:
        return _is_in(os.getcwd(), place)
    except OSError:
        return False


def _journal_of(new, place, earlier):
    """The names of old and new files, or an error if it names others than those of a run.

    A folder may come from a stranger, with a journal.
    """
    file, aside = new / _JOURNAL, new / _ASIDE
    try:
        journal = json.loads(file.read_text(encoding="utf-8"))
        old, names = journal["old"], journal["new"]
        is_right = isinstance(old, list) and isinstance(names, list) and not aside.is_symlink()
        folders = (new, place, aside) if is_right else ()
        is_right = is_right and all(
            _is_inside(folder, name) for folder in folders for name in (*old, *names)
        )
        # The record is the first of the old files that is set aside.
        records = (aside, place) if is_right and old else ()
        listed = next((found for folder in records if (found := earlier(folder))), ())
        is_right = is_right and set(old) <= set(listed)
    except (ValueError, RecursionError, KeyError, TypeError):
        is_right = False
    if not is_right:
        message = "must name files in its folder; it is damaged"
        raise InputError(message, file=file, remedy=f"remove `{new}`")
    return journal


def _move_each(new, place, journal):
    """Replace files one by one, as the journal says, also if a part of them was moved before.

    The record of the old files is set aside first, and that of the new ones is moved last.
    """
    aside = new / _ASIDE
    for name in journal["old"]:
        is_pending = os.path.lexists(new / name) or name not in journal["new"]
        if is_pending and _is_file(place / name) and not os.path.lexists(aside / name):
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            os.rename(place / name, aside / name)
    for name in journal["new"]:
        if not os.path.lexists(new / name):
            continue
        if os.path.lexists(place / name):
            found = f"`{place / name}`, which is not from bnmtl"
            message = f"must not hold other files of the same name, got {found}"
            raise InputError(message, argument="out", remedy="move it")
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        os.rename(new / name, place / name)
    # The contents were on disk before the journal was written.
    for folder in {(place / name).parent for name in (*journal["old"], *journal["new"])}:
        _sync(folder)
    (new / _JOURNAL).unlink()
    shutil.rmtree(new, ignore_errors=True)


def _move_back(new, place, journal):
    """Undo what `_move_each` has done."""
    aside = new / _ASIDE
    for name in reversed(journal["new"]):
        if _is_file(place / name) and not os.path.lexists(new / name):
            os.rename(place / name, new / name)
    for name in reversed(journal["old"]):
        if os.path.lexists(aside / name):
            os.rename(aside / name, place / name)
    (new / _JOURNAL).unlink()


def finish(path, place, earlier, argument):
    """Finish what a killed process has begun to move; the lock of the folder must be held.

    Others may keep their lock elsewhere: who may not write to the folder around it, inside.
    """
    for home in (place.parent, place):
        new, old = _hidden(home, place, "new"), _hidden(home, place, "old")
        has_journal = _is_folder(new) and (new / _JOURNAL).is_file()
        is_set_aside = _is_folder(old) and not os.path.lexists(place)
        if not has_journal and not is_set_aside:
            continue
        with _lock_in(home, place, path, argument):
            if has_journal:
                _check_owner(new, place)
                _move_each(new, place, _journal_of(new, place, earlier))
            if is_set_aside:
                _check_owner(old, place)
                os.rename(old, place)
                what = "the one from before its replacement, which was interrupted"
                warn(f"The folder `{place}` is {what}")


def _check_owner(folder, place):
    """Raise an OSError if hidden files are those of somebody who owns nothing here.

    In a folder in which everybody may write, anybody can make a folder of any name.
    """
    trusted = {0, place.stat().st_uid if place.exists() else 0}
    if hasattr(os, "geteuid") and folder.stat().st_uid not in trusted | {os.geteuid()}:
        raise PermissionError(errno.EPERM, "it was a process of another user", str(place))


def check_complete(path, earlier, argument="folder"):
    """Finish what a killed process has begun to move in a folder that is going to be read.

    Parameters
    ----------
    path : str or path-like
    earlier : callable
        As for `OutputFolder`.
    argument : str, default="folder"

    Raises
    ------
    InputError
        If another process is writing there, what was begun cannot be finished, or the folder cannot
        be read.
    """
    place = _real(path, argument)
    try:
        is_begun = _is_begun(place)
    except OSError as error:
        message = f"must be a folder that can be read, got `{path}` ({error.strerror})"
        raise InputError(message, argument=argument) from None
    if not is_begun:
        return
    try:
        with locked(path, argument):
            finish(path, place, earlier, argument)
    except OSError as error:
        message = (
            f"must be complete, got `{path}`, in which a process was killed while it moved files "
            f"({error.strerror})"
        )
        remedy = "read it once as somebody who may write there"
        raise InputError(message, argument=argument, remedy=remedy) from None


def _is_begun(place):
    """Whether files of a folder are being moved, or were by a process that was killed."""
    homes = place.parent, place
    return any((_hidden(home, place, "new") / _JOURNAL).is_file() for home in homes) or (
        not os.path.lexists(place) and _hidden(place.parent, place, "old").is_dir()
    )


def _discard(folder, files, place):
    """Remove a hidden folder of new files, or that of an earlier run with the given files.

    What somebody else put into the latter at the last moment goes back to where it was put.
    """
    if not _is_folder(folder):
        return
    if files is not None:
        for name in [*_unlisted(folder, set(files))]:
            back, number = place / name, 1
            while os.path.lexists(back):
                number += 1
                back = place / f"{name}.{number}"
            back.parent.mkdir(parents=True, exist_ok=True)
            os.rename(folder / name, back)
            if number > 1:
                warn(f"The file `{back}` was put there, by another name, while files were replaced")
    shutil.rmtree(folder, ignore_errors=True)


def _is_folder(path):
    """Whether a path is that of a folder itself, and not of a link to one."""
    return path.is_dir() and not path.is_symlink()


def path_inside(folder, name, file):
    """The path of a file that a record names, or an error if it does not lie in its folder.

    Parameters
    ----------
    folder : pathlib.Path
    name : str
        Relative, with `/`.
    file : pathlib.Path
        The record, for the error.

    Raises
    ------
    InputError
        For absolute paths, `..`, and names that lead out of the folder through a link.
    """
    path = folder / name
    if not _is_inside(folder, name) or not _is_in(os.path.realpath(path), folder):
        raise InputError(f"must name files in its folder, got {name!r}; it is damaged", file=file)
    return path


def _is_inside(folder, name):
    """Whether a name is a relative path to a file of a folder, which may be a link."""
    parts = PurePosixPath(name)
    if not parts.parts or parts.is_absolute() or ".." in parts.parts or {"\\", "\0"} & {*name}:
        return False
    return _is_in(os.path.realpath((folder / name).parent), folder)


def _is_in(path, folder):
    return Path(path).is_relative_to(os.path.realpath(folder))


def _is_file(path):
    """Whether there is a file or a link, which may lead nowhere, and no folder."""
    return os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path))


def _entries(place):
    """Sorted names in a folder, except hidden ones of ours, which are no links."""
    if not place.is_dir():
        return []
    with os.scandir(place) as entries:
        return sorted(entry.name for entry in entries if not _is_hidden(entry))


def _is_hidden(entry):
    if entry.is_dir(follow_symlinks=False):
        return re.fullmatch(_HIDDEN_FOLDER, entry.name)
    if not entry.is_file(follow_symlinks=False):
        return False
    is_trial = re.fullmatch(_TRIAL, entry.name) and not entry.stat().st_size
    return is_trial or re.fullmatch(_HIDDEN_FILE, entry.name)


def _files_in(folder):
    """All files of a folder, as paths inside with `/`."""
    found = []
    for place, _, names in os.walk(folder):
        found += [Path(place, name).relative_to(folder).as_posix() for name in names]
    return found


def _unlisted(folder, files, inside=""):
    """Yield paths inside a folder that are not among known ones; links are not followed."""
    folders = {str(parent) for file in files for parent in PurePosixPath(file).parents}
    for entry in _entries(folder / inside):
        name, path = f"{inside}{entry}", folder / inside / entry
        if _is_file(path):
            if name not in files:
                yield name
        elif name in folders:
            yield from _unlisted(folder, files, f"{name}/")
        else:
            yield name


def _is_about(error, *paths):
    """Whether the file of an error is in one of some folders or contains one, or is unknown."""
    if error.filename is None:
        return True
    file = Path(str(error.filename))
    return any(file.is_relative_to(path) or path.is_relative_to(file) for path in paths)


def file_names(tasks, suffix, reserved=()):
    """Return a portable file name for every task.

    Letters, digits and `_ . + -` are kept; other characters and a leading `.` or `-` become `_`.
    Names of devices on Windows get a `_`. Names that would be equal, ignoring case, are numbered.
    Valid names do not change.

    Parameters
    ----------
    tasks : iterable of str
    suffix : str
        Such as ".bif".
    reserved : iterable of str
        Reserved file names.

    Returns
    -------
    dict of str to str
        In the order of `tasks`.

    Examples
    --------
    >>> file_names(["a b", "a_b", "A_B", "north"], ".bif")
    {'a b': 'a_b_3.bif', 'a_b': 'a_b.bif', 'A_B': 'A_B_2.bif', 'north': 'north.bif'}
    >>> file_names(["CON", "con.old"], ".bif")
    {'CON': 'CON_.bif', 'con.old': 'con_.old.bif'}
    """
    tasks = list(tasks)
    taken = {_folded(name) for name in reserved}
    names = {}
    for task in sorted(tasks, key=lambda task: _stem(task) != task):
        stem = _stem(task)
        candidate, number = stem, 1
        while _folded(candidate + suffix) in taken:
            number += 1
            candidate = f"{stem}_{number}"
        taken.add(_folded(candidate + suffix))
        names[task] = candidate + suffix
    return {task: names[task] for task in tasks}


def _stem(task):
    stem = re.sub(r"[^\w.+-]|^[.-]", "_", task) or "_"
    stem = re.sub(_DEVICE, r"\1_", stem)
    return stem.encode()[:_LONGEST_STEM].decode(errors="ignore")


def _folded(name):
    """Return a key that is equal for names that some file system treats as one."""
    return unicodedata.normalize("NFC", name).casefold()


# Signals that end a program, if they exist on this system.
ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextlib.contextmanager
def _signals_held():
    """Delay Ctrl-C, and other signals that raise an exception, while files are moved."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held = []
    handlers = {number: signal.getsignal(number) for number in ENDING}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: held.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if held:
            signal.raise_signal(held[0])
