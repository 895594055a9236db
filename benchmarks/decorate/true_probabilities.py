"""Errors of learned probabilities against the true ones, on cases from known networks.

Run `python -m benchmarks.decorate.true_probabilities` (an hour on two cores). Section 9.2 of
Melville's thesis asks for it: real data do not have the probabilities of their classes. Of eight
networks of the literature two variables are the class in turn. A pool of cases without labels is
drawn from the network; strategies ask for batches of labels as in `queries`; the predictions for
further cases are compared with the network's own posterior, given all other variables. A line has
the curves of one strategy on a problem: divergences and errors by number of labels and trial.
"""

import time

import numpy as np
from sklearn.dummy import DummyClassifier

from benchmarks import study
from benchmarks.decorate import queries
from benchmarks.decorate.bases import BASES
from benchmarks.decorate.query_tables import RANDOM, SQUARED
from benchmarks.decorate.truth_tables import (
    BAGGED,
    JS,
    LV,
    MARGINS,
    NETWORK,
    SHARES,
    TREES_JS,
    draw,
    tables,
)
from bnmtl import structures
from bnmtl.active import RandomQuery
from bnmtl.active.experiment import fitted, labels_of, read_contenders
from bnmtl.metrics.cases import probabilities_of
from bnmtl.metrics.prediction import jensen_shannon, squared_error
from bnmtl.seeding import generator

NAME = "decorate_truth"
SETTINGS = ("network", "variable", "strategy")
# Of each network the two variables that the others tell most about and still leave most uncertain:
# the least of both, in nats, is largest.
PROBLEMS = {
    "asia": ("dysp", "bronc"),
    "sachs": ("Mek", "Erk"),
    "child": ("XrayReport", "CardiacMixing"),
    "insurance": ("Cushioning", "HomeBase"),
    "alarm": ("TPR", "BP"),
    "hailfinder": ("CombMoisture", "AreaMoDryAir"),
    "hepar2": ("bilirubin", "ama"),
    "win95pts": ("NetPrint", "FllCrrptdBffr"),
}
N_TRIALS = 5
N_POOL, N_TEST = 500, 1000
LABELS = (5, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240)
FIXED = {"pool": N_POOL, "test": N_TEST, "labels": list(LABELS)}
STRATEGIES = (RANDOM, SQUARED, MARGINS, JS, BAGGED, TREES_JS, LV, NETWORK, SHARES)
__all__ = ["draw", "tables"]


def plan(quick):
    """One case per class variable."""
    if quick:
        return study.every([RANDOM, JS, SHARES], network=["asia"], variable=["dysp"], trials=[1])
    return [
        {"network": network, "variable": variable, "trials": N_TRIALS}
        | {"wanted": list(STRATEGIES)}
        for network, variables in PROBLEMS.items()
        for variable in variables
    ]


def strategies(n_classes):
    """Strategies as in `queries`, and two classifiers of random cases, by name."""
    known = queries.strategies(queries.PROBABILITIES)
    variance = known["BootstrapLV" if n_classes == 2 else "BootstrapLVExt"]
    return {name: known[name] for name in STRATEGIES if name in known} | {
        LV: variance,
        NETWORK: (RandomQuery(), BASES["network"]()),
        SHARES: (RandomQuery(), DummyClassifier()),
    }


def cases_of(network, variable, trial):
    """A pool and test cases.

    Returns
    -------
    (pandas.DataFrame, numpy.ndarray of int, numpy.ndarray of shape (n_cases, n_classes))
        Features, codes of the classes, and the true probabilities of all cases.
    """
    model = structures.load(network)
    seed = int(generator(0, "cases", network, variable, trial).integers(2**31 - 1))
    rows = model.sample(N_POOL + N_TEST, random_state=seed)
    truth = model.predict_proba(rows, variable).to_numpy()
    return rows.drop(columns=variable), rows[variable].cat.codes.to_numpy(), truth


def measure(network, variable, trials, wanted):
    """One line per strategy."""
    found = {name: [] for name in wanted}
    seconds = dict.fromkeys(wanted, 0.0)
    sizes = LABELS[:3] if (network, trials) == ("asia", 1) else LABELS
    for trial in range(trials):
        cases = cases_of(network, variable, trial)
        known = read_contenders(strategies(cases[2].shape[1]), "own")
        for name in wanted:
            began = time.perf_counter()
            names = network, variable, trial
            found[name].append(_curve(known[name], *cases, sizes, names))
            seconds[name] += time.perf_counter() - began
    return {
        name: {
            "n_labels": list(sizes),
            **{
                value: [[point[value] for point in one] for one in curves] for value in curves[0][0]
            },
            "seconds": round(seconds[name], 1),
        }
        for name, curves in found.items()
    }


def _curve(contender, X, codes, truth, sizes, names):
    """The errors of one strategy in one trial, by number of labels."""
    pool, test = X[:N_POOL], X[N_POOL:]
    n_classes = truth.shape[1]
    labeled = np.sort(generator(0, "first", *names).permutation(N_POOL)[: sizes[0]])
    first_labels, points = codes[labeled], []
    strategy = predictor = None
    for size in sizes:
        if size > len(labeled):
            y = labels_of(codes[:N_POOL], labeled)
            asked = contender.ask(strategy, predictor, pool, y, size - len(labeled))
            labeled = np.append(labeled, asked)
        strategy, predictor = contender.seeded((0, "step", *names, size), first_labels, n_classes)
        predictor = fitted(predictor, pool, codes[:N_POOL], labeled)
        p = probabilities_of(predictor, test, np.arange(n_classes))
        points.append(errors(p, truth[N_POOL:], codes[N_POOL:]))
    return points


def errors(p, truth, codes):
    """How far predictions are from the true probabilities, and from labels drawn from them.

    Parameters
    ----------
    p, truth : numpy.ndarray of float, shape (n_cases, n_classes)
    codes : numpy.ndarray of int, shape (n_cases,)

    Returns
    -------
    dict
        "divergence" (Jensen-Shannon, nats) and "squared" against the truth; "squared_of_labels" and
        "error" against the labels.
    """
    # Products of tables may miss a sum of 1 in the last digits.
    pair = np.stack([one / one.sum(axis=1, keepdims=True) for one in (p, truth)])
    found = {
        "divergence": jensen_shannon(pair).mean(),
        "squared": ((p - truth) ** 2).sum(axis=1).mean(),
        "squared_of_labels": squared_error(codes, p),
        "error": np.mean(p.argmax(axis=1) != codes),
    }
    return {name: round(float(value), 5) for name, value in found.items()}


if __name__ == "__main__":
    study.main(__spec__.name)
