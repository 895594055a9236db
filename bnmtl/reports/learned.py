"""Pages about fitted learners and about related tasks."""

import numpy as np
import pandas as pd

from bnmtl import plotting
from bnmtl.confidence import MEANING, sure_words, with_confidence
from bnmtl.errors import InputTypeError
from bnmtl.graphs import compelled_arcs, could_have, groups_by_label, sharing, takes_part
from bnmtl.learners.arcs import ALONE, counted_in_groups, sharing_counts, sharing_kinds
from bnmtl.learners.comparison import WAYS, sentences, value
from bnmtl.learners.task_groups import few_rows, group_sentence
from bnmtl.learners.validated import penalty_name
from bnmtl.networks.shared_tables import borrowed_record, borrowed_shares
from bnmtl.relatedness.measures import writer
from bnmtl.reports.page import Cell, number, write_page
from bnmtl.search.task_groups import MARGIN
from bnmtl.wording import type_of


def write(
    path,
    learner,
    single_task=None,
    settings=None,
    messages=(),
    times=None,
    pictures=None,
    title="Networks of related tasks",
    confidence=None,
    held_out=None,
    verdict=None,
    sure=None,
):
    """Write a self-contained HTML page about a fitted learner.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    learner : fitted learner
        Any of `bnmtl.learners`.
    single_task : SingleTaskLearner, optional
        Fitted to the same tasks, for comparison.
    settings : mapping, optional
        Name -> value, as shown on the page. Default: the learner's parameters.
    messages : iterable of str, optional
        Warnings raised during the run.
    times : mapping, optional
        Stage -> seconds.
    pictures : mapping, optional
        "dags", "penalties", "borrowing" and "gains" -> matplotlib figure, if already drawn; None if
        it could not be drawn, which the page then says.
    title : str
    confidence : pandas.DataFrame, optional
        Confidence of each arc, from `bnmtl.confidence.arc_confidence`.
    held_out : dict, optional
        Comparison on held-out rows, from `bnmtl.learners.comparison.held_out_record`.
    verdict : iterable of str, optional
        The first sentences. Default: derived from `held_out`.
    sure : str, optional
        A sentence on the number of well-supported arcs. Default: derived from `confidence`.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    TypeError
        If the learner has not been fitted.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bnmtl import MultitaskLearner, structures
    >>> from bnmtl.reports import learned as report
    >>> rows = {town: structures.load("asia").sample(200, seed) for seed, town in enumerate("AB")}
    >>> learner = MultitaskLearner(random_state=0).fit(rows)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.write(pathlib.Path(folder, "report.html"), learner).name
    'report.html'
    """
    if not hasattr(learner, "configuration_"):
        raise InputTypeError(
            "must have been fitted",
            argument="learner",
            remedy=f"call `fit` of the {type_of(learner)} first",
        )
    pictures, graphs = pictures or {}, learner.configuration_
    found = sentences(held_out, len(learner.arcs_), learner.ended_by_)
    found = found if verdict is None else list(verdict)
    found.append(group_sentence(learner))
    if confidence is not None:
        found.append(sure_words(learner.arcs_, confidence) if sure is None else sure)
    shown = {"confidence": confidence, "signs": learner.arcs_, "task_groups": _labels(learner)}
    score = learner._used_score()
    return write_page(
        path,
        "learned.html",
        {"warnings": list(messages)},
        learner.get_params() if settings is None else settings,
        times,
        title=title,
        sentences=list(filter(None, found)),
        tasks=list(graphs),
        n_variables=len({variable for graph in graphs.values() for variable in graph}),
        n_rows=sum(task.n_rows for task in learner.tasks_.values()),
        way=_way(learner),
        counts=sharing_counts(learner.arcs_, _labels(learner)),
        graphs=_drawn(pictures, "dags", graphs, **shown),
        score_with_preference="" if score.is_score_equivalent else type(score).__name__,
        has_confidence=confidence is not None,
        meaning_of_confidence=MEANING,
        has_signs=learner.arcs_["tau_b"].notna().any(),
        groups=groups_of_tasks(learner, pictures),
        sizes=_sizes(learner),
        held_out=held_out_table(held_out),
        comparison=_comparison(learner, single_task),
        penalties=_penalties(learner, pictures),
        borrowing=_borrowing(learner, pictures),
        arcs=_arcs(learner, confidence),
    )


