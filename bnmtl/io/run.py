"""The output folder of a run: what it may contain, reading it, versions and sizes of files."""

import functools
import hashlib
import json
import math
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import networkx as nx
import numpy as np

from bnmtl.errors import InputError
from bnmtl.graphs import Configuration
from bnmtl.networks import BayesNet
from bnmtl.networks.bif import read_parts
from bnmtl.reading import Cells, content_of, json_of
from bnmtl.tasks.files import na_values_of
from bnmtl.wording import count
from bnmtl.writing import OutputFolder, check_complete, path_inside

_PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "networkx",
    "scikit-learn",
    "numba",
    "joblib",
    "matplotlib",
)


def versions():
    """Return the versions of Python, bnmtl and its dependencies.

    Examples
    --------
    >>> from bnmtl.io.run import versions
    >>> sorted(versions())[:3]
    ['bnmtl', 'joblib', 'matplotlib']
    """
    import platform

    import bnmtl

    found = {"python": platform.python_version(), "bnmtl": bnmtl.__version__}
    return found | {package: _version(package) for package in _PACKAGES}


@functools.cache
def _version(package):
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


# Maximum size of all network files of a run together.
MOST_BYTES = 100_000_000
# A probability estimated from rows, with the separator.
_NUMBER = 21
# Sizes are floats, which end at 1e308.
_MOST_CONFIGURATIONS = 10**100


def check_file_sizes(graphs, tasks, remedy):
    """Raise InputError if the files would be too large to be useful.

    Parameters
    ----------
    graphs : mapping task -> networkx.DiGraph
    tasks : Tasks
    remedy : str
        Advice in the error.
    """
    sizes = {
        (name, child): size
        for name, graph in graphs.items()
        for child, size in file_bytes(graph, tasks[name]).items()
    }
    if sum(sizes.values()) <= MOST_BYTES:
        return
    name, child = max(sizes, key=sizes.get)
    task, parents = tasks[name], list(graphs[name].pred[child])
    cells = math.prod(len(task.states[task.index[v]]) for v in (child, *parents))
    message = (
        f"The networks' files must stay below {MOST_BYTES / 1e6:.0f} MB; they would have "
        f"about {_shown(sum(sizes.values()) / 1e6)} MB, and the largest table, of `{child}` "
        f"given {count(len(parents), 'parent')} in task `{name}`, has {_shown(cells)} cells for "
        f"{count(task.n_rows, 'row')}"
    )
    raise InputError(message, options=("max_cells", "max_parents"), remedy=remedy)


def check_required(learner, tasks):
    """Raise InputError if the required arcs alone make a network file too large.

    Parameters
    ----------
    learner : Learner
    tasks : Tasks
    """
    check_file_sizes(learner._required_graphs(tasks), tasks, "require fewer arcs into it")


def file_bytes(graph, task):
    """Approximate size in bytes of the table of each variable in a BIF file.

    Parameters
    ----------
    graph : networkx.DiGraph
        Over variables of the task.
    task : Task

    Returns
    -------
    dict variable -> float
    """
    states, sizes = dict(zip(task.variables, task.states, strict=True)), {}
    for child in graph:
        parents, n_states = [states[parent] for parent in graph.pred[child]], len(states[child])
        n_configurations = min(math.prod(map(len, parents)), _MOST_CONFIGURATIONS)
        # Configurations without rows have equal probabilities, which may be short.
        n_seen = min(n_configurations, task.n_rows)
        equal = len(repr(1 / n_states)) + 2
        labels = sum(np.mean([len(state) for state in parent]) + 2 for parent in parents)
        numbers = n_states * (n_seen * _NUMBER + (n_configurations - n_seen) * equal)
        sizes[child] = numbers + n_configurations * (labels + 6)
    return sizes


def _shown(number):
    """A number with commas, or in scientific notation."""
    return f"{number:,.0f}" if number < 10**15 else f"{Decimal(number):.1e}"


