"""Exact search: brute force on small problems, local scores to the last bit, the other searches."""

import itertools
import time

import naive
import numpy as np
import pandas as pd
import pytest
import reference
from budget import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from searches import (
    encode_quietly,
    problem_of,
    random_constraints,
    random_frame,
    random_tasks,
    state_of,
)

from bnmtl import AIC, BIC, K2, ArcPrior, BDeu, BDs, LogLikelihood
from bnmtl.search import exact, orders
from bnmtl.search.graph_state import Budget, GraphState
from bnmtl.search.problem import JointProblem, NoCommonGraph, TaskProblem, constraints_by_task
from bnmtl.search.ties import Ties

SCORES = [BDeu(), BDeu(equivalent_sample_size=20), BIC(), AIC(), LogLikelihood(), K2(), BDs()]
FREE = {"required": (), "forbidden": (), "max_parents": None}
by_score = pytest.mark.parametrize("score", SCORES, ids=str)


def found_by(state, budget=None, report=None):
    """What an exact search ends with."""
    return exact.search(state, Budget() if budget is None else budget, report)


def log_prior(arc_terms, child, parents):
    """Log structure prior of one family's arcs, present and absent."""
    held = np.isin(np.arange(len(arc_terms[0])), parents)
    return float(np.where(held, arc_terms[0][:, child], arc_terms[1][:, child]).sum())


def problems_of(frames, score, prior, most_cells, constraints):
    """The problem of each task; families of more cells are too large."""
    tasks = encode_quietly(frames)
    limits = constraints_by_task(
        tasks,
        constraints["required"],
        constraints["forbidden"],
        constraints.get("tiers"),
        constraints["max_parents"],
    )
    priors = dict.fromkeys(tasks, prior)
    return TaskProblem.of_all(tasks, score, limits, priors, max_cells=float(most_cells))


def random_problem(seed, n, score, most_cells):
    """A task with constraints and a structure prior."""
    rng = np.random.default_rng(seed)
    frame = random_frame(seed, n, 40)
    constraints = random_constraints({"t": frame}, rng)
    if n > 1 and rng.random() < 0.3:
        first, *later = rng.permutation(frame.columns).tolist()
        assume(all(child != first for _, child in constraints["required"]["t"]))
        constraints["tiers"] = [[first], later]
    chances = {arc: rng.uniform(0.01, 0.99) for arc in itertools.permutations(frame, 2)}
    (problem,) = problems_of({"t": frame}, score, ArcPrior(chances), most_cells, constraints)
    return problem


most_cells = st.sampled_from([5, 9, 27, 1000])


def value_within(most_cells, task, child, parents, required):
    """Local score of a task, -inf of families that are too large; required parents never are."""
    cells = task.scores.engine.arities[[child, *parents]].prod()
    if cells > most_cells and set(parents) != set(np.flatnonzero(required[:, child]).tolist()):
        return -np.inf
    return task.scores.local_score(child, parents)


@by_score
@settings(max_examples=examples(20))
@given(st.integers(0, 10**6), st.integers(1, 4), most_cells)
def test_no_graph_of_few_variables_is_better(score, seed, n, most_cells):
    problem = random_problem(seed, n, score, most_cells)
    limits = problem.constraints

    def value_of(child, parents):
        local_score = value_within(most_cells, problem, child, parents, limits.required)
        return local_score + log_prior(problem.arc_terms, child, parents)

    state = state_of(problem, seed)
    found = found_by(state)
    assert naive.is_dag(state.adjacency)
    assert naive.keeps_to(state.adjacency, limits)
    assert found == state.score
    best = naive.best_sum(n, limits, value_of)
    assert problem.log_posterior(state.adjacency) == pytest.approx(best, rel=1e-12, abs=1e-9)


