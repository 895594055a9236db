"""Tables and picture of the study of ways to choose the penalty."""

from benchmarks.defaults.ways import CHOSEN, WAYS
from benchmarks.drawing import axis_of_sizes, curves, panels
from benchmarks.related import CONTROL, FIVE
from benchmarks.summary import by_trial, difference_text, markdown, means_of, parts

SHOWN = ("BIC alone", "alone", "one structure", *WAYS)
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
