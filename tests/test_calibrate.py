"""`bnmtl calibrate`: its columns are those of calibrators fitted by hand, all it writes agrees."""

import html
import io
import shutil
from contextlib import redirect_stdout
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from command import listing, mistake, record
from matplotlib.figure import Figure
from pages import Page
from scipy.special import expit, logit

from bnmtl import calibration, plotting
from bnmtl.calibration.quality import best, verdict
from bnmtl.cli.main import main
from bnmtl.io.run import read_run
from bnmtl.metrics import prediction

pytestmark = pytest.mark.beside_kernels

FILES = ["measures.csv", "reliability.csv", "reliability.png", "report.html", "run.json"]
FILES += ["scores.csv"]
CALIBRATE = ("calibrate", "cases.csv", "--label", "y", "--score", "p", "--out", "out")
BY_GROUP = (*CALIBRATE, "--task-column", "town")
COLUMNS = ["calibrated_auto", "calibrated_isotonic", "calibrated_platt_by_task"]
TITLES = ["before", "auto (beta)", "isotonic", "Platt by task"]
STAGES = dict(zip(TITLES, ["p", *COLUMNS], strict=True))


def small_picture(*_, **__):
    """Another picture, which takes less time."""
    return Figure(figsize=(1, 1))


def sure_scores():
    """Scores that are too sure and labels, some of them missing.

    Towns differ in their base rate; east has no label, west has but one class.
    """
    rng = np.random.default_rng(0)
    n = 240
    town = rng.choice(["east", "north", "south", "west"], n, p=[0.1, 0.5, 0.3, 0.1])
    margin = rng.normal(size=n).round(2)
    y = rng.random(n) < expit(2 * margin - 2 * (town == "south"))
    table = pd.DataFrame({"id": range(n), "margin": margin, "p": expit(5 * margin), "town": town})
    table["y"] = pd.array(y | (town == "west"), dtype="Int64")
    table.loc[(town == "east") | (rng.random(n) < 0.1), "y"] = pd.NA
    table["word"] = table["y"].map({0: "calm", 1: "storm"}, na_action="ignore")
    return table


@pytest.fixture
def cases(tmp_path):
    """Write these cases to a file; returns the table."""
    table = sure_scores()
    table.to_csv(tmp_path / "cases.csv", index=False)
    return table


@pytest.fixture
def no_picture(monkeypatch):
    monkeypatch.setattr(plotting, "calibration_panel", small_picture)


@pytest.fixture
def few_folds(monkeypatch):
    monkeypatch.setattr("bnmtl.cli.calibrate._FOLDS", 2)


@pytest.fixture(scope="module")
def by_group(tmp_path_factory):
    """Calibrate these cases once by town; returns (folder, stdout), which tests only read."""
    folder = tmp_path_factory.mktemp("by_group")
    sure_scores().to_csv(folder / "cases.csv", index=False)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.chdir(folder)
        patch.setattr(plotting, "calibration_panel", small_picture)
        with pytest.raises(SystemExit, match="^0$"):
            main(list(BY_GROUP))
    return folder, out.getvalue()


def written(tmp_path):
    return pd.read_csv(tmp_path / "out" / "scores.csv")


def units(table, n):
    return logit(kept(table["p"], n)).to_numpy()


def kept(p, n):
    return np.clip(p, 1 / (n + 2), 1 - 1 / (n + 2))


def by_hand(train, test):
    """Columns of all methods, fitted to some cases, of others."""
    y = train["y"].to_numpy(dtype=float)
    n = len(train)
    groups = calibration.MultitaskPlattCalibrator().fit(units(train, n), y, train["town"])
    known = test["town"].isin(groups.a_.index)
    a = test["town"].map(groups.a_).where(known, groups.pooled_.a_)
    b = test["town"].map(groups.b_).where(known, groups.pooled_.b_)
    return pd.DataFrame(
        {
            COLUMNS[0]: calibration.BetaCalibrator().fit(train["p"], y).predict(test["p"]),
            COLUMNS[1]: calibration.IsotonicCalibrator().fit(train["p"], y).predict(test["p"]),
            COLUMNS[2]: expit(-(a * units(test, n) + b)),
        },
        index=test.index,
    )


