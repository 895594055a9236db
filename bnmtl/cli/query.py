"""The rows to label next: `bnmtl query`."""

import contextlib
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_numeric_dtype
from sklearn.base import BaseEstimator, ClassifierMixin

from bnmtl import active
from bnmtl.active import forecast
from bnmtl.active.query import pick
from bnmtl.active.utilities import vote_shares
from bnmtl.classification.by_task import quick_classifier
from bnmtl.cli.messages import renamed
from bnmtl.cli.runs import FolderResult, Picture, Table, fit_parameters, new_run, where, wrapped
from bnmtl.cli.tables import (
    as_written,
    check_column,
    check_features,
    check_new_columns,
    complete_names,
    given_columns,
    na_values,
    plain,
    read_table,
    without_points,
)
from bnmtl.errors import InputError, located, warn
from bnmtl.reports.downstream import write_queried as write_report
from bnmtl.seeding import generator
from bnmtl.tasks import discretize
from bnmtl.wording import count

NEW_COLUMNS = ("rank", "utility", "predicted", "probability", "reason")
_FEWEST_LABELS = 5
_LEAST_IDENTIFIED = 10  # rows among which names of rows are noticed
_UNKNOWN = "?"


@dataclass(frozen=True)
class PoolTable:
    """Rows with and without a label.

    Attributes
    ----------
    rows : pandas.DataFrame
        As they were read.
    X : pandas.DataFrame
        Features.
    y : pandas.Series
        Labels; missing where there is none.
    task : numpy.ndarray of object or None
    cost : numpy.ndarray of float or None
        1 for rows that may not be asked for, which need none.
    candidates : numpy.ndarray of int
        Rows that may be asked for.
    n_excluded : int
    """

    rows: pd.DataFrame
    X: pd.DataFrame
    y: pd.Series
    task: np.ndarray | None
    cost: np.ndarray | None
    candidates: np.ndarray
    n_excluded: int

    @property
    def labeled(self):
        """Positions of the rows with a label."""
        return np.flatnonzero(self.y.notna())


def read_pool(options, strategy):
    """Read the table and check all columns that options name; returns a `PoolTable`."""
    rows = read_table(options.table, options)
    left_out = {
        column
        for option, column in given_columns(rows, options, ("label", "task_column", "cost"))
        if option != "task_column" or strategy == "multitask"
    }
    check_new_columns(rows, NEW_COLUMNS, "table")
    y = _labels(rows[options.label])
    task = None
    if options.task_column is not None:
        task = complete_names(rows[options.task_column], "task_column")
    X = rows.drop(columns=[name for name in rows if name in left_out])
    if task is not None and options.task_column in X:
        X = X.assign(**{options.task_column: task})
    check_features(X, options)
    _warn_of_identifiers(X)
    candidates, n_excluded = _candidates(rows, y, options)
    costs = _costs(rows, options.cost, candidates)
    return PoolTable(rows, X, y, task, costs, candidates, n_excluded)


def _warn_of_identifiers(X):
    """Warn about features that seem to be names or numbers of the rows."""
    if len(X) < _LEAST_IDENTIFIED:
        return
    for name, column in X.items():
        is_number = is_numeric_dtype(column.dtype)
        numbers = np.sort(column.to_numpy(float, na_value=np.nan)) if is_number else np.zeros(0)
        if column.is_unique and (not is_number or (np.diff(numbers) == 1).all()):
            message = f"has the column `{name}`, in which each row has its own value"
            warn(
                message,
                argument="table",
                remedy=f"leave it out with `--ignore {name}` if it only names the rows",
            )


