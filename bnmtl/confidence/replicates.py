"""Confidence of arcs: graphs learned from resampled rows, and the share that has an arc."""

import time

import numpy as np
import pandas as pd

from bnmtl.errors import MOST_MEMBERS, InputTypeError, check_flag, check_number, check_whole, warn
from bnmtl.graphs import adjacency
from bnmtl.learners.adapted import changed, keeping_groups
from bnmtl.learners.base import Learner
from bnmtl.progress import Reporter
from bnmtl.search import HillClimbing
from bnmtl.search.effort import Effort, in_parallel
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks import encode
from bnmtl.wording import all_of, count, type_of

# The search of light replicates: 30 of them take less time than the graphs themselves, and ten
# restarts gave the same confidences on ALARM and INSURANCE except for one or two of fifty pairs.
_LIGHT = HillClimbing(restarts=0)


class Replicates:
    """Configurations learned from drawn rows, each with a separate seed; iterate over them.

    Parameters
    ----------
    tasks : Tasks
        Encoded; the learner's ``missing`` has been applied.
    learner : learner
        Its ``n_jobs`` sets how many replicates run at a time.
    draw : callable (rows, rng) -> rows
        Draws among the rows of one task; copied rows are among them once.
    n : int
        Number of replicates.
    seed : int
    time_limit : float, default=None
        Seconds for all of them together.
    stage : str, default="bootstrap"
        The name of the progress.

    Attributes
    ----------
    ended_by : tuple of str
        Limits that ended replicates early, after the last one.
    """

    def __init__(self, tasks, learner, draw, n, seed, time_limit=None, stage="bootstrap"):
        self._tasks, self._learner, self._draw, self._n = tasks, learner, draw, n
        self._seed, self._stage = seed, stage
        self._rows = {}
        for name, task in tasks.items():
            order, sizes = task.originals
            # The first row of each group of copies, in an order independent of the given one.
            self._rows[name] = order[np.cumsum(sizes) - sizes]
        # Replicates for which no time is left.
        self._required = learner._required_graphs(tasks) if time_limit is not None else {}
        self._time_limit = time_limit
        self.ended_by = ()

    def __iter__(self):
        deadline = None if self._time_limit is None else time.time() + self._time_limit
        effort = Effort(self._seed, n_jobs=self._learner.n_jobs, deadline=deadline)
        with Reporter(self._learner.progress) as report:
            calls = ((number,) for number in range(self._n))
            made = in_parallel(self._learned, calls, effort)
            for done, configuration in enumerate(made, start=1):
                yield configuration
                report(self._stage, None, done, self._n)
        self.ended_by = tuple(sorted(effort.tally.stopped))

    def _learned(self, number, effort):
        if effort.is_over():
            return self._required
        member_seed = seed_of(generator(self._seed, "bootstrap", number))
        fitted = changed(self._learner, random_state=member_seed, n_jobs=1)
        if effort.deadline is not None:
            seconds = max(0.0, effort.deadline - time.time())
            fitted.limits = self._learner._used_limits().replaced(time_limit=seconds)
        # The rows of a task do not depend on the other tasks.
        drawn = {
            name: self._draw(rows, generator(self._seed, "bootstrap", number, name))
            for name, rows in self._rows.items()
        }
        stopped, silent = effort.tally.stopped, Reporter(False)
        return fitted._fit_rows(
            self._tasks.take(drawn), self._tasks, silent, stopped
        ).configuration_


def bootstrap(rows, rng):
    """As many rows as there are, drawn with repetition."""
    return rows[rng.integers(len(rows), size=len(rows))]


def share_of(share):
    """A function that draws a share of the rows, at least two, without repetition."""

    def draw(rows, rng):
        return rows[rng.permutation(len(rows))[: max(2, round(share * len(rows)))]]

    return draw


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
        raise InputTypeError(f"must be a learner, got {type_of(learner)}", argument="learner")
    learner._check_parameters()
    check_whole("n_bootstrap", n_bootstrap, 1, MOST_MEMBERS, remedy="100 is usual")
    check_flag("light", light)
    check_number("subsample", subsample, above=0, below=1, optional=True)
    began = time.monotonic()
    if time_limit is not None:
        limits = learner._used_limits().replaced(time_limit=time_limit)
        limits.check()
        learner = changed(learner, limits=limits)
    encoded = encode(tasks, missing=learner.missing)
    stopped = set()
    learner = keeping_groups(learner, encoded, stopped)
    if light:
        # Orders are a start only if the search is over orders.
        is_orders = isinstance(learner.start, str) and learner.start == "orders"
        learner = changed(learner, search=_LIGHT, start=None if is_orders else learner.start)
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
    if ended_by:
        names = all_of([f"`{name}`" for name in ended_by])
        message = (
            f"Replicates were ended by {names} and may lack arcs, so that confidences are too low"
        )
        warn(message, options=ended_by, remedy="raise it, or draw fewer replicates")
    table = _table(encoded, counts, n_bootstrap)
    table.attrs["ended_by"] = ended_by
    return table


def _table(tasks, counts, n_bootstrap):
    """One row per task and ordered pair of its variables."""
    parts = []
    for name, task in tasks.items():
        pair = parent, child = np.nonzero(~np.eye(task.n_variables, dtype=bool))
        names, arcs = np.array(task.variables, dtype=object), counts[name]
        part = {"task": name, "parent": names[parent], "child": names[child]}
        part |= {"arc": arcs[pair] / n_bootstrap, "edge": (arcs + arcs.T)[pair] / n_bootstrap}
        parts.append(pd.DataFrame(part))
    table = pd.concat(parts, ignore_index=True)
    columns = {"task": tasks.names, "parent": tasks.variables, "child": tasks.variables}
    for column, known in columns.items():
        table[column] = pd.Categorical(table[column], categories=list(known))
    return table


