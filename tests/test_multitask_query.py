"""Queries for several tasks: utilities by hand, costs, several columns of labels, new tasks."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
from naive_active import spread
from sklearn.base import clone

from bnmtl import HillClimbing, MultitaskLearner, structures
from bnmtl.active import MultitaskQuery
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.errors import InputError, InputTypeError
from bnmtl.seeding import generator, with_seed

pytestmark = pytest.mark.beside_kernels
LEARNER = MultitaskLearner(search=HillClimbing(restarts=0), task_groups=None)
ESTIMATOR = MultitaskBayesNetClassifier(learner=LEARNER)
SMALL = MultitaskQuery(ESTIMATOR, n_members=3, random_state=0, draws=False)


def regions(n=90, n_labeled=60):
    """Cases of two regions; labels of the last rows are missing."""
    cases = structures.load("asia").sample(n, random_state=0).astype(str)
    y = cases.pop("dysp").where(np.arange(n) < n_labeled)
    return cases[["smoke", "bronc", "lung", "xray"]], y, np.array(["north", "south"] * (n // 2))


@functools.cache
def small_committee():
    """A committee of all labeled rows; tests do not change it."""
    return SMALL.committee().fit(*regions())


def members_by_hand(X, labels, task, targets, seed=0):
    """Predictions for all rows by three members: one list per column of labels."""
    known = labels.notna().all(axis=1).to_numpy()
    found = [[] for _ in targets]
    for number in range(3):
        frames = {}
        for name in sorted(set(task[known])):
            part = pd.concat([X, labels], axis=1)[known & (task == name)]
            rng = generator(seed, "bootstrap", number, name)
            frames[name] = part.iloc[rng.integers(len(part), size=len(part))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = int(generator(seed, "member", number).integers(2**31 - 1))
            networks = clone(LEARNER).set_params(random_state=drawn).fit(frames).networks_
        for at, target in enumerate(targets):
            model = MultitaskBayesNetClassifier.from_networks(
                networks, target, task_column="region", unseen="ignore"
            )
            found[at].append(model.predict_proba(X.assign(region=task)))
    return found


class Foreseen:
    """A committee of three members with the given probabilities of all rows."""

    targets_ = ("dysp",)

    def __init__(self, p):
        self.p = p

    def member_probabilities(self, X, task, target):
        return self.p[:, X.index]


def test_cases_are_drawn_in_proportion_to_their_utilities():
    X, y, task = regions()
    apart = np.arange(90) % 5 / 10 + 0.1
    yes = 0.5 + np.stack([0 * apart, apart, -apart])
    committee, n = Foreseen(np.stack([1 - yes, yes], axis=2)), 200
    some = {"candidates": [60, 61, 62, 63, 64]}
    _, found = SMALL.query(X, y, task, **some, return_utilities=True, committee=committee)
    counts = np.zeros(len(X))
    for seed in range(n):
        query = MultitaskQuery(n_members=3, random_state=seed)
        (row,) = query.query(X, y, task, **some, committee=committee)
        counts[row] += 1
    shares = np.nan_to_num(found[0]) / np.nansum(found[0])
    assert counts[60:65].sum() == n
    # Four standard errors; equal shares and those of squares are further away.
    errors = 4 * np.sqrt(shares * (1 - shares) / n) + 1e-9
    assert (np.abs(counts / n - shares) < errors).all()
    for other in (1 / 5, shares**2 / (shares**2).sum()):
        assert (np.abs(other - shares) > errors)[60:65].any()
    query = MultitaskQuery(n_members=3, random_state=0)
    rows, by_pick = query.query(X, y, task, None, 5, return_utilities=True, committee=committee)
    assert len(set(rows)) == 5 and np.isnan(by_pick[4, rows[:4]]).all()
    again = query.query(X, y, task, batch_size=5, committee=committee)
    assert again.tolist() == rows.tolist()


def test_members_are_found_by_a_single_climb(monkeypatch):
    learners, fit = [], MultitaskLearner.fit

    def spied(self, tasks):
        learners.append(clone(self))
        return fit(self.set_params(task_groups=None), tasks)

    monkeypatch.setattr(MultitaskLearner, "fit", spied)
    MultitaskQuery(n_members=3, random_state=0).committee().fit(*regions())
    assert [repr(learner.search) for learner in learners] == ["HillClimbing(restarts=0)"] * 3
    default = MultitaskLearner(search=learners[0].search, random_state=learners[0].random_state)
    assert repr(learners[0]) == repr(default)
    given = MultitaskBayesNetClassifier(learner=MultitaskLearner(search="hill-climbing"))
    MultitaskQuery(given, n_members=2).committee().fit(*regions())
    assert [learner.search for learner in learners[3:]] == ["hill-climbing"] * 2


@pytest.fixture(scope="module")
def members():
    """Predictions of one column of labels, by hand."""
    X, y, task = regions()
    (found,) = members_by_hand(X, pd.DataFrame({"dysp": pd.Categorical(y)}), task, ["dysp"])
    return found


def test_the_utility_is_the_disagreement_of_networks_learned_together(members):
    X, y, task = regions()
    before = X.copy()
    rows, found = SMALL.query(X, y, task, batch_size=4, return_utilities=True)
    pd.testing.assert_frame_equal(X, before)
    again = SMALL.query(X, y, task, None, 4, return_utilities=True, committee=small_committee())
    assert np.array_equal(again[1], found, equal_nan=True)
    assert again[0].tolist() == rows.tolist()
    expected = [spread(np.array(members), case, np.ones(3)) for case in range(60, 90)]
    np.testing.assert_allclose(found[0, 60:], expected, atol=1e-12)
    assert max(expected) > 0.001
    assert np.isnan(found[:, :60]).all()
    assert sorted(found[0, rows], reverse=True) == found[0, rows].tolist()
    assert found[0, rows[0]] == np.nanmax(found)


def test_several_columns_of_labels_weigh_the_same():
    X, y, task = regions()
    y = pd.DataFrame({"dysp": y, "xray": X.pop("xray").where(y.notna())})
    _, found = SMALL.query(X, y, task, return_utilities=True)
    members = members_by_hand(X, y.apply(pd.Categorical), task, ["dysp", "xray"])
    each = np.array(
        [
            [spread(np.array(member), case, np.ones(3)) for case in range(60, 90)]
            for member in members
        ]
    )
    expected = (each / each.mean(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(found[0, 60:], expected, atol=1e-10)


@pytest.mark.filterwarnings("error")
def test_other_labels_of_a_row_are_unknown_without_a_warning():
    X, y, task = regions()
    y = pd.DataFrame({"dysp": y, "bronc": X.pop("bronc").where(y.notna())})
    assert len(SMALL.query(X, y, task)) == 1


def test_a_row_without_one_of_its_labels_can_be_asked_for():
    X, y, task = regions()
    y = pd.DataFrame({"dysp": y, "xray": X.pop("xray").where(y.notna())})
    y.loc[3, "xray"] = None
    rows = SMALL.query(X, y, task, candidates=[3])
    assert rows.tolist() == [3]


def test_costs_divide_the_utility():
    X, y, task = regions()
    options = {"return_utilities": True, "committee": small_committee()}
    _, free = SMALL.query(X, y, task, **options)
    _, found = SMALL.query(X, y, task, cost={"north": 2, "south": 0.5}, **options)
    np.testing.assert_allclose(found[0], free[0] / np.where(task == "north", 2, 0.5))
    each = np.arange(1, 91)
    _, found = SMALL.query(X, y, task, cost=each, **options)
    np.testing.assert_allclose(found[0], free[0] / each)


def test_a_task_without_labels_is_judged_by_the_networks_of_the_others():
    X, y, task = regions()
    task = task.copy()
    task[80:] = "west"
    _, found = SMALL.query(X, y, task, return_utilities=True)
    labels = pd.DataFrame({"dysp": pd.Categorical(y)})
    both = []
    for name in ("north", "south"):
        asked = np.where(task == "west", name, task)
        (members,) = members_by_hand(X, labels, asked, ["dysp"])
        both += members
    expected = [spread(np.array(both), case, np.ones(6)) for case in range(60, 90)]
    np.testing.assert_allclose(found[0, 60:], expected, atol=1e-12)


def test_a_task_with_one_label_has_no_network():
    X, y, task = regions()
    task = task.copy()
    task[[10, *range(80, 90)]] = "west"
    committee = SMALL.committee().fit(X, y, task)
    assert set(committee.members_[0]) == {"north", "south"}
    assert committee.member_probabilities(X[80:], task[80:]).shape == (6, 10, 2)
    with pytest.raises(InputError, match="two labels"):
        SMALL.committee().fit(X, y, np.arange(90))


def test_members_predict_as_their_networks(members):
    X, _, task = regions()
    committee = small_committee()
    assert committee.classes_["dysp"].tolist() == ["no", "yes"]
    np.testing.assert_allclose(committee.member_probabilities(X, task), members, atol=1e-12)


def test_probabilities_are_in_the_order_of_the_classes():
    X = pd.DataFrame({"wet": ["no"] * 20 + ["yes"] * 20})
    y = pd.Series([2] * 20 + [10] * 20, name="kind")  # "10" is before "2"
    committee = SMALL.committee().fit(X, y, ["north"] * 40)
    assert committee.classes_["kind"].tolist() == [2, 10]
    p = committee.member_probabilities(X, ["north"] * 40).mean(axis=0)
    assert (p[:20, 0] > 0.8).all()
    assert (p[20:, 1] > 0.8).all()


def test_a_class_that_a_bootstrap_lacks_has_no_probability():
    X = pd.DataFrame({"wet": ["no", "yes"] * 15})
    y = pd.Series(["a"] * 14 + ["b"] * 15 + ["c"], name="kind")
    members = SMALL.committee().fit(X, y, ["north"] * 30).member_probabilities(X, ["north"] * 30)
    assert members.shape == (3, 30, 3)
    drawn = [generator(0, "bootstrap", at, "north").integers(30, size=30) for at in range(3)]
    lacks = np.array([29 not in rows for rows in drawn])
    assert lacks.any()
    assert not members[lacks, :, 2].any()
    assert (members[~lacks][:, :, 2] > 0).all()


def test_a_series_of_costs_is_by_row():
    X, y, task = regions()
    each = pd.Series(np.arange(1.0, 91.0))
    options = {"return_utilities": True, "committee": small_committee()}
    _, expected = SMALL.query(X, y, task, cost=each.to_numpy(), **options)
    _, found = SMALL.query(X, y, task, cost=each, **options)
    assert np.array_equal(found, expected, equal_nan=True)


def test_members_are_counted_as_they_are_learned():
    X, y, task = regions()
    events = []
    query = MultitaskQuery(ESTIMATOR, n_members=2, random_state=0, progress=events.append)
    query.query(X, y, task)
    assert [(event.done, event.total) for event in events] == [(0, 2), (1, 2), (2, 2)]


def test_processes_do_not_matter():
    X, y, task = regions()
    options = {"return_utilities": True, "committee": small_committee()}
    _, first = SMALL.query(X, y, task, **options)
    parallel = clone(SMALL).set_params(n_jobs=2)
    _, second = parallel.query(X, y, task, return_utilities=True)
    assert np.array_equal(first, second, equal_nan=True)


def test_the_order_of_columns_does_not_matter():
    X, y, task = regions()
    options = {"return_utilities": True, "committee": small_committee()}
    _, first = SMALL.query(X, y, task, **options)
    _, second = SMALL.query(X[X.columns[::-1]], y, task, return_utilities=True)
    np.testing.assert_allclose(first, second, atol=1e-12)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"X": [[0]]}, "DataFrame"),
        ({"y": ["yes"]}, "one label for each row"),
        ({"y": [None] * 90}, "must have labels"),
        ({"y": ["yes", "no"] * 45}, "each row has one"),
        ({"y": regions()[1].rename("xray")}, "`xray`"),
        ({"task": ["north"]}, "one task for each row"),
        ({"task": [None, *regions()[2][1:]]}, "a task for each row"),
        ({"task": [np.nan, *map(str, regions()[2][1:])]}, "a task for each row"),
        ({"candidates": [2]}, "without a label"),
        ({"batch_size": 31}, "30 rows"),
        ({"cost": {"north": 1}}, "south"),
        ({"cost": [1, 2]}, "one number for each row"),
        ({"cost": pd.Series({"north": 1, "south": 2})}, r"got Series; `to_dict\(\)`"),
        ({"cost": np.zeros(90)}, "above 0"),
        ({"cost": ["much"] * 90}, "numbers"),
    ],
)
def test_impossible_queries_are_refused(changed, words):
    X, y, task = regions()
    with pytest.raises((InputError, InputTypeError), match=words):
        SMALL.query(**{"X": X, "y": y, "task": task} | changed)


@pytest.mark.parametrize(
    "wrong", [{"n_members": 1}, {"n_jobs": 0}, {"draws": "best"}, {"estimator": MultitaskLearner()}]
)
def test_impossible_strategies_are_refused(wrong):
    with pytest.raises((InputError, InputTypeError), match=next(iter(wrong))):
        MultitaskQuery(**wrong).query(*regions())


def test_the_same_seed_asks_for_the_same_rows():
    asia = structures.load("asia")
    rows = pd.concat([asia.sample(40, random_state=at) for at in range(2)], ignore_index=True)
    task = np.repeat(["north", "south"], 40)
    y = rows["bronc"].astype(object).where(np.arange(80) % 2 == 0)
    X = rows.drop(columns="bronc")
    query = MultitaskQuery(ESTIMATOR, n_members=2, random_state=0)
    found = [query.query(X, y, task, batch_size=3, return_utilities=True) for _ in range(2)]
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    template = with_seed(clone(ESTIMATOR).set_params(task_column="region"), 5)
    assert template.fit(X.assign(region=task), rows["bronc"]).learner_.random_state == 5


def test_members_cut_numbers_where_their_networks_do():
    """A number is not an unknown value, which would be treated as missing."""
    X, y, task = regions()
    numbers = X.assign(dose=(y == "yes").to_numpy() * 40 + np.arange(90) % 40)
    committee = SMALL.committee().fit(numbers, y, task)
    p = committee.member_probabilities(numbers, task)
    gaps = committee.member_probabilities(numbers.assign(dose=None), task)
    assert np.abs(p - gaps).max() > 0.1
