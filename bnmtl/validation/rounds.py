"""Predictions of one classifier fitted again and again, and metrics of them."""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics import scoring
from bnmtl.metrics.cases import predicted_classes
from bnmtl.metrics.scoring import OF_TWO
from bnmtl.reading import Cells, arrays_of
from bnmtl.tasks.labels import read_labels
from bnmtl.tasks.tables import as_one_sentence
from bnmtl.wording import listed, type_of
from bnmtl.writing import write_whole

# One case more or less can make them jump.
NOT_SMOOTH = {
    *("lift", "eleven_point_average_precision", "break_even_point", "calibration_error"),
    "median",
}


_EPS = np.finfo(float).eps
# What metrics that are means over cases give for each case.
OF_CASES = {
    "accuracy": lambda codes, p: (predicted_classes(p) == codes).astype(float),
    "squared_error": lambda codes, p: ((p - np.eye(p.shape[1])[codes]) ** 2).sum(axis=1),
    "cross_entropy": lambda codes, p: -np.log(np.clip(p[np.arange(len(p)), codes], _EPS, 1 - _EPS)),
}


class RoundMetric(NamedTuple):
    """A function of labels, as positions of classes, and probabilities (n_cases, n_classes).

    Parameters
    ----------
    name : str
    function : callable
    is_smaller_better : bool
    of_cases : callable, default=None
        Of a mean over cases: the function of their values.
    """

    name: str
    function: object
    is_smaller_better: bool
    of_cases: object = None

    def __call__(self, codes, p):
        value = self.function(codes, p)
        try:
            return float(value)
        except (TypeError, ValueError):
            message = f"must return a number, got {type_of(value)}"
            raise InputTypeError(message, argument="metric") from None


def round_metric_of(metric, classes, greater_is_better=None, needs_direction=False):
    """The `RoundMetric` that a name, a function or a scorer stands for.

    Parameters
    ----------
    metric : str or callable
        As in `bnmtl.metrics.scoring.metric_of`.
    classes : array of shape (n_classes,)
        Labels.
    greater_is_better : bool, default=None
    needs_direction : bool, default=False
        Whether the direction of a function must be known; else, larger is better.

    Returns
    -------
    RoundMetric
    """
    found = scoring.metric_of(metric, classes, greater_is_better, needs_direction)
    function, of_cases = found.function, OF_CASES.get(found.known)
    if found.known in OF_TWO and len(classes) == 2:

        def function(codes, p):
            return found.function(codes, p[:, 1])

    if of_cases is not None and found.sign < 0:

        def of_cases(codes, p):
            return -OF_CASES[found.known](codes, p)

    return RoundMetric(found.name, function, bool(found.is_smaller_better), of_cases)


_FORMAT = 1
_PARTS = ("predictions", "y", "classes", "in_bag", "full", "task")
# Kinds of numbers and text in a file.
_KINDS = {
    **dict.fromkeys(("predictions", "full"), "f"),
    **dict.fromkeys(("in_bag", "n_train"), "iu"),
    **dict.fromkeys(("y", "classes", "group"), "biufU"),
    "task": "U",
}
_TOLERANCE = 0.01  # of the sum of the probabilities of all classes, which may be rounded


def value_per_row(name, values, n, table="X"):
    """An array with one value for each row, none of them missing.

    Parameters
    ----------
    name : str
        Of the argument.
    values : array-like
    n : int
        Number of rows.
    table : str, default="X"
        What has the rows.

    Returns
    -------
    numpy.ndarray of shape (n,)

    Raises
    ------
    InputError
        For another shape, and missing values.
    """
    with as_one_sentence(f"must be one value for each row of `{table}`, {n}", name, "numpy"):
        as_given, values = np.asarray(values, dtype=object), np.asarray(values)
    if values.shape != (n,):
        given = values.shape if values.ndim else type_of(values.item())
        raise InputError(
            f"must be one value for each row of `{table}`, {n}, got {given}", argument=name
        )
    # As objects, because an array of text has gaps as text.
    if pd.isna(as_given).any():
        message = "must hold a value for each row; one is missing"
        raise InputError(message, argument=name, remedy="drop those rows")
    return np.array(values.tolist()) if values.dtype == object else values


def labels_per_row(name, values, n, table="X"):
    """An array with one label for each row, as `read_labels` returns it.

    Parameters
    ----------
    name, values, n, table
        As in `value_per_row`.

    Returns
    -------
    numpy.ndarray of shape (n,)

    Raises
    ------
    InputError
        As `value_per_row`.
    InputTypeError
        For labels of several types.
    """
    value_per_row(name, values, n, table)
    return read_labels(values, name)


