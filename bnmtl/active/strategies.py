"""Strategies that choose which case of a pool to label next."""

import numpy as np

from bnmtl.active.committees import (
    BaggingCommittee,
    BoostingCommittee,
    SingleClassifier,
    TreeCommittee,
)
from bnmtl.active.query import CommitteeQuery, Query, known_classes
from bnmtl.active.utilities import (
    class_variance,
    local_variance,
    small_margin,
    small_vote_margin,
)
from bnmtl.decorate import DecorateClassifier
from bnmtl.decorate.committee import check_estimator
from bnmtl.errors import InputError, check_choice
from bnmtl.metrics.prediction import jensen_shannon
from bnmtl.wording import listed

_MAX_ITERATIONS, _MORE_ITERATIONS = 50, 35


class RandomQuery(Query):
    """Each case without a label is equally likely: what a strategy must beat.

    Parameters
    ----------
    missing_label : object, default=nan
        Marks rows without a label; NaN and None stand for every missing value.
    classes : array-like of labels, default=None
        All labels that may occur; another one is an error. None is those found in ``y``.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Examples
    --------
    >>> X, y = [[0], [1], [2], [3]], ["no", None, None, "yes"]
    >>> rows, utilities = RandomQuery(random_state=0).query(X, y, return_utilities=True)
    >>> int(rows[0]) in (1, 2), utilities.tolist()
    (True, [[nan, 0.0, 0.0, nan]])
    """

    def __init__(self, missing_label=np.nan, classes=None, random_state=None):
        self.missing_label = missing_label
        self.classes = classes
        self.random_state = random_state

    def _utilities(self, pool, committee):
        return np.zeros(len(pool.candidates))


class MarginSampling(CommitteeQuery):
    """Ask for the cases on which the classifier that predicts is least decided.

    The utility is 1 minus the difference of the two largest probabilities. In our study of ten
    tables, with 10 to 100 labels, the cases were as good as those of `ActiveDecorate`, and neither
    was beyond chance better than random cases (`python -m benchmarks.decorate.margins`).

    Parameters
    ----------
    estimator : classifier, default=None
        What predicts, and so asks. Trees and forests of scikit-learn receive numbers, one indicator
        per nominal value. None is a `sklearn.ensemble.RandomForestClassifier`.
    missing_label : object, default=nan
        Marks rows without a label; NaN and None stand for every missing value.
    classes : array-like of labels, default=None
        All labels that may occur; another one is an error. None is those found in ``y``.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    References
    ----------
    Scheffer, Decomain & Wrobel (2001), "Active hidden Markov models for information extraction",
    IDA.

    Examples
    --------
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["no", "no", None, None, "yes", "yes"]
    >>> bool(MarginSampling(random_state=0).query(X, y)[0] in (2, 3))
    True
    """

    def __init__(self, estimator=None, missing_label=np.nan, classes=None, random_state=None):
        self.estimator = estimator
        self.missing_label = missing_label
        self.classes = classes
        self.random_state = random_state

    def committee(self):
        """What predicts, not fitted: a scikit-learn classifier with ``member_probabilities``."""
        return SingleClassifier(self.estimator, self.random_state)

    def _check(self, pool):
        check_estimator(self.estimator)

    def _utility(self, members, committee, pool):
        return small_margin(members)


