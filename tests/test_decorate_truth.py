"""The studies of true probabilities and of filled cells: parts by hand, tables from lines."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr

from benchmarks.decorate import imputation_tables, imputations, true_probabilities, truth_tables
from benchmarks.decorate.imputation_tables import (
    ALONE,
    BIRDS,
    CLASSIFIED,
    COMPLETE,
    DRAWS,
    MEANS,
    NETWORK,
    NOTHING,
    SHARES,
    SOFT,
    TOGETHER,
)
from benchmarks.decorate.query_tables import RANDOM, SQUARED
from benchmarks.decorate.truth_tables import BAGGED, JS, MARGINS, TREES_JS
from bnmtl import structures

pytestmark = pytest.mark.beside_kernels
QUIET = pytest.mark.filterwarnings("ignore:Rows with missing values", "ignore:Task `Co`")


def test_errors_are_those_of_both_distributions():
    p, truth = np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    found = true_probabilities.errors(p, truth, np.array([0, 1]))
    assert found["divergence"] == pytest.approx(np.log(2) / 2, abs=1e-5)
    assert found["squared"] == 1
    assert found["squared_of_labels"] == pytest.approx((0.5 + 2) / 2)
    assert found["error"] == 0.5
    assert true_probabilities.errors(p[1:], truth[1:], np.array([1]))["error"] == 1


def test_the_truth_is_the_joint_of_the_network():
    X, codes, truth = true_probabilities.cases_of("asia", "dysp", 0)
    assert "dysp" not in X and len(X) == len(codes) == len(truth) == 1500
    network = structures.load("asia")
    joint = [
        np.exp(
            network.log_likelihood(
                X[:1].assign(dysp=pd.Categorical([state], network.states["dysp"]))
            )
        )
        for state in network.states["dysp"]
    ]
    np.testing.assert_allclose(truth[0], np.array(joint).ravel() / np.sum(joint), rtol=1e-9)
    again = true_probabilities.cases_of("asia", "dysp", 1)[1]
    assert (codes != again).any()
    # Labels are drawn from the truth.
    assert np.mean(codes == 0) == pytest.approx(truth[:, 0].mean(), abs=0.04)


@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_classes_are_the_variables_of_the_rule(name):
    network = structures.load(name)
    rows = network.sample(1000, random_state=0)
    least = {}
    for variable in network.variables:
        p = network.predict_proba(rows, variable).to_numpy()
        left = entr(p).sum(axis=1).mean()
        least[variable] = min(left, entr(p.mean(axis=0)).sum() - left)
    best = sorted(least, key=least.get, reverse=True)[:2]
    assert tuple(best) == true_probabilities.PROBLEMS[name]


def curve(network, strategy, level):
    rng = np.random.default_rng(len(strategy))
    values = (level + rng.normal(0, 0.001, (3, 2))).tolist()
    measures = dict.fromkeys(truth_tables.MEASURES, values)
    line = {"network": network, "variable": "x", "strategy": strategy, "n_labels": [5, 10]}
    return line | measures


def test_tables_and_claims_follow_the_divergences():
    levels = {RANDOM: 0.2, SQUARED: 0.19, MARGINS: 0.22, JS: 0.15, BAGGED: 0.3, TREES_JS: 0.33}
    levels[truth_tables.SHARES] = 0.5
    lines = [
        curve(network, name, level + 0.001 * at)
        for at, network in enumerate("abc")
        for name, level in levels.items()
    ]
    # The labels say the contrary of one pair: bagged trees and BootstrapJS.
    for line in lines:
        if line["strategy"] == TREES_JS:
            line["squared_of_labels"] = [[0.29, 0.29]] * 3
    lines = pd.DataFrame(lines)
    made = truth_tables.tables(lines)
    (random,) = [one for one in made["decorate_truth"].split("\n") if f"| {RANDOM} |" in one]
    assert float(random.strip("| ").split(" | ")[1]) == pytest.approx(0.201, abs=0.002)
    (asked,) = [one for one in made["decorate_truth_asking"].split("\n") if f"| {JS} |" in one]
    assert SQUARED in asked and "; 3 of 3" in asked
    found = {claim.text: claim for claim in truth_tables.claims(lines)}
    text = "ActiveDecorateJS is nearer to the truth than ActiveDecorate"
    assert found[text].verdict() == "yes" and "3 of 3" in found[text].found()
    assert found["BootstrapJS is nearer to the truth than random cases"].verdict() == "no"
    text = "squared error of labels ranks two strategies as the divergence does"
    assert found[text].test == (60, 63)
    figure = truth_tables.draw(lines)
    assert figure.axes[0].get_ylabel() == "divergence (nats)"
    assert len(figure.axes[0].lines) == len(levels) - 1
    assert truth_tables.tables(lines[:0]) == {}


def test_the_quick_study_has_curves_of_the_trial():
    (case,) = true_probabilities.plan(True)
    found = true_probabilities.measure(**case)
    assert set(found) == set(case["wanted"])
    for line in found.values():
        assert line["n_labels"] == [5, 10, 15]
        assert np.shape(line["divergence"]) == (1, 3)
    wanted = true_probabilities.plan(False)[0]["wanted"]
    assert set(true_probabilities.strategies(3)) == set(wanted)


def cases(n=80, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    X = pd.DataFrame(
        {
            "kind": pd.Categorical.from_codes(kind, ["a", "b", "c"]),
            "same": pd.Categorical.from_codes(kind, ["u", "v", "w"]),
            "size": kind + rng.normal(0, 0.1, n),
        }
    )
    return X, (kind > 0).astype(int)


@QUIET
@pytest.mark.parametrize("method", imputations.METHODS[CLASSIFIED])
def test_hidden_cells_are_filled_and_the_others_kept(method):
    X, y = cases()
    is_hidden = np.zeros(X.shape, dtype=bool)
    is_hidden[40:, 1:] = True
    changed = X.copy()
    changed.loc[40:, "same"], changed.loc[40:, "size"] = "u", 99.0
    tables = imputations.fillings(method, X, is_hidden, y, 0)
    again = imputations.fillings(method, changed, is_hidden, y, 0)
    assert len(tables) == (imputations.N_DRAWS if method in (DRAWS, SOFT) else 1)
    for one, other in zip(tables, again, strict=True):
        pd.testing.assert_frame_equal(one, other)
        assert one["kind"].tolist() == X["kind"].tolist()
        assert one["size"][:40].tolist() == X["size"][:40].tolist()
        assert one.isna().any(axis=None) == (method in (COMPLETE, NOTHING))
    X.loc[:4, "size"] = X.loc[45, "size"] = np.nan
    for one in imputations.fillings(method, X, is_hidden, y, 0):
        is_filled = method not in (COMPLETE, NOTHING)
        assert one["size"].isna().tolist() == [True] * 5 + [False] * 35 + [not is_filled] * 40
    X, y = cases()
    found = imputations.cell_errors(X, tables, is_hidden)
    if method == NETWORK:
        assert found["wrong_cells"] == 0 and found["squared_cells"] < 0.2
    if method == MEANS:
        mode = X["same"][:40].mode()[0]
        wrong = (X["same"][40:] != mode).mean()
        squared = ((X["size"][:40].mean() - X["size"][40:]) ** 2).mean() / X["size"].var()
        assert found["wrong_cells"] == pytest.approx(wrong, abs=1e-5)
        assert found["squared_cells"] == pytest.approx(squared, abs=1e-5)


def test_shares_and_losses_of_cells():
    known = {
        "north": pd.DataFrame({"owl": ["0", "0", "1"]}),
        "south": pd.DataFrame({"owl": ["2", "1", "1"]}),
    }
    p = imputations.shares_of(known, "north", "owl", 2)
    np.testing.assert_allclose(p.to_numpy(), [[3 / 6, 2 / 6, 1 / 6]] * 2)
    found = imputations._scored(p, pd.Series(["1", "7"]))
    np.testing.assert_allclose(found, [[np.log(3), 1]])


def test_tables_of_filled_cells():
    lines = [
        {"part": CLASSIFIED, "table": table, "complete": 10, "method": method}
        | {"error": [level, level + at / 1000], "wrong_cells": None, "squared_cells": None}
        | {"error_of_one": [level, level + at / 1000]}
        | ({"wrong_cells": [level + at / 999] * 2} if method in (MEANS, NETWORK) else {})
        | {"log_loss": None}
        for at, table in enumerate("abc")
        for method, level in ((NOTHING, 0.3), (MEANS, 0.4), (NETWORK, 0.2))
    ]
    for line in lines:
        for name in ("wrong_cells", "squared_cells"):
            line[name] = line[name] or [None, None]
    lines += [
        {"part": BIRDS, "table": "birds", "complete": n, "method": method}
        | {"log_loss": [1.0001 * level + n / 1000, level], "wrong_cells": [0.1, 0.1], "shared": 0.2}
        for n in (10, 20)
        for method, level in ((SHARES, 0.5), (ALONE, 0.45), (TOGETHER, 0.4))
    ]
    lines = pd.DataFrame(lines)
    made = imputation_tables.tables(lines)
    assert "| a | 10 | 0.3000 | 0.4000 | 0.2000 |" in made["decorate_imputations"]
    assert "| a | 10 | 0.4000 | 0.2000 |" in made["decorate_imputations_nominal"]
    assert "decorate_imputations_numbers" not in made
    assert "| birds | 20 | 0.5100 | 0.4600 | 0.4100 |" in made["decorate_imputations_birds"]
    found = {claim.text: claim.verdict() for claim in imputation_tables.claims(lines)}
    assert found["fewer wrong nominal cells than modes"] == "yes"
    assert found["trees of filled cases err less than with means"] == "yes"
    together = "networks together better than shares of the region, birds (gain in log-loss)"
    assert found[together] == "yes"
    birds = imputation_tables.long(lines, BIRDS, "log_loss")
    gains = imputation_tables.gains(birds, "log_loss", TOGETHER, SHARES)
    by_number = [1 - 0.405 / 0.505, 1 - 0.41 / 0.51]
    assert gains.to_dict() == {"birds": pytest.approx(100 * np.mean(by_number))}
    figure = imputation_tables.draw(lines)
    assert len(figure.axes) == 5
    of_draws = {"method": DRAWS, "error_of_one": [0.7, 0.7], "wrong_cells": [0.6, 0.6]}
    made = imputation_tables.tables(pd.DataFrame([lines.iloc[0].to_dict() | of_draws]))
    assert made["decorate_imputations"].endswith("| a | 10 | 0.7000 | 0.3000 |")
    nominal = made["decorate_imputations_nominal"].splitlines()
    assert nominal[0] == "| table | complete | network, one draw |"
    assert nominal[2] == "| a | 10 | 0.6000 |"
    assert imputation_tables.tables(lines[:0]) == {}


@QUIET
def test_the_quick_study_fills_iris():
    (case,) = imputations.plan(True)
    found = imputations.measure(**case)
    assert set(found) == set(case["wanted"])
    assert len(found[NETWORK]["error"]) == 3
    assert found[NETWORK]["error_of_one"] == found[NETWORK]["error"]
    # Without information from the other cells, the network would not be better than means.
    assert np.mean(found[NETWORK]["squared_cells"]) < np.mean(found[MEANS]["squared_cells"])
    assert found[SOFT]["wrong_cells"] == found[DRAWS]["wrong_cells"]


def test_soft_counts_of_equal_draws_are_those_of_one():
    X, y = cases()
    rows = imputations.Indicators().transform(X)
    once = imputations._tree(1, 0).fit(X, y)[-1]
    five = imputations._tree(5, 0).fit(pd.concat([X] * 5), np.tile(y, 5))[-1]
    assert five.tree_.n_node_samples.min() >= 10
    np.testing.assert_array_equal(once.predict_proba(rows), five.predict_proba(rows))


@QUIET
def test_bird_cells_of_all_methods(monkeypatch):
    monkeypatch.setattr(imputations, "N_TRIALS", 1)
    found = imputations._of_birds("avimedi", 10, [SHARES, ALONE])
    assert len(found[SHARES]["log_loss"]) == 1 and 0 < found[SHARES]["shared"] < 1
    assert 0.2 < found[SHARES]["log_loss"][0] < 1
    assert found[ALONE]["log_loss"] != found[SHARES]["log_loss"]
