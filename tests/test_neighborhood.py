"""Exact solvers of one pair's joint states: all agree with plain enumeration."""

import math

import naive_couplings
import numpy as np
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl import EditPrior, PairedPrior
from bnmtl.search.neighborhood import best_states

PENALTIES = st.sampled_from([0.0, 0.3, 0.9, 1 - 1e-6, 1.0])
COSTS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])


@st.composite
def gain_tables(draw, most_tasks=5):
    """Gains of a few tasks; some states illegal, some values coarse so that ties occur."""
    k = draw(st.integers(1, most_tasks))
    values = st.one_of(
        st.floats(-8, 8, allow_nan=False), st.integers(-3, 3).map(float), st.just(-math.inf)
    )
    rows = st.lists(values, min_size=3, max_size=3)
    return np.array(draw(st.lists(rows, min_size=k, max_size=k)))


def assert_exact(gains, prior, methods, log_coupling, **where):
    """Every method attains the naive optimum, and its states are worth what it says."""
    expected = naive_couplings.best_value(gains, log_coupling)
    for method in methods:
        states, value = best_states(gains, prior, method=method, **where)
        if expected == -math.inf:
            assert value == -math.inf
            continue
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9), method
        total_gain = sum(gains[s, x + 1] for s, x in enumerate(states))
        assert total_gain + log_coupling(tuple(states)) == pytest.approx(value, rel=1e-9, abs=1e-9)


@settings(max_examples=examples(150))
@given(gain_tables(), PENALTIES, st.sampled_from([1, 2]))
def test_edit_solvers_agree_with_enumeration(gains, penalty, reversal):
    assert_exact(
        gains,
        EditPrior(penalty=penalty, reversal=reversal),
        ["auto", "edit", "branch-and-bound", "enumerate"],
        lambda states: naive_couplings.edit_log_coupling(states, penalty, reverse=reversal),
    )


@settings(max_examples=examples(150))
@given(gain_tables(), PENALTIES, COSTS, COSTS, COSTS)
def test_edit_costs_agree_with_enumeration(gains, penalty, add, delete, reverse):
    assert_exact(
        gains,
        EditPrior(penalty=penalty, costs={"add": add, "delete": delete, "reverse": reverse}),
        ["edit", "branch-and-bound", "enumerate"],
        lambda states: naive_couplings.edit_log_coupling(states, penalty, add, delete, reverse),
    )


@settings(max_examples=examples(150))
@given(gain_tables(), PENALTIES, st.sampled_from([1, 2]))
def test_paired_solvers_agree_with_enumeration(gains, penalty, reversal):
    methods = ["auto", "paired", "branch-and-bound", "enumerate"]
    assert_exact(
        gains,
        PairedPrior(penalty=penalty, reversal=reversal),
        methods + (["min-cut"] if reversal == 2 else []),
        lambda states: naive_couplings.paired_log_coupling(states, reversal, lambda s, t: penalty),
    )


@settings(max_examples=examples(150))
@given(gain_tables(), st.lists(PENALTIES, min_size=10, max_size=10), st.sampled_from([1, 2]))
def test_task_penalties_agree_with_enumeration(gains, penalties, reversal):
    tasks = [f"task{s}" for s in range(len(gains))]
    pairs = [(s, t) for t in range(len(tasks)) for s in range(t)]
    listed = dict(zip(pairs, penalties, strict=False))
    prior = PairedPrior(
        penalty=0.5,
        reversal=reversal,
        task_penalty={(tasks[s], tasks[t]): penalty for (s, t), penalty in listed.items()},
    )
    assert_exact(
        gains,
        prior,
        ["auto", "branch-and-bound", "enumerate"] + (["min-cut"] if reversal == 2 else []),
        lambda states: naive_couplings.paired_log_coupling(
            states, reversal, lambda s, t: listed[s, t]
        ),
        tasks=tasks,
    )


