"""Groups of tasks: found from the data, given, one group, and each task alone.

Run `python -m benchmarks.groups.groups` (nights on two cores; `--only outlier` for one kind). Tasks
of known networks that belong together, partly or not at all: related tasks, four of them and one
that has nothing to do with them, two families of three, five unrelated tasks, a task with many rows
and four with few, twenty tasks of four families, and tasks that lose many arcs.
"""

import time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import study
from benchmarks.related import Related
from benchmarks.summary import by_trial, markdown, mean_and_error, parts
from bnmtl import MultitaskLearner, PairedPrior, SingleTaskLearner, problems
from bnmtl.metrics import edit_distance
from bnmtl.scores import CONCENTRATIONS
from bnmtl.tasks import encode

NAME = "groups"
SETTINGS = ("kind", "problem", "rows", "trial", "learner")
FIXED = {"concentrations": list(CONCENTRATIONS)}
N_TRIALS = 20
# Trials are seeds; the rule was chosen on other seeds.
FIRST_SEED = 1000
KINDS = {
    "outlier": (("ALARM", 250), ("CHILD", 250), ("INSURANCE", 250)),
    "two families": (("ALARM", 250), ("CHILD", 250), ("INSURANCE", 250)),
    "unrelated": (("ALARM", 250), ("CHILD", 250), ("INSURANCE", 250)),
    "related": (("ALARM", 250), ("CHILD", 250), ("INSURANCE", 250), ("ALARM", 50), ("ALARM", 1000)),
    "few rows": (("ALARM", 100),),
    "few rows, unrelated": (("ALARM", 100),),
    "many deletions": (("ALARM", 250), ("CHILD", 250)),
    "four families": (("ALARM", 50),),
}
MANY_ROWS = 5000
LEARNERS = ("alone", "one group", "one group, 0.9", "auto", "auto, 0.9", "true groups")


def plan(quick, trials=None):
    """All cases, trial by trial."""
    if quick:
        return study.every(["auto"], kind=["outlier"], problem=["ASIA"], rows=[100], trial=[0])
    cases = []
    for kind, sizes in KINDS.items():
        for problem, rows in sizes:
            one = {"kind": [kind], "problem": [problem], "rows": [rows]}
            cases += study.every(LEARNERS, **one, trial=range(trials or N_TRIALS))
    return sorted(cases, key=lambda case: case["trial"])


def networks_of(kind, problem, seed):
    """True networks by task, and the true group of each."""
    network = problem.lower()
    if kind == "unrelated":
        found = problems.unrelated(network, 5, random_state=seed)
        return found, {task: task for task in found}
    if kind in ("related", "few rows", "many deletions"):
        p_delete = 0.3 if kind == "many deletions" else 0.05
        found = problems.deletion(network, 5, p_delete, random_state=seed)
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
        learner = _learner(name, truth, trial)
        began = time.process_time()
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


def _learner(name, truth, trial):
    if name == "alone":
        return SingleTaskLearner(random_state=trial)
    prior = PairedPrior(0.9) if name.endswith("0.9") else None
    groups = {"auto": "auto", "true groups": truth}.get(name.split(",")[0])
    return MultitaskLearner(prior, task_groups=groups, random_state=trial)


def tables(lines):
    """Edits and divergence by kind and learner, and how often the groups are the true ones."""
    return {"groups": markdown(_compared(lines))}


def _compared(lines):
    rows = sorted(set(lines["rows"]))
    names = list(dict.fromkeys(problem for sizes in KINDS.values() for problem, _ in sizes))
    for case, group in parts(lines, kind=KINDS, problem=names, rows=rows):
        values = {
            key: by_trial(group, "learner", key)
            for key in ("edits", "edits_others", "kl", "kl_others")
            if group[key].notna().any()
        }
        for part, title in (("", "first group"), ("_others", "others")):
            if f"edits{part}" not in values:
                continue
            row = {**case, "tasks": title, "trials": len(values[f"edits{part}"])}
            for learner in LEARNERS:
                shown = [
                    mean_and_error(values[key + part][learner])
                    if learner in values[key + part]
                    else ""
                    for key in ("edits", "kl")
                ]
                row[learner] = "; ".join(shown) if any(shown) else ""
            auto = group[group["learner"] == "auto"]["is_true"].dropna()
            row["groups are true"] = f"{auto.astype(bool).mean():.0%}" if len(auto) else ""
            yield row


if __name__ == "__main__":
    study.main(__spec__.name)
