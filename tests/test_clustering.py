"""Clusters of tasks: the hierarchy, the number by held-out rows, and what is learned in the end."""

from functools import cache

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from small import (
    CLIMB,
    ONE_GROUP,
    arcs,
    partial,
    rarely_varying,
    related,
    single_searches,
    variants,
)

from bnmtl import (
    ArcPrior,
    BayesNet,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.learners.held_out import held_out_rows, held_out_split
from bnmtl.relatedness import TaskClusterer, direct, shared
from bnmtl.relatedness.measures import as_distances
from bnmtl.tasks import Tasks, encode

pytestmark = pytest.mark.beside_kernels

LEARNER = MultitaskLearner(PairedPrior(0.99), **ONE_GROUP, **CLIMB)
CHOOSING = MultitaskLearnerCV(penalties=[0, 0.9, 1], validation=0.05, **ONE_GROUP, **CLIMB)
NAMES = ["task1", "task2", "task3", "task4"]
every_learner = pytest.mark.parametrize(
    "learner", [LEARNER, CHOOSING], ids=lambda one: type(one).__name__
)


@cache
def result_of(n_clusters, learner=LEARNER):
    """What is learned from tasks that lack variables."""
    return result(clustered(partial(), learner, n_clusters=n_clusters))


def clustered(tasks=None, learner=LEARNER, n_clusters=2, relatedness="direct"):
    tasks = related() if tasks is None else tasks
    return TaskClusterer(learner, n_clusters, relatedness).fit(tasks)


def without_the_last(tasks):
    """Three of the four tasks, and the first four of their variables."""
    variables = ["x1", "x2", "x3", "x4"]
    return {name: tasks[name].filter(variables) for name in NAMES[:3]}


def result(clusterer):
    """Everything that was learned, as plain values."""
    return {
        "labels": clusterer.labels_.to_dict(),
        "linkage": clusterer.linkage_.tolist(),
        "scores": clusterer.scores_.to_dict(),
        "arcs": arcs(clusterer.configuration_),
        "tables": {t: net.table("x2").ravel().tolist() for t, net in clusterer.networks_.items()},
    }


def clusters(table, n_clusters):
    """Tasks by cluster, as scipy parts them where no two joins are at one height."""
    merges = linkage(squareform(table.to_numpy()), "average")
    assert len(set(merges[:, 2])) == len(merges)
    numbers = fcluster(merges, n_clusters, "maxclust")
    return {frozenset(np.array(table.index)[numbers == number]) for number in set(numbers)}


def by_hand(learner, tasks, parts):
    """Learners of the clusters by task."""
    fitted = {}
    for part in parts:
        one = clone(learner) if len(part) > 1 else SingleTaskLearner(**CLIMB)
        one.fit(Tasks(tasks[name] for name in sorted(part)))
        fitted.update(dict.fromkeys(part, one))
    return fitted


@pytest.mark.parametrize("make", [related, partial], ids=["equal", "partial"])
@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4])
def test_labels_are_those_of_average_linkage(n_clusters, make):
    clusterer = clustered(make(), n_clusters=n_clusters)
    table = direct(make(), LEARNER)
    assert clusterer.relatedness_.equals(table)
    assert np.array_equal(clusterer.linkage_, linkage(squareform(table.to_numpy()), "average"))
    labels = clusterer.labels_
    assert labels.index.tolist() == NAMES
    found = {frozenset(group.index) for _, group in labels.groupby(labels)}
    assert found == clusters(table, n_clusters)
    # Numbered in the order of the first task of each.
    assert labels.drop_duplicates().tolist() == list(range(n_clusters))
    assert clusterer.n_clusters_ == n_clusters
    assert clusterer.scores_.empty


def test_ties_make_no_fewer_clusters():
    """Four copies of one task are at distance 0; any number of clusters can be had of them."""
    tasks = dict.fromkeys(NAMES, related()["task1"])
    for n_clusters in (1, 2, 3, 4):
        assert clustered(tasks, n_clusters=n_clusters).labels_.nunique() == n_clusters


