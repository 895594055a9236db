"""Pictures of compared graphs count and color arcs by kind, and nothing overlaps."""

import warnings

import networkx as nx
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from pictures import assert_readable, graph, one_axes, texts

from bnmtl import plotting, problems, structures
from bnmtl.metrics import edit_distance
from bnmtl.plotting.drawing import COLORS

pytestmark = pytest.mark.beside_kernels

# Colors of arcs by kind.
MISTAKES = {
    "correct": "#8A8A8A",
    "reversed": COLORS["some"],
    "missing": COLORS["all"],
    "extra": COLORS["one"],
}
OWNERS = {"both": COLORS["all"], "first": COLORS["some"], "second": COLORS["one"]}
LONG = [f"{word} {'very long name ' * 6}{i}" for i, word in enumerate(["A", "A", "b", "c"])]


def alarm():
    changed = [(), (0,), (1,), (2,), (0, 2)]
    return [
        problems.components("alarm", problems.ALARM_COMPONENTS, changed, random_state=seed)
        for seed in (0, 1)
    ]


def small_pair():
    """In x two correct arcs, one reversed, one missing and one extra; in y nothing is wrong."""
    true = {"x": graph("ab", "bc", "cd", "de"), "y": graph("ab", nodes="abc")}
    learned = {"x": graph("ab", "bc", "dc", "ae"), "y": graph("ab", nodes="abc")}
    return true, learned


def arcs_by_style(axes, colors):
    """How many shafts and heads of each color, and the line styles of the shafts."""
    found = {}
    for kind, color in colors.items():
        shafts = [
            patch
            for patch in axes.patches
            if type(patch) is PathPatch and to_hex(patch.get_edgecolor()) == color.lower()
        ]
        heads = [
            patch
            for patch in axes.patches
            if type(patch) is Polygon and to_hex(patch.get_facecolor()) == color.lower()
        ]
        assert len(shafts) == len(heads)
        found[kind] = len(shafts), {str(patch.get_linestyle()) for patch in shafts}
    return found


def test_titles_count_what_the_metrics_count():
    true, learned = alarm()
    figure = plotting.compare(true, learned, layout="layered")
    distances = edit_distance(true, learned)
    assert distances["task1"] == 0 and distances.min() < distances.max()
    for task, distance in distances.items():
        axes = next(axes for axes in figure.axes if axes.get_label() == task)
        assert axes.texts[0].get_text() == task
        head, counts = axes.texts[1].get_text().split(": ")
        assert head == f"edit distance {distance}"
        counts = {kind: int(n) for n, kind in (part.split() for part in counts.split(", "))}
        assert sum(counts.values()) - counts["correct"] == distance
        truth, found = set(true[task].graph.edges), set(learned[task].graph.edges)
        assert counts["correct"] == len(truth & found)
        assert counts["reversed"] == len({(b, a) for a, b in truth} & found)
        drawn = {kind: n for kind, (n, _) in arcs_by_style(axes, MISTAKES).items()}
        assert drawn == counts


def test_kinds_of_arcs_differ_in_color_and_line():
    figure = plotting.compare(*small_pair(), layout="layered")
    x, y = (next(axes for axes in figure.axes if axes.get_label() == task) for task in "xy")
    found = arcs_by_style(x, MISTAKES)
    assert {kind: n for kind, (n, _) in found.items()} == {
        "correct": 2,
        "reversed": 1,
        "missing": 1,
        "extra": 1,
    }
    assert len({line for _, lines in found.values() for line in lines}) == 4
    assert arcs_by_style(y, MISTAKES)["correct"][0] == 1
    for text in ("correct", "reversed, drawn as learned", "extra: only in the learned graph"):
        assert texts(figure).count(text) == 1
    alone = texts(plotting.compare(graph("ab"), graph("ab"), layout="layered"))
    assert "correct" in alone and not any("missing:" in text for text in alone)


def test_reversed_arcs_point_as_learned_and_missing_ones_as_true():
    def tip(true, learned):
        axes = one_axes(plotting.compare(true, learned, layout="layered"))
        return axes, next(p for p in axes.patches if type(p) is Polygon).get_xy()[0][1]

    axes, reversed_tip = tip(graph("ab"), graph("ba"))
    boxes = {t.get_text(): t.get_position()[1] for t in axes.texts if t.get_text() in "ab"}
    # The true direction is downwards, whichever is first by name.
    assert boxes["a"] < reversed_tip < boxes["b"]
    assert reversed_tip - boxes["a"] < boxes["b"] - reversed_tip
    _, missing_tip = tip(graph("ab"), graph(nodes="ab"))
    assert missing_tip > reversed_tip
    axes, _ = tip(graph("ba"), graph("ab"))
    boxes = {t.get_text(): t.get_position()[1] for t in axes.texts if t.get_text() in "ab"}
    assert boxes["b"] < boxes["a"]


