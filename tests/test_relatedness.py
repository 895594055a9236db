"""Dissimilarities of tasks: their definitions, that they are metrics, and what they leave alone."""

import functools
import itertools
import warnings

import naive
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from small import CLIMB, ONE_GROUP, partial, related, variants

from bnmtl import (
    BayesNet,
    EditPrior,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.graphs import from_adjacency
from bnmtl.learners.held_out import held_out_rows
from bnmtl.metrics import edit_distance
from bnmtl.networks.shared_tables import fit_tables
from bnmtl.priors.coupling import read_distances
from bnmtl.relatedness import direct, evidence, indirect, shared, true
from bnmtl.relatedness.measures import as_distances
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

LEARNER = MultitaskLearner(**ONE_GROUP, **CLIMB)
DAGS = list(naive.all_dags(4))
MEASURES = {
    "direct": direct,
    "indirect": functools.partial(indirect, cv=3),
    "shared": shared,
    "evidence": evidence,
}
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


@functools.cache
def measured(name):
    """The table of a measure for tasks that differ in their variables."""
    return MEASURES[name](partial(), LEARNER)


def two_related():
    """Two tasks with the same variables."""
    return dict(itertools.islice(related().items(), 2))


def dags(names="abcd"):
    """Strategy of all DAGs over four names."""
    return st.sampled_from(DAGS).map(lambda matrix: from_adjacency(matrix, names))


@given(dags(), dags(), dags())
@settings(max_examples=50)
def test_true_is_the_edit_distance_and_a_pseudo_metric(a, b, c):
    table = true({"a": a, "b": b, "c": c})
    for (s, first), (t, second) in itertools.product({"a": a, "b": b, "c": c}.items(), repeat=2):
        assert table.loc[s, t] == edit_distance(first, second) == table.loc[t, s]
    assert table.loc["a", "c"] <= table.loc["a", "b"] + table.loc["b", "c"]


@given(dags("abcd"), dags("bcde"), dags("cdef"))
@settings(max_examples=50)
def test_with_other_variables_it_is_the_share_of_common_pairs_that_differ(a, b, c):
    graphs = {"a": a, "b": b, "c": c}
    table, plain = true(graphs), true(graphs, normalize=False)
    for s, t in itertools.combinations("abc", 2):
        edits, total = naive.weighted_edits(graphs[s], graphs[t])
        assert plain.loc[s, t] == plain.loc[t, s] == edits
        assert table.loc[s, t] == table.loc[t, s] == edits / total
    assert (np.diag(table) == 0).all()


def test_tasks_without_a_common_pair_have_no_distance_but_no_edits_either():
    graphs = {"north": nx.DiGraph([("a", "b")]), "south": nx.DiGraph([("b", "c")])}
    with pytest.raises(ValueError, match="Tasks `north` and `south` have no pair of variables in"):
        true(graphs)
    assert true(graphs, normalize=False).to_numpy().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("arc", [("a", "b"), ("b", "a")])
def test_an_arc_at_a_constant_variable_takes_no_part_in_either_direction(arc):
    """A required arc may stay where the rows that are left to learn from do not vary."""
    first, second = nx.DiGraph([arc]), nx.DiGraph()
    second.add_nodes_from("ab")
    first.add_node("a", constant=True)
    assert true({"s": first, "t": second}, normalize=False).loc["s", "t"] == 0
    assert PairedPrior(0.9).log_prior({"s": first, "t": second}) == 0


def test_true_takes_networks_and_leaves_constant_variables_out():
    tasks = encode(related())
    graph = nx.DiGraph([("x1", "x2")])
    graph.add_nodes_from(tasks["task1"].variables)
    network = BayesNet.fit(graph, tasks["task1"])
    other = nx.DiGraph(graph)
    other.remove_edge("x1", "x2")
    assert true({"a": network, "b": other}).loc["a", "b"] == 1
    assert true({"a": network, "b": other}, normalize=True).loc["a", "b"] == 1 / 15
    other.nodes["x1"]["constant"] = True
    assert true({"a": network, "b": other}).loc["a", "b"] == 0
    other.nodes["x1"]["constant"] = False
    other.nodes["x3"]["constant"] = True
    assert true({"a": network, "b": other}).loc["a", "b"] == 1 / 10


# A reversal is one edit under all of them, and all pairs of tasks count alike.
PRIORS = [
    PairedPrior(0.2),
    EditPrior(1),
    EditPrior(0.2, costs={"add": 1, "delete": 2, "reverse": 3}),
    PairedPrior(0.2, task_penalty={("task1", "task2"): 0.2}),
]


@pytest.mark.parametrize("make", [related, partial], ids=["equal", "partial"])
@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_direct_compares_structures_learned_together_at_a_small_penalty(make, prior):
    tasks = make()
    small = clone(prior).set_params(penalty=0.9)
    graphs = MultitaskLearner(small, **ONE_GROUP, **CLIMB).fit(tasks).configuration_
    expected = true(graphs)
    assert expected.to_numpy().any()
    table = direct(tasks, MultitaskLearner(prior, **ONE_GROUP, **CLIMB))
    assert table.equals(expected)
    assert table.attrs["n_arcs"] == sum(graph.number_of_edges() for graph in graphs.values())
    assert direct(tasks, MultitaskLearnerCV(prior, **ONE_GROUP, **CLIMB)).equals(expected)
    other = direct(tasks, LEARNER, penalty=0.999)
    assert other.to_numpy().sum() < expected.to_numpy().sum()


@pytest.mark.parametrize("make", [related, partial], ids=["equal", "partial"])
def test_pairs_count_as_much_as_they_are_shared(make):
    """A pair that is never shared counts nothing, one that is shared half as much counts half."""
    tasks = make()
    pairs = {("x2", "x3"): 0.0, ("x3", "x4"): 0.45, ("x5", "x2"): 0.0, ("x1", "x6"): 0.0}
    listed = {frozenset(pair): penalty for pair, penalty in pairs.items()}
    prior = PairedPrior(0.5, variable_penalty=pairs)
    small = PairedPrior(0.9, variable_penalty=pairs)
    graphs = MultitaskLearner(small, **ONE_GROUP, **CLIMB).fit(tasks).configuration_
    table = direct(tasks, MultitaskLearner(prior, **ONE_GROUP, **CLIMB))
    shares = direct(tasks, MultitaskLearner(prior, **ONE_GROUP, **CLIMB), normalize=True)
    for s, t in itertools.combinations(tasks, 2):
        edits, total = naive.weighted_edits(
            graphs[s], graphs[t], lambda a, b: listed.get(frozenset((a, b)), 0.9) / 0.9
        )
        assert shares.loc[s, t] == pytest.approx(edits / total)
        assert table.loc[s, t] == pytest.approx(edits / total if make is partial else edits)
    assert not table.equals(true(graphs))


def test_constant_columns_do_not_count():
    tasks = related()
    tasks["task1"]["x4"] = pd.Categorical.from_codes([0] * 150, tasks["task2"]["x4"].cat.categories)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        graphs = MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **CLIMB).fit(tasks).configuration_
        table = direct(tasks, LEARNER)
    for t in ("task2", "task3", "task4"):
        kept = ["x1", "x2", "x3", "x5", "x6"]
        subgraphs = {name: nx.DiGraph(graph.subgraph(kept)) for name, graph in graphs.items()}
        assert table.loc["task1", t] == edit_distance(subgraphs["task1"], subgraphs[t]) / 10
    assert table.loc["task2", "task3"] == edit_distance(graphs["task2"], graphs["task3"]) / 15


