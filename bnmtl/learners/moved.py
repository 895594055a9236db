"""Errors for former parameters of learners that are now options of the search or limits."""

from bnmtl.errors import InputTypeError

_PLACES = {
    "n_starts": "search=Orders(starts=...)",
    "starts": "search=Orders(starts=...)",
    "iterations": "search=Orders(iterations=...)",
    "restarts": "search=HillClimbing(restarts=...)",
    "perturb": "search=Orders(perturb=...)` or `search=HillClimbing(perturb=...)",
    "tabu": "search=Orders(tabu=...)` or `search=HillClimbing(tabu=...)",
    "max_cells": "limits=Limits(max_cells=...)",
    "max_families": "limits=Limits(max_families=...)",
    "time_limit": "limits=Limits(time_limit=...)",
    "cache_size": "limits=Limits(cache_size=...)",
}


def refuse_moved(parameters):
    """Raise InputTypeError for a former parameter of learners, and name its replacement."""
    for name in parameters:
        if name in _PLACES:
            rule = "is not a parameter of learners any longer"
            raise InputTypeError(name, rule, remedies=f"write `{_PLACES[name]}`")


def refuse_nested(learner, parameters):
    """Raise InputTypeError for an option of a search or limits that is a string or None."""
    for name in parameters:
        owner, _, option = name.partition("__")
        value = parameters.get(owner, getattr(learner, owner, None))
        if option and owner in ("search", "limits") and (value is None or isinstance(value, str)):
            rule = "sets an option of {owner}, which has none"
            example = {"search": _PLACES["starts"], "limits": _PLACES["time_limit"]}[owner]
            remedy = f"write `{_PLACES.get(option, example)}`"
            raise InputTypeError(name, rule, value, remedies=remedy, owner=owner)
