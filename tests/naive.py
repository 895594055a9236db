"""Naive twins: the definitions written down once more, slowly, for the tests to compare with."""

import functools
import itertools
import math
from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
from sklearn.base import clone


def local_score(score, child, parents, rows, states, weights=None):
    """Local score of a family by the formulas, from a list of dicts."""
    weights = [1] * len(rows) if weights is None else weights
    cells, totals = Counter(), Counter()
    for row, weight in zip(rows, weights, strict=True):
        configuration = tuple(row[parent] for parent in sorted(parents))
        cells[configuration, row[child]] += weight
        totals[configuration] += weight
    r = len(states[child])
    q = math.prod(len(states[parent]) for parent in parents)
    kind = type(score).__name__
    likelihood = sum(n * math.log(n / totals[j]) for (j, _), n in cells.items() if n)
    if kind == "LogLikelihood":
        return likelihood
    if kind == "AIC":
        return likelihood - q * (r - 1)
    if kind == "BIC":
        return likelihood - math.log(sum(weights)) / 2 * q * (r - 1)
    if kind == "MixedDirichlet":
        evidences = []
        for c in score.concentrations:
            total = sum(log_rising(c, n) for n in cells.values())
            evidences.append(total - sum(log_rising(c * r, n) for n in totals.values()))
        most = max(evidences)
        mean = sum(math.exp(one - most) for one in evidences) / len(evidences)
        return most + math.log(mean)
    occurring = sum(1 for n in totals.values() if n)
    a_jk = {
        "BDeu": lambda: score.equivalent_sample_size / (q * r),
        "BDs": lambda: score.equivalent_sample_size / (occurring * r),
        "K2": lambda: 1.0,
    }[kind]()
    a_j = a_jk * r
    total = sum(math.lgamma(a_j) - math.lgamma(a_j + n) for n in totals.values())
    return total + sum(math.lgamma(a_jk + n) - math.lgamma(a_jk) for n in cells.values())


@functools.cache
def log_rising(a, n):
    """Log of a (a + 1) ... (a + n - 1), where differences of lgamma would lose digits."""
    return float(np.log(a + np.arange(n)).sum())


def graph_score(score, graph, rows, states):
    """Sum of the naive local scores."""
    return sum(local_score(score, v, list(graph.predecessors(v)), rows, states) for v in graph)


def ancestors(matrix):
    """[b, a] true where a path leads from a to b."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_edges_from(map(tuple, np.argwhere(matrix)))
    reach = np.zeros(matrix.shape, dtype=bool)
    for b in graph:
        reach[b, list(nx.ancestors(graph, b))] = True
    return reach


def cells(codes, child, parents):
    """Rows of each occurring cell of a family, by (parents' states, child's state), in order."""
    table = {}
    for row in range(codes.shape[1]):
        key = (tuple(codes[p, row] for p in parents), codes[child, row])
        table.setdefault(key, []).append(row)
    return dict(sorted(table.items()))


def is_dag(matrix):
    """Whether an adjacency matrix has no directed cycle."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_edges_from(map(tuple, np.argwhere(matrix)))
    return nx.is_directed_acyclic_graph(graph)


def merged(first, second, gains, least):
    """The first graph with those parts of the second that gain ``least``, best first, no cycle.

    ``gains`` are those of each child's parents; children that differ and are adjacent in either
    graph are one part.
    """
    changed = np.flatnonzero((first != second).any(axis=0)).tolist()
    graph = nx.Graph()
    graph.add_nodes_from(changed)
    arcs = np.argwhere(first | second).tolist()
    graph.add_edges_from((a, b) for a, b in arcs if a in changed and b in changed)
    parts = [sorted(part) for part in nx.connected_components(graph)]
    parts.sort(key=lambda part: -sum(gains[v] for v in part))
    kept = first.copy()
    for part in parts:
        tried = kept.copy()
        tried[:, part] = second[:, part]
        if sum(gains[v] for v in part) >= least and is_dag(tried):
            kept = tried
    return kept


def with_state(matrix, i, j, state):
    """A copy of the matrix in which the pair has the state, +1 being i -> j."""
    changed = matrix.copy()
    changed[i, j], changed[j, i] = state == 1, state == -1
    return changed


def neighbors(matrices, takes_part):
    """Every configuration that differs in one pair of variables, as in section 2.3.2."""
    n = len(matrices[0])
    for i, j in itertools.combinations(range(n), 2):
        members = [s for s in range(len(matrices)) if takes_part[s][i, j]]
        for states in itertools.product((-1, 0, 1), repeat=len(members)):
            changed = list(matrices)
            for s, state in zip(members, states, strict=True):
                changed[s] = with_state(changed[s], i, j, state)
            if all(is_dag(matrix) for matrix in changed):
                yield changed


