"""Tables of the speed study."""

import pandas as pd

from benchmarks.summary import markdown

# Columns of tables with one row per line.
CASE = {"network": "{network}", "rows": "{rows:,}"}
CLIMBS = {
    **CASE,
    "bnmtl (ms)": "{ours_ms:.3g}",
    "pyAgrum (ms)": "{pyAgrum_ms:.3g}",
    "times faster": "{ratio:.1f}",
    "score above pyAgrum's": "{score_gain:+.0f} ± {score_gain_error:.0f}",
    "µs per family": "{microseconds_per_family:.2f}",
    "µs per histogram": "{microseconds_per_histogram:.2f}",
    "samples": "{replicates:.0f}",
}
RESTARTS = {
    **CASE,
    "pyAgrum, one climb (ms)": "{pyAgrum_ms:.3g}",
    "100 restarts, tabu (ms)": "{restarts_ms:.3g}",
    "in climbs of pyAgrum": "{restarts_to_pyAgrum:.1f}",
    "orders (ms)": "{orders_ms:.3g}",
    "orders in climbs of pyAgrum": "{orders_to_pyAgrum:.1f}",
    "mean score: pyAgrum tabu / restarts / orders": (
        "{pyAgrum_tabu_score:.0f} / {restarts_score:.0f} / {orders_score:.0f}"
    ),
}
FITS = {
    **CASE,
    "pyAgrum (ms)": "{pyAgrum_ms:.3g}",
    "hill climbing (ms)": "{climb_ms:.3g}",
    "times faster": "{ratio:.1f}",
    "default score, times faster": "{default_score_ratio:.1f}",
    "orders (ms)": "{orders_ms:.3g}",
}

DEFAULT_FITS = {
    "tasks": "{network}",
    "rows of each": "{rows:,}",
    "default (s)": "{default:.3g}",
    "tables of their own (s)": "{own:.3g}",
    "the same, penalty by ten folds (s)": "{folds:.3g}",
    "the same by BDeu (s)": "{bdeu:.3g}",
    "default / own tables": "{own_ratio:.2f}",
    "default / ten folds": "{folds_ratio:.2f}",
}

FAMILIES = {
    "five tasks": "{network}",
    "rows of each": "{rows:,}",
    "families": "{families:.0f}",
    "separate tables (ms)": "{separate_ms:.3g}",
    "shared tables (ms)": "{together_ms:.3g}",
    "shared / separate": "{ratio:.1f}",
    "largest of five samples": "{largest_ratio:.1f}",
}

# Studies with a single line.
SINGLE = ("pgmpy", "threads", "start", "predict")
# Table -> study, columns.
FORMS = {
    "climbs": ("climb", CLIMBS),
    "restarts": ("restarts", RESTARTS),
    "fits": ("fit", FITS),
    "default_fits": ("default", DEFAULT_FITS),
    "families": ("families", FAMILIES),
}


def tables(lines):
    """All tables for which there are lines."""
    made = {}
    for name, (study, columns) in FORMS.items():
        group = lines[lines["study"] == study]
        if len(group):
            made[name] = markdown(filled(group, columns))
    if set(SINGLE) <= set(lines["study"]):
        made["once"] = markdown(once(lines))
    return made


def filled(lines, columns):
    """One row per line, with cells in the format of the column; ``x_ms`` is 1000 ``x``."""
    for line in lines.to_dict("records"):
        scaled = {f"{key}_ms": 1000 * x for key, x in line.items() if isinstance(x, float)}
        yield {name: form.format(**line, **scaled) for name, form in columns.items()}


def once(lines):
    """The table of the studies with a single line."""
    lines = lines.set_index("study")
    pgmpy, threads, start, predict = (lines.loc[study] for study in SINGLE)
    rows = [
        ("hill climbing on ALARM, 1000 rows: times faster than pgmpy", f"{pgmpy.ratio:.0f}"),
        (
            "five ALARM tasks, 1000 rows, n_jobs=1 / n_jobs=2 (s)",
            f"{threads.one:.2f} / {threads.two:.2f}",
        ),
        ("first call: compiling all kernels (s)", f"{start.first_call:.1f}"),
        ("functions compiled then", f"{start.compiled:.0f}"),
        ("share of LLVM in that time", f"{start.llvm_share:.0%}"),
        ("the same calls in a second process (s)", f"{start.second_process:.2f}"),
        (
            "100,000 rows of ALARM classified, text in: times faster than pyAgrum's classifier, "
            "median and least of five variables",
            f"{predict.ratio:.0f}, {predict.least_ratio:.0f}",
        ),
        ("`import bnmtl` / numpy, pandas, networkx and numba", f"{start.import_ratio:.2f}"),
        ("the same with the learners / the four", f"{start.learners_ratio:.2f}"),
    ]
    return pd.DataFrame(rows, columns=["what", "measured"])
