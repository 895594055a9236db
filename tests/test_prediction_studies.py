"""The studies of predictions: their parts by hand, their tables from invented lines."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats
from scipy.special import logit
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks import summary
from benchmarks.predictions import (
    boosting_steps,
    calibrated_arcs,
    calibration_defaults,
    gaps,
    good_diagrams,
    good_learners,
    good_probabilities,
    good_tables,
    multinets,
    multinets_learners,
    uci,
)
from benchmarks.related import Related
from bnmtl import HillClimbing, problems, structures
from bnmtl.calibration import (
    AdaBoostM1,
    CalibratedClassifier,
    LogisticCorrection,
    PlattCalibrator,
)
from bnmtl.confidence import arc_confidence
from bnmtl.ensembles.library import grids, trained
from bnmtl.learners import SingleTaskLearner
from bnmtl.metrics import resampled
from bnmtl.metrics.prediction import root_mean_squared_error

# They call compiled code as users do, and compile none.
pytestmark = pytest.mark.beside_kernels
RNG = np.random.default_rng(0)
QUICK = good_probabilities.QUICK


def verdicts(claims):
    """Claim -> whether it holds."""
    return {(one.text, one.published): one.verdict() for one in claims}


def test_views_go_by_the_training_rows():
    features = pd.DataFrame(
        {
            "count": [1.0, 2.0, 3.0, 4.0, 100.0],
            "kind": pd.Categorical(list("aabba"), ["a", "b", "c"]),
        }
    )
    views = uci.Views(features, np.arange(4))
    assert views.numbers.shape == (5, 4)  # a column a declared value
    assert views.scaled[:4].mean(axis=0) == pytest.approx([0, 0, 0, 0])
    assert views.scaled[:4, :3].std(axis=0) == pytest.approx([1, 1, 1])
    bins = views.categories(2)
    assert bins["count"].tolist() == ["below_3"] * 2 + ["from_3"] * 3
    assert bins["kind"].tolist() == list("aabba")


def test_data_that_are_needed_are_asked_for(monkeypatch, tmp_path):
    monkeypatch.delenv("BNMTL_DATA", raising=False)
    for module in (good_probabilities, multinets):
        module.check_needs(module.plan(True), [])
        with pytest.raises(ValueError, match="BNMTL_DATA must name the folder with uci"):
            module.check_needs(module.plan(False), [])
    monkeypatch.setenv("BNMTL_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="there is no uci/schema.json"):
        good_probabilities.check_needs(good_probabilities.plan(False), [])


@pytest.fixture
def table(monkeypatch, tmp_path):
    """A folder of data with a small table of numbers, names and a gap."""
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "small.csv").write_text("size,kind,class\n1,a,no\n2.5,,yes\n3,b,no\n")
    (tmp_path / "uci" / "schema.json").write_text(
        '{"small": {"file": "small.csv", "class": "class", "columns": ['
        '{"name": "size", "type": "numeric"}, '
        '{"name": "kind", "type": "nominal", "values": ["b", "a"]}, '
        '{"name": "class", "type": "nominal", "values": ["no", "yes"]}]}}'
    )
    monkeypatch.setenv("BNMTL_DATA", str(tmp_path))
    uci.read.cache_clear()
    yield tmp_path / "uci" / "small.csv"
    uci.read.cache_clear()


def test_tables_are_read_by_their_schema(table):
    features, classes = uci.read("small")
    assert features["size"].tolist() == [1.0, 2.5, 3.0]
    assert features["kind"].cat.categories.tolist() == ["b", "a"]
    assert features["kind"].isna().tolist() == [False, True, False]
    assert classes.tolist() == ["no", "yes", "no"]
    before = uci.fingerprint("small")
    lines = [{"table": "ours", "data": before}]
    uci.check_same({"ours": "small", "new": "small"}, lines, "table")
    table.write_text("size,kind,class\n1,a,no\n")
    assert uci.fingerprint("small") != before
    with pytest.raises(ValueError, match="lines of ours were measured on other data"):
        uci.check_same({"ours": "small"}, lines, "table")


def test_a_leaf_has_one_case_of_each_class_more():
    X, y = np.array([[0], [0], [0], [1], [1]]), np.array([0, 0, 1, 1, 1])
    tree = trained.LaplaceTree(max_depth=1).fit(X, y)
    assert tree.predict_proba([[0], [1]]) == pytest.approx(
        np.array([[3 / 5, 2 / 5], [1 / 4, 3 / 4]])
    )


def test_gain_ratios_measure_the_information_of_a_column():
    y = np.tile([0, 1], 500)
    columns = np.column_stack([y, RNG.random(1000), np.ones(1000)])
    same, noise, constant = trained.gain_ratios(columns, y)
    assert same == pytest.approx(1) and 0 <= noise < 0.02 and constant == 0


def test_rows_are_drawn_into_disjoint_parts_and_again_the_same():
    parts = good_probabilities.split("ADULT", 45_222, 0)
    assert [len(part) for part in parts] == [4000, 1000, 40_222]
    assert len(set(np.concatenate(parts))) == 45_222
    assert (good_probabilities.split("ADULT", 45_222, 0)[0] == parts[0]).all()
    assert (good_probabilities.split("ADULT", 45_222, 1)[0] != parts[0]).any()
    assert len(good_probabilities.split("SPAMBASE", 4601, 0)[0]) == 2000


@pytest.mark.filterwarnings("ignore:.*count as that near")
def test_the_best_on_the_calibration_rows_is_tested():
    line = good_probabilities.measure(QUICK, 0, ["logistic regression"])["logistic regression"]
    views, y, (train, calibration, test), _ = good_probabilities.views_of(QUICK, 0)
    models = list(good_learners.LEARNERS["logistic regression"](views, y, train, calibration, 0))
    errors = [root_mean_squared_error(y[calibration], model.scores) for model in models]
    best = models[int(np.argmin(errors))]
    before = line["methods"]["before"]
    assert before["parameters"][good_probabilities.RMSE] == best.parameters
    assert before[good_probabilities.RMSE] == pytest.approx(
        root_mean_squared_error(y[test], best.score(test)), abs=1e-6
    )
    assert set(line["methods"]) == {"before", "Platt", "Platt on log odds", "isotonic"}
    assert set(line["pictured"]) == set(line["methods"])
    assert line["curve"]["sizes"] == [32, 64, 128]


@pytest.mark.filterwarnings("ignore:.*count as that near")
def test_boosting_has_both_corrections(monkeypatch):
    monkeypatch.setattr(grids, "STUMP_STEPS", (1, 4))
    line = good_probabilities.measure(QUICK, 0, ["boosted stumps"])["boosted stumps"]
    assert {"logistic correction", "log-loss"} <= set(line["methods"])
    views, y, parts, _ = good_probabilities.views_of(QUICK, 0)
    models = list(good_learners.LEARNERS["boosted stumps"](views, y, *parts[:2], 0))
    assert len(models) == 8 and sum(model.calibrated for model in models) == 4
    for model in models:
        assert ((model.scores >= 0) & (model.scores <= 1)).all()
        assert model.score(parts[1]) == pytest.approx(model.scores)
    # One stump of vote a: F is a or -a, and the correction gives back its share of errors.
    one = next(model for model in models if model.parameters == "weighted, 1 steps")
    wrong = np.mean((one.score(parts[0]) > 0.5) != y[parts[0]])
    p = one.methods["logistic correction"](one.scores)
    assert set(p.round(9)) == {round(wrong, 9), round(1 - wrong, 9)}
    assert line["pictured"]["log-loss"]["parameters"] == line["pictured"]["Platt"]["parameters"]


def test_trees_of_two_levels_are_boosted_on_the_first_draw(monkeypatch):
    two = good_learners.TWO_LEVELS
    trials = [case["trial"] for case in good_probabilities.plan(False) if case["wanted"] == [two]]
    assert trials == [0] * len(good_probabilities.PROBLEMS)
    monkeypatch.setattr(good_learners, "TWO_LEVEL_STEPS", (2, 5))
    views, y, (train, calibration, test), _ = good_probabilities.views_of(QUICK, 0)
    models = list(good_learners.models_of(two, views, y, train, calibration, 0))
    assert len(models) == 4
    tree, numbers = DecisionTreeClassifier(max_depth=2), views.numbers
    for loss, method in (("exponential", "logistic correction"), ("logistic", "log-loss")):
        model = [one for one in models if method in one.methods][-1]
        boosted = AdaBoostM1(tree, 5, resample=False, loss=loss, random_state=0)
        p = LogisticCorrection().fit(boosted, numbers[train], y[train]).predict_proba(numbers[test])
        found = model.methods[method](model.score(test))
        assert found == pytest.approx(p[:, 1], abs=1e-6)


def test_decision_values_are_not_probabilities_wherever_they_lie(monkeypatch):
    monkeypatch.setattr(grids, "SVM_COSTS", (1e-3,))
    views, y, (train, calibration, _), _ = good_probabilities.views_of(QUICK, 0)
    model = next(good_learners.LEARNERS["SVMs"](views, y, train, calibration, 0))
    within = model._replace(scores=np.clip(model.scores, 0, 1))
    found = good_probabilities.candidates(within, y[calibration])
    assert set(found) == {"before", "Platt", "isotonic"}
    p = found["Platt"].probabilities(np.array([-1e6, 0.5, 1.00002]))
    assert ((p > 0) & (p < 1)).all()


def test_every_class_has_two_rows_to_learn_from():
    classes = np.array(["rare"] * 3 + ["common"] * 40, dtype=object)
    learned = multinets.is_training(classes, 0.2, np.random.default_rng(0))
    assert learned[:3].sum() == 2 and learned[3:].sum() == 8


def test_pairs_are_counted_by_confidence():
    related = Related(problems.deletion("asia", 2, 0.2, random_state=0), 200, 0)
    learner = SingleTaskLearner(search=HillClimbing(restarts=0))
    table = arc_confidence(related.tasks, learner, 100, 0, subsample=None)
    found = calibrated_arcs.counted(table, related)
    expected = {kind: {name: [0] * 101 for name in ("pairs", "true")} for kind in found}
    for _, task, parent, child, arc, edge in table.itertuples():
        variables = {parent, child}
        constant = variables & set(related.tasks[task].constant)
        graph = related.networks[task].graph
        is_arc = graph.has_edge(parent, child) and not constant
        is_edge = is_arc or (graph.has_edge(child, parent) and not constant)
        expected["arc"]["pairs"][round(100 * arc)] += 1
        expected["arc"]["true"][round(100 * arc)] += is_arc
        if parent < child:
            expected["edge"]["pairs"][round(100 * edge)] += 1
            expected["edge"]["true"][round(100 * edge)] += is_edge
    assert found == expected


def invented_good(lower):
    """Lines in which Platt's method lowers errors by so much."""
    lines = []
    for case in good_probabilities.plan(False, summary.FEWEST):
        (learner,) = case["wanted"]
        places = {name: at for at, name in enumerate(good_learners.LEARNERS)}
        # Between full trees, the first, and stumps.
        level = 0.3 + 0.01 * {**places, good_learners.TWO_LEVELS: 2.5}[learner]
        by_method = {"before": level, "Platt": level - lower, "isotonic": level - lower / 2}
        if learner not in good_learners.MARGINS:
            by_method["Platt on log odds"] = level - 2 * lower
        if learner.startswith("boosted"):
            by_method |= {"logistic correction": level, "log-loss": level}
        methods, pictured = {}, {}
        for method, value in by_method.items():
            measures = {name: value + RNG.normal(0, 1e-4) for name in good_tables.MEASURES}
            methods[method] = measures
            near = 0.99 if learner == "boosted trees" and "lo" in method else 0.1
            slope = 0.5 if learner == "naive Bayes" else 2.0
            reliable = {"left": [0.0], "right": [0.1], "mean_prediction": [0.05]}
            reliable |= {"fraction_positive": [0.06], "count": [10]}
            pictured[method] = {"slope": slope, "near 0 or 1": near, "reliability": reliable}
        line = {"problem": case["problem"], "trial": case["trial"], "learner": learner}
        line |= {"methods": methods, "pictured": pictured}
        if case["problem"] in good_probabilities.CURVES:
            sizes = good_probabilities.CURVE_SIZES
            isotonic = [level + (0.1 if size < 500 else -0.01) for size in sizes]
            line["curve"] = {"sizes": sizes, "Platt": [level] * len(sizes), "isotonic": isotonic}
            line["curve"]["before"] = level
        lines.append(line)
    return pd.DataFrame(lines)


