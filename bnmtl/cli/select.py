"""Ensemble selection: `bnmtl select`.

For a table of predictions, new cases have one column per model. For a library they have its
features, and the models are trained again.
"""

from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.cli.messages import renamed
from bnmtl.cli.runs import FolderResult, Picture, Table, fit_parameters, new_run, where, wrapped
from bnmtl.cli.tables import (
    as_written,
    check_complete,
    check_new_columns,
    na_option,
    na_values,
    names_of_rows,
    read_table,
)
from bnmtl.ensembles import (
    EnsembleSelector,
    LibraryEnsemble,
    PredictionStore,
    SelectionReport,
    UnusedCases,
    best_single,
)
from bnmtl.ensembles.judges import judge_of, stratified_folds
from bnmtl.ensembles.library.record import training_rows
from bnmtl.ensembles.library.settings import CALIBRATED
from bnmtl.ensembles.selection import check_store
from bnmtl.ensembles.store import HILLCLIMB, checked_table, from_tables, no_label
from bnmtl.errors import InputError, located, warn
from bnmtl.metrics.scoring import OF_TWO, is_of_sklearn, names_for
from bnmtl.reports.downstream import write_selected as write_report
from bnmtl.tasks.encoding import tasks_of
from bnmtl.tasks.files import NA_VALUES, read_parts
from bnmtl.wording import count, either, listed

TEST = "test"
_LABEL = "y"  # unless the option names another column


def read_store(options):
    """Return the store of a run, with the part "test" if all its models predict test cases."""
    store = _opened(options) if Path(options.store).is_dir() else _of_tables(options)
    check_store(store)
    return store


def _opened(options):
    for option, held in (
        ("label", f"the folder `{options.store}` has its labels in it"),
        ("group", f"`{options.store}` has its groups in it if there are any"),
        ("task_column", f"`{options.store}` has its tasks in it if there are any"),
    ):
        if getattr(options, option) is not None:
            message = f"must come with a CSV file; {held}"
            raise InputError(message, argument=option, remedy="leave it out")
    with renamed(folder="store"):
        store = PredictionStore.open(options.store)
    _warn_if_unfinished(store)
    if options.test is None and has_test(store):
        labels, remedy = store.classes[store.parts[TEST].y], "give others with `--test TABLE`"
        _check_classes(labels, "store", "must have test cases", remedy)
    return store


def _warn_if_unfinished(store):
    """Warn if a library is still built, or its build was interrupted."""
    if store.library is None:
        return
    there = {name.removesuffix(CALIBRATED) for name in store.names} | set(store.skipped["model"])
    models = store.library.models
    n = sum(name in there for name in models)
    if n < len(models):
        message = f"has {n} of {count(len(models), 'setting')}; its build has not ended"
        warn(
            message,
            argument="store",
            remedy="`build_library` with the same arguments goes on",
            cli_remedy="`bnmtl library` with the same options goes on",
        )


def has_test(store):
    """Whether there are test cases with labels."""
    return TEST in store.parts and store.parts[TEST].y is not None


def _check_classes(labels, argument, rule, remedy=None):
    """Raise unless two classes or more occur among labels."""
    first = labels[0]
    if all(label == first for label in labels):
        label = first.item() if hasattr(first, "item") else first
        message = f"{rule} of two classes or more; all are {label!r}"
        raise InputError(message, argument=argument, remedy=remedy)


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
            remedy = "give other cases" if part == TEST else None
            _check_classes(table[label].to_numpy(), "label", "must have cases", remedy)
    group, task = options.group, options.task_column
    named = [] if group is None else [(HILLCLIMB, "group", group)]
    named += [] if task is None else [(part, "task_column", task) for part in tables]
    for part, option, column in named:
        argument = "store" if part == HILLCLIMB else TEST
        with located(file=files[part]):
            values = names_of_rows(tables[part], column, option, label, argument)
        tables[part] = tables[part].assign(**{column: values})
    return PredictionStore(**from_tables(tables, label, files, group, task))


