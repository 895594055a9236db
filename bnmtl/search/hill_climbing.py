"""Hill climbing over the graphs of one task, with a tabu list of graphs and restarts."""

import numpy as np

from bnmtl._kernels import climbing, dags
from bnmtl._kernels.scoring import ASKED
from bnmtl.search.graph_state import new_dag


def hill_climb(state, scratch, budget):
    """Make the best change of one arc at a time until none improves the score.

    Parameters
    ----------
    state : GraphState
        Changed in place.
    scratch : scoring.Scratch
    budget : Budget
    """
    while not budget.spent(scratch.counters[ASKED]):
        pause = budget.pause(scratch)
        if climbing.climb(
            state.scores.engine.table, scratch.table, state.task.table, state.dag.table, pause
        ):
            return


def search(state, rng, budget, restarts=100, perturb=10, tabu=10, report=None):
    """Hill climbing with a tabu walk, then restarts from the best graph with random changes.

    A tabu walk continues from a local optimum with the best change even if the score decreases, but
    not to one of the last ``tabu`` graphs. It ends after ``tabu`` changes without a new best score,
    and a climb follows from the best graph seen.

    Parameters
    ----------
    state : GraphState
        Changed in place to the best graph found.
    rng : numpy.random.Generator
    budget : Budget
    restarts : int
        Number of climbs from random changes of the best graph so far.
    perturb : int
        Random legal changes of one arc each, per restart.
    tabu : int
        Length of the tabu list, and number of changes without improvement that end a tabu walk.
    report : callable (done, total, score), default=None
        Called after every climb.

    Returns
    -------
    float
        The score of the best graph.
    """
    n = state.scores.n_variables
    # Without a walk and restarts a climb needs no memory of graphs.
    best, spare = (new_dag(n), new_dag(n)) if tabu or restarts else (state.dag, state.dag)
    task, dag = state.task.table, state.dag.table
    marks = np.zeros(tabu, np.int64)
    random = np.array([rng.integers(1, 2**63)], np.uint64)
    with state.scores.scratch() as scratch:
        hill_climb(state, scratch, budget)
        climbing.tabu_walk(
            state.scores.engine.table, scratch.table, task, dag, best.table, marks, budget.limit
        )
        hill_climb(state, scratch, budget)
        dags.copy_dag(dag, best.table)
        for done in range(1, restarts + 1):
            if budget.spent(scratch.counters[ASKED]):
                break
            if report is not None:
                report(done, restarts + 1, float(dags.total_score(task, best.table)))
            climbing.restart(
                state.scores.engine.table,
                scratch.table,
                task,
                task,
                dag,
                best.table,
                spare.table,
                state.in_pairs,
                random,
                perturb,
                marks,
                budget.limit,
            )
            state.scores.keep_up(scratch)
        dags.copy_dag(best.table, dag)
    if report is not None:
        report(restarts + 1, restarts + 1, state.score)
    return state.score
