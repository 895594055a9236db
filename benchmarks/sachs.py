"""How well networks learned from few cells per condition predict the others (Sachs).

Run `python -m benchmarks.sachs` in an environment with bnmtl (about ten minutes on two cores).
Each (rows, trial, learner) appends one JSON line to benchmarks/results/sachs.jsonl; a second run
goes on where the first stopped. `python -m benchmarks.tables` makes the README's table of them.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from rich.progress import track

from benchmarks import variants
from benchmarks.record import Results, exit_if_changed
from bnmtl import (
    IdenticalLearner,
    MultitaskLearnerCV,
    PooledLearner,
    SingleTaskLearner,
    data,
)
from bnmtl.tasks import discretize, encode

SETTINGS = ("rows", "trial", "learner")
SIZES = (25, 50, 100, 200)
LEARNERS = {
    "each condition alone": lambda seed: SingleTaskLearner(**variants.THESIS, random_state=seed),
    "all rows pooled": lambda seed: PooledLearner(**variants.THESIS, random_state=seed),
    "one structure for all": lambda seed: IdenticalLearner(**variants.THESIS, random_state=seed),
    "together (multitask)": lambda seed: MultitaskLearnerCV(
        **variants.LEARNERS["J"], cv=variants.N_FOLDS, random_state=seed
    ),
}


def split(tasks, n_rows, trial):
    """Training rows, the same number of every condition, and all other rows."""
    train, test = {}, {}
    for at, (name, task) in enumerate(tasks.items()):
        order = np.random.default_rng([trial, n_rows, at]).permutation(task.n_rows)
        train[name], test[name] = order[:n_rows], order[n_rows:]
    return tasks.take(train), tasks.take(test)


def measure(tasks, n_rows, trial, kind):
    """Mean over conditions of the held-out nats per row, and what was learned."""
    train, test = split(tasks, n_rows, trial)
    began = time.perf_counter()
    learner = LEARNERS[kind](trial).fit(train)
    seconds = time.perf_counter() - began
    held_out = [learner.networks_[t].log_likelihood(task).mean() for t, task in test.items()]
    return {
        "held_out": round(float(np.mean(held_out)), 6),
        "arcs": round(
            float(np.mean([g.number_of_edges() for g in learner.configuration_.values()])), 3
        ),
        "penalty": getattr(learner, "penalty_", None),
        "seconds": round(seconds, 3),
    }


def table():
    """Held-out nats per row, mean and standard error of the difference to learning alone."""
    lines = pd.DataFrame(Results("sachs", SETTINGS).lines)
    wide = lines.pivot(index=["rows", "trial"], columns="learner", values="held_out")[
        list(LEARNERS)
    ]
    alone = next(iter(LEARNERS))
    gain = wide.drop(columns=alone).sub(wide[alone], axis=0).groupby("rows")
    text = ["| rows per condition | " + " | ".join(LEARNERS) + " |", "|---" * 5 + "|"]
    for rows, mean in wide.groupby("rows").mean().iterrows():
        cells = [f"{mean[alone]:.2f}"]
        for kind in list(LEARNERS)[1:]:
            cells.append(f"{gain.mean().loc[rows, kind]:+.2f} ± {gain.sem().loc[rows, kind]:.2f}")
        text.append(f"| {rows} | " + " | ".join(cells) + " |")
    return "\n".join(text)


def main():
    """Run what is missing of the study."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=10)
    arguments = parser.parse_args()
    exit_if_changed()
    warnings.simplefilter("ignore", UserWarning)
    tasks = encode(discretize(data.load("sachs"), bins=3))
    results = Results("sachs", SETTINGS)
    plan = [(n, t, kind) for t in range(arguments.trials) for n in SIZES for kind in LEARNERS]
    missing = [one for one in plan if not results.has(**dict(zip(SETTINGS, one, strict=True)))]
    for n, trial, kind in track(missing):
        line = measure(tasks, n, trial, kind)
        results.add(rows=n, trial=trial, learner=kind, **line)


if __name__ == "__main__":
    main()
