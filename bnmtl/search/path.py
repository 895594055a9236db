"""Configurations along a grid of penalties, neighbors starting from each other's solutions."""

from dataclasses import replace

from bnmtl.search.effort import in_parallel
from bnmtl.search.multitask import FROM_NEIGHBOR, Solution

# Every so many penalties all starts are searched from; the others are reached from these.
SPACING = 3


def solve_path(search, priors, starts, effort, report=None):
    """A solution at every penalty of a grid.

    Some penalties are solved from all starts; then the greedy search goes from each solution to
    the next smaller penalty and back up again, and the better score is kept.

    Parameters
    ----------
    search : MultitaskSearch
    priors : list of priors
        By falling penalty.
    starts : dict name -> list of bool array
    effort : Effort
    report : callable (done), default=None
        Told how many penalties have a solution.

    Returns
    -------
    list of Solution
        "path" is the start of those that were reached from a neighbor.
    """
    n = len(priors)
    apart = {at for at, prior in enumerate(priors) if search.is_uncoupled(prior)}
    solved = sorted({*range(0, n, SPACING), n - 1, *apart})
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
        if at in apart or (solutions[at] is not None and effort.is_over()):
            continue
        is_first = solutions[at] is None
        followed = search.follow(priors[at], solutions[neighbor].matrices, effort)
        solutions[at] = _better(search, solutions[at], followed)
        if is_first and report is not None:
            report(n - solutions.count(None))
    return solutions


def greedy_path(search, priors, starts, effort):
    """A solution at every penalty of a grid by the greedy search alone.

    From tasks learned apart it goes up the grid, from all other starts down; at every penalty the
    best score is kept. Much less work than `solve_path`, and enough to compare penalties. Where
    time is over, penalties are left with the start.

    Parameters
    ----------
    search : MultitaskSearch
    priors : list of priors
        By falling penalty.
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
    """The solution of one penalty, searched from all starts if a neighbor's was all it had."""
    if solution.start != FROM_NEIGHBOR:
        return solution
    solved = search.solve(prior, starts, report, effort)
    best = _better(search, solved, solution)
    return replace(best, start_scores={**solved.start_scores, **solution.start_scores})


def _better(search, kept, other):
    """The solution with the better score, the first if they tie."""
    if kept is None or other.score > kept.score + search.tolerance:
        return other
    return kept
