"""`bnmtl select`: what it writes is what the estimator selects, and it says how good that is."""

import json
import re
import shutil

import naive
import numpy as np
import pandas as pd
import pytest
from command import listing, mistake, record
from pages import Page

from bnmtl.cli.options import SelectOptions
from bnmtl.ensembles import EnsembleSelector, PredictionStore, UnusedCases, unused_cases
from bnmtl.io.run import read_record
from bnmtl.metrics import prediction
from bnmtl.progress import ProgressEvent

pytestmark = pytest.mark.beside_kernels

SELECT = ("select", "hill.csv", "--metric", "roc-area", "--max-steps", "6", "--bags", "3")
FAST = {"max_steps": 6, "bags": 3, "random_state": 0}
FILES = ["predictions.csv", "report.html", "run.json", "trajectory.csv", "trajectory.png"]
FILES += ["unused_cases.csv", "weights.csv", "weights.png"]
NAMES = [f"{family}-{at}" for at in range(4) for family in ("SVM", "trees", "<b>naive</b>")]


def predictions(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    noise = rng.normal(size=(n, 12)) * np.linspace(1, 4, 12)
    table = pd.DataFrame(1 / (1 + np.exp(-(2 * y[:, None] - 1 + noise))), columns=NAMES)
    return table.round(3).assign(y=np.where(y, "yes", "no"))


@pytest.fixture(scope="module")
def written_once(tmp_path_factory):
    """A folder with what `files` copies, and its tables."""
    folder = tmp_path_factory.mktemp("select")
    tables = {"hill": predictions(0, 120), "test": predictions(1, 90), "new": predictions(2, 30)}
    tables["new"] = tables["new"].drop(columns="y").assign(id=np.arange(30) + 7)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    paths = {"hillclimb": folder / "hill.csv", "test": folder / "test.csv"}
    store = PredictionStore.from_csv(paths)
    store = PredictionStore(
        {part: store.predictions(part) for part in store.parts},
        {part: store.classes[one.y] for part, one in store.parts.items()},
        store.names,
        settings=[{"family": name[:-2], "seconds": 0.5} for name in store.names],
    )
    store.save(folder / "store")
    return folder, tables


@pytest.fixture
def files(written_once, tmp_path):
    """Predictions of twelve models for three sets of cases as CSV, and a store of two of them."""
    folder, tables = written_once
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tables.copy()


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch):
    """Let standard errors be those of few replicates, of commands and by hand alike."""
    monkeypatch.setattr(unused_cases, "_REPLICATES", 20)


def written(tmp_path, name, folder="out"):
    return pd.read_csv(tmp_path / folder / name)


def selected(tmp_path, metric="roc_area", **options):
    store = PredictionStore.open(tmp_path / "store")
    return EnsembleSelector(metric, **{**FAST, **options}).fit(store, monitor="test")


@pytest.mark.drawn
def test_all_that_is_written_is_what_was_selected(call, files, tmp_path):
    code, out, err = call(*SELECT, "--test", "test.csv", "--predict", "new.csv", "--out", "out")
    assert (code, err) == (0, "")
    assert listing(tmp_path / "out") == sorted([*FILES, "predicted.csv"])
    assert record(tmp_path / "out")["files"] == listing(tmp_path / "out")
    assert out.endswith("9 files in out; begin with report.html.\n")
    for name in ("weights.png", "trajectory.png"):
        assert (tmp_path / "out" / name).read_bytes()[1:4] == b"PNG"
    fitted = selected(tmp_path)
    weights = written(tmp_path, "weights.csv").set_index("model")
    assert weights["weight"].is_monotonic_decreasing
    expected = fitted.weights_.reindex(weights.index)
    assert np.allclose(weights["weight"], expected, atol=1e-15)
    scores = fitted.store_.score("roc_area").reindex(weights.index)
    assert np.allclose(weights["score"], scores)
    trajectory = written(tmp_path, "trajectory.csv")
    pd.testing.assert_frame_equal(trajectory, fitted.trajectory_, check_dtype=False)
    found = written(tmp_path, "predictions.csv")
    for part, name in (("hillclimb", "hill"), ("test", "test")):
        rows = found[found["part"] == part]
        assert rows["case"].tolist() == list(range(1, len(files[name]) + 1))
        assert rows["label"].tolist() == files[name]["y"].tolist()
        assert np.allclose(rows[["p_no", "p_yes"]], fitted.predict_proba(part))
    predicted = written(tmp_path, "predicted.csv")
    assert list(predicted) == ["id", "p_no", "p_yes"]
    assert predicted["id"].tolist() == files["new"]["id"].tolist()
    assert np.allclose(predicted.iloc[:, 1:], fitted.predict_proba(files["new"]))


