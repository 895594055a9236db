"""What decides published claims: means, errors, tests, losses and records of the studies."""

import itertools
import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import accuracy_score, log_loss

from benchmarks import claims, related, study, summary
from benchmarks.chain import chain
from benchmarks.decorate import few_labels, query_tables, true_probabilities
from benchmarks.decorate.curve_claims import gains as curve_gains
from benchmarks.decorate.curve_values import paired, record
from benchmarks.defaults import no_structure, sure_arcs
from benchmarks.ensembles import selection_claims
from benchmarks.groups import real_groups
from benchmarks.predictions import calibrated_arcs, gaps, multinets
from benchmarks.sharing import sharing
from benchmarks.trees import mob_esp, mob_esp_claims, mob_esp_tables
from benchmarks.validation import network_parts_tables, null_p_values
from benchmarks.variants import SAMPLE_SIZE
from bnmtl import BayesNet, metrics, problems
from bnmtl.confidence import MEANING
from bnmtl.validation import Comparison

pytestmark = pytest.mark.beside_kernels


def noise(n, scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).normal(size=n)


def frame(columns, rows):
    return pd.DataFrame(rows, columns=columns.split())


# Means, standard errors and tests of `benchmarks.summary`.


def test_reductions_and_tests_over_trials():
    other = 10 + noise(20)
    ours = other - 2 + noise(20, 0.5, 1)
    assert summary.reduction(ours, other) == pytest.approx(100 * (1 - ours.mean() / other.mean()))
    assert summary.paired_p(ours, other) == pytest.approx(stats.ttest_rel(ours, other).pvalue)
    assert summary.reduction_text(ours, other) == "20 %"
    noisy = other + noise(20, 5, 2)
    p_value = stats.ttest_rel(noisy, other).pvalue
    assert 0.1 < p_value < 1
    assert summary.paired_p(noisy, other) == pytest.approx(p_value)
    assert "n.s." in summary.reduction_text(noisy, other)
    assert summary.difference_text(noisy, other).endswith(" (n.s.)")
    assert summary.paired_p(other, other) == 1.0
    assert summary.standard_error(other) == pytest.approx(stats.sem(other))
    assert summary.mean_and_error([1.0, 2.0, np.nan, 3.0], 1) == "2.0 ± 0.6"
    assert summary.mean_and_error([1.0], 1) == "1.0" and summary.mean_and_error([np.nan]) == ""


def test_a_trial_that_lacks_one_method_is_left_out_of_its_pairs_only():
    rows = [(t, method, 10.0 * t + at) for t in range(4) for at, method in enumerate("xyz")]
    lines = frame("trial method edits", [*rows, (4, "x", 500.0), (5, "y", -70.0)])
    wide = summary.by_trial(lines, "method", "edits")
    assert wide["x"].notna().sum() == 5
    assert summary.paired(wide["x"], wide["z"]).shape == (2, 4)
    assert summary.reduction(wide["x"], wide["z"]) == pytest.approx(100 * (1 - 15 / 17))
    assert summary.paired_p(wide["x"], wide["x"]) == 1.0
    assert summary.paired_p(wide["x"], wide["y"]) == 0.0
    assert summary.mean_and_error(wide["z"]) == summary.mean_and_error([2.0, 12.0, 22.0, 32.0])


def test_means_by_two_columns_are_those_of_a_pivot_table():
    rng = np.random.default_rng(0)
    lines = frame("row column", rng.integers(0, 4, (30, 2))).assign(value=rng.normal(size=30))
    lines.loc[::7, "value"] = np.nan
    found = summary.means_table(lines, "row", "column", "value")
    expected = lines.pivot_table(index="row", columns="column", values="value")
    pd.testing.assert_frame_equal(found, expected)


