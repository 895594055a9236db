"""Predictions of learning together on small real tables.

Run `python -m benchmarks.defaults.real_tables --data FOLDER` (an hour on two cores). The baselines
are each task alone, BIC and no arcs. Every row is held out once, in ten folds; tasks with fewer
rows hold out one row at a time. Structures, tables and penalties of a fold do not depend on its
held-out rows. Each score and sparsity is tried alone and with every method for choosing the
penalty, all with separate tables; "tables shared" is the default of the learners, with a penalty of
0.99 or one that is chosen. It is also compared with concentrations up to 100, an earlier default.
"""

from contextlib import ExitStack, contextmanager
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.defaults.chosen_sparsity import GRID, side_by_side
from benchmarks.defaults.grouped import FEEDERWATCH, SACHS, SHIPPED, TABLES, folder, grouped_tasks
from benchmarks.defaults.ways import WAYS, choices, expecting, folds_of
from benchmarks.drawing import panels
from benchmarks.summary import markdown, parts, present
from bnmtl import BIC, BDeu, MixedDirichlet, MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner
from bnmtl.learners import compare
from bnmtl.learners.held_out import penalty_scores
from bnmtl.networks import shared_tables
from bnmtl.networks import tables as probability_tables
from bnmtl.scores import CONCENTRATIONS

NAME = "real_tables"
SETTINGS = ("table", "score", "parents", "way")
TAKES_DATA = True
FIXED = {"folds": 10, "concentrations": list(CONCENTRATIONS)}
EARLIER = {"concentrations": list(UP_TO_100)}
SEED = 0
SCORES = {"MixedDirichlet": MixedDirichlet(), "BDeu": BDeu(), "BIC": BIC()}
# The expected number of parents is chosen together with the penalty.
CHOSEN = "chosen"
CHOSEN_WAYS = ("posterior", "cv", "one-standard-error")
# Score and expected number of parents; None is the uniform prior.
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
DEFAULT = ("MixedDirichlet", 0.1)
TABLES_OF_1 = "alone, tables of one imaginary row"
SHARED = "tables shared"
SHARED_POSTERIOR, SHARED_CV = f"{SHARED}, posterior", f"{SHARED}, cv"


class _Choosing(MultitaskLearnerCV):
    """A learner that chooses sparsity instead of taking it as the user's belief."""

    def _learns_sparsity(self):
        return True


def plan(quick):
    """All cases except learning together by BIC."""
    if quick:
        score, parents = DEFAULT
        return [{"table": "avimedi", "score": score, "parents": parents, "wanted": ["alone"]}]
    return [
        {"table": table, "score": score, "parents": parents, "wanted": _wanted(score, parents)}
        for score, parents in VARIANTS
        for table in TABLES
        # 179 species with 22 rows per task take hours, for useless graphs.
        if table != "pyrifos" or score == "BIC" or parents is not None
    ]


def _wanted(score, parents):
    if score == "BIC":
        return ["alone"]
    if (score, parents) == DEFAULT:
        return ["alone", *WAYS, TABLES_OF_1, SHARED, SHARED_POSTERIOR, SHARED_CV]
    return ["alone", *(CHOSEN_WAYS if parents == CHOSEN else WAYS)]


def check_needs(cases, lines):
    """Raise ValueError if a table is needed and missing."""
    if any(case["table"] not in SHIPPED for case in cases):
        folder()


def measure(table, score, parents, wanted):
    """One line per method: mean log-likelihood of held-out rows, and gains with standard errors."""
    tasks = grouped_tasks(table)
    bic = SingleTaskLearner(score=BIC(), structure_prior=None, random_state=SEED)
    baseline = compare(bic, tasks)
    if set(wanted) == {"alone"} and score == "BIC":
        return {"alone": _line(baseline["alone"], baseline, baseline["alone"])}
    if set(wanted) <= set(_OTHERWISE):
        return {way: _OTHERWISE[way](tasks, score, parents, baseline) for way in wanted}
    if parents == CHOSEN:
        # As in `plan`, the uniform prior is omitted where it takes hours.
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
            found[way] = _line(alone, baseline, alone)
            continue
        if way in _OTHERWISE:
            found[way] = _OTHERWISE[way](tasks, score, parents, baseline)
            continue
        rows = [fold.together[choice[way]] for fold, choice in zip(folds, chosen, strict=True)]
        used = [penalties[choice[way]] for choice in chosen]
        found[way] = {**_line(np.concatenate(rows)[order], baseline, alone), "penalties": used}
    return found


def with_tables_of_1(tasks, score, parents, baseline):
    """The graphs of each task alone, with tables smoothed by one imaginary row.

    Held-out rows choose nothing here, so the graphs are those learned with default tables.
    """
    learner = SingleTaskLearner(
        score=SCORES[score], structure_prior=expecting(tasks, parents), random_state=SEED
    )
    alone = compare(learner, tasks)["alone"]
    smoothed = compare(learner.set_params(parameter_sample_size=1), tasks)
    line = _line(smoothed["alone"], baseline, alone)
    line["empty"] = round(float(smoothed["empty"].mean()), 6)
    return line


