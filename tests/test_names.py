"""Errors and warnings show names as they are, also those with braces, which templates have."""

import warnings
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from bnmtl import (
    ArcPrior,
    BayesNet,
    EditPrior,
    MultitaskLearner,
    PairedPrior,
    ReferencePrior,
    SingleTaskLearner,
    active,
    calibration,
    confidence,
    data,
    ensembles,
    graphs,
    io,
    metrics,
    plotting,
    relatedness,
    structures,
    tasks,
    validation,
)
from bnmtl.classification import (
    BayesNetClassifier,
)
from bnmtl.errors import InputError, located, warn
from bnmtl.io.knowledge import read_arcs, read_tiers
from bnmtl.wording import listed

pytestmark = pytest.mark.beside_kernels

NAMES = ["{x}", "}", "{", "{0}", "{!r}", "{x:y", "{name}"]

FRAME = pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 1, 1, 1]})
X, Y = FRAME[["a"]], FRAME["b"].to_numpy()
CYCLE = nx.DiGraph([("a", "b"), ("b", "a")])
ARC = nx.DiGraph([("a", "b")])
LINES = pd.DataFrame({"method": ["m"], "size": [1], "value": [0.5]})
FIDELITY = pd.DataFrame({"size": [1], "fidelity": [0.5]})
PARTS = pd.DataFrame(
    {name: [0.1] for name in ("complexity", "error", "noise", "bias")}
    | {"variance": [0.0], "variance_of_biased": [0.0]}
)
CURVES = pd.DataFrame(columns=["data", "strategy", "trial", "n_labels", "error"])


def network(name="a", state="0"):
    return BayesNet(nx.empty_graph([name], nx.DiGraph), {name: (state, "1")}, {name: [0.5, 0.5]})


def store(**options):
    return ensembles.PredictionStore([[0.2, 0.7], [0.3, 0.6]], [0, 1], **options)


@cache
def rounds():
    options = {"folds": 2, "rounds": 1, "random_state": 0}
    return validation.predict_rounds(LogisticRegression(), X, Y, **options)


def library(profile):
    return ensembles.build_library(pd.concat([X] * 9), list(Y) * 9, profile, random_state=0)


def experiment(data, strategies=None, **options):
    strategies = {"s": active.RandomQuery()} if strategies is None else strategies
    options = {"predictor": LogisticRegression(), **options}
    return active.run_experiment(strategies, data, **options)


def named(column):
    """Rows with a column of a name."""
    return FRAME.rename(columns={"b": column})


def gaps(column):
    """Rows with a gap in a column of a name."""
    return named(column).astype(object).mask(np.eye(4, 2, -2) > 0)


def numbers(column):
    return pd.DataFrame({column: np.random.default_rng(0).random(300)})


def folder_with(name, file):
    Path(name).mkdir()
    Path(name, file).write_text("{")
    return name


def with_file(text, read, suffix=""):
    def run(name):
        path = Path(f"{name}{suffix}")
        path.write_text(text)
        return read(path)

    return run


def learned(**options):
    return SingleTaskLearner(**options).fit({"t": FRAME})


def joint(prior):
    return MultitaskLearner(structure_prior=prior).fit({"t": FRAME, "u": FRAME})


class Alone(LogisticRegression):
    """A strategy without a committee."""

    def query(self):
        """Never called."""


