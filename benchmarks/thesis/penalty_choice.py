"""Ways of choosing the penalty: held-out rows, cross-validation, the posterior.

Run `python -m benchmarks.thesis.penalty_choice` (three quarters of an hour on two cores). Five
problems of five tasks, 1000 rows each, with the search S: strong single-task searches, then
configurations from there. "optimal" is the penalty of the grid with the fewest edits in each trial,
learned from all rows. "folds in full" searches the structures of every fold with the same effort as
those of all rows, whereas bnmtl spends less effort on folds.

The score is BDeu with sample size 1, as in all studies. K2, under whose prior all tables are
equally likely, shows the part of a bad choice that is due to the score. "BDeu or K2" also chooses
the score, by held-out rows or by the posterior.
"""

import matplotlib
import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.claims import OURS, claims_table, differences
from benchmarks.drawing import LABELS, mean_bars, panels
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import by_trial, has, markdown, parts, reached
from benchmarks.thesis import methods
from benchmarks.thesis.pool import held_out_of, mean_held_out
from benchmarks.variants import LEARNERS, N_FOLDS, VALIDATION, Searches, learner_of
from bnmtl import K2, MultitaskLearnerCV, PairedPrior
from bnmtl.learners.held_out import held_out_rows, held_out_split
from bnmtl.learners.validated import best_penalty, penalty_grid
from bnmtl.search import Memory
from bnmtl.search.effort import Effort
from bnmtl.search.grouped import solve_path

NAME = "penalty_choice"
SETTINGS = ("problem", "trial", "choice")
CHOICES = {
    "validation": {"validation": VALIDATION},
    "cv": {"cv": N_FOLDS},
    "posterior": {"validation": "posterior"},
    "validation, K2": {"validation": VALIDATION, "score": K2()},
    "posterior, K2": {"validation": "posterior", "score": K2()},
}
# The learner, of two, whose chosen penalty has the better score.
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
FIXED = {"n_rows": methods.N_ROWS, "n_folds": N_FOLDS, "validation": VALIDATION}
# The penalty of "validation" applied to all rows: edits only, from the path of "optimal".
ALL_ROWS = "validation, then all rows"
SHOWN = (
    "single",
    "validation",
    ALL_ROWS,
    *(choice for choice in TRIALS if choice not in ("single", "validation", "optimal")),
    "optimal",
)


def plan(quick, trials=None):
    """All cases; the quick one is one choice by held-out rows."""
    if quick:
        return study.every(["validation"], trial=[0], problem=FIVE[:1])

    def wanted(trial, problem):
        return [choice for choice, n in TRIALS.items() if trial < (trials or n)]

    return study.every(wanted, trial=range(trials or max(TRIALS.values())), problem=FIVE)


def measure(problem, trial, wanted):
    """One line per choice: means over the five tasks at the chosen penalty."""
    related = Related(networks_of(problem, trial), methods.N_ROWS, trial)
    memory, lines = Memory(), {}
    for choice in {one: None for name in wanted for one in (*EITHER.get(name, ()), name)}:
        if choice in EITHER:
            both = [lines[one] for one in EITHER[choice]]
            lines[choice] = max(both, key=lambda line: line["best"])
        else:
            lines[choice] = _line(related, choice, trial, memory)
    return {choice: lines[choice] for choice in wanted}


def _line(related, choice, trial, memory):
    if choice in ("optimal", IN_FULL):
        path = _path(related.tasks, trial)
        judged = [related.line(related.graphs(solution.matrices)) for solution in path.values()]
        edits = [measures["edits"] for measures in judged]
        best = int(np.argmin(edits)) if choice == "optimal" else _in_full(related.tasks, trial)
        line = {**judged[best], "penalty": list(path)[best]}
        return {**line, "penalties": list(path), "edits_at": np.round(edits, 4).tolist()}
    learner = learner_of("single S", trial)
    if choice != "single":
        learner = MultitaskLearnerCV(**LEARNERS["S"] | CHOICES[choice], random_state=trial)
    learner.fit(related.tasks, memory=memory)
    line = related.line(learner.configuration_)
    if choice != "single":
        line["penalty"] = learner.penalty_
        line["best"] = round(float(learner.validation_scores_.max()), 6)
    return line


