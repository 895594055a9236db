"""Groups of tasks: found from the data, given, one group, and each task alone.

Run `python -m benchmarks.groups.groups` (nights on two cores; `--only outlier` for one kind). Tasks
of known networks that belong together, partly or not at all: related tasks, four of them and one
that has nothing to do with them, two families of three, five unrelated tasks, a task with many rows
and four with few, twenty tasks of four families, tasks that lose many arcs, tasks with half of
their arcs in common, and tasks without any arc.
"""

import itertools
import time

import networkx as nx
import numpy as np
from scipy.special import gammaln
from sklearn.metrics import adjusted_rand_score

from benchmarks import study
from benchmarks.related import Related
from benchmarks.summary import by_trial, difference_text, markdown, mean_and_error, parts
from bnmtl import (
    BayesNet,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
    problems,
    structures,
)
from bnmtl.metrics import edit_distance
from bnmtl.scores import CONCENTRATIONS
from bnmtl.tasks import encode

NAME = "groups"
SETTINGS = ("kind", "problem", "rows", "trial", "learner")
FIXED = {"concentrations": list(CONCENTRATIONS)}
# Of ALARM, and of other networks.
N_TRIALS, N_OTHERS = 20, 10
# Trials are seeds; the rule was chosen on other seeds.
FIRST_SEED = 1000
SIZES = (("ALARM", 250), ("CHILD", 250), ("INSURANCE", 250), ("HEPAR2", 250))
MORE_ROWS = (("ALARM", 50), ("ALARM", 1000))
KINDS = {
    "outlier": SIZES + MORE_ROWS,
    "two families": SIZES + MORE_ROWS,
    "unrelated": SIZES + MORE_ROWS,
    "related": (*SIZES, *MORE_ROWS, ("ALARM-IND", 250), ("INSURANCE-IND", 250)),
    "few rows": (("ALARM", 100),),
    "few rows, unrelated": (("ALARM", 100),),
    "many deletions": (("ALARM", 250), ("CHILD", 250)),
    "four families": (("ALARM", 50),),
    "half alike, 2": (("ALARM", 250), ("CHILD", 250)),
    "half alike, 5": (("ALARM", 250), ("CHILD", 250)),
    "half alike, 20": (("ALARM", 250),),
    "noise": (("ALARM", 60), ("ALARM", 250)),
}
MANY_ROWS = 5000
LEARNERS = ("alone", "one group", "auto", "true groups")
# On ALARM, tasks with tables of their own.
SEPARATE_TABLES = ("one group, own tables", "auto, own tables", "true groups, own tables")
# Searches under the coupling that judges groups, by its concentration, in the first trials; in the
# true groups only where no task is alone, because nothing is coupled there, and arcs are not rare.
JUDGE = {f"{groups}, U {a:g}": a for groups in ("one group", "true groups") for a in (0.03, 0.3, 3)}
# Smaller penalties than 0.99, in the first trials.
WEAKER = {
    **{"one group, 0.9": 0.9, "auto, 0.9": 0.9, "auto, 0.95": 0.95},
    "auto, own tables, 0.9": 0.9,
}
# Groups by the posterior of the search instead of what arcs add, in the first trials.
BY_POSTERIOR = "by posterior"
N_FIRST = 5
FIRST_KINDS = ("outlier", "two families", "unrelated", "related")


# Kinds of tasks, and learners, in words for the README.
IN_WORDS = {
    ("outlier", "others"): "an outlier beside four related tasks",
    ("outlier", "first group"): "the four related tasks",
    ("two families", "first group"): "two families of three, the first",
    ("two families", "others"): "the second",
    ("unrelated", "others"): "five unrelated tasks",
    ("four families", "first group"): "20 tasks in four families, the first",
    ("four families", "others"): "the others",
    ("few rows", "first group"): "four related tasks beside one of 5000 rows",
    ("few rows, unrelated", "first group"): "the same, with the large one an outlier",
    ("related", "first group"): "five related tasks",
}
IN_SHORT_ROWS = (50, 100, 250)
IN_SHORT = {
    "alone": "each alone",
    "one group": "one group",
    "auto": "groups found",
    "true groups": "true groups",
}