def invented_nets(gain):
    """Lines in which nets learned together make so many fewer errors."""
    lines = []
    for case in multinets.plan(False):
        for method in case["wanted"]:
            errors = 0.2 - gain * method.startswith("nets together") + RNG.normal(0, 1e-3)
            line = {name: value for name, value in case.items() if name != "wanted"}
            line |= {"method": method, "errors": errors, "cross_entropy": 2 * errors}
            lines.append(line | {"learned": 100 * case["share"]})
    return pd.DataFrame(lines)


def invented_arcs(share):
    """Lines in which pairs learned alone are there as often as their confidence times a share."""
    lines = []
    cases = pd.DataFrame(calibrated_arcs.plan(False, summary.FEWEST)).explode("wanted")
    for line in cases.rename(columns={"wanted": "method"}).to_dict("records"):
        pairs = np.full(101, 200)
        true = pairs * np.arange(101) / 100 * (share if line["method"] == "single" else 1)
        counts = {"pairs": pairs.tolist(), "true": true.astype(int).tolist()}
        lines.append(line | {"arc": counts, "edge": counts})
    return pd.DataFrame(lines)


def invented_defaults(behind):
    """Lines in which the default is so far behind the sigmoid, and log odds at epsilon further."""
    every = pd.DataFrame(calibration_defaults.plan(False)).explode("wanted")
    lines = every.rename(columns={"wanted": "learner"}).to_dict("records")
    for line in lines:
        decides = line["learner"] in ("boosting", "SVM")
        losses = dict.fromkeys(["raw sigmoid", "isotonic", "temperature"], 0.4)
        losses |= {"auto": 0.4 + behind * (not decides)}
        if not decides:
            losses |= {"before": 0.6, "log odds at eps": 0.5, "log odds": 0.41}
            losses |= {"beta": 0.41, "chosen by folds": 0.40}
        if line["learner"] in calibration_defaults.BAGS:
            losses["auto, out of bag"] = 0.41
        line["methods"] = {
            name: {"log loss": one + (name == "isotonic"), "kept": one, "error": one / 10}
            for name, one in losses.items()
        }
    return pd.DataFrame(lines)


