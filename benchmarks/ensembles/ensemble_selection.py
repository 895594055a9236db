"""Ensembles selected from libraries of models, and mimics of them (thesis, chapter 4).

Run `python -m benchmarks.ensembles.ensemble_selection --data FOLDER` (nights on two cores). The
data are not part of the project: see `benchmarks/predictions/uci.py`. Models are trained on 4000
rows, ensembles are selected on 1000 others, and all results are of further rows, at most 10,000.
The libraries of trials 0 and 5 have the profile "thesis", the others "small"; for the curves by
number of cases of hill climbing they are trained on 1000 rows, because with 4000 each takes two
cores an hour. Libraries are kept in the folder BNMTL_LIBRARIES, so that a run that was interrupted
goes on; cases share them, so they run one after the other, each on all cores.
"""

import itertools

from benchmarks import study
from benchmarks.ensembles import analyses, mimics
from benchmarks.ensembles.problem_rows import LARGE, PROBLEMS, QUICK, parts_of
from benchmarks.ensembles.selection_pictures import draw, more_pictures
from benchmarks.ensembles.selection_tables import tables
from benchmarks.predictions import good_probabilities

NAME = "ensemble_selection"
SETTINGS = ("problem", "trial", "analysis")
TAKES_DATA = True
JOBS = 1
N_TRIALS = 5
ANALYSES = {
    "methods": analyses.methods,
    "sizes": analyses.sizes,
    "pruning": analyses.pruning,
    "small": analyses.small,
    "mimic": mimics.mimic,
    "folds": analyses.folds,
}
FOLDED = ("folds",)  # these need libraries that take five times as long
BESIDE_LARGE = ("small",)  # these compare the large libraries of the first trial with others
LARGE_SIZES = ("ADULT", "LETTER.p1", "NURSERY", "SPAMBASE")  # in two large libraries
PLAIN = tuple(name for name in ANALYSES if name not in FOLDED)
FIXED = {"n_train": 4000, "n_hillclimb": 1000, "most_test": 10_000, "n_steps": 200, "n_bags": 20}
__all__ = ["draw", "measure", "more_pictures", "plan", "tables"]


def plan(quick, trials=None):
    """One case per analysis; those of a trial share its libraries. What takes long comes last."""
    problems, n_trials = ((QUICK,), 1) if quick else (PROBLEMS, trials or N_TRIALS)
    cases = [
        {"problem": problem, "trial": trial, "wanted": [analysis]}
        for trial in (*range(1, n_trials), 0)
        for group in (PLAIN, FOLDED)
        for problem in problems
        for analysis in group
        if trial == 0 or analysis not in BESIDE_LARGE
        if quick or trial != 0 or analysis != "sizes"
    ]
    large = () if quick else itertools.product(LARGE, LARGE_SIZES)
    return cases + [
        {"problem": problem, "trial": trial, "wanted": ["sizes"]} for trial, problem in large
    ]


check_needs = good_probabilities.check_needs


def measure(problem, trial, wanted):
    """One line per analysis."""
    data = parts_of(problem, trial).data
    return {name: {"data": data, **ANALYSES[name](problem, trial)} for name in wanted}


if __name__ == "__main__":
    study.main(__spec__.name)
