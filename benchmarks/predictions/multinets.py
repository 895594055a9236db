"""Whether multi-nets whose classes are learned together predict better (thesis, section 2.5).

Run `python -m benchmarks.predictions.multinets --data FOLDER` (hours on two cores; requires
pyAgrum: `pip install -e ".[bench]"`). The data are not part of the project: see
`benchmarks/predictions/uci.py`. Training rows are a share of every class, at least two of each; all
others are predicted. Numeric columns are discretized into five bins by the training rows, and
missing values are a state. Every method is measured with the same smoothing of tables and with a
smoothing chosen for it on some of the training rows; our methods also with their defaults. See
`benchmarks/predictions/multinets_learners.py`.
"""

import numpy as np

from benchmarks import study
from benchmarks.claims import OURS as OUR_CLAIM
from benchmarks.claims import Claim, claims_table, tally
from benchmarks.drawing import axis_of_sizes, mean_curves, panels
from benchmarks.predictions import uci
from benchmarks.predictions.multinets_learners import (
    CHOSEN,
    DEFAULTS,
    FIXED_SIZE,
    KINDS,
    cross_entropy,
    drawn,
    learned,
    methods,
)
from benchmarks.speed.peers import require
from benchmarks.summary import (
    LEVEL,
    by_trial,
    has,
    markdown,
    mean_and_error,
)
from bnmtl.metrics.resampled import resampled_error, resampled_p
from bnmtl.seeding import generator

NAME = "multinets"
SETTINGS = ("table", "share", "trial", "method")
TAKES_DATA = True
BINS = 5
FIXED = {"bins": BINS}
N_TRIALS = 10
TABLES = ("vowel", "segment", "soybean", "kr-vs-kp", "pendigits", "vote")
SHARES = (0.2, 0.5)
QUICK = "wine"
# Ending of the methods -> name of their table.
NAMES = {FIXED_SIZE: "multinets", CHOSEN: "multinets_chosen", DEFAULTS: "multinets_defaults"}
ENDINGS = tuple(NAMES)


def plan(quick, trials=None):
    """One case per trial; the quick one uses a table of scikit-learn, without pyAgrum."""
    names = [name for ending in ENDINGS for name in methods(ending).values()]
    if quick:
        few = methods(ENDINGS[0]).values()
        wanted = [name for name in few if not name.startswith("TAN")]
        return study.every(wanted, table=[QUICK], share=[0.2], trial=[0])
    return study.every(names, trial=range(trials or N_TRIALS), table=TABLES, share=SHARES)


def check_needs(cases, lines):
    """Raise ValueError if needed data or pyAgrum are missing, or the data are not the same."""
    wanted = {case["table"] for case in cases} - {QUICK}
    uci.check_same({table: table for table in wanted}, lines, "table")
    if wanted:
        require("pyagrum")


def rows_of(table):
    """Features, classes and a hash of the data."""
    if table == QUICK:
        from sklearn.datasets import load_wine

        whole = load_wine(as_frame=True)
        return whole.data, whole.target.astype(str).to_numpy(dtype=object), "scikit-learn"
    return *uci.read(table), uci.fingerprint(table)


def is_training(classes, share, random):
    """Whether each row is a training row: a share of every class, at least two rows."""
    return drawn(classes, random, lambda n: max(2, round(share * n)))


def measure(table, share, trial, wanted):
    """One line per method: errors and cross-entropy on the other rows."""
    features, classes, data = rows_of(table)
    random = generator(trial, f"{table} {share}")
    is_train = is_training(classes, share, random)
    frame = uci.Views(features, np.flatnonzero(is_train)).categories(BINS)
    for column in frame.columns[frame.isna().any()]:
        frame[column] = frame[column].cat.add_categories("missing").fillna("missing")
    lines = {}
    for method in wanted:
        learner, size = learned(method, frame[is_train], classes[is_train], trial)
        model = learner.at(size)
        p = model.predict_proba(frame[~is_train])
        wrong = model.classes_[p.argmax(axis=1)] != classes[~is_train]
        lines[method] = {
            "data": data,
            "errors": round(float(np.mean(wrong)), 6),
            "cross_entropy": round(cross_entropy(model, frame[~is_train], classes[~is_train]), 6),
            "learned": int(is_train.sum()),
        }
        if method.startswith("nets together"):
            lines[method]["penalty"] = learner.penalty
        if method.endswith(CHOSEN):
            lines[method]["smoothing"] = size
    return lines


