"""Reads what is known beforehand: files of required or forbidden arcs, and of tiers."""

import csv
import io
import json
from pathlib import Path

__all__ = ["read_arcs", "read_tiers"]

_HEADERS = (["from", "to"], ["from", "to", "task"])


def read_arcs(path, tasks):
    """Read a file of arcs for `required` or `forbidden` of a learner.

    Parameters
    ----------
    path : str or path-like
        CSV with the columns from and to and, if wanted, task. Without a task, or with an empty
        one, an arc is meant for every task that has both variables, neither constant there.
    tasks : Tasks
        What the arcs must fit to.

    Returns
    -------
    list of (str, str), or dict of str to such a list
        A dict by task if the file names any task.

    Raises
    ------
    ValueError
        If the file cannot be read, or a line of it does not fit; it names file, line and value.

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
    lines = _csv_lines(path)
    if not lines or lines[0][1] not in _HEADERS:
        given = ",".join(lines[0][1]) if lines else ""
        raise ValueError(
            f"`{path}`, line 1: the columns must be from,to or from,to,task; `{given}` was given."
        )
    header = lines[0][1]
    general, own = [], {name: [] for name in tasks}
    for number, cells in lines[1:]:
        where = f"`{path}`, line {number}"
        if len(cells) != len(header):
            raise ValueError(
                f"{where}: {len(header)} values are needed ({','.join(header)}); "
                f"{len(cells)} were given."
            )
        parent, child, task = (*cells, "")[:3]
        _check_arc(where, parent, child, task, tasks)
        if task:
            own[task].append((parent, child))
        else:
            general.append((parent, child))
    if not any(own.values()):
        return general
    return {
        name: arcs + [arc for arc in general if _usable(arc, tasks[name])]
        for name, arcs in own.items()
    }


def _check_arc(where, parent, child, task, tasks):
    if task and task not in tasks:
        raise ValueError(f"{where}: there is no task `{task}`; the tasks are {_listing(tasks)}.")
    for variable in (parent, child):
        if variable not in (tasks[task].variables if task else tasks.variables):
            owner = f"task `{task}` has" if task else "the tasks have"
            raise ValueError(f"{where}: {owner} no variable `{variable}`; check the spelling.")
    if parent == child:
        raise ValueError(f"{where}: an arc from `{parent}` to itself is impossible; remove it.")
    if not task and not any(_usable((parent, child), one) for one in tasks.values()):
        raise ValueError(
            f"{where}: no task could have the arc from `{parent}` to `{child}`, because in each a "
            "variable is missing or constant; remove the arc."
        )


def _usable(arc, task):
    """Say whether a task can have an arc that is meant for all."""
    return set(arc) <= set(task.variables) - set(task.constant)


def read_tiers(path, tasks):
    """Read a file of tiers for `tiers` of a learner.

    Parameters
    ----------
    path : str or path-like
        One tier per line, the earliest first, its variables separated by commas; or a JSON list
        of lists.
    tasks : Tasks
        What the variables must fit to.

    Returns
    -------
    list of list of str

    Raises
    ------
    ValueError
        If the file cannot be read, or a line of it does not fit; it names file, line and value.

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
    text = _text(path)
    if text.lstrip().startswith("["):
        lines = [(f"tier {i}", tier) for i, tier in enumerate(_json_tiers(path, text), 1)]
    else:
        lines = [(f"line {number}", tier) for number, tier in _csv_lines(path)]
    if not lines:
        raise ValueError(f"`{path}` must hold at least one tier; it is empty.")
    known, tier_of = set(tasks.variables), {}
    for place, tier in lines:
        for variable in tier:
            if variable not in known:
                raise ValueError(
                    f"`{path}`, {place}: the tasks have no variable `{variable}`; check the "
                    "spelling."
                )
            if variable in tier_of:
                raise ValueError(
                    f"`{path}`, {place}: `{variable}` stands in {tier_of[variable]} already; keep "
                    "one of the two."
                )
            tier_of[variable] = place
    return [tier for _, tier in lines]


def _json_tiers(path, text):
    try:
        tiers = json.loads(text)
    except ValueError as error:
        raise ValueError(f"`{path}` must be JSON, as its first character says: {error}.") from None
    if not all(isinstance(tier, list) for tier in tiers) or not all(
        isinstance(variable, str) for tier in tiers for variable in tier
    ):
        raise ValueError(
            f"`{path}` must be a JSON list of lists of names, such as "
            '[["age", "sex"], ["illness"]].'
        )
    return tiers


def _csv_lines(path):
    """Return (line number, stripped cells) of every line that is not blank."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True, skipinitialspace=True)
    lines = []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append((reader.line_num, [cell.strip() for cell in cells]))
    except csv.Error as error:
        raise ValueError(f"`{path}`, line {reader.line_num}: {error}.") from None
    return lines


def _text(path):
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"`{path}` cannot be read: {error.strerror}; check the path.") from None
    except UnicodeDecodeError:
        raise ValueError(f"`{path}` must be text in UTF-8; it is not.") from None


def _listing(names):
    return ", ".join(f"`{name}`" for name in names)
