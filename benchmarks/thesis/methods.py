"""Comparison of single-task, identical, pooled and multitask learning (thesis, figure 2.5).

Run `python -m benchmarks.thesis.methods` (more than three hours on two cores; `--trials 2` for a
first look). Five problems and a control of unrelated tasks, with five tasks of 1000 rows each. As
in the thesis, multitask learning holds out 5 % of the rows to choose the penalty, and the other
methods learn from all rows. Further methods are the search J with the penalty chosen by ten folds,
pyAgrum, and consensus graphs of 100 bootstrap replicates. "sparse" learns each task alone with an
arc probability chosen by the same held-out rows, to distinguish the effect of sharing from that of
fewer arcs. T is the search of the thesis, S a strong search, J joint orders.
"""

import itertools

import numpy as np

from benchmarks import study
from benchmarks.claims import OURS, Claim, alike, claims_table
from benchmarks.drawing import LABELS, mean_bars, panels
from benchmarks.related import CONTROL, FIVE, Related, networks_of, without_constant
from benchmarks.speed.peers import by_pyagrum, require
from benchmarks.summary import (
    DIGITS,
    MEASURES,
    by_trial,
    difference_text,
    has,
    is_lower,
    is_significant,
    markdown,
    mean_and_error,
    paired,
    pairs,
    parts,
    reached,
    reduction,
    reduction_text,
)
from benchmarks.thesis.alone import PROBABILITIES, sparse
from benchmarks.thesis.pool import Pool, train_and_held_out
from benchmarks.variants import THESIS, VALIDATION, learner_of
from bnmtl import HillClimbing, SingleTaskLearner
from bnmtl.confidence import arc_confidence, consensus
from bnmtl.search import Memory

NAME = "methods"
SETTINGS = ("problem", "trial", "method")
PROBLEMS = (*FIVE, CONTROL)
METHODS = (
    *(f"single {variant}" for variant in "TS"),
    *(f"identical {variant}" for variant in "TS"),
    *(f"pooled {variant}" for variant in "TS"),
    *(f"multitask {variant}" for variant in "TSJ"),
    "multitask folds",
    "sparse S",
    "bagged T",
    *("pyAgrum", "pyAgrum BIC", "pyAgrum K2", "pyAgrum MIIC"),
)
N_ROWS = 1000
N_TRIALS = 20
N_BOOTSTRAP = 100
# Percent of the baseline; harm below does not count.
HARMLESS = 5
FIXED = {
    "n_rows": N_ROWS,
    "validation": VALIDATION,
    "n_bootstrap": N_BOOTSTRAP,
    "probabilities": PROBABILITIES,
}


def plan(quick, trials=None):
    """All cases; the quick one is one trial of three methods."""
    if quick:
        wanted = ["single T", "identical T", "multitask T"]
        return study.every(wanted, problem=["ALARM"], trial=[0])
    return study.every(METHODS, trial=range(trials or N_TRIALS), problem=PROBLEMS)


def check_needs(cases, lines):
    """Raise ValueError if pyAgrum is to be measured and is not installed."""
    if any(method.startswith("pyAgrum") for case in cases for method in case["wanted"]):
        require("pyagrum")


def measure(problem, trial, wanted):
    """One line per method: means over the five tasks."""
    related = Related(networks_of(problem, trial), N_ROWS, trial)
    memory = Memory()
    return {method: line_of(related, method, trial, memory) for method in wanted}


def line_of(related, method, trial, memory):
    """The result of one method; ``memory`` caches searches shared by several methods."""
    kind = method.split()[0]
    if kind == "pyAgrum":
        # The result depends on the order of the columns, so the order is random.
        order, graphs = np.random.default_rng(trial), {}
        score = method.removeprefix("pyAgrum").strip() or "BDeu"
        for name, task in related.tasks.items():
            frame = task.frame()[order.permutation(task.variables)]
            graphs[name] = without_constant(by_pyagrum(frame, score)[0], task.constant)
        return related.line(graphs)
    if kind == "bagged":
        # Repeated rows make dependencies look stronger, so a strong search would find false arcs.
        learner = SingleTaskLearner(**THESIS, search=HillClimbing(restarts=10))
        confidence = arc_confidence(related.tasks, learner, N_BOOTSTRAP, trial, subsample=None)
        return related.line(consensus(confidence, by="edge"))
    if kind == "sparse":
        graphs, probability = sparse(related.tasks, trial, VALIDATION)
        return {**related.line(graphs), "probability": probability}
    if method == "multitask T":
        graphs, penalty = as_published(related.tasks, trial)
        return {**related.line(graphs), "penalty": penalty}
    learner = learner_of(method, trial).fit(related.tasks, memory=memory)
    line = related.line(learner.configuration_, learner.networks_ if kind == "pooled" else None)
    return {**line, "penalty": learner.penalty_} if kind == "multitask" else line


