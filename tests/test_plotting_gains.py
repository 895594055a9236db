"""The picture of gains has the values of pairs, tasks by group, and says what was not tried."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle
from pictures import assert_readable, texts

from bnmtl import plotting
from bnmtl.errors import InputError, InputTypeError

pytestmark = pytest.mark.beside_kernels

TASKS = ["north", "south", "west"]
GROUPS = {"north": 1, "south": 2, "west": 1}


def table(values=((0, -5.26, 31.2), (-5.26, 0, 9.97), (31.2, 9.97, 0)), tasks=TASKS):
    """Gains of pairs of tasks; the diagonal has none."""
    values = np.array(values, dtype=float)
    np.fill_diagonal(values, np.nan)
    return pd.DataFrame(values, index=tasks, columns=tasks)


def many(n, seed=0):
    values = np.random.default_rng(seed).normal(0, 30, (n, n))
    return table(values + values.T, [f"t{at:02d}" for at in range(n)])


def cells(figure):
    """Values of the colored cells, by row and column; untried pairs are another mesh."""
    untried, tried = figure.axes[0].collections[:2]
    return tried.get_array(), untried.get_array()


def frames(figure):
    """Corner and size of the frames, in cells."""
    axes = figure.axes[0]
    # The diagonal is at x - y = const; the side of a cell is that of the mesh.
    mesh = axes.collections[0].get_coordinates()
    side, top = mesh[0, 1, 0] - mesh[0, 0, 0], mesh[0, 0, 1]
    found = []
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        x, y = patch.get_xy()
        assert x == pytest.approx(y - top) and patch.get_width() == patch.get_height()
        found.append((round(x / side), round(patch.get_width() / side)))
    return found


def test_values_stand_in_the_order_of_the_groups():
    figure = plotting.gains(table(), GROUPS)
    tried, untried = cells(figure)
    # North and west, then south.
    expected = [[np.nan, 31.2, -5.26], [31.2, np.nan, 9.97], [-5.26, 9.97, np.nan]]
    assert np.allclose(tried.filled(np.nan), expected, equal_nan=True)
    assert untried.mask.all()
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written[:6] == 2 * ["north", "west", "south"]
    assert written[6:] == ["31", "-5.3", "31", "10", "-5.3", "10"]
    assert_readable(figure)


def test_groups_of_several_tasks_are_framed():
    assert frames(plotting.gains(table(), GROUPS)) == [(0, 2)]
    assert frames(plotting.gains(table(), dict.fromkeys(TASKS, "all"))) == [(0, 3)]
    assert frames(plotting.gains(table(), {task: task for task in TASKS})) == []
    figure = plotting.gains(many(9), {f"t{at:02d}": at % 3 for at in range(9)})
    assert frames(figure) == [(0, 3), (3, 3), (6, 3)]
    assert "a group that learns together" in texts(figure)


def test_without_groups_the_order_is_that_of_the_table():
    figure = plotting.gains(table())
    assert [text.get_text() for text in figure.axes[0].texts][:3] == TASKS
    assert frames(figure) == []
    assert "a group that learns together" not in texts(figure)
    pairs = plotting.gains(table(((0, 3), (3, 0)), ["a", "b"]), {"a": 1, "b": 2})
    assert [text.get_text() for text in pairs.axes[0].texts][4:] == ["3.0", "3.0"]


def test_gains_and_losses_have_opposite_colors_of_equal_strength():
    tried = plotting.gains(table(), GROUPS).axes[0].collections[1]
    assert tried.get_clim() == (-31.2, 31.2)
    red, blue = tried.cmap(0.1), tried.cmap(0.9)
    assert red[0] > red[2] and blue[2] > blue[0]


def test_pairs_that_were_not_tried_are_gray():
    gains = table()
    gains.loc["north", "south"] = gains.loc["south", "north"] = np.nan
    figure = plotting.gains(gains, GROUPS)
    untried = cells(figure)[1]
    assert np.argwhere(~untried.mask).tolist() == [[0, 2], [2, 0]]
    assert "not tried" in texts(figure)
    assert "not tried" not in texts(plotting.gains(table(), GROUPS))
    nothing = plotting.gains(table(np.full((3, 3), np.nan)), GROUPS)
    assert (~cells(nothing)[1].mask).sum() == 6 and cells(nothing)[0].mask.all()
    assert_readable(nothing)


def test_of_many_tasks_only_the_colors_are_shown():
    few, more = plotting.gains(many(20)), plotting.gains(many(21))
    assert len(few.axes[0].texts) == 2 * 20 + 20 * 19
    assert len(more.axes[0].texts) == 2 * 21
    assert cells(more)[0].shape == (21, 21)


def test_tasks_are_found_by_their_names_as_text():
    gains = table(tasks=[1, 2, 3])
    for groups in ({1: "a", 2: "b", 3: "a"}, {"1": "a", "2": "b", "3": "a"}):
        figure = plotting.gains(gains, groups)
        assert [text.get_text() for text in figure.axes[0].texts][:3] == ["1", "3", "2"]
    # Groups of tasks that are not in the table, and the groups of a learner.
    series = pd.Series({**GROUPS, "east": 1})
    assert frames(plotting.gains(table(), series)) == [(0, 2)]


@pytest.mark.parametrize(
    ("gains", "groups", "error", "message"),
    [
        (table().to_numpy(), None, InputTypeError, "`gains` must be a pandas.DataFrame"),
        (table().iloc[::-1], None, InputError, "`gains` must have the same tasks as rows and as"),
        (table().iloc[:1, :1], None, InputError, "`gains` must hold at least two tasks, got 1"),
        (table(tasks=["a", "a", "b"]), None, InputError, "`a` is repeated"),
        (table().astype(str) + "?", None, InputTypeError, "column `north` must hold numbers only"),
        (table(np.full((3, 3), np.inf)), None, InputError, "`gains` must hold finite numbers or"),
        (table(), {"north": 1, "south": 2}, InputError, "`task_groups` must name .* `west` has no"),
        (table(), [TASKS[:2], TASKS[2:]], InputTypeError, "`task_groups` must map tasks to labels"),
        (table(), "auto", InputTypeError, "`task_groups` must map tasks to labels"),
        (table(), {task: [1] for task in TASKS}, InputTypeError, "`task_groups` .*hashable"),
    ],
)  # fmt: skip
def test_mistakes(gains, groups, error, message):
    with pytest.raises(error, match=message):
        plotting.gains(gains, groups)
