"""The choice of the penalty by held-out rows."""

import itertools
import warnings

import naive_couplings
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import quick_search
from sklearn.base import BaseEstimator, clone
from small import CLIMB, ONE_GROUP, arcs, related

from bnmtl import (
    BayesNet,
    EditPrior,
    MultitaskLearner,
    MultitaskLearnerCV,
    Orders,
    PairedPrior,
    structures,
)
from bnmtl.learners import compare
from bnmtl.learners.held_out import held_out_rows, held_out_split
from bnmtl.learners.validated import DEFAULT_PENALTIES, chosen_penalty
from bnmtl.metrics import edit_distance
from bnmtl.networks import fit_networks
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

QUICK = quick_search()
ONE_ORDER = Orders(starts=1, iterations=0)
GRID = [0, 0.9, 0.999, 1]
PAIRS = list(itertools.combinations(sorted({*structures.load("asia").variables} - {"asia"}), 2))


@pytest.fixture(scope="module")
def tasks():
    asia = structures.load("asia")
    return {
        name: asia.sample(size, random_state=size).drop(columns="asia")
        for name, size in {"north": 210, "south": 333}.items()
    }


def test_the_default_grid_is_log_spaced_and_ends_at_independence_and_identity():
    gaps = [1 - penalty for penalty in DEFAULT_PENALTIES]
    assert gaps[:2] == [1, 0.5]
    assert gaps[-1] == 0
    assert np.log10(gaps[2:-1]).round(3).tolist() == pytest.approx(-np.arange(1, 13), abs=1e-3)


def test_validation_keeps_the_structures_of_the_training_rows(tasks):
    """The thesis's wrapper by hand: split, learn at each penalty, take the best, refit tables."""
    learner = MultitaskLearnerCV(penalties=GRID, validation=0.05, **ONE_GROUP, **QUICK).fit(tasks)
    encoded = encode(tasks)
    (held_out,) = held_out_rows(encoded, 0.05, None, 0)
    assert {name: len(rows) for name, rows in held_out.items()} == {"north": 11, "south": 17}
    train = {
        name: np.setdiff1d(np.arange(task.n_rows), held_out[name]) for name, task in encoded.items()
    }
    scores, structures_by_penalty = {}, {}
    for penalty in GRID:
        one = MultitaskLearner(PairedPrior(penalty), **ONE_GROUP, **QUICK).fit(encoded.take(train))
        structures_by_penalty[penalty] = one.configuration_
        scores[penalty] = np.mean(
            [
                one.networks_[name].log_likelihood(task.frame()).mean()
                for name, task in encoded.take(held_out).items()
            ]
        )
    assert learner.validation_scores_.to_dict() == pytest.approx(scores)
    best = max(GRID, key=lambda penalty: (scores[penalty], penalty))
    assert learner.penalty_ == best
    for name, graph in learner.configuration_.items():
        assert set(graph.edges) == set(structures_by_penalty[best][name].edges)
    assert learner.networks_ == fit_networks(learner.configuration_, encoded, sharing=None)


def test_the_score_is_that_of_the_chosen_configuration_on_all_rows(tasks):
    learner = MultitaskLearnerCV(penalties=GRID, validation=0.05, **ONE_GROUP, **QUICK).fit(tasks)
    again = MultitaskLearner(
        PairedPrior(learner.penalty_), start=learner.configuration_, **ONE_GROUP, **QUICK
    ).fit(tasks)
    # From there the greedy can only climb.
    assert again.score_ >= learner.score_ - 1e-9
    expected = learner.task_scores_.sum() + PairedPrior(learner.penalty_).log_prior(
        learner.configuration_
    )
    assert learner.score_ == pytest.approx(expected, rel=1e-12)


def test_equally_good_penalties_give_way_to_the_largest():
    """Columns without any dependence: every penalty learns the empty graphs."""
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame(rng.integers(0, 2, (400, 3)), columns=list("abc")) for _ in range(2)]
    learner = MultitaskLearnerCV(
        penalties=[0, 0.9, 0.5], validation=0.05, **ONE_GROUP, **QUICK
    ).fit(frames)
    assert learner.validation_scores_.nunique() == 1
    assert learner.penalty_ == 0.9


def test_the_best_penalty_wins_and_rounding_does_not_decide():
    """Of equally good ones the first, which is the largest."""
    scores = np.array([-2.0, -1.0, -1.0 + 1e-12, -3.0])[:, None]
    assert chosen_penalty(scores) == 1
    assert chosen_penalty(scores[[0, 2, 3]]) == 1
    assert chosen_penalty(scores + np.array([[0], [0], [1e-6], [0]])) == 2


