"""The coupling of every pair of variables of a joint problem over the tasks with the pair."""

from functools import cached_property

import numpy as np

from bnmtl._kernels import trees
from bnmtl._kernels._jit import Arrays
from bnmtl.priors.coupling import CouplingPrior, coupling_of
from bnmtl.priors.states import EditCoupling, PairedCoupling
from bnmtl.search.neighborhood import solve
from bnmtl.search.problem import NoCommonGraph


class Couplings:
    """The coupling of every pair of variables of a joint problem, computed once for equal pairs.

    Parameters
    ----------
    prior : PairedPrior, EditPrior or a custom coupling
    problem : JointProblem
    """

    def __init__(self, prior, problem):
        self.builtin = isinstance(prior, CouplingPrior)
        self.prior = prior.resolved() if self.builtin else prior
        self._problem = problem
        self._made = {}
        self._listed = self.prior.pair_penalties() if self.builtin else {}

    def of(self, i, j):
        """Indices of the tasks with the pair, and their coupling; i -> j is state +1."""
        members = np.flatnonzero(self._problem.takes_part[:, i, j])
        pair = (self._problem.variables[i], self._problem.variables[j])
        key = self._key(members, pair)
        if key not in self._made:
            self._made[key] = (members, self._coupling(members, pair))
        return self._made[key]

    @cached_property
    def coupled(self):
        """[i, j], i < j: whether two or more tasks have the pair, bool array of shape (n, n)."""
        return np.triu(self._problem.takes_part.sum(axis=0) > 1, 1)

    @cached_property
    def pairs(self):
        """[i, j], i < j: whether any task has the pair, bool array of shape (n, n)."""
        return np.triu(self._problem.takes_part.any(axis=0), 1)

    @cached_property
    def kinds(self):
        """A number for every pair, shape (n, n): pairs with equal numbers have equal couplings."""
        part = self._problem.takes_part
        n = part.shape[1]
        if not self.builtin:
            return np.arange(n * n).reshape(n, n)
        # Each byte contains eight tasks, because there are many pairs to sort.
        packed = np.packbits(part.reshape(len(part), -1), axis=0)
        order = np.lexsort(packed[::-1])
        differs = (packed[:, order[1:]] != packed[:, order[:-1]]).any(axis=0)
        kinds = np.empty(n * n, dtype=np.int64)
        kinds[order] = np.append(0, np.cumsum(differs))
        kinds = kinds.reshape(n, n)
        index = {variable: at for at, variable in enumerate(self._problem.variables)}
        for number, pair in enumerate(self._listed):
            if pair <= index.keys():
                i, j = (index[variable] for variable in pair)
                kinds[i, j] = kinds[j, i] = n * n + number
        return kinds

    def alike(self, pairs):
        """Given pairs, bool array of shape (n, n), grouped by kind into int arrays (m, 2)."""
        found, kinds = np.argwhere(pairs), self.kinds[pairs]
        order = np.argsort(kinds, kind="stable")
        ends = np.flatnonzero(np.diff(kinds[order])) + 1
        return np.split(found[order], ends) if len(found) else []

    def shared(self, tolerance):
        """The data for a search over orders shared by the tasks.

        Parameters
        ----------
        tolerance : float

        Returns
        -------
        Arrays or None
            As in `trees.SHARED`; None if the coupling depends on which tasks have the arc and not
            only on their number.
        """
        if not self.builtin or self.prior.by_task():
            return None
        part, one = self._problem.takes_part, None
        log_penalty = np.zeros(part.shape[1:])
        for pairs in self.alike(self.coupled):
            (_, one), (rows, columns) = self.of(*pairs[0].tolist()), pairs.T
            log_penalty[rows, columns] = log_penalty[columns, rows] = one.log_penalty
        coupling = np.array([trees.PAIRED, 0.0, 0.0])
        if isinstance(one, EditCoupling):
            coupling = np.array([trees.EDIT, one.costs[1, 2], one.costs[2, 1]])
        required = np.stack([one.required for one in self._problem.constraints]).any(axis=0)
        return Arrays(
            trees.SHARED,
            before=np.ascontiguousarray(required.T),
            together=part,
            log_penalty=log_penalty,
            coupling=coupling,
            tolerance=np.array([tolerance]),
        )

    def check_agreement(self):
        """Raise NoCommonGraph if constraints on arcs contradict a penalty of 1."""
        required = np.stack([one.required for one in self._problem.constraints]).any(axis=0)
        for i, j in np.argwhere(np.triu(required | required.T, 1)).tolist():
            members, coupling = self.of(i, j)
            gains = np.full((len(members), 3), -np.inf)
            for at, s in enumerate(members.tolist()):
                limits = self._problem.constraints[s]
                forward, backward = limits.required[i, j], limits.required[j, i]
                allowed = (
                    limits.permitted[j, i] or backward,
                    not (forward or backward),
                    limits.permitted[i, j] or forward,
                )
                gains[at, np.array(allowed)] = 0.0
            if solve(gains, coupling)[1] == -np.inf:
                a, b = self._problem.variables[i], self._problem.variables[j]
                rule = (
                    "and {forbidden} give tasks different arcs between {a!s} and {b!s}, where a "
                    "penalty of 1 requires that they agree"
                )
                remedy = "remove one of the constraints"
                raise NoCommonGraph("required", rule, remedies=remedy, a=a, b=b)

    @cached_property
    def weights(self):
        """Exponents of the structure priors, float array of shape (k, n, n)."""
        takes_part = self._problem.takes_part
        weights = np.zeros(takes_part.shape)
        for pairs in self.alike(self.pairs):
            i, j = pairs[0]
            members = np.flatnonzero(takes_part[:, i, j])
            pair = (self._problem.variables[i], self._problem.variables[j])
            exponents = self._weights(pair, [self._problem.names[s] for s in members])
            rows, columns = pairs.T
            weights[members[:, None], rows, columns] = np.reshape(exponents, (-1, 1))
            weights[members[:, None], columns, rows] = np.reshape(exponents, (-1, 1))
        return weights

    def _coupling(self, members, pair):
        """The coupling of a pair, which is 0 for a pair in fewer than two tasks."""
        if len(members) < 2:
            return PairedCoupling(0.0, 2.0)
        names = [self._problem.names[s] for s in members]
        return coupling_of(self.prior, len(members), pair, names)

    def _weights(self, pair, names):
        if len(names) > 1 and hasattr(self.prior, "structure_weights"):
            return self.prior.structure_weights(pair, names)
        return np.ones(len(names))

    def _key(self, members, pair):
        """A key that determines the coupling of a pair."""
        if self.builtin:
            return members.tobytes(), self._listed.get(frozenset(pair))
        return members.tobytes(), pair
