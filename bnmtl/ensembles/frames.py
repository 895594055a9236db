"""Predictions in tables, as CSV files or frames: one column per model, and one with the labels."""

import numpy as np
import pandas as pd

from bnmtl.classification.columns import is_number
from bnmtl.ensembles.entries import FILL, checked_classes
from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.tasks.files import read_parts
from bnmtl.wording import count, listed, type_of


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
            raise InputError(
                f"must have the models of the other files; not all have `{other}`", file=files[part]
            )
        with located(file=files[part]):
            predictions[part] = probabilities(table[names])
    n_classes = pd.Series(y[first]).nunique()
    if n_classes > 2:
        message = f"must have two classes in a file with one column per model; it has {n_classes}"
        raise InputError(message, argument="label", file=files[first])
    return {"predictions": predictions, "y": y, "names": names, **columns}


def no_label(label, table, file):
    """The error for a file without the column of labels."""
    message = f"must be a column of the file, which has {listed(table)}, got {label!r}"
    return InputError(message, argument="label", file=file)


def probabilities(table):
    """Predictions (models, cases), or an error that names the model and the row."""
    columns = {}
    for name in table:
        columns[name] = pd.to_numeric(table[name], errors="coerce").astype(float)
        wrong = ~((columns[name] >= 0) & (columns[name] <= 1))
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            value = table[name].iloc[row]
            remedy, shown = "leave the column out if it is not a model", f"`{value}`"
            if not np.isnan(columns[name].iloc[row]):
                remedy = f"calibrate scores, or {remedy}"
            if pd.isna(value):
                remedy, shown = FILL, "no value"
            message = (
                f"must be probabilities from 0 to 1; row {row + 1} below the header has {shown}"
            )
            raise InputError(message, column=name, remedy=remedy)
    return pd.DataFrame(columns, index=table.index).to_numpy(float).T


def from_frames(frames, y, first):
    """Take one frame per part, with a row for each case and a column for each model.

    Parameters
    ----------
    frames : dict of str to pandas.DataFrame
        Columns are models, or pairs (model, class).
    y : dict of str to array-like
    first : str
        The part whose labels have all classes.

    Returns
    -------
    dict
        Arguments of `PredictionStore`.
    """
    classes = checked_classes(y[first]).tolist() if first in y else []
    predictions, names = {}, None
    for part, frame in frames.items():
        _check_frame(part, frame)
        if part in y:
            _check_rows(part, frame, y[part])
        columns = list(frame)
        is_by_class = frame.columns.nlevels == 2
        models = list(dict.fromkeys(one[0] for one in columns)) if is_by_class else columns
        names = models if names is None else names
        if set(models) != set(names):
            other = sorted(set(models) ^ set(names), key=str)[0]
            message = f"of part `{part}` must have the models of the others; not all have `{other}`"
            raise InputError(message, argument="frame")
        wanted = _by_class(part, columns, names, classes) if is_by_class else names
        if not is_by_class and len(classes) > 2:
            message = f"must have pairs (model, class) as columns for {len(classes)} classes"
            raise InputError(
                message,
                argument="frame",
                remedy="`pd.concat({name: frame_of_the_model}, axis=1)` makes them",
            )
        cells = np.stack([_probabilities(frame, name) for name in wanted])
        shape = (len(names), len(classes), len(frame))
        predictions[part] = np.moveaxis(cells.reshape(shape), 1, 2) if is_by_class else cells
    return {"predictions": predictions, "y": y, "names": names}


def _by_class(part, columns, names, classes):
    """The pairs of all models and classes, or an error if the columns are others."""
    wanted = [(model, one) for model in names for one in classes]
    for what, wrong in (
        ("missing", [one for one in wanted if one not in columns]),
        ("of no class", [one for one in columns if one not in wanted]),
    ):
        if wrong:
            message = (
                f"of part `{part}` must have a column for each model and class of `{classes}`; "
                f"`{_written(wrong[0])}` is {what}"
            )
            raise InputError(message, argument="frame")
    return wanted


def _check_frame(part, frame):
    """Raise unless it is a frame with named models."""
    if not isinstance(frame, pd.DataFrame):
        message = (
            f"of part `{part}` must be a DataFrame with a row for each case, got {type_of(frame)}"
        )
        raise InputTypeError(message, argument="frame")
    if frame.columns.nlevels > 2 or frame.empty:
        message = (
            f"of part `{part}` must have rows, and models or pairs (model, class) as columns; its "
            f"shape is {frame.shape}, its columns have {count(frame.columns.nlevels, 'level')}"
        )
        raise InputError(message, argument="frame")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(
            f"must have different columns; `{_written(twice[0])}` occurs twice", argument="frame"
        )
    models = frame.columns.get_level_values(0)
    wrong = [name for name in models if not isinstance(name, str) or not name]
    if wrong:
        message = f"must have text as names of models, got {wrong[0]!r}"
        raise InputTypeError(message, argument="frame", remedy="`frame.add_prefix('model')`")


def _check_rows(part, frame, y):
    """Raise unless labels are as many as rows, and a Series of them has the same order."""
    if np.size(y) != len(frame):
        message = (
            f"of part `{part}` must be one label per row of `frame`, {len(frame)}, "
            f"got {np.size(y)!r}"
        )
        raise InputError(message, argument="y")
    if not isinstance(y, pd.Series) or y.index.equals(frame.index):
        return
    is_same = y.index.is_unique and y.index.isin(frame.index).all()
    if is_same or not any(isinstance(one, pd.RangeIndex) for one in (y.index, frame.index)):
        message = f"of part `{part}` must have the index of `frame`, in its order; it has another"
        raise InputError(
            message,
            argument="y",
            remedy="`y.loc[frame.index]` if it names the cases, or `y.to_numpy()` if it does not",
        )


def _probabilities(frame, name):
    """The numbers of a column."""
    column, place = frame[name], {"argument": "frame", "column": _written(name)}
    if not is_number(column.dtype) or column.dtype.kind == "c":
        message = f"must be numbers, got {column.dtype}"
        raise InputTypeError(message, argument="frame", column=_written(name), remedy="convert it")
    numbers = column.to_numpy(dtype=float, na_value=np.nan)
    wrong = ~((numbers >= 0) & (numbers <= 1))
    if wrong.any():
        row = int(wrong.argmax())
        is_gap = np.isnan(numbers[row])
        value = "no value" if is_gap else f"{numbers[row]:g}"
        message = f"must be probabilities from 0 to 1; row {row}, counted from 0, has {value}"
        raise InputError(message, remedy=FILL if is_gap else "calibrate scores", **place)
    return numbers


def _written(name):
    """The name of a column: of a model, or of a model and a class."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