def test_pairs_and_baselines_are_of_the_same_case():
    cases = itertools.product("pq", range(2), enumerate("ab"))
    rows = [(problem, trial, method, 10.0 * trial + at) for problem, trial, (at, method) in cases]
    lines = frame("problem trial method edits", rows[:-1])
    found = summary.pairs(lines, "method", "edits", "a", "b", problem="qp")
    assert list(found) == ["q", "p"]
    assert [one.tolist() for one in found["p"]] == [[0, 10], [1, 11]]
    assert summary.paired(*found["q"]).tolist() == [[0], [1]]
    baseline = summary.of_baseline(lines, "method", "b", "edits", ["problem", "trial"])
    np.testing.assert_array_equal(baseline, [1, 1, 11, 11, 1, 1, np.nan])


def test_equivalence_is_a_confidence_interval_within_the_margin():
    rng = np.random.default_rng(0)
    verdicts = set()
    for _ in range(40):
        differences = rng.normal(rng.uniform(-0.2, 0.2), 0.2, rng.integers(3, 10))
        margin = rng.uniform(0.01, 0.6)
        mean, error = differences.mean(), stats.sem(differences)
        low, high = stats.t.interval(0.9, len(differences) - 1, mean, error)
        assert summary.is_within(differences, margin) == (-margin < low and high < margin)
        assert summary.is_less(differences, margin) == (high < margin)
        verdicts.add((summary.is_within(differences, margin), summary.is_less(differences, margin)))
    assert verdicts == {(True, True), (False, True), (False, False)}


def test_no_difference_must_be_shown():
    near = noise(20, 0.1)
    near -= near.mean()
    assert claims.alike(near, 0.2) == claims.alike(near, 0.2, is_harm=True) == "yes"
    assert claims.alike(10 * near, 0.2) == claims.alike(10 * near, 0.2, is_harm=True)
    assert claims.alike(10 * near, 0.2) == "not decided"
    assert claims.alike(near + 1, 0.2) == claims.alike(near + 1, 0.2, is_harm=True) == "no"
    assert claims.alike(near - 1, 0.2) == "no"
    assert claims.alike(near - 1, 0.2, is_harm=True) == "yes"
    # It differs from 0, but perhaps not by more than the margin.
    assert claims.alike(near + 0.18, 0.2) == claims.alike(near + 0.22, 0.2) == "not decided"
    assert claims.alike(near[:4], 0.2) == "too few trials"
    assert claims.alike(np.zeros(5), 0.1) == "yes" and claims.alike(np.ones(5), 0.1) == "no"


def test_holm():
    assert summary.holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert summary.holm([0.5, 0.9]).tolist() == [1.0, 1.0]


def test_cases_are_counted_by_their_signs():
    words = "{above} up, {below} down, of {n}"
    assert claims.tally([1, 0, -1, 1], words) == "2 up, 1 down, of 4"
    values = np.arange(6.0)
    assert [summary.sign(values, values + by) for by in (1, 0, -1)] == [1, 0, -1]
    # A t-test sees nothing where some differences are above 0 and others below.
    assert summary.sign(values, values[::-1]) == 0


def test_gains_shrink_if_their_slopes_over_doubled_rows_are_below_0():
    gains = pd.DataFrame({250: [6.0, 7.0, 8.0], 500: [4.0, 4.5, 6.0], 1000: [2.0, 3.0, 3.0]})
    slopes = [np.polyfit([0, 1, 2], row, 1)[0] for row in gains.to_numpy()]
    assert stats.ttest_1samp(slopes, 0).pvalue < 0.05 and summary.shrinks(gains)
    assert not summary.shrinks(gains[[1000, 500, 250]].set_axis([250, 500, 1000], axis=1))
    # They would not by the number of rows itself.
    falling = pd.DataFrame({250: [5.0, 5.1, 4.9], 500: [0.0] * 3, 1000: [4.5, 4.6, 4.3]})
    assert summary.shrinks(falling)
    gains.loc[0] = [2.0, 4.0, 6.0]
    assert not summary.shrinks(gains) and not summary.shrinks(gains[[250]])


