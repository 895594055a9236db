"""How often the joint states tried for many tasks include the best ones.

Run `python -m benchmarks.search.many_tasks` (five minutes on two cores). With shared tables, all
joint states of a pair are evaluated for up to nine tasks; for more tasks, only some are tried. Here
the two methods are compared during a greedy search for five tasks from the graphs learned alone: on
pairs that can improve, out of sixty drawn at every step, and on every best move.
"""

import numpy as np

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.drawing import bars, panels
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import markdown
from benchmarks.variants import shared_search
from bnmtl import MultitaskLearner, Orders, PairedPrior
from bnmtl.scores import CONCENTRATIONS, PARTITIONS
from bnmtl.search.configurations import SharedConfigurationSearch
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.ties import Ties

NAME = "many_tasks"
SETTINGS = ("problem", "rows", "trial", "penalty")
FIXED = {"concentrations": list(CONCENTRATIONS), "partitions": list(PARTITIONS)}
EARLIER = {"concentrations": list(UP_TO_100)}
PENALTIES = (0.5, 0.99)
N_TRIALS = 3
N_PAIRS = 60
# Smaller differences between gains count as ties.
TOLERANCE = 1e-6


def plan(quick, trials=None):
    """All cases."""
    if quick:
        return study.every([0.99], problem=["ASIA"], rows=[100], trial=[0])
    return study.every(PENALTIES, rows=[250], trial=range(trials or N_TRIALS), problem=FIVE)


def measure(problem, rows, trial, wanted):
    """One line per penalty: how many best gains were found, and the worst miss."""
    tasks = Related(networks_of(problem, trial), rows, trial).tasks
    search = Orders(starts=1, iterations=5)
    learner = MultitaskLearner(table_sharing="auto", search=search, random_state=trial)
    effort, search = shared_search(learner, tasks)
    ties = Ties(search.joint.variables, effort.seed, search.tolerance)
    starts = search.joint.spread(search.single())
    lines = {}
    for penalty in wanted:
        couplings = Couplings(PairedPrior(penalty), search.joint)
        lines[penalty] = _compared(BothGains(search.joint, couplings, ties, starts), trial)
    return lines


class BothGains(SharedConfigurationSearch):
    """A search that also returns the gains of a pair by all joint states and by those tried."""

    def both_gains(self, i, j):
        """Gains of a pair by the best of all joint states, and by the best of those tried."""
        members, coupling = self.couplings.of(i, j)
        gains = self._gains(i, j, members)
        solved = (
            solve(i, j, members, gains, coupling)[1] - self.log_couplings[i, j]
            for solve in (self._best_of_all, self._best_of_some)
        )
        return tuple(max(0.0, float(gain)) for gain in solved)


def _compared(greedy, seed):
    """Both kinds of gains during a greedy search."""
    pairs, rng = np.argwhere(greedy.couplings.pairs), np.random.default_rng(seed)
    gains, moves = [], []
    while True:
        move = greedy.best_move()
        drawn = pairs[rng.permutation(len(pairs))[:N_PAIRS]].tolist()
        gains += [gain for pair in drawn if (gain := greedy.both_gains(*pair))[0] > TOLERANCE]
        if move is None:
            break
        moves.append(greedy.both_gains(*move[:2]))
        greedy.apply(*move)
    return {**_counted(gains, "pairs"), **_counted(moves, "moves")}


def _counted(gains, name):
    """How many best gains were found, and the largest loss where they were not."""
    missed = [best - tried for best, tried in gains if best - tried > TOLERANCE]
    return {
        name: len(gains),
        f"{name}_met": len(gains) - len(missed),
        f"{name}_worst": round(max(missed, default=0.0), 3),
    }


def tables(lines):
    """How many best gains were found, by penalty."""
    return {"many_tasks": markdown(_best_found(lines))}


def _best_found(lines):
    for penalty, group in lines.groupby("penalty"):
        row = {"penalty": penalty, "searches": len(group)}
        for name, title in (("pairs", "pairs that improve"), ("moves", "best moves")):
            hits, total = group[f"{name}_met"].sum(), group[name].sum()
            row[f"{title}, best states tried"] = f"{hits} of {total} ({hits / max(total, 1):.0%})"
            row[f"worst miss, nats ({name})"] = f"{group[f'{name}_worst'].max():.1f}"
        yield row


def draw(lines):
    """Share of pairs whose best states are tried, with one bar per problem and penalty."""
    sums = lines.groupby(["problem", "penalty"])[["pairs", "pairs_met"]].sum()
    share = (sums["pairs_met"] / sums["pairs"]).unstack("penalty").add_prefix("penalty ")
    rows = {"": "pairs whose best states are tried"}
    return panels(lambda axes, *_: bars(axes, share), (6, 3.5), rows=rows, legend="above")


if __name__ == "__main__":
    study.main(__spec__.name)
