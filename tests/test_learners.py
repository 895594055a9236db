"""Learners: the laws that tie them together, their attributes, and what they refuse."""

import pickle
import re
import time
import warnings
from functools import cache

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import quick_search
from sklearn.base import clone
from small import ONE_GROUP

from bnmtl import (
    AIC,
    BIC,
    K2,
    ArcPrior,
    BDeu,
    BDs,
    EditPrior,
    HillClimbing,
    IdenticalLearner,
    LogLikelihood,
    MultitaskLearner,
    MultitaskLearnerCV,
    Orders,
    PairedPrior,
    PooledLearner,
    ReferencePrior,
    SingleTaskLearner,
    structures,
)
from bnmtl.errors import InputError, InputTypeError
from bnmtl.search import Limits
from bnmtl.tasks import encode


def without_address(value):
    """Name of a case; tests that run in parallel must be called the same in all processes."""
    return re.sub(" at 0x[0-9a-f]+", "", str(value))


QUICK = quick_search()
CLIMBS = {**QUICK, "search": HillClimbing(restarts=3)}
LEARNERS = [
    SingleTaskLearner(**QUICK),
    IdenticalLearner(**ONE_GROUP, **QUICK),
    PooledLearner(**QUICK),
    MultitaskLearner(PairedPrior(0.99), **ONE_GROUP, **QUICK),
    MultitaskLearner(EditPrior(0.9), **ONE_GROUP, **QUICK),
    MultitaskLearnerCV(penalties=[0, 0.9, 1], cv=3, **ONE_GROUP, **QUICK),
    SingleTaskLearner(**CLIMBS),
    MultitaskLearner(PairedPrior(0.99), table_sharing=None, **CLIMBS),
    MultitaskLearner(PairedPrior(0.99), **ONE_GROUP, **QUICK | {"search": "exact"}),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: repr(one)[:45])


@pytest.fixture(scope="module")
def asia_tasks():
    """Three samples of ASIA without its rare variable."""
    asia = structures.load("asia")
    names = {"north": 0, "east": 1, "south": 2}
    return {
        name: asia.sample(400, random_state=seed).drop(columns="asia")
        for name, seed in names.items()
    }


@pytest.fixture(scope="module")
def partial_tasks(asia_tasks):
    """The same, each task lacking a variable, one of them with a constant column."""
    return {
        "north": asia_tasks["north"].drop(columns="xray"),
        "east": asia_tasks["east"].drop(columns="smoke"),
        "south": asia_tasks["south"].assign(tub="no"),
    }


@pytest.fixture(scope="module")
def fit_to_asia(asia_tasks):
    """A function that fits one of the learners to the three samples, once; it is not changed."""
    return cache(lambda learner: clone(learner).fit(asia_tasks))


@pytest.fixture(scope="module")
def pair_fit(asia_tasks):
    """The graphs of all three samples under a coupling, and their score."""
    return MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **QUICK).fit(asia_tasks)


def arcs(learner):
    return {task: sorted(graph.edges) for task, graph in learner.configuration_.items()}


def quietly(learner, tasks):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return clone(learner).fit(tasks)


@every_learner
def test_fit_leaves_the_promised_attributes(learner, asia_tasks, fit_to_asia):
    learner = fit_to_asia(learner)
    names = sorted(asia_tasks)
    assert list(learner.configuration_) == names == list(learner.task_scores_.index)
    assert list(learner.networks_) == names
    for name in names:
        graph = learner.configuration_[name]
        assert nx.is_directed_acyclic_graph(graph)
        assert list(graph) == sorted(asia_tasks[name])
        assert set(learner.networks_[name].graph.edges) == set(graph.edges)
        assert learner.networks_[name].log_likelihood(asia_tasks[name]).mean() > -4
    assert isinstance(learner.score_, float)
    assert learner.tasks_.names == tuple(names)


@every_learner
def test_arcs_tell_strength_and_sharing(learner, fit_to_asia):
    learner = fit_to_asia(learner)
    table = learner.arcs_
    frame = learner.configuration_.to_frame()
    assert len(table) == int(frame.sum().sum())
    for row in table.itertuples():
        parent, child, task = row[1], row[2], row.task
        graph = learner.configuration_[task]
        parents = set(graph.predecessors(child))
        with_arc = local_score(learner, task, child, frozenset(parents))
        without = local_score(learner, task, child, frozenset(parents - {parent}))
        assert row.strength == pytest.approx(with_arc - without, abs=1e-9)
        assert row.n_tasks == frame.loc[(parent, child)].sum()
        assert row.n_tasks_possible == 3


@cache
def local_score(learner, task, child, parents):
    """Score of a family in the rows that a learner was fitted to."""
    return BDeu().local_score(child, parents, learner.tasks_[task].frame())


def test_score_is_the_log_posterior_of_the_configuration(partial_tasks):
    prior = PairedPrior(0.9)
    learner = quietly(MultitaskLearner(prior, **ONE_GROUP, **QUICK), partial_tasks)
    data_score = sum(
        BDeu().score(graph, learner.tasks_[task].frame())
        for task, graph in learner.configuration_.items()
    )
    assert learner.task_scores_.sum() == pytest.approx(data_score, rel=1e-12)
    assert learner.score_ == pytest.approx(
        data_score + prior.log_prior(learner.configuration_), rel=1e-12
    )
    assert learner.score_ == max(learner.start_scores_.values())


