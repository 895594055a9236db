"""What the choice of a penalty by held-out rows needs: the grid, the rows, the winner."""

import math

import numpy as np

from bnmtl.seeding import generator

__all__ = ["DEFAULT_PENALTIES", "best_penalty", "held_out_rows", "parted", "penalty_grid"]

# 1 - delta = 1, 0.5, 1e-1 ... 1e-12, 0
DEFAULT_PENALTIES = (0.0, 0.5, *(1 - 10.0**-e for e in range(1, 13)), 1.0)
# Nats per row: what rounding may leave between two penalties that lead to the same networks.
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
    TypeError, ValueError
        If it is no sequence of numbers from 0 to 1, or empty.

    Examples
    --------
    >>> from bnmtl.penalty import penalty_grid
    >>> penalty_grid([0, 0.9, 0.5])
    [0.9, 0.5, 0.0]
    """
    grid = DEFAULT_PENALTIES if penalties is None else penalties
    try:
        values = [float(penalty) for penalty in grid]
    except (TypeError, ValueError):
        raise TypeError(
            f"`penalties` must be a sequence of numbers from 0 to 1 or None, got {penalties!r}."
        ) from None
    if not values:
        raise ValueError("`penalties` must hold at least one penalty, got an empty grid.")
    return sorted(set(values), reverse=True)


def held_out_rows(tasks, validation, cv, seed):
    """Which rows of every task are held out.

    The rows are sorted by their codes and then permuted with a seed of the task's own, so that the
    order in which they were given does not matter.

    Parameters
    ----------
    tasks : Tasks
    validation : float or None
        Share of rows to hold out once, at least one row.
    cv : int or None
        Number of folds, if ``validation`` is None.
    seed : int

    Returns
    -------
    list of dict task -> int array
        One entry a fold.

    Raises
    ------
    ValueError
        If a task has too few rows.

    References
    ----------
    Niculescu-Mizil (2008), section 2.3.4.
    """
    folds = [{} for _ in range(cv or 1)]
    for name, task in tasks.items():
        order = generator(seed, name, "held out").permutation(task.n_rows)
        rows = np.lexsort(task.codes[::-1])[order]
        if cv is None:
            n_held_out = max(1, math.ceil(validation * task.n_rows))
            if n_held_out >= task.n_rows:
                raise ValueError(
                    f"Task `{name}`: `validation`={validation} of {task.n_rows} rows leaves none "
                    "to learn from; hold out less."
                )
            folds[0][name] = rows[:n_held_out]
            continue
        if task.n_rows < cv:
            raise ValueError(
                f"Task `{name}`: {task.n_rows} rows cannot be parted into `cv`={cv} folds; ask for "
                "fewer."
            )
        for fold, part in zip(folds, np.array_split(rows, cv), strict=True):
            fold[name] = part
    return folds


def parted(tasks, held_out):
    """The training and the held-out rows of every task, as two Tasks."""
    kept = {
        name: np.setdiff1d(np.arange(task.n_rows), held_out[name]) for name, task in tasks.items()
    }
    return tasks.take(kept), tasks.take(held_out)


def best_penalty(scores):
    """Index of the best score; of equally good ones the first, which has the largest penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmtl.penalty import best_penalty
    >>> best_penalty(np.array([-2.0, -1.0, -1.0 + 1e-12]))
    1
    """
    return int(np.argmax(scores >= np.max(scores) - EQUALLY_GOOD))
