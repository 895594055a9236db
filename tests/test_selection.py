"""Selection of tasks: the order, the number by held-out rows, and what is learned in the end."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hash_seeds import with_another_seed
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
    ReferencePrior,
    SingleTaskLearner,
)
from bnmtl.learners import held_out
from bnmtl.learners.held_out import held_out_rows, held_out_split
from bnmtl.progress import Reporter
from bnmtl.relatedness import TaskSelector, direct, indirect, shared
from bnmtl.relatedness.measures import Groups, as_distances
from bnmtl.relatedness.selection import SizeChoice
from bnmtl.tasks import Tasks, encode

pytestmark = pytest.mark.beside_kernels

LEARNER = MultitaskLearner(PairedPrior(0.99), **ONE_GROUP, **CLIMB)
CHOOSING = MultitaskLearnerCV(penalties=[0, 0.9, 1], validation=0.05, **ONE_GROUP, **CLIMB)
NAMES = ["task1", "task2", "task3", "task4"]
# Column task2 orders them task4, task1, task3; its row would have task1 first.
TABLE = pd.DataFrame(
    [[0, 2, 3, 4], [1, 0, 5, 6], [7, 3, 0, 8], [9, 1, 9, 0]], index=NAMES, columns=NAMES
)
every_learner = pytest.mark.parametrize(
    "learner", [LEARNER, CHOOSING], ids=lambda one: type(one).__name__
)


@pytest.fixture
def few_folds(monkeypatch):
    """Let "cv" be three folds instead of ten."""
    monkeypatch.setattr(held_out, "N_FOLDS", 3)


def selected(tasks=None, learner=LEARNER, principal="task2", n_tasks=2, relatedness=TABLE):
    tasks = related() if tasks is None else tasks
    return TaskSelector(learner, principal, n_tasks, relatedness).fit(tasks)


def result(selector):
    """Everything that was learned, as plain values."""
    return {
        "order": selector.order_,
        "n_tasks": selector.n_tasks_,
        "scores": selector.scores_.to_dict(),
        "relatedness": selector.relatedness_.to_numpy().tolist(),
        "arcs": arcs(selector.configuration_),
        "tables": {t: net.table("x2").ravel().tolist() for t, net in selector.networks_.items()},
    }


def held_out_mean(learner, name, test):
    return learner.networks_[name].log_likelihood(test.frame()).mean()


def test_the_order_is_that_of_the_principal_tasks_column():
    selector = selected()
    assert selector.order_ == ["task4", "task1", "task3"]
    assert sorted(selector.networks_) == ["task1", "task2", "task4"]
    assert list(selector.relatedness_.columns) == NAMES
    assert selected(relatedness=TABLE * 0).order_ == ["task1", "task3", "task4"]


@pytest.mark.parametrize(("name", "measure"), [("direct", direct), ("indirect", indirect)])
def test_the_order_may_be_measured(name, measure):
    selector = selected(relatedness=name)
    expected = measure(related(), LEARNER)
    assert np.allclose(selector.relatedness_, expected, rtol=0, atol=1e-12)
    column = expected["task2"].drop("task2")
    assert selector.order_ == sorted(column.index, key=lambda task: (column[task], task))


@every_learner
def test_no_other_task_is_single_task_learning(learner):
    selector = selected(learner=learner, n_tasks=0)
    alone = SingleTaskLearner(**CLIMB).fit({"task2": related()["task2"]})
    assert arcs(selector.configuration_) == arcs(alone.configuration_)
    assert selector.networks_ == alone.networks_
    assert isinstance(selector.learner_, SingleTaskLearner)
    assert selector.learner_.score_ == alone.score_


@every_learner
@pytest.mark.parametrize("n_tasks", [1, 2, 3])
def test_a_given_number_learns_the_nearest_together(learner, n_tasks):
    """With all of them it is multitask learning."""
    selector = selected(learner=learner, n_tasks=n_tasks)
    names = sorted(["task2", *["task4", "task1", "task3"][:n_tasks]])
    together = clone(learner).fit({name: related()[name] for name in names})
    assert list(selector.configuration_) == names
    assert arcs(selector.configuration_) == arcs(together.configuration_)
    assert selector.networks_ == together.networks_
    assert selector.learner_.score_ == together.score_
    assert selector.n_tasks_ == n_tasks
    assert selector.scores_.empty


@every_learner
@pytest.mark.parametrize("relatedness", ["direct", "table"])
def test_validation_by_hand(learner, relatedness):
    """Every number learned again from the rows that are left, without any memory."""
    tasks = encode(related())
    relatedness = TABLE if relatedness == "table" else relatedness
    selector = selected(learner=learner, n_tasks="validation", relatedness=relatedness)
    principal = Tasks([tasks["task2"]])
    (rows,) = held_out_rows(principal, 0.05, None, 0, purpose="size", at_least=10)
    assert len(rows["task2"]) == 10
    train, test = held_out_split(tasks, rows)
    if isinstance(relatedness, str):
        assert selector.relatedness_.equals(direct(train, learner))
    scores, learned = [], []
    for size in range(4):
        names = sorted(["task2", *selector.order_[:size]])
        one = clone(learner) if size else SingleTaskLearner(**CLIMB)
        learned.append(one.fit(Tasks(train[name] for name in names)))
        scores.append(held_out_mean(one, "task2", test["task2"]))
    assert selector.scores_.index.tolist() == [0, 1, 2, 3]
    assert selector.scores_.index.name == "n_tasks"
    assert selector.scores_.tolist() == pytest.approx(scores, rel=1e-12)
    assert selector.n_tasks_ == np.argmax(np.round(scores, 9))
    best = learned[selector.n_tasks_]
    assert arcs(selector.configuration_) == arcs(best.configuration_)
    for name, graph in best.configuration_.items():
        assert selector.networks_[name] == BayesNet.fit(graph, tasks[name])


def test_cross_validation_by_hand(few_folds):
    """Scores from folds of the principal task; order and structures from all rows."""
    tasks = encode(related())
    selector = selected(n_tasks="cv", relatedness="direct")
    assert selector.relatedness_.equals(direct(tasks, LEARNER))
    folds = held_out_rows(Tasks([tasks["task2"]]), None, 3, 0, purpose="size")
    scores = np.zeros(4)
    for rows in folds:
        train, test = held_out_split(tasks, rows)
        for size in range(4):
            names = sorted(["task2", *selector.order_[:size]])
            one = clone(LEARNER) if size else SingleTaskLearner(**CLIMB)
            one.fit(Tasks(train[name] for name in names))
            scores[size] += held_out_mean(one, "task2", test["task2"]) / 3
    assert selector.scores_.tolist() == pytest.approx(scores, rel=1e-12)
    assert selector.n_tasks_ == np.argmax(np.round(scores, 9))
    given = selected(n_tasks=selector.n_tasks_, relatedness="direct")
    assert arcs(selector.configuration_) == arcs(given.configuration_)
    assert selector.networks_ == given.networks_


def test_of_equally_good_numbers_the_smallest_is_taken():
    """Rounding does not decide."""
    tasks, sizes = encode(related()), pd.RangeIndex(4, name="n_tasks")
    choice = SizeChoice("cv", sizes, tasks, ["task1"], LEARNER, Reporter(False))
    scores = [-3.0, -1.0, -1.0 + 1e-12, -1.0]
    size, found = choice.best(lambda groups, test, size: scores[size])
    assert size == 1
    assert found.tolist() == pytest.approx(scores)


def test_the_penalty_is_chosen_by_separate_rows():
    """Those that choose the number of tasks are never seen by the learner."""
    selector = selected(learner=CHOOSING, n_tasks="validation")
    tasks = encode(related())
    principal = Tasks([tasks["task2"]])
    (rows,) = held_out_rows(principal, 0.05, None, 0, purpose="size", at_least=10)
    left, _ = held_out_split(tasks, rows)
    assert (left["task2"].n_rows, left["task4"].n_rows) == (140, 150)
    names = sorted(["task2", *selector.order_[: selector.n_tasks_]])
    alone = clone(CHOOSING).fit(Tasks(left[name] for name in names))
    assert selector.learner_.validation_scores_.equals(alone.validation_scores_)


def test_a_single_task_search_is_done_once_on_the_same_rows():
    events = []
    learner = clone(LEARNER).set_params(progress=events.append)
    selector = selected(learner=learner, n_tasks="validation", relatedness="direct")
    assert single_searches(events) == NAMES
    # A later fit of what it has learned with searches again.
    selector.learner_.fit(Tasks([encode(related())["task2"]]))
    assert single_searches(events) == sorted([*NAMES, "task2"])


def test_arcs_of_a_graph_are_constraints_on_groups_too():
    graph = nx.DiGraph([("x1", "x4")])
    graphs = []
    for wanted in (graph.edges, list(graph.edges)):
        learner = clone(LEARNER).set_params(required=wanted)
        graphs.append(arcs(selected(learner=learner, n_tasks=1).configuration_))
    assert graphs[0] == graphs[1] and all(("x1", "x4") in found for found in graphs[0].values())


def test_groups_of_other_rows_keep_separate_learners():
    tasks = encode(related())
    half = tasks.take({name: np.arange(task.n_rows // 2) for name, task in tasks.items()})
    learner, silent = clone(LEARNER).set_params(random_state=0), Reporter(False)
    whole = Groups(learner, tasks, tasks, silent).fitted(tasks)
    known = arcs(whole.configuration_)
    assert Groups(learner, half, tasks, silent).fitted(tasks) is not whole
    assert arcs(whole.configuration_) == known and not hasattr(learner, "configuration_")


def test_tables_may_hold_more_in_another_order_and_other_labels():
    numbered = {int(name[-1]): frame for name, frame in related().items()}
    table = TABLE.rename(index=lambda name: int(name[-1]), columns=lambda name: int(name[-1]))
    table[0] = 1.0
    table.loc[0] = [1.0] * 4 + [0.0]
    selector = TaskSelector(LEARNER, 2, 2, table.iloc[::-1]).fit(numbered)
    assert selector.order_ == ["4", "1", "3"]
    assert selector.relatedness_.to_numpy().tolist() == TABLE.to_numpy().tolist()


def graph_of(*names):
    """A graph over some of the variables."""
    graph = nx.DiGraph([("x1", "x2"), ("x5", "x3")])
    graph.add_nodes_from(["x4", "x6"])
    return nx.DiGraph(graph.subgraph(names))


EVERY, SHARED = ["x1", "x2", "x3", "x4", "x5", "x6"], ["x2", "x3", "x4", "x5"]
RARE = {("x2", "x5"): 1e-9, ("x5", "x2"): 1e-9}
# What is asked of all tasks, and what of it concerns those without x1 and x6.
PARAMETERS = {
    "required": ([("x1", "x2"), ("x5", "x3")], [("x5", "x3")]),
    "forbidden": ([("x6", "x3"), ("x2", "x5"), ("x5", "x2")], [("x2", "x5"), ("x5", "x2")]),
    "tiers": ([["x1", "x2"], ["x5", "x6"]], [["x2"], ["x5"]]),
    "arc_prior": (ArcPrior({("x1", "x2"): 0.999, **RARE}), ArcPrior(RARE)),
    "reference": tuple(ReferencePrior(graph_of(*names), 1e-30) for names in (EVERY, SHARED)),
    "start": (graph_of(*EVERY), graph_of(*SHARED)),
}


def few_share():
    """Tasks of which task2 and task4 lack x1 and x6."""
    tasks = related()
    return {**tasks, **{name: tasks[name][SHARED] for name in ("task2", "task4")}}


@pytest.mark.parametrize("by_task", [False, True], ids=["all", "by_task"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_constraints_are_cut_to_the_tasks_that_are_learned(name, by_task):
    """Given for all tasks or task by task, they equal those given for the group alone."""
    given, cut = PARAMETERS[name]
    if by_task:
        # Arcs and tiers of a task name its own variables; the graphs and priors name any.
        each = dict.fromkeys(NAMES, given if name in ("arc_prior", "reference") else cut)
        given = each if name != "start" else {task: graph_of(*SHARED) for task in NAMES}
        if name == "start":
            for graph in given.values():
                graph.add_nodes_from(EVERY)
    argument = {"arc_prior": "structure_prior", "reference": "structure_prior"}.get(name, name)
    learner = clone(LEARNER).set_params(**{argument: given})
    selector = selected(few_share(), learner, n_tasks=1)
    group = {task: few_share()[task] for task in ("task2", "task4")}
    by_hand = clone(LEARNER).set_params(**{argument: cut}).fit(group)
    assert list(selector.configuration_) == ["task2", "task4"]
    assert arcs(selector.configuration_) == arcs(by_hand.configuration_)
    assert selector.learner_.score_ == by_hand.score_
    assert selector.learner_.start_ == by_hand.start_
    unasked = arcs(clone(LEARNER).fit(group).configuration_)
    assert name == "start" or arcs(selector.configuration_) != unasked
    alone = selected(few_share(), learner, n_tasks=0)
    by_hand = SingleTaskLearner(**CLIMB | {argument: cut}).fit({"task2": group["task2"]})
    assert arcs(alone.configuration_) == arcs(by_hand.configuration_)


@every_learner
def test_penalties_of_pairs_are_cut_to_the_tasks_that_are_learned(learner):
    """Where all pairs of tasks that are left have one of their own, there is none to choose."""
    tasks = few_share()
    prior = PairedPrior(
        0.9,
        variable_penalty={("x1", "x2"): 0.5, ("x2", "x3"): 0.0},
        task_penalty={("task2", "task4"): 0.999, ("task1", "task3"): 0.5},
    )
    selector = selected(tasks, clone(learner).set_params(prior=prior), n_tasks=1)
    cut = PairedPrior(
        0.9, variable_penalty={("x2", "x3"): 0.0}, task_penalty={("task2", "task4"): 0.999}
    )
    by_hand = MultitaskLearner(cut, **ONE_GROUP, **CLIMB).fit(
        {t: tasks[t] for t in ("task2", "task4")}
    )
    assert arcs(selector.configuration_) == arcs(by_hand.configuration_)
    assert selector.learner_.score_ == by_hand.score_


def test_distances_of_tasks_mean_the_same_in_every_group():
    prior = PairedPrior(0.9, task_distance=TABLE)
    selector = selected(learner=clone(LEARNER).set_params(prior=prior), n_tasks=1)
    # d(task2, task4) = 3.5 against a median of 4.5.
    same = PairedPrior(1 - 0.1 ** (4.5 / 3.5))
    tasks = {name: related()[name] for name in ("task2", "task4")}
    by_hand = MultitaskLearner(same, **ONE_GROUP, **CLIMB).fit(tasks)
    assert selector.learner_.score_ == pytest.approx(by_hand.score_, rel=1e-12)


ARC = [("a", "b")]


@pytest.mark.parametrize("n_tasks", ["validation", "cv"])
@pytest.mark.parametrize("required", [ARC, {"north": ARC, "south": ARC}], ids=["all", "by_task"])
def test_required_arcs_stay_where_the_rows_left_do_not_vary(n_tasks, required):
    """Seed 6 holds out the only row of north in which `b` differs."""
    tasks = encode(rarely_varying())
    (rows,) = held_out_rows(Tasks([tasks["north"]]), 0.05, None, 6, "size", at_least=10)
    assert held_out_split(tasks, rows)[0]["north"].constant == ("b",)
    learner = MultitaskLearner(required=required, **ONE_GROUP, **{**CLIMB, "random_state": 6})
    selector = TaskSelector(learner, "north", n_tasks).fit(tasks)
    assert selector.configuration_["north"].has_edge("a", "b")


@pytest.mark.filterwarnings("ignore:Task `task1` has columns in which only")
def test_other_tasks_may_have_few_rows():
    """Fewer than ten rows of the principal task make fewer folds, those of other tasks do not."""
    tasks = {name: related()[name] for name in ("task1", "task2", "task4")}
    tasks["task1"] = tasks["task1"][1:9]
    wanted = [("task2", "validation", 1), ("task2", "cv", 10), ("task1", "cv", 8)]
    for principal, n_tasks, n_folds in wanted:
        events = []
        learner = MultitaskLearner(**ONE_GROUP, **CLIMB, progress=events.append)
        selected(tasks, learner, principal, n_tasks, "indirect")
        (total,) = {event.total for event in events if event.stage == "choice of n_tasks"}
        assert total == n_folds * 3
    message = '`task1` has 8 rows, and holding out 10 leaves none .*; use `n_tasks="cv"` or a num'
    with pytest.raises(ValueError, match=message):
        selected(tasks, principal="task1", n_tasks="validation")


def test_one_task_is_all_there_is():
    for relatedness in ("direct", "indirect"):
        selector = TaskSelector(LEARNER, "task1", "cv", relatedness).fit(related()["task1"])
        assert (selector.order_, selector.n_tasks_) == ([], 0)
        assert selector.relatedness_.to_numpy().tolist() == [[0]]
        assert list(selector.networks_) == ["task1"]


@pytest.mark.parametrize(
    ("order", "n_tasks"),
    [*((order, "validation") for order in ("columns", "rows", "tasks")), ("rows", "cv")],
)
def test_order_does_not_matter(few_folds, order, n_tasks):
    expected = result(selected(partial(), n_tasks=n_tasks, relatedness="direct"))
    other = selected(variants(partial())[order], n_tasks=n_tasks, relatedness="direct")
    assert result(other) == expected


@every_learner
def test_jobs_do_not_matter_and_seeds_repeat(learner):
    def fitted(**parameters):
        variant = clone(learner).set_params(**parameters)
        return result(selected(partial(), variant, n_tasks="validation", relatedness="direct"))

    assert fitted(n_jobs=3) == fitted()
    drawn = fitted(random_state=np.random.default_rng(1))
    assert drawn == fitted(random_state=int(np.random.default_rng(1).integers(2**63)))


def plain():
    """Everything as plain values."""
    return result(selected(partial(), CHOOSING, n_tasks="validation", relatedness="indirect"))


def test_the_hash_seed_does_not_matter():
    code = "import json, test_selection as t; print(json.dumps(t.plain()))"
    assert json.loads(with_another_seed(code)) == json.loads(json.dumps(plain()))


def test_inputs_stay_as_they_are():
    tasks, table = related(), TABLE.copy()
    learner = MultitaskLearner(PairedPrior(0.3), **ONE_GROUP, **CLIMB)
    before = learner.get_params()
    selector = TaskSelector(learner, "task2", 1, table)
    selector.fit(tasks)
    assert all(frame.equals(related()[name]) for name, frame in tasks.items())
    assert learner.get_params() == before
    assert not [name for name in vars(learner) if name.endswith("_")]
    assert table.equals(TABLE)
    assert selector.get_params(deep=False)["learner"] is learner


class Recorder:
    """Keeps events; a copy would keep its own."""

    def __init__(self):
        self.events = []

    def __call__(self, event):
        self.events.append(event)


def test_progress_reports_the_searches_and_the_choice():
    learner = MultitaskLearner(**ONE_GROUP, **CLIMB, progress=Recorder())
    selected(learner=learner, n_tasks="validation")
    choice = [event for event in learner.progress.events if event.stage == "choice of n_tasks"]
    assert [event.done for event in choice] == [1, 2, 3, 4]
    assert {event.total for event in choice} == {4}
    assert "single-task" in {event.stage for event in learner.progress.events}


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"learner": SingleTaskLearner()}, TypeError, "`learner` must be a MultitaskLearner or"),
        ({"principal": "task9"}, ValueError, "`principal` must be one of the tasks `task1`,"),
        ({"n_tasks": 4}, ValueError, "`n_tasks` must be .* from 0 to 3, got 4"),
        ({"n_tasks": -1}, ValueError, "`n_tasks` must be .* from 0 to 3, got -1"),
        ({"n_tasks": "all"}, ValueError, "`n_tasks` must be .*, got 'all'"),
        ({"n_tasks": 1.0}, ValueError, "`n_tasks` must be .*, got 1.0"),
        ({"n_tasks": True}, TypeError, "`n_tasks` must be .*, got True"),
        (
            {"relatedness": "near"},
            ValueError,
            "`relatedness` must be 'direct', 'indirect', 'shared' or 'evidence', got .*; or give",
        ),
        ({"relatedness": TABLE.drop(index="task3")}, ValueError, "must have one row and one colu"),
        (
            {"relatedness": TABLE.drop(index="task3", columns="task3")},
            ValueError,
            "`relatedness` must have a row and a column for every task; `task3` is missing",
        ),
        ({"relatedness": pd.concat([TABLE, TABLE])}, ValueError, "must have one row and one"),
        (
            {"relatedness": TABLE.astype(str)},
            ValueError,
            "`relatedness` must hold finite numbers; row `task1`, column `task1` is '",
        ),
        ({"relatedness": TABLE / TABLE}, ValueError, "must hold finite numbers; row `task1`, c"),
        ({"relatedness": 1 - TABLE}, ValueError, "`relatedness` must be 0 on the diagonal; it is"),
        ({"required": [("x1", "far")]}, ValueError, "`required` holds the arc x1 -> far, but"),
        ({"tiers": [["far"]]}, ValueError, "`tiers` names the unknown variable `far`"),
        (
            {"start": nx.DiGraph([("x1", "far")])},
            ValueError,
            "`start` names the unknown variable `far`",
        ),
        ({"start": "random"}, ValueError, "`start` must be 'single-task', 'identical'"),
        (
            {"structure_prior": ArcPrior({("x1", "far"): 0.5})},
            ValueError,
            "`structure_prior` na",
        ),
        (
            {"parameter_sample_size": 0, "n_tasks": "cv"},
            ValueError,
            "`parameter_sample_size` must be above 0 where held-out rows",
        ),
        (
            {"parameter_sample_size": 0, "relatedness": "indirect"},
            ValueError,
            "`parameter_sample_size` must be above 0 where held-out rows",
        ),
        ({"prior": PairedPrior(2)}, ValueError, "`penalty` must be a number from 0 to 1, got 2"),
        (
            {"prior": PairedPrior(variable_penalty={("x1", "far"): 1})},
            ValueError,
            "names the unknown vari",
        ),
        ({"search": "magic"}, ValueError, "`search` must be 'orders', 'hill-climbing' or"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_selected_is_refused_before_the_search(parameters, error, words):
    rest, events = dict(parameters), []
    given = {k: rest.pop(k) for k in ("principal", "n_tasks", "relatedness") if k in rest}
    learner = rest.pop("learner", None) or clone(LEARNER).set_params(**rest)
    with pytest.raises(error, match=words):
        selected(learner=learner.set_params(progress=events.append), **{"n_tasks": 0, **given})
    assert not events


def test_tables_in_common_tell_near_from_far():
    selector = selected(relatedness="shared")
    table = shared(related(), MultitaskLearner(PairedPrior(0.99), **ONE_GROUP, **CLIMB))
    assert selector.relatedness_.equals(as_distances(table))
    column = selector.relatedness_["task2"].drop("task2")
    assert selector.order_ == list(column.sort_values(kind="stable").index)


@pytest.mark.parametrize("n_tasks", [2, "cv"])
def test_selected_tasks_share_tables(few_folds, n_tasks):
    sharing = {"table_sharing": "auto", "task_groups": None}
    learner = MultitaskLearner(PairedPrior(0.99), **sharing, **CLIMB)
    selector = selected(learner=learner, n_tasks=n_tasks)
    by_hand = clone(learner).fit({name: related()[name] for name in selector.configuration_})
    assert arcs(selector.configuration_) == arcs(by_hand.configuration_)
    for name, network in selector.networks_.items():
        assert network == by_hand.networks_[name]
