"""The posterior of a penalty: configurations scored under the coupling as a distribution.

The search omits the constant of the prior, which depends on the penalty and is needed to compare
penalties. Ignoring acyclicity, it is a product over pairs of variables of

    Z = sum over the states x of the k tasks of C(x) prod over tasks s of p_s(x_s),

where p_s is the structure prior of task s. If it is learned, p_s(x) is odds^(arcs in x), with odds
= rho / (1 - 2 rho), where rho is the most probable probability of an arc in one direction. C
depends only on the number of tasks in each state, so the sum is over these counts.
"""

import itertools
import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

from bnmtl.errors import InputError
from bnmtl.priors.coupling import WeightedPairedCoupling
from bnmtl.wording import type_of

# Bounds of log(rho / (1 - 2 rho)): from one arc in a million pairs to an arc in nearly every pair.
_LOG_ODDS = (-14.0, 7.0)


def log_posterior(couplings, matrices, log_likelihood, arc_terms=None):
    """Log posterior of a penalty at a configuration.

    Parameters
    ----------
    couplings : Couplings
        Couplings at the penalty; they must not depend on which tasks have an arc.
    matrices : bool array of shape (k, n, n)
        The configuration, on the union index.
    log_likelihood : float
        Of the data of all tasks, without structure priors.
    arc_terms : list of pairs of float arrays of shape (n, n), default=None
        The structure prior of each task on the union index: log prior of each ordered pair with the
        arc present and absent. None learns the probability of an arc.

    Returns
    -------
    float
        In nats, up to a constant that is the same for all penalties; -inf for a configuration
        excluded by the penalty.

    Raises
    ------
    InputError
        If the coupling depends on which tasks have an arc.
    """
    kinds = list(_kinds(couplings, matrices))
    coupling = sum(kind.log_coupling for kind in kinds)
    if coupling == -math.inf:
        return -math.inf
    if arc_terms is None:
        return log_likelihood + coupling + _log_prior_of_counts(kinds)
    priors = sum(_log_prior_given(kind, couplings.weights, arc_terms) for kind in kinds)
    return log_likelihood + coupling + priors


class _Kind:
    """Pairs of variables with the same coupling.

    Attributes
    ----------
    pairs : int array of shape (m, 2)
    members : int array of shape (k,)
        The tasks with these pairs.
    states : int8 array of shape (m, k)
    log_coupling : float
        Sum over the pairs.
    """

    def __init__(self, pairs, members, coupling, matrices):
        self.pairs, self.members, self._coupling = pairs, members, coupling
        i, j = pairs.T
        arcs = matrices[members].astype(np.int8)
        self.states = (arcs[:, i, j] - arcs[:, j, i]).T
        is_set = self.states.any(axis=1)
        none = np.zeros(len(members), np.int8)
        self.log_coupling = sum(coupling.log_coupling(states) for states in self.states[is_set])
        self.log_coupling += (len(pairs) - int(is_set.sum())) * coupling.log_coupling(none)

    def by_counts(self):
        """Log C by the numbers of tasks with a backward and a forward arc, (k + 1, k + 1)."""
        k = len(self.members)
        table = np.full((k + 1, k + 1), -math.inf)
        for backward, forward in itertools.product(range(k + 1), repeat=2):
            none = k - backward - forward
            if none >= 0:
                numbers = [backward, none, forward]
                states = np.repeat(np.array([-1, 0, 1], np.int8), numbers)
                table[backward, forward] = self._coupling.log_coupling(states)
        return table


def _kinds(couplings, matrices):
    """All pairs of variables, grouped by their coupling."""
    numbers = couplings.kinds[couplings.pairs]
    pairs = np.argwhere(couplings.pairs)
    order = np.argsort(numbers, kind="stable")
    begins = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    for group in np.split(order, begins[1:]):
        if not len(group):
            continue
        members, coupling = couplings.of(*pairs[group[0]].tolist())
        if isinstance(coupling, WeightedPairedCoupling) or not couplings.builtin:
            message = (
                "must depend on how many tasks have an arc and not on which, got "
                f"{type_of(coupling)}"
            )
            raise InputError(message, argument="couplings")
        yield _Kind(pairs[group], members, coupling, matrices)


def _log_prior_of_counts(kinds):
    """The rest of the log prior if rho is learned: odds^arcs / Z at the best rho."""
    n_arcs = sum(int(np.abs(kind.states).sum()) for kind in kinds)
    tables = [(len(kind.pairs), *_terms(kind)) for kind in kinds]

    def negative(log_odds):
        normalizers = sum(
            n_pairs * logsumexp(arcs * log_odds + logs) for n_pairs, arcs, logs in tables
        )
        return normalizers - n_arcs * log_odds

    return -float(minimize_scalar(negative, bounds=_LOG_ODDS, method="bounded").fun)


def _terms(kind):
    """Numbers of arcs and logs of (multinomial coefficient times C) of all counts of states."""
    k, table = len(kind.members), kind.by_counts()
    backward, forward = np.nonzero(table > -math.inf)
    none = k - backward - forward
    ways = gammaln(k + 1) - gammaln(np.stack([backward, none, forward]) + 1.0).sum(axis=0)
    return (backward + forward).astype(float), ways + table[backward, forward]


def _log_prior_given(kind, weights, arc_terms):
    """The rest of the log prior of some pairs under given structure priors: prod of p_s / Z."""
    i, j = kind.pairs.T
    terms = np.empty((len(kind.pairs), len(kind.members), 3))
    for at, s in enumerate(kind.members.tolist()):
        present, absent = arc_terms[s]
        terms[:, at, 0] = present[j, i] + absent[i, j]
        terms[:, at, 1] = absent[i, j] + absent[j, i]
        terms[:, at, 2] = present[i, j] + absent[j, i]
        terms[:, at] *= weights[s, i, j][:, None]
    reached = np.take_along_axis(terms, kind.states[:, :, None].astype(np.intp) + 1, axis=2).sum()
    alike, n_alike = np.unique(terms.reshape(len(terms), -1), axis=0, return_counts=True)
    normalizers = _log_sums(alike.reshape(len(alike), -1, 3)) + kind.by_counts()
    return float(reached - n_alike @ logsumexp(normalizers, axis=(1, 2)))


def _log_sums(terms):
    """Logs of the sums of prod over tasks of p_s over all states with the same counts.

    Parameters
    ----------
    terms : float array of shape (m, k, 3)
        Log p_s of the states -1, 0 and 1.

    Returns
    -------
    float array of shape (m, k + 1, k + 1)
        By the numbers of tasks with a backward and a forward arc.
    """
    m, k, _ = terms.shape
    table = np.full((m, k + 1, k + 1), -math.inf)
    table[:, 0, 0] = 0.0
    for s in range(k):
        backward, none, forward = (terms[:, s, x, None, None] for x in range(3))
        grown = table + none
        grown[:, 1:] = np.logaddexp(grown[:, 1:], table[:, :-1] + backward)
        grown[:, :, 1:] = np.logaddexp(grown[:, :, 1:], table[:, :, :-1] + forward)
        table = grown
    return table
