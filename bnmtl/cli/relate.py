"""One run of `bnmtl relate`: data in, dissimilarities, and everything that its folder holds."""

import itertools
import warnings
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from bnmtl.cli.runs import (
    Clock,
    as_options,
    begin_record,
    check_folds,
    common_parameters,
    prior_class,
    read_tasks,
    score_named,
    table_sharing,
    user_messages,
    warn_of_copies,
    warnings_kept,
    write_record,
)
from bnmtl.cli.time_limit import TimeLimit
from bnmtl.errors import InputError
from bnmtl.io.file_sizes import check_required
from bnmtl.io.run import RUN_FILE, run_folder
from bnmtl.learners.held_out import most_folds
from bnmtl.reports.gains import NOTHING, held_out_record, sentences
from bnmtl.reports.related import write as write_report
from bnmtl.wording import listed
from bnmtl.writing import file_names

__all__ = ["FOLDS", "PENALTY", "Result", "run"]

_FIXED_FILES = (
    *("relatedness.csv", "order.csv", "relatedness.png", "dendrogram.png", "report.html"),
    RUN_FILE,
)
_LEARNING, _HELD_OUT = "learning and comparing", "comparing on held-out rows"
# Of the time that there is, if it is limited.
_PARTS = {_LEARNING: 6, _HELD_OUT: 3, "pictures": 1}
PENALTY = 0.9
FOLDS = {"direct": 5, "indirect": 10, "shared": 5}
_MOST_PICTURES = 12  # of the distances to each task, if no principal one is given


@dataclass(frozen=True)
class Result:
    """What a run has found; `record` is the contents of run.json."""

    dissimilarity: pd.DataFrame
    order: pd.DataFrame
    folder: Path
    record: dict


def run(options, progress=None):
    """Check, compare the tasks, and write the folder of one run.

    Parameters
    ----------
    options : RelateOptions
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
    left_out = {_HELD_OUT} if options.folds == 0 else set()
    parts = {stage: part for stage, part in _PARTS.items() if stage not in left_out}
    limit = TimeLimit(options.time_limit, parts)
    folder = run_folder(options.out, options.force)
    folder.reserve(_FIXED_FILES)
    score = score_named(options)
    _check_together(options)
    with warnings_kept() as caught:
        tasks, origin = read_tasks(options)
        _check_tasks(tasks, options)
        check_folds(options.folds, tasks)
        principals = _principals(options, tasks)
        files = _picture_files(principals) if options.principal else {}
        folder.reserve(files.values())
        common = common_parameters(options, tasks, score, progress)
        clock.lap("reading")
        common["limits"] = common["limits"].replaced(time_limit=limit.of(_LEARNING))
        check_required(_learner(options, common), tasks)
        warn_of_copies(tasks)
        with warnings.catch_warnings():
            # The verdict says the same.
            warnings.filterwarnings("ignore", f"{NOTHING}: no task has an arc", UserWarning)
            table = _dissimilarity(options, tasks, _learner(options, common))
        clock.lap(_LEARNING)
        held_out = None
        if _HELD_OUT in parts and table.attrs["n_arcs"]:
            common["limits"] = common["limits"].replaced(time_limit=limit.of(_HELD_OUT))
            held_out = _held_out(options, tasks, _learner(options, common))
            clock.lap(_HELD_OUT)
        pictures = _draw(table, principals, bool(options.principal), _unit(options, tasks))
        clock.lap("pictures")
        order = _order(table, principals)
        record = {
            **begin_record(
                "relate", options, user_messages(caught), [*_FIXED_FILES, *files.values()]
            ),
            **origin,
            **_record(options, tasks, order, files),
            "held_out": held_out,
            "verdict": _verdict(held_out, **table.attrs),
        }
        result = Result(table, order, folder.path, record)
        with folder.writing() as temporary:
            _write(temporary, result, pictures, clock)
    return result


def _check_together(options):
    """Raise for options of structures that are learned together where each is learned alone."""
    given = [name for name in ("penalty", "prior") if getattr(options, name) is not None]
    given += ["folds"] if options.folds == 0 else []
    given += ["table_sharing"] if options.table_sharing == "auto" else []
    if given and options.relatedness == "indirect":
        raise InputError(
            given[0],
            "goes with {relatedness=direct} or {relatedness=shared} only",
            getattr(options, given[0]),
            found="the relatedness is indirect",
            remedies="leave one of the two out",
        )


def _check_tasks(tasks, options):
    """Raise unless there are several tasks and any two of them can be compared."""
    if len(tasks) < 2:
        raise InputError(
            "paths",
            "must give at least two tasks to compare",
            found="{name} is the only one",
            remedies=("add files", "name the column of tasks with {task_column}"),
            name=tasks.names[0],
        )
    usable = _usable(tasks)
    for first, second in itertools.combinations(tasks.names, 2):
        if len(usable[first] & usable[second]) < 2:
            remedies = ["leave fewer columns out with {ignore}"] if options.ignore else []
            remedies += ["leave one of the two tasks out"] if len(tasks) > 2 else []
            raise InputError(
                None,
                "must share at least two variables that vary in both with {other}, or no arc can "
                "be compared",
                found="they share {shared!s}",
                remedies=remedies or "compare other tasks",
                task=first,
                other=second,
                shared=_shared(tasks[first], tasks[second]),
            )


def _shared(first, second):
    """Name the variables that two tasks share, and which of them are constant where."""
    both = sorted(set(first.variables) & set(second.variables))
    constant = [
        f"{listed(still)} {'is' if len(still) == 1 else 'are'} constant in `{task.name}`"
        for task in (first, second)
        if (still := [variable for variable in both if variable in task.constant])
    ]
    return (listed(both) or "none") + (f", of which {' and '.join(constant)}" if constant else "")


def _usable(tasks):
    """Return the variables of each task that can have arcs there."""
    return {name: set(task.variables) - set(task.constant) for name, task in tasks.items()}


def _principals(options, tasks):
    """Return the tasks that the others are ordered from."""
    for name in options.principal:
        if name not in tasks.names:
            raise InputError(
                "principal", "must be one of the tasks, {tasks}", name, tasks=list(tasks.names)
            )
    return list(dict.fromkeys(options.principal or tasks.names))


def _picture_files(principals):
    """Return the file of each principal task's picture."""
    files = file_names([f"distances-{name}" for name in principals], ".png", _FIXED_FILES)
    return dict(zip(principals, files.values(), strict=True))


