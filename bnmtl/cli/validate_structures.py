"""Judging learned structures: `bnmtl validate` without labels."""

from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bnmtl.cli.runs import MeasuredResult, Picture, fit_parameters, new_run
from bnmtl.cli.tables import (
    check_folds,
    check_task_names,
    complete_names,
    encoded_tasks,
    read_judged_rows,
    warn_of_copies,
    warn_of_order,
)
from bnmtl.confidence import arc_stability, predictive_check
from bnmtl.confidence.stability import GIVEN
from bnmtl.errors import InputError
from bnmtl.learners import MultitaskLearner, SingleTaskLearner, compare
from bnmtl.learners.comparison import held_out_record, sentences
from bnmtl.learners.held_out import most_folds
from bnmtl.reports.downstream import write_structures as write_report
from bnmtl.tasks import split
from bnmtl.validation.tables import ALL
from bnmtl.wording import all_of, listed

_FILES = (
    *("measures.csv", "differences.csv", "stability.csv", "arc_stability.csv", "misfits.csv"),
    *("arc_stability.png", "report.html"),
)
_REPLICATES, _FOLDS = 50, 10
_WAYS = {"together": "together", "alone": "alone", "empty": "no arcs"}
_MISFIT = 0.05


def run(options, progress=None):
    """Judge structures that are learned from a table without a label; see `bnmtl.cli`."""
    _check(options)
    n = options.rounds or _REPLICATES
    with new_run("validate", options, _FILES) as run:
        tasks, cut_points = _read(options)
        several = len(tasks) > 1
        check_folds(options.folds, tasks, or_none=False)
        warn_of_copies(tasks)
        warn_of_order(tasks)
        kind, name = (MultitaskLearner, "together") if several else (SingleTaskLearner, "alone")
        learner = kind(**fit_parameters(options, progress))
        run.lap("reading")
        learner.fit(tasks)
        run.lap("learning")
        scored = compare(learner, tasks, options.folds or min(_FOLDS, most_folds(tasks)))
        run.lap("held-out rows")
        stability = arc_stability(
            *(tasks, learner),
            scheme="bootstrap" if options.scheme else "halves",
            n=n,
            compare="alone" if several else None,
            random_state=options.seed,
        )
        stability = stability._replace(
            summary=stability.summary.rename({GIVEN: name}, level="learner"),
            arcs=stability.arcs.replace({"learner": {GIVEN: name}}),
        )
        run.lap("stability")
        misfits = predictive_check(
            learner.networks_, tasks, random_state=options.seed, progress=progress or False
        )
        run.lap("predictive check")
        tables = {
            "measures.csv": _measures(scored, stability),
            "differences.csv": _differences(scored),
            "stability.csv": stability.summary.reset_index(),
            "arc_stability.csv": stability.arcs,
            "misfits.csv": misfits,
        }
        held_out = held_out_record(scored)
        entries = _record(learner, held_out, stability, misfits, n) | cut_points
        page = partial(write_report, held_out=held_out, tables=tables)
        record = run.write(entries, tables, _pictures(learner, stability), page)
    return MeasuredResult(tables["measures.csv"], folder=run.folder.path, record=record)


def _check(options):
    """Raise if an option is given that needs labels."""
    for name in ("model", "group", "test_size"):
        if getattr(options, name):
            message = "belongs to `label`; no label is given"
            raise InputError(
                message, argument=name, options=("label",), remedy="name the column of labels"
            )
    if options.rounds == 1:
        raise InputError(
            "must be at least 2 without `label`, got 1", argument="rounds", options=("label",)
        )
    if options.scheme in ("kfold", "holdout"):
        message = f"must be bootstrap without `label`, got {options.scheme}"
        raise InputError(
            message, argument="scheme", options=("label",), remedy="leave it out for halves"
        )


def _read(options):
    """The encoded tasks, and their cut points for run.json."""
    rows = read_judged_rows(options)
    frames = {Path(options.table).stem: rows}
    if options.task_column is not None:
        check_task_names(complete_names(rows[options.task_column], "task_column"))
        frames = split(rows, options.task_column)
    tasks, edges = encoded_tasks(frames, options)
    return tasks, {} if edges is None else {"cut_points": edges.to_dict()}


