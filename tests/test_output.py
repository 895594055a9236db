"""The output folder is written whole or not at all; files of knowledge are read line by line."""

import contextlib
import errno
import os
import shutil
import signal
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from command import damaged, listing, sign
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl import BayesNet
from bnmtl.cli.predict import read_networks
from bnmtl.errors import InputError, InputTypeError, InputWarning
from bnmtl.graphs import takes_part
from bnmtl.io.knowledge import read_arcs, read_tiers
from bnmtl.io.run import digest, read_record, read_run, run_folder
from bnmtl.tasks import encode
from bnmtl.writing import OutputFile, file_names

pytestmark = pytest.mark.beside_kernels


def fill(folder, names, extra=()):
    """Write a run of the given files, as the command line does."""
    with folder, folder.writing() as temporary:
        for name in (*names, *extra):
            (temporary / name).write_text(f"new {name}")
        record = {"program": "bnmtl", "tasks": [], "settings": {}, "files": [*names, "run.json"]}
        sign(temporary, record)


def test_a_new_folder_appears_whole(tmp_path):
    with run_folder(tmp_path / "deep" / "run") as folder, folder.writing() as temporary:
        assert temporary.parent == tmp_path / "deep"
        assert not (tmp_path / "deep" / "run").exists()
        (temporary / "a.bif").write_text("a")
    assert listing(tmp_path / "deep") == ["run"]
    assert listing(tmp_path / "deep" / "run") == ["a.bif"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("there", [False, True])
def test_a_failure_changes_nothing(tmp_path, error, there):
    path = tmp_path / "deep" / "run"
    if there:
        fill(run_folder(path), ["a.bif"])
        (path / "mine.txt").write_text("mine")
    before = {file.name: file.read_text() for file in path.iterdir()} if there else None
    folder = run_folder(path, force=True)
    with pytest.raises(error), folder, folder.writing() as temporary:
        (temporary / "a.bif").write_text("half")
        raise error
    if there:
        assert listing(tmp_path / "deep") == ["run"]
        assert {file.name: file.read_text() for file in path.iterdir()} == before
    else:
        assert listing(tmp_path) == []


def test_a_folder_that_is_not_empty_needs_force(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(
        ValueError, match=r"which holds `mine\.txt`; choose another one, or set `force=True`"
    ):
        run_folder(tmp_path)
    fill(run_folder(tmp_path, force=True), ["a.bif"])
    assert listing(tmp_path) == ["a.bif", "mine.txt", "run.json"]
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_force_removes_only_what_the_earlier_run_lists(tmp_path):
    path = tmp_path / "run"
    fill(run_folder(path), ["old.bif", "both.bif"])
    (path / "mine.bif").write_text("mine")
    (path / "folder").mkdir()
    (path / "folder" / "inside").write_text("mine")
    fill(run_folder(path, force=True), ["new.bif", "both.bif"])
    assert listing(path) == ["both.bif", "folder", "mine.bif", "new.bif", "run.json"]
    assert (path / "both.bif").read_text() == "new both.bif"
    assert (path / "mine.bif").read_text() == "mine"
    assert (path / "folder" / "inside").read_text() == "mine"


def test_a_folder_that_a_record_lists_is_kept(tmp_path):
    (tmp_path / "folder").mkdir()
    files = ["folder", "run.json"]
    sign(tmp_path, {"program": "bnmtl", "tasks": [], "settings": {}, "files": files})
    fill(run_folder(tmp_path, force=True), ["a.bif"])
    assert listing(tmp_path) == ["a.bif", "folder", "run.json"]


@pytest.mark.parametrize(
    "name", ["../mine.bif", "{}/mine.bif", "run/mine.bif", "..", ".", "", "a/", "a\\b", "a\0b", 5]
)
def test_a_record_cannot_reach_outside_its_folder(tmp_path, name):
    path = tmp_path / "run"
    path.mkdir()
    small_network().to_bif(tmp_path / "mine.bif")
    name = name.format(tmp_path) if isinstance(name, str) else name
    record = {"program": "bnmtl", "tasks": [], "settings": {}, "files": [name, "run.json"]}
    sign(path, record)
    with pytest.raises(ValueError, match=r"run\.json`, which is not from bnmtl"):
        fill(run_folder(path, force=True), ["a.bif"])
    tasks = [{"name": "n", "file": name}]
    for files in ([name, "run.json"], ["run.json"]):
        changed = {**record, "tasks": tasks, "files": files}
        changed["digests"] = {str(name): digest(tmp_path / "mine.bif")}
        sign(path, changed)
        with pytest.raises(ValueError, match=r"run\.json` must list tasks, settings and files"):
            read_run(path)
    assert listing(tmp_path) == ["mine.bif", "run"] and listing(path) == ["run.json"]


@pytest.mark.parametrize("name", ["arcs.csv", "ARCS.CSV"])
def test_a_name_clash_with_a_foreign_file_is_refused(tmp_path, name):
    (tmp_path / name).write_text("mine")
    with run_folder(tmp_path, force=True) as folder:
        with pytest.raises(ValueError, match=f"{name}`, which is not from bnmtl"):
            folder.reserve(["arcs.csv"])
        folder.reserve(["other.csv"])


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    folder, message = run_folder(tmp_path / "run"), "which is not from bnmtl"
    with pytest.raises(ValueError, match=message), folder, folder.writing() as temporary:
        (temporary / "a.bif").write_text("new")
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "a.bif").write_text("mine")
    assert (tmp_path / "run" / "a.bif").read_text() == "mine"
    assert listing(tmp_path) == ["run"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"program": "other", "tasks": [], "settings": {}, "files": ["mine.txt"]}',
        '{"program": "bnmtl"}',
        '{"program": "bnmtl", "tasks": [], "settings": {}, "files": ["mine.txt", "run.json"]}',
        '{"program": "bnmtl", "tasks": [], "settings": {"x": NaN}, "files": []}',
        '{"program": "bnmtl", "tasks": [], "settings": {"x": 1e400}, "files": []}',
        '{"program": "bnmtl", "tasks": [], "files": [], "settings": {"x": ' + "9" * 400 + "}}",
        '{"program": "bnmtl", "tasks": [], "files": [], "settings": {"x": ' + "9" * 5000 + "}}",
        "[" * 100_000,
        '{"program": "bnmtl", "tasks": ' + "[" * 1000 + "]" * 1000 + "}",
    ],
)
def test_the_run_json_of_another_program_owns_nothing(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "mine.txt").write_text("mine")
    folder, message = run_folder(tmp_path, force=True), r"run\.json`, which is not from bnmtl"
    with pytest.raises(ValueError, match=message), folder:
        folder.reserve(["run.json"])
    with pytest.raises(ValueError, match=r"run\.json` must "):
        read_record(tmp_path)


