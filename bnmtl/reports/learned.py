"""One self-contained HTML page about a fitted learner: pictures, tables, settings."""

import pandas as pd

from bnmtl.confidence import sure_words
from bnmtl.errors import InputTypeError
from bnmtl.graphs import compelled_arcs, groups_by_label, takes_part
from bnmtl.learners.arcs import ALONE, counted_in_groups, sharing_counts, sharing_kinds
from bnmtl.learners.penalty import penalty_name
from bnmtl.learners.task_groups import group_sentence
from bnmtl.learners.verdict import WAYS, sentences
from bnmtl.reports.arcs import arcs_section, meaning
from bnmtl.reports.borrowing import borrowing_section
from bnmtl.reports.held_out import held_out_section
from bnmtl.reports.page import Html, count, frame_table, image, number, write_page
from bnmtl.reports.task_groups import groups_section
from bnmtl.wording import type_of

_HELD_OUT = (
    "Mean over the tasks of the log-likelihood of a held-out row, for structures learned with each "
    "penalty from the other rows; "
)
# Explains the curve of the penalties and the chosen one, by way of choosing.
_CHOICES = {
    "cv": f"{_HELD_OUT}the best penalty was chosen, of equally good ones the largest.",
    "held-out rows": f"{_HELD_OUT}the best penalty was chosen, of equally good ones the largest.",
    "one-standard-error": (
        f"{_HELD_OUT}the largest penalty within one standard error of the best was chosen."
    ),
    "posterior": (
        "Log posterior of each penalty given all rows, up to a constant; the most probable one was "
        "chosen."
    ),
}
_SOLE = "possible<br>only here"
_PER_ROW = "score<br>per row"
_SCORE = (
    "Score: the logarithm (nats) of how probable the task's rows are given its graph, plus its "
    "part of the structure prior. "
)
_OF_GROUP = "in all tasks<br>of the group"
_NOTES = {
    "constant": "Constant: variables with only one state in the task, which can have no arcs "
    "there. ",
    "in all<br>tasks": "In all tasks: in all that could have the arc. Only here: other tasks could "
    "have it, and do not. ",
    _OF_GROUP: "In all tasks of the group: in all of them that could have the arc. Only here: "
    "other tasks of the group could have it, and do not. ",
    _SOLE: "Possible only here: in the other tasks a variable is missing or constant, so that "
    "nothing can be shared. ",
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
_BAND = " The band is one standard error, over folds, of the difference to the chosen penalty."


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
        "dags", "penalties", "borrowing" and "gains" -> matplotlib figure, if already drawn.
    title : str
    confidence : pandas.DataFrame, optional
        Confidence of each arc, from `bnmtl.confidence.arc_confidence`.
    held_out : dict, optional
        Comparison on held-out rows, from `bnmtl.learners.verdict.held_out_record`.
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
        rule, remedy = "must have been fitted", "call `fit` of the {kind!s} first"
        raise InputTypeError("learner", rule, remedies=remedy, kind=type_of(learner))
    pictures = pictures or {}
    sections = [
        _graphs_section(learner, pictures, confidence),
        groups_section(learner, pictures.get("gains")),
        _tasks_section(learner),
        held_out_section(held_out),
        _comparison_section(learner, single_task),
        _penalty_section(learner, pictures),
        borrowing_section(learner, pictures.get("borrowing")),
        arcs_section(learner, confidence),
    ]
    found = sentences(held_out, len(learner.arcs_), learner.ended_by_)
    found = found if verdict is None else list(verdict)
    found.append(group_sentence(learner))
    if confidence is not None:
        found.append(sure_words(learner.arcs_, confidence) if sure is None else sure)
    lead = " ".join([*filter(None, found), _lead(learner)])
    settings = learner.get_params() if settings is None else settings
    return write_page(path, title, lead, sections, messages, settings, times)


def _lead(learner):
    """Summarize in two sentences the data and what was learned."""
    n_tasks = len(learner.configuration_)
    n_variables = len({v for graph in learner.configuration_.values() for v in graph})
    n_rows = sum(task.n_rows for task in learner.tasks_.values())
    what = f"over {count(n_variables, 'variable')} from {count(n_rows, 'row')}"
    counts = sharing_counts(learner.arcs_, _labels(learner))
    if n_tasks == 1:
        return (
            f"One network {what}, with {count(counts['arcs'], 'arc')}. "
            "There is one task only, so nothing is shared."
        )
    networks = f"{n_tasks} networks {what}, {_way(learner)}."
    if not counts["arcs"]:
        return networks
    is_, it = ("is", "it") if counts["all"] == 1 else ("are", "them")
    distinct, of_group, alone, sole = count(counts["arcs"], "different arc"), "", "", ""
    if ALONE in counts:
        distinct = f"{count(counts['arcs'], 'arc')}, counted once in each group"
        verb = "is" if counts[ALONE] == 1 else "are"
        of_group, alone = " of the group", f"; {counts[ALONE]} {verb} of tasks that learn alone"
    if counts["sole"]:
        verb = "is" if counts["sole"] == 1 else "are"
        sole = f"; {counts['sole']} {verb} possible in one task only, and cannot be shared"
    return (
        f"{networks} Of {distinct}, {counts['all']} {is_} in all tasks{of_group} that could have "
        f"{it}, {counts['some']} in some and {counts['one']} in one task only{sole}{alone}."
    )


def _labels(learner):
    """The groups of tasks, task -> label; None for learners without groups."""
    return getattr(learner, "task_groups_", None)


def _way(learner):
    """Describe how the tasks were learned: together or not, the penalty and how it was chosen."""
    if hasattr(learner, "penalty_"):
        penalty, chosen = penalty_name(learner.penalty_), WAYS[learner.chosen_by_]
        return f"learned together at penalty {penalty}, {chosen}"
    if not hasattr(learner, "start_"):
        return "learned"
    penalty = getattr(learner.used_prior(), "penalty", None)
    return "learned together" + ("" if penalty is None else f" at penalty {penalty_name(penalty)}")


def _graphs_section(learner, pictures, confidence):
    from bnmtl import plotting

    graphs, signs = learner.configuration_, learner.arcs_
    shown = {"confidence": confidence, "signs": signs, "task_groups": _labels(learner)}
    figure = pictures.get("dags") or plotting.dags(graphs, **shown)
    tasks = ", ".join(map(str, graphs))
    return (
        f"<h2>Graphs</h2>\n{image(figure, f'The graphs of the tasks {tasks}', wide=True)}\n"
        f"{meaning(learner, confidence)}"
    )


def _tasks_section(learner):
    sizes = _sizes(learner)
    note = _SCORE + "".join(_NOTES.get(title, "") for title in sizes)
    writers = {"parameters": "{:,}".format, "score": number, _PER_ROW: lambda x: number(x, 3)}
    cells = sizes.assign(**{title: sizes[title].map(write) for title, write in writers.items()})
    cells = cells.rename(columns=Html)
    return f'<h2>Tasks</h2>\n{frame_table("task", cells)}\n<p class="note">{note}</p>'


def _sizes(learner):
    """A table with one row per task: size, arcs and score; columns without values are omitted."""
    labels, sizes = _labels(learner), {}
    kinds = pd.Series(sharing_kinds(learner.arcs_, labels), dtype=object)
    groups = [list(learner.configuration_)] if labels is None else groups_by_label(labels)
    of = {name: group for group in groups for name in group}
    in_all = "in all<br>tasks" if len(groups) == 1 else _OF_GROUP
    for name, graph in learner.configuration_.items():
        task_kinds = kinds[(learner.arcs_["task"] == name).to_numpy()].tolist()
        n_rows, score = learner.tasks_[name].n_rows, learner.task_scores_[name]
        sizes[name] = {
            "rows": n_rows,
            "variables": len(graph),
            "constant": sum(not takes_part(graph, variable) for variable in graph),
            "arcs": len(task_kinds),
            # Blank for a task that learns alone.
            in_all: task_kinds.count("all") if len(of[name]) > 1 else "",
            "only<br>here": task_kinds.count("one") if len(of[name]) > 1 else "",
            _SOLE: task_kinds.count("sole"),
            "reversible": len(graph.edges) - len(compelled_arcs(graph)),
            "parameters": learner.networks_[name].n_parameters,
            "score": score,
            _PER_ROW: score / n_rows,
        }
    table = pd.DataFrame(sizes.values(), index=list(sizes))
    left_out = [title for title in ("constant", _SOLE) if not table[title].any()]
    left_out += [in_all, "only<br>here", _SOLE] if len(table) == 1 else []
    if len(groups) > 1:
        table.insert(0, "group", [str(labels[name]) for name in table.index])
    return table.drop(columns=left_out)


def _comparison_section(learner, single_task):
    """Number of arcs and of shared arcs, compared with those of the single-task graphs."""
    if single_task is None or len(learner.configuration_) == 1:
        return ""
    labels, arcs = _labels(learner), single_task.arcs_
    counts = {"together": sharing_counts(learner.arcs_, labels)}
    if labels is not None:
        arcs = counted_in_groups(arcs, single_task.configuration_, labels)
    counts["alone"] = sharing_counts(arcs, labels)
    names = _COUNTED_IN_GROUPS if ALONE in counts["together"] else _COUNTED
    table = pd.DataFrame(counts).loc[list(names)]
    table = table[table.any(axis=1) | ~table.index.isin(["sole", ALONE])].rename(index=names)
    differences = table["together"] - table["alone"]
    table = table.assign(difference=[number(one, 0, signed=True) for one in differences])
    return f"<h2>Against learning each task alone</h2>\n{frame_table('', table)}"


def _penalty_section(learner, pictures):
    """The score of each penalty, with standard errors if rows were held out in folds."""
    scores = getattr(learner, "validation_scores_", None)
    if scores is None:
        return ""
    from bnmtl import plotting

    errors = learner.validation_grid_["standard_error"]
    errors = None if errors.isna().any() else errors
    drawn = pictures.get("penalties")
    figure = drawn or plotting.penalties(scores, learner.penalty_, errors=errors)
    return (
        f"<h2>How much to share</h2>\n<p>{_CHOICES[learner.chosen_by_]}"
        f"{'' if errors is None else _BAND}</p>\n"
        f"{image(figure, 'Score by penalty')}"
    )
