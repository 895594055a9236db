"""Tables of chapter 4, and errors of two methods on the same folds: records, ratios and tests."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.decorate.learners import BASE, DECORATE
from benchmarks.summary import LEVEL
from bnmtl.metrics.resampled import resampled_p

N_FOLDS = 10
TABLES = (
    *("anneal", "audiology", "autos", "breast-w", "credit-a", "glass", "heart-c", "hepatitis"),
    *("colic", "iris", "labor", "lymph", "segment", "soybean", "splice"),
)
# Accuracies of AdaBoost and DECORATE with all training cases (table 4.6).
PUBLISHED_AT_FULL_SIZE = {
    "audiology": (84.45, 83.6),
    "anneal": (99.55, 98.66),
    "colic": (83.13, 85.58),
    "balance-scale": (78.56, 80.98),
    "credit-g": (72.40, 73.6),
    "diabetes": (72.52, 75.52),
    "glass": (76.58, 72.34),
    "heart-c": (81.15, 77.51),
    "heart-h": (78.56, 79.98),
    "credit-a": (85.94, 87.39),
    "autos": (86.33, 85.79),
    "kr-vs-kp": (99.56, 99.41),
    "labor": (88.33, 83.00),
    "lymph": (82.43, 78.29),
    "mushroom": (100.00, 100.00),
    "sonar": (80.29, 82.21),
    "soybean": (92.82, 94.58),
    "splice": (93.17, 93.89),
    "vehicle": (76.48, 75.42),
    "vote": (95.17, 95.18),
    "vowel": (93.94, 96.87),
    "breast-cancer": (67.88, 68.21),
    "breast-w": (96.42, 96.85),
    "heart-statlog": (81.11, 81.85),
    "hepatitis": (85.17, 81.17),
    "hypothyroid": (99.66, 98.6),
    "ionosphere": (93.75, 92.6),
    "iris": (92.67, 93.33),
    "primary-tumor": (40.09, 44.53),
    "segment": (98.57, 97.97),
    "sick": (99.23, 98.49),
    "waveform-5000": (81.58, 80.92),
    "zoo": (96.18, 94.18),
}
MORE_TABLES = tuple(name for name in PUBLISHED_AT_FULL_SIZE if name not in TABLES)


class Record(NamedTuple):
    """Tables on which the first method has a lower, an equal and a higher mean error.

    Parameters
    ----------
    wins, draws, losses : int
    significant, corrected : (int, int)
        Wins and losses by a paired t-test over folds, plain and corrected for overlap.
    ratio : float
        Geometric mean over tables of the ratio of the errors.
    n : int
        Number of tables.
    """

    wins: int
    draws: int
    losses: int
    significant: tuple
    corrected: tuple
    ratio: float
    n: int

    def texts(self):
        """Record, significant records, and ratio."""
        if not self.n:
            return "", "", "", ""
        records = [f"{self.wins}/{self.draws}/{self.losses}"]
        records += [
            f"{won}/{self.n - won - lost}/{lost}"
            for won, lost in (self.significant, self.corrected)
        ]
        return *records, f"{self.ratio:.3f}"


def values_of(lines, method, point, value="error"):
    """By table, the values of a method at a point, over all folds and repetitions.

    Returns
    -------
    dict table -> dict repetition -> numpy.ndarray of shape (n_folds,)
    """
    found = {}
    chosen = (lines["method"] == method).to_numpy()
    columns = (lines[name].to_numpy()[chosen].tolist() for name in ("table", "repeat", value))
    for table, repeat, points in zip(*columns, strict=True):
        if isinstance(points, dict) and points.get(point) is not None:
            folds = np.array(points[point], dtype=float)
            if not np.isnan(folds).any():
                found.setdefault(table, {})[repeat] = folds
    return found


def paired(lines, first, second, point, value="error"):
    """By table, the values of two methods on the same folds.

    Returns
    -------
    dict table -> (numpy.ndarray, numpy.ndarray)
    """
    ours, other = (values_of(lines, one, point, value) for one in (first, second))
    pairs = {}
    for table in ours:
        repeats = sorted(set(ours[table]) & set(other.get(table, {})))
        if repeats:
            pairs[table] = tuple(
                np.concatenate([values[table][one] for one in repeats]) for values in (ours, other)
            )
    return pairs


def record(lines, first, second, point, value="error", sign=1):
    """The `Record` of two methods at a point; ``sign`` -1 if larger values are wins."""
    pairs = paired(lines, first, second, point, value)
    signs, plain, corrected, ratios = [], [], [], []
    for ours, other in pairs.values():
        differences = sign * (other - ours)
        mean = differences.mean()
        signs.append(0 if abs(mean) < 1e-12 else int(np.sign(mean)))
        plain.append(signs[-1] * (resampled_p(differences, 0.0) < LEVEL))
        corrected.append(signs[-1] * (resampled_p(differences, 1 / (N_FOLDS - 1)) < LEVEL))
        # Half an error in all folds stands for none.
        least = 0.5 / (len(ours) * 10)
        ratios.append(np.log(max(ours.mean(), least) / max(other.mean(), least)))
    counted = [(found.count(1), found.count(-1)) for found in (plain, corrected)]
    ratio = float(np.exp(np.mean(ratios))) if ratios else np.nan
    records = signs.count(1), signs.count(0), signs.count(-1)
    return Record(*records, *counted, ratio, len(pairs))


def reductions(lines):
    """Diversity and error reductions of DECORATE with any number of artificial cases, by fold.

    Of the first repetition, which all numbers have.

    Returns
    -------
    pandas.DataFrame
        Columns table, diversity, and by how much the error is below the mean error of the members
        and below that of the base.
    """
    lines, rows = lines[lines["repeat"] == 0], []
    sizes = [one for one in lines["method"].unique() if one.startswith("size ")]
    for method in (*sizes, DECORATE):
        for percent in ("20%", "100%"):
            errors, base = (values_of(lines, one, percent) for one in (method, BASE))
            diverse, members = (
                values_of(lines, method, percent, value) for value in ("diversity", "member_error")
            )
            for table in set(errors) & set(base) & set(diverse) & set(members):
                ours, *others = (one[table][0] for one in (errors, diverse, members, base))
                rows += [
                    (table, spread, member - error, alone - error)
                    for error, spread, member, alone in zip(ours, *others, strict=True)
                ]
    found = pd.DataFrame(rows, columns=["table", "diversity", "members", "base"])
    return found.sort_values(["table", "diversity"], kind="stable").reset_index(drop=True)
