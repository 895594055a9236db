"""Results as JSON lines: each with what it was measured on, none measured twice."""

import contextlib
import functools
import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("numba", "numpy", "pandas", "pgmpy", "pyagrum", "scikit-learn", "scipy")
# Commits of lines that were measured with changes to the code end so.
CHANGED = "+"


class Results:
    """Lines of one file, by the settings that they are for.

    Parameters
    ----------
    name : str
        Of the file in benchmarks/results, without its ending.
    settings : tuple of str
        Names of the values that tell lines apart.
    folder : pathlib.Path, default=FOLDER
    fixed : mapping, default={}
        What else the lines depend on, the same for all of them: it is written into each, and lines
        that were made with other values, or without any, do not count.

    Lines of a commit with changes are shown until what they say is measured again, which takes
    their place.
    """

    def __init__(self, name, settings, folder=FOLDER, fixed=None):
        self._path = folder / f"{name}.jsonl"
        self._settings = settings
        # As it is read again.
        self._fixed = json.loads(json.dumps(dict(fixed or {})))
        # Now, not when the first line is done and files may have been changed.
        circumstances()
        self.lines = []
        if self._path.exists():
            self.lines = [json.loads(line) for line in self._path.read_text().splitlines()]
        newest = {self._key(line): line for line in self.lines if self._is_current(line)}
        self._to_repeat = {k for k, line in newest.items() if line["commit"].endswith(CHANGED)}
        self._keys = set(newest) - self._to_repeat

    def has(self, **settings):
        """Whether there is a line for these settings, and of a commit without changes."""
        return self._key(settings) in self._keys

    def _key(self, line):
        return key_of({**{name: line[name] for name in self._settings}, **self._fixed})

    def _is_current(self, line):
        return all(name in line and line[name] == value for name, value in self._fixed.items())

    def current(self):
        """The newest line for each settings, of those that were made with the fixed values."""
        found = {self._key(line): line for line in self.lines if self._is_current(line)}
        return list(found.values())

    def forget(self, **settings):
        """Take out what there is for these settings."""
        key = self._key(settings)
        self._keys.discard(key)
        self.lines = [
            line for line in self.lines if not self._is_current(line) or self._key(line) != key
        ]
        self._path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))

    def add(self, **line):
        """Append one line, with the hash of its settings, commit, versions and processors."""
        key = self._key(line)
        if key in self._to_repeat:
            self._to_repeat.remove(key)
            self.forget(**line)
        line = {"key": key, **line, **self._fixed, **circumstances()}
        self.lines.append(line)
        self._keys.add(key)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return line


def key_of(settings):
    """A hash of settings, whatever their order."""
    text = json.dumps(settings, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@functools.cache
def circumstances():
    """The commit, the versions that matter and the number of processors."""
    found = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return {"commit": commit(), "versions": found, "processors": os.cpu_count()}


def commit():
    """Short name of the commit, with a plus where code has been changed or added since."""
    return _git("rev-parse", "--short", "HEAD").strip() + (CHANGED if changed_code() else "")


def changed_code():
    """Files of code that differ from the commit, or are not part of it; their paths in git."""
    code = ("../bnmtl/*.py", "../data/*.py", "../structures/*.py", "*.py")
    options = ("--porcelain", "--untracked-files=all", "--no-renames", "-z")
    entries = _git("status", *options, "--", *code)
    return [entry[3:] for entry in entries.split("\0") if entry]


def _git(*arguments):
    where = Path(__file__).parent
    return subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True).stdout


def exit_if_changed():
    """End the process with one sentence where lines would name a commit without all code."""
    changed = changed_code()
    if changed:
        sys.stderr.write(
            f"`{changed[0]}` has changes that are in no commit, and lines of results must name the "
            "commit they were made from; commit first.\n"
        )
        raise SystemExit(2)
