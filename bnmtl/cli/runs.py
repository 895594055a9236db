"""Runs of commands: their time limit, warnings and times, the folder with run.json, and text."""

import contextlib
import textwrap
import time
import warnings
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bnmtl.cli.messages import PLACES, in_options
from bnmtl.cli.options import inputs_of
from bnmtl.io.run import RUN_FILE, digest, run_folder, versions, write_record
from bnmtl.tasks.files import csv_text


class TimeLimit:
    """A time limit for all stages together; unused time is left to later stages.

    Parameters
    ----------
    seconds : float or None
        From now on; None means no limit.
    parts : mapping stage -> float
        Relative shares of the stages; the attribute `parts` keeps those of stages that have not
        begun.

    Examples
    --------
    >>> limit = TimeLimit(60, {"learning": 2, "drawing": 1})
    >>> 39 < limit.of("learning") <= 40
    True
    """

    def __init__(self, seconds, parts):
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.parts = dict(parts)

    def of(self, stage):
        """Seconds for a stage that begins now, or None without a limit; call once per stage."""
        all_parts = sum(self.parts.values())
        part = self.parts.pop(stage)
        if self._deadline is None:
            return None
        return max(0.0, self._deadline - time.monotonic()) * part / all_parts


def fit_parameters(options, progress=None):
    """Return the parameters of learners and selectors that most commands have options for."""
    return {
        "random_state": options.seed,
        "n_jobs": -1 if options.jobs is None else options.jobs,
        "progress": progress or False,
    }


_PAGE = "report.html"


@dataclass(frozen=True, kw_only=True)
class FolderResult:
    """The result of a run that writes a folder.

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
        """Warnings in terms of the command line."""
        return self.record["warnings"]


@dataclass(frozen=True)
class MeasuredResult(FolderResult):
    """The result of a run that measures quality.

    Attributes
    ----------
    measures : pandas.DataFrame
        One row per method or, by task and metric, per model.
    """

    measures: object


class NewRun:
    """One run of a command that writes a folder.

    Parameters
    ----------
    command : str
    options : dataclass
        Its fields include the folder `out` and `force`.

    Attributes
    ----------
    folder : bnmtl.writing.OutputFolder
        Locked.
    caught : list of warnings.WarningMessage
    seconds : dict of str to float
        Duration of each stage.
    """

    def __init__(self, command, options):
        self.command, self.options = command, options
        self.started, self.seconds = datetime.now(UTC), {}
        self._begin = self._last = time.perf_counter()
        self.folder = run_folder(options.out, options.force)
        self.caught = []

    def lap(self, stage):
        """Record the end of a stage."""
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._last, 3)
        self._last = now

    def write(self, entries, contents, write_page=None):
        """Write the files, the page about them and run.json; either all or none are written.

        Parameters
        ----------
        entries : dict
            The entries of run.json that are specific to the command.
        contents : dict of str to DataFrame, Figure, BayesNet or Rounds
            By file name.
        write_page : callable, optional
            Writes the page, given its path, the record, and by keyword the settings as options and
            the times, the seconds of the stages.

        Returns
        -------
        dict
            The contents of run.json.
        """
        record = {
            "program": "bnmtl",
            "command": self.command,
            "versions": versions(),
            "settings": asdict(self.options),
            "warnings": user_messages(self.caught),
            "files": sorted([*contents, *([_PAGE] if write_page else []), RUN_FILE]),
            **entries,
        }
        with self.folder.writing() as temporary:
            for name, content in contents.items():
                _write_file(temporary / name, content)
            self.lap("files")
            if write_page is not None:
                settings = as_options(record["settings"])
                write_page(temporary / _PAGE, record, settings=settings, times=self.seconds)
                self.lap("report")
            record["started"] = self.started.isoformat(timespec="seconds")
            in_all = round(time.perf_counter() - self._begin, 3)
            record["seconds"] = {**self.seconds, "in all": in_all}
            digests = {path.name: digest(path) for path in temporary.iterdir()}
            return write_record(temporary, record, digests)


@contextlib.contextmanager
def new_run(command, options, files):
    """Context manager with a `NewRun` that collects the warnings of the block.

    ``files`` are the names of files that may be written, except run.json.
    """
    run = NewRun(command, options)
    with run.folder, warnings_kept() as run.caught:
        run.folder.keep(inputs_of(options))
        run.folder.reserve([*files, RUN_FILE])
        yield run


@contextlib.contextmanager
def warnings_kept():
    """Context manager with a list of warnings; at the end, show those not meant for users."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield caught
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def user_messages(caught):
    """List the distinct warnings meant for users, in terms of the command line."""
    messages = [found.message for found in caught if issubclass(found.category, UserWarning)]
    return list(dict.fromkeys(map(in_options, messages)))


def _write_file(path, content):
    """Write a table, a picture, a network or rounds in the format of the file's suffix."""
    from bnmtl import plotting

    if path.suffix == ".csv":
        path.write_text(csv_text(content), encoding="utf-8", newline="")
    elif path.suffix == ".bif":
        content.to_bif(path)
    elif path.suffix == ".npz":
        content.save(path)
    elif path.suffix == ".svg":
        path.write_text(plotting.svg(content), encoding="utf-8")
    else:
        path.write_bytes(plotting.png(content))


def as_options(settings):
    """Return settings with the names of the command line."""
    shown = {title: settings[name] for name, title in PLACES.items() if name in settings}
    for name, value in settings.items():
        if name not in PLACES:
            is_missing = value is None or value is False or value == ()
            written = "not given" if is_missing else "given" if value is True else value
            shown[f"--{name.replace('_', '-')}"] = written
    return shown


_WIDTH = 100  # of printed text


def wrapped(*texts):
    """Yield the lines of texts to print."""
    for text in texts:
        yield from textwrap.wrap(text, _WIDTH)


class Table(NamedTuple):
    """A table to print.

    Attributes
    ----------
    columns : list of str
    rows : list of list of str
    n_names : int
        Number of leading columns that contain text.
    if_too_wide : Table or None
        Printed instead if the table does not fit.
    """

    columns: list
    rows: list
    n_names: int = 1
    if_too_wide: object = None


def where(result):
    """The last line of a summary: where the files are."""
    return f"{len(result.record['files'])} files in {result.folder}; begin with report.html."
