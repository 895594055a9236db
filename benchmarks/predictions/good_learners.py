"""The learners of the study of good probabilities, with the parameters tried for each.

They follow appendix 4.B of the thesis as far as scikit-learn supports it; `DIFFERENCES` lists the
exceptions, including limits that keep the study to hours. Each learner in `LEARNERS` is a generator
of `Model`.
"""

import itertools
from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bnmtl import MultitaskLearner, SingleTaskLearner
from bnmtl.calibration import AdaBoostM1
from bnmtl.classification import BayesNetClassifier, MultiNetClassifier

TREE_STEPS = tuple(2**k for k in range(1, 12))
STUMP_STEPS = tuple(2**k for k in range(1, 14))
PRUNING = (0.0, 1e-4, 3e-4, 1e-3, 3e-3)
N_BAGGED, N_FOREST = 100, 1024
FOREST_FEATURES = (1, 2, 4, 6, 8, 12, 16, 20)
SVM_COSTS = tuple(10.0**k for k in range(-3, 4))
SVM_WIDTHS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
SVM_ITERATIONS = 100_000
RIDGES = (0.0, *(10.0**k for k in range(-8, 5)))
HIDDEN_UNITS = (1, 2, 4, 8, 32, 128)
MOMENTA = (0.0, 0.2, 0.5, 0.9)
EPOCHS = (1, 2, 4, 8, 16, 32, 64, 128)
LEARNING_RATE = 0.05
N_NEIGHBORS = 26
KERNEL_WIDTHS = tuple(2.0**k for k in range(11))
BINS = (3, 5, 8)
CHUNK = 2000  # rows whose neighbors are kept in memory at a time

DIFFERENCES = (
    ("decision trees", "ten styles of IND and C4", "gini; entropy, Laplace leaves; 5 prunings"),
    ("bagged trees", "100 trees of each style", "the same of two styles"),
    ("boosted trees", "each style, 2 - 2048 steps", "gini and entropy; the same steps"),
    ("boosted stumps", "five criteria, resampled", "gini, resampled and weighted; the same steps"),
    ("random forests", "Breiman-Cutler, 1024 trees", "scikit-learn, 1024 trees"),
    ("SVMs", "SVMLight, C 1e-7 - 1e3", "libsvm, C 1e-3 - 1e3, 100,000 iterations at most"),
    ("neural nets", "many epochs", "the same sizes and momenta; eight epochs up to 128"),
    ("logistic regression", "ridge 1e-8 - 1e4, none", "the same"),
    ("nearest neighbors", "26 k, gain ratio, kernels", "the same"),
    ("naive Bayes", "normal, kernel, supervised bins", "normal; 3, 5 and 8 even bins"),
    ("nominal attributes", "as they are and as 0 and 1", "0 and 1; for naive Bayes also in bins"),
    ("trials", "five folds of the same 5000 rows", "five draws"),
    ("COVTYPE", "all 581,012 rows", "30,000 of them, drawn evenly; 25,000 test"),
    ("positives of COVTYPE", "said to be the largest class, 36 %", "class 1, 36.3 %; 2 is larger"),
    ("positives of LETTER.p2", "A - M, 53 %", "A - M, which are 49.7 %"),
)


class Model(NamedTuple):
    """A fitted model: scores of the calibration rows, and a function for those of other rows.

    ``methods`` are functions from scores to probabilities without calibration, by name;
    ``calibrated`` says whether calibrators are also fitted to the scores, and ``bounded`` whether
    all possible scores are from 0 to 1. ``score`` takes an array of rows.
    """

    parameters: str
    scores: np.ndarray
    score: Callable
    methods: dict
    calibrated: bool = True
    bounded: bool = True


def itself(scores):
    """Return scores that are already probabilities."""
    return scores


def probabilistic(parameters, model, X, calibration):
    """A model whose probabilities are its scores; ``X[rows]`` are the features of rows."""

    def score(rows):
        return model.predict_proba(X[rows])[:, 1]

    return Model(parameters, score(calibration), score, {"before": itself})


class LaplaceTree(DecisionTreeClassifier):
    """A tree with Laplace smoothing: one additional case of each class in every leaf."""

    def predict_proba(self, X):
        """(n1 + 1) / (n + 2) in each leaf, for two classes."""
        leaves = self.apply(X)
        n_cases = self.tree_.weighted_n_node_samples[leaves]
        counts = self.tree_.value[leaves, 0] * n_cases[:, None]
        return (counts + 1) / (n_cases + len(self.classes_))[:, None]


def _styles(seed):
    yield "gini", DecisionTreeClassifier(random_state=seed)
    yield "entropy, Laplace", LaplaceTree(criterion="entropy", random_state=seed)


