"""Confidence of arcs by task from resampled rows, and consensus graphs of replicates.

A share of replicates is not a probability. In the study `sure_arcs` (benchmarks/defaults), with the
default settings, 96 to 100 % of the edges in all replicates were true, and 59 to 100 % of those
with a confidence of 0.8, depending on the problem and the number of rows. With few rows, many true
edges appear in few replicates. Bootstrap replicates with BDeu, as in the study `calibrated_arcs`,
have more false arcs.

The direction of an arc is less certain than the arc. An arc is compelled if it points the same way
in all graphs of its equivalence class. A score with ``is_score_equivalent`` False (`K2`, `BDs`,
mixtures) prefers one graph of a class, so an arc that is not compelled may still point the same way
in all replicates. That is the score's preference, not evidence.
"""

from bnmtl.confidence.checking import predictive_check
from bnmtl.confidence.replicates import MEANING, arc_confidence, sure_words, with_confidence
from bnmtl.confidence.stability import ArcStability, arc_stability, consensus

__all__ = [
    "MEANING",
    "ArcStability",
    "arc_confidence",
    "arc_stability",
    "consensus",
    "predictive_check",
    "sure_words",
    "with_confidence",
]
