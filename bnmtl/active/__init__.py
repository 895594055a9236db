"""Active learning: which cases to label next, chosen by committees; experiments with strategies."""

from bnmtl.active.acquisition import GODA, ErrorSampling, ExpectedUtility, RandomAcquisition
from bnmtl.active.committees import (
    BaggingCommittee,
    BoostingCommittee,
    SingleClassifier,
    TreeCommittee,
)
from bnmtl.active.experiment import run_experiment
from bnmtl.active.measures import Forecast, data_utilization, forecast, improvement
from bnmtl.active.multitask import MultitaskCommittee, MultitaskQuery
from bnmtl.active.strategies import (
    ActiveDecorate,
    ActiveDecorateJS,
    BootstrapJS,
    BootstrapLV,
    BootstrapLVExt,
    MarginSampling,
    QueryByBagging,
    QueryByBoosting,
    RandomQuery,
)

__all__ = [
    "GODA",
    "ActiveDecorate",
    "ActiveDecorateJS",
    "BaggingCommittee",
    "BoostingCommittee",
    "BootstrapJS",
    "BootstrapLV",
    "BootstrapLVExt",
    "ErrorSampling",
    "ExpectedUtility",
    "Forecast",
    "MarginSampling",
    "MultitaskCommittee",
    "MultitaskQuery",
    "QueryByBagging",
    "QueryByBoosting",
    "RandomAcquisition",
    "RandomQuery",
    "SingleClassifier",
    "TreeCommittee",
    "data_utilization",
    "forecast",
    "improvement",
    "run_experiment",
]
