"""`bnmtl library`, and `bnmtl select` with its folder: what is written, resumed and refused."""

import importlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import listing, mistake, record
from library_classifiers import numeric_frame
from pages import Page

from bnmtl.cli.main import main
from bnmtl.cli.options import LibraryOptions, SelectOptions
from bnmtl.ensembles import (
    EnsembleSelector,
    LibraryEnsemble,
    PredictionStore,
    UnusedCases,
    build_library,
    unused_cases,
)
from bnmtl.ensembles.library import settings, workers
from bnmtl.metrics.prediction import cross_entropy, roc_area
from bnmtl.progress import ProgressEvent

pytestmark = pytest.mark.beside_kernels

FEW = [
    {"family": "naive Bayes"},
    {"family": "logistic regression", "ridge": 1.0},
    {"family": "decision trees", "alpha": 0.02, "smoothing": "Laplace"},
]
LIBRARY = ("library", "table.csv", "--label", "sold", "--profile", "small", "--out", "store")
SELECT = ("select", "store", "--metric", "roc-area", "--bags", "2", "--max-steps", "4")


@pytest.fixture
def few(monkeypatch):
    """Let the profile "small" have few settings."""
    monkeypatch.setitem(settings.PROFILES, "small", lambda *_: FEW)


@pytest.fixture
def in_this_process(monkeypatch):
    """Train here: starting a process takes seconds. Returns the names of what was trained."""
    trained = []

    def run(function, tasks, arguments_of, *_):
        for task in tasks:
            trained.extend(task.names)
            yield workers.Done(task, function(*arguments_of(task)), None, 0.0)

    monkeypatch.setattr(workers, "run", run)
    return trained


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch):
    """Let standard errors be those of few replicates, of commands and by hand alike."""
    monkeypatch.setattr(unused_cases, "_REPLICATES", 20)


@pytest.fixture(scope="module")
def written_once(tmp_path_factory):
    """A folder with what `files` copies, and its tables."""
    folder, tables = tmp_path_factory.mktemp("tables"), {}
    for seed, (name, n_rows) in enumerate({"table": 80, "test": 40, "new": 10}.items()):
        X, y = numeric_frame(n_rows, seed)
        tables[name] = X.round(3).assign(town=np.where(X["c"] > 0, "Ulm", "Ulm, new"), sold=y)
    tables["table"].loc[3, "a"] = np.nan
    tables["new"] = tables["new"].drop(columns="sold").assign(id=np.arange(10) + 7)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder, tables


@pytest.fixture
def files(written_once, tmp_path):
    """A table with a column of text and an empty cell, test cases and new cases, as CSV."""
    folder, tables = written_once
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return {name: table.copy() for name, table in tables.items()}


@pytest.fixture(scope="module")
def built_once(tmp_path_factory):
    """Folders of libraries by the options with which `library` built them."""
    return tmp_path_factory.mktemp("libraries"), {}


@pytest.fixture
def library(call, few, in_this_process, files, written_once, built_once, monkeypatch, tmp_path):
    """A function that copies the library of the table, which the command builds once by options."""
    place, found = built_once

    def copied(*typed, out="store"):
        if typed not in found:
            folder = place / str(len(found))
            with monkeypatch.context() as patch:
                patch.chdir(written_once[0])
                code, _, err = call(*LIBRARY[:-1], folder, *typed)
            assert (code, err) == (0, "")
            found[typed] = folder
        shutil.copytree(found[typed], tmp_path / out)
        in_this_process.clear()

    return copied


def pair(table):
    return table.drop(columns="sold"), table["sold"]


def same(first, second):
    names = sorted(first.names)
    assert names == sorted(second.names)
    assert list(first.parts) == list(second.parts)
    for part in first.parts:
        found = [store.subset(names).predictions(part).tobytes() for store in (first, second)]
        assert found[0] == found[1], part


OPTIONS = {
    (): {},
    ("--hillclimb", 0.4): {"hillclimb": 0.4},
    ("--cv", 3): {"cv": 3},
    ("--seed", 5): {"random_state": 5},
}


