"""One HTML page about what a learner has found: pictures, tables, settings, nothing to download."""

from html import escape

from bnmtl.confidence import sure_words
from bnmtl.errors import InputTypeError
from bnmtl.graphs import Sharing, compelled_arcs, takes_part
from bnmtl.io.versions import versions
from bnmtl.reports.arcs import arcs_section, meaning
from bnmtl.reports.borrowing import borrowing_section
from bnmtl.reports.gains import WAYS, sentences
from bnmtl.reports.held_out import held_out_section
from bnmtl.reports.page import count, image, number, table, write_page
from bnmtl.wording import type_of

__all__ = ["versions", "write"]

_KINDS = ("all", "some", "one", "sole")
_HELD_OUT = (
    "Mean over the tasks of the log-likelihood of a held-out row, for structures learned with each "
    "penalty from the other rows; "
)
# What the curve of the penalties shows and which one is taken, by how it was chosen.
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
        Fitted to the same tasks, to compare with.
    settings : mapping, optional
        Name -> value, as to be shown. Default: the learner's parameters.
    messages : iterable of str, optional
        Warnings that came up on the way.
    times : mapping, optional
        What was done -> seconds.
    pictures : mapping, optional
        "dags", "penalties" and "borrowing" -> matplotlib figure, where they are drawn already.
    title : str
    confidence : pandas.DataFrame, optional
        How sure each arc is, of `bnmtl.confidence.arc_confidence`.
    held_out : dict, optional
        What learning is worth on held-out rows, of `bnmtl.reports.gains.held_out_record`.
    verdict : iterable of str, optional
        The first sentences. Default: what `held_out` says.
    sure : str, optional
        How many arcs are well supported. Default: what `confidence` says.

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
    >>> learner = MultitaskLearner(restarts=2, random_state=0).fit(rows)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.write(pathlib.Path(folder, "report.html"), learner).name
    'report.html'
    """
    if not hasattr(learner, "configuration_"):
        raise InputTypeError(
            "learner",
            "must have been fitted",
            remedies="call `fit` of the {kind!s} first",
            kind=type_of(learner),
        )
    sections = [
        _graphs_section(learner, pictures or {}, confidence),
        _tasks_section(learner),
        held_out_section(held_out),
        _comparison_section(learner, single_task),
        _penalty_section(learner, pictures or {}),
        borrowing_section(learner, (pictures or {}).get("borrowing")),
        arcs_section(learner, confidence),
    ]
    found = sentences(held_out, len(learner.arcs_), learner.ended_by_)
    found = found if verdict is None else list(verdict)
    if confidence is not None:
        found.append(sure_words(learner.arcs_, confidence) if sure is None else sure)
    lead = " ".join([*filter(None, found), _lead(learner)])
    settings = learner.get_params() if settings is None else settings
    return write_page(path, title, lead, sections, messages, settings, times)


def _lead(learner):
    """Say in two sentences what was learned from what."""
    n_tasks = len(learner.configuration_)
    n_variables = len({v for graph in learner.configuration_.values() for v in graph})
    n_rows = sum(task.n_rows for task in learner.tasks_.values())
    what = f"over {count(n_variables, 'variable')} from {count(n_rows, 'row')}"
    if n_tasks == 1:
        n_arcs = next(iter(learner.configuration_.values())).number_of_edges()
        return (
            f"One network {what}, with {count(n_arcs, 'arc')}. "
            "There is one task only, so nothing is shared."
        )
    counts = sharing_counts(learner.arcs_)
    how = "learned together" if hasattr(learner, "start_") else "learned"
    penalty = _penalty(learner)
    if penalty is not None:
        how += f" at penalty {_penalty_name(penalty)}"
        how += f", {WAYS[learner.chosen_by_]}," if hasattr(learner, "penalty_") else ""
    networks = f"{n_tasks} networks {what}, {how}.".replace(",.", ".")
    if not counts["arcs"]:
        return networks
    return (
        f"{networks} Of {count(counts['arcs'], 'different arc')}, "
        f"{counts['all']} {'is' if counts['all'] == 1 else 'are'} in all tasks that could have "
        f"{'it' if counts['all'] == 1 else 'them'}, {counts['some']} in some and "
        f"{counts['one']} in one task only{_sole_words(counts['sole'])}."
    )


def _sole_words(n):
    """Say how many arcs are beyond comparison, if any are."""
    if not n:
        return ""
    return f"; {n} {'is' if n == 1 else 'are'} possible in one task only, and cannot be shared"


def sharing_counts(arcs):
    """Count the distinct arcs of a learner's `arcs_`, and those of each `bnmtl.graphs.Sharing`.

    These are arcs in all tasks that could have them, in some of them, in one of them, and those
    that only one task could have (sole).
    """
    kinds = sharing_kinds(arcs.drop_duplicates(["from", "to"]))
    return {"arcs": len(kinds)} | {kind: kinds.count(kind) for kind in _KINDS}


def sharing_kinds(arcs):
    """List how each row of a learner's `arcs_` is shared, as `bnmtl.graphs.Sharing` names it."""
    counts = zip(arcs["n_tasks"], arcs["n_tasks_possible"], strict=True)
    return [Sharing(*own).kind for own in counts]