def decision_trees(views, y, train, calibration, seed):
    """Trees of two styles with cost-complexity pruning."""
    for (style, tree), alpha in itertools.product(_styles(seed), PRUNING):
        model = deepcopy(tree).set_params(ccp_alpha=alpha).fit(views.numbers[train], y[train])
        yield probabilistic(f"{style}, alpha {alpha:g}", model, views.numbers, calibration)


def bagged_trees(views, y, train, calibration, seed):
    """The averaged probabilities of 100 trees of each style."""
    for style, tree in _styles(seed):
        model = BaggingClassifier(tree, N_BAGGED, random_state=seed)
        model.fit(views.numbers[train], y[train])
        yield probabilistic(style, model, views.numbers, calibration)


def random_forests(views, y, train, calibration, seed):
    """1024 trees that try a subset of the features at each split."""
    for number in FOREST_FEATURES:
        if number <= views.numbers.shape[1]:
            model = RandomForestClassifier(N_FOREST, max_features=number, random_state=seed)
            model.fit(views.numbers[train], y[train])
            yield probabilistic(f"{number} features", model, views.numbers, calibration)


class Stages:
    """Decision functions of one boosted model after some numbers of steps, cached by rows."""

    def __init__(self, model, X, steps):
        self._model, self._X, self._steps = model, X, steps
        self._known = {}

    def at(self, rows):
        """Decision functions by number of steps."""
        key = rows.tobytes()
        if key not in self._known:
            stages = enumerate(self._model.staged_decision_function(self._X[rows]), 1)
            self._known[key] = {step: scores for step, scores in stages if step in self._steps}
        return self._known[key]


def _boosted(name, template, steps, views, y, train, calibration, seed):
    """Models with both losses: exponential to be calibrated or corrected, logistic as it is."""
    for loss in ("exponential", "logistic"):
        model = clone(template).set_params(n_estimators=steps[-1], loss=loss, random_state=seed)
        model.fit(views.numbers[train], y[train])
        stages = Stages(model, views.numbers, steps)
        totals = np.cumsum(model.estimator_weights_)
        for step in steps:
            total = max(totals[step - 1], 1e-10)
            yield _stage(f"{name}, {step} steps", stages, step, total, loss, calibration)


def _stage(parameters, stages, step, total, loss, calibration):
    def score(rows):
        return np.clip((1 + stages.at(rows)[step] / total) / 2, 0, 1)

    def corrected(scores):
        return expit((2 if loss == "exponential" else 1) * (2 * scores - 1) * total)

    methods = {"before": itself, "logistic correction": corrected}
    if loss == "logistic":
        methods = {"log-loss": corrected}
    return Model(parameters, score(calibration), score, methods, loss == "exponential")


def boosted_trees(views, y, train, calibration, seed):
    """Full trees with two criteria."""
    for criterion in ("gini", "entropy"):
        template = AdaBoostM1(DecisionTreeClassifier(criterion=criterion))
        yield from _boosted(criterion, template, TREE_STEPS, views, y, train, calibration, seed)


def boosted_stumps(views, y, train, calibration, seed):
    """Trees with one split, fitted to rows resampled by weight and to weighted rows."""
    for name, resample in (("resampled", True), ("weighted", False)):
        template = AdaBoostM1(DecisionTreeClassifier(max_depth=1), resample=resample)
        yield from _boosted(name, template, STUMP_STEPS, views, y, train, calibration, seed)


def support_vectors(views, y, train, calibration, seed):
    """Four kinds of kernels; without calibration, margins are scaled by the calibration rows."""
    X = views.scaled
    kernels = [{"kernel": "linear"}]
    kernels += [
        {"kernel": "poly", "degree": degree, "coef0": 1.0, "gamma": 1 / X.shape[1]}
        for degree in (2, 3)
    ]
    kernels += [{"kernel": "rbf", "gamma": width} for width in SVM_WIDTHS]
    for kernel, cost in itertools.product(kernels, SVM_COSTS):
        model = SVC(C=cost, max_iter=SVM_ITERATIONS, cache_size=500, **kernel)
        model.fit(X[train], y[train])
        name = kernel["kernel"] + f" {kernel.get('degree', kernel.get('gamma', ''))}".rstrip()
        yield _margins(f"{name}, C {cost:g}", model, X, calibration)


def _margins(parameters, model, X, calibration):
    def score(rows):
        return model.decision_function(X[rows])

    scores = score(calibration)
    low, high = scores.min(), scores.max()

    def scaled(scores):
        return np.clip((scores - low) / ((high - low) or 1.0), 0, 1)

    return Model(parameters, scores, score, {"before": scaled}, bounded=False)


def neural_nets(views, y, train, calibration, seed):
    """Nets with one hidden layer after some numbers of epochs."""
    X = views.scaled
    for units, momentum in itertools.product(HIDDEN_UNITS, MOMENTA):
        net = MLPClassifier(
            units,
            solver="sgd",
            alpha=0.0,
            learning_rate_init=LEARNING_RATE,
            momentum=momentum,
            random_state=seed,
        )
        for epoch in range(1, EPOCHS[-1] + 1):
            net.partial_fit(X[train], y[train], classes=[0, 1])
            if epoch in EPOCHS:
                name = f"{units} units, momentum {momentum:g}, {epoch} epochs"
                yield probabilistic(name, deepcopy(net), X, calibration)


