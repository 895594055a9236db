"""Learn the Bayesian networks of several related tasks together."""

import importlib

__version__ = "0.1.0"

# Public names are imported from their subpackages on first use, so that `import bnmtl` stays light:
# it loads neither scikit-learn nor matplotlib nor pgmpy.
_NAMES = {
    "BDeu": "scores",
    "BDs": "scores",
    "K2": "scores",
    "BIC": "scores",
    "AIC": "scores",
    "LogLikelihood": "scores",
    "MixedDirichlet": "scores",
    "ArcPrior": "priors",
    "ReferencePrior": "priors",
    "PairedPrior": "priors",
    "EditPrior": "priors",
    "SingleTaskLearner": "learners",
    "IdenticalLearner": "learners",
    "PooledLearner": "learners",
    "MultitaskLearner": "learners",
    "MultitaskLearnerCV": "learners",
    "Orders": "search",
    "HillClimbing": "search",
    "Exact": "search",
    "BayesNet": "networks",
}
_ROOMS = (
    "active",
    "calibration",
    "classification",
    "confidence",
    "data",
    "decorate",
    "ensembles",
    "errors",
    "graphs",
    "io",
    "learners",
    "metrics",
    "networks",
    "plotting",
    "priors",
    "problems",
    "relatedness",
    "reports",
    "scores",
    "search",
    "structures",
    "tasks",
    "trees",
    "validation",
)

__all__ = [*_NAMES, *_ROOMS, "__version__"]


def __getattr__(name):
    if name in _NAMES:
        return getattr(importlib.import_module(f"bnmtl.{_NAMES[name]}"), name)
    if name in _ROOMS:
        return importlib.import_module(f"bnmtl.{name}")
    raise AttributeError(f"module 'bnmtl' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
