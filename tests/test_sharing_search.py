"""One graph for tasks that may have tables in common: its score, gains, and the search for it."""

import itertools
from collections import Counter

import naive_tables
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import encode_quietly
from shared import CONCENTRATIONS, SCORE, TS, log_evidence, tasks_of

from bnmtl import ArcPrior, Exact, HillClimbing, Orders
from bnmtl.progress import Reporter
from bnmtl.scores import PART_CONCENTRATION
from bnmtl.search.effort import Effort
from bnmtl.search.graph_state import GraphState
from bnmtl.search.one_graph import search_identical
from bnmtl.search.problem import JointProblem, TaskProblem, constraints_by_task
from bnmtl.search.ties import Ties
from bnmtl.tasks import encode


def joint_of(tasks, prior=None, **limits):
    constraints = constraints_by_task(tasks, (), (), None, None)
    priors = None if prior is None else dict.fromkeys(tasks, prior)
    return JointProblem(
        TaskProblem.of_all(tasks, SCORE, constraints, priors, partitions=TS, **limits)
    )


def graph_of(draw, n):
    """Adjacency of a random DAG."""
    order = draw(st.permutations(range(n)))
    matrix = np.zeros((n, n), dtype=bool)
    for first, second in itertools.combinations(order, 2):
        matrix[first, second] = draw(st.booleans())
    return matrix


@settings(max_examples=examples(30))
@given(tasks_of(), st.data())
def test_score_of_one_graph(tasks, data):
    joint = joint_of(tasks)
    matrix = graph_of(data.draw, len(joint.variables))
    scores = joint.scores(range(len(tasks)))
    assert scores.is_shared
    expected = log_evidence(tasks, joint, matrix & joint.takes_part)
    assert scores.score(matrix) == pytest.approx(expected, abs=1e-8)
    families = [scores.local_score(v, np.flatnonzero(row)) for v, row in enumerate(matrix.T)]
    assert sum(families) == pytest.approx(scores.score(matrix), abs=1e-9)


@settings(max_examples=examples(30))
@given(tasks_of(), st.data())
def test_gains_are_differences_of_scores(tasks, data):
    joint = joint_of(tasks)
    n = len(joint.variables)
    matrix = graph_of(data.draw, n)
    scores, constraints, _ = joint.identical()
    matrix &= constraints.permitted
    state = GraphState(scores, constraints, Ties(joint.variables, 0, 1e-9), matrix)
    assert state.score == pytest.approx(scores.score(matrix), abs=1e-9)
    for child in range(n):
        parents = np.flatnonzero(matrix[:, child])
        gains, current = scores.gains(child, parents), scores.local_score(child, parents)
        assert gains[child] == pytest.approx(current, abs=1e-9)
        for v in np.delete(np.arange(n), child):
            change = scores.local_score(child, set(parents.tolist()) ^ {int(v)}) - current
            assert gains[v] == pytest.approx(change, abs=1e-9)
            if constraints.permitted[v, child]:
                assert state.toggles[v, child] == pytest.approx(change, abs=1e-9)
            else:
                assert np.isnan(state.toggles[v, child])


def occurring_counts(tasks, parents, child):
    """Like `counts_of`, only for the rows of the table that occur in some task."""
    names = [*parents, child]
    cases = [
        Counter(zip(*(t.codes[t.variables.index(v)].tolist() for v in names), strict=True))
        for t in tasks
    ]
    rows = sorted({case[:-1] for counts in cases for case in counts})
    states = range(len(tasks[0].states[tasks[0].variables.index(child)]))
    return [[[counts[(*row, state)] for state in states] for row in rows] for counts in cases]


@pytest.mark.parametrize(
    "n_parents", [0, 1, 3, pytest.param(7, marks=pytest.mark.slow_without_jit)]
)
def test_gains_of_many_rows(n_parents):
    # Tasks of one word of bits and of several; the rows of the last are merged. With seven parents
    # there are too many cells for bit sets.
    rng = np.random.default_rng(n_parents)
    names = [f"v{at}" for at in range(9)]
    chances = [0.3, 0.3, 0.3, 0.1]
    frames = {}
    for s, n_rows in enumerate((5, 63, 65, 200)):
        codes = rng.choice(4, (n_rows, len(names)), p=chances)
        frames[f"t{s}"] = pd.DataFrame(codes, columns=names)
    few = rng.choice(4, (6, len(names)))
    frames["t4"] = pd.DataFrame(few[rng.integers(0, 6, 400)], columns=names)
    tasks = encode_quietly(frames)
    scores = joint_of(tasks, max_cells=10**9).scores(range(len(tasks)))
    assert (scores.bound.whole.weight_at >= 0).tolist() == [False] * 4 + [True]
    child, parents = 8, list(range(n_parents))
    gains = scores.gains(child, parents)

    def evidence(held):
        counts = occurring_counts(list(tasks.values()), [names[v] for v in held], names[child])
        return naive_tables.shared_evidence(counts, CONCENTRATIONS, TS, PART_CONCENTRATION)

    current = evidence(parents)
    assert gains[child] == pytest.approx(current, rel=1e-10)
    for v in {0, n_parents, 7}:
        assert gains[v] == pytest.approx(evidence(sorted({*parents} ^ {v})) - current, abs=1e-6)


def test_families_that_are_too_large_are_left_out():
    rng = np.random.default_rng(0)
    frames = {f"t{s}": pd.DataFrame(rng.integers(0, 3, (20, 3))).astype(str) for s in range(2)}
    tasks = encode({name: frame.add_prefix("v") for name, frame in frames.items()})
    scores = joint_of(tasks, max_cells=9).scores(range(2))
    assert np.isfinite(scores.gains(0, [])).all()
    gains = scores.gains(0, [1])
    assert np.isnan(gains[2]) and np.isfinite(gains[:2]).all()
    assert scores.bound.left_out == ["v0", "v2", "v1"]


SEARCHES = (Orders(starts=3, iterations=10), HillClimbing(restarts=20), Exact())


@pytest.mark.slow_without_jit
@settings(max_examples=examples(15))
@given(tasks_of(most_variables=3), st.sampled_from(SEARCHES))
def test_the_best_graph_is_found(tasks, search):
    prior = ArcPrior(probability=0.2)
    joint = joint_of(tasks, prior)
    effort = Effort(0, search)
    found, score, _ = search_identical(joint, None, effort, Reporter(False))
    scores, constraints, terms = joint.identical()
    present, absent = (sum(task_terms[side] for task_terms in terms) for side in (0, 1))

    def value(matrix):
        return scores.score(matrix) + float(np.where(matrix, present, absent).sum())

    n = len(joint.variables)
    pairs = list(itertools.combinations(range(n), 2))
    best = -np.inf
    for states in itertools.product((-1, 0, 1), repeat=len(pairs)):
        matrix = np.zeros((n, n), dtype=bool)
        for (a, b), state in zip(pairs, states, strict=True):
            matrix[a, b], matrix[b, a] = state == 1, state == -1
        # Of three variables only a circle of all is a cycle.
        if (matrix & ~constraints.permitted).any() or is_circle(matrix):
            continue
        best = max(best, value(matrix))
    assert value(found) == pytest.approx(best, abs=1e-7)
    assert score == pytest.approx(best, abs=1e-7)


def is_circle(matrix):
    return len(matrix) == 3 and bool(np.linalg.matrix_power(matrix.astype(int), 3).trace())
