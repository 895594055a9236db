"""Tables 8.2 - 8.4 of Melville's thesis from the curves of acquisitions, pictures and claims."""

import numpy as np
import pandas as pd

from benchmarks.claims import Claim, claims_table, gain_claim
from benchmarks.study import with_plain_strings
from benchmarks.summary import LEVEL, markdown
from bnmtl import plotting
from bnmtl.active import improvement

TREES, DECORATE, SMALL = "trees", "DECORATE", "small tables"
DRAWN = "trees that draw gaps"
RANDOM, ERRORS, GODA_NAME = "random", "error sampling", "GODA"
ALL_CASES = "GODA, model of all cases"
CELLS, RANDOM_CELLS, EXPECTED = "cells", "random cells", "expected utility"
TOP = 0.2
# Percent reductions of the error, in all and in the best fifth (tables 8.2, 8.3).
PUBLISHED = {
    TREES: {
        "anneal": (22.65, 49.27),
        "soybean": (8.03, 14.79),
        "autos": (4.24, 10.50),
        "kr-vs-kp": (36.82, 53.23),
        "hypothyroid": (16.79, 40.48),
    },
    DECORATE: {
        "anneal": (21.41, 44.51),
        "soybean": (9.99, 17.67),
        "autos": (3.95, 8.49),
        "kr-vs-kp": (27.79, 54.91),
        "hypothyroid": (21.61, 39.49),
    },
}
PUBLISHED[DRAWN] = PUBLISHED[TREES]


def long(lines, part):
    """Curves as `improvement` wants them; ``n_labels`` counts completed cases, or cells."""
    frames = []
    for line in lines[lines["part"] == part].to_dict("records"):
        values = {line["strategy"]: line["error"]}
        if isinstance(line.get("error_of_all"), list):
            values[ALL_CASES] = line["error_of_all"]
        for name, errors in values.items():
            n_trials, sizes = len(errors), line["n_labels"]
            frames.append(
                pd.DataFrame(
                    {
                        "data": line["table"],
                        "strategy": name,
                        "trial": np.repeat(np.arange(n_trials), len(sizes)),
                        "n_labels": np.tile(sizes, n_trials),
                        "error": np.ravel(errors),
                        "n_pool": n_trials - 1,
                        "n_test": 1,
                    }
                )
            )
    return with_plain_strings(pd.concat(frames, ignore_index=True)) if frames else pd.DataFrame()


def tables(lines):
    """Reductions of the error by table, GODA beside error sampling, and the claims."""
    if not len(lines):
        return {}
    found = {}
    parts = TREES, DRAWN, DECORATE
    rows = [row for part in parts for row in _reductions(long(lines, part), part)]
    if rows:
        found["decorate_acquisitions"] = markdown(pd.DataFrame(rows).fillna(""))
    small = long(lines, SMALL)
    if len(small):
        found["decorate_acquisitions_goda"] = markdown(_beside_goda(small, lines))
    cells = long(lines, CELLS)
    if len(cells):
        found["decorate_acquisitions_cells"] = markdown(_of_cells(cells))
    found["decorate_acquisitions_claims"] = claims_table(claims(lines))
    return found


def _reductions(curves, part):
    """Percent reduction of the error of error sampling over random acquisition."""
    if not len(curves):
        return []
    whole, top = (improvement(curves, RANDOM, top=share) for share in (1.0, TOP))
    means = curves.groupby(["data", "strategy"])["error"].mean()
    rows = []
    for (_, line), best in zip(whole.iterrows(), top["percent"], strict=True):
        published = PUBLISHED[part].get(line["data"], ("", ""))
        rows.append(
            {
                "model": part,
                "table": line["data"],
                **{
                    f"error, {name}": f"{means[line['data'], name]:.3f}"
                    for name in (RANDOM, ERRORS)
                },
                "reduction (%)": f"{line['percent']:.1f}",
                "published": published[0],
                "in the best fifth (%)": f"{best:.1f}",
                "published ": published[1],
                "p": f"{line['p']:.3f}",
                "p, corrected": f"{line['p_corrected']:.3f}",
            }
        )
    return rows


