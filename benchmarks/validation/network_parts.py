"""Bias, variance and exact noise of learned networks: which part does learning together reduce?

Run `python -m benchmarks.validation.network_parts` (hours on two cores). Five tasks are made from
ALARM by deleting arcs. Networks are learned from fresh training sets and predict five variables of
fixed test cases, whose true probabilities are known by exact inference. On real tables training
sets are bootstraps, the distinct rows of these, or halves of the rows, and noise counts as bias.
"""

import time

import numpy as np

from benchmarks import study
from benchmarks.validation.network_parts_tables import (
    ALONE,
    ARC_PROBABILITIES,
    LOSSES,
    NO_ARCS,
    PARTS,
    SEPARATE,
    TOGETHER,
    TRUE,
    TRUE_SHARED,
    more_pictures,
    tables,
)
from bnmtl import (
    BIC,
    ArcPrior,
    BDeu,
    EditPrior,
    HillClimbing,
    MultitaskLearner,
    Orders,
    PairedPrior,
    PooledLearner,
    SingleTaskLearner,
    data,
    problems,
)
from bnmtl.classification import BayesNetClassifier
from bnmtl.learners.adapted import with_graphs
from bnmtl.seeding import generator
from bnmtl.tasks import discretize
from bnmtl.validation import Rounds, bias_variance

NAME = "network_parts"
SETTINGS = ("problem", "rows", "learner")
TARGETS = {
    "ALARM": ("HYPOVOLEMIA", "LVFAILURE", "INTUBATION", "CATECHOL", "SAO2"),
    "avimedi": ("stratum", "SYAT", "ERRU", "TRTR", "PAMA"),
    "Sachs": ("PKA", "Erk", "Akt", "Mek", "PIP3"),
}
N_TASKS, N_TEST = 5, 1000  # test cases of each task
ROWS = (250, 1000, 4000)
SCHEMES = ("bootstrap", "distinct", "halves")
BINS = 3
# Training sets: as many for every learner, because the bias of errors depends on their number; and
# at most that many groups of them, which the jackknife leaves out in turn.
N_SETS, N_QUICK, MOST_GROUPS = 50, 4, 10
FIXED = {"test_cases": N_TEST, "bins": BINS, "starts": 1, "most_groups": MOST_GROUPS}
_SEARCH = Orders(starts=1)
_SETTINGS = {"search": _SEARCH, "task_groups": None}


def _together(**options):
    return lambda seed: MultitaskLearner(**_SETTINGS | options, random_state=seed)


def _alone(**options):
    return lambda seed: SingleTaskLearner(**{"search": _SEARCH} | options, random_state=seed)


LEARNERS = {
    TOGETHER: _together(),
    "together, penalty 0.9": _together(prior=PairedPrior(0.9)),
    "together, penalty 0.9999": _together(prior=PairedPrior(0.9999)),
    "together, Edit prior": _together(prior=EditPrior(0.99)),
    SEPARATE: _together(table_sharing=None),
    "together, BDeu": _together(score=BDeu()),
    "together, BIC": _together(score=BIC()),
    "together, at most 1 parent": _together(max_parents=1),
    "together, at most 2 parents": _together(max_parents=2),
    "one network": lambda seed: PooledLearner(search=_SEARCH, random_state=seed),
    ALONE: _alone(),
    "alone, BDeu": _alone(score=BDeu()),
    "alone, BIC": _alone(score=BIC()),
    "alone, uniform prior": _alone(structure_prior=None),
    "alone, at most 1 parent": _alone(max_parents=1),
    "alone, at most 2 parents": _alone(max_parents=2),
}
OF_ARCS = {name: _alone(structure_prior=ArcPrior(p)) for name, p in ARC_PROBABILITIES.items()}
# Graphs that are not learned, and learners that give them tables.
GIVEN = {TRUE: SingleTaskLearner, TRUE_SHARED: MultitaskLearner, NO_ARCS: SingleTaskLearner}
__all__ = ["more_pictures", "tables"]


