"""Experiments: learning curves of strategies on data whose labels are revealed in batches."""

import contextlib
import hashlib
import inspect
import json
import os
import re
import time
import warnings
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import is_classifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from bnmtl.decorate.artificial import take
from bnmtl.decorate.committee import fitted_or_constant
from bnmtl.errors import MOST_MEMBERS, InputError, InputTypeError, check_jobs, check_whole
from bnmtl.metrics.cases import probabilities_of
from bnmtl.metrics.folds import splits_of_splitter
from bnmtl.metrics.prediction import accuracy, lift_chart_area, squared_error
from bnmtl.processes import in_processes
from bnmtl.progress import Reporter
from bnmtl.seeding import drawn_seed, generator, seed_of, with_seed
from bnmtl.tasks.labels import read_labels
from bnmtl.tasks.tables import as_one_sentence, plain_table
from bnmtl.wording import type_of
from bnmtl.writing import check_file, locked, write_whole

# Arguments of a query that the experiment sets.
_OURS = {"X", "y", "batch_size", "return_utilities"}


class Contender(NamedTuple):
    """What is compared in an experiment.

    Parameters
    ----------
    strategy : scikit-learn estimator with ``query(X, y, batch_size=...)``
    predictor : classifier or "own"
        "own" is the committee of the strategy.
    arguments : mapping
        Further arguments of ``query``.
    """

    strategy: object
    predictor: object
    arguments: dict

    def seeded(self, seed, first_labels, n_classes):
        """The strategy and the predictor of one step, with seeds.

        Parameters
        ----------
        seed : tuple
            An int, and names of the trial and the step.
        first_labels : numpy.ndarray of int
            Those of the first sample, from which the minority class is known.
        n_classes : int

        Returns
        -------
        (strategy, predictor)
        """
        drawn = drawn_seed(*seed)
        strategy = with_seed(self.strategy, drawn)
        parameters = strategy.get_params(deep=False)
        if "minority_class" in parameters and parameters["minority_class"] is None:
            counts = np.bincount(first_labels, minlength=n_classes)
            strategy.set_params(minority_class=int(counts.argmin()))
        if isinstance(self.predictor, str):
            return strategy, strategy.committee()
        return strategy, with_seed(self.predictor, drawn)

    def ask(self, strategy, predictor, X, y, batch_size):
        """Rows to label next."""
        arguments = dict(self.arguments)
        if isinstance(self.predictor, str):
            arguments["committee"] = predictor
        rows = np.asarray(strategy.query(X, y, batch_size=batch_size, **arguments))
        is_new = rows.dtype.kind in "iu" and len(set(rows.tolist())) == len(rows) == batch_size
        if not is_new or not np.isnan(y[rows]).all():
            rule = f"must return {batch_size} different rows without a label"
            raise InputError(f"{rule}, got {rows.tolist()!r}", argument="strategies")
        return rows


def read_contenders(strategies, predictor):
    """Contenders by name.

    Parameters
    ----------
    strategies : mapping
        As in `run_experiment`.
    predictor : classifier or "own"
        For strategies that are not given with one.

    Returns
    -------
    dict of str to Contender
    """
    if not hasattr(strategies, "items") or not len(strategies):
        message = f"must be a mapping from names to strategies, got {type_of(strategies)}"
        raise InputTypeError(message, argument="strategies")
    return {
        str(name): _contender(str(name), given, predictor) for name, given in strategies.items()
    }


