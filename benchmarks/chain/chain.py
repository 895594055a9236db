"""From tables of several tasks to predictions: networks, ensembles and simple rivals.

Run `python -m benchmarks.chain.chain --data FOLDER` (two nights on two cores; a table at a time
with `--only`). One column of a table is predicted from the others and the task. Ten folds (five for
FeederWatch) have their share of each task; a task with fewer rows than folds is in as many folds as
it has rows. Of the rows outside a fold, the first 25, 50 or 100 of each task in random order are
learned from, or all of them (0).
"""

import time

import numpy as np

from benchmarks import study
from benchmarks.chain.tables import FEEDERWATCH, N_SPECIES, OTHERS, TABLES, TASK, table_of
from benchmarks.chain.ways import ENSEMBLE, SELECTED, TOGETHER, WAYS, library_of, probabilities
from benchmarks.chain.ways import selected as selected_from
from benchmarks.summary import markdown, parts, present
from bnmtl.errors import InputError
from bnmtl.metrics.resampled import resampled_error, resampled_p
from bnmtl.seeding import generator

NAME = "chain"
SETTINGS = ("table", "target", "rows", "fold", "way")
TAKES_DATA = True
LOWEST = 2**-24  # as in a store of predictions
FIXED = {"lowest": LOWEST, "profile": "modern"}
ALL = 0
SIZES = (ALL, 100, 50, 25)
N_FOLDS, FEWER_FOLDS = 10, {FEEDERWATCH: 5}
N_BINS = 10
# Of the quick run, which no other case has.
QUICK_ROWS = 20
QUICK_PROFILE = [{"family": "logistic regression"}, {"family": "networks of all tasks"}]
QUICK_WAYS = ("class shares", TOGETHER, "logistic regression per task", ENSEMBLE)
# A number of rows of a table is left out if no task has so many beside a fold.
SMALL = {"jv73": (ALL,)}


def plan(quick, trials=None):
    """All cases, the first folds and the largest sizes first; trials are the numbers of folds."""
    if quick:
        return study.every(QUICK_WAYS, table=["avimedi"], target=["1"], rows=[QUICK_ROWS], fold=[0])

    def wanted(fold, rows, table, target):
        n_folds = min(trials or N_FOLDS, FEWER_FOLDS.get(table, N_FOLDS))
        is_there = fold < n_folds and rows in SMALL.get(table, SIZES)
        return WAYS if is_there and int(target) <= n_targets(table) else ()

    targets = [str(number) for number in range(1, 1 + max(map(n_targets, TABLES)))]
    return study.every(wanted, fold=range(N_FOLDS), rows=SIZES, table=TABLES, target=targets)


def n_targets(table):
    """How many columns of a table are predicted."""
    return N_SPECIES[table] if table in N_SPECIES else len(OTHERS[table])


def folds_of(rows, target, n_folds):
    """The fold of each row: by task, and in it by class, in random order."""
    random = generator(0, "folds").random(len(rows))
    order = np.lexsort([random, rows[target], rows[TASK]])
    folds = np.empty(len(rows), dtype=int)
    for task in np.unique(rows[TASK]):
        at = order[(rows[TASK].to_numpy() == task)[order]]
        # Each task begins elsewhere, so that folds have equally many rows of small tasks.
        begin = generator(0, "begin", task).integers(n_folds)
        folds[at] = (begin + np.arange(len(at))) % n_folds
    return folds


def training_rows(rows, folds, fold, size):
    """Positions of the rows that are learned from."""
    order = generator(0, "order").permutation(len(rows))
    order = order[folds[order] != fold]
    if size == ALL:
        return np.sort(order)
    place = rows.iloc[order].groupby(TASK).cumcount().to_numpy()
    return np.sort(order[place < size])


def measure(table, target, rows, fold, wanted):
    """One line per way: losses on the rows of the fold."""
    whole, targets = table_of(table)
    name = targets[int(target) - 1]
    features, labels = whole.drop(columns=name), whole[name].to_numpy()
    folds = folds_of(whole, name, FEWER_FOLDS.get(table, N_FOLDS))
    train, test = training_rows(whole, folds, fold, rows), np.flatnonzero(folds == fold)
    X, y, new = features.iloc[train], labels[train], features.iloc[test]
    known = set(X[TASK])
    judged = new[TASK].isin(known).to_numpy()  # a task with one row has none in this fold
    new, truth = new[judged], labels[test][judged]
    store, lines, took = None, {}, 0.0
    profile = QUICK_PROFILE if rows == QUICK_ROWS else "modern"
    for way in wanted:
        began = time.perf_counter()
        try:
            if way in SELECTED:
                if store is None:
                    store = library_of(X, y, new, profile, seed=fold)
                    took = time.perf_counter() - began
                    began = time.perf_counter()
                classes, p = selected_from(way, store, fold)
            else:
                classes, p = probabilities(way, features, X, y, new, fold)
        except InputError as error:  # such as a task with one row in a fold of calibration
            lines[way] = {"column": name, "learned": len(train), "failed": str(error)}
            continue
        seconds = time.perf_counter() - began
        lines[way] = {
            "column": name,
            "n_tasks": len(known),
            "learned": len(train),
            **losses(classes, p, truth),
            "seconds": round(seconds, 3),
            "seconds_of_library": round(took, 2) if way in SELECTED else 0.0,
        }
    return lines


