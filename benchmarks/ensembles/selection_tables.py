"""Tables of the study of ensembles: those of chapter 4 of the thesis."""

from collections import Counter

import numpy as np
import pandas as pd

from benchmarks.claims import claims_table
from benchmarks.ensembles.analyses import LOSSES, METRICS, SHARES
from benchmarks.ensembles.problem_rows import settings_of
from benchmarks.ensembles.selection_claims import claims
from benchmarks.ensembles.selection_gains import causes, loss_reduction
from benchmarks.ensembles.selection_values import (
    KINDS,
    MEAN,
    SHORT,
    base_rates,
    first_mimics,
    having,
    long,
    means,
)
from benchmarks.summary import markdown, mean_and_error
from bnmtl.ensembles.library.columns import Columns
from bnmtl.ensembles.library.settings import DIFFERENCES, fits_of
from bnmtl.metrics.prediction import baseline

_NAMES = {"selected": "selection", "averaged": "model averaging", "single": "best single model"}
_SHORT_NAMES = {"single": "single", "averaged": "averaging"}
_OTHERS = ("basic selection", "stacking, linear", "stacking, logistic", "mean of all")
_NETWORKS = ("Bayesian network", "multi-net")
_PRECISION = ("average precision", "at eleven recalls", "at each positive case")
_ANALYSES = {
    "methods": "plain library",
    "small": "small library",
    "pruning": "pruning",
    "mimic": "mimic",
    "folds": "cross-validated library",
}
STUDENTS = {
    "forest": "forest, Munge",
    "original neighbors": "net, Munge by original neighbors",
    "network data": "net, Bayesian network",
    "naive Bayes data": "net, naive Bayes",
    "marginal data": "net, independent columns",
}


def tables(lines):
    """All tables as Markdown, by name; those of analyses that are missing are left out."""
    present = set(lines["analysis"]) if len(lines) else set()
    found = {"ensemble_selection_differences": markdown(_differences())}
    if "methods" not in present:
        return found
    table = long(lines)
    found["ensemble_selection_budget"] = markdown(_budget(lines))
    found["ensemble_selection_values"] = markdown(_values(table, base_rates(lines)))
    found["ensemble_selection_libraries"] = markdown(_libraries(table))
    found["ensemble_selection_matrix"] = markdown(_matrix(table))
    if "small" in present:
        found["ensemble_selection_profiles"] = markdown(_profiles(lines, table))
    if "pruning" in present:
        found["ensemble_selection_pruned"] = markdown(_pruned(table))
    if "folds" in present:
        found["ensemble_selection_folds"] = markdown(_folds(table))
        found["ensemble_selection_reduction"] = markdown(_reductions(table, base_rates(lines)))
        found["ensemble_selection_causes"] = markdown(_causes(table))
    if "mimic" in present:
        found["ensemble_selection_mimics"] = markdown(_mimics(lines))
        found["ensemble_selection_costs"] = markdown(_needs(lines))
        found["ensemble_selection_pseudo_cases"] = markdown(_by_pseudo_cases(lines))
        found["ensemble_selection_stops"] = markdown(_stops(lines))
        students = _students(lines)
        if len(students):
            found["ensemble_selection_students"] = markdown(students)
    found["ensemble_selection_claims"] = claims_table(claims(lines, table))
    return found


def _differences():
    """Families of the thesis and here, with numbers of settings in both profiles.

    Those of a table with numeric columns and, in brackets, one with nominal ones, too.
    """
    numeric = pd.DataFrame(np.zeros((2, 8)))
    mixed = numeric.assign(kind=pd.Categorical(["a", "b"]))
    counts = {
        profile: [
            Counter(
                fit.family
                for fit in fits_of(settings_of(profile, 4000, columns), 4000, columns)
                for _ in fit.names
            )
            for columns in (Columns.of(numeric), Columns.of(mixed))
        ]
        for profile in ("small", "thesis")
    }
    rows = []
    for what, *texts in (*DIFFERENCES, _PRECISION):
        families = (
            [what] if what in counts["thesis"][0] else _NETWORKS if "networks" in what else []
        )
        row = dict(zip(("what", "thesis", "here"), (what, *texts), strict=True))
        for profile, pair in counts.items():
            numbers = [sum(one[family] for family in families) for one in pair]
            same = numbers[0] == numbers[1]
            text = f"{numbers[0]}" if same else f"{numbers[0]} ({numbers[1]})"
            row[f"settings, {profile}"] = text if families else ""
        rows.append(row)
    return pd.DataFrame(rows)


def _budget(lines):
    """Minutes by problem and analysis in trial 0."""
    chosen = lines[lines["trial"] == 0]
    table = chosen.pivot_table(index="problem", columns="analysis", values="seconds_of_case") / 60
    table = table[[name for name in _ANALYSES if name in table]].rename(columns=_ANALYSES)
    table["all"] = table.sum(axis=1)
    return table.map(lambda one: "" if pd.isna(one) else f"{one:.0f}").reset_index()