def _numbers(name, values):
    """An array of numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError(
            f"must be an array of numbers, got {type_of(values)}", argument=name
        ) from None


def check_rounds(argument, rounds):
    """Raise unless it is a `Rounds`."""
    if not isinstance(rounds, Rounds):
        message = f"must be rounds, as `predict_rounds` makes them, got {type_of(rounds)}"
        raise InputTypeError(message, argument=argument)


class Rounds:
    """Probabilities by a classifier that was fitted to several sets of training cases.

    Parameters
    ----------
    predictions : numpy.ndarray of float, shape (n_rounds, n_cases, n_classes)
        NaN where a round has not predicted a case.
    y : numpy.ndarray of shape (n_cases,)
        Labels.
    classes : numpy.ndarray of shape (n_classes,)
        Sorted.
    in_bag : numpy.ndarray of int, shape (n_rounds, n_cases)
        How often each round learned from each case.
    full : numpy.ndarray of float, shape (n_cases, n_classes), default=None
        Probabilities by the classifier fitted to all training cases.
    task : numpy.ndarray of str, shape (n_cases,), default=None
        The task of each case.
    n_train : numpy.ndarray of int, shape (n_rounds,), default=None
        Number of different training cases of each round; None counts ``in_bag``.
    group : numpy.ndarray of shape (n_cases,), default=None
        Cases of the same group were never divided between training and test.

    Raises
    ------
    ValueError
        If shapes disagree.

    Examples
    --------
    >>> rounds = Rounds([[[0.8, 0.2], [0.4, 0.6]]], ["a", "b"], ["a", "b"], [[0, 0]])
    >>> rounds.mean_predictions().tolist()
    [[0.8, 0.2], [0.4, 0.6]]
    """

    def __init__(
        self, predictions, y, classes, in_bag, full=None, task=None, n_train=None, group=None
    ):
        self.predictions = _numbers("predictions", predictions)
        if self.predictions.ndim != 3:
            message = (
                f"must have the shape (rounds, cases, classes), got {self.predictions.shape!r}"
            )
            raise InputError(message, argument="predictions")
        self.y, self.classes = read_labels(y), read_labels(classes, "classes")
        self.in_bag = np.asarray(in_bag)
        self.full = None if full is None else _numbers("full", full)
        self.task = None if task is None else np.asarray(task).astype(str)
        self.n_train = None if n_train is None else np.asarray(n_train)
        self.group = None if group is None else np.asarray(group)
        self._check()
        if n_train is None:
            self.n_train = (self.in_bag > 0).sum(axis=1)

    def _check(self):
        shape = self.predictions.shape
        expected = {
            "in_bag": shape[:2],
            "y": shape[1:2],
            "classes": shape[2:],
            "full": shape[1:],
            "task": shape[1:2],
            "n_train": shape[:1],
            "group": shape[1:2],
        }
        for name, of_name in expected.items():
            value = getattr(self, name)
            if value is not None and value.shape != of_name:
                message = f"must have the shape {of_name}, as `predictions`, got {value.shape!r}"
                raise InputError(message, argument=name, options=("predictions",))
        if not np.array_equal(np.unique(self.classes), self.classes):
            message = f"must be sorted and different, got {self.classes.tolist()!r}"
            raise InputError(message, argument="classes", remedy="as `numpy.unique` gives them")
        unknown = ~np.isin(self.y, self.classes)
        if unknown.any():
            message = f"must hold `classes` only, got {self.y[unknown][0]!r}"
            raise InputError(message, argument="y", options=("classes",))
        for name, p in (("predictions", self.predictions), ("full", self.full)):
            if p is None:
                continue
            missing = np.isnan(p)
            if (missing.any(axis=-1) != missing.all(axis=-1)).any():
                message = (
                    "must hold the probabilities of all classes of a case, or none; some are NaN"
                )
                raise InputError(message, argument=name)
            outside = (p < -1e-9) | (p > 1 + 1e-9)
            if outside.any():
                message = f"must be probabilities, from 0 to 1, got {float(p[outside][0])!r}"
                raise InputError(message, argument=name)
            off = np.abs(p.sum(axis=-1) - 1) > _TOLERANCE
            if off.any():
                message = f"must sum to 1 over the classes, got {float(p.sum(axis=-1)[off][0])!r}"
                raise InputError(message, argument=name)

    @property
    def codes(self):
        """Positions of the labels in the classes, shape (n_cases,)."""
        return np.searchsorted(self.classes, self.y)

    @property
    def is_predicted(self):
        """Which round has predicted which case, shape (n_rounds, n_cases)."""
        return ~np.isnan(self.predictions[:, :, 0])

    @property
    def n_predicted(self):
        """Number of cases that each round has predicted, shape (n_rounds,)."""
        return self.is_predicted.sum(axis=1)

    def test_ratio(self):
        """Number of predicted cases per different training case.

        Returns
        -------
        float
        """
        return float(self.is_predicted.sum() / self.n_train.sum())

    def of_task(self, name):
        """The cases of one task.

        Parameters
        ----------
        name : str

        Returns
        -------
        Rounds
            Its training cases are those of the task, too.

        Raises
        ------
        ValueError
            For rounds without tasks, and another name.
        """
        known = [] if self.task is None else np.unique(self.task).tolist()
        if name not in known:
            raise InputError(
                f"must be one of the tasks, {listed(known)}, got {name!r}", argument="name"
            )
        part = self.of_cases(np.flatnonzero(self.task == name))
        # A task that a round has held out as a whole is learned from the others.
        if part.in_bag.any(axis=1).all():
            part.n_train = (part.in_bag > 0).sum(axis=1)
        return part

    def of_cases(self, cases):
        """Some of the cases, or all of them in another order.

        Parameters
        ----------
        cases : array-like of int, or of bool, shape (n_cases,)
            Their positions, or whether each is one of them.

        Returns
        -------
        Rounds
            They were learned from as many training cases as these.
        """
        cases, n = np.asarray(cases), len(self.y)
        if cases.dtype == bool and cases.shape == (n,):
            cases = np.flatnonzero(cases)
        if cases.ndim != 1 or not (np.issubdtype(cases.dtype, np.integer) or not len(cases)):
            message = (
                f"must be positions of cases, or True or False for each of {n}, "
                f"got {cases.dtype.name!r}"
            )
            raise InputTypeError(message, argument="cases")
        cases = cases.astype(int)
        outside = cases[(cases < -n) | (cases >= n)]
        if len(outside):
            raise InputError(
                f"must be from -{n} to {n - 1}, got {int(outside[0])!r}", argument="cases"
            )
        full, task, group = (
            None if part is None else part[cases] for part in (self.full, self.task, self.group)
        )
        return Rounds(
            *(self.predictions[:, cases], self.y[cases], self.classes, self.in_bag[:, cases]),
            *(full, task, self.n_train, group),
        )

    def mean_predictions(self):
        """Mean probabilities over the rounds that predicted a case; NaN if none has.

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        n = self.is_predicted.sum(axis=0)[:, None]
        sums = np.nansum(self.predictions, axis=0)
        return np.divide(sums, n, out=np.full(sums.shape, np.nan), where=n > 0)

    def score(self, metric):
        """A metric of the cases of each round.

        Parameters
        ----------
        metric : str or callable
            As in `compare`; the direction of a function is not needed.

        Returns
        -------
        list of float
            NaN for rounds on whose cases it is not defined, and with fewer than two cases, unless
            it is a mean over cases.

        Raises
        ------
        ValueError
            For an unknown metric; and if it is defined on no round: that of the last one.
        """
        if not isinstance(metric, RoundMetric):
            metric = round_metric_of(metric, self.classes)
        least = 1 if metric.of_cases else 2
        found, reason = [], None
        for p, known in zip(self.predictions, self.is_predicted, strict=True):
            try:
                value = metric(self.codes[known], p[known]) if known.sum() >= least else np.nan
            except ValueError as error:
                value, reason = np.nan, error
            found.append(value)
        if reason is not None and np.isnan(found).all():
            raise reason
        return found

    def save(self, path):
        """Write a file that `load` reads.

        Parameters
        ----------
        path : str or path-like
            Ends with ``.npz``.
        """
        path = Path(path)
        if path.suffix != ".npz":
            raise InputError(f"must end with .npz, got {str(path)!r}", argument="path")
        parts = {name: getattr(self, name) for name in (*_PARTS, "n_train", "group")}
        for name in ("y", "classes", "task", "group"):
            # Text as such: arrays of Python objects would be pickled.
            if parts[name] is not None and parts[name].dtype == object:
                parts[name] = np.array(parts[name].tolist())
        known = {name: value for name, value in parts.items() if value is not None}
        Cells().add(sum(value.size for value in known.values()))
        content = io.BytesIO()
        np.savez_compressed(content, allow_pickle=False, format=_FORMAT, **known)
        write_whole(path, content.getvalue())

    @classmethod
    def load(cls, path):
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Rounds

        Raises
        ------
        ValueError
            If the file is something else or damaged.
        """
        names = {*_PARTS, "n_train", "group", "format"}
        try:
            parts = arrays_of(path, names)
        except InputError as error:
            raise InputError(error.message, argument="path", remedy=error.remedy) from None
        except ValueError as error:
            raise InputError(
                f"must be a file of rounds; {error}", argument="path", remedy="write it again"
            ) from None
        version = parts.pop("format", None)
        is_ours = version is not None and version.dtype.kind == "i" and version.tolist() == _FORMAT
        if not is_ours or not set(_PARTS[:4]) <= set(parts):
            raise InputError(
                f"must be a file that `Rounds.save` wrote, got {str(path)!r}", argument="path"
            )
        for name, kinds in _KINDS.items():
            if name in parts and parts[name].dtype.kind not in kinds:
                found = f"the type {parts[name].dtype}, which `Rounds.save` does not write"
                raise InputError(f"must be a file of rounds; `{name}` has {found}", argument="path")
        try:
            return cls(**parts)
        except (InputError, InputTypeError) as error:
            message = f"must be a file of rounds; `{error.argument}` {error.message}"
            raise InputError(message, argument="path", remedy="write it again") from None
