"""Tables that commands read: columns, scores, tasks and cases, checked against the options."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Number
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype

from bnmtl.cli.messages import conflict, renamed
from bnmtl.errors import InputError, warn
from bnmtl.io.run import digest
from bnmtl.learners.held_out import most_folds
from bnmtl.tasks import discretize, encode, read
from bnmtl.tasks.columns import MAX_STATES
from bnmtl.tasks.files import NA_VALUES, is_parquet, na_values_of, read_rows
from bnmtl.tasks.labels import positive_label
from bnmtl.tasks.order import THRESHOLD, order_score
from bnmtl.tasks.task import originals
from bnmtl.validation.tables import ALL
from bnmtl.wording import all_of, count, listed, type_of

_LARGEST_WHOLE = 2.0**53  # above it, not all integers are floats


def without_points(rows):
    """Return rows in which float columns of integers and missing values have an integer dtype.

    Parameters
    ----------
    rows : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
    """
    rows = rows.copy()
    for column in rows.columns[[is_float_dtype(kind) for kind in rows.dtypes]]:
        values = rows[column].dropna()
        if (values.abs() <= _LARGEST_WHOLE).all() and (values == values.round()).all():
            rows[column] = rows[column].astype("Int64")
    return rows


def plain(column):
    """Return a column `without_points`."""
    return without_points(column.to_frame())[column.name]


def as_written(rows, na_values):
    """Return rows `without_points`, with missing cells as they are read again.

    Parameters
    ----------
    rows : pandas.DataFrame
    na_values : sequence of str
        What means missing in the table that they are from.

    Returns
    -------
    pandas.DataFrame
    """
    rows = without_points(rows)
    if "" in na_values:
        return rows
    return rows.astype(object).where(rows.notna(), na_values[0])


def na_values(options, known=NA_VALUES):
    """Return what means missing in the tables of a command.

    Parameters
    ----------
    options : dataclass
        With `na` and `only_na`.
    known : sequence of str, default=("", "NA", "NaN")
        What did in an earlier run.

    Returns
    -------
    tuple of str
    """
    if options.na and options.only_na:
        message = (
            f"must not go with `only_na`, got {' and '.join(map(repr, options.na))}; that replaces "
            "all texts that mean missing"
        )
        raise conflict("na", "only_na", message)
    return na_values_of(options.na, options.only_na or known)


def na_option(options):
    """Context manager that names the option of the texts that mean missing in mistakes."""
    return renamed(na_values="only_na" if options.only_na else "na")


def read_table(path, options, as_text=(), known=NA_VALUES):
    """Read the rows of a table of a command.

    Parameters
    ----------
    path : path
    options, known
        As for `na_values`.
    as_text : list of str
        As for `bnmtl.tasks.files.read_rows`.

    Returns
    -------
    pandas.DataFrame
    """
    texts = na_values(options, known)
    if not (options.na or options.only_na) and is_parquet(path):
        texts = NA_VALUES
    with na_option(options):
        return read_rows(path, as_text, texts)


def check_column(rows, name, option, argument):
    """Raise unless the rows of an argument have the column named by an option."""
    if name not in rows.columns:
        message = f"must be a column of `{argument}`, {listed(rows.columns)}, got {name}"
        raise InputError(message, argument=option, options=(argument,))


def given_columns(rows, options, names):
    """Return each of these options with its column, then those to ignore; all must be there."""
    given = [(option, getattr(options, option)) for option in names]
    given = [(option, column) for option, column in given if column is not None]
    given += [("ignore", column) for column in options.ignore]
    for option, column in given:
        check_column(rows, column, option, "table")
    return given


def check_new_columns(rows, names, argument):
    """Raise if the rows of an argument already have one of the columns to be written."""
    there = [name for name in names if name in rows.columns]
    if there:
        message = f"must not have columns that will be written; it has {listed(there)}"
        raise InputError(message, argument=argument, remedy="rename or remove them")


def names_in(column, option):
    """Return a column as strings, keeping missing values; reject columns of measurements.

    Parameters
    ----------
    column : pandas.Series
    option : str
        The option that names the column.

    Returns
    -------
    pandas.Series of string
    """
    column, held = plain(column), None
    if is_float_dtype(column):
        odd = next(iter(column[column != column.round()].dropna()), column.abs().max())
        held = f"{odd:g}"
    elif column.dtype == object:
        others = [
            value for value in column if isinstance(value, Iterable) and type(value) is not str
        ]
        held = f"{type_of(others[0])}s such as {others[0]!r:.40}" if others else None
    if held is not None:
        message = f"must hold names or whole numbers; it holds {held}"
        raise InputError(message, argument=option, column=column.name, remedy="choose another one")
    return column.astype("string")


def complete_names(column, option):
    """Return a column as strings; raise if any value is missing.

    Parameters
    ----------
    column : pandas.Series
    option : str

    Returns
    -------
    numpy.ndarray of object
    """
    check_complete(column, option, column.isna().to_numpy())
    return names_in(column, option).to_numpy(dtype=object)


def names_of_rows(rows, column, option, label, argument):
    """The groups or tasks of the rows of an argument as a Series of strings."""
    check_column(rows, column, option, argument)
    if column == label:
        raise InputError(f"must be another column than the labels, got {column!r}", argument=option)
    return pd.Series(complete_names(rows[column], option), rows.index, name=column)


def check_complete(column, option, is_missing, rule="must be complete"):
    """Raise if a row of a column lacks a value; the error names the first such row."""
    if is_missing.any():
        message = f"{rule}; it is not in row {is_missing.argmax() + 1}"
        raise InputError(
            message, argument=option, column=column.name, remedy="fill it or remove the row"
        )


ALL_ROWS = "all rows"


def check_columns(rows, named):
    """Raise unless the options (name -> column or None) name different columns."""
    named = {option: column for option, column in named.items() if column is not None}
    for option, column in named.items():
        check_column(rows, column, option, "scores")
    for column in named.values():
        same = [option for option, other in named.items() if other == column]
        if len(same) > 1:
            others = all_of([f"`{option}`" for option in same[1:]])
            message = f"must be another column than {others}, got {column}"
            raise InputError(message, argument=same[0], options=same[1:])


def checked_scores(column):
    """Return scores as floats; raise if any is missing."""
    values = column.dropna()
    if values.dtype == object and all(
        isinstance(value, Number) and not isinstance(value, bool) for value in values
    ):
        column = column.astype(float)  # decimals, and integers beyond 64 bits
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        bad = values[pd.to_numeric(values.astype(str), errors="coerce").isna()]
        # Numbers written like codes, such as 007, are read as text.
        value = (values if bad.empty else bad).iloc[0]
        message = f"must hold numbers; it holds `{value}`{' as a text' if bad.empty else ''}"
        remedy = "choose another one or correct it"
        raise InputError(message, argument="score", column=column.name, remedy=remedy)
    scores = column.to_numpy(dtype=float)
    check_complete(column, "score", ~np.isfinite(scores), "must be complete and finite")
    return scores


def checked_labels(column, positive):
    """Return 1 for the positive label, 0 for other labels and nan for missing ones."""
    texts = names_in(column, "label").dropna()
    found = sorted(set(texts))
    if not found:
        raise _bad_labels(column, "must hold labels; it is empty", "choose another one")
    y = (texts == _positive(column, positive, found)).astype(float)
    if y.nunique() < 2:
        message = f"must hold positive and negative cases; it holds {listed(found)} alone"
        raise _bad_labels(column, message, "choose another one, or add cases")
    counts = y.value_counts()
    if counts.min() < 2:
        lone = "positive" if counts.idxmin() else "negative"
        message = f"must hold two cases of each class or more; one is {lone}"
        raise _bad_labels(column, message, "add cases")
    return y.reindex(column.index).to_numpy(dtype=float)


def _bad_labels(column, message, remedy):
    return InputError(message, argument="label", column=column.name, remedy=remedy)


def _positive(column, positive, found):
    """The positive label, which must be known and, if it was given, among the labels found."""
    if positive is not None and positive not in found:
        message = f"must be one of the labels, {listed(found)}, got {positive}"
        raise InputError(message, argument="positive")
    known = positive_label(set(found)) if positive is None else positive
    if known is None:
        message = (
            "must say which label is predicted, unless labels are 0 and 1, False and True, false "
            f"and true, or FALSE and TRUE; `{column.name}` holds {listed(found)}"
        )
        raise InputError(message, argument="positive")
    return known


def checked_tasks(column):
    """Return the name of each row's task."""
    names = complete_names(column, "task_column")
    if ALL_ROWS in names:
        message = f"must not hold `{ALL_ROWS}`, which is what all tasks together are called"
        remedy = "rename that task"
        raise InputError(message, argument="task_column", column=column.name, remedy=remedy)
    return names


