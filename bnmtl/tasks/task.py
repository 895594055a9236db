"""Encoded tasks: named variables, their declared states and integer codes, and duplicated rows."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, located
from bnmtl.tasks.columns import state_ranks
from bnmtl.wording import count, listed, type_of

# Minimum number of distinct rows that are repeated, and minimum share of distinct rows among all
# rows, for equal rows to count as copies.
_FEWEST_COPIED = 5
_FEWEST_DIFFERENT = 1 / 3


def originals(codes, n_states):
    """Rows sorted by their codes, and the number of copies of each.

    If chance makes rows equal, it makes even more rows differ in exactly one variable. If more
    pairs are equal than differ in one variable, or every row occurs two, three or more times, rows
    were copied, for example from overlapping files or a file joined with itself. A few distinct
    rows that cover most possible ones may occur equally often by design.

    Parameters
    ----------
    codes : int array of shape (n_variables, n_rows)
    n_states : sequence of int
        Number of states of each variable.

    Returns
    -------
    order : int array of shape (n_rows,)
    sizes : int array
        The first original and its copies are the first ``sizes[0]`` of ``order``, and so on; all 1
        if rows are not copied.
    """
    order = np.lexsort(codes[::-1])
    ordered = codes[:, order]
    is_first = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))
    sizes = np.diff(np.append(np.flatnonzero(is_first), codes.shape[1]))
    if _are_copies(ordered, sizes, n_states):
        return order, sizes
    return order, np.ones(codes.shape[1], dtype=np.int64)


def _are_copies(codes, sizes, n_states):
    """Whether equal rows are copies."""
    if (sizes > 1).sum() < _FEWEST_COPIED or 2 * len(sizes) > math.prod(map(int, n_states)):
        return False
    if np.gcd.reduce(sizes) > 1:
        return True
    if len(sizes) < _FEWEST_DIFFERENT * codes.shape[1]:
        return False
    return _n_pairs(sizes) > n_differing_in_one(codes, _n_pairs(sizes))


def n_differing_in_one(codes, n_equal):
    """Number of pairs of rows that differ in exactly one variable."""
    rng = np.random.default_rng(0)
    # A sum of random numbers, one for each state of each variable, identifies rows.
    numbers = [rng.integers(-(2**62), 2**62, column.max() + 1)[column] for column in codes]
    whole = np.sum(numbers, axis=0)
    found = 0
    for column in numbers:
        _, sizes = np.unique(whole - column, return_counts=True)
        found += _n_pairs(sizes) - n_equal
    return found


def _n_pairs(sizes):
    """Number of pairs within groups of the given sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


