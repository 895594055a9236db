"""Builds of libraries: many models trained in processes of their own, and their predictions."""

import contextlib
import json
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.calibration.classifier import METHODS
from bnmtl.ensembles import folder as on_disk
from bnmtl.ensembles.library import refit, workers
from bnmtl.ensembles.library.columns import Rows, check_hillclimb, read_cases, saved
from bnmtl.ensembles.library.families import COMPILED, compile_networks
from bnmtl.ensembles.library.record import (
    HILLCLIMB_CSV,
    LIBRARY_JSON,
    MODELS_FOLDER,
    ROWS_CSV,
    SKIPPED_COLUMNS,
    SKIPPED_CSV,
    LibraryRecord,
    read_library_json,
    read_skipped,
    rows_as_bytes,
    write_skipped,
)
from bnmtl.ensembles.library.settings import CALIBRATED, RAW, digest_of, fits_of
from bnmtl.ensembles.library.trained import train
from bnmtl.ensembles.store import HILLCLIMB, PredictionStore
from bnmtl.errors import (
    InputError,
    InputTypeError,
    check_choice,
    check_flag,
    check_jobs,
    check_number,
    check_whole,
    warn,
)
from bnmtl.processes import n_workers, report_start
from bnmtl.progress import Reporter
from bnmtl.seeding import check_seed, seed_of
from bnmtl.wording import count, listed, type_of
from bnmtl.writing import locked

TEST, SIBLING = "test", "sibling"
MODERN, N_FOLDS = "modern", 5  # the default profile, and its folds
SHARE = 0.2  # of the rows for hill climbing, without folds


