"""A library of models made by a seeded generator, with the habits of a real one.

Families of models share errors, so models of one family are alike. Within a family quality varies,
as it does over a grid of settings. Some families are sure of themselves, some are cautious, and
those that count neighbors or leaves give few different probabilities, so that many cases are tied.
"""

from dataclasses import dataclass

import numpy as np

BASE_RATE = 0.3


@dataclass(frozen=True)
class Family:
    """One kind of models.

    Parameters
    ----------
    share : float
        Of the library.
    signal : float
        Log odds by which the best model tells the classes apart.
    slope : float
        1 for honest probabilities, above 1 for extreme ones.
    levels : int or None
        Number of steps of the probabilities.
    """

    share: float
    signal: float
    slope: float
    levels: int | None = None


FAMILIES = (
    Family(0.20, 1.0, 1.0),  # nets
    Family(0.15, 0.8, 0.6),  # machines with margins
    Family(0.20, 1.1, 0.7, 200),  # bagged trees
    Family(0.15, 1.1, 2.0),  # boosted trees
    Family(0.15, 0.6, 1.5, 20),  # single trees
    Family(0.10, 0.7, 1.0, 10),  # nearest neighbors
    Family(0.05, 0.5, 2.5),  # naive Bayes
)


def made_library(seed, n_models, n_cases):
    """Predictions and labels.

    Parameters
    ----------
    seed : int
    n_models : int
    n_cases : int

    Returns
    -------
    predictions : numpy.ndarray of float, shape (n_models, n_cases)
        Probabilities of class 1.
    y : numpy.ndarray of int, shape (n_cases,)
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(n_cases) < BASE_RATE).astype(int)
    # Cases that are hard for one family are hard for most.
    truth = (2 * y - 1) + 1.2 * rng.normal(size=n_cases)
    counts = rng.multinomial(n_models, [family.share for family in FAMILIES])
    members = [
        _of_family(family, count, truth, rng)
        for family, count in zip(FAMILIES, counts, strict=True)
    ]
    return rng.permutation(np.concatenate(members)), y


def _of_family(family, n_models, truth, rng):
    """Models that share an error and differ by their quality and an error of each."""
    shared = rng.normal(size=len(truth))
    quality = family.signal * rng.beta(3, 1, (n_models, 1))
    noise = rng.uniform(0.3, 1.2, (n_models, 1)) * rng.normal(size=(n_models, len(truth)))
    odds = quality * truth + 0.7 * shared + noise + np.log(BASE_RATE / (1 - BASE_RATE))
    p = 1 / (1 + np.exp(-family.slope * odds))
    return p if family.levels is None else np.round(p * family.levels) / family.levels