def _labels(column):
    """The labels, as names; raise unless there are two classes, and rows without a label."""
    name, kept = column.name, plain(column)
    if is_float_dtype(kept) and column.notna().any():
        message = f"must hold classes; it holds numbers such as {float(column.dropna().iloc[0])}"
        raise InputError(message, argument="label", column=name)
    labels = kept.astype("string")
    n_labels, classes = int(labels.notna().sum()), labels.dropna().unique()
    if n_labels == len(labels):
        message = "must be empty in the rows to ask for; each row has a label"
        remedy = "empty it there"
        if _UNKNOWN in classes:
            remedy += ', or give `--na "?"` if this means that there is none'
        raise InputError(message, argument="label", column=name, remedy=remedy)
    if n_labels < _FEWEST_LABELS or len(classes) < 2:
        k = "one class" if len(classes) == 1 else f"{len(classes)} classes"
        message = (
            f"must have {_FEWEST_LABELS} labels or more, of two classes; it has "
            f"{count(n_labels, 'label')} of {k}"
        )
        raise InputError(
            message, argument="label", column=name, remedy="label some random rows first"
        )
    if _UNKNOWN in classes:
        remedy = 'give `--na "?"` if this means that there is no label'
        warn("has a class `?`", argument="label", column=name, remedy=remedy)
    return labels.astype(object).where(labels.notna(), None)


def _costs(rows, name, candidates):
    """The cost of each row; of rows that may not be asked for it is not read."""
    if name is None:
        return None
    column = rows[name]
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        raise InputError("must be numbers above 0", argument="cost", column=name)
    numbers = np.ones(len(rows))
    numbers[candidates] = column.to_numpy(dtype=float, na_value=np.nan)[candidates]
    wrong = ~(np.isfinite(numbers) & (numbers > 0))
    if wrong.any():
        at = int(wrong.argmax())
        value = "empty" if np.isnan(numbers[at]) else numbers[at]
        message = f"must be above 0 in the rows to ask for; it is {value} in row {at + 1}"
        raise InputError(message, argument="cost", column=name)
    return numbers


def _candidates(rows, y, options):
    """Rows that may be asked for, and the number of excluded ones."""
    missing = y.isna().to_numpy()
    if options.exclude is None:
        return np.flatnonzero(missing), 0
    as_text = [name for name in rows if not is_numeric_dtype(rows[name])]
    others = read_table(options.exclude, options, as_text)
    shared = [name for name in others if name in rows and name != options.label]
    if not shared:
        with located(file=options.exclude):
            message = f"must have a column of TABLE, got columns {', '.join(map(str, others))}"
            raise InputError(message, argument="exclude")
    # Numbers are written alike only in one table.
    both = without_points(pd.concat([rows[shared], others[shared]], ignore_index=True))
    texts = list(both.astype("string").fillna("").itertuples(index=False, name=None))
    known = set(texts[len(rows) :])
    is_known = np.array([row in known for row in texts[: len(rows)]])
    candidates = np.flatnonzero(missing & ~is_known)
    if not len(candidates):
        message = f"must leave rows to ask for; each row without a label is in `{options.exclude}`"
        raise InputError(message, argument="exclude")
    return candidates, int((missing & is_known).sum())


_KINDS = {
    "active-decorate": active.ActiveDecorate,
    "active-decorate-js": active.ActiveDecorateJS,
    "margin": active.MarginSampling,
    "query-by-bagging": active.QueryByBagging,
    "query-by-boosting": active.QueryByBoosting,
    "bootstrap-lv": active.BootstrapLV,
    "bootstrap-lv-ext": active.BootstrapLVExt,
    "bootstrap-js": active.BootstrapJS,
}
_BINS = 4
_SURE = 0.995
_FEW_MEMBERS = 2  # for the learning curve of networks, which are slow to learn
_HOW = "They have the largest utilities: on them the committee is least decided."
_HOW_ALONE = "They have the largest utilities: on them a random forest is least decided."
_DRAWN = (
    "They are drawn: a row is the more likely the more the committee disagrees on it, so another "
    "seed draws others."
)
# Strategies that were nowhere better than random rows, beyond chance, in studies of this project.
_NOT_BETTER = {
    "margin": " In our study of ten tables, rows chosen like this were as good as those of "
    "active-decorate, and not better than random ones, beyond chance.",
    "query-by-boosting": " In our study of 15 tables, rows chosen like this were never better than "
    "random ones, beyond chance.",
    "multitask": " In our study of birds, rows chosen like this were not better than random ones, "
    "beyond chance; networks of all tasks together predicted better than those of each task.",
}
_RANDOM = "They are drawn at random, so another seed draws others."


