"""Pictures that say how sure arcs are, which way variables go together, what cannot be shared."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch
from pictures import assert_readable, graph, texts

from bnmtl import plotting, structures
from bnmtl.plotting.drawing import COLORS
from bnmtl.plotting.graphs import sign_places

pytestmark = pytest.mark.beside_kernels


def sure(**edges):
    """A table of confidences of task 1, from words such as ab=0.9."""
    rows = [("1", *arc, value / 2, value) for arc, value in edges.items()]
    return pd.DataFrame(rows, columns=["task", "parent", "child", "arc", "edge"])


def curves(figure, task):
    """(width, is dotted) of the panel's arcs."""
    axes = next(axes for axes in figure.axes if axes.get_label() == task)
    patches = [patch for patch in axes.patches if type(patch) is PathPatch]
    return [(p.get_linewidth(), _is_dotted(p)) for p in patches]


def _is_dotted(patch):
    """Whether the marks of a line are about as long as it is wide."""
    style = patch.get_linestyle()
    return not isinstance(style, str) and style[1][0] < 1.5


def test_confidence_sets_the_width_and_dots_what_fewer_than_half_join():
    tasks = {"1": graph("ab", "bc", "cd", "de")}
    figure = plotting.dags(tasks, confidence=sure(ab=1.0, bc=0.75, cd=0.5, de=0.3))
    assert_readable(figure)
    (thick, *_), (middle, *_), (thin, is_dotted), (weak, weak_is_dotted) = sorted(
        curves(figure, "1"), key=lambda one: (-one[0], one[1])
    )
    assert middle == pytest.approx((thick + thin) / 2)
    assert weak == thin and weak_is_dotted and not is_dotted
    shown = texts(figure)
    for text in (
        "line width: joined in all replicates",
        "in half of them",
        "dotted: in fewer than half",
    ):
        assert shown.count(text) == 1


def test_the_legend_explains_dotted_lines_only_if_there_are_some():
    shown = texts(plotting.dags({"1": graph("ab")}, confidence=sure(ab=0.5)))
    assert "in half of them" in shown
    assert not any("dotted" in text for text in shown)
    empty = texts(plotting.dags({"1": graph(nodes="ab")}, confidence=sure(ab=0.0)))
    assert not any("replicates" in text for text in empty)


def test_tables_of_confidence_that_do_not_fit_are_refused():
    tasks = {"1": graph("ab")}
    with pytest.raises(ValueError, match="`confidence` must be a DataFrame.* 'edge' is missing"):
        plotting.dags(tasks, confidence=sure(ab=1.0).drop(columns="edge"))
    with pytest.raises(ValueError, match="`confidence` must have a row for every arc; a -> b"):
        plotting.dags(tasks, confidence=sure(ba=1.0))
    with pytest.raises(ValueError, match="column `edge` must hold shares from 0 to 1, got 1.5"):
        plotting.dags(tasks, confidence=sure(ab=1.5))
    strength = pd.DataFrame({"from": ["a"], "to": ["b"], "task": ["1"], "strength": [1.0]})
    with pytest.raises(ValueError, match="`strength` must not be given together with `conf"):
        plotting.dags(tasks, confidence=sure(ab=1.0), strength=strength)


def signed(**arcs):
    """A table of arcs of tasks 1 and 2 with their tau-b."""
    rows = [
        (task, *arc, tau)
        for arc, taus in arcs.items()
        for task, tau in zip("12", taus, strict=True)
    ]
    return pd.DataFrame(rows, columns=["task", "from", "to", "tau_b"])


def test_signs_stand_beside_their_arcs_at_the_same_place_in_all_panels():
    tasks = {"1": graph("ab", "bc", "ad"), "2": graph("ba", "bc", "ad")}
    nan = np.nan
    table = signed(ab=(0.5, nan), ba=(nan, 0.4), bc=(-0.2, 0.2), ad=(nan, nan), cd=(0.9, 0.9))
    figure = plotting.dags(tasks, signs=table)
    assert_readable(figure)
    found = {
        axes.get_label(): sorted(t.get_text() for t in axes.texts if t.get_text() in "+\u2212")
        for axes in figure.axes
    }
    assert found == {"1": ["+", "\u2212"], "2": ["+", "+"], "legend": ["+", "\u2212"]}
    places = [
        {t.get_position() for t in axes.texts if t.get_text() in "+\u2212"}
        for axes in figure.axes
        if axes.get_label() != "legend"
    ]
    assert places[0] == places[1]
    assert {"both rise together", "one falls as the other rises"} <= set(texts(figure))
    with pytest.raises(ValueError, match="`signs` must be a DataFrame.* 'tau_b' is missing"):
        plotting.dags(tasks, signs=table.drop(columns="tau_b"))


