"""Consensus graphs: the arcs that most replicates agree on."""

import functools

import networkx as nx
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number, located
from bnmtl.graphs import Configuration
from bnmtl.wording import type_of

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
