"""Reliability tables: predicted probabilities and observed frequencies by bin."""

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from bnmtl.errors import check_whole
from bnmtl.metrics.cases import checked_cases


def reliability(y, p, bins=10):
    """Compare predicted probabilities with observed frequencies of the positive class by bin.

    Parameters
    ----------
    y : array-like of 0 and 1, shape (n,)
    p : array-like of probabilities, shape (n,)
    bins : int, default=10
        Number of bins of equal width from 0 to 1, closed on the right; 0 is in the first bin.

    Returns
    -------
    pandas.DataFrame
        One row per non-empty bin: left and right (its edges), mean_prediction,
        fraction_positive, count, low and high (95 % Wilson interval of the fraction).

    Raises
    ------
    TypeError, ValueError
        For labels other than 0 and 1, probabilities out of range, different lengths, and a number
        of bins below 1.

    References
    ----------
    DeGroot & Fienberg (1983), "The comparison and evaluation of forecasters"; Niculescu-Mizil
    (2008), section 3.3.

    Examples
    --------
    >>> table = reliability([0, 1, 1, 1], [0.1, 0.15, 0.9, 1.0])
    >>> table[["left", "right", "fraction_positive", "count"]]
       left  right  fraction_positive  count
    0   0.0    0.1                0.0      1
    1   0.1    0.2                1.0      1
    2   0.8    0.9                1.0      1
    3   0.9    1.0                1.0      1
    """
    check_whole("bins", bins, 1)
    y, p, _ = checked_cases(y, p, None)
    edges = np.arange(bins + 1) / bins
    place = np.maximum(np.searchsorted(edges, p) - 1, 0)
    rows = []
    for at in np.unique(place):
        is_inside = place == at
        n_positive, count = int(y[is_inside].sum()), int(is_inside.sum())
        interval = binomtest(n_positive, count).proportion_ci(method="wilson")
        rows.append(
            {
                "left": edges[at],
                "right": edges[at + 1],
                "mean_prediction": p[is_inside].mean(),
                "fraction_positive": n_positive / count,
                "count": count,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return pd.DataFrame(rows)
