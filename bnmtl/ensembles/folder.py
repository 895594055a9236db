"""The folder of a store: predictions by batch as .npy files, cases and models as CSV.

`store.json` lists every file of the store before it is written: no other one is ever replaced or
removed. Its batches are those that are complete; files of another batch are ignored and
overwritten.
"""

import hashlib
import io
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd

from bnmtl.ensembles.entries import SCALE, TOLERANCE, checked_settings, rounded
from bnmtl.errors import InputError, located
from bnmtl.metrics.cases import checked_weights
from bnmtl.reading import json_of
from bnmtl.tasks.files import csv_text
from bnmtl.writing import OutputFolder, check_complete, write_whole

STORE_JSON, _MODELS_CSV, _CASES_CSV = "store.json", "models.csv", "cases.csv"
_PREDICTIONS = "predictions"
_FORMAT = {"program": "bnmtl", "format": "predictions", "version": 1}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
# What is known of cases besides their labels, and its columns in the file of the cases.
COLUMNS = {"weights": "weight", "folds": "fold", "task": "task", "groups": "group"}


@dataclass(frozen=True)
class OnDisk:
    """An array in a file, which is mapped into memory each time it is used.

    A store has more files than a process may hold open. If the file is not the one of before, the
    store was replaced.
    """

    path: Path
    shape: tuple
    identity: tuple

    def __len__(self):
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        if not self.path.is_file() or _identity(self.path) != self.identity:
            message = "must be the one of before, but the store in this folder was replaced"
            raise InputError(message, file=self.path, remedy="open it again")
        array = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return array.astype(array.dtype if dtype is None else dtype, copy=bool(copy))


def write(store, folder, force, others):
    """Write a store, and other files by name, to a new folder, completely or not at all."""
    output = OutputFolder(folder, force, _files_of, last=STORE_JSON, keeps_others=False)
    with output, output.writing() as place:
        for name, content in others.items():
            (place / name).write_bytes(content)
        digests, files = {}, [STORE_JSON, _MODELS_CSV, *others]
        for name, part in store.parts.items():
            (place / name / _PREDICTIONS).mkdir(parents=True)
            content = _cases(store, part)
            (place / name / _CASES_CSV).write_bytes(content)
            digests[name] = {"cases": _digest(content)}
            files += [f"{name}/{_CASES_CSV}", f"{name}/{_PREDICTIONS}/{_name_of_batch(0)}"]
        record = {
            **_FORMAT,
            "classes": store.classes.tolist(),
            "parts": digests,
            "batches": [],
            "models": _digest_of_names(store.settings[:0]),
            "files": files,
        }
        if store.n_models:
            batch = {part: store.predictions(part) for part in store.parts}
            _write_batch(place, record, batch, store.settings)
        else:
            _write_record(place, record)


def _files_of(path):
    """The files that belong to a store in a folder; None if there is no store."""
    try:
        return _read_record(path)["files"]
    except InputError:
        return None


def list_files(path, names, record=None):
    """List files, as paths inside, in the record of a store, before they are written there.

    Raises
    ------
    InputError
        If there is a file of such a name that the store does not list.
    """
    record = _read_record(path) if record is None else record
    known = set(record["files"])
    names = [name for name in names if name not in known]
    for name in names:
        if os.path.lexists(path / name):
            message = "must not be in the folder of a store; `store.json` does not list it"
            raise InputError(message, file=path / name, remedy="move it")
    if names:
        record["files"] += names
        _write_record(path, record)


def n_models(path):
    """The number of models in the folder of a store."""
    return sum(batch["models"] for batch in _read_record(path)["batches"])


def append(path, batch, settings):
    """Add a batch (part -> predictions) to the folder of a store; return it as `OnDisk`.

    The settings are those of all models; the lock of the folder must be held.
    """
    name = _write_batch(path, _read_record(path), batch, settings)
    return {part: _mapped(path / part / _PREDICTIONS / name) for part in batch}


