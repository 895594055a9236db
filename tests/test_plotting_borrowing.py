"""The picture of borrowed tables says what was borrowed, and nothing overlaps."""

import numpy as np
import pandas as pd
import pytest
from pictures import assert_readable, texts

from bnmtl import HillClimbing, MultitaskLearner, SingleTaskLearner, plotting
from bnmtl.networks.shared_tables import borrowed_shares

pytestmark = pytest.mark.beside_kernels


def fitted(names=("north", "south", "west"), **settings):
    """Column y is only in the first task; x has one table everywhere, z one of its own."""
    rng, frames = np.random.default_rng(0), {}
    for at, name in enumerate(names):
        frame = pd.DataFrame(rng.integers(0, 2, (40, 2)), columns=["x", "z"])
        frame["z"] = rng.random(40) < (0.02, 0.5, 0.98)[at % 3]
        if at == 0:
            frame["y"] = rng.integers(0, 2, 40)
        frames[name] = frame.astype(str)
    quick = HillClimbing(restarts=0)
    return MultitaskLearner(**{"task_groups": None, "search": quick, **settings}).fit(frames)


def test_shares_are_of_the_rows_that_there_are():
    learner = fitted()
    shares = borrowed_shares(learner.borrowed_, learner.tasks_)
    assert list(shares.index) == ["x", "z", "y"] and list(shares.columns) == list(learner.tasks_)
    assert shares.loc["y"].isna().all()
    rows = learner.borrowed_.set_index(["variable", "task", "source"])["rows"]
    for variable in ("x", "z"):
        for task in shares.columns:
            assert shares.loc[variable, task] == min(1.0, rows[variable, task].sum() / 80)
    assert (shares.loc["x"] > 0.5).all() and (shares.loc["z"] < 0.1).all()


def test_the_picture_has_a_number_in_every_cell():
    learner = fitted()
    figure = plotting.borrowing(learner)
    assert_readable(figure)
    shares = borrowed_shares(learner.borrowed_, learner.tasks_)
    found = texts(figure)
    for share in shares.to_numpy().ravel():
        assert ("\u00d7" if np.isnan(share) else f"{100 * share:.0f}") in found
    assert "not there, or in this task only" in found
    assert any("alone" in text for text in found)


def test_tasks_are_in_the_order_of_their_groups():
    learner = fitted(task_groups={"north": 1, "south": 2, "west": 1})
    assert texts(plotting.borrowing(learner))[:3] == ["north", "west", "south"]


def test_long_and_odd_names_are_readable():
    assert_readable(plotting.borrowing(fitted(["A " + "very long name " * 6, "$\\alpha$", "<b>"])))


def test_what_shares_nothing_has_no_picture():
    tables = {name: task.frame() for name, task in fitted().tasks_.items()}
    without_sharing = MultitaskLearner(table_sharing=None, search=HillClimbing(restarts=0))
    for learner in (without_sharing, SingleTaskLearner()):
        with pytest.raises(ValueError, match="`learner` must have tasks that share tables"):
            plotting.borrowing(learner.fit(tables))
    with pytest.raises(ValueError, match="`learner` must be a fitted IdenticalLearner"):
        plotting.borrowing(MultitaskLearner(table_sharing="auto"))
    with pytest.raises(ValueError, match="`learner` must be a fitted IdenticalLearner"):
        plotting.borrowing(None)
