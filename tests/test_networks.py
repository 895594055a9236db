import pickle
import re
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
from budget import little_memory
from enumerated import all_rows, joint_table, networks
from hash_seeds import printed
from hypothesis import given, settings

from bnmtl import structures
from bnmtl.networks import BayesNet
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

SPRINKLER = nx.DiGraph([("rain", "wet"), ("hose", "wet")])
STATES = {"rain": ("no", "yes"), "hose": ("off", "on", "leaks"), "wet": ("no", "yes")}
TABLES = {
    "rain": [0.8, 0.2],
    "hose": [0.7, 0.2, 0.1],
    "wet": [
        [[0.99, 0.01], [0.3, 0.7]],
        [[0.1, 0.9], [0.05, 0.95]],
        [[0.6, 0.4], [0.2, 0.8]],
    ],
}


@pytest.fixture
def sprinkler():
    return BayesNet(SPRINKLER, STATES, TABLES)


def test_tables_have_sorted_parents_and_the_child_last(sprinkler):
    assert sprinkler.variables == ("hose", "rain", "wet")
    assert sprinkler.parents("wet") == ("hose", "rain")
    assert sprinkler.parents("rain") == ()
    assert sprinkler.table("wet").shape == (3, 2, 2)
    assert sprinkler.table("wet")[2, 1].tolist() == [0.2, 0.8]
    assert sprinkler.n_parameters == 1 + 2 + 6
    assert repr(sprinkler) == "BayesNet(3 variables, 2 arcs, 9 parameters)"


def test_a_network_is_not_changed_from_outside(sprinkler):
    with pytest.raises(ValueError, match="read-only"):
        sprinkler.table("rain")[0] = 1
    with pytest.raises(nx.NetworkXError):
        sprinkler.graph.add_edge("wet", "rain")
    given = np.array([0.5, 0.5])
    single = nx.DiGraph()
    single.add_node("a")
    network = BayesNet(single, {"a": ["0", "1"]}, {"a": given})
    given[0] = 9
    single.add_edge("a", "b")
    assert network.table("a")[0] == 0.5
    assert list(network.graph) == ["a"]