def test_calibrate_writes_everything(call, cases, tmp_path):
    code, out, err = call(*CALIBRATE)
    assert (code, err) == (0, "")
    assert listing(tmp_path) == ["cases.csv", "out"]
    assert listing(tmp_path / "out") == FILES == record(tmp_path / "out")["files"]
    assert (tmp_path / "out" / "reliability.png").read_bytes()[1:4] == b"PNG"
    assert out.endswith("6 files in out; begin with report.html.\n")
    lines = (tmp_path / "cases.csv").read_text().splitlines()
    after = (tmp_path / "out" / "scores.csv").read_text().splitlines()
    assert after[0] == f"{lines[0]},{COLUMNS[0]},{COLUMNS[1]}"
    assert [line.rsplit(",", 2)[0] for line in after[1:]] == lines[1:]


def test_columns_are_those_of_calibrators_that_have_not_seen_the_case(by_group):
    folder, cases = by_group[0], sure_scores()
    found = written(folder)[COLUMNS]
    labelled = cases.dropna(subset="y")
    unlabelled = cases[cases["y"].isna()]
    assert set(unlabelled["town"]) > {"east"}
    expected = kept(by_hand(labelled, unlabelled), len(labelled))
    assert np.allclose(found.loc[unlabelled.index], expected, rtol=1e-6)
    # A fold is every tenth case of each class, in the order of towns and scores.
    ordered = labelled.sort_values(["town", "p"])
    at = ordered.groupby("y").cumcount() % 10 == 7
    tied = ordered.duplicated(["y", "town", "p"], keep=False)
    expected = kept(by_hand(ordered[~at], ordered[at & ~tied]), len(labelled))
    assert len(expected) > 10
    assert np.allclose(found.loc[expected.index], expected, rtol=1e-5)


def test_neither_the_order_of_rows_nor_that_of_columns_matters(
    call, no_picture, few_folds, cases, tmp_path
):
    cases["p"] = cases["p"].round(1)  # ties
    results = []
    for table in (cases, cases.sample(frac=1, random_state=1)[cases.columns[::-1]]):
        table.to_csv(tmp_path / "cases.csv", index=False)
        assert call(*BY_GROUP, "--force")[0] == 0
        texts = [(tmp_path / "out" / name).read_text() for name in FILES[:2]]
        parts = [record(tmp_path / "out")[key] for key in ("measures", "calibrators", "tasks")]
        results.append((written(tmp_path).set_index("id").sort_index()[COLUMNS], texts, parts))
    pd.testing.assert_frame_equal(results[0][0], results[1][0], check_exact=True)
    assert results[0][1:] == results[1][1:]


