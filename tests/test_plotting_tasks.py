"""Pictures of dissimilarities say what is in their tables, and nothing overlaps."""

import itertools
import warnings

import hypothesis
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from matplotlib.collections import QuadMesh
from pictures import assert_readable, one_axes, texts
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from bnmtl import plotting
from bnmtl.errors import InputError, InputTypeError
from bnmtl.plotting.drawing import COLORS
from bnmtl.plotting.tasks import cut_height, node_clusters
from bnmtl.relatedness.measures import writer

pytestmark = pytest.mark.beside_kernels

LONG = [f"{word} {'very long name ' * 6}{i}" for i, word in enumerate(["A", "A", "b", "c"])]
ODD = ["$\\alpha$ costs $5", "a\nb\tc", "", "<b>&amp;", "\u03a3\u2192\u221e"]


def table(n_tasks, seed=0, symmetric=True, names=None):
    """Dissimilarities of points on a line, whose groups a dendrogram can find."""
    rng = np.random.default_rng(seed)
    points = 3.0 * rng.integers(3, size=n_tasks) + rng.random(n_tasks)
    values = np.abs(points[:, None] - points)
    if not symmetric:
        values = values * (1 + 0.5 * rng.random(values.shape))
    names = names or [f"task{i:02d}" for i in range(n_tasks)]
    return pd.DataFrame(values, index=names, columns=names)


def by_height(figure, names):
    """The names that stand in a column, from top to bottom."""
    axes = one_axes(figure)
    found = [t for t in axes.texts if t.get_text() in names and t.get_rotation() == 0]
    return [t.get_text() for t in sorted(found, key=lambda t: t.get_position()[1])]


def line_through(axes, y, color=None):
    """The ends of the horizontal line at a height."""
    for line in axes.lines:
        x, heights = line.get_data()
        if len(x) == 2 and heights == pytest.approx([y, y]) and color in (None, line.get_color()):
            return float(x[0]), float(x[1])
    raise AssertionError(f"no line at {y}")


def leaves_of(frame):
    """Average linkage and its order of leaves by scipy alone."""
    values = frame.to_numpy()
    pairs = squareform((values + values.T) / 2, checks=False)
    tree = hierarchy.linkage(pairs, "average", optimal_ordering=True)
    return [frame.index[leaf] for leaf in hierarchy.leaves_list(tree)]


@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_of_the_heat_map_are_the_leaves_of_the_dendrogram(symmetric):
    frame = table(9, symmetric=symmetric)
    figure = plotting.relatedness(frame)
    rows = by_height(figure, set(frame.index))
    expected = leaves_of(frame)
    assert rows in (expected, expected[::-1]) and rows != sorted(rows)
    assert by_height(plotting.dendrogram(frame), set(frame.index)) == rows
    columns = [t for t in one_axes(figure).texts if t.get_rotation() == 90]
    columns.sort(key=lambda text: text.get_position()[0])
    assert [text.get_text() for text in columns] == rows


def test_cells_hold_row_and_column_as_in_the_table():
    frame = table(5, symmetric=False)
    figure = plotting.relatedness(frame)
    axes = one_axes(figure)
    order = by_height(figure, set(frame.index))
    mesh = next(one for one in axes.collections if isinstance(one, QuadMesh))
    assert np.array_equal(mesh.get_array(), frame.loc[order, order])
    corners = mesh.get_coordinates()
    for (row, column), value in np.ndenumerate(frame.loc[order, order].to_numpy()):
        (x0, y0), (x1, y1) = corners[row, column], corners[row + 1, column + 1]
        written = [
            text.get_text()
            for text in axes.texts
            if x0 < text.get_position()[0] < x1 and y0 < text.get_position()[1] < y1
        ]
        assert written == [f"{value:.2f}" if value else "0"]
    assert "Row: where the structure comes from. Column: whose data." in texts(figure)
    assert "dissimilarity (smaller: closer)" in texts(figure)
    assert not any("Row" in text for text in texts(plotting.relatedness(table(5))))