def plan(quick, trials=None):
    """All cases, trial by trial."""
    if quick:
        return study.every(["auto"], kind=["outlier"], problem=["ASIA"], rows=[100], trial=[0])
    cases = []
    for kind, sizes in KINDS.items():
        for problem, rows in sizes:
            one = {"kind": [kind], "problem": [problem], "rows": [rows]}
            wanted = (*LEARNERS, *(SEPARATE_TABLES if problem == "ALARM" else ()))
            n_trials = N_TRIALS if problem == "ALARM" else N_OTHERS
            cases += study.every(wanted, **one, trial=range(trials or n_trials))
            if (kind in FIRST_KINDS and (problem, rows) in SIZES[:2]) or kind == "noise":
                names = [name for name in JUDGE if kind == "two families" or name.startswith("one")]
                names = [*WEAKER, *([*names, BY_POSTERIOR] if kind != "noise" else [])]
                cases += study.every(names, **one, trial=range(min(trials or N_FIRST, N_FIRST)))
    return sorted(cases, key=lambda case: case["trial"])


def networks_of(kind, problem, seed):
    """True networks by task, and the true group of each."""
    network, _, independent = problem.lower().partition("-")
    if kind == "unrelated":
        found = problems.unrelated(network, 5, random_state=seed)
        return found, {task: task for task in found}
    if kind in ("related", "few rows", "many deletions"):
        p_delete = 0.3 if kind == "many deletions" else 0.05
        tables = "independent" if independent else "shared"
        found = problems.deletion(network, 5, p_delete, tables, random_state=seed)
        return found, dict.fromkeys(found, "A")
    if kind == "noise":
        others = problems.unrelated(network, 5, random_state=seed)
        found = {task: _without_arcs(one, seed) for task, one in others.items()}
        return found, dict.fromkeys(found, "A")
    if kind.startswith("half alike"):
        base = structures.load(network)
        n_tasks = int(kind.split()[-1])
        inside = _half(base.graph, seed)
        found = problems.components(base, [inside], [(0,)] * n_tasks, random_state=seed)
        return found, dict.fromkeys(found, "A")
    n_families, sizes = {
        "outlier": (2, (4, 1)),
        "few rows, unrelated": (2, (4, 1)),
        "two families": (2, (3, 3)),
        "four families": (4, (5, 5, 5, 5)),
    }[kind]
    bases = problems.unrelated(network, n_families, random_state=seed)
    found, groups = {}, {}
    for at, (base, size) in enumerate(zip(bases.values(), sizes, strict=True)):
        label = "ABCD"[at]
        family = {"task1": base}
        if size > 1:
            family = problems.deletion(base, size, 0.05, random_state=100 * seed + at)
        for name, one in family.items():
            found[f"{label}{name}"] = one
            groups[f"{label}{name}"] = label
    return found, groups


def _without_arcs(network, seed):
    """The network with the same distribution of each variable by itself, and no arc."""
    rows = network.sample(MANY_ROWS, random_state=seed)
    empty = nx.DiGraph()
    empty.add_nodes_from(network.graph)
    return BayesNet.fit(empty, encode({"task": rows})["task"])


def _half(graph, seed):
    """Variables drawn one by one until half of the arcs are between them."""
    order, chosen = np.random.default_rng(seed).permutation(sorted(graph)).tolist(), []
    while 2 * graph.subgraph(chosen).number_of_edges() < graph.number_of_edges():
        chosen.append(order.pop())
    return chosen


class Rows(Related):
    """Related tasks, one of which may have many rows."""

    def __init__(self, networks, n_rows, seed):
        self.networks = networks
        sampled = {
            name: network.sample(n_rows[name], random_state=100 * seed + at)
            for at, (name, network) in enumerate(networks.items())
        }
        self.tasks = encode(sampled)
        self._trial = seed


