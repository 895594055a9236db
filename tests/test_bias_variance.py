"""Bias, variance and noise: definitions once more, exact sums, expectations, tasks."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl.errors import InputError, InputWarning
from bnmtl.validation import Rounds, bias_variance

pytestmark = pytest.mark.beside_kernels
LOSSES = ("zero_one", "kohavi_wolpert", "squared")
PARTS = ["bias", "variance", "variance_of_biased", "noise"]


def made(seed=0, n_rounds=7, n_cases=12, n_classes=3, gaps=0.3, digits=1, task=None):
    """Rounds with gaps and ties, and true probabilities."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), (n_rounds, n_cases))
    p = rng.multinomial(10**digits, p) / 10**digits
    p[rng.random(p.shape[:2]) < gaps] = np.nan
    p[:2] = rng.dirichlet(np.ones(n_classes), (2, n_cases))
    classes = np.array(list("abcdef")[:n_classes])
    rounds = Rounds(p, rng.choice(classes, n_cases), classes, np.zeros(p.shape[:2]), task=task)
    return rounds, rng.dirichlet(np.full(n_classes, 0.7), n_cases)


def chosen(p):
    """The predicted class: of two the second from one half on, of more the first of the best."""
    return int(p[1] >= 0.5) if len(p) == 2 else int(p.argmax())


def expected_error(said, truth, loss):
    """Error over rounds and over labels drawn from the truth, by enumeration."""
    total = 0.0
    for p in said:
        for label, share in enumerate(truth):
            target = np.eye(len(truth))[label]
            one = ((p - target) ** 2).sum() if loss == "squared" else float(chosen(p) != label)
            total += share * one / len(said)
    return total


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.integers(2, 4), st.booleans())
def test_parts_add_up_to_the_error(seed, loss, n_classes, has_truth):
    rounds, truth = made(seed, n_classes=n_classes)
    # Probabilities that miss a sum of 1 by a rounding error are scaled.
    truth = (1 + 5e-7) * truth if has_truth else None
    found = bias_variance(rounds, loss, truth, by_case=True)
    np.testing.assert_allclose(found[PARTS].sum(axis=1), found["error"], atol=1e-12, rtol=0)
    truth = np.eye(n_classes)[rounds.codes] if truth is None else truth / (1 + 5e-7)
    for case in range(len(truth)):
        said = rounds.predictions[rounds.is_predicted[:, case], case]
        assert found["error"][case] == pytest.approx(expected_error(said, truth[case], loss))
        assert found["n_rounds"][case] == len(said)
        of_mean = said.mean(axis=0)
        if loss != "squared":
            of_mean = np.mean([np.eye(n_classes)[chosen(p)] for p in said], axis=0)
            # Of the shares of the rounds, the main prediction is the first of the largest ones.
            of_mean = np.eye(n_classes)[of_mean.argmax()]
        of_mean = expected_error([of_mean], truth[case], loss)
        assert found["error_of_mean"][case] == pytest.approx(of_mean)
    if not has_truth:
        assert (found["noise"] == 0).all()
    mean = bias_variance(rounds, loss, truth if has_truth else None)
    np.testing.assert_allclose(mean.loc["all", PARTS], found[PARTS].mean(), atol=1e-12)
    assert mean.loc["all", "n_cases"] == 12


def by_domingos(said, truth):
    """Main prediction, bias, variance and its factor as in the paper, loops and conditionals."""
    labels = [int(p.argmax()) for p in said]
    main = max(range(len(truth)), key=lambda k: (labels.count(k), -k))
    best = int(np.argmax(truth))
    bias = float(main != best)
    variance = sum(one != main for one in labels) / len(labels)
    if not bias:
        return bias, variance, 0.0
    others = [one for one in labels if one != main]
    factor = sum(one == best for one in others) / len(others) if others else 0.0
    return bias, 0.0, -factor * variance


def test_columns_of_the_truth_are_found_by_name():
    rounds, truth = made(0, n_classes=3)
    frame = pd.DataFrame(truth, columns=[str(one) for one in rounds.classes])
    expected = bias_variance(rounds, truth=truth)
    for same in (frame, frame[frame.columns[::-1]], pd.DataFrame(truth)):
        pd.testing.assert_frame_equal(bias_variance(rounds, truth=same), expected)
    first = str(rounds.classes[0])
    with pytest.raises(InputError, match=f"`{first}` is missing"):
        bias_variance(rounds, truth=frame.rename(columns={first: "other"}))
    with pytest.raises(InputError, match="it has others, too"):
        bias_variance(rounds, truth=frame.assign(other=0.0))


