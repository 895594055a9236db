"""The tables of all READMEs and docs, made from the lines in benchmarks/results.

`python -m benchmarks.tables` writes them in, each between the comments that name it.
"""

import argparse
import importlib
import re
from functools import cache
from pathlib import Path

import pandas as pd

from benchmarks import overview, study
from benchmarks.defaults import sachs
from benchmarks.record import Results
from benchmarks.search import joint
from benchmarks.speed import growth
from benchmarks.summary import markdown

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md", *sorted(FOLDER.glob("*/README.md")))
# Tried once a sample, for the best known score only.
ONCE = ("from the truth", "30 orders")
SEEDS_PER_SAMPLE = 4
# Networks and rows of the single-task study.
CASES = [
    *((name, n_rows) for name in ("alarm", "insurance") for n_rows in (250, 1000, 5000, 10000)),
    *((name, 1000) for name in ("asia", "sachs")),
    *(
        (name, n_rows)
        for name in ("child", "hailfinder", "hepar2", "win95pts", "andes")
        for n_rows in (1000, 5000)
    ),
]
# Columns of the tables of the single-task study: searches for the best BDeu, and graphs that are
# learned otherwise.
SEARCHES = (
    "hill climbing",
    "100 restarts, tabu",
    "orders",
    "exact",
    "pyAgrum",
    "pyAgrum tabu",
    "pgmpy",
)
OTHERWISE = ("orders, BIC", "pyAgrum BIC", "pyAgrum K2", "pyAgrum MIIC")
# Titles of the top README -> variants.
COMPARED = {
    "bnmtl BDeu": "orders",
    "bnmtl BIC": "orders, BIC",
    **{name: name for name in OTHERWISE[1:]},
    "pyAgrum BDeu": "pyAgrum tabu",
}


def lines_of(name):
    """All lines of one file of results."""
    return pd.DataFrame(Results(name, ()).lines)


# Columns of the tables that have a row per line of the speed study.
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


def speed(study, columns):
    """A row per line of a study, each cell made by the column's format; ``x_ms`` is 1000 ``x``."""
    lines = lines_of("speed")
    rows = []
    for line in lines[lines["study"] == study].to_dict("records"):
        scaled = {f"{key}_ms": 1000 * x for key, x in line.items() if isinstance(x, float)}
        rows.append({name: form.format(**line, **scaled) for name, form in columns.items()})
    return pd.DataFrame(rows)


def once():
    """The measurements of a single number."""
    lines = lines_of("speed").set_index("study")
    pgmpy, threads, start, predict = (
        lines.loc[study] for study in ("pgmpy", "threads", "start", "predict")
    )
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