def common_state_of(problem, seed=0):
    """One graph for all tasks under search, from the required arcs on."""
    scores, limits, terms = problem.identical()
    odds = sum(present - absent for present, absent in terms)
    ties = Ties(problem.variables, seed, 1e-9)
    return GraphState(scores, limits, ties, limits.required, odds)


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6), st.integers(2, 4), most_cells)
def test_no_common_graph_of_two_tasks_is_better(seed, n, most_cells):
    """The tasks share some variables; each adds the score of what it has of the graph."""
    frames = random_tasks(seed, n, 2)
    constraints = random_constraints(frames, np.random.default_rng(seed))
    prior = ArcPrior(probability=0.2)
    problem = JointProblem(problems_of(frames, BDeu(), prior, most_cells, constraints))
    try:
        _, limits, terms = problem.identical()
    except NoCommonGraph:
        assume(False)
    n = len(problem.variables)
    present, absent = (sum(of_task[side] for of_task in terms) for side in (0, 1))

    def value_of(child, parents):
        total = log_prior((present, absent), child, parents)
        for s, task in enumerate(problem.tasks):
            if problem.variables[child] in task.variables:
                kept = problem.takes_part[s] | problem.constraints[s].required
                index_in_task = problem.positions[s].tolist().index
                parents_here = [index_in_task(p) for p in parents if kept[p, child]]
                required = problem.restrict(s, limits.required)
                total += value_within(
                    most_cells, task, index_in_task(child), parents_here, required
                )
        return total

    state = common_state_of(problem, seed)
    found = found_by(state)
    assert naive.is_dag(state.adjacency)
    assert naive.keeps_to(state.adjacency, limits)
    best = naive.best_sum(n, limits, value_of)
    assert found + absent.sum() == pytest.approx(best, rel=1e-12, abs=1e-9)


def work_of(state, **pauses):
    return exact.Work(state, np.arange(state.scores.n_variables), **pauses)


def local_scores_of(state, **pauses):
    """[child, parent set without the child's bit] as the search has them, and its progress."""
    work = work_of(state, **pauses)
    with state.scores.scratch() as scratch:
        done = list(work.score_families(scratch, Budget()))
    assert done == sorted(done)
    assert done[-1] == work.total
    return work.scores, done


def members_of(child, at):
    """The parents that an index of `local_scores_of` stands for."""
    bits = [v for v in range(30) if at >> v & 1]
    return [v + (v >= child) for v in bits]


def equal_to_the_last_bit(state, n_families=150):
    scores, _ = local_scores_of(state)
    rng = np.random.default_rng(0)
    tried = 0
    for child, at in rng.integers(0, scores.shape, (n_families, 2)).tolist():
        parents = members_of(child, at)
        if len(parents) > state.constraints.max_parents:
            assert scores[child, at] == -np.inf
        else:
            tried += 1
            assert scores[child, at] == state.scores.local_score(child, parents)
    assert tried > 10


@pytest.mark.parametrize("score", [BDeu(), BIC(), BDs()], ids=str)
def test_local_scores_are_the_same_to_the_last_bit(score):
    equal_to_the_last_bit(state_of(problem_of(reference.frame("asia"), score)))


@pytest.mark.slow_without_jit
def test_local_scores_with_limited_parents_are_the_same_to_the_last_bit():
    problem = problem_of(reference.frame("sachs"), max_parents=3)
    equal_to_the_last_bit(state_of(problem), 2000)


@pytest.mark.parametrize("is_merged", [False, True])
def test_local_scores_of_merged_rows_are_the_same_to_the_last_bit(is_merged):
    """Eight variables, half of which are in the tail of the walk."""
    rng = np.random.default_rng(0)
    every = np.array(list(itertools.product((0, 1), repeat=8)))
    few = rng.permutation(every)[: 30 if is_merged else 200]
    rows = few[rng.integers(0, 30, 400)] if is_merged else few
    frame = pd.DataFrame(rows.astype(str), columns=list("abcdefgh"))
    problem = problem_of(frame)
    assert (problem.scores.engine.weight_at[0] >= 0) == is_merged
    equal_to_the_last_bit(state_of(problem))


