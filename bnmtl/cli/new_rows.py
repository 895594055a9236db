"""New cases of `bnmtl select --predict`, and their predictions by the selected ensemble."""

from bnmtl.cli.columns import check_new_columns
from bnmtl.cli.messages import renamed
from bnmtl.ensembles.csv import probabilities
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
        One column per model, and others. Models that will not be in the ensemble may be missing.
    """
    from bnmtl.tasks.files import read_rows

    if store.path is not None:
        rule = "must come with training rows, on which the chosen models are trained again"
        found = "{folder} keeps none"
        remedies = "predict with each model, and give CSV files of predictions as STORE and ROWS"
        raise InputError("predict", rule, found=found, remedies=remedies, folder=str(store.path))
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
        If a model of the ensemble is missing.
    """
    with renamed("part", "rows"):
        return selector.predict_proba(rows)