def _contender(name, given, predictor):
    parts = given if isinstance(given, tuple) else (given,)
    if not 1 <= len(parts) <= 3:
        rule = f"`{name}` must be a strategy, or a tuple of it, a classifier, and arguments"
        raise InputError(f"{rule}, got {len(parts)!r}", argument="strategies")
    strategy, predictor, arguments = (*parts, *(None, predictor, {})[len(parts) :])
    is_estimator = hasattr(strategy, "get_params") and not isinstance(strategy, type)
    if not is_estimator or not hasattr(strategy, "query"):
        rule = f"`{name}` must be a scikit-learn estimator with a method `query`"
        raise InputTypeError(f"{rule}, got {type_of(strategy)}", argument="strategies")
    _check_arguments(name, strategy, arguments)
    if isinstance(predictor, str):
        if predictor != "own":
            message = f'must be a classifier or "own", got {predictor!r}'
            raise InputError(message, argument="predictor")
        if not hasattr(strategy, "committee"):
            message = f"`{name}` has no committee that could predict"
            remedy = "give a pair of a strategy and a classifier"
            raise InputError(message, argument="strategies", remedy=remedy)
    elif not (hasattr(predictor, "predict_proba") and is_classifier(predictor)):
        message = f'must be a classifier with `predict_proba` or "own", got {type_of(predictor)}'
        raise InputTypeError(message, argument="predictor")
    return Contender(strategy, predictor, arguments)


def _check_arguments(name, strategy, arguments):
    """Raise unless the query of a strategy takes further arguments."""
    if not isinstance(arguments, Mapping):
        rule = f"must give the arguments of `query` of `{name}` as a mapping"
        raise InputTypeError(f"{rule}, got {type_of(arguments)}", argument="strategies")
    taken = inspect.signature(strategy.query).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    for given in arguments:
        if given in _OURS or not (takes_any or given in taken):
            found = "the experiment sets" if given in _OURS else "it has no"
            message = f"must give only arguments that `query` of `{name}` takes; {found} `{given}`"
            raise InputError(message, argument="strategies")


def labels_of(codes, labeled):
    """Codes of the labeled rows, NaN for the others."""
    y = np.full(len(codes), np.nan)
    y[labeled] = codes[labeled]
    return y


def fitted(predictor, X, codes, labeled):
    """A predictor fitted to the labeled rows."""
    rows = np.sort(np.asarray(labeled))
    X, y = take(X, rows), codes[rows]
    # A committee knows what to do with one class, and is asked for its members.
    if hasattr(predictor, "member_probabilities"):
        return predictor.fit(X, y)
    return fitted_or_constant(predictor, X, y)


_FORMAT = "learning curves of bnmtl, version 1"
# What a line must say to be part of a curve.
_PLACES = {"data", "strategy", "trial", "last"}


class CurvesFile:
    """Lines of an experiment in a file; the first line has its settings.

    Each further line has a digest of itself and of the first line, so that lines that were changed,
    or are of another experiment, are refused. A context manager that holds the lock of the file.

    Parameters
    ----------
    path : str, path-like or None
        None keeps lines in memory only.
    settings : dict
        What must be equal for a file to be continued.
    seed : int
        Of a new file; a continued one has its own.

    Attributes
    ----------
    seed : int
    curves : dict (data, strategy, trial) -> list of dict
        Whole curves only.
    """

    def __init__(self, path, settings, seed):
        self.seed, self.curves = seed, {}
        self._path, self._lock = None, contextlib.ExitStack()
        if path is None:
            return
        if not isinstance(path, str | os.PathLike):
            message = f"must be the name of a file or None, got {type_of(path)}"
            raise InputTypeError(message, argument="out")
        self._path = Path(path)
        check_file(self._path)
        with self._lock as lock:
            lock.enter_context(locked(self._path, "out"))
            if self._path.exists():
                self._read(settings)
            else:
                self._write({"format": _FORMAT, "settings": settings, "seed": seed})
            self._lock = lock.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lock.close()

    def add(self, key, lines):
        """Append one curve, in one piece."""
        self.curves[key] = lines
        if self._path is not None:
            text = "".join(map(self._text, lines))
            with self._path.open("a", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())

    def _text(self, line):
        """A line with its digest."""
        return json.dumps({**line, "digest": self._digest_of(line)}) + "\n"

    def _digest_of(self, line):
        texts = json.dumps(self._header) + "\n" + json.dumps(line)
        return hashlib.blake2b(texts.encode(), digest_size=8).hexdigest()

    def _read(self, settings):
        header, *lines = map(_parsed, self._lines())
        if lines and lines[-1] is None:
            del lines[-1]  # a kill cut it
        lines = [{} if not isinstance(line, dict) else line for line in lines]
        if not _is_header(header) or not all(line.keys() >= _PLACES for line in lines):
            self._refuse("holds something else")
        if header["settings"] != settings:
            old = header["settings"]
            different = [name for name in settings if old.get(name) != settings[name]]
            self._refuse(f"is of an experiment with other {' and '.join(different) or 'settings'}")
        self.seed, self._header = header["seed"], header
        found = {}
        for number, line in enumerate(lines, 2):
            if line.pop("digest", None) != self._digest_of(line):
                self._refuse(f"has a line {number} that was changed, or is of another experiment")
            key = (line["data"], line["strategy"], line["trial"])
            found.setdefault(key, []).append(line)
        self.curves = {key: curve for key, curve in found.items() if curve[-1]["last"]}
        # What a kill left behind is removed, before curves are appended to it.
        self._write(header)

    def _lines(self):
        try:
            return self._path.read_text(encoding="utf-8").splitlines() or [""]
        except UnicodeDecodeError:
            self._refuse("holds something else")
        except OSError as error:
            self._refuse(f"cannot be read ({error.strerror})")

    def _write(self, header):
        self._header = header
        lines = [line for curve in self.curves.values() for line in curve]
        content = json.dumps(header) + "\n" + "".join(map(self._text, lines))
        write_whole(self._path, content.encode())

    def _refuse(self, found):
        rule = "must be a new file, or one of the same experiment"
        message = f"{rule}, got `{self._path}`, which {found}"
        raise InputError(message, argument="out", remedy="choose another one")


