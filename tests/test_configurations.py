"""Greedy search over configurations: brute force on small problems, and the queue's promise."""

import itertools
import math

import naive
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import PRIORS, joint_problem, random_constraints, random_tasks

from bnmtl import ArcPrior, EditPrior, PairedPrior
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.ties import Ties, tolerance


def is_allowed(problem, matrices):
    """Whether every graph is acyclic and meets its task's constraints."""
    return all(
        naive.is_dag(matrix)
        and not (matrix & ~limits.permitted).any()
        and not (limits.required & ~matrix).any()
        and (matrix.sum(axis=0) <= limits.max_parents).all()
        for matrix, limits in zip(matrices, problem.constraints, strict=True)
    )


def searched(problem, prior, matrices, seed=0):
    couplings = Couplings(prior, problem)
    empty = np.zeros_like(matrices)
    free = Ties(problem.variables, seed, 1e-9)
    level = ConfigurationSearch(problem, couplings, free, empty).score[1]
    return ConfigurationSearch(
        problem, couplings, Ties(problem.variables, seed, tolerance(level)), matrices
    )


def random_start(problem, rng):
    """Random DAGs over the pairs that take part."""
    n = len(problem.variables)
    order = np.argsort(rng.random(n))
    upper = np.triu(np.ones((n, n), dtype=bool), 1)[np.ix_(order, order)]
    parts = problem.takes_part
    return np.stack([upper & part & (rng.random((n, n)) < 0.4) for part in parts])


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: repr(prior)[:60])
@settings(max_examples=examples(6))
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4), k=st.integers(2, 3))
def test_the_end_is_a_local_optimum_of_the_whole_neighborhood(prior, seed, n, k):
    """Brute force over every pair and all 3^k states, from a random start, violated or not."""
    problem = joint_problem(random_tasks(seed, n, k))
    search = searched(problem, prior, random_start(problem, np.random.default_rng(seed)), seed)
    search.run()
    assert all(map(naive.is_dag, search.adjacency))
    violated, score = search.score
    assert (violated, pytest.approx(score, rel=1e-9, abs=1e-9)) == naive.configuration_score(
        problem, prior, search.adjacency
    )
    for neighbor in naive.neighbors(search.adjacency, problem.takes_part):
        other_violated, other = naive.configuration_score(problem, prior, neighbor)
        assert other_violated >= violated
        if other_violated == violated:
            assert other <= score + 2 * search.ties.tolerance + 1e-9 * abs(score)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: repr(prior)[:60])
@settings(max_examples=examples(6))
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4), k=st.integers(2, 3))
def test_the_end_is_a_local_optimum_under_constraints(prior, seed, n, k):
    """The same with required and forbidden arcs of each task's own and a limit on parents."""
    rng = np.random.default_rng(seed)
    frames = random_tasks(seed, n, k)
    problem = joint_problem(frames, **random_constraints(frames, rng))
    search = searched(problem, prior, np.stack([one.required for one in problem.constraints]), seed)
    search.run()
    assert is_allowed(problem, search.adjacency)
    violated, score = naive.configuration_score(problem, prior, search.adjacency)
    assert search.score == (violated, pytest.approx(score, rel=1e-9, abs=1e-9))
    for neighbor in naive.neighbors(search.adjacency, problem.takes_part):
        if not is_allowed(problem, neighbor):
            continue
        other_violated, other = naive.configuration_score(problem, prior, neighbor)
        assert other_violated >= violated
        if other_violated == violated:
            assert other <= score + 2 * k * search.ties.tolerance + 1e-9 * abs(score)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: repr(prior)[:60])
