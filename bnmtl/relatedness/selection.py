"""Selection of the tasks that help one principal task, nearest first."""

import numbers

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from bnmtl.held_out import held_out_rows, parted
from bnmtl.learners.derived import at_penalty
from bnmtl.networks import BayesNet
from bnmtl.penalty import EQUALLY_GOOD
from bnmtl.progress import Reporter
from bnmtl.relatedness.groups import Groups
from bnmtl.relatedness.measures import direct, indirect
from bnmtl.seeding import seed_of
from bnmtl.tasks import encode
from bnmtl.tasks.wording import listed

__all__ = ["TaskSelector"]

# Of the rows that a size is chosen by: their share, their least number, and the folds.
SHARE, AT_LEAST, N_FOLDS = 0.05, 10, 10


class TaskSelector(BaseEstimator):
    """Learn one task together with those others that help it most.

    The other tasks are ordered by how near they are to the principal one; the first of them are
    learned together with it.

    Parameters
    ----------
    learner : MultitaskLearner or MultitaskLearnerCV
        Learns the principal task with the selected ones; it is not fitted itself.
    principal : str
        Name of the task that matters.
    n_tasks : "validation", "cv" or int, default="validation"
        How many other tasks are taken; 0 learns the principal task alone. "validation" holds out
        5 % of the principal task's rows, at least 10, others than those that choose a penalty, and
        takes the number that predicts them best; structures are learned from the rows that are
        left, probability tables from all. "cv" does so with ten folds and learns again from all
        rows; the order of the tasks is that of all rows.
    relatedness : "direct", "indirect" or DataFrame, default="direct"
        What tells near from far: see `direct` and `indirect`, or a table of dissimilarities, of
        which the principal task's column counts.

    Attributes
    ----------
    order_ : list of str
        The other tasks, the nearest first; equally near ones by name.
    relatedness_ : pandas.DataFrame
        The dissimilarities.
    n_tasks_ : int
        How many were taken; of equally good numbers the smallest.
    scores_ : pandas.Series by number of other tasks
        Mean log-likelihood of the principal task's held-out rows, in nats; empty where the number
        was given.
    networks_ : dict task -> BayesNet
        Of the principal and the selected tasks.
    configuration_ : mapping task -> networkx.DiGraph
    learner_ : the learner that was fitted to them, a `SingleTaskLearner` for none

    Raises
    ------
    TypeError, ValueError
        In ``fit``, for an unknown principal task, a number of tasks out of range, a table that
        lacks a task, and as in the learner's ``fit``.

    References
    ----------
    Niculescu-Mizil (2008), section 2.4.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, problems
    >>> from bnmtl.relatedness import TaskSelector
    >>> problem = problems.components("asia", [("tub", "asia", "either")], [(), (), (0,)],
    ...                               random_state=0)
    >>> rows = problems.sample(problem, 300, random_state=0)
    >>> selector = TaskSelector(MultitaskLearner(random_state=0), "task1", n_tasks=1).fit(rows)
    >>> sorted(selector.networks_)
    ['task1', 'task2']
    """

    def __init__(self, learner, principal, n_tasks="validation", relatedness="direct"):
        self.learner = learner
        self.principal = principal
        self.n_tasks = n_tasks
        self.relatedness = relatedness

    def fit(self, tasks):
        """Order the other tasks, choose how many, and learn.

        Parameters
        ----------
        tasks : mapping name -> DataFrame, list of DataFrame or Tasks

        Returns
        -------
        self
        """
        # Refuses what cannot be learned together before anything is searched.
        at_penalty(self.learner, 0.9)
        tasks = encode(tasks, missing=self.learner.missing)
        principal = str(self.principal)
        if principal not in tasks.names:
            raise ValueError(
                f"`principal` must be one of the tasks, {listed(tasks.names)}, got "
                f"{self.principal!r}."
            )
        check_size("n_tasks", self.n_tasks, 0, len(tasks) - 1)
        seed = seed_of(self.learner.random_state)
        learner = clone(self.learner).set_params(random_state=seed)
        with Reporter(self.learner.progress) as report:
            self._fit(tasks, principal, learner, seed, report)
        return self

    def _fit(self, tasks, principal, learner, seed, report):
        known = tasks
        if isinstance(self.n_tasks, str):
            whole = {name: np.arange(0) for name in tasks}
            own = held_out(self.n_tasks, tasks, seed)
            folds = [{**whole, principal: fold[principal]} for fold in own]
        if self.n_tasks == "validation":
            known, _ = parted(tasks, folds[0])
        self._order(known, principal, learner)
        sizes = range(len(tasks))
        self.scores_ = pd.Series(dtype=float, index=pd.Index([], name="n_tasks"))
        self.n_tasks_ = self.n_tasks
        groups = Groups(learner, known)
        if isinstance(self.n_tasks, str):
            totals = np.zeros(len(sizes))
            for at, fold in enumerate(folds):
                train, test = parted(tasks, fold)
                own = groups if self.n_tasks == "validation" else Groups(learner, train)
                for size in sizes:
                    names = [principal, *self.order_[:size]]
                    score = own.held_out_score(names, principal, test[principal])
                    totals[size] += score / len(folds)
                    done = at * len(sizes) + size + 1
                    report("numbers of tasks", None, done, len(folds) * len(sizes))
            self.scores_ = pd.Series(totals, index=pd.Index(sizes, name="n_tasks"))
            self.n_tasks_ = first_of_the_best(totals)
        self.learner_ = groups.fitted([principal, *self.order_[: self.n_tasks_]])
        self.configuration_ = self.learner_.configuration_
        size = learner.parameter_sample_size
        self.networks_ = {
            name: BayesNet.fit(graph, tasks[name], size)
            for name, graph in self.configuration_.items()
        }

    def _order(self, tasks, principal, learner):
        """Set the dissimilarities and the order of the other tasks."""
        self.relatedness_ = self._dissimilarity(tasks, learner)
        column = self.relatedness_[principal]
        others = [name for name in tasks if name != principal]
        self.order_ = sorted(others, key=lambda name: (column[name], name))

    def _dissimilarity(self, tasks, learner):
        if isinstance(self.relatedness, pd.DataFrame):
            table = self.relatedness.rename(index=str, columns=str)
            lacking = sorted(set(tasks.names) - (set(table.index) & set(table.columns)))
            if lacking:
                raise ValueError(
                    f"`relatedness` must have a row and a column for every task; `{lacking[0]}` "
                    "is missing."
                )
            table = table.loc[list(tasks), list(tasks)]
            if not np.isfinite(table.to_numpy(dtype=float)).all():
                raise ValueError("`relatedness` must hold finite numbers; fill what is missing.")
            return table
        if len(tasks) == 1:
            return pd.DataFrame(0.0, index=list(tasks), columns=list(tasks))
        if self.relatedness == "direct":
            return direct(tasks, learner)
        if self.relatedness == "indirect":
            return indirect(tasks, learner)
        raise ValueError(
            f'`relatedness` must be "direct", "indirect" or a DataFrame, got {self.relatedness!r}.'
        )


def check_size(argument, value, least, most):
    """Raise unless a size is "validation", "cv" or a whole number in a range."""
    if isinstance(value, str) and value in ("validation", "cv"):
        return
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise TypeError(
            f'`{argument}` must be "validation", "cv" or a whole number, got {value!r}.'
        )
    if not least <= value <= most:
        raise ValueError(f"`{argument}` must be from {least} to {most} here, got {value}.")


def held_out(kind, tasks, seed):
    """The folds by which a size is chosen, apart from those that choose a penalty."""
    if kind == "validation":
        return held_out_rows(tasks, SHARE, None, seed, purpose="size", at_least=AT_LEAST)
    return held_out_rows(tasks, None, N_FOLDS, seed, purpose="size")


def first_of_the_best(scores):
    """Position of the best score, of equally good ones the first."""
    return int(np.argmax(scores >= np.max(scores) - EQUALLY_GOOD))
