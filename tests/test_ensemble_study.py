"""The study of ensemble selection: rows and analyses by hand, tables from invented lines."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.ensembles import analyses, ensemble_selection, mimics, selection_tables
from benchmarks.ensembles.analyses import LOSSES, METRICS, SHARES
from benchmarks.ensembles.problem_rows import PROBLEMS, QUICK, joined, parts_of, settings_of
from benchmarks.ensembles.selection_claims import Difference, _verdict, claims
from benchmarks.ensembles.selection_gains import causes, loss_reduction, perfect
from benchmarks.ensembles.selection_values import base_rates, largest, long, means
from bnmtl.calibration import PlattCalibrator
from bnmtl.ensembles import PredictionStore
from bnmtl.ensembles.library import grids
from bnmtl.ensembles.library.columns import Columns
from bnmtl.metrics.prediction import root_mean_squared_error

pytestmark = pytest.mark.beside_kernels
RATE = 0.4
# Quality by method, from 0 (base rate) to 1.
QUALITY = {"single": 0.5, "averaged": 0.6, "selected": 0.8}


def test_parts_are_disjoint_and_those_of_chapter_three():
    parts = parts_of(QUICK, 0)
    sizes = [len(y) for _, y in parts[:4]]
    assert sizes == [200, 100, 0, 269]
    rows = pd.concat([X for X, _ in parts[:4]])
    assert len(rows) == len(rows.drop_duplicates()) == 569
    X, y = joined(parts.train, parts.hillclimb)
    assert len(X) == len(y) == 300 and X.index.is_unique


def test_the_study_keeps_the_settings_it_was_run_with():
    columns = Columns.of(pd.DataFrame(np.zeros((2, 8))).assign(kind=pd.Categorical(["a", "b"])))
    kept, every = settings_of("thesis", 4000, columns), list(grids.thesis(4000, columns))
    families = {one["family"] for one in kept}
    assert not families & {"extra trees", "DECORATE", "MOB-ESP", "boosted shallow trees"}
    assert len(every) - len(kept) >= len(list(grids.later(columns))) > 60
    styles = {(one["criterion"], one["smoothing"]) for one in kept if "smoothing" in one}
    assert styles == {("gini", None), ("entropy", "Laplace")}
    small = list(grids.small(4000, columns))
    assert [one for one in small if one not in settings_of("small", 4000, columns)] in (
        [],  # where pyAgrum is installed
        [one for one in small if one["family"] == "tree-augmented naive Bayes"],
    )


def test_recalibrated_models_are_fitted_to_the_cases_of_the_size():
    rng = np.random.default_rng(0)
    y, test_y = rng.integers(2, size=60), rng.integers(2, size=30)
    p, test = rng.uniform(size=(2, 60)), rng.uniform(size=(2, 30))
    store = analyses.recalibrated(p, y, test, test_y, ["a", "b"])
    assert store.names == ("a", "b", "a (calibrated)", "b (calibrated)")
    expected = PlattCalibrator().fit(p[1], y).predict(test[1])
    np.testing.assert_allclose(store.predictions("test")[3], expected, atol=1e-7)


def test_a_trajectory_is_that_of_the_means_of_members():
    rng = np.random.default_rng(1)
    y = {"hillclimb": rng.integers(2, size=80), "test": rng.integers(2, size=50)}
    predictions = {part: rng.uniform(size=(6, len(labels))) for part, labels in y.items()}
    store = PredictionStore(predictions, y)
    library = analyses.Library(store, QUICK, slice(10, None))
    found = analyses._trajectory(library, True)
    selector = analyses.selector_of(
        QUICK, analyses.RMSE, bags=1, bag_fraction=1.0, initial=0, replacement=True
    ).fit(store)
    members = selector.trajectory_["model"][:3]
    mean = store.subset(list(dict.fromkeys(members)))
    rows = dict(zip(mean.names, mean.predictions("test")[:, 10:], strict=True))
    expected = root_mean_squared_error(y["test"][10:], np.mean([rows[m] for m in members], axis=0))
    assert found["test"][found["steps"].index(3)] == pytest.approx(expected, abs=1e-6)


def value(metric, quality):
    """A value of a metric: quality 0 is the base rate."""
    base = {"root_mean_squared_error": np.sqrt(RATE * (1 - RATE)), "cross_entropy": 0.673}
    if metric in LOSSES:
        return base[metric] * (1 - quality / 2)
    return analyses.prediction.baseline(metric, RATE) * (1 + quality / 10)


def every(quality):
    """Values of all metrics."""
    return {metric: value(metric, quality) for metric in METRICS}


def invented(better=1.0):
    """Lines in which selection is better than the best single model, times a factor."""
    rng, lines = np.random.default_rng(2), []

    def q(method, more=0.0):
        step = (QUALITY[method] - 0.5) * better
        return 0.5 + step + more + rng.normal(0, 0.003)

    for problem in PROBLEMS:
        line = {"problem": problem, "trial": 0, "analysis": "methods", "base_rate": RATE}
        line["models"] = 1000
        for kind, more in (("raw", -0.1), ("calibrated", -0.05), ("both", 0.0)):
            line[kind] = {
                "selected": {metric: every(q("selected", more)) for metric in METRICS},
                "averaged": every(q("averaged", more)),
                "single": every(q("single", more)),
            }
        line["others"] = {name: every(0.55) for name in selection_tables._OTHERS}
        line["optimum"] = every(0.7)
        steps = {"steps": [1, 2], "test": [0.4, 0.3], "hillclimb": [0.4, 0.3]}
        line["trajectories"] = {"with replacement": steps, "without replacement": steps}
        lines.append(line)
        start = {"problem": problem, "trial": 0}
        by_size = {name: every(q(m)) for name, m in SIZE_METHODS.items()}
        lines.append(start | {"analysis": "sizes", "100": by_size, "5000": by_size})
        shares = {metric: [value(metric, q("selected")) for _ in SHARES] for metric in METRICS}
        lines.append(start | {"analysis": "pruning", "bags": shares, "no bags": shares})
        small = {name: every(q(name, -0.05)) for name in QUALITY} | {"models": 100}
        lines.append(start | {"analysis": "small"} | small)
        folds = {name: every(q(name, 0.1)) for name in ("averaged", "single")}
        folds["selected"] = {metric: every(q("selected", 0.1)) for metric in METRICS}
        halves = {name: [every(q("selected", 0.05))] * 5 for name in ("more cases", "siblings")}
        lines.append(start | {"analysis": "folds"} | folds | halves)
        cost = {"teacher": 100, "student": 1}
        mimic = {"errors": {"4000": 0.33, "10000": 0.31}, "seconds": cost, "bytes": cost}
        errors = {"ensemble": 0.30, "net": 0.34, "single": 0.32, "models": 9}
        lines.append(start | {"analysis": "mimic", "mimic": mimic} | errors)
    return pd.DataFrame(lines).assign(seconds_of_case=120.0)


SIZE_METHODS = {"bags": "selected", "no bags": "averaged", "single": "single"}


def test_scores_are_between_the_base_rate_and_the_best():
    table = long(invented())
    assert table.loc[table["method"] != "optimum", "score"].max() == pytest.approx(1)
    selected, single = means(table, "selected"), means(table, "single")
    assert set(selected.index) == set(PROBLEMS)
    assert (selected["mean"] > single["mean"]).all()
    assert selected["mean"].to_numpy() == pytest.approx(
        selected[list(METRICS)].mean(axis=1).to_numpy()
    )


def test_verdicts_follow_the_differences():
    lines = invented()
    found = {claim.text: claim.verdict() for claim in claims(lines, long(lines))}
    assert found["selection beats the best single model"] == "yes, also corrected"
    assert found["calibration lowers the F-score of selection"] == "no"
    assert found["the mimic has a lower error than the best single net"] == "not significant"
    alike = "calibration improves squared error of both alike (single model minus selection)"
    assert found[f"{alike} (within 0.01)"] == "yes"
    lines = invented(better=-1.0)
    found = {claim.text: claim.verdict() for claim in claims(lines, long(lines))}
    assert found["selection beats the best single model"] == "no"
    few = Difference(pd.Series([1.0, 2.0]), pd.Series([0.0, 0.5]))
    assert few.p == 1 and str(few) == "+1.250 ± 0.250"
    some = Difference(pd.Series([1.0, 2.0, 1.5]), pd.Series([0.0, 0.0, 0.0]))
    assert 0.03 < some.p < 0.04 and str(some) == "+1.500 ± 0.289, p = 0.035"
    assert _verdict(1, some, 0.2) == "yes" and _verdict(1, some, 0.04) == "yes, also corrected"
    assert _verdict(0, some, 0.2) == "yes" and _verdict(-1, some, 0.2) == "no"
    worse = Difference(pd.Series([-1.0, -2.0, -1.5]), pd.Series([0.0, 0.0, 0.0]))
    assert _verdict(None, worse, 0.2) == _verdict(None, some, 0.2) == "no"
    near = Difference(pd.Series([0.002, -0.001, 0.001]), pd.Series([0.0, 0.0, 0.0]))
    unsure = Difference(pd.Series([0.02, -0.03, 0.01]), pd.Series([0.0, 0.0, 0.0]))
    assert _verdict(None, near, 1) == _verdict(0, near, 1) == "yes"
    assert _verdict(None, unsure, 1) == _verdict(0, unsure, 1) == "not decided"
    assert _verdict(0, worse, 0.2) == "no" and _verdict(1, few, 1) == "not measured"


def test_tables_show_what_was_measured():
    lines = invented()
    found = selection_tables.tables(lines)
    (accuracy,) = [one for one in found["ensemble_selection_values"].split("\n") if "ACC" in one]
    cells = accuracy.strip("| ").split(" | ")
    assert cells[:2] == ["ACC", "0.6000"]
    assert [float(cell) for cell in cells[2:5]] == pytest.approx([0.648, 0.636, 0.63], abs=0.001)
    assert cells[6] == cells[8] == "8, 0 of 8"
    assert "| selection, both |" in found["ensemble_selection_libraries"]
    assert "| ADULT | 2 | 2 | 2 | 2 | 2 | 10 |" in found["ensemble_selection_budget"]
    assert "| ADULT | 100 | 1 | 0.0001 | 1e-06 |" in found["ensemble_selection_costs"]
    assert "| 5 | 42 |\n" in found["ensemble_selection_differences"] + "\n"
    assert "| naive Bayes | normal, " in found["ensemble_selection_differences"]
    assert "| 4 (5) | 4 (5) |" in found["ensemble_selection_differences"]
    assert "| 75% |" in found["ensemble_selection_mimics"]  # (0.34 - 0.31) / (0.34 - 0.30)
    assert "| 0.3300 (25%) | 0.3100 (75%) |" in found["ensemble_selection_pseudo_cases"]
    values = dict(zip("abcdef", [0.5, 0.3, 0.4, 0.4, 0.2, 0.25], strict=True))
    curve = [{"analysis": "mimic", "trial": 0, "problem": "ADULT", "mimic": {"errors": values}}]
    (stop,) = selection_tables._stops(pd.DataFrame(curve)).to_dict("records")
    assert [stop[name] for name in ("largest", "best")] == ["f", "e"]
    assert stop["best before 2 without a better one"] == "b"
    assert "ensemble_selection_students" not in found
    assert "| small | 100 | selection | " in found["ensemble_selection_profiles"]
    assert "| thesis | 1000 | selection | " in found["ensemble_selection_profiles"]
    is_adult = (lines["analysis"] == "mimic") & (lines["problem"] == "ADULT")
    others = [{"errors": {"4000": 0.32}} if one else None for one in is_adult]
    given = lines.assign(**{"naive Bayes data": others})
    found = selection_tables.tables(given)["ensemble_selection_students"]
    assert "| ADULT | net, Munge | 4000 | 0.3200 | 0.3400 | 0.3000 | 0.3300 | 25% |" in found
    assert "| ADULT | net, naive Bayes | 4000 | 0.3200 | 0.3400 | 0.3000 | 0.3200 | 50% |" in found
    alone = lines[lines["analysis"] == "methods"].dropna(axis=1)
    found = selection_tables.tables(alone)
    assert "ensemble_selection_folds" not in found and "ensemble_selection_claims" in found
    assert list(selection_tables.tables(lines[:0])) == ["ensemble_selection_differences"]


def test_gains_are_percent_of_what_is_left_and_of_the_gain_by_cross_validation():
    lines = invented()
    table, rates = long(lines), base_rates(lines)
    found = loss_reduction(table, rates, "cv selected", "single")
    assert list(found.index) == sorted(PROBLEMS)
    # Losses shrink by half of the quality: from 1 - 0.5 / 2 to 1 - 0.9 / 2.
    for metric in LOSSES:
        assert found[metric].mean() == pytest.approx(100 * (0.75 - 0.55) / 0.75, abs=2)
    base = analyses.prediction.baseline("roc_area", RATE)
    single, selected = base * 1.05, base * 1.09
    expected = 100 * (selected - single) / (1 - single)
    assert found["roc_area"].mean() == pytest.approx(expected, abs=1)
    # The largest lift is 1 / base rate, but at most 4, because a quarter of the cases count.
    assert perfect("lift", 0.5) == 2 and perfect("lift", 0.1) == 4
    found = causes(table)
    assert found.loc["more cases"].to_numpy() == pytest.approx(50, abs=10)
    assert found.loc["sum", "mean"] == pytest.approx(100, abs=10)


def test_the_worth_of_replacement_is_the_rise_after_the_best_step():
    lines = invented()
    for line in lines.loc[lines["analysis"] == "methods", "trajectories"]:
        line["without replacement"] = {"steps": [1, 2, 3], "test": [0.4, 0.2, 0.25]}
    text = "replacement prevents that the error grows after its best step (percent)"
    (claim,) = [one for one in claims(lines, long(lines)) if one.text == text]
    assert claim.measured.endswith("; 25.0 without, 0.0 with")


def test_shares_are_shown_beside_single_models_of_the_same_draws():
    lines = invented()
    other_draw = lines[lines["analysis"] == "methods"].assign(trial=1)
    other_draw["both"] = [one | {"single": every(0.1)} for one in other_draw["both"]]
    figures = [ensemble_selection.draw(one) for one in (lines, pd.concat([lines, other_draw]))]
    levels = [figure.axes[2].get_lines()[2].get_ydata()[0] for figure in figures]
    assert levels[0] == pytest.approx(levels[1])


def test_large_and_small_libraries_are_compared_on_the_same_rows():
    lines = invented()
    other_draw = lines[lines["analysis"] == "methods"].assign(trial=1)
    other_draw["both"] = [one | {"averaged": every(0.1)} for one in other_draw["both"]]
    table = selection_tables.tables(pd.concat([lines, other_draw]))["ensemble_selection_profiles"]
    (gain,) = [one for one in table.split("\n") if "gain" in one and "averaging" in one]
    # The best value, of cross-validated selection, has the quality 0.9.
    mean, error = gain.strip("| ").split(" | ")[-1].split(" ± ")
    found = {one.text: one.verdict() for one in claims(lines, long(lines))}
    assert found["the larger library improves selection"].startswith("yes")
    assert float(mean) == pytest.approx(0.05 / 0.9, abs=0.005) and float(error) < 0.005


def test_pruning_is_shown_of_large_libraries_if_there_are_any():
    lines = invented()
    worse = lines[lines["analysis"].isin(["methods", "pruning"])].assign(trial=1)
    shares = {metric: [value(metric, 0.8 - 0.3 * (s < 0.5)) for s in SHARES] for metric in METRICS}
    pruned = worse["analysis"] == "pruning"
    for method in ("bags", "no bags"):
        worse[method] = [shares if one else None for one in pruned]
    text = "pruning to 10% does not hurt, bags (at most 0.01 less)"

    def verdict(chosen):
        (claim,) = [one for one in claims(chosen, long(chosen)) if one.text == text]
        return claim.verdict()

    both = pd.concat([lines, worse], ignore_index=True)
    assert verdict(both) == verdict(lines) == "yes"
    assert verdict(worse) == "no"
    table = selection_tables.tables(both)["ensemble_selection_pruned"].split("\n")
    thesis, small = (
        [one for one in table if one.startswith(f"| {p} | 8 | bags")] for p in ("thesis", "small")
    )
    scores = [float(one) for one in small[0].strip("| ").split(" | ")[3:]]
    assert scores[0] - scores[-2] == pytest.approx(0.3 / 0.9, abs=0.01)
    scores = [float(one) for one in thesis[0].strip("| ").split(" | ")[3:]]
    assert scores[0] == pytest.approx(scores[-2], abs=0.01)


def test_problems_without_large_libraries_are_not_left_out():
    lines = invented()
    small = lines[lines["analysis"].isin(["methods", "pruning"])].assign(trial=1)
    few = lines[(lines["analysis"] != "pruning") | lines["problem"].isin(PROBLEMS[:3])]
    table = long(pd.concat([few, small], ignore_index=True))
    assert set(largest(table, "share: bags")["trial"]) == {0, 1}
    assert set(largest(long(lines), "share: bags")["trial"]) == {0}
    made = selection_tables.tables(pd.concat([few, small], ignore_index=True))
    rows = made["ensemble_selection_pruned"].split("\n")[2:]
    assert [row.split(" | ")[1] for row in rows] == ["3"] * 4


def test_the_plan_has_every_analysis_of_every_trial():
    plan = ensemble_selection.plan(False)
    assert len(plan) == 8 * 5 * 5 + 8
    assert {case["trial"] for case in plan if case["wanted"] == ["small"]} == {0}
    every = {(case["problem"], case["trial"], *case["wanted"]) for case in plan}
    assert len(every) == len(plan)
    assert {analysis for *_, analysis in every} == set(ensemble_selection.ANALYSES)
    # Libraries with siblings take five times as long, and those of trial 0 are large.
    trials = [case["trial"] for case in plan]
    assert trials == sorted(trials, key=lambda trial: trial or 5)
    assert [case["wanted"][0] == "folds" for case in plan[:40]] == [False] * 32 + [True] * 8
    assert mimics.sizes_of("ADULT", 0)[-1] == 400_000 and mimics.sizes_of("ADULT", 1)[-1] == 100_000