def all_dags(n):
    """Adjacency matrices of all DAGs over n nodes."""
    pairs = list(itertools.combinations(range(n), 2))
    for states in itertools.product((-1, 0, 1), repeat=len(pairs)):
        matrix = np.zeros((n, n), dtype=bool)
        for (i, j), state in zip(pairs, states, strict=True):
            matrix[i, j], matrix[j, i] = state == 1, state == -1
        if is_dag(matrix):
            yield matrix


def configuration_score(problem, prior, matrices, structure_prior=None):
    """(violated pairs, finite log posterior) of matrices on the union index, from scratch."""
    total, violated = 0.0, 0
    n = len(problem.variables)
    for s, task in enumerate(problem.tasks):
        at = problem.positions[s]
        total += task.scores.score(matrices[s][np.ix_(at, at)])
    for i, j in itertools.combinations(range(n), 2):
        members = [s for s in range(len(problem.tasks)) if problem.takes_part[s, i, j]]
        names = [problem.names[s] for s in members]
        pair = (problem.variables[i], problem.variables[j])
        states = [int(matrices[s][i, j]) - int(matrices[s][j, i]) for s in members]
        value = prior.log_coupling(states, pair=pair, tasks=names)
        violated += value == -math.inf
        total += 0.0 if value == -math.inf else value
        if structure_prior is not None and members:
            weights = prior.structure_weights(pair, names)
            for weight, s in zip(weights, members, strict=True):
                task = problem.tasks[s]
                present, absent = structure_prior.arc_terms(task.variables)
                for a, b in [pair, pair[::-1]]:
                    x, y = task.variables.index(a), task.variables.index(b)
                    held = matrices[s][problem.variables.index(a), problem.variables.index(b)]
                    total += weight * (present if held else absent)[x, y]
    return violated, total


def boosted(member, X, y, weights, loss, n_rounds):
    """Votes and decision function of AdaBoost and LogitBoost of ``member``, as in the papers."""
    s, F, votes = 2 * y - 1, np.zeros(len(y)), []
    for _ in range(n_rounds):
        w = weights * (np.exp(-s * F) if loss == "exponential" else 1 / (1 + np.exp(s * F)))
        h = 2 * clone(member).fit(X, y, sample_weight=w / w.sum()).predict(X) - 1
        error = w[h != s].sum() / w.sum()
        votes.append(np.log((1 - error) / error) / 2)
        F = F + votes[-1] * h
    return votes, F


def weighted_edits(first, second, weight=lambda a, b: 1.0):
    """Weighted edits and sum of weights of the pairs of variables that two graphs share."""
    edits = total = 0.0
    for a, b in itertools.combinations(sorted(set(first) & set(second)), 2):
        states = [(graph.has_edge(a, b), graph.has_edge(b, a)) for graph in (first, second)]
        edits += weight(a, b) * (states[0] != states[1])
        total += weight(a, b)
    return edits, total


def keeps_to(matrix, limits):
    """Whether a graph has all required arcs and only permitted ones."""
    return (
        not (matrix & ~(limits.permitted | limits.required)).any()
        and not (limits.required & ~matrix).any()
        and (matrix.sum(axis=0) <= limits.max_parents).all()
    )


def best_sum(n, limits, value_of):
    """The best sum of ``value_of(child, parents)`` over all graphs within the limits."""
    value_of = functools.cache(value_of)
    return max(
        sum(value_of(v, tuple(np.flatnonzero(matrix[:, v]).tolist())) for v in range(n))
        for matrix in _known_dags(n)
        if keeps_to(matrix, limits)
    )


@functools.cache
def _known_dags(n):
    return list(all_dags(n))


def left_to_gain(problem, matrix, ends):
    """As `climbing.left_to_gain`, from full scores of all graphs with one arc more."""
    current = problem.log_posterior(matrix)
    best, both = 0.0, 0.0
    for a in ends:
        for b in set(range(len(matrix))) - set(ends):
            if matrix[a, b] or matrix[b, a]:
                continue
            ways = [with_state(matrix, a, b, state) for state in (1, -1)]
            gains = [problem.log_posterior(one) - current if is_dag(one) else 0 for one in ways]
            gains = [max(gain, 0.0) for gain in gains]
            best += max(gains) ** 2
            both += sum(gains)
    return round(best, 8), round(both, 8)


def skeleton_and_v_structures(graph):
    """What the DAGs of one equivalence class have in common (Verma & Pearl 1990)."""
    joined = {frozenset(arc) for arc in graph.edges}
    v_structures = {
        (frozenset(pair), child)
        for child in graph
        for pair in itertools.combinations(graph.pred[child], 2)
        if frozenset(pair) not in joined
    }
    return frozenset(joined), frozenset(v_structures)


def crossings(lines):
    """Crossings by comparing every piece of a line with every piece of another one."""
    return sum(
        _meet(one, other)
        for first, second in itertools.combinations(lines, 2)
        for one in itertools.pairwise(first)
        for other in itertools.pairwise(second)
    )