# What a name is of, and a call with it that must fail or warn, saying the name.
CALLS = {
    "data set": lambda n: experiment({n: 3}),
    "data set, labels": lambda n: experiment({n: (X, Y[:2])}),
    "data set, gaps": lambda n: experiment({n: (X, [0, 1, None, 1])}),
    "data set, one class": lambda n: experiment({n: (X, [1] * 4)}),
    "data set, folds": lambda n: experiment({n: (X, Y)}, cv=9, batch_size=1),
    "data set, batches": lambda n: experiment({n: (X, Y)}, batch_size={"other": 1}, cv=2),
    "strategy": lambda n: experiment((X, Y), {n: 3}),
    "strategy, tuple": lambda n: experiment((X, Y), {n: ()}),
    "strategy, committee": lambda n: experiment((X, Y), {n: Alone()}, predictor="own"),
    "column, cost": lambda n: active.RandomAcquisition().acquire(
        named(n), Y, np.eye(4, 2) == 0, cost={"a": 1}
    ),
    "task, cost": lambda n: active.MultitaskQuery().query(
        FRAME, [0, 1, None, None], [n] * 4, cost={"other": 1}
    ),
    "task": lambda n: tasks.encode({n: gaps("b")}),
    "task, empty": lambda n: tasks.encode({n: FRAME[:0]}),
    "task, type": lambda n: tasks.encode({n: 3}),
    "column": lambda n: tasks.encode({"t": gaps(n)}),
    "column, twice": lambda n: tasks.encode({"t": FRAME.set_axis([n, n], axis=1)}),
    "column, continuous": lambda n: tasks.encode({"t": numbers(n)}),
    "column, split": lambda n: tasks.split(FRAME, n),
    "column, cut points": lambda n: tasks.discretize({"t": named(n).assign(**{n: "x"})}, 2, [n]),
    "state": lambda n: network(state=n).log_likelihood(pd.DataFrame({"a": ["other"]})),
    "state, twice": lambda n: BayesNet(ARC, {"a": (n, n), "b": (n, n)}, {}),
    "variable": lambda n: network(n).log_likelihood(FRAME),
    "variable, query": lambda n: network().predict_proba(FRAME, n),
    "variable, states": lambda n: BayesNet(nx.DiGraph([("a", n)]), {"a": ("0", "1")}, {}),
    "variable, cycle": lambda n: graphs.check_dag(nx.DiGraph([(n, "b"), ("b", n)]), "graph"),
    "variable, shd": lambda n: metrics.shd(ARC, nx.DiGraph([("a", n)])),
    "structure": structures.load,
    "data": data.load,
    "file": BayesNet.from_bif,
    "file, bif": with_file("nothing", BayesNet.from_bif, ".bif"),
    "folder of a run": io.read_run,
    "file of a run": lambda n: io.read_run(folder_with(n, "run.json")),
    "file, table": with_file("", tasks.read, ".csv"),
    "file, curves": with_file("x", lambda path: experiment((X, Y), cv=2, out=path)),
    "file, arcs": with_file("x", lambda path: read_arcs(path, tasks.encode({"t": FRAME}))),
    "file, tiers": with_file("x", lambda path: read_tiers(path, tasks.encode({"t": FRAME}))),
    "arc": with_file("from,to\na,b\n", lambda p: read_arcs(p, tasks.encode({"t": named("c")}))),
    "folder of a store": ensembles.PredictionStore.open,
    "folder with a file": lambda n: store().save(folder_with(n, "x")),
    "model": lambda n: store(names=[n, n]),
    "model, subset": lambda n: store().subset([n]),
    "model, load": lambda n: ensembles.load_model(store(), n),
    "model, csv": with_file("a,b\n0,1\n", ensembles.PredictionStore.from_csv, ".csv"),
    "label": lambda n: store().score("accuracy", part=n),
    "task of a store": lambda n: store(task=["t", "t"]).of_task(n),
    "part": lambda n: ensembles.PredictionStore({n: [[0.1, 0.2]]}, [0, 1]),
    "metric": lambda n: store().score(n),
    "metric, weights": lambda n: store().score({n: 1}),
    "metric, weight": lambda n: store().score({"accuracy": 1, n: -1}),
    "metric of rounds": lambda n: rounds().score(n),
    "setting": lambda n: library([{"family": n}]),
    "setting, parameter": lambda n: library([{"family": "SVMs", n: 1}]),
    "profile": lambda n: library(n),
    "learner": lambda n: confidence.arc_stability(
        {"t": FRAME}, SingleTaskLearner(), compare={n: 3}, n=2
    ),
    "network": lambda n: confidence.predictive_check({"other": network()}, {n: FRAME}),
    "rounds": lambda n: plotting.rounds({n: rounds()}, "roc_area"),
    "graph": lambda n: plotting.dags({n: CYCLE}),
    "graph, type": lambda n: plotting.dags({n: 3}),
    "curves": lambda n: plotting.learning_curves(LINES, by=n),
    "panel": lambda n: plotting.bias_variance(PARTS, n),
    "sizes": lambda n: plotting.hillclimb_sizes(LINES, by=n),
    "lines": lambda n: plotting.mimic_curve(FIDELITY, lines={n: "x"}),
    "calibrator": lambda n: plotting.calibration_panel([0, 1], {n: 3}),
    "prior, configuration": lambda n: EditPrior().log_prior({n: CYCLE}),
    "prior, graph": lambda n: learned(structure_prior=ReferencePrior(nx.DiGraph([("a", n)]))),
    "prior, cost": lambda n: joint(EditPrior(costs={n: 1})),
    "prior, penalty": lambda n: joint(PairedPrior(variable_penalty={n: 0.5})),
    "prior, arc": lambda n: learned(structure_prior=ArcPrior({("a", n): 0.5})),
    "required": lambda n: learned(required=[("a", n)]),
    "tiers": lambda n: learned(tiers=[["a"], [n]]),
    "score": lambda n: learned(score=n),
    "search": lambda n: learned(search=n),
    "principal": lambda n: relatedness.TaskSelector(MultitaskLearner(), n).fit(
        {"t": FRAME, "u": FRAME}
    ),
    "column of a classifier": lambda n: BayesNetClassifier().fit(
        pd.DataFrame({n: [None, *"abc"]}), Y
    ),
    "statistic": lambda n: validation.jackknife(rounds(), n),
    "calibration": lambda n: calibration.CalibratedClassifier(
        DecisionTreeClassifier(), method=n
    ).fit(X, Y),
    "strategy of plots": lambda n: active.data_utilization(CURVES, n),
    "located": lambda n: fail_in(task=n, column=n, file=n),
    "warning": lambda n: warn(f"has {n}, `{n}`, {listed([n])}", argument="x"),
}


