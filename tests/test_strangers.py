"""What comes from strangers: files that ask for too much, damaged or wrong ones, and names."""

import ast
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import little_memory
from command import mistake, sign

import bnmtl
from bnmtl import BayesNet, plotting, reading
from bnmtl.cli.main import _print_table
from bnmtl.cli.runs import Table
from bnmtl.data import columns as data_columns
from bnmtl.ensembles import PredictionStore
from bnmtl.errors import InputError, InputTypeError, InputWarning
from bnmtl.io import read_run
from bnmtl.networks import bif
from bnmtl.progress import Bar, ProgressEvent
from bnmtl.tasks import read
from bnmtl.tasks.files import warn_of_formulas
from bnmtl.validation import Rounds
from bnmtl.wording import printable

pytestmark = pytest.mark.beside_kernels


def refused(function, *arguments, error=(InputError, InputTypeError)):
    with pytest.raises(error) as caught:
        function(*arguments)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    return message


# --- files that ask for too much


@pytest.fixture
def packed(tmp_path):
    """A function that writes 32 MB of text to a .gz file of 32 kB."""

    def write(name):
        path = tmp_path / name
        path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2**23, 9))
        assert path.stat().st_size < 2**17
        return path

    return write


@pytest.mark.parametrize(
    ("name", "reader"),
    [("a.csv.gz", read), ("a.bif.gz", BayesNet.from_bif), ("b.csv.gz", data_columns.header)],
)
def test_gzip_that_unpacks_to_too_much(packed, monkeypatch, name, reader):
    path = packed(name)
    monkeypatch.setenv(reading.VARIABLE, "0.03")
    with little_memory():
        message = refused(reader, path)
    assert str(path) in message and "at most 0.03 GiB" in message and reading.VARIABLE in message
    monkeypatch.setenv(reading.VARIABLE, "a lot")
    assert "must be a number above 0, got 'a lot'" in refused(reader, path)


def test_the_variable_raises_the_limit_of_text(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 1000)
    monkeypatch.setenv(reading.VARIABLE, "1e-6")
    assert "holds more" in refused(read, path)
    monkeypatch.setenv(reading.VARIABLE, "1")
    assert len(read(path)["a"]) == 1000


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device without an end")
def test_a_device_without_an_end(tmp_path, monkeypatch):
    (tmp_path / "a.csv").symlink_to("/dev/zero")
    monkeypatch.setenv(reading.VARIABLE, "0.0001220703125")
    assert "must hold at most 0.00012207 GiB of text" in refused(read, tmp_path / "a.csv")


