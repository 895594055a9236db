"""Checks of the parameters common to all learners."""

from bnmtl.errors import InputError, InputTypeError, check_choice, check_jobs
from bnmtl.networks.smoothing import check_size
from bnmtl.scores import LogLikelihood, Score
from bnmtl.search.options import Exact, Limits, search_of


def check_common(learner):
    """Raise for parameters of a learner out of range for any data."""
    search_of(learner.search)
    if learner.limits is not None and not isinstance(learner.limits, Limits):
        remedy = "for example `Limits(time_limit=60)`"
        raise InputTypeError(
            "limits", "must be a `Limits` or None", learner.limits, remedies=remedy
        )
    learner.used_limits().check()
    check_jobs(learner.n_jobs)
    if learner.score is not None and not isinstance(learner.score, Score):
        rule = "must be one of the scores of `bnmtl.scores` or None"
        raise InputTypeError("score", rule, learner.score, remedies="for example MixedDirichlet()")
    if isinstance(learner.score, LogLikelihood) and learner.max_parents is None:
        rule = "LogLikelihood() always prefers more arcs and needs {max_parents}"
        raise InputError("score", rule, remedies=("set it", "take BIC() or MixedDirichlet()"))
    check_size("parameter_sample_size", learner.parameter_sample_size)
    check_choice("table_sharing", learner.table_sharing, ("auto", None))


def check_start(learner):
    """Raise InputError for a start graph of one search if that search replaces it anyway.

    A search that a limit may end early can return its start.
    """
    limits = learner.used_limits()
    is_limited = limits.time_limit is not None or limits.max_families is not None
    if learner.start is None or is_limited or not isinstance(search_of(learner.search), Exact):
        return
    rule = "has no effect with {search=exact}, which finds the best of all graphs"
    raise InputError("start", rule, remedies=("leave it out", "take another {search}"))