def test_names_of_rows_stand_beside_their_cells():
    frame = table(4)
    axes = one_axes(plotting.relatedness(frame))
    mesh = next(one for one in axes.collections if isinstance(one, QuadMesh))
    edges = mesh.get_coordinates()[:, 0, 1]
    for text in axes.texts[:4]:
        row = next(i for i in range(4) if edges[i] < text.get_position()[1] < edges[i + 1])
        assert text.get_text() == by_height(axes.figure, set(frame.index))[row]


def test_many_tasks_have_no_values_in_their_cells():
    assert len(texts(plotting.relatedness(table(20)))) > 400
    assert len(texts(plotting.relatedness(table(21)))) < 60


@pytest.mark.parametrize("draw", [plotting.relatedness, plotting.dendrogram])
@pytest.mark.parametrize("frame", [table(8), table(6) * 0 + 1 - np.eye(6)], ids=["", "ties"])
def test_order_of_the_rows_does_not_matter(draw, frame):
    shuffled = frame.sample(frac=1, random_state=1)
    assert list(shuffled.index) != list(frame.index)
    assert plotting.svg(draw(frame)) == plotting.svg(draw(shuffled))


def test_ties_are_ordered_by_name_and_reported():
    frame = table(6) * 0 + 1 - np.eye(6)
    assert by_height(plotting.relatedness(frame), set(frame.index)) == list(frame.index)
    assert "cut into 3 clusters, in one of several equally good ways" in texts(
        plotting.dendrogram(frame, n_clusters=3)
    )
    shown = texts(plotting.dendrogram(table(6), n_clusters=3))
    assert "cut into 3 clusters" in shown


def test_the_order_of_a_given_linkage_is_kept():
    frame = table(3, names=["a", "b", "c"])
    tree = [[2, 0, 1.0, 2], [3, 1, 2.0, 3]]
    for figure in (plotting.relatedness(frame, tree), plotting.dendrogram(tree, ["a", "b", "c"])):
        assert by_height(figure, set("abc")) == ["c", "a", "b"]
    mesh = one_axes(plotting.relatedness(frame, tree)).collections[0]
    assert np.array_equal(mesh.get_array(), frame.loc[list("cab"), list("cab")])


def test_branches_join_at_their_heights():
    tree = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, 8.0, 4]])
    axes = one_axes(plotting.dendrogram(tree, list("abcd")))
    joints = [line.get_data() for line in axes.lines if np.ptp(line.get_xdata()) == 0]
    joints = [(x[0], *sorted(y)) for x, y in joints if abs(np.ptp(y)) > 10]
    leaf = {t.get_text(): t.get_position()[1] for t in axes.texts if t.get_text() in "abcd"}
    middle = leaf["a"] - min(min(low, high) for _, low, high in joints)  # baseline to middle
    right = max(line.get_xdata().max() for line in axes.lines)
    root = min(x for x, _, _ in joints)
    heights = sorted((right - x) / (right - root) * 8.0 for x, _, _ in joints)
    assert heights == pytest.approx([1.0, 2.0, 8.0])
    (span,) = [(low, high) for x, low, high in joints if x == root]
    ab, cd = (leaf["a"] + leaf["b"]) / 2 - middle, (leaf["c"] + leaf["d"]) / 2 - middle
    assert span == pytest.approx((ab, cd))


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 5, 9])
def test_clusters_are_those_of_scipy(n_clusters):
    frame = table(9, seed=4)
    pairs = squareform(frame.to_numpy())
    tree = hierarchy.linkage(pairs, "average")
    expected = hierarchy.fcluster(tree, n_clusters, "maxclust")
    found = node_clusters(tree, n_clusters)
    assert len(set(zip(expected, found[:9], strict=True))) == n_clusters == len(set(found[:9]))
    cut = cut_height(tree, n_clusters)
    assert (tree[:, 2] > cut).sum() == n_clusters - 1
    for i, (left, right) in enumerate(tree[:, :2].astype(int), start=9):
        assert found[i] == (found[left] if found[left] == found[right] else None)


