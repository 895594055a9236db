"""Searches over the configurations of groups of tasks, at one penalty or along a grid."""

from dataclasses import dataclass, replace

from bnmtl.search.effort import in_parallel
from bnmtl.search.multitask import FROM_NEIGHBOR, Solution

# All starts are used for one in this number of penalties; the others start from these.
SPACING = 3


def solve_path(search, priors, starts, effort, report=None):
    """A solution at every penalty of a grid.

    Some penalties are solved from all starts. Then the greedy search continues from each solution
    to the next smaller penalty and back up again, and the better score is kept.

    Parameters
    ----------
    search : MultitaskSearch
    priors : list of priors
        Sorted by decreasing penalty.
    starts : dict name -> list of bool array
    effort : Effort
    report : callable (done), default=None
        Called with the number of penalties that have a solution.

    Returns
    -------
    list of Solution
        The start of a solution found from a neighbor is "path".
    """
    n = len(priors)
    uncoupled = {at for at, prior in enumerate(priors) if search.is_uncoupled(prior)}
    solved = sorted({*range(0, n, SPACING), n - 1, *uncoupled})
    solutions = [None] * n
    calls = ((priors[at], starts, None) for at in solved)
    found = in_parallel(search.solve, calls, effort.share(0.8))
    for done, (at, solution) in enumerate(zip(solved, found, strict=True), start=1):
        solutions[at] = solution
        if report is not None:
            report(done)
    down = [(at, at - 1) for at in range(1, n)]
    up = [(at, at + 1) for at in reversed(range(n - 1))]
    for at, neighbor in (*down, *up):
        if at in uncoupled or (solutions[at] is not None and effort.is_over()):
            continue
        is_first = solutions[at] is None
        followed = search.follow(priors[at], solutions[neighbor].matrices, effort)
        solutions[at] = _better(search, solutions[at], followed)
        if is_first and report is not None:
            report(n - solutions.count(None))
    return solutions


def greedy_path(search, priors, starts, effort):
    """A solution at every penalty of a grid by the greedy search alone.

    It goes up the grid from the tasks learned alone and down from all other starts; at every
    penalty the best score is kept. This is much less work than `solve_path`, and enough to compare
    penalties. If time is over, the remaining penalties keep the start.

    Parameters
    ----------
    search : MultitaskSearch
    priors : list of priors
        Sorted by decreasing penalty.
    starts : dict name -> list of bool array
    effort : Effort

    Returns
    -------
    list of Solution
    """
    alone = {at for at, prior in enumerate(priors) if search.is_uncoupled(prior)}
    solutions = [search.uncoupled(effort) if at in alone else None for at in range(len(priors))]
    coupled = [at for at, solution in enumerate(solutions) if solution is None]
    for name, matrices in starts.items():
        for at in reversed(coupled) if name == "single-task" else coupled:
            if effort.is_over():
                break
            followed = search.follow(priors[at], matrices, effort)
            solutions[at] = _better(search, solutions[at], followed)
            matrices = followed.matrices
    first = next(iter(starts.values()), None)
    return [
        Solution(first, 0.0, [], FROM_NEIGHBOR, {}) if solution is None else solution
        for solution in solutions
    ]


def complete(search, prior, solution, starts, report, effort):
    """The solution of one penalty, searched from all starts if it came only from a neighbor."""
    if solution.start != FROM_NEIGHBOR:
        return solution
    solved = search.solve(prior, starts, report, effort)
    best = _better(search, solved, solution)
    return replace(best, start_scores={**solved.start_scores, **solution.start_scores})


def _better(search, kept, other):
    """The solution with the better score; the first in a tie."""
    if kept is None or other.score > kept.score + search.tolerance:
        return other
    return kept


