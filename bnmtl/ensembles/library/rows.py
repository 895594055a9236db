"""Rows of a library: labels, and the split into training and hill-climbing cases."""

import hashlib
import numbers

import numpy as np
from sklearn.model_selection import (
    GroupShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    train_test_split,
)

from bnmtl.classification.rows import as_frame
from bnmtl.ensembles.entries import checked_classes, checked_column, coded
from bnmtl.ensembles.library.columns import Columns
from bnmtl.ensembles.library.trained import Cases
from bnmtl.errors import InputError, InputTypeError, check_number, check_whole
from bnmtl.metrics.folds import by_class_and_task
from bnmtl.wording import count, type_of


class Rows:
    """Checked rows of a library.

    Attributes
    ----------
    columns : Columns
        With the column that names the task of each row, if there is one.
    classes : numpy.ndarray of shape (n_classes,)
    label : str
        Name of the labels.
    X, y : arrays
        Training rows as a matrix of the columns, and labels 0, 1, ...
    hillclimb : (X, y), float, int or None
        Cases of hill climbing, or the share or number of training rows that are used for it.
    test : (X, y or None) or None
    tasks, groups : str array of shape (n_rows,) or None
    group : str or None
        Name of the groups.
    """

    def __init__(
        self, X, y, hillclimb, test, columns=None, classes=None, groups=None, task_column=None
    ):
        frame = as_frame(X)
        if not len(frame.columns):
            raise InputError("must have one column or more besides the labels", argument="X")
        self.columns = Columns.of(X, task_column) if columns is None else columns
        self.classes = checked_classes(y) if classes is None else classes
        taken = set(self.columns.categories)
        self.label = _free_name(y, "y", taken)
        self.group = None if groups is None else _free_name(groups, "group", {*taken, self.label})
        self.X, self.y = self._pair("X", frame, "y", y)
        self.tasks = self.columns.tasks_in(self.X)
        self.groups = None if groups is None else _checked_groups(groups, len(self.X), hillclimb)
        self.hillclimb = hillclimb.item() if isinstance(hillclimb, np.generic) else hillclimb
        if is_pair("hillclimb", hillclimb):
            if hillclimb[1] is None:
                raise InputError("must have labels", argument="hillclimb")
            self.hillclimb = self._pair("hillclimb", hillclimb[0], "hillclimb", hillclimb[1])
            self._check_counts("hillclimb", 1, self.hillclimb[1])
        self.test = None
        if test is not None:
            if not is_pair("test", test):
                message = (
                    "must be a pair of features and labels; labels may be None, "
                    f"got {type_of(test)}"
                )
                raise InputTypeError(message, argument="test")
            self.test = self._pair("test", test[0], "test", test[1])

    def _pair(self, argument, X, y_argument, y):
        """A matrix of rows and labels as 0, 1, ..., or None."""
        matrix = self.columns.matrix(X, argument)
        if y is None:
            return matrix, None
        codes = coded(y_argument, y, self.classes)
        if len(codes) != len(matrix):
            raise InputError(
                f"must be one label per row, {len(matrix)}, got {len(codes)!r}", argument=y_argument
            )
        return matrix, codes

    def cases(self, cv, seed):
        """The `Cases` of the fits.

        Parameters
        ----------
        cv : int or None
            Number of folds of embedded cross-validation.
        seed : int
        """
        test = None if self.test is None else self.test[0]
        state = seed % 2**32
        if cv is not None:
            self._check_counts("cv", 2)
            self._check_folds(cv)
            folds = self._folds(cv, state)
            return Cases(self.columns, self.X, self.y, None, folds, test, self.groups)
        if isinstance(self.hillclimb, tuple):
            return Cases(self.columns, self.X, self.y, self.hillclimb, None, test)
        train, held_out = self._split(state)
        pair = self.X[held_out], self.y[held_out]
        groups = None if self.groups is None else self.groups[held_out]
        return Cases(self.columns, self.X[train], self.y[train], pair, None, test, groups)

    def most_folds(self, number):
        """A number of folds of embedded cross-validation; fewer if a class or groups are few."""
        counts = [*np.bincount(self.y)]
        counts += [] if self.groups is None else [len(np.unique(self.groups))]
        return int(np.clip(min(counts), 2, number))

    def _folds(self, cv, state):
        """The fold of each row; all classes are in each fold, and groups are whole."""
        folds, options = np.empty(len(self.y), dtype=int), {"shuffle": True, "random_state": state}
        if self.groups is None and self.tasks is not None:
            folds[by_class_and_task(self.y, self.tasks, state)] = np.arange(len(folds)) % cv
            return folds
        if self.groups is None:
            splitter = StratifiedKFold(cv, **options)
        else:
            self._check_groups("cv", cv)
            splitter = StratifiedGroupKFold(cv, **options)
        for fold, (_, at) in enumerate(splitter.split(self.X, self.y, self.groups)):
            folds[at] = fold
            self._check_counts("cv", 1, self.y[at])
        return folds

    def _check_folds(self, cv):
        counts = np.bincount(self.y, minlength=len(self.classes))
        if counts.min() < cv:
            message = (
                f"must be at most {int(counts.min())}, the number of cases of class "
                f"{self.classes[counts.argmin()].item()!r}, got {cv!r}"
            )
            raise InputError(message, argument="cv", remedy="take fewer folds, or add cases")

    def _check_groups(self, argument, least):
        n_groups = len(np.unique(self.groups))
        if n_groups < least:
            message = f"must be at most the number of groups, {n_groups}, got {least!r}"
            raise InputError(message, argument=argument)

    def _split(self, state):
        """Training rows, and those held out for hill climbing."""
        self._check_counts("hillclimb", 2)
        n_rows, held_out = len(self.y), self.hillclimb
        if isinstance(held_out, float):
            held_out = int(np.ceil(held_out * n_rows))
        least = len(self.classes)
        if not least <= held_out <= n_rows - least:
            message = (
                f"must leave {least} rows for hill climbing, and {least} for training, got "
                f"{self.hillclimb!r}; there are {count(n_rows, 'row')}"
            )
            raise InputError(message, argument="hillclimb")
        if self.groups is None and self.tasks is not None:
            # Every so many rows, beginning in the middle of the first interval.
            places = ((np.arange(held_out) + 0.5) * n_rows / held_out).astype(int)
            held_out = by_class_and_task(self.y, self.tasks, state)[places]
            parts = np.setdiff1d(np.arange(n_rows), held_out), held_out
        elif self.groups is None:
            options = {"stratify": self.y, "random_state": state}
            parts = train_test_split(np.arange(n_rows), test_size=held_out, **options)
        else:
            if len(np.unique(self.groups)) < 2:
                raise InputError("must hold two groups or more, got 1", argument="groups")
            splitter = GroupShuffleSplit(1, test_size=held_out / n_rows, random_state=state)
            (parts,) = splitter.split(self.X, self.y, self.groups)
        for part in parts:
            self._check_counts("hillclimb", 1, self.y[part])
        return map(np.sort, parts)

    def _check_counts(self, argument, least, y=None):
        counts = np.bincount(self.y if y is None else y, minlength=len(self.classes))
        if counts.min() < least:
            each = "both classes" if len(counts) == 2 else "every class"
            message = (
                f"must leave cases of {each} in every part; class "
                f"{self.classes[counts.argmin()].item()!r} has {count(int(counts.min()), 'row')}"
            )
            raise InputError(message, argument=argument)

    def digest(self):
        """A hash of all rows and how they are read."""
        found = hashlib.blake2b(digest_size=16)
        found.update(repr((self.columns, self.classes.tolist())).encode())
        parts = [(self.X, self.y), self.test]
        parts += [self.hillclimb] if isinstance(self.hillclimb, tuple) else []
        parts += [] if self.groups is None else [(np.unique(self.groups, return_inverse=True)[1],)]
        for part in parts:
            for array in part or ():
                found.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
        return found.hexdigest()


