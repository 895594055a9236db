"""Tables and claims of the study of good probabilities, from its lines."""

import numpy as np
import pandas as pd

from benchmarks.predictions.good_learners import DIFFERENCES, LEARNERS, MARGINS
from benchmarks.summary import FEWEST, LEVEL, claims_table, markdown, mean_and_error, paired_p

RMSE, CROSS_ENTROPY = "root mean squared error", "cross-entropy"
MEASURES = (RMSE, CROSS_ENTROPY)
METHODS = (
    *("before", "Platt", "isotonic", "Platt on log odds"),
    *("logistic correction", "log-loss"),
)
THESIS = tuple(name for name in LEARNERS if name not in ("Bayesian network", "multi-net"))
CALIBRATED = ("Platt", "isotonic")
# Sizes of calibration sets that count as small and as large.
SMALL, LARGE = 200, 1000
# Percent within which a method is on par with another one.
ON_PAR = 5


def values(lines, measure):
    """A row a problem, trial, learner and method: the measure on the test rows."""
    rows = [
        (line.problem, line.trial, line.learner, method, own[measure])
        for line in lines.itertuples()
        for method, own in line.methods.items()
    ]
    return pd.DataFrame(rows, columns=["problem", "trial", "learner", "method", "value"])


def pictured(lines, name):
    """The same for what is known of the one model of each learner that is pictured."""
    rows = [
        (line.problem, line.trial, line.learner, method, own[name])
        for line in lines.itertuples()
        for method, own in line.pictured.items()
    ]
    return pd.DataFrame(rows, columns=["problem", "trial", "learner", "method", "value"])


def by_problem(table, learner):
    """Means over trials of one learner, problems by methods."""
    own = table[table["learner"] == learner]
    return own.pivot_table(index="problem", columns="method", values="value")


def complete(lines):
    """The lines of problems and trials that all learners have been measured on."""
    n_learners = lines.groupby(["problem", "trial"])["learner"].transform("nunique")
    return lines[n_learners == lines["learner"].nunique()]


def tables(lines):
    """What each learner reaches by each method, how distorted it is, and the published claims."""
    whole = complete(lines)
    return {
        "good_probabilities_differences": markdown(
            pd.DataFrame(DIFFERENCES, columns=["what", "thesis", "here"])
        ),
        "good_probabilities": markdown(_reached(whole, RMSE)),
        "good_probabilities_entropy": markdown(_reached(whole, CROSS_ENTROPY)),
        "good_probabilities_problems": markdown(_problems(lines)),
        "good_probabilities_slopes": markdown(_slopes(lines)),
        "good_probabilities_curves": markdown(_curves(lines)),
        "good_probabilities_claims": claims_table(_claims(lines)),
    }


def known(lines):
    """Learners that there are lines of, in their order."""
    return [name for name in LEARNERS if name in set(lines["learner"])]


def _reached(lines, measure):
    """Means over problems of every trial, then over trials."""
    table = values(lines, measure)
    rows = []
    for learner in known(lines):
        row = {"learner": learner}
        for method in METHODS:
            own = table[(table["learner"] == learner) & (table["method"] == method)]
            row[method] = mean_and_error(own.groupby("trial")["value"].mean(), 4)
        rows.append(row)
    return pd.DataFrame(rows)


def _problems(lines):
    """Squared error before calibration and after Platt's, by problem."""
    table = values(lines, RMSE)
    rows = []
    for learner in known(lines):
        wide = by_problem(table, learner)
        cells = {
            problem: f"{own['before']:.3f} → {own['Platt']:.3f}" for problem, own in wide.iterrows()
        }
        rows.append({"learner": learner, **cells})
    order = sorted(set(lines["problem"]))
    return pd.DataFrame(rows, columns=["learner", *order]).fillna("")


def _slopes(lines):
    """How distorted the pictured models are before calibration, by problem."""
    table = pictured(lines, "slope")
    wide = table[table["method"] == "before"].pivot_table(
        index="learner", columns="problem", values="value"
    )
    rows = [
        {"learner": name, **{problem: f"{one:.2f}" for problem, one in wide.loc[name].items()}}
        for name in known(lines)
    ]
    order = sorted(set(lines["problem"]))
    return pd.DataFrame(rows, columns=["learner", *order]).replace("nan", "").fillna("")