ROWS = "rows"


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

        Models of a library are trained again, each once. Returns, by table, one column per model.
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
    """Read new cases; raise if they cannot be predicted with a store."""
    tables, y, is_library = {}, None, store.path is not None
    for option, file in (("predict", "ROWS"), ("test", "TABLE")):
        if is_library and getattr(options, option) is not None and training_rows(store) is None:
            message = (
                "must come with training rows, on which the chosen models are trained again; "
                f"`{store.path}` keeps none"
            )
            remedy = (
                f"predict with each model, and give CSV files of predictions as STORE and {file}"
            )
            raise InputError(message, argument=option, remedy=remedy)
    if options.predict is not None:
        read = _read_features if is_library else _read_predictions
        tables[ROWS] = read(options.predict, store, options)
        others = without_models(tables[ROWS], store)
        check_new_columns(others, class_columns(store.classes), ROWS)
    if options.test is not None and is_library:
        tables[TEST], y = _read_test(options.test, store, options)
    return NewCases(tables, y)


def _read_predictions(path, store, options):
    """New cases with one column per model, and others.

    Models that will not be in the ensemble may be missing.
    """
    rows = read_table(path, options)
    models = [name for name in store.names if name in rows]
    if not models:
        message = (
            f"must have one column per model, such as `{store.names[0]}`; it has {listed(rows)}"
        )
        raise InputError(message, file=path)
    with located(file=path):
        checked_table(rows[models])
    return rows


def _read_features(path, store, options, argument=ROWS, as_text=()):
    """New cases with the features of a library."""
    columns = store.library.known_columns
    nominal = [name for name, known in columns.categories.items() if known is not None]
    rows = read_table(path, options, [*nominal, *as_text], store.library.na_values)
    with located(file=path):
        matrix = columns.matrix(rows, argument)
    unknown = np.isnan(matrix) & rows[list(columns.categories)].notna().to_numpy()
    counts = zip(columns.categories, unknown.sum(axis=0), strict=True)
    some = [f"{n} in `{name}`" for name, n in counts if n]
    if some:
        message = "has values that are not in the training rows, treated as missing; "
        warn(message + ", ".join(some), argument=argument)
    return rows


def _read_test(path, store, options):
    """Features and labels of test cases for a library."""
    label, classes = store.library.label, store.classes.tolist()
    as_text = [label] if isinstance(classes[0], str) else []
    rows = _read_features(path, store, options, TEST, as_text)
    with located(file=path):
        if label not in rows:
            message = f"must have the labels of the library, `{label}`; it has {listed(rows)}"
            raise InputError(message, argument=TEST)
        y = rows[label]
        check_complete(y, TEST, y.isna().to_numpy())
        other = y[~y.isin(classes)]
        if len(other):
            message = f"must have only the classes {listed(classes)}, got {other.iloc[0]!r}"
            raise InputError(message, argument=TEST, column=label)
        if y.nunique() < 2:
            message = f"must have two classes or more; all are {y.iloc[0]!r}"
            raise InputError(message, argument=TEST, column=label)
    return rows, y


def without_models(rows, store):
    """Columns of rows that are not predictions of models."""
    if store.path is not None:
        return rows
    return rows.drop(columns=[name for name in store.names if name in rows])


def class_columns(classes):
    """Names of the columns with the probability of each class."""
    return [f"p_{label}" for label in classes.tolist()]


_PREDICTED = "predicted.csv"
_FILES = (
    *("weights.csv", "trajectory.csv", "predictions.csv", "unused_cases.csv", _PREDICTED),
    *("tasks.csv", "pruning.csv", "weights.png", "trajectory.png", "pruning.png", "report.html"),
)