def test_the_folder_is_that_of_the_function(call, few, in_this_process, files, tmp_path):
    stores = []
    for typed, given in OPTIONS.items():
        code, out, err = call(*LIBRARY, "--test", "test.csv", *typed, "--force")
        assert (code, err) == (0, "")
        found = PredictionStore.open(tmp_path / "store")
        arguments = {"random_state": 0, "test": pair(files["test"]), **given}
        same(found, build_library(*pair(files["table"]), FEW, **arguments))
        assert found.part("test", labels=True).n_cases == 40
        stores.append(found.predictions("test").tobytes())
    assert len(set(stores)) == len(OPTIONS)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    area = PredictionStore.open(tmp_path / "store").score("roc_area")
    best = area[[name for name in area.index if name.startswith("naive")]].max()
    assert f"naive Bayes 2 0 {best:.4f}" in lines
    assert "6 models in store: 3 settings, raw and calibrated;" in out
    assert "Next: bnmtl select store --metric roc-area\n" in out
    defaults = {"profile": "modern", "hillclimb": None, "cv": None, "seed": 0}
    assert {name: getattr(LibraryOptions, name) for name in defaults} == defaults


def test_the_default_has_five_folds(call, monkeypatch, in_this_process, files, tmp_path):
    monkeypatch.setitem(settings.PROFILES, "modern", lambda *_: FEW[:2])
    library = ("library", "table.csv", "--label", "sold")
    assert call(*library, "--out", "store")[0] == 0
    found = PredictionStore.open(tmp_path / "store")
    same(found, build_library(*pair(files["table"]), FEW[:2], cv=5, random_state=0))
    assert found.library.cv == 5 and len(found.parts["hillclimb"].y) == 80
    assert call(*library, "--out", "share", "--hillclimb", "0.25")[0] == 0
    assert PredictionStore.open(tmp_path / "share").library.cv is None
    rare = files["table"].assign(sold=np.where(np.arange(80) % 25 == 1, "yes", "no"))
    assert build_library(*pair(rare), random_state=0).library.cv == 4


CLASSES = ["Ulm", "Bonn", "Kiel"]


@pytest.fixture
def three(files, tmp_path):
    """The tables with labels of three classes."""
    for name, table in files.items():
        if name != "new":
            code = (table["b"] > 0).astype(int) + (table["c"] > 0.5)
            files[name] = table.assign(sold=np.array(CLASSES)[code])
            files[name].to_csv(tmp_path / f"{name}.csv", index=False)
    return files


@pytest.mark.parametrize("typed", [(), ("--cv", "2")])
def test_several_classes(call, few, in_this_process, three, tmp_path, typed):
    code, out, err = call(*LIBRARY, *typed)
    assert (code, err) == (0, "")
    assert "best cross-entropy" in out and "Next: bnmtl select store --metric cross-entropy" in out
    store = PredictionStore.open(tmp_path / "store")
    assert store.classes.tolist() == sorted(CLASSES) and store.n_models == 6
    options = {"cv": 2} if typed else {"hillclimb": 0.2}
    whole = build_library(*pair(three["table"]), FEW, random_state=0, **options)
    same(store, whole)
    both = ("--test", "test.csv", "--predict", "new.csv", "--out", "out")
    code, out, err = call(*SELECT[:3], "cross-entropy", *SELECT[4:], *both)
    assert (code, err) == (0, "")
    selector = EnsembleSelector(bags=2, max_steps=4, random_state=0).fit(store)
    ensemble = selector.refit(*pair(three["table"]))
    X, y = pair(three["test"])
    p = ensemble.predict_proba(X)
    found = read_unused_cases(tmp_path, "out")[0]
    codes = np.searchsorted(store.classes, y)
    assert found.loc[0, "ensemble"] == pytest.approx(cross_entropy(codes, p), abs=1e-6)
    columns = [f"p_{label}" for label in sorted(CLASSES)]
    assert np.allclose(predicted_part(tmp_path, "out")[columns], p, atol=1e-6)
    predicted = pd.read_csv(tmp_path / "out" / "predicted.csv")
    assert list(predicted) == [*three["new"], *columns]
    assert np.allclose(predicted[columns].sum(axis=1), 1)
    assert ensemble.predict(X).tolist() == ensemble.classes_[p.argmax(axis=1)].tolist()
    one = three["test"].assign(sold="Ulm")
    one.to_csv(tmp_path / "one.csv", index=False)
    err = mistake(call(*SELECT[:3], "accuracy", "--test", "one.csv", "--out", "two"))
    assert "column `sold` must have two classes or more; all are 'Ulm'." in err
    err = mistake(call(*SELECT, "--out", "two"))
    assert "got roc-area; these are the metrics of more than two classes." in err