@every_learner
def test_one_cluster_is_multitask_learning(learner):
    clusterer = clustered(learner=learner, n_clusters=1)
    together = clone(learner).fit(related())
    assert arcs(clusterer.configuration_) == arcs(together.configuration_)
    assert clusterer.networks_ == together.networks_
    (only,) = clusterer.learners_
    assert only.score_ == together.score_


@every_learner
def test_as_many_clusters_as_tasks_is_single_task_learning(learner):
    clusterer = clustered(learner=learner, n_clusters=4)
    alone = SingleTaskLearner(**CLIMB).fit(related())
    assert list(clusterer.configuration_) == NAMES
    assert arcs(clusterer.configuration_) == arcs(alone.configuration_)
    assert clusterer.networks_ == alone.networks_


@every_learner
def test_each_cluster_is_learned_by_itself(learner):
    clusterer = clustered(learner=learner, n_clusters=2)
    fitted = by_hand(learner, encode(related()), clusters(clusterer.relatedness_, 2))
    for name, of_cluster in fitted.items():
        assert arcs(clusterer.configuration_)[name] == arcs(of_cluster.configuration_)[name]
        label = clusterer.labels_[name]
        assert list(clusterer.learners_[label].configuration_) == list(of_cluster.configuration_)


@every_learner
def test_validation_by_hand(learner):
    """Distances and structures from the rows that are left, tables from all."""
    tasks = encode(related())
    clusterer = clustered(learner=learner, n_clusters="validation")
    (rows,) = held_out_rows(tasks, 0.05, None, 0, purpose="size", at_least=10)
    train, test = held_out_split(tasks, rows)
    assert clusterer.relatedness_.equals(direct(train, learner))
    scores, learned = [], []
    for n_clusters in (1, 2, 3, 4):
        learned.append(by_hand(learner, train, clusters(clusterer.relatedness_, n_clusters)))
        means = [
            of_cluster.networks_[name].log_likelihood(test[name].frame()).mean()
            for name, of_cluster in learned[-1].items()
        ]
        scores.append(np.mean(means))
    assert clusterer.scores_.index.tolist() == [1, 2, 3, 4]
    assert clusterer.scores_.index.name == "n_clusters"
    assert clusterer.scores_.tolist() == pytest.approx(scores, rel=1e-12)
    assert clusterer.n_clusters_ == 1 + np.argmax(np.round(scores, 9))
    for name, of_cluster in learned[clusterer.n_clusters_ - 1].items():
        graph = of_cluster.configuration_[name]
        assert arcs(clusterer.configuration_)[name] == sorted(graph.edges)
        assert clusterer.networks_[name] == BayesNet.fit(graph, tasks[name])


def test_cross_validation_by_hand():
    """Clusters and structures of all rows; ten folds score each number of clusters."""
    tasks = encode(without_the_last(related()))
    clusterer = clustered(tasks, n_clusters="cv")
    table = direct(tasks, LEARNER)
    assert clusterer.relatedness_.equals(table)
    scores = np.zeros(3)
    for rows in held_out_rows(tasks, None, 10, 0, purpose="size"):
        train, test = held_out_split(tasks, rows)
        for at, n_clusters in enumerate((1, 2, 3)):
            fitted = by_hand(LEARNER, train, clusters(table, n_clusters))
            for name, of_cluster in fitted.items():
                frame = test[name].frame()
                scores[at] += of_cluster.networks_[name].log_likelihood(frame).mean() / 30
    assert clusterer.scores_.tolist() == pytest.approx(scores, rel=1e-12)
    given = clustered(tasks, n_clusters=clusterer.n_clusters_)
    assert clusterer.n_clusters_ == 1 + np.argmax(np.round(scores, 9))
    assert arcs(clusterer.configuration_) == arcs(given.configuration_)
    assert clusterer.networks_ == given.networks_


