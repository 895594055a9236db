"""Ways to predict a column of a table with tasks, from class shares to ensembles.

Each takes training rows, labels, test rows and a seed, and returns the classes and the
probabilities of the test rows. The task is one of the columns of the rows.
"""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from benchmarks.chain.tables import TASK
from bnmtl import SingleTaskLearner
from bnmtl.calibration import CalibratedClassifier
from bnmtl.classification import MultitaskBayesNetClassifier
from bnmtl.decorate import DecorateClassifier
from bnmtl.ensembles import EnsembleSelector, Stacking, build_library
from bnmtl.seeding import generator

TOGETHER = "networks together"
N_MEMBERS = 10
OF_NETWORKS = ("Bayesian network", "multi-net", "networks of all tasks")
ENSEMBLE, WITHOUT = "ensemble", "ensemble without networks"
SELECTED = (ENSEMBLE, WITHOUT)


def _known(rows):
    """Categories of the columns of all rows, so that each part has the same."""
    return [sorted(set(rows[column])) for column in rows]


def _one_hot(rows):
    return OneHotEncoder(categories=_known(rows), handle_unknown="ignore", sparse_output=False)


def _codes(rows):
    return OrdinalEncoder(categories=_known(rows))


def _naive_bayes(rows, seed):
    sizes = [len(known) for known in _known(rows)]
    return make_pipeline(_codes(rows), CategoricalNB(min_categories=sizes))


def _logistic(rows, seed):
    return make_pipeline(_one_hot(rows), LogisticRegression(max_iter=1000))


def _boosting(rows, seed):
    boosted = HistGradientBoostingClassifier(
        categorical_features=list(range(rows.shape[1])), random_state=seed
    )
    return make_pipeline(_codes(rows), boosted)


def _forest(rows, seed):
    return make_pipeline(_one_hot(rows), RandomForestClassifier(500, random_state=seed))


SIMPLE = {
    "naive Bayes": _naive_bayes,
    "logistic regression": _logistic,
    "gradient boosting": _boosting,
    "random forest": _forest,
}
PER_TASK = " per task"
SIMPLE_PER_TASK = ("naive Bayes", "logistic regression", "gradient boosting")


def _networks(learner=None, seed=None):
    # Folds of calibration and stacking may lack a task of few rows.
    options = {"task_column": TASK, "unseen": "ignore", "unknown_task": "average"}
    return MultitaskBayesNetClassifier(learner=learner, random_state=seed, **options)


def _stacking(rows, seed):
    models = [(TOGETHER, _networks(seed=seed))]
    models += [(name, make(rows, seed)) for name, make in SIMPLE.items()]
    return Stacking(models, method="logistic", random_state=seed)


MODELS = {
    **SIMPLE,
    "networks alone": lambda rows, seed: _networks(SingleTaskLearner(), seed),
    TOGETHER: lambda rows, seed: _networks(seed=seed),
    "together, calibrated": lambda rows, seed: CalibratedClassifier(
        _networks(seed=seed), cv=5, task_column=TASK
    ),
    "stacking": _stacking,
    "DECORATE": lambda rows, seed: DecorateClassifier(
        _networks(), n_estimators=N_MEMBERS, max_iterations=20, task_column=TASK, random_state=seed
    ),
    "DECORATE by networks": lambda rows, seed: DecorateClassifier(
        _networks(),
        n_estimators=N_MEMBERS,
        max_iterations=20,
        generator="network",
        task_column=TASK,
        random_state=seed,
    ),
}
SHARES, BAGGED = "class shares", "bagged networks"
WAYS = (
    SHARES,
    *MODELS,
    *(f"{name}{PER_TASK}" for name in SIMPLE_PER_TASK),
    BAGGED,
    *SELECTED,
)


def probabilities(way, rows, X, y, test, seed):
    """Classes and probabilities of test rows by a way that needs no library.

    Parameters
    ----------
    way : str
    rows : pandas.DataFrame
        All rows without labels, whose categories are known.
    X, y : training rows
    test : pandas.DataFrame
    seed : int
    """
    classes = np.unique(y)
    if way == SHARES:
        return classes, _shares(X, y, test, classes)
    if way == BAGGED:
        return classes, _bagged(X, y, test, classes, seed)
    if not way.endswith(PER_TASK):
        model = MODELS[way](rows, seed).fit(X, y)
        return model.classes_, model.predict_proba(test)
    make = SIMPLE[way.removesuffix(PER_TASK)]
    p = np.empty((len(test), len(classes)))
    for task in np.unique(test[TASK]):
        here, there = (X[TASK] == task).to_numpy(), (test[TASK] == task).to_numpy()
        p[there] = _of_task(make(rows, seed), X[here], y[here], test[there], classes)
    return classes, p


def _shares(X, y, test, classes):
    """Shares of the classes in the task of each row, as if each class had one case more."""
    counts = pd.crosstab(X[TASK], y).reindex(columns=classes, fill_value=0) + 1
    shares = counts.div(counts.sum(axis=1), axis=0)
    return shares.loc[test[TASK]].to_numpy()


def _bagged(X, y, test, classes, seed):
    """The mean of networks from bootstraps of the rows of each task."""
    rng, p = generator(seed, "bags"), np.zeros((len(test), len(classes)))
    places = list(X.groupby(TASK).indices.values())
    for _ in range(N_MEMBERS):
        at = np.concatenate([rng.choice(place, len(place)) for place in places])
        model = _networks(seed=seed).fit(X.iloc[at], y[at])
        p[:, np.searchsorted(classes, model.classes_)] += model.predict_proba(test) / N_MEMBERS
    return p


def _of_task(model, X, y, test, classes):
    """Probabilities of a task of which one class may be known."""
    found = np.zeros((len(test), len(classes)))
    known = np.unique(y)
    if len(known) == 1:
        found[:, classes == known[0]] = 1
        return found
    found[:, np.searchsorted(classes, known)] = clone(model).fit(X, y).predict_proba(test)
    return found


def library_of(X, y, test, profile, seed):
    """The library from which ensembles are selected; its part "test" has the test rows."""
    options = {"task_column": TASK, "test": (test, None), "random_state": seed}
    return build_library(X, y, profile, **options)


def selected(way, store, seed):
    """Classes and probabilities of the test rows of a library by one kind of selection."""
    if way == WITHOUT:
        family = store.settings["family"]
        store = store.subset(list(family.index[~family.isin(OF_NETWORKS)]))
    selector = EnsembleSelector(metric="cross_entropy", random_state=seed).fit(store)
    return selector.classes_, selector.predict_proba("test")