def test_variables_keep_their_place_and_lacking_ones_are_outlined():
    true, learned = small_pair()
    learned["x"].add_node("e", constant=True)
    figure = plotting.compare(true, learned)
    places = [
        {t.get_text(): t.get_position() for t in axes.texts if t.get_text() in "abcde"}
        for axes in figure.axes
        if axes.get_label() != "legend"
    ]
    assert places[0] == places[1] and len(places[0]) == 5
    x, y = (next(axes for axes in figure.axes if axes.get_label() == task) for task in "xy")
    faces = [
        [patch.get_facecolor() for patch in axes.patches if type(patch) is FancyBboxPatch]
        for axes in (x, y)
    ]
    gray = [face for face in faces[0] if to_hex(face) != "#ffffff"]
    assert len(gray) == 1 and gray[0][3] == 1
    assert sum(face[3] == 0 for face in faces[1]) == 2
    assert {"variable not in this task", "constant in this task"} <= set(texts(figure))


def test_compare_takes_networks_single_graphs_columns_and_layouts():
    asia = structures.load("asia")
    other = asia.graph.copy()
    other.remove_edge("smoke", "lung")
    figure = plotting.compare(asia, other, layout="layered", font_size=6)
    assert "edit distance 1: 7 correct, 0 reversed, 1 missing, 0 extra" in texts(figure)
    assert figure.get_label() == "layered"
    true, learned = small_pair()
    wide = plotting.compare(true, learned, columns=2).get_size_inches()
    tall = plotting.compare(true, learned, columns=1).get_size_inches()
    assert wide[0] > tall[0] and wide[1] < tall[1]
    together = plotting.arrange({"true": true["x"], "learned": graph("dc", "ae")}, "layered")
    assert plotting.compare(true, learned, layout=together).get_label() == "layered"
    with pytest.raises(ValueError, match="must hold every arc; 'a' -> 'e' has none"):
        plotting.compare(true, learned, layout=plotting.arrange(true, "layered"))
    with pytest.raises(ValueError, match="must hold every variable; 'd' has no place"):
        plotting.compare(true, learned, layout=plotting.arrange(true["y"]))


def north_and_south():
    """Per cluster: a -> b in both; b -> c in most of the north; d -> a in the only southern task
    that could have it; c -> b in half of the south; e is in no northern task."""
    tasks = {
        "n1": graph("ab", "bc", nodes="abcd"),
        "n2": graph("ab", "bc", nodes="abcd"),
        "n3": graph("ab", nodes="abcd"),
        "s1": graph("ab", "da", "cb", "be", nodes="abcde"),
        "s2": graph("ab", "be", nodes="abce"),
    }
    tasks["n3"].nodes["c"]["constant"] = True
    labels = pd.Series({"s1": 7, "n1": 3, "n2": 3, "n3": 3, "s2": 7})
    return tasks, labels


def test_arcs_belong_to_the_clusters_most_of_whose_tasks_have_them():
    tasks, labels = north_and_south()
    figure = plotting.clusters(tasks, labels, 3, 7, layout="layered")
    found = arcs_by_style(one_axes(figure), OWNERS)
    assert {kind: n for kind, (n, _) in found.items()} == {"both": 1, "first": 1, "second": 2}
    assert len({line for _, lines in found.values() for line in lines}) == 3
    for text in (
        "in both clusters: 1 arc",
        "only in cluster 3: 1 arc",
        "only in cluster 7: 2 arcs",
        "In neither, not drawn: 1 arc",
        "Cluster 3: n1, n2, n3",
        "missing or constant in all tasks of a cluster",
    ):
        assert texts(figure).count(text) == 1
    turned = texts(plotting.clusters(tasks, labels, 7, 3, layout="layered"))
    assert {"only in cluster 7: 2 arcs", "only in cluster 3: 1 arc"} <= set(turned)


def test_a_task_that_could_not_have_the_arc_does_not_count():
    tasks, labels = north_and_south()
    tasks["n2"].remove_edge("b", "c")
    # One of two tasks: not most of them. That c is constant in n3 leaves one of one without n2.
    assert "only in cluster 3: 0 arcs" in texts(plotting.clusters(tasks, labels, 3, 7))
    tasks["n2"].nodes["c"]["constant"] = True
    assert "only in cluster 3: 1 arc" in texts(plotting.clusters(tasks, labels, 3, 7))


def test_opposite_arcs_of_two_clusters_are_both_seen():
    tasks = {"1": graph("ab"), "2": graph("ba")}
    figure = plotting.clusters(tasks, pd.Series({"1": "x", "2": "y"}), "x", "y")
    heads = [p.get_xy()[0] for p in one_axes(figure).patches if type(p) is Polygon]
    assert len(heads) == 2
    assert abs(heads[0][0] - heads[1][0]) > 3 and abs(heads[0][1] - heads[1][1]) > 10


