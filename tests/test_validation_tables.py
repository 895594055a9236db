"""Tables and sentences about several classifiers: by hand, by task, and against knowing nothing."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bnmtl.errors import InputError
from bnmtl.metrics.prediction import accuracy, cross_entropy, squared_error
from bnmtl.metrics.resampled import interval_width, resampled_error, resampled_p
from bnmtl.validation import Rounds, bias_variance, bootstrap_error, compare, predict_rounds
from bnmtl.validation.rounds import OF_CASES
from bnmtl.validation.tables import (
    CLASS_SHARES,
    bias_variance_table,
    class_shares,
    differences_table,
    measures_table,
    sentences,
)

pytestmark = pytest.mark.beside_kernels


def data(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.integers(3, size=n)
    return X + np.eye(3)[y], np.array(["a", "b", "c"])[y], np.resize(["s", "t", "t"], n)


def made(scheme="kfold", task=True, **options):
    X, y, tasks = data()
    options = {"scheme": scheme, "rounds": 2, "folds": 3, "random_state": 0} | options
    models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier()}
    found = {
        name: predict_rounds(one, X, y, task=tasks if task else None, **options)
        for name, one in models.items()
    }
    return found | {CLASS_SHARES: class_shares(found["bayes"])}


def test_class_shares_are_those_of_training_cases_of_the_task():
    rounds = made()["bayes"]
    shares = class_shares(rounds)
    _, y, task = data()
    for number in range(6):
        for case in np.flatnonzero(rounds.is_predicted[number]):
            learned = y[(rounds.in_bag[number] > 0) & (task == task[case])]
            expected = [(np.sum(learned == k) + 1) / (len(learned) + 3) for k in "abc"]
            np.testing.assert_allclose(shares.predictions[number, case], expected)
    np.testing.assert_array_equal(shares.is_predicted, rounds.is_predicted)
    of_t = y[task == "t"]
    expected = [(np.sum(of_t == k) + 1) / (len(of_t) + 3) for k in "abc"]
    np.testing.assert_allclose(shares.full[task == "t"][0], expected)


def test_without_tasks_class_shares_are_those_of_the_dummy():
    X, y, _ = data()
    options = {"scheme": "bootstrap", "rounds": 3, "random_state": 1}
    dummy = predict_rounds(DummyClassifier(), X, y, **options)
    shares = class_shares(dummy)
    # One more case of each class.
    expected = (90 * dummy.predictions + 1) / 93
    np.testing.assert_allclose(shares.predictions, expected)


def test_rounds_of_a_task_are_its_cases():
    rounds = made()["tree"]
    _, y, task = data()
    part = rounds.of_task("s")
    assert part.y.tolist() == y[task == "s"].tolist()
    np.testing.assert_array_equal(part.predictions, rounds.predictions[:, task == "s"])
    np.testing.assert_array_equal(part.full, rounds.full[task == "s"])
    assert part.n_train.tolist() == (rounds.in_bag[:, task == "s"] > 0).sum(axis=1).tolist()
    with pytest.raises(InputError, match="`s`, `t`"):
        rounds.of_task("u")
    with pytest.raises(InputError, match="one of the tasks"):
        made(task=False)["tree"].of_task("s")


def test_a_task_held_out_as_a_whole_is_learned_from_the_others():
    X, y, task = data()
    options = {"scheme": "kfold", "folds": 2, "rounds": 1, "groups": task, "random_state": 0}
    rounds = predict_rounds(GaussianNB(), X, y, task=task, **options)
    part = rounds.of_task("s")
    assert part.n_train.tolist() == rounds.n_train.tolist()
    assert np.isfinite(part.test_ratio())


def test_the_test_ratio_is_that_of_folds():
    assert made()["tree"].test_ratio() == pytest.approx(1 / 2)


def test_measures_are_means_over_rounds():
    table = measures_table(made()).set_index(["model", "task", "metric"])
    rounds = made()["bayes"]
    for task, part in (("all", rounds), ("t", rounds.of_task("t"))):
        values = [
            squared_error(part.codes[known], p[known])
            for p, known in zip(part.predictions, part.is_predicted, strict=True)
        ]
        row = table.loc[("bayes", task, "squared_error")]
        sizes = part.is_predicted.sum(axis=1)
        assert row["value"] == pytest.approx(np.average(values, weights=sizes))
        width = interval_width(values, part.test_ratio(), 0.95, sizes)
        assert row["high"] - row["value"] == pytest.approx(width)
        assert row["value"] - row["low"] == pytest.approx(width)
    assert set(table.index.get_level_values("metric")) == {
        *("accuracy", "squared_error", "cross_entropy", "lift_chart_area")
    }
    assert set(table.index.get_level_values("task")) == {"all", "s", "t"}


def test_rounds_of_one_case_count_as_often_as_they_should():
    """Ten cases a and two b: folds with one case have an a, those with two one of each."""
    y = np.array(["a"] * 10 + ["b"] * 2)
    options = {"scheme": "kfold", "folds": 10, "rounds": 3, "random_state": 0}
    rounds = predict_rounds(DummyClassifier(), np.zeros((12, 1)), y, **options)
    table = measures_table({"dummy": rounds}).set_index("metric")["value"]
    assert table["accuracy"] == pytest.approx(10 / 12)
    assert np.isfinite(table["roc_area"])  # of the folds with both
    always = np.tile([0.1, 0.9], (*rounds.predictions.shape[:2], 1))
    always[~rounds.is_predicted] = np.nan
    other = Rounds(always, y, rounds.classes, rounds.in_bag)
    found = compare(rounds, other, random_state=0)
    assert (found.first, found.second) == (pytest.approx(10 / 12), pytest.approx(2 / 12))
    assert found.low < found.difference < found.high


def test_intervals_end_where_metrics_do():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 20)
    p = np.clip(np.stack([np.eye(2)[y]] * 3) + 0.02 * rng.normal(size=(3, 40, 2)), 0, 1)
    p[0, :2] = 1 - p[0, :2]
    p /= p.sum(axis=2, keepdims=True)
    rounds = Rounds(p, y, [0, 1], np.ones((3, 40), dtype=int))
    table = measures_table({"one": rounds}).set_index("metric")
    assert table.loc["accuracy", "high"] == 1 and table.loc["accuracy", "low"] < 1
    assert table.loc["squared_error", "low"] == table.loc["cross_entropy", "low"] == 0


def test_a_value_that_is_always_the_same_has_no_interval():
    p = np.full((3, 4, 2), 0.5)
    rounds = Rounds(p, [0, 1, 0, 1], [0, 1], np.ones((3, 4), dtype=int))
    row = measures_table({"one": rounds}).set_index("metric").loc["accuracy"]
    assert row["value"] == 0.5 and np.isnan(row[["low", "high"]].astype(float)).all()


def test_cases_of_a_group_are_judged_together():
    """Twenty rows of noise, ten times each: only the rows are independent."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(2, size=20)
    X, y, group = np.repeat(X, 10, axis=0), np.repeat(y, 10), np.repeat(np.arange(20), 10)
    options = {"scheme": "bootstrap", "rounds": 6, "groups": group, "random_state": 0}
    rounds = predict_rounds(DecisionTreeClassifier(), X, y, **options)
    np.testing.assert_array_equal(rounds.group, group)
    shares = class_shares(rounds)
    for metric in ("squared_error", "roc_area"):
        by_group = compare(rounds, shares, metric, random_state=0)
        assert np.isnan(by_group.p_mcnemar)
        alone = [Rounds(one.predictions, y, one.classes, one.in_bag) for one in (rounds, shares)]
        by_case = compare(*alone, metric, random_state=0)
        assert by_case.p_randomization < 0.01 < by_group.p_randomization
    table = measures_table({"tree": rounds}).set_index("metric")
    width = table.loc["out_of_bag_error", "high"] - table.loc["out_of_bag_error", "low"]
    expected = bootstrap_error(rounds, groups=group, random_state=0).bca
    assert width == pytest.approx(expected[1] - expected[0])


