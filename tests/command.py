"""What the tests of the command line share: data, and looks at what a command leaves."""

import json

import numpy as np
import pandas as pd


def frame(seed, n=80):
    """Columns a -> b -> c and an unrelated d."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    c = np.where(rng.random(n) < 0.9, b, 1 - b)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.integers(0, 2, n)})


def mistake(result):
    """Check that a result is that of a user's mistake; returns its one line."""
    code, out, err = result
    assert code == 2
    assert out == ""
    assert err.startswith("bnmtl: ")
    assert err.count("\n") == 1 and err.endswith("\n")
    return err


def listing(path):
    return sorted(file.name for file in path.iterdir())


def record(path):
    return json.loads((path / "run.json").read_text(encoding="utf-8"))
