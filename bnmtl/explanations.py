"""What the report says of held-out rows, directions, signs and confidence."""

from html import escape

from bnmtl.gains import value
from bnmtl.page import count, number, table

__all__ = ["confidence_words", "held_out_section", "preference", "sign_words", "sure"]

# Share of the replicates from which on the first paragraph counts an edge.
_SURE = 0.9
_SIGNS = (
    "A small + beside an arc says that the two variables rise together in that task, a \u2212 that "
    "one falls as the other rises (Kendall's tau-b, which looks at the two variables alone, "
    "whatever else is known). There is no sign where it is within one standard error of 0 or the "
    "states of a variable have no order, and in the picture none beside dotted arcs."
)


def sure(confidence):
    """Say how many edges the replicates are sure of."""
    if confidence is None:
        return ""
    pairs = confidence[confidence["parent"].astype(str) < confidence["child"].astype(str)]
    n_sure = int((pairs["edge"] >= _SURE).sum())
    return f"{count(n_sure, 'edge')} of all tasks came back in {_SURE:.0%} of the replicates."


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


def preference(learner):
    """Say what to think of directions under a score that prefers some of equal graphs."""
    score = learner.used_score()
    if score.is_score_equivalent:
        return ""
    return (
        f" The score used, {escape(type(score).__name__)}, is not score equivalent: of the graphs "
        "of one class it prefers some to others. A direction may then be the same in all "
        "replicates although the arc is reversible; that is the score's preference, not evidence."
    )


def sign_words(learner):
    return f"<p><b>Signs.</b> {_SIGNS}</p>" if learner.arcs_["tau_b"].notna().any() else ""


def confidence_words(confidence):
    if confidence is None:
        return ""
    from bnmtl.confidence import MEANING

    return f"\n<p><b>How sure an arc is.</b> {MEANING}</p>\n"