def build_library(
    X,
    y,
    profile="modern",
    hillclimb=None,
    cv=None,
    test=None,
    out=None,
    time_limit=None,
    max_memory=None,
    keep_models=False,
    n_jobs=None,
    random_state=None,
    progress=False,
    each_sibling=False,
    force=False,
    calibration="auto",
    groups=None,
    task_column=None,
):
    """Train a library of models and store their predictions.

    Each model is stored twice: raw, and calibrated on the cases of hill climbing.
    A fit runs in a process of its own; one that fails or takes too long is skipped. Every process
    holds the rows once, and one fit with its predictions; this process holds, besides the rows, the
    predictions of one fit if there is a folder, and of all models otherwise.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_rows, n_columns)
        Numeric and nominal columns. Missing cells are handed to trees and networks, and become the
        median or the most frequent category for the others.
    y : array-like of shape (n_rows,)
        Labels of two classes or more. Of two, a library predicts the second, sorted.
    profile : "modern", "small", "thesis", or a list of settings, default="modern"
        "modern" is 42 models, 48 with nominal columns: gradient boosting, extra trees, random
        forests, logistic regression, support vectors and networks. "small" is about 150 models, 190
        with nominal columns. "thesis" has about 1200, 1400: the grids of appendix 4.B without the
        tree styles BAYES, C4, MML and SMML, three of five criteria of stumps, and kernel estimates
        and supervised bins of naive Bayes; and networks and ensembles of trees that are not in the
        appendix. A setting is a dictionary with a family and its parameters, such as ``{"family":
        "SVMs", "kernel": "rbf", "C": 10}``, or a classifier, or a pair of a name and a classifier.
        These receive a frame of floats and categories.
    hillclimb : float, int or (X, y), default=None
        Share or number of the rows that are held out of training, for calibration and selection; or
        other rows for it. None with folds; without, it is a fifth.
    cv : int, default=None
        Number of folds of embedded cross-validation: a model is one sibling for each fold, which
        predicts the rows of its fold and is calibrated on them, so that all rows are used for hill
        climbing. New rows get the mean of the siblings. Without ``hillclimb``, None is five folds
        for "modern", fewer if a class has fewer rows, and no folds for the other profiles, which
        have many more models.
    test : (X, y), default=None
        Further rows to predict, as the part "test". Their labels may be None.
    out : str or path-like, default=None
        A folder in which the store is built, with the training rows. A build that was interrupted
        goes on if rows, settings and ``random_state`` are the same.
    time_limit : float, default=None
        Seconds after which a fit with its predictions is ended and skipped.
    max_memory : int, default=None
        Bytes of data that all processes together may have; a fit that needs more than its share is
        skipped. Only on Linux.
    keep_models : bool, default=False
        Whether to keep the trained models in the folder, for `load_model`. Must be so from the
        first call for the folder.
    n_jobs : int, default=None
        Number of processes; None is 1, -1 is all cores. Only the order of the models may depend on
        it.
    random_state : None, int or numpy.random.Generator, default=None
    progress : bool or callable, default=False
        As in `EnsembleSelector`.
    each_sibling : bool, default=False
        With ``cv`` and ``test``: whether to add the parts "sibling1", "sibling2", ... with the test
        predictions of one sibling each.
    force : bool, default=False
        Whether to replace a store in the folder, also an unfinished one of the same rows. If it has
        other files, nothing is removed.
    calibration : {"auto", "platt", "beta", "isotonic", "temperature"}, default="auto"
        How models are calibrated, as by `CalibratedClassifier`; that of the thesis is "platt".
    groups : array-like of shape (n_rows,), default=None
        The group of each row, such as a patient. Folds, and the share of hill climbing, which is
        then one of the groups, never divide a group; neither do the folds of selections.
    task_column : str or int, default=None
        The column of ``X`` that names the task of each row, such as a region, or its position in an
        array. It is a category for all families but "networks of all tasks", which learns one
        network for each task, together. The store has the task of each case. Folds, and the share
        of hill climbing, have their share of each task, unless there are groups; a row of a task
        that the training rows lack is an error.

    Returns
    -------
    PredictionStore
        With the attributes ``library``, a record of how it was made, and ``skipped``, a DataFrame
        of the models that could not be trained and why.

    Raises
    ------
    TypeError, ValueError
        For arguments out of range, labels with one class or more than two, columns that are not
        numbers where they were, and a folder with another store.

    Warns
    -----
    UserWarning
        If models were skipped.

    References
    ----------
    Niculescu-Mizil (2008), chapter 4 and appendix 4.B.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> settings = [{"family": "logistic regression", "ridge": ridge} for ridge in (0.1, 10)]
    >>> store = build_library(X, y, settings, random_state=0)
    >>> store.score("accuracy").round(3).tolist()
    [0.974, 0.974, 0.965, 0.974]
    """
    _check(time_limit, max_memory, keep_models, out, n_jobs, random_state, force)
    check_hillclimb(hillclimb, cv)
    check_choice("calibration", calibration, METHODS)
    has_folds = isinstance(profile, str) and profile == MODERN and hillclimb is None
    if cv is None and hillclimb is None and not has_folds:
        hillclimb = SHARE
    rows = Rows(X, y, hillclimb, test, groups=groups, task_column=task_column)
    if cv is None and has_folds:
        cv = rows.most_folds(N_FOLDS)
    _check_siblings(each_sibling, cv, test)
    earlier = None if out is None or force else read_library_json(Path(out))
    seed = earlier.seed if earlier is not None and random_state is None else seed_of(random_state)
    cases = replace(rows.cases(cv, seed), calibration=calibration)
    n_rows = min(len(labels) for _, labels, _ in cases.splits())
    fits = fits_of(profile, n_rows, rows.columns)
    store = _without_models(rows, cases, each_sibling)
    store.library = _record(rows, cv, seed, fits, calibration)
    n = n_workers(n_jobs, len(fits))
    workers.check_memory(max_memory, n)
    with contextlib.nullcontext() if out is None else locked(out, "out"):
        if out is not None:
            store = _opened(store, rows, earlier, Path(out), force)
            _check_kept(store, keep_models)
        build = _Build(store, fits, cases, time_limit, max_memory, n, keep_models)
        with Reporter(progress) as report:
            build.run(report)
        return build.finished()


def _check_siblings(each_sibling, cv, test):
    check_flag("each_sibling", each_sibling)
    if each_sibling and (cv is None or test is None):
        message = "must be False without `cv` and `test`"
        raise InputError(message, argument="each_sibling", options=("cv", "test"))


def _check(time_limit, max_memory, keep_models, out, n_jobs, random_state, force):
    check_number("time_limit", time_limit, above=0, optional=True)
    check_whole("max_memory", max_memory, least=1, optional=True)
    workers.check_memory_limit(max_memory)
    check_jobs(n_jobs)
    check_seed(random_state)
    check_flag("keep_models", keep_models)
    check_flag("force", force)
    if out is not None and not isinstance(out, str | os.PathLike):
        message = f"must be the path of a folder or None, got {type_of(out)}"
        raise InputTypeError(message, argument="out")
    if keep_models and out is None:
        message = "must be False without a folder"
        raise InputError(message, argument="keep_models", options=("out",), remedy="set `out`")


