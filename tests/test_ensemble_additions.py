"""Fast scores of all candidates of an ensemble equal the metric, and bounds lose no candidate."""

import numpy as np
import pytest
from budget import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmtl.ensembles import PredictionStore, additions
from bnmtl.ensembles.additions import Additions, additions_of
from bnmtl.ensembles.judges import BINARY
from bnmtl.ensembles.selection import candidates_of

pytestmark = pytest.mark.beside_kernels


def library(seed, n_models, n_cases, grid=None, n_classes=2, metric="cross_entropy"):
    """Good and bad models, some of them extreme; a coarse grid gives many ties."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_cases - n_classes)])
    skill, slope = rng.uniform(0, 2, (n_models, 1, 1)), rng.choice([0.5, 1, 8], (n_models, 1, 1))
    logits = slope * (
        skill * np.eye(n_classes)[y] + rng.normal(size=(n_models, n_cases, n_classes))
    )
    p = np.exp(logits - logits.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    if n_classes == 2:
        p = p[:, :, 1] if grid is None else np.round(p[:, :, 1] * grid) / grid
    return candidates_of(PredictionStore(p, y), metric)[1]


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_models=st.integers(2, 90),
    n_cases=st.integers(4, 300),
    grid=st.sampled_from([2, 10, None]),
    n_classes=st.sampled_from([2, 3]),
    n_members=st.integers(0, 6),
)
def test_the_best_models_are_among_those_that_are_computed(
    seed, n_models, n_cases, grid, n_classes, n_members
):
    rng = np.random.default_rng(seed)
    chosen = library(seed, n_models, n_cases, grid, n_classes)
    fast = additions_of(chosen.judge, chosen.models)
    for _ in range(n_members):  # good members, so that several candidates are nearly as good
        fast.add(int(fast.scores().argmax()))
    allowed = rng.random(len(chosen.models)) < 0.7
    allowed[rng.integers(len(allowed))] = True
    scores = np.where(allowed, fast.scores(), -np.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(additions, "_FIRST", 1)
        leading = fast.leading(allowed)
    near = scores >= scores.max() - fast.margin(scores.max())
    assert np.isfinite(leading[near]).all() and not np.isfinite(leading[~allowed]).any()
    computed = np.isfinite(leading)
    assert leading[computed] == pytest.approx(scores[computed], rel=1e-12)


@pytest.mark.parametrize("n_cases", [50, 3000])
def test_bounds_hold_even_where_they_are_reached(n_cases):
    """The tangent touches the logarithm for a copy of the only member."""
    chosen = library(0, 40, n_cases)
    for at in range(40):
        fast = additions_of(chosen.judge, chosen.models)
        fast.add(at)
        bounds, scores = fast._bounds(), fast.scores()
        assert (bounds >= scores).all()
        assert bounds[at] == pytest.approx(scores[at], abs=2e-4)


def test_few_models_need_logarithms_when_there_are_members():
    chosen = library(1, 600, 400)
    fast = additions_of(chosen.judge, chosen.models)
    allowed = np.ones(600, bool)
    for _ in range(12):
        fast.add(int(fast.leading(allowed).argmax()))
    assert np.isfinite(fast.leading(allowed)).sum() < 100


@pytest.mark.parametrize("metric", BINARY)
@pytest.mark.parametrize("grid", [3, 50, None])
@pytest.mark.parametrize("n_cases", [41, 96])
def test_scores_of_more_models_than_a_block(metric, grid, n_cases, monkeypatch):
    monkeypatch.setattr(additions, "_FEW", 7)
    monkeypatch.setattr(additions, "_BLOCK", 9)
    monkeypatch.setattr(additions, "_CASES", 16)
    chosen = library(2, 40, n_cases, grid, metric=metric)
    fast = additions_of(chosen.judge, chosen.models)
    plain = Additions(chosen.judge, chosen.models)
    # From 128 members on, sums need longer keys.
    for members in ([0], [3, 3, 17], [5] * 130):
        for at in members:
            fast.add(at)
            plain.add(at)
        expected = plain.scores()
        assert fast.scores() == pytest.approx(expected, rel=1e-9)
        assert (fast.values_with(np.arange(40)) == expected).all()
        if fast.is_exact:
            assert (fast.scores() == expected).all()
