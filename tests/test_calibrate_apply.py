"""`bnmtl calibrate --apply`: other scores are calibrated by the calibrators of an earlier run."""

import functools
import io
import shutil
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import pytest
from command import damaged, listing, mistake, record, sign
from matplotlib.figure import Figure

from bnmtl import plotting
from bnmtl.cli.main import main

pytestmark = pytest.mark.beside_kernels

APPLY = ("calibrate", "new.csv", "--score", "p", "--apply", "fitted", "--out", "out")
COLUMNS = ["calibrated_auto", "calibrated_isotonic", "calibrated_platt_by_task"]


CALIBRATE = ("calibrate", "cases.csv", "--label", "y", "--score", "p", "--out", "fitted")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Calibrate cases with labels and others without, once for any options; returns the folder."""

    @functools.cache
    def calibrate(options, spread):
        folder = tmp_path_factory.mktemp("run")
        rng = np.random.default_rng(0)
        p = np.round(rng.random(300), 2)
        town = rng.choice(["east", "west", "south"], 300)
        y = (rng.random(300) < p**2 * np.where(town == "east", 1, 0.5)).astype(float)
        y[200:] = np.nan
        cases = pd.DataFrame({"town": town, "y": pd.array(y, dtype="Int64"), "p": spread * p})
        cases.to_csv(folder / "cases.csv", index=False)
        cases.loc[200:, ["town", "p"]].to_csv(folder / "new.csv", index=False)
        silent = io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(silent),
            redirect_stderr(silent),
        ):
            patch.chdir(folder)
            patch.setattr("bnmtl.cli.calibrate._FOLDS", 2)
            patch.setattr(plotting, "calibration_panel", lambda *_, **__: Figure(figsize=(1, 1)))
            with pytest.raises(SystemExit, match="^0$"):
                main([*CALIBRATE, *options])
        return folder

    return calibrate


@pytest.fixture
def fitted(runs, tmp_path):
    """Copy such a run; returns the cases without labels, calibrated."""

    def copied(*options, spread=1.0):
        shutil.copytree(runs(options, spread), tmp_path, dirs_exist_ok=True)
        return pd.read_csv(tmp_path / "fitted" / "scores.csv")[200:].reset_index(drop=True)

    return copied


def applied(tmp_path):
    return pd.read_csv(tmp_path / "out" / "scores.csv")


@pytest.mark.parametrize("spread", [1.0, 7.0])  # probabilities, and scores that are none
def test_new_scores_are_calibrated_as_cases_without_a_label_were(call, fitted, tmp_path, spread):
    expected = fitted("--task-column", "town", spread=spread)
    code, out, err = call(*APPLY)
    assert (code, err) == (0, "")
    assert (
        listing(tmp_path / "out") == record(tmp_path / "out")["files"] == ["run.json", "scores.csv"]
    )
    found = applied(tmp_path)
    assert list(found) == ["town", "p", *COLUMNS]
    pd.testing.assert_frame_equal(found, expected.drop(columns="y"), check_exact=False, rtol=1e-12)
    assert out.endswith("\n100 rows written to out/scores.csv.\n")
    means = [f"{found[column].mean():.3f}" for column in COLUMNS]
    lines = out.splitlines()[1:4]
    assert [line.split() for line in lines] == [
        [*pair] for pair in zip(COLUMNS, means, strict=True)
    ]


def test_the_folder_of_an_application_may_be_applied_too(call, fitted, tmp_path):
    fitted()
    assert call(*APPLY)[0] == 0
    assert call(*APPLY[:5], "out", "--out", "again")[0] == 0
    texts = [(tmp_path / name / "scores.csv").read_text() for name in ("out", "again")]
    assert texts[0] == texts[1]
    assert list(applied(tmp_path)) == ["town", "p", *COLUMNS[:2]]


def test_tasks_that_the_run_does_not_know_are_reported(call, fitted, tmp_path):
    expected = fitted("--task-column", "town")
    rows = pd.read_csv(tmp_path / "new.csv").rename(columns={"town": "place"})
    rows["place"] = rows["place"].replace("south", "north")
    rows.to_csv(tmp_path / "new.csv", index=False)
    n_north = (rows["place"] == "north").sum()
    code, _, err = call(*APPLY, "--task-column", "place")
    assert (code, err) == (
        0,
        f"warning: SCORES has task `north`, which `fitted` does not know; {n_north} rows are "
        "calibrated as all tasks together are.\n",
    )
    found = applied(tmp_path)
    known = rows["place"] != "north"
    assert np.allclose(found[COLUMNS][known], expected[COLUMNS][known], rtol=1e-12)
    of_unknown_task = found["calibrated_platt_by_task"][~known]
    assert np.allclose(of_unknown_task, found["calibrated_auto"][~known], atol=0.1)
    code, _, err = call(*APPLY, "--force")
    assert (code, err) == (
        0,
        "warning: SCORES has no column of tasks, so they are calibrated without; name it by "
        "`--task-column`.\n",
    )
    assert list(applied(tmp_path)) == ["place", "p", *COLUMNS[:2]]


def test_inputs_are_not_replaced(call, fitted, tmp_path):
    fitted()
    before = {path: path.read_bytes() for path in (tmp_path / "fitted").iterdir()}
    for scores, name in (("new.csv", "run.json"), ("fitted/scores.csv", "scores.csv")):
        err = mistake(call("calibrate", scores, *APPLY[2:], "--out", "fitted", "--force"))
        rule = "`--out` must not hold an input that it replaces, got `fitted/"
        assert f"{rule}{name}`; choose another folder" in err
    assert {path: path.read_bytes() for path in (tmp_path / "fitted").iterdir()} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "town"], "`--label` is for fitting calibrators; `--apply` takes those of"),
        (["--positive", "1"], "`--positive` is for fitting calibrators; `--apply` takes"),
        (
            ["--task-column", "town"],
            "`--task-column` must be left out, as calibrators of `fitted` have no tasks",
        ),
        (["--score", "q"], "`--score` must be a column of SCORES, `town`, `p`, got q."),
        (["--score", "town"], "`--score`: column `town` must hold numbers; it holds"),
        (
            ["--apply", "nowhere"],
            "folder written by `bnmtl calibrate`; `nowhere` holds no run.json",
        ),
        (["--apply", "learned"], "written by `bnmtl calibrate`; `learned` is from another command"),
        (["--apply", ""], "`--apply` must name a file, got nothing"),
        (["--out", "fitted"], "`fitted`"),
    ],
)
def test_a_mistake_is_one_line(call, fitted, tmp_path, options, message):
    fitted()
    (tmp_path / "learned").mkdir()
    kept = {"program": "bnmtl", "command": "relate", "tasks": [], "settings": {}, "files": []}
    sign(tmp_path / "learned", kept)
    before = listing(tmp_path)
    assert message in mistake(call(*APPLY, *options))
    assert listing(tmp_path) == before


def test_scores_that_are_not_probabilities_are_named(call, fitted, tmp_path):
    fitted()
    (tmp_path / "new.csv").write_text("p\n0.5\n1.5\n")
    assert mistake(call(*APPLY)) == (
        "bnmtl: `--score`: column `p` must hold probabilities, as those of `fitted` were; row 2 "
        "holds 1.5: choose another column.\n"
    )


@pytest.mark.parametrize(
    "damage",
    [
        {"calibrators": None},
        {"calibrators": {}},
        {"calibrators": {"platt": 3}},
        {"kept_between": [0.5]},
        {"kept_between": [0, 1]},
        {"kept_between": None},
        {"kept_between": ["a", 1]},
        {"probabilities": 1},
        {"titles": None},
    ],
)
def test_a_damaged_run_is_one_line(call, fitted, tmp_path, damage):
    fitted()
    sign(tmp_path / "fitted", {**record(tmp_path / "fitted"), **damage})
    assert mistake(call(*APPLY)) == (
        "bnmtl: File `fitted/run.json` must hold fitted calibrators; it is damaged: fit them "
        "again.\n"
    )


@pytest.mark.parametrize(
    ("method", "key", "value"),
    [
        ("auto", "calibrator", "log"),
        ("auto", "a", "x"),
        ("beta", "b", -1.0),
        ("beta", "lowest", 0),
        ("temperature", "temperature", 0),
        ("isotonic", "values", []),
        ("isotonic", "scores", [[1.0]]),
        ("platt_by_task", "b", {"east": 1.0}),
        ("platt_by_task", "pooled", None),
    ],
)
def test_a_damaged_calibrator_is_one_line(call, fitted, tmp_path, method, key, value):
    methods = ["auto", "beta", "isotonic", "temperature"]
    fitted("--task-column", "town", *(word for one in methods for word in ("--method", one)))
    kept = record(tmp_path / "fitted")
    kept["calibrators"][method][key] = value
    sign(tmp_path / "fitted", kept)
    assert "must hold fitted calibrators; it is damaged" in mistake(call(*APPLY))


def test_a_strange_record_with_a_right_digest_is_one_sentence(call, fitted, tmp_path):
    fitted("--task-column", "town")
    kept, rng, ended = record(tmp_path / "fitted"), np.random.default_rng(0), set()
    needed = ("calibrators", "kept_between", "probabilities", "titles", "settings", "command")
    few = {name: kept[name] for name in (*needed, "program", "tasks", "files", "digests")}
    few["settings"] = {"task_column": "town", "na": [], "only_na": []}
    for _ in range(150):
        sign(tmp_path / "fitted", damaged(few, rng))
        code, _, err = call(*APPLY, "--force")
        if code:
            mistake((code, "", err))
        ended.add(code)
    assert ended == {0, 2}