def test_cells_of_all_files_together(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_CELLS", 10)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text("x,y\n1,2\n1,2\n")
    assert len(read(paths[0])) == 1
    message = refused(read, paths)
    assert "b.csv` must have at most 10 cells" in message and "there would be 12" in message


def bif_text(n_parents):
    """Two states each; the table of c is left to its default."""
    names = [f"p{i}" for i in range(n_parents)]
    lines = ["network u {", "}"]
    lines += [f"variable {v} {{ type discrete [ 2 ] {{ a, b }}; }}" for v in [*names, "c"]]
    lines += [f"probability ( {v} ) {{ table 0.5, 0.5; }}" for v in names]
    lines.append(f"probability ( c | {', '.join(names)} ) {{ default 0.5, 0.5; }}")
    return "\n".join(lines)


def test_cells_of_all_tables_of_a_network_and_of_a_run(tmp_path, monkeypatch):
    path = tmp_path / "n.bif"
    path.write_text(bif_text(3))
    network = BayesNet.from_bif(path)
    task = {"name": "north", "file": "n.bif"}
    record = {"program": "bnmtl", "settings": {}, "files": []}
    record["tasks"] = [task, {"name": "south", "file": "s.bif"}]
    (tmp_path / "s.bif").write_text(bif_text(3))
    sign(tmp_path, record, ["n.bif", "s.bif"])
    read_run(tmp_path)
    monkeypatch.setattr(reading, "MOST_CELLS", 22)
    BayesNet.from_bif(path)
    message = refused(read_run, tmp_path)
    assert "s.bif`, line" in message and "22 cells in all tables together" in message
    monkeypatch.setattr(reading, "MOST_CELLS", 21)
    message = refused(BayesNet.from_bif, path)
    assert "n.bif`, line 10 " in message and "there would be 22" in message
    assert "at most 21 cells" in refused(network.to_bif, tmp_path / "new.bif")


def states(n):
    labels = [f"s{i}" for i in range(n)]
    return BayesNet(nx.DiGraph({"v": []}), {"v": labels}, {"v": np.full(n, 1 / n)})


def test_states_of_a_network_file(tmp_path):
    path = tmp_path / "n.bif"
    states(bif.MOST_STATES).to_bif(path)
    assert BayesNet.from_bif(path) == states(bif.MOST_STATES)
    assert "`v` must have at most 10,000 states" in refused(states(10_001).to_bif, path)
    path.write_text(
        "network u {\n}\nvariable v {\n type discrete [ 10001 ] { "
        + ", ".join(f"s{i}" for i in range(10_001))
        + " }; }"
    )
    message = refused(BayesNet.from_bif, path)
    assert "line 4 must list at most 10,000 states of `v`; it lists 10,001" in message


def test_words_of_a_network_file(tmp_path, monkeypatch):
    path = tmp_path / "n.bif"
    network = BayesNet(nx.DiGraph({"v": []}), {"v": ["a", "b"]}, {"v": [0.5, 0.5]})
    network.to_bif(path)
    n_tokens = len(bif.Syntax(path.read_text(), "")._starts)
    monkeypatch.setattr(bif, "MOST_TOKENS", n_tokens)
    network.to_bif(path)
    assert BayesNet.from_bif(path) == network
    monkeypatch.setattr(bif, "MOST_TOKENS", n_tokens - 1)
    assert f"line {path.read_text().count(chr(10))} must have at most" in refused(
        BayesNet.from_bif, path
    )
    assert f"would have {n_tokens}" in refused(network.to_bif, path)
    monkeypatch.setattr(bif, "MOST_TOKENS", 2**25)
    monkeypatch.setenv(reading.VARIABLE, "1e-8")
    assert "GiB of text" in refused(network.to_bif, path)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("(a) 1;" * 2**12, "repeats row"),
        ("table " + "1," * 2**14 + "1;", "must give 1 probabilities; it gives 16385"),
        ("(" + "a " * 2**12 + ") 1;", "word or mark 1,001 of a list"),
    ],
)
def test_statements_take_no_more_memory_than_their_words(tmp_path, monkeypatch, block, message):
    monkeypatch.setattr(bif, "_LONGEST_LIST", 1000)
    text = "network u {\n}\nvariable a { type discrete[1]{a};} variable b { type discrete[1]{a};}"
    path = tmp_path / "n.bif"
    path.write_text(f"{text}probability(b){{table 1;}}probability(a|b){{{block}}}")
    with little_memory():
        assert message in refused(BayesNet.from_bif, path)


def parquet_of(path, table, **options):
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, path, **options)
    return path


