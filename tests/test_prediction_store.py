"""Stores of predictions: exact in memory and on disk, and whole after a process was killed."""

import json
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from bnmtl.ensembles import PredictionStore, folder
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics import prediction
from bnmtl.writing import locked

pytestmark = pytest.mark.beside_kernels
Y = {"hillclimb": ["no", "yes", "yes", "no"], "test": ["yes", "no", "no"]}
SETTINGS = [{"family": "trees", "seed": 3, "depth": 2.5}, {"family": "nets", "seed": 4}]


def example(n_models=2, seed=0, **options):
    rng = np.random.default_rng(seed)
    p = {part: rng.random((n_models, len(labels))) for part, labels in Y.items()}
    return PredictionStore(p, Y, **options)


def same(first, second):
    assert first.names == second.names and first.classes.tolist() == second.classes.tolist()
    pd.testing.assert_frame_equal(first.settings, second.settings, check_dtype=False)
    assert list(first.parts) == list(second.parts)
    for name, one in first.parts.items():
        assert first.predictions(name).tobytes() == second.predictions(name).tobytes()
        for column in ("y", "weights", "folds", "task"):
            values, again = getattr(one, column), getattr(second.parts[name], column)
            assert (values is None) == (again is None)
            assert values is None or values.tolist() == again.tolist()


def test_probabilities_are_multiples_of_two_to_the_minus_24():
    p = np.array([[0.0, 1.0, 1 / 3, 0.5]])
    found = PredictionStore(p, Y["hillclimb"]).predictions()
    assert found.dtype == np.float32
    assert found[0].tolist() == [2**-24, 1 - 2**-24, round(2**24 / 3) / 2**24, 0.5]
    assert p.tolist() == [[0.0, 1.0, 1 / 3, 0.5]]


def test_an_array_is_the_part_for_selection():
    store = PredictionStore([[0.1, 0.9, 0.8, 0.3]] * 2, Y["hillclimb"])
    assert store.names == ("model1", "model2") and list(store.parts) == ["hillclimb"]
    assert store.classes.tolist() == ["no", "yes"] and store.is_binary
    assert store.score("accuracy").tolist() == [1.0, 1.0]


def test_classes():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), size=(4, 9))
    y = np.array(["a", "b", "c"] * 3)
    store = PredictionStore(p, y)
    assert store.predictions().shape == (4, 9, 3) and not store.is_binary
    codes = np.array([0, 1, 2] * 3)
    expected = prediction.cross_entropy(codes, store.predictions()[2].astype(float))
    assert store.score("cross-entropy").iloc[2] == expected
    two = PredictionStore(np.stack([1 - p[:, :, 0], p[:, :, 0]], axis=2), codes == 0)
    assert two.predictions() == pytest.approx(p[:, :, 0], abs=1e-6)
    assert two.classes.tolist() == [False, True]


@pytest.mark.parametrize("y", [Y, {p: [v == "yes" for v in one] for p, one in Y.items()}])
def test_saved_and_opened(tmp_path, y):
    columns = {
        "weights": {"hillclimb": [1.0, 0.1, 3, 2]},
        "folds": {"hillclimb": [0, 1, 1, 0]},
        "task": {"hillclimb": ["x", "x", "y, z", "NA"], "test": ["x", "y", "y"]},
    }
    rng = np.random.default_rng(0)
    p = {part: rng.random((2, len(labels))) for part, labels in y.items()}
    store = PredictionStore(p, y, names=["01", "tree, deep"], settings=SETTINGS, **columns)
    again = store.save(tmp_path / "store")
    same(store, again)
    same(store, PredictionStore.open(str(tmp_path / "store")))
    assert isinstance(again.parts["test"].batches[0], folder.OnDisk)
    assert isinstance(again.predictions("test").base, np.memmap)
    names = {path.relative_to(tmp_path / "store").as_posix() for path in tmp_path.rglob("*.*")}
    assert {"store.json", "models.csv", "test/cases.csv", "test/predictions/00000.npy"} <= names
    assert not [name for name in names if "pickle" in name or name.endswith("partial")]


