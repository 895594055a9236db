"""The default score with and without its three largest concentrations, on known networks.

Run `python -m benchmarks.defaults.concentrations` (half an hour on two cores). Learns five related
tasks of three networks, each alone and together with shared tables, with concentrations up to 1e5,
the default, and up to 100, an earlier one. What large concentrations are for is shown by
`no_structure`, and what they do to predictions by `real_tables`.
"""

import time
from functools import partial

import numpy as np

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.related import Related, networks_of
from benchmarks.summary import by_trial, difference_text, markdown, mean_and_error, parts
from bnmtl import MixedDirichlet, MultitaskLearner, SingleTaskLearner, problems
from bnmtl.metrics import edit_distance
from bnmtl.scores import CONCENTRATIONS

NAME = "concentrations"
SETTINGS = ("problem", "rows", "trial", "variant")
FIXED = {"concentrations": list(CONCENTRATIONS)}
PROBLEMS = ("ALARM", "INSURANCE", "CHILD")
ROWS = (250, 1000)
N_TRIALS = 6
SCORES = {"up to 100": MixedDirichlet(UP_TO_100), "up to 1e5": MixedDirichlet()}
LEARNERS = {"alone": SingleTaskLearner, "together": partial(MultitaskLearner, task_groups=None)}


def plan(quick, trials=None):
    """All cases, trial by trial."""
    wanted = [f"{how}, {score}" for how in LEARNERS for score in SCORES]
    if quick:
        return study.every(wanted, problem=["ASIA"], rows=[40], trial=[0])
    trial = range(trials or N_TRIALS)
    return study.every(wanted, trial=trial, problem=PROBLEMS, rows=ROWS)


def measure(problem, rows, trial, wanted):
    """One line per variant: mean edits over the five tasks, and processor time."""
    related = Related(networks_of(problem, trial), rows, trial)
    # The first fits of a process load kernels.
    few = problems.sample(related.networks, 20, random_state=0)
    for learner in LEARNERS.values():
        learner(random_state=0).fit(few)
    found = {}
    for variant in wanted:
        how, score = variant.split(", ")
        learner = LEARNERS[how](score=SCORES[score], random_state=trial)
        began = time.process_time()
        graphs = learner.fit(related.tasks).configuration_
        seconds = time.process_time() - began
        true = related.networks
        edits = [edit_distance(true[name].graph, graph) for name, graph in graphs.items()]
        found[variant] = {"edits": round(float(np.mean(edits)), 6), "seconds": round(seconds, 3)}
    return found


def tables(lines):
    """Edits with both sets of concentrations, their difference, and the ratio of times."""
    return {"concentrations": markdown(_compared(lines))}


def _compared(lines):
    for case, group in parts(lines, problem=PROBLEMS, rows=sorted(set(lines["rows"]))):
        edits, seconds = (by_trial(group, "variant", name) for name in ("edits", "seconds"))
        for how in LEARNERS:
            before, now = (f"{how}, {score}" for score in SCORES)
            ratios = (seconds[now] / seconds[before]).dropna()
            yield {
                **case,
                "learned": how,
                "trials": len(ratios),
                "edits, up to 100": mean_and_error(edits[before]),
                "edits, up to 1e5": mean_and_error(edits[now]),
                "difference": difference_text(edits[now], edits[before]),
                "time, median ratio": f"{ratios.median():.2f}",
            }


if __name__ == "__main__":
    study.main(__spec__.name)
