"""Families of models in a library, scikit-learn's and network classifiers."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bnmtl.calibration import AdaBoostM1
from bnmtl.classification import (
    BayesNetClassifier,
    MultiNetClassifier,
    MultitaskBayesNetClassifier,
)
from bnmtl.decorate import DecorateClassifier
from bnmtl.ensembles.library.columns import BINS, CODES, FRAME, NUMBERS, SCALED
from bnmtl.ensembles.library.trained import (
    Boosted,
    Counts,
    LaplaceTree,
    Margins,
    Neighbors,
    Single,
    Snapshots,
    Stages,
)
from bnmtl.errors import InputError
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.scores import BIC, BDs
from bnmtl.search import HillClimbing
from bnmtl.tasks.tables import as_one_sentence
from bnmtl.trees import MOBESP, BaggedPETs, EnhancedBaggedPETs

TARGET = "class to predict"
TOGETHER = "networks of all tasks"
# Families that `compile_networks` prepares.
COMPILED = ("Bayesian network", "multi-net", TOGETHER)
SCORES = {"BIC": BIC, "BDs": BDs}
SEARCHES = {"hill climbing": HillClimbing}


def _network(members, seed):
    member = members[0]
    options = {"score": SCORES[member["score"]]()} if member["score"] in SCORES else {}
    if member["search"] in SEARCHES:
        options["search"] = SEARCHES[member["search"]]()
    learner = SingleTaskLearner(**options, missing="state", random_state=seed)
    return Network(learner, member["principal"])


def _network_text(member):
    parts = [member["score"], member["search"]]
    parts = [part for part in parts if part != "default"]
    return ", ".join([*parts, *(["principal class"] if member["principal"] else [])])


def _multi_net(members, seed):
    shared = {True: MultitaskLearner, False: SingleTaskLearner}[members[0]["together"]]
    learner = shared(missing="state", random_state=seed)
    return Single(MultiNetClassifier(TARGET, learner, unseen="ignore"))


def _together(members, seed):
    member = members[0]
    options = {"score": SCORES[member["score"]]()} if member["score"] in SCORES else {}
    sharing = "auto" if member["shared"] else None
    learner = MultitaskLearner(table_sharing=sharing, missing="state", random_state=seed, **options)
    # A fold may lack a task whose rows are few or in one group.
    options = {"unknown_task": "average", "unseen": "ignore"}
    named = {name: member[name] for name in ("task_column", "penalty")}
    return Single(MultitaskBayesNetClassifier(learner=learner, **named, **options))


def _together_text(member):
    parts = [f"penalty {member['penalty']:g}"]
    parts += [member["score"]] if member["score"] != "default" else []
    parts += [] if member["shared"] else ["separate tables"]
    return ", ".join(parts)


def compile_networks():
    """Fit small networks, so that the time of the first one is not that of compilation."""
    rows = np.random.default_rng(0).integers(2, size=(20, 3))
    X, y = pd.DataFrame(rows[:, :2], columns=["a", "b"]).astype("category"), rows[:, 2]
    members = [
        {"score": score, "search": search, "principal": False}
        for score in ("default", *SCORES)
        for search in ("default", *SEARCHES)
    ]
    made = [_network([member], 0) for member in members]
    fixed = {"task_column": "a", "score": "default", "penalty": 0.9}
    for choice in (True, False):
        made.append(_multi_net([{"together": choice}], 0))
        made.append(_together([{**fixed, "shared": choice}], 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in made:
            model.fit(X, y).scores(X)


class Network(Single):
    """One network with the class; as the principal attribute it has an arc to every feature."""

    def __init__(self, learner, principal):
        self.learner, self.principal = learner, principal
        super().__init__(None)

    def fit(self, X, y):
        """Learn the network."""
        arcs = [(TARGET, str(name)) for name in X if X[name].nunique() > 1]
        learner = self.learner.set_params(required=arcs) if self.principal else self.learner
        self.estimator = BayesNetClassifier(TARGET, learner, unseen="ignore")
        return super().fit(X, y)


def _said_by_pyagrum():
    """Quote what pyAgrum says of a table; its exceptions are of a kind of their own."""
    from pyagrum import GumException

    rule = "must be a table from which a tree-augmented naive Bayes can be learned"
    return as_one_sentence(rule, "X", "pyAgrum", (GumException, TypeError, ValueError))


class TreeAugmented(Single):
    """Tree-augmented naive Bayes by pyAgrum."""

    def __init__(self):
        super().__init__(None)

    def fit(self, X, y):
        """Learn the tree of the columns that are not constant."""
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        self.names = [name for name in X if X[name].nunique() > 1]
        self.modes = {name: X[name].mode()[0] for name in self.names}
        self.known = {name: set(X[name].dropna()) for name in self.names}
        options = {"learningMethod": "TAN", "prior": "Smoothing"}
        self.estimator = BNClassifier(type_processor=DiscreteTypeProcessor(), **options)
        if not self.names:
            message = "must have a column with two values or more for tree-augmented naive Bayes"
            raise InputError(message, argument="X")
        with _said_by_pyagrum():
            return super().fit(self._texts(X), pd.Series(y, name="class"))

    def scores(self, X):
        """Probabilities of the classes."""
        with _said_by_pyagrum():
            return super().scores(self._texts(X))

    def _texts(self, X):
        """Categories as text; missing ones, and those not seen in the fit, become the mode."""
        found = {}
        for number, name in enumerate(self.names):
            values = X[name].astype(object)
            is_known = values.isin(self.known[name])
            # pyAgrum does not take all names of columns.
            found[f"v{number}"] = values.where(is_known, self.modes[name]).astype(str)
        return pd.DataFrame(found)


SVM_ITERATIONS = 100_000
LEARNING_RATE = 0.05
N_BAGGED, N_FOREST, N_MODERN = 100, 1024, 200
N_DECORATED, DECORATE_FITS = 15, 50
FORMS = {"Gaussian": (NUMBERS, CODES), "multinomial": (BINS,)}  # kinds of naive Bayes
CHOICES = {
    "criterion": ("gini", "entropy", "log_loss"),
    "smoothing": (None, "Laplace"),
    "loss": ("exponential", "logistic"),
    "resample": (True, False),
    "generator": ("marginals", "uniform", "pool"),
    "enhanced": (False, True),
    "kernel": ("linear", "poly", "rbf", "sigmoid"),
    "distance": ("Euclidean", "gain ratio"),
    "weights": ("uniform", "distance", "kernel"),
    "kind": ("Gaussian", "multinomial"),
    "score": ("default", *SCORES),
    "search": ("default", *SEARCHES),
    "principal": (True, False),
    "together": (True, False),
    "shared": (True, False),
}


class Family(NamedTuple):
    """How models of one family are made.

    Parameters
    ----------
    make : callable
        (members, seed) -> untrained model of `trained`; the members are the parameters of the
        models that share the fit.
    parameters : dict
        Names and defaults.
    describe : callable
        Parameters -> text, different for different parameters.
    forms : tuple of str
        Forms of the columns it can use; the first is the default.
    shared : tuple of str
        Parameters in which models of one fit may differ.
    takes_missing : bool
        Whether it takes missing cells.
    bounded : bool
        Whether its scores are from 0 to 1; margins are not.
    """

    make: Callable
    parameters: dict
    describe: Callable
    forms: tuple = (NUMBERS,)
    shared: tuple = ()
    takes_missing: bool = False
    bounded: bool = True


def _tree(member, seed, **options):
    if member["smoothing"] == "Laplace":
        return LaplaceTree(criterion=member["criterion"], random_state=seed, **options)
    return DecisionTreeClassifier(criterion=member["criterion"], random_state=seed, **options)


def _style(member):
    return member["criterion"] + (", Laplace" if member["smoothing"] == "Laplace" else "")


def _trees(member, default):
    return "" if member["trees"] == default else f", {member['trees']} trees"


def _bagged(members, seed):
    tree = _tree(members[0], seed)
    return Single(BaggingClassifier(tree, members[0]["trees"], random_state=seed))


def _boosted(members, seed, depth=None):
    criterion, depth = members[0].get("criterion", "gini"), members[0].get("depth", depth)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=depth)
    options = {"resample": members[0].get("resample", True), "loss": members[0]["loss"]}
    boosted = AdaBoostM1(tree, random_state=seed, **options)
    return Stages(boosted, [member["steps"] for member in members])


def _steps(member):
    drawn = {None: "", True: "resampled", False: "weighted"}[member.get("resample")]
    loss = "" if member["loss"] == "exponential" else f"{member['loss']} loss"
    depth = f"depth {member['depth']}" if "depth" in member else ""
    found = [member.get("criterion"), depth, drawn, loss, f"{member['steps']} steps"]
    return ", ".join(text for text in found if text)


def _forest(members, seed, kind):
    options = {"max_features": members[0]["features"], "random_state": seed}
    leaf = members[0].get("leaf", 1)
    return Single(kind(members[0]["trees"], min_samples_leaf=leaf, **options))


def _bagged_pets(members, seed):
    kind = EnhancedBaggedPETs if members[0]["enhanced"] else BaggedPETs
    return Single(kind(members[0]["trees"], random_state=seed))


def _decorate(members, seed):
    number, generator = members[0]["members"], members[0]["generator"]
    options = {"max_iterations": max(DECORATE_FITS, 3 * number), "random_state": seed}
    return Single(DecorateClassifier(n_estimators=number, generator=generator, **options))


def _gradient_boosting(members, seed):
    options = {"learning_rate": members[0]["rate"], "min_samples_leaf": members[0]["leaf"]}
    boosted = HistGradientBoostingClassifier(
        early_stopping=False, categorical_features="from_dtype", random_state=seed, **options
    )
    return Boosted(boosted, [member["steps"] for member in members])


def _support_vectors(members, seed):
    kernel = {key: members[0][key] for key in ("kernel", "degree", "gamma")}
    options = {"max_iter": SVM_ITERATIONS, "cache_size": 500, "coef0": 1.0}
    return Margins(SVC(C=members[0]["C"], **kernel, **options))


def _kernel(member):
    detail = {"linear": "", "poly": member["degree"]}.get(member["kernel"], member["gamma"])
    return f"{member['kernel']} {detail}".rstrip() + f", C {member['C']:g}"


def _net(members, seed):
    options = {"solver": "sgd", "alpha": 0.0, "learning_rate_init": LEARNING_RATE}
    units, momentum = members[0]["units"], members[0]["momentum"]
    net = MLPClassifier(units, momentum=momentum, random_state=seed, **options)
    return Snapshots(net, [member["epochs"] for member in members])


def _epochs(member):
    units, momentum = member["units"], member["momentum"]
    return f"{units} units, momentum {momentum:g}, {member['epochs']} epochs"


def _logistic(members, seed):
    ridge = members[0]["ridge"]
    return Single(LogisticRegression(C=1 / ridge if ridge else float("inf"), max_iter=1000))


def _naive_bayes(members, seed):
    return Single(GaussianNB()) if members[0]["kind"] == "Gaussian" else Counts(CategoricalNB())


def _neighbors(members, seed):
    votes = [(member["weights"], member["number"]) for member in members]
    return Neighbors(votes, members[0]["distance"] == "gain ratio")


def _votes(member):
    name = f", {member['distance']}" if member["distance"] != "Euclidean" else ""
    if member["weights"] == "kernel":
        return f"kernel width {member['number']:g}{name}"
    return f"{member['number']} neighbors, {member['weights']}{name}"


_TREE = {"criterion": "gini", "smoothing": None}
_of_trees = partial(Family, forms=(NUMBERS, CODES), takes_missing=True)
_of_networks = partial(Family, forms=(BINS,), takes_missing=True)
FAMILIES = {
    "decision trees": _of_trees(
        lambda members, seed: Single(_tree(members[0], seed, ccp_alpha=members[0]["alpha"])),
        {**_TREE, "alpha": 0.0},
        lambda member: f"{_style(member)}, alpha {member['alpha']:g}",
    ),
    "bagged trees": _of_trees(
        _bagged,
        {**_TREE, "trees": N_BAGGED},
        lambda member: _style(member) + _trees(member, N_BAGGED),
    ),
    "boosted trees": _of_trees(
        _boosted,
        {"criterion": "gini", "loss": "exponential", "steps": 128},
        _steps,
        shared=("steps",),
    ),
    "boosted stumps": _of_trees(
        partial(_boosted, depth=1),
        {"resample": True, "loss": "exponential", "steps": 512},
        _steps,
        shared=("steps",),
    ),
    "random forests": _of_trees(
        partial(_forest, kind=RandomForestClassifier),
        {"features": 4, "trees": N_FOREST},
        lambda member: f"{member['features']} features" + _trees(member, N_FOREST),
    ),
    "extra trees": _of_trees(
        partial(_forest, kind=ExtraTreesClassifier),
        {"features": 4, "leaf": 1, "trees": N_FOREST},
        lambda member: (
            f"{member['features']} features, leaves of {member['leaf']}" + _trees(member, N_FOREST)
        ),
    ),
    "boosted shallow trees": _of_trees(
        _boosted,
        {"criterion": "gini", "depth": 2, "resample": True, "loss": "exponential", "steps": 512},
        _steps,
        shared=("steps",),
    ),
    "bagged PETs": _of_trees(
        _bagged_pets,
        {"enhanced": False, "trees": N_BAGGED},
        lambda member: ("enhanced" if member["enhanced"] else "plain") + _trees(member, N_BAGGED),
    ),
    "MOB-ESP": _of_trees(
        lambda members, seed: Single(MOBESP(members[0]["trees"], random_state=seed)),
        {"trees": N_BAGGED},
        lambda member: f"{member['trees']} trees",
    ),
    "DECORATE": Family(
        _decorate,
        {"generator": "marginals", "members": N_DECORATED},
        lambda member: f"{member['generator']}, {member['members']} members",
        (FRAME,),
        takes_missing=True,
    ),
    "gradient boosting": Family(
        _gradient_boosting,
        {"rate": 0.1, "leaf": 20, "steps": 100},
        lambda member: (
            f"rate {member['rate']:g}, leaves of {member['leaf']}, {member['steps']} steps"
        ),
        (FRAME,),
        ("steps",),
        takes_missing=True,
    ),
    "SVMs": Family(
        _support_vectors,
        {"kernel": "rbf", "degree": 3, "gamma": "scale", "C": 1.0},
        _kernel,
        (SCALED,),
        bounded=False,
    ),
    "neural nets": Family(
        _net,
        {"units": 32, "momentum": 0.9, "epochs": 32},
        _epochs,
        (SCALED,),
        ("epochs",),
    ),
    "logistic regression": Family(
        _logistic, {"ridge": 1.0}, lambda member: f"ridge {member['ridge']:g}", (SCALED,)
    ),
    "nearest neighbors": Family(
        _neighbors,
        {"distance": "Euclidean", "weights": "uniform", "number": 10},
        _votes,
        (SCALED,),
        ("weights", "number"),
    ),
    "naive Bayes": Family(
        _naive_bayes,
        {"kind": "Gaussian"},
        lambda member: "Gaussian" if member["kind"] == "Gaussian" else "",
        (NUMBERS, CODES, BINS),
    ),
    "Bayesian network": _of_networks(
        _network,
        {"score": "default", "search": "default", "principal": False},
        _network_text,
    ),
    "multi-net": _of_networks(
        _multi_net,
        {"together": True},
        lambda member: "" if member["together"] else "separate",
    ),
    TOGETHER: _of_networks(
        _together,
        {"score": "default", "penalty": 0.99, "shared": True},
        _together_text,
    ),
    "tree-augmented naive Bayes": Family(
        lambda members, seed: TreeAugmented(), {}, lambda member: "", (BINS,)
    ),
}
