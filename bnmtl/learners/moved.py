"""Errors for former parameters of learners that are now options of the search or limits."""

from bnmtl.errors import InputTypeError
from bnmtl.search.options import SEARCHES, Limits

# The classes whose options may be set, by parameter.
_KINDS = {"search": SEARCHES.values(), "limits": [Limits]}

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
        if not option or owner not in _KINDS or not (value is None or isinstance(value, str)):
            continue
        if option not in _PLACES:
            options = {known for kind in _KINDS[owner] for known in kind().get_params()}
            rule, remedy = "is not an option of {owner}", "its options are {options}"
            raise InputTypeError(name, rule, remedies=remedy, owner=owner, options=sorted(options))
        rule, remedy = "sets an option of {owner}, which has none", f"write `{_PLACES[option]}`"
        raise InputTypeError(name, rule, value, remedies=remedy, owner=owner)
