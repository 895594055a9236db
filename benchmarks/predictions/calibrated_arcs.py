"""How often is an arc true if the bootstrap gives it a confidence of 0.8?

Run `python -m benchmarks.predictions.calibrated_arcs` (two hours on two cores). Five tasks of 1000
rows each; 100 replicates are learned by hill climbing with ten restarts: every task alone or all
together at the penalty that cross-validation chooses on the original rows, both by BDeu; or
together with shared tables and the other defaults. A line contains the number of pairs of variables
with each confidence, and how many of them are in the true networks: ordered pairs for arcs,
unordered ones for edges. Calibrators are fitted to the first half of the trials and tested on the
others.
"""

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone

from benchmarks import study
from benchmarks.claims import OURS, Claim, claims_table, tally
from benchmarks.drawing import diagonal, panels
from benchmarks.related import Related, networks_of, without_constant
from benchmarks.summary import LEVEL, has, markdown, parts
from benchmarks.variants import N_FOLDS, THESIS
from bnmtl import HillClimbing, MultitaskLearner, MultitaskLearnerCV, PairedPrior, SingleTaskLearner
from bnmtl.calibration import IsotonicCalibrator, PlattCalibrator, reliability
from bnmtl.confidence import arc_confidence
from bnmtl.metrics.prediction import brier_score, calibration_error, cross_entropy, roc_area

NAME = "calibrated_arcs"
SETTINGS = ("problem", "trial", "method")
PROBLEMS = ("ALARM", "ALARM-IND", "INSURANCE", "INSURANCE-IND")
METHODS = {"single": "alone", "together": "together", "shared": "together, tables shared"}
N_ROWS = 1000
N_TRIALS = 10
N_BOOTSTRAP = 100
RESTARTS = 10
SEARCH = {"search": HillClimbing(restarts=RESTARTS)}
FIXED_PARAMETERS = {**THESIS, **SEARCH}
FIXED = {
    "n_rows": N_ROWS,
    "n_bootstrap": N_BOOTSTRAP,
    "search": "hill-climbing",
    "restarts": RESTARTS,
}


def plan(quick, trials=None):
    """All cases; the quick one learns each task alone."""
    if quick:
        return study.every(["single"], problem=["ALARM"], trial=[0])
    return study.every(METHODS, trial=range(trials or N_TRIALS), problem=PROBLEMS)


def measure(problem, trial, wanted):
    """One line per method: numbers of pairs and of true pairs by confidence."""
    related = Related(networks_of(problem, trial), N_ROWS, trial)
    lines = {}
    for method in wanted:
        learner, penalty = SingleTaskLearner(**FIXED_PARAMETERS), None
        if method == "together":
            parameters = {**FIXED_PARAMETERS, "table_sharing": None, "start": "single-task"}
            parameters["task_groups"] = None
            chosen = MultitaskLearnerCV(**parameters, cv=N_FOLDS, random_state=trial)
            penalty = chosen.fit(related.tasks).penalty_
            learner = MultitaskLearner(PairedPrior(penalty), **parameters)
        elif method == "shared":
            learner = MultitaskLearner(**SEARCH, task_groups=None, random_state=trial)
            penalty = learner._used_prior().penalty
        table = arc_confidence(related.tasks, learner, N_BOOTSTRAP, trial, subsample=None)
        lines[method] = {"penalty": penalty, **counted(table, related)}
    return lines


def counted(table, related, n_replicates=N_BOOTSTRAP):
    """Numbers of pairs and of true pairs by confidence, from 0 to the number of replicates."""
    truth = {
        (name, *arc)
        for name, task in related.tasks.items()
        for arc in without_constant(related.networks[name].graph, task.constant).edges
    }
    names = [table[name].astype(str) for name in ("task", "parent", "child")]
    keys = list(zip(*names, strict=True))
    is_arc = np.array([key in truth for key in keys])
    is_edge = is_arc | np.array([(task, child, parent) in truth for task, parent, child in keys])
    first = np.array([parent < child for _, parent, child in keys])
    found = {}
    for kind, is_true, kept in (("arc", is_arc, first | True), ("edge", is_edge, first)):
        steps = (table[kind].to_numpy()[kept] * n_replicates).round().astype(int)
        found[kind] = {
            "pairs": np.bincount(steps, minlength=n_replicates + 1).tolist(),
            "true": np.bincount(steps[is_true[kept]], minlength=n_replicates + 1).tolist(),
        }
    return found


