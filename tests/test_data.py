"""Tests of the data sets that come with the package."""

import csv
import gzip
import warnings

import numpy as np
import pytest

from bnmtl import data
from bnmtl.tasks import discretize, encode

pytestmark = pytest.mark.beside_kernels

CONDITIONS = {
    "cd3cd28": 853,
    "cd3cd28_icam2": 902,
    "cd3cd28_aktinhib": 911,
    "cd3cd28_g0076": 723,
    "cd3cd28_psitect": 810,
    "cd3cd28_u0126": 799,
    "cd3cd28_ly294002": 848,
    "pma": 913,
    "b2camp": 707,
}


def test_names():
    assert data.names() == ["avimedi", "sachs"]
    assert dir(data) == ["load", "names", "path", "read_feederwatch", "task_column"]


def test_unknown_names_are_refused():
    for function in (data.load, data.path, data.task_column):
        with pytest.raises(ValueError, match="must be 'avimedi' or 'sachs', got 'iris'"):
            function("iris")


def test_sachs():
    tasks = data.load("sachs")
    assert {name: len(frame) for name, frame in tasks.items()} == CONDITIONS
    proteins = {"Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk"}
    for frame in tasks.values():
        assert set(frame.columns) == proteins
        assert (frame.dtypes == np.float64).all() and (frame > 0).all(axis=None)
    first = [26.4, 13.2, 8.82, 18.3, 58.8, 6.61, 17.0, 414.0, 17.0, 44.9, 40.0]
    assert tasks["cd3cd28"].iloc[0].tolist() == first
    assert tasks["b2camp"].iloc[-1].tolist()[-3:] == [1.0, 1.0, 1.65]


def test_sachs_can_be_learned_from_once_it_is_cut():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = encode(discretize(data.load("sachs")))
    assert len(tasks) == 9 and set(tasks["pma"].arities) == {3}


def test_avimedi():
    tasks = data.load("avimedi")
    assert {name: frame.shape for name, frame in tasks.items()} == {
        "Co": (124, 52),
        "Pr": (178, 52),
    }
    with pytest.warns(UserWarning, match="only one state is observed"):
        encoded = encode(tasks)
    assert encoded.states["stratum"] == ("S1", "S2", "S3", "S4", "S5", "S6")
    birds = [variable for variable in encoded.variables if variable != "stratum"]
    assert len(birds) == 51 and {encoded.states[bird] for bird in birds} == {("0", "1")}
    assert {name: len(task.constant) for name, task in encoded.items()} == {"Co": 15, "Pr": 10}
    assert sum(int(frame[birds].to_numpy().sum()) for frame in tasks.values()) == 2446


def test_every_bird_has_a_latin_name():
    with open(data.path("avimedi").with_name("avimedi_species.csv"), newline="") as file:
        names = {row["code"]: row["species"] for row in csv.DictReader(file)}
    assert set(names) == set(data.load("avimedi")["Co"].columns) - {"stratum"}
    assert names["FRCO"] == "Fringilla coelebs"


def test_gzip_carries_no_time_and_no_name():
    header = data.path("sachs").read_bytes()[:10]
    assert header[:4] == b"\x1f\x8b\x08\x00" and header[4:8] == b"\x00" * 4


@pytest.mark.parametrize("name", data.names())
def test_every_data_set_has_its_card_and_licence(name):
    path = data.path(name)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        assert data.task_column(name) in file.readline().split(",")
    card = path.with_name("README.md").read_text(encoding="utf-8")
    for part in (f"## {name}\n", f"`{path.name}`", "**Citation**", "**Licence**", "**Source**"):
        assert part in card
    assert f"`{path.name}`" in path.with_name("LICENSE.md").read_text(encoding="utf-8")
    assert path.with_name("LICENSE-GPL-2.txt").stat().st_size > 10_000
