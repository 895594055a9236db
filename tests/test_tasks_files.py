"""Tests of reading tasks from files."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl.tasks import encode, read

pytestmark = pytest.mark.beside_kernels


def write(folder, **files):
    """Write files, named by keyword with _ for the dot, and return their paths."""
    paths = []
    for name, content in files.items():
        path = folder / name.replace("_", ".")
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        paths.append(path)
    return paths


def refused(paths, error=ValueError, **options):
    with pytest.raises(error) as caught:
        read(paths, **options)
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".")
    return message


# --- one file per task


def test_one_task_per_file(tmp_path):
    paths = write(tmp_path, south_csv="x,y\n1,a\n2,b\n", north_csv_gz="y,x\nb,0\na,1\n")
    tasks = read(paths)
    assert list(tasks) == ["north", "south"]
    assert tasks["south"].to_dict("list") == {"x": [1, 2], "y": ["a", "b"]}
    assert tasks["north"].to_dict("list") == {"y": ["b", "a"], "x": [0, 1]}
    assert encode(tasks).states["y"] == ("a", "b")


def test_one_path_alone_tabs_and_dots_in_the_name(tmp_path):
    (path,) = write(tmp_path, a_b_tsv="x\ty\n1\ta,b\n2\tc\n")
    assert read(str(path))["a.b"]["y"].tolist() == ["a,b", "c"]


def test_byte_order_mark_line_ends_quotes_and_blank_lines_at_the_end(tmp_path):
    (path,) = write(tmp_path, a_csv='\ufeffx,"y, z"\r\n1,"say ""so"""\r\n2,"two\nlines"\r\n\r\n\n')
    frame = read(path)["a"]
    assert list(frame.columns) == ["x", "y, z"]
    assert frame["y, z"].tolist() == ['say "so"', "two\nlines"]


def test_types_are_inferred_once_over_all_tasks(tmp_path):
    paths = write(
        tmp_path,
        a_csv="i,f,h,s,b,g\n1,1,.5,1,True,1\n-2,2,2,2,False,\n",
        b_csv="i,f,h,s,b,g\n30,1.5,1,x,True,3\n0,-2e-3,2,y,False,2\n",
    )
    tasks = read(paths)
    for frame in tasks.values():
        assert frame["i"].dtype == np.int64
        assert frame["f"].dtype == np.float64
        assert frame["h"].dtype == np.float64
        assert frame["s"].tolist() in (["1", "2"], ["x", "y"])
        assert frame["b"].tolist() == ["True", "False"]
    assert tasks["b"]["f"].tolist() == [1.5, -0.002]
    assert tasks["a"]["g"].dtype == "Int64" and tasks["a"]["g"].isna().tolist() == [False, True]
    discrete = {name: frame.drop(columns=["f", "h"]) for name, frame in tasks.items()}
    assert encode(discrete, missing="state").states["g"] == ("1", "2", "3", "missing")


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["007", "7"], ["007", "7"]),
        (["+1", "2"], ["+1", "2"]),
        (["1_0", "2"], ["1_0", "2"]),
        (["\u0661", "2"], ["\u0661", "2"]),
        (["0x1", "2"], ["0x1", "2"]),
        (["nan", "1"], ["nan", "1"]),
        (["1e2", "2"], [100.0, 2.0]),
        (["1.", ".5"], [1.0, 0.5]),
        (["Inf", "1"], [np.inf, 1.0]),
        (["-1", " 2"], [-1, 2]),
        (["9" * 18, "1"], [10**18 - 1, 1]),
        (["1234567890123456789", "1234567890123456788"],) * 2,
        (["9" * 30, "1.5"], ["9" * 30, "1.5"]),
        (["None", "a"], ["None", "a"]),
        (["N/A", "null"], ["N/A", "null"]),
    ],
)
def test_what_counts_as_a_number(tmp_path, texts, values):
    (path,) = write(tmp_path, a_csv="x,y\n" + "".join(f"{text},k\n" for text in texts))
    assert read(path)["a"]["x"].tolist() == values


def test_missing_marks(tmp_path):
    (path,) = write(tmp_path, a_csv="x,y\n,NA\nNaN,?\n3,None\n")
    frame = read(path)["a"]
    assert frame.isna().to_numpy().tolist() == [[True, True], [True, False], [False, False]]
    frame = read(path, na_values=["?"])["a"]
    assert frame["x"].tolist() == ["", "NaN", "3"]
    assert frame["y"].isna().tolist() == [False, True, False]
    assert not read(path, na_values=())["a"].isna().any(axis=None)


def test_a_column_of_missing_values_only(tmp_path):
    (path,) = write(tmp_path, a_csv="x,y\n,1\n,2\n")
    assert read(path)["a"]["x"].isna().all()


