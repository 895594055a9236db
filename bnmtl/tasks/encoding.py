"""Encoding of one table per task: checks, shared states, integer codes."""

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_choice, located, warn
from bnmtl.tasks.columns import (
    MISSING_STATE,
    check_text,
    ordered_variables,
    read_column,
    shared_states,
)
from bnmtl.tasks.task import Task, Tasks
from bnmtl.wording import count, listed, type_of


def encode(tasks, missing="error"):
    """Check and encode the data of one or several tasks.

    Strings, booleans, integers and categories are discrete, and so are whole-number floats, because
    pandas reads integer columns with missing values as floats. States are always strings (True is
    "True", 1 is "1") and shared by all tasks: the categories of categorical columns, otherwise the
    values observed in any task. Observed states are sorted numerically if all are integers,
    otherwise as strings. Declared categories are merged over the tasks in an order consistent with
    each of them. If only some tasks declare the states of a variable, the values in the others must
    be among the declared ones.

    Parameters
    ----------
    tasks : mapping of name to DataFrame, list of DataFrame, DataFrame or Tasks
        Rows are cases, columns are variables; a task may lack some variables. The tasks of a
        mapping are sorted by name; those of a list are named task1, task2, ... in the given order;
        one DataFrame is one task named task1; `Tasks` are returned unchanged. For a table with a
        task column, use `split` first.
    missing : {"error", "drop", "state"}, default="error"
        Missing values are an error, their rows are dropped (with a warning that reports their
        number), or "missing" becomes the last state of every variable with missing values in some
        task.

    Returns
    -------
    Tasks

    Raises
    ------
    InputTypeError
        If `tasks` has a different type, or a column contains dates, lists or other objects.
    InputError
        For no tasks, tasks with fewer than two rows, duplicate names, missing values, continuous
        columns, more than 256 states, different values with the same string, contradictory orders
        of declared states, and values outside the declared states.

    Warns
    -----
    InputWarning
        For dropped rows, variables with only one observed state or without a common state in two
        tasks, and tasks without a common pair of variables.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> corsica = pd.DataFrame({"wren": ["no", "yes", "no"], "layer": [1, 2, 10]})
    >>> provence = pd.DataFrame({"wren": ["yes", "no"], "layer": [2.0, None]})
    >>> tasks = encode({"corsica": corsica, "provence": provence}, missing="state")
    >>> tasks.states
    {'layer': ('1', '2', '10', 'missing'), 'wren': ('no', 'yes')}
    >>> tasks["provence"].codes
    array([[1, 3],
           [1, 0]], dtype=uint8)
    """
    check_choice("missing", missing, ("error", "drop", "state"))
    if isinstance(tasks, Tasks):
        return tasks
    if isinstance(tasks, Task):
        return Tasks([tasks])
    frames = named_frames(tasks)
    for name, frame in frames.items():
        if not frame.shape[1]:
            raise InputError("must have at least one column; it has none", task=name)
        if len(frame) < 2:
            raise InputError(f"must have at least 2 rows, got {len(frame)!r}", task=name)
    if missing == "drop":
        frames = _drop_rows(frames)
    encoded = encode_frames(frames, missing)
    _remark(encoded)
    return encoded


def encode_frames(frames, missing):
    """Encode the tables of {name: DataFrame} without warnings about unusual data."""
    columns = {}
    for name, frame in frames.items():
        with located(task=name):
            columns[name] = {}
            for variable, series in sorted(columns_by_name(frame).items()):
                with located(column=variable):
                    columns[name][variable] = read_column(series)
    if missing == "error":
        for name, by_name in columns.items():
            _check_complete(name, by_name)
    states, ordered = shared_states(columns), ordered_variables(columns)
    return Tasks(_encode(name, by_name, states, ordered) for name, by_name in columns.items())


def split(frame, column):
    """Split a table with a task column into one table per task.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows of all tasks.
    column : str
        Column with the task of every row.

    Returns
    -------
    dict of str to pandas.DataFrame
        The rows of each task, without the task column, in the order of the task names. Columns that
        are empty in all rows of a task but not of another task are treated as missing from that
        task, and a warning names them.

    Raises
    ------
    InputTypeError
        If `frame` is not a DataFrame.
    InputError
        If there are no rows, the column is missing, occurs twice or has missing values, or two of
        its values have the same string.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl.tasks import split
    >>> frame = pd.DataFrame({"region": ["Pr", "Co", "Pr"], "wren": [1, 0, 0]})
    >>> {name: part["wren"].tolist() for name, part in split(frame, "region").items()}
    {'Co': [0], 'Pr': [1, 0]}
    """
    if not isinstance(frame, pd.DataFrame):
        message = f"must be a pandas DataFrame, got {type_of(frame)}"
        raise InputTypeError(message, argument="frame", remedy="separate tables need no split")
    with located(argument="frame"):
        position = _position("column", column, frame)
    if not len(frame):
        raise InputError("must have rows; it is empty", argument="frame")
    with located(column=column):
        tasks = _named_tasks(frame.iloc[:, position])
    rest = frame.iloc[:, np.arange(frame.shape[1]) != position]
    present = sorted((tasks.labels[code], code) for code in np.unique(tasks.codes))
    return _without_empty_columns({label: rest[tasks.codes == code] for label, code in present})


