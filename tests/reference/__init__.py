"""Loads the values from other packages that the tests compare with; see README.md."""

import functools
import json
from pathlib import Path

import networkx as nx
import pandas as pd

FOLDER = Path(__file__).parent
ROWS = {"asia": 500, "sachs": 800, "alarm": 1000, "insurance": 1000}


@functools.cache
def read_json(name):
    return json.loads((FOLDER / name).read_text())


def bnlearn_results():
    """One dict per network and graph, with bnlearn's scores, CPDAG counts and distances."""
    return read_json("bnlearn.json")["results"]


def sharing():
    """Small families of several tasks: counts, evidence together and of each task, tables."""
    return read_json("sharing.json")


def states(network):
    """Declared states by variable."""
    return read_json(f"{network}_graphs.json")["states"]


def graph(network, name):
    """One of the graphs true, random0, random1, random2, empty."""
    graph = nx.DiGraph()
    graph.add_nodes_from(states(network))
    graph.add_edges_from(map(tuple, read_json(f"{network}_graphs.json")["graphs"][name]))
    return graph


def frame(network):
    """The sampled rows, as categoricals with the declared states."""
    path = FOLDER / f"{network}_{ROWS[network]}.csv.gz"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    dtypes = {
        variable: pd.CategoricalDtype(categories)
        for variable, categories in states(network).items()
    }
    return frame.astype(dtypes)
