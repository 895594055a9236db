"""Order of rows: moments over all orders by enumeration, series, shuffled tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import encode_quietly

from bnmtl.tasks.order import THRESHOLD, order_score

pytestmark = pytest.mark.beside_kernels


def score_of(*frames):
    return order_score(
        encode_quietly({f"t{at}": frame for at, frame in enumerate(frames)}).values()
    )


def n_matches(rows):
    return int((rows[1:] == rows[:-1]).sum())


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_moments_are_those_of_all_orders(data):
    n, n_columns = data.draw(st.integers(4, 6)), data.draw(st.integers(1, 3))
    states = st.lists(st.integers(0, 2), min_size=n, max_size=n).filter(
        lambda one: len(set(one)) > 1
    )
    rows = np.array([data.draw(states) for _ in range(n_columns)]).T
    values = [n_matches(rows[list(order)]) for order in itertools.permutations(range(n))]
    spread = np.std(values)
    expected = (n_matches(rows) - np.mean(values)) / spread if spread > 1e-6 else 0.0
    frame = pd.DataFrame(rows).add_prefix("v")
    assert score_of(frame) == pytest.approx(expected, abs=1e-6)


def series(rng, n_rows, n_columns, persistence):
    """Independent columns of two states, each of which stays as it is with a probability."""
    changes = rng.random((n_rows, n_columns)) > persistence
    changes[0] = rng.integers(0, 2, n_columns)
    return pd.DataFrame(changes.cumsum(axis=0) % 2).add_prefix("v")


def test_series_are_seen_and_shuffled_rows_are_not():
    rng = np.random.default_rng(0)
    found = [score_of(series(rng, 60, 20, 0.8)) for _ in range(40)]
    assert np.mean(np.array(found) > THRESHOLD) >= 0.95
    shuffled = []
    for _ in range(300):
        rows = series(rng, 60, 20, 0.8)
        shuffled.append(score_of(rows.sample(frac=1, random_state=rng)))
        rare = pd.DataFrame(rng.random((40, 8)) < 0.05).astype(int).add_prefix("v")
        shuffled.append(score_of(rare))
    # 1 % and two standard errors.
    assert np.mean(np.array(shuffled) > THRESHOLD) <= 0.01 + 2 * np.sqrt(0.01 * 0.99 / 600)


def test_sorted_rows_are_seen_and_tasks_add_up():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.integers(0, 3, (80, 4))).add_prefix("v")
    by_all = rows.sort_values(list(rows)).reset_index(drop=True)
    assert score_of(by_all) > THRESHOLD
    weak = [series(rng, 30, 3, 0.62) for _ in range(12)]
    assert score_of(*weak) > max(score_of(frame) for frame in weak[:3])


def test_tables_without_another_order_have_score_0():
    assert score_of(pd.DataFrame({"a": ["x", "y", "x"], "b": ["x", "y", "y"]})) == 0
    assert score_of(pd.DataFrame({"a": ["x"] * 9, "b": ["y"] * 9})) == 0
