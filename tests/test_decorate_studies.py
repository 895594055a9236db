"""The studies of DECORATE: damage, members and records by hand, tables from small runs."""

import io
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.io import arff
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline

from benchmarks import study
from benchmarks.decorate import (
    curves,
    few_labels,
    imperfection_tables,
    imperfections,
    margins,
    weka_peer,
)
from benchmarks.decorate.curve_claims import claims, correlations
from benchmarks.decorate.curve_tables import PUBLISHED_VARIANTS, RIVALS
from benchmarks.decorate.curve_values import paired, record
from benchmarks.decorate.learners import (
    MAX_ITERATIONS,
    METHODS,
    SIZE,
    DrawnGaps,
    Indicators,
    fitted,
    tree,
)
from bnmtl.seeding import generator

pytestmark = pytest.mark.beside_kernels


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    kinds = pd.Categorical.from_codes(rng.integers(-1, 2, n), ["a", "b", "c"])
    return pd.DataFrame({"size": rng.normal(size=n), "kind": kinds, "age": rng.normal(5, 2, n)})


def test_nominal_columns_have_an_indicator_for_each_declared_value_and_for_gaps():
    rows = frame().assign(size=[np.nan, *frame()["size"][1:]])
    found = Indicators().fit(rows).transform(rows)
    assert found.shape == (60, 1 + 4 + 1)
    assert np.isnan(found[0, 0])
    assert (found[:, 1:5].sum(axis=1) == 1).all()
    assert (found[:, 4] == rows["kind"].isna()).all()
    assert (found[:, 2] == (rows["kind"] == "b")).all()
    np.testing.assert_allclose(found[:, 5], rows["age"], rtol=1e-6)


def test_damage_is_as_much_as_the_level_says():
    whole, rng = frame(2000), np.random.default_rng(0)
    for damage in (imperfections.with_gaps, imperfections.with_noise):
        pd.testing.assert_frame_equal(damage(whole, 0, whole, rng), whole)
    complete = whole.fillna({"kind": "a"})
    gaps = imperfections.with_gaps(complete, 20, complete, rng)
    # Draws are with replacement: of 1200 draws, 1 - exp(-.2) of the cells are hit.
    assert gaps.isna().to_numpy().mean() == pytest.approx(1 - np.exp(-0.2), abs=0.02)
    noisy = imperfections.with_noise(complete, 20, complete, rng)
    changed = (noisy["size"] != complete["size"]).mean()
    assert changed == pytest.approx(1 - np.exp(-0.2), abs=0.03)
    assert noisy["size"].std() == pytest.approx(complete["size"].std(), rel=0.1)
    drawn = noisy["size"][noisy["size"] != complete["size"]]
    assert drawn.is_unique and drawn.std() == pytest.approx(complete["size"].std(), rel=0.15)
    assert set(noisy["kind"]) == {"a", "b", "c"}  # declared, though it does not occur
    assert (noisy["kind"] != complete["kind"]).mean() < changed


def test_other_classes_are_all_alike():
    labels = np.zeros(3000, dtype=int)
    changed = imperfections.with_other_classes(labels, 20, 4, np.random.default_rng(0))
    shares = np.bincount(changed, minlength=4) / 3000
    np.testing.assert_allclose(shares[1:], shares[1:].mean(), atol=0.03)
    assert shares[0] == pytest.approx(np.exp(-0.2), abs=0.03)
    two = imperfections.with_other_classes(labels, 5, 2, np.random.default_rng(0))
    assert 0 < two.sum() <= 150