def test_equality(sprinkler):
    reordered = nx.DiGraph()
    reordered.add_nodes_from(["wet", "hose", "rain"])
    reordered.add_edges_from(SPRINKLER.edges)
    assert sprinkler == BayesNet(reordered, STATES, TABLES)
    assert sprinkler == pickle.loads(pickle.dumps(sprinkler))
    assert sprinkler != BayesNet(SPRINKLER, STATES, TABLES | {"rain": [0.8 + 1e-12, 0.2]})
    assert sprinkler != BayesNet(SPRINKLER, STATES | {"rain": ("yes", "no")}, TABLES)
    assert sprinkler != "sprinkler"
    states = dict.fromkeys("abc", ("0", "1"))
    tables = {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": [[0.5, 0.5], [0.5, 0.5]]}
    one, other = nx.DiGraph([("a", "c")]), nx.DiGraph([("b", "c")])
    one.add_node("b")
    other.add_node("a")
    assert BayesNet(one, states, tables) != BayesNet(other, states, tables)


@pytest.mark.parametrize(
    "changes, error, message",
    [
        ({"graph": nx.Graph(SPRINKLER.edges)}, TypeError, "`graph` must be a networkx.DiGraph"),
        ({"graph": nx.DiGraph([("a", "b"), ("b", "a")])}, ValueError, "the cycle a -> b -> a"),
        ({"graph": nx.DiGraph([(1, 2)])}, TypeError, "strings as nodes, got 1"),
        ({"graph": nx.DiGraph()}, ValueError, "at least one node"),
        ({"states": {"rain": ("no", "yes")}}, ValueError, "`states` .* 'wet' is missing"),
        ({"states": STATES | {"sun": ("no",)}}, ValueError, "`states` .* 'sun' is not a node"),
        ({"states": STATES | {"rain": ("no", "no")}}, ValueError, "`rain` must be one or more"),
        ({"states": STATES | {"rain": ()}}, ValueError, "`rain` must be one or more"),
        ({"states": STATES | {"rain": (0, 1)}}, TypeError, "must be strings, got 0"),
        ({"states": STATES | {"rain": "ny"}}, TypeError, "must be a list of strings, got 'ny'"),
        ({"states": STATES | {"rain": None}}, TypeError, "must be a list of strings, got None"),
        ({"states": STATES | {"rain": {"no"}}}, TypeError, "must be a list of strings, got {'no'}"),
        ({"states": None}, TypeError, "`states` must be a mapping .* got None"),
        ({"tables": [[0.8, 0.2]]}, TypeError, "`tables` must be a mapping .* got list"),
        ({"tables": TABLES | {"rain": "xy"}}, TypeError, "`rain` an array of numbers, got"),
        ({"tables": TABLES | {"wet": [[1], [1, 0]]}}, TypeError, "array of numbers, got"),
        ({"tables": TABLES | {"wet": {"no": [1, 0]}}}, TypeError, "array of numbers, got {'no'"),
        ({"tables": STATES | {"sun": [1]}}, ValueError, "`tables` .* 'sun' is not a node"),
        ({"tables": TABLES | {"rain": [1.0]}}, ValueError, r"`rain` .* shape \(2,\), .* \(1,\)"),
        ({"tables": TABLES | {"rain": [0.8, 0.3]}}, ValueError, "`rain` .* sum to 1, got .0.8 0.3"),
        ({"tables": TABLES | {"rain": [1.2, -0.2]}}, ValueError, "are 0 or more"),
        ({"tables": TABLES | {"rain": [np.nan, 1]}}, ValueError, "are 0 or more"),
        (
            {"tables": TABLES | {"wet": [[[1, 0], [1, 0]], [[1, 0], [1, 1]], [[1, 0], [1, 0]]]}},
            ValueError,
            r"`wet` .* got \[1. 1.\] given hose = on, rain = yes\.",
        ),
    ],
)
def test_mistakes_are_named(changes, error, message):
    arguments = {"graph": SPRINKLER, "states": STATES, "tables": TABLES} | changes
    with pytest.raises(error, match=message):
        BayesNet(**arguments)


def test_fit_is_the_posterior_mean():
    frame = pd.DataFrame({"a": [0, 0, 0, 1], "b": ["x", "x", "y", "z"], "unused": [0.1, 0.2, 1, 2]})
    network = BayesNet.fit(nx.DiGraph([("a", "b")]), frame, equivalent_sample_size=3)
    assert network.states == {"a": ("0", "1"), "b": ("x", "y", "z")}
    # a_jk = 3 / 2 for a, and 3 / (2 * 3) for b
    assert network.table("a").tolist() == pytest.approx([(3 + 1.5) / 7, (1 + 1.5) / 7])
    assert network.table("b")[0].tolist() == pytest.approx([2.5 / 4.5, 1.5 / 4.5, 0.5 / 4.5])
    assert network.table("b")[1].tolist() == pytest.approx([0.5 / 2.5, 0.5 / 2.5, 1.5 / 2.5])


def test_fit_without_prior_gives_frequencies():
    dtype = pd.CategoricalDtype(["x", "y", "never"])
    frame = pd.DataFrame({"a": pd.Series(["x", "x", "y"], dtype=dtype), "b": [0, 1, 1]})
    network = BayesNet.fit(nx.DiGraph([("a", "b")]), frame, equivalent_sample_size=0)
    assert network.table("a").tolist() == [2 / 3, 1 / 3, 0]
    assert network.table("b").tolist() == [[0.5, 0.5], [0, 1], [0.5, 0.5]]


@pytest.mark.parametrize("name", ["asia", "sachs", "alarm", "insurance"])
def test_fit_reproduces_the_log_likelihood_of_bnlearn(name):
    frame = reference.frame(name)
    for case in reference.bnlearn_results():
        if case["network"] == name:
            graph = reference.graph(name, case["graph"])
            network = BayesNet.fit(graph, frame, equivalent_sample_size=0)
            loglik = network.log_likelihood(frame).sum()
            assert loglik == pytest.approx(case["scores"]["loglik"], rel=1e-8)
            assert network.n_parameters == case["nparams"]


def test_fit_takes_a_task_and_does_not_depend_on_column_order():
    frame = reference.frame("asia")
    graph = reference.graph("asia", "true")
    network = BayesNet.fit(graph, frame)
    assert BayesNet.fit(graph, encode(frame)["task1"]) == network
    assert BayesNet.fit(graph, frame[frame.columns[::-1]].sample(frac=1)) == network
    task = encode(frame)["task1"]
    assert np.array_equal(network.log_likelihood(task), network.log_likelihood(frame))


def test_fit_recovers_a_network():
    asia = structures.load("asia")
    learned = BayesNet.fit(asia.graph, asia.sample(100_000, random_state=3))
    for variable in ("smoke", "lung", "either"):
        assert np.abs(learned.table(variable) - asia.table(variable)).max() < 0.02


def test_fit_names_mistakes():
    graph = nx.DiGraph([("a", "b")])
    frame = pd.DataFrame({"a": [0, 1], "b": [0.5, 1.7]})
    with pytest.raises(ValueError, match="column `b` is continuous"):
        BayesNet.fit(graph, frame)
    with pytest.raises(ValueError, match=r"a column for each variable .* `b` is missing"):
        BayesNet.fit(graph, frame[["a"]])
    with pytest.raises(ValueError, match="column `b` must be complete; 1 of its values"):
        BayesNet.fit(graph, pd.DataFrame({"a": [0, 1], "b": ["x", None]}))
    with pytest.raises(ValueError, match="got `b` twice"):
        BayesNet.fit(graph, pd.DataFrame([[0, 1, 1]], columns=["a", "b", "b"]))
    with pytest.raises(ValueError, match='must be "auto" or a number of 0 or more, got -1'):
        BayesNet.fit(graph, frame[["a"]].assign(b=0), equivalent_sample_size=-1)
    with pytest.raises(TypeError, match="a pandas DataFrame, got dict"):
        BayesNet.fit(graph, {"a": [0, 1]})
    none = frame[["a"]].assign(b=0)[:0]
    with pytest.raises(ValueError, match="`frame`: column `[ab]` must have rows, or categories"):
        BayesNet.fit(graph, none)
    declared = none.astype(pd.CategoricalDtype(["x", "y"]))
    assert (BayesNet.fit(graph, declared).table("b") == 0.5).all()


def test_fit_names_arguments_of_a_wrong_type():
    frame = pd.DataFrame({1: [0, 1], "b": [0, 1]})
    with pytest.raises(TypeError, match="strings as nodes, got 1; rename it"):
        BayesNet.fit(nx.DiGraph([(1, "b")]), frame)
    for size in ("1", None, True):
        with pytest.raises(TypeError, match='`equivalent_sample_size` must be "auto" or a nu'):
            BayesNet.fit(nx.DiGraph([("1", "b")]), frame, equivalent_sample_size=size)
    for wrong, kind in ((None, "None"), (pd.DataFrame, "the class DataFrame"), (frame["b"], "Ser")):
        with pytest.raises(TypeError, match=f"`frame` must be a pandas DataFrame, got {kind}"):
            BayesNet.fit(nx.DiGraph([("1", "b")]), wrong)


def test_variables_are_names(sprinkler):
    for unknown in ("sun", None, ["rain"], 3):
        for method in (sprinkler.parents, sprinkler.table):
            with pytest.raises(ValueError, match="one of variables `hose`, `rain`, `wet`, got"):
                method(unknown)


# pgmpy 1776: 64 TiB for a table of the many parents that a graph may have.
@pytest.mark.parametrize(
    "n_parents, n_states, size",
    [
        (26, 2, "1.34e+08 over 27"),
        (40, 3, "2.43e+19 over 41"),
        (700, 3, "1.93e+334 over 701"),
        (63, 1, "2 over 64"),
        (64, 1, "2 over 65"),
        (100, 1, "2 over 101"),
    ],
)
def test_tables_of_many_parents_are_refused(n_parents, n_states, size):
    graph = nx.DiGraph((f"x{i}", "y") for i in range(n_parents))
    column = pd.Categorical(["a", "a"], list("abc"[:n_states]))
    frame = pd.DataFrame({v: column for v in graph if v != "y"} | {"y": ["n", "p"]})
    message = (
        rf"must have tables of at most {2**26:,} cells over 63 variables; that of `y` with its "
        rf"{n_parents} parents would have {re.escape(size)}: remove some of its parents\."
    )
    with little_memory(2**22), pytest.raises(ValueError, match=f"^`graph` {message}$"):
        BayesNet.fit(graph, frame)
    states = {v: tuple("abc"[:n_states]) for v in graph} | {"y": ("n", "p")}
    tables = {v: np.full(len(states[v]), 1 / len(states[v])) for v in graph}
    with little_memory(2**22), pytest.raises(ValueError, match=f"^`graph` {message}$"):
        BayesNet(graph, states, tables)


def test_models_of_pgmpy_with_too_many_parents_are_refused():
    parents = [f"x{i}" for i in range(63)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    model = DiscreteBayesianNetwork([(parent, "y") for parent in parents])
    model.add_cpds(*(TabularCPD(parent, 1, [[1]]) for parent in parents))
    model.add_cpds(TabularCPD("y", 2, [[0.5], [0.5]], parents, [1] * 63))
    with pytest.raises(ValueError, match="^`model` must .* of `y` with its 63 parents .* over 64:"):
        BayesNet.from_pgmpy(model)


def test_fit_takes_62_parents_of_one_state():
    graph = nx.DiGraph((f"x{i}", "y") for i in range(62))
    frame = pd.DataFrame(dict.fromkeys(graph, ["a"] * 4) | {"y": ["n", "p", "p", "p"]})
    network = BayesNet.fit(graph, frame, equivalent_sample_size=0)
    assert network.table("y").ravel().tolist() == [0.25, 0.75]
    assert network.log_likelihood(frame) == pytest.approx(np.log([0.25, 0.75, 0.75, 0.75]))
    assert network.sample(3, random_state=0)["x0"].tolist() == ["a"] * 3
    assert network.predict_proba(frame[["x0"]], "y").iloc[0].tolist() == pytest.approx([0.25, 0.75])


def test_fit_refuses_tables_beyond_memory():
    names = [f"v{i}" for i in range(26)]
    frame = pd.DataFrame([[0] * 27, [1] * 27], columns=[*names, "child"])
    graph = nx.DiGraph((parent, "child") for parent in names[:16])
    assert BayesNet.fit(graph, frame[list(graph)]).table("child").size == 2**17
    graph.add_edges_from((parent, "child") for parent in names)
    with pytest.raises(
        ValueError, match=r"at most 67,108,864 .* `child` with its 26 parents would have 1\.34e"
    ):
        BayesNet.fit(graph, frame)


@given(networks())
@settings(deadline=None)
def test_log_likelihood_is_the_log_of_the_joint(network):
    with np.errstate(divide="ignore"):
        expected = np.log(joint_table(network)).ravel()
    assert np.allclose(network.log_likelihood(all_rows(network)), expected)


def test_log_likelihood_reads_values_as_tasks_do():
    graph = nx.DiGraph([("a", "b")])
    frame = pd.DataFrame({"a": [1, 0, 10], "b": [True, False, True]})
    network = BayesNet.fit(graph, frame)
    assert network.states == {"a": ("0", "1", "10"), "b": ("False", "True")}
    expected = network.log_likelihood(frame)
    for same in (
        frame.astype({"a": float}),
        frame.astype(str),
        frame.astype("category"),
        frame.astype({"a": "Int64", "b": "boolean"}),
        frame[["b", "a"]].assign(other=0.5),
    ):
        assert np.array_equal(network.log_likelihood(same), expected)
    assert np.array_equal(network.log_likelihood(frame.iloc[[2, 0]]), expected[[2, 0]])
    assert network.log_likelihood(frame.iloc[:0]).shape == (0,)


def test_a_network_accepts_the_data_it_was_learned_from(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, None, 1], "b": ["x", None, "None", "y, z"]})
    task = encode(frame, missing="state")["task1"]
    network = BayesNet.fit(nx.DiGraph([("a", "b")]), task)
    network.to_bif(tmp_path / "x.bif")
    again = BayesNet.from_bif(tmp_path / "x.bif")
    assert again == network
    assert np.array_equal(again.log_likelihood(frame), network.log_likelihood(task))


