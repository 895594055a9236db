"""The related tasks of the studies: known networks, sampled rows, and accuracy of learned graphs.

The problems are those of Niculescu-Mizil (2008), sections 2.3.4 and 2.4.3, and a control.
"""

from functools import cached_property

import numpy as np

from benchmarks.variants import SAMPLE_SIZE
from bnmtl import problems
from bnmtl.graphs import adjacency, learned_graph
from bnmtl.learners.held_out import HeldOut
from bnmtl.metrics import edit_distance, kl_divergence, shd, skeleton_scores
from bnmtl.tasks import encode

FIVE = ("ALARM", "ALARM-IND", "INSURANCE", "INSURANCE-IND", "ALARM-COMP")
CONTROL = "CONTROL"
N_TASKS = 5
N_TEST = 10_000
# Seed of the rows for measuring divergences; trials are seeds of everything else.
TEST_SEED = 1_000_000
# ALARM-COMP: the changed components of each task.
CHANGED = ((), (0,), (1,), (2,), (0, 2))


def networks_of(name, trial, p_delete=0.05):
    """The true networks of a problem.

    Parameters
    ----------
    name : str
        One of `FIVE`, or "CONTROL": tasks that share nothing.
    trial : int
    p_delete : float, default=0.05
        Probability of deleting an arc, for the problems made by deletion.

    Returns
    -------
    dict task -> BayesNet
    """
    if name == CONTROL:
        return problems.unrelated("alarm", N_TASKS, random_state=trial)
    if name == "ALARM-COMP":
        groups = problems.ALARM_COMPONENTS
        return problems.components("alarm", groups, CHANGED, random_state=trial)
    network, _, independent = name.lower().partition("-")
    parameters = "independent" if independent else "shared"
    return problems.deletion(network, N_TASKS, p_delete, parameters, random_state=trial)


class Related:
    """Rows of related tasks, and the true networks for evaluating learned graphs.

    Parameters
    ----------
    networks : dict task -> BayesNet
    n_rows : int
        Number of rows of each task.
    trial : int
        Seed of the rows.
    """

    def __init__(self, networks, n_rows, trial):
        self.networks = networks
        self.tasks = encode(problems.sample(networks, n_rows, random_state=trial))
        self._trial = trial

    @cached_property
    def _test_rows(self):
        return problems.sample(self.networks, N_TEST, random_state=TEST_SEED + self._trial)

    @cached_property
    def _predicted(self):
        """Mean log-likelihood of the test rows under the true network, and `HeldOut`, by task."""
        test = encode(self._test_rows)
        return {
            name: (
                float(self.networks[name].log_likelihood(self._test_rows[name]).mean()),
                HeldOut(task, test[name], SAMPLE_SIZE),
            )
            for name, task in self.tasks.items()
        }

    def divergences(self, learned):
        """Divergence of learned networks with their own parameters, one value per task."""
        return kl_divergence(self.networks, learned, self._test_rows).tolist()

    def graphs(self, matrices):
        """Learned graphs by task from their adjacency matrices, with constant variables marked."""
        pairs = zip(self.tasks.items(), matrices, strict=True)
        return {name: learned_graph(task, matrix) for (name, task), matrix in pairs}

    def truth(self):
        """True adjacency of every task, without arcs of constant variables."""
        matrices = []
        for name, task in self.tasks.items():
            graph = without_constant(self.networks[name].graph, task.constant)
            matrices.append(adjacency(graph, task.variables))
        return matrices

    def judged(self, graphs):
        """Accuracy of graphs compared with the true networks, one value per task.

        Parameters
        ----------
        graphs : mapping task -> networkx.DiGraph
            Graphs of all tasks or of some.

        Returns
        -------
        dict of list of float
            edits, shd, f1 (of the skeleton) and kl (nats per row, parameters from all rows).
        """
        found = {"edits": [], "shd": [], "f1": [], "kl": []}
        for name, graph in graphs.items():
            true = self.networks[name].graph
            found["edits"].append(edit_distance(true, graph))
            found["shd"].append(shd(true, graph))
            found["f1"].append(skeleton_scores(true, graph).f1)
            best, held_out = self._predicted[name]
            found["kl"].append(best - held_out.mean(graph))
        return found

    def line(self, graphs, networks=None):
        """Means over tasks of the values of `judged`, rounded for the file.

        If networks are given, kl is their divergence.
        """
        judged = self.judged(graphs)
        if networks is not None:
            judged["kl"] = self.divergences(networks)
        return {name: round(float(np.mean(values)), 6) for name, values in judged.items()}


def without_constant(graph, constant):
    """A graph without arcs of the variables that are constant in the data."""
    cut = graph.copy()
    cut.remove_edges_from([arc for arc in graph.edges if set(constant) & set(arc)])
    return cut


def mean_arcs(graphs):
    """Mean number of arcs of graphs by task, rounded for the file."""
    return round(float(np.mean([graph.number_of_edges() for graph in graphs.values()])), 3)
