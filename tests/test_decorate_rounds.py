"""The studies of sizes, other bases, acquisitions and visits: parts by hand, tables from lines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import Pipeline

from benchmarks.decorate import acquisitions, bases, ensemble_sizes, other_bases, parts, visits
from benchmarks.decorate.acquisition_tables import (
    ALL_CASES,
    CELLS,
    ERRORS,
    EXPECTED,
    GODA_NAME,
    RANDOM,
    RANDOM_CELLS,
    SMALL,
)
from benchmarks.decorate.acquisition_tables import claims as acquisition_claims
from benchmarks.decorate.acquisition_tables import tables as acquisition_tables
from benchmarks.decorate.visit_tables import (
    ALONE_ALONE,
    LARGEST,
    RANDOM_TOGETHER,
    TOGETHER,
    needed,
)
from benchmarks.decorate.visit_tables import claims as visit_claims
from benchmarks.decorate.visit_tables import long as visits_long
from benchmarks.decorate.visit_tables import tables as visit_tables
from bnmtl.active.committees import BaggingCommittee
from bnmtl.decorate import DecorateClassifier

pytestmark = pytest.mark.beside_kernels


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    kinds = pd.Categorical.from_codes(rng.integers(-1, 2, n), ["a", "b", "c"])
    return pd.DataFrame({"size": rng.normal(size=n), "kind": kinds, "age": rng.normal(5, 2, n)})


def labels(X, n_classes=3):
    return pd.cut(X["size"], n_classes, labels=False).to_numpy()


def found_lines(study, cases, last):
    rows = []
    for case in cases:
        settings = {name: value for name, value in case.items() if name != "wanted"}
        rows += [settings | {last: name} | line for name, line in study.measure(**case).items()]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ensemble_sizes.METHODS)
def test_the_last_stage_is_the_whole_ensemble(method, n_classes, monkeypatch):
    monkeypatch.setattr(ensemble_sizes, "MOST", 6)
    monkeypatch.setattr(ensemble_sizes, "MAX_ITERATIONS", 8)
    X = frame()
    y = labels(X, n_classes)
    model = ensemble_sizes._ensemble(method, X, 0).fit(X, y)
    stages = list(ensemble_sizes._staged_codes(model, X, n_classes))
    assert 1 < len(stages) <= 6
    np.testing.assert_array_equal(stages[-1], model.predict(X))


def test_sizes_have_tables_claims_and_pictures(monkeypatch):
    monkeypatch.setattr(ensemble_sizes, "MOST", 20)
    cases = [case | {"wanted": ["DECORATE", "bagging"]} for case in ensemble_sizes.plan(True)]
    lines = found_lines(ensemble_sizes, cases, "method")
    made = ensemble_sizes.tables(lines)
    assert set(made) == {"decorate_sizes", "decorate_sizes_claims"}
    assert "| DECORATE |" in made["decorate_sizes"]
    assert ensemble_sizes.draw(lines).axes[0].get_xlabel() == "members"
    assert ensemble_sizes.more_pictures(lines) == {}
    by = lines["error"][0]["20%"]
    assert set(by) == {str(size) for size in ensemble_sizes.SIZES}
    assert len(by["1"]) == 3


def test_beyond_the_last_member_all_members_predict(monkeypatch):
    stages = [np.array(codes) for codes in ([1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1])]
    monkeypatch.setattr(ensemble_sizes, "_staged_codes", lambda *given: iter(stages))
    monkeypatch.setattr(ensemble_sizes, "SIZES", (1, 3, 9))
    X = frame(12)
    y = np.array([0, 1] * 4 + [0] * 4)
    rows = np.arange(8), np.arange(8, 12)
    found = ensemble_sizes._fold("bagging", X, y, rows, ("t", 0, 0), 100)
    assert found == [1.0, 0.5, 0.5]


def test_errors_are_relative_to_those_of_15_members():
    shares = {1: 2.0, 5: 1.2, 10: 1.1, 15: 1.0, 25: 0.9, 100: 0.9}
    by = {str(size): [0.1 * shares.get(size, 1.0)] * 3 for size in ensemble_sizes.SIZES}
    line = {"method": "DECORATE", "table": "t", "error": {"20%": by}}
    lines = pd.DataFrame([line, line | {"table": "u"}])
    ratios = ensemble_sizes._ratios(lines)
    assert ratios[1] == pytest.approx(2) and ratios[100] == pytest.approx(0.9)
    (claim,) = ensemble_sizes.claims(lines)
    assert claim.verdict() == "yes"
    by["25"] = [0.2] * 3
    (claim,) = ensemble_sizes.claims(lines)
    assert claim.verdict() == "no"


def test_states_are_bins_categories_and_gaps():
    X = frame(40).assign(size=[np.nan, *frame(40)["size"][1:]])
    states = bases.States(4).fit(X)
    found = states.transform(X)
    cuts = np.nanquantile(X["size"], [0.25, 0.5, 0.75])
    expected = np.searchsorted(cuts, X["size"][1:], side="right")
    np.testing.assert_array_equal(found["size"].cat.codes[1:], expected)
    assert found["size"][0] == "s4" and list(found["size"].cat.categories)[-1] == "s4"
    gaps = X["kind"].isna()
    assert (found["kind"][gaps] == "s3").all()
    np.testing.assert_array_equal(found["kind"][~gaps].cat.codes, X["kind"][~gaps].cat.codes)
    codes = bases.States(4, as_codes=True).fit(X).transform(X)
    np.testing.assert_array_equal(codes[:, 1], found["kind"].cat.codes)


def test_naive_bayes_knows_all_states():
    X = frame()
    y, states = labels(X), bases.States().fit_transform(X)
    model = bases.NaiveBayes().fit(states[:30], y[:30])
    codes = np.column_stack([states[name].cat.codes for name in states])
    sizes = [len(states[name].cat.categories) for name in states]
    expected = CategoricalNB(min_categories=sizes).fit(codes[:30], y[:30]).predict_proba(codes)
    np.testing.assert_allclose(model.predict_proba(states), expected)
    of_numbers = bases.NaiveBayes(sizes).fit(codes[:30].astype(float), y[:30])
    np.testing.assert_allclose(of_numbers.predict_proba(codes), expected)


@pytest.mark.parametrize("base", bases.BASES)
def test_every_base_is_used_in_every_way(base, monkeypatch):
    monkeypatch.setattr(other_bases, "SIZE", 2)
    monkeypatch.setattr(other_bases, "MAX_ITERATIONS", 2)
    X = frame(40)
    y = labels(X, 2)
    methods = {
        name for case in other_bases.plan(False) if case["base"] == base for name in case["wanted"]
    }
    assert ("AdaBoost" in methods) == (base != "network")
    for method in methods:
        model = other_bases._model(base, method, X, 0)
        kinds = {"bagging": BaggingCommittee, "DECORATE": DecorateClassifier}
        assert isinstance(model, kinds.get(method, Pipeline))
        p = model.fit(X, y).predict_proba(X)
        assert p.shape == (40, 2)
        again = other_bases._model(base, method, X, 0).fit(X, y).predict_proba(X)
        np.testing.assert_array_equal(p, again)
        np.testing.assert_allclose(p.sum(axis=1), 1)


def test_other_bases_have_tables_and_claims():
    lines = pd.DataFrame(
        [
            {
                "base": "naive Bayes",
                "table": table,
                "repeat": 0,
                "method": method,
                "n_train": 90,
                "error": {point: [error, 1.01 * error + 0.1] for point in other_bases.POINTS},
            }
            for table in ("iris", "labor")
            for method, error in (("the base", 0.2), ("bagging", 0.2), ("DECORATE", 0.1))
        ]
    )
    made = other_bases.tables(lines)
    assert "| naive Bayes | DECORATE | the base | 2/0/0, 0.600 |" in made["decorate_bases"]
    assert "| naive Bayes | AdaBoost |" not in made["decorate_bases"]
    found = {one.text: one.verdict() for one in other_bases.claims(lines)}
    assert found["DECORATE helps naive Bayes consistently"] == "yes"
    assert found["bagging helps naive Bayes consistently"] == "no"
    assert [axes.get_title() for axes in other_bases.draw(lines).axes[:1]] == ["naive Bayes, labor"]


@pytest.fixture(scope="module")
def rounds():
    """The curves of three strategies in one fold of a small table."""
    X = frame(50, seed=3)
    y = labels(X, 2)
    rows = np.arange(40), np.arange(40, 50)
    return {
        name: acquisitions.Curve(X, y, rows, SMALL, ("t", 0)).run(name) for name in (RANDOM, ERRORS)
    }


def test_all_cases_are_completed_whatever_the_order(rounds):
    for curve in rounds.values():
        assert [n for n, _, _ in curve] == [10, 20, 30, 40]
        assert all(error == of_all for _, error, of_all in curve)
    # They start with the same cases and end with the same, complete ones.
    assert rounds[RANDOM][0] == rounds[ERRORS][0]
    assert rounds[RANDOM][-1] == rounds[ERRORS][-1]


def test_unknown_features_are_hidden_from_the_models():
    X = frame(50, seed=3)
    rows = np.arange(40), np.arange(40, 50)
    curve = acquisitions.Curve(X, labels(X, 2), rows, SMALL, ("t", 0))
    observed = curve._observed
    assert observed.all(axis=1).sum() == 10
    assert (observed.sum(axis=1)[~observed.all(axis=1)] == 1).all()  # 30 % of three features


def test_models_do_not_learn_from_hidden_cells():
    X = frame(50, seed=3)
    rows, y = (np.arange(37), np.arange(40, 50)), labels(X, 2)
    first = acquisitions.Curve(X, y, rows, SMALL, ("t", 0))
    changed = X.copy()
    hidden = ~first._observed
    for at, name in enumerate(X):
        some = np.flatnonzero(hidden[:, at])
        changed.loc[some, name] = changed.loc[some, name].to_numpy()[::-1]
    assert not changed[:37].equals(X[:37])
    found = [acquisitions.Curve(one, y, rows, SMALL, ("t", 0)).run(RANDOM) for one in (X, changed)]
    assert found[0][0] == found[1][0]
    # The last batch is what is left.
    assert [n for n, _, _ in found[0]] == [10, 20, 30, 37]


def test_goda_is_judged_by_its_model_of_complete_cases():
    X = frame(60, seed=3)
    y = ((X["size"] + X["age"]) > 5).astype(int).to_numpy()
    curve = acquisitions.Curve(X, y, (np.arange(40), np.arange(40, 60)), SMALL, ("t", 0))
    complete = curve._observed.all(axis=1)
    expected = curve._error(X[:40][complete], y[:40][complete])
    points = curve.run(GODA_NAME)
    assert points[0][1] == expected
    assert any(error != of_all for _, error, of_all in points)
    assert points[-1][1] == points[-1][2]


@pytest.mark.parametrize("name", [RANDOM_CELLS, ERRORS, EXPECTED])
def test_rounds_of_cells_measure_as_many_as_a_case_lacks(name, monkeypatch):
    monkeypatch.setattr(acquisitions, "CELL_ROUNDS", 3)
    X = frame(50, seed=3)
    rows, y = (np.arange(40), np.arange(40, 50)), labels(X, 2)
    curve, again = (acquisitions.CellCurve(X, y, rows, CELLS, ("t", 0)) for _ in range(2))
    before = curve._observed.copy()
    first = curve._error(X[:40].mask(~before), y[:40])
    points = curve.run(name)
    assert [n for n, _, _ in points] == [0, 2, 4, 6] and points[0][1] == first
    assert (curve._observed & ~before).sum() == 6 and not (before & ~curve._observed).any()
    completed = (curve._observed & ~before).sum(axis=1)
    assert (name == ERRORS) == (set(completed) == {0, 2} and (completed == 2).sum() == 3)
    # Values of hidden cells are not looked at, and rounds can be repeated.
    again._X = again._X.mask(~curve._observed)
    assert again.run(name) == points


def test_cells_have_a_table_and_claims():
    rng = np.random.default_rng(0)
    lines = pd.DataFrame(
        {"part": CELLS, "table": table, "strategy": name, "seconds": 1.0}
        | {"n_labels": [0, 2, 4], "error": (level + 1e-4 * rng.normal(size=(10, 3))).tolist()}
        for table in ("anneal", "autos", "soybean")
        for name, level in ((RANDOM_CELLS, 0.3), (ERRORS, 0.1), (EXPECTED, 0.2))
    )
    rows = acquisition_tables(lines)["decorate_acquisitions_cells"].splitlines()
    assert rows[2].startswith("| anneal | 0.300 | 0.100 | 0.200 | 33.")
    verdicts = {one.text: one.verdict() for one in acquisition_claims(lines)}
    start = "cells of highest expected utility beat"
    assert verdicts == {
        f"{start} random cells": "yes",
        f"{start} the cells of error sampling": "no",
    }
    assert set(acquisitions.more_pictures(lines)) == {"decorate_acquisitions-cells"}


def test_acquisitions_have_tables_and_claims():
    rng = np.random.default_rng(0)

    def curves(level):
        return (level + 1e-4 * rng.normal(size=(10, 4))).tolist()

    rows = []
    for part, table in (("trees", "anneal"), ("DECORATE", "anneal"), (SMALL, "autos")):
        for name, level in ((RANDOM, 0.3), (ERRORS, 0.2), (GODA_NAME, 0.25)):
            if name != GODA_NAME or part == SMALL:
                seconds = 40.0 if name == GODA_NAME else 2.0
                line = {"part": part, "table": table, "strategy": name, "seconds": seconds}
                line |= {"n_labels": [10, 20, 30, 40], "error": curves(level)}
                rows.append(line | ({"error_of_all": curves(0.1)} if name == GODA_NAME else {}))
    lines = pd.DataFrame(rows)
    made = acquisition_tables(lines)
    assert "| trees | anneal | 0.300 | 0.200 | 33." in made["decorate_acquisitions"]
    assert "22.65" in made["decorate_acquisitions"]
    (row,) = made["decorate_acquisitions_goda"].splitlines()[2:]
    assert row.endswith(" | 20 |")  # times the seconds
    assert row.startswith("| autos | 0.30") and f"error, {ALL_CASES}" in str(made)
    verdicts = {one.text: one.verdict() for one in acquisition_claims(lines)}
    assert verdicts["error sampling beats random cases with trees"] == "yes"
    assert verdicts["error sampling beats random cases on small tables"] == "yes"
    assert verdicts["GODA beats random cases on small tables"] == "yes"
    worse = pd.DataFrame(
        row | ({"error": curves(0.4)} if row["strategy"] == GODA_NAME else {}) for row in rows
    )
    worse = {one.text: one.verdict() for one in acquisition_claims(worse)}
    assert worse["GODA beats random cases on small tables"] == "no"
    assert verdicts["error sampling beats GODA"] == "yes"
    assert verdicts["error sampling beats GODA with a model of all cases"] == "no"
    assert verdicts["error sampling takes a fraction of the time of GODA"] == "yes"
    assert acquisition_tables(lines[:0]) == {}
    assert len(acquisitions.draw(lines).axes) == 2
    assert set(acquisitions.more_pictures(lines)) == {
        "decorate_acquisitions-decorate",
        "decorate_acquisitions-goda",
    }


def survey(n=60):
    """Sites of two regions, one attribute and two species."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"wood": pd.Categorical(rng.choice(["low", "high"], n))})
    species = pd.DataFrame({"a": (X["wood"] == "high").astype(int), "b": rng.integers(2, size=n)})
    region = np.array(["east", "west"] * (n // 2))
    is_test = np.arange(n) >= n - 20
    return visits.Survey(X, species, region, is_test, ("p", 0), 2), species, region


def test_shares_are_those_of_the_visits_of_a_region():
    made, species, region = survey()
    visited = np.arange(12)
    expected = []
    for name in ("east", "west"):
        seen = species.iloc[visited][region[visited] == name]
        p = (seen.sum() + 1) / (len(seen) + 2)
        test = species.iloc[40:][region[40:] == name]
        losses = -np.where(test == 1, np.log(p), np.log(1 - p))
        expected.append(losses.mean())
    assert made._shares_loss(visited) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("strategy", [RANDOM_TOGETHER, ALONE_ALONE, TOGETHER, LARGEST])
def test_visits_grow_by_rounds_and_spare_the_test_sites(strategy, monkeypatch):
    monkeypatch.setattr(visits, "PER_ROUND", 3)
    made, _, region = survey()
    asked, pickers = [], []
    query = visits.MultitaskQuery.query

    def spied(self, *data, **options):
        pickers.append(self.draws)
        return query(self, *data, **options)

    monkeypatch.setattr(visits.MultitaskQuery, "query", spied)
    fit = made._committee
    monkeypatch.setattr(
        made, "_committee", lambda way, rows: asked.append(rows[:]) or fit(way, rows)
    )
    points = made.run(strategy, [0, 1, 2, 3], 2)
    assert [n for n, _, _ in points] == [4, 10, 16]
    last = np.array(asked[-1])
    assert len(set(last)) == 16 and (last < 40).all()
    assert set(pickers) == (set() if strategy == RANDOM_TOGETHER else {strategy != LARGEST})
    if strategy == ALONE_ALONE:
        assert (region[last[4:]] == "east").sum() == 6


def test_visits_needed_are_counted_to_the_target_of_single_tasks():
    rows = []
    for trial in range(3):
        for name, losses in (
            (ALONE_ALONE, [0.6, 0.5, 0.4]),
            ("random sites, each region alone", [0.6, 0.55, 0.5]),
            (TOGETHER, [0.6, 0.4, 0.3]),
            (RANDOM_TOGETHER, [0.6, 0.45, 0.41]),
        ):
            line = {"problem": "avimedi", "trial": trial, "strategy": name}
            line |= {"n_labels": [10, 20, 30], "log_loss_of_shares": [0.7, 0.7, 0.69]}
            shift = 0.01 * trial + 0.00001 * trial * sum(map(ord, name))
            rows.append(line | {"log_loss": [one + shift * at for at, one in enumerate(losses)]})
    lines = pd.DataFrame(rows)
    found = needed(visits_long(lines)).set_index("strategy")["visits"]
    assert found[TOGETHER] == 20 and found[ALONE_ALONE] == 30
    assert np.isnan(found[RANDOM_TOGETHER])
    made = visit_tables(lines)
    assert "| avimedi | shares of the visits | 10: 0.700" in made["decorate_visits"]
    verdicts = {one.text: one.verdict() for one in visit_claims(lines)}
    text = "together throughout better than alone throughout (gain in log-loss)"
    assert verdicts[text] == "yes"
    text = "fewer visits than the best single-task strategy for its final log-loss"
    assert verdicts[text] == "yes"
    assert visits.draw(lines).axes[0].get_ylabel() == "log-loss"
    assert visit_tables(lines[:0]) == {}


def test_parts_of_the_error_are_compared_with_those_of_the_tree():
    wanted = [parts.BASE, "bagging"]
    found = parts.measure(parts.QUICK, 0.5, wanted)
    for line in found.values():
        total = sum(line[f"squared {part}"] for part in ("bias", "variance", "noise"))
        assert line["squared error"] == pytest.approx(total, abs=1e-5) and total > 0
    lines = pd.DataFrame(
        [
            {"table": table, "share": 0.5, "method": method, **line}
            for table in ("iris", "labor")
            for method, line in found.items()
        ]
    )
    tree, bagged = parts.tables(lines)["decorate_parts"].splitlines()[2:]
    assert tree.startswith("| 50% | tree | ") and "|  |  |" in tree
    gain = found["bagging"]["squared variance"] - found[parts.BASE]["squared variance"]
    assert bagged.split(" | ")[-2].startswith(f"{gain:.3f}")
    assert parts.tables(lines)["decorate_parts_by_table"].count("\n") == 3
