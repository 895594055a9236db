"""Tables and picture of the study of small real tables."""

import pandas as pd

from benchmarks.defaults.grouped import FEEDERWATCH, SACHS, TABLES
from benchmarks.defaults.ways import WAYS
from benchmarks.drawing import panels
from benchmarks.summary import markdown, parts

DEFAULT = ("MixedDirichlet", 0.1)
OWN_TABLES = "alone, tables of one imaginary row"
SHARED = "tables shared"
IN_WORDS = {
    "avimedi": "birds in two Mediterranean regions (avimedi)",
    FEEDERWATCH: "sites where birds are fed, eight regions (FeederWatch)",
    "jv73": "fish and water of twelve rivers, 3 to 17 sites each (jv73)",
    "dune": "dune meadow plants under four kinds of management (dune)",
    "pyrifos": "animals of ditches under five doses (pyrifos)",
    "breast cancer": "genes of two kinds of patients (breast cancer)",
    SACHS: "proteins under nine conditions, 25 cells each (Sachs)",
}
DRAWN = ("alone", "posterior", "cv", "one-standard-error", "penalty 0.99", SHARED)
GAINS = {"over_empty": "no arcs", "over_bic": "BIC alone", "over_alone": "alone"}


def tables(lines):
    """The default beside its rivals, and all that was tried."""
    return {
        "real_tables_default": markdown(_default(lines)),
        "real_tables": markdown(_all(lines)),
        "real_tables_in_short": markdown(_in_short(lines)),
        "real_tables_smoothing": markdown(_smoothing(lines)),
        "real_tables_sharing": markdown(_sharing(lines)),
    }


def _gain(line, name):
    return f"{line[name]:+.2f} ± {line[f'{name}_error']:.2f}"


def _of_default(lines):
    return lines[(lines["score"] == DEFAULT[0]) & (lines["parents"] == DEFAULT[1])]


def _in_short(lines):
    """What learning together by default gains over no arcs and over each task alone."""
    shown = GAINS | {"over_own": "sharing arcs alone"}
    for case, own in parts(_of_default(lines), table=IN_WORDS, way=[SHARED]):
        line = own.iloc[0]
        gains = {f"gain over {title}": _gain(line, name) for name, title in shown.items()}
        yield {"table": IN_WORDS[case["table"]], "rows": line["n_rows"], **gains}


def _smoothing(lines):
    """The same graphs of each task alone, and no arcs, with two kinds of probability tables."""
    for case, own in parts(_of_default(lines), table=TABLES):
        found = own.set_index("way")
        if OWN_TABLES not in found.index:
            continue
        learned, of_one = found.loc["alone"], found.loc[OWN_TABLES]
        gain, error = -of_one["over_alone"], of_one["over_alone_error"]
        yield {
            **case,
            "alone, smoothing learned": f"{learned['held_out']:.2f}",
            "alone, one imaginary row": f"{of_one['held_out']:.2f}",
            "gain": f"{gain:+.2f} ± {error:.2f}",
            "no arcs, smoothing learned": f"{learned['held_out'] - learned['over_empty']:.2f}",
            "no arcs, one imaginary row": f"{of_one['empty']:.2f}",
        }


def _sharing(lines):
    """What shared tables add, with arcs and without any."""
    for _, line in _of_default(lines).query("way == @SHARED").iterrows():
        yield {
            "table": line["table"],
            "together": f"{line['held_out']:.2f}",
            "less together, own tables": _gain(line, "over_own"),
            "no arcs": f"{line['empty']:.2f}",
            "together less no arcs": _gain(line, "over_empty"),
            "no arcs, own tables": f"{line['held_out'] - line['over_own_empty']:.2f}",
            "together less no arcs, own tables": _gain(line, "over_own_empty"),
        }


def _default(lines):
    for case, own in parts(_of_default(lines), table=TABLES, way=(SHARED, "alone", *WAYS)):
        line = own.iloc[0]
        gains = {f"over {title}": _gain(line, name) for name, title in GAINS.items()}
        yield {**case, "nats a row": f"{line['held_out']:.2f}", **gains}


def _all(lines):
    for case, here in parts(lines, table=TABLES):
        kinds = here.groupby(["score", "parents"], dropna=False, sort=False)
        for (score, parents), own in kinds:
            row = {**case, "score": score}
            row["parents expected"] = "uniform" if pd.isna(parents) else str(parents)
            row |= dict.fromkeys(("alone", *WAYS), "")
            for found, line in parts(own, way=("alone", *WAYS)):
                row[found["way"]] = _gain(line.iloc[0], "over_bic")
            yield row


def draw(lines):
    """Gain over BIC alone, a panel a table, a point a way, with two standard errors."""
    cases = list(parts(_of_default(lines), table=TABLES))
    figure, grid = panels(1, len(cases), (1.9 * len(cases), 3.6))
    for axes, (case, own) in zip(grid[0], cases, strict=True):
        for at, (way, line) in enumerate(parts(own, way=DRAWN)):
            gain, error = line["over_bic"], 2 * line["over_bic_error"]
            axes.errorbar([at], gain, error, fmt="o", markersize=4, label=way["way"])
        axes.axhline(0, color="gray", linewidth=1)
        axes.set_xticks([])
        axes.set_title(case["table"], fontsize=9)
        axes.tick_params(labelsize=8)
    grid[0, 0].set_ylabel("nats a row over BIC alone", fontsize=9)
    handles = grid[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(DRAWN), fontsize=8)
    return figure
