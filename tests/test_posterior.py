"""The posterior of a penalty: the coupling normalized, by brute force over all joint states."""

import itertools
import math

import naive_couplings
import naive_tables
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from shared import counts_of
from sklearn.base import BaseEstimator
from small import CLIMB, ONE_GROUP, arcs, partial, related

from bnmtl import (
    ArcPrior,
    BDeu,
    EditPrior,
    HillClimbing,
    MixedDirichlet,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.graphs import adjacency
from bnmtl.scores import CONCENTRATIONS, PART_CONCENTRATION, PARTITIONS
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.penalty_posterior import log_posterior
from bnmtl.search.problem import JointProblem, TaskProblem, constraints_by_task
from bnmtl.tasks import encode

LISTED = {("x1", "x2"): 0.0, ("x2", "x3"): 0.5, ("x3", "x4"): 1.0}
COSTS = {"add": 2, "delete": 0.5, "reverse": 1}


def three(make):
    """Three of the tasks, which have 27 joint states of a pair."""
    return dict(itertools.islice(make().items(), 3))


def equal():
    return three(related)


def unequal():
    return three(partial)


def with_constant():
    """Partly the same variables, one of them constant in a task."""
    tasks = unequal()
    codes = np.zeros(150, int)
    tasks["task1"]["x5"] = pd.Categorical.from_codes(codes, tasks["task1"]["x5"].cat.categories)
    return tasks


PRIORS = [
    PairedPrior(0.9),
    PairedPrior(0.6, reversal=1),
    PairedPrior(0.0),
    EditPrior(0.9),
    EditPrior(0.99, reversal=2),
    EditPrior(0.7, costs=COSTS),
    PairedPrior(0.9, variable_penalty={**LISTED, ("x3", "x4"): 0.99}),
    EditPrior(0.9, variable_penalty={**LISTED, ("x3", "x4"): 0.99}),
]


def found(prior, tasks, configuration, log_likelihood=0.0):
    """`log_posterior` of a configuration."""
    constraints = constraints_by_task(tasks, (), (), None, None)
    joint = JointProblem(TaskProblem.of_all(tasks, BDeu(), constraints))
    matrices = [adjacency(configuration[name], task.variables) for name, task in tasks.items()]
    return log_posterior(Couplings(prior, joint), joint.spread(matrices), log_likelihood)


def configurations(tasks):
    """The learned one, the empty one, and one in which every task has its own random arcs."""
    yield MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **CLIMB).fit(tasks).configuration_
    empty, random, rng = {}, {}, np.random.default_rng(0)
    for name, task in tasks.items():
        empty[name] = nx.empty_graph(task.variables, create_using=nx.DiGraph)
        usable = [v for v in task.variables if v not in task.constant]
        order = rng.permutation(usable).tolist()
        random[name] = nx.DiGraph(empty[name])
        pairs = itertools.combinations(order, 2)
        random[name].add_edges_from(pair for pair in pairs if rng.random() < 0.4)
    yield empty
    yield random


@pytest.mark.filterwarnings("ignore:Task `task1`")
@pytest.mark.parametrize("make", [equal, unequal, with_constant], ids=lambda make: make.__name__)
@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: repr(prior)[:40])
def test_it_is_the_sum_over_all_joint_states(prior, make):
    tasks = encode(make())
    for configuration in configurations(tasks):
        expected = naive_couplings.penalty_posterior(prior, tasks, configuration, -123.0)
        assert found(prior, tasks, configuration, -123.0) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("prior", [PairedPrior(1), EditPrior(1)], ids=repr)
def test_at_penalty_one_what_disagrees_is_impossible(prior):
    tasks = encode(unequal())
    _, empty, random = configurations(tasks)
    assert found(prior, tasks, random) == -math.inf
    assert found(prior, tasks, empty) == pytest.approx(
        naive_couplings.penalty_posterior(prior, tasks, empty, 0), abs=1e-4
    )
    agreeing = {name: nx.DiGraph(graph) for name, graph in empty.items()}
    for graph in agreeing.values():
        graph.add_edge("x2", "x3")
    expected = naive_couplings.penalty_posterior(prior, tasks, agreeing, 0.0)
    assert found(prior, tasks, agreeing) == pytest.approx(expected, abs=1e-4)
    # A single arc that all tasks share counts as one, not as three.
    assert found(prior, tasks, agreeing) > found(PairedPrior(0), tasks, agreeing)


def test_a_coupling_that_distinguishes_tasks_has_no_such_sum():
    tasks = encode(related())
    prior = PairedPrior(task_penalty={("task1", "task2"): 0.5})
    with pytest.raises(ValueError, match="on how many tasks have an arc and not on which, got W"):
        found(prior, tasks, next(configurations(tasks)))


