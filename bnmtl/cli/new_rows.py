"""New cases of `bnmtl select --predict`, and their predictions by the selected ensemble."""

from bnmtl.cli.columns import check_new_columns
from bnmtl.cli.messages import renamed
from bnmtl.ensembles.csv import probabilities
from bnmtl.ensembles.library.record import training_rows
from bnmtl.errors import InputError, located


def read_new_rows(path, store):
    """Read new cases; raise if they cannot be predicted with a store.

    Parameters
    ----------
    path : str
    store : PredictionStore

    Returns
    -------
    pandas.DataFrame
        One column per model, and others; models that will not be in the ensemble may be missing.
        Or, for a library with its training rows, the columns of these.
    """
    from bnmtl.tasks.files import read_rows

    if store.path is not None:
        return _read_features(path, store)
    rows = read_rows(path)
    models = [name for name in store.names if name in rows]
    if not models:
        rule, found = "must have one column per model, such as {model}", "it has {columns}"
        details = {"model": store.names[0], "columns": list(rows)}
        raise InputError(rule=rule, found=found, file=path, **details)
    with located(file=path):
        probabilities(rows[models])
    check_new_columns(rows.drop(columns=models), class_columns(store.classes), "rows")
    return rows


def _read_features(path, store):
    """New cases for the models of a library, which are trained again."""
    from bnmtl.tasks.files import read_rows

    if training_rows(store) is None:
        rule = "must come with training rows, on which the chosen models are trained again"
        found = "{folder} keeps none"
        remedies = "predict with each model, and give CSV files of predictions as STORE and ROWS"
        raise InputError("predict", rule, found=found, remedies=remedies, folder=str(store.path))
    columns = store.library.known_columns
    nominal = [name for name, known in columns.categories.items() if known is not None]
    rows = read_rows(path, nominal)
    with located(file=path):
        columns.matrix(rows)
    check_new_columns(rows, class_columns(store.classes), "rows")
    return rows


def class_columns(classes):
    """Names of the columns with the probability of each class."""
    return [f"p_{label}" for label in classes.tolist()]


def predictions_of(selector, rows):
    """Probabilities of the classes of new cases by a selected ensemble.

    Parameters
    ----------
    selector : EnsembleSelector
        Fitted.
    rows : pandas.DataFrame
        From `read_new_rows`.

    Returns
    -------
    numpy.ndarray of float, shape (n_rows, n_classes)

    Raises
    ------
    InputError
        If a model of the ensemble is missing or cannot be trained again.
    """
    store = selector.store_
    if store.path is None:
        with renamed("part", "rows"):
            return selector.predict_proba(rows)
    X, y, hillclimb = training_rows(store)
    return selector.refit(X, y, hillclimb=hillclimb).predict_proba(rows)