def test_three_classes_on_disk(tmp_path):
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 6))
    store = PredictionStore({"hillclimb": p, "new": p[:, :2]}, {"hillclimb": [7, 8, 9] * 2})
    same(store, store.save(tmp_path / "store"))


def test_append_in_memory_and_on_disk(tmp_path):
    whole = example(5, names=list("abcde"), settings=[{"family": f"kind {at}"} for at in range(5)])
    parts = whole.parts
    first = whole.subset(list("ab"))
    for store in (whole.subset(list("ab")), first.save(tmp_path / "store")):
        for names in ("c", "de"):
            at = [whole.names.index(name) for name in names]
            batch = {part: whole.predictions(part)[at] for part in parts}
            store.append(batch, list(names), whole.settings.iloc[at])
        same(store, whole)
    same(PredictionStore.open(tmp_path / "store"), whole)
    with pytest.raises(InputError, match="`names` must be different; `a` occurs twice"):
        store.append({part: whole.predictions(part)[:1] for part in parts}, ["a"])
    with pytest.raises(InputError, match="must have the parts of the store"):
        store.append(whole.predictions()[:1], ["f"])
    same(PredictionStore.open(tmp_path / "store"), whole)


def test_models_that_others_have_added_are_taken_too(tmp_path):
    store = example().save(tmp_path / "store")
    other = PredictionStore.open(tmp_path / "store")
    batch = {part: store.predictions(part)[:1] for part in store.parts}
    store.append(batch, ["third"])
    with pytest.raises(InputError, match="`names` must be different; `third` occurs twice"):
        other.append(batch, ["third"])
    other.append(batch, ["fourth"])
    assert other.names == (*store.names, "fourth")
    same(PredictionStore.open(tmp_path / "store"), other)
    example(1, names=["x"]).save(tmp_path / "store", force=True)
    with pytest.raises(InputError, match="must not be replaced by another process.*open it again"):
        other.append(batch, ["fifth"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_processes_that_append_to_one_store_lose_nothing(tmp_path):
    example(1, names=["first"]).save(tmp_path / "store")
    children, (reading, writing) = [], os.pipe()
    for process in range(3):
        child = os.fork()
        if not child:
            store = PredictionStore.open(tmp_path / "store")
            os.read(reading, 1)  # until all have opened it
            for number in range(12):
                batch = {part: store.predictions(part)[:1] for part in store.parts}
                store.append(batch, [f"{process}-{number}"])
            os._exit(0)
        children.append(child)
    time.sleep(0.2)
    os.write(writing, b"123")
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    names = {f"{process}-{number}" for process in range(3) for number in range(12)}
    found = PredictionStore.open(tmp_path / "store")
    assert found.n_models == 37 and set(found.names) == {"first"} | names
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_who_waits_too_long_is_told(tmp_path, monkeypatch):
    store = example().save(tmp_path / "store")
    monkeypatch.setattr("bnmtl.ensembles.store._MOST_WAITING", 0.05)
    batch = {part: store.predictions(part)[:1] for part in store.parts}
    with ThreadPoolExecutor(1) as pool, locked(tmp_path / "store", "store"):
        with pytest.raises(InputError, match="`store` must not be written by two processes"):
            pool.submit(store.append, batch, ["third"]).result()
        store.append(batch, ["third"])


def append_until_killed(folder, ready):
    """Append batches of one to three models; writes to a pipe when the store is open."""
    store = PredictionStore.open(folder)
    os.write(ready, b"1")
    for number in range(100_000):
        n_models = 1 + number % 3
        value = (number % 89 + 1) / 100
        batch = {part: np.full((n_models, one.n_cases), value) for part, one in store.parts.items()}
        names = [f"{number}-{at}" for at in range(n_models)]
        store.append(batch, names, [{"value": value}] * n_models)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_killed_process_leaves_whole_batches(tmp_path):
    example(1, names=["first"], settings=[{"value": 0.5}]).save(tmp_path / "store")
    folders = {delay: tmp_path / f"store{delay}" for delay in (0.02, 0.11, 0.27)}
    for delay, fresh in folders.items():
        shutil.copytree(tmp_path / "store", fresh)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                append_until_killed(fresh, writing)
            finally:
                os._exit(1)
        os.close(writing)
        assert os.read(reading, 1)
        os.close(reading)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    known = 1
    for fresh in folders.values():
        store = PredictionStore.open(fresh)
        known = max(known, store.n_models)
        for part in store.parts:
            predictions = store.predictions(part)
            assert len(predictions) == store.n_models
            expected = store.settings["value"].to_numpy()[1:]
            assert predictions[1:] == pytest.approx(
                np.repeat(expected[:, None], predictions.shape[1], axis=1), abs=1e-6
            )
        # A store goes on after that.
        batch = {part: store.predictions(part)[:1] for part in store.parts}
        store.append(batch, ["last"], [{"value": 0.5}])
        same(PredictionStore.open(fresh), store)
    assert known > 5


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_a_batch_is_valid_only_when_all_of_it_is_written(tmp_path, monkeypatch, step):
    """The process ends before one of the files of the second batch is moved into place."""
    store = example(2, settings=SETTINGS).save(tmp_path / "store")
    batch = {part: store.predictions(part)[:1] for part in store.parts}
    written = []

    def stop(path, content):
        if len(written) == step:
            raise KeyboardInterrupt
        written.append(path)
        path.write_bytes(content)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(folder, "write_whole", stop)
        store.append(batch, ["third"], [{"family": "late", "seed": 1}])
    again = PredictionStore.open(tmp_path / "store")
    same(again, example(2, settings=SETTINGS))
    again.append(batch, ["third"], [{"family": "late", "seed": 1}])
    assert PredictionStore.open(tmp_path / "store").names == ("model1", "model2", "third")


def test_merge_and_subset():
    whole = example(4, names=list("abcd"), settings=[{"seed": at} for at in range(4)])
    parts = whole.subset(["d", "a"]), whole.subset(["b"])
    merged = PredictionStore.merge(parts)
    assert merged.names == ("d", "a", "b") and merged.settings["seed"].tolist() == [3, 0, 1]
    same(merged, whole.subset(["d", "a", "b"]))
    with pytest.raises(InputError, match="`a` occurs twice"):
        PredictionStore.merge([parts[0], parts[0].subset(["a"])])
    other = PredictionStore(whole.predictions(), Y["hillclimb"])
    with pytest.raises(InputError, match="must have the same parts"):
        PredictionStore.merge([whole, other])
    with pytest.raises(InputError, match="must be names of models of the store, got 'z'"):
        whole.subset(["z"])


def test_from_frame():
    rng = np.random.default_rng(0)
    p = {part: rng.random((len(labels), 2)) for part, labels in Y.items()}
    frames = {part: pd.DataFrame(one, columns=["tree", "net"]) for part, one in p.items()}
    expected = PredictionStore({part: one.T for part, one in p.items()}, Y, ["tree", "net"])
    same(PredictionStore.from_frame(frames, Y), expected)
    frames["test"] = frames["test"][["net", "tree"]].astype("Float64")
    same(PredictionStore.from_frame(frames, Y), expected)
    weights = [1, 2, 1, 1]
    one = PredictionStore.from_frame(
        frames["hillclimb"], Y["hillclimb"], weights=weights, settings=SETTINGS
    )
    assert one.parts["hillclimb"].weights.tolist() == weights
    assert one.settings["family"].tolist() == ["trees", "nets"]
    of_classes = {
        name: pd.DataFrame({"yes": q, "no": 1 - q}) for name, q in frames["hillclimb"].items()
    }
    pairs = PredictionStore.from_frame(pd.concat(of_classes, axis=1), Y["hillclimb"])
    assert pairs.names == one.names and (pairs.predictions() == one.predictions()).all()


def test_from_frame_of_three_classes():
    p, y = np.random.default_rng(1).dirichlet(np.ones(3), (2, 9)), [2, 5, 3] * 3
    frames = {name: pd.DataFrame(q, columns=[2, 3, 5]) for name, q in zip("ba", p, strict=True)}
    found = PredictionStore.from_frame(pd.concat(frames, axis=1), y)
    same(found, PredictionStore(p, y, ["b", "a"]))
    mixed = pd.concat(frames, axis=1).iloc[:, [3, 1, 5, 0, 2, 4]]
    same(PredictionStore.from_frame(mixed, y).subset(["b", "a"]), found)
    for wrong, message in (
        (mixed.iloc[:, 1:], "column for each model and class of .*; `a, 2` is missing"),
        (mixed.rename(columns={5: 7}), "`a, 5` is missing"),
        (mixed.join(mixed[[("a", 2)]].rename(columns={2: 9})), "`a, 9` is of no class"),
        (frames["a"].add_prefix("p"), r"pairs \(model, class\) as columns for 3 classes"),
    ):
        with pytest.raises(InputError, match=message):
            PredictionStore.from_frame(wrong, y)


FRAME = pd.DataFrame({"tree": [0.9, 0.2, 0.6, 0.5], "net": [0.6, 0.4, 0.4, 0.1]})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.to_numpy(), "`frame` of part `hillclimb` must be a DataFrame .*, got ndarray"),
        (FRAME[:0], "must have rows, and models or pairs"),
        (FRAME.assign(net="high"), "`frame`: column `net` must be numbers, got str"),
        (FRAME.assign(net=[True, False, True, True]), "column `net` must be numbers, got bool"),
        (FRAME.assign(net=1.5), "column `net` must be probabilities .*row 0, .* has 1.5"),
        (
            FRAME.assign(net=[0.1, np.nan, 0.2, 0.3]),
            "row 1, counted from 0, has no value: fill the gap, or leave",
        ),
        (FRAME.set_axis(["tree", "tree"], axis=1), "`frame` must have different columns; `tree`"),
        (FRAME.set_axis([0, 1], axis=1), "text as names of models, got 0; `frame.add_prefix"),
        (FRAME.T, "text as names of models, got 0"),
        (FRAME[:3], "`y` of part `hillclimb` must be one label per row of `frame`, 3, got 4"),
        ({"hillclimb": FRAME, "test": FRAME[["net"]]}, "part `test` must have the models of the"),
        ({"test": FRAME}, "must have the part `hillclimb`"),
    ],
    ids=range(12),
)
def test_mistakes_in_frames(frame, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        PredictionStore.from_frame(frame, Y["hillclimb"])


def test_labels_in_another_order_than_the_frame():
    y, named = pd.Series(Y["hillclimb"]), FRAME.set_axis([*"abcd"], axis=0)
    by_position = PredictionStore.from_frame(named, y)
    same(by_position, PredictionStore.from_frame(FRAME, Y["hillclimb"]))
    same(by_position, PredictionStore.from_frame(FRAME, y.set_axis([*"dcba"])))
    for frame, labels in (
        (FRAME, y.iloc[::-1]),
        (named, y.set_axis([*"dcba"])),
        (named, y.set_axis([*"wxyz"])),
    ):
        with pytest.raises(InputError, match="`y` of part `hillclimb` must have the index of `fr"):
            PredictionStore.from_frame(frame, labels)


def test_from_csv(tmp_path):
    store = example(2, names=["tree", "net"])
    for part, one in store.parts.items():
        frame = pd.DataFrame(store.predictions(part).T, columns=store.names)
        frame["label"] = store.classes[one.y]
        frame.to_csv(tmp_path / f"{part}.csv", index=False)
    # Columns may stand in another order.
    frame[["label", "net", "tree"]].to_csv(tmp_path / "test.csv", index=False)
    paths = {part: tmp_path / f"{part}.csv" for part in store.parts}
    same(PredictionStore.from_csv(paths, label="label"), store)
    frame[["net", "tree"]].to_csv(tmp_path / "test.csv", index=False)
    unlabelled = PredictionStore.from_csv(paths, label="label")
    assert unlabelled.parts["test"].y is None
    with pytest.raises(InputError, match="`part` must have labels, got 'test'"):
        unlabelled.score("accuracy", "test")


def test_from_csv_needs_the_cases_of_hill_climbing(tmp_path):
    pd.DataFrame({"y": [0, 1], "tree": [0.2, 0.9]}).to_csv(tmp_path / "test.csv", index=False)
    with pytest.raises(InputError, match="`paths` must have the part `hillclimb`, got `test`"):
        PredictionStore.from_csv({"test": tmp_path / "test.csv"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n0.1,0.2\n", "`label` must be a column of the file, which has `a`, `b`, got 'y'"),
        ("a,y\n0.1,0\n1.5,1\n", "column `a` must be probabilities.*row 2 .* has `1.5`"),
        ("a,y\n0.1,0\n,1\n", "column `a` must be probabilities.*row 2 .* has no value"),
        ("a,y\n0.1,0\nx,1\n", "column `a` must be probabilities.*row 2 .* has `x`"),
        ("", "p.csv` must have a header line and rows; it is empty"),
    ],
)
def test_mistakes_in_csv(tmp_path, text, message):
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        PredictionStore.from_csv(path)


NAN = float("nan")


@pytest.mark.parametrize(
    ("predictions", "y", "options", "kind", "text"),
    [
        ([[0.1, 1.2]], [0, 1], {}, InputError, "model 0 .* has 1.2 for case 1"),
        ([[0.1, NAN]], [0, 1], {}, InputError, "model 0 .* has no value for case 1: fill the gap"),
        (
            [[[NAN, 0.5], [0.5, 0.5]]],
            [0, 1],
            {},
            InputError,
            "model 0 .* has no value for case 0: fill the gap",
        ),
        ([["a", "b"]], [0, 1], {}, InputTypeError, "must be numbers"),
        ([[0.1, 0.2]], [0, 1, 1], {}, InputError, "one column per label, 3, got 2"),
        ([0.1, 0.2], [0, 1], {}, InputError, r"the shape \(models, cases\), got \(2,\)"),
        ([[0.1, 0.2, 0.1]], [0, 1, 2], {}, InputError, r"\(models, cases, 3 classes\)"),
        ([[0.1, 0.2]], [1, 1], {}, InputError, "two classes or more; all are 1"),
        ([[0.1, 0.2]], [1, None], {}, InputError, "must not be missing; case 1"),
        ([[0.1, 0.2]], [1, "a"], {}, InputTypeError, "labels of one type|sorted"),
        ([[[0.5, 0.6], [0.5, 0.5]]], [0, 1], {}, InputError, "has the sum 1.1 for case 0"),
        ({"test": [[0.1, 0.2]]}, [0, 1], {}, InputError, "must have the part `hillclimb`"),
        (
            {"hillclimb": [[0.1, 0.2]], "test": [[0.1], [0.2]]},
            [0, 1],
            {},
            InputError,
            "the same models in all parts",
        ),
        (
            {"hillclimb": [[0.1, 0.2]], "test": [[0.1]]},
            {"hillclimb": [0, 1], "test": [3]},
            {},
            InputError,
            "of part `test` must have only the classes `?0`?, `?1`?, got 3",
        ),
        ([[0.1, 0.2]], [0, 1], {"names": ["a", "b"]}, InputError, "one name per model, 1, got 2"),
        ([[0.1, 0.2]] * 2, [0, 1], {"names": ["a", "a"]}, InputError, "`a` occurs twice"),
        ([[0.1, 0.2]], [0, 1], {"names": [3]}, InputTypeError, "must be strings"),
        ([[0.1, 0.2]], [0, 1], {"weights": [1, -1]}, InputError, "0 or more and not all zero"),
        ([[0.1, 0.2]], [0, 1], {"folds": [1]}, InputError, "one value per case, 2, got 1"),
        ([[0.1, 0.2]], [0, 1], {"task": {"x": [1]}}, InputError, "only the parts .*got 'x'"),
        ([[0.1, 0.2]], [0, 1], {"settings": [3]}, InputTypeError, "one dictionary per model"),
        ([[0.1, 0.2]], [0, 1], {"settings": []}, InputError, "one record per model, 1, got 0"),
        ({"a b": [[0.1]]}, [0, 1], {}, InputError, "letters, digits and underscores, got 'a b'"),
        ({"nul": [[0.1]]}, [0, 1], {}, InputError, "names of folders .* `?nul_`?, got 'nul'"),
        ({"x" * 300: [[0.1]]}, [0, 1], {}, InputError, "names of folders on every system"),
        ({"test": [[0.1]], "Test": [[0.1]]}, [0, 1], {}, InputError, "such as `?Test_2`?, got"),
    ],
)
def test_mistakes(predictions, y, options, kind, text):
    with pytest.raises(kind, match=text):
        PredictionStore(predictions, y, **options)


def damage_digest(store):
    path = store / "test/predictions/00000.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def other_version(store):
    record = json.loads((store / "store.json").read_text())
    (store / "store.json").write_text(json.dumps({**record, "version": 9}))


def changed(change):
    """A function that changes the record of a store."""

    def damage(store):
        record = json.loads((store / "store.json").read_text())
        change(record)
        (store / "store.json").write_text(json.dumps(record))

    return damage


def exchanged(store):
    lines = (store / "models.csv").read_text().splitlines()
    (store / "models.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (changed(lambda record: record.pop("classes")), "store.json` .* it lacks entries"),
        (changed(lambda record: record.update(batches="none")), "it lacks entries"),
        (changed(lambda record: record["batches"][0].pop("file")), "it lacks entries"),
        (changed(lambda record: record["batches"][0].update(models=1)), "numbers of models"),
        (changed(lambda record: record.update(classes=["a", "b"])), "has other classes"),
        (exchanged, "models.csv` must be as `store.json` says; it lists other models"),
        (damage_digest, "`.*00000.npy` must be as `store.json` says; its contents are damaged"),
        (other_version, "must be of version 1 of the format for predictions; it is of another"),
        (lambda store: (store / "store.json").write_text("{"), "it is not JSON"),
        (lambda store: (store / "store.json").unlink(), "`.*` has no `store.json`"),
        (lambda store: (store / "models.csv").unlink(), "`.*models.csv` .*it is missing"),
        (lambda store: (store / "models.csv").write_text("model\na\n"), "lists fewer models"),
        (lambda store: (store / "test/cases.csv").write_text("case,y\n"), "contents are damaged"),
        (lambda store: (store / "test/predictions/00000.npy").unlink(), "it is missing"),
    ],
)
def test_damaged_stores(tmp_path, damage, text):
    example().save(tmp_path / "store")
    damage(tmp_path / "store")
    with pytest.raises(InputError, match=text):
        PredictionStore.open(tmp_path / "store")


