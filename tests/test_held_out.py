"""Rows that are held out, and what graphs are worth on them."""

import math

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import partial, related

from bnmtl import BayesNet, SingleTaskLearner, held_out
from bnmtl.graphs import from_adjacency
from bnmtl.held_out import HeldOut, default_folds, held_out_rows, most_folds, parted
from bnmtl.learners import compare
from bnmtl.tasks import encode

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


def test_each_family_is_computed_once(monkeypatch):
    asked = []

    def counted(child, codes, shape, size):
        asked.append((child, len(shape) - 1))
        return held_out_table(child, codes, shape, size)

    held_out_table = held_out.family_table
    monkeypatch.setattr(held_out, "family_table", counted)
    own = HeldOut(TRAIN, TEST)
    for matrix in DAGS:
        own.mean(from_adjacency(matrix, "abcd"))
    # A child has any set of the three other variables as parents.
    assert len(asked) == 4 * 2**3
    assert own.family("a", ["b", "c"]) == HeldOut(TRAIN, TEST).family("a", ["b", "c"])
    assert own.family("a", ["b"]) != own.family("a", ["c"])


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
        with pytest.raises(ValueError, match=f"Task `t`: {n_rows} rows cannot be parted into"):
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
    with pytest.raises(ValueError, match="holding out 10 of 10 rows leaves none .*; hold out les"):
        held_out_rows(tasks, 0.05, None, 0, at_least=10)


def test_parted_keeps_the_rest_and_all_rows_of_tasks_that_hold_out_none():
    tasks = encode(partial())
    train, test = parted(tasks, {"task3": np.array([7, 2])})
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


def test_copies_count_once_where_folds_are_counted():
    tasks, _ = copied(7, 2)
    assert default_folds(tasks) == most_folds(tasks) == 7
    with pytest.raises(ValueError, match=r"rows of the largest task, 7 \(copies count once\)"):
        compare(SingleTaskLearner(), tasks, cv=8)
    with pytest.raises(ValueError, match=r"7 rows \(2 copies of each\) cannot be parted into"):
        held_out_rows(tasks, None, 8, 0)


@pytest.mark.parametrize("n_rows, times, found", [(5, 2, 2), (5, 6, 6), (4, 2, 1), (9, 1, 1)])
def test_copies_are_found_where_there_are_five_different_rows(n_rows, times, found):
    task = copied(n_rows, times)[0]["t"]
    assert task.n_copies == found
    by_design = encode({"t": pd.DataFrame({"a": [0, 0, 1, 1, 2, 2] * 2, "b": [0, 1] * 6})})["t"]
    assert by_design.n_copies == 1
    one_more = task.take(np.append(np.arange(task.n_rows), 0))
    assert one_more.n_copies == 1
