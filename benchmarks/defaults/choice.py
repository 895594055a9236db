"""Ways of choosing the penalty with the default score and sparsity: posterior, folds, none.

Run `python -m benchmarks.defaults.choice` (several hours on two cores; `--trials 1` for a first
look). Five tasks of the five problems and of the control, ALARM-COMP and INSURANCE from 250 to
16000 rows. Every way chooses among the same solutions. "alone" is each task by itself, with the
same score and sparsity, and "BIC alone" with BIC; "one structure" is the same graph for all tasks;
"penalty 0.99" and the like choose nothing.
"""

from benchmarks import study
from benchmarks.defaults.ways import CHOSEN, WAYS, Path
from benchmarks.drawing import axis_of_sizes, curves, panels
from benchmarks.related import CONTROL, FIVE, Related, mean_arcs, networks_of
from benchmarks.summary import by_trial, difference_text, markdown, means_of, parts
from benchmarks.thesis import methods
from bnmtl import (
    BIC,
    BayesNet,
    IdenticalLearner,
    MixedDirichlet,
    MultitaskLearnerCV,
    SingleTaskLearner,
)
from bnmtl.scores import CONCENTRATIONS

NAME = "choice"
SETTINGS = ("problem", "rows", "trial", "way")
N_TRIALS = 5
ROWS = {problem: (250, 1000) for problem in (*FIVE, CONTROL)}
ROWS["ALARM-COMP"] = ROWS["INSURANCE"] = (250, 500, 1000, 2000, 4000, 8000, 16000)
APART = ("BIC alone", "alone", "one structure")
FIXED = {
    "score": "MixedDirichlet",
    "expected_parents": 0.1,
    "concentrations": list(CONCENTRATIONS),
}


def of_before(lines):
    """The defaults of earlier versions, from the lines of `methods`: BDeu, uniform prior, folds."""
    own = lines[lines["method"].eq("multitask folds") & lines["trial"].lt(N_TRIALS)]
    own = own[own["problem"].isin(ROWS)]
    return own.assign(way=BEFORE, rows=methods.N_ROWS)[[*SETTINGS, "edits", "kl"]]


BESIDE = (methods, of_before)


def plan(quick, trials=None):
    """All cases, the smaller ones first."""
    if quick:
        wanted = ["alone", "posterior", "cv"]
        return study.every(wanted, problem=["INSURANCE"], rows=[250], trial=[0])
    every = study.every(
        [*WAYS, *APART],
        rows=sorted({n for own in ROWS.values() for n in own}),
        trial=range(trials or N_TRIALS),
        problem=ROWS,
    )
    return [case for case in every if case["rows"] in ROWS[case["problem"]]]


def measure(problem, rows, trial, wanted):
    """A line a way: means over the five tasks."""
    related = Related(networks_of(problem, trial), rows, trial)
    found = {}
    for way in set(wanted) & set(APART):
        found[way] = line_of(related, _apart(way, trial).fit(related.tasks).configuration_)
    if set(wanted) - set(APART):
        learner = MultitaskLearnerCV(score=MixedDirichlet(), table_sharing=None, random_state=trial)
        path = Path(learner, related.tasks)
        chosen = {way: path.chosen[way] for way in set(wanted) - set(APART)}
        reached = {}
        for at in set(chosen.values()):
            line = line_of(related, related.graphs(path.solutions[at].matrices))
            reached[at] = {**line, "penalty": path.penalties[at]}
        seconds = {"seconds_of_path": path.seconds[0], "seconds_of_folds": path.seconds[1]}
        found.update({way: {**reached[at], **seconds} for way, at in chosen.items()})
    return {way: found[way] for way in wanted}


def _apart(way, trial):
    if way == "one structure":
        return IdenticalLearner(score=MixedDirichlet(), table_sharing=None, random_state=trial)
    score = BIC() if way == "BIC alone" else MixedDirichlet()
    return SingleTaskLearner(score=score, random_state=trial)


def line_of(related, graphs):
    """How near graphs are to the truth, with the divergence of networks with default tables."""
    networks = {name: BayesNet.fit(graph, related.tasks[name]) for name, graph in graphs.items()}
    return {**related.line(graphs, networks), "arcs": mean_arcs(graphs)}


SHOWN = (*APART, *WAYS)
BY_ROWS = ("ALARM-COMP", "INSURANCE")
# With what the default way of choosing is compared, trial by trial.
BEFORE = "defaults of before"
RIVALS = (BEFORE, "alone", "posterior", "one-standard-error", "penalty 0.9", "penalty 0.99")


def tables(lines):
    """Edits and divergence by way, with few and many rows, and what folds gain trial by trial."""
    return {
        "choice_edits": markdown(_by_problem(lines, "edits")),
        "choice_kl": markdown(_by_problem(lines, "kl")),
        "choice_rows": markdown(_by_rows(lines)),
        "choice_paired": markdown(_paired(lines)),
    }


def _by_problem(lines, measure):
    for case, own in parts(lines, rows=(250, 1000), problem=(*FIVE, CONTROL)):
        means = means_of(own, "way", measure, SHOWN, 2)
        yield {"problem": case["problem"], "rows": case["rows"], **means}


def _cases(lines, problems):
    """The lines of every problem and number of rows, and the beginning of its row of a table."""
    for case, own in parts(lines, problem=problems, rows=sorted(set(lines["rows"]))):
        yield {**case, "trials": own["trial"].nunique()}, own


def _by_rows(lines):
    for row, own in _cases(lines, BY_ROWS):
        row |= means_of(own, "way", "edits", SHOWN)
        took = own[own["way"].isin(CHOSEN)]
        if len(took):
            folds, path = took["seconds_of_folds"].mean(), took["seconds_of_path"].mean()
            row["folds / path, time"] = f"{folds / path:.1f}"
        yield row


def _paired(lines):
    """Edits that folds leave less those of another way, for each problem and number of rows."""
    for row, own in _cases(lines, (*FIVE, CONTROL)):
        wide = by_trial(own, "way", "edits")
        if "cv" in wide:
            known = {way: wide[way] for way in RIVALS if way in wide}
            less = {way: difference_text(wide["cv"], other) for way, other in known.items()}
            yield row | dict.fromkeys(RIVALS, "") | less


def draw(lines):
    """Edits by the number of rows, a panel a problem, a line a way."""
    figure, grid = panels(1, len(BY_ROWS), (10, 4))
    for axes, problem in zip(grid[0], BY_ROWS, strict=True):
        own = lines[lines["problem"] == problem]
        ways = ("BIC alone", "alone", *CHOSEN, "penalty 0.99")
        curves(axes, own, "rows", "edits", "way", ways, errors=False)
        axis_of_sizes(axes, sorted(own["rows"].unique()), "rows a task")
        axes.set(title=problem, ylabel="edits")
    grid[0, 0].legend(fontsize=8)
    return figure


if __name__ == "__main__":
    study.main(__spec__.name)
