"""Priors over configurations, which favor agreement between the structures of tasks."""

import itertools
import math
import numbers
from collections.abc import Mapping

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from bnmtl._kernels import coupling as kernels
from bnmtl.errors import InputError, InputTypeError, check_choice, check_number
from bnmtl.graphs import both_take_part, check_dag
from bnmtl.wording import listed, shown, type_of

_ROUNDING = 1e-9  # numbers closer to 0 count as 0


class _Penalties(dict):
    """Penalties by unordered pair of names, read and checked."""


def read_penalties(listed, name):
    """Penalties by unordered pair, from a mapping {(a, b): p} or a symmetric DataFrame."""
    if isinstance(listed, _Penalties):
        return listed
    if listed is None:
        return _Penalties()
    if isinstance(listed, pd.DataFrame):
        cells = _cells(listed, name)
    elif isinstance(listed, Mapping):
        cells = listed.items()
    else:
        message = f"must be a mapping {{(a, b): penalty}} or a symmetric DataFrame, got {listed!r}"
        raise InputTypeError(message, argument=name)
    penalties = _Penalties()
    for pair, penalty in cells:
        check_pair(name, pair)
        key = frozenset(map(str, pair))
        check_penalty(f"{name}[{pair!r}]", penalty)
        if penalties.setdefault(key, penalty) != penalty:
            message = f"must give every pair one value; {pair} has {penalties[key]} and {penalty}"
            raise InputError(message, argument=name)
    return penalties


def check_pair(argument, pair):
    """Raise unless it is a pair of two different names."""
    is_pair = hasattr(pair, "__len__") and not isinstance(pair, str | bytes) and len(pair) == 2
    if not is_pair or len(set(map(str, pair))) != 2:
        raise InputError(f"must have pairs of two different names, got {pair!r}", argument=argument)


class _Closeness(dict):
    """Median distance over distance by unordered pair of tasks, read and checked."""


def read_closeness(table):
    """Median over distance by unordered pair, from a table of dissimilarities."""
    if isinstance(table, _Closeness):
        return table
    if table is None:
        return _Closeness()
    table = read_distances(table, "task_distance")
    labels, values = list(table.index), np.maximum(table.to_numpy(), 0.0)
    pairs = list(itertools.combinations(range(len(labels)), 2))
    distances = np.array([(values[i, j] + values[j, i]) / 2 for i, j in pairs])
    closeness = np.ones(len(pairs))
    # If most tasks are alike, the median of all distances would be 0.
    if (distances > 0).any():
        median = float(np.median(distances[distances > 0]))
        # Tasks that look alike by chance must not be forced to agree completely.
        closeness = median / np.maximum(distances, median / 10)
    return _Closeness(
        (frozenset((labels[i], labels[j])), float(ratio))
        for (i, j), ratio in zip(pairs, closeness, strict=True)
    )


def read_distances(table, name):
    """A checked table of dissimilarities of tasks: strings as labels, rows ordered as columns."""
    if not isinstance(table, pd.DataFrame):
        kind = type_of(table)
        message = f"must be a square DataFrame with a row and a column for each task, got {kind}"
        raise InputTypeError(message, argument=name, remedy="`bnmtl.relatedness.direct` makes one")
    rows, columns = ([str(label) for label in labels] for labels in (table.index, table.columns))
    if len(set(rows)) < len(rows) or sorted(rows) != sorted(columns):
        found = f"the rows are {listed(rows)}, the columns {listed(columns)}"
        message = f"must have one row and one column for each task; {found}"
        raise InputError(message, argument=name)
    cells = table.to_numpy(dtype=object)
    values = np.array([_number(cell) for cell in cells.flat], dtype=float).reshape(cells.shape)
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        cell = f"row `{rows[i]}`, column `{columns[j]}` is {cells[i, j]!r}"
        remedy = "fill it, or leave out tasks that were not compared"
        raise InputError(f"must hold finite numbers; {cell}", argument=name, remedy=remedy)
    table = pd.DataFrame(values, index=rows, columns=columns)[rows]
    for task, distance in zip(rows, np.diagonal(table), strict=True):
        if abs(distance) > _ROUNDING:
            message = f"must be 0 on the diagonal; it is {distance:g} for task `{task}`"
            remedy = "turn similarities into dissimilarities first"
            raise InputError(message, argument=name, remedy=remedy)
    return table


def _number(cell):
    """A cell as a float; nan if it is not a number."""
    try:
        return math.nan if isinstance(cell, str | bytes) else float(cell)
    except (TypeError, ValueError):
        return math.nan


