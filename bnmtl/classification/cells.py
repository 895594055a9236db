"""Cells drawn from learned networks: pseudo-cases, and fillings of missing cells."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.rows import (
    as_frame,
    check_parameters,
    encoded,
    new_learner,
    number_edges,
)
from bnmtl.errors import MOST_ROWS, InputError, InputTypeError, check_choice, check_whole, located
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.networks import inference
from bnmtl.networks.tables import code_frame
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.columns import numeric_values
from bnmtl.tasks.encoding import columns_by_name, encode_frames, named_frames
from bnmtl.tasks.task import Tasks
from bnmtl.threads import fitted_alone
from bnmtl.wording import listed, shown, type_of

_LABEL = "label of the case"


class CellPool(NamedTuple):
    """The observed cells of a column, and where each task draws those of a state.

    Parameters
    ----------
    cells : pandas.Series
        Of all tasks; categorical ones have the categories of all.
    rows : dict task -> dict state -> numpy.ndarray of int
        Positions in ``cells``: of the task or, if it has none, of the other tasks.
    """

    cells: pd.Series
    rows: dict

    @classmethod
    def of(cls, name, columns, encoded):
        """The cells of one column, from columns by task and name and the same rows as codes."""
        tasks = [task for task in columns if name in columns[task]]
        cells = [columns[task][name] for task in tasks]
        codes = [encoded[task].codes[encoded[task].index[name]] for task in tasks]
        task_of = np.repeat(np.arange(len(tasks)), [len(part) for part in codes])
        together, rows = np.concatenate(codes), {}
        for number, task in enumerate(tasks):
            rows[task] = {}
            for code, state in enumerate(encoded.states[name]):
                has_state = together == code
                in_task = has_state & (task_of == number)
                rows[task][state] = np.flatnonzero(in_task if in_task.any() else has_state)
        if all(isinstance(column.dtype, pd.CategoricalDtype) for column in cells):
            categories = dict.fromkeys(value for column in cells for value in column.cat.categories)
            if any(len(column.cat.categories) < len(categories) for column in cells):
                cells = [column.astype(pd.CategoricalDtype(list(categories))) for column in cells]
        return cls(pd.concat(cells), rows)

    def drawn(self, task, states, uniform):
        """A cell for each drawn state, chosen by a number from 0 to 1."""
        places = np.empty(len(states), dtype=int)
        for code, state in enumerate(states.categories):
            chosen = states.codes == code
            rows = self.rows[task].get(state, ())
            if chosen.any():
                places[chosen] = rows[(uniform[chosen] * len(rows)).astype(int)]
        return self.cells.iloc[places].reset_index(drop=True)


def _discrete(frames, edges):
    """Frames by task with bins of numbers, and of categories only those that were observed."""
    cut = {task: frame.copy() for task, frame in frames.items()}
    for frame in cut.values():
        for at in range(frame.shape[1]):
            column = frame.iloc[:, at]
            if isinstance(column.dtype, pd.CategoricalDtype):
                frame.isetitem(at, column.cat.remove_unused_categories())
    return edges.apply(cut)


class _CellNetworks(BaseEstimator):
    """Base of estimators that learn networks of states, for which cells are drawn again."""

    def _learn(self, frames, is_several, missing):
        """Learn the networks; ``missing`` is that of the default learner."""
        with located(argument="X"):
            self._edges = number_edges(frames, int(self.bins))
            discrete = _discrete(frames, self._edges)
            default = MultitaskLearner if is_several else SingleTaskLearner
            learner = new_learner(self.learner, default(missing=missing), self.random_state)
            learner.fit(discrete if learner.missing == "drop" else encoded(discrete, learner))
        states = encode_frames(discrete, "state")
        columns = {task: columns_by_name(frame) for task, frame in frames.items()}
        self._pools = {name: CellPool.of(name, columns, states) for name in states.states}
        self.learner_, self.networks_ = learner, learner.networks_
        return self


class NetworkSampler(_CellNetworks):
    """Draw pseudo-cases from a learned network, or from the networks of several tasks.

    The network is learned from all columns, so leave the target out. Numeric columns are
    discretized for learning, except whole numbers of at most `bins` or 10 different values, which
    are states. A drawn state becomes the cell of a random case
    with this state, so numbers come from the observed numbers of a bin, and types of columns and
    categories are kept. If no case of a task has the state, the cell comes from another task. So
    where a column has different categories, or types, in several tasks, it gets those of all.

    Parameters
    ----------
    learner : learner, default=None
        From `bnmtl.learners`; None is `SingleTaskLearner(missing="state")` for one table and
        `MultitaskLearner(missing="state")` for several tasks. With ``missing="state"`` missing
        cells are drawn like other states; with "drop" only complete rows are used for learning and
        no cell is missing.
    bins : int, default=5
        Number of bins of a numeric column, each with about the same number of cases.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the learner; None leaves the one that `learner` has.

    Attributes
    ----------
    networks_ : dict task -> BayesNet
        One table is the task "task1".
    learner_ : learner
        The fitted learner.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: as the learner, for example for missing cells with ``missing="error"``, and for
        infinite numbers.

    Examples
    --------
    >>> from bnmtl import structures
    >>> rows = structures.load("asia").sample(500, random_state=0).assign(age=range(500))
    >>> sampler = NetworkSampler().fit(rows)
    >>> pseudo = sampler.sample(3, random_state=0)
    >>> pseudo.shape, bool(pseudo["age"].isin(rows["age"]).all())
    ((3, 9), True)
    >>> several = NetworkSampler().fit({"a": rows[:250], "b": rows[250:]}).sample(10)
    >>> {task: len(frame) for task, frame in several.items()}
    {'a': 10, 'b': 10}
    """

    def __init__(self, learner=None, bins=5, random_state=None):
        self.learner = learner
        self.bins = bins
        self.random_state = random_state

    @fitted_alone
    def fit(self, X, y=None):
        """Learn the network, or the networks of several tasks.

        Parameters
        ----------
        X : pandas.DataFrame, array-like of shape (n_rows, n_columns), or mapping name -> DataFrame
            Several tasks as a mapping; for a frame with a task column, use
            ``bnmtl.tasks.split(frame, column)``.
        y : object, default=None
            Not used, because the class is not an attribute; all samplers take it.

        Returns
        -------
        NetworkSampler
        """
        check_parameters("error", self.learner, self.bins)
        if isinstance(X, Tasks):
            message = f"must be frames of the tasks, got {type_of(X)}"
            raise InputTypeError(message, argument="X", remedy="pass the frames that were encoded")
        is_several = isinstance(X, Mapping)
        with located(argument="X"):
            frames = named_frames(dict(X) if is_several else as_frame(X))
        self._frames = {name: frame[:0] for name, frame in frames.items()}
        self._names = {str(name): name for name in X} if is_several else None
        self._is_array = not is_several and not isinstance(X, pd.DataFrame)
        return self._learn(frames, is_several, missing="state")

    def sample(self, n, random_state=None):
        """Draw pseudo-cases.

        Parameters
        ----------
        n : int
            Number of rows, of each task if there are several.
        random_state : None, int or numpy.random.Generator, default=None

        Returns
        -------
        pandas.DataFrame, numpy.ndarray, or dict task -> DataFrame
            Of the same kind as the data of the fit, with the same columns. A shorter sample is the
            beginning of a longer one.
        """
        check_is_fitted(self)
        check_whole("n", n, least=1, most=MOST_ROWS)
        seed = seed_of(random_state)
        drawn = {task: self._drawn(task, n, seed) for task in self._frames}
        if self._names is not None:
            return {name: drawn[task] for task, name in self._names.items()}
        (frame,) = drawn.values()
        return frame.to_numpy() if self._is_array else frame

    def _drawn(self, task, n, seed):
        seed = int(generator(seed, task).integers(2**63))
        states, labels = self.networks_[task].sample(n, seed), self._frames[task].columns
        columns = []
        for name in map(str, labels):
            uniform = generator(seed, "cells", name).random(n)
            columns.append(self._pools[name].drawn(task, states[name].array, uniform))
        return pd.concat(columns, axis=1).set_axis(labels, axis=1)


class NetworkImputer(_CellNetworks):
    """Fill missing cells from a learned network, or from the networks of several tasks.

    Networks are learned from complete rows. The distribution of a missing cell is exact, given all
    observed cells of its row and, where it is known, the label of the case. Numeric columns are
    discretized for learning, except whole numbers of at most `bins` or 10 different values, which
    are states.

    Parameters
    ----------
    learner : learner, default=None
        From `bnmtl.learners`, with ``missing="drop"``. None is `SingleTaskLearner` for one table
        and `MultitaskLearner` for several tasks.
    bins : int, default=5
        Number of bins of a numeric column, each with about the same number of cases.
    fill : {"expected", "draw"}, default="expected"
        "expected": the most probable state; the expected value of a column with bins, rounded if
        its numbers are whole. "draw": a draw from the joint distribution of the missing cells of a
        row; of several such tables, each is one imputation.
    random_state : None, int or numpy.random.Generator, default=None
        Seed of the learner and of draws; None leaves the one that `learner` has.

    Attributes
    ----------
    networks_ : dict task -> BayesNet
        One table is the task "task1".
    learner_ : learner
        The fitted learner.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: as the learner, for example without a complete row. In `transform`: for other
        columns and tasks than in ``fit``.

    Examples
    --------
    >>> from bnmtl import structures
    >>> rows = structures.load("asia").sample(500, random_state=0)
    >>> imputer = NetworkImputer().fit(rows)
    >>> gaps = rows[:3].assign(either=[None, "yes", None])
    >>> filled = imputer.transform(gaps)
    >>> int(filled.isna().sum().sum()), filled["either"].tolist()
    (0, ['no', 'yes', 'yes'])
    >>> imputer.cell_probabilities(gaps, "either").round(2)["no"].tolist()
    [1.0, 1.0, 0.0]
    """

    def __init__(self, learner=None, bins=5, fill="expected", random_state=None):
        self.learner = learner
        self.bins = bins
        self.fill = fill
        self.random_state = random_state

    @fitted_alone
    def fit(self, X, y=None):
        """Learn the network, or the networks of several tasks, from the complete rows.

        Parameters
        ----------
        X : pandas.DataFrame, array-like of shape (n_rows, n_columns), or mapping name -> DataFrame
        y : array-like of shape (n_rows,), or mapping name -> array-like, default=None
            Labels of the cases, which the networks learn as one more column.

        Returns
        -------
        NetworkImputer
        """
        check_parameters("error", self.learner, self.bins)
        check_choice("fill", self.fill, ("expected", "draw"))
        if self.learner is not None and self.learner.missing != "drop":
            message, options = "must learn from complete rows", ("missing",)
            remedy = "give it `missing='drop'`"
            raise InputError(message, argument="learner", options=options, remedy=remedy)
        with located(argument="X"):
            frames = _with_labels(_frames_of(X), y)
        self._columns = {name: list(frame.columns) for name, frame in frames.items()}
        return self._learn(frames, isinstance(X, Mapping), missing="drop")

    def transform(self, X, y=None):
        """Fill the missing cells.

        Parameters
        ----------
        X : pandas.DataFrame, array-like of shape (n_rows, n_columns), or mapping name -> DataFrame
            Of the kind of the fit, with its columns, and with any rows. Values that are unknown
            from the fit are kept, but say nothing about other cells.
        y : array-like of shape (n_rows,), or mapping name -> array-like, default=None
            Labels, if ``fit`` had some; missing ones are ignored.

        Returns
        -------
        pandas.DataFrame, numpy.ndarray, or dict name -> DataFrame
            Of the kind of `X`, with the same rows and columns.
        """
        frames = self._read(X, y)
        seed = seed_of(self.random_state)
        filled = {}
        for task, frame in frames.items():
            without_label = [name for name in frame if name != _LABEL]
            filled[task] = self._filled(task, frame, seed)[without_label]
        if isinstance(X, Mapping):
            return {name: filled[str(name)].set_index(X[name].index) for name in X}
        (frame,) = filled.values()
        return frame.set_index(X.index) if isinstance(X, pd.DataFrame) else frame.to_numpy()

    def cell_probabilities(self, X, column, y=None):
        """Distribution of one cell of each row, given the other cells: soft counts.

        Parameters
        ----------
        X, y
            As in `transform`; but of several tasks, `X` is a mapping with one of them.
        column : str
            It need not be missing; its own cells are not used.

        Returns
        -------
        pandas.DataFrame, shape (n_rows, n_states)
            One column per state; a column of numbers has bins.
        """
        frames = self._read(X, y)
        if len(frames) > 1:
            raise InputError(f"must hold one task, got {list(frames)!r}", argument="X")
        ((task, frame),) = frames.items()
        network, name = self.networks_[task], str(column)
        check_choice("column", name, list(map(str, self._features(task))))
        codes = self._codes(task, frame)
        del codes[name]
        p = inference.posteriors(network, name, codes, len(frame))
        index = next(iter(X.values())).index if isinstance(X, Mapping) else as_frame(X).index
        return pd.DataFrame(p, index=index, columns=list(network.states[name]))

    def state_values(self, column, task=None):
        """The observed value that stands for each state of a column.

        Parameters
        ----------
        column : str
        task : str, default=None
            Whose values; None is possible with one task.

        Returns
        -------
        pandas.Series
            By state, as in `cell_probabilities`: the state itself or, of a column with bins, the
            lower median of the cells in the bin.
        """
        check_is_fitted(self)
        tasks = list(self._columns)
        if task is None and len(tasks) == 1:
            (task,) = tasks
        check_choice("task", task, tasks)
        check_choice("column", str(column), list(map(str, self._features(task))))
        pool = self._pools[str(column)]
        numbers = numeric_values(pool.cells) if str(column) in self._edges else None
        places = {}
        for state in self.networks_[task].states[str(column)]:
            rows = pool.rows[task][state]
            order = rows if numbers is None else rows[np.argsort(numbers[rows], kind="stable")]
            places[state] = order[(len(order) - 1) // 2]
        values = pool.cells.iloc[list(places.values())]
        return pd.Series(values.array, index=list(places), name=column)

    def _read(self, X, y):
        """Frames of `X` by task, with a column of labels if the fit had labels."""
        check_is_fitted(self)
        with located(argument="X"):
            frames = _frames_of(X)
            for task, frame in frames.items():
                if task not in self._columns:
                    known = listed(self._columns)
                    raise InputError(f"must hold tasks of the fit, {known}, got {task!r}")
                known, given = self._features(task), list(map(str, frame))
                if sorted(given) != sorted(map(str, known)):
                    message = f"must have the columns of the fit, {listed(known)}, got {given!r}"
                    raise InputError(message)
        has_labels = any(_LABEL in columns for columns in self._columns.values())
        if y is not None and not has_labels:
            message = "must be None, because `X` had no labels in the fit"
            raise InputError(message, argument="y", options=("X",))
        if has_labels and y is None:
            return {task: frame.assign(**{_LABEL: None}) for task, frame in frames.items()}
        return _with_labels(frames, y)

    def _features(self, task):
        """Labels of the columns of a task, except for those of the cases."""
        return [label for label in self._columns[task] if label != _LABEL]

    def _codes(self, task, frame):
        """Positions of the states of each variable; -1 where missing or unknown."""
        states = columns_by_name(_discrete({task: frame}, self._edges)[task])
        for name, cells in states.items():
            numbers = None if name in self._edges else numeric_values(cells)
            if numbers is not None:  # Where whole numbers are states, fractions are unknown.
                states[name] = cells.where(numbers == np.floor(numbers))
        states = pd.DataFrame(states, index=frame.index)
        known = self.networks_[task].states
        return code_frame(states, known, complete=False, unseen="ignore")

    def _filled(self, task, frame, seed):
        """A frame with its missing cells filled."""
        network, filled = self.networks_[task], frame.copy()
        codes = self._codes(task, frame)
        for label in sorted(frame, key=str):
            name, gaps = str(label), frame[label].isna().to_numpy()
            if not gaps.any() or label == _LABEL:
                continue
            rng = generator(seed, "fill", task, name)
            rows = {other: column[gaps] for other, column in codes.items() if other != name}
            p = inference.posteriors(network, name, rows, int(gaps.sum()))
            cells = self._pools[name]
            states = list(network.states[name])
            if self.fill == "draw":
                drawn = (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
                codes[name] = codes[name].copy()
                codes[name][gaps] = drawn
                chosen = pd.Categorical.from_codes(drawn, states)
                values = cells.drawn(task, chosen, rng.random(len(p)))
            elif name in self._edges:
                values = self._expected(cells, task, states, p)
            else:
                chosen = pd.Categorical.from_codes(p.argmax(axis=1), states)
                values = cells.drawn(task, chosen, np.zeros(len(p)))
            filled[label] = _put(frame[label], gaps, values)
        return filled

    def _expected(self, cells, task, states, p):
        """Expected numbers: means of the bins, weighted by their probabilities."""
        numbers = numeric_values(cells.cells)
        rows = [cells.rows[task].get(state, ()) for state in states]
        # Exact sums, because others depend on the order of the rows.
        means = [math.fsum(numbers[at]) / len(at) if len(at) else 0.0 for at in rows]
        found = p @ np.array(means)
        known = numbers[~np.isnan(numbers)]
        return pd.Series(np.rint(found) if (known == np.floor(known)).all() else found)


def _frames_of(X):
    """Frames by the names of the tasks; rows are numbered."""
    frames = named_frames(dict(X) if isinstance(X, Mapping) else as_frame(X))
    return {task: frame.reset_index(drop=True) for task, frame in frames.items()}


def _with_labels(frames, y):
    """Frames with a column of labels."""
    if y is None:
        return frames
    if not isinstance(y, Mapping):
        if len(frames) > 1:
            message = f"must be a mapping, as `X`, got {type_of(y)}"
            raise InputTypeError(message, argument="y", options=("X",))
        y = dict.fromkeys(frames, y)
    labels, found = {str(name): of_task for name, of_task in y.items()}, {}
    for task, frame in frames.items():
        given = labels.get(task)
        with located(task=task):
            texts = _label_texts([] if given is None else given)
        if len(texts) != len(frame):
            message = f"must be one label for each row, {len(frame)}, got {len(texts)!r}"
            raise InputError(message, argument="y", task=task)
        found[task] = frame.assign(**{_LABEL: pd.Series(texts, index=frame.index, dtype=object)})
    return found


def _label_texts(y):
    """Labels as text, because they are classes, also if they are numbers; None where missing."""
    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    is_sized = hasattr(y, "__len__") and not isinstance(y, str | Mapping)
    if not is_sized or len(getattr(y, "shape", (1,))) != 1:
        raise InputTypeError(f"must be a list of labels, got {type_of(y)}", argument="y")
    labels = list(y)
    nested = [label for label in labels if not pd.api.types.is_scalar(label)]
    if nested:
        message = f"must hold numbers, booleans or text as labels, got {shown(nested[0])}"
        raise InputTypeError(message, argument="y")
    return [None if pd.isna(label) else _text_of(label) for label in labels]


def _text_of(label):
    """A label as text: 1 and 1.0 are the same."""
    is_whole = isinstance(label, float | np.floating) and float(label).is_integer()
    return str(int(label)) if is_whole else str(label)


def _put(column, gaps, values):
    """A column with values in its gaps, of the same type where that can hold them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = set(column.cat.categories)
        new = [value for value in pd.unique(values) if value not in known]
        column = column.cat.add_categories(new)
    elif gaps.all():
        return pd.Series(values.to_numpy(), index=column.index)
    filled = column.copy()
    try:
        filled[gaps] = values.to_numpy()
    except (TypeError, ValueError):  # Of the fit it may have had text, and here it has numbers.
        filled = column.astype(object)
        filled[gaps] = values.to_numpy()
    return filled
