"""One run of `bnmtl calibrate --apply`: apply the calibrators of an earlier run to new scores."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.cli.calibrators import calibrated, from_record
from bnmtl.cli.columns import as_written, check_new_columns, na_values, read_table
from bnmtl.cli.options import contradiction
from bnmtl.cli.runs import FolderResult, new_run
from bnmtl.cli.scores import check_columns, checked_scores, checked_tasks
from bnmtl.errors import InputError, warn
from bnmtl.io.run import RUN_FILE, na_values_of_run, read_record
from bnmtl.tasks.files import NA_VALUES


@dataclass(frozen=True)
class Result(FolderResult):
    """The result of a run.

    Attributes
    ----------
    columns : pandas.DataFrame
        The columns of calibrated scores.
    """

    columns: pd.DataFrame


def run(options):
    """Check the input, apply the calibrators and write the folder of one run.

    Parameters
    ----------
    options : CalibrateOptions
        With `apply`, the folder of the earlier run.

    Returns
    -------
    Result

    Raises
    ------
    ValueError, TypeError
        If the options, the earlier run or the scores are invalid; nothing is written then.
    """
    _refuse_labels(options)
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
        kept = {
            key: earlier[key] for key in ("probabilities", "calibrators", "titles", "kept_between")
        }
        contents = {"scores.csv": as_written(rows, texts).assign(**p)}
        record = run.write({"tasks": [], "rows": len(rows), **kept}, contents)
    return Result(pd.DataFrame(p), folder=run.folder.path, record=record)


def _refuse_labels(options):
    for option in ("label", "positive", "group", "method"):
        if getattr(options, option):
            rule, found = "is for fitting calibrators", "{apply} takes those of {run}"
            raise contradiction(option, rule, found, run=options.apply)


def _earlier(path):
    """Return the calibrators of an earlier run by method, and the record of the run."""
    record = read_record(path)
    if record is None or record.get("command") != "calibrate":
        found = "holds no run.json" if record is None else "is from another command"
        rule, found = "must be a folder written by `bnmtl calibrate`", f"{{path}} {found}"
        raise InputError("apply", rule, found=found, remedies="check the path", path=path)
    try:
        low, high = record["kept_between"]
        if not 0 < low < high < 1:
            raise ValueError
        return from_record(record["calibrators"]), record
    except (AttributeError, KeyError, TypeError, ValueError):
        rule, place = "must hold fitted calibrators", {"file": Path(path, RUN_FILE)}
        found, remedies = "it is damaged", "fit them again"
        raise InputError(None, rule, found=found, remedies=remedies, **place) from None


def _scores_like(earlier, column, path):
    """Return the scores; they must be probabilities if those of the earlier run were."""
    scores = checked_scores(column)
    if earlier["probabilities"]:
        strange = np.flatnonzero((scores < 0) | (scores > 1))
        if strange.size:
            rule, found = (
                "must hold probabilities, as those of {path} were",
                "row {row} holds {score:g}",
            )
            details = {"path": path, "row": strange[0] + 1, "score": scores[strange[0]]}
            details["remedies"] = "choose another column"
            raise InputError("score", rule, found=found, column=column.name, **details)
    return scores


def _tasks(fitted, earlier, rows, options):
    """Return the task of each row, or None without calibrators by task or without the column."""
    if "platt_by_task" not in fitted:
        if options.task_column is not None:
            rule = "must be left out, as calibrators of {run} have no tasks"
            raise InputError("task_column", rule, run=options.apply)
        return None
    column = options.task_column or earlier["settings"].get("task_column")
    if column not in rows.columns:
        rule = "has no column of tasks, so they are calibrated without"
        warn("scores", rule, remedies="name it by {task_column}")
        return None
    tasks = checked_tasks(rows[column])
    known = set(fitted["platt_by_task"].a_.index)
    unknown = [name for name in sorted(set(tasks)) if name not in known]
    if unknown:
        rule = "has {unknown:task}, which {run} does not know"
        found, n = (
            "{n:row} are calibrated as all tasks together are",
            np.isin(tasks, unknown).sum(),
        )
        warn("scores", rule, found=found, unknown=unknown, run=options.apply, n=int(n))
    return tasks
