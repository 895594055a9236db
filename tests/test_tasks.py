"""Tests of encoding tables to tasks."""

import datetime
import linecache
import warnings

import numpy as np
import pandas as pd
import pytest
from hash_seeds import printed
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl import HillClimbing
from bnmtl.tasks import Task, Tasks, encode, split

pytestmark = pytest.mark.beside_kernels

WHERE = "Task `task1`: column `x`"


def one(values, dtype=None, **options):
    """Encode one task with a column x of these values and a varying one beside it."""
    x = values if isinstance(values, pd.Series) else pd.Series(values, dtype=dtype)
    frame = pd.DataFrame({"x": x, "z": ["a", "b"] * (len(x) // 2) + ["a"] * (len(x) % 2)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encode(frame, **options)


def refused(values, dtype=None, error=ValueError, **options):
    with pytest.raises(error) as caught:
        one(values, dtype, **options)
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".")
    return message


# --- what the columns of a table may hold


@pytest.mark.parametrize(
    ("values", "dtype", "states", "codes"),
    [
        (["no", "yes", "no"], None, ("no", "yes"), [0, 1, 0]),
        (["no", "yes", "no"], object, ("no", "yes"), [0, 1, 0]),
        (["no", "yes", "no"], "string", ("no", "yes"), [0, 1, 0]),
        ([True, False, True], None, ("False", "True"), [1, 0, 1]),
        ([True, False, True], object, ("False", "True"), [1, 0, 1]),
        ([True, False, True], "boolean", ("False", "True"), [1, 0, 1]),
        ([10, 9, -1], None, ("-1", "9", "10"), [2, 1, 0]),
        ([10, 9, 1], "uint8", ("1", "9", "10"), [2, 1, 0]),
        ([10, 9, 1], "Int64", ("1", "9", "10"), [2, 1, 0]),
        ([10, 9, 1], object, ("1", "9", "10"), [2, 1, 0]),
        ([10.0, 9.0, -0.0], None, ("0", "9", "10"), [2, 1, 0]),
        ([10.0, 9.0, 1.0], "float32", ("1", "9", "10"), [2, 1, 0]),
        ([10.0, 9.0, 1.0], "float16", ("1", "9", "10"), [2, 1, 0]),
        ([10.0, 9.0, 1.0], "Float64", ("1", "9", "10"), [2, 1, 0]),
        ([10.0, 9, 1], object, ("1", "9", "10"), [2, 1, 0]),
        (["10", "9", "1"], None, ("1", "9", "10"), [2, 1, 0]),
        ([0, 1, 0], pd.SparseDtype(int), ("0", "1"), [0, 1, 0]),
        ([0.0, 1.0, 0.0], pd.SparseDtype(float), ("0", "1"), [0, 1, 0]),
        ([True, False, True], pd.SparseDtype(bool), ("False", "True"), [1, 0, 1]),
        ([1, True, "a", True], object, ("1", "True", "a"), [0, 1, 2, 1]),
        (["None", "nan", ""], object, ("", "None", "nan"), [1, 2, 0]),
    ],
)
def test_discrete_values_of_every_dtype(values, dtype, states, codes):
    tasks = one(values, dtype)
    assert tasks.states["x"] == states
    assert tasks["task1"].codes[0].tolist() == codes


def test_arrow_backed_columns():
    pytest.importorskip("pyarrow")
    assert one(["b", "a", "b"], "string[pyarrow]").states["x"] == ("a", "b")
    assert one([2, 10, 2], "int64[pyarrow]").states["x"] == ("2", "10")
    assert one([2.0, 10.0, 2.0], "double[pyarrow]").states["x"] == ("2", "10")
    assert one([True, False, True], "bool[pyarrow]").states["x"] == ("False", "True")
    assert "continuous" in refused([2.5, 10.0, 2.0], "double[pyarrow]")
    assert "missing" in refused([2, None, 2], "int64[pyarrow]")


def test_integers_with_a_gap_are_whole_after_dropping():
    tasks = one([3, None, 12], missing="drop")
    assert tasks.states["x"] == ("3", "12")


@pytest.mark.parametrize("dtype", [None, "float32", "Float64", object, pd.SparseDtype(float)])
def test_continuous_columns_are_refused_with_the_remedy(dtype):
    assert refused([1.5, 2.0, 2.5, 2.5], dtype) == (
        f"{WHERE} is continuous (3 distinct values); discretize it first, for example with "
        "`bnmtl.tasks.discretize`."
    )


def test_continuous_among_texts_is_refused():
    assert "continuous" in refused(["a", 2.5, 1], object)


def test_infinite_values_are_refused():
    assert "infinite" in refused([1.0, np.inf, 2.0])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1], [2], [1]], "list"),
        ([{"a": 1}, {}, {}], "dict"),
        (["a", ("b",), "a"], "tuple"),
        ([b"a", b"b", b"a"], "bytes"),
        ([1j, 2j, 1j], "complex"),
        (pd.to_datetime(["2001-01-01", "2002-01-01", "2001-01-01"]), "datetime"),
        (pd.to_datetime(["2001-01-01", "2002-01-01"], utc=True), "datetime"),
        (pd.to_timedelta([1, 2, 3], unit="D"), "timedelta"),
        (pd.period_range("2001", periods=3, freq="Y"), "period"),
        ([datetime.date(2001, 1, 1), datetime.date(2002, 1, 1)], "date"),
    ],
)
def test_other_types_are_refused(values, kind):
    message = refused(pd.Series(values), error=TypeError)
    assert message.startswith(WHERE) and kind in message