def _write_batch(place, record, batch, settings):
    """Write predictions, then all models, then the record that makes the batch valid."""
    name, digests = _name_of_batch(len(record["batches"])), {}
    list_files(place, [f"{part}/{_PREDICTIONS}/{name}" for part in batch], record)
    for part, array in batch.items():
        content = io.BytesIO()
        np.save(content, array, allow_pickle=False)
        digests[part] = _digest(content.getvalue())
        write_whole(place / part / _PREDICTIONS / name, content.getvalue())
    write_whole(place / _MODELS_CSV, csv_text(settings, index=True).encode())
    models = len(next(iter(batch.values())))
    record["batches"].append({"file": name, "models": models, "predictions": digests})
    record["models"] = _digest_of_names(settings)
    _write_record(place, record)
    return name


def _name_of_batch(at):
    return f"{at:05d}.npy"


def _write_record(place, record):
    write_whole(place / STORE_JSON, (json.dumps(record, indent=1) + "\n").encode())


def _cases(store, part):
    """The CSV file of the cases of a part."""
    columns = {} if part.y is None else {"y": store.classes[part.y]}
    known = {column: getattr(part, name) for name, column in COLUMNS.items()}
    columns |= {column: values for column, values in known.items() if values is not None}
    frame = pd.DataFrame(columns, index=pd.RangeIndex(part.n_cases, name="case"))
    return csv_text(frame, index=True).encode()


def read(folder):
    """Read the folder of a store; predictions are mapped into memory.

    Returns
    -------
    (classes, parts, settings)
        The parts as arguments of `Part`, by name.
    """
    path = Path(folder)
    check_complete(path, _files_of)
    record = _read_record(path)
    try:
        return _read(path, record)
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError):
        raise _damaged(path / STORE_JSON, "it lacks entries") from None
    # Digests do not help where somebody has computed them again.
    except (ValueError, OverflowError, EOFError):
        raise _damaged(path / STORE_JSON, "its entries and files do not fit together") from None


def _read(path, record):
    """Read what the record lists."""
    n_models = sum(batch["models"] for batch in record["batches"])
    classes, parts = _classes(record, path / STORE_JSON), {}
    for part, digests in record["parts"].items():
        content = io.BytesIO(_checked(path / part / _CASES_CSV, digests["cases"]))
        kinds = dict.fromkeys(("y", *COLUMNS.values()), str)
        frame = pd.read_csv(content, dtype=kinds, keep_default_na=False)
        shape = (len(frame),) if len(classes) == 2 else (len(frame), len(classes))
        batches = []
        for batch in record["batches"]:
            file = path / part / _PREDICTIONS / batch["file"]
            _check_contents(file, batch["predictions"][part])
            batches.append(_mapped(file))
            if batches[-1].shape != (batch["models"], *shape):
                message = "its numbers of models and cases are others"
                raise _damaged(path / STORE_JSON, message)
            _check_predictions(file, batches[-1])
        columns = _columns(frame, classes, path / part / _CASES_CSV)
        if columns["y"] is not None and (columns["y"] < 0).any():
            raise _damaged(path / STORE_JSON, "it has other classes than the cases")
        batches = tuple(batches) or (np.empty((0, *shape), np.float32),)
        parts[part] = {"batches": batches, **columns}
    settings = checked_settings(None, ())
    if n_models:
        settings = _models(path / _MODELS_CSV, n_models)
        if _digest_of_names(settings) != record["models"]:
            raise _damaged(path / _MODELS_CSV, "it lists other models")
    return classes, parts, settings


def _classes(record, file):
    """The classes of a record: two or more different labels of one type, sorted."""
    given = record["classes"]
    kinds = {bool: "b", int: "iu", float: "f", str: "U"}
    kind = kinds.get(type(given[0]), "") if isinstance(given, list) and given else ""
    classes = np.array(given)
    if len(classes) < 2 or classes.ndim != 1 or classes.dtype.kind not in kind:
        raise _damaged(file, "its classes are not labels")
    if not np.array_equal(np.unique(classes), classes):
        raise _damaged(file, "its classes are not sorted and different")
    return classes


def _check_predictions(file, found):
    """Raise unless a batch holds probabilities as a store rounds them."""
    models, most_off = np.asarray(found), TOLERANCE + found.shape[-1] / SCALE
    if models.dtype != np.float32:
        raise _damaged(file, f"it holds numbers of another type, {models.dtype}")
    for number, model in enumerate(models):
        if not np.array_equal(rounded(model), model):  # NaN is not equal to itself
            raise _damaged(file, f"model {number}, counted from 0, has other numbers than a store")
        if model.ndim == 2 and (np.abs(model.sum(axis=1, dtype=float) - 1) > most_off).any():
            message = f"probabilities of model {number}, counted from 0, do not sum to 1"
            raise _damaged(file, message)


