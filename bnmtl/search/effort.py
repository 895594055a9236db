"""The effort of searches, how they share processors and time, and what they remember."""

import math
import time
from dataclasses import dataclass, field, replace

from joblib import Parallel, delayed

from bnmtl.processes import ending_with_this, n_workers
from bnmtl.search.graph_state import Budget
from bnmtl.search.options import Exact, HillClimbing, Orders


class Memory:
    """Stored graphs of single tasks, by everything that they depend on.

    This includes the name, rows, score and structure prior of the task, the constraints and limits,
    the search with its options, the seed and the start graph, so one memory may be used for any
    number of learners and tables. Results of searches ended by a time limit are not stored.

    Examples
    --------
    >>> from bnmtl import IdenticalLearner, SingleTaskLearner, structures
    >>> from bnmtl.search import Memory
    >>> rows = [structures.load("asia").sample(200, random_state=seed) for seed in range(2)]
    >>> memory = Memory()
    >>> first = SingleTaskLearner(random_state=0).fit(rows, memory=memory)
    >>> len(memory)
    2
    >>> again = SingleTaskLearner(random_state=0).fit(rows, memory=memory)
    >>> again.families_["asked"] < first.families_["asked"]
    True
    """

    def __init__(self):
        self._found = {}

    def __len__(self):
        return len(self._found)

    def find(self, problem, start, effort):
        """The stored result of a search; None if there is none.

        Parameters
        ----------
        problem : TaskProblem
        start : bool array of shape (n, n)
        effort : Effort

        Returns
        -------
        bool array of shape (n, n) or None
        """
        return self._found.get(_key(problem, start, effort))

    def keep(self, problem, start, effort, matrix):
        """Store the result of a search; arguments as in `find`."""
        self._found[_key(problem, start, effort)] = matrix


def _key(problem, start, effort):
    search = type(effort.search).__name__, *sorted(effort.search.get_params().items())
    return problem.identity, start.tobytes(), search, effort.seed, effort.max_families


@dataclass
class Tally:
    """Counters of searches.

    Attributes
    ----------
    stopped : set of str
        Contains "max_families" or "time_limit" if that ended a search.
    bounds : list of BoundTasks
        The scores used.
    """

    stopped: set = field(default_factory=set)
    bounds: list = field(default_factory=list)

    def families(self):
        """Numbers of local scores: requested, found in the cache, and counted."""
        asked = sum(bound.asked for bound in self.bounds)
        counted = sum(bound.computed for bound in self.bounds)
        return {"asked": asked, "hits": asked - counted, "counted": counted}


@dataclass(frozen=True)
class Effort:
    """The effort of searches.

    Attributes
    ----------
    seed : int
    search : Orders, HillClimbing or Exact
    n_jobs : int or None
        As in joblib.
    max_families : int or None
        Maximum number of local scores requested by one search.
    deadline : float or None
        `time.time` at which the searches stop; this clock is the same on all machines of a cluster.
    tally : Tally
        Collects counters of the searches.
    memory : Memory or None
        Search results of single tasks to reuse and store.
    """

    seed: int
    search: Orders | HillClimbing | Exact = field(default_factory=Orders)
    n_jobs: int | None = None
    max_families: int | None = None
    deadline: float | None = None
    tally: Tally = field(default_factory=Tally)
    memory: Memory | None = None

    def budget(self):
        """The budget of one search."""
        return Budget(self.max_families, self.deadline, self.tally.stopped)

    def share(self, part):
        """The same effort with a share of the remaining time."""
        if self.deadline is None:
            return self
        now = time.time()
        return replace(self, deadline=now + part * max(0.0, self.deadline - now))

    @property
    def orders(self):
        """The options of a search over orders; the defaults if another search is used."""
        return self.search if isinstance(self.search, Orders) else Orders()

    def with_orders(self, **options):
        """The same effort with other options if it uses a search over orders."""
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
        """Whether no time is left."""
        over = self.deadline is not None and time.time() >= self.deadline
        if over:
            self.tally.stopped.add("time_limit")
        return over


def in_parallel(function, calls, effort):
    """Results of a function for several tuples of arguments, in order, as they come.

    Uses threads unless `joblib.parallel_config` sets another backend. In other processes the effort
    is a copy, so the reasons for ended searches are copied back.

    Parameters
    ----------
    function : callable
        Receives the arguments of a call and, as the last one, an effort with an equal share of the
        remaining time.
    calls : iterable of tuples
    effort : Effort

    Yields
    ------
    object
        The result of a call.
    """
    calls = list(calls)
    workers = n_workers(effort.n_jobs, len(calls))
    rounds = math.ceil(len(calls) / workers)

    def run(arguments, rounds_left):
        share = effort.share(1 / rounds_left)
        return function(*arguments, share), share.tally.stopped

    how = {"prefer": "threads", "return_as": "generator", **ending_with_this()}
    for result, stopped in Parallel(workers, **how)(
        delayed(run)(arguments, rounds - at // workers) for at, arguments in enumerate(calls)
    ):
        effort.tally.stopped.update(stopped)
        yield result