def _drawn(pictures, name, *shown, **named):
    """The picture of a name, which is drawn now by the function of this name if it is not given."""
    return pictures[name] if name in pictures else getattr(plotting, name)(*shown, **named)


def _labels(learner):
    """The groups of tasks, task -> label; None for learners without groups."""
    return getattr(learner, "task_groups_", None)


def _groups(learner):
    """The tasks of each group; one group for learners without groups."""
    labels = _labels(learner)
    return [list(learner.configuration_)] if labels is None else groups_by_label(labels)


def _way(learner):
    """Describe how the tasks were learned: together or not, the penalty and how it was chosen."""
    if hasattr(learner, "penalty_"):
        penalty, chosen = penalty_name(learner.penalty_), WAYS[learner.chosen_by_]
        return f"learned together at penalty {penalty}, {chosen}"
    if not hasattr(learner, "start_"):
        return "learned"
    penalty = getattr(learner._used_prior(), "penalty", None)
    return "learned together" + ("" if penalty is None else f" at penalty {penalty_name(penalty)}")


def groups_of_tasks(learner, pictures=None):
    """The groups, the margins of their tasks and the gains of pairs; None for one given group.

    Parameters
    ----------
    learner : Learner
        Fitted.
    pictures : mapping, default=None
        As for `write`.
    """
    if learner.task_groups is None or len(learner.task_groups_) == 1:
        return None
    groups = groups_by_label(learner.task_groups_)
    labels = [learner.task_groups_[group[0]] for group in groups]
    if not hasattr(learner, "group_gains_"):
        rows = [(label, ", ".join(group)) for label, group in zip(labels, groups, strict=True)]
        return {"are_given": True, "rows": rows}
    few = few_rows(learner)
    margins = {name: number(margin) for name, margin in learner.group_margins_.items()}
    rows = [
        (label if at == 0 else "", name, "too few rows" if name in few else margins[name])
        for label, group in zip(labels, groups, strict=True)
        for at, name in enumerate(group)
    ]
    return {
        "are_given": False,
        "rows": rows,
        "margin": MARGIN,
        "next_best": _next_best(learner),
        "gains": _drawn(pictures or {}, "gains", learner.group_gains_, learner.task_groups_),
    }


# Most tasks for which the next best groups are listed.
_MOST_TASKS = 12


def _next_best(learner):
    """The best other partition that was tried, and its difference in nats; None without one."""
    tried, labels = learner.alternatives_, learner.task_groups_
    by_task = tried[list(labels.index)]
    # Tasks with too few rows are in no group of those tried.
    groups = groups_by_label(labels[by_task.notna().any()].to_dict())
    partitions = [groups_by_label(row.dropna().to_dict()) for _, row in by_task.iterrows()]
    others = [at for at, partition in enumerate(partitions) if partition != groups]
    if not others or len(others) == len(tried):
        return None
    found = tried["value"].iloc[partitions.index(groups)]
    which = "; ".join(", ".join(group) for group in partitions[others[0]])
    return {
        "tasks": which if len(labels) <= _MOST_TASKS else "",
        "difference": found - tried["value"].iloc[others[0]],
    }


# Titles of columns in two lines.
_SIZES = {
    "in_all": ("in all", "tasks"),
    "in_all_of_group": ("in all tasks", "of the group"),
    "only_here": ("only", "here"),
    "sole": ("possible", "only here"),
    "per_row": ("score", "per row"),
}


