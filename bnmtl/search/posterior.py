"""The posterior of a penalty: configurations scored under the coupling as a proper distribution.

The search leaves out the constant of the prior, which depends on the penalty; to compare penalties
it must be there. Acyclicity aside it is a product over pairs of variables of

    Z = sum over the states x of the k tasks of odds^(number of arcs in x) C(x),

odds = rho / (1 - 2 rho), rho being the probability of an arc in one direction. C depends on how
many tasks are in each state, so the sum is over those counts.
"""

import itertools
import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, logsumexp

from bnmtl.priors.states import WeightedPairedCoupling

__all__ = ["log_posterior"]

# Bounds of log(rho / (1 - 2 rho)): from one arc in a million pairs to nearly always one.
_LOG_ODDS = (-14.0, 7.0)


def log_posterior(couplings, matrices, log_likelihood):
    """Log posterior of a penalty at a configuration, rho by its own maximum.

    Parameters
    ----------
    couplings : Couplings
        Of the penalty; no pair's coupling may depend on which tasks have an arc.
    matrices : bool array of shape (k, n, n)
        The configuration on the union index.
    log_likelihood : float
        Of all tasks' data, with their own structure priors.

    Returns
    -------
    float
        In nats, up to a constant that is the same for all penalties; -inf for a configuration
        that the penalty rules out.

    Raises
    ------
    ValueError
        If the coupling depends on which tasks have an arc.
    """
    kinds = _kinds(couplings, matrices)
    coupling = sum(own for _, own, _, _ in kinds)
    n_arcs = sum(arcs for _, _, arcs, _ in kinds)
    if coupling == -math.inf:
        return -math.inf
    tables = [(n_pairs, *table) for n_pairs, _, _, table in kinds]

    def negative(log_odds):
        normalizers = sum(
            n_pairs * logsumexp(arcs * log_odds + logs) for n_pairs, arcs, logs in tables
        )
        return normalizers - n_arcs * log_odds

    found = minimize_scalar(negative, bounds=_LOG_ODDS, method="bounded")
    return log_likelihood + coupling - float(found.fun)


def _kinds(couplings, matrices):
    """Pairs of variables grouped by their coupling.

    Returns
    -------
    list of (number of pairs, their log coupling, their number of arcs, terms of Z)
    """
    groups = {}
    for i, j in np.argwhere(couplings.pairs).tolist():
        members, coupling = couplings.of(i, j)
        if isinstance(coupling, WeightedPairedCoupling) or not couplings.builtin:
            raise ValueError(
                "the coupling must depend on how many tasks have an arc and not on which, got a "
                f"{type(coupling).__name__}."
            )
        states = matrices[members, i, j].astype(np.int8) - matrices[members, j, i]
        group = groups.setdefault((id(coupling), len(members)), [coupling, len(members), 0, 0.0, 0])
        group[2] += 1
        group[3] += coupling.log_coupling(states)
        group[4] += int(np.abs(states).sum())
    return [
        (n_pairs, value, arcs, _terms(coupling, k))
        for coupling, k, n_pairs, value, arcs in groups.values()
    ]


def _terms(coupling, k):
    """Numbers of arcs and logs of (multinomial coefficient times C) of all counts of states."""
    arcs, logs = [], []
    for backward, forward in itertools.product(range(k + 1), repeat=2):
        none = k - backward - forward
        if none < 0:
            continue
        states = np.repeat(np.array([-1, 0, 1], np.int8), [backward, none, forward])
        value = coupling.log_coupling(states)
        if value > -math.inf:
            ways = gammaln(k + 1) - gammaln([backward + 1, none + 1, forward + 1]).sum()
            arcs.append(backward + forward)
            logs.append(float(ways) + value)
    return np.array(arcs, dtype=float), np.array(logs)