def _cells(table, name):
    """Pairs and penalties of the upper triangle of a symmetric DataFrame."""
    values = table.to_numpy()
    labels = [str(label) for label in table.index]
    if labels != [str(label) for label in table.columns] or not np.array_equal(values, values.T):
        rule = "must be a symmetric table with the same names as rows and columns"
        message = f"{rule}; its shape is {table.shape}"
        raise InputError(message, argument=name, remedy="a missing value is not symmetric either")
    for i, j in itertools.combinations(range(len(labels)), 2):
        yield (labels[i], labels[j]), values[i, j].item()


def check_penalty(argument, penalty):
    """Raise InputError or InputTypeError unless it is a number from 0 to 1."""
    remedy = "0 learns each task alone, 1 forces identical structures"
    check_number(argument, penalty, least=0, most=1, remedy=remedy)


class _RowByRow:
    """Couplings that evaluate joint states one at a time."""

    def log_couplings(self, states):
        """Log coupling of each row of an int8 array of states."""
        return np.array([self.log_coupling(row) for row in states])


class PairedCoupling:
    """Paired coupling of one pair of variables, one penalty for all pairs of tasks."""

    def __init__(self, log_penalty, reversal):
        self.log_penalty = log_penalty
        self.reversal = reversal

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        minus = int(np.count_nonzero(states == -1))
        plus = int(np.count_nonzero(states == 1))
        distance = (minus + plus) * (len(states) - minus - plus) + self.reversal * minus * plus
        return self.log_penalty * distance if distance else 0.0

    def log_couplings(self, states):
        """Log coupling of each row of an int8 array of states."""
        minus, plus = (states == -1).sum(axis=1), (states == 1).sum(axis=1)
        distance = (minus + plus) * (states.shape[1] - minus - plus) + self.reversal * minus * plus
        return _priced(self.log_penalty, distance)

    def weights(self, k):
        """The log penalty of every pair of tasks, as a (k, k) array."""
        return np.full((k, k), self.log_penalty)


class WeightedPairedCoupling(_RowByRow):
    """Paired coupling of one pair of variables with a log penalty for each pair of tasks."""

    def __init__(self, log_penalties, reversal):
        self.log_penalties = log_penalties
        self.reversal = reversal

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        return kernels.weighted_log_coupling(states, self.log_penalties, self.reversal)

    def weights(self, k):
        """The log penalty of every pair of tasks, as a (k, k) array."""
        return self.log_penalties


class EditCoupling:
    """Edit coupling of one pair of variables."""

    def __init__(self, log_penalty, costs):
        self.log_penalty = log_penalty
        self.costs = costs

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        edits = float(self.costs[np.asarray(states, np.int64) + 1].sum(axis=0).min())
        return self.log_penalty * edits if edits else 0.0

    def log_couplings(self, states):
        """Log coupling of each row of an int8 array of states."""
        edits = self.costs[np.asarray(states, np.int64) + 1].sum(axis=1).min(axis=1)
        return _priced(self.log_penalty, edits)


class CustomCoupling(_RowByRow):
    """A custom coupling of one pair of variables, with its values checked."""

    def __init__(self, prior, pair, tasks):
        self._prior = prior
        self._pair = pair
        self._tasks = tasks

    def log_coupling(self, states):
        """Log coupling of an int8 array of states."""
        given = self._prior.log_coupling(states, pair=self._pair, tasks=self._tasks)
        value = float(given) if isinstance(given, numbers.Real) else math.nan
        if not value <= 0:
            message = (
                f"must return at most 0 from `log_coupling`; {type_of(self._prior)} returns "
                f"{given!r} for the states {states.tolist()}"
            )
            raise InputError(message, argument="prior")
        return value

    def bound(self, states, n_tasks):
        """Upper bound of the coupling for any completion of the states of the first tasks."""
        if hasattr(self._prior, "bound"):
            return float(self._prior.bound(states, n_tasks))
        return 0.0


def _priced(log_penalty, amounts):
    """log_penalty * amounts, with 0 for an amount of 0 even if the penalty is -inf."""
    return np.multiply(log_penalty, amounts, out=np.zeros(len(amounts)), where=amounts != 0)


