"""How time and memory grow with tasks, variables and rows.

Run `python -m benchmarks.speed.growth` (about half an hour on two cores; `--only pair` for one
part). Every case runs in a separate process, to measure its peak memory.
"""

import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.drawing import panels
from benchmarks.summary import markdown
from benchmarks.timing import rounded, timed
from benchmarks.variants import THESIS, problems_of
from bnmtl import (
    EditPrior,
    HillClimbing,
    MultitaskLearner,
    PairedPrior,
    SingleTaskLearner,
    problems,
    structures,
)
from bnmtl.search import hill_climbing
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.graph_state import Budget
from bnmtl.search.neighborhood import Couplings, best_states
from bnmtl.search.problem import JointProblem
from bnmtl.search.ties import Ties, tolerance
from bnmtl.tasks import encode

NAME = "growth"
SETTINGS = ("study", "variant", "size")
JOBS = 1
DPI = 120
PAIRED = PairedPrior(0.99)
PRIORS = {"paired": PAIRED, "edit": EditPrior(0.99)}
# Solvers of one pair of variables: prior, method and largest number of tasks.
SOLVERS = {
    "edit": (EditPrior(0.9), "edit", 200),
    "paired": (PairedPrior(0.9), "paired", 200),
    "minimum cut": (PairedPrior(0.9), "min-cut", 200),
    "branch and bound, edit": (EditPrior(0.9), "branch-and-bound", 50),
    "branch and bound, paired": (PairedPrior(0.9), "branch-and-bound", 50),
    "enumeration": (PairedPrior(0.9), "enumerate", 15),
}
TASKS = (2, 5, 10, 12, 15, 20, 50, 100, 200)
VARIABLES = (50, 100, 200, 500, 1000)
ROWS = (1000, 10_000, 100_000, 1_000_000)
# Whole fits: the settings of the thesis with searches over orders, or with climbs and the greedy
# search only, and the defaults of learners. Tasks learned together have separate tables with these.
FITS = {
    "orders": THESIS,
    "climb, greedy": {**THESIS, "search": HillClimbing(restarts=0, tabu=0)},
    "default": {},
}
JOINT_FITS = {
    **{
        name: {**settings, "table_sharing": None, "task_groups": None}
        for name, settings in FITS.items()
    },
    "tables shared": {"task_groups": None},
}
# Numbers of rows of independent columns.
NOISE_ROWS = (60, 1000)
# Time limit for solving one pair, in seconds.
LONGEST = 60.0


def pair(solver, k):
    """Median seconds of five solutions of one pair of variables."""
    prior, method, _ = SOLVERS[solver]
    times = []
    for seed in range(5):
        gains = np.random.default_rng(seed).normal(0.0, 3.0, (k, 3))
        gains[:, 1] = 0.0
        best_states(gains[:2], prior, method=method)
        times.append(timed(best_states, gains, prior, method=method)[1])
    return {"seconds": float(np.median(times))}


def joint(frames, prior):
    """Climbs for each task alone, then the greedy search over configurations from them."""
    tasks = encode(frames)
    began = time.perf_counter()
    problem_list = problems_of(tasks)
    matrices = []
    for problem in problem_list:
        empty = np.zeros_like(problem.constraints.required)
        limit = tolerance(problem.log_posterior(empty))
        state = problem.state(empty, Ties(problem.variables, 0, limit))
        hill_climbing.search(state, np.random.default_rng(0), Budget(), restarts=0, tabu=0)
        matrices.append(state.adjacency.copy())
    alone = time.perf_counter() - began
    began = time.perf_counter()
    problem = JointProblem(problem_list)
    ties = Ties(problem.variables, 0, 1e-6)
    couplings = Couplings(prior, problem)
    search = ConfigurationSearch(problem, couplings, ties, problem.spread(matrices))
    prepared = time.perf_counter() - began
    steps = []
    _, seconds = timed(search.run, report=lambda done, total, score: steps.append(score))
    return {
        "apart": alone,
        "prepared": prepared,
        "greedy": seconds,
        "steps": len(steps),
        "seconds": alone + prepared + seconds,
        "per_step": seconds / max(len(steps), 1),
    }


def samples(network, n_rows, k):
    """Samples of several tasks from the same network."""
    return [network.sample(n_rows, random_state=seed) for seed in range(k)]


def by_tasks(prior, k):
    """Many tasks of ALARM with 200 rows each."""
    return joint(samples(structures.load("alarm"), 200, k), PRIORS[prior])


def by_variables(prior, n):
    """Five tasks of a random network with 1000 rows each."""
    return joint(samples(problems.random_network(n, random_state=0), 1000, 5), PRIORS[prior])


def by_rows(prior, n_rows):
    """Two tasks of ALARM."""
    return joint(samples(structures.load("alarm"), n_rows, 2), PRIORS[prior])


def fitted(learner, frames):
    """Seconds, score and number of arcs of a whole fit."""
    _, seconds = timed(learner.fit, frames)
    arcs = sum(graph.number_of_edges() for graph in learner.configuration_.values())
    return {"seconds": seconds, "score": learner.score_, "arcs": arcs}


