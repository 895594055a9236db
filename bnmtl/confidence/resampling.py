"""Graphs learned from resampled rows, one configuration after another."""

import time

import numpy as np

from bnmtl.learners.adapted import changed
from bnmtl.progress import Reporter
from bnmtl.search import HillClimbing
from bnmtl.search.effort import Effort, in_parallel
from bnmtl.seeding import generator, seed_of

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
        self._rows = {name: _rows_to_draw(task) for name, task in tasks.items()}
        # Replicates for which no time is left.
        self._required = learner.required_graphs(tasks) if time_limit is not None else {}
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
            fitted.limits = self._learner.used_limits().replaced(time_limit=seconds)
        # The rows of a task do not depend on the other tasks.
        drawn = {
            name: self._draw(rows, generator(self._seed, "bootstrap", number, name))
            for name, rows in self._rows.items()
        }
        silent = Reporter(False), effort.tally.stopped
        drawn = self._tasks.take(drawn)
        return fitted.fit_rows(drawn, self._tasks, *silent).configuration_


def bootstrap(rows, rng):
    """As many rows as there are, drawn with repetition."""
    return rows[rng.integers(len(rows), size=len(rows))]


def share_of(share):
    """A function that draws a share of the rows, at least two, without repetition."""

    def draw(rows, rng):
        return rows[rng.permutation(len(rows))[: max(2, round(share * len(rows)))]]

    return draw


def lighter(learner):
    """The learner with the search of light replicates."""
    # Orders are a start only if the search is over orders.
    start = None if isinstance(learner.start, str) and learner.start == "orders" else learner.start
    return changed(learner, search=_LIGHT, start=start)


def _rows_to_draw(task):
    """The first row of each group of copies, in an order independent of the given one."""
    order, sizes = task.originals
    return order[np.cumsum(sizes) - sizes]
