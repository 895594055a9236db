"""Tables, picture and claims of learned probabilities beside the true ones."""

import numpy as np
import pandas as pd

from benchmarks.claims import Claim, claims_table, gain_claim
from benchmarks.decorate.query_tables import RANDOM, SQUARED
from benchmarks.summary import markdown, mean_and_error, means_table
from bnmtl import plotting

MARGINS, JS = "ActiveDecorate", "ActiveDecorateJS"
BAGGED, TREES_JS, LV = "random, bagged trees", "BootstrapJS", "BootstrapLV"
NETWORK, SHARES = "random, learned network", "shares of the labels"
# What a strategy is compared with: random cases for the same kind of ensemble.
REFERENCES = {MARGINS: RANDOM, JS: SQUARED, TREES_JS: BAGGED, LV: BAGGED}
MEASURES = {
    "divergence": "divergence",
    "squared": "squared error",
    "squared_of_labels": "squared error of labels",
}


def long(lines):
    """One row per problem, strategy, trial and number of labels."""
    frames = []
    for line in lines.to_dict("records"):
        shape = np.shape(line["divergence"])
        frames.append(
            pd.DataFrame(
                {
                    "data": f"{line['network']}: {line['variable']}",
                    "strategy": line["strategy"],
                    "trial": np.repeat(np.arange(shape[0]), shape[1]),
                    "n_labels": np.tile(line["n_labels"], shape[0]),
                    **{name: np.ravel(line[name]) for name in MEASURES},
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def tables(lines):
    """Divergences by number of labels, what asking is worth, and the claims."""
    if not len(lines):
        return {}
    curves = long(lines)
    found = {"decorate_truth": markdown(_divergences(curves))}
    asking = _asking(curves)
    if len(asking):
        found["decorate_truth_asking"] = markdown(asking)
    return found | {"decorate_truth_claims": claims_table(claims(lines))}


def _divergences(curves):
    """Mean divergence over problems, by strategy and number of labels."""
    wide = means_table(curves, "strategy", "n_labels", "divergence")
    sizes = wide.columns[:: max(1, (len(wide.columns) - 1) // 5)]
    rows = [
        {"strategy": name} | {f"{size} labels": f"{wide.loc[name, size]:.4f}" for size in sizes}
        for name in curves["strategy"].unique()
    ]
    return pd.DataFrame(rows)


def improvements(curves, strategy, reference, measure):
    """By problem: percent by which the mean over the curve is smaller than that of a reference."""
    wide = means_table(curves, "data", "strategy", measure)
    if not {strategy, reference} <= set(wide):
        return pd.Series(dtype=float)
    return (100 * (1 - wide[strategy] / wide[reference])).dropna()


def _asking(curves):
    """Improvements over random cases by measure."""
    rows = []
    for strategy, reference in REFERENCES.items():
        row = {"strategy": strategy, "compared with": reference}
        for measure, title in MEASURES.items():
            found = improvements(curves, strategy, reference, measure)
            if len(found):
                row[f"{title} (%)"] = (
                    f"{mean_and_error(found, 1)}; {(found > 0).sum()} of {len(found)}"
                )
        if len(row) > 2:
            rows.append(row)
    return pd.DataFrame(rows).fillna("")


def claims(lines):
    """What the thesis expected of true probabilities, and ours."""
    curves = long(lines)
    for strategy, reference, text, published in (
        (JS, MARGINS, "ActiveDecorateJS is nearer to the truth than ActiveDecorate", "expected"),
        (JS, SQUARED, "and than random cases", "expected"),
        (TREES_JS, BAGGED, "BootstrapJS is nearer to the truth than random cases", "expected"),
        (TREES_JS, LV, "and than BootstrapLV", "expected"),
        (SQUARED, RANDOM, "rejection by squared error gives better probabilities", "expected"),
        (NETWORK, RANDOM, "a learned network is nearer to the truth than DECORATE", "ours"),
        (NETWORK, BAGGED, "and than bagged trees", "ours"),
    ):
        found = improvements(curves, strategy, reference, "divergence")
        if len(found) > 1:
            yield gain_claim(text, published, found)
    agreed, total = _agreement(curves)
    if total:
        text = "squared error of labels ranks two strategies as the divergence does"
        yield Claim(text, "assumed", f"{agreed} of {total} pairs", (agreed, total))


def _agreement(curves):
    """Of all pairs of strategies of each problem, how many both measures order alike."""
    first, second = (
        means_table(curves, "data", "strategy", name)
        for name in ("divergence", "squared_of_labels")
    )
    agreed = total = 0
    for at, name in enumerate(first):
        for other in first.columns[at + 1 :]:
            signs = (np.sign(one[name] - one[other]) for one in (first, second))
            known = pd.concat(signs, axis=1).dropna()
            agreed += int((known.iloc[:, 0] == known.iloc[:, 1]).sum())
            total += len(known)
    return agreed, total


def draw(lines):
    """Divergence from the truth by number of labels, one panel per problem."""
    curves = long(lines)
    # Knowing only the shares is so far away that the other curves would be flat.
    shown = curves[curves["strategy"] != SHARES]
    return plotting.strategy_curves(shown, "divergence", ylabel="divergence (nats)")
