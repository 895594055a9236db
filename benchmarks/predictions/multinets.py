"""Whether multi-nets whose classes are learned together predict better (thesis, section 2.5).

Run `python -m benchmarks.predictions.multinets --data FOLDER` (hours on two cores; it takes
pyAgrum, which `pip install -e ".[bench]"` brings). The data are not part of the project: see
`benchmarks/predictions/uci.py`. Rows to learn from are a share of every class, two of each at
least; all others are predicted. Numbers are cut into five bins by the rows to learn from, and
missing values are a state. Every method is measured with tables of one smoothing and with one of
its own, which some of the rows to learn from choose, and those that are ours with their defaults:
see `benchmarks/predictions/multinets_learners.py`.
"""

import numpy as np

from benchmarks import study
from benchmarks.predictions import uci
from benchmarks.predictions.multinets_learners import (
    CHOSEN,
    DEFAULTS,
    FIXED_SIZE,
    cross_entropy,
    learned,
    methods,
)
from benchmarks.predictions.multinets_tables import draw, tables
from benchmarks.speed.peers import require
from bnmtl.seeding import generator

NAME = "multinets"
SETTINGS = ("table", "share", "trial", "method")
TAKES_DATA = True
__all__ = ["draw", "measure", "plan", "tables"]
BINS = 5
FIXED = {"bins": BINS}
N_TRIALS = 10
TABLES = ("vowel", "segment", "soybean", "kr-vs-kp", "pendigits", "vote")
SHARES = (0.2, 0.5)
QUICK = "wine"
ENDINGS = (FIXED_SIZE, CHOSEN, DEFAULTS)


def plan(quick, trials=None):
    """A case a trial; the quick one is a table that scikit-learn brings, without its peer."""
    names = [name for ending in ENDINGS for name in methods(ending).values()]
    if quick:
        wanted = [name for name in names if not name.startswith("TAN")]
        return study.every(wanted, table=[QUICK], share=[0.2], trial=[0])
    return study.every(names, trial=range(trials or N_TRIALS), table=TABLES, share=SHARES)


def check_needs(cases, lines):
    """Raise ValueError where data or pyAgrum are needed and not there, or the data are others."""
    wanted = {case["table"] for case in cases} - {QUICK}
    uci.check_same({table: table for table in wanted}, lines, "table")
    if wanted:
        require("pyagrum")


def rows_of(table):
    """Features, classes and a hash of the data."""
    if table == QUICK:
        from sklearn.datasets import load_wine

        whole = load_wine(as_frame=True)
        return whole.data, whole.target.astype(str).to_numpy(dtype=object), "scikit-learn"
    return *uci.read(table), uci.fingerprint(table)


def drawn(classes, share, random):
    """Whether each row is one to learn from: that share of every class, two rows at least."""
    learned = np.zeros(len(classes), dtype=bool)
    for name in sorted(set(classes)):
        rows = random.permutation(np.flatnonzero(classes == name))
        learned[rows[: max(2, round(share * len(rows)))]] = True
    return learned


def measure(table, share, trial, wanted):
    """A line a method: how well it predicts the other rows."""
    features, classes, data = rows_of(table)
    random = generator(trial, f"{table} {share}")
    mine = drawn(classes, share, random)
    frame = uci.Views(features, np.flatnonzero(mine)).categories(BINS)
    for column in frame.columns[frame.isna().any()]:
        frame[column] = frame[column].cat.add_categories("missing").fillna("missing")
    lines = {}
    for method in wanted:
        own, size = learned(method, frame[mine], classes[mine], trial)
        model = own.at(size)
        p = model.predict_proba(frame[~mine])
        wrong = model.classes_[p.argmax(axis=1)] != classes[~mine]
        lines[method] = {
            "data": data,
            "errors": round(float(np.mean(wrong)), 6),
            "cross_entropy": round(cross_entropy(model, frame[~mine], classes[~mine]), 6),
            "learned": int(mine.sum()),
        }
        if method.startswith("nets together"):
            lines[method]["penalty"] = own.penalty
        if method.endswith(CHOSEN):
            lines[method]["smoothing"] = size
    return lines


if __name__ == "__main__":
    study.main(__spec__.name)
