"""Pseudo-cases drawn from learned networks, for one table or several tasks."""

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.rows import as_frame, check_parameters, encoded
from bnmtl.errors import InputError, InputTypeError, InputWarning, check_whole, located
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks import discretize
from bnmtl.tasks.columns import numeric_values
from bnmtl.tasks.encoding import encode_frames, named_frames
from bnmtl.tasks.task import Tasks
from bnmtl.wording import type_of


class NetworkSampler(BaseEstimator):
    """Draw pseudo-cases from a learned network, or from the networks of several tasks.

    The network is learned from all columns, so leave the target out. Columns of more than `bins`
    different numbers are discretized for learning. A drawn state becomes the cell of a random case
    with this state, so numbers come from the observed numbers of a bin, and types of columns and
    categories are kept. If no case of a task has the state, the cell comes from another task.

    Parameters
    ----------
    learner : learner, default=None
        From `bnmtl.learners`; None is `SingleTaskLearner(missing="state")` for one table and
        `MultitaskLearner(missing="state")` for several tasks. With ``missing="state"`` missing
        cells are drawn like other states; with "drop" only complete rows are used for learning and
        no cell is missing.
    bins : int, default=5
        Number of bins of a numeric column, each with about the same number of cases.

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
    >>> rows = structures.load("asia").sample(500, random_state=0).assign(age=np.arange(500) / 10)
    >>> sampler = NetworkSampler().fit(rows)
    >>> pseudo = sampler.sample(3, random_state=0)
    >>> pseudo.shape, bool(pseudo["age"].isin(rows["age"]).all())
    ((3, 9), True)
    >>> several = NetworkSampler().fit({"a": rows[:250], "b": rows[250:]}).sample(10)
    >>> {task: len(frame) for task, frame in several.items()}
    {'a': 10, 'b': 10}
    """

    def __init__(self, learner=None, bins=5):
        self.learner = learner
        self.bins = bins

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
        check_parameters("error", self.learner)
        check_whole("bins", self.bins, least=2)
        if isinstance(X, Tasks):
            rule, remedies = "must be frames of the tasks", "pass the frames that were encoded"
            raise InputTypeError("X", rule, type_of(X), remedies=remedies)
        is_several = isinstance(X, Mapping)
        with located(argument="X"):
            frames = named_frames(dict(X) if is_several else as_frame(X))
            discrete = _discretized(frames, int(self.bins))
            learner = self._learner(is_several)
            learner.fit(discrete if learner.missing == "drop" else encoded(discrete, learner))
        pools = _Pools(frames, encode_frames(discrete, "state"))
        self.learner_, self.networks_, self._pools = learner, learner.networks_, pools
        self._frames = {name: frame[:0] for name, frame in frames.items()}
        self._names = {str(name): name for name in X} if is_several else None
        self._is_array = not is_several and not isinstance(X, pd.DataFrame)
        return self

    def _learner(self, is_several):
        if self.learner is not None:
            return clone(self.learner)
        return (MultitaskLearner if is_several else SingleTaskLearner)(missing="state")

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
        check_whole("n", n, least=1)
        seed = seed_of(random_state)
        drawn = {task: self._drawn(task, n, seed) for task in self._frames}
        if self._names is not None:
            return {name: drawn[task] for task, name in self._names.items()}
        (frame,) = drawn.values()
        return frame.to_numpy() if self._is_array else frame

    def _drawn(self, task, n, seed):
        seed = int(generator(seed, task).integers(2**63))
        states = self.networks_[task].sample(n, seed)
        columns = []
        for label in self._frames[task]:
            name = str(label)
            uniform = generator(seed, "cells", name).random(n)
            columns.append(self._pools.drawn(task, name, states[name].array, uniform))
        return pd.concat(columns, axis=1).set_axis(self._frames[task].columns, axis=1)


class _Pools:
    """The observed cells of each state of each column.

    Parameters
    ----------
    frames : dict task -> DataFrame
    encoded : Tasks
        The same rows as codes of states.
    """

    def __init__(self, frames, encoded):
        self._cells, self._rows = {}, {}
        for task, frame in frames.items():
            for label in frame:
                name = str(label)
                self._cells[task, name] = frame[label]
                codes = encoded[task].codes[encoded[task].index[name]]
                for code, state in enumerate(encoded.states[name]):
                    self._rows[task, name, state] = np.flatnonzero(codes == code)

    def drawn(self, task, name, states, uniform):
        """A cell for each of the drawn states, chosen by numbers from 0 to 1."""
        ordered = [task, *sorted({one for one, _ in self._cells} - {task})]
        cells = [self._cells[one, name] for one in ordered if (one, name) in self._cells]
        starts = np.cumsum([0, *(len(part) for part in cells)])
        rows = np.empty(len(states), dtype=int)
        for code, state in enumerate(states.categories):
            chosen = states.codes == code
            if chosen.any():
                pools = [self._rows.get((one, name, state), []) for one in ordered]
                pools = zip(starts, [p for one, p in zip(ordered, pools, strict=True)
                                     if (one, name) in self._cells], strict=False)
                pool = next(start + pool for start, pool in pools if len(pool))
                rows[chosen] = pool[(uniform[chosen] * len(pool)).astype(int)]
        together = cells[0] if len(cells) == 1 else pd.concat(cells)
        return together.iloc[rows].reset_index(drop=True)


def _discretized(frames, bins):
    """Frames with states; columns of more than some number of different numbers get bins."""
    numbers = {name: {} for name in frames}
    for task, frame in frames.items():
        for label in frame:
            values = numeric_values(frame[label])
            if values is not None:
                if np.isinf(values).any():
                    rule, found = "must hold finite numbers", "it has an infinite one"
                    raise InputError(rule=rule, found=found, column=str(label), task=task)
                numbers[task][str(label)] = values
    return numbers, bins, discretize, warnings, InputWarning
