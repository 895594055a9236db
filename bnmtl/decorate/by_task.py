"""Artificial cases of several tasks, each drawn for its task: a column names it."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from bnmtl.classification import NetworkSampler
from bnmtl.classification.columns import rows_like
from bnmtl.decorate.artificial import (
    Artificial,
    check_generator,
    generator_of,
    in_proportion,
    learns,
    take,
    unlabeled_rows,
)
from bnmtl.decorate.inputs import columns_of
from bnmtl.errors import InputError, located
from bnmtl.seeding import generator, with_seed
from bnmtl.tasks import split
from bnmtl.tasks.encoding import column_of, tasks_of


class ByTask(Artificial):
    """Cases of several tasks.

    The tasks have the same shares of the artificial cases as of the weights. Cases of a task depend
    on nothing but the cases of this task, unless networks are learned together. Of a single task
    they are drawn as without a column of tasks.

    Parameters
    ----------
    kind, X, columns, weights, seed, unlabeled
        As in `generator_of`, X with the column of the tasks.
    task_column : str or int

    Raises
    ------
    TypeError, ValueError
        As `generator_of`; for tasks with too few cases, without unlabeled ones if they are drawn,
        and without other columns.
    """

    def __init__(self, kind, X, columns, weights, seed, task_column, unlabeled=None):
        check_generator(kind, unlabeled)
        self._X = X
        self._parts = _parts(X, columns, weights, task_column)
        total = np.array([part.weights.sum() for part in self._parts.values()])
        self._shares = total / total.sum()
        kind = NetworkSampler() if isinstance(kind, str) and kind == "network" else kind
        if learns(kind):
            _check_enough(self._parts)
        if isinstance(kind, NetworkSampler) and len(self._parts) > 1:
            self._generators = _Together(kind, self._parts, seed)
        else:
            if unlabeled is not None:
                unlabeled = unlabeled_rows(unlabeled, X, columns)
            self._generators = _Alone(kind, self._parts, seed, task_column, unlabeled)

    def draw(self, n, seed):
        """Draw ``n`` cases, sorted by task."""
        numbers = generator(seed, "tasks").multinomial(n, self._shares).tolist()
        counts = {name: n for name, n in zip(self._parts, numbers, strict=True) if n}
        drawn = self._generators.draw(counts, seed)
        # The task, and gaps in columns that are empty in the task, are those of its first case.
        first = np.repeat([self._parts[name].first for name in counts], list(counts.values()))
        rest = pd.DataFrame(take(self._X, first))
        ends = np.cumsum(list(counts.values()))
        tables = [
            dict(zip(self._parts[name].positions, _columns(drawn[name]), strict=True))
            for name in counts
        ]
        columns = []
        for at, (_, column) in enumerate(rest.items()):
            cells = [
                table[at] if at in table else column[end - n : end]
                for table, end, n in zip(tables, ends, counts.values(), strict=True)
            ]
            columns.append(pd.concat(cells, ignore_index=True))
        return rows_like(self._X, columns)


class _Part(NamedTuple):
    """The cases of a task, without the column of the tasks and columns that are empty there."""

    X: object
    columns: list
    weights: np.ndarray
    first: int
    positions: list


def _parts(X, columns, weights, task_column):
    """The `_Part` of each task, sorted by name."""
    frame = pd.DataFrame(X).reset_index(drop=True)
    if frame.shape[1] < 2:
        rule, remedies = "must have another column beside {name}", "add features"
        raise InputError("X", rule, remedies=remedies, name=str(task_column))
    parts = {}
    for name, cases in split(frame, frame.columns[column_of(X, task_column)]).items():
        if not cases.shape[1]:
            rule, remedies = "must have a value in some column", "leave the task out"
            raise InputError(rule=rule, remedies=remedies, task=name)
        rows = cases.index.to_numpy()
        positions = [frame.columns.get_loc(label) for label in cases]
        cases = _like(X, cases)
        read = columns_of(cases, [not columns[at].is_numeric for at in positions])
        parts[name] = _Part(cases, read, weights[rows], rows[0], positions)
    return parts


def _check_enough(parts):
    """Raise for tasks from whose cases nothing can be learned."""
    for name, part in parts.items():
        if len(part.X) < 2:
            rule, found = "must have two cases or more for a {generator} that learns", "it has one"
            remedies = ("add cases", "leave the task out", "set {generator=marginals}")
            raise InputError(rule=rule, found=found, remedies=remedies, task=name)


def _columns(rows):
    """The columns of rows, in their order."""
    return [column for _, column in pd.DataFrame(rows).items()]


def _like(X, frame):
    """Rows of a frame, of the same kind as X."""
    return frame.reset_index(drop=True) if isinstance(X, pd.DataFrame) else frame.to_numpy()


def _seeds(names, seed):
    """A seed for each task; that of a single one is the given one."""
    if len(names) == 1:
        return dict.fromkeys(names, seed)
    return {name: int(generator(seed, "task", name).integers(2**63)) for name in names}


class _Alone:
    """A generator for each task."""

    def __init__(self, kind, parts, seed, task_column, unlabeled):
        others = dict.fromkeys(parts)
        if unlabeled is not None:
            others = _unlabeled_by_task(unlabeled, parts, task_column)
        self._names, self._generators = list(parts), {}
        seeds = _seeds(self._names, seed)
        for name, part in parts.items():
            cases = part.X, part.columns, part.weights
            with located(task=name):
                self._generators[name] = generator_of(kind, *cases, seeds[name], others[name])

    def draw(self, counts, seed):
        """Draw numbers of cases by task."""
        seeds, drawn = _seeds(self._names, seed), {}
        for name, n in counts.items():
            with located(task=name):
                drawn[name] = self._generators[name].draw(n, seeds[name])
        return drawn


class _Together:
    """Networks of all tasks, learned together."""

    def __init__(self, sampler, parts, seed):
        seeds, frames = _seeds(list(parts), seed), {}
        for name, part in parts.items():
            cases = in_proportion(part.X, part.weights, seeds[name])
            if not isinstance(cases, pd.DataFrame):
                cases = pd.DataFrame(cases, columns=[str(at) for at in part.positions])
            frames[name] = cases
        self._sampler = with_seed(sampler, seed).fit(frames)

    def draw(self, counts, seed):
        """Draw numbers of cases by task."""
        most = max(counts.values())
        drawn = self._sampler.sample(most, random_state=generator(seed, "network"))
        return {name: drawn[name][:n] for name, n in counts.items()}


def _unlabeled_by_task(unlabeled, parts, task_column):
    """The unlabeled cases of each task, with the columns of its cases."""
    with located(argument="unlabeled"):
        task = tasks_of(unlabeled, task_column)
    lacking = [name for name in parts if name not in task]
    if lacking:
        rule = "must have rows of each task with labeled cases"
        found, remedies = "there are none of {lacking}", ("add some", "choose another {generator}")
        raise InputError("unlabeled", rule, found=found, remedies=remedies, lacking=lacking)
    frame = pd.DataFrame(unlabeled)
    return {
        name: _like(unlabeled, frame.iloc[task == name, part.positions])
        for name, part in parts.items()
    }
