"""One classifier a task, from networks that were learned together."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.network import BayesNetClassifier
from bnmtl.classification.rows import (
    check_complete,
    check_gaps,
    check_parameters,
    target_classes,
    target_column,
)
from bnmtl.learners import MultitaskLearnerCV
from bnmtl.parameters import column_labels
from bnmtl.tasks.encoding import named_frames
from bnmtl.tasks.wording import listed


class MultitaskBayesNetClassifier(BaseEstimator):
    """Learn the networks of several tasks together and predict a variable that all of them have.

    Parameters
    ----------
    target : str
        The column that is predicted, in every task.
    learner : learner, default=None
        Of `bnmtl.learners`; None is `MultitaskLearnerCV()`, which also chooses how much the tasks
        share. Its ``missing`` says what becomes of missing features in ``fit``.
    unseen : {"error", "ignore"}, default="error"
        What to do with values that no task has seen, where they are needed: an error that names
        them, or as good as missing.

    Attributes
    ----------
    classes_ : numpy.ndarray, shape (n_classes,)
        The values of the target that occur in any task, sorted.
    classifiers_ : dict task -> BayesNetClassifier
        For whatever takes a scikit-learn classifier.
    networks_ : dict task -> BayesNet
    learner_ : learner
        As fitted.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for tasks that lack the target or a value of it, and as the learner. In
        predictions: for tasks that are new, and as `BayesNetClassifier`.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, structures
    >>> asia = structures.load("asia")
    >>> clinics = {name: asia.sample(500, random_state=at) for at, name in enumerate("ab")}
    >>> classifier = MultitaskBayesNetClassifier("bronc", MultitaskLearner()).fit(clinics)
    >>> classifier.predict_proba(clinics["a"][:3], task="b").shape
    (3, 2)
    """

    def __init__(self, target, learner=None, unseen="error"):
        self.target = target
        self.learner = learner
        self.unseen = unseen

    def fit(self, tasks):
        """Learn the networks.

        Parameters
        ----------
        tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
            As for the learners; each task has the target, and one feature at least. One DataFrame
            is one task: where a column tells the task, give ``bnmtl.tasks.split(frame, column)``.

        Returns
        -------
        MultitaskBayesNetClassifier
        """
        check_parameters(self.unseen, self.learner)
        if self.target is None:
            raise ValueError("`target` must be the column to predict, got None; name it.")
        target, features, values = str(self.target), {}, {}
        for name, frame in named_frames(tasks).items():
            where = f"Task `{name}`"
            features[name], values[name] = target_column(frame, self.target, where)
            check_complete(values[name], f"{where}: column `{target}`")
            check_gaps(features[name], self.learner, where)
            if not features[name].shape[1]:
                raise ValueError(
                    f"{where} must have a column besides `{target}` to predict from; it has none."
                )
        together = pd.concat(values.values(), ignore_index=True)
        classes, labels, codes = target_classes(together, f"Column `{target}`")
        ends = np.cumsum([len(own) for own in values.values()])[:-1]
        frames = {
            name: frame.assign(**{target: pd.Categorical.from_codes(own, labels)})
            for (name, frame), own in zip(features.items(), np.split(codes, ends), strict=True)
        }
        learner = MultitaskLearnerCV() if self.learner is None else clone(self.learner)
        self.learner_ = learner.fit(frames)
        self.networks_ = dict(learner.networks_)
        self.classes_ = classes
        self.classifiers_ = {}
        for name, network in self.networks_.items():
            own = BayesNetClassifier.from_network(network, target, self.unseen, classes)
            # Arrays, which scikit-learn may make of a frame, have its columns in its order.
            own.feature_names_ = tuple(map(str, features[name]))
            own.feature_names_in_ = np.array(own.feature_names_, dtype=object)
            self.classifiers_[name] = own
        return self

    def predict_proba(self, frame, task):
        """Probability of each class in each row.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (n_rows, n_columns)
            As for `BayesNetClassifier.predict_proba`.
        task : str or array-like of str, shape (n_rows,)
            The task of all rows, or of each.

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        column_labels(frame)
        if np.ndim(task) == 0:
            return self._probabilities(frame, task)
        names = np.asarray(task, dtype=object)
        if names.shape != (len(frame),):
            raise ValueError(
                f"`task` must be a name, or one a row, {len(frame)}; got the shape {names.shape}."
            )
        result = np.empty((len(frame), len(self.classes_)))
        for name in pd.unique(names):
            rows = names == name
            result[rows] = self._probabilities(frame[rows], name)
        return result

    def predict(self, frame, task):
        """The most probable class of each row; of equally probable ones the first.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (n_rows, n_columns)
        task : str or array-like of str, shape (n_rows,)

        Returns
        -------
        numpy.ndarray, shape (n_rows,)
        """
        best = self.predict_proba(frame, task).argmax(axis=1)
        return self.classes_[best]

    def _probabilities(self, frame, task):
        if str(task) not in self.classifiers_:
            raise ValueError(
                f"`task` must be one of {listed(self.classifiers_, 'task')}, got {task!r}."
            )
        return self.classifiers_[str(task)]._probabilities(frame, f"Task `{task}`")
