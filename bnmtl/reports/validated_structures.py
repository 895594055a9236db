"""One HTML page about structures that were judged: what they predict, and how stable they are."""

import numpy as np

from bnmtl.confidence.stability import SPARSE, interval_text
from bnmtl.reports.held_out import held_out_section
from bnmtl.reports.page import frame_table, image, number, table, write_page

_MOST_MISFITS = 20


def write(path, record, held_out, tables, figures, settings, times):
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
        "<h2>What the networks lack</h2>\n"
        "<p>Data of the same size were drawn from the networks. Listed are pairs of variables "
        "whose observed table is farther from the drawn ones than those are from each other (p "
        "below 0.05, corrected for the number of pairs), with the pair of values that differs "
        "most. misfits.csv has all pairs.</p>\n"
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
