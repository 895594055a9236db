"""Tables of the study of ensembles: those of chapter 4 of the thesis."""

import pandas as pd

from benchmarks.claims import claims_table
from benchmarks.ensembles.analyses import METRICS
from benchmarks.ensembles.selection_claims import claims
from benchmarks.ensembles.selection_values import KINDS, MEAN, long, means
from benchmarks.summary import markdown
from bnmtl.ensembles.library.grids import DIFFERENCES

SHORT = dict(zip(METRICS, ("ACC", "F", "LFT", "ROC", "APR", "BEP", "RMS", "MXE"), strict=True)) | {
    MEAN: "mean"
}
_NAMES = {"selected": "selection", "averaged": "model averaging", "single": "best single model"}
_OTHERS = ("basic selection", "stacking, linear", "stacking, logistic", "mean of all")


def tables(lines):
    """All tables as Markdown, by name; those of analyses that are missing are left out."""
    present = set(lines["analysis"]) if len(lines) else set()
    found = {
        "ensemble_selection_differences": markdown(
            pd.DataFrame(DIFFERENCES, columns=["what", "thesis", "here"])
        )
    }
    if "methods" not in present:
        return found
    table = long(lines)
    found["ensemble_selection_libraries"] = markdown(_libraries(table))
    found["ensemble_selection_matrix"] = markdown(_matrix(table))
    if "folds" in present:
        found["ensemble_selection_folds"] = markdown(_folds(table))
        found["ensemble_selection_gains"] = markdown(_gains(table))
    if "mimic" in present:
        found["ensemble_selection_mimics"] = markdown(_mimics(lines))
    found["ensemble_selection_claims"] = claims_table(claims(lines, table))
    return found


def _row(name, scores):
    """Mean scores over problems."""
    return {"method": name, **{SHORT[key]: f"{scores[key].mean():.3f}" for key in SHORT}}


def _libraries(table):
    """Table 4.1: methods by the models in the library, and further rivals."""
    rows = [
        _row(f"{name}, {kind}", means(table, method, kind))
        for method, name in _NAMES.items()
        for kind in KINDS
    ]
    return pd.DataFrame([*rows, *(_row(name, means(table, name)) for name in _OTHERS)])


def _matrix(table):
    """Table 4.5: scores by the metric of the selection and the metric reported."""
    rows = []
    for metric in METRICS:
        scores = means(table, f"selected for {metric}")
        rows.append(_row(SHORT[metric], scores))
    return pd.DataFrame(rows).rename(columns={"method": "selected for"})


def _folds(table):
    """Table 4.2: methods without and with embedded cross-validation."""
    rows = []
    for method, name in _NAMES.items():
        rows.append(_row(name, means(table, method)))
        rows.append(_row(f"{name}, cross-validated", means(table, f"cv {method}")))
    return pd.DataFrame(rows)


def gain_shares(table):
    """Percent of the way from the best single model to the best model in hindsight (table 4.3)."""
    single, optimum = means(table, "single"), means(table, "optimum")
    room = (optimum - single).where(lambda room: room > 0)
    methods = {"selection": "selected", "selection, cross-validated": "cv selected"}
    found = {name: 100 * (means(table, m) - single) / room for name, m in methods.items()}
    gain = means(table, "cv selected") - means(table, "selected")
    gain = gain.where(gain > 0)
    for name, method in (("more cases", "cv more cases"), ("siblings averaged", "cv siblings")):
        found[name] = 100 * (means(table, method) - means(table, "selected")) / gain
    return found


def _gains(table):
    """Tables 4.3 and 4.4: medians over problems, in percent."""
    found = gain_shares(table)
    rows = [
        {"percent of": text, "method": name}
        | {
            SHORT[key]: "" if found[name][key].isna().all() else f"{found[name][key].median():.0f}"
            for key in SHORT
        }
        for name, text in (
            ("selection", "best single model to best in hindsight"),
            ("selection, cross-validated", "best single model to best in hindsight"),
            ("more cases", "gain by cross-validation"),
            ("siblings averaged", "gain by cross-validation"),
        )
    ]
    return pd.DataFrame(rows)


def _mimics(lines):
    """Tables 4.6 - 4.8: errors, seconds and bytes of ensembles and mimics."""
    rows = []
    chosen = lines[lines["analysis"] == "mimic"].sort_values(["problem", "trial"])
    for problem, group in chosen.groupby("problem", sort=False):
        first = group.iloc[0]
        rows.append({"problem": problem, **mimic_row(first)})
    return pd.DataFrame(rows)


def mimic_row(line):
    """Costs and errors of one trial; the ratio is the share of the gain over the best net."""
    mimic = line["mimic"]
    error = list(mimic["errors"].values())[-1]
    gain = line["net"] - line["ensemble"]
    return {
        "models": int(line["models"]),
        "best single": f"{line['single']:.4f}",
        "best net": f"{line['net']:.4f}",
        "ensemble": f"{line['ensemble']:.4f}",
        "mimic": f"{error:.4f}",
        "pseudo-cases": list(mimic["errors"])[-1],
        "kept": f"{(line['net'] - error) / gain:.0%}" if gain > 0 else "no gain",
        "times faster": f"{mimic['seconds']['teacher'] / mimic['seconds']['student']:.0f}",
        "times smaller": f"{mimic['bytes']['teacher'] / mimic['bytes']['student']:.0f}",
    }