def _is_header(line):
    """Whether a line has the settings and the seed of an experiment."""
    if not isinstance(line, dict) or line.get("format") != _FORMAT:
        return False
    return isinstance(line.get("settings"), dict) and isinstance(line.get("seed"), int)


def _parsed(line):
    with contextlib.suppress(json.JSONDecodeError):
        return json.loads(line)
    return None


_COLUMNS = [
    *("data", "strategy", "trial", "step", "n_labels", "error", "squared_error"),
    *("lift_chart_area", "seconds", "n_pool", "n_test"),
]


def run_experiment(
    strategies,
    data,
    predictor="own",
    out=None,
    *,
    first=5,
    batch_size=1,
    n_labels=None,
    cv=10,
    repeats=1,
    groups=None,
    random_state=None,
    n_jobs=None,
    progress=False,
):
    """Compare strategies that ask for labels, by their learning curves.

    Of each fold of a cross-validation, the training part is a pool without labels. Each strategy
    starts with the same few labels, then asks for more, one batch at a time; after each batch a
    classifier is fitted to all labels so far and judged on the fold's test part.

    Parameters
    ----------
    strategies : mapping
        From names to strategies; to tuples of a strategy and the classifier that predicts; or to
        tuples of these and a mapping with further arguments of ``query``. Strategies of
        scikit-activeml are used like ours: labels are codes 0, 1, ... of the sorted classes, NaN
        where missing.
    data : mapping
        From names to pairs of features and labels; or one such pair.
    predictor : classifier or "own", default="own"
        The classifier that predicts, where a strategy has none of its own. "own" is the committee
        that the strategy asks. As long as all labels are of one class, any other classifier
        predicts that class.
    out : str or path-like, default=None
        A file to which each curve is appended, one line per step. If it exists, and the settings
        are the same, its curves are not computed again. Lines that were changed are an error.
    first : int or "classes", default=5
        Number of random cases with a label at the start, or one of each class.
    batch_size : int, sequence of int, or mapping from data to these, default=1
        Number of labels per step. A sequence has one for each step.
    n_labels : int, default=None
        Number of labels at which a curve ends, at least those at the start. None is the whole pool.
    cv : int or splitter, default=10
        Number of stratified folds, or a splitter of scikit-learn such as ``GroupKFold(5)``.
    repeats : int, default=1
        Number of cross-validations; a trial is one fold of one of them. 1 with a splitter, which
        repeats itself.
    groups : array-like of shape (n_cases,), or mapping from data to these, default=None
        Cases of a group, such as a patient, are in the same fold.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters. Seeds of strategies and predictors
        are derived from it.
    n_jobs : int, default=None
        Number of processes, as in joblib; None is 1. It does not affect the result.
    progress : False, True or callable, default=False
        True shows a bar; a callable receives each `bnmtl.progress.ProgressEvent`.

    Returns
    -------
    pandas.DataFrame
        One row per data set, strategy, trial and step, in this order: number of labels, share of
        errors, squared error (summed over classes) and lift chart area on the test part, seconds
        of the step, and numbers of cases in the pool and the test part.

    Raises
    ------
    TypeError, ValueError
        For parameters out of range, a strategy without ``query`` or with rows that have a label
        already, a strategy without a committee and without a predictor, arguments that its
        ``query`` does not take, data with one class or with fewer cases than folds, and a file
        that cannot be written, is being written, was changed, or is of another experiment.

    References
    ----------
    Melville (2005), sections 6.3.1 and 7.3.1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bnmtl.active import QueryByBagging, RandomQuery
    >>> from bnmtl.active import BaggingCommittee
    >>> strategies = {"bagging": QueryByBagging(), "random": (RandomQuery(), BaggingCommittee())}
    >>> options = {"n_labels": 10, "batch_size": 5, "cv": 2, "random_state": 0}
    >>> curves = run_experiment(strategies, load_iris(return_X_y=True), **options)
    >>> curves.groupby(["strategy", "n_labels"])["error"].mean().shape
    (4,)
    """
    contenders = read_contenders(strategies, predictor)
    tables = _read_data(data, groups)
    _check_folds(cv, repeats, tables)
    _check_ends(first, n_labels, tables)
    check_jobs(n_jobs)
    plans = {name: _Plan(first, _sizes(batch_size, name), n_labels) for name in tables}
    settings = {
        "strategies": {name: _text_of(contender) for name, contender in contenders.items()},
        "data": {name: table.digest for name, table in tables.items()},
        "plans": {name: list(map(str, plan)) for name, plan in plans.items()},
        "folds": [int(cv) if isinstance(cv, Integral) else repr(cv), int(repeats)],
        "random_state": int(random_state) if isinstance(random_state, Integral) else None,
    }
    with CurvesFile(out, settings, seed_of(random_state)) as file:
        folds = {
            name: list(_folds(table, cv, repeats, file.seed, name))
            for name, table in tables.items()
        }
        _run_missing(file, contenders, tables, plans, folds, n_jobs, progress)
    ordered = [
        line
        for data in tables
        for strategy in contenders
        for trial in range(len(folds[data]))
        for line in file.curves[data, strategy, trial]
    ]
    return pd.DataFrame(ordered, columns=_COLUMNS)