def fit_by_variables(variant, n):
    """Five tasks of a random network with 1000 rows each, learned together."""
    learner = MultitaskLearner(PAIRED, **JOINT_FITS[variant], random_state=0)
    return fitted(learner, samples(problems.random_network(n, random_state=0), 1000, 5))


def fit_noise(variant, n):
    """One task of independent columns with three states."""
    fit, n_rows = variant.rsplit(", ", 1)
    codes = np.random.default_rng(0).integers(0, 3, (int(n_rows.split()[0]), n))
    frame = pd.DataFrame(codes.astype(str), columns=[f"v{v}" for v in range(n)])
    return fitted(SingleTaskLearner(**FITS[fit], random_state=0), frame)


# Study -> its function, and sizes by variant.
STUDIES = {
    "pair": (
        pair,
        {solver: [k for k in TASKS if k <= most] for solver, (_, _, most) in SOLVERS.items()},
    ),
    "tasks": (by_tasks, dict.fromkeys(PRIORS, TASKS)),
    "variables": (by_variables, {"paired": VARIABLES}),
    "rows": (by_rows, {"paired": ROWS}),
    "fits": (fit_by_variables, dict.fromkeys(JOINT_FITS, (200, 1000))),
    "noise": (
        fit_noise,
        {f"{fit}, {n} rows": (50, 200) for fit in ("orders", "default") for n in NOISE_ROWS},
    ),
}
SHOWN = {study: "per_step" if study == "tasks" else "seconds" for study in STUDIES}
AXES = {
    "pair": ("tasks", "seconds per pair of variables"),
    "tasks": ("tasks", "seconds per joint step"),
    "variables": ("variables", "seconds for five tasks"),
    "rows": ("rows per task", "seconds for two tasks"),
    "fits": ("variables", "seconds to learn five tasks together"),
    "noise": ("variables", "seconds to learn noise"),
}


def run_case(study, variant, size):
    """Measure one case in this process, after loading compiled code."""
    warnings.simplefilter("ignore")
    measure = STUDIES[study][0]
    small = samples(structures.load("asia"), 100, 2)
    if study != "pair":
        joint(small, PRIORS["edit"])
    if study in ("fits", "noise"):
        for settings in JOINT_FITS.values():
            MultitaskLearner(PAIRED, **settings, random_state=0).fit(small)
    # Four significant digits are too few to compare scores.
    line = {
        name: round(value, 3) if name == "score" else rounded(value, 4)
        for name, value in measure(variant, size).items()
    }
    line["peak_megabytes"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    return line


def slope(lines, value):
    """Exponent of growth: the log-log slope of a line through the larger half of the sizes."""
    lines = lines.sort_values("size").iloc[len(lines) // 2 - 1 :]
    if len(lines) < 2:
        return float("nan")
    return float(np.polyfit(np.log(lines["size"]), np.log(lines[value]), 1)[0])


def more_pictures(lines):
    """A log-log plot of each study, without the cases that exceeded the time limit."""
    lines = lines[lines["seconds"].notna()]
    return {f"growth-{study}": drawn(group, study) for study, group in lines.groupby("study")}


def drawn(lines, study):
    """A log-log plot of one study, with slopes in the legend."""

    def draw(axes, *_):
        for variant, group in lines.groupby("variant", sort=False):
            label = f"{variant}, slope {slope(group, SHOWN[study]):.2f}"
            axes.loglog(group["size"], group[SHOWN[study]], marker="o", label=label)
        axes.set(xlabel=AXES[study][0], ylabel=AXES[study][1])
        axes.grid(alpha=0.3)

    return panels(draw, (8, 4), legend="right")


def tables(lines):
    """Time, slope and memory by study, variant and size."""
    return {NAME: markdown(_grown(lines))}


def _grown(lines):
    for (part, variant), group in lines.groupby(["study", "variant"], sort=False):
        group = group.sort_values("size")
        yield {
            "study": part,
            "what": variant,
            "sizes": ", ".join(f"{size:,}" for size in group["size"]),
            "seconds": ", ".join(f"{value:.3g}" for value in group[SHOWN[part]]),
            "slope": f"{slope(group, SHOWN[part]):.2f}",
            "peak memory (MB)": ", ".join(f"{m:.0f}" for m in group["peak_megabytes"]),
        }


def plan(quick):
    """Cases: every size for every variant."""
    if quick:
        return study.every([2], study=["pair"], variant=["paired"])
    return [
        {"study": part, "variant": variant, "wanted": list(sizes)}
        for part, (_, by_variant) in STUDIES.items()
        for variant, sizes in by_variant.items()
    ]


def measure(wanted, study, variant):
    """One line per size, each measured in a separate process."""
    lines = {}
    for size in wanted:
        call = f"run_case({study!r}, {variant!r}, {size})"
        code = f"import json; from {__name__} import run_case; print(json.dumps({call}))"
        try:
            done = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
                timeout=LONGEST if study == "pair" else None,
            )
        except subprocess.TimeoutExpired:
            lines[size] = {"threads": 1, "given_up_after": LONGEST}
            break
        lines[size] = {"threads": 1, **json.loads(done.stdout.splitlines()[-1])}
    return lines


if __name__ == "__main__":
    study.main(__spec__.name)
