"""Naive twins: the definitions written down once more, slowly, for the tests to compare with."""

import itertools
import math
from collections import Counter

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
            total = sum(math.lgamma(c * r) - math.lgamma(c * r + n) for n in totals.values())
            total += sum(math.lgamma(c + n) - math.lgamma(c) for n in cells.values())
            evidences.append(total)
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


def graph_score(score, graph, rows, states):
    """Sum of the naive local scores."""
    return sum(local_score(score, v, list(graph.predecessors(v)), rows, states) for v in graph)


def distance(a, b, reversal):
    """Distance of two states of a pair."""
    if a == b:
        return 0
    return 1 if 0 in (a, b) else reversal


def price(penalty, amount):
    """log((1 - penalty) ** amount), an amount of 0 being free."""
    if amount == 0:
        return 0.0
    return amount * math.log1p(-penalty) if penalty < 1 else -math.inf


def paired_log_coupling(states, reversal, penalty_of):
    """Equation 2.8 for one pair of variables; ``penalty_of(s, t)`` by position."""
    k = len(states)
    return sum(
        price(penalty_of(s, t), distance(states[s], states[t], reversal) / (k - 1))
        for s, t in itertools.combinations(range(k), 2)
    )


def edit_log_coupling(states, penalty, add=1, delete=1, reverse=1):
    """Equation 2.7 for one pair of variables."""

    def cost(state, target):
        if state == target:
            return 0
        if state == 0:
            return add
        if target == 0:
            return delete
        return min(reverse, add + delete)

    edits = min(sum(cost(state, target) for state in states) for target in (-1, 0, 1))
    return price(penalty, edits)


def best_value(gains, log_coupling):
    """Largest sum of gains plus coupling over all 3^k joint states."""
    k = len(gains)
    best = -math.inf
    for states in itertools.product((-1, 0, 1), repeat=k):
        own = sum(gains[s][x + 1] for s, x in enumerate(states))
        if own > -math.inf:
            best = max(best, own + log_coupling(states))
    return best


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


def partitions(items):
    """All partitions of a list into groups, each a list of lists."""
    if not items:
        yield []
        return
    first, *rest = items
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [item for item in rest if item not in others]
            for groups in partitions(left):
                yield [[first, *others], *groups]


def log_sum(values):
    """Log of the sum of exponentials."""
    most = max(values)
    return most + math.log(sum(math.exp(value - most) for value in values))


def dirichlet_evidence(counts, c):
    """Log evidence of counts under Dirichlet(c, ..., c)."""
    total = math.lgamma(len(counts) * c) - math.lgamma(len(counts) * c + sum(counts))
    return total + sum(math.lgamma(c + n) - math.lgamma(c) for n in counts)


def row_evidence(counts, c, t):
    """Log evidence of one row over tasks in groups; counts by task and state."""
    counts = [own for own in counts if sum(own)]
    found = []
    for groups in partitions(list(range(len(counts)))):
        value = math.lgamma(t) - math.lgamma(t + len(counts))
        for group in groups:
            merged = [sum(ns) for ns in zip(*(counts[s] for s in group), strict=True)]
            value += math.log(t) + math.lgamma(len(group)) + dirichlet_evidence(merged, c)
        found.append(value)
    return log_sum(found)


def shared_evidence(counts, concentrations, ts):
    """Log evidence of a family over tasks that may share its table; counts[task][row][state]."""
    by_row = list(zip(*counts, strict=True))
    values = [
        sum(row_evidence(row, c, t) for row in by_row if any(map(sum, row)))
        for c in concentrations
        for t in ts
    ]
    return log_sum(values) - math.log(len(values))


def table_components(counts, concentrations, ts, strengths, floor=1e-3):
    """(log evidence, tables) of every prior over tables that tasks may share; counts[s][j][k]."""
    k = len(counts)
    by_row = [list(row) for row in zip(*counts, strict=True)]
    for c in concentrations:
        for t in ts:
            value = 0.0
            for row in by_row:
                for s in range(k):
                    value += _row_or_0(row, c, t) - _row_or_0(row[:s] + row[s + 1 :], c, t)
            means = [[_group_mean(row, s, c, t) for row in by_row] for s in range(k)]
            yield value, means
    for c in concentrations:
        for strength in strengths:
            value, tables = 0.0, []
            for s in range(k):
                tables.append([])
                for row in by_row:
                    others = [sum(ns) + c for ns in zip(*(row[:s] + row[s + 1 :]), strict=True)]
                    prior = [strength * one / sum(others) + floor for one in others]
                    value += math.lgamma(sum(prior)) - math.lgamma(sum(prior) + sum(row[s]))
                    pairs = list(zip(row[s], prior, strict=True))
                    value += sum(math.lgamma(a + n) - math.lgamma(a) for n, a in pairs)
                    total = sum(row[s]) + sum(prior)
                    tables[s].append([(n + a) / total for n, a in pairs])
            yield value, tables
    tasks = [_own_components(rows, concentrations) for rows in counts]
    value = sum(log_sum(values) - math.log(len(values)) for values, _ in tasks)
    yield value, [weighted_mean(*own) for own in tasks]


def averaged_table(rows, concentrations):
    """The table of one task's counts, averaged over concentrations by their evidence."""
    return weighted_mean(*_own_components(rows, concentrations))


def _own_components(rows, concentrations):
    """Log evidence of one task's counts, and its table, under each concentration."""
    values = [sum(dirichlet_evidence(row, c) for row in rows) for c in concentrations]
    means = [
        [[(n + c) / (sum(row) + len(row) * c) for n in row] for row in rows] for c in concentrations
    ]
    return values, means


def _row_or_0(row, c, t):
    return row_evidence(row, c, t) if any(map(sum, row)) else 0.0


def _group_mean(row, s, c, t):
    """Posterior mean of a row for task s, over the groups that it may be in."""
    values, means = [], []
    for groups in partitions(list(range(len(row)))):
        value = 0.0
        for group in groups:
            merged = [sum(ns) for ns in zip(*(row[one] for one in group), strict=True)]
            value += math.log(t) + math.lgamma(len(group)) + dirichlet_evidence(merged, c)
            if s in group:
                mean = [(n + c) / (sum(merged) + len(merged) * c) for n in merged]
        values.append(value)
        means.append(mean)
    return weighted_mean(values, means)


def weighted_mean(values, means):
    """Mean of nested lists, each weighted by the exponential of its value."""
    weights = np.exp(np.array(values) - max(values))
    return np.tensordot(weights / weights.sum(), np.array(means), axes=1)


def shared_tables(counts, concentrations, ts, strengths):
    """Tables of tasks that borrow from each other; counts[s][j][k]."""
    found = list(table_components(counts, concentrations, ts, strengths))
    return weighted_mean([value for value, _ in found], [tables for _, tables in found])


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
