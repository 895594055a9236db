"""Which case of which task to label next: committees of networks learned together."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from bnmtl.active.multitask_committee import MultitaskCommittee, read_tasks
from bnmtl.active.picking import by_pick, pick
from bnmtl.active.pool import check_batch_size, rows_to_pick
from bnmtl.active.utilities import jensen_shannon
from bnmtl.errors import InputError, InputTypeError
from bnmtl.seeding import generator, seed_of
from bnmtl.wording import type_of


class MultitaskQuery(BaseEstimator):
    """Ask for the cases on which networks learned together from bootstraps disagree most.

    Each member of the committee learns the networks of all tasks together, from a bootstrap of the
    labeled cases of each task. The utility of a case is the Jensen-Shannon divergence of the
    members' predictions for its task, divided by its cost.

    On the bird counts of our study, networks learned together predicted better than networks of
    each region, but the sites that they asked for were not better beyond chance than random ones
    (`python -m benchmarks.decorate.visits`).

    Parameters
    ----------
    estimator : MultitaskBayesNetClassifier, default=None
        It learns the networks; its ``task_column`` is not used. None has the default learner with
        ``search=HillClimbing(restarts=0)``, because members differ by their bootstraps anyway.
    n_members : int, default=15
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    draws : bool, default=True
        Whether cases are drawn in proportion to their utilities. False takes those with the
        largest, which are much alike: from ten of them at a time, networks of bird regions learned
        less on average than from random ones (`python -m benchmarks.decorate.visits`).
    n_jobs : int, default=None
        Number of processes, as in joblib; None is 1. It does not affect the result.
    progress : False, True or callable, default=False
        True shows a bar; a callable receives each `bnmtl.progress.ProgressEvent`.

    Examples
    --------
    >>> from bnmtl import structures
    >>> asia = structures.load("asia")
    >>> cases = asia.sample(120, random_state=0)
    >>> region = ["north", "south"] * 60
    >>> y = cases.pop("bronc").where([at < 100 for at in range(120)])
    >>> query = MultitaskQuery(n_members=3, random_state=0)
    >>> rows = query.query(cases, y, region, batch_size=2)
    >>> bool((rows >= 100).all())
    True
    """

    def __init__(
        self,
        estimator=None,
        n_members=15,
        random_state=None,
        draws=True,
        n_jobs=None,
        progress=False,
    ):
        self.estimator = estimator
        self.n_members = n_members
        self.random_state = random_state
        self.draws = draws
        self.n_jobs = n_jobs
        self.progress = progress

    def committee(self):
        """The committee, not fitted: a `MultitaskCommittee`."""
        options = self.get_params(deep=False)
        del options["draws"]
        return MultitaskCommittee(**options)

    def query(
        self,
        X,
        y,
        task,
        candidates=None,
        batch_size=1,
        cost=None,
        return_utilities=False,
        committee=None,
    ):
        """Choose rows to label next.

        Parameters
        ----------
        X : pandas.DataFrame, shape (n_rows, n_columns)
            All cases, with and without a label. Missing cells are left out of predictions; to
            learn from incomplete cases the learner must handle them.
        y : pandas.Series or DataFrame, or array-like of shape (n_rows,)
            Labels, NaN or None where they are missing; of a frame, all columns are labeled at once,
            for example all species of a visit. A row that lacks any of them has no label.
        task : array-like of shape (n_rows,)
            The task of each row. Cases of a task with fewer than two labels are judged by the
            networks of all other tasks.
        candidates : array-like of int, default=None
            Rows that may be chosen. None is all without a label.
        batch_size : int, default=1
        cost : mapping task -> number, or array-like of shape (n_rows,), default=None
            Cost of a label, above 0; a Series has one for each row. None is the same for all.
        return_utilities : bool, default=False
        committee : fitted MultitaskCommittee, default=None
            What ``committee()`` returns, fitted to the labeled cases before; None fits it.

        Returns
        -------
        rows : numpy.ndarray of int, shape (batch_size,)
            In the order in which they were picked.
        utilities : numpy.ndarray of float, shape (batch_size, n_rows)
            Only if asked for. Larger is better; NaN for rows that could not be picked (any more).
            With several columns of labels, the mean of their utilities, each divided by its mean
            over the candidates.

        Raises
        ------
        TypeError, ValueError
            If no row has a label or each has one, for rows that cannot be chosen, a larger
            ``batch_size`` than there are candidates, tasks or costs of another shape, costs of 0 or
            less; as the learner.
        """
        if not isinstance(self.draws, bool | np.bool_):
            raise InputTypeError("draws", "must be True or False", self.draws)
        X, labels, task = read_tasks(X, y, task)
        is_labeled = labels.notna().all(axis=1).to_numpy()
        rows = rows_to_pick(candidates, ~is_labeled)
        check_batch_size(batch_size, len(rows))
        cost = _costs(cost, task)[rows]
        if committee is None:
            committee = self.committee().fit(X, labels, task)
        utilities = _utilities(committee, X.iloc[rows], task[rows]) / cost
        rng = generator(seed_of(self.random_state), "pick", int(is_labeled.sum()))
        picked = pick(utilities, batch_size, rng, self.draws)
        if not return_utilities:
            return rows[picked]
        return rows[picked], by_pick(utilities, rows, picked, len(X))


def _utilities(committee, X, task):
    """The utility of each candidate: a mean over the columns of labels."""
    found = [
        jensen_shannon(committee.member_probabilities(X, task, target))
        for target in committee.targets_
    ]
    if len(found) == 1:
        return found[0]
    return np.mean([one / (one.mean() or 1.0) for one in found], axis=0)


def _costs(cost, task):
    """The cost of each row."""
    if cost is None:
        return np.ones(len(task))
    if isinstance(cost, Mapping):
        by_task = {str(name): one for name, one in cost.items()}
        lacking = sorted(set(task) - set(by_task))
        if lacking:
            rule, found = "must have a value for each task", "{name!s} has none"
            raise InputError("cost", rule, found=found, name=lacking[0])
        cost = [by_task[name] for name in task]
    try:
        numbers = np.asarray(cost, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError("cost", "must be numbers", type_of(cost)) from None
    if numbers.shape != task.shape:
        rule = "must be one number for each row, {n}, or a mapping from tasks"
        remedies = (
            "`to_dict()` makes one of a Series by task" if isinstance(cost, pd.Series) else ()
        )
        raise InputError("cost", rule, type_of(cost), remedies=remedies, n=len(task))
    wrong = ~(np.isfinite(numbers) & (numbers > 0))
    if wrong.any():
        raise InputError("cost", "must be above 0", float(numbers[wrong][0]))
    return numbers