RUN_FILE = "run.json"
_DIGESTS = "digests"
_FOLDER = "must be a folder written by `bnmtl learn`"


class Run(NamedTuple):
    """The results of a run of the command line.

    Attributes
    ----------
    configuration : Configuration
        Task -> networkx.DiGraph, in the order of the tasks; variables that were constant in a task
        have the node attribute `constant`.
    networks : dict of str to BayesNet
    settings : dict
        The options of the command and their values.
    record : dict
        All of run.json: versions, scores, times, files, cut points, warnings.
    na_values : tuple of str
        What meant a missing value in its CSV files; `bnmtl.tasks.read` takes it for new rows.
    """

    configuration: Configuration
    networks: dict
    settings: dict
    record: dict

    @property
    def na_values(self):
        return na_values_of_run(self.settings)


def read_run(folder):
    """Read the folder written by a run of `bnmtl learn`.

    Parameters
    ----------
    folder : str or path-like

    Returns
    -------
    Run
        A named tuple (configuration, networks, settings, record).

    Raises
    ------
    InputError
        If the folder contains no run, or a run of another command without networks, or a file of
        the run is missing, damaged or changed, or is a link out of the folder.

    See Also
    --------
    BayesNet.from_bif : Reads a file by itself, also one that was changed by hand.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bnmtl.io import read_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_run(pathlib.Path(folder, "nowhere"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bnmtl.errors.InputError: `folder` must be ...; `...nowhere` holds no run.json.
    """
    folder = Path(folder)
    file, record = folder / RUN_FILE, read_record(folder)
    if record is None:
        raise InputError(f"{_FOLDER}; `{folder}` holds no run.json", argument="folder")
    if not record["tasks"]:
        raise InputError("must list tasks; it is damaged", file=file)
    if not _keeps_networks(record):
        found = f"`{folder}` is from `bnmtl {record['command']}`, which keeps no networks"
        remedy = "take its CSV files and run.json"
        raise InputError(f"{_FOLDER}; {found}", argument="folder", remedy=remedy)
    networks, configuration, cells = {}, Configuration(), Cells()
    for task in record["tasks"]:
        network = networks[task["name"]] = _network_of(task, record, folder, cells)
        configuration[task["name"]] = graph = nx.DiGraph(network.graph)
        constant = task.get("constant", [])
        if not set(constant) <= set(graph):
            raise InputError("must name variables of its networks; it is damaged", file=file)
        graph.add_nodes_from(constant, constant=True)
    return Run(configuration, networks, record["settings"], record)


def _network_of(task, record, folder, cells):
    """Return the network of a task, from a file that is as the run wrote it."""
    path = path_inside(folder, task["file"], folder / RUN_FILE)
    if not path.is_file():
        message = "must hold the network of every task; "
        message += f"`{path}`, that of `{task['name']}`, is missing"
        raise InputError(message, argument="folder")
    if not is_as_written(path, record):
        message = "must be as its run wrote it; it was changed"
        remedy = "run `bnmtl learn` again, or read this file by itself with `BayesNet.from_bif`"
        cli_remedy = "run `bnmtl learn` again, or give this file alone"
        raise InputError(message, file=path, remedy=remedy, cli_remedy=cli_remedy)
    return BayesNet(*read_parts(path, cells))


def na_values_of_run(settings):
    """Return what meant missing in the CSV files of a run; by default without a run."""
    return na_values_of(settings.get("na", ()), settings.get("only_na", ()))