def gaps():
    """Lines of the single-task study with their distance to the sample's best known score."""
    lines = lines_of("search")
    lines = lines.assign(sample=lines["seed"] // SEEDS_PER_SAMPLE)
    best = lines.groupby(["network", "rows", "sample"])["score"].transform("max")
    lines = lines.assign(gap=best - lines["score"])
    return lines[~lines["variant"].isin(ONCE)]


def by_search(cell, variants=SEARCHES):
    """A table with a row per network and size and a column per search."""
    lines = gaps()
    lines = lines[lines["variant"].isin(variants)]
    rows = []
    groups = {case: group for case, group in lines.groupby(["network", "rows"])}
    for name, n_rows in filter(groups.__contains__, CASES):
        group = groups[name, n_rows]
        row = {"network": name, "rows": f"{n_rows:,}"}
        for variant in variants:
            own = group[group["variant"] == variant]
            row[variant] = cell(own) if len(own) else ""
        rows.append(row)
    return pd.DataFrame(rows)


def found():
    """How many runs end within 1 nat of the best known score, and how far below the median run."""
    return by_search(lambda own: f"{(own['gap'] < 1).sum()}/{len(own)}, {own['gap'].median():.1f}")


def distances():
    """Mean edit distance and SHD to the true graph."""
    return by_search(_distance)


def otherwise():
    """The same of graphs that are learned by other means than BDeu, and that of BDeu again."""
    lines = gaps()
    cases = lines[lines["variant"].isin(OTHERWISE)][["network", "rows"]].drop_duplicates()
    table = by_search(_distance, ("orders", "pyAgrum tabu", *OTHERWISE))
    kept = {(one.network, f"{one.rows:,}") for one in cases.itertuples()}
    table = table[[at in kept for at in zip(table["network"], table["rows"], strict=True)]]
    return table.rename(columns={"orders": "orders, BDeu", "pyAgrum tabu": "pyAgrum BDeu"})


def _distance(own):
    return f"{own['edits'].mean():.1f}, {own['shd'].mean():.1f}"


def seconds():
    """Median seconds of a run."""
    return by_search(lambda own: f"{own['seconds'].median():.3g}")


def beside_pyagrum():
    """Speed of a climb, best scores found and distance to the truth, in short."""
    lines, searches = lines_of("speed"), gaps()
    rows = []
    for line in lines[lines["study"] == "climb"].itertuples():
        here = searches.query("network == @line.network and rows == @line.rows")
        if not len(here):
            continue
        runs = {name: own for name, own in here.groupby("variant")}
        found = [runs[one]["gap"] for one in ("orders", "pyAgrum tabu")]
        row = {
            "network": line.network,
            "rows": f"{line.rows:,}",
            "a climb, times faster": f"{line.ratio:.0f}",
        }
        for name, gap in zip(("bnmtl", "pyAgrum"), found, strict=True):
            row[f"best known score, {name}"] = f"{(gap < 1).sum()} / {len(gap)}"
        for title, variant in COMPARED.items():
            if variant in runs:
                row[f"SHD, {title}"] = f"{runs[variant]['shd'].mean():.1f}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def jointly():
    """Mean edits per task at each search's best penalty, and scores beside the best of all."""
    keys = ["problem", "trial", "penalty"]
    lines = lines_of("joint")
    ours = lines[lines["variant"].isin(joint.OURS)]
    chosen = ours.loc[ours.groupby(keys)["score"].idxmax()]
    spent = ["seconds", "seconds_of_start"]
    totals = ours.groupby(keys)[spent].sum().reset_index()
    chosen = chosen.drop(columns=spent).merge(totals, on=keys)
    lines = pd.concat([lines, chosen.assign(variant="the best of these three by score")])
    best = lines.groupby(keys)["score"].transform("max")
    lines = lines.assign(
        gap=best - lines["score"], seconds=lines["seconds"] + lines["seconds_of_start"]
    )
    rows = []
    for (name, variant), group in lines.groupby(["problem", "variant"], sort=False):
        by_penalty = group.groupby("penalty")["edits"].mean()
        at_best = group[group["penalty"] == by_penalty.idxmin()]
        rows.append(
            {
                "problem": name,
                "search": variant,
                "trials": at_best["trial"].nunique(),
                "best 1 - penalty": f"{1 - by_penalty.idxmin():.0e}",
                "edits": f"{at_best['edits'].mean():.2f} ± {at_best['edits'].sem():.2f}",
                "SHD": f"{at_best['shd'].mean():.2f}",
                "best score in": f"{(group['gap'] < 1).mean():.0%}",
                "mean gap": f"{group['gap'].mean():.1f}",
                "seconds": f"{group['seconds'].median():.2f}",
            }
        )
    return pd.DataFrame(rows).sort_values("problem", kind="stable")


def tries():
    """How often an idea improves the score, and by how much, by problem."""
    rows = []
    for (problem, idea), group in lines_of("tries").groupby(["problem", "idea"], sort=False):
        better = group[group["gain"] > 1e-3]
        rows.append(
            {
                "problem": problem,
                "idea": idea,
                "better score in": f"{len(better)} of {len(group)}",
                "largest gain (nats)": f"{better['gain'].max():.1f}" if len(better) else "",
                "edits before": f"{group['edits_before'].mean():.2f}",
                "change of edits there": (
                    f"{(better['edits'] - better['edits_before']).mean():+.2f}"
                    if len(better)
                    else ""
                ),
                "seconds": f"{group['seconds'].median():.2f}",
            }
        )
    return pd.DataFrame(rows)


TABLES = {
    "climbs": lambda: markdown(speed("climb", CLIMBS)),
    "restarts": lambda: markdown(speed("restarts", RESTARTS)),
    "fits": lambda: markdown(speed("fit", FITS)),
    "default_fits": lambda: markdown(speed("default", DEFAULT_FITS)),
    "once": lambda: markdown(once()),
    "peers": lambda: markdown(beside_pyagrum()),
    "found": lambda: markdown(found()),
    "distances": lambda: markdown(distances()),
    "otherwise": lambda: markdown(otherwise()),
    "seconds": lambda: markdown(seconds()),
    "joint": lambda: markdown(jointly()),
    "tries": lambda: markdown(tries()),
    "growth": lambda: growth.table(lines_of("growth")),
    "sachs": sachs.table,
    "sachs_thesis": sachs.thesis_table,
    "overview": lambda: overview.table(studies()),
}
# Modules of the studies of related tasks, each with tables of its own.
STUDIES = (
    "thesis.penalty_curves",
    "thesis.methods",
    "thesis.priors",
    "thesis.one_trial",
    "thesis.training_size",
    "thesis.penalty_choice",
    "thesis.posterior",
    "thesis.task_number",
    "thesis.selection",
    "birds.bird",
    "defaults.defaults",
    "defaults.choice",
    "defaults.real_tables",
    "defaults.no_structure",
    "sharing.sharing",
    "search.many_tasks",
    "search.first_graph",
    "sharing.table_weights",
    "defaults.sure_arcs",
    "predictions.good_probabilities",
    "predictions.boosting_steps",
    "predictions.multinets",
    "predictions.calibrated_arcs",
)


@cache
def studies():
    """All tables of the studies that have results, by name."""
    made = {}
    for name in STUDIES:
        module = importlib.import_module(f"benchmarks.{name}")
        lines = study.lines_of(module)
        if len(lines):
            made.update(module.tables(lines))
    return made


def made(name):
    """The table of that name."""
    if name in TABLES:
        return TABLES[name]()
    if name not in studies() and name.startswith(tuple(one.split(".")[1] for one in STUDIES)):
        return "Not measured yet."
    return studies()[name]


MARKED = re.compile(r"<!-- table: (\w+) -->\n(?:(?!<!-- ).)*<!-- end -->", re.DOTALL)


def with_tables(text):
    """A README with its tables made anew."""
    return MARKED.sub(lambda at: f"<!-- table: {at[1]} -->\n{made(at[1])}\n<!-- end -->", text)


def main():
    """Write the tables into the READMEs."""
    argparse.ArgumentParser(description="Write the tables into the READMEs.").parse_args()
    for path in PAGES:
        path.write_text(with_tables(path.read_text()))


if __name__ == "__main__":
    main()