def test_parquet_with_too_many_cells(tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    path = parquet_of(tmp_path / "a.parquet", arrow.table({"a": arrow.nulls(2**24, arrow.bool_())}))
    monkeypatch.setattr(reading, "MOST_CELLS", 2**24 - 1)
    before = arrow.default_memory_pool().max_memory()
    assert "a.parquet` must have at most 16,777,215 cells" in refused(read, path)
    assert arrow.default_memory_pool().max_memory() <= max(before, 2**20)
    lists = arrow.table({"a": [list(range(2**10))] * 2**4})
    monkeypatch.setattr(reading, "MOST_CELLS", 2**13)
    assert "would have 16,384" in refused(read, parquet_of(tmp_path / "b.parquet", lists))


@pytest.mark.parametrize("nested", ["no", "list", "struct"])
def test_parquet_with_one_long_text_in_many_rows(tmp_path, nested):
    arrow = pytest.importorskip("pyarrow")
    codes = arrow.array(np.zeros(2**14, np.int32))
    texts = arrow.DictionaryArray.from_arrays(codes, arrow.array(["x" * 200_000]))
    if nested == "list":
        texts = arrow.ListArray.from_arrays(arrow.array(np.arange(0, 2**14 + 1, 2, "i4")), texts)
    elif nested == "struct":
        texts = arrow.StructArray.from_arrays([texts], ["t"])
    path = tmp_path / "a.parquet"
    parquet_of(path, arrow.table({"a": texts}), store_schema=False)
    assert path.stat().st_size < 2**17
    before = arrow.default_memory_pool().max_memory()
    assert "must hold at most 1 GiB of text" in refused(read, path)
    assert arrow.default_memory_pool().max_memory() < max(before, 0) + 2**25


def rounds(**changed):
    parts = {"predictions": [[[0.8, 0.2], [0.4, 0.6]]], "y": ["a", "b"], "classes": ["a", "b"]}
    parts |= {"in_bag": [[0, 1]], "format": 1}
    return {name: np.asarray(part) for name, part in (parts | changed).items()}


def saved(path, parts):
    np.savez_compressed(path, **parts)
    return path


def header(shape, kind="<f8"):
    """The beginning of an .npy file that claims to have a shape."""
    content = io.BytesIO()
    about = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, about)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header((2**40,)), "it is cut short"),
        (header((2**24,)) + bytes(2**27), "must have at most 1,000 cells in all tables"),
        (header((1,), "<U16000000") + bytes(2**26), "GiB of text"),
    ],
)
def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr(reading, "MOST_CELLS", 1000)
    monkeypatch.setenv(reading.VARIABLE, "0.01")
    path = saved(tmp_path / "r.npz", {})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr("predictions.npy", content)
    del content
    with little_memory():
        assert message in refused(Rounds.load, path)


def test_rounds_that_could_not_be_read_are_not_written(tmp_path, monkeypatch):
    found = Rounds(*list(rounds().values())[:4])
    monkeypatch.setattr(reading, "MOST_CELLS", 5)
    assert "cells" in refused(found.save, tmp_path / "r.npz")


# --- damaged and wrong files


def test_damaged_parquet_is_one_sentence(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"i": [1, 2, 3], "s": ["a", "b", None], "c": pd.Categorical(list("uvu"))})
    path = tmp_path / "a.parquet"
    frame.set_index("s").to_parquet(path)
    content, rng, n_refused = path.read_bytes(), np.random.default_rng(0), 0
    for number in range(400):
        damaged = bytearray(content)
        if number % 4 == 0:
            del damaged[rng.integers(len(damaged)) :]
        else:
            for at in rng.integers(len(damaged), size=rng.integers(1, 4)):
                damaged[at] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            read(path)
        except (InputError, InputTypeError) as error:
            n_refused += 1
            assert "\n" not in str(error) and "a.parquet" in str(error)
    assert n_refused > 150


WRONG_ROUNDS = {
    "booleans": {"predictions": np.ones((1, 2, 2), bool)},
    "complex numbers": {"predictions": np.full((1, 2, 2), 0.5 + 1j)},
    "text": {"predictions": np.full((1, 2, 2), "0.5")},
    "a part of NaN": {"predictions": [[[0.5, np.nan], [0.5, 0.5]]]},
    "infinite": {"predictions": [[[np.inf, 0], [0.5, 0.5]]]},
    "a sum of 1.8": {"predictions": [[[0.9, 0.9], [0.5, 0.5]]]},
    "a sum of 0.9 in all": {"full": [[0.5, 0.4], [0.5, 0.5]]},
    "fractions": {"in_bag": [[0.5, 1.0]]},
    "objects": {"y": np.array(["a", {}], dtype=object)},
    "dates": {"group": np.array(["2020", "2021"], "M8[Y]")},
    "another format": {"format": 2},
    "no number of a format": {"format": [1, 1]},
    "another part": {"more": [1]},
    "another shape": {"in_bag": [[0]]},
    "records": {"y": np.zeros(2, [("a", "f8")])},
}


