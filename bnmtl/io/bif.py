"""Functions to read and write networks as BIF files."""

from bnmtl.errors import InputTypeError
from bnmtl.networks import BayesNet
from bnmtl.wording import type_of


def read_bif(path):
    """Read a network; the same as `BayesNet.from_bif`.

    Files of bnlearn, JavaBayes, pgmpy and pyAgrum are read, with these rules:

    - Names and states are in quotes or without, and may have blanks. In a list of states and in a
      row, what stands between two commas is one state. In a row without commas, words are states,
      as many as there are parents; with one parent the whole text is a state.
    - In the head of a probability block, ``|`` and ``,`` are blanks: ``( child | a, b )``,
      ``( child, a, b )`` and ``( "child" "a" "b" )`` are the same. Words without quotes and marks
      between them are one name or several, whichever is declared; if both are, the file is
      refused.
    - In a ``table``, the child varies slowest and the last parent fastest. A ``default`` fills the
      rows that are missing, up to 2**22 cells of a variable.

    Parameters
    ----------
    path : str or path-like
        A file named `*.bif` or `*.bif.gz`, UTF-8.

    Returns
    -------
    BayesNet
        The nodes of its graph are in the order of the file.

    Raises
    ------
    TypeError
        If `path` is not a path.
    ValueError
        If the file is not well-formed, or a table would have more than 2**26 cells or 63 variables;
        the message names the file and the line, and nothing is allocated before.
    OSError
        If there is no such file or it cannot be opened.

    Warns
    -----
    UserWarning
        If rows were rescaled to sum to 1: those more than 1e-6 and at most 1e-3 off. Rows closer
        to 1 keep their values exactly, rows further off are an error.

    Examples
    --------
    >>> from bnmtl import structures
    >>> from bnmtl.io import read_bif
    >>> read_bif(structures.path("asia"))
    BayesNet(8 variables, 8 arcs, 18 parameters)
    """
    return BayesNet.from_bif(path)


def write_bif(network, path):
    """Write a network; the same as `BayesNet.to_bif`.

    Names are written with letters, digits and `_ . + - < > = /`; other characters become `_`,
    collisions are numbered, and `property` lines contain the originals for `read_bif`. Reading the
    file restores the numbers exactly. A temporary file is written first and then moved, so the file
    is never half-written.

    Parameters
    ----------
    network : BayesNet
    path : str or path-like
        A file named `*.bif` or `*.bif.gz`; an existing one is replaced.

    Raises
    ------
    TypeError
        If `network` is not a BayesNet or `path` is not a path.
    ValueError
        If the path has a different extension.
    OSError
        If its folder does not exist or the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bnmtl import structures
    >>> from bnmtl.io import read_bif, write_bif
    >>> asia = structures.load("asia")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bif(asia, pathlib.Path(folder, "asia.bif.gz"))
    ...     read_bif(pathlib.Path(folder, "asia.bif.gz")) == asia
    True
    """
    if not isinstance(network, BayesNet):
        raise InputTypeError("network", "must be a BayesNet", type_of(network))
    network.to_bif(path)
