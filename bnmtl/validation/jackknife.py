"""The jackknife: bias and standard error of a statistic from leaving cases out."""

import statistics
from typing import NamedTuple

import numpy as np

from bnmtl.errors import InputError, InputTypeError, check_whole
from bnmtl.metrics import prediction
from bnmtl.seeding import generator, seed_of
from bnmtl.validation.rounds import Rounds
from bnmtl.validation.scoring import NOT_SMOOTH, metric_of
from bnmtl.wording import type_of


class Jackknife(NamedTuple):
    """What the jackknife says of a statistic.

    Parameters
    ----------
    value : float
        Of all cases.
    bias : float
        (n - d) / d times the difference of the mean without cases and the value.
    corrected : float
        The value without its bias.
    standard_error : float
    """

    value: float
    bias: float
    corrected: float
    standard_error: float


def jackknife(data, statistic="accuracy", d=1, n_samples=1000, random_state=None):
    """Bias and standard error of a statistic, from leaving out each case or many sets of cases.

    Parameters
    ----------
    data : Rounds, array-like, or tuple of array-likes of the same length
        Of rounds, labels and the mean predictions of each case count, and cases of the same group
        are left out together.
    statistic : str or callable, default="accuracy"
        Of rounds a metric as in `compare`, of which no direction is needed. Otherwise a function of
        the arrays.
    d : int, default=1
        Number of cases, or groups, left out at a time. Statistics that jump if one case changes
        need more, about the square root of their number.
    n_samples : int, default=1000
        Number of sets that are left out, drawn at random, if ``d`` is above 1.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Returns
    -------
    Jackknife

    Raises
    ------
    TypeError, ValueError
        For another ``statistic``, ``d`` out of range, arrays of different lengths; and for a lift,
        a break-even point, an eleven-point precision, a calibration error or a median with ``d`` 1,
        for which the jackknife is wrong.

    References
    ----------
    Efron & Tibshirani (1993), "An introduction to the bootstrap", chapter 11; Shao & Wu (1989), "A
    general theory for jackknife variance estimation", Annals of Statistics 17, for sets of cases.

    Examples
    --------
    >>> import numpy as np
    >>> jackknife([1, 2, 3, 4, 5], np.var).corrected
    2.5
    """
    arrays, function, name, units = _read(data, statistic)
    n = len(units)
    check_whole("d", d, least=1, most=n - 1)
    check_whole("n_samples", n_samples, least=2)
    if d == 1 and name in NOT_SMOOTH:
        rule = "must be above 1 for {name}, which jumps where one case changes"
        details = {"remedies": "about {most}", "most": max(2, round(np.sqrt(n))), "name": name}
        raise InputError("d", rule, d, **details)
    value = _number(function, arrays)
    if d == 1:
        left_out = units
    else:
        rng = generator(seed_of(random_state), "jackknife")
        drawn = (rng.permutation(n)[:d] for _ in range(n_samples))
        left_out = [np.concatenate([units[one] for one in some]) for some in drawn]
    without = [
        _number(function, [np.delete(one, rows, axis=0) for one in arrays]) for rows in left_out
    ]
    bias = (n - d) / d * (np.mean(without) - value)
    error = np.sqrt((n - d) / d * np.var(without))
    return Jackknife(value, float(bias), float(value - bias), float(error))


def _read(data, statistic):
    """Arrays, the function of them and its name, and positions that are left out together."""
    if isinstance(data, Rounds):
        metric = metric_of(statistic, data.classes)
        p = data.mean_predictions()
        known = ~np.isnan(p[:, 0])
        cases = np.arange(known.sum())
        group = cases if data.group is None else data.group[known]
        units = [cases[group == one] for one in np.unique(group)]
        return (data.codes[known], p[known]), metric, metric.name, units
    if not callable(statistic):
        rule = "must be a function of the arrays"
        raise InputTypeError(
            "statistic", rule, type_of(statistic), remedies="or give {data} rounds"
        )
    arrays = tuple(map(np.asarray, data if isinstance(data, tuple) else (data,)))
    if any(one.ndim == 0 for one in arrays) or len({len(one) for one in arrays}) != 1:
        raise InputError("data", "must be arrays of the same length")
    if len(arrays[0]) < 2:
        raise InputError("data", "must hold two cases or more", len(arrays[0]))
    return arrays, statistic, _name_of(statistic), list(np.arange(len(arrays[0]))[:, None])


def _number(function, arrays):
    """The value of a statistic."""
    found = np.asarray(function(*arrays))
    if found.ndim or found.dtype.kind not in "bif":
        raise InputError("statistic", "must give a number", type_of(found) if found.ndim else found)
    return float(found)


def _name_of(function):
    """The name of a function that is known not to be smooth, or any other."""
    if function in (np.median, np.nanmedian, statistics.median):
        return "median"
    known = [name for name in NOT_SMOOTH if getattr(prediction, name, None) is function]
    return known[0] if known else getattr(function, "__name__", "statistic")