def test_a_store_is_replaced_only_by_force(tmp_path):
    first, second = example(2), example(3, seed=1)
    first.save(tmp_path / "store")
    with pytest.raises(InputError, match="must be a new or empty folder.*`force=True`"):
        second.save(tmp_path / "store")
    same(first, PredictionStore.open(tmp_path / "store"))
    same(second, second.save(tmp_path / "store", force=True))
    (tmp_path / "store/notes.txt").write_text("mine")
    with pytest.raises(InputError, match="which holds `notes.txt`; move them"):
        first.save(tmp_path / "store", force=True)
    assert (tmp_path / "store/notes.txt").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.txt").write_text("mine")
    for force in (False, True):  # nor does the message say that force would help
        with pytest.raises(InputError, match=r"must be a new or empty folder.*another one\.$"):
            first.save(tmp_path / "other", force=force)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_interrupted_replacement_keeps_the_earlier_store(tmp_path, monkeypatch):
    first = example(2)
    first.save(tmp_path / "store")

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space"):
        patched.setattr(folder, "_write_batch", fail)
        example(3).save(tmp_path / "store", force=True)
    same(first, PredictionStore.open(tmp_path / "store"))
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize("name", ["store", "s" * 255])
@pytest.mark.parametrize("again", ["open", "save"])
def test_a_kill_between_two_renames_hides_no_store(tmp_path, monkeypatch, name, again):
    first, rename, path = example(2), os.rename, tmp_path / name
    first.save(path)
    example(4).save(tmp_path / "other")

    def killed(source, target):
        rename(source, target)
        if not path.exists():
            os._exit(9)

    child = os.fork()
    if not child:
        monkeypatch.setattr("bnmtl.writing._exchanged_at_once", lambda *_: False)
        monkeypatch.setattr(os, "rename", killed)
        example(3).save(path, force=True)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert not path.exists()
    with pytest.warns(UserWarning, match="^The folder .* is the one from before its replacement"):
        if again == "open":
            same(first, PredictionStore.open(path))
        else:
            with pytest.raises(InputError, match="must be a new or empty folder"):
                example(3).save(path)
    same(first, PredictionStore.open(path))
    same(example(3), example(3).save(path, force=True))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(["other", name])
    same(example(4), PredictionStore.open(tmp_path / "other"))


