"""The study of active learning: batches, strategies, and tables and claims from invented curves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from benchmarks.decorate import queries, query_tables
from benchmarks.decorate.query_tables import (
    DECORATE,
    EARLY,
    JS,
    LABELS,
    PROBABILITIES,
    RANDOM,
    SQUARED,
    signs,
)
from bnmtl.trees import ProbabilityTree

pytestmark = pytest.mark.beside_kernels


@pytest.mark.parametrize("table, n_pool", [("iris", 135), ("breast-w", 629), ("labor", 51)])
def test_batches_are_fine_at_both_ends(table, n_pool):
    sizes = queries.batches(LABELS, n_pool, table)
    ends = 5 + np.cumsum(sizes)
    assert ends[-1] == n_pool and min(sizes) > 0
    batch = 3 if table == "breast-w" else 1
    early = [size for size, end in zip(sizes, ends, strict=True) if end <= queries.FINE]
    assert set(early[:-1]) <= {batch}
    # The target is the mean error over the last 50 labels.
    assert (ends >= n_pool - queries.LAST).sum() >= 5
    assert len(sizes) < 90


def test_other_parts_grow_or_ask_for_single_labels():
    sizes = queries.batches(PROBABILITIES, 800, "iris")
    assert 5 + sum(sizes) == 800 and len(sizes) <= 33 and sizes == sorted(sizes)
    assert queries.batches(EARLY, 800, "iris") == [1] * 15


def test_all_strategies_for_probabilities_have_the_same_base():
    trees = {LABELS: DecisionTreeClassifier, PROBABILITIES: ProbabilityTree}
    for part, kind in trees.items():
        for name, given in queries.strategies(part).items():
            strategy, predictor = given if isinstance(given, tuple) else (given, None)
            template = getattr(predictor or strategy, "estimator", None)
            if template is not None:
                inner = template[-1] if hasattr(template, "steps") else template
                assert isinstance(inner, kind), (part, name)
    assert ProbabilityTree(smoothing="laplace").get_params()["smoothing"] == "laplace"


def test_rows_are_cut_where_the_study_says_so(monkeypatch):
    X = pd.DataFrame({"a": np.arange(1200.0)})
    monkeypatch.setattr(queries, "read", lambda table: (X, np.arange(1200) % 2, "hash"))
    for table, part, n in (("sick", PROBABILITIES, 1000), ("car", PROBABILITIES, 1200)):
        kept, y, _ = queries.rows_of(table, part)
        assert len(kept) == len(y) == n
        np.testing.assert_array_equal(y, kept["a"] % 2)
    assert len(queries.rows_of("sick", LABELS)[0]) == 1200


def test_the_quick_study_has_curves_of_each_fold():
    (case,) = queries.plan(True)
    found = queries.measure(**case)
    for line in found.values():
        assert line["n_labels"] == [5, 10, 15, 20, 25]
        assert np.shape(line["error"]) == (3, 5)
    assert found[RANDOM]["error"][0][0] == found[DECORATE]["error"][0][0]


def line(part, table, strategy, level):
    """Invented curves: errors fall with the number of labels."""
    rng = np.random.default_rng(sum(map(ord, strategy)))
    sizes = list(range(5, 105, 5))
    falling = level * (1 - np.array(sizes) / 250)
    curves = {
        name: (falling + 0.002 * rng.normal(size=(10, len(sizes)))).round(4).tolist()
        for name in ("error", "squared_error")
    }
    curves["lift_chart_area"] = (1 - np.array(curves["error"])).tolist()
    start = {"part": part, "table": table, "repeat": 0, "strategy": strategy}
    return start | {"n_labels": sizes} | curves


@pytest.fixture
def lines():
    levels = {RANDOM: 0.3, DECORATE: 0.24, JS: 0.27, "query by bagging": 0.26}
    levels |= {"query by boosting": 0.28, "bagging asks for DECORATE": 0.29}
    levels["boosting asks for DECORATE"] = 0.295
    found = [line(LABELS, table, *one) for table in ("iris", "glass") for one in levels.items()]
    levels = {RANDOM: 0.3, SQUARED: 0.29, DECORATE: 0.28, "ActiveDecorateJS": 0.25}
    levels |= {"BootstrapJS": 0.2, "BootstrapLV": 0.26, "random, bagged trees": 0.31}
    found += [
        line(part, table, *one)
        for part in (PROBABILITIES, EARLY)
        for table in ("sick", "vote")
        for one in levels.items()
    ]
    return pd.DataFrame(found)


def test_tables_follow_the_curves(lines):
    made = query_tables.tables(lines)
    assert set(made) == {
        "decorate_queries_labels",
        "decorate_queries_errors",
        "decorate_queries_mixed",
        "decorate_queries_probabilities",
        "decorate_queries_early",
        "decorate_queries_by_table",
        "decorate_queries_claims",
    }
    (row,) = [one for one in made["decorate_queries_errors"].split("\n") if "| glass |" in one]
    percents = [float(cell.split(",")[1].strip(" *")) for cell in row.strip("| ").split(" | ")[1:]]
    np.testing.assert_allclose(percents, [100 / 7.5, 100 / 15, 20, 10], atol=1)
    rows = [
        one.strip("| ").split(" | ") for one in made["decorate_queries_probabilities"].split("\n")
    ]
    squared = {row[0]: row[1].split(", ") for row in rows[2:]}
    for title, percent in (
        ("BootstrapJS against ActiveDecorateJS", 20),
        ("ActiveDecorateJS against random", 13.8),
        ("BootstrapJS against random", 35.5),
    ):
        record, corrected, mean = squared[title]
        assert corrected == f"corrected {record}"
        assert record == "2/0/0" and float(mean.strip(" %")) == pytest.approx(percent, abs=1)
    (row,) = [one for one in made["decorate_queries_by_table"].split("\n") if "| vote |" in one]
    assert len(row.strip("| ").split(" | ")) == 7 and "*" in row
    twice = pd.concat([lines, lines.assign(repeat=1)])
    assert query_tables.long(twice, EARLY)["trial"].nunique() == 20
    assert query_tables.tables(lines[:0]) == {}


def test_claims_follow_the_curves(lines):
    few = {part: query_tables.long(lines, part) for part in lines["part"].unique()}
    found = {one.text: one.verdict() for one in query_tables.claims(few)}
    for text in (
        "ActiveDecorate needs fewest labels for the target",
        "margins reduce the error more than divergence",
        "BootstrapJS beats LV, squared error",
    ):
        assert found[text] == "not significant"  # two tables
    curves = {
        part: pd.concat([one.assign(data=one["data"] + str(copy)) for copy in range(5)])
        for part, one in few.items()
    }
    found = {one.text: one.verdict() for one in query_tables.claims(curves)}
    assert found["ActiveDecorate needs fewest labels for the target"] == "yes"
    assert found["margins reduce the error more than divergence"] == "yes"
    assert found["BootstrapJS ahead of ActiveDecorateJS in all"] == "yes"
    assert found["ActiveDecorateJS ahead of BootstrapJS early"] == "no"
    assert found["BootstrapJS beats LV, squared error"] == "yes"
    assert found["BootstrapJS never worse than LV, squared error"] == "yes"
    names = {"BootstrapJS": "BootstrapLV", "BootstrapLV": "BootstrapJS"}
    swapped = {part: one.replace({"strategy": names}) for part, one in curves.items()}
    others = {one.text: one.verdict() for one in query_tables.claims(swapped)}
    assert others["BootstrapJS never worse than LV, squared error"] == "no"
    assert found["BootstrapJS level with LV-EXT, squared error"] == "not measured"
    assert found["divergence level with margins, lift area (within 2 %)"] == "no"
    assert found["ActiveDecorate beats random cases, squared error"] == "yes"
    assert found["DECORATE asks best for DECORATE"] == "yes"
    assert found["divergence needs as many labels as margins (within 20 %)"] == "no"
    found = query_tables.improvements_of(few[EARLY], RANDOM, "BootstrapJS", "squared_error")
    made, corrected, percents = signs(found)
    assert made == corrected == [-1, -1] and max(percents) < 0
    figure = query_tables.draw(lines)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["iris", "glass"]
    assert set(query_tables.more_pictures(lines)) == {"decorate_queries-probabilities"}


def test_who_asks_for_other_learners_is_beside_random_cases():
    rng = np.random.default_rng(0)
    line = {"part": LABELS, "table": "soybean", "repeat": 0, "n_labels": [5, 10, 15]}
    levels = {"random, bagging": 0.4, "DECORATE asks for bagging": 0.2, "random, tree": 0.3}
    made = [
        {**line, "strategy": name, "error": (level + 0.01 * rng.random((10, 3))).tolist()}
        for name, level in levels.items()
    ]
    curves = query_tables.long(pd.DataFrame(made), LABELS)
    (row,) = query_tables._asking(curves).to_dict("records")
    assert list(row) == ["table", "DECORATE asks for bagging"]
    assert float(row["DECORATE asks for bagging"].strip("*")) == pytest.approx(50, abs=2)
    assert row["DECORATE asks for bagging"].endswith("*")