def _beside_goda(curves, lines):
    """Mean errors along the curve, and seconds, on tables of 200 rows."""
    seconds = lines[lines["part"] == SMALL].set_index(["table", "strategy"])["seconds"]
    rows = []
    for table, part in curves.groupby("data", sort=False):
        means = part.groupby("strategy")["error"].mean()
        row = {"table": table}
        row |= {
            f"error, {name}": f"{means[name]:.3f}"
            for name in (RANDOM, ERRORS, GODA_NAME, ALL_CASES)
            if name in means
        }
        if {ERRORS, GODA_NAME} <= set(means.index):
            line = improvement(part, GODA_NAME).set_index("strategy").loc[ERRORS]
            row["reduction over GODA (%)"] = f"{line['percent']:.1f}"
            row["p, corrected"] = f"{line['p_corrected']:.3f}"
            row["GODA: times the seconds"] = (
                f"{seconds[table, GODA_NAME] / seconds[table, ERRORS]:.0f}"
            )
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def _of_cells(curves):
    """Mean errors along the curves of single cells, and reductions over random cells."""
    rows = []
    for table, part in curves.groupby("data", sort=False):
        means = part.groupby("strategy", sort=False)["error"].mean()
        row = {"table": table} | {f"error, {name}": f"{one:.3f}" for name, one in means.items()}
        if {RANDOM_CELLS, EXPECTED} <= set(means.index):
            line = improvement(part, RANDOM_CELLS).set_index("strategy").loc[EXPECTED]
            row["reduction over random cells (%)"] = f"{line['percent']:.1f}"
            row["p, corrected"] = f"{line['p_corrected']:.3f}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("")


def claims(lines):
    """The claims of chapter 8 that the curves can answer."""
    for part in (TREES, DRAWN, DECORATE):
        curves = long(lines, part)
        if len(curves):
            yield _beats_random(curves, ERRORS, f"with {part}", "all of 10")
    curves = long(lines, SMALL)
    if len(curves) and GODA_NAME in set(curves["strategy"]):
        for strategy in (ERRORS, GODA_NAME):
            yield _beats_random(curves, strategy, "on small tables", "ours")
        for reference, name in ((GODA_NAME, "GODA"), (ALL_CASES, "GODA with a model of all cases")):
            found = improvement(curves, reference)
            found = found[found["strategy"] == ERRORS]
            wins = int((found["percent"] > 0).sum())
            shown = f"{wins} of {len(found)}, mean {found['percent'].mean():+.1f} %"
            published = "3 of 3, +19.1 %" if reference == GODA_NAME else "ours"
            yield Claim(f"error sampling beats {name}", published, shown, (wins, len(found)))
        seconds = lines[lines["part"] == SMALL].pivot_table(
            index="table", columns="strategy", values="seconds"
        )
        times = (seconds[GODA_NAME] / seconds[ERRORS]).dropna()
        shown = {table: f"{ratio:.0f} times" for table, ratio in times.items()}
        text = "error sampling takes a fraction of the time of GODA"
        yield Claim(text, "yes", shown, (int((times > 2).sum()), len(times)))
    curves = long(lines, CELLS)
    for reference in (RANDOM_CELLS, ERRORS) if len(curves) else ():
        found = improvement(curves, reference)
        found = found[found["strategy"] == EXPECTED].set_index("data")["percent"]
        if len(found) > 1:
            other = "the cells of error sampling" if reference == ERRORS else reference
            yield gain_claim(f"cells of highest expected utility beat {other}", "ours", found)


def _beats_random(curves, strategy, where, published):
    """That a strategy has a smaller error than random cases, on average over the curve."""
    found = improvement(curves, RANDOM)
    found = found[found["strategy"] == strategy]
    better = found["percent"] > 0
    sure = int((better & (found["p"] < LEVEL)).sum())
    shown = f"{better.sum()} of {len(found)}, {sure} of them significantly"
    text = f"{strategy} beats random cases {where}"
    return Claim(text, published, shown, (int(better.sum()), len(found)))


def draw(lines):
    """Errors by number of completed cases, one panel per table, with trees."""
    curves = long(lines, TREES)
    curves = curves if len(curves) else long(lines, SMALL)
    return plotting.strategy_curves(curves, xlabel="complete cases")


def more_pictures(lines):
    """The same with DECORATE, and beside GODA."""
    found = {}
    for part, name in ((DRAWN, "drawn"), (DECORATE, "decorate"), (SMALL, "goda")):
        curves = long(lines, part)
        if len(curves):
            figure = plotting.strategy_curves(curves, xlabel="complete cases")
            found[f"decorate_acquisitions-{name}"] = figure
    cells = long(lines, CELLS)
    if len(cells):
        figure = plotting.strategy_curves(cells, xlabel="measured cells")
        found["decorate_acquisitions-cells"] = figure
    return found