@pytest.mark.parametrize("wrong", WRONG_ROUNDS.values(), ids=WRONG_ROUNDS)
def test_wrong_rounds_are_one_sentence(tmp_path, wrong):
    path = saved(tmp_path / "r.npz", rounds())
    Rounds.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "`path` must be a file" in refused(Rounds.load, saved(path, rounds(**wrong)))


def test_damaged_rounds_are_one_sentence(tmp_path):
    path = saved(tmp_path / "r.npz", rounds())
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for number in range(300):
        damaged = bytearray(content)
        if number % 3 == 0:
            del damaged[rng.integers(len(damaged)) :]
        else:
            damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            Rounds.load(path)
        except InputError as error:
            assert "\n" not in str(error)


@pytest.fixture
def store(tmp_path):
    """A store of two models for three classes on disk."""
    p = np.random.default_rng(0).dirichlet([1, 1, 1], (2, 4))
    y, weights = ["a", "b", "c", "a"], [1.0, 2.0, 1.0, 1.0]
    return PredictionStore(p, y, names=["m", "n"], weights=weights).save(tmp_path / "store").path


def digest(content):
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def with_predictions(array):
    """A function that exchanges the predictions of a store, with a right digest."""

    def change(folder, record):
        content = io.BytesIO()
        np.save(content, array)
        (folder / "hillclimb/predictions/00000.npy").write_bytes(content.getvalue())
        record["batches"][0]["predictions"]["hillclimb"] = digest(content.getvalue())

    return change


def with_cases(text):
    def change(folder, record):
        (folder / "hillclimb/cases.csv").write_text(text)
        record["parts"]["hillclimb"]["cases"] = digest(text.encode())

    return change


def with_record(**entries):
    return lambda folder, record: record.update(entries)


HALF = np.full((2, 4, 3), 1 / 3, np.float32)
WRONG_STORES = {
    "booleans": with_predictions(np.ones((2, 4, 3), bool)),
    "complex numbers": with_predictions(HALF.astype(complex)),
    "text": with_predictions(HALF.astype(str)),
    "longer numbers": with_predictions(HALF.astype(float)),
    "NaN": with_predictions(np.where(np.arange(3) > 1, np.float32(np.nan), HALF)),
    "a sum of 1.8": with_predictions(np.full((2, 4, 3), 0.6, np.float32)),
    "above 1": with_predictions(np.full((2, 4, 3), 2, np.float32)),
    "objects": with_predictions(np.array([[[{}] * 3] * 4] * 2, dtype=object)),
    "another shape": with_predictions(HALF[:, :, :2]),
    "no array": lambda folder, record: (
        (folder / "hillclimb/predictions/00000.npy").write_bytes(b"x"),
        record["batches"][0]["predictions"].update(hillclimb=digest(b"x")),
    ),
    "no numbers as weights": with_cases("case,y,weight\n0,a,x\n1,b,1\n2,c,1\n3,a,1\n"),
    "weights below 0": with_cases("case,y,weight\n0,a,-1\n1,b,1\n2,c,1\n3,a,1\n"),
    "weights of NaN": with_cases("case,y,weight\n0,a,nan\n1,b,1\n2,c,1\n3,a,1\n"),
    "other fields": with_cases('case,y\n0,a,3\n1,"b\n'),
    "no text": with_cases(""),
    "one class": with_record(classes=["a"]),
    "classes of two types": with_record(classes=["a", 1, None]),
    "classes of lists": with_record(classes=[["a"], ["b"], ["c"]]),
    "classes without an order": with_record(classes=["c", "b", "a"]),
    "a number of 400 digits": with_record(classes=[1, 2, 10**400]),
    "models of 400 digits": lambda _, record: record["batches"][0].update(models=10**400),
    "models of text": lambda _, record: record["batches"][0].update(models="2"),
}


