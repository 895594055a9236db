"""What `bnmtl calibrate` answers to mistakes: one line with the remedy, and nothing written."""

import numpy as np
import pandas as pd
import pytest
from command import listing, mistake

pytestmark = pytest.mark.beside_kernels

CALIBRATE = ("calibrate", "cases.csv", "--label", "y", "--score", "p", "--out", "out")

# What is typed, and part of what is answered.
MISTAKES = """\
nowhere.csv => File `nowhere.csv` does not exist; check the path.
empty.csv => `empty.csv` must have a header line and rows; it is empty
header.csv => `header.csv` must have rows below its header; it has none
notes.txt => `notes.txt` must have one of the extensions .csv,
done.csv => SCORES must not have columns that will be written; it has `calibrated_auto`: ren
cases.csv cases.csv => unexpected extra argument(s) (cases.csv)
--scroe p => not an option of `bnmtl calibrate`: take `--score`, or see
--label z => `--label` must be a column of SCORES, `town`, `y`, `p`,
--score z => `--score` must be a column of SCORES, `town`, `y`, `p`,
--task-column z => `--task-column` must be a column of SCORES, `town`, `y`, `p`,
--label= => `--label` must be a name, got nothing.
--positive= => `--positive` must be a name, got nothing.
--score y => `--label` must be another column than `--score`, got y.
--task-column p => `--score` must be another column than `--task-column`, got p.
--label p --score y1 => names or whole numbers; it holds 0.05: choose another one.
--label endless => whole numbers; it holds inf: choose another one.
--label town => `--positive` must say which label is predicted, unless labels are 0
--label town => or FALSE and TRUE; `town` holds `east`, `north`, `south`.
--label word => `word` holds `calm`, `storm`.
--label town --positive West => the labels, `east`, `north`, `south`, got West
--label none => column `none` must hold labels; it is empty: choose another one.
--label none --positive 1 => column `none` must hold labels; it is empty: cho
--label ones => positive and negative cases; it holds `1` alone: choose another
--label single => two cases of each class or more; one is positive: add cases.
--label code --positive 007 => `code` must hold two cases of each class or more; on
--score town => must hold numbers; it holds `
--score mixed => must hold numbers; it holds `many`: choose
--score code => must hold numbers; it holds `000` as a text: choose
--score gap => `gap` must be complete and finite; it is not in row 4: fill
--score whole => `whole` must be complete and finite; it is not in row 3: fill
--score endless => `endless` must be complete and finite; it is not in row 5: f
--score none => `none` must be complete and finite; it is not in row 1: fill
--task-column gap => `--task-column`: column `gap` must be complete; it is not in row 4: fill it
--task-column margin => names or whole numbers; it holds -1.25: choose another one.
--task-column endless => whole numbers; it holds inf: choose another one.
--task-column together => must not hold `all rows`, which is what all tasks together are called
--group z => `--group` must be a column of SCORES, `town`, `y`, `p`,
--group gap => column `gap` must be complete; it is not in row 4: fill it
--group y => `--label` must be another column than `--group`, got y.
--group p => `--score` must be another column than `--group`, got p.
--group y1 => two groups or more with a positive case, and with a negative one, got 1.
--group word --task-column town => two groups or more with a positive case, and with
--method sigmoid => must be one of `auto`, `platt`, `beta`, `isotonic`, `temperature`, got sigmoid.
--method beta --score margin => must not be beta for scores that are not from 0 to 1; take auto or
--out= => `--out` must name a folder, got nothing.
--out cases.csv => must be a folder, got the file `cases.csv`; choose another name
--out cases.csv/x => `cases.csv/x` (Not a directory); choose another pl
--out . => must be a new or empty folder, got `.`, which holds `cases.csv`, `done.csv` and 3 m
--out /proc/x => must be a folder that can be written to, and so must the fold
"""


@pytest.fixture
def files(tmp_path):
    """A table with columns that can be taken and others that cannot, and files that are none."""
    at = np.arange(20)
    table = pd.DataFrame({"town": np.resize(["north", "south", "east"], 20), "y": at % 2})
    table["p"] = (at + 1) / 20
    table["y1"] = table["y"]
    table["word"] = np.where(at % 2, "storm", "calm")
    table["ones"], table["single"], table["none"] = 1, at == 9, None
    table["single"] = table["single"].astype(int)
    table["gap"] = table["p"].where(at != 3)
    table["whole"] = pd.Series(at, dtype="Int64").where(at != 2)
    table["endless"] = np.where(at == 4, np.inf, 1.0)
    table["margin"] = at - 1.25
    table["mixed"] = pd.Series(at).astype("string").where(at > 1).replace({"9": "many"})
    table["code"] = [f"{one:03}" for one in at]
    table["together"] = table["town"].replace("east", "all rows")
    table.to_csv(tmp_path / "cases.csv", index=False)
    table.assign(calibrated_auto=1).to_csv(tmp_path / "done.csv", index=False)
    for name, text in {"empty.csv": "", "header.csv": "y,p\n", "notes.txt": "y,p\n"}.items():
        (tmp_path / name).write_text(text)
    return listing(tmp_path)


@pytest.mark.parametrize("line", MISTAKES.splitlines())
def test_a_mistake_is_one_line(call, files, tmp_path, line):
    arguments, message = line.split(" => ")
    file = () if arguments[0] != "-" else ("cases.csv",)
    assert message in mistake(call("calibrate", *CALIBRATE[2:], *file, *arguments.split()))
    assert listing(tmp_path) == files


def test_what_must_be_given(call, files):
    see = "must be given: see `bnmtl calibrate --help`.\n"
    assert mistake(call("calibrate")) == f"bnmtl: SCORES {see}"
    err = mistake(call("calibrate", "cases.csv", "--score", "p"))
    assert err.startswith("bnmtl: `--label` must be given, or `--apply` for the calibrators of")
    assert mistake(call(*CALIBRATE[:4])) == f"bnmtl: `--score P` {see}"
    err = mistake(call("calibrate", "", *CALIBRATE[2:]))
    assert err == "bnmtl: SCORES must name a file, got nothing.\n"


def test_a_full_disk_is_reported_with_the_given_folder(call, files, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bnmtl.cli.calibrate.write_report", full)
    assert mistake(call(*CALIBRATE)) == "bnmtl: `out`: No space left on device.\n"
    assert listing(tmp_path) == [*files, "out"]
    assert listing(tmp_path / "out") == [
        *("measures.csv", "reliability.csv", "run.json", "scores.csv")
    ]