@pytest.mark.parametrize("make", [related, partial], ids=["equal", "partial"])
def test_indirect_is_what_other_structures_lose_fold_by_fold(make):
    """Each entry again with `BayesNet.fit`: rows are structures, columns are data."""
    tasks, n_folds = make(), 2
    encoded = encode(tasks)
    alone = SingleTaskLearner(**CLIMB).fit(tasks).configuration_
    expected = pd.DataFrame(0.0, index=list(tasks), columns=list(tasks))
    for held_out in held_out_rows(encoded, None, n_folds, 0, purpose="relatedness"):
        for t, task in encoded.items():
            test = task.take(held_out[t])
            train = task.take(np.setdiff1d(np.arange(task.n_rows), held_out[t]))
            scores = {}
            for s, graph in alone.items():
                cut = nx.DiGraph()
                cut.add_nodes_from(task.variables)
                cut.add_edges_from(arc for arc in graph.edges if set(arc) <= set(task.variables))
                scores[s] = BayesNet.fit(cut, train).log_likelihood(test.frame()).mean()
            for s in alone:
                expected.loc[s, t] += (scores[t] - scores[s]) / n_folds
    table = indirect(tasks, LEARNER, cv=n_folds)
    assert table.attrs["n_arcs"] == sum(graph.number_of_edges() for graph in alone.values())
    assert np.allclose(table, expected, rtol=0, atol=1e-12)
    assert (np.diag(table) == 0).all()
    assert not np.allclose(table, table.T)
    assert indirect(tasks, SingleTaskLearner(**CLIMB), cv=n_folds).equals(table)
    assert not indirect(tasks, LEARNER, cv=3).equals(table)