def _columns(frame, classes, file):
    """Labels, as positions in the classes or -1, and other columns of cases, as in a store."""
    columns = dict.fromkeys(("y", *COLUMNS))
    for name, column in {"y": "y", **COLUMNS}.items():
        if column in frame:
            columns[name] = frame[column].to_numpy()
    if columns["y"] is not None:
        codes = {str(label): code for code, label in enumerate(classes.tolist())}
        columns["y"] = np.array([codes.get(label, -1) for label in columns["y"]], np.int64)
    if columns["folds"] is not None and all(map(_INTEGER.fullmatch, columns["folds"])):
        columns["folds"] = columns["folds"].astype(object).astype(int)
    if columns["weights"] is not None:
        # To the last bit, as older versions of pandas do not read them.
        weights = columns["weights"].astype(object).astype(float)
        with located(file=file):
            columns["weights"] = checked_weights(weights, len(frame))
    return columns


def _models(path, n_models):
    """Records of the first models: a batch that was not completed may have left more."""
    if not path.is_file():
        raise _damaged(path, "it is missing")
    content, kinds = io.BytesIO(path.read_bytes()), {"model": str}
    try:
        frame = pd.read_csv(content, dtype=kinds, keep_default_na=False, na_values=[""])
    except ValueError:
        raise _damaged(path, "it is not a CSV file") from None
    if "model" not in frame or len(frame) < n_models:
        raise _damaged(path, "it lists fewer models")
    return frame[:n_models].set_index("model")


def _read_record(path):
    """The record of a folder, or an error."""
    file = path / STORE_JSON
    if not file.is_file():
        message = f"must be a folder of predictions; `{path}` has no `{STORE_JSON}`"
        raise InputError(
            message,
            argument="folder",
            remedy="`build_library` and `PredictionStore.save` write one",
            cli_remedy="`bnmtl library` writes one; a CSV file will do, too",
        )
    try:
        record = json_of(file.read_text(encoding="utf-8"))
    except ValueError:
        raise _damaged(file, "it is not JSON") from None
    found = {key: record.get(key) for key in _FORMAT} if isinstance(record, dict) else {}
    if found != _FORMAT:
        message = "must be of version 1 of the format for predictions; it is of another one"
        raise InputError(message, file=file)
    try:
        is_right = _names_its_own_files(record)
    except (KeyError, TypeError, AttributeError):
        raise _damaged(file, "it lacks entries") from None
    if not is_right:
        raise _damaged(file, "it names files that a store cannot have")
    return record


def _names_its_own_files(record):
    """Whether parts, batches and files have names that lie in the folder."""
    files = [PurePosixPath(name) for name in record["files"]]
    batches = [batch["file"] for batch in record["batches"]]
    return (
        isinstance(record["files"], list)
        and all(part.isidentifier() for part in record["parts"])
        and batches == [_name_of_batch(at) for at in range(len(batches))]
        and not any(file.is_absolute() or ".." in file.parts for file in files)
    )


def _checked(path, digest):
    """The contents of a file of the store, or an error if they are missing or damaged."""
    _check_contents(path, digest)
    return path.read_bytes()


def _check_contents(path, digest):
    """Raise if a file of the store is missing or damaged."""
    if not path.is_file():
        raise _damaged(path, "it is missing")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, _hash)
    if found.hexdigest() != digest:
        raise _damaged(path, "its contents are damaged")


def _mapped(path):
    shape = np.load(path, mmap_mode="r", allow_pickle=False).shape
    return OnDisk(path, shape, _identity(path))


def _identity(path):
    """What tells a file from another one of the same name."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _damaged(path, found):
    is_record = path.name == STORE_JSON
    rule = "must be as it was written" if is_record else "must be as `store.json` says"
    message = f"{rule}; {found}"
    return InputError(message, file=path, remedy="make the store again")


def _digest_of_names(settings):
    return _digest(json.dumps(list(settings.index)).encode())


def _hash(content=b""):
    return hashlib.blake2b(content, digest_size=16)


def _digest(content):
    return _hash(content).hexdigest()