@settings(max_examples=examples(6))
@given(seed=st.integers(0, 10**6), n=st.integers(2, 5), k=st.integers(2, 4))
def test_every_step_gains_what_it_says_and_the_queue_misses_nothing(prior, seed, n, k):
    """Each move's gain equals the full rescore, and no unsolved pair would have been better."""
    problem = joint_problem(random_tasks(seed, n, k))
    search = searched(problem, prior, random_start(problem, np.random.default_rng(seed)), seed)
    pairs = list(itertools.combinations(range(len(problem.variables)), 2))
    while True:
        before = naive.configuration_score(problem, prior, search.adjacency)
        violated = sorted(search.violated)
        every = [search.solve_pair(i, j)[0] for i, j in (violated or pairs)]
        if violated and max(every) == -math.inf:
            every = [search.solve_pair(i, j)[0] for i, j in pairs]
        if not search.step():
            assert not violated
            assert max(every, default=0) <= search.ties.tolerance
            break
        assert all(map(naive.is_dag, search.adjacency))
        after = naive.configuration_score(problem, prior, search.adjacency)
        assert after[0] == before[0] - bool(violated)
        assert after[1] - before[1] == pytest.approx(
            max(every), abs=2 * search.ties.tolerance + 1e-9 * abs(before[1])
        )


@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4), k=st.integers(2, 3))
def test_structure_priors_are_weighted_by_the_penalties(seed, n, k):
    """Exponents w_s per pair of variables, in the score and in every step."""
    structure_prior = ArcPrior(probability=0.1)
    prior = PairedPrior(
        0.9, task_penalty={("task0", "task1"): 0.3}, variable_penalty={("v0", "v1"): 0}
    )
    problem = joint_problem(random_tasks(seed, n, k), structure_prior)
    # Constant variables take no part, so only tasks without them compare with the plain sum.
    if not all(task.active.all() for task in problem.tasks):
        return
    search = searched(problem, prior, np.zeros_like(problem.takes_part))
    search.run()
    expected = naive.configuration_score(problem, prior, search.adjacency, structure_prior)
    assert search.score == (expected[0], pytest.approx(expected[1], rel=1e-9))
    for neighbor in naive.neighbors(search.adjacency, problem.takes_part):
        other = naive.configuration_score(problem, prior, neighbor, structure_prior)[1]
        assert other <= expected[1] + 1e-8


def test_violated_pairs_are_repaired_first():
    """At penalty 1 a start that disagrees moves to agreement even where that costs score."""
    problem = joint_problem(random_tasks(3, 3, 2, n_rows=200))
    n = len(problem.variables)
    start = np.zeros((2, n, n), dtype=bool)
    start[0] = np.triu(np.ones((n, n), dtype=bool), 1) & problem.takes_part[0]
    search = searched(problem, PairedPrior(1.0), start)
    counts = [search.score[0]]
    assert counts[0] > 0
    while search.step():
        counts.append(search.score[0])
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 0


@pytest.mark.parametrize("prior", [PairedPrior(0.9), EditPrior(0.9), PairedPrior(1.0)])
def test_a_direction_that_is_free_falls_to_the_coin(prior):
    """Under BDeu both directions of a single arc score alike; the coin decides for all tasks."""
    same = [0, 1] * 20
    frames = {f"task{s}": pd.DataFrame({"v0": same, "v1": same}) for s in range(3)}
    problem = joint_problem(frames)
    seen = set()
    for seed in range(12):
        search = searched(problem, prior, np.zeros_like(problem.takes_part), seed)
        search.run()
        forward = bool(search.ties.coins[0, 1])
        assert search.adjacency[:, 0, 1].tolist() == [forward] * 3
        assert search.adjacency[:, 1, 0].tolist() == [not forward] * 3
        seen.add(forward)
    assert seen == {True, False}


def test_the_coin_orients_tasks_that_are_free_one_by_one():
    """A pair with penalty 0: each task's direction is the coin's, not that of rounding."""
    rng = np.random.default_rng(0)
    frames = {}
    for s in range(4):
        a = rng.integers(0, 3, 90 + s)
        frames[f"task{s}"] = pd.DataFrame({"v0": a, "v1": (a + (rng.random(90 + s) < 0.3)) % 3})
    problem = joint_problem(frames)
    prior = PairedPrior(0.9, variable_penalty={("v0", "v1"): 0.0})
    for seed in range(8):
        search = searched(problem, prior, np.zeros_like(problem.takes_part), seed)
        search.run()
        assert search.adjacency[:, 0, 1].tolist() == [bool(search.ties.coins[0, 1])] * 4


