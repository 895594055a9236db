"""Stores of predictions: labels of cases, and probabilities by many models for each part."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from bnmtl.ensembles import folder as on_disk
from bnmtl.ensembles.entries import (
    by_part,
    checked_classes,
    checked_column,
    checked_names,
    checked_predictions,
    checked_settings,
    coded,
)
from bnmtl.ensembles.frames import from_frames, read_csv
from bnmtl.ensembles.judges import judge_of
from bnmtl.ensembles.library.record import (
    RECORD,
    SKIPPED,
    joined_records,
    read_record,
    read_skipped,
    skipped_as_bytes,
)
from bnmtl.errors import InputError, InputTypeError
from bnmtl.tasks.files import NA_VALUES
from bnmtl.wording import listed, type_of


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


def check_same_cases(first, other):
    """Raise unless two stores have the same parts and cases."""
    same = list(first.parts) == list(other.parts) and np.array_equal(first.classes, other.classes)
    for part, one in first.parts.items() if same else ():
        again = other.parts[part]
        same &= one.n_cases == again.n_cases and all(
            (getattr(one, name) is None) == (getattr(again, name) is None)
            and np.array_equal(getattr(one, name), getattr(again, name))
            for name in ("y", "weights", "folds", "task", "groups")
        )
    if not same:
        message = "must have the same parts, labels, weights, folds, task and groups; they differ"
        raise InputError(message, argument="stores")


HILLCLIMB = "hillclimb"


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
                name: checked_column(name, part, one[part], array.shape[1])
                for name, one in columns.items()
                if part in one
            }
            self.parts[part] = Part((array,), codes, **others)
        numbers = {part: len(one.batches[0]) for part, one in self.parts.items()}
        if len(set(numbers.values())) > 1:
            raise InputError(
                f"must have the same models in all parts, got {numbers!r}", argument="predictions"
            )
        self.names = checked_names(names, numbers[HILLCLIMB])
        self.settings = checked_settings(settings, self.names)
        self.path = self.library = None
        self.skipped = read_skipped(None)

    @classmethod
    def _of(cls, classes, parts, names, settings, path=None, library=None):
        """A store of parts that have been checked."""
        store = cls.__new__(cls)
        store.classes, store.parts, store.path = classes, parts, path
        store.library, store.skipped = library, read_skipped(path)
        store.names, store.settings = tuple(names), settings
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
        found = on_disk.read(folder)
        parts = {name: Part(**part) for name, part in found.parts.items()}
        record = read_record(found.path)
        return cls._of(found.classes, parts, found.names, found.settings, found.path, record)

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
        return cls(**read_csv(paths, label, HILLCLIMB, na_values))

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
        return cls(**from_frames(frames, y, HILLCLIMB), **columns)

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
        wrong = [one for one in stores if not isinstance(one, cls)]
        if wrong or not stores:
            given = type_of(wrong[0]) if wrong else repr(stores)
            raise InputTypeError(
                f"must be one PredictionStore or more, got {given}", argument="stores"
            )
        first, names = stores[0], stores[0].names
        for other in stores[1:]:
            check_same_cases(first, other)
            names += checked_names(other.names, len(other.names), names)
        parts = {
            part: replace(one, batches=sum((other.parts[part].batches for other in stores), ()))
            for part, one in first.parts.items()
        }
        settings = pd.concat([one.settings for one in stores])
        merged = cls._of(first.classes, parts, names, settings, library=joined_records(stores))
        merged.skipped = pd.concat([one.skipped for one in stores], ignore_index=True)
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
        for one in batches:
            found[at : at + len(one)] = one
            at += len(one)
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
        values = [judge.natural(judge.of(one)) for one in self.predictions(part)]
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
            raise InputError(
                f"must be names of models of the store, got {unknown[0]!r}", argument="models"
            )
        at = [places[name] for name in models]
        parts = {
            name: replace(one, batches=(self.predictions(name)[at],))
            for name, one in self.parts.items()
        }
        settings = self.settings.iloc[at]
        return self._of(self.classes, parts, models, settings, library=self.library)

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
        for name, one in self.parts.items():
            if one.task is None or str(task) not in one.task:
                continue
            at = one.task == str(task)
            columns = {
                column: None if getattr(one, column) is None else getattr(one, column)[at]
                for column in ("y", "weights", "folds", "task", "groups")
            }
            parts[name] = Part((self.predictions(name)[:, at],), **columns)
        if HILLCLIMB not in parts:
            raise InputError(
                f"must be a task of the part `{HILLCLIMB}`, got {task!r}", argument="task"
            )
        return self._of(self.classes, parts, self.names, self.settings)

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
        others = {} if self.library is None else {RECORD: self.library.as_bytes()}
        others |= {SKIPPED: skipped_as_bytes(self.skipped)} if len(self.skipped) else {}
        on_disk.write(self, folder, force, others)
        return self.open(folder)

    def append(self, predictions, names, settings=None):
        """Add models to the store.

        On disk, a batch is written beside and moved into place when it is complete, so a process
        killed at any moment leaves a store with all batches before.

        Parameters
        ----------
        predictions : array-like, or mapping part -> array-like
            As in the constructor, for all parts of the store.
        names : sequence of str
        settings : sequence of dict or pandas.DataFrame, default=None

        Raises
        ------
        TypeError, ValueError
            As the constructor, and if another process has added models to the folder, or it has a
            file of the user where the batch belongs.
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
        numbers = {part: len(array) for part, array in batch.items()}
        if len(set(numbers.values())) > 1:
            raise InputError(
                f"must have the same models in all parts, got {numbers!r}", argument="predictions"
            )
        names = checked_names(list(names), numbers[HILLCLIMB], self.names)
        settings = pd.concat([self.settings, checked_settings(settings, names)])
        mapped = batch if self.path is None else on_disk.append(self, batch, settings)
        self.parts = {
            part: replace(one, batches=(*one.batches, mapped[part]))
            for part, one in self.parts.items()
        }
        self.names, self.settings = (*self.names, *names), settings
