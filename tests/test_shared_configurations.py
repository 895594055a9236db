"""Configurations of tasks that may have tables in common: worth of arcs, moves, and searches."""

import functools
import hashlib
import itertools
import warnings
from types import SimpleNamespace

import naive
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import SCORE, TS, log_evidence, log_posterior, tasks_of
from small import related

from benchmarks.by_default import UP_TO_100
from benchmarks.defaults.real_tables import concentrations_up_to_100
from bnmtl import (
    BIC,
    ArcPrior,
    BDeu,
    EditPrior,
    Exact,
    HillClimbing,
    IdenticalLearner,
    MixedDirichlet,
    MultitaskLearner,
    MultitaskLearnerCV,
    Orders,
    PairedPrior,
    ReferencePrior,
    SingleTaskLearner,
    problems,
    structures,
)
from bnmtl.graphs import adjacency
from bnmtl.learners import base
from bnmtl.learners.adapted import with_graphs
from bnmtl.progress import Reporter
from bnmtl.search import Limits
from bnmtl.search.configurations import SharedConfigurationSearch, given_the_others
from bnmtl.search.multitask import search_over
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.problem import JointProblem, NoCommonGraph, TaskProblem, constraints_by_task
from bnmtl.search.ties import Ties
from bnmtl.tasks import encode

QUICK = {"search": Orders(starts=1, iterations=2), "random_state": 0}


def learner_of(kind=MultitaskLearner, **parameters):
    """A learner of tasks in one group, which may have tables in common."""
    return kind(**{"task_groups": None, **QUICK, **parameters})


class OneDirection:
    """A custom coupling: tasks should not have an arc in both directions."""

    def log_coupling(self, states, pair=None, tasks=None):
        return -2.0 * float((states == 1).any() and (states == -1).any())


PRIORS = st.sampled_from(
    [
        PairedPrior(penalty=0),
        PairedPrior(penalty=0.9),
        PairedPrior(penalty=1),
        PairedPrior(penalty=0.5, task_penalty={("t0", "t1"): 0.999}),
        PairedPrior(penalty=0.9, variable_penalty={("v0", "v1"): 1.0}),
        EditPrior(penalty=0.7),
        OneDirection(),
    ]
)


@st.composite
def searches(draw, most_tasks=4, prior=PRIORS):
    """A search at a random configuration, and its tasks, some of which require an arc."""
    tasks = draw(tasks_of(most_variables=4, most_tasks=most_tasks))
    sparse = {name: ArcPrior(probability=0.2) for name in tasks} if draw(st.booleans()) else None
    arc = ("v0", "v1")
    usable = [
        name
        for name, task in tasks.items()
        if {*arc} <= {*task.variables} and not {*arc} & {*task.constant}
    ]
    required = {name: [arc] for name in usable if draw(st.booleans())}
    most_parents = draw(st.sampled_from([None, 1]))
    constraints = constraints_by_task(tasks, required, (), None, most_parents)
    joint = JointProblem(TaskProblem.of_all(tasks, SCORE, constraints, sparse, partitions=TS))
    return search_at(draw, joint, draw(prior)), tasks


def search_at(draw, joint, prior):
    """A search at random graphs that meet the tasks' constraints."""
    n, matrices = len(joint.variables), []
    order = draw(st.permutations(range(n)))
    ranks = np.argsort(order)
    if any((ranks[a] > ranks[b]).any() for a, b in required_arcs(joint)):
        order = order[::-1]
    for constraints in joint.constraints:
        matrix = constraints.required.copy()
        for a, b in itertools.combinations(order, 2):
            is_free = constraints.permitted[a, b]
            is_free &= matrix[:, b].sum() < constraints.max_parents
            matrix[a, b] |= is_free and draw(st.booleans())
        matrices.append(matrix)
    ties = Ties(joint.variables, 0, 1e-9)
    return SharedConfigurationSearch(joint, Couplings(prior, joint), ties, np.stack(matrices))


def required_arcs(joint):
    """Indices of the parents and of the children, by task."""
    return [np.nonzero(limits.required) for limits in joint.constraints]