@pytest.mark.parametrize(
    "record",
    [
        {"program": "bnmtl", "tasks": [], "settings": {}, "files": "mine.txt"},
        {"program": "bnmtl", "tasks": [{"name": "a"}], "settings": {}, "files": []},
        {"program": "bnmtl", "tasks": [], "settings": {}, "files": [], "command": ["learn"]},
    ],
)
def test_a_signed_record_without_what_is_needed_owns_nothing(tmp_path, record):
    sign(tmp_path, record)
    (tmp_path / "mine.txt").write_text("mine")
    folder, message = run_folder(tmp_path, force=True), r"run\.json`, which is not from bnmtl"
    with pytest.raises(ValueError, match=message), folder:
        folder.reserve(["run.json"])
    with pytest.raises(ValueError, match=r"run\.json` must list tasks, settings and files"):
        read_record(tmp_path)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e400", "9" * 400])
def test_numbers_that_no_float_has_are_refused(tmp_path, number):
    sign(tmp_path, {"program": "bnmtl", "tasks": [], "settings": {}, "files": [], "x": 0.25})
    path = tmp_path / "run.json"
    path.write_text(path.read_text().replace("0.25", number))
    with pytest.raises(ValueError, match=r"is damaged \(it has numbers that are not finite\)"):
        read_record(tmp_path)


def test_keys_that_are_numbers_do_not_change_a_digest(tmp_path):
    record = {"program": "bnmtl", "tasks": [], "settings": {}, "files": [], "x": {10: 0, 9: 1.0}}
    sign(tmp_path, record)
    assert read_record(tmp_path)["x"] == {"10": 0, "9": 1.0}


