"""Prior weights of shared tables: learned from all families, or the same for all priors.

Run `python -m benchmarks.sharing.table_weights` (ten minutes on two cores). The tables of the true
graphs of known networks are evaluated by their divergence. Those of graphs learned from 25 or 100
cells of each condition of the Sachs data, or from half of the birds of two regions, are evaluated
on the other rows. "own" gives every task separate tables; "even" has equal weights for tables in
groups and tables centered on a mean; "even, own too" adds separate tables; "learned", the default,
combines the three with weights learned from all families of the graphs.
"""

import numpy as np

from benchmarks import study
from benchmarks.defaults.grouped import grouped_tasks
from benchmarks.defaults.sachs import cells, split
from benchmarks.drawing import bars, panels
from benchmarks.sharing.sharing import SAME, related_of
from benchmarks.summary import markdown, means_of
from bnmtl import MultitaskLearner
from bnmtl.networks import fit_networks
from bnmtl.networks.shared_tables import PARTITIONS, STRENGTHS, SharedTables, learned_weights
from bnmtl.networks.shared_tables import networks_of as networks_with

NAME = "table_weights"
SETTINGS = ("problem", "tables", "rows", "trial", "weights")
FIXED = {"partitions": list(PARTITIONS), "strengths": list(STRENGTHS)}
N_TRIALS = 5
# Problem, kind of tables, rows per task; the tables of Sachs and of the birds are real.
CASES = (
    *(("ALARM", SAME, rows) for rows in (1000, 250)),
    *(("INSURANCE", SAME, rows) for rows in (1000, 250)),
    *(("INSURANCE-IND", SAME, rows) for rows in (1000, 250)),
    *(("INSURANCE", "similar 50", rows) for rows in (1000, 250)),
    ("CONTROL", SAME, 1000),
    ("Sachs", "real", 25),
    ("Sachs", "real", 100),
    ("avimedi", "real", "half"),
)
WEIGHTS = ("own", "even", "even, own too", "learned")


def plan(quick, trials=None):
    """All cases; the quick one has few rows."""
    if quick:
        case = {"problem": ["INSURANCE"], "tables": ["similar 50"], "rows": [50], "trial": [0]}
        return study.every(WEIGHTS, **case)
    return [
        {"problem": name, "tables": kind, "rows": rows, "trial": trial, "wanted": list(WEIGHTS)}
        for trial in range(trials or N_TRIALS)
        for name, kind, rows in CASES
    ]


def measure(problem, tables, rows, trial, wanted):
    """One line per kind of weights: nats per row below the truth, or those of held-out rows."""
    if tables == "real":
        train, test = _halves(problem, trial) if rows == "half" else split(cells(), rows, trial)
        graphs = MultitaskLearner(task_groups=None, random_state=trial).fit(train).configuration_

        def value(networks):
            means = [networks[name].log_likelihood(task).mean() for name, task in test.items()]
            return -float(np.mean(means))

    else:
        related = related_of(problem, tables, rows, trial)
        train, graphs = related.tasks, {name: net.graph for name, net in related.networks.items()}

        def value(networks):
            return float(np.mean(related.divergences(networks)))

    return {one: {"nats": round(value(fitted(graphs, train, one)), 6)} for one in wanted}


def _halves(name, trial):
    """A random half of the rows of each task, and the other half."""
    tasks, train, test = grouped_tasks(name), {}, {}
    for at, (task, rows) in enumerate(tasks.items()):
        order = np.random.default_rng([trial, at]).permutation(rows.n_rows)
        train[task], test[task] = np.split(order, [rows.n_rows // 2])
    return tasks.take(train), tasks.take(test)


def fitted(graphs, tasks, weights):
    """Networks with given graphs and tables averaged over priors with these weights."""
    if weights == "own":
        return fit_networks(graphs, tasks, sharing=None)
    weights_of = {"even": without_separate, "even, own too": lambda evidences: None}.get(
        weights, learned_weights
    )
    return networks_with(graphs, tasks, SharedTables(tasks, weights_of).fit(graphs).tables)


def without_separate(evidences):
    """Equal weights for all components except the last, separate tables, which has weight 0."""
    weights = np.ones(evidences.shape[1])
    weights[-1] = 0.0
    return weights / weights.sum()


def tables(lines):
    """Mean nats by weights; less is better."""
    return {"table_weights": markdown(_reached(lines))}


def _reached(lines):
    for (name, kind, n_rows), group in lines.groupby(["problem", "tables", "rows"], sort=False):
        unit = "nats a held-out row, less is better" if kind == "real" else "divergence"
        row = {"problem": name, "tables": kind, "rows": n_rows, "of": unit}
        row["trials"] = group["trial"].nunique()
        yield row | means_of(group, "weights", "nats", WEIGHTS, 3)


def draw(lines):
    """Reduction of nats below separate tables, with one group of bars per case."""
    cases = lines["problem"] + ", " + lines["tables"] + ", " + lines["rows"].astype(str)
    wide = lines.assign(case=cases).groupby(["case", "weights"], sort=False)["nats"].mean()
    wide = wide.unstack("weights")
    gains = wide.drop(columns="own").rsub(wide["own"], axis=0)
    shown = gains[[one for one in WEIGHTS if one in gains]]
    label = "nats a row less than with tables of the tasks' own"
    options = {"legend": "first", "supxlabel": label}
    return panels(lambda axes, *_: bars(axes, shown, horizontal=True), (7, 5), **options)


if __name__ == "__main__":
    study.main(__spec__.name)
