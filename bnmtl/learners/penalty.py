"""Choosing a penalty: the grid, and the best penalty by its scores."""

from collections.abc import Iterator

import numpy as np

from bnmtl.errors import InputError, InputTypeError

# Relative rounding error of fold scores.
RULES = ("best", "one-standard-error")

# 1 - delta = 1, 0.5, 1e-1 ... 1e-12, 0
DEFAULT_PENALTIES = (0.0, 0.5, *(1 - 10.0**-e for e in range(1, 13)), 1.0)
# Nats per row: rounding may cause this difference between penalties with the same networks.
EQUALLY_GOOD = 1e-9


def penalty_grid(penalties):
    """The penalties to try, the largest first.

    Parameters
    ----------
    penalties : sequence of float or None
        None is 1 - penalty = 1, 0.5, 1e-1, ... 1e-12, 0.

    Returns
    -------
    list of float

    Raises
    ------
    InputTypeError, InputError
        If it is not a sequence of numbers from 0 to 1, or empty.

    Examples
    --------
    >>> from bnmtl.learners.penalty import penalty_grid
    >>> penalty_grid([0, 0.9, 0.5])
    [0.9, 0.5, 0.0]
    """
    grid = DEFAULT_PENALTIES if penalties is None else penalties
    rule = "must be a sequence of numbers from 0 to 1 or None"
    try:
        values = None if isinstance(grid, str | Iterator) else [float(one) for one in grid]
    except (TypeError, ValueError):
        values = None
    if values is None:
        raise InputTypeError("penalties", rule, penalties)
    wrong = [penalty for penalty in values if not 0 <= penalty <= 1]
    if wrong:
        remedy = "0 shares nothing, 1 everything"
        raise InputError("penalties", rule, wrong[0], remedies=remedy)
    if not values:
        raise InputError("penalties", "must hold at least one penalty", penalties)
    return sorted(set(values), reverse=True)


def best_penalty(scores):
    """Index of the best score; ties go to the first, which has the largest penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmtl.learners.penalty import best_penalty
    >>> best_penalty(np.array([-2.0, -1.0, -1.0 + 1e-12]))
    1
    """
    return int(np.argmax(scores >= np.max(scores) - EQUALLY_GOOD))


def chosen_penalty(scores, rule="best"):
    """Index of the chosen penalty.

    Parameters
    ----------
    scores : float array of shape (p, n_folds)
        Larger is better; the largest penalty is first.
    rule : {"best", "one-standard-error"}, default="best"
        "best" chooses the largest mean, and the largest penalty among ties; "one-standard-error"
        chooses the largest penalty that is at most one standard error worse, using the differences
        between folds.

    Returns
    -------
    int

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), Classification and regression trees, section 3.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmtl.learners.penalty import chosen_penalty
    >>> scores = np.array([[-2.0, -2.0], [-1.1, -0.9], [-0.8, -1.0]])
    >>> chosen_penalty(scores), chosen_penalty(scores, "one-standard-error")
    (2, 1)
    """
    means = scores.mean(axis=1)
    best = best_penalty(means)
    if rule == "best":
        return best
    return int(np.argmax(means >= means[best] - paired_errors(scores, best)))


def paired_errors(scores, best):
    """Standard errors over folds of the differences from one penalty; nan with one fold.

    Parameters
    ----------
    scores : float array of shape (p, n_folds)
    best : int

    Returns
    -------
    float array of shape (p,)
        Infinite differences have an error of 0.
    """
    n_folds = scores.shape[1]
    if n_folds == 1:
        return np.full(len(scores), np.nan)
    with np.errstate(invalid="ignore"):
        differences = scores - scores[best]
    finite = np.where(np.isfinite(differences), differences, 0.0)
    return finite.std(axis=1, ddof=1) / np.sqrt(n_folds)


def penalty_name(penalty):
    """A penalty as text; one just below 1 as 1 minus a power of ten.

    Examples
    --------
    >>> [penalty_name(penalty) for penalty in (0.0, 0.5, 0.9999, 1 - 1e-12, 1.0)]
    ['0', '0.5', '0.9999', '1 - 1e-12', '1']
    """
    rest = 1 - penalty
    if 0 < rest < 5e-5:
        return f"1 - {rest:.0e}"
    return f"{penalty:.6g}"
