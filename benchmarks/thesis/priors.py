"""The Paired prior with double and single price of reversals, and the Edit prior (thesis, 2.4).

Run `python -m benchmarks.thesis.priors` (a quarter of an hour on two cores). Five tasks of 1000
rows each, 50 of them held out to choose the penalty. The lines of Paired/Double are those of
`benchmarks.thesis.methods`, which is run first.
"""

import itertools

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import (
    FEWEST,
    LEVEL,
    MEASURES,
    by_trial,
    claims_table,
    difference_text,
    holm,
    markdown,
    paired,
    paired_p,
    reached,
)
from benchmarks.thesis import methods
from benchmarks.variants import LEARNERS
from bnmtl import EditPrior, MultitaskLearnerCV, PairedPrior
from bnmtl.search import Memory

NAME = "priors"
SETTINGS = ("problem", "trial", "prior")
DPI = 100
FIXED = {"n_rows": methods.N_ROWS, "validation": methods.VALIDATION}
KINDS = {"Paired/Single": PairedPrior(reversal=1), "Edit": EditPrior()}
DOUBLE = "Paired/Double"
PRIORS = tuple(f"{kind} {variant}" for kind in KINDS for variant in "TS")


def plan(quick, trials=None):
    """All cases; the quick one is a trial of the thesis's search."""
    wanted = [prior for prior in PRIORS if prior.endswith("T")] if quick else list(PRIORS)
    return [
        {"problem": problem, "trial": trial, "wanted": wanted}
        for trial in range(1 if quick else trials or methods.N_TRIALS)
        for problem in (FIVE[:1] if quick else FIVE)
    ]


def measure(problem, trial, wanted):
    """A line a prior and search: means over the five tasks."""
    related = Related(networks_of(problem, trial), methods.N_ROWS, trial)
    memory, lines = Memory(), {}
    for name in wanted:
        kind, variant = name.split()
        if variant == "T":
            graphs, penalty = methods.as_published(related.tasks, trial, KINDS[kind])
        else:
            parameters = {**LEARNERS[variant], "validation": methods.VALIDATION}
            learner = MultitaskLearnerCV(KINDS[kind], **parameters, random_state=trial)
            learner.fit(related.tasks, memory=memory)
            graphs, penalty = learner.configuration_, learner.penalty_
        lines[name] = {**methods.means(related.judged(graphs)), "penalty": penalty}
    return lines


def of_double(lines):
    """Those of the lines of `benchmarks.thesis.methods` that are of Paired/Double."""
    own = lines[lines["method"].isin(["multitask T", "multitask S"]) & lines["problem"].isin(FIVE)]
    return own.assign(prior=own["method"].str.replace("multitask", DOUBLE))


BESIDE = (methods, of_double)


def tables(lines):
    """What each prior reaches, and the published claim."""
    rows = []
    for (problem, prior), own in lines.groupby(["problem", "prior"], sort=False):
        row = {"problem": problem, "prior": prior, "trials": len(own)}
        rows.append(row | reached(own))
    table = pd.DataFrame(rows).sort_values(["problem", "prior"], kind="stable")
    return {"priors": markdown(table), "priors_claims": claims_table(_claims(lines))}


def _claims(lines):
    for variant, measure in itertools.product("TS", ("edits", "kl")):
        pairs, p_values, largest, n_trials = [], [], 0.0, np.inf
        for problem in FIVE:
            wide = by_trial(lines[lines["problem"] == problem], "prior", measure)
            own = [column for column in wide if column.endswith(variant)]
            for one, other in itertools.combinations(own, 2):
                pairs.append(
                    f"{problem}: {one} {difference_text(wide[one], wide[other], 3)} {other}"
                )
                p_values.append(paired_p(wide[one], wide[other]))
                both = paired(wide[one], wide[other])
                means, n_trials = both.mean(axis=1), min(n_trials, both.shape[1])
                largest = max(largest, 100 * abs(means[0] - means[1]) / max(means))
        if pairs:
            sure = [pair for pair, p in zip(pairs, p_values, strict=True) if p < LEVEL]
            n_sure = int((holm(p_values) < LEVEL).sum())
            yield (
                f"{variant}: priors differ little, {MEASURES[measure]}",
                "never significantly",
                f"at most {largest:.0f} %; significant in {len(sure)} of {len(pairs)} pairs, in "
                f"{n_sure} after Holm's correction for their number"
                + "".join(f"; {pair}" for pair in sure),
                not n_sure if n_trials >= FEWEST else "too few trials",
            )


def draw(lines):
    """Bars of edits and divergence, a group a problem."""
    from matplotlib.figure import Figure

    present = [problem for problem in FIVE if problem in set(lines["problem"])]
    names = sorted(set(lines["prior"]), key=lambda name: (name[-1] != "T", name))
    colors = dict(
        zip(names, ["#fdae6b", "#fd8d3c", "#d94801", "#9ecae1", "#4292c6", "#08519c"], strict=False)
    )
    figure = Figure(figsize=(11, 6), layout="constrained")
    for axes, measure in zip(figure.subplots(2, 1), ("edits", "kl"), strict=True):
        for at, name in enumerate(names):
            own = lines[lines["prior"] == name].groupby("problem")[measure]
            places = np.arange(len(present)) + (at - len(names) / 2 + 0.5) * 0.8 / len(names)
            means, errors = own.mean().reindex(present), own.sem().reindex(present)
            axes.bar(
                places, means, 0.8 / len(names), yerr=errors, label=name, color=colors.get(name)
            )
        axes.set_xticks(range(len(present)), present)
        axes.set_ylabel({"edits": "edit distance", "kl": "KL divergence (nats)"}[measure])
    figure.axes[0].legend(ncols=2, fontsize=8)
    return figure


if __name__ == "__main__":
    study.main(__spec__.name)
