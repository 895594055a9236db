"""Results as JSON lines: each with what it was measured on, none measured twice."""

import functools
import hashlib
import json
import os
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).parent / "results"
PACKAGES = ("numba", "numpy", "pyagrum", "pgmpy")


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
        self._keys = {self._key(line) for line in self.lines if self._is_current(line)}

    def has(self, **settings):
        """Whether there is a line for these settings."""
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
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"commit": commit(), "versions": found, "processors": os.cpu_count()}


def commit():
    """Short name of the commit, with a plus where code has been changed or added since."""
    where = Path(__file__).parent

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True)
        return done.stdout.strip()

    code = ("../bnmtl/*.py", "../data/*.py", "../structures/*.py", "*.py")
    changed = git("status", "--porcelain", "--untracked-files=all", "--", *code)
    return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
