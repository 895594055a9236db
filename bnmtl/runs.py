"""One run of the command line: data in, learning, and everything that its folder holds."""

import json
import math
import time
import warnings
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from bnmtl import report
from bnmtl.graphs import takes_part
from bnmtl.io.knowledge import read_arcs, read_tiers
from bnmtl.io.run import RUN_FILE
from bnmtl.output import OutputFolder, file_names

__all__ = ["Options", "Result", "run"]

_PICTURES = ("dags.svg", "dags.png", "arcs.png")
_FIXED_FILES = ("arcs.csv", *_PICTURES, "report.html", RUN_FILE)
_SIZED_SCORES = ("bdeu", "bds")


@dataclass(frozen=True)
class Options:
    """What `bnmtl learn` was asked for; the names are those of its options."""

    paths: tuple[str, ...]
    task_column: str | None = None
    ignore: tuple[str, ...] = ()
    missing: str = "error"
    discretize: int | None = None
    prior: str = "paired"
    penalty: float | str = "auto"
    score: str = "bdeu"
    equivalent_sample_size: float | None = None
    max_parents: int | None = None
    required: str | None = None
    forbidden: str | None = None
    tiers: str | None = None
    search: str | None = None
    starts: int | None = None
    restarts: int | None = None
    time_limit: float | None = None
    seed: int = 0
    jobs: int | None = None
    out: str = "bnmtl-run"
    force: bool = False


@dataclass(frozen=True)
class Result:
    """What a run has found; `record` is the contents of run.json."""

    learner: object
    single_task: object
    folder: Path
    record: dict