def joined(members, solutions):
    """The solution of all tasks from those of their groups.

    Parameters
    ----------
    members : list of lists of int
        Indices of the tasks in each group.
    solutions : sequence of Solution
        One per group.

    Returns
    -------
    Solution
        The solution of one group itself; of several, without the names of starts.
    """
    if len(members) == 1:
        return solutions[0]
    matrices, task_scores = {}, {}
    for group, solution in zip(members, solutions, strict=True):
        matrices.update(zip(group, solution.matrices, strict=True))
        task_scores.update(zip(group, solution.task_scores or [0.0] * len(group), strict=True))
    at = sorted(matrices)
    score = sum(solution.score for solution in solutions)
    return Solution([matrices[s] for s in at], score, [task_scores[s] for s in at], None, {})


@dataclass(frozen=True)
class GroupedSearch:
    """Searches over the configurations of groups of tasks that learn from each other.

    Attributes
    ----------
    members : list of lists of int
        Indices of the tasks in each group.
    searches : list of MultitaskSearch
        One per group.
    """

    members: list
    searches: list

    @property
    def problems(self):
        """The problems of the tasks of each group, list of lists of TaskProblem."""
        return [search.problems for search in self.searches]

    def of_groups(self, matrices):
        """Start matrices of all tasks by name, divided among the groups."""
        return [
            {name: [graphs[s] for s in group] for name, graphs in matrices.items()}
            for group in self.members
        ]

    def starts(self, priors, names=None):
        """Start matrices of each group; see `MultitaskSearch.starts`."""
        return [search.starts(priors, names) for search in self.searches]

    def within(self, matrices):
        """Given starts of all tasks, for each group; see `MultitaskSearch.within`."""
        pairs = zip(self.searches, self.of_groups(matrices), strict=True)
        return [search.within(starts) for search, starts in pairs]

    def check_orders(self, prior):
        """See `MultitaskSearch.check_orders`."""
        for search in self.searches:
            search.check_orders(prior)

    def alone(self, effort):
        """Adjacency matrices of each task without the others."""
        graphs = {}
        for group, search, share in self._with_shares(effort):
            graphs.update(zip(group, search.alone(share), strict=True))
        return [graphs[s] for s in sorted(graphs)]

    def solve_path(self, priors, starts, effort, report):
        """The solutions of all groups at every penalty, as `solve_path` finds them.

        Parameters
        ----------
        priors : list of priors
            Sorted by decreasing penalty.
        starts : list of dict name -> list of bool array
            For each group.
        effort : Effort
        report : callable (done)
            Called with the number of solutions of groups.

        Returns
        -------
        list of tuples of Solution
            By penalty; a solution per group.
        """
        paths = []
        for at, (_, search, share) in enumerate(self._with_shares(effort)):
            done = _after(at * len(priors), report)
            paths.append(solve_path(search, priors, starts[at], share, done))
        return list(zip(*paths, strict=True))

    def greedy_path(self, priors, starts, effort):
        """The solutions of all groups at every penalty, as `greedy_path` finds them."""
        paths = [
            greedy_path(search, priors, starts[at], share)
            for at, (_, search, share) in enumerate(self._with_shares(effort))
        ]
        return list(zip(*paths, strict=True))

    def complete(self, prior, solutions, starts, report, effort):
        """The solutions of one penalty, searched from all starts as `complete` does."""
        return [
            complete(search, prior, solutions[at], starts[at], report, share)
            for at, (_, search, share) in enumerate(self._with_shares(effort))
        ]

    def scored(self, prior, solutions, learned):
        """Solutions found on other rows, scored on these; see `MultitaskSearch.scored`."""
        parts = zip(self.searches, solutions, learned, strict=True)
        return [search.scored(prior, *part) for search, *part in parts]

    def posterior(self, log_posterior, prior, solutions):
        """The sum over the groups of ``log_posterior(search, prior, solution)``."""
        pairs = zip(self.searches, solutions, strict=True)
        return sum(log_posterior(search, prior, solution) for search, solution in pairs)

    def _with_shares(self, effort):
        """The members and the search of each group, and an equal share of the remaining time."""
        for at, (group, search) in enumerate(zip(self.members, self.searches, strict=True)):
            yield group, search, effort.share(1 / (len(self.members) - at))


def _after(before, report):
    return lambda done: report(before + done)
