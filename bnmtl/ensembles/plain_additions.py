"""Scores of all candidates of an ensemble by the metric itself; faster ways are derived from it."""

import numpy as np

from bnmtl.ensembles.entries import SCALE


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