def test_one_column_with_an_empty_cell(tmp_path):
    (path,) = write(tmp_path, a_csv="x\n1\n\n2\n")
    assert read(path)["a"]["x"].isna().tolist() == [False, True, False]


cells = st.text(alphabet=list("ab1.,;\"'\n #\t"), max_size=4)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_whatever_was_written_as_text_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    frame = pd.DataFrame([("k", *row, "k") for row in rows], columns=list("wxyz"))
    frame.to_csv(path, index=False)
    back = read(path, na_values=())["a"]
    for column in "xy":
        if pd.api.types.is_numeric_dtype(back[column]):
            assert back[column].tolist() == [float(text) for text in frame[column]]
        else:
            assert back[column].tolist() == frame[column].str.strip().tolist()


def test_blanks_around_names_and_values_do_not_count(tmp_path):
    (path,) = write(tmp_path, a_csv="a, b ,c\n1, 2,x \n3, NA, x\n5 ,?,\ty\n")
    frame = read(path, na_values=("NA ", "?"))["a"]
    assert list(frame) == ["a", "b", "c"]
    assert frame["a"].tolist() == [1, 3, 5] and frame["c"].tolist() == ["x", "x", "y"]
    assert frame["b"].isna().tolist() == [False, True, True] and frame["b"][0] == 2
    (path,) = write(tmp_path, a_csv="a,a \n1,2\n")
    with pytest.raises(ValueError, match="different column names, got `a` twice"):
        read(path)


def test_names_of_files_that_cannot_be_printed_are_refused(tmp_path):
    path = tmp_path / "m\udce9d.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match="udce9d.csv` names its task .*; rename the file"
    ) as caught:
        read(path)
    assert str(caught.value).isprintable()


def test_a_file_is_the_same_by_whatever_path(tmp_path, monkeypatch):
    (path,) = write(tmp_path, a_csv="a,t\n1,2\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="`paths` must name every file once"):
        read(["a.csv", path], task_column="t")


# --- a task column


def test_task_column(tmp_path):
    (path,) = write(tmp_path, a_csv="x,year\n1,2010\n2,2009\n3,2010\n")
    tasks = read(path, task_column="year")
    assert list(tasks) == ["2009", "2010"]
    assert tasks["2010"].to_dict("list") == {"x": [1, 3]}


def test_rows_of_one_task_are_joined_over_files(tmp_path):
    paths = write(
        tmp_path,
        one_csv="t,x,y\nb,1,k\na,2,l\n",
        two_csv="y,t,x\nm,a,3\n,a,4\n",
        three_csv="t,z\nc,0.5\nc,1\n",
    )
    tasks = read(paths, task_column="t")
    assert list(tasks) == ["a", "b", "c"]
    assert tasks["a"]["x"].tolist() == [2, 3, 4]
    assert tasks["a"]["y"].tolist()[:2] == ["l", "m"]
    assert tasks["a"]["y"].isna().tolist() == [False, False, True]
    assert list(tasks["c"].columns) == ["z"]


def test_joined_rows_must_have_the_same_columns(tmp_path):
    paths = write(tmp_path, one_csv="t,x\na,1\n", two_csv="t,x,y\na,1,2\n")
    assert "Task `a` must have the same columns in all files; `y`" in refused(
        paths, task_column="t"
    )


def test_task_column_missing_or_incomplete(tmp_path):
    paths = write(tmp_path, one_csv="t,x\na,1\n", two_csv="u,x\na,1\n")
    message = refused(paths, task_column="t")
    assert f"`{paths[1]}`: `task_column` must be one of the columns `u`, `x`, got 't'" in message
    (path,) = write(tmp_path, na_csv="t,x\na,1\nNA,1\n,2\n")
    assert "missing in 2 rows" in refused(path, task_column="t")


# --- what cannot be read


def test_types_of_the_arguments(tmp_path):
    (path,) = write(tmp_path, a_csv="x,y\n1,2\n")
    for wrong in (None, 3, {"a": path}, [3], pd.DataFrame()):
        assert "`paths` must be" in refused(wrong, TypeError)
    assert "got a list with None" in refused([path, None], TypeError)
    for wrong in ("NA", None, [None], [-9]):
        assert "`na_values` must be" in refused(path, TypeError, na_values=wrong)


def test_paths_that_are_not_tables(tmp_path):
    (path,) = write(tmp_path, a_csv="x,y\n1,2\n")
    (other,) = write(tmp_path, a_xlsx="x")
    assert "`paths` must name at least one file" in refused([])
    assert "is a directory" in refused(tmp_path)
    assert "b.csv` does not exist; check the path." in refused(tmp_path / "b.csv")
    assert ".parquet" in refused(other)
    assert "a.csv` twice" in refused([path, path])


