"""How stable learned graphs are under other rows, and the arcs that most replicates agree on."""

import functools
from collections.abc import Mapping
from typing import NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from scipy import stats

from bnmtl.confidence.replicates import Replicates, bootstrap, share_of
from bnmtl.errors import (
    MOST_MEMBERS,
    InputError,
    InputTypeError,
    check_choice,
    check_number,
    check_whole,
    located,
)
from bnmtl.graphs import Configuration, adjacency, cpdag
from bnmtl.learners.adapted import changed, keeping_groups, single_task
from bnmtl.learners.base import Learner
from bnmtl.learners.baselines import SingleTaskLearner
from bnmtl.priors import ArcPrior
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode
from bnmtl.wording import listed, type_of

COLUMNS = ("task", "parent", "child", "arc", "edge")
_ROUNDING = 1e-9  # shares that differ by less are equal


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
    with located(argument="confidences"):
        _check_table(confidences)
    configuration = Configuration()
    for task, table in confidences.groupby("task", sort=False, observed=True):
        name = str(task)
        fits = None if may_have is None else functools.partial(may_have, name)
        configuration[name] = _agreed(table, threshold, by, fits)
    return configuration


def _check_table(confidences):
    """Raise for a table without a column, or with a row that cannot come from replicates."""
    if not isinstance(confidences, pd.DataFrame):
        kind = type_of(confidences)
        raise InputTypeError(f"must be the DataFrame of `arc_confidence`, got {kind}")
    lacking = [column for column in COLUMNS if column not in confidences.columns]
    if lacking:
        raise InputError(f"must have the {listed(COLUMNS, 'column')}; `{lacking[0]}` is missing")
    for column in ("arc", "edge"):
        values = confidences[column]
        if not pd.api.types.is_numeric_dtype(values) or not values.between(0, 1).all():
            raise InputError("must hold shares from 0 to 1", column=column)
    for column in ("task", "parent", "child"):
        row = _first(confidences, confidences[column].isna())
        if row is not None:
            message = f"must have a name in every row; row {row.name!r} has none"
            raise InputError(message, column=column, remedy="fill it, or leave the row out")
    parents, children = (confidences[column].astype(str) for column in ("parent", "child"))
    row = _first(confidences, parents == children)
    if row is not None:
        same = f"row {row.name!r} has `{row['parent']}` as parent and as child"
        raise InputError(f"must join different variables; {same}", remedy="leave it out")
    row = _first(confidences, confidences["edge"] < confidences["arc"] - _ROUNDING)
    if row is not None:
        message = (
            f"must have an edge at least as sure as its arc; row {row.name!r} has the arc "
            f"{row['arc']:g} and the edge {row['edge']:g}"
        )
        raise InputError(message, remedy="an edge is the share of replicates with either direction")


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


GIVEN, ALONE, SPARSE = "given", "alone", "alone, as many arcs"
_LEVEL = 0.95
# Probabilities of an arc among which sparse graphs get as many arcs as the given learner.
_PROBABILITIES = (0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)


class ArcStability(NamedTuple):
    """Stability of graphs over replicates.

    Parameters
    ----------
    summary : pandas.DataFrame
        One row per learner and task. Columns: arcs, arcs_low, arcs_high, the chance-corrected
        stability of the arcs and its interval of 95 %, 1 if all replicates have the same arcs and 0
        if they are like random ones; edges, edges_low, edges_high, the same without directions,
        which data often cannot decide; n_arcs, the mean number of arcs; shd, the expected number of
        pairs of variables in which the equivalence classes of two replicates differ. Stability is
        NaN if no replicate has an arc. Intervals and standard errors are those of more replicates
        of these rows; other rows would differ more.
    arcs : pandas.DataFrame
        One row per learner, task and ordered pair of variables: arc and edge, the shares of the
        replicates with parent -> child and with either direction, and standard_error, that of arc.
    """

    summary: pd.DataFrame
    arcs: pd.DataFrame


