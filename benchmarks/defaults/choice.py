"""Methods for choosing the penalty, with the default score and sparsity.

Run `python -m benchmarks.defaults.choice` (several hours on two cores; `--trials 1` for a first
look). Compares the posterior, folds and fixed penalties on the five problems and the control, with
five tasks each; ALARM-COMP and INSURANCE have 250 to 16000 rows per task. All methods choose among
the same solutions. "alone" learns each task by itself with the same score and sparsity, "BIC alone"
with BIC; "one structure" learns a single graph for all tasks.
"""

from benchmarks import study
from benchmarks.by_default import LEARNERS, UP_TO_100
from benchmarks.defaults.ways import CHOSEN, WAYS, Path
from benchmarks.drawing import axis_of_sizes, mean_curves, panels
from benchmarks.related import CONTROL, FIVE, Related, mean_arcs, networks_of
from benchmarks.summary import by_trial, difference_text, markdown, means_of, parts
from benchmarks.thesis import methods
from bnmtl import BIC, BayesNet, SingleTaskLearner
from bnmtl.scores import CONCENTRATIONS

NAME = "choice"
SETTINGS = ("problem", "rows", "trial", "way")
N_TRIALS = 5
ROWS = {problem: (250, 1000) for problem in (*FIVE, CONTROL)}
ROWS["ALARM-COMP"] = ROWS["INSURANCE"] = (250, 500, 1000, 2000, 4000, 8000, 16000)
BASELINES = {
    "BIC alone": lambda seed: SingleTaskLearner(score=BIC(), random_state=seed),
    "alone": LEARNERS["alone, defaults"],
    "one structure": LEARNERS["one structure, defaults"],
}
FIXED = {"score": "MixedDirichlet", "expected_parents": 0.1, "concentrations": list(CONCENTRATIONS)}
EARLIER = {"concentrations": list(UP_TO_100)}


def previous_defaults(lines):
    """The defaults of earlier versions, from the lines of `methods`: BDeu, uniform prior, folds."""
    found = lines[lines["method"].eq("multitask folds") & lines["trial"].lt(N_TRIALS)]
    found = found[found["problem"].isin(ROWS)]
    return found.assign(way=BEFORE, rows=methods.N_ROWS)[[*SETTINGS, "edits", "kl"]]


BESIDE = (methods, previous_defaults)


def plan(quick, trials=None):
    """All cases, small ones first."""
    if quick:
        wanted = ["alone", "posterior"]
        return study.every(wanted, problem=["ASIA"], rows=[40], trial=[0])
    return study.every(
        lambda rows, problem, **_: [*WAYS, *BASELINES] if rows in ROWS[problem] else [],
        rows=sorted({n for sizes in ROWS.values() for n in sizes}),
        trial=range(trials or N_TRIALS),
        problem=ROWS,
    )


def measure(problem, rows, trial, wanted):
    """One line per method: means over the five tasks."""
    related = Related(networks_of(problem, trial), rows, trial)
    found = {}
    for way in set(wanted) & set(BASELINES):
        found[way] = line_of(related, BASELINES[way](trial).fit(related.tasks).configuration_)
    if set(wanted) - set(BASELINES):
        path = Path(LEARNERS["together, defaults"](trial), related.tasks)
        chosen = {way: path.chosen[way] for way in set(wanted) - set(BASELINES)}
        reached = {}
        for at in set(chosen.values()):
            line = line_of(related, related.graphs(path.solutions[at].matrices))
            reached[at] = {**line, "penalty": path.penalties[at]}
        seconds = {"seconds_of_path": path.seconds[0], "seconds_of_folds": path.seconds[1]}
        found.update({way: {**reached[at], **seconds} for way, at in chosen.items()})
    return {way: found[way] for way in wanted}


def line_of(related, graphs):
    """Distances of graphs to the truth, and the divergence of networks with default tables."""
    networks = {name: BayesNet.fit(graph, related.tasks[name]) for name, graph in graphs.items()}
    return {**related.line(graphs, networks), "arcs": mean_arcs(graphs)}


SHOWN = (*BASELINES, *WAYS)
BY_ROWS = ("ALARM-COMP", "INSURANCE")
# Compared with the default method, trial by trial.
BEFORE = "previous defaults"
COMPARED = (BEFORE, "alone", "posterior", "one-standard-error", "penalty 0.9", "penalty 0.99")


def tables(lines):
    """Edits and divergence by method and number of rows, and paired differences from folds."""
    return {
        "choice_edits": markdown(_by_problem(lines, "edits")),
        "choice_kl": markdown(_by_problem(lines, "kl")),
        "choice_rows": markdown(_by_rows(lines)),
        "choice_paired": markdown(_paired(lines)),
    }


def _by_problem(lines, measure):
    for case, group in parts(lines, rows=(250, 1000), problem=(*FIVE, CONTROL)):
        means = means_of(group, "way", measure, SHOWN, 2)
        yield {"problem": case["problem"], "rows": case["rows"], **means}


def _cases(lines, problems):
    """The first cells of a table row and the lines for each problem and number of rows."""
    for case, group in parts(lines, problem=problems, rows=sorted(set(lines["rows"]))):
        yield {**case, "trials": group["trial"].nunique()}, group


def _by_rows(lines):
    for row, group in _cases(lines, BY_ROWS):
        row |= means_of(group, "way", "edits", SHOWN)
        timed = group[group["way"].isin(CHOSEN)]
        if len(timed):
            folds, path = timed["seconds_of_folds"].mean(), timed["seconds_of_path"].mean()
            row["folds / path, time"] = f"{folds / path:.1f}"
        yield row


def _paired(lines):
    """Edits with folds minus those with another method, by problem and number of rows."""
    for row, group in _cases(lines, (*FIVE, CONTROL)):
        wide = by_trial(group, "way", "edits")
        if "cv" in wide:
            known = {way: wide[way] for way in COMPARED if way in wide}
            less = {way: difference_text(wide["cv"], other) for way, other in known.items()}
            yield row | dict.fromkeys(COMPARED, "") | less


def draw(lines):
    """Edits by number of rows, with one panel per problem and one curve per method."""

    def draw_problem(axes, _, problem):
        group = lines[lines["problem"] == problem]
        ways = ("BIC alone", "alone", *CHOSEN, "penalty 0.99")
        mean_curves(axes, group, "rows", "way", "edits", ways, errors=False)
        axis_of_sizes(axes, sorted(group["rows"].unique()), "rows a task")

    return panels(draw_problem, (5, 4), BY_ROWS, {"": "edits"}, legend="first")


if __name__ == "__main__":
    study.main(__spec__.name)
