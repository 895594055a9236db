"""Pages about fitted learners and about related tasks: pictures, tables, settings."""

import math
from html import escape
from math import isnan

import numpy as np
import pandas as pd

from bnmtl.confidence import MEANING, sure_words, with_confidence
from bnmtl.errors import InputTypeError
from bnmtl.graphs import compelled_arcs, could_have, groups_by_label, sharing, takes_part
from bnmtl.learners.arcs import ALONE, counted_in_groups, sharing_counts, sharing_kinds
from bnmtl.learners.comparison import WAYS, sentences, value
from bnmtl.learners.task_groups import few_rows, group_sentence
from bnmtl.learners.validated import penalty_name
from bnmtl.networks.shared_tables import borrowed_record, borrowed_shares
from bnmtl.plotting.tasks import gains
from bnmtl.relatedness.measures import writer
from bnmtl.reports.page import Html, bold, count, frame_table, image, number, table, write_page
from bnmtl.search.task_groups import MARGIN
from bnmtl.wording import type_of

_DIRECTION = (
    "An arc between two variables says that they depend on each other whatever else is known "
    "about the task. Data often do not determine its direction: graphs of one equivalence class "
    "fit them equally well. <b>Reversible</b> arcs (dashed, with an open head; in italics with ⇄ "
    "in the table) point either way in graphs that fit equally well; <b>compelled</b> arcs (solid) "
    "point the same way in all of them. Neither is a claim about cause and effect: that needs "
    "further assumptions, such as no unobserved common causes."
)
_SIGNS = (
    "A small + beside an arc says that the two variables rise together in that task, a \u2212 that "
    "one falls as the other rises (Kendall's tau-b, which looks at the two variables alone, "
    "whatever else is known). There is no sign where it is within one standard error of 0 or the "
    "states of a variable have no order, and in the picture none beside dotted arcs."
)
_SHARES = " Percentages: replicates that join the two variables; gray where fewer than half do."


def meaning(learner, confidence):
    """Explain the arrows, widths and signs in a picture of the graphs."""
    text = f"<p><b>What an arrow means.</b> {_DIRECTION}{_preference(learner)}</p>"
    if confidence is not None:
        text += f"\n<p><b>How sure an arc is.</b> {MEANING}</p>\n"
    if learner.arcs_["tau_b"].notna().any():
        text += f"<p><b>Signs.</b> {_SIGNS}</p>"
    return text


def _preference(learner):
    """Explain directions under a score that is not score equivalent."""
    score = learner.used_score()
    if score.is_score_equivalent:
        return ""
    return (
        f" The score used, {escape(type(score).__name__)}, is not score equivalent: of the graphs "
        "of one class it prefers some to others. A direction may then be the same in all "
        "replicates although the arc is reversible; that is the score's preference, not evidence."
    )


def arcs_section(learner, confidence):
    """A table with one row per arc: number of tasks with the arc, and its strength in each."""
    arcs, graphs = with_confidence(learner.arcs_, confidence), learner.configuration_
    if arcs.empty:
        return "<h2>Arcs</h2>\n<p>No task has an arc.</p>"
    labels = getattr(learner, "task_groups_", None)
    if labels is not None:
        graphs = {name: graphs[name] for group in groups_by_label(labels) for name in group}
    head = "".join(
        f'<th class="task"><span class="up">{escape(str(task))}</span></th>' for task in graphs
    )
    whose = "the task's score"
    if learner.scores_together(learner.tasks_):
        in_groups = labels is not None and labels.nunique() > 1
        whose = "the score of its group of tasks" if in_groups else "the score of all tasks"
    return (
        f"<h2>Arcs</h2>\n<p>Strength: by how much {whose} falls, in nats, if the arc is removed "
        "from the task. “tasks” counts those that have the arc, out of all that could have it. ⇄: "
        "direction not determined by the data; ←: the task has the arc in the other direction; "
        "hatched: the task could not have it, because a variable is missing or constant there. "
        "+: both variables rise together; \u2212: one falls as the other rises."
        f"{'' if confidence is None else _SHARES}</p>\n"
        '<div class="scroll"><table class="arcs"><tr><th class="name">from</th>'
        f'<th class="name">to</th><th>tasks</th><th>mean<br>strength</th>{head}</tr>'
        f"{''.join(_arc_rows(graphs, arcs))}</table></div>"
    )


