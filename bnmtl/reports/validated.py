"""One HTML page about models that were judged: which is better, how sure that is, and why."""

from bnmtl.metrics.scoring import SMALLER_IS_BETTER
from bnmtl.reports.page import Html, frame_table, image, number, write_page
from bnmtl.validation.splits import sets_differ
from bnmtl.validation.tables import ALL

_DIGITS = 4
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
_WORDS = (
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


def write(path, record, tables, figures, settings, times):
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
    words = _WORDS + (_OF_BOOTSTRAPS if "out_of_bag_error" in set(overall["metric"]) else "")
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
        "<h2>How sure the differences are</h2>\n"
        "<p>The difference of the first and the second model, its 95 % interval, and p values: of "
        "the t-test over rounds, corrected for training sets that overlap; of McNemar's test, "
        "whether one is right more often where the other is wrong; of a test that exchanges the "
        "predictions of both at random. The t-test is about the learners: would other training "
        "cases show the difference, too? The other two are about the models that were fitted to "
        "these; two fitted models differ more often than the learners do, above all unstable ones "
        "such as trees. Below 0.05 a difference is hardly chance. The more pairs are compared, the "
        "more of them look so by chance. differences.csv has all metrics and tasks.</p>\n"
        f"{frame_table('models', cells)}"
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
        "<h2>What limits them</h2>\n"
        "<p>Bias is what a model gets wrong whatever rows of this number it learns from, noise "
        "included; variance is what changes from one set of training rows to another. More rows "
        "reduce variance, and the bias of networks with too few arcs. Where "
        "the usual prediction is wrong, variance makes some predictions right; that part is drawn "
        f"below 0.{rest}</p>\n"
        f"{picture}"
    )