def hashes(rows):
    """One hash per row, independent of the order of rows and columns."""
    columns = {name: rows[name] for name in sorted(rows.columns, key=str)}
    # Objects such as lists are not hashable, but have a repr.
    texts = {name: col.map(repr) if col.dtype == object else col for name, col in columns.items()}
    return pd.util.hash_pandas_object(pd.DataFrame(texts), index=False).to_numpy()


def read_tasks(options):
    """Return the encoded tasks, and the digests and cut points of their data for run.json."""
    # Computed first, because the files may be gone after learning.
    origin = {"sha256": [digest(path) for path in options.paths if Path(path).is_file()]}
    with na_option(options):
        frames = read(list(options.paths), options.task_column, na_values(options))
    _check_ignored(options, frames)
    ignored = list(options.ignore)
    frames = {name: frame.drop(columns=ignored, errors="ignore") for name, frame in frames.items()}
    tasks, edges = encoded_tasks(frames, options)
    if edges is not None:
        origin["cut_points"] = edges.to_dict()
    return tasks, origin


def encoded_tasks(frames, options):
    """Return frames as encoded tasks, and the `Edges` if options ask for discretization."""
    edges = None
    if options.discretize is not None:
        frames, edges = discretize(frames, bins=options.discretize, return_edges=True)
    return encode(frames, missing=options.missing), edges


