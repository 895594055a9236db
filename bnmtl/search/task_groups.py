"""The search for the groups of tasks that learn from each other, and the value of a group.

It is the evidence of the graphs beyond that of no arcs, plus a coupling that is consistent in the
number of tasks: the states of a pair of variables over the tasks are draws from a distribution that
the group shares (a Dirichlet-multinomial).
"""

import contextlib
import hashlib
import itertools
import math
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln

from bnmtl._kernels.groups import MOST_EXACT
from bnmtl.search.options import HillClimbing
from bnmtl.search.problem import Constraints, JointProblem, NoCommonGraph

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
        permitted = np.stack([limits.permitted for limits in self.joint.constraints]) & part
        required = np.stack([limits.required for limits in self.joint.constraints]) & part
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
        constraints = [self.joint.constraints[s] for s in members]
        permitted = np.stack([limits.permitted for limits in constraints]) | ~part
        required = np.stack([limits.required for limits in constraints]) & part
        return Constraints(
            permitted.all(axis=0) & part.any(axis=0),
            required.any(axis=0),
            min(limits.max_parents for limits in constraints),
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


# The search of quick fits.
QUICK = HillClimbing(restarts=0, tabu=0)
# Nats below which the data do not tell whether tasks belong together.
MARGIN = 5.0
# Exact gains that are computed for each step of the search, and partitions confirmed by full fits.
N_EXACT = 3
N_CONFIRMED = 3
# One group that is further behind by quick fits is not confirmed: full fits changed leads of this
# size by at most a third, and that of all tasks takes longer than the rest of the search.
CLEAR = 100.0
# Of more tasks, only the pairs of each task with its nearest are tried.
FEW_TASKS = 12
N_NEAREST = 5


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
        Value of the partition minus that of the best one with this task alone or in another group;
        nan for tasks that can be nowhere else.
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
    fit : callable (members, graphs) -> list of lists of bool array of shape (n, n)
        Configurations found for a group of tasks, on the union index: by quick searches near one
        graph per task, or by a full search if these are None. It raises `NoCommonGraph` if the
        tasks cannot be in one group.
    may_join : bool array of shape (k, k), default=None
        Pairs of tasks that may be in one group; None is all.
    can_tell : bool array of shape (k, k), default=None
        Pairs of tasks whose data can tell something about a common arc; a merge needs one across
        the two groups. None is all.
    is_over : callable () -> bool, default=None
        Whether the search must end.
    too_few : set of int, default=()
        Tasks whose rows are too few to tell; they join a group after the others are fixed.
    report : callable (stage, done, total), default=None
        Called after every step.
    """

    def __init__(
        self, value, fit, may_join=None, can_tell=None, is_over=None, too_few=(), report=None
    ):
        self.value, self._fit = value, fit
        k = len(value.joint.tasks)
        self._may_join = np.ones((k, k), bool) if may_join is None else may_join
        self._can_tell = np.ones((k, k), bool) if can_tell is None else can_tell
        self._is_over = is_over or (lambda: False)
        self._report = report or (lambda stage, done, total: None)
        self._too_few = sorted(too_few)
        self._decide = tuple(s for s in range(k) if s not in set(too_few))
        self._seen = {s: [] for s in range(k)}
        self._fits, self._found, self._tried = {}, {}, {}
        # The best configuration known of each group.
        self._graphs = {}
        # Of many tasks, gains of pairs without a search.
        self._at_hand = np.full((k, k), np.nan)

    def add_graphs(self, members, graphs):
        """Remember graphs of tasks, which may be given to them in any group."""
        for s, graph in zip(members, graphs, strict=True):
            if not any(np.array_equal(graph, known) for known in self._seen[s]):
                self._seen[s].append(graph)

    def fitted(self, members, is_quick=True):
        """Fit a group, unless it has been fitted in this way; False if it is impossible."""
        key = tuple(members), is_quick
        if key not in self._fits:
            try:
                self._fits[key] = self._fit(list(members), self._near(key[0]) if is_quick else None)
            except NoCommonGraph:
                self._fits[key] = None
            for graphs in self._fits[key] or ():
                self.add_graphs(members, graphs)
        return self._fits[key] is not None

    def _near(self, members):
        """Graphs of the tasks to search near: those of a wider group, or of the groups within."""
        if len(members) == 2:
            return [self._seen[s][0] for s in members]
        members = set(members)
        wider = [group for group in self._graphs if members < set(group)]
        groups = sorted(self._graphs, key=lambda group: (-len(group), group))
        if wider:
            groups = [min(wider, key=lambda group: (len(group), group))]
        graphs = {}
        for group in groups:
            if wider or (members >= set(group) and not graphs.keys() & set(group)):
                graphs.update(zip(group, self._graphs[group], strict=True))
        return [graphs[s] if s in graphs else self._best_alone(s) for s in sorted(members)]

    def of(self, members):
        """Value of a group, without the prior of the partition; fixed when it is first computed.

        It is -inf for tasks that cannot be in one group.
        """
        members = tuple(members)
        if members not in self._found:
            self._found[members], graphs = self._best(members)
            if graphs is not None:
                self._graphs[members] = graphs
        return self._found[members]

    def _best(self, members):
        starts = [[self._best_alone(s) for s in members]]
        if len(members) > 1:
            if not self.fitted(members) or self._fits.get((members, False), ()) is None:
                return -math.inf, None
            for is_quick in (True, False):
                starts += self._fits.get((members, is_quick), [])
        return self.value.best(members, starts, self._seen)

    def _best_alone(self, s):
        values = [self.value.of([s], [graph]) for graph in self._seen[s]]
        return self._seen[s][int(np.argmax(values))]

    def _total(self, groups):
        """Value of a partition including its prior."""
        groups = canonical(groups)
        if groups not in self._tried:
            self._tried[groups] = self._computed(groups)
            self._report("groups of tasks", len(self._tried), None)
        return self._tried[groups]

    def _computed(self, groups):
        return sum(self.of(group) for group in groups) + log_partition_prior(groups)

    def gains(self):
        """Gains of pairs of tasks by quick fits; of many tasks only those of each task's nearest.

        Returns
        -------
        float array of shape (k, k)
            nan on the diagonal and for pairs that may not join or were not tried.
        """
        k = len(self._seen)
        gains = np.full((k, k), np.nan)
        pairs, fitted = self._pairs(), []
        for pair in pairs:
            if self._is_over():
                break
            if self.fitted(pair):
                fitted.append(pair)
            self._report("gains of pairs", len(fitted), len(pairs))
        for a, b in fitted:
            gains[a, b] = gains[b, a] = self.of((a, b)) - self.of((a,)) - self.of((b,))
        return gains

    def _pairs(self):
        """Pairs of tasks to try: all, or those of each task with the largest gains at hand."""
        k = len(self._seen)
        pairs = [
            (a, b) for a, b in itertools.combinations(range(k), 2) if self._may_merge((a,), (b,))
        ]
        if k <= FEW_TASKS:
            return pairs
        alone, gains = [self._best_alone(s) for s in range(k)], self._at_hand
        for done, (a, b) in enumerate(pairs, start=1):
            both = max(self.value.given_to_all([a, b], graph) for graph in (alone[a], alone[b]))
            gains[a, b] = gains[b, a] = both - self.value.of([a], [alone[a]])
            gains[a, b] = gains[b, a] = gains[a, b] - self.value.of([b], [alone[b]])
            if done % k == 0:
                self._report("nearest tasks", done, len(pairs))
        near = set()
        for s in range(k):
            order = np.lexsort((np.arange(k), -np.nan_to_num(gains[s], nan=-np.inf)))[:N_NEAREST]
            near.update(
                (min(s, u), max(s, u)) for u in order.tolist() if self._may_merge((s,), (u,))
            )
        return sorted(near)

    def search(self, with_margins=True):
        """The best partition found.

        Parameters
        ----------
        with_margins : bool, default=True
            Whether to compute the margins, which takes a fit for each task.

        Returns
        -------
        FoundGroups
        """
        gains = self.gains()
        one = (self._decide,)
        is_one = self._all_gain(gains) and self._total(one) > -math.inf
        # Where all pairs gain, merging them one by one would end with one group, too.
        groups = list(one) if is_one else self._merged([(s,) for s in self._decide], gains)
        groups = self._moved(groups, gains)
        if not self._is_over() and self._decide and self._joinable(self._decide):
            self._total(one)
        groups = self._confirmed(one, gains) if self._decide else []
        margins = self._margins(groups, gains) if with_margins else np.full(len(gains), np.nan)
        groups = self._joined(list(groups))
        ranked = sorted(self._tried.items(), key=lambda item: (-item[1], item[0]))
        ranked = [tried for tried in ranked if tried[1] > -math.inf]
        return FoundGroups(groups, gains, margins, ranked[: N_CONFIRMED + 1])

    def _all_gain(self, gains):
        """Whether any two of several tasks gain by learning together."""
        pairs = list(itertools.combinations(self._decide, 2))
        return len(pairs) > 1 and all(gains[pair] > TOLERANCE for pair in pairs)

    def _joinable(self, members):
        """Whether tasks may be one group that merges can reach."""
        among = np.ix_(members, members)
        pairs = itertools.combinations(members, 2)
        n_parts, _ = connected_components(self._can_tell[among])
        return n_parts == 1 and all(self._may_join[pair] for pair in pairs)

    def _may_merge(self, first, second):
        """Whether two groups may be one, and the data can tell something about it."""
        across = np.ix_(first, second)
        return bool(self._may_join[across].all() and self._can_tell[across].any())

    def _merged(self, groups, gains):
        """Merge groups as long as the value rises."""
        while groups and not self._is_over():
            candidates = [merged for _, merged in self._merges(groups, gains)]
            best = self._rising(groups, candidates[:N_EXACT])
            if best is None:
                return groups
            groups = list(best)
        return groups

    def _merges(self, groups, gains):
        """Partitions with two groups merged, the largest mean gain first; mean gain and groups."""
        found = []
        for a, b in itertools.combinations(canonical(groups), 2):
            mean = _mean(gains, a, b)
            if np.isnan(mean):
                mean = _mean(self._at_hand, a, b)
            if self._may_merge(a, b) and not np.isnan(mean):
                rest = [group for group in groups if group not in (a, b)]
                found.append((mean, canonical([*rest, (*a, *b)])))
        return sorted(found, key=lambda merge: (-merge[0], merge[1]))

    def _rising(self, groups, candidates):
        """The candidate with the largest value if it exceeds that of the groups, else None."""
        best, value = None, self._total(groups)
        for candidate in candidates:
            if self._total(candidate) > value + TOLERANCE:
                best, value = candidate, self._total(candidate)
        return best

    def _moved(self, groups, gains):
        """Move single tasks as long as the value rises."""
        groups = list(canonical(groups))
        while groups and not self._is_over():
            candidates = []
            for s in self._decide:
                candidates += [
                    (-change, moved)
                    for moved, change in self._moves(groups, s, gains)
                    if not np.isnan(change)
                ]
            best = self._rising(groups, [moved for _, moved in sorted(candidates)[:N_EXACT]])
            if best is None:
                return groups
            groups = list(best)
        return groups

    def _moves(self, groups, s, gains):
        """Partitions with one task elsewhere, and the change of its mean gain."""
        (current,) = (group for group in groups if s in group)
        rest = [group for group in groups if s not in group]
        left = tuple(u for u in current if u != s)
        kept = _mean(gains, (s,), left) if left else 0.0
        if left:
            yield canonical([*rest, left, (s,)]), -kept
        for at, group in enumerate(rest):
            if self._may_merge(group, (s,)):
                others = [other for j, other in enumerate(rest) if j != at]
                parts = [left] if left else []
                yield canonical([*others, *parts, (*group, s)]), _mean(gains, (s,), group) - kept

    def _confirmed(self, one, gains):
        """The partition after full fits, and after merging groups that the data do not separate.

        If the search must end before a partition is confirmed, it is one group, or each task alone
        if the tasks may not be one group.
        """
        tried = self._tried
        ranked = sorted(tried, key=lambda groups: (-tried[groups], groups))
        behind = {groups: tried[ranked[0]] - tried[groups] for groups in ranked}
        candidates = [groups for groups in ranked if behind[groups] < MARGIN][:N_CONFIRMED]
        if one not in candidates and behind.get(one, np.inf) < CLEAR:
            candidates.append(one)
        if candidates != [one]:
            candidates = [
                groups for groups in candidates if all(self._is_confirmed(g) for g in groups)
            ]
        elif self._is_over():
            candidates = []
        if not candidates:
            can_be_one = self._joinable(self._decide) and self.fitted(self._decide)
            return one if can_be_one else canonical([(s,) for s in self._decide])
        self._found.clear()
        for groups in list(tried):
            tried[groups] = self._computed(groups)
        best = max(candidates, key=lambda groups: (tried[groups], [-len(g) for g in groups]))
        while len(best) > 1 and not self._is_over():
            merges = [merged for _, merged in self._merges(best, gains)]
            if len(self._seen) > FEW_TASKS:
                merges = merges[:N_EXACT]
            merges = [(tried[best] - self._total(merged), merged) for merged in merges]
            if not merges or min(merges)[0] >= MARGIN:
                break
            best = min(merges)[1]
        return one if one in tried and tried[best] - tried[one] < MARGIN else best

    def _is_confirmed(self, group):
        """Whether the full fit of a group is there, or could be made before the search must end."""
        if len(group) == 1 or (group, False) in self._fits:
            return True
        if self._is_over():
            return False
        self.fitted(group, is_quick=False)
        return not self._is_over()

    def _margins(self, groups, gains):
        """For each task, the value of the partition less that of the best one without it there."""
        margins = np.full(len(self._seen), np.nan)
        for s in self._decide if len(self._decide) > 1 else ():
            moves = sorted(self._moves(groups, s, gains), key=lambda one: (-one[1], one[0]))
            if len(self._seen) > FEW_TASKS:
                moves = [move for move in moves if not np.isnan(move[1])][:N_EXACT]
            if moves and not self._is_over():
                other = max(self._total(moved) for moved, _ in moves)
                if other > -math.inf:
                    margins[s] = self._total(groups) - other
        return margins

    def _joined(self, groups):
        """The groups with the tasks that cannot tell, each where its gain is largest."""
        for s in self._too_few:
            joins = []
            for group in groups:
                if self._may_merge(group, (s,)):
                    members = tuple(sorted((*group, s)))
                    gain = -math.inf if self._is_over() else self.of(members) - self.of(group)
                    joins.append((gain, len(group), group))
            joins = joins or [(0.0, 0, ())]
            most = max(gain for gain, _, _ in joins)
            joins = [join for join in joins if join[0] >= most - TOLERANCE]
            _, _, group = min(joins, key=lambda join: (-join[1], join[2]))
            rest = [other for other in groups if other != group]
            groups = list(canonical([*rest, (*group, s)]))
        return groups


def _mean(gains, first, second):
    """Mean of the known gains between two groups; nan if none is known."""
    known = gains[np.ix_(first, second)]
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else np.nan


def canonical(groups):
    """A partition with sorted tasks and groups."""
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def quick_fits(search, prior, graphs, couplings_of):
    """Configurations that a group reaches from what its tasks have, and from one graph for all.

    Parameters
    ----------
    search : MultitaskSearch
        Of the group, with an effort of plain hill climbing.
    prior : PairedPrior, EditPrior or a custom coupling
    graphs : list of bool array of shape (n, n)
        One per task, on the index of the group. Of two tasks, the union and the intersection are
        starts, too.
    couplings_of : callable (prior, JointProblem) -> Couplings

    Returns
    -------
    list of lists of bool array
        Graphs of the tasks, on the index of the group.

    Raises
    ------
    NoCommonGraph
        If no configuration that was found is possible under the prior.
    """
    joint = search.joint
    starts = [np.stack(graphs)]
    for combined in (np.any, np.all) if len(graphs) == 2 else ():
        graph = combined(starts[0], axis=0)
        starts.append(np.stack([acyclic(graph, limits) for limits in joint.constraints]))
    with contextlib.suppress(NoCommonGraph):
        starts.append(joint.spread(search.identical))
    couplings = couplings_of(prior, joint)
    found = []
    for matrices in starts:
        climb = search._at(couplings, matrices)
        climb.run(search._effort.budget())
        is_violated, _ = climb.score
        if not is_violated:
            found.append([matrix.copy() for matrix in climb.adjacency])
    if not found:
        raise NoCommonGraph("of 1 requires that tasks agree, and these do not", argument="penalty")
    return found
