"""Rows of the problems of the study of ensembles, and the libraries built from them.

Libraries stay in the folder BNMTL_LIBRARIES (default: a temporary one), so that a build that was
interrupted goes on, and analyses share them.
"""

import functools
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.predictions import good_probabilities
from bnmtl.ensembles import build_library
from bnmtl.ensembles.library import settings
from bnmtl.ensembles.library.columns import Rows
from bnmtl.ensembles.library.settings import is_available

PROBLEMS = tuple(good_probabilities.PROBLEMS)
QUICK = good_probabilities.QUICK
MOST_TEST = 10_000
MOST_HILLCLIMB = {"SPAMBASE": 1000, "PENDIGITS": 5000, "NURSERY": 5000, QUICK: 100}
LARGEST_HILLCLIMB = 10_000
N_FOLDS = 5
LARGE = (0, 5)  # trials with large libraries; the second one only for the sizes of figure 4.2
# Training rows of the large libraries for these sizes; with all, each takes two cores an hour.
LARGE_ROWS = 1000
QUICK_SETTINGS = [
    {"family": "logistic regression", "ridge": 1.0},
    {"family": "logistic regression", "ridge": 1000.0},
    {"family": "naive Bayes", "kind": "Gaussian"},
    {"family": "decision trees", "alpha": 0.001},
    {"family": "neural nets", "units": 4, "epochs": 8},
]


class Parts(NamedTuple):
    """Rows of one trial: features and labels 0 and 1 of each part.

    Attributes
    ----------
    train, hillclimb, more, test : (DataFrame, array)
        ``more`` are further cases of hill climbing, for larger sets.
    data : str
        A hash of the table.
    """

    train: tuple
    hillclimb: tuple
    more: tuple
    test: tuple
    data: str


def parts_of(problem, trial):
    """The rows of a trial; training and hill-climbing cases are those of `good_probabilities`."""
    features, y, data = good_probabilities.rows_of(problem)
    train, hillclimb, rest = good_probabilities.split(problem, len(y), trial)
    most = MOST_HILLCLIMB.get(problem, LARGEST_HILLCLIMB) - len(hillclimb)
    more, test = rest[:most], rest[most:][:MOST_TEST]

    def pair(rows):
        return features.iloc[rows].reset_index(drop=True), y[rows]

    return Parts(pair(train), pair(hillclimb), pair(more), pair(test), data)


def folder_of(problem, trial, kind):
    """The folder of a library."""
    name = f"{problem}_{trial}_{kind}"
    if problem == QUICK:
        return Path(_new_folder().name) / name
    default = Path(tempfile.gettempdir()) / "bnmtl-libraries"
    root = Path(os.environ.get("BNMTL_LIBRARIES", default))
    root.mkdir(parents=True, exist_ok=True)
    return root / name


@functools.cache
def _new_folder():
    """A folder for the quick libraries of this process, which is removed at its end."""
    return tempfile.TemporaryDirectory(prefix="bnmtl-")


def profile_of(trial):
    """The profile of a trial."""
    return "thesis" if trial in LARGE else "small"


def settings_of(profile, n_rows, columns):
    """The settings of a profile when the study was run: "thesis" has more since then."""
    later = list(settings.later(columns))
    found = [one for one in settings.PROFILES[profile](n_rows, columns) if one not in later]
    return [one for one in found if is_available(one["family"])]


def plain_library(problem, trial, profile=None, n_train=None):
    """A library with separate cases of hill climbing; its part "test" has ``more`` first.

    Its profile is that of the trial unless another one is given; ``n_train`` None is all rows.
    """
    parts = parts_of(problem, trial)
    options = {"hillclimb": parts.hillclimb, "test": joined(parts.more, parts.test)}
    kind = "_".join(["plain", *(str(part) for part in (profile, n_train) if part)])
    X, y = parts.train
    return _built(problem, trial, kind, (X[:n_train], y[:n_train]), options, profile)


def folded_library(problem, trial):
    """A library with embedded cross-validation over training and hill-climbing cases."""
    parts = parts_of(problem, trial)
    options = {"cv": N_FOLDS, "test": parts.test, "each_sibling": True}
    return _built(problem, trial, "folds", joined(parts.train, parts.hillclimb), options)


def joined(first, second):
    """Rows of two parts as one."""
    X = pd.concat([first[0], second[0]], ignore_index=True)
    return X, np.concatenate([first[1], second[1]])


def _built(problem, trial, kind, rows, options, profile=None):
    folder = folder_of(problem, trial, kind)
    settings = profile or profile_of(trial)
    if problem == QUICK:
        settings = QUICK_SETTINGS[:3] if settings == "small" else QUICK_SETTINGS
    else:
        made = Rows(*rows, options.get("hillclimb"), options["test"])
        splits = made.cases(options.get("cv"), trial).splits()
        settings = settings_of(settings, min(len(y) for _, y, _ in splits), made.columns)
    n_jobs = int(os.environ.get("BNMTL_LIBRARY_JOBS", 1))
    # The thesis calibrates by Platt's method.
    options |= {"out": folder, "random_state": trial, "n_jobs": n_jobs, "calibration": "platt"}
    return build_library(*rows, settings, **options)