def test_a_folder_gives_what_its_tables_give_and_its_families(call, files, tmp_path):
    assert call(*SELECT, "--test", "test.csv", "--out", "out")[0] == 0
    code, out, _ = call("select", "store", *SELECT[2:], "--out", "two")
    assert code == 0
    for name in ("trajectory.csv", "predictions.csv", "unused_cases.csv"):
        assert (tmp_path / "out" / name).read_text() == (tmp_path / "two" / name).read_text()
    weights = written(tmp_path, "weights.csv", "two")
    assert list(weights) == ["model", "weight", "score", "family", "seconds"]
    families = weights.groupby("family")["weight"].agg(["sum", "size", lambda w: (w > 0).sum()])
    families.columns = ["weight", "models", "chosen"]
    found = pd.DataFrame(record(tmp_path / "two")["families"]).T
    expected = families.loc[found.index, ["models", "chosen", "weight"]]
    assert np.allclose(found.to_numpy(float), expected.to_numpy(float))
    first = families["weight"].idxmax()
    assert f"12 models: {first} ({families.loc[first, 'weight']:.0%}), " in out
    page = Page((tmp_path / "two" / "report.html").read_text())
    table = page.table("family")
    assert [row[0] for row in table] == list(found.index[found["weight"] > 0])
    assert table[0][1:3] == ["4", str(int(found["chosen"].iloc[0]))]


def test_options_are_those_of_the_estimator(call, files, monkeypatch, tmp_path):
    unused = UnusedCases.on_part(selected(tmp_path))
    monkeypatch.setattr(UnusedCases, "on_part", lambda *_: unused)  # what is compared is selected
    options = {
        ("--bags", 5): {"bags": 5},
        ("--bag-fraction", 0.9): {"bag_fraction": 0.9},
        ("--initial", 2): {"initial": 2},
        ("--prune", 0.3): {"prune": 0.3},
        ("--max-steps", 3): {"max_steps": 3},
        ("--patience", 1): {"patience": 1},
        ("--no-replacement",): {"replacement": False},
        ("--seed", 4): {"random_state": 4},
        ("--metric", "cross-entropy"): {"metric": "cross_entropy"},
    }
    others = []
    for typed, given in options.items():
        assert call("select", "store", *SELECT[2:], *typed, "--force", "--out", "out")[0] == 0
        fitted = selected(tmp_path, **given)
        found = written(tmp_path, "trajectory.csv")
        pd.testing.assert_frame_equal(found, fitted.trajectory_, check_dtype=False)
        others.append(found.to_csv())
    assert len({*others, selected(tmp_path).trajectory_.to_csv(index=False)}) == len(options) + 1
    parameters = EnsembleSelector().get_params()
    names = {"bags", "bag_fraction", "initial", "prune", "max_steps", "patience"}
    assert {name: getattr(SelectOptions, name) for name in names} == {
        name: parameters[name] for name in names
    }


def test_the_sweep_is_written(call, files, tmp_path):
    short = ("--prune", "sweep", "--max-steps", "1", "--out", "out")
    assert call("select", "store", *SELECT[2:], *short)[0] == 0
    assert listing(tmp_path / "out") == sorted([*FILES, "pruning.csv", "pruning.png"])
    found, fitted = written(tmp_path, "pruning.csv"), selected(tmp_path, prune="sweep", max_steps=1)
    assert np.allclose(found["score"], fitted.prune_scores_)
    assert (
        record(tmp_path / "out")["prune"]
        == fitted.prune_
        == found["share"][found["score"].idxmax()]
    )
    text = (tmp_path / "out" / "report.html").read_text()
    assert f"The best {100 * fitted.prune_:.0f} % of the models" in text


