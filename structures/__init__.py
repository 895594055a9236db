"""The catalogue of reference networks: BIF files, described in README.md."""

from pathlib import Path

from bnmtl.errors import check_choice
from bnmtl.networks import BayesNet

__all__ = ["load", "names", "path"]

_FOLDER = Path(__file__).parent


def names():
    """Return the names of the networks, sorted.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from bnmtl import structures
    >>> structures.names()[:3]
    ['alarm', 'andes', 'asia']
    """
    return sorted(file.stem for file in _FOLDER.glob("*.bif"))


def path(name):
    """Return the path of the BIF file of a network.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> from bnmtl import structures
    >>> structures.path("alarm").name
    'alarm.bif'
    """
    check_choice("name", name, names())
    return _FOLDER / f"{name}.bif"


def load(name):
    """Load a network.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    BayesNet

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> from bnmtl import structures
    >>> structures.load("alarm")
    BayesNet(37 variables, 46 arcs, 509 parameters)
    """
    return BayesNet.from_bif(path(name))


def __dir__():
    return __all__
