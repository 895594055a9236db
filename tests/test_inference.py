"""Exact inference: all joint states gone through, pgmpy, laws, and rows with gaps."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import examples, little_memory
from enumerated import conditional, joint_table, networks
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl import structures
from bnmtl.networks import BayesNet, contraction, inference
from bnmtl.networks.contraction import contract

pytestmark = pytest.mark.beside_kernels


@given(networks(), st.data())
@settings(deadline=None, max_examples=30)
def test_predict_proba_agrees_with_the_joint(network, data):
    variable = data.draw(st.sampled_from(network.variables))
    frame = network.sample(6, random_state=data.draw(st.integers(0, 1000))).astype(object)
    others = [v for v in network.variables if v != variable]
    absent = data.draw(st.sets(st.sampled_from(others))) if others else set()
    holes = {v: data.draw(st.lists(st.booleans(), min_size=6, max_size=6)) for v in others}
    for v in others:
        frame[v] = frame[v].mask(np.array(holes[v]))
    frame = frame.drop(columns=list(absent))
    before = frame.copy()
    predicted = network.predict_proba(frame, variable)
    assert frame.equals(before)
    assert list(predicted.columns) == list(network.states[variable])
    for i, row in frame.drop(columns=variable).iterrows():
        expected = conditional(network, variable, row.dropna().to_dict())
        assert predicted.loc[i].to_numpy() == pytest.approx(expected, abs=1e-9)


def test_predict_proba_keeps_the_index_and_is_fast_on_complete_rows(monkeypatch):
    alarm = structures.load("alarm")
    frame = alarm.sample(2000, random_state=0)
    frame.index = frame.index + 17
    monkeypatch.setattr(inference, "contract", None)
    predicted = alarm.predict_proba(frame, "HYPOVOLEMIA")
    assert predicted.index.equals(frame.index)
    assert np.allclose(predicted.sum(axis=1), 1)
    # The column itself is not evidence: without it the posterior is the same.
    assert predicted.equals(alarm.predict_proba(frame.drop(columns="HYPOVOLEMIA"), "HYPOVOLEMIA"))


def test_predict_proba_without_evidence_is_the_marginal():
    asia = structures.load("asia")
    marginal = inference.posterior(asia, "lung")
    for frame in (pd.DataFrame(index=range(2)), pd.DataFrame({"smoke": [None, None]})):
        assert np.allclose(asia.predict_proba(frame, "lung"), marginal)
    assert asia.predict_proba(pd.DataFrame(columns=["smoke"]), "lung").shape == (0, 2)


def test_predict_proba_does_not_underflow():
    children = [f"x{i}" for i in range(300)]
    graph = nx.DiGraph(("class", child) for child in children)
    states = dict.fromkeys(graph, ("0", "1"))
    tables = {child: [[0.999, 0.001], [0.9989, 0.0011]] for child in children}
    network = BayesNet(graph, states, tables | {"class": [0.5, 0.5]})
    frame = pd.DataFrame([["0"] * 300, ["1"] * 300], columns=children)
    predicted = network.predict_proba(frame, "class").to_numpy()
    ratios = [300 * np.log(0.9989 / 0.999), 300 * np.log(1.1)]
    assert np.allclose(predicted[:, 1], 1 / (1 + np.exp(-np.array(ratios))))


def test_posteriors_and_evidence_do_not_underflow_where_variables_are_hidden():
    children = [f"x{i}" for i in range(1000)]
    graph = nx.DiGraph([("class", "between"), *(("between", child) for child in children)])
    states = dict.fromkeys(graph, ("0", "1"))
    tables = {child: [[0.999, 0.001], [0.9989, 0.0011]] for child in children}
    others = {"class": [0.3, 0.7], "between": [[0.8, 0.2], [0.4, 0.6]]}
    network = BayesNet(graph, states, tables | others)
    frame = pd.DataFrame([["0"] * 1000, ["1"] * 1000], columns=children)
    # P(x | between = 1) / P(x | between = 0), and P(class = 1 | x) by way of it
    ratios = 1000 * np.array([np.log(0.9989 / 0.999), np.log(1.1)])
    between = 1 / (1 + np.exp(-ratios) * (0.3 * 0.8 + 0.7 * 0.4) / (0.3 * 0.2 + 0.7 * 0.6))
    expected = between * 0.42 / 0.48 + (1 - between) * 0.28 / 0.52
    predicted = network.predict_proba(frame, "class").to_numpy()
    assert np.allclose(predicted[:, 1], expected, rtol=1e-12)
    codes = {v: np.array([0, 1]) if v in children else np.array([-1, -1]) for v in graph}
    log_either = 1000 * np.log([[0.999, 0.001], [0.9989, 0.0011]])
    evidence = np.logaddexp(np.log(0.52) + log_either[0], np.log(0.48) + log_either[1])
    assert np.allclose(inference.log_evidence(network, codes, 2), evidence, rtol=1e-12)


@given(networks(), st.data())
@settings(deadline=None, max_examples=examples(40))
def test_evidence_has_the_probability_of_all_states_that_it_fits(network, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    table = joint_table(network)
    cells = np.array(list(np.ndindex(*table.shape)))
    rows = np.where(
        rng.random((20, table.ndim)) < 0.5, -1, cells[rng.integers(len(cells), size=20)]
    )
    codes = dict(zip(network.variables, rows.T, strict=True))
    fits = [((row == cells) | (row < 0)).all(axis=1) for row in rows]
    with np.errstate(divide="ignore"):
        expected = np.log([table.ravel()[fitting].sum() for fitting in fits])
    assert inference.log_evidence(network, codes, 20) == pytest.approx(expected)


def test_impossible_evidence_has_probability_zero():
    asia = structures.load("asia")
    codes = {v: np.array([-1, -1]) for v in asia.variables}
    yes = {v: asia.states[v].index("yes") for v in ("lung", "either")}
    codes["lung"] = np.array([yes["lung"], -1])
    codes["either"] = np.array([1 - yes["either"], yes["either"]])
    assert np.isneginf(inference.log_evidence(asia, codes, 2)).tolist() == [True, False]


def test_states_that_fall_far_behind_come_back():
    children = [f"x{i}" for i in range(200)]
    graph = nx.DiGraph(("class", child) for child in children)
    table = [[0.9999, 0.0001], [0.0001, 0.9999]]
    tables = {child: table for child in children} | {"class": [0.5, 0.5]}
    network = BayesNet(graph, dict.fromkeys(graph, ("0", "1")), tables)
    frame = pd.DataFrame([["0"] * 90 + ["1"] * 109 + [None]], columns=children)
    log_odds = 19 * np.log(9999)
    expected = [-log_odds, 0.0]
    assert np.log(network.predict_proba(frame, "class").to_numpy()[0]) == pytest.approx(expected)
    codes = {v: np.array([int(v != "class" and int(v[1:]) >= 90)]) for v in graph}
    codes |= {"class": np.array([-1]), "x199": np.array([-1])}
    most = np.log(0.5) + 109 * np.log(0.9999) + 90 * np.log(0.0001)
    assert inference.log_evidence(network, codes, 1) == pytest.approx(most)


def test_variables_of_one_state_are_not_axes():
    parents = [f"p{i}" for i in range(60)]
    graph = nx.DiGraph((parent, "child") for parent in parents)
    states = {parent: ("only",) for parent in parents} | {"child": ("0", "1")}
    tables = {parent: [1.0] for parent in parents} | {"child": np.full((1,) * 60 + (2,), 0.5)}
    network = BayesNet(graph, states, tables)
    assert inference.posterior(network, "child").tolist() == [0.5, 0.5]
    assert inference.posterior(network, ["p3", "child"]).tolist() == [[0.5, 0.5]]


def test_predict_proba_looks_once_at_each_pattern_that_matters(monkeypatch):
    asia = structures.load("asia")
    frame = asia.sample(300, random_state=0).drop(columns=["either", "lung"])
    seen = []

    def counting(order, arrays, keep, n_rows):
        seen.append(n_rows)
        return contract(order, arrays, keep, n_rows)

    monkeypatch.setattr(inference, "contract", counting)
    asia.predict_proba(frame, "lung")
    needed = ["bronc", "dysp", "smoke", "tub", "xray"]
    assert seen == [len(frame[needed].drop_duplicates())]
    # Rows that differ in what is missing elsewhere are one pattern.
    seen.clear()
    gaps = frame.assign(asia=[None, "no"] * 150, tub="no", smoke="yes", bronc="no", dysp="no")
    asia.predict_proba(gaps, "lung")
    assert seen == [2]


@pytest.mark.parametrize("largest", [1, 500, 1500])
def test_rows_in_parts_are_the_same(largest, monkeypatch):
    alarm = structures.load("alarm")
    frame = alarm.sample(60, random_state=0)
    frame = frame.drop(columns=[name for at, name in enumerate(alarm.variables) if at % 3])
    at_once = alarm.predict_proba(frame, "CATECHOL")
    monkeypatch.setattr(contraction, "LARGEST_CHUNK", largest)
    assert alarm.predict_proba(frame, "CATECHOL").equals(at_once)


@pytest.mark.parametrize("name", ["alarm", "insurance"])
def test_posteriors_agree_with_pgmpy(name):
    network = structures.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import VariableElimination
    elimination = VariableElimination(network.to_pgmpy())
    rng = np.random.default_rng(0)
    row = network.sample(1, random_state=0).iloc[0]
    for _ in range(10):
        names = rng.permutation(network.variables).tolist()
        targets, evidence = names[:2], {v: row[v] for v in names[2 : rng.integers(2, len(names))]}
        expected = elimination.query(targets, evidence=evidence, show_progress=False)
        values = expected.values.transpose([expected.variables.index(v) for v in targets])
        found = inference.posterior(network, targets, evidence)
        assert found == pytest.approx(values, rel=1e-9, abs=1e-15)


def test_tables_over_too_many_hidden_variables_are_refused():
    names = [f"x{i}" for i in range(20)]
    graph = nx.DiGraph((tail, f"{tail}-{head}") for tail in names for head in names)
    graph.add_edges_from((head, f"{tail}-{head}") for tail in names for head in names)
    states = dict.fromkeys(graph, ("0", "1", "2"))
    shapes = {v: (3,) * (1 + graph.in_degree(v)) for v in graph}
    network = BayesNet(graph, states, {v: np.full(shape, 1 / 3) for v, shape in shapes.items()})
    evidence = {v: "0" for v in graph if v not in names}
    with pytest.raises(ValueError, match=r"must not connect .*; a table of \d.\de\+\d\d numbers"):
        inference.posterior(network, "x0", evidence)


def independent(n_variables, n_states):
    graph = nx.DiGraph()
    graph.add_nodes_from(f"x{i:02d}" for i in range(n_variables))
    states = dict.fromkeys(graph, tuple(map(str, range(n_states))))
    return BayesNet(graph, states, {v: np.full(n_states, 1 / n_states) for v in graph})


# pgmpy 1177 runs out of memory for such queries, and pgmpy 1265 out of dimensions.
@pytest.mark.parametrize(
    "n_variables, n_states, size",
    [
        (27, 2, "1.3e+08"),
        (40, 2, "1.1e+12"),
        (63, 2, "9.2e+18"),
        (64, 2, "1.8e+19"),
        (64, 1, "1.0e+00"),
        (400, 8, "1.7e+361"),
    ],
)
def test_joint_posteriors_of_many_variables_are_refused(n_variables, n_states, size):
    network = independent(n_variables, n_states)
    with little_memory(), pytest.raises(ValueError) as caught:
        inference.posterior(network, network.variables)
    shown = ", ".join(f"`x0{i}`" for i in range(10))
    assert str(caught.value) == (
        "`network` must not connect so many unobserved variables; a table of "
        f"{size} numbers over {n_variables} variables ({shown} and {n_variables - 10} more) "
        "would be needed, and the limits are 67,108,864 and 63: give more evidence, or ask for "
        "fewer variables."
    )


def test_joint_posteriors_have_at_most_63_axes():
    network = independent(63, 1)
    assert inference.posterior(network, network.variables).tolist() == np.ones((1,) * 63).tolist()


def test_hidden_variables_with_one_state_count_as_axes_only_if_asked_for():
    """A table of 62 parents with one state, a hidden chain beside it, and every row of it."""
    network = independent(62, 1)
    graph = nx.DiGraph(network.graph)
    graph.add_edges_from((parent, "child") for parent in network.variables)
    graph.add_edge("child", "last")
    states = network.states | {"child": ("0", "1"), "last": ("0", "1")}
    table = np.array([0.25, 0.75]).reshape((1,) * 62 + (2,))
    last = [[0.5, 0.5], [0.1, 0.9]]
    network = BayesNet(graph, states, network.tables | {"child": table, "last": last})
    parents = sorted(graph.predecessors("child"))
    assert inference.posterior(network, "last").tolist() == pytest.approx([0.2, 0.8])
    frame = pd.DataFrame([["0"] * 62 + ["1"]], columns=[*parents, "last"])
    for columns in (frame, frame[["last"]]):
        given = network.predict_proba(columns, "child").iloc[0].tolist()
        assert given == pytest.approx([0.125 / 0.8, 0.675 / 0.8])
    joint = inference.posterior(network, [*parents[1:], "last"])
    assert joint.ravel() == pytest.approx([0.2, 0.8])
    # With all parents, the product over the hidden child has 64 variables.
    with pytest.raises(ValueError, match="must not connect .* over 64 variables .* and 63:"):
        inference.posterior(network, [*parents, "last"])
    assert BayesNet.from_pgmpy(network.to_pgmpy()) == network


def test_predict_proba_names_mistakes():
    graph = nx.DiGraph([("rain", "wet"), ("hose", "wet")])
    table = [[[0.9, 0.1], [0.3, 0.7]], [[0.1, 0.9], [0.05, 0.95]]]
    tables = {"rain": [0.8, 0.2], "hose": [0.7, 0.3], "wet": table}
    sprinkler = BayesNet(graph, dict.fromkeys(graph, ("no", "yes")), tables)
    frame = sprinkler.sample(3, random_state=0)
    with pytest.raises(ValueError, match=r"one of variables `hose`, `rain`, `wet`, got 'sun'\."):
        sprinkler.predict_proba(frame, "sun")
    with pytest.raises(ValueError, match=r"column `hose` must hold .*, got `broken`"):
        sprinkler.predict_proba(frame.assign(hose="broken"), "wet")
    asia = structures.load("asia")
    impossible = asia.sample(3, random_state=0).assign(lung="yes", either="no")
    impossible.index = ["x", "y", "z"]
    for columns in (asia.variables, ["lung", "either", "bronc"]):
        with pytest.raises(ValueError, match="not in 3 of the rows, the first of them 'x'"):
            asia.predict_proba(impossible[list(columns)], "tub")


@given(networks(smallest=2), st.data())
@settings(deadline=None, max_examples=20)
def test_posterior_agrees_with_the_joint(network, data):
    row = network.sample(1, random_state=data.draw(st.integers(0, 99))).iloc[0].to_dict()
    targets = data.draw(st.permutations(network.variables).map(lambda names: names[:2]))
    observed = data.draw(st.sets(st.sampled_from(network.variables)))
    evidence = {v: row[v] for v in sorted(observed - set(targets))}
    posterior = inference.posterior(network, targets, evidence)
    assert posterior.shape == tuple(len(network.states[v]) for v in targets)
    assert posterior.sum() == pytest.approx(1)
    for i, target in enumerate(targets):
        expected = conditional(network, target, evidence)
        assert posterior.sum(axis=1 - i) == pytest.approx(expected, abs=1e-9)
    # P(a, b) = P(a | b) P(b), for the state of b in the row
    first, second = targets
    given_second = conditional(network, first, evidence | {second: row[second]})
    at = network.states[second].index(row[second])
    expected = given_second * conditional(network, second, evidence)[at]
    assert posterior[:, at] == pytest.approx(expected, abs=1e-9)


def test_posterior_names_mistakes():
    asia = structures.load("asia")
    with pytest.raises(ValueError, match=r"must be among variables `asia`, .*, got 'x'"):
        inference.posterior(asia, "x")
    with pytest.raises(
        ValueError, match="give `smoke` one of its states, `yes`, `no`, got 'maybe'"
    ):
        inference.posterior(asia, "lung", {"smoke": "maybe"})
    with pytest.raises(ValueError, match="once each"):
        inference.posterior(asia, ["lung", "lung"])
    with pytest.raises(ValueError, match="its probability is 0"):
        inference.posterior(asia, "tub", {"lung": "yes", "either": "no"})
    for wrong, shown in ((None, "None"), (asia.graph, "DiGraph"), (BayesNet, "the class BayesNet")):
        with pytest.raises(TypeError, match=f"`network` must be a BayesNet, got {shown}"):
            inference.posterior(wrong, "lung")
    for wrong in (None, 3):
        with pytest.raises(TypeError, match="`variables` must be a name or a list of names"):
            inference.posterior(asia, wrong)
    with pytest.raises(ValueError, match=r"must be among variables .* got \['lung'\]"):
        inference.posterior(asia, [["lung"]])
    with pytest.raises(TypeError, match="`evidence` must be a mapping"):
        inference.posterior(asia, "lung", ["smoke"])


def test_markov_blanket():
    asia = structures.load("asia").graph
    assert inference.markov_blanket(asia, "either") == {"lung", "tub", "xray", "dysp", "bronc"}
    assert inference.markov_blanket(asia, "asia") == {"tub"}
    with pytest.raises(ValueError, match=r"`variable` must be one of nodes `asia`, .*, got 'x'"):
        inference.markov_blanket(asia, "x")
    with pytest.raises(TypeError, match=r"`graph` must be a networkx.DiGraph"):
        inference.markov_blanket(structures.load("asia"), "asia")
