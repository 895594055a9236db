"""The study of bias, variance and noise of learned networks: parts, rounds, tables, pictures."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.validation import network_parts, network_parts_tables, tree_parts
from benchmarks.validation.network_parts import LEARNERS, NO_ARCS, TRUE
from bnmtl.seeding import generator

pytestmark = pytest.mark.beside_kernels
quietly = pytest.mark.filterwarnings("ignore::UserWarning")  # of columns without variation


@pytest.fixture(scope="module")
def measured():
    learners = ["alone", "alone, BIC", "one network", TRUE, NO_ARCS]
    return network_parts.measure("ALARM", 100, learners)


@quietly
def test_parts_add_up_and_noise_is_that_of_the_true_networks(measured):
    for line in measured.values():
        for loss in ("zero_one", "squared"):
            parts = [line[f"{loss} {part}"] for part in network_parts_tables.PARTS]
            np.testing.assert_allclose(np.sum(parts, axis=0), line[f"{loss} error"], atol=5e-6)
        # That of errors depends on how often the best class is predicted.
        assert line["squared noise"] == measured["alone"]["squared noise"]
        assert line["sets"] == 3
    assert min(measured["alone"]["squared noise"]) > 0
    squared = {name: np.mean(line["squared error"]) for name, line in measured.items()}
    assert squared[TRUE] < squared["alone"] < squared[NO_ARCS]
    arcs = {name: line["arcs"] for name, line in measured.items()}
    assert arcs[NO_ARCS] == 0 < arcs["alone"] < arcs[TRUE]


def test_training_sets_are_fresh_and_test_cases_stay():
    source = network_parts._Fresh(30)
    first, second = source.training(0), source.training(1)
    assert not first["task1"].equals(second["task1"])
    assert first["task1"].equals(network_parts._Fresh(30).training(0)["task1"])
    assert {len(frame) for frame in source.test.values()} == {network_parts.N_TEST}
    # The true networks have no error but noise.
    p = source.truth("LVFAILURE")
    rounds = source.rounds(np.stack([p, p]), "LVFAILURE")
    found = network_parts.bias_variance(rounds, truth=p).loc["squared"]
    assert found["error"] == pytest.approx(found["noise"]) and found["noise"] > 0
    assert np.mean(p.argmax(axis=1) == rounds.codes) > 0.9


@quietly
@pytest.mark.parametrize("scheme", network_parts.SCHEMES)
def test_rows_that_were_not_drawn_are_predicted(scheme):
    source = network_parts._Resampled("avimedi", scheme)
    tasks = source.training(3)
    learned = network_parts._learned(NO_ARCS, source, 3)
    p = source.predicted(learned, "stratum", 3)
    is_predicted = ~np.isnan(p[:, 0])
    start = 0
    for name, frame in source.frames.items():
        rng = generator(0, "rows", name, 3)
        n = len(frame)
        drawn = rng.integers(n, size=n) if scheme == "bootstrap" else rng.permutation(n)[: n // 2]
        assert len(tasks[name]) == len(drawn)
        expected = ~np.isin(np.arange(n), drawn)
        np.testing.assert_array_equal(is_predicted[start : start + n], expected)
        # Without arcs these are about the shares of the strata among the drawn rows.
        rows = p[start : start + n][expected]
        shares = tasks[name]["stratum"].value_counts(normalize=True).sort_index()
        np.testing.assert_allclose(rows, np.tile(shares, (len(rows), 1)), atol=0.05)
        start += n
    rounds = source.rounds(np.stack([p, p]), "stratum")
    assert rounds.classes.tolist() == ["S1", "S2", "S3", "S4", "S5", "S6"]
    assert source.truth("stratum") is None


def test_every_learner_has_its_cases():
    cases = network_parts.plan(False)
    of_alarm = [case for case in cases if case["problem"] == "ALARM"]
    assert len(of_alarm) == 3 * len(LEARNERS)
    assert len(cases) - len(of_alarm) == 4 * (len(LEARNERS) - 1)
    assert network_parts.n_sets_of(250, "together") == 50
    assert network_parts.n_sets_of(4000, "together") == 10
    assert network_parts.n_sets_of(4000, "alone") == 50
    assert network_parts.n_sets_of("bootstrap", "together") == 50
    names = {one for pair in network_parts_tables._PAIRS for one in pair}
    assert names | set(network_parts_tables._SHOWN) <= set(LEARNERS)
    for name, make in LEARNERS.items():
        assert make is None or make(7).random_state == 7, name


def _line(learner, problem="ALARM", rows=250, error=0.3, variance=0.1):
    line = {"problem": problem, "rows": rows, "learner": learner, "sets": 50, "arcs": 12.0}
    for loss in ("zero_one", "squared"):
        parts = {"noise": 0.1, "variance": variance, "variance_of_biased": 0.0, "error": error}
        parts["bias"] = error - 0.1 - variance
        line |= {f"{loss} {part}": [value, value] for part, value in parts.items()}
    return line


def test_tables_and_pictures():
    assert network_parts_tables.tables(pd.DataFrame()) == {}
    names = [*network_parts_tables._SHOWN, "alone, at most 1 parent", "alone, at most 2 parents"]
    lines = [_line(name) for name in names if name != "together"]
    lines.append(_line("together", error=0.25, variance=0.06))
    lines += [_line(name, "avimedi", "halves") for name in names if name != TRUE]
    lines = pd.DataFrame(lines)
    made = network_parts_tables.tables(lines)
    assert (
        "| ALARM | 250 | together | 12.0 | 50 | 0.2500 | 0.1000 | 0.0900 | 0.0600 |"
        in (made["network_parts"])
    )
    row = (
        "| together | alone | ALARM | 250 | +0.0500 (2 of 2) | +0.0100 (2 of 2) | "
        "+0.0400 (2 of 2) |"
    )
    assert row in made["network_parts_differences"]
    assert "| ALARM | 250 | alone | 30.00 % | 10.00 % |" in made["network_parts_errors"]
    figure = network_parts_tables.draw(lines)
    assert [one.get_title() for one in figure.axes[:-1]] == list(network_parts_tables._SHOWN[1:])
    # Without the noise.
    together = dict(zip(network_parts_tables._SHOWN[1:], figure.axes, strict=False))["together"]
    assert max(np.max(line.get_ydata()) for line in together.lines) == pytest.approx(0.15)
    more = network_parts_tables.more_pictures(lines)
    assert set(more) == {"network_parts_parents", "network_parts_real"}
    ticks = [one.get_text() for one in more["network_parts_parents"].axes[0].get_xticklabels()]
    assert ticks == ["0", "1", "2", "any"]
    alarm = lines[lines["problem"] == "ALARM"]
    assert set(network_parts_tables.more_pictures(alarm)) == {"network_parts_parents"}


@quietly
def test_larger_trees_have_less_bias_and_more_variance():
    made = {
        leaves: tree_parts.measure(tree_parts.QUICK, leaves, list(tree_parts.SMOOTHINGS))
        for leaves in (1, 2, tree_parts.PURE)
    }
    lines = pd.DataFrame(
        [
            {"table": table, "leaves": leaves, "smoothing": smoothing} | line
            for leaves, by_smoothing in made.items()
            for smoothing, line in by_smoothing.items()
            for table in (tree_parts.QUICK, "again")
        ]
    )
    plain = lines[(lines["table"] == "again") & (lines["smoothing"] == tree_parts.PLAIN)]
    assert plain["squared bias"].is_monotonic_decreasing
    # One leaf has the shares of three classes.
    assert plain["squared bias"].iloc[0] == pytest.approx(2 / 3, abs=0.02)
    for loss in ("zero_one", "squared"):
        total = lines[[f"{loss} {part}" for part in tree_parts.PARTS[:-1]]].sum(axis=1)
        np.testing.assert_allclose(total, lines[f"{loss} error"], atol=5e-6)
    tables = tree_parts.tables(lines)
    pure = plain.iloc[2]
    parts = [pure[f"squared {part}"] for part in ("error", "bias", "variance")]
    assert "{:.3f} = {:.3f} + {:.3f}".format(*parts) in tables["tree_parts"]
    assert f"| {parts[0]:.3f} |" in tables["tree_parts_mean"]
    axes = tree_parts.draw(lines).axes
    assert [tick.get_text() for tick in axes[0].get_xticklabels()] == ["1", "2", "pure"]
    assert tree_parts.tables(lines[:0]) == {}
