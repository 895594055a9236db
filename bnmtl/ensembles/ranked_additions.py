"""Scores of all candidates of an ensemble by the metrics of the ranking.

Sums of predictions and labels become keys of 32 bits, which are sorted or partitioned in each row.
Ties are rare once there are some members, so tied groups are counted only in the rows that need it.
"""

from itertools import pairwise

import numpy as np
from scipy.special import digamma

from bnmtl.ensembles.entries import SCALE
from bnmtl.ensembles.plain_additions import Additions

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
            below[rows] -= _tied_pairs(keys[rows]) / 2
        return below / (float(n - positive) * positive)


def _tied_pairs(keys):
    """Pairs of a positive and a negative case with equal sums, in each sorted row."""
    row_of, sizes, positives = _groups(keys)
    return np.bincount(row_of, positives * (sizes - positives), len(keys))


def _precisions(keys, n_positive):
    """Precision at each positive case, from the lowest, in sorted rows without mixed ties."""
    n_rows, n_cases = keys.shape
    at = np.flatnonzero(_labels(keys).astype(bool)).reshape(n_rows, n_positive)
    ranks = n_cases * np.arange(1, n_rows + 1)[:, None] - at
    return np.arange(n_positive, 0, -1) / ranks


def _groups(keys):
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
        row, sizes, positives = _groups(keys)
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
        row, sizes, positives = _groups(keys)
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
