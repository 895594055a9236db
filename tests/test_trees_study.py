"""The study of probability trees: measures by hand, shares held out, tables and claims."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from benchmarks.trees import mob_esp, mob_esp_tables
from benchmarks.trees.mob_esp_claims import CLAIMS, claims
from benchmarks.trees.mob_esp_tables import B_PETS, EB_PETS, MEASURES, MOB_ESP, NETWORK, NOTHING

pytestmark = pytest.mark.beside_kernels


def test_measures_by_hand():
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


def test_shares_are_held_out_alike():
    once, again = (mob_esp.holdouts_of("glass", 214) for _ in range(2))
    assert len(once) == 100
    for (train, test), (other_train, other_test) in zip(once, again, strict=True):
        assert np.array_equal(test, other_test) and np.array_equal(train, other_train)
        assert len(test) == 22 and not set(test) & set(train)
    assert len(mob_esp.holdouts_of("sick", 3772)) == 30
    assert len(mob_esp.holdouts_of("nursery", 12960)) == 10


def test_shared_trees_are_those_of_separate_fits():
    X, y = make_classification(90, 5, n_informative=3, n_classes=3, random_state=0)
    frame, forests = pd.DataFrame(X, columns=list("abcde")), {}
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "x", "z"))
    for gaps in (False, True):
        if gaps:
            frame.loc[::9, "a"], forests = np.nan, {}
        for name, make in mob_esp.METHODS.items():
            if name != NETWORK:
                model = mob_esp.fitted(make(3), frame[:60], y[:60], forests)
                alone = make(3).fit(frame[:60], y[:60])
                same = model.predict_proba(frame[60:]) == alone.predict_proba(frame[60:])
                assert same.all(), name
        assert len(forests) == 2


def test_every_method_has_a_case_on_every_table():
    cases = mob_esp.plan(False)
    assert [case["wanted"] for case in cases] == [list(mob_esp.METHODS)] * len(mob_esp.TABLES)
    assert len(set(mob_esp.TABLES)) == 45
    assert {one for pair in mob_esp_tables.PAIRS for one in pair} == set(mob_esp.METHODS)


@pytest.mark.parametrize("method", [one for one in mob_esp.METHODS if one != NOTHING])
def test_methods_have_a_seed(method):
    parameters = mob_esp.METHODS[method](7).get_params()
    states = [value for name, value in parameters.items() if name.endswith("random_state")]
    assert states and set(states) == {7}


@pytest.mark.parametrize("method", [one for one in mob_esp.METHODS if one != NOTHING])
def test_methods_predict_all_classes(method):
    X, y = make_classification(90, 5, n_informative=3, n_classes=3, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "x", "z"), ["x", "z", "never"])
    frame.loc[::9, "a"] = np.nan
    model = mob_esp.METHODS[method](3).fit(frame[:60], y[:60])
    p = model.predict_proba(frame[60:])
    assert p.shape == (30, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == y[60:]).mean() > 0.4


def test_knowing_nothing_gives_the_class_shares():
    frame, y = pd.DataFrame({"a": np.arange(5.0)}), np.array([0, 0, 0, 1, 2])
    p = mob_esp.fitted(mob_esp.METHODS[NOTHING](0), frame, y, {}).predict_proba(frame[:2])
    np.testing.assert_allclose(p, [[0.6, 0.2, 0.2]] * 2)


def test_calibrated_forests_use_cases_out_of_the_bag():
    X, y = make_classification(300, 8, n_informative=2, flip_y=0.4, random_state=0)
    forest = mob_esp.CalibratedForest(0).fit(X[:150], y[:150])
    losses = [
        np.mean((one.predict_proba(X[150:])[:, 1] - y[150:]) ** 2)
        for one in (forest, forest._forest)
    ]
    assert losses[0] < losses[1] + 0.005
    sure = np.abs(forest.predict_proba(X[:150]) - 0.5).max()
    assert sure < np.abs(forest._forest.predict_proba(X[:150]) - 0.5).max()


def invented(levels, tables="abcdefgh", n=5):
    rng = np.random.default_rng(0)
    rows = []
    for method, level in levels.items():
        for at, table in enumerate(tables):
            values = (level + 0.01 * at + 0.001 * rng.normal(size=n)).round(6).tolist()
            worse = [1 - one for one in values]
            rows.append(
                {"table": table, "method": method, "clipped": [0.01] * n}
                | {name: values if sign < 0 else worse for name, sign in MEASURES.items()}
            )
    return pd.DataFrame(rows)


def test_tables_follow_the_values():
    levels = {name: one for name, one in LEVELS.items() if "no out-of-bag" not in name}
    lines = invented(levels | {NOTHING: 0.3})
    made = mob_esp.tables(lines)
    rows = {line.split(" | ")[0].strip("| "): line for line in made["mob_esp"].splitlines()}
    cells = rows[MOB_ESP].strip("| ").split(" | ")
    assert float(cells[1]) == pytest.approx(0.12 + 0.035, abs=0.001)
    assert (cells[2], cells[8]) == ("1.0", "1.0")
    assert rows[f"{B_PETS}, random features"].strip("| ").split(" | ")[2] == "7.0"
    assert rows["p of Friedman's test"].count("e-") >= 4
    # What knowing nothing gives has no rank, and does not make methods differ.
    cells = rows[NOTHING].split(" | ")
    assert float(cells[1]) == pytest.approx(0.3 + 0.035, abs=0.001) and cells[2] == ""
    made_without = mob_esp.tables(invented(levels))["mob_esp"]
    assert rows["p of Friedman's test"] in made_without.replace("\n", " \n")
    pairs = made["mob_esp_records"].splitlines()
    (first,) = [one for one in pairs if one.startswith(f"| {EB_PETS} | {B_PETS} |")]
    assert first.count("8/0/0 (8:0, 8:0)") == 5
    assert "MOB-ESP is better on 8 of 8" in mob_esp_tables.draw(lines).axes[0].get_title()
    assert mob_esp.tables(lines[:0]) == {}
    assert "mob_esp_claims" in mob_esp.tables(lines)
    assert "mob_esp_claims" not in mob_esp.tables(invented(levels, "abc"))


LEVELS = {
    B_PETS: 0.2,
    f"{B_PETS}, out-of-bag cases": 0.15,
    f"{B_PETS}, no smoothing": 0.19,
    f"{B_PETS}, random features": 0.21,
    EB_PETS: 0.14,
    f"{EB_PETS}, smoothing": 0.16,
    f"{EB_PETS}, no out-of-bag cases": 0.13,
    MOB_ESP: 0.12,
}
# Enough tables for small p values after Holm's correction.
MANY = "abcdefghijklmnopqrst"


def verdicts(lines):
    return {one.text: one.verdict() for one in claims(lines)}


def test_claims_follow_the_values():
    found = verdicts(invented(LEVELS, MANY))
    assert found["EB-PETs better than B-PETs"] == "yes"
    assert found["MOB-ESP better than EB-PETs on average"] == "yes"
    assert found["EB-PETs better than MOB-ESP"] == "no"
    assert found["out-of-bag cases help B-PETs on average"] == "yes"
    assert found["more than dropping the smoothing on average"] == "yes"
    assert found["it does not help by the other measures"] == "no"
    assert found["random features help B-PETs"] == "no"
    assert found["they do not help on average"] == "not refuted"
    assert found["EB-PETs better than without out-of-bag cases"] == "no"
    assert found["but not by the lift area"] == "not refuted"
    assert "MOB-ESP better than a forest" not in found
    worse = {f"{B_PETS}, no smoothing": 0.1, EB_PETS: 0.3, f"{B_PETS}, random features": 0.1}
    found = verdicts(invented(LEVELS | worse, MANY))
    assert found["more than dropping the smoothing on average"] == "no"
    assert found["EB-PETs better than B-PETs"] == "no"
    assert found["dropping the smoothing helps B-PETs on average"] == "yes"
    assert found["they do not help on average"] == "no"


def test_claims_have_texts_of_their_own_and_a_direction():
    texts = [one.text for one in CLAIMS]
    assert len(set(texts)) == len(texts)
    # Better on most tables by little, worse on the others by much: ranks speak for worse.
    lines = invented({B_PETS: 0.2, EB_PETS: 0.2}, MANY)
    gain = np.where(np.arange(20) < 12, 0.0005, -0.1)
    ours = lines["method"] == EB_PETS
    other = lines.loc[~ours, "mse"]
    moved = [[one - g for one in values] for values, g in zip(other, gain, strict=True)]
    lines = lines.assign(mse=[*other, *moved])
    assert mob_esp_tables.record(lines, EB_PETS, B_PETS, "mse")[0] == (12, 0, 8)
    expected = next(one for one in CLAIMS if one.text == "EB-PETs better than B-PETs")
    (claim,) = [one for one in claims(lines) if one.text == expected.text]
    assert claim.measured["squared error"].startswith("12/0/8") and claim.verdict() == "no"


def test_p_values_are_corrected_for_all_tests():
    lines = invented({B_PETS: 0.2, EB_PETS: 0.19}, MANY)
    (claim,) = claims(lines)
    # Four tests, each of twenty signs alike: 2 ** -20 each, times four.
    assert all("p < 0.001" in one for one in claim.measured.values())
    few = invented({B_PETS: 0.2, EB_PETS: 0.19}, "abcdef")
    (claim,) = claims(few)
    assert all("p 0.062" in one for one in claim.measured.values())  # 4 / 64
    assert claim.verdict() == "no"


def test_records_count_what_is_beyond_chance():
    lines = invented({B_PETS: 0.2, EB_PETS: 0.2})
    every, plain, corrected = mob_esp_tables.record(lines, EB_PETS, B_PETS, "mse")
    assert sum(every) == sum(plain) == sum(corrected) == 8
    assert plain[0] + plain[2] < 4
    assert corrected[1] >= plain[1]
    near = invented({B_PETS: 0.2, EB_PETS: 0.198}, MANY)
    _, plain, corrected = mob_esp_tables.record(near, EB_PETS, B_PETS, "mse")
    assert plain[0] > corrected[0] > 0
    # Only the shares that both have are compared.
    short = lines.copy()
    short["mse"] = [
        one[:3] if method == EB_PETS else one
        for one, method in zip(lines["mse"], lines["method"], strict=True)
    ]
    found = mob_esp_tables.gains(short, EB_PETS, B_PETS, "mse")
    assert {len(one) for one in found.values()} == {3}


def test_the_quick_study_measures_iris():
    (case,) = mob_esp.plan(True)
    found = mob_esp.measure(**case)
    assert set(found) == set(case["wanted"])
    for line in found.values():
        assert len(line["mse"]) == 5
        assert np.mean(line["accuracy"]) > 0.85
        assert np.mean(line["mse"]) < 0.06
