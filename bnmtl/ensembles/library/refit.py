"""Classifiers of new rows from models of a library, which are kept or trained again."""

import hashlib
import json
import re
import secrets
import warnings
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles.entries import mean_prediction, rounded, whole_numbers
from bnmtl.ensembles.library import workers
from bnmtl.ensembles.library.columns import Rows, read_cases, saved
from bnmtl.ensembles.library.record import MODELS_FOLDER
from bnmtl.ensembles.library.settings import CALIBRATED, RAW, Fit, joined
from bnmtl.ensembles.library.trained import train
from bnmtl.ensembles.store import PredictionStore
from bnmtl.errors import InputError, InputTypeError, check_jobs, warn
from bnmtl.processes import n_workers, report_start
from bnmtl.progress import Reporter
from bnmtl.tasks.labels import LabelScore
from bnmtl.threads import fitted_alone
from bnmtl.wording import type_of
from bnmtl.writing import path_inside

_TOLERANCE = 1e-6


class LibraryEnsemble(LabelScore, ClassifierMixin, BaseEstimator):
    """The weighted mean of models of a library, as a classifier of new rows.

    `EnsembleSelector.refit` makes and fits one; `load_model` makes one of a single model.

    Parameters
    ----------
    store : PredictionStore
        Built by `build_library`. It is not saved with a fitted ensemble.
    weights : pandas.Series by model
        Weights of the mean, of any sum. Models with weight 0 are not trained.
    check : bool, default=True
        Whether the predictions for hill climbing must be those of the store, as for the same rows.
    n_jobs : int, default=None
        Number of processes, as in `build_library`.
    progress : bool or callable, default=False

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    feature_names_in_ : numpy.ndarray of str
        The columns, sorted; they are found by name in a frame.
    n_features_in_ : int
    n_models_ : int
        Number of models with a weight.
    weights_ : pandas.Series by model
        The weights above 0.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: if `build_library` did not make the models, the rows are others and ``check`` is
        True, or a model cannot be trained.
    """

    def __init__(self, store, weights, check=True, n_jobs=None, progress=False):
        self.store = store
        self.weights = weights
        self.check = check
        self.n_jobs = n_jobs
        self.progress = progress

    def __getstate__(self):
        """What is saved: the trained models, without the predictions of the store."""
        state = super().__getstate__()
        return {**state, "store": None} if "members_" in state else state

    @fitted_alone
    def fit(self, X, y, *, hillclimb=None, groups=None):
        """Train the models with a weight, with the seeds of the library.

        Parameters
        ----------
        X, y
            Rows as in `build_library`.
        hillclimb : (X, y), default=None
            The cases of hill climbing, if `build_library` was given them.
        groups : array-like of shape (n_rows,), default=None
            The groups of the rows, if `build_library` was given them.

        Returns
        -------
        LibraryEnsemble
        """
        check_jobs(self.n_jobs)
        record, weights = self._record(hillclimb, groups), self._weights()
        share = hillclimb if record.hillclimb is None else record.hillclimb
        rows = Rows(X, y, share, None, record.known_columns, self.store.classes, groups)
        cases = replace(rows.cases(record.cv, record.seed), calibration=record.calibration)
        fits, trained = _fits_of(self.store, weights), {}
        with Reporter(self.progress) as report, saved(cases) as path:
            report("models", None, 0, len(fits))
            n = n_workers(self.n_jobs, len(fits))
            report_start(report, n)
            for done in workers.run(_again, fits, lambda fit: (fit, record.seed, path), n):
                if done.failure is not None:
                    message = (
                        "must have models that can be trained again; "
                        f"`{done.task.names[0]}`: {done.failure}"
                    )
                    raise InputError(message, argument="store")
                trained[done.task.key], predicted = done.result
                if self.check:
                    _check_same(self.store, done.task, predicted)
                report("models", None, len(trained), len(fits))
        members = [(trained[fit.key], _places_of(fit, weights)) for fit in fits]
        return self.of_members(members, weights, record)

    def _record(self, hillclimb, groups):
        """How the models were made."""
        if not isinstance(self.store, PredictionStore):
            message = f"must be a PredictionStore, got {type_of(self.store)}"
            raise InputTypeError(message, argument="store")
        record = self.store.library
        if record is None:
            message = "must have models made by `build_library`, which alone can be trained again"
            remedy = "predict new rows by each model, for `predict_proba` of the selector"
            raise InputError(message, argument="store", remedy=remedy)
        if record.hillclimb is None and record.cv is None and hillclimb is None:
            message = (
                f"must be the cases of hill climbing that the library was given, got {hillclimb!r}"
            )
            raise InputError(message, argument="hillclimb")
        if hillclimb is not None and (record.hillclimb is not None or record.cv is not None):
            message = "must be None for a library that uses its training rows for hill climbing"
            raise InputError(message, argument="hillclimb")
        if groups is None and record.group is not None:
            message = f"must be those that the library was given, got {groups!r}"
            raise InputError(message, argument="groups")
        if groups is not None and record.group is None:
            raise InputError("must be None for a library without groups", argument="groups")
        return record

    def _weights(self):
        """The weights above 0."""
        if not isinstance(self.weights, pd.Series):
            message = (
                "must be a Series by model, such as `weights_` of an `EnsembleSelector`, got "
                f"{type_of(self.weights)}"
            )
            raise InputTypeError(message, argument="weights")
        unknown = [name for name in self.weights.index if name not in self.store.names]
        if unknown:
            message = f"must be of models of the store, got {unknown[0]!r}"
            raise InputError(message, argument="weights")
        if not (self.weights >= 0).all() or not (self.weights > 0).any():
            message = f"must be 0 or more, one above 0, got {self.weights.tolist()!r}"
            raise InputError(message, argument="weights")
        return self.weights[self.weights > 0] / self.weights.sum()

    def of_members(self, members, weights, record):
        """Set what is learned.

        Parameters
        ----------
        members : list of (list of Sibling, dict of str to (int, int))
            Siblings of each fit, and where its models with a weight are in their predictions.
        weights : pandas.Series by model
            Above 0.
        record : LibraryRecord
        """
        self.members_, self.weights_ = members, weights
        self.columns_ = record.known_columns
        self.classes_ = self.store.classes
        self.feature_names_in_ = np.array(list(record.columns), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.n_models_ = len(weights)
        return self

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_rows, n_columns)

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, n_classes)
        """
        models = self.predict_models(X)
        models = np.stack([models[name].to_numpy() for name in self.weights_.index])
        mean = mean_prediction(whole_numbers(models), self.weights_.to_numpy())
        return np.column_stack([1 - mean, mean]) if mean.ndim == 1 else mean

    def predict_models(self, X):
        """Probabilities by each model with a weight: of the second of two classes, or of each.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_rows, n_columns)

        Returns
        -------
        pandas.DataFrame of float32, shape (n_rows, n_models) or (n_rows, n_models x n_classes)
            Rounded as in a store. Columns are models, or with more than two classes pairs of a
            model and a class. `EnsembleSelector.predict_proba` and `UnusedCases.on_cases` take it.
        """
        check_is_fitted(self, "members_")
        matrix, found = self.columns_.matrix(X), {}
        for siblings, places in self.members_:
            mean = np.mean([sibling.predict(matrix) for sibling in siblings], axis=0)
            found |= {name: rounded(mean[place]) for name, place in places.items()}
        if len(self.classes_) == 2:
            return pd.DataFrame(found)
        columns = pd.MultiIndex.from_product([found, self.classes_], names=["model", "class"])
        return pd.DataFrame(np.concatenate(list(found.values()), axis=1), columns=columns)

    def predict(self, X):
        """The class with the higher probability of each row.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_rows, n_columns)

        Returns
        -------
        numpy.ndarray of shape (n_rows,)
        """
        p = self.predict_proba(X)
        if len(self.classes_) == 2:
            return self.classes_[(p[:, 1] >= 0.5).astype(int)]
        return self.classes_[p.argmax(axis=1)]


def _again(fit, seed, path):
    """In a worker: train a fit; return its siblings and predictions for hill climbing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are recorded in the store
        found = train(fit, seed, read_cases(path))
    return found.siblings, found.hillclimb


