"""Signs of association: which states have an order, and Kendall's tau-b of two columns."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bnmtl.learners.arcs import signed_association, tau_b
from bnmtl.tasks import Task, discretize, encode

pytestmark = pytest.mark.beside_kernels


def spread(counts):
    """The rows of a table of counts, as two columns of ranks."""
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    return np.divmod(cells, counts.shape[1])


@st.composite
def tables(draw, most=6):
    shape = draw(st.tuples(st.integers(2, 4), st.integers(2, 4)))
    counts = draw(st.lists(st.integers(0, most), min_size=shape[0] * shape[1]))
    return np.resize(np.array(counts), shape)


@settings(max_examples=200, deadline=None)
@given(tables())
def test_tau_equals_that_of_scipy(counts):
    x, y = spread(counts)
    tau, error = tau_b(counts)
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert np.isnan(tau) and np.isnan(error)
        return
    expected = stats.kendalltau(x, y, method="asymptotic")
    assert tau == pytest.approx(expected.statistic, abs=1e-12)
    # scipy's p-value is that of tau over the same error.
    assert 2 * stats.norm.sf(abs(tau) / error) == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize("n_rows", [2, 3, 6])
def test_the_error_is_that_over_all_permutations(n_rows):
    rng = np.random.default_rng(n_rows)
    x, y = np.arange(n_rows) // 2, np.r_[0, 1, rng.integers(0, 3, n_rows - 2)]
    x[-1] += 1  # not constant with two rows

    def of(turned):
        counts = np.zeros((x.max() + 1, 3), int)
        np.add.at(counts, (x, turned), 1)
        return tau_b(counts)

    taus = [of(np.array(turned))[0] for turned in itertools.permutations(y)]
    assert np.mean(taus) == pytest.approx(0, abs=1e-12)
    assert of(y)[1] == pytest.approx(np.std(taus))


def test_many_rows_do_not_overflow():
    counts = np.array([[10**9, 10**8], [10**8, 10**9]])
    tau, error = tau_b(counts)
    assert tau == pytest.approx(tau_b(counts // 10**6)[0])
    assert 0 < error < 1e-4


def ranks(frame):
    return encode(frame)["task1"].ranks


def test_which_states_have_an_order():
    frame = pd.DataFrame(
        {
            "count": [10, 2, 3],
            "whole": [1.0, 2.0, 10.0],
            "sized": pd.Categorical(["mid", "low", "high"], ["low", "mid", "high"], ordered=True),
            "nominal": pd.Categorical(["b", "a", "a"], ["b", "a"]),
            "coded": pd.Categorical(["1", "2", "7"]),
            "color": ["red", "blue", "red"],
            "seen": [True, False, True],
            "found": ["present", "absent", "present"],
            "wet": pd.Categorical(["Yes", "No", "No"], ["Yes", "No"]),
            "flag": pd.Categorical(["1", "0", "0"], ["1", "0"]),
            "mixed": ["no", "absent", "no"],
        }
    )
    assert ranks(frame) == {
        "count": (0, 1, 2),
        "whole": (0, 1, 2),
        "sized": (0, 1, 2),
        "seen": (0, 1),
        "found": (0, 1),
        "wet": (1, 0),
        "flag": (1, 0),
    }
    assert encode(frame)["task1"].states[0] == ("1", "2", "7")  # of coded


def test_cut_columns_have_an_order():
    frame = pd.DataFrame({"x": np.linspace(0, 1, 30), "y": np.arange(30) % 2})
    assert ranks(discretize(frame)) == {"x": (0, 1, 2), "y": (0, 1)}


@pytest.mark.filterwarnings("ignore:No two tasks share")
def test_an_order_holds_where_all_tasks_that_declare_one_do():
    sized = pd.Categorical(["low", "high"], ["low", "high"], ordered=True)
    loose = pd.Categorical(["low", "high"], ["low", "high"])
    text, numbers = ["low", "high"], [1, 2]
    for first, other, is_ordered in (
        (sized, sized, True),
        (sized, text, True),
        (sized, loose, False),
        (loose, text, False),
        (numbers, [2.0, 3.0], True),
        (numbers, ["1", "2"], False),
    ):
        tasks = encode([pd.DataFrame({"v": first}), pd.DataFrame({"v": other})])
        assert [task.ordered for task in tasks.values()] == [("v",) * is_ordered] * 2


def test_the_order_survives_frames_and_rows_drawn_again():
    frame = pd.DataFrame({"n": [10, 2, 3], "m": [1, None, 2], "c": ["b", "a", "b"]})
    task = encode(frame, missing="state")["task1"]
    assert task.ranks == {"m": (0, 1, -1), "n": (0, 1, 2)}
    assert task.take([0, 0, 1]).ranks == task.ranks
    again = encode(task.frame())["task1"]
    assert again.ranks == task.ranks and again.ordered == task.ordered


def test_tasks_made_by_hand_have_the_orders_that_names_tell():
    codes = np.array([[0, 1, 1], [0, 1, 1]], dtype=np.uint8)
    states = (("no", "yes"), ("4", "5"))
    assert Task("a", ("x", "y"), states, codes).ranks == {"x": (0, 1)}
    assert Task("a", ("x", "y"), states, codes, ("y",)).ranks == {"x": (0, 1), "y": (0, 1)}
    with pytest.raises(ValueError, match="`ordered` must name variables of the task, got `z`"):
        Task("a", ("x", "y"), states, codes, ("z",))


def test_missing_values_do_not_count():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.integers(0, 3, 60)})
    frame["y"] = np.minimum(frame["x"] + rng.integers(0, 2, 60), 2).astype(float)
    frame.loc[::5, "y"] = np.nan
    known = frame.dropna()
    task = encode(frame, missing="state")["task1"]
    expected = stats.kendalltau(known["x"], known["y"]).statistic
    assert signed_association(task, "x", "y") == pytest.approx(expected)
    assert signed_association(task, "y", "x") == signed_association(task, "x", "y")


def test_what_chance_may_give_and_what_has_no_order_is_blank():
    frame = pd.DataFrame(
        {"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "z": [0, 0, 1, 1], "color": list("rrgg")}
    )
    task = encode(frame)["task1"]
    assert np.isnan(signed_association(task, "x", "y"))
    assert np.isnan(signed_association(task, "x", "color"))
    assert signed_association(task, "x", "z") == 1
    constant = encode(frame.assign(y=0))
    assert np.isnan(signed_association(constant["task1"], "x", "y"))
