"""Building libraries of models: embedded cross-validation, trouble, kills, and training again."""

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import library_classifiers
import numpy as np
import pandas as pd
import pytest
from joblib.externals.loky import ProcessPoolExecutor
from library_classifiers import (
    GATE,
    SETTINGS,
    Troubled,
    Waits,
    build,
    numeric_frame,
    run_here,
)
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bnmtl.calibration import AdaBoostM1, AutoCalibrator
from bnmtl.ensembles import (
    EnsembleSelector,
    LibraryEnsemble,
    PredictionStore,
    build_library,
    load_model,
)
from bnmtl.ensembles.entries import rounded
from bnmtl.ensembles.library import families, refit, workers
from bnmtl.ensembles.library.columns import Rows
from bnmtl.ensembles.library.record import SKIPPED_COLUMNS, read_library_json, training_rows
from bnmtl.ensembles.library.settings import fits_of
from bnmtl.ensembles.library.trained import seed_for
from bnmtl.errors import InputError, InputTypeError

pytestmark = pytest.mark.beside_kernels
RIDGES = [{"family": "logistic regression", "ridge": ridge} for ridge in (1.0, 100.0)]
SEED = 4


@pytest.fixture
def in_this_process(monkeypatch):
    """Run fits here: starting a process takes seconds."""
    monkeypatch.setattr(workers, "run", run_here)


