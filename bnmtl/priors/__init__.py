"""Priors over the structure of one task and over the structures of several tasks."""

from bnmtl.priors.coupling import EditPrior, PairedPrior
from bnmtl.priors.structure import ArcPrior, ReferencePrior

__all__ = ["ArcPrior", "EditPrior", "PairedPrior", "ReferencePrior"]
