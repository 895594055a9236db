"""Small real tables with a natural grouping into tasks.

Counts become presence or absence, other numbers three bins. `avimedi` and Sachs are part of the
project; the others are in the folder given by `--data` or the environment variable BNMTL_DATA.
Coordinates and names of rows are omitted.
"""

import numpy as np
import pandas as pd

from benchmarks.birds.bird_tasks import bird_tasks
from benchmarks.data_folder import data_folder
from bnmtl import data as shipped
from bnmtl.tasks import discretize, encode, split

# File, column of the groups, omitted columns, and the first column of counts; all later columns are
# counts, too.
FILES = {
    "jv73": ("ecology/ade4_jv73.csv", "river", ("x", "y"), "Chb"),
    "dune": ("ecology/vegan_dune.csv", "Management", (), "Achimill"),
    "pyrifos": ("ecology/vegan_pyrifos.csv", "dose", ("ditch",), "Simve"),
    "breast cancer": ("multitask/simone_breastcancer_pcr.csv", "status", (), None),
}
FEEDERWATCH = "FeederWatch"
SACHS = "Sachs"
TABLES = ("avimedi", *FILES, FEEDERWATCH, SACHS)
SHIPPED = ("avimedi", SACHS)
BINS = 3
MOST_SITES = 400
MOST_CELLS = 25


def folder(data=None):
    """The folder of the tables; default: BNMTL_DATA."""
    return data_folder("the tables", [path for path, *_ in FILES.values()], data)


def grouped_tasks(name, data=None):
    """A table as tasks.

    Parameters
    ----------
    name : str
        One of `TABLES`.
    data : path, default=None
        Folder of the tables that are not part of the project.

    Returns
    -------
    Tasks
    """
    if name == "avimedi":
        return encode(shipped.load("avimedi"))
    if name == SACHS:
        return encode(sampled(discretize(shipped.load("sachs"), bins=BINS), MOST_CELLS))
    if name == FEEDERWATCH:
        return encode(sampled(bird_tasks("BIRD-SITES", data), MOST_SITES))
    path, group, left_out, first_count = FILES[name]
    table = pd.read_csv(folder(data) / path).drop(columns=list(left_out))
    table[group] = table[group].astype(str)
    columns = list(table)
    counts = columns[columns.index(first_count) :] if first_count else []
    table[counts] = np.where(table[counts] > 0, "present", "absent")
    # `discretize` bins fractional numbers but keeps whole numbers as states; adding one half makes
    # it bin these, too.
    table[table.select_dtypes("integer").columns] += 0.5
    return encode(discretize(split(table, group), bins=BINS))


def sampled(tasks, most, random_state=0):
    """A sample of each task with at most ``most`` rows."""
    return {
        name: frame.sample(min(len(frame), most), random_state=random_state)
        for name, frame in tasks.items()
    }