def test_the_penalty_is_chosen_by_separate_rows():
    """Those that choose the number of clusters are never seen by the learners."""
    clusterer = clustered(learner=CHOOSING, n_clusters="validation")
    tasks = encode(related())
    (rows,) = held_out_rows(tasks, 0.05, None, 0, purpose="size", at_least=10)
    left, _ = held_out_split(tasks, rows)
    assert {task.n_rows for task in left.values()} == {140}
    together = [
        names for _, names in clusterer.labels_.groupby(clusterer.labels_) if len(names) > 1
    ]
    assert together
    for labels in together:
        alone = clone(CHOOSING).fit(Tasks(left[name] for name in labels.index))
        found = clusterer.learners_[labels.iloc[0]].validation_scores_
        assert found.equals(alone.validation_scores_)


def test_a_single_task_search_is_done_once_on_the_same_rows():
    events = []
    clustered(learner=clone(LEARNER).set_params(progress=events.append), n_clusters="validation")
    assert single_searches(events) == NAMES


def test_one_task_is_one_cluster():
    for n_clusters in (1, "validation", "cv"):
        clusterer = clustered(related()["task1"], n_clusters=n_clusters)
        assert clusterer.labels_.to_dict() == {"task1": 0}
        assert clusterer.linkage_.shape == (0, 4)
        assert clusterer.n_clusters_ == 1


@pytest.mark.parametrize(
    "given",
    [
        {"required": [("x1", "x2"), ("x6", "x3")]},
        {"forbidden": [("x1", "x2")], "tiers": [["x6"], ["x1", "x3"]]},
        {"structure_prior": ArcPrior({("x1", "x6"): 0.9})},
        {"start": nx.DiGraph([("x1", "x2"), ("x3", "x6")])},
        {"prior": PairedPrior(0.9, variable_penalty={("x1", "x6"): 0.5})},
        {"prior": PairedPrior(0.9, task_penalty={("task1", "task3"): 0.5})},
    ],
    ids=lambda given: "-".join(given),
)
def test_clusters_that_lack_variables_keep_the_constraints_on_others(given):
    """A task alone is learned as if the others had not been there."""
    learner = clone(LEARNER).set_params(**given)
    clusterer = clustered(partial(), learner, n_clusters=4)
    whole = {name: value for name, value in given.items() if name != "prior"}
    alone = SingleTaskLearner(**CLIMB | whole).fit(partial())
    assert arcs(clusterer.configuration_) == arcs(alone.configuration_)
    assert clustered(partial(), learner, n_clusters="validation").scores_.notna().all()


@pytest.mark.parametrize("n_clusters", ["validation", "cv"])
def test_required_arcs_stay_where_the_rows_left_do_not_vary(n_clusters):
    learner = MultitaskLearner(required=[("a", "b")], **ONE_GROUP, **{**CLIMB, "random_state": 6})
    clusterer = TaskClusterer(learner, n_clusters).fit(rarely_varying())
    assert all(graph.has_edge("a", "b") for graph in clusterer.configuration_.values())


@pytest.mark.filterwarnings("ignore:Task `task1` has columns in which only")
def test_few_rows_make_fewer_folds():
    tasks = without_the_last(related())
    tasks["task1"] = tasks["task1"][1:9]
    assert len(clustered(tasks, n_clusters="cv").scores_) == 3
    message = '`task1` has 8 rows, and holding out 10 leaves none .*; use `n_clusters="cv"` or a n'
    with pytest.raises(ValueError, match=message):
        clustered(tasks, n_clusters="validation")


@pytest.mark.parametrize("order", ["columns", "rows", "tasks"])
def test_order_does_not_matter(order):
    tasks = variants(partial())[order]
    assert result(clustered(tasks, n_clusters="validation")) == result_of("validation")


def test_order_of_rows_does_not_matter_to_folds():
    tasks = without_the_last(partial())
    one, other = (clustered(rows, n_clusters="cv") for rows in (tasks, variants(tasks)["rows"]))
    assert result(one) == result(other)