def test_a_record_that_was_changed_owns_nothing(tmp_path):
    fill(run_folder(tmp_path / "run"), ["a.bif"])
    path = tmp_path / "run/run.json"
    text = path.read_text()
    path.write_text(text.replace(" ", "  ").replace("\n", "\r\n"))  # laid out in another way
    assert read_record(tmp_path / "run")["files"] == ["a.bif", "run.json"]
    path.write_text(text.replace('"a.bif"', '"b.bif"'))
    with pytest.raises(ValueError, match=r"run\.json` must be as it was written; it was changed: "):
        read_record(tmp_path / "run")
    with pytest.raises(ValueError, match=r"which is not from bnmtl"):
        fill(run_folder(tmp_path / "run", force=True), ["a.bif"])
    path.write_text(text.replace('"digests"', '"others"'))
    with pytest.raises(ValueError, match="must have digests of the files; it has no digests"):
        read_record(tmp_path / "run")
    path.rename(tmp_path / "record")
    path.symlink_to(tmp_path / "record")
    with pytest.raises(ValueError, match="must name files in its folder"):
        read_record(tmp_path / "run")


def test_files_and_places_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="must name a folder, got ''"):
        run_folder("")
    with pytest.raises(ValueError, match="got the file `.*file`"):
        run_folder(tmp_path / "file")
    for n in (240, 255):
        fill(run_folder(tmp_path / ("n" * n)), ["a.bif"])
        shutil.rmtree(tmp_path / ("n" * n))
    for n in (256, 5000):
        with pytest.raises(ValueError, match="n` .File name too long"):
            run_folder(tmp_path / ("n" * n))
    with pytest.raises(ValueError, match="run` .File name too long"):
        run_folder(tmp_path / ("n" * 256) / "run")
    with pytest.raises(ValueError, match="file/run` .Not a directory"):
        run_folder(tmp_path / "file" / "run")
    (tmp_path / "run").mkdir()
    with run_folder(tmp_path / "run"):
        pass
    assert listing(tmp_path) == ["file", "run"] and listing(tmp_path / "run") == []
    rename = os.rename

    def fails(source, target):
        if os.path.dirname(target) == str(tmp_path / "run"):
            raise OSError(errno.EACCES, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(ValueError, match="run` .Permission denied"):
        run_folder(tmp_path / "run")
    assert listing(tmp_path) == ["file", "run"] and listing(tmp_path / "run") == []


def test_an_error_while_writing_names_the_folder_that_was_given(tmp_path):
    folder = run_folder(tmp_path / "run")
    with pytest.raises(OSError, match="run'$") as caught, folder, folder.writing() as temporary:
        (temporary / "missing" / "a.bif").write_text("a")
    assert caught.value.filename == str(tmp_path / "run")
    assert listing(tmp_path) == []


def test_the_interrupt_handler_is_restored(tmp_path):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        fill(run_folder(tmp_path / "run"), ["a.bif"])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("there", ["nothing", "a run", "a run and a file"])
def test_a_signal_waits_for_the_files(tmp_path, monkeypatch, there, sent):
    """A new folder is moved as a whole, that of a run exchanged, and files are moved one by one."""
    rename = os.rename

    def interrupted(source, target):
        signal.raise_signal(sent)
        return rename(source, target)

    path = tmp_path / "run"
    if there != "nothing":
        fill(run_folder(path), ["a.bif", "old.bif"])
        (path / "a.bif").write_text("old")
    others = ["mine.txt"] if there == "a run and a file" else []
    for name in others:
        (path / name).write_text("mine")
    folder = run_folder(path, force=there != "nothing")
    monkeypatch.setattr("bnmtl.writing._exchanged_at_once", lambda *_: False)
    monkeypatch.setattr(os, "rename", interrupted)
    before = signal.signal(sent, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            fill(folder, ["a.bif"])
    finally:
        signal.signal(sent, before)
    assert listing(path) == ["a.bif", *others, "run.json"] and listing(tmp_path) == ["run"]
    assert (path / "a.bif").read_text() == "new a.bif"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=12), unique=True, max_size=8))
def test_file_names_are_safe_and_different(tasks):
    reserved = ["report.html", "x.bif"]
    names = file_names(tasks, ".bif", reserved)
    assert list(names) == tasks
    folded = [name.casefold() for name in names.values()]
    assert len(set(folded)) == len(folded)
    assert not set(folded) & set(reserved)
    for name in names.values():
        assert name.endswith(".bif")
        assert all(sign.isalnum() or sign in "_.+-" for sign in name)
        assert len(name.encode()) < 200
        assert name[0] not in "-."


