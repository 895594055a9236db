"""The coupling of one pair of variables: log prior of the joint states of the tasks."""

import math
import numbers

import numpy as np

from bnmtl._kernels import coupling as kernels
from bnmtl.errors import InputError
from bnmtl.wording import type_of


class _RowByRow:
    """Couplings that evaluate joint states one at a time."""

    def log_couplings(self, states):
        """Log coupling of each row of an int8 array of states."""
        return np.array([self.log_coupling(row) for row in states])


class PairedCoupling:
    """Paired coupling of one pair of variables, one penalty for all pairs of tasks."""

    def __init__(self, log_penalty, reversal):
        self.log_penalty = log_penalty
        self.reversal = reversal

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        minus = int(np.count_nonzero(states == -1))
        plus = int(np.count_nonzero(states == 1))
        distance = (minus + plus) * (len(states) - minus - plus) + self.reversal * minus * plus
        return self.log_penalty * distance if distance else 0.0

    def log_couplings(self, states):
        """Log coupling of each row of an int8 array of states."""
        minus, plus = (states == -1).sum(axis=1), (states == 1).sum(axis=1)
        distance = (minus + plus) * (states.shape[1] - minus - plus) + self.reversal * minus * plus
        return _priced(self.log_penalty, distance)

    def weights(self, k):
        """The log penalty of every pair of tasks, as a (k, k) array."""
        return np.full((k, k), self.log_penalty)


class WeightedPairedCoupling(_RowByRow):
    """Paired coupling of one pair of variables with a log penalty for each pair of tasks."""

    def __init__(self, log_penalties, reversal):
        self.log_penalties = log_penalties
        self.reversal = reversal

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        return kernels.weighted_log_coupling(states, self.log_penalties, self.reversal)

    def weights(self, k):
        """The log penalty of every pair of tasks, as a (k, k) array."""
        return self.log_penalties


class EditCoupling:
    """Edit coupling of one pair of variables."""

    def __init__(self, log_penalty, costs):
        self.log_penalty = log_penalty
        self.costs = costs

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        edits = float(self.costs[np.asarray(states, np.int64) + 1].sum(axis=0).min())
        return self.log_penalty * edits if edits else 0.0

    def log_couplings(self, states):
        """Log coupling of each row of an int8 array of states."""
        edits = self.costs[np.asarray(states, np.int64) + 1].sum(axis=1).min(axis=1)
        return _priced(self.log_penalty, edits)


class CustomCoupling(_RowByRow):
    """A custom coupling of one pair of variables, with its values checked."""

    def __init__(self, prior, pair, tasks):
        self._prior = prior
        self._pair = pair
        self._tasks = tasks

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        given = self._prior.log_coupling(states, pair=self._pair, tasks=self._tasks)
        value = float(given) if isinstance(given, numbers.Real) else math.nan
        if not value <= 0:
            rule = "must return at most 0 from `log_coupling`"
            found = "{kind} returns {value!r} for the states {states!s}"
            parts = {"kind": type_of(self._prior), "value": given, "states": states.tolist()}
            raise InputError("prior", rule, found=found, **parts)
        return value

    def bound(self, states, n_tasks):
        """Upper bound of the coupling for any completion of the states of the first tasks."""
        if hasattr(self._prior, "bound"):
            return float(self._prior.bound(states, n_tasks))
        return 0.0


def _priced(log_penalty, amounts):
    """log_penalty * amounts, with 0 for an amount of 0 even if the penalty is -inf."""
    return np.multiply(log_penalty, amounts, out=np.zeros(len(amounts)), where=amounts != 0)