@dataclass(frozen=True)
class Queried:
    """What a strategy asks for.

    Attributes
    ----------
    rows : numpy.ndarray of int
        The most useful first.
    utilities : numpy.ndarray of float, shape (n_rows,)
        NaN for rows that may not be asked for.
    predicted, probability, reasons : list
        Of the rows: the most probable class, its probability, and words.
    classes : list of str
    how : str
        How the rows were chosen.
    draws : bool
    """

    rows: np.ndarray
    utilities: np.ndarray
    predicted: list
    probability: list
    reasons: list
    classes: list
    how: str
    draws: bool


class _OneTable:
    """Committees that treat all rows as one table."""

    def __init__(self, name, pool, options):
        self._pool, self._name, self._is_random = pool, name, name == "random"
        kind = active.BootstrapJS if self._is_random else _KINDS[name]
        self._strategy = kind(random_state=options.seed)
        if "task_column" in self._strategy.get_params():
            self._strategy.set_params(task_column=options.task_column)
        self._seed = options.seed

    def ask(self, n):
        """The `Queried` rows."""
        pool, strategy = self._pool, self._strategy
        y = pool.y.to_numpy(dtype=object)
        committee = strategy.committee().fit(pool.X.iloc[pool.labeled], y[pool.labeled].astype(str))
        options = {"candidates": pool.candidates, "return_utilities": True}
        if self._is_random:
            chooser = active.RandomQuery(random_state=self._seed)
            rows, found = chooser.query(pool.X, y, batch_size=n, **options)
            if pool.cost is not None:
                found = found + 1 / pool.cost
                rows = _picked(found[0], True, n, self._seed)
        elif pool.cost is None:
            rows, found = strategy.query(pool.X, y, batch_size=n, committee=committee, **options)
        else:
            _, found = strategy.query(pool.X, y, committee=committee, **options)
            found = found / pool.cost
            rows = _picked(found[0], strategy.draws, n, self._seed)
        members = committee.member_probabilities(pool.X.iloc[rows])
        weights = getattr(committee, "member_weights_", None)
        how = _HOW_ALONE if self._name == "margin" else _HOW
        how = _RANDOM if self._is_random else _DRAWN if strategy.draws else how
        how += _NOT_BETTER.get(self._name, "")
        classes = committee.classes_.tolist()
        words = _described(members, weights, classes, len(rows), self._name)
        return Queried(rows, found[0], *words, classes, how, self._is_random or strategy.draws)

    def learning_curve(self, **plan):
        """Errors of the committee on random cases."""
        pool = self._pool
        data = pool.X.iloc[pool.labeled].reset_index(drop=True), pool.y.iloc[pool.labeled]
        return _curve(self._strategy.committee(), data, plan)


class _Together:
    """Committees of networks of all tasks, learned together."""

    def __init__(self, pool, options, progress):
        self._pool = pool
        self._X = discretize(pool.X, _BINS)
        has_gaps = bool(self._X.isna().any(axis=None))
        classifier = quick_classifier("state" if has_gaps else "error")
        self._strategy = active.MultitaskQuery(classifier, **fit_parameters(options, progress))

    def ask(self, n):
        """The `Queried` rows."""
        pool, y = self._pool, self._pool.y.rename("label of the row")
        committee = self._strategy.committee().fit(self._X, y, pool.task)
        rows, found = self._strategy.query(
            *(self._X, y, pool.task),
            candidates=pool.candidates,
            batch_size=n,
            cost=pool.cost,
            return_utilities=True,
            committee=committee,
        )
        (classes,) = committee.classes_.values()
        words = {}
        # Rows of tasks without a network have more members.
        has_network = np.isin(pool.task[rows].astype(str), list(committee.members_[0]))
        for some in (rows[has_network], rows[~has_network]):
            if len(some):
                members = committee.member_probabilities(self._X.iloc[some], pool.task[some])
                described = _described(members, None, classes.tolist(), len(some), "multitask")
                words |= dict(zip(some, zip(*described, strict=True), strict=True))
        columns = map(list, zip(*(words[row] for row in rows), strict=True))
        how = _DRAWN + _NOT_BETTER["multitask"]
        return Queried(rows, found[0], *columns, classes.tolist(), how, draws=True)

    def learning_curve(self, **plan):
        """Errors of a smaller committee on random cases."""
        pool = self._pool
        X = self._X.assign(**{_TaskColumn.NAME: pool.task}).iloc[pool.labeled]
        few = self._strategy.committee()
        few.set_params(n_members=_FEW_MEMBERS, n_jobs=None, progress=False)
        data = X.reset_index(drop=True), pool.y.iloc[pool.labeled]
        return _curve(_TaskColumn(few), data, plan)