def _check_folds(cv, repeats, tables):
    """Raise an error unless each table can be split into the folds."""
    check_whole("repeats", repeats, least=1, most=MOST_MEMBERS)
    if hasattr(cv, "split") and not isinstance(cv, type | str):
        if repeats != 1:
            message = f"must be 1 with a splitter, got {repeats!r}"
            raise InputError(message, argument="repeats", remedy="use one that repeats itself")
        return
    check_whole("cv", cv, least=2)
    for name, table in tables.items():
        if table.groups is not None and cv > (n_groups := int(table.groups.max()) + 1):
            message = f"must not exceed the number of groups, {n_groups} in `{name}`, got {cv!r}"
            raise InputError(message, argument="cv")
        most = int(np.bincount(table.codes).max())
        if cv > most:
            rule = f"must not exceed the number of cases of the largest class, {most} in `{name}`"
            raise InputError(f"{rule}, got {cv!r}", argument="cv")


def _check_ends(first, n_labels, tables):
    """Raise an error unless each curve can begin and end with these numbers of labels."""
    if not (isinstance(first, str) and first == "classes"):
        check_whole("first", first, least=1)
    check_whole("n_labels", n_labels, least=1, optional=True)
    if n_labels is None:
        return
    for name, table in tables.items():
        least = table.n_classes if first == "classes" else first
        if n_labels < least:
            where = f" in `{name}`" if first == "classes" else ", which `first` sets"
            rule = f"must be at least the number of labels at the start, {least}{where}"
            message = f"{rule}, got {n_labels!r}"
            raise InputError(message, argument="n_labels", options=("first",))