def curves(lines):
    """Squared error by learner, method and size, over problems and trials: a row each."""
    rows = []
    for line in lines.itertuples():
        if not isinstance(getattr(line, "curve", None), dict):
            continue
        for method in CALIBRATED:
            rows += [
                (line.problem, line.trial, line.learner, method, size, value)
                for size, value in zip(line.curve["sizes"], line.curve[method], strict=True)
            ]
        rows += [
            (line.problem, line.trial, line.learner, "before", size, line.curve["before"])
            for size in line.curve["sizes"]
        ]
    columns = ["problem", "trial", "learner", "method", "size", "value"]
    return pd.DataFrame(rows, columns=columns)


def _curves(lines):
    """Isotonic regression's root mean squared error less Platt's, by size, means over problems."""
    table = curves(lines)
    rows = []
    for learner in known(lines):
        own = table[table["learner"] == learner]
        wide = own.pivot_table(index="size", columns="method", values="value")
        gap = 1000 * (wide["isotonic"] - wide["Platt"]) if len(wide) else pd.Series(dtype=float)
        rows.append({"learner": learner, **{f"{size}": f"{one:+.1f}" for size, one in gap.items()}})
    return pd.DataFrame(rows).fillna("")


def change(table, learner, ours, other):
    """How much lower ours is than the other, by problem, and in words."""
    wide = by_problem(table, learner)
    if not {ours, other} <= set(wide):
        return None
    gain = (wide[other] - wide[ours]).dropna()
    percent = 100 * gain.sum() / wide.loc[gain.index, other].sum()
    note = "" if paired_p(wide[ours], wide[other]) < LEVEL else ", n.s."
    text = f"{learner} {percent:+.1f} % (lower on {(gain > 0).sum()} of {len(gain)}{note})"
    return gain, percent, text


def _claims(lines):
    rmse, entropy = (values(lines, name) for name in (RMSE, CROSS_ENTROPY))
    slopes = pictured(lines, "slope")
    yield from _shape(slopes, "sigmoid-shaped before calibration", MARGINS, True)
    for method in CALIBRATED:
        yield from _lower(rmse, MARGINS, method, "before", "repaired", RMSE)
    yield from _shape(slopes, "pushed to 0 and 1", ("naive Bayes",), False)
    yield from _lower(rmse, ("naive Bayes",), "isotonic", "Platt", "better", RMSE)
    yield from _lower(entropy, ("naive Bayes",), "Platt", "isotonic", "better", CROSS_ENTROPY)
    for method in CALIBRATED:
        hurt = ("neural nets", "logistic regression")
        yield from _lower(rmse, hurt, "before", method, "hurt a little by calibration", RMSE)
    yield from _wash(rmse)
    gaining = ("random forests", "nearest neighbors")
    yield from _lower(rmse, gaining, "Platt", "before", "gain on average", RMSE)
    yield from _lower(entropy, known(lines), "Platt", "isotonic", "better", CROSS_ENTROPY)
    yield from _lower(rmse, ("decision trees", "naive Bayes"), "isotonic", "Platt", "better", RMSE)
    yield from _by_size(lines)
    yield from _corrected(lines, {RMSE: rmse, CROSS_ENTROPY: entropy})
    yield from _best(lines)
    probable = [name for name in known(lines) if name not in MARGINS]
    for table, name in ((rmse, RMSE), (entropy, CROSS_ENTROPY)):
        yield from _lower(table, probable, "Platt on log odds", "Platt", "our own", name)


def _shape(slopes, words, learners, above):
    """Whether log odds of the outcome rise faster (above) or slower than the predicted ones."""
    for learner in learners:
        wide = by_problem(slopes, learner)
        if not len(wide):
            continue
        right = (wide["before"] > 1) == above
        yield (
            f"{learner}: {words}; slope of the log odds {'above' if above else 'below'} 1",
            "yes",
            {problem: f"{one:.2f}" for problem, one in wide["before"].items()},
            f"{right.sum()} of {len(right)} problems",
        )


