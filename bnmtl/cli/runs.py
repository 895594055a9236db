"""What all commands share: they collect warnings and times, and fill a folder with run.json."""

import contextlib
import hashlib
import json
import time
import warnings
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bnmtl.cli.messages import in_options
from bnmtl.io.run import RUN_FILE, run_folder
from bnmtl.io.versions import versions

_PAGE = "report.html"
# What is given by its place, and how help and messages call it.
_ARGUMENTS = {"paths": "PATH", "scores": "SCORES"}


@dataclass(frozen=True, kw_only=True)
class FolderResult:
    """What a run has left behind.

    Attributes
    ----------
    folder : pathlib.Path
    record : dict
        The contents of run.json.
    """

    folder: Path
    record: dict

    @property
    def warnings(self):
        """In words of the command line."""
        return self.record["warnings"]


class Run:
    """One run of a command that fills a folder.

    Parameters
    ----------
    command : str
    options : dataclass
        With the folder `out`, and `force`.
    files : iterable of str
        Names of files that may be written.

    Attributes
    ----------
    folder : bnmtl.writing.OutputFolder
    caught : list of warnings.WarningMessage
    seconds : dict of str to float
        What each stage has taken.
    """

    def __init__(self, command, options, files):
        self.command, self.options = command, options
        self.started, self.seconds = datetime.now(UTC), {}
        self._begin = self._last = time.perf_counter()
        self.folder = run_folder(options.out, options.force)
        self.folder.reserve(files)
        self.caught = []

    def lap(self, stage):
        """Note that a stage has ended."""
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._last, 3)
        self._last = now

    def write(self, own, contents, page=None):
        """Write the files, the page about them and run.json, all or nothing.

        Parameters
        ----------
        own : dict
            What run.json says of this command alone.
        contents : dict of str to DataFrame, Figure or BayesNet
            By the name of the file.
        page : callable, optional
            Writes the page; gets its path, the record and the seconds of the stages.

        Returns
        -------
        dict
            The contents of run.json.
        """
        record = {
            "program": "bnmtl",
            "command": self.command,
            "versions": versions(),
            "settings": _settings(self.options),
            "warnings": user_messages(self.caught),
            "files": sorted([*contents, *([_PAGE] if page else []), RUN_FILE]),
            **own,
        }
        with self.folder.writing() as temporary:
            for name, content in contents.items():
                _write_file(temporary / name, content)
            self.lap("files")
            if page is not None:
                page(temporary / _PAGE, record, self.seconds)
                self.lap("report")
            record["started"] = self.started.isoformat(timespec="seconds")
            in_all = round(time.perf_counter() - self._begin, 3)
            record["seconds"] = {**self.seconds, "in all": in_all}
            text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
            (temporary / RUN_FILE).write_text(text + "\n", encoding="utf-8")
        return record


@contextlib.contextmanager
def new_run(command, options, files):
    """Give a `Run` that keeps the warnings of the block."""
    run = Run(command, options, files)
    with warnings_kept() as run.caught:
        yield run


@contextlib.contextmanager
def warnings_kept():
    """Give a list that collects warnings; at the end, show again those not meant for users."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield caught
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def user_messages(caught):
    """List the warnings that are meant for users, in words of the command line, each once."""
    messages = [one.message for one in caught if issubclass(one.category, UserWarning)]
    return list(dict.fromkeys(map(in_options, messages)))


def _write_file(path, content):
    """Write a table, a picture or a network as the name of its file says."""
    from bnmtl import plotting

    if path.suffix == ".csv":
        content.to_csv(path, index=False)
    elif path.suffix == ".bif":
        content.to_bif(path)
    elif path.suffix == ".svg":
        path.write_text(plotting.svg(content), encoding="utf-8")
    else:
        path.write_bytes(plotting.png(content))


def digest(path):
    """Return the SHA-256 of a file, which tells whether another one is the same."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settings(options):
    """Return the options as run.json holds them."""
    return {
        name: list(value) if name in _ARGUMENTS and isinstance(value, tuple) else value
        for name, value in asdict(options).items()
    }


def as_options(settings):
    """Name settings as the command line does."""
    shown = {title: settings[name] for name, title in _ARGUMENTS.items() if name in settings}
    for name, value in settings.items():
        if name not in _ARGUMENTS:
            is_missing = value is None or value is False or value == ()
            told = "not given" if is_missing else "given" if value is True else value
            shown[f"--{name.replace('_', '-')}"] = told
    return shown