def test_clusters_are_colored_and_the_cut_is_drawn():
    tree = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, 8.0, 4]])
    axes = one_axes(plotting.dendrogram(tree, list("abcd"), n_clusters=2))
    colors = {}
    for text in axes.texts[:4]:
        y = text.get_position()[1] - 0.365 * 8
        line = next(one for one in axes.lines if one.get_ydata()[0] == pytest.approx(y))
        colors[text.get_text()] = line.get_color()
    assert colors["a"] == colors["b"] != colors["c"] == colors["d"]
    (cut,) = [line for line in axes.lines if line.get_color() == COLORS["one"]]
    right = max(line.get_xdata().max() for line in axes.lines)
    root = min(line.get_xdata().min() for line in axes.lines)
    assert (right - cut.get_xdata()[0]) / (right - root) * 8 == pytest.approx(5.0)
    plain = one_axes(plotting.dendrogram(tree, list("abcd")))
    assert COLORS["one"] not in {line.get_color() for line in plain.lines}
    assert len({line.get_color() for line in plain.lines}) == 1


def principal_table():
    """Column p is 1, 2, 2, 7, 8 for b, a, c, e, d; the row of p would give another order."""
    names = ["p", "a", "b", "c", "d", "e"]
    frame = pd.DataFrame(1.0 - np.eye(6), index=names, columns=names)
    frame["p"] = [0, 2, 1, 2, 8, 7]
    frame.loc["p"] = [0, 1, 9, 2, 3, 4]
    return frame


def test_distances_are_those_of_the_column_and_the_largest_gap_is_marked():
    figure = plotting.distances(principal_table(), "p")
    axes = one_axes(figure)
    assert by_height(figure, set("abcde")) == ["b", "a", "c", "e", "d"]
    assert "dissimilarity, from the others to p" in texts(figure)
    assert "The others' structures on this task's data." in texts(figure)
    heights = {t.get_text(): t.get_position()[1] - 0.365 * 8 for t in axes.texts}
    ends = [line_through(axes, heights[name]) for name in "bacde"]
    lengths = {name: end - start for name, (start, end) in zip("bacde", ends, strict=True)}
    assert [lengths[n] / lengths["b"] for n in "bacde"] == pytest.approx([1, 2, 2, 8, 7])
    gap = heights["largest gap: 5, after 3 tasks"]
    assert heights["c"] < gap < heights["e"]
    assert line_through(axes, gap, COLORS["one"]) == pytest.approx((ends[2][1], ends[4][1]))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 4, 5], "largest gap: 3, after 1 task"),
        # 0.3 - 0.1 is less than 0.5 - 0.3 by rounding.
        ([0.5, 0.3, 0.1], "largest gap: 0.200, after 1 task"),
        ([1, 1, 1], "All are equally far: there is no gap."),
    ],
)
def test_the_first_of_equal_gaps_is_marked(values, expected):
    names = ["p", "a", "b", "c"]
    frame = pd.DataFrame(1.0 - np.eye(4), index=names, columns=names)
    frame["p"] = [0, *values]
    assert expected in texts(plotting.distances(frame, "p"))
    assert sum("gap" in text for text in texts(plotting.distances(frame, "p"))) == 1


def test_two_tasks():
    frame = table(2)
    assert {"task00", "task01"} <= set(texts(plotting.relatedness(frame)))
    assert "cut into 2 clusters" in texts(plotting.dendrogram(frame, n_clusters=2))
    assert not any("gap" in text for text in texts(plotting.distances(frame, "task00")))