class CouplingPrior(BaseEstimator):
    """Base of the Edit and Paired priors: penalties, and the sum over pairs of variables."""

    def log_coupling(self, states, pair=None, tasks=None):
        """Log coupling of one pair of variables, at most 0.

        Parameters
        ----------
        states : array-like of int of shape (k,)
            State of the pair in each task that has both variables: 0 no arc, +1 and -1 the two
            directions; with ``pair=(a, b)``, +1 is a -> b.
        pair : tuple (a, b) of str, default=None
            Required if the penalty depends on the variables.
        tasks : sequence of str of shape (k,), default=None
            Required if the penalty depends on the tasks.

        Returns
        -------
        float
            0 if all agree, -inf if a penalty of 1 is violated.

        Examples
        --------
        >>> from bnmtl import EditPrior
        >>> round(EditPrior(penalty=0.9).log_coupling([1, 1, 0]), 4)
        -2.3026
        """
        array = np.asarray(states)
        if array.ndim != 1 or not np.isin(array, (-1, 0, 1)).all():
            raise InputError(f"must be a list of -1, 0 and +1, got {states!r}", argument="states")
        return self.coupling(len(array), pair, tasks).log_coupling(array.astype(np.int8))

    def log_prior(self, configuration):
        """Log coupling of a whole configuration, summed over all pairs of variables.

        Parameters
        ----------
        configuration : mapping task -> networkx.DiGraph

        Returns
        -------
        float
            Without the normalizing constant and the structure priors of the tasks. Variables marked
            as constant in a learned graph are ignored.

        Raises
        ------
        InputTypeError
            If it is not a mapping of DAGs.

        Examples
        --------
        >>> import networkx as nx
        >>> from bnmtl import PairedPrior
        >>> north, south = nx.DiGraph([("rain", "wet")]), nx.DiGraph([("wet", "rain")])
        >>> round(PairedPrior(penalty=0.9).log_prior({"north": north, "south": south}), 4)
        -4.6052
        """
        if not isinstance(configuration, Mapping):
            message = f"must be a mapping task -> networkx.DiGraph, got {type_of(configuration)}"
            raise InputTypeError(message, argument="configuration")
        for task, graph in configuration.items():
            check_dag(graph, f"configuration[{task!r}]")
        prior = self.resolved()
        pairs = {tuple(sorted(arc)) for graph in configuration.values() for arc in graph.edges}
        total = 0.0
        for a, b in sorted(pairs):
            tasks = [t for t, graph in configuration.items() if both_take_part(graph, a, b)]
            graphs = [configuration[task] for task in tasks]
            states = np.array([g.has_edge(a, b) - g.has_edge(b, a) for g in graphs], np.int8)
            total += prior.coupling(len(tasks), (a, b), tasks).log_coupling(states)
        return total

    def resolved(self):
        """This prior with its penalties per pair checked and read once, for repeated use.

        Raises
        ------
        InputTypeError, InputError
            For parameters out of range.
        """
        parameters = self.get_params(deep=False)
        for name in ("variable_penalty", "task_penalty"):
            if parameters.get(name) is not None:
                parameters[name] = read_penalties(parameters[name], name)
        if parameters.get("task_distance") is not None:
            parameters["task_distance"] = read_closeness(parameters["task_distance"])
        prior = type(self)(**parameters)
        prior.check()
        return prior

    def is_independent(self, tasks):
        """Whether every penalty of pairs of some tasks is 0, so that they share no arcs."""
        prior = self.resolved()
        by_pair = read_penalties(getattr(prior, "task_penalty", None), "task_penalty")
        pairs = itertools.combinations(tasks, 2)
        penalties = [by_pair.get(frozenset(pair), prior.penalty) for pair in pairs]
        return not any([*prior.pair_penalties().values(), *penalties])

    def structure_weights(self, pair, tasks):
        """Exponents w_s of the structure priors of the tasks for one pair (equations 2.6 - 2.8).

        w_s = 1 / (1 + sum of delta_st over the other tasks with the pair).
        """
        k = len(tasks)
        deltas = -np.expm1(self._log_sharing(k, pair, tasks))
        if deltas.ndim == 0:
            return np.full(k, 1 / (1 + max(k - 1, 0) * float(deltas)))
        return 1 / (1 + deltas.sum(axis=1))

    def by_task(self):
        """Whether the penalty depends on the tasks."""
        return False

    def among(self, variables, tasks):
        """The same prior with its listed penalties restricted to some variables and tasks.

        Distances are kept, because the distance of two tasks does not depend on the others.
        """
        parameters = self.get_params(deep=False)
        for name, kept in (("variable_penalty", variables), ("task_penalty", tasks)):
            if parameters.get(name) is not None:
                penalties = read_penalties(parameters[name], name)
                parameters[name] = {
                    tuple(sorted(pair)): p for pair, p in penalties.items() if pair <= set(kept)
                }
        return type(self)(**parameters)

    def pair_penalties(self):
        """The penalties listed for pairs of variables, by unordered pair."""
        return read_penalties(self.variable_penalty, "variable_penalty")

    def check(self):
        """Raise InputError or InputTypeError for a penalty or a reversal out of range."""
        check_penalty("penalty", self.penalty)
        check_choice("reversal", self.reversal, (1, 2))

    def _log_sharing(self, k, pair, tasks):
        """log(1 - delta): a number for all tasks, or a (k, k) array with a diagonal of 0."""
        listed = None
        if self.variable_penalty is not None:
            if pair is None:
                message = "must be given where the penalty depends on the variables"
                raise InputError(message, argument="pair", remedy="for example `pair=('a', 'b')`")
            listed = self.pair_penalties().get(frozenset(map(str, pair)))
        if listed is None and self.by_task():
            return self._log_sharing_by_task(k, tasks)
        return _log_of(self.penalty if listed is None else listed)