@every_learner
def test_jobs_do_not_matter_and_seeds_repeat(learner):
    def fitted(**parameters):
        changed = clone(learner).set_params(**parameters)
        return result(clustered(partial(), changed, n_clusters="validation"))

    assert fitted(n_jobs=3) == result_of("validation", learner)
    drawn = fitted(random_state=np.random.default_rng(1))
    assert drawn == fitted(random_state=int(np.random.default_rng(1).integers(2**63)))


def test_inputs_stay_as_they_are():
    tasks, learner = related(), MultitaskLearner(PairedPrior(0.3), **ONE_GROUP, **CLIMB)
    before = learner.get_params()
    clusterer = TaskClusterer(learner, 2).fit(tasks)
    assert all(frame.equals(related()[name]) for name, frame in tasks.items())
    assert learner.get_params() == before
    assert not [name for name in vars(learner) if name.endswith("_")]
    assert clusterer.get_params(deep=False) == {
        "learner": learner,
        "n_clusters": 2,
        "relatedness": "direct",
    }


def test_progress_reports_the_choice():
    events = []
    clustered(
        learner=MultitaskLearner(**ONE_GROUP, **CLIMB, progress=events.append),
        n_clusters="validation",
    )
    choice = [event.done for event in events if event.stage == "choice of n_clusters"]
    assert choice == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"learner": SingleTaskLearner()}, TypeError, "`learner` must be a MultitaskLearner or"),
        ({"n_clusters": 0}, ValueError, "`n_clusters` must be .* from 1 to 4, got 0"),
        ({"n_clusters": 5}, ValueError, "`n_clusters` must be .* from 1 to 4, got 5"),
        ({"n_clusters": "many"}, ValueError, "`n_clusters` must be .*, got 'many'"),
        ({"n_clusters": None}, TypeError, "`n_clusters` must be .*, got None"),
        (
            {"learner": clone(LEARNER).set_params(forbidden=[("x1", "far")])},
            ValueError,
            "`forbidden` holds the arc x1 -> far",
        ),
        (
            {"learner": MultitaskLearnerCV(validation=2)},
            ValueError,
            "`validation` must be None or a number above 0",
        ),
        ({"tasks": {"task1": pd.DataFrame()}}, ValueError, "Task `task1` must have at least one"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_is_refused_before_a_search(parameters, error, words):
    events = []
    learner = clone(parameters.get("learner", LEARNER)).set_params(progress=events.append)
    with pytest.raises(error, match=words):
        clustered(**parameters | {"learner": learner})
    assert not events


def test_tasks_without_a_common_pair_cannot_be_clustered():
    tasks = related()
    tasks["task1"], tasks["task2"] = tasks["task1"][["x1", "x2"]], tasks["task2"][["x2", "x3"]]
    with pytest.raises(ValueError, match="Tasks `task1` and `task2` have no pair of variables"):
        clustered(tasks)


def test_clusters_of_tasks_with_tables_in_common():
    clusterer = clustered(relatedness="shared")
    table = as_distances(shared(related(), LEARNER))
    assert clusterer.relatedness_.equals(table)
    labels = clusterer.labels_
    assert {frozenset(group.index) for _, group in labels.groupby(labels)} == clusters(table, 2)


def test_clusters_share_tables_within():
    learner = MultitaskLearner(PairedPrior(0.99), table_sharing="auto", **CLIMB)
    clusterer = clustered(learner=learner)
    labels = clusterer.labels_
    for _, group in labels.groupby(labels):
        rows = {name: related()[name] for name in group.index}
        fitted = clone(learner if len(group) > 1 else SingleTaskLearner(**CLIMB)).fit(rows)
        for name in group.index:
            assert clusterer.networks_[name] == fitted.networks_[name]


def test_distances_that_cannot_be_are_refused():
    with pytest.raises(
        ValueError, match="`relatedness` must be 'direct', 'shared' or 'evidence', got"
    ):
        clustered(relatedness="indirect")
