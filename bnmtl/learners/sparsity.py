"""Structure priors of tasks, and their sparsity by default (``structure_prior="auto"``)."""

import numpy as np
from scipy.special import expit

from bnmtl.errors import InputTypeError
from bnmtl.priors import ArcPrior
from bnmtl.scores import K2, BDeu, BDs, MixedDirichlet
from bnmtl.search.constraints import by_task, check_names

AUTO = "auto"
# Smaller differences of log odds are rounding errors.
_ALIKE = 1e-9
# Expected number of parents of a variable, by score. With the uniform prior these scores find arcs
# between independent columns; a smaller number gives fewer. BIC and AIC penalize parameters and
# need no prior.
EXPECTED_PARENTS = ((MixedDirichlet, 0.1), ((BDeu, BDs, K2), 1.0))


def auto_prior(score, n_variables, n_tasks=1):
    """The structure prior of a graph over variables that vary; None if it is uniform.

    Parameters
    ----------
    score : Score
    n_variables : int
    n_tasks : int, default=1
        Number of tasks that share a graph or tables. Chance evidence for an arc adds up over them,
        so the expected number of arcs is divided by it.

    Returns
    -------
    ArcPrior or None
        Every arc has the probability f / (n - 1) / n_tasks, at most 1/2, where f is the expected
        number of parents of a variable.
    """
    for kinds, expected in EXPECTED_PARENTS:
        if isinstance(score, kinds):
            chance = expected / n_tasks / max(n_variables - 1, 1)
            return ArcPrior(probability=min(chance, 0.5))
    return None


def structure_priors(tasks, value, automatic):
    """The structure prior of every task, by name, given once for all or by task.

    Parameters
    ----------
    tasks : Tasks
    value : "auto", structure prior, mapping of these by task, or None
    automatic : mapping task -> structure prior or None
        The priors for "auto".

    Returns
    -------
    dict task -> structure prior or None
    """
    priors, _ = by_task(tasks, value, "structure_prior")
    for name, prior in priors.items():
        if isinstance(prior, str) and prior == AUTO:
            priors[name] = prior = automatic[name]
        if prior is not None and (isinstance(prior, type) or not hasattr(prior, "arc_terms")):
            rule = "must be 'auto', None, an ArcPrior, a ReferencePrior or a mapping by task"
            raise InputTypeError("structure_prior", rule, prior)
        if prior is not None:
            check_names("structure_prior", prior.names(), tasks.variables, "variable")
    return priors


def arc_probabilities(priors, tasks):
    """Probability of an arc in one direction under the structure prior of each task.

    Parameters
    ----------
    priors : mapping task -> structure prior or None
    tasks : Tasks

    Returns
    -------
    dict task -> float
        1/2 under the uniform prior, nan where it differs between arcs.
    """
    found = {}
    for name, prior in priors.items():
        variables = tasks[name].variables
        odds = np.zeros(1)
        if prior is not None and len(variables) > 1:
            present, absent = prior.arc_terms(variables)
            odds = (present - absent)[~np.eye(len(variables), dtype=bool)]
        found[name] = float(expit(odds[0])) if np.ptp(odds) < _ALIKE else np.nan
    return found