def _learner(options, common):
    """Return the learner whose structures are compared."""
    from bnmtl.learners import MultitaskLearner, SingleTaskLearner

    if options.relatedness == "indirect":
        return SingleTaskLearner(**common)
    prior = prior_class(options.prior or "paired")
    sharing = table_sharing(options)
    prior = prior(penalty=_used_penalty(options))
    return MultitaskLearner(prior=prior, table_sharing=sharing, **common)


def _dissimilarity(options, tasks, learner):
    """Return the table that was asked for."""
    from bnmtl.relatedness import direct, indirect, shared
    from bnmtl.relatedness.measures import as_distances

    if options.relatedness == "indirect":
        return indirect(tasks, learner, options.folds or FOLDS["indirect"])
    if options.relatedness == "shared":
        return as_distances(shared(tasks, learner))
    return direct(tasks, learner, _used_penalty(options), _is_normalized(tasks))


def _held_out(options, tasks, learner):
    """Return how well the rows of every fold are predicted by what is learned from the others."""
    from bnmtl.learners import compare

    n_folds = options.folds or min(FOLDS[options.relatedness], most_folds(tasks))
    return held_out_record(compare(learner, tasks, n_folds))


def _verdict(held_out, n_arcs, ended_by):
    """Say whether there are structures to compare."""
    sentence = sentences(held_out, n_arcs, ended_by)[0]
    if n_arcs and not sentence.startswith(NOTHING):
        return sentence
    return f"{sentence} How close the tasks are cannot be told."


def _used_penalty(options):
    return PENALTY if options.penalty is None else options.penalty


def _is_normalized(tasks):
    """Say whether tasks differ in what can have arcs, so that only shares can be compared."""
    usable = list(_usable(tasks).values())
    return any(own != usable[0] for own in usable)