def fork_workers(patch):
    """Let workers be copies of one process that has loaded what each would load for seconds."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([families.__name__])
        patch.setattr(workers, "ProcessPoolExecutor", partial(ProcessPoolExecutor, context=context))


@pytest.fixture
def forked(monkeypatch):
    """Start processes by copying one; `test_a_killed_build_goes_on` starts them as users do."""
    fork_workers(monkeypatch)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A library with embedded cross-validation in a folder, of fits in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "run", run_here)
        return build(tmp_path_factory.mktemp("built") / "store")


def same(first, second):
    """Whether two stores have the same predictions, in any order of models."""
    assert sorted(first.names) == sorted(second.names)
    names = sorted(first.names)
    assert list(first.parts) == list(second.parts)
    for part in first.parts:
        found = [store.subset(names).predictions(part).tobytes() for store in (first, second)]
        assert found[0] == found[1], part
    columns = ["family", "parameters", "columns", "calibrated", "imputed"]
    one, other = (store.settings.loc[names, columns] for store in (first, second))
    pd.testing.assert_frame_equal(one, other, check_dtype=False)


# Embedded cross-validation


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def test_siblings_are_separate_models(built):
    """A sibling does not see its fold; it predicts it, and is calibrated on it."""
    X, y = numeric_frame()
    test_X, _ = numeric_frame(20, seed=2)
    fits = fits_of(SETTINGS, 60, Rows(X, y, 0.2, None).columns)
    makers = {
        "boosted stumps: resampled, 2 steps": lambda seed: boosted(2, seed),
        "boosted stumps: resampled, 5 steps": lambda seed: boosted(5, seed),
        "decision trees: gini, alpha 0.01": lambda seed: DecisionTreeClassifier(
            ccp_alpha=0.01, random_state=seed
        ),
        "logistic regression: ridge 2": lambda seed: scaled(LogisticRegression(C=0.5)),
        "waits": lambda seed: GaussianNB(),
    }
    assert {name.removesuffix(" (calibrated)") for name in built.names} == set(makers)
    folds = built.parts["hillclimb"].folds
    assert np.bincount(folds).tolist() == [30, 30, 30]
    counts = pd.crosstab(folds, y)
    assert (counts.max() - counts.min()).max() <= 1
    X, test_X = X[["a", "b", "c"]].to_numpy(), test_X[["a", "b", "c"]].to_numpy()
    for fit in fits:
        for name in fit.names:
            raw, calibrated, tests = np.empty(90), np.empty(90), []
            for fold in range(3):
                inside = folds == fold
                model = makers[name](seed_for(SEED, fit, fold)).fit(X[~inside], y[~inside])
                raw[inside] = model.predict_proba(X[inside])[:, 1]
                auto = AutoCalibrator().fit(raw[inside], y[inside] == "yes")
                calibrated[inside] = auto.predict(raw[inside])
                scores = model.predict_proba(test_X)[:, 1]
                tests.append([scores, auto.predict(scores)])
            for at, (suffix, expected) in enumerate([("", raw), (" (calibrated)", calibrated)]):
                one = built.subset([name + suffix])
                np.testing.assert_allclose(one.predictions()[0], expected, atol=1e-6)
                siblings = np.array([both[at] for both in tests])
                np.testing.assert_allclose(
                    one.predictions("test")[0], siblings.mean(axis=0), atol=1e-6
                )
                for fold in range(3):
                    found = one.predictions(f"sibling{fold + 1}")[0]
                    np.testing.assert_allclose(found, siblings[fold], atol=1e-6)


def boosted(steps, seed):
    return AdaBoostM1(DecisionTreeClassifier(max_depth=1), steps, random_state=seed)


def test_what_a_store_of_a_library_has(built):
    X, y = numeric_frame()
    _, test_y = numeric_frame(20, seed=2)
    assert list(built.parts) == ["hillclimb", "test", "sibling1", "sibling2", "sibling3"]
    assert built.classes[built.parts["hillclimb"].y].tolist() == y.tolist()
    for part in ("test", "sibling2"):
        assert built.classes[built.parts[part].y].tolist() == test_y.tolist()
    settings = built.settings
    assert settings["calibrated"].tolist() == [
        name.endswith("(calibrated)") for name in built.names
    ]
    assert not settings["imputed"].any() and (settings["bytes"] > 1000).all()
    assert (settings["seconds"] >= 0).all()
    one = settings.loc["boosted stumps: resampled, 5 steps"]
    assert one["family"] == "boosted stumps" and one["columns"] == "numbers"
    parameters = {"loss": "exponential", "resample": True, "steps": 5}
    assert json.loads(one["parameters"]) == parameters
    record = built.library
    assert (record.cv, record.hillclimb, record.seed, record.label) == (3, None, SEED, "sold")
    assert record.columns == {"a": None, "b": None, "c": None} and len(record.models) == 5
    rows, labels = training_rows(built)[:2]
    pd.testing.assert_frame_equal(rows, X[["a", "b", "c"]])
    assert labels.tolist() == y.tolist()
    assert not len(built.skipped)
    opened = PredictionStore.open(built.path)
    assert opened.library == record and opened.names == built.names


def test_processes_and_their_number_do_not_matter(forked, built):
    again = build(None, keep_models=False, n_jobs=2)
    same(again, built)
    assert again.path is None and "file" not in again.settings


def test_other_seeds_give_other_models(in_this_process):
    X, y = numeric_frame()
    arguments = X, y, [{"family": "boosted stumps", "steps": 2}]
    options = {"cv": 2, "test": numeric_frame(20, seed=2), "each_sibling": True}
    generator = np.random.default_rng(0)
    first = build_library(*arguments, random_state=generator, **options)
    second = build_library(*arguments, random_state=generator, **options)
    generator = np.random.default_rng(0)
    same(first, build_library(*arguments, random_state=generator, **options))
    names = list(first.names)
    assert (first.predictions() != second.subset(names).predictions()).any()


# Kills and folders


def alive(process):
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_a_killed_build_goes_on(in_this_process, built, tmp_path):
    folder, gate = tmp_path / "store", tmp_path / "gate"
    gate.touch()
    command = [sys.executable, library_classifiers.__file__, str(folder)]
    environment = {**os.environ, GATE: str(gate)}
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        # The last model waits, when those before are in the store.
        wait_for(lambda: gate.read_text() or process.poll() is not None)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    worker = int(gate.read_text())
    before = PredictionStore.open(folder)
    assert 0 < before.n_models == built.n_models - 2
    files = sorted(folder.rglob("*.npy")) + sorted(folder.rglob("*.joblib"))
    times = [file.stat().st_mtime_ns for file in files]
    events = []
    gate.unlink()
    try:
        wait_for(lambda: not alive(worker), 20)
    finally:
        if alive(worker):
            os.kill(worker, signal.SIGKILL)
    again = build(folder, progress=events.append)
    same(again, built)
    assert again.names[: before.n_models] == before.names
    assert [file.stat().st_mtime_ns for file in files] == times
    assert [(event.done, event.total) for event in events] == [(4, 5), (5, 5)]
    same(PredictionStore.open(folder), built)


def test_a_finished_library_opens_unchanged(built, monkeypatch):
    def no_process(*arguments):
        raise AssertionError("nothing is left to be trained")

    monkeypatch.setattr(workers, "run", no_process)
    files = {path: path.stat().st_mtime_ns for path in built.path.rglob("*") if path.is_file()}
    for seed in (SEED, None):  # without a seed, that of the folder
        again = build(built.path, random_state=seed)
        same(again, built)
        assert again.library.estimators["waits"] is SETTINGS[-1][1]
    assert files == {path: path.stat().st_mtime_ns for path in files}


def test_another_library_needs_force(in_this_process, tmp_path):
    X, y = numeric_frame(40)
    folder, options = tmp_path / "store", {"random_state": 1}
    first = build_library(X, y, RIDGES, out=folder, **options)
    others = {
        "rows": ((X + 1, y, RIDGES), {}),
        "labels": ((X, y[::-1].to_numpy(), RIDGES), {}),
        "settings": ((X, y, RIDGES[:1]), {}),
        "seed": ((X, y, RIDGES), {"random_state": 2}),
        "share": ((X, y, RIDGES), {"hillclimb": 0.3}),
        "folds": ((X, y, RIDGES), {"cv": 2}),
        "cases": ((X, y, RIDGES), {"hillclimb": (X, y)}),
        "calibration": ((X, y, RIDGES), {"calibration": "platt"}),
        "test": ((X, y, RIDGES), {"test": (X, y)}),
    }
    message = "`out` must be a new folder, or have an unfinished library of the same rows and sett"
    for arguments, changed in others.values():
        with pytest.raises(InputError, match=message):
            build_library(*arguments, out=folder, **{**options, **changed})
        same(PredictionStore.open(folder), first)
    same(
        build_library(X[["c", "b", "a"]].assign(d=0)[["a", "b", "c"]], y, RIDGES, out=folder), first
    )
    again = build_library(X, y, RIDGES[:1], out=folder, force=True)
    assert again.n_models == 2 and PredictionStore.open(folder).names == again.names
    assert PredictionStore.open(folder).library == again.library
    plain = PredictionStore([[0.1, 0.2]], [0, 1]).save(tmp_path / "plain")
    with pytest.raises(ValueError, match="plain"):
        build_library(X, y, RIDGES, out=plain.path)


def test_another_classifier_of_the_same_name_is_another_library(in_this_process, tmp_path):
    X, y = numeric_frame(40)
    options = {"out": tmp_path / "store", "random_state": 1}
    build_library(X, y, [("mine", LogisticRegression())], **options)
    with pytest.raises(InputError, match="has another library"):
        build_library(X, y, [("mine", LogisticRegression(C=9))], **options)


def test_parts_by_sibling_cannot_be_added(in_this_process, tmp_path):
    X, y = numeric_frame(40)
    options = {"out": tmp_path / "store", "random_state": 1, "cv": 2, "test": (X, None)}
    store = build_library(X, y, RIDGES, **options)
    assert list(store.parts) == ["hillclimb", "test"] and store.parts["test"].y is None
    with pytest.raises(InputError, match="`each_sibling` must be as in the first call"):
        build_library(X, y, RIDGES, each_sibling=True, **options)


def test_a_damaged_record(in_this_process, tmp_path):
    X, y = numeric_frame(40)
    folder = tmp_path / "store"
    build_library(X, y, RIDGES, out=folder)
    file = folder / "library.json"
    content = json.loads(file.read_text())
    for text, message in (
        ("{", "must be as it was written; it is damaged"),
        (json.dumps({**content, "more": 1}), "must be as it was written; it is damaged"),
        (json.dumps({**content, "version": 2}), "must be of version 1"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=message):
            build_library(X, y, RIDGES, out=folder)
    assert build_library(X, y, RIDGES, out=folder, force=True).n_models == 4
    for text in ("", "model\nnet\n"):
        (folder / "skipped.csv").write_text(text)
        with pytest.raises(InputError, match="it is damaged: delete it to try these models"):
            PredictionStore.open(folder)


# Trouble


TROUBLE = {
    "fails": "ValueError: there is no",
    "exits": "its process ended, for example for lack of memory",
    "greedy": "it needed more memory than it may have",
    "improbable": "its predictions are not probabilities",
    "hangs": "it took more than 2 seconds",
}
LIMITS = {"time_limit": 2, "max_memory": 2 * 10**9}


@pytest.fixture(scope="module")
def troubled(tmp_path_factory):
    """Arguments of a library whose models get into trouble, its store, and the warning."""
    place = tmp_path_factory.mktemp("trouble")
    X, y = numeric_frame(50)
    settings = [(kind, Troubled(kind, str(place))) for kind in TROUBLE]
    settings.insert(3, RIDGES[0])
    arguments = {"profile": settings, "out": place / "store", "random_state": 0}
    with pytest.MonkeyPatch.context() as patch:
        fork_workers(patch)
        patch.setattr(workers, "check_memory", lambda *_: None)
        with pytest.warns(UserWarning, match="skipped") as caught:
            store = build_library(X, y, **arguments, **LIMITS)
    return place, (X, y), arguments, store, str(caught[0].message)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory, uses /proc")


@linux
def test_models_in_trouble_are_skipped_and_recorded(troubled):
    place, _, _, store, warning = troubled
    name = "logistic regression: ridge 1"
    assert store.names == (name, f"{name} (calibrated)")
    skipped = store.skipped.set_index("model")
    assert skipped["reason"].to_dict() == TROUBLE
    assert (skipped["family"] == "Troubled").all() and (skipped["time_limit"] == 2).all()
    assert 2 <= skipped.loc["hangs", "seconds"] < 8
    assert warning == (
        "`profile` has 5 of 6 settings that were skipped; first `fails`: ValueError: there is"
        " no: `skipped` of the store lists them."
    )
    for kind in TROUBLE:
        (process,) = map(int, (place / kind).read_text().split())  # trained once
        assert not alive(process), kind
    for other in (PredictionStore.open(store.path), store.save(place / "copy")):
        pd.testing.assert_frame_equal(other.skipped, store.skipped, check_dtype=False)


@linux
def test_skipped_models_are_tried_again_only_under_other_limits(forked, troubled, monkeypatch):
    place, rows, arguments, store, warning = troubled
    monkeypatch.setattr(workers, "check_memory", lambda *_: None)
    with pytest.warns(UserWarning) as caught:
        again = build_library(*rows, **arguments, **LIMITS)
    assert str(caught[0].message) == warning
    same(again, store)
    counts = {kind: len((place / kind).read_text().split()) for kind in TROUBLE}
    assert set(counts.values()) == {1}
    (place / "calm").touch()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = build_library(*rows, **arguments, time_limit=30)
    assert again.n_models == 12 and not len(again.skipped)
    assert not len(PredictionStore.open(store.path).skipped)
    counts = {kind: len((place / kind).read_text().split()) for kind in TROUBLE}
    assert set(counts.values()) == {2}


def test_what_took_too_long_does_not_count():
    """Also if it has ended when it is looked at."""
    future = Future()
    future.set_result("result")
    worker = SimpleNamespace(task="task", future=future, seconds=0.3)
    failed = workers.Done("task", None, "it took more than 0.1 seconds", 0.1)
    assert workers._finished(worker, 0.1) == failed
    assert workers._finished(worker, 1) == workers.Done("task", "result", None, 0.3)


def test_a_warm_up_does_not_count(forked):
    options = {"n_workers": 1, "time_limit": 1.0, "warm_up": library_classifiers.nap}
    (done,) = workers.run(abs, [-3], lambda task: (task,), **options)
    assert (done.result, done.failure) == (3, None) and done.seconds < 1


def test_networks_are_compiled_before_they_are_trained(monkeypatch, tmp_path):
    given = []

    def run(function, tasks, *options):
        given.append(options[-1])
        return iter(())

    monkeypatch.setattr(workers, "run", run)
    monkeypatch.setattr(workers, "check_memory", lambda *_: None)
    X, y = numeric_frame(40)
    network = [{"family": "Bayesian network", "score": "BIC"}]
    for settings, memory in ((network, None), (network, 2 * 10**9), (RIDGES, None)):
        build_library(X, y, settings, max_memory=memory, out=tmp_path / str(len(given)))
    assert given == [families.compile_networks, None, None]


def test_networks_of_all_kinds_are_compiled(monkeypatch):
    made = []

    def scores(self, X):
        made.append(type(self.estimator))

    monkeypatch.setattr(families.Single, "scores", scores)
    families.compile_networks()
    assert len(made) == 6 + 2 + 2 and len(set(made)) == 3


def test_nothing_that_can_be_trained(in_this_process, tmp_path):
    X, y = numeric_frame(30)
    settings = [("a", Troubled("fails", str(tmp_path))), ("b", Troubled("fails", str(tmp_path)))]
    message = "`profile` must have settings that can be trained; `a`: ValueError: there is no"
    with pytest.raises(InputError, match=message):
        build_library(X, y, settings)


@linux
def test_too_little_memory_for_any_process(forked):
    X, y = numeric_frame(30)
    with pytest.raises(
        InputError, match="`max_memory` must be enough for every process, got 1e-06 GB"
    ):
        build_library(X, y, RIDGES, max_memory=1000)


# Memory of this process


def predicting(n_cases):
    """In place of `workers.run`: any predictions."""

    def run(function, tasks, *_):
        for number, fit in enumerate(tasks):
            p = np.random.default_rng(number).random((2, n_cases))
            names = [name + kind for name in fit.names for kind in ("", " (calibrated)")]
            settings = [{"family": fit.family}] * 2
            yield workers.Done(fit, ({"hillclimb": p}, names, settings), None, 0.0)

    return run


def peak(n_models, n_cases, out, monkeypatch):
    """Most bytes that Python and numpy had during a build."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    hillclimb = rng.normal(size=(n_cases, 2)), np.arange(n_cases) % 2
    monkeypatch.setattr(workers, "run", predicting(n_cases))
    settings = [{"family": "logistic regression", "ridge": float(one)} for one in range(n_models)]
    tracemalloc.start()
    store = build_library(X, y, settings, hillclimb=hillclimb, out=out)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert store.n_models == 2 * n_models
    return found


