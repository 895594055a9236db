"""The value of a group of tasks that learn from each other: what the arcs of its graphs add.

It is the evidence of the graphs beyond that of no arcs, plus a coupling that is consistent in the
number of tasks: the states of a pair of variables over the tasks are draws from a distribution that
the group shares (a Dirichlet-multinomial).
"""

import hashlib
import math

import numpy as np
from scipy.special import gammaln

from bnmtl._kernels.groups import MOST_EXACT
from bnmtl.search.constraints import Constraints
from bnmtl.search.problem import JointProblem

# Concentration of the distribution of a pair's states, and expected parents of a variable, of the
# coupling that judges groups.
CONCENTRATION = 0.03
EXPECTED_PARENTS = 0.1
# Smaller differences are rounding errors.
TOLERANCE = 1e-6


class GroupValue:
    """The value of groups of tasks, given their graphs.

    Parameters
    ----------
    problems : list of TaskProblem
        Of all tasks, encoded together.
    concentration : float, default=0.03
        Of the distribution of a pair's states.
    """

    def __init__(self, problems, concentration=CONCENTRATION):
        self.joint = JointProblem(problems)
        bound = problems[0].scores.bound
        self._shares_tables = bound.shares_tables
        if self._shares_tables and len(problems) > MOST_EXACT:
            # The score of a family has concentrations of its own for parts of at most so many
            # tasks, and all groups must be compared by the same score.
            bound = bound.among(range(len(problems)), None)
        self._bound = bound
        self._separate = [self.joint.scores([s]) for s in range(len(problems))]
        # A variable that is constant in a task says nothing about arcs there.
        self._varies = np.stack([part.any(axis=0) for part in self.joint.takes_part])
        self._families, self._values, self._normalizers = {}, {}, {}
        self._read_states(concentration)

    def _read_states(self, concentration):
        """Allowed states of every pair and task, and log weights by number of tasks."""
        part = self.joint.takes_part
        permitted = np.stack([one.permitted for one in self.joint.constraints]) & part
        required = np.stack([one.required for one in self.joint.constraints]) & part
        forward, backward = permitted | required, np.swapaxes(permitted | required, 1, 2)
        is_required = required | np.swapaxes(required, 1, 2)
        # [s, i, j, state] for no arc, i -> j and j -> i.
        self._allowed = np.stack(
            [
                part & ~is_required,
                forward & ~np.swapaxes(required, 1, 2),
                backward & ~required,
            ],
            axis=-1,
        )
        self._counts = self._allowed.sum(axis=-1) > 1
        self._upper = np.triu(np.ones(part.shape[1:], bool), 1)
        n = int(part.any(axis=(0, 2)).sum())
        chance = min(EXPECTED_PARENTS / max(n - 1, 1), 0.5)
        means = np.array([1 - chance, chance, chance]) / (1 + chance)
        self._log_means = np.log(means)
        numbers = np.arange(len(part) + 1)
        self._whole = gammaln(concentration) - gammaln(concentration + numbers)
        bases = concentration * means[:, None]
        self._of_state = gammaln(bases + numbers) - gammaln(bases)

    def of(self, members, graphs):
        """Value of a group: what its arcs add.

        Parameters
        ----------
        members : sequence of int
        graphs : sequence of bool array of shape (n, n)
            Adjacency on the union index, one per member.

        Returns
        -------
        float
            Nats; 0 without arcs beyond the required ones.
        """
        members = list(members)
        return self._weight(members, graphs) - self._weight(members, self._no_arcs(members))

    def _no_arcs(self, members):
        """Graphs with the required arcs only."""
        return [self.joint.constraints[s].required for s in members]

    def _weight(self, members, graphs):
        arcs = hashlib.blake2b(np.packbits(graphs).tobytes(), digest_size=16)
        key = tuple(members), arcs.digest()
        if key not in self._values:
            evidence = self.evidence(members, graphs)
            self._values[key] = evidence + self.log_coupling(members, graphs)
        return self._values[key]

    def evidence(self, members, graphs):
        """Log evidence of the rows of a group, given its graphs."""
        total = 0.0
        for child in range(len(self.joint.variables)):
            having = {}
            for s, graph in zip(members, graphs, strict=True):
                if self._varies[s, child]:
                    having.setdefault(graph[:, child].tobytes(), []).append(s)
            for parents, tasks in having.items():
                key = child, parents, tuple(tasks)
                if key not in self._families:
                    self._families[key] = self._family(child, np.frombuffer(parents, bool), tasks)
                total += self._families[key]
        return total

    def _family(self, child, is_parent, tasks):
        parents = np.flatnonzero(is_parent)
        if self._shares_tables and len(tasks) > 1:
            return self._bound.evidence(child, parents, tasks) / self._bound.scale
        return sum(self._separate[s].local_score(child, parents) for s in tasks)

    def log_coupling(self, members, graphs):
        """Log coupling of the graphs of a group, normalized over the allowed states."""
        arcs = np.asarray(graphs, bool)
        counts = self._counts[members]
        k = counts.sum(axis=0)
        n_forward = (arcs & counts).sum(axis=0)
        n_backward = (np.swapaxes(arcs, 1, 2) & counts).sum(axis=0)
        values = self._log_weight(k - n_forward - n_backward, n_forward, n_backward)
        return float(values[self._upper].sum()) - self._log_normalizer(members)

    def _log_weight(self, n_none, n_forward, n_backward):
        none, forward, backward = self._of_state
        log_weight = self._whole[n_none + n_forward + n_backward]
        return log_weight + none[n_none] + forward[n_forward] + backward[n_backward]

    def _log_normalizer(self, members):
        """Log sum of the coupling over allowed states; 0 where every task may have all three."""
        key = tuple(members)
        if key not in self._normalizers:
            allowed, counts = self._allowed[members], self._counts[members]
            restricted = (counts & (allowed.sum(axis=-1) < 3)).any(axis=0) & self._upper
            total, seen = 0.0, {}
            for i, j in np.argwhere(restricted):
                sets = allowed[counts[:, i, j], i, j]
                sets = sets[np.lexsort(sets.T)]
                if sets.tobytes() not in seen:
                    seen[sets.tobytes()] = self._log_sum(sets)
                total += seen[sets.tobytes()]
            self._normalizers[key] = total
        return self._normalizers[key]

    def _log_sum(self, sets):
        """Log sum of the coupling of one pair over the states that each task may have."""
        ways = {(0, 0, 0): 1}
        for allowed in sets:
            following = {}
            for numbers, n in ways.items():
                for state in np.flatnonzero(allowed):
                    added = tuple(number + (at == state) for at, number in enumerate(numbers))
                    following[added] = following.get(added, 0) + n
            ways = following
        values = [self._log_weight(*numbers) + math.log(n) for numbers, n in ways.items()]
        return float(np.logaddexp.reduce(values))

    def given_to_all(self, members, graph):
        """Value of a group whose tasks all have one graph, as far as their constraints allow."""
        allowed = [acyclic(graph, self.joint.constraints[s]) for s in members]
        return self.of(members, allowed)

    def best(self, members, starts, seen):
        """Value and graphs of a group: from the best start, tasks take graphs until no value rises.

        Parameters
        ----------
        members : sequence of int
        starts : list of lists of bool array of shape (n, n)
            Configurations of the group.
        seen : mapping int -> list of bool array of shape (n, n)
            Graphs of each task, which it may take.

        Returns
        -------
        float, list of bool array of shape (n, n)
        """
        values = [self.of(members, graphs) for graphs in starts]
        at = int(np.argmax(values))
        graphs, value = list(starts[at]), values[at]
        is_better = True
        while is_better:
            is_better = False
            for at, s in enumerate(members):
                for graph in seen[s]:
                    tried = [*graphs[:at], graph, *graphs[at + 1 :]]
                    found = self.of(members, tried)
                    if found > value + TOLERANCE:
                        graphs, value, is_better = tried, found, True
        return value, graphs