def _arc_rows(graphs, arcs):
    """Write the arcs by decreasing number of tasks, then by decreasing strength."""
    strongest = max(arcs["strength"].max(), 1e-9)
    cells = {(row["from"], row["to"], row["task"]): row for row in arcs.to_dict("records")}
    summary = arcs.groupby(["from", "to"])["strength"].mean().rename("mean").reset_index()
    # Of all tasks: those in the table of arcs are of a group.
    counts = sharing(graphs)
    numbers = [counts[arc] for arc in zip(summary["from"], summary["to"], strict=True)]
    summary["n_tasks"] = [one.n_tasks for one in numbers]
    summary["n_possible"] = [one.n_possible for one in numbers]
    order = ["n_tasks", "mean"]
    summary = summary.sort_values(order, ascending=False, kind="stable")
    for parent, child, mean, n_tasks, n_possible in summary.itertuples(index=False, name=None):
        columns = "".join(
            _arc_cell(cells.get((parent, child, task)), graph, parent, child, strongest)
            for task, graph in graphs.items()
        )
        yield (
            f'<tr><td class="name">{escape(parent)}</td><td class="name">{escape(child)}</td>'
            f"<td>{n_tasks} of {n_possible}</td><td>{number(mean)}</td>{columns}</tr>"
        )


def _arc_cell(found, graph, parent, child, strongest):
    if found is not None:
        shade = 0.06 + 0.5 * math.sqrt(max(found["strength"], 0.0) / strongest)
        style = f"background: rgba(0, 114, 178, {shade:.2f})"
        kind, mark = ("cell", "") if found["compelled"] else ("cell reversible", " ⇄")
        mark += _sign(found["tau_b"]) + _share(found["edge_confidence"])
        return f'<td class="{kind}" style="{style}">{number(found["strength"])}{mark}</td>'
    if graph.has_edge(child, parent):
        return '<td class="cell opposite">←</td>'
    if not could_have(graph, parent, child):
        return '<td class="cell lacking" title="a variable is missing or constant here"></td>'
    return '<td class="cell absent">·</td>'


def _sign(tau):
    if math.isnan(tau):
        return ""
    sign = "+" if tau > 0 else "\u2212"
    return f' <b title="tau-b {number(tau, 2)}">{sign}</b>'


def _share(confidence):
    if math.isnan(confidence):
        return ""
    kind = "share weak" if confidence < 0.5 else "share"
    return f'<br><span class="{kind}">{confidence:.0%}</span>'


# Maximum number of sources listed in a cell.
_MOST_SOURCES = 3


def borrowing_section(learner, figure=None):
    """How much each table borrows, and from which tasks; empty if tables are not shared.

    Parameters
    ----------
    learner : Learner
        Fitted.
    figure : matplotlib.figure.Figure, default=None
        Figure of `plotting.borrowing`, if already drawn.
    """
    record = borrowed_record(learner.borrowed_)
    if record is None:
        return ""
    from bnmtl import plotting

    figure = figure or plotting.borrowing(learner)
    labels = getattr(learner, "task_groups_", None)
    groups = [list(learner.configuration_)] if labels is None else groups_by_label(labels)
    tasks = [name for group in groups for name in group]
    rows = [
        [variable, *(_sources(record.get(variable, {}).get(task)) for task in tasks)]
        for variable in borrowed_shares(learner.borrowed_, learner.tasks_).index
    ]
    body = table(["variable", *tasks], rows, len(tasks) + 1)
    return (
        "<h2>Shared tables</h2>\n"
        "<p>In each row of a probability table, tasks may have the same probabilities. Each number "
        "is the percentage of the other tasks' rows that count for the table of a variable in a "
        "task: 0 if the task has its own table, 100 if all tasks share it.</p>\n"
        f"{image(figure, 'How much of each table is borrowed from other tasks')}\n"
        "<details><summary>From which tasks, in rows</summary>\n"
        f"{body}\n"
        '<p class="note">Expected numbers of rows of other tasks that count for a table, the '
        "largest sources first. They can exceed the rows of a task if tables are so similar that "
        "their mean is trusted more than the rows. All sources are in borrowed.csv.</p></details>"
    )


