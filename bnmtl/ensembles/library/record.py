"""How the models of a library were made, and the files that say so beside its predictions.

`library.json` has the columns, the split and the seed; `rows.csv` the training rows, and
`hillclimb.csv` those of hill climbing if they were given; `skipped.csv` the models that could not
be trained.
"""

import csv
import json
from dataclasses import asdict, dataclass, field, replace

import pandas as pd

from bnmtl.ensembles.library.columns import AsFrame, Columns
from bnmtl.errors import InputError
from bnmtl.reading import json_of
from bnmtl.tasks.files import NA_VALUES, csv_text
from bnmtl.writing import write_whole

LIBRARY_JSON, SKIPPED_CSV = "library.json", "skipped.csv"
ROWS_CSV, HILLCLIMB_CSV = "rows.csv", "hillclimb.csv"
MODELS_FOLDER = "models"
_FORMAT = {"program": "bnmtl", "format": "library", "version": 1}
SKIPPED_COLUMNS = ("model", "family", "reason", "seconds", "time_limit", "max_memory")


@dataclass(frozen=True)
class LibraryRecord:
    """How the models of a store were made; enough to train them again.

    Attributes
    ----------
    digest : str
        Hash of the rows.
    columns : dict of str to list of str or None
        Categories of the columns; None is a numeric column.
    label : str
        Name of the labels.
    hillclimb : float, int or None
        Share or number of the rows used for hill climbing; None if they were given.
    cv : int or None
        Number of folds of embedded cross-validation.
    seed : int
    models : tuple of str
        Names of all models of the profile, without calibration.
    settings : str
        Hash of their settings.
    estimators : dict of str to classifier
        Classifiers of the user by name of the model; not saved.
    calibration : str
        Method of calibration.
    na_values : tuple of str
        What means missing in CSV files of new rows.
    group : str or None
        Name of the groups of the rows; None without groups.
    task_column : str or None
        The column that names the task of each row; None without tasks.
    """

    digest: str
    columns: dict
    label: str = field(compare=False)
    hillclimb: float | None
    cv: int | None
    seed: int
    models: tuple
    settings: str
    estimators: dict = field(default_factory=dict, compare=False)
    calibration: str = "auto"
    na_values: tuple = field(default=NA_VALUES, compare=False)
    group: str | None = field(default=None, compare=False)
    task_column: str | None = None

    @property
    def known_columns(self):
        """The columns as `Columns`."""
        known = self.columns.items()
        categories = {name: None if labels is None else tuple(labels) for name, labels in known}
        return Columns(categories, self.task_column)

    def with_na_values(self, folder, na_values):
        """The record with what means missing in CSV files of new rows, also in its folder."""
        record = replace(self, na_values=tuple(na_values))
        if record.na_values != self.na_values:
            write_whole(folder / LIBRARY_JSON, record.as_bytes())
        return record

    def as_bytes(self):
        """The contents of `library.json`."""
        content = {**_FORMAT, **asdict(replace(self, estimators={}))}
        del content["estimators"]
        for name in ("group", "task_column"):
            if content[name] is None:
                del content[name]
        return (json.dumps(content, indent=1) + "\n").encode()


def joined_records(stores):
    """The record of the models of several stores; None if rows or seeds are not the same."""
    first, *others = (store.library for store in stores)
    for other in others:
        if first is None or other is None:
            return None
        if first != other:
            models = tuple(dict.fromkeys(first.models + other.models))
            settings = f"{first.settings} {other.settings}"
            same = {"models": models, "settings": settings}
            if replace(first, **same) != replace(other, **same):
                return None
            estimators = first.estimators | other.estimators
            first = replace(first, **same, estimators=estimators)
    return first


def read_library_json(folder):
    """The record of a folder; None if a store there was not built as a library."""
    file = folder / LIBRARY_JSON
    if not file.is_file():
        return None
    try:
        content = json_of(file.read_text(encoding="utf-8"))
        if {key: content.pop(key, None) for key in _FORMAT} != _FORMAT:
            message = "must be of version 1 of the format for libraries; it is of another one"
            raise InputError(message, file=file)
        content["models"] = tuple(content["models"])
        content["na_values"] = tuple(content["na_values"])
        return LibraryRecord(**content)
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _damaged(file) from None


def _damaged(file, remedy="build the library again"):
    return InputError("must be as it was written; it is damaged", file=file, remedy=remedy)


def rows_as_bytes(rows, X, y, groups=None):
    """The contents of a file of rows: all columns, the labels, and the groups if there are any."""
    frame = AsFrame(rows.columns).transform(X)
    frame[rows.label] = rows.classes[y]
    if groups is not None:
        frame[rows.group] = groups
    # Text is quoted, because it may have any line break.
    options = {"lineterminator": "\n", "quoting": csv.QUOTE_NONNUMERIC}
    missing = _text_of_missing(rows.columns.categories, rows.classes)
    return frame.to_csv(index=False, na_rep=missing, **options).encode()


def _text_of_missing(categories, classes):
    """What missing cells are in a file of rows: empty or, if that is a category, underscores."""
    known = {text for labels in categories.values() for text in labels or ()}
    text, taken = "", known
    while text in taken:
        text, taken = f"{text}_", known | set(map(str, classes.tolist()))
    return text


def training_rows(store):
    """The rows from which the library of a store on disk was built; None if it has none.

    Returns
    -------
    (X, y, hillclimb, groups) or None
        Arguments of `build_library`; ``hillclimb`` is a pair or None, ``groups`` an array or None.
    """
    if store.library is None or store.path is None or not (store.path / ROWS_CSV).is_file():
        return None
    X, y, groups = _read_rows(store.path / ROWS_CSV, store, store.library.group)
    given = store.path / HILLCLIMB_CSV
    return X, y, _read_rows(given, store)[:2] if given.is_file() else None, groups


def _read_rows(path, store, group=None):
    """Features, labels and groups (or None) of a file of rows, or an error if it is damaged."""
    record = store.library
    missing = _text_of_missing(record.columns, store.classes)
    options = {"dtype": str, "keep_default_na": False, "na_values": [missing]}
    try:
        frame = pd.read_csv(path, **options).astype(object)
        for column, known in record.columns.items():
            if known is None:
                # To the last bit, as older versions of pandas do not read them.
                frame[column] = frame[column].to_numpy().astype(float)
        codes = {str(label): at for at, label in enumerate(store.classes.tolist())}
        y = store.classes[frame[record.label].fillna("").map(codes).to_numpy()]
        groups = None if group is None else frame[group].fillna(missing).to_numpy()
        return frame[list(record.columns)], y, groups
    except (ValueError, KeyError, IndexError):
        raise _damaged(path) from None


def read_skipped(folder):
    """Models that could not be trained, and why, as a DataFrame."""
    if folder is None or not (folder / SKIPPED_CSV).is_file():
        return pd.DataFrame(columns=list(SKIPPED_COLUMNS))
    try:
        numbers = {name: [""] for name in ("seconds", "time_limit", "max_memory")}
        kinds = dict.fromkeys(("model", "family", "reason"), str)
        options = {"dtype": kinds, "keep_default_na": False, "na_values": numbers}
        return pd.read_csv(folder / SKIPPED_CSV, **options)[list(SKIPPED_COLUMNS)]
    except (ValueError, KeyError):
        raise _damaged(folder / SKIPPED_CSV, "delete it to try these models again") from None


def write_skipped(folder, skipped):
    """Write the models that could not be trained, and why."""
    write_whole(folder / SKIPPED_CSV, csv_text(skipped).encode())