def test_different_values_written_the_same_are_refused():
    assert "`1`" in refused([1, "1", 2], object)
    assert "`True`" in refused([True, "True", "a"], object)
    assert "`1`" in refused(pd.Series(pd.Categorical([1, "1"], categories=[1, "1"])))


def test_at_most_256_states():
    assert one(list(range(256))).states["x"][-1] == "255"
    assert one(list(range(256)))["task1"].codes[0].tolist() == list(range(256))
    for values in (list(range(257)), [float(i) for i in range(257)], [f"s{i}" for i in range(257)]):
        assert refused(values).startswith(f"{WHERE} must have at most 256 states, got 257 (`")
    declared = pd.Categorical(["a", "b"], categories=["a", "b", *map(str, range(255))])
    assert "at most 256 states, got 257" in refused(pd.Series(declared))
    message = refused([*range(256), None], missing="state")
    assert "at most 256 states over all tasks, got 257" in message
    halves = {name: pd.DataFrame({"x": range(a, a + 200)}) for name, a in (("a", 0), ("b", 150))}
    with pytest.raises(
        ValueError, match="`x` must have at most 256 states over all tasks, got 350"
    ):
        encode(halves)


# --- declared states


def categorical(values, categories, **options):
    return pd.DataFrame({"x": pd.Categorical(values, categories=categories, **options)})