@pytest.mark.parametrize("prior", [PairedPrior(0), EditPrior(0)])
def test_penalty_zero_is_single_task_learning(prior, partial_tasks):
    single = quietly(SingleTaskLearner(**QUICK), partial_tasks)
    joint = quietly(MultitaskLearner(prior, **ONE_GROUP, **QUICK), partial_tasks)
    assert arcs(joint) == arcs(single)
    assert joint.score_ == single.score_
    assert joint.networks_ == single.networks_


@pytest.mark.parametrize("start", [None, "identical"])
def test_independent_tasks_are_searched_once(start, asia_tasks):
    """Only the single-task start is used at penalty 0, so no other is searched."""
    events = []
    learner = MultitaskLearner(
        PairedPrior(0), start=start, progress=events.append, **ONE_GROUP, **QUICK
    )
    learner.fit(asia_tasks)
    stages = {event.stage for event in events if event.done > 0}
    assert stages == {"single-task"}
    assert learner.start_ == "single-task"


@every_learner
def test_one_task_is_single_task_learning(learner, asia_tasks):
    one = {"north": asia_tasks["north"]}
    learner = clone(learner)
    if isinstance(learner, (IdenticalLearner, PooledLearner, MultitaskLearnerCV)):
        # They restart from seeds of their own; without restarts they walk the same way.
        learner.set_params(search=HillClimbing(restarts=0))
    single = SingleTaskLearner(**QUICK | {"search": learner.search}).fit(one)
    assert arcs(learner.fit(one)) == arcs(single)
    assert any(arcs(single).values())


def test_a_task_does_not_depend_on_the_others_when_learned_alone(asia_tasks, fit_to_asia):
    alone = SingleTaskLearner(**QUICK).fit({"east": asia_tasks["east"]})
    assert arcs(alone)["east"] == arcs(fit_to_asia(LEARNERS[0]))["east"]


@pytest.mark.parametrize("prior", [PairedPrior(1), PairedPrior(1, reversal=1), EditPrior(1)])
def test_penalty_one_forces_identical_structures(prior, asia_tasks, fit_to_asia):
    """The same variables everywhere: the same objective as one graph for all, at least as good."""
    identical = fit_to_asia(LEARNERS[1])
    joint = MultitaskLearner(prior, **ONE_GROUP, **QUICK).fit(asia_tasks)
    graphs = list(joint.configuration_.values())
    assert all(set(graph.edges) == set(graphs[0].edges) for graph in graphs)
    assert joint.score_ >= identical.score_ - 1e-9
    assert joint.score_ == pytest.approx(joint.task_scores_.sum(), rel=1e-12)


def test_penalty_one_agrees_wherever_tasks_share_a_pair(partial_tasks):
    joint = quietly(MultitaskLearner(PairedPrior(1), **ONE_GROUP, **QUICK), partial_tasks)
    identical = quietly(IdenticalLearner(**ONE_GROUP, **QUICK), partial_tasks)
    assert joint.score_ >= identical.score_ - 1e-9
    assert PairedPrior(1).log_prior(joint.configuration_) == 0


@pytest.mark.parametrize(
    "score, stacked", [(K2(), K2()), (AIC(), AIC()), (BDeu(2.0), BDeu(6.0))], ids=repr
)
def test_identical_equals_the_stacked_data_with_the_task_as_everyones_parent(
    score, stacked, asia_tasks
):
    """K2, AIC and LL as they are, BDeu with k times the equivalent sample size (not BIC, BDs)."""
    learner = IdenticalLearner(**ONE_GROUP, **QUICK | {"score": score}).fit(asia_tasks)
    rows = pd.concat([frame.assign(TASK=name) for name, frame in asia_tasks.items()])
    graph = nx.DiGraph(learner.graph_)
    graph.add_edges_from([("TASK", variable) for variable in learner.graph_])
    score_of_task = stacked.local_score("TASK", [], rows)
    assert learner.score_ == pytest.approx(stacked.score(graph, rows) - score_of_task, rel=1e-9)
    loglik = LogLikelihood()
    separate = sum(loglik.score(learner.graph_, frame) for frame in asia_tasks.values())
    score_of_task = loglik.local_score("TASK", [], rows)
    assert separate == pytest.approx(loglik.score(graph, rows) - score_of_task, rel=1e-9)


def test_identical_covers_the_union_of_the_variables(partial_tasks):
    learner = quietly(IdenticalLearner(**ONE_GROUP, **QUICK), partial_tasks)
    assert sorted(learner.graph_) == sorted(set().union(*partial_tasks.values()))
    for task, graph in learner.configuration_.items():
        usable = set(graph) - set(learner.tasks_[task].constant)
        assert set(graph.edges) == set(learner.graph_.subgraph(usable).edges)
    expected = sum(
        BDeu().score(graph, learner.tasks_[task].frame())
        for task, graph in learner.configuration_.items()
    )
    assert learner.score_ == pytest.approx(expected, rel=1e-12)


def test_pooled_learns_from_all_rows_at_once(asia_tasks):
    learner = PooledLearner(**QUICK).fit(asia_tasks)
    rows = pd.concat(asia_tasks.values())
    graph = learner.configuration_["north"]
    assert learner.borrowed_.empty
    assert learner.score_ == pytest.approx(BDeu().score(graph, rows), rel=1e-12)
    assert learner.networks_["north"].log_likelihood(rows).sum() == pytest.approx(
        learner.networks_["south"].log_likelihood(rows).sum()
    )


