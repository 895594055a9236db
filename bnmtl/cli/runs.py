"""What the runs of all commands have in common: data in, parameters of learners, and the record."""

import contextlib
import hashlib
import json
import time
import warnings
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bnmtl.cli.messages import in_options
from bnmtl.errors import InputError, located, warn
from bnmtl.io.knowledge import read_arcs, read_tiers
from bnmtl.io.run import RUN_FILE
from bnmtl.io.versions import versions
from bnmtl.learners.held_out import most_folds
from bnmtl.wording import Bare

__all__ = [
    "Clock",
    "as_options",
    "begin_record",
    "check_belongs",
    "check_folds",
    "common_parameters",
    "digest",
    "prior_class",
    "read_tasks",
    "score_named",
    "table_sharing",
    "user_messages",
    "warn_of_copies",
    "warnings_kept",
    "write_record",
]

_SIZED_SCORES = ("bdeu", "bds")
# What is given by its place, and how help and messages call it.
_ARGUMENTS = {"paths": "PATH", "scores": "SCORES"}


class Clock:
    """Seconds between laps."""

    def __init__(self):
        self.started = datetime.now(UTC)
        self.laps = {}
        self._begin = self._last = time.perf_counter()

    def lap(self, name):
        now = time.perf_counter()
        self.laps[name] = round(now - self._last, 3)
        self._last = now

    def total(self):
        return {**self.laps, "in all": round(time.perf_counter() - self._begin, 3)}


@contextlib.contextmanager
def warnings_kept():
    """Give a list that warnings go to; at the end those that are not for users are shown again."""
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


def score_named(options):
    """Return the score that the options name."""
    from bnmtl import scores

    size = options.equivalent_sample_size
    classes = {
        "mixed-dirichlet": scores.MixedDirichlet,
        "bdeu": scores.BDeu,
        "bds": scores.BDs,
        "k2": scores.K2,
        "bic": scores.BIC,
        "aic": scores.AIC,
    }
    if options.score in _SIZED_SCORES:
        return classes[options.score](1.0 if size is None else size)
    if size is not None:
        raise InputError(
            "equivalent_sample_size",
            "must go with {score=bdeu} or {score=bds}",
            found="{chosen!s} has none",
            remedies="leave it out",
            chosen=options.score,
        )
    return classes[options.score]()


def prior_class(name):
    """Return the class of the prior that an option names."""
    from bnmtl.priors import EditPrior, PairedPrior

    return {"paired": PairedPrior, "edit": EditPrior}[name]


def read_tasks(options):
    """Return the encoded tasks, and what run.json tells of their data: digests, cut points."""
    from bnmtl.tasks import discretize, encode, read

    # Now, as files may be gone when learning is done.
    origin = {"sha256": [digest(path) for path in options.paths if Path(path).is_file()]}
    frames = read(list(options.paths), task_column=options.task_column)
    for column in options.ignore:
        if column == options.task_column:
            raise InputError("ignore", "must not name the task column", Bare(column))
        if not any(column in frame.columns for frame in frames.values()):
            raise InputError(
                "ignore",
                "must name a column of the data",
                found="there is no {name}",
                remedies="check the spelling",
                name=column,
            )
    ignored = list(options.ignore)
    frames = {name: frame.drop(columns=ignored, errors="ignore") for name, frame in frames.items()}
    if options.discretize is not None:
        frames, edges = discretize(frames, bins=options.discretize, return_edges=True)
        origin["cut_points"] = {column: list(map(float, cuts)) for column, cuts in edges.items()}
    return encode(frames, missing=options.missing), origin