def _check_ignored(options, frames):
    for column in options.ignore:
        if column == options.task_column:
            raise InputError(f"must not name the task column, got {column}", argument="ignore")
        if not any(column in frame.columns for frame in frames.values()):
            message = f"must name a column of the data; there is no `{column}`"
            raise InputError(message, argument="ignore", remedy="check the spelling")


def check_folds(n_folds, tasks, or_none=True):
    """Raise InputError if no task has enough rows for the number of folds, which may be 0."""
    most = most_folds(tasks)
    if n_folds is not None and not (or_none and n_folds == 0) and not 2 <= n_folds <= most:
        rule = "must be 0 or from 2" if or_none else "must be from 2"
        message = (
            f"{rule} to the rows of the largest task, {most} (copies count once), got {n_folds!r}"
        )
        raise InputError(message, argument="folds")


def warn_of_copies(tasks):
    """Warn about rows that are repeated more often than expected by chance."""
    found = "copies count as rows of their own and make chance look like structure"
    originals = {name: len(task.originals[1]) for name, task in tasks.items()}
    report_copies(originals, {name: task.n_rows for name, task in tasks.items()}, found)


def warn_of_order(tasks):
    """Warn if neighboring rows are more alike than in a random order."""
    score = order_score(tasks.values())
    if score > THRESHOLD:
        message = (
            f"Rows next to each other are more alike than by chance ({score:.0f} standard "
            "deviations), as in a series or in sorted rows; if they depend on each other, chance "
            "looks like structure"
        )
        warn(
            message,
            remedy="thin a series to every so many rows, or ignore this if rows were only sorted",
        )


def report_copies(originals, n_rows, found):
    """Warn if tasks have more rows than originals.

    Parameters
    ----------
    originals, n_rows : dict of str to int
        By task.
    found : str
        What copies do.
    """
    n_copies = {name: n - originals[name] for name, n in n_rows.items()}
    counts = [f"`{name}`: {n} of {n_rows[name]}" for name, n in n_copies.items() if n > 0]
    if counts:
        of_task = " of their task" if len(n_rows) > 1 else ""
        message = f"Rows are copies of other rows{of_task} ({', '.join(counts)}); {found}"
        warn(message, remedy="remove them")


@dataclass(frozen=True)
class LabeledRows:
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
        codes, sizes = _factorized(table)
        n_rows = {name: int((task == name).sum()) for name in np.unique(task).tolist()}
        kept = {name: len(originals(codes[:, task == name], sizes)[1]) for name in n_rows}
        found = "a model that learns from one copy knows the label of the other"
        report_copies(kept, n_rows, found)

    def codes(self):
        """Positions of states, of the missing one and of the task, and the number of each."""
        states = self.states
        if self.task is not None:
            states = states.assign(**{_new_name("task", states): self.task})
        codes, sizes = _factorized(states)
        return codes.T, sizes


def _factorized(table):
    """The codes of each column's values, missing ones included, and the number of values."""
    coded = [pd.factorize(column, use_na_sentinel=False) for _, column in table.items()]
    return np.stack([codes for codes, _ in coded]), [len(values) for _, values in coded]


def read_cases(options):
    """Read a table with a label and check all columns that options name; returns `LabeledRows`."""
    rows = read_judged_rows(options)
    named = {"task_column": options.task_column, "group": options.group}
    # Checked first, so that errors count all rows.
    names = {
        option: None if column is None else complete_names(rows[column], option).astype(str)
        for option, column in named.items()
    }
    task, group = names.values()
    check_task_names(task)
    rows, of_label = _label_cut(_labeled(rows, options.label), options)
    features = rows.drop(columns=[options.label, *filter(None, named.values())])
    check_features(features, options)
    _check_finite(features)
    kept = _kept(features, None if task is None else task[features.index], options.missing)
    # Folds go by position. Rows that are the same in all columns can take each other's place.
    order = np.argsort(hashes(rows.loc[kept]), kind="stable")
    kept = kept[order]
    features = features.loc[kept, sorted(features, key=str)]
    y = _labels(rows.loc[kept, options.label])
    task, group = (None if known is None else known[kept] for known in (task, group))
    _check_classes(y, options.label)
    features = features.reset_index(drop=True)
    states, cut_points = features, None
    if options.discretize is not None:
        states, edges = discretize(features, bins=options.discretize, return_edges=True)
        cut_points = edges.to_dict() | of_label
    return LabeledRows(features, states, cut_points, y, task, group, np.argsort(order))