MADE = {
    calibration_defaults: invented_defaults(0.002),
    good_probabilities: invented_good(0.02),
    multinets: invented_nets(0.05),
    calibrated_arcs: invented_arcs(0.5),
}


def test_diagrams_tell_shares_and_how_few_rows_are_behind_one():
    table = pd.DataFrame(
        {
            "left": [0.0, 0.5],
            "right": [0.1, 0.6],
            "mean_prediction": [0.05, 0.55],
            "fraction_positive": [0.1, 1.0],
            "count": [30, good_diagrams.MANY - 10],
        }
    )
    axes = Figure().subplots()
    good_diagrams.draw_panel(axes, table)
    assert [bar.get_height() for bar in axes.patches] == [0.75, 0.25]
    assert [bar.get_x() for bar in axes.patches] == [0.0, 0.5]
    (points,) = axes.collections
    assert points.get_offsets().tolist() == [[0.05, 0.1], [0.55, 1.0]]
    assert (
        points.get_facecolors()[1].tolist() == [1, 1, 1, 1] != points.get_facecolors()[0].tolist()
    )


def test_steps_of_boosting_are_those_of_one_model():
    lines = boosting_steps.measure(QUICK, 0, [1, 3])
    views, y, (train, _, test), _ = good_probabilities.views_of(QUICK, 0)
    tree = DecisionTreeClassifier()
    for steps, line in lines.items():
        model = AdaBoostM1(tree, n_estimators=steps, random_state=0)
        model.fit(views.numbers[train], y[train])
        p = model.predict_proba(views.numbers[test])[:, 1]
        assert line["rmse"] == pytest.approx(root_mean_squared_error(y[test], p), abs=1e-6)
        assert sum(line["reliability"]["count"]) == len(test)
    made = pd.DataFrame(
        [{"problem": QUICK, "trial": 0, "steps": steps, **line} for steps, line in lines.items()]
    )
    assert [axes.get_title() for axes in boosting_steps.draw(made).axes] == ["1 step", "3 steps"]
    assert len(boosting_steps.tables(made)["boosting_steps"].splitlines()) == 4