def plan(quick):
    """One case for each problem, number of rows or scheme, and learner."""
    if quick:
        return study.every([ALONE, TRUE, NO_ARCS], problem=["ALARM"], rows=[100])
    real = [(problem, scheme) for problem in ("avimedi", "Sachs") for scheme in SCHEMES]
    return [
        {"problem": problem, "rows": rows, "wanted": [name]}
        for problem, rows in [*(("ALARM", n) for n in ROWS), *real]
        for name in _learners_of(problem, rows)
    ]


def _learners_of(problem, rows):
    """Names of the learners of a problem with a number of rows or a scheme."""
    if rows == "distinct":
        return [TOGETHER, SEPARATE, ALONE, NO_ARCS]
    swept = OF_ARCS if (problem, rows) in (("ALARM", 250), ("avimedi", "halves")) else ()
    return [*LEARNERS, *swept, *(GIVEN if problem == "ALARM" else [NO_ARCS])]


def n_sets_of(rows):
    """Number of training sets."""
    return N_QUICK if rows == 100 else N_SETS


def measure(problem, rows, wanted):
    """One line per learner: by loss and part the means of each target over all tasks."""
    source = _Fresh(rows) if problem == "ALARM" else _Resampled(problem, rows)
    lines = {}
    for name in wanted:
        began, n = time.perf_counter(), n_sets_of(rows)
        found, n_arcs = {target: [] for target in TARGETS[problem]}, []
        for number in range(n):
            networks = _learned(name, source, number)
            arcs = [network.graph.number_of_edges() for network in networks.values()]
            n_arcs.append(np.mean(arcs))
            for target in found:
                found[target].append(source.predicted(networks, target, number))
        lines[name] = {
            "sets": n,
            "arcs": round(float(np.mean(n_arcs)), 2),
            **_parts(found, source),
            "seconds": round(time.perf_counter() - began, 2),
        }
    return lines


def _parts(found, source):
    """By loss and part, the values of each target, and the means without each group of sets."""
    by_target = {target: np.stack(p) for target, p in found.items()}
    n_sets = len(next(iter(by_target.values())))
    groups = np.array_split(np.arange(n_sets), min(n_sets, MOST_GROUPS))
    of_all = _decomposed(by_target, source)
    without = [
        _decomposed({one: np.delete(p, group, axis=0) for one, p in by_target.items()}, source)
        for group in groups
    ]
    lines = {}
    for loss in LOSSES:
        for part in (*PARTS, "error"):
            values, left = of_all[loss, part], [one[loss, part] for one in without]
            lines[f"{loss} {part}"] = [round(value, 6) for value in values]
            lines[f"{loss} {part} without"] = [round(float(np.mean(one)), 6) for one in left]
    return lines


def _decomposed(by_target, source):
    """The value of each target, by loss and part."""
    tables = [
        bias_variance(source.rounds(p, target), truth=source.truth(target))
        for target, p in by_target.items()
    ]
    return {
        (loss, part): [float(one.loc[loss, part]) for one in tables]
        for loss in LOSSES
        for part in (*PARTS, "error")
    }


def _learned(name, source, number):
    """Networks by task, from a training set."""
    tasks = source.training(number)
    if name not in GIVEN:
        return (LEARNERS | OF_ARCS)[name](number).fit(tasks).networks_
    # Tables as those of the default learners, with other graphs.
    learner = GIVEN[name](search=HillClimbing(restarts=0), random_state=number).fit(tasks)
    return with_graphs(learner, source.graphs(tasks, name)).networks_


def _probabilities(network, frame, target):
    """Probabilities of the states of a variable, in the order of the network."""
    classifier = BayesNetClassifier.from_network(network, target, unseen="ignore")
    found = classifier.predict_proba(frame.drop(columns=target))
    places = [list(classifier.classes_).index(state) for state in network.states[target]]
    return found[:, places]


