"""The parameters that all learners share: what they mean, and the ranges that they have."""

from bnmtl.errors import InputError, InputTypeError, check_choice, check_whole
from bnmtl.networks.smoothing import check_size
from bnmtl.scores import LogLikelihood, Score
from bnmtl.search.options import Limits, search_of


def common_parameters(start):
    """The docstring's part on what all learners share, with a text on ``start``."""
    return f"""score : Score, default=None
        None is `MixedDirichlet()`.
    structure_prior : "auto", ArcPrior, ReferencePrior, mapping by task or None, default="auto"
        Prior over each task's own graph. "auto" expects few arcs, so that columns that have
        nothing to do with each other get none: with `MixedDirichlet` a tenth of a parent for each
        variable that is not constant, with `BDeu`, `BDs` and `K2` one, with `BIC`, `AIC` and
        `LogLikelihood` it is uniform, as None is. Where tasks share a graph or their tables, chance
        adds up over them, so these parents are expected of all tasks together. Tasks that a mapping
        leaves out get None.
    required, forbidden : collection of (parent, child), or mapping by task, default=()
        Arcs that must be there and arcs that must not. One collection for all tasks holds in each
        task that has both variables, neither of them constant there.
    tiers : list of lists of str, or mapping by task, default=None
        No arc leads from a later tier to an earlier one; variables in no tier are free.
    search : {{"orders", "hill-climbing", "exact"}}, Orders, HillClimbing or Exact, default="orders"
        How graphs of one task, and of all tasks alike, are searched: over orders of the variables,
        by changing one arc at a time, or over all graphs of up to 20 variables. A word takes the
        defaults; options go with the classes of `bnmtl.search`, as in ``Orders(starts=10)``.
    max_parents : int, default=None
        Largest number of parents of a variable; None sets no limit.
    limits : bnmtl.search.Limits, default=None
        Of time, families, cells of a table and memory; None is `Limits()`, which has none of the
        first two.
    start : default=None
        {start}
    missing : {{"error", "drop", "state"}}, default="error"
        What to do with missing values: see `bnmtl.tasks.encode`.
    parameter_sample_size : float or "auto", default="auto"
        How strongly the probability tables are smoothed, whatever the score: "auto" learns it
        from each table, a number is an equivalent sample size of tables that are each task's own,
        see `bnmtl.BayesNet.fit`.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend on nothing but data and parameters.
    n_jobs : int, default=None
        Threads, as in joblib; None is 1. Without a time limit the result does not depend on it.
    progress : bool or callable, default=False
        True shows a bar; a callable gets (stage, task, done, total or None, score) as a named
        tuple."""


TABLE_SHARING = """table_sharing : "auto" or None, default="auto"
        Whether tasks may have probability tables in common, row by row, as much as their counts
        ask for: under `MixedDirichlet` tasks are then scored together, and under any score the
        tables of `networks_` borrow from other tasks unless ``parameter_sample_size`` is a number.
        None gives every task its own. With one task it makes no difference."""


def check_common(learner):
    """Raise for parameters of a learner that are out of range, whatever the data."""
    search_of(learner.search)
    if learner.limits is not None and not isinstance(learner.limits, Limits):
        remedy = "for example `Limits(time_limit=60)`"
        raise InputTypeError(
            "limits", "must be a `Limits` or None", learner.limits, remedies=remedy
        )
    learner.used_limits().check()
    check_whole("n_jobs", learner.n_jobs, optional=True, remedies="-1 is all cores")
    if learner.n_jobs == 0:
        raise InputError("n_jobs", "must not be 0", remedies="-1 is all cores")
    if learner.score is not None and not isinstance(learner.score, Score):
        rule = "must be one of the scores of `bnmtl.scores` or None"
        raise InputTypeError("score", rule, learner.score, remedies="for example MixedDirichlet()")
    if isinstance(learner.score, LogLikelihood) and learner.max_parents is None:
        rule = "LogLikelihood() always wants more arcs and is refused without {max_parents}"
        raise InputError("score", rule, remedies=("set it", "take BIC() or MixedDirichlet()"))
    check_size("parameter_sample_size", learner.parameter_sample_size)
    check_choice("table_sharing", learner.table_sharing, ("auto", None))
