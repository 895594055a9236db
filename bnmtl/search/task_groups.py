"""Groups of tasks that learn from each other: their value, and the search for the best partition.

What arcs add decides. The value of a group is the evidence of its graphs beyond that of no arcs,
plus a coupling of its own that is consistent in the number of tasks: the states of a pair of
variables over the tasks are draws from a distribution that the group shares.
"""

import contextlib
import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from bnmtl.search.options import HillClimbing
from bnmtl.search.problem import JointProblem, NoCommonGraph

# Concentration of the distribution of a pair's states, and expected parents of a variable, of the
# coupling that judges groups.
CONCENTRATION = 0.03
EXPECTED_PARENTS = 0.1
# Nats below which the data do not tell whether tasks belong together.
MARGIN = 5.0
# Exact gains that are computed for each step of the search, and partitions confirmed by full fits.
N_EXACT = 3
N_CONFIRMED = 3
# Smaller differences are rounding errors.
_TOLERANCE = 1e-6


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
        # Concentrations of their own would need another threshold.
        self._bound = bound.among(range(len(problems)), None) if self._shares_tables else bound
        self._own = [self.joint.scores([s]) for s in range(len(problems))]
        # A variable that is constant in a task tells nothing about arcs there.
        self._varies = np.stack([part.any(axis=0) for part in self.joint.takes_part])
        self._families, self._values, self._normalizers = {}, {}, {}
        self._read_states(concentration)
        self.no_arcs = np.stack([one.required for one in self.joint.constraints])

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
        return self._weight(members, graphs) - self._weight(members, self.no_arcs[members])

    def _weight(self, members, graphs):
        key = tuple(members), b"".join(graph.tobytes() for graph in graphs)
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
        return sum(self._own[s].local_score(child, parents) for s in tasks)

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

    def improve(self, members, graphs, seen):
        """Give each task the best of the graphs seen for it until no value rises.

        Parameters
        ----------
        members, graphs
            As in `of`.
        seen : mapping int -> list of bool array of shape (n, n)

        Returns
        -------
        graphs : list of bool array of shape (n, n)
        value : float
        """
        graphs, value = list(graphs), self.of(members, graphs)
        is_better = True
        while is_better:
            is_better = False
            for at, s in enumerate(members):
                for graph in seen[s]:
                    tried = [*graphs[:at], graph, *graphs[at + 1 :]]
                    found = self.of(members, tried)
                    if found > value + _TOLERANCE:
                        graphs, value, is_better = tried, found, True
        return graphs, value


def log_partition_prior(groups):
    """Log prior of a partition: the Chinese restaurant's with concentration 1."""
    sizes = np.array([len(group) for group in groups])
    return float(gammaln(sizes).sum() - gammaln(sizes.sum() + 1))


@dataclass
class FoundGroups:
    """A partition of tasks, and what speaks for it.

    Attributes
    ----------
    groups : list of tuple of int
        Tasks in each group, by their first task.
    gains : float array of shape (k, k)
        Value of two tasks together less that of both alone; nan on the diagonal and for pairs that
        were not tried.
    margins : float array of shape (k,)
        Value of the partition minus that of the best one with this task alone or in another group.
    alternatives : list of (groups, float)
        The best partitions tried, and their values including their prior, best first.
    """

    groups: list
    gains: np.ndarray
    margins: np.ndarray
    alternatives: list = field(default_factory=list)


