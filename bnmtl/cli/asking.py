"""Strategies of `bnmtl query`: the rows they ask for, and why, in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from bnmtl import active
from bnmtl.active.picking import pick
from bnmtl.active.utilities import mean_probabilities, vote_shares
from bnmtl.classification.by_task import quick_classifier
from bnmtl.seeding import generator
from bnmtl.tasks import discretize

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
    "margin": (
        "In our study of ten tables, rows chosen like this were as good as those of "
        "active-decorate, and not better than random ones, beyond chance.",
    ),
    "query-by-boosting": (
        "In our study of 15 tables, rows chosen like this were never better than random ones, "
        "beyond chance.",
    ),
    "multitask": (
        "In our study of birds, rows chosen like this were not better than random ones, beyond "
        "chance; networks of all tasks together predicted better than those of each task.",
    ),
}
_RANDOM = "They are drawn at random, so another seed draws others."


@dataclass(frozen=True)
class Asked:
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


def strategy_of(name, pool, options, progress):
    """The strategy of a run.

    Parameters
    ----------
    name : str
    pool : bnmtl.cli.pool.Pool
    options : QueryOptions
    progress : callable or False

    Returns
    -------
    object with ``ask(n)`` and ``learning_curve(**plan)``
    """
    if name == "multitask":
        return _Together(pool, options, progress)
    return _OneTable(name, pool, options)


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
        """The `Asked` rows."""
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
        how = " ".join([how, *_NOT_BETTER.get(self._name, ())])
        classes = committee.classes_.tolist()
        words = _described(members, weights, classes, len(rows), self._name)
        return Asked(rows, found[0], *words, classes, how, self._is_random or strategy.draws)

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
        self._strategy = active.MultitaskQuery(
            quick_classifier("state" if has_gaps else "error"),
            random_state=options.seed,
            n_jobs=-1 if options.jobs is None else options.jobs,
            progress=progress,
        )

    def ask(self, n):
        """The `Asked` rows."""
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
        how = " ".join([_DRAWN, *_NOT_BETTER["multitask"]])
        return Asked(rows, found[0], *columns, classes.tolist(), how, draws=True)

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
    p, shares = mean_probabilities(members, weights), vote_shares(members, weights)
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