def test_a_constant_column_stays_a_node_without_arcs(partial_tasks):
    with pytest.warns(UserWarning, match="Task `south` has columns in which only one state"):
        learner = MultitaskLearner(PairedPrior(0.99), **ONE_GROUP, **QUICK).fit(partial_tasks)
    graph = learner.configuration_["south"]
    assert "tub" in graph
    assert graph.degree("tub") == 0
    assert learner.networks_["south"].table("tub").shape == (2,)


@every_learner
def test_required_and_forbidden_arcs_and_tiers_hold_everywhere(learner, asia_tasks):
    constraints = {
        "required": [("xray", "smoke")],
        "forbidden": [("lung", "either"), ("either", "lung")],
        "tiers": [["xray"], ["smoke", "dysp"]],
    }
    learned = clone(learner).set_params(**constraints).fit(asia_tasks)
    for graph in learned.configuration_.values():
        assert graph.has_edge("xray", "smoke")
        assert not graph.has_edge("lung", "either")
        assert not graph.has_edge("either", "lung")
        assert not graph.has_edge("dysp", "xray")


@pytest.mark.parametrize("name", ["required", "forbidden"])
def test_arcs_of_a_graph_are_constraints(name, asia_tasks):
    graph = nx.DiGraph([("xray", "smoke"), ("dysp", "bronc")])
    search = HillClimbing(restarts=0)
    for constraints in (graph.edges, {"north": graph.edges}):
        listed = (
            {"north": list(graph.edges)} if constraints is not graph.edges else list(graph.edges)
        )
        learned, expected = (
            MultitaskLearner(PairedPrior(0.5), search=search, **ONE_GROUP, **{name: given}).fit(
                asia_tasks
            )
            for given in (constraints, listed)
        )
        for task, reference in expected.configuration_.items():
            assert set(learned.configuration_[task].edges) == set(reference.edges)
    pooled = PooledLearner(**{name: graph.edges}, **QUICK).fit(asia_tasks)
    for found in (learned.configuration_["north"], pooled.configuration_["north"]):
        assert all(found.has_edge(*arc) == (name == "required") for arc in graph.edges)


def test_constraints_by_task(asia_tasks):
    learner = MultitaskLearner(
        PairedPrior(0.5),
        required={"north": [("xray", "smoke")]},
        forbidden={"south": [("smoke", "bronc"), ("bronc", "smoke")]},
        tiers={"east": [["dysp"], ["bronc"]]},
        **ONE_GROUP,
        **QUICK,
    ).fit(asia_tasks)
    assert learner.configuration_["north"].has_edge("xray", "smoke")
    assert not learner.configuration_["south"].has_edge("smoke", "bronc")
    assert not learner.configuration_["south"].has_edge("bronc", "smoke")
    assert not learner.configuration_["east"].has_edge("bronc", "dysp")


def test_required_arcs_for_all_hold_where_both_variables_vary(partial_tasks):
    constraints = {"required": [("smoke", "xray"), ("tub", "bronc")]}
    learner = quietly(SingleTaskLearner(**constraints, **QUICK), partial_tasks)
    assert learner.configuration_["south"].has_edge("smoke", "xray")
    assert learner.configuration_["north"].has_edge("tub", "bronc")
    assert not learner.configuration_["south"].has_edge("tub", "bronc")


@every_learner
def test_max_parents_is_a_limit(learner, asia_tasks):
    learned = clone(learner).set_params(max_parents=1, score=AIC()).fit(asia_tasks)
    for graph in learned.configuration_.values():
        assert max(degree for _, degree in graph.in_degree()) == 1


@pytest.mark.parametrize("score", [BDeu(5.0), BDs(), K2(), BIC(), AIC()], ids=repr)
def test_every_score_can_be_searched(score, asia_tasks):
    learner = MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **QUICK | {"score": score}).fit(
        asia_tasks
    )
    expected = sum(score.score(g, asia_tasks[t]) for t, g in learner.configuration_.items())
    assert learner.task_scores_.sum() == pytest.approx(expected, rel=1e-12)


def test_structure_priors_move_the_result(asia_tasks, pair_fit, fit_to_asia):
    plain = pair_fit
    sparse = MultitaskLearner(
        PairedPrior(0.9),
        **ONE_GROUP,
        **QUICK | {"structure_prior": ArcPrior(probability=1e-9)},
    ).fit(asia_tasks)
    count = {one: sum(len(of_task) for of_task in arcs(one).values()) for one in (plain, sparse)}
    assert count[sparse] < count[plain]
    wanted = nx.DiGraph([("xray", "smoke")])
    drawn = SingleTaskLearner(
        **QUICK | {"structure_prior": {"east": ReferencePrior(wanted, factor=1e-200)}}
    ).fit(asia_tasks)
    assert arcs(drawn)["east"] == [("xray", "smoke")]
    assert arcs(drawn)["north"] == arcs(fit_to_asia(LEARNERS[0]))["north"]


def test_structure_prior_enters_the_score(asia_tasks):
    structure_prior = ArcPrior(expected_arcs=3)
    prior = PairedPrior(0.5)
    learner = MultitaskLearner(
        prior, **ONE_GROUP, **QUICK | {"structure_prior": structure_prior}
    ).fit(asia_tasks)
    weight = 1 / (1 + 2 * 0.5)
    total = prior.log_prior(learner.configuration_)
    for task, graph in learner.configuration_.items():
        names = sorted(graph)
        present, absent = structure_prior.arc_terms(names)
        matrix = nx.to_numpy_array(graph, nodelist=names).astype(bool)
        total += BDeu().score(graph, asia_tasks[task])
        total += weight * np.where(matrix, present, absent).sum()
    assert learner.score_ == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("start", ["single-task", "identical", "empty"])
