"""Results as JSON lines: each with what it was measured on, none measured twice."""

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
    """

    def __init__(self, name, settings):
        self._path = FOLDER / f"{name}.jsonl"
        self._settings = settings
        self.lines = []
        if self._path.exists():
            self.lines = [json.loads(line) for line in self._path.read_text().splitlines()]

    def has(self, **settings):
        """Whether there is a line for these settings."""
        return any(self._is_for(line, settings) for line in self.lines)

    def _is_for(self, line, settings):
        return all(line[s] == settings[s] for s in self._settings)

    def forget(self, **settings):
        """Take out what there is for these settings."""
        self.lines = [line for line in self.lines if not self._is_for(line, settings)]
        self._path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))

    def add(self, **line):
        """Append one line, with commit, versions and number of processors."""
        line = {**line, **circumstances()}
        self.lines.append(line)
        FOLDER.mkdir(exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return line


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
    """Short name of the commit, with a plus where files have been changed since."""
    where = Path(__file__).parent

    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "../bnmtl")
    return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