def test_arcs_of_most_tasks_may_close_a_cycle():
    tasks = {
        "1": graph("ab", "bc"),
        "2": graph("bc", "ca"),
        "3": graph("ca", "ab"),
        "4": graph("ab", nodes="abc"),
    }
    labels = pd.Series({"1": 0, "2": 0, "3": 0, "4": 1})
    shown = texts(plotting.clusters(tasks, labels, 0, 1))
    assert {"in both clusters: 1 arc", "only in cluster 0: 2 arcs"} <= set(shown)


def test_nothing_overlaps_or_is_cut_in_pictures_of_graphs():
    true, learned = alarm()
    assert_readable(plotting.compare(true, learned))
    labels = pd.Series(["x" * 70, "x" * 70, "b", "b", "b"], index=list(true))
    assert_readable(plotting.clusters(true, labels, "x" * 70, "b"))
    names = dict(zip("abcde", LONG, strict=False)) | {"e": "$\\alpha$ costs $5"}
    sides = [
        {f"{task} {'long ' * 20}": nx.relabel_nodes(one, names) for task, one in side.items()}
        for side in small_pair()
    ]
    assert_readable(plotting.compare(*sides))
    assert_readable(plotting.compare(graph("ab"), graph("ba")))
    two = pd.Series([0, 1], index=list(sides[0]))
    assert_readable(plotting.clusters(sides[0], two, 0, 1))


def renamed(graphs, name):
    return {task: nx.relabel_nodes(one, {"a": name}) for task, one in graphs.items()}


def compared(name="a"):
    return plotting.compare(*(renamed(side, name) for side in small_pair()))


def clustered(name="a"):
    tasks, labels = north_and_south()
    return plotting.clusters(renamed(tasks, name), labels, 3, 7)


@pytest.mark.parametrize("draw", [compared, clustered])
def test_pictures_are_the_same_on_every_run(draw):
    first, second = draw(), draw()
    assert plotting.svg(first) == plotting.svg(second)
    assert first.canvas.manager is None


@pytest.mark.parametrize("draw", [compared, clustered])
def test_names_without_a_font_are_reported_once(draw, bundled_fonts):
    with pytest.warns(UserWarning, match="`\uac00\ub098`, which are drawn as boxes") as caught:
        assert plotting.png(draw("\uac00\ub098"), dpi=30)
    (warning,) = caught
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw("plain")


def test_arguments_stay_as_they_are():
    tasks, labels = north_and_south()
    edges = {task: list(one.edges) for task, one in tasks.items()}
    plotting.clusters(tasks, labels, 3, 7)
    plotting.compare(tasks, tasks)
    assert {task: list(one.edges) for task, one in tasks.items()} == edges


def test_graphs_that_cannot_be_compared_are_refused():
    true, learned = small_pair()
    with pytest.raises(ValueError, match="same tasks as `learned`; only one of them has `y`"):
        plotting.compare(true, {"x": learned["x"]})
    with pytest.raises(
        ValueError, match="Task `y`: .*same variables as `learned`; only `learned` has `z`"
    ):
        plotting.compare(true, {**learned, "y": graph("ab", nodes="abcz")})
    with pytest.raises(TypeError, match="`learned` must be a networkx.DiGraph"):
        plotting.compare(true["x"], [learned["x"]])
    for empty in ({}, {"x": nx.DiGraph()}):
        with pytest.raises(ValueError, match="`true` must hold a graph with at least one variable"):
            plotting.compare(empty, empty)
    with pytest.raises(ValueError, match="`columns`"):
        plotting.compare(true, learned, columns=0)
    for size, kind in ((0, ValueError), ("8", TypeError)):
        with pytest.raises(kind, match="`font_size` must be"):
            plotting.compare(true, learned, font_size=size)


def test_unknown_clusters_and_other_tasks_are_refused():
    tasks, labels = north_and_south()
    for first, second, name in ((5, 7, "first"), (3, "7", "second")):
        with pytest.raises(ValueError, match=f"`{name}` must be one of the clu.*`7`, `3`, got"):
            plotting.clusters(tasks, labels, first, second)
    with pytest.raises(ValueError, match="`second` must be another cluster than `first`, got 3"):
        plotting.clusters(tasks, labels, 3, 3)
    with pytest.raises(TypeError, match="`labels` must be a pandas.Series .*, got dict"):
        plotting.clusters(tasks, dict(labels), 3, 7)
    with pytest.raises(ValueError, match="must have the tasks of .*; only one of them has `s2`"):
        plotting.clusters(tasks, labels.drop("s2"), 3, 7)
    with pytest.raises(ValueError, match="each task once; `s1` is repeated"):
        plotting.clusters(tasks, pd.concat([labels, labels[:1]]), 3, 7)
    with pytest.raises(TypeError, match="`configuration` must map task names"):
        plotting.clusters([graph("ab")], labels, 3, 7)
    for size, kind in ((-1, ValueError), (None, TypeError)):
        with pytest.raises(kind, match="`font_size` must be"):
            plotting.clusters(tasks, labels, 3, 7, font_size=size)