def test_named_starts(start, asia_tasks, pair_fit):
    learner = MultitaskLearner(PairedPrior(0.9), start=start, **ONE_GROUP, **QUICK).fit(asia_tasks)
    assert learner.start_ == start
    assert pair_fit.start_scores_[start] == learner.score_
    assert pair_fit.score_ >= learner.score_


def test_given_starts(asia_tasks, pair_fit):
    """From its own result the search does not move."""
    learner = pair_fit
    again = MultitaskLearner(PairedPrior(0.9), start=learner.configuration_, **ONE_GROUP, **QUICK)
    again.fit(asia_tasks)
    assert arcs(again) == arcs(learner)
    assert again.start_ == "given"


@pytest.mark.slow_without_jit
@pytest.mark.parametrize(
    "kind",
    [
        SingleTaskLearner,
        pytest.param(IdenticalLearner, marks=pytest.mark.slow_without_jit),
        PooledLearner,
        pytest.param(MultitaskLearner, marks=pytest.mark.slow_without_jit),
    ],
)
def test_a_graph_to_start_from_is_where_the_search_starts(kind):
    """Climbing from ALARM's own graph ends far above climbing from nothing."""
    alarm = structures.load("alarm")
    tasks = [alarm.sample(500, random_state=seed) for seed in range(2)]
    effort = {"search": HillClimbing(restarts=0, tabu=0), "random_state": 0}
    constant = {v for frame in tasks for v in frame if frame[v].nunique() == 1}
    graph = alarm.graph.subgraph(set(alarm.graph) - constant)
    from_truth = quietly(kind(start=graph, **effort), tasks)
    from_nothing = quietly(kind(**effort), tasks)
    assert from_truth.score_ > from_nothing.score_ + 10


class Flat:
    """A coupling of one's own that is the Edit prior at one penalty."""

    def log_coupling(self, states, pair=None, tasks=None):
        return EditPrior(0.9).log_coupling(states)


def test_a_custom_coupling_works_in_a_learner(asia_tasks, fit_to_asia):
    mine = MultitaskLearner(Flat(), **ONE_GROUP, **QUICK).fit(asia_tasks)
    ours = fit_to_asia(LEARNERS[4])
    assert mine.score_ == pytest.approx(ours.score_, rel=1e-12)


@pytest.mark.beside_kernels
@every_learner
def test_tasks_in_any_form(learner, asia_tasks, fit_to_asia):
    as_tasks = clone(learner).fit(encode(asia_tasks))
    assert arcs(fit_to_asia(learner)) == arcs(as_tasks)
    learner = clone(learner).set_params(search=HillClimbing(restarts=0))
    few = [frame[["bronc", "dysp", "smoke"]] for frame in asia_tasks.values()]
    assert list(learner.fit(few).configuration_) == ["task1", "task2", "task3"]
    assert list(learner.fit(few[0]).configuration_) == ["task1"]


def test_missing_values_follow_the_parameter(asia_tasks):
    gappy = {name: frame.astype(object) for name, frame in asia_tasks.items()}
    gappy["east"].iloc[:5, 0] = None
    with pytest.raises(ValueError, match="Task `east`"):
        SingleTaskLearner(**QUICK).fit(gappy)
    with pytest.warns(UserWarning, match="5"):
        learner = SingleTaskLearner(missing="drop", **QUICK).fit(gappy)
    assert learner.tasks_["east"].n_rows == 395
    learner = quietly(SingleTaskLearner(missing="state", **QUICK), gappy)
    assert "missing" in learner.networks_["east"].states["bronc"]


def test_parameters_have_a_separate_sample_size(asia_tasks):
    graph = None
    tables = []
    for size in (1.0, 100.0):
        learner = SingleTaskLearner(parameter_sample_size=size, **QUICK).fit(asia_tasks)
        graph = graph or learner.configuration_["north"]
        assert set(graph.edges) == set(learner.configuration_["north"].edges)
        tables.append(learner.networks_["north"].table("tub"))
    assert tables[1].max() < tables[0].max()


def test_inputs_are_left_as_they_were(asia_tasks):
    before = {name: frame.copy(deep=True) for name, frame in asia_tasks.items()}
    MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **QUICK).fit(asia_tasks)
    for name, frame in asia_tasks.items():
        pd.testing.assert_frame_equal(frame, before[name])


