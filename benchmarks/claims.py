"""Claims as data: the published value, the measured value, and whether the claim holds."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.summary import (
    FEWEST,
    LEVEL,
    difference_text,
    is_less,
    is_within,
    markdown,
    mean_and_error,
    pairs,
    sign,
)

OURS = "our own"


class Claim(NamedTuple):
    """One line of a table of claims.

    Parameters
    ----------
    text, published : str
        The claim and its published value.
    measured : str or mapping
        The result measured here, or a mapping from cases to results; if the case is a number of
        rows, a colon follows it.
    test : bool, (int, int) or str
        Whether the claim holds; the number of cases in which it holds, and of all cases; or the
        verdict in words.
    name : str, default=None
        Key for the overview; it ends with the search, T, S or J.
    """

    text: str
    published: str
    measured: str | Mapping
    test: bool | tuple | str
    name: str | None = None

    def found(self):
        """The measured result as text."""
        if isinstance(self.measured, str):
            return self.measured
        return ", ".join(
            f"{at} {text}" if isinstance(at, str) else f"{at}: {text}"
            for at, text in self.measured.items()
        )

    def verdict(self):
        """Whether it holds in all cases, in most (at least three quarters) or not, as text."""
        if isinstance(self.test, str):
            return self.test
        if not isinstance(self.test, tuple):
            return "yes" if self.test else "no"
        n_holding, total = self.test
        if not total:
            return "not measured"
        return "yes" if n_holding == total else "mostly" if 4 * n_holding >= 3 * total else "no"


def claims_table(claims):
    """Claims and their verdicts as a Markdown table."""
    rows = [(one.text, one.published, one.found(), one.verdict()) for one in claims]
    return markdown(pd.DataFrame(rows, columns=["claim", "published", "here", "holds"]))


def both_halves(first, second, words):
    """Whether both halves of a claim hold; the verdict is ``words`` if only the first does."""
    return ("yes" if second else words) if first else "no"


def alike(differences, margin, is_harm=False, fewest=FEWEST):
    """The verdict on a claim of no difference: a test must show it, not fail to show another.

    Parameters
    ----------
    differences : array-like of float
        One per trial or case.
    margin : float
        A mean difference that is nearer to 0 does not count.
    is_harm : bool, default=False
        Whether only differences above 0 count.
    fewest : int, default=5
        With fewer differences there is no test.

    Returns
    -------
    str
        "yes" if tests show that the mean is within the margin (equivalence), "no" if a test shows
        that it is beyond, otherwise "not decided".

    References
    ----------
    Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach",
    Journal of Pharmacokinetics and Biopharmaceutics 15.
    """
    differences = np.asarray(differences, dtype=float)
    if len(differences) < fewest:
        return "too few trials"
    if is_less(differences, margin) if is_harm else is_within(differences, margin):
        return "yes"
    is_beyond = is_less(-differences, -margin) or (not is_harm and is_less(differences, -margin))
    return "no" if is_beyond else "not decided"


def gain_claim(text, published, gains, digits=1, unit=" %"):
    """A claim that a mean over cases is above 0, by a t-test.

    Parameters
    ----------
    text, published : str
    gains : pandas.Series
        The gain of each case, at least two.
    digits : int, default=1
    unit : str, default=" %"
    """
    p = stats.ttest_1samp(gains, 0).pvalue
    wins = f"{(gains > 0).sum()} of {len(gains)}"
    shown = f"{mean_and_error(gains, digits)}{unit} (p {p:.3f}), {wins}"
    return Claim(text, published, shown, bool(gains.mean() > 0 and p < LEVEL))


def tally(signs, words):
    """Format the numbers of cases with a difference significantly above and below 0.

    Parameters
    ----------
    signs : iterable of {1, 0, -1}
        One per case.
    words : str
        Format string with the fields ``above``, ``below`` and ``n``, the number of cases.
    """
    signs = list(signs)
    return words.format(above=signs.count(1), below=signs.count(-1), n=len(signs))


def differences(lines, problems, compared):
    """Claims about differences in edits between two choices on several problems.

    Parameters
    ----------
    lines : pandas.DataFrame
        With the columns problem, trial, choice and edits.
    problems : iterable of str
    compared : iterable of (choice, other choice, expected result)
    """
    words = "better on {above}, worse on {below}"
    for choice, other, expected in compared:
        found = pairs(lines, "choice", "edits", choice, other, problem=problems)
        if found:
            yield Claim(
                f"{choice} minus {other}, edits",
                expected,
                {problem: difference_text(*pair) for problem, pair in found.items()},
                tally((sign(*pair) for pair in found.values()), words),
            )