def test_measures_and_reliability_are_those_of_the_columns(by_group):
    folder, out = by_group
    table = written(folder).dropna(subset="y")
    measures = pd.read_csv(folder / "out" / "measures.csv", index_col="method")
    assert list(measures.index) == list(STAGES)
    y, kept = table["y"], record(folder / "out")["kept_between"]
    for stage, column in STAGES.items():
        p = table[column]
        clipped, window = np.clip(p, *kept), min(100, -(-len(y) // 5))
        expected = [prediction.cross_entropy(y, clipped), prediction.root_mean_squared_error(y, p)]
        expected += [prediction.calibration_error(y, p, window=window), prediction.roc_area(y, p)]
        assert measures.loc[stage].tolist() == pytest.approx(expected)
        line = next(line for line in out.splitlines() if line.startswith(f"{stage}  "))
        assert line.split()[-4:] == [f"{one:.4f}" for one in expected]
    assert record(folder / "out")["measures"] == measures.to_dict("index")
    tables = pd.read_csv(folder / "out" / "reliability.csv")
    found = {key: curve for key, curve in tables.groupby(["task", "method"])}
    towns = {"all rows": table, **dict(list(table.groupby("town")))}
    assert set(found) == {(town, stage) for town in towns for stage in STAGES}
    assert list(towns) == ["all rows", "north", "south", "west"]
    for (town, stage), curve in found.items():
        expected = calibration.reliability(towns[town]["y"], towns[town][STAGES[stage]])
        curve = curve.drop(columns=["task", "method"]).reset_index(drop=True)
        pd.testing.assert_frame_equal(curve, expected)


def test_run_json_is_enough_to_calibrate_new_scores(by_group):
    folder, cases = by_group[0], sure_scores()
    kept_record = record(folder / "out")
    counts = [kept_record[name] for name in ("rows", "labelled", "positive", "folds")]
    assert counts == [240, cases["y"].notna().sum(), cases["y"].sum(), 10]
    assert (
        kept_record["settings"]["task_column"] == "town" and kept_record["command"] == "calibrate"
    )
    sizes = cases.groupby("town")["y"].count().drop("east")
    assert kept_record["tasks"] == [{"name": name, "rows": n} for name, n in sizes.items()]
    low = 1 / (kept_record["labelled"] + 2)
    assert kept_record["kept_between"] == [low, 1 - low]
    known = kept_record["calibrators"]
    new = written(folder)
    new = new[new["y"].isna()]
    groups, steps = known["platt_by_task"], known["isotonic"]
    beta, n = known["auto"], kept_record["labelled"]
    assert [known[name]["calibrator"] for name in known] == ["beta", "isotonic", "platt_by_task"]
    assert groups["scale"] == "logit" and beta["lowest"] == groups["pooled"]["lowest"] == low
    a = new["town"].map(groups["a"]).fillna(groups["pooled"]["a"])
    b = new["town"].map(groups["b"]).fillna(groups["pooled"]["b"])
    p = kept(new["p"], n)
    place = np.searchsorted(steps["scores"], new["p"]).clip(max=len(steps["values"]) - 1)
    values = {
        COLUMNS[0]: expit(beta["a"] * np.log(p) - beta["b"] * np.log1p(-p) + beta["c"]),
        COLUMNS[1]: np.array(steps["values"])[place],
        COLUMNS[2]: expit(-(a * units(new, n) + b)),
    }
    for column, p in values.items():
        assert np.allclose(new[column], np.clip(p, *kept_record["kept_between"]), rtol=1e-12)


def test_margins(call, no_picture, few_folds, cases, tmp_path):
    assert call(*CALIBRATE, "--score", "margin")[0] == 0
    assert list(record(tmp_path / "out")["measures"]) == ["auto (Platt)", "isotonic"]
    known, found = cases.dropna(subset="y"), written(tmp_path)
    new = found[found["y"].isna()]
    fitted = calibration.PlattCalibrator().fit(known["margin"], known["y"].astype(float))
    expected = kept(fitted.predict(new["margin"]), len(known))
    assert np.allclose(new[COLUMNS[0]], expected, rtol=1e-6)


def test_kinds_of_labels(call, no_picture, few_folds, cases, tmp_path):
    cases["truth"] = cases["y"].map({0: "FALSE", 1: "TRUE"}, na_action="ignore")
    cases["other"] = cases["word"].where(cases["y"].fillna(1) == 1, cases["town"])
    cases.to_csv(tmp_path / "cases.csv", index=False)
    columns = []
    for label in ("y", "truth", "word --positive storm", "other --positive storm"):
        assert call(*CALIBRATE, "--force", "--label", *label.split())[0] == 0
        columns.append(written(tmp_path)[COLUMNS[0]])
        assert np.allclose(columns[-1], columns[0])
    assert call(*CALIBRATE, "--label", "word", "--positive", "calm", "--force")[0] == 0
    # Calm is less probable where the score is high.
    assert record(tmp_path / "out")["calibrators"]["auto"]["a"] > 0


def test_parquet_may_hold_lists_and_decimals(call, no_picture, few_folds, cases, tmp_path):
    assert call(*CALIBRATE)[0] == 0
    lists = [[at, at + 1] for at in range(len(cases))]
    decimals = [Decimal(repr(p)) for p in cases["p"]]
    cases.assign(p=decimals, list=lists).to_parquet(tmp_path / "cases.parquet")
    options = ("calibrate", "cases.parquet", "--score", "p", "--out", "two")
    assert call(*options, "--label", "y")[0] == 0
    # Folds are others, because tied cases stand by all that is in their rows.
    assert record(tmp_path / "two")["calibrators"] == record(tmp_path / "out")["calibrators"]
    err = mistake(call(*options, "--label", "list", "--force"))
    assert "column `list` must hold names or whole numbers; it holds ndarrays such" in err


def test_parquet_gives_the_same(call, no_picture, few_folds, cases, tmp_path):
    pytest.importorskip("pyarrow")
    table = cases.assign(y=cases["y"].astype(float), town=pd.factorize(cases["town"])[0] * 1.0)
    table.to_parquet(tmp_path / "cases.parquet")
    table.astype({"y": "Int64", "town": int}).to_csv(tmp_path / "cases.csv", index=False)
    assert call(*BY_GROUP)[0] == 0
    assert call("calibrate", "cases.parquet", *BY_GROUP[2:], "--out", "two")[0] == 0
    for name in ("measures.csv", "reliability.csv"):
        one, two = ((tmp_path / folder / name).read_text() for folder in ("out", "two"))
        assert one == two
    table.assign(p=table["p"] > 0.5).to_parquet(tmp_path / "cases.parquet")
    err = mistake(call("calibrate", "cases.parquet", *CALIBRATE[2:], "--force"))
    assert "must hold numbers; it holds `False`" in err


def test_the_report(call, no_picture, cases, tmp_path):
    nasty = "<script>alert(1)</script>"
    cases["town"] = cases["town"].replace("south", nasty)
    cases.to_csv(tmp_path / "cases.csv", index=False)
    code, out, _ = call(*BY_GROUP)
    assert code == 0
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page, kept_record = Page(text), record(tmp_path / "out")
    assert len(page.headings) == 4
    assert len(page.references) == 1 and page.references[0].startswith("data:image/")
    assert "script" not in page.tags and "link" not in page.tags and "url(" not in text
    measures = pd.DataFrame(kept_record["measures"]).T.round(4)
    lowest = measures["cross-entropy (nats)"].idxmin()
    assert [lowest] == kept_record["best"] == ["Platt by task"]
    assert f"By cross-validation, {lowest} has the lowest cross-entropy" in text
    gain = kept_record["gain"]
    assert gain["than"] == "before"
    entropy = measures["cross-entropy (nats)"]
    assert gain["nats"] == pytest.approx(entropy["before"] - entropy[lowest], abs=1e-4)
    table = written(tmp_path).dropna(subset="y")
    happened = {  # what each case of each column was given
        column: table[column].where(table["y"] == 1, 1 - table[column])
        for column in ("p", "calibrated_platt_by_task")
    }
    happened = {name: np.clip(p, *kept_record["kept_between"]) for name, p in happened.items()}
    error = (np.log(happened["calibrated_platt_by_task"]) - np.log(happened["p"])).sem()
    assert gain["standard_error"] == pytest.approx(error)
    words = f", {gain['nats']:.4f} ± {error:.4f} (standard error) below that of the scores as they"
    assert f"By cross-validation, {lowest} has the lowest cross-entropy{words} are" in out
    rows = page.table("method")
    assert [row[0] for row in rows] == list(STAGES)
    assert np.allclose(np.array([row[1:] for row in rows], float), measures)
    assert f"<b>{measures['ROC area'].max():.4f}</b>" in text
    curves = page.table("curve")
    towns = [f"Platt by task: {town}" for town in (nasty, "north", "west", "all rows")]
    assert [row[0] for row in curves] == ["auto (beta)", *towns]
    beta, by_task = (kept_record["calibrators"][name] for name in ("auto", "platt_by_task"))
    expected = [f"{beta[name]:.4f}".replace("-", "\u2212") for name in "abc"]
    assert curves[0][1:] == [*expected, ""]
    assert curves[-1][1] == f"\u2212{-by_task['pooled']['a']:.4f}"
    assert "Tasks without a label follow the sigmoid of all rows." in text
    n = kept_record["labelled"]
    assert "of them positive (y = 1, True, true or TRUE)." in text
    assert f"{n} rows with a label" in text and f"{240 - n} rows without a label are" in text
    assert f"closer to 0 or 1 than 1 / {n + 2}." in text
    assert '<td class="name">SCORES</td><td class="text">cases.csv</td>' in text
    assert '<td class="name">--positive</td><td class="text">not given</td>' in text


def test_scores_that_are_right_are_the_best(call, no_picture, tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"p": rng.random(60)})
    table["y"] = (rng.random(60) < table["p"]).astype(int)
    table.to_csv(tmp_path / "cases.csv", index=False)
    out = call(*CALIBRATE)[1]
    found = record(tmp_path / "out")
    entropy = {
        name: measures["cross-entropy (nats)"] for name, measures in found["measures"].items()
    }
    best_method = min(found["titles"].values(), key=entropy.get)
    assert found["best"] == ["before"]
    assert found["gain"]["of"] == best_method and found["gain"]["than"] == "before"
    assert found["gain"]["nats"] == pytest.approx(entropy["before"] - entropy[best_method])
    assert found["gain"]["nats"] < 0
    assert f"than the scores as they are; that of {best_method} is 0.0" in out


def test_the_verdict_names_all_that_are_best():
    gain = {"of": "Platt", "than": "before", "nats": 0.02, "standard_error": 0.00999}
    kept = {"labelled": 50, "gain": gain}
    said = {
        names: verdict({**kept, "best": names.split(",")})
        for names in ("before,Platt", "Platt", "Platt,isotonic", "isotonic", "before")
    }
    lowest = "the lowest cross-entropy"
    more = ", 0.0200 ± 0.0100 (standard error) below that of the scores as they are"
    few = "; of so few rows it follows chance, so below about 1000 prefer other methods"
    assert said == {
        "before,Platt": f"By cross-validation, the scores as they are and Platt have {lowest}.",
        "Platt": f"By cross-validation, Platt has {lowest}{more}.",
        "Platt,isotonic": f"By cross-validation, Platt and isotonic have {lowest}{more}.",
        "isotonic": f"By cross-validation, isotonic has {lowest}{more}{few}.",
        "before": "No method of calibration has a lower cross-entropy than the scores as they are; "
        "that of Platt is 0.0200 ± 0.0100 (standard error) above it.",
    }
    assert "chance" not in verdict({**kept, "labelled": 2000, "best": ["isotonic"]})
    gain |= {"than": "isotonic", "standard_error": 0.0101}
    said = verdict({**kept, "best": ["Platt"]})
    assert said.endswith(" (standard error) below that of isotonic, which may be chance.")
    gain |= {"nats": -2e-5, "standard_error": 3.14e-6}
    said = verdict({**kept, "best": ["before"]})
    assert said.endswith(" that of Platt is 0.0000200 ± 0.0000031 (standard error) above it.")
    table = pd.Series({"before": 0.50004, "Platt": 0.49996, "isotonic": 0.50006})
    assert best(table) == ["before", "Platt"]


def test_scores_of_the_other_label_are_reported(call, no_picture, few_folds, cases, tmp_path):
    cases.assign(p=1 - cases["p"]).to_csv(tmp_path / "cases.csv", index=False)
    code, _, err = call(*CALIBRATE)
    assert code == 0
    assert err.startswith(
        "warning: SCORES has lower scores for positive cases than for others (ROC area 0"
    )


@pytest.mark.parametrize(
    ("options", "n_tasks", "columns"),
    [
        ((), 1, TITLES[:3]),
        (("--score", "margin"), 1, ["auto (Platt)", "isotonic"]),
        (("--task-column", "many"), 3, ["all rows", "0", "1", "2"]),
        (("--task-column", "many"), 8, TITLES),
    ],
)
def test_the_picture(call, few_folds, cases, tmp_path, monkeypatch, options, n_tasks, columns):
    cases.assign(many=cases["id"] % n_tasks).to_csv(tmp_path / "cases.csv", index=False)
    calls = []

    def draw(*given, **named):
        calls.append((*given, named))
        return Figure(figsize=(1, 1))

    monkeypatch.setattr(plotting, "calibration_panel", draw)
    assert call(*CALIBRATE, *options)[0] == 0
    ((y, predictions, named),) = calls
    assert list(predictions) == columns
    curves = named["calibrators"]
    assert (curves is None) == ("margin" in options)
    assert curves is None or list(curves) == columns[:1]
    y = y["all rows"] if "all rows" in columns else y
    assert y.sum() == cases["y"].sum() and len(y) == cases["y"].count()
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert ("Those of each task are in reliability.csv." in text) == (n_tasks > 7)


def test_few_cases_and_equal_scores(call, no_picture, tmp_path):
    (tmp_path / "cases.csv").write_text("p,y\n0.5,1\n0.5,1\n0.5,0\n0.5,0\n0.5,\n")
    assert call(*CALIBRATE)[0] == 0
    assert record(tmp_path / "out")["folds"] == 2
    assert written(tmp_path)[COLUMNS[0]].tolist() == pytest.approx([0.5] * 5)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "1 row without a label is calibrated by them" in page
    (tmp_path / "cases.csv").write_text("p,y\n0,1\n1,1\n0.5,0\n0.2,0\n")
    err = call(*CALIBRATE, "--force")[2]
    assert err == (
        "warning: SCORES has scores of 0 or 1; 2 labelled scores of 4 counted as 0.17 instead "
        "of 0, or 1 less that instead of 1, in the cross-entropy before calibration.\n"
    )
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert html.escape(err.removeprefix("warning: ").strip()) in page


def test_force_replaces_only_files_of_calibrate(
    call, no_picture, few_folds, cases, tmp_path, monkeypatch
):
    assert call(*CALIBRATE)[0] == 0
    (tmp_path / "out" / "notes.txt").write_text("mine")
    assert "or set `--force` to replace" in mistake(call(*CALIBRATE))
    assert call(*BY_GROUP, "--force")[0] == 0
    assert listing(tmp_path / "out") == sorted([*FILES, "notes.txt"])
    assert COLUMNS[2] in written(tmp_path)
    (tmp_path / "new").mkdir()
    shutil.copy(tmp_path / "out" / "scores.csv", tmp_path / "new" / "scores.csv")
    monkeypatch.setattr("bnmtl.cli.calibrate.Calibrated", lambda *_: pytest.fail("too late"))
    err = mistake(call(*CALIBRATE, "--out", "new", "--force"))
    assert "`new/scores.csv`, which is not from bnmtl" in err
    with pytest.raises(ValueError, match="out` is from `bnmtl calibrate`, which keeps no networks"):
        read_run(tmp_path / "out")


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["calibrate.Calibrated", "runs.write_record"])
def test_an_interrupt_leaves_nothing_half_written(
    call, no_picture, few_folds, cases, tmp_path, monkeypatch, moment
):
    assert call(*CALIBRATE, "--method", "platt")[0] == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    monkeypatch.setattr(f"bnmtl.cli.{moment}", interrupt)
    for out in ("out", "new/run"):
        code, stdout, err = call(*BY_GROUP, "--force", "--out", out)
        assert (code, stdout) == (130, "")
        assert err == "bnmtl: interrupted; no half-written file is left.\n"
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == before
    assert listing(tmp_path) == ["cases.csv", "out"]


