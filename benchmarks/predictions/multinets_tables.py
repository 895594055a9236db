"""Tables, claims and the picture of the study of multi-nets, from its lines."""

from benchmarks.claims import OURS as OWN_CLAIM
from benchmarks.claims import Claim, claims_table, tally
from benchmarks.drawing import axis_of_sizes, curves, panels
from benchmarks.predictions.multinets_learners import CHOSEN, DEFAULTS, FIXED_SIZE, KINDS, methods
from benchmarks.summary import (
    LEVEL,
    by_trial,
    has,
    markdown,
    mean_and_error,
    resampled_error,
    resampled_p,
)

MEASURES = {"errors": "share of errors", "cross_entropy": "cross-entropy (nats)"}
OURS = "nets together"


def compared(ending):
    """Names of the methods that are held against each other, kind -> name.

    Where the defaults are measured, what has none is that with its smoothing chosen.
    """
    return {**methods(CHOSEN if ending == DEFAULTS else ending), **methods(ending)}


def known_endings(lines):
    """The endings that there are lines of nets learned together of."""
    present = set(lines["method"])
    return [one for one in (FIXED_SIZE, CHOSEN, DEFAULTS) if f"{OURS}{one}" in present]


def tables(lines):
    """What each method reaches by table and share, and the claims."""
    made = {}
    for ending, name in ((FIXED_SIZE, "fixed"), (CHOSEN, "chosen"), (DEFAULTS, "defaults")):
        if ending in known_endings(lines):
            key = "multinets" if ending == FIXED_SIZE else f"multinets_{name}"
            made[key] = markdown(_reached(lines, ending))
            made[f"{key}_claims"] = claims_table(claims(lines, ending))
    return made


def _reached(lines, ending):
    for (table, _), own in lines.groupby(["table", "share"]):
        row = {"table": table, "rows learned from": f"{own['learned'].mean():.0f}"}
        row["trials"] = own["trial"].nunique()
        for kind, method in compared(ending).items():
            here = own[own["method"] == method]
            row[kind] = ", ".join(mean_and_error(here[name], 3) for name in MEASURES)
        yield row


def claims(lines, ending):
    """That nets learned together are better than every other kind."""
    for name, title in MEASURES.items():
        for kind in KINDS:
            if kind != OURS:
                yield from _below(lines, kind, ending, name, title)


def _below(lines, kind, ending, name, title):
    """Whether nets learned together are better than another kind, table by table."""
    ours, other = (compared(ending)[one] for one in (OURS, kind))
    signs, texts = [], []
    for (table, share), own in lines.groupby(["table", "share"]):
        wide = by_trial(own, "method", name)
        if not has(wide, ours, other):
            continue
        gain = (wide[other] - wide[ours]).dropna()
        # Rows that are predicted by the row learned from, the same in all trials.
        ratio = (1 - share) / share
        sure = resampled_p(gain, ratio) < LEVEL
        text = f"{table} {share:.0%}: {gain.mean():.3f}"
        if len(gain) > 1:
            text += f" ± {resampled_error(gain, ratio):.3f}"
        texts.append(text if sure else f"{text} (n.s.)")
        signs.append((1 if gain.mean() > 0 else -1) if sure else 0)
    if texts:
        yield Claim(
            f"{OURS} below {kind}, {title}",
            "hoped for" if kind == "nets apart" else OWN_CLAIM,
            ", ".join(texts),
            tally(signs, "better in {above} of {n}, worse in {below}"),
        )


def draw(lines):
    """Errors and cross-entropy by number of rows, a panel a table; the last ending there is."""
    names = sorted(set(lines["table"]))
    shown = compared((known_endings(lines) or [FIXED_SIZE])[-1])
    styles = {
        method: {"marker": marker, "markersize": 4, "linewidth": 1, "label": kind}
        for (kind, method), marker in zip(shown.items(), "ovs^Dx", strict=True)
    }
    figure, grid = panels(2, len(names), (2.6 * len(names) + 0.4, 5))
    for row, (name, title) in zip(grid, MEASURES.items(), strict=True):
        row[0].set_ylabel(title, fontsize=8)
        for axes, table in zip(row, names, strict=True):
            own = lines[lines["table"] == table]
            curves(axes, own, "learned", name, "method", styles)
            axis_of_sizes(axes, sorted(set(own["learned"])), "")
            axes.tick_params(labelsize=8)
    for above, below, table in zip(*grid, names, strict=True):
        above.set_title(table, fontsize=9)
        below.set_xlabel("rows learned from", fontsize=8)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure
