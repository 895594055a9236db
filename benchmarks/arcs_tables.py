"""Tables and picture of the study of calibrated arcs, from its lines."""

import numpy as np
import pandas as pd

from benchmarks.summary import claims_table, markdown
from bnmtl.calibration import IsotonicCalibrator, PlattCalibrator, reliability
from bnmtl.metrics.prediction import brier_score, calibration_error, cross_entropy, roc_area

KINDS = {"arc": "arcs", "edge": "edges"}
METHODS = {"single": "alone", "together": "together"}
# Of "0.8"; beyond the ends the bins of the table.
BINS = ((0.05, 0.15), (0.25, 0.35), (0.45, 0.55), (0.65, 0.75), (0.75, 0.85), (0.85, 0.95), (1, 1))
CALIBRATORS = {"Platt": PlattCalibrator(), "isotonic": IsotonicCalibrator()}
STAGES = ("before", "Platt", "isotonic", "isotonic, of the other network")


def halves(lines):
    """The first half of the trials, to fit calibrators to, and the others."""
    trials = sorted(lines["trial"].unique())
    first = lines["trial"].isin(trials[: (len(trials) + 1) // 2])
    return lines[first], lines[~first]


def cases(lines, kind):
    """Confidences, labels and how many pairs have both, over all lines."""
    pairs = np.sum([own["pairs"] for own in lines[kind]], axis=0)
    true = np.sum([own["true"] for own in lines[kind]], axis=0)
    confidence = np.arange(len(pairs)) / (len(pairs) - 1)
    scores, y = np.tile(confidence, 2), np.repeat([0, 1], len(pairs))
    weights = np.concatenate([pairs - true, true])
    return scores[weights > 0], y[weights > 0], weights[weights > 0]


def other(problem):
    """The problem of the other network with the same kind of parameters."""
    old, new = ("ALARM", "INSURANCE") if "ALARM" in problem else ("INSURANCE", "ALARM")
    return problem.replace(old, new)


def stages(lines, problem, method, kind):
    """Labels, weights, and probabilities by stage of the test trials; None without two halves."""
    own = lines[lines["method"] == method]
    here, there = (own[own["problem"] == name] for name in (problem, other(problem)))
    first, second = halves(here)
    if not len(first) or not len(second):
        return None
    confidence, y, weights = cases(second, kind)
    found = {"before": confidence}
    for name, calibrator in CALIBRATORS.items():
        found[name] = calibrator.fit(*cases(first, kind)).predict(confidence)
    if len(there):
        elsewhere = IsotonicCalibrator().fit(*cases(halves(there)[0], kind))
        found[STAGES[-1]] = elsewhere.predict(confidence)
    return y, weights, found


def combinations(lines):
    """Problems, kinds and methods that there are lines of."""
    for problem in sorted(set(lines["problem"])):
        for kind in KINDS:
            for method in METHODS:
                if ((lines["problem"] == problem) & (lines["method"] == method)).any():
                    yield problem, kind, method


def tables(lines):
    """How often pairs of a confidence are true, what calibration adds, and what comes of it."""
    return {
        "calibrated_arcs": markdown(_shares(lines)),
        "calibrated_arcs_measures": markdown(_measures(lines)),
        "calibrated_arcs_claims": claims_table(_claims(lines)),
    }


def _shares(lines):
    rows = []
    for problem, kind, method in combinations(lines):
        own = lines[(lines["problem"] == problem) & (lines["method"] == method)]
        confidence, y, weights = cases(own, kind)
        row = {"problem": problem, "learned": METHODS[method], "of": KINDS[kind]}
        for low, high in BINS:
            within = (confidence >= low - 1e-9) & (confidence <= high + 1e-9)
            total = weights[within].sum()
            title = "1" if low == high else f"{(low + high) / 2:.1f}"
            share = np.average(y[within], weights=weights[within]) if total else np.nan
            row[title] = f"{share:.2f} ({total})" if total else ""
        rows.append(row)
    return pd.DataFrame(rows)


def measures(lines):
    """Calibration error, Brier score and cross-entropy by stage, on the test trials."""
    rows = []
    for problem, kind, method in combinations(lines):
        found = stages(lines, problem, method, kind)
        if found is None:
            continue
        y, weights, probabilities = found
        n = weights.sum()
        for stage, p in probabilities.items():
            clipped = np.clip(p, 1 / (n + 2), (n + 1) / (n + 2))
            rows.append(
                {
                    "problem": problem,
                    "kind": kind,
                    "method": method,
                    "stage": stage,
                    "calibration": calibration_error(y, p, "debiased", weights=weights),
                    "brier": brier_score(y, p, weights),
                    "cross_entropy": cross_entropy(y, clipped, weights=weights),
                    "area": roc_area(y, p, weights),
                }
            )
    return pd.DataFrame(rows)


def _measures(lines):
    found = measures(lines)
    rows = []
    if not len(found):
        return pd.DataFrame([{"measured": "one half of the trials only"}])
    keys = ["problem", "kind", "method"]
    for (problem, kind, method), own in found.groupby(keys, sort=False):
        own = own.set_index("stage")
        row = {"problem": problem, "learned": METHODS[method], "of": KINDS[kind]}
        row["ROC area"] = f"{own.loc['before', 'area']:.3f}"
        for stage in STAGES:
            if stage in own.index:
                one = own.loc[stage]
                row[stage] = (
                    f"{100 * one['calibration']:.2f}, {1000 * one['brier']:.1f}, "
                    f"{1000 * one['cross_entropy']:.0f}"
                )
        rows.append(row)
    return pd.DataFrame(rows)


def _claims(lines):
    found = measures(lines)
    if not len(found):
        return
    keys = ["problem", "kind", "method"]
    for kind in KINDS:
        for stage in STAGES[1:]:
            own = found[found["kind"] == kind]
            wide = own.pivot_table(index=keys, columns="stage", values="cross_entropy")
            if {"before", stage} <= set(wide):
                gain = (wide["before"] - wide[stage]).dropna()
                yield (
                    f"{stage} calibration lowers the cross-entropy of {KINDS[kind]}",
                    "our own",
                    ", ".join(
                        f"{problem} {METHODS[method]} {1000 * value:+.1f}"
                        for (problem, _, method), value in gain.items()
                    )
                    + " (thousandths of a nat a pair)",
                    f"{(gain > 0).sum()} of {len(gain)}",
                )
    for kind in KINDS:
        for name, title, more in (
            ("calibration", "are calibrated better before calibration", False),
            ("area", "rank pairs better", True),
            ("brier", "have a lower Brier score after isotonic calibration", False),
        ):
            stage = "isotonic" if name == "brier" else "before"
            own = found[(found["kind"] == kind) & (found["stage"] == stage)]
            wide = own.pivot_table(index="problem", columns="method", values=name)
            if set(METHODS) <= set(wide):
                wide = wide.dropna()
                better = (wide["together"] - wide["single"]) * (1 if more else -1)
                yield (
                    f"confidences of {KINDS[kind]} learned together {title}",
                    "our own",
                    ", ".join(
                        f"{problem} {one.single:.4f} alone, {one.together:.4f} together"
                        for problem, one in wide.iterrows()
                    ),
                    f"{(better > 0).sum()} of {len(better)}",
                )


def draw(lines):
    """Shares of true pairs by confidence, alone and together; below, calibrated by isotonic."""
    from matplotlib.figure import Figure

    problems = sorted(set(lines["problem"]))
    columns = [(problem, kind) for problem in problems for kind in KINDS]
    figure = Figure(figsize=(2.1 * len(columns) + 0.6, 4.9), layout="constrained")
    panels = figure.subplots(2, len(columns), sharex=True, sharey=True, squeeze=False)
    for (above, below), (problem, kind) in zip(panels.T, columns, strict=True):
        above.set_title(f"{problem},\n{KINDS[kind]}", fontsize=8)
        for axes in (above, below):
            axes.plot([0, 1], [0, 1], "--", color="gray", linewidth=0.6)
        for method, marker in (("single", "o"), ("together", "s")):
            own = lines[(lines["problem"] == problem) & (lines["method"] == method)]
            if not len(own):
                continue
            _draw_shares(above, *cases(own, kind), marker, METHODS[method])
            found = stages(lines, problem, method, kind)
            if found is not None:
                y, weights, probabilities = found
                p = probabilities["isotonic"]
                _draw_shares(below, p, y, weights, marker, METHODS[method])
        below.set_xlabel("confidence", fontsize=8)
    panels[0, 0].set_ylabel("share that is true", fontsize=8)
    panels[1, 0].set_ylabel("the same, calibrated\n(trials not fitted to)", fontsize=8)
    panels[0, 0].legend(fontsize=7, frameon=False)
    for axes in panels.flat:
        axes.tick_params(labelsize=7)
    return figure


def _draw_shares(axes, p, y, weights, marker, label):
    table = reliability(np.repeat(y, weights), np.repeat(p, weights))
    share = table["fraction_positive"]
    error = [(share - table["low"]).clip(lower=0), (table["high"] - share).clip(lower=0)]
    style = {"fmt": f"{marker}-", "markersize": 3, "linewidth": 0.8, "label": label}
    axes.errorbar(table["mean_prediction"], share, yerr=error, **style)
