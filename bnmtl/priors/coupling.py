"""Priors over configurations: how much the structures of several tasks should agree."""

import itertools
import math
import numbers

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from bnmtl._kernels import coupling as kernels


class CouplingPrior(BaseEstimator):
    """What the Edit and the Paired prior share: penalties, and the sum over pairs of variables."""

    def log_coupling(self, states, pair=None, tasks=None):
        """Log of the coupling of one pair of variables, at most 0.

        Parameters
        ----------
        states : array-like of int of shape (k,)
            State of the pair in each task that has both variables: 0 no arc, +1 and -1 the two
            directions; with ``pair=(a, b)``, +1 is a -> b.
        pair : tuple (a, b) of str, default=None
            Leaving it out is an error where the penalty depends on the variables.
        tasks : sequence of str of shape (k,), default=None
            Leaving it out is an error where the penalty depends on the tasks.

        Returns
        -------
        float
            0 where all agree, -inf where a penalty of 1 is violated.

        Examples
        --------
        >>> from bnmtl import EditPrior
        >>> round(EditPrior(penalty=0.9).log_coupling([1, 1, 0]), 4)
        -2.3026
        """
        states = _checked_states(states)
        return self.coupling(len(states), pair, tasks).log_coupling(states)

    def log_prior(self, configuration):
        """Log coupling of a whole configuration, summed over all pairs of variables.

        Parameters
        ----------
        configuration : mapping task -> networkx.DiGraph

        Returns
        -------
        float
            Without the normalizing constant and without the tasks' own structure priors.

        Examples
        --------
        >>> import networkx as nx
        >>> from bnmtl import PairedPrior
        >>> north, south = nx.DiGraph([("rain", "wet")]), nx.DiGraph([("wet", "rain")])
        >>> round(PairedPrior(penalty=0.9).log_prior({"north": north, "south": south}), 4)
        -4.6052
        """
        pairs = {tuple(sorted(arc)) for graph in configuration.values() for arc in graph.edges}
        total = 0.0
        for a, b in sorted(pairs):
            tasks = [t for t, graph in configuration.items() if a in graph and b in graph]
            graphs = [configuration[task] for task in tasks]
            states = np.array([g.has_edge(a, b) - g.has_edge(b, a) for g in graphs], np.int8)
            total += self.coupling(len(tasks), (a, b), tasks).log_coupling(states)
        return total

    def is_independent(self):
        """Whether every penalty is 0, so that the tasks are learned apart."""
        self.check()
        return all(penalty == 0 for penalty in self._penalties())

    def structure_weights(self, pair, tasks):
        """Exponents w_s of the tasks' own structure priors for one pair (equations 2.6 - 2.8).

        w_s = 1 / (1 + sum of delta_st over the other tasks that have the pair).
        """
        k = len(tasks)
        deltas = self._deltas(k, pair, tasks)
        if isinstance(deltas, float):
            return np.full(k, 1 / (1 + (k - 1) * deltas))
        return 1 / (1 + deltas.sum(axis=1))

    def pair_penalties(self):
        """The penalties listed for pairs of variables, by unordered pair."""
        return _symmetric(self.variable_penalty)

    def _penalties(self):
        listed = [self.variable_penalty, getattr(self, "task_penalty", None)]
        return [self.penalty, *itertools.chain(*(_symmetric(one).values() for one in listed))]

    def check(self):
        """Raise ValueError for parameters out of range."""
        for penalty in self._penalties():
            if not isinstance(penalty, numbers.Real) or not 0 <= penalty <= 1:
                raise ValueError(
                    f"`penalty` must be between 0 (independent) and 1 (identical structures), "
                    f"got {penalty!r}."
                )
        if self.reversal not in (1, 2):
            raise ValueError(f"`reversal` must be 1 or 2, got {self.reversal!r}.")

    def _delta_of_pair(self, pair):
        """Penalty of one pair of variables, None where nothing is listed for it."""
        if self.variable_penalty is None:
            return None
        if pair is None:
            raise ValueError(
                "`pair` must be given where the penalty depends on the variables, for example "
                "`pair=('a', 'b')`."
            )
        return self.pair_penalties().get(frozenset(map(str, pair)))