def _run_missing(file, contenders, tables, plans, folds, n_jobs, progress):
    """Add to the file each curve that it lacks."""
    trials = [
        (name, trial, rows)
        for name, of_table in folds.items()
        for trial, rows in enumerate(of_table)
    ]
    jobs = [
        delayed(_curve)(
            (data, strategy, trial), contender, tables[data], rows, plans[data], file.seed
        )
        for data, trial, rows in trials
        for strategy, contender in contenders.items()
        if (data, strategy, trial) not in file.curves
    ]
    total = len(trials) * len(contenders)
    with Reporter(progress) as report:
        done = total - len(jobs)
        report("learning curves", done=done, total=total)
        how = {"report": report, "return_as": "generator_unordered"}
        for key, lines in in_processes(n_jobs, len(jobs), **how)(jobs):
            file.add(key, lines)
            done += 1
            report("learning curves", done=done, total=total)


class _Table(NamedTuple):
    """Features, codes of labels and groups, the number of classes, and a digest of all of it."""

    X: object
    codes: np.ndarray
    groups: np.ndarray | None
    n_classes: int
    digest: str


class _Plan(NamedTuple):
    """How many labels there are at the start, at each step, and at the end."""

    first: object
    sizes: object
    n_labels: int | None

    def steps(self, n_first, n_pool):
        """Numbers of labels to ask for, one after another."""
        most = n_pool if self.n_labels is None else min(n_pool, self.n_labels)
        have = n_first
        sizes = iter(self.sizes) if isinstance(self.sizes, tuple) else iter(lambda: self.sizes, 0)
        for size in sizes:
            size = min(size, most - have)
            if size <= 0:
                return
            have += size
            yield size


def _read_data(data, groups):
    """Tables by name."""
    is_mapping = hasattr(data, "items") and not isinstance(data, pd.DataFrame)
    pairs = data if is_mapping else {"data": data}
    if not is_mapping:
        groups = {"data": groups}
    elif groups is None:
        groups = dict.fromkeys(pairs)
    elif not hasattr(groups, "items") or isinstance(groups, pd.Series):
        if len(pairs) > 1:
            message = f"must be a mapping, as `data`, got {type_of(groups)}"
            raise InputTypeError(message, argument="groups", options=("data",))
        groups = dict.fromkeys(pairs, groups)
    groups = {str(name): of_data for name, of_data in groups.items()}
    lacking = [str(name) for name in pairs if str(name) not in groups]
    if lacking:
        message = f"must have an entry for `{lacking[0]}`, got {list(groups)!r}"
        raise InputError(message, argument="groups")
    return {str(name): _table(str(name), pair, groups[str(name)]) for name, pair in pairs.items()}


def _table(name, pair, groups):
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        message = f"must be features and labels for `{name}`, got {type_of(pair)}"
        raise InputTypeError(message, argument="data")
    X, y = pair
    X = plain_table(X, "data")
    with as_one_sentence(f"must have one label for each row of `{name}`", "data", "numpy"):
        labels = np.asarray(y, dtype=object)
    if X.ndim != 2 or labels.shape != (len(X),):
        message = f"must have one label for each row of `{name}`, {len(X)}, got {len(labels)!r}"
        raise InputError(message, argument="data")
    if pd.isna(labels).any():
        message = f"must have all labels of `{name}`"
        raise InputError(message, argument="data", remedy="drop those rows")
    classes, codes = np.unique(read_labels(y, "data"), return_inverse=True)
    if len(classes) < 2:
        message = f"must have two classes or more in `{name}`, got {len(classes)!r}"
        raise InputError(message, argument="data")
    frame = pd.DataFrame(X).assign(**{"label of the case": codes})
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != (len(X),):
            rule = f"must have one value for each row of `{name}`, {len(X)}"
            raise InputError(f"{rule}, got {groups.shape!r}", argument="groups")
        if pd.isna(groups).any():
            raise InputError(f"must not be missing in `{name}`", argument="groups")
        groups = np.unique(groups.astype(str), return_inverse=True)[1]
        frame = frame.assign(**{"group of the case": groups})
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr([*map(str, frame.columns), *map(str, frame.dtypes)]).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return _Table(X, codes, groups, len(classes), digest.hexdigest())


