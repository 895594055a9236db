"""The catalogue of the data sets in the package, each a set of related tasks.

`read_feederwatch` makes tasks from files that are not included.
"""

from pathlib import Path

from bnmtl.data.feederwatch import read_feederwatch
from bnmtl.errors import check_choice
from bnmtl.tasks import read

__all__ = ["load", "names", "path", "read_feederwatch", "task_column"]

_FOLDER = Path(__file__).parent
_FILES = {
    "avimedi": ("avimedi.csv", "region"),
    "sachs": ("sachs.csv.gz", "condition"),
}


def names():
    """Return the names of the data sets.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from bnmtl import data
    >>> data.names()
    ['avimedi', 'sachs']
    """
    return sorted(_FILES)


def load(name):
    """Return the tasks of a data set, which README.md describes.

    Parameters
    ----------
    name : str
        One of `names()`: `avimedi`, presence of 51 birds at sites of two regions, or `sachs`,
        11 proteins (continuous) under 9 experimental conditions.

    Returns
    -------
    dict of str to pandas.DataFrame
        The rows of every task by its name, without the task column.

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> from bnmtl import data
    >>> {region: birds.shape for region, birds in data.load("avimedi").items()}
    {'Co': (124, 52), 'Pr': (178, 52)}
    """
    return read(path(name), task_column=task_column(name))


def path(name):
    """Return the path of the file of a data set.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    pathlib.Path
        A CSV file, gzipped or not; `task_column(name)` is its task column.

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> from bnmtl import data
    >>> data.path("sachs").name, data.task_column("sachs")
    ('sachs.csv.gz', 'condition')
    """
    return _FOLDER / _entry(name)[0]


def task_column(name):
    """Return the task column in the file of a data set.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> from bnmtl import data
    >>> data.task_column("avimedi")
    'region'
    """
    return _entry(name)[1]


def __dir__():
    return __all__


def _entry(name):
    check_choice("name", name, names())
    return _FILES[name]
