"""Pages about calibrated scores, rows to label, selected ensembles and judged models."""

from html import escape
from math import isnan

import numpy as np
import pandas as pd

from bnmtl.calibration.quality import DIGITS, verdict, window_of
from bnmtl.confidence.stability import SPARSE, interval_text
from bnmtl.ensembles.unused_cases import MEAN, RIVAL
from bnmtl.metrics.scoring import SMALLER_IS_BETTER
from bnmtl.reports.learned import held_out_section
from bnmtl.reports.page import Html, bold, count, frame_table, image, number, table, write_page
from bnmtl.validation.predicting import sets_differ
from bnmtl.validation.tables import ALL

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
_CALIBRATION_WORDS = (
    "Cross-entropy: minus the natural logarithm of the probability of the true label, averaged "
    "over rows; probabilities closer to 0 or 1 than 1 / {least:,} count as that near. Root mean "
    "squared error: the root of the mean of (label &minus; probability)&sup2;, where labels are 1 "
    "or 0. Calibration error: the absolute difference between the mean probability and the share "
    "of positive rows, averaged over all windows of {window} that follow each other in the order "
    "of their probabilities; it is above 0 by chance alone. ROC area: how often a positive row has "
    "a higher value than a negative one; 0.5 is chance. An increasing sigmoid does not change it, "
    "but each part of the rows has a different one."
)


def write_calibrated(path, record, measures, tasks, figure, settings, times):
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
        _quality_section(record, measures),
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


def _quality_section(record, measures):
    best_values = {**measures.min(), "ROC area": measures["ROC area"].max()}
    cells = measures.map(lambda value: number(value, DIGITS))
    for name in cells:
        best = number(best_values[name], DIGITS)
        cells[name] = [bold(one) if one == best else one for one in cells[name]]
    n_labelled = record["labelled"]
    words = _CALIBRATION_WORDS.format(
        least=n_labelled + 2, window=count(window_of(n_labelled), "row")
    )
    before, n_folds = _BEFORE if "before" in measures.index else "", record["folds"]
    return (
        f"<h2>How good the probabilities are</h2>\n<p>{before}Each row with a label was calibrated "
        f"by the other {n_folds - 1} of {n_folds} parts of them, so the numbers are as for new "
        "rows. The best of each column is in bold; smaller is better, except for the ROC "
        f"area.</p>\n{frame_table('method', cells)}\n<p>{words}</p>"
    )


def _picture_section(record, measures, figure):
    methods = ", ".join(measures.index)
    rest = ""
    if len(record["tasks"]) > MOST_TASKS:
        rest = " Those of each task are in reliability.csv."
    return (
        "<h2>Are the probabilities calibrated?</h2>\n<p>If probabilities are calibrated, points "
        "lie on the diagonal. Points above it mean that probabilities are too low, points below it "
        "that they are too high. Bars are 95 % intervals of the share of positives; histograms "
        f"show the number of rows.{rest}</p>\n{image(figure, f'Reliability: {methods}')}"
    )


def _parameters_section(record, tasks):
    """A table of the curves with parameters; the steps of isotonic regression are in run.json."""
    found, rows, words = record["calibrators"], [], {}
    for method, one in found.items():
        kind, title = one["calibrator"], record["titles"][method]
        words[kind] = _KINDS[kind].format(what=_what(one), steps=_n_steps(one))
        if kind == "platt_by_task":
            pairs = [(f"{title}: {name}", a, one["b"][name]) for name, a in one["a"].items()]
            rows += [_formula_cells(name, {"a": a, "b": b}) for name, a, b in pairs]
            rows.append(_formula_cells(f"{title}: all rows", one["pooled"]))
        elif kind != "isotonic":
            rows.append(_formula_cells(title, one))
    unknown = set(tasks) - set(found.get("platt_by_task", {"a": tasks})["a"])
    rest = " Tasks without a label follow the sigmoid of all rows." if unknown else ""
    shown = table(["curve", *_PARAMETERS], rows, 1) if rows else ""
    least = f"1 / {record['labelled'] + 2:,}"
    return (
        f"<h2>What was fitted to all rows</h2>\n<p>{' '.join(words.values())}{rest} With this "
        f"number of rows, no probability is closer to 0 or 1 than {least}.</p>\n{shown}"
    )


def _formula_cells(title, parameters):
    """A row of the table of parameters; those that a curve does not have are blank."""
    known = {name: number(parameters[name], DIGITS) for name in _PARAMETERS if name in parameters}
    return [title, *(known.get(name, "") for name in _PARAMETERS)]


