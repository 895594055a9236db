"""How much a committee would learn from the label of each case, from its members' probabilities."""

import numpy as np


def vote_shares(members, weights=None):
    """Share of the members that predict each class; a member predicts the first of the best ones.

    Parameters
    ----------
    members : numpy.ndarray of float, shape (n_members, n_cases, n_classes)
    weights : numpy.ndarray of float, shape (n_members,), default=None
        None is equal weights.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases, n_classes)
    """
    votes = members.argmax(axis=2)[..., None] == np.arange(members.shape[2])
    # Sums of weights may exceed 1 by rounding.
    return np.minimum(np.average(votes, axis=0, weights=weights), 1.0)


def _small_difference(shares):
    """1 - (largest - second largest) of each row."""
    if shares.shape[1] == 1:
        return np.zeros(len(shares))
    ordered = np.sort(shares, axis=1)
    return 1 - (ordered[:, -1] - ordered[:, -2])


def small_margin(members, weights=None):
    """1 minus the difference of the two largest mean probabilities.

    Parameters
    ----------
    members, weights
        As in `vote_shares`.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases,)
        0 if the committee is sure, 1 if two classes are equally probable.

    References
    ----------
    Melville (2005), section 6.2.
    """
    return _small_difference(np.average(members, axis=0, weights=weights))


def small_vote_margin(members, weights=None):
    """1 minus the difference of the two largest shares of votes.

    Parameters
    ----------
    members, weights
        As in `vote_shares`.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases,)

    References
    ----------
    Abe & Mamitsuka (1998), "Query learning strategies using boosting and bagging", ICML.
    """
    return _small_difference(vote_shares(members, weights))


def local_variance(members, minority, least):
    """Sum over members of squared deviations from the mean probability, divided by that mean.

    Parameters
    ----------
    members : numpy.ndarray of float, shape (n_members, n_cases, 2)
    minority : {0, 1}
        Position of the minority class, whose probability is meant.
    least : float
        The least divisor.

    Returns
    -------
    numpy.ndarray of float, shape (n_cases,)

    References
    ----------
    Saar-Tsechansky & Provost (2004), "Active sampling for class probability estimation and
    ranking", Machine Learning 54; Melville (2005), section 7.2.
    """
    p = members[:, :, minority]
    mean = p.mean(axis=0)
    return ((p - mean) ** 2).sum(axis=0) / np.maximum(mean, least)


def class_variance(members):
    """Mean over classes of the variance of the members' probabilities.

    Parameters
    ----------
    members : numpy.ndarray of float, shape (n_members, n_cases, n_classes)

    Returns
    -------
    numpy.ndarray of float, shape (n_cases,)

    References
    ----------
    Melville (2005), section 7.2.
    """
    return members.var(axis=0).mean(axis=1)