@dataclass(frozen=True)
class Result(FolderResult):
    """The result of a run.

    Attributes
    ----------
    scores : pandas.DataFrame
        Of the ensemble, the best single model and, unless only some models predict them, the mean
        of all models, on the cases of selection and on cases that were not used; and of the
        strongest simple rival on the latter, NaN on the former, which choose it.
    tasks : pandas.DataFrame or None
        Scores on the unused cases of each task, if there are tasks.
    """

    scores: pd.DataFrame
    tasks: pd.DataFrame | None


def run(options, progress=None):
    """Select an ensemble; see `bnmtl.cli`."""
    with new_run("select", options, _FILES) as run:
        store = read_store(options)
        _check_metric(options.metric, store)
        new = read_new_cases(options, store)
        is_tested = new.y is not None or has_test(store)
        if not is_tested:  # folds judge the ensemble; raise if a class has too few cases for them
            part = store.part(HILLCLIMB)
            remedy = "add cases, or give test cases with `--test TABLE`"
            stratified_folds("store", part.y, 2, 0, remedy, store.classes, part.groups)
        run.lap("reading")
        monitor = TEST if new.y is None and is_tested else None
        selector = _selector(options, progress).fit(store, monitor=monitor)
        run.lap("selecting")
        predicted = new.predicted(selector)
        contents = {}
        if ROWS in predicted:
            known = NA_VALUES if store.library is None else store.library.na_values
            rows = as_written(new.tables[ROWS], na_values(options, known))
            contents[_PREDICTED] = _predicted(selector, rows, predicted[ROWS])
        if predicted:
            run.lap("new cases")
        unused = _unused(selector, new, predicted)
        run.lap("unused cases")
        report, scores = selector.report(HILLCLIMB), _scores(selector, unused)
        parts = _parts(selector, new, predicted)
        contents |= _tables(selector, parts, unused)
        tasks, families = unused.tasks, report.families
        page = partial(write_report, scores=scores, tasks=tasks, families=families)
        entries = _record(selector, parts, report, unused)
        record = run.write(entries, contents, _pictures(selector), page)
    return Result(scores, unused.tasks, folder=run.folder.path, record=record)


def _selector(options, progress):
    return EnsembleSelector(
        options.metric,
        initial=options.initial,
        bags=options.bags,
        bag_fraction=options.bag_fraction,
        prune=options.prune,
        max_steps=options.max_steps,
        patience=options.patience,
        replacement=not options.no_replacement,
        **fit_parameters(options, progress),
    )


def _check_metric(metric, store):
    """Raise unless it is the name of a metric: mistakes should not cost the user time."""
    name = metric.replace("-", "_")
    known = names_for(len(store.classes))
    if name in known or (name not in OF_TWO and is_of_sklearn(name)):
        judge_of(metric, store).of(store.predictions()[0])  # it may need labels
        return
    names = [name.replace("_", "-") for name in known]
    remedy = None if store.is_binary else "these are the metrics of more than two classes"
    raise InputError(f"must be {either(names)}, got {metric}", argument="metric", remedy=remedy)


def _unused(selector, new, predicted):
    """Scores on the test cases; by folds without them."""
    if new.y is not None:
        column = selector.store_.library.task_column
        task = None if column is None else tasks_of(new.tables[TEST], column)
        return UnusedCases.on_cases(selector, predicted[TEST], new.y, task=task)
    by = UnusedCases.on_part if has_test(selector.store_) else UnusedCases.by_folds
    return by(selector)


def _predicted(selector, rows, models):
    """The columns of new cases that are not models, and their probabilities."""
    with renamed(part=ROWS):
        p = selector.predict_proba(models)
    kept = without_models(rows, selector.store_)
    return kept.assign(**dict(zip(class_columns(selector.classes_), p.T, strict=True)))


def _scores(selector, unused):
    """Scores by method on the cases of selection and on unused ones."""
    selected = SelectionReport.of(selector, HILLCLIMB).scores[HILLCLIMB]
    scores = {"cases of selection": selected, "unused cases": unused.scores}
    return pd.DataFrame(scores).reindex(unused.scores.index)


