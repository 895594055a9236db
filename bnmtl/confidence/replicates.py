"""Confidence of each arc: the share of replicates that have it."""

import time

import numpy as np
import pandas as pd

from bnmtl.confidence.resampling import Replicates, bootstrap, lighter, share_of
from bnmtl.errors import InputTypeError, check_number, check_whole, warn
from bnmtl.graphs import adjacency
from bnmtl.learners.adapted import changed, keeping_groups
from bnmtl.learners.base import Learner
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode
from bnmtl.wording import type_of


def arc_confidence(
    tasks, learner, n_bootstrap=100, random_state=None, subsample=0.5, light=False, time_limit=None
):
    """Share of replicates with each arc, learned from resampled rows.

    Every replicate draws half of the rows of each task, each copied row (`Task.originals`) only
    once, and fits the learner to them with a separate seed: if the data cannot determine the
    direction of an edge, each direction gets about half of its confidence. With a multitask learner
    the confidence includes arcs that tasks learn from one another. Groups of tasks are found once,
    in all rows, so the shares do not say how certain they are. A learner that chooses its penalty
    does so in each replicate; to avoid this, use a `MultitaskLearner` with the penalty that was
    chosen on the data.

    Parameters
    ----------
    tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
    learner : any learner
        It is not fitted itself. Its ``n_jobs`` sets how many replicates run at a time. Each has the
        learner's ``time_limit``, unless there is one for all of them.
    n_bootstrap : int, default=100
        Number of replicates.
    random_state : None, int or numpy.random.Generator, default=None
        None uses that of the learner.
    subsample : float or None, default=0.5
        Share of the rows of each task to draw without replacement, above 0 and below 1; at least
        two rows are drawn. None is the bootstrap: as many rows as there are, with replacement. Rows
        that are drawn twice make dependencies look stronger than they are, above all with a strong
        search and a score that supports nearly deterministic tables: replicates of 30 unrelated
        columns then have a hundred arcs, while those of halves have one or two. But halves miss
        more of the weak true arcs.
    light : bool, default=False
        Whether replicates use hill climbing without restarts instead of the learner's search: many
        times faster, and fewer false arcs from rows drawn twice.
    time_limit : float, default=None
        Seconds for all replicates together, in equal shares; a replicate that runs out of time ends
        with its best graph so far and a warning.

    Returns
    -------
    pandas.DataFrame
        One row per task and ordered pair of its variables, sorted by them: task, parent, child
        (categorical), arc = share of the replicates with parent -> child, edge = share with either
        direction. ``attrs["ended_by"]`` names the limits that ended replicates early.

    Raises
    ------
    InputTypeError, InputError
        If `learner` is not a learner, `n_bootstrap` is not a whole number of at least 1,
        `subsample` is not a share, `time_limit` is not a number of 0 or more, and as in ``fit``.

    References
    ----------
    N. Meinshausen, P. Buehlmann (2010), "Stability selection", Journal of the Royal Statistical
    Society B 72: halves. N. Friedman, M. Goldszmidt, A. Wyner (1999), "Data analysis with Bayesian
    networks: a bootstrap approach", UAI.

    Examples
    --------
    >>> from bnmtl import HillClimbing, SingleTaskLearner, structures
    >>> rows = structures.load("asia").sample(500, random_state=0)
    >>> learner = SingleTaskLearner(search=HillClimbing(restarts=0))
    >>> confidence = arc_confidence({"clinic": rows}, learner, n_bootstrap=20, random_state=0)
    >>> sure = confidence[confidence["edge"] > 0.9]
    >>> ("bronc", "dysp") in set(zip(sure["parent"], sure["child"]))
    True
    """
    if not isinstance(learner, Learner):
        raise InputTypeError("learner", "must be a learner", type_of(learner))
    learner.check_parameters()
    check_whole("n_bootstrap", n_bootstrap, 1, remedies="100 is usual")
    check_number("subsample", subsample, above=0, below=1, optional=True)
    began = time.monotonic()
    if time_limit is not None:
        limits = learner.used_limits()
        learner = changed(learner, limits=limits.replaced(time_limit=time_limit))
        learner.check_parameters()
    encoded = encode(tasks, missing=learner.missing)
    stopped = set()
    learner = keeping_groups(learner, encoded, stopped)
    if light:
        learner = lighter(learner)
    if time_limit is not None:
        time_limit = max(0.0, time_limit - (time.monotonic() - began))
    seed = seed_of(learner.random_state if random_state is None else random_state)
    counts = {name: np.zeros((task.n_variables,) * 2, int) for name, task in encoded.items()}
    draw = bootstrap if subsample is None else share_of(subsample)
    replicates = Replicates(encoded, learner, draw, n_bootstrap, seed, time_limit)
    for configuration in replicates:
        for name, graph in configuration.items():
            counts[name] += adjacency(graph, encoded[name].variables)
    ended_by = tuple(sorted(stopped.union(replicates.ended_by)))
    _warn_if_ended(ended_by)
    table = _table(encoded, counts, n_bootstrap)
    table.attrs["ended_by"] = ended_by
    return table


def _warn_if_ended(limits):
    if limits:
        # A template with the names of parameters.
        names = " and ".join(f"{{{name}}}" for name in limits)
        warn(
            rule=f"Replicates were ended by {names} and may lack arcs, so that confidences are "
            "too low",
            remedies=("raise it", "draw fewer replicates"),
        )


def _table(tasks, counts, n_bootstrap):
    """One row per task and ordered pair of its variables."""
    parts = []
    for name, task in tasks.items():
        n = task.n_variables
        parent, child = np.nonzero(~np.eye(n, dtype=bool))
        arcs = counts[name]
        parts.append(
            pd.DataFrame(
                {
                    "task": name,
                    "parent": np.array(task.variables, dtype=object)[parent],
                    "child": np.array(task.variables, dtype=object)[child],
                    "arc": arcs[parent, child] / n_bootstrap,
                    "edge": (arcs + arcs.T)[parent, child] / n_bootstrap,
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    for column, known in (
        ("task", tasks.names),
        ("parent", tasks.variables),
        ("child", tasks.variables),
    ):
        table[column] = pd.Categorical(table[column], categories=list(known))
    return table