def _named_tasks(series):
    """The column of tasks, read; each row must have one."""
    tasks = read_column(series, limit=None)
    n_missing = int(np.count_nonzero(tasks.codes < 0))
    if n_missing:
        message = f"must name the task of every row; it is missing in {count(n_missing, 'row')}"
        raise InputError(message, remedy="drop these rows")
    return tasks


def tasks_of(X, task_column):
    """The task of each row of a table in which a column names it.

    Parameters
    ----------
    X : pandas.DataFrame or numpy.ndarray of shape (n_rows, n_columns)
    task_column : str or int
        A column of a frame, or a position in an array.

    Returns
    -------
    numpy.ndarray of str, shape (n_rows,)

    Raises
    ------
    InputError
        If the column is not there, or the task of a row is missing.
    InputTypeError
        If `X` is neither a frame nor an array, or `task_column` is not a name or position.

    Examples
    --------
    >>> import pandas as pd
    >>> tasks_of(pd.DataFrame({"region": ["Pr", "Co"], "wren": [1, 0]}), "region").tolist()
    ['Pr', 'Co']
    """
    at = column_of(X, task_column)
    series = X.iloc[:, at] if isinstance(X, pd.DataFrame) else pd.Series(np.asarray(X)[:, at])
    with located(column=task_column):
        tasks = _named_tasks(series)
    return np.array(tasks.labels, dtype=object)[tasks.codes]


def column_of(X, task_column):
    """The position of the column that names the task; raises as `tasks_of`."""
    if isinstance(task_column, bool) or not isinstance(task_column, str | int | np.integer):
        message = (
            f"must be the name of a column, its position in an array, or None, got {task_column!r}"
        )
        raise InputTypeError(message, argument="task_column")
    if isinstance(X, pd.DataFrame):
        return _position("task_column", task_column, X)
    if getattr(X, "ndim", 0) != 2:
        raise InputTypeError(
            f"must be a frame or an array with a column of tasks, got {type_of(X)}", argument="X"
        )
    if isinstance(task_column, str) or not 0 <= task_column < X.shape[1]:
        message = f"must be from 0 to {X.shape[1] - 1} for an array, got {task_column!r}"
        raise InputError(message, argument="task_column")
    return int(task_column)


def _position(argument, column, frame):
    """The position of a column of a frame, found by its name as text."""
    names = column_names(frame)
    if str(column) not in names:
        message = f"must be one of the columns {listed(names)}, got {column!r}"
        raise InputError(message, argument=argument)
    return names.index(str(column))


def _without_empty_columns(frames):
    """Drop columns from tasks that have no values in them but in other tasks."""
    empty = {name: frame.isna().to_numpy().all(axis=0) for name, frame in frames.items()}
    nowhere = np.logical_and.reduce(list(empty.values()))
    lacking = {name: is_empty & ~nowhere for name, is_empty in empty.items()}
    parts = [
        f"{listed(frames[name].columns[is_empty])} in task `{name}`"
        for name, is_empty in lacking.items()
        if is_empty.any()
    ]
    if parts:
        warn(
            "Columns without any value in a task are treated as not measured there: "
            f"{'; '.join(parts)}"
        )
    return {name: frame.loc[:, ~lacking[name]] for name, frame in frames.items()}


def named_frames(tasks):
    """Return the user's data as {task name: DataFrame} in canonical order, with types checked."""
    if isinstance(tasks, pd.DataFrame):
        tasks = [tasks]
    if isinstance(tasks, Mapping):
        named = {}
        for name in sorted(tasks, key=str):
            if str(name) in named:
                raise InputError(f"must have different names, got `{name}` twice", argument="tasks")
            named[str(name)] = tasks[name]
    elif isinstance(tasks, list | tuple):
        named = {f"task{i}": value for i, value in enumerate(tasks, start=1)}
    else:
        message = (
            "must be a mapping of names to pandas DataFrames, a list of them or one of them, got "
            f"{_kind(tasks)}"
        )
        raise InputTypeError(message, argument="tasks", remedy=_remedy(tasks))
    if not named:
        raise InputError("must hold at least one task; it is empty", argument="tasks")
    for name, value in named.items():
        if isinstance(value, Task):
            named[name] = value.frame()
        elif not isinstance(value, pd.DataFrame):
            message = f"must be a pandas DataFrame, got {_kind(value)}"
            raise InputTypeError(message, task=name, remedy=_remedy(value))
    return named


def _kind(value):
    """The type of a value, with its module if the name alone would be ambiguous."""
    name = type_of(value)
    return f"{type(value).__module__}.{name}" if name == "DataFrame" else name


