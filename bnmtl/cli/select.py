"""One run of `bnmtl select`: predictions of many models in, an ensemble and its quality out.

For a table of predictions, new cases have one column per model. For a library they have its
features, and the models are trained again.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.cli.messages import renamed
from bnmtl.cli.runs import FolderResult, as_options, new_run
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
from bnmtl.ensembles.frames import from_tables, no_label, probabilities
from bnmtl.ensembles.judges import judge_of, stratified_folds
from bnmtl.ensembles.library.record import training_rows
from bnmtl.ensembles.library.settings import CALIBRATED
from bnmtl.ensembles.selector import check_store
from bnmtl.ensembles.store import HILLCLIMB
from bnmtl.errors import Action, InputError, check_choice, located, warn
from bnmtl.metrics.scoring import OF_TWO, is_of_sklearn, names_for
from bnmtl.reports.downstream import write_selected as write_report
from bnmtl.tasks.encoding import tasks_of
from bnmtl.tasks.files import NA_VALUES, read_parts

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


ROWS = "rows"
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
    """Check the input, select an ensemble and write the folder of one run.

    Parameters
    ----------
    options : SelectOptions
    progress : callable, optional
        Called with every `bnmtl.progress.ProgressEvent`.

    Returns
    -------
    Result

    Raises
    ------
    ValueError, TypeError
        If the options or the data are invalid; nothing is written then.
    """
    with new_run("select", options, _FILES) as run:
        store = read_store(options)
        _check_metric(options.metric, store)
        new = read_new_cases(options, store)
        if new.y is None and not has_test(store):
            _check_folds(store)
        run.lap("reading")
        monitor = TEST if new.y is None and has_test(store) else None
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
        figures = _draw(selector)
        run.lap("pictures")

        def write_page(path, record, seconds):
            settings = as_options(record["settings"])
            tables = scores, unused.tasks, report.families
            write_report(path, record, *tables, figures, settings, seconds)

        parts = _parts(selector, new, predicted)
        contents |= _tables(selector, parts, unused) | figures
        record = run.write(_record(selector, parts, report, unused), contents, write_page)
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
        random_state=options.seed,
        n_jobs=-1 if options.jobs is None else options.jobs,
        progress=progress or False,
    )


def _check_metric(metric, store):
    """Raise unless it is the name of a metric: mistakes should not cost the user time."""
    name = metric.replace("-", "_")
    known = names_for(len(store.classes))
    if name in known or (name not in OF_TWO and is_of_sklearn(name)):
        judge_of(metric, store).of(store.predictions()[0])  # it may need labels
        return
    names = [name.replace("_", "-") for name in known]
    remedies = () if store.is_binary else "these are the metrics of more than two classes"
    check_choice("metric", metric.replace("_", "-"), names, remedies=remedies)


def _check_folds(store):
    """Raise if a class has too few cases for folds, by which the ensemble is judged."""
    part, remedies = store.part(HILLCLIMB), ("add cases", "give test cases with `--test TABLE`")
    stratified_folds("store", part.y, 2, 0, remedies, store.classes, part.groups)


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
    with renamed("part", ROWS):
        p = selector.predict_proba(models)
    kept = without_models(rows, selector.store_)
    return kept.assign(**dict(zip(class_columns(selector.classes_), p.T, strict=True)))


def _scores(selector, unused):
    """Scores by method on the cases of selection and on unused ones."""
    selected = SelectionReport.of(selector, HILLCLIMB).scores[HILLCLIMB]
    scores = {"cases of selection": selected, "unused cases": unused.scores}
    return pd.DataFrame(scores).reindex(unused.scores.index)


def _draw(selector):
    from bnmtl import plotting

    figures = {
        "weights.png": plotting.weights(selector),
        "trajectory.png": plotting.trajectory(selector),
    }
    if len(selector.prune_scores_):
        figures["pruning.png"] = plotting.pruning(selector)
    return figures


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
        "predictions.csv": _predictions(selector.store_.classes, parts),
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


def _by_task(tasks):
    """Scores by task for run.json, None where there is none."""
    return tasks.astype(object).where(tasks.notna(), None).to_dict("index")


def _record(selector, parts, report, unused):
    """The entries of run.json that are specific to this command."""
    store = selector.store_
    words = report.chosen_in_words(), *str(unused).split("\n")
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
            **({} if unused.tasks is None else {"tasks": _by_task(unused.tasks)}),
        },
        "families": report.families.to_dict("index"),
        "verdict": list(words),
    }