def test_measures_of_bootstraps_have_those_of_the_bootstrap():
    rounds = made("bootstrap", task=False)
    table = measures_table(rounds).set_index(["model", "metric"])
    expected = bootstrap_error(rounds["tree"], random_state=0)
    assert table.loc[("tree", "error_632_plus"), "value"] == expected.error_632_plus
    assert table.loc[("tree", "error_632"), "value"] == expected.error_632
    row = table.loc[("tree", "out_of_bag_error")]
    assert (row["value"], row["low"], row["high"]) == (expected.out_of_bag, *expected.bca)


def test_measures_that_are_not_defined_are_missing():
    p = np.full((2, 4, 2), 0.5)
    p[:, :2] = np.nan
    rounds = Rounds(p, [0, 1, 0, 0], [0, 1], np.ones((2, 4), dtype=int))
    table = measures_table({"one": rounds}).set_index("metric")["value"]
    assert np.isnan(table["roc_area"])
    assert table["squared_error"] == 0.5


def test_differences_are_those_of_compare():
    both = made()
    table = differences_table(both, random_state=3)
    assert len(table) == 3 * 3 * 3  # pairs, metrics, and tasks with all
    table = table.set_index(["first", "second", "task", "metric"])
    for task in ("all", "s"):
        parts = [one if task == "all" else one.of_task(task) for one in both.values()]
        expected = compare(*parts[:2], "accuracy", random_state=3)._asdict()
        row = table.loc[("bayes", "tree", task, "accuracy")]
        assert row["first_value"] == expected.pop("first")
        assert row["second_value"] == expected.pop("second")
        for name, value in expected.items():
            assert row[name] == value