class _Fresh:
    """Training sets drawn from known networks, and fixed test cases."""

    def __init__(self, rows):
        self._rows = rows
        self.networks = problems.deletion("alarm", n_tasks=N_TASKS, random_state=0)
        self.test = self._drawn(N_TEST, "test")
        self._truth = {}

    def _drawn(self, n, *names):
        seeds = {one: int(generator(0, *names, one).integers(2**31)) for one in self.networks}
        return {
            one: network.sample(n, random_state=seeds[one])
            for one, network in self.networks.items()
        }

    def training(self, number):
        """The tasks of a training set."""
        return self._drawn(self._rows, "training", number)

    def graphs(self, tasks, name):
        """The true graphs, or graphs without arcs."""
        graphs = {one: network.graph.copy() for one, network in self.networks.items()}
        if name == NO_ARCS:
            for graph in graphs.values():
                graph.remove_edges_from(list(graph.edges))
        return graphs

    def predicted(self, networks, target, number):
        """Probabilities of all test cases."""
        parts = [_probabilities(networks[one], self.test[one], target) for one in self.networks]
        return np.concatenate(parts)

    def truth(self, target):
        """True probabilities of all test cases."""
        if target not in self._truth:
            self._truth[target] = self.predicted(self.networks, target, None)
        return self._truth[target]

    def rounds(self, p, target):
        """The predictions of all training sets."""
        labels = np.concatenate([self.test[one][target].cat.codes for one in self.networks])
        return Rounds(p, labels, np.arange(p.shape[2]), np.zeros(p.shape[:2], dtype=int))


class _Resampled:
    """Training sets drawn from the rows of real tables; the other rows are predicted."""

    def __init__(self, problem, scheme):
        self._scheme = scheme
        frames = data.load(problem.lower())
        if problem == "Sachs":
            frames = discretize(frames, BINS)
        # All tasks have the same states, as text.
        self.frames = {name: frame.astype(str) for name, frame in frames.items()}

    def _rows(self, name, number):
        n, rng = len(self.frames[name]), generator(0, "rows", name, number)
        if self._scheme in ("bootstrap", "distinct"):
            drawn = np.sort(rng.integers(n, size=n))
            return drawn if self._scheme == "bootstrap" else np.unique(drawn)
        return np.sort(rng.permutation(n)[: n // 2])

    def training(self, number):
        """The tasks of a training set."""
        return {
            name: frame.iloc[self._rows(name, number)].reset_index(drop=True)
            for name, frame in self.frames.items()
        }

    def graphs(self, tasks, name):
        """Graphs without arcs."""
        import networkx as nx

        return {one: nx.empty_graph(list(frame), nx.DiGraph) for one, frame in tasks.items()}

    def _classes(self, target):
        return np.unique(np.concatenate([frame[target] for frame in self.frames.values()]))

    def predicted(self, networks, target, number):
        """Probabilities of the rows that were not drawn; NaN of the others."""
        classes, parts = self._classes(target), []
        for name, frame in self.frames.items():
            p = np.full((len(frame), len(classes)), np.nan)
            left = np.setdiff1d(np.arange(len(frame)), self._rows(name, number))
            network = networks[name]
            places = np.searchsorted(classes, network.states[target])
            p[left] = 0
            p[np.ix_(left, places)] = _probabilities(network, frame.iloc[left], target)
            parts.append(p)
        return np.concatenate(parts)

    def truth(self, target):
        """None: it is not known."""

    def rounds(self, p, target):
        """The predictions of all training sets."""
        classes = self._classes(target)
        y = np.concatenate([frame[target] for frame in self.frames.values()])
        return Rounds(p, y, classes, np.zeros(p.shape[:2], dtype=int))


if __name__ == "__main__":
    study.main(__spec__.name)