def test_memory_does_not_grow_with_the_number_of_models(monkeypatch, tmp_path):
    n_cases, stored = 10_000, 20 * 2 * 4 * 10_000
    few = peak(2, n_cases, tmp_path / "few", monkeypatch)
    many = peak(20, n_cases, tmp_path / "many", monkeypatch)
    assert many < few + stored / 4
    without = [peak(n_models, n_cases, None, monkeypatch) for n_models in (2, 20)]
    assert without[1] > without[0] + stored / 2


@linux
def test_files_are_not_held_open(monkeypatch, tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    peak(15, 10, tmp_path / "store", monkeypatch)
    store = PredictionStore.open(tmp_path / "store")
    assert len(os.listdir("/proc/self/fd")) < before + 10
    assert store.predictions().shape == (30, 10)


# Rows


@pytest.mark.parametrize("share", [0.25, 15, np.int64(15), np.float32(0.25)])
def test_a_share_of_the_rows_is_held_out(share):
    X, y = numeric_frame(60)
    cases = Rows(X, y, share, None).cases(None, 3)
    assert cases.X.shape == (45, 3) and cases.folds is None
    both = np.vstack([cases.X, cases.hillclimb[0]])
    matrix = X[["a", "b", "c"]].to_numpy()
    assert sorted(map(tuple, both)) == sorted(map(tuple, matrix))
    labels = dict(zip(map(tuple, matrix), (y == "yes").astype(int), strict=True))
    assert [labels[tuple(row)] for row in both] == [*cases.y, *cases.hillclimb[1]]
    assert abs(cases.hillclimb[1].mean() - cases.y.mean()) < 0.05
    again, other = (Rows(X, y, share, None).cases(None, seed) for seed in (3, 5))
    np.testing.assert_array_equal(again.X, cases.X)
    assert (other.X != cases.X).any()


def test_numbers_of_numpy_are_numbers(in_this_process, tmp_path):
    X, y = numeric_frame(60)
    options = {"hillclimb": np.int64(15), "random_state": np.int64(2), "out": tmp_path / "store"}
    first = build_library(X, y, RIDGES, **options)
    again = build_library(X, y, RIDGES, hillclimb=15, random_state=2, out=tmp_path / "store")
    same(first, again)


def test_given_cases_of_hill_climbing(in_this_process, tmp_path):
    X, y = numeric_frame(60)
    pair = numeric_frame(25, seed=3)
    settings = [{"family": "logistic regression"}, ("mine", GaussianNB())]
    options = {"hillclimb": pair, "random_state": 0, "test": (X[:9], None)}
    store = build_library(X, y, settings, out=tmp_path / "store", **options)
    model = GaussianNB().fit(X[["a", "b", "c"]], y)
    expected = model.predict_proba(pair[0][["a", "b", "c"]])[:, 1]
    found = store.subset(["mine"]).predictions()[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert store.classes[store.parts["hillclimb"].y].tolist() == pair[1].tolist()
    assert store.parts["hillclimb"].folds is None
    rows, labels = training_rows(store)[2]
    pd.testing.assert_frame_equal(rows, pair[0][["a", "b", "c"]])
    assert labels.tolist() == pair[1].tolist()
    weights = pd.Series(1.0, store.names)
    ensemble = LibraryEnsemble(store, weights).fit(X, y, hillclimb=pair)
    expected = store.predictions("test").astype(float).mean(axis=0)
    np.testing.assert_allclose(ensemble.predict_proba(X[:9])[:, 1], expected, atol=1e-12)
    with pytest.raises(InputError, match="`hillclimb` must be the cases of hill climbing that the"):
        LibraryEnsemble(store, weights).fit(X, y)
    with pytest.raises(InputError, match="`X` must be the rows from which the library was built"):
        LibraryEnsemble(store, weights).fit(X, y, hillclimb=numeric_frame(25, seed=4))


@pytest.mark.parametrize(
    "labels",
    [
        (False, True),
        (3, 7),
        (-1.5, 1.0),
        ("01", "1"),
        ("no", "yes"),
        ("", "sold"),
    ],
)
def test_labels_of_several_kinds(labels, in_this_process, tmp_path):
    X, y = numeric_frame(40)
    X = X.rename(columns={"c": "y"})  # the name of labels without a name
    y = np.array([labels[one == "yes"] for one in y])
    store = build_library(X, y, RIDGES[:1], out=tmp_path / "store", random_state=0, test=(X, y))
    assert store.classes.tolist() == list(labels)
    opened = PredictionStore.open(tmp_path / "store")
    assert opened.classes[opened.parts["test"].y].tolist() == y.tolist()
    rows, found = training_rows(opened)[:2]
    assert found.tolist() == y.tolist() and opened.library.label == "y_"
    pd.testing.assert_frame_equal(rows, X[["a", "b", "y"]])
    ensemble = LibraryEnsemble(opened, pd.Series(1.0, opened.names[:1])).fit(rows, found)
    assert set(ensemble.predict(X).tolist()) == set(labels)
    assert (ensemble.predict(X) == y).mean() > 0.6


def test_saved_rows_are_those_that_were_given(in_this_process, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=40) * 10.0 ** rng.integers(-30, 30, 40)})
    X["text"] = rng.choice(["None", "NA", "a,b", '"', "1.0", "a\rb", "a\r\nb"], 40)
    X["text"] = X["text"].astype(object)
    X["grade"] = pd.Categorical(rng.choice(["low", "top"], 40), ["low", "top"], ordered=True)
    X.loc[3] = None
    y = np.arange(40) % 2
    store = build_library(X, y, [{"family": "decision trees"}], out=tmp_path / "store")
    rows, labels = training_rows(store)[:2]
    first = Rows(X, y, 0.2, None)
    again = Rows(rows, labels, 0.2, None, store.library.known_columns, store.classes)
    assert first.X.tobytes() == again.X.tobytes() and labels.tolist() == y.tolist()
    assert again.digest() == store.library.digest
    assert np.isnan(first.X).sum() == 3
    content = (tmp_path / "store/rows.csv").read_bytes()
    for damaged in (b"", content[:100], content.replace(b"grade", b"great"), b"\xff" + content):
        (tmp_path / "store/rows.csv").write_bytes(damaged)
        with pytest.raises(InputError, match="rows.csv` must be as it was written; it is damaged"):
            training_rows(store)