@pytest.mark.parametrize("method", ["bagging", "AdaBoost", "DECORATE"])
def test_members_are_those_of_the_ensemble(method):
    X, y = frame(), np.random.default_rng(1).choice([0, 2, 3], 60)
    model = fitted(method, X, y, 0)
    members = curves.members_of(model, X, np.arange(4))
    assert members.shape[1:] == (60, 4)
    assert not members[:, :, 1].any()
    np.testing.assert_allclose(members.sum(axis=2), 1)
    if method != "AdaBoost":
        p = model.predict_proba(X)
        np.testing.assert_allclose(members.mean(axis=0)[:, [0, 2, 3]], p)
    else:
        inner = model[-1]
        labels = inner.estimators_[1].predict(model[:-1].transform(X))
        assert (members[1].argmax(axis=1) == labels).all()


def test_a_boosted_ensemble_without_votes_is_its_first_member():
    X, y = frame(9), np.arange(9)  # two cases in a leaf of nine classes
    model = fitted("AdaBoost", X, y, 0)
    inner, rows = model[-1], Indicators().transform(X)
    assert inner.estimator_weights_.tolist() == [1.0] + [0.0] * 14
    assert (model.predict(X) == inner.estimators_[0].predict(rows)).all()
    assert len(curves.members_of(model, X, np.arange(9))) == 1


def test_diversity_is_the_disagreement_with_what_the_ensemble_predicts():
    X, y = frame(80), np.random.default_rng(1).choice(3, 80)
    for method in ("AdaBoost", "bagging"):
        model = fitted(method, X, y, 0)
        members = curves.members_of(model, X, np.arange(3)).argmax(axis=2)
        found = curves._measured(model, X, y, 3)
        expected = (members != model.predict(X)).mean()
        assert found["diversity"] == pytest.approx(expected, abs=1e-5) and expected > 0


def test_cases_drawn_twice_count_as_two_in_a_leaf():
    X, y = frame(30), np.arange(30) % 2
    model = fitted("bagging", X, y, 0)
    for number, member in enumerate(model.estimators_[:3]):
        rows = generator(0, "bootstrap", number).integers(30, size=30)
        leaves = member.apply(Indicators().transform(X.iloc[rows]))
        assert np.bincount(leaves)[np.unique(leaves)].min() == 2


def test_other_models_have_no_members():
    X, y = frame(), np.arange(60) % 2
    assert curves.members_of(fitted("tree", X, y, 0), X, np.arange(2)) is None
    constant = fitted("DECORATE", X, np.zeros(60, int), 0)
    assert isinstance(constant, DummyClassifier)
    assert curves.members_of(constant, X, np.arange(2)) is None


def test_errors_of_members_are_averaged():
    X, y = frame(), np.random.default_rng(1).integers(3, size=60)
    model = fitted("DECORATE", X[:30], y[:30], 0)
    found = curves._measured(model, X[30:], y[30:], 3)
    members = model.member_probabilities(X[30:]).argmax(axis=2)
    assert found["n_members"] == len(members) > 1
    assert found["member_error"] == pytest.approx((members != y[30:]).mean(), abs=1e-5)
    assert found["error"] == pytest.approx((model.predict(X[30:]) != y[30:]).mean(), abs=1e-5)


def test_every_method_learns_from_mixed_frames():
    X, y = frame(), np.arange(60) % 3
    for method in METHODS:
        model = fitted(method, X, y, 0, unlabeled=frame(20, 3) if method == "unlabeled" else None)
        assert model.predict_proba(X).shape == (60, 3)


def invented(errors, **more):
    """Lines of methods with errors by table."""
    return pd.DataFrame(
        [
            {"table": table, "repeat": repeat, "method": method, "error": {"20%": folds}} | more
            for (method, table, repeat), folds in errors.items()
        ]
    )