def test_constraints_of_each_task_are_kept():
    frames = random_tasks(11, 4, 3, n_rows=120)
    names = sorted(set.intersection(*(set(f.columns[f.nunique() > 1]) for f in frames.values())))
    constraints = {
        "required": {"task0": [(names[0], names[1])]},
        "forbidden": {"task1": [(names[0], names[1]), (names[1], names[0])]},
        "max_parents": 1,
    }
    problem = joint_problem(frames, **constraints)
    start = np.stack([one.required for one in problem.constraints])
    search = searched(problem, PairedPrior(0.9), start)
    search.run()
    i, j = problem.variables.index(names[0]), problem.variables.index(names[1])
    assert search.adjacency[0, i, j]
    assert not search.adjacency[1, i, j]
    assert not search.adjacency[1, j, i]
    assert (search.adjacency.sum(axis=1) <= 1).all()


def test_constraints_that_no_agreement_can_meet_are_refused():
    frames = random_tasks(1, 2, 2)
    frames = {
        name: frame.assign(v0=list("ab") * 15, v1=list("ba") * 15) for name, frame in frames.items()
    }
    problem = joint_problem(
        frames, required={"task0": [("v0", "v1")]}, forbidden={"task1": [("v0", "v1")]}
    )
    with pytest.raises(ValueError, match="between v0 and v1"):
        Couplings(PairedPrior(1.0), problem).check_agreement()
    Couplings(PairedPrior(0.9), problem).check_agreement()


@pytest.mark.parametrize("prior", [PairedPrior(0.9), EditPrior(0.9)])
def test_tasks_without_shared_pairs_are_not_coupled(prior):
    left = random_tasks(5, 2, 1, 60)["task0"]
    right = random_tasks(6, 2, 1, 60)["task0"].rename(columns={"v0": "w0", "v1": "w1"})
    together = joint_problem({"a": left, "b": right})
    search = searched(together, prior, np.zeros((2, 4, 4), dtype=bool))
    search.run()
    separate = 0.0
    for frame in (left, right):
        alone = joint_problem({"a": frame})
        single = searched(alone, prior, np.zeros((1, 2, 2), dtype=bool))
        single.run()
        separate += single.score[1]
    assert search.score[1] == pytest.approx(separate, rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@settings(max_examples=examples(6))
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 3))
def test_a_search_that_is_reset_is_as_a_new_one(prior, seed, n, k):
    problem = joint_problem(random_tasks(seed, n, k))
    couplings, ties = Couplings(prior, problem), Ties(problem.variables, seed, 1e-9)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(problem.variables))
    forward = np.argsort(order)[:, None] < np.argsort(order)
    part = problem.takes_part
    starts = [(rng.random(part.shape) < 0.4) & forward & part for _ in range(3)]
    again = ConfigurationSearch(problem, couplings, ties, starts[0])
    for matrices in starts[1:]:
        again.run()
        again.reset(matrices)
        new = ConfigurationSearch(problem, couplings, ties, matrices)
        assert again.score == pytest.approx(new.score)
        assert again.violated == new.violated
        again.run()
        new.run()
        assert (again.adjacency == new.adjacency).all()
        assert again.score == pytest.approx(new.score)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_pairs_that_are_coupled_alike(prior):
    problem = joint_problem(random_tasks(5, 5, 3))
    couplings = Couplings(prior, problem)
    some = np.triu(np.random.default_rng(0).random(couplings.pairs.shape) < 0.7) & couplings.pairs
    groups = [[tuple(pair) for pair in group.tolist()] for group in couplings.alike(some)]
    together = itertools.chain.from_iterable(groups)
    assert sorted(together) == [tuple(pair) for pair in np.argwhere(some).tolist()]
    for group in groups:
        assert len({couplings.kinds[pair] for pair in group}) == 1
        assert len({couplings.of(*pair)[0].tobytes() for pair in group}) == 1
    kinds = [couplings.kinds[group[0]] for group in groups]
    assert len(set(kinds)) == len(kinds)
    assert list(couplings.alike(np.zeros_like(some))) == []