_SURE = 0.95
# Minimum number of replicates for a statement that arcs are well supported.
_FEWEST = 20
# The meaning of a share of replicates, from the study `sure_arcs`.
MEANING = (
    "Confidence is the share of replicates, networks learned from random halves of the rows by a "
    "quicker search, that have an arc. It is not a probability. On known networks, pairs of "
    "variables with a confidence of 1 were truly joined in 96 to 100 % of the cases and pairs with "
    "0.8 in 59 to 100 %; directions with a confidence of 1 were right in 64 to 100 %, and with 0.8 "
    "in 46 to 96 %, in a single network sometimes never. So confidence can be too high, above all "
    "that of directions; and many true arcs had a low confidence, above all with few rows."
)


def with_confidence(arcs, confidences=None):
    """The table of arcs of a fitted learner with their confidences.

    Parameters
    ----------
    arcs : pandas.DataFrame
        The `arcs_` of a learner.
    confidences : pandas.DataFrame, optional
        The result of `arc_confidence`.

    Returns
    -------
    pandas.DataFrame
        A copy with two additional columns: confidence of the arc in this direction, and
        edge_confidence of either direction; nan without `confidences`.

    Examples
    --------
    >>> import pandas as pd
    >>> arcs = pd.DataFrame({"from": ["a"], "to": ["b"], "task": ["t"]})
    >>> sure = pd.DataFrame({"task": ["t"], "parent": "a", "child": "b", "arc": 0.6, "edge": 0.9})
    >>> with_confidence(arcs, sure)
      from to task  confidence  edge_confidence
    0    a  b    t         0.6              0.9
    """
    if confidences is None:
        return arcs.assign(confidence=np.nan, edge_confidence=np.nan)
    names = (confidences[name].astype(str) for name in ("task", "parent", "child"))
    shares = zip(confidences["arc"], confidences["edge"], strict=True)
    known = dict(zip(zip(*names, strict=True), shares, strict=True))
    values = [known[arc] for arc in zip(arcs["task"], arcs["from"], arcs["to"], strict=True)]
    found = np.array(values, dtype=float).reshape(-1, 2)
    return arcs.assign(confidence=found[:, 0], edge_confidence=found[:, 1])


def sure_words(
    arcs, confidences, n_bootstrap=None, required=(), is_consensus=False, at_command_line=False
):
    """Describe how many learned arcs are well supported, with advice about the others.

    Parameters
    ----------
    arcs : pandas.DataFrame
        The `arcs_` of a learner.
    confidences : pandas.DataFrame
        The result of `arc_confidence`.
    n_bootstrap : int, optional
        Number of replicates, to check whether there are enough.
    required : collection of (task, from, to)
        Arcs that are in all replicates because they are required.
    is_consensus : bool, default=False
        Whether the arcs are those of the consensus.
    at_command_line : bool, default=False
        Whether to name options of commands instead of parameters.

    Returns
    -------
    str
        "" if there are no arcs.

    Examples
    --------
    >>> import pandas as pd
    >>> arcs = pd.DataFrame({"from": ["a"], "to": ["b"], "task": ["t"]})
    >>> sure = pd.DataFrame({"task": ["t"], "parent": "a", "child": "b", "arc": 0.6, "edge": 1.0})
    >>> print(*sure_words(arcs, sure).split("; "), sep=chr(10))
    1 of 1 arc is well supported (at least 95 % of the replicates join its two variables)
    none is doubtful (fewer than half do).
    """
    table = with_confidence(arcs, confidences)
    keys = zip(table["task"], table["from"], table["to"], strict=True)
    shares = table["edge_confidence"][[key not in required for key in keys]]
    if not len(shares):
        return ""
    if confidences.attrs.get("ended_by"):
        return "Replicates ended early, so the confidence of arcs is unknown; give more time."
    if n_bootstrap is not None and n_bootstrap < _FEWEST:
        return (
            f"{count(n_bootstrap, 'replicate')} cannot tell which arcs are well supported; learn "
            f"{_FEWEST} or more ({'`--bootstrap`' if at_command_line else '`n_bootstrap`'})."
        )
    n_sure, n_doubtful = int((shares >= _SURE).sum()), int((shares < 0.5).sum())
    by_task = ", counted in each task," if arcs["task"].nunique() > 1 else ""
    are, their = ("is", "its") if n_sure <= 1 else ("are", "their")
    text = (
        f"{n_sure or 'None'} of {count(len(shares), 'arc')}{by_task} {are} well supported (at "
        f"least {100 * _SURE:.0f} % of the replicates join {their} two variables); "
        f"{n_doubtful or 'none'} {'is' if n_doubtful <= 1 else 'are'} doubtful (fewer than half "
        "do)."
    )
    if n_sure == len(shares):
        return text
    fewer = " (`--ignore`)" if at_command_line else ""
    text += f" More rows or fewer variables{fewer} may settle more of them"
    if n_doubtful and not is_consensus:
        what = "`--threshold 0.5`" if at_command_line else "`bnmtl.confidence.consensus`"
        text += f"; {what} leaves the doubtful ones out"
    return f"{text}."