def with_tables_shared(tasks, _score, _parents, baseline):
    """Tasks that share tables, as by default; the graphs without arcs share them, too."""
    scored = compare(MultitaskLearner(random_state=SEED), tasks)
    separate = compare(
        MultitaskLearner(table_sharing=None, task_groups=None, random_state=SEED), tasks
    )
    together, empty = scored["together"], scored["empty"]
    line = _line(together, {**baseline, "empty": empty}, scored["alone"])
    line |= _gains(together, {"own": separate["together"], "own_empty": separate["empty"]})
    with concentrations_up_to_100():
        earlier = MultitaskLearner(score=MixedDirichlet(UP_TO_100), random_state=SEED)
        line |= _gains(together, {"up_to_100": compare(earlier, tasks)["together"]})
    return {**line, "empty": round(float(empty.mean()), 6)}


@contextmanager
def concentrations_up_to_100():
    """Tables are smoothed as if the default score had concentrations up to 100."""
    with ExitStack() as stack:
        for module in (shared_tables, probability_tables):
            stack.enter_context(patch.object(module, "CONCENTRATIONS", UP_TO_100))
        yield


def with_penalty_chosen(tasks, _score, _parents, baseline, **how):
    """Tasks that share tables at a chosen penalty, also compared with the default penalty."""
    how = {"task_groups": None, "random_state": SEED, **how}
    scored = compare(MultitaskLearnerCV(**how), tasks)
    fixed = compare(MultitaskLearner(task_groups=None, random_state=SEED), tasks)["together"]
    together = scored["together"]
    line = _line(together, {**baseline, "empty": scored["empty"]}, scored["alone"])
    used = scored.groupby("fold")["penalty"].first().tolist()
    return line | _gains(together, {"fixed": fixed}) | {"penalties": used}


_OTHERWISE = {
    TABLES_OF_1: with_tables_of_1,
    SHARED: with_tables_shared,
    SHARED_POSTERIOR: partial(with_penalty_chosen, validation="posterior"),
    SHARED_CV: with_penalty_chosen,
}


def _folds(tasks, score, parents):
    """Penalties in descending order, and folds scored at each of them."""
    learner = _Choosing(
        score=score,
        structure_prior=expecting(tasks, parents),
        table_sharing=None,
        task_groups=None,
        random_state=SEED,
    )
    effort = learner._effort()
    priors = learner._possible_priors(learner._problems(tasks, effort))
    return list(priors), folds_of(learner, tasks, list(priors.values()))


def _line(rows, baseline, alone):
    """Mean and gains of log-likelihoods by row, in the order of the data."""
    line = {"held_out": round(float(np.mean(rows)), 6), "n_rows": len(rows)}
    return line | _gains(
        rows, {"empty": baseline["empty"], "bic": baseline["alone"], "alone": alone}
    )


def _gains(rows, others):
    """Mean differences from other log-likelihoods of the same rows, with standard errors."""
    found = {}
    for name, other in others.items():
        difference = np.asarray(rows) - np.asarray(other)
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        found[f"over_{name}"] = round(float(difference.mean()), 6)
        found[f"over_{name}_error"] = round(float(error), 6)
    return found


IN_WORDS = {
    "avimedi": "birds in two Mediterranean regions (avimedi)",
    FEEDERWATCH: "sites where birds are fed, eight regions (FeederWatch)",
    "jv73": "fish and water of twelve rivers, 3 to 17 sites each (jv73)",
    "dune": "dune meadow plants under four kinds of management (dune)",
    "pyrifos": "animals of ditches under five doses (pyrifos)",
    "breast cancer": "genes of two kinds of patients (breast cancer)",
    SACHS: "proteins under nine conditions, 25 cells each (Sachs)",
}
DRAWN = ("alone", "posterior", "cv", "one-standard-error", "penalty 0.99", SHARED)
GAINS = {"over_empty": "no arcs", "over_bic": "BIC alone", "over_alone": "alone"}


def tables(lines):
    """The default beside its alternatives, and all that was tried."""
    made = {
        "real_tables_default": markdown(_default(lines)),
        "real_tables": markdown(_all(lines)),
        "real_tables_in_short": markdown(_in_short(lines)),
        "real_tables_smoothing": markdown(_smoothing(lines)),
        "real_tables_sharing": markdown(_sharing(lines)),
    }
    others = {"penalty": _penalty(lines), "concentrations": _concentrations(lines)}
    others = {name: list(rows) for name, rows in others.items()}
    return made | {f"real_tables_{name}": markdown(rows) for name, rows in others.items() if rows}


def _gain(line, name, digits=2):
    return f"{line[name]:+.{digits}f} ± {line[f'{name}_error']:.{digits}f}"


