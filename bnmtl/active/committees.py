"""Committees that ask for labels: members fitted to bootstraps, boosted members, one classifier."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from bnmtl.active.utilities import vote_shares
from bnmtl.calibration import AdaBoostM1
from bnmtl.decorate.artificial import take
from bnmtl.decorate.committee import Committee, about_member
from bnmtl.errors import MOST_MEMBERS, check_whole
from bnmtl.seeding import generator, seed_of
from bnmtl.threads import fitted_alone
from bnmtl.trees import ProbabilityTree


class BaggingCommittee(Committee):
    """Members fitted to bootstraps of the cases; the prediction is the mean of their probabilities.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``predict_proba``. Decision trees of scikit-learn receive numbers, one indicator per
        nominal value; others receive frames as they are. A
        `bnmtl.classification.BayesNetClassifier` needs ``unseen="ignore"`` where columns are not
        categories, because a bootstrap may lack values. None is a full `DecisionTreeClassifier`.
    n_estimators : int, default=15
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    estimators_ : list of classifiers
        A `DummyClassifier` where the bootstrap has one class.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names, all of them text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> BaggingCommittee(random_state=0).fit(X[::5], y[::5]).member_probabilities(X).shape
    (15, 150, 3)
    """

    def __init__(self, estimator=None, n_estimators=15, random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    @fitted_alone
    def fit(self, X, y):
        """Fit a member to each bootstrap.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)
        y : array-like of labels, shape (n_cases,)

        Returns
        -------
        BaggingCommittee
        """
        check_whole("n_estimators", self.n_estimators, least=1, most=MOST_MEMBERS)
        (inputs, y), seed = self._prepared(X, y), seed_of(self.random_state)
        self.estimators_ = [
            self._fitted(inputs, y, seed, number) for number in range(self.n_estimators)
        ]
        return self

    def _fitted(self, inputs, y, seed, number):
        rows = generator(seed, "bootstrap", number).integers(len(y), size=len(y))
        return self._member(seed, number, take(inputs, rows), y[rows])

    def _probabilities_by(self, member, inputs):
        with about_member("must predict values that its bootstrap lacks"):
            return super()._probabilities_by(member, inputs)


class TreeCommittee(BaggingCommittee):
    """Bagged probability trees: full, with Laplace's correction in the leaves.

    The correction counts all classes of the cases, also those that a bootstrap lacks; trees of a
    given ``estimator`` know only the classes of their bootstrap.

    Parameters
    ----------
    estimator, n_estimators, random_state
        As in `BaggingCommittee`, but None is ``ProbabilityTree(smoothing="laplace")``.

    References
    ----------
    Melville (2005), section 7.3; Provost & Domingos (2003), "Tree induction for probability-based
    ranking", Machine Learning 52.
    """

    def _default_estimator(self):
        return ProbabilityTree(smoothing="laplace")

    def _fitted(self, inputs, y, seed, number):
        if self.estimator is not None:
            return super()._fitted(inputs, y, seed, number)
        rows = generator(seed, "bootstrap", number).integers(len(y), size=len(y))
        # Cases without weight make other classes known, and change nothing else.
        absent = [int((y == label).argmax()) for label in self.classes_ if label not in y[rows]]
        weights = np.repeat([1.0, 0.0], [len(rows), len(absent)])
        rows = np.append(rows, absent).astype(int)
        member = self._new_member(seed, number)
        return member.fit(take(inputs, rows), y[rows], sample_weight=weights)


class BoostingCommittee(Committee):
    """Members of AdaBoost.M1; the prediction is their weighted vote.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``predict_proba``; it receives numbers, one indicator per nominal value. None is a full
        `DecisionTreeClassifier`.
    n_estimators : int, default=15
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    estimators_ : list of classifiers
    member_weights_ : numpy.ndarray of float, shape (n_estimators,)
        Shares of the votes; equal ones if no member is better than chance.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names, all of them text.
    """

    def __init__(self, estimator=None, n_estimators=15, random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state

    @fitted_alone
    def fit(self, X, y):
        """Fit the members one after another.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)
        y : array-like of labels, shape (n_cases,)

        Returns
        -------
        BoostingCommittee
        """
        check_whole("n_estimators", self.n_estimators, least=1, most=MOST_MEMBERS)
        inputs, y = self._prepared(X, y)
        seed = int(generator(seed_of(self.random_state), "boosting").integers(2**31))
        if len(self.classes_) == 1:
            self.estimators_, votes = [self._member(seed, 0, inputs, y)], np.ones(1)
        else:
            template = DecisionTreeClassifier() if self.estimator is None else self.estimator
            boosted = AdaBoostM1(template, self.n_estimators, random_state=seed).fit(inputs, y)
            self.estimators_, votes = boosted.estimators_, boosted.estimator_weights_
        votes = votes if votes.any() else np.ones(len(votes))
        self.member_weights_ = votes / votes.sum()
        return self

    def predict_proba(self, X):
        """Shares of the weighted votes.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        return vote_shares(self.member_probabilities(X), self.member_weights_)

    def _encodes(self):
        return True


class SingleClassifier(Committee):
    """One classifier in the place of a committee.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``predict_proba``. Trees and forests of scikit-learn receive numbers, one indicator per
        nominal value; others receive frames as they are. None is a `RandomForestClassifier`.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    estimators_ : list of classifiers
        The classifier; a `DummyClassifier` if there is one class.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names, all of them text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SingleClassifier(random_state=0).fit(X[::5], y[::5]).member_probabilities(X).shape
    (1, 150, 3)
    """

    def __init__(self, estimator=None, random_state=None):
        self.estimator = estimator
        self.random_state = random_state

    @fitted_alone
    def fit(self, X, y):
        """Fit the classifier.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)
        y : array-like of labels, shape (n_cases,)

        Returns
        -------
        SingleClassifier
        """
        inputs, y = self._prepared(X, y)
        self.estimators_ = [self._member(seed_of(self.random_state), 0, inputs, y)]
        return self

    def _default_estimator(self):
        return RandomForestClassifier()

    def _encodes(self):
        forests = RandomForestClassifier, ExtraTreesClassifier
        return super()._encodes() or isinstance(self.estimator, forests)