def quietly(tasks, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encode(tasks, **options)


def test_declared_states_keep_their_order_and_those_that_do_not_occur():
    tasks = quietly(categorical(["low", "high"], ["low", "middle", "high"], ordered=True))
    assert tasks.states["x"] == ("low", "middle", "high")
    assert tasks["task1"].codes.tolist() == [[0, 2]]
    assert tasks["task1"].arities.tolist() == [3]


def test_declared_states_are_merged_when_their_orders_agree():
    a = categorical(["low", "high"], ["low", "high"])
    b = categorical(["middle", "high"], ["middle", "high", "top"])
    c = categorical(["low", "middle"], ["low", "middle"])
    for tasks in ({"a": a, "b": b, "c": c}, {"c": a, "a": c, "b": b}):
        assert quietly(tasks).states["x"] == ("low", "middle", "high", "top")


def test_declared_integers_merge_in_numerical_order():
    a, b = categorical([2, 10], [2, 10]), categorical([1, 9], [1, 9])
    assert quietly([a, b]).states["x"] == ("1", "2", "9", "10")


def test_declared_floats_of_whole_numbers_are_integers():
    gap = categorical([1.0, 2.0], [1.0, 2.0])
    assert quietly([gap, categorical([1, 2], [1, 2])]).states["x"] == ("1", "2")
    assert quietly(categorical([0.5, 1.0], [0.5, 1.0])).states["x"] == ("0.5", "1")


def test_intervals_of_pandas_cut_are_states():
    frame = pd.DataFrame({"x": pd.cut([1, 2, 3, 4], [0, 2, 4])})
    assert quietly(frame).states["x"] == ("(0, 2]", "(2, 4]")


def test_contradicting_orders_are_refused():
    a = categorical(["low", "high"], ["low", "high"])
    b = categorical(["low", "high"], ["high", "low"])
    c = categorical(["low", "high"], ["low", "middle", "high"])
    with pytest.raises(ValueError, match=r"`x`.*`b`: high < low") as caught:
        quietly({"a": a, "b": b, "c": c})
    assert "`c`" not in str(caught.value)


def test_orders_that_contradict_only_in_a_circle_are_refused():
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    with pytest.raises(ValueError, match=r"task1.*task2.*task3"):
        quietly([categorical(pair, pair) for pair in pairs])


def test_undeclared_values_must_be_among_the_declared_ones():
    declared = categorical(["0", "1"], ["0", "1", "2"])
    assert quietly([declared, pd.DataFrame({"x": [0, 2]})]).states["x"] == ("0", "1", "2")
    with pytest.raises(ValueError, match="Task `task2`: column `x` must .*, got `7`"):
        quietly([declared, pd.DataFrame({"x": [0, 7]})])


def test_odd_categories_are_refused():
    with pytest.raises(TypeError, match="tuple"):
        quietly(categorical([("a",), ("b",)], [("a",), ("b",)]))
    with pytest.raises(ValueError, match="infinite"):
        quietly(categorical([np.inf, 1.0], [np.inf, 1.0]))


# --- missing values


def test_missing_values_are_an_error_with_task_column_and_count():
    frame = pd.DataFrame({"x": [1, None, None], "y": ["a", None, "b"], "z": [True, False, True]})
    with pytest.raises(ValueError) as caught:
        encode({"corsica": frame})
    assert str(caught.value) == (
        "Task `corsica` must not have missing values; it has 2 in column `x`, 1 in column `y`: "
        "drop such rows with `missing='drop'`, or make them a state with `missing='state'`."
    )


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", None, "b"]),
        pd.Series(["a", np.nan, "b"], dtype=object),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series([1, pd.NA, 2], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([True, None, False], dtype=object),
        pd.Series([1, None, "b"], dtype=object),
        pd.Series([1.0, np.nan, 2.0]),
        pd.Series(pd.Categorical(["a", None, "b"])),
    ],
)
def test_every_kind_of_missing_value(values):
    assert "it has 1 in column `x`:" in refused(values)
    assert one(values, missing="drop")["task1"].n_rows == 2
    tasks = one(values, missing="state")
    assert tasks.states["x"][-1] == "missing"
    assert tasks["task1"].codes[0, 1] == 2


def test_dropped_rows_are_counted_per_task():
    a = pd.DataFrame({"x": [1, None, 2, 1], "y": [None, 0, 1, 0]})
    b = pd.DataFrame({"x": [1, 2, 1], "y": [0, 1, None]})
    c = pd.DataFrame({"x": [1, 2], "y": [0, 1]})
    with pytest.warns(UserWarning) as caught:
        tasks = encode({"a": a, "b": b, "c": c}, missing="drop")
    assert [str(w.message) for w in caught] == [
        "Rows with missing values are dropped: 2 of 4 in task `a`, 1 of 3 in task `b`."
    ]
    assert caught[0].filename == __file__
    assert [task.n_rows for task in tasks.values()] == [2, 2, 2]


def test_states_are_collected_after_dropping():
    frame = pd.DataFrame({"x": [1, 2, 3.5], "y": ["a", "b", None]})
    with pytest.warns(UserWarning, match="1 of 3"):
        assert encode(frame, missing="drop").states == {"x": ("1", "2"), "y": ("a", "b")}


def test_too_few_rows_after_dropping():
    with pytest.raises(ValueError, match="at least 2 complete rows; 2 of its 3"):
        encode(pd.DataFrame({"x": [1, None, 2], "y": [None, 1, 2]}), missing="drop")


def test_a_column_without_values_is_not_dropped_row_by_row():
    frame = pd.DataFrame({"x": [1, 2, 1], "y": [None] * 3})
    with pytest.raises(
        ValueError, match="no value at all in column `y`; leave such columns out of that t"
    ):
        encode(frame, missing="drop")
    with pytest.raises(
        ValueError, match="in columns `y`, `z`; leave such columns out of that task"
    ):
        encode(frame.assign(z=None), missing="drop")


