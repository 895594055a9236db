"""Committees of networks of several tasks, learned together from bootstraps."""

import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.classification.by_task import quick_classifier
from bnmtl.classification.rows import target_classes
from bnmtl.errors import InputError, InputTypeError, InputWarning, check_jobs, check_whole, located
from bnmtl.progress import Reporter
from bnmtl.seeding import generator, seed_of, with_seed
from bnmtl.wording import type_of

_SEEDS = 2**31 - 1
# The column of the tasks; no column of a table of cases has such a name by chance.
_TASK = "task of the row"
_FEWEST = 2  # rows from which a learner learns


class MultitaskCommittee(BaseEstimator):
    """Members that each learn the networks of all tasks together, from bootstraps of their cases.

    Parameters
    ----------
    estimator : MultitaskBayesNetClassifier, default=None
        It learns the networks; its ``task_column`` is not used. None has the default learner with
        ``search=HillClimbing(restarts=0)``, because members differ by their bootstraps anyway.
    n_members : int, default=15
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    n_jobs : int, default=None
        Number of processes, as in joblib; None is 1. It does not affect the result.
    progress : False, True or callable, default=False
        True shows a bar; a callable receives each `bnmtl.progress.ProgressEvent`.

    Attributes
    ----------
    members_ : list of dict task -> BayesNet
    targets_ : list of str
        The columns of labels.
    classes_ : dict target -> numpy.ndarray of shape (n_classes,)
    """

    def __init__(
        self, estimator=None, n_members=15, random_state=None, n_jobs=None, progress=False
    ):
        self.estimator = estimator
        self.n_members = n_members
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X, y, task):
        """Learn the networks of each member.

        Parameters
        ----------
        X : pandas.DataFrame, shape (n_rows, n_columns)
        y : pandas.Series, DataFrame or array-like of shape (n_rows,)
            Labels; of a frame, all columns are labels. Rows that lack any of them are left out, and
            so are tasks with a single row then.
        task : array-like of shape (n_rows,)

        Returns
        -------
        MultitaskCommittee
        """
        if self.estimator is not None and not isinstance(
            self.estimator, MultitaskBayesNetClassifier
        ):
            rule = "must be a MultitaskBayesNetClassifier or None"
            raise InputTypeError("estimator", rule, type_of(self.estimator))
        check_whole("n_members", self.n_members, least=2)
        check_jobs(self.n_jobs)
        X, labels, task = read_tasks(X, y, task)
        known = labels.notna().all(axis=1).to_numpy()
        if not known.any():
            raise InputError("y", "must have labels", remedies="label some random rows first")
        coded = {name: _categories(labels.loc[known, name], name) for name in labels}
        self._labels = {name: list(column.categories) for name, (_, column) in coded.items()}
        self.targets_ = list(labels)
        self.classes_ = {name: classes for name, (classes, _) in coded.items()}
        table = X[known].reset_index(drop=True).assign(**{_TASK: task[known]})
        table = table.assign(**{name: column for name, (_, column) in coded.items()})
        tables = {name: part for name, part in table.groupby(_TASK) if len(part) >= _FEWEST}
        if not tables:
            rule, remedies = "must have two labels or more in a task", "label some random rows"
            raise InputError("y", rule, remedies=remedies)
        template = quick_classifier() if self.estimator is None else self.estimator
        template = clone(template).set_params(task_column=_TASK)
        given = template, tables, self.targets_[0], seed_of(self.random_state)
        jobs = (delayed(_networks)(*given, at) for at in range(self.n_members))
        self.members_, self._edges = [], []
        with Reporter(self.progress) as report:
            report("networks of the committee", total=self.n_members)
            for networks, edges in Parallel(self.n_jobs, return_as="generator")(jobs):
                self.members_.append(networks)
                self._edges.append(edges)
                report("networks of the committee", done=len(self.members_), total=self.n_members)
        return self

    def member_probabilities(self, X, task, target=None):
        """Probabilities of a column of labels, by each member.

        Parameters
        ----------
        X : pandas.DataFrame, shape (n_rows, n_columns)
            Values that are unknown from the fit are treated as missing.
        task : array-like of shape (n_rows,)
            Rows of a task without a network are predicted by the networks of each other task.
        target : str, default=None
            None is the first.

        Returns
        -------
        numpy.ndarray of float, shape (n_members * n_networks, n_rows, n_classes)
            ``n_networks`` is 1, or the number of tasks of the fit if some rows are of another one.
        """
        check_is_fitted(self)
        target = self.targets_[0] if target is None else target
        task = np.asarray(task).astype(str)
        known = sorted(self.members_[0])
        has_network = np.isin(task, known)
        each = known[:1] if has_network.all() else known
        # Other labels are unknown by design.
        X = X.assign(**{name: None for name in self.targets_ if name not in X})
        found = []
        for networks, edges in zip(self.members_, self._edges, strict=True):
            model = MultitaskBayesNetClassifier.from_networks(
                networks, target, task_column=_TASK, unseen="ignore", edges=edges
            )
            # Networks have the states as text, whose order may be another one; a class that all
            # bootstraps lack is not there.
            known_classes = model.classes_.tolist()
            order = [self._labels[target].index(one) for one in known_classes]
            for name in each:
                p = np.zeros((len(X), len(self._labels[target])))
                p[:, order] = model.predict_proba(
                    X.assign(**{_TASK: np.where(has_network, task, name)})
                )
                found.append(p)
        return np.stack(found)


