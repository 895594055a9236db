"""Which cases of a pool are chosen, given the utility of each."""

import numpy as np


def pick_best(utilities, batch_size, rng):
    """Positions of the largest utilities; ties are drawn.

    Parameters
    ----------
    utilities : numpy.ndarray of float, shape (n_candidates,)
    batch_size : int
        At most ``n_candidates``.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (batch_size,)
    """
    order = rng.permutation(len(utilities))
    return order[np.argsort(-utilities[order], kind="stable")[:batch_size]]


def draw_in_proportion(utilities, batch_size, rng):
    """Positions drawn one after another without replacement, in proportion to the utilities.

    Parameters
    ----------
    utilities : numpy.ndarray of float, shape (n_candidates,)
        0 or more; where only zeros are left, each is equally likely.
    batch_size : int
        At most ``n_candidates``.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (batch_size,)
    """
    left, picked = utilities.astype(float), []
    is_left = np.ones(len(left), dtype=bool)
    for _ in range(batch_size):
        shares = left if left.any() else is_left.astype(float)
        picked.append(int(rng.choice(len(left), p=shares / shares.sum())))
        left[picked[-1]], is_left[picked[-1]] = 0.0, False
    return np.array(picked, dtype=int)


def pick(utilities, batch_size, rng, draws):
    """Positions drawn in proportion to the utilities, or those of the largest.

    Parameters
    ----------
    utilities, batch_size, rng
        As in `draw_in_proportion` and `pick_best`.
    draws : bool

    Returns
    -------
    numpy.ndarray of int, shape (batch_size,)
    """
    choose = draw_in_proportion if draws else pick_best
    return choose(utilities, batch_size, rng)


def by_pick(utilities, candidates, picked, n_rows):
    """Utilities before each pick, as scikit-activeml returns them.

    Parameters
    ----------
    utilities : numpy.ndarray of float, shape (n_candidates,)
    candidates : numpy.ndarray of int, shape (n_candidates,)
        Rows of the candidates.
    picked : numpy.ndarray of int, shape (batch_size,)
        Positions in ``candidates``.
    n_rows : int

    Returns
    -------
    numpy.ndarray of float, shape (batch_size, n_rows)
        NaN for rows that are not candidates, and for rows picked before.
    """
    found = np.full((len(picked), n_rows), np.nan)
    found[:, candidates] = utilities
    for step, position in enumerate(picked[:-1], 1):
        found[step:, candidates[position]] = np.nan
    return found
