"""Single-task, identical, pooled and multitask learning side by side (thesis, figure 2.5).

Run `python -m benchmarks.thesis.methods` (three hours and more on two cores; `--trials 2` for a
first look). Five problems and a control of unrelated tasks, five tasks of 1000 rows each. As in the
thesis, multitask learning holds out 5 % of the rows to choose the penalty and the others learn from
all rows; beside them the search J whose penalty ten folds choose, pyAgrum, and graphs that 100
bootstrap replicates agree on. "sparse" learns tasks apart with a probability of arcs chosen by the
same held-out rows, to tell what comes of sharing from what comes of fewer arcs. T is the thesis's
search, S a strong one, J joint orders.
"""

import networkx as nx
import numpy as np

from benchmarks import study
from benchmarks.related import Related, networks_of
from benchmarks.speed.peers import PyAgrum, require
from benchmarks.thesis.alone import PROBABILITIES, sparse
from benchmarks.thesis.methods_tables import METHODS, PROBLEMS, draw, tables
from benchmarks.thesis.pool import Pool, train_and_held_out
from benchmarks.variants import LEARNERS, N_FOLDS, THESIS, TOGETHER
from bnmtl import (
    HillClimbing,
    IdenticalLearner,
    MultitaskLearnerCV,
    PooledLearner,
    SingleTaskLearner,
)
from bnmtl.confidence import arc_confidence, consensus
from bnmtl.search import Memory

NAME = "methods"
SETTINGS = ("problem", "trial", "method")
__all__ = ["draw", "measure", "plan", "tables"]
N_ROWS = 1000
N_TRIALS = 20
VALIDATION = 0.05
N_BOOTSTRAP = 100
FIXED = {
    "n_rows": N_ROWS,
    "validation": VALIDATION,
    "n_bootstrap": N_BOOTSTRAP,
    "probabilities": PROBABILITIES,
}


def plan(quick, trials=None):
    """All cases; the quick one is a trial of three methods."""
    if quick:
        wanted = ["single T", "identical T", "multitask T"]
        return study.every(wanted, problem=["ALARM"], trial=[0])
    return study.every(METHODS, trial=range(trials or N_TRIALS), problem=PROBLEMS)


def check_needs(cases, lines):
    """Raise ValueError where pyAgrum is to be measured and is not there."""
    if any(method.startswith("pyAgrum") for case in cases for method in case["wanted"]):
        require("pyagrum")


def measure(problem, trial, wanted):
    """A line a method: means over the five tasks."""
    related = Related(networks_of(problem, trial), N_ROWS, trial)
    memory = Memory()
    return {method: line_of(related, method, trial, memory) for method in wanted}


def line_of(related, method, trial, memory):
    """What one method reaches; ``memory`` keeps what methods search alike."""
    kind = method.split()[0]
    if kind == "pyAgrum":
        # Its result depends on the order of the columns; no order is better than another.
        order = np.random.default_rng(trial)
        graphs = {}
        for name, task in related.tasks.items():
            frame = task.frame()[order.permutation(task.variables)]
            graphs[name] = _without_constant(_by_pyagrum(frame, method), task)
        return related.line(graphs)
    if kind == "bagged":
        # Rows drawn twice make dependencies look stronger, and a strong search finds them.
        learner = SingleTaskLearner(**THESIS, search=HillClimbing(restarts=10))
        confidence = arc_confidence(related.tasks, learner, N_BOOTSTRAP, trial, subsample=None)
        return related.line(consensus(confidence, by="edge"))
    if kind == "sparse":
        graphs, probability = sparse(related.tasks, trial, VALIDATION)
        return {**related.line(graphs), "probability": probability}
    if method == "multitask T":
        graphs, penalty = as_published(related.tasks, trial)
        return {**related.line(graphs), "penalty": penalty}
    learner = learner_of(method, trial).fit(related.tasks, memory=memory)
    line = related.line(learner.configuration_, learner.networks_ if kind == "pooled" else None)
    return {**line, "penalty": learner.penalty_} if kind == "multitask" else line


def as_published(tasks, trial, prior=None):
    """Graphs and penalty of the thesis's multitask learning: T, at every penalty from tasks learned
    apart, the penalty by held-out rows."""
    train, held_out = train_and_held_out(tasks, VALIDATION, trial)
    learned = Pool(train, "T", trial, prior).learned(train.names)
    best = learned.best(held_out)
    return learned.graphs[best], learned.penalties[best]


def learner_of(method, trial):
    """The learner of a method."""
    kind, _, variant = method.partition(" ")
    if variant == "folds":
        return MultitaskLearnerCV(**LEARNERS["J"], cv=N_FOLDS, random_state=trial)
    if kind == "multitask":
        parameters = {**LEARNERS[variant], "validation": VALIDATION}
        return MultitaskLearnerCV(**parameters, random_state=trial)
    learners = {
        "single": SingleTaskLearner,
        "identical": IdenticalLearner,
        "pooled": PooledLearner,
    }
    settings = TOGETHER if kind == "identical" else THESIS
    return learners[kind](**settings, search=LEARNERS[variant]["search"], random_state=trial)


def _by_pyagrum(frame, method):
    """The graph that pyAgrum learns of one task by a score, BDeu if none is named, or by MIIC."""
    score = method.removeprefix("pyAgrum").strip() or "BDeu"
    if score == "MIIC":
        return PyAgrum(frame).by_information()[0]
    return PyAgrum(frame, score).climb(tabu=True)[0]


def _without_constant(graph, task):
    """A graph over the task's variables without arcs of those that have one state there."""
    kept = nx.DiGraph()
    kept.add_nodes_from(task.variables)
    kept.add_edges_from(arc for arc in graph.edges if not set(arc) & set(task.constant))
    return kept


if __name__ == "__main__":
    study.main(__spec__.name)