def test_a_store_that_was_replaced_is_not_read_as_before(tmp_path):
    first = example(2, names=["a", "b"]).save(tmp_path / "first")
    merged = PredictionStore.merge([first, example(3, seed=1, names=["x", "y", "z"])])
    expected = merged.predictions().copy()
    new = merged.save(tmp_path / "first", force=True)
    assert (new.predictions() == expected).all()
    for store in (first, merged):
        with pytest.raises(InputError, match="the store in this folder was replaced; open it"):
            store.predictions()


# Files that are not those of the store


def contents(path):
    """All that is in a folder: folders, links with their targets, and files with their bytes."""
    found = {}
    for one in sorted(path.rglob("*")):
        what = one.readlink() if one.is_symlink() else None if one.is_dir() else one.read_bytes()
        found[str(one.relative_to(path))] = what
    return found


def put(name, text="mine"):
    def damage(store):
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_text(text)

    return damage


def linked(name, to):
    def damage(store):
        (store / name).unlink(missing_ok=True)
        (store / name).symlink_to(store.parent / to)

    return damage


def folder_in_place_of_a_file(store):
    (store / "models.csv").unlink()
    put("models.csv/mine.txt")(store)


def link_in_place_of_a_folder(store):
    (store / "test").rename(store.parent / "elsewhere")
    (store / "test").symlink_to(store.parent / "elsewhere")


