"""Results as JSON lines with their provenance; nothing is measured twice."""

import contextlib
import functools
import gzip
import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bnmtl.writing import write_whole

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("numba", "numpy", "pandas", "pgmpy", "pyagrum", "scikit-learn", "scipy")
# Suffix of the commit in lines that were measured with uncommitted changes.
CHANGED = "+"
# Lines of finished studies that need more bytes than this are compressed, see `compress`.
_MOST_PLAIN = 100_000


class Results:
    """The lines of one file, by settings.

    Parameters
    ----------
    name : str
        Name of the file in benchmarks/results, without suffix. Lines are read from NAME.jsonl.gz,
        if there is one, and then from NAME.jsonl, to which new lines are appended.
    settings : tuple of str
        Names of the values that identify lines.
    folder : pathlib.Path, default=FOLDER
    fixed : mapping, default={}
        Other values on which all lines depend. They are written into each line, and lines with
        other values, or without these values, are ignored.
    earlier : mapping, default={}
        Earlier values of some of ``fixed``. Lines with them are shown until they are measured
        again, and never replaced.

    Lines measured with uncommitted changes are shown until they are measured again and replaced.

    What lines of a run have in common (fixed values, commit, versions, processors) is written once,
    in a line with the number of the run, to which the lines refer.
    """

    def __init__(self, name, settings, folder=FOLDER, fixed=None, earlier=None):
        self._path = folder / f"{name}.jsonl"
        self._settings = settings
        # Normalized as when read from a file.
        self._fixed = json.loads(json.dumps(dict(fixed or {})))
        self._earlier = {**self._fixed, **json.loads(json.dumps(dict(earlier or {})))}
        # Computed now, because files may change before the first line is done.
        circumstances()
        self._runs = {}  # by number
        self.lines = list(self._read())
        newest = {self._key(line): line for line in self.lines if has_all(line, self._fixed)}
        self._to_repeat = {k for k, line in newest.items() if line["commit"].endswith(CHANGED)}
        self._keys = set(newest) - self._to_repeat

    def _read(self):
        """Yield the lines of the compressed file and of the plain one."""
        for text in (*_compressed_lines(self._path), *_plain_lines(self._path)):
            line = json.loads(text)
            run = line.pop("run")
            if "commit" in line:
                self._runs[run] = line
            else:
                yield line | self._runs[run]

    def _append(self, line, file):
        """Write a line, after the line of its run if that is new."""
        shared = (*self._fixed, *circumstances())
        common = {name: line[name] for name in shared if name in line}
        number = next((known for known, one in self._runs.items() if one == common), None)
        if number is None:
            number = max(self._runs, default=-1) + 1
            self._runs[number] = common
            file.write(json.dumps({"run": number, **common}) + "\n")
        own = {name: value for name, value in line.items() if name not in common}
        file.write(json.dumps({"run": number, **own}) + "\n")

    def has(self, **settings):
        """Whether there is a line for these settings that was measured with committed code."""
        return self._key(settings) in self._keys

    def _key(self, line):
        return key_of({**{name: line[name] for name in self._settings}, **self._fixed})

    def current(self):
        """The newest line for each combination of settings, among those with the fixed values.

        For combinations without such a line, the newest one with the earlier values.
        """
        found = {}
        for values in (self._earlier, self._fixed):
            found |= {self._key(line): line for line in self.lines if has_all(line, values)}
        return list(found.values())

    def forget(self, **settings):
        """Remove the lines for these settings."""
        key = self._key(settings)
        self._keys.discard(key)
        self.lines = [
            line for line in self.lines if not has_all(line, self._fixed) or self._key(line) != key
        ]
        self._runs = {}
        with self._path.open("w") as file:
            for line in self.lines:
                self._append(line, file)
        _compressed(self._path).unlink(missing_ok=True)

    def compress(self):
        """Compress all lines if they are many; further ones will be in a plain file beside them."""
        if self._path.exists():
            content = b"".join(line.encode() + b"\n" for line in _compressed_lines(self._path))
            content += self._path.read_bytes()
            if len(content) > _MOST_PLAIN:
                # Without a time, so that the same lines are the same file; whole, or a kill in the
                # middle would lose the lines that were compressed before.
                write_whole(_compressed(self._path), gzip.compress(content, mtime=0))
                self._path.unlink()

    def add(self, **line):
        """Append one line, with the commit, the versions and the number of processors."""
        key = self._key(line)
        if key in self._to_repeat:
            self._to_repeat.remove(key)
            self.forget(**line)
        line = {**line, **self._fixed, **circumstances()}
        self.lines.append(line)
        self._keys.add(key)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            self._append(line, file)
        return line


def _compressed(path):
    return path.with_name(f"{path.name}.gz")


def _plain_lines(path):
    return path.read_text().splitlines() if path.exists() else []


def _compressed_lines(path):
    """Yield the lines of a compressed file, up to where it was cut off."""
    if _compressed(path).exists():
        with contextlib.suppress(EOFError), gzip.open(_compressed(path), "rt") as file:
            for line in file:
                if line.endswith("\n"):
                    yield line.rstrip("\n")


def has_all(line, values):
    """Whether a line has all these values."""
    return all(name in line and line[name] == value for name, value in values.items())


def key_of(settings):
    """A hash of settings that does not depend on their order."""
    text = json.dumps(settings, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@functools.cache
def circumstances():
    """The commit, the versions of relevant packages and the number of processors."""
    found = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return {"commit": commit(), "versions": found, "processors": os.cpu_count()}


def commit():
    """Short name of the commit, with a plus if code was changed or added since."""
    return _git("rev-parse", "--short", "HEAD").strip() + (CHANGED if changed_code() else "")


def changed_code():
    """Paths in git of code files that differ from the commit or are not part of it."""
    code = ("../bnmtl/*.py", "../data/*.py", "../structures/*.py", "*.py")
    options = ("--porcelain", "--untracked-files=all", "--no-renames", "-z")
    entries = _git("status", *options, "--", *code)
    return [entry[3:] for entry in entries.split("\0") if entry]


def _git(*arguments):
    where = Path(__file__).parent
    return subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True).stdout


def exit_if_changed():
    """Exit with one sentence if there are uncommitted changes of code."""
    changed = changed_code()
    if changed:
        sys.stderr.write(
            f"`{changed[0]}` has changes that are in no commit, and lines of results must name the "
            "commit they were made from; commit first.\n"
        )
        raise SystemExit(2)