@settings(max_examples=examples(80))
@given(st.integers(0, 10**6), st.integers(6, 12), st.sampled_from([0.3, 0.9, 0.9999]))
def test_minimum_cuts_of_many_tasks_agree_with_the_table(seed, k, penalty):
    """Enough tasks for flows that must be taken back, where a greedy flow is not the largest."""
    rng = np.random.default_rng(seed)
    gains = rng.normal(size=(k, 3)) * rng.choice([0.1, 1.0, 3.0])
    gains[rng.random((k, 3)) < 0.15] = -math.inf
    gains[:, 1] = np.maximum(gains[:, 1], -5)
    prior = PairedPrior(penalty)
    expected = best_states(gains, prior, method="paired")[1]
    assert best_states(gains, prior, method="min-cut")[1] == pytest.approx(expected, rel=1e-9)
    tasks = [f"task{s}" for s in range(k)]
    pairs = [(s, t) for t in tasks for s in tasks if s < t]
    unequal = PairedPrior(task_penalty=dict(zip(pairs, rng.random(len(pairs)) ** 0.1, strict=True)))
    expected = best_states(gains, unequal, method="branch-and-bound", tasks=tasks)[1]
    found = best_states(gains, unequal, method="min-cut", tasks=tasks)[1]
    assert found == pytest.approx(expected, rel=1e-9)


class FewArcs:
    """A coupling of one's own: every task with an arc beyond the first costs one nat."""

    def log_coupling(self, states, pair=None, tasks=None):
        return -float(max(np.count_nonzero(states) - 1, 0))


class FewArcsBounded(FewArcs):
    """The same with a bound: more tasks never make it better."""

    def bound(self, states_of_first_tasks, n_tasks):
        assert len(states_of_first_tasks) <= n_tasks
        return self.log_coupling(states_of_first_tasks)


class Alternating(FewArcs):
    """A coupling that does not bound its own prefixes and depends on the order of tasks."""

    def log_coupling(self, states, pair=None, tasks=None):
        return -float(abs(int(np.sum(states)))) - 0.5 * float(states[0] != -states[-1])


@settings(max_examples=examples(150))
@given(gain_tables(), st.sampled_from([FewArcs(), FewArcsBounded(), Alternating()]))
def test_a_custom_coupling_is_solved_exactly(gains, prior):
    assert_exact(gains, prior, ["auto", "branch-and-bound", "enumerate"], prior.log_coupling)


def test_a_positive_coupling_is_refused():
    class Rewarding:
        def log_coupling(self, states, pair=None, tasks=None):
            return 1.0

    with pytest.raises(ValueError, match="at most 0 from `log_coupling`; Rewarding returns 1.0"):
        best_states(np.zeros((2, 3)), Rewarding())


def test_agreement_alone_can_be_the_gain():
    """Four tasks in states 1, 1, 0, 0 with nothing to gain by themselves agree."""
    states, value = best_states(np.zeros((4, 3)), PairedPrior(penalty=0.9))
    assert len(set(states.tolist())) == 1
    assert value == 0


def test_methods_that_cannot_solve_a_prior_say_so():
    gains = np.zeros((2, 3))
    for method, prior in [
        ("edit", PairedPrior()),
        ("paired", EditPrior()),
        ("min-cut", PairedPrior(reversal=1)),
        ("paired", FewArcs()),
    ]:
        with pytest.raises(ValueError, match=f"can solve this prior, got '{method}'; 'edit'"):
            best_states(gains, prior, method=method)
    with pytest.raises(ValueError, match="`method` must be 'auto', .* or 'min-cut', got 'magic'"):
        best_states(gains, PairedPrior(), method="magic")


def test_gains_of_a_wrong_shape_are_refused():
    for gains in [np.zeros((2, 2)), [[0.0, math.nan, 0.0]], [[0.0, math.inf, 0.0]]]:
        with pytest.raises(ValueError, match=r"`gains` must have shape \(k, 3\) and be finite"):
            best_states(gains, PairedPrior())


def test_branch_and_bound_visits_few_states():
    """Twenty tasks have 3^20 joint states: only bounds make this end."""
    rng = np.random.default_rng(0)
    gains = rng.normal(size=(20, 3)) * 4
    prior = PairedPrior(penalty=0.9)
    by_bound = best_states(gains, prior, method="branch-and-bound")[1]
    assert by_bound == pytest.approx(best_states(gains, prior, method="paired")[1], rel=1e-9)


def test_no_tasks_have_no_states():
    states, value = best_states(np.zeros((0, 3)), PairedPrior())
    assert states.shape == (0,)
    assert value == 0
