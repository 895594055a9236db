"""Predictions in tables: one column per model, and one with the labels."""

import numpy as np
import pandas as pd

from bnmtl.ensembles.entries import FILL
from bnmtl.errors import InputError, located
from bnmtl.tasks.files import read_parts
from bnmtl.wording import Bare


def read_csv(paths, label, first, na_values):
    """Read one file per part.

    Parameters
    ----------
    paths : dict of str to path
    label : str
        The column with the labels, which the part `first` must have.
    first : str
    na_values : list of str
        As for `bnmtl.tasks.read`.

    Returns
    -------
    dict
        Arguments of `PredictionStore`.
    """
    return from_tables(read_parts(paths, na_values=na_values), label, first, paths)


def from_tables(tables, label, first, files, group=None, task_column=None):
    """Take one table per part.

    Parameters
    ----------
    tables : dict of str to pandas.DataFrame
    label : str
        The column with the labels, which the part `first` must have.
    first : str
    files : dict of str to path
        Where the tables are from, for messages.
    group : str, default=None
        The column of groups, which the part `first` must have.
    task_column : str, default=None
        The column with the task of each case, which all parts must have.

    Returns
    -------
    dict
        Arguments of `PredictionStore`.
    """
    predictions, y, names = {}, {}, None
    named = [name for name in (group, task_column) if name is not None]
    columns = {"groups": None if group is None else {first: tables[first][group].to_numpy()}}
    if task_column is not None:
        columns["task"] = {part: one[task_column].to_numpy() for part, one in tables.items()}
    for part, table in tables.items():
        if label in table:
            y[part] = table[label].to_numpy()
        elif part == first:
            raise no_label(label, table, files[part])
        table = table.drop(columns=[label, *named], errors="ignore")
        names = list(table) if names is None else names
        if sorted(table) != sorted(names):
            other = sorted(set(table) ^ set(names))[0]
            rule = "must have the models of the other files"
            found = "not all have {name}"
            raise InputError(rule=rule, found=found, file=files[part], name=other)
        with located(file=files[part]):
            predictions[part] = probabilities(table[names])
    n_classes = pd.Series(y[first]).nunique()
    if n_classes > 2:
        rule, found = "must have two classes in a file with one column per model", "it has {n}"
        raise InputError("label", rule, found=found, file=files[first], n=n_classes)
    return {"predictions": predictions, "y": y, "names": names, **columns}


def no_label(label, table, file):
    """The error for a file without the column of labels."""
    rule = "must be a column of the file, which has {columns}"
    return InputError("label", rule, label, file=file, columns=list(table))


def probabilities(table):
    """Predictions (models, cases), or an error that names the model and the row."""
    columns = {}
    for name in table:
        columns[name] = pd.to_numeric(table[name], errors="coerce").astype(float)
        wrong = ~((columns[name] >= 0) & (columns[name] <= 1))
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            value = table[name].iloc[row]
            remedies = ["leave the column out if it is not a model"]
            if not np.isnan(columns[name].iloc[row]):
                remedies.insert(0, "calibrate scores")
            if pd.isna(value):
                remedies = FILL
            value = Bare("no value") if pd.isna(value) else str(value)
            rule = "must be probabilities from 0 to 1"
            found = "row {row} below the header has {value}"
            place = {"column": name, "row": row + 1, "value": value}
            raise InputError(rule=rule, found=found, remedies=remedies, **place)
    return pd.DataFrame(columns, index=table.index).to_numpy(float).T