def test_a_record_counts_tables_and_tests_folds():
    rng = np.random.default_rng(0)
    base = {("tree", f"t{at}", 0): rng.uniform(0.2, 0.3, 10).tolist() for at in range(4)}
    shifts = {"t0": -0.1, "t1": 0.001, "t2": 0.0, "t3": -0.02}
    ours = {
        ("DECORATE", table, 0): [
            one + shift + (0.02 * rng.normal() if shift else 0) for one in base["tree", table, 0]
        ]
        for table, shift in shifts.items()
    }
    lines = invented(base | ours)
    found = record(lines, "DECORATE", "tree", "20%")
    signs, significant, logs = [], [], []
    for table in shifts:
        a, b = (
            np.array(kind[name, table, 0]) for kind, name in ((ours, "DECORATE"), (base, "tree"))
        )
        signs.append(np.sign(round((b - a).mean(), 12)))
        p = stats.ttest_rel(a, b).pvalue if table != "t2" else 1.0
        significant.append(signs[-1] * (p < 0.05))
        logs.append(np.log(a.mean() / b.mean()))
    assert (found.wins, found.draws, found.losses) == tuple(signs.count(one) for one in (1, 0, -1))
    assert found.draws == 1
    assert found.significant == (significant.count(1), significant.count(-1))
    assert found.corrected[0] <= found.significant[0]
    assert found.ratio == pytest.approx(np.exp(np.mean(logs)))
    assert found.texts()[0] == f"{found.wins}/1/{found.losses}"
    turned = record(lines, "tree", "DECORATE", "20%")
    assert (turned.wins, turned.losses) == (found.losses, found.wins)


def test_only_folds_of_both_are_compared():
    lines = invented(
        {("a", "t", 0): [0.1, 0.2], ("a", "t", 1): [0.3, 0.4], ("b", "t", 1): [0.5, 0.6]}
    )
    ours, other = paired(lines, "a", "b", "20%")["t"]
    assert (ours.tolist(), other.tolist()) == ([0.3, 0.4], [0.5, 0.6])
    assert record(lines, "a", "c", "20%").n == 0
    gaps = invented({("a", "t", 0): [0.1, np.nan], ("b", "t", 0): [0.5, 0.6]})
    assert record(gaps, "a", "b", "20%").n == 0


def test_diversity_is_compared_and_goes_with_what_it_explains():
    rng = np.random.default_rng(0)
    rows = []
    for table in ("anneal", "iris", "labor"):
        spread = rng.uniform(0.1, 0.4, 10)
        errors = rng.uniform(0.1, 0.3, 10)
        for method, more in (("DECORATE", 0.2), ("bagging", 0.0), ("tree", 0.0)):
            some = errors + 0.01 * rng.normal(size=10)
            values = {"error": some, "diversity": spread + more + 0.01 * rng.normal(size=10)}
            # Members err more the more diverse they are, whatever the ensemble does.
            values["member_error"] = some + values["diversity"]
            points = dict.fromkeys(("20%", "100%", "10 cases"))
            line = {"table": table, "repeat": 0, "method": method, "most_frequent": 0.5}
            rows.append(
                line | {name: {p: one.tolist() for p in points} for name, one in values.items()}
            )
    lines = pd.DataFrame(rows)
    found = correlations(lines)
    assert found["members"] == (pytest.approx(1), 60)
    alone = lines[lines["method"] == "DECORATE"].assign(repeat=-1)  # the base has no such lines
    alone["diversity"] = [
        {p: [0.2 + 0.01 * at] * 10 for p in one} for at, one in enumerate(alone["diversity"])
    ]
    assert correlations(pd.concat([alone, lines])) == found
    made = curves.tables(lines)
    assert "| bagging | 3/0/0 |" in made["decorate_curves_diversity"]
    (row,) = [one for one in made["decorate_curves_accuracy"].split("\n") if "| labor |" in one]
    labor = lines[(lines["table"] == "labor") & (lines["method"] == "DECORATE")]
    accuracy = 100 * (1 - np.mean(labor["error"].iloc[0]["20%"]))
    assert f"| 50.0 |  /  /  /  /  |  /  /  /  /  | {accuracy:.1f} / " in row


