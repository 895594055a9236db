"""Tables of several classifiers over rounds, and sentences about which of them is better."""

import itertools
import warnings

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputWarning
from bnmtl.metrics.resampled import interval_width, vary
from bnmtl.validation.bootstrap import bootstrap_error
from bnmtl.validation.comparing import compare
from bnmtl.validation.decomposition import bias_variance
from bnmtl.validation.rounds import Rounds, round_metric_of
from bnmtl.wording import all_of

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
    metric = round_metric_of(name, rounds.classes)
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
                rows += [named | row for row in _differences(ours, theirs, random_state)]
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


CLASS_SHARES = "class shares"
_SIGNIFICANCE = 0.05
# Metric -> words, factor, unit and digits.
_WORDS = {
    "accuracy": ("accuracy", 100, " %", 1),
    "squared_error": ("squared error of the probabilities", 1, "", 4),
}


def sentences(measures, differences, parts):
    """Sentences about the classifiers of a run.

    Parameters
    ----------
    measures, differences, parts : pandas.DataFrame
        By `measures_table`, `differences_table` and `bias_variance_table`; the model "class shares"
        is the one without features. Nothing is said about bias and variance without ``parts``.

    Returns
    -------
    list of str
    """
    models = [name for name in measures["model"].unique() if name != CLASS_SHARES]
    found = [_of_nothing(measures, differences, models)]
    if len(models) > 1:
        found += [_best(measures, differences, models, metric) for metric in _WORDS]
        found += _of_tasks(measures, differences, models)
    return list(filter(None, [*found, *_of_parts(parts, models)]))


def _means(measures, metric):
    """Means over all cases by model."""
    is_wanted = (measures["task"] == ALL) & (measures["metric"] == metric)
    return measures[is_wanted].set_index("model")["value"]


def _pair(differences, first, second, metric, task=ALL):
    """Gain of the first over the second, its interval and p value; None where not defined.

    If all rounds differ by the same amount the interval is NaN, and the p value that of exchanged
    predictions.
    """
    rows = differences[(differences["task"] == task) & (differences["metric"] == metric)]
    is_pair = rows["first"].isin([first, second]) & rows["second"].isin([first, second])
    if not is_pair.any():
        return None
    row = rows[is_pair].iloc[0]
    sign = 1 if (row["first"] == first) != row["is_smaller_better"] else -1
    ends = sorted((sign * row["low"], sign * row["high"]))
    p = row["p_randomization"] if np.isnan(row["p_corrected"]) else row["p_corrected"]
    return sign * row["difference"], *ends, p


def _of_nothing(measures, differences, models):
    """Which models are better than the class shares, which worse."""
    accuracy = _means(measures, "accuracy")[CLASS_SHARES]
    error = _means(measures, "squared_error")[CLASS_SHARES]
    where = "" if set(measures["task"]) == {ALL} else " in each task"
    says = (
        f"Knowing only how frequent the labels are{where} predicts {100 * accuracy:.1f} % right, "
        f"with a squared error of {_number(error, 4)}"
    )
    verdicts = {"better": [], "worse": [], "perhaps not better": []}
    for model in models:
        found = _pair(differences, model, CLASS_SHARES, "squared_error")
        is_sure = found is not None and found[3] < _SIGNIFICANCE
        kind = ("better" if found[0] > 0 else "worse") if is_sure else "perhaps not better"
        verdicts[kind].append(model)
    parts = [
        f"{all_of(names)} {'is' if len(names) == 1 else 'are'} {kind}"
        for kind, names in verdicts.items()
        if names
    ]
    return f"{says}; by squared error {all_of(parts)}."