class GroupSearch:
    """Search for the partition of tasks with the largest value.

    Parameters
    ----------
    value : GroupValue
    fit : callable (members, is_quick) -> list of lists of bool array of shape (n, n)
        Configurations found for a group of tasks by one quick or by a full search, on the union
        index.
    may_join : bool array of shape (k, k), default=None
        Pairs of tasks that may be in one group; None is all.
    budget : callable () -> bool, default=None
        Whether the time is over.
    """

    def __init__(self, value, fit, may_join=None, budget=None):
        self.value, self._fit = value, fit
        k = len(value.joint.tasks)
        self._may_join = np.ones((k, k), bool) if may_join is None else may_join
        self._is_over = budget or (lambda: False)
        self._seen = {s: [] for s in range(k)}
        self._fits, self._found = {}, {}

    def add_graphs(self, members, graphs):
        """Remember graphs of tasks, which may be given to them in any group."""
        for s, graph in zip(members, graphs, strict=True):
            if not any(np.array_equal(graph, known) for known in self._seen[s]):
                self._seen[s].append(graph)

    def fitted(self, members, is_quick=True):
        """Fit a group, unless it has been fitted in this way."""
        key = tuple(members), is_quick
        if key in self._fits:
            return
        self._fits[key] = self._fit(list(members), is_quick)
        for graphs in self._fits[key]:
            self.add_graphs(members, graphs)

    def of(self, members):
        """Value of a group, without the prior of the partition; fixed when it is first computed."""
        members = tuple(members)
        if members not in self._found:
            self._found[members] = self._best(members)
        return self._found[members]

    def _best(self, members):
        starts = [[self._best_alone(s) for s in members]]
        if len(members) > 1:
            self.fitted(members)
            for is_quick in (True, False):
                starts += self._fits.get((members, is_quick), [])
        values = [self.value.of(members, graphs) for graphs in starts]
        _, value = self.value.improve(members, starts[int(np.argmax(values))], self._seen)
        return value

    def _best_alone(self, s):
        values = [self.value.of([s], [graph]) for graph in self._seen[s]]
        return self._seen[s][int(np.argmax(values))]

    def forget_values(self):
        """Compute values again, from all graphs seen since."""
        self._found.clear()

    def total(self, groups):
        """Value of a partition including its prior."""
        return sum(self.of(group) for group in groups) + log_partition_prior(groups)

    def gains(self):
        """Gains of all pairs of tasks that may join, by quick fits; float array (k, k)."""
        k = len(self._seen)
        gains = np.full((k, k), np.nan)
        pairs = [pair for pair in itertools.combinations(range(k), 2) if self._may_join[pair]]
        for pair in pairs:
            self.fitted(pair)
        for a, b in pairs:
            gains[a, b] = gains[b, a] = self.of((a, b)) - self.of((a,)) - self.of((b,))
        return gains

    def search(self):
        """The best partition found.

        Returns
        -------
        FoundGroups
        """
        k = len(self._seen)
        gains = self.gains()
        tried = {}

        def total(groups):
            key = canonical(groups)
            if key not in tried:
                tried[key] = self.total(key)
            return tried[key]

        groups = self._merged([(s,) for s in range(k)], gains, total)
        groups = self._moved(groups, gains, total)
        if self._joinable(tuple(range(k))):
            total([tuple(range(k))])
        groups = max(tried, key=tried.get)
        groups = self._confirmed(groups, tried)
        margins = self._margins(groups)
        ranked = sorted(tried.items(), key=lambda item: (-item[1], item[0]))
        return FoundGroups(list(groups), gains, margins, ranked[: N_CONFIRMED + 1])

    def _joinable(self, members):
        return all(self._may_join[pair] for pair in itertools.combinations(members, 2))

    def _merged(self, groups, gains, total):
        """Merge groups as long as the value rises."""
        while len(groups) > 1 and not self._is_over():
            candidates = []
            for a, b in itertools.combinations(range(len(groups)), 2):
                if self._joinable((*groups[a], *groups[b])):
                    mean = np.mean([gains[s, u] for s in groups[a] for u in groups[b]])
                    candidates.append((-mean, a, b))
            now, best = total(groups), None
            for _, a, b in sorted(candidates)[:N_EXACT]:
                rest = [group for at, group in enumerate(groups) if at not in (a, b)]
                merged = list(canonical([*rest, (*groups[a], *groups[b])]))
                if (
                    total(merged)
                    > max(now, -math.inf if best is None else total(best)) + _TOLERANCE
                ):
                    best = merged
            if best is None:
                return groups
            groups = best
        return groups

    def _moved(self, groups, gains, total):
        """Move single tasks as long as the value rises."""
        groups = list(canonical(groups))
        while not self._is_over():
            candidates = []
            for s in range(len(self._seen)):
                for moved, difference in self._moves(groups, s, gains):
                    candidates.append((-difference, moved))
            now, best = total(groups), None
            for _, moved in sorted(candidates)[:N_EXACT]:
                if total(moved) > max(now, -math.inf if best is None else total(best)) + _TOLERANCE:
                    best = moved
            if best is None:
                return groups
            groups = list(best)
        return groups

    def _moves(self, groups, s, gains):
        """Partitions with one task elsewhere, and the change of its mean gain."""
        (own,) = (group for group in groups if s in group)
        rest = [group for group in groups if s not in group]
        left = tuple(u for u in own if u != s)
        kept = float(np.mean([gains[s, u] for u in left])) if left else 0.0
        if left:
            yield canonical([*rest, left, (s,)]), -kept
        for at, group in enumerate(rest):
            if self._joinable((*group, s)):
                others = [other for j, other in enumerate(rest) if j != at]
                parts = [left] if left else []
                gained = float(np.mean([gains[s, u] for u in group]))
                yield canonical([*others, *parts, (*group, s)]), gained - kept

    def _confirmed(self, best, tried):
        """The partition after full fits, and after merging groups that the data do not separate."""
        k = len(self._seen)
        one = canonical([tuple(range(k))])
        near = [groups for groups in tried if tried[best] - tried[groups] < MARGIN]
        near = sorted(near, key=lambda groups: (-tried[groups], groups))[: N_CONFIRMED - 1]
        candidates = list(dict.fromkeys([best, *near, *([one] if one in tried else [])]))
        if len(candidates) > 1:
            for groups in candidates:
                for group in groups:
                    if len(group) > 1 and not self._is_over():
                        self.fitted(group, is_quick=False)
            self.forget_values()
            for groups in list(tried):
                tried[groups] = self.total(groups)
            best = max(candidates, key=lambda groups: (tried[groups], [-len(g) for g in groups]))
        while len(best) > 1:
            merges = []
            for a, b in itertools.combinations(best, 2):
                if self._joinable((*a, *b)):
                    merged = canonical([*(g for g in best if g not in (a, b)), (*a, *b)])
                    if merged not in tried:
                        tried[merged] = self.total(merged)
                    merges.append((tried[best] - tried[merged], merged))
            if not merges or min(merges)[0] >= MARGIN:
                break
            best = min(merges)[1]
        if one in tried and tried[best] - tried[one] < MARGIN:
            return one
        return best

    def _margins(self, groups):
        """For each task, the value of the partition less that of the best one without it there."""
        if len(self._seen) == 1:
            return np.full(1, np.nan)
        now = self.total(groups)
        gains = np.zeros((len(self._seen),) * 2)
        margins = np.full(len(self._seen), np.nan)
        for s in range(len(self._seen)):
            others = [self.total(moved) for moved, _ in self._moves(groups, s, gains)]
            if others:
                margins[s] = now - max(others)
        return margins


