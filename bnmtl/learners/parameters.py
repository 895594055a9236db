"""The parameters that all learners share: what they mean, and the ranges that they have."""

from bnmtl.errors import InputError, InputTypeError, check_choice, check_number, check_whole
from bnmtl.networks.smoothing import check_size
from bnmtl.scores import LogLikelihood, Score
from bnmtl.search.effort import SEARCHES

__all__ = ["TABLE_SHARING", "check_common", "common_parameters"]


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
    search : {{"orders", "hill-climbing", "exact"}}, default="orders"
        How graphs of one task, and of all tasks alike, are searched: over orders of the variables
        (`bnmtl.search.orders`), by changing one arc at a time, or over all graphs of up to 20
        variables.
    n_starts : int, default=None
        Graphs to start from, the first being climbed to, the others from random changes of it; for
        "orders" only, as is ``iterations``. Orders that tasks share are random after the first.
        None is 5 for up to 100 variables, fewer for more, and 1 from 251 on.
    iterations : int, default=None
        Iterations without a better score that end a start. None is 40 for up to 200 variables and
        fewer for more.
    restarts : int, default=100
        Climbs from the best graph so far after random changes; for "hill-climbing" only ("orders"
        restarts where an iteration finds nothing better).
    perturb : int, default=10
        Random changes of one arc each, per restart.
    tabu : int, default=10
        Graphs that a walk on from a local optimum may not return to, and steps without improvement
        that end it; 0 leaves the walk out.
    max_parents : int, default=None
        Largest number of parents of a variable; None sets no limit.
    max_cells : int, default=None
        Families whose table would have more cells are left out, with a warning that names one.
        None allows ten cells for each row of the task, and 1000 where that is less, without a
        warning.
    max_families : int, default=None
        Most local scores that each search may ask for, cached ones included. A search that it ends
        gives its best so far, with a warning, and is still repeatable.
    time_limit : float, default=None
        Seconds after which all searches end with their best so far and a warning. Searches for
        starts get half of what is left, tasks and penalties equal shares. What they have found by
        then depends on the machine.
    cache_size : float, default=200
        Most memory for local scores, in megabytes.
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
        Threads, as in joblib; None is 1. Without a ``time_limit`` the result does not depend on it.
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
    for name, least in {"restarts": 0, "perturb": 1, "tabu": 0}.items():
        check_whole(name, getattr(learner, name), least)
    limits = {"n_starts": 1, "iterations": 0, "max_cells": 1, "max_families": 1}
    for name, least in limits.items():
        check_whole(name, getattr(learner, name), least, optional=True)
    check_number("time_limit", learner.time_limit, least=0, optional=True)
    check_number("cache_size", learner.cache_size, least=0)
    check_whole("n_jobs", learner.n_jobs, optional=True, remedies="-1 is all cores")
    if learner.n_jobs == 0:
        raise InputError("n_jobs", "must not be 0", remedies="-1 is all cores")
    check_choice("search", learner.search, SEARCHES)
    if learner.score is not None and not isinstance(learner.score, Score):
        rule = "must be one of the scores of `bnmtl.scores` or None"
        raise InputTypeError("score", rule, learner.score, remedies="for example MixedDirichlet()")
    if isinstance(learner.score, LogLikelihood) and learner.max_parents is None:
        rule = "LogLikelihood() always wants more arcs and is refused without {max_parents}"
        raise InputError("score", rule, remedies=("set it", "take BIC() or MixedDirichlet()"))
    check_size("parameter_sample_size", learner.parameter_sample_size)
    check_choice("table_sharing", learner.table_sharing, ("auto", None))