def test_groups_are_not_divided(call, few, in_this_process, files, tmp_path):
    table = files["table"].assign(patient=np.arange(80) // 4)
    table.to_csv(tmp_path / "table.csv", index=False)
    for typed, options in (((), {}), (("--cv", "2"), {"cv": 2})):
        group = ("--group", "patient", *typed, "--force")
        assert call(*LIBRARY, *group)[0] == 0
        store = PredictionStore.open(tmp_path / "store")
        X, y = pair(files["table"])
        same(store, build_library(X, y, FEW, random_state=0, groups=table["patient"], **options))
        assert list(store.library.columns) == ["a", "b", "c", "town"]
        assert set(store.parts["hillclimb"].groups) <= set(map(str, range(20)))
        again = ("--test", "test.csv", "--out", f"out{len(typed)}")
        code, _, err = call(*SELECT, *again)  # the folder knows the groups
        assert (code, err) == (0, "")
        selector = EnsembleSelector("roc_area", bags=2, max_steps=4, random_state=0).fit(store)
        groups = {"groups": table["patient"]}
        expected = selector.refit(X, y, **groups).predict_proba(pair(files["test"])[0])
        found = predicted_part(tmp_path, again[-1])[["p_no", "p_yes"]]
        assert np.allclose(found, expected, atol=1e-6)
    err = mistake(call(*SELECT, "--group", "patient", "--out", "two"))
    assert (
        "`--group` must come with a CSV file; `store` has its groups in it if there are any" in err
    )


def test_labels_of_test_cases_are_optional(call, few, in_this_process, files, tmp_path):
    files["test"].drop(columns="sold").to_csv(tmp_path / "unlabelled.csv", index=False)
    assert call(*LIBRARY, "--test", "unlabelled.csv")[0] == 0
    store = PredictionStore.open(tmp_path / "store")
    assert store.parts["test"].y is None
    X = files["test"].drop(columns="sold")
    options = {"test": (X, None), "random_state": 0}
    same(store, build_library(*pair(files["table"]), FEW, **options))


def test_text_of_the_table_is_text_in_test_cases(call, few, in_this_process, files, tmp_path):
    for name in ("table", "test"):
        codes = np.where(files[name]["c"] > 0, "250.00", "1.10")
        signs = np.where(files[name]["sold"] == "yes", "+1", "-1")
        files[name] = files[name].assign(town=codes, sold=signs)
        files[name].to_csv(tmp_path / f"{name}.csv", index=False)
    files["table"].loc[0, "town"] = "V45"
    files["table"].to_csv(tmp_path / "table.csv", index=False)
    negative = files["test"][files["test"]["sold"] == "-1"]
    negative.to_csv(tmp_path / "test.csv", index=False)
    code, _, err = call(*LIBRARY, "--test", "test.csv")
    assert (code, err) == (0, "")
    found = PredictionStore.open(tmp_path / "store")
    arguments = {"random_state": 0, "test": pair(negative)}
    same(found, build_library(*pair(files["table"]), FEW, **arguments))


def test_a_finished_library_is_left_as_it_is(call, few, in_this_process, files, tmp_path):
    _, first, _ = call(*LIBRARY)
    assert len(in_this_process) == 3 and "The library was" not in first
    paths = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    times = [path.stat().st_mtime_ns for path in paths]
    code, out, err = call(*LIBRARY, "--jobs", 3)
    assert (code, err) == (0, "")
    assert "The library was complete; nothing was trained.\n" in out
    assert len(in_this_process) == 3
    assert [path.stat().st_mtime_ns for path in paths] == times
    for other in (("--seed", 1), ("--cv", 2), ("--hillclimb", 0.3), ("--test", "test.csv")):
        err = mistake(call(*LIBRARY, *other))
        assert "must be a new folder, or have an unfinished library of the same rows" in err
        assert "`store`, which has another library; choose another one, or set `--force`" in err
    err = mistake(call(*LIBRARY, "--keep-models"))
    assert (
        "`--keep-models` must be as in the first call for `store`; its models were not kept" in err
    )
    files["table"][1:].to_csv(tmp_path / "table.csv", index=False)
    assert "which has another library" in mistake(call(*LIBRARY))
    assert [path.stat().st_mtime_ns for path in paths] == times
    for table in ("store/rows.csv", "link.csv"):  # in the store that is to be replaced
        if table == "link.csv":
            (tmp_path / table).symlink_to("store/rows.csv")
        err = mistake(call("library", table, *LIBRARY[2:], "--force"))
        assert f"must not hold an input that it replaces, got `{table}`; choose another fold" in err
    assert [path.stat().st_mtime_ns for path in paths] == times
    assert call(*LIBRARY, "--force")[0] == 0
    assert len(in_this_process) == 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_killed_command_goes_on(call, few, in_this_process, monkeypatch, files, tmp_path):
    run, process = workers.run, os.fork()
    if not process:
        try:
            tasks = []

            def killed(function, fits, *arguments):
                for task in run(function, fits, *arguments):
                    if len(tasks) == 2:
                        os.kill(os.getpid(), signal.SIGKILL)
                    tasks.append(task)
                    yield task

            monkeypatch.setattr(workers, "run", killed)
            main([*LIBRARY])
        finally:
            os._exit(1)
    _, status = os.waitpid(process, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert PredictionStore.open(tmp_path / "store").n_models == 4
    code, out, err = call(*LIBRARY)
    assert (code, err) == (0, "")
    assert "2 of 3 settings were there from an earlier run.\n" in out
    assert len(in_this_process) == 1
    assert "6 models in store: 3 settings" in out
    whole = build_library(*pair(files["table"]), FEW, random_state=0)
    same(PredictionStore.open(tmp_path / "store"), whole)


def test_an_unfinished_library_is_a_warning(call, library):
    library()
    record = Path("store/library.json")
    content = json.loads(record.read_text())
    record.write_text(json.dumps(content | {"models": [*content["models"], "one more"]}))
    code, _, err = call(*SELECT)
    assert code == 0 and err == (
        "warning: STORE has 3 of 4 settings; its build has not ended: `bnmtl library` with the "
        "same options goes on.\n"
    )


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        (LIBRARY, "interrupted; the same command goes on where it was.\n"),
        ((*LIBRARY, "--force"), "interrupted; the same command without `--force` goes on where"),
        (("select", "hill.csv", "--metric", "lift"), "interrupted; no half-written file is left."),
    ],
)
def test_what_there_is_after_an_interrupt(call, monkeypatch, typed, text):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupted)
    code, _, err = call(*typed)
    assert code == 130 and err.startswith(f"bnmtl: {text}")