@pytest.mark.parametrize("name", ["asia", "insurance"])
def test_signs_meet_neither_boxes_nor_each_other(name):
    network = structures.load(name).graph
    layout = plotting.arrange({"": network}, "layered")
    places = sign_places(layout, layout.routes)
    assert set(places) == set(layout.routes)
    points = np.array(list(places.values()))
    for x, y, width, height in layout.boxes.values():
        inside = (np.abs(points[:, 0] - x) < width / 2) & (np.abs(points[:, 1] - y) < height / 2)
        assert not inside.any()
    distances = np.hypot(*(points[:, None] - points[None]).T)
    assert distances[~np.eye(len(points), dtype=bool)].min() >= 6.0
    table = pd.DataFrame([("", a, b, 0.5) for a, b in network.edges])
    table.columns = ["task", "from", "to", "tau_b"]
    assert_readable(plotting.dags(network, signs=table))


def test_a_note_in_bold_replaces_the_numbers_of_shared_arcs():
    tasks = {"1": graph("ab", "bc"), "2": graph("bc", nodes="abc")}
    assert "2 arcs: 1 in all, 1 only here" in texts(plotting.dags(tasks))
    figure = plotting.dags(tasks, note="Nothing was found.")
    assert_readable(figure)
    assert "2 arcs" in texts(figure) and not any("in all," in text for text in texts(figure))
    weights = {
        text.get_text(): text.get_fontweight() for axes in figure.axes for text in axes.texts
    }
    assert weights["Nothing was found."] == "bold" and weights["2 arcs"] != "bold"


def test_arcs_that_only_one_task_could_have_are_neutral():
    tasks = {"1": graph("ab", "bc", "ac"), "2": graph("bc", nodes="bc"), "3": graph(nodes="abc")}
    tasks["3"].nodes["a"]["constant"] = True
    figure = plotting.dags(tasks)
    assert_readable(figure)
    colors = [
        to_hex(patch.get_edgecolor()).upper()
        for axes in figure.axes
        if axes.get_label() == "1"
        for patch in axes.patches
        if type(patch) is PathPatch
    ]
    assert sorted(colors) == sorted([COLORS["sole"].upper()] * 2 + [COLORS["some"]])
    assert "3 arcs: 0 in all, 0 only here, 2 possible only here" in texts(figure)
    assert "possible in this task only" in texts(figure)
    table = plotting.arcs(tasks)
    assert_readable(table)
    assert "an arc that no other task could have" in " ".join(texts(table))
    alone = " ".join(texts(plotting.arcs(tasks["1"])))
    assert "no other task" not in alone


def test_the_table_of_arcs_shows_which_are_doubtful():
    tasks = {"1": graph("ab", "bc"), "2": graph("ab", nodes="c")}
    rows = [("1", "a", "b", 0.9), ("1", "b", "c", 0.5), ("2", "a", "b", 0.49)]
    sure = pd.DataFrame(rows, columns=["task", "parent", "child", "edge"])
    figure = plotting.arcs(tasks, sure)
    assert_readable(figure)
    cells = [
        patch for patch in figure.axes[0].patches if to_hex(patch.get_edgecolor()) != "#efefef"
    ]
    assert [patch.get_linestyle() in (":", "dotted") for patch in cells] == [False, True, False]
    assert "dotted: in fewer than half of the replicates" in texts(figure)
    assert "dotted: in fewer" not in " ".join(texts(plotting.arcs(tasks)))
    with pytest.raises(ValueError, match="`confidence` must be a DataFrame.* 'edge' is missing"):
        plotting.arcs(tasks, sure.drop(columns="edge"))