@every_learner
def test_learners_follow_scikit_learns_conventions(learner):
    copy = clone(learner)
    assert copy.get_params(deep=False).keys() == learner.get_params(deep=False).keys()
    assert not [name for name in vars(copy) if name.endswith("_")]
    copy.set_params(max_parents=7)
    assert copy.max_parents == 7 and learner.max_parents is None


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        (
            {"search": HillClimbing(restarts=-1)},
            ValueError,
            "`restarts` must be a whole number of at least 0",
        ),
        ({"search": HillClimbing(restarts=2.5)}, ValueError, "`restarts` must be a whole number"),
        (
            {"search": Orders(perturb=0)},
            ValueError,
            "`perturb` must be a whole number of at least 1",
        ),
        (
            {"search": HillClimbing(tabu=-1)},
            ValueError,
            "`tabu` must be a whole number of at least 0",
        ),
        ({"max_parents": 0}, ValueError, "`max_parents` must be None or"),
        ({"search": "magic"}, ValueError, "`search` must be"),
        ({"score": "bdeu"}, TypeError, "`score` must be one of the scores"),
        ({"score": LogLikelihood()}, ValueError, "needs `max_parents`"),
        ({"score": BDeu(-1)}, ValueError, "`equivalent_sample_size`"),
        ({"structure_prior": 3}, TypeError, "`structure_prior` must be"),
        ({"structure_prior": ArcPrior}, TypeError, "`structure_prior` must be"),
        ({"structure_prior": ArcPrior()}, ValueError, "exactly one"),
        ({"required": [("a",)]}, TypeError, r"`required` must hold \(parent, child\) pairs"),
        ({"required": ["ab"]}, TypeError, "pairs, got 'ab'"),
        (
            {"required": zip("ab", "ba", strict=True)},
            TypeError,
            "`required` must be given as a list, .* got zip",
        ),
        (
            {"forbidden": {"1": iter(())}},
            TypeError,
            "`forbidden` must be .* got tuple_iterator",
        ),
        ({"tiers": iter([["smoke"]])}, TypeError, "`tiers` must be given .* got list_iterator"),
        ({"tiers": [iter(["smoke"])]}, TypeError, "`tiers` must be a list of lists"),
        ({"required": "ab"}, TypeError, "`required` must be a list of"),
        ({"forbidden": pd.DataFrame({"from": ["a"]})}, TypeError, "`forbidden` must be a list"),
        ({"max_parents": True}, TypeError, "`max_parents` must be None or"),
        ({"n_jobs": 0}, ValueError, "`n_jobs` must not be 0; -1 is all cores"),
        ({"n_jobs": "x"}, TypeError, "`n_jobs` must be None or"),
        ({"tiers": 5}, TypeError, "`tiers` must be a list of lists"),
        (
            {"start": nx.DiGraph([("smoke", "lugn")])},
            ValueError,
            "`start` names the unknown variable `lugn`",
        ),
        (
            {"structure_prior": ArcPrior(probability={("smoke", "lugn"): 0.1})},
            ValueError,
            "`structure_prior` names the unknown variable `lugn`",
        ),
        (
            {"structure_prior": ReferencePrior(nx.DiGraph([("smoke", "lugn")]))},
            ValueError,
            "`structure_prior` names the unknown variable `lugn`",
        ),
        ({"required": [("smoke", "smoke")]}, ValueError, "to itself"),
        ({"required": [("smoke", "lugn")]}, ValueError, "smoke -> lugn, but no task has both"),
        ({"required": {"nroth": []}}, ValueError, "names the unknown task `nroth`"),
        (
            {"required": {"north": [("smoke", "lugn")]}},
            ValueError,
            "`north`: `required` names the unknown variable `lugn`",
        ),
        ({"required": [("smoke", "xray"), ("xray", "smoke")]}, ValueError, "both"),
        (
            {"required": [("smoke", "xray"), ("xray", "lung"), ("lung", "smoke")]},
            ValueError,
            "acyclic",
        ),
        (
            {"required": [("smoke", "xray")], "forbidden": [("smoke", "xray")]},
            ValueError,
            "is forbidden",
        ),
        (
            {"required": [("smoke", "xray"), ("lung", "xray")], "max_parents": 1},
            ValueError,
            "more parents than",
        ),
        ({"tiers": ["smoke"]}, TypeError, "`tiers` must be a list of lists"),
        ({"tiers": [["smoke"], ["smoke"]]}, ValueError, "`smoke` twice"),
        ({"tiers": [["smokes"]]}, ValueError, "unknown variable `smokes`"),
        ({"start": nx.DiGraph([("smoke", "xray"), ("xray", "smoke")])}, ValueError, "acyclic"),
        ({"start": {"north": nx.DiGraph()}}, ValueError, "Task `east`: `start` gives no graph"),
        (
            {"start": nx.DiGraph([("smoke", "xray")]), "forbidden": [("smoke", "xray")]},
            ValueError,
            "no forbidden one",
        ),
        ({"missing": "guess"}, ValueError, "`missing`"),
        ({"parameter_sample_size": -1}, ValueError, "`parameter_sample_size`"),
        ({"random_state": "0"}, TypeError, "`random_state` must be None, an int"),
        ({"random_state": -1}, ValueError, "`random_state` must be a whole number of at least 0"),
        ({"progress": 3}, TypeError, "`progress` must be True, False or a callable"),
    ],
    ids=without_address,
)
def test_parameters_out_of_range_are_refused_in_one_sentence(parameters, error, words, asia_tasks):
    for learner in (
        SingleTaskLearner(search="hill-climbing"),
        MultitaskLearner(search="hill-climbing", **ONE_GROUP),
    ):
        with pytest.raises(error, match=words) as caught:
            learner.set_params(**parameters).fit(asia_tasks)
        assert "\n" not in str(caught.value)


