"""Diverse ensembles from few cases: DECORATE, and measures of diversity."""

from bnmtl.decorate.classifier import SETTINGS, DecorateClassifier
from bnmtl.decorate.committee import diversity

__all__ = [
    "SETTINGS",
    "DecorateClassifier",
    "diversity",
]