def test_verdicts_on_good_probabilities():
    found = verdicts(good_tables.claims(MADE[good_probabilities]))
    shape = "boosted trees: sigmoid-shaped before calibration; slope of the log odds above 1"
    assert found[shape, "yes"] == "8 of 8 problems"
    repaired = ("Platt below before, root mean squared error", "repaired")
    assert found[repaired] == "lower for 3, higher for 0 of 3"
    hurt = ("before below Platt, root mean squared error", "hurt a little by calibration")
    assert found[hurt] == "lower for 0, higher for 2 of 2"
    better = ("isotonic below Platt, root mean squared error", "better")
    assert found[better] == "lower for 0, higher for 2 of 2"
    better = ("Platt below isotonic, cross-entropy", "better")
    assert found[better] == "lower for 12, higher for 0 of 12"
    assert found["Platt for bagged trees, root mean squared error within 5 %", "a wash"] == "no"
    small = "Platt below isotonic below 200 cases, root mean squared error"
    assert found[small, "all learners"] == "12 of 12 learners"
    large = "isotonic not above Platt from 1000 cases on, root mean squared error"
    assert found[large, "all learners"] == "12 of 12 learners"
    zero = "logistic correction of boosted trees predicts 0 or 1, in 95 % of the test rows"
    assert found[zero, "10 of 11 problems"] == "8 of 8 problems"
    best = "boosted trees calibrated by Platt are best, root mean squared error"
    assert found[best, "yes"] == "yes"
    two = good_learners.TWO_LEVELS
    deeper = f"boosted trees below {two}, both calibrated by Platt, cross-entropy"
    shallower = f"{two} below boosted stumps, both calibrated by Platt, cross-entropy"
    corrected = f"{two}: logistic correction is worse than Platt, cross-entropy"
    assert found[deeper, "yes"] == found[shallower, "yes"] == found[corrected, "yes"] == "yes"
    worse = verdicts(good_tables.claims(invented_good(-0.02)))
    assert worse[repaired] == "lower for 0, higher for 3 of 3"
    assert worse[hurt] == "lower for 2, higher for 0 of 2"
    assert worse[best, "yes"] == "no"
    assert worse[corrected, "yes"] == "no, it is better"