def test_a_column_chosen_in_the_other_trials_is_not_a_lucky_one():
    wide = pd.DataFrame({"a": [0.0, 10.0, 5.0], "b": [4.0, 4.0, 4.0]})
    assert summary.chosen_elsewhere(wide).tolist() == [4.0, 10.0, 4.0]
    # A column that a trial lacks is not chosen.
    wide = pd.DataFrame({"a": [10.0] * 4, "b": [5.0] * 4, "c": [9, 9, np.nan, np.nan]})
    assert summary.chosen_elsewhere(wide).tolist() == [5.0] * 4


# Claims of `benchmarks.claims`.


def test_claims_are_evaluated_in_one_place():
    made = [
        claims.Claim("one", "yes", "text", True),
        claims.Claim("two", "yes", {"ALARM": "a", 250: "b"}, (3, 4)),
        claims.Claim("three", "no", {}, "too few trials"),
        claims.Claim("four", "no", "", (2, 3)),
        claims.Claim("five", "no", "", (3, 3)),
        claims.Claim("six", "no", "", (0, 0)),
        claims.Claim("seven", "no", "", claims.both_halves(True, False, "only the rise")),
    ]
    assert claims.claims_table(made).splitlines()[2:] == [
        "| one | yes | text | yes |",
        "| two | yes | ALARM a, 250: b | mostly |",
        "| three | no |  | too few trials |",
        "| four | no |  | no |",
        "| five | no |  | yes |",
        "| six | no |  | not measured |",
        "| seven | no |  | only the rise |",
    ]


@pytest.mark.parametrize(("sign", "verdict"), [(1, "yes"), (-1, "no"), (0, "no")])
def test_a_gain_over_cases_turns_with_its_sign(sign, verdict):
    gains = pd.Series(sign + noise(12) - noise(12).mean())
    mean, error, p = gains.mean(), stats.sem(gains), stats.ttest_1samp(gains, 0).pvalue
    tested = f"(p {p:.3f}), {(gains > 0).sum()} of 12"
    one = claims.gain_claim("text", "yes", gains)
    assert (one.verdict(), one.found()) == (verdict, f"{mean:z.1f} ± {error:.1f} % {tested}")
    one = claims.gain_claim("text", "yes", gains, 3, "")
    assert (one.verdict(), one.found()) == (verdict, f"{mean:z.3f} ± {error:.3f} {tested}")


def test_differences_turn_with_the_better_choice():
    wide = pd.DataFrame({"a": noise(6, 0.1), "b": 1 + noise(6, 0.1, 1)}).rename_axis("trial")
    rows = wide.melt(var_name="choice", value_name="edits", ignore_index=False).reset_index()
    lines = pd.concat([rows.assign(problem="p"), rows.assign(problem="q")])
    compared = [("a", "b", "better"), ("a", "c", "better")]
    (better,) = claims.differences(lines, "pq", compared)
    assert better.verdict() == "better on 2, worse on 0"
    gain = wide["a"] - wide["b"]
    text = f"{gain.mean():.2f} ± {stats.sem(gain):.2f}"
    assert better.found() == f"p {text}, q {text}"
    lines["choice"] = lines["choice"].map({"a": "b", "b": "a"})
    (worse,) = claims.differences(lines, "pq", compared)
    assert worse.verdict() == "better on 0, worse on 2"


# Losses and distances.


def test_graphs_are_judged_by_the_metrics():
    networks = problems.perturb(problems.random_network(5, random_state=0), 2, 1, random_state=0)
    here = related.Related(networks, 200, 0)
    (one, true_one), (other, true_other) = networks.items()
    graphs = {one: true_other.graph, other: true_one.graph}
    judged = here.judged(graphs)
    true = {task: network.graph for task, network in networks.items()}
    assert judged["edits"] == metrics.edit_distance(true, graphs).tolist() and any(judged["edits"])
    assert judged["shd"] == metrics.shd(true, graphs).tolist()
    rows = problems.sample(networks, related.N_TEST, random_state=related.TEST_SEED)
    learned = {
        name: BayesNet.fit(graph, here.tasks[name], equivalent_sample_size=SAMPLE_SIZE)
        for name, graph in graphs.items()
    }
    divergence = metrics.kl_divergence(networks, learned, rows)
    assert judged["kl"] == pytest.approx(divergence.tolist(), rel=1e-9)
    assert here.line(graphs)["kl"] == pytest.approx(divergence.mean(), abs=1e-6)
    assert here.line(graphs, networks)["kl"] == 0.0


