"""Small real tables: what learning together predicts, beside each task alone, BIC and no arcs.

Run `python -m benchmarks.defaults.real_tables --data FOLDER` (an hour on two cores). Every row is
held out once, by ten folds, tasks of fewer rows one row at a time; structures, tables and penalties
of a fold know nothing of its held-out rows. Each score and sparsity is taken alone and with every
way of choosing the penalty, all tables being the tasks' own; "tables shared" is what learners do by
default.
"""

import warnings

import numpy as np

from benchmarks import study
from benchmarks.defaults.chosen_sparsity import GRID, side_by_side
from benchmarks.defaults.grouped import SHIPPED, TABLES, folder, grouped_tasks
from benchmarks.defaults.real_tables_shown import DEFAULT, OWN_TABLES, SHARED, draw, tables
from benchmarks.defaults.ways import WAYS, choices, expecting, folds_of
from bnmtl import (
    BIC,
    BDeu,
    MixedDirichlet,
    MultitaskLearner,
    MultitaskLearnerCV,
    SingleTaskLearner,
)
from bnmtl.learners import compare
from bnmtl.learners.folds import penalty_scores
from bnmtl.scores import CONCENTRATIONS

NAME = "real_tables"
SETTINGS = ("table", "score", "parents", "way")
TAKES_DATA = True
FIXED = {"folds": 10, "concentrations": list(CONCENTRATIONS)}
__all__ = ["check_needs", "draw", "measure", "plan", "tables"]
SEED = 0
SCORES = {"MixedDirichlet": MixedDirichlet(), "BDeu": BDeu(), "BIC": BIC()}
# The expected number of parents of a variable is chosen with the penalty.
CHOSEN = "chosen"
CHOSEN_WAYS = ("posterior", "cv", "one-standard-error")
# Score and expected number of parents of a variable; None is the uniform prior.
VARIANTS = (
    ("BIC", None),
    ("MixedDirichlet", 0.1),
    ("MixedDirichlet", 0.3),
    ("MixedDirichlet", 0.03),
    ("MixedDirichlet", 1.0),
    ("MixedDirichlet", None),
    ("BDeu", 1.0),
    ("BDeu", None),
    ("MixedDirichlet", CHOSEN),
)


class _Choosing(MultitaskLearnerCV):
    """A learner for which sparsity is a part of what is chosen, not a belief of the user's."""

    def learns_sparsity(self):
        return True


def plan(quick, trials=None):
    """All cases; learning together by BIC is left out."""
    if quick:
        wanted = ["alone", "cv", "posterior"]
        rival = {"table": "avimedi", "score": "BIC", "parents": None, "wanted": ["alone"]}
        own = {"table": "avimedi", "score": "MixedDirichlet", "parents": 0.1, "wanted": wanted}
        return [rival, own]
    return [
        {"table": table, "score": score, "parents": parents, "wanted": _wanted(score, parents)}
        for score, parents in VARIANTS
        for table in TABLES
        # 179 species on 22 rows a task: hours, for graphs that nobody wants.
        if table != "pyrifos" or score == "BIC" or parents is not None
    ]


def _wanted(score, parents):
    if score == "BIC":
        return ["alone"]
    if (score, parents) == DEFAULT:
        return ["alone", *WAYS, OWN_TABLES, SHARED]
    return ["alone", *(CHOSEN_WAYS if parents == CHOSEN else WAYS)]


def check_needs(cases, lines):
    """Raise ValueError where tables are to be read that are not there."""
    if any(case["table"] not in SHIPPED for case in cases):
        folder()


