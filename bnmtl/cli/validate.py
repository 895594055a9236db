"""Judging models of a table: `bnmtl validate`."""

import warnings
from functools import partial
from math import isnan
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.cli.messages import conflict
from bnmtl.cli.options import MODELS
from bnmtl.cli.runs import MeasuredResult, Picture, Table, fit_parameters, new_run, where, wrapped
from bnmtl.cli.tables import read_cases
from bnmtl.errors import InputError, InputWarning, warn
from bnmtl.progress import starts_processes
from bnmtl.reports.downstream import write_validated as write_report
from bnmtl.tasks import encode, split
from bnmtl.tasks.columns import MAX_STATES
from bnmtl.validation import predict_rounds
from bnmtl.validation.predicting import most_stratified_folds, sets_differ, warn_of_lacking_classes
from bnmtl.validation.tables import (
    ALL,
    CLASS_SHARES,
    bias_variance_table,
    class_shares,
    differences_table,
    measures_table,
    sentences,
)
from bnmtl.wording import count, listed

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
            raise InputError(f"must be one of {listed(MODELS)}, got {name}", argument="model")
    if "together" in options.model and not has_tasks:
        message = (
            "must be another one without `task_column`, which says what is learned together, got "
            "together"
        )
        raise InputError(message, argument="model", options=("task_column",))
    return list(dict.fromkeys(options.model))


