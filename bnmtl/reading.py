"""Reading of files from elsewhere: how much they may hold once unpacked, JSON and arrays.

A small file can ask for any amount of memory, so what it asks for is counted before it is unpacked.
"""

import gzip
import io
import json
import math
import os
import stat
import zipfile
from decimal import Decimal

import numpy as np

from bnmtl.errors import InputError

MOST_CELLS = 2**28  # of all tables that are read together, or that a network has
VARIABLE = "BNMTL_MAX_TEXT_GIB"  # the environment variable that raises the limit of text
_GIB = 2**30
_BLOCK = 2**16
_MOST_TIMES = 1032  # how much longer gzip can make a text


class Cells:
    """The cells of tables that are read together, counted before each is read."""

    def __init__(self):
        self._n = 0

    def add(self, n):
        """Count the cells of another table, or raise if they are too many.

        Parameters
        ----------
        n : int

        Raises
        ------
        InputError
        """
        if self._n + n > MOST_CELLS:
            have = "it would have" if self._n == 0 else "with those before it there would be"
            message = f"must have at most {MOST_CELLS:,} cells in all tables together; {have}"
            raise InputError(f"{message} {_shown(self._n + n)}", remedy="leave some out")
        self._n += n


def _shown(n):
    """A number of any size, which need not be a float."""
    return f"{n:,}" if n < 10**15 else f"{Decimal(n):.3g}"


def most_bytes():
    """The largest number of bytes of a text once it is unpacked: 1 GiB, or as the variable says."""
    given = os.environ.get(VARIABLE, "1")
    try:
        gib = float(given)
    except ValueError:
        gib = math.nan
    if not 0 < gib < math.inf:
        message = f"The environment variable `{VARIABLE}` must be a number above 0, got {given!r}"
        raise InputError(message, remedy="it is the most GiB of text that a file may hold")
    return int(gib * _GIB)


def check_text(n_bytes):
    """Raise if a file has too many bytes of text once it is unpacked.

    Parameters
    ----------
    n_bytes : int

    Raises
    ------
    InputError
    """
    if n_bytes > (most := most_bytes()):
        message = f"must hold at most {most / _GIB:g} GiB of text once unpacked; it holds more"
        remedy = f"if you trust it, set the environment variable `{VARIABLE}` to more"
        raise InputError(message, remedy=remedy)


def check_content(path):
    """Raise if a file has too many bytes once it is unpacked; nothing large is allocated.

    Parameters
    ----------
    path : pathlib.Path

    Raises
    ------
    InputError
    OSError, EOFError, zlib.error
        If it cannot be read, or is not compressed by gzip as its name says.
    """
    about = path.stat()
    if path.suffix.lower() != ".gz":
        check_text(about.st_size)
    elif stat.S_ISREG(about.st_mode) and about.st_size * _MOST_TIMES > most_bytes():
        with gzip.open(path) as file:
            n_bytes = 0
            while block := file.read(_BLOCK):
                check_text(n_bytes := n_bytes + len(block))


def content_of(path):
    """Return the bytes of a file, those of a `.gz` file unpacked; raises as `check_content`.

    Parameters
    ----------
    path : pathlib.Path
    """
    check_content(path)
    content = io.BytesIO()
    with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
        while block := file.read(_BLOCK):
            content.write(block)
            # Pipes and devices have no size that can be known before.
            check_text(content.tell())
    return content.getvalue()


def json_of(text):
    """Return the value of a JSON text.

    Parameters
    ----------
    text : str

    Raises
    ------
    ValueError
        If it is not JSON, has numbers that are not finite floats, or is nested too deeply.
    """
    numbers = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), _finite)
    try:
        return json.loads(text, **numbers)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _finite(text):
    """Return a number, which must not exceed all floats."""
    if not math.isfinite(float(text)):
        raise ValueError("it has numbers that are not finite")
    return int(text) if text.lstrip("-").isdigit() else float(text)


def arrays_of(path, names):
    """Return the arrays of an .npz file by name; no objects are unpickled.

    Parameters
    ----------
    path : str or path-like
    names : collection of str
        Those that it may have.

    Raises
    ------
    ValueError
        If it is not such a file, is damaged or too large; nothing large is allocated before.
    OSError
        If it cannot be opened.
    """
    with open(path, "rb") as file:
        try:
            _check_archive(file, names)
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        except InputError:
            raise
        # A damaged archive may raise errors of each library that has a part in reading it.
        except Exception as error:
            raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None


def _check_archive(file, names):
    """Raise if an archive has other members, or larger ones than is allowed."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        known = {f"{name}.npy" for name in names}
        found = [member.filename for member in members]
        if not known >= set(found) or len(set(found)) < len(found):
            raise ValueError("it has other members")
        cells, n_bytes = Cells(), 0
        for member in members:
            with archive.open(member) as content:
                n_cells, dtype = _claimed(content)
            if n_cells * dtype.itemsize > member.file_size:
                raise ValueError("it is cut short")
            cells.add(n_cells)
            n_bytes += n_cells * dtype.itemsize if dtype.kind in "USTV" else 0
        check_text(n_bytes)


def _claimed(content):
    """The number of cells and the type that the header of an array claims."""
    version = np.lib.format.read_magic(content)
    known = {(1, 0): np.lib.format.read_array_header_1_0}
    known |= dict.fromkeys([(2, 0), (3, 0)], np.lib.format.read_array_header_2_0)
    if version not in known:
        raise ValueError("it is of another version")
    shape, _, dtype = known[version](content)
    return math.prod(shape), dtype