def _record(rows, cv, seed, fits, calibration):
    is_given = isinstance(rows.hillclimb, tuple)
    categories = rows.columns.categories.items()
    return LibraryRecord(
        rows.digest(),
        {name: None if known is None else list(known) for name, known in categories},
        rows.label,
        None if is_given or cv is not None else rows.hillclimb,
        None if cv is None else int(cv),
        seed,
        tuple(name for fit in fits for name in fit.names),
        digest_of(fits),
        {fit.names[0]: fit.estimator for fit in fits if fit.estimator is not None},
        calibration=calibration,
        group=rows.group,
        task_column=rows.columns.task,
    )


def _without_models(rows, cases, each_sibling):
    """A store in memory with all cases and no models."""
    y = {HILLCLIMB: rows.classes[cases.hillclimb_y]}
    numbers = {HILLCLIMB: len(cases.hillclimb_y)}
    if rows.test is not None:
        siblings = range(1, cases.folds.max() + 2) if each_sibling else ()
        for part in (TEST, *(f"{SIBLING}{number}" for number in siblings)):
            numbers[part] = len(rows.test[0])
            if rows.test[1] is not None:
                y[part] = rows.classes[rows.test[1]]
    shape, task = cases.shape_of_case, None
    if rows.columns.task is not None:
        of_test = None if rows.test is None else rows.columns.tasks_in(rows.test[0])
        task = dict.fromkeys(numbers, of_test) | {HILLCLIMB: cases.hillclimb_tasks}
    return PredictionStore(
        {part: np.empty((0, number, *shape)) for part, number in numbers.items()},
        y,
        folds=cases.folds,
        task=task,
        groups=cases.groups,
    )


def _opened(store, rows, earlier, folder, force):
    """The store on disk: an earlier one of the same library, or a new one."""
    if earlier is not None and earlier != store.library:
        message = (
            "must be a new folder, or have an unfinished library of the same rows and settings, "
            f"got `{folder}`, which has another library"
        )
        remedy = "choose another one, or set `force=True` to replace it"
        raise InputError(message, argument="out", options=("force",), remedy=remedy)
    if earlier is None:
        others = {
            LIBRARY_JSON: store.library.as_bytes(),
            ROWS_CSV: rows_as_bytes(rows, rows.X, rows.y, rows.groups),
        }
        if isinstance(rows.hillclimb, tuple):
            others[HILLCLIMB_CSV] = rows_as_bytes(rows, *rows.hillclimb)
        on_disk.write(store, folder, force, others)
    opened = PredictionStore.open(folder)
    if list(opened.parts) != list(store.parts):
        message = (
            f"must be as in the first call for `{folder}`, whose parts are {listed(opened.parts)}"
        )
        raise InputError(message, argument="each_sibling")
    opened.library = store.library  # with the classifiers of the user
    return opened


def _check_kept(store, keep_models):
    """Raise if models are to be kept where some were not."""
    files = store.settings.get("file", pd.Series(None, store.settings.index, dtype=object))
    if keep_models and files.isna().any():
        message = f"must be as in the first call for `{store.path}`; its models were not kept"
        remedy = "leave it out, or set `force=True` to train them again"
        raise InputError(message, argument="keep_models", options=("force",), remedy=remedy)