@pytest.mark.parametrize("wrong", WRONG_STORES.values(), ids=WRONG_STORES)
def test_wrong_stores_are_one_sentence(store, wrong):
    record = json.loads((store / "store.json").read_text())
    PredictionStore.open(store)
    wrong(store, record)
    (store / "store.json").write_text(json.dumps(record))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert str(store) in refused(PredictionStore.open, store)


DEEP = '{"a": ' * 1000 + "1" + "}" * 1000
STRANGE_JSON = [DEEP, "[" * 100_000, '{"a": NaN}', f'{{"a": 1{"0" * 400}}}', '{"a": 1e999}']
STRANGE_JSON += [f'{{"a": {"9" * 5000}}}', '{"a": -Infinity}']


@pytest.mark.parametrize("text", STRANGE_JSON, ids=range(len(STRANGE_JSON)))
def test_strange_json_is_one_sentence(store, text):
    for name in ("run.json", "store.json"):
        (store / name).write_text(text)
    (store / "library.json").write_text(text)
    if text != DEEP:  # which not every version of Python finds too deep
        with pytest.raises(ValueError, match="not finite|too deep|digits"):
            reading.json_of(text)
    assert "run.json" in refused(read_run, store)
    assert "store.json" in refused(PredictionStore.open, store)
    refused(bnmtl.ensembles.library.record.read_library_json, store)


# --- names


CONTROL = "a\x1b[31m\x07b\x00c\ud800\u202ed\x9b\uffff\r"


def test_control_characters_are_shown_escaped():
    shown = printable(CONTROL)
    assert shown == r"a\x1b[31m\x07b\x00c\ud800\u202ed\x9b\uffff\r"
    assert printable("é 日本 \u200d\t") == "é 日本 \u200d\t"
    error = InputError(f"must be else, got `{CONTROL}`", column=CONTROL)
    assert str(error) == f"Column `{shown}` must be else, got `{shown}`."


def test_control_characters_do_not_reach_the_terminal(capsys):
    from rich.console import Console

    _print_table(Table([CONTROL, "b"], [[CONTROL, "1"]]))
    out = capsys.readouterr().out
    assert "\x1b" not in out and r"\x1b[31m" in out
    console = Console(file=io.StringIO(), force_terminal=True, width=200, color_system=None)
    with Bar(console) as bar:
        bar(ProgressEvent("[red]stage\x1b]0;x\x07", CONTROL, 1, 2, None))
    shown = console.file.getvalue()
    assert r"[red]stage\x1b]0;x\x07" in shown and r"a\x1b[31m" in shown and "\x1b[31m" not in shown


def test_control_characters_make_well_formed_pictures():
    name = CONTROL.replace("\ud800", "") + "long name"  # pandas refuses lone surrogates
    figures = [
        plotting.dags({CONTROL: nx.DiGraph([(CONTROL, "wet")])}),
        plotting.relatedness(pd.DataFrame([[0, 1], [1, 0]], [name, "b"], [name, "b"])),
    ]
    for figure in figures:
        text = plotting.svg(figure)
        ElementTree.fromstring(text.encode())
        assert r"\x1b" in text and "\x1b" not in text and plotting.png(figure)


def test_ticks_with_control_characters():
    axes = plotting.drawing.chart_axes(100, 100, "ticks")
    axes.set_xticks([0, 1], ["\x1b[31m", "b"])
    ElementTree.fromstring(plotting.svg(axes.figure).encode())