FRAMES = {
    "2": table(2),
    "5": table(5),
    "16": table(16, symmetric=False),
    "long": table(4, names=LONG) / 100,
    "odd": table(5, names=ODD, symmetric=False),
    "ties": table(5) * 0 + 1 - np.eye(5),
    "zeros": table(3) * 0,
    "tiny": table(4) * 1e-7,
    "huge": table(4) * 1e8,
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_nothing_overlaps_or_is_cut_in_pictures_of_tables(frame):
    assert_readable(plotting.relatedness(frame))
    assert_readable(plotting.dendrogram(frame, n_clusters=2))
    assert_readable(plotting.dendrogram(frame, n_clusters=1))
    for principal in (frame.index[0], frame.index[-1]):
        assert_readable(plotting.distances(frame, principal))


def test_long_names_are_cut_short_but_differ():
    names = ["x" * 40 + "y" * 40, "x" * 40 + "z" + "y" * 39]
    shown = texts(plotting.dendrogram(table(2, names=names)))[:2]
    assert len(set(shown)) == 2 and max(map(len, shown)) < 40
    assert "(blank)" in texts(plotting.dendrogram(table(2, names=["", "a"])))


PICTURES = {
    "relatedness": lambda name="a": plotting.relatedness(table(3, names=[name, "b", "c"])),
    "dendrogram": lambda name="a": plotting.dendrogram(table(3, names=[name, "b", "c"]), None, 2),
    "distances": lambda name="a": plotting.distances(table(3, names=[name, "b", "c"]), "b"),
}


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_pictures_are_the_same_on_every_run(draw):
    first, second = draw(), draw()
    assert plotting.svg(first) == plotting.svg(second)
    assert first.canvas.manager is None


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_names_without_a_font_are_reported_once(draw, bundled_fonts):
    with pytest.warns(UserWarning, match="`\uac00\ub098`, which are drawn as boxes") as caught:
        assert plotting.png(draw("\uac00\ub098"), dpi=30)
    (warning,) = caught
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw("plain")


def test_arguments_stay_as_they_are():
    frame, tree = table(4), np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, 8.0, 4]])
    before = frame.copy(), tree.copy()
    plotting.relatedness(frame, tree)
    plotting.dendrogram(frame, n_clusters=2)
    plotting.distances(frame, "task01")
    assert frame.equals(before[0]) and np.array_equal(tree, before[1])


def changed(row, column, value):
    frame = table(3, names=list("abc"))
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([[0]], "be a pandas.DataFrame with the tasks as rows and columns, got list"),
        (table(3).iloc[:2], "be square, one row and one column per task; it has 2 rows and 3"),
        (
            table(2).rename(columns={"task00": "x"}),
            "the same tasks .*; no column is named `task00`",
        ),
        (table(2, names=["a", "a"]), "each task once; `a` is repeated"),
        (table(1), "at least two tasks, got 1"),
        (
            changed("c", "a", np.nan),
            "column `a` must hold finite numbers .*; row `c` is nan: leave out",
        ),
        (
            changed("b", "b", 1),
            "column `b` must be 0 on the diagonal; row `b` is 1: turn similar",
        ),
        (
            table(3).astype(str),
            "column `task00` must hold numbers only, got .*; .*`.astype",
        ),
    ],
)
def test_what_is_not_a_table_of_dissimilarities_is_refused(given, message):
    kind = TypeError if "DataFrame" in message or "numbers only, got" in message else ValueError
    with pytest.raises(kind, match=f"^`dissimilarity`(: | must .*){message}"):
        plotting.relatedness(given)
    with pytest.raises(kind, match=f"^`dissimilarity`(: | must .*){message}"):
        plotting.distances(given, "a")
    if isinstance(given, pd.DataFrame):
        with pytest.raises(kind, match=f"^`linkage_or_table`(: | must .*){message}"):
            plotting.dendrogram(given)


def test_the_axis_ends_with_the_tick_of_the_largest_number():
    frame = pd.DataFrame([[0.0, 0.1 + 0.2], [0.1 + 0.2, 0.0]], list("ab"), list("ab"))
    assert "0.3" in texts(plotting.distances(frame / 1, "a"))
    frame[:] = [[0.0, 0.3], [0.3, 0.0]]
    assert "0.3" in texts(plotting.distances(frame, "a"))


