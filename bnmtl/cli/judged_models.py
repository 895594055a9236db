"""The models that `bnmtl validate` judges, by name, and the features that each of them gets."""

import warnings
from pathlib import Path
from typing import NamedTuple

from bnmtl.cli.validate_options import MODELS
from bnmtl.errors import InputError, InputWarning
from bnmtl.wording import Bare

_TREES = 100
NETWORKS = ("network", "together")


class Model(NamedTuple):
    """A classifier and its features.

    Parameters
    ----------
    classifier : estimator
    X : pandas.DataFrame or numpy.ndarray, shape (n_cases, n_columns)
    """

    classifier: object
    X: object


def model_names(options):
    """The names of the models to judge, the default ones if none is given."""
    has_tasks = options.task_column is not None
    if not options.model:
        return ["together", "network", "forest"] if has_tasks else ["network", "forest"]
    for name in options.model:
        if name not in MODELS:
            raise InputError("model", "must be one of {known}", Bare(name), known=list(MODELS))
    if "together" in options.model and not has_tasks:
        rule = "must be another one without {task_column}, which says what is learned together"
        raise InputError("model", rule, Bare("together"))
    return list(dict.fromkeys(options.model))


def models_of(names, cases, options):
    """Unfitted models by name; without `together` by default if there is one task only.

    Parameters
    ----------
    names : list of str
    cases : bnmtl.cli.judged_cases.Cases
    options : ValidateOptions

    Returns
    -------
    dict of str to Model

    Raises
    ------
    ValueError
        If a model needs states, and a column is continuous.
    """
    if "together" in names and len(set(cases.task)) < 2:
        if options.model:
            rule, found = "must be another one for a single task", "all rows are of {task}"
            raise InputError("model", rule, Bare("together"), found=found, task=cases.task[0])
        names = [name for name in names if name != "together"]
    missing = "state" if options.missing == "state" else "error"
    if {*NETWORKS, "naive-bayes"} & set(names):
        _check_states(cases, options, missing, bool({*NETWORKS} & set(names)))
    numbers = cases.numbers() if set(names) - {*NETWORKS, "naive-bayes"} else None
    found = {}
    for name in names:
        if name in NETWORKS:
            found[name] = _network(name, cases, options.task_column, missing)
        elif name == "naive-bayes":
            found[name] = _naive_bayes(cases)
        else:
            found[name] = Model(_trees(name), numbers)
    return found


def _check_states(cases, options, missing, uses_networks):
    """Raise unless all columns have states that a network can have."""
    from bnmtl.tasks import encode, split

    frame = cases.states.assign(**{options.label: cases.y})
    tasks = {Path(options.table).stem: frame}
    if cases.task is not None:
        tasks = split(frame.assign(**{options.task_column: cases.task}), options.task_column)
    with warnings.catch_warnings():
        if not uses_networks:
            warnings.filterwarnings("ignore", ".*no arc", InputWarning)
        encode(tasks, missing=missing)


def _network(name, cases, task_column, missing):
    from bnmtl.classification import BayesNetClassifier, MultitaskBayesNetClassifier
    from bnmtl.learners import MultitaskLearner, SingleTaskLearner
    from bnmtl.tasks.columns import MAX_STATES

    learner = (MultitaskLearner if name == "together" else SingleTaskLearner)(missing=missing)
    # Whole numbers are states, as in `bnmtl learn`, and others have been refused.
    how = {"learner": learner, "unseen": "ignore", "bins": MAX_STATES}
    if cases.task is None:
        return Model(BayesNetClassifier(**how), cases.states)
    table = cases.states.assign(**{task_column: cases.task})
    return Model(MultitaskBayesNetClassifier(task_column=task_column, **how), table)


def _naive_bayes(cases):
    from sklearn.naive_bayes import CategoricalNB

    codes, sizes = cases.codes()
    return Model(CategoricalNB(min_categories=sizes), codes)


def _trees(name):
    from sklearn.ensemble import RandomForestClassifier

    from bnmtl import trees

    kinds = {
        "mob-esp": trees.MOBESP,
        "eb-pets": trees.EnhancedBaggedPETs,
        "b-pets": trees.BaggedPETs,
        "forest": RandomForestClassifier,
    }
    return kinds[name](n_estimators=_TREES)
