"""How sparse graphs should be, chosen by folds from a grid: the rival of a fixed default."""

from dataclasses import replace

import numpy as np

from benchmarks.defaults.ways import expecting
from bnmtl import MultitaskLearner
from bnmtl.learners import compare
from bnmtl.learners.folds import penalty_scores
from bnmtl.learners.penalty import best_penalty

# Expected parents of a variable, the fewest first; 0 is the graph without arcs, None is uniform.
GRID = (0, 0.01, 0.03, 0.1, 0.3, 1.0, None)


def chosen_parents(tasks, score, prior, random_state):
    """The number of expected parents that predicts held-out rows best, together and alone.

    Parameters
    ----------
    tasks : Tasks
    score : Score
    prior : PairedPrior
        With the penalty at which tasks are learned together.
    random_state : int

    Returns
    -------
    dict {"together", "alone"} -> one of `GRID`
        Of equally good ones the smallest.
    """
    by_sparsity = []
    for n_parents in GRID[1:]:
        sparsity = expecting(tasks, n_parents)
        learner = MultitaskLearner(
            prior,
            score=score,
            structure_prior=sparsity,
            table_sharing=None,
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
    """Folds in which sparsity is chosen with the penalty, made from those of each sparsity.

    Parameters
    ----------
    by_sparsity : list of (penalties, list of Fold)
        The sparsest first, without no arcs at all; penalties from the largest.

    Returns
    -------
    penalties : list of float
        Of all pairs of a sparsity and a penalty; no arcs, which are the same at all, come first.
    folds : list of Fold
        Each with these pairs in the place of penalties; tasks alone have the sparsity that the
        other folds choose for them. No arcs have no posterior: they are taken by folds only.
    """
    penalties = [1.0, *(penalty for own, _ in by_sparsity for penalty in own)]
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
    """Held-out rows of a fold, each task alone, with the sparsity that the other folds choose."""
    by_sparsity = [
        replace(group[0], together=np.array([group[0].empty, *(one.alone for one in group)]))
        for group in groups
    ]
    scores = np.delete(penalty_scores(by_sparsity), at, axis=1)
    return by_sparsity[at].together[best_penalty(scores.mean(axis=1))]
