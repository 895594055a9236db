"""Means, standard errors and paired tests over trials, as reported by the studies."""

import itertools

import numpy as np
import pandas as pd
from scipy import special, stats

# Significance level of the paired t-tests.
LEVEL = 0.05
# Minimum number of trials for which a nonsignificant test is informative.
FEWEST = 5
MEASURES = {"edits": "edits", "shd": "SHD", "f1": "skeleton F1", "kl": "KL (nats)"}
DIGITS = {"edits": 2, "shd": 2, "f1": 3, "kl": 3}


def markdown(rows):
    """A Markdown table of rows: a data frame, or one mapping from columns to cells per row."""
    table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    lines = [" | ".join(map(str, table.columns)), " | ".join("---" for _ in table.columns)]
    lines += [" | ".join(map(str, row)) for row in table.itertuples(index=False)]
    return "\n".join(f"| {line} |" for line in lines)


def parts(lines, **values):
    """The lines of every combination of values that has lines, in the given order.

    Yields
    ------
    dict column -> value, pandas.DataFrame
    """
    # One comparison per value, not per combination.
    where = [
        [(one, (lines[name] == one).to_numpy(dtype=bool)) for one in ones]
        for name, ones in values.items()
    ]
    for combination in itertools.product(*where):
        within = np.logical_and.reduce([here for _, here in combination])
        if within.any():
            found = (one for one, _ in combination)
            yield dict(zip(values, found, strict=True)), lines[within]


def present(lines, column, values):
    """Those of some values of a column that have lines."""
    return [one for one in values if one in set(lines[column])]


def mean_and_error(values, digits=2):
    """Mean and standard error over the available trials, as text."""
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return f"{values[0]:.{digits}f}" if len(values) else ""
    return f"{values.mean():z.{digits}f} ± {standard_error(values):.{digits}f}"


def standard_error(values):
    """The standard error of the mean of at least 2 values; scipy's checks take 50 times longer."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def reached(lines):
    """Mean and standard error of every measure over the lines, by title of the measure."""
    return {title: mean_and_error(lines[name], DIGITS[name]) for name, title in MEASURES.items()}


def means_of(lines, column, measure, names, digits=None):
    """Mean and standard error of a measure for each value of a column that has lines.

    Parameters
    ----------
    names : iterable of str, or mapping value -> title
    digits : int, default=None
        None means the digits of the measure.

    Returns
    -------
    dict title -> str
    """
    titles = names if isinstance(names, dict) else {name: name for name in names}
    digits = DIGITS[measure] if digits is None else digits
    wide = by_trial(lines, column, measure)
    return {
        title: mean_and_error(wide[name], digits) for name, title in titles.items() if name in wide
    }


def has(wide, *names):
    """Whether a table has all of these columns."""
    return set(names) <= set(wide)


def paired(ours, other):
    """The values of trials that have both; series are paired by index."""
    if isinstance(ours, pd.Series) and isinstance(other, pd.Series):
        ours, other = ours.align(other)
    both = np.array([ours, other], dtype=float)
    return both[:, ~np.isnan(both).any(axis=0)]


def reduction(ours, other):
    """Percent by which our mean is below the other mean; nan without trials."""
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
    t = difference.mean() / standard_error(difference)
    return float(2 * special.stdtr(len(difference) - 1, -abs(t)))


def is_significant(ours, other):
    """Whether a paired t-test over trials rejects equality at 0.05."""
    return paired_p(ours, other) < LEVEL


def sign(ours, other):
    """1 if ours is significantly lower by a paired t-test, -1 if it is higher, else 0."""
    if not is_significant(ours, other):
        return 0
    return 1 if reduction(ours, other) > 0 else -1


def is_lower(ours, other):
    """Whether ours is lower on average and a paired t-test over trials rejects equality."""
    return sign(ours, other) == 1


def is_within(differences, margin):
    """Whether two one-sided t-tests at 0.05 show that the mean is less than a margin from 0."""
    differences = np.asarray(differences, dtype=float)
    return is_less(differences, margin) and is_less(-differences, margin)


def is_less(differences, margin):
    """Whether a one-sided t-test at 0.05 shows that the mean is below a margin."""
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2 or np.ptp(differences) == 0:
        return len(differences) > 1 and bool(differences.mean() < margin)
    return bool(stats.ttest_1samp(differences, margin, alternative="less").pvalue < LEVEL)


def shrinks(gains):
    """Whether gains, trials by numbers of rows, decrease significantly as rows are doubled."""
    gains = gains.dropna()
    if gains.shape[1] < 2:
        return False
    slopes = np.polyfit(np.log2(gains.columns.astype(float)), gains.T, 1)[0]
    return bool(slopes.mean() < 0 and is_significant(slopes, 0 * slopes))


def reduction_text(ours, other):
    """The reduction in percent, with n.s. if a paired t-test does not reject equality."""
    if not paired(ours, other).size:
        return "unknown"
    text = f"{reduction(ours, other):.0f} %"
    return text if is_significant(ours, other) else f"{text} (n.s.)"


def holm(p_values):
    """P values corrected for multiple testing by Holm's method, in the given order."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factors))
    return corrected


