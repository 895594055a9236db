"""A limit on a whole command: how stages share it, and that a run keeps to it."""

import time

import numpy as np
import pandas as pd
import pytest
from budget import NO_JIT
from command import record

from bnmtl.cli.runs import TimeLimit

pytestmark = pytest.mark.beside_kernels


def test_stages_share_what_is_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    limit = TimeLimit(60, {"one": 3, "two": 2, "three": 1})
    assert limit.of("one") == pytest.approx(30)
    now[0] += 6  # less than its share: the rest is for the others
    assert limit.of("two") == pytest.approx(54 * 2 / 3)
    now[0] += 80
    assert limit.of("three") == 0


def test_a_stage_that_is_left_out_leaves_its_time_to_the_others(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    limit = TimeLimit(60, {"one": 3, "two": 2, "three": 1})
    del limit.parts["one"]
    assert limit.of("two") == pytest.approx(40)
    assert list(limit.parts) == ["three"]


def test_no_limit():
    assert TimeLimit(None, {"one": 1}).of("one") is None


@pytest.mark.skipif(NO_JIT, reason="plain Python looks at its clock too rarely")
@pytest.mark.parametrize("options", [(), ("--penalty", "auto", "--table-sharing", "none")])
def test_a_run_keeps_to_its_limit(call, tmp_path, options):
    """A search of many starts would take minutes at every stage."""
    rng = np.random.default_rng(0)
    for name in ("east", "west"):
        table = pd.DataFrame(rng.integers(0, 3, (400, 20))).add_prefix("x")
        table["x1"] = table["x0"]
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    limit = ("--time-limit", "4", "--starts", "10000")
    began = time.monotonic()
    code, _, err = call("learn", "east.csv", "west.csv", *limit, *options, "--out", "run")
    assert code == 0
    assert "`--time-limit` ended a search" in err
    # Reading, pictures and the report are not bounded, nor is the loading of compiled code.
    assert time.monotonic() - began < 40
    kept = record(tmp_path / "run")
    assert kept["settings"]["time_limit"] == 4.0
    stages = [name for name in kept["seconds"] if "learning" in name or "comparing" in name]
    assert len(stages) == 4
    assert all(task["arcs"] >= 1 for task in kept["tasks"])
    assert all("`--time-limit`" in one for one in kept["warnings"] if "ended" in one)


@pytest.mark.parametrize("options", [(), ("--folds", "0", "--penalty", "0.5")])
def test_no_time_at_all(call, tmp_path, options):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.integers(0, 2, (30, 4))).add_prefix("x").to_csv(
        tmp_path / "one.csv", index=False
    )
    pd.DataFrame(rng.integers(0, 2, (30, 4))).add_prefix("x").to_csv(
        tmp_path / "two.csv", index=False
    )
    code, out, _ = call("learn", "one.csv", "two.csv", "--time-limit", "0", *options)
    assert code == 0
    assert "Nothing was found" not in out
