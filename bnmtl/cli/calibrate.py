"""One run of `bnmtl calibrate`: scores and labels in, calibrated scores and their quality out."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bnmtl.calibration import MultitaskPlattCalibrator, PlattCalibrator, reliability
from bnmtl.calibration.verdict import best, gain, window_of
from bnmtl.cli.calibrators import as_record
from bnmtl.cli.columns import (
    as_written,
    check_new_columns,
    complete_names,
    na_values,
    read_table,
)
from bnmtl.cli.cross_calibration import DEFAULT, Calibrated
from bnmtl.cli.runs import FolderResult, as_options, new_run
from bnmtl.cli.scores import (
    ALL,
    check_columns,
    checked_labels,
    checked_scores,
    checked_tasks,
    hashes,
)
from bnmtl.errors import InputError, warn
from bnmtl.metrics.prediction import (
    calibration_error,
    cross_entropy,
    roc_area,
    root_mean_squared_error,
)
from bnmtl.reports.calibrated import MOST_TASKS
from bnmtl.reports.calibrated import write as write_report

_FILES = ("scores.csv", "measures.csv", "reliability.csv", "reliability.png", "report.html")
_EPS = float(np.finfo(float).eps)
_MEASURES = {
    "cross-entropy (nats)": cross_entropy,
    "root mean squared error": root_mean_squared_error,
    # What is corrected for chance is 0 for most tables of 200 rows, good or bad.
    "calibration error": lambda y, p: calibration_error(y, p, window=window_of(len(y))),
    "ROC area": roc_area,
}


@dataclass(frozen=True)
class Result(FolderResult):
    """The result of a run.

    Attributes
    ----------
    measures : pandas.DataFrame
        One row per method, over the rows with labels.
    """

    measures: pd.DataFrame


def run(options):
    """Check the input, calibrate and write the folder of one run.

    Parameters
    ----------
    options : CalibrateOptions

    Returns
    -------
    Result

    Raises
    ------
    ValueError, TypeError
        If the options or the data are invalid; nothing is written then.
    """
    if options.label is None:
        rule = "must be given, or {apply} for the calibrators of an earlier run"
        raise InputError("label", rule, remedies="see `bnmtl calibrate --help`")
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
        figure = _draw(calibrated)
        run.lap("picture")

        def write_page(path, record, seconds):
            names = () if tasks is None else tasks
            settings = as_options(record["settings"])
            write_report(path, record, measures, names, figure, settings, seconds)

        entries = _record(calibrated, measures)
        contents = {
            "scores.csv": as_written(rows, na_values(options)).assign(**calibrated.columns),
            "measures.csv": measures.reset_index(),
            "reliability.csv": _reliability(calibrated),
            "reliability.png": figure,
        }
        record = run.write(entries, contents, write_page)
    return Result(measures, folder=run.folder.path, record=record)


def _checked(rows, options):
    """Return scores, labels (1, 0, or nan if missing), and tasks and groups of folds or None."""
    named = {"label": options.label, "score": options.score, "task_column": options.task_column}
    check_columns(rows, named)
    check_columns(rows, {name: getattr(options, name) for name in ("label", "score", "group")})
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
        found = (
            "{n:labelled score} of {n_scores} counted as {lowest:.2g} instead of 0, or 1 less that "
            "instead of 1, in the cross-entropy before calibration"
        )
        counts = {"n": int(n_certain), "n_scores": len(before), "lowest": calibrated.lowest}
        warn("scores", "has scores of 0 or 1", found=found, **counts)


def _warn_of_order(calibrated):
    """Warn if the positive cases have lower scores than the negative ones."""
    cases = calibrated.cases
    area = roc_area(calibrated.y[cases], calibrated.scores[cases])
    sigmoid = PlattCalibrator().fit(calibrated.scores[cases], calibrated.y[cases])
    if area < 0.5 and sigmoid.a_ > 0:
        rule = (
            "has lower scores for positive cases than for others (ROC area {area:.2f}), and "
            "beta calibration and isotonic regression can only rise"
        )
        remedy = "check whether the score is that of the other label"
        warn("scores", rule, remedies=remedy, area=area)


def _parts(calibrated):
    """Rows with labels by name of the part: all rows, and those of each task."""
    cases = calibrated.cases
    parts = {ALL: cases}
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
        y, first = {name: calibrated.y[rows] for name, rows in parts.items()}, ALL
        predictions = {
            name: {method: p[rows] for method, p in stages.items()} for name, rows in parts.items()
        }
    else:  # one panel per method
        y, first = calibrated.y[parts[ALL]], "before"
        predictions = {method: {ALL: p[parts[ALL]]} for method, p in stages.items()}
    curves = None
    if calibrated.are_probabilities:
        by_method = calibrated.fitted.items()
        fitted = {calibrated.titles[name]: one for name, one in by_method if _is_curve(one)}
        curves = {first: fitted}
    return plotting.calibration_panel(y, predictions, calibrators=curves)


def _is_curve(calibrator):
    """Whether the same curve holds for all rows."""
    return not isinstance(calibrator, MultitaskPlattCalibrator)


def _record(calibrated, measures):
    """The entries of run.json that are specific to this command."""
    sizes = {name: len(rows) for name, rows in _parts(calibrated).items()}
    if calibrated.tasks is not None:
        del sizes[ALL]
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
        "calibrators": as_record(calibrated.fitted),
        "titles": calibrated.titles,
        "kept_between": [calibrated.lowest, 1 - calibrated.lowest],
    }