def test_arcs_of_columns_of_noise_are_counted():
    first = nx.DiGraph([("x001", "x002"), ("A", "B"), ("A", "x003")])
    other = nx.DiGraph([("x001", "x002"), ("x004", "x002")])
    for graph in (first, other):
        graph.add_nodes_from(["x001", "x002", "x003", "x004", "A", "B"])
    found = no_structure.counted({"one": first, "two": other})
    assert found == {"false_arcs": 2.0, "in_all_tasks": 1, "compelled": 1.0}
    assert no_structure.counted({"one": first})["in_all_tasks"] is None


def test_losses_and_calibration_error_of_the_chain():
    rng = np.random.default_rng(0)
    classes, p = np.array(["a", "b", "c"]), rng.dirichlet(np.ones(3), 40)
    truth = np.array([rng.choice(classes, p=one) for one in p])
    found = chain.losses(classes, p, truth)
    assert found["log_loss"] == pytest.approx(log_loss(truth, p, labels=classes), abs=1e-5)
    assert found["accuracy"] == accuracy_score(truth, classes[p.argmax(axis=1)])
    happened = classes == truth[:, None]
    squared = ((p - happened) ** 2).sum(axis=1).mean()
    assert found["squared"] == pytest.approx(squared, abs=1e-5)
    # A class that was not learned has the lowest probability.
    unknown = chain.losses(classes, p, np.full(40, "d"))
    assert unknown["log_loss"] == pytest.approx(-np.log(chain.LOWEST), abs=1e-5)
    lines = pd.DataFrame([found, chain.losses(classes, p[:10], truth[:10])])
    every, right = np.vstack([p, p[:10]]).ravel(), np.vstack([happened, happened[:10]]).ravel()
    bins = np.digitize(every, np.arange(1, 10) / 10)
    gaps_ = [abs((every - right)[bins == one].sum()) for one in range(10)]
    assert chain.calibration_error(lines) == pytest.approx(sum(gaps_) / len(every), abs=1e-5)
    mean = (40 * lines["log_loss"][0] + 10 * lines["log_loss"][1]) / 50
    assert chain.mean_loss(lines, "log_loss") == pytest.approx(mean)


