"""Confidence of arcs by task from resampled rows, and consensus graphs of replicates.

A share of replicates is not a probability. In the study `sure_arcs` (benchmarks/defaults), with the
default settings, 96 to 100 % of the edges in all replicates were true, and 57 to 100 % of those
with a confidence of 0.8, depending on the problem and the number of rows. With few rows, many true
edges appear in few replicates. Bootstrap replicates with BDeu, as in the study `calibrated_arcs`,
have more false arcs.

The direction of an arc is less certain than the arc. An arc is compelled if it points the same way
in all graphs of its equivalence class. A score with ``is_score_equivalent`` False (`K2`, `BDs`,
mixtures) prefers one graph of a class, so an arc that is not compelled may still point the same way
in all replicates. That is the score's preference, not evidence.
"""

import functools
import time

import networkx as nx
import numpy as np
import pandas as pd

from bnmtl.errors import (
    InputError,
    InputTypeError,
    check_choice,
    check_number,
    check_whole,
    located,
    warn,
)
from bnmtl.graphs import Configuration, adjacency
from bnmtl.learners.adapted import changed
from bnmtl.learners.base import Learner
from bnmtl.progress import Reporter
from bnmtl.search import HillClimbing
from bnmtl.search.effort import Effort, in_parallel
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks import encode
from bnmtl.wording import count, type_of

COLUMNS = ("task", "parent", "child", "arc", "edge")
_ROUNDING = 1e-9  # shares that differ by less are equal
_SURE = 0.95
# Minimum number of replicates for a statement that arcs are well supported.
_FEWEST = 20
# The meaning of a share of replicates, from the study `sure_arcs`.
MEANING = (
    "Confidence is the share of replicates, networks learned from random halves of the rows by a "
    "quicker search, that have an arc. It is not a probability. On known networks, pairs of "
    "variables with a confidence of 1 were truly joined in 96 to 100 % of the cases and pairs with "
    "0.8 in 57 to 100 %; directions with a confidence of 1 were right in 71 to 100 %, and with 0.8 "
    "in 49 to 100 %. So confidence can be too high, above all that of directions; and many true "
    "arcs had a low confidence, above all with few rows."
)
# The search of light replicates: 30 of them take less time than the graphs themselves, and ten
# restarts gave the same confidences on ALARM and INSURANCE except for one or two of fifty pairs.
_LIGHT = HillClimbing(restarts=0)


