"""The section of the report on held-out rows."""

from bnmtl.learners.verdict import value
from bnmtl.reports.page import bold, number, table

_TITLES = {
    "together": "together",
    "one_group": "one group",
    "alone": "each alone",
    "empty": "no arcs",
}
_CUT_SHORT = '<p class="warning">Searches were cut short: these figures are unreliable.</p>\n'
_SHARED = " Learned together and without arcs, tasks share tables."
_GROUPS = " Together: in groups of tasks; one group: all tasks learn from each other."


def held_out_section(held_out):
    """A table comparing together, in one group, alone and no arcs, by task and over all rows."""
    if held_out is None:
        return ""
    ways = [way for way in _TITLES if way in held_out]
    rows = [
        [name, *(number(means[way], 3) for way in ways)]
        for name, means in [*held_out["tasks"].items(), (bold("all rows"), held_out)]
    ]
    differences = "; ".join(
        f"{' against '.join(_TITLES[way] for way in pair.split(' - '))} {value(*difference)}"
        for pair, difference in held_out["differences"].items()
    )
    return (
        f"<h2>On held-out rows</h2>\n{_CUT_SHORT if held_out.get('ended_by') else ''}"
        f"{table(['task', *(_TITLES[way] for way in ways)], rows, 1)}\n"
        f'<p class="note">Mean log-likelihood of a row, in nats, under networks that were learned '
        f"without it ({held_out['folds']} folds); larger is better, and 0.7 nats make a row "
        f"twice as probable. Differences with standard errors over rows: {differences}."
        f"{_GROUPS if 'one_group' in held_out else ''}"
        f"{_SHARED if held_out.get('shares_tables') else ''}</p>"
    )