def common_parameters(options, tasks, score, progress):
    """Return what all learners of a run are built with."""
    from bnmtl.search import Limits

    return {
        "score": score,
        "required": _read_known(options, "required", read_arcs, tasks) or (),
        "forbidden": _read_known(options, "forbidden", read_arcs, tasks) or (),
        "tiers": _read_known(options, "tiers", read_tiers, tasks),
        "search": _search(options),
        "structure_prior": _structure_prior(options),
        "max_parents": options.max_parents,
        "limits": Limits(max_cells=options.max_cells),
        "parameter_sample_size": options.parameter_sample_size,
        "random_state": options.seed,
        "n_jobs": -1 if options.jobs is None else options.jobs,
        "progress": progress or False,
    }


def table_sharing(options):
    """Return what learners of several tasks are given for the option of that name."""
    return "auto" if options.table_sharing == "auto" else None


def _structure_prior(options):
    """Return the prior of a task's graph that the options ask for."""
    from bnmtl.priors import ArcPrior

    chance = options.arc_probability
    if chance == "none":
        return None
    return chance if chance == "auto" else ArcPrior(probability=chance)


def _read_known(options, name, read, tasks):
    """Return what the file of an option says is known; None if the option is not given."""
    path = getattr(options, name)
    if path is None:
        return None
    with located(argument=name):
        return read(path, tasks)


def _search(options):
    """Return the search that the options ask for."""
    from bnmtl.search import HillClimbing, Orders
    from bnmtl.search.options import search_of

    search = options.search
    if search is None:
        search = "orders" if options.restarts is None else "hill-climbing"
    check_belongs("starts", options.starts, "search", "orders", search)
    check_belongs("restarts", options.restarts, "search", "hill-climbing", search)
    if options.restarts is not None:
        return HillClimbing(restarts=options.restarts)
    return search_of(search) if options.starts is None else Orders(starts=options.starts)


def check_belongs(option, value, owner, needed, chosen):
    """Raise if an option has a value that nothing is done with, as another one is not as needed."""
    if value is not None and chosen != needed:
        raise InputError(
            option,
            f"belongs to {{{owner}={needed}}}",
            found="the {owner!s} is {chosen!s}",
            remedies="leave one of the two out",
            owner=owner,
            chosen=chosen,
        )


def check_folds(n_folds, tasks):
    """Raise ValueError for a number of folds that no task has enough rows for."""
    most = most_folds(tasks)
    if n_folds is not None and n_folds != 0 and not 2 <= n_folds <= most:
        raise InputError(
            "folds",
            "must be 0 or from 2 to the rows of the largest task, {most} (copies count once)",
            n_folds,
            most=most,
        )


def warn_of_copies(tasks):
    """Say where rows are there several times, more often than chance makes them equal."""
    copied = {name: task.n_rows - len(task.originals[1]) for name, task in tasks.items()}
    counts = [f"`{name}`: {n} of {tasks[name].n_rows}" for name, n in copied.items() if n]
    if counts:
        warn(
            rule="Rows are copies of other rows of their task ({counts!s})",
            found="copies count as rows of their own and make chance look like structure",
            remedies="remove them",
            counts=", ".join(counts),
        )


def digest(path):
    """Return the SHA-256 of a file, which tells whether another one is the same."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def begin_record(command, options, messages, files):
    """Return what run.json holds of every run, but for the times."""
    return {
        "program": "bnmtl",
        "command": command,
        "versions": versions(),
        "settings": {
            name: list(value) if name in _ARGUMENTS and isinstance(value, tuple) else value
            for name, value in asdict(options).items()
        },
        "warnings": messages,
        "files": sorted(files),
    }


def write_record(folder, record, clock):
    """Write run.json, the times added."""
    record["started"] = clock.started.isoformat(timespec="seconds")
    record["seconds"] = clock.total()
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / RUN_FILE).write_text(text + "\n", encoding="utf-8")


def as_options(settings):
    """Name settings as the command line does."""
    shown = {title: settings[name] for name, title in _ARGUMENTS.items() if name in settings}
    for name, value in settings.items():
        if name in _ARGUMENTS:
            continue
        if isinstance(value, bool):
            value = "given" if value else None
        shown[f"--{name.replace('_', '-')}"] = "not given" if value in (None, ()) else value
    return shown