def _values(table, rates):
    """Mean values over problems in natural units, and gains over rivals, by metric."""
    selected, rows = means(table, "selected", of="value"), []
    for metric in METRICS:
        nothing = [baseline(metric, rates[problem]) for problem in selected.index]
        row = {"metric": SHORT[metric], "base rate": f"{np.mean(nothing):.4f}"}
        sign = -1 if metric in LOSSES else 1
        for method in ("single", "averaged"):
            values = means(table, method, of="value")[metric]
            gain = sign * (selected[metric] - values)
            row[_NAMES[method]] = f"{values.mean():.4f}"
            row[f"gain over {_SHORT_NAMES[method]}"] = mean_and_error(gain, 4)
            row[f"better, worse than {_SHORT_NAMES[method]}"] = (
                f"{(gain > 0).sum()}, {(gain < 0).sum()} of {len(gain)}"
            )
        rows.append(row | {"selection": f"{selected[metric].mean():.4f}"})
    first = ["metric", "base rate", *_NAMES.values()]
    frame = pd.DataFrame(rows)
    return frame[[*first, *(name for name in frame if name not in first)]]


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
    for library, method in (("plain", "selected"), ("cross-validated", "cv selected")):
        if not (table["method"] == method).any():
            continue
        every = {SHORT[metric]: f"{method} for {metric}" for metric in METRICS}
        for name, one in (every | {"the metric itself": method}).items():
            row = _row(name, means(table, one))
            rows.append({"library": library, "selected for": row.pop("method"), **row})
    return pd.DataFrame(rows)


def _folds(table):
    """Table 4.2: methods without and with embedded cross-validation, on problems with both."""
    table = having(table, "cv selected")
    rows = []
    for method, name in _NAMES.items():
        rows.append(_row(name, means(table, method)))
        rows.append(_row(f"{name}, cross-validated", means(table, f"cv {method}")))
    return pd.DataFrame(rows)


def _profiles(lines, table):
    """Methods with a large and with a small library from the same rows."""
    table = having(table, "small: selected")
    lines = lines[lines["trial"] == 0]
    sizes = {
        one: lines.loc[lines["analysis"] == one, "models"].mean() for one in ("small", "methods")
    }
    rows = []
    for method, name in _NAMES.items():
        large, small = means(table, method), means(table, f"small: {method}")
        for library, scores, key in (("small", small, "small"), ("thesis", large, "methods")):
            row = _row(name, scores)
            rows.append({"library": library, "models": f"{sizes[key]:.0f}", **row})
        gain = large - small
        cells = {SHORT[key]: mean_and_error(gain[key], 3) for key in SHORT}
        rows.append({"library": "gain", "models": "", "method": name, **cells})
    return pd.DataFrame(rows)


def _pruned(table):
    """Mean scores by the share of the library that is kept, for large and small libraries.

    If both are there, of the problems that have both.
    """
    found = {
        "thesis": having(table[table["trial"] == 0], "share: bags"),
        "small": having(table[table["trial"] > 0], "share: bags"),
    }
    found = {library: some for library, some in found.items() if len(some)}
    common = set.intersection(*(set(some["problem"]) for some in found.values()))
    rows = []
    for library, some in found.items():
        some = some[some["problem"].isin(common)]
        single = means(some, "single")[MEAN].mean()
        for method in ("bags", "no bags"):
            scores = {s: means(some, f"share: {method}", s)[MEAN].mean() for s in SHARES}
            cells = {f"{share:.0%}": f"{score:.3f}" for share, score in scores.items()}
            row = {"library": library, "problems": len(common), "selection": method, **cells}
            rows.append(row | {"best single": f"{single:.3f}"})
    return pd.DataFrame(rows)


def _reductions(table, rates):
    """Table 4.3: percent of what is left from the best single model to perfect predictions."""
    table = having(table, "cv selected")
    found = loss_reduction(table, rates, "cv selected", "single")
    rows = [_percent("selection, cross-validated", name, row) for name, row in found.iterrows()]
    for ours, other, name in (
        ("cv selected", "single", "selection, cross-validated"),
        ("cv selected", "cv single", "selection, against a single model, both cross-validated"),
        ("selected", "single", "selection"),
        ("averaged", "single", "model averaging"),
    ):
        rows.append(_percent(name, "mean", loss_reduction(table, rates, ours, other).mean()))
    return pd.DataFrame(rows)


def _percent(method, problem, values):
    cells = {SHORT[key]: "" if pd.isna(values[key]) else f"{values[key]:.1f}" for key in SHORT}
    return {"method": method, "problem": problem, **cells}


def _causes(table):
    """Table 4.4: percent of the gain by embedded cross-validation."""
    found = causes(having(table, "cv selected"))
    cells = found.rename(columns=SHORT).map(lambda one: "" if pd.isna(one) else f"{one:.0f}")
    return cells.reset_index(names="percent of the gain")


