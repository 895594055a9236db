"""The search for the best configuration of tasks that may share tables."""

import contextlib
from functools import cached_property

from bnmtl.priors import PairedPrior
from bnmtl.search.couplings import Couplings
from bnmtl.search.multitask import MultitaskSearch
from bnmtl.search.one_graph import search_common, search_tasks
from bnmtl.search.orders import iterations_of
from bnmtl.search.problem import NoCommonGraph
from bnmtl.search.shared_configurations import SharedConfigurationSearch

# The start with the solution for separate tables.
SEPARATE_TABLES = "own tables"
# The search for the common start graph uses one in this number of iterations, because it begins
# with the best graph for separate tables. Nearly all fits have the same result as with all
# iterations, in two thirds of the time (benchmarks/search/first_graph.py).
ITERATIONS_FOR_ONE = 8


def search_over(problems, effort, report):
    """The search over configurations of some tasks.

    Parameters
    ----------
    problems : list of TaskProblem
    effort : Effort
    report : Reporter

    Returns
    -------
    MultitaskSearch
    """
    shares_tables = len(problems) > 1 and problems[0].scores.bound.shares_tables
    kind = SharedMultitaskSearch if shares_tables else MultitaskSearch
    return kind(problems, effort, report)


class SharedMultitaskSearch(MultitaskSearch):
    """`MultitaskSearch` for tasks that are scored together.

    It starts from the solution with separate tables and, unless the search is hill climbing without
    restarts, from one graph for all tasks.

    Parameters
    ----------
    problems, effort, report
        As in `MultitaskSearch`.
    """

    kind = SharedConfigurationSearch

    @cached_property
    def separate_tables(self):
        """The search with separate tables."""
        return MultitaskSearch(self.problems, self._effort, self._report)

    def is_uncoupled(self, prior):
        """Whether nothing couples the tasks: never, because tables do."""
        return False

    def single(self, effort=None):
        """Adjacency matrices of the tasks learned alone, with the effort of the first call."""
        return self.separate_tables.single(effort)

    def alone(self, effort):
        """See `MultitaskSearch.alone`; a task alone may have a different prior."""
        alone = [problem.by_itself() for problem in self.problems]
        if all(one is problem for one, problem in zip(alone, self.problems, strict=True)):
            return self.single(effort)
        required = [problem.constraints.required for problem in alone]
        return search_tasks(alone, required, effort, self._report)

    @cached_property
    def common(self):
        """The best single graph, indexed by the union of the variables."""
        effort = self._effort.share(0.5)
        iterations = iterations_of(len(self.joint.variables), effort.orders.iterations)
        iterations = max(min(1, iterations), iterations // ITERATIONS_FOR_ONE)
        effort = effort.with_orders(iterations=iterations)
        return search_common(self.joint, self.separate_tables.common, effort, self._report, True)

    def evidence(self, matrices):
        """Log evidence of all tasks' rows, given their graphs."""
        couplings = Couplings(PairedPrior(penalty=0), self.joint)
        return self._at(couplings, self.joint.spread(matrices)).evidence()

    def starts(self, priors, names=None):
        """See `MultitaskSearch.starts`; the defaults are those of the class description."""
        if names is not None:
            return super().starts(priors, names)
        made = {SEPARATE_TABLES: self.separate_tables.starts(priors)}
        if self._effort.is_light:
            return made
        with contextlib.suppress(NoCommonGraph):
            made["identical"] = self.identical
        return made

    def _from_start(self, couplings, name, matrices, is_only, report, effort):
        if name == SEPARATE_TABLES:
            matrices = self.separate_tables.solve(
                couplings.prior, matrices, report, effort.share(0.5)
            ).matrices
        return super()._from_start(couplings, name, matrices, is_only, report, effort)

    def _by_orders(self, couplings, graph, report, effort):
        return self.separate_tables._by_orders(couplings, graph, report, effort)
