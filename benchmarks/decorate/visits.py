"""Which region's site to visit next: questions and predictions of networks learned together.

Run `python -m benchmarks.decorate.visits --data FOLDER` (half an hour on two cores). A visit of a
site shows which of the ten commonest species are there; vegetation, climate and the like are known
of all sites. Each strategy starts with five random sites per region, then asks for some more per
round. A line has the curve of one strategy in one trial: log-loss on held-out sites, mean over
regions and species. The sites of FeederWatch are not part of the project: see
`benchmarks/birds/bird_tasks.py`; avimedi is.
"""

import time

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.birds.bird_tasks import bird_tasks, fingerprint
from benchmarks.decorate.visit_tables import (
    ALONE_ALONE,
    ALONE_TOGETHER,
    LARGEST,
    LONGER,
    RANDOM_ALONE,
    RANDOM_TOGETHER,
    TEST_SHARE,
    TOGETHER,
    draw,
    tables,
)
from bnmtl import data as datasets
from bnmtl.active import MultitaskQuery
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.data.feederwatch import ATTRIBUTES
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.search import HillClimbing
from bnmtl.seeding import generator

NAME = "decorate_visits"
SETTINGS = ("problem", "trial", "strategy")
TAKES_DATA = True
FEEDERWATCH, AVIMEDI = "FeederWatch", "avimedi"
N_SPECIES = 10
N_TRIALS = {AVIMEDI: 12, FEEDERWATCH: 8}
FIRST = 5  # sites per region
PER_ROUND = 5  # sites per region, on average
N_ROUNDS = 5
N_MEMBERS = 8
OF_VISITS = {"snow_seen", "effort", "records"}  # nobody knows these before a visit
LEAST = 1e-6  # probability of what happened
FIXED = {"members": N_MEMBERS, "first": FIRST, "per_round": PER_ROUND, "species": N_SPECIES}
QUICKLY = HillClimbing(restarts=0)  # as the committees by default
# Which networks ask for sites, which predict them, and whether sites are drawn.
STRATEGIES = {
    RANDOM_ALONE: ("random", "alone", True),
    RANDOM_TOGETHER: ("random", "together", True),
    ALONE_ALONE: ("alone", "alone", True),
    ALONE_TOGETHER: ("alone", "together", True),
    TOGETHER: ("together", "together", True),
    LARGEST: ("together", "together", False),
    LONGER: ("longer", "longer", True),
}
__all__ = ["draw", "tables"]


def plan(quick, trials=None):
    """One case per problem and trial; FeederWatch, which takes longer, has fewer."""
    if quick:
        return study.every([RANDOM_TOGETHER, TOGETHER], problem=[AVIMEDI], trial=["quick"])
    return [
        case
        for trial in range(trials or max(N_TRIALS.values()))
        for problem, most in N_TRIALS.items()
        if trials or trial < most
        for case in study.every(_strategies, problem=[problem], trial=[trial])
    ]


def _strategies(problem, trial):
    """All on avimedi; the longer search would take hours on FeederWatch."""
    return [name for name in STRATEGIES if problem == AVIMEDI or name != LONGER]


def check_needs(cases, lines):
    """Raise ValueError unless the sites are there."""
    if any(case["problem"] == FEEDERWATCH for case in cases):
        bird_tasks("BIRD-SPECIES")


def sites_of(problem):
    """Attributes, species (0 and 1), regions, and a fingerprint of the data.

    Returns
    -------
    (pandas.DataFrame, pandas.DataFrame, numpy.ndarray of str, str)
    """
    if problem == AVIMEDI:
        regions, data, known = datasets.load("avimedi"), "", {"stratum"}
    else:
        regions, data = bird_tasks("BIRD-SPECIES"), fingerprint()
        known = {*ATTRIBUTES}
    shared = set.intersection(*(set(frame) for frame in regions.values()))
    attributes, species = sorted(shared & known), sorted(shared - known - OF_VISITS)
    sites = pd.concat(regions, names=["region"]).reset_index("region").reset_index(drop=True)
    seen = sites[species].astype(str) == "1"
    common = seen.mean().sort_values(ascending=False, kind="stable").index[:N_SPECIES]
    X = sites[attributes].astype("category")
    return X, seen[list(common)].astype(int), sites["region"].to_numpy(dtype=str), data


