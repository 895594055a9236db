"""Runs of commands: their time limit, warnings and times, the folder with run.json, and text."""

import contextlib
import os
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
from bnmtl.tasks.files import csv_text, warn_of_formulas


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


class Picture(NamedTuple):
    """A picture that is drawn when the results are written.

    Attributes
    ----------
    draw : callable
        Returns a matplotlib figure.
    files : tuple of str
        The names of its files; empty if it is on the page only.
    """

    draw: object
    files: tuple = ()


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

    def write(self, entries, contents, pictures=None, write_page=None, drawn_entries=None):
        """Write the results with run.json, then pictures, the page about them and a new run.json.

        The results are all there, or none. What ends the process later loses none of them, and a
        picture that cannot be drawn is left out, with a warning.

        Parameters
        ----------
        entries : dict
            The entries of run.json that are specific to the command.
        contents : dict of str to DataFrame, BayesNet or Rounds
            By file name.
        pictures : dict of str to Picture, optional
            By their names on the page.
        write_page : callable, optional
            Writes the page, given its path, the record, and by keyword the figures (by name; None
            if it cannot be drawn), the settings as options and the times, the seconds of the
            stages. Without it there are no pictures either.
        drawn_entries : callable, optional
            Returns further entries of run.json, given the figures.

        Returns
        -------
        dict
            The contents of run.json.
        """
        pictures = pictures or {}
        warn_of_formulas(table for name, table in contents.items() if name.endswith(".csv"))
        files = [file for picture in pictures.values() for file in picture.files]
        record = {
            "program": "bnmtl",
            "command": self.command,
            "versions": versions(),
            "settings": asdict(self.options),
            "warnings": user_messages(self.caught),
            # Those that come later, too: the next run removes what a killed one has added.
            "files": sorted([*contents, *files, *([_PAGE] if write_page else []), RUN_FILE]),
            **entries,
        }
        with self.folder.writing() as new:
            for name, content in contents.items():
                _write_file(new / name, content)
            self.lap("files")
            digests = {name: digest(new / name) for name in contents}
            record = self._write_record(new, record, digests)
        if write_page is None:
            return record
        try:
            with self.folder.adding() as new:
                figures = {name: _drawn(new, name, picture) for name, picture in pictures.items()}
                self.lap("pictures")
                record |= drawn_entries(figures) if drawn_entries else {}
                return self._write_page(new, record, figures, write_page)
        except KeyboardInterrupt:
            left = "the results without pictures"
            raise KeyboardInterrupt(f"{left} are in `{self.folder.path}`") from None

    def _write_page(self, new, record, figures, write_page):
        """Write the page and run.json beside the pictures; returns the contents of run.json."""
        record["warnings"], paths = user_messages(self.caught), self._paths()
        settings = as_options(_without_folders(record["settings"], paths))
        shown = {**record, "warnings": _without_folders(record["warnings"], paths)}
        write_page(new / _PAGE, shown, figures=figures, settings=settings, times=self.seconds)
        self.lap("report")
        record["warnings"] = user_messages(self.caught)
        written = {name: of for name, of in record["digests"].items() if name != RUN_FILE}
        written |= {path.name: digest(path) for path in new.iterdir()}
        record["files"] = sorted([*written, RUN_FILE])
        return self._write_record(new, record, written)

    def _paths(self):
        """Paths that a page must not show, because it is sent to others, and what it shows."""
        given = [str(path) for path in (*inputs_of(self.options), self.options.out)]
        named = {path: Path(path).name or path for path in given}
        absolute = {find(path): named[path] for path in given for find in _ABSOLUTE}
        folders = {f"{folder}{os.sep}": "" for folder in (os.getcwd(), os.path.expanduser("~"))}
        found = {path: name for path, name in {**absolute, **named}.items() if path != name}
        return {**folders, **found}

    def _write_record(self, new, record, digests):
        record["started"] = self.started.isoformat(timespec="seconds")
        in_all = round(time.perf_counter() - self._begin, 3)
        record["seconds"] = {**self.seconds, "in all": in_all}
        return write_record(new, record, digests)


_ABSOLUTE = (os.path.abspath, os.path.realpath)


def _without_folders(value, paths):
    """Texts, also in lists and mappings, in which paths are replaced, the longest first."""
    if isinstance(value, dict):
        return {key: _without_folders(inner, paths) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_without_folders(inner, paths) for inner in value)
    if isinstance(value, str):
        for path in sorted(paths, key=len, reverse=True):
            value = value.replace(path, paths[path])
    return value


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
    """Write a table, a network or rounds in the format of the file's suffix."""
    if path.suffix == ".csv":
        path.write_text(csv_text(content), encoding="utf-8", newline="")
    elif path.suffix == ".bif":
        content.to_bif(path)
    else:
        content.save(path)


def _drawn(folder, name, picture):
    """Draw a picture and write its files; return the figure, or None if that is impossible."""
    from bnmtl.plotting.drawing import warn_of_failure

    try:
        figure = picture.draw()
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            contents = {file: _saved(figure, file) for file in picture.files}
    except Exception as error:
        warn_of_failure(picture.files or [name], error)
        return None
    for file, content in contents.items():
        (folder / file).write_bytes(content)
    return figure


def _saved(figure, file):
    """The bytes of a figure in the format of the file's suffix."""
    from bnmtl import plotting

    return plotting.svg(figure).encode() if file.endswith(".svg") else plotting.png(figure)


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
