"""Learners made from a learner: for some of its tasks, at one penalty, for each task apart."""

from inspect import signature

import networkx as nx
from sklearn.base import clone

from bnmtl.learners.apart import SingleTaskLearner
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.learners.validated import MultitaskLearnerCV
from bnmtl.priors import PairedPrior
from bnmtl.priors.coupling import CouplingPrior
from bnmtl.search.constraints import is_by_task

__all__ = ["apart", "at_penalty", "changed", "for_tasks"]


def changed(learner, **parameters):
    """An unfitted learner of the same kind with some parameters changed, the others shared."""
    return type(learner)(**{**learner.get_params(deep=False), **parameters})


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
        Its parameters suit more tasks than these.
    tasks : Tasks
        With all rows.

    Returns
    -------
    Learner
        Unfitted. A `MultitaskLearner` for a `MultitaskLearnerCV` with no penalty to choose, because
        all pairs of these tasks have one of their own.
    """
    parameters = learner.get_params(deep=False)
    for name in ("required", "forbidden", "tiers", "structure_prior", "start"):
        value = parameters[name]
        if is_by_task(value):
            own = {task: one for task, one in value.items() if str(task) in tasks.names}
            # Arcs and tiers of a task name its own variables, graphs and priors those of any.
            if name in ("structure_prior", "start"):
                own = {task: _among(name, one, tasks) for task, one in own.items()}
            parameters[name] = own
        else:
            parameters[name] = _among(name, value, tasks)
    prior = parameters.get("prior")
    if isinstance(prior, CouplingPrior):
        parameters["prior"] = prior.among(tasks.variables, tasks.names)
    derived = changed(learner, **parameters)
    if isinstance(derived, MultitaskLearnerCV) and not derived.has_choice(tasks):
        return at_penalty(derived, derived.prior.penalty)
    return derived


def _among(name, value, tasks):
    """One parameter that holds for all tasks, without what none of these have."""
    if name in ("required", "forbidden"):
        usable = [set(task.variables) - set(task.constant) for task in tasks.values()]
        arcs = [tuple(map(str, arc)) for arc in value]
        return [arc for arc in arcs if any(own.issuperset(arc) for own in usable)]
    if name == "tiers" and value is not None:
        return [[v for v in map(str, tier) if v in tasks.variables] for tier in value]
    if name == "structure_prior" and hasattr(value, "among"):
        return value.among(tasks.variables)
    if name == "start" and isinstance(value, nx.DiGraph):
        return value.subgraph([node for node in value if str(node) in tasks.variables])
    return value


def _shared(learner, kind):
    """Parameters of a learner that another kind has too."""
    known = signature(kind.__init__).parameters
    return {name: v for name, v in learner.get_params(deep=False).items() if name in known}