def same_and_other():
    """Two tasks with the same tables and arcs, and one in which the child's states are swapped."""
    rng, frames = np.random.default_rng(0), {}
    for name in ("one", "same", "other"):
        x = rng.integers(0, 2, 400)
        y = np.where(rng.random(400) < 0.9, x, 1 - x)
        frames[name] = pd.DataFrame({"x": x, "y": 1 - y if name == "other" else y}).astype(str)
    return frames


def test_shared_is_how_probably_tables_are_the_same():
    tasks = encode(same_and_other())
    table = shared(tasks, LEARNER)
    assert (np.diag(table) == 1).all()
    assert table.equals(table.T)
    assert table.attrs["n_arcs"] == 3
    learner = clone(LEARNER).fit(tasks)
    expected = fit_tables(learner.configuration_, tasks).in_common.to_numpy()
    assert table.to_numpy().tolist() == expected.tolist()
    assert table.loc["one", "same"] > 2 * table.loc["one", "other"]


def test_two_rows_do_not_tell_whether_tables_are_shared():
    few = {name: frame.head(2) for name, frame in related().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        table = shared(few, LEARNER).to_numpy()
    others = table[~np.eye(len(few), dtype=bool)]
    assert others.min() > 0.3 and others.max() < 0.75


def test_one_penalty_of_many_is_that_of_direct():
    choosing = MultitaskLearnerCV(**ONE_GROUP, **CLIMB)
    expected = shared(two_related(), MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **CLIMB))
    assert shared(two_related(), choosing).equals(expected)


def test_tables_are_labeled_by_task():
    for table in (*map(measured, MEASURES), true({})):
        assert table.index.name == table.columns.name == "task"
        assert list(table.index) == list(table.columns)
    turned = dict(reversed(two_related().items()))
    assert list(direct(turned, LEARNER)) == list(two_related())


@pytest.mark.parametrize("name", MEASURES)
def test_order_does_not_matter(name):
    tasks = partial()
    for order in ("columns", "rows", "tasks"):
        tasks = variants(tasks)[order]
    assert MEASURES[name](tasks, LEARNER).equals(measured(name))


@pytest.mark.parametrize("name", MEASURES)
def test_number_of_jobs_does_not_matter(name):
    jobs = clone(LEARNER).set_params(n_jobs=3)
    assert MEASURES[name](partial(), jobs).equals(measured(name))


@every_measure
def test_the_seed_is_used_once(measure):
    """An int repeats; a generator gives what its first number gives, and advances."""
    learner = clone(LEARNER).set_params(random_state=np.random.default_rng(5))
    seed = int(np.random.default_rng(5).integers(2**63))
    seeded = clone(LEARNER).set_params(random_state=seed)
    expected = measure(two_related(), seeded)
    assert measure(two_related(), learner).equals(expected)
    assert measure(two_related(), seeded).equals(expected)
    again = np.random.default_rng(5)
    again.integers(2**63)
    assert learner.random_state.integers(2**63) == again.integers(2**63)


def fingerprint():
    """Tables of all measures, which must be the same with another hash seed.

    They are compared in `test_reproducible.py`.
    """
    found = {name: measured(name) for name in MEASURES}
    # Shares of 1 that no order of summing them leaves as they are.
    pairs = itertools.combinations([f"x{i}" for i in range(1, 7)], 2)
    listed = {pair: 0.1 + 0.0473 * i for i, pair in enumerate(pairs)}
    learner = MultitaskLearner(PairedPrior(variable_penalty=listed), **ONE_GROUP, **CLIMB)
    found["listed"] = direct(related(), learner)
    return {name: table.to_numpy().tolist() for name, table in found.items()}


@every_measure
def test_inputs_stay_as_they_are(measure):
    tasks, learner = two_related(), MultitaskLearner(PairedPrior(0.3), **ONE_GROUP, **CLIMB)
    before = learner.get_params()
    measure(tasks, learner)
    assert all(frame.equals(related()[name]) for name, frame in tasks.items())
    assert learner.get_params() == before
    assert not [name for name in vars(learner) if name.endswith("_")]


class Recorder:
    """Keeps events; a copy would keep its own."""

    def __init__(self):
        self.stages = set()

    def __call__(self, event):
        self.stages.add(event.stage)


@every_measure
def test_progress_is_that_of_the_search(measure):
    recorder = Recorder()
    measure(two_related(), MultitaskLearner(**ONE_GROUP, **CLIMB, progress=recorder))
    assert "single-task" in recorder.stages


class Mine:
    """A coupling without a penalty."""

    def log_coupling(self, states, pair=None, tasks=None):
        return 0.0