def check_features(features, options):
    """Raise unless there is a feature."""
    if not features.shape[1]:
        message = f"must have a column that is a feature, got {options.table}"
        raise InputError(message, argument="table")


def read_judged_rows(options):
    """The table without ignored columns; the columns of options must be there and differ."""
    rows, seen = read_table(options.table, options), {}
    for option, column in given_columns(rows, options, ("label", "task_column", "group")):
        other = seen.setdefault(column, option)
        if other != option:
            message = f"must be another column than `{other}`, got {column}"
            raise InputError(message, argument=option, options=(other,))
    return rows.drop(columns=list(options.ignore))


def check_task_names(names):
    """Raise if a task has the name of all rows together."""
    if names is not None and ALL in names:
        message = f"must not hold `{ALL}`, which is what all rows are called"
        raise InputError(message, argument="task_column", remedy="rename it")


def _check_finite(features):
    """Raise if a number is infinite, or too large for trees."""
    for name in features:
        if _is_number(features[name]):
            numbers = features[name].dropna().to_numpy(dtype=float)
            wrong = numbers[~(np.abs(numbers) <= np.finfo(np.float32).max)]
            if len(wrong):
                message = f"must hold numbers below 3e38, got {float(wrong[0])!r}"
                raise InputError(
                    message, argument="table", column=name, remedy="correct or remove it"
                )


def _check_number_of_values(nominal):
    """Raise if a column has too many values for an indicator each."""
    for name in nominal:
        n = nominal[name].nunique()
        if n > MAX_STATES:
            message = f"must have {MAX_STATES} values or fewer, got {n!r}"
            raise InputError(
                message,
                argument="table",
                column=name,
                options=("ignore",),
                remedy="leave it out with `ignore`",
            )


def _label_cut(rows, options):
    """Rows with a continuous label discretized, and its cut points."""
    label = rows[options.label]
    if options.discretize is None or not _is_number(label):
        return rows, {}
    cut, edges = discretize(label.to_frame(), bins=options.discretize, return_edges=True)
    return rows.assign(**{options.label: cut[options.label].to_numpy()}), edges.to_dict()


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
        raise InputError("must hold labels; it is empty", argument="label", column=label)
    if is_missing.any():
        n = int(is_missing.sum())
        warn(f"is missing in {count(n, 'row')}, left out", argument="label", column=label)
    return rows[~is_missing]


def _labels(column):
    """The labels as names."""
    kept = plain(column)
    if is_float_dtype(kept):
        message = f"must hold classes; it holds numbers such as {float(kept.iloc[0])}"
        raise InputError(
            message,
            argument="label",
            column=column.name,
            options=("discretize",),
            remedy="cut it into bins with `discretize`",
        )
    return names_in(kept, "label").to_numpy(dtype=object).astype(str)


def _check_classes(y, label):
    """Raise unless there are two classes, each with two cases."""
    classes, sizes = np.unique(y, return_counts=True)
    if len(classes) < 2:
        message = f"must hold two classes or more; all labels are `{classes[0]}`"
        raise InputError(message, argument="label", column=label)
    if sizes.min() < 2:
        value = classes[sizes.argmin()]
        message = f"must hold two cases of each class or more; `{value}` has one"
        remedy = "remove it, or add cases, or group the values"
        raise InputError(message, argument="label", column=label, remedy=remedy)


def _kept(features, task, missing):
    """Numbers of the rows to use."""
    gaps = features.isna()
    empty = gaps.all()
    if empty.any():
        raise InputError(
            "has no value",
            argument="table",
            column=empty.idxmax(),
            options=("ignore",),
            remedy="leave it out with `ignore`",
        )
    if task is not None:
        # A task may lack a variable.
        gaps &= ~gaps.groupby(task).transform("all")
    is_missing = gaps.any(axis=1)
    if missing == "state" or not is_missing.any():
        return features.index.to_numpy()
    if missing == "error":
        row = is_missing.idxmax()
        message = f"must be complete; row {row + 1} has no value"
        raise InputError(
            message,
            argument="table",
            column=gaps.loc[row].idxmax(),
            options=("missing",),
            remedy="`missing='drop'` leaves such rows out, or `missing='state'` makes it a state",
        )
    if is_missing.all():
        message = "leaves no row, because each has a missing value, got drop"
        raise InputError(message, argument="missing")
    n = int(is_missing.sum())
    warn(f"has {count(n, 'row')} with missing values, left out", argument="table")
    return features.index[~is_missing].to_numpy()