class OneGraphValue(GroupValue):
    """The value of groups of tasks that have one graph each, so that its states count once.

    Parameters
    ----------
    problems, concentration
        As in `GroupValue`.
    """

    def _restricted(self, members, graph):
        """One graph, as far as each task has its pairs of variables."""
        part, constraints = self.joint.takes_part, self.joint.constraints
        return [(graph & part[s]) | constraints[s].required for s in members]

    def _constraints(self, members):
        """Constraints of the graph of a group."""
        part = self.joint.takes_part[members]
        limits = [self.joint.constraints[s] for s in members]
        permitted = np.stack([one.permitted for one in limits]) | ~part
        required = np.stack([one.required for one in limits]) & part
        return Constraints(
            permitted.all(axis=0) & part.any(axis=0),
            required.any(axis=0),
            min(one.max_parents for one in limits),
        )

    def log_coupling(self, members, graphs):
        """Log prior of the states of the one graph, normalized over the allowed states."""
        members = list(members)
        part = self.joint.takes_part[members]
        allowed = (self._allowed[members] | ~part[..., None]).all(axis=0)
        counts = part.any(axis=0) & (allowed.sum(axis=-1) > 1) & self._upper
        arcs = np.any(graphs, axis=0)
        values = self._log_means[np.where(arcs, 1, np.where(arcs.T, 2, 0))][counts]
        sums = np.log((np.exp(self._log_means) * allowed[counts]).sum(axis=-1))
        return float((values - sums).sum())

    def given_to_all(self, members, graph):
        """Value of a group with one graph, as far as the constraints allow."""
        members = list(members)
        graph = acyclic(graph, self._constraints(members))
        return self.of(members, self._restricted(members, graph))

    def best(self, members, starts, seen):
        """Value and graphs of a group with the best graph found for it, or seen for a task of it.

        Parameters and result as in `GroupValue.best`; graphs of a start differ only in the pairs of
        variables that tasks have, unless they are those of the tasks alone.
        """
        graphs = [graph for start in starts for graph in (*start, np.any(start, axis=0))]
        graphs += [graph for s in members for graph in seen[s]]
        known = list({graph.tobytes(): graph for graph in graphs}.values())
        values = [self.given_to_all(members, graph) for graph in known]
        best = acyclic(known[int(np.argmax(values))], self._constraints(list(members)))
        return max(values), self._restricted(list(members), best)


def acyclic(matrix, constraints):
    """The required arcs of some constraints and the permitted ones of a graph, in canonical order.

    Arcs that close a cycle and those beyond the limit on parents are left out.
    """
    kept = np.zeros_like(matrix)
    reach = np.eye(len(matrix), dtype=bool)
    required = constraints.required
    for a, b in (*np.argwhere(required), *np.argwhere(matrix & constraints.permitted & ~required)):
        if not reach[b, a] and (required[a, b] or kept[:, b].sum() < constraints.max_parents):
            kept[a, b] = True
            reach |= np.outer(reach[:, a], reach[b])
    return kept
