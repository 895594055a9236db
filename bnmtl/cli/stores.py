"""The predictions that `bnmtl select` reads: a folder, or tables with one column per model."""

from pathlib import Path

from bnmtl.cli.messages import renamed
from bnmtl.ensembles import PredictionStore
from bnmtl.ensembles.csv import from_tables, no_label
from bnmtl.ensembles.selector import check_store
from bnmtl.ensembles.store import HILLCLIMB
from bnmtl.errors import InputError

TEST = "test"
_LABEL = "y"  # unless the option names another column


def read_store(options):
    """Return the store of a run, with the part "test" if all its models predict test cases.

    Parameters
    ----------
    options : SelectOptions

    Returns
    -------
    PredictionStore

    Raises
    ------
    InputError
        If a file is missing, damaged or invalid, or options do not fit the kind of store.
    """
    store = _opened(options) if Path(options.store).is_dir() else _of_tables(options)
    check_store(store)
    return store


def _opened(options):
    if options.label is not None:
        rule, found = "must come with a CSV file", "the folder {folder} has its labels in it"
        remedies = "leave it out"
        raise InputError("label", rule, found=found, remedies=remedies, folder=options.store)
    with renamed("folder", "store"):
        return PredictionStore.open(options.store)


def _of_tables(options):
    from bnmtl.tasks.files import read_rows

    files = {HILLCLIMB: options.store} | ({TEST: options.test} if options.test else {})
    label = options.label or _LABEL
    tables = {part: read_rows(file) for part, file in files.items()}
    for part, table in tables.items():
        if label not in table:
            raise no_label(label, table, files[part])
    return PredictionStore(**from_tables(tables, label, HILLCLIMB, files))