KINDS = {"arc": "arcs", "edge": "edges"}
TOGETHER = ("together", "shared")
# Intervals of confidence that are columns of the table, such as "0.8".
BINS = ((0.05, 0.15), (0.25, 0.35), (0.45, 0.55), (0.65, 0.75), (0.75, 0.85), (0.85, 0.95), (1, 1))
CALIBRATORS = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
STAGES = ("before", "Platt", "isotonic", "isotonic, of the other network")
# Stands for the omitted trial if none is omitted.
WHOLE = -1


def halves(lines):
    """The first half of the trials, used to fit calibrators, and the other half."""
    trials = sorted(lines["trial"].unique())
    first = lines["trial"].isin(trials[: (len(trials) + 1) // 2])
    return lines[first], lines[~first]


def cases(lines, kind):
    """Confidences, labels and numbers of pairs with both, over all lines."""
    pairs = np.sum([counts["pairs"] for counts in lines[kind]], axis=0)
    true = np.sum([counts["true"] for counts in lines[kind]], axis=0)
    confidence = np.arange(len(pairs)) / (len(pairs) - 1)
    scores, y = np.tile(confidence, 2), np.repeat([0, 1], len(pairs))
    weights = np.concatenate([pairs - true, true])
    return scores[weights > 0], y[weights > 0], weights[weights > 0]


def other(problem):
    """The same kind of problem on the other network."""
    old, new = ("ALARM", "INSURANCE") if "ALARM" in problem else ("INSURANCE", "ALARM")
    return problem.replace(old, new)


def stages(lines, problem, method, kind):
    """Lines of the test trials, and the function from confidences to probabilities of each stage.

    There are no lines if the trials cannot be split into two halves.
    """
    of_method = lines[lines["method"] == method]
    here, there = (of_method[of_method["problem"] == name] for name in (problem, other(problem)))
    first, second = halves(here)
    if not len(second):
        return second, {}
    found = {"before": np.asarray}
    for name, calibrator in CALIBRATORS.items():
        found[name] = clone(calibrator).fit(*cases(first, kind)).predict
    if len(there):
        elsewhere = IsotonicCalibrator().fit(*cases(halves(there)[0], kind))
        found[STAGES[-1]] = elsewhere.predict
    return second, found


def left_out(lines):
    """All lines, then all without one trial, for each of several: (omitted trial, lines)."""
    yield WHOLE, lines
    trials = sorted(lines["trial"].unique())
    if len(trials) > 1:
        for trial in trials:
            yield trial, lines[lines["trial"] != trial]


def jackknife(values):
    """A value over all trials and its standard error, nan for a single trial.

    Parameters
    ----------
    values : pandas.Series by trial left out
        `WHOLE` indexes the value over all trials.

    Returns
    -------
    value, error : float
        The error is the jackknife error: Efron & Tibshirani (1993), equation 11.5.
    """
    each = values.drop(WHOLE)
    if len(each) < 2:
        return values[WHOLE], np.nan
    spread = ((each - each.mean()) ** 2).sum()
    return values[WHOLE], float(np.sqrt((len(each) - 1) / len(each) * spread))


def with_error(values, scale, digits):
    """A value over all trials with its error, as text."""
    value, error = (scale * one for one in jackknife(values))
    return f"{value:.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def sure_sign(values):
    """The sign of a value that differs from 0 in a t-test with its jackknife error, else 0."""
    value, error = jackknife(values)
    degrees = len(values) - 2
    if degrees < 1 or abs(value) <= stats.t.ppf(1 - LEVEL / 2, degrees) * error:
        return 0
    return 1 if value > 0 else -1


def combinations(lines):
    """The lines of every problem, kind and method: (case, kind, lines)."""
    for problem in sorted(set(lines["problem"])):
        for kind in KINDS:
            for case, group in parts(lines, problem=[problem], method=METHODS):
                yield case, kind, group


def tables(lines):
    """How often pairs with a confidence are true, the effect of calibration, and the claims."""
    found = measures(lines)
    return {
        "calibrated_arcs": markdown(shares(lines)),
        "calibrated_arcs_measures": markdown(_measures(found)),
        "calibrated_arcs_claims": claims_table(claims(found)),
    }


def shares(lines):
    """How often pairs with each confidence are true, by problem and method."""
    for case, kind, group in combinations(lines):
        row = {"problem": case["problem"], "learned": METHODS[case["method"]], "of": KINDS[kind]}
        counted = {trial: cases(rest, kind) for trial, rest in left_out(group)}
        for low, high in BINS:
            by_trial = {trial: _share(*each, low, high) for trial, each in counted.items()}
            share = pd.Series({trial: share for trial, (share, _) in by_trial.items()})
            total = by_trial[WHOLE][1]
            title = "1" if low == high else f"{(low + high) / 2:.1f}"
            row[title] = f"{with_error(share.dropna(), 1, 2)} ({total})" if total else ""
        yield row


def _share(confidence, y, weights, low, high):
    """The share of true pairs in an interval of confidence, and the number of pairs."""
    within = (confidence >= low - 1e-9) & (confidence <= high + 1e-9)
    total = weights[within].sum()
    return (np.average(y[within], weights=weights[within]) if total else np.nan), total


def measures(lines):
    """Calibration error, Brier score and cross-entropy by stage, on the test trials.

    There is also a row for each omitted test trial, named in the column "without".
    """
    rows = []
    for case, kind, _ in combinations(lines):
        test, probabilities = stages(lines, **case, kind=kind)
        for without, rest in left_out(test) if len(test) else ():
            confidence, y, weights = cases(rest, kind)
            for stage, calibrated in probabilities.items():
                row = {**case, "kind": kind, "stage": stage, "without": without}
                rows.append(row | _measured(y, calibrated(confidence), weights))
    return pd.DataFrame(rows)


def _measured(y, p, weights):
    n = weights.sum()
    clipped = np.clip(p, 1 / (n + 2), (n + 1) / (n + 2))
    return {
        "calibration": calibration_error(y, p, "debiased", weights=weights),
        "brier": brier_score(y, p, weights),
        "cross_entropy": cross_entropy(y, clipped, weights=weights),
        "area": roc_area(y, p, weights),
    }


# Measures of the table, their factors, and digits.
SHOWN = {"calibration": (100, 2), "brier": (1000, 1), "cross_entropy": (1000, 0)}


def _measures(found):
    if not len(found):
        yield {"measured": "one half of the trials only"}
        return
    keys = ["problem", "kind", "method"]
    for (problem, kind, method), group in found.groupby(keys, sort=False):
        by_stage = {stage: one.set_index("without") for stage, one in group.groupby("stage")}
        row = {"problem": problem, "learned": METHODS[method], "of": KINDS[kind]}
        row["ROC area"] = with_error(by_stage["before"]["area"], 1, 3)
        for stage in filter(by_stage.__contains__, STAGES):
            texts = [with_error(by_stage[stage][name], *how) for name, how in SHOWN.items()]
            row[stage] = ", ".join(texts)
        yield row


# Comparisons of confidences learned together with those learned alone: stage, measure, words, and
# whether more is better.
COMPARED = (
    ("before", "calibration", "are calibrated better before calibration", False),
    ("before", "area", "rank pairs better before calibration", True),
    ("isotonic", "brier", "have a lower Brier score after isotonic calibration", False),
)


def claims(found):
    """Claims about the effects of calibration and of learning together, from `measures`."""
    by_kind = {kind: of_kind for kind, of_kind in found.groupby("kind")} if len(found) else {}
    for kind, of_kind in by_kind.items():
        for stage in STAGES[1:]:
            yield from _lowered(of_kind, kind, stage)
    for kind, of_kind in by_kind.items():
        for method in TOGETHER:
            for compared in COMPARED:
                yield from _together(of_kind, kind, method, *compared)


def _lowered(found, kind, stage):
    """Whether calibration lowers the cross-entropy, for each problem and method."""
    keys = ["problem", "method", "without"]
    wide = found.pivot_table(index=keys, columns="stage", values="cross_entropy")
    if not has(wide, "before", stage):
        return
    gains = {
        f"{problem} {METHODS[method]}": gain.droplevel([0, 1])
        for (problem, method), gain in (wide["before"] - wide[stage]).dropna().groupby(keys[:2])
    }
    yield Claim(
        f"{stage} calibration lowers the cross-entropy of {KINDS[kind]}",
        OURS,
        ", ".join(f"{name} {with_error(gain, 1000, 1)}" for name, gain in gains.items())
        + " (lower by, thousandths of a nat a pair)",
        tally(map(sure_sign, gains.values()), "lower in {above} of {n}, higher in {below}"),
    )


def _together(found, kind, method, stage, name, words, more):
    """Whether confidences learned together are better than those learned alone."""
    of_stage = found[found["stage"] == stage]
    wide = of_stage.pivot_table(index=["problem", "without"], columns="method", values=name)
    if not has(wide, "single", method):
        return
    wide = wide.dropna(subset=["single", method])
    gain = (wide[method] - wide["single"]) * (1 if more else -1)
    gains = {problem: of_problem.droplevel(0) for problem, of_problem in gain.groupby("problem")}
    yield Claim(
        f"confidences of {KINDS[kind]} learned {METHODS[method]} {words}",
        OURS,
        {
            problem: f"{wide.loc[(problem, WHOLE), 'single']:.4f} alone, "
            f"{wide.loc[(problem, WHOLE), method]:.4f} together, better by "
            f"{with_error(of_problem, 1, 4)}"
            for problem, of_problem in gains.items()
        },
        tally(map(sure_sign, gains.values()), "better in {above} of {n}, worse in {below}"),
    )


_MARKERS = {"single": "o", "together": "s", "shared": "^"}


def draw(lines):
    """Shares of true pairs by confidence and method; below, after isotonic calibration."""

    def draw_case(axes, row, column):
        problem, kind = column
        diagonal(axes)
        for case, group in parts(lines, problem=[problem], method=METHODS):
            if row == "before":
                _draw_shares(axes, *cases(group, kind), case["method"])
                continue
            test, probabilities = stages(lines, **case, kind=kind)
            if len(test):
                confidence, y, weights = cases(test, kind)
                p = probabilities["isotonic"](confidence)
                _draw_shares(axes, p, y, weights, case["method"])

    problems = sorted(set(lines["problem"]))
    columns = {(name, kind): f"{name},\n{KINDS[kind]}" for name in problems for kind in KINDS}
    rows = {"before": "share that is true", "after": "the same, calibrated\n(trials not fitted to)"}
    options = {"legend": "above", "sharex": True, "sharey": True, "supxlabel": "confidence"}
    return panels(draw_case, (2.1, 2.45), columns, rows, **options)


def _draw_shares(axes, p, y, weights, method):
    table = reliability(np.repeat(y, weights), np.repeat(p, weights))
    share = table["fraction_positive"]
    error = [(share - table["low"]).clip(lower=0), (table["high"] - share).clip(lower=0)]
    style = {"fmt": f"{_MARKERS[method]}-", "linewidth": 0.8}
    axes.errorbar(table["mean_prediction"], share, yerr=error, label=METHODS[method], **style)


if __name__ == "__main__":
    study.main(__spec__.name)
