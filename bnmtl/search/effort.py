"""How hard searches try, and how many of them share processors and the time that is left."""

import math
import time
from dataclasses import dataclass, field, replace

from joblib import Parallel, delayed, effective_n_jobs

from bnmtl.search.budget import Budget
from bnmtl.search.orders import starts_of

SEARCHES = ("orders", "hill-climbing", "exact")


@dataclass(frozen=True)
class Effort:
    """How hard the searches over graphs try, and what has come of it.

    Attributes
    ----------
    seed : int
    search : str
        One of `SEARCHES`.
    n_starts, iterations : int or None
        As in `orders.search`.
    restarts, perturb, tabu : int
        As in `hill_climbing.search`.
    n_jobs : int or None
        As in joblib.
    max_families : int or None
        Most local scores that one search may ask for.
    deadline : float or None
        `time.time` at which the searches of this effort stop; that clock means the same on all
        machines of a cluster.
    stopped : set of str
        Which of the two ended a search.
    bounds : list of BoundTasks
        The scores that were used.
    known : dict or None
        Where `search_tasks` keeps what it has found, for other searches on the same rows
        under the same prior.
    """

    seed: int
    search: str = "orders"
    n_starts: int | None = None
    iterations: int | None = None
    restarts: int = 100
    perturb: int = 10
    tabu: int = 10
    n_jobs: int | None = None
    max_families: int | None = None
    deadline: float | None = None
    stopped: set = field(default_factory=set)
    bounds: list = field(default_factory=list)
    known: dict | None = None

    def budget(self):
        """What one search may spend."""
        return Budget(self.max_families, self.deadline, self.stopped)

    def share(self, part):
        """The same effort with that part of the time that is left."""
        if self.deadline is None:
            return self
        now = time.time()
        return replace(self, deadline=now + part * max(0.0, self.deadline - now))

    @property
    def is_light(self):
        """Whether a search climbs without restarts, as in light replicates."""
        return self.search == "hill-climbing" and self.restarts == 0

    def is_over(self):
        """Whether no time is left for what is still to do."""
        over = self.deadline is not None and time.time() >= self.deadline
        if over:
            self.stopped.add("time_limit")
        return over

    def n_steps(self, n_variables):
        """Steps of one search over so many variables that are reported."""
        n_starts = starts_of(n_variables, self.n_starts)
        return {"orders": n_starts, "hill-climbing": self.restarts + 1}.get(self.search)

    def families(self):
        """How many local scores were asked for, were in the cache and had to be counted."""
        asked = sum(bound.asked for bound in self.bounds)
        counted = sum(bound.computed for bound in self.bounds)
        return {"asked": asked, "hits": asked - counted, "counted": counted}


def in_parallel(function, calls, effort):
    """Results of a function for several tuples of arguments, in order, as they come.

    Threads, unless `joblib.parallel_config` asks for something else: in other processes the
    effort is a copy, so what has ended a search there is brought back.

    Parameters
    ----------
    function : callable
        Gets the arguments of a call and, as its last one, an effort with the call's share of the
        time left: equal ones, where one takes all of its own.
    calls : iterable of tuples
    effort : Effort

    Yields
    ------
    object
        What the function returns.
    """
    calls = list(calls)
    workers = effective_n_jobs(effort.n_jobs)
    rounds = math.ceil(len(calls) / workers)

    def run(arguments, rounds_left):
        own = effort.share(1 / rounds_left)
        return function(*arguments, own), own.stopped

    for result, stopped in Parallel(n_jobs=effort.n_jobs, prefer="threads", return_as="generator")(
        delayed(run)(arguments, rounds - at // workers) for at, arguments in enumerate(calls)
    ):
        effort.stopped.update(stopped)
        yield result
