"""How good an ensemble becomes when each model of a library joins it, for all models at once.

Predictions are whole numbers of 1 / SCALE, so the sum of the members is exact. Classes compute what
their `Judge` says of the mean of the members and one more model, up to rounding; `is_exact` means
that two equal scores are equal values of the judge. Metrics of the ranking are in
`ranked_additions.py`.
"""

import numpy as np

from bnmtl.ensembles import ranked_additions
from bnmtl.ensembles.entries import SCALE
from bnmtl.ensembles.judges import Judge, MixedJudge
from bnmtl.ensembles.plain_additions import Additions

_BLOCK = 128  # models whose temporaries stay in the cache of a processor
_FIRST = 32  # models whose scores are computed before bounds exclude others
_CASES = 1024  # numbers that are added with rounding errors of float32
_LARGEST = 1000.0  # bits of a product of probabilities, below the limit of float64


class _Thresholded(Additions):
    """Base of accuracy and F-score, from the cases that one more model can move over 1/2."""

    def __init__(self, judge, models):
        super().__init__(judge, models)
        # A row per case, so that the cases looked at are whole rows.
        self._by_case = np.ascontiguousarray(models.T)
        self._n_positive = int(judge.y.sum())

    def _called(self):
        """Numbers of positive and of negative cases that are predicted positive, by model."""
        # A prediction is positive from this value of the new model on.
        needed = (self.n_members + 1) * (SCALE // 2) - self.total
        open_ = (needed > 1) & (needed < SCALE)
        counts = []
        for label in (1, 0):
            of_class = self._judge.y == label
            at = np.flatnonzero(open_ & of_class)
            always = np.count_nonzero((needed <= 1) & of_class)
            counts.append(always + (self._by_case[at] >= needed[at, None]).sum(axis=0))
        return counts


class _Accuracy(_Thresholded):
    def scores(self):
        right, wrong = self._called()
        n = len(self._judge.y)
        return (right + (n - self._n_positive - wrong)) / n


class _FScore(_Thresholded):
    def scores(self):
        right, wrong = self._called()
        either = right + wrong + self._n_positive
        return np.divide(2 * right, either, out=np.ones(len(right)), where=either > 0)


class _SquaredError(Additions):
    """By the inner products of the models' residuals, which are computed once."""

    is_exact = False
    tolerance = 1e-9

    def __init__(self, judge, models, products=None):
        super().__init__(judge, models)
        self._products = residual_products(judge, models) if products is None else products
        self._squares = self._products.diagonal()
        self._with_members, self._of_members = np.zeros(len(models)), 0.0

    def add(self, at):
        super().add(at)
        self._of_members += 2 * self._with_members[at] + self._squares[at]
        self._with_members = self._with_members + self._products[at]

    def scores(self):
        sums = self._of_members + 2 * self._with_members + self._squares
        return -np.sqrt(np.maximum(sums, 0) / len(self._judge.y)) / (self.n_members + 1)


class _BrierScore(_SquaredError):
    def scores(self):
        return -(super().scores() ** 2)


def residual_products(judge, models):
    """Inner products of all pairs of models' differences between predictions and labels."""
    truth = judge.y if models.ndim == 2 else np.eye(models.shape[2])[judge.y]
    residuals = (models / SCALE - truth).reshape(len(models), -1)
    return residuals @ residuals.T


class _CrossEntropy(Additions):
    """By products of the probabilities of the true classes: a logarithm of many at once.

    Most models need no logarithm, because a bound shows that they are not the best.
    """

    is_exact = False
    tolerance = 1e-11

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._happened = happened(models, judge.y).T.astype(np.float32)  # exact below 2**24

    def scores(self):
        return self._scores_of(np.arange(len(self._models)))

    def leading(self, allowed):
        if not self.n_members:
            return super().leading(allowed)
        bounds = np.where(allowed, self._bounds(), -np.inf)
        result = np.full(len(bounds), -np.inf)
        first = np.argsort(bounds)[-_FIRST:]
        first = first[allowed[first]]
        result[first] = self._scores_of(first)
        bounds[first] = -np.inf
        rest = np.flatnonzero(bounds >= result.max() - self.margin(result.max()))
        result[rest] = self._scores_of(rest)
        return result

    def _members(self):
        """Sums of the members' probabilities of the true classes."""
        return happened(self.total[None], self._judge.y, self.n_members)[0].astype(float)

    def _scores_of(self, places):
        """The scores with some of the models, sorted or not."""
        n_cases, members = len(self._happened), self._members()[:, None]
        factors = max(1, int(_LARGEST / np.log2(SCALE * (self.n_members + 1.0))))
        result = np.empty(len(places))
        for begin in range(0, len(places), _BLOCK):
            block = places[begin : begin + _BLOCK]
            sums = self._happened[:, block] + members
            result[begin : begin + _BLOCK] = _logs_of_products(sums, factors)
        return result / n_cases - np.log(SCALE * (self.n_members + 1.0))

    def _bounds(self):
        """Values that the scores do not exceed.

        The logarithm is below its tangent at the mean of the n members, whose sum is s:
        log(s + p) <= log(s (n + 1) / n) + (n p / s - 1) / (n + 1).
        """
        n, members = self.n_members, self._members()
        inverse = (1 / members).astype(np.float32)
        shares = np.zeros(len(self._models))
        for begin in range(0, len(members), _CASES):
            cases = slice(begin, begin + _CASES)
            shares += inverse[cases] @ self._happened[cases]
        # All terms are positive, so rounding is below this share of the sums.
        shares *= 1 + 2.0**-23 * _CASES
        constant = np.log(members / n).mean() - np.log(SCALE)
        return constant + (n * shares / len(members) - 1) / (n + 1)


def _logs_of_products(numbers, factors):
    """Sum of the logarithms of each column of positive numbers."""
    whole = len(numbers) // factors * factors
    grouped = numbers[:whole].reshape(-1, factors, numbers.shape[1])
    logs = np.log(np.multiply.reduce(grouped, axis=1)).sum(axis=0)
    return logs + np.log(np.multiply.reduce(numbers[whole:], axis=0))


def happened(sums, y, n_members=1):
    """The part of each sum of predictions that went to the true class."""
    if sums.ndim == 3:
        return sums[:, np.arange(len(y)), y]
    return np.where(y == 1, sums, n_members * SCALE - sums)


class _Mixed(Additions):
    """Scores by several metrics."""

    is_exact = False

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._each = [additions_of(one, models) for one in judge.judges]
        self.tolerance = max(one.tolerance for one in self._each)

    def add(self, at):
        super().add(at)
        for one in self._each:
            one.add(at)

    def scores(self):
        return self._judge.mixed([one.scores() for one in self._each])


_FAST = {
    "accuracy": _Accuracy,
    "f_score": _FScore,
    "lift": ranked_additions.Lift,
    "roc_area": ranked_additions.RocArea,
    "average_precision": ranked_additions.AveragePrecision,
    "eleven_point_average_precision": ranked_additions.ElevenPointAveragePrecision,
    "break_even_point": ranked_additions.BreakEvenPoint,
}


def uses_products(judge):
    """Whether scores of a judge need `residual_products`."""
    is_plain = isinstance(judge, Judge) and judge.weights is None
    return is_plain and judge.known in ("root_mean_squared_error", "brier_score")


def additions_of(judge, models, products=None):
    """The fastest way to compute the scores of a judge.

    Parameters
    ----------
    judge : Judge or MixedJudge
    models : int32 array of shape (n_models, n_cases) or (n_models, n_cases, n_classes)
        Predictions times SCALE.
    products : float array of shape (n_models, n_models), default=None
        Their `residual_products`, if known.

    Returns
    -------
    Additions
    """
    if isinstance(judge, MixedJudge):
        return _Mixed(judge, models)
    if judge.known is None or judge.weights is not None:
        return Additions(judge, models)
    if uses_products(judge):
        is_root = judge.known == "root_mean_squared_error"
        return (_SquaredError if is_root else _BrierScore)(judge, models, products)
    if judge.known == "cross_entropy":
        return _CrossEntropy(judge, models)
    return _FAST[judge.known](judge, models) if models.ndim == 2 else Additions(judge, models)