def as_published(tasks, trial, prior=None):
    """Graphs and penalty of multitask learning as in the thesis.

    Uses the search T, which starts from single-task graphs at every penalty, and chooses the
    penalty by held-out rows.
    """
    train, held_out = train_and_held_out(tasks, VALIDATION, trial)
    learned = Pool(train, "T", trial, prior).learned(train.names)
    best = learned.best(held_out)
    return learned.graphs[best], learned.penalties[best]


# Multitask learners -> their baselines with the same search, by kind.
STRONG = {"single": "single S", "identical": "identical S", "sparse": "sparse S"}
COMPARED = {
    "multitask T": {"single": "single T", "identical": "identical T", "sparse": "sparse S"},
    **dict.fromkeys(("multitask S", "multitask J", "multitask folds"), STRONG),
}
# Problems and methods in words, for the README.
IN_WORDS = {
    "ALARM": "ALARM, arcs deleted",
    "ALARM-IND": "the same, probabilities drawn for each task",
    "INSURANCE": "INSURANCE, arcs deleted",
    "INSURANCE-IND": "the same, probabilities drawn for each task",
    "ALARM-COMP": "ALARM, whole components changed",
    CONTROL: "ALARM, variables permuted in each task: almost nothing to share",
}
IN_SHORT = {
    "single S": "each task alone",
    "sparse S": "alone, arcs less likely",
    "identical S": "one structure for all",
    "multitask folds": "together (multitask)",
}
# Published ranges of the reduction by multitask learning over five problems, in percent, and the
# problems where it was not significant.
PUBLISHED = {
    ("single", "edits"): (10, 54, ()),
    ("single", "kl"): (2, 13, ("ALARM-IND", "INSURANCE-IND")),
    ("identical", "edits"): (4, 60, ("ALARM-IND",)),
    ("identical", "kl"): (7, 32, ()),
}


def tables(lines):
    """The results of each method, the reductions, and the published claims."""
    every = parts(lines, problem=PROBLEMS, method=METHODS)
    return {
        "methods": markdown(
            {**case, "trials": len(group), **reached(group)} for case, group in every
        ),
        "methods_reductions": markdown(_reductions(lines)),
        "methods_claims": claims_table(claims(lines)),
        "methods_in_short": markdown(_in_short(lines)),
    }


def _in_short(lines):
    """Edits of the strong search: each task alone, with one structure, and together."""
    for problem, words in IN_WORDS.items():
        wide = by_trial(lines[lines["problem"] == problem], "method", "edits")
        if has(wide, *IN_SHORT):
            wide = wide[list(IN_SHORT)].dropna()
            cells = {title: mean_and_error(wide[name]) for name, title in IN_SHORT.items()}
            yield {"five tasks on": words, **cells}


def _reductions(lines):
    compared = [(method, *rival) for method, others in COMPARED.items() for rival in others.items()]
    for problem, (method, kind, other) in itertools.product(PROBLEMS, compared):
        row = {"problem": problem, "method": method, "below": kind}
        for measure, name in MEASURES.items():
            for pair in pairs(lines, "method", measure, method, other, problem=[problem]).values():
                row["trials"] = paired(*pair).shape[1]
                is_share = measure == "f1"
                row[name] = difference_text(*pair, 3) if is_share else reduction_text(*pair)
        if "trials" in row:
            yield row


def claims(lines):
    """The published ranges, and our own claims."""
    for (kind, measure), published in PUBLISHED.items():
        for method in COMPARED:
            found = _below(lines, method, kind, measure)
            if found:
                yield _range(method, kind, measure, found, *published)
    yield from _restraint(lines)
    yield from _pooling(lines)
    yield from _control(lines)


def _below(lines, method, kind, measure):
    """A measure of multitask learning and of another kind, for each of the five problems."""
    return pairs(lines, "method", measure, method, COMPARED[method][kind], problem=FIVE)


def _range(method, kind, measure, found, low, high, unsure):
    """Whether both ends of the published range of reductions are reached."""
    percents = [reduction(*pair) for pair in found.values()]
    worse = [p for p, (ours, others) in found.items() if is_lower(others, ours)]
    lacking = [p for p, pair in found.items() if p not in (*unsure, *worse) and not is_lower(*pair)]
    missed = [
        *([f"low end {min(percents):.0f} %"] if min(percents) < low - 0.5 else []),
        *([f"high end {max(percents):.0f} %"] if max(percents) < high - 0.5 else []),
        *(f"worse on {problem}" for problem in worse),
        *(f"n.s. on {problem}" for problem in lacking),
    ]
    significance = f"n.s. on {' and '.join(unsure)}" if unsure else "all significant"
    return Claim(
        f"{method} below {kind}, {MEASURES[measure]}: both ends of the range reached",
        f"{low} % to {high} %, {significance}",
        {problem: reduction_text(*pair) for problem, pair in found.items()},
        f"no: {', '.join(missed)}" if missed else "yes",
        f"{kind}, {measure} {method.split()[1]}",
    )


