"""How the penalty is chosen: held-out rows, cross-validation, the posterior.

Run `python -m benchmarks.penalty_choice` (an hour on two cores). Five problems of five tasks, 1000
rows each, strong single-task searches and configurations from there (S). "optimal" is the penalty
of the grid with the fewest edits in each trial, learned from all rows; "folds in full" searches the
structures of every fold as hard as those of all rows, where bnmtl's own spends less on them.

The score is BDeu with sample size 1, as everywhere; K2, whose prior all tables are equally likely
under, tells what of a bad choice is the score's fault. "BDeu or K2" takes the score, too, that the
held-out rows or the posterior prefer.
"""

import numpy as np
import pandas as pd

from benchmarks import methods, study
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import (
    DIGITS,
    MEASURES,
    by_trial,
    claims_table,
    markdown,
    mean_and_error,
    paired_p,
)
from benchmarks.variants import LEARNERS, Searches
from bnmtl import K2, MultitaskLearnerCV, PairedPrior, SingleTaskLearner
from bnmtl.graphs import from_adjacency
from bnmtl.held_out import HeldOut, held_out_rows, parted
from bnmtl.penalty import best_penalty, penalty_grid
from bnmtl.search.effort import Effort
from bnmtl.search.path import solve_path

NAME = "penalty_choice"
SETTINGS = ("problem", "trial", "choice")
DPI = 100
N_FOLDS = 10
CHOICES = {
    "validation": {"validation": methods.VALIDATION},
    "cv": {"cv": N_FOLDS},
    "posterior": {"validation": "posterior"},
    "validation, K2": {"validation": methods.VALIDATION, "score": K2()},
    "posterior, K2": {"validation": "posterior", "score": K2()},
}
# Of two learners the one with the better score of its chosen penalty.
EITHER = {f"{kind}, BDeu or K2": (kind, f"{kind}, K2") for kind in ("validation", "posterior")}
IN_FULL = "folds in full"
# Number of trials of each.
TRIALS = {
    "single": 20,
    "optimal": 20,
    **dict.fromkeys((*CHOICES, *EITHER), 20),
    "cv": 10,
    IN_FULL: 4,
}
FIXED = {"n_rows": methods.N_ROWS, "n_folds": N_FOLDS}


def plan(quick):
    """All cases; the quick one chooses once on held-out rows."""
    for trial in range(1) if quick else range(max(TRIALS.values())):
        for problem in FIVE[:1] if quick else FIVE:
            wanted = [choice for choice, n_trials in TRIALS.items() if trial < n_trials]
            yield {
                "problem": problem,
                "trial": trial,
                "wanted": ["validation"] if quick else wanted,
            }


def measure(problem, trial, wanted):
    """A line a choice: means over the five tasks at the penalty that was chosen."""
    related = Related(networks_of(problem, trial), methods.N_ROWS, trial)
    known, lines = {}, {}
    # What is taken from others comes after them.
    for choice in sorted(wanted, key=list(TRIALS).index):
        if choice in EITHER:
            lines[choice] = max(
                (
                    lines[one] if one in lines else _line(related, one, trial, known)
                    for one in EITHER[choice]
                ),
                key=lambda line: line["best"],
            )
        else:
            lines[choice] = _line(related, choice, trial, known)
    return lines


def _line(related, choice, trial, known):
    if choice in ("optimal", IN_FULL):
        path = _path(related.tasks, trial)
        judged = [related.judged(related.graphs(own.matrices)) for own in path.values()]
        edits = [np.mean(own["edits"]) for own in judged]
        best = int(np.argmin(edits)) if choice == "optimal" else _in_full(related.tasks, trial)
        line = {**methods.means(judged[best]), "penalty": list(path)[best]}
        return {**line, "penalties": list(path), "edits_at": np.round(edits, 4).tolist()}
    if choice == "single":
        learner = SingleTaskLearner(random_state=trial)
    else:
        learner = MultitaskLearnerCV(**LEARNERS["S"], **CHOICES[choice], random_state=trial)
    learner._known = known.setdefault(repr(learner.score), {})
    learner.fit(related.tasks)
    line = methods.means(related.judged(learner.configuration_))
    if choice != "single":
        line["penalty"] = learner.penalty_
        line["best"] = round(float(learner.validation_scores_.max()), 6)
    return line


