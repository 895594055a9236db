"""Ideas tried on top of the search over configurations, and their gains.

Run `python -m benchmarks.search.tries` in an environment with bnmtl (about ten minutes on two
cores). Each idea starts from the best configuration found by the default search.

* tabu: ten changes of pairs, the same in all tasks or in one task. Each is the best change of a
  pair not yet changed in this walk, even if it lowers the score. Then the greedy search from the
  best configuration seen.
* deletions: the arcs of each pair are deleted in all tasks and forbidden during one greedy search,
  then allowed in another, as XGES (Nazaret & Blei 2024) deletes before it inserts again.
* restarts alike: twenty times five random changes, the same in all tasks, then the greedy search.
* relaxing: greedy searches at decreasing penalties, each from the previous result, beginning with
  the identical solution.
"""

import functools
import itertools

import numpy as np

from benchmarks import study
from benchmarks.related import Related, networks_of
from benchmarks.search import joint
from benchmarks.summary import markdown
from benchmarks.timing import timed
from benchmarks.variants import Searches
from bnmtl import PairedPrior
from bnmtl.search.configurations import ConfigurationSearch
from bnmtl.search.neighborhood import Couplings
from bnmtl.search.ties import Ties

NAME = "tries"
SETTINGS = ("problem", "trial", "penalty", "idea")
JOBS = 1
PROBLEMS = ("ALARM", "INSURANCE")
TRIALS = range(5)
PENALTIES = (0.9, 0.999, 1 - 1e-6)
STATES = (-1, 0, 1)


class WithChanges(ConfigurationSearch):
    """A search over configurations that also returns changes that lower the score."""

    def best_change(self, i, j):
        """The best change of a pair, in all tasks alike or in one task; None if there is none."""
        members, coupling = self.couplings.of(i, j)
        gains = self._gains(i, j, members)
        arcs = self.adjacency[members]
        now = arcs[:, i, j].astype(np.int8) - arcs[:, j, i]
        options = [np.full(len(members), state, np.int8) for state in STATES]
        for s, state in itertools.product(range(len(members)), STATES):
            options.append(now.copy())
            options[-1][s] = state
        found = []
        for states in options:
            gain = gains[np.arange(len(members)), states + 1].sum()
            if (states != now).any() and gain > -np.inf:
                gain += coupling.log_coupling(states) - coupling.log_coupling(now)
                found.append((gain, i, j, members, states))
        return max(found, key=lambda change: change[0], default=None)


class Walk:
    """Greedy searches for one problem and penalty from any configuration."""

    def __init__(self, search, penalty, seed):
        self.search, self.penalty, self.seed = search, penalty, seed
        self.problem = search.joint
        self.couplings = Couplings(PairedPrior(penalty), self.problem)
        self.ties = Ties(self.problem.variables, seed, 1e-6)
        self.random = np.random.default_rng(seed)

    def at(self, matrices):
        """A search that starts at a configuration, a bool array of shape (k, n, n)."""
        return WithChanges(self.problem, self.couplings, self.ties, matrices)

    def greedy(self, matrices):
        """Score and configuration at the end of the greedy search."""
        search = self.at(matrices)
        search.run()
        return search.score[1], search.adjacency.copy()


def tabu(walk, matrices, score):
    """Ten changes of pairs, then the greedy search from the best configuration seen."""
    search = walk.at(matrices)
    best, frozen = (score, matrices), set()
    for _ in range(10):
        moves = [
            move
            for i, j in np.argwhere(walk.couplings.coupled).tolist()
            if (i, j) not in frozen and (move := search.best_change(i, j)) is not None
        ]
        if not moves:
            break
        _, i, j, members, states = max(moves, key=lambda move: move[0])
        frozen.add((i, j))
        search.apply(i, j, members, states)
        if search.score[1] > best[0] + 1e-6:
            best = search.score[1], search.adjacency.copy()
    return walk.greedy(best[1])