def test_claims_of_learning_curves_are_tested_over_tables():
    rng = np.random.default_rng(0)
    levels = {"DECORATE": 0.2, "tree": 0.3, "AdaBoost": 0.22, "pool": 0.2, "unlabeled": 0.25}
    levels |= {"uniform": 0.24, "no rejection": 0.2, "network": 0.2}

    def verdicts(**more):
        errors = {
            (method, table, 0): (level + 2e-3 * rng.normal(size=10)).tolist()
            for method, level in (levels | more).items()
            for table in ("anneal", "iris", "labor", "splice")
        }
        if "no rejection" not in more:
            errors["no rejection", "splice", 0] = [one + 0.03 for one in [0.2] * 10]
        lines = invented(errors, diversity={}, member_error={})
        lines["error"] = lines["error"].map(lambda one: dict.fromkeys(("20%", "100%"), one["20%"]))
        return {one.text: one.verdict() for one in claims(lines)}

    found = verdicts()
    for text in (
        "better than tree with few cases",
        "unlabeled cases beat the base",
        "but not artificial cases, which are better",
        "the marginals are better than uniform cases",
        "a pool is as good as fresh cases (at most 2 % more errors)",
        "but not on splice (error ratio)",
    ):
        assert found[text] == "yes", text
    # One of four tables has a larger error.
    assert found["rejection harmless to drop on average (at most 2 % more errors)"] == "not decided"
    assert found["cases from a learned network are better"] == "no"
    assert found["AdaBoost ahead with all cases on average"] == "no"
    assert found["with all cases, level with AdaBoost on most tables"] == "no"
    found = verdicts(**{"no rejection": 0.22, "pool": 0.24, "network": 0.18, "uniform": 0.19})
    assert found["rejection harmless to drop on average (at most 2 % more errors)"] == "no"
    assert found["a pool is as good as fresh cases (at most 2 % more errors)"] == "no"
    assert found["cases from a learned network are better"] == "yes"
    assert found["the marginals are better than uniform cases"] == "no"


def test_the_number_of_artificial_cases_is_judged():
    rng = np.random.default_rng(0)
    levels = {"DECORATE": 0.2, "size 0.1": 0.25, "size 0.5": 0.2, "size 0.9": 0.201}
    levels["tree"] = 0.3

    def found(**more):
        errors = {
            (method, table, 0): (level + 1e-4 * rng.normal(size=10)).tolist()
            for method, level in (levels | more).items()
            for table in ("anneal", "iris", "labor")
        }
        return invented(errors, most_frequent=0.5, diversity={}, member_error={})

    lines = found()
    table = curves.tables(lines)["decorate_curves_artificial"].split("\n")[2]
    cells = table.strip("| ").split(" | ")
    assert cells[0] == "20%" and cells[-1] == "1"
    np.testing.assert_allclose([float(one) for one in cells[1:4]], [1.25, 1, 1.005], atol=0.002)
    alike = "half an artificial case per case as good as one (at most 2 % more errors)"
    hurts = "fewer artificial cases hurt (one per ten cases against one per case)"
    verdicts = [
        {one.text: one.verdict() for one in claims(some)}
        for some in (lines, found(**{"size 0.1": 0.19}), found(**{"size 0.5": 0.24}))
    ]
    assert [one[hurts] for one in verdicts] == ["yes", "no", "yes"]
    assert [one[alike] for one in verdicts] == ["yes", "yes", "no"]