def test_test_cases_in_a_library_have_both_classes(call, few, in_this_process, files, tmp_path):
    one = files["test"].assign(sold="yes")
    one.to_csv(tmp_path / "one.csv", index=False)
    assert call(*LIBRARY, "--test", "one.csv")[0] == 0
    said = mistake(call(*SELECT))
    assert "STORE must have test cases of two classes or more; all are 'yes': give others" in said
    assert call(*SELECT, "--test", "test.csv")[0] == 0


def test_families_of_which_all_is_skipped_are_listed(
    call, few, in_this_process, files, monkeypatch
):
    def run(function, tasks, arguments_of, *_):
        for task in tasks:
            failure = "it took too long" if "naive" in task.names[0] else None
            result = None if failure else function(*arguments_of(task))
            yield workers.Done(task, result, failure, 3.0)

    monkeypatch.setattr(workers, "run", run)
    _, out, _ = call(*LIBRARY)
    assert ["naive", "Bayes", "0"] in [line.split() for line in out.splitlines()]


def test_skipped_models_are_a_warning(call, few, in_this_process, files, monkeypatch, tmp_path):
    def run(function, tasks, arguments_of, *_):
        for task in tasks:
            failure = "it took more than 3 seconds" if "naive" in task.names[0] else None
            result = None if failure else function(*arguments_of(task))
            yield workers.Done(task, result, failure, 3.0)

    monkeypatch.setattr(workers, "run", run)
    code, out, err = call(*LIBRARY, "--time-limit", 3)
    assert code == 0 and "4 models in store: 2 settings" in out
    assert err == (
        "warning: `--profile` has 1 of 3 settings that were skipped; first `naive Bayes: Gaussian`:"
        " it took more than 3 seconds: skipped.csv in STORE lists them.\n"
    )
    assert len(pd.read_csv(tmp_path / "store" / "skipped.csv")) == 1


def test_progress_counts_settings(few, in_this_process, files, tmp_path):
    from bnmtl.cli.library import run

    events, table = [], str(tmp_path / "table.csv")
    store = str(tmp_path / "store")
    options = LibraryOptions(table=table, label="sold", profile="small", out=store)
    run(options, events.append)
    assert all(isinstance(event, ProgressEvent) for event in events)
    assert [(event.done, event.total) for event in events] == [(done, 3) for done in range(4)]


