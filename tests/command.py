"""What the tests of the command line share: data, and looks at what a command leaves."""

import copy
import json

import numpy as np
import pandas as pd

from bnmtl.io.run import digest, write_record


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


def sign(path, changed, files=()):
    """Write a run.json by hand whose digest is right, as are those of the given files."""
    digests = changed.get("digests", {}) | {name: digest(path / name) for name in files}
    return write_record(path, changed, digests)


STRANGE = [None, True, 0, -1, 1e300, 10**300, "", "..", "run.json", [], {}, [[]], {"a": {}}, [None]]
STRANGE.append(["x", 1])


def damaged(kept, rng):
    """A record in which one value is missing or is another one; digests are as they were."""
    kept = copy.deepcopy(kept)
    inside, key, digests = {"": kept}, "", kept.pop("digests", {})
    while key == "" or (
        isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8
    ):
        inside = inside[key]
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = keys[rng.integers(len(keys))]
    if rng.random() < 0.2:
        del inside[key]
    else:
        inside[key] = STRANGE[rng.integers(len(STRANGE))]
    return {**kept, "digests": digests}
