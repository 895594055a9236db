"""Scores of all candidates of an ensemble by a metric, each as if it were added.

Predictions are whole numbers of 1 / SCALE, so the sum of the members is exact. Classes compute what
their `Judge` says of the mean of the members and one more model, up to rounding; `is_exact` means
that two equal scores are equal values of the judge. For metrics of the ranking, sums of predictions
and labels become keys of 32 bits, which are sorted or partitioned in each row. Ties are rare once
there are some members, so tied groups are counted only in the rows that need it.
"""

from itertools import pairwise

import numpy as np
from scipy.special import digamma

from bnmtl.ensembles.entries import SCALE
from bnmtl.ensembles.judges import Judge, MixedJudge


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

    def values_with(self, places):
        """What the judge says, without rounding of our own, of the members with each of some."""
        return np.array([self._judge.of(self.mean_with(at)) for at in places])

    def value(self):
        """What the judge says of the members."""
        return self._judge.of(self.total / (SCALE * self.n_members))

    def margin(self, score):
        """By how much equal scores of such a size may differ."""
        return 0.0 if self.is_exact else self.tolerance * max(1.0, abs(score))

    def leading(self, allowed):
        """`scores` of the allowed models that may be best, and -inf for others."""
        return np.where(allowed, self.scores(), -np.inf)

    def scores(self):
        """What the judge says with each model, larger is better: float array (n_models,)."""
        return self.values_with(range(len(self._models)))


_FEW = 32  # models whose sorted keys stay in the cache of a processor


class _Ranked(Additions):
    """Base of metrics of the ranking: keys are sums with the label as their last bit."""

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._n_positive = int(judge.y.sum())

    def scores(self):
        blocks = self._blocks(np.arange(len(self._models)))
        return np.concatenate([self._of_keys(keys) for keys in blocks])

    def _blocks(self, places):
        """Keys of the members' sums with each of some models, a few models at a time."""
        # 24 bits of a prediction, the bits of the number of members, and the label.
        fits = SCALE * (self.n_members + 1) * 2 <= 2**32
        kind = np.uint32 if fits else np.uint64
        members = (self.total.astype(kind) << kind(1)) | self._judge.y.astype(kind)
        for begin in range(0, len(places), _FEW):
            keys = self._models[places[begin : begin + _FEW]].astype(kind)
            keys <<= kind(1)
            keys += members
            yield keys


def _labels(keys):
    return keys & keys.dtype.type(1)


def _mixed_ties(keys):
    """Sorted rows in which a positive case and a negative one have equal sums."""
    # The last negative and the first positive of the tied cases differ only in their labels.
    return np.flatnonzero(((keys[:, 1:] ^ keys[:, :-1]) == 1).any(axis=1))


class RocArea(_Ranked):
    """By the sum of the ranks of the positive cases."""

    def _of_keys(self, keys):
        keys.sort(axis=1)
        n, positive = keys.shape[1], self._n_positive
        # Negative cases below each positive one. Among equal sums the negatives come first, so
        # every tied pair counts 1 and should count 1/2. These numbers are exact as floats.
        below = _labels(keys).astype(float) @ np.arange(float(n)) - positive * (positive - 1) // 2
        rows = _mixed_ties(keys)
        if rows.size:
            row_of, sizes, positives = _tied_groups(keys[rows])
            pairs = np.bincount(row_of, positives * (sizes - positives), len(rows))
            below[rows] -= pairs / 2
        return below / (float(n - positive) * positive)


def _precisions(keys, n_positive):
    """Precision at each positive case, from the lowest, in sorted rows without mixed ties."""
    n_rows, n_cases = keys.shape
    at = np.flatnonzero(_labels(keys).astype(bool)).reshape(n_rows, n_positive)
    ranks = n_cases * np.arange(1, n_rows + 1)[:, None] - at
    return np.arange(n_positive, 0, -1) / ranks


def _tied_groups(keys):
    """Row, size and number of positives of each group of equal sums in sorted rows, in order."""
    sums = keys >> keys.dtype.type(1)
    starts = np.ones(sums.shape, bool)
    starts[:, 1:] = sums[:, 1:] != sums[:, :-1]
    at = np.flatnonzero(starts)
    sizes = np.diff(np.append(at, sums.size))
    return at // sums.shape[1], sizes, np.add.reduceat(_labels(keys).ravel(), at, dtype=np.int64)


