"""Experiments with strategies: curves by hand, continued files, measures, scikit-activeml."""

import functools
import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bnmtl.active import (
    BaggingCommittee,
    BootstrapJS,
    BootstrapLV,
    QueryByBagging,
    RandomQuery,
    data_utilization,
    improvement,
    run_experiment,
)
from bnmtl.active.measures import _compared
from bnmtl.decorate import DecorateClassifier
from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.prediction import lift_chart_area, squared_error
from bnmtl.seeding import generator
from bnmtl.writing import locked

pytestmark = pytest.mark.beside_kernels
NAIVE = GaussianNB()
BASES = {
    "bagging": QueryByBagging(n_estimators=3),
    "random": (RandomQuery(), BaggingCommittee(n_estimators=3)),
}
FEW = {"n_labels": 17, "batch_size": 4, "cv": 3, "random_state": 0}


def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["c", "a", "b"])[y]


def only_numbers(curves):
    return curves.drop(columns="seconds")


@functools.cache
def finished():
    """Curves of such an experiment, and the text of its file; tests do not change them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "curves.jsonl"
        return run_experiment(BASES, iris(), out=path, **FEW), path.read_text()


@functools.cache
def two_data_sets():
    X, y = iris()
    data = {"first": (X, y), "second": (X[:80], y[:80])}
    return data, only_numbers(run_experiment(BASES, data, **FEW))


def test_a_curve_is_the_loop_by_hand():
    X, y = iris()
    strategy = QueryByBagging(NAIVE, n_estimators=3)
    curves = run_experiment({"s": strategy}, {"iris": (X, y)}, **FEW)
    codes = np.unique(y, return_inverse=True)[1]
    folds_seed = int(generator(0, "folds", "iris", 0).integers(2**32 - 1))
    folds = StratifiedKFold(3, shuffle=True, random_state=folds_seed).split(X, codes)
    rows = []
    for trial, (pool, test) in enumerate(folds):
        labeled = generator(0, "first", "iris", trial).permutation(len(pool))[:5].tolist()
        seed = None
        for step, size in enumerate([0, 4, 4, 4]):
            if size:
                labels = [float(codes[pool][at]) if at in labeled else np.nan for at in range(100)]
                asked = QueryByBagging(NAIVE, n_estimators=3, random_state=seed)
                labeled += asked.query(X[pool], labels, batch_size=size).tolist()
            seed = int(generator(0, "step", "iris", trial, len(labeled)).integers(2**31 - 1))
            known = sorted(labeled)
            model = BaggingCommittee(NAIVE, n_estimators=3, random_state=seed)
            model.fit(X[pool][known], codes[pool][known])
            p = np.zeros((len(test), 3))
            p[:, model.classes_] = model.predict_proba(X[test])
            error = np.mean(p.argmax(axis=1) != codes[test])
            area = lift_chart_area(codes[test], p, np.bincount(codes[pool]))
            squares = squared_error(codes[test], p)
            rows.append(("iris", "s", trial, step, 5 + 4 * step, error, squares, area))
    expected = pd.DataFrame(rows, columns=curves.columns[:8])
    pd.testing.assert_frame_equal(curves[expected.columns], expected)
    assert set(curves["n_pool"]) == {100}
    assert set(curves["n_test"]) == {50}
    assert (curves["seconds"] > 0).all()


def test_strategies_begin_alike_and_end_alike():
    curves = run_experiment(BASES, iris(), batch_size=50, cv=3, random_state=0)
    assert curves["n_labels"].unique().tolist() == [5, 55, 100]
    by = curves.pivot_table(index=["trial", "n_labels"], columns="strategy", values="squared_error")
    alike = by["bagging"] == by["random"]
    assert alike.xs(5, level="n_labels").all()
    assert alike.xs(100, level="n_labels").all()
    assert not alike.xs(55, level="n_labels").all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_processes_and_order_do_not_matter(n_jobs):
    data, expected = two_data_sets()
    turned = dict(reversed(data.items())), dict(reversed(BASES.items()))
    found = only_numbers(run_experiment(*reversed(turned), **FEW, n_jobs=n_jobs))
    keys = ["data", "strategy", "trial", "step"]
    pd.testing.assert_frame_equal(
        found.sort_values(keys, ignore_index=True), expected.sort_values(keys, ignore_index=True)
    )
    assert found["data"].iloc[0] == "second"


def test_a_killed_experiment_goes_on(tmp_path):
    path, events = tmp_path / "curves.jsonl", []
    whole, lines = only_numbers(finished()[0]), finished()[1].splitlines(keepends=True)
    per_curve = 4
    assert len(lines) == 1 + 6 * per_curve
    # Two whole curves, one without its end, and half a line.
    path.write_text("".join(lines[: 1 + 2 * per_curve + 2]) + lines[-1][:30])
    again = run_experiment(BASES, iris(), out=path, **FEW, progress=events.append)
    pd.testing.assert_frame_equal(only_numbers(again), whole)
    assert [(event.done, event.total) for event in events] == [(done, 6) for done in range(2, 7)]
    assert sorted(map(len, path.read_text().splitlines())) != []
    assert len(path.read_text().splitlines()) == len(lines)
    kept = path.read_bytes()
    run_experiment(BASES, iris(), out=path, **FEW)
    assert path.read_bytes() == kept


def test_a_file_keeps_the_seed_that_was_drawn(tmp_path):
    path, options = tmp_path / "curves.jsonl", FEW | {"random_state": None, "n_labels": 13}
    first = run_experiment(BASES, iris(), out=path, **options)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:7]))
    again = run_experiment(BASES, iris(), out=path, **options)
    pd.testing.assert_frame_equal(only_numbers(again), only_numbers(first))
    assert not only_numbers(run_experiment(BASES, iris(), **options)).equals(only_numbers(first))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"strategies": BASES | {"bagging": QueryByBagging(n_estimators=4)}}, "strategies"),
        ({"data": (iris()[0][:140], iris()[1][:140])}, "data"),
        ({"batch_size": 5}, "plans"),
        ({"cv": 2}, "folds"),
        ({"random_state": 1}, "random_state"),
    ],
)
def test_a_file_of_another_experiment_is_refused(tmp_path, changed, words):
    path = tmp_path / "curves.jsonl"
    options = {"strategies": BASES, "data": iris(), "out": path} | FEW
    path.write_text(finished()[1])
    before = path.read_bytes()
    with pytest.raises(InputError, match=words):
        run_experiment(**options | changed)
    assert path.read_bytes() == before
    path.write_text("something\n")
    with pytest.raises(InputError, match="something else"):
        run_experiment(**options)
    assert path.read_text() == "something\n"


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (3, "must be the name of a file or None, got int"),
        ("", "must be a file, got the folder"),
        ("nowhere/curves.jsonl", "can be written, got `nowhere/curves.jsonl`"),
    ],
)
def test_curves_are_written_to_a_file(tmp_path, monkeypatch, out, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((InputError, InputTypeError), match=words):
        run_experiment(BASES, iris(), out=out, **FEW)
    assert not list(tmp_path.iterdir())


def a_number(lines):
    lines[3] = lines[3].replace('"error": 0.', '"error": 0.9')


def another_seed(lines):
    header = json.loads(lines[0])
    lines[0] = json.dumps(header | {"seed": header["seed"] + 1}) + "\n"


def a_line_of_another_trial(lines):
    lines[3] = lines[3].replace('"trial": 0', '"trial": 1')


@pytest.mark.parametrize("change", [a_number, another_seed, a_line_of_another_trial])
def test_a_changed_file_is_refused(tmp_path, change):
    path, lines = tmp_path / "curves.jsonl", finished()[1].splitlines(keepends=True)
    change(lines)
    assert "".join(lines) != finished()[1]
    path.write_text("".join(lines))
    number = 2 if change is another_seed else 4
    with pytest.raises(InputError, match=f"has a line {number} that was changed"):
        run_experiment(BASES, iris(), out=path, **FEW)
    assert path.read_text() == "".join(lines)


def test_an_experiment_that_runs_is_not_run_twice(tmp_path):
    path = tmp_path / "curves.jsonl"
    path.write_text(finished()[1])
    with ThreadPoolExecutor(1) as pool, locked(path, "out"):
        again = pool.submit(run_experiment, BASES, iris(), out=path, **FEW)
        with pytest.raises(InputError, match="must not be written by two processes at once"):
            again.result()
    run_experiment(BASES, iris(), out=path, **FEW)
    assert [entry.name for entry in tmp_path.iterdir()] == ["curves.jsonl"]


HEADER = {"format": "learning curves of bnmtl, version 1"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        json.dumps(HEADER).encode(),
        json.dumps(HEADER | {"settings": {}, "seed": "1"}).encode(),
        json.dumps(HEADER | {"settings": {}, "seed": 1}).encode() + b'\n{"data": "iris"}\n',
        # Only a last line can be cut by a kill: this one is a note.
        json.dumps(HEADER | {"settings": {}, "seed": 1}).encode() + b"\nmy note\n\n",
    ],
)
def test_foreign_files_are_kept(tmp_path, content):
    path = tmp_path / "curves.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="`out` must be .* which holds something else"):
        run_experiment(BASES, iris(), out=path, **FEW)
    assert path.read_bytes() == content


def test_plans_of_batches_and_first_cases():
    X, y = iris()
    few = {"cv": 2, "random_state": 0}
    curves = run_experiment(BASES, (X, y), first="classes", batch_size=[1, 2, 30], **few)
    assert curves["n_labels"].unique().tolist() == [3, 4, 6, 36]
    named = {"a": (X, y), "b": (X, y)}
    curves = run_experiment(BASES, named, batch_size={"a": 60, "b": [5]}, **few)
    sizes = {name: part["n_labels"].unique().tolist() for name, part in curves.groupby("data")}
    assert sizes == {"a": [5, 65, 75], "b": [5, 10]}
    curves = run_experiment(BASES, (X, y), repeats=2, batch_size=[9], **few)
    assert sorted(curves["trial"].unique()) == list(range(4))
    errors = curves[curves["step"] == 1].pivot(
        index="trial", columns="strategy", values="squared_error"
    )
    assert errors.iloc[:2].to_numpy().tolist() != errors.iloc[2:].to_numpy().tolist()


ASKED = []


class Watched(BootstrapLV):
    """Notes the minority class with which it is asked."""

    def query(self, *arguments, **options):
        ASKED.append(self.minority_class)
        return super().query(*arguments, **options)


def test_the_minority_class_is_that_of_the_first_sample():
    X, y = iris()
    X, codes = X[:100], (y[:100] == "a").astype(int)
    codes[:10] = 1
    ASKED.clear()
    strategies = {"lv": (Watched(n_estimators=3), NAIVE)}
    run_experiment(strategies, {"d": (X, codes)}, batch_size=[3, 3, 3], cv=3, random_state=0)
    folds_seed = int(generator(0, "folds", "d", 0).integers(2**32 - 1))
    folds = StratifiedKFold(3, shuffle=True, random_state=folds_seed).split(X, codes)
    expected = []
    for trial, (pool, _) in enumerate(folds):
        at = generator(0, "first", "d", trial).permutation(len(pool))[:5]
        expected += 3 * [int(codes[pool][at].sum() < 2.5)]
    assert expected == ASKED


def test_the_first_sample_may_have_one_class():
    X, codes = iris()[0][:100], np.zeros(100, dtype=int)
    codes[:8] = 1
    strategies = {"lv": (BootstrapLV(n_estimators=3), NAIVE)}
    curves = run_experiment(strategies, {"d": (X, codes)}, batch_size=[3, 3], cv=4, random_state=0)
    assert curves["n_labels"].max() == 11


@pytest.mark.parametrize("predictor", [NAIVE, LogisticRegression()])
def test_a_predictor_that_knows_one_class_predicts_it(predictor):
    X, codes = iris()[0][:100], np.zeros(100, dtype=int)
    codes[:4] = 1
    strategies = {"random": (RandomQuery(), predictor)}
    curves = run_experiment(strategies, {"d": (X, codes)}, n_labels=6, cv=4, random_state=0)
    start = curves[curves["step"] == 0]
    assert start["error"].tolist() == pytest.approx([1 / 25] * 4)
    assert start["squared_error"].tolist() == pytest.approx([2 / 25] * 4)


def test_seeds_of_numpy_are_seeds(tmp_path):
    path, options = tmp_path / "c.jsonl", FEW | {"random_state": np.int64(0), "cv": np.int64(3)}
    first = run_experiment(BASES, iris(), out=path, **options)
    assert only_numbers(first).equals(only_numbers(finished()[0]))
    with pytest.raises(InputError, match="random_state"):
        run_experiment(BASES, iris(), out=path, **options | {"random_state": np.int64(1)})


def made_curves():
    """Two strategies, three trials, points 5 to 9; the reference errs twice as often at first."""
    rows = []
    for trial in range(3):
        for at, n in enumerate(range(5, 10)):
            errors = {"ours": 0.4 / 2**at, "random": 0.4 - 0.05 * at}
            for strategy, error in errors.items():
                noise = 0.01 * trial * (strategy == "random")
                row = {"data": "d", "strategy": strategy, "trial": trial, "n_labels": n}
                rows.append(row | {"error": error + noise, "n_pool": 90, "n_test": 10})
    curves = pd.DataFrame(rows)
    return curves.assign(squared_error=curves["error"], lift_chart_area=2 - curves["error"])


def test_data_utilization_by_hand():
    found = data_utilization(made_curves(), "random", last=2).set_index("strategy")
    # The reference's last two means are .26 and .21, so the target is .235.
    assert found["target_error"].to_numpy() == pytest.approx(0.235)
    assert found["labels"].to_dict() == {"ours": 6, "random": 9}
    assert found["ratio"].to_dict() == {"ours": 6 / 9, "random": 1}
    never = made_curves()
    never.loc[never["strategy"] == "ours", "error"] = 0.5
    found = data_utilization(never, "random", last=2).set_index("strategy")
    assert np.isnan(found.loc["ours", "labels"])


def drawn_curves(n_trials=6, n_points=10, gain=0.1, seed=0):
    """Two strategies with noise; ours is better at first."""
    rng = np.random.default_rng(seed)
    means = np.linspace(0.4, 0.2, n_points)
    gains = np.stack([np.linspace(gain, 0, n_points), np.zeros(n_points)])
    errors = means - gains[:, None] + 0.03 * rng.normal(size=(2, n_trials, n_points))
    at = pd.MultiIndex.from_product(
        [["ours", "random"], range(n_trials), 5 + np.arange(n_points)],
        names=["strategy", "trial", "n_labels"],
    )
    frame = pd.DataFrame({"error": errors.ravel()}, at).reset_index()
    return frame.assign(data="d", n_pool=90, n_test=10), errors


def by_hand(errors, trials, used):
    """Percents, in units of the mean of the other trials, and differences, by trial."""
    ours, other = errors
    percents, differences = [], []
    for trial in trials:
        others = np.delete(other, trial, axis=0).mean(axis=0)
        difference = other[trial] - ours[trial]
        percents.append(100 * (difference / others)[used].mean())
        differences.append(difference[used].mean())
    return percents, np.array(differences)


def test_improvements_by_hand():
    curves, errors = drawn_curves()
    (row,) = improvement(curves, "random").to_dict("records")
    percents, differences = by_hand(errors, range(6), np.arange(10))
    assert row["percent"] == pytest.approx(np.mean(percents))
    assert row["difference"] == pytest.approx(differences.mean())
    assert row["p"] == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    error = np.sqrt(differences.var(ddof=1) * (1 / 6 + 1 / 9))
    assert row["p_corrected"] == pytest.approx(2 * stats.t.sf(differences.mean() / error, 5))


def test_the_best_points_are_chosen_by_other_trials_than_they_are_judged_by():
    curves, errors = drawn_curves()
    (row,) = improvement(curves, "random", top=0.4).to_dict("records")
    ours, other = errors
    percents, differences, p_values, corrected = [], [], [], []
    for trials, choosers in ((slice(0, 6, 2), slice(1, 6, 2)), (slice(1, 6, 2), slice(0, 6, 2))):
        ratios = 1 - ours[choosers].mean(axis=0) / other[choosers].mean(axis=0)
        used = np.argsort(-ratios, kind="stable")[:4]
        in_percent, by_trial = by_hand(errors, np.arange(6)[trials], used)
        percents += in_percent
        differences += by_trial.tolist()
        p_values.append(stats.ttest_1samp(by_trial, 0).pvalue)
        error = np.sqrt(by_trial.var(ddof=1) * (1 / 3 + 1 / 9))
        corrected.append(2 * stats.t.sf(abs(by_trial.mean()) / error, 2))
    assert row["percent"] == pytest.approx(np.mean(percents))
    assert row["difference"] == pytest.approx(np.mean(differences))
    assert row["p"] == pytest.approx(min(1, 2 * min(p_values)))
    assert row["p_corrected"] == pytest.approx(min(1, 2 * min(corrected)))
    alone = curves[curves["trial"] == 0]
    assert improvement(alone, "random", top=0.4)["percent"].isna().all()
    assert improvement(alone, "random")["percent"].notna().all()


@pytest.mark.parametrize(("top", "noise"), [(0.2, 0.08), (1.0, 0.02)])
def test_equal_curves_are_not_found_to_differ(top, noise):
    """Trials chosen by the same trials: 20 to 60 % of p values below .05, and a mean of 4 %."""
    rng, found = np.random.default_rng(0), []
    means = np.linspace(0.4, 0.2, 12)
    for _ in range(300):
        base, wide = (pd.DataFrame(means + noise * rng.normal(size=(10, 12))) for _ in range(2))
        found.append(_compared(wide, base, -1, top, 1 / 9))
    percents, differences, *p_values = np.array(found).T
    for values in (percents, differences):
        assert abs(values.mean()) < 3 * values.std() / np.sqrt(len(values))
    for p in p_values:
        assert (p < 0.05).mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / len(p))


def test_points_count_by_the_labels_since_the_one_before():
    errors = {"random": [0.5, 0.5, 0.5, 0.5], "ours": [0.5, 0.45, 0.4, 0.3]}
    curves = pd.DataFrame(
        {
            "data": "table",
            "strategy": np.repeat(list(errors), 8),
            "trial": np.tile(np.repeat([0, 1], 4), 2),
            "n_labels": np.tile([5, 10, 20, 60], 4),
            "error": np.concatenate([errors[name] * 2 for name in errors]),
            "n_pool": 90,
            "n_test": 10,
        }
    )
    (row,) = improvement(curves, "random").to_dict("records")
    weights = np.array([5, 5, 10, 40]) / 60
    assert row["percent"] == pytest.approx(weights @ [0, 10, 20, 40])
    assert row["difference"] == pytest.approx(weights @ [0, 0.05, 0.1, 0.2])
    # The last point alone stands for two thirds of the curve.
    (row,) = improvement(curves, "random", top=0.6).to_dict("records")
    assert row["percent"] == pytest.approx(40)
    (row,) = improvement(curves, "random", top=0.8).to_dict("records")
    assert row["percent"] == pytest.approx((40 * 40 + 10 * 20) / 50)


def test_points_of_some_trials_do_not_count():
    """Folds differ by a case: at the last point of one trial, everything is turned around."""
    curves, options = made_curves(), {"reference": "random"}
    late = curves[(curves["trial"] == 1) & (curves["n_labels"] == 9)].assign(n_labels=10)
    late["error"] = late["strategy"].map({"ours": 0.9, "random": 0.01})
    longer = pd.concat([curves, late], ignore_index=True)
    for found in (improvement(longer, **options), improvement(longer, top=0.2, **options)):
        assert found["percent"].item() > 0
        assert found["p"].item() < 0.05
    for measure in (improvement, data_utilization):
        pd.testing.assert_frame_equal(measure(longer, **options), measure(curves, **options))
    shifted = curves.assign(n_labels=curves["n_labels"] + 10 * curves["trial"])
    (row,) = improvement(shifted, **options).to_dict("records")
    assert np.isnan([row["percent"], row["difference"], row["p"], row["p_corrected"]]).all()
    found = data_utilization(shifted, **options)
    assert found["strategy"].tolist() == ["ours", "random"]
    assert found[["target_error", "labels", "ratio"]].isna().all(axis=None)


def test_larger_lift_areas_are_improvements():
    (row,) = improvement(made_curves(), "random", measure="lift_chart_area").to_dict("records")
    assert row["percent"] > 0
    assert row["difference"] > 0
    (row,) = improvement(made_curves(), "ours", measure="lift_chart_area").to_dict("records")
    assert row["percent"] < 0


@pytest.mark.parametrize("measure", [improvement, data_utilization])
def test_a_reference_has_a_curve_on_each_data_set(measure):
    other = made_curves().assign(data="again")
    curves = pd.concat([made_curves(), other[other["strategy"] == "ours"]])
    with pytest.raises(InputError, match="`random` has none on `again`"):
        measure(curves, "random")


def test_equal_strategies_do_not_differ():
    curves = made_curves()
    curves["error"] = 0.3
    (row,) = improvement(curves, "random").to_dict("records")
    assert (row["percent"], row["p"], row["p_corrected"]) == (0, 1, 1)


class Stubborn:
    """Asks for the same row again and again."""

    def query(self, X, y, batch_size=1):
        return [0] * batch_size

    def get_params(self, deep=True):
        return {}

    def set_params(self, **_):
        return self

    def __sklearn_clone__(self):
        return self


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"strategies": {}}, "mapping"),
        ({"strategies": RandomQuery()}, "mapping"),
        ({"strategies": {"r": RandomQuery()}}, "no committee"),
        ({"strategies": {"r": DecorateClassifier()}}, "query"),
        ({"strategies": {"r": (RandomQuery(), NAIVE, {}, 1)}}, "tuple"),
        ({"strategies": {"r": (RandomQuery(), NAIVE, 3)}}, "`query` of `r` as a mapping, got int"),
        ({"strategies": {"r": (RandomQuery(), NAIVE, {"foo": 1})}}, "it has no `foo`"),
        ({"strategies": {"r": (RandomQuery(), NAIVE, {"y": 1})}}, "the experiment sets `y`"),
        ({"strategies": {"r": (Stubborn(), NAIVE)}}, "2 different rows"),
        ({"predictor": "best"}, "own"),
        ({"predictor": 3}, "classifier"),
        ({"data": iris()[0]}, "features and labels"),
        ({"data": {"flowers": (iris()[0], iris()[1][:9])}}, "`flowers`"),
        ({"data": {"flowers": (iris()[0], [None] * 150)}}, "`flowers`"),
        ({"data": {"flowers": (iris()[0], ["a"] * 150)}}, "`flowers`"),
        ({"first": 0}, "first"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": [2, 0]}, "batch_size"),
        ({"batch_size": {"other": 3}}, "data"),
        ({"cv": 51}, "largest class, 50"),
        ({"strategies": {"r": (type("Asks", (), {"query": print})(), NAIVE)}}, "estimator"),
        ({"n_labels": 0}, "n_labels"),
        (
            {"first": 20, "n_labels": 10},
            "`n_labels` must be at least .* 20, which `first` sets, got 10",
        ),
        ({"first": "classes", "n_labels": 2}, "at the start, 3 in `data`, got 2"),
        ({"n_jobs": 1.5}, "`n_jobs` must be"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_impossible_experiments_are_refused(changed, words):
    options = {"strategies": {"b": QueryByBagging(NAIVE)}, "data": iris(), "batch_size": 2}
    with pytest.raises((InputError, InputTypeError), match=words):
        run_experiment(**options | changed)


def test_the_reference_must_be_there():
    for measure in (data_utilization, improvement):
        with pytest.raises(InputError, match="nobody"):
            measure(made_curves(), "nobody")


@pytest.mark.parametrize("measure", [data_utilization, improvement])
@pytest.mark.parametrize(
    ("curves", "words"),
    [
        ([0.1], "got list"),
        (made_curves().drop(columns=["trial", "n_labels"]), "the columns `trial`, `n_labels`"),
        (made_curves().drop(columns="error"), "lacks the column `error`"),
    ],
)
def test_measures_are_of_curves(measure, curves, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        measure(curves, "random")


def test_strategies_of_scikit_activeml_run_here():
    pool, classifier = (
        pytest.importorskip("skactiveml.pool"),
        pytest.importorskip("skactiveml.classifier"),
    )
    theirs = classifier.SklearnClassifier(DecisionTreeClassifier(random_state=0), classes=[0, 1, 2])
    strategies = {
        "uncertainty": (pool.UncertaintySampling(), NAIVE, {"clf": theirs}),
        "random": (pool.RandomSampling(), NAIVE),
        "ours": (QueryByBagging(NAIVE, n_estimators=3), NAIVE),
    }
    few = FEW | {"cv": 2, "n_labels": 13}
    curves = run_experiment(strategies, iris(), **few)
    ends = curves.groupby("strategy")["n_labels"].max().to_dict()
    assert ends == dict.fromkeys(strategies, 13)
    assert only_numbers(curves).equals(only_numbers(run_experiment(strategies, iris(), **few)))


@pytest.mark.parametrize("strategy", [BootstrapJS(random_state=0), RandomQuery(random_state=0)])
def test_ours_run_in_the_loop_of_scikit_activeml(strategy):
    classifier = pytest.importorskip("skactiveml.classifier")
    from skactiveml.utils import MISSING_LABEL, unlabeled_indices

    X, y = load_iris(return_X_y=True)
    known = np.full(len(y), MISSING_LABEL)
    known[[0, 50, 100]] = y[[0, 50, 100]]
    model = classifier.SklearnClassifier(GaussianNB(), classes=np.unique(y))
    for _ in range(6):
        rows, found = strategy.query(X=X, y=known, batch_size=4, return_utilities=True)
        assert found.shape == (4, len(X))
        assert set(rows) <= set(unlabeled_indices(known))
        known[rows] = y[rows]
        model.fit(X, known)
    assert model.score(X, y) > 0.8
    assert len(unlabeled_indices(known)) == len(y) - 27


def test_files_hold_one_line_per_step():
    curves, text = finished()
    _, *lines = map(json.loads, text.splitlines())
    found = pd.DataFrame(lines)[curves.columns]
    keys = ["data", "strategy", "trial", "step"]
    pd.testing.assert_frame_equal(
        found.sort_values(keys, ignore_index=True), curves.sort_values(keys, ignore_index=True)
    )


class Noting(GaussianNB):
    """Notes the cases that it predicts; a pool has none of them."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = set(X[:, 0])
        return super().fit(X, y)

    def predict_proba(self, X):
        TOGETHER.append((self.seen_, set(X[:, 0])))
        return super().predict_proba(X)