def _meet(first, second):
    """Whether two pieces meet between their ends: both lines are solved for the common point."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = (map(Fraction, point) for point in (*first, *second))
    turn = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if turn == 0:
        return False
    s = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / turn
    t = ((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) / turn
    return 0 < s < 1 and 0 < t < 1


def ranked_labels(y, p):
    """Labels in every order that the probabilities allow, the highest first."""
    for order in itertools.permutations(range(len(y))):
        ranked = p[list(order)]
        if (np.diff(ranked) <= 0).all():
            yield y[list(order)]


def positives_among_first(ranked, n_cases):
    """Positives among the first cases, of which the last may count in part."""
    whole = int(np.floor(n_cases))
    rest = (n_cases - whole) * ranked[whole] if whole < len(ranked) else 0
    return ranked[:whole].sum() + rest


def eleven_precisions(y, p):
    """The best precision of a threshold with each recall of 0, 0.1, ... 1 or more, in fractions."""
    found = []
    for tenths in range(11):
        called = [(p >= threshold) for threshold in p]
        good = [one for one in called if 10 * y[one].sum() >= tenths * y.sum()]
        found.append(max(Fraction(int(y[one].sum()), int(one.sum())) for one in good))
    return found


def leaf_probabilities(leaves, bags, codes, new_leaves, n_classes, smooth, oob_weight, weights):
    """Bagged probability trees: means over trees of the smoothed counts of leaves.

    Parameters
    ----------
    leaves, bags : lists by tree of lists by training case
    codes : list by training case
    new_leaves : list by tree; the leaves of one new case
    smooth : function of the counts of a leaf
    oob_weight : float
        How much a case counts in leaves of trees that have not seen it.
    weights : list of float by training case

    Returns
    -------
    (list of float, list of lists of float)
        Of the new case, and of each training case by trees that have not seen it, without it.
    """

    def counted(t, leaf, without=None):
        found = [0.0] * n_classes
        for i, code in enumerate(codes):
            if leaves[t][i] == leaf and i != without:
                found[code] += weights[i] * (bags[t][i] if bags[t][i] else oob_weight)
        return smooth(found)

    def mean(rows):
        return [sum(row[k] for row in rows) / len(rows) for k in range(n_classes)]

    trees = range(len(bags))
    new = mean([counted(t, new_leaves[t]) for t in trees])
    out = [
        [counted(t, leaves[t][i], i) for t in trees if not bags[t][i]] for i in range(len(codes))
    ]
    return new, [mean(rows) if rows else [math.nan] * n_classes for rows in out]


def example_specific(leaves, bags, codes, new_leaves, n_classes, oob_weight, skips, weights):
    """Mean out-of-bag example-specific probabilities; arguments as in `leaf_probabilities`.

    ``skips`` leaves out trees without the vote in the leaf; otherwise all of its cases count.
    """
    trees, total = range(len(bags)), sum(weights)
    members = [[i for i, code in enumerate(codes) if code == k] for k in range(n_classes)]
    prior = [sum(weights[i] for i in some) / total for some in members]

    def first_most(counts):
        return max(range(n_classes), key=lambda k: (counts[k], -k)) if any(counts) else None

    def vote_of(t, leaf):
        seen = [0] * n_classes
        for i, code in enumerate(codes):
            if leaves[t][i] == leaf:
                seen[code] += bags[t][i] * weights[i]
        return first_most(seen)

    def together(votes):
        return first_most([votes.count(k) for k in range(n_classes)])

    def out_of_bag(i, without=None):
        """The vote on a case by trees that have seen neither it nor another."""
        free = [t for t in trees if not bags[t][i] and (without is None or not bags[t][without])]
        return together([vote_of(t, leaves[t][i]) for t in free])

    out = [out_of_bag(i) for i in range(len(codes))]

    def counted(t, leaf, vote, without):
        found = [0.0] * n_classes
        for i, code in enumerate(codes):
            its_vote = out[i] if without is None else out_of_bag(i, without)
            counts = vote is None or (its_vote is not None and its_vote == vote)
            if leaves[t][i] == leaf and i != without and counts:
                found[code] += weights[i] * (bags[t][i] if bags[t][i] else oob_weight)
        return found

    def mean(places, vote, without=None):
        rows = []
        for t, leaf in places:
            found = counted(t, leaf, vote, without)
            if not any(found) and not skips:
                found = counted(t, leaf, None, without)
            if any(found):
                rows.append([one / sum(found) for one in found])
        return (
            [sum(row[k] for row in rows) / len(rows) for k in range(n_classes)] if rows else prior
        )

    new = mean(list(enumerate(new_leaves)), together([vote_of(t, new_leaves[t]) for t in trees]))
    return new, [
        mean([(t, leaves[t][i]) for t in trees if not bags[t][i]], out[i], i)
        if out[i] is not None
        else [math.nan] * n_classes
        for i in range(len(codes))
    ]