def _parts(scored):
    """All rows, and those of each task, by name."""
    parts = [(ALL, scored)]
    by_task = list(scored.groupby("task", observed=True))
    return parts if len(by_task) == 1 else [*parts, *by_task]


def _mean(values):
    """The mean over rows and its interval."""
    mean, width = values.mean(), stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return float(mean), float(mean - width), float(mean + width)


def _measures(scored, stability):
    """Columns model, task, metric, value, low and high."""
    rows = [
        (name, task, "log_likelihood", *_mean(part[way]))
        for way, name in _WAYS.items()
        if way in scored
        for task, part in _parts(scored)
    ]
    n_tasks = stability.summary.index.get_level_values("task").nunique()
    for (model, name), row in stability.summary.iterrows():
        task = ALL if n_tasks == 1 else name
        for kind in ("edges", "arcs"):
            ends = row[kind], row[f"{kind}_low"], row[f"{kind}_high"]
            rows.append((model, task, f"stability_of_{kind}", *ends))
        rows.append((model, task, "number_of_arcs", row["n_arcs"], np.nan, np.nan))
        rows.append((model, task, "expected_shd", row["shd"], np.nan, np.nan))
    return pd.DataFrame(rows, columns=["model", "task", "metric", "value", "low", "high"])


def _differences(scored):
    """Columns first, second, task, metric, both values, difference, low and high."""
    rows = []
    for first, second in combinations([way for way in _WAYS if way in scored], 2):
        for task, part in _parts(scored):
            values = part[first].mean(), part[second].mean()
            names = _WAYS[first], _WAYS[second], task, "log_likelihood"
            rows.append((*names, *values, *_mean(part[first] - part[second])))
    columns = ["first", "second", "task", "metric", "first_value", "second_value"]
    return pd.DataFrame(rows, columns=[*columns, "difference", "low", "high"])


def _pictures(learner, stability):
    """The picture to draw."""
    from bnmtl import plotting

    name, graphs = stability.summary.index[0][0], learner.configuration_
    draw = partial(plotting.arc_stability, graphs, stability, learner=name)
    return {"arc_stability.png": Picture(draw, ("arc_stability.png",))}


def _record(learner, held_out, stability, misfits, n):
    """The entries of run.json that are specific to this command."""
    known = held_out, len(learner.arcs_), learner.ended_by_
    return {
        "tasks": [
            {"name": name, "rows": task.n_rows, "variables": task.n_variables}
            for name, task in learner.tasks_.items()
        ],
        "replicates": n,
        "held_out": held_out,
        "verdict": [
            *sentences(*known, at_command_line=True),
            *_of_stability(stability, n),
            *_of_misfits(misfits),
        ],
    }


def _of_stability(stability, n):
    """How stable arcs are, in words."""
    known = stability.summary.dropna(subset="edges")
    if known.empty:
        has_arcs = stability.summary["n_arcs"].gt(0).any()
        what = "all possible edges" if has_arcs else "no arc"
        return [f"Stability is not defined: the {n} replicates have {what}."]
    n_tasks = stability.summary.index.get_level_values("task").nunique()
    parts = []
    for name, rows in known.groupby("learner", sort=False):
        of = "" if len(rows) == n_tasks else f" in {len(rows)} of {n_tasks} tasks"
        parts.append(f"{rows['edges'].mean():.2f} {name} ({rows['n_arcs'].mean():.1f} arcs{of})")
    first, *others = parts
    beside = f", against {all_of(others)}" if others else ""
    return [
        f"The edges of {n} replicates have a stability of {first}{beside}; it is 1 if all "
        "replicates have the same edges and 0 if they are like random ones."
    ]


def _of_misfits(misfits):
    """Pairs of variables that networks do not explain, in words."""
    found = misfits[misfits["p_corrected"] < _MISFIT]
    if found.empty:
        return ["No pair of variables was found that the networks do not explain."]
    several = misfits["task"].nunique() > 1
    names = [
        f"{row['first']} and {row['second']}{' in ' + str(row['task']) if several else ''}"
        for _, row in found.iterrows()
    ]
    return [
        f"Of {len(misfits)} pairs of variables, {len(found)} depend on each other in a way that "
        f"the networks lack: {listed(names, limit=5)} (misfits.csv)."
    ]
