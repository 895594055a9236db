"""Files and folders of results that are written completely or not at all."""

import contextlib
import gzip
import hashlib
import os
import re
import secrets
import shutil
import signal
import tempfile
import threading
import unicodedata
from pathlib import Path, PurePosixPath

from bnmtl.errors import InputError, warn
from bnmtl.wording import listed

_LONGEST_STEM = 150  # bytes of UTF-8
# Names of what is not complete yet: of files, and of folders that test whether one can be written.
_PARTIAL, _TRIAL = r"\.bnmtl-[0-9]+-[0-9a-f]{6}\.partial", r"\.bnmtl-[a-z0-9_]{8}"
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
    if path.is_dir():
        message = f"must be a file, got the folder `{path}`"
        raise InputError(message, argument="out", remedy="choose another name")


def _check_place(path):
    """Raise unless a file can be created next to a path."""
    try:
        tempfile.NamedTemporaryFile(dir=path.parent, prefix=".bnmtl-").close()
    except OSError as error:
        message = f"must be a file that can be written, got `{path}` ({error.strerror})"
        raise InputError(message, argument="out", remedy="choose another place") from None


def write_whole(path, content, check=lambda: None):
    """Write bytes through a temporary file in the same folder, unless `check` raises before."""
    temporary = path.with_name(f".bnmtl-{os.getpid()}-{secrets.token_hex(3)}.partial")
    try:
        temporary.write_bytes(content)
        check()
        temporary.replace(path)
    except OSError as error:
        if error.errno is None:
            raise
        # Errors must not mention the temporary file.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


class OutputFolder:
    """The output folder of a run, checked before the work and filled after it.

    Parameters
    ----------
    path : str or path-like
        A folder, which need not exist.
    force : bool, default=False
        Whether to allow a folder that is not empty. Files of an earlier run are replaced or
        removed; all others are kept.
    earlier : callable, default=None
        Returns the file names of an earlier run in a folder; None if there are none.
    last : str, default=None
        The file to move into place after all others.

    Raises
    ------
    InputError
        If the path is empty, not a folder or not writable, or the folder is not empty and `force`
        is False.
    """

    def __init__(self, path, force=False, earlier=None, last=None):
        if not os.fspath(path):
            raise InputError(f"must name a folder, got {path!r}", argument="out")
        self.path = Path(path)
        if os.path.isfile(self.path):
            message = f"must be a folder, got the file `{path}`"
            raise InputError(message, argument="out", remedy="choose another name")
        _check_writable(self.path)
        entries = sorted(os.listdir(self.path)) if self.path.exists() else []
        if entries and not force:
            found = f"`{path}`, which holds {listed(entries, limit=2)}"
            remedy = "set `force=True` to replace the files of an earlier run there"
            raise InputError(
                f"must be a new or empty folder, got {found}",
                argument="out",
                options=("force",),
                remedy=f"choose another one, or {remedy}",
            )
        files = earlier(self.path) if earlier is not None and entries else ()
        self._replaceable = {
            name for name in entries if name in files and not (self.path / name).is_dir()
        }
        self._last = last

    def keep(self, inputs):
        """Raise if a file that the run reads is one of an earlier run, and would be replaced."""
        for given in inputs:
            if any(_is_same(given, self.path / name) for name in self._replaceable):
                message = f"must not hold an input that it replaces, got `{given}`"
                raise InputError(message, argument="out", remedy="choose another folder")

    def reserve(self, names):
        """Raise if a file from elsewhere has a name that will be written."""
        entries = os.listdir(self.path) if self.path.exists() else []
        # What was a file may be a folder of the user by now.
        self._replaceable = {name for name in self._replaceable if not (self.path / name).is_dir()}
        foreign = {_folded(name): name for name in entries if name not in self._replaceable}
        for name in names:
            if _folded(name) in foreign:
                found = f"`{self.path / foreign[_folded(name)]}`, which is not from bnmtl"
                message = f"must not hold other files of the same name, got {found}"
                remedy = "move it, or choose another folder"
                raise InputError(message, argument="out", remedy=remedy)

    @contextlib.contextmanager
    def writing(self):
        """Yield a temporary folder next to the target; its files are moved there at the end.

        If the block fails or is interrupted, the temporary folder is removed and nothing changes.
        """
        path = Path(os.path.realpath(self.path))
        new_parents = [parent for parent in path.parents if not parent.exists()]
        temporary = path.parent / f".bnmtl-{os.getpid()}-{secrets.token_hex(3)}.partial"
        try:
            temporary.mkdir(parents=True)
            yield temporary
            self.reserve(os.listdir(temporary))
            with _interrupts_held():
                self._move(temporary, path)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            for parent in new_parents:
                with contextlib.suppress(OSError):
                    parent.rmdir()
            if isinstance(error, OSError) and error.strerror and _is_about(error, temporary, path):
                # Errors must not mention the temporary folder.
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            raise

    def _move(self, temporary, path):
        if not path.exists():
            temporary.rename(path)
            return
        names = sorted(os.listdir(temporary), key=lambda name: name == self._last)
        for name in self._replaceable - set(names):
            (path / name).unlink(missing_ok=True)
        for name in names:
            (temporary / name).replace(path / name)
        temporary.rmdir()