def measure(problem, trial, wanted):
    """One line per strategy."""
    X, species, region, data = sites_of(problem)
    is_quick = trial == "quick"
    rng = generator(0, "split", problem, trial)
    is_test = np.zeros(len(X), dtype=bool)
    first = []
    for name in np.unique(region):
        rows = rng.permutation(np.flatnonzero(region == name))
        n_test = round(TEST_SHARE * len(rows))
        is_test[rows[:n_test]] = True
        first += rows[n_test : n_test + FIRST].tolist()
    lines = {}
    for name in wanted:
        began = time.perf_counter()
        survey = Survey(X, species, region, is_test, (problem, trial), 3 if is_quick else N_MEMBERS)
        points = survey.run(name, sorted(first), 2 if is_quick else N_ROUNDS)
        lines[name] = {
            "data": data,
            "n_labels": [one[0] for one in points],
            "log_loss": [round(one[1], 5) for one in points],
            "log_loss_of_shares": [round(one[2], 5) for one in points],
            "seconds": round(time.perf_counter() - began, 1),
        }
    return lines


class Survey:
    """Rounds of visits in one trial.

    Parameters
    ----------
    X, species, region
        As from `sites_of`.
    is_test : numpy.ndarray of bool
        Sites on which predictions are judged.
    names : tuple
        Problem and trial, from which seeds are derived.
    n_members : int
    """

    def __init__(self, X, species, region, is_test, names, n_members):
        self._X, self._species, self._region = X, species, region
        self._is_test, self._names, self._n_members = is_test, names, n_members

    def run(self, strategy, first, n_rounds):
        """Numbers of visits, log-loss, and log-loss of the shares of the visits, by round."""
        asks, predicts, draws = STRATEGIES[strategy]
        visited, points = list(first), []
        per_round = PER_ROUND * len(np.unique(self._region))
        for number in range(n_rounds + 1):
            committees = {
                way: self._committee(way, visited) for way in {asks, predicts} - {"random"}
            }
            points.append(
                (len(visited), self._log_loss(committees[predicts]), self._shares_loss(visited))
            )
            left = np.flatnonzero(~self._is_test & ~np.isin(np.arange(len(self._X)), visited))
            if number == n_rounds or len(left) < per_round:
                return points
            if asks == "random":
                rng = generator(0, "visits", *self._names, number)
                visited += rng.permutation(left)[:per_round].tolist()
            else:
                visited += self._asked(asks, committees[asks], visited, left, per_round, draws)
        return points

    def _asked(self, way, committee, visited, left, per_round, draws):
        """Sites to visit: of all regions together, or as many of each region."""
        y = self._species.astype(float)
        y[~np.isin(np.arange(len(y)), visited)] = np.nan
        groups = [left]
        if way == "alone":
            names = np.unique(self._region)
            groups = [left[self._region[left] == name] for name in names]
        query = self._query(way).set_params(draws=draws)
        return [
            row
            for some in groups
            for row in query.query(
                self._X,
                y,
                self._region,
                candidates=some,
                batch_size=min(per_round // len(groups), len(some)),
                committee=committee,
            ).tolist()
        ]

    def _query(self, way):
        learner = {
            "together": MultitaskLearner(task_groups=None, search=QUICKLY),
            "alone": SingleTaskLearner(search=QUICKLY),
            "longer": MultitaskLearner(task_groups=None),
        }[way]
        estimator = MultitaskBayesNetClassifier(learner=learner)
        seed = int(generator(0, "committee", *self._names).integers(2**31 - 1))
        return MultitaskQuery(estimator, n_members=self._n_members, random_state=seed)

    def _committee(self, way, visited):
        """Networks of the visited sites."""
        committee = self._query(way).committee()
        rows = self._X.iloc[visited], self._species.iloc[visited], self._region[visited]
        return committee.fit(*rows)

    def _log_loss(self, committee):
        """Mean over regions and species."""
        X, region = self._X[self._is_test], self._region[self._is_test]
        p = np.column_stack([self._present(committee, X, region, name) for name in self._species])
        return self._mean_loss(p)

    def _present(self, committee, X, region, name):
        """Probability that a species is there."""
        p = committee.member_probabilities(X, region, name).mean(axis=0)
        classes = committee.classes_[name].tolist()
        return p[:, classes.index(1)] if 1 in classes else np.zeros(len(X))

    def _shares_loss(self, visited):
        """What knowing nothing but the shares of a region's visits gives."""
        region = self._region[self._is_test]
        p = np.zeros((len(region), self._species.shape[1]))
        for name in np.unique(region):
            seen = self._species.iloc[visited][self._region[visited] == name]
            p[region == name] = ((seen.sum() + 1) / (len(seen) + 2)).to_numpy()
        return self._mean_loss(p)

    def _mean_loss(self, p):
        seen = self._species[self._is_test].to_numpy() == 1
        losses = -np.log(np.clip(np.where(seen, p, 1 - p), LEAST, None)).mean(axis=1)
        region = self._region[self._is_test]
        return float(np.mean([losses[region == name].mean() for name in np.unique(region)]))


if __name__ == "__main__":
    study.main(__spec__.name)
