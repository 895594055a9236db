"""The rows of `bnmtl validate`, checked: features as numbers or states, labels, tasks, groups."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_numeric_dtype

from bnmtl.cli.columns import (
    check_column,
    complete_names,
    names_in,
    read_table,
    without_points,
)
from bnmtl.cli.scores import hashes
from bnmtl.cli.tasks import report_copies
from bnmtl.errors import InputError, warn
from bnmtl.tasks import discretize
from bnmtl.tasks.columns import MAX_STATES
from bnmtl.tasks.copies import originals
from bnmtl.validation.tables import ALL
from bnmtl.wording import Bare

_FEWEST = 2  # cases of a class


@dataclass(frozen=True)
class Cases:
    """Rows with a label, in an order that does not depend on that of the table.

    Attributes
    ----------
    features : pandas.DataFrame
        As they were read, without the columns of labels, tasks and groups, sorted by name.
    states : pandas.DataFrame
        The same with continuous columns discretized.
    cut_points : dict of str to list of float, or None
    y : numpy.ndarray of str
    task, group : numpy.ndarray of str, or None
    place : numpy.ndarray of int
        Of each row of the table, in its order, the position here.
    """

    features: pd.DataFrame
    states: pd.DataFrame
    cut_points: dict | None
    y: np.ndarray
    task: np.ndarray | None
    group: np.ndarray | None
    place: np.ndarray

    def numbers(self):
        """Numbers as they are, one indicator for each value of other columns and of the task."""
        features = self.features
        if self.task is not None:
            features = features.assign(**{_new_name("task", features): self.task})
        is_number = [_is_number(features[name]) for name in features]
        plain, nominal = features.loc[:, is_number], features.loc[:, np.logical_not(is_number)]
        _check_number_of_values(nominal)
        blocks = [plain.astype(np.float32)] if plain.shape[1] else []
        if nominal.shape[1]:
            text = nominal.astype("string").astype(object)
            blocks.append(pd.get_dummies(text, dummy_na=True, dtype=np.float32))
        numbers = pd.concat(blocks, axis=1)
        varies = numbers.nunique(dropna=False) > 1
        return numbers.loc[:, varies | ~varies.any()].to_numpy(dtype=np.float32)

    def warn_of_copies(self, name):
        """Warn about rows that are repeated more often than expected by chance.

        Copies within a group are not divided between training and test.

        Parameters
        ----------
        name : str
            Of all rows, where there are no tasks.
        """
        table = self.features.assign(**{_new_name("label", self.features): self.y})
        task = np.full(len(table), name) if self.task is None else self.task
        if self.group is not None:
            is_first = ~table.assign(**{_new_name("group", table): self.group}).duplicated()
            table, task = table[is_first], task[is_first]
        coded = [pd.factorize(column, use_na_sentinel=False) for _, column in table.items()]
        codes, sizes = np.stack([one for one, _ in coded]), [len(known) for _, known in coded]
        counts = {one: int((task == one).sum()) for one in np.unique(task).tolist()}
        kept = {one: len(originals(codes[:, task == one], sizes)[1]) for one in counts}
        found = "a model that learns from one copy knows the label of the other"
        report_copies(kept, counts, found)

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
    rows = read_rows(options)
    named = {"task_column": options.task_column, "group": options.group}
    # Checked first, so that errors count all rows.
    names = {
        option: complete_names(rows[name], option).astype(str)
        for option, name in named.items()
        if name is not None
    }
    check_task_names(names.get("task_column"))
    rows, of_label = _label_cut(_labeled(rows, options.label), options)
    features = rows.drop(columns=[options.label, *filter(None, named.values())])
    if not features.shape[1]:
        raise InputError("table", "must have a column that is a feature", Bare(options.table))
    _check_finite(features)
    task = names.get("task_column")
    kept = _kept(features, None if task is None else task[features.index], options.missing)
    # Folds go by position. Rows that are the same in all columns can take each other's place.
    order = np.argsort(hashes(rows.loc[kept]), kind="stable")
    kept = kept[order]
    features = features.loc[kept, sorted(features, key=str)]
    y = _labels(rows.loc[kept, options.label])
    task, group = (None if one is None else one[kept] for one in map(names.get, named))
    _check_classes(y, options.label)
    features = features.reset_index(drop=True)
    states, cut_points = features, None
    if options.discretize is not None:
        states, edges = discretize(features, bins=options.discretize, return_edges=True)
        cut_points = edges.to_dict() | of_label
    return Cases(features, states, cut_points, y, task, group, np.argsort(order))


def read_rows(options):
    """The table without ignored columns; the columns of options must be there and differ."""
    rows = read_table(options.table, options)
    named = [(one, getattr(options, one)) for one in ("label", "task_column", "group")]
    seen = {}
    for option, name in [*named, *(("ignore", name) for name in options.ignore)]:
        if name is None:
            continue
        check_column(rows, name, option, "table")
        other = seen.setdefault(name, option)
        if other != option:
            raise InputError(option, f"must be another column than {{{other}}}", Bare(name))
    return rows.drop(columns=list(options.ignore))


def check_task_names(names):
    """Raise if a task has the name of all rows together."""
    if names is not None and ALL in names:
        rule, remedies = "must not hold {name}, which is what all rows are called", "rename it"
        raise InputError("task_column", rule, remedies=remedies, name=ALL)


def _check_finite(features):
    """Raise if a number is infinite, or too large for trees."""
    for name in features:
        if _is_number(features[name]):
            numbers = features[name].dropna().to_numpy(dtype=float)
            wrong = numbers[~(np.abs(numbers) <= np.finfo(np.float32).max)]
            if len(wrong):
                rule, remedies = "must hold numbers below 3e38", "correct or remove it"
                details = {"remedies": remedies, "column": name}
                raise InputError("table", rule, float(wrong[0]), **details)


def _check_number_of_values(nominal):
    """Raise if a column has too many values for an indicator each."""
    for name in nominal:
        n = nominal[name].nunique()
        if n > MAX_STATES:
            rule = "must have {most} values or fewer"
            details = {"remedies": "leave it out with {ignore}", "column": name}
            raise InputError("table", rule, n, most=MAX_STATES, **details)


def _label_cut(rows, options):
    """Rows with a continuous label discretized, and its cut points."""
    label = rows[options.label]
    if options.discretize is None or not _is_number(label):
        return rows, {}
    cut, edges = discretize(label.to_frame(), bins=options.discretize, return_edges=True)
    return rows.assign(**{options.label: cut[options.label].to_numpy()}), edges.to_dict()


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
    return rows[~is_missing]


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
        rule, found = "must hold two classes or more", "all labels are {value}"
        raise InputError("label", rule, found=found, column=label, value=classes[0])
    if sizes.min() < _FEWEST:
        rule, found = "must hold two cases of each class or more", "{value} has one"
        value = classes[sizes.argmin()]
        remedies = ("remove it", "add cases", "group the values")
        raise InputError("label", rule, found=found, remedies=remedies, column=label, value=value)


def _kept(features, task, missing):
    """Numbers of the rows to use."""
    gaps = features.isna()
    empty = gaps.all()
    if empty.any():
        rule, remedies = "has no value", "leave it out with {ignore}"
        raise InputError("table", rule, remedies=remedies, column=empty.idxmax())
    if task is not None:
        # A task may lack a variable.
        gaps &= ~gaps.groupby(task).transform("all")
    is_missing = gaps.any(axis=1)
    if missing == "state" or not is_missing.any():
        return features.index.to_numpy()
    if missing == "error":
        row = is_missing.idxmax()
        rule, found = "must be complete", "row {row} has no value"
        remedies = ("{missing=drop} leaves such rows out", "{missing=state} makes it a state")
        details = {"column": gaps.loc[row].idxmax(), "row": row + 1}
        raise InputError("table", rule, found=found, remedies=remedies, **details)
    kept = features.index[~is_missing].to_numpy()
    if not len(kept):
        raise InputError("missing", "leaves no row, because each has a missing value", Bare("drop"))
    warn("table", "has {n:row} with missing values, left out", n=int(is_missing.sum()))
    return kept
