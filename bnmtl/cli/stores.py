"""The predictions that `bnmtl select` reads: a folder, or tables with one column per model."""

from pathlib import Path

from bnmtl.cli.columns import check_complete, na_option, na_values, names_of_rows
from bnmtl.cli.messages import renamed
from bnmtl.ensembles import PredictionStore
from bnmtl.ensembles.csv import from_tables, no_label
from bnmtl.ensembles.library.settings import CALIBRATED
from bnmtl.ensembles.selector import check_store
from bnmtl.ensembles.store import HILLCLIMB
from bnmtl.errors import Action, InputError, located, warn
from bnmtl.tasks.files import read_parts

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
    for name, held in (("group", "groups"), ("task_column", "tasks")):
        if getattr(options, name) is not None:
            rule = "must come with a CSV file"
            found = f"{{folder}} has its {held} in it if there are any"
            details = {"remedies": "leave it out", "folder": options.store}
            raise InputError(name, rule, found=found, **details)
    with renamed("folder", "store"):
        store = PredictionStore.open(options.store)
    _warn_if_unfinished(store)
    if options.test is None and has_test(store):
        part, remedies = store.parts[TEST], "give others with `--test TABLE`"
        _check_classes(store.classes[part.y], "store", "must have test cases", remedies)
    return store


def _warn_if_unfinished(store):
    """Warn if a library is still built, or its build was interrupted."""
    if store.library is None:
        return
    there = {name.removesuffix(CALIBRATED) for name in store.names} | set(store.skipped["model"])
    models = store.library.models
    n = sum(name in there for name in models)
    if n < len(models):
        rule, found = "has {n} of {total:setting}", "its build has not ended"
        warn("store", rule, found=found, remedies=Action("go on"), n=n, total=len(models))


def has_test(store):
    """Whether there are test cases with labels."""
    return TEST in store.parts and store.parts[TEST].y is not None


def _check_classes(labels, argument, rule, remedies):
    """Raise unless two classes or more occur among labels."""
    first = labels[0]
    if all(label == first for label in labels):
        rule, found = f"{rule} of two classes or more", "all are {label!r}"
        label = first.item() if hasattr(first, "item") else first
        raise InputError(argument, rule, found=found, remedies=remedies, label=label)


def _of_tables(options):
    files = {HILLCLIMB: options.store} | ({TEST: options.test} if options.test else {})
    label = options.label or _LABEL
    with na_option(options):
        tables = read_parts(files, na_values=na_values(options))
    for part, table in tables.items():
        if label not in table:
            raise no_label(label, table, files[part])
        with located(file=files[part]):
            check_complete(table[label], "label", table[label].isna().to_numpy())
            remedies = "give other cases" if part == TEST else ()
            _check_classes(table[label].to_numpy(), "label", "must have cases", remedies)
    group, task = options.group, options.task_column
    named = [] if group is None else [(HILLCLIMB, "group", group)]
    named += [] if task is None else [(part, "task_column", task) for part in tables]
    for part, option, column in named:
        argument = "store" if part == HILLCLIMB else TEST
        with located(file=files[part]):
            values = names_of_rows(tables[part], column, option, label, argument)
        tables[part] = tables[part].assign(**{column: values})
    return PredictionStore(**from_tables(tables, label, HILLCLIMB, files, group, task))
