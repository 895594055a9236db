"""Imputation by networks: exact distributions by enumeration, draws, types, tasks, mistakes."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bnmtl import BayesNet, SingleTaskLearner, structures
from bnmtl.classification import NetworkImputer
from bnmtl.errors import InputError, InputTypeError

pytestmark = pytest.mark.beside_kernels


def mixed(n=300, seed=0):
    """Columns of all kinds that depend on each other, complete."""
    rng = np.random.default_rng(seed)
    site = rng.choice(["dry", "wet"], n)
    return pd.DataFrame(
        {
            "site": site,
            "height": np.where(site == "wet", 10.0, 2.0) + rng.normal(size=n).round(2),
            "count": rng.poisson(np.where(site == "wet", 40, 3)),
            "grade": pd.Categorical.from_codes(
                (site == "wet") + rng.integers(2, size=n), ["low", "mid", "high"], ordered=True
            ),
            "few": rng.integers(3, size=n),
            "seen": rng.random(n) < np.where(site == "wet", 0.9, 0.1),
        },
        index=np.arange(n) + 500,
    )


def with_gaps(frame, share=0.3, seed=1):
    rng = np.random.default_rng(seed)
    made = frame.astype({"count": float, "few": float, "seen": object, "site": object})
    return made.mask(rng.random(frame.shape) < share)


def test_probabilities_are_those_of_all_completions():
    rows = structures.load("asia").sample(400, random_state=0)[["smoke", "lung", "either", "xray"]]
    imputer = NetworkImputer(SingleTaskLearner(missing="drop")).fit(rows)
    (network,) = imputer.networks_.values()
    gaps = rows[:12].astype(object).mask(np.random.default_rng(0).random((12, 4)) < 0.5)
    found = imputer.cell_probabilities(gaps, "lung")
    for at in range(12):
        observed = gaps.iloc[at].drop("lung").dropna()
        expected = dict.fromkeys(network.states["lung"], 0.0)
        for states in itertools.product(*network.states.values()):
            row = dict(zip(network.states, states, strict=True))
            if all(row[name] == state for name, state in observed.items()):
                expected[row["lung"]] += np.exp(network.log_likelihood(pd.DataFrame([row])).item())
        total = sum(expected.values())
        for state, value in expected.items():
            assert found.iloc[at][state] == pytest.approx(value / total, abs=1e-10)
    filled = imputer.transform(gaps)
    missing = gaps["lung"].isna()
    assert filled["lung"][missing].tolist() == found.idxmax(axis=1)[missing].tolist()
    assert filled[gaps.notna()].equals(gaps)


def test_draws_follow_the_joint_distribution():
    rows = structures.load("asia").sample(500, random_state=0)[["tub", "lung", "either"]]
    imputer = NetworkImputer(fill="draw", random_state=0).fit(rows)
    empty = pd.DataFrame(None, index=range(20_000), columns=rows.columns, dtype=object)
    drawn = imputer.transform(empty)
    (network,) = imputer.networks_.values()
    shares = drawn.value_counts(normalize=True)
    for states in itertools.product(*(network.states[name] for name in rows)):
        row = pd.DataFrame([dict(zip(rows, states, strict=True))])
        p = np.exp(network.log_likelihood(row).item())
        assert shares.get(states, 0.0) == pytest.approx(p, abs=4 * np.sqrt(p / 20_000) + 1e-4)
    assert drawn.equals(imputer.transform(empty))


@pytest.mark.parametrize("fill", ["expected", "draw"])
def test_types_and_observed_cells_are_kept(fill):
    frame = mixed()
    gaps = with_gaps(frame)
    before = gaps.copy()
    filled = NetworkImputer(fill=fill, random_state=0).fit(frame).transform(gaps)
    pd.testing.assert_frame_equal(gaps, before)
    assert not filled.isna().any(axis=None)
    assert filled[gaps.notna()].equals(gaps)
    assert filled.index.equals(frame.index)
    assert filled.dtypes.to_dict() == gaps.dtypes.to_dict()
    for name in ("site", "grade", "few", "seen"):
        assert set(filled[name]) <= set(frame[name])
    assert (filled["count"] == filled["count"].round()).all()
    hidden = gaps["count"].isna() & gaps["site"].notna()
    wet = hidden & (gaps["site"] == "wet")
    assert filled.loc[wet, "count"].mean() > 30
    assert filled.loc[hidden & ~wet, "count"].mean() < 12


def test_expected_numbers_are_means_of_bins():
    frame = mixed()
    imputer = NetworkImputer(bins=3).fit(frame)
    gaps = frame[:5].assign(height=np.nan)
    p = imputer.cell_probabilities(gaps, "height")
    bins = pd.qcut(frame["height"], 3)
    means = frame["height"].groupby(bins, observed=True).mean().to_numpy()
    np.testing.assert_allclose(imputer.transform(gaps)["height"], p.to_numpy() @ means, rtol=0.01)


def test_states_stand_for_observed_values():
    frame = mixed()
    imputer = NetworkImputer(bins=3).fit(frame)
    bins = pd.qcut(frame["height"], 3)
    medians = frame["height"].groupby(bins, observed=True).quantile(interpolation="lower")
    values = imputer.state_values("height")
    np.testing.assert_allclose(values, medians, rtol=0.02)
    assert set(values) <= set(frame["height"])
    assert list(values.index) == list(imputer.cell_probabilities(frame[:1], "height"))
    assert sorted(imputer.state_values("site")) == ["dry", "wet"]
    other = frame.assign(height=frame["height"] + 0.001)
    several = NetworkImputer(bins=3).fit({"a": frame, "b": other})
    assert set(several.state_values("height", "a")) <= set(frame["height"])
    assert set(several.state_values("height", "b")) <= set(other["height"])


def test_fewer_cells_are_wrong_than_by_the_most_frequent_value():
    train, test = mixed(), mixed(seed=5)
    gaps = with_gaps(test)
    filled = NetworkImputer().fit(train).transform(gaps)
    hidden = gaps["site"].isna()
    mode = train["site"].mode().item()
    right = (filled["site"] == test["site"])[hidden].mean()
    assert right > 0.9 > (test["site"] == mode)[hidden].mean()


def test_labels_are_evidence():
    frame = mixed()
    y = np.where(frame.pop("site") == "wet", 1, 0)
    imputer = NetworkImputer().fit(frame, y)
    empty = pd.DataFrame(None, index=range(2), columns=frame.columns, dtype=object)
    empty["height"] = [np.nan, np.nan]
    with_labels = imputer.transform(empty, [0, 1])
    assert with_labels["height"].tolist() == pytest.approx([2, 10], abs=1)
    unlabeled = imputer.transform(empty)
    assert with_labels["height"][0] < unlabeled["height"][0] < with_labels["height"][1]
    assert imputer.transform(empty, [None, 1])["height"][0] == unlabeled["height"][0]
    assert list(with_labels) == list(frame)


def test_several_tasks_have_their_networks():
    a, b = mixed(), mixed(seed=3)
    b["site"] = np.where(b["site"] == "wet", "dry", "wet")  # the other way around
    imputer = NetworkImputer().fit({"a": a, "b": b})
    gaps = a[:40].astype({"site": object}).assign(site=None)
    filled = imputer.transform({"b": gaps, "a": gaps})
    assert (filled["a"]["site"] == a["site"][:40]).mean() > 0.9
    assert (filled["b"]["site"] == a["site"][:40]).mean() < 0.1
    alone = imputer.transform({"a": gaps})["a"]
    pd.testing.assert_frame_equal(alone, filled["a"])
    (row,) = imputer.cell_probabilities({"b": gaps[:1]}, "site").to_dict("records")
    assert max(row, key=row.get) != a["site"].iloc[0]


def test_arrays_and_any_order_of_columns():
    frame = mixed()
    gaps = with_gaps(frame)
    filled = NetworkImputer().fit(frame).transform(gaps[gaps.columns[::-1]])
    pd.testing.assert_frame_equal(filled[gaps.columns], NetworkImputer().fit(frame).transform(gaps))
    numbers = frame[["height", "few"]].to_numpy()
    hidden = numbers[:4].copy()
    hidden[0, 0] = hidden[1, 1] = np.nan
    found = NetworkImputer().fit(numbers).transform(hidden)
    assert isinstance(found, np.ndarray)
    assert not np.isnan(found).any()


def test_unknown_values_are_kept_and_say_nothing():
    frame = mixed()
    imputer = NetworkImputer().fit(frame)
    gaps = frame[:2].astype({"site": object}).assign(site="swamp", height=np.nan)
    unknown = frame[:2].astype({"site": object}).assign(site=None, height=np.nan)
    filled = imputer.transform(gaps)
    assert filled["site"].tolist() == ["swamp", "swamp"]
    assert filled["height"].tolist() == imputer.transform(unknown)["height"].tolist()


def test_fractions_are_unknown_where_whole_numbers_are_states():
    frame = mixed().assign(age=np.arange(len(mixed())) % 4)
    imputer = NetworkImputer().fit(frame)
    gaps = frame[:3].astype({"age": float}).assign(age=[1.5, np.nan, 2.0], height=np.nan)
    filled = imputer.transform(gaps)
    assert filled["age"].tolist()[::2] == [1.5, 2.0]
    without = imputer.transform(gaps.assign(age=[np.nan, np.nan, 2.0]))
    assert filled["height"].tolist() == without["height"].tolist()


def test_only_complete_rows_are_learned_from():
    frame = mixed()
    broken = frame.astype({"site": object})
    broken.loc[broken.index[200:], "site"] = None
    first = NetworkImputer().fit(broken).networks_["task1"]
    second = NetworkImputer().fit(broken[:200]).networks_["task1"]
    assert first.graph.edges == second.graph.edges
    assert isinstance(first, BayesNet)


@pytest.mark.parametrize("fill", ["expected", "draw"])
def test_a_bin_without_cells_is_left_out(fill):
    rng = np.random.default_rng(0)
    values = np.tile([1, 1, 2, 2, 2, 2.5, 3, 3, 3.5, 4], 20)
    frame = pd.DataFrame({"v": values, "w": rng.integers(2, size=200)})
    imputer = NetworkImputer(fill=fill, random_state=0).fit(frame)
    gaps = pd.DataFrame({"v": np.full(300, np.nan), "w": rng.integers(2, size=300)})
    filled = imputer.transform(gaps)["v"]
    assert filled.mean() == pytest.approx(values.mean(), abs=0.15)
    if fill == "draw":
        assert set(filled) <= set(values)


def test_labels_that_are_numbers_are_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(14, size=700)
    frame = pd.DataFrame({"a": np.where(y == 13, "x", "z"), "b": rng.integers(2, size=700)})
    gaps = pd.DataFrame({"a": [None, None, None], "b": [0, 0, 1]})
    filled = NetworkImputer().fit(frame, y).transform(gaps, [13.0, 12.0, 11.0])
    assert filled["a"].tolist() == ["x", "z", "z"]


def test_a_column_without_values_takes_the_type_of_the_fit():
    frame = mixed()
    gaps = frame[:4].assign(site=np.nan)
    assert NetworkImputer().fit(frame).transform(gaps)["site"].isin(["dry", "wet"]).all()


def test_draws_do_not_depend_on_the_order_of_columns():
    frame, imputer = mixed(), NetworkImputer(fill="draw", random_state=0)
    gaps = with_gaps(frame)
    first = imputer.fit(frame).transform(gaps)
    second = imputer.transform(gaps[gaps.columns[::-1]])
    pd.testing.assert_frame_equal(second[gaps.columns], first)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda f: NetworkImputer(SingleTaskLearner()).fit(f), "complete rows"),
        (lambda f: NetworkImputer(fill="mean").fit(f), "fill"),
        (lambda f: NetworkImputer(bins=1).fit(f), "bins"),
        (lambda f: NetworkImputer().fit(f, [1]), "one label for each row"),
        (lambda f: NetworkImputer().fit({"a": f, "b": f}, [1] * 60), "mapping"),
        (lambda f: NetworkImputer().fit(f).transform(f.drop(columns="few")), "columns of the fit"),
        (lambda f: NetworkImputer().fit(f).transform({"west": f}), "west"),
        (lambda f: NetworkImputer().fit(f).transform(f, [1] * 60), "no labels"),
        (lambda f: NetworkImputer().fit(f).cell_probabilities(f, "altitude"), "altitude"),
        (
            lambda f: (
                NetworkImputer().fit({"a": f, "b": f}).cell_probabilities({"a": f, "b": f}, "few")
            ),
            "one task",
        ),
        (lambda f: NetworkImputer().fit(f).state_values("altitude"), "altitude"),
        (lambda f: NetworkImputer().fit({"a": f, "b": f}).state_values("few"), "a.* or .*b"),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        make(mixed(60))


def test_categories_are_kept_where_all_cells_are_missing():
    rows = structures.load("asia").sample(80, random_state=0)
    gaps = rows[:5].assign(lung=pd.Categorical([None] * 5, categories=["no", "yes"]))
    filled = NetworkImputer(random_state=0).fit(rows).transform(gaps)
    assert list(filled["lung"].cat.categories) == ["no", "yes"]
    assert filled["lung"].notna().all()


def test_the_seed_is_that_of_the_learner():
    rows = structures.load("asia").sample(80, random_state=0)
    assert NetworkImputer(random_state=4).fit(rows).learner_.random_state == 4
    given = SingleTaskLearner(missing="drop", random_state=2)
    assert NetworkImputer(given).fit(rows).learner_.random_state == 2
    assert NetworkImputer(given, random_state=4).fit(rows).learner_.random_state == 4
    assert given.random_state == 2