@dataclass(frozen=True, eq=False)
class Task:
    """Complete rows of discrete variables, as integer codes into declared states.

    Created by `bnmtl.tasks.encode`; immutable.

    Parameters
    ----------
    name : str
        Name of the task.
    variables : tuple of str
        Names of the variables, sorted.
    states : tuple of tuple of str
        Declared states of each variable, in the order of `variables`; the same in all tasks.
    codes : numpy.ndarray of uint8, shape (n_variables, n_rows)
        State of every variable in every row as an index into its states; C-contiguous, read-only.
    ordered : tuple of str, default=()
        Variables whose states are ordered from low to high: discretized and whole-number columns
        and ordered categoricals.

    Raises
    ------
    InputTypeError
        If the codes are not an array of integers.
    InputError
        If variables, states and codes do not match, or one of `ordered` is not among the variables.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> task = encode(pd.DataFrame({"rain": [True, False, True], "wind": [2, 10, 2]}))["task1"]
    >>> task.variables, task.states
    (('rain', 'wind'), (('False', 'True'), ('2', '10')))
    >>> task.codes
    array([[1, 0, 1],
           [0, 1, 0]], dtype=uint8)
    """

    name: str
    variables: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    codes: np.ndarray
    ordered: tuple[str, ...] = ()

    def __post_init__(self):
        with located(task=self.name):
            self._check()
        codes = np.ascontiguousarray(self.codes, dtype=np.uint8)
        if codes is self.codes and codes.flags.writeable:
            codes = codes.copy()
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)

    def _check(self):
        """Raise unless every code denotes a state, because compiled loops do not check them."""
        codes, n_variables = self.codes, len(self.variables)
        if not isinstance(codes, np.ndarray) or codes.dtype.kind not in "iu":
            message = f"must be an array of integers, got {getattr(codes, 'dtype', type_of(codes))}"
            raise InputTypeError(
                message, argument="codes", remedy="`bnmtl.tasks.encode` makes tasks"
            )
        if codes.ndim != 2 or not len(self.states) == len(codes) == n_variables:
            message = (
                f"and `codes` must have one row for each of {count(n_variables, 'variable')}; they "
                f"have {count(len(self.states), 'row')} of states and codes of shape {codes.shape}"
            )
            raise InputError(message, argument="states", options=("codes",))
        for variable, states, row in zip(self.variables, self.states, codes, strict=True):
            if row.size and not 0 <= row.min() <= row.max() < len(states):
                message = (
                    f"must be from 0 to {len(states) - 1}, one for each state, got "
                    f"{row.min()} to {row.max()}"
                )
                raise InputError(message, argument="codes", column=variable)
        unknown = sorted(set(self.ordered) - set(self.variables))
        if unknown:
            message = f"must name variables of the task, got {listed(unknown)}"
            raise InputError(message, argument="ordered", remedy="leave that out")

    def __repr__(self):
        sizes = f"{count(self.n_variables, 'variable')}, {count(self.n_rows, 'row')}"
        return f"Task({self.name!r}, {sizes})"

    @property
    def n_rows(self):
        """Number of rows."""
        return self.codes.shape[1]

    @property
    def n_variables(self):
        """Number of variables."""
        return len(self.variables)

    @cached_property
    def index(self):
        """Position of each variable, by name."""
        return {variable: at for at, variable in enumerate(self.variables)}

    @cached_property
    def arities(self):
        """Number of declared states of each variable, int64 array of shape (n_variables,)."""
        return np.array([len(states) for states in self.states], dtype=np.int64)

    @cached_property
    def constant(self):
        """Names of the variables with only one observed state in this task."""
        if not self.n_rows:
            return self.variables
        one_state = self.codes.min(axis=1) == self.codes.max(axis=1)
        return tuple(v for v, is_one in zip(self.variables, one_state, strict=True) if is_one)

    @cached_property
    def originals(self):
        """Rows sorted by their codes, and the number of copies of each.

        Returns
        -------
        order : int array of shape (n_rows,)
        sizes : int array
            The first original and its copies are the first ``sizes[0]`` of ``order``, and so on;
            all 1 if rows are not copied. Rows that are equal by chance are not copies.

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl.tasks import encode
        >>> rows = pd.DataFrame({"a": [0, 0, 0, 1, 1], "b": [0, 1, 2, 0, 1], "c": [0, 1, 0, 1, 0]})
        >>> order, sizes = encode({"twice": pd.concat([rows, rows])})["twice"].originals
        >>> sizes.tolist()
        [2, 2, 2, 2, 2]
        """
        return originals(self.codes, self.arities)

    @cached_property
    def ranks(self):
        """Rank of every state, from low to high, by variable whose states have an order.

        These are the `ordered` variables and those with two states such as no / yes, absent /
        present, False / True or 0 / 1, which are ordered by meaning. The state for missing values
        has rank -1.
        """
        found = {
            variable: state_ranks(states, variable in self.ordered)
            for variable, states in zip(self.variables, self.states, strict=True)
        }
        return {variable: ranks for variable, ranks in found.items() if ranks is not None}

    def frame(self):
        """Return the rows as a DataFrame of categoricals with all declared states.

        A categorical is ordered if the states of the variable are. Encoding the frame again gives
        the same variables, states, codes and order.

        Returns
        -------
        pandas.DataFrame, shape (n_rows, n_variables)

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl.tasks import encode
        >>> encode(pd.DataFrame({"wind": [2, 10], "rain": [True, False]}))["task1"].frame()
            rain wind
        0   True    2
        1  False   10
        """
        columns = {}
        for name, states, codes in zip(self.variables, self.states, self.codes, strict=True):
            ordered = name in self.ordered
            columns[name] = pd.Categorical.from_codes(codes, list(states), ordered=ordered)
        return pd.DataFrame(columns)

    def take(self, rows):
        """Return a task with some of the rows and the same declared states.

        Parameters
        ----------
        rows : array of int, shape (n,)
            Row indices; repeats are allowed.

        Returns
        -------
        Task

        Raises
        ------
        InputTypeError
            If `rows` contains values that are not integers.
        InputError
            If an index is out of range.

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl.tasks import encode
        >>> task = encode(pd.DataFrame({"rain": [True, False], "wind": [2, 10]}))["task1"]
        >>> task.take([1, 1, 0]).codes
        array([[0, 0, 1],
               [1, 1, 0]], dtype=uint8)
        """
        at, place = np.asarray(rows), {"task": self.name, "argument": "rows"}
        if at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
            given = at.dtype if at.ndim == 1 else type_of(rows)
            message = f"must be a list of integers, got {given}"
            raise InputTypeError(message, **place, remedy="`numpy.flatnonzero` converts a mask")
        beyond = at[(at < -self.n_rows) | (at >= self.n_rows)]
        if beyond.size:
            message = f"must be below the number of rows, {self.n_rows}, got {beyond[0].item()!r}"
            raise InputError(message, **place)
        codes = np.take(self.codes, at.astype(np.intp), axis=1)
        codes.flags.writeable = False
        return Task(self.name, self.variables, self.states, codes, self.ordered)


