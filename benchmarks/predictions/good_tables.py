"""Tables and claims of the study of good probabilities."""

import numpy as np
import pandas as pd

from benchmarks.claims import OURS, Claim, alike, claims_table, tally
from benchmarks.predictions.good_learners import DIFFERENCES, LEARNERS, MARGINS, TWO_LEVELS
from benchmarks.summary import (
    FEWEST,
    has,
    is_significant,
    markdown,
    means_of,
    means_table,
    sign,
)

RMSE, CROSS_ENTROPY = "root mean squared error", "cross-entropy"
MEASURES = (RMSE, CROSS_ENTROPY)
METHODS = (
    *("before", "Platt", "isotonic", "Platt on log odds"),
    *("logistic correction", "log-loss"),
)
THESIS = tuple(name for name in LEARNERS if name not in ("Bayesian network", "multi-net"))
CALIBRATED = ("Platt", "isotonic")
DEPTHS = ("boosted stumps", TWO_LEVELS, "boosted trees")
# Numbers of calibration cases that count as small and as large.
SMALL, LARGE = 200, 1000
LOWER_FOR = "lower for {above}, higher for {below} of {n}"
# Methods that differ by fewer percent are on par.
ON_PAR = 5


def values(lines, name, of="methods"):
    """One row per problem, trial, learner and method: a measure on the test rows.

    With ``of="pictured"``, the measure is that of the single model of each learner in the pictures.
    """
    rows = [
        (line["problem"], line["trial"], line["learner"], method, results[name])
        for line in lines.to_dict("records")
        for method, results in line[of].items()
    ]
    return pd.DataFrame(rows, columns=["problem", "trial", "learner", "method", "value"])


def by_problem(table, learner):
    """Means over trials of one learner: problems by methods."""
    of_learner = table[table["learner"] == learner]
    return means_table(of_learner, "problem", "method", "value")


def complete(lines):
    """The lines of problems and trials for which all learners of all trials were measured."""
    lines = lines[lines["learner"].isin(LEARNERS)]
    n_learners = lines.groupby(["problem", "trial"])["learner"].transform("nunique")
    return lines[n_learners == lines["learner"].nunique()]


def tables(lines):
    """Results of each learner by method, its distortion, and the published claims."""
    whole = complete(lines)
    differences = pd.DataFrame(DIFFERENCES, columns=["what", "thesis", "here"])
    return {
        "good_probabilities_differences": markdown(differences),
        "good_probabilities": markdown(_reached(whole, RMSE)),
        "good_probabilities_entropy": markdown(_reached(whole, CROSS_ENTROPY)),
        "good_probabilities_problems": markdown(_problems(lines)),
        "good_probabilities_slopes": markdown(_slopes(lines)),
        "good_probabilities_curves": markdown(_curves(lines)),
        "good_probabilities_depths": markdown(_depths(lines)),
        "good_probabilities_claims": claims_table(claims(lines)),
    }


def known(lines):
    """The learners with lines, in their order."""
    return [name for name in LEARNERS if name in set(lines["learner"])]


def _reached(lines, measure):
    """Means over problems in every trial, then over trials."""
    table = values(lines, measure)
    for learner in known(lines):
        of_learner = table[table["learner"] == learner]
        yield {
            "learner": learner,
            **dict.fromkeys(METHODS, ""),
            **means_of(of_learner, "method", "value", METHODS, 4),
        }


def _problems(lines):
    """Root mean squared error before calibration and after Platt's, by problem."""
    means = _means(values(lines, RMSE), "problem")
    before, after = (means[method].map("{:.3f}".format) for method in ("before", "Platt"))
    return _across(lines, before + " → " + after)


def _slopes(lines):
    """Distortion of the pictured models before calibration, by problem."""
    means = _means(values(lines, "slope", "pictured"), "problem")
    return _across(lines, means["before"].map("{:.2f}".format))


def _depths(lines):
    """Means over the problems with boosted trees of every depth, of the first trial."""
    first = _of_all_depths(lines)
    for name in MEASURES:
        table = values(first, name)
        for learner in DEPTHS:
            means = table[table["learner"] == learner].groupby("method")["value"].mean()
            if len(means):
                yield {
                    "measure": name,
                    "learner": learner,
                    **dict.fromkeys(METHODS, ""),
                    **{method: f"{means[method]:.4f}" for method in METHODS if method in means},
                }


def _of_all_depths(lines):
    """The lines of boosted trees on problems of the first trial with all depths."""
    first = lines[(lines["trial"] == 0) & lines["learner"].isin(DEPTHS)]
    return first[first.groupby("problem")["learner"].transform("nunique") == len(DEPTHS)]


def _means(table, by):
    """Means by learner and another column, with one column per method."""
    return table.pivot_table(index=["learner", by], columns="method", values="value")


