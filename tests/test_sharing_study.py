"""The study of tables in common: what it draws, and what its tables and pictures say."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from benchmarks.related import CONTROL, FIVE, Related, networks_of
from benchmarks.search import first_graph, many_tasks
from benchmarks.sharing import sharing, table_weights
from bnmtl import IdenticalLearner, MultitaskLearner, PooledLearner, structures
from bnmtl.networks import fit_networks

pytestmark = pytest.mark.beside_kernels


def test_scattered_tables_are_about_the_true_ones():
    asia = structures.load("asia")
    networks = {f"task{s}": asia for s in range(200)}
    drawn = sharing.scattered(networks, 50.0, 0)
    rows = np.array([network.table("smoke")[0] for network in drawn.values()])
    truth = asia.table("smoke")[0]
    assert rows.mean() == pytest.approx(truth, abs=0.02)
    # The variance of a Dirichlet.
    assert rows.var() == pytest.approx(truth * (1 - truth) / 51, rel=0.3)
    certain = asia.table("either") == 0
    for network in drawn.values():
        assert network.table("either")[certain].max() < 1e-3
        assert network.graph.edges == asia.graph.edges
    again = sharing.scattered(networks, 50.0, 0)
    assert all(again[name] == network for name, network in drawn.items())
    assert sharing.scattered(networks, 50.0, 1)["task0"] != drawn["task0"]
    anew = [network.table("smoke")[0] for network in sharing.scattered(networks, None, 0).values()]
    # The moments of a uniform distribution.
    assert np.mean(anew) == pytest.approx(0.5, abs=0.05)
    assert np.var(anew) == pytest.approx(1 / 12, rel=0.3)


def test_plan_has_the_cases_that_are_asked_for():
    cases = pd.DataFrame(sharing.plan(False))
    assert set(cases["problem"]) == {*FIVE, CONTROL}
    assert set(cases["rows"]) == {250, 1000, 4000}
    assert set(cases["tables"]) == {sharing.SAME, "similar 50", "similar 10", "independent"}
    assert set(cases.loc[cases["tables"].eq("independent"), "problem"]) == {CONTROL}
    assert cases.groupby(["problem", "tables", "rows"]).size().eq(20).all()
    assert (cases["rows"].iloc[:120] == 1000).all()
    assert len(sharing.plan(False, 1)) == 3 * (6 + 2 * 3) + 1


def lines_of():
    """Lines of two trials in which sharing takes off six edits and half of the divergence."""
    edits = {"alone": 20.0, "together": 16.0, "tables alone": 16.0, "both": 10.0}
    kl = {"alone": 0.4, "together": 0.3, "tables alone": 0.2, "both": 0.15}
    return pd.DataFrame(
        [
            {
                **{"problem": problem, "tables": kind, "rows": rows, "trial": trial},
                **{"method": method, "edits": edits[method] + trial, "shd": 1.0},
                **{"kl": kl[method], "seconds": 9.0 if method == "both" else 3.0},
                "loss": -2.0 - trial if method == "both" else None,
                "seconds_of_case": 30.0 + trial,
            }
            for problem in ("ALARM", "INSURANCE")
            for kind in (sharing.SAME, "similar 50")
            for rows in (250, 1000)
            for trial in range(2)
            for method in edits
        ]
    )


def test_times_are_compared_within_a_case():
    lines = lines_of()
    (row,) = (
        one
        for one in sharing._search(lines[lines["rows"] == 250])
        if one["problem"] == "ALARM" and one["tables"] == sharing.SAME
    )
    assert row["time, both / together"] == "3"
    lines.loc[lines["method"] == "both", "seconds_of_case"] += 1000
    assert all(one["time, both / together"] == "" for one in sharing._search(lines))


def test_tables_say_what_the_lines_say():
    made = sharing.tables(lines_of())
    first = made["sharing_edits"].splitlines()[2]
    assert first.startswith("| ALARM | as in the problem | 250 | 2 | 20.50 ± 0.50 | 16.50 ± 0.50 |")
    assert "| 0.400 ± 0.000 | 0.300 ± 0.000 |" in made["sharing_kl"]
    assert (
        "| ALARM | as in the problem | 250 | -6.00 ± 0.00 | -10.00 ± 0.00 |"
        in (made["sharing_paired"])
    )
    assert made["sharing_search"].splitlines()[2].endswith("| 250 | -2.5 | -2.0 | 3 |  |")
    assert len(made["sharing_edits"].splitlines()) == 2 + 8


def test_pictures_show_the_problems():
    lines = lines_of()
    figure = sharing.draw(lines)
    assert len(figure.axes) == 12 and len(figure.axes[0].patches) == 4
    (other,) = sharing.more_pictures(lines).values()
    assert len(other.axes[0].lines) == 4
    assert list(other.axes[0].lines[-1].get_ydata())[:2] == [10.5, 10.5]
    plt.close("all")


def test_joint_states_that_are_tried_are_counted():
    found = many_tasks.measure("INSURANCE", 50, 0, [0.9])[0.9]
    assert 0 < found["pairs_met"] <= found["pairs"]
    assert 0 < found["moves_met"] <= found["moves"]
    assert found["pairs_worst"] > 0 or found["pairs_met"] == found["pairs"]
    lines = pd.DataFrame([{"problem": "INSURANCE", "penalty": 0.9, **found}])
    (table,) = many_tasks.tables(lines).values()
    assert f"{found['pairs_met']} of {found['pairs']} (" in table
    assert many_tasks.draw(lines).axes
    plt.close("all")


def test_one_graph_is_searched_from_two_starts(monkeypatch):
    starts, real = [], first_graph.search_common
    monkeypatch.setattr(first_graph, "search_common", lambda *a: starts.append(a[1]) or real(*a))
    found = first_graph.measure("INSURANCE", 0, [first_graph.POOLED], rows=50)
    tasks = Related(networks_of("INSURANCE", 0), 50, 0).tasks
    one = IdenticalLearner(random_state=0).fit(tasks)
    # A column is constant in one task, which changes how many arcs each expects.
    assert found[first_graph.POOLED]["own"] == pytest.approx(one.score_, abs=1)
    assert found[first_graph.POOLED]["pooled"] == pytest.approx(one.score_, abs=10)
    (pooled,) = {
        frozenset(graph.edges)
        for graph in PooledLearner(random_state=0).fit(tasks).configuration_.values()
    }
    names = sorted(tasks.states)
    arcs = {(names[tail], names[head]) for tail, head in np.argwhere(starts[1])}
    assert len(starts) == 2 and arcs == pooled and (starts[0] != starts[1]).any()


def test_fits_are_compared_with_those_of_all_iterations(monkeypatch):
    made, real = [], first_graph.search_common
    monkeypatch.setattr(
        first_graph, "search_common", lambda *a: made.append(a[2].search.iterations) or real(*a)
    )
    found = first_graph.measure("INSURANCE", 0, ["all", "an eighth"], rows=20)
    assert made == [40, 5]
    learner = MultitaskLearner(random_state=0)
    assert found["an eighth"]["score"] == pytest.approx(
        learner.fit(Related(networks_of("INSURANCE", 0), 20, 0).tasks).score_, abs=1e-3
    )
    scores = {"all": 0.0, "a quarter": -2.0, "an eighth": 3.0, "none": 0.001}
    lines = pd.DataFrame(
        [
            {"problem": "INSURANCE", "trial": 0, "iterations": part, "score": score}
            | {"seconds": 10.0 - at, "seconds_of_graph": 4.0 - at}
            for at, (part, score) in enumerate(scores.items())
        ]
    )
    pooled = {"problem": "INSURANCE", "iterations": first_graph.POOLED, "own": -10.0}
    both = [pooled | {"trial": trial, "pooled": -9.0 - 3 * trial} for trial in range(2)]
    tables = first_graph.tables(pd.concat([lines, pd.DataFrame(both)]))
    assert "| 2 | 1 | 1 | 1.0 | -2.0 |" in tables["first_graph_pooled"]
    table = tables["first_graph"]
    assert "| a quarter | 1 | 0 | 1 | -2.0 | 0.75 | 0.90 |" in table
    assert "| an eighth | 1 | 1 | 0 | 3.0 | 0.50 | 0.80 |" in table
    assert "| none | 1 | 0 | 0 | 0.0 | 0.25 | 0.70 |" in table
    assert first_graph.draw(lines).axes
    plt.close("all")


def test_tables_are_weighed_as_their_names_say():
    networks = networks_of("INSURANCE", 0)
    tasks = Related(networks, 40, 0).tasks
    graphs = {name: network.graph for name, network in networks.items()}
    assert table_weights.fitted(graphs, tasks, "learned") == fit_networks(graphs, tasks)
    separate = fit_networks(graphs, tasks, sharing=None)
    assert table_weights.fitted(graphs, tasks, "own") == separate
    assert table_weights.without_separate(np.zeros((3, 4))).tolist() == [1 / 3, 1 / 3, 1 / 3, 0]
    three = [table_weights.fitted(graphs, tasks, one) for one in table_weights.WEIGHTS[1:]]
    assert len({network["task1"].table("Age").tobytes() for network in three}) == 3
    found = table_weights.measure("INSURANCE", "similar 50", 40, 0, ["own", "learned"])
    assert 0 < found["learned"]["nats"] < found["own"]["nats"]
    case = {"problem": "ALARM", "tables": table_weights.SAME, "rows": 250}
    lines = [
        {**case, "trial": trial, "weights": one, "nats": 0.1 * (at + trial)}
        for trial in range(2)
        for at, one in enumerate(table_weights.WEIGHTS)
    ]
    (table,) = table_weights.tables(pd.DataFrame(lines)).values()
    assert "| ALARM | as in the problem | 250 | divergence | 2 | 0.050 ± 0.050 |" in table
    assert len(table_weights.draw(pd.DataFrame(lines)).axes) == 1
    plt.close("all")