def test_claims_of_imperfect_data_follow_the_ratios():
    rng = np.random.default_rng(0)
    rows = [
        {"kind": kind, "table": table, "repeat": 0, "method": method}
        | {"error": {at: (level + 0.001 * rng.normal(size=10)).tolist() for at in ("0", "10")}}
        for kind in imperfections.KINDS
        for table in ("t0", "t1", "t2")
        for method, level in (
            ("tree", 0.3),
            ("DECORATE", 0.2),
            ("bagging", 0.25),
            ("AdaBoost", 0.4),
        )
    ]
    found = {one.text: one.verdict() for one in imperfection_tables.claims(pd.DataFrame(rows))}
    assert found["most robust to missing features"] == "yes"
    assert found["DECORATE robust to class noise"] == "yes"
    assert found["AdaBoost worse than its base from 10 % class noise on"] == "yes"
    assert found["AdaBoost better than its base with feature noise"] == "no"
    text = "bagging significantly better than the base most often, feature noise"
    assert found[text] == "no"
    others = pd.DataFrame(rows).query("method != 'bagging'")
    others = others.replace({"method": {"DECORATE": "bagging"}})
    found = {one.text: one.verdict() for one in imperfection_tables.claims(others)}
    assert found[text] == "yes"
    made = imperfections.tables(pd.DataFrame(rows))["decorate_imperfections_rivals"]
    (row,) = [one for one in made.split("\n") if one.startswith("| class noise | AdaBoost |")]
    assert row.count("3/0/0") == 2 and float(row.strip("| ").split(", ")[-1]) == pytest.approx(
        0.5, abs=0.01
    )
    figure = imperfections.draw(pd.DataFrame(rows))
    assert figure.axes[0].lines[0].get_xdata().tolist() == [0, 10]
    (figure,) = imperfections.more_pictures(pd.DataFrame(rows)).values()
    assert [axes.get_title() for axes in figure.axes[:3]] == [*imperfections.KINDS]
    iris = pd.DataFrame(rows).replace({"table": {"t0": "iris"}})
    shown = imperfections.draw(iris)
    titles = [axes.get_title() for axes in shown.axes]
    assert [one for one in titles if one] == ["missing features, iris", "feature noise, iris"]
    made = imperfections.tables(pd.DataFrame(rows))["decorate_imperfections_accuracy"]
    (row,) = [one for one in made.split("\n") if one.startswith("| class noise | t1 |")]
    found = [float(one) for one in row.split(" | ")[2].split(" / ")]
    assert found == pytest.approx([70, 80, 75, 60], abs=0.2)
    made = imperfections.tables(pd.DataFrame(rows))
    assert "| class noise | AdaBoost, published | 0.869 | 1.098 |" in made["decorate_imperfections"]
    means = made["decorate_imperfections_means"]
    assert "| class noise | tree | 70.0 (81.7) | 70.0 (80.1) |" in means
    claim = made["decorate_imperfections_claims"].split("\n")[-1]
    assert "| 10 % DECORATE = bagging |" in claim


@pytest.fixture(scope="module")
def lines():
    """A small run of the learning curves."""
    found = []
    for case in curves.plan(True):
        settings = {name: value for name, value in case.items() if name != "wanted"}
        measured = curves.measure(**case)
        found += [settings | {"method": name} | line for name, line in measured.items()]
    return pd.DataFrame(found)


def test_learning_curves_have_tables_pictures_and_claims(lines):
    made = curves.tables(lines)
    assert set(made) == {
        "decorate_curves",
        "decorate_curves_accuracy",
        "decorate_curves_artificial",
        "decorate_curves_variants",
        "decorate_curves_diversity",
        "decorate_curves_full_size",
        "decorate_curves_claims",
    }
    assert "published ratio" in made["decorate_curves"]
    _, _, rest = made["decorate_curves_variants"].partition("| unlabeled | DECORATE |")
    assert rest.splitlines()[1].startswith("| unlabeled | published ratio |")
    assert {("no rejection", rival) for rival in RIVALS} - {*PUBLISHED_VARIANTS} == {
        ("no rejection", "forest")
    }
    assert curves.draw(lines).axes
    assert set(curves.more_pictures(lines)) == {"decorate_curves-diversity"}  # of one table
    assert curves.tables(lines[:0]) == {}
    assert set(correlations(lines)) == {"members", "base"}
    texts = [one.text for one in claims(lines)]
    assert texts[-1] == "diversity goes with error reduction, against that of the base"
    assert texts[0] == "with all cases, level with AdaBoost on most tables"