def test_log_likelihood_names_mistakes(sprinkler):
    frame = sprinkler.sample(3, random_state=0).astype(object)
    with pytest.raises(ValueError, match="`hose` is missing"):
        sprinkler.log_likelihood(frame[["rain", "wet"]])
    with pytest.raises(ValueError, match=r"network knows \(`no`, `yes`\), got `hail`, `snow`"):
        sprinkler.log_likelihood(frame.assign(rain=["hail", "no", "snow"]))
    with pytest.raises(ValueError, match="column `rain` must be complete; 2 of its values"):
        sprinkler.log_likelihood(frame.assign(rain=[None, "no", np.nan]))
    with pytest.raises(TypeError, match="`frame` must be a pandas DataFrame, got list"):
        sprinkler.log_likelihood([["no", "off", "no"]])
    unused = pd.Categorical(["no"] * 3, categories=["no", "hail"])
    assert sprinkler.log_likelihood(frame.assign(rain=unused)).shape == (3,)


def test_sample_has_all_states_and_the_right_frequencies(sprinkler):
    n = 100_000
    frame = sprinkler.sample(n, random_state=0)
    assert list(frame.columns) == ["hose", "rain", "wet"]
    for variable in sprinkler.variables:
        assert tuple(frame[variable].cat.categories) == STATES[variable]
        assert not frame[variable].cat.ordered
    joint = joint_table(sprinkler)
    codes = tuple(frame[v].cat.codes for v in sprinkler.variables)
    counts = np.bincount(np.ravel_multi_index(codes, joint.shape), minlength=joint.size)
    chi_square = ((counts - n * joint.ravel()) ** 2 / (n * joint.ravel())).sum()
    assert chi_square < 31.3  # 99.9 % quantile for 11 degrees of freedom


