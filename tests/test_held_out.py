"""Rows that are held out, and what graphs are worth on them."""

import math
from functools import cache

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from small import CLIMB, ONE_GROUP, noise, partial, related

from bnmtl import BayesNet, MultitaskLearner, SingleTaskLearner, structures
from bnmtl.errors import InputError, InputTypeError
from bnmtl.graphs import from_adjacency
from bnmtl.learners import compare, gain
from bnmtl.learners.held_out import (
    HeldOut,
    by_learner,
    default_folds,
    held_out_rows,
    held_out_split,
    most_folds,
)
from bnmtl.tasks import encode
from bnmtl.tasks.task import n_differing_in_one, originals

DAGS = list(naive.all_dags(4))
SHARE = {"validation": 0.05, "cv": None}
FOLDS = {"validation": None, "cv": 4}


def cases(task, rows):
    """The chosen rows as sorted tuples of codes."""
    return sorted(map(tuple, task.codes[:, rows].T.tolist()))


def train_and_test():
    """Rows over a, b, c and d; the state `rare` of b is among the test rows only."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, [2, 2, 3, 2], (60, 4))
    codes[50:53, 1] = 2
    frame = pd.DataFrame(codes, columns=list("abcd"))
    frame["b"] = pd.Categorical.from_codes(codes[:, 1], ["no", "yes", "rare"])
    task = encode({"t": frame})["t"]
    return task.take(np.arange(50)), task.take(np.arange(50, 60))


TRAIN, TEST = train_and_test()


@given(st.sampled_from(DAGS), st.sampled_from([0.5, 1.0, 20.0]))
def test_the_mean_is_that_of_the_fitted_network(matrix, size):
    graph = from_adjacency(matrix, "abcd")
    network = BayesNet.fit(graph, TRAIN, size)
    expected = network.log_likelihood(TEST.frame()).mean()
    assert HeldOut(TRAIN, TEST, size).mean(graph) == pytest.approx(expected, rel=1e-12)


def test_without_a_sample_size_what_is_new_has_no_probability():
    graph = from_adjacency(np.zeros((4, 4)), "abcd")
    assert HeldOut(TRAIN, TEST, 0).mean(graph) == -math.inf


class Counted:
    """Training rows that count how often they are read."""

    index, arities = TRAIN.index, TRAIN.arities

    def __init__(self):
        self.n_reads = 0

    @property
    def codes(self):
        self.n_reads += 1
        return TRAIN.codes


def test_each_family_is_computed_once():
    rows = Counted()
    held_out = HeldOut(rows, TEST)
    for matrix in DAGS:
        held_out.mean(from_adjacency(matrix, "abcd"))
    # A child has any set of the three other variables as parents.
    assert rows.n_reads == 4 * 2**3
    assert held_out.family("a", ["b", "c"]) == HeldOut(TRAIN, TEST).family("a", ["b", "c"])
    assert held_out.family("a", ["b"]) != held_out.family("a", ["c"])


@pytest.mark.parametrize("kind", ["validation", "cv"])
def test_rows_are_held_out_by_their_codes_not_their_order(kind):
    tasks = encode(related())
    mixed = encode(
        {name: frame.sample(frac=1, random_state=2) for name, frame in related().items()}
    )
    one = held_out_rows(tasks, SHARE[kind], FOLDS[kind], 5)
    other = held_out_rows(mixed, SHARE[kind], FOLDS[kind], 5)
    for fold, same in zip(one, other, strict=True):
        for name, task in tasks.items():
            assert cases(task, fold[name]) == cases(mixed[name], same[name])
    again = held_out_rows(tasks, SHARE[kind], FOLDS[kind], 6)
    assert cases(tasks["task1"], one[0]["task1"]) != cases(tasks["task1"], again[0]["task1"])


@pytest.mark.parametrize("kind", ["validation", "cv"])
def test_a_task_holds_out_the_same_rows_whatever_the_others(kind):
    tasks = related()
    alone = encode({"task2": tasks["task2"]})
    one = held_out_rows(alone, SHARE[kind], FOLDS[kind], 5)
    among = held_out_rows(encode(tasks), SHARE[kind], FOLDS[kind], 5)
    assert [fold["task2"].tolist() for fold in one] == [fold["task2"].tolist() for fold in among]
    twin = held_out_rows(encode({"task1": tasks["task2"]}), SHARE[kind], FOLDS[kind], 5)
    assert one[0]["task2"].tolist() != twin[0]["task1"].tolist()


def test_different_purposes_hold_out_different_rows():
    tasks = encode(related())
    found = [
        held_out_rows(tasks, 0.3, None, 5, purpose=purpose)[0]["task1"].tolist()
        for purpose in ("size", "relatedness")
    ]
    found.append(held_out_rows(tasks, 0.3, None, 5)[0]["task1"].tolist())
    assert all(len(set(rows)) == 45 for rows in found)
    assert len(set(map(tuple, found))) == 3


@given(st.integers(2, 40), st.integers(2, 40))
def test_folds_part_the_rows_evenly(n_rows, cv):
    rows = np.arange(n_rows)
    tasks = encode({"t": pd.DataFrame({"a": rows % 2, "b": rows % 3})})
    if cv > n_rows:
        with pytest.raises(ValueError, match=f"Task `t`: `cv` must not be .* the {n_rows} rows"):
            held_out_rows(tasks, None, cv, 0)
        return
    folds = [fold["t"] for fold in held_out_rows(tasks, None, cv, 0)]
    assert sorted(np.concatenate(folds)) == rows.tolist()
    assert {len(fold) for fold in folds} <= {n_rows // cv, -(-n_rows // cv)}


@pytest.mark.parametrize(
    ("n_rows", "share", "at_least", "n_held_out"),
    [
        (100, 0.05, 1, 5),
        (101, 0.05, 1, 6),
        (10, 0.05, 1, 1),
        (100, 0.05, 10, 10),
        (201, 0.05, 10, 11),
        (100, 0.07, 1, 7),  # of which the product is 7.000000000000001
    ],
)
def test_a_share_is_rounded_up_and_has_a_least(n_rows, share, at_least, n_held_out):
    tasks = encode({"t": pd.DataFrame({"a": np.arange(n_rows) % 2})})
    (rows,) = held_out_rows(tasks, share, None, 0, at_least=at_least)
    assert len(set(rows["t"].tolist())) == n_held_out


def test_holding_everything_out_is_refused():
    tasks = encode({"t": pd.DataFrame({"a": np.arange(10) % 2})})
    assert len(held_out_rows(tasks, 0.05, None, 0, at_least=9)[0]["t"]) == 9
    with pytest.raises(ValueError, match="10 rows, and holding out 10 leaves none .*; hold out"):
        held_out_rows(tasks, 0.05, None, 0, at_least=10)


def test_the_split_keeps_the_rest_and_all_rows_of_tasks_that_hold_out_none():
    tasks = encode(partial())
    train, test = held_out_split(tasks, {"task3": np.array([7, 2])})
    assert train.names == tasks.names
    assert test.names == ("task3",)
    assert np.array_equal(test["task3"].codes, tasks["task3"].codes[:, [7, 2]])
    assert np.array_equal(train["task3"].codes, np.delete(tasks["task3"].codes, [2, 7], axis=1))
    assert np.array_equal(train["task1"].codes, tasks["task1"].codes)


def test_ten_folds_or_as_many_as_rows():
    frames = {n: pd.DataFrame({"a": np.arange(n) % 2, "b": np.arange(n) % 3}) for n in (9, 40, 7)}
    assert default_folds(encode({"a": frames[40]})) == 10
    assert default_folds(encode({"a": frames[9]})) == 9
    tasks = encode({str(n): frame for n, frame in frames.items()})
    assert default_folds(tasks) == 7
    assert default_folds(tasks, leave_one_out=True) == 10


def copied(n_rows, times):
    """A task whose every row is there some times, and the number of each row."""
    rows = np.arange(n_rows)
    frame = pd.DataFrame({"a": rows % 5, "b": rows // 5 % 3, "c": rows * rows % 4, "d": rows % 2})
    task = encode({"t": pd.concat([frame] * times, ignore_index=True)})
    return task, np.tile(np.arange(n_rows), times)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("how", [(None, 4), (0.3, None), (None, 12)])
def test_copies_of_a_row_are_held_out_together(times, how):
    tasks, numbers = copied(12, times)
    seen = []
    for fold in held_out_rows(tasks, *how, seed=0):
        counts = np.bincount(numbers[fold["t"]], minlength=12)
        assert set(counts.tolist()) <= {0, times}
        seen += fold["t"].tolist()
    assert len(seen) == len(set(seen)) == (12 if how[0] is None else 4) * times
    assert default_folds(tasks) == 10


def test_copies_are_found_in_tables_of_more_columns_than_floats_count():
    codes = np.repeat(np.random.default_rng(0).integers(0, 2, (1100, 20)), 2, axis=1)
    assert set(originals(codes, [2] * 1100)[1].tolist()) == {2}


def test_copies_count_once_where_folds_are_counted():
    tasks, _ = copied(7, 2)
    assert default_folds(tasks) == most_folds(tasks) == 7
    with pytest.raises(ValueError, match=r"from 2 to 7, .* rows of the largest task"):
        compare(SingleTaskLearner(), tasks, cv=8)
    with pytest.raises(ValueError, match=r"not be more than the 7 rows \(without 7 copies\)"):
        held_out_rows(tasks, None, 8, 0)


@pytest.mark.parametrize("n_rows, times, found", [(5, 2, 2), (5, 6, 6), (4, 2, 1), (9, 1, 1)])
def test_copies_of_all_rows_are_found_where_there_are_five(n_rows, times, found):
    task = copied(n_rows, times)[0]["t"]
    assert set(task.originals[1].tolist()) == {found}
    by_design = encode({"t": pd.DataFrame({"a": [0, 0, 1, 1, 2, 2] * 2, "b": [0, 1] * 6})})["t"]
    assert set(by_design.originals[1].tolist()) == {1}


@pytest.mark.parametrize("n_rows, n_copied", [(30, 5), (30, 29), (200, 40), (5, 5)])
def test_copies_of_some_rows_are_held_out_together(n_rows, n_copied):
    once = noise(n_rows, 20)
    tasks = encode({"t": pd.concat([once, once[:n_copied]], ignore_index=True)})
    sizes = tasks["t"].originals[1]
    assert sorted(sizes.tolist()) == [1] * (n_rows - n_copied) + [2] * n_copied
    folds = held_out_rows(tasks, None, 5, seed=0)
    fold_of = np.empty(n_rows + n_copied)
    for at, fold in enumerate(folds):
        fold_of[fold["t"]] = at
    assert fold_of[n_rows:].tolist() == fold_of[:n_copied].tolist()
    assert sorted(np.concatenate([fold["t"] for fold in folds])) == list(range(n_rows + n_copied))


@pytest.mark.parametrize("name, n_rows", [("asia", 60), ("asia", 1000), ("alarm", 250)])
def test_rows_that_chance_makes_equal_are_not_copies(name, n_rows):
    """They are there by the hundred, and still more that differ in one variable."""
    frame = structures.load(name).sample(n_rows, random_state=0)
    task = encode({"t": frame})["t"]
    assert frame.duplicated().sum() > 5
    assert len(task.originals[1]) == n_rows


def test_few_different_rows_are_not_copies():
    """Two columns with the same information: no pair differs in only one of them."""
    once = pd.Series(np.random.default_rng(0).integers(0, 10, 60).astype(str))
    task = encode({"t": pd.DataFrame({"a": once, "b": once})})["t"]
    assert len(task.originals[1]) == 60


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 40))
def test_pairs_that_differ_in_one_variable_are_counted(seed, n_variables, n_rows):
    codes = np.random.default_rng(seed).integers(0, 3, (n_variables, n_rows))
    differing = (codes[:, :, None] != codes[:, None, :]).sum(axis=0)
    upper = differing[np.triu_indices(n_rows, 1)]
    assert n_differing_in_one(codes, int((upper == 0).sum())) == (upper == 1).sum()


def test_shared_tables_are_those_of_the_networks():
    """Held-out rows are predicted by tables that borrow from the training rows of all tasks."""
    tasks = encode(related())
    rows = {name: np.arange(0, task.n_rows, 5) for name, task in tasks.items()}
    train, test = held_out_split(tasks, rows)
    learner = MultitaskLearner(task_groups=None, **CLIMB).fit(train)
    log_likelihoods = by_learner(learner, train, test).rows(learner.configuration_)
    for name, rows in log_likelihoods.items():
        expected = learner.networks_[name].log_likelihood(test[name].frame())
        assert rows == pytest.approx(expected, rel=1e-12)
    alone = by_learner(clone(learner).set_params(**ONE_GROUP), train, test)
    alone = alone.means(learner.configuration_)["task1"]
    graph = learner.configuration_["task1"]
    assert alone == pytest.approx(HeldOut(train["task1"], test["task1"]).mean(graph))
    assert alone != log_likelihoods["task1"].mean()


def test_folds_share_tables_together_and_without_arcs():
    learner = MultitaskLearner(table_sharing="auto", **CLIMB)
    two = dict(list(related().items())[:2])
    scored = compare(learner, two, 2)
    assert scored.attrs["shares_tables"]
    separate = compare(clone(learner).set_params(**ONE_GROUP), two, 2)
    assert not separate.attrs["shares_tables"]
    assert scored["alone"].tolist() == separate["alone"].tolist()
    assert (scored["empty"] != separate["empty"]).all()


VISITS = {name: np.arange(len(frame)) // 7 for name, frame in related().items()}


@cache
def visited():
    """Rows compared with whole visits held out, by a learner with one search per fold."""
    learner = MultitaskLearner(**CLIMB, **ONE_GROUP)
    return learner, compare(learner, related(), groups=VISITS)


def test_groups_of_rows_are_held_out_together_and_never_learned_from():
    learner, scored = visited()
    tasks = encode(related())
    visits = np.concatenate([VISITS[name] for name in tasks.names])
    by_visit = scored.assign(visit=visits).groupby(["task", "visit"], observed=True)["fold"]
    assert (by_visit.nunique() == 1).all()
    assert scored.groupby("task", observed=True)["fold"].nunique().min() > 1
    for fold, rows in list(scored.groupby("fold"))[:2]:
        held_out = {
            name: rows.loc[rows["task"] == name, "row"].to_numpy()
            for name in set(rows["task"].astype(str))
        }
        train, test = held_out_split(tasks, held_out)
        graphs = clone(learner).fit(train).configuration_
        expected = by_learner(learner, train, test).rows(graphs)
        for name in test.names:
            found = scored[(scored["fold"] == fold) & (scored["task"] == name)]["together"]
            np.testing.assert_allclose(found, expected[name], rtol=1e-12)


def test_standard_errors_count_rows_of_a_group_as_dependent():
    frame = pd.DataFrame(
        {"task": ["a"] * 4 + ["b"] * 4, "together": [1.0, 1, 3, 3, 1, 1, 3, 3], "alone": 0.0}
    )
    mean, error = gain(frame, "together", "alone")
    assert (mean, error) == (2, pytest.approx(np.std(frame["together"], ddof=1) / np.sqrt(8)))
    # Four groups, two of each name: their means are 1, 3, 1 and 3.
    grouped = frame.assign(group=list("xxyy" * 2))
    assert gain(grouped, "together", "alone") == (
        2,
        pytest.approx(np.std([1, 3, 1, 3], ddof=1) / 2),
    )
    _, scored = visited()
    assert scored["group"].tolist() == [str(v) for name in sorted(VISITS) for v in VISITS[name]]


def test_groups_of_rows_do_not_depend_on_the_order_of_rows_or_on_the_kind_of_names():
    learner, scored = visited()
    order = {name: np.random.default_rng(3).permutation(len(v)) for name, v in VISITS.items()}
    shuffled = {name: frame.iloc[order[name]] for name, frame in related().items()}
    groups = {name: [str(visit) for visit in v[order[name]]] for name, v in VISITS.items()}
    again = compare(learner, shuffled, groups=groups)
    for name, rows in again.groupby("task", observed=True):
        expected = scored[scored["task"] == name]["together"].to_numpy()[order[name]]
        np.testing.assert_allclose(rows["together"], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        (list(VISITS), r"must be a mapping of tasks to arrays with a name per row, got list"),
        ({"a": None}, r"Task `a`: `groups` must have the names .* it is missing"),
        ({"z": [0, 1]}, r"Task `z`: .* the data have no such task"),
        ({"a": [0, 1]}, r"Task `a`: .* one name per row, \d+; its shape is \(2,\): drop rows"),
        ({"a": [None]}, r"Task `a`: .* that of row 0 is missing: fill it"),
        ({"a": [1]}, r"Task `a`: .* two groups or more; it has one"),
    ],
)
def test_mistakes_in_groups_of_rows_name_the_task(changed, complaint):
    tasks = related()
    groups = changed
    if isinstance(changed, dict):
        first = min(tasks)
        (name, given), *_ = changed.items()
        groups = {**VISITS, first if name == "a" else name: given}
        if given is None:
            groups.pop(first)
        elif len(given) == 1:
            groups[first] = given * len(tasks[first])
        complaint = complaint.replace("Task `a`", f"Task `{first}`")
    with pytest.raises((InputError, InputTypeError), match=complaint):
        compare(MultitaskLearner(), tasks, groups=groups)
    with pytest.raises(InputError, match=r"`cv` must be .* the groups of the task that has the m"):
        compare(MultitaskLearner(), tasks, cv=50, groups=VISITS)