def run(options, progress=None):
    """Check, learn, and write the folder of one run.

    Parameters
    ----------
    options : Options
    progress : callable, optional
        Gets every `bnmtl.progress.ProgressEvent`.

    Returns
    -------
    Result

    Raises
    ------
    ValueError, TypeError
        For mistakes in the options or the data; nothing is written then.
    """
    clock = _Clock()
    folder = OutputFolder(options.out, options.force)
    folder.reserve(_FIXED_FILES)
    score = _score(options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        tasks, edges = _read(options)
        files = file_names(tasks.names, ".bif", _FIXED_FILES)
        folder.reserve(files.values())
        common = _common_parameters(options, tasks, score, progress)
        clock.lap("reading")
        learner = _learner(options, tasks, common).fit(tasks)
        clock.lap("learning")
        single_task = _apart(tasks, common, learner, progress)
        clock.lap("learning each task alone, to compare")
        pictures = _draw(learner)
        clock.lap("pictures")
        record = _record(options, learner, single_task, files, edges, _messages(caught))
        result = Result(learner, single_task, folder.path, record)
        with folder.writing() as temporary:
            _write(temporary, result, pictures, clock)
    for warning in caught:
        if not issubclass(warning.category, UserWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return result


class _Clock:
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


def _score(options):
    """Return the score that the options name."""
    from bnmtl import scores

    size = options.equivalent_sample_size
    classes = {
        "bdeu": scores.BDeu,
        "bds": scores.BDs,
        "k2": scores.K2,
        "bic": scores.BIC,
        "aic": scores.AIC,
    }
    if options.score in _SIZED_SCORES:
        return classes[options.score](1.0 if size is None else size)
    if size is not None:
        raise ValueError(
            "`--equivalent-sample-size` must go with the scores bdeu or bds; "
            f"{options.score} has none: leave it out."
        )
    return classes[options.score]()


def _read(options):
    """Return the encoded tasks and the cut points by column, None without --discretize."""
    from bnmtl.tasks import discretize, encode, read

    frames = read(list(options.paths), task_column=options.task_column)
    for column in options.ignore:
        if column == options.task_column:
            raise ValueError(f"`--ignore` must not name the task column; `{column}` was given.")
        if not any(column in frame.columns for frame in frames.values()):
            raise ValueError(
                f"`--ignore` must name a column of the data; there is no `{column}`: check the "
                "spelling."
            )
    ignored = list(options.ignore)
    frames = {name: frame.drop(columns=ignored, errors="ignore") for name, frame in frames.items()}
    edges = None
    if options.discretize is not None:
        frames, edges = discretize(frames, bins=options.discretize, return_edges=True)
    return encode(frames, missing=options.missing), edges


def _common_parameters(options, tasks, score, progress):
    """Return what all learners of the run are built with."""
    return {
        "score": score,
        "required": read_arcs(options.required, tasks) if options.required else (),
        "forbidden": read_arcs(options.forbidden, tasks) if options.forbidden else (),
        "tiers": read_tiers(options.tiers, tasks) if options.tiers else None,
        **_search_parameters(options),
        "max_parents": options.max_parents,
        "random_state": options.seed,
        "n_jobs": -1 if options.jobs is None else options.jobs,
        "progress": progress or False,
    }


def _search_parameters(options):
    """Return what the options say of the search, what is not given being left out."""
    search = options.search
    if search is None:
        search = "orders" if options.restarts is None else "hill-climbing"
    for option, value, owner in (
        ("--starts", options.starts, "orders"),
        ("--restarts", options.restarts, "hill-climbing"),
    ):
        if value is not None and search != owner:
            raise ValueError(
                f"`{option}` belongs to `--search {owner}`, and the search is {search}; leave one "
                "of the two out."
            )
    given = {
        "search": search,
        "n_starts": options.starts,
        "restarts": options.restarts,
        "time_limit": options.time_limit,
    }
    return {name: value for name, value in given.items() if value is not None}


def _learner(options, tasks, common):
    from bnmtl.learners import MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner
    from bnmtl.priors import EditPrior, PairedPrior

    if len(tasks) == 1:
        return SingleTaskLearner(**common)
    prior = {"paired": PairedPrior, "edit": EditPrior}[options.prior]
    if options.penalty == "auto":
        return MultitaskLearnerCV(prior=prior(), **common)
    return MultitaskLearner(prior=prior(penalty=options.penalty), **common)


def _apart(tasks, common, learner, progress):
    """Return the tasks learned one by one, None if there is only one."""
    from bnmtl.learners import SingleTaskLearner

    if len(tasks) == 1:
        return None
    if progress is not None:
        common = {**common, "progress": lambda event: progress(_renamed(event))}
    return SingleTaskLearner(**common).fit(tasks)


def _renamed(event):
    return event._replace(stage=f"{event.stage}, to compare")


def _messages(caught):
    """List the warnings that are meant for users, each once."""
    texts = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
    return list(dict.fromkeys(texts))


def _record(options, learner, single_task, files, edges, messages):
    """Return the contents of run.json, but for what writing adds."""
    record = {
        "program": "bnmtl",
        "versions": report.versions(),
        "settings": {**asdict(options), "paths": list(options.paths)},
        "tasks": [_task_record(name, learner, single_task, file) for name, file in files.items()],
        "score": _finite(learner.score_),
        "local_scores": learner.families_,
        "warnings": messages,
        "files": sorted([*_FIXED_FILES, *files.values()]),
    }
    if single_task is not None:
        record["arcs"] = report.sharing_counts(learner.arcs_)
        record["start"] = learner.start_
        record["start_scores_rows"] = "training" if _held_out(learner) else "all"
        record["start_scores"] = {
            name: _finite(score) for name, score in learner.start_scores_.items()
        }
        record["penalty"] = getattr(learner, "penalty_", options.penalty)
    if _held_out(learner):
        record["validation_scores"] = [
            {"penalty": penalty, "score": _finite(score)}
            for penalty, score in learner.validation_scores_.items()
        ]
    if edges is not None:
        record["cut_points"] = {
            column: [float(edge) for edge in cuts] for column, cuts in edges.items()
        }
    return record


def _held_out(learner):
    """Say whether the structures were learned without some rows, to choose the penalty by them."""
    return hasattr(learner, "validation_scores_")


def _task_record(name, learner, single_task, file):
    graph = learner.configuration_[name]
    record = {
        "name": name,
        "file": file,
        "rows": learner.tasks_[name].n_rows,
        "variables": learner.tasks_[name].n_variables,
        "constant": [variable for variable in graph if not takes_part(graph, variable)],
        "arcs": graph.number_of_edges(),
        "score": _finite(learner.task_scores_[name]),
    }
    if single_task is not None:
        record["single_task_score"] = _finite(single_task.task_scores_[name])
    return record


def _finite(number):
    """Return a number that JSON can hold; None for infinite ones."""
    return float(number) if math.isfinite(number) else None


def _draw(learner):
    from bnmtl import plotting

    return {
        "dags": plotting.dags(learner.configuration_),
        "arcs": plotting.arcs(learner.configuration_),
    }


def _write(folder, result, pictures, clock):
    """Write all files of a run."""
    from bnmtl import plotting

    learner, record = result.learner, result.record
    for task in record["tasks"]:
        learner.networks_[task["name"]].to_bif(folder / task["file"])
    learner.arcs_.to_csv(folder / "arcs.csv", index=False)
    (folder / "dags.svg").write_text(plotting.svg(pictures["dags"]), encoding="utf-8")
    (folder / "dags.png").write_bytes(plotting.png(pictures["dags"]))
    (folder / "arcs.png").write_bytes(plotting.png(pictures["arcs"]))
    record["layout"] = pictures["dags"].get_label()
    clock.lap("files")
    report.write(
        folder / "report.html",
        learner,
        result.single_task,
        settings=_as_options(record["settings"]),
        messages=record["warnings"],
        times=clock.laps,
        pictures={"dags": pictures["dags"]},
    )
    clock.lap("report")
    record["started"] = clock.started.isoformat(timespec="seconds")
    record["seconds"] = clock.total()
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / RUN_FILE).write_text(text + "\n", encoding="utf-8")


def _as_options(settings):
    """Name settings as the command line does."""
    shown = {"PATH": settings["paths"]}
    for name, value in settings.items():
        if name == "paths":
            continue
        if isinstance(value, bool):
            value = "given" if value else None
        shown[f"--{name.replace('_', '-')}"] = "not given" if value in (None, ()) else value
    return shown