class AveragePrecision(_Ranked):
    """Ties count by their expected precision, as in the metric."""

    is_exact = False
    tolerance = 1e-11

    def __init__(self, judge, models):
        super().__init__(judge, models)
        self._digamma = digamma(np.arange(len(judge.y) + 1) + 1.0)

    def values_with(self, places):
        # Many candidates tie where a library ranks nearly perfectly, so the metric itself is
        # computed for all at once, by the same operations in the same order.
        found = []
        for keys in self._blocks(places):
            keys.sort(axis=1)
            row, gained = self._gained(keys[:, ::-1])
            ends = np.searchsorted(row, np.arange(len(keys) + 1))
            found += [gained[a:b].sum() for a, b in pairwise(ends)]
        return np.array(found) / self._n_positive

    def _of_keys(self, keys):
        keys.sort(axis=1)
        rows = _mixed_ties(keys)
        sums = _precisions(keys, self._n_positive).sum(axis=1)
        if rows.size:
            row, gained = self._gained(keys[rows, ::-1])
            sums[rows] = np.bincount(row, gained)
        return sums / self._n_positive

    def _gained(self, keys):
        """Row and term of each group of tied cases, from rows whose highest sums come first."""
        row, sizes, positives = _tied_groups(keys)
        n, m = sizes.astype(float), positives.astype(float)
        cases, found = np.cumsum(sizes) - sizes, np.cumsum(m) - m
        a, b = cases - row * keys.shape[1], found - row * self._n_positive
        harmonic = self._digamma[a + sizes] - self._digamma[a]
        spread = np.divide(n - (a + 1) * harmonic, n - 1, out=np.zeros(len(n)), where=n > 1)
        return row, m / n * ((b + 1) * harmonic + (m - 1) * spread)


class ElevenPointAveragePrecision(_Ranked):
    """Thresholds after a positive case are enough, since a negative one lowers the precision."""

    def __init__(self, judge, models):
        super().__init__(judge, models)
        # Places, from the lowest, of the positive cases that reach the recalls, as in the metric.
        recalls = np.arange(1, self._n_positive + 1) / self._n_positive
        first = np.searchsorted(recalls, np.linspace(0, 1, 11) - 1e-12)
        self._places = self._n_positive - 1 - first

    def _of_keys(self, keys):
        keys.sort(axis=1)
        rows = _mixed_ties(keys)
        precisions = _precisions(keys, self._n_positive)
        if rows.size:
            precisions[rows] = self._with_ties(keys[rows])
        best = np.maximum.accumulate(precisions, axis=1)
        return np.take(best, self._places, axis=1).mean(axis=1)

    def _with_ties(self, keys):
        """The precision, at each positive case, of all cases with at least its sum."""
        row, sizes, positives = _tied_groups(keys)
        below = np.cumsum(sizes) - sizes - row * keys.shape[1]
        missed = np.cumsum(positives) - positives - row * self._n_positive
        precisions = (self._n_positive - missed) / (keys.shape[1] - below)
        return np.repeat(precisions, positives).reshape(len(keys), self._n_positive)


class _TopShare(_Ranked):
    """Base of lift and break-even point: positives among the cases ranked highest."""

    def _captured(self, keys, mass):
        """Positives among the `mass` highest cases; a tied group at the cutoff counts in part."""
        n_cases = keys.shape[1]
        last = min(n_cases, max(1, int(np.ceil(mass))))  # rank of the last case that counts
        keys.partition(n_cases - last, axis=1)
        below, counted = keys[:, : n_cases - last], keys[:, n_cases - last :]
        result = _labels(counted).sum(axis=1, dtype=float)
        cutoff = counted[:, 0] >> keys.dtype.type(1)
        highest = below.max(axis=1, initial=0) >> keys.dtype.type(1)
        rows = np.flatnonzero((highest == cutoff) | (mass < last))
        if rows.size:
            result[rows] = _captured_in_part(keys[rows], cutoff[rows, None], mass)
        return result


def _captured_in_part(keys, cutoff, mass):
    """The same for rows in which the last case, and those that are tied with it, count in part.

    The operations are those of the metric, so that equal values are equal.
    """
    sums, labels = keys >> keys.dtype.type(1), _labels(keys).astype(bool)
    is_above, is_tied = sums > cutoff, sums == cutoff
    above, tied = is_above.sum(axis=1), is_tied.sum(axis=1)
    positives, among = (is_above & labels).sum(axis=1), (is_tied & labels).sum(axis=1)
    return positives + among / tied * (mass - above)


class Lift(_TopShare):
    """Lift at a quarter of the cases."""

    FRACTION = 0.25

    def _of_keys(self, keys):
        mass = self.FRACTION * keys.shape[1]
        return self._captured(keys, mass) / (self.FRACTION * self._n_positive)


class BreakEvenPoint(_TopShare):
    """Precision of as many cases as are positive."""

    def _of_keys(self, keys):
        return self._captured(keys, float(self._n_positive)) / self._n_positive


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
        if not self.n_members or len(self._models) <= _FIRST:
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
        self._by_judge = [additions_of(of_metric, models) for of_metric in judge.judges]
        self.tolerance = max(additions.tolerance for additions in self._by_judge)

    def add(self, at):
        super().add(at)
        for additions in self._by_judge:
            additions.add(at)

    def scores(self):
        return self._judge.mixed([additions.scores() for additions in self._by_judge])


_FAST = {
    "accuracy": _Accuracy,
    "f_score": _FScore,
    "lift": Lift,
    "roc_area": RocArea,
    "average_precision": AveragePrecision,
    "eleven_point_average_precision": ElevenPointAveragePrecision,
    "break_even_point": BreakEvenPoint,
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
