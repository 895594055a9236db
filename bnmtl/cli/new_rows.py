"""New cases of `bnmtl select`, and their predictions by the models of the selected ensemble.

For a table of predictions, new cases have one column per model. For a library they have its
features, and the models are trained again.
"""

from dataclasses import dataclass

import numpy as np

from bnmtl.cli.columns import check_complete, check_new_columns, read_table
from bnmtl.ensembles import LibraryEnsemble, best_single
from bnmtl.ensembles.csv import probabilities
from bnmtl.ensembles.library.record import training_rows
from bnmtl.errors import InputError, located, warn

ROWS, TEST = "rows", "test"
_TABLES = {"predict": "ROWS", "test": "TABLE"}


@dataclass(frozen=True)
class NewCases:
    """Cases of `--predict`, and those of `--test` that are not in the store.

    Attributes
    ----------
    tables : dict of str to pandas.DataFrame
        "rows" to predict, and "test" cases; either may be missing.
    y : pandas.Series or None
        Labels of the test cases.
    """

    tables: dict
    y: object

    def predicted(self, selector):
        """Predictions by the models with a weight and, of test cases, by the best single model.

        Models of a library are trained again, each once.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted.

        Returns
        -------
        dict of str to pandas.DataFrame
            For each table, one column per model.

        Raises
        ------
        InputError
            If a model cannot be trained again.
        """
        store, weights = selector.store_, selector.weights_
        if store.path is None or not self.tables:
            return self.tables
        if TEST in self.tables:
            # All models with a weight in either are trained.
            weights = (weights + best_single(store, selector.metric).weights_) / 2
        X, y, hillclimb, groups = training_rows(store)
        options = {"n_jobs": selector.n_jobs, "progress": selector.progress}
        models = LibraryEnsemble(store, weights, **options).fit(
            X, y, hillclimb=hillclimb, groups=groups
        )
        return {name: models.predict_models(table) for name, table in self.tables.items()}


def read_new_cases(options, store):
    """Read new cases; raise if they cannot be predicted with a store.

    Parameters
    ----------
    options : SelectOptions
    store : PredictionStore

    Returns
    -------
    NewCases
    """
    tables, y, is_library = {}, None, store.path is not None
    for option in _TABLES:
        if is_library and getattr(options, option) is not None:
            _check_rows_are_kept(option, store)
    if options.predict is not None:
        read = _read_features if is_library else _read_predictions
        tables[ROWS] = read(options.predict, store, options)
        others = without_models(tables[ROWS], store)
        check_new_columns(others, class_columns(store.classes), ROWS)
    if options.test is not None and is_library:
        tables[TEST], y = _read_test(options.test, store, options)
    return NewCases(tables, y)


def _check_rows_are_kept(option, store):
    if training_rows(store) is None:
        rule = "must come with training rows, on which the chosen models are trained again"
        found, files = "{folder} keeps none", f"STORE and {_TABLES[option]}"
        remedies = f"predict with each model, and give CSV files of predictions as {files}"
        raise InputError(option, rule, found=found, remedies=remedies, folder=str(store.path))


def _read_predictions(path, store, options):
    """New cases with one column per model, and others.

    Models that will not be in the ensemble may be missing.
    """
    rows = read_table(path, options)
    models = [name for name in store.names if name in rows]
    if not models:
        rule, found = "must have one column per model, such as {model}", "it has {columns}"
        details = {"model": store.names[0], "columns": list(rows)}
        raise InputError(rule=rule, found=found, file=path, **details)
    with located(file=path):
        probabilities(rows[models])
    return rows


def _read_features(path, store, options, argument=ROWS, as_text=()):
    """New cases with the features of a library."""
    columns = store.library.known_columns
    nominal = [name for name, known in columns.categories.items() if known is not None]
    rows = read_table(path, options, [*nominal, *as_text], store.library.na_values)
    with located(file=path):
        matrix = columns.matrix(rows, argument)
    unknown = np.isnan(matrix) & rows[list(columns.categories)].notna().to_numpy()
    _warn_of_unknown(argument, dict(zip(columns.categories, unknown.sum(axis=0), strict=True)))
    return rows


def _warn_of_unknown(argument, counts):
    """Warn about categories that are not in the training rows; the counts are by column."""
    some = [f"{n} in `{name}`" for name, n in counts.items() if n]
    if some:
        rule = "has values that are not in the training rows, treated as missing"
        warn(argument, rule, found="{some!s}", some=", ".join(some))


def _read_test(path, store, options):
    """Features and labels of test cases for a library."""
    label, classes = store.library.label, store.classes.tolist()
    as_text = [label] if isinstance(classes[0], str) else []
    rows = _read_features(path, store, options, TEST, as_text)
    with located(file=path):
        if label not in rows:
            rule, found = "must have the labels of the library, {label}", "it has {columns}"
            raise InputError(TEST, rule, found=found, label=label, columns=list(rows))
        y = rows[label]
        check_complete(y, TEST, y.isna().to_numpy())
        other = y[~y.isin(classes)]
        if len(other):
            rule = "must have only the classes {classes}"
            raise InputError(TEST, rule, other.iloc[0], column=label, classes=classes)
        if y.nunique() < 2:
            rule, found = "must have two classes or more", "all are {label!r}"
            raise InputError(TEST, rule, found=found, column=label, label=y.iloc[0])
    return rows, y


def without_models(rows, store):
    """Columns of rows that are not predictions of models."""
    if store.path is not None:
        return rows
    return rows.drop(columns=[name for name in store.names if name in rows])


def class_columns(classes):
    """Names of the columns with the probability of each class."""
    return [f"p_{label}" for label in classes.tolist()]
