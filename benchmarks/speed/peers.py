"""Other packages that learn one network at a time, used as their manuals recommend."""

import importlib.util
import math

import networkx as nx
import numpy as np

from benchmarks.timing import timed

BITS = math.log(2)


def require(package):
    """Raise ValueError unless a package is installed."""
    if importlib.util.find_spec(package) is None:
        raise ValueError(f'`{package}` is needed for this: `pip install -e ".[bench]"`.')


class PyAgrum:
    """pyAgrum's learner on one data set, with one thread.

    Parameters
    ----------
    frame : pandas.DataFrame
        Categorical; all declared states count.
    score : {"BDeu", "BIC", "K2"}, default="BDeu"
        BDeu has sample size 1. pyAgrum approximates the logarithm of the gamma function, poorly for
        small pseudo-counts: for random families of up to four parents on 1000 rows of ALARM, local
        scores are off by up to 18 %, whereas those of BIC and K2 agree with ours. So accuracy is
        shown for all three, and graphs are compared by our BDeu.
    """

    name = "pyAgrum"
    # For families of up to two parents; see `check_score`.
    tolerance = 5e-2

    def __init__(self, frame, score="BDeu"):
        import pyagrum

        template = pyagrum.BayesNet()
        for column in frame:
            states = [str(state) for state in frame[column].cat.categories]
            template.add(pyagrum.LabelizedVariable(column, column, states))
        self._learner = pyagrum.BNLearner(frame, template)
        self._learner.setNumberOfThreads(1)
        getattr(self._learner, f"useScore{score}")()

    def local_score(self, child, parents):
        """In nats; pyAgrum uses bits."""
        return self._learner.score(child, list(parents)) * BITS

    def climb(self, tabu=False):
        """Graph and seconds of a greedy hill climb or of its tabu search."""
        if tabu:
            self._learner.useLocalSearchWithTabuList()
        else:
            self._learner.useGreedyHillClimbing()
        return self._learn()

    def by_information(self):
        """Graph and seconds of MIIC, which uses conditional information and has no score."""
        self._learner.useMIIC()
        return self._learn()

    def _learn(self):
        found, seconds = timed(self._learner.learnDAG)
        names = self._learner.names()
        graph = nx.empty_graph(names, nx.DiGraph)
        graph.add_edges_from((names[a], names[b]) for a, b in found.arcs())
        return graph, seconds

    def fit(self):
        """Seconds for graph and parameters."""
        self._learner.useGreedyHillClimbing()
        return timed(self._learner.learnBN)[1]


def by_pyagrum(frame, score="BDeu", tabu=True):
    """Graph and seconds of pyAgrum's hill climbing by a score, or of MIIC."""
    if score == "MIIC":
        return PyAgrum(frame).by_information()
    return PyAgrum(frame, score).climb(tabu)


class PyAgrumClassifier:
    """pyAgrum's classifier of one variable by a given network.

    Parameters
    ----------
    path : str or path-like
        BIF file.
    target : str
    """

    def __init__(self, path, target):
        import pyagrum
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
        from pyagrum.skbn import BNClassifier

        network = pyagrum.loadBN(str(path))
        self._classifier = BNClassifier(type_processor=DiscreteTypeProcessor())
        self._classifier.fromTrainedModel(network, targetAttribute=target)
        self.classes = list(network.variable(target).labels())

    def predict_proba(self, frame):
        """Probabilities by class, rounded to ten digits if there are two classes."""
        return self._classifier.predict_proba(frame)


class Pgmpy:
    """pgmpy's hill climbing on one data set, BDeu with sample size 1."""

    name = "pgmpy"
    tolerance = 1e-8

    def __init__(self, frame):
        from pgmpy.structure_score import BDeu

        states = {column: list(frame[column].cat.categories) for column in frame}
        self._frame = frame
        self._score = BDeu(frame, equivalent_sample_size=1, state_names=states)

    def local_score(self, child, parents):
        """In nats."""
        return self._score.local_score(child, tuple(parents))

    def climb(self):
        """Graph and seconds."""
        from pgmpy.causal_discovery import HillClimbSearch

        search = HillClimbSearch(self._score, return_type="dag", show_progress=False)
        _, seconds = timed(search.fit, self._frame)
        graph = nx.empty_graph(list(self._frame), nx.DiGraph)
        graph.add_edges_from(search.causal_graph_.edges)
        return graph, seconds


def check_score(peer, score, frame, random):
    """Raise unless a peer's local scores of random families equal ours, constants included."""
    columns = list(frame)
    for _ in range(20):
        size = int(random.integers(0, 3))
        child, *parents = random.choice(columns, size + 1, replace=False)
        ours = score.local_score(child, parents, frame)
        theirs = peer.local_score(child, parents)
        if not np.isclose(ours, theirs, rtol=peer.tolerance):
            raise AssertionError(f"{peer.name}: {child} given {parents}: {theirs}, ours {ours}")