@settings(max_examples=examples(25))
@given(searches())
def test_the_score_is_evidence_prior_and_coupling(case):
    search, tasks = case
    violated, score = search.score
    expected = log_posterior(search, tasks, search.adjacency)
    assert (violated > 0) == (expected == -np.inf)
    if not violated:
        assert score == pytest.approx(expected, abs=1e-8)
    assert search.evidence() == pytest.approx(
        log_evidence(tasks, search.problem, search.adjacency), abs=1e-8
    )


def is_legal(search, adjacency):
    return all(
        naive.is_dag(matrix)
        and matrix.sum(axis=0).max() <= limits.max_parents
        and not (limits.required & ~matrix).any()
        for matrix, limits in zip(adjacency, search.problem.constraints, strict=True)
    )


@settings(max_examples=examples(30))
@given(searches(), st.data())
def test_a_pair_gets_its_best_joint_states(case, data):
    search, tasks = case
    pairs = np.argwhere(search.couplings.pairs).tolist()
    if not pairs:
        return
    i, j = data.draw(st.sampled_from(pairs))
    improvement, members, states = search.solve_pair(i, j)
    best, of_states = -np.inf, None
    for candidate in itertools.product((-1, 0, 1), repeat=len(members)):
        other = changed(search.adjacency, members, candidate, i, j)
        if any(
            other[s, a, b] and not search.problem.constraints[s].permitted[a, b]
            for s in members
            for a, b in ((i, j), (j, i))
        ) or not is_legal(search, other):
            continue
        value = log_evidence(tasks, search.problem, other)
        for (present, absent), matrix in zip(search.arc_terms, other, strict=True):
            value += float(np.where(matrix, present, absent).sum())
        value += search.couplings.of(i, j)[1].log_coupling(np.array(candidate, np.int8))
        best = max(best, value)
        if candidate == tuple(states.tolist()):
            of_states = value
    now = log_evidence(tasks, search.problem, search.adjacency)
    for (present, absent), matrix in zip(search.arc_terms, search.adjacency, strict=True):
        now += float(np.where(matrix, present, absent).sum())
    now += search.log_couplings[i, j]
    assert improvement == pytest.approx(best - now, abs=1e-7)
    if best > -np.inf:
        assert of_states == pytest.approx(best, abs=1e-7)


def changed(adjacency, members, states, i, j):
    """A configuration in which some tasks have other states of a pair."""
    other = adjacency.copy()
    for s, state in zip(members, states, strict=True):
        other[s, i, j], other[s, j, i] = state == 1, state == -1
    return other


@settings(max_examples=examples(25))
@given(searches(), st.data())
def test_what_a_pair_could_gain_bounds_what_it_gains(case, data):
    search, _ = case
    n = len(search.problem.variables)
    optimistic = np.zeros((n, n))
    for i in range(n):
        search.write_optimistic_gains(i, optimistic)
    for i, j in np.argwhere(search.couplings.pairs).tolist():
        gain, _, _ = search.solve_pair(i, j)
        assert gain <= optimistic[i, j] - search.log_couplings[i, j] + 1e-9


@settings(max_examples=examples(30))
@given(searches())
def test_the_search_ends_where_no_pair_improves(case):
    search, tasks = case
    before = search.score
    search.run()
    violated, score = search.score
    assert (-violated, score) >= (-before[0], before[1] - 1e-9)
    if not violated:
        assert score == pytest.approx(log_posterior(search, tasks, search.adjacency), abs=1e-8)
        for i, j in np.argwhere(search.couplings.pairs).tolist():
            assert search.solve_pair(i, j)[0] <= 1e-8
    assert is_legal(search, search.adjacency)


@settings(max_examples=examples(25))
@given(
    searches(prior=st.sampled_from([PairedPrior(penalty=0), PairedPrior(penalty=0.9)])), st.data()
)
def test_one_task_given_the_others(case, data):
    search, tasks = case
    s = data.draw(st.integers(0, len(tasks) - 1))
    state = given_the_others(search, s)
    matrix = state.adjacency.copy()
    for a, b in np.argwhere(search.problem.constraints[s].permitted).tolist():
        if not (state.may_set(a, b) and not matrix[a, b]):
            continue
        other = search.adjacency.copy()
        other[s, a, b], other[s, b, a] = True, False
        change = log_posterior(search, tasks, other) - log_posterior(
            search, tasks, search.adjacency
        )
        if not matrix[b, a]:
            assert state.toggles[a, b] == pytest.approx(change, abs=1e-7)
    # Families of the others are tried whole, where the task may have them.
    for graph in state.families:
        may = search.problem.constraints[s].permitted.T
        assert not (graph & ~may).any()