def digest(path):
    """Return the SHA-256 of a file, to recognize copies and changes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_as_written(path, record):
    """Whether a file in the folder of a run has the contents that the run wrote."""
    return record[_DIGESTS].get(path.name) == digest(path)


def _digest_of(record):
    """Return the SHA-256 of a record without its digests, however its JSON is laid out."""
    others = {key: value for key, value in record.items() if key != _DIGESTS}
    plain = json.loads(json.dumps(others, allow_nan=False))  # keys are sorted as text
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def write_record(folder, record, digests):
    """Write the run.json of a folder.

    Parameters
    ----------
    folder : str or path-like
    record : dict
    digests : dict of str to str
        SHA-256 of the other files by name.

    Returns
    -------
    dict
        The record with these digests and its own.
    """
    record = {**record, _DIGESTS: {**digests, RUN_FILE: _digest_of(record)}}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    Path(folder, RUN_FILE).write_text(text + "\n", encoding="utf-8")
    return record


def read_record(folder, argument="folder"):
    """Return the contents of the run.json of a folder; None if it has none.

    Parameters
    ----------
    folder : str or path-like
    argument : str, default="folder"
        The name of the argument in an error about the folder.

    Raises
    ------
    InputError
        If the file was not written by a command of bnmtl, or was changed, or files are being moved
        into the folder.
    """
    check_complete(folder, _files_of_run, argument)
    return _record_of(Path(folder))


def _record_of(folder):
    path = folder / RUN_FILE
    if not path.is_file():
        return None
    path_inside(folder, RUN_FILE, path)
    try:
        record = json_of(content_of(path).decode("utf-8"))
        own_digest = _digest_of(record) if isinstance(record, dict) else None
    except InputError as error:
        raise InputError(error.message, file=path, remedy=error.remedy) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"must be a JSON file; it is damaged ({error})", file=path) from None
    if own_digest is None or record.get("program") != "bnmtl":
        raise InputError("must be written by bnmtl; it is of another program", file=path)
    digests, remedy = record.get(_DIGESTS), "run the command again"
    if not isinstance(digests, dict):
        found = "it has no digests, as those of earlier versions"
        raise InputError(f"must have digests of the files; {found}", file=path, remedy=remedy)
    if digests.get(RUN_FILE) != own_digest:
        raise InputError("must be as it was written; it was changed", file=path, remedy=remedy)
    if not _is_complete(record):
        raise InputError("must list tasks, settings and files; it is damaged", file=path)
    return record


def run_folder(path, force=False):
    """Return the output folder of a run; `force` replaces the files of an earlier run.

    Parameters
    ----------
    path : str or path-like
    force : bool, default=False

    Returns
    -------
    OutputFolder

    Raises
    ------
    InputError
        If the folder cannot be written to, or is not empty and `force` is False.
    """
    return OutputFolder(path, force, earlier=_files_of_run, last=RUN_FILE)


def _files_of_run(path):
    """Return the file names listed in the run.json of a folder; None if it is not from bnmtl."""
    try:
        record = _record_of(Path(path))
    except InputError:
        return None
    return None if record is None else record["files"]


def _is_complete(record):
    """Whether a record contains everything that is read from it."""
    tasks, settings = record.get("tasks"), record.get("settings")
    if not (
        isinstance(settings, dict)
        and all(isinstance(settings.get(key), str | None) for key in ("task_column", "group"))
        and all(_are_texts(settings.get(key, [])) for key in ("na", "only_na"))
        and isinstance(record.get("command", ""), str)
        and _are_file_names(record.get("files"))
        and isinstance(record.get("cut_points", {}), dict)
        and isinstance(record.get("sha256", []), list)
        and isinstance(tasks, list)
        and all(isinstance(task, dict) for task in tasks)
        and all(_are_texts(task.get("constant", [])) for task in tasks)
    ):
        return False
    for key in ("name", "file") if _keeps_networks(record) else ("name",):
        values = [task.get(key) for task in tasks]
        if not _are_texts(values) or len(set(values)) < len(values):
            return False
    return not _keeps_networks(record) or _are_file_names([task["file"] for task in tasks])


def _are_texts(values):
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _are_file_names(values):
    """Whether values are names that a run gives to files, all of which are in its folder itself."""
    return _are_texts(values) and all(
        PurePosixPath(value).name == value and value not in ("", "..") and not {*"\\\0"} & {*value}
        for value in values
    )


def _keeps_networks(record):
    """Whether a record is from a command that writes networks, as all did at first."""
    return record.get("command", "learn") == "learn"