def test_differences_report_pairs():
    done = []
    differences_table(made(task=False), report=lambda *step: done.append(step))
    assert done == [(1, 3), (2, 3), (3, 3)]


def test_bias_and_variance_of_each_model():
    both = made()
    table = bias_variance_table(both).set_index(["model", "loss", "task"])
    expected = bias_variance(both["tree"], "squared")
    for task in ("all", "s", "t"):
        found = table.loc[("tree", "squared", task), expected.columns]
        np.testing.assert_allclose(found.astype(float), expected.loc[task])
    assert set(bias_variance_table(made(task=False))["task"]) == {"all"}
    once = made(rounds=1)
    assert bias_variance_table(once).empty


@pytest.mark.parametrize(
    ("name", "metric"),
    [("accuracy", accuracy), ("squared_error", squared_error), ("cross_entropy", cross_entropy)],
)
def test_what_metrics_give_for_each_case(name, metric):
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 20)
    p[0] = [0, 0.5, 0.5]
    y = np.resize([0, 1, 2], 20)
    with pytest.warns(UserWarning) if name == "cross_entropy" else _nothing():
        assert OF_CASES[name](y, p).mean() == pytest.approx(metric(y, p))


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def test_resampled_errors():
    values = np.array([0.1, 0.4, 0.2])
    assert resampled_error(values, 0) == pytest.approx(stats.sem(values))
    assert resampled_error([0.3, 0.3], 0.5) == 0
    width = interval_width(values, 0.25, 0.9)
    expected = stats.t.ppf(0.95, 2) * np.sqrt((1 / 3 + 0.25) * values.var(ddof=1))
    assert width == pytest.approx(expected)


