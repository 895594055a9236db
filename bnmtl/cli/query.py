"""One run of `bnmtl query`: a table with missing labels in, the rows to label next out."""

import contextlib
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bnmtl.active import forecast
from bnmtl.cli.asking import Asked, strategy_of
from bnmtl.cli.columns import as_written, check_column, na_values
from bnmtl.cli.messages import renamed
from bnmtl.cli.pool import NEW_COLUMNS, read_pool
from bnmtl.cli.runs import FolderResult, as_options, new_run
from bnmtl.errors import InputError
from bnmtl.reports.queried import write as write_report
from bnmtl.wording import Bare, count

_FILES = ("queries.csv", "utilities.csv", "learning_curve.csv", "map.png", "learning_curve.png")
_FEWEST = 20  # labels for a learning curve
_POINTS, _FOLDS, _REPEATS = 4, 4, 3


@dataclass(frozen=True)
class Result(FolderResult):
    """The result of a run.

    Attributes
    ----------
    queries : pandas.DataFrame
        The rows to label next, the most useful first.
    """

    queries: pd.DataFrame


def run(options, progress=None):
    """Check the input, choose the rows and write the folder of one run.

    Parameters
    ----------
    options : QueryOptions
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
    name = options.strategy
    if name is None:
        name = "active-decorate" if options.task_column is None else "multitask"
    if name == "multitask" and options.task_column is None:
        raise InputError("strategy", "must be another one without {task_column}", Bare(name))
    with new_run("query", options, [*_FILES, "report.html"]) as run:
        pool = read_pool(options, name)
        places = _places(pool.rows, options.map)
        run.lap("reading")
        with renamed("X", "table"):
            strategy = strategy_of(name, pool, options, progress or False)
            asked = strategy.ask(min(options.n, len(pool.candidates)))
        run.lap("asking")
        curves = _learning_curve(strategy, pool, options, progress)
        expected = _expected(curves, pool, len(asked.rows))
        run.lap("learning curve")
        queries, utilities = _tables(pool, asked, na_values(options))
        figures = _draw(pool, asked, places, curves)
        run.lap("pictures")
        contents = {"queries.csv": queries, "utilities.csv": utilities, **figures}
        if curves is not None:
            contents["learning_curve.csv"] = curves.drop(columns=["data", "strategy", "seconds"])
        entries = _record(name, pool, asked, expected)

        def write_page(path, record, seconds):
            settings = as_options(record["settings"])
            write_report(path, record, queries, figures, settings, seconds)

        record = run.write(entries, contents, write_page)
    return Result(queries, folder=run.folder.path, record=record)


def _places(rows, given):
    """The two columns of the map, if there is one."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    if len(names) != 2:
        raise InputError("map", "must be two columns, written as X,Y", Bare(given))
    if names[0] == names[1]:
        raise InputError("map", "must be two different columns", Bare(given))
    for name in names:
        check_column(rows, name, "map", "table")
        if not pd.api.types.is_numeric_dtype(rows[name]):
            raise InputError("map", "must hold numbers", column=name)
    return names


