"""Ensembles selected from libraries of models, and compression of ensembles."""

from bnmtl.classification import NetworkSampler
from bnmtl.ensembles.compression.mimic import Mimic
from bnmtl.ensembles.compression.munge import MarginalSampler, Munge, NaiveBayesSampler
from bnmtl.ensembles.library.build import build_library
from bnmtl.ensembles.library.refit import LibraryEnsemble, load_model
from bnmtl.ensembles.rivals import (
    WeightedEnsemble,
    basic_selection,
    best_of_families,
    best_single,
    mean_of_all,
    model_averaging,
)
from bnmtl.ensembles.selection import EnsembleSelector, SelectionReport
from bnmtl.ensembles.stacking import Stacking, blending
from bnmtl.ensembles.store import PredictionStore
from bnmtl.ensembles.unused_cases import UnusedCases

__all__ = [
    "EnsembleSelector",
    "LibraryEnsemble",
    "MarginalSampler",
    "Mimic",
    "Munge",
    "NaiveBayesSampler",
    "NetworkSampler",
    "PredictionStore",
    "SelectionReport",
    "Stacking",
    "UnusedCases",
    "WeightedEnsemble",
    "basic_selection",
    "best_of_families",
    "best_single",
    "blending",
    "build_library",
    "load_model",
    "mean_of_all",
    "model_averaging",
]