@pytest.mark.parametrize("metric", ["accuracy", "cross-entropy"])
@pytest.mark.parametrize("has_test", [True, False])
def test_words_and_report_say_what_unused_cases_show(call, files, tmp_path, metric, has_test):
    test = ("--test", "test.csv") if has_test else ()
    code, out, _ = call(*SELECT, "--metric", metric, *test, "--out", "out")
    assert code == 0
    found, text = record(tmp_path / "out"), (tmp_path / "out" / "report.html").read_text()
    tables = {"hillclimb": tmp_path / "hill.csv", "test": tmp_path / "test.csv"}
    selector = EnsembleSelector(metric.replace("-", "_"), **FAST)
    fitted = selector.fit(PredictionStore.from_csv(tables))
    unused = UnusedCases.on_part(fitted) if has_test else UnusedCases.by_folds(fitted)
    table = written(tmp_path, "unused_cases.csv")
    assert np.allclose(table.set_index(table.columns[0]), unused.table)
    assert found["verdict"][1:] == str(unused).split("\n")
    assert found["unused_cases"]["gain"] == pytest.approx(unused.gain)
    assert found["unused_cases"]["rival"] == pytest.approx(unused.rival._asdict())
    assert found["verdict"][2].startswith("The ensemble is ")
    for sentence in found["verdict"]:
        assert sentence in " ".join(out.split())
    page = Page(text)
    assert "by what was selected on the other folds" in text or has_test
    assert "On the 90 cases of the part test, which were not used" in text or not has_test
    rows = {name: values for name, *values in page.table("method")}
    *_, rival = rows
    assert rival == "strongest simple rival" + (not has_test) * ", chosen by folds"
    assert rows.pop(rival) == ["", f"{unused.rival.score:.4f}"]
    assert re.search(rf"\n *{rival} +{unused.rival.score:.4f}\n", out)
    rows = {name: [float(one) for one in values] for name, values in rows.items()}
    simple = fitted.report("hillclimb").scores["hillclimb"]
    for name, (before, after) in rows.items():
        assert (before, after) == pytest.approx((simple[name], unused.scores[name]), abs=6e-5)
    best = min if metric == "cross-entropy" else max
    assert f"<b>{best(unused.scores):.4f}</b>" in text
    assert "<b>naive" not in text and len(page.headings) == 4
    assert "script" not in page.tags and all(one.startswith("data:") for one in page.references)


def test_names_of_scorers_and_losses_have_their_own_direction(call, files, tmp_path):
    """The ensemble of the negative log loss is that of the cross-entropy, and of the log loss."""
    weights = []
    for metric, is_loss in (
        *(("neg-log-loss", False), ("cross-entropy", True), ("log-loss", True)),
        *(("neg-brier-score", False), ("brier-score", True), ("brier-score-loss", True)),
    ):
        assert call("select", "store", "--metric", metric, *SELECT[4:], "--out", metric)[0] == 0
        found = record(tmp_path / metric)
        assert found["smaller_is_better"] is is_loss and (found["score"] < 0) is not is_loss
        weights.append(pd.read_csv(tmp_path / metric / "weights.csv")["weight"].tolist())
    assert weights[0] == weights[1] == weights[2]
    assert weights[3] == weights[4] == weights[5] != weights[0]
    page = (tmp_path / "neg-log-loss" / "report.html").read_text()
    assert "Scores are neg log loss; larger is better" in page


def test_groups_of_a_file_are_not_divided(call, files, tmp_path):
    groups = np.arange(120) // 6
    files["hill"].assign(patient=groups).to_csv(tmp_path / "grouped.csv", index=False)
    select = ("select", "grouped.csv", *SELECT[2:], "--group", "patient", "--out", "out")
    code, _, err = call(*select)
    assert (code, err) == (0, "")
    hill = files["hill"]
    given = PredictionStore(hill[NAMES].to_numpy().T, hill["y"], NAMES, groups=groups)
    unused = UnusedCases.by_folds(EnsembleSelector("roc_area", **FAST).fit(given))
    assert np.allclose(written(tmp_path, "unused_cases.csv").set_index("fold"), unused.table)
    assert (unused.table["cases"] % 6 == 0).all()
    other = ("select", "hill.csv", *SELECT[2:], "--out", "two", "--group")
    assert "`--group` must be a column of STORE, `" in mistake(call(*other, "patient"))
    assert "`--group` must be another column than the labels" in mistake(call(*other, "y"))


def test_the_seed_decides_and_threads_do_not(call, files, tmp_path):
    texts = []
    for jobs in ("1", "2"):
        assert call(*SELECT, "--jobs", jobs, "--out", jobs)[0] == 0
        texts.append([(tmp_path / jobs / name).read_text() for name in FILES if ".csv" in name])
    assert texts[0] == texts[1]


def test_a_run_is_recognized_and_replaced(call, files, tmp_path):
    test = ("--test", "test.csv")
    assert call(*SELECT, *test, "--out", "out", "--predict", "new.csv")[0] == 0
    assert read_record(tmp_path / "out")["command"] == "select"
    (tmp_path / "out" / "mine.txt").write_text("mine")
    err = mistake(call(*SELECT, *test, "--out", "out"))
    assert "must be a new or empty folder" in err and "`--force`" in err
    assert call(*SELECT, *test, "--out", "out", "--force")[0] == 0
    assert listing(tmp_path / "out") == sorted([*FILES, "mine.txt"])