def test_the_state_missing_is_last_and_only_where_it_occurs():
    a, b = pd.DataFrame({"x": [1, None], "y": [0, 1]}), pd.DataFrame({"x": [1, 10], "y": [0, 1]})
    tasks = encode({"a": a, "b": b}, missing="state")
    assert tasks.states == {"x": ("1", "10", "missing"), "y": ("0", "1")}


def test_a_state_named_missing_already():
    with pytest.raises(ValueError, match="`x` has missing values and also a state `missing`"):
        one(["missing", None, "a"], missing="state")
    assert one(["missing", "a"], missing="state").states["x"] == ("a", "missing")


def test_missing_must_be_known():
    with pytest.raises(ValueError, match="`missing` must be 'error', 'drop' or 'state', got"):
        encode(pd.DataFrame({"x": [0, 1]}), missing="ignore")


# --- what is given


FRAME = pd.DataFrame({"y": [0, 1, 1], "x": ["a", "b", "a"]})


def test_kinds_of_input_and_their_names():
    assert encode(FRAME).names == ("task1",)
    assert encode([FRAME] * 11).names == tuple(f"task{i}" for i in range(1, 12))
    assert encode({2: FRAME, "b": FRAME, 10: FRAME}).names == ("10", "2", "b")
    tasks = encode((FRAME, FRAME))
    assert encode(tasks) is tasks
    assert encode(tasks["task2"]).names == ("task2",)
    assert encode({"u": tasks["task2"]})["u"].codes.tolist() == tasks["task2"].codes.tolist()


def test_states_that_two_tasks_write_differently_are_reported():
    tasks = {"a": pd.DataFrame({"v": [True, False], "k": [0, 1]})}
    tasks |= {name: pd.DataFrame({"v": [1, 0], "k": [0, 1]}) for name in "bc"}
    with pytest.warns(
        UserWarning, match="`v` has no state that tasks `a` and `b` have in common .`False`"
    ):
        encode(tasks)
    tasks["a"]["v"] = ["0", "0"]
    tasks["b"]["v"] = [1, 1]
    with pytest.warns(UserWarning) as caught:
        encode(tasks)
    assert not any("have in common" in str(warning.message) for warning in caught)


def test_whole_numbers_of_any_length_are_sorted_as_numbers():
    frame = pd.DataFrame({"v": np.array([2**64 - 1, 3], dtype=np.uint64)})
    assert encode({"a": frame}).states["v"] == ("3", "18446744073709551615")


def test_wrong_types_are_refused():
    for wrong in (None, 3, "birds.csv", FRAME["x"], FRAME.to_numpy(), iter([FRAME])):
        with pytest.raises(TypeError, match="`tasks` must be a mapping"):
            encode(wrong)
    with pytest.raises(TypeError, match=r"got str; files are read by `bnmtl\.tasks\.read`"):
        encode("birds.csv")
    with pytest.raises(TypeError, match=r"got the class DataFrame; convert it"):
        encode(pd.DataFrame)
    kind = type("DataFrame", (), {"to_pandas": None, "__module__": "polars"})
    for foreign in (kind(), {"a": kind()}):
        with pytest.raises(TypeError, match=r"got polars\.DataFrame; convert it by its `to_pandas"):
            encode(foreign)
    with pytest.raises(TypeError, match="Task `a` must be a pandas DataFrame, got ndarray"):
        encode({"a": FRAME.to_numpy()})


def test_what_cannot_be_learned_from_is_refused():
    for nothing in ({}, []):
        with pytest.raises(ValueError, match="at least one task"):
            encode(nothing)
    with pytest.raises(ValueError, match="Task `task1` must have at least one column"):
        encode(FRAME[[]])
    with pytest.raises(ValueError, match="Task `task2` must have at least 2 rows, got 0"):
        encode([FRAME, FRAME[:0]])
    with pytest.raises(ValueError, match="Task `b` must have at least 2 rows, got 1"):
        encode({"a": FRAME, "b": FRAME[:1]})
    with pytest.raises(
        ValueError, match="Task `task1` must have different column names, got `y` twice"
    ):
        encode(FRAME[["x", "y", "y"]])
    with pytest.raises(ValueError, match="got `1` twice"):
        encode(pd.DataFrame([[0, 1], [1, 0]], columns=[1, "1"]))
    with pytest.raises(ValueError, match="different names, got `1` twice"):
        encode({1: FRAME, "1": FRAME})