PARTIAL = ".bnmtl-0123456789abcdef.partial"
FOREIGN = {
    "notes.txt": put("notes.txt"),
    "hillclimb/notes.txt": put("hillclimb/notes.txt"),
    "hillclimb/predictions/mine.npy": put("hillclimb/predictions/mine.npy"),
    "hillclimb/predictions/00007.npy": put("hillclimb/predictions/00007.npy"),
    "models": put("models/mine.joblib"),
    "data": put("data/cases.csv", "case,y\n"),
    "STORE.JSON": put("STORE.JSON"),
    "rows.csv": put("rows.csv"),
    "skipped.csv": put("skipped.csv"),
    "library.json": put("library.json"),
    "mine.partial": put("mine.partial"),
    ".bnmtl-settings": put(".bnmtl-settings"),
    "empty": lambda store: (store / "empty").mkdir(),
    "link": linked("link", "outside"),
    PARTIAL: linked(PARTIAL, "outside/precious"),
    "models.csv": folder_in_place_of_a_file,
    "test": link_in_place_of_a_folder,
}


@pytest.mark.parametrize("foreign", FOREIGN)
def test_files_that_a_store_does_not_list_stop_its_replacement(tmp_path, foreign):
    example().save(tmp_path / "store")
    put("precious")(tmp_path / "outside")
    FOREIGN[foreign](tmp_path / "store")
    before = contents(tmp_path)
    message = rf"must not hold other files if it is replaced.*which holds `{foreign}.*`; move them"
    with pytest.raises(InputError, match=message):
        example(3).save(tmp_path / "store", force=True)
    assert contents(tmp_path) == before


