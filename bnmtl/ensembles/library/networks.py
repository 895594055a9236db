"""Network classifiers as families of a library."""

import warnings

import numpy as np
import pandas as pd

from bnmtl.classification import (
    BayesNetClassifier,
    MultiNetClassifier,
    MultitaskBayesNetClassifier,
)
from bnmtl.ensembles.library.trained import Single
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.scores import BIC, BDs
from bnmtl.search import HillClimbing

TARGET = "class to predict"
TOGETHER = "networks of all tasks"
# Families that `compile_networks` prepares.
COMPILED = ("Bayesian network", "multi-net", TOGETHER)
SCORES = {"BIC": BIC, "BDs": BDs}
SEARCHES = {"hill climbing": HillClimbing}


def make_network(members, seed):
    member = members[0]
    options = {"score": SCORES[member["score"]]()} if member["score"] in SCORES else {}
    if member["search"] in SEARCHES:
        options["search"] = SEARCHES[member["search"]]()
    learner = SingleTaskLearner(**options, missing="state", random_state=seed)
    return Network(learner, member["principal"])


def network_text(member):
    parts = [member["score"], member["search"]]
    parts = [part for part in parts if part != "default"]
    return ", ".join([*parts, *(["principal class"] if member["principal"] else [])])


def make_multi_net(members, seed):
    shared = {True: MultitaskLearner, False: SingleTaskLearner}[members[0]["together"]]
    learner = shared(missing="state", random_state=seed)
    return Single(MultiNetClassifier(TARGET, learner, unseen="ignore"))


def make_together(members, seed):
    member = members[0]
    options = {"score": SCORES[member["score"]]()} if member["score"] in SCORES else {}
    sharing = "auto" if member["shared"] else None
    learner = MultitaskLearner(table_sharing=sharing, missing="state", random_state=seed, **options)
    # A fold may lack a task whose rows are few or in one group.
    options = {"unknown_task": "average", "unseen": "ignore"}
    named = {name: member[name] for name in ("task_column", "penalty")}
    return Single(MultitaskBayesNetClassifier(learner=learner, **named, **options))


def together_text(member):
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
    made = [make_network([one], 0) for one in members]
    made += [make_multi_net([{"together": one}], 0) for one in (True, False)]
    fixed = {"task_column": "a", "score": "default", "penalty": 0.9}
    made += [make_together([{**fixed, "shared": one}], 0) for one in (True, False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in made:
            one.fit(X, y).scores(X)


def make_tree_augmented(members, seed):
    return TreeAugmented()


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
        return super().fit(self._texts(X), pd.Series(y, name="class"))

    def scores(self, X):
        """Probabilities of the classes."""
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
