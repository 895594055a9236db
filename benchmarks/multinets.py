"""Whether multi-nets whose classes are learned together predict better (thesis, section 2.5).

Run `python -m benchmarks.multinets --data FOLDER` (an hour on two cores; it takes pyAgrum, which
`pip install -e ".[bench]"` brings). The data are no part of the project: see `benchmarks/uci.py`.
Rows to learn from are a share of every class, two of each at least; all others are predicted.
Numbers are cut into five bins by the rows to learn from, and missing values are a state. The arcs
of tree-augmented naive Bayes (TAN) are pyAgrum's; its tables are estimated as ours.
"""

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.naive_bayes import CategoricalNB

from benchmarks import study, uci
from benchmarks.peers import require
from benchmarks.summary import (
    by_trial,
    claims_table,
    difference_text,
    is_significant,
    markdown,
    mean_and_error,
)
from benchmarks.variants import N_FOLDS, SAMPLE_SIZE, THESIS
from bnmtl import BayesNet, IdenticalLearner, MultitaskLearnerCV, SingleTaskLearner
from bnmtl.classification import BayesNetClassifier, MultiNetClassifier
from bnmtl.seeding import generator

NAME = "multinets"
SETTINGS = ("table", "share", "trial", "method")
DPI = 100
TAKES_DATA = True
BINS = 5
FIXED = {"bins": BINS}
N_TRIALS = 10
TABLES = ("vowel", "segment", "soybean", "kr-vs-kp", "pendigits", "vote")
SHARES = (0.2, 0.5)
QUICK = "wine"
TARGET = "class to predict"


def plan(quick, trials=None):
    """A case a trial; the quick one is a table that scikit-learn brings, without its peer."""
    if quick:
        wanted = [method for method in METHODS if method != "TAN"]
        return [{"table": QUICK, "share": 0.2, "trial": 0, "wanted": wanted}]
    return [
        {"table": table, "share": share, "trial": trial, "wanted": list(METHODS)}
        for trial in range(trials or N_TRIALS)
        for table in TABLES
        for share in SHARES
    ]


def check_needs(cases, lines):
    """Raise ValueError where data or pyAgrum are needed and not there, or the data are others."""
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


def drawn(classes, share, random):
    """Whether each row is one to learn from: that share of every class, two rows at least."""
    learned = np.zeros(len(classes), dtype=bool)
    for name in sorted(set(classes)):
        rows = random.permutation(np.flatnonzero(classes == name))
        learned[rows[: max(2, round(share * len(rows)))]] = True
    return learned


def _naive_bayes(frame, y, trial):
    codes = np.column_stack([frame[column].cat.codes for column in frame])
    sizes = [len(frame[column].cat.categories) for column in frame]
    return CategoricalNB(min_categories=sizes).fit(codes, y)


def tan(frame, y):
    """Tree-augmented naive Bayes: arcs by pyAgrum, tables as in `BayesNet.fit`."""
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    varying = [column for column in frame if frame[column].nunique() > 1]
    numbers = {column: f"v{at}" for at, column in enumerate(varying)}
    learner = BNClassifier(
        type_processor=DiscreteTypeProcessor(), learningMethod="TAN", prior="Smoothing"
    )
    learner.fit(frame[varying].rename(columns=numbers).astype(str), pd.Series(y, name="class"))
    names = {number: column for column, number in numbers.items()} | {learner.target_: TARGET}
    network = learner.bn_
    graph = nx.DiGraph([(TARGET, column) for column in frame])
    for tail, head in network.arcs():
        graph.add_edge(names[network.variable(tail).name()], names[network.variable(head).name()])
    rows = frame.assign(**{TARGET: pd.Categorical(y)})
    fitted = BayesNet.fit(graph, rows, equivalent_sample_size=SAMPLE_SIZE)
    return BayesNetClassifier.from_network(fitted, TARGET)


def _multi_net(kind):
    def fit(frame, y, trial):
        # As many folds as the rarest class has rows.
        folds = min(N_FOLDS, *np.unique(y, return_counts=True)[1])
        chosen = {"cv": int(folds)} if kind is MultitaskLearnerCV else {}
        learner = kind(**THESIS, **chosen, random_state=trial)
        return MultiNetClassifier(learner=learner).fit(frame, y)

    return fit