def test_models_without_weight_may_be_missing_from_new_rows(call, files, tmp_path):
    weights = selected(tmp_path).weights_
    chosen = list(weights.index[weights > 0])
    assert 1 < len(chosen) < 12
    files["new"][chosen].to_csv(tmp_path / "few.csv", index=False)
    predict = ("--test", "test.csv", "--predict")
    assert call(*SELECT, *predict, "few.csv", "--out", "out")[0] == 0
    files["new"][chosen[1:]].to_csv(tmp_path / "fewer.csv", index=False)
    err = mistake(call(*SELECT, *predict, "fewer.csv", "--out", "two"))
    assert (
        err == f"bnmtl: ROWS must have all models of positive weight; `{chosen[0]}` is missing.\n"
    )
    assert not (tmp_path / "two").exists()


def test_progress_counts_folds(files, tmp_path):
    from bnmtl.cli.select import run

    events = []
    options = {"store": str(tmp_path / "hill.csv"), "metric": "accuracy", "bags": 2, "max_steps": 2}
    run(SelectOptions(**options, out=str(tmp_path / "out"), jobs=1), events.append)
    assert all(isinstance(event, ProgressEvent) for event in events)
    counts = [(event.done, event.total) for event in events if event.stage == "unused cases"]
    assert counts == [(done, 10) for done in range(1, 11)]


# What is typed, and part of what is answered.
MISTAKES = """\
nowhere.csv => File `nowhere.csv` does not exist; check the path.
notes.txt => `notes.txt` must have one of the extensions .csv,
empty => STORE must be a folder of predictions; `empty` has no `store.json`: `bnmtl library` writes
other => File `other/store.json` must be of version 1 of the format for predictions; it is of an
damaged => `damaged/hillclimb/predictions/00000.npy` must be as `store.json` says; its contents
one.csv => STORE must have two models or more, got 1.
label.csv => STORE must have two models or more, got 0.
wide.csv => column `SVM-0` must be probabilities from 0 to 1; row 4 below the header has `1.5`
gap.csv => column `SVM-0` must be probabilities from 0 to 1; row 2 below the header has no val
word.csv => column `SVM-0` must be probabilities from 0 to 1; row 1 below the header has `much`
ones.csv => File `ones.csv`: `--label` must have cases of two classes or more; all are 'yes'.
hill.csv --test ones.csv => File `ones.csv`: `--label` must have cases of two classes or mor
three.csv => `--label` must have two classes in a file with one column per model; it has 3.
missing.csv => File `missing.csv`: `--label`: column `y` must be complete; it is not in row 4: f
single.csv => STORE must have two cases of each class or more for folds; 'yes' has one: add cases
hill.csv --label z => `hill.csv`: `--label` must be a column of the file, which has `SVM-0`, `tr
hill.csv --metric roc_aera => `--metric` must be accuracy, squared-error, cross-entropy, lift-ch
hill.csv --metric f1 => `--metric` must be a scorer that asks for probabilities, and `f1` asks f
hill.csv --metric= => `--metric` must be a name, got nothing.
hill.csv --test new.csv => File `new.csv`: `--label` must be a column of the file, which has
hill.csv --test one.csv => File `one.csv` must have the models of the other files; not all have
hill.csv --test three.csv => `--label` of part `test` must have only the classes `no`, `yes`, go
hill.csv --predict ids.csv => File `ids.csv` must have one column per model, such as `SVM-0`; it
hill.csv --predict wide.csv => `wide.csv`: column `SVM-0` must be probabilities from 0 to 1; row
hill.csv --predict done.csv => ROWS must not have columns that will be written; it has `p_yes`:
hill.csv --bags 0 => `--bags` must be a whole number of at least 1, got 0.
hill.csv --bag-fraction 2 => `--bag-fraction` must be a number above 0 and at most 1, got 2.
hill.csv --initial some => `--initial` must be auto or a whole number of at least 0, got some.
hill.csv --prune swep => `--prune` must be sweep or a number above 0 and at most 1, got swep.
hill.csv --patience 0 => `--patience` must be a whole number of at least 1, got 0.
hill.csv --no-replacment => not an option of `bnmtl select`: take `--no-replacement`, or see
store --label y => `--label` must come with a CSV file; the folder `store` has its labels in it:
store --test test.csv => `--test` must come with training rows, on which the chosen models are
store --predict new.csv => `--predict` must come with training rows, on which the chosen models
hill.csv --out . => `--out` must be a new or empty folder, got `.`, which holds
"""


