"""Pseudo-cases drawn from learned networks, for one table or several tasks."""

from collections.abc import Mapping

import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.rows import (
    CellPool,
    ColumnStates,
    as_frame,
    check_parameters,
    encoded,
    new_learner,
)
from bnmtl.errors import InputTypeError, check_whole, located
from bnmtl.learners import MultitaskLearner, SingleTaskLearner
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.encoding import encode_frames, named_frames
from bnmtl.tasks.task import Tasks
from bnmtl.wording import type_of


class NetworkSampler(BaseEstimator):
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
            message = f"must be frames of the tasks, got {type_of(X)}"
            raise InputTypeError(message, argument="X", remedy="pass the frames that were encoded")
        is_several = isinstance(X, Mapping)
        with located(argument="X"):
            frames = named_frames(dict(X) if is_several else as_frame(X))
            discrete = ColumnStates(frames, int(self.bins)).discrete
            learner = self._learner(is_several)
            learner.fit(discrete if learner.missing == "drop" else encoded(discrete, learner))
        states = encode_frames(discrete, "state")
        self._pools = {name: CellPool.of(name, frames, states) for name in states.states}
        self.learner_, self.networks_ = learner, learner.networks_
        self._frames = {name: frame[:0] for name, frame in frames.items()}
        self._names = {str(name): name for name in X} if is_several else None
        self._is_array = not is_several and not isinstance(X, pd.DataFrame)
        return self

    def _learner(self, is_several):
        default = MultitaskLearner if is_several else SingleTaskLearner
        return new_learner(self.learner, default(missing="state"), self.random_state)

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
            columns.append(self._pools[name].drawn(task, states[name].array, uniform))
        return pd.concat(columns, axis=1).set_axis(self._frames[task].columns, axis=1)