class _TaskColumn(ClassifierMixin, BaseEstimator):
    """A committee of several tasks as a classifier of rows with a column of tasks."""

    NAME = "task of the row"

    def __init__(self, committee):
        self.committee = committee

    def fit(self, X, y):
        """Fit the committee."""
        self.fitted_ = self.committee.fit(
            X.drop(columns=self.NAME), pd.Series(y, name="label of the row"), X[self.NAME]
        )
        (self.classes_,) = self.fitted_.classes_.values()
        return self

    def predict_proba(self, X):
        """Mean of the members' probabilities."""
        members = self.fitted_.member_probabilities(X.drop(columns=self.NAME), X[self.NAME])
        return members.mean(axis=0)


def _curve(classifier, data, plan):
    strategies = {"random": (active.RandomQuery(), classifier)}
    X, y = data
    return active.run_experiment(strategies, {"labels so far": (X, y.to_numpy(str))}, **plan)


def _picked(utilities, draws, n, seed):
    """Rows by their utility per cost."""
    candidates = np.flatnonzero(~np.isnan(utilities))
    rng = generator(seed, "pick by cost")
    return candidates[pick(utilities[candidates], n, rng, draws)]


def _described(members, weights, classes, rows, strategy):
    """The most probable class of each row, its probability, and the reason to ask for it."""
    p, shares = np.average(members, axis=0, weights=weights), vote_shares(members, weights)
    best = p.argmax(axis=1)
    reasons = []
    for at in range(rows):
        winner = int(shares[at].argmax())
        says = f"{_part(shares[at, winner], members, weights)} {classes[winner]}"
        if strategy == "margin":
            chance = f"with a probability of {p[at, best[at]]:.2f}"
            reasons.append(f"the forest says {classes[best[at]]}, {chance}")
        elif strategy == "random":
            reasons.append(f"drawn at random; of the committee, {says}")
        elif shares[at, winner] < 1 - 1e-12:
            reasons.append(f"the committee disagrees: {says}")
        else:
            sure = p[at, best[at]] >= _SURE
            unsure = "" if sure else f", with a probability of {p[at, best[at]]:.2f}"
            reasons.append(
                f"the committee agrees{'' if sure else ', but is not sure'}: {says}{unsure}"
            )
    predicted = [classes[at] for at in best]
    return predicted, p[np.arange(rows), best].round(4).tolist(), reasons


def _part(share, members, weights):
    """How many members say something, in words."""
    if weights is not None:
        return f"{100 * share:.0f} % of the votes say"
    n = len(members)
    return f"{round(share * n)} of {n} say"


