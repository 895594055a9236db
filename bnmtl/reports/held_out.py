"""The report's part on held-out rows."""

from html import escape

from bnmtl.reports.gains import value
from bnmtl.reports.page import number, table

__all__ = ["held_out_section"]

_SHARED = " Learned together and without arcs, tasks have tables in common."


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
    cut_short = (
        '<p class="warning">Searches were cut short: these figures tell little.</p>\n'
        if held_out.get("ended_by")
        else ""
    )
    return (
        f"<h2>On held-out rows</h2>\n{cut_short}"
        f"{table(['task', *(titles[way] for way in ways)], rows, 1)}\n"
        f'<p class="note">Mean log-likelihood of a row, in nats, under networks that were learned '
        f"without it ({held_out['folds']} folds); larger is better, and 0.7 nats make a row "
        f"twice as probable. Differences with standard errors over rows: {differences}."
        f"{_SHARED if held_out.get('shares_tables') else ''}</p>"
    )
