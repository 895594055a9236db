"""Measures of learning curves: labels saved, reductions of error, and a forecast of the error."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number, check_whole
from bnmtl.metrics.resampled import resampled_p
from bnmtl.seeding import generator, seed_of
from bnmtl.wording import listed, type_of

# The sign of a change for the better.
_SIGNS = {"error": -1, "squared_error": -1, "lift_chart_area": 1}
_KEYS = ["data", "strategy", "trial", "n_labels"]


def data_utilization(curves, reference, last=50):
    """Labels that strategies need for the target error, beside those of a reference.

    The target is the mean error of the reference over the points of its last labels. Of each
    strategy, points that some of its trials lack are left out, such as the last one where folds
    differ by a case.

    Parameters
    ----------
    curves : pandas.DataFrame
        As from `run_experiment`.
    reference : str
        A strategy.
    last : int, default=50
        Number of labels at the end of the reference's curve that define the target.

    Returns
    -------
    pandas.DataFrame
        By data set and strategy: target error, the smallest number of labels at which the mean
        error over trials is not larger, and this number divided by that of the reference; NaN where
        the target is never reached, or no point is common to all trials.

    Raises
    ------
    TypeError, ValueError
        For other objects, missing columns, and a reference that is not among the strategies.

    References
    ----------
    Melville (2005), section 6.3.1.

    Examples
    --------
    >>> curves = pd.DataFrame(
    ...     {
    ...         "data": "birds",
    ...         "strategy": ["ours"] * 3 + ["random"] * 3,
    ...         "trial": 0,
    ...         "n_labels": [5, 6, 7] * 2,
    ...         "error": [0.4, 0.2, 0.2, 0.4, 0.3, 0.2],
    ...     }
    ... )
    >>> data_utilization(curves, "random", last=1)["labels"].tolist()
    [6.0, 7.0]
    """
    check_curves(curves, [*_KEYS, "error"])
    _check_reference(curves, reference)
    check_whole("last", last, least=1)
    curves, keys = _at_common_points(curves, "error"), ["data", "strategy", "n_labels"]
    means = curves.groupby(keys, sort=False)["error"].mean().reset_index()
    rows = []
    for data, part in means.groupby("data", sort=False):
        base = part[part["strategy"] == reference].dropna(subset="error")
        is_last = base["n_labels"] > base["n_labels"].max() - last
        target = base.loc[is_last, "error"].mean()
        needed = {
            strategy: curve.loc[curve["error"] <= target + 1e-12, "n_labels"].min()
            for strategy, curve in part.groupby("strategy", sort=False)
        }
        rows += [
            (data, strategy, target, float(labels), labels / needed[reference])
            for strategy, labels in needed.items()
        ]
    columns = ["data", "strategy", "target_error", "labels", "ratio"]
    return pd.DataFrame(rows, columns=columns)


def improvement(curves, reference, measure="error", top=1.0):
    """Percent by which strategies are better than a reference, mean along the curve.

    Only points that all trials of the strategy and of the reference have are used. Where folds
    differ by a case, some lack the last point.

    Parameters
    ----------
    curves : pandas.DataFrame
        As from `run_experiment`.
    reference : str
        A strategy.
    measure : {"error", "squared_error", "lift_chart_area"}, default="error"
    top : float, default=1.0
        Share of the curve to use, where improvements are largest: 0.2 for the "top 20 % error
        reduction". Points are chosen by one half of the trials and judged by the other half, and
        the other way round: the same trials would find improvements among equal curves. A point
        counts by the number of labels since the one before, so that batches may have any size.

    Returns
    -------
    pandas.DataFrame
        By data set and strategy other than the reference:

        - "percent", the mean improvement along the part of the curve that both have. The difference
          in each trial is divided by the mean of the reference over the other trials, so that the
          mean is 0 for equal curves, which that of ratios is not. Points at which the reference
          makes no error in the other trials are left out;
        - "difference", the mean difference in natural units, positive where the strategy is better;
        - "p", that of a paired t-test over trials of their means along the curve. It takes folds
          for independent, although their training sets overlap, so it is below 0.05 for more than
          5 % of equal strategies (9 % of pairs of random queries with ten folds): use it to compare
          with publications only;
        - "p_corrected", of the t-test corrected for overlapping training sets.

        With ``top`` below 1, p values are the smaller of those of both halves, times 2 (Bonferroni)
        because the halves depend on each other. They are NaN if no half has two trials or all
        trials differ by the same amount; everything is NaN where there is no point, or one trial
        with ``top`` below 1.

    Raises
    ------
    TypeError, ValueError
        For other objects, missing columns, and a reference that is not among the strategies.

    References
    ----------
    Melville (2005), sections 6.3.1 and 7.3.1, who chooses the points by the trials that judge them;
    Nadeau & Bengio (2003), "Inference for the generalization error", Machine Learning 52, for the
    correction.

    Examples
    --------
    >>> curves = pd.DataFrame(
    ...     {
    ...         "data": "birds",
    ...         "strategy": ["ours"] * 4 + ["random"] * 4,
    ...         "trial": [0, 1, 2, 3] * 2,
    ...         "n_labels": 5,
    ...         "error": [0.3, 0.2, 0.3, 0.2, 0.4, 0.4, 0.4, 0.4],
    ...         "n_pool": 90,
    ...         "n_test": 10,
    ...     }
    ... )
    >>> improvement(curves, "random")[["percent", "p_corrected"]].round(4).values.tolist()
    [[37.5, 0.0228]]
    """
    check_choice("measure", measure, tuple(_SIGNS))
    check_curves(curves, [*_KEYS, measure, "n_pool", "n_test"])
    _check_reference(curves, reference)
    check_number("top", top, above=0, most=1)
    rows = []
    ratios = (curves["n_test"] / curves["n_pool"]).groupby(curves["data"], sort=False)
    ratios = {data: float(part.mean()) for data, part in ratios}
    means = _at_common_points(curves, measure).groupby(_KEYS, sort=False, observed=True)[measure]
    for data, part in means.mean().reset_index().groupby("data", sort=False):
        ratio = ratios[data]
        by = {
            strategy: _by_trial_and_point(lines, measure)
            for strategy, lines in part.groupby("strategy", sort=False)
        }
        base = by.pop(reference)
        for strategy, wide in by.items():
            rows.append((data, strategy, *_compared(wide, base, _SIGNS[measure], top, ratio)))
    columns = ["data", "strategy", "percent", "difference", "p", "p_corrected"]
    return pd.DataFrame(rows, columns=columns)


def _by_trial_and_point(lines, measure):
    """Table of the known values of a strategy, trials by numbers of labels."""
    values = lines[measure].to_numpy(dtype=float)
    known = ~np.isnan(values)
    (trials, rows), (points, columns) = (
        np.unique(lines[name].to_numpy()[known], return_inverse=True)
        for name in ("trial", "n_labels")
    )
    wide = np.full((len(trials), len(points)), np.nan)
    wide[rows, columns] = values[known]
    return pd.DataFrame(wide, trials, points)


def _compared(wide, base, sign, top, ratio):
    """Improvement in percent, difference, and both p values."""
    wide, base = wide.align(base, join="inner")
    n, n_points = base.shape
    if not n_points or n < (1 if top == 1 else 2):
        return (np.nan,) * 4
    # Labels since the point before; the first point counts as the second.
    steps = np.diff(base.columns)
    weights = np.append(steps[:1], steps) if len(steps) else np.ones(1)
    base, differences = base.to_numpy(), sign * (wide - base).to_numpy()
    if top == 1:
        judged = [(slice(None), np.arange(n_points))]
    else:
        halves = slice(0, None, 2), slice(1, None, 2)
        judged = [
            (trials, _best_points(differences[others], base[others], weights, top))
            for trials, others in (halves, halves[::-1])
        ]
    of_others = (base.sum(axis=0) - base) / (n - 1) if n > 1 else base
    found = [
        _by_trial(differences[trials][:, used], of_others[trials][:, used], weights[used])
        for trials, used in judged
    ]
    percents, in_units = map(np.concatenate, zip(*found, strict=True))
    if not len(percents):
        return (np.nan,) * 4
    tested = [part for _, part in found if len(part) > 1]
    p_values = [[resampled_p(part, overlap) for part in tested] for overlap in (0.0, ratio)]
    smallest = [min(1.0, len(tested) * np.fmin.reduce(p, initial=np.nan)) for p in p_values]
    return float(percents.mean()), float(in_units.mean()), *smallest


def _by_trial(differences, divisors, weights):
    """Means along the curve of trials with a point, in percent of other trials and in units."""
    shares = np.where(divisors > 0, weights, 0.0)
    kept = shares.any(axis=1)
    shares, differences, divisors = shares[kept], differences[kept], divisors[kept]
    shares /= shares.sum(axis=1, keepdims=True)
    relative = np.divide(differences, divisors, out=np.zeros_like(divisors), where=divisors > 0)
    return 100 * (relative * shares).sum(axis=1), (differences * shares).sum(axis=1)


def _best_points(differences, base, weights, top):
    """Positions of the points with the largest improvements, until their labels are the share."""
    means, base_means = differences.mean(axis=0), base.mean(axis=0)
    points = np.flatnonzero(base_means > 0)
    order = points[np.argsort(-means[points] / base_means[points], kind="stable")]
    before = np.cumsum(weights[order]) - weights[order] / 2  # to the nearest point
    return order[: max(1, int((before < top * weights.sum()).sum()))]


def _at_common_points(curves, measure):
    """The curves with NaN at points that some trials of the strategy lack.

    A mean over other trials at each point would follow the folds instead of the strategy.
    """
    trial = curves["trial"].where(curves[measure].notna())
    of_strategy, of_point = ["data", "strategy"], ["data", "strategy", "n_labels"]
    n_trials, n_here = (
        curves.assign(trial=trial).groupby(keys)["trial"].transform("nunique")
        for keys in (of_strategy, of_point)
    )
    return curves.assign(**{measure: curves[measure].where(n_here == n_trials)})


def check_curves(curves, columns):
    """Raise unless curves are a DataFrame with some columns.

    Parameters
    ----------
    curves : object
    columns : list of str
    """
    if not isinstance(curves, pd.DataFrame):
        message = f"must be a DataFrame of `run_experiment`, got {type_of(curves)}"
        raise InputTypeError(message, argument="curves")
    lacking = [name for name in columns if name not in curves]
    if lacking:
        found = f"it lacks the {listed(lacking, 'column')}"
        raise InputError(f"must be a DataFrame of `run_experiment`; {found}", argument="curves")


def _check_reference(curves, reference):
    names = curves["strategy"].unique().tolist()
    if reference not in names:
        message = f"must be one of the strategies, {listed(names)}, got {reference!r}"
        raise InputError(message, argument="reference")
    with_it = curves.loc[curves["strategy"] == reference, "data"]
    lacking = curves.loc[~curves["data"].isin(with_it), "data"]
    if len(lacking):
        data = lacking.iloc[0]
        message = f"must have a curve on each data set; `{reference}` has none on `{data}`"
        raise InputError(message, argument="reference")


_RESAMPLES = 1000


class Forecast(NamedTuple):
    """Errors now and with more labels, and the interval of the fall.

    Parameters
    ----------
    now, then : float
        Of the fitted curve, at the present number of labels and with more of them.
    fall, low, high : float
        Their difference and its interval.
    """

    now: float
    then: float
    fall: float
    low: float
    high: float


def forecast(curves, n_labels, n_more, confidence=0.9, random_state=0):
    """Continue a learning curve: error = a / (number of labels) ** b.

    The curve is fitted to the logarithms of the mean errors over trials. The interval is that of
    bootstraps of the trials; it does not know that the curve may have another form.

    Parameters
    ----------
    curves : pandas.DataFrame
        As from `run_experiment`, of one strategy on one data set, best with random cases.
    n_labels, n_more : int
        The present number of labels, and how many are added.
    confidence : float, default=0.9
    random_state : None, int or numpy.random.Generator, default=0

    Returns
    -------
    Forecast

    Raises
    ------
    TypeError, ValueError
        For fewer than two numbers of labels or two trials that have them, several strategies or
        data sets, and other objects.

    References
    ----------
    Ours; power laws of learning curves as in Figueroa et al. (2012), "Predicting sample size
    required for classification performance", BMC Medical Informatics and Decision Making 12.

    Examples
    --------
    >>> import pandas as pd
    >>> sizes = [10, 20, 40] * 2
    >>> curves = pd.DataFrame({"trial": [0, 0, 0, 1, 1, 1], "n_labels": sizes, "n_test": 50})
    >>> curves = curves.assign(error=[1 / n for n in sizes])
    >>> forecast(curves, 40, 40).then.round(4).item()
    0.0125
    """
    check_whole("n_labels", n_labels, least=1)
    check_whole("n_more", n_more, least=1)
    check_number("confidence", confidence, above=0, below=1)
    check_curves(curves, ["trial", "n_labels", "error", "n_test"])
    # The mean over several would be none of theirs.
    for column, noun in (("strategy", "strategies"), ("data", "data sets")):
        names = curves[column].unique().tolist() if column in curves else []
        if len(names) > 1:
            found = f"it has {len(names)} {noun}, {listed(names)}"
            message = f"must be of one strategy on one data set; {found}"
            raise InputError(message, argument="curves", remedy="select its rows")
    wide = curves.pivot_table(index="trial", columns="n_labels", values="error").dropna(axis=1)
    if min(wide.shape) < 2:
        message = f"must have two trials and two numbers of labels; it has {wide.shape}"
        raise InputError(message, argument="curves")
    # Half an error in all trials stands for none.
    least = 0.5 / (len(wide) * float(curves["n_test"].mean()))
    sizes = np.log(wide.columns.to_numpy(dtype=float))
    ends = np.log([n_labels, n_labels + n_more])
    rng = generator(seed_of(random_state), "forecast")
    draws = rng.integers(len(wide), size=(_RESAMPLES, len(wide)))
    errors = wide.to_numpy()
    falls = [-np.diff(_fitted(errors[rows], sizes, ends, least))[0] for rows in draws]
    now, then = _fitted(errors, sizes, ends, least)
    low, high = np.quantile(falls, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Forecast(now, then, now - then, float(low), float(high))


def _fitted(errors, sizes, ends, least):
    """Errors of the fitted curve at both ends."""
    means = np.maximum(errors.mean(axis=0), least)
    slope, intercept = np.polyfit(sizes, np.log(means), 1)
    return np.minimum(np.exp(intercept + slope * ends), 1.0)
