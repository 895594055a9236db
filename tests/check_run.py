"""Checks the files that `bnmtl learn` left in a folder: `python tests/check_run.py FOLDER`."""

import json
import re
import sys
from pathlib import Path

import networkx as nx
import pandas as pd

import bnmtl


def check(folder):
    """Raise AssertionError for a file that is missing, empty or does not fit the others."""
    record = json.loads((folder / "run.json").read_text())
    run = bnmtl.io.read_run(folder)
    assert len(run.configuration) == len(run.networks) == 9, run.configuration
    for name, network in run.networks.items():
        graph = run.configuration[name]
        assert nx.is_directed_acyclic_graph(graph)
        assert set(graph.edges) == set(network.graph.edges), name
    arcs = pd.read_csv(folder / "arcs.csv")
    assert set(zip(arcs["from"], arcs["to"], arcs["task"], strict=True)) == {
        (*arc, name) for name, graph in run.configuration.items() for arc in graph.edges
    }
    assert (folder / "dags.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "dags.svg").read_text()
    page = (folder / "report.html").read_text()
    assert all(name in page for name in run.configuration)
    assert not re.search(r"""(src|href)=["']https?:""", page), "the report is not self-contained"
    left = sorted(path.name for path in folder.iterdir())
    assert left == record["files"] == sorted(record["digests"])
    assert "penalty" in json.dumps(record)
    return f"{folder}: {len(left)} files, {len(arcs)} arcs, all in order"


if __name__ == "__main__":
    print(check(Path(sys.argv[1])))