def _best(measures, differences, models, metric):
    """The best model by a metric, beside the next best one."""
    words, factor, unit, digits = _WORDS[metric]
    means = _means(measures, metric)[models].sort_values(
        ascending=metric != "accuracy", kind="stable"
    )
    first, second = means.index[:2]
    shown = {name: f"{_number(factor * means[name], digits)}{unit}" for name in means.index}
    if shown[first] == shown[second]:
        equal = all_of([name for name in means.index if shown[name] == shown[first]])
        return f"By {words}, {equal} are equally good ({shown[first]})."
    found = _pair(differences, first, second, metric)
    values = f"{shown[first]} against {shown[second]}"
    among = "" if len(models) == 2 else f" of {len(models)} models"
    says = f"By {words}, {first} is best{among} ({values} of {second}"
    if found is None:
        return f"{says})."
    gain, low, high, p = found
    points, difference = " points" if unit else "", _number(factor * gain, digits)
    says += f"; difference {difference}{points}"
    if not np.isnan(low):
        low, high = (_number(factor * end, digits) for end in (low, high))
        says += f", 95 % interval {low} to {high}, {_p(p)})"
    else:
        says += f", {_p(p)} of the fitted models)"
    says += "; that is hardly chance." if p < _SIGNIFICANCE else ", but that may be chance."
    return f"{says}{_against_others(differences, first, means.index[2:], metric)}"


def _against_others(differences, best, others, metric):
    """Which models, from the third on, the best one surely beats; nothing if there are none."""
    found = {other: _pair(differences, best, other, metric) for other in others}
    p = {other: pair[3] for other, pair in found.items() if pair is not None}
    surely = [other for other in p if p[other] < _SIGNIFICANCE]
    perhaps = [other for other in p if other not in surely]
    parts = [f"Its lead over {all_of(surely)} is hardly chance"] if surely else []
    parts += [f"Its lead over {all_of(perhaps)} may be chance"] if perhaps else []
    return "".join(f" {part}." for part in parts)


def _number(value, digits):
    # Avoid minus zero.
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", chr(0x2212))


def _p(p):
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _of_tasks(measures, differences, models):
    """In how many tasks the first model is better than the next and than the best other one."""
    tasks = [name for name in differences["task"].unique() if name != ALL]
    if not tasks:
        return []
    first, *others = models
    best = _means(measures, "squared_error")[others].idxmin()
    says = []
    for other in dict.fromkeys([others[0], best]):
        found = [_pair(differences, first, other, "squared_error", task) for task in tasks]
        found = [(pair[0], pair[3]) for pair in found if pair is not None]
        if not found:
            continue
        better = sum(gain > 0 for gain, _ in found)
        surely = sum(gain > 0 and p < _SIGNIFICANCE for gain, p in found)
        worse = sum(gain < 0 and p < _SIGNIFICANCE for gain, p in found)
        says.append(
            f"By task, the probabilities of {first} are better than those of {other} in {better} "
            f"of {len(found)} ({surely} of them beyond chance), and worse beyond chance in {worse}."
        )
    return says


def _of_parts(parts, models):
    """How much of the squared error is bias and how much variance."""
    squared = parts[(parts["task"] == ALL) & (parts["loss"] == "squared")].set_index("model")
    shares = {
        name: 100 * squared.loc[name, "variance"] / squared.loc[name, "error"]
        for name in models
        if name in squared.index and squared.loc[name, "error"] > 0
    }
    if not shares:
        return []
    listed = ", ".join(f"{share:.0f} % for {name}" for name, share in shares.items())
    return [
        f"Of the squared error of the probabilities, variance is {listed}: the part that changes "
        "with the training rows, and that more rows lower. The rest is bias and noise; of these, "
        "more rows lower the bias of a network that has too few arcs."
    ]


def class_shares(rounds):
    """Rounds of a classifier that knows how frequent the classes are, and nothing else.

    Parameters
    ----------
    rounds : Rounds
        Whose training cases it has; the shares are those of the case's task, where there are tasks.

    Returns
    -------
    Rounds
        Each class counts one case more than there are, so that no probability is 0.
    """
    onehot = np.eye(len(rounds.classes))[rounds.codes]
    names = np.zeros(len(rounds.y)) if rounds.task is None else rounds.task
    predictions = np.full(rounds.predictions.shape, np.nan)
    full = np.empty(predictions.shape[1:])
    for name in np.unique(names):
        cases = np.flatnonzero(names == name)
        predictions[:, cases] = _shares(rounds.in_bag[:, cases] @ onehot[cases])[:, None]
        full[cases] = _shares(onehot[cases].sum(axis=0))
    predictions[~rounds.is_predicted] = np.nan
    fitted = rounds.in_bag, full, rounds.task, rounds.n_train, rounds.group
    return Rounds(predictions, rounds.y, rounds.classes, *fitted)


def _shares(counts):
    return (counts + 1) / (counts + 1).sum(axis=-1, keepdims=True)
