"""Counts and tasks drawn at random, for scores of tables that tasks may share."""

from functools import lru_cache

import naive_tables
import numpy as np
import pandas as pd
from hypothesis import strategies as st
from searches import encode_quietly

from bnmtl import MixedDirichlet
from bnmtl.scores import PART_CONCENTRATION

CONCENTRATIONS, TS = (0.1, 1.0), (0.5, 2.0)
SCORE = MixedDirichlet(CONCENTRATIONS)


@st.composite
def tasks_of(draw, most_variables=4, most_tasks=3):
    """Tasks of a few rows; one may lack a variable, and variables may be constant in some."""
    n, k = draw(st.integers(2, most_variables)), draw(st.integers(2, most_tasks))
    arities = [draw(st.integers(2, 3)) for _ in range(n)]
    frames = {}
    for s in range(k):
        n_rows = draw(st.integers(3, 12))
        columns = {}
        for v, arity in enumerate(arities):
            codes = draw(st.lists(st.integers(0, arity - 1), min_size=n_rows, max_size=n_rows))
            states = [f"s{x}" for x in range(arity)]
            columns[f"v{v}"] = pd.Categorical.from_codes(codes, states)
        frames[f"t{s}"] = pd.DataFrame(columns)
    if n > 2 and draw(st.booleans()):
        frames["t0"] = frames["t0"].drop(columns=f"v{draw(st.integers(0, n - 1))}")
    return encode_quietly(frames)


def counts_of(tasks, parents, child):
    """[task][row][state]."""
    found = []
    for task in tasks:
        at = [task.variables.index(v) for v in (*parents, child)]
        shape = tuple(len(task.states[one]) for one in at)
        counts = np.zeros(shape, int)
        np.add.at(counts, tuple(task.codes[one] for one in at), 1)
        found.append(counts.reshape(-1, shape[-1]).tolist())
    return found


@st.composite
def counted(draw, most_tasks=5, most_rows=4, most_states=4, largest=12):
    """Counts by task, row and state; every task has one at least."""
    k, q = draw(st.integers(1, most_tasks)), draw(st.integers(1, most_rows))
    r = draw(st.integers(2, most_states))
    number = st.one_of(st.just(0), st.integers(0, largest))
    size = k * q * r
    counts = np.array(draw(st.lists(number, min_size=size, max_size=size))).reshape(k, q, r)
    counts[:, 0, 0] += counts.sum(axis=(1, 2)) == 0
    return counts


def log_evidence(tasks, joint, adjacency):
    """Evidence of a configuration, family by family, in plain code."""
    total = 0.0
    for child, name in enumerate(joint.variables):
        families = {}
        for s, task in enumerate(tasks.values()):
            if name in task.variables:
                parents = tuple(np.flatnonzero(adjacency[s, :, child]).tolist())
                families.setdefault(parents, []).append(task)
        for parents, group in families.items():
            names = [joint.variables[parent] for parent in parents]
            counts = counts_of(group, names, name)
            total += _family_evidence(tuple(tuple(map(tuple, rows)) for rows in counts))
    return total


@lru_cache(maxsize=1000)
def _family_evidence(counts):
    return naive_tables.shared_evidence(counts, CONCENTRATIONS, TS, PART_CONCENTRATION)


def log_posterior(search, tasks, adjacency):
    """Score of a configuration as `SharedConfigurationSearch.score` has it, -inf if violated."""
    total = log_evidence(tasks, search.problem, adjacency)
    for (present, absent), matrix in zip(search.arc_terms, adjacency, strict=True):
        total += float(np.where(matrix, present, absent).sum())
    for i, j in np.argwhere(search.couplings.coupled):
        members, coupling = search.couplings.of(i, j)
        arcs = adjacency[members]
        total += coupling.log_coupling(arcs[:, i, j].astype(np.int8) - arcs[:, j, i])
    return total