@pytest.mark.parametrize("typed", [(), ("--cv", "2")])
def test_new_rows_are_predicted_by_models_trained_again(call, library, files, tmp_path, typed):
    library("--test", "test.csv", *typed)
    (tmp_path / "table.csv").unlink()  # the rows are in the folder
    code, out, err = call(*SELECT, "--predict", "new.csv", "--out", "out")
    assert (code, err) == (0, "")
    store = PredictionStore.open(tmp_path / "store")
    selector = EnsembleSelector("roc_area", bags=2, max_steps=4, random_state=0)
    selector.fit(store)
    expected = selector.refit(*pair(files["table"])).predict_proba(files["new"])
    found = pd.read_csv(tmp_path / "out" / "predicted.csv")
    assert list(found) == [*files["new"], "p_no", "p_yes"]
    pd.testing.assert_frame_equal(found[list(files["new"])], files["new"])
    assert np.allclose(found[["p_no", "p_yes"]], expected, atol=1e-12)
    assert np.ptp(expected[:, 1]) > 0.1
    assert "On the 40 cases of the part test" in " ".join(out.split())


def read_unused_cases(tmp_path, folder):
    """The scores on unused cases and the rest of what is said of them."""
    found = record(tmp_path / folder)["unused_cases"]
    return pd.read_csv(tmp_path / folder / "unused_cases.csv"), found


def predicted_part(tmp_path, folder):
    found = pd.read_csv(tmp_path / folder / "predictions.csv")
    return found[found["part"] == "test"].reset_index(drop=True)


@pytest.mark.parametrize("typed", [(), ("--cv", "2")])
@pytest.mark.parametrize("options", [{}, {"bags": 1, "bag_fraction": 0.3, "random_state": 6}])
def test_test_cases_are_predicted_by_models_trained_again(
    call, library, files, tmp_path, typed, options
):
    library(*typed)
    library("--test", "test.csv", *typed, out="whole")
    (tmp_path / "table.csv").unlink()  # the rows are in the folder
    names = {"random_state": "--seed", "bags": "--bags", "bag_fraction": "--bag-fraction"}
    given = [str(word) for name, value in options.items() for word in (names[name], value)]
    code, out, err = call(*SELECT, *given, "--test", "test.csv", "--out", "out")
    assert (code, err) == (0, "")
    assert call("select", "whole", *SELECT[2:], *given, "--out", "two")[0] == 0
    table, found = read_unused_cases(tmp_path, "out")
    whole, expected = read_unused_cases(tmp_path, "two")
    assert list(table) == ["part", "cases", "ensemble", "best single model"]
    pd.testing.assert_frame_equal(table, whole[list(table)], rtol=0, atol=1e-6)
    for name in ("gain", "standard_error", "optimism"):
        assert found[name] == pytest.approx(expected[name], abs=1e-6)
    pd.testing.assert_frame_equal(
        predicted_part(tmp_path, "out"), predicted_part(tmp_path, "two"), rtol=0, atol=1e-6
    )
    store = PredictionStore.open(tmp_path / "store")
    selector = EnsembleSelector(
        "roc_area", **{"bags": 2, "max_steps": 4, "random_state": 0, **options}
    )
    ensemble = selector.fit(store).refit(*pair(files["table"]))
    single = store.score("roc_area").sort_index().idxmax()
    assert bool(options) == (selector.weights_[single] == 0)
    best = LibraryEnsemble(store, pd.Series({single: 1.0})).fit(*pair(files["table"]))
    X, y = pair(files["test"])
    by_hand = [roc_area(y == "yes", one.predict_proba(X)[:, 1]) for one in (ensemble, best)]
    assert table.loc[0, ["ensemble", "best single model"]].tolist() == pytest.approx(by_hand)
    assert found["gain"] == pytest.approx(by_hand[0] - by_hand[1])
    assert found["optimism"] == pytest.approx(selector.score_ - by_hand[0])
    assert "On the 40 cases of the part test" in " ".join(out.split())
    assert "mean of all" not in out and "nan" not in out.lower()


def test_what_needs_all_models_is_left_out(call, library, files, tmp_path):
    library("--test", "new.csv")  # a part that is replaced
    code, out, _ = call(*SELECT, "--test", "test.csv", "--out", "out")
    assert code == 0 and "mean of all" not in out
    found = record(tmp_path / "out")
    assert found["tasks"] == [{"name": "hillclimb", "rows": 16}, {"name": "test", "rows": 40}]
    assert predicted_part(tmp_path, "out")["label"].tolist() == files["test"]["sold"].tolist()
    assert set(found["unused_cases"]["scores"]) == {"ensemble", "best single model"}
    assert "test" not in pd.read_csv(tmp_path / "out" / "trajectory.csv")
    text = (tmp_path / "out" / "report.html").read_text()
    assert [row[0] for row in Page(text).table("method")] == ["ensemble", "best single model"]
    assert "40 cases of the part test. The models with a weight and the best single model" in text
    assert "test cases" not in text and ">nan<" not in text


def test_test_cases_replace_labelled_ones(call, library, files, tmp_path):
    files["test"][:30].to_csv(tmp_path / "older.csv", index=False)
    library()
    assert call(*LIBRARY[:-1], "older", "--test", "older.csv")[0] == 0
    for folder in ("store", "older"):
        options = (*SELECT[2:], "--test", "test.csv", "--out", f"out-{folder}")
        assert call("select", folder, *options)[0] == 0
    for name in ("unused_cases.csv", "predictions.csv", "trajectory.csv"):
        texts = {(tmp_path / f"out-{folder}" / name).read_text() for folder in ("store", "older")}
        assert len(texts) == 1, name


def test_models_are_trained_again_once(call, library, in_this_process, tmp_path):
    library()
    both = ("--test", "test.csv", "--predict", "new.csv")
    few_models = ("--bags", "1", "--bag-fraction", "0.3", "--seed", "6")
    assert call(*SELECT, *few_models, *both, "--out", "out")[0] == 0
    at_once = list(in_this_process)
    assert len(set(at_once)) == len(at_once) > 0
    for at, name in ((0, "unused_cases.csv"), (2, "predicted.csv")):
        in_this_process.clear()
        folder = f"out{at}"
        assert call(*SELECT, *few_models, *both[at : at + 2], "--out", folder)[0] == 0
        assert (tmp_path / folder / name).read_text() == (tmp_path / "out" / name).read_text()
        assert set(in_this_process) <= set(at_once)
    # The best single model is trained only for test cases.
    assert len(in_this_process) < len(at_once)


def test_progress_counts_models_that_are_trained_again(library, tmp_path):
    from bnmtl.cli import select

    library()
    store = str(tmp_path / "store")
    for at, option in enumerate(("test", "predict")):
        events, file = [], str(tmp_path / {"test": "test.csv", "predict": "new.csv"}[option])
        options = {option: file, "metric": "roc-area", "jobs": 1, "out": str(tmp_path / f"out{at}")}
        options |= {"bags": 2, "max_steps": 4}
        select.run(SelectOptions(store=store, **options), events.append)
        counts = [(event.done, event.total) for event in events if event.stage == "models"]
        assert counts == [(done, counts[0][1]) for done in range(counts[0][1] + 1)]
        assert len(counts) > 1


def test_labels_may_be_numbers_or_text_that_looks_so(call, few, in_this_process, files, tmp_path):
    numbers = {
        name: one.assign(town=np.where(one["c"] > 0, "7.50", "8a")) for name, one in files.items()
    }
    for name in ("table", "test"):
        numbers[name] = numbers[name].assign(sold=(files[name]["sold"] == "yes").astype(int))
    numbers["test"] = numbers["test"].assign(town="7.50")
    for name, table in numbers.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    text = numbers["table"].assign(sold=numbers["table"]["sold"].astype(str))
    build_library(*pair(text), FEW, out=tmp_path / "text", random_state=0)
    assert call(*LIBRARY)[0] == 0
    for folder in ("store", "text"):
        options = (*SELECT[2:], "--test", "test.csv", "--out", f"out-{folder}")
        code, _, err = call("select", folder, *options)
        assert (code, err) == (0, "")
    first, second = (
        read_unused_cases(tmp_path, f"out-{folder}")[0] for folder in ("store", "text")
    )
    pd.testing.assert_frame_equal(first, second)