def test_sample_is_repeatable(sprinkler):
    first = sprinkler.sample(50, random_state=7)
    assert first.equals(sprinkler.sample(50, random_state=7))
    assert first.iloc[:20].equals(sprinkler.sample(20, random_state=7))
    assert not first.equals(sprinkler.sample(50, random_state=8))
    generator = np.random.default_rng(7)
    one, two = (sprinkler.sample(50, random_state=generator) for _ in range(2))
    assert not one.equals(two)
    assert one.equals(sprinkler.sample(50, random_state=np.random.default_rng(7)))
    assert not sprinkler.sample(50).equals(sprinkler.sample(50))
    assert sprinkler.sample(0).shape == (0, 3)


def test_sample_does_not_depend_on_the_order_of_nodes(sprinkler):
    graph = nx.DiGraph()
    graph.add_nodes_from(["wet", "hose", "rain"])
    graph.add_edges_from([("hose", "wet"), ("rain", "wet")])
    other = BayesNet(graph, STATES, TABLES)
    assert other.sample(100, random_state=1).equals(sprinkler.sample(100, random_state=1))


def test_samples_and_inference_do_not_depend_on_the_hash_seed():
    code = (
        "import numpy as np; import pandas as pd;"
        "from bnmtl import structures; from bnmtl.networks import inference;"
        "frame = structures.load('asia').sample(500, random_state=1);"
        "print(pd.util.hash_pandas_object(frame.astype(str)).sum());"
        "network = structures.load('insurance'); frame = network.sample(60, random_state=1);"
        "gaps = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.7);"
        "p = network.predict_proba(gaps, 'PropCost').to_numpy();"
        "codes = {v: gaps[v].cat.codes.to_numpy() for v in gaps};"
        "print(p.tobytes().hex(), inference.log_evidence(network, codes, 60).tobytes().hex())"
    )
    assert len(printed(code)) == 1