def test_errors_of_a_line_are_those_of_its_folds(lines):
    (line,) = lines[lines["method"] == "tree"].to_dict("records")
    X, y, _ = curves.read(curves.QUICK)
    state = int(curves.generator(0, "folds", curves.QUICK, 0).integers(2**32 - 1))
    folds = curves.StratifiedKFold(3, shuffle=True, random_state=state).split(X, y)
    for fold, (pool, test) in enumerate(folds):
        names = (curves.QUICK, 0, fold)
        order = curves.generator(0, "order", *names).permutation(pool)[:20]
        seed = int(curves.generator(0, "method", *names).integers(2**31 - 1))
        model = make_pipeline(Indicators(), tree(seed=seed)).fit(X.iloc[order], y[order])
        error = np.mean(model.predict(X.iloc[test]) != y[test])
        assert line["error"]["20%"][fold] == pytest.approx(error, abs=1e-5)


def test_drawn_gaps_say_nothing_of_the_class():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = pd.DataFrame({"number": rng.normal(size=400), "kind": pd.Categorical(["a", "b"] * 200)})
    X.loc[:199, "number"] = np.nan
    X.loc[200:, "kind"] = None
    model, again = (DrawnGaps(random_state=0).fit(X, y) for _ in range(2))
    p = model.predict_proba(X)
    assert np.array_equal(p, again.predict_proba(X)) and np.array_equal(model.classes_, [0, 1])
    seen = make_pipeline(Indicators(), tree(seed=0)).fit(X, y)
    assert (seen.predict(X) == y).all() and (model.predict(X) == y).mean() < 0.85
    complete = X.assign(number=np.where(y == 1, 1.0, -1.0), kind=pd.Categorical(["a"] * 400))
    complete.loc[:9, "number"] = np.nan
    model = DrawnGaps(random_state=0).fit(complete, y)
    assert (model.predict(complete[10:]) == y[10:]).all()
    assert complete["number"].isna().sum() == 10


def test_imperfect_data_have_tables_and_a_picture():
    found = []
    for case in imperfections.plan(True):
        settings = {name: value for name, value in case.items() if name != "wanted"}
        measured = imperfections.measure(**case)
        found += [settings | {"method": name} | line for name, line in measured.items()]
    lines = pd.DataFrame(found)
    made = imperfections.tables(lines)
    names = ("", "_accuracy", "_means", "_rivals", "_claims")
    assert set(made) == {f"decorate_imperfections{name}" for name in names}
    titles = [axes.get_title() for axes in imperfections.draw(lines).axes[:3]]
    assert [one.split(",")[0] for one in titles] == [*imperfections.KINDS]
    by = {(line["kind"], line["method"]): line["error"] for line in found}
    clean = {kind: by[kind, "tree"]["0"] for kind in imperfections.KINDS}
    assert clean["class noise"] == clean["missing features"] == clean["feature noise"]


def test_rows_are_written_for_weka():
    X, y = frame(), np.arange(60) % 2
    text = weka_peer.as_arff(X, y, np.arange(10, 30))
    read, meta = arff.loadarff(io.StringIO(text))
    assert meta.types() == ["numeric", "nominal", "numeric", "nominal"]
    np.testing.assert_array_equal(read["a0"], X["size"][10:30])
    known = ["?" if pd.isna(one) else f"v{'abc'.index(one)}" for one in X["kind"][10:30]]
    assert [one.decode() for one in read["a1"]] == known
    assert [one.decode() for one in read["class"]] == [f"c{one}" for one in y[10:30]]