X, Y = numeric_frame(30)
MISTAKES = [
    ({"y": ["a"] * 30}, "`y` must have two classes or more"),
    ({"y": Y[:9]}, "`y` must be one label per row, 30, got 9"),
    ({"y": [None, *Y[1:]]}, "`y` must not be missing"),
    ({"hillclimb": 0}, "`hillclimb` must be"),
    ({"hillclimb": 1.0}, "`hillclimb` must be"),
    ({"hillclimb": 0.01}, "`hillclimb` must leave 2 rows for hill climbing, and 2 for training"),
    ({"hillclimb": 29}, "`hillclimb` must leave 2 rows for hill climbing, and 2 for training"),
    ({"hillclimb": (X,)}, "`hillclimb` must be a pair of features and labels, got 1"),
    ({"hillclimb": (X, None)}, "`hillclimb` must have labels"),
    ({"hillclimb": (X, ["yes"] * 30)}, "`hillclimb` must leave cases of both classes"),
    ({"hillclimb": (X, Y), "cv": 2}, "`hillclimb` must be None with `cv`.*; join the rows"),
    ({"hillclimb": 0.2, "cv": 2}, "`hillclimb` must be None with `cv`.*, got 0.2"),
    ({"y": ["yes"] + ["no"] * 29}, "`hillclimb` must leave cases of both classes.*'yes' has 1 row"),
    ({"y": ["yes"] * 2 + ["no"] * 28, "hillclimb": 2}, "`hillclimb` must leave cases of both cl"),
    ({"cv": 1}, "`cv` must be a whole number"),
    ({"y": list("abc") * 10, "hillclimb": 2}, "`hillclimb` must leave 3 rows for hill climbing"),
    ({"groups": [1] * 9}, "`groups` of part `hillclimb` must be one value per case, 30, got 9"),
    ({"groups": [None] * 30}, "`groups` must not be missing"),
    ({"groups": [1] * 30}, "`groups` must hold two groups or more, got 1"),
    ({"groups": [1, 2] * 15, "cv": 3}, "`cv` must be at most the number of groups, 2, got 3"),
    ({"groups": list(Y), "cv": 2}, "`cv` must leave cases of both classes in every part"),
    ({"groups": [1, 2] * 15, "hillclimb": (X, Y)}, "`groups` must be None if the rows of hill cl"),
    (
        {"cv": 25},
        "`cv` must be at most [0-9]+, the number of cases of class .*, got 25",
    ),
    ({"test": X}, "`test` must be a pair of features and labels; labels may be None"),
    ({"test": (X, ["maybe"] * 30)}, "`y` of part `test` must have only the classes"),
    ({"test": (X[["a"]], None)}, "`b` is missing"),
    ({"time_limit": 0}, "`time_limit` must be"),
    ({"max_memory": 0.5}, "`max_memory` must be"),
    ({"n_jobs": 0}, "`n_jobs` must not be 0"),
    ({"random_state": -1}, "`random_state` must be"),
    ({"random_state": "1"}, "`random_state` must be"),
    ({"progress": 1}, "`progress` must be"),
    ({"keep_models": 1}, "`keep_models` must be True or False"),
    ({"keep_models": True}, "`keep_models` must be False without a folder; set `out`"),
    ({"each_sibling": True}, "`each_sibling` must be False without `cv` and `test`"),
    ({"each_sibling": True, "test": (X, Y)}, "`each_sibling` must be False without `cv`"),
    ({"out": 3}, "`out` must be the path of a folder or None"),
    ({"profile": []}, "`profile` must have one setting or more"),
]


