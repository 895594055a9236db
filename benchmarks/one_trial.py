"""The graphs of one trial of ALARM-COMP beside the true ones (thesis, figure 2.6).

Run `python -m benchmarks.one_trial` (a minute). Five tasks of 1000 rows, a row of panels each:
learned together by bnmtl's default, alone by a strong search, and both by the thesis's search.
"""

import itertools

import networkx as nx
import pandas as pd

from benchmarks import methods, study
from benchmarks.related import Related, networks_of
from benchmarks.summary import markdown
from bnmtl import plotting

NAME = "one_trial"
SETTINGS = ("trial", "method")
DPI = 75
PROBLEM = "ALARM-COMP"
TRIAL = 0
METHODS = {
    "multitask default": "together",
    "single S": "alone, strong search",
    "multitask T": "together, thesis's search",
    "single T": "alone, thesis's search",
}
FIXED = {"n_rows": methods.N_ROWS, "validation": methods.VALIDATION}


def plan(quick):
    """The one case; the quick one learns only by the thesis's search."""
    return [{"trial": TRIAL, "wanted": ["single T"] if quick else list(METHODS)}]


def measure(trial, wanted):
    """A line a method: the arcs of every task."""
    related = Related(networks_of(PROBLEM, trial), methods.N_ROWS, trial)
    lines = {}
    for method in wanted:
        if method == "multitask T":
            graphs, _ = methods.as_published(related.tasks, trial)
        else:
            graphs = methods.learner_of(method, trial).fit(related.tasks).configuration_
        judged = related.judged(graphs)
        lines[method] = {name: judged[name] for name in ("edits", "shd", "f1")}
        lines[method]["arcs"] = {name: sorted(map(list, g.edges)) for name, g in graphs.items()}
    return lines


def tables(lines):
    """Edits, SHD and F1 of every task, and the differences between true graphs that are found."""
    true = {name: set(net.graph.edges) for name, net in networks_of(PROBLEM, TRIAL).items()}
    rows = []
    for _, line in lines.iterrows():
        row = {"method": METHODS[line["method"]]}
        columns = zip(line["arcs"], line["edits"], line["shd"], line["f1"], strict=True)
        for name, edits, shd, f1 in columns:
            row[f"{name}: edits, SHD, F1"] = f"{edits}, {shd}, {f1:.2f}"
        learned = {name: set(map(tuple, arcs)) for name, arcs in line["arcs"].items()}
        found, total = differences_found(true, learned)
        row["differences found"] = f"{found} of {total}"
        rows.append(row)
    return {"one_trial": markdown(pd.DataFrame(rows))}


def differences_found(true, learned):
    """How many differences between two tasks' true graphs are there in the learned ones.

    A difference is an arc that one task of a pair has and the other has not.

    Parameters
    ----------
    true, learned : dict task -> set of arcs

    Returns
    -------
    found, total : int
    """
    pairs = list(itertools.permutations(true, 2))
    total = sum(len(true[s] - true[t]) for s, t in pairs)
    found = sum(len((true[s] - true[t]) & (learned[s] - learned[t])) for s, t in pairs)
    return found, total


def draw(lines):
    """Every task's graphs, differences to the true one marked, a column a method."""
    networks = networks_of(PROBLEM, TRIAL)
    true, learned = {}, {}
    for name, network in networks.items():
        for method, text in METHODS.items():
            own = lines[lines["method"] == method]
            if not len(own):
                continue
            graph = nx.DiGraph()
            graph.add_nodes_from(network.variables)
            graph.add_edges_from(map(tuple, own.iloc[-1]["arcs"][name]))
            true[f"{name}, {text}"] = network.graph
            learned[f"{name}, {text}"] = graph
    return plotting.compare(true, learned, columns=len(learned) // len(networks), font_size=6)


if __name__ == "__main__":
    study.main("one_trial")
