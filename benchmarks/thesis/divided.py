"""Groups of tasks by distance where tasks are two families, or one is an outlier.

Run `python -m benchmarks.thesis.divided` (an hour on two cores). The problems of the thesis have
related tasks only. Here five tasks of ALARM are four relatives and one whose variables are
permuted, or six are two families of three. The methods of section 2.4 are those of `selection`, for
each task as the principal one; "default" is `MultitaskLearner()`, "default, groups" the same with
the groups of tasks found from the data. Edits are means over all tasks.
"""

from benchmarks import study
from benchmarks.groups.groups import networks_of
from benchmarks.related import Related
from benchmarks.summary import MEASURES, by_trial, difference_text, markdown, parts, reached
from benchmarks.thesis.groups import AT_LEAST, SHARE, Groupings
from benchmarks.thesis.pool import PENALTY
from benchmarks.variants import learner_of
from bnmtl import MultitaskLearner
from bnmtl.learners.validated import best_penalty
from bnmtl.scores import CONCENTRATIONS

NAME = "divided"
SETTINGS = ("problem", "rows", "trial", "method")
FIXED = {
    "share": SHARE,
    "at_least": AT_LEAST,
    "direct_penalty": PENALTY,
    "concentrations": list(CONCENTRATIONS),
}
PROBLEMS = ("outlier", "two families")
ROWS = (250, 1000)
N_TRIALS = 10
# The defaults of the learner, without and with groups of tasks found from the data.
BY_DEFAULT = {"default": None, "default, groups": "auto"}
METHODS = ("single", "all tasks", "selection", "clustering", "task penalties", *BY_DEFAULT)


def plan(quick, trials=None):
    """All cases; the quick one has few rows and methods."""
    if quick:
        return study.every(["single", "all tasks"], problem=["outlier"], rows=[50], trial=[0])
    trial = range(trials or N_TRIALS)
    return study.every(METHODS, trial=trial, rows=ROWS, problem=PROBLEMS)


def measure(problem, rows, trial, wanted):
    """One line per method: means over all tasks."""
    networks, _ = networks_of(problem, "ALARM", trial)
    related = Related(networks, rows, trial)
    groupings, lines = Groupings(related.tasks, "S", trial), {}
    for method in wanted:
        if method in BY_DEFAULT:
            learner = default_fit(method, related.tasks, trial)
            line = related.line(learner.configuration_, learner.networks_)
            lines[method] = {**line, "number": int(learner.task_groups_.nunique())}
            continue
        graphs, number = _graphs(groupings, related.tasks, trial, method)
        lines[method] = {**related.line(graphs), "number": number}
    return lines


def default_fit(method, tasks, trial):
    """The default learner of several tasks, fitted; with or without groups of tasks."""
    return MultitaskLearner(task_groups=BY_DEFAULT[method], random_state=trial).fit(tasks)


def _graphs(groupings, tasks, trial, method):
    """All tasks' graphs, and the number of clusters or None."""
    if method == "single":
        return learner_of("single S", trial).fit(tasks).configuration_, None
    if method == "all tasks":
        return groupings.all_tasks(), None
    if method == "task penalties":
        return groupings.by_distance(), None
    if method == "clustering":
        options = groupings.by_clusters(groupings.distances)
        best = best_penalty([score for _, score in options])
        return options[best][0], best + 1
    graphs = {}
    for principal in tasks:
        options = groupings.by_number(principal, groupings.distances)
        best = best_penalty([option.score for option in options])
        graphs[principal] = options[best].graph
    return graphs, None


def tables(lines):
    """Accuracy by problem, rows and method, and differences from each task alone."""
    return {"divided": markdown(_reached(lines))}


def _reached(lines):
    for case, group in parts(lines, problem=PROBLEMS, rows=ROWS):
        edits = by_trial(group, "method", "edits")
        for _, of_method in parts(group, method=METHODS):
            method = of_method["method"].iloc[0]
            row = {**case, "method": method, "trials": len(of_method), **reached(of_method)}
            row[f"{MEASURES['edits']} less alone"] = ""
            if method != "single" and {"single", method} <= set(edits):
                row[f"{MEASURES['edits']} less alone"] = difference_text(
                    edits[method], edits["single"]
                )
            number = of_method["number"].dropna()
            yield {**row, "groups": f"{number.mean():.1f}" if len(number) else ""}


if __name__ == "__main__":
    study.main(__spec__.name)
