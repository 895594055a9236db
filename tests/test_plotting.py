"""Layouts that keep boxes and arcs apart, and pictures that say what is in the graphs."""

import itertools
import pickle
import shutil
import subprocess
import sys
import warnings

import matplotlib
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hash_seeds import printed
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon, Rectangle
from pictures import one_axes

from bnmtl import plotting, structures
from bnmtl.errors import InputError, InputTypeError, MissingExtra
from bnmtl.graphs import compelled_arcs, sharing
from bnmtl.plotting import layout
from bnmtl.plotting.drawing import ABSENT, COLORS
from bnmtl.plotting.layout import majority_arcs

pytestmark = pytest.mark.beside_kernels

ENGINES = [
    "layered",
    pytest.param(
        "graphviz",
        marks=pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed"),
    ),
]


def graph(*arcs, nodes=()):
    """A DiGraph from words such as "ab" for a -> b."""
    result = nx.DiGraph()
    result.add_nodes_from(nodes)
    result.add_edges_from(tuple(arc) for arc in arcs)
    return result


def three_tasks():
    """a -> b in all; c -> d in two, reversed in the third; b -> d in one; e in two tasks only."""
    return {
        "north": graph("ab", "cd", "bd", nodes="abcde"),
        "south": graph("ab", "cd", "ae", nodes="abcde"),
        "west": graph("ab", "dc", nodes="abcd"),
    }


@st.composite
def configurations(draw):
    n, k = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    names = [f"v{'x' * draw(st.integers(0, 25))}{i}" for i in range(n)]
    result = {}
    for task in range(k):
        order = draw(st.permutations(names))
        pairs = list(itertools.combinations(order, 2))
        chosen = draw(st.lists(st.sampled_from(pairs), max_size=2 * n, unique=True))
        result[f"task{task}"] = one = nx.DiGraph(chosen)
        one.add_nodes_from(names)
    return result


def samples(route, per_curve=24):
    """Points along a chain of cubic Bézier curves."""
    t = np.linspace(0, 1, per_curve)[:, None]
    points = []
    for i in range(0, len(route) - 1, 3):
        p, q, r, s = route[i : i + 4]
        points.append(
            (1 - t) ** 3 * p + 3 * (1 - t) ** 2 * t * q + 3 * (1 - t) * t**2 * r + t**3 * s
        )
    return np.vstack(points)


def overlap(one, two, slack=1e-6):
    (x, y, w, h), (u, v, a, b) = one, two
    return abs(x - u) < (w + a) / 2 - slack and abs(y - v) < (h + b) / 2 - slack


def patches(axes, kind, color=None):
    found = [patch for patch in axes.patches if type(patch) is kind]
    return [p for p in found if color is None or to_hex(p.get_edgecolor()) == color.lower()]


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


# Color of the border, whether it is filled with it, and sign of a cell in the table of arcs.
FORWARD, BACKWARD = (
    (COLORS["all"].lower(), True, "\u2192"),
    (COLORS["some"].lower(), True, "\u2190"),
)
NO_ARC, IMPOSSIBLE = ("#efefef", True, None), (None, False, "\u00d7")


