"""Random changes of a graph: legal, of the right number, and among variables that are close."""

from types import SimpleNamespace

import naive
import networkx as nx
import numpy as np
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import agrees_with_its_arcs, dags, problem_of, random_frame, state_of

from bnmtl import BDeu
from bnmtl._kernels import climbing
from bnmtl.search import hill_climbing, orders
from bnmtl.search.graph_state import Budget
from bnmtl.search.problem import TaskProblem, constraints_by_task
from bnmtl.tasks import encode


def disturbed(state, seed, n_changes):
    """The graph after random changes."""
    with state.scores.scratch() as scratch:
        climbing.disturb(
            state.scores.engine.table,
            scratch.table,
            state.task.table,
            state.dag.table,
            np.arange(len(state.adjacency)),
            np.array([seed + 1], np.uint64),
            n_changes,
        )
        touched = scratch.touched[: len(state.adjacency)].copy()
    return state.adjacency.copy(), touched


@settings(max_examples=examples(40))
@given(dags(), st.integers(0, 10**6), st.integers(0, 5), st.integers(1, 3))
def test_random_changes_stay_legal(matrix, seed, n_changes, limit):
    matrix = matrix & (np.cumsum(matrix, axis=0) <= limit)
    problem = problem_of(random_frame(seed, len(matrix)), max_parents=limit)
    state = state_of(problem, matrix=matrix)
    changed, touched = disturbed(state, seed, n_changes)
    agrees_with_its_arcs(state)
    assert naive.is_dag(changed)
    assert (changed.sum(axis=0) <= limit).all()
    differing = np.triu((changed != matrix) | (changed != matrix).T)
    assert differing.sum() <= n_changes
    assert (touched | (changed == matrix).all(axis=0)).all()


@settings(max_examples=examples(50))
@given(st.integers(0, 10**6), st.sampled_from([4, 9, 12, 30]))
def test_random_changes_make_no_family_too_large(seed, most_cells):
    tasks = encode({"t": random_frame(seed, 5)})
    limits = constraints_by_task(tasks, (), (), None, None)
    (problem,) = TaskProblem.of_all(tasks, BDeu(), limits, max_cells=float(most_cells))
    state = state_of(problem)
    changed, _ = disturbed(state, seed, 20)
    for child, parents in enumerate(changed.T):
        cells = np.prod(problem.scores.engine.arities[np.append(np.flatnonzero(parents), child)])
        assert cells <= most_cells or not parents.any()


def test_random_changes_add_remove_and_turn_round_equally_often():
    """From one arc among three variables: removed, turned round, or one of four others set."""
    matrix = np.zeros((3, 3), dtype=bool)
    matrix[0, 1] = True
    counts = {}
    state = state_of(problem_of(random_frame(0, 3)))
    for seed in range(600):
        state.reset(matrix)
        changed, _ = disturbed(state, 7919 * seed, 1)
        counts[changed.tobytes()] = counts.get(changed.tobytes(), 0) + 1
    assert len(counts) == 6
    assert 60 < min(counts.values()) <= max(counts.values()) < 145


def dag_of(matrix):
    return state_of(problem_of(random_frame(0, len(matrix))), matrix=matrix).dag


def drawn_near(dag, variables, size, seed):
    """Variables that `draw_near` draws."""
    near = np.full(size, -1)
    random = np.array([seed + 1], np.uint64)
    n_near = climbing.draw_near(dag.table, np.array(variables), random, near)
    assert (near[n_near:] == -1).all()
    return near[:n_near].tolist()


@settings(max_examples=examples(40))
@given(
    st.integers(1, 12).flatmap(lambda n: st.tuples(*(st.integers(-1, v - 1) for v in range(n)))),
    st.integers(0, 10**6),
    st.integers(1, 14),
)
def test_variables_that_are_drawn_near_are_close_in_the_graph(parents, seed, size):
    """Breadth first in a forest: none is farther from the first than one that is left out."""
    n = len(parents)
    matrix = np.zeros((n, n), dtype=bool)
    for v, parent in enumerate(parents):
        if parent >= 0:
            matrix[parent, v] = True
    near = drawn_near(dag_of(matrix), range(n), size, seed)
    assert len(set(near)) == len(near) == min(size, n)
    graph = nx.from_numpy_array(matrix | matrix.T)
    steps = nx.single_source_shortest_path_length(graph, near[0])
    far = [steps.get(v, n) for v in near]
    assert far == sorted(far)
    assert all(far[-1] <= steps.get(v, n) for v in set(range(n)) - set(near))


def test_any_variable_may_be_drawn_first_and_any_neighbor_next():
    """A star: from the middle each of the others follows about equally often."""
    matrix = np.zeros((5, 5), dtype=bool)
    matrix[0, 1:3] = matrix[3:, 0] = True
    dag, first, second = dag_of(matrix), [], []
    for seed in range(1000):
        near = drawn_near(dag, range(5), 2, 7919 * seed)
        first.append(near[0])
        second += near[1:] if near[0] == 0 else []
        assert near[0] == 0 or near[1] == 0
    assert min(np.bincount(first)) > 150
    assert min(np.bincount(second, minlength=5)[1:]) > 20


def test_variables_without_pairs_are_not_drawn():
    matrix = np.zeros((4, 4), dtype=bool)
    assert sorted(drawn_near(dag_of(matrix), [0, 2, 3], 8, 3)) == [0, 2, 3]


def climbs_of(state, seed):
    """The climbs of a search over orders, before its first start."""
    walk = SimpleNamespace(engine=state.scores.engine.table, random=np.array([seed + 1], np.uint64))
    return orders.Climbs(state, walk, 10, 10, Budget())


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6), st.sampled_from([1, 2, None]))
def test_later_starts_are_local_optima(seed, max_parents):
    """Random changes of the graph climbed to, climbed from: legal, and no single change gains."""
    state = state_of(problem_of(random_frame(seed, 7), max_parents=max_parents), seed)
    with state.scores.scratch() as scratch:
        climb = climbs_of(state, seed)
        climb.begin(scratch, 0)
        assert (climb.current.held == state.dag.held).all()
        climb.begin(scratch, 20)
    state.reset(climb.current.held.T.copy())
    assert naive.is_dag(state.adjacency)
    assert max_parents is None or (state.adjacency.sum(axis=0) <= max_parents).all()
    reached = state.score
    rng = np.random.default_rng(0)
    assert hill_climbing.search(state, rng, Budget(), restarts=0, tabu=0) == reached


def test_later_starts_differ():
    state = state_of(problem_of(random_frame(0, 7)))
    with state.scores.scratch() as scratch:
        climb, begun = climbs_of(state, 0), set()
        for _ in range(10):
            climb.begin(scratch, 7)
            begun.add(climb.current.held.tobytes())
    assert len(begun) > 3