def many_tasks(k, n_rows=12, n_variables=3):
    """Tasks whose first two columns go together."""
    rng, frames = np.random.default_rng(0), {}
    for s in range(k):
        codes = rng.integers(0, 2, (n_rows, n_variables))
        codes[:, 1] = np.where(rng.random(n_rows) < 0.9, codes[:, 0], codes[:, 1])
        frames[f"t{s:02}"] = pd.DataFrame(codes, columns=[f"v{v}" for v in range(n_variables)])
    return {name: frame.astype(str) for name, frame in frames.items()}


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("k", [9, 10, 14])
def test_many_tasks_find_what_they_share(k):
    frames = many_tasks(k)
    learner = learner_of(prior=PairedPrior(0.9)).fit(frames)
    assert all(
        graph.to_undirected().has_edge("v0", "v1") for graph in learner.configuration_.values()
    )
    search = search_of(frames)
    alike = np.zeros_like(search.adjacency)
    alike[:, 0, 1] = True
    search.reset(alike)
    assert learner.score_ >= search.score[1] - 1e-8


@pytest.mark.slow_without_jit
def test_moves_of_many_tasks_are_worth_what_they_say():
    search = search_of(many_tasks(11))
    for i, j in itertools.combinations(range(3), 2):
        before = search.score[1]
        gain, members, states = search.solve_pair(i, j)
        search.apply(i, j, members, states)
        assert search.score[1] - before == pytest.approx(gain, abs=1e-8)