def _networks(template, tables, target, seed, number):
    """The networks of one member, and the cut points of the columns of numbers."""
    model = with_seed(template, int(generator(seed, "member", number).integers(_SEEDS)))
    drawn = []
    for name, table in tables.items():
        rng = generator(seed, "bootstrap", number, name)
        drawn.append(table.iloc[rng.integers(len(table), size=len(table))])
    drawn = pd.concat(drawn)
    with warnings.catch_warnings():
        # Columns that are constant in a bootstrap are not a mistake.
        warnings.simplefilter("ignore", InputWarning)
        model.fit(drawn.drop(columns=target), drawn[target])
    return model.networks_, model.edges_


def read_tasks(X, y, task):
    """Features, labels and tasks of all rows, which are numbered; labels as a frame.

    Parameters
    ----------
    X, y, task
        As in `MultitaskCommittee.fit`.

    Returns
    -------
    (pandas.DataFrame, pandas.DataFrame, numpy.ndarray of str)
    """
    if not isinstance(X, pd.DataFrame):
        raise InputTypeError("X", "must be a pandas DataFrame", type_of(X))
    X = X.reset_index(drop=True)
    frame = y if isinstance(y, pd.DataFrame) else pd.Series(y).to_frame(_name_of(y))
    frame = frame.rename(columns=str).reset_index(drop=True)
    if len(frame) != len(X) or not frame.shape[1]:
        raise InputError("y", "must be one label for each row, {n}", len(frame), n=len(X))
    shared = sorted({*map(str, X)} & {*frame})
    if shared:
        rule, remedies = "must not hold labels", "drop the column from {X}"
        found = "it has the column {name}"
        raise InputError("X", rule, found=found, remedies=remedies, name=shared[0])
    # As objects, so that a gap does not become text.
    task = np.asarray(task, dtype=object)
    if task.shape != (len(X),):
        raise InputError("task", "must be one task for each row, {n}", type_of(task), n=len(X))
    if pd.isna(task).any():
        raise InputError("task", "must name a task for each row", remedies="drop the other rows")
    return X, frame, task.astype(str)


def _name_of(y):
    name = getattr(y, "name", None)
    return "target" if name is None else name


def _categories(column, name):
    """Classes, and the column with all of them declared, so that each member knows them."""
    with located(argument="y", column=name):
        classes, labels, codes = target_classes(column)
    return classes, pd.Categorical.from_codes(codes, labels)
