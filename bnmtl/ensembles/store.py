"""Stores of predictions: labels of cases, and probabilities by many models for each part.

Predictions come as arrays or in tables with one column per model.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.classification.columns import is_number
from bnmtl.ensembles import folder as on_disk
from bnmtl.ensembles.entries import (
    FILL,
    by_part,
    checked_classes,
    checked_column,
    checked_names,
    checked_predictions,
    checked_settings,
    coded,
    first_outside,
)
from bnmtl.ensembles.folder import COLUMNS
from bnmtl.ensembles.judges import judge_of
from bnmtl.ensembles.library.record import (
    LIBRARY_JSON,
    SKIPPED_CSV,
    joined_records,
    read_library_json,
    read_skipped,
)
from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.tasks.files import NA_VALUES, csv_text, read_parts
from bnmtl.wording import count, listed, type_of
from bnmtl.writing import locked

HILLCLIMB = "hillclimb"
_MOST_WAITING = 10  # seconds for the lock of a folder


@dataclass(frozen=True)
class Part:
    """The cases of one part of a store.

    Attributes
    ----------
    batches : tuple of float32 array of shape (n_models, n_cases) or (n_models, n_cases, n_classes)
        Predictions, in memory or `OnDisk`.
    y : int array of shape (n_cases,) or None
        Positions in the classes of the store.
    weights, folds, task, groups : array of shape (n_cases,) or None
    """

    batches: tuple
    y: np.ndarray | None
    weights: np.ndarray | None = None
    folds: np.ndarray | None = None
    task: np.ndarray | None = None
    groups: np.ndarray | None = None

    @property
    def n_cases(self):
        """Number of cases."""
        return self.batches[0].shape[1] if self.y is None else len(self.y)


class PredictionStore:
    """Predictions of many models for the same cases, with their labels.

    A store has one or more parts. An ensemble is selected on the part "hillclimb"; others, such as
    "test", show how well it does on further cases. Probabilities are stored as multiples of 2**-24
    from 2**-24 to 1 - 2**-24, so that sums over models are exact.

    Predictions made elsewhere can be scored, by task if ``task`` says whose each case is, selected
    from and saved. Only `build_library` knows how to train its models again for new rows; of other
    stores, predict the new cases with each model and give them to
    `EnsembleSelector.predict_proba`.

    Parameters
    ----------
    predictions : array-like, or mapping part -> array-like
        Of shape (n_models, n_cases): the probability of the second of two classes, sorted. Or of
        shape (n_models, n_cases, n_classes): the probabilities of all classes. An array without a
        mapping is the part "hillclimb". All parts have the same models.
    y : array-like of shape (n_cases,), or mapping part -> array-like
        Labels; two or more classes. Parts may lack them, except "hillclimb".
    names : sequence of str, default=None
        One different name per model; None is model1, model2, ...
    weights : array-like of shape (n_cases,), or mapping part -> array-like, default=None
        How often each case counts.
    folds : array-like of shape (n_cases,), or mapping part -> array-like, default=None
        The fold of each case. A model of such a store is a setting whose prediction of a case comes
        from its sibling that was not trained on that fold.
    task : array-like of shape (n_cases,), or mapping part -> array-like, default=None
        The task of each case.
    settings : sequence of dict or pandas.DataFrame, default=None
        One record per model, such as its family, parameters, seconds and bytes.
    groups : array-like of shape (n_cases,), or mapping part -> array-like, default=None
        The group of each case, such as a patient; folds of cases never divide a group.

    Attributes
    ----------
    names : tuple of str
    classes : numpy.ndarray of shape (n_classes,)
    settings : pandas.DataFrame
        Indexed by the names.
    parts : dict of str to Part
    path : pathlib.Path or None
        The folder of the store, if it is on disk.
    library : LibraryRecord or None
        How the models were made, if `build_library` made them.
    skipped : pandas.DataFrame
        Models of the library that could not be trained, and why.

    Raises
    ------
    TypeError, ValueError
        For predictions outside [0, 1] or missing, shapes that do not agree, labels with one class,
        unknown parts, and names that are not different.

    Examples
    --------
    >>> predictions, y = [[0.9, 0.2, 0.6], [0.6, 0.4, 0.4]], ["yes", "no", "yes"]
    >>> store = PredictionStore(predictions, y, names=["a", "b"])
    >>> store.score("accuracy")
    model
    a    1.000000
    b    0.666667
    Name: accuracy, dtype: float64
    """

    def __init__(
        self,
        predictions,
        y,
        names=None,
        weights=None,
        folds=None,
        task=None,
        settings=None,
        groups=None,
    ):
        predictions = by_part("predictions", predictions, HILLCLIMB)
        y = by_part("y", y, HILLCLIMB)
        if HILLCLIMB not in predictions or HILLCLIMB not in y:
            argument = "y" if HILLCLIMB in predictions else "predictions"
            raise InputError(f"must have the part `{HILLCLIMB}`", argument=argument)
        self.classes = checked_classes(y[HILLCLIMB])
        given = {"weights": weights, "folds": folds, "task": task, "groups": groups}
        columns = {name: by_part(name, values, HILLCLIMB) for name, values in given.items()}
        for name, values in {"y": y, **columns}.items():
            for part in values:
                if part not in predictions:
                    message = (
                        "must have only the parts of the predictions, "
                        f"{listed(predictions)}, got {part!r}"
                    )
                    raise InputError(message, argument=name)
        self.parts = {}
        for part, values in predictions.items():
            codes = coded(part, y[part], self.classes) if part in y else None
            n_cases = None if codes is None else len(codes)
            array = checked_predictions(part, values, len(self.classes), n_cases)
            others = {
                name: checked_column(name, part, by_name[part], array.shape[1])
                for name, by_name in columns.items()
                if part in by_name
            }
            self.parts[part] = Part((array,), codes, **others)
        n_models = _n_models({name: part.batches[0] for name, part in self.parts.items()})
        self.names = checked_names(names, n_models)
        self.settings = checked_settings(settings, self.names)
        self.path = self.library = None
        self.skipped = read_skipped(None)

    @classmethod
    def _of(cls, classes, parts, settings, path=None, library=None):
        """A store of parts that have been checked, of the models of the settings."""
        store = cls.__new__(cls)
        store.classes, store.parts, store.path = classes, parts, path
        store.library, store.skipped = library, read_skipped(path)
        store.names, store.settings = tuple(settings.index), settings
        return store

    @classmethod
    def open(cls, folder):
        """Open a store on disk; files are checked once, and then mapped into memory.

        Batches that were not written completely are ignored.

        Parameters
        ----------
        folder : str or path-like
            A folder written by `save`.

        Returns
        -------
        PredictionStore

        Raises
        ------
        InputError
            If it is not a store, has another format, or a file is missing or damaged.
        """
        classes, parts, settings = on_disk.read(folder)
        parts, path = {name: Part(**arrays) for name, arrays in parts.items()}, Path(folder)
        return cls._of(classes, parts, settings, path, read_library_json(path))

    @classmethod
    def from_csv(cls, paths, label="y", na_values=NA_VALUES):
        """Read a CSV file with one column per model and one column of labels.

        Files are read as by `bnmtl.tasks.read`, so labels such as None, null and True are text.

        Parameters
        ----------
        paths : str or path-like, or mapping part -> path
            A file without a mapping is the part "hillclimb". All files have the same models.
        label : str, default="y"
            The column with the labels. Files of other parts may lack it. The columns of the models
            are probabilities of the second of two classes, sorted.
        na_values : list of str, default=("", "NA", "NaN")
            The strings that denote a missing value.

        Returns
        -------
        PredictionStore

        Raises
        ------
        TypeError, ValueError
            If a file cannot be read, has no label or other models, and as the constructor.
        """
        paths = by_part("paths", paths, HILLCLIMB)
        return cls(**from_tables(read_parts(paths, na_values=na_values), label, paths))

    @classmethod
    def from_frame(cls, frame, y, **columns):
        """Take a frame with a row for each case and a column for each model.

        Parameters
        ----------
        frame : pandas.DataFrame, or mapping part -> DataFrame
            Probabilities of the second of two classes, sorted; the columns are named after the
            models. Of more classes, or of both, pairs (model, class) as columns. The index of the
            rows is not kept.
        y : array-like of shape (n_cases,), or mapping part -> array-like
            Labels in the order of the rows. A Series must not have the labels of the index of the
            frame in another order.
        **columns
            weights, folds, task, settings and groups as in the constructor.

        Returns
        -------
        PredictionStore

        Raises
        ------
        TypeError, ValueError
            For columns that are not numbers from 0 to 1, names that are not text or occur twice,
            classes that are missing, and as the constructor.

        Examples
        --------
        >>> frame = pd.DataFrame({"tree": [0.9, 0.2], "net": [0.6, 0.4]})
        >>> PredictionStore.from_frame(frame, ["yes", "no"]).predictions().shape
        (2, 2)
        """
        frames, y = by_part("frame", frame, HILLCLIMB), by_part("y", y, HILLCLIMB)
        return cls(**_from_frames(frames, y), **columns)

    @classmethod
    def merge(cls, stores):
        """Join the models of stores with the same cases.

        Parameters
        ----------
        stores : sequence of PredictionStore

        Returns
        -------
        PredictionStore

        Raises
        ------
        TypeError, ValueError
            If parts, labels, weights, folds, task or groups differ, or a name occurs twice.
        """
        stores = list(stores)
        wrong = [store for store in stores if not isinstance(store, cls)]
        if wrong or not stores:
            given = type_of(wrong[0]) if wrong else repr(stores)
            message = f"must be one PredictionStore or more, got {given}"
            raise InputTypeError(message, argument="stores")
        first, names = stores[0], stores[0].names
        for other in stores[1:]:
            _check_same_cases(first, other)
            names += checked_names(other.names, len(other.names), names)
        parts = {
            name: replace(part, batches=sum((store.parts[name].batches for store in stores), ()))
            for name, part in first.parts.items()
        }
        settings = pd.concat([store.settings for store in stores])
        merged = cls._of(first.classes, parts, settings, library=joined_records(stores))
        merged.skipped = pd.concat([store.skipped for store in stores], ignore_index=True)
        return merged

    @property
    def n_models(self):
        """Number of models."""
        return len(self.names)

    @property
    def is_binary(self):
        """Whether there are two classes."""
        return len(self.classes) == 2

    def part(self, name=HILLCLIMB, labels=False):
        """Return a part, or raise if it is missing or, on request, lacks labels."""
        if name not in self.parts:
            message = f"must be one of the parts {listed(self.parts)}, got {name!r}"
            raise InputError(message, argument="part")
        part = self.parts[name]
        if labels and part.y is None:
            message = f"must have labels, got {name!r}"
            raise InputError(message, argument="part", options=("y",), remedy="give them in `y`")
        return part

    def predictions(self, part=HILLCLIMB):
        """Predictions of all models for the cases of a part.

        Parameters
        ----------
        part : str, default="hillclimb"

        Returns
        -------
        numpy.ndarray of float32, shape (n_models, n_cases) or (n_models, n_cases, n_classes)
        """
        batches = self.part(part).batches
        if len(batches) == 1:
            return np.asarray(batches[0])
        found, at = np.empty((self.n_models, *batches[0].shape[1:]), np.float32), 0
        for batch in batches:
            found[at : at + len(batch)] = batch
            at += len(batch)
        return found

    def score(self, metric, part=HILLCLIMB):
        """Score every model.

        Parameters
        ----------
        metric : str, callable or mapping
            As in `EnsembleSelector`; the direction of a function is not needed.
        part : str, default="hillclimb"

        Returns
        -------
        pandas.Series by model
            In natural units.
        """
        judge = judge_of(metric, self, part, needs_direction=False)
        values = [judge.natural(judge.of(p)) for p in self.predictions(part)]
        return pd.Series(values, pd.Index(self.names, name="model"), name=judge.name)

    def subset(self, models):
        """A store with some of the models.

        Parameters
        ----------
        models : sequence of str
            Names, in the order wanted.

        Returns
        -------
        PredictionStore
        """
        places = {name: at for at, name in enumerate(self.names)}
        models = checked_names(models, len(list(models)))
        unknown = [name for name in models if name not in places]
        if unknown:
            message = f"must be names of models of the store, got {unknown[0]!r}"
            raise InputError(message, argument="models")
        at = [places[name] for name in models]
        parts = {
            name: replace(part, batches=(self.predictions(name)[at],))
            for name, part in self.parts.items()
        }
        return self._of(self.classes, parts, self.settings.iloc[at], library=self.library)

    def of_task(self, task):
        """A store with the cases of one task, of all parts that have tasks.

        Parameters
        ----------
        task : str

        Returns
        -------
        PredictionStore
        """
        parts = {}
        for name, part in self.parts.items():
            if part.task is None or str(task) not in part.task:
                continue
            at = part.task == str(task)
            known = {column: getattr(part, column) for column in ("y", *COLUMNS)}
            columns = {key: None if values is None else values[at] for key, values in known.items()}
            parts[name] = Part((self.predictions(name)[:, at],), **columns)
        if HILLCLIMB not in parts:
            message = f"must be a task of the part `{HILLCLIMB}`, got {task!r}"
            raise InputError(message, argument="task")
        return self._of(self.classes, parts, self.settings)

    def save(self, folder, force=False):
        """Write the store to a folder; nothing is pickled.

        Parameters
        ----------
        folder : str or path-like
            A new or empty folder.
        force : bool, default=False
            Whether to replace a store there. Only files that its `store.json` lists are removed.

        Returns
        -------
        PredictionStore
            The store on disk, as from `open`.

        Raises
        ------
        InputError
            If the folder is not empty and not a store to be replaced, or has another file.
        """
        others = {} if self.library is None else {LIBRARY_JSON: self.library.as_bytes()}
        others |= {SKIPPED_CSV: csv_text(self.skipped).encode()} if len(self.skipped) else {}
        on_disk.write(self, folder, force, others)
        return self.open(folder)

    def append(self, predictions, names, settings=None):
        """Add models to the store.

        On disk, a batch is written beside and moved into place when it is complete, so a process
        killed at any moment leaves a store with all batches before. Processes that append to one
        folder wait for each other, up to ten seconds; models that others have added since are then
        also those of this store.

        Parameters
        ----------
        predictions : array-like, or mapping part -> array-like
            As in the constructor, for all parts of the store.
        names : sequence of str
        settings : sequence of dict or pandas.DataFrame, default=None

        Raises
        ------
        TypeError, ValueError
            As the constructor, and if another process writes to the folder for longer, or has
            replaced the store there, or it has a file of the user where the batch belongs.
        """
        predictions = by_part("predictions", predictions, HILLCLIMB)
        if set(predictions) != set(self.parts):
            message = (
                f"must have the parts of the store, {listed(self.parts)}, got {list(predictions)!r}"
            )
            raise InputError(message, argument="predictions")
        batch = {
            part: checked_predictions(part, values, len(self.classes), self.parts[part].n_cases)
            for part, values in predictions.items()
        }
        if self.path is None:
            self._add(batch, names, settings)
            return
        with locked(self.path, "store", _MOST_WAITING):
            if on_disk.n_models(self.path) != self.n_models:
                self._take_others()
            self._add(batch, names, settings)

    def _take_others(self):
        """Take the models that other processes have added to the folder."""
        found = self.open(self.path)
        if found.names[: self.n_models] != self.names:
            message = f"must not be replaced by another process, got {str(self.path)!r}"
            raise InputError(message, argument="store", remedy="open it again")
        self.parts, self.names, self.settings = found.parts, found.names, found.settings

    def _add(self, batch, names, settings):
        """Add a batch of checked predictions by part, also in the folder."""
        names = checked_names(list(names), _n_models(batch), self.names)
        settings = pd.concat([self.settings, checked_settings(settings, names)])
        mapped = batch if self.path is None else on_disk.append(self.path, batch, settings)
        self.parts = {
            name: replace(part, batches=(*part.batches, mapped[name]))
            for name, part in self.parts.items()
        }
        self.names, self.settings = (*self.names, *names), settings


def _n_models(arrays):
    """The number of models of predictions by part."""
    numbers = {part: len(array) for part, array in arrays.items()}
    if len(set(numbers.values())) > 1:
        message = f"must have the same models in all parts, got {numbers!r}"
        raise InputError(message, argument="predictions")
    return numbers[HILLCLIMB]


def _check_same_cases(first, other):
    """Raise unless two stores have the same parts and cases."""
    same = list(first.parts) == list(other.parts) and np.array_equal(first.classes, other.classes)
    for name, part in first.parts.items() if same else ():
        again = other.parts[name]
        pairs = [(getattr(part, column), getattr(again, column)) for column in ("y", *COLUMNS)]
        same &= part.n_cases == again.n_cases and all(
            (values is None) == (others is None) and np.array_equal(values, others)
            for values, others in pairs
        )
    if not same:
        message = "must have the same parts, labels, weights, folds, task and groups; they differ"
        raise InputError(message, argument="stores")


def from_tables(tables, label, files, group=None, task_column=None):
    """Take one table per part, with a column per model.

    Parameters
    ----------
    tables : dict of str to pandas.DataFrame
    label : str
        The column with the labels, which the part "hillclimb" must have.
    files : dict of str to path
        Where the tables are from, for messages.
    group : str, default=None
        The column of groups, which the part "hillclimb" must have.
    task_column : str, default=None
        The column with the task of each case, which all parts must have.

    Returns
    -------
    dict
        Arguments of `PredictionStore`.
    """
    if HILLCLIMB not in tables:
        message = f"must have the part `{HILLCLIMB}`, got {listed(sorted(tables))}"
        raise InputError(message, argument="paths")
    predictions, y, names = {}, {}, None
    named = [name for name in (group, task_column) if name is not None]
    columns = {}
    if group is not None:
        columns["groups"] = {HILLCLIMB: tables[HILLCLIMB][group].to_numpy()}
    if task_column is not None:
        columns["task"] = {part: table[task_column].to_numpy() for part, table in tables.items()}
    for part, table in tables.items():
        if label in table:
            y[part] = table[label].to_numpy()
        elif part == HILLCLIMB:
            raise no_label(label, table, files[part])
        table = table.drop(columns=[label, *named], errors="ignore")
        names = list(table) if names is None else names
        if sorted(table) != sorted(names):
            other = sorted(set(table) ^ set(names))[0]
            message = f"must have the models of the other files; not all have `{other}`"
            raise InputError(message, file=files[part])
        with located(file=files[part]):
            predictions[part] = checked_table(table[names])
    n_classes = pd.Series(y[HILLCLIMB]).nunique()
    if n_classes > 2:
        message = f"must have two classes in a file with one column per model; it has {n_classes}"
        raise InputError(message, argument="label", file=files[HILLCLIMB])
    return {"predictions": predictions, "y": y, "names": names, **columns}


def no_label(label, table, file):
    """The error for a file without the column of labels."""
    message = f"must be a column of the file, which has {listed(table)}, got {label!r}"
    return InputError(message, argument="label", file=file)


def checked_table(table):
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


def _from_frames(frames, y):
    """Arguments of a store, from frames by part with models or pairs (model, class) as columns."""
    classes = checked_classes(y[HILLCLIMB]).tolist() if HILLCLIMB in y else []
    predictions, names = {}, None
    for part, frame in frames.items():
        _check_frame(part, frame)
        if part in y:
            _check_rows(part, frame, y[part])
        columns = list(frame)
        is_by_class = frame.columns.nlevels == 2
        models = list(dict.fromkeys(model for model, _ in columns)) if is_by_class else columns
        names = models if names is None else names
        if set(models) != set(names):
            other = sorted(set(models) ^ set(names), key=str)[0]
            message = f"of part `{part}` must have the models of the others; not all have `{other}`"
            raise InputError(message, argument="frame")
        if not is_by_class and len(classes) > 2:
            message = f"must have pairs (model, class) as columns for {len(classes)} classes"
            remedy = "`pd.concat({name: frame_of_the_model}, axis=1)` makes them"
            raise InputError(message, argument="frame", remedy=remedy)
        wanted = _pairs(part, columns, names, classes) if is_by_class else names
        cells = np.stack([_column(frame, name) for name in wanted])
        shape = (len(names), len(classes), len(frame))
        predictions[part] = np.moveaxis(cells.reshape(shape), 1, 2) if is_by_class else cells
    return {"predictions": predictions, "y": y, "names": names}


def _pairs(part, columns, names, classes):
    """The pairs of all models and classes, or an error if the columns are others."""
    wanted = [(model, label) for model in names for label in classes]
    for what, wrong in (
        ("missing", [pair for pair in wanted if pair not in columns]),
        ("of no class", [pair for pair in columns if pair not in wanted]),
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
        message = f"must have different columns; `{_written(twice[0])}` occurs twice"
        raise InputError(message, argument="frame")
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
    if is_same or not any(isinstance(index, pd.RangeIndex) for index in (y.index, frame.index)):
        message = f"of part `{part}` must have the index of `frame`, in its order; it has another"
        remedy = "`y.loc[frame.index]` if it names the cases, or `y.to_numpy()` if it does not"
        raise InputError(message, argument="y", remedy=remedy)


def _column(frame, name):
    """The numbers of a column."""
    column, place = frame[name], {"argument": "frame", "column": _written(name)}
    if not is_number(column.dtype) or column.dtype.kind == "c":
        raise InputTypeError(f"must be numbers, got {column.dtype}", remedy="convert it", **place)
    numbers = column.to_numpy(dtype=float, na_value=np.nan)
    wrong = first_outside(numbers)
    if wrong is not None:
        (row,), value, remedy = wrong
        message = f"must be probabilities from 0 to 1; row {row}, counted from 0, has {value}"
        raise InputError(message, remedy=remedy, **place)
    return numbers


def _written(name):
    """The name of a column: of a model, or of a model and a class."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