class PairedPrior(CouplingPrior):
    """Coupling by pairs of tasks: every arc on which two graphs differ has a cost.

    C = product over task pairs s < t of (1 - delta)^(d(x_s, x_t) / (k - 1)) for every pair of
    variables, where k is the number of tasks with both.

    Parameters
    ----------
    penalty : float, default=0.9
        delta: 0 learns each task alone, 1 forces identical structures.
    reversal : {1, 2}, default=2
        Distance between the two directions of an arc; the distance between an arc and no arc is 1.
    variable_penalty : mapping {(a, b): float} or symmetric DataFrame, default=None
        Penalty per pair of variables, 0 = never share, 1 = must agree; other pairs use ``penalty``.
    task_penalty : mapping {(s, t): float} or symmetric DataFrame, default=None
        Penalty per pair of tasks; other pairs use ``penalty``. Pairs of variables listed in
        ``variable_penalty`` override it.
    task_distance : DataFrame, default=None
        Dissimilarities of all tasks, such as those of `bnmtl.relatedness.direct`: close tasks share
        more than distant ones, 1 - delta_st = (1 - penalty)^(median / d_st), where d_st is the mean
        of both directions, at least a tenth of the median, and the median is over the positive
        distances of all pairs. Negative entries count as 0; if no distance is positive, all pairs
        have the same penalty. Pairs listed in ``task_penalty`` or ``variable_penalty`` keep their
        penalties.

    Raises
    ------
    TypeError, ValueError
        On use: for penalties that are not numbers from 0 to 1, pairs that are not two different
        names, and distances that are not finite numbers, are not 0 on the diagonal or lack a task.

    References
    ----------
    Niculescu-Mizil (2008), equation 2.8.

    Examples
    --------
    >>> from bnmtl import PairedPrior
    >>> round(PairedPrior(penalty=0.9).log_coupling([1, 1, 0]), 4)
    -2.3026
    >>> near = PairedPrior(penalty=0.5, task_penalty={("corsica", "provence"): 0.99})
    >>> round(near.log_coupling([1, 0], tasks=["provence", "corsica"]), 4)
    -4.6052
    """

    def __init__(
        self, penalty=0.9, reversal=2, variable_penalty=None, task_penalty=None, task_distance=None
    ):
        self.penalty = penalty
        self.reversal = reversal
        self.variable_penalty = variable_penalty
        self.task_penalty = task_penalty
        self.task_distance = task_distance

    def coupling(self, k, pair=None, tasks=None):
        """The coupling of one pair of variables over k tasks, ready to be evaluated and solved."""
        self.check()
        log_penalties = self._log_sharing(k, pair, tasks) / max(k - 1, 1)
        if k < 2:
            return PairedCoupling(0.0, float(self.reversal))
        if log_penalties.ndim == 0:
            return PairedCoupling(float(log_penalties), float(self.reversal))
        return WeightedPairedCoupling(log_penalties, float(self.reversal))

    def by_task(self):
        """Whether the penalty depends on the tasks."""
        return self.task_penalty is not None or self.task_distance is not None

    def _log_sharing_by_task(self, k, tasks):
        """log(1 - delta) for each pair of tasks, as a (k, k) array with a diagonal of 0."""
        if tasks is None:
            message = "must be given where the penalty depends on the tasks"
            raise InputError(message, argument="tasks", remedy="give one name for each state")
        tasks = [str(task) for task in tasks]
        if len(tasks) != k or len(set(tasks)) != k:
            message = f"must be {k} distinct names, one for each state, got {tasks!r}"
            raise InputError(message, argument="tasks")
        closeness = read_closeness(self.task_distance)
        by_pair = read_penalties(self.task_penalty, "task_penalty")
        common = float(_log_of(self.penalty))
        table = np.zeros((k, k))
        for s, t in itertools.permutations(range(k), 2):
            both = frozenset((tasks[s], tasks[t]))
            if both in by_pair:
                table[s, t] = _log_of(by_pair[both])
            elif self.task_distance is None:
                table[s, t] = common
            elif both in closeness:
                table[s, t] = closeness[both] * common
            else:
                message = f"must contain all tasks; it lacks `{tasks[s]}` or `{tasks[t]}`"
                remedy = "compute it for these tasks"
                raise InputError(message, argument="task_distance", remedy=remedy)
        return table


