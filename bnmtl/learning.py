"""One run of `bnmtl learn`: data in, learning, and everything that its folder holds."""

import math
from dataclasses import dataclass
from pathlib import Path

from bnmtl import report
from bnmtl.graphs import takes_part
from bnmtl.io.run import RUN_FILE
from bnmtl.output import OutputFolder, file_names
from bnmtl.runs import (
    Clock,
    as_options,
    begin_record,
    common_parameters,
    prior_class,
    read_tasks,
    score_named,
    user_messages,
    warnings_kept,
    write_record,
)

__all__ = ["Result", "run"]

_PICTURES = ("dags.svg", "dags.png", "arcs.png")
_FIXED_FILES = ("arcs.csv", *_PICTURES, "report.html", RUN_FILE)


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
    clock = Clock()
    folder = OutputFolder(options.out, options.force)
    folder.reserve(_FIXED_FILES)
    score = score_named(options)
    with warnings_kept() as caught:
        tasks, origin = read_tasks(options)
        files = file_names(tasks.names, ".bif", _FIXED_FILES)
        folder.reserve(files.values())
        common = common_parameters(options, tasks, score, progress)
        clock.lap("reading")
        learner = _learner(options, tasks, common).fit(tasks)
        clock.lap("learning")
        single_task = _apart(tasks, common, learner, progress)
        clock.lap("learning each task alone, to compare")
        pictures = _draw(learner)
        clock.lap("pictures")
        record = _record(options, learner, single_task, files, origin, user_messages(caught))
        result = Result(learner, single_task, folder.path, record)
        with folder.writing() as temporary:
            _write(temporary, result, pictures, clock)
    return result


def _learner(options, tasks, common):
    from bnmtl.learners import MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner

    if len(tasks) == 1:
        return SingleTaskLearner(**common)
    prior = prior_class(options.prior)
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


def _record(options, learner, single_task, files, origin, messages):
    """Return the contents of run.json, but for what writing adds."""
    all_files = [*_FIXED_FILES, *files.values()]
    record = {
        **begin_record("learn", options, messages, all_files),
        **origin,
        "tasks": [_task_record(name, learner, single_task, file) for name, file in files.items()],
        "score": _finite(learner.score_),
        "local_scores": learner.families_,
    }
    if single_task is not None:
        record["arcs"] = report.sharing_counts(learner.arcs_)
        record["start"] = learner.start_
        record["start_scores"] = {
            name: _finite(score) for name, score in learner.start_scores_.items()
        }
        record["penalty"] = getattr(learner, "penalty_", options.penalty)
    if hasattr(learner, "validation_scores_"):
        record["validation_scores"] = [
            {"penalty": penalty, "score": _finite(score)}
            for penalty, score in learner.validation_scores_.items()
        ]
    return record


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
        settings=as_options(record["settings"]),
        messages=record["warnings"],
        times=clock.laps,
        pictures={"dags": pictures["dags"]},
    )
    clock.lap("report")
    write_record(folder, record, clock)