def test_a_prior_that_is_none_is_refused(asia_tasks):
    with pytest.raises(TypeError, match="`prior` must be a PairedPrior"):
        MultitaskLearner("paired").fit(asia_tasks)
    with pytest.raises(TypeError, match="`prior` must be a PairedPrior"):
        MultitaskLearner(PairedPrior).fit(asia_tasks)
    with pytest.raises(ValueError, match="`penalty` must be a number from 0 to 1, got 2"):
        MultitaskLearner(PairedPrior(2)).fit(asia_tasks)
    with pytest.raises(ValueError, match="`variable_penalty` names the unknown variable `lugn`"):
        MultitaskLearner(PairedPrior(variable_penalty={("smoke", "lugn"): 1})).fit(asia_tasks)
    with pytest.raises(ValueError, match="`task_penalty` names the unknown task `nroth`"):
        MultitaskLearner(PairedPrior(task_penalty={("nroth", "east"): 1})).fit(asia_tasks)
    with pytest.raises(ValueError, match="`start` must be 'single-task', .* or None, got 'middle'"):
        MultitaskLearner(start="middle").fit(asia_tasks)
    with pytest.raises(TypeError, match="`start` must be a string"):
        MultitaskLearner(start=3).fit(asia_tasks)


def test_a_fit_that_fails_leaves_nothing_learned(asia_tasks):
    learner = MultitaskLearner(PairedPrior(2))
    with pytest.raises(ValueError):
        learner.fit(asia_tasks)
    assert not hasattr(learner, "configuration_")


def test_pooled_refuses_tasks_with_different_variables(partial_tasks):
    with pytest.raises(ValueError, match="must have the same variables as .* to be pooled"):
        quietly(PooledLearner(**QUICK), partial_tasks)
    with pytest.raises(TypeError, match="`required` of PooledLearner"):
        PooledLearner(required={"a": []}).fit([pd.DataFrame({"x": [0, 1]})] * 2)


def test_contradictory_constraints_of_tasks_are_refused_where_they_must_agree(asia_tasks):
    constraints = {
        "required": {"north": [("smoke", "xray")]},
        "forbidden": {"south": [("smoke", "xray")]},
    }
    with pytest.raises(ValueError, match="between smoke and xray"):
        MultitaskLearner(PairedPrior(1), **ONE_GROUP, **constraints, **QUICK).fit(asia_tasks)
    with pytest.raises(ValueError, match="smoke -> xray"):
        IdenticalLearner(**ONE_GROUP, **constraints, **QUICK).fit(asia_tasks)
    with pytest.raises(ValueError, match="smoke -> xray"):
        MultitaskLearner(
            PairedPrior(0.5), start="identical", **ONE_GROUP, **constraints, **QUICK
        ).fit(asia_tasks)


@pytest.mark.parametrize(
    ("required", "more"),
    [
        ({"north": [("smoke", "xray")], "south": [("xray", "smoke")]}, {}),
        (
            {
                "north": [("smoke", "xray")],
                "south": [("xray", "lung")],
                "east": [("lung", "smoke")],
            },
            {},
        ),
        (
            {"north": [("smoke", "xray")], "south": [("lung", "xray")]},
            {"max_parents": 1},
        ),
    ],
    ids=["turned", "cycle", "crowded"],
)
def test_tasks_may_require_what_no_single_graph_has(required, more, asia_tasks):
    """Below penalty 1 each task keeps its own arcs; only the identical start is left out."""
    learner = MultitaskLearner(PairedPrior(0.99), required=required, **ONE_GROUP, **more, **QUICK)
    learner.fit(asia_tasks)
    assert set(learner.start_scores_) == {"single-task", "empty"}
    for task, wanted in required.items():
        assert learner.configuration_[task].has_edge(*wanted[0])
    for graph in learner.configuration_.values():
        assert nx.is_directed_acyclic_graph(graph)
        assert max(d for _, d in graph.in_degree()) <= more.get("max_parents", 10)
    with pytest.raises(ValueError, match="a single graph for all tasks|cycle"):
        IdenticalLearner(required=required, **ONE_GROUP, **more, **QUICK).fit(asia_tasks)
    agreeing = MultitaskLearner(PairedPrior(1.0), required=required, **ONE_GROUP, **more, **QUICK)
    with pytest.raises(ValueError, match="make them agree, or use|between smoke and xray"):
        agreeing.fit(asia_tasks)
    with pytest.raises(ValueError, match="a single graph for all|cycle|between smoke and xray"):
        agreeing.set_params(start="identical").fit(asia_tasks)


def test_names_that_are_not_strings_are_taken_by_their_string():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=[0, 1, 2])
    learner = SingleTaskLearner(required={7: [(2, 0)]}, **QUICK).fit({7: frame})
    assert learner.configuration_["7"].has_edge("2", "0")
    prior = ReferencePrior(nx.DiGraph([(0, 1)]), factor=1e-100)
    learner = SingleTaskLearner(**QUICK | {"structure_prior": prior}).fit({7: frame})
    assert arcs(learner)["7"] == [("0", "1")]


class Spread:
    """A coupling of one's own that cannot answer for no task at all."""

    def log_coupling(self, states, pair=None, tasks=None):
        assert len(states) > 1, "a pair that one task has is not coupled"
        return -float(max(states) - min(states))


def test_a_custom_coupling_is_asked_only_where_tasks_share_a_pair(partial_tasks):
    quietly(
        MultitaskLearner(Spread(), **ONE_GROUP, **QUICK | {"structure_prior": ArcPrior(0.2)}),
        partial_tasks,
    )


