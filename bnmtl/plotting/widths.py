"""Widths of arcs: all equal, by strength, or by confidence."""

from typing import NamedTuple

import numpy as np

from bnmtl.errors import InputError

_STRENGTHS = (0.6, 4.0)  # of the weakest and the strongest arc
_CONFIDENCES = (0.8, 2.6)  # of arcs in half of the replicates and in all of them
_LEAST = 0.5  # confidence below which arcs are dotted
_SAMPLES = {
    1.0: "line width: joined in all replicates",
    0.75: "in three of four",
    0.5: "in half of them",
    0.0: "dotted: in fewer than half",
}


class Line(NamedTuple):
    """The line of an arc: its width in points, and whether it is dotted."""

    width: float
    dotted: bool = False


EQUAL = Line(1.4)


class Widths(NamedTuple):
    """Lines of arcs by (task, parent, child), and samples (Line, text) for the legend."""

    lines: dict
    samples: list

    def of(self, task, parent, child):
        """The line of an arc; a default line if there are no widths."""
        return self.lines[str(task), str(parent), str(child)] if self.lines else EQUAL


def widths_of(configuration, strength, confidence):
    """Return the widths for two arguments of `dags`; raise for both or for invalid tables.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph
    strength, confidence : pandas.DataFrame or None

    Returns
    -------
    Widths
    """
    if strength is not None and confidence is not None:
        rule = "must not be given together with {confidence}, as either sets the widths of arcs"
        raise InputError("strength", rule, remedies="leave one of them out")
    if confidence is not None:
        return _by_confidence(_read_confidence(confidence, configuration))
    if strength is not None:
        return _by_strength(_read_strength(strength, configuration))
    return Widths({}, [])


def _by_strength(strengths):
    """By the square root of the strengths of arcs; samples use a round number near the largest."""
    strongest = max(strengths.values(), default=0.0)
    thin, thick = _STRENGTHS

    def scaled(strength):
        return Line(thin + (thick - thin) * np.sqrt(strength / (strongest or 1.0)))

    samples = []
    if strongest:
        unit = 10.0 ** np.floor(np.log10(strongest))
        top = unit * np.floor(strongest / unit)
        samples = [(scaled(one), f"strength {one:.3g} nats") for one in (top, top / 4, top / 20)]
    return Widths({arc: scaled(one) for arc, one in strengths.items()}, samples)


def _by_confidence(confidences):
    """By the share of replicates that join the two variables in either direction."""
    samples = [(_of_confidence(one), text) for one, text in _SAMPLES.items()]
    if all(one >= _LEAST for one in confidences.values()):
        samples.pop()
    return Widths({arc: _of_confidence(one) for arc, one in confidences.items()}, samples)


def doubtful_arcs(configuration, confidence):
    """The arcs of each task with an edge in fewer than half of the replicates.

    Parameters
    ----------
    configuration : Configuration
    confidence : pandas.DataFrame or None

    Returns
    -------
    dict task -> set of (parent, child)
    """
    if confidence is None:
        return {}
    shares = _read_confidence(confidence, configuration)
    return {
        name: {arc for arc in graph.edges if shares[str(name), *map(str, arc)] < _LEAST}
        for name, graph in configuration.items()
    }


def _of_confidence(confidence):
    thin, thick = _CONFIDENCES
    if confidence < _LEAST:
        return Line(thin, dotted=True)
    return Line(thin + (thick - thin) * (confidence - _LEAST) / (1 - _LEAST))


def _read_strength(table, configuration):
    columns = ("task", "from", "to", "strength")
    found = _read("strength", read_table("strength", table, columns), configuration)
    return {arc: max(one, 0.0) for arc, one in found.items()}


def _read_confidence(table, configuration):
    columns = ("task", "parent", "child", "edge")
    source = "the table of `bnmtl.confidence.arc_confidence`"
    found = _read("confidence", read_table("confidence", table, columns, source), configuration)
    wrong = [one for one in found.values() if not 0 <= one <= 1]
    if wrong:
        raise InputError("confidence", "must hold shares from 0 to 1", wrong[0], column="edge")
    return found


def check_has(argument, table, columns, source):
    """Raise unless it is a table with these columns, as from the given source."""
    lacking = [column for column in columns if column not in getattr(table, "columns", ())]
    if lacking:
        rule = "must be a DataFrame with {columns:column}, such as {source!s}"
        details = {"columns": list(columns), "source": source, "lacking": lacking[0]}
        raise InputError(argument, rule, found="{lacking!r} is missing", **details)


def read_table(argument, table, columns, source="a learner's `arcs_`"):
    """Return the last of some columns of a table by the others: (task, parent, child)."""
    check_has(argument, table, columns, source)
    values = zip(*(table[column] for column in columns), strict=True)
    return {(str(task), str(a), str(b)): float(value) for task, a, b, value in values}


def _read(argument, known, configuration):
    """Return the known values of the arcs of some graphs, by (task, parent, child)."""
    found = {}
    for task, graph in configuration.items():
        for a, b in graph.edges:
            key = str(task), str(a), str(b)
            if key not in known:
                rule, found = "must have a row for every arc", "{a!s} -> {b!s} has none"
                remedy = "give the graphs that it belongs to, as {{task: graph}}"
                place = {"task": None if task == "" else task, "a": a, "b": b}
                raise InputError(argument, rule, found=found, remedies=remedy, **place)
            found[key] = known[key]
    return found