def table_cells(figure):
    """Rows of a table of arcs from top to bottom: (name of the arc, its cells)."""
    axes = one_axes(figure)
    names = {
        round(text.get_position()[1], 3): text.get_text()
        for text in axes.texts
        if " \u2192 " in text.get_text()
    }
    found = {height: {} for height in names}
    for text in axes.texts:
        if text.get_text() in ("\u2192", "\u2190", "\u00d7"):
            x, y = text.get_position()
            found[round(y + 0.5, 3)][round(x, 3)] = (None, False, text.get_text())
    # Texts stand on a baseline, boxes are around the middle.
    baseline = min(names) - min(box.get_center()[1] for box in patches(axes, Rectangle))
    for box in patches(axes, Rectangle):
        x, y = box.get_center()
        row = found[round(y + baseline, 3)]
        is_filled = to_hex(box.get_facecolor()) == to_hex(box.get_edgecolor())
        sign = row.get(round(x, 3), (None, False, None))[2]
        row[round(x, 3)] = (to_hex(box.get_edgecolor()), is_filled, sign)
    return [(names[y], [found[y][x] for x in sorted(found[y])]) for y in sorted(names)]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_variable_has_a_box_and_every_joined_pair_a_route(engine):
    layout = plotting.arrange(three_tasks(), engine)
    assert layout.engine == engine
    assert set(layout.boxes) == set("abcde")
    assert set(layout.routes) == {("a", "b"), ("c", "d"), ("b", "d"), ("a", "e")}
    for (upper, lower), route in layout.routes.items():
        assert len(route) % 3 == 1
        for variable, end in ((upper, route[0]), (lower, route[-1])):
            x, y, width, height = layout.boxes[variable]
            assert abs(end[0] - x) <= width / 2 + 1
            assert abs(end[1] - y) <= height / 2 + 1
        assert layout.boxes[upper][1] < layout.boxes[lower][1]


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=25, deadline=None)
@given(configuration=configurations())
def test_boxes_never_overlap(engine, configuration):
    layout = plotting.arrange(configuration, engine)
    for one, two in itertools.combinations(layout.boxes.values(), 2):
        assert not overlap(one, two)
    for x, y, width, height in layout.boxes.values():
        assert width / 2 - 1e-6 <= x <= layout.width - width / 2 + 1e-6
        assert height / 2 - 1e-6 <= y <= layout.height - height / 2 + 1e-6


@pytest.mark.parametrize("engine", ENGINES[:2])
@settings(max_examples=60, deadline=None)
@given(configuration=configurations())
def test_arcs_bend_around_boxes(engine, configuration):
    layout = plotting.arrange(configuration, engine)
    for arc, route in layout.routes.items():
        points = samples(route)
        for variable, (x, y, width, height) in layout.boxes.items():
            if variable not in arc:
                inside = (abs(points[:, 0] - x) < width / 2) & (abs(points[:, 1] - y) < height / 2)
                assert not inside.any(), (arc, variable)


@settings(max_examples=100, deadline=None)
@given(configuration=configurations())
def test_majority_is_acyclic_and_covers_the_union(configuration):
    chosen = majority_arcs(configuration)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(chosen)))
    joined = {frozenset(arc) for one in configuration.values() for arc in one.edges}
    assert {frozenset(arc) for arc in chosen} == joined
    assert len(chosen) == len(joined)
    for (a, b), n in chosen.items():
        assert n == sum(g.has_edge(a, b) or g.has_edge(b, a) for g in configuration.values())


def test_majority_keeps_the_direction_of_most_tasks():
    tasks = {"1": graph("ab", "bc"), "2": graph("ab", "bc"), "3": graph("ba", "ca")}
    assert majority_arcs(tasks) == {("a", "b"): 3, ("a", "c"): 1, ("b", "c"): 2}
    assert majority_arcs({"1": graph("ba"), "2": graph("ab"), "3": graph("ba")}) == {("b", "a"): 3}
    # The path a -> b -> c turns c -> a round before a -> c is counted.
    turned = {
        "1": graph("ab", "bc"),
        "2": graph("ab", "ca"),
        "3": graph("bc", "ca"),
        "4": graph("ac"),
    }
    assert majority_arcs(turned) == {("a", "b"): 2, ("a", "c"): 3, ("b", "c"): 2}


def test_sweeps_find_a_drawing_without_crossings():
    tree = nx.DiGraph([(i, 2 * i + j) for i in range(1, 16) for j in (0, 1)])
    renamed = nx.relabel_nodes(tree, {i: f"n{(i * 37) % 101}" for i in tree})
    layout = plotting.arrange({"": renamed}, "layered")
    assert layout.crossings == 0
    assert plotting.arrange({"": graph("ac", "ad", "bc", "bd")}, "layered").crossings == 1


