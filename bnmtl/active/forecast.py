"""How much an error would fall with more labels, by the learning curve so far."""

from typing import NamedTuple

import numpy as np

from bnmtl.active.measures import check_curves
from bnmtl.errors import InputError, check_number, check_whole
from bnmtl.seeding import generator, seed_of

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
    _check_single(curves)
    wide = curves.pivot_table(index="trial", columns="n_labels", values="error").dropna(axis=1)
    if min(wide.shape) < 2:
        rule, found = "must have two trials and two numbers of labels", "it has {shape!s}"
        raise InputError("curves", rule, found=found, shape=wide.shape)
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


def _check_single(curves):
    """Raise if curves name several strategies or data sets, whose mean is none of theirs."""
    for column, noun in (("strategy", "strategies"), ("data", "data sets")):
        names = curves[column].unique().tolist() if column in curves else []
        if len(names) > 1:
            rule, remedies = "must be of one strategy on one data set", "select its rows"
            found = f"it has {len(names)} {noun}, {{names}}"
            raise InputError("curves", rule, found=found, remedies=remedies, names=names)


def _fitted(errors, sizes, ends, least):
    """Errors of the fitted curve at both ends."""
    means = np.maximum(errors.mean(axis=0), least)
    slope, intercept = np.polyfit(sizes, np.log(means), 1)
    return np.minimum(np.exp(intercept + slope * ends), 1.0)