def test_what_is_its_own_is_replaced(tmp_path):
    store = example().save(tmp_path / "store")
    (tmp_path / "outside").write_text("mine")
    linked("test/predictions/00000.npy", "outside")(store.path)
    put(PARTIAL)(store.path)
    put(f"test/predictions/{PARTIAL}")(store.path)
    put(".bnmtl-ab_cdef0", "")(store.path)
    same(example(3).save(store.path, force=True), example(3))
    assert (tmp_path / "outside").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "store"]
    listed = json.loads((store.path / "store.json").read_text())["files"]
    assert sorted(listed) == [name for name, what in contents(store.path).items() if what]


def test_a_store_without_models_is_replaced(tmp_path):
    example(0).save(tmp_path / "store")
    same(example(3).save(tmp_path / "store", force=True), example(3))


def test_a_file_is_listed_before_it_is_written(tmp_path, monkeypatch):
    store = example().save(tmp_path / "store")
    put("test/predictions/00001.npy")(store.path)
    before = contents(tmp_path)
    with pytest.raises(InputError, match="00001.npy` must not be in the folder of a store"):
        store.append({part: store.predictions(part) for part in store.parts}, ["a", "b"])
    assert contents(tmp_path) == before
    (store.path / "test/predictions/00001.npy").unlink()
    written = []

    def killed(path, content):
        written.append(path.relative_to(store.path).as_posix())
        if path.name not in ("store.json", "models.csv"):
            path.with_name(PARTIAL).write_bytes(content)
            raise KeyboardInterrupt
        path.write_bytes(content)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(folder, "write_whole", killed)
        store.append({part: store.predictions(part) for part in store.parts}, ["a", "b"])
    assert written == ["store.json", "hillclimb/predictions/00001.npy"]
    same(PredictionStore.open(store.path), example())
    again = PredictionStore.open(store.path)
    again.append({part: again.predictions(part) for part in again.parts}, ["a", "b"])
    listed = json.loads((store.path / "store.json").read_text())["files"]
    there = {name for name, what in contents(store.path).items() if what is not None}
    assert {name for name in there if ".partial" not in name} <= set(listed)
    same(example(3).save(store.path, force=True), example(3))