def test_votes_of_0_and_1_are_calibrated_better_not_worse(call, no_picture, tmp_path):
    """Shares of trees: today's sigmoid of log odds, clipped at the epsilon, made them worse."""
    rng = np.random.default_rng(0)
    true = rng.beta(0.6, 0.6, 800)
    y = (rng.random(800) < true).astype(int)
    table = pd.DataFrame({"p": rng.binomial(30, expit(1.6 * logit(true))) / 30, "y": y})
    assert {0.0, 1.0} < set(table["p"])
    table.to_csv(tmp_path / "cases.csv", index=False)
    code, _, err = call(*CALIBRATE, "--method", "auto", "--method", "platt", "--method", "beta")
    assert code == 0 and "has scores of 0 or 1" in err
    measures = pd.DataFrame(record(tmp_path / "out")["measures"]).T
    assert list(measures.index)[2:] == ["Platt", "beta"]
    error = measures["calibration error"]
    assert (error.drop("before") < error["before"] - 0.005).all()
    odds = logit(np.clip(table["p"], 2.0**-52, 1 - 2.0**-52))
    flat = calibration.PlattCalibrator().fit(odds, table["y"]).predict(odds)
    assert prediction.calibration_error(table["y"], flat) > error.max() + 0.03


def test_few_rows_show_what_calibration_did(call, no_picture, tmp_path):
    """An error that is corrected for chance is 0 for most tables of so few rows."""
    rng = np.random.default_rng(1)
    true = rng.beta(0.7, 0.7, 200)
    y = (rng.random(200) < true).astype(int)
    p = np.append(expit(2 * logit(true[:-2])), [0.0, 1.0])
    y[-2:] = 1, 0
    pd.DataFrame({"p": p, "y": y}).to_csv(tmp_path / "cases.csv", index=False)
    out, err = call(*CALIBRATE, "--method", "platt", "--method", "beta")[1:]
    measures = pd.DataFrame(record(tmp_path / "out")["measures"]).T
    assert (measures["calibration error"] > 0.02).all()
    by_hand = [abs((p - y)[np.argsort(p)][at : at + 40].mean()) for at in range(161)]
    assert measures.loc["before", "calibration error"] == pytest.approx(np.mean(by_hand))
    assert f"{np.mean(by_hand):.4f}" in out
    clipped = np.clip(p, 1 / 202, 201 / 202)
    entropy = -np.log(np.where(y == 1, clipped, 1 - clipped)).mean()
    assert measures.loc["before", "cross-entropy (nats)"] == pytest.approx(entropy)
    assert "2 labelled scores of 200 counted as 0.005 instead of 0" in err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "windows of 40 rows" in page and "closer to 0 or 1 than 1 / 202 count as" in page