@given(networks())
@settings(deadline=None)
def test_sample_never_draws_the_impossible(network):
    frame = network.sample(200, random_state=0)
    assert np.isfinite(network.log_likelihood(frame)).all()


def test_sample_leaves_rounding_to_no_impossible_state():
    """Of so many rows, some are drawn above a sum that is 5e-7 too small."""
    single = nx.DiGraph()
    single.add_node("a")
    network = BayesNet(single, {"a": ("x", "y", "z")}, {"a": [0.5, 0.4999995, 0]})
    assert set(network.sample(10_000_000, random_state=0)["a"].cat.codes.unique()) == {0, 1}


def test_sample_names_mistakes(sprinkler):
    for n in (True, "3", None):
        with pytest.raises(TypeError, match="`n` must be a whole number of at least 0, got"):
            sprinkler.sample(n)
    for n in (2.5, -1):
        with pytest.raises(ValueError, match=f"`n` must be a whole number of at least 0, got {n}"):
            sprinkler.sample(n)
    with pytest.raises(TypeError, match="`random_state` must be None, an int"):
        sprinkler.sample(1, random_state="x")


@pytest.mark.parametrize("name", ["asia", "child", "alarm"])
def test_pgmpy_and_back(name):
    network = structures.load(name)
    assert BayesNet.from_pgmpy(network.to_pgmpy()) == network
    assert network.to_pgmpy().check_model()


def test_from_pgmpy_aligns_states_and_names():
    model = structures.load("asia").to_pgmpy()
    cpd_type = type(model.get_cpds("xray"))
    swapped = cpd_type(
        "xray",
        2,
        [[0.05, 0.98], [0.95, 0.02]],
        ["either"],
        [2],
        state_names={"xray": ["yes", "no"], "either": ["no", "yes"]},
    )
    model.remove_cpds("xray")
    model.add_cpds(swapped)
    assert BayesNet.from_pgmpy(model) == structures.load("asia")
    numbers = type(model)([(1, 2)])
    numbers.add_cpds(cpd_type(1, 2, [[0.5], [0.5]]))
    with pytest.raises(ValueError, match="a table for each variable; `2` has none"):
        BayesNet.from_pgmpy(numbers)
    numbers.add_cpds(cpd_type(2, 2, [[0.5, 0.1], [0.5, 0.9]], [1], [2]))
    converted = BayesNet.from_pgmpy(numbers)
    assert converted.states == {"1": ("0", "1"), "2": ("0", "1")}
    assert converted.table("2").tolist() == [[0.5, 0.5], [0.1, 0.9]]
    with pytest.raises(TypeError, match="DiscreteBayesianNetwork, got DiGraph"):
        BayesNet.from_pgmpy(nx.DiGraph())