def test_file_names_that_need_no_change_stay():
    assert file_names(["a/b", "a_b"], ".bif") == {"a/b": "a_b_2.bif", "a_b": "a_b.bif"}
    assert file_names(["../x", "-rf", "a.b-c"], ".bif") == {
        "../x": "_._x.bif",
        "-rf": "_rf.bif",
        "a.b-c": "a.b-c.bif",
    }
    assert file_names(["x"], ".bif", ["X.BIF"]) == {"x": "x_2.bif"}
    assert file_names(["", "\N{GREEK SMALL LETTER ALPHA}-1.5+"], ".bif") == {
        "": "_.bif",
        "\N{GREEK SMALL LETTER ALPHA}-1.5+": "\N{GREEK SMALL LETTER ALPHA}-1.5+.bif",
    }
    assert len(file_names(["\N{CJK UNIFIED IDEOGRAPH-4E00}" * 300], ".bif").popitem()[1]) < 80


def test_no_file_has_the_name_of_a_device():
    """Windows opens a device of this name whatever the suffix is: opentoonz/opentoonz 2908."""
    devices = ["CON", "prn", "Aux", "NUL", "COM1", "com9", "COM\u00b9", "LPT1", "lpt\u00b3"]
    assert file_names(devices, ".bif") == {name: f"{name}_.bif" for name in devices}
    assert file_names(["CON.old", "nul.a.b", "CON_"], ".bif") == {
        "CON.old": "CON_.old.bif",
        "nul.a.b": "nul_.a.b.bif",
        "CON_": "CON_.bif",
    }
    assert file_names(["CON", "CON_"], ".bif") == {"CON": "CON__2.bif", "CON_": "CON_.bif"}
    assert file_names(["CON ", "CON. ", "CONIN$"], ".bif") == {
        "CON ": "CON_.bif",
        "CON. ": "CON_._.bif",
        "CONIN$": "CONIN_.bif",
    }
    others = ["CONSOLE", "COM", "COM10", "LPT0x", "my.CON", "falcon"]
    assert file_names(others, ".bif") == {name: f"{name}.bif" for name in others}


def test_links_are_not_followed(tmp_path):
    (tmp_path / "mine").write_text("mine")
    path = tmp_path / "run"
    fill(run_folder(path), ["a.bif", "old.bif"])
    for name in ("a.bif", "old.bif"):
        (path / name).unlink()
        (path / name).symlink_to(tmp_path / "mine")
    fill(run_folder(path, force=True), ["a.bif"])
    assert listing(path) == ["a.bif", "run.json"] and (path / "a.bif").read_text() == "new a.bif"
    assert (tmp_path / "mine").read_text() == "mine"
    (tmp_path / "link.csv").symlink_to("nowhere")
    with pytest.raises(ValueError, match="must be a new file, got `.*link.csv`, which exists"):
        OutputFile(str(tmp_path / "link.csv"), (".csv",), False)


def test_a_file_of_the_run_that_became_a_folder_is_kept(tmp_path):
    path = tmp_path / "run"
    fill(run_folder(path), ["a.bif", "old.bif"])
    folder = run_folder(path, force=True)
    (path / "a.bif").unlink()
    (path / "a.bif").mkdir()
    before = listing(path)
    with pytest.raises(ValueError, match="a.bif`, which is not from bnmtl"):
        fill(folder, ["a.bif"])
    assert listing(path) == before and listing(tmp_path) == ["run"]


def tasks():
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1], "c": ["x", "y", "x"]})
    return encode({"north": frame, "south": frame[["a", "b"]], "lone": frame[["c"]]})


