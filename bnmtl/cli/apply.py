"""One run of `bnmtl calibrate --apply`: the calibrators of an earlier run on other scores."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bnmtl.cli.calibrators import calibrated, from_record
from bnmtl.cli.columns import check_new_columns, without_points
from bnmtl.cli.runs import Clock, begin_record, user_messages, warnings_kept, write_record
from bnmtl.cli.scores import check_columns, checked_groups, checked_scores
from bnmtl.errors import InputError, warn
from bnmtl.io.run import RUN_FILE, read_record, run_folder

__all__ = ["Result", "run"]

_FILES = ("scores.csv", RUN_FILE)


@dataclass(frozen=True)
class Result:
    """What a run has written; `record` is the contents of run.json.

    Attributes
    ----------
    columns : pandas.DataFrame
        The columns of calibrated scores.
    folder : pathlib.Path
    record : dict
    """

    columns: pd.DataFrame
    folder: Path
    record: dict


def run(options):
    """Check, calibrate, and write the folder of one run.

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
        For mistakes in the options, the earlier run or the scores; nothing is written then.
    """
    from bnmtl.tasks import read

    for option in ("label", "positive"):
        if getattr(options, option) is not None:
            raise InputError(
                option,
                "is for fitting calibrators",
                found="{apply} takes those of {run}",
                remedies="leave one of the two out",
                run=options.apply,
            )
    clock = Clock()
    folder = run_folder(options.out, options.force)
    folder.reserve(_FILES)
    with warnings_kept() as caught:
        fitted, earlier = _earlier(options.apply)
        (rows,) = read([options.scores]).values()
        check_columns(rows, {"score": options.score, "group": options.group})
        scores = _scores_like(fitted, rows[options.score], options.apply)
        groups = _groups(fitted, earlier, rows, options)
        if groups is None:
            fitted.pop("platt_by_group", None)
        clock.lap("reading")
        p = {
            f"calibrated_{method}": np.clip(
                calibrated(own, scores, groups), *earlier["kept_between"]
            )
            for method, own in fitted.items()
        }
        check_new_columns(rows, p, "scores")
        clock.lap("calibrating")
    written = without_points(rows).assign(**p)
    record = {
        **begin_record("calibrate", options, user_messages(caught), _FILES),
        "tasks": [],
        "rows": len(rows),
        "calibrators": earlier["calibrators"],
        "kept_between": earlier["kept_between"],
    }
    with folder.writing() as temporary:
        written.to_csv(temporary / "scores.csv", index=False)
        clock.lap("files")
        write_record(temporary, record, clock)
    return Result(pd.DataFrame(p), folder.path, record)


def _earlier(path):
    """Return the calibrators of an earlier run by method, and its record."""
    record = read_record(path)
    if record is None or record.get("command") != "calibrate":
        found = "holds no run.json" if record is None else "is from another command"
        raise InputError(
            "apply",
            "must be a folder written by `bnmtl calibrate`",
            found=f"{{path}} {found}",
            remedies="check the path",
            path=path,
        )
    try:
        low, high = record["kept_between"]
        if not 0 < low < high < 1:
            raise ValueError
        return from_record(record["calibrators"]), record
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(
            None, "must hold fitted calibrators", found="it is damaged", file=Path(path, RUN_FILE)
        ) from None


def _scores_like(fitted, column, path):
    """Return the scores, which are probabilities where those of the earlier run were."""
    scores = checked_scores(column)
    if fitted["platt"].scale == "logit":
        strange = np.flatnonzero((scores < 0) | (scores > 1))
        if strange.size:
            raise InputError(
                "score",
                "must hold probabilities, as those of {path} were",
                found="row {row} holds {score:g}",
                remedies="choose another column",
                column=column.name,
                path=path,
                row=strange[0] + 1,
                score=scores[strange[0]],
            )
    return scores


def _groups(fitted, earlier, rows, options):
    """Return the group of each row, None where there is no calibrator of groups or no column."""
    if "platt_by_group" not in fitted:
        if options.group is not None:
            raise InputError(
                "group",
                "must be left out, as calibrators of {run} have no groups",
                run=options.apply,
            )
        return None
    column = options.group or earlier["settings"].get("group")
    if column not in rows.columns:
        warn(
            "scores",
            "has no column of groups, so they are calibrated without",
            remedies="name it by {group}",
        )
        return None
    groups = checked_groups(rows[column])
    known = set(fitted["platt_by_group"].a_.index)
    unknown = [name for name in sorted(set(groups)) if name not in known]
    if unknown:
        warn(
            "scores",
            "has {unknown:group}, which {run} does not know",
            found="{n:row} are calibrated as all groups together are",
            unknown=unknown,
            run=options.apply,
            n=int(np.isin(groups, unknown).sum()),
        )
    return groups
