"""Probability tables whose smoothing is learned: by hand, and the same wherever tables are made."""

import naive_tables
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from small import related

from bnmtl import BayesNet, HillClimbing, MixedDirichlet, SingleTaskLearner
from bnmtl.classification import BayesNetClassifier, MultiNetClassifier
from bnmtl.networks.tables import check_size, posterior_mean
from bnmtl.scores import CONCENTRATIONS

pytestmark = pytest.mark.beside_kernels

CLIMB = {"search": HillClimbing(restarts=0, tabu=0), "random_state": 0}


counts = st.integers(1, 4).flatmap(
    lambda q: st.integers(2, 4).flatmap(
        lambda r: st.lists(
            st.lists(st.integers(0, 30), min_size=r, max_size=r), min_size=q, max_size=q
        )
    )
)


@settings(max_examples=examples(100), deadline=None)
@given(counts)
def test_tables_are_averages_over_concentrations(rows):
    rows = np.array(rows)
    table = posterior_mean(rows, "auto")
    assert table == pytest.approx(naive_tables.averaged_table(rows, CONCENTRATIONS), rel=1e-9)
    assert table.sum(axis=1) == pytest.approx(1)
    # Whatever the order of configurations and states.
    assert posterior_mean(rows[::-1, ::-1], "auto") == pytest.approx(table[::-1, ::-1])


def test_a_state_that_was_never_seen_is_possible_and_no_rows_mean_equal_chances():
    assert posterior_mean(np.zeros((2, 4), int), "auto") == pytest.approx(np.full((2, 4), 0.25))
    assert posterior_mean(np.array([[50, 0]]), "auto")[0, 1] > 0
    assert posterior_mean(np.array([[10**6, 10**6]]), "auto")[0] == pytest.approx([0.5, 0.5])


def test_the_weights_are_the_evidence_of_the_score():
    """A table of one concentration is what a mixture of that one alone would weigh."""
    frame = pd.DataFrame({"a": [0, 0, 1, 1, 1, 2], "b": list("xyxyyy")})
    scores = [MixedDirichlet((c,)).local_score("b", ["a"], frame) for c in CONCENTRATIONS]
    rows = pd.crosstab(frame["a"], frame["b"]).to_numpy()
    weights = np.exp(np.array(scores) - max(scores))
    tables = [(rows + c) / (rows.sum(axis=1, keepdims=True) + 2 * c) for c in CONCENTRATIONS]
    mean = np.tensordot(weights / weights.sum(), tables, axes=1)
    assert posterior_mean(rows, "auto") == pytest.approx(mean)


def test_all_tables_are_made_alike():
    tasks = related()
    graph = nx.DiGraph([("x1", "x2"), ("x3", "x2")])
    network = BayesNet.fit(graph, tasks["task1"])
    assert network == BayesNet.fit(graph, tasks["task1"], equivalent_sample_size="auto")
    assert network != BayesNet.fit(graph, tasks["task1"], equivalent_sample_size=1)
    frame = tasks["task1"].astype(str)
    rows = frame.groupby(["x1", "x3"])["x2"].value_counts().unstack(fill_value=0)
    expected = naive_tables.averaged_table(rows.to_numpy(), CONCENTRATIONS)
    assert network.table("x2").reshape(4, -1) == pytest.approx(expected)
    learner = SingleTaskLearner(**CLIMB).fit(tasks)
    for name, learned in learner.networks_.items():
        assert learned == BayesNet.fit(learner.configuration_[name], learner.tasks_[name])


def test_prior_of_classes_of_a_multi_net():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=list("abc"))
    y = np.r_[np.repeat("few", 5), np.repeat("many", 55)]
    classifier = MultiNetClassifier(learner=SingleTaskLearner(**CLIMB)).fit(X, y)
    expected = naive_tables.averaged_table(np.array([[5, 55]]), CONCENTRATIONS)[0]
    assert np.exp(classifier.class_log_prior_) == pytest.approx(expected)


@pytest.mark.parametrize("size", ["some", -1, np.inf, np.nan, None, True])
def test_sizes_out_of_range(size):
    with pytest.raises((TypeError, ValueError), match=r'`size` must be "auto" or a number of 0'):
        check_size("size", size)


@pytest.mark.parametrize("size", ["some", -1])
def test_learners_refuse_them_before_they_learn(size):
    with pytest.raises((TypeError, ValueError), match="`parameter_sample_size` must be"):
        SingleTaskLearner(parameter_sample_size=size).fit(related())
    with pytest.raises((TypeError, ValueError), match="must be"):
        BayesNetClassifier("x1", SingleTaskLearner(parameter_sample_size=size)).fit(
            related()["task1"]
        )
    with pytest.raises((TypeError, ValueError), match="`equivalent_sample_size` must be"):
        BayesNet.fit(nx.DiGraph([("x1", "x2")]), related()["task1"], equivalent_sample_size=size)
