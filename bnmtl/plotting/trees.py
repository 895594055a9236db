"""Dendrograms: merges of tasks and groups by height, and their drawing.

Linkages are as in `scipy.cluster.hierarchy`: merge i of n tasks joins the two nodes in the first
two columns into node n + i, at the height in the third.
"""

from typing import NamedTuple

import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from bnmtl.plotting.drawing import COLORS
from bnmtl.relatedness.nearest import ROUNDING

_TRUNK = "#777777"
# Okabe and Ito's colors except yellow and black; neighboring clusters always differ.
_CLUSTERS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
# Added per position between two names, in units of the largest dissimilarity, so that ties are
# ordered by name; scipy compares in single precision.
_BY_NAME = 1e-6


class Scale(NamedTuple):
    """Position of a value on the x-axis: zero + per_unit * value, in points."""

    zero: float
    per_unit: float

    def at(self, value):
        return self.zero + self.per_unit * value


def average_linkage(table):
    """Average linkage of tasks, independent of the order of the rows.

    Parameters
    ----------
    table : pandas.DataFrame
        Dissimilarities; the mean of both directions is used.

    Returns
    -------
    table : pandas.DataFrame
        The table with the tasks sorted by name.
    linkage : numpy.ndarray
        Linkage of these, with leaves ordered so that neighbors are close.

    Examples
    --------
    >>> import pandas as pd
    >>> tasks = ["west", "south", "north"]
    >>> table = pd.DataFrame([[0, 4, 2], [4, 0, 5], [0, 5, 0]], index=tasks, columns=tasks)
    >>> table, linkage = average_linkage(table)
    >>> list(table)
    ['north', 'south', 'west']
    >>> linkage.round(6).tolist()
    [[0.0, 2.0, 1.0, 2.0], [3.0, 1.0, 4.5, 3.0]]
    """
    tasks = sorted(table.index, key=str)
    table = table.loc[tasks, tasks]
    values = table.to_numpy()
    pairs = squareform((values + values.T) / 2, checks=False)
    tree = hierarchy.linkage(pairs, "average")
    places = np.arange(len(tasks), dtype=float)
    offsets = squareform(np.abs(places[:, None] - places))
    tree = hierarchy.optimal_leaf_ordering(tree, pairs + _BY_NAME * (pairs.max() or 1.0) * offsets)
    leaves = hierarchy.leaves_list(tree)
    if leaves[0] > leaves[-1]:  # both orders are equally good
        tree[:, :2] = tree[:, 1::-1]
    return table, tree


def cut_height(tree, n_clusters):
    """Return a height between the last kept and the first undone merge.

    Examples
    --------
    >>> tree = np.array([[0, 1, 2, 2], [2, 3, 8, 3]])
    >>> [cut_height(tree, n_clusters) for n_clusters in (1, 2, 3)]
    [8.4, 5.0, 1.0]
    """
    heights = [0.0, *tree[:, 2].tolist()]
    n_kept = len(tree) + 1 - n_clusters
    if n_clusters == 1:
        return max(heights) * 1.05
    return (heights[n_kept] + heights[n_kept + 1]) / 2


def is_tied(tree, n_clusters):
    """Whether the last kept and the first undone merge have the same height."""
    heights = tree[:, 2]
    n_kept = len(tree) + 1 - n_clusters
    if not 0 < n_kept < len(tree):
        return False
    return bool(heights[n_kept] - heights[n_kept - 1] <= ROUNDING * heights[-1])


def node_clusters(tree, n_clusters):
    """Return the cluster of each node, numbered along the leaves, or None above the cut.

    Examples
    --------
    >>> tree = np.array([[1, 2, 2.0, 2], [3, 0, 6.0, 3]])
    >>> node_clusters(tree, 2)
    [1, 0, 0, 0, None]
    """
    n_tasks = len(tree) + 1
    root_of = list(range(2 * n_tasks - 1))
    for i in reversed(range(n_tasks - n_clusters)):
        for child in tree[i, :2].astype(int):
            root_of[child] = root_of[n_tasks + i]
    numbers = {}
    for leaf in hierarchy.leaves_list(tree):
        numbers.setdefault(root_of[leaf], len(numbers))
    return [numbers.get(root_of[node]) for node in range(2 * n_tasks - 1)]


def draw_tree(axes, tree, scale, top, pitch, n_clusters=None):
    """Draw a dendrogram with a leaf every `pitch` points from `top`, and colored clusters."""
    n_tasks = len(tree) + 1
    clusters = node_clusters(tree, n_clusters) if n_clusters else [None] * (2 * n_tasks - 1)
    colors = [_TRUNK if one is None else _CLUSTERS[one % len(_CLUSTERS)] for one in clusters]
    y = np.empty(2 * n_tasks - 1)
    y[hierarchy.leaves_list(tree)] = top + (np.arange(n_tasks) + 0.5) * pitch
    x = np.full(2 * n_tasks - 1, scale.zero)
    style = {"linewidth": 1.2, "solid_capstyle": "projecting"}
    for node, (left, right, height, _) in enumerate(tree, start=n_tasks):
        left, right = int(left), int(right)
        y[node], x[node] = (y[left] + y[right]) / 2, scale.at(height)
        for child in (left, right):
            axes.plot([x[child], x[node]], [y[child]] * 2, color=colors[child], **style)
        axes.plot([x[node]] * 2, [y[left], y[right]], color=colors[node], **style)


def draw_cut(axes, start, end):
    """Draw the line at the cut of a dendrogram, or its sample in a legend."""
    axes.plot(*zip(start, end, strict=True), color=COLORS["one"], linewidth=1.0, dashes=(4, 2.5))
