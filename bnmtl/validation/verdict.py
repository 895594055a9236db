"""Which of several classifiers is better, how sure that is, and what limits them, as sentences."""

from bnmtl.validation.tables import ALL
from bnmtl.wording import all_of

NOTHING = "class shares"
_LEVEL = 0.05
# Metric -> words, factor and unit.
_WORDS = {
    "accuracy": ("accuracy", 100, " %"),
    "squared_error": ("squared error of the probabilities", 1, ""),
}


def sentences(measures, differences, parts, shares_rows=False):
    """Sentences about the classifiers of a run.

    Parameters
    ----------
    measures, differences, parts : pandas.DataFrame
        By `measures_table`, `differences_table` and `bias_variance_table`; the model "class shares"
        is the one without features.
    shares_rows : bool, default=False
        Whether training sets have most rows in common, so that their variance is a lower bound.

    Returns
    -------
    list of str
    """
    models = [name for name in measures["model"].unique() if name != NOTHING]
    found = [_of_nothing(measures, differences, models)]
    if len(models) > 1:
        found += [_best(measures, differences, models, metric) for metric in _WORDS]
        found += _of_tasks(measures, differences, models)
    return [one for one in [*found, *_of_parts(parts, models, shares_rows)] if one]


def _means(measures, metric):
    """Means over all cases by model."""
    is_wanted = (measures["task"] == ALL) & (measures["metric"] == metric)
    return measures[is_wanted].set_index("model")["value"]


def _pair(differences, first, second, metric, task=ALL):
    """Gain of the first over the second, its interval and p value; None where not defined."""
    wanted = (differences["task"] == task) & (differences["metric"] == metric)
    for _, row in differences[wanted].iterrows():
        if {row["first"], row["second"]} == {first, second}:
            sign = 1 if row["first"] == first else -1
            sign *= -1 if row["is_smaller_better"] else 1
            ends = sorted((sign * row["low"], sign * row["high"]))
            return sign * row["difference"], *ends, row["p_corrected"]
    return None


def _of_nothing(measures, differences, models):
    """Which models predict better than the class shares."""
    shares = _means(measures, "accuracy")[NOTHING]
    says = f"The class shares alone, without any feature, predict {100 * shares:.1f} % right"
    better = []
    for model in models:
        found = _pair(differences, model, NOTHING, "squared_error")
        if found is not None and found[0] > 0 and found[3] < _LEVEL:
            better.append(model)
    if len(better) == len(models):
        who = "the model predicts" if len(models) == 1 else "all models predict"
        return f"{says}; {who} better."
    others = [name for name in models if name not in better]
    verb = "has" if len(others) == 1 else "have"
    return f"{says}; {all_of(others)} {verb} no probabilities that are surely better."


def _best(measures, differences, models, metric):
    """The best model by a metric, beside the next best one."""
    words, factor, unit = _WORDS[metric]
    means = _means(measures, metric)[models].sort_values(
        ascending=metric != "accuracy", kind="stable"
    )
    first, second = means.index[:2]
    found = _pair(differences, first, second, metric)
    values = f"{_number(factor * means[first])}{unit} against {_number(factor * means[second])}"
    says = f"By {words}, {first} is best ({values}{unit} of {second}"
    if found is None:
        return f"{says})."
    gain, low, high, p = found
    digits = 1 if unit else 4
    low, gain, high = (_number(factor * one, digits) for one in (low, gain, high))
    points = " points" if unit else ""
    says += f"; difference {gain}{points}, 95 % interval {low} to {high}, {_p(p)})"
    if p < _LEVEL:
        return f"{says}; that is hardly chance."
    return f"{says}, but that may be chance."


def _number(value, digits=None):
    digits = (1 if abs(value) >= 2 else 4) if digits is None else digits
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


def _of_parts(parts, models, shares_rows):
    """How much of the squared error is bias and how much variance."""
    shown = parts[(parts["task"] == ALL) & (parts["loss"] == "squared")].set_index("model")
    shares = {
        name: 100 * shown.loc[name, "variance"] / shown.loc[name, "error"]
        for name in models
        if name in shown.index and shown.loc[name, "error"] > 0
    }
    if not shares:
        return []
    shown = ", ".join(f"{share:.0f} % for {name}" for name, share in shares.items())
    least = "at least " if shares_rows else ""
    return [
        f"Of the squared error of the probabilities, variance is {least}{shown}: the part that "
        "more rows would lower. The rest is bias and noise, for which it needs other features or "
        "another model."
    ]