def write(tmp_path, text, name="file"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_arcs_for_all_tasks_and_for_one(tmp_path):
    known = tasks()
    path = write(tmp_path, "\ufefffrom,to\r\n\r\na, b\r\nc,a\r\n")
    assert read_arcs(path, known) == [("a", "b"), ("c", "a")]
    path = write(tmp_path, 'from,to,task\na,b,\n"c",a,north\n')
    assert read_arcs(path, known) == {
        "lone": [],
        "north": [("c", "a"), ("a", "b")],
        "south": [("a", "b")],
    }
    assert read_arcs(write(tmp_path, "from,to,task\na,b,\n"), known) == [("a", "b")]
    assert read_arcs(write(tmp_path, "from,to\n"), known) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 must have the columns from,to or from,to,task, got ''"),
        ("a,b\n", "line 1 must have the columns from,to or from,to,task, got 'a,b'"),
        ("from,to\n\na,z\n", "line 3 must name variables of the data, got 'z'"),
        (
            "from,to,task\nc,a,south\n",
            "line 2: task `south` must name variables of the data, got 'c'",
        ),
        (
            "from,to,task\na,b,east\n",
            "line 2 must name one of the tasks `lone`, `north`, `south`, got 'east'",
        ),
        ("from,to\na\n", "line 2 must have a value for each of from,to; it has 1"),
        ("from,to\na,b,c\n", "line 2 must have a value for each of from,to; it has 3"),
        ("from,to\na,a\n", "line 2 must name different variables, got `a` twice"),
        ('from,to\n"a,b\n', "line 2 cannot be read"),
        (b"from,to\n\xff,a\n", "must be text in UTF-8"),
    ],
)
def test_arcs_that_do_not_fit(tmp_path, text, message):
    with pytest.raises(ValueError, match="file`.*" + message.replace("`", "[`]")):
        read_arcs(write(tmp_path, text), tasks())


@pytest.mark.filterwarnings("ignore:No two tasks share", "ignore:.*only one state is observed")
def test_arcs_that_no_task_can_have(tmp_path):
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
    known = encode({"1": frame, "2": frame.assign(c=[0, 1]).drop(columns="b")})
    message = "line 2 must name an arc that a task could have; in each task `b` or `c` is missing"
    with pytest.raises(ValueError, match=message):
        read_arcs(write(tmp_path, "from,to\nb,c\n"), known)
    still = encode({"1": frame, "2": frame.assign(c=1)})
    for text in ("from,to\na,c\n", "from,to,task\na,b,1\nc,a,\n"):
        with pytest.raises(ValueError, match="is missing or constant: remove the arc"):
            read_arcs(write(tmp_path, text), still)


def test_a_missing_file_is_named(tmp_path):
    for read in (read_arcs, read_tiers):
        with pytest.raises(ValueError, match="nowhere` cannot be read .No such file"):
            read(tmp_path / "nowhere", tasks())


def test_tiers_as_lines_and_as_json(tmp_path):
    known = tasks()
    assert read_tiers(write(tmp_path, "a , c\n\nb\n"), known) == [["a", "c"], ["b"]]
    assert read_tiers(write(tmp_path, '[["a", "c"], ["b"]]'), known) == [["a", "c"], ["b"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one tier"),
        ("a\nz\n", "line 2 must name variables of the data, got 'z'"),
        ("a\n\na,b\n", "line 3 must name every variable once; `a` is in line 1"),
        ("a,,b\n", "line 1 must name variables of the data, got ''"),
        ('[["a"], ["b", "a"]]', " must name every variable once; `a` is in tier 1 and in tier 2"),
        ('["a", "b"]', "must be a JSON list of lists"),
        ("[[1]]", "must be a JSON list of lists"),
        ('[["a"]', "must be JSON"),
    ],
)
def test_tiers_that_do_not_fit(tmp_path, text, message):
    with pytest.raises(ValueError, match="file`.*" + message.replace("`", "[`]")):
        read_tiers(write(tmp_path, text), tasks())


def small_network():
    return BayesNet(
        nx.DiGraph([("a", "b")]),
        {"a": ("0", "1"), "b": ("0", "1")},
        {"a": [0.25, 0.75], "b": [[0.5, 0.5], [0.1, 0.9]]},
    )


@pytest.fixture
def small_run(tmp_path):
    """A run of one network, in the folder `run`; returns its record."""
    (tmp_path / "run").mkdir()
    small_network().to_bif(tmp_path / "run/n.bif")
    record = {
        "program": "bnmtl",
        "tasks": [{"name": "n/1", "file": "n.bif"}],
        "settings": {"seed": 3},
        "files": ["n.bif", "run.json"],
    }
    return sign(tmp_path / "run", record, ["n.bif"])