def _fits_of(store, weights):
    """Fits of the models with a weight, from their settings."""
    # A store may have only the raw or only the calibrated one of a model.
    models, fits = {name.removesuffix(CALIBRATED): name for name in weights.index}, []
    for name, model in sorted(models.items()):
        settings = store.settings.loc[model]
        estimator = store.library.estimators.get(name)
        parameters = json.loads(settings["parameters"])
        if estimator is None and "classifier" in parameters:
            message = f"must know the classifiers of its library; that of `{name}` is not saved"
            raise InputError(message, argument="store", remedy="use the store as it was built")
        fit = Fit(settings["family"], settings["columns"], (parameters,), (name,), estimator)
        fits.append(fit)
    return joined(fits)


def _places_of(fit, weights):
    """Places of the models with a weight in the predictions of a fit, raw and calibrated."""
    kinds = enumerate((RAW, CALIBRATED))
    places = {name + kind: (row, at) for row, kind in kinds for at, name in enumerate(fit.names)}
    return {name: place for name, place in places.items() if name in weights.index}


def _check_same(store, fit, predicted):
    """Raise unless predictions for hill climbing are those of the store."""
    all_stored, places = store.predictions(), {name: at for at, name in enumerate(store.names)}
    for kind, models in zip((RAW, CALIBRATED), predicted, strict=True):
        for name, values in zip(fit.names, models, strict=True):
            if name + kind not in places:
                continue
            stored = all_stored[places[name + kind]]
            same_cases = len(stored) == len(values)
            if same_cases and np.abs(stored - rounded(values)).max() <= _TOLERANCE:
                continue
            message = (
                f"must be the rows from which the library was built; `{name + kind}` predicts its "
                "cases of hill climbing differently"
            )
            remedy = "give those rows, or set `check=False`"
            raise InputError(message, argument="X", options=("check",), remedy=remedy)


