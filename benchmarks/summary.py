"""Means, standard errors and paired tests over trials, as the studies report them."""

import numpy as np
import pandas as pd
from scipy import stats

# Of the paired t-tests.
LEVEL = 0.05
# Trials from which on a test that sees no difference tells something.
FEWEST = 5
MEASURES = {"edits": "edits", "shd": "SHD", "f1": "skeleton F1", "kl": "KL (nats)"}
DIGITS = {"edits": 2, "shd": 2, "f1": 3, "kl": 3}


def markdown(table):
    """A table as Markdown."""
    lines = [" | ".join(table.columns), " | ".join("---" for _ in table.columns)]
    lines += [" | ".join(map(str, row)) for row in table.itertuples(index=False)]
    return "\n".join(f"| {line} |" for line in lines)


def mean_and_error(values, digits=2):
    """Mean and standard error over the trials that there are, as text."""
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return f"{values[0]:.{digits}f}" if len(values) else ""
    return f"{values.mean():z.{digits}f} ± {stats.sem(values):.{digits}f}"


def reached(lines):
    """Mean and standard error of every measure over the lines, by its title."""
    return {title: mean_and_error(lines[name], DIGITS[name]) for name, title in MEASURES.items()}


def paired(ours, other):
    """The values of the trials that have both; series are paired by their index."""
    if isinstance(ours, pd.Series) and isinstance(other, pd.Series):
        ours, other = ours.align(other)
    both = np.array([ours, other], dtype=float)
    return both[:, ~np.isnan(both).any(axis=0)]


def reduction(ours, other):
    """Percent by which the mean of ours is below the mean of the other's; nan without trials."""
    ours, other = paired(ours, other)
    if not len(ours):
        return np.nan
    return 100 * (1 - np.mean(ours) / np.mean(other))


def paired_p(ours, other):
    """Two-sided p value of a paired t-test over trials; 1 for one trial or equal values."""
    difference = np.subtract(*paired(ours, other))
    if len(difference) < 2 or not difference.any():
        return 1.0
    if np.ptp(difference) == 0:
        return 0.0
    return float(stats.ttest_1samp(difference, 0.0).pvalue)


def resampled_error(differences, ratio):
    """Standard error of a mean over random splits of the same rows, which overlap.

    The variance of the mean is (1 / J + n2 / n1) times that of the J differences, where 1 / J would
    do for independent ones.

    Parameters
    ----------
    differences : array-like
        One a split.
    ratio : float
        Rows tested on by the row learned from, n2 / n1.

    References
    ----------
    Nadeau & Bengio (2003), "Inference for the generalization error", Machine Learning 52, the
    corrected resampled t-test.
    """
    differences = np.asarray(differences, dtype=float)
    return float(np.sqrt((1 / len(differences) + ratio) * differences.var(ddof=1)))


def resampled_p(differences, ratio):
    """Two-sided p value of the corrected resampled t-test; 1 for one split or no difference."""
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2 or not differences.any():
        return 1.0
    error = resampled_error(differences, ratio)
    if error == 0:
        return 0.0
    return float(2 * stats.t.sf(abs(differences.mean()) / error, len(differences) - 1))


def is_significant(ours, other):
    """Whether a paired t-test over trials rejects equality at 0.05."""
    return paired_p(ours, other) < LEVEL


def is_lower(ours, other):
    """Whether ours is lower on average and a paired t-test over trials rejects equality."""
    return is_significant(ours, other) and reduction(ours, other) > 0


def shrinks(gains):
    """Whether gains, trials by numbers of rows, fall significantly as rows are doubled."""
    gains = gains.dropna()
    if gains.shape[1] < 2:
        return False
    slopes = np.polyfit(np.log2(gains.columns.astype(float)), gains.T, 1)[0]
    return bool(slopes.mean() < 0 and is_significant(slopes, 0 * slopes))