def deletions(walk, matrices, score):
    """The arcs of each pair deleted, forbidden in one greedy search and allowed in the next."""
    best = score, matrices
    with_arcs = np.triu(matrices.any(axis=0) | matrices.any(axis=0).T)
    for i, j in np.argwhere(with_arcs).tolist():
        cut = best[1].copy()
        cut[:, i, j] = cut[:, j, i] = False
        search = walk.at(cut)
        for a, b in ((i, j), (j, i)):
            search.permitted[:, b, a] = False
            for state in search.states:
                state.task.permitted[b, a] = False
        for state in search.states:
            state.reset(state.adjacency.copy())
        search.run()
        found = walk.greedy(search.adjacency.copy())
        if found[0] > best[0] + 1e-6:
            best = found
    return best


def restarts_alike(walk, matrices, score):
    """Twenty times five random changes, the same in all tasks."""
    best = score, matrices
    n = matrices.shape[1]
    for _ in range(20):
        search = walk.at(best[1])
        for _ in range(5):
            i, j = sorted(walk.random.choice(n, 2, replace=False).tolist())
            state = int(walk.random.integers(-1, 2))
            for s, task_state in enumerate(search.states):
                a, b = (i, j) if state >= 0 else (j, i)
                if walk.problem.takes_part[s, i, j] and (state == 0 or task_state.may_set(a, b)):
                    task_state.set_pair(i, j, state)
        found = walk.greedy(search.adjacency.copy())
        if found[0] > best[0] + 1e-6:
            best = found
    return best


def relaxing(walk, matrices, score):
    """Greedy searches at decreasing penalties, from the identical solution."""
    matrices = walk.problem.spread(walk.search.identical)
    for step in (1 - 1e-12, 1 - 1e-9, 1 - 1e-6, 1 - 1e-4, 0.999, 0.99, 0.9):
        if step >= walk.penalty:
            score, matrices = Walk(walk.search, step, walk.seed).greedy(matrices)
    return score, matrices


IDEAS = {
    "relaxing": relaxing,
    "tabu": tabu,
    "deletions": deletions,
    "restarts alike": restarts_alike,
}


def edits_of(related, matrices):
    """Mean edit distance to the truth per task."""
    return float(np.mean(related.judged(related.graphs(matrices))["edits"]))


def plan(quick):
    """Cases: every penalty for every problem and trial."""
    if quick:
        return study.every(IDEAS, trial=[0], problem=["ASIA"], penalty=PENALTIES)
    return study.every(IDEAS, trial=TRIALS, problem=PROBLEMS, penalty=PENALTIES)


@functools.lru_cache(maxsize=1)
def started(problem, trial):
    """The tasks, and the search whose result all ideas start from."""
    related = Related(networks_of(problem, trial), joint.N_ROWS, trial)
    return related, Searches(related.tasks, trial).by("orders")


def measure(wanted, problem, trial, penalty):
    """The lines of all ideas at one penalty."""
    related, search = started(problem, trial)
    prior = PairedPrior(penalty)
    solution = search.solve(prior, search.starts([prior]))
    matrices = search.joint.spread(solution.matrices)
    walk = Walk(search, penalty, trial)
    score = walk.at(matrices).score[1]
    before = edits_of(related, solution.matrices)
    lines = {}
    for name in wanted:
        (found, configuration), seconds = timed(IDEAS[name], walk, matrices, score)
        lines[name] = {
            "score_before": round(score, 6),
            "gain": round(found - score, 6),
            "edits_before": before,
            "edits": edits_of(related, search.joint.cut(configuration)),
            "seconds": round(seconds, 4),
            "threads": 1,
        }
    return lines


def tables(lines):
    """How often and by how much each idea improves the score, by problem."""
    return {NAME: markdown(_improved(lines))}


def _improved(lines):
    for (problem, idea), group in lines.groupby(["problem", "idea"], sort=False):
        better = group[group["gain"] > 1e-3]
        change = (better["edits"] - better["edits_before"]).mean()
        yield {
            "problem": problem,
            "idea": idea,
            "better score in": f"{len(better)} of {len(group)}",
            "largest gain (nats)": f"{better['gain'].max():.1f}" if len(better) else "",
            "edits before": f"{group['edits_before'].mean():.2f}",
            "change of edits there": f"{change:+.2f}" if len(better) else "",
            "seconds": f"{group['seconds'].median():.2f}",
        }


if __name__ == "__main__":
    study.main(__spec__.name)