def _mimics(lines):
    """Tables 4.6 - 4.8: errors of ensembles and mimics, and by how much mimics cost less."""
    chosen = first_mimics(lines).to_dict("records")
    rows = [{"problem": line["problem"], **_costs(line)} for line in chosen]
    errors = pd.DataFrame([_errors(line) for line in chosen]).mean()
    rows.append(dict.fromkeys(rows[0], "") | {"problem": "mean", **_error_cells(errors)})
    return pd.DataFrame(rows)


def _needs(lines):
    """Tables 4.6 and 4.7: seconds for 10,000 cases, and megabytes."""
    chosen = first_mimics(lines).set_index("problem")["mimic"]
    found = pd.DataFrame(
        {
            f"{unit}, {name}": chosen.map(lambda one, c=cost, w=who, s=scale: one[c][w] / s)
            for cost, unit, scale in (("seconds", "seconds", 1), ("bytes", "megabytes", 1e6))
            for who, name in (("teacher", "ensemble"), ("student", "mimic"))
        }
    )
    found.loc["mean"] = found.mean()
    return found.map(lambda one: f"{one:.3g}").reset_index(names="problem")


def _by_pseudo_cases(lines):
    """Mean errors of mimics by number of pseudo-cases, and what is kept of the gain over nets."""
    lines, rows = lines[lines["analysis"] == "mimic"], []
    for library, of_library in (("thesis", lines["trial"] == 0), ("small", lines["trial"] > 0)):
        some = lines[of_library].to_dict("records")
        if some:
            sizes = list(some[0]["mimic"]["errors"])
            errors = {
                size: np.mean([one["mimic"]["errors"][size] for one in some]) for size in sizes
            }
            net, ensemble = (np.mean([one[name] for one in some]) for name in ("net", "ensemble"))
            row = {"library": library, "problems": len(some)}
            row |= {"best net": f"{net:.4f}", "ensemble": f"{ensemble:.4f}"}
            cells = {
                size: f"{error:.4f} ({(net - error) / (net - ensemble):.0%})"
                for size, error in errors.items()
            }
            rows.append(row | cells)
    return pd.DataFrame(rows).fillna("")


def _stops(lines, patience=2):
    """Where the curves of mimics are best, and what two sizes without a better one end at."""
    rows = []
    for line in lines[lines["analysis"] == "mimic"].to_dict("records"):
        errors = line["mimic"]["errors"]
        sizes, values = list(errors), list(errors.values())
        best = int(np.argmin(values))
        # The first best size that no better one follows among the next ones.
        stop = next(
            at for at, value in enumerate(values) if value == min(values[: at + patience + 1])
        )
        rows.append(
            {
                "library": "thesis" if line["trial"] == 0 else "small",
                "problem": line["problem"],
                "largest": sizes[-1],
                "best": sizes[best],
                f"best before {patience} without a better one": sizes[stop],
                "error with the largest": f"{values[-1]:.4f}",
                "with the best": f"{values[best]:.4f}",
            }
        )
    return pd.DataFrame(rows)


def _errors(line, student="mimic"):
    """Errors of the best models, the ensemble and its mimic of the most pseudo-cases."""
    found = {name: line[name] for name in ("single", "net", "ensemble")}
    return found | {"mimic": list(line[student]["errors"].values())[-1]}


def _error_cells(errors):
    """Errors as text; "kept" is the share of the gain over the best net that the mimic keeps."""
    gain = errors["net"] - errors["ensemble"]
    kept = f"{(errors['net'] - errors['mimic']) / gain:.0%}" if gain > 0 else "no gain"
    names = {"best single": "single", "best net": "net", "ensemble": "ensemble", "mimic": "mimic"}
    return {title: f"{errors[name]:.4f}" for title, name in names.items()} | {"kept": kept}


def _costs(line):
    mimic = line["mimic"]
    return _error_cells(_errors(line)) | {
        "models": int(line["models"]),
        "pseudo-cases": list(mimic["errors"])[-1],
        "times faster": f"{mimic['seconds']['teacher'] / mimic['seconds']['student']:.0f}",
        "times smaller": f"{mimic['bytes']['teacher'] / mimic['bytes']['student']:.0f}",
    }


def _students(lines):
    """Other students and pseudo-cases of problems that compress badly, at equal numbers."""
    rows = []
    for line in first_mimics(lines).to_dict("records"):
        names = [one for one in STUDENTS if isinstance(line.get(one), dict)]
        for name in names:
            (size,) = line[name]["errors"]
            if name == names[0]:
                same = {**line, "mimic": {"errors": {size: line["mimic"]["errors"][size]}}}
                rows.append(_student(line, "net, Munge", _errors(same), size))
            rows.append(_student(line, STUDENTS[name], _errors(line, name), size))
    return pd.DataFrame(rows)


def _student(line, name, errors, size):
    start = {"problem": line["problem"], "student and data": name, "pseudo-cases": size}
    return start | _error_cells(errors)
