"""The rows of `bnmtl validate`, checked: features as numbers or states, labels, tasks, groups."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_numeric_dtype

from bnmtl.cli.columns import check_column, complete_names, names_in, without_points
from bnmtl.errors import InputError, warn
from bnmtl.tasks import discretize, read
from bnmtl.wording import Bare

_FEWEST = 2  # cases of a class


@dataclass(frozen=True)
class Cases:
    """Rows with a label.

    Attributes
    ----------
    features : pandas.DataFrame
        As they were read, without the columns of labels, tasks and groups.
    states : pandas.DataFrame
        The same with continuous columns discretized.
    cut_points : dict of str to list of float, or None
    y : numpy.ndarray of str
    task, group : numpy.ndarray of str, or None
    """

    features: pd.DataFrame
    states: pd.DataFrame
    cut_points: dict | None
    y: np.ndarray
    task: np.ndarray | None
    group: np.ndarray | None

    def numbers(self):
        """Numbers as they are, one indicator for each value of other columns and of the task."""
        features = self.features
        if self.task is not None:
            features = features.assign(**{_new_name("task", features): self.task})
        is_number = [_is_number(features[name]) for name in features]
        plain, nominal = features.loc[:, is_number], features.loc[:, np.logical_not(is_number)]
        blocks = [plain.astype(float)] if plain.shape[1] else []
        if nominal.shape[1]:
            text = nominal.astype("string").astype(object)
            blocks.append(pd.get_dummies(text, dummy_na=True, dtype=float))
        numbers = pd.concat(blocks, axis=1)
        varies = numbers.nunique(dropna=False) > 1
        return numbers.loc[:, varies | ~varies.any()].to_numpy(dtype=np.float32)

    def codes(self):
        """Positions of states, of the missing one and of the task, and the number of each."""
        states = self.states
        if self.task is not None:
            states = states.assign(**{_new_name("task", states): self.task})
        coded = [pd.factorize(column, use_na_sentinel=False) for _, column in states.items()]
        return np.stack([codes for codes, _ in coded], axis=1), [len(known) for _, known in coded]


def read_cases(options):
    """Read the table and check all columns that options name.

    Parameters
    ----------
    options : ValidateOptions
        With a label.

    Returns
    -------
    Cases
    """
    rows = _labeled(read_rows(options), options.label)
    rows, of_label = _label_cut(rows, options)
    y = _labels(rows[options.label])
    named = {"task_column": options.task_column, "group": options.group}
    task, group = (
        None if name is None else complete_names(rows[name], option).astype(str)
        for option, name in named.items()
    )
    features = rows.drop(columns=[options.label, *filter(None, named.values())])
    if not features.shape[1]:
        raise InputError("table", "must have a column that is a feature", Bare(options.table))
    kept = _kept(features, task, options.missing)
    features = features.iloc[kept].reset_index(drop=True)
    y, task, group = (None if one is None else one[kept] for one in (y, task, group))
    _check_classes(y, options.label)
    states, cut_points = features, None
    if options.discretize is not None:
        states, edges = discretize(features, bins=options.discretize, return_edges=True)
        cut_points = edges.to_dict() | of_label
    return Cases(features, states, cut_points, y, task, group)


def read_rows(options):
    """The table without ignored columns; the columns of options must be there and differ."""
    (rows,) = read([options.table]).values()
    named = {
        "label": options.label,
        "task_column": options.task_column,
        "group": options.group,
        **{f"ignore {at}": name for at, name in enumerate(options.ignore)},
    }
    seen = {}
    for option, name in named.items():
        if name is None:
            continue
        option = option.split()[0]
        check_column(rows, name, option, "table")
        other = seen.setdefault(name, option)
        if other != option:
            raise InputError(option, f"must be another column than {{{other}}}", Bare(name))
    return rows.drop(columns=list(options.ignore))


def _label_cut(rows, options):
    """Rows with a continuous label discretized, and its cut points."""
    if options.discretize is None or not is_float_dtype(_plain(rows[options.label])):
        return rows, {}
    cut, edges = discretize(rows[[options.label]], bins=options.discretize, return_edges=True)
    return rows.assign(**cut), edges.to_dict()


def _plain(column):
    """A column without the decimal points of whole numbers."""
    return without_points(column.to_frame())[column.name]


def _is_number(column):
    return is_numeric_dtype(column) and column.dtype != bool


def _new_name(name, frame):
    while name in frame:
        name = f"{name} "
    return name


def _labeled(rows, label):
    """The rows with a label; the others are left out with a warning."""
    is_missing = rows[label].isna()
    if is_missing.all():
        raise InputError("label", "must hold labels", found="it is empty", column=label)
    if is_missing.any():
        n = int(is_missing.sum())
        warn("label", "is missing in {n:row}, left out", column=label, n=n)
    return rows[~is_missing].reset_index(drop=True)


def _labels(column):
    """The labels as names."""
    kept = _plain(column)
    if is_float_dtype(kept):
        rule, found = "must hold classes", "it holds numbers such as {value}"
        remedies = "cut it into bins with {discretize}"
        details = {"column": column.name, "value": float(kept.iloc[0])}
        raise InputError("label", rule, found=found, remedies=remedies, **details)
    return names_in(kept, "label").to_numpy(dtype=object).astype(str)


def _check_classes(y, label):
    """Raise unless there are two classes, each with two cases."""
    classes, sizes = np.unique(y, return_counts=True)
    if len(classes) < 2:
        rule, found = "must hold two classes or more", "it holds {value} only"
        raise InputError("label", rule, found=found, column=label, value=classes[0])
    if sizes.min() < _FEWEST:
        rule, found = "must hold two cases of each class or more", "{value} has one"
        value, remedies = classes[sizes.argmin()], "remove it or add cases"
        raise InputError("label", rule, found=found, remedies=remedies, column=label, value=value)


def _kept(features, task, missing):
    """Positions of the rows to use."""
    gaps = features.isna()
    empty = gaps.all()
    if empty.any():
        rule, remedies = "has no value", "leave it out with {ignore}"
        raise InputError("table", rule, remedies=remedies, column=empty.idxmax())
    if task is not None:
        # A task may lack a variable.
        gaps &= ~gaps.groupby(task).transform("all")
    is_missing = gaps.any(axis=1).to_numpy()
    if missing == "state" or not is_missing.any():
        return np.arange(len(features))
    if missing == "error":
        row = int(is_missing.argmax())
        rule, found = "must be complete", "row {row} has no value"
        remedies = ("{missing=drop} leaves such rows out", "{missing=state} makes it a state")
        details = {"column": gaps.iloc[row].idxmax(), "row": row + 1}
        raise InputError("table", rule, found=found, remedies=remedies, **details)
    kept = np.flatnonzero(~is_missing)
    if not len(kept):
        raise InputError("missing", "leaves no row, because each has a missing value", Bare("drop"))
    warn("table", "has {n:row} with missing values, left out", n=int(is_missing.sum()))
    return kept