_FILES = ("queries.csv", "utilities.csv", "learning_curve.csv", "map.png", "learning_curve.png")
_FEWEST_FOR_CURVE = 20  # labels for a learning curve
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
    """Choose the rows to label next; see `bnmtl.cli`."""
    name = options.strategy
    if name is None:
        name = "active-decorate" if options.task_column is None else "multitask"
    if name == "multitask" and options.task_column is None:
        message = f"must be another one without `task_column`, got {name}"
        raise InputError(message, argument="strategy", options=("task_column",))
    with new_run("query", options, [*_FILES, "report.html"]) as run:
        pool = read_pool(options, name)
        places = _places(pool.rows, options.map)
        run.lap("reading")
        with renamed(X="table"):
            if name == "multitask":
                strategy = _Together(pool, options, progress)
            else:
                strategy = _OneTable(name, pool, options)
            asked = strategy.ask(min(options.n, len(pool.candidates)))
        run.lap("querying")
        curves = _learning_curve(strategy, pool, options, progress)
        expected = None
        if curves is not None:
            expected = forecast(curves, len(pool.labeled), len(asked.rows))._asdict()
        run.lap("learning curve")
        queries, utilities = _tables(pool, asked, na_values(options))
        contents = {"queries.csv": queries, "utilities.csv": utilities}
        if curves is not None:
            contents["learning_curve.csv"] = curves.drop(columns=["data", "strategy", "seconds"])
        entries = _record(name, pool, asked, expected)
        pictures = _pictures(pool, asked, places, curves)
        record = run.write(entries, contents, pictures, partial(write_report, queries=queries))
    return Result(queries, folder=run.folder.path, record=record)


def _places(rows, given):
    """The two columns of the map, if there is one."""
    if given is None:
        return None
    names = [name.strip() for name in given.split(",")]
    if len(names) != 2:
        raise InputError(f"must be two columns, written as X,Y, got {given}", argument="map")
    if names[0] == names[1]:
        raise InputError(f"must be two different columns, got {given}", argument="map")
    for name in names:
        check_column(rows, name, "map", "table")
        if not pd.api.types.is_numeric_dtype(rows[name]):
            raise InputError("must hold numbers", argument="map", column=name)
    return names


def _learning_curve(strategy, pool, options, progress):
    """Errors by number of labels, of random cases; None with few labels."""
    n_labels = len(pool.labeled)
    if n_labels < _FEWEST_FOR_CURVE or pool.y.value_counts().max() < _FOLDS:
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
            **fit_parameters(options, progress),
        )
    return None


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


def _pictures(pool, asked, places, curves):
    """The pictures to draw, by file name."""
    from bnmtl import plotting

    drawn = {}
    if places is not None:
        drawn["map.png"] = partial(_map, pool, asked, places)
    if curves is not None:
        drawn["learning_curve.png"] = partial(plotting.strategy_curves, curves)
    return {name: Picture(draw, (name,)) for name, draw in drawn.items()}


def _map(pool, asked, places):
    """Draw utilities over two columns."""
    from bnmtl import plotting

    rank = pd.Series(np.nan, index=range(len(pool.rows)))
    rank[asked.rows] = np.arange(1, len(asked.rows) + 1)
    table = pool.rows[places].reset_index(drop=True)
    table = table.assign(utility=asked.utilities, rank=rank)
    is_labeled = pool.y.notna().to_numpy()
    return plotting.utility_map(table, *places, rank="rank", is_labeled=is_labeled)


def _record(name, pool, asked: Queried, expected):
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
    wrong = 100 * (1 - shares.iloc[0])
    verdict += [
        _fall(expected, len(asked.rows)),
        f"Always saying {shares.index[0]}, the most frequent label, is wrong for {wrong:.1f} %.",
    ]
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
    now, fall, low, high = (100 * expected[name] for name in ("now", "fall", "low", "high"))
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


_MOST_ROWS = 20  # shown


def summary(result):
    """Show the first rows to label next, and what their labels are worth."""
    shown = result.queries[:_MOST_ROWS]
    given = [name for name in shown if name not in NEW_COLUMNS]
    names = [result.record["settings"]["task_column"], *given[:2]]
    names = list(dict.fromkeys(name for name in names if name is not None))
    rows = [
        [f"{rank}", *map(str, cells), str(predicted), f"{p:.2f}", reason]
        for rank, cells, predicted, p, reason in zip(
            shown["rank"],
            shown[names].itertuples(index=False, name=None),
            shown["predicted"],
            shown["probability"],
            shown["reason"],
            strict=True,
        )
    ]
    yield Table(["rank", *names, "predicted", "p", "reason"], rows, n_names=len(names) + 4)
    yield ""
    yield from wrapped(*result.record["verdict"])
    yield where(result)