def test_few_crossings_on_a_dense_network_and_the_same_every_time():
    insurance = {"": structures.load("insurance").graph}
    layout = plotting.arrange(insurance, "layered")
    # 24 without exchanges of neighbors, 24 without random starts; igraph's Sugiyama layout has 38.
    assert layout.crossings <= 22
    assert plotting.arrange(insurance, "layered").boxes == layout.boxes


def test_wide_layers_are_split():
    star = nx.DiGraph([("center", f"leaf{i}") for i in range(120)])
    layout = plotting.arrange({"": star}, "layered")
    assert layout.width < sum(width for _, _, width, _ in layout.boxes.values()) / 1.5


def test_an_engine_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtra, match="'graphviz' is not installed: .*`layout='layered'`"):
        plotting.arrange(three_tasks(), "graphviz")
    for engine in ("dot", "igraph"):
        rule = f"`layout` must be 'auto', 'graphviz' or 'layered', got '{engine}'"
        with pytest.raises(InputError, match=rule):
            plotting.arrange(three_tasks(), engine)
    assert plotting.arrange(three_tasks(), "auto").engine == "layered"


@pytest.mark.skipif(sys.platform == "win32", reason="dot is a script of a Unix shell")
def test_graphviz_output_is_read_as_it_is_placed(monkeypatch, tmp_path):
    plain = (
        "graph 1 2 3\nnode n0 1 2.5 0.5 0.2 x solid box black white\n"
        "node n1 1 0.5 0.5 0.2 x solid box black white\n"
        "edge n0 n1 4 1 2.4 1 1.8 1 1.2 1 0.6 solid black\nstop\n"
    )
    (tmp_path / "dot").write_text(f"#!/bin/sh\nread graph\nprintf '%s' '{plain}'\n")
    (tmp_path / "dot").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    layout = plotting.arrange(graph("ab"), "graphviz")
    assert (layout.engine, layout.crossings) == ("graphviz", None)
    assert layout.boxes["b"][1] - layout.boxes["a"][1] == pytest.approx(144)
    assert np.diff(layout.routes["a", "b"][:, 1]) == pytest.approx([43.2] * 3)


def test_names_cut_short_stay_different():
    names = [f"{'very_long_name_' * 6}{i}" for i in range(3)] + ["", " ", "a\nb"]
    layout = plotting.arrange({"": nx.empty_graph(names, create_using=nx.DiGraph)})
    assert len(set(layout.labels.values())) == len(names)
    assert all(len(line) <= 20 for label in layout.labels.values() for line in label.split("\n"))


def test_layout_does_not_depend_on_the_hash_seed_or_on_the_order_of_nodes():
    program = (
        "import networkx as nx; from bnmtl import plotting\n"
        "arcs = [(f'n{i * 7 % 23}', f'n{(i * 5 + 3) % 23}') for i in range(1, 40)]\n"
        "g = nx.DiGraph()\n"
        "for a, b in arcs:\n"
        "    g.add_edge(a, b)\n"
        "    if not nx.is_directed_acyclic_graph(g): g.remove_edge(a, b)\n"
        "print(plotting.arrange({'t': g}, 'layered'))"
    )
    assert len(printed(program)) == 1
    tasks = three_tasks()
    turned = {
        task: graph(*sorted(g.edges)[::-1], nodes=sorted(g)[::-1]) for task, g in tasks.items()
    }
    assert plotting.arrange(tasks).boxes == plotting.arrange(turned).boxes