def _unit(options, tasks):
    """Say what the numbers of a table are."""
    if options.relatedness == "indirect":
        return "nats per row lost"
    if options.relatedness == "shared":
        return "probability of other tables"
    return "share of pairs that differ" if _is_normalized(tasks) else "edits"


def _draw(table, principals, are_given, unit):
    """Draw the pictures; those of the distances only of given tasks or of few."""
    from bnmtl import plotting

    drawn = principals if are_given or len(principals) <= _MOST_PICTURES else []
    return {
        "relatedness": plotting.relatedness(table, label=unit),
        "dendrogram": plotting.dendrogram(table),
        "distances": {name: plotting.distances(table, name, label=unit) for name in drawn},
    }


def _order(table, principals):
    """Return the other tasks of each principal one, the nearest first."""
    from bnmtl.relatedness.nearest import nearest_first

    rows = [
        (principal, rank, task, value)
        for principal in principals
        for rank, (task, value) in enumerate(nearest_first(table, principal).items(), start=1)
    ]
    return pd.DataFrame(rows, columns=["principal", "rank", "task", "dissimilarity"])


def _record(options, tasks, order, files):
    """Return what run.json holds of this command alone."""
    record = {
        "tasks": [
            {
                "name": name,
                "rows": task.n_rows,
                "variables": task.n_variables,
                "constant": list(task.constant),
            }
            for name, task in tasks.items()
        ],
        "relatedness": options.relatedness,
    }
    if options.relatedness != "indirect":
        record["penalty"] = _used_penalty(options)
        record["prior"] = options.prior or "paired"
    if options.relatedness == "direct":
        record["normalized"] = _is_normalized(tasks)
    record["meaning"] = _meaning(record)
    record["principals"] = [
        {
            "name": name,
            "before_gap": _before_gap(own["dissimilarity"]),
            **({"picture": files[name]} if files else {}),
        }
        for name, own in order.groupby("principal", sort=False)
    ]
    return record


def _before_gap(values):
    """Count the nearest tasks before the largest gap; None if all are equally far."""
    from bnmtl.relatedness.nearest import largest_gap

    # As drawn: what is below 0 is as near as can be.
    return largest_gap(values.clip(lower=0.0).to_numpy())


def _meaning(record):
    """Say in one sentence what the numbers of a table mean."""
    from bnmtl.learners.penalty import penalty_name

    if record["relatedness"] == "indirect":
        return (
            "Each number is how many nats per row are lost when held-out rows of the column's task "
            "are predicted with the structure of the row's task instead of their own: the row says "
            "where the structure comes from, the column whose data; smaller is closer, and below 0 "
            "the rows are predicted even better."
        )
    if record["relatedness"] == "shared":
        return (
            "Each number is how probably two tasks have different probabilities in a row of a "
            "table, averaged over the tables of their networks, which are learned together with "
            f"the penalty {penalty_name(record['penalty'])}: near 0 the tables are the same, about "
            "1/2 means that nothing is known; smaller is closer."
        )
    what = "counts the edits (arcs to add, remove or reverse) between the structures of two tasks"
    if record["normalized"]:
        what = (
            "is the share of the pairs of variables common to two tasks in which their structures "
            "differ (an arc to add, remove or reverse)"
        )
    return (
        f"Each number {what}, all tasks being learned together with the penalty "
        f"{penalty_name(record['penalty'])}; smaller is closer."
    )


def _write(folder, result, pictures, clock):
    """Write all files of a run."""
    from bnmtl import plotting

    record = result.record
    result.dissimilarity.to_csv(folder / "relatedness.csv")
    result.order.to_csv(folder / "order.csv", index=False)
    for name in ("relatedness", "dendrogram"):
        (folder / f"{name}.png").write_bytes(plotting.png(pictures[name]))
    for principal in record["principals"]:
        if "picture" in principal:
            figure = pictures["distances"][principal["name"]]
            (folder / principal["picture"]).write_bytes(plotting.png(figure))
    clock.lap("files")
    in_force = {name: record[name] for name in ("penalty", "prior") if name in record}
    settings = as_options({**record["settings"], **in_force})
    write_report(folder / "report.html", result, pictures, settings, clock.laps)
    clock.lap("report")
    write_record(folder, record, clock)
