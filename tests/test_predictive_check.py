"""Predictive checks: what a network lacks is found, and nothing else; definitions once more."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from bnmtl import BayesNet, structures
from bnmtl.confidence import predictive_check
from bnmtl.errors import InputError, InputTypeError
from bnmtl.seeding import generator, seed_of

pytestmark = pytest.mark.beside_kernels
ASIA = structures.load("asia")


def without(arcs, rows):
    graph = ASIA.graph.copy()
    graph.remove_edges_from(arcs)
    return BayesNet.fit(graph, rows)


def test_pairs_without_their_arc_are_found():
    rows = ASIA.sample(600, random_state=0)
    found = predictive_check(without([("bronc", "dysp")], rows), rows, n=99, random_state=0)
    assert len(found) == 28
    assert set(found.loc[0, ["first", "second"]]) == {"bronc", "dysp"}
    assert found.loc[0, "p"] < 1e-10 < found.loc[1, "p"]  # farther than all drawn data
    assert found["p"].is_monotonic_increasing
    # Benjamini & Hochberg, by hand.
    by_rank = found["p"] * 28 / np.arange(1, 29)
    expected = by_rank[::-1].cummin()[::-1].clip(upper=1)
    np.testing.assert_allclose(found["p_corrected"], expected)
    worst = found.loc[0]
    observed = (
        (rows["bronc"] == worst["first_value"]) & (rows["dysp"] == worst["second_value"])
    ).mean()
    assert worst["frequency"] == pytest.approx(observed)
    assert abs(worst["drawn_frequency"] - observed) > 0.05
    right = predictive_check(without([], rows), rows, n=99, random_state=0)
    assert (right["p_corrected"] > 0.05).all()


def test_one_of_many_pairs_is_found():
    """Shares of 200 drawn data are never below 1 / 201, which a correction for 66 pairs undoes."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(2, size=(150, 12)), columns=[f"v{at}" for at in range(12)])
    rows["v1"] = np.where(rng.random(150) < 0.2, rows["v1"], rows["v0"])
    graph = nx.empty_graph(list(rows), nx.DiGraph)
    found = predictive_check(BayesNet.fit(graph, rows), rows, random_state=0)
    assert found.loc[0, ["first", "second"]].tolist() == ["v0", "v1"]
    assert found.loc[0, "p_corrected"] < 1e-6
    assert (found["p_corrected"][1:] > 0.05).all()


def test_a_pair_needs_two_variables():
    rows = pd.DataFrame({"v": [0, 1, 1]})
    graph = nx.empty_graph(["v"], nx.DiGraph)
    assert predictive_check(BayesNet.fit(graph, rows), rows, random_state=0).empty


def test_of_networks_that_are_right_few_pairs_stand_out():
    p = []
    for seed in range(6):
        rows = ASIA.sample(300, random_state=seed)
        p += predictive_check(ASIA, rows, n=99, random_state=seed)["p"].tolist()
    assert np.mean(np.array(p) <= 0.05) < 0.08
    assert np.mean(p) == pytest.approx(0.5, abs=0.12)


def test_distances_by_hand():
    rows = ASIA.sample(80, random_state=1)
    rows.iloc[5:30, 3] = np.nan
    names, hidden = sorted(ASIA.states), rows.isna()
    found = predictive_check(ASIA, rows, n=20, random_state=3)
    sets = []
    for at in range(20):
        drawn = ASIA.sample(80, random_state=seed_of(generator(3, "replicate", "task1", at)))
        sets.append(drawn.mask(hidden[drawn.columns].set_axis(drawn.index)))

    def table(frame, a, b):
        counts = pd.crosstab(frame[a], frame[b], dropna=True)
        return counts.reindex(index=ASIA.states[a], columns=ASIA.states[b], fill_value=0).to_numpy()

    for a, b in [(names[0], names[3]), (rows.columns[3], "xray"), ("dysp", "xray")]:
        a, b = sorted((a, b))
        tables = np.array([table(one, a, b) for one in sets], dtype=float)

        def distance(one, mean):
            return ((one - mean) ** 2 / np.maximum(mean, 0.5)).sum()

        observed = distance(table(rows, a, b), tables.mean(axis=0))
        others = [
            distance(tables[at], np.delete(tables, at, axis=0).mean(axis=0)) for at in range(20)
        ]
        row = found[(found["first"] == a) & (found["second"] == b)].iloc[0]
        assert row["distance"] == pytest.approx(observed)
        assert row["expected"] == pytest.approx(np.mean(others))
        assert row["p"] == pytest.approx((1 + sum(one >= observed for one in others)) / 21)


def test_tasks_have_their_networks_and_the_order_does_not_matter():
    rows = {name: ASIA.sample(200, random_state=at) for at, name in enumerate("ab")}
    networks = {"a": without([], rows["a"]), "b": without([("smoke", "bronc")], rows["b"])}
    found = predictive_check(networks, rows, n=50, random_state=0)
    assert found["task"].value_counts().to_dict() == {"a": 28, "b": 28}
    assert found.loc[0, "task"] == "b"
    turned = {name: rows[name][rows[name].columns[::-1]] for name in "ba"}
    pd.testing.assert_frame_equal(predictive_check(networks, turned, n=50, random_state=0), found)
    events = []
    predictive_check(networks, rows, n=20, progress=events.append)
    assert [one.done for one in events] == list(range(1, 41))
    assert {one.total for one in events} == {40}


def test_variables_of_one_value_and_empty_pairs():
    graph = nx.DiGraph()
    graph.add_nodes_from("ab")
    rows = pd.DataFrame({"a": ["x"] * 10, "b": ["u", "v"] * 5})
    network = BayesNet.fit(graph, rows)
    (row,) = predictive_check(network, rows, n=20, random_state=0).to_dict("records")
    assert row["p"] > 0.5
    gaps = rows.assign(b=[None] * 10)
    (row,) = predictive_check(network, gaps, n=20, random_state=0).to_dict("records")
    assert np.isnan(row["frequency"]) and row["p"] == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda rows: predictive_check("asia", rows), "BayesNet"),
        (lambda rows: predictive_check({"a": 3}, rows), "BayesNet"),
        (lambda rows: predictive_check(ASIA, rows, n=3), "`n`"),
        (lambda rows: predictive_check({"a": ASIA}, {"a": rows, "b": rows}), "`b` has none"),
        (lambda rows: predictive_check(ASIA, rows.drop(columns="xray")), "xray"),
        (lambda rows: predictive_check(ASIA, rows.assign(xray="maybe")), "maybe"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        call(ASIA.sample(20, random_state=0))