@by_score
def test_local_scores_of_several_tasks_are_the_same_to_the_last_bit(score):
    """The second task lacks a variable, no set with which is counted there."""
    frames = {f"t{s}": random_frame(s, 5, 30) for s in range(3)}
    frames["t1"] = frames["t1"].drop(columns="v1")
    state = common_state_of(JointProblem(problems_of(frames, score, None, 1000, FREE)))
    equal_to_the_last_bit(state)
    needed = [work_of(state).needed(member) for member in range(3)]
    assert [flags.sum() for flags in needed] == [2**5, 2**4, 2**5]
    assert not needed[1][[members for members in range(2**5) if members >> 1 & 1]].any()


def test_required_parents_that_a_task_lacks_leave_the_others_exempt():
    """All families with parents are too large in all tasks, and two of the arcs must be."""
    frames = {"both": random_frame(0, 3), "less": random_frame(1, 2)}
    required = {"both": [("v0", "v1"), ("v2", "v1")], "less": [("v0", "v1")]}
    constraints = {**FREE, "required": required}
    state = common_state_of(JointProblem(problems_of(frames, BDeu(), None, 3, constraints)))
    assert np.isfinite(local_scores_of(state)[0][1, 3])
    found_by(state)
    assert np.argwhere(state.adjacency).tolist() == [[0, 1], [2, 1]]


@by_score
def test_families_that_are_too_large_are_noted(score):
    """Five variables of three states each: only families of all of them are beyond the limit."""
    (problem,) = problems_of({"t": random_frame(0, 5)}, score, None, 81, FREE)
    scores, _ = local_scores_of(state_of(problem))
    assert len(problem.scores.bound.left_out) == 5
    assert (np.argwhere(scores == -np.inf)[:, 1] == scores.shape[1] - 1).all()
    assert (scores[:, -1] == -np.inf).all()


def test_a_walk_goes_on_where_it_was_interrupted():
    """In the end all sets are done with, those that are too large for the limit as well."""
    state = state_of(problem_of(random_frame(3, 7, 30), max_parents=2))
    whole, at_once = local_scores_of(state)
    scores, done = local_scores_of(state, rows_between_pauses=1)
    assert np.array_equal(scores, whole)
    assert set(at_once) == {0, 2**7}
    assert len(set(done)) > 5


@pytest.mark.parametrize(
    "name", ["asia", pytest.param("sachs", marks=pytest.mark.slow_without_jit)]
)
def test_the_search_over_orders_reaches_the_optimum(name):
    problem = problem_of(reference.frame(name))
    best = found_by(state_of(problem))
    rng = np.random.default_rng(0)
    iterated = orders.search(state_of(problem), rng, Budget(), n_starts=3, iterations=10)
    assert iterated <= best + 1e-9
    assert iterated == pytest.approx(best, rel=1e-12)


@pytest.mark.slow_without_jit
def test_one_start_of_the_search_over_orders_reaches_the_optimum():
    """With few kernels of either search; `.ci/run` runs it with the oldest numba."""
    problem = problem_of(reference.frame("sachs"))
    once = {"n_starts": 1, "iterations": 0, "tabu": 0}
    reached = orders.search(state_of(problem), np.random.default_rng(0), Budget(), **once)
    assert reached == pytest.approx(found_by(state_of(problem)), rel=1e-12)


@pytest.mark.parametrize(
    "name", ["asia_500", pytest.param("sachs_800", marks=pytest.mark.slow_without_jit)]
)
def test_the_best_known_scores_are_optimal(name):
    """best_known.json, rounded to six digits; see reference/README.md."""
    known = reference.read_json("best_known.json")[name]["best_known"]
    problem = problem_of(reference.frame(name.split("_")[0]))
    assert found_by(state_of(problem)) == pytest.approx(known, abs=1e-6)


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6), st.permutations(range(6)))
def test_names_do_not_matter(seed, order):
    """Renamed columns stand in another order, which is that of the bits."""
    frame = random_frame(seed, 6, 50)
    renamed = frame.rename(columns={f"v{v}": f"v{at}" for v, at in enumerate(order)})
    best = [found_by(state_of(problem_of(one))) for one in (frame, renamed)]
    assert best[0] == pytest.approx(best[1], rel=1e-12)


