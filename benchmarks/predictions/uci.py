"""Classification problems of the UCI repository, in the forms that different learners need.

The files are not part of the project: they are in the folder given by `--data` or the environment
variable BNMTL_DATA, each table with its class in the last column, and ``schema.json`` with the
declared values.
"""

import functools
import hashlib
import json
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.data_folder import data_folder
from bnmtl.tasks import discretize

FOLDER = "uci"
# Columns that are not features: they name a row, or say where it was first used.
_NAMES_OF_ROWS = {
    "splice": ["Instance_name"],
    "vowel": ["Train or Test", "Speaker Number"],
    "zoo": ["animal"],
}


class Table(NamedTuple):
    """Features (floats, or categories with all declared values) and classes."""

    features: pd.DataFrame
    classes: np.ndarray


def folder(data=None):
    """The folder of the tables; default: BNMTL_DATA."""
    return data_folder(FOLDER, [f"{FOLDER}/schema.json"], data) / FOLDER


@functools.cache
def read(name, data=None):
    """A table with all its rows; missing cells stay missing."""
    schema = json.loads((folder(data) / "schema.json").read_text())[name]
    declared = {column["name"]: column for column in schema["columns"]}
    texts = pd.read_csv(
        folder(data) / schema["file"], dtype=str, keep_default_na=False, na_values=[""]
    )
    features = {}
    for column in texts.columns.drop([schema["class"], *_NAMES_OF_ROWS.get(name, [])]):
        if declared[column]["type"] == "numeric":
            features[column] = texts[column].astype(float)
        else:
            features[column] = pd.Categorical(texts[column], declared[column]["values"])
    return Table(pd.DataFrame(features), texts[schema["class"]].to_numpy(dtype=object))


def fingerprint(name, data=None):
    """A hash of a table's file, by which lines identify their data."""
    schema = json.loads((folder(data) / "schema.json").read_text())[name]
    content = (folder(data) / schema["file"]).read_bytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def check_same(tables, lines, setting):
    """Raise ValueError if lines were measured on other data than the present ones.

    Parameters
    ----------
    tables : mapping
        Value of ``setting`` in the lines -> name of the table.
    lines : list of dict
    setting : str
    """
    known = {line[setting]: line["data"] for line in lines}
    for value, name in tables.items():
        here = fingerprint(name)
        if known.get(value, here) != here:
            raise ValueError(
                f"The lines of {value} were measured on other data than those in `{folder()}`; "
                "name the same data, or start again elsewhere with `--out`."
            )


class Views:
    """The same rows as numbers, as standardized numbers and as categories.

    Parameters
    ----------
    features : pandas.DataFrame
    train : int array
        Rows from which means, standard deviations and cut points are computed.

    Attributes
    ----------
    numbers : numpy.ndarray, shape (n_rows, n_columns)
        A column of 0 and 1 for each value of a nominal attribute.
    scaled : numpy.ndarray, shape (n_rows, n_columns)
        The same with mean 0 and standard deviation 1.
    """

    def __init__(self, features, train):
        self._features, self._train = features, train
        self.numbers = pd.get_dummies(features, dtype=float).to_numpy()
        center, spread = self.numbers[train].mean(axis=0), self.numbers[train].std(axis=0)
        self.scaled = (self.numbers - center) / np.where(spread > 0, spread, 1.0)

    @functools.cache  # noqa: B019 - views live as long as a case of a study
    def categories(self, bins):
        """All attributes as categories; bins of numbers have about equally many training rows."""
        numeric = list(self._features.select_dtypes("number"))
        result = self._features.copy()
        if numeric:
            # Adding one half makes `discretize` bin whole numbers, which it keeps as states.
            numbers = self._features[numeric] + 0.5
            _, edges = discretize(numbers.iloc[self._train], bins=bins, return_edges=True)
            result[numeric] = edges.apply(numbers)
        return result