def _across(lines, texts):
    """Texts by learner and another column, as a table."""
    return texts.unstack().reindex(known(lines)).fillna("").reset_index()


def curves(lines):
    """Error by learner, method and size, with one row for each problem and trial."""
    columns = ["problem", "trial", "learner"]
    records = lines.dropna(subset="curve").to_dict("records") if "curve" in lines else []
    if not records:
        return pd.DataFrame(columns=[*columns, "size", "method", "value"])
    sizes = [len(line["curve"]["sizes"]) for line in records]
    every = {name: np.repeat([line[name] for line in records], sizes) for name in columns}
    for name in dict.fromkeys(name for line in records for name in line["curve"]):
        found = [
            np.broadcast_to(line["curve"].get(name, np.nan), size)
            for line, size in zip(records, sizes, strict=True)
        ]
        every["size" if name == "sizes" else name] = np.concatenate(found)
    return pd.DataFrame(every).melt([*columns, "size"], var_name="method")


def _curves(lines):
    """Mean error of isotonic regression over problems minus that of Platt's method, by size."""
    table = curves(lines)
    if not len(table):
        return pd.DataFrame({"learner": known(lines)})
    means = _means(table, "size")
    return _across(lines, (1000 * (means["isotonic"] - means["Platt"])).map("{:+.1f}".format))


def change(table, learner, ours, other):
    """The values of two methods by problem; the percentage by which ours is lower; and its text.

    None if one of them was not measured.
    """
    wide = by_problem(table, learner)
    if not has(wide, ours, other):
        return None
    pair = wide[[ours, other]].dropna()
    gain = pair[other] - pair[ours]
    percent = 100 * gain.sum() / pair[other].sum()
    note = "" if is_significant(pair[ours], pair[other]) else ", n.s."
    text = f"{learner} {percent:+.1f} % (lower on {(gain > 0).sum()} of {len(gain)}{note})"
    return (pair[ours], pair[other]), percent, text


def claims(lines):
    """Claims of the thesis about learners before and after calibration, and our own."""
    rmse, entropy = (values(lines, name) for name in MEASURES)
    slopes, every = values(lines, "slope", "pictured"), known(lines)
    bayes, hurt = ("naive Bayes",), ("neural nets", "logistic regression")
    yield from _shape(slopes, "sigmoid-shaped before calibration", MARGINS, True)
    for method in CALIBRATED:
        yield from _lower(rmse, MARGINS, method, "before", "repaired", RMSE)
    yield from _shape(slopes, "pushed to 0 and 1", bayes, False)
    yield from _lower(rmse, bayes, "isotonic", "Platt", "better", RMSE)
    yield from _lower(entropy, bayes, "Platt", "isotonic", "better", CROSS_ENTROPY)
    for method in CALIBRATED:
        yield from _lower(rmse, hurt, "before", method, "hurt a little by calibration", RMSE)
    for method in CALIBRATED:
        words = f"{method} for bagged trees, root mean squared error within {ON_PAR} %"
        yield from _one(rmse, "bagged trees", method, "before", words, "a wash", _is_wash)
    gaining = ("random forests", "nearest neighbors")
    yield from _lower(rmse, gaining, "Platt", "before", "gain on average", RMSE)
    yield from _lower(entropy, every, "Platt", "isotonic", "better", CROSS_ENTROPY)
    yield from _lower(rmse, ("decision trees", *bayes), "isotonic", "Platt", "better", RMSE)
    yield from _by_size(lines)
    yield from _corrected(lines, {RMSE: rmse, CROSS_ENTROPY: entropy})
    yield from _deeper(lines)
    yield from _best(lines)
    probable = [name for name in every if name not in MARGINS]
    for table, name in ((rmse, RMSE), (entropy, CROSS_ENTROPY)):
        yield from _lower(table, probable, "Platt on log odds", "Platt", OURS, name)


def _shape(slopes, words, learners, above):
    """Whether the log odds of the outcome rise faster (above) or slower than the predicted ones."""
    for learner in learners:
        wide = by_problem(slopes, learner)
        if len(wide):
            right = (wide["before"] > 1) == above
            yield Claim(
                f"{learner}: {words}; slope of the log odds {'above' if above else 'below'} 1",
                "yes",
                {problem: f"{one:.2f}" for problem, one in wide["before"].items()},
                f"{right.sum()} of {len(right)} problems",
            )


def _lower(table, learners, ours, other, published, name):
    """Whether one method is lower on average than another one, for each of some learners."""
    found = [change(table, learner, ours, other) for learner in learners]
    found = [one for one in found if one is not None]
    if found:
        yield Claim(
            f"{ours} below {other}, {name}",
            published,
            ", ".join(text for *_, text in found),
            tally((sign(*pair) for pair, *_ in found), LOWER_FOR),
        )