def test_constant_variables_are_reported_once_per_task():
    a = FRAME.assign(u=1, v="k")
    with pytest.warns(UserWarning) as caught:
        tasks = encode({"a": a, "b": FRAME, "c": FRAME.assign(u=[1, 2, 1], v="m")})
    messages = [str(w.message) for w in caught]
    assert len(messages) == 2
    assert "Task `a` has columns in which only one state is observed (`u`, `v`);" in messages[0]
    assert "Task `c` has columns in which only one state is observed (`v`);" in messages[1]
    assert tasks["a"].constant == ("u", "v")


@pytest.mark.parametrize(
    "frames",
    [
        [FRAME, FRAME.rename(columns={"x": "X"})],
        [FRAME, FRAME.rename(columns=str.upper), FRAME.rename(columns={"y": "Y"})],
    ],
)
def test_nothing_shared_is_reported(frames):
    with pytest.warns(UserWarning, match="No two tasks share a pair"):
        encode(frames)


def test_nothing_shared_that_varies_is_reported():
    with pytest.warns(UserWarning) as caught:
        encode([FRAME, FRAME.assign(x="a")])
    assert "No two tasks share a pair" in str(caught[-1].message)


def test_good_data_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode([FRAME, FRAME, FRAME.rename(columns={"x": "X"})])
        encode(FRAME)


def test_input_is_not_modified():
    frame = FRAME.assign(w=[1.0, None, 2.0])
    before = frame.copy()
    for missing in ("drop", "state"):
        quietly({"b": frame, "a": frame}, missing=missing)
    pd.testing.assert_frame_equal(frame, before)


# --- Task and Tasks


def test_codes_are_contiguous_bytes_nobody_can_change():
    task = encode({"a": FRAME, "b": FRAME})["b"]
    for codes in (task.codes, task.take([2, 0]).codes):
        assert codes.dtype == np.uint8 and codes.flags.c_contiguous and not codes.flags.writeable
    array = np.array([[0, 1]], dtype=np.uint8)
    assert not Task("a", ("x",), (("0", "1"),), array).codes.flags.writeable
    assert array.flags.writeable
    with pytest.raises(AttributeError):
        task.name = "c"


def test_take_keeps_the_declared_states():
    tasks = encode({"a": FRAME, "b": FRAME})
    taken = tasks.take({"a": np.array([2, 2, 0]), "b": [1, 0]})
    assert taken["a"].codes.tolist() == [[0, 0, 0], [1, 1, 0]]
    assert taken["a"].constant == ("x",)
    assert taken.states == tasks.states
    assert taken["b"].n_rows == 2
    with pytest.raises(ValueError, match="one entry for every task"):
        tasks.take({"a": [0]})


def test_tasks_is_a_mapping_in_canonical_order():
    tasks = quietly({"b": FRAME, "a": FRAME[["y"]]})
    assert list(tasks) == ["a", "b"] and len(tasks) == 2 and "b" in tasks
    assert tasks["a"].variables == ("y",) and tasks.variables == ("x", "y")
    for unknown in ("c", 0, ["a"]):
        with pytest.raises(KeyError, match="one of `a`, `b`, got"):
            tasks[unknown]
    assert "c" not in tasks and tasks.get("c") is None


def test_tasks_checks_what_it_is_made_of():
    task = encode(FRAME)["task1"]
    with pytest.raises(ValueError, match="at least one"):
        Tasks([])
    with pytest.raises(ValueError, match="different names"):
        Tasks([task, task])
    other = Task("other", ("x",), (("a", "b", "c"),), np.zeros((1, 2), dtype=np.uint8))
    with pytest.raises(ValueError, match="Task `other`: column `x` must have the same states"):
        Tasks([task, other])


def test_tasks_are_made_of_tasks():
    task = encode(FRAME)["task1"]
    for wrong, kind in (
        (None, "None"),
        ([FRAME], "DataFrame"),
        (task, "Task"),
        (Task, "the class"),
    ):
        with pytest.raises(TypeError, match=f"`tasks` must be a list of Task, got {kind}"):
            Tasks(wrong)


