"""Descriptions and checks of the parameters common to all learners."""

from bnmtl.errors import InputError, InputTypeError, check_choice, check_jobs
from bnmtl.networks.smoothing import check_size
from bnmtl.scores import LogLikelihood, Score
from bnmtl.search.options import Exact, Limits, search_of


def common_parameters(start):
    """The common part of the docstrings of learners, with a description of ``start``."""
    return f"""score : Score, default=None
        None is `MixedDirichlet()`.
    structure_prior : "auto", ArcPrior, ReferencePrior, mapping by task or None, default="auto"
        Prior over the graph of each task. "auto" expects few arcs, so that independent columns get
        none: 0.1 parents for each variable that is not constant with `MixedDirichlet`, one with
        `BDeu`, `BDs` and `K2`; with `BIC`, `AIC` and `LogLikelihood` it is uniform, like None. If
        tasks share a graph or their tables, chance evidence adds up over tasks, so this expected
        number applies to all tasks together. Tasks missing from a mapping get None.
    required, forbidden : collection of (parent, child), or mapping by task, default=()
        Required and forbidden arcs. One collection for all tasks applies to each task in which both
        variables exist and vary.
    tiers : list of lists of str, or mapping by task, default=None
        No arc leads from a later tier to an earlier one; variables in no tier are free.
    search : {{"orders", "hill-climbing", "exact"}}, Orders, HillClimbing or Exact, default="orders"
        The search for the graph of one task, or for one graph of all tasks: over orders of the
        variables, by changing one arc at a time, or over all graphs of up to 20 variables. A string
        uses the defaults; to set options, use the classes of `bnmtl.search`, as in
        ``Orders(starts=10)``.
    max_parents : int, default=None
        Largest number of parents of a variable; None sets no limit.
    limits : bnmtl.search.Limits, default=None
        Limits on time, families, cells of a table and memory; None is `Limits()`, which does not
        limit the first two.
    start : default=None
        {start}
    missing : {{"error", "drop", "state"}}, default="error"
        How missing values are handled: see `bnmtl.tasks.encode`.
    parameter_sample_size : float or "auto", default="auto"
        Smoothing of the probability tables, for any score: "auto" learns it from each table; a
        number is an equivalent sample size and gives each task separate tables, see
        `bnmtl.BayesNet.fit`.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    n_jobs : int, default=None
        Number of threads, as in joblib; None is 1. Without a time limit it does not affect the
        result.
    progress : bool or callable, default=False
        True shows a progress bar; a callable receives a named tuple (stage, task, done, total or
        None, score)."""


TABLE_SHARING = """table_sharing : "auto" or None, default="auto"
        Whether tasks share probability tables, row by row, as far as their counts support it. With
        `MixedDirichlet` tasks are then scored together, and with any score the tables of
        `networks_` borrow from other tasks unless ``parameter_sample_size`` is a number. The score
        is exact for up to nine tasks with counts in a row of a table; for more, it sums over the
        most probable partitions of the tasks into groups. None gives every task separate tables.
        With one task it has no effect."""


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