class EditPrior(CouplingPrior):
    """Coupling by edits: the fewest changes that make all tasks agree on a pair of variables.

    C = (1 - delta)^edits for every pair of variables, edits = min over a target state c of
    sum_s d(x_s, c).

    Parameters
    ----------
    penalty : float, default=0.9
        delta: 0 learns each task alone, 1 forces identical structures.
    reversal : {1, 2}, default=1
        Cost of reversing an arc; adding and deleting cost 1.
    costs : dict with the keys "add", "delete", "reverse", default=None
        Costs of the edits that turn the state of a task into the target, as exponents >= 0 of (1 -
        delta); a reversal never costs more than deleting and adding. Cannot be combined with
        ``reversal``.
    variable_penalty : mapping {(a, b): float} or symmetric DataFrame, default=None
        Penalty per pair of variables, 0 = never share, 1 = must agree; other pairs use ``penalty``.

    Raises
    ------
    TypeError, ValueError
        On use: for penalties that are not numbers from 0 to 1, pairs that are not two different
        names, and costs below 0.

    References
    ----------
    Niculescu-Mizil (2008), equation 2.7.

    Examples
    --------
    >>> from bnmtl import EditPrior
    >>> round(EditPrior(penalty=0.9).log_coupling([1, 0, 0, -1]), 4)
    -4.6052
    """

    def __init__(self, penalty=0.9, reversal=1, costs=None, variable_penalty=None):
        self.penalty = penalty
        self.reversal = reversal
        self.costs = costs
        self.variable_penalty = variable_penalty

    def coupling(self, k, pair=None, tasks=None):
        """The coupling of one pair of variables over k tasks, ready to be evaluated and solved."""
        self.check()
        return EditCoupling(float(self._log_sharing(k, pair, tasks)), self._cost_table())

    def check(self):
        """Raise InputError or InputTypeError for parameters out of range."""
        super().check()
        if self.costs is None:
            return
        if self.reversal != 1:
            given = f"{self.costs!r} and {self.reversal!r}"
            message = f"and `reversal` must not both be given; they are {given}"
            raise InputError(
                message, argument="costs", options=("reversal",), remedy="leave `reversal` out"
            )
        if not isinstance(self.costs, Mapping):
            message = f"must be a mapping from edits to numbers or None, got {shown(self.costs)}"
            raise InputTypeError(message, argument="costs")
        if set(self.costs) != {"add", "delete", "reverse"}:
            given = sorted(map(str, self.costs))
            message = f"must have exactly the keys 'add', 'delete' and 'reverse', got {given!r}"
            raise InputError(message, argument="costs", remedy="name all three")
        for edit, cost in self.costs.items():
            check_number(f"costs[{edit!r}]", cost, least=0)

    def _cost_table(self):
        """Cost [x + 1, c + 1] of turning state x into the target c."""
        costs = self.costs or {"add": 1, "delete": 1, "reverse": self.reversal}
        add, delete = float(costs["add"]), float(costs["delete"])
        turn = min(float(costs["reverse"]), delete + add)
        return np.array([[0.0, delete, turn], [add, 0.0, add], [turn, delete, 0.0]])


def coupling_of(prior, k, pair, tasks):
    """The coupling of one pair of variables under any prior, built-in or custom."""
    check_prior(prior)
    if isinstance(prior, CouplingPrior):
        return prior.coupling(k, pair, tasks)
    return CustomCoupling(prior, pair, tasks)


def check_prior(prior):
    """Raise InputTypeError unless it is a coupling of tasks."""
    if isinstance(prior, type) or not hasattr(prior, "log_coupling"):
        message = (
            "must be a PairedPrior(), an EditPrior() or an object with "
            f"`log_coupling`, got {prior!r}"
        )
        raise InputTypeError(message, argument="prior")


def _log_of(penalty):
    """log(1 - penalty) as an array, -inf for 1."""
    with np.errstate(divide="ignore"):
        return np.log1p(-np.asarray(float(penalty)))
