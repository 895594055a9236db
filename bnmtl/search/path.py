"""Configurations along a grid of penalties; neighbors start from each other's solutions."""

from dataclasses import replace

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
