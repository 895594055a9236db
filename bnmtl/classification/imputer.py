"""Missing cells filled by learned networks, for one table or several tasks."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.rows import (
    CellPool,
    ColumnStates,
    as_frame,
    check_parameters,
    new_learner,
)
from bnmtl.errors import InputError, InputTypeError, check_choice, check_whole, located
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.networks import inference
from bnmtl.networks.tables import code_frame
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.columns import numeric_values
from bnmtl.tasks.encoding import encode_frames, named_frames
from bnmtl.wording import listed, type_of

_LABEL = "label of the case"


class NetworkImputer(BaseEstimator):
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
        check_parameters("error", self.learner)
        check_whole("bins", self.bins, least=2)
        check_choice("fill", self.fill, ("expected", "draw"))
        if self.learner is not None and self.learner.missing != "drop":
            message = "must learn from complete rows"
            raise InputError(
                message, argument="learner", options=("missing",), remedy="give it `missing='drop'`"
            )
        with located(argument="X"):
            frames = _with_labels(_frames_of(X), y)
            self._states = ColumnStates(frames, int(self.bins))
            discrete = self._states.discrete
            learner = self._learner(isinstance(X, Mapping))
            learner.fit(discrete)
        states = encode_frames(discrete, "state")
        self._pools = {name: CellPool.of(name, frames, states) for name in states.states}
        self.learner_, self.networks_ = learner, learner.networks_
        self._columns = {name: list(frame.columns) for name, frame in frames.items()}
        return self

    def _learner(self, is_several):
        default = MultitaskLearner if is_several else SingleTaskLearner
        return new_learner(self.learner, default(missing="drop"), self.random_state)

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
        network = self.networks_[task]
        names = [str(one) for one in self._columns[task] if one != _LABEL]
        check_choice("column", str(column), names)
        codes = self._codes(task, frame)
        del codes[str(column)]
        p = inference.posteriors(network, str(column), codes, len(frame))
        index = as_frame(X).index if not isinstance(X, Mapping) else next(iter(X.values())).index
        return pd.DataFrame(p, index=index, columns=list(network.states[str(column)]))

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
        names = [str(one) for one in self._columns[task] if one != _LABEL]
        check_choice("column", str(column), names)
        pool = self._pools[str(column)]
        numbers = numeric_values(pool.cells) if self._states.is_binned(str(column)) else None
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
                    names = list(self._columns)
                    raise InputError(f"must hold tasks of the fit, {listed(names)}, got {task!r}")
                expected = [one for one in self._columns[task] if one != _LABEL]
                if sorted(map(str, frame)) != sorted(map(str, expected)):
                    names = expected
                    raise InputError(
                        f"must have the columns of the fit, {listed(names)}, got "
                        f"{list(map(str, frame))!r}"
                    )
        has_labels = any(_LABEL in columns for columns in self._columns.values())
        if y is not None and not has_labels:
            raise InputError(
                "must be None, because `X` had no labels in the fit", argument="y", options=("X",)
            )
        if has_labels and y is None:
            return {task: frame.assign(**{_LABEL: None}) for task, frame in frames.items()}
        return _with_labels(frames, y)

    def _codes(self, task, frame):
        """Positions of the states of each variable; -1 where missing or unknown."""
        network = self.networks_[task]
        (states,) = self._states.of({task: frame}).values()
        states = {str(name): self._known(str(name), cells) for name, cells in states.items()}
        states = pd.DataFrame(states, index=frame.index)
        return code_frame(states, network.states, complete=False, unseen="ignore")

    def _known(self, name, cells):
        """Cells of a column; where whole numbers are states, fractions are unknown ones."""
        numbers = None if self._states.is_binned(name) else numeric_values(cells)
        return cells if numbers is None else cells.where(numbers == np.floor(numbers))

    def _filled(self, task, frame, seed):
        """A frame with its missing cells filled."""
        network, filled = self.networks_[task], frame.copy()
        codes = self._codes(task, frame)
        for label in sorted(frame, key=str):
            name, gaps = str(label), frame[label].isna().to_numpy()
            if not gaps.any() or label == _LABEL:
                continue
            rng = generator(seed, "fill", task, name)
            rows = {one: column[gaps] for one, column in codes.items() if one != name}
            p = inference.posteriors(network, name, rows, int(gaps.sum()))
            cells = self._pools[name]
            states = list(network.states[name])
            if self.fill == "draw":
                drawn = (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
                codes[name] = codes[name].copy()
                codes[name][gaps] = drawn
                chosen = pd.Categorical.from_codes(drawn, states)
                values = cells.drawn(task, chosen, rng.random(len(p)))
            elif self._states.is_binned(name):
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
        means = [numbers[at].mean() if len(at) else 0.0 for at in rows]
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
            raise InputTypeError(
                f"must be a mapping, as `X`, got {type_of(y)}", argument="y", options=("X",)
            )
        y = dict.fromkeys(frames, y)
    labels, found = {str(name): one for name, one in y.items()}, {}
    for task, frame in frames.items():
        given = labels.get(task)
        if given is None or len(given) != len(frame):
            n_given = 0 if given is None else len(given)
            message = f"must be one label for each row, {len(frame)}, got {n_given!r}"
            raise InputError(message, argument="y", task=task)
        column = pd.Series(given).reset_index(drop=True)
        # As text, because labels are classes, also if they are numbers.
        texts = [None if pd.isna(one) else _text_of(one) for one in column]
        found[task] = frame.assign(**{_LABEL: pd.Series(texts, index=frame.index, dtype=object)})
    return found


def _text_of(label):
    """A label as text: 1 and 1.0 are the same."""
    is_whole = isinstance(label, float | np.floating) and float(label).is_integer()
    return str(int(label)) if is_whole else str(label)


def _put(column, gaps, values):
    """A column with values in its gaps, of the same type where that can hold them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = set(column.cat.categories)
        column = column.cat.add_categories([one for one in pd.unique(values) if one not in known])
    elif gaps.all():
        return pd.Series(values.to_numpy(), index=column.index)
    filled = column.copy()
    filled[gaps] = values.to_numpy()
    return filled
