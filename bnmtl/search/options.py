"""Options of learners: the search for one graph, and limits of searches."""

from sklearn.base import BaseEstimator

from bnmtl.errors import MOST_REPEATS, InputTypeError, check_choice, check_number, check_whole
from bnmtl.search import exact, hill_climbing, orders
from bnmtl.wording import one_of


class _Options(BaseEstimator):
    """Parameters given by keyword and compared by value."""

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return self.get_params(deep=False) == other.get_params(deep=False)

    __hash__ = None

    def replaced(self, **parameters):
        """A copy with some options changed."""
        return type(self)(**{**self.get_params(deep=False), **parameters})


class Orders(_Options):
    """Iterated search over orders of the variables, the default of all learners.

    Parameters
    ----------
    starts : int, default=None
        Number of starts. The first is the result of a climb; the others are climbs from random
        changes of it. Orders shared by tasks are random after the first. None is 5 for up to 100
        variables, fewer for more, and 1 from 251 on.
    iterations : int, default=None
        Number of iterations without a better score that end a start. None is 40 for up to 200
        variables and fewer for more.
    perturb : int, default=10
        Number of random changes, of one arc each, after an iteration without improvement.
    tabu : int, default=10
        Length of the tabu list of a walk from a local optimum, and number of steps without
        improvement that end it, at most 10,000; 0 disables the walk.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, Orders
    >>> learner = MultitaskLearner(search=Orders(starts=10))
    >>> learner.set_params(search__iterations=100).search
    Orders(iterations=100, starts=10)
    """

    def __init__(self, *, starts=None, iterations=None, perturb=10, tabu=10):
        self.starts = starts
        self.iterations = iterations
        self.perturb = perturb
        self.tabu = tabu

    def check(self):
        """Raise InputTypeError or InputError for options out of range."""
        check_whole("starts", self.starts, 1, MOST_REPEATS, optional=True)
        check_whole("iterations", self.iterations, 0, MOST_REPEATS, optional=True)
        _check_walk(self)

    def improve(self, state, rng, budget, report=None):
        """Improve the graph of a `GraphState` in place."""
        given = self.starts, self.iterations, self.perturb, self.tabu
        options = (None if number is None else int(number) for number in given)
        orders.search(state, rng, budget, *options, report)

    def n_steps(self, n_variables):
        """Number of reported steps of one search over so many variables."""
        return orders.starts_of(n_variables, None if self.starts is None else int(self.starts))


class HillClimbing(_Options):
    """Hill climbing over one arc at a time, with a tabu walk and restarts.

    Parameters
    ----------
    restarts : int, default=100
        Number of climbs from random changes of the best graph so far, at most 10,000.
    perturb : int, default=10
        Number of random changes per restart, of one arc each.
    tabu : int, default=10
        As in `Orders`.

    Examples
    --------
    >>> from bnmtl import HillClimbing, SingleTaskLearner
    >>> SingleTaskLearner(search=HillClimbing(restarts=10))
    SingleTaskLearner(search=HillClimbing(restarts=10))
    """

    def __init__(self, *, restarts=100, perturb=10, tabu=10):
        self.restarts = restarts
        self.perturb = perturb
        self.tabu = tabu

    def check(self):
        """Raise InputTypeError or InputError for options out of range."""
        check_whole("restarts", self.restarts, 0, MOST_REPEATS)
        _check_walk(self)

    def improve(self, state, rng, budget, report=None):
        """Improve the graph of a `GraphState` in place."""
        # Of numpy's kinds of whole numbers each would have kernels compiled for it.
        options = map(int, (self.restarts, self.perturb, self.tabu))
        hill_climbing.search(state, rng, budget, *options, report)

    def n_steps(self, n_variables):
        """Number of reported steps of one search."""
        return int(self.restarts) + 1


class Exact(_Options):
    """Search over all graphs of up to 20 variables.

    Examples
    --------
    >>> from bnmtl import Exact, SingleTaskLearner
    >>> SingleTaskLearner(search=Exact())
    SingleTaskLearner(search=Exact())
    """

    def check(self):
        """Do nothing, because there are no options."""

    def improve(self, state, rng, budget, report=None):
        """Replace the graph of a `GraphState` by the best one."""
        exact.search(state, budget, report)

    def n_steps(self, n_variables):
        """None, because the number of steps is not known in advance."""


class Limits(_Options):
    """Limits of searches: cells of a table, families, seconds, memory.

    Parameters
    ----------
    max_cells : int, default=None
        Families with more cells in their table are excluded, with a warning that names one. None
        allows ten cells per row, and at least 1000, without a warning: rows of the task, or of all
        tasks that learn from each other if they share tables.
    max_families : int, default=None
        Maximum number of local scores requested by each search, including cached ones. A search
        ended by it returns its best graph so far, with a warning, and is still reproducible.
    time_limit : float, default=None
        Seconds after which all searches end with their best graphs so far and a warning. Each
        search for a start gets half of the remaining time; tasks and penalties get equal shares.
        The result depends on the machine.
    cache_size : float, default=200
        Maximum memory for local scores, in megabytes.

    Examples
    --------
    >>> from bnmtl import SingleTaskLearner
    >>> from bnmtl.search import Limits
    >>> SingleTaskLearner(limits=Limits(time_limit=60))
    SingleTaskLearner(limits=Limits(time_limit=60))
    """

    def __init__(self, *, max_cells=None, max_families=None, time_limit=None, cache_size=200):
        self.max_cells = max_cells
        self.max_families = max_families
        self.time_limit = time_limit
        self.cache_size = cache_size

    def check(self):
        """Raise InputTypeError or InputError for limits out of range."""
        check_whole("max_cells", self.max_cells, 1, optional=True)
        check_whole("max_families", self.max_families, 1, optional=True)
        check_number("time_limit", self.time_limit, least=0, optional=True)
        check_number("cache_size", self.cache_size, least=0)


# The searches by the names that learners accept.
SEARCHES = {"orders": Orders, "hill-climbing": HillClimbing, "exact": Exact}


def search_of(search):
    """The search of a learner: one of `SEARCHES`, by name or with options.

    Raises
    ------
    InputTypeError, InputError
        For other values, and for options out of range.
    """
    if isinstance(search, str):
        check_choice("search", search, SEARCHES)
        return SEARCHES[search]()
    if not isinstance(search, tuple(SEARCHES.values())):
        message = f"must be {one_of(SEARCHES)}, or one of them with its options, got {search!r}"
        raise InputTypeError(message, argument="search", remedy="for example `Orders(starts=10)`")
    search.check()
    return search


def _check_walk(search):
    check_whole("perturb", search.perturb, 1, MOST_REPEATS)
    check_whole("tabu", search.tabu, 0, MOST_REPEATS)
