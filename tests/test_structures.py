import re
from pathlib import Path

import pytest

from bnmtl import structures

pytestmark = pytest.mark.beside_kernels

# nodes, arcs, free parameters, largest number of parents
EXPECTED = {
    "alarm": (37, 46, 509, 4),
    "andes": (223, 338, 1157, 6),
    "asia": (8, 8, 18, 2),
    "child": (20, 25, 230, 2),
    "hailfinder": (56, 66, 2656, 4),
    "hepar2": (70, 123, 1453, 6),
    "insurance": (27, 52, 1008, 3),
    "link": (724, 1125, 14211, 3),
    "pigs": (441, 592, 5618, 2),
    "sachs": (11, 17, 178, 3),
    "win95pts": (76, 112, 574, 7),
}


def test_names():
    assert structures.names() == sorted(EXPECTED)
    assert dir(structures) == ["load", "names", "path"]


@pytest.mark.parametrize("name", EXPECTED)
def test_sizes(name):
    network = structures.load(name)
    most_parents = max(len(network.parents(variable)) for variable in network.variables)
    sizes = len(network.variables), network.graph.number_of_edges(), network.n_parameters
    assert (*sizes, most_parents) == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_cards_tell_the_sizes(name):
    readme = Path(structures.__file__).with_name("README.md").read_text(encoding="utf-8")
    card = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", readme, re.DOTALL | re.MULTILINE)[1]
    n_nodes, n_arcs, n_parameters, most_parents = EXPECTED[name]
    assert f"{n_nodes} nodes, {n_arcs} arcs, {n_parameters} free parameters" in card
    assert f"at most {most_parents} parents" in card


def test_the_order_of_the_file_is_kept():
    nodes = list(structures.load("alarm").graph)
    assert nodes[:3] == ["HISTORY", "CVP", "PCWP"]


def test_unknown_names_are_refused():
    for function in (structures.load, structures.path):
        with pytest.raises(ValueError, match=r"must be 'alarm', 'andes', .*, got 'alrm'\.$"):
            function("alrm")
        with pytest.raises(ValueError, match=r"got '../structures/alarm'"):
            function("../structures/alarm")


def test_known_tables():
    asia = structures.load("asia")
    assert asia.parents("either") == ("lung", "tub")
    assert asia.table("either")[1, 1].tolist() == [0.0, 1.0]
    assert asia.table("dysp")[0, 1].tolist() == [0.8, 0.2]
    assert structures.load("child").states["LowerBodyO2"] == ("<5", "5-12", "12+")
