"""Ensembles selected from libraries of models, and compression of ensembles."""

from bnmtl.classification import NetworkSampler
from bnmtl.ensembles.controls import MarginalSampler, NaiveBayesSampler
from bnmtl.ensembles.mimic import Mimic
from bnmtl.ensembles.multitask import MultitaskEnsembleSelector
from bnmtl.ensembles.munge import Munge
from bnmtl.ensembles.report import SelectionReport
from bnmtl.ensembles.rivals import (
    WeightedEnsemble,
    basic_selection,
    best_of_families,
    best_single,
    mean_of_all,
    model_averaging,
)
from bnmtl.ensembles.selector import EnsembleSelector
from bnmtl.ensembles.stacking import Stacking, blending
from bnmtl.ensembles.store import PredictionStore

__all__ = [
    "EnsembleSelector",
    "MarginalSampler",
    "Mimic",
    "MultitaskEnsembleSelector",
    "Munge",
    "NaiveBayesSampler",
    "NetworkSampler",
    "PredictionStore",
    "SelectionReport",
    "Stacking",
    "WeightedEnsemble",
    "basic_selection",
    "best_of_families",
    "best_single",
    "blending",
    "mean_of_all",
    "model_averaging",
]
