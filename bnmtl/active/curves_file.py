"""A file of learning curves, which a killed experiment continues."""

import contextlib
import json
import os
from pathlib import Path

from bnmtl.errors import InputError, InputTypeError
from bnmtl.wording import Bare, type_of
from bnmtl.writing import check_file, write_whole

_FORMAT = "learning curves of bnmtl, version 1"
# What a line must say to be part of a curve.
_PLACES = {"data", "strategy", "trial", "last"}


class CurvesFile:
    """Lines of an experiment in a file; the first line has its settings.

    Parameters
    ----------
    path : str, path-like or None
        None keeps lines in memory only.
    settings : dict
        What must be equal for a file to be continued.
    seed : int
        Of a new file; a continued one has its own.

    Attributes
    ----------
    seed : int
    curves : dict (data, strategy, trial) -> list of dict
        Whole curves only.
    """

    def __init__(self, path, settings, seed):
        self.seed, self.curves = seed, {}
        self._path = None
        if path is None:
            return
        if not isinstance(path, str | os.PathLike):
            raise InputTypeError("out", "must be the name of a file or None", type_of(path))
        self._path = Path(path)
        check_file(self._path)
        if self._path.exists():
            self._read(settings)
        else:
            self._write({"format": _FORMAT, "settings": settings, "seed": seed})

    def add(self, key, lines):
        """Append one curve, in one piece."""
        self.curves[key] = lines
        if self._path is not None:
            text = "".join(json.dumps(line) + "\n" for line in lines)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(text)

    def _read(self, settings):
        header, *lines = map(_parsed, self._lines())
        if lines and lines[-1] is None:
            del lines[-1]  # a kill cut it
        lines = [{} if not isinstance(line, dict) else line for line in lines]
        if not _is_header(header) or not all(line.keys() >= _PLACES for line in lines):
            self._refuse("holds something else")
        if header["settings"] != settings:
            different = [one for one in settings if header["settings"].get(one) != settings[one]]
            self._refuse(f"is of an experiment with other {' and '.join(different) or 'settings'}")
        self.seed = header["seed"]
        found = {}
        for line in lines:
            key = (line["data"], line["strategy"], line["trial"])
            found.setdefault(key, []).append(line)
        self.curves = {key: curve for key, curve in found.items() if curve[-1]["last"]}
        # What a kill left behind is removed, before curves are appended to it.
        self._write(header)

    def _lines(self):
        try:
            return self._path.read_text(encoding="utf-8").splitlines() or [""]
        except UnicodeDecodeError:
            self._refuse("holds something else")
        except OSError as error:
            self._refuse(f"cannot be read ({error.strerror})")

    def _write(self, header):
        lines = [header, *(line for curve in self.curves.values() for line in curve)]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        write_whole(self._path, content.encode())

    def _refuse(self, found):
        rule = "must be a new file, or one of the same experiment"
        given = Bare(f"`{self._path}`, which {found}")
        raise InputError("out", rule, given, remedies="choose another one")


def _is_header(line):
    """Whether a line has the settings and the seed of an experiment."""
    if not isinstance(line, dict) or line.get("format") != _FORMAT:
        return False
    return isinstance(line.get("settings"), dict) and isinstance(line.get("seed"), int)


def _parsed(line):
    with contextlib.suppress(json.JSONDecodeError):
        return json.loads(line)
    return None