def test_sharing_counts_tasks_that_could_have_the_arc():
    counts = sharing(three_tasks())
    assert counts["a", "b"] == (3, 3) and counts["a", "b"].kind == "all"
    assert counts["a", "e"] == (1, 2) and counts["a", "e"].kind == "one"
    assert counts["c", "d"] == (2, 3) and counts["c", "d"].kind == "some"
    assert counts["d", "c"].kind == "one"
    lonely = sharing({"1": graph("ab"), "2": graph(nodes="a")})
    assert lonely["a", "b"] == (1, 1) and lonely["a", "b"].kind == "sole"


def with_constant():
    """a -> b in both tasks that could have it, b being constant in the third; a -> c in all."""
    tasks = {name: graph("ab", "ac") for name in ("1", "2")}
    tasks["3"] = graph("ac")
    tasks["3"].add_node("b", constant=True)
    return tasks


def test_constant_variables_could_have_no_arcs():
    tasks = with_constant()
    assert sharing(tasks)["a", "b"] == (2, 2)
    figure = plotting.dags(tasks, layout="layered")
    panels = {axes.get_label(): axes for axes in figure.axes}
    assert len(patches(panels["1"], PathPatch, COLORS["all"])) == 2
    assert patches(panels["3"], PathPatch, ABSENT) == []
    boxes = {to_hex(box.get_facecolor()) for box in patches(panels["3"], FancyBboxPatch)}
    assert len(boxes) == 2
    assert "only in other tasks" not in texts(figure)
    assert "constant in this task" in texts(figure)
    assert "in all tasks that could have it" in texts(figure)
    table = plotting.arcs(tasks)
    assert dict(table_cells(table))["a \u2192 b"][2] == IMPOSSIBLE
    assert "2 of 2" in texts(table)


@pytest.mark.parametrize("draw", [plotting.dags, plotting.arcs])
def test_networks_are_drawn_like_their_graphs(draw):
    asia = structures.load("asia")
    for networks, graphs in (
        ({"x": asia, "y": asia}, dict.fromkeys("xy", asia.graph)),
        (asia,) * 2,
    ):
        assert texts(draw(networks)) == texts(draw(graphs))
    assert texts(draw(asia)) == texts(draw(asia.graph))
    assert plotting.arrange(asia, "layered").boxes == plotting.arrange(asia.graph, "layered").boxes


def test_names_stand_on_one_baseline():
    chain = graph(*itertools.pairwise(["Jnk", "aceg", "Plcg", "Erk"]))
    boxes = plotting.arrange(chain).boxes
    names = [
        text
        for axes in plotting.dags(chain).axes
        for text in axes.texts
        if text.get_text() in boxes
    ]
    assert {text.get_verticalalignment() for text in names} == {"baseline"}
    below = [text.get_position()[1] - boxes[text.get_text()][1] for text in names]
    assert len(below) == 4
    assert below == pytest.approx([below[0]] * 4)


def test_lines_of_a_name_have_equal_distances():
    name = "aaaaaaaaaaaaa_JJJJJJJJJJJJJJ_ggggggggggggg"
    figure = plotting.dags(graph((name, "b")))
    heights = sorted(
        text.get_position()[1]
        for axes in figure.axes
        for text in axes.texts
        if text.get_text() in plotting.arrange(graph((name, "b"))).labels[name].split("\n")
    )
    first, second = np.diff(heights)
    assert first == pytest.approx(second)


def test_the_table_fills_its_figure():
    tasks = {f"task{i}": graph(("Akt", "Erk"), ("PKA", "Erk")) for i in range(9)}
    figure = plotting.arcs(tasks)
    renderer = FigureCanvasAgg(figure).get_renderer()
    right = max(text.get_window_extent(renderer).x1 for axes in figure.axes for text in axes.texts)
    assert right > 0.85 * figure.get_size_inches()[0] * figure.dpi
    assert right <= figure.get_size_inches()[0] * figure.dpi


