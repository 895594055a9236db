"""Classifiers of the study of multi-nets, learned once, with tables of any smoothing."""

from copy import copy

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.variants import N_FOLDS, SAMPLE_SIZE, THESIS
from bnmtl import (
    BayesNet,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    SingleTaskLearner,
)
from bnmtl.classification import BayesNetClassifier, MultiNetClassifier
from bnmtl.networks.tables import posterior_mean
from bnmtl.seeding import generator

TARGET = "class to predict"
# Share of the training rows of every class that is held out to choose the smoothing.
HELD_OUT = 0.2


class NaiveBayes:
    """Naive Bayes; smoothing is the pseudo-count of each cell."""

    sizes = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)

    def __init__(self, frame, y, trial):
        self._frame, self._y = frame, y

    def at(self, size):
        """The classifier with the given smoothing."""
        states = [self._frame[column].cat.categories for column in self._frame]
        model = CategoricalNB(alpha=size, min_categories=[len(categories) for categories in states])
        return make_pipeline(OrdinalEncoder(categories=states), model).fit(self._frame, self._y)


class OneNetwork:
    """One graph that includes the class; smoothing is the equivalent sample size of its tables.

    Parameters
    ----------
    frame, y
        Training rows with categorical features, and their classes.
    trial : int
    settings : mapping, default=THESIS
        Parameters of the learner; empty: its defaults.
    """

    sizes = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)

    def __init__(self, frame, y, trial, settings=THESIS):
        learner = SingleTaskLearner(**settings, random_state=trial)
        self._learned = BayesNetClassifier(TARGET, learner).fit(frame, y)
        self._rows = frame.assign(**{TARGET: pd.Categorical(y)})
        self._graph = self._learned.network_.graph

    def at(self, size):
        """The classifier with tables of that smoothing; None leaves them as they were learned."""
        if size is None:
            return self._learned
        network = BayesNet.fit(self._graph, self._rows, equivalent_sample_size=size)
        return BayesNetClassifier.from_network(network, TARGET)


class TAN(OneNetwork):
    """Tree-augmented naive Bayes: arcs by pyAgrum, tables as in `BayesNet.fit`."""

    def __init__(self, frame, y, trial):
        self._rows = frame.assign(**{TARGET: pd.Categorical(y)})
        self._graph = tree_augmented(frame, y)


def tree_augmented(frame, y):
    """The graph of tree-augmented naive Bayes, by pyAgrum."""
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    varying = [column for column in frame if frame[column].nunique() > 1]
    numbers = {column: f"v{at}" for at, column in enumerate(varying)}
    learner = BNClassifier(
        type_processor=DiscreteTypeProcessor(), learningMethod="TAN", prior="Smoothing"
    )
    learner.fit(frame[varying].rename(columns=numbers).astype(str), pd.Series(y, name="class"))
    names = {number: column for column, number in numbers.items()} | {learner.target_: TARGET}
    network = learner.bn_
    graph = nx.DiGraph([(TARGET, column) for column in frame])
    for tail, head in network.arcs():
        graph.add_edge(names[network.variable(tail).name()], names[network.variable(head).name()])
    return graph


class Nets:
    """One graph per class, otherwise as `OneNetwork`."""

    sizes = OneNetwork.sizes

    def __init__(self, frame, y, trial, settings=THESIS):
        learner = self._learner(y, settings).set_params(random_state=trial)
        self._learned = MultiNetClassifier(learner=learner).fit(frame, y)
        self.penalty = getattr(self._learned.learner_, "penalty_", None)
        self._graphs = self._learned.learner_.configuration_
        self._frames = {name: frame[y == name] for name in self._graphs}

    def _learner(self, y, settings):
        return SingleTaskLearner(**settings)

    def at(self, size):
        """The classifier with tables of that smoothing; None leaves them as they were learned."""
        if size is None:
            return self._learned
        found = copy(self._learned)
        found.networks_ = {
            name: BayesNet.fit(graph, self._frames[name], equivalent_sample_size=size)
            for name, graph in self._graphs.items()
        }
        counts = np.array([len(frame) for frame in self._frames.values()])
        found.class_log_prior_ = np.log(posterior_mean(counts, size))
        return found


class NetsOfOneStructure(Nets):
    """The same graph for all classes."""

    def _learner(self, y, settings):
        return IdenticalLearner(**settings, **({"table_sharing": None} if settings else {}))


class NetsTogether(Nets):
    """Graphs learned together: at the penalty that cross-validation chooses, or by default."""

    def _learner(self, y, settings):
        if not settings:
            return MultitaskLearner(**settings, task_groups=None)
        # At most as many folds as the rarest class has rows.
        folds = int(min(N_FOLDS, *np.unique(y, return_counts=True)[1]))
        return MultitaskLearnerCV(**settings, table_sharing=None, task_groups=None, cv=folds)


KINDS = {
    "naive Bayes": NaiveBayes,
    "TAN": TAN,
    "one network": OneNetwork,
    "nets apart": Nets,
    "nets of one structure": NetsOfOneStructure,
    "nets together": NetsTogether,
}
# Endings of a kind's name: none for the settings of the thesis and a smoothing of 1; the same with
# the smoothing chosen on held-out rows; the learners' defaults and their tables.
FIXED_SIZE, CHOSEN, DEFAULTS = "", ", smoothing chosen", ", defaults"
HAVE_DEFAULTS = ("one network", "nets apart", "nets of one structure", "nets together")


def methods(ending):
    """Names of the methods with that ending, kind -> name."""
    kinds = HAVE_DEFAULTS if ending == DEFAULTS else KINDS
    return {kind: f"{kind}{ending}" for kind in kinds}


def learned(method, frame, y, trial):
    """The learned classifier, an object with `at`, and the smoothing of its tables."""
    name, comma, rest = method.partition(",")
    kind, ending = KINDS[name], f"{comma}{rest}"
    if ending == DEFAULTS:
        return kind(frame, y, trial, settings={}), None
    size = SAMPLE_SIZE if ending == FIXED_SIZE else chosen_size(kind, frame, y, trial)
    return kind(frame, y, trial), size


def chosen_size(kind, frame, y, trial):
    """The smoothing that predicts held-out rows best, with structures learned from the others."""
    held = held_out(y, generator(trial, "smoothing"))
    if not held.any():
        return SAMPLE_SIZE
    classifier = kind(frame[~held], y[~held], trial)
    losses = [cross_entropy(classifier.at(size), frame[held], y[held]) for size in kind.sizes]
    return kind.sizes[int(np.argmin(losses))]


def held_out(y, random):
    """Whether each row is held out: a share of every class that leaves at least two of its rows."""
    return drawn(y, random, lambda n: max(0, min(round(HELD_OUT * n), n - 2)))


def drawn(classes, random, number):
    """Whether each row is drawn: of every class, a number that depends on its number of rows."""
    found = np.zeros(len(classes), dtype=bool)
    for name in sorted(set(classes)):
        rows = random.permutation(np.flatnonzero(classes == name))
        found[rows[: number(len(rows))]] = True
    return found


def cross_entropy(model, frame, y):
    """Mean of - log P(class), in nats."""
    p = model.predict_proba(frame)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    with np.errstate(divide="ignore"):
        return float(-np.log(p).mean())
