"""Stability of graphs: formulas once more, known cases, learning together and alone."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bnmtl import (
    HillClimbing,
    MultitaskLearner,
    PairedPrior,
    SingleTaskLearner,
    problems,
    structures,
)
from bnmtl.confidence import arc_stability
from bnmtl.confidence import stability as module
from bnmtl.confidence.stability import ALONE, GIVEN, SPARSE, stability
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics import shd

pytestmark = pytest.mark.beside_kernels
QUICK = HillClimbing(restarts=0)


def by_hand(sets, n_features):
    """Stability and its standard error from sets of positions, with loops."""
    n = len(sets)
    share = [sum(f in one for one in sets) / n for f in range(n_features)]
    mean_size = sum(map(len, sets)) / n
    density = mean_size / n_features
    variances = [n / (n - 1) * p * (1 - p) for p in share]
    value = 1 - sum(variances) / n_features / (density * (1 - density))
    parts = []
    for one in sets:
        k = len(one)
        part = sum(share[f] for f in one) / n_features - k * mean_size / n_features**2
        part += (
            value
            / 2
            * (2 * k * mean_size / n_features**2 - k / n_features - mean_size / n_features + 1)
        )
        parts.append(part / (density * (1 - density)))
    mean = sum(parts) / n
    return value, np.sqrt(4 / n**2 * sum((part - mean) ** 2 for part in parts))


@pytest.mark.parametrize("seed", range(4))
def test_stability_is_that_of_nogueira(seed):
    rng = np.random.default_rng(seed)
    selected = rng.random((8, 15)) < rng.uniform(0.1, 0.9, 15)
    value, error = by_hand([set(np.flatnonzero(one)) for one in selected], 15)
    found = stability(selected)
    assert found[0] == pytest.approx(value)
    assert found[2] - found[1] == pytest.approx(2 * 1.959964 * error, rel=1e-5)
    assert sum(found[1:]) / 2 == pytest.approx(value)
    assert stability(selected[::-1, ::-1]) == pytest.approx(found)


def test_stability_of_extremes():
    one = np.arange(10) < 3
    assert stability(np.tile(one, (5, 1))) == pytest.approx((1, np.nan, np.nan), nan_ok=True)
    # An interval ends where stability does.
    value, low, high = stability(np.stack([one] * 5 + [np.arange(10) < 2]))
    assert low < value < high == 1
    for nothing in (np.zeros((5, 10), dtype=bool), np.ones((5, 10), dtype=bool)):
        assert np.isnan(stability(nothing)).all()
    rng = np.random.default_rng(0)
    random = [stability(rng.permuted(np.tile(one, (20, 1)), axis=1))[0] for _ in range(200)]
    assert np.mean(random) == pytest.approx(0, abs=0.01)


def test_intervals_hold_the_value_of_the_population():
    """Features selected with known probabilities: an interval of 95 % holds it about as often."""
    rng, p = np.random.default_rng(0), np.array([0.9, 0.8, 0.5, 0.3, 0.2, 0.1, 0.1, 0.05])
    value = 1 - np.mean(p * (1 - p)) / (p.mean() * (1 - p.mean()))
    inside = 0
    for _ in range(300):
        _, low, high = stability(rng.random((60, 8)) < p)
        inside += low <= value <= high
    assert 0.9 < inside / 300 < 0.99


def test_distances_are_means_over_all_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(6):
        order = rng.permutation(5)
        pairs = [one for one in itertools.combinations("abcde", 2) if rng.random() < 0.4]
        rank = dict(zip("abcde", order, strict=True))
        graph = nx.DiGraph([sorted(one, key=rank.get) for one in pairs])
        graph.add_nodes_from("abcde")
        graphs.append(graph)
    row = module._summary(graphs, tuple("abcde"))
    expected = np.mean([shd(*pair) for pair in itertools.combinations(graphs, 2)])
    assert row["shd"] == pytest.approx(expected)
    assert row["n_arcs"] == np.mean([graph.number_of_edges() for graph in graphs])
    arcs = module._arcs(graphs, tuple("abcde")).set_index(["parent", "child"])
    for one, other in itertools.permutations("abcde", 2):
        share, back = (
            np.mean([graph.has_edge(*arc) for graph in graphs])
            for arc in ((one, other), (other, one))
        )
        found = arcs.loc[(one, other)]
        assert found[["arc", "edge"]].tolist() == pytest.approx([share, share + back])
        assert found["standard_error"] == pytest.approx(np.sqrt(share * (1 - share) / 5))
    edges = np.stack(
        [
            [g.has_edge(*e) or g.has_edge(*e[::-1]) for e in itertools.combinations("abcde", 2)]
            for g in graphs
        ]
    )
    assert row["edges"] == pytest.approx(stability(edges)[0])


def related(n_rows=150):
    networks = problems.deletion("asia", n_tasks=3, random_state=3)
    return problems.sample(networks, n_rows, random_state=0)


def test_learning_together_is_compared_with_alone():
    learner = MultitaskLearner(PairedPrior(0.9), task_groups=None, search=QUICK, random_state=0)
    tasks = related()
    found = arc_stability(tasks, learner, n=8, compare="alone", random_state=2)
    names = list(tasks)
    assert list(found.summary.index) == [
        (one, task) for one in (GIVEN, ALONE, SPARSE) for task in names
    ]
    means = found.summary.groupby("learner").mean()
    assert means.loc[GIVEN, "edges"] > means.loc[ALONE, "edges"]
    # Sparse graphs are those with the number of arcs that is nearest.
    gaps = abs(means["n_arcs"] - means.loc[GIVEN, "n_arcs"])
    assert gaps[SPARSE] < max(2, gaps[ALONE] + 0.5)
    assert (means["shd"] > 0).all()
    assert set(found.arcs) == {
        *("learner", "task", "parent", "child", "arc", "edge", "standard_error")
    }
    assert len(found.arcs) == 3 * 3 * 8 * 7
    # The given seed is that of all fits.
    again = arc_stability(
        tasks, clone(learner).set_params(random_state=None), n=8, compare="alone", random_state=2
    )
    pd.testing.assert_frame_equal(again.summary, found.summary)
    pd.testing.assert_frame_equal(again.arcs, found.arcs)


def test_other_learners_and_schemes():
    rows = structures.load("asia").sample(300, random_state=0)
    learner = SingleTaskLearner(search=QUICK, random_state=0)
    found = {
        scheme: arc_stability(
            {"a": rows}, learner, scheme, n=8, compare={"same": learner}, random_state=0
        ).summary
        for scheme in ("halves", "bootstrap", "delete-d")
    }
    for one in found.values():
        assert one.loc["given"].equals(one.loc["same"])
    # Few rows left out change little; distances also grow with the number of arcs.
    edges = {scheme: one.loc[("given", "a"), "edges"] for scheme, one in found.items()}
    assert edges["delete-d"] > edges["halves"]
    assert not found["halves"].equals(found["bootstrap"])


def test_without_arcs_stability_is_unknown():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(2, size=(200, 3)).astype(str), columns=list("abc"))
    found = arc_stability({"a": rows}, SingleTaskLearner(search=QUICK, random_state=0), n=4).summary
    assert found.loc[("given", "a"), "n_arcs"] == 0
    assert np.isnan(found.loc[("given", "a"), "edges"])
    assert found.loc[("given", "a"), "shd"] == 0


def test_progress_counts_replicates():
    events = []
    learner = SingleTaskLearner(search=QUICK, random_state=0, progress=events.append)
    arc_stability({"a": structures.load("asia").sample(100, random_state=0)}, learner, n=3)
    found = [(one.done, one.total) for one in events if one.stage == "stability: given"]
    assert found == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learner": "together"}, "must be a learner"),
        ({"scheme": "jackknife"}, "scheme"),
        ({"n": 1}, "`n`"),
        ({"compare": "together"}, "compare"),
        ({"compare": {"b": 3}}, "must be a learner for `b`"),
        ({"compare": {"given": SingleTaskLearner()}}, "other names than"),
        ({"compare": "alone"}, "must learn tasks together"),
    ],
    ids=str,
)
def test_mistakes_are_named(options, words):
    rows = structures.load("asia").sample(50, random_state=0)
    learner = SingleTaskLearner(search=QUICK)
    with pytest.raises((InputError, InputTypeError), match=words):
        arc_stability(**({"tasks": {"a": rows}, "learner": learner, "n": 2} | options))