def _penalty(learner):
    """Return the scalar penalty that the tasks were coupled with, None if there is none."""
    if hasattr(learner, "penalty_"):
        return learner.penalty_
    if not hasattr(learner, "start_"):
        return None
    return getattr(learner.used_prior(), "penalty", None)


def _penalty_name(penalty):
    from bnmtl.plotting.curves import penalty_name

    return penalty_name(penalty)


def _graphs_section(learner, pictures, confidence):
    from bnmtl import plotting

    figure = pictures.get("dags")
    if figure is None:
        graphs = learner.configuration_
        figure = plotting.dags(graphs, confidence=confidence, signs=learner.arcs_)
    tasks = ", ".join(map(str, learner.configuration_))
    return (
        f"<h2>Graphs</h2>\n{image(figure, f'The graphs of the tasks {tasks}', wide=True)}\n"
        f"{meaning(learner, confidence)}"
    )


def _tasks_section(learner):
    """One row per task: its size, its arcs and its own score."""
    several = len(learner.configuration_) > 1
    header = ["task", "rows", "variables", "arcs"]
    constant = {
        name: sum(not takes_part(graph, variable) for variable in graph)
        for name, graph in learner.configuration_.items()
    }
    header[3:3] = ["constant"] if any(constant.values()) else []
    kinds = learner.arcs_.assign(kind=sharing_kinds(learner.arcs_))
    has_sole = several and "sole" in set(kinds["kind"])
    header += ["in all<br>tasks", "only<br>here"] if several else []
    header += ["possible<br>only here"] if has_sole else []
    header += ["reversible", "parameters", "score", "score<br>per row"]
    rows = []
    for name, graph in learner.configuration_.items():
        task = learner.tasks_[name]
        own = kinds.loc[kinds["task"] == name, "kind"].tolist()
        row = [escape(str(name)), task.n_rows, len(graph)]
        row += [constant[name]] if any(constant.values()) else []
        row += [len(own)]
        if several:
            row += [own.count("all"), own.count("one")]
            row += [own.count("sole")] if has_sole else []
        row += [len(graph.edges) - len(compelled_arcs(graph))]
        row += [f"{learner.networks_[name].n_parameters:,}"]
        score = learner.task_scores_[name]
        row += [number(score), number(score / task.n_rows, 3)]
        rows.append(row)
    note = (
        "Score: the logarithm (nats) of how probable the task's rows are given its graph, plus its "
        "part of the structure prior. "
    )
    if any(constant.values()):
        note += (
            "Constant: variables with only one state in the task, which can have no arcs there. "
        )
    if several:
        note += (
            "In all tasks: in all that could have the arc. Only here: other tasks could have it, "
            "and do not. "
        )
    if has_sole:
        note += (
            "Possible only here: in the other tasks a variable is missing or constant, so that "
            "nothing can be shared. "
        )
    return f'<h2>Tasks</h2>\n{table(header, rows, 1)}\n<p class="note">{note}</p>'


def _comparison_section(learner, single_task):
    """How many arcs the tasks have and share, beside those of their single-task graphs."""
    if single_task is None or len(learner.configuration_) == 1:
        return ""
    together, apart = sharing_counts(learner.arcs_), sharing_counts(single_task.arcs_)
    counted = {"arcs": "different arcs", "all": "arcs in all tasks", "one": "arcs in one task only"}
    if together["sole"] or apart["sole"]:
        counted["sole"] = "arcs possible in one task only"
    body = [
        [name, together[key], apart[key], number(together[key] - apart[key], 0, signed=True)]
        for key, name in counted.items()
    ]
    header = ["", "together", "apart", "difference"]
    return f"<h2>Against learning each task alone</h2>\n{table(header, body, 1)}"


def _penalty_section(learner, pictures):
    """What each penalty scored, with the standard errors where rows were held out in folds."""
    scores = getattr(learner, "validation_scores_", None)
    if scores is None:
        return ""
    from bnmtl import plotting

    errors = learner.validation_grid_["standard_error"]
    errors = None if errors.isna().any() else errors
    figure = pictures.get("penalties")
    if figure is None:
        figure = plotting.penalties(scores, learner.penalty_, errors=errors)
    return (
        f"<h2>How much to share</h2>\n<p>{_CHOICES[learner.chosen_by_]}"
        f"{'' if errors is None else _BAND}</p>\n"
        f"{image(figure, 'Score by penalty')}"
    )
