"""Tables of several classifiers over rounds: measures, differences, bias and variance, by task."""

import itertools
import warnings

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputWarning
from bnmtl.metrics.resampled import interval_width, vary
from bnmtl.validation.bootstrap import bootstrap_error
from bnmtl.validation.comparing import compare
from bnmtl.validation.decomposition import bias_variance
from bnmtl.validation.scoring import metric_of

ALL = "all"
_LEVEL = 0.95
_OF_ANY = ("accuracy", "squared_error", "cross_entropy", "lift_chart_area")
_UP_TO_1 = {"accuracy", "roc_area"}
_COMPARED = ("accuracy", "squared_error", "cross_entropy", "roc_area")


def metrics_of(rounds):
    """Names of the metrics for the number of classes."""
    return (*_OF_ANY, "roc_area") if len(rounds.classes) == 2 else _OF_ANY


def measures_table(made, random_state=0):
    """Measures of each classifier.

    Parameters
    ----------
    made : mapping of str to Rounds
    random_state : int, default=0
        Of the bootstrap's intervals.

    Returns
    -------
    pandas.DataFrame
        Columns model, task (or "all"), metric, value, low and high: the mean over rounds (over all
        predictions, if the metric is a mean over cases) and its interval of 95 %, corrected for
        training sets that overlap and cut where the metric has its bounds. Of bootstraps also the
        errors by the bootstrap, with the BCa interval over cases or groups of the out-of-bag error.
        NaN where a metric is not defined, and for the interval if all rounds have the same value.
    """
    rows = []
    with _quiet():
        for model, rounds in made.items():
            for task, part in _parts(rounds):
                rows += [(model, task, name, *_value(part, name)) for name in metrics_of(rounds)]
                rows += [(model, task, *row) for row in _bootstrap_errors(part, random_state)]
    return pd.DataFrame(rows, columns=["model", "task", "metric", "value", "low", "high"])


def _quiet():
    """A context without warnings, of which each round and task would have some of the same kind."""
    return warnings.catch_warnings(action="ignore", category=InputWarning)


def _parts(rounds):
    """All rounds, and those of each task, by name."""
    parts = [(ALL, rounds)]
    if rounds.task is not None:
        parts += [(name, rounds.of_task(name)) for name in np.unique(rounds.task).tolist()]
    return parts


def _value(rounds, name):
    """The mean of a metric over rounds and its interval."""
    metric = metric_of(name, rounds.classes)
    try:
        values = np.array(rounds.score(metric))
    except ValueError:
        return np.nan, np.nan, np.nan
    is_defined = ~np.isnan(values)
    values = values[is_defined]
    if not len(values):
        return np.nan, np.nan, np.nan
    weights = rounds.n_predicted[is_defined] if metric.of_cases else None
    mean = float(np.average(values, weights=weights))
    if not vary(values):
        return mean, np.nan, np.nan
    width = interval_width(values, rounds.test_ratio(), _LEVEL, weights)
    least, most = 0.0, 1.0 if name in _UP_TO_1 else np.inf
    return mean, max(mean - width, least), min(mean + width, most)


def _bootstrap_errors(rounds, random_state):
    """Errors by the bootstrap; none of other rounds."""
    try:
        found = bootstrap_error(rounds, confidence=_LEVEL, random_state=random_state)
    except InputError:
        return []
    return [
        ("out_of_bag_error", found.out_of_bag, *found.bca),
        ("error_632", found.error_632, np.nan, np.nan),
        ("error_632_plus", found.error_632_plus, np.nan, np.nan),
    ]


def differences_table(made, random_state=0, report=None):
    """How each pair of classifiers differs.

    Parameters
    ----------
    made : mapping of str to Rounds
        Of the same cases, scheme and seed.
    random_state : int, default=0
        Of the randomization tests.
    report : callable (done, total), optional
        Called after each pair.

    Returns
    -------
    pandas.DataFrame
        Columns first and second (models), task, metric and those of `Comparison`, where
        ``p_mcnemar``, for the accuracy only, and ``p_randomization`` are about the fitted models;
        intervals are cut where differences end. Without rows of metrics that are defined on fewer
        than two rounds.
    """
    pairs, rows = list(itertools.combinations(made, 2)), []
    for number, (first, second) in enumerate(pairs):
        parts = zip(_parts(made[first]), _parts(made[second]), strict=True)
        with _quiet():
            for (task, ours), (_, theirs) in parts:
                named = {"first": first, "second": second, "task": task}
                rows += [named | one for one in _differences(ours, theirs, random_state)]
        if report is not None:
            report(number + 1, len(pairs))
    columns = ["first", "second", "task", "metric", "first_value", "second_value", "difference"]
    columns += ["low", "high", "p_corrected", "p_mcnemar", "p_randomization", "is_smaller_better"]
    return pd.DataFrame(rows, columns=columns)


def _differences(ours, theirs, random_state):
    """One row for each metric that is defined."""
    rows = []
    for name in metrics_of(ours):
        if name not in _COMPARED:
            continue
        try:
            found = compare(ours, theirs, name, _LEVEL, random_state=random_state)._asdict()
        except InputError:
            continue
        if name != "accuracy":
            found["p_mcnemar"] = np.nan  # it is about errors
        if name in _UP_TO_1:
            found["low"], found["high"] = np.clip((found["low"], found["high"]), -1, 1).tolist()
        values = {"first_value": found.pop("first"), "second_value": found.pop("second")}
        rows.append({"metric": name} | values | found)
    return rows


def bias_variance_table(made):
    """Bias and variance of each classifier.

    Parameters
    ----------
    made : mapping of str to Rounds

    Returns
    -------
    pandas.DataFrame
        Columns model, loss, task and those of `bias_variance`; without rows if no case was
        predicted twice.
    """
    tables = []
    for model, rounds in made.items():
        if rounds.is_predicted.sum(axis=0).max() < 2:
            continue
        with _quiet():
            found = bias_variance(rounds)
        if rounds.task is None:
            found = found.assign(task=ALL).set_index("task", append=True)
        tables.append(found.reset_index(names=["loss", "task"]).assign(model=model))
    if not tables:
        return pd.DataFrame(columns=["model", "loss", "task"])
    table = pd.concat(tables, ignore_index=True)
    names = ["model", "loss", "task"]
    return table[[*names, *(name for name in table if name not in names)]]
