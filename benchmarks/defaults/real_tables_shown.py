"""Tables and picture of the study of small real tables."""

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.defaults.grouped import FEEDERWATCH, SACHS, TABLES
from benchmarks.defaults.ways import WAYS
from benchmarks.summary import markdown

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
    own = _of_default(lines)
    rows = []
    for table, words in IN_WORDS.items():
        found = own[(own["table"] == table) & (own["way"] == SHARED)]
        if len(found):
            line = found.iloc[0]
            shown = GAINS | {"over_own": "sharing arcs alone"}
            gains = {f"gain over {title}": _gain(line, name) for name, title in shown.items()}
            rows.append({"table": words, "rows": line["n_rows"], **gains})
    return pd.DataFrame(rows)


def _smoothing(lines):
    """The same graphs of each task alone, and no arcs, with two kinds of probability tables."""
    own = _of_default(lines)
    rows = []
    for table in TABLES:
        found = own[own["table"] == table].set_index("way")
        if OWN_TABLES not in found.index:
            continue
        learned, of_one = found.loc["alone"], found.loc[OWN_TABLES]
        gain, error = -of_one["over_alone"], of_one["over_alone_error"]
        rows.append(
            {
                "table": table,
                "alone, smoothing learned": f"{learned['held_out']:.2f}",
                "alone, one imaginary row": f"{of_one['held_out']:.2f}",
                "gain": f"{gain:+.2f} ± {error:.2f}",
                "no arcs, smoothing learned": f"{learned['held_out'] - learned['over_empty']:.2f}",
                "no arcs, one imaginary row": f"{of_one['empty']:.2f}",
            }
        )
    return pd.DataFrame(rows)


def _sharing(lines):
    """What shared tables add, with arcs and without any."""
    rows = []
    for _, line in _of_default(lines).query("way == @SHARED").iterrows():
        held_out, empty = line["held_out"], line["empty"]
        rows.append(
            {
                "table": line["table"],
                "together": f"{held_out:.2f}",
                "less together, own tables": _gain(line, "over_own"),
                "no arcs": f"{empty:.2f}",
                "together less no arcs": _gain(line, "over_empty"),
                "no arcs, own tables": f"{held_out - line['over_own_empty']:.2f}",
                "together less no arcs, own tables": _gain(line, "over_own_empty"),
            }
        )
    return pd.DataFrame(rows)


def _default(lines):
    own = _of_default(lines)
    rows = []
    for table in TABLES:
        for way in (SHARED, "alone", *WAYS):
            found = own[(own["table"] == table) & (own["way"] == way)]
            if len(found):
                line = found.iloc[0]
                gains = {f"over {title}": _gain(line, name) for name, title in GAINS.items()}
                held_out = f"{line['held_out']:.2f}"
                rows.append({"table": table, "way": way, "nats a row": held_out, **gains})
    return pd.DataFrame(rows)


def _all(lines):
    rows = []
    for table in TABLES:
        for (score, parents), own in lines[lines["table"] == table].groupby(
            ["score", "parents"], dropna=False, sort=False
        ):
            row = {"table": table, "score": score}
            row["parents expected"] = "uniform" if pd.isna(parents) else str(parents)
            for way in ("alone", *WAYS):
                found = own[own["way"] == way]
                row[way] = _gain(found.iloc[0], "over_bic") if len(found) else ""
            rows.append(row)
    return pd.DataFrame(rows)


def draw(lines):
    """Gain over BIC alone, a panel a table, a point a way, with two standard errors."""
    own = _of_default(lines)
    shown = [table for table in TABLES if (own["table"] == table).any()]
    figure, axes = plt.subplots(1, len(shown), figsize=(1.9 * len(shown), 3.6), squeeze=False)
    for axis, table in zip(axes[0], shown, strict=True):
        found = own[own["table"] == table].set_index("way")
        for at, way in enumerate(way for way in DRAWN if way in found.index):
            line = found.loc[way]
            error = 2 * line["over_bic_error"]
            axis.errorbar([at], [line["over_bic"]], [error], fmt="o", markersize=4, label=way)
        axis.axhline(0, color="gray", linewidth=1)
        axis.set_xticks([])
        axis.set_title(table, fontsize=9)
        axis.tick_params(labelsize=8)
    axes[0, 0].set_ylabel("nats a row over BIC alone", fontsize=9)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="lower center", ncols=len(DRAWN), fontsize=8)
    return figure
