"""Tables of the study of single-task searches, from its lines."""

import pandas as pd

from benchmarks.summary import markdown

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


def tables(lines):
    """All tables; a row per network and size, a column per search."""
    lines = gaps(lines)
    made = {
        "found": found(lines),
        "distances": distances(lines),
        "otherwise": otherwise(lines),
        "seconds": seconds(lines),
    }
    return {name: markdown(table) for name, table in made.items()}


def gaps(lines):
    """The lines with their distance to the sample's best known score."""
    lines = lines.assign(sample=lines["seed"] // SEEDS_PER_SAMPLE)
    best = lines.groupby(["network", "rows", "sample"])["score"].transform("max")
    lines = lines.assign(gap=best - lines["score"])
    return lines[~lines["variant"].isin(ONCE)]


def by_search(lines, cell, variants=SEARCHES):
    """A table with a row per network and size and a column per search."""
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


def found(lines):
    """How many runs end within 1 nat of the best known score, and how far below the median run."""
    return by_search(
        lines, lambda own: f"{(own['gap'] < 1).sum()}/{len(own)}, {own['gap'].median():.1f}"
    )


def distances(lines):
    """Mean edit distance and SHD to the true graph."""
    return by_search(lines, _distance)


def otherwise(lines):
    """The same of graphs that are learned by other means than BDeu, and that of BDeu again."""
    cases = lines[lines["variant"].isin(OTHERWISE)][["network", "rows"]].drop_duplicates()
    table = by_search(lines, _distance, ("orders", "pyAgrum tabu", *OTHERWISE))
    kept = {(one.network, f"{one.rows:,}") for one in cases.itertuples()}
    table = table[[at in kept for at in zip(table["network"], table["rows"], strict=True)]]
    return table.rename(columns={"orders": "orders, BDeu", "pyAgrum tabu": "pyAgrum BDeu"})


def _distance(own):
    return f"{own['edits'].mean():.1f}, {own['shd'].mean():.1f}"


def seconds(lines):
    """Median seconds of a run."""
    return by_search(lines, lambda own: f"{own['seconds'].median():.3g}")


def beside_pyagrum(lines, speed):
    """Speed of a climb, best scores found and distance to the truth, in short."""
    searches, rows = gaps(lines), []
    for line in speed[speed["study"] == "climb"].itertuples():
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