def arc_stability(tasks, learner, scheme="halves", n=50, compare=None, random_state=None):
    """Learn graphs from other rows again and again, and measure how much they agree.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
    learner : any learner
        It is not fitted itself. Its ``n_jobs`` sets how many replicates run at a time. Groups of
        tasks are found once, in all rows.
    scheme : {"halves", "bootstrap", "delete-d"}, default="halves"
        How each replicate draws rows of each task: half of them; as many as there are, with
        repetition, which makes dependencies look stronger than they are (see `arc_confidence`); or
        all but the square root of their number. Copies of a row are drawn once, unless by
        "bootstrap".
    n : int, default=50
        Number of replicates, at least two.
    compare : None, "alone", or mapping name -> learner, default=None
        Learners beside the given one, on the same rows. "alone" is two: each task alone with the
        same search, and each task alone with the probability of an arc that gives about as many
        arcs as the given learner, since graphs with fewer arcs can be stabler.
    random_state : None, int or numpy.random.Generator, default=None
        None uses that of the learner.

    Returns
    -------
    ArcStability
        The given learner is "given", the others "alone" and "alone, as many arcs", or their names.

    Raises
    ------
    InputTypeError, InputError
        If `learner` is not a learner, for parameters out of range, and as in ``fit``.

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown (2018), "On the stability of feature selection algorithms",
    Journal of Machine Learning Research 18: stability and its variance.

    Examples
    --------
    >>> from bnmtl import HillClimbing, SingleTaskLearner, structures
    >>> rows = structures.load("asia").sample(500, random_state=0)
    >>> learner = SingleTaskLearner(search=HillClimbing(restarts=0))
    >>> found = arc_stability({"clinic": rows}, learner, n=10, random_state=0)
    >>> found.summary.loc[("given", "clinic"), ["edges", "arcs"]].between(0.4, 1).tolist()
    [True, True]
    """
    if not isinstance(learner, Learner):
        raise InputTypeError(f"must be a learner, got {type_of(learner)}", argument="learner")
    check_choice("scheme", scheme, ("halves", "bootstrap", "delete-d"))
    check_whole("n", n, least=2, most=MOST_MEMBERS, remedy="50 is usual")
    learner._check_parameters()
    seed = seed_of(learner.random_state if random_state is None else random_state)
    learners = {GIVEN: learner} | _others(tasks, learner, compare, seed)
    draw = {"halves": share_of(0.5), "bootstrap": bootstrap, "delete-d": _all_but_few}[scheme]
    summaries, arcs = {}, {}
    for name, used in learners.items():
        encoded = encode(tasks, missing=used.missing)
        graphs = {task: [] for task in encoded.names}
        used = keeping_groups(used, encoded, set())
        for configuration in Replicates(encoded, used, draw, n, seed, stage=f"stability: {name}"):
            for task, graph in configuration.items():
                graphs[task].append(graph)
        for task, made in graphs.items():
            variables = encoded[task].variables
            summaries[name, task] = _summary(made, variables)
            arcs[name, task] = _arcs(made, variables)
    index = pd.MultiIndex.from_tuples(summaries, names=["learner", "task"])
    summary = pd.DataFrame(list(summaries.values()), index=index)
    table = pd.concat(arcs, names=["learner", "task"]).reset_index(["learner", "task"])
    return ArcStability(summary, table.reset_index(drop=True))


def _all_but_few(rows, rng):
    """All rows but the square root of their number."""
    n_left_out = max(1, round(np.sqrt(len(rows))))
    return rows[rng.permutation(len(rows))[: max(2, len(rows) - n_left_out)]]


