"""The report's part on held-out rows, and how many edges are sure."""

from html import escape

from bnmtl.gains import value
from bnmtl.page import count, number, table

__all__ = ["held_out_section", "sure"]

# Share of the replicates from which on the first paragraph counts an edge.
_SURE = 0.9


def held_out_section(held_out):
    """Together, alone and no arcs beside each other, by task and over all rows."""
    if held_out is None:
        return ""
    ways = [way for way in ("together", "alone", "empty") if way in held_out]
    titles = {"together": "together", "alone": "each alone", "empty": "no arcs"}
    rows = [
        [escape(str(name)), *(number(own[way], 3) for way in ways)]
        for name, own in held_out["tasks"].items()
    ]
    rows.append(["<b>all rows</b>", *(number(held_out[way], 3) for way in ways)])
    differences = "; ".join(
        f"{titles[pair.split(' - ')[0]]} against {titles[pair.split(' - ')[1]]} {value(*own)}"
        for pair, own in held_out["differences"].items()
    )
    return (
        "<h2>On held-out rows</h2>\n"
        f"{table(['task', *(titles[way] for way in ways)], rows, 1)}\n"
        f'<p class="note">Mean log-likelihood of a row, in nats, under networks that were learned '
        f"without it ({held_out['folds']} folds); larger is better. Differences with standard "
        f"errors over rows: {differences}.</p>"
    )


def sure(confidence):
    """Say how many edges the replicates are sure of."""
    if confidence is None:
        return ""
    pairs = confidence[confidence["parent"].astype(str) < confidence["child"].astype(str)]
    n_sure = int((pairs["edge"] >= _SURE).sum())
    return (
        f"{count(n_sure, 'edge')}, counted over the tasks, came back in at least {_SURE:.0%} of "
        "the replicates."
    )