class _Build:
    """One build: what is to be trained, and what was."""

    def __init__(self, store, fits, cases, time_limit, max_memory, n_workers, keep_models):
        self.store, self.cases, self.keep_models = store, cases, keep_models
        self.time_limit, self.max_memory, self.n_workers = time_limit, max_memory, n_workers
        earlier = read_skipped(store.path)
        # Those that were skipped under the same limits still are.
        limits = earlier[["time_limit", "max_memory"]].fillna(0)
        is_same = (limits == [time_limit or 0, max_memory or 0]).all(axis=1)
        self.skipped = earlier[is_same].reset_index(drop=True)
        present = set(store.names) | set(self.skipped["model"])
        self.fits = [fit.only(set(fit.names) - present) for fit in fits]
        self.fits = [fit for fit in self.fits if fit.names]
        if store.path is not None and (self.fits or len(earlier)):
            models = [f"{MODELS_FOLDER}/{refit.file_of(fit)}" for fit in self.fits if keep_models]
            on_disk.list_files(store.path, [SKIPPED_CSV, *models])
        if len(self.skipped) < len(earlier):
            write_skipped(store.path, self.skipped)

    def run(self, report):
        """Train all fits that are missing."""
        total = len(self.store.library.models)
        done = total - sum(len(fit.names) for fit in self.fits)
        report("models", None, done, total)
        if not self.fits:
            return
        folder = None
        if self.keep_models:
            folder = self.store.path / MODELS_FOLDER
            folder.mkdir(exist_ok=True)
        memory = None if self.max_memory is None else self.max_memory // self.n_workers
        each = any(part.startswith(SIBLING) for part in self.store.parts)
        # Compilers need more memory than a limit for the models may leave.
        has_networks = any(fit.family in COMPILED for fit in self.fits)
        warm_up = compile_networks if has_networks and memory is None else None
        n = min(self.n_workers, len(self.fits))
        limits = n, self.time_limit, memory
        report_start(report, n)
        with saved(self.cases) as path:

            def arguments(fit):
                return fit, self.store.library.seed, path, each, folder

            for finished in workers.run(_trained, self.fits, arguments, *limits, warm_up):
                self._add(finished)
                done += len(finished.task.names)
                report("models", None, done, total)

    def _add(self, finished):
        """Store the predictions of a fit, or why there are none."""
        fit, failure = finished.task, finished.failure
        if failure is None:
            try:
                self.store.append(*finished.result)
                return
            except InputError as error:
                if error.argument != "predictions":
                    raise
                failure = "its predictions are not probabilities"
        values = [failure, round(finished.seconds, 3), self.time_limit, self.max_memory]
        lines = [[name, fit.family, *values] for name in fit.names]
        added = pd.DataFrame(lines, columns=list(SKIPPED_COLUMNS))
        self.skipped = added if self.skipped.empty else pd.concat([self.skipped, added])
        self.skipped = self.skipped.reset_index(drop=True)
        if self.store.path is not None:
            write_skipped(self.store.path, self.skipped)

    def finished(self):
        """The store, with a warning if models were skipped."""
        self.store.skipped = self.skipped
        if len(self.skipped):
            name, reason = self.skipped.loc[0, ["model", "reason"]]
            if not self.store.n_models:
                message = f"must have settings that can be trained; `{name}`: {reason}"
                raise InputError(message, argument="profile")
            message = (
                f"has {len(self.skipped)} of {count(len(self.store.library.models), 'setting')} "
                f"that were skipped; first `{name}`: {reason}"
            )
            warn(
                message,
                argument="profile",
                remedy="`skipped` of the store lists them",
                cli_remedy="skipped.csv in STORE lists them",
            )
        return self.store


def _trained(fit, seed, path, each_sibling, folder):
    """In a worker: train a fit; return predictions by part, names and settings of its models."""
    cases = read_cases(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        found = train(fit, seed, cases)
    warning = " ".join(str(caught[0].message).split()) if caught else ""
    file, digest = refit.save(folder, fit, found.siblings) if folder else ("", "")
    by_part = {HILLCLIMB: found.hillclimb}
    if cases.test is not None:
        by_part[TEST] = found.test.mean(axis=0)
        for number, of_sibling in enumerate(found.test if each_sibling else (), 1):
            by_part[f"{SIBLING}{number}"] = of_sibling
    # All raw models, and then all calibrated ones.
    predictions = {part: p.reshape(-1, *p.shape[2:]) for part, p in by_part.items()}
    pairs = [(at, kind) for kind in (RAW, CALIBRATED) for at in range(len(fit.names))]
    settings = [
        {
            "family": fit.family,
            "parameters": json.dumps(fit.members[at], sort_keys=True),
            "columns": fit.form,
            "calibrated": kind == CALIBRATED,
            "imputed": found.imputed,
            "seconds": round(found.seconds / len(fit.names), 4),
            "bytes": found.bytes,
            "warning": warning,
            **({"file": file, "digest": digest} if folder else {}),
        }
        for at, kind in pairs
    ]
    return predictions, [fit.names[at] + kind for at, kind in pairs], settings