@pytest.mark.parametrize(
    ("above", "verdict"),
    [(0.01, "yes"), (-0.01, "no, it is better"), (0.0, "not significant")],
)
def test_log_loss_is_worse_than_logistic_correction_by_the_sign_of_the_difference(above, verdict):
    lines = MADE[good_probabilities].copy()
    noise = np.random.default_rng(1)

    def shifted(line):
        methods = {method: dict(values) for method, values in line["methods"].items()}
        if line["learner"] == "boosted stumps":
            for name in good_tables.MEASURES:
                correction = methods["logistic correction"][name]
                methods["log-loss"][name] = correction + above + noise.normal(0, 1e-3)
        return methods

    lines["methods"] = [shifted(line) for _, line in lines.iterrows()]
    found = verdicts(good_tables.claims(lines))
    for name in good_tables.MEASURES:
        claim = f"log-loss for stumps worse than logistic correction, {name}"
        assert found[claim, "by a few percent"] == verdict
    few = lines[lines["problem"].isin(["ADULT", "COVTYPE"])]
    found = verdicts(good_tables.claims(few))
    assert found[claim, "by a few percent"] == "too few problems"


def test_verdicts_on_multi_nets():
    claim = ("nets together below nets apart, share of errors", "hoped for")
    for gain, verdict in (
        (0.05, "better in 12 of 12, worse in 0"),
        (-0.05, "better in 0 of 12, worse in 12"),
    ):
        lines = invented_nets(gain)
        for ending in multinets.ENDINGS[:2]:
            assert verdicts(multinets.claims(lines, ending))[claim] == verdict
    # A gain of one standard deviation: the test for ten independent trials finds most of them
    # significant. Trials that share most of their rows are weaker evidence.
    lines = invented_nets(1.5e-3)
    better = verdicts(multinets.claims(lines, multinets.ENDINGS[0]))[claim]
    naive = sum(
        stats.ttest_rel(*(part[part["method"] == m]["errors"] for m in multinets_pair)).pvalue
        < 0.05
        for _, part in lines.groupby(["table", "share"])
        for multinets_pair in [("nets apart", "nets together")]
    )
    assert naive >= 6 and int(better.split()[2]) <= 2


def test_defaults_of_multi_nets_are_compared_with_rivals_whose_smoothing_is_chosen():
    lines = invented_nets(0.05)
    assert len(verdicts(multinets.claims(lines, multinets_learners.DEFAULTS))) == 10
    assert multinets.compared(multinets_learners.DEFAULTS) == {
        "naive Bayes": "naive Bayes, smoothing chosen",
        "TAN": "TAN, smoothing chosen",
        **{kind: f"{kind}, defaults" for kind in list(multinets_learners.KINDS)[2:]},
    }


