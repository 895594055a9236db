"""Strength and correlation of the trees of a forest, a bound of its error, independent voters."""

from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_array

from bnmtl.errors import InputError, InputTypeError, check_number, check_whole
from bnmtl.trees.bagged import TreeEnsemble
from bnmtl.validation.rounds import labels_per_row
from bnmtl.wording import type_of


class ForestBound(NamedTuple):
    """Strength, correlation and bound of a forest, by its out-of-bag votes.

    Parameters
    ----------
    strength : float
        Mean margin: share of the votes for the true class minus that for the strongest other one.
    correlation : float
        Mean correlation of the trees' margins.
    bound : float
        Upper bound of the error; NaN if the strength is not above 0.
    error : float
        Share of the cases that the out-of-bag votes get wrong.
    verdict : {"undefined", "vacuous", "bound"}
        "undefined" if the strength is not above 0, "vacuous" if the bound is 1 or more.
    n_cases : int
        Number of cases that some tree has not seen.
    """

    strength: float
    correlation: float
    bound: float
    error: float
    verdict: str
    n_cases: int


def forest_bound(forest, X, y):
    """Breiman's bound of a forest's error, from its training cases.

    Parameters
    ----------
    forest : fitted ensemble of trees on bootstraps
        `sklearn.ensemble.RandomForestClassifier` or `BaggingClassifier`, or an ensemble of
        `bnmtl.trees`.
    X, y : the training cases, in the same order
        Without those that had the weight 0.

    Returns
    -------
    ForestBound

    Raises
    ------
    TypeError, ValueError
        For other ensembles, other cases, and if all trees have seen all cases.

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45, section 2 and appendix II.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = forest_bound(RandomForestClassifier(random_state=0).fit(X, y), X, y)
    >>> found.verdict, bool(found.error < found.bound < 0.2)
    ('bound', True)
    """
    if np.ndim(X) != 2:
        raise InputTypeError(
            f"must be a table with a row for each case, got {type_of(X)}", argument="X"
        )
    X = X.toarray() if issparse(X) else check_array(X, dtype=None, ensure_all_finite=False)
    y = labels_per_row("y", y, len(X))
    unseen = _unseen(forest, len(y))
    classes = forest.classes_
    codes = np.searchsorted(classes, y)
    if not np.isin(y, classes).all():
        raise InputError("must hold the classes of the fit", argument="y")
    votes = np.stack([_votes(forest, number, X) for number in range(len(forest.estimators_))])
    n_trees = unseen.sum(axis=0)
    kept = n_trees > 0
    if not kept.any():
        raise InputError("must have trees that have not seen some case", argument="forest")
    votes, unseen, codes, n_trees = votes[:, kept], unseen[:, kept], codes[kept], n_trees[kept]
    counts = [((votes == k) & unseen).sum(axis=0) for k in range(len(classes))]
    shares = np.stack(counts, axis=1) / n_trees[:, None]
    rows = np.arange(len(codes))
    others = shares.copy()
    others[rows, codes] = -1
    rival = others.argmax(axis=1)
    margins = shares[rows, codes] - shares[rows, rival]
    strength = float(margins.mean())
    n_cases = unseen.sum(axis=1)
    has_unseen = n_cases > 0
    p1, p2 = (
        ((votes == wanted) & unseen).sum(axis=1)[has_unseen] / n_cases[has_unseen]
        for wanted in (codes, rival)
    )
    deviations = np.sqrt(p1 + p2 - (p1 - p2) ** 2)
    scale = float(deviations.mean() ** 2)
    correlation = float(margins.var() / scale) if scale > 0 else 0.0
    bound = correlation * (1 - strength**2) / strength**2 if strength > 0 else np.nan
    verdict = "undefined" if strength <= 0 else "vacuous" if bound >= 1 else "bound"
    error = float(np.mean(shares.argmax(axis=1) != codes))
    return ForestBound(strength, correlation, float(bound), error, verdict, int(kept.sum()))


def _unseen(forest, n):
    """Whether each tree has not seen each case, shape (n_trees, n_cases)."""
    has_bags = isinstance(forest, TreeEnsemble) or hasattr(type(forest), "estimators_samples_")
    if not (has_bags and is_classifier(forest)):
        message = (
            "must be a random forest, bagging, or an ensemble of `bnmtl.trees`, "
            f"got {type_of(forest)}"
        )
        raise InputTypeError(message, argument="forest")
    if not hasattr(forest, "estimators_"):
        raise InputError("must be fitted; it is not", argument="forest", remedy="call its `fit`")
    if isinstance(forest.classes_, list):
        raise InputError(f"must predict one label, got {len(forest.classes_)!r}", argument="forest")
    if isinstance(forest, TreeEnsemble):
        unseen = forest.bags_ == 0
    else:
        unseen = np.ones((len(forest.estimators_), n), dtype=bool)
        for row, rows in zip(unseen, forest.estimators_samples_, strict=True):
            if rows.max() >= n:
                raise InputError(
                    f"must be the training cases of the forest, got {n!r}", argument="y"
                )
            row[rows] = False
    if unseen.shape[1] != n:
        message = (
            f"must be the training cases of the forest of a weight above 0, {unseen.shape[1]}, got "
            f"{n!r}"
        )
        raise InputError(message, argument="y")
    return unseen


def _votes(forest, number, X):
    """Positions of the classes that a tree votes for."""
    tree = forest.estimators_[number]
    features = getattr(forest, "estimators_features_", None)
    inputs = X if features is None else _safe_indexing(X, features[number], axis=1)
    # Trees predict positions of the classes of the forest, also where their bag lacks some.
    return tree.predict(inputs).astype(int)


def voters_error(n_voters, error):
    """Error of the majority of voters whose errors are independent.

    Parameters
    ----------
    n_voters : int
        Odd.
    error : float
        Of each voter.

    Returns
    -------
    float

    Examples
    --------
    >>> round(voters_error(25, 0.35), 4)
    0.0604
    """
    check_whole("n_voters", n_voters, least=1)
    if n_voters % 2 == 0:
        raise InputError(f"must be odd, got {n_voters!r}", argument="n_voters")
    check_number("error", error, least=0, most=1)
    return float(stats.binom.sf(n_voters // 2, n_voters, error))
