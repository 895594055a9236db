"""Plots that judge models: what is drawn, and mistakes."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bnmtl import HillClimbing, SingleTaskLearner, plotting, structures
from bnmtl.confidence import arc_stability
from bnmtl.errors import InputError, InputTypeError
from bnmtl.validation import bias_variance, predict_rounds

pytestmark = pytest.mark.beside_kernels


def made(model=None, n=6, scheme="bootstrap"):
    X, y = make_classification(80, 4, flip_y=0.2, random_state=0)
    return predict_rounds(model or GaussianNB(), X, y, scheme, n, random_state=0)


def decomposed():
    rows = []
    for leaves in (2, 8, 32):
        found = bias_variance(made(DecisionTreeClassifier(max_leaf_nodes=leaves)))
        rows += [
            found.loc[loss].to_dict() | {"complexity": leaves, "loss": loss} for loss in found.index
        ]
    return pd.DataFrame(rows)


def test_parts_are_stacked_and_their_sum_is_the_error():
    table = decomposed()
    table = table[table["loss"] == "zero_one"].reset_index(drop=True)
    figure = plotting.bias_variance(table.iloc[::-1], xlabel="leaves")
    axes = figure.axes[0]
    assert [one.get_text() for one in axes.get_xticklabels()] == ["32", "8", "2"]
    bars = {one.get_label(): list(one) for one in axes.containers}
    assert set(bars) == {"bias", "variance", "variance that corrects a bias"}
    (errors,) = [line for line in axes.lines if line.get_label() == "error"]
    for at, row in table.iloc[::-1].reset_index(drop=True).iterrows():
        low, high = (bars[name][at] for name in ("bias", "variance"))
        assert low.get_y() == 0 and low.get_height() == pytest.approx(row["bias"])
        assert high.get_y() == pytest.approx(row["bias"])
        corrected = bars["variance that corrects a bias"][at]
        assert corrected.get_y() + corrected.get_height() <= 0
        total = sum(one[at].get_height() for one in bars.values())
        assert errors.get_ydata()[at] == pytest.approx(row["error"]) == pytest.approx(total)
    assert axes.get_xlabel() == "leaves"


def test_panels_have_one_scale_that_holds_all_bars():
    table = decomposed()
    figure = plotting.bias_variance(table, by="loss", ylabel="loss")
    panels = figure.axes[:3]
    assert [one.get_title() for one in panels] == ["zero_one", "kohavi_wolpert", "squared"]
    assert len({one.get_ylim() for one in panels}) == 1
    low, high = panels[0].get_ylim()
    for one in panels:
        for bar in one.patches:
            assert low <= bar.get_y() and bar.get_y() + bar.get_height() <= high
    # Rows of the same complexity are averaged.
    twice = pd.concat([table, table.assign(error=0.0, bias=0.0)])
    (errors,) = [
        line
        for line in plotting.bias_variance(twice, by="loss").axes[0].lines
        if line.get_label() == "error"
    ]
    assert errors.get_ydata()[0] == pytest.approx(table["error"].iloc[0] / 2)
    by_level = plotting.bias_variance(table.set_index("loss"), by="loss")
    assert [one.get_title() for one in by_level.axes[:3]] == [one.get_title() for one in panels]
    noisy = plotting.bias_variance(table.assign(noise=0.1), by="loss")
    assert {one.get_label() for one in noisy.axes[0].containers} >= {"noise"}


def test_rounds_are_dots():
    both = {"bayes": made(), "tree": made(DecisionTreeClassifier())}
    figure = plotting.rounds(both, "squared_error")
    axes = figure.axes[0]
    assert [one.get_text() for one in axes.get_yticklabels()] == ["bayes", "tree"]
    dots = [line for line in axes.lines if line.get_marker() == "."]
    for line, one in zip(dots, both.values(), strict=True):
        expected = [
            np.mean(((p[known] - np.eye(2)[one.codes[known]]) ** 2).sum(axis=1))
            for p, known in zip(one.predictions, one.is_predicted, strict=True)
        ]
        np.testing.assert_allclose(line.get_xdata(), expected)
    assert axes.get_xlabel() == "squared error"
    assert len(plotting.rounds(made()).axes[0].get_yticklabels()) == 1


def test_titles_have_the_stability_of_tasks():
    asia = structures.load("asia")
    tasks = {name: asia.sample(200, random_state=at) for at, name in enumerate("ab")}
    learner = SingleTaskLearner(search=HillClimbing(restarts=0), random_state=0)
    found = arc_stability(tasks, learner, n=8)
    graphs = learner.fit(tasks).configuration_
    figure = plotting.arc_stability(graphs, found, layout="layered")
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    for task in "ab":
        row = found.summary.loc[("given", task)]
        expected = f"{task}: stability {row['edges']:.2f} ({row['edges_low']:.2f} to"
        assert any(text.startswith(expected) for text in texts)
    assert "line width: joined in all replicates" in " ".join(texts)
    few = "dotted: in fewer than half"
    for share in (0.0, 1.0):
        same = found._replace(arcs=found.arcs.assign(edge=share))
        figure = plotting.arc_stability(graphs, same, layout="layered")
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert (few in texts) == (share == 0)
    equal = found.summary.assign(edges=1.0, edges_low=np.nan, edges_high=np.nan)
    figure = plotting.arc_stability(graphs, found._replace(summary=equal), layout="layered")
    assert "a: stability 1.00" in [text.get_text() for axes in figure.axes for text in axes.texts]
    empty = {name: nx.create_empty_copy(graph) for name, graph in graphs.items()}
    for n_arcs, words in ((0.0, "no stability, no arcs"), (28.0, "all possible edges")):
        unknown = found._replace(summary=found.summary.assign(edges=np.nan, n_arcs=n_arcs))
        figure = plotting.arc_stability(empty, unknown, layout="layered")
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert f"a: {words}" in texts


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plotting.bias_variance("table"), "must be a DataFrame"),
        (lambda: plotting.bias_variance(pd.DataFrame({"bias": [1.0]})), "complexity"),
        (lambda: plotting.bias_variance(decomposed(), by="task"), "`by` must be a column"),
        (lambda: plotting.bias_variance(decomposed(), xlabel=3), "xlabel"),
        (
            lambda: plotting.bias_variance(decomposed().assign(bias="a"), "loss"),
            "`bias` must hold f",
        ),
        (
            lambda: plotting.bias_variance(decomposed().assign(noise=np.nan), "loss"),
            "finite numbers",
        ),
        (
            lambda: plotting.bias_variance(decomposed().assign(complexity=np.nan), "loss"),
            "the complexity of each row",
        ),
        (lambda: plotting.bias_variance(decomposed()), "of one loss"),
        (lambda: plotting.bias_variance(decomposed().set_index("loss")), "of one loss"),
        (lambda: plotting.rounds({"a": 3}), "must be rounds"),
        (lambda: plotting.rounds(made(), "gini"), "metric"),
        (lambda: plotting.rounds(made(scheme="jackknife"), "roc_area"), "a round on which"),
        (lambda: plotting.arc_stability(nx.DiGraph([("a", "b")]), "sure"), "arc_stability"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        call()


def test_other_learners_and_tasks_are_refused():
    rows = {"a": structures.load("asia").sample(100, random_state=0)}
    learner = SingleTaskLearner(search=HillClimbing(restarts=0), random_state=0)
    found = arc_stability(rows, learner, n=2)
    graphs = learner.fit(rows).configuration_
    with pytest.raises(InputError, match="`learner` must be"):
        plotting.arc_stability(graphs, found, "alone")
    with pytest.raises(InputError, match="`b` is missing"):
        plotting.arc_stability({"b": graphs["a"]}, found)