def arc_confidence(
    tasks,
    learner,
    n_bootstrap=100,
    random_state=None,
    subsample=0.5,
    light=False,
    time_limit=None,
):
    """Share of replicates with each arc, learned from resampled rows.

    Every replicate draws half of the rows of each task, each copied row (`Task.originals`) only
    once, and fits the learner to them with a separate seed: if the data cannot determine the
    direction of an edge, each direction gets about half of its confidence. With a multitask learner
    the confidence includes arcs that tasks learn from one another. A learner that chooses its
    penalty does so in each replicate; to avoid this, use a `MultitaskLearner` with the penalty that
    was chosen on the data.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
    learner : any learner
        It is not fitted itself. Its ``n_jobs`` sets how many replicates run at a time. Each has the
        learner's ``time_limit``, unless there is one for all of them.
    n_bootstrap : int, default=100
        Number of replicates.
    random_state : None, int or numpy.random.Generator, default=None
        None uses that of the learner.
    subsample : float or None, default=0.5
        Share of the rows of each task to draw without replacement, above 0 and below 1; at least
        two rows are drawn. None is the bootstrap: as many rows as there are, with replacement. Rows
        that are drawn twice make dependencies look stronger than they are, above all with a strong
        search and a score that supports nearly deterministic tables: replicates of 30 unrelated
        columns then have a hundred arcs, while those of halves have one or two. But halves miss
        more of the weak true arcs.
    light : bool, default=False
        Whether replicates use hill climbing without restarts instead of the learner's search: many
        times faster, and fewer false arcs from rows drawn twice.
    time_limit : float, default=None
        Seconds for all replicates together, in equal shares; a replicate that runs out of time ends
        with its best graph so far and a warning.

    Returns
    -------
    pandas.DataFrame
        One row per task and ordered pair of its variables, sorted by them: task, parent, child
        (categorical), arc = share of the replicates with parent -> child, edge = share with either
        direction. ``attrs["ended_by"]`` names the limits that ended replicates early.

    Raises
    ------
    InputTypeError, InputError
        If `learner` is not a learner, `n_bootstrap` is not a whole number of at least 1,
        `subsample` is not a share, `time_limit` is not a number of 0 or more, and as in ``fit``.

    References
    ----------
    N. Meinshausen, P. Buehlmann (2010), "Stability selection", Journal of the Royal Statistical
    Society B 72: halves. N. Friedman, M. Goldszmidt, A. Wyner (1999), "Data analysis with Bayesian
    networks: a bootstrap approach", UAI.

    Examples
    --------
    >>> from bnmtl import HillClimbing, SingleTaskLearner, structures
    >>> rows = structures.load("asia").sample(500, random_state=0)
    >>> learner = SingleTaskLearner(search=HillClimbing(restarts=0))
    >>> confidence = arc_confidence({"clinic": rows}, learner, n_bootstrap=20, random_state=0)
    >>> sure = confidence[confidence["edge"] > 0.9]
    >>> ("bronc", "dysp") in set(zip(sure["parent"], sure["child"]))
    True
    """
    if not isinstance(learner, Learner):
        raise InputTypeError("learner", "must be a learner", type_of(learner))
    learner.check_parameters()
    check_whole("n_bootstrap", n_bootstrap, 1, remedies="100 is usual")
    check_number("subsample", subsample, above=0, below=1, optional=True)
    if time_limit is not None:
        limits = learner.used_limits()
        learner = changed(learner, limits=limits.replaced(time_limit=time_limit))
        learner.check_parameters()
    if light:
        learner = _lighter(learner)
    encoded = encode(tasks, missing=learner.missing)
    seed = seed_of(learner.random_state if random_state is None else random_state)
    rows_of = {name: _rows_to_draw(task) for name, task in encoded.items()}
    counts = {name: np.zeros((task.n_variables,) * 2, int) for name, task in encoded.items()}

    # Replicates for which no time is left.
    required = learner.required_graphs(encoded) if time_limit is not None else {}

    def replicate(number, effort):
        if effort.is_over():
            return required
        member_seed = seed_of(generator(seed, "bootstrap", number))
        fitted = changed(learner, random_state=member_seed, n_jobs=1)
        if effort.deadline is not None:
            seconds = max(0.0, effort.deadline - time.time())
            fitted.limits = learner.used_limits().replaced(time_limit=seconds)
        drawn = encoded.take(_draw(rows_of, subsample, seed, number))
        silent = Reporter(False), effort.tally.stopped
        return fitted.fit_rows(drawn, encoded, *silent).configuration_

    deadline = None if time_limit is None else time.time() + time_limit
    effort = Effort(seed, n_jobs=learner.n_jobs, deadline=deadline)
    with Reporter(learner.progress) as report:
        calls = ((number,) for number in range(n_bootstrap))
        for done, configuration in enumerate(in_parallel(replicate, calls, effort), start=1):
            for name, graph in configuration.items():
                counts[name] += adjacency(graph, encoded[name].variables)
            report("bootstrap", None, done, n_bootstrap)
    ended_by = tuple(sorted(effort.tally.stopped))
    _warn_if_ended(ended_by)
    table = _table(encoded, counts, n_bootstrap)
    table.attrs["ended_by"] = ended_by
    return table


def _draw(rows_of, subsample, seed, number):
    """The rows of each task in a replicate; a task's rows do not depend on the other tasks."""
    drawn = {}
    for name, rows in rows_of.items():
        rng = generator(seed, "bootstrap", number, name)
        if subsample is None:
            drawn[name] = rows[rng.integers(len(rows), size=len(rows))]
        else:
            n_drawn = max(2, round(subsample * len(rows)))
            drawn[name] = rows[rng.permutation(len(rows))[:n_drawn]]
    return drawn


def _warn_if_ended(limits):
    if limits:
        # A template with the names of parameters.
        names = " and ".join(f"{{{name}}}" for name in limits)
        warn(
            rule=f"Replicates were ended by {names} and may lack arcs, so that confidences are "
            "too low",
            remedies=("raise it", "draw fewer replicates"),
        )


def _rows_to_draw(task):
    """The first row of each group of copies, in an order independent of the given one."""
    order, sizes = task.originals
    return order[np.cumsum(sizes) - sizes]


def _lighter(learner):
    """The learner with the search of light replicates."""
    # Orders are a start only if the search is over orders.
    start = None if isinstance(learner.start, str) and learner.start == "orders" else learner.start
    return changed(learner, search=_LIGHT, start=start)