class PairedPrior(CouplingPrior):
    """Coupling by pairs of tasks: each pair pays for every arc on which its two graphs differ.

    C = product over task pairs s < t of (1 - delta)^(d(x_s, x_t) / (k - 1)) for every pair of
    variables, k being the number of tasks that have both.

    Parameters
    ----------
    penalty : float, default=0.9
        delta: 0 learns the tasks apart, 1 forces identical structures.
    reversal : {1, 2}, default=2
        Distance of the two directions of an arc; between no arc and an arc it is 1.
    variable_penalty : mapping {(a, b): float} or symmetric DataFrame, default=None
        Penalty per pair of variables, 0 = never share, 1 = must agree; other pairs take
        ``penalty``.
    task_penalty : mapping {(s, t): float} or symmetric DataFrame, default=None
        Penalty per pair of tasks; other pairs take ``penalty``. A pair of variables listed in
        ``variable_penalty`` overrides it.

    References
    ----------
    Niculescu-Mizil (2008), equation 2.8.

    Examples
    --------
    >>> from bnmtl import PairedPrior
    >>> round(PairedPrior(penalty=0.9).log_coupling([1, 1, 0]), 4)
    -2.3026
    >>> near = PairedPrior(penalty=0.5, task_penalty={("corsica", "provence"): 0.99})
    >>> round(near.log_coupling([1, 0], tasks=["provence", "corsica"]), 4)
    -4.6052
    """

    def __init__(self, penalty=0.9, reversal=2, variable_penalty=None, task_penalty=None):
        self.penalty = penalty
        self.reversal = reversal
        self.variable_penalty = variable_penalty
        self.task_penalty = task_penalty

    def coupling(self, k, pair=None, tasks=None):
        """The coupling of one pair of variables over k tasks, ready to be evaluated and solved."""
        self.check()
        deltas = self._deltas(k, pair, tasks)
        with np.errstate(divide="ignore"):
            log_penalties = np.log1p(-np.asarray(deltas)) / max(k - 1, 1)
        if k < 2:
            return PairedCoupling(0.0, float(self.reversal))
        if isinstance(deltas, float):
            return PairedCoupling(float(log_penalties), float(self.reversal))
        return WeightedPairedCoupling(log_penalties, float(self.reversal))

    def _deltas(self, k, pair, tasks):
        """One penalty, or a (k, k) array of penalties with a diagonal of 0."""
        listed = self._delta_of_pair(pair)
        if listed is not None or self.task_penalty is None:
            return float(self.penalty if listed is None else listed)
        if tasks is None:
            raise ValueError(
                "`tasks` must be given where the penalty depends on the tasks, one name a state."
            )
        if len(tasks) != k or len(set(tasks)) != k:
            raise ValueError(
                f"`tasks` must be {k} distinct names, one a state, got {list(tasks)!r}."
            )
        by_pair = _symmetric(self.task_penalty)
        deltas = np.zeros((k, k))
        for s, t in itertools.permutations(range(k), 2):
            deltas[s, t] = by_pair.get(frozenset((tasks[s], tasks[t])), self.penalty)
        return deltas


class EditPrior(CouplingPrior):
    """Coupling by edits: the fewest changes that make a pair of variables alike in all tasks.

    C = (1 - delta)^edits for every pair of variables, edits = min over a target state c of
    sum_s d(x_s, c).

    Parameters
    ----------
    penalty : float, default=0.9
        delta: 0 learns the tasks apart, 1 forces identical structures.
    reversal : {1, 2}, default=1
        Cost of turning an arc round; adding and deleting cost 1.
    costs : dict with the keys "add", "delete", "reverse", default=None
        Costs of the edits that turn a task's state into the target, as exponents >= 0 of (1 -
        delta); a reversal never costs more than deleting and adding. Not together with
        ``reversal``.
    variable_penalty : mapping {(a, b): float} or symmetric DataFrame, default=None
        Penalty per pair of variables, 0 = never share, 1 = must agree; other pairs take
        ``penalty``.

    References
    ----------
    Niculescu-Mizil (2008), equation 2.7.

    Examples
    --------
    >>> from bnmtl import EditPrior
    >>> round(EditPrior(penalty=0.9).log_coupling([1, 0, 0, -1]), 4)
    -4.6052
    """

    def __init__(self, penalty=0.9, reversal=1, costs=None, variable_penalty=None):
        self.penalty = penalty
        self.reversal = reversal
        self.costs = costs
        self.variable_penalty = variable_penalty

    def coupling(self, k, pair=None, tasks=None):
        """The coupling of one pair of variables over k tasks, ready to be evaluated and solved."""
        self.check()
        delta = self._deltas(k, pair, tasks)
        log_penalty = math.log1p(-delta) if delta < 1 else -math.inf
        return EditCoupling(log_penalty, self._cost_table())

    def check(self):
        """Raise ValueError for parameters out of range."""
        super().check()
        if self.costs is None:
            return
        if self.reversal != 1:
            raise ValueError(
                f"`costs` and `reversal` say the same thing twice, got {self.costs!r} and "
                f"{self.reversal!r}; leave `reversal` out."
            )
        if set(self.costs) != {"add", "delete", "reverse"}:
            raise ValueError(
                "`costs` must have exactly the keys 'add', 'delete' and 'reverse', got "
                f"{sorted(map(str, self.costs))}."
            )
        for edit, cost in self.costs.items():
            if not isinstance(cost, numbers.Real) or not 0 <= cost < math.inf:
                raise ValueError(
                    f"`costs` must be finite numbers of at least 0, got {cost!r} for {edit!r}."
                )

    def _deltas(self, k, pair, tasks):
        """The penalty of the pair: the Edit prior has none per task."""
        listed = self._delta_of_pair(pair)
        return float(self.penalty if listed is None else listed)

    def _cost_table(self):
        """Cost [x + 1, c + 1] of turning state x into the target c."""
        costs = self.costs or {"add": 1, "delete": 1, "reverse": self.reversal}
        add, delete = float(costs["add"]), float(costs["delete"])
        turn = min(float(costs["reverse"]), delete + add)
        return np.array([[0.0, delete, turn], [add, 0.0, add], [turn, delete, 0.0]])