def reduction_text(ours, other):
    """The reduction in percent, with n.s. where a paired t-test does not reject equality."""
    if not paired(ours, other).size:
        return "unknown"
    text = f"{reduction(ours, other):.0f} %"
    return text if is_significant(ours, other) else f"{text} (n.s.)"


def holm(p_values):
    """P values corrected for their number by Holm's method, in the order given."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factors))
    return corrected


def chosen_elsewhere(wide):
    """Each trial's value in the column that has the lowest mean over the other trials.

    The lowest of several means is too low a figure for that column; this is not.

    Parameters
    ----------
    wide : pandas.DataFrame, trials by columns
        A column that some trial lacks does not take part.

    Returns
    -------
    pandas.Series by trial
    """
    if len(wide) < 2:
        return wide.iloc[:, :1].mean(axis=1) * np.nan
    wide = wide.dropna(axis="columns")
    others = (wide.sum() - wide) / (len(wide) - 1)
    best = others.to_numpy().argmin(axis=1)
    return pd.Series(wide.to_numpy()[np.arange(len(wide)), best], index=wide.index)


def difference_text(ours, other, digits=2):
    """Mean difference and standard error, with n.s. where a paired t-test sees none."""
    text = mean_and_error(np.subtract(*paired(ours, other)), digits)
    return text if is_significant(ours, other) else f"{text} (n.s.)"


def both_halves(first, second, words):
    """Whether both halves of a claim hold; ``words`` say that only the first does."""
    return ("yes" if second else words) if first else "no"


def verdict(n_holding, total):
    """Whether a claim holds in all of some cases, in most (three quarters) or not."""
    if not total:
        return "not measured"
    return "yes" if n_holding == total else "mostly" if 4 * n_holding >= 3 * total else "no"


def unless_few(holds, ours, other):
    """Whether a claim of no difference holds; too few trials would never show one."""
    return holds if paired(ours, other).shape[1] >= FEWEST else "too few trials"


def by_trial(lines, column, value):
    """A table of one measure, trials by the values of a column; nan where one is missing."""
    measured = lines.dropna(subset=value)
    return measured.groupby(["trial", column])[value].mean().unstack()


def exploded(lines, lists):
    """A row for each entry of lists of equal length."""
    return lines.explode(list(lists)).astype(dict.fromkeys(lists, float)).reset_index(drop=True)


def differences(lines, problems, compared):
    """Claims of edits that one choice leaves less another one's, over some problems.

    Parameters
    ----------
    lines : pandas.DataFrame
        With the columns problem, trial, choice and edits.
    problems : iterable of str
    compared : iterable of (choice, other choice, what was expected)
    """
    for choice, other, expected in compared:
        better, worse, texts = 0, 0, {}
        for problem in problems:
            wide = by_trial(lines[lines["problem"] == problem], "choice", "edits")
            if not {choice, other} <= set(wide):
                continue
            texts[problem] = difference_text(wide[choice], wide[other])
            if is_significant(wide[choice], wide[other]):
                less = reduction(wide[choice], wide[other]) > 0
                better, worse = better + less, worse + (not less)
        if texts:
            yield (
                f"{choice} less {other}, edits",
                expected,
                texts,
                f"better on {better}, worse on {worse}",
            )


def claims_table(claims):
    """What was published, what was found, and whether it holds, as Markdown.

    Parameters
    ----------
    claims : iterable of (claim, published, found, holds)
        What was found is text, or a mapping from cases to texts: a number of rows is set apart by a
        colon. A claim holds or not, in some of all cases (two numbers, see `verdict`), or in words.
    """
    rows = [
        (claim, published, _found(found), _holds(holds))
        for claim, published, found, holds in claims
    ]
    return markdown(pd.DataFrame(rows, columns=["claim", "published", "here", "holds"]))


def _found(found):
    if isinstance(found, str):
        return found
    return ", ".join(
        f"{at} {text}" if isinstance(at, str) else f"{at}: {text}" for at, text in found.items()
    )


def _holds(holds):
    if isinstance(holds, tuple):
        return verdict(*holds)
    return holds if isinstance(holds, str) else "yes" if holds else "no"
