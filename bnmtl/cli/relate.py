"""How close tasks are: `bnmtl relate`."""

import itertools
from dataclasses import dataclass
from functools import partial

import pandas as pd

from bnmtl import plotting, relatedness
from bnmtl.cli.learner import common_parameters, learner_at, score_named
from bnmtl.cli.messages import conflict
from bnmtl.cli.runs import (
    FolderResult,
    Picture,
    Table,
    TimeLimit,
    as_options,
    new_run,
    where,
    wrapped,
)
from bnmtl.cli.tables import check_folds, read_tasks, warn_of_copies, warn_of_order
from bnmtl.errors import InputError
from bnmtl.io.run import check_required
from bnmtl.learners import SingleTaskLearner, compare
from bnmtl.learners.comparison import held_out_record, nothing_found, sentences
from bnmtl.learners.held_out import most_folds
from bnmtl.learners.multitask import PENALTY as LEARN_PENALTY
from bnmtl.learners.validated import penalty_name
from bnmtl.relatedness.measures import (
    NO_ARCS,
    as_distances,
    largest_gap,
    n_nearest,
    nearest_first,
    writer,
)
from bnmtl.reports.learned import write_related as write_report
from bnmtl.wording import all_of, listed
from bnmtl.writing import file_names

_FIXED_FILES = ("relatedness.csv", "order.csv", "relatedness.png", "dendrogram.png", "report.html")
_LEARNING, _HELD_OUT = "learning and comparing", "comparing on held-out rows"
# Shares of the stages in a time limit.
_PARTS = {_LEARNING: 6, _HELD_OUT: 3, "pictures": 1}
PENALTY = 0.9
FOLDS = {"direct": 5, "indirect": 10, "shared": 5, "evidence": 5}
# Units; that of direct depends on the tasks.
_UNITS = {
    "indirect": "nats per row lost",
    "shared": "probability of other tables",
    "evidence": "nats below the largest gain",
}
_MOST_PICTURES = 12  # of distances, without given principal tasks


@dataclass(frozen=True)
class Result(FolderResult):
    """The result of a run: dissimilarities, and for each task the others, nearest first."""

    dissimilarity: pd.DataFrame
    order: pd.DataFrame


def run(options, progress=None):
    """Compare tasks by their structures; see `bnmtl.cli`."""
    limit = TimeLimit(options.time_limit, _PARTS)
    if options.folds == 0:
        del limit.parts[_HELD_OUT]
    with new_run("relate", options, _FIXED_FILES) as run:
        score = score_named(options)
        _check_together(options)
        tasks, origin = read_tasks(options)
        _check_tasks(tasks, options)
        check_folds(options.folds, tasks)
        principals, files = _principals(options, tasks), {}
        if options.principal:
            files = file_names([f"distances-{name}" for name in principals], ".png", _FIXED_FILES)
            files = dict(zip(principals, files.values(), strict=True))
        run.folder.reserve(files.values())
        common = common_parameters(options, tasks, score, progress)
        run.lap("reading")
        table, held_out = _compared(options, tasks, common, limit, run)
        order = _order(table, principals)
        entries = {**origin, **_record(options, tasks, order, files), "held_out": held_out}
        known = held_out, table.attrs["n_arcs"], table.attrs["ended_by"]
        entries["verdict"] = _verdict(*known)
        is_nothing = nothing_found(*known)
        page = partial(_write_page, dissimilarity=table, order=order, is_nothing=is_nothing)
        pictures = _pictures(table, principals, files, _unit(options, tasks))
        record = run.write(entries, _contents(table, order), pictures, page)
    return Result(table, order, folder=run.folder.path, record=record)


def _compared(options, tasks, common, limit, run):
    """Return the dissimilarities and the comparison on held-out rows."""
    check_required(_learner(options, common), tasks)
    warn_of_copies(tasks)
    warn_of_order(tasks)
    table = _dissimilarity(options, tasks, _learner(options, common, limit.of(_LEARNING)))
    # The verdict repeats this warning.
    run.caught[:] = [
        warning for warning in run.caught if getattr(warning.message, "message", None) != NO_ARCS
    ]
    run.lap(_LEARNING)
    if _HELD_OUT not in limit.parts or not table.attrs["n_arcs"]:
        return table, None
    learner = _learner(options, common, limit.of(_HELD_OUT))
    n_folds = options.folds or min(FOLDS[options.relatedness], most_folds(tasks))
    held_out = held_out_record(compare(learner, tasks, n_folds))
    run.lap(_HELD_OUT)
    return table, held_out