def logistic_regression(views, y, train, calibration, seed):
    """Logistic regression with and without a ridge penalty."""
    for ridge in RIDGES:
        model = LogisticRegression(C=1 / ridge if ridge else np.inf, max_iter=1000)
        model.fit(views.scaled[train], y[train])
        yield probabilistic(f"ridge {ridge:g}", model, views.scaled, calibration)


def gain_ratios(X, y):
    """Mutual information of each column and the class, divided by the entropy of the column."""
    ratios = []
    for column in X.T:
        cuts = np.unique(np.quantile(column, np.arange(1, 5) / 5))
        codes = np.searchsorted(cuts, column, side="left")
        entropy = mutual_info_score(codes, codes)
        ratios.append(mutual_info_score(codes, y) / entropy if entropy > 0 else 0.0)
    return np.array(ratios)


def nearest_neighbors(views, y, train, calibration, seed):
    """Votes of k neighbors, equal or weighted by distance, and of all rows with a kernel."""
    ratios = gain_ratios(views.scaled[train], y[train])
    for name, X in (("", views.scaled), (", gain ratio", views.scaled * np.sqrt(ratios))):
        numbers = np.unique(np.geomspace(1, len(train), N_NEIGHBORS).round().astype(int))
        for weights, number in itertools.product(("uniform", "distance"), numbers):
            text = f"{number} neighbors, {weights}{name}"
            yield _neighbors(text, X, y, train, calibration, int(number), weights)
        pairs = KNeighborsClassifier(2).fit(X[train], y[train]).kneighbors()[0][:, 0]
        nearest = pairs[pairs > 0].min()
        for width in KERNEL_WIDTHS:
            text = f"kernel width {width:g}{name}"
            kernel = _Kernel(width * nearest)
            yield _neighbors(text, X, y, train, calibration, len(train), kernel)


class _Kernel:
    """Weights that decay exponentially; the nearest row has weight 1, so that not all are 0."""

    def __init__(self, width):
        self._width = width

    def __call__(self, distances):
        return np.exp(-(distances - distances.min(axis=1, keepdims=True)) / self._width)


def _neighbors(parameters, X, y, train, calibration, number, weights):
    model = KNeighborsClassifier(number, weights=weights, algorithm="brute")
    model.fit(X[train], y[train])

    def score(rows):
        chunks = np.array_split(rows, -(-len(rows) // CHUNK))
        return np.concatenate([model.predict_proba(X[chunk])[:, 1] for chunk in chunks])

    return Model(parameters, score(calibration), score, {"before": itself})


def naive_bayes(views, y, train, calibration, seed):
    """Naive Bayes with normal distributions, and with bins."""
    model = GaussianNB().fit(views.numbers[train], y[train])
    yield probabilistic("Gaussian", model, views.numbers, calibration)
    for bins in BINS:
        frame = views.categories(bins)
        codes = np.column_stack([frame[column].cat.codes for column in frame])
        sizes = [len(frame[column].cat.categories) for column in frame]
        model = CategoricalNB(min_categories=sizes).fit(codes[train], y[train])
        yield probabilistic(f"{bins} bins", model, codes, calibration)


def _networks(views, y, train, calibration, make):
    for bins in BINS:
        frame = views.categories(bins)
        model = make().fit(frame.iloc[train], y[train])
        yield probabilistic(f"{bins} bins", model, frame.iloc, calibration)


def bayesian_networks(views, y, train, calibration, seed):
    """One network learned with the default settings."""
    learner = SingleTaskLearner(random_state=seed)
    return _networks(views, y, train, calibration, lambda: BayesNetClassifier(learner=learner))


def multi_nets(views, y, train, calibration, seed):
    """One network per class, learned together by default: they share arcs and tables."""
    learner = MultitaskLearner(random_state=seed)
    return _networks(views, y, train, calibration, lambda: MultiNetClassifier(learner=learner))


LEARNERS = {
    "boosted trees": boosted_trees,
    "random forests": random_forests,
    "SVMs": support_vectors,
    "bagged trees": bagged_trees,
    "neural nets": neural_nets,
    "boosted stumps": boosted_stumps,
    "nearest neighbors": nearest_neighbors,
    "decision trees": decision_trees,
    "logistic regression": logistic_regression,
    "naive Bayes": naive_bayes,
    "Bayesian network": bayesian_networks,
    "multi-net": multi_nets,
}
# Learners whose scores are margins or votes, not probabilities.
MARGINS = ("boosted trees", "boosted stumps", "SVMs")