def test_labels_of_tasks_may_be_numbers():
    """As where pandas reads them back from a file."""
    frame = table(3, names=[1, 2, 3])
    read = frame.set_axis(["1", "2", "3"], axis="columns")
    for draw in (plotting.relatedness, plotting.dendrogram):
        assert texts(draw(read)) == texts(draw(frame))
    assert texts(plotting.distances(read, "2")) == texts(plotting.distances(frame, "2"))


BELOW = "Numbers below 0 are drawn as 0."


def test_numbers_below_0_are_drawn_as_0():
    frame = table(4, symmetric=False, names=list("abcd"))
    frame.loc["b", "a"], frame.loc["d", "a"] = -0.2, -0.3
    before = frame.copy()
    at_least_0 = frame.clip(lower=0.0)
    for draw in (plotting.relatedness, plotting.dendrogram):
        figure = draw(frame)
        assert BELOW in texts(figure) and BELOW not in texts(draw(at_least_0))
        assert not any(text.startswith("-") for text in texts(figure))
        assert by_height(figure, set("abcd")) == by_height(draw(at_least_0), set("abcd"))
        assert_readable(figure)
    mesh = one_axes(plotting.relatedness(frame)).collections[0]
    order = by_height(plotting.relatedness(frame), set("abcd"))
    assert np.array_equal(mesh.get_array(), at_least_0.loc[order, order])
    tree = hierarchy.linkage(squareform(at_least_0.to_numpy(), checks=False), "average")
    assert BELOW in texts(plotting.relatedness(frame, tree))
    assert frame.equals(before)


def test_what_is_below_0_is_ordered_by_what_it_is():
    frame = table(4, symmetric=False, names=list("abcd"))
    frame["a"] = [0, -0.2, 0.5, -0.3]
    figure = plotting.distances(frame, "a")
    # Both are drawn at 0, where the name would decide.
    assert by_height(figure, set("bcd")) == ["d", "b", "c"]
    assert BELOW in texts(figure) and texts(figure).count("0") == 3  # two tasks and the axis
    assert "largest gap: 0.500, after 2 tasks" in texts(figure)
    assert_readable(figure)
    assert BELOW not in texts(plotting.distances(frame, "b"))


def test_labels_say_what_the_numbers_are():
    label = "share of the pairs of variables that differ"
    for n_tasks in (2, 5):
        figure = plotting.relatedness(table(n_tasks), label=label)
        assert f"{label} (smaller: closer)" in texts(figure)
        assert_readable(figure)
        figure = plotting.distances(table(n_tasks), "task01", label)
        assert f"{label}, from the others to task01" in texts(figure)
        assert_readable(figure)
    for wrong in (None, 3):
        with pytest.raises(TypeError, match="`label` must be a text .*, such as 'edits', got"):
            plotting.relatedness(table(3), label=wrong)
        with pytest.raises(TypeError, match="`label` must be a text"):
            plotting.distances(table(3), "task00", label=wrong)


def test_tasks_that_are_all_alike_are_reported():
    sentence = "All numbers are 0."
    assert sentence in texts(plotting.relatedness(table(3) * 0))
    assert sentence not in texts(plotting.relatedness(-table(3)))
    assert sentence not in texts(plotting.relatedness(table(3)))


def test_the_principal_task_is_distinguished_from_names_cut_short():
    names = ["x" * 40 + "y" * 40, "x" * 40 + "z" + "y" * 39, "c"]
    frame = table(3, names=names)
    for principal in names:
        shown = texts(plotting.distances(frame, principal))
        (caption,) = [text for text in shown if ", from the others to " in text]
        assert caption.partition(" to ")[2] not in shown


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([0.001, 0.0012, 0.5, 0.5001, 100], ["0.001", "0.0012", "0.5", "0.5", "100"]),
        ([0, 0.004, 0.056, 1.25], ["0", "0.004", "0.056", "1.25"]),
        ([0, 0.05, 0.3, 1.25], ["0", "0.05", "0.30", "1.25"]),
        ([-0.0001, 0.02, 4.5, 25.5], ["-0.0001", "0.02", "4.5", "25.5"]),
        ([1e-17, -1e-17, 0.5], ["0", "0", "0.500"]),
        ([0, 3, 100], ["0", "3", "100"]),
        ([-30.5, -1.5, 0], ["-30.5", "-1.5", "0"]),
    ],
)
def test_numbers_are_written_with_enough_digits(values, written):
    assert [writer(values)(value) for value in values] == written
    frame = pd.DataFrame(np.zeros((len(values) + 1,) * 2))
    frame.iloc[:-1, -1] = values
    frame.index = frame.columns = [f"task{i}" for i in range(len(frame))]
    shown = texts(plotting.distances(frame, f"task{len(values)}"))
    assert set(written[i] for i, value in enumerate(values) if value > 1e-9) <= set(shown)