def _learning_curve(strategy, pool, options, progress):
    """Errors by number of labels, of random cases; None with few labels."""
    n_labels = len(pool.labeled)
    if n_labels < _FEWEST or pool.y.value_counts().max() < _FOLDS:
        return None
    most = int(n_labels * (1 - 1 / _FOLDS))
    sizes = np.unique(np.geomspace(max(5, most // 4), most, _POINTS).astype(int))
    # A task may have too few of the first labels.
    with warnings.catch_warnings(), contextlib.suppress(InputError):
        warnings.simplefilter("ignore", UserWarning)  # of few cases of a class
        return strategy.learning_curve(
            first=int(sizes[0]),
            batch_size=np.diff(sizes).tolist(),
            cv=_FOLDS,
            repeats=_REPEATS,
            random_state=options.seed,
            n_jobs=-1 if options.jobs is None else options.jobs,
            progress=progress or False,
        )
    return None


def _expected(curves, pool, n_more):
    """How the error would fall; None without a curve."""
    if curves is None:
        return None
    return forecast(curves, len(pool.labeled), n_more)._asdict()


def _tables(pool, asked, na_values):
    """The rows to ask for, and the utility of each row that may be asked for."""
    first = pool.rows.iloc[asked.rows]
    columns = (np.arange(1, len(first) + 1), asked.utilities[asked.rows])
    columns += (asked.predicted, asked.probability, asked.reasons)
    queries = as_written(first, na_values).assign(**dict(zip(NEW_COLUMNS, columns, strict=True)))
    ranks = pd.Series(pd.NA, index=range(len(pool.rows)), dtype="Int64")
    ranks[asked.rows] = np.arange(1, len(first) + 1)
    utilities = pd.DataFrame(
        {"row": np.arange(1, len(pool.rows) + 1), "utility": asked.utilities, "rank": ranks}
    )
    return queries.reset_index(drop=True), utilities.iloc[pool.candidates].reset_index(drop=True)


def _draw(pool, asked, places, curves):
    from bnmtl import plotting

    figures = {}
    if places is not None:
        rank = pd.Series(np.nan, index=range(len(pool.rows)))
        rank[asked.rows] = np.arange(1, len(asked.rows) + 1)
        table = pool.rows[places].reset_index(drop=True)
        table = table.assign(utility=asked.utilities, rank=rank)
        figures["map.png"] = plotting.utility_map(
            table, *places, rank="rank", is_labeled=pool.y.notna().to_numpy()
        )
    if curves is not None:
        figures["learning_curve.png"] = plotting.strategy_curves(curves)
    return figures


def _record(name, pool, asked: Asked, expected):
    """The entries of run.json."""
    verdict = [
        f"{count(len(asked.rows), 'row')} of {len(pool.candidates)} without a label "
        f"{'is' if len(asked.rows) == 1 else 'are'} to be labeled next; "
        f"{count(len(pool.labeled), 'row')} have one.",
        asked.how,
    ]
    if pool.cost is not None:
        verdict.append("Utilities are divided by the cost.")
    if pool.n_excluded:
        verdict.append(f"{count(pool.n_excluded, 'row')} are left out as --exclude says.")
    shares = pool.y.value_counts(normalize=True)
    verdict += [_fall(expected, len(asked.rows)), _nothing(shares)]
    return {
        "tasks": _tasks(pool),
        "strategy": name,
        "draws": asked.draws,
        "rows": {
            "labeled": len(pool.labeled),
            "candidates": len(pool.candidates),
            "excluded": pool.n_excluded,
            "asked": len(asked.rows),
        },
        "classes": asked.classes,
        "expected_error": expected,
        "verdict": verdict,
    }


def _tasks(pool):
    """Rows with a label and rows that may be asked for, by task."""
    if pool.task is None:
        return []
    is_labeled = pool.y.notna().to_numpy()
    return [
        {
            "name": str(name),
            "labeled": int(is_labeled[pool.task == name].sum()),
            "candidates": int((pool.task[pool.candidates] == name).sum()),
        }
        for name in sorted(set(pool.task))
    ]


def _fall(expected, n_more):
    if expected is None:
        return "There are too few labels to say how much the error would fall."
    now, fall, low, high = (100 * expected[one] for one in ("now", "fall", "low", "high"))
    now = f"The share of errors is about {now:.1f} %"
    more = f"{count(n_more, 'random label')} more"
    if fall <= -0.05:
        return (
            f"{now}; by the learning curve so far, labels have not lowered it: {more} would raise "
            f"it by {-fall:.1f} points (90 % interval {-high:.1f} to {-low:.1f}), but chosen ones "
            "may lower it."
        )
    lower = f"lower it by {fall:.1f} points" if fall >= 0.05 else "hardly lower it"
    return (
        f"{now}; by the learning curve so far, {more} would {lower} (90 % interval {low:.1f} to "
        f"{high:.1f}), and chosen ones may lower it more."
    )


def _nothing(shares):
    wrong = 100 * (1 - shares.iloc[0])
    return f"Always saying {shares.index[0]}, the most frequent label, is wrong for {wrong:.1f} %."