@pytest.mark.parametrize("seed", range(5))
def test_zero_one_loss_is_that_of_domingos(seed):
    rounds, truth = made(seed, n_classes=4)
    for known in (None, truth):
        found = bias_variance(rounds, "zero_one", known, by_case=True)
        one_hot = np.eye(4)[rounds.codes] if known is None else known
        for case in range(12):
            said = rounds.predictions[rounds.is_predicted[:, case], case]
            parts = found.loc[case, ["bias", "variance", "variance_of_biased"]].tolist()
            assert parts == pytest.approx(by_domingos(said, one_hot[case]))
    assert set(found["bias"]) == {0, 1}


@pytest.mark.parametrize("n_rounds", [2, 3, 5])
def test_kohavi_wolpert_is_without_bias(n_rounds):
    """Over all outcomes of rounds that say class k with probability q."""
    q, truth = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.6, 0.3])
    bias = variance = 0.0
    for said in itertools.product(range(3), repeat=n_rounds):
        rounds = Rounds(np.eye(3)[list(said)][:, None], [1], [0, 1, 2], np.zeros((n_rounds, 1)))
        found = bias_variance(rounds, "kohavi_wolpert", truth[None]).loc["all"]
        share = np.prod(q[list(said)])
        bias += share * found["bias"]
        variance += share * found["variance"]
        assert found["noise"] == pytest.approx((1 - (truth**2).sum()) / 2)
    assert bias == pytest.approx(((truth - q) ** 2).sum() / 2)
    assert variance == pytest.approx((1 - (q**2).sum()) / 2)


def test_squared_loss_is_without_bias():
    outcomes, q = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]), np.array([0.2, 0.5, 0.3])
    bias = variance = 0.0
    for said in itertools.product(range(3), repeat=3):
        rounds = Rounds(outcomes[list(said)][:, None], ["b"], ["a", "b"], np.zeros((3, 1)))
        found = bias_variance(rounds, "squared").loc["all"]
        share = np.prod(q[list(said)])
        bias, variance = bias + share * found["bias"], variance + share * found["variance"]
        # The error of the mean is the mean error without the spread.
        p = outcomes[list(said)]
        spread = ((p - p.mean(axis=0)) ** 2).sum(axis=1).mean()
        assert found["error_of_mean"] == pytest.approx(found["error"] - spread, abs=1e-12)
    mean = q @ outcomes
    assert bias == pytest.approx(((mean - [0, 1]) ** 2).sum())
    assert variance == pytest.approx(q @ ((outcomes - mean) ** 2).sum(axis=1))


def test_a_bias_can_be_below_zero():
    p = np.eye(2)[[0, 1, 0, 1]][:, None]
    found = bias_variance(Rounds(p, [0], [0, 1], np.zeros((4, 1))), "kohavi_wolpert")
    # p = (1/2, 1/2): 1/2 [(1/4 + 1/4) - (1/4 + 1/4) / 3]
    assert found.loc["all", "bias"] == pytest.approx((1 / 2 - 1 / 6) / 2)
    truth = [[0.5, 0.5]]
    found = bias_variance(Rounds(p, [0], [0, 1], np.zeros((4, 1))), "kohavi_wolpert", truth)
    assert found.loc["all", "bias"] == pytest.approx(-1 / 12)


def test_all_losses_stand_in_one_table():
    rounds, truth = made()
    found = bias_variance(rounds, truth=truth)
    assert list(found.index) == list(LOSSES)
    for loss in LOSSES:
        one = bias_variance(rounds, loss, truth).loc["all"]
        np.testing.assert_allclose(found.loc[loss], one)


def test_tasks_have_rows():
    task = np.array(["east", "west"] * 6)
    rounds, _ = made(task=task)
    found, cases = (bias_variance(rounds, "squared", by_case=one) for one in (False, True))
    assert list(found.index) == ["all", "east", "west"]
    assert found["n_cases"].tolist() == [12, 6, 6]
    west = cases[task == "west"]["bias"].mean()
    assert found.loc["west", "bias"] == pytest.approx(west)
    assert found.loc["west", "bias"] != pytest.approx(found.loc["east", "bias"])
    assert bias_variance(rounds).index.names == ["loss", "task"]


def test_cases_with_one_round_are_left_out():
    rounds, _ = made(gaps=0)
    rounds.predictions[1:, 3] = np.nan
    with pytest.warns(InputWarning, match="1 case that fewer than two rounds"):
        found = bias_variance(rounds, "squared", by_case=True)
    assert 3 not in found.index and len(found) == 11
    rounds.predictions[1:] = np.nan
    with pytest.raises(InputError, match="two rounds"):
        bias_variance(rounds)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "log"}, "loss"),
        ({"truth": np.eye(3)}, "truth"),
        ({"truth": np.full((12, 3), 0.5)}, "sum to 1"),
        ({"truth": np.full((12, 3), "a")}, "truth"),
    ],
    ids=str,
)
def test_mistakes_are_named(options, words):
    with pytest.raises((InputError, TypeError), match=words):
        bias_variance(made()[0], **options)