def _check_together(options):
    """Raise for options of joint learning if each structure is learned alone."""
    given = [name for name in ("penalty", "prior") if getattr(options, name) is not None]
    given += ["folds"] if options.folds == 0 else []
    given += ["table_sharing"] if options.table_sharing == "auto" else []
    if given and options.relatedness == "indirect":
        message = (
            f"does not go with `relatedness='indirect'`, got {getattr(options, given[0])!r}; it "
            "compares structures that are learned alone"
        )
        raise conflict(given[0], "relatedness", message)


def _check_tasks(tasks, options):
    """Raise unless there are several tasks and all pairs of them can be compared."""
    if len(tasks) < 2:
        message = f"must give at least two tasks to compare; `{tasks.names[0]}` is the only one"
        raise InputError(
            message,
            argument="paths",
            options=("task_column",),
            remedy="add files, or name the column of tasks with `task_column`",
        )
    usable = _usable(tasks)
    for first, second in itertools.combinations(tasks.names, 2):
        if len(usable[first] & usable[second]) < 2:
            remedies = ["leave fewer columns out with `ignore`"] if options.ignore else []
            remedies += ["leave one of the two tasks out"] if len(tasks) > 2 else []
            message = (
                f"must share at least two variables that vary in both with `{second}`, or no arc "
                f"can be compared; they share {_shared(tasks[first], tasks[second])}"
            )
            remedy = ", or ".join(remedies) or "compare other tasks"
            raise InputError(message, task=first, options=("ignore",), remedy=remedy)


def _shared(first, second):
    """List the variables that two tasks share and those that are constant in one of them."""
    both = sorted(set(first.variables) & set(second.variables))
    constant = [
        f"{listed(still)} {'is' if len(still) == 1 else 'are'} constant in `{task.name}`"
        for task in (first, second)
        if (still := [variable for variable in both if variable in task.constant])
    ]
    return (listed(both) or "none") + (f", of which {' and '.join(constant)}" if constant else "")


def _usable(tasks):
    """Return the variables of each task that can have arcs."""
    return {name: set(task.variables) - set(task.constant) for name, task in tasks.items()}


def _principals(options, tasks):
    """Return the principal tasks, by whose distances the others are ordered."""
    for name in options.principal:
        if name not in tasks.names:
            message = f"must be one of the tasks, {listed(tasks.names)}, got {name!r}"
            raise InputError(message, argument="principal")
    return list(dict.fromkeys(options.principal or tasks.names))


def _learner(options, common, seconds=None):
    """Return the learner whose structures are compared."""
    common = {**common, "limits": common["limits"].replaced(time_limit=seconds)}
    if options.relatedness == "indirect":
        return SingleTaskLearner(**common)
    penalty, prior = _used_penalty(options), options.prior or "paired"
    return learner_at(penalty, prior, _used_tables(options), common)


def _dissimilarity(options, tasks, learner):
    """Return the requested table of dissimilarities."""
    if options.relatedness == "indirect":
        return relatedness.indirect(tasks, learner, options.folds or FOLDS["indirect"])
    if options.relatedness == "shared":
        return as_distances(relatedness.shared(tasks, learner))
    if options.relatedness == "evidence":
        return relatedness.evidence(tasks, learner)
    return relatedness.direct(tasks, learner, _used_penalty(options), _is_normalized(tasks))


def _verdict(held_out, n_arcs, ended_by):
    """Return a verdict on whether there are structures to compare."""
    sentence = sentences(held_out, n_arcs, ended_by, at_command_line=True)[0]
    if n_arcs and not nothing_found(held_out, n_arcs, ended_by):
        return sentence
    return f"{sentence} How close the tasks are is unknown."


def _used_penalty(options):
    """Return the penalty that is given; the gains of evidence are by default those of `learn`."""
    if options.penalty is not None:
        return options.penalty
    return LEARN_PENALTY if options.relatedness == "evidence" else PENALTY


def _used_tables(options):
    """Return how tables are shared while structures are learned."""
    return options.table_sharing or ("auto" if options.relatedness == "evidence" else "none")


def _is_normalized(tasks):
    """Whether tasks differ in the variables that can have arcs, which requires normalization."""
    usable = list(_usable(tasks).values())
    return any(variables != usable[0] for variables in usable)