def tasks_of_a_rare_value(columns):
    """Two tasks, in one of which a single row has the other value of `b`.

    Also seeds by whether they hold that row out of validation by a twentieth of the rows.
    """
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 40)
    north = pd.DataFrame({"a": a, "b": a, "c": rng.integers(0, 2, 40)})[columns]
    tasks = {"north": north, "south": north.assign(b=(np.arange(40) == 7).astype(int))}
    encoded, seeds = encode(tasks), {}
    for seed in range(100):
        (rows,) = held_out_rows(encoded, 0.05, None, seed)
        seeds.setdefault(7 in rows["south"], seed)
    assert seeds.keys() == {True, False}
    return tasks, seeds


def test_a_column_that_is_constant_in_the_training_rows_took_no_part():
    """The only other value of `b` is held out, so the task could not agree at penalty 1."""
    tasks, seeds = tasks_of_a_rare_value(["a", "b", "c"])
    learner = MultitaskLearnerCV(
        penalties=[1], **ONE_GROUP, validation=0.05, search=ONE_ORDER, random_state=seeds[True]
    ).fit(tasks)
    n_arcs = {task: graph.number_of_edges() for task, graph in learner.configuration_.items()}
    assert n_arcs == {"north": 1, "south": 0}
    assert learner.score_ == pytest.approx(learner.task_scores_.sum())


def test_cross_validation_holds_every_row_out_once_and_refits(tasks):
    learner = MultitaskLearnerCV(penalties=GRID, cv=3, **ONE_GROUP, **QUICK)
    encoded = encode(tasks)
    folds = held_out_rows(encoded, None, 3, 0)
    assert len(folds) == 3
    for name, task in encoded.items():
        rows = np.concatenate([fold[name] for fold in folds])
        assert sorted(rows) == list(range(task.n_rows))
    learner.fit(tasks)
    refit = MultitaskLearner(PairedPrior(learner.penalty_), **ONE_GROUP, **QUICK).fit(tasks)
    for name, graph in refit.configuration_.items():
        assert set(graph.edges) == set(learner.configuration_[name].edges)
    assert learner.score_ == refit.score_
    assert learner.validation_scores_.index.tolist() == GRID


def test_the_split_follows_the_rows_not_their_order(tasks):
    frame = tasks["north"]
    one, other = (encode({"north": rows}) for rows in (frame, frame.sample(frac=1, random_state=1)))

    def held_out(encoded, seed):
        (rows,) = held_out_rows(encoded, 0.05, None, seed)
        return sorted(map(tuple, encoded["north"].codes[:, rows["north"]].T.tolist()))

    assert held_out(one, 5) == held_out(other, 5)
    assert held_out(one, 6) != held_out(one, 5)


@pytest.mark.slow_without_jit
def test_other_priors_lend_their_kind(tasks):
    learner = MultitaskLearnerCV(
        EditPrior(reversal=2), penalties=[0.5, 0.9], cv=2, **ONE_GROUP, **QUICK
    ).fit(tasks)
    assert learner.penalty_ in (0.5, 0.9)
    assert learner.prior.penalty == EditPrior().penalty


def test_one_task_is_searched_once(tasks):
    """There is nothing to share, whatever the penalty, so no other start is searched."""
    events = []
    learner = MultitaskLearnerCV(penalties=GRID, progress=events.append, **ONE_GROUP, **QUICK)
    learner.fit({"north": tasks["north"]})
    stages = {event.stage for event in events if event.done > 0}
    assert stages == {"single-task", "penalties", "folds"}