def hostile(**entries):
    return changed(lambda record: record.update(entries))


@pytest.mark.parametrize(
    "damage",
    [
        hostile(files=["store.json", "../outside/precious"]),
        hostile(files=["/outside/precious"]),
        hostile(files="outside"),
        hostile(files=[3]),
        changed(lambda record: record["parts"].update({"../outside": {"cases": "0"}})),
        changed(lambda record: record["batches"][0].update(file="../../../outside/00000.npy")),
    ],
)
def test_a_record_cannot_reach_outside_its_folder(tmp_path, damage):
    store = example().save(tmp_path / "store")
    put("precious")(tmp_path / "outside")
    put("predictions/mine")(tmp_path / "outside")
    damage(store.path)
    before = contents(tmp_path)
    with pytest.raises(InputError, match="names files that a store cannot have|lacks entries"):
        PredictionStore.open(store.path)
    with pytest.raises(InputError, match="names files that a store cannot have|lacks entries"):
        store.append({part: store.predictions(part) for part in store.parts}, ["a", "b"])
    with pytest.raises(InputError, match=r"must be a new or empty folder.*another one\.$"):
        example(3).save(store.path, force=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", [True, False])
def test_files_that_appear_meanwhile_are_kept(tmp_path, monkeypatch, there):
    if there:
        example().save(tmp_path / "store")
    write_batch = folder._write_batch

    def slow(place, *arguments):
        put("mine.txt")(tmp_path / "store")
        return write_batch(place, *arguments)

    monkeypatch.setattr(folder, "_write_batch", slow)
    message = "which holds `mine.txt`" if there else "must be a new or empty folder"
    with pytest.raises(InputError, match=message):
        example(3).save(tmp_path / "store", force=True)
    assert (tmp_path / "store/mine.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    if there:
        same(PredictionStore.open(tmp_path / "store"), example())