def test_a_font_that_has_the_signs_is_taken():
    script = "\N{MATHEMATICAL SCRIPT CAPITAL A}"  # not in DejaVu Sans, but in matplotlib's STIX
    chosen = layout.families(f"x{script}")
    assert len(chosen) > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plotting.png(plotting.dags(graph((script, "b"))))
        assert layout.families("plain") == layout.families("\N{GREEK SMALL LETTER BETA}")
    (text,) = (
        text
        for axes in plotting.dags(graph((script, "b"))).axes
        for text in axes.texts
        if text.get_text() == script
    )
    assert text.get_fontfamily() == chosen


@pytest.mark.parametrize("draw", [plotting.dags, plotting.arcs])
def test_names_without_a_font_are_reported_in_one_sentence(draw, bundled_fonts):
    names = ["\uac00\ub098", "\ub2e4\ub77c", "plain"]
    with pytest.warns(UserWarning, match="all characters of") as caught:
        figure = draw({"1": graph(names[:2], names[1:])})
        assert plotting.png(figure) and plotting.svg(figure)
    (warning,) = caught
    assert "`\uac00\ub098`, `\ub2e4\ub77c`, which are drawn as boxes;" in str(warning.message)
    assert warning.filename == __file__


def test_panels_show_arcs_by_how_many_tasks_share_them():
    tasks = three_tasks()
    figure = plotting.dags(tasks, layout="layered")
    panels = {axes.get_label(): axes for axes in figure.axes}
    assert set(panels) == {"legend", *tasks}
    kinds = {arc: count.kind for arc, count in sharing(tasks).items()}
    for task, g in tasks.items():
        for kind, color in COLORS.items():
            expected = sum(kinds[arc] == kind for arc in g.edges)
            assert len(patches(panels[task], PathPatch, color)) == expected
        heads = patches(panels[task], Polygon)
        filled = sum(to_hex(head.get_facecolor()) != "#ffffff" for head in heads)
        assert (len(heads), filled) == (g.number_of_edges(), len(compelled_arcs(g)))
    # b -> d and a -> e are possible but absent in south and north; west lacks e.
    absent = {task: len(patches(panels[task], PathPatch, ABSENT)) for task in tasks}
    assert absent == {"north": 1, "south": 1, "west": 1}
    ghosts = [p for p in patches(panels["west"], FancyBboxPatch) if p.get_facecolor()[3] == 0]
    assert len(ghosts) == 1


def test_tasks_are_drawn_by_group_and_arcs_counted_within_it():
    tasks = three_tasks()
    groups = {"north": 1, "south": 2, "west": 1}
    figure = plotting.dags(tasks, layout="layered", task_groups=groups)
    panels = {axes.get_label(): axes for axes in figure.axes}
    assert [name for name in panels if name != "legend"] == ["north", "west", "south"]
    kinds = {arc: n.kind for arc, n in sharing({n: tasks[n] for n in ("north", "west")}).items()}
    for task in ("north", "west"):
        for kind, color in COLORS.items():
            expected = sum(kinds[arc] == kind for arc in tasks[task].edges)
            assert len(patches(panels[task], PathPatch, color)) == expected
        assert any("in all of the group" in text.get_text() for text in panels[task].texts)
    alone = patches(panels["south"], PathPatch, COLORS["all"])
    assert len(alone) == tasks["south"].number_of_edges()
    assert f"{len(alone)} arcs, learned alone" in texts(figure)
    assert any("in all tasks of the group" in text for text in texts(figure))
    table = plotting.arcs(tasks, task_groups=groups)
    names = [text for text in texts(table) if text in tasks]
    assert names == ["north", "west", "south"]
    # The line between the groups stands between their names.
    (line,) = table.axes[0].lines
    at = {text.get_text(): text.get_position()[0] for text in table.axes[0].texts}
    assert at["west"] < line.get_xdata()[0] < at["south"]
    assert texts(plotting.arcs(tasks, task_groups=dict.fromkeys(tasks, 1))) == texts(
        plotting.arcs(tasks)
    )


