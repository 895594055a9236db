"""How good an ensemble becomes when each model of a library joins it, for all models at once.

Predictions are whole numbers of 1 / SCALE, so the sum of the members is exact. Classes here compute
what their `Judge` says of the mean of the members and one more model, up to rounding; `is_exact`
means that two equal scores are equal values of the judge.
"""

import numpy as np

from bnmtl.ensembles.entries import SCALE
from bnmtl.ensembles.judges import Judge, MixedJudge

_BLOCK = 128  # models whose temporaries stay in the cache of a processor
_LARGEST = 1000.0  # bits of a product of probabilities, below the limit of float64


class Additions:
    """Scores by the judge itself, one model after the other.

    Parameters
    ----------
    judge : Judge or MixedJudge
    models : int32 array of shape (n_models, n_cases) or (n_models, n_cases, n_classes)
        Predictions times SCALE.
    """

    is_exact = True
    tolerance = 1e-12

    def __init__(self, judge, models):
        self._judge, self._models = judge, models
        self.total, self.n_members = np.zeros(models.shape[1:], np.int64), 0

    def add(self, at):
        """Let a model join."""
        self.total += self._models[at]
        self.n_members += 1

    def mean_with(self, at):
        """The mean prediction of the members and one more model."""
        return (self.total + self._models[at]) / (SCALE * (self.n_members + 1))

    def value_with(self, at):
        """What the judge says of it."""
        return self._judge.of(self.mean_with(at))

    def value(self):
        """What the judge says of the members."""
        return self._judge.of(self.total / (SCALE * self.n_members))

    def scores(self):
        """What the judge says with each model, larger is better: float array (n_models,)."""
        return np.array([self.value_with(at) for at in range(len(self._models))])


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


def residual_products(judge, models):
    """Inner products of all pairs of models' differences between predictions and labels."""
    truth = judge.y if models.ndim == 2 else np.eye(models.shape[2])[judge.y]
    residuals = (models / SCALE - truth).reshape(len(models), -1)
    return residuals @ residuals.T


class _CrossEntropy(Additions):
    """By products of the probabilities of the true classes: a logarithm of many at once."""

    is_exact = False
    tolerance = 1e-11

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._happened = happened(models, judge.y).T.astype(np.float32)  # exact below 2**24

    def scores(self):
        n_cases, n_models = self._happened.shape
        members = happened(self.total[None], self._judge.y, self.n_members)[0]
        factors = max(1, int(_LARGEST / np.log2(SCALE * (self.n_members + 1.0))))
        result = np.empty(n_models)
        for begin in range(0, n_models, _BLOCK):
            block = slice(begin, begin + _BLOCK)
            sums = self._happened[:, block] + members[:, None].astype(float)
            result[block] = _logs_of_products(sums, factors)
        return result / n_cases - np.log(SCALE * (self.n_members + 1.0))


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