class PairedCoupling:
    """Paired coupling of one pair of variables, one penalty for all pairs of tasks."""

    def __init__(self, log_penalty, reversal):
        self.log_penalty = log_penalty
        self.reversal = reversal

    def log_coupling(self, states):
        minus = int(np.count_nonzero(states == -1))
        plus = int(np.count_nonzero(states == 1))
        apart = (minus + plus) * (len(states) - minus - plus) + self.reversal * minus * plus
        return self.log_penalty * apart if apart else 0.0

    def weights(self, k):
        """The log penalty of every pair of tasks, as a (k, k) array."""
        return np.full((k, k), self.log_penalty)


class WeightedPairedCoupling:
    """Paired coupling of one pair of variables with a log penalty of its own per pair of tasks."""

    def __init__(self, log_penalties, reversal):
        self.log_penalties = log_penalties
        self.reversal = reversal

    def log_coupling(self, states):
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
        edits = float(self.costs[np.asarray(states, np.int64) + 1].sum(axis=0).min())
        return self.log_penalty * edits if edits else 0.0


class CustomCoupling:
    """A user's own coupling of one pair of variables, held to its contract."""

    def __init__(self, prior, pair, tasks):
        self._prior = prior
        self._pair = pair
        self._tasks = tasks

    def log_coupling(self, states):
        value = float(self._prior.log_coupling(states, pair=self._pair, tasks=self._tasks))
        if not value <= 0:
            raise ValueError(
                f"`log_coupling` of {type(self._prior).__name__} must return at most 0, got "
                f"{value} for the states {[int(state) for state in states]}."
            )
        return value

    def bound(self, states, n_tasks):
        """Upper bound of the coupling of any completion of the first tasks' states."""
        if hasattr(self._prior, "bound"):
            return float(self._prior.bound(states, n_tasks))
        return 0.0


def coupling_of(prior, k, pair, tasks):
    """The coupling of one pair of variables under any prior, built-in or a user's own."""
    if isinstance(prior, CouplingPrior):
        return prior.coupling(k, pair, tasks)
    return CustomCoupling(prior, pair, tasks)


def _symmetric(listed):
    """Penalties by unordered pair, from a mapping {(a, b): p} or a symmetric DataFrame."""
    if listed is None:
        return {}
    if isinstance(listed, pd.DataFrame):
        if not listed.index.equals(listed.columns) or not np.allclose(listed, listed.T):
            raise ValueError("a penalty given as a DataFrame must be square and symmetric.")
        cells = {(a, b): listed.loc[a, b] for a, b in itertools.combinations(listed.index, 2)}
    else:
        cells = listed
    by_pair = {}
    for (a, b), penalty in cells.items():
        pair = frozenset((str(a), str(b)))
        if len(pair) < 2 or by_pair.get(pair, penalty) != penalty:
            raise ValueError(
                f"a penalty per pair needs two different names and one value, got {(a, b)!r}."
            )
        by_pair[pair] = penalty
    return by_pair


def _checked_states(states):
    array = np.asarray(states)
    if array.ndim != 1 or not np.isin(array, (-1, 0, 1)).all():
        raise ValueError(f"`states` must be a list of -1, 0 and +1, got {states!r}.")
    return array.astype(np.int8)
