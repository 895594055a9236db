"""Summary of a comparison on held-out rows: gains from arcs and sharing, as sentences."""

import math

from bnmtl.errors import Action, Words
from bnmtl.learners.comparison import SURE, gain, worse_together
from bnmtl.wording import all_of

# Descriptions of the values of `chosen_by_`.
WAYS = {
    "cv": "chosen by held-out rows",
    "one-standard-error": "the largest within one standard error of the best by held-out rows",
    "posterior": "chosen by its posterior",
    "held-out rows": "chosen by rows held out once",
}
# Ways to learn, as named in the results of `bnmtl.learners.compare`.
WAYS_TO_LEARN = ("together", "one_group", "alone", "empty")
_ROUNDING = 1e-9
NOTHING = "Nothing was found"
_MORE = Action("show more")


def held_out_record(scored):
    """Means and differences of the ways to learn, over all rows and by task.

    Parameters
    ----------
    scored : pandas.DataFrame
        The result of `bnmtl.learners.compare`.

    Returns
    -------
    dict
        "folds"; the mean nats per row of each way under its name, without "one_group" if one group
        was found in every fold; "differences" with keys like "together - alone" and values
        [difference, standard error]; "tasks", the means by task;
        "worse_together", the tasks for which learning together is worse than alone by more than two
        standard errors, as task -> [difference, standard error];
        "ended_by", the limits that ended searches early; "shares_tables", whether tasks shared
        tables when learned together and without arcs; and "chooses", whether the penalty was chosen
        separately for each fold.
    """
    ways = [way for way in WAYS_TO_LEARN if way in scored]
    if "one_group" in ways and scored["one_group"].equals(scored["together"]):
        ways.remove("one_group")
    pairs = [(a, b) for at, a in enumerate(ways) for b in ways[at + 1 :]]
    by_task = scored.groupby("task", observed=True)[ways].mean()
    return {
        "folds": int(scored["fold"].nunique()),
        **{way: float(scored[way].mean()) for way in ways},
        "differences": {f"{a} - {b}": list(gain(scored, a, b)) for a, b in pairs},
        "tasks": {name: {way: float(row[way]) for way in ways} for name, row in by_task.iterrows()},
        "worse_together": worse_together(scored),
        "ended_by": list(scored.attrs.get("ended_by", ())),
        "shares_tables": bool(scored.attrs.get("shares_tables", False)),
        "chooses": bool(scored.attrs.get("chooses", False)),
    }


def of_arcs(record):
    """Whether the arcs predict held-out rows better than no arcs, and a sentence about it.

    Parameters
    ----------
    record : dict
        The result of `held_out_record`.

    Returns
    -------
    is_found : bool
        By more than one standard error.
    sentence : str
    """
    differences = record["differences"]
    way = "together" if "together - empty" in differences else "alone"
    difference, error = differences[f"{way} - empty"]
    if difference <= error:
        return False, (
            f"{NOTHING}: on held-out rows the learned arcs predict no better than no arcs "
            f"({value(difference, error)} nats per row)."
        )
    size = value(difference, error, False)
    return True, f"On held-out rows the learned arcs gain {size} nats per row over no arcs."


def nothing_found(record, n_arcs, ended_by=(), max_cells=None):
    """Whether no arc was found, or the arcs predict held-out rows no better than no arcs.

    False if searches ended early or families were excluded, because it is then unknown.

    Parameters
    ----------
    record, n_arcs, ended_by, max_cells
        As those of `sentences`.

    Returns
    -------
    bool
    """
    if not n_arcs:
        return not ended_by and max_cells is None
    return record is not None and not record.get("ended_by") and not of_arcs(record)[0]


def sentences(record, n_arcs, ended_by=(), max_cells=None, words=None):
    """Sentences about the arcs found and the gain from sharing.

    Parameters
    ----------
    record : dict or None
        The result of `held_out_record`; None if no rows were held out.
    n_arcs : int
        Number of arcs of the learned networks.
    ended_by : tuple of str, default=()
        Limits that ended the search early; arcs it did not reach may exist.
    max_cells : int, optional
        The limit on cells of a table, if it excluded families.
    words : bnmtl.errors.Words, optional
        How parameters and remedies are rendered; default: for users of Python.

    Returns
    -------
    list of str

    Examples
    --------
    >>> record = {"differences": {"alone - empty": [0.5, 0.1]}}
    >>> sentences(record, 3)
    ['On held-out rows the learned arcs gain 0.50 ± 0.10 nats per row over no arcs.']
    """
    words = words or Words()
    more = words.remedy(_MORE)
    if not n_arcs and ended_by:
        return ["The search ended before it found an arc; more time may show some."]
    if not n_arcs and max_cells is not None:
        return [
            f"No arc was learned, and {words.setting('max_cells', max_cells)} kept out families "
            "that might have had one; raise it."
        ]
    if not n_arcs:
        return [f"{NOTHING}: no arc was learned. {more}", *_gain_of_tables(record)]
    if record is None:
        return ["No rows were held out, so the gain from the arcs is unknown."]
    if record.get("ended_by"):
        chosen = ", and the penalty chosen by it is unreliable" if record.get("chooses") else ""
        return [
            "Cross-validation ended early, so the gain from the arcs is unknown"
            f"{chosen}; give more time."
        ]
    is_found, first = of_arcs(record)
    if not is_found:
        return [f"{first} {more}"]
    if "together - alone" not in record["differences"]:
        return [first]
    return [first, *_gain_of_sharing(record, words), *_of_worse(record)]


def _gain_of_sharing(record, words):
    """A list with a sentence on learning together against each task alone."""
    more = words.remedy(_MORE)
    difference, error = record["differences"]["together - alone"]
    size = f"{value(difference, error)} nats per row against each task alone"
    if max(abs(difference), error) < _ROUNDING:
        return ["Learning the tasks together made no difference."]
    if difference > SURE * error:
        return [f"Learning the tasks together helped: {size}."]
    if difference < -SURE * error:
        return [
            f"Learning the tasks together did not help: {size}; tasks may have little in common "
            f"({words.remedy(Action('compare'))}).",
        ]
    return [f"It is unclear whether learning together helped: {size}. {more}"]


def _of_worse(record):
    """A list with a sentence that names the tasks that pay for learning together, if any do."""
    worse = record.get("worse_together", {})
    if not worse:
        return []
    named = [f"{name} ({value(*numbers)})" for name, numbers in worse.items()]
    return [f"Learning together is worse than alone for {all_of(named)}, in nats per row."]


def _gain_of_tables(record):
    """A list with a sentence if shared tables gain without arcs; otherwise empty."""
    if record is None or record.get("ended_by") or not record.get("shares_tables"):
        return []
    difference, error = record["differences"].get("together - alone", (0.0, 0.0))
    if difference <= max(SURE * error, _ROUNDING):
        return []
    size = value(difference, error)
    return [f"Sharing tables still helped: {size} nats per row against each task alone."]


def value(difference, error, signed=True):
    """A difference with its standard error, as text; small errors are shown with more digits."""
    digits = 2 if error == 0 else min(max(2, math.ceil(-math.log10(error))), 4)
    # Avoid minus zero.
    difference = round(float(difference), digits) + 0.0
    shown = f"{difference:+.{digits}f}" if signed else f"{difference:.{digits}f}"
    return f"{shown.replace('-', chr(0x2212))} ± {error:.{digits}f}"