def _pictures(selector):
    """The pictures to draw, by file name."""
    from bnmtl import plotting

    drawn = {"weights.png": plotting.weights, "trajectory.png": plotting.trajectory}
    if len(selector.prune_scores_):
        drawn["pruning.png"] = plotting.pruning
    return {name: Picture(partial(draw, selector), (name,)) for name, draw in drawn.items()}


def _tables(selector, parts, unused):
    """The files with tables, by name."""
    store = selector.store_
    weights = pd.concat(
        [
            selector.weights_,
            store.score(selector.metric).rename("score"),
            store.settings.drop(columns=["weight", "score"], errors="ignore"),
        ],
        axis=1,
    ).reset_index(names="model")
    tables = {
        "weights.csv": weights.sort_values(["weight", "model"], ascending=[False, True]),
        "trajectory.csv": selector.trajectory_,
        "predictions.csv": _predictions(store.classes, parts),
        "unused_cases.csv": unused.table.reset_index(),
    }
    if unused.tasks is not None:
        tables["tasks.csv"] = unused.tasks.reset_index()
    if len(selector.prune_scores_):
        tables["pruning.csv"] = selector.prune_scores_.rename("score").reset_index()
    return tables


def _parts(selector, new, predicted):
    """Labels and probabilities of all cases by part; test cases replace those of the store."""
    store, parts = selector.store_, {}
    for name, part in store.parts.items():
        labels = None if part.y is None else store.classes[part.y]
        parts[name] = labels, selector.predict_proba(name)
    if new.y is not None:
        parts[TEST] = new.y.to_numpy(), selector.predict_proba(predicted[TEST])
    return parts


def _predictions(classes, parts):
    """The table of labels and probabilities by part."""
    tables = []
    for name, (labels, p) in parts.items():
        columns = {"part": name, "case": np.arange(1, len(p) + 1), "label": labels}
        columns |= dict(zip(class_columns(classes), p.T, strict=True))
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables)


def _record(selector, parts, report, unused):
    """The entries of run.json that are specific to this command."""
    store, by_task = selector.store_, {}
    if unused.tasks is not None:
        scores = unused.tasks.astype(object).where(unused.tasks.notna(), None)
        by_task = {"tasks": scores.to_dict("index")}
    return {
        "tasks": [{"name": name, "rows": len(p)} for name, (_, p) in parts.items()],
        "metric": unused.metric,
        "smaller_is_better": bool(judge_of(selector.metric, store).natural(1) < 0),
        "classes": store.classes.tolist(),
        "models": store.n_models,
        "different_models": selector.n_models_,
        "initial": selector.initial_,
        "prune": selector.prune_,
        "score": selector.score_,
        "unused_cases": {
            "part": unused.part,
            "scores": unused.scores.to_dict(),
            "gain": unused.gain,
            "standard_error": unused.standard_error,
            "optimism": unused.optimism,
            "rival": unused.rival._asdict(),
            **by_task,
        },
        "families": report.families.to_dict("index"),
        "verdict": [report.chosen_in_words(), *str(unused).split("\n")],
    }


def summary(result):
    """Show scores of the ensemble and of simpler ones, and what was chosen."""
    rows = [[name, *_shown(scores)] for name, *scores in result.scores.itertuples()]
    yield Table([result.record["metric"], *result.scores], rows)
    yield ""
    if result.tasks is not None:
        tasks = [
            [str(name), f"{n_cases:.0f}", *_shown(scores)]
            for name, n_cases, *scores in result.tasks.itertuples()
        ]
        columns = ["task", "unused cases", *result.tasks.columns[1:]]
        narrow = Table(columns[:4], [row[:4] for row in tasks])
        yield Table(columns, tasks, if_too_wide=narrow)
        yield ""
    yield from wrapped(*result.record["verdict"])
    yield where(result)


def _shown(numbers):
    return ["" if isnan(number) else f"{number:.4f}" for number in numbers]