METHODS = {
    "naive Bayes": _naive_bayes,
    "TAN": lambda frame, y, trial: tan(frame, y),
    "one network": lambda frame, y, trial: BayesNetClassifier(
        TARGET, SingleTaskLearner(**THESIS, random_state=trial)
    ).fit(frame, y),
    "nets apart": _multi_net(SingleTaskLearner),
    "nets of one structure": _multi_net(IdenticalLearner),
    "nets together": _multi_net(MultitaskLearnerCV),
}


def measure(table, share, trial, wanted):
    """A line a method: how well it predicts the other rows."""
    features, classes, data = rows_of(table)
    random = generator(trial, f"{table} {share}")
    learned = drawn(classes, share, random)
    frame = uci.Views(features, np.flatnonzero(learned)).categories(BINS)
    for column in frame.columns[frame.isna().any()]:
        frame[column] = frame[column].cat.add_categories("missing").fillna("missing")
    lines = {}
    for method in wanted:
        model = METHODS[method](frame[learned], classes[learned], trial)
        rows = frame[~learned]
        if method == "naive Bayes":
            rows = np.column_stack([rows[column].cat.codes for column in rows])
        p = model.predict_proba(rows)
        own = np.searchsorted(model.classes_, classes[~learned])
        lines[method] = {
            "data": data,
            "errors": round(float(np.mean(p.argmax(axis=1) != own)), 6),
            "cross_entropy": round(float(-np.log(p[np.arange(len(p)), own]).mean()), 6),
            "learned": int(learned.sum()),
        }
        if method == "nets together":
            lines[method]["penalty"] = model.learner_.penalty_
    return lines


MEASURES = {"errors": "share of errors", "cross_entropy": "cross-entropy (nats)"}


def tables(lines):
    """What each method reaches by table and share, and the claims."""
    rows = []
    for (table, _), own in lines.groupby(["table", "share"]):
        row = {
            "table": table,
            "rows learned from": f"{own['learned'].mean():.0f}",
            "trials": own["trial"].nunique(),
        }
        for method in METHODS:
            here = own[own["method"] == method]
            row[method] = ", ".join(mean_and_error(here[name], 3) for name in MEASURES)
        rows.append(row)
    return {
        "multinets": markdown(pd.DataFrame(rows)),
        "multinets_claims": claims_table(_claims(lines)),
    }


def _claims(lines):
    for name, title in MEASURES.items():
        for other in METHODS:
            if other != "nets together":
                yield from _below(lines, other, name, title)


def _below(lines, other, name, title):
    """Whether nets learned together are better than another method, table by table."""
    better, worse, texts = 0, 0, []
    for (table, share), own in lines.groupby(["table", "share"]):
        wide = by_trial(own, "method", name)
        if {"nets together", other} <= set(wide):
            ours, theirs = wide["nets together"], wide[other]
            texts.append(f"{table} {share:.0%}: {difference_text(theirs, ours, 3)}")
            if is_significant(ours, theirs):
                less = ours.mean() < theirs.mean()
                better, worse = better + less, worse + (not less)
    if texts:
        yield (
            f"nets together below {other}, {title}",
            "hoped for" if other == "nets apart" else "our own",
            ", ".join(texts),
            f"better in {better} of {len(texts)}, worse in {worse}",
        )


def draw(lines):
    """Errors and cross-entropy by number of rows, a panel a table."""
    from matplotlib.figure import Figure

    names = sorted(set(lines["table"]))
    figure = Figure(figsize=(2.6 * len(names) + 0.4, 5), layout="constrained")
    panels = figure.subplots(2, len(names), squeeze=False)
    markers = dict(zip(METHODS, "ovs^Dx", strict=True))
    for row, (name, title) in zip(panels, MEASURES.items(), strict=True):
        for axes, table in zip(row, names, strict=True):
            own = lines[lines["table"] == table]
            for method, marker in markers.items():
                groups = own[own["method"] == method].groupby("learned")[name]
                if len(groups):
                    style = {"marker": marker, "markersize": 4, "linewidth": 1, "label": method}
                    axes.errorbar(groups.mean().index, groups.mean(), groups.sem(), **style)
            sizes = sorted(set(own["learned"]))
            axes.set_xscale("log")
            axes.set_xticks(sizes, sizes)
            axes.set_xticks([], minor=True)
            if name == "errors":
                axes.set_title(table, fontsize=9)
            else:
                axes.set_xlabel("rows learned from", fontsize=8)
            axes.tick_params(labelsize=8)
        row[0].set_ylabel(title, fontsize=8)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


if __name__ == "__main__":
    study.main(NAME)