def test_nets_with_tables_of_the_learners_smoothing_are_the_classifier():
    frame = structures.load("asia").sample(300, random_state=0)
    y = frame.pop("bronc").astype(object).to_numpy()
    for kind in ("one network", "nets apart", "nets of one structure", "nets together"):
        model, size = multinets_learners.learned(kind, frame, y, 0)
        assert size == 1.0
        expected = model.at(None).predict_proba(frame)
        assert model.at(size).predict_proba(frame) == pytest.approx(expected, abs=1e-9)
        assert not np.allclose(model.at(30.0).predict_proba(frame), expected, atol=1e-3)


def test_the_smoothing_is_the_best_of_the_held_out_rows():
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 3 + ["b"] * 60 + ["c"] * 2, dtype=object)
    held = multinets_learners.held_out(y, np.random.default_rng(1))
    # Every class keeps two rows.
    assert [held[y == name].sum() for name in "abc"] == [1, 12, 0]
    # Features of pure noise ask for much smoothing, copies of the class for little.
    y = rng.choice(["a", "b"], 80).astype(object)
    noise = pd.DataFrame({f"v{at}": pd.Categorical(rng.integers(0, 4, 80)) for at in range(30)})
    copies = pd.DataFrame({f"v{at}": pd.Categorical(y) for at in range(3)})
    sizes = [
        multinets_learners.chosen_size(multinets_learners.NaiveBayes, frame, y, 0)
        for frame in (noise, copies)
    ]
    assert sizes[0] >= 10 and sizes[1] == min(multinets_learners.NaiveBayes.sizes)


def test_the_corrected_resampled_test():
    rng = np.random.default_rng(0)
    differences = rng.normal(0.3, 1, 10)
    # Without rows to test on nothing is shared, and it is the test for independent values.
    expected = stats.ttest_1samp(differences, 0)
    assert resampled.resampled_p(differences, 0.0) == pytest.approx(expected.pvalue)
    assert resampled.resampled_error(differences, 0.0) == pytest.approx(stats.sem(differences))
    # Nadeau & Bengio's with 20 % of the rows learned from: the variance is 1 / 10 + 4 times.
    t = differences.mean() / np.sqrt(4.1 * differences.var(ddof=1))
    assert resampled.resampled_p(differences, 4.0) == pytest.approx(2 * stats.t.sf(abs(t), 9))
    assert resampled.resampled_p([0.5], 1.0) == resampled.resampled_p([0.0, 0.0], 1.0) == 1.0
    # Two equal numbers do not show a variance of 0.
    assert np.isnan(resampled.resampled_p([0.5, 0.5], 1.0))


def test_the_jackknife_gives_a_mean_the_error_it_has():
    values = np.random.default_rng(1).normal(3, 1, 6)
    rest = {trial: np.delete(values, trial).mean() for trial in range(6)}
    value, error = calibrated_arcs.jackknife(
        pd.Series({calibrated_arcs.WHOLE: values.mean(), **rest})
    )
    assert (value, error) == pytest.approx((values.mean(), stats.sem(values)))
    for shift in (-5, 0, 5):
        moved = pd.Series({calibrated_arcs.WHOLE: values.mean(), **rest}) - 3 + shift
        test = stats.ttest_1samp(values - 3 + shift, 0).pvalue < summary.LEVEL
        assert (calibrated_arcs.sure_sign(moved) != 0) == test == (shift != 0)
    assert np.isnan(calibrated_arcs.jackknife(pd.Series({calibrated_arcs.WHOLE: 1.0}))[1])


def test_what_chance_explains_is_neither_better_nor_worse():
    lines = MADE[calibrated_arcs].copy()
    # Together as alone, apart from chance in every trial.
    rng = np.random.default_rng(2)
    for kind in calibrated_arcs.KINDS:
        lines[kind] = [
            {"pairs": counts["pairs"], "true": rng.binomial(counts["pairs"], np.arange(101) / 200)}
            for counts in lines[kind]
        ]
    found = verdicts(calibrated_arcs.claims(lines))
    for claim in found:
        if "learned together are calibrated better" in claim[0]:
            better, worse = (int(one) for one in re.findall(r"in (\d)", found[claim]))
            assert better + worse <= 1