@contextlib.contextmanager
def replacing_folder(path, force, files_of):
    """Yield a temporary folder that becomes the folder `path` at the end, with all it contains.

    If the block fails or is interrupted, the temporary folder is removed and nothing changes. If
    the process is killed while folders are renamed, `recover_folder` finds the earlier one.

    Parameters
    ----------
    path : str or path-like
        A new or empty folder, or, with `force`, an earlier one that has no other files.
    force : bool
    files_of : callable
        A folder -> the files in it that may be removed, as paths inside with `/`; None if it is not
        an earlier one.

    Raises
    ------
    InputError
        If the folder must not be replaced or cannot be written, or a file appears in it meanwhile.
    """
    path = Path(os.path.realpath(path))
    recover_folder(path)
    if os.path.lexists(path):
        _removable(path, path, force, files_of)
    _check_writable(path)
    unique = f"{os.getpid()}-{secrets.token_hex(3)}"
    temporary = path.parent / f".bnmtl-{unique}.partial"
    old = path.parent / f"{_hidden(path)}{unique}.old"
    temporary.mkdir(parents=True)
    try:
        yield temporary
        with _interrupts_held():
            if os.path.lexists(path):
                path.rename(old)
            try:
                files = _removable(old, path, force, files_of) if os.path.lexists(old) else ()
                temporary.rename(path)
            except BaseException:
                if os.path.lexists(old):
                    old.rename(path)
                raise
            _remove(old, files)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def recover_folder(path):
    """Give an earlier folder its name back if a kill in the middle of its replacement took it.

    Parameters
    ----------
    path : str or path-like

    Warns
    -----
    UserWarning
        If it did.
    """
    path = Path(os.path.realpath(path))
    if os.path.lexists(path):
        return
    with contextlib.suppress(OSError):
        hidden = list(path.parent.glob(f"{_hidden(path)}*"))
        if hidden:
            max(hidden, key=lambda folder: folder.stat().st_mtime_ns).rename(path)
            what = "the one from before its replacement, which was interrupted"
            warn(f"The folder `{path}` is {what}")


def _hidden(path):
    """The beginning of a folder's name while another one takes its place, of fixed length."""
    return f".bnmtl-{hashlib.blake2b(os.fsencode(path.name), digest_size=6).hexdigest()}-"


def _removable(folder, path, force, files_of):
    """The files in a folder that may be removed, or an error that names `path` if it has others."""
    is_folder = folder.is_dir() and not folder.is_symlink()
    if is_folder and not any(folder.iterdir()):
        return ()
    files = files_of(folder) if is_folder else None
    if files is None or not force:
        message, remedy = f"must be a new or empty folder, got `{path}`", "choose another one"
        if files is not None:
            remedy += ", or set `force=True` to replace it"
        raise InputError(message, argument="out", options=("force",), remedy=remedy)
    folders = {str(parent) for file in files for parent in PurePosixPath(file).parents}
    other = next(_unlisted(folder, set(files), folders), None)
    if other is not None:
        rule = "must not hold other files if it is replaced"
        message = f"{rule}, got `{path}`, which holds `{other}`"
        raise InputError(message, argument="out", remedy="move them, or choose another one")
    return files


def _unlisted(folder, files, folders, inside=""):
    """Yield paths inside a folder that are not among known ones; links are not followed."""
    with os.scandir(folder) as entries:
        entries = sorted(entries, key=lambda entry: entry.name)
    for entry in entries:
        name = f"{inside}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if name in folders:
                yield from _unlisted(entry, files, folders, f"{name}/")
            elif not re.fullmatch(_TRIAL, entry.name) or os.listdir(entry):
                yield name
        elif name not in files and (entry.is_symlink() or not re.fullmatch(_PARTIAL, entry.name)):
            yield name


def _remove(folder, files):
    """Remove the listed files of a folder, and folders that are empty then."""
    files = set(files)
    for place, folders, names in os.walk(folder, topdown=False):
        for name in (*names, *folders):
            path = Path(place, name)
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                elif path.relative_to(folder).as_posix() in files or re.fullmatch(_PARTIAL, name):
                    path.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _is_about(error, *paths):
    """Whether the file of an error is in one of some folders or contains one, or is unknown."""
    if error.filename is None:
        return True
    file = Path(str(error.filename))
    return any(file.is_relative_to(path) or path.is_relative_to(file) for path in paths)


def _check_writable(path):
    """Raise unless a folder can be created next to a path and moved to it."""
    place = Path(os.path.realpath(path))
    try:
        beside = next((parent for parent in place.parents if parent.exists()), place)
        trial = Path(tempfile.mkdtemp(dir=beside, prefix=".bnmtl-"))
        try:
            if place.exists():
                trial = trial.rename(place / trial.name)
            else:  # the name is too long or not allowed on this file system
                (trial / place.name).mkdir()
                (trial / place.name).rmdir()
        finally:
            trial.rmdir()
    except OSError as error:
        message = (
            "must be a folder that can be written to, and so must the folder it is in, got "
            f"`{path}` ({error.strerror})"
        )
        raise InputError(message, argument="out", remedy="choose another place") from None


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


@contextlib.contextmanager
def _interrupts_held():
    """Delay Ctrl-C while files are moved."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held = []
    handler = signal.signal(signal.SIGINT, lambda *_: held.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if held:
            signal.raise_signal(signal.SIGINT)
