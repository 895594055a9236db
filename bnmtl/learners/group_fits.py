"""Fits of one group of tasks for the search for groups: with coupled graphs, or with one graph."""

from dataclasses import replace

import numpy as np

from bnmtl.progress import Reporter
from bnmtl.search.couplings import Couplings
from bnmtl.search.group_value import GroupValue, OneGraphValue, acyclic
from bnmtl.search.one_graph import search_common, search_identical
from bnmtl.search.problem import JointProblem, NoCommonGraph
from bnmtl.search.shared_multitask import search_over
from bnmtl.search.task_groups import QUICK, quick_fits

_SILENT = Reporter(False)


class CoupledFits:
    """Fits of groups whose tasks have graphs of their own, coupled by a prior.

    Parameters
    ----------
    prior : PairedPrior, EditPrior or a custom coupling
    """

    value = GroupValue

    def __init__(self, prior):
        self._prior = prior

    def is_separate(self, problems, effort):
        """Whether nothing couples the tasks, so that each learns alone."""
        return search_over(problems, effort, _SILENT).is_uncoupled(self._prior)

    def check(self, problems):
        """Raise NoCommonGraph if the constraints of the tasks contradict the prior."""
        Couplings(self._prior, JointProblem(problems)).check_agreement()

    def quick(self, problems, graphs, effort):
        """Configurations found by quick fits, on the union index of the group.

        Parameters
        ----------
        problems : list of TaskProblem
        graphs : list of bool array of shape (n, n)
            One per task, on the union index of the group, near which to search.
        effort : Effort

        Returns
        -------
        list of lists of bool array of shape (n, n)

        Raises
        ------
        NoCommonGraph
            If the constraints of the tasks contradict the prior.
        """
        search = search_over(problems, replace(effort, search=QUICK), _SILENT)
        search.check(self._prior)
        return quick_fits(search, self._prior, graphs, Couplings)

    def full(self, problems, effort, report):
        """The result of a full search, and its configuration on the union index of the group.

        Raises
        ------
        NoCommonGraph
            If no configuration is possible under the prior.
        """
        search = search_over(problems, effort, report)
        solution = search.solve(self._prior, search.starts([self._prior]), report)
        if solution.score == -np.inf:
            raise NoCommonGraph("penalty", "of 1 requires that tasks agree, and these do not")
        return solution, search.joint.spread(solution.matrices)


class OneGraphFits:
    """Fits of groups whose tasks have one graph."""

    value = OneGraphValue

    def is_separate(self, problems, effort):
        """Whether nothing couples the tasks, which is so for a single one."""
        return len(problems) == 1

    def check(self, problems):
        """Raise NoCommonGraph if the constraints of the tasks contradict each other."""
        JointProblem(problems).common_constraints()

    def quick(self, problems, graphs, effort):
        """As in `CoupledFits.quick`; every task has the same graph, restricted to its pairs."""
        joint, effort = JointProblem(problems), replace(effort, search=QUICK)
        constraints = joint.common_constraints()
        starts = [None, *(acyclic(of(graphs, axis=0), constraints) for of in (np.any, np.all))]
        found = []
        for start in starts:
            graph = search_common(joint, start, effort, _SILENT, False)
            if joint.shares_tables:
                graph = search_common(joint, graph, effort, _SILENT, True)
            found.append(_of_tasks(joint, graph))
        return found

    def full(self, problems, effort, report):
        """As in `CoupledFits.full`; the result is that of `search_identical`."""
        joint = JointProblem(problems)
        found = search_identical(joint, None, effort, report)
        return found, _of_tasks(joint, found[0])


def _of_tasks(joint, graph):
    """One graph, restricted to the pairs of each task, on the union index."""
    return joint.spread([joint.restrict(s, graph) for s in range(len(joint.tasks))])
