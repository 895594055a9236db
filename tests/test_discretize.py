"""Tests of cutting continuous columns into bins."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import KBinsDiscretizer

from bnmtl.tasks import Edges, discretize, encode

pytestmark = pytest.mark.beside_kernels

METHODS = ("quantile", "uniform", "kmeans")


def skewed(n, seed=0):
    return np.random.default_rng(seed).lognormal(3, 1, n)


def cuts_of(values, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return discretize(pd.DataFrame({"x": values}), return_edges=True, **options)[1]["x"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bins", [2, 3, 7])
def test_cut_points_are_those_of_scikit_learn(method, bins):
    values = np.sort(skewed(500))
    options = {"quantile_method": "averaged_inverted_cdf"} if method == "quantile" else {}
    reference = KBinsDiscretizer(bins, strategy=method, subsample=None, **options)
    edges = reference.fit(values[:, None]).bin_edges_[0]
    assert np.allclose(cuts_of(values, bins=bins, method=method), edges[1:-1], rtol=1e-12)


def test_quantile_bins_hold_equally_many_rows():
    cut = discretize(pd.DataFrame({"x": skewed(300)}))
    assert cut["x"].value_counts().tolist() == [100, 100, 100]


def test_uniform_bins_are_equally_wide():
    assert cuts_of([0.5, 1.0, 9.5, 2.0], bins=3, method="uniform").tolist() == [3.5, 6.5]


def test_kmeans_finds_the_groups():
    values = [0.1, 0.2, 0.3, 5.1, 5.2, 9.8, 9.9]
    cut = discretize(pd.DataFrame({"x": values}), method="kmeans")
    assert cut["x"].cat.codes.tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_bins_are_closed_below_and_open_above():
    edges = Edges({"x": [1.5, 2.5]})
    cut = edges.apply(pd.DataFrame({"x": [1.4, 1.5, 2.4, 2.5, -np.inf, np.inf]}))
    assert cut["x"].cat.codes.tolist() == [0, 1, 1, 2, 0, 2]


@pytest.mark.parametrize(
    ("cuts", "names"),
    [
        ([1.2, 3.4], ("below_1.2", "1.2_to_3.4", "from_3.4")),
        ([1.23456, 3.4], ("below_1.23", "1.23_to_3.4", "from_3.4")),
        ([1.23456, 1.23467], ("below_1.2346", "1.2346_to_1.2347", "from_1.2347")),
        ([-2.5, 0.0], ("below_-2.5", "-2.5_to_0", "from_0")),
        ([123456.7, 2e20], ("below_123457", "123457_to_2e+20", "from_2e+20")),
        ([1e-12, 0.00123456], ("below_1e-12", "1e-12_to_0.00123", "from_0.00123")),
        ([7.0], ("below_7", "from_7")),
        ([], ("any",)),
    ],
)
def test_names_of_bins(cuts, names):
    assert Edges({"x": cuts}).names("x") == names


@pytest.mark.parametrize("value", [1.0, -0.1, 1e-7, 123456789.0, 1e300])
def test_names_distinguish_neighboring_numbers(value):
    assert len(set(Edges({"x": [value, np.nextafter(value, np.inf)]}).names("x"))) == 3


def test_cut_points_are_shared_by_all_tasks():
    a, b = pd.DataFrame({"x": skewed(50, 1)}), pd.DataFrame({"x": 100 + skewed(40, 2)})
    cut, edges = discretize({"a": a, "b": b}, return_edges=True)
    together = np.concatenate([a["x"], b["x"]])
    assert edges["x"].tolist() == cuts_of(together).tolist()
    assert list(cut["a"]["x"].cat.categories) == list(cut["b"]["x"].cat.categories)
    assert cut["b"]["x"].cat.codes.min() >= 1


def test_result_is_ordered_and_declares_all_states():
    cut = discretize([pd.DataFrame({"x": [0.5, 1.5]}), pd.DataFrame({"x": [8.5, 9.5]})])
    for frame in cut:
        assert frame["x"].cat.ordered and len(frame["x"].cat.categories) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert encode(cut).states["x"] == tuple(cut[0]["x"].cat.categories)


def test_the_kind_that_was_given_comes_back():
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5]}, index=[3, 3, 1])
    assert discretize(frame).index.tolist() == [3, 3, 1]
    assert isinstance(discretize([frame, frame]), list)
    assert list(discretize({"b": frame, 1: frame})) == ["b", 1]
    tasks = encode(discretize(frame))
    assert discretize(tasks) is tasks
    same, edges = discretize(tasks, return_edges=True)
    assert same is tasks and not edges


def test_other_columns_stay_as_they_are_and_input_is_not_modified():
    frame = pd.DataFrame(
        {
            "w": [1.0, 2.0, None, 4.0],
            "x": [0.5, None, 2.5, 3.5],
            "y": [1, 2, 3, 4],
            "z": list("abab"),
            7: [True, False, True, True],
        }
    )
    before = frame.copy()
    cut = discretize(frame, bins=2)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(cut.drop(columns="x"), before.drop(columns="x"))
    assert cut["x"].isna().tolist() == [False, True, False, False]
    assert list(cut.columns) == list(before.columns)


def test_whole_numbers_are_discretized_if_another_task_has_fractions():
    cut = discretize([pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [0.5, 3.5]})], bins=2)
    assert cut[0]["x"].tolist() == ["below_1.5", "from_1.5"]


@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", object])
def test_whole_numbers_are_discretized_only_beyond_256_values(dtype):
    few = pd.DataFrame({"x": pd.Series(range(256), dtype=dtype)})
    assert discretize(few)["x"].tolist() == list(range(256))
    many = pd.DataFrame({"x": pd.Series(range(257), dtype=dtype)})
    assert encode(discretize(many)).states["x"] == ("below_85", "85_to_171", "from_171")


@pytest.mark.parametrize("dtype", ["float32", "Float64", object])
def test_floats_of_every_dtype(dtype):
    frame = pd.DataFrame({"x": pd.Series([0.5, None, 1.5, 2.5], dtype=dtype)})
    assert discretize(frame, bins=2)["x"].cat.codes.tolist() == [0, -1, 1, 1]


# --- coinciding cut points


def warned(values, **options):
    with pytest.warns(UserWarning) as caught:
        cut = discretize(pd.DataFrame({"x": values}), **options)
    assert len(caught) == 1 and caught[0].filename == __file__
    return cut["x"], str(caught[0].message)


def test_many_zeros_leave_fewer_bins():
    cut, message = warned([0.0] * 40 + list(skewed(60)))
    assert message == (
        "Column `x` has many equal values, which make cut points coincide; it gets 2 bins instead "
        "of 3."
    )
    assert cut.cat.codes.nunique() == 2


@pytest.mark.parametrize("method", METHODS)
def test_two_values_leave_two_bins(method):
    values = [0.5] * 90 + [1.5] * 10
    if method == "uniform":
        cut = discretize(pd.DataFrame({"x": values}), method=method)["x"]
    else:
        cut, message = warned(values, method=method)
        assert "2 bins instead of 3" in message
    assert cut.cat.codes.tolist() == [0] * 90 + [cut.cat.codes.max()] * 10
    assert cut.cat.codes.max() > 0


@pytest.mark.parametrize("method", METHODS)
def test_fewer_rows_than_bins(method):
    cuts = cuts_of([0.5, 1.5], bins=5, method=method)
    assert np.searchsorted(cuts, [0.5, 1.5], side="right").tolist() in ([0, 1], [0, len(cuts)])


def test_most_values_at_either_end_leave_two_bins():
    cut, _ = warned([0.0] * 80 + [1.5] * 10 + [2.5] * 10)
    assert cut.cat.codes.tolist() == [0] * 80 + [1] * 20
    cut, _ = warned([1.5] * 10 + [2.5] * 10 + [9.0] * 80)
    assert cut.cat.codes.tolist() == [0] * 20 + [1] * 80


def test_one_value_leaves_one_bin():
    cut, message = warned([1.5] * 5)
    assert cut.tolist() == ["any"] * 5 and "1 bin instead of 3" in message


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 12).map(lambda i: i / 2 + 0.25), min_size=2, max_size=40),
    st.sampled_from(METHODS),
    st.integers(2, 5),
    st.randoms(use_true_random=False),
)
def test_laws_of_cutting(values, method, bins, random):
    cuts = cuts_of(values, method=method, bins=bins)
    assert len(cuts) < bins and (np.diff(cuts) > 0).all()
    codes = np.searchsorted(cuts, values, side="right")
    if len(set(values)) > 1:
        assert len(set(codes)) > 1
    shuffled = random.sample(values, len(values))
    assert cuts_of(shuffled, method=method, bins=bins).tolist() == cuts.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_rows_and_tasks_does_not_matter(method):
    frames = {name: pd.DataFrame({"x": skewed(700, seed)}) for seed, name in enumerate("abc")}
    turned = {name: frames[name][::-1] for name in "cab"}
    cuts, again = (
        discretize(given, bins=5, method=method, return_edges=True)[1]["x"].tolist()
        for given in (frames, turned)
    )
    assert cuts == again


@pytest.mark.parametrize("method", ["quantile", "uniform"])
@pytest.mark.parametrize("exponent", [-40, 30])
def test_the_unit_does_not_matter(method, exponent):
    values = skewed(200)
    scaled = cuts_of(np.ldexp(values, exponent), method=method)
    assert scaled.tolist() == np.ldexp(cuts_of(values, method=method), exponent).tolist()


# --- edges


def test_edges_are_applied_to_new_data_after_json():
    frame = pd.DataFrame({"x": skewed(100), "y": skewed(100, 1), "z": [0, 1] * 50})
    cut, edges = discretize({"a": frame}, return_edges=True)
    back = Edges(json.loads(json.dumps(edges.to_dict())))
    assert list(back) == ["x", "y"]
    pd.testing.assert_frame_equal(back.apply({"a": frame})["a"], cut["a"])
    one = back.apply(frame[["z", "x"]][:1])
    assert one["x"].tolist() == cut["a"]["x"].tolist()[:1]
    assert back.apply([frame])[0]["x"].cat.ordered


def test_edges_refuse():
    with pytest.raises(ValueError, match="`cut_points`: column `x` must have increasing"):
        Edges({"x": [2, 1]})
    with pytest.raises(ValueError, match="`cut_points`: column `x`"):
        Edges({"x": [np.inf]})
    with pytest.raises(ValueError, match="Task `task1`: column `x` must be numeric"):
        Edges({"x": [1]}).apply(pd.DataFrame({"x": ["a"]}))
    with pytest.raises(ValueError, match="read-only"):
        Edges({"x": [1]})["x"][0] = 2
    for wrong in (None, [1.5], "x"):
        with pytest.raises(TypeError, match="`cut_points` must be a mapping"):
            Edges(wrong)
    for wrong in ("ab", None, 3, [[1], [2]], [[1], [2, 3]]):
        with pytest.raises(ValueError, match="`cut_points`: column `x` must have increasing"):
            Edges({"x": wrong})
    for unknown in ("q", ["x"]):
        with pytest.raises(KeyError, match="`column` must be one of `x`, got"):
            Edges({"x": [1]}).names(unknown)


# --- refusals


def test_discretize_refuses():
    frame = pd.DataFrame({"x": [0.5, 1.5]})
    with pytest.raises(ValueError, match="`bins` must be a whole number"):
        discretize(frame, bins=2.5)
    for bins in (1, 257):
        with pytest.raises(ValueError, match="`bins` must be a whole number from 2 to 256"):
            discretize(frame, bins=bins)
    with pytest.raises(ValueError, match="`method` must be 'quantile', 'uniform' or 'kmeans', got"):
        discretize(frame, method="width")
    with pytest.raises(ValueError, match="Column `x` must have finite values"):
        discretize(pd.DataFrame({"x": [0.5, np.inf]}))
    with pytest.raises(ValueError, match="Task `b`: column `x` must be numeric"):
        discretize({"a": frame, "b": pd.DataFrame({"x": ["low", "high"]})}, bins=2)
    with pytest.raises(ValueError, match="got `x` twice"):
        discretize(frame[["x", "x"]])
    with pytest.raises(TypeError, match="`tasks` must be a mapping"):
        discretize("x.csv")