def test_gains_over_the_base_are_compared():
    errors = {("tree", 0.3), ("DECORATE", 0.2), ("J48", 0.25), ("Decorate of Weka", 0.2)}
    rng = np.random.default_rng(0)
    lines = pd.DataFrame(
        [
            {
                "table": table,
                "method": method,
                "error": (error + 0.01 * rng.normal(size=10)).tolist(),
            }
            for table in ("t0", "t1", "t2")
            for method, error in sorted(errors)
        ]
    )
    made = weka_peer.tables(lines)["weka_peer"]
    (row,) = [one for one in made.splitlines() if "| t1 |" in one]
    by = lines[lines["table"] == "t1"].set_index("method")["error"].map(np.array)
    ours, theirs = by["tree"] - by["DECORATE"], by["J48"] - by["Decorate of Weka"]
    assert f"{100 * ours.mean():+.1f} | {100 * theirs.mean():+.1f} |" in row
    difference = ours - theirs
    # Training sets overlap: the variance of the mean is 1/10 + 1/9 of that of a fold.
    t = difference.mean() / np.sqrt(difference.var(ddof=1) * (1 / 10 + 1 / 9))
    assert float(row.strip("| ").split(" | ")[-1]) == pytest.approx(
        2 * stats.t.sf(abs(t), 9), abs=0.006
    )
    assert "mean difference" in made
    assert len(made.splitlines()) == 2 + 3 + 1
    assert weka_peer.tables(lines[:0]) == {}


def test_weka_is_skipped_where_it_is_missing(monkeypatch, capsys):
    monkeypatch.delenv("WEKA_JAR", raising=False)
    for quick in (True, False):
        methods = {name for case in weka_peer.plan(quick) for name in case["wanted"]}
        assert {"tree", "DECORATE"} <= methods
        assert not methods & {*weka_peer.WEKA, *weka_peer.FOLDS_OF_WEKA}
    weka_peer.check_needs([], [])
    assert capsys.readouterr().out.startswith("Weka is skipped: `--jar`")


