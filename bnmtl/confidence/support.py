"""What confidence says about learned arcs, as columns of their table and as sentences."""

import numpy as np

from bnmtl.errors import Action, Words
from bnmtl.wording import count

_SURE = 0.95
# Minimum number of replicates for a statement that arcs are well supported.
_FEWEST = 20
# The meaning of a share of replicates, from the study `sure_arcs`.
MEANING = (
    "Confidence is the share of replicates, networks learned from random halves of the rows by a "
    "quicker search, that have an arc. It is not a probability. On known networks, pairs of "
    "variables with a confidence of 1 were truly joined in 96 to 100 % of the cases and pairs with "
    "0.8 in 59 to 100 %; directions with a confidence of 1 were right in 64 to 100 %, and with 0.8 "
    "in 46 to 96 %, in a single network sometimes never. So confidence can be too high, above all "
    "that of directions; and many true arcs had a low confidence, above all with few rows."
)


def with_confidence(arcs, confidences=None):
    """The table of arcs of a fitted learner with their confidences.

    Parameters
    ----------
    arcs : pandas.DataFrame
        The `arcs_` of a learner.
    confidences : pandas.DataFrame, optional
        The result of `arc_confidence`.

    Returns
    -------
    pandas.DataFrame
        A copy with two additional columns: confidence of the arc in this direction, and
        edge_confidence of either direction; nan without `confidences`.

    Examples
    --------
    >>> import pandas as pd
    >>> arcs = pd.DataFrame({"from": ["a"], "to": ["b"], "task": ["t"]})
    >>> sure = pd.DataFrame({"task": ["t"], "parent": "a", "child": "b", "arc": 0.6, "edge": 0.9})
    >>> with_confidence(arcs, sure)
      from to task  confidence  edge_confidence
    0    a  b    t         0.6              0.9
    """
    if confidences is None:
        return arcs.assign(confidence=np.nan, edge_confidence=np.nan)
    keys = zip(
        *(confidences[name].astype(str) for name in ("task", "parent", "child")), strict=True
    )
    shares = zip(confidences["arc"], confidences["edge"], strict=True)
    known = dict(zip(keys, shares, strict=True))
    values = [known[arc] for arc in zip(arcs["task"], arcs["from"], arcs["to"], strict=True)]
    found = np.array(values, dtype=float).reshape(-1, 2)
    return arcs.assign(confidence=found[:, 0], edge_confidence=found[:, 1])


def sure_words(arcs, confidences, n_bootstrap=None, required=(), is_consensus=False, words=None):
    """Describe how many learned arcs are well supported, with advice about the others.

    Parameters
    ----------
    arcs : pandas.DataFrame
        The `arcs_` of a learner.
    confidences : pandas.DataFrame
        The result of `arc_confidence`.
    n_bootstrap : int, optional
        Number of replicates, to check whether there are enough.
    required : collection of (task, from, to)
        Arcs that are in all replicates because they are required.
    is_consensus : bool, default=False
        Whether the arcs are those of the consensus.
    words : bnmtl.errors.Words, optional
        How parameters and remedies are rendered; default: for users of Python.

    Returns
    -------
    str
        "" if there are no arcs.

    Examples
    --------
    >>> import pandas as pd
    >>> arcs = pd.DataFrame({"from": ["a"], "to": ["b"], "task": ["t"]})
    >>> sure = pd.DataFrame({"task": ["t"], "parent": "a", "child": "b", "arc": 0.6, "edge": 1.0})
    >>> print(*sure_words(arcs, sure).split("; "), sep=chr(10))
    1 of 1 arc is well supported (at least 95 % of the replicates join its two variables)
    none is doubtful (fewer than half do).
    """
    words = words or Words()
    table = with_confidence(arcs, confidences)
    keys = zip(table["task"], table["from"], table["to"], strict=True)
    shares = table["edge_confidence"][[key not in required for key in keys]]
    if not len(shares):
        return ""
    if confidences.attrs.get("ended_by"):
        return "Replicates ended early, so the confidence of arcs is unknown; give more time."
    if n_bootstrap is not None and n_bootstrap < _FEWEST:
        return (
            f"{count(n_bootstrap, 'replicate')} cannot tell which arcs are well supported; learn "
            f"{_FEWEST} or more ({words.parameter('n_bootstrap')})."
        )
    n_sure, n_doubtful = int((shares >= _SURE).sum()), int((shares < 0.5).sum())
    by_task = ", counted in each task," if arcs["task"].nunique() > 1 else ""
    are, their = ("is", "its") if n_sure <= 1 else ("are", "their")
    text = (
        f"{n_sure or 'None'} of {count(len(shares), 'arc')}{by_task} {are} well supported (at "
        f"least {100 * _SURE:.0f} % of the replicates join {their} two variables); "
        f"{n_doubtful or 'none'} "
        f"{'is' if n_doubtful <= 1 else 'are'} doubtful (fewer than half do)."
    )
    if n_sure == len(shares):
        return text
    text += f" {words.remedy(Action('settle more'))}"
    if n_doubtful and not is_consensus:
        text += f"; {words.remedy(Action('leave doubtful out'))}"
    return f"{text}."