def test_verdicts_on_calibrated_arcs():
    lines = MADE[calibrated_arcs]
    found = calibrated_arcs.measures(lines)
    found = found[found["without"] == calibrated_arcs.WHOLE]
    found = found.set_index(["problem", "kind", "method", "stage"])
    alone = found.loc["ALARM", "arc", "single"]["calibration"]
    # Half of the confidence is wrong: the root of the mean of (confidence / 2) squared.
    expected = np.sqrt(np.mean((np.arange(101) / 200) ** 2))
    assert alone["before"] == pytest.approx(expected, abs=0.01)
    assert alone["isotonic"] < 0.02
    by_claim = verdicts(calibrated_arcs.claims(lines))
    claim = "confidences of arcs learned together are calibrated better before calibration"
    assert by_claim[claim, "our own"] == "better in 4 of 4, worse in 0"
    alarm = lines[(lines["problem"] == "ALARM") & (lines["method"] == "single")]
    row = next(calibrated_arcs.shares(alarm))
    assert row["of"] == "arcs" and row["0.8"].startswith("0.40 ± 0.00 (")


@pytest.mark.parametrize(("behind", "holds"), [(0.004, "yes"), (0.006, "no")])
def test_verdicts_on_the_default_of_calibration(behind, holds):
    found = verdicts(calibration_defaults.claims(invented_defaults(behind)))
    claim = "median over tables of {} minus the better sigmoid is at most 0.005"
    assert found[claim.format("auto"), "our own"] == holds
    assert found[claim.format("beta"), "our own"] == "no"
    assert found["log odds at eps worse than raw sigmoid", "our own"] == "65 of 65"
    assert found["auto, out of bag worse than auto", "our own"] == "26 of 26"


def test_the_default_of_calibration_is_measured_by_the_package():
    """Scores by folds go through `CalibratedClassifier`, also those of the earlier default."""
    (line,) = calibration_defaults.measure("breast cancer", 0, ["neighbors"]).values()
    assert set(line["methods"]) == set(calibration_defaults.METHODS) - {"auto, out of bag"}
    X, y = calibration_defaults.rows_of("breast cancer")
    X, test_X, y, test_y = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = CalibratedClassifier(calibration_defaults.LEARNERS["neighbors"](0), cv=folds)
    expected = log_loss(test_y, model.fit(X, y).predict_proba(test_X))
    assert line["methods"]["auto"]["log loss"] == pytest.approx(expected, abs=1e-6)
    # What the package did before: the scores of the study of good probabilities are those.
    p, labels = np.array([0.0, 0.2, 0.7, 1.0, 1.0]), [0, 1, 0, 1, 0]
    found = good_probabilities.LogOddsAtEpsilon().fit(p, labels)
    eps = np.finfo(float).eps
    odds = logit(np.clip(p, eps, 1 - eps))
    assert found.predict(p) == pytest.approx(PlattCalibrator().fit(odds, labels).predict(odds))
    assert good_probabilities.slope_of(p, labels) == -PlattCalibrator().fit(odds, labels).a_


def test_gaps_are_of_features_that_others_keep():
    frame = gaps.read("sachs")
    train, test = gaps.split(frame, 40, 0)
    assert (train.groupby(gaps.TASK).size() == 40).all() and len(test) == 1000
    assert not set(train.index) & set(test.index)
    features = test.drop(columns=gaps.TARGET)
    some, more = (gaps.with_gaps(features, percent, 0) for percent in (25, 50))
    assert not (some.isna() & more.notna()).any(axis=None) and some[gaps.TASK].notna().all()
    assert more.drop(columns=gaps.TASK).isna().mean().mean() == pytest.approx(0.5, abs=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gaps.measure("iris", 60, 0, [gaps.NETWORK, gaps.LOGISTIC])
        found |= gaps.measure("sachs", 40, 0, [gaps.POOLED])
    assert found[gaps.NETWORK]["loss 50"] < found[gaps.LOGISTIC]["loss 50"]
    assert found[gaps.POOLED]["n_tasks"] == 9


def test_a_loss_of_probabilities_is_that_of_the_true_classes():
    class Says:
        classes_ = ("a", "b")

        def predict_proba(self, rows):
            return np.array([[1.0, 0.0], [0.25, 0.75]])

    y = pd.Series(["b", "b"])
    p = np.array([0.1 / 1.1, 0.75])
    assert gaps.log_loss(Says(), None, y, 8) == pytest.approx(-np.log(p).mean())