def models_of(names, cases, options):
    """Unfitted models by name; without `together` by default if there is one task only.

    Parameters
    ----------
    names : list of str
    cases : bnmtl.cli.tables.LabeledRows
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
            message = "must be another one for a single task, got together; all rows are of `task`"
            raise InputError(message, argument="model", task=cases.task[0], options=("task",))
        names = [name for name in names if name != "together"]
    missing = "state" if options.missing == "state" else "error"
    networks, trees = set(names) & {*NETWORKS}, set(names) - {*NETWORKS, "naive-bayes"}
    if networks or "naive-bayes" in names:
        _check_states(cases, options, missing, bool(networks))
    numbers = cases.numbers() if trees else None
    found = {}
    for name in names:
        if name in networks:
            found[name] = _network(name, cases, options.task_column, missing)
        elif name in trees:
            found[name] = Model(_trees(name), numbers)
        else:
            found[name] = _naive_bayes(cases)
    return found


def _check_states(cases, options, missing, uses_networks):
    """Raise unless all columns have states that a network can have."""
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


_FILES = (
    *("measures.csv", "differences.csv", "bias_variance.csv", "bias_variance.png"),
    *("accuracy.png", "squared_error.png", "report.html"),
)
_ROUNDS = {"bootstrap": 50, "kfold": 5, "holdout": 50}
_FOLDS, _TEST_SIZE = 10, 0.1
_PICTURES = ("accuracy", "squared_error")


def run(options, progress=None):
    """Judge models or, without a label, learned structures; see `bnmtl.cli`."""
    if options.label is None:
        from bnmtl.cli import validate_structures

        return validate_structures.run(options, progress)
    names = model_names(options)
    plan = _plan(options)
    files = [_rounds_file(name) for name in names]
    with new_run("validate", options, [*_FILES, *files]) as run:
        cases = read_cases(options)
        cases.warn_of_copies(Path(options.table).stem)
        plan = _of_cases(plan, cases, options)
        models = models_of(names, cases, options)
        names = list(models)
        _warn_of_repetitions(names, plan["scheme"])
        run.lap("reading")
        made = {}
        for name, model in models.items():
            made[name] = _rounds(name, model, cases, plan, options, progress)
            run.lap(name)
        _warn_of_lacking_classes(made[names[0]])
        judged = made | {CLASS_SHARES: class_shares(made[names[0]])}
        tables = _tables(judged, options.seed, progress)
        run.lap("comparing")
        contents = {_rounds_file(name): one.of_cases(cases.place) for name, one in made.items()}
        contents |= tables
        entries = _record(cases, names, plan, tables)
        pictures = _pictures(judged, tables["bias_variance.csv"])
        record = run.write(entries, contents, pictures, partial(write_report, tables=tables))
    return MeasuredResult(tables["measures.csv"], folder=run.folder.path, record=record)


def _rounds_file(name):
    return f"rounds-{name}.npz"


def _plan(options):
    """The arguments of `predict_rounds` about rounds."""
    scheme = options.scheme or "kfold"
    if options.rounds == 1 and scheme != "kfold":
        raise InputError(f"must be at least 2 for {scheme}, got 1", argument="rounds")
    plan = {"scheme": scheme, "rounds": options.rounds or _ROUNDS[scheme]}
    for name, needed, default in (("folds", "kfold", _FOLDS), ("test_size", "holdout", _TEST_SIZE)):
        given = getattr(options, name)
        if given is not None and scheme != needed:
            message = f"belongs to `scheme={needed!r}`; the scheme is {scheme}"
            raise conflict(name, "scheme", message)
        if scheme == needed:
            plan[name] = default if given is None else given
    if plan.get("test_size") == 1:
        raise InputError(f"must leave rows to learn from, got {1.0!r}", argument="test_size")
    return plan


def _of_cases(plan, cases, options):
    """The plan with as many folds as there can be, if their number is not given."""
    if plan["scheme"] != "kfold" or options.folds is not None:
        return plan
    most = most_stratified_folds(cases.y, cases.task, cases.group)
    if cases.group is not None and len(set(cases.group)) < 2:
        raise InputError(
            f"must hold two groups or more; all rows are of `{cases.group[0]}`", argument="group"
        )
    return plan | {"folds": min(_FOLDS, max(most, 2))}


def _warn_of_repetitions(names, scheme):
    """Warn if networks are learned from bootstraps."""
    networks = [name for name in names if name in NETWORKS]
    if networks and scheme == "bootstrap":
        warn(
            "Bootstraps repeat rows, so that dependencies look stronger than they are, and "
            f"{listed(networks)} will look worse than after a fit to different rows",
            options=("scheme",),
            remedy="take `scheme='kfold'` to compare them with other models",
        )


def _warn_of_lacking_classes(rounds):
    """Warn once if some training sets lack a class, for all models that learn from them."""
    learned = rounds.in_bag @ np.eye(len(rounds.classes), dtype=int)[rounds.codes]
    warn_of_lacking_classes(int((learned == 0).any(axis=1).sum()), len(learned))


def _rounds(name, model, cases, plan, options, progress):
    """The rounds of one model."""

    def listener(event):
        progress(event if starts_processes(event) else event._replace(stage=f"fitting {name}"))

    # Columns that do not vary were named before.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        rounds = predict_rounds(
            *(model.classifier, model.X, cases.y),
            **plan,
            task=cases.task,
            groups=cases.group,
            **fit_parameters(options, progress and listener),
        )
    if not rounds.is_predicted.any():
        message = "must leave rows to predict; all rounds learn from all"
        raise InputError(
            message,
            argument="group",
            options=("scheme",),
            remedy="more groups, or `scheme='kfold'`",
        )
    return rounds


def _tables(judged, seed, progress):
    """Measures, differences, bias and variance, by file name."""
    from bnmtl.progress import Reporter

    with Reporter(progress or False) as report:
        compared = partial(report, "comparing models", None)
        return {
            "measures.csv": measures_table(judged, seed),
            "differences.csv": differences_table(judged, seed, compared),
            "bias_variance.csv": bias_variance_table(judged),
        }


def _pictures(judged, parts):
    """The pictures to draw, by file name."""
    from bnmtl import plotting

    drawn = {f"{name}.png": partial(plotting.rounds, judged, name) for name in _PICTURES}
    if len(parts):
        shown = parts[(parts["task"] == ALL) & (parts["loss"] != "kohavi_wolpert")]
        titles = {"zero_one": "errors", "squared": "squared error"}
        shown = shown.assign(complexity=shown["model"], loss=shown["loss"].map(titles))
        bias_variance = partial(plotting.bias_variance, shown, by="loss", xlabel="model")
        drawn["bias_variance.png"] = bias_variance
    return {name: Picture(draw, (name,)) for name, draw in drawn.items()}


def _record(cases, names, plan, tables):
    """The entries of run.json that are specific to this command."""
    sizes = {} if cases.task is None else pd.Series(cases.task).value_counts().sort_index()
    classes, counts = np.unique(cases.y, return_counts=True)
    measures = tables["measures.csv"]
    overall = measures[measures["task"] == ALL].pivot_table(
        index="model", columns="metric", values="value", sort=False
    )
    entries = {
        "tasks": [{"name": name, "rows": int(n)} for name, n in sizes.items()],
        "rows": len(cases.y),
        "classes": dict(zip(classes.tolist(), counts.tolist(), strict=True)),
        "models": names,
        "plan": plan,
        "measures": {
            model: {name: value for name, value in row.items() if value == value}
            for model, row in overall.to_dict("index").items()
        },
        "verdict": [
            _said(plan, len(cases.y)),
            *sentences(measures, tables["differences.csv"], _independent(plan, tables)),
        ],
    }
    return entries if cases.cut_points is None else entries | {"cut_points": cases.cut_points}


def _independent(plan, tables):
    """Bias and variance, unless training sets have most rows in common."""
    parts = tables["bias_variance.csv"]
    differs = sets_differ(plan["scheme"], plan.get("test_size"), plan.get("folds"))
    return parts if differs else parts[:0]


def _said(plan, n_rows):
    """How the models were judged, in words."""
    n = plan["rounds"]
    how = {
        "bootstrap": f"{count(n, 'bootstrap')}, each of which predicts the rows it lacks",
        "kfold": f"{count(n, 'cross-validation')} of {plan.get('folds')} folds",
        "holdout": f"{count(n, 'random share')} of {100 * plan.get('test_size', 0):g} % held out",
    }[plan["scheme"]]
    return f"Judged on {count(n_rows, 'row')} by {how}."


def summary(result):
    """Show the measures of each model over all rows, and which is better."""
    measures = result.measures[result.measures["task"] == ALL]
    wide = measures.pivot(index="model", columns="metric", values="value")
    names = list(dict.fromkeys(measures["metric"]))
    rows = [
        [model, *("" if isnan(value) else f"{value:.4f}" for value in wide.loc[model, names])]
        for model in measures["model"].unique()
    ]
    titles = [name.replace("_", " ") for name in names]
    narrow = Table(["model", *titles[:3]], [row[:4] for row in rows])
    yield Table(["model", *titles], rows, if_too_wide=narrow)
    yield ""
    yield from wrapped(*result.record["verdict"])
    yield where(result)
