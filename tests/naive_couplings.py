"""Naive twins of couplings of tasks, and of what is searched and chosen under them."""

import itertools
import math
import statistics

import numpy as np
from small import ONE_GROUP

from bnmtl import IdenticalLearner, MultitaskLearner, PairedPrior, SingleTaskLearner

# Logs of the odds that rho may give an arc, fine enough for 1e-5 nats.
LOG_ODDS = np.linspace(-14, 7, 8401)


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
        value = sum(gains[s][x + 1] for s, x in enumerate(states))
        if value > -math.inf:
            best = max(best, value + log_coupling(states))
    return best


def pair_log_coupling(prior, states, pair):
    """Equation 2.8 or 2.7, with the pair's own penalty where it has one."""
    if len(states) < 2:
        return 0.0
    listed = {frozenset(key): p for key, p in (prior.variable_penalty or {}).items()}
    penalty = listed.get(frozenset(pair), prior.penalty)
    if type(prior).__name__ == "PairedPrior":
        return paired_log_coupling(states, prior.reversal, lambda s, t: penalty)
    costs = prior.costs or {"reverse": prior.reversal}
    return edit_log_coupling(states, penalty, **costs)


def penalty_posterior(prior, tasks, configuration, log_likelihood, chance=None):
    """Log posterior of a penalty: normalizers from all 3^k joint states, rho from a grid.

    ``chance`` is the probability of an arc where that is given, in the place of rho.
    """
    total = np.full(len(LOG_ODDS), float(log_likelihood))
    variables = sorted(set().union(*(task.variables for task in tasks.values())))
    for a, b in itertools.combinations(variables, 2):
        members = [
            name
            for name, task in tasks.items()
            if {a, b} <= set(task.variables) - set(task.constant)
        ]
        graphs = [configuration[name] for name in members]
        states = [graph.has_edge(a, b) - graph.has_edge(b, a) for graph in graphs]
        odds = LOG_ODDS
        if chance is not None:
            odds = (math.log(chance) - math.log1p(-chance)) / (
                1 + (len(members) - 1) * prior.penalty
            )
        normalizer = np.zeros(len(LOG_ODDS))
        for every in itertools.product((-1, 0, 1), repeat=len(members)):
            worth = math.exp(pair_log_coupling(prior, every, (a, b)))
            normalizer += worth * np.exp(odds * np.abs(every).sum())
        total += odds * np.abs(states).sum() + pair_log_coupling(prior, states, (a, b))
        total -= np.log(normalizer)
    return total.max()


def greedy_path(train, grid, **parameters):
    """What `greedy_path` finds, by the learners, from both ends: {penalty: fitted learner}."""
    separate = SingleTaskLearner(**parameters).fit(train).configuration_
    same = IdenticalLearner(table_sharing=None, **parameters).fit(train).configuration_
    best = {}
    for start, penalties in ((separate, sorted(grid)), (same, sorted(grid, reverse=True))):
        for penalty in penalties:
            learner = MultitaskLearner(
                PairedPrior(penalty), start=start, **ONE_GROUP, **parameters
            ).fit(train)
            start = learner.configuration_
            if penalty not in best or learner.score_ > best[penalty].score_ + 1e-6:
                best[penalty] = learner
    return best


def closeness(table):
    """Median over distance by pair of tasks, the distance at least a tenth of the median."""
    pairs = itertools.combinations(sorted(table.index), 2)
    mean = {(s, t): (table.loc[s, t] + table.loc[t, s]) / 2 for s, t in pairs}
    positive = [d for d in mean.values() if d > 0]
    if not positive:
        return dict.fromkeys(mean, 1.0)
    median = statistics.median(positive)
    return {pair: median / max(d, median / 10) for pair, d in mean.items()}


def shared_penalty(penalty, close):
    """1 - (1 - penalty)^close."""
    return -math.expm1(close * math.log1p(-penalty)) if penalty < 1 else 1.0


def grown_family(joint, child, before):
    """Score of the parents chosen among those before: what gains most, again and again.

    In each step one variable gets new holders: the tasks in which it is a parent.
    """
    k = len(joint.problem.tasks)
    parents = [set() for _ in range(k)]

    def value(choice):
        total = sum(joint.local_score(s, child, choice[s]) for s in range(k))
        for p in before:
            members, coupling = joint.couplings.of(min(p, child), max(p, child))
            states = np.array([int(p in choice[s]) for s in members], np.int8)
            total += coupling.log_coupling(states) if len(members) > 1 else 0.0
        return total

    while True:
        now, best = value(parents), None
        for p in before:
            able = np.flatnonzero(joint.problem.takes_part[:, p, child]).tolist()
            for holders in itertools.product((False, True), repeat=len(able)):
                choice = [set(of_task) - {p} for of_task in parents]
                for s, takes in zip(able, holders, strict=True):
                    if takes:
                        choice[s].add(p)
                gain = value(choice) - now
                if gain > 1e-9 and (best is None or gain > best[0] + 1e-9):
                    best = (gain, choice)
        if best is None:
            return now
        parents = best[1]