def measure(table, score, parents, wanted):
    """A line a way: mean log-likelihood of a held-out row, and gains with standard errors."""
    tasks = grouped_tasks(table)
    bic = SingleTaskLearner(score=BIC(), structure_prior=None, random_state=SEED)
    rival = compare(bic, tasks)
    if set(wanted) == {"alone"} and score == "BIC":
        return {"alone": _line(rival["alone"], rival, rival["alone"])}
    if set(wanted) <= {OWN_TABLES, SHARED}:
        return {way: _OTHERWISE[way](tasks, score, parents, rival) for way in wanted}
    if parents == CHOSEN:
        # As above, uniform is left out where it takes hours.
        grid = [one for one in GRID if one != 0 and (one is not None or table != "pyrifos")]
        penalties, folds = side_by_side([_folds(tasks, SCORES[score], one) for one in grid])
    else:
        penalties, folds = _folds(tasks, SCORES[score], parents)
    scores = penalty_scores(folds)
    chosen = [
        choices(penalties, fold.log_posterior, np.delete(scores, at, axis=1))
        for at, fold in enumerate(folds)
    ]
    order = np.lexsort([np.concatenate([getattr(f, by) for f in folds]) for by in ("row", "task")])
    alone = np.concatenate([fold.alone for fold in folds])[order]
    found = {}
    for way in wanted:
        if way == "alone":
            found[way] = _line(alone, rival, alone)
            continue
        if way in _OTHERWISE:
            found[way] = _OTHERWISE[way](tasks, score, parents, rival)
            continue
        rows = [fold.together[own[way]] for fold, own in zip(folds, chosen, strict=True)]
        taken = [penalties[own[way]] for own in chosen]
        found[way] = {**_line(np.concatenate(rows)[order], rival, alone), "penalties": taken}
    return found


def _with_tables_of_1(tasks, score, parents, rival):
    """The graphs of each task alone with tables that one imaginary row smooths.

    Nothing is chosen by held-out rows, so the graphs are those of default tables.
    """
    learner = SingleTaskLearner(
        score=SCORES[score], structure_prior=expecting(tasks, parents), random_state=SEED
    )
    alone = compare(learner, tasks)["alone"]
    own = compare(learner.set_params(parameter_sample_size=1), tasks)
    line = _line(own["alone"], rival, alone)
    line["empty"] = round(float(own["empty"].mean()), 6)
    return line


def _with_tables_shared(tasks, _score, _parents, rival):
    """Tasks that have tables in common, as by default; no arcs have the same kind of tables."""
    scored = compare(MultitaskLearner(random_state=SEED), tasks)
    own = compare(MultitaskLearner(table_sharing=None, random_state=SEED), tasks)
    together, empty = scored["together"], scored["empty"]
    line = _line(together, {**rival, "empty": empty}, scored["alone"])
    line |= _gains(together, {"own": own["together"], "own_empty": own["empty"]})
    return {**line, "empty": round(float(empty.mean()), 6)}


_OTHERWISE = {OWN_TABLES: _with_tables_of_1, SHARED: _with_tables_shared}


def _folds(tasks, score, parents):
    """Penalties, the largest first, and folds that are scored at each of them."""
    learner = _Choosing(
        score=score,
        structure_prior=expecting(tasks, parents),
        table_sharing=None,
        random_state=SEED,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        effort = learner.effort()
        priors = learner.possible_priors(learner.problems(tasks, effort), effort)
        return list(priors), folds_of(learner, tasks, list(priors.values()))


def _line(rows, rival, alone):
    """Mean and gains of log-likelihoods by row, in the order of the data."""
    line = {"held_out": round(float(np.mean(rows)), 6), "n_rows": len(rows)}
    return line | _gains(rows, {"empty": rival["empty"], "bic": rival["alone"], "alone": alone})


def _gains(rows, others):
    """Mean differences to others' log-likelihoods of the same rows, and their standard errors."""
    found = {}
    for name, other in others.items():
        difference = np.asarray(rows) - np.asarray(other)
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        found[f"over_{name}"] = round(float(difference.mean()), 6)
        found[f"over_{name}_error"] = round(float(error), 6)
    return found


if __name__ == "__main__":
    study.main(__spec__.name)
