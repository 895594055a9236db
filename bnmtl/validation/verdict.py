"""Which of several classifiers is better, how sure that is, and what limits them, as sentences."""

import numpy as np

from bnmtl.validation.tables import ALL
from bnmtl.wording import all_of

NOTHING = "class shares"
_LEVEL = 0.05
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
    models = [name for name in measures["model"].unique() if name != NOTHING]
    found = [_of_nothing(measures, differences, models)]
    if len(models) > 1:
        found += [_best(measures, differences, models, metric) for metric in _WORDS]
        found += _of_tasks(measures, differences, models)
    return [one for one in [*found, *_of_parts(parts, models)] if one]


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
    for one, other, sign in ((first, second, 1), (second, first, -1)):
        found = rows[(rows["first"] == one) & (rows["second"] == other)]
        if len(found):
            row = found.iloc[0]
            sign *= -1 if row["is_smaller_better"] else 1
            ends = sorted((sign * row["low"], sign * row["high"]))
            p = row["p_randomization"] if np.isnan(row["p_corrected"]) else row["p_corrected"]
            return sign * row["difference"], *ends, p
    return None


def _of_nothing(measures, differences, models):
    """Which models are better than the class shares, which worse."""
    accuracy, error = (_means(measures, one)[NOTHING] for one in ("accuracy", "squared_error"))
    where = "" if set(measures["task"]) == {ALL} else " in each task"
    says = (
        f"Knowing only how frequent the labels are{where} predicts {100 * accuracy:.1f} % right, "
        f"with a squared error of {_number(error, 4)}"
    )
    verdicts = {"better": [], "worse": [], "perhaps not better": []}
    for model in models:
        found = _pair(differences, model, NOTHING, "squared_error")
        is_sure = found is not None and found[3] < _LEVEL
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
        low, high = (_number(factor * one, digits) for one in (low, high))
        says += f", 95 % interval {low} to {high}, {_p(p)})"
    else:
        says += f", {_p(p)} of the fitted models)"
    says += "; that is hardly chance." if p < _LEVEL else ", but that may be chance."
    return f"{says}{_against_others(differences, first, means.index[2:], metric)}"


def _against_others(differences, best, others, metric):
    """Which models, from the third on, the best one surely beats; nothing if there are none."""
    found = {other: _pair(differences, best, other, metric) for other in others}
    p = {other: pair[3] for other, pair in found.items() if pair is not None}
    surely = [other for other, one in p.items() if one < _LEVEL]
    perhaps = [other for other, one in p.items() if not one < _LEVEL]
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
        found = [one for one in found if one is not None]
        if not found:
            continue
        better = sum(one[0] > 0 for one in found)
        surely = sum(one[0] > 0 and one[3] < _LEVEL for one in found)
        worse = sum(one[0] < 0 and one[3] < _LEVEL for one in found)
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