def test_the_file_of_weka_is_an_option(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("WEKA_JAR", "")
    with pytest.raises(SystemExit):
        study.main(weka_peer.__name__, ["--quick", "--out", str(tmp_path), "--jar", "none.jar"])
    assert "must name the file weka.jar, got 'none.jar'" in capsys.readouterr().err


def test_weka_gets_the_size_and_the_iterations_of_ours(monkeypatch):
    commands = []

    def run(command, **given):
        commands.append(command)
        lines = "Incorrectly Classified Instances  2  5 %\nIncorrectly Classified Instances  6  9 %"
        return subprocess.CompletedProcess(command, 0, stdout=lines)

    monkeypatch.setattr(weka_peer.subprocess, "run", run)
    X, y = frame(), np.arange(60) % 2
    rows = np.arange(40), np.arange(40, 60)
    # The first number is of the training cases.
    assert weka_peer._by_weka("Decorate of Weka", X, y, rows, 3) == 6 / 20
    assert weka_peer._by_weka("J48", X, y, rows, 3) == 6 / 20
    assert weka_peer._by_weka_folds("Decorate of Weka", X, y) == 6 / 60
    text = [" ".join(map(str, command)) for command in commands]
    assert [f"-E {SIZE} -I {MAX_ITERATIONS}" in one for one in text] == [True, False, True]
    assert text[0].endswith("-v -S 3") and text[2].endswith("-x 10 -s 1")


def test_what_weka_is_known_to_have_on_labor_stands_beside(monkeypatch):
    lines = [
        {"table": "labor", "method": f"{method}, folds of Weka", "error": [error]}
        for method, error in (("J48", 15 / 57), ("Decorate of Weka", 5 / 57))
    ]
    made = weka_peer.tables(pd.DataFrame(lines))["weka_peer_labor"]
    assert "| J48 | 73.7000 | 73.7 |" in made or "| J48 | 73.7 | 73.7 |" in made
    assert "| Decorate of Weka | 91.2 | 91.2 |" in made
    monkeypatch.setattr(weka_peer, "jar", lambda: "weka.jar")
    planned = {case["table"]: case["wanted"] for case in weka_peer.plan(False)}
    assert {*weka_peer.FOLDS_OF_WEKA} <= {*planned["labor"]}
    assert not {*weka_peer.FOLDS_OF_WEKA} & {*planned["iris"]}


def run(module, cases):
    """Lines of a study."""
    return pd.DataFrame(
        {name: value for name, value in case.items() if name != "wanted"}
        | {module.SETTINGS[-1]: last}
        | line
        for case in cases
        for last, line in module.measure(**case).items()
    )


def test_few_labels_are_drawn_and_the_others_predicted(monkeypatch):
    monkeypatch.setattr(few_labels, "MOST_TEST_CASES", 50)
    draws = few_labels.draws_of(few_labels.QUICK, 30, 2)
    monkeypatch.setattr(few_labels, "draws_of", lambda table, labels: draws)
    lines = run(few_labels, few_labels.plan(True))
    assert set(lines["method"]) == {few_labels.FULL, few_labels.OF_FULL}
    X, y = few_labels.read(few_labels.QUICK)
    codes = np.unique(y, return_inverse=True)[1]
    seed = int(generator(0, few_labels.FULL, few_labels.QUICK, 30, 1).integers(2**31 - 1))
    train, test = draws[1]
    assert len(train) == 30 and len(test) == 50 and not set(train) & set(test)
    model = few_labels.METHODS[few_labels.FULL](seed).fit(X.iloc[train], codes[train])
    right = model.predict(X.iloc[test]) == codes[test]
    line = lines.set_index("method").loc[few_labels.FULL]
    assert line["accuracy"][1] == pytest.approx(right.mean(), abs=1e-5)
    # A full tree is sure of everything, so its log loss is that of the least probability.
    assert line["log_loss"][1] == pytest.approx(-np.log(0.001) * (1 - right.mean()), abs=1e-4)
    few_labels.check_needs(few_labels.plan(True), lines.to_dict("records"))
    with pytest.raises(ValueError, match="another version"):
        few_labels.check_needs(few_labels.plan(True), [{"table": few_labels.QUICK, "data": "0"}])


def test_few_labels_are_compared_over_tables():
    values = {
        few_labels.OF_FULL: ([0.9, 0.8], [0.7, 0.7]),
        few_labels.FULL: ([0.7, 0.6], [0.7, 0.8]),
    }
    lines = pd.DataFrame(
        {"table": table, "labels": 30, "method": method, "accuracy": draws}
        | {"log_loss": draws, "squared_error": draws}
        for method, both in values.items()
        for table, draws in zip("ab", both, strict=True)
    )
    (found,) = few_labels.against(lines, "accuracy", few_labels.OF_FULL, few_labels.FULL).values()
    assert found == pytest.approx((0.075, 0.125, 1, 1, 0))
    made = few_labels.tables(lines)
    assert (
        "| DECORATE of full trees | full tree (gini) | +7.5 ± 12.5 | 1/1/0 |"
        in (made["decorate_few_labels_against"])
    )
    assert "| DECORATE of full trees | 77.5 |" in made["decorate_few_labels"]
    assert few_labels.tables(lines[:0]) == margins.tables(lines[:0]) == {}


def test_margins_are_compared_with_random_cases():
    lines = run(margins, margins.plan(True))
    assert lines["n_labels"].tolist() == 2 * [[10, 20]]
    assert np.shape(lines["error"][0]) == (2, 2)
    # The first labels are the same.
    assert [one[0] for one in lines["error"][0]] == [one[0] for one in lines["error"][1]]
    errors = margins.mean_errors(lines)
    expected = {
        line.strategy: np.mean([one[1] for one in line.error]) for line in lines.itertuples()
    }
    assert errors.loc[margins.QUICK].to_dict() == pytest.approx(expected)
    assert margins.MARGIN in margins.tables(lines)["decorate_margins"]