def _sources(rows):
    """List the largest sources of a table."""
    if rows is None:
        return "\u00d7"
    largest = sorted(rows.items(), key=lambda one: (-one[1], one[0]))
    shown = [f"{name} {number(n, 0)}" for name, n in largest if round(n) > 0]
    more = len(shown) - _MOST_SOURCES
    text = ", ".join(shown[:_MOST_SOURCES]) or "0"
    return f"{text}, {more} more" if more > 0 else text


_TITLES = {
    "together": "together",
    "one_group": "one group",
    "alone": "each alone",
    "empty": "no arcs",
}
_CUT_SHORT = '<p class="warning">Searches were cut short: these figures are unreliable.</p>\n'
_SHARED = " Learned together and without arcs, tasks share tables."
_GROUPS = " Together: in groups of tasks; one group: all tasks learn from each other."


def held_out_section(held_out):
    """A table comparing together, in one group, alone and no arcs, by task and over all rows."""
    if held_out is None:
        return ""
    ways = [way for way in _TITLES if way in held_out]
    rows = [
        [name, *(number(means[way], 3) for way in ways)]
        for name, means in [*held_out["tasks"].items(), (bold("all rows"), held_out)]
    ]
    differences = "; ".join(
        f"{' against '.join(_TITLES[way] for way in pair.split(' - '))} {value(*difference)}"
        for pair, difference in held_out["differences"].items()
    )
    return (
        f"<h2>On held-out rows</h2>\n{_CUT_SHORT if held_out.get('ended_by') else ''}"
        f"{table(['task', *(_TITLES[way] for way in ways)], rows, 1)}\n"
        f'<p class="note">Mean log-likelihood of a row, in nats, under networks that were learned '
        f"without it ({held_out['folds']} folds); larger is better, and 0.7 nats make a row "
        f"twice as probable. Differences with standard errors over rows: {differences}."
        f"{_GROUPS if 'one_group' in held_out else ''}"
        f"{_SHARED if held_out.get('shares_tables') else ''}</p>"
    )


# Most tasks for which the next best groups are listed.
_MOST_TASKS = 12
_MARGIN = (
    "Margin: by how many nats the value of the groups falls if this task alone moves elsewhere; "
    f"below {MARGIN:g} the data do not tell."
)
_GAINS = (
    "The picture shows how much each pair of tasks gains by learning together instead of alone, in "
    "nats, by the evidence that their arcs add."
)


def groups_section(learner, figure=None):
    """The groups, the margins of their tasks and the gains of pairs; empty for one given group.

    Parameters
    ----------
    learner : Learner
        Fitted.
    figure : matplotlib.figure.Figure, default=None
        Figure of `bnmtl.plotting.gains`, if already drawn.
    """
    if learner.task_groups is None or len(learner.task_groups_) == 1:
        return ""
    title = "<h2>Which tasks learn from each other</h2>\n"
    groups = groups_by_label(learner.task_groups_)
    labels = [learner.task_groups_[group[0]] for group in groups]
    if not hasattr(learner, "group_gains_"):
        rows = [[label, ", ".join(group)] for label, group in zip(labels, groups, strict=True)]
        return f"{title}<p>The groups are given.</p>\n{table(['group', 'tasks'], rows, 2)}"
    margins, few = learner.group_margins_, few_rows(learner)
    rows = [
        [label if at == 0 else "", name, "too few rows" if name in few else _margin(margins[name])]
        for label, group in zip(labels, groups, strict=True)
        for at, name in enumerate(group)
    ]
    figure = figure or gains(learner.group_gains_, learner.task_groups_)
    return (
        f"{title}{table(['group', 'task', 'margin'], rows, 2)}\n"
        f'<p class="note">{_MARGIN}{escape(_next_best(learner))}</p>\n<p>{_GAINS}</p>\n'
        f"{image(figure, 'Nats that pairs of tasks gain by learning together')}"
    )


def _margin(nats):
    return "" if isnan(nats) else number(nats)