def _table(tasks, counts, n_bootstrap):
    """One row per task and ordered pair of its variables."""
    parts = []
    for name, task in tasks.items():
        n = task.n_variables
        parent, child = np.nonzero(~np.eye(n, dtype=bool))
        arcs = counts[name]
        parts.append(
            pd.DataFrame(
                {
                    "task": name,
                    "parent": np.array(task.variables, dtype=object)[parent],
                    "child": np.array(task.variables, dtype=object)[child],
                    "arc": arcs[parent, child] / n_bootstrap,
                    "edge": (arcs + arcs.T)[parent, child] / n_bootstrap,
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    for column, known in (
        ("task", tasks.names),
        ("parent", tasks.variables),
        ("child", tasks.variables),
    ):
        table[column] = pd.Categorical(table[column], categories=list(known))
    return table


def with_confidence(arcs, confidences=None):
    """The table of arcs of a fitted learner with their confidences.

    Parameters
    ----------
    arcs : pandas.DataFrame
        The `arcs_` of a learner.
    confidences : pandas.DataFrame, optional
        The result of `arc_confidence`.

    Returns
    -------
    pandas.DataFrame
        A copy with two additional columns: confidence of the arc in this direction, and
        edge_confidence of either direction; nan without `confidences`.

    Examples
    --------
    >>> import pandas as pd
    >>> arcs = pd.DataFrame({"from": ["a"], "to": ["b"], "task": ["t"]})
    >>> sure = pd.DataFrame({"task": ["t"], "parent": "a", "child": "b", "arc": 0.6, "edge": 0.9})
    >>> with_confidence(arcs, sure)
      from to task  confidence  edge_confidence
    0    a  b    t         0.6              0.9
    """
    if confidences is None:
        return arcs.assign(confidence=np.nan, edge_confidence=np.nan)
    keys = zip(*(confidences[name].astype(str) for name in COLUMNS[:3]), strict=True)
    shares = zip(confidences["arc"], confidences["edge"], strict=True)
    known = dict(zip(keys, shares, strict=True))
    values = [known[arc] for arc in zip(arcs["task"], arcs["from"], arcs["to"], strict=True)]
    found = np.array(values, dtype=float).reshape(-1, 2)
    return arcs.assign(confidence=found[:, 0], edge_confidence=found[:, 1])


def sure_words(arcs, confidences, n_bootstrap=None, required=(), is_consensus=False):
    """Describe how many learned arcs are well supported, with advice about the others.

    Parameters
    ----------
    arcs : pandas.DataFrame
        The `arcs_` of a learner.
    confidences : pandas.DataFrame
        The result of `arc_confidence`.
    n_bootstrap : int, optional
        Number of replicates, to check whether there are enough.
    required : collection of (task, from, to)
        Arcs that are in all replicates because they are required.
    is_consensus : bool, default=False
        Whether the arcs are those of the consensus.

    Returns
    -------
    str
        "" if there are no arcs.

    Examples
    --------
    >>> import pandas as pd
    >>> arcs = pd.DataFrame({"from": ["a"], "to": ["b"], "task": ["t"]})
    >>> sure = pd.DataFrame({"task": ["t"], "parent": "a", "child": "b", "arc": 0.6, "edge": 1.0})
    >>> print(*sure_words(arcs, sure).split("; "), sep=chr(10))
    1 of 1 arc is well supported (at least 95 % of the replicates join its two variables)
    none is doubtful (fewer than half do).
    """
    table = with_confidence(arcs, confidences)
    keys = zip(table["task"], table["from"], table["to"], strict=True)
    shares = table["edge_confidence"][[key not in required for key in keys]]
    if not len(shares):
        return ""
    if confidences.attrs.get("ended_by"):
        return "Replicates ended early, so the confidence of arcs is unknown; give more time."
    if n_bootstrap is not None and n_bootstrap < _FEWEST:
        return (
            f"{count(n_bootstrap, 'replicate')} cannot tell which arcs are well supported; learn "
            f"{_FEWEST} or more (`--bootstrap`)."
        )
    n_sure, n_doubtful = int((shares >= _SURE).sum()), int((shares < 0.5).sum())
    by_task = ", counted in each task," if arcs["task"].nunique() > 1 else ""
    are, their = ("is", "its") if n_sure <= 1 else ("are", "their")
    words = (
        f"{n_sure or 'None'} of {count(len(shares), 'arc')}{by_task} {are} well supported (at "
        f"least {100 * _SURE:.0f} % of the replicates join {their} two variables); "
        f"{n_doubtful or 'none'} "
        f"{'is' if n_doubtful <= 1 else 'are'} doubtful (fewer than half do)."
    )
    if n_sure == len(shares):
        return words
    words += " More rows or fewer variables (`--ignore`) may settle more of them"
    if n_doubtful and not is_consensus:
        words += "; `--threshold 0.5` leaves the doubtful ones out"
    return f"{words}."


def consensus(confidences, threshold=0.5, by="arc", may_have=None):
    """The graphs of the arcs in most replicates.

    Arcs are added by decreasing confidence, ties by name; an arc that would close a cycle is
    skipped.

    Parameters
    ----------
    confidences : pandas.DataFrame
        The result of `arc_confidence`: columns task, parent, child, arc, edge.
    threshold : float, default=0.5
        Minimum confidence of a selected arc.
    by : {"arc", "edge"}, default="arc"
        The confidence to compare with the threshold. "edge" selects a pair of variables by the
        confidence of either direction and uses the direction with the higher one, so that an edge
        is kept even if its direction is uncertain.
    may_have : callable, optional
        ``may_have(task, child, parents)`` returns False for a family that is not allowed, such as
        one that is too large; an arc that would create one is skipped.

    Returns
    -------
    Configuration
        One DAG per task, over all its variables in the table.

    Raises
    ------
    InputTypeError, InputError
        If the table lacks a column or has values that are not shares, a row lacks its task, parent
        or child, joins a variable to itself or has a larger confidence of the arc than of the edge,
        or an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     [("t", "a", "b", 0.6, 0.9), ("t", "b", "a", 0.3, 0.9), ("t", "b", "c", 0.4, 0.4)],
    ...     columns=["task", "parent", "child", "arc", "edge"],
    ... )
    >>> consensus(table)["t"].edges
    OutEdgeView([('a', 'b')])
    """
    check_choice("by", by, ("arc", "edge"))
    check_number("threshold", threshold, above=0, most=1)
    _check_table(confidences)
    configuration = Configuration()
    for task, table in confidences.groupby("task", sort=False, observed=True):
        name = str(task)
        fits = None if may_have is None else functools.partial(may_have, name)
        configuration[name] = _agreed(table, threshold, by, fits)
    return configuration


def _check_table(confidences):
    if not isinstance(confidences, pd.DataFrame):
        rule = "must be the DataFrame of `arc_confidence`"
        raise InputTypeError("confidences", rule, type_of(confidences))
    lacking = [column for column in COLUMNS if column not in confidences.columns]
    if lacking:
        rule, found = "must have the {columns:column}", "{lacking} is missing"
        raise InputError("confidences", rule, found=found, columns=COLUMNS, lacking=lacking[0])
    for column in ("arc", "edge"):
        values = confidences[column]
        if not pd.api.types.is_numeric_dtype(values) or not values.between(0, 1).all():
            raise InputError("confidences", "must hold shares from 0 to 1", column=column)
    with located(argument="confidences"):
        _check_rows(confidences)


def _check_rows(confidences):
    """Raise for the first row that cannot come from replicates."""
    for column in ("task", "parent", "child"):
        row = _first(confidences, confidences[column].isna())
        if row is not None:
            rule, found = "must have a name in every row", "row {row!r} has none"
            remedies = "fill it", "leave the row out"
            raise InputError(rule=rule, found=found, remedies=remedies, column=column, row=row.name)
    parents, children = (confidences[column].astype(str) for column in ("parent", "child"))
    row = _first(confidences, parents == children)
    if row is not None:
        raise InputError(
            rule="must join different variables",
            found="row {row!r} has {variable} as parent and as child",
            remedies="leave it out",
            row=row.name,
            variable=str(row["parent"]),
        )
    row = _first(confidences, confidences["edge"] < confidences["arc"] - _ROUNDING)
    if row is not None:
        raise InputError(
            rule="must have an edge at least as sure as its arc",
            found="row {row!r} has the arc {arc:g} and the edge {edge:g}",
            remedies="an edge is the share of replicates with either direction",
            row=row.name,
            arc=row["arc"],
            edge=row["edge"],
        )


def _first(table, is_wrong):
    """The first invalid row; None if there is none."""
    return table[is_wrong.to_numpy()].iloc[0] if is_wrong.any() else None


def _agreed(table, threshold, by, fits):
    """The DAG of one task."""
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted({*map(str, table["parent"]), *map(str, table["child"])}))
    pairs = list(zip(table["parent"].astype(str), table["child"].astype(str), strict=True))
    sure = dict(zip(pairs, table["arc"], strict=True))
    taken = [
        (-confidence, -sure[pair], *pair)
        for pair, confidence in zip(pairs, table[by], strict=True)
        # An edge gets the direction with the higher confidence, or any possible one in a tie.
        if confidence >= threshold and (by == "arc" or sure[pair] >= sure.get(pair[::-1], 0.0))
    ]
    for _, _, parent, child in sorted(taken):
        if nx.has_path(graph, child, parent):
            continue
        if fits is None or fits(child, [*graph.predecessors(child), parent]):
            graph.add_edge(parent, child)
    return graph