def _one(table, learner, ours, other, words, published, judge):
    """Whether one method differs from another one for one learner, as decided by a function."""
    found = change(table, learner, ours, other)
    if found is not None:
        pair, percent, text = found
        yield Claim(words, published, text, judge(pair, percent))


def _is_wash(pair, _):
    """Whether tests over problems show that the mean is close to that of the other method."""
    ours, other = pair
    return alike(ours - other, ON_PAR / 100 * other.mean())


def _is_near(pair, _):
    """Whether a test over problems shows that the mean is not much above the other one."""
    ours, other = pair
    return alike(ours - other, ON_PAR / 100 * other.mean(), is_harm=True)


def _is_worse(pair, _):
    """Whether ours is higher, by a paired test over problems."""
    if len(pair[0]) < FEWEST:
        return "too few problems"
    return {0: "not significant", 1: "no, it is better", -1: "yes"}[sign(*pair)]


def _by_size(lines):
    """Which calibrator is better with few and with many calibration cases, for each learner."""
    table = curves(lines)
    for words, kept, sign_ in (
        (f"Platt below isotonic below {SMALL} cases", table["size"] < SMALL, 1),
        (f"isotonic not above Platt from {LARGE} cases on", table["size"] > LARGE, -1),
    ):
        wide = table[kept].pivot_table(index="learner", columns="method", values="value")
        if not len(wide):
            continue
        gap = 1000 * (wide["isotonic"] - wide["Platt"]).reindex(known(lines)).dropna()
        yield Claim(
            f"{words}, root mean squared error",
            "all learners",
            ", ".join(f"{learner} {one:+.1f}" for learner, one in gap.items())
            + " (thousandths, isotonic less Platt)",
            f"{(sign_ * gap > 0).sum()} of {len(gap)} learners",
        )


def _corrected(lines, by_measure):
    """Claims about logistic correction and log-loss, for stumps and for full trees."""
    for name, table in by_measure.items():
        words = f"logistic correction for stumps at most {ON_PAR} % from Platt, {name}"
        methods = "logistic correction", "Platt"
        yield from _one(table, "boosted stumps", *methods, words, "on par", _is_near)
        words = f"log-loss for stumps worse than logistic correction, {name}"
        methods = "log-loss", "logistic correction"
        yield from _one(table, "boosted stumps", *methods, words, "by a few percent", _is_worse)
    wide = by_problem(values(lines, "near 0 or 1", "pictured"), "boosted trees")
    for method in ("logistic correction", "log-loss"):
        if method in wide:
            yield Claim(
                f"{method} of boosted trees predicts 0 or 1, in 95 % of the test rows",
                "10 of 11 problems",
                {name: f"{one:.0%}" for name, one in wide[method].items()},
                f"{(wide[method] > 0.95).sum()} of {len(wide)} problems",
            )


def _deeper(lines):
    """Claims about boosted trees of two levels (a footnote of section 3.4), on the first trial."""
    first = _of_all_depths(lines)
    for name in MEASURES:
        table = values(first, name)
        after = table[table["method"] == "Platt"]
        wide = after.pivot_table(index="problem", columns="learner", values="value")
        for ours, other in ((TWO_LEVELS, DEPTHS[0]), (DEPTHS[2], TWO_LEVELS)):
            if has(wide, ours, other):
                pair = wide[ours], wide[other]
                gain = 100 * (1 - pair[0].sum() / pair[1].sum())
                note = "" if is_significant(*pair) else ", n.s."
                n_lower = (pair[0] < pair[1]).sum()
                yield Claim(
                    f"{ours} below {other}, both calibrated by Platt, {name}",
                    "yes",
                    f"{gain:+.1f} % (lower on {n_lower} of {len(wide)}{note})",
                    _is_lower(pair),
                )
        for method in ("logistic correction", "log-loss"):
            words = f"{TWO_LEVELS}: {method} is worse than Platt, {name}"
            yield from _one(table, TWO_LEVELS, method, "Platt", words, "yes", _is_worse)


def _is_lower(pair):
    """Whether ours is lower, by a paired test over problems."""
    if len(pair[0]) < FEWEST:
        return "too few problems"
    return {0: "not significant", 1: "yes", -1: "no, it is higher"}[sign(*pair)]


def _best(lines):
    """The best learner and method, and the ranking of the others."""
    for name in MEASURES:
        table = values(complete(lines), name)
        means = table.groupby(["learner", "method"])["value"].mean()
        best = means.groupby("learner").min().sort_values()
        if len(best) < 2:
            continue
        published = means.drop("Platt on log odds", level="method", errors="ignore")
        first = published[published.index.get_level_values("learner").isin(THESIS)].idxmin()
        yield Claim(
            f"boosted trees calibrated by Platt are best, {name}",
            "yes",
            {f"{one} ({means[one].idxmin()})": f"{value:.4f}" for one, value in best.items()},
            first == ("boosted trees", "Platt") if len(best) > 4 else "too few learners",
        )
