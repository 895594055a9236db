"""Read the tasks of `bnmtl learn` and `bnmtl relate` and check them against the options."""

from pathlib import Path

from bnmtl.cli.columns import na_option, na_values
from bnmtl.cli.runs import digest
from bnmtl.errors import InputError, warn
from bnmtl.learners.held_out import most_folds
from bnmtl.tasks.order import THRESHOLD, order_score
from bnmtl.wording import Bare


def read_tasks(options):
    """Return the encoded tasks, and the digests and cut points of their data for run.json."""
    from bnmtl.tasks import read

    # Computed first, because the files may be gone after learning.
    origin = {"sha256": [digest(path) for path in options.paths if Path(path).is_file()]}
    with na_option(options):
        frames = read(list(options.paths), options.task_column, na_values(options))
    _check_ignored(options, frames)
    ignored = list(options.ignore)
    frames = {name: frame.drop(columns=ignored, errors="ignore") for name, frame in frames.items()}
    tasks, edges = encoded_tasks(frames, options)
    if edges is not None:
        origin["cut_points"] = edges.to_dict()
    return tasks, origin


def encoded_tasks(frames, options):
    """Return frames as encoded tasks, and the `Edges` if options ask for discretization."""
    from bnmtl.tasks import discretize, encode

    edges = None
    if options.discretize is not None:
        frames, edges = discretize(frames, bins=options.discretize, return_edges=True)
    return encode(frames, missing=options.missing), edges


def _check_ignored(options, frames):
    for column in options.ignore:
        if column == options.task_column:
            raise InputError("ignore", "must not name the task column", Bare(column))
        if not any(column in frame.columns for frame in frames.values()):
            rule, found = "must name a column of the data", "there is no {name}"
            remedy = "check the spelling"
            raise InputError("ignore", rule, found=found, remedies=remedy, name=column)


def check_folds(n_folds, tasks, or_none=True):
    """Raise InputError if no task has enough rows for the number of folds, which may be 0."""
    most = most_folds(tasks)
    if n_folds is not None and not (or_none and n_folds == 0) and not 2 <= n_folds <= most:
        rule = "must be 0 or from 2" if or_none else "must be from 2"
        rule += " to the rows of the largest task, {most} (copies count once)"
        raise InputError("folds", rule, n_folds, most=most)


def warn_of_copies(tasks):
    """Warn about rows that are repeated more often than expected by chance."""
    found = "copies count as rows of their own and make chance look like structure"
    originals = {name: len(task.originals[1]) for name, task in tasks.items()}
    report_copies(originals, {name: task.n_rows for name, task in tasks.items()}, found)


def warn_of_order(tasks):
    """Warn if neighboring rows are more alike than in a random order."""
    score = order_score(tasks.values())
    if score > THRESHOLD:
        warn(
            rule="Rows next to each other are more alike than by chance ({score:.0f} standard "
            "deviations), as in a series or in sorted rows",
            found="if they depend on each other, chance looks like structure",
            remedies=(
                "thin a series to every so many rows",
                "ignore this if rows were only sorted",
            ),
            score=score,
        )


def report_copies(originals, n_rows, found):
    """Warn if tasks have more rows than originals.

    Parameters
    ----------
    originals, n_rows : dict of str to int
        By task.
    found : str
        What copies do.
    """
    counts = [
        f"`{name}`: {n - originals[name]} of {n}"
        for name, n in n_rows.items()
        if n > originals[name]
    ]
    if counts:
        of_task = " of their task" if len(n_rows) > 1 else ""
        rule = f"Rows are copies of other rows{of_task} ({{counts!s}})"
        warn(rule=rule, found=found, remedies="remove them", counts=", ".join(counts))