def canonical(groups):
    """A partition with sorted tasks and groups."""
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def quick_fits(search, prior, graphs, couplings_of):
    """Configurations that a group reaches from what its tasks have alone, in common and together.

    Parameters
    ----------
    search : MultitaskSearch
        Of the group, with an effort of plain hill climbing.
    prior : PairedPrior, EditPrior or a custom coupling
    graphs : list of bool array
        The graphs of the tasks alone, on their own index.
    couplings_of : callable (prior, JointProblem) -> Couplings

    Returns
    -------
    list of lists of bool array
        Graphs of the tasks, on the index of the group.
    """
    joint = search.joint
    starts = [joint.spread(graphs)]
    for combined in (np.any, np.all):
        graph = acyclic(combined(starts[0], axis=0))
        allowed = [
            joint.tasks[s].constraints.allowed_of(joint.restrict(s, graph))
            for s in range(len(joint.tasks))
        ]
        starts.append(joint.spread(allowed))
    with contextlib.suppress(NoCommonGraph):
        starts.append(joint.spread(search.identical))
    couplings = couplings_of(prior, joint)
    found = []
    for matrices in starts:
        climb = search._at(couplings, matrices)
        climb.run(search._effort.budget())
        found.append([matrix.copy() for matrix in climb.adjacency])
    return found


def acyclic(matrix):
    """A graph without the arcs that close a cycle, added in canonical order."""
    kept = np.zeros_like(matrix)
    reach = np.eye(len(matrix), dtype=bool)
    for a, b in np.argwhere(matrix):
        if not reach[b, a]:
            kept[a, b] = True
            reach |= np.outer(reach[:, a], reach[b])
    return kept


QUICK = HillClimbing(restarts=0, tabu=0)