MEASURES = {"errors": "share of errors", "cross_entropy": "cross-entropy (nats)"}
OURS = "nets together"


def compared(ending):
    """Names of the methods that are compared, kind -> name.

    If the defaults are measured, methods without defaults use the chosen smoothing.
    """
    return {**methods(CHOSEN if ending == DEFAULTS else ending), **methods(ending)}


def known_endings(lines):
    """The endings with lines of nets learned together."""
    present = set(lines["method"])
    return [one for one in NAMES if f"{OURS}{one}" in present]


def tables(lines):
    """Results of each method by table and share, and the claims."""
    made = {}
    for ending in known_endings(lines):
        made[NAMES[ending]] = markdown(_reached(lines, ending))
        made[f"{NAMES[ending]}_claims"] = claims_table(claims(lines, ending))
    return made


def _reached(lines, ending):
    for (table, _), group in lines.groupby(["table", "share"]):
        row = {"table": table, "rows learned from": f"{group['learned'].mean():.0f}"}
        row["trials"] = group["trial"].nunique()
        for kind, method in compared(ending).items():
            here = group[group["method"] == method]
            row[kind] = ", ".join(mean_and_error(here[name], 3) for name in MEASURES)
        yield row


def claims(lines, ending):
    """Claims that nets learned together are better than every other kind."""
    for name, title in MEASURES.items():
        for kind in KINDS:
            if kind != OURS:
                yield from _below(lines, kind, ending, name, title)


def _below(lines, kind, ending, name, title):
    """Whether nets learned together are better than another kind, table by table."""
    ours, other = (compared(ending)[one] for one in (OURS, kind))
    signs, texts = [], []
    for (table, share), group in lines.groupby(["table", "share"]):
        wide = by_trial(group, "method", name)
        if not has(wide, ours, other):
            continue
        gain = (wide[other] - wide[ours]).dropna()
        # Test rows per training row, the same in all trials.
        ratio = (1 - share) / share
        is_sure = resampled_p(gain, ratio) < LEVEL
        text = f"{table} {share:.0%}: {gain.mean():.3f}"
        if len(gain) > 1:
            text += f" ± {resampled_error(gain, ratio):.3f}"
        texts.append(text if is_sure else f"{text} (n.s.)")
        signs.append((1 if gain.mean() > 0 else -1) if is_sure else 0)
    if texts:
        yield Claim(
            f"{OURS} below {kind}, {title}",
            "hoped for" if kind == "nets apart" else OUR_CLAIM,
            ", ".join(texts),
            tally(signs, "better in {above} of {n}, worse in {below}"),
        )


def draw(lines):
    """Errors and cross-entropy by number of rows for the last ending, one panel per table."""
    shown = compared((known_endings(lines) or [FIXED_SIZE])[-1])
    styles = {
        method: {"marker": marker, "markersize": 4, "linewidth": 1, "label": kind}
        for (kind, method), marker in zip(shown.items(), "ovs^Dx", strict=True)
    }

    def draw_table(axes, measure, table):
        group = lines[lines["table"] == table]
        mean_curves(axes, group, "learned", "method", measure, styles)
        axis_of_sizes(axes, sorted(set(group["learned"])), "")

    options = {"legend": "above", "supxlabel": "rows learned from"}
    return panels(draw_table, (2.6, 2.5), sorted(set(lines["table"])), MEASURES, **options)


if __name__ == "__main__":
    study.main(__spec__.name)