class QueryByBagging(CommitteeQuery):
    """Ask for the cases on which bagged members are least decided.

    Parameters
    ----------
    estimator : classifier, default=None
        A member of the committee. None is a full `DecisionTreeClassifier` on numbers and one
        indicator per nominal value; a `bnmtl.classification.BayesNetClassifier` learns a network
        from each bootstrap (with ``unseen="ignore"`` where columns are not categories).
    n_estimators : int, default=15
        Number of members.
    margin : {"probability", "votes"}, default="probability"
        The difference of the two largest mean probabilities or of the two largest numbers of votes,
        which is small where the committee is undecided.
    missing_label : object, default=nan
        Marks rows without a label; NaN and None stand for every missing value.
    classes : array-like of labels, default=None
        All labels that may occur; another one is an error. None is those found in ``y``.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    References
    ----------
    Abe & Mamitsuka (1998), "Query learning strategies using boosting and bagging", ICML; Melville
    (2005), chapter 6.
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=15,
        margin="probability",
        missing_label=np.nan,
        classes=None,
        random_state=None,
    ):
        super().__init__(estimator, n_estimators, missing_label, classes, random_state)
        self.margin = margin

    def committee(self):
        """The committee, not fitted: a scikit-learn classifier with ``member_probabilities``."""
        return BaggingCommittee(self.estimator, self.n_estimators, self.random_state)

    def _check(self, pool):
        super()._check(pool)
        check_choice("margin", self.margin, ("probability", "votes"))

    def _utility(self, members, committee, pool):
        return (small_margin if self.margin == "probability" else small_vote_margin)(members)


class QueryByBoosting(CommitteeQuery):
    """Ask for the cases on which the weighted vote of boosted members is least decided.

    In our study it was on none of 15 tables beyond chance better than random cases, and on two
    worse (`python -m benchmarks.decorate.queries`).

    Parameters
    ----------
    estimator : classifier, default=None
        A member of the committee, which receives numbers, one indicator per nominal value. None is
        a full `DecisionTreeClassifier`.
    n_estimators, missing_label, classes, random_state
        As in `QueryByBagging`.

    References
    ----------
    Abe & Mamitsuka (1998), "Query learning strategies using boosting and bagging", ICML; Melville
    (2005), chapter 6.
    """

    _used = ("member_probabilities", "member_weights_")

    def committee(self):
        """The committee, not fitted: a scikit-learn classifier with ``member_probabilities``."""
        return BoostingCommittee(self.estimator, self.n_estimators, self.random_state)

    def _utility(self, members, committee, pool):
        return small_vote_margin(members, committee.member_weights_)


def _decorate(strategy, **options):
    """The DECORATE ensemble of a strategy; larger ones may try more members."""
    return DecorateClassifier(
        strategy.estimator,
        n_estimators=strategy.n_estimators,
        max_iterations=max(_MAX_ITERATIONS, strategy.n_estimators + _MORE_ITERATIONS),
        task_column=strategy.task_column,
        random_state=strategy.random_state,
        **options,
    )


class ActiveDecorate(CommitteeQuery):
    """Ask for the cases on which a DECORATE ensemble is least decided.

    Parameters
    ----------
    estimator : classifier, default=None
        A member of the committee, as in `bnmtl.decorate.DecorateClassifier`.
    n_estimators : int, default=15
        Number of members.
    utility : {"margin", "jensen_shannon"}, default="margin"
        1 minus the difference of the two largest mean probabilities, or the disagreement of the
        members.
    task_column : str or int, default=None
        The column that names the task of each row, as in `bnmtl.decorate.DecorateClassifier`.
    missing_label : object, default=nan
        Marks rows without a label; NaN and None stand for every missing value.
    classes : array-like of labels, default=None
        All labels that may occur; another one is an error. None is those found in ``y``.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    References
    ----------
    Melville (2005), section 6.2; section 6.4.1 for "jensen_shannon".

    Examples
    --------
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["no", "no", None, None, "yes", "yes"]
    >>> bool(ActiveDecorate(random_state=0).query(X, y)[0] in (2, 3))
    True
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=15,
        utility="margin",
        task_column=None,
        missing_label=np.nan,
        classes=None,
        random_state=None,
    ):
        super().__init__(estimator, n_estimators, missing_label, classes, random_state)
        self.utility = utility
        self.task_column = task_column

    def committee(self):
        """The committee, not fitted: a scikit-learn classifier with ``member_probabilities``."""
        return _decorate(self)

    def _check(self, pool):
        super()._check(pool)
        check_choice("utility", self.utility, ("margin", "jensen_shannon"))

    def _utility(self, members, committee, pool):
        return (small_margin if self.utility == "margin" else jensen_shannon)(members)


