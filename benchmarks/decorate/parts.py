"""Bias and variance of DECORATE, its tree and other ensembles of it.

Run `python -m benchmarks.decorate.parts --data FOLDER` (half an hour on two cores), an analysis
that Melville (2005, chapter 9) proposes. A fifth or half of the cases of a table are drawn again
and again, and the others predicted. The data are not part of the project: see
`benchmarks/predictions/uci.py`.
"""

import time

from benchmarks import study
from benchmarks.decorate.curve_values import TABLES
from benchmarks.decorate.curves import QUICK, check_needs, read
from benchmarks.decorate.learners import BASE, DECORATE, METHODS
from benchmarks.summary import difference_text, markdown, parts
from benchmarks.validation.tree_parts import parts_of

NAME = "decorate_parts"
SETTINGS = ("table", "share", "method")
TAKES_DATA = True
ROUNDS = 20
FIXED = {"rounds": ROUNDS}
SHARES = (0.2, 0.5)
WANTED = (BASE, "bagging", "forest", "AdaBoost", DECORATE)
SHOWN = {"squared bias": "bias", "squared variance": "variance"}
PARTS = ("bias", "variance", "noise", "error")
__all__ = ["check_needs"]


def plan(quick):
    """One case per table and share of the cases."""
    if quick:
        return study.every([BASE, DECORATE], table=[QUICK], share=[0.5])
    return study.every(WANTED, table=TABLES, share=SHARES)


def measure(table, share, wanted):
    """One line per method: by loss the parts of the error, means over cases."""
    X, y, data = read(table)
    n_rounds, lines = 3 if table == QUICK else ROUNDS, {}
    for method in wanted:
        began = time.perf_counter()
        lines[method] = {
            **parts_of(METHODS[method](X, None), X, y, n_rounds, 1 - share, PARTS),
            "data": data,
            "seconds": round(time.perf_counter() - began, 2),
        }
    return lines


def tables(lines):
    """Squared error and its parts, means over tables, and differences from the tree."""
    return {"decorate_parts": markdown(_means(lines)), "decorate_parts_by_table": _by_table(lines)}


def _means(lines):
    for case, group in parts(lines, share=SHARES, method=WANTED):
        both = group.set_index("table")
        of_share = lines[lines["share"] == case["share"]]
        of_tree, of_decorate = (
            of_share[of_share["method"] == name].set_index("table").reindex(both.index)
            for name in (BASE, DECORATE)
        )
        row = {"share learned from": f"{case['share']:.0%}", "method": case["method"]}
        row["squared error"] = f"{both['squared error'].mean():.3f}"
        row |= {name: f"{both[key].mean():.3f}" for key, name in SHOWN.items()}
        row["wrong"] = f"{100 * both['zero_one error'].mean():.1f} %"
        for key, name in SHOWN.items():
            row[f"{name} less that of the tree"] = ""
            if case["method"] != BASE:
                row[f"{name} less that of the tree"] = difference_text(both[key], of_tree[key], 3)
        row["error less that of DECORATE"] = ""
        if case["method"] != DECORATE:
            ours, other = both["squared error"], of_decorate["squared error"]
            row["error less that of DECORATE"] = difference_text(ours, other, 3)
        yield row


def _by_table(lines):
    """Bias and variance of the tree and of DECORATE by table."""
    rows = []
    for case, group in parts(lines, table=(*TABLES, QUICK)):
        row = dict(case)
        for share in SHARES:
            for method in (BASE, DECORATE):
                one = group[(group["share"] == share) & (group["method"] == method)]
                text = ""
                if len(one):
                    bias, variance, error = (
                        float(one[f"squared {part}"].iloc[0])
                        for part in ("bias", "variance", "error")
                    )
                    text = f"{error:.3f} = {bias:.3f} + {variance:.3f}"
                row[f"{method}, {share:.0%}"] = text
        rows.append(row)
    return markdown(rows)


if __name__ == "__main__":
    study.main(__spec__.name)
