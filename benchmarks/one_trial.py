"""The graphs of one trial of ALARM-COMP beside the true ones (thesis, figure 2.6).

Run `python -m benchmarks.one_trial` (a minute). Five tasks of 1000 rows, a row of panels each:
learned together by bnmtl's default, alone by a strong search, alone by the thesis's search.
"""

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
    "single T": "alone, thesis's search",
}


def plan(quick):
    """The one case; the quick one learns only by the thesis's search."""
    return [{"trial": TRIAL, "wanted": ["single T"] if quick else list(METHODS)}]


def measure(trial, wanted):
    """A line a method: the arcs of every task."""
    related = Related(networks_of(PROBLEM, trial), methods.N_ROWS, trial)
    lines = {}
    for method in wanted:
        learner = methods.learner_of(method, trial).fit(related.tasks)
        judged = related.judged(learner.configuration_)
        arcs = {name: sorted(map(list, g.edges)) for name, g in learner.configuration_.items()}
        lines[method] = {"arcs": arcs, "edits": judged["edits"], "shd": judged["shd"]}
    return lines


def tables(lines):
    """Edits and SHD of every task."""
    rows = []
    for _, line in lines.iterrows():
        row = {"method": METHODS[line["method"]]}
        for name, edits, shd in zip(line["arcs"], line["edits"], line["shd"], strict=True):
            row[f"{name}: edits, SHD"] = f"{edits}, {shd}"
        rows.append(row)
    return {"one_trial": markdown(pd.DataFrame(rows))}


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
