"""How often the joint states that are tried for many tasks hold the best ones.

Run `python -m benchmarks.search.many_tasks` (five minutes on two cores). With tables in common the
joint states of a pair are all looked at for up to nine tasks; of more tasks some are tried. Here
both are asked on the way of a greedy search for five tasks, from each task's own graph: at pairs
that can improve, sixty drawn at every step, and at every best move.
"""

import numpy as np

from benchmarks import study
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import markdown
from bnmtl import MultitaskLearner, Orders, PairedPrior
from bnmtl.progress import Reporter
from bnmtl.scores import CONCENTRATIONS, PARTITIONS
from bnmtl.search.couplings import Couplings
from bnmtl.search.shared_configurations import SharedConfigurationSearch
from bnmtl.search.shared_multitask import search_over
from bnmtl.search.ties import Ties

NAME = "many_tasks"
SETTINGS = ("problem", "rows", "trial", "penalty")
FIXED = {"concentrations": list(CONCENTRATIONS), "partitions": list(PARTITIONS)}
PENALTIES = (0.5, 0.99)
N_TRIALS = 3
N_PAIRS = 60
# Gains that differ by less are the same.
ALIKE = 1e-6


def plan(quick, trials=None):
    """All cases."""
    if quick:
        return study.every([0.99], problem=["INSURANCE"], rows=[100], trial=[0])
    return study.every(PENALTIES, rows=[250], trial=range(trials or N_TRIALS), problem=FIVE)


def measure(problem, rows, trial, wanted):
    """A line a penalty: how many gains were met, and by how much the worst one was missed."""
    tasks = Related(networks_of(problem, trial), rows, trial).tasks
    search = Orders(starts=1, iterations=5)
    learner = MultitaskLearner(table_sharing="auto", search=search, random_state=trial)
    effort = learner.effort()
    search = search_over(learner.problems(tasks, effort), effort, Reporter(False))
    ties = Ties(search.joint.variables, effort.seed, search.tolerance)
    starts = search.joint.spread(search.single())
    lines = {}
    for penalty in wanted:
        couplings = Couplings(PairedPrior(penalty), search.joint)
        lines[penalty] = _on_the_way(BothWays(search.joint, couplings, ties, starts), trial)
    return lines


class BothWays(SharedConfigurationSearch):
    """A search that tells what pairs gain by all joint states and by those that are tried."""

    def both_gains(self, i, j):
        """What a pair gains by the best joint states of all, and by the best that are tried."""
        members, coupling = self.couplings.of(i, j)
        own = self._gains(i, j, members)
        solved = (
            solve(i, j, members, own, coupling)[1] - self.log_couplings[i, j]
            for solve in (self._best_of_all, self._best_of_some)
        )
        return tuple(max(0.0, float(gain)) for gain in solved)


def _on_the_way(greedy, seed):
    """Both kinds of gains on the way of a greedy search."""
    pairs, rng = np.argwhere(greedy.couplings.pairs), np.random.default_rng(seed)
    gains, moves = [], []
    while True:
        move = greedy.best_move()
        drawn = pairs[rng.permutation(len(pairs))[:N_PAIRS]].tolist()
        gains += [gain for pair in drawn if (gain := greedy.both_gains(*pair))[0] > ALIKE]
        if move is None:
            break
        moves.append(greedy.both_gains(*move[:2]))
        greedy.apply(*move)
    return {**_met(gains, "pairs"), **_met(moves, "moves")}


def _met(gains, name):
    missed = [best - tried for best, tried in gains if best - tried > ALIKE]
    return {
        name: len(gains),
        f"{name}_met": len(gains) - len(missed),
        f"{name}_worst": round(max(missed, default=0.0), 3),
    }


def tables(lines):
    """How many were met, by penalty."""
    rows = []
    for penalty, own in lines.groupby("penalty"):
        row = {"penalty": penalty, "searches": len(own)}
        for name, title in (("pairs", "pairs that improve"), ("moves", "best moves")):
            met, total = own[f"{name}_met"].sum(), own[name].sum()
            row[f"{title}, best states tried"] = f"{met} of {total} ({met / max(total, 1):.0%})"
            row[f"worst miss, nats ({name})"] = f"{own[f'{name}_worst'].max():.1f}"
        rows.append(row)
    return {"many_tasks": markdown(rows)}


def draw(lines):
    """The share that was met, a bar a problem and penalty."""
    sums = lines.groupby(["problem", "penalty"])[["pairs", "pairs_met"]].sum()
    share = (sums["pairs_met"] / sums["pairs"]).unstack("penalty")
    axes = share.plot.bar(figsize=(6, 3.5), rot=0, ylim=(0, 1.05))
    axes.set_ylabel("pairs whose best states are tried")
    axes.legend(title="penalty", loc="lower right")
    axes.figure.tight_layout()
    return axes.figure


if __name__ == "__main__":
    study.main(__spec__.name)