GRID = [0, 0.5, 0.9, 0.99, 1]


@pytest.mark.parametrize("structure_prior", [None, ArcPrior(probability=0.1)], ids=repr)
def test_the_learner_takes_the_penalty_with_the_largest_posterior(structure_prior):
    """No rows are held out: scores and the configuration are those of all rows."""
    parameters = {**ONE_GROUP, **CLIMB, "structure_prior": structure_prior}
    chance = None if structure_prior is None else structure_prior.probability
    whole = learned_by_posterior(GRID, **parameters)
    assert whole.penalty_ == whole.validation_scores_.idxmax()
    assert whole.validation_scores_.name == "nats"
    learners = {p: learned_by_posterior([p], **parameters) for p in GRID}
    for learner in (whole, *learners.values()):
        graphs, encoded = learner.configuration_, learner.tasks_
        data = sum(BDeu().score(graphs[name], encoded[name].frame()) for name in graphs)
        expected = naive_couplings.penalty_posterior(
            PairedPrior(learner.penalty_), encoded, graphs, data, chance
        )
        assert learner.validation_scores_.max() == pytest.approx(expected, abs=1e-4)
    # Solutions of neighboring penalties may lead to somewhat better ones.
    alone = [learner.validation_scores_[penalty] for penalty, learner in learners.items()]
    assert whole.validation_scores_[GRID].to_numpy() == pytest.approx(alone, abs=2)
    if structure_prior is None:
        prior = PairedPrior(whole.penalty_).log_prior(whole.configuration_)
        assert whole.score_ == pytest.approx(whole.task_scores_.sum() + prior)


def learned_by_posterior(penalties, **parameters):
    learner = MultitaskLearnerCV(penalties=penalties, validation="posterior", **parameters)
    return learner.fit(unequal())


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("penalty", [0, 0.9])
def test_where_tables_are_shared_the_evidence_is_that_of_all_tasks_together(penalty):
    climb = {"search": HillClimbing(restarts=0, tabu=0), "random_state": 0}
    climb["task_groups"] = None
    learner = learned_by_posterior([penalty], **climb)
    families, graphs = {}, learner.configuration_
    for task in learner.tasks_.values():
        for child in task.variables:
            parents = tuple(sorted(graphs[task.name].predecessors(child)))
            families.setdefault((parents, child), []).append(task)
    data = sum(
        naive_tables.shared_evidence(
            counts_of(tasks, list(parents), child), CONCENTRATIONS, PARTITIONS, PART_CONCENTRATION
        )
        for (parents, child), tasks in families.items()
    )
    expected = naive_couplings.penalty_posterior(PairedPrior(penalty), learner.tasks_, graphs, data)
    assert learner.validation_scores_[penalty] == pytest.approx(expected, abs=1e-3)
    separate = sum(
        MixedDirichlet().score(graph, learner.tasks_[name].frame())
        for name, graph in graphs.items()
    )
    # Tasks together are worth more than each with tables of its own.
    assert data > separate + 5


def test_one_task_has_nothing_to_choose():
    tasks = {"task1": related()["task1"]}
    learner = MultitaskLearnerCV(
        validation="posterior", penalties=[0, 0.9, 0.5], **ONE_GROUP, **CLIMB
    )
    learner.fit(tasks)
    assert learner.validation_scores_.nunique() == 1
    assert learner.penalty_ == 0.9
    alone = SingleTaskLearner(**CLIMB).fit(tasks)
    assert arcs(learner.configuration_) == arcs(alone.configuration_)


class Mine(BaseEstimator):
    """A coupling of one's own with a penalty that could be chosen by held-out rows."""

    def __init__(self, penalty=0.9):
        self.penalty = penalty

    def log_coupling(self, states, pair=None, tasks=None):
        return 0.0


NAMES = list(related())
UNEQUAL = {
    "own": Mine(),
    "task_penalty": PairedPrior(task_penalty={("task1", "task2"): 0.5}),
    "task_distance": PairedPrior(
        task_distance=pd.DataFrame(1 - np.eye(len(NAMES)), index=NAMES, columns=NAMES)
    ),
}


@pytest.mark.parametrize("prior", UNEQUAL.values(), ids=UNEQUAL)
def test_couplings_without_a_constant_are_refused_before_the_search(prior):
    events = []
    learner = MultitaskLearnerCV(prior, validation="posterior", progress=events.append, **CLIMB)
    with pytest.raises(ValueError, match="`validation` 'posterior' needs a PairedPrior or Edit"):
        learner.fit(related())
    assert not events