def _sizes(learner):
    """A table with one row per task: size, arcs and score; columns without values are omitted."""
    labels, groups, sizes = _labels(learner), _groups(learner), {}
    kinds = pd.Series(sharing_kinds(learner.arcs_, labels), dtype=object)
    n_beside = {name: len(group) for group in groups for name in group}
    in_all = "in_all" if len(groups) == 1 else "in_all_of_group"
    for name, graph in learner.configuration_.items():
        task_kinds = kinds[(learner.arcs_["task"] == name).to_numpy()].tolist()
        n_rows, score = learner.tasks_[name].n_rows, learner.task_scores_[name]
        sizes[name] = {
            "rows": n_rows,
            "variables": len(graph),
            "constant": sum(not takes_part(graph, variable) for variable in graph),
            "arcs": len(task_kinds),
            # Blank for a task that learns alone.
            in_all: task_kinds.count("all") if n_beside[name] > 1 else "",
            "only_here": task_kinds.count("one") if n_beside[name] > 1 else "",
            "sole": task_kinds.count("sole"),
            "reversible": len(graph.edges) - len(compelled_arcs(graph)),
            "parameters": f"{learner.networks_[name].n_parameters:,}",
            "score": number(score),
            "per_row": number(score / n_rows, 3),
        }
    table = pd.DataFrame(sizes.values(), index=list(sizes))
    left_out = [column for column in ("constant", "sole") if not table[column].any()]
    left_out += [in_all, "only_here", "sole"] if len(table) == 1 else []
    if len(groups) > 1:
        table.insert(0, "group", [str(labels[name]) for name in table.index])
    table = table.drop(columns=left_out)
    header = ["task", *(_SIZES.get(column, column) for column in table)]
    return {"columns": list(table), "header": header, "rows": table.itertuples(name=None)}


_TITLES = {
    "together": "together",
    "one_group": "one group",
    "alone": "each alone",
    "empty": "no arcs",
}


def held_out_table(held_out):
    """A table comparing together, in one group, alone and no arcs, by task and over all rows.

    Parameters
    ----------
    held_out : dict or None
        From `bnmtl.learners.comparison.held_out_record`.
    """
    if held_out is None:
        return None
    ways = [way for way in _TITLES if way in held_out]
    means = [*held_out["tasks"].items(), (Cell("all rows", True), held_out)]
    differences = "; ".join(
        f"{' against '.join(_TITLES[way] for way in pair.split(' - '))} {value(*difference)}"
        for pair, difference in held_out["differences"].items()
    )
    return {
        "header": ["task", *(_TITLES[way] for way in ways)],
        "rows": [[name, *(number(mean[way], 3) for way in ways)] for name, mean in means],
        "differences": differences,
        "folds": held_out["folds"],
        "ended_by": held_out.get("ended_by"),
        "has_one_group": "one_group" in held_out,
        "shares_tables": held_out.get("shares_tables"),
    }


_COUNTED = {
    "arcs": "different arcs",
    "all": "arcs in all tasks",
    "one": "arcs in one task only",
    "sole": "arcs possible in one task only",
}
_COUNTED_IN_GROUPS = {
    "arcs": "arcs, once in each group",
    "all": "arcs in all tasks of the group",
    "one": "arcs in one task of several only",
    "sole": "arcs possible in one task only",
    ALONE: "arcs of tasks that learn alone",
}


def _comparison(learner, single_task):
    """Number of arcs and of shared arcs, compared with those of the single-task graphs."""
    if single_task is None or len(learner.configuration_) == 1:
        return None
    labels, arcs = _labels(learner), single_task.arcs_
    counts = {"together": sharing_counts(learner.arcs_, labels)}
    if labels is not None:
        arcs = counted_in_groups(arcs, single_task.configuration_, labels)
    counts["alone"] = sharing_counts(arcs, labels)
    names = _COUNTED_IN_GROUPS if ALONE in counts["together"] else _COUNTED
    table = pd.DataFrame(counts).loc[list(names)]
    table = table[table.any(axis=1) | ~table.index.isin(["sole", ALONE])].rename(index=names)
    differences = table["together"] - table["alone"]
    return table.assign(difference=[number(value, 0, signed=True) for value in differences])


def _penalties(learner, pictures):
    """The score of each penalty, with standard errors if rows were held out in folds."""
    if not hasattr(learner, "validation_scores_"):
        return None
    return {
        "chosen_by": learner.chosen_by_,
        "has_band": _errors(learner) is not None,
        "figure": pictures["penalties"] if "penalties" in pictures else draw_penalties(learner),
    }


def _errors(learner):
    """The standard error of the score of each penalty; None if rows were not held out in folds."""
    errors = learner.validation_grid_["standard_error"]
    return None if errors.isna().any() else errors