def test_the_corrected_resampled_test():
    differences = np.random.default_rng(0).normal(0.3, 1, 10)
    # Without rows to test on nothing is shared, and it is the test for independent values.
    assert resampled_p(differences, 0.0) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    # Nadeau & Bengio's with 20 % of the rows learned from: the variance is 1 / 10 + 4 times.
    t = differences.mean() / np.sqrt(4.1 * differences.var(ddof=1))
    assert resampled_p(differences, 4.0) == pytest.approx(2 * stats.t.sf(abs(t), 9))
    assert resampled_p([0.5], 1.0) == resampled_p([0.0, 0.0], 1.0) == 1.0
    # Two equal numbers do not show a variance of 0.
    assert np.isnan(resampled_p([0.5, 0.5], 1.0))


def _verdict(**tables):
    """Sentences about two models, from tables in which values can be set."""
    values = {"us": (0.9, 0.2), "them": (0.8, 0.3), CLASS_SHARES: (0.6, 0.5)} | tables.get(
        "values", {}
    )
    measures = pd.DataFrame(
        [
            {"model": model, "task": "all", "metric": metric, "value": value}
            for model, both in values.items()
            for metric, value in zip(("accuracy", "squared_error"), both, strict=True)
        ]
    )
    rows, width = [], tables.get("width", 0.05)
    models = list(values)
    for at, first in enumerate(models):
        for second in models[at + 1 :]:
            for task in ("all", *tables.get("tasks", ())):
                for number, metric in enumerate(("accuracy", "squared_error")):
                    gap = values[first][number] - values[second][number]
                    gap += tables.get("tasks", {}).get(task, 0)
                    rows.append(
                        {
                            **{"first": first, "second": second, "task": task, "metric": metric},
                            **{"difference": gap, "low": gap - width, "high": gap + 0.8 * width},
                            "p_corrected": tables.get("p", 0.01 if abs(gap) > 0.05 else 0.4),
                            "p_randomization": tables.get("p_randomization", 0.5),
                            "is_smaller_better": number == 1,
                        }
                    )
    parts = pd.DataFrame({"model": ["us", "them"], "task": "all", "loss": "squared"})
    parts["error"], parts["variance"] = [0.2, 0.4], [0.05, 0.3]
    parts = parts[: tables.get("parts")]
    differences = pd.DataFrame(rows)
    if "lacks" in tables:
        is_lacking = differences[["first", "second"]].isin(["us", tables["lacks"]]).all(axis=1)
        differences = differences[~is_lacking]
    return sentences(measures, differences, parts)


def test_the_best_model_is_named_with_its_difference():
    first, by_accuracy, by_error, parts = _verdict()
    assert first == (
        "Knowing only how frequent the labels are predicts 60.0 % right, with a squared error of "
        "0.5000; by squared error us and them are better."
    )
    assert by_accuracy == (
        "By accuracy, us is best (90.0 % against 80.0 % of them; difference 10.0 points, 95 % "
        "interval 5.0 to 14.0, p = 0.01); that is hardly chance."
    )
    assert by_error == (
        "By squared error of the probabilities, us is best (0.2000 against 0.3000 of them; "
        "difference 0.1000, 95 % interval 0.0600 to 0.1500, p = 0.01); that is hardly chance."
    )
    assert "variance is 25 % for us, 75 % for them" in parts
    assert "variance" not in _verdict(parts=0)[-1]