def test_groups_must_name_every_task():
    with pytest.raises(ValueError, match="`task_groups` must name the group of every task"):
        plotting.arcs(three_tasks(), task_groups={"north": 1})
    with pytest.raises(TypeError, match="`task_groups` must map tasks to labels"):
        plotting.dags(three_tasks(), task_groups="auto")


def test_every_variable_is_at_the_same_place_in_all_panels():
    figure = plotting.dags(three_tasks())
    places = [
        {t.get_text(): t.get_position() for t in axes.texts if t.get_text() in "abcde"}
        for axes in figure.axes
        if axes.get_label() != "legend"
    ]
    assert len(places) == 3
    assert places[0] == places[1] == places[2]


def test_legend_explains_what_occurs_and_names_the_layout():
    figure = plotting.dags(three_tasks(), layout="layered")
    for text in (
        "in all tasks that could have it",
        "in some tasks",
        "in this task only",
        "only in other tasks",
        "dashed: direction not determined by the data",
        "variable not in this task",
        "Layout: layered (built in)",
    ):
        assert texts(figure).count(text) == 1
    assert figure.get_label() == "layered"
    alone = texts(plotting.dags(graph("ac", "bc"), layout="layered"))
    assert "arc" in alone
    assert not any("task" in text or "dashed" in text for text in alone)


def test_arrowheads_point_along_the_arc_in_either_direction():
    figure = plotting.dags({"1": graph("ab"), "2": graph("ab"), "3": graph("ba")})
    tips = {
        axes.get_label(): patches(axes, Polygon)[0].get_xy()[0][1]
        for axes in figure.axes
        if axes.get_label() != "legend"
    }
    assert tips["1"] == tips["2"] > tips["3"]


def test_strength_sets_the_width():
    tasks = {"1": graph("ab", "bc", "bd")}
    table = pd.DataFrame(
        {"from": list("abb"), "to": list("bcd"), "task": "1", "strength": [40.0, 10.0, -1.0]}
    )
    figure = plotting.dags(tasks, layout="layered", strength=table)
    axes = next(axes for axes in figure.axes if axes.get_label() == "1")
    widths = sorted(patch.get_linewidth() for patch in patches(axes, PathPatch))
    thin, middle, thick = widths
    assert middle == pytest.approx(thin + (thick - thin) / 2)
    assert "strength 40 nats" in texts(figure)
    with pytest.raises(ValueError, match="'strength' is missing"):
        plotting.dags(tasks, strength=table.drop(columns="strength"))
    for others in (tasks["1"], {"2": tasks["1"]}, {"1": graph("ab", "ac")}):
        with pytest.raises(ValueError, match="`strength` must have a row for every arc; a -> "):
            plotting.dags(others, strength=table)


def test_tasks_and_variables_may_be_numbers():
    named = {"2019": nx.DiGraph([("1", "2")]), "2020": nx.DiGraph([("2", "3")])}
    numbers = {2019: nx.DiGraph([(1, 2)]), 2020: nx.DiGraph([(2, 3)])}
    for draw in (plotting.dags, plotting.arcs):
        assert texts(draw(numbers)) == texts(draw(named))
    table = pd.DataFrame({"from": [1, 2], "to": [2, 3], "task": [2019, 2020], "strength": 1.0})
    assert texts(plotting.dags(numbers, strength=table)) == texts(
        plotting.dags(named, strength=table.astype({"from": str, "to": str, "task": str}))
    )


def test_figures_can_share_a_layout():
    tasks = three_tasks()
    layout = plotting.arrange(tasks, "layered")
    figure = plotting.dags({"north": tasks["north"]}, layout=layout)
    assert figure.get_label() == "layered"
    with pytest.raises(ValueError, match="'z' has no place"):
        plotting.dags({"north": graph("az")}, layout=layout)
    lone = plotting.arrange({"north": nx.DiGraph([("a", "b"), ("c", "b")])}, "layered")
    with pytest.raises(ValueError, match="must hold every arc; 'a' -> 'c' has none"):
        plotting.dags(nx.DiGraph([("a", "c"), ("c", "b")]), layout=lone)


