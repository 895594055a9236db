"""What learners take to say how one graph is searched, and within which limits."""

from sklearn.base import BaseEstimator

from bnmtl.errors import InputTypeError, check_choice, check_number, check_whole
from bnmtl.search import exact, hill_climbing, orders


class _Options(BaseEstimator):
    """Parameters that are given by keyword and compared by value."""

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return self.get_params(deep=False) == other.get_params(deep=False)

    __hash__ = None

    def replaced(self, **parameters):
        """The same options with some changed."""
        return type(self)(**{**self.get_params(deep=False), **parameters})


class Orders(_Options):
    """Iterated search over orders of the variables, the default of all learners.

    Parameters
    ----------
    starts : int, default=None
        Graphs to start from, the first being climbed to, the others from random changes of it.
        Orders that tasks share are random after the first. None is 5 for up to 100 variables, fewer
        for more, and 1 from 251 on.
    iterations : int, default=None
        Iterations without a better score that end a start. None is 40 for up to 200 variables and
        fewer for more.
    perturb : int, default=10
        Random changes of one arc each, where an iteration finds nothing better.
    tabu : int, default=10
        Graphs that a walk on from a local optimum may not return to, and steps without improvement
        that end it; 0 leaves the walk out.

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
        check_whole("starts", self.starts, 1, optional=True)
        check_whole("iterations", self.iterations, 0, optional=True)
        _check_walk(self)

    def improve(self, state, rng, budget, report=None):
        """Improve the graph of a `GraphState` in place."""
        options = self.starts, self.iterations, self.perturb, self.tabu
        orders.search(state, rng, budget, *options, report)

    def n_steps(self, n_variables):
        """Steps of one search over so many variables that are reported."""
        return orders.starts_of(n_variables, self.starts)


class HillClimbing(_Options):
    """Hill climbing by one arc at a time, with a tabu walk and restarts.

    Parameters
    ----------
    restarts : int, default=100
        Climbs from the best graph so far after random changes.
    perturb : int, default=10
        Random changes of one arc each, per restart.
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
        check_whole("restarts", self.restarts, 0)
        _check_walk(self)

    def improve(self, state, rng, budget, report=None):
        """Improve the graph of a `GraphState` in place."""
        hill_climbing.search(state, rng, budget, self.restarts, self.perturb, self.tabu, report)

    def n_steps(self, n_variables):
        """Steps of one search that are reported."""
        return self.restarts + 1


class Exact(_Options):
    """Search over all graphs of up to 20 variables.

    Examples
    --------
    >>> from bnmtl import Exact, SingleTaskLearner
    >>> SingleTaskLearner(search=Exact())
    SingleTaskLearner(search=Exact())
    """

    def check(self):
        """There is nothing to set."""

    def improve(self, state, rng, budget, report=None):
        """Replace the graph of a `GraphState` by the best one."""
        exact.search(state, budget, report)

    def n_steps(self, n_variables):
        """None: how many steps there are shows in the course of the search."""


class Limits(_Options):
    """What searches may use: cells of a table, families, seconds, memory.

    Parameters
    ----------
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


# What the words that learners take stand for.
SEARCHES = {"orders": Orders, "hill-climbing": HillClimbing, "exact": Exact}


def search_of(search):
    """The search that a learner is given: one of `SEARCHES` by its name, or with its options.

    Raises
    ------
    InputTypeError, InputError
        For anything else, and for options out of range.
    """
    if isinstance(search, str):
        check_choice("search", search, SEARCHES)
        return SEARCHES[search]()
    if not isinstance(search, tuple(SEARCHES.values())):
        rule = "must be {searches:or}, or one of them with its options"
        remedy = "for example `Orders(starts=10)`"
        raise InputTypeError("search", rule, search, remedies=remedy, searches=list(SEARCHES))
    search.check()
    return search


def _check_walk(search):
    check_whole("perturb", search.perturb, 1)
    check_whole("tabu", search.tabu, 0)