def _of_default(lines):
    return lines[(lines["score"] == DEFAULT[0]) & (lines["parents"] == DEFAULT[1])]


def _in_short(lines):
    """Gains of learning together by default over no arcs, BIC and each task alone."""
    shown = GAINS | {"over_alone": "each task alone", "over_own": "shared arcs, separate tables"}
    for case, group in parts(_of_default(lines), table=IN_WORDS, way=[SHARED]):
        line = group.iloc[0]
        gains = {f"gain over {title}": _gain(line, name) for name, title in shown.items()}
        yield {"table": IN_WORDS[case["table"]], "rows": line["n_rows"], **gains}


def _smoothing(lines):
    """The graphs of each task alone, and no arcs, with two kinds of probability tables."""
    for case, group in parts(_of_default(lines), table=TABLES):
        found = group.set_index("way")
        if TABLES_OF_1 not in found.index:
            continue
        learned, of_one = found.loc["alone"], found.loc[TABLES_OF_1]
        gain, error = -of_one["over_alone"], of_one["over_alone_error"]
        yield {
            **case,
            "alone, smoothing learned": f"{learned['held_out']:.2f}",
            "alone, one imaginary row": f"{of_one['held_out']:.2f}",
            "gain": f"{gain:+.2f} ± {error:.2f}",
            "no arcs, smoothing learned": f"{learned['held_out'] - learned['over_empty']:.2f}",
            "no arcs, one imaginary row": f"{of_one['empty']:.2f}",
        }


def _sharing(lines):
    """Gains from shared tables, with and without arcs."""
    for _, line in _of_default(lines).query("way == @SHARED").iterrows():
        yield {
            "table": line["table"],
            "together": f"{line['held_out']:.2f}",
            "gain over own tables": _gain(line, "over_own"),
            "no arcs": f"{line['empty']:.2f}",
            "together less no arcs": _gain(line, "over_empty"),
            "no arcs, own tables": f"{line['held_out'] - line['over_own_empty']:.2f}",
            "together less no arcs, own tables": _gain(line, "over_own_empty"),
        }


def _concentrations(lines):
    """The default compared with concentrations up to 100, on the same held-out rows."""
    if "over_up_to_100" not in lines:
        return
    shared = _of_default(lines).query("way == @SHARED").dropna(subset="over_up_to_100")
    for case, group in parts(shared, table=TABLES):
        line = group.iloc[0]
        yield {
            **case,
            "rows": line["n_rows"],
            "nats a row": f"{line['held_out']:.2f}",
            "gain over concentrations up to 100": _gain(line, "over_up_to_100", 3),
        }


def _penalty(lines):
    """Shared tables at the default penalty and at chosen ones."""
    ways = (SHARED, SHARED_POSTERIOR, SHARED_CV)
    for case, group in parts(_of_default(lines), table=TABLES):
        found = group.set_index("way").reindex(ways)
        if found["held_out"].isna().any():
            continue
        row = {**case, "0.99": f"{found.loc[SHARED, 'held_out']:.2f}"}
        for way, title in zip(ways[1:], ("posterior", "folds"), strict=True):
            penalties = found.loc[way, "penalties"]
            row[f"{title}: gain over 0.99"] = _gain(found.loc[way], "over_fixed")
            row[f"{title}: 1 - penalty"] = f"{1 - np.median(penalties):.2g}"
        yield row


def _default(lines):
    for case, group in parts(_of_default(lines), table=TABLES, way=(SHARED, "alone", *WAYS)):
        line = group.iloc[0]
        gains = {f"over {title}": _gain(line, name) for name, title in GAINS.items()}
        yield {**case, "nats a row": f"{line['held_out']:.2f}", **gains}


def _all(lines):
    for case, here in parts(lines, table=TABLES):
        kinds = here.groupby(["score", "parents"], dropna=False, sort=False)
        for (score, parents), group in kinds:
            row = {**case, "score": score}
            row["parents expected"] = "uniform" if pd.isna(parents) else str(parents)
            row |= dict.fromkeys(("alone", *WAYS), "")
            for found, line in parts(group, way=("alone", *WAYS)):
                row[found["way"]] = _gain(line.iloc[0], "over_bic")
            yield row


def draw(lines):
    """Gain over BIC alone by method with two standard errors, with one panel per table."""
    lines = _of_default(lines)

    def draw_table(axes, _, table):
        for at, (way, line) in enumerate(parts(lines, table=[table], way=DRAWN)):
            gain, error = line["over_bic"], 2 * line["over_bic_error"]
            axes.errorbar([at], gain, error, fmt="o", label=way["way"])
        axes.axhline(0, color="gray", linewidth=1)
        axes.set_xticks([])

    tables = present(lines, "table", TABLES)
    rows = {"": "nats a row over BIC alone"}
    return panels(draw_table, (1.9, 3.6), tables, rows, legend="below")


if __name__ == "__main__":
    study.main(__spec__.name)