def measure(kind, problem, rows, trial, wanted):
    """One line per learner: edits and divergence of the tasks of A and of others, and groups."""
    seed = FIRST_SEED + trial
    networks, truth = networks_of(kind, problem, seed)
    n_rows = dict.fromkeys(networks, rows)
    large = next(
        (task for task in networks if kind.startswith("few rows") and truth[task] != "A"), None
    )
    if kind == "few rows":
        large = next(iter(networks))
    if large is not None:
        n_rows[large] = MANY_ROWS
    others = [task for task in networks if truth[task] != "A" or task == large]
    data = Rows(networks, n_rows, seed)
    found = {}
    for name in wanted:
        began = time.process_time()
        if name == BY_POSTERIOR:
            partition = partition_by_posterior(data.tasks, trial)
            learner = MultitaskLearner(task_groups=partition, random_state=trial)
        else:
            learner = _learner(name, truth, trial, len(next(iter(networks.values())).variables))
        learner.fit(data.tasks)
        seconds = time.process_time() - began
        graphs, labels = learner.configuration_, getattr(learner, "task_groups_", None)
        edits = {task: edit_distance(networks[task].graph, graph) for task, graph in graphs.items()}
        kl = dict(zip(networks, data.divergences(learner.networks_), strict=True))
        line = {"seconds": round(seconds, 3)}
        for key, values in (("edits", edits), ("kl", kl)):
            of_first = [value for task, value in values.items() if task not in others]
            line[key] = round(float(np.mean(of_first)), 6) if of_first else None
            of_others = [values[task] for task in others]
            line[f"{key}_others"] = round(float(np.mean(of_others)), 6) if of_others else None
        if labels is not None:
            same = adjusted_rand_score([truth[task] for task in labels.index], labels)
            line |= {"n_groups": int(labels.nunique()), "is_true": bool(same == 1)}
            line["groups"] = " ".join(f"{task}:{label}" for task, label in labels.items())
        found[name] = line
    return found


class JudgingCoupling:
    """The coupling by which groups are judged, for a search of its own.

    The states of a pair of variables in the tasks are draws from one distribution, which has a
    Dirichlet prior: a tenth of an arc a variable is expected in every task.

    Parameters
    ----------
    n_variables : int
    concentration : float
    """

    def __init__(self, n_variables, concentration):
        p = min(0.5, 0.1 / (n_variables - 1))
        self._shape = concentration * np.array([1 - p, p, p]) / (1 + p)

    def log_coupling(self, states, pair=None, tasks=None):
        counts = np.array([np.count_nonzero(np.equal(states, x)) for x in (0, 1, -1)])
        total, n = self._shape.sum(), len(states)
        terms = gammaln(self._shape + counts) - gammaln(self._shape)
        return float(gammaln(total) - gammaln(total + n) + terms.sum())


def _learner(name, truth, trial, n_variables):
    if name == "alone":
        return SingleTaskLearner(random_state=trial)
    if name in JUDGE:
        groups = truth if name.startswith("true groups") else None
        coupling = JudgingCoupling(n_variables, JUDGE[name])
        return MultitaskLearner(
            coupling, structure_prior=None, task_groups=groups, random_state=trial
        )
    prior = PairedPrior(WEAKER[name]) if name in WEAKER else None
    sharing = None if "own tables" in name else "auto"
    groups = {"auto": "auto", "true groups": truth}.get(name.split(",")[0])
    return MultitaskLearner(prior, table_sharing=sharing, task_groups=groups, random_state=trial)


def partition_by_posterior(tasks, seed):
    """Groups of tasks by the posterior of quick searches, merged as long as it rises.

    Returns
    -------
    dict task -> int
    """

    def labels_of(groups):
        return {task: at for at, group in enumerate(groups) for task in group}

    def posterior(groups):
        how = {"penalties": [0.99], "validation": "posterior", "search": "hill-climbing"}
        learner = MultitaskLearnerCV(task_groups=labels_of(groups), random_state=seed, **how)
        return learner.fit(tasks).validation_scores_.item()

    groups = [(task,) for task in tasks.names]
    value = posterior(groups)
    while len(groups) > 1:
        merged = [
            [*(group for group in groups if group not in pair), sum(pair, ())]
            for pair in itertools.combinations(groups, 2)
        ]
        values = [posterior(one) for one in merged]
        if max(values) <= value:
            break
        value, groups = max(values), merged[int(np.argmax(values))]
    return labels_of(groups)


def tables(lines):
    """Edits and divergence by kind and learner, how far "auto" is from the best, and its groups."""
    return {
        "groups": markdown(_compared(lines)),
        "groups_aims": markdown(_aims(lines)),
        "groups_in_short": markdown(_in_short(lines)),
        "groups_coupling": markdown(_by_judge(lines)),
        "groups_penalty": markdown(_by_penalty(lines)),
        "groups_posterior": markdown(_by_posterior(lines)),
    }


def _cases(lines):
    """Every case with tasks of the first group or the others: edits and divergences by learner."""
    rows = sorted(set(lines["rows"]))
    names = list(dict.fromkeys(problem for sizes in KINDS.values() for problem, _ in sizes))
    for case, group in parts(lines, kind=KINDS, problem=names, rows=rows):
        for part, title in (("", "first group"), ("_others", "others")):
            if group[f"edits{part}"].notna().any():
                edits, kl = (by_trial(group, "learner", key + part) for key in ("edits", "kl"))
                yield {**case, "tasks": title, "trials": len(edits)}, group, edits, kl


