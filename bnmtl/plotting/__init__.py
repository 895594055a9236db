"""Plots of configurations, tasks, predictions and ensembles; matplotlib is loaded on first use."""

from bnmtl.plotting.calibration import calibration_panel, learning_curves, reliability
from bnmtl.plotting.charts import arc_stability, bias_variance, penalties, rounds
from bnmtl.plotting.comparing import clusters, compare
from bnmtl.plotting.drawing import png, svg
from bnmtl.plotting.ensembles import hillclimb_sizes, mimic_curve, pruning, trajectory, weights
from bnmtl.plotting.graphs import dags
from bnmtl.plotting.layout import Layout, arrange
from bnmtl.plotting.querying import (
    error_by_diversity,
    method_scatter,
    strategy_curves,
    utility_map,
)
from bnmtl.plotting.table import arcs, borrowing
from bnmtl.plotting.tasks import dendrogram, distances, gains, relatedness

__all__ = [
    "Layout",
    "arc_stability",
    "arcs",
    "arrange",
    "bias_variance",
    "borrowing",
    "calibration_panel",
    "clusters",
    "compare",
    "dags",
    "dendrogram",
    "distances",
    "error_by_diversity",
    "gains",
    "hillclimb_sizes",
    "learning_curves",
    "method_scatter",
    "mimic_curve",
    "penalties",
    "png",
    "pruning",
    "relatedness",
    "reliability",
    "rounds",
    "strategy_curves",
    "svg",
    "trajectory",
    "utility_map",
    "weights",
]
