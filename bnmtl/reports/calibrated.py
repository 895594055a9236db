"""One HTML page about calibrated scores: picture, measures, parameters."""

from bnmtl.calibration.verdict import DIGITS, verdict, window_of
from bnmtl.reports.page import bold, count, frame_table, image, number, table, write_page

MOST_TASKS = 7  # in the picture
_PARAMETERS = ("a", "b", "c", "temperature")
# What each kind of calibrator computes.
_KINDS = {
    "platt": "Platt's method: the probability is 1 / (1 + exp(a f + b)), where f is the {what}.",
    "beta": "Beta calibration: it is 1 / (1 + exp(&minus;a log p + b log(1 &minus; p) &minus; c)), "
    "where p is the score.",
    "temperature": "Temperature scaling: it is 1 / (1 + exp(&minus;f / t)), where f is the {what} "
    "and t the temperature.",
    "isotonic": "Isotonic regression only assumes that probabilities rise with scores; its {steps} "
    "can be found in run.json.",
    "platt_by_task": "Platt's method by task: each task has its own a and b, f is the {what}.",
}
_BEFORE = "The row “before” shows the scores as given. "
_WORDS = (
    "Cross-entropy: minus the natural logarithm of the probability of the true label, averaged "
    "over rows; probabilities closer to 0 or 1 than 1 / {least:,} count as that near. Root mean "
    "squared error: the root of the mean of (label &minus; probability)&sup2;, where labels are 1 "
    "or 0. Calibration error: the absolute difference between the mean probability and the share "
    "of positive rows, averaged over all windows of {window} that follow each other in the order "
    "of their probabilities; it is above 0 by chance alone. ROC area: how often a positive row has "
    "a higher value than a negative one; 0.5 is chance. An increasing sigmoid does not change it, "
    "but each part of the rows has a different one."
)


def write(path, record, measures, tasks, figure, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl calibrate`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    measures : pandas.DataFrame
        Quality of the probabilities, one row per method.
    tasks : collection of str
        The tasks of all rows; empty without tasks.
    figure : matplotlib.figure.Figure
        The reliability of each method.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    sections = [
        _measures_section(record, measures),
        _picture_section(record, measures, figure),
        _parameters_section(record, tasks),
    ]
    shown = record["warnings"], settings, times
    return write_page(path, "Calibrated scores", _lead(record), sections, *shown)


def _lead(record):
    n_unlabelled = record["rows"] - record["labelled"]
    rest = ""
    if n_unlabelled:
        verb = "is" if n_unlabelled == 1 else "are"
        rest = f" {count(n_unlabelled, 'row')} without a label {verb} calibrated by them."
    share = record["positive"] / record["labelled"]
    settings = record["settings"]
    known = settings["positive"] or "1, True, true or TRUE"
    positive = f"{settings['label']} = {known}"
    return (
        f"{count(record['labelled'], 'row')} with a label, {share:.1%} of them positive "
        f"({positive}).{rest} {verdict(record)}"
    )


def _measures_section(record, measures):
    best_values = {**measures.min(), "ROC area": measures["ROC area"].max()}
    cells = measures.map(lambda value: number(value, DIGITS))
    for name in cells:
        best = number(best_values[name], DIGITS)
        cells[name] = [bold(one) if one == best else one for one in cells[name]]
    n_labelled = record["labelled"]
    words = _WORDS.format(least=n_labelled + 2, window=count(window_of(n_labelled), "row"))
    before, n_folds = _BEFORE if "before" in measures.index else "", record["folds"]
    return (
        "<h2>How good the probabilities are</h2>\n"
        f"<p>{before}Each row with a label was calibrated by the other {n_folds - 1} of {n_folds} "
        "parts of them, so the numbers are as for new rows. The best of each column is in bold; "
        "smaller is better, except for the ROC area.</p>\n"
        f"{frame_table('method', cells)}\n"
        f"<p>{words}</p>"
    )


def _picture_section(record, measures, figure):
    methods = ", ".join(measures.index)
    rest = ""
    if len(record["tasks"]) > MOST_TASKS:
        rest = " Those of each task are in reliability.csv."
    return (
        "<h2>Are the probabilities calibrated?</h2>\n"
        "<p>If probabilities are calibrated, points lie on the diagonal. Points above it mean "
        "that probabilities are too low, points below it that they are too high. Bars are "
        "95 % intervals of the share of positives; histograms show the number of rows."
        f"{rest}</p>\n"
        f"{image(figure, f'Reliability: {methods}')}"
    )


def _parameters_section(record, tasks):
    """A table of the curves with parameters; the steps of isotonic regression are in run.json."""
    found, rows, words = record["calibrators"], [], {}
    for method, one in found.items():
        kind, title = one["calibrator"], record["titles"][method]
        words[kind] = _KINDS[kind].format(what=_what(one), steps=_n_steps(one))
        if kind == "platt_by_task":
            pairs = [(f"{title}: {name}", a, one["b"][name]) for name, a in one["a"].items()]
            rows += [_cells(name, {"a": a, "b": b}) for name, a, b in pairs]
            rows.append(_cells(f"{title}: all rows", one["pooled"]))
        elif kind != "isotonic":
            rows.append(_cells(title, one))
    unknown = set(tasks) - set(found.get("platt_by_task", {"a": tasks})["a"])
    rest = " Tasks without a label follow the sigmoid of all rows." if unknown else ""
    shown = table(["curve", *_PARAMETERS], rows, 1) if rows else ""
    least = f"1 / {record['labelled'] + 2:,}"
    return (
        f"<h2>What was fitted to all rows</h2>\n<p>{' '.join(words.values())}{rest} With this "
        f"number of rows, no probability is closer to 0 or 1 than {least}.</p>\n{shown}"
    )


def _cells(title, parameters):
    """A row of the table of parameters; those that a curve does not have are blank."""
    known = {name: number(parameters[name], DIGITS) for name in _PARAMETERS if name in parameters}
    return [title, *(known.get(name, "") for name in _PARAMETERS)]


def _what(calibrator):
    return "log odds of the score" if calibrator.get("scale") == "logit" else "score"


def _n_steps(calibrator):
    return count(len(set(calibrator.get("values", []))), "step")