@pytest.mark.parametrize(
    ("states", "codes", "error", "pattern"),
    [
        ((("a", "b"),), [[0, 1]], TypeError, "must be an array of integers, got list"),
        ((("a", "b"),), np.array([[0.0, 1.0]]), TypeError, "array of integers, got float64"),
        ((("a", "b"),), np.array([0, 1]), ValueError, r"codes of shape \(2,\)"),
        ((), np.array([[0, 1]]), ValueError, "each of 1 variable; they have 0 rows of states"),
        ((("a", "b"),), np.array([[0, 2]]), ValueError, "`x` must be from 0 to 1, .* got 0 to 2"),
        (
            (("a", "b"),),
            np.array([[0, -1]]),
            ValueError,
            "`x` must be from 0 to 1, .* got -1 to 0",
        ),
    ],
)
def test_codes_that_stand_for_no_state_are_refused(states, codes, error, pattern):
    with pytest.raises(error, match=f"^Task `a`: .*{pattern}"):
        Task("a", ("x",), states, codes)


def test_rows_to_take_are_integers_in_range():
    tasks = encode({"a": FRAME, "b": FRAME})
    for wrong, kind in (([0.5], "float64"), (FRAME["y"] == 1, "bool"), (None, "None"), (1, "int")):
        with pytest.raises(TypeError, match=f"Task `a`: `rows` must be .* integers, got {kind}"):
            tasks["a"].take(wrong)
    for beyond in (3, -4):
        with pytest.raises(ValueError, match=f"below the number of rows, 3, got {beyond}"):
            tasks["a"].take([0, beyond])
    with pytest.raises(TypeError, match=r"`rows` must be a mapping .* got list"):
        tasks.take([[0], [1]])
    assert tasks["a"].take([]).n_rows == 0


def test_warnings_point_to_the_line_of_the_user():
    from bnmtl import SingleTaskLearner

    with pytest.warns(UserWarning) as caught:
        encode({"a": FRAME.assign(u=1)})
        SingleTaskLearner(search=HillClimbing(restarts=0)).fit({"a": FRAME.assign(u=1)})
    lines = [linecache.getline(warning.filename, warning.lineno).strip() for warning in caught]
    assert [line.split("(")[0] for line in lines] == ["encode", "SingleTaskLearner"]


def assert_same(a, b):
    assert a.names == b.names and a.states == b.states
    for name in a:
        assert a[name].variables == b[name].variables
        assert a[name].states == b[name].states
        assert np.array_equal(a[name].codes, b[name].codes)


def test_frames_encode_to_the_same_tasks():
    a = pd.DataFrame({"x": [10, 9, None, 1], "y": list("baba"), "z": [True, False, True, True]})
    tasks = encode({"a": a, "b": a[["x", "y"]][:3]}, missing="state")
    assert_same(encode(tasks.frames()), tasks)
    part = tasks.take({"a": [0, 1], "b": [1, 0]})
    assert_same(encode(part.frames()), part)


# --- laws


cells = {
    "text": st.sampled_from(["a", "b", "c", "1", "02"]),
    "integer": st.integers(-12, 12),
    "whole": st.integers(-12, 12).map(float),
    "bool": st.booleans(),
}


@st.composite
def task_frames(draw):
    kinds = {v: draw(st.sampled_from(sorted(cells))) for v in "vwxyz"[: draw(st.integers(1, 5))]}
    frames = {}
    for name in "abc"[: draw(st.integers(1, 3))]:
        columns = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, unique=True))
        rows = draw(st.integers(2, 6))
        frames[name] = pd.DataFrame(
            {v: draw(st.lists(cells[kinds[v]], min_size=rows, max_size=rows)) for v in columns}
        )
    return frames


@settings(max_examples=60, deadline=None)
@given(task_frames(), st.randoms(use_true_random=False))
def test_order_of_rows_columns_and_tasks_does_not_matter(frames, random):
    tasks = quietly(frames)
    shuffled, rows = {}, {}
    for name in random.sample(sorted(frames), len(frames)):
        frame = frames[name]
        rows[name] = random.sample(range(len(frame)), len(frame))
        columns = random.sample(list(frame.columns), frame.shape[1])
        shuffled[name] = frame.iloc[rows[name]][columns]
    assert_same(quietly(shuffled), tasks.take(rows))