def test_a_figure_shows_itself_in_a_notebook():
    figure = plotting.dags(graph("ab"))
    assert figure._repr_png_().startswith(b"\x89PNG")
    again = pickle.loads(pickle.dumps(figure))
    assert again._repr_png_() == figure._repr_png_()


@pytest.mark.parametrize("draw", [plotting.dags, plotting.arcs])
def test_what_is_not_a_configuration_is_refused(draw):
    with pytest.raises(TypeError, match="must map task names"):
        draw([graph("ab")])
    with pytest.raises(TypeError, match=r"must be a networkx\.DiGraph"):
        draw(nx.Graph([("a", "b")]))
    with pytest.raises(TypeError, match=r"`configuration\['x'\]` must be a networkx.DiGraph"):
        draw({"x": nx.Graph([("a", "b")])})
    with pytest.raises(ValueError, match="holds the cycle"):
        draw({"x": graph("ab", "ba")})
    for empty in ({}, {"x": nx.DiGraph()}):
        with pytest.raises(ValueError, match="at least one variable"):
            draw(empty)


def test_number_of_columns():
    tasks = {f"t{i}": graph("ab") for i in range(5)}
    wide = plotting.dags(tasks, columns=5).get_size_inches()
    tall = plotting.dags(tasks, columns=1).get_size_inches()
    assert wide[0] > tall[0] and wide[1] < tall[1]
    for columns in (0, 1.5, "2"):
        with pytest.raises((InputError, InputTypeError), match=f"`columns` .*, got {columns!r}"):
            plotting.dags(tasks, columns=columns)


def test_signs_are_not_read_as_mathematics():
    figure = plotting.dags({"$x$": graph(("$a$", "b_{1}"), ("b_{1}", "c^$"))})
    assert {"$x$", "$a$"} <= set(texts(figure))
    assert not any(text.get_parse_math() for axes in figure.axes for text in axes.texts)
    assert plotting.png(figure)


def test_table_rows_are_sorted_and_distinguish_all_cases():
    rows = table_cells(plotting.arcs(three_tasks()))
    forward, backward = ((color, False, sign) for color, _, sign in (FORWARD, BACKWARD))
    assert rows == [
        ("a \u2192 b", [forward] * 3),
        ("c \u2192 d", [FORWARD, forward, backward]),
        ("a \u2192 e", [NO_ARC, forward, IMPOSSIBLE]),
        ("b \u2192 d", [FORWARD, NO_ARC, NO_ARC]),
    ]