def _path(tasks, trial):
    """Solutions on all rows by penalty, the largest first."""
    search = Searches(tasks, trial).search("S")
    grid = penalty_grid(None)
    priors = [PairedPrior(penalty) for penalty in grid]
    starts = search.starts(priors, ["single-task"])
    return dict(zip(grid, solve_path(search, priors, starts, Effort(trial)), strict=True))


def _in_full(tasks, trial):
    """Position of the penalty that cross-validation chooses whose folds are searched anew."""
    scores = 0.0
    for held_out in held_out_rows(tasks, None, N_FOLDS, trial):
        train, test = parted(tasks, held_out)
        own = [HeldOut(train[name], test[name]) for name in tasks]
        means = [
            np.mean(
                [
                    one.mean(from_adjacency(matrix, one.variables))
                    for one, matrix in zip(own, solution.matrices, strict=True)
                ]
            )
            for solution in _path(train, trial).values()
        ]
        scores = scores + np.array(means)
    return best_penalty(scores)


def tables(lines):
    """What each choice reaches, the share of the gap that it closes, and the claims."""
    rows = []
    for problem in FIVE:
        own = lines[lines["problem"] == problem]
        for choice in TRIALS:
            here = own[own["choice"] == choice]
            if not len(here):
                continue
            row = {"problem": problem, "penalty by": choice, "trials": len(here)}
            for name, title in MEASURES.items():
                row[title] = mean_and_error(here[name], DIGITS[name])
            row["median 1 - penalty"] = f"{1 - here['penalty'].median():.0e}"
            row["gap closed"] = _gap_closed(own, choice)
            rows.append(row)
    return {
        "penalty_choice": markdown(pd.DataFrame(rows)),
        "penalty_choice_claims": claims_table(_claims(lines)),
    }


def _gap_closed(lines, choice):
    """(validation - choice) / (validation - optimal) in edits, over the trials that have all."""
    wide = by_trial(lines, "choice", "edits")
    if choice not in (*CHOICES, IN_FULL) or not {"validation", "optimal", choice} <= set(wide):
        return ""
    means = wide[list({"validation", "optimal", choice})].dropna().mean()
    gap = means["validation"] - means["optimal"]
    return f"{100 * (means['validation'] - means[choice]) / gap:.0f} %" if gap > 0 else ""


def _claims(lines):
    for choice in ("cv", "posterior"):
        better, worse, texts = 0, 0, []
        for problem in FIVE:
            wide = by_trial(lines[lines["problem"] == problem], "choice", "edits")
            if not {choice, "validation"} <= set(wide):
                continue
            difference = float((wide[choice] - wide["validation"]).mean())
            sure = paired_p(wide[choice], wide["validation"]) < 0.05
            better, worse = better + (sure and difference < 0), worse + (sure and difference > 0)
            texts.append(f"{problem} {difference:+.2f}{'' if sure else ' (n.s.)'}")
        if texts:
            yield (
                f"{choice} against 5 % validation, edits",
                "clearly better penalties expected of cross-validation",
                ", ".join(texts),
                better > 0 and not worse,
            )


def draw(lines):
    """Edits by choice, a group a problem."""
    from matplotlib.figure import Figure

    present = [problem for problem in FIVE if problem in set(lines["problem"])]
    choices = [choice for choice in TRIALS if choice in set(lines["choice"])]
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    for at, choice in enumerate(choices):
        own = lines[lines["choice"] == choice].groupby("problem")["edits"]
        places = np.arange(len(present)) + (at - len(choices) / 2 + 0.5) * 0.8 / len(choices)
        means, errors = own.mean().reindex(present), own.sem().reindex(present)
        axes.bar(places, means, 0.8 / len(choices), yerr=errors, label=choice)
    axes.set_xticks(range(len(present)), present)
    axes.set_ylabel("edit distance")
    axes.legend(fontsize=8)
    return figure


if __name__ == "__main__":
    study.main("penalty_choice")
