"""The search for the groups of tasks that learn from each other."""

import contextlib
import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from bnmtl.search.group_value import TOLERANCE
from bnmtl.search.options import HillClimbing
from bnmtl.search.problem import NoCommonGraph

# The search of quick fits.
QUICK = HillClimbing(restarts=0, tabu=0)
# Nats below which the data do not tell whether tasks belong together.
MARGIN = 5.0
# Exact gains that are computed for each step of the search, and partitions confirmed by full fits.
N_EXACT = 3
N_CONFIRMED = 3


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
                if total(merged) > max(now, -math.inf if best is None else total(best)) + TOLERANCE:
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
                if total(moved) > max(now, -math.inf if best is None else total(best)) + TOLERANCE:
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
