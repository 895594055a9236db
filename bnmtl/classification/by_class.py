"""Multi-nets: one network for each class, with the classes as tasks."""

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.network import NetworkClassifier
from bnmtl.classification.rows import (
    coded,
    encoded,
    features_of,
    labelled,
    new_learner,
    used_rows,
)
from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.learners import MultitaskLearner, PooledLearner
from bnmtl.networks.inference import check_possible, log_evidence
from bnmtl.networks.tables import posterior_mean
from bnmtl.threads import fitted_alone


class MultiNetClassifier(NetworkClassifier):
    """Learn one network of the features per class, together, and predict by Bayes' rule.

    P(class | features) is proportional to P(class) P(features | class). Unlike in one network with
    a class variable, features may depend on each other in one class but not in another; unlike
    networks learned separately, those of rare classes borrow from the others.

    Parameters
    ----------
    target : str, default=None
        The column to predict, if ``fit`` receives one frame.
    learner : learner, default=None
        From `bnmtl.learners`, for tasks named after the classes; None is `MultitaskLearner()`, with
        which classes share arcs and tables. `SingleTaskLearner()` learns the networks separately. A
        grid search over parameters such as ``learner__prior__penalty`` needs a learner with a
        prior: ``MultitaskLearner(EditPrior(0.5))``. Its ``missing`` sets the handling of missing
        features in ``fit``.
    unseen : {"error", "ignore"}, default="error"
        Values not seen in the fit raise an error that names them, or are treated as missing.
    bins : int, default=5
        Number of bins of a column of numbers, as in `BayesNetClassifier`; classes share them.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the learner; None leaves the one that `learner` has.

    Attributes
    ----------
    classes_ : numpy.ndarray, shape (n_classes,)
        The observed values of the target, sorted.
    networks_ : dict class name -> BayesNet
        Networks of the features, given the class; names are the classes as text.
    edges_ : bnmtl.tasks.Edges
        Cut points of the columns of numbers.
    class_log_prior_ : numpy.ndarray, shape (n_classes,)
        Log P(class), estimated as a table without parents under the learner's
        ``parameter_sample_size``.
    learner_ : learner
        The fitted learner.
    feature_names_ : tuple of str
        The names of the features in the networks.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if the names of the features are strings.
    by_name_ : bool
        Whether predictions find columns by name, which is the case after a fit to a frame.

    Raises
    ------
    TypeError, ValueError
        As `BayesNetClassifier`, and in ``fit`` for classes with one row.

    References
    ----------
    Geiger & Heckerman (1996), "Knowledge representation and inference in similarity networks and
    Bayesian multinets", Artificial Intelligence 82; Niculescu-Mizil (2008), section 2.5.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, structures
    >>> rows = structures.load("asia").sample(1000, random_state=0)
    >>> classifier = MultiNetClassifier("bronc", MultitaskLearner()).fit(rows)
    >>> sorted(classifier.networks_), classifier.predict(rows[:2]).tolist()
    (['no', 'yes'], ['yes', 'no'])
    """

    @fitted_alone
    def fit(self, X, y=None, sample_weight=None):
        """Learn the networks.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)
            Columns of an array are named x0, x1, ... Without `y`, a frame that includes the target.
        y : array-like, shape (n_rows,), default=None
        sample_weight : array-like of whole numbers, shape (n_rows,), default=None
            A row with the weight 2 counts as two rows, one with the weight 0 is left out.

        Returns
        -------
        MultiNetClassifier
        """
        if isinstance(self.learner, PooledLearner):
            message = "must not be a PooledLearner, whose networks are the same for all classes"
            remedy = "IdenticalLearner() gives them one structure"
            raise InputTypeError(message, argument="learner", remedy=remedy)
        features, target, classes, labels, codes = labelled(self, X, y, sample_weight)
        sizes = np.bincount(codes)
        if sizes.min() < 2:
            message = (
                "must contain every class twice or more, so that it can have its own network; "
                f"`{labels[sizes.argmin()]}` occurs once"
            )
            place = {"column": target} if y is None else {"argument": "y"}
            remedy = "leave it out, or merge it with another class"
            raise InputError(message, **place, remedy=remedy)
        learner = new_learner(self.learner, MultitaskLearner(), self.random_state)
        rows = used_rows(features, codes, labels, learner, smallest=2)
        frames = {label: features[rows & (codes == at)] for at, label in enumerate(labels)}
        learner.fit(encoded(frames, learner))
        self.learner_, self.classes_ = learner, classes
        self.networks_ = {label: learner.networks_[label] for label in labels}
        n_rows = np.array([learner.tasks_[label].n_rows for label in labels])
        self.class_log_prior_ = np.log(posterior_mean(n_rows, learner.parameter_sample_size))
        return self

    def predict_proba(self, X):
        """Probability of each class in each row.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)
            Columns of a frame are found by name; other columns, including the target, are ignored.
            Missing cells are allowed: the observed cells of the row are used, by exact inference.

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        states = next(iter(self.networks_.values())).states
        with located(argument="X"):
            frame = features_of(self, X, self.feature_names_, argument="X")
            codes = coded(frame, states, self.unseen, self.edges_)
        log_joint = np.column_stack(
            [log_evidence(network, codes, len(frame)) for network in self.networks_.values()]
        )
        log_joint += self.class_log_prior_
        with np.errstate(invalid="ignore"):
            result = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
        with located(argument="X"):
            check_possible(result, frame.index)
        return result
