"""How hard searches try, and how many of them share processors and the time that is left."""

import math
import time
from dataclasses import dataclass, field, replace

from joblib import Parallel, delayed, effective_n_jobs

from bnmtl.search.budget import Budget
from bnmtl.search.memory import Memory
from bnmtl.search.options import Exact, HillClimbing, Orders


@dataclass
class Tally:
    """What has come of searches.

    Attributes
    ----------
    stopped : set of str
        "max_families" and "time_limit", where that ended one.
    bounds : list of BoundTasks
        The scores that were used.
    """

    stopped: set = field(default_factory=set)
    bounds: list = field(default_factory=list)

    def families(self):
        """How many local scores were asked for, were in the cache and had to be counted."""
        asked = sum(bound.asked for bound in self.bounds)
        counted = sum(bound.computed for bound in self.bounds)
        return {"asked": asked, "hits": asked - counted, "counted": counted}


@dataclass(frozen=True)
class Effort:
    """How hard searches try.

    Attributes
    ----------
    seed : int
    search : Orders, HillClimbing or Exact
    n_jobs : int or None
        As in joblib.
    max_families : int or None
        Most local scores that one search may ask for.
    deadline : float or None
        `time.time` at which the searches of this effort stop; that clock means the same on all
        machines of a cluster.
    tally : Tally
        Where they note what has come of them.
    memory : Memory or None
        Where searches for single tasks look first and keep what they find.
    """

    seed: int
    search: Orders | HillClimbing | Exact = field(default_factory=Orders)
    n_jobs: int | None = None
    max_families: int | None = None
    deadline: float | None = None
    tally: Tally = field(default_factory=Tally)
    memory: Memory | None = None

    def budget(self):
        """What one search may spend."""
        return Budget(self.max_families, self.deadline, self.tally.stopped)

    def share(self, part):
        """The same effort with that part of the time that is left."""
        if self.deadline is None:
            return self
        now = time.time()
        return replace(self, deadline=now + part * max(0.0, self.deadline - now))

    @property
    def orders(self):
        """The options of a search over orders, the default ones where another search is made."""
        return self.search if isinstance(self.search, Orders) else Orders()

    def with_orders(self, **options):
        """The same effort with other options of a search over orders, if it makes one."""
        if not isinstance(self.search, Orders):
            return self
        return replace(self, search=self.search.replaced(**options))

    @property
    def is_light(self):
        """Whether a search climbs without restarts, as in light replicates."""
        return self.climbs and self.search.restarts == 0

    @property
    def climbs(self):
        """Whether a search changes one arc at a time."""
        return isinstance(self.search, HillClimbing)

    def is_over(self):
        """Whether no time is left for what is still to do."""
        over = self.deadline is not None and time.time() >= self.deadline
        if over:
            self.tally.stopped.add("time_limit")
        return over


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
        return function(*arguments, own), own.tally.stopped

    for result, stopped in Parallel(n_jobs=effort.n_jobs, prefer="threads", return_as="generator")(
        delayed(run)(arguments, rounds - at // workers) for at, arguments in enumerate(calls)
    ):
        effort.tally.stopped.update(stopped)
        yield result