def test_reading_a_run_back(tmp_path, small_run):
    network, path = small_network(), tmp_path / "run"
    run = read_run(path)
    assert run.networks == {"n/1": network}
    assert list(run.configuration["n/1"].edges) == [("a", "b")]
    assert run.settings == {"seed": 3}
    assert run.record == small_run
    assert all(takes_part(run.configuration["n/1"], variable) for variable in "ab")
    small_run["tasks"][0]["constant"] = ["a"]
    sign(path, small_run)
    again = read_run(path).configuration["n/1"]
    assert [takes_part(again, variable) for variable in "ab"] == [False, True]
    assert run.networks == {"n/1": network}
    small_run["tasks"][0]["constant"] = ["c"]
    sign(path, small_run)
    with pytest.raises(ValueError, match="must name variables of its networks; it is damaged"):
        read_run(path)
    del small_run["tasks"][0]["constant"]
    sign(path, small_run)
    (path / "n.bif").unlink()
    with pytest.raises(ValueError, match=r"n\.bif`, that of `n/1`, is missing"):
        read_run(path)
    with pytest.raises(ValueError, match=r"holds no run\.json"):
        read_run(tmp_path / "nowhere")


def test_a_network_that_was_changed_is_read_by_itself_only(tmp_path, small_run):
    path = tmp_path / "run/n.bif"
    path.write_text(path.read_text().replace("0.25, 0.75", "0.75, 0.25"))
    with pytest.raises(ValueError, match=r"n\.bif` must be as its run wrote it; it was changed: "):
        read_run(tmp_path / "run")
    assert BayesNet.from_bif(path).table("a").tolist() == [0.75, 0.25]
    del small_run["digests"]["n.bif"]
    sign(tmp_path / "run", small_run)
    with pytest.raises(ValueError, match="it was changed"):
        read_run(tmp_path / "run")


def test_no_link_is_followed_out_of_a_run(tmp_path, small_run):
    """Even to a file with the right contents; one inside the folder is followed."""
    path = tmp_path / "run/n.bif"
    for target in (tmp_path / "run/other.bif", tmp_path / "other.bif"):
        path.rename(target)
        path.symlink_to(target)
        if target.parent == tmp_path:
            with pytest.raises(ValueError, match=r"run\.json` must name files in its folder"):
                read_run(tmp_path / "run")
        else:
            assert read_run(tmp_path / "run").networks == {"n/1": small_network()}
            path.unlink()
            target.rename(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writer that is killed is a fork")
def test_a_reader_completes_what_a_killed_run_has_begun_to_move(tmp_path, small_run, monkeypatch):
    """A file from elsewhere lets files be moved one by one, under a journal."""
    (tmp_path / "run/mine.txt").write_text("mine")
    child = os.fork()
    if not child:
        monkeypatch.setattr("bnmtl.writing._move_each", lambda *_: os._exit(9))
        with run_folder(tmp_path / "run", force=True) as folder, folder.writing() as temporary:
            small_network().to_bif(temporary / "n.bif")
            sign(temporary, {**small_run, "settings": {"seed": 4}}, ["n.bif"])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert read_run(tmp_path / "run").settings == {"seed": 4}
    assert listing(tmp_path / "run") == ["mine.txt", "n.bif", "run.json"]
    assert listing(tmp_path) == ["run"]


def test_a_strange_record_with_a_right_digest_is_one_sentence(tmp_path, small_run):
    small_run |= {"cut_points": {"a": [0.5, 1.5]}, "sha256": []}
    small_run["settings"] = {"task_column": "t", "na": ["?"], "only_na": [], "group": None}
    small_run["tasks"][0] |= {"constant": ["a"], "rows": 3}
    rows, rng, n_read = pd.DataFrame({"a": [0.0, 1.0], "t": "n/1"}), np.random.default_rng(0), 0
    for _ in range(500):
        small_run["command"] = ["learn", "relate"][rng.integers(2)]  # whose tasks have no files
        changed = damaged(small_run, rng)
        while rng.random() < 0.4:
            changed = damaged(changed, rng)
        sign(tmp_path / "run", changed, ["n.bif"])
        for name in ("run", "run/n.bif"):
            with contextlib.suppress(InputError, InputTypeError), warnings.catch_warnings():
                warnings.simplefilter("ignore", InputWarning)
                networks = read_networks(tmp_path / name)
                networks.cut(rows)
                networks.tasks_of(rows, None)
                assert networks.na_values
                n_read += 1
    assert 100 < n_read < 800