def test_given_cases_of_hill_climbing_are_kept_too(call, in_this_process, files, tmp_path):
    given = pair(files["table"][50:])
    options = {"hillclimb": given, "random_state": 0}
    build_library(*pair(files["table"][:50]), FEW, out=tmp_path / "store", **options)
    whole = build_library(*pair(files["table"][:50]), FEW, test=pair(files["test"]), **options)
    assert call(*SELECT, "--test", "test.csv", "--out", "out")[0] == 0
    selector = EnsembleSelector("roc_area", bags=2, max_steps=4, random_state=0).fit(whole)
    expected = UnusedCases.on_part(selector).scores[["ensemble", "best single model"]]
    found = read_unused_cases(tmp_path, "out")[0]
    assert found.loc[0, list(expected.index)].tolist() == pytest.approx(expected.tolist(), abs=1e-6)


def test_unknown_categories_are_missing_with_a_warning(call, library, files, tmp_path):
    library()
    for name in ("test", "new"):
        table = files[name].assign(town=["Bonn", None, "Bonn", *files[name]["town"][3:]])
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    options = ("--test", "test.csv", "--predict", "new.csv", "--out", "out")
    code, _, err = call(*SELECT, *options)
    assert code == 0
    said = "has values that are not in the training rows, treated as missing; 2 in `town`.\n"
    assert err == f"warning: ROWS {said}warning: `--test` {said}"
    assert call(*LIBRARY, "--test", "test.csv", "--out", "whole")[0] == 0
    assert call("select", "whole", *SELECT[2:], "--out", "two")[0] == 0
    found = [read_unused_cases(tmp_path, folder)[0]["ensemble"][0] for folder in ("out", "two")]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


# What is typed after `bnmtl library`, and part of what is answered.
MISTAKES = """\
nowhere.csv => File `nowhere.csv` does not exist; check the path.
table.csv --label z => `--label` must be a column of TABLE, `b`, `a`, `c`, `town`, `sold`, got z.
missing.csv => File `missing.csv`: `--label`: column `sold` must be complete; it is not in row 4
one.csv => `--label` must have two classes or more; all are 'yes'.
empty.csv => File `empty.csv` must have rows below its header; it has none.
labels.csv => TABLE must have one column or more besides the labels.
single.csv => `--cv` must leave cases of both classes in every part; class 'yes' has 1 row.
single.csv --hillclimb 0.2 => `--hillclimb` must leave cases of both classes in every part; cla
table.csv --group z => `--group` must be a column of TABLE, `b`, `a`, `c`, `town`, `sold`, got z.
table.csv --group sold => `--group` must be another column than the labels, got 'sold'.
table.csv --group a => File `table.csv`: `--group`: column `a` must be complete; it is not in row 4
table.csv --cv 1 => `--cv` must be a whole number of at least 2, got 1.
table.csv --cv 70 => `--cv` must be at most
table.csv --profile big => `--profile` must be modern, small or thesis, got big.
table.csv --hillclimb 1 => `--hillclimb` must be a number above 0 and below 1, got 1.
table.csv --hillclimb 0.3 --cv 3 => `--hillclimb` must not go with `--cv`, got 0.3
table.csv --hillclimb 0.001 => `--hillclimb` must leave 2 rows for hill climbing, and 2 for trai
table.csv --time-limit 0 => `--time-limit` must be a number above 0, got 0.
table.csv --max-memory 0 => `--max-memory` must be a number above 0, got 0.
table.csv --jobs 0 => `--jobs` must be a whole number of at least 1, got 0.
table.csv --keep-modles => `--keep-modles` is not an option of `bnmtl library`: take `--keep-mod
table.csv --test nowhere.csv => File `nowhere.csv` does not exist; check the path.
table.csv --test few.csv => `--test` must have all columns of the training rows; `a`
table.csv --test word.csv => `--test`: column `a` must be numbers, as in the training rows.
table.csv --test maybe.csv => `--label` of part `test` must have only the classes `no`, `yes`, got
table.csv --test missing.csv => File `missing.csv`: `--label`: column `sold` must be complete; it
table.csv --out . => `--out` must be a new or empty folder, got `
table.csv --out . --force => `--out` must be a new or empty folder, got `
table.csv --out= => `--out` must name a folder, got nothing.
table.csv --out table.csv => table.csv`; choose another name.
"""


@pytest.fixture(scope="module")
def wrong_once(written_once, tmp_path_factory):
    """A folder with what `wrong_files` copies."""
    folder, table = tmp_path_factory.mktemp("wrong"), written_once[1]["table"]
    wrong = {
        "missing": table.assign(sold=table["sold"].where(table.index != 3)),
        "one": table.assign(sold="yes"),
        "empty": table[:0],
        "labels": table[["sold"]],
        "single": table.assign(sold=np.where(table.index == 5, "yes", "no")),
        "few": table.drop(columns="a"),
        "word": table.assign(a="much"),
        "maybe": table.assign(sold="maybe"),
    }
    for name, one in wrong.items():
        one.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture
def wrong_files(wrong_once, files, tmp_path):
    """Further tables, each with one mistake."""
    shutil.copytree(wrong_once, tmp_path, dirs_exist_ok=True)
    return listing(tmp_path)


@pytest.mark.parametrize("line", MISTAKES.splitlines())
def test_a_mistake_is_one_line(call, few, in_this_process, wrong_files, tmp_path, line):
    typed, message = line.split(" => ")
    label = () if "--label" in typed else ("--label", "sold")
    out = () if "--out" in typed else ("--out", "store")
    assert message in mistake(call("library", *typed.split(), *label, *out))
    assert listing(tmp_path) == wrong_files


def test_what_must_be_given(call, files):
    see = "must be given: see `bnmtl library --help`.\n"
    assert mistake(call("library")) == f"bnmtl: TABLE {see}"
    assert mistake(call("library", "table.csv")) == f"bnmtl: `--label Y` {see}"


class FullWorker:
    """A process without memory for tasks; starting a real one takes seconds."""

    def __init__(self, memory):
        assert memory == 10**6

    def has_memory(self):
        return False

    def end(self):
        pass


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory")
def test_too_little_memory_to_start_a_process(call, few, files, monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "_Worker", FullWorker)
    store = PredictionStore([[0.1, 0.9]], [0, 1]).save(tmp_path / "store")
    err = mistake(call(*LIBRARY, "--jobs", 2, "--max-memory", 0.002, "--force"))
    same(PredictionStore.open(tmp_path / "store"), store)
    expected = "must be enough for every process, got 0.002 GB; set it higher, or use fewer jobs."
    assert err == f"bnmtl: `--max-memory` {expected}\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("few", "File `few.csv`: ROWS must have all columns of the training rows; `a` is missing"),
        ("word", "File `word.csv`: ROWS: column `a` must be numbers, as in the training rows."),
        ("done", "ROWS must not have columns that will be written; it has `p_yes`"),
        ("nowhere", "File `nowhere.csv` does not exist"),
    ],
)
def test_new_rows_that_cannot_be_predicted(
    call, library, wrong_files, files, tmp_path, rows, message
):
    files["new"].assign(p_yes=1).to_csv(tmp_path / "done.csv", index=False)
    library()
    err = mistake(call(*SELECT, "--predict", f"{rows}.csv", "--out", "out"))
    assert message in err
    assert not (tmp_path / "out").exists()


def test_a_store_without_training_rows_cannot_predict(call, library, tmp_path):
    library()
    (tmp_path / "store" / "rows.csv").unlink()
    err = mistake(call(*SELECT, "--predict", "new.csv", "--out", "out"))
    assert "`--predict` must come with training rows, on which the chosen models" in err
    assert "`store` keeps none" in err
    err = mistake(call(*SELECT, "--test", "test.csv", "--out", "out"))
    assert "`--test` must come with training rows, on which the chosen models" in err
    assert "keeps none: predict with each model, and give CSV files of predictions as STORE" in err


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("few", "File `few.csv`: `--test` must have all columns of the training rows; `a` is"),
        ("word", "File `word.csv`: `--test`: column `a` must be numbers, as in the training rows."),
        ("new", "File `new.csv`: `--test` must have the labels of the library, `sold`; it has `b`"),
        ("missing", "File `missing.csv`: `--test`: column `sold` must be complete; it is not in"),
        (
            "maybe",
            "File `maybe.csv`: `--test`: column `sold` must have only the classes `no`, `yes`",
        ),
        (
            "one",
            "File `one.csv`: `--test`: column `sold` must have two classes or more; all are 'y",
        ),
        ("empty", "File `empty.csv` must have rows below its header; it has none."),
        ("nowhere", "File `nowhere.csv` does not exist; check the path."),
    ],
)
def test_test_cases_that_cannot_be_scored(
    call, library, wrong_files, monkeypatch, tmp_path, test, message
):
    library()
    monkeypatch.setattr(EnsembleSelector, "fit", None)  # mistakes are found before it
    assert message in mistake(call(*SELECT, "--test", f"{test}.csv", "--out", "out"))
    assert not (tmp_path / "out").exists()