def _sizes(batch_size, name):
    """The batch size of a data set: an int, or a tuple of one for each step."""
    if hasattr(batch_size, "items"):
        if name not in batch_size:
            message = f"must have a value for `{name}`, got {list(batch_size)!r}"
            raise InputError(message, argument="batch_size")
        batch_size = batch_size[name]
    if np.iterable(batch_size):
        for size in batch_size:
            check_whole("batch_size", size, least=1)
        return tuple(map(int, batch_size))
    check_whole("batch_size", batch_size, least=1)
    return int(batch_size)


def _text_of(contender):
    """The parameters of a contender as text, without addresses in memory."""
    parts = [type(contender.strategy).__name__, contender.strategy.get_params()]
    if not isinstance(contender.predictor, str):
        parts += [type(contender.predictor).__name__, contender.predictor.get_params()]
    return re.sub(r" at 0x[0-9a-f]+", "", repr([*parts, contender.arguments]))


def _folds(table, cv, repeats, seed, name):
    """Rows of the pool and of the test part of each trial."""
    if not isinstance(cv, Integral):
        given = table.X, table.codes, table.groups
        for pool, test in splits_of_splitter("cv", cv, *given, table=name):
            if not len(pool) or not len(test):
                rule = f"must leave cases of `{name}` on both sides of each split"
                raise InputError(f"{rule}; one side is empty", argument="cv")
            yield pool, test
        return
    kind = StratifiedKFold if table.groups is None else StratifiedGroupKFold
    for repeat in range(repeats):
        state = int(generator(seed, "folds", name, repeat).integers(2**32 - 1))
        folds = kind(cv, shuffle=True, random_state=state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes with few cases
            yield from folds.split(table.codes, table.codes, table.groups)


def _curve(key, contender, table, rows, plan, seed):
    """The lines of one strategy in one trial."""
    data, name, trial = key
    pool, test = rows
    X, codes = take(table.X, pool), table.codes[pool]
    # Classes in the lift chart area are weighted by their shares of the pool.
    prior = np.bincount(codes, minlength=table.n_classes).astype(float)
    X_test, truth, classes = take(table.X, test), table.codes[test], np.arange(table.n_classes)
    labeled = _first_cases(codes, plan.first, generator(seed, "first", data, trial))
    first_labels, lines = codes[labeled], []
    steps = [0, *plan.steps(len(labeled), len(pool))]
    strategy = predictor = None
    for step, size in enumerate(steps):
        began = time.perf_counter()
        if size:
            y = labels_of(codes, labeled)
            labeled = np.append(labeled, contender.ask(strategy, predictor, X, y, size))
        at = (seed, "step", data, trial, len(labeled))
        strategy, predictor = contender.seeded(at, first_labels, table.n_classes)
        predictor = fitted(predictor, X, codes, labeled)
        p = probabilities_of(predictor, X_test, classes)
        line = {
            "data": data,
            "strategy": name,
            "trial": trial,
            "step": step,
            "n_labels": len(labeled),
            "error": 1 - accuracy(truth, p),
            "squared_error": squared_error(truth, p),
            "lift_chart_area": lift_chart_area(truth, p, class_prior=prior),
            "seconds": round(time.perf_counter() - began, 4),
            "n_pool": len(pool),
            "n_test": len(test),
            "last": step == len(steps) - 1,
        }
        lines.append(line)
    return key, lines


def _first_cases(codes, first, rng):
    """Positions of the cases that have a label at the start."""
    order = rng.permutation(len(codes))
    if first == "classes":
        return np.sort([order[codes[order] == k][0] for k in np.unique(codes)])
    return np.sort(order[:first])
