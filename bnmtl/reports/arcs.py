"""The sections of a learner's page about arcs: their meaning, confidence and table."""

import math
from html import escape

from bnmtl.confidence import MEANING, with_confidence
from bnmtl.graphs import could_have, groups_by_label, sharing
from bnmtl.reports.page import number

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
