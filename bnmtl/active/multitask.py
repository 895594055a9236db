"""Which case of which task to label next: committees of networks learned together."""

import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone

from bnmtl.active.picking import by_pick, pick_best
from bnmtl.active.pool import check_batch_size, rows_to_pick
from bnmtl.active.utilities import jensen_shannon
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.classification.rows import target_classes
from bnmtl.errors import InputError, InputTypeError, InputWarning, check_whole, located
from bnmtl.seeding import generator, seed_of
from bnmtl.wording import type_of

_SEEDS = 2**31 - 1


class MultitaskQuery(BaseEstimator):
    """Ask for the cases on which networks learned together from bootstraps disagree most.

    Each member of the committee learns the networks of all tasks together, from a bootstrap of the
    labeled cases of each task. The utility of a case is the Jensen-Shannon divergence of the
    members' predictions for its task, divided by its cost.

    Parameters
    ----------
    estimator : MultitaskBayesNetClassifier, default=None
        Its learner learns the networks; its target is not used. None has the default learner.
    n_members : int, default=15
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    n_jobs : int, default=None
        Number of processes, as in joblib; None is 1. It does not affect the result.

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

    def __init__(self, estimator=None, n_members=15, random_state=None, n_jobs=None):
        self.estimator = estimator
        self.n_members = n_members
        self.random_state = random_state
        self.n_jobs = n_jobs

    def query(self, X, y, task, candidates=None, batch_size=1, cost=None, return_utilities=False):
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
            The task of each row. Cases of a task without any label are judged by the networks of
            all other tasks.
        candidates : array-like of int, default=None
            Rows that may be chosen. None is all without a label.
        batch_size : int, default=1
        cost : mapping task -> number, or array-like of shape (n_rows,), default=None
            Cost of a label, above 0. None is the same for all.
        return_utilities : bool, default=False

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
        self._check_parameters()
        X, labels, task = _read(X, y, task)
        is_labeled = labels.notna().all(axis=1).to_numpy()
        if not is_labeled.any():
            raise InputError("y", "must have labels", remedies="label some random rows first")
        rows = rows_to_pick(candidates, ~is_labeled)
        check_batch_size(batch_size, len(rows))
        cost = _costs(cost, task)[rows]
        pool = _MultitaskPool(X, labels, task, is_labeled, rows)
        seed = seed_of(self.random_state)
        utilities = self._utilities(pool, seed) / cost
        rng = generator(seed, "pick", int(is_labeled.sum()))
        picked = pick_best(utilities, batch_size, rng)
        if not return_utilities:
            return rows[picked]
        return rows[picked], by_pick(utilities, rows, picked, len(X))

    def _check_parameters(self):
        is_known = isinstance(self.estimator, MultitaskBayesNetClassifier)
        if self.estimator is not None and not is_known:
            rule = "must be a MultitaskBayesNetClassifier or None"
            raise InputTypeError("estimator", rule, type_of(self.estimator))
        check_whole("n_members", self.n_members, least=2)

    def _utilities(self, pool, seed):
        """The utility of each candidate: a mean over the columns of labels."""
        template = self.estimator
        if template is None:
            template = MultitaskBayesNetClassifier(pool.names[0])
        jobs = (delayed(_member)(template, pool, seed, number) for number in range(self.n_members))
        members = Parallel(self.n_jobs)(jobs)
        found = [
            pool.disagreement([one[column] for one in members]) for column in range(len(pool.names))
        ]
        if len(found) == 1:
            return found[0]
        return np.mean([one / (one.mean() or 1.0) for one in found], axis=0)


def _read(X, y, task):
    """Features, labels and tasks of all rows; labels as a frame of categories."""
    if not isinstance(X, pd.DataFrame):
        raise InputTypeError("X", "must be a pandas DataFrame", type_of(X))
    X = X.reset_index(drop=True)
    frame = y.copy() if isinstance(y, pd.DataFrame) else pd.Series(y).to_frame(_name_of(y))
    if len(frame) != len(X) or not frame.shape[1]:
        raise InputError("y", "must be one label for each row, {n}", len(frame), n=len(X))
    shared = sorted({*map(str, X)} & {*map(str, frame)})
    if shared:
        rule, remedies = "must not hold labels", "drop the column from {X}"
        raise InputError(
            "X", rule, found="it has the column {name}", remedies=remedies, name=shared[0]
        )
    task = np.asarray(task)
    if task.shape != (len(X),):
        raise InputError("task", "must be one task for each row, {n}", type_of(task), n=len(X))
    return X, _categories(frame.reset_index(drop=True)), task.astype(str)


def _name_of(y):
    name = getattr(y, "name", None)
    return "target" if name is None else name


def _categories(frame):
    """Each column of labels with all of its classes, so that each member knows them."""
    made = {}
    for name in frame:
        column, known = frame[name], frame[name].notna().to_numpy()
        codes = np.full(len(column), -1)
        labels = ["none"]
        if known.any():
            with located(argument="y", column=name):
                _, labels, codes[known] = target_classes(column[known])
        made[str(name)] = pd.Categorical.from_codes(codes, labels)
    return pd.DataFrame(made)


def _costs(cost, task):
    """The cost of each row."""
    if cost is None:
        return np.ones(len(task))
    if hasattr(cost, "items"):
        by_task = {str(name): one for name, one in cost.items()}
        lacking = sorted(set(task) - set(by_task))
        if lacking:
            raise InputError(
                "cost", "must have a value for each task", found=f"{lacking[0]} has none"
            )
        cost = [by_task[name] for name in task]
    try:
        numbers = np.asarray(cost, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError("cost", "must be numbers", type_of(cost)) from None
    if numbers.shape != task.shape:
        rule = "must be one number for each row, {n}, or a mapping from tasks"
        raise InputError("cost", rule, type_of(cost), n=len(task))
    wrong = ~(np.isfinite(numbers) & (numbers > 0))
    if wrong.any():
        raise InputError("cost", "must be above 0", float(numbers[wrong][0]))
    return numbers


class _MultitaskPool:
    """Labeled cases by task, and candidates.

    Parameters
    ----------
    X : pandas.DataFrame, shape (n_rows, n_columns)
    labels : pandas.DataFrame, shape (n_rows, n_targets)
    task : numpy.ndarray of str, shape (n_rows,)
    is_labeled : numpy.ndarray of bool, shape (n_rows,)
    rows : numpy.ndarray of int
        The candidates.
    """

    def __init__(self, X, labels, task, is_labeled, rows):
        self.names = list(labels)
        together = pd.concat([X, labels], axis=1)
        known = sorted(set(task[is_labeled]))
        self._tables = {name: together[is_labeled & (task == name)] for name in known}
        self._candidates, self._tasks = X.iloc[rows], task[rows]
        self._has_network = np.isin(self._tasks, known)

    def bootstraps(self, seed, number):
        """A bootstrap of each task's labeled cases."""
        found = {}
        for name, table in self._tables.items():
            rng = generator(seed, "bootstrap", number, name)
            found[name] = table.iloc[rng.integers(len(table), size=len(table))]
        return found

    def predictions(self, networks, target):
        """Probabilities of the candidates by the network of their task or, without one, by each.

        Returns
        -------
        numpy.ndarray of float, shape (n_networks, n_candidates, n_classes)
            Equal for candidates whose task has a network.
        """
        classifier = MultitaskBayesNetClassifier.from_networks(networks, target, unseen="ignore")
        each = list(self._tables)[:1] if self._has_network.all() else self._tables
        by_each = []
        for name in each:
            tasks = np.where(self._has_network, self._tasks, name)
            by_each.append(classifier.predict_proba(self._candidates, task=tasks))
        return np.stack(by_each)

    def disagreement(self, members):
        """Jensen-Shannon divergence of each candidate, over the members."""
        return jensen_shannon(np.concatenate(members))


def _member(template, pool, seed, number):
    """Predictions of one member, one array for each column of labels."""
    model = clone(template).set_params(target=pool.names[0])
    names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    drawn = int(generator(seed, "member", number).integers(_SEEDS))
    model.set_params(**dict.fromkeys(names, drawn))
    with warnings.catch_warnings():
        # Columns that are constant in a bootstrap are not a mistake.
        warnings.simplefilter("ignore", InputWarning)
        model.fit(pool.bootstraps(seed, number))
        return [pool.predictions(model.networks_, name) for name in pool.names]
