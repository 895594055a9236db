"""The problems of FeederWatch sites: their tasks, and how rows are split.

The prepared file (one row per site of winter 2020-21: region, attributes, species) is not part of
the project: it is in the folder given by `--data` or the environment variable BNMTL_DATA. Run
`python -m benchmarks.birds.bird_tasks --data FOLDER` to see the sizes of the problems.
"""

import argparse
import functools
import gzip
import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.data_folder import data_folder
from bnmtl.data.columns import header, numbers_in, read_columns
from bnmtl.data.feederwatch import ATTRIBUTES, REGIONS, by_region, described, observed
from bnmtl.errors import located
from bnmtl.seeding import generator

FILE = Path("multitask", "pfw2021_sites_multitask.csv.gz")
# A region is used if at least this many rows remain for testing, and no training set has fewer rows
# than the second number. With the sizes below, this leaves for sites all 8 regions up to 400 rows
# and 4 at 800 and 1200; for species 5 up to 200, 4 at 300 and 3 at 600. These 4 and 3 are also
# separate problems, to separate the effect of more sites from that of fewer tasks.
FEWEST_TEST_ROWS = 50
FEWEST_TRAINING_ROWS = 100

_OTHER_COLUMNS = ("loc_id", "state", "latitude", "longitude")
_MEASURED = ("n_obs", "snow_seen", "median_effort")


class Problem(NamedTuple):
    """Regions and sites, whether species are included, and sizes of training sets."""

    regions: tuple
    min_records: int
    species: bool
    sizes: tuple


PROBLEMS = {
    # All sites, without species, because the records are a sample of about 3 %.
    "BIRD-SITES": Problem(
        regions=tuple(region for region in REGIONS if region != "canada_prairie"),
        min_records=1,
        species=False,
        sizes=(100, 200, 400, 800, 1200),
    ),
    "BIRD-SPECIES": Problem(
        regions=("canada_east", "midwest", "northeast", "pacific_nw", "southeast"),
        min_records=8,
        species=True,
        sizes=(100, 200, 300, 600),
    ),
    "BIRD-SITES-4": Problem(
        regions=("canada_east", "midwest", "northeast", "southeast"),
        min_records=1,
        species=False,
        sizes=(100, 200, 400),
    ),
    "BIRD-SPECIES-3": Problem(
        regions=("midwest", "northeast", "southeast"),
        min_records=8,
        species=True,
        sizes=(100, 200, 300),
    ),
}


def bird_tasks(name, data=None):
    """Return the tasks of a problem: the complete rows of its regions.

    `read_feederwatch` returns the same tasks from the public files, except for 7 sites of
    Newfoundland and Labrador with fewer than 8 records, which the prepared file assigns to
    canada_east.

    Parameters
    ----------
    name : {"BIRD-SITES", "BIRD-SPECIES", "BIRD-SITES-4", "BIRD-SPECIES-3"}
        34 attributes of the site, `snow_seen` and `effort` at all sites of 8 regions; or these,
        `records` and 40 species at sites with 8 records or more in the 5 largest regions; or
        only the 4 or 3 regions with enough sites for the largest training sets.
    data : path, optional
        Folder that contains `multitask/pfw2021_sites_multitask.csv.gz`; default: the environment
        variable BNMTL_DATA.

    Returns
    -------
    dict of str to pandas.DataFrame
        Categorical columns; a variable that hardly varies in a region is absent from it.

    Raises
    ------
    ValueError
        If there is no such problem or file, or a region has no complete row.
    """
    if name not in PROBLEMS:
        raise ValueError(f"`name` must be one of {', '.join(PROBLEMS)}, got {name!r}.")
    return tasks_of(PROBLEMS[name], data)


def tasks_of(problem, data=None):
    """The tasks of a `Problem`, as `bird_tasks`."""
    path = data_file(data)
    table, species = _prepared(path)
    table = table[(table["n_obs"] >= problem.min_records).to_numpy()]
    used = species if problem.species else []
    parts = [described(table, path), observed(table, used, problem.min_records)]
    tasks = by_region(pd.concat(parts, axis=1), table["region"], problem.regions)
    for region, frame in tasks.items():
        if frame.empty:
            raise ValueError(f"File `{path}` must have complete rows of `{region}` that vary.")
    return tasks


