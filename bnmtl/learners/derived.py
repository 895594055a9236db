"""Learners made from a learner: for some of its tasks, at one penalty, for each task apart."""

from collections.abc import Mapping
from inspect import signature

import networkx as nx
from sklearn.base import clone

from bnmtl.learners.apart import SingleTaskLearner
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.priors import PairedPrior
from bnmtl.priors.coupling import CouplingPrior

__all__ = ["apart", "at_penalty", "for_tasks"]


def apart(learner):
    """The learner of each task by itself that searches as a given one does."""
    parameters = _shared(learner, SingleTaskLearner)
    if isinstance(parameters["start"], str):
        parameters["start"] = None
    return SingleTaskLearner(**parameters)


def at_penalty(learner, penalty):
    """A `MultitaskLearner` with one penalty, its other parameters those of a given learner.

    Raises
    ------
    TypeError
        If the learner has no prior with a penalty.
    """
    if not isinstance(learner, MultitaskLearner):
        raise TypeError(
            "`learner` must be a MultitaskLearner or a MultitaskLearnerCV, got "
            f"{type(learner).__name__}; tasks are compared when they are learned together."
        )
    parameters = _shared(learner, MultitaskLearner)
    prior = PairedPrior() if parameters["prior"] is None else parameters["prior"]
    if not isinstance(prior, CouplingPrior):
        raise TypeError(
            f"`prior` of the learner must be a PairedPrior or an EditPrior, got {prior!r}; only "
            "they have a penalty."
        )
    parameters["prior"] = clone(prior).set_params(penalty=penalty)
    return MultitaskLearner(**parameters)


def for_tasks(learner, tasks):
    """The same learner for fewer tasks: what its parameters say of other tasks is left out.

    Parameters
    ----------
    learner : Learner
        Its parameters fit to more tasks than these.
    tasks : Tasks

    Returns
    -------
    Learner
        Unfitted.
    """
    learner = clone(learner)
    usable = [set(task.variables) - set(task.constant) for task in tasks.values()]
    variables = set(tasks.variables)
    changed = {}
    for name in ("required", "forbidden", "tiers", "structure_prior", "start"):
        value = getattr(learner, name)
        if isinstance(value, Mapping):
            changed[name] = {task: own for task, own in value.items() if str(task) in tasks.names}
        elif name in ("required", "forbidden"):
            arcs = [tuple(map(str, arc)) for arc in value]
            changed[name] = [arc for arc in arcs if any(own.issuperset(arc) for own in usable)]
        elif name == "tiers" and value is not None:
            changed[name] = [[v for v in map(str, tier) if v in variables] for tier in value]
        elif name == "start" and isinstance(value, nx.DiGraph):
            changed[name] = value.subgraph([node for node in value if str(node) in variables])
    prior = getattr(learner, "prior", None)
    if isinstance(prior, CouplingPrior):
        changed["prior"] = prior.among(variables, tasks.names)
    return learner.set_params(**changed)


def _shared(learner, kind):
    """Parameters of a learner that another kind has too."""
    known = signature(kind.__init__).parameters
    return {name: v for name, v in learner.get_params(deep=False).items() if name in known}