def search_of(frames, prior=None):
    """A greedy search over tasks that begins without arcs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner = learner_of()
        tasks = encode(frames)
    problems = learner._problems(tasks, learner._effort())
    joint = JointProblem(problems)
    prior = PairedPrior(0.9) if prior is None else prior
    n = len(joint.variables)
    matrices = np.zeros((len(tasks), n, n), dtype=bool)
    ties = Ties(joint.variables, 0, 1e-9)
    return SharedConfigurationSearch(joint, Couplings(prior, joint), ties, matrices)


ASIA = {
    f"task{s}": structures.load("asia").sample(n, random_state=s)
    for s, n in ((1, 80), (2, 50), (3, 120))
}
LEARNERS = (IdenticalLearner, MultitaskLearner)


@functools.cache
def fitted(kind=MultitaskLearner):
    """A learner that nothing else was asked of, fitted to ASIA."""
    return learner_of(kind).fit(ASIA)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("kind", [*LEARNERS, MultitaskLearnerCV])
def test_one_task_has_nobody_to_share_with(kind):
    rows = {"only": ASIA["task3"]}
    learner = learner_of(kind).fit(rows)
    alone = SingleTaskLearner(**QUICK).fit(rows)
    assert learner.score_ == alone.score_
    assert learner.configuration_["only"].edges == alone.configuration_["only"].edges
    assert learner.networks_["only"] == alone.networks_["only"]
    assert learner.borrowed_.empty


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("kind", LEARNERS)
def test_without_sharing_the_score_is_a_sum_over_tasks(kind):
    prior = PairedPrior(0.5)
    learner = with_prior(kind, prior, table_sharing=None).fit(ASIA)
    coupling = prior.log_prior(learner.configuration_)
    assert (coupling < 0) == (kind is MultitaskLearner)
    assert learner.score_ == pytest.approx(learner.task_scores_.sum() + coupling, abs=1e-8)
    assert learner.borrowed_.empty


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("kind", LEARNERS)
def test_scores_of_tasks_are_evidence_and_prior_with_separate_tables(kind):
    tasks, prior = related(), PairedPrior(0.9)
    learner = with_prior(kind, prior, search=HillClimbing(restarts=0)).fit(tasks)
    n, k = 6, len(tasks)
    # Equation 2.8 of the thesis; one graph for all is a penalty of 1.
    weight = 1 / (1 + (k - 1) * (prior.penalty if kind is MultitaskLearner else 1))
    p = 0.1 / (n - 1) / k
    for name, graph in learner.configuration_.items():
        rows, n_arcs = tasks[name].to_dict("records"), graph.number_of_edges()
        states = {variable: column.cat.categories for variable, column in tasks[name].items()}
        evidence = naive.graph_score(MixedDirichlet(), graph, rows, states)
        log_prior = n_arcs * np.log(p) + (n * (n - 1) - n_arcs) * np.log1p(-p)
        assert learner.task_scores_[name] == pytest.approx(evidence + weight * log_prior, abs=1e-8)
    coupling = prior.log_prior(learner.configuration_)
    assert learner.score_ > learner.task_scores_.sum() + coupling + 10


def with_prior(kind, prior, **parameters):
    """A learner under a prior, if it has one."""
    return learner_of(kind, **({"prior": prior} if kind is MultitaskLearner else {}), **parameters)


# Scores, numbers of arcs and a digest of all arcs, by the last commit before tables were shared,
# whose concentrations ended at 100.
BEFORE_SHARING = [
    (MultitaskLearner, BDeu(), -2236.7745690895313, 18, "8cf65d1445076624"),
    (IdenticalLearner, BDeu(), -2242.263355855492, 21, "797146b66ab44ba5"),
    (MultitaskLearner, MixedDirichlet(UP_TO_100), -2245.500563158365, 19, "9e5c531416d63817"),
    (IdenticalLearner, MixedDirichlet(UP_TO_100), -2254.790161585179, 21, "797146b66ab44ba5"),
]
# The same by `MultitaskLearnerCV`, and the validation scores of its penalties.
CHOSEN_BEFORE_SHARING = [
    (*BEFORE_SHARING[0][1:], [-2.433368027649495, -2.4215119101826916, -2.4247312356696265]),
    (*BEFORE_SHARING[2][1:], [-2.451913643639555, -2.4163771149234634, -2.4193220859568747]),
]


def fitted_without_sharing(kind, score, **parameters):
    """A learner of three tasks with separate tables."""
    tasks = problems.deletion("asia", 3, 0.2, random_state=0)
    tasks = problems.sample(tasks, 300, random_state=0)
    search = Orders(starts=1, iterations=5)
    learner = learner_of(kind, score=score, search=search, table_sharing=None, **parameters)
    return learner.fit(tasks)


def check_fit(learner, score, n_arcs, digest):
    """Assert what was found before tables were shared."""
    arcs = {task: sorted(graph.edges) for task, graph in learner.configuration_.items()}
    # The same to the last bit on the machine that the values are of; libraries differ in it.
    assert learner.score_ == pytest.approx(score, rel=1e-13)
    assert sum(map(len, arcs.values())) == n_arcs
    assert hashlib.blake2b(repr(arcs).encode(), digest_size=8).hexdigest() == digest
    table = learner.networks_["task1"].table("dysp")
    assert table.ravel()[0] == pytest.approx(0.689141645977532, rel=1e-12)


@pytest.fixture
def tables_of_before():
    """Tables are smoothed by the concentrations of that commit."""
    with concentrations_up_to_100():
        yield


@pytest.mark.slow_without_jit
@pytest.mark.usefixtures("tables_of_before")
@pytest.mark.parametrize(("kind", "score", "expected", "n_arcs", "digest"), BEFORE_SHARING)
def test_without_sharing_nothing_has_changed(kind, score, expected, n_arcs, digest):
    prior = {"prior": PairedPrior(0.9)} if kind is MultitaskLearner else {}
    learner = fitted_without_sharing(kind, score, **prior)
    check_fit(learner, expected, n_arcs, digest)


@pytest.mark.slow_without_jit
@pytest.mark.usefixtures("tables_of_before")
@pytest.mark.parametrize(("score", "expected", "n_arcs", "digest", "scores"), CHOSEN_BEFORE_SHARING)
def test_without_sharing_the_choice_of_a_penalty_has_not_changed(
    score, expected, n_arcs, digest, scores
):
    learner = fitted_without_sharing(MultitaskLearnerCV, score, penalties=[0, 0.9, 1], cv=2)
    assert learner.validation_scores_.to_dict() == pytest.approx(
        dict(zip([0, 0.9, 1], scores, strict=True)), rel=1e-12
    )
    assert learner.penalty_ == 0.9
    check_fit(learner, expected, n_arcs, digest)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("score", [BDeu(), BIC()])
def test_other_scores_find_the_same_graphs_and_share_their_tables(score):
    shared = learner_of(score=score).fit(ASIA)
    separate = learner_of(score=score, table_sharing=None).fit(ASIA)
    assert shared.score_ == separate.score_
    assert all(
        set(separate.configuration_[t].edges) == set(shared.configuration_[t].edges) for t in ASIA
    )
    assert separate.borrowed_.empty
    assert set(shared.borrowed_["source"]) == set(ASIA)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("kind", LEARNERS)
def test_sharing_gains_where_tables_are_the_same(kind):
    shared = fitted(kind)
    separate = learner_of(kind, table_sharing=None).fit(ASIA)
    assert shared.score_ > separate.score_ + 10
    assert set(shared.borrowed_["source"]) == set(ASIA)
    truth, rows = structures.load("asia"), structures.load("asia").sample(2000, random_state=9)
    best = truth.log_likelihood(rows).mean()
    gaps = [
        [best - network.log_likelihood(rows).mean() for network in learner.networks_.values()]
        for learner in (shared, separate)
    ]
    assert all(less < more for less, more in zip(*gaps, strict=True))
    assert sum(gaps[0]) < 0.7 * sum(gaps[1])


@pytest.mark.slow_without_jit
def test_the_order_of_the_tasks_does_not_matter():
    one, other = fitted(), learner_of().fit(dict(reversed(ASIA.items())))
    assert other.score_ == pytest.approx(one.score_, abs=1e-8)
    for name, graph in one.configuration_.items():
        assert set(graph.edges) == set(other.configuration_[name].edges)


@pytest.mark.slow_without_jit
def test_parallel_is_serial():
    one, other = fitted(), learner_of(n_jobs=2).fit(ASIA)
    assert other.score_ == pytest.approx(one.score_, abs=1e-9)
    for name, graph in one.configuration_.items():
        assert graph.edges == other.configuration_[name].edges


@pytest.mark.slow_without_jit
def test_strength_is_what_all_tasks_lose():
    learner = learner_of(prior=PairedPrior(0)).fit(ASIA)
    problems = learner._problems(learner.tasks_, learner._effort())
    search = search_over(problems, learner._effort(), Reporter(False))
    matrices = [adjacency(learner.configuration_[p.name], p.variables) for p in problems]
    evidence = search.evidence(matrices)
    for arc in learner.arcs_.itertuples():
        s = list(ASIA).index(arc.task)
        fewer = [matrix.copy() for matrix in matrices]
        variables = problems[s].variables
        fewer[s][variables.index(arc[1]), variables.index(arc.to)] = False
        assert arc.strength == pytest.approx(evidence - search.evidence(fewer), abs=1e-8)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("start", ["single-task", "identical", "empty", "orders"])
def test_every_start_leads_somewhere(start):
    learner = learner_of(start=start).fit(ASIA)
    assert learner.start_ == start
    assert list(learner.start_scores_) == [start]


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("search", [HillClimbing(restarts=5), Exact()], ids=repr)
def test_other_searches_find_no_less_than_their_start(search):
    learner = learner_of(search=search).fit(ASIA)
    assert set(learner.start_scores_) == {"own tables", "identical"}
    assert learner.score_ == max(learner.start_scores_.values())


@pytest.mark.slow_without_jit
def test_constraints_that_contradict_leave_the_other_start():
    required = {"task1": [("smoke", "lung")], "task2": [("lung", "smoke")]}
    learner = learner_of(required=required).fit(ASIA)
    assert list(learner.start_scores_) == ["own tables"]
    assert learner.configuration_["task2"].has_edge("lung", "smoke")
    with pytest.raises(NoCommonGraph):
        learner_of(IdenticalLearner, required=required).fit(ASIA)


@pytest.mark.slow_without_jit
def test_what_cannot_be_shared_is_refused():
    with pytest.raises(ValueError, match="`table_sharing` must be 'auto' or None, got True"):
        MultitaskLearner(table_sharing=True).fit(ASIA)


@pytest.mark.slow_without_jit
def test_tables_of_a_given_strength_are_separate():
    learner = learner_of(parameter_sample_size=1).fit(ASIA)
    assert learner.borrowed_.empty


@pytest.mark.slow_without_jit
def test_a_family_that_is_too_large_stays_where_it_is_required():
    rng = np.random.default_rng(0)
    frames = {
        f"t{s}": pd.DataFrame(rng.integers(0, 4, (30, 4))).add_prefix("v").astype(str)
        for s in range(3)
    }
    required = [("v1", "v0"), ("v2", "v0")]
    for k in (3, 11):
        tasks = {f"{name}-{at}": frames[name] for at in range(k // 3 + 1) for name in frames}
        tasks = dict(list(tasks.items())[:k])
        learner = learner_of(
            required=required, limits=Limits(max_cells=20), search=Orders(starts=1, iterations=1)
        )
        learner.fit(tasks)
        for graph in learner.configuration_.values():
            assert set(required) <= set(graph.edges)
            assert max(dict(graph.in_degree()).values()) == 2
        assert np.isfinite(learner.score_)


@pytest.mark.slow_without_jit
def test_at_a_penalty_of_1_one_graph_scores_what_it_does_by_itself():
    """The sparsity that is expected by default is the same, too."""
    sachs = structures.load("sachs")
    tasks = [sachs.sample(60, random_state=seed) for seed in range(3)]
    one = learner_of(IdenticalLearner).fit(tasks)
    several = learner_of(prior=PairedPrior(1), search=HillClimbing(restarts=0)).fit(tasks)
    assert with_graphs(several, one.configuration_).score_ == pytest.approx(one.score_, abs=1e-8)
    assert several.arc_probability_.equals(one.arc_probability_)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize(
    "settings, starts",
    [
        ({"search": HillClimbing(restarts=0)}, {"own tables"}),
        ({"search": HillClimbing(restarts=1)}, {"own tables", "identical"}),
        ({"search": "orders"}, {"own tables", "identical"}),
        ({"search": HillClimbing(restarts=0), "start": "identical"}, {"identical"}),
    ],
)
def test_a_search_that_climbs_once_has_one_start(settings, starts):
    assert set(learner_of(**settings).fit(ASIA).start_scores_) == starts


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("kind", LEARNERS)
def test_the_graphs_that_were_found_score_what_they_did(kind):
    learner = fitted(kind)
    again = with_graphs(learner, learner.configuration_)
    assert again.borrowed_.equals(learner.borrowed_)
    fewer = {name: graph for name, graph in learner.configuration_.items() if name != "task1"}
    assert with_graphs(learner, fewer).score_ < again.score_
    assert again.score_ == pytest.approx(learner.score_, abs=1e-8)


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize(
    "search", [Orders(starts=1, iterations=0), HillClimbing(restarts=0), Exact()], ids=repr
)
def test_small_tasks_by_every_search(kind, search):
    frames = many_tasks(2, n_rows=10, n_variables=2)
    learner = learner_of(kind, search=search).fit(frames)
    assert [len(graph.edges) for graph in learner.configuration_.values()] == [1, 1]
    assert set(learner.borrowed_["source"]) == set(frames)
    assert len(learner.arcs_) == 2


COSTS = {"add": 2, "delete": 0.5, "reverse": 1}


@pytest.mark.slow_without_jit
@pytest.mark.parametrize(
    "priors",
    [
        {"prior": EditPrior(0.9)},
        {"prior": EditPrior(0.9, costs=COSTS)},
        {"prior": PairedPrior(0.9, task_penalty={("task1", "task2"): 0.5})},
        {"prior": PairedPrior(0.9, variable_penalty={("smoke", "lung"): 0})},
        {"prior": PairedPrior(1)},
        {"prior": OneDirection()},
        {"structure_prior": ReferencePrior(structures.load("asia").graph)},
    ],
    ids=["edit", "by cost", "by task", "by variable", "all agree", "own", "reference"],
)
def test_every_prior_goes_with_constraints_and_lacking_variables(priors):
    frames = {**ASIA, "task3": ASIA["task3"].drop(columns="xray")}
    tiers = [["smoke"], ["lung", "bronc"]]
    learner = learner_of(
        **priors,
        tiers=tiers,
        forbidden=[("smoke", "lung")],
        search=Orders(starts=1, iterations=1),
    ).fit(frames)
    graphs = learner.configuration_
    for graph in graphs.values():
        assert not graph.has_edge("smoke", "lung")
        assert not graph.has_edge("lung", "smoke")
    assert "xray" not in graphs["task3"]
    if getattr(learner.prior, "penalty", None) == 1:
        both = set(graphs["task1"]) - {"asia", "tub", "xray"}
        common = [{arc for arc in graph.edges if set(arc) <= both} for graph in graphs.values()]
        assert common[0] == common[1] == common[2]


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("prior", [EditPrior(0.5, costs=COSTS), PairedPrior(0.5)], ids=repr)
def test_what_was_found_scores_what_plain_code_says(monkeypatch, prior):
    monkeypatch.setattr(base, "PARTITIONS", TS)
    reference = ReferencePrior(nx.DiGraph([("x1", "x2"), ("x3", "x4")]), factor=0.1)
    search = Orders(starts=1, iterations=1)
    learner = learner_of(prior=prior, score=SCORE, structure_prior=reference, search=search)
    learner.fit(related())
    joint = JointProblem(learner._problems(learner.tasks_, learner._effort()))
    graphs = learner.configuration_.values()
    matrices = joint.spread([adjacency(graph, joint.variables) for graph in graphs])
    pairs = zip(joint.tasks, matrices, strict=True)
    separate = sum(task.scores.score(matrix) for task, matrix in pairs)
    _, total = naive.configuration_score(joint, prior, matrices, reference)
    expected = total - separate + log_evidence(learner.tasks_, joint, matrices)
    assert learner.score_ == pytest.approx(expected, abs=1e-8)
    assert prior.log_prior(learner.configuration_) < 0


@pytest.mark.slow_without_jit
@pytest.mark.parametrize(
    "way",
    [
        {"validation": "posterior"},
        {"validation": 0.1},
        {"cv": 2},
        {"rule": "one-standard-error", "cv": 2},
    ],
)
def test_every_way_of_choosing_the_penalty(way):
    tasks = problems.deletion("asia", 3, 0.5, random_state=0)
    tasks = problems.sample(tasks, 100, random_state=4)
    search = Orders(starts=1, iterations=0)
    learner = learner_of(MultitaskLearnerCV, penalties=[0, 0.9], search=search, **way).fit(tasks)
    best = learner.validation_scores_.idxmax()
    if "rule" in way:
        # The larger one is nearly as good.
        assert (best, learner.penalty_) == (0, 0.9)
        scores, errors = learner.validation_scores_, learner.validation_grid_["standard_error"]
        # In two folds, in one of which they tie, the difference is its error, up to rounding.
        assert scores[0] - scores[0.9] == pytest.approx(errors[0], rel=1e-9)
    else:
        assert learner.penalty_ == best
    given = learner_of(prior=PairedPrior(learner.penalty_), search=search).fit(tasks)
    assert learner.score_ == pytest.approx(given.score_, rel=0.01)


def test_families_of_more_cells_than_integers_are_too_large():
    search = SharedConfigurationSearch.__new__(SharedConfigurationSearch)
    n = 65
    bounds = {"arities": np.full(n, 2), "most_cells": np.array([1e6])}
    constraints = SimpleNamespace(required=np.zeros((n, n), dtype=bool))
    search.problem = SimpleNamespace(variables=range(n), constraints=[constraints])
    search._scores = SimpleNamespace(engine=SimpleNamespace(**bounds))
    search._memory, search._most_parents = SimpleNamespace(may=np.ones((1, n, n), dtype=bool)), [n]
    assert [search._may_have(0, n - 1, np.arange(k)) for k in (2, 18, 20, 64)] == [True] * 2 + [
        False
    ] * 2
