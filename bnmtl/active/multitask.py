"""Queries for labels of cases of several tasks, by committees of networks learned together."""

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bnmtl.active.query import by_pick, check_batch_size, pick, read_costs, rows_to_pick
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.classification.by_task import quick_classifier
from bnmtl.classification.rows import target_classes
from bnmtl.errors import (
    MOST_MEMBERS,
    InputError,
    InputTypeError,
    InputWarning,
    check_flag,
    check_jobs,
    check_whole,
    located,
)
from bnmtl.metrics.prediction import jensen_shannon
from bnmtl.processes import in_processes
from bnmtl.progress import Reporter
from bnmtl.seeding import drawn_seed, generator, seed_of, with_seed
from bnmtl.threads import fitted_alone
from bnmtl.wording import type_of

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

    @fitted_alone
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
        template = quick_classifier() if self.estimator is None else self.estimator
        if not isinstance(template, MultitaskBayesNetClassifier):
            message = f"must be a MultitaskBayesNetClassifier or None, got {type_of(template)}"
            raise InputTypeError(message, argument="estimator")
        check_whole("n_members", self.n_members, least=2, most=MOST_MEMBERS)
        check_jobs(self.n_jobs)
        X, labels, task = read_tasks(X, y, task)
        known = labels.notna().all(axis=1).to_numpy()
        if not known.any():
            remedy = "label some random rows first"
            raise InputError("must have labels", argument="y", remedy=remedy)
        table = X[known].reset_index(drop=True).assign(**{_TASK: task[known]})
        self.targets_, self.classes_, self._labels = list(labels), {}, {}
        for name in labels:
            with located(argument="y", column=name):
                classes, texts, codes = target_classes(labels.loc[known, name])
            self.classes_[name], self._labels[name] = classes, texts
            # All classes are declared, so that each member knows them.
            table[name] = pd.Categorical.from_codes(codes, texts)
        tables = {name: part for name, part in table.groupby(_TASK) if len(part) >= _FEWEST}
        if not tables:
            message = "must have two labels or more in a task"
            raise InputError(message, argument="y", remedy="label some random rows")
        template = clone(template).set_params(task_column=_TASK)
        given = template, tables, self.targets_[0], seed_of(self.random_state)
        jobs = (delayed(_networks)(*given, at) for at in range(self.n_members))
        self.members_, self._edges = [], []
        with Reporter(self.progress) as report:
            report("networks of the committee", total=self.n_members)
            how = {"report": report, "return_as": "generator"}
            for networks, edges in in_processes(self.n_jobs, self.n_members, **how)(jobs):
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
            order = [self._labels[target].index(label) for label in known_classes]
            for name in each:
                p = np.zeros((len(X), len(self._labels[target])))
                p[:, order] = model.predict_proba(
                    X.assign(**{_TASK: np.where(has_network, task, name)})
                )
                found.append(p)
        return np.stack(found)


def _networks(template, tables, target, seed, number):
    """The networks of one member, and the cut points of the columns of numbers."""
    model = with_seed(template, drawn_seed(seed, "member", number))
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
        raise InputTypeError(f"must be a pandas DataFrame, got {type_of(X)}", argument="X")
    X = X.reset_index(drop=True)
    name = getattr(y, "name", None)
    name = "target" if name is None else name
    frame = y if isinstance(y, pd.DataFrame) else pd.Series(y).to_frame(name)
    frame = frame.rename(columns=str).reset_index(drop=True)
    if len(frame) != len(X) or not frame.shape[1]:
        message = f"must be one label for each row, {len(X)}, got {len(frame)!r}"
        raise InputError(message, argument="y")
    shared = sorted({*map(str, X)} & {*frame})
    if shared:
        message = f"must not hold labels; it has the column `{shared[0]}`"
        raise InputError(message, argument="X", remedy="drop the column from `X`")
    # As objects, so that a gap does not become text.
    task = np.asarray(task, dtype=object)
    if task.shape != (len(X),):
        message = f"must be one task for each row, {len(X)}, got {type_of(task)}"
        raise InputError(message, argument="task")
    if pd.isna(task).any():
        remedy = "drop the other rows"
        raise InputError("must name a task for each row", argument="task", remedy=remedy)
    return X, frame, task.astype(str)


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
        check_flag("draws", self.draws)
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
    return np.mean([utilities / (utilities.mean() or 1.0) for utilities in found], axis=0)


def _costs(cost, task):
    """The cost of each row."""
    if cost is None:
        return np.ones(len(task))
    is_mapping = isinstance(cost, Mapping)
    by_task = {str(name): value for name, value in cost.items()} if is_mapping else cost
    costs = read_costs(by_task, task, "task")
    if costs.shape != task.shape:
        rule = f"must be one number for each row, {len(task)}, or a mapping from tasks"
        remedy = "`to_dict()` makes one of a Series by task" if isinstance(cost, pd.Series) else ""
        raise InputError(f"{rule}, got {type_of(cost)}", argument="cost", remedy=remedy)
    return costs
