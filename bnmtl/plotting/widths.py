"""How wide arcs are drawn: all alike, by their strengths, or by how sure they are."""

from typing import NamedTuple

import numpy as np

__all__ = ["EQUAL", "Line", "doubtful_arcs", "widths_of"]

_EQUAL_WIDTH = 1.4
_STRENGTHS = (0.6, 4.0)  # of the weakest and the strongest arc
_CONFIDENCES = (0.8, 2.6)  # of arcs that half of the replicates have and that all have
_LEAST = 0.5  # confidence below which arcs are dotted
_SAMPLES = {
    1.0: "line width: joined in all replicates",
    0.75: "in three of four",
    0.5: "in half of them",
    0.0: "dotted: in fewer than half",
}


class Line(NamedTuple):
    """How an arc is drawn: its width in points, and whether it is dotted."""

    width: float
    dotted: bool = False


EQUAL = Line(_EQUAL_WIDTH)


def widths_of(configuration, strength, confidence):
    """Return the widths that two arguments of `dags` ask for; raise for both or for other tables.

    Parameters
    ----------
    configuration : mapping of networkx.DiGraph
    strength, confidence : pandas.DataFrame or None

    Returns
    -------
    object
        ``of(task, parent, child)`` is a `Line`, ``samples()`` lists (Line, text) for the legend.
    """
    if strength is not None and confidence is not None:
        raise ValueError(
            "`strength` and `confidence` must not both be given, as either sets the widths of "
            "arcs; leave one of them out."
        )
    if confidence is not None:
        return _ByConfidence(_read_confidence(confidence, configuration))
    if strength is not None:
        return _ByStrength(_read_strength(strength, configuration))
    return _Equal()


class _Equal:
    def of(self, task, parent, child):
        return EQUAL

    def samples(self):
        return []


class _ByStrength:
    """By the square root of the arcs' strengths."""

    def __init__(self, strengths):
        self._strengths = strengths
        self._strongest = max(strengths.values(), default=0.0)

    def of(self, task, parent, child):
        return self._scaled(self._strengths[str(task), str(parent), str(child)])

    def _scaled(self, strength):
        thin, thick = _STRENGTHS
        return Line(thin + (thick - thin) * np.sqrt(strength / (self._strongest or 1.0)))

    def samples(self):
        """Three strengths, the first a round number near the strongest."""
        if not self._strongest:
            return []
        unit = 10.0 ** np.floor(np.log10(self._strongest))
        top = unit * np.floor(self._strongest / unit)
        return [(self._scaled(one), f"strength {one:.3g} nats") for one in (top, top / 4, top / 20)]


class _ByConfidence:
    """By the share of replicates that join the two variables, whichever way."""

    def __init__(self, confidences):
        self._confidences = confidences

    def of(self, task, parent, child):
        return _of_confidence(self._confidences[str(task), str(parent), str(child)])

    def samples(self):
        """What occurs, and the widest."""
        lines = [(_of_confidence(one), text) for one, text in _SAMPLES.items()]
        weak = any(one < _LEAST for one in self._confidences.values())
        return lines if weak else lines[:-1]


def doubtful_arcs(configuration, confidence):
    """The arcs of each task whose edge is in fewer than half of the replicates.

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
    found = _read("strength", table, columns, "a learner's `arcs_`", configuration)
    return {arc: max(one, 0.0) for arc, one in found.items()}


def _read_confidence(table, configuration):
    columns = ("task", "parent", "child", "edge")
    source = "the table of `bnmtl.confidence.arc_confidence`"
    found = _read("confidence", table, columns, source, configuration)
    wrong = [one for one in found.values() if not 0 <= one <= 1]
    if wrong:
        raise ValueError(
            f"`confidence` must hold shares from 0 to 1 in the column edge; {wrong[0]:g} was given."
        )
    return found


def _read(argument, table, columns, source, configuration):
    """Return what a table says of the arcs of some graphs, by (task, parent, child)."""
    lacking = set(columns) - set(getattr(table, "columns", ()))
    if lacking:
        raise ValueError(
            f"`{argument}` must be a DataFrame with columns {', '.join(map(repr, columns))}, such "
            f"as {source}; {min(lacking)!r} is missing."
        )
    values = zip(*(table[column] for column in columns), strict=True)
    known = {(str(task), str(a), str(b)): float(value) for task, a, b, value in values}
    found = {}
    for task, graph in configuration.items():
        for a, b in graph.edges:
            key = str(task), str(a), str(b)
            if key not in known:
                arc = f"{a} -> {b}" + (f" of task `{task}`" if task != "" else "")
                raise ValueError(
                    f"`{argument}` must have a row for every arc; {arc} has none: give the graphs "
                    "that it belongs to, as {task: graph}."
                )
            found[key] = known[key]
    return found