def _free_name(values, default, taken):
    """The name of values, or a default, with underscores while it is taken."""
    name = str(getattr(values, "name", None) or default)
    while name in taken:
        name += "_"
    return name


def _checked_groups(groups, n_rows, hillclimb):
    if is_pair("hillclimb", hillclimb):
        message = (
            "must be None if the rows of hill climbing are given, since nothing is divided then"
        )
        raise InputError(message, argument="groups")
    return checked_column("groups", "hillclimb", groups, n_rows)


def is_pair(argument, value):
    """Whether a value is a pair of features and labels."""
    if isinstance(value, tuple | list) and len(value) != 2:
        raise InputTypeError(
            f"must be a pair of features and labels, got {len(value)!r}", argument=argument
        )
    return isinstance(value, tuple | list)


def check_hillclimb(value, cv):
    """Raise unless a value says which cases are used for hill climbing."""
    if cv is not None:
        check_whole("cv", cv, least=2)
        if value is not None:
            if is_pair("hillclimb", value):
                message = "must be None with `cv`, where every row is used for hill climbing"
                raise InputError(
                    message,
                    argument="hillclimb",
                    options=("cv",),
                    remedy="join the rows to the others",
                )
            message = (
                f"must be None with `cv`, where every row is used for hill climbing, got {value!r}"
            )
            raise InputError(message, argument="hillclimb", options=("cv",))
        return
    if value is None:
        return
    if is_pair("hillclimb", value):
        return
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        check_whole("hillclimb", value, least=2)
    else:
        check_number("hillclimb", value, above=0, below=1, remedy="or a pair of features, labels")