def _unit(options, tasks):
    """Return the unit of a table."""
    edits = "share of pairs that differ" if _is_normalized(tasks) else "edits"
    return _UNITS.get(options.relatedness, edits)


_DISTANCES = "distances from "


def _pictures(table, principals, files, unit):
    """The pictures to draw; distances only from given principal tasks, in files, or from few."""
    relatedness_of = partial(plotting.relatedness, table, label=unit)
    pictures = {
        "relatedness": Picture(relatedness_of, ("relatedness.png",)),
        "dendrogram": Picture(partial(plotting.dendrogram, table), ("dendrogram.png",)),
    }
    for name in principals if files or len(principals) <= _MOST_PICTURES else []:
        draw = partial(plotting.distances, table, name, label=unit)
        pictures[f"{_DISTANCES}{name}"] = Picture(draw, (files[name],) if files else ())
    return pictures


def _order(table, principals):
    """Return the other tasks for each principal task, nearest first."""
    rows = [
        (principal, rank, task, value)
        for principal in principals
        for rank, (task, value) in enumerate(nearest_first(table, principal).items(), start=1)
    ]
    return pd.DataFrame(rows, columns=["principal", "rank", "task", "dissimilarity"])


def _record(options, tasks, order, files):
    """Return the entries of run.json that are specific to this command."""
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
    if record["relatedness"] != "indirect":
        record["meaning"] += _beside_learn(record, options)
    record["principals"] = []
    for name, others in order.groupby("principal", sort=False):
        # Negative values count as 0, as in the pictures.
        before = largest_gap(others["dissimilarity"].clip(lower=0.0).to_numpy())
        picture = {"picture": files[name]} if files else {}
        record["principals"].append({"name": name, "before_gap": before, **picture})
    return record


def _meaning(record):
    """Explain the numbers of a table in one sentence."""
    if record["relatedness"] == "indirect":
        return (
            "Each number is how many nats per row are lost when held-out rows of the column's task "
            "are predicted with the structure of the row's task instead of their own: the row says "
            "where the structure comes from, the column whose data; smaller is closer, and below 0 "
            "the rows are predicted even better."
        )
    if record["relatedness"] == "evidence":
        return (
            "Each number is how many nats of evidence fewer the arcs of two tasks gain by learning "
            "together, instead of alone, than those of the pair that gains most, with the penalty "
            f"{penalty_name(record['penalty'])}; smaller is closer."
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


def _beside_learn(record, options):
    """What `bnmtl learn` does otherwise by default, as a sentence; empty if nothing."""
    others = []
    if record["penalty"] != LEARN_PENALTY:
        others.append(f"has the penalty {penalty_name(LEARN_PENALTY)}")
    if _used_tables(options) == "none":
        others.append("shares tables")
    if record["relatedness"] != "evidence":
        others.append("finds groups of tasks")
    if not others:
        return ""
    return (
        f" `bnmtl learn` {all_of(others)} by default, so its networks can differ where these agree."
    )


def _contents(table, order):
    """Return the contents of the files of tables by file name."""
    return {
        # A task may have the same name as the index.
        "relatedness.csv": table.reset_index(allow_duplicates=True),
        "order.csv": order,
    }


def _write_page(path, record, figures, settings, times, **shown):
    distances = {
        name.removeprefix(_DISTANCES): figure
        for name, figure in figures.items()
        if name.startswith(_DISTANCES)
    }
    shown["pictures"] = {**figures, "distances": distances}
    in_force = {name: record[name] for name in ("penalty", "prior") if name in record}
    settings = settings | as_options(in_force)
    write_report(path, record, settings=settings, times=times, **shown)


def summary(result):
    """Show the dissimilarities of all tasks or, if they do not fit, the nearest tasks."""
    table = result.dissimilarity
    write = writer(table.to_numpy())
    nearest = []
    for principal, others in result.order.groupby("principal", sort=False):
        values = others["dissimilarity"].to_numpy()
        n_more = n_nearest(values) - 1
        more = f" and {n_more} more" if n_more else ""
        nearest.append([principal, others["task"].iloc[0] + more, write(values[0])])
    rows = [[name, *map(write, values)] for name, *values in table.itertuples(name=None)]
    narrow = Table(["task", "nearest", "dissimilarity"], nearest, n_names=2)
    yield Table(["task", *table], rows, if_too_wide=narrow)
    yield ""
    yield from wrapped(result.record["verdict"], result.record["meaning"])
    yield where(result)