def file_of(fit):
    """The name of the file with the siblings of a fit."""
    key = [fit.key, list(fit.names)]
    return hashlib.blake2b(json.dumps(key).encode(), digest_size=8).hexdigest() + ".joblib"


def save(folder, fit, siblings):
    """Save the siblings of a fit as one joblib file; return its name and digest."""
    name = file_of(fit)
    temporary = folder / f".bnmtl-{secrets.token_hex(8)}.partial"
    try:
        joblib.dump((fit.names, siblings), temporary)
        digest = _digest(temporary)
        temporary.replace(folder / name)
    except OSError as error:
        # Errors must not mention the temporary file, or no file at all, as on a full disk.
        raise OSError(error.errno, error.strerror, str(folder / name)) from error
    finally:
        temporary.unlink(missing_ok=True)
    return name, digest


def load_model(store, model):
    """Load a trained model that was kept with its library.

    The file of a model is a pickle: whoever wrote it can have put any program into it, which runs
    when it is loaded, with your rights. The digest in the store says only that the file is the one
    that the store lists, not who wrote both. So load models only from stores that you built, or of
    somebody whose programs you would run. Nothing else in this package unpickles files that it is
    given.

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
        message = f"must be the name of a model of the store, got {model!r}"
        raise InputError(message, argument="model")
    settings = store.settings.loc[model]
    if store.path is None or pd.isna(settings.get("file")):
        message = "must have kept its models"
        raise InputError(message, argument="store", remedy="build it with `keep_models=True`")
    if not re.fullmatch(r"\w+\.joblib", str(settings["file"])):
        message = "must name files of models; it names another one"
        raise InputError(message, file=store.path / "models.csv")
    path = path_inside(store.path, f"{MODELS_FOLDER}/{settings['file']}", store.path / "models.csv")
    if not path.is_file() or _digest(path) != settings["digest"]:
        message = (
            f"must be as it was written; {'it is damaged' if path.is_file() else 'it is missing'}"
        )
        raise InputError(message, file=path, remedy="build the library again")
    warn("has models whose files run code when they are loaded; loading one", argument="store")
    names, siblings = joblib.load(path)
    kind = CALIBRATED if settings["calibrated"] else RAW
    place = (RAW, CALIBRATED).index(kind), names.index(model.removesuffix(kind))
    weights = pd.Series({model: 1.0})
    ensemble = LibraryEnsemble(store, weights)
    return ensemble.of_members([(siblings, {model: place})], weights, store.library)


def _digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