@pytest.fixture(scope="module")
def wrong_once(written_once, tmp_path_factory):
    """A folder with what `wrong_files` copies."""
    whole, files = written_once
    folder = tmp_path_factory.mktemp("wrong")
    hill = files["hill"]
    tables = {
        "one": hill[["SVM-0", "y"]],
        "label": hill[["y"]],
        "wide": hill.assign(**{"SVM-0": np.where(np.arange(120) == 3, 1.5, 0.5)}),
        "gap": hill.assign(**{"SVM-0": hill["SVM-0"].where(np.arange(120) != 1)}),
        "word": hill.assign(**{"SVM-0": ["much", *hill["SVM-0"].astype(str)[1:]]}),
        "ones": hill.assign(y="yes"),
        "three": hill.assign(y=["maybe", *hill["y"][1:]]),
        "missing": hill.assign(y=hill["y"].where(np.arange(120) != 3)),
        "single": hill.assign(y=np.where(np.arange(120) == 5, "yes", "no")),
        "ids": pd.DataFrame({"id": [1, 2]}),
        "done": files["new"].assign(p_yes=1),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "notes.txt").write_text("y\n")
    (folder / "empty").mkdir()
    store = PredictionStore.open(whole / "store")
    for name in ("other", "damaged"):
        store.save(folder / name)
    found = json.loads((folder / "other" / "store.json").read_text())
    (folder / "other" / "store.json").write_text(json.dumps({**found, "version": 2}))
    batch = folder / "damaged" / "hillclimb" / "predictions" / "00000.npy"
    content = batch.read_bytes()
    batch.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    return folder


@pytest.fixture
def wrong_files(wrong_once, files, tmp_path):
    """Further files and folders, each with one mistake."""
    shutil.copytree(wrong_once, tmp_path, dirs_exist_ok=True)
    return listing(tmp_path)


@pytest.mark.parametrize("line", MISTAKES.splitlines())
def test_a_mistake_is_one_line(call, wrong_files, tmp_path, line):
    typed, message = line.split(" => ")
    options = ("--metric", "accuracy", "--max-steps", "1", "--bags", "1", "--out", "out")
    assert message in mistake(call("select", *options, *typed.split()))
    assert listing(tmp_path) == wrong_files


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("gap", "fill the gap, or leave the case or the model out"),
        ("word", "leave the column out if it is not a model"),
        ("wide", "calibrate scores, or leave the column out if it is not a model"),
    ],
)
def test_the_remedy_is_that_of_the_cell(call, wrong_files, name, remedy):
    said = mistake(call(*(one.replace("hill", name) for one in SELECT), "--out", "out"))
    assert said.endswith(f": {remedy}.\n")


def test_what_must_be_given(call, files):
    see = "must be given: see `bnmtl select --help`.\n"
    assert mistake(call("select")) == f"bnmtl: STORE {see}"
    assert mistake(call("select", "hill.csv")) == f"bnmtl: `--metric M` {see}"


def test_a_full_disk_leaves_nothing_or_the_results(call, files, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    before = listing(tmp_path)
    select = ("select", "store", *SELECT[2:], "--out", "out")
    for moment, left in (("runs.write_record", []), ("select.write_report", ["out"])):
        with monkeypatch.context() as patched:
            patched.setattr(f"bnmtl.cli.{moment}", full)
            assert mistake(call(*select)) == "bnmtl: `out`: No space left on device.\n"
        assert listing(tmp_path) == sorted([*before, *left])
    without = [name for name in FILES if not name.endswith(("html", "png"))]
    assert listing(tmp_path / "out") == without


def test_the_eleven_point_precision_by_name(call, files, tmp_path):
    name = "eleven-point-average-precision"
    options = ("--metric", name, "--max-steps", "6", "--bags", "3")
    assert call("select", "store", *options, "--out", "out")[0] == 0
    assert record(tmp_path / "out")["metric"] == "eleven-point average precision"
    fitted = selected(tmp_path, prediction.eleven_point_average_precision)
    weights = written(tmp_path, "weights.csv").set_index("model")
    assert np.allclose(weights["weight"], fitted.weights_.reindex(weights.index), atol=1e-15)
    y, p = fitted.store_.part("hillclimb").y, fitted.store_.predictions()
    by_hand = [float(sum(naive.eleven_precisions(y, one)) / 11) for one in p]
    scores = weights["score"].reindex(fitted.store_.names)
    assert scores.tolist() == pytest.approx(by_hand)