def test_losses_of_probability_trees():
    p = np.array([[1.0, 0.0], [0.4, 0.6], [0.9, 0.1]])
    y, y_train = np.array([1, 1, 0]), np.array([0] * 6 + [1] * 4)
    found = mob_esp.measures(p, y, y_train)
    assert found["mse"] == pytest.approx((2 + 2 * 0.16 + 2 * 0.01) / 6)
    # Of ten training cases 1 / 20 is the least.
    losses = [-np.log(0.05), -np.log(0.6), -np.log(0.9)]
    assert found["log_loss"] == pytest.approx(np.mean(losses), abs=1e-6)
    losses[0] = -np.log(np.finfo(float).eps)
    assert found["log_loss_eps"] == pytest.approx(np.mean(losses), abs=1e-6)
    assert found["clipped"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["accuracy"] == pytest.approx(2 / 3, abs=1e-6)
    # By class 1: .6 first, lift 3/2; then .1 of class 0, 3/4; then the other one, 1.
    of_one = (1.5 + (1.5 + 0.75) / 2 + (0.75 + 1) / 2) / 3
    # By class 0: 1 of class 1 first, lift 0; then .9, 3/2; then 1.
    of_zero = (0 + (0 + 1.5) / 2 + (1.5 + 1) / 2) / 3
    assert found["lift_area"] == pytest.approx(0.6 * of_zero + 0.4 * of_one, abs=1e-6)


def test_errors_are_those_of_labels_and_of_true_probabilities():
    p, truth = np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([[0.5, 0.5], [0.3, 0.7]])
    found = true_probabilities.errors(p, truth, np.array([0, 1]))
    assert found["divergence"] == pytest.approx(jensenshannon(p[1], truth[1]) ** 2 / 2, abs=1e-5)
    assert found["squared"] == pytest.approx(0.36)
    assert found["squared_of_labels"] == pytest.approx((0.5 + 2 * 0.81) / 2)
    assert found["error"] == 0.5


def test_a_loss_of_probabilities_is_that_of_the_true_classes():
    class Says:
        classes_ = ("a", "b")

        def predict_proba(self, rows):
            return np.array([[1.0, 0.0], [0.25, 0.75]])

    p = np.array([0.1 / 1.1, 0.75])
    found = gaps.log_loss(Says(), None, pd.Series(["b", "b"]), 8)
    assert found == pytest.approx(-np.log(p).mean())


# Errors of rounds that share rows, and of statistics that are not means.


def test_ways_of_the_chain_are_compared_on_the_same_folds():
    ours = pd.DataFrame({"table": "t", "column": "y", "fold": range(10), "log_loss": 1.0})
    ours = ours.assign(tested=10, learned=90)
    other = ours.assign(log_loss=1 + np.arange(10) / 10)[:8]
    assert len(chain.differences(ours, other)) == 8
    mean, error, p = chain.compared(ours, other)
    assert mean == pytest.approx(0.35)
    gains = np.arange(8) / 10
    # Nadeau & Bengio (2003): folds share rows.
    assert error == pytest.approx(np.sqrt(gains.var(ddof=1) * (1 / 8 + 1 / 9)))
    assert p == pytest.approx(2 * stats.t.sf(mean / error, 7))


def test_the_jackknife_gives_a_mean_the_error_it_has():
    values = np.random.default_rng(1).normal(3, 1, 6)
    rest = {trial: np.delete(values, trial).mean() for trial in range(6)}
    whole = pd.Series({calibrated_arcs.WHOLE: values.mean(), **rest})
    value, error = calibrated_arcs.jackknife(whole)
    assert (value, error) == pytest.approx((values.mean(), stats.sem(values)))
    of_groups = network_parts_tables._error_of(np.array(list(rest.values())))
    assert of_groups == pytest.approx(stats.sem(values))
    for shift in (-2.7, -2.5, 2.5, 2.7):
        test = stats.ttest_1samp(values - value + shift * error, 0).pvalue < summary.LEVEL
        found = calibrated_arcs.sure_sign(whole - value + shift * error)
        assert found == np.sign(shift) * test and test == (abs(shift) > 2.6)
    assert np.isnan(calibrated_arcs.jackknife(pd.Series({calibrated_arcs.WHOLE: 1.0}))[1])


def test_confidences_of_half_the_truth_have_that_calibration_error():
    pairs = np.full(101, 2000)
    true = (pairs * np.arange(101) / 200).astype(int)
    lines = pd.DataFrame([{"arc": {"pairs": pairs.tolist(), "true": true.tolist()}}] * 2)
    p, y, weights = calibrated_arcs.cases(lines, "arc")
    assert weights.sum() == 2 * pairs.sum() and weights[y == 1].sum() == 2 * true.sum()
    found = calibrated_arcs._measured(y, p, weights)
    expected = np.sqrt(np.mean((np.arange(101) / 200) ** 2))
    assert found["calibration"] == pytest.approx(expected, abs=1e-3)
    by_hand = np.average((p - y) ** 2, weights=weights)
    assert found["brier"] == pytest.approx(by_hand)


def test_rows_that_are_held_out_together_share_their_error():
    differences = np.array([1.0, 1.0, 3.0, 3.0])
    single = real_groups._gain(differences, np.arange(4))
    assert single == {"gain": 2.0, "gain error": 0.5}
    assert real_groups._gain(differences, np.array([0, 0, 1, 1])) == {
        "gain": 2.0,
        "gain error": round(np.sqrt(8) / 4, 6),
    }


def test_trials_that_share_rows_are_weaker_evidence():
    ours, other = "nets together, smoothing chosen", "nets apart, smoothing chosen"
    gain = 0.01 + noise(10, 0.012)
    rows = [(t, m, 0.2 + (m == other) * one) for t, one in enumerate(gain) for m in (ours, other)]
    lines = frame("trial method errors", rows).assign(table="a", share=0.2, cross_entropy=1.0)
    assert stats.ttest_1samp(gain, 0).pvalue < 0.05
    first, *_ = multinets.claims(lines, multinets.CHOSEN)
    assert first.found().endswith("(n.s.)")
    error = np.sqrt((1 / 10 + 4) * gain.var(ddof=1))
    assert f"{gain.mean():.3f} ± {error:.3f}" in first.found()


def test_differences_of_ensembles_over_problems():
    def difference(*values):
        return selection_claims.Difference(pd.Series(values), pd.Series(0.0, range(len(values))))

    few, some, worse = difference(1.0, 1.5), difference(1.0, 2.0, 1.5), difference(-1, -2, -1.5)
    assert few.p == 1 and str(few) == "+1.250 ± 0.250"
    assert some.p == pytest.approx(stats.ttest_1samp([1.0, 2.0, 1.5], 0).pvalue)
    assert str(some) == "+1.500 ± 0.289, p = 0.035"
    near, unsure = difference(0.002, -0.001, 0.001), difference(0.02, -0.03, 0.01)
    verdict = selection_claims._verdict
    assert verdict(1, some, 0.2) == "yes" and verdict(1, some, 0.04) == "yes, also corrected"
    assert verdict(-1, some, 0.2) == verdict(1, worse, 0.2) == verdict(0, worse, 0.2) == "no"
    assert verdict(None, worse, 0.2) == verdict(None, some, 0.2) == "no"
    assert verdict(None, near, 1) == verdict(0, near, 1) == verdict(0, some, 1) == "yes"
    assert verdict(None, unsure, 1) == verdict(0, unsure, 1) == "not decided"
    assert verdict(1, few, 1) == "not measured"


def test_times_are_compared_within_a_case():
    rows = [
        (trial, method, seconds * (1 + trial), 30.0 + trial)
        for trial in range(3)
        for method, seconds in (("both", 9.0), ("together", 3.0), ("alone", 1.0))
    ]
    lines = frame("trial method seconds seconds_of_case", rows)
    assert sharing._ratio(lines, "both", "together") == "3"
    lines.loc[lines["method"] == "both", "seconds_of_case"] += 1000
    assert sharing._ratio(lines, "both", "together") == ""
    assert sharing._ratio(lines, "alone", "together") == "0.33"


# Records over tables.


def invented(errors):
    """Lines of methods with errors by table."""
    return pd.DataFrame(
        {"table": table, "repeat": repeat, "method": method, "error": {"20%": folds}}
        for (method, table, repeat), folds in errors.items()
    )


def test_a_record_counts_tables_and_tests_folds():
    rng = np.random.default_rng(0)
    base = {table: rng.uniform(0.2, 0.3, 10) for table in "tuvw"}
    shifts = {"t": -0.1, "u": 0.001, "v": 0.0, "w": -0.017}
    ours = {
        table: base[table] + shift + (shift != 0) * noise(10, 0.02)
        for table, shift in shifts.items()
    }
    named = {("tree", table, 0): one.tolist() for table, one in base.items()}
    lines = invented(named | {("DECORATE", table, 0): one.tolist() for table, one in ours.items()})
    found = record(lines, "DECORATE", "tree", "20%")
    gains = [base[table] - ours[table] for table in shifts]
    means = np.array([one.mean() for one in gains]).round(12)
    assert (found.wins, found.draws, found.losses) == ((means > 0).sum(), 1, (means < 0).sum())
    # The variance of the mean is 1 / 10 + 1 / 9 of that of a fold.
    for counted, factor in ((found.significant, 1 / 10), (found.corrected, 1 / 10 + 1 / 9)):
        spread = [np.sqrt(factor * one.var(ddof=1)) or 1 for one in gains]
        p = 2 * stats.t.sf(np.abs(means) / spread, 9)
        assert counted == (((p < 0.05) & (means > 0)).sum(), ((p < 0.05) & (means < 0)).sum())
    assert found.significant != found.corrected
    logs = [np.log(ours[table].mean() / base[table].mean()) for table in shifts]
    assert found.ratio == pytest.approx(np.exp(np.mean(logs)))
    assert found.texts()[0] == f"{found.wins}/1/{found.losses}"
    turned = record(lines, "tree", "DECORATE", "20%")
    assert (turned.wins, turned.losses) == (found.losses, found.wins)
    percents = curve_gains(lines, "DECORATE", "tree", ["20%"])
    assert percents.tolist() == pytest.approx((100 * (1 - np.exp(logs))).tolist())


def test_only_folds_of_both_are_compared():
    lines = invented(
        {("a", "t", 0): [0.1, 0.2], ("a", "t", 1): [0.3, 0.4], ("b", "t", 1): [0.5, 0.6]}
    )
    ours, other = paired(lines, "a", "b", "20%")["t"]
    assert (ours.tolist(), other.tolist()) == ([0.3, 0.4], [0.5, 0.6])
    assert record(lines, "a", "c", "20%").n == 0
    missing = invented({("a", "t", 0): [0.1, np.nan], ("b", "t", 0): [0.5, 0.6]})
    assert record(missing, "a", "b", "20%").n == 0


def test_few_labels_are_compared_over_tables():
    ours, other = ([0.9, 0.8], [0.7, 0.7], [0.78, 0.88]), ([0.7, 0.6], [0.7, 0.8], [0.7, 0.7])
    by_method = {"a": ours, "b": other}
    rows = [(table, m, by_method[m][at], 30) for m in by_method for at, table in enumerate("tuv")]
    lines = frame("table method accuracy labels", rows)
    # Beyond two standard errors over draws are the first and the third, 0.13 with an error of 0.05.
    means = [0.2, -0.05, 0.13]
    expected = np.mean(means), stats.sem(means), 2, 1, 0
    assert few_labels.against(lines, "accuracy", "a", "b") == {30: pytest.approx(expected)}


def test_signs_of_queries_are_those_of_the_tests():
    found = frame(
        "percent difference p p_corrected",
        [(9.0, 0.1, 0.01, 0.04), (-8.0, -0.1, 0.01, 0.2), (1.0, 0.1, 0.2, 0.3)],
    )
    assert query_tables.signs(found) == ([1, -1, 0], [1, 0, 0], [9.0, -8.0, 1.0])
    for made, verdict in (([1] * 5, "yes"), ([1] * 4, "not significant"), ([-1, 0], "no")):
        one = query_tables._record_claim("text", "18/0/6", made, 1)
        assert one.verdict() == verdict
    assert query_tables._record_claim("text", "", [1] * 5 + [-1], 1).found() == "5/0/1 (p 0.109)"
    often = [1] * 5 + [0] * 6
    assert query_tables._record_claim("text", "most", often, 1).verdict() == "not on most"


def trees(gain, tables="abcdefghijklmnopqrst", n=5):
    """Lines in which EB-PETs have a squared error that is smaller by so much."""
    rng, rows = np.random.default_rng(0), []
    for method in (mob_esp_tables.EB_PETS, mob_esp_tables.B_PETS):
        for at, table in enumerate(tables):
            level = 0.2 + 0.01 * at - gain * (method == mob_esp_tables.EB_PETS)
            values = (level + 0.001 * rng.normal(size=n)).round(6).tolist()
            measures = {
                name: values if sign < 0 else [1 - one for one in values]
                for name, sign in mob_esp_tables.MEASURES.items()
            }
            rows.append({"table": table, "method": method} | measures)
    return pd.DataFrame(rows)


OF_TREES = mob_esp_tables.EB_PETS, mob_esp_tables.B_PETS, "mse"


def test_records_of_trees_count_what_is_beyond_chance():
    every, plain, corrected = mob_esp_tables.record(trees(0.002), *OF_TREES)
    assert sum(every) == sum(plain) == sum(corrected) == 20
    gains = mob_esp_tables.gains(trees(0.002), *OF_TREES).values()
    means = [one.mean() for one in gains]
    assert every[0] == sum(one > 0 for one in means)
    p = [stats.ttest_1samp(one, 0).pvalue for one in gains]
    assert plain[0] == sum(one < 0.05 for one in p) > corrected[0] > 0
    # Only the shares that both have are compared.
    short = trees(0.0)
    short["mse"] = [one[:3] if at < 20 else one for at, one in enumerate(short["mse"])]
    assert {len(one) for one in mob_esp_tables.gains(short, *OF_TREES).values()} == {3}


def test_claims_on_trees_are_tests_of_ranks_corrected_for_all_measures():
    (claim,) = mob_esp_claims.claims(trees(0.01))
    # Four tests, each of twenty signs alike: 2 ** -20 each, times four.
    assert all("p < 0.001" in one for one in claim.measured.values())
    assert claim.verdict() == "yes"
    (claim,) = mob_esp_claims.claims(trees(-0.01))
    assert claim.verdict() == "no"
    (claim,) = mob_esp_claims.claims(trees(0.01, "abcdef"))
    assert all("p 0.062" in one for one in claim.measured.values())  # 4 / 64
    assert claim.verdict() == "no"
    # Better on most tables by little, worse on the others by much: ranks speak for worse.
    lines = trees(0.0)
    moved = [
        [one - (0.0005 if at < 12 else -0.1) for one in values]
        for at, values in enumerate(lines["mse"][20:])
    ]
    lines["mse"] = [*moved, *lines["mse"][20:]]
    assert mob_esp_tables.record(lines, *OF_TREES)[0] == (12, 0, 8)
    (claim,) = mob_esp_claims.claims(lines)
    assert claim.measured["squared error"].startswith("12/0/8") and claim.verdict() == "no"


# Numbers in texts of the package.


def test_what_is_said_of_confidences_is_what_was_measured():
    # Of one task and of several, by default.
    lines = study.lines_of(sure_arcs).query("method != 'together'")
    shares = {(kind, share): [] for kind in ("edge", "arc") for share in (1, 0.8)}
    for _, group in lines.groupby(["rows", "problem", "method"]):
        for kind, share in shares:
            confidence, y, weights = calibrated_arcs.cases(group, kind)
            low, high = (1, 1) if share == 1 else (0.75, 0.85)
            near = (confidence >= low - 1e-9) & (confidence <= high + 1e-9)
            # A few pairs say little.
            if weights[near].sum() > 10:
                shares[kind, share].append(np.average(y[near], weights=weights[near]))
    said = re.findall(r"(\d+) to (\d+) %", MEANING)
    measured = [
        (f"{100 * min(values):.0f}", f"{100 * max(values):.0f}") for values in shares.values()
    ]
    assert said == measured


def test_p_values_are_small_in_five_percent_of_cases_without_a_difference():
    """Of the committed simulations; p values over folds or of fitted models are about others."""
    rates = null_p_values.rates(study.lines_of(null_p_values))
    assert set(rates["null"]) == set(null_p_values.N_BATCHES)
    is_other = rates["null"].isin(null_p_values.SCHEMES) & (rates["p value"] != "p_corrected")
    is_other |= (rates["null"] == null_p_values.EXPERIMENTS) & rates["p value"].str.startswith("p,")
    # The correction for cases that hold-outs share is an approximation, as `Comparison` says.
    is_held_out = (rates["null"] == "15 hold-outs of 10 %") & ~is_other
    of_trees, bayes = rates["share"][is_held_out]
    assert f"slightly liberal, {100 * of_trees:.1f} and {100 * bayes:.1f} %" in Comparison.__doc__
    assert max(of_trees, bayes) < 0.0685
    is_other |= is_held_out
    assert (rates["share"] <= rates["most"])[~is_other].all(), rates[~is_other]
    assert set(rates["p value"][is_other]) == {
        *("p_corrected", "p_mcnemar", "p_randomization", "p, top 1", "p, top 0.2")
    }
