"""Trained models of a library that are kept in its folder."""

import hashlib
import json
import os
import re
import secrets
from pathlib import Path

import joblib
import pandas as pd

from bnmtl.ensembles.library.record import MODELS
from bnmtl.ensembles.library.refit import LibraryEnsemble
from bnmtl.ensembles.library.settings import CALIBRATED, RAW
from bnmtl.errors import InputError, warn


def folder_of(path):
    """The folder of the models of a store, which is made if it is missing."""
    folder = Path(path) / MODELS
    folder.mkdir(exist_ok=True)
    return str(folder)


def file_of(fit):
    """The name of the file with the siblings of a fit."""
    key = [fit.key, list(fit.names)]
    return hashlib.blake2b(json.dumps(key).encode(), digest_size=8).hexdigest() + ".joblib"


def save(folder, fit, siblings):
    """Save the siblings of a fit as one joblib file; return its name and digest."""
    name = file_of(fit)
    place = Path(folder) / name
    temporary = place.with_name(f".bnmtl-{os.getpid()}-{secrets.token_hex(3)}.partial")
    try:
        joblib.dump((fit.names, siblings), temporary)
        digest = _digest(temporary)
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)
    return name, digest


def load_model(store, model):
    """Load a trained model that was kept with its library.

    Loading runs code that is in the file, so do it only for stores that you trust.

    Parameters
    ----------
    store : PredictionStore
        On disk, built with ``keep_models=True``.
    model : str
        Name of the model.

    Returns
    -------
    LibraryEnsemble
        Of this model alone, for rows with the columns of the training rows.

    Raises
    ------
    InputError
        If the store does not keep the model, or its file is missing or damaged.

    Warns
    -----
    UserWarning
        That loading runs code.
    """
    if model not in store.names:
        raise InputError("model", "must be the name of a model of the store", model)
    settings = store.settings.loc[model]
    if store.path is None or pd.isna(settings.get("file")):
        rule, remedies = "must have kept its models", "build it with `keep_models=True`"
        raise InputError("store", rule, remedies=remedies)
    if not re.fullmatch(r"\w+\.joblib", str(settings["file"])):
        rule, found = "must name files of models", "it names another one"
        raise InputError(rule=rule, found=found, file=store.path / "models.csv")
    path = store.path / MODELS / settings["file"]
    if not path.is_file() or _digest(path) != settings["digest"]:
        found = "it is damaged" if path.is_file() else "it is missing"
        rule, remedies = "must be as it was written", "build the library again"
        raise InputError(rule=rule, found=found, remedies=remedies, file=path)
    warn("store", "has models whose files run code when they are loaded", found="loading one")
    names, siblings = joblib.load(path)
    kind = CALIBRATED if settings["calibrated"] else RAW
    place = (RAW, CALIBRATED).index(kind), names.index(model.removesuffix(kind))
    weights = pd.Series({model: 1.0})
    ensemble = LibraryEnsemble(store, weights)
    return ensemble.of_members([(siblings, {model: place})], weights, store.library)


def _digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
