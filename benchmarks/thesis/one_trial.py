"""The graphs of one trial of ALARM-COMP compared with the true ones (thesis, figure 2.6).

Run `python -m benchmarks.thesis.one_trial` (one minute). Five tasks of 1000 rows, one row of panels
per task: learned together by the search J with ten folds, alone by a strong search, and both by the
search of the thesis.
"""

import itertools

import networkx as nx
import numpy as np

from benchmarks import study
from benchmarks.claims import Claim, claims_table
from benchmarks.related import Related, networks_of
from benchmarks.summary import markdown
from benchmarks.thesis import methods
from benchmarks.variants import VALIDATION, learner_of
from bnmtl import plotting

NAME = "one_trial"
SETTINGS = ("trial", "method")
DPI = 50
PROBLEM = "ALARM-COMP"
TRIAL = 0
METHODS = {
    "multitask folds": "together",
    "single S": "alone, strong search",
    "multitask T": "together, thesis's search",
    "single T": "alone, thesis's search",
}
FIXED = {"n_rows": methods.N_ROWS, "validation": VALIDATION}


def plan(quick):
    """The only case; the quick one uses only the search of the thesis."""
    return [{"trial": TRIAL, "wanted": ["single T"] if quick else list(METHODS)}]


def measure(trial, wanted):
    """One line per method: the arcs of every task."""
    related = Related(networks_of(PROBLEM, trial), methods.N_ROWS, trial)
    lines = {}
    for method in wanted:
        if method == "multitask T":
            graphs, _ = methods.as_published(related.tasks, trial)
        else:
            graphs = learner_of(method, trial).fit(related.tasks).configuration_
        judged = related.judged(graphs)
        lines[method] = {name: judged[name] for name in ("edits", "shd", "f1")}
        lines[method]["arcs"] = {name: sorted(map(list, g.edges)) for name, g in graphs.items()}
    return lines


def tables(lines):
    """Edits, SHD and F1 of every task, the differences between tasks, and the published claim."""
    true = {name: set(net.graph.edges) for name, net in networks_of(PROBLEM, TRIAL).items()}
    rows = []
    for _, line in lines.iterrows():
        row = {"method": METHODS[line["method"]]}
        columns = zip(line["arcs"], line["edits"], line["shd"], line["f1"], strict=True)
        for name, edits, shd, f1 in columns:
            row[f"{name}: edits, SHD, F1"] = f"{edits}, {shd}, {f1:.2f}"
        found, total, invented = differences(true, _arcs(line))
        row["differences found"] = f"{found} of {total}"
        row["invented"] = invented
        rows.append(row)
    return {"one_trial": markdown(rows), "one_trial_claims": claims_table(claims(lines, true))}


def claims(lines, true):
    """For both searches: learning together is more accurate and preserves differences."""
    by_method = {line["method"]: line for _, line in lines.iterrows()}
    for method, single in (("multitask T", "single T"), ("multitask folds", "single S")):
        if not {method, single} <= set(by_method):
            continue
        ours, other = by_method[method], by_method[single]
        means = [np.mean(line["edits"]) for line in (ours, other)]
        fewer = sum(np.less(ours["edits"], other["edits"]))
        yield Claim(
            f"{METHODS[method]}: more accurate structures than {METHODS[single]}",
            "yes",
            f"{means[0]:.1f} edits, {means[1]:.1f} alone; fewer in {fewer} of {len(true)} tasks",
            bool(means[0] < means[1]),
        )
        found, total, invented = differences(true, _arcs(ours))
        yield Claim(
            f"{METHODS[method]}: some of the true differences between tasks are preserved",
            "yes",
            f"{found} of {total}; of {found + invented} learned differences "
            f"{found / max(found + invented, 1):.0%} are true",
            found > 0,
        )


def _arcs(line):
    """Task -> set of learned arcs."""
    return {name: set(map(tuple, arcs)) for name, arcs in line["arcs"].items()}


def differences(true, learned):
    """Compare differences between the learned graphs of tasks with the true differences.

    A difference is an arc that only one task of a pair has.

    Parameters
    ----------
    true, learned : dict task -> set of arcs

    Returns
    -------
    found, total, invented : int
        Number of learned differences that are true, of all true ones, and of learned ones that are
        not true.
    """
    found = total = invented = 0
    for s, t in itertools.permutations(true, 2):
        real, seen = true[s] - true[t], learned[s] - learned[t]
        found, total = found + len(real & seen), total + len(real)
        invented += len(seen - real)
    return found, total, invented


def draw(lines):
    """Graphs of every task with differences from the true one marked, one column per method."""
    networks = networks_of(PROBLEM, TRIAL)
    true, learned = {}, {}
    for name, network in networks.items():
        for method, text in METHODS.items():
            of_method = lines[lines["method"] == method]
            if not len(of_method):
                continue
            graph = nx.empty_graph(network.variables, nx.DiGraph)
            graph.add_edges_from(map(tuple, of_method.iloc[-1]["arcs"][name]))
            true[f"{name}, {text}"] = network.graph
            learned[f"{name}, {text}"] = graph
    return plotting.compare(true, learned, columns=len(learned) // len(networks), font_size=6)


if __name__ == "__main__":
    study.main(__spec__.name)