def _next_best(learner):
    """A sentence on the best other partition that was tried; empty if there is none."""
    tried, labels = learner.alternatives_, learner.task_groups_
    partitions = [_partition(one) for _, one in tried[list(labels.index)].iterrows()]
    # Tasks with too few rows are in no group of those tried.
    known = tried[list(labels.index)].notna().any()
    is_found = np.array([one == _partition(labels[known]) for one in partitions], bool)
    if not is_found.any() or is_found.all():
        return ""
    other = tried[~is_found].iloc[0]
    groups = _partition(other[list(labels.index)])
    fewer = tried["value"][is_found].iloc[0] - other["value"]
    which = "; ".join(", ".join(group) for group in groups)
    which = f" ({which})" if len(labels) <= _MOST_TASKS else ""
    compared = "fewer" if fewer >= 0 else "more"
    return (
        f" The next best groups that were tried{which} have {number(abs(fewer))} nats {compared}."
    )


def _partition(labels):
    """The groups of tasks that have a label."""
    return groups_by_label(labels.dropna().to_dict())


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
        message = "must have been fitted"
        raise InputTypeError(
            message, argument="learner", remedy=f"call `fit` of the {type_of(learner)} first"
        )
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


_NOT_HERE = "; here, where nothing was found, they are not"
_GAP = '<span class="gap">\u2016</span>'


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
        task to figure.
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

    sections = [
        _pictures_section(dissimilarity, pictures),
        _matrix_section(dissimilarity, write_number),
        _order_section(record, order, write_number, pictures["distances"], is_nothing),
    ]
    shown = record["warnings"], settings, times
    return write_page(path, "Relatedness of tasks", _lead_of_related(record), sections, *shown)


def _lead_of_related(record):
    tasks = record["tasks"]
    n_rows = sum(task["rows"] for task in tasks)
    return Html(
        f"<strong>{escape(record['verdict'])}</strong> {len(tasks)} tasks with "
        f"{count(n_rows, 'row')} in all, compared by the {escape(record['relatedness'])} measure. "
        f"{escape(record['meaning'])}"
    )


def _pictures_section(dissimilarity, pictures):
    tasks = ", ".join(map(str, dissimilarity))
    note = ""
    if (dissimilarity < 0).any(axis=None):
        note = (
            '\n<p class="note">Numbers below 0, where rows are predicted better with the structure '
            "of another task than with their own, are drawn as 0; the tables keep them.</p>"
        )
    return (
        f"<h2>How far apart</h2>\n"
        f"{image(pictures['relatedness'], f'How far apart the tasks {tasks} are')}\n"
        f"{image(pictures['dendrogram'], f'Dendrogram of the tasks {tasks}')}{note}"
    )


def _order_section(record, order, write_number, pictures, is_nothing):
    """The other tasks for each principal task, nearest first, with the gap marked."""
    parts = dict(iter(order.groupby("principal")))
    rows = [_order_row(one, parts[one["name"]], write_number) for one in record["principals"]]
    panels = "\n".join(
        image(figure, f"How far the other tasks are from {task}")
        for task, figure in pictures.items()
    )
    if not panels:
        panels = (
            '<p class="note">Pictures are left out for so many tasks; <code>--principal T</code> '
            "draws that of one.</p>"
        )
    return (
        "<h2>From one task to the others</h2>\n"
        "<p>The other tasks, the nearest first. The largest step from one to the next is the gap, "
        f"marked {_GAP}: the tasks before it, in bold, are the first candidates for being learned "
        f"together with the principal one{_NOT_HERE if is_nothing else ''}.</p>\n"
        f"{table(['principal task', 'the others', Html('before<br>the gap')], rows, 2)}\n"
        f'<div class="panels">{panels}</div>'
    )


def _order_row(principal, others, write_number):
    n_before = principal["before_gap"]
    listing = []
    for i, (task, distance) in enumerate(zip(others["task"], others["dissimilarity"], strict=True)):
        mark = f"{_GAP} " if i == n_before else ""
        tag = "b" if n_before is not None and i < n_before else "span"
        listing.append(f"{mark}<{tag}>{escape(task)}</{tag}> {write_number(distance)}")
    before = "no gap" if n_before is None else n_before
    others = Html(f'<div class="list">{", ".join(listing)}</div>')
    return [principal["name"], others, before]


def _matrix_section(dissimilarity, write_number):
    cells = dissimilarity.map(write_number)
    cells.columns = [Html(f'<span class="up">{escape(task)}</span>') for task in cells]
    return f"<h2>All pairs of tasks</h2>\n{frame_table('task', cells)}"