def _path(tasks, trial):
    """Solutions on all rows by penalty, largest first."""
    search = Searches(tasks, trial).search("S")
    grid = penalty_grid(None)
    priors = [PairedPrior(penalty) for penalty in grid]
    starts = search.starts(priors, ["single-task"])
    return dict(zip(grid, solve_path(search, priors, starts, Effort(trial)), strict=True))


def _in_full(tasks, trial):
    """Index of the penalty chosen by cross-validation with full searches in every fold."""
    scores = 0.0
    for rows in held_out_rows(tasks, None, N_FOLDS, trial):
        train, test = held_out_split(tasks, rows)
        searches, held_out = Searches(train, trial), held_out_of(train, test)
        graphs = [searches.graphs(solution) for solution in _path(train, trial).values()]
        scores = scores + np.array([mean_held_out(held_out, one) for one in graphs])
    return best_penalty(scores)


def tables(lines):
    """The results of each choice, the share of the gap that it closes, and the claims."""
    lines = with_all_rows(lines)
    return {
        "penalty_choice": markdown(_reached(lines)),
        "penalty_choice_claims": claims_table(differences(lines, FIVE, COMPARED)),
    }


def _reached(lines):
    for case, here in parts(lines, problem=FIVE, choice=SHOWN):
        problem, choice = case.values()
        of_problem = lines[lines["problem"] == problem]
        # Choices that learn from all rows by BDeu differ from ALL_ROWS only in the penalty.
        by_penalty = choice in ("cv", "posterior", IN_FULL)
        yield {
            **{"problem": problem, "penalty by": choice, "trials": len(here)},
            **reached(here),
            "median 1 - penalty": median_rest(here["penalty"]),
            "gap closed": gap_closed(of_problem, choice, "validation"),
            "by its penalty": gap_closed(of_problem, choice, ALL_ROWS) if by_penalty else "",
        }


def with_all_rows(lines):
    """The lines, and lines with the edits on all rows at the penalty chosen by validation.

    Their difference from validation is due to the held-out rows; their difference from the other
    choices is due to the penalty.
    """
    paths = lines[lines["choice"] == "optimal"].set_index(["problem", "trial"])
    found = []
    for _, line in lines[lines["choice"] == "validation"].iterrows():
        if (line["problem"], line["trial"]) in paths.index:
            path = paths.loc[(line["problem"], line["trial"])]
            edits = path["edits_at"][path["penalties"].index(line["penalty"])]
            kept = {name: line[name] for name in ("problem", "trial", "penalty")}
            found.append({**kept, "choice": ALL_ROWS, "edits": edits})
    return pd.concat([lines, pd.DataFrame(found)], ignore_index=True)


def median_rest(penalties):
    """The lower median of 1 - penalty, which is one of the values, as text."""
    rest = sorted(1 - penalties.dropna())
    return f"{rest[(len(rest) - 1) // 2]:.0e}" if rest else ""


def gap_closed(lines, choice, other):
    """(other - choice) / (other - optimal) in edits, over the trials that have all three."""
    wide = by_trial(lines, "choice", "edits")
    if choice in ("single", "optimal", other) or not has(wide, other, "optimal", choice):
        return ""
    means = wide[[other, "optimal", choice]].dropna().mean()
    gap = means[other] - means["optimal"]
    return f"{100 * (means[other] - means[choice]) / gap:.0f} %" if gap > 0 else "no gap"


# Choice, baseline and expected result.
COMPARED = (
    ("cv", "validation", "better penalties (the thesis, of work under way)"),
    ("posterior", "validation", OURS),
    ("posterior", "cv", OURS),
    ("posterior, K2", "validation, K2", "our own: as good where the score fits (-IND)"),
    ("posterior, BDeu or K2", "cv", OURS),
    ("validation, BDeu or K2", "validation", OURS),
)


def draw(lines):
    """Edits by choice, one group per problem."""
    lines = with_all_rows(lines)
    colors = matplotlib.colormaps["tab20"]
    styles = {choice: {"color": colors(at)} for at, choice in enumerate(SHOWN)}

    def draw_measure(axes, measure, _):
        mean_bars(axes, lines, "problem", "choice", measure, FIVE, styles)

    return panels(draw_measure, (12, 4), rows={"edits": LABELS["edits"]}, legend="above")


if __name__ == "__main__":
    study.main(__spec__.name)