def _lower(table, learners, ours, other, published, name):
    """Whether one method is lower than another one for each of some learners, on average."""
    found = [change(table, learner, ours, other) for learner in learners]
    found = [one for one in found if one is not None]
    if found:
        sure = [percent for gain, percent, _ in found if paired_p(gain, 0 * gain) < LEVEL]
        n_lower = sum(percent > 0 for percent in sure)
        yield (
            f"{ours} below {other}, {name}",
            published,
            ", ".join(text for *_, text in found),
            f"lower for {n_lower}, higher for {len(sure) - n_lower} of {len(found)}",
        )


def _wash(rmse):
    """Bagged trees: no difference over problems."""
    for method in CALIBRATED:
        found = change(rmse, "bagged trees", method, "before")
        if found is not None:
            gain, _, text = found
            equal = paired_p(gain, 0 * gain) >= LEVEL
            yield (
                f"{method} for bagged trees, root mean squared error",
                "a wash",
                text,
                ("yes" if equal else "no") if len(gain) >= FEWEST else "too few problems",
            )


def _by_size(lines):
    """Which calibrator is better with few and with many calibration cases, learner by learner."""
    table = curves(lines)
    sizes = sorted(table["size"].unique())
    for words, kept, sign in (
        (f"Platt below isotonic below {SMALL} cases", [s for s in sizes if s < SMALL], 1),
        (f"isotonic not above Platt from {LARGE} cases on", [s for s in sizes if s > LARGE], -1),
    ):
        own = table[table["size"].isin(kept)]
        wide = own.pivot_table(index="learner", columns="method", values="value")
        if not len(wide):
            continue
        gap = 1000 * (wide["isotonic"] - wide["Platt"]).reindex(known(lines)).dropna()
        yield (
            f"{words}, root mean squared error",
            "all learners",
            ", ".join(f"{learner} {one:+.1f}" for learner, one in gap.items())
            + " (thousandths, isotonic less Platt)",
            f"{(sign * gap > 0).sum()} of {len(gap)} learners",
        )


def _corrected(lines, by_measure):
    """Logistic correction and log-loss: what they do for stumps, all 0 or 1 for trees."""
    for name, table in by_measure.items():
        found = change(table, "boosted stumps", "logistic correction", "Platt")
        if found is not None:
            yield (
                f"logistic correction for stumps at most {ON_PAR} % from Platt, {name}",
                "on par",
                found[-1],
                abs(found[1]) < ON_PAR,
            )
        found = change(table, "boosted stumps", "log-loss", "logistic correction")
        if found is not None:
            gain, percent, text = found
            yield (
                f"log-loss for stumps worse than logistic correction, {name}",
                "by a few percent",
                text,
                _is_worse(gain, percent),
            )
    near = pictured(lines, "near 0 or 1")
    for method in ("logistic correction", "log-loss"):
        wide = by_problem(near, "boosted trees")
        if method in wide:
            yield (
                f"{method} of boosted trees predicts 0 or 1, in 95 % of the test rows",
                "10 of 11 problems",
                {name: f"{one:.0%}" for name, one in wide[method].items()},
                f"{(wide[method] > 0.95).sum()} of {len(wide)} problems",
            )


def _is_worse(gain, percent):
    """Whether a gain over other results is below 0, as far as a paired test over problems tells."""
    if len(gain) < FEWEST:
        return "too few problems"
    if paired_p(gain, 0 * gain) >= LEVEL:
        return "cannot be told"
    return "yes" if percent < 0 else "no, it is better"


def _best(lines):
    """Which learner and method is best of all, and the places of the others."""
    for name in MEASURES:
        table = values(complete(lines), name)
        means = table.groupby(["learner", "method"])["value"].mean()
        best = means.groupby("learner").min().sort_values()
        if len(best) < 2:
            continue
        published = means.drop("Platt on log odds", level="method", errors="ignore")
        first = published[published.index.get_level_values("learner").isin(THESIS)].idxmin()
        yield (
            f"boosted trees calibrated by Platt are best, {name}",
            "yes",
            {
                f"{learner} ({means[learner].idxmin()})": f"{value:.4f}"
                for learner, value in best.items()
            },
            first == ("boosted trees", "Platt") if len(best) > 4 else "too few learners",
        )


def error(values_):
    """Standard error over trials of the means over problems."""
    means = values_.groupby("trial")["value"].mean()
    return means.sem() if len(means) > 1 else np.nan
