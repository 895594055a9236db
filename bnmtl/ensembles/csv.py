"""Predictions in CSV files: one column per model, and one with the labels."""

import pandas as pd

from bnmtl.errors import InputError, located


def read_csv(paths, label, first):
    """Read one file per part.

    Parameters
    ----------
    paths : dict of str to path
    label : str
        The column with the labels, which the part `first` must have.
    first : str

    Returns
    -------
    dict
        Arguments of `PredictionStore`.
    """
    predictions, y, names = {}, {}, None
    for part, path in paths.items():
        frame = _read(path)
        if label in frame:
            y[part] = frame.pop(label).to_numpy()
        elif part == first:
            rule = "must be a column of the file, which has {columns}"
            raise InputError("label", rule, label, file=path, columns=list(frame))
        names = list(frame) if names is None else names
        if sorted(frame) != sorted(names):
            other = sorted(set(frame) ^ set(names))[0]
            rule = "must have the models of the other files"
            raise InputError(rule=rule, found="not all have {name}", file=path, name=other)
        with located(file=path):
            predictions[part] = _numbers(frame[names])
    return {"predictions": predictions, "y": y, "names": names}


def _read(path):
    try:
        return pd.read_csv(path)
    except (UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        rule, reason = "must be a CSV file", " ".join(str(error).split()).rstrip(".")
        raise InputError(rule=rule, found="{reason!s}", file=path, reason=reason) from None


def _numbers(frame):
    """Predictions (models, cases), or an error that names the model and the row."""
    for name in frame:
        numbers = pd.to_numeric(frame[name], errors="coerce")
        wrong = ~((numbers >= 0) & (numbers <= 1))
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            value = str(frame[name].iloc[row])
            rule = "must be probabilities from 0 to 1"
            found = "row {row} below the header has {value}"
            raise InputError(rule=rule, found=found, column=name, row=row + 1, value=value)
    return frame.to_numpy(float).T
