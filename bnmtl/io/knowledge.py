"""Reading of prior knowledge: files of required or forbidden arcs, tiers, and groups of tasks."""

import csv
import io
import json
from pathlib import Path

from bnmtl.errors import InputError, located
from bnmtl.wording import listed

_HEADERS = (["from", "to"], ["from", "to", "task"])


def read_arcs(path, tasks):
    """Read a file of arcs for `required` or `forbidden` of a learner.

    Parameters
    ----------
    path : str or path-like
        CSV with the columns from and to and, optionally, task. Without a task, or with an empty
        one, an arc applies to every task in which both variables exist and vary.
    tasks : Tasks
        The arcs must match their variables.

    Returns
    -------
    list of (str, str), or dict of str to such a list
        A dict by task if the file names any task.

    Raises
    ------
    InputError
        If the file cannot be read or a line is invalid; it names file, line and value.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> tasks = encode(pd.DataFrame({"rain": [0, 1, 1], "wet": [0, 1, 0]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "required.csv")
    ...     _ = path.write_text("from,to\\nrain,wet\\n")
    ...     read_arcs(path, tasks)
    [('rain', 'wet')]
    """
    with located(file=path):
        header, lines = _table(path, _HEADERS)
        general, by_task = [], {name: [] for name in tasks}
        for line, cells in lines:
            with located(line=line):
                _check_number(cells, header)
                parent, child, task = (*cells, "")[:3]
                _check_arc(parent, child, task, tasks)
            (by_task[task] if task else general).append((parent, child))
    if not any(by_task.values()):
        return general
    return {
        name: arcs + [arc for arc in general if _usable(arc, tasks[name])]
        for name, arcs in by_task.items()
    }


def _table(path, headers):
    """The header of a CSV file, one of those possible, and its numbered lines."""
    (_, header), *lines = _csv_lines(path) or [(1, [])]
    if header not in headers:
        wanted = " or ".join(map(",".join, headers))
        message = f"must have the columns {wanted}, got {','.join(header)!r}"
        raise InputError(message, line=1)
    return header, lines


def _check_number(cells, columns):
    if len(cells) != len(columns):
        columns, n = ",".join(columns), len(cells)
        raise InputError(f"must have a value for each of {columns}; it has {n}")


def _check_task(task, tasks):
    if task not in tasks:
        raise InputError(f"must name one of the tasks {listed(tasks.names)}, got {task!r}")


def _check_arc(parent, child, task, tasks):
    if task:
        _check_task(task, tasks)
    with located(task=task or None):
        for variable in (parent, child):
            _check_variable(variable, tasks[task] if task else tasks)
    if parent == child:
        message = f"must name different variables, got `{parent}` twice"
        raise InputError(message, remedy="remove the arc")
    if not task and not any(_usable((parent, child), of_task) for of_task in tasks.values()):
        found = f"in each task `{parent}` or `{child}` is missing or constant"
        message = f"must name an arc that a task could have; {found}"
        raise InputError(message, remedy="remove the arc")


def _check_variable(variable, known):
    if variable not in known.variables:
        message = f"must name variables of the data, got {variable!r}"
        raise InputError(message, remedy="check the spelling")


def _usable(arc, task):
    """Whether a task can have an arc that applies to all tasks."""
    return set(arc) <= set(task.variables) - set(task.constant)


def read_tiers(path, tasks):
    """Read a file of tiers for `tiers` of a learner.

    Parameters
    ----------
    path : str or path-like
        One tier per line, the earliest first, its variables separated by commas; or a JSON list
        of lists.
    tasks : Tasks
        The tiers must match their variables.

    Returns
    -------
    list of list of str

    Raises
    ------
    InputError
        If the file cannot be read or a line is invalid; it names file, line and value.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> tasks = encode(pd.DataFrame({"rain": [0, 1, 1], "wet": [0, 1, 0]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiers.txt")
    ...     _ = path.write_text("rain\\nwet\\n")
    ...     read_tiers(path, tasks)
    [['rain'], ['wet']]
    """
    with located(file=path):
        text = _text(path)
        if text.lstrip().startswith("["):
            lines = [(f"tier {i}", None, tier) for i, tier in enumerate(_json_tiers(text), 1)]
        else:
            lines = [(f"line {line}", line, tier) for line, tier in _csv_lines(path)]
        if not lines:
            raise InputError("must hold at least one tier; it is empty")
        place_of = {}
        for place, line, tier in lines:
            with located(line=line):
                for variable in tier:
                    _check_variable(variable, tasks)
                    if variable in place_of:
                        places = f"{place_of[variable]} and in {place}"
                        message = f"must name every variable once; `{variable}` is in {places}"
                        raise InputError(message, remedy="keep one of the two")
                    place_of[variable] = place
    return [tier for _, _, tier in lines]


def read_task_groups(path, tasks):
    """Read a file of groups of tasks for `task_groups` of a learner.

    Parameters
    ----------
    path : str or path-like
        CSV with the columns task and group, and a line for each task.
    tasks : Tasks
        Their names must be those in the file.

    Returns
    -------
    dict task -> str
        In the order of the tasks.

    Raises
    ------
    InputError
        If the file cannot be read, a line is invalid or a task has no group; it names file, line or
        task, and value.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from bnmtl.tasks import encode
    >>> rows = pd.DataFrame({"rain": [0, 1, 1], "wet": [0, 1, 0]})
    >>> tasks = encode({"north": rows, "south": rows})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "groups.csv")
    ...     _ = path.write_text("task,group\\nnorth,coast\\nsouth,coast\\n")
    ...     read_task_groups(path, tasks)
    {'north': 'coast', 'south': 'coast'}
    """
    with located(file=path):
        header, lines = _table(path, [["task", "group"]])
        labels = {}
        for line, cells in lines:
            with located(line=line):
                _check_number(cells, header)
                task, group = cells
                if not (task and group):
                    raise InputError("must have a value for each of task,group; one is empty")
                _check_task(task, tasks)
                if task in labels:
                    message = f"must name every task once; `{task}` is there again"
                    raise InputError(message, remedy="remove one of the two lines")
                labels[task] = group
        for task in tasks.names:
            if task not in labels:
                message = f"must name the group of every task; `{task}` is missing"
                remedy = "add its line, with a group of its own if it learns alone"
                raise InputError(message, remedy=remedy)
    return {task: labels[task] for task in tasks.names}


def _json_tiers(text):
    try:
        tiers = json.loads(text)
    except ValueError as error:
        raise InputError(f"must be JSON, as its first character says; {error}") from None
    if all(isinstance(tier, list) and all(isinstance(v, str) for v in tier) for tier in tiers):
        return tiers
    raise InputError('must be a JSON list of lists of names, such as [["age", "sex"], ["illness"]]')


def _csv_lines(path):
    """Return (line number, stripped cells) of every line that is not blank."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True, skipinitialspace=True)
    lines = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append((reader.line_num, [cell.strip() for cell in cells]))
    except csv.Error as error:
        raise InputError(f"cannot be read ({error})", line=reader.line_num) from None
    return lines


def _text(path):
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", remedy="check the path") from None
    except UnicodeDecodeError:
        raise InputError("must be text in UTF-8") from None