def _what(calibrator):
    return "log odds of the score" if calibrator.get("scale") == "logit" else "score"


def _n_steps(calibrator):
    return count(len(set(calibrator.get("values", []))), "step")


_MOST_ROWS, _MOST_COLUMNS = 50, 6


def write_queried(path, record, queries, figures, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl query`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    queries : pandas.DataFrame
        The rows to label next.
    figures : dict of str to matplotlib.figure.Figure
        By file name.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    sections = [_rows_section(record, queries)]
    if "map.png" in figures:
        sections.append(_map_section(figures["map.png"]))
    sections.append(_error_section(record, figures))
    lead = " ".join(record["verdict"])
    return write_page(
        path, "Rows to label next", lead, sections, record["warnings"], settings, times
    )


def _rows_section(record, queries):
    shown = queries[:_MOST_ROWS]
    given = [name for name in shown if name not in _reserved(shown)]
    cells = shown[[*given[:_MOST_COLUMNS]]].astype(str)
    cells = cells.assign(
        predicted=shown["predicted"],
        probability=shown["probability"].map(lambda p: number(p, 2)),
        utility=shown["utility"].map(lambda one: number(one, 4)),
        reason=shown["reason"],
    )
    cells.index = shown["rank"]
    more = []
    if len(queries) > _MOST_ROWS:
        more.append(f"The page shows the first {_MOST_ROWS} of {len(queries)} rows.")
    if len(given) > _MOST_COLUMNS:
        more.append(f"It shows {_MOST_COLUMNS} of {len(given)} columns.")
    per_cost = " per cost" if record["settings"]["cost"] else ""
    return (
        f"<h2>Which rows</h2>\n<p>The strategy is {escape(record['strategy'])}. Larger "
        f"utilities{per_cost} are better; utilities.csv has those of all rows that could be asked "
        f"for, queries.csv all columns. {' '.join(more)}</p>\n{frame_table('rank', cells)}"
    )


def _reserved(queries):
    return list(queries.columns[-5:])


def _map_section(figure):
    return (
        "<h2>Where they are</h2>\n<p>Rows with a label are gray, the others have the color of "
        "their utility; circles with numbers are the rows to label "
        f"next.</p>\n{image(figure, 'Utilities over two columns')}"
    )


def _error_section(record, figures):
    text = escape(" ".join(record["verdict"][-2:]))
    picture = ""
    if record["strategy"] == "multitask":
        text += " The curve is that of a committee of two members, to save time."
    if "learning_curve.png" in figures:
        text += (
            " The curve shows the share of errors on rows that were held out, by the number of "
            "random labels, with 95 % intervals; the power law that continues it may be wrong."
        )
        picture = image(figures["learning_curve.png"], "Share of errors by number of labels")
    return f"<h2>What more labels are worth</h2>\n<p>{text}</p>\n{picture}"


_DIGITS = 4
_MOST_FAMILIES = 20
_AGAIN = (
    "The models with a weight and the best single model were trained again to predict them. The "
    "mean of all models is left out, because all of them would have to be trained."
)
_SAME = "Models with the same predictions count as one: {n} are different."


def write_selected(path, record, scores, tasks, families, figures, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl select`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    scores : pandas.DataFrame
        Scores on the cases of selection and on unused ones, one row per method; without the mean of
        all models if only some of them predict the unused cases. NaN is an empty cell.
    tasks : pandas.DataFrame or None
        The number of unused cases of each task and the scores on them; None without tasks.
    families : pandas.DataFrame
        Models, chosen models and weight by family.
    figures : dict of str to matplotlib.figure.Figure
        By file name.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    # Steps beyond the best prefixes have models that need not predict the test cases.
    is_monitored = record["unused_cases"]["part"] is not None and MEAN in scores.index
    sections = [
        _scores_section(record, scores),
        *([] if tasks is None else [_score_by_task_section(record, tasks)]),
        _families_section(record, families, figures["weights.png"]),
        _growth_section(record, figures["trajectory.png"], is_monitored),
    ]
    if "pruning.png" in figures:
        sections.append(_pruning_section(record, figures["pruning.png"]))
    lead = " ".join(record["verdict"])
    return write_page(
        path, "Selected ensemble", lead, sections, record["warnings"], settings, times
    )


def _scores_section(record, scores):
    cells = scores.map(lambda value: "" if isnan(value) else number(value, _DIGITS))
    best = scores.min() if record["smaller_is_better"] else scores.max()
    for name in cells:
        best_shown = number(best[name], _DIGITS)
        cells[name] = [bold(one) if one == best_shown else one for one in cells[name]]
    part = record["unused_cases"]["part"]
    if part is None:
        unused = (
            "Unused cases are folds of the hill-climbing cases: the whole selection and the choice "
            "of the best single model were repeated without each fold, and scored on it. These "
            "selections use fewer cases than the ensemble, so their scores are slightly too low. "
            f"The {RIVAL} of a fold is the one that is best on the other folds."
        )
    else:
        sizes = {task["name"]: task["rows"] for task in record["tasks"]}
        unused = f"Unused cases are the {count(sizes[part], 'case')} of the part {escape(part)}."
        if MEAN not in scores.index:
            unused += f" {_AGAIN}"
        else:
            unused += f" The {RIVAL} is the one that is best on the cases of selection."
    direction = "smaller" if record["smaller_is_better"] else "larger"
    return (
        f"<h2>How good the ensemble is</h2>\n<p>Scores are {escape(record['metric'])}; {direction} "
        "is better, and the best of each column is in bold. The cases of selection are those on "
        "which the members, and the best single model, were chosen, so both look too good on them. "
        f"{unused}</p>\n{frame_table('method', cells)}"
    )


def _score_by_task_section(record, tasks):
    rows = {}
    for task, scores in tasks.drop(columns="cases").iterrows():
        best = number(scores.min() if record["smaller_is_better"] else scores.max(), _DIGITS)
        cells = ["" if isnan(score) else number(score, _DIGITS) for score in scores]
        cells = [bold(one) if one == best else one for one in cells]
        rows[task] = [f"{tasks.loc[task, 'cases']:,}", *cells]
    cells = pd.DataFrame.from_dict(rows, "index", columns=list(tasks), dtype=object)
    return (
        "<h2>How good it is on each task</h2>\n<p>The same scores on the unused cases of each "
        "task, the best in bold. A few cases say little. A cell is empty where the metric needs "
        f"cases of more classes.</p>\n{frame_table('task', cells)}"
    )


def _families_section(record, families, figure):
    is_by_model = (families["models"] == 1).all()
    shown = families[families["weight"] > 0][:_MOST_FAMILIES]
    shares = shown["weight"].map(_percent)
    cells = shown.drop(columns="weight").astype(str).assign(weight=shares)
    cells = cells.drop(columns=["models", "chosen"] if is_by_model else [])
    n_chosen = int(families["chosen"].sum())
    same = _SAME.format(n=f"{record['different_models']:,}")
    same = "" if record["different_models"] == record["models"] else f" {same}"
    return (
        "<h2>Which models were chosen</h2>\n"
        f"<p>{n_chosen:,} of {count(record['models'], 'model')} have a weight.{same} The weight of "
        "a model is the share of the members that it has, averaged over bags. weights.csv lists "
        "all models.</p>\n"
        f"{image(figure, 'Weight of each family')}\n"
        f"{frame_table('model' if is_by_model else 'family', cells)}"
    )


def _percent(weight):
    return f"{number(100 * weight)} %" if weight >= 0.0005 else "below 0.1 %"


def _growth_section(record, figure, is_monitored):
    bags = record["settings"]["bags"]
    several = "" if bags == 1 else f" Each of {bags} bags is a line."
    rest = ""
    if is_monitored:
        rest = " Beside it are the same members on the test cases."
    return (
        "<h2>How it grew</h2>\n<p>In each step the model joins with which the mean of all members "
        "is best on the cases of selection. The best prefix is kept, up to the "
        f"dot.{several}{rest}</p>\n{image(figure, 'Score by number of members')}"
    )


def _pruning_section(record, figure):
    share = number(100 * record["prune"], 0)
    return (
        "<h2>How many models are worth keeping</h2>\n"
        f"<p>The best {share} % of the models, by their own scores, may be selected: an ensemble "
        "of this share is best on average over five folds of the hill-climbing cases.</p>\n"
        f"{image(figure, 'Score by share of the models kept')}"
    )


_LEAST_P = 0.001
_TITLES = {
    "squared_error": "squared error",
    "cross_entropy": "cross-entropy",
    "lift_chart_area": "lift chart area",
    "roc_area": "ROC area",
    "out_of_bag_error": "out-of-bag error",
    "error_632": ".632 error",
    "error_632_plus": ".632+ error",
}
_SMALLER = {*SMALLER_IS_BETTER, "out_of_bag_error", "error_632", "error_632_plus"}
_METRIC_WORDS = (
    "Accuracy: the share of rows that are predicted right. Squared error: of the probabilities, "
    "summed over classes. Cross-entropy: minus the natural logarithm of the probability of the "
    "true label; a probability of 0 counts as one of 2e-16, which makes ensembles of trees without "
    "smoothing look bad. Lift chart area and ROC area: how well probabilities rank the rows."
)
_OF_BOOTSTRAPS = (
    " Out-of-bag error: the share of errors on rows that a bootstrap lacks, with an interval over "
    "rows; it is too high, because a bootstrap has fewer different rows than the table, and the "
    ".632 and .632+ errors correct this."
)


def write_validated(path, record, tables, figures, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl validate`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    tables, figures : dict of str to pandas.DataFrame, of str to matplotlib.figure.Figure
        By file name.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    measures = tables["measures.csv"]
    sections = [
        _measures_section(measures, figures),
        _tasks_section(measures),
        _differences_section(tables["differences.csv"]),
        _parts_section(record["plan"], figures),
    ]
    lead = " ".join(record["verdict"])
    return write_page(path, "Judged models", lead, sections, record["warnings"], settings, times)


def _measures_section(measures, figures):
    overall = measures[measures["task"] == ALL]
    cells = _cells(overall, "metric")
    words = _METRIC_WORDS + (_OF_BOOTSTRAPS if "out_of_bag_error" in set(overall["metric"]) else "")
    pictures = "".join(
        image(figures[name], f"{title} by round")
        for name, title in (("accuracy.png", "Accuracy"), ("squared_error.png", "Squared error"))
    )
    return (
        "<h2>How good the models are</h2>\n"
        "<p>Means over all predictions, or over rounds (areas), with 95 % intervals that take into "
        "account that training sets overlap. The best of each column is in bold. The model “class "
        "shares” knows how frequent the labels are (in the row's task) and nothing else.</p>\n"
        f"{frame_table('model', cells)}\n<p>{words}</p>\n"
        f'<div class="panels">{pictures}</div>'
    )


def _cells(measures, columns):
    """A table of values with intervals by model; the best of each column in bold."""
    wide = measures.pivot(index="model", columns=columns, values=["value", "low", "high"])
    models = measures["model"].unique()
    names = list(dict.fromkeys(measures[columns]))
    metric = measures["metric"].iloc[0] if columns != "metric" else None
    cells = wide["value"].loc[models, names].astype(object)
    for name in names:
        values = wide["value"][name]
        is_small = (name if metric is None else metric) in _SMALLER
        best = values.min() if is_small else values.max()
        for model in models:
            value, low, high = (wide[part].loc[model, name] for part in ("value", "low", "high"))
            text = number(value, _DIGITS) if value == value else ""
            text = f"<b>{text}</b>" if value == best else text
            if low == low:
                span = f"{number(low, _DIGITS)} to {number(high, _DIGITS)}"
                text += f'<br><span class="share">{span}</span>'
            cells.loc[model, name] = Html(text)
    return cells.rename(columns=_TITLES) if columns == "metric" else cells


def _tasks_section(measures):
    of_tasks = measures[measures["task"] != ALL]
    if of_tasks.empty:
        return ""
    parts = []
    for name, title in (("accuracy", "Accuracy"), ("squared_error", "Squared error")):
        cells = _cells(of_tasks[of_tasks["metric"] == name], "task")
        parts.append(f"<p>{title}:</p>\n{frame_table('model', cells)}")
    return "<h2>By task</h2>\n" + "\n".join(parts)


def _differences_section(differences):
    shown = differences[
        (differences["task"] == ALL) & differences["metric"].isin(["accuracy", "squared_error"])
    ]
    if shown.empty:
        return ""
    names = shown["first"] + " against " + shown["second"]
    cells = shown[["metric", "difference", "low", "high"]].copy()
    cells["metric"] = cells["metric"].replace(_TITLES)
    for name in ("difference", "low", "high"):
        cells[name] = [number(one, _DIGITS) if one == one else "" for one in cells[name]]
    titles = {"p_corrected": "t-test", "p_mcnemar": "McNemar", "p_randomization": "randomization"}
    for name, title in titles.items():
        cells[f"p, {title}"] = [_p(one) for one in shown[name]]
    cells.index = names
    return (
        "<h2>How sure the differences are</h2>\n<p>The difference of the first and the second "
        "model, its 95 % interval, and p values: of the t-test over rounds, corrected for training "
        "sets that overlap; of McNemar's test, whether one is right more often where the other is "
        "wrong; of a test that exchanges the predictions of both at random. The t-test is about "
        "the learners: would other training cases show the difference, too? The other two are "
        "about the models that were fitted to these; two fitted models differ more often than the "
        "learners do, above all unstable ones such as trees. Below 0.05 a difference is hardly "
        "chance. The more pairs are compared, the more of them look so by chance. differences.csv "
        f"has all metrics and tasks.</p>\n{frame_table('models', cells)}"
    )


def _p(value):
    if value != value:
        return ""
    return f"below {_LEAST_P:g}" if value < _LEAST_P else number(value, 3)


def _parts_section(plan, figures):
    if "bias_variance.png" not in figures:
        return ""
    picture = image(figures["bias_variance.png"], "Bias and variance of each model")
    rest = ""
    if not sets_differ(plan["scheme"], plan.get("test_size"), plan.get("folds")):
        rest = (
            " The training sets of different rounds have most rows in common, so the variance of "
            "independent ones is larger."
        )
    return (
        "<h2>What limits them</h2>\n<p>Bias is what a model gets wrong whatever rows of this "
        "number it learns from, noise included; variance is what changes from one set of training "
        "rows to another. More rows reduce variance, and the bias of networks with too few arcs. "
        "Where the usual prediction is wrong, variance makes some predictions right; that part is "
        f"drawn below 0.{rest}</p>\n{picture}"
    )


_MOST_MISFITS = 20


def write_structures(path, record, held_out, tables, figures, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl validate` without labels.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    held_out : dict
        By `bnmtl.learners.verdict.held_out_record`.
    tables, figures : dict of str to pandas.DataFrame, of str to matplotlib.figure.Figure
        By file name.
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
        held_out_section(held_out),
        _stability_section(tables["stability.csv"], figures),
        _misfits_section(tables["misfits.csv"]),
    ]
    lead = " ".join(record["verdict"])
    shown = record["warnings"], settings, times
    return write_page(path, "Judged structures", lead, sections, *shown)


def _stability_section(stability, figures):
    cells = []
    for _, row in stability.iterrows():
        spans = [
            ("all possible" if row["n_arcs"] else "no arcs")
            if np.isnan(row[kind])
            else interval_text(row, kind)
            for kind in ("edges", "arcs")
        ]
        names = row["learner"], row["task"]
        cells.append([*names, *spans, number(row["n_arcs"], 1), number(row["shd"], 1)])
    sparse = ""
    if SPARSE in set(stability["learner"]):
        sparse = (
            f" “{SPARSE}” is each task alone with about as many arcs as together, because the "
            "number of arcs matters for stability."
        )
    titles = ["learned", "task", "stability of edges", "of arcs", "arcs", "expected SHD"]
    return (
        "<h2>How stable they are</h2>\n"
        "<p>Networks were learned from other draws of the rows. A stability of 1 means that all "
        "have the same edges (or arcs, with directions), one of 0 that they agree like random "
        "ones; intervals of 95 % are those of more replicates of these rows. Expected SHD: in how "
        f"many pairs of variables the equivalence classes of two of them differ.{sparse}</p>\n"
        f"{table(titles, cells, 2)}\n"
        "<p>The networks of all rows; arcs are as wide as they are stable:</p>\n"
        f"{image(figures['arc_stability.png'], 'Networks with the stability of arcs', wide=True)}"
    )


def _misfits_section(misfits):
    shown = misfits[misfits["p_corrected"] < 0.05][:_MOST_MISFITS]
    words = (
        "<h2>What the networks lack</h2>\n<p>Data of the same size were drawn from the networks. "
        "Listed are pairs of variables whose observed table is farther from the drawn ones than "
        "those are from each other (p below 0.05, corrected for the number of pairs), with the "
        "pair of values that differs most. misfits.csv has all pairs.</p>\n"
    )
    if shown.empty:
        return f"{words}<p>There is none.</p>"
    cells = shown[["first", "second"]].astype(str)
    cells["values"] = shown["first_value"] + ", " + shown["second_value"]
    cells["observed"] = [f"{100 * one:.1f} %" for one in shown["frequency"]]
    cells["drawn"] = [f"{100 * one:.1f} %" for one in shown["drawn_frequency"]]
    cells["p"] = [number(one, 4) for one in shown["p_corrected"]]
    cells.index = shown["task"]
    return words + frame_table("task", cells)