def test_equal_task_names(tmp_path):
    (tmp_path / "sub").mkdir()
    paths = write(tmp_path, a_csv="x,y\n1,2\n", a_csv_gz="x,y\n1,2\n")
    assert "both of task `a`" in refused(paths)
    paths[1:] = write(tmp_path / "sub", a_csv="x,y\n1,2\n")
    assert "both of task `a`" in refused(paths)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("x,y\n", "must have rows"),
        ("x,y,x,y,z\n1,2,3,4,5\n", "got `x`, `y` twice"),
        ("x,,y\n1,2,3\n", "column 2 has no name"),
        ("x,y\n1,2\n1\n", "line 3 must have as many fields as the header (2), got 1"),
        ("x,y\n1,2\n1,2,3\n", "line 3 must have as many fields as the header (2), got 3"),
        ("x,y\n1,2\n\n1,2\n", "line 3 must have as many fields"),
        ('x,y\n1,"2\n3\n', "cannot be read as CSV"),
        ('x,y\n1,"2"3\n', "line 2 cannot be read as CSV"),
        ("x;y\n1;2\n", "looks separated by ';'"),
        ("x\ty\n1\t2\n", "looks separated by '\\t'"),
        (b"x,y\n1,2\n1,caf\xe9\n", "line 3 must be UTF-8 text, got the byte 0xe9"),
        ("x,y\n1,2\n".encode("utf-16"), "binary, or text in UTF-16"),
        (b"\x7fELF\x00\x01", "binary"),
        (gzip.compress(b"x,y\n1,2\n", mtime=0), "must be UTF-8 text"),
    ],
)
def test_broken_files(tmp_path, content, reason):
    (path,) = write(tmp_path, a_csv=content)
    message = refused(path)
    assert message.startswith(f"File `{path}`") and reason in message


def test_broken_gzip(tmp_path):
    path = tmp_path / "a.csv.gz"
    for content in (b"x,y\n1,2\n", gzip.compress(b"x,y\n1,2\n" * 99)[:-20], b""):
        path.write_bytes(content)
        message = refused(path)
        assert message.startswith(f"File `{path}`")


def test_broken_deflate_stream(tmp_path):
    path = tmp_path / "a.csv.gz"
    content = bytearray(gzip.compress(b"x,y\n1,2\n"))
    content[10] ^= 0xFF
    path.write_bytes(bytes(content))
    assert "cannot be read" in refused(path)


# --- Parquet


def test_parquet_keeps_its_types(tmp_path):
    pytest.importorskip("pyarrow")
    a = pd.DataFrame(
        {
            "i": [1, 2, None],
            "s": ["a", None, "b"],
            "c": pd.Categorical(["l", "h", "l"], categories=["l", "h", "top"]),
            "b": [True, False, True],
        }
    )
    a.to_parquet(tmp_path / "a.parquet")
    a.set_index("s").to_parquet(tmp_path / "b.pq")
    tasks = read([tmp_path / "a.parquet", tmp_path / "b.pq"])
    assert encode(tasks, missing="state").states == {
        "b": ("False", "True"),
        "c": ("l", "h", "top"),
        "i": ("1", "2", "missing"),
        "s": ("a", "b", "missing"),
    }
    assert sorted(tasks["b"].columns) == ["b", "c", "i", "s"]


def test_parquet_with_a_task_column_in_several_files(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"t": ["a", "b", "a"], "x": pd.Categorical(["u", "v", "u"])})
    frame.to_parquet(tmp_path / "one.parquet")
    frame[1:].to_parquet(tmp_path / "two.parquet")
    tasks = read([tmp_path / "one.parquet", tmp_path / "two.parquet"], task_column="t")
    assert {name: part["x"].tolist() for name, part in tasks.items()} == {
        "a": ["u", "u", "u"],
        "b": ["v", "v"],
    }


def test_folders_named_like_partitions_add_no_column(tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "region=Pr"
    folder.mkdir()
    pd.DataFrame({"x": [1, 2]}).to_parquet(folder / "a.parquet")
    assert list(read(folder / "a.parquet")["a"].columns) == ["x"]


def test_broken_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    (path,) = write(tmp_path, a_parquet="x,y\n1,2\n")
    assert "cannot be read as Parquet" in refused(path)
    path.write_bytes(b"")
    assert "cannot be read as Parquet" in refused(path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (path,) = write(tmp_path, a_parquet="")
    assert "bnmtl[parquet]" in refused(path, ImportError)


def test_formats_are_not_mixed(tmp_path):
    paths = write(tmp_path, a_csv="x,y\n1,2\n", b_parquet="")
    assert "all CSV or all Parquet" in refused(paths)
