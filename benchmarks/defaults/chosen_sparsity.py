"""Sparsity chosen from a grid by folds, as an alternative to a fixed default."""

from dataclasses import replace

import numpy as np

from benchmarks.defaults.ways import expecting
from bnmtl import MultitaskLearner
from bnmtl.learners import compare
from bnmtl.learners.held_out import penalty_scores
from bnmtl.learners.validated import best_penalty

# Expected parents of a variable, in ascending order; 0: no arcs, None: uniform prior.
GRID = (0, 0.01, 0.03, 0.1, 0.3, 1.0, None)


def chosen_parents(tasks, score, prior, random_state):
    """The expected number of parents that predicts held-out rows best, together and alone.

    Parameters
    ----------
    tasks : Tasks
    score : Score
    prior : PairedPrior
        Its penalty is used to learn the tasks together.
    random_state : int

    Returns
    -------
    dict {"together", "alone"} -> one of `GRID`
        The smallest if several are equally good.
    """
    by_sparsity = []
    for n_parents in GRID[1:]:
        sparsity = expecting(tasks, n_parents)
        learner = MultitaskLearner(
            prior,
            score=score,
            structure_prior=sparsity,
            table_sharing=None,
            task_groups=None,
            random_state=random_state,
        )
        rows = compare(learner, tasks)[["task", "empty", "alone", "together"]]
        by_sparsity.append(rows.groupby("task", observed=True).mean().mean())
    empty = by_sparsity[0]["empty"]
    return {
        how: GRID[best_penalty([empty, *(means[how] for means in by_sparsity)])]
        for how in ("together", "alone")
    }


def side_by_side(by_sparsity):
    """Combine the folds of several sparsities, to choose sparsity together with the penalty.

    Parameters
    ----------
    by_sparsity : list of (penalties, list of Fold)
        In order of decreasing sparsity, without the graph that has no arcs; penalties in
        descending order.

    Returns
    -------
    penalties : list of float
        One for each pair of a sparsity and a penalty, after one for the graph without arcs, which
        does not depend on the penalty.
    folds : list of Fold
        Each has these pairs instead of penalties; tasks alone have the sparsity that the other
        folds choose for them. The graph without arcs has a log posterior of -inf, so only folds
        can choose it.
    """
    penalties = [1.0, *(penalty for grid, _ in by_sparsity for penalty in grid)]
    groups = list(zip(*(folds for _, folds in by_sparsity), strict=True))
    found = [
        replace(
            group[0],
            together=np.concatenate([group[0].empty[None], *(one.together for one in group)]),
            alone=_alone(groups, at),
            log_posterior=np.concatenate([[-np.inf], *(one.log_posterior for one in group)]),
        )
        for at, group in enumerate(groups)
    ]
    return penalties, found


def _alone(groups, at):
    """Log-likelihoods of a fold, each task alone, with the sparsity chosen on the other folds."""
    by_sparsity = [
        replace(group[0], together=np.array([group[0].empty, *(one.alone for one in group)]))
        for group in groups
    ]
    scores = np.delete(penalty_scores(by_sparsity), at, axis=1)
    return by_sparsity[at].together[best_penalty(scores.mean(axis=1))]
