"""One run of `bnmtl select`: predictions of many models in, an ensemble and its quality out."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bnmtl.cli.columns import as_written, na_values
from bnmtl.cli.messages import renamed
from bnmtl.cli.new_rows import ROWS, class_columns, read_new_cases, without_models
from bnmtl.cli.runs import FolderResult, as_options, new_run
from bnmtl.cli.stores import TEST, has_test, read_store
from bnmtl.ensembles import EnsembleSelector, SelectionReport, UnusedCases
from bnmtl.ensembles.folds import stratified_folds
from bnmtl.ensembles.judges import judge_of
from bnmtl.ensembles.store import HILLCLIMB
from bnmtl.errors import check_choice
from bnmtl.metrics.scoring import OF_TWO, is_of_sklearn, names_for
from bnmtl.reports.selected import write as write_report
from bnmtl.tasks.encoding import tasks_of
from bnmtl.tasks.files import NA_VALUES

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