@pytest.mark.parametrize("prior", [PairedPrior(1), EditPrior(1), PairedPrior(0.5)])
def test_structure_priors_where_no_task_has_some_pair(prior):
    rng = np.random.default_rng(0)
    tasks = {
        name: pd.DataFrame(rng.integers(0, 2, (50, 2)), columns=list(columns))
        for name, columns in {"x": "ab", "y": "bc"}.items()
    }
    learner = MultitaskLearner(
        prior, **ONE_GROUP, **QUICK | {"structure_prior": ArcPrior(0.2)}
    ).fit(tasks)
    assert np.isfinite(learner.score_)


def test_shares_of_a_common_prior_add_up(partial_tasks):
    learner = quietly(
        IdenticalLearner(**ONE_GROUP, **QUICK | {"structure_prior": ArcPrior(probability=0.1)}),
        partial_tasks,
    )
    assert learner.task_scores_.sum() == pytest.approx(learner.score_, rel=1e-12)


def test_pooling_is_asked_of_the_pooled_rows():
    """`a` is constant in each task but not in the pool, so an arc from it can be required there."""
    frames = {
        "x": pd.DataFrame({"a": 0, "b": [0, 1] * 9}),
        "y": pd.DataFrame({"a": 1, "b": [0, 1] * 9}),
    }
    learner = quietly(PooledLearner(required=[("a", "b")], **QUICK), frames)
    assert arcs(learner) == {"x": [("a", "b")], "y": [("a", "b")]}


def test_constant_variables_are_marked_and_do_not_count_as_possible(partial_tasks):
    learner = quietly(MultitaskLearner(PairedPrior(1), **ONE_GROUP, **QUICK), partial_tasks)
    assert learner.configuration_["south"].nodes["tub"] == {"constant": True}
    table = learner.arcs_.set_index(["from", "to", "task"])
    touching = table[[("tub" in row[:2]) for row in table.index]]
    assert len(touching)
    assert (touching["n_tasks"] == touching["n_tasks_possible"]).all()
    frame = learner.configuration_.to_frame()
    assert frame.loc[[("tub" in arc) for arc in frame.index], "south"].isna().all()


@pytest.mark.parametrize(("effort", "steps"), [(QUICK, QUICK["search"].starts), (CLIMBS, 4)])
def test_progress_reports_real_totals(asia_tasks, effort, steps):
    events = []
    learner = MultitaskLearner(PairedPrior(0.9), progress=events.append, **ONE_GROUP, **effort)
    learner.fit(asia_tasks)
    single = [event for event in events if event.stage == "single-task"]
    assert {event.task for event in single} == set(asia_tasks)
    for task in asia_tasks:
        of_task = [event for event in single if event.task == task]
        assert [event.done for event in of_task] == list(range(steps + 1))
        assert {event.total for event in of_task} == {steps}
        scores = [event.score for event in of_task[1:]]
        assert scores == sorted(scores)
    assert [event.done for event in single[:3]] == [0, 0, 0]
    moves = [event for event in events if event.stage.startswith("multitask")]
    assert moves
    assert all(event.total is None and event.done > 0 for event in moves)


def test_a_progress_bar_can_be_shown(asia_tasks, capsys):
    SingleTaskLearner(progress=True, **QUICK).fit(asia_tasks)


@every_learner
def test_a_limit_on_families_is_reported_and_repeatable(learner, asia_tasks):
    few = {name: asia_tasks[name] for name in ("north", "south")}

    def learned():
        with pytest.warns(UserWarning, match="`max_families` ended a search .* it was 30"):
            return clone(learner).set_params(limits=Limits(max_families=30)).fit(few)

    first = learned()
    assert arcs(first) == arcs(learned())
    assert all(nx.is_directed_acyclic_graph(g) for g in first.configuration_.values())


@every_learner
def test_a_time_limit_ends_with_the_best_so_far(learner, asia_tasks):
    required = [("smoke", "lung")]
    learner = clone(learner).set_params(limits=Limits(time_limit=0), required=required)
    with pytest.warns(UserWarning, match="`time_limit` ended a search early .* was 0"):
        learner.fit(asia_tasks)
    for graph in learner.configuration_.values():
        assert nx.is_directed_acyclic_graph(graph)
        assert graph.has_edge("smoke", "lung")
    assert np.isfinite(learner.score_)
    assert learner.ended_by_ == ("time_limit",)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("learner", [SingleTaskLearner(), MultitaskLearner(PairedPrior(0.9))])
def test_no_task_is_left_without_time(learner):
    """The first task alone could use up all of it."""
    asia = structures.load("asia")
    tasks = [asia.sample(300, random_state=seed) for seed in range(4)]
    learner = clone(learner).set_params(n_jobs=1, random_state=0)
    # Kernels are loaded before the time is limited.
    clone(learner).set_params(search=Orders(starts=1, iterations=0)).fit(tasks)
    learner.set_params(limits=Limits(time_limit=1.0), search=Orders(starts=10_000))
    began = time.monotonic()
    with pytest.warns(UserWarning, match="`time_limit` ended a search .* it was 1.0"):
        learner.fit(tasks)
    assert time.monotonic() - began < 6
    assert all(graph.number_of_edges() >= 4 for graph in learner.configuration_.values())


def test_enough_time_and_families_change_nothing(asia_tasks, pair_fit):
    plain = pair_fit
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited = MultitaskLearner(
            PairedPrior(0.9),
            limits=Limits(max_families=10**9, time_limit=600, cache_size=0),
            **ONE_GROUP,
            **QUICK,
        ).fit(asia_tasks)
    assert arcs(limited) == arcs(plain)
    assert limited.score_ == plain.score_
    assert limited.ended_by_ == plain.ended_by_ == ()
    assert limited.families_["asked"] == plain.families_["asked"]
    assert limited.families_["counted"] >= plain.families_["counted"] > 0