def fail_in(**place):
    with located(**place):
        raise InputError(f"must be else; it is {place['task']}", argument="x")


def said(call, name):
    """The error or the warning of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(name)
        except Exception as error:
            return str(error)
    return " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("what", CALLS)
def test_names_with_braces(tmp_path, monkeypatch, what):
    for at, name in enumerate(NAMES):
        (tmp_path / str(at)).mkdir()
        monkeypatch.chdir(tmp_path / str(at))
        text = said(CALLS[what], name)
        assert name in text, text


# Commands that must fail or warn, with a name in the place of NAME.
COMMANDS = {
    "file": "learn NAME.csv",
    "option": "learn t.csv --NAME 3",
    "task column": "learn t.csv --task-column NAME",
    "ignored": "learn t.csv --ignore NAME",
    "number": "learn t.csv --penalty NAME",
    "word": "learn t.csv --score NAME",
    "arcs": "learn t.csv --required NAME",
    "folder": "learn t.csv --out NAME",
    "principal": "relate t.csv m.csv --principal NAME",
    "column of scores": "calibrate t.csv --score NAME --label b",
    "positive": "calibrate t.csv --score a --label b --positive NAME",
    "earlier run": "calibrate t.csv --score a --apply NAME",
    "store": "select NAME --metric accuracy",
    "metric": "select m.csv --label b --metric NAME",
    "label of a library": "library t.csv --label NAME",
    "label of a query": "query t.csv --label NAME",
    "cost": "query t.csv --label b --cost NAME",
    "model": "validate t.csv --label b --model NAME",
    "network": "predict NAME t.csv --target b --out p.csv",
    "output": "predict n.bif t.csv --target b --out NAME",
    "target": "predict n.bif t.csv --target NAME --out p.csv",
    "structure": "structures NAME",
}


@pytest.mark.parametrize("what", COMMANDS)
def test_names_with_braces_in_commands(call, what):
    FRAME.to_csv("t.csv", index=False)
    FRAME.assign(c=[0, 1, 0, 1]).to_csv("m.csv", index=False)
    network().to_bif("n.bif")
    for name in NAMES[:3]:
        if what == "folder":
            folder_with(name, "mine")
        code, _, err = call(*(word.replace("NAME", name) for word in COMMANDS[what].split()))
        assert code == 2 and name in err, err
