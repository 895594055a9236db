"""What a metric says of predictions for one part of a store: larger is better."""

from dataclasses import dataclass, replace

import numpy as np

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number, warn
from bnmtl.metrics import prediction as metrics
from bnmtl.metrics.prediction import baseline
from bnmtl.wording import type_of

LOSSES = ("root_mean_squared_error", "cross_entropy")
BINARY = (
    "accuracy",
    "f_score",
    "lift",
    "roc_area",
    "average_precision",
    "break_even_point",
    *LOSSES,
)
MULTICLASS = ("accuracy", *LOSSES)
# Other functions of `bnmtl.metrics.prediction` that are better if smaller.
_OTHER_LOSSES = (metrics.brier_score, metrics.calibration_error, metrics.squared_error)
_TITLES = {"f_score": "F-score", "roc_area": "ROC area", "cross_entropy": "cross-entropy"}


@dataclass(frozen=True)
class Judge:
    """One metric on the cases of one part.

    Parameters
    ----------
    name : str
    function : callable (y, p)
    sign : int
        -1 if smaller values of the function are better.
    y, weights : array of shape (n_cases,)
        Weights may be None.
    is_named : bool
        Whether the function is the metric of `bnmtl.metrics.prediction` with that name.
    """

    name: str
    function: object
    sign: int
    y: np.ndarray
    weights: np.ndarray | None = None
    is_named: bool = True

    def of(self, p):
        """Value for predictions (cases) or (cases, classes); larger is better."""
        weights = {} if self.weights is None else {"weights": self.weights}
        value = self.function(self.y, np.asarray(p, float), **weights)
        return self.sign * (float(value) if self.is_named else _finite(self.name, value))

    def natural(self, value):
        """A value in the units of the metric."""
        return self.sign * value

    def at(self, cases):
        """The judge of some of the cases."""
        weights = None if self.weights is None else self.weights[cases]
        return replace(self, y=self.y[cases], weights=weights)


def _finite(name, value):
    """The number that a function of the user returned."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        rule = "must be a function that returns one number"
        found = "{name} returned a {kind!s}"
        raise InputTypeError("metric", rule, found=found, name=name, kind=type_of(value)) from None
    if not np.isfinite(number):
        rule, found = "must be a function that returns finite numbers", "{name} returned {value}"
        raise InputError("metric", rule, found=found, name=name, value=number)
    return number


@dataclass(frozen=True)
class MixedJudge:
    """A weighted mean of normalized scores, of several metrics or on several tasks.

    Parameters
    ----------
    judges : tuple of Judge or MixedJudge
    shares : tuple of float
        Their weights, which sum to 1.
    scales : tuple of (float, float)
        Values of each judge that are normalized to 0 and to 1.
    cases : tuple of int array, default=None
        The cases of each judge, sorted; None means that each has all cases.
    """

    judges: tuple
    shares: tuple
    scales: tuple
    cases: tuple | None = None
    name: str = "normalized score"

    def of(self, p):
        """Value for predictions (cases) or (cases, classes)."""
        parts = zip(self.judges, self.split(p, axis=0), strict=True)
        return self.mixed([judge.of(part) for judge, part in parts])

    def split(self, array, axis):
        """The cases of each judge from an array with an axis of cases."""
        if self.cases is None:
            return [array] * len(self.judges)
        return [np.take(array, cases, axis) for cases in self.cases]

    def mixed(self, values):
        """The weighted mean of the normalized values of all judges."""
        parts = zip(self.shares, self.scales, values, strict=True)
        return sum(share * (value - base) / (best - base) for share, (base, best), value in parts)

    def at(self, cases):
        """The judge of some of the cases, sorted, with the same scales."""
        if self.cases is None:
            return replace(self, judges=tuple(judge.at(cases) for judge in self.judges))
        inside = [np.flatnonzero(np.isin(cases, one)) for one in self.cases]
        judges = [
            judge.at(np.searchsorted(one, cases[at]))
            for judge, one, at in zip(self.judges, self.cases, inside, strict=True)
        ]
        return replace(self, judges=tuple(judges), cases=tuple(inside))

    def natural(self, value):
        """The value itself."""
        return value


def judge_of(metric, store, part="hillclimb"):
    """The judge of a metric on a part of a store.

    Parameters
    ----------
    metric : str, callable or mapping of str to float
        As in `EnsembleSelector`.
    store : PredictionStore
    part : str or Part, default="hillclimb"
        The cases; a `Part` with labels need not be in the store.

    Returns
    -------
    Judge or MixedJudge
    """
    cases = store.part(part, labels=True) if isinstance(part, str) else part
    if isinstance(metric, dict):
        return _mixed(metric, store, part)
    names = BINARY if store.is_binary else MULTICLASS
    known = {getattr(metrics, name): name for name in BINARY}
    if callable(metric) and metric not in known:
        if cases.weights is not None:
            rule = "must be the name of a metric where cases have weights"
            raise InputError("metric", rule, found="a function takes none", remedies=_list(names))
        name = getattr(metric, "__name__", "metric")
        sign = -1 if metric in _OTHER_LOSSES else 1
        return Judge(name, metric, sign, cases.y, is_named=False)
    if not callable(metric) and not isinstance(metric, str):
        rule = "must be the name of a metric, a function (y, p) or a dictionary of weights"
        raise InputTypeError("metric", rule, type_of(metric))
    name = known[metric] if callable(metric) else metric.replace("-", "_")
    remedies = () if store.is_binary else "these are the metrics of more than two classes"
    check_choice("metric", name, names, remedies=remedies)
    sign = -1 if name in LOSSES else 1
    return Judge(name, getattr(metrics, name), sign, cases.y, cases.weights)


def title_of(judge):
    """The name of the metric of a judge as people write it."""
    return _TITLES.get(judge.name, judge.name.replace("_", " "))


def _list(names):
    return f"one of {', '.join(names)}"


def _mixed(metric, store, part):
    """The judge of several metrics, without those on which no model beats the base rate."""
    if not metric:
        raise InputError("metric", "must name at least one metric with its weight", metric)
    for name, weight in metric.items():
        check_number(f"metric[{name!r}]", weight, above=0)
    judges, weights, scales = [], [], []
    for name, weight in metric.items():
        first = judge_of(name, store)
        base, best = scale_of(first, store.predictions(), len(store.classes))
        if not best > base:
            rule = "No model beats the base rate on {name!s}, which is left out"
            warn(rule=rule, name=first.name)
            continue
        judges.append(judge_of(name, store, part))
        weights.append(weight)
        scales.append((base, best))
    if not judges:
        rule = "must have a metric on which a model beats the base rate"
        raise InputError("metric", rule, list(metric))
    shares = tuple(weight / sum(weights) for weight in weights)
    return MixedJudge(tuple(judges), shares, tuple(scales))


def scale_of(judge, predictions, n_classes):
    """What a judge says of the base rate and of the best of some predictions, one per model."""
    return _baseline(judge, n_classes), max(judge.of(p) for p in predictions)


def _baseline(judge, n_classes):
    """What a judge says if the frequencies of the classes are predicted for every case."""
    frequencies = np.bincount(judge.y, weights=judge.weights, minlength=n_classes)
    frequencies = frequencies / frequencies.sum()
    if n_classes == 2 and judge.is_named:
        return judge.natural(baseline(judge.name, float(frequencies[1])))
    constant = frequencies[1] if n_classes == 2 else frequencies
    return judge.of(np.broadcast_to(constant, (len(judge.y), *np.shape(constant))))
