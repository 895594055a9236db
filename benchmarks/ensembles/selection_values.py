"""The lines of the study of ensembles as one table of values and normalized scores."""

import numpy as np
import pandas as pd

from benchmarks.ensembles.analyses import LOSSES, METRICS, SHARES
from benchmarks.study import with_plain_strings
from benchmarks.summary import means_table
from bnmtl.metrics.prediction import baseline

MEAN = "mean"
KINDS = ("raw", "calibrated", "both")
SHORT = dict(zip(METRICS, ("ACC", "F", "LFT", "ROC", "APR", "BEP", "RMS", "MXE"), strict=True)) | {
    MEAN: "mean"
}
_KEYS = ["problem", "trial", "method", "at", "metric"]


def long(lines):
    """One row per problem, trial, method, variant ("at") and metric, with value and score.

    Scores are 0 for the base rate and 1 for the best value of all methods and trials of a problem.
    Methods are selected, averaged and single at a kind of library; others at "both"; bags, no bags
    and single cases at a size or share, after "size" or "share"; those of a small library beside a
    large one after "small"; and the methods with embedded cross-validation after "cv".
    """
    rows = [row for line in lines.to_dict("records") for row in _rows(line)]
    table = with_plain_strings(pd.DataFrame(rows, columns=[*_KEYS, "value"]))
    rates = base_rates(lines)
    table["score"] = np.nan
    for (problem, metric), group in table.groupby(["problem", "metric"]):
        achieved = group.loc[group["method"] != "optimum", "value"]
        best = achieved.min() if metric in LOSSES else achieved.max()
        if problem in rates and _is_better(metric, best, baseline(metric, rates[problem])):
            # As `normalized_score`, of all values at once.
            base = baseline(metric, rates[problem])
            table.loc[group.index, "score"] = (group["value"] - base) / (best - base)
    return table


def _is_better(metric, value, other):
    return value < other if metric in LOSSES else value > other


def _rows(line):
    """Rows of one line."""
    start = line["problem"], line["trial"]
    for method, at, values in _parts(line):
        for metric, value in values.items():
            yield *start, method, at, metric, value


def _parts(line):
    """Method, variant and values by metric."""
    if line["analysis"] == "methods":
        yield from _of_methods(line)
    elif line["analysis"] == "sizes":
        for size in [key for key in line if str(key).isdigit() and isinstance(line[key], dict)]:
            for method, values in line[size].items():
                yield f"size: {method}", int(size), values
    elif line["analysis"] == "pruning":
        for method in ("bags", "no bags"):
            for at, share in enumerate(SHARES):
                values = {metric: every[at] for metric, every in line[method].items()}
                yield f"share: {method}", share, values
    elif line["analysis"] == "small":
        for method in ("selected", "averaged", "single"):
            yield f"small: {method}", "both", line[method]
    elif line["analysis"] == "folds":
        yield from _of_selected("cv selected", "both", line["selected"])
        for method in ("averaged", "single"):
            yield f"cv {method}", "both", line[method]
        for method in ("more cases", "siblings"):
            means = pd.DataFrame(line[method]).mean()
            yield f"cv {method}", "both", means.to_dict()


def _of_methods(line):
    for kind in KINDS:
        yield from _of_selected("selected", kind, line[kind]["selected"])
        yield "averaged", kind, line[kind]["averaged"]
        yield "single", kind, line[kind]["single"]
    for name, values in line["others"].items():
        yield name, "both", values
    yield "optimum", "both", line["optimum"]


def _of_selected(name, at, selected):
    """Ensembles selected for the metric that is reported, and for any one metric."""
    yield name, at, {metric: selected[metric][metric] for metric in METRICS}
    for metric, values in selected.items():
        yield f"{name} for {metric}", at, values


def means(table, method, at="both", of="score"):
    """Mean scores, or values, of a method: problems by metrics, and the mean of the metrics."""
    of_method = table[table["method"] == method]
    chosen = of_method[of_method["at"] == at]
    wide = means_table(chosen, "problem", "metric", of).reindex(columns=list(METRICS))
    return wide.assign(**{MEAN: wide.mean(axis=1)})


def base_rates(lines):
    """The mean share of positive test cases of each problem."""
    return lines[lines["analysis"] == "methods"].groupby("problem")["base_rate"].mean()


def having(table, method):
    """The problems and trials that have a method."""
    keys = ["problem", "trial"]
    return table.merge(table.loc[table["method"] == method, keys].drop_duplicates(), on=keys)


def largest(table, method):
    """The part of the first trial, whose libraries are large, if all problems have a method there.

    Otherwise all of the table.
    """
    has_it = table[table["method"] == method]
    first = set(has_it.loc[has_it["trial"] == 0, "problem"])
    return table[table["trial"] == 0] if first == set(has_it["problem"]) else table


def first_mimics(lines):
    """The line about mimics of the first trial of each problem, which has the most cases."""
    chosen = lines[lines["analysis"] == "mimic"].sort_values(["problem", "trial"])
    return chosen.drop_duplicates("problem")