TOGETHER = []


@pytest.mark.parametrize("cv", [3, GroupKFold(3), GroupShuffleSplit(3, random_state=0)])
def test_cases_of_a_group_are_in_the_same_fold(cv):
    X, y = iris()
    groups = np.arange(150) % 30
    X = np.column_stack([groups, X])
    options = {"n_labels": 17, "batch_size": 4, "random_state": 0, "cv": cv}
    TOGETHER.clear()
    strategies = {"random": (RandomQuery(), Noting())}
    curves = run_experiment(strategies, (X, y), groups=groups, **options)
    assert TOGETHER and not any(seen & predicted for seen, predicted in TOGETHER)
    assert curves["trial"].nunique() == 3
    texts = {"data": [f"g{group}" for group in groups]}
    named = run_experiment(strategies, {"data": (X, y)}, groups=texts, **options)
    assert named["n_labels"].tolist() == curves["n_labels"].tolist()


def test_splitters_need_what_they_need():
    X, y = iris()
    options = {"strategies": BASES, "data": (X, y), "batch_size": 50}
    with pytest.raises(InputError, match="`groups` must be given for GroupKFold, .* got None"):
        run_experiment(**options, cv=GroupKFold(3))
    with pytest.raises(InputError, match="`repeats` must be 1 with a splitter, got 2"):
        run_experiment(**options, cv=KFold(3), repeats=2)
    with pytest.raises(InputError, match="`cv` must not exceed the number of groups, 2 in `data`"):
        run_experiment(**options, cv=3, groups=np.arange(150) % 2)
    with pytest.raises(InputError, match="`groups` must have one value for each row"):
        run_experiment(**options, groups=[0, 1])
    with pytest.raises(InputError, match="`groups` must have an entry for `a`"):
        run_experiment(BASES, {"a": (X, y), "b": (X, y)}, groups={"b": y})
    with pytest.raises(InputError, match="`cv` must divide `data` into folds; KFold says"):
        run_experiment(**options, cv=KFold(200))