def test_table_rows_keep_the_direction_of_most_tasks_where_the_layout_cannot():
    tasks = {"1": graph("ab", "bc"), "2": graph("ab", "bc"), "3": graph("ca", nodes="abc")}
    assert majority_arcs(tasks) == {("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 2}
    arcs = [text for text in texts(plotting.arcs(tasks)) if " \u2192 " in text]
    assert arcs == ["a \u2192 b", "b \u2192 c", "c \u2192 a"]


def test_table_picture():
    figure = plotting.arcs(three_tasks())
    assert {"north", "south", "west", "3 of 3", "1 of 2"} <= set(texts(figure))
    assert "a \N{RIGHTWARDS ARROW} b" in texts(figure)
    assert "a variable is missing or constant there" in texts(figure)
    assert texts(plotting.arcs(graph(nodes="ab")))[-1] == "No task has an arc."


def test_long_tables_grow_and_are_set_in_blocks():
    many = nx.DiGraph([(f"a{i}", f"b{i}") for i in range(200)])
    figure = plotting.arcs({"1": many, "2": many})
    width, height = figure.get_size_inches()
    assert sum(text == "1" for text in texts(figure)) > 1  # a heading for each block
    assert 0.5 < width / height < 3
    assert sum(text == "2 of 2" for text in texts(figure)) == 200


def test_penalties():
    scores = pd.Series([-3.0, -2.5, -np.inf], index=[0.0, 1 - 1e-9, 1.0])
    figure = plotting.penalties(scores, 1 - 1e-9)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1 - 1e-09", "1"]
    assert [text.get_text() for text in axes.texts] == ["chosen"]
    assert axes.get_ylabel().startswith("held-out")
    (axes,) = plotting.penalties(scores.rename("nats")).axes
    assert axes.get_ylabel().startswith("log posterior")
    with pytest.raises(ValueError, match="`penalty` must be one of the scored penalties"):
        plotting.penalties(scores, 0.5)


def test_penalties_with_their_standard_errors():
    scores = pd.Series([-3.2, -3.0, -3.1], index=[0.0, 0.9, 1.0])
    errors = pd.Series([0.3, 0.2, 0.1], index=[1.0, 0.9, 0.0])
    (axes,) = plotting.penalties(scores, 0.9, errors).axes
    (band,) = axes.collections
    edge = {tuple(point) for point in band.get_paths()[0].vertices.round(9)}
    assert {(0, -3.3), (0, -3.1), (1, -3.2), (1, -2.8), (2, -3.4), (2, -2.8)} <= edge
    assert "band: one standard error" in [text.get_text() for text in axes.texts]
    assert not plotting.penalties(scores, 0.9).axes[0].collections
    with pytest.raises(ValueError, match="`errors` must have one for every scored penalty; 0.9 "):
        plotting.penalties(scores, errors=errors.drop(0.9))
    with pytest.raises(ValueError, match="`errors` must be 0 or more, got -0.[13]"):
        plotting.penalties(scores, errors=-errors)
    with pytest.raises(TypeError, match="`errors` must be a pandas.Series"):
        plotting.penalties(scores, errors=[0.1, 0.2, 0.3])


def test_files_are_the_same_on_every_run():
    first, second = (plotting.dags(three_tasks()) for _ in range(2))
    assert plotting.svg(first) == plotting.svg(second)
    assert plotting.png(first, dpi=50) == plotting.png(second, dpi=50)
    assert "<dc:date>" not in plotting.svg(first)


def test_nothing_leaks_into_matplotlib():
    with matplotlib.rc_context({"svg.hashsalt": "mine", "font.size": 7}):
        before = dict(matplotlib.rcParams)
        plotting.svg(plotting.dags(three_tasks()))
        plotting.png(plotting.arcs(three_tasks()))
        assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_importing_plotting_does_not_load_matplotlib():
    program = "import sys, bnmtl.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_arguments_stay_as_they_are():
    tasks = three_tasks()
    before = {task: (list(g.nodes), list(g.edges)) for task, g in tasks.items()}
    plotting.dags(tasks)
    plotting.arcs(tasks)
    assert {task: (list(g.nodes), list(g.edges)) for task, g in tasks.items()} == before


def test_font_sizes_that_are_none_are_refused():
    for draw in (plotting.dags, plotting.arrange):
        for size in ("8", None, True):
            with pytest.raises(TypeError, match="`font_size` must be a number above 0, got"):
                draw(three_tasks(), font_size=size)
        for size in (0, -8.0, np.inf, np.nan):
            with pytest.raises(ValueError, match="`font_size` must be a number above 0, got"):
                draw(three_tasks(), font_size=size)
    layout = plotting.arrange(three_tasks(), font_size=np.float32(6))
    with pytest.raises(ValueError, match="`font_size` must be a number above 0"):
        plotting.dags(three_tasks(), layout, font_size=0)


def test_the_table_of_arcs_says_what_an_outline_means():
    shown = texts(plotting.arcs({"1": graph("ab"), "2": graph("ba")}))
    assert "arc as written, direction not determined by the data" in shown
    assert "opposite direction, not determined by the data" in shown
