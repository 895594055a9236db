"""The study of bias, variance and noise of learned networks: parts, rounds, tables, pictures."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import study
from benchmarks.validation import network_parts, network_parts_tables, null_p_values, tree_parts
from benchmarks.validation.network_parts import GIVEN, LEARNERS, NO_ARCS, OF_ARCS, TRUE, TRUE_SHARED
from bnmtl.networks.smoothing import posterior_mean
from bnmtl.seeding import generator
from bnmtl.validation import Comparison

pytestmark = pytest.mark.beside_kernels
quietly = pytest.mark.filterwarnings("ignore::UserWarning")  # of columns without variation


@pytest.fixture(scope="module", autouse=True)
def few_targets():
    """Predict two variables of ALARM instead of five."""
    few = network_parts.TARGETS["ALARM"][:2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(network_parts.TARGETS, "ALARM", few)
        yield


@pytest.fixture(scope="module")
def measured(few_targets):
    return network_parts.measure("ALARM", 100, ["alone", TRUE, NO_ARCS])


@quietly
def test_parts_add_up_and_noise_is_that_of_the_true_networks(measured):
    for line in measured.values():
        for loss in network_parts_tables.LOSSES:
            parts = [line[f"{loss} {part}"] for part in network_parts_tables.PARTS]
            np.testing.assert_allclose(np.sum(parts, axis=0), line[f"{loss} error"], atol=5e-6)
        assert line["kohavi_wolpert error"] == line["zero_one error"]
        # That of errors depends on how often the best class is predicted.
        assert line["squared noise"] == measured["alone"]["squared noise"]
        assert line["sets"] == network_parts.N_QUICK
        # Every set is left out once, and an error is a mean over sets.
        left = line["squared error without"]
        assert len(left) == network_parts.N_QUICK and len(set(left)) > 1
        assert np.mean(left) == pytest.approx(np.mean(line["squared error"]), abs=1e-6)
    assert min(measured["alone"]["squared noise"]) > 0
    squared = {name: np.mean(line["squared error"]) for name, line in measured.items()}
    assert squared[TRUE] < squared["alone"] < squared[NO_ARCS]
    arcs = {name: line["arcs"] for name, line in measured.items()}
    assert arcs[NO_ARCS] == 0 < arcs["alone"] < arcs[TRUE]


def test_parts_without_groups_are_those_of_the_other_sets():
    source = network_parts._Fresh(30)
    rng = np.random.default_rng(0)
    truth = source.truth("LVFAILURE")
    found = [
        np.clip(truth + rng.normal(0, 0.2, (len(truth), 1)) * [1, -1], 0, 1) for _ in range(20)
    ]
    line = network_parts._parts({"LVFAILURE": found}, source)
    rounds = source.rounds(np.stack(found[:4] + found[6:]), "LVFAILURE")
    expected = network_parts.bias_variance(rounds, truth=truth)
    for loss in network_parts.LOSSES:
        for part in (*network_parts.PARTS, "error"):
            value = line[f"{loss} {part} without"][2]
            assert value == pytest.approx(expected.loc[loss, part], abs=1e-6), (loss, part)
    # The jackknife's error of a mean over sets is that of the group means.
    means = [np.sum((p - truth) ** 2, axis=1).mean() for p in found]
    of_groups = np.mean(np.reshape(means, (10, 2)), axis=1)
    expected = np.std(of_groups, ddof=1) / np.sqrt(10)
    error = network_parts_tables._error_of(line["squared error without"])
    assert error == pytest.approx(expected, rel=0.01)


@quietly
def test_graphs_that_are_given():
    source = network_parts._Fresh(100)
    alone, shared = (network_parts._learned(name, source, 0) for name in (TRUE, TRUE_SHARED))
    for name, network in source.networks.items():
        assert (
            set(shared[name].graph.edges)
            == set(network.graph.edges)
            == set(alone[name].graph.edges)
        )
    # Shared tables are nearer to the true ones, on average over rows and variables.
    distances = {True: 0.0, False: 0.0}
    for name, network in source.networks.items():
        for target in network_parts.TARGETS["ALARM"]:
            for is_shared, found in ((True, shared), (False, alone)):
                p = network_parts._probabilities(found[name], source.test[name], target)
                q = network_parts._probabilities(network, source.test[name], target)
                distances[is_shared] += np.sum((p - q) ** 2)
    assert distances[True] < distances[False]


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
        drawn = rng.permutation(n)[: n // 2] if scheme == "halves" else rng.integers(n, size=n)
        drawn = np.unique(drawn) if scheme == "distinct" else drawn
        assert len(tasks[name]) == len(drawn)
        expected = ~np.isin(np.arange(n), drawn)
        np.testing.assert_array_equal(is_predicted[start : start + n], expected)
        # Without arcs these are the shares of the strata among the drawn rows, smoothed.
        counts = tasks[name]["stratum"].value_counts().sort_index().to_numpy()
        expected_rows = posterior_mean(counts[None], "auto")
        rows = p[start : start + n][expected]
        np.testing.assert_allclose(rows, np.tile(expected_rows, (len(rows), 1)), atol=1e-12)
        start += n
    rounds = source.rounds(np.stack([p, p]), "stratum")
    assert rounds.classes.tolist() == ["S1", "S2", "S3", "S4", "S5", "S6"]
    assert source.truth("stratum") is None


def test_every_learner_has_its_cases():
    cases = network_parts.plan(False)
    of_alarm = [case for case in cases if case["problem"] == "ALARM"]
    n_given, n_swept = len(GIVEN), len(OF_ARCS)
    assert len(of_alarm) == 3 * (len(LEARNERS) + n_given) + n_swept
    n_of_distinct = 4
    assert len(cases) - len(of_alarm) == 4 * (len(LEARNERS) + 1) + n_swept + 2 * n_of_distinct
    known = {*LEARNERS, *OF_ARCS, *GIVEN}
    names = {one for pair in network_parts_tables._PAIRS for one in pair}
    names |= set(network_parts_tables._SHOWN) | set(network_parts_tables._BY_ARCS.values())
    assert names | set(network_parts_tables._by_parents("together").values()) <= known
    for name, make in (LEARNERS | OF_ARCS).items():
        assert make(7).random_state == 7, name
    for name, p in network_parts_tables.ARC_PROBABILITIES.items():
        assert OF_ARCS[name](0).structure_prior.probability == p


def _line(learner, problem="ALARM", rows=250, error=0.3, variance=0.1):
    line = {"problem": problem, "rows": rows, "learner": learner, "sets": 50, "arcs": 12.0}
    for loss in network_parts_tables.LOSSES:
        parts = {"noise": 0.1, "variance": variance, "variance_of_biased": 0.0, "error": error}
        parts["bias"] = error - 0.1 - variance
        if loss == "zero_one":
            parts = {part: value / 2 for part, value in parts.items()}
        line |= {f"{loss} {part}": [value, value] for part, value in parts.items()}
        # Errors of .03 and .04 in any proportion of learners.
        for part, value in parts.items():
            change = parts["error"] / 10
            line[f"{loss} {part} without"] = [value + change, value - change]
    return line


def test_tables_and_pictures():
    assert network_parts_tables.tables(pd.DataFrame()) == {}
    by_parents = network_parts_tables._by_parents("alone").values()
    names = list(dict.fromkeys([*network_parts_tables._SHOWN, *by_parents]))
    names += list(network_parts_tables.ARC_PROBABILITIES)
    lines = [_line(name) for name in names if name != "together"]
    lines.append(_line("together", error=0.2, variance=0.06))
    lines += [_line(name, "avimedi", "halves") for name in names if name != TRUE]
    lines = pd.DataFrame(lines)
    made = network_parts_tables.tables(lines)
    row = "| ALARM | 250 | together | 12.0 | 200.00 ± 20.00 | 40.00 ± 20.00 | "
    assert row + "60.00 ± 20.00 | 100.00 |" in made["network_parts"]
    # Of pairs: the differences of values without each group.
    row = (
        "| together | alone | ALARM | 250 | +100.00 ± 10.00 (2 of 2) | +60.00 ± 10.00 (2 of 2) "
        "| +40.00 ± 10.00 (2 of 2) |"
    )
    assert row in made["network_parts_differences"]
    row = "| ALARM | 250 | 300.00 | 300.00 | 200.00 | 100.00 | +100.00 ± 10.00 | +0.00 ± 0.00 | "
    row += "+100.00 ± 10.00 | +60.00 ± 10.00 | +40.00 ± 10.00 | +5.00 ± 0.50 % |"
    assert row in made["network_parts_in_short"]
    assert "| avimedi | halves | 300.0 | 300.0 | 300.0 | " in made["network_parts_in_short"]
    row = "| ALARM | 250 | alone | 15.00 ± 1.50 % | 5.00 % | 5.00 % | 5.00 % | 0.00 % | 10.00 % |"
    assert row in made["network_parts_errors"]
    more = network_parts_tables.more_pictures(lines)
    figure = more.pop("network_parts")
    assert [one.get_title() for one in figure.axes[:-1]] == list(network_parts_tables._SHOWN[1:])
    # Without the noise.
    together = dict(zip(network_parts_tables._SHOWN[1:], figure.axes, strict=False))["together"]
    assert max(np.max(line.get_ydata()) for line in together.lines) == pytest.approx(0.1)
    by_problem = ("parents-ALARM", "parents-avimedi", "arcs-ALARM", "arcs-avimedi", "real")
    assert set(more) == {f"network_parts_{one}" for one in by_problem}
    ticks = {
        name: [one.get_text() for one in figure.axes[0].get_xticklabels()]
        for name, figure in more.items()
    }
    for problem in ("ALARM", "avimedi"):
        assert ticks[f"network_parts_parents-{problem}"] == ["1", "2", "any"]
        arcs = ["1e-06", "0.0001", "default", "0.01", "0.1"]
        assert ticks[f"network_parts_arcs-{problem}"] == arcs
    assert ticks["network_parts_real"] == [
        "no arcs",
        "alone",
        "alone, BIC",
        "arcs only",
        "together",
    ]
    for name, figure in more.items():
        # On real tables noise is part of the bias.
        beyond = " beyond noise" if name.endswith("ALARM") else ""
        assert figure.axes[0].get_ylabel() == f"squared error{beyond}", name
    of_alarm = lines["problem"] == "ALARM"
    assert "network_parts_real" not in network_parts_tables.more_pictures(lines[of_alarm])
    assert "network_parts" not in network_parts_tables.more_pictures(lines[~of_alarm])


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


def test_p_values_are_small_in_five_percent_of_cases_without_a_difference():
    """Of the committed simulations; p values over folds or of fitted models are about others."""
    lines = study.lines_of(null_p_values)
    rates = null_p_values.rates(lines)
    assert set(rates["null"]) == set(null_p_values.N_BATCHES)
    is_other = rates["null"].isin(null_p_values.SCHEMES) & (rates["p value"] != "p_corrected")
    is_other |= (rates["null"] == null_p_values.EXPERIMENTS) & rates["p value"].str.startswith("p,")
    # The correction for cases that hold-outs share is an approximation, as `Comparison` says.
    is_held_out = (rates["null"] == "15 hold-outs of 10 %") & ~is_other
    trees, bayes = rates["share"][is_held_out]
    assert f"slightly liberal, {100 * trees:.1f} and {100 * bayes:.1f} %" in Comparison.__doc__
    assert max(trees, bayes) < 0.0685
    is_other |= is_held_out
    assert (rates["share"] <= rates["most"])[~is_other].all(), rates[~is_other]
    assert set(rates["p value"][is_other]) == {
        *("p_corrected", "p_mcnemar", "p_randomization", "p, top 1", "p, top 0.2")
    }


@quietly
@pytest.mark.parametrize("null", null_p_values.N_BATCHES)
def test_nothing_differs_in_a_simulation(null, monkeypatch):
    monkeypatch.setattr(null_p_values, "SIZE", 2)
    learner = null_p_values.TREES if null in null_p_values.SCHEMES else "-"
    (line,) = null_p_values.measure(null, learner, [0]).values()
    assert all(0 <= n <= 2 for n in line["n_below"].values())
    lines = pd.DataFrame([line | {"null": null, "learner": learner, "batch": 0, "n": 2}])
    assert "below 0.05" in null_p_values.tables(lines)["null_p_values"]


def test_learners_and_models_of_the_simulations_are_alike():
    X, y = null_p_values.cases(0, n=4000)
    gaps = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    assert gaps == pytest.approx(np.full(4, 0.6), abs=0.15)
    pair = null_p_values.fitted_models(0, n=4000)
    right = [(one.mean_predictions().argmax(axis=1) == one.codes).mean() for one in pair]
    assert right[0] == pytest.approx(right[1], abs=0.05)
    assert 0.6 < right[0] < 0.9
