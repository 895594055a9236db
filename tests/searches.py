"""Problems of one task and of several, as searches get them, and graphs under search."""

import itertools
import warnings

import naive
import numpy as np
import pandas as pd
from hypothesis import strategies as st

from bnmtl import BDeu, EditPrior, PairedPrior
from bnmtl.search.problem import JointProblem, TaskProblem, constraints_by_task
from bnmtl.search.ties import Ties, tolerance
from bnmtl.tasks import encode


@st.composite
def dags(draw, most=6):
    n = draw(st.integers(1, most))
    order = draw(st.permutations(range(n)))
    matrix = np.zeros((n, n), dtype=bool)
    for a, b in itertools.combinations(range(n), 2):
        matrix[order[a], order[b]] = draw(st.booleans())
    return matrix


def random_frame(seed, n, n_rows=60):
    """Columns that depend on one another a little."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 3, n_rows)
    noise = rng.integers(0, 3, (n_rows, n))
    mixed = np.where(rng.random((n_rows, n)) < 0.6, hidden[:, None], noise)
    return pd.DataFrame(mixed.astype(str), columns=[f"v{v}" for v in range(n)])


def problem_of(frame, score=None, structure_prior=None, max_parents=None, **constraints):
    tasks = encode({"t": frame})
    by_task = constraints_by_task(
        tasks,
        constraints.get("required", ()),
        constraints.get("forbidden", ()),
        constraints.get("tiers"),
        max_parents,
    )
    (problem,) = TaskProblem.of_all(tasks, score or BDeu(), by_task, {"t": structure_prior})
    return problem


def state_of(problem, seed=0, matrix=None):
    """The graph of the required arcs, or a given one, under search."""
    matrix = problem.constraints.required if matrix is None else matrix
    empty = problem.log_posterior(np.zeros_like(matrix))
    return problem.state(matrix, Ties(problem.variables, seed, tolerance(empty)))


def may_set(state):
    """[a, b] true where the arc may be set now."""
    n = len(state.adjacency)
    pairs = itertools.permutations(range(n), 2)
    allowed = np.zeros((n, n), dtype=bool)
    for a, b in pairs:
        allowed[a, b] = state.may_set(a, b)
    return allowed


def agrees_with_its_arcs(state):
    """Parents, ancestors and the mark of a graph are those that its adjacency asks for."""
    matrix = state.adjacency
    dag, n = state.dag, len(matrix)
    assert (dag.n_parents == matrix.sum(axis=0)).all()
    for b in range(n):
        held = dag.parents[b, : dag.n_parents[b]]
        assert held.tolist() == np.flatnonzero(matrix[:, b]).tolist()
    bits = np.unpackbits(dag.ancestors.view(np.uint8), axis=1, bitorder="little")[:, :n]
    assert (bits.astype(bool) == naive.ancestors(matrix)).all()
    assert dag.mark[0] == np.bitwise_xor.reduce(state.task.arc_keys[matrix.T], initial=0)


def random_tasks(seed, n, k, n_rows=30):
    """Related tasks over at most n variables; some lack a variable, some columns are constant."""
    rng = np.random.default_rng(seed)
    weights = rng.random((n, n)) < 0.5
    frames = {}
    for s in range(k):
        adjacency = weights ^ (rng.random((n, n)) < 0.15)
        columns = {}
        for v in range(n):
            noise = rng.integers(0, 2, n_rows)
            parents = [columns[f"v{p}"] for p in range(v) if adjacency[p, v]]
            signal = np.sum(parents, axis=0) % 2 if parents else noise
            columns[f"v{v}"] = np.where(rng.random(n_rows) < 0.75, signal, noise)
        if n > 2 and rng.random() < 0.3:
            del columns[f"v{rng.integers(n)}"]
        if rng.random() < 0.2:
            columns[rng.choice(sorted(columns))][:] = 0
        frames[f"task{s}"] = pd.DataFrame(columns).astype(str)
    return frames


def random_constraints(frames, rng):
    """Demands of each task's own, which may contradict those of the others."""
    constraints = {"required": {}, "forbidden": {}}
    for task, frame in frames.items():
        names = sorted(frame.columns[frame.nunique() > 1])
        pairs = [(a, b) for a in names for b in names if a < b]
        rng.shuffle(pairs)
        constraints["required"][task] = [tuple(pair) for pair in pairs[:1] if rng.random() < 0.5]
        constraints["forbidden"][task] = [tuple(pair) for pair in pairs[1:2] if rng.random() < 0.5]
    return {**constraints, "max_parents": int(rng.integers(1, 4))}


def joint_problem(frames, structure_prior=None, **constraints):
    tasks = encode_quietly(frames)
    by_task = constraints_by_task(
        tasks,
        constraints.get("required", ()),
        constraints.get("forbidden", ()),
        constraints.get("tiers"),
        constraints.get("max_parents"),
    )
    return JointProblem(
        TaskProblem.of_all(tasks, BDeu(), by_task, dict.fromkeys(tasks, structure_prior))
    )


def encode_quietly(frames):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encode(frames)


class FewDirections:
    """A coupling of one's own: half a nat for every task that departs from the first."""

    def __repr__(self):
        return "FewDirections()"

    def log_coupling(self, states, pair=None, tasks=None):
        return -0.5 * sum(state != states[0] for state in states[1:])


PRIORS = [
    PairedPrior(0.5),
    PairedPrior(0.99, reversal=1),
    PairedPrior(1.0),
    EditPrior(0.9),
    EditPrior(0.9, costs={"add": 2, "delete": 0.5, "reverse": 1}),
    EditPrior(1.0),
    PairedPrior(0.9, variable_penalty={("v0", "v1"): 1.0, ("v1", "v2"): 0.0}),
    PairedPrior(0.9, task_penalty={("task0", "task1"): 1.0, ("task1", "task2"): 0.2}),
    PairedPrior(0.9, reversal=1, task_penalty={("task0", "task2"): 0.1}),
    FewDirections(),
]


def three_tasks(seed, n, missing=True):
    """Three tasks, the last of which may lack a variable."""
    tasks = {f"t{s}": random_frame(10 * seed + s, n, 50) for s in range(3)}
    if missing:
        tasks["t2"] = tasks["t2"].drop(columns=f"v{n - 1}")
    return tasks