def data_file(data=None):
    """Return the path of the prepared file in a folder; default: BNMTL_DATA."""
    return data_folder(FILE, [FILE], data) / FILE


def fingerprint():
    """Return a hash of the file's content, by which lines identify their data."""
    return _hash_of(data_file())


@functools.cache
def _hash_of(path):
    return hashlib.blake2b(gzip.decompress(path.read_bytes()), digest_size=8).hexdigest()


def _prepared(path):
    """Return the rows of the prepared file by `loc_id`, and its species columns."""
    known = {"region", *_OTHER_COLUMNS, *_MEASURED, *ATTRIBUTES}
    species = [c for c in header(path) if c not in known and not c.startswith("fed_")]
    table = read_columns(path, ("region", "loc_id", *_MEASURED, *ATTRIBUTES, *species))
    table = table.set_axis(pd.Index(table["loc_id"].astype(object)))
    for column in (*_MEASURED, *species):
        with located(file=path, column=column):
            table[column] = numbers_in(table[column])
    return table, species


def train_and_test(tasks, n_rows, trial):
    """Return the same number of training rows for every region, and all its other rows for testing.

    Rows are sorted by content before drawing, so the order of rows and columns does not matter. The
    drawn rows of a region depend only on its rows, its name and the trial, and a smaller training
    set is a subset of a larger one.

    Parameters
    ----------
    tasks : dict of str to pandas.DataFrame
        As returned by `bird_tasks`.
    n_rows : int
        Training rows of every region, 100 or more. Regions without 50 more rows are omitted.
    trial : int
        0 or more.

    Returns
    -------
    (dict of str to pandas.DataFrame, dict of str to pandas.DataFrame)

    Raises
    ------
    ValueError
        For fewer than 100 rows, or more than any region can provide.
    """
    if n_rows < FEWEST_TRAINING_ROWS:
        raise ValueError(f"`n_rows` must be {FEWEST_TRAINING_ROWS} or more, got {n_rows}.")
    train, test = {}, {}
    for region in sorted(tasks):
        frame = _sorted_rows(tasks[region])
        if len(frame) < n_rows + FEWEST_TEST_ROWS:
            continue
        order = generator(trial, "bird", region).permutation(len(frame))
        train[region] = frame.iloc[order[:n_rows]].reset_index(drop=True)
        test[region] = frame.iloc[order[n_rows:]].reset_index(drop=True)
    if not train:
        raise ValueError(
            f"`n_rows` must leave {FEWEST_TEST_ROWS} rows of some region to test on, got {n_rows}; "
            f"the largest region has {max(map(len, tasks.values()), default=0)}."
        )
    return train, test


def _sorted_rows(frame):
    codes = [frame[column].cat.codes for column in sorted(frame)]
    return frame.iloc[np.lexsort(codes[::-1])]


def sizes(name, tasks):
    """Rows and variables of every region, and the regions used at each size."""
    lines = [f"{name}: region, rows, variables"]
    lines += [
        f"  {region:<16}{len(tasks[region]):>6}{tasks[region].shape[1]:>6}" for region in tasks
    ]
    shared = set.intersection(*(set(frame) for frame in tasks.values()))
    lines.append(f"  variables of all regions: {len(shared)}")
    for n_rows in PROBLEMS[name].sizes:
        train, _ = train_and_test(tasks, n_rows, trial=0)
        lines.append(f"  {n_rows} training rows: {', '.join(train)}")
    return "\n".join(lines)


def main():
    """Print the sizes of the problems."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help=f"folder with {FILE} (default: BNMTL_DATA)")
    arguments = parser.parse_args()
    try:
        problems = {name: bird_tasks(name, arguments.data) for name in PROBLEMS}
    except ValueError as error:
        parser.exit(2, f"{error}\n")
    for name, tasks in problems.items():
        print(sizes(name, tasks))


if __name__ == "__main__":
    main()