def _compared(lines):
    for case, group, edits, kl in _cases(lines):
        row = dict(case)
        for learner in (*LEARNERS, *SEPARATE_TABLES):
            shown = [mean_and_error(one[learner]) for one in (edits, kl) if learner in one]
            row[learner] = "; ".join(shown)
        auto = group[group["learner"] == "auto"]["is_true"].dropna()
        row["groups are true"] = f"{auto.astype(bool).mean():.0%}" if len(auto) else ""
        yield row


def _by_penalty(lines):
    """Edits and divergence by penalty, with shared tables and with separate ones."""
    for case, _, edits, kl in _cases(lines):
        row, trials = {**case, "trials": ""}, []
        for default in ("one group", "auto", "auto, own tables"):
            names = [name for name in WEAKER if name.rpartition(", ")[0] == default]
            both = [one.reindex(columns=[default, *names]).dropna() for one in (edits, kl)]
            trials += [len(both[0])] if len(both[0]) else []
            for name in both[0]:
                title = f"{default}, 0.99" if name == default else name
                shown = [mean_and_error(one[name]) for one in both if len(one)]
                row[title] = "; ".join(shown)
        if trials:
            yield row | {"trials": ", ".join(map(str, dict.fromkeys(trials)))}


def _by_judge(lines):
    """Edits and divergence of searches under the coupling of the judge, beside the default's."""
    for case, _, edits, kl in _cases(lines):
        names = [name for name in JUDGE if name in edits]
        if not names:
            continue
        both = [one.dropna(subset=names) for one in (edits, kl)]
        row = {**case, "trials": len(both[0])}
        for groups in ("one group", "true groups"):
            for name in (groups, *(one for one in JUDGE if one.startswith(groups))):
                shown = [mean_and_error(one[name]) for one in both if name in one]
                row[name] = "; ".join(shown)
        yield row


def _by_posterior(lines):
    """Edits and divergence in groups by the posterior of the search, beside the default's."""
    for case, group, edits, kl in _cases(lines):
        if BY_POSTERIOR not in edits:
            continue
        both = [one.dropna(subset=[BY_POSTERIOR]) for one in (edits, kl)]
        row = {**case, "trials": len(both[0])}
        for name in ("alone", "one group", "auto", BY_POSTERIOR, "true groups"):
            row[name] = "; ".join(mean_and_error(one[name]) for one in both if name in one)
        some = group[group["trial"].isin(both[0].index)]
        for name in ("auto", BY_POSTERIOR):
            is_true = some.loc[some["learner"] == name, "is_true"].astype(bool)
            row[f"true: {name}"] = f"{is_true.mean():.0%}"
        yield row


def _in_short(lines):
    """Edits and divergence of tasks of ALARM, in words."""
    for case, _, edits, kl in _cases(lines[lines["problem"] == "ALARM"]):
        words = IN_WORDS.get((case["kind"], case["tasks"]))
        if words and case["rows"] in IN_SHORT_ROWS and set(IN_SHORT) <= set(edits):
            row = {"tasks": f"{case['rows']} rows: {words}"}
            for learner, title in IN_SHORT.items():
                row[title] = "; ".join(mean_and_error(one[learner]) for one in (edits, kl))
            yield {**row, "trials": case["trials"]}


def _aims(lines):
    """How much worse "auto" is than the better of each task alone and the true groups."""
    for case, group, *values in _cases(lines):
        row = dict(case)
        for title, one, digits in zip(("edits", "divergence"), values, (2, 3), strict=True):
            rivals = [name for name in ("alone", "true groups") if name in one]
            if "auto" not in one or not rivals:
                continue
            best = min(rivals, key=lambda name, one=one: one[name].mean())
            row[f"best, {title}"] = best
            row[f"auto less best, {title}"] = difference_text(one["auto"], one[best], digits)
            if "one group" in one:
                other = difference_text(one["auto"], one["one group"], digits)
                row[f"auto less one group, {title}"] = other
        times = by_trial(group, "learner", "seconds")
        if {"auto", "one group"} <= set(times):
            row["time, auto : one group"] = f"{(times['auto'] / times['one group']).median():.2f}"
        yield row


if __name__ == "__main__":
    study.main(__spec__.name)
