"""Scores bound to the rows of tasks, with a cache shared by all searches over these rows."""

import copy
import math
import threading
from contextlib import contextmanager
from functools import cached_property

import numpy as np

from bnmtl._kernels import all_sets, scoring, sharing, terms
from bnmtl._kernels._jit import Arrays
from bnmtl._kernels.groups import MOST_EXACT

MEGABYTE = 1 << 20
# Initial slots, a power of two.
FEWEST_SLOTS = 1 << 12


class FamilyCache:
    """Scores of families by key, in memory that grows as needed; a copy elsewhere is empty.

    Parameters
    ----------
    megabytes : float
        Its largest size.

    Attributes
    ----------
    slots : int64 array
        As in ``bnmtl._kernels.terms``.
    lock : threading.Lock
        Held while the cache grows.
    """

    def __init__(self, megabytes):
        self._megabytes = megabytes
        most = max(int(megabytes * MEGABYTE) // 16, FEWEST_SLOTS)
        self._most_slots = 1 << (most.bit_length() - 1)
        self.slots = np.zeros(2 * FEWEST_SLOTS, np.int64)
        self.lock = threading.Lock()
        self._n_tables = 0

    def __reduce__(self):
        return FamilyCache, (self._megabytes,)

    def add(self, n_tables):
        """Count further tables, and enlarge the cache if it is more than a quarter full."""
        self._n_tables += n_tables
        self._grow(self._n_tables)

    def reserve(self, n_tables):
        """Make the cache large enough for further tables, within the memory limit."""
        n_tables += self._n_tables
        if self.slots.size < 8 * n_tables and self.slots.size < 2 * self._most_slots:
            with self.lock:
                self._grow(n_tables)

    def _grow(self, n_tables):
        size = self.slots.size // 2
        wanted = size
        while wanted < self._most_slots and wanted < 4 * n_tables:
            wanted *= 2
        if wanted > size:
            larger = np.zeros(2 * wanted, np.int64)
            terms.move(self.slots, larger)
            self.slots = larger


# Largest number of cells of a family per row of the task, and the minimum of this limit.
CELLS_PER_ROW = 10
FEWEST_CELLS = 1000
# Rows are merged if at most this share of them is distinct.
MOST_DISTINCT = 1 / 8
ROWS_TO_LOOK_AT = 512


def most_cells(n_rows, max_cells=None):
    """The largest number of cells in a table of one task, or of tasks that share tables.

    Parameters
    ----------
    n_rows : int
        Of the task, or of all tasks together.
    max_cells : int, default=None
        None uses the default rule: 10 cells per row, and at least 1000.
    """
    if max_cells is not None:
        return max_cells
    return max(FEWEST_CELLS, CELLS_PER_ROW * n_rows)


def packed(tasks, positions, n_variables):
    """The rows of the tasks as arrays of `bnmtl._kernels.scoring.ENGINE`, by name.

    Parameters
    ----------
    tasks : list of bnmtl.tasks.Task
    positions : list of int array
        Indices in the union of the variables of each task.
    n_variables : int
        Of the union.
    """
    arities = np.zeros(n_variables, np.int64)
    code_at = np.full((len(tasks), n_variables), -1)
    bits_at = np.full((len(tasks), n_variables), -1)
    weight_at = np.full(len(tasks), -1)
    n_rows = np.zeros(len(tasks), np.int64)
    codes, bits, weights = [], [], []
    n_codes = n_bits = n_weights = 0
    for s, (task, at) in enumerate(zip(tasks, positions, strict=True)):
        arities[at] = task.arities
        rows, repeats = merged(task.codes)
        n_rows[s] = rows.shape[1]
        code_at[s, at] = n_codes + np.arange(len(rows)) * rows.shape[1]
        codes.append(rows.ravel())
        n_codes += rows.size
        if repeats is not None:
            weight_at[s] = n_weights
            weights.append(repeats)
            n_weights += len(repeats)
            continue
        words = -(-rows.shape[1] // 64)
        bits_at[s, at] = n_bits + words * np.concatenate([[0], np.cumsum(task.arities)[:-1]])
        bits.append(bit_sets(rows, task.arities))
        n_bits += bits[-1].size
    return {
        "arities": arities,
        "codes": np.concatenate(codes),
        "code_at": code_at,
        "bits": np.concatenate([*bits, np.zeros(0, np.uint64)]),
        "bits_at": bits_at,
        "weights": np.concatenate([*weights, np.zeros(0, np.int64)]),
        "weight_at": weight_at,
        "n_rows": n_rows,
        "n_cases": np.array([task.n_rows for task in tasks]),
    }


def merged(codes):
    """Distinct rows and their frequencies, if there are far fewer of them.

    Parameters
    ----------
    codes : uint8 array of shape (n, n_rows)

    Returns
    -------
    codes : uint8 array of shape (n, n_distinct)
    repeats : int64 array of shape (n_distinct,), or None
        None if the rows are not merged.
    """
    n_rows = codes.shape[1]
    factors = np.random.default_rng(0).integers(1, np.iinfo(np.int64).max, len(codes))
    some = np.sort(factors @ codes[:, :: max(1, -(-n_rows // ROWS_TO_LOOK_AT))])
    if np.count_nonzero(np.diff(some)) >= len(some) / 2:
        return codes, None
    _, first, which, repeats = np.unique(
        factors @ codes, return_index=True, return_inverse=True, return_counts=True
    )
    distinct = codes[:, first]
    if len(first) > MOST_DISTINCT * n_rows or (distinct[:, which] != codes).any():
        return codes, None
    return distinct, repeats.astype(np.int64)


def bit_sets(codes, arities):
    """Bit sets by state: bit i of the set of a state is set if row i has that state.

    Parameters
    ----------
    codes : uint8 array of shape (n, n_rows)
    arities : int64 array of shape (n,)

    Returns
    -------
    uint64 array, flat
        For each variable and state the words of its set; the first row is the lowest bit.
    """
    n_rows = codes.shape[1]
    words = -(-n_rows // 64)
    sets = np.zeros((int(arities.sum()), words), np.uint64)
    at = 0
    for column, arity in zip(codes, arities.tolist(), strict=True):
        has_state = np.zeros((arity, 64 * words), dtype=bool)
        has_state[:, :n_rows] = column == np.arange(arity, dtype=np.uint8)[:, None]
        sets[at : at + arity] = np.packbits(has_state, axis=1, bitorder="little").view(np.uint64)
        at += arity
    return sets.ravel()


DEFAULT_CACHE = 200.0
# Concentrations of the partitions of tasks for shared tables: from one table for all tasks to one
# for each.
PARTITIONS = (0.1, 0.5, 2.0, 10.0)
# The concentration of partitions of tasks into parts whose cells have concentrations of their own.
PART_CONCENTRATION = 0.5
# Minimum numbers per family in a cache that must not lose entries: its buckets stay nearly empty.
_GIVEN_SLOTS = 32


class BoundTasks:
    """A score on the codes of several tasks, indexed by the union of their variables.

    Parameters
    ----------
    tasks : list of bnmtl.tasks.Task
    kind : int
        As in ``bnmtl._kernels.terms``.
    sample_size : float
    cache_size : float, default=200
        Most memory for cached tables, in megabytes.
    max_cells : float, default=None
        Families with more cells are not considered; None is 10 times the rows of a task, and at
        least 1000.
    concentrations : sequence of float, default=()
        Of a mixture score.
    partitions : sequence of float, default=()
        Concentrations of the partitions of tasks that share a table; empty if tables are not
        shared. Only for a mixture score.
    part_concentration : float, default=0.5
        Concentration of the partitions of tasks into parts that share tables with concentrations of
        cells and of partitions of their own; None without such parts.

    Attributes
    ----------
    variables : tuple of str
        Sorted union.
    asked, computed : int
        Numbers of local scores that were requested, and that had to be counted.
    left_out : list of str
        Child and parents of a family that was excluded as too large; empty if there was none.
    """

    def __init__(
        self,
        tasks,
        kind,
        sample_size,
        cache_size=DEFAULT_CACHE,
        max_cells=None,
        concentrations=(),
        partitions=(),
        part_concentration=PART_CONCENTRATION,
    ):
        self.variables = tuple(sorted(set().union(*(task.variables for task in tasks))))
        index = {variable: at for at, variable in enumerate(self.variables)}
        self.positions = [np.array([index[v] for v in task.variables], np.int64) for task in tasks]
        self._rows = packed(tasks, self.positions, len(self.variables))
        together = np.sum if len(partitions) else np.max
        self._most_cases = int(together(self._rows["n_cases"]))
        scale = _scale(self._most_cases)
        self._method = np.array([kind, sample_size, scale, *concentrations], float)
        # Concentrations of the partitions of tasks that share a table.
        self.partitions = np.array(partitions, float)
        has_parts = len(partitions) > 0 and part_concentration is not None
        self._parts = np.array([part_concentration] if has_parts else [], float)
        self._most_cells = np.array([most_cells(task.n_rows, max_cells) for task in tasks], float)
        self._max_cells = max_cells
        self._most_shared_cells = most_cells(sum(task.n_rows for task in tasks), max_cells)
        random = np.random.default_rng(len(self.variables))
        self._keys = [
            random.integers(1, np.iinfo(np.int64).max, size) * random.choice([-1, 1], size)
            for size in (len(tasks), len(self.variables), len(self.variables))
        ]
        n_rows, n_states = self._rows["n_rows"].tolist(), int(self._rows["arities"].max())
        shared = (n_rows, n_states, self.partitions.size) if self.shares_tables else None
        self._scratch_sizes = (
            *(len(self.variables), max(n_rows), self._most_cases, len(concentrations)),
            shared,
        )
        self._cache = FamilyCache(cache_size)
        # Memory of threads that is not in use.
        self._idle = []
        self.asked = self.computed = 0
        self.left_out = []

    def among(self, tasks, part_concentration=PART_CONCENTRATION):
        """This score on some of its tasks, with the same cache.

        Parameters
        ----------
        tasks : list of int
        part_concentration : float or None, default=0.5
            As for the constructor.

        Returns
        -------
        BoundTasks
            Tasks and variables are numbered from 0; variables that no task has are left out.
        """
        at = np.unique(np.concatenate([self.positions[s] for s in tasks]))
        index = np.full(len(self.variables), -1)
        index[at] = np.arange(len(at))
        part = copy.copy(self)
        part.variables = tuple(self.variables[v] for v in at)
        part.positions = [index[self.positions[s]] for s in tasks]
        block, rows = np.ix_(tasks, at), self._rows
        part._rows = {
            **{name: rows[name] for name in ("codes", "bits", "weights")},
            **{name: rows[name][tasks] for name in ("weight_at", "n_rows", "n_cases")},
            **{name: rows[name][block] for name in ("code_at", "bits_at")},
            "arities": rows["arities"][at],
        }
        task_keys, variable_keys, child_keys = self._keys
        part._keys = [task_keys[tasks], variable_keys[at], child_keys[at]]
        part._most_cells = self._most_cells[tasks]
        part._parts = self._parts if part_concentration is not None else np.zeros(0)
        part._most_shared_cells = most_cells(int(part._rows["n_cases"].sum()), self._max_cells)
        part.asked = part.computed = 0
        part.left_out = []
        return part

    def of(self, s):
        """The score of task s, indexed by its own variables."""
        at = self.positions[s]
        return BoundScore(self, [s], at, np.ones((1, len(at), len(at)), dtype=bool))

    def settings(self, s):
        """Everything except the rows that a local score of task s depends on, up to rounding."""
        kind, sample_size, _, *concentrations = self._method.tolist()
        return kind, sample_size, *concentrations, float(self._most_cells[s])

    def of_all(self, members, usable, shares_tables=True):
        """The score of some tasks on all variables: joint if tables are shared, otherwise the sum.

        Parameters
        ----------
        members : list of int
        usable : bool array of shape (len(members), n, n)
            [s, a, b] is true if a may be a parent of b in that task; other parents are dropped from
            the family there.
        shares_tables : bool, default=True
            False uses the sum even if tables are shared.
        """
        at = np.arange(len(self.variables))
        return BoundScore(self, members, at, usable, "whole" if shares_tables else "summed")

    def evidence(self, child, parents, tasks):
        """Evidence of a family over some tasks that may share its table.

        Parameters
        ----------
        child : int
            Index in the union, as for the parents.
        parents : iterable of int
        tasks : iterable of int
            Tasks with the child and all parents.

        Returns
        -------
        int
            Log evidence in units of 1 / `scale` nats.
        """
        tasks = sorted(tasks)
        held = np.array(sorted(parents), np.int64)
        with self.scratch(np.arange(len(self.variables))) as scratch:
            scratch.members[: len(tasks)] = tasks
            self.whole = self.up_to_date(self.whole)
            value = all_sets.shared_value(
                self.whole.table, scratch.table, len(tasks), child, held, len(held), -1
            )
        return int(value)

    @property
    def scale(self):
        """Integer value of one nat."""
        return self._method[scoring.SCALE]

    @cached_property
    def whole(self):
        """An engine with all tasks and variables, so that kernels can work on any of them."""
        engine = self.engine(range(len(self.positions)), np.arange(len(self.variables)))
        if not self.shares_tables:
            return engine
        # The rows of all tasks support a table that they share.
        cells = np.full_like(self._most_cells, self._most_shared_cells)
        return engine.replaced(most_cells=np.maximum(cells, self._most_cells))

    @cached_property
    def summed(self):
        """The same without shared tables."""
        separate = {"partitions": np.zeros(0), "most_cells": self._most_cells}
        return self.whole.replaced(**separate) if self.shares_tables else self.whole

    def __getstate__(self):
        """State for a copy: its memory for threads is new and, in another process, its cache."""
        not_copied = {"_idle", "whole", "summed"}
        return {name: value for name, value in self.__dict__.items() if name not in not_copied}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._idle = []

    def engine(self, tasks, positions):
        """The arrays that the kernels need, for some tasks and variables."""
        tasks = np.array(tasks, np.int64)
        block = np.ix_(tasks, positions)
        task_keys, variable_keys, child_keys = self._keys
        rows, calls = self._rows, [scoring.GAINS_CALLBACK.address, 0, 0, 0]
        # Unused kernels are not compiled.
        if self.shares_tables:
            calls[1:3] = sharing.GAINS_TOGETHER.address, all_sets.EXACT_ROW.address
        if self.shares_tables and len(self.positions) > MOST_EXACT:
            calls[3] = all_sets.PROBABLE_ROW.address
        return Arrays(
            scoring.ENGINE,
            **{name: rows[name] for name in ("codes", "bits", "weights")},
            **{name: rows[name][tasks] for name in ("weight_at", "n_rows", "n_cases")},
            **{name: np.ascontiguousarray(rows[name][block]) for name in ("code_at", "bits_at")},
            arities=rows["arities"][positions],
            method=self._method,
            most_cells=self._most_cells[tasks],
            partitions=self.partitions,
            parts=self._parts,
            given=np.zeros(0, np.int64),
            task_keys=task_keys[tasks],
            variable_keys=variable_keys[positions],
            child_keys=child_keys[positions],
            cache=self._cache.slots,
            calls=np.array(calls),
        )

    def up_to_date(self, engine):
        """The engine with the current cache."""
        slots = self._cache.slots
        return engine if engine.cache is slots else engine.replaced(cache=slots)

    @property
    def shares_tables(self):
        """Whether tasks may share the table of a family."""
        return self.partitions.size > 0

    @contextmanager
    def scratch(self, positions):
        """Memory of one thread; its counters are added to those of this score.

        ``positions`` are the indices in the union of the variables it is used for.
        """
        try:
            scratch = self._idle.pop()
        except IndexError:
            scratch = scoring.new_scratch(*self._scratch_sizes)
        try:
            yield scratch
        finally:
            counters = scratch.counters
            with self._cache.lock:
                self.asked += int(counters[scoring.ASKED])
                self.computed += int(counters[scoring.COMPUTED])
                if counters[scoring.TOO_LARGE] and not self.left_out:
                    family = positions[scratch.excluded[2 : 2 + scratch.excluded[0]]]
                    self.left_out = [self.variables[v] for v in family]
                self._cache.add(int(counters[scoring.COMPUTED]))
            counters[:] = 0
            self._idle.append(scratch)

    def reserve(self, n_tables):
        """Make the cache large enough for that many further tables, within the memory limit."""
        self._cache.reserve(n_tables)


class BoundScore:
    """The score of one task, or the sum over several, as used by a search.

    Attributes
    ----------
    bound : BoundTasks
    tasks : list of int
        Indices of its tasks.
    n_variables : int
    members : int64 array
        Tasks of the engine to sum over.
    usable : bool array of shape (members, n, n)
        [s, a, b] is true if a may be a parent of b in that task.
    """

    def __init__(self, bound, tasks, positions, usable, among=None):
        self.bound = bound
        self.tasks = tasks
        self.n_variables = len(positions)
        self.members = np.array([0]) if among is None else np.array(tasks)
        self.usable = np.ascontiguousarray(usable)
        self._positions = positions
        self._among = among
        self._given = None

    @property
    def is_shared(self):
        """Whether its tasks may share tables, so that the score is not a sum over them."""
        return len(self.members) > 1 and self.engine.partitions.size > 0

    @cached_property
    def _engine(self):
        if self._among is None:
            engine = self.bound.engine(self.tasks, self._positions)
        else:
            engine = getattr(self.bound, self._among)
        return engine if self._given is None else engine.replaced(given=self._given)

    def given(self, families):
        """The score of one task with other values for some families.

        Parameters
        ----------
        families : list of (child, parents, value)
            Indices, and values in the units of `BoundTasks.evidence`.
        """
        (member,), engine = self.members, self.engine
        slots = np.zeros(_GIVEN_SLOTS << len(families).bit_length(), np.int64)
        for child, parents, value in families:
            key = engine.task_keys[member] ^ engine.child_keys[child]
            key = np.bitwise_xor.reduce(engine.variable_keys[parents], initial=key)
            terms.keep(slots, key, value)
        other = BoundScore(self.bound, self.tasks, self._positions, self.usable, self._among)
        other._given = slots
        return other

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_engine"}

    @property
    def engine(self):
        """The arrays that the kernels need."""
        self._engine = self.bound.up_to_date(self._engine)
        return self._engine

    def scratch(self):
        """See `BoundTasks.scratch`."""
        return self.bound.scratch(self._positions)

    def keep_up(self, scratch):
        """Let the cache grow during a long search."""
        self.bound.reserve(int(scratch.counters[scoring.COMPUTED]))

    def local_score(self, child, parents):
        """Score of the family of ``child``, by index; ``parents`` in any order."""
        parents, total = sorted(int(parent) for parent in parents), 0.0
        with self.scratch() as scratch:
            tables = self.engine.table, scratch.table
            if self.is_shared:
                held = np.array(parents, np.int64)
                return sharing.local_score_together(
                    *tables, self.members, self.usable, child, held, len(held)
                )
            for s, usable in zip(self.members.tolist(), self.usable, strict=True):
                if self.engine.code_at[s, child] >= 0:
                    held = np.array([p for p in parents if usable[p, child]], np.int64)
                    total += scoring.local_score(*tables, s, child, held, len(held))
        return total

    def score(self, matrix):
        """Score of the graph with adjacency ``matrix``."""
        adjacency = np.ascontiguousarray(matrix, dtype=bool)
        kernel = sharing.graph_score_together if self.is_shared else scoring.graph_score
        with self.scratch() as scratch:
            return float(
                kernel(self.engine.table, scratch.table, self.members, self.usable, adjacency)
            )

    def gains(self, child, parents):
        """Gains of adding each variable to the parents of ``child`` or removing it.

        Parameters
        ----------
        child : int
        parents : sequence of int, sorted

        Returns
        -------
        float array of shape (n,)
            [v] is the change of the local score, nan if the family would be too large; [child] is
            the score of the family itself.
        """
        if self.is_shared:
            return self._gains_together(child, parents)
        total = np.zeros(self.n_variables)
        with self.scratch() as scratch:
            for s, usable in zip(self.members.tolist(), self.usable, strict=True):
                if self.engine.code_at[s, child] < 0:
                    continue
                held = [p for p in parents if usable[p, child]]
                scratch.family[: len(held)] = held
                scratch.wanted[: self.n_variables] = True
                scoring.gains(self.engine.table, scratch.table, s, child, len(held))
                column = scratch.column[: self.n_variables].copy()
                score = column[child]
                total += np.where(usable[:, child], column, 0.0)
                total[child] += 0.0 if usable[child, child] else score
        return total

    def _gains_together(self, child, parents):
        """`gains` for tasks that may share tables."""
        is_there = self.engine.code_at[self.members, child] >= 0
        searched, usable = self.members[is_there], self.usable[is_there, :, child]
        with self.scratch() as scratch:
            scratch.searched[: len(searched)] = searched
            scratch.usable_of[: len(searched), : self.n_variables] = usable
            scratch.family[: len(parents)] = parents
            scratch.wanted[: self.n_variables] = True
            sharing.gains_together(
                self.engine.table, scratch.table, len(searched), child, len(parents)
            )
            return scratch.column[: self.n_variables].copy()


def _scale(n_cases):
    """Integer value of one nat, as large as the largest table allows.

    No term of a table exceeds n log n plus n times the logarithm of the number of cells, which is
    below 720 for every float.
    """
    largest = max(n_cases, 1) * (math.log(max(n_cases, 1)) + 720.0)
    return 2.0 ** (62 - math.ceil(math.log2(largest)))
