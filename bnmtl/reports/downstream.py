"""Pages about calibrated scores, rows to label, selected ensembles and judged models."""

import numpy as np
import pandas as pd

from bnmtl.calibration.quality import DIGITS, verdict, window_of
from bnmtl.confidence.stability import SPARSE, interval_text
from bnmtl.ensembles.unused_cases import MEAN, RIVAL
from bnmtl.metrics.scoring import SMALLER_IS_BETTER
from bnmtl.reports.learned import held_out_table
from bnmtl.reports.page import Cell, cells_of, number, write_page
from bnmtl.validation.predicting import sets_differ
from bnmtl.validation.tables import ALL

MOST_TASKS = 7  # in the picture
_PARAMETERS = ("a", "b", "c", "temperature")


def write_calibrated(path, record, measures, tasks, figures, settings, times):
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
    figures : dict of str to matplotlib.figure.Figure
        By file name; None if it could not be drawn.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    cells = {name: cells_of(measures[name], name != "ROC area", DIGITS) for name in measures}
    found = record["calibrators"]
    with_sigmoid = found.get("platt_by_task", {"a": tasks})["a"]
    return write_page(
        path,
        "calibrated.html",
        record,
        settings,
        times,
        verdict=verdict(record),
        measures=pd.DataFrame(cells, measures.index),
        window=window_of(record["labelled"]),
        figure=figures["reliability.png"],
        has_more_tasks=len(record["tasks"]) > MOST_TASKS,
        calibrators={fitted["calibrator"]: fitted for fitted in found.values()},
        header=["curve", *_PARAMETERS],
        curves=list(_curves(found, record["titles"])),
        has_tasks_without_label=not set(tasks) <= set(with_sigmoid),
    )


def _curves(calibrators, titles):
    """Yield a row of the table of parameters for each curve that has some."""
    for method, fitted in calibrators.items():
        title = titles[method]
        if fitted["calibrator"] == "platt_by_task":
            for task, a in fitted["a"].items():
                yield _curve(f"{title}: {task}", {"a": a, "b": fitted["b"][task]})
            yield _curve(f"{title}: all rows", fitted["pooled"])
        elif fitted["calibrator"] != "isotonic":
            yield _curve(title, fitted)


def _curve(title, parameters):
    """A row of the table of parameters; those that a curve does not have are blank."""
    return [title, *(number(parameters.get(name, np.nan), DIGITS) for name in _PARAMETERS)]


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
        By file name; None if it could not be drawn.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    shown, given = queries[:_MOST_ROWS], list(queries.columns[:-5])
    cells = shown[given[:_MOST_COLUMNS]].astype(str)
    cells = cells.assign(
        predicted=shown["predicted"],
        probability=shown["probability"].map(lambda value: number(value, 2)),
        utility=shown["utility"].map(lambda value: number(value, 4)),
        reason=shown["reason"],
    )
    return write_page(
        path,
        "queried.html",
        record,
        settings,
        times,
        cells=cells.set_axis(shown["rank"]),
        n_rows=len(queries),
        most_rows=_MOST_ROWS,
        n_columns=len(given),
        most_columns=_MOST_COLUMNS,
        figures=figures,
    )


_DIGITS = 4
_MOST_FAMILIES = 20


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
        By file name; None if it could not be drawn.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    is_small = record["smaller_is_better"]
    cells = {name: cells_of(scores[name], is_small, _DIGITS) for name in scores}
    return write_page(
        path,
        "selected.html",
        record,
        settings,
        times,
        scores=pd.DataFrame(cells, scores.index),
        rival=RIVAL,
        has_mean=MEAN in scores.index,
        tasks=None if tasks is None else _scores_by_task(tasks, is_small),
        n_chosen=int(families["chosen"].sum()),
        families=_families(families),
        figures=figures,
    )


def _scores_by_task(tasks, is_small):
    """The number of cases of each task and the scores on them, the best in bold."""
    scores = tasks.drop(columns="cases")
    rows = [
        [task, f"{n_cases:,}", *cells_of(values, is_small, _DIGITS)]
        for n_cases, (task, values) in zip(tasks["cases"], scores.iterrows(), strict=True)
    ]
    return {"header": ["task", "cases", *scores], "rows": rows}


def _families(families):
    """The families, or models if each is a family, that have a weight."""
    is_by_model = (families["models"] == 1).all()
    shown = families[families["weight"] > 0][:_MOST_FAMILIES]
    cells = shown.drop(columns=["weight", *(["models", "chosen"] if is_by_model else [])])
    weights = [
        f"{number(100 * weight)} %" if weight >= 0.0005 else "below 0.1 %"
        for weight in shown["weight"]
    ]
    cells = cells.astype(str).assign(weight=weights)
    return {"corner": "model" if is_by_model else "family", "cells": cells}


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


