"""Calibrating scores: `bnmtl calibrate`."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold

from bnmtl.calibration import (
    AutoCalibrator,
    BetaCalibrator,
    IsotonicCalibrator,
    MultitaskPlattCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
    reliability,
)
from bnmtl.calibration.classifier import METHODS, calibrator_by_task, calibrator_of
from bnmtl.calibration.quality import best, gain, verdict, window_of
from bnmtl.cli.messages import conflict
from bnmtl.cli.runs import FolderResult, MeasuredResult, Picture, Table, new_run, where
from bnmtl.cli.tables import (
    ALL_ROWS,
    as_written,
    check_columns,
    check_new_columns,
    checked_labels,
    checked_scores,
    checked_tasks,
    complete_names,
    hashes,
    na_values,
    read_table,
)
from bnmtl.errors import InputError, warn
from bnmtl.io.run import RUN_FILE, na_values_of_run, read_record
from bnmtl.metrics.prediction import (
    calibration_error,
    cross_entropy,
    roc_area,
    root_mean_squared_error,
)
from bnmtl.reports.downstream import MOST_TASKS
from bnmtl.reports.downstream import write_calibrated as write_report
from bnmtl.tasks.files import NA_VALUES
from bnmtl.wording import count, listed

_KINDS = {
    "platt": PlattCalibrator,
    "beta": BetaCalibrator,
    "isotonic": IsotonicCalibrator,
    "temperature": TemperatureCalibrator,
    "platt_by_task": MultitaskPlattCalibrator,
}


def _kind_of(calibrator):
    """The name of the kind of a calibrator, which is that of its method unless this is "auto"."""
    return next(name for name, kind in _KINDS.items() if type(calibrator) is kind)


def calibrated(calibrator, scores, tasks):
    """Probabilities by a calibrator; unknown tasks are calibrated like all rows together."""
    if not isinstance(calibrator, MultitaskPlattCalibrator):
        return calibrator.predict(scores)
    p = calibrator.pooled_.predict(scores)
    known = np.isin(tasks.astype(str), list(calibrator.a_.index))
    if known.any():
        p[known] = calibrator.predict(scores[known], tasks[known])
    return p


_TITLES = {"platt": "Platt", "platt_by_task": "Platt by task"}
DEFAULT = ("auto", "isotonic")
_FOLDS = 10


class Calibrated:
    """Scores calibrated by all methods; for labelled cases, fitted to the other folds.

    Cases without a label are calibrated by all labelled cases. Cases are sorted by label, task and
    score before they are divided into folds, so folds do not depend on the order of the rows.

    Parameters
    ----------
    scores : float array of shape (n,)
    y : float array of shape (n,)
        1, 0, or nan for missing labels; at least two cases per class.
    tasks : str array of shape (n,) or None
    ties : array of shape (n,)
        Sort key for cases that are equal in all of these.
    methods : sequence of str, default=DEFAULT
    groups : array of shape (n,) or None
        Cases of a group are in one fold.

    Attributes
    ----------
    cases : int array of shape (n_labelled,)
        The labelled cases, sorted as for the folds.
    are_probabilities : bool
        Whether all scores are from 0 to 1; "auto" is then one of two methods, and sigmoids by task
        use log odds.
    titles : dict of str to str
        Titles of the methods.
    stages : dict of str to float array of shape (n,)
        Probabilities by title of the method; the first is "before" if scores are probabilities.
    columns : dict of str to float array of shape (n,)
        The same without "before", by name of the column to be written.
    fitted : dict
        Calibrators fitted to all labelled cases, by method.
    n_folds : int
    lowest : float
        Probabilities are clipped to [lowest, 1 - lowest]: the labelled cases are too few to
        distinguish more extreme ones from 0 or 1.
    """

    def __init__(self, scores, y, tasks, ties, methods=DEFAULT, groups=None):
        self.scores, self.y, self.tasks = scores, y, tasks
        self.are_probabilities = bool(((scores >= 0) & (scores <= 1)).all())
        _check_methods(methods, self.are_probabilities)
        calibrators = {name: calibrator_of(name, self.are_probabilities) for name in methods}
        if tasks is not None:
            calibrators["platt_by_task"] = calibrator_by_task(self.are_probabilities)
        self.cases = rows = self._ordered(ties)
        self.lowest = 1 / (len(rows) + 2)
        folds = self._folds() if groups is None else self._folds_of(groups[rows])
        self.n_folds = int(folds.max()) + 1
        self.fitted = {name: self._fit(clone(model), rows) for name, model in calibrators.items()}
        self.titles = {name: _title(name, fitted) for name, fitted in self.fitted.items()}
        self.stages = {"before": scores} if self.are_probabilities else {}
        self.columns = {}
        for method, calibrator in calibrators.items():
            p = self._predict(self.fitted[method], np.arange(len(scores)))
            for fold in range(self.n_folds):
                model = self._fit(clone(calibrator), rows[folds != fold])
                p[rows[folds == fold]] = self._predict(model, rows[folds == fold])
            p = self.clipped(p)
            self.stages[self.titles[method]] = self.columns[f"calibrated_{method}"] = p

    def labelled(self):
        """Return the labels of `cases`, and their probabilities by title of the method."""
        return self.y[self.cases], {name: p[self.cases] for name, p in self.stages.items()}

    def clipped(self, p):
        """Return probabilities that are as far from 0 and 1 as labelled cases can distinguish."""
        return np.clip(p, self.lowest, 1 - self.lowest)

    def _ordered(self, ties):
        """Return the labelled cases, negative ones first."""
        rows = np.flatnonzero(~np.isnan(self.y))
        tasks = np.zeros(len(rows)) if self.tasks is None else self.tasks[rows].astype(str)
        return rows[np.lexsort([ties[rows], self.scores[rows], tasks, self.y[rows]])]

    def _folds(self):
        """Return the fold number of each of `cases`; folds are stratified by class."""
        n_positive = int(self.y[self.cases].sum())
        sizes = (len(self.cases) - n_positive, n_positive)
        # Numbering restarts with each class, so every fold has almost equal shares of each class.
        return np.concatenate([np.arange(size) % min(_FOLDS, *sizes) for size in sizes])

    def _folds_of(self, groups):
        """Return the fold number of each of `cases` if those of a group stay together."""
        y = self.y[self.cases].astype(int)
        n_negative, n_positive = (len(np.unique(groups[y == label])) for label in (0, 1))
        n_folds = min(_FOLDS, n_negative, n_positive)
        if n_folds < 2:
            message = (
                "must hold two groups or more with a positive case, and with a negative one, got "
                f"{n_positive if n_positive < 2 else n_negative}"
            )
            raise InputError(message, argument="group")
        folds = np.empty(len(y), dtype=int)
        splits = StratifiedGroupKFold(n_folds).split(groups, y, groups)
        for fold, (train, test) in enumerate(splits):
            if not 0 < y[train].sum() < len(train):
                message = "must leave cases of both classes outside each fold; one has all"
                raise InputError(message, argument="group", remedy="use smaller groups")
            folds[test] = fold
        return np.unique(folds, return_inverse=True)[1]

    def _fit(self, calibrator, rows):
        if isinstance(calibrator, MultitaskPlattCalibrator):
            return calibrator.fit(self.scores[rows], self.y[rows], self.tasks[rows])
        fitted = calibrator.fit(self.scores[rows], self.y[rows])
        return fitted.chosen_ if isinstance(fitted, AutoCalibrator) else fitted

    def _predict(self, calibrator, rows):
        tasks = None if self.tasks is None else self.tasks[rows]
        return calibrated(calibrator, self.scores[rows], tasks)


def _title(method, fitted):
    """The title of a method; that of "auto" names what was chosen for all cases."""
    kind = _kind_of(fitted)
    title = _TITLES.get(kind, kind)
    return f"auto ({title})" if method == "auto" else title


def _check_methods(methods, are_probabilities):
    """Raise for an unknown method, and for beta if scores are not probabilities."""
    for name in methods:
        if name not in METHODS:
            raise InputError(f"must be one of {listed(METHODS)}, got {name}", argument="method")
    if "beta" in methods and not are_probabilities:
        message = "must not be beta for scores that are not from 0 to 1"
        raise InputError(message, argument="method", remedy="take auto or platt")


@dataclass(frozen=True)
class Applied(FolderResult):
    """The result of a run.

    Attributes
    ----------
    columns : pandas.DataFrame
        The columns of calibrated scores.
    """

    columns: pd.DataFrame


def apply(options):
    """Calibrate scores by the calibrators of an earlier run; returns `Applied`."""
    for option in ("label", "positive", "group", "method"):
        if getattr(options, option):
            message = f"is for fitting calibrators; `apply` takes those of `{options.apply}`"
            raise conflict(option, "apply", message)
    with new_run("calibrate", options, ["scores.csv"]) as run:
        run.folder.keep([Path(options.apply, RUN_FILE)])
        fitted, earlier = _earlier(options.apply)
        known = na_values_of_run(earlier["settings"])
        rows, texts = read_table(options.scores, options, known=known), na_values(options, known)
        if texts != NA_VALUES:  # for a run that takes these calibrators from here
            run.options = replace(options, na=(), only_na=texts)
        check_columns(rows, {"score": options.score, "task_column": options.task_column})
        scores = _scores_like(earlier, rows[options.score], options.apply)
        tasks = _tasks(fitted, earlier, rows, options)
        if tasks is None:
            fitted.pop("platt_by_task", None)
        run.lap("reading")
        bounds = earlier["kept_between"]
        p = {
            f"calibrated_{method}": np.clip(calibrated(calibrator, scores, tasks), *bounds)
            for method, calibrator in fitted.items()
        }
        check_new_columns(rows, p, "scores")
        run.lap("calibrating")
        kept = ("probabilities", "calibrators", "titles", "kept_between")
        entries = {"tasks": [], "rows": len(rows), **{name: earlier[name] for name in kept}}
        record = run.write(entries, {"scores.csv": as_written(rows, texts).assign(**p)})
    return Applied(pd.DataFrame(p), folder=run.folder.path, record=record)


def _earlier(path):
    """Return the calibrators of an earlier run by method, and the record of the run."""
    record = read_record(path, "apply")
    if record is None or record.get("command") != "calibrate":
        found = "holds no run.json" if record is None else "is from another command"
        message = f"must be a folder written by `bnmtl calibrate`; `{path}` {found}"
        raise InputError(message, argument="apply", remedy="check the path")
    try:
        low, high = record["kept_between"]
        fitted = {
            method: _KINDS[described["calibrator"]].from_record(described)
            for method, described in record["calibrators"].items()
        }
        of_scores = isinstance(record["probabilities"], bool) and isinstance(record["titles"], dict)
        if not of_scores or not fitted or not 0 < low < high < 1:
            raise ValueError
        return fitted, record
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        message = "must hold fitted calibrators; it is damaged"
        raise InputError(message, file=Path(path, RUN_FILE), remedy="fit them again") from None


def _scores_like(earlier, column, path):
    """Return the scores; they must be probabilities if those of the earlier run were."""
    scores = checked_scores(column)
    strange = np.flatnonzero((scores < 0) | (scores > 1))
    if earlier["probabilities"] and strange.size:
        message = (
            f"must hold probabilities, as those of `{path}` were; row {strange[0] + 1} holds "
            f"{scores[strange[0]]:g}"
        )
        remedy = "choose another column"
        raise InputError(message, argument="score", column=column.name, remedy=remedy)
    return scores


def _tasks(fitted, earlier, rows, options):
    """Return the task of each row, or None without calibrators by task or without the column."""
    if "platt_by_task" not in fitted:
        if options.task_column is not None:
            message = f"must be left out, as calibrators of `{options.apply}` have no tasks"
            raise InputError(message, argument="task_column")
        return None
    column = options.task_column or earlier["settings"].get("task_column")
    if column not in rows.columns:
        message = "has no column of tasks, so they are calibrated without"
        remedy = "name it by `task_column`"
        warn(message, argument="scores", options=("task_column",), remedy=remedy)
        return None
    tasks = checked_tasks(rows[column])
    unknown = sorted(set(tasks) - set(fitted["platt_by_task"].a_.index))
    if unknown:
        n = int(np.isin(tasks, unknown).sum())
        message = (
            f"has {listed(unknown, 'task')}, which `{options.apply}` does not know; "
            f"{count(n, 'row')} are calibrated as all tasks together are"
        )
        warn(message, argument="scores")
    return tasks


_PICTURE = "reliability.png"
_FILES = ("scores.csv", "measures.csv", "reliability.csv", _PICTURE, "report.html")
_EPS = float(np.finfo(float).eps)
_MEASURES = {
    "cross-entropy (nats)": cross_entropy,
    "root mean squared error": root_mean_squared_error,
    # What is corrected for chance is 0 for most tables of 200 rows, good or bad.
    "calibration error": lambda y, p: calibration_error(y, p, window=window_of(len(y))),
    "ROC area": roc_area,
}


def run(options):
    """Calibrate scores by labels, or by an earlier run; see `bnmtl.cli`."""
    if options.apply is not None:
        return apply(options)
    if options.label is None:
        message = "must be given, or `apply` for the calibrators of an earlier run"
        remedy = "see `bnmtl calibrate --help`"
        raise InputError(message, argument="label", options=("apply",), remedy=remedy)
    with new_run("calibrate", options, _FILES) as run:
        rows = read_table(options.scores, options)
        scores, y, tasks, groups = _checked(rows, options)
        run.lap("reading")
        methods = tuple(dict.fromkeys(options.method)) or DEFAULT
        calibrated = Calibrated(scores, y, tasks, hashes(rows), methods, groups)
        check_new_columns(rows, calibrated.columns, "scores")
        run.lap("calibrating")
        measures = _measured(calibrated)
        _warn_of_certainty(calibrated)
        _warn_of_order(calibrated)
        contents = {
            "scores.csv": as_written(rows, na_values(options)).assign(**calibrated.columns),
            "measures.csv": measures.reset_index(),
            "reliability.csv": _reliability(calibrated),
        }
        pictures = {_PICTURE: Picture(partial(_draw, calibrated), (_PICTURE,))}
        page = partial(write_report, measures=measures, tasks=() if tasks is None else tasks)
        record = run.write(_record(calibrated, measures), contents, pictures, page)
    return MeasuredResult(measures, folder=run.folder.path, record=record)


def _checked(rows, options):
    """Return scores, labels (1, 0, or nan if missing), and tasks and groups of folds or None."""
    for others in ("task_column", "group"):
        named = ("label", "score", others)
        check_columns(rows, {option: getattr(options, option) for option in named})
    group = options.group
    return (
        checked_scores(rows[options.score]),
        checked_labels(rows[options.label], options.positive),
        None if options.task_column is None else checked_tasks(rows[options.task_column]),
        None if group is None else complete_names(rows[group], "group").astype(str),
    )


def _measured(calibrated):
    """Quality of the probabilities, one row per method."""
    y, labelled = calibrated.labelled()
    # A few scores of 0 and 1 would otherwise decide the mean of all rows.
    clipped = {method: calibrated.clipped(p) for method, p in labelled.items()}
    table = {
        name: {
            method: function(y, p)
            for method, p in (clipped if function is cross_entropy else labelled).items()
        }
        for name, function in _MEASURES.items()
    }
    return pd.DataFrame(table).rename_axis("method")


def _warn_of_certainty(calibrated):
    """Warn about scores of 0 and 1, whose cross-entropy depends on how they are clipped."""
    if not calibrated.are_probabilities:
        return
    before = calibrated.stages["before"][calibrated.cases]
    n_certain = np.count_nonzero((before < _EPS) | (before > 1 - _EPS))
    if n_certain:
        message = (
            f"has scores of 0 or 1; {count(int(n_certain), 'labelled score')} of {len(before)} "
            f"counted as {calibrated.lowest:.2g} instead of 0, or 1 less that instead of 1, in the "
            "cross-entropy before calibration"
        )
        warn(message, argument="scores")


def _warn_of_order(calibrated):
    """Warn if the positive cases have lower scores than the negative ones."""
    cases = calibrated.cases
    area = roc_area(calibrated.y[cases], calibrated.scores[cases])
    sigmoid = PlattCalibrator().fit(calibrated.scores[cases], calibrated.y[cases])
    if area < 0.5 and sigmoid.a_ > 0:
        message = (
            f"has lower scores for positive cases than for others (ROC area {area:.2f}), and beta "
            "calibration and isotonic regression can only rise"
        )
        remedy = "check whether the score is that of the other label"
        warn(message, argument="scores", remedy=remedy)


def _parts(calibrated):
    """Rows with labels by name of the part: all rows, and those of each task."""
    cases = calibrated.cases
    parts = {ALL_ROWS: cases}
    if calibrated.tasks is not None:
        tasks = calibrated.tasks[cases]
        parts |= {name: cases[tasks == name] for name in sorted(set(tasks))}
    return parts


def _reliability(calibrated):
    """Reliability of each method, for all rows and for each task."""
    keys = ["method"] if calibrated.tasks is None else ["task", "method"]
    parts = []
    for task, rows in _parts(calibrated).items():
        for method, p in calibrated.stages.items():
            table = reliability(calibrated.y[rows], p[rows])
            parts.append(table.assign(task=task, method=method)[[*keys, *table.columns]])
    return pd.concat(parts)


def _draw(calibrated):
    """Draw the reliability of all rows and, unless there are too many, of each task."""
    from bnmtl import plotting

    parts, stages = _parts(calibrated), calibrated.stages
    if 1 < len(parts) <= MOST_TASKS + 1:
        y, first = {name: calibrated.y[rows] for name, rows in parts.items()}, ALL_ROWS
        predictions = {
            name: {method: p[rows] for method, p in stages.items()} for name, rows in parts.items()
        }
    else:  # one panel per method
        y, first = calibrated.y[parts[ALL_ROWS]], "before"
        predictions = {method: {ALL_ROWS: p[parts[ALL_ROWS]]} for method, p in stages.items()}
    curves = None
    if calibrated.are_probabilities:
        # By task, there is not one curve for all rows.
        of_all = {
            calibrated.titles[method]: calibrator
            for method, calibrator in calibrated.fitted.items()
            if method != "platt_by_task"
        }
        curves = {first: of_all}
    return plotting.calibration_panel(y, predictions, calibrators=curves)


def _record(calibrated, measures):
    """The entries of run.json that are specific to this command."""
    sizes = {name: len(rows) for name, rows in _parts(calibrated).items()}
    if calibrated.tasks is not None:
        del sizes[ALL_ROWS]
    return {
        "tasks": [{"name": name, "rows": n_rows} for name, n_rows in sizes.items()],
        "rows": len(calibrated.y),
        "labelled": len(calibrated.cases),
        "positive": int(np.nansum(calibrated.y)),
        "folds": calibrated.n_folds,
        "measures": measures.to_dict("index"),
        "best": best(measures["cross-entropy (nats)"]),
        "gain": gain(*calibrated.labelled(), calibrated.lowest),
        "probabilities": calibrated.are_probabilities,
        "calibrators": {
            method: {"calibrator": _kind_of(calibrator), **calibrator.as_record()}
            for method, calibrator in calibrated.fitted.items()
        },
        "titles": calibrated.titles,
        "kept_between": [calibrated.lowest, 1 - calibrated.lowest],
    }


def summary(result):
    """Show the quality of the probabilities of each method, or the mean of applied ones."""
    if isinstance(result, Applied):
        rows = [[name, f"{mean:.3f}"] for name, mean in result.columns.mean().items()]
        yield Table(["column", "mean probability"], rows)
        yield ""
        yield f"{count(len(result.columns), 'row')} written to {result.folder / 'scores.csv'}."
        return
    measures = result.measures
    rows = [
        [method, *(f"{value:.4f}" for value in values)] for method, *values in measures.itertuples()
    ]
    yield Table(["method", *measures], rows)
    yield ""
    yield verdict(result.record)
    yield where(result)