def test_progress_counts_the_grid(tasks):
    events = []
    learner = MultitaskLearnerCV(penalties=GRID, cv=2, progress=events.append, **ONE_GROUP, **QUICK)
    learner.fit(tasks)
    grid = [event for event in events if event.stage == "penalties"]
    assert [event.done for event in grid] == [1, 2, 3, 4]
    assert {event.total for event in grid} == {4}


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        (
            {"validation": 0.1, "cv": 5},
            ValueError,
            "`validation` and `cv` must not both .* are 0.1",
        ),
        (
            {"validation": "anterior"},
            TypeError,
            "below 1, got 'anterior'; `validation='post",
        ),
        ({"validation": 0}, ValueError, "`validation` must be None or a number above 0"),
        ({"validation": 1.0}, ValueError, "`validation` must be None or a number above 0"),
        ({"cv": 1}, ValueError, "`cv` must be None or a whole number of at least 2, got 1"),
        ({"cv": 3000}, ValueError, "`cv` must not be more than the .* rows of the task, got 3000"),
        (
            {"validation": 0.999},
            ValueError,
            "`north` has 210 rows, and holding out 210 leaves",
        ),
        ({"penalties": []}, ValueError, "at least one penalty"),
        ({"penalties": 0.5}, TypeError, "`penalties` must be a sequence of numbers"),
        ({"penalties": "abc"}, TypeError, "`penalties` must be a sequence of numbers"),
        ({"penalties": "01"}, TypeError, "`penalties` must be a sequence of numbers"),
        pytest.param(
            *({"penalties": iter([0, 1])}, TypeError, "`penalties` must be a sequence of numbers"),
            id="iterator",
        ),
        ({"parameter_sample_size": 0}, ValueError, "`parameter_sample_size` must be above 0 wh"),
        (
            {"prior": PairedPrior(task_penalty={("north", "south"): 0.5})},
            ValueError,
            "there is none to choose",
        ),
        pytest.param(
            {"prior": EditPrior(variable_penalty=dict.fromkeys(PAIRS, 0.5))},
            ValueError,
            "`variable_penalty` gives every pair its own penalty",
            id="all pairs",
        ),
        ({"penalties": [0.5, 2]}, ValueError, "`penalties` must be .* from 0 to 1 or None, got 2"),
        ({"penalties": [0.5, np.nan]}, ValueError, "`penalties` must be .* or None, got nan"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(parameters, error, words, tasks):
    with pytest.raises(error, match=words):
        MultitaskLearnerCV(**ONE_GROUP, **parameters, search=Orders(starts=1, iterations=0)).fit(
            tasks
        )


def test_penalties_that_contradict_constraints_leave_the_default_grid(tasks):
    constraints = {"required": {"north": [("smoke", "xray")], "south": [("xray", "smoke")]}}
    learner = MultitaskLearnerCV(cv=2, **ONE_GROUP, **constraints, **QUICK).fit(tasks)
    assert 1.0 not in learner.validation_scores_.index
    assert len(learner.validation_scores_) == len(DEFAULT_PENALTIES) - 1
    assert learner.configuration_["north"].has_edge("smoke", "xray")
    assert learner.configuration_["south"].has_edge("xray", "smoke")
    with pytest.raises(ValueError, match="between smoke and xray"):
        MultitaskLearnerCV(penalties=[0.5, 1], **ONE_GROUP, **constraints, **QUICK).fit(tasks)


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("start", [None, "identical"])
@pytest.mark.parametrize("required", [[("a", "b")], {"south": [("a", "b")]}])
def test_a_required_arc_stays_where_the_training_rows_do_not_vary(required, start):
    """The only row in which `b` differs is held out for one of the seeds."""
    tasks, seeds = tasks_of_a_rare_value(["a", "b", "c"])
    for seed in seeds.values():
        learner = MultitaskLearnerCV(
            penalties=[0.9],
            validation=0.05,
            required=required,
            start=start,
            search=ONE_ORDER,
            random_state=seed,
            **ONE_GROUP,
        ).fit(tasks)
        assert learner.configuration_["south"].has_edge("a", "b")


def test_given_starts_are_cut_to_what_the_training_rows_allow():
    tasks, seeds = tasks_of_a_rare_value(["a", "b"])
    for is_held_out, seed in seeds.items():
        learner = MultitaskLearnerCV(
            penalties=[1],
            validation=0.05,
            start=nx.DiGraph([("a", "b")]),
            search=ONE_ORDER,
            random_state=seed,
            **ONE_GROUP,
        ).fit(tasks)
        kept = [graph.number_of_edges() for graph in learner.configuration_.values()]
        assert kept == [1, 0 if is_held_out else 1]


def test_a_coupling_without_a_penalty_is_refused(tasks):
    class Mine:
        def log_coupling(self, states, pair=None, tasks=None):
            return 0.0

    with pytest.raises(TypeError, match="must have a `penalty` to choose"):
        MultitaskLearnerCV(Mine(), search=Orders(starts=1, iterations=0)).fit(tasks)


@pytest.mark.slow_without_jit
def test_shared_orders_at_every_penalty_and_in_several_threads():
    asia = structures.load("asia")
    rows = [asia.sample(100, random_state=seed) for seed in range(3)]
    rows = [frame[:40] for frame in rows]
    learner = MultitaskLearnerCV(penalties=[0, 0.9, 1], start="orders", **ONE_GROUP, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        serial = clone(learner).fit(rows)
        parallel = clone(learner).set_params(n_jobs=3).fit(rows)
        with pytest.raises(ValueError, match="`start` 'orders' needs a PairedPrior or EditPrior"):
            unequal = PairedPrior(task_penalty={("task1", "task2"): 0.5})
            clone(learner).set_params(prior=unequal).fit(rows)
    assert set(serial.start_scores_) <= {"orders", "single-task"}
    assert parallel.score_ == serial.score_
    assert parallel.validation_scores_.equals(serial.validation_scores_)


@pytest.mark.parametrize(
    "how", [{}, {"cv": 4}, {"validation": 0.2}, {"validation": "posterior"}], ids=str
)
def test_one_way_of_choosing_is_enough(how, tasks):
    learner = MultitaskLearnerCV(penalties=GRID, **ONE_GROUP, **how, **QUICK).fit(tasks)
    scores = learner.validation_scores_
    assert scores.index.tolist() == GRID
    assert learner.penalty_ == max(GRID, key=lambda penalty: (round(scores[penalty], 9), penalty))


def folds_of(learner):
    """Held-out rows by task of each fold of a fit, as `compare` shows them."""
    parts = compare(learner, learner.tasks_).groupby("fold")
    return [
        {name: rows["row"].to_numpy() for name, rows in part.groupby("task", observed=True)}
        for _, part in parts
    ]


@pytest.mark.slow_without_jit
def test_by_default_every_row_is_held_out_once_in_ten_folds():
    """The structures of a fold come from its own training rows; the result from all rows."""
    grid, rows = [0.5, 0.999, 1], dict(list(related().items())[:2])
    learner = MultitaskLearnerCV(penalties=grid, **ONE_GROUP, **CLIMB).fit(rows)
    folds = folds_of(learner)
    assert len(folds) == 10
    encoded, scores = learner.tasks_, dict.fromkeys(grid, 0.0)
    for name, task in encoded.items():
        assert sorted(np.concatenate([fold[name] for fold in folds])) == list(range(task.n_rows))
    for fold in folds:
        train, test = held_out_split(encoded, fold)
        for penalty, again in naive_couplings.greedy_path(train, grid, **CLIMB).items():
            means = [
                network.log_likelihood(test[name].frame()).mean()
                for name, network in again.networks_.items()
            ]
            scores[penalty] += np.mean(means) / 10
    assert learner.validation_scores_.to_dict() == pytest.approx(scores, rel=1e-12)
    assert learner.penalty_ == max(grid, key=lambda penalty: (round(scores[penalty], 9), penalty))
    refit = MultitaskLearner(PairedPrior(learner.penalty_), **ONE_GROUP, **CLIMB).fit(rows)
    assert learner.score_ >= refit.score_ - 1e-9
    for name, graph in learner.configuration_.items():
        assert learner.networks_[name] == BayesNet.fit(graph, encoded[name])


@pytest.mark.slow_without_jit
@pytest.mark.filterwarnings("ignore:Task `task1`. only one state")
@pytest.mark.parametrize("n_rows", [2, 3, 7])
def test_tasks_of_fewer_rows_than_folds_are_left_one_row_out(n_rows):
    rows = {name: related()[name] for name in ("task1", "task2")}
    rows["task1"] = rows["task1"][:n_rows]
    learner = MultitaskLearnerCV(penalties=[0, 0.9], **ONE_GROUP, **CLIMB).fit(rows)
    folds = folds_of(learner)
    assert [len(fold.get("task1", ())) for fold in folds] == [1] * n_rows + [0] * (10 - n_rows)
    for name, n in (("task1", n_rows), ("task2", 150)):
        rows_of = [fold[name] for fold in folds if name in fold]
        assert sorted(np.concatenate(rows_of)) == list(range(n))
    assert np.isfinite(learner.validation_scores_).all()


class Flat(BaseEstimator):
    """A coupling of one's own that is the Paired prior."""

    def __init__(self, penalty=0.9):
        self.penalty = penalty

    def log_coupling(self, states, pair=None, tasks=None):
        return PairedPrior(self.penalty).log_coupling(states)


def test_a_custom_coupling_may_have_a_penalty_to_choose():
    mine, ours = (
        MultitaskLearnerCV(prior, penalties=[0.5, 0.9], cv=2, **ONE_GROUP, **CLIMB).fit(related())
        for prior in (Flat(), PairedPrior())
    )
    assert mine.validation_scores_.tolist() == pytest.approx(ours.validation_scores_.tolist())
    assert mine.penalty_ == ours.penalty_


NAMES = ["task1", "task2", "task3", "task4"]
# d(1, 2) = 1, d(3, 4) = 1, the others 4, which is the median.
NEAR = pd.DataFrame(
    [[0, 1, 4, 4], [1, 0, 4, 4], [4, 4, 0, 1], [4, 4, 1, 0]], index=NAMES, columns=NAMES
)


@pytest.mark.parametrize("reversal", [1, 2])
def test_close_tasks_share_more_than_far_ones(reversal):
    """As with the penalties 1 - (1 - penalty)^(median / distance) listed by hand."""
    prior = PairedPrior(0.9, reversal, task_distance=NEAR)
    pairs = {("task1", "task2"): 1 - 0.1**4, ("task3", "task4"): 1 - 0.1**4}
    listed = PairedPrior(0.9, reversal, task_penalty=pairs)
    learned = MultitaskLearner(prior, **ONE_GROUP, **CLIMB).fit(related())
    by_hand = MultitaskLearner(listed, **ONE_GROUP, **CLIMB).fit(related())
    assert arcs(learned.configuration_) == arcs(by_hand.configuration_)
    assert learned.score_ == pytest.approx(by_hand.score_, rel=1e-12)
    assert learned.score_ == pytest.approx(
        learned.task_scores_.sum() + prior.log_prior(learned.configuration_), rel=1e-12
    )
    plain = MultitaskLearner(PairedPrior(0.9, reversal), **ONE_GROUP, **CLIMB).fit(related())
    near = [["task1", "task2"], ["task3", "task4"]]
    edits = {
        one: sum(
            edit_distance(one.configuration_[s], one.configuration_[t], reversal) for s, t in near
        )
        for one in (learned, plain)
    }
    assert edits[learned] < edits[plain]


@pytest.mark.parametrize("reversal", [1, 2])
def test_equal_distances_change_nothing(reversal):
    table = pd.DataFrame(3 * (1 - np.eye(4)), index=NAMES, columns=NAMES)
    prior = PairedPrior(0.9, reversal, task_distance=table)
    equal = MultitaskLearner(prior, **ONE_GROUP, **CLIMB).fit(related())
    plain = MultitaskLearner(PairedPrior(0.9, reversal), **ONE_GROUP, **CLIMB).fit(related())
    assert arcs(equal.configuration_) == arcs(plain.configuration_)
    assert equal.score_ == pytest.approx(plain.score_, rel=1e-12)
    grid = {"penalties": [0, 0.5, 0.99, 1], "validation": 0.1}
    chosen = MultitaskLearnerCV(prior, **ONE_GROUP, **grid, **CLIMB).fit(related())
    plain = MultitaskLearnerCV(PairedPrior(0.9, reversal), **ONE_GROUP, **grid, **CLIMB).fit(
        related()
    )
    assert chosen.validation_scores_.to_dict() == pytest.approx(plain.validation_scores_.to_dict())
    assert chosen.penalty_ == plain.penalty_


def test_distances_of_the_tasks_at_hand_must_all_be_there():
    """Others may be in the table too: they belong to its median."""
    few = {name: related()[name] for name in NAMES[:3]}
    learned = MultitaskLearner(PairedPrior(0.9, task_distance=NEAR), **ONE_GROUP, **CLIMB).fit(few)
    listed = PairedPrior(0.9, task_penalty={("task1", "task2"): 1 - 0.1**4})
    by_hand = MultitaskLearner(listed, **ONE_GROUP, **CLIMB).fit(few)
    assert learned.score_ == pytest.approx(by_hand.score_, rel=1e-12)
    lacking = NEAR.drop(index="task2", columns="task2")
    for kind in (MultitaskLearner, MultitaskLearnerCV):
        with pytest.raises(
            ValueError, match="`task_distance` must contain all tasks; `task2` is mis"
        ):
            kind(PairedPrior(task_distance=lacking), **CLIMB).fit(few)
    # With one task there is nothing to share.
    MultitaskLearner(PairedPrior(task_distance=NEAR), **ONE_GROUP, **CLIMB).fit(
        {"other": related()["task1"]}
    )


@pytest.mark.parametrize(
    "prior",
    [PairedPrior(0, task_distance=NEAR), PairedPrior(1, task_distance=NEAR)],
    ids=["apart", "identical"],
)
def test_distances_change_nothing_at_the_ends(prior):
    learned = MultitaskLearner(prior, **ONE_GROUP, **CLIMB).fit(related())
    plain = MultitaskLearner(PairedPrior(prior.penalty), **ONE_GROUP, **CLIMB).fit(related())
    assert arcs(learned.configuration_) == arcs(plain.configuration_)
    assert learned.score_ == pytest.approx(plain.score_, rel=1e-12)