@pytest.mark.parametrize(
    ("measure", "error", "words"),
    [
        (
            lambda tasks: direct(tasks, SingleTaskLearner()),
            TypeError,
            "`learner` must be a MultitaskLearner or a MultitaskLearnerCV, got SingleTaskLearner",
        ),
        (lambda tasks: direct(tasks, None), TypeError, "`learner` must be .* got None"),
        (
            lambda tasks: direct(tasks, MultitaskLearner(Mine())),
            TypeError,
            "`prior` of the learner must be a PairedPrior or an EditPrior",
        ),
        (
            lambda tasks: direct(tasks, LEARNER, 1),
            ValueError,
            "`penalty` must be a number above 0 and",
        ),
        (
            lambda tasks: direct(tasks, LEARNER, 0.0),
            ValueError,
            "`penalty` must be a number above 0 and",
        ),
        (
            lambda tasks: direct(tasks, LEARNER, "0.9"),
            TypeError,
            "`penalty` must be a number above 0 and",
        ),
        (
            lambda tasks: direct(tasks, LEARNER, normalize="no"),
            TypeError,
            "`normalize` must be True, False or None, got 'no'",
        ),
        (lambda tasks: direct(tasks, LEARNER, normalize=0), TypeError, "`normalize` must be .* 0"),
        (lambda _: true({}, normalize=1), TypeError, "`normalize` must be True, False or None"),
        (lambda _: true({}, normalize=[]), TypeError, "`normalize` must be True, False or None"),
        (
            lambda tasks: direct(tasks["task1"], LEARNER),
            ValueError,
            "`tasks` must hold at least two tasks; it holds one",
        ),
        (
            lambda tasks: direct(tasks, MultitaskLearner(search="magic", **ONE_GROUP)),
            ValueError,
            "`search` must be 'orders', 'hill-climbing' or",
        ),
        (
            lambda tasks: direct(tasks, MultitaskLearner(required=[("x1", "far")])),
            ValueError,
            "`required` holds the arc x1 -> far",
        ),
        (lambda tasks: indirect(tasks, 5), TypeError, "`learner` must be a learner, got int"),
        (lambda tasks: indirect(tasks, LEARNER, cv=1), ValueError, "`cv` must be a whole number"),
        (lambda tasks: indirect(tasks, LEARNER, cv=2.0), ValueError, "`cv` must be a whole numb"),
        (
            lambda tasks: indirect(tasks, LEARNER, cv=151),
            ValueError,
            "Task `task1`: `cv` must not be more than the 150 rows of the task, got 151",
        ),
        (
            lambda tasks: indirect([tasks["task1"]], LEARNER),
            ValueError,
            "`tasks` must hold at least two tasks",
        ),
        (
            lambda tasks: indirect(tasks, MultitaskLearner(parameter_sample_size=0)),
            ValueError,
            "`parameter_sample_size` must be above 0",
        ),
        (lambda tasks: shared(tasks, 5), TypeError, "`learner` must be a learner, got int"),
        (
            lambda tasks: shared([tasks["task1"]], LEARNER),
            ValueError,
            "`tasks` must hold at least two tasks",
        ),
        (
            lambda tasks: shared([tasks["task1"], tasks["task1"].add_prefix("y")], LEARNER),
            ValueError,
            "Tasks `task1` and `task2` have no probability table to compare; no variable is",
        ),
        (lambda _: true([nx.DiGraph()]), TypeError, "`configuration` must be a mapping from tasks"),
        (
            lambda _: true({"a": nx.Graph()}),
            TypeError,
            "Task `a`: `configuration` must be a netw",
        ),
        (
            lambda _: true({"a": nx.DiGraph([("x", "y"), ("y", "x")])}),
            ValueError,
            "Task `a`: `configuration` must be acyclic",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_compared_is_refused(measure, error, words):
    with pytest.raises(error, match=words):
        measure(related())


def test_numpy_bools_are_bools():
    graphs = {"a": nx.DiGraph([("x", "y")]), "b": nx.DiGraph([("y", "x")])}
    graphs["b"].add_edge("x", "z")
    for normalize in (True, False):
        assert true(graphs, np.bool_(normalize)).equals(true(graphs, normalize))


def test_what_is_measured_can_be_shared_by():
    configuration = {"a": nx.DiGraph([("x", "y")]), "b": nx.DiGraph([("y", "x")])}
    tables = [measured("direct"), measured("indirect"), as_distances(measured("shared"))]
    for table in [*tables, true(configuration)]:
        assert read_distances(table, "table").equals(table)


@pytest.mark.parametrize("measure", MEASURES)
def test_groups_of_the_learner_change_no_measure(measure):
    tasks = related()
    learner = MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **CLIMB)
    grouped = MultitaskLearner(
        PairedPrior(0.9), table_sharing=None, task_groups=dict.fromkeys(tasks, 1), **CLIMB
    )
    grouped.task_groups["task1"] = 2
    assert MEASURES[measure](tasks, grouped).equals(MEASURES[measure](tasks, learner))
