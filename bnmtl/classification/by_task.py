"""One classifier for the rows of several tasks, from networks learned together."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.network import BayesNetClassifier, NetworkClassifier
from bnmtl.classification.rows import (
    accepted,
    check_features,
    check_parameters,
    encoded,
    named_rows,
    new_learner,
    number_edges,
    target_classes,
    task_label,
    used_rows,
    with_target,
)
from bnmtl.errors import InputError, InputTypeError, check_choice, located, warn
from bnmtl.learners import MultitaskLearner
from bnmtl.learners.adapted import at_penalty
from bnmtl.learners.multitask import quick_learner
from bnmtl.networks import BayesNet
from bnmtl.networks.tables import column_labels
from bnmtl.tasks import split
from bnmtl.tasks.encoding import tasks_of
from bnmtl.threads import fitted_alone
from bnmtl.wording import listed, type_of

_ONE_TASK = "task1"


def quick_classifier(missing="error"):
    """A classifier for many bootstraps, with a `bnmtl.learners.multitask.quick_learner`.

    Parameters
    ----------
    missing : {"error", "state"}, default="error"
        As for the learners.

    Returns
    -------
    MultitaskBayesNetClassifier
    """
    return MultitaskBayesNetClassifier(learner=quick_learner(missing))


class MultitaskBayesNetClassifier(NetworkClassifier):
    """Learn the networks of several tasks together and predict a variable that they share.

    The rows of all tasks are one table, in which a column names the task of each row. Use it where
    features are missing in predictions, or where the networks themselves are of interest. With
    complete rows, logistic regression of the rows of all tasks with the task as a feature predicted
    better on six tables (log loss 0.492 against 0.500 with 40 rows a task, 0.457 against 0.469 with
    150); with half of the features missing it predicted worse (0.596 against 0.557, and 0.566
    against 0.535). One `BayesNetClassifier` of all rows, for which the task is a feature, predicted
    as well as networks learned together (``benchmarks/predictions``, `gaps`).

    Parameters
    ----------
    task_column : str or int, default=None
        The column that names the task of each row: its name in a frame, or its position in an
        array. None is one task. Columns that are empty in all rows of a task are not its variables.
    learner : learner, default=None
        From `bnmtl.learners`; None is `MultitaskLearner()`. Its ``missing`` sets the handling of
        missing features in ``fit``.
    penalty : float, default=None
        From 0 to 1, instead of the penalty of the learner's prior; a `MultitaskLearnerCV` then
        chooses none.
    network_score : score, default=None
        From `bnmtl.scores`, instead of the learner's ``score``.
    max_parents : int, default=None
        Instead of that of the learner.
    unknown_task : {"error", "average"}, default="error"
        Rows of tasks that are not in the fit are an error, or are predicted by the mean of the
        probabilities of all tasks, weighted by their rows.
    unseen : {"error", "ignore"}, default="error"
        Values not seen in any task raise an error that names them if they are needed, or are
        treated as missing.
    bins : int, default=5
        Number of bins of a column of numbers, as in `BayesNetClassifier`; tasks share them.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the learner; None leaves the one that `learner` has.

    Attributes
    ----------
    classes_ : numpy.ndarray, shape (n_classes,)
        The observed values of the target in any task, or its states in any network of
        `from_networks`; sorted.
    networks_ : dict task -> BayesNet
    configuration_ : bnmtl.graphs.Configuration
        The graph of each task.
    task_groups_ : pandas.Series by task
        Which tasks learn from each other; None if the learner has no groups.
    learner_ : learner
        The fitted learner; None after `from_networks`.
    classifiers_ : dict task -> BayesNetClassifier
    target_ : str
        The name of the target in the networks: that of `y`, or "target".
    edges_ : bnmtl.tasks.Edges
        Cut points of the columns of numbers.
    feature_names_ : tuple of str
        The names of the columns, including that of the task.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if the names of the columns are strings.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for a table without the column of the tasks or with gaps in it, and as
        `BayesNetClassifier` and the learner. In predictions: for unknown and missing tasks, and as
        `BayesNetClassifier`.

    Warns
    -----
    UserWarning
        In ``fit``: for columns that are empty in a task. In predictions: if they have values there,
        which are ignored; and as `BayesNetClassifier`.

    Examples
    --------
    >>> from bnmtl import structures
    >>> asia = structures.load("asia")
    >>> rows = asia.sample(1000, random_state=0).assign(clinic=["a", "b"] * 500)
    >>> y = rows.pop("bronc")
    >>> classifier = MultitaskBayesNetClassifier(task_column="clinic", random_state=0)
    >>> classifier.fit(rows, y).predict_proba(rows[:3]).shape
    (3, 2)
    >>> classifier.task_groups_.to_dict()
    {'a': 1, 'b': 1}
    """

    def __init__(
        self,
        *,
        task_column=None,
        learner=None,
        penalty=None,
        network_score=None,
        max_parents=None,
        unknown_task="error",
        unseen="error",
        bins=5,
        random_state=None,
    ):
        self.task_column = task_column
        self.learner = learner
        self.penalty = penalty
        self.network_score = network_score
        self.max_parents = max_parents
        self.unknown_task = unknown_task
        self.unseen = unseen
        self.bins = bins
        self.random_state = random_state

    @fitted_alone
    def fit(self, X, y, sample_weight=None):
        """Learn the networks.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
            The rows of all tasks. Columns of an array are named x0, x1, ...
        y : array-like, shape (n_rows,)
        sample_weight : array-like of whole numbers, shape (n_rows,), default=None
            A row with the weight 2 counts as two rows, one with the weight 0 is left out.

        Returns
        -------
        MultitaskBayesNetClassifier
        """
        self._check()
        learner = self._new_learner()
        frames, codes, labels, classes = self._read(X, y, sample_weight)
        target, task = self.target_, self.task_column_
        with located(argument="X"):
            edges = number_edges(frames, int(self.bins))
            frames = edges.apply(frames)
        for name, frame in frames.items():
            with located(**({"argument": "X"} if task is None else {"task": name})):
                if task is not None and len(frame) < 2:
                    message = "must have two rows or more; it has one"
                    raise InputError(message, remedy="leave it out, or add rows")
                check_features(frame, learner)
        if task is None:
            (frame,) = frames.values()
            frames = {_ONE_TASK: frame[used_rows(frame, codes, labels, learner, smallest=1)]}
        full = {}
        for name, frame in frames.items():
            column = pd.Categorical.from_codes(codes[frame.index], labels)
            full[name] = frame.set_axis(list(map(str, frame)), axis=1).assign(**{target: column})
        learner.fit(encoded(full, learner) if task is None else full)
        self._n_rows = {name: len(frame) for name, frame in full.items()}
        classifiers = {}
        for name, network in learner.networks_.items():
            features = [str(label) for label in frames[name]]
            given = network, target, self.unseen, classes, features, edges
            classifiers[name] = BayesNetClassifier.from_network(*given)
        return self._publish(classifiers, learner, edges)

    def _check(self):
        check_parameters(self.unseen, self.learner, self.bins)
        check_choice("unknown_task", self.unknown_task, ("error", "average"))

    def _new_learner(self):
        """A learner to be fitted, with what replaces its parameters."""
        learner = new_learner(self.learner, MultitaskLearner(), self.random_state)
        if self.penalty is not None:
            learner = at_penalty(learner, self.penalty)
        replaced = {"score": self.network_score, "max_parents": self.max_parents}
        replaced = {name: value for name, value in replaced.items() if value is not None}
        learner = clone(learner).set_params(**replaced)
        learner._check_parameters()
        return learner

    def _read(self, X, y, sample_weight):
        """Frames by task, and codes, names and values of the classes; codes are by position."""
        # Some sparse matrices are mappings, too.
        if isinstance(X, Mapping) and not hasattr(X, "shape"):
            raise InputTypeError(
                f"must be one table with the rows of all tasks, got {type_of(X)}",
                argument="X",
                options=("task_column",),
                remedy="concatenate them and name the column of their tasks by `task_column`",
            )
        with located(argument="X"):
            table, self.target_, values = with_target(X, y, None)
        column = self.task_column
        if column is not None:
            column = task_label(X, table, column)
        table, values = accepted(self, X, table, values, sample_weight)
        with located(argument="y"):
            classes, labels, codes = target_classes(values)
        self.feature_names_ = tuple(map(str, table))
        self.task_column_ = None if column is None else str(column)
        table = table.reset_index(drop=True)
        frames = {_ONE_TASK: table} if column is None else split(table, column)
        return frames, codes, labels, classes

    @classmethod
    def from_networks(cls, networks, target, *, task_column=None, unseen="error", edges=None):
        """Make a fitted classifier from existing networks.

        Parameters
        ----------
        networks : mapping task -> BayesNet
            Such as ``bnmtl.io.read_run(folder).networks``.
        target : str
            A variable of all of them. States missing from a network have probability 0 there.
        task_column : str, default=None
            The column that names the task of each row; several networks need it.
        unseen : {"error", "ignore"}, default="error"
        edges : bnmtl.tasks.Edges, default=None
            As in `BayesNetClassifier.from_network`.

        Returns
        -------
        MultitaskBayesNetClassifier
            It predicts frames. The mean of `unknown_task` has equal weights.

        Raises
        ------
        TypeError, ValueError
            If these are not networks by task, `task_column` is missing or a variable, and as
            `BayesNetClassifier.from_network`.

        Examples
        --------
        >>> from bnmtl import structures
        >>> asia = structures.load("asia")
        >>> clinics = {"a": asia, "b": asia.fit(asia.graph, asia.sample(500, random_state=1))}
        >>> classifier = MultitaskBayesNetClassifier.from_networks(
        ...     clinics, "bronc", task_column="clinic"
        ... )
        >>> rows = asia.sample(1000, random_state=2).assign(clinic=["a", "b"] * 500)
        >>> classifier.score(rows, rows["bronc"])
        0.831
        """
        _check_networks(networks, target)
        if not isinstance(task_column, str) and (task_column is not None or len(networks) > 1):
            message = f"must name the column with the task of each row, got {task_column!r}"
            raise InputError(message, argument="task_column")
        variables = dict.fromkeys(v for network in networks.values() for v in network.variables)
        if task_column in variables:
            message = f"must not be a variable of the networks, got {task_column!r}"
            raise InputError(message, argument="task_column")
        classifiers = {
            str(name): BayesNetClassifier.from_network(network, target, unseen, edges=edges)
            for name, network in networks.items()
        }
        made = cls(task_column=task_column, unseen=unseen)
        made._check()
        made.target_, made.task_column_, made.by_name_ = target, task_column, True
        columns = [*(v for v in variables if v != target), task_column]
        made.feature_names_ = tuple(name for name in columns if name is not None)
        made.feature_names_in_ = np.array(made.feature_names_, dtype=object)
        made.n_features_in_ = len(made.feature_names_)
        made._n_rows = dict.fromkeys(classifiers, 1)
        return made._publish(classifiers, None, next(iter(classifiers.values())).edges_)

    def _publish(self, classifiers, learner, edges):
        self.learner_, self.classifiers_, self.edges_ = learner, classifiers, edges
        self.networks_ = {name: classifier.network_ for name, classifier in classifiers.items()}
        self.configuration_ = getattr(learner, "configuration_", None)
        self.task_groups_ = getattr(learner, "task_groups_", None)
        every = [classifier.classes_ for classifier in classifiers.values()]
        self.classes_ = np.unique(np.concatenate(every))
        return self

    @property
    def borrowed_(self):
        """How many rows each table borrows from other tasks, as in the learner."""
        check_is_fitted(self)
        return self.learner_.borrowed_

    def predict_proba(self, X):
        """Probability of each class in each row.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
            Columns of a frame are found by name; other columns, including the target, are ignored.
            Missing cells are allowed, except in the column of the tasks.

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        with located(argument="X"):
            table = named_rows(self, X)
            if self.task_column_ is None:
                (name,) = self.classifiers_
                return self._of_task(name, table, {})
            tasks, labels = self._tasks_of(table)
            result = np.empty((len(table), len(self.classes_)))
            for name in dict.fromkeys(tasks.tolist()):
                rows = tasks == name
                if name in self.classifiers_:
                    result[rows] = self._of_task(name, table[rows], {"task": name})
                else:
                    result[rows] = self._average(table[rows])
            self._warn_of_ignored(table, tasks, labels)
        return result

    def _tasks_of(self, table):
        """The task of each row, and the labels of the columns."""
        labels = column_labels(table)
        if self.task_column_ not in labels:
            raise InputError(f"must have the column of the tasks; `{self.task_column_}` is missing")
        tasks = tasks_of(table, self.task_column_)
        unknown = sorted(set(tasks) - set(self.classifiers_))
        if unknown and self.unknown_task == "error":
            raise InputError(
                f"must be one of {listed(self.classifiers_, 'task')}, got {unknown[0]!r}",
                column=self.task_column_,
                options=("unknown_task",),
                remedy=(
                    "`unknown_task='average'` predicts it from all, or shuffle the "
                    "rows if a fold left it out"
                ),
            )
        return tasks, labels

    def _of_task(self, name, table, place):
        """Probabilities by the network of one task, in the order of all classes."""
        classifier = self.classifiers_[name]
        result = np.zeros((len(table), len(self.classes_)))
        at = np.searchsorted(self.classes_, classifier.classes_)
        with located(**place):
            result[:, at] = classifier._probabilities(table, argument="X", **place)
        return result

    def _average(self, table):
        """The mean over the tasks of their probabilities, weighted by their rows."""
        weighted = [n * self._of_task(name, table, {}) for name, n in self._n_rows.items()]
        return sum(weighted) / sum(self._n_rows.values())

    def _warn_of_ignored(self, table, tasks, labels):
        """Warn of values in columns that were empty in their task in the fit."""
        known = set(self.feature_names_) - {self.task_column_}
        ignored = []
        for name, classifier in self.classifiers_.items():
            for column in sorted(known - set(classifier.feature_names_)):
                here = column in labels and table.loc[tasks == name, labels[column]].notna().any()
                ignored += [f"{listed([column])} in task `{name}`"] if here else []
        if ignored:
            found = "; ".join(ignored)
            message = f"has values of columns without any in the fit: {found}; they are ignored"
            warn(message, argument="X")


def _check_networks(networks, target):
    """Raise unless these are networks by task with a common target."""
    if not hasattr(networks, "items"):
        message = f"must map the names of tasks to networks, got {type_of(networks)}"
        raise InputTypeError(message, argument="networks")
    if not len(networks):
        raise InputError("must hold one network at least; it is empty", argument="networks")
    for name, network in networks.items():
        if not isinstance(network, BayesNet):
            message = f"must be BayesNets, got {type_of(network)}"
            raise InputTypeError(message, argument="networks", task=name)
    if len({str(name) for name in networks}) < len(networks):
        message = f"must have different names, also when written as text, got {listed(networks)}"
        raise InputError(message, argument="networks")
    known = [isinstance(target, str) and target in network.states for network in networks.values()]
    if any(known) and not all(known):
        lacking = list(networks)[known.index(False)]
        message = f"must be a variable of every task; task `{lacking}` has no `{target}`"
        raise InputError(message, argument="target", remedy="leave that task out")
