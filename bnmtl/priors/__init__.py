"""Priors over structures: of one task, and over the structures of several tasks together."""

from bnmtl.priors.coupling import (
    CouplingPrior,
    CustomCoupling,
    EditCoupling,
    EditPrior,
    PairedCoupling,
    PairedPrior,
    WeightedPairedCoupling,
    coupling_of,
)
from bnmtl.priors.structure import ArcPrior, ReferencePrior

__all__ = [
    "ArcPrior",
    "CouplingPrior",
    "CustomCoupling",
    "EditCoupling",
    "EditPrior",
    "PairedCoupling",
    "PairedPrior",
    "ReferencePrior",
    "WeightedPairedCoupling",
    "coupling_of",
]