def chosen_elsewhere(wide):
    """Each trial's value in the column with the lowest mean over the other trials.

    The lowest of several means is a biased estimate for its column; this one is unbiased.

    Parameters
    ----------
    wide : pandas.DataFrame, trials by columns
        Columns with missing trials are ignored.

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
    """Mean difference and standard error, with n.s. if it is not significant."""
    text = mean_and_error(np.subtract(*paired(ours, other)), digits)
    return text if is_significant(ours, other) else f"{text} (n.s.)"


def by_trial(lines, column, value):
    """A table of one measure, trials by the values of a column; missing ones are nan."""
    return means_table(lines, "trial", column, value)


def means_table(lines, row, column, value):
    """Means of one measure, the values of one column by those of another; missing ones are nan."""
    values = lines[value].to_numpy(dtype=float)
    known = ~np.isnan(values)
    codes = [pd.factorize(lines[name].to_numpy()[known], sort=True) for name in (row, column)]
    (rows, index), (columns, names) = codes
    # Counting is many times faster than grouping.
    cells, size = rows * len(names) + columns, len(index) * len(names)
    sums, counts = np.bincount(cells, values[known], size), np.bincount(cells, minlength=size)
    with np.errstate(invalid="ignore"):
        wide = (sums / counts).reshape(len(index), len(names))
    # With strings of Python, see `study.with_plain_strings`.
    index, columns = (
        pd.Index(found, dtype=found.dtype, name=name)
        for found, name in ((index, row), (names, column))
    )
    return pd.DataFrame(wide, index, columns)


def pairs(lines, column, value, ours, other, **at):
    """A measure for two values of a column, by trial, in each case that has lines of both.

    Parameters
    ----------
    ours, other : str
        Values of the column.
    **at
        Another column and its values, in order.

    Returns
    -------
    dict value of the other column -> (pandas.Series, pandas.Series)
    """
    lines = lines.loc[lines[column].isin([ours, other]), ["trial", column, value, *at]]
    found = {
        next(iter(case.values())): by_trial(group, column, value)
        for case, group in parts(lines, **at)
    }
    return {one: (wide[ours], wide[other]) for one, wide in found.items() if has(wide, ours, other)}


def of_baseline(lines, column, baseline, measure, keys):
    """For each line, the measure of the line of a baseline with the same keys; nan without one."""
    by_keys = lines[lines[column] == baseline].set_index(keys)[measure]
    return by_keys.reindex(pd.MultiIndex.from_frame(lines[keys])).to_numpy()


def exploded(lines, lists):
    """One row per entry of lists of equal length."""
    return lines.explode(list(lists)).astype(dict.fromkeys(lists, float)).reset_index(drop=True)
