"""Positions and drawing of the signs of association next to arcs."""

import numpy as np
from scipy.spatial.distance import cdist

from bnmtl.plotting.drawing import INK, draw_text
from bnmtl.plotting.widths import read_table

_SIZE = 9.0  # of the sign, in points; height and width are about equal
_ASIDE = 7.5  # from the arc to the middle of the sign
_ALONG = np.linspace(0.15, 0.85, 15)  # possible positions along the arc
_ROOM = 7.0  # distance to other arcs; more has no advantage
_SPACING = 13.0  # distance of two signs, so that their lines of text do not touch
_PER_CURVE = 12  # points that approximate a Bézier curve


def read_signs(table, configuration):
    """Return +1 or -1 by (task, parent, child) for the arcs with a sign.

    Parameters
    ----------
    table : pandas.DataFrame or None
        The `arcs_` of a learner: columns task, from, to, tau_b; arcs may be missing.
    configuration : mapping of networkx.DiGraph
    """
    if table is None:
        return {}
    found = read_table("signs", table, ("task", "from", "to", "tau_b"))
    arcs = {(str(task), str(a), str(b)) for task, g in configuration.items() for a, b in g.edges}
    return {arc: int(np.sign(tau)) for arc, tau in found.items() if arc in arcs and tau * tau > 0}


def sign_places(layout, arcs):
    """Choose a position next to each arc without overlapping boxes and far from other arcs.

    Parameters
    ----------
    layout : Layout
    arcs : iterable of (a, b)
        The routes with a sign in some panel: keys of ``layout.routes``.

    Returns
    -------
    dict
        (a, b) -> (x, y) in the coordinates of the layout.
    """
    points = {arc: points_along(route, _PER_CURVE) for arc, route in layout.routes.items()}
    placed = np.zeros((0, 2))
    places = {}
    for arc in sorted(arcs):
        candidates = _beside(points[arc])
        others = [along for other, along in points.items() if other != arc]
        room = np.minimum(_distances(candidates, np.vstack([np.zeros((0, 2)), *others])), _ROOM)
        # The arc itself may bend back to the position.
        room = np.minimum(room, _distances(candidates, points[arc]) + 1.5)
        # Overlapping boxes and signs are worse than any arc; the middle wins ties.
        room -= 100.0 * _covered(candidates, layout)
        room -= 100.0 * (_distances(candidates, placed) < _SPACING)
        room -= np.tile(np.abs(_ALONG - 0.5), 2)
        places[arc] = tuple(candidates[np.argmax(room)].tolist())
        placed = np.vstack([placed, places[arc]])
    return places


def points_along(route, n_points):
    """Points along a chain of cubic Bézier curves, the same number for each, and its end."""
    t = np.linspace(0, 1, n_points, endpoint=False)[:, None]
    weights = (1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3
    curves = [
        sum(w * p for w, p in zip(weights, route[i : i + 4], strict=True))
        for i in range(0, len(route) - 1, 3)
    ]
    return np.vstack([*curves, route[-1:]])


def _beside(points):
    """Positions on both sides of a line, by length along it."""
    steps = np.diff(points, axis=0)
    lengths = np.r_[0.0, np.cumsum(np.hypot(*steps.T))]
    at = _ALONG * lengths[-1]
    on_line = np.column_stack([np.interp(at, lengths, one) for one in points.T])
    segment = np.clip(np.searchsorted(lengths, at, side="right") - 1, 0, len(steps) - 1)
    direction = steps[segment] / np.maximum(np.hypot(*steps[segment].T), 1e-9)[:, None]
    normal = np.column_stack([-direction[:, 1], direction[:, 0]])
    return np.vstack([on_line + _ASIDE * normal, on_line - _ASIDE * normal])


def _distances(places, points):
    """Distance of each position to the nearest point; infinite if there are no points."""
    return cdist(places, points).min(axis=1, initial=np.inf)


def _covered(places, layout):
    """Whether a sign at each position would touch a box."""
    x, y, width, height = np.array(list(layout.boxes.values())).T
    across = np.abs(places[:, :1] - x) < (width + _SIZE) / 2
    along = np.abs(places[:, 1:] - y) < (height + _SIZE) / 2
    return (across & along).any(axis=1)


def draw_sign(axes, x, y, sign):
    """Draw a plus or minus with a white rim, centered at (x, y)."""
    from matplotlib.patheffects import withStroke

    text = "+" if sign > 0 else "\N{MINUS SIGN}"
    style = {"fontsize": _SIZE, "color": INK, "ha": "center", "zorder": 5, "fontweight": "bold"}
    written = draw_text(axes, x, y, text, **style)
    written.set_path_effects([withStroke(linewidth=1.8, foreground="white")])
