"""Searches for one graph: of one task, of each task alone, or common to all tasks."""

from dataclasses import replace

import numpy as np

from bnmtl.search.effort import Memory, Tally, in_parallel
from bnmtl.search.graph_state import GraphState
from bnmtl.search.ties import Ties, break_ties, tolerance
from bnmtl.seeding import generator


def search_graph(state, effort, name, report):
    """Improve a graph with the search of an effort, and return it.

    Parameters
    ----------
    state : GraphState
        Changed in place.
    effort : Effort
    name : str
        Searches with different names use different random numbers.
    report : Reporter or None

    Returns
    -------
    bool array of shape (n, n)
    """
    rng, budget = generator(effort.seed, name), effort.budget()
    effort.search.improve(state, rng, budget, report)
    break_ties(state, effort.budget())
    return state.adjacency.copy()


def search_task(problem, matrix, report, effort):
    """The best graph of one task alone.

    Parameters
    ----------
    problem : TaskProblem
    matrix : bool array of shape (n, n)
        Start graph.
    report : Reporter
    effort : Effort

    Returns
    -------
    bool array of shape (n, n)
    """
    empty = np.zeros_like(matrix)
    ties = Ties(problem.variables, effort.seed, tolerance(problem.log_posterior(empty)))
    return search_graph(
        problem.state(matrix, ties), effort, problem.name, report.of("single-task", problem.name)
    )


def search_tasks(problems, matrices, effort, report):
    """`search_task` in parallel for every task that is not in the memory of the effort."""
    memory = Memory() if effort.memory is None else effort.memory
    calls = list(zip(problems, matrices, strict=True))
    found = [memory.find(*call, effort) for call in calls]
    new = [at for at, graph in enumerate(found) if graph is None]
    for at in new:
        name, variables = problems[at].name, problems[at].variables
        report("single-task", name, 0, effort.search.n_steps(len(variables)))
    searched = in_parallel(_search_separately, [(*calls[at], report) for at in new], effort)
    for at, (graph, is_cut_short) in zip(new, searched, strict=True):
        found[at] = graph
        if not is_cut_short:
            memory.keep(*calls[at], effort, graph)
    return found


def _search_separately(problem, matrix, report, effort):
    """The graph of one task, and whether the time limit ended its search."""
    separate = replace(effort, tally=Tally())
    graph = search_task(problem, matrix, report, separate)
    effort.tally.stopped.update(separate.tally.stopped)
    return graph, "time_limit" in separate.tally.stopped


def search_identical(joint, matrix, effort, report):
    """The best common graph for all tasks, over the union of their variables.

    If tasks may share tables, the search begins with the best graph for separate tables and has one
    start unless more are requested, because every family is counted in all tasks.

    Parameters
    ----------
    joint : JointProblem
    matrix : bool array of shape (n, n) or None
        Start graph; None is the graph of the required arcs.
    effort : Effort
    report : Reporter

    Returns
    -------
    matrix : bool array of shape (n, n)
    score : float
        Log posterior without its constant.
    task_scores : list of float
        The score of each task with separate tables; without shared tables they sum to ``score``.
    """
    shares = joint.shares_tables
    best = search_common(joint, matrix, effort.share(0.5) if shares else effort, report, False)
    if shares:
        best = search_common(joint, best, effort, report, True)
    return best, *score_identical(joint, best)


def score_identical(joint, matrix):
    """``score`` and ``task_scores`` of a single graph, as in `search_identical`."""
    scores, _, terms = joint.identical()
    graphs = [joint.restrict(s, matrix) for s in range(len(joint.tasks))]
    priors = [float(np.where(matrix, *share).sum()) for share in terms]
    pairs = zip(joint.tasks, graphs, priors, strict=True)
    task_scores = [task.scores.score(cut) + prior for task, cut, prior in pairs]
    total = scores.score(matrix) + sum(priors) if joint.shares_tables else sum(task_scores)
    return total, task_scores


def search_common(joint, matrix, effort, report, shares_tables):
    """The best common graph for all tasks; one start by default if tables are shared.

    Parameters
    ----------
    joint, matrix, effort, report
        As in `search_identical`.
    shares_tables : bool
        As in `JointProblem.scores`.

    Returns
    -------
    bool array of shape (n, n)
    """
    if shares_tables:
        effort = effort.with_orders(starts=effort.orders.starts or 1)
    scores, constraints, terms = joint.identical(shares_tables)
    present, absent = (sum(pair[side] for pair in terms) for side in (0, 1))
    if matrix is None:
        matrix = constraints.required
    ties = Ties(joint.variables, effort.seed, tolerance(scores.score(np.zeros_like(matrix))))
    state = GraphState(scores, constraints, ties, matrix, present - absent)
    return search_graph(state, effort, "identical", report.of("identical structure"))