def _remedy(value):
    if hasattr(value, "to_pandas"):
        return "convert it by its `to_pandas`"
    return "files are read by `bnmtl.tasks.read`" if isinstance(value, str) else "convert it"


def column_names(frame):
    """Return the column names of a table as strings; duplicates are an error."""
    names = [str(column) for column in frame.columns]
    check_text(names, "must have column names that are Unicode")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        message = f"must have different column names, got {listed(twice)} twice"
        raise InputError(message, remedy="rename one")
    return names


def columns_by_name(frame):
    """Return {name: Series} of the columns of a table, in their order; names are checked."""
    columns = (series for _, series in frame.items())
    return dict(zip(column_names(frame), columns, strict=True))


def _drop_rows(frames):
    """Return the tables without incomplete rows, and warn of the number dropped."""
    kept, counts = {}, []
    for name, frame in frames.items():
        missing = frame.isna().to_numpy()
        with located(task=name):
            names = column_names(frame)
        empty = [column for column, none in zip(names, missing.all(axis=0), strict=True) if none]
        if empty:  # They would drop every row of the task.
            raise InputError(
                f"has no value at all in {listed(sorted(empty), 'column')}",
                task=name,
                remedy="leave such columns out of that task (a task may lack variables)",
                cli_remedy="leave such columns out with `--ignore C`",
            )
        incomplete = missing.any(axis=1)
        n_dropped = int(incomplete.sum())
        if len(frame) - n_dropped < 2:
            message = (
                f"must have at least 2 complete rows; {n_dropped} of its "
                f"{count(len(frame), 'row')} have missing values"
            )
            raise InputError(
                message, task=name, options=("missing",), remedy="consider `missing='state'`"
            )
        if n_dropped:
            counts.append(f"{n_dropped} of {len(frame)} in task `{name}`")
        kept[name] = frame[~incomplete] if n_dropped else frame
    if counts:
        warn(f"Rows with missing values are dropped: {', '.join(counts)}")
    return kept


def _check_complete(name, columns):
    n_missing = {v: int(np.count_nonzero(column.codes < 0)) for v, column in columns.items()}
    gaps = [f"{n} in column `{v}`" for v, n in n_missing.items() if n]
    if gaps:
        more = [f"some in {count(len(gaps) - 5, 'more column')}"] if gaps[5:] else []
        message = f"must not have missing values; it has {', '.join(gaps[:5] + more)}"
        raise InputError(
            message,
            task=name,
            options=("missing",),
            remedy=(
                "drop such rows with `missing='drop'`, or make them a state with `missing='state'`"
            ),
        )


def _encode(name, columns, states, ordered):
    """Return a Task from the columns of a task."""
    codes = np.empty((len(columns), len(next(iter(columns.values())).codes)), dtype=np.uint8)
    for i, (variable, column) in enumerate(columns.items()):
        index = {state: code for code, state in enumerate(states[variable])}
        # Code -1, a missing value, maps to the last entry.
        lookup = [index[label] for label in column.labels] + [index.get(MISSING_STATE, 0)]
        np.take(np.array(lookup, dtype=np.uint8), column.codes, out=codes[i], mode="wrap")
    codes.flags.writeable = False
    state_names = tuple(states[variable] for variable in columns)
    return Task(name, tuple(columns), state_names, codes, tuple(v for v in columns if v in ordered))


def _remark(tasks):
    """Warn about unusual but valid data."""
    for name, task in tasks.items():
        if task.constant:
            message = (
                "has columns in which only one state is observed "
                f"({listed(task.constant, limit=None)}); "
                "there are no arcs to or from such variables in that task"
            )
            warn(message, task=name)
    _remark_foreign_states(tasks)
    varying = [set(task.variables) - set(task.constant) for task in tasks.values()]
    shared = any(len(a & b) > 1 for a, b in itertools.combinations(varying, 2))
    if len(tasks) > 1 and not shared:
        message = (
            "No two tasks share a pair of variables that vary in both, so no arc can be learned "
            "together"
        )
        warn(message, remedy="check that the same variable has the same name in all tasks")


def _remark_foreign_states(tasks):
    """Warn about variables that vary in two tasks but have no state in common there."""
    observed = {}
    for name, task in tasks.items() if len(tasks) > 1 else ():
        constant = set(task.constant)
        for variable, states, codes in zip(task.variables, task.states, task.codes, strict=True):
            if variable not in constant:
                seen = np.flatnonzero(np.bincount(codes, minlength=len(states)))
                observed.setdefault(variable, []).append((name, {states[at] for at in seen}))
    for variable, by_name in sorted(observed.items()):
        if set.intersection(*(observed for _, observed in by_name)):
            continue
        for (first, a), (second, b) in itertools.combinations(by_name, 2):
            if not a & b:
                states = f"{listed(sorted(a), limit=3)} and {listed(sorted(b), limit=3)}"
                message = f"has no state that tasks `{first}` and `{second}` have in common"
                remedy = "check that both write it the same way"
                warn(f"{message} ({states})", column=variable, remedy=remedy)
                break