def write_validated(path, record, tables, figures, settings, times):
    """Write a self-contained HTML page about the results of `bnmtl validate`.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    record : dict
        The contents of run.json.
    tables, figures : dict of str to pandas.DataFrame, of str to matplotlib.figure.Figure
        By file name; a figure that could not be drawn is None.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    measures, plan = tables["measures.csv"], record["plan"]
    overall = measures[measures["task"] == ALL]
    by_task = measures[measures["task"] != ALL]
    of_tasks = {
        title: _by_model(by_task[by_task["metric"] == name], "task")
        for name, title in (("accuracy", "Accuracy"), ("squared_error", "Squared error"))
        if not by_task.empty
    }
    return write_page(
        path,
        "validated.html",
        record,
        settings,
        times,
        overall=_by_model(overall, "metric"),
        has_bootstraps="out_of_bag_error" in set(overall["metric"]),
        of_tasks=of_tasks,
        differences=_differences(tables["differences.csv"]),
        sets_differ=sets_differ(plan["scheme"], plan.get("test_size"), plan.get("folds")),
        figures=figures,
    )


def _by_model(measures, columns):
    """A table of values with intervals, one row per model; the best of each column in bold."""
    wide = measures.pivot(index="model", columns=columns, values=["value", "low", "high"])
    names, best = list(dict.fromkeys(measures[columns])), {}
    for name in names:
        is_small = (name if columns == "metric" else measures["metric"].iloc[0]) in _SMALLER
        best[name] = wide["value", name].min() if is_small else wide["value", name].max()
    rows = []
    for model in measures["model"].unique():
        row = [model]
        for name in names:
            value, low, high = (wide.loc[model, (part, name)] for part in ("value", "low", "high"))
            ends = [number(low, _DIGITS), number(high, _DIGITS)]
            interval = " to ".join(ends) if low == low else ""
            row.append(Cell(number(value, _DIGITS), value == best[name], interval))
        rows.append(row)
    titles = _TITLES if columns == "metric" else {}
    return {"header": ["model", *(titles.get(name, name) for name in names)], "rows": rows}


def _differences(differences):
    """A table of the differences of pairs of models over all tasks; None without pairs."""
    shown = differences[
        (differences["task"] == ALL) & differences["metric"].isin(["accuracy", "squared_error"])
    ]
    if shown.empty:
        return None
    cells = shown[["metric"]].replace(_TITLES)
    for name in ("difference", "low", "high"):
        cells[name] = [number(value, _DIGITS) for value in shown[name]]
    titles = {"p_corrected": "t-test", "p_mcnemar": "McNemar", "p_randomization": "randomization"}
    for name, title in titles.items():
        cells[f"p, {title}"] = list(map(_p, shown[name]))
    return cells.set_axis(shown["first"] + " against " + shown["second"])


def _p(value):
    return f"below {_LEAST_P:g}" if value < _LEAST_P else number(value, 3)


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
        By `bnmtl.learners.comparison.held_out_record`.
    tables, figures : dict of str to pandas.DataFrame, of str to matplotlib.figure.Figure
        By file name; a figure that could not be drawn is None.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    return write_page(
        path,
        "structures.html",
        record,
        settings,
        times,
        held_out=held_out_table(held_out),
        stability=_stability(tables["stability.csv"]),
        sparse=SPARSE if SPARSE in set(tables["stability.csv"]["learner"]) else "",
        figure=figures["arc_stability.png"],
        misfits=_misfits(tables["misfits.csv"]),
    )


def _stability(stability):
    rows = []
    for _, row in stability.iterrows():
        spans = [
            ("all possible" if row["n_arcs"] else "no arcs")
            if np.isnan(row[kind])
            else interval_text(row, kind)
            for kind in ("edges", "arcs")
        ]
        names = row["learner"], row["task"]
        rows.append([*names, *spans, number(row["n_arcs"]), number(row["shd"])])
    titles = ["learned", "task", "stability of edges", "of arcs", "arcs", "expected SHD"]
    return {"header": titles, "rows": rows}


def _misfits(misfits):
    """Pairs of variables that the networks do not explain; None without one."""
    shown = misfits[misfits["p_corrected"] < 0.05][:_MOST_MISFITS]
    if shown.empty:
        return None
    cells = shown[["first", "second"]].astype(str)
    cells["values"] = shown["first_value"] + ", " + shown["second_value"]
    cells["observed"] = [f"{100 * share:.1f} %" for share in shown["frequency"]]
    cells["drawn"] = [f"{100 * share:.1f} %" for share in shown["drawn_frequency"]]
    cells["p"] = [number(p, 4) for p in shown["p_corrected"]]
    return cells.set_axis(shown["task"])