@pytest.mark.parametrize(("changed", "message"), MISTAKES)
def test_mistakes_are_one_sentence(changed, message, in_this_process):
    arguments = {"X": X, "y": Y, "profile": RIDGES, **changed}
    with pytest.raises((InputError, InputTypeError), match=message) as caught:
        build_library(**arguments)
    text = str(caught.value)
    assert "\n" not in text and text.endswith(".") and ". " not in text


# Groups


def test_groups_are_in_one_fold_or_part(in_this_process, tmp_path):
    X, y = numeric_frame(60)
    groups = pd.Series(np.random.default_rng(0).permutation(np.arange(60) // 3), name="a")
    options = {"random_state": SEED, "groups": groups, "test": numeric_frame(20, seed=2)}
    folded = build_library(X, y, RIDGES, cv=3, out=tmp_path / "folded", **options)
    part = folded.parts["hillclimb"]
    assert part.groups.tolist() == groups.astype(str).tolist()
    assert (pd.Series(part.folds).groupby(groups).nunique() == 1).all()
    assert set(part.folds) == {0, 1, 2}
    share = build_library(X, y, RIDGES, hillclimb=0.2, **options)
    found = share.parts["hillclimb"].groups
    counts = groups.astype(str).value_counts()
    assert len(set(found)) == 4 and len(found) == counts[sorted(set(found))].sum() == 12
    plain = build_library(X, y, RIDGES, cv=3, **{**options, "groups": None})
    assert plain.library != folded.library and plain.parts["hillclimb"].groups is None
    for store in (folded, share):
        selector = EnsembleSelector(bags=2, max_steps=4, random_state=0).fit(store)
        ensemble = selector.refit(X, y, groups=groups)
        expected = selector.predict_proba("test")
        np.testing.assert_allclose(ensemble.predict_proba(options["test"][0]), expected, atol=1e-9)
        with pytest.raises(InputError, match="`groups` must be those that the library was given"):
            selector.refit(X, y)
    opened = PredictionStore.open(tmp_path / "folded")
    assert opened.parts["hillclimb"].groups.tolist() == part.groups.tolist()
    assert opened.library == folded.library and opened.library.group == "a_"
    rows = training_rows(opened)
    assert rows[3].tolist() == part.groups.tolist() and list(rows[0]) == ["a", "b", "c"]
    again = build_library(X, y, RIDGES, cv=3, out=tmp_path / "folded", **options)
    assert again.n_models == folded.n_models
    with pytest.raises(InputError, match="`groups` must be None for a library without groups"):
        EnsembleSelector(bags=1, max_steps=1).fit(plain).refit(X, y, groups=groups)


# Kept models and training again


def test_kept_models_predict_as_in_the_store(built, tmp_path):
    test_X, _ = numeric_frame(20, seed=2)
    store = PredictionStore.open(built.path)
    for name in ("boosted stumps: resampled, 2 steps", "waits (calibrated)"):
        with pytest.warns(UserWarning, match="`store` has models whose files run code"):
            model = load_model(store, name)
        found = model.predict_proba(test_X)
        expected = store.subset([name]).predictions("test")[0].astype(float)
        np.testing.assert_allclose(found[:, 1], expected, atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
    with pytest.raises(InputError, match="`model` must be the name of a model of the store"):
        load_model(store, "other")
    with pytest.raises(InputError, match="`store` must have kept its models; build it with"):
        load_model(store.subset([name]), name)


def test_damaged_kept_models_are_not_loaded(built, tmp_path):
    store = PredictionStore.open(shutil.copytree(built.path, tmp_path / "store"))
    file = store.path / "models" / store.settings.loc["waits", "file"]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    for found in ("damaged", "missing"):
        with pytest.raises(InputError, match=f"must be as it was written; it is {found}"):
            load_model(store, "waits")
        file.unlink(missing_ok=True)
    assert {path.suffix for path in file.parent.iterdir()} == {".joblib"}
    store.settings.loc["waits", "file"] = "../../other.joblib"
    with pytest.raises(InputError, match="must name files of models; it names another one"):
        load_model(store, "waits")


FOREIGN = (
    "models/mine.joblib",
    "models/0123.joblib",
    "models/more/x",
    "hillclimb.csv",
    "x/cases.csv",
)


def test_only_its_own_files_are_replaced(built, tmp_path):
    store = PredictionStore.open(shutil.copytree(built.path, tmp_path / "store"))
    record = json.loads((store.path / "store.json").read_text())
    there = {path for path in store.path.rglob("*") if path.is_file()}
    assert {path.relative_to(store.path).as_posix() for path in there} <= set(record["files"])
    (store.path / "models/.bnmtl-0123456789abcdef.partial").write_text("")
    for name in FOREIGN:
        (store.path / name).parent.mkdir(exist_ok=True)
        (store.path / name).write_text("mine")
        with pytest.raises(InputError, match="must not hold other files if it is replaced"):
            store.subset(store.names[:2]).save(store.path, force=True)
        assert there <= set(store.path.rglob("*"))
        (store.path / name).unlink()
        with contextlib.suppress(OSError):
            (store.path / name).parent.rmdir()
    assert store.subset(store.names[:2]).save(store.path, force=True).n_models == 2
    assert not (store.path / "models").exists()


def test_files_of_a_library_are_listed_before_they_are_written(
    in_this_process, monkeypatch, tmp_path
):
    X, y = numeric_frame(40)
    save, seen = refit.save, []

    def listed(place, fit, siblings):
        record = json.loads((tmp_path / "store/store.json").read_text())
        seen.append(f"models/{refit.file_of(fit)}" in record["files"])
        return save(place, fit, siblings)

    monkeypatch.setattr(refit, "save", listed)
    arguments = {"out": tmp_path / "store", "random_state": 1}
    build_library(X, y, RIDGES, keep_models=True, **arguments)
    assert seen and all(seen)
    # A clash with a file of the user stops the build that goes on.
    clash = {**arguments, "out": tmp_path / "other"}
    build_library(X, y, RIDGES, **clash)
    record = json.loads((tmp_path / "other/store.json").read_text())
    record["files"].remove("skipped.csv")
    (tmp_path / "other/store.json").write_text(json.dumps(record))
    skipped = pd.DataFrame([["x", "y", "z", 1, 2, 3]], columns=list(SKIPPED_COLUMNS))
    skipped.to_csv(tmp_path / "other/skipped.csv", index=False)
    with pytest.raises(InputError, match="skipped.csv` must not be in the folder of a store"):
        build_library(X, y, RIDGES, **clash)
    assert "x,y,z" in (tmp_path / "other/skipped.csv").read_text()


def test_refit_is_the_ensemble_with_folds(forked, built):
    rows, test_X = numeric_frame(), numeric_frame(20, seed=2)[0]
    selector = EnsembleSelector(bags=3, max_steps=6, random_state=0).fit(built)
    ensemble = selector.refit(*rows)  # in a process of its own
    expected = selector.predict_proba("test")
    np.testing.assert_allclose(ensemble.predict_proba(test_X), expected, rtol=0, atol=1e-12)
    changed = test_X[["c", "a", "b"]].assign(d=0)
    np.testing.assert_array_equal(ensemble.predict_proba(changed), ensemble.predict_proba(test_X))
    assert ensemble.n_models_ == (selector.weights_ > 0).sum()
    models = ensemble.predict_models(test_X)
    assert sorted(models) == sorted(selector.weights_.index[selector.weights_ > 0])
    stored = built.subset(list(models)).predictions("test")
    np.testing.assert_allclose(models.to_numpy().T, stored, rtol=0, atol=1e-6)
    assert ensemble.classes_.tolist() == ["no", "yes"]
    assert ensemble.feature_names_in_.tolist() == ["a", "b", "c"] and ensemble.n_features_in_ == 3
    assert (
        ensemble.predict(test_X).tolist()
        == ensemble.classes_[(expected[:, 1] >= 0.5).astype(int)].tolist()
    )


def test_models_of_merged_libraries_are_trained_again(in_this_process):
    (X, y), (new_X, _) = numeric_frame(60), numeric_frame(20, seed=2)
    more = [{"family": "logistic regression", "ridge": 1e4}]
    stores = [build_library(X, y, one, random_state=SEED) for one in (RIDGES, more)]
    merged = PredictionStore.merge(stores)
    assert len(merged.library.models) == 3 and merged.n_models == 6
    selector = EnsembleSelector(bags=1, max_steps=3, random_state=0).fit(merged)
    expected = selector.predict_proba("hillclimb")
    ensemble = selector.refit(X, y)
    assert ensemble.predict_proba(new_X).shape == (20, 2) and len(expected) == 12
    other = build_library(X, y, more, random_state=SEED + 1, hillclimb=0.2)
    assert PredictionStore.merge([stores[0].subset(stores[0].names[:1])]).library is not None
    with pytest.raises(InputError, match="same parts"):
        PredictionStore.merge([stores[0], other])


def test_refit_without_folds(in_this_process, tmp_path):
    X, y = numeric_frame(70)
    X["colour"] = np.where(X["c"] > 0, "red", "blue").astype(object)
    X.loc[:4, ["a", "colour"]] = None
    new = X.head(20).copy()
    new.loc[:2, "colour"] = "unknown"
    settings = [*RIDGES, {"family": "decision trees", "columns": "codes"}, ("mine", Numbers())]
    options = {"hillclimb": 0.4, "test": (new, None), "random_state": 6}
    before = X.copy(), y.copy(), repr(settings)
    store = build_library(X, y, settings, out=tmp_path / "store", **options)
    selector = EnsembleSelector(bags=2, max_steps=9, initial=0, random_state=0).fit(store)
    ensemble = selector.refit(X[X.columns[::-1]], y)
    expected = selector.predict_proba("test")
    np.testing.assert_allclose(ensemble.predict_proba(new), expected, rtol=0, atol=1e-12)
    pd.testing.assert_frame_equal(X, before[0])
    assert repr(settings) == before[2] and y.equals(before[1])


class Numbers(GaussianNB):
    """Naive Bayes of the numbers; checks what classifiers of users receive."""

    def fit(self, X, y):
        assert isinstance(X["colour"].dtype, pd.CategoricalDtype)
        assert list(X) == ["a", "b", "c", "colour"] and set(y) == {0, 1}
        assert X["colour"].cat.categories.tolist() == ["blue", "red"]
        return super().fit(X[["a", "b", "c"]].fillna(0.0), y)

    def predict_proba(self, X):
        return super().predict_proba(X[["a", "b", "c"]].fillna(0.0))


def test_refit_checks_the_rows(in_this_process, built):
    X, y = numeric_frame()
    name = "decision trees: gini, alpha 0.01"
    weights = pd.Series({name: 1.0, "waits": 0.0})
    message = "`X` must be the rows from which the library was built; `decision trees"
    changed = X.assign(a=-X["a"])
    for rows in ((changed, y), (X[:60], y[:60])):
        with pytest.raises(InputError, match=message):
            LibraryEnsemble(built, weights).fit(*rows)
    ensemble = LibraryEnsemble(built, weights, check=False).fit(changed, y)
    assert ensemble.predict_proba(X).shape == (90, 2)
    assert (ensemble.predict(changed) == y).mean() > (ensemble.predict(X) == y).mean()
    with pytest.raises(InputError, match="`hillclimb` must be None for a library that uses"):
        LibraryEnsemble(built, weights).fit(X, y, hillclimb=(X, y))
    with pytest.raises(InputError, match="`n_jobs` must not be 0"):
        LibraryEnsemble(built, weights, n_jobs=0).fit(X, y)


def test_refit_of_some_models(in_this_process, built):
    """A store without the raw predictions of its models."""
    rows, test_X = numeric_frame(), numeric_frame(20, seed=2)[0]
    store = built.subset([name for name in built.names if name.endswith("(calibrated)")])
    selector = EnsembleSelector(bags=2, max_steps=5, random_state=0).fit(store)
    found = selector.refit(*rows).predict_proba(test_X)
    np.testing.assert_allclose(found, selector.predict_proba("test"), rtol=0, atol=1e-12)


def test_classifiers_of_users_are_not_saved(in_this_process, built):
    opened = PredictionStore.open(built.path)
    message = "`store` must know the classifiers of its library; that of `waits` is not saved"
    with pytest.raises(InputError, match=message):
        LibraryEnsemble(opened, pd.Series({"waits": 1.0})).fit(*numeric_frame())
    again = build(built.path)  # knows them
    ensemble = LibraryEnsemble(again, pd.Series({"waits": 1.0})).fit(*numeric_frame())
    assert ensemble.n_models_ == 1 and isinstance(SETTINGS[-1][1], Waits)


def test_mistakes_of_ensembles(in_this_process, built, tmp_path):
    rows = numeric_frame()
    plain = PredictionStore([[0.1, 0.2]], [0, 1])
    with pytest.raises(InputError, match="`store` must have models made by `build_library`"):
        LibraryEnsemble(plain, pd.Series({"model1": 1.0})).fit(*rows)
    for weights, message in (
        ({"waits": 1.0}, "`weights` must be a Series by model"),
        (pd.Series({"other": 1.0}), "`weights` must be of models of the store, got 'other'"),
        (pd.Series({"waits": 0.0}), "`weights` must be 0 or more, one above 0"),
        (pd.Series({"waits": -1.0}), "`weights` must be 0 or more, one above 0"),
    ):
        with pytest.raises((InputError, InputTypeError), match=message):
            LibraryEnsemble(built, weights).fit(*rows)
    settings = [("bad", Troubled("fails", str(tmp_path))), RIDGES[0]]
    (tmp_path / "calm").touch()
    store = build_library(*rows, settings)
    (tmp_path / "calm").unlink()
    with pytest.raises(InputError, match="`store` must have models that can be trained again; `b"):
        LibraryEnsemble(store, pd.Series({"bad": 1.0})).fit(*rows)


def test_ensembles_are_classifiers_of_scikit_learn(in_this_process, built):
    X, y = numeric_frame()
    weights = pd.Series({"decision trees: gini, alpha 0.01": 0.5, "waits": 0.5})
    ensemble = LibraryEnsemble(built, weights)
    copy = clone(ensemble)
    assert copy is not ensemble and copy.get_params()["weights"].equals(weights)
    assert copy.fit(X, y).score(X, y) > 0.6
    np.testing.assert_array_equal(copy.predict_proba(X), ensemble.fit(X, y).predict_proba(X))


def test_predictions_are_rounded_as_in_a_store(built):
    p = np.array([0.0, 1 / 3, 1.0])
    assert PredictionStore([p], [0, 1, 1]).predictions()[0].tolist() == rounded(p).tolist()
    assert read_library_json(built.path) == built.library