def test_families_that_are_too_large_are_left_out_and_named(asia_tasks):
    with pytest.warns(
        UserWarning, match=r"`max_cells` .* more than 4 cells; .* given `\w+`, `\w+`:"
    ):
        learner = SingleTaskLearner(limits=Limits(max_cells=4), **QUICK).fit(asia_tasks)
    for graph in learner.configuration_.values():
        assert max(degree for _, degree in graph.in_degree) == 1
    assert len(learner.left_out_) == 3 and set(learner.left_out_) <= set(asia_tasks["north"])
    assert SingleTaskLearner(**QUICK).fit(asia_tasks).left_out_ == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"search": "magic"}, "`search` must be 'orders', 'hill-climbing' or 'exact', got 'magic'"),
        (
            {"search": Orders(starts=0)},
            "`starts` must be None or a whole number of at least 1, got 0",
        ),
        (
            {"search": Orders(iterations=-1)},
            "`iterations` must be None or a whole number of at least 0, got -1",
        ),
        (
            {"limits": Limits(max_cells=0)},
            "`max_cells` must be None or a whole number of at least 1, got 0",
        ),
        (
            {"limits": Limits(max_families=1.5)},
            "`max_families` must be None or a whole number .* 1, got 1.5",
        ),
        (
            {"limits": Limits(time_limit=-1)},
            "`time_limit` must be None or a number of at least 0, got -1",
        ),
        (
            {"limits": Limits(cache_size=None)},
            "`cache_size` must be a number of at least 0, got None",
        ),
        (
            {"limits": Limits(cache_size="x")},
            "`cache_size` must be a number of at least 0, got 'x'",
        ),
    ],
    ids=without_address,
)
def test_limits_out_of_range_are_refused(parameters, message, asia_tasks):
    error = InputTypeError if "cache_size" in message else InputError
    with pytest.raises(error, match=message):
        SingleTaskLearner(**parameters).fit(asia_tasks)


def test_exact_search_is_at_least_as_good_and_refuses_many_variables(asia_tasks):
    exact = SingleTaskLearner(**QUICK | {"search": "exact"}).fit(asia_tasks)
    for effort in (QUICK, CLIMBS):
        other = SingleTaskLearner(**effort).fit(asia_tasks)
        assert (exact.task_scores_ >= other.task_scores_ - 1e-9).all()
    alarm = structures.load("alarm").sample(200, random_state=0)
    with pytest.raises(ValueError, match=r"`search` 'exact' takes up to 20 variables .* 3\d; use"):
        quietly(SingleTaskLearner(search="exact"), alarm)


def test_orders_that_the_tasks_share_are_a_start(partial_tasks):
    learner = quietly(
        MultitaskLearner(EditPrior(0.9), start="orders", **ONE_GROUP, **QUICK), partial_tasks
    )
    assert list(learner.start_scores_) == ["orders"]
    everything = quietly(MultitaskLearner(EditPrior(0.9), **ONE_GROUP, **QUICK), partial_tasks)
    assert everything.start_scores_["orders"] == pytest.approx(learner.score_, rel=1e-12)
    assert everything.score_ == max(everything.start_scores_.values())
    climbs = quietly(MultitaskLearner(EditPrior(0.9), **ONE_GROUP, **CLIMBS), partial_tasks)
    assert "orders" not in climbs.start_scores_


def test_orders_need_a_coupling_that_counts_tasks(asia_tasks):
    prior = PairedPrior(0.9, task_penalty={("north", "east"): 0.5})
    learner = MultitaskLearner(prior, **ONE_GROUP, **QUICK).fit(asia_tasks)
    assert set(learner.start_scores_) == {"single-task", "identical", "empty"}
    for mine in (prior, Flat()):
        with pytest.raises(ValueError, match="`start` 'orders' needs a PairedPrior or EditPrior"):
            MultitaskLearner(mine, start="orders", **ONE_GROUP, **QUICK).fit(asia_tasks)


@pytest.mark.slow_without_jit
def test_reversible_arcs_point_the_same_way_in_all_tasks(asia_tasks):
    """A seeded coin chooses between graphs of one class, not the walk of a search."""
    same = {"north": asia_tasks["north"], "copy": asia_tasks["north"]}
    for effort in (QUICK, {**QUICK, "search": Orders(starts=3, iterations=5)}, CLIMBS):
        learner = SingleTaskLearner(**effort).fit(same)
        assert learner.configuration_["north"].edges == learner.configuration_["copy"].edges


def test_arcs_are_those_of_the_fit_whenever_they_are_asked_for(asia_tasks):
    learner = SingleTaskLearner(search=HillClimbing(restarts=0), random_state=0)
    with pytest.raises(AttributeError, match="after `fit` of the SingleTaskLearner"):
        _ = learner.arcs_
    assert not hasattr(learner, "arcs_")
    expected = learner.fit(asia_tasks).arcs_
    later = clone(learner).fit(asia_tasks).set_params(score=BIC(), limits=Limits(max_cells=1))
    pd.testing.assert_frame_equal(later.arcs_, expected)
    again = later.fit({"one": next(iter(asia_tasks.values()))})
    assert again.arcs_.empty
    assert pickle.loads(pickle.dumps(learner)).arcs_.equals(expected)
