"""One HTML page about a selected ensemble: members, scores on unused cases, growth."""

from html import escape
from math import isnan

import pandas as pd

from bnmtl.ensembles.unused_cases import MEAN, RIVAL
from bnmtl.reports.page import bold, count, frame_table, image, number, write_page

_DIGITS = 4
_MOST_FAMILIES = 20
_AGAIN = (
    "The models with a weight and the best single model were trained again to predict them. The "
    "mean of all models is left out, because all of them would have to be trained."
)
_SAME = "Models with the same predictions count as one: {n} are different."


def write(path, record, scores, tasks, families, figures, settings, times):
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
        *([] if tasks is None else [_tasks_section(record, tasks)]),
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
        "<h2>How good the ensemble is</h2>\n"
        f"<p>Scores are {escape(record['metric'])}; {direction} is better, and the best of each "
        "column is in bold. The cases of selection are those on which the members, and the best "
        f"single model, were chosen, so both look too good on them. {unused}</p>\n"
        f"{frame_table('method', cells)}"
    )


def _tasks_section(record, tasks):
    rows = {}
    for task, scores in tasks.drop(columns="cases").iterrows():
        best = number(scores.min() if record["smaller_is_better"] else scores.max(), _DIGITS)
        cells = ["" if isnan(score) else number(score, _DIGITS) for score in scores]
        cells = [bold(one) if one == best else one for one in cells]
        rows[task] = [f"{tasks.loc[task, 'cases']:,}", *cells]
    cells = pd.DataFrame.from_dict(rows, "index", columns=list(tasks), dtype=object)
    return (
        "<h2>How good it is on each task</h2>\n"
        "<p>The same scores on the unused cases of each task, the best in bold. A few cases say "
        "little. A cell is empty where the metric needs cases of more classes.</p>\n"
        f"{frame_table('task', cells)}"
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
        "<h2>How it grew</h2>\n"
        "<p>In each step the model joins with which the mean of all members is best on the cases "
        f"of selection. The best prefix is kept, up to the dot.{several}{rest}</p>\n"
        f"{image(figure, 'Score by number of members')}"
    )


def _pruning_section(record, figure):
    share = number(100 * record["prune"], 0)
    return (
        "<h2>How many models are worth keeping</h2>\n"
        f"<p>The best {share} % of the models, by their own scores, may be selected: an ensemble "
        "of this share is best on average over five folds of the hill-climbing cases.</p>\n"
        f"{image(figure, 'Score by share of the models kept')}"
    )