def _restraint(lines):
    for method, measure in itertools.product(COMPARED, ("edits", "kl")):
        found = _below(lines, method, "sparse", measure)
        if found:
            yield Claim(
                f"{method} below sparse, {MEASURES[measure]}: sharing is more than fewer arcs",
                OURS,
                {problem: reduction_text(*pair) for problem, pair in found.items()},
                (sum(is_lower(*pair) for pair in found.values()), len(found)),
            )


def _pooling(lines):
    for variant, measure in itertools.product("TS", ("edits", "kl")):
        ours, other = f"pooled {variant}", f"identical {variant}"
        found = pairs(lines, "method", measure, ours, other, problem=FIVE)
        ratios = {problem: 1 - reduction(*pair) / 100 for problem, pair in found.items()}
        is_worse = {at: ratios[at] > 1 and is_significant(*pair) for at, pair in found.items()}
        if measure == "edits" and "ALARM" in found:
            is_worse["ALARM"] = 0.9 <= ratios["ALARM"] <= 1.1
        if found:
            but = " except on ALARM, about the same (within 10 %)" if measure == "edits" else ""
            yield Claim(
                f"{ours} compared with {other}, {MEASURES[measure]}",
                f"much worse{but}",
                {problem: f"{ratio:.1f} times" for problem, ratio in ratios.items()},
                (sum(is_worse.values()), len(found)),
                f"pooled, {measure} {variant}",
            )


def _control(lines):
    for measure, (method, others) in itertools.product(("edits", "kl"), COMPARED.items()):
        # Baselines without sharing: single-task learning, and the same with fewer arcs.
        for kind in ("single", "sparse"):
            found = pairs(lines, "method", measure, method, others[kind], problem=[CONTROL])
            for pair in found.values():
                ours, without = paired(*pair)
                margin = HARMLESS / 100 * without.mean()
                yield Claim(
                    f"{method}: no harm above {HARMLESS} % if tasks share nothing (CONTROL), "
                    f"{MEASURES[measure]} above {others[kind]}",
                    OURS,
                    difference_text(*pair, DIGITS[measure]),
                    alike(ours - without, margin, is_harm=True),
                    f"no harm, {kind} {method.split()[1]}" if measure == "edits" else None,
                )


# Search or baseline -> color; kind -> hatch.
_COLORS = {
    "T": "#fdae6b",
    "S": "#4292c6",
    "J": "#08306b",
    "folds": "#238b45",
    "bagged": "#969696",
    "pyAgrum": "#525252",
    "pyAgrum BIC": "#7a7a7a",
    "pyAgrum K2": "#a3a3a3",
    "pyAgrum MIIC": "#cccccc",
    "sparse": "#9e9ac8",
}
_HATCHES = {"identical": "//", "pooled": "..", "multitask": "xx"}


def _style(method):
    kind, _, variant = method.partition(" ")
    color = _COLORS.get(method, _COLORS.get(kind, _COLORS.get(variant)))
    return {"color": color, "hatch": _HATCHES.get(kind, ""), "edgecolor": "white"}


def draw(lines):
    """Bars of edits and divergence, one group per problem."""

    def draw_measure(axes, measure, _):
        styles = {method: _style(method) for method in METHODS}
        columns = ("problem", "method", measure)
        places = mean_bars(axes, lines, *columns, PROBLEMS, styles, width=0.86)
        _truncate(axes, lines.groupby(["method", "problem"])[measure].mean(), places)

    return panels(draw_measure, (15, 4), rows=LABELS, legend="above")


def _truncate(axes, means, places):
    """Truncate bars much longer than the others and label them with their values.

    One structure, or one network, for different tasks is so inaccurate that the other bars would be
    indistinguishable.
    """
    kinds = [method.split()[0] for method, _ in means.index]
    top = 1.3 * means[[kind not in ("pooled", "identical") for kind in kinds]].max()
    problems = [label.get_text() for label in axes.get_xticklabels()]
    for (method, problem), mean in means[means > top].items():
        style = {"rotation": 90, "ha": "center", "va": "top", "size": 6}
        place = places[method][problems.index(problem)]
        axes.text(place, 0.985 * top, f"{mean:.3g}", **style)
    axes.set_ylim(0, top)


if __name__ == "__main__":
    study.main(__spec__.name)