@hypothesis.given(st.lists(st.floats(1e-3, 1e5), min_size=2, max_size=20))
def test_clearly_different_numbers_are_written_differently(values):
    write = writer(values)
    for first, second in itertools.pairwise(sorted(values)):
        assert float(write(first)) > 0
        assert write(first) != write(second) or second / first < 1.12


def test_differences_by_rounding_are_not_mistakes():
    frame = changed("a", "b", -1e-17)
    frame.loc["a", "a"] = 1e-17
    for draw in (plotting.relatedness, plotting.dendrogram):
        assert not any("-" in text or text == BELOW for text in texts(draw(frame)))
    turned = table(3)[["task02", "task00", "task01"]]
    assert plotting.svg(plotting.relatedness(turned)) == plotting.svg(
        plotting.relatedness(table(3))
    )


def test_unknown_principal_clusters_and_labels_are_refused():
    frame = table(3, names=list("abc"))
    with pytest.raises(ValueError, match="`principal` must be one of .*`a`, `b`, `c`, got 'z'"):
        plotting.distances(frame, "z")
    for n_clusters in (0, 4, 1.5, "2", True):
        with pytest.raises((InputError, InputTypeError), match="`n_clusters` .* from 1 to 3, got"):
            plotting.dendrogram(frame, n_clusters=n_clusters)
    tree = hierarchy.linkage(squareform(frame.to_numpy()))
    with pytest.raises(TypeError, match="or a linkage together with `labels`, got ndarray; give"):
        plotting.dendrogram(tree)
    with pytest.raises(ValueError, match="`labels` must be left out with a table"):
        plotting.dendrogram(frame, labels=list("abc"))
    with pytest.raises(ValueError, match="each task once; `0` is repeated: .* give the index"):
        plotting.dendrogram(tree, pd.Series([0, 0, 1], index=list("abc")))
    for labels in ("abc", {"a", "b", "c"}, 3):
        with pytest.raises(TypeError, match="`labels` must list the names"):
            plotting.dendrogram(tree, labels)
    with pytest.raises(ValueError, match="at least two tasks, got 1"):
        plotting.dendrogram(np.empty((0, 4)), ["a"])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([[0, 1, 1.0, 2]], r"for 3 tasks, an array of shape \(2, 4\), got \(1, 4\)"),
        ("tree", r"an array of shape \(2, 4\)"),
        ([[0, 1, 1.0, 2], [0, 3, 2.0, 3]], "must merge every task and group once"),
        ([[0, 4, 1.0, 2], [1, 2, 2.0, 3]], "must merge every task and group once"),
        (
            [[0, 1, -1.0, 2], [2, 3, 2.0, 3]],
            "heights of at least 0 in its third column, got -1.0; merge dissimilarities",
        ),
        ([[0, 1, 1.0, 2], [2, 3, np.nan, 3]], "heights of at least 0 .*, got nan"),
    ],
)
def test_what_is_not_a_linkage_is_refused(tree, message):
    with pytest.raises(ValueError, match=f"`linkage` .*{message}"):
        plotting.relatedness(table(3), tree)
    with pytest.raises(ValueError, match=f"`linkage_or_table` .*{message}"):
        plotting.dendrogram(tree, list("abc"))