def test_what_may_be_chance_is_said():
    said = _verdict(values={"them": (0.92, 0.18), "us": (0.9, 0.2)})
    assert "them is best (92.0 % against 90.0 % of us" in said[1]
    assert "p = 0.4), but that may be chance." in said[1]
    said = _verdict(values={"us": (0.6, 0.62), "them": (0.6, 0.49)})
    assert said[0].endswith("them is perhaps not better and us is worse.") or said[0].endswith(
        "us is worse and them is perhaps not better."
    )
    assert said[1] == "By accuracy, us and them are equally good (60.0 %)."
    said = _verdict(values={"third": (0.85, 0.25)})
    assert "us is best of 3 models (90.0 % against 85.0 % of third" in said[1]
    assert said[1].endswith("chance. Its lead over them is hardly chance.")
    said = _verdict(values={"third": (0.85, 0.25)}, p=0.4)
    assert said[1].endswith("chance. Its lead over them may be chance.")
    said = _verdict(values={"third": (0.85, 0.25)}, lacks="them")
    assert said[1].endswith("hardly chance.") and "Its lead" not in said[1]
    # All rounds differ by the same amount: what exchanged predictions say.
    said = _verdict(p=np.nan, p_randomization=0.002, width=np.nan)
    assert said[0].endswith("by squared error us and them are better.")
    assert said[1] == (
        "By accuracy, us is best (90.0 % against 80.0 % of them; difference 10.0 points, p = "
        "0.002 of the fitted models); that is hardly chance."
    )
    said = _verdict(p=np.nan, p_randomization=0.6, width=np.nan)
    assert said[0].endswith("by squared error us and them are perhaps not better.")
    said = _verdict(values={"us": (0.012, 0.00001), "them": (0.0118, 0.00002)})
    assert said[1] == "By accuracy, us and them are equally good (1.2 %)."
    assert said[2].endswith("us and them are equally good (0.0000).")


def test_models_without_an_error_are_better_than_knowing_nothing():
    """All rounds have the same error: balanced classes in equal folds."""
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    options = {"scheme": "kfold", "folds": 4, "rounds": 2, "random_state": 0}
    found = {"tree": predict_rounds(DecisionTreeClassifier(), X % 2, y, **options)}
    found["bayes"] = predict_rounds(GaussianNB(var_smoothing=1e-3), X % 2, y, **options)
    found[CLASS_SHARES] = class_shares(found["tree"])
    tables = measures_table(found), differences_table(found), bias_variance_table(found)
    said = sentences(*tables)
    assert said[0].endswith("by squared error tree and bayes are better.")
    assert said[1] == "By accuracy, tree and bayes are equally good (100.0 %)."


def test_rounding_is_not_a_difference_between_rounds():
    """Errors of 0, 1, 2, 3 of ten against 1, 2, 3, 4: each difference is a tenth."""
    y, bags = np.tile([0, 1], 20), np.ones((4, 40), dtype=int)
    found = {}
    for name, more in (("us", 0), ("them", 1)):
        p = np.full((4, 40, 2), np.nan)
        for number in range(4):
            cases = np.arange(10 * number, 10 * number + 10)
            p[number, cases] = np.eye(2)[y[cases]]
            wrong = cases[: number + more]
            p[number, wrong] = 1 - p[number, wrong]
        found[name] = Rounds(p, y, [0, 1], bags)
    row = differences_table(found).set_index("metric").loc["accuracy"]
    assert row["difference"] == pytest.approx(0.1)
    assert np.isnan(row[["low", "high", "p_corrected"]].astype(float)).all()
    assert row[["p_mcnemar", "p_randomization"]].astype(float).gt(0.05).all()


def test_intervals_of_differences_end_where_differences_do():
    X, y, _ = data(12)
    options = {"scheme": "kfold", "folds": 2, "rounds": 1, "random_state": 0}
    models = {"bayes": GaussianNB(), "dummy": DummyClassifier()}
    found = {name: predict_rounds(one, X, y, **options) for name, one in models.items()}
    table = differences_table(found).set_index("metric")
    assert table.loc["accuracy", "low"] >= -1 and table.loc["accuracy", "high"] <= 1
    free = compare(found["bayes"], found["dummy"])
    assert free.low < -1 or free.high > 1


def test_mcnemar_is_about_errors():
    table = differences_table(made(task=False)).set_index("metric")["p_mcnemar"]
    assert table["accuracy"].notna().all() and table.drop("accuracy").isna().all()


def test_tasks_are_counted():
    said = _verdict(tasks={"s": 0.0, "t": 0.07, "u": 0.2, "v": -0.3})
    assert said[3] == (
        "By task, the probabilities of us are better than those of them in 3 of 4 (2 of them "
        "beyond chance), and worse beyond chance in 1."
    )