def _others(tasks, learner, compare, seed):
    """Learners to compare with, by name."""
    if compare is None:
        return {}
    if isinstance(compare, Mapping):
        for name, other in compare.items():
            if not isinstance(other, Learner):
                message = f"must be a learner for `{name}`, got {type_of(other)}"
                raise InputTypeError(message, argument="compare")
            other._check_parameters()
        if GIVEN in compare:
            message = f"must have other names than `{GIVEN}`, got {GIVEN!r}"
            raise InputError(message, argument="compare")
        return dict(compare)
    check_choice("compare", compare, ("alone",))
    if isinstance(learner, SingleTaskLearner):
        kind = type_of(learner)
        message = f"must learn tasks together to be compared with each alone, got {kind}"
        raise InputError(message, argument="learner")
    alone = single_task(learner)
    alone._check_parameters()

    def n_arcs(used):
        return len(changed(used, random_state=seed, progress=False).fit(tasks).arcs_)

    wanted = n_arcs(learner)
    sparse = [changed(alone, structure_prior=ArcPrior(chance)) for chance in _PROBABILITIES]
    gaps = [abs(n_arcs(candidate) - wanted) for candidate in sparse]
    return {ALONE: alone, SPARSE: sparse[int(np.argmin(gaps))]}


def _summary(graphs, variables):
    """One row of the summary."""
    arcs = np.stack([adjacency(graph, variables) for graph in graphs])
    off = ~np.eye(len(variables), dtype=bool)
    upper = np.triu(off)
    found = {
        "arcs": stability(arcs[:, off]),
        "edges": stability((arcs | arcs.swapaxes(1, 2))[:, upper]),
    }
    row = {
        f"{kind}{end}": value
        for kind, values in found.items()
        for end, value in zip(("", "_low", "_high"), values, strict=True)
    }
    patterns = np.stack([adjacency(cpdag(graph), variables) for graph in graphs])
    return row | {"n_arcs": arcs.sum() / len(graphs), "shd": _expected_shd(patterns, upper)}


def stability(selected):
    """Chance-corrected stability of sets, and its interval of 95 %.

    Parameters
    ----------
    selected : numpy.ndarray of bool, shape (n_replicates, n_features)
        Whether each set has each feature.

    Returns
    -------
    (float, float, float)
        NaN if all sets are empty or all are full; the interval ends at 1, and is NaN if all sets
        are equal.
    """
    n, n_features = selected.shape
    selected = selected.astype(float)
    shares, sizes = selected.mean(axis=0), selected.sum(axis=1)
    density = sizes.mean() / n_features if n_features else 0.0
    by_chance = density * (1 - density)
    if by_chance == 0:
        return np.nan, np.nan, np.nan
    value = 1 - np.mean(n / (n - 1) * shares * (1 - shares)) / by_chance
    # How much each set adds, the equation for phi_i of the paper.
    parts = sizes / n_features
    adds = selected @ shares / n_features - parts * density
    adds += value / 2 * (2 * density * parts - parts - density + 1)
    adds /= by_chance
    error = np.sqrt(4 / n**2 * ((adds - adds.mean()) ** 2).sum())
    if not np.ptp(selected, axis=0).any():
        return float(value), np.nan, np.nan
    width = stats.norm.ppf((1 + _LEVEL) / 2) * error
    return float(value), float(value - width), min(float(value + width), 1.0)


def interval_text(row, kind):
    """A stability of a row of the summary, with its interval if it has one."""
    value, low, high = (row[f"{kind}{end}"] for end in ("", "_low", "_high"))
    return f"{value:.2f}" if np.isnan(low) else f"{value:.2f} ({low:.2f} to {high:.2f})"


def _expected_shd(patterns, upper):
    """Mean number of pairs of variables that differ between two replicates."""
    n = len(patterns)
    # None, one direction, the other, both: what a pair is in each replicate.
    states = (patterns + 2 * patterns.swapaxes(1, 2))[:, upper]
    same = sum(np.mean(states == state, axis=0) ** 2 for state in range(4))
    return float((1 - same).sum() * n / (n - 1))


def _arcs(graphs, variables):
    """Shares of the replicates with each arc, and their standard errors."""
    arcs = np.mean([adjacency(graph, variables) for graph in graphs], axis=0)
    parent, child = np.nonzero(~np.eye(len(variables), dtype=bool))
    names = np.array(variables, dtype=object)
    share = arcs[parent, child]
    return pd.DataFrame(
        {
            "parent": names[parent],
            "child": names[child],
            "arc": share,
            "edge": share + arcs[child, parent],
            "standard_error": np.sqrt(share * (1 - share) / (len(graphs) - 1)),
        }
    )
