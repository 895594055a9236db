"""The Paired prior with double and single cost of reversals, and the Edit prior (thesis, 2.4).

Run `python -m benchmarks.thesis.priors` (a quarter of an hour on two cores). Five tasks of 1000
rows each, 50 of them held out to choose the penalty. The lines of Paired/Double come from
`benchmarks.thesis.methods`, which must be run first.
"""

import itertools

import numpy as np

from benchmarks import study
from benchmarks.claims import Claim, claims_table
from benchmarks.drawing import LABELS, mean_bars, panels
from benchmarks.related import FIVE, Related, networks_of
from benchmarks.summary import (
    FEWEST,
    LEVEL,
    MEASURES,
    by_trial,
    difference_text,
    holm,
    markdown,
    paired,
    paired_p,
    parts,
    reached,
)
from benchmarks.thesis import methods
from benchmarks.variants import VALIDATION, learner_of
from bnmtl import EditPrior, PairedPrior
from bnmtl.search import Memory

NAME = "priors"
SETTINGS = ("problem", "trial", "prior")
FIXED = {"n_rows": methods.N_ROWS, "validation": VALIDATION}
KINDS = {"Paired/Single": PairedPrior(reversal=1), "Edit": EditPrior()}
DOUBLE = "Paired/Double"
PRIORS = tuple(f"{kind} {variant}" for kind in KINDS for variant in "TS")


def plan(quick, trials=None):
    """All cases; the quick one is one trial of the search of the thesis."""
    if quick:
        wanted = [prior for prior in PRIORS if prior.endswith("T")]
        return study.every(wanted, trial=[0], problem=FIVE[:1])
    return study.every(PRIORS, trial=range(trials or methods.N_TRIALS), problem=FIVE)


def measure(problem, trial, wanted):
    """One line per prior and search: means over the five tasks."""
    related = Related(networks_of(problem, trial), methods.N_ROWS, trial)
    memory, lines = Memory(), {}
    for name in wanted:
        kind, variant = name.split()
        if variant == "T":
            graphs, penalty = methods.as_published(related.tasks, trial, KINDS[kind])
        else:
            learner = learner_of(f"multitask {variant}", trial).set_params(prior=KINDS[kind])
            learner.fit(related.tasks, memory=memory)
            graphs, penalty = learner.configuration_, learner.penalty_
        lines[name] = {**related.line(graphs), "penalty": penalty}
    return lines


def of_double(lines):
    """The lines of `benchmarks.thesis.methods` with the prior Paired/Double."""
    of_methods = lines[
        lines["method"].isin(["multitask T", "multitask S"]) & lines["problem"].isin(FIVE)
    ]
    return of_methods.assign(prior=of_methods["method"].str.replace("multitask", DOUBLE))


BESIDE = (methods, of_double)


def tables(lines):
    """The results of each prior, and the published claim."""
    every = parts(lines, problem=sorted(set(lines["problem"])), prior=sorted(set(lines["prior"])))
    return {
        "priors": markdown(
            {**case, "trials": len(group), **reached(group)} for case, group in every
        ),
        "priors_claims": claims_table(claims(lines)),
    }


def claims(lines):
    """Whether the kind of prior matters little."""
    for variant, measure in itertools.product("TS", ("edits", "kl")):
        pairs, p_values, largest, n_trials = [], [], 0.0, np.inf
        for problem in FIVE:
            wide = by_trial(lines[lines["problem"] == problem], "prior", measure)
            columns = [column for column in wide if column.endswith(variant)]
            for one, other in itertools.combinations(columns, 2):
                difference = difference_text(wide[one], wide[other], 3)
                pairs.append(f"{problem}: {one} {difference} {other}")
                p_values.append(paired_p(wide[one], wide[other]))
                both = paired(wide[one], wide[other])
                means, n_trials = both.mean(axis=1), min(n_trials, both.shape[1])
                largest = max(largest, 100 * abs(means[0] - means[1]) / max(means))
        if pairs:
            sure = [pair for pair, p in zip(pairs, p_values, strict=True) if p < LEVEL]
            n_sure = int((holm(p_values) < LEVEL).sum())
            yield Claim(
                f"{variant}: priors differ little, {MEASURES[measure]}",
                "never significantly",
                f"at most {largest:.0f} %; significant in {len(sure)} of {len(pairs)} pairs, in "
                f"{n_sure} after Holm's correction for their number"
                + "".join(f"; {pair}" for pair in sure),
                not n_sure if n_trials >= FEWEST else "too few trials",
                f"{measure} {variant}",
            )


_COLORS = ("#fdae6b", "#fd8d3c", "#d94801", "#9ecae1", "#4292c6", "#08519c")


def draw(lines):
    """Bars of edits and divergence, one group per problem."""
    names = sorted(set(lines["prior"]), key=lambda name: (name[-1] != "T", name))
    styles = {name: {"color": color} for name, color in zip(names, _COLORS, strict=False)}

    def draw_measure(axes, measure, _):
        mean_bars(axes, lines, "problem", "prior", measure, FIVE, styles)

    return panels(draw_measure, (11, 3), rows=LABELS, legend="above")


if __name__ == "__main__":
    study.main(__spec__.name)