class Tasks(Mapping):
    """Encoded tasks by name, in canonical order, with the states they share.

    Iterating, `len` and indexing by task name work as for any mapping.

    Parameters
    ----------
    tasks : iterable of Task
        The tasks, in canonical order. A variable must have the same states in all of them.

    Attributes
    ----------
    names : tuple of str
        Names of the tasks, in canonical order.
    variables : tuple of str
        Sorted union of the tasks' variables.
    states : dict of str to tuple of str
        Declared states of every variable.

    Raises
    ------
    InputTypeError
        If `tasks` is not a list of `Task`.
    InputError
        If there is no task, two tasks have the same name, or the states of a variable differ.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> north = pd.DataFrame({"finch": [0, 1, 1], "wren": [0, 1, 0]})
    >>> south = pd.DataFrame({"finch": [1, 0, 2], "wren": [1, 1, 0]})
    >>> tasks = encode({"south": south, "north": north})
    >>> tasks.names, tasks.variables
    (('north', 'south'), ('finch', 'wren'))
    >>> tasks.states["finch"]
    ('0', '1', '2')
    """

    def __init__(self, tasks):
        if not isinstance(tasks, Iterable):
            raise _not_tasks(tasks)
        tasks = list(tasks)
        for task in tasks:
            if not isinstance(task, Task):
                raise _not_tasks(task)
        if not tasks:
            raise InputError("must hold at least one task; it is empty", argument="tasks")
        self._tasks = {task.name: task for task in tasks}
        if len(self._tasks) < len(tasks):
            names = listed(task.name for task in tasks)
            raise InputError(f"must have different names, got {names!r}", argument="tasks")
        states = {}
        for task in tasks:
            for variable, labels in zip(task.variables, task.states, strict=True):
                if states.setdefault(variable, labels) != labels:
                    message = (
                        f"must have the same states in all tasks, got {listed(labels)}, and "
                        f"{listed(states[variable])} elsewhere"
                    )
                    raise InputError(message, task=task.name, column=variable)
        self.names = tuple(self._tasks)
        self.variables = tuple(sorted(states))
        self.states = {variable: states[variable] for variable in self.variables}

    def __getitem__(self, name):
        try:
            return self._tasks[name]
        except (KeyError, TypeError):
            raise KeyError(
                f"the name of a task must be one of {listed(self.names)}, got {name!r}."
            ) from None

    def __iter__(self):
        return iter(self._tasks)

    def __len__(self):
        return len(self._tasks)

    def __repr__(self):
        rows = ", ".join(f"{task.name}: {count(task.n_rows, 'row')}" for task in self.values())
        return f"Tasks({count(len(self.variables), 'variable')}; {rows})"

    def take(self, rows):
        """Return tasks with some of the rows of each and the same declared states.

        Parameters
        ----------
        rows : mapping of str to array of int
            Row indices by task name, one entry for every task.

        Returns
        -------
        Tasks

        Raises
        ------
        InputTypeError
            If `rows` is not a mapping, or its entries contain values that are not integers.
        InputError
            If the names in `rows` are not those of the tasks, or an index is out of range.

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl.tasks import encode
        >>> frame = pd.DataFrame({"finch": [0, 1, 1], "wren": [0, 1, 0]})
        >>> encode({"north": frame, "south": frame}).take({"north": [0, 2], "south": [1]})
        Tasks(2 variables; north: 2 rows, south: 1 row)
        """
        if not isinstance(rows, Mapping):
            message = f"must be a mapping of task names to row indices, got {type_of(rows)}"
            remedy = f"for example {{{self.names[0]!r}: [0, 1]}}"
            raise InputTypeError(message, argument="rows", remedy=remedy)
        if set(rows) != set(self.names):
            message = (
                f"must have one entry for every task ({listed(self.names)}), got "
                f"{listed(rows) or 'none'}"
            )
            raise InputError(message, argument="rows")
        return Tasks(task.take(rows[name]) for name, task in self.items())

    def frames(self):
        """Return every task as a DataFrame of categoricals; see `Task.frame`.

        Returns
        -------
        dict of str to pandas.DataFrame

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl.tasks import encode
        >>> encode({"north": pd.DataFrame({"wren": ["no", "yes"]})}).frames()["north"]
          wren
        0   no
        1  yes
        """
        return {name: task.frame() for name, task in self.items()}


def _not_tasks(value):
    message = f"must be a list of Task, got {type_of(value)}"
    return InputTypeError(
        message, argument="tasks", remedy="`bnmtl.tasks.encode` makes them from DataFrames"
    )