def draw_penalties(learner):
    """Draw the scores of the penalties that a learner chose from."""
    scores, errors = learner.validation_scores_, _errors(learner)
    return plotting.penalties(scores, learner.penalty_, errors=errors)


# Maximum number of sources listed in a cell.
_MOST_SOURCES = 3


def _borrowing(learner, pictures):
    """How much each table borrows, and from which tasks; None if tables are not shared."""
    record = borrowed_record(learner.borrowed_)
    if record is None:
        return None
    tasks = [name for group in _groups(learner) for name in group]
    rows = [
        [variable, *(_sources(record.get(variable, {}).get(task)) for task in tasks)]
        for variable in borrowed_shares(learner.borrowed_, learner.tasks_).index
    ]
    figure = _drawn(pictures, "borrowing", learner)
    return {"figure": figure, "header": ["variable", *tasks], "rows": rows}


def _sources(rows):
    """List the largest sources of a table."""
    if rows is None:
        return "\u00d7"
    largest = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{name} {number(n, 0)}" for name, n in largest if round(n) > 0]
    more = len(shown) - _MOST_SOURCES
    text = ", ".join(shown[:_MOST_SOURCES]) or "0"
    return f"{text}, {more} more" if more > 0 else text


def _arcs(learner, confidence):
    """One row per arc: number of tasks with the arc, and its strength in each; None without arcs.

    Arcs are sorted by decreasing number of tasks, then by decreasing strength.
    """
    arcs = with_confidence(learner.arcs_, confidence)
    if arcs.empty:
        return None
    groups = _groups(learner)
    graphs = {name: learner.configuration_[name] for group in groups for name in group}
    scored_by = "task"
    if learner._scores_together(learner.tasks_):
        scored_by = "group" if len(groups) > 1 else "all"
    strongest = max(arcs["strength"].max(), 1e-9)
    arcs["shade"] = 0.06 + 0.5 * np.sqrt(arcs["strength"].clip(lower=0.0) / strongest)
    cells = {(row["from"], row["to"], row["task"]): row for row in arcs.to_dict("records")}
    # Of all tasks: those in the table of arcs are of a group.
    counts, rows = sharing(graphs), []
    for (parent, child), mean in arcs.groupby(["from", "to"])["strength"].mean().items():
        in_tasks = [
            cells.get((parent, child, task)) or _missing_arc(graph, parent, child)
            for task, graph in graphs.items()
        ]
        number_of = counts[parent, child]
        row = {"parent": parent, "child": child, "mean": mean, "cells": in_tasks}
        rows.append({**row, "n_tasks": number_of.n_tasks, "n_possible": number_of.n_possible})
    rows.sort(key=lambda row: (row["n_tasks"], row["mean"]), reverse=True)
    return {"scored_by": scored_by, "tasks": list(graphs), "rows": rows}


def _missing_arc(graph, parent, child):
    """Why a task does not have an arc."""
    if graph.has_edge(child, parent):
        return "opposite"
    return "absent" if could_have(graph, parent, child) else "lacking"


def write_related(path, record, dissimilarity, order, pictures, is_nothing, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl relate`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    dissimilarity : pandas.DataFrame, tasks by tasks
    order : pandas.DataFrame
        The other tasks for each principal task, nearest first.
    pictures : mapping
        "relatedness" and "dendrogram" -> matplotlib figure, "distances" -> mapping of principal
        task to figure; None if it could not be drawn.
    is_nothing : bool
        Whether no arcs were found, or the arcs found do not predict better than no arcs.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    write_value = writer(dissimilarity.to_numpy())

    def write_number(value):
        return write_value(value).replace("-", "\u2212")

    parts, rows = dict(iter(order.groupby("principal"))), []
    for task in record["principals"]:
        others = parts[task["name"]]
        distances = others["dissimilarity"].map(write_number)
        rows.append((task["name"], task["before_gap"], zip(others["task"], distances, strict=True)))
    return write_page(
        path,
        "related.html",
        record,
        settings,
        times,
        cells=dissimilarity.map(write_number),
        has_negative=(dissimilarity < 0).any(axis=None),
        order=rows,
        pictures=pictures,
        is_nothing=is_nothing,
    )