def test_methods_are_those_that_are_asked_for(call, no_picture, few_folds, cases, tmp_path):
    words = [word for one in ("temperature", "platt", "platt") for word in ("--method", one)]
    assert call(*BY_GROUP, *words)[0] == 0
    columns = ["calibrated_temperature", "calibrated_platt", COLUMNS[2]]
    found = written(tmp_path)
    assert list(found.columns[-3:]) == columns and COLUMNS[0] not in found
    labelled, rest = cases.dropna(subset="y"), cases[cases["y"].isna()]
    y = labelled["y"].astype(float)
    for column, one in (
        (columns[0], calibration.TemperatureCalibrator("logit")),
        (columns[1], calibration.PlattCalibrator()),
    ):
        expected = kept(one.fit(labelled["p"], y).predict(rest["p"]), len(labelled))
        assert np.allclose(found.loc[rest.index, column], expected, rtol=1e-6)
    known = record(tmp_path / "out")
    assert known["titles"] == {"temperature": "temperature", "platt": "Platt"} | {
        "platt_by_task": "Platt by task"
    }
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Temperature scaling" in page and "Isotonic regression" not in page
    out = ("calibrate", "cases.csv", "--score", "p", "--apply", "out", "--out", "again")
    assert call(*out)[0] == 0
    again = pd.read_csv(tmp_path / "again" / "scores.csv")
    assert np.allclose(again.loc[rest.index, columns], found.loc[rest.index, columns], rtol=1e-9)


def test_units_are_calibrated_by_those_of_others(call, no_picture, cases, tmp_path):
    """Every row is there five times: without units, each is calibrated by its own copies."""
    table = cases.dropna(subset="y").head(60)
    table = pd.concat([table] * 5, ignore_index=True).assign(noise=np.arange(300))
    results = []
    for order in (slice(None), slice(None, None, -1)):
        table[order].to_csv(tmp_path / "cases.csv", index=False)
        call(*CALIBRATE, "--force", "--method", "isotonic", "--group", "id")
        found = written(tmp_path)
        by_row = found.groupby("id")["calibrated_isotonic"]
        assert (by_row.nunique() == 1).all()  # all copies are in one fold
        results.append(by_row.first())
        with_units = record(tmp_path / "out")["measures"]["isotonic"]["cross-entropy (nats)"]
    pd.testing.assert_series_equal(*results)
    call(*CALIBRATE, "--force", "--method", "isotonic")
    alone = record(tmp_path / "out")["measures"]["isotonic"]["cross-entropy (nats)"]
    assert alone < with_units
