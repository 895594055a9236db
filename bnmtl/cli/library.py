"""Libraries of models: `bnmtl library`."""

import os
from dataclasses import dataclass
from pathlib import Path

from pandas.api.types import is_numeric_dtype

from bnmtl.cli.messages import conflict, renamed
from bnmtl.cli.options import inputs_of
from bnmtl.cli.runs import Table, fit_parameters, user_messages, warnings_kept
from bnmtl.cli.tables import check_column, check_complete, na_values, names_of_rows, read_table
from bnmtl.ensembles import PredictionStore, build_library
from bnmtl.ensembles.folder import STORE_JSON
from bnmtl.errors import InputError, located
from bnmtl.wording import count

_GIGABYTE = 10**9


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes
    ----------
    store : PredictionStore
    folder : pathlib.Path
    n_before : int
        Number of settings that were in the folder before.
    warnings : list of str
        In terms of the command line.
    """

    store: PredictionStore
    folder: Path
    n_before: int
    warnings: list


def run(options, progress=None):
    """Build a library in its folder, or complete it; see `bnmtl.cli`."""
    if options.hillclimb is not None and options.cv is not None:
        message = (
            f"must not go with `--cv`, got {options.hillclimb!r}; embedded cross-validation uses "
            "all rows for it"
        )
        raise conflict("hillclimb", "--cv", message)
    _check_inputs(options)
    X, y, groups = labelled(options)
    test = None if options.test is None else _test_cases(options, X, y)
    counts = []

    def report(event):
        counts.append(event.done)
        if progress is not None:
            progress(event)

    memory = None
    if options.max_memory is not None:
        memory = max(1, round(options.max_memory * _GIGABYTE))
    hillclimb = {} if options.hillclimb is None else {"hillclimb": options.hillclimb}
    with warnings_kept() as caught, renamed(X="table", cv="--cv", groups="group"):
        store = build_library(
            X,
            y,
            options.profile,
            cv=options.cv,
            test=test,
            out=options.out,
            time_limit=options.time_limit,
            max_memory=memory,
            keep_models=options.keep_models,
            force=options.force,
            calibration=options.calibration,
            groups=groups,
            task_column=options.task_column,
            **hillclimb,
            **fit_parameters(options, report),
        )
    store.library = store.library.with_na_values(store.path, na_values(options))
    return Result(store, Path(options.out), counts[0], user_messages(caught))


def _check_inputs(options):
    """Raise if a table is a file of the store that is to be replaced."""
    out = Path(os.path.realpath(options.out))
    for path in inputs_of(options) if options.force and (out / STORE_JSON).is_file() else ():
        if Path(os.path.realpath(path)).is_relative_to(out):
            message = f"must not hold an input that it replaces, got `{path}`"
            raise InputError(message, argument="out", remedy="choose another folder")


def labelled(options):
    """The features, the labels and the groups of the table."""
    rows, group, task = read_table(options.table, options), options.group, options.task_column
    check_column(rows, options.label, "label", "table")
    if group is not None and group == task:
        message = f"must be another column than the tasks, got {group!r}"
        raise conflict("group", "task_column", message)
    groups = None
    with located(file=options.table):
        if task is not None:
            rows = rows.assign(
                **{task: names_of_rows(rows, task, "task_column", options.label, "table")}
            )
        if group is not None:
            groups = names_of_rows(rows, group, "group", options.label, "table")
            rows = rows.drop(columns=group)
    return *_split(rows, options.table, options.label), groups


def _split(rows, path, label):
    """The features and the complete labels of rows."""
    with located(file=path):
        check_complete(rows[label], "label", rows[label].isna().to_numpy())
    return rows.drop(columns=label), rows[label]


def _test_cases(options, X, y):
    """Features and labels of the test cases; labels are None if there is no such column."""
    # Where the table has other text, too, 250.00 is not a number.
    known = X.assign(**{options.label: y})
    as_text = [name for name in known if not is_numeric_dtype(known[name].dtype)]
    rows = read_table(options.test, options, as_text)
    if options.label not in rows:
        return rows, None
    return _split(rows, options.test, options.label)


def summary(result):
    """Show the models by family, and how to go on."""
    store = result.store
    metric, title, best = "cross_entropy", "cross-entropy", "min"
    if store.is_binary:
        metric, title, best = "roc_area", "ROC area", "max"
    table = store.settings.assign(score=store.score(metric).to_numpy())
    rows = []
    for name, models in table.groupby("family", sort=False):
        seconds, score = models["seconds"].sum() / 2, models["score"].agg(best)
        rows.append([name, str(len(models)), f"{seconds:.0f}", f"{score:.4f}"])
    lacking = set(store.skipped["family"]) - set(table["family"])
    rows += [[name, "0", "", ""] for name in sorted(lacking)]
    yield Table(["family", "models", "seconds", f"best {title}"], rows)
    yield ""
    raw = int((~table["calibrated"].astype(bool)).sum())
    total = len(store.library.models)
    if result.n_before == total:
        yield "The library was complete; nothing was trained."
    elif result.n_before:
        yield f"{result.n_before} of {count(total, 'setting')} were there from an earlier run."
    yield (
        f"{count(store.n_models, 'model')} in {result.folder}: {count(raw, 'setting')}, raw and "
        f"calibrated; the {title} is that on the cases of selection."
    )
    yield f"Next: bnmtl select {result.folder} --metric {metric.replace('_', '-')}"
