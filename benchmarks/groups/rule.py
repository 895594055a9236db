"""Choices of the rule that finds groups of tasks, one changed at a time.

Run `python -m benchmarks.groups.rule --data FOLDER` (two hours on two cores; `--only outlier` for
one kind). Finds groups of the tasks of `groups`, on other seeds, and of small real tables of
`real_groups`, as they are and with a task whose columns have exchanged their names. The rule is the
default, or has another concentration of the coupling that judges groups, another margin, a uniform
prior of partitions, quick fits that do not start from one graph for all tasks, or judges by
evidence without concentrations of their own for parts of the tasks.
"""

import warnings
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import numpy as np

from benchmarks import study
from benchmarks.groups import groups, real_groups
from benchmarks.summary import markdown, mean_and_error, parts
from bnmtl import MultitaskLearner
from bnmtl.learners import task_groups as learner_groups
from bnmtl.learners.adapted import keeping_groups
from bnmtl.scores import CONCENTRATIONS
from bnmtl.search import task_groups
from bnmtl.search.problem import NoCommonGraph
from bnmtl.tasks import encode

NAME = "group_rule"
SETTINGS = ("kind", "problem", "rows", "trial", "rule")
FIXED = {"concentrations": list(CONCENTRATIONS)}
TAKES_DATA = True
N_TRIALS = 3
# Trials are seeds that `groups` does not use.
FIRST_SEED = 2000
KINDS = ("outlier", "two families", "unrelated", "related", "half alike, 5")
SIZES = (("CHILD", 250), ("ALARM", 250), ("ALARM", 50))
REAL = "real table"
AS_IT_IS, RENAMED = real_groups.AS_IT_IS, real_groups.RENAMED
TABLES = ("avimedi", "breast cancer", "mite", "ksl", "Crime")


def _concentration(value):
    judge = partial(task_groups.GroupValue, concentration=value)
    return [(learner_groups.CoupledFits, "value", staticmethod(judge))]


class WithoutOneGraph:
    """A search that knows no graph for all tasks."""

    def __init__(self, search):
        self._search = search

    def __getattr__(self, name):
        return getattr(self._search, name)

    @property
    def identical(self):
        raise NoCommonGraph("is not used", argument="start")


def _quick_fits(search, *arguments):
    return task_groups.quick_fits(WithoutOneGraph(search), *arguments)


# What is replaced: module or class, name, and value.
RULES = {
    "default": [],
    **{f"concentration {a:g}": _concentration(a) for a in (0.01, 0.1, 0.3)},
    **{f"margin {nats}": [(task_groups, "MARGIN", nats + 1e-9)] for nats in (0, 20)},
    "uniform prior of partitions": [(task_groups, "log_partition_prior", lambda groups: 0.0)],
    "no common start": [(learner_groups, "quick_fits", _quick_fits)],
    "common concentrations": [(task_groups, "MOST_EXACT", 0)],
}


def check_needs(cases, lines):
    """Raise ValueError if a table or a package is missing."""
    tables = {case["problem"] for case in cases if case["kind"].startswith(REAL)}
    real_groups.check_needs([{"table": table} for table in tables], lines)


def plan(quick, trials=None):
    """All cases, trial by trial."""
    if quick:
        one = {"kind": ["outlier"], "problem": ["ASIA"], "rows": [100], "trial": [0]}
        return study.every(["default", "no common start"], **one)
    trial, cases = range(trials or N_TRIALS), []
    for problem, rows in SIZES:
        one = {"kind": KINDS, "problem": [problem], "rows": [rows]}
        cases += study.every(RULES, **one, trial=trial)
    kinds = [f"{REAL}, {altered}" for altered in (AS_IT_IS, RENAMED)]
    cases += study.every(RULES, kind=kinds, problem=TABLES, rows=[0], trial=[0])
    return sorted(cases, key=lambda case: case["trial"])


def measure(kind, problem, rows, trial, wanted):
    """One line per rule: the groups found, and whether they are the true ones."""
    if kind.startswith(REAL):
        frames, _, odd = real_groups.altered_frames(problem, kind.removeprefix(f"{REAL}, "))
        tasks = encode(frames, missing="state")
        truth = {task: "other" if task == odd else "A" for task in tasks}
    else:
        seed = FIRST_SEED + trial
        networks, truth = groups.networks_of(kind, problem, seed)
        tasks = groups.Rows(networks, dict.fromkeys(networks, rows), seed).tasks
    found = {}
    for name in wanted:
        with ExitStack() as changes, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for change in RULES[name]:
                changes.enter_context(patch.object(*change))
            labels = keeping_groups(MultitaskLearner(random_state=trial), tasks, set()).task_groups
        pairs = {(truth[task], label) for task, label in labels.items()}
        found[name] = {
            "groups": " ".join(f"{task}:{label}" for task, label in labels.items()),
            "n_groups": len(set(labels.values())),
            "is_true": len(pairs) == len(set(truth.values())) == len(set(labels.values())),
        }
    return found


def tables(lines):
    """How often each rule finds the true groups, and how many it finds."""
    return {"group_rule": markdown(_compared(lines))}


def _compared(lines):
    kinds = list(dict.fromkeys(lines["kind"]))
    problems = dict.fromkeys([*(problem for problem, _ in SIZES), *TABLES, *lines["problem"]])
    rows = sorted(set(lines["rows"]))
    for case, group in parts(lines, kind=kinds, problem=problems, rows=rows):
        row = case | {"rows": case["rows"] or "", "trials": group["trial"].nunique()}
        for name in RULES:
            some = group[group["rule"] == name]
            number = mean_and_error(some["n_groups"], 1)
            row[name] = f"{np.mean(some['is_true']):.0%}, {number}" if len(some) else ""
        yield row


if __name__ == "__main__":
    study.main(__spec__.name)
