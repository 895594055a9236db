"""One run of `bnmtl library`: a table in, the predictions of many models out."""

from dataclasses import dataclass
from pathlib import Path

from bnmtl.cli.columns import check_column, check_complete
from bnmtl.cli.messages import Option, renamed
from bnmtl.cli.runs import user_messages, warnings_kept
from bnmtl.ensembles import PredictionStore, build_library

_GIGABYTE = 10**9


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes
    ----------
    store : PredictionStore
    folder : pathlib.Path
    warnings : list of str
        In terms of the command line.
    """

    store: PredictionStore
    folder: Path
    warnings: list


def run(options, progress=None):
    """Read the table, and build the library in its folder.

    Parameters
    ----------
    options : LibraryOptions
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
    X, y = labelled(options.table, options.label)
    test = None if options.test is None else _test_cases(options)
    memory = options.max_memory
    with warnings_kept() as caught, renamed("X", "table"), renamed("cv", Option("cv")):
        store = build_library(
            X,
            y,
            options.profile,
            hillclimb=options.hillclimb,
            cv=options.cv,
            test=test,
            out=options.out,
            time_limit=options.time_limit,
            max_memory=None if memory is None else round(memory * _GIGABYTE),
            keep_models=options.keep_models,
            n_jobs=-1 if options.jobs is None else options.jobs,
            random_state=options.seed,
            progress=progress or False,
            force=options.force,
        )
    return Result(store, Path(options.out), user_messages(caught))


def labelled(path, label):
    """The features and the labels of a table."""
    from bnmtl.tasks.files import read_rows

    rows = read_rows(path)
    check_column(rows, label, "label", "table")
    check_complete(rows[label], "label", rows[label].isna().to_numpy())
    return rows.drop(columns=label), rows[label]


def _test_cases(options):
    """Features and labels of the test cases; labels are None if there is no such column."""
    from bnmtl.tasks.files import read_rows

    rows = read_rows(options.test)
    if options.label not in rows:
        return rows, None
    return labelled(options.test, options.label)