@settings(max_examples=50, deadline=None)
@given(task_frames())
def test_codes_stand_for_the_values_and_frames_round_trip(frames):
    tasks = quietly(frames)
    for name, frame in frames.items():
        task = tasks[name]
        assert task.variables == tuple(sorted(frame.columns))
        for variable, states, codes in zip(task.variables, task.states, task.codes, strict=True):
            values = [v if isinstance(v, str | bool) else int(v) for v in frame[variable].tolist()]
            assert [states[code] for code in codes] == [str(value) for value in values]
    assert_same(quietly(tasks.frames()), tasks)


@settings(max_examples=50, deadline=None)
@given(
    st.permutations(list("abcdef")),
    st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=4),
)
def test_merged_states_keep_the_order_of_every_task(order, parts):
    declared = [[state for state in order if state in part] for part in parts]
    states = quietly([categorical([names[0], names[-1]], names) for names in declared]).states["x"]
    assert sorted(states) == sorted(set().union(*parts))
    for names in declared:
        assert [state for state in states if state in names] == names
    turned = quietly([categorical([names[0], names[-1]], names) for names in declared[::-1]])
    assert turned.states["x"] == states


def test_the_hash_seed_does_not_matter():
    program = (
        "import pandas as pd, warnings; warnings.simplefilter('ignore')\n"
        "from bnmtl.tasks import encode\n"
        "c = lambda s: pd.DataFrame({'x': pd.Categorical(list(s))})\n"
        "print(encode([c('agz'), c('bfy'), c('cex')]).states,"
        " encode([pd.DataFrame({'x': list('kqzu'), 'y': [7, 11, '07', 3]})]).states)"
    )
    assert len(printed(program)) == 1


# --- split


def test_split_by_a_column():
    frame = pd.DataFrame({"n": [2, 10, 2], "x": ["a", "b", "c"]}, index=[5, 5, 6])
    parts = split(frame, "n")
    assert list(parts) == ["10", "2"]
    assert parts["2"]["x"].tolist() == ["a", "c"] and list(parts["2"].columns) == ["x"]
    assert list(frame.columns) == ["n", "x"]


def test_split_leaves_out_tasks_without_rows_and_allows_many():
    tasks = pd.Categorical(["a", "b"], categories=["a", "b", "c"])
    assert list(split(pd.DataFrame({"t": tasks, "x": [0, 1]}), "t")) == ["a", "b"]
    assert len(split(pd.DataFrame({"t": range(300), "x": 0}), "t")) == 300


def test_split_leaves_out_what_a_task_has_not_measured():
    frame = pd.DataFrame(
        {"r": ["a", "b", "b"], "x": [1, None, None], "y": [1, 0, None], "z": [None] * 3}
    )
    with pytest.warns(UserWarning, match="as not measured there: `x` in task `b`\\."):
        parts = split(frame, "r")
    # What is empty in all tasks is left for the reader of the columns to name.
    assert list(parts["a"].columns) == ["x", "y", "z"] and list(parts["b"].columns) == ["y", "z"]
    assert parts["b"]["y"].isna().tolist() == [False, True]
    whole = pd.DataFrame({"r": ["a", "a", "b"], "x": [0, 1, None], "y": [1, 0, 1]})
    with pytest.warns(UserWarning, match="not measured"):
        assert set(encode(split(whole.iloc[[0, 1, 2, 2]], "r"))["b"].variables) == {"y"}


def test_split_refuses():
    frame = pd.DataFrame({"region": ["a", None, None], "x": [0, 1, 0]})
    with pytest.raises(ValueError, match="must be one of the columns `region`, `x`, got 'site'"):
        split(frame, "site")
    with pytest.raises(ValueError, match="it is missing in 2 rows"):
        split(frame, "region")
    with pytest.raises(ValueError, match="must have rows"):
        split(frame[:0], "region")
    with pytest.raises(ValueError, match="continuous"):
        split(pd.DataFrame({"t": [0.5, 1.5], "x": [0, 1]}), "t")
    with pytest.raises(ValueError, match="`x`"):
        split(frame[["region", "x", "x"]], "region")
    with pytest.raises(TypeError, match="`frame` must be"):
        split({"a": frame}, "region")