def test_among_equal_parents_the_fewest_are_taken():
    """Copies of a variable add nothing to the likelihood."""
    rng = np.random.default_rng(0)
    frame = random_frame(0, 3, 40).assign(
        copy=lambda table: table["v0"], twin=lambda table: table["v0"]
    )
    frame["noise"] = rng.integers(0, 2, len(frame)).astype(str)
    problem = problem_of(frame, LogLikelihood())
    state = state_of(problem)
    found_by(state)
    same = [problem.variables.index(name) for name in ("copy", "twin", "v0")]
    assert (state.adjacency[same].sum(axis=0) <= 1).all()


def test_the_start_does_not_matter():
    problem = problem_of(random_frame(0, 5, 60))
    chain = np.eye(5, k=1, dtype=bool)
    ends = [state_of(problem), state_of(problem, matrix=chain)]
    assert found_by(ends[0]) == found_by(ends[1])
    assert (ends[0].adjacency == ends[1].adjacency).all()


def test_too_many_variables_are_refused():
    state = state_of(problem_of(random_frame(0, 23, 30)))
    with pytest.raises(ValueError, match="up to 20 variables that vary, got 23; use `search='ord"):
        found_by(state)


def test_only_variables_that_may_have_arcs_count():
    """One is constant, the others except for three may have no arc at all."""
    n = exact.MOST_VARIABLES + 4
    frame = random_frame(0, n).assign(v1="same")
    kept, varying = ["v0", "v3", "v4"], frame.columns.drop("v1")
    barred = [arc for arc in itertools.permutations(varying, 2) if not set(arc) <= set(kept)]
    with pytest.warns(UserWarning, match="v1"):
        problem = problem_of(frame, forbidden=barred)
    smaller = problem_of(frame[kept])
    others = [v for v, name in enumerate(problem.variables) if name not in kept]
    alone = sum(problem.scores.local_score(v, []) for v in others)
    best = found_by(state_of(problem))
    assert best == pytest.approx(found_by(state_of(smaller)) + alone, rel=1e-12)


def test_without_possible_arcs_nothing_is_done():
    state = state_of(problem_of(random_frame(0, 1)))
    assert found_by(state) == state.score


def unchanged_after(state, budget):
    before = state.adjacency.copy(), state.score
    assert found_by(state, budget) == before[1]
    assert (state.adjacency == before[0]).all()
    return budget.stopped


@by_score
def test_a_spent_budget_leaves_the_graph_as_it_is(score):
    """n 2^(n - 1) local scores are asked for, known ones included."""
    n = 4
    problem = problem_of(random_frame(0, n), score)
    chain = np.eye(n, k=1, dtype=bool)
    late = Budget(deadline=time.time() - 1)
    assert unchanged_after(state_of(problem, matrix=chain), late) == {"time_limit"}
    for most in (1, n * 2 ** (n - 1)):
        state, before = state_of(problem, matrix=chain), problem.scores.bound.asked
        assert unchanged_after(state, Budget(max_families=most)) == {"max_families"}
        assert problem.scores.bound.asked == before + most
    enough = Budget(max_families=n * 2 ** (n - 1) + 1)
    assert found_by(state_of(problem, matrix=chain), enough) == found_by(state_of(problem))
    assert enough.stopped == set()


@pytest.mark.parametrize("score", [BDeu(), K2()], ids=str)
def test_progress_has_a_total(score):
    """Three tasks: the work for each is a step at least."""
    tasks = problems_of({f"t{s}": random_frame(s, 6) for s in range(3)}, score, None, 1000, FREE)
    state = common_state_of(JointProblem(tasks))
    events = []
    best = found_by(state, report=lambda *event: events.append(event))
    done, totals, scores = zip(*events, strict=True)
    assert list(done) == sorted(done)
    assert len(set(done)) > 3
    assert set(totals) == {done[-1]}
    assert scores[-1] == best > scores[0]
