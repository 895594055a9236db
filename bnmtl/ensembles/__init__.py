"""Ensembles selected from libraries of models, and compression of ensembles."""

from bnmtl.ensembles.report import SelectionReport
from bnmtl.ensembles.selector import EnsembleSelector
from bnmtl.ensembles.store import PredictionStore

__all__ = ["EnsembleSelector", "PredictionStore", "SelectionReport"]