class ActiveDecorateJS(CommitteeQuery):
    """Draw cases in proportion to the disagreement of a DECORATE ensemble.

    It aims at the probabilities of classes: members are rejected by squared error.

    Parameters
    ----------
    estimator, n_estimators, task_column, missing_label, classes, random_state
        As in `ActiveDecorate`.

    References
    ----------
    Melville (2005), section 7.1, algorithm 5.
    """

    draws = True

    def __init__(
        self,
        estimator=None,
        n_estimators=15,
        task_column=None,
        missing_label=np.nan,
        classes=None,
        random_state=None,
    ):
        super().__init__(estimator, n_estimators, missing_label, classes, random_state)
        self.task_column = task_column

    def committee(self):
        """The committee, not fitted: a scikit-learn classifier with ``member_probabilities``."""
        return _decorate(self, reject="squared")

    def _utility(self, members, committee, pool):
        return jensen_shannon(members)


class _BootstrapQuery(CommitteeQuery):
    """Base of strategies that draw cases by the spread of bagged probability trees."""

    draws = True

    def committee(self):
        """The committee, not fitted: a scikit-learn classifier with ``member_probabilities``."""
        return TreeCommittee(self.estimator, self.n_estimators, self.random_state)


class BootstrapLV(_BootstrapQuery):
    """Draw cases in proportion to the local variance of bagged probabilities, for two classes.

    The utility is the sum over members of squared deviations from the mean probability of the
    minority class, divided by this mean, which is at least 1 / (number of labels + 2).

    Parameters
    ----------
    estimator : classifier, default=None
        A member of the committee. None is a full `bnmtl.trees.ProbabilityTree` with Laplace's
        correction, on numbers and one indicator per nominal value.
    n_estimators : int, default=15
        Number of members.
    minority_class : label, default=None
        None is the class with fewer labels, the first of two with as many.
    missing_label : object, default=nan
        Marks rows without a label; NaN and None stand for every missing value.
    classes : array-like of labels, default=None
        All labels that may occur; another one is an error. None is those found in ``y``.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    References
    ----------
    Saar-Tsechansky & Provost (2004), "Active sampling for class probability estimation and
    ranking", Machine Learning 54; Melville (2005), section 7.2.
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=15,
        minority_class=None,
        missing_label=np.nan,
        classes=None,
        random_state=None,
    ):
        super().__init__(estimator, n_estimators, missing_label, classes, random_state)
        self.minority_class = minority_class

    def _check(self, pool):
        super()._check(pool)
        found = np.unique(pool.y if self.classes is None else known_classes(self.classes))
        if len(found) > 2:
            raise InputError(
                f"must hold two classes, got {len(found)!r}",
                argument="y",
                remedy="use `BootstrapLVExt` or `BootstrapJS`",
                cli_remedy="choose `--strategy bootstrap-lv-ext` or `bootstrap-js`",
            )
        # One class says nothing about the other, and leaves nothing to decide.
        names = found.tolist()
        if self.minority_class is not None and len(found) == 2 and self.minority_class not in names:
            message = f"must be one of {listed(found.tolist())}, got {self.minority_class!r}"
            raise InputError(message, argument="minority_class")

    def _utility(self, members, committee, pool):
        classes, counts = np.unique(pool.y, return_counts=True)
        if len(classes) == 1:
            return np.zeros(members.shape[1])
        rare = self.minority_class
        rare = int(counts.argmin()) if rare is None else classes.tolist().index(rare)
        return local_variance(members, rare, 1 / (len(pool.y) + 2))


class BootstrapLVExt(_BootstrapQuery):
    """Draw cases in proportion to the mean variance of the bagged probabilities of all classes.

    Parameters
    ----------
    estimator, n_estimators, missing_label, classes, random_state
        As in `BootstrapLV`.

    References
    ----------
    Melville (2005), section 7.2.
    """

    def _utility(self, members, committee, pool):
        return class_variance(members)


class BootstrapJS(_BootstrapQuery):
    """Draw cases in proportion to the disagreement of bagged probability trees.

    Parameters
    ----------
    estimator, n_estimators, missing_label, classes, random_state
        As in `BootstrapLV`.

    References
    ----------
    Melville (2005), section 7.2, algorithm 6.
    """

    def _utility(self, members, committee, pool):
        return jensen_shannon(members)