def test_control_characters_are_kept_in_files(tmp_path):
    name = "a\x1b[31m\u202eb"
    network = BayesNet(nx.DiGraph({name: []}), {name: ("\x07", "y")}, {name: [0.5, 0.5]})
    network.to_bif(tmp_path / "n.bif")
    assert BayesNet.from_bif(tmp_path / "n.bif") == network
    (tmp_path / "a.csv").write_text(f"{name},b\n\x07,1\n\x07,2\n")
    assert read(tmp_path / "a.csv")["a"][name].tolist() == ["\x07"] * 2


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+x", "-x", "-1+2", "-5 - 3"])
def test_cells_that_begin_as_formulas_are_reported_once(text):
    frames = [pd.DataFrame({"a": [text, "b"]}), pd.DataFrame({text: [1]})]
    for frame in [*frames, pd.DataFrame({"a": pd.Categorical([text])})]:
        with pytest.warns(InputWarning) as caught:
            warn_of_formulas([frame, *frames])
        assert len(caught) == 1 and f"`{text}` is one" in str(caught[0].message)


@pytest.mark.parametrize(
    "text", ["a=1", "-1.5", "+3e5", "-", "- none", "-inf", "(-1, 2]", "-0.5_to_1e-3", ""]
)
def test_numbers_are_not_formulas(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_formulas([pd.DataFrame({"a": [text], "b": -1.5, "c": pd.Categorical([-1])})])


# --- the command line


def test_formulas_are_kept_with_a_warning(call):
    network = BayesNet(nx.DiGraph([("a", "b")]), *_tables())
    network.to_bif(Path("n.bif"))
    Path("rows.csv").write_text("a,note\n=no,1\nyes,2\n")
    code, _, err = call("predict", "n.bif", "rows.csv", "--target", "b", "--out", "out.csv")
    assert code == 0 and err.count("warning: CSV files have cells that begin as formulas") == 1
    assert read(Path("out.csv"))["out"]["a"].tolist() == ["=no", "yes"]


def _tables():
    return {"a": ("=no", "yes"), "b": ("x", "y")}, {"a": [0.5, 0.5], "b": [[0.5, 0.5]] * 2}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("arguments", [("--version",), ("--help",)])
def test_output_to_a_full_disk_is_one_line(arguments):
    command = [sys.executable, "-m", "bnmtl", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert mistake((2, "", done.stderr)) == (
        "bnmtl: The output cannot be written (No space left on device).\n"
    )


def test_a_reader_that_has_seen_enough_is_no_mistake():
    read_end, write_end = os.pipe()
    os.close(read_end)
    with open(write_end, "w") as pipe:
        command = [sys.executable, "-m", "bnmtl", "--help"]
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_becomes_too_large_for_the_disk_is_one_line(call):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        found = call("structures", "alarm", "--out", "alarm.bif")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert mistake(found) == "bnmtl: `alarm.bif`: File too large.\n"
    assert os.listdir() == []


# --- what runs code


def calls():
    """Names of functions that the package calls, with their keyword arguments, by file."""
    for path in Path(bnmtl.__file__).parent.rglob("*.py"):
        text = path.read_text()
        is_loading = re.search("pickle|load|eval|exec", text)
        for node in ast.walk(ast.parse(text)) if is_loading else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                yield (
                    path.name,
                    ast.unparse(node.func),
                    {key.arg: key.value for key in node.keywords},
                )


def test_only_load_model_unpickles_files_of_users():
    unpickling = ("pickle.load", "pickle.loads", "joblib.load", "pd.read_pickle", "eval", "exec")
    found = {(file, name) for file, name, _ in calls() if name in unpickling}
    # The cache of kernels and the temporary file of a build are the process's own.
    assert found == {
        ("refit.py", "joblib.load"),
        ("columns.py", "joblib.load"),
        ("_jit.py", "pickle.loads"),
    }
    for file, name, keywords in calls():
        if name in ("np.load", "numpy.load"):
            assert ast.unparse(keywords["allow_pickle"]) == "False", file
