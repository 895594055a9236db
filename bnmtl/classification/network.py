"""A learned network as a classifier of one of its variables."""

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.rows import (
    check_complete,
    check_parameters,
    coded,
    encoded,
    features_of,
    labelled,
    new_learner,
    used_rows,
)
from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.learners import SingleTaskLearner
from bnmtl.networks import BayesNet
from bnmtl.networks.inference import check_possible, markov_blanket, posteriors
from bnmtl.tasks import Edges
from bnmtl.tasks.labels import LabelScore
from bnmtl.threads import fitted_alone
from bnmtl.wording import listed, type_of


class NetworkClassifier(LabelScore, ClassifierMixin, BaseEstimator):
    """Base of classifiers; subclasses fit networks and predict probabilities."""

    def __init__(self, target=None, learner=None, unseen="error", bins=5, random_state=None):
        self.target = target
        self.learner = learner
        self.unseen = unseen
        self.bins = bins
        self.random_state = random_state

    def predict(self, X):
        """The most probable class of each row; the first among ties.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)

        Returns
        -------
        numpy.ndarray, shape (n_rows,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X):
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = getattr(self, "target", None) is None
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        # In predictions gaps are always allowed.
        tags.input_tags.allow_nan = getattr(self.learner, "missing", "error") != "error"
        return tags


class BayesNetClassifier(NetworkClassifier):
    """Learn a Bayesian network and predict one of its variables from the others.

    Features are categories, strings, booleans or numbers. Numbers are discretized, except whole
    numbers of at most `bins` or 10 different values, which are states. A row with a complete Markov
    blanket is predicted from the blanket alone, and other columns are ignored. If a value of
    the blanket is missing, all observed values of the row are used, by exact inference, once for
    each distinct pattern.

    Networks pay as classifiers where many features are missing in predictions: with half of them
    missing the log loss was 0.391 on six tables of 100 rows, that of logistic regression 0.500 with
    means in the gaps and 0.420 with `IterativeImputer`, and that of a forest 0.592. With complete
    rows logistic regression predicts better, 0.252 against 0.301 (``benchmarks/predictions``,
    `gaps`).

    Parameters
    ----------
    target : str, default=None
        The column to predict, if ``fit`` receives one frame. If it receives `y`, the name of the
        target in the network; None is the name of `y`, or "target".
    learner : learner, default=None
        From `bnmtl.learners`; None is `SingleTaskLearner()`, which must be given explicitly for a
        grid search over parameters such as ``learner__max_parents``. Required and forbidden arcs
        may name the target. Its ``missing`` sets the handling of missing features in ``fit``.
    unseen : {"error", "ignore"}, default="error"
        Values not seen in the fit raise an error that names them if they are needed, or are treated
        as missing. A number is in some bin, and values that cannot be states or numbers are always
        an error.
    bins : int, default=5
        Number of bins of a column of numbers, each with about the same number of rows. Make a
        column categorical if its whole numbers are states.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the learner; None leaves the one that `learner` has.

    Attributes
    ----------
    classes_ : numpy.ndarray, shape (n_classes,)
        The observed values of the target, or those of `from_network`; sorted.
    network_ : BayesNet
    edges_ : bnmtl.tasks.Edges
        Cut points of the columns of numbers.
    states_ : tuple of str
        The names of the classes in the network, in the order of `classes_`.
    target_ : str
        The name of the target in the network.
    learner_ : learner
        The fitted learner; None after `from_network`.
    blanket_ : tuple of str
        The Markov blanket of the target, sorted.
    feature_names_ : tuple of str
        The names of the features in the network.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if the names of the features are strings.
    by_name_ : bool
        Whether predictions find columns by name, which is the case after a fit to a frame.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for a target with missing values or without a column, infinite numbers, weights
        that are not whole numbers, and as the learner, for example for missing features with
        ``missing="error"``. In predictions: for unseen values, arrays with a different number of
        columns, frames without any of the features, and evidence that is impossible under the
        network (only if its tables contain zeros).

    Warns
    -----
    UserWarning
        In ``fit``: for constant features, and rows dropped by the learner because of missing
        values. In predictions: if features of the blanket are not columns, which are treated as
        missing.

    Examples
    --------
    >>> from bnmtl import structures
    >>> rows = structures.load("asia").sample(2000, random_state=0)
    >>> classifier = BayesNetClassifier("bronc").fit(rows[:1000])
    >>> classifier.blanket_, classifier.score(rows[1000:], rows["bronc"][1000:])
    (('dysp', 'lung', 'smoke'), 0.868)

    Numbers have bins, and predictions may have gaps, also in a pipeline:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> flowers = BayesNetClassifier(random_state=0).fit(X, y)
    >>> flowers.predict_proba(X[:1].assign(**{"petal length (cm)": None})).round(1).tolist()
    [[1.0, 0.0, 0.0]]
    """

    @fitted_alone
    def fit(self, X, y=None, sample_weight=None):
        """Learn the network.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)
            Columns of an array are named x0, x1, ... Without `y`, a frame that includes the target.
        y : array-like, shape (n_rows,), default=None
        sample_weight : array-like of whole numbers, shape (n_rows,), default=None
            A row with the weight 2 counts as two rows, one with the weight 0 is left out.

        Returns
        -------
        BayesNetClassifier
        """
        features, target, classes, labels, codes = labelled(self, X, y, sample_weight)
        learner = new_learner(self.learner, SingleTaskLearner(), self.random_state)
        rows = used_rows(features, codes, labels, learner, smallest=1)
        column = pd.Categorical.from_codes(codes[rows], labels)
        learner.fit(encoded({"task1": features[rows].assign(**{target: column})}, learner))
        self.learner_ = learner
        (network,) = learner.networks_.values()
        return self._publish(network, target, classes)

    @classmethod
    def from_network(cls, network, target, unseen="error", classes=None, features=None, edges=None):
        """Make a fitted classifier from an existing network.

        Parameters
        ----------
        network : BayesNet
        target : str
            One of its variables.
        unseen : {"error", "ignore"}, default="error"
        classes : array-like, shape (n_classes,), default=None
            The classes denoted by the states of the target, in the order of the states, such as
            numbers or booleans; None is the states themselves.
        features : sequence of str, default=None
            The other variables, in the order of the columns of an array; None is their order in the
            network.
        edges : bnmtl.tasks.Edges, default=None
            Cut points of the variables that were numbers, as `bnmtl.tasks.discretize` returns them;
            predictions then take numbers. None if there are none.

        Returns
        -------
        BayesNetClassifier

        Raises
        ------
        TypeError, ValueError
            If it is not a network, the target is not one of its variables or is the only one, the
            classes are not one distinct value per state, or the features are not the other
            variables.

        Examples
        --------
        >>> from bnmtl import structures
        >>> classifier = BayesNetClassifier.from_network(structures.load("asia"), "bronc")
        >>> evidence = pd.DataFrame({"dysp": ["yes", "no"], "smoke": "yes", "either": "no"})
        >>> classifier.predict(evidence[["dysp", "either", "smoke"]]).tolist()
        ['yes', 'no']
        """
        if not isinstance(network, BayesNet):
            message = f"must be a BayesNet, got {type_of(network)}"
            remedy = "`BayesNet.from_bif` reads one from a file"
            raise InputTypeError(message, argument="network", remedy=remedy)
        if not isinstance(target, str) or target not in network.states:
            message = f"must be one of {listed(network.variables, 'variable')}, got {target!r}"
            raise InputError(message, argument="target")
        others = tuple(name for name in network.variables if name != target)
        if not others:
            message = "must have variables besides the target; it has none"
            raise InputError(message, argument="network")
        features = others if features is None else tuple(features)
        if len(features) != len(others) or set(features) != set(others):
            message = (
                f"must be the variables besides the target, {listed(others)}, in any order, got "
                f"{features!r}"
            )
            raise InputError(message, argument="features")
        states = network.states[target]
        classes = np.array(states, dtype=object) if classes is None else np.asarray(classes)
        if classes.shape != (len(states),) or len(set(classes.tolist())) < len(states):
            message = (
                f"must be one value for each state of `{target}`, {listed(states)}, all different, "
                f"got {classes.tolist()!r}"
            )
            raise InputError(message, argument="classes")
        with located(argument="classes"):
            check_complete(classes)
        check_parameters(unseen, None)
        if edges is not None and not isinstance(edges, Edges):
            remedy = "`bnmtl.tasks.discretize` returns them"
            message = f"must be Edges, got {type_of(edges)}"
            raise InputTypeError(message, argument="edges", remedy=remedy)
        classifier = cls(target, unseen=unseen)
        classifier.learner_, classifier.by_name_ = None, True
        classifier.edges_ = Edges({}) if edges is None else edges
        classifier.feature_names_, classifier.n_features_in_ = features, len(features)
        classifier.feature_names_in_ = np.array(features, dtype=object)
        return classifier._publish(network, target, classes)

    def _publish(self, network, target, classes):
        # Sorted, as scikit-learn expects; the states of a network may be in any order.
        self._order = np.argsort(classes, kind="stable")
        self.network_, self.target_, self.classes_ = network, target, classes[self._order]
        self.states_ = tuple(network.states[target][at] for at in self._order)
        self.blanket_ = tuple(sorted(markov_blanket(network.graph, target)))
        connected = nx.node_connected_component(network.graph.to_undirected(as_view=True), target)
        self._connected = tuple(sorted(connected - {target}))
        return self

    def predict_proba(self, X):
        """Probability of each class in each row.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_features)
            Columns of a frame are found by name; other columns, including the target, are ignored.
            Missing cells are allowed.

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        check_is_fitted(self)
        with located(argument="X"):
            return self._probabilities(X, argument="X")

    def _probabilities(self, X, **place):
        """`predict_proba` with a place for warnings."""
        frame, states = features_of(self, X, self.blanket_, **place), self.network_.states
        blanket = {name: states[name] for name in self.blanket_}
        codes = coded(frame, blanket, self.unseen, self.edges_)
        complete = np.ones(len(frame), dtype=bool)
        for column in codes.values():
            complete &= column >= 0
        result = np.empty((len(frame), len(self.classes_)))
        known = {name: column[complete] for name, column in codes.items()}
        result[complete] = posteriors(self.network_, self.target_, known, complete.sum())
        if not complete.all():
            depending = {name: states[name] for name in self._connected}
            known = coded(frame, depending, self.unseen, self.edges_, ~complete)
            result[~complete] = posteriors(self.network_, self.target_, known, (~complete).sum())
        check_possible(result, frame.index)
        return result[:, self._order]
