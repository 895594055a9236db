"""Judges of ensembles: a metric applied to stored cases, and folds of these cases."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from bnmtl.errors import InputError, InputTypeError, check_number, warn
from bnmtl.metrics.prediction import baseline
from bnmtl.metrics.scoring import metric_of, names_for
from bnmtl.wording import type_of


def stratified_folds(argument, y, n_folds, seed, remedy, classes=None, groups=None):
    """Positions of the other cases and of the cases of each fold.

    Parameters
    ----------
    argument : str
        What holds the cases, for the error.
    y : int array of shape (n_cases,)
        The class of each case.
    n_folds : int
        Fewer if a class has fewer cases or groups.
    seed : int
    remedy : str
        What to do without folds, for the error.
    classes : array of shape (n_classes,), default=None
        Their labels, for the error.
    groups : array of shape (n_cases,), default=None
        Cases of a group are in the same fold.

    Returns
    -------
    list of (int array, int array)

    Raises
    ------
    ValueError
        If a class has only one case, or there are no two folds with all classes and whole groups.
    """
    codes, counts = np.unique(y, return_counts=True)
    smallest = int(counts.min())
    if smallest < 2:
        rarest = "a class"
        if classes is not None:
            rarest = repr(classes.tolist()[codes[counts.argmin()]])
        message = f"must have two cases of each class or more for folds; {rarest} has one"
        raise InputError(message, argument=argument, remedy=remedy)
    options = {"shuffle": True, "random_state": seed % 2**32}
    if groups is None:
        return list(StratifiedKFold(min(n_folds, smallest), **options).split(y, y))
    for number in range(min(n_folds, smallest, len(np.unique(groups))), 1, -1):
        folds = list(StratifiedGroupKFold(number, **options).split(y, y, groups))
        if all(len(np.unique(y[fold])) == len(codes) for _, fold in folds):
            return folds
    message = "must have cases of each class in two groups or more for folds; there is none"
    raise InputError(message, argument=argument, remedy=remedy)


LOSSES = ("root_mean_squared_error", "cross_entropy")
BINARY = (
    "accuracy",
    "f_score",
    "lift",
    "roc_area",
    "average_precision",
    "eleven_point_average_precision",
    "break_even_point",
    *LOSSES,
)
_TITLES = {
    "f_score": "F-score",
    "roc_area": "ROC area",
    "eleven_point_average_precision": "eleven-point average precision",
    "cross_entropy": "cross-entropy",
}


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
    known : str, default=None
        The metric of `bnmtl.metrics.prediction` that has the same values, up to their sign, if it
        is one of which scores of ensembles are fast.
    weights_name : str, default="weights"
        The argument of the function for weights.
    """

    name: str
    function: object
    sign: int
    y: np.ndarray
    weights: np.ndarray | None = None
    known: str | None = None
    weights_name: str = "weights"

    def of(self, p):
        """Value for predictions (cases) or (cases, classes); larger is better."""
        weights = {} if self.weights is None else {self.weights_name: self.weights}
        value = self.function(self.y, np.asarray(p, float), **weights)
        return self.sign * (float(value) if self.known else _finite(self.name, value))

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
        message = (
            f"must be a function that returns one number; `{name}` returned a {type_of(value)}"
        )
        raise InputTypeError(message, argument="metric") from None
    if not np.isfinite(number):
        message = f"must be a function that returns finite numbers; `{name}` returned {number}"
        raise InputError(message, argument="metric")
    return number


@dataclass(frozen=True)
class MixedJudge:
    """A weighted mean of normalized scores by several metrics.

    Parameters
    ----------
    judges : tuple of Judge
    shares : tuple of float
        Their weights, which sum to 1.
    scales : tuple of (float, float)
        Values of each judge that are normalized to 0 and to 1.
    """

    judges: tuple
    shares: tuple
    scales: tuple
    name: str = "normalized score"

    def of(self, p):
        """Value for predictions (cases) or (cases, classes)."""
        return self.mixed([judge.of(p) for judge in self.judges])

    def mixed(self, values):
        """The weighted mean of the normalized values of all judges."""
        parts = zip(self.shares, self.scales, values, strict=True)
        return sum(share * (value - base) / (best - base) for share, (base, best), value in parts)

    def at(self, cases):
        """The judge of some of the cases, with the same scales."""
        return replace(self, judges=tuple(judge.at(cases) for judge in self.judges))

    def natural(self, value):
        """The value itself."""
        return value


def judge_of(metric, store, part="hillclimb", greater_is_better=None, needs_direction=True):
    """The judge of a metric on a part of a store.

    Parameters
    ----------
    metric : str, callable or mapping of str or callable to float
        As in `EnsembleSelector`.
    store : PredictionStore
    part : str or Part, default="hillclimb"
        The cases; a `Part` with labels need not be in the store.
    greater_is_better : bool, default=None
        As in `EnsembleSelector`.
    needs_direction : bool, default=True
        Whether a function of the user needs a direction; without one, larger is better.

    Returns
    -------
    Judge or MixedJudge
    """
    cases = store.part(part, labels=True) if isinstance(part, str) else part
    if isinstance(metric, dict):
        if greater_is_better is not None:
            message = f"must be None for several metrics, got {greater_is_better!r}"
            remedy = "a scorer has its own direction"
            raise InputError(message, argument="greater_is_better", remedy=remedy)
        return _mixed(metric, store, part)
    found = metric_of(metric, store.classes, greater_is_better, needs_direction)
    if cases.weights is not None and found.weights is None:
        message = "must be the name of a metric where cases have weights; a function takes none"
        remedy = f"one of {', '.join(names_for(len(store.classes)))}"
        raise InputError(message, argument="metric", remedy=remedy)
    sign = -1 if found.is_smaller_better else 1
    known = found.known if found.known in (*BINARY, "brier_score") else None
    options = known, found.weights or "weights"
    return Judge(found.name, found.function, sign, cases.y, cases.weights, *options)


def title_of(judge):
    """The name of the metric of a judge as people write it."""
    return _TITLES.get(judge.name, judge.name.replace("_", " "))


def _mixed(metric, store, part):
    """The judge of several metrics, without those on which no model beats the base rate."""
    if not metric:
        message = f"must name at least one metric with its weight, got {metric!r}"
        raise InputError(message, argument="metric")
    for name, weight in metric.items():
        check_number(f"metric[{getattr(name, '__name__', name)!r}]", weight, above=0)
    judges, weights, scales = [], [], []
    for name, weight in metric.items():
        first = judge_of(name, store)
        base = _baseline(first, len(store.classes))
        best = max(first.of(p) for p in store.predictions())
        if not best > base:
            warn(f"No model beats the base rate on {first.name}, which is left out")
            continue
        judges.append(judge_of(name, store, part))
        weights.append(weight)
        scales.append((base, best))
    if not judges:
        message = f"must have a metric on which a model beats the base rate, got {list(metric)!r}"
        raise InputError(message, argument="metric")
    shares = tuple(weight / sum(weights) for weight in weights)
    return MixedJudge(tuple(judges), shares, tuple(scales))


def _baseline(judge, n_classes):
    """What a judge says if the frequencies of the classes are predicted for every case."""
    frequencies = np.bincount(judge.y, weights=judge.weights, minlength=n_classes)
    frequencies = frequencies / frequencies.sum()
    if n_classes == 2 and judge.known in BINARY:
        value = baseline(judge.known, float(frequencies[1]))
        return -value if judge.known in LOSSES else value
    constant = frequencies[1] if n_classes == 2 else frequencies
    return judge.of(np.broadcast_to(constant, (len(judge.y), *np.shape(constant))))