class _Ranked(Additions):
    """Base of metrics of the whole ranking: sums are sorted with the label as their last bit."""

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._n_positive = int(judge.y.sum())

    def scores(self):
        # 24 bits of a prediction, the bits of the number of members, and the label.
        fits = SCALE * (self.n_members + 1) * 2 <= 2**32
        kind = np.uint32 if fits else np.uint64
        total, label = self.total.astype(kind), self._judge.y.astype(kind)
        result = np.empty(len(self._models))
        for begin in range(0, len(result), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            keys = ((self._models[block].astype(kind) + total) << kind(1)) | label
            keys.sort(axis=1)
            result[block] = self._of_sorted(keys)
        return result


class _RocArea(_Ranked):
    def _of_sorted(self, keys):
        labels = (keys & keys.dtype.type(1)).astype(np.int64)
        n, positive = keys.shape[1], self._n_positive
        # Negative cases below each positive one. Among equal sums the negatives come first, so
        # every tied pair counts 1 and should count 1/2.
        below = labels @ np.arange(n) - positive * (positive - 1) // 2
        twice = 2 * below - _tied_pairs(keys >> keys.dtype.type(1), labels)
        return (twice / 2) / (float(n - positive) * positive)


def _tied_pairs(sums, labels):
    """Pairs of a positive and a negative case with equal sums, in each sorted row."""
    pairs = np.zeros(len(sums), np.int64)
    rows = np.flatnonzero((sums[:, 1:] == sums[:, :-1]).any(axis=1))
    if rows.size:
        row_of, sizes, positives = _groups(sums[rows], labels[rows])
        np.add.at(pairs, rows[row_of], positives * (sizes - positives))
    return pairs


def _groups(sums, labels):
    """Row, size and number of positives of each group of equal sums in sorted rows, in order."""
    starts = np.ones(sums.shape, bool)
    starts[:, 1:] = sums[:, 1:] != sums[:, :-1]
    at = np.flatnonzero(starts)
    sizes = np.diff(np.append(at, sums.size))
    return at // sums.shape[1], sizes, np.add.reduceat(labels.ravel(), at)


class _AveragePrecision(_Ranked):
    """Ties count by their expected precision, as in the metric."""

    is_exact = False
    tolerance = 1e-11

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, len(judge.y) + 1))])

    def _of_sorted(self, keys):
        keys = keys[:, ::-1]
        sums, labels = keys >> keys.dtype.type(1), (keys & keys.dtype.type(1)).astype(np.int64)
        row, n, m = _groups(sums, labels)
        cases, positives = np.cumsum(n) - n, np.cumsum(m) - m
        a, b = cases - row * keys.shape[1], positives - row * self._n_positive
        harmonic = self._harmonic[a + n] - self._harmonic[a]
        spread = np.divide(n - (a + 1) * harmonic, n - 1, out=np.zeros(len(n)), where=n > 1)
        gained = m / n * ((b + 1) * harmonic + (m - 1) * spread)
        return np.bincount(row, gained, len(keys)) / self._n_positive


class _TopShare(Additions):
    """Base of lift and break-even point: positives among a number of cases ranked highest."""

    is_exact = False
    tolerance = 1e-11

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._is_positive = judge.y == 1

    def _captured(self, mass):
        """Positives among the `mass` highest cases; a tied group at the cutoff counts in part."""
        n_cases = self._models.shape[1]
        last = min(n_cases, max(1, int(np.ceil(mass))))  # rank of the last case that counts
        result = np.empty(len(self._models))
        for begin in range(0, len(result), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            sums = self._models[block] + self.total
            cutoff = np.partition(sums, n_cases - last, axis=1)[:, n_cases - last, None]
            above, tied = sums > cutoff, sums == cutoff
            share = (mass - above.sum(axis=1)) / tied.sum(axis=1)
            positives, among = (cases[:, self._is_positive].sum(axis=1) for cases in (above, tied))
            result[block] = positives + share * among
        return result


class _Lift(_TopShare):
    FRACTION = 0.25

    def scores(self):
        mass, positive = self.FRACTION * len(self._is_positive), self._is_positive.sum()
        return self._captured(mass) / (self.FRACTION * positive)


class _BreakEvenPoint(_TopShare):
    def scores(self):
        positive = float(self._is_positive.sum())
        return self._captured(positive) / positive


class _Mixed(Additions):
    """Scores by several metrics, or on several tasks."""

    is_exact = False

    def __init__(self, judge, models):
        super().__init__(judge, models)
        parts = zip(judge.judges, judge.split(models, axis=1), strict=True)
        self._each = [additions_of(one, part) for one, part in parts]
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
    "lift": _Lift,
    "roc_area": _RocArea,
    "average_precision": _AveragePrecision,
    "break_even_point": _BreakEvenPoint,
}


def uses_products(judge):
    """Whether scores of a judge need `residual_products`."""
    is_plain = isinstance(judge, Judge) and judge.is_named and judge.weights is None
    return is_plain and judge.name == "root_mean_squared_error"


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
    if not judge.is_named or judge.weights is not None:
        return Additions(judge, models)
    if uses_products(judge):
        return _SquaredError(judge, models, products)
    if judge.name == "cross_entropy":
        return _CrossEntropy(judge, models)
    return _FAST[judge.name](judge, models) if models.ndim == 2 else Additions(judge, models)