def losses(classes, p, truth):
    """Losses of the probabilities of some rows, and what their calibration error needs."""
    p = np.clip(p, LOWEST, 1 - LOWEST)
    p /= p.sum(axis=1, keepdims=True)
    happened = classes[None, :] == truth[:, None]
    of_truth = np.where(happened.any(axis=1), (p * happened).sum(axis=1), LOWEST)
    bins = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    sums = [
        [int((bins == one).sum()), float(p[bins == one].sum()), int(happened[bins == one].sum())]
        for one in range(N_BINS)
    ]
    return {
        "tested": len(truth),
        "log_loss": round(float(-np.log(of_truth).mean()), 6),
        "squared": round(float(((p - happened) ** 2).sum(axis=1).mean()), 6),
        "accuracy": round(float((classes[p.argmax(axis=1)] == truth).mean()), 6),
        "bins": [[n, round(total, 4), positive] for n, total, positive in sums],
    }


def calibration_error(lines):
    """Mean difference of probabilities and shares in ten bins, over the rows of all folds."""
    sums = np.sum([np.array(one, float) for one in lines["bins"]], axis=0)
    return float(np.abs(sums[:, 1] - sums[:, 2]).sum() / sums[:, 0].sum())


def mean_loss(lines, measure):
    """The mean over rows of all folds and columns."""
    return float(np.average(lines[measure], weights=lines["tested"]))


def differences(ours, other):
    """By how much the log loss of another way is above ours, by column and fold.

    Returns
    -------
    pandas.DataFrame with columns difference, tested, ratio
    """
    keys, names = ["table", "column", "fold"], ["log_loss", "tested", "learned"]
    both = ours[[*keys, *names]].merge(
        other[[*keys, "log_loss"]].rename(columns={"log_loss": "other"}), on=keys
    )
    both = both.dropna(subset="other")
    both["difference"] = both["other"] - both["log_loss"]
    both["ratio"] = both["tested"] / both["learned"]
    return both[[*keys, "difference", "tested", "ratio"]]


def compared(ours, other):
    """Mean difference, its corrected standard error and p value.

    The differences of a fold are averaged over the columns, which have the same rows, so that folds
    are the values; they share the rows that are learned from (Nadeau & Bengio, 2003).
    """
    found = differences(ours, other)
    of_folds = (one for _, one in found.groupby("fold"))
    by_fold = np.array([np.average(one["difference"], weights=one["tested"]) for one in of_folds])
    if len(by_fold) < 2:
        return float(by_fold.mean()), np.nan, np.nan
    ratio = float(found["ratio"].mean())
    return (
        float(by_fold.mean()),
        resampled_error(by_fold, ratio),
        resampled_p(by_fold, ratio),
    )


def tables(lines):
    """Losses of each way by table and size, and differences from networks together."""
    lines = lines[lines["log_loss"].notna()]
    return {
        "chain": markdown(_rows_of(lines, "log_loss")),
        "chain_differences": markdown(_difference_rows(lines)),
        "chain_measures": markdown(_measure_rows(lines)),
    }


def _size(rows):
    return "all" if rows == ALL else str(rows)


def _rows_of(lines, name):
    for case, group in parts(lines, table=TABLES, rows=(*SIZES, QUICK_ROWS)):
        row = {"table": case["table"], "rows a task": _size(case["rows"])}
        row["folds"] = group["fold"].nunique()
        by_way = {way: one for (way,), one in group.groupby(["way"])}
        row |= {way: f"{mean_loss(by_way[way], name):.3f}" if way in by_way else "" for way in WAYS}
        yield row


def _difference_rows(lines):
    for case, group in parts(lines, table=TABLES, rows=(*SIZES, QUICK_ROWS)):
        by_way = {way: one for (way,), one in group.groupby(["way"])}
        if TOGETHER not in by_way:
            continue
        row = {"table": case["table"], "rows a task": _size(case["rows"])}
        for way in present(lines, "way", WAYS):
            if way != TOGETHER:
                row[way] = ""
                if way in by_way:
                    mean, error, p = compared(by_way[TOGETHER], by_way[way])
                    mark = "*" if p < 0.05 else ""
                    spread = "" if np.isnan(error) else f" ± {error:.3f}"
                    row[way] = f"{mean:+.3f}{spread}{mark}"
        yield row


def _measure_rows(lines):
    for way in present(lines, "way", WAYS):
        group = lines[(lines["way"] == way) & (lines["rows"] == ALL)]
        if not len(group):
            continue
        by_table = [one for _, one in group.groupby("table")]
        seconds = group["seconds"] + group["seconds_of_library"]
        yield {
            "way": way,
            "cases": len(group),
            "log loss": f"{np.mean([mean_loss(one, 'log_loss') for one in by_table]):.3f}",
            "squared error": f"{np.mean([mean_loss(one, 'squared') for one in by_table]):.3f}",
            "accuracy": f"{np.mean([mean_loss(one, 'accuracy') for one in by_table]):.3f}",
            "calibration error": f"{np.mean([calibration_error(one) for one in by_table]):.3f}",
            "seconds a fit": f"{np.median(seconds):.1f}",
        }


if __name__ == "__main__":
    study.main(__spec__.name)
