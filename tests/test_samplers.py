"""Pseudo-cases: Munge, networks, and the controls with independent columns."""

import itertools
import warnings

import naive_ensembles
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmtl import MultitaskLearner, PairedPrior, SingleTaskLearner, structures
from bnmtl.classification.columns import read_columns
from bnmtl.ensembles import MarginalSampler, Munge, NaiveBayesSampler, NetworkSampler
from bnmtl.ensembles.compression.munge import CodedCases, draw, exchanged, original_partners
from bnmtl.errors import InputError, InputTypeError, InputWarning

# They call compiled code as users do, and compile none.
pytestmark = pytest.mark.beside_kernels


def mixed(seed=0, n=60, gaps=0.0):
    """Rows with all kinds of columns and many ties."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "height": rng.normal(170, 10, n).round(1),
            "children": rng.integers(4, size=n),
            "whole": rng.integers(3, size=n).astype(float),
            "single": rng.random(n).astype("float32"),
            "nullable": pd.array(rng.integers(5, size=n), dtype="Int64"),
            "color": rng.choice(["red", "green", "blue"], n),
            "object": rng.choice(["x", "y"], n).astype(object),
            "smokes": rng.random(n) < 0.3,
            "grade": pd.Categorical.from_codes(
                rng.integers(3, size=n), ["low", "mid", "high", "never"], ordered=True
            ),
        },
        index=np.arange(n) + 1000,
    )
    if gaps:
        for name in ("height", "whole", "nullable", "color", "object", "grade"):
            frame.loc[frame.index[rng.random(n) < gaps], name] = None
    return frame


def sampler_of(kind, frame, **options):
    sampler = {
        "munge": Munge,
        "network": NetworkSampler,
        "naive Bayes": NaiveBayesSampler,
        "marginal": MarginalSampler,
    }[kind](**options)
    return sampler.fit(frame, np.arange(60 if frame is None else len(frame)) % 2)


ALL = ("munge", "network", "naive Bayes", "marginal")
BESIDE_NETWORKS = ("munge", "naive Bayes", "marginal")


@pytest.mark.parametrize("gaps", [0, 0.2])
@pytest.mark.parametrize("kind", ALL)
def test_columns_and_types_are_kept(kind, gaps):
    frame = mixed(gaps=gaps)
    before = frame.copy()
    pseudo = sampler_of(kind, frame).sample(130, random_state=1)
    pd.testing.assert_frame_equal(frame, before)
    assert pseudo.dtypes.tolist() == frame.dtypes.tolist()
    assert list(pseudo) == list(frame)
    assert pseudo.index.tolist() == list(range(130))
    for name in frame:
        if name in ("height", "single"):
            low, high = frame[name].min(), frame[name].max()
            assert pseudo[name].dropna().between(low, high).all()
        else:
            assert set(pseudo[name].dropna()) <= set(frame[name].dropna())
    has_gaps = frame.isna().any()
    assert (pseudo.isna().any() <= has_gaps).all()
    if gaps:
        assert pseudo.isna().any().sum() >= 5


@pytest.mark.parametrize("dtype", [float, "float32", int, bool])
@pytest.mark.parametrize("kind", ALL)
def test_an_array_gives_an_array(kind, dtype):
    array = np.random.default_rng(0).integers(2, size=(40, 3)).astype(dtype)
    pseudo = sampler_of(kind, array).sample(50, random_state=0)
    assert isinstance(pseudo, np.ndarray)
    assert (pseudo.shape, pseudo.dtype) == ((50, 3), array.dtype)
    assert set(np.unique(pseudo)) == {0, 1}


@pytest.mark.parametrize("kind", ALL)
def test_the_same_seed_gives_the_same_rows_whatever_the_order_of_columns(kind):
    frame = mixed()
    first = sampler_of(kind, frame).sample(100, random_state=3)
    again = sampler_of(kind, frame).sample(100, random_state=np.random.default_rng(5))
    assert not first.equals(again)
    pd.testing.assert_frame_equal(
        sampler_of(kind, frame).sample(100, random_state=np.random.default_rng(5)), again
    )
    turned = frame[frame.columns[::-1]]
    pd.testing.assert_frame_equal(
        sampler_of(kind, turned).sample(100, random_state=3)[list(frame)], first
    )


@pytest.mark.parametrize("kind", ["network", "naive Bayes", "marginal"])
def test_a_shorter_sample_is_the_beginning_of_a_longer_one(kind):
    sampler = sampler_of(kind, mixed())
    short, long = (sampler.sample(n, random_state=0) for n in (20, 70))
    pd.testing.assert_frame_equal(short, long[:20])


@pytest.mark.parametrize("options", [{}, {"neighbors": "original"}, {"identical": "keep"}])
def test_nominal_columns_keep_their_values_in_each_pass(options):
    frame = mixed(gaps=0.1)
    pseudo = Munge(random_state=0, **options).fit(frame).sample()
    assert len(pseudo) == 5 * len(frame)
    for at in range(5):
        one = pseudo[at * len(frame) : (at + 1) * len(frame)]
        for name in ("color", "object", "smokes", "grade"):
            assert one[name].value_counts().to_dict() == frame[name].value_counts().to_dict()
            assert one[name].isna().sum() == frame[name].isna().sum()
        changed = [name for name in frame if one[name].tolist() != frame[name].tolist()]
        assert len(changed) == 9


@pytest.mark.parametrize("neighbors", ["current", "original"])
def test_probability_0_returns_the_data(neighbors):
    frame = mixed(gaps=0.2)
    munge = Munge(2, probability=0, neighbors=neighbors, random_state=0).fit(frame)
    expected = pd.concat([frame, frame], ignore_index=True)
    pd.testing.assert_frame_equal(munge.sample(), expected)


def test_probability_1_swaps_whole_pairs():
    frame = pd.DataFrame({"a": list("xyz"), "b": list("pqr")})
    pseudo = Munge(1, probability=1, random_state=0).fit(frame).sample()
    assert sorted(pseudo["a"] + pseudo["b"]) == ["xp", "yq", "zr"]


def test_whole_numbers_stay_whole_and_in_range():
    array = np.random.default_rng(0).integers(-3, 8, size=(80, 4)).astype(float)
    pseudo = Munge(3, local_variance=0.2, random_state=0).fit(array).sample()
    assert (pseudo == np.floor(pseudo)).all()
    assert (pseudo.min(axis=0) >= array.min(axis=0)).all()
    assert (pseudo.max(axis=0) <= array.max(axis=0)).all()


def test_a_large_local_variance_swaps_numbers():
    array = np.array([[0.0, 0.1], [1.0, 1.1], [10.0, 9.0]])
    pseudo = Munge(1, 1, 1e12, "original", random_state=0).fit(array).sample()
    # 0 with 1, 1 (now at the first) with 0 again, and 10 with 1.
    assert pseudo == pytest.approx(array[[0, 2, 1]], abs=1e-9)


def test_numbers_are_normal_around_those_of_the_other_case():
    # Cases far away in the range of the column, so that nothing is clipped.
    cases = CodedCases.of(read_columns(np.array([[0.25], [1.25], [-50.0], [50.0]])))
    partners = np.array([1, -1, -1, -1])
    drawn = [
        exchanged(cases, draw(0, number, cases, 1), 5, True, partners).numbers[:2, 0]
        for number in range(4000)
    ]
    assert np.mean(drawn, axis=0) == pytest.approx([1.25, 0.25], abs=0.015)
    assert np.std(drawn, axis=0) == pytest.approx([0.2, 0.2], abs=0.01)
    assert abs(np.corrcoef(np.transpose(drawn))[0, 1]) < 0.06


def test_identical_twins_are_skipped_or_kept():
    frame = pd.DataFrame({"a": ["x"] * 20 + ["y"] * 2, "b": ["p"] * 20 + ["q"] * 2})
    kept = Munge(1, identical="keep", random_state=0).fit(frame).sample()
    pd.testing.assert_frame_equal(kept, frame)
    skipped = Munge(1, random_state=0).fit(frame).sample()
    assert (skipped["a"] + skipped["b"]).nunique() > 2
    same = pd.DataFrame({"a": ["x"] * 5, "b": [1.5] * 5})
    pd.testing.assert_frame_equal(Munge(1).fit(same).sample(), same)


@given(
    seed=st.integers(0, 10**6),
    kinds=st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)).filter(any),
    n_rows=st.integers(2, 12),
    gaps=st.sampled_from([0, 0.3]),
    skip=st.booleans(),
    original=st.booleans(),
)
def test_a_pass_equals_its_naive_twin(seed, kinds, n_rows, gaps, skip, original):
    n_whole, n_nominal, n_fractions = kinds
    rng = np.random.default_rng(seed)
    whole = pd.DataFrame(rng.integers(3, size=(n_rows, n_whole)).astype(float)).add_prefix("w")
    nominal = pd.DataFrame(rng.choice(list("abc"), (n_rows, n_nominal))).add_prefix("n")
    fractions = pd.DataFrame(rng.integers(4, size=(n_rows, n_fractions)) / 4 + 0.1).add_prefix("f")
    frame = pd.concat([whole, nominal, fractions], axis=1)
    frame = frame.mask(rng.random(frame.shape) < gaps)
    cases = CodedCases.of(read_columns(frame))
    draws = draw(seed, 0, cases, 0.5)
    numbers, codes = naive_ensembles.munged(cases, draws, 3.0, skip, original)
    partners = original_partners(cases, draws.ties[None], skip)[0] if original else None
    found = exchanged(cases, draws, 3.0, skip, partners)
    np.testing.assert_allclose(found.numbers, np.reshape(numbers, found.numbers.shape), atol=1e-9)
    assert found.codes.tolist() == np.reshape(codes, found.codes.shape).tolist()


def test_the_last_pass_is_a_random_choice():
    frame = pd.DataFrame({"at": np.arange(1000.0)})
    pseudo = Munge(probability=0, random_state=0).fit(frame).sample(1100)["at"]
    assert pseudo[:1000].tolist() == list(range(1000))
    assert pseudo[1000:].is_monotonic_increasing
    assert 400 < pseudo[1000:].mean() < 600


def test_progress_of_passes():
    events = []
    Munge(progress=events.append).fit(mixed()).sample(150)
    assert [(event.done, event.total) for event in events] == [
        (0, 180),
        (60, 180),
        (120, 180),
        (180, 180),
    ]


def test_cells_of_naive_bayes_come_from_a_case_of_the_class():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.25
    frame = pd.DataFrame({"a": y + rng.integers(2, size=4000), "b": y * 1, "c": rng.random(4000)})
    frame["d"] = frame["a"] * 10
    pseudo = NaiveBayesSampler().fit(frame, y).sample(20_000, random_state=0)
    assert pseudo["b"].mean() == pytest.approx(y.mean(), abs=0.015)
    assert set(pseudo["a"][pseudo["b"] == 0]) == {0, 1}
    assert set(pseudo["a"][pseudo["b"] == 1]) == {1, 2}
    # Given the class, a and d are independent.
    of_class = pseudo[pseudo["b"] == 0]
    assert abs(np.corrcoef(of_class["a"], of_class["d"])[0, 1]) < 0.03
    assert pseudo["c"].isin(frame["c"]).all()


def test_marginal_columns_are_independent():
    frame = pd.DataFrame({"a": np.arange(2000) % 5})
    frame["b"] = frame["a"]
    pseudo = MarginalSampler().fit(frame).sample(20_000, random_state=0)
    assert pseudo["a"].value_counts(normalize=True).to_numpy() == pytest.approx(0.2, abs=0.015)
    assert abs(np.corrcoef(pseudo["a"], pseudo["b"])[0, 1]) < 0.03


def test_a_network_keeps_dependences_and_draws_numbers_within_bins():
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    frame = pd.DataFrame({"x": x, "big": x > 1, "age": rng.integers(18, 90, 3000)})
    pseudo = NetworkSampler(bins=10).fit(frame).sample(5000, random_state=0)
    assert pseudo["x"].isin(frame["x"]).all()
    assert pseudo["x"].nunique() > 1500
    assert pseudo["age"].isin(frame["age"]).all()
    assert pseudo["age"].nunique() > 60
    assert pseudo["x"][pseudo["big"]].min() > 0.7
    assert pseudo["x"][~pseudo["big"]].max() < 1.8


def test_whole_numbers_of_few_values_are_states():
    frame = pd.DataFrame({"few": np.arange(600) % 10, "many": np.arange(600) % 12})
    sampler = NetworkSampler(bins=3).fit(frame)
    states = sampler.networks_["task1"].states
    assert (len(states["few"]), len(states["many"])) == (10, 3)
    many = NetworkSampler(bins=12).fit(frame).networks_["task1"].states["many"]
    assert len(many) == 12


def test_missing_cells_of_a_network_sampler():
    frame = mixed(n=300, gaps=0.2)
    with pytest.raises(InputError, match="missing"):
        NetworkSampler(SingleTaskLearner()).fit(frame)
    with pytest.warns(UserWarning, match="dropped"):
        dropped = NetworkSampler(SingleTaskLearner(missing="drop")).fit(frame)
    assert dropped.sample(50, random_state=0).notna().all(axis=None)
    share = NetworkSampler().fit(frame).sample(3000, random_state=0).isna().mean()
    assert share[["height", "color"]].to_numpy() == pytest.approx(
        frame.isna().mean()[["height", "color"]].to_numpy(), abs=0.05
    )


def test_pseudo_cases_of_several_tasks_come_from_their_networks():
    asia = structures.load("asia")
    tasks = {name: asia.sample(400, random_state=at) for at, name in enumerate("ab")}
    tasks["b"]["smoke"] = pd.Categorical(["yes"] * 399 + ["no"], ["yes", "no"])
    tasks["a"]["age"], tasks["b"]["age"] = np.arange(400) / 7, np.arange(400) / 7 + 20
    sampler = NetworkSampler(MultitaskLearner(PairedPrior(0.5), missing="state")).fit(tasks)
    pseudo = sampler.sample(500, random_state=0)
    assert list(pseudo) == ["a", "b"]
    for name, frame in pseudo.items():
        assert (frame.shape, list(frame)) == ((500, 9), list(tasks[name]))
        assert frame["smoke"].dtype == tasks[name]["smoke"].dtype
        assert frame["age"].isin(tasks[name]["age"]).mean() > 0.98
    assert 0.3 < (pseudo["a"]["smoke"] == "yes").mean() < 0.7
    assert (pseudo["b"]["smoke"] == "yes").mean() > 0.97
    few = {name: frame[["smoke", "lung"]] for name, frame in tasks.items()}
    assert isinstance(NetworkSampler().fit(few).learner_, MultitaskLearner)


def test_tasks_with_the_same_rows_have_different_pseudo_cases():
    rows = structures.load("asia").sample(300, random_state=0)[["smoke", "bronc", "dysp"]]
    pseudo = NetworkSampler().fit({"a": rows, "b": rows}).sample(100, random_state=0)
    assert not pseudo["a"].equals(pseudo["b"])


def test_a_state_that_a_task_lacks_comes_from_the_others():
    rng = np.random.default_rng(0)
    tasks = {"a": pd.DataFrame({"x": rng.integers(3, size=50), "y": rng.integers(2, size=50)})}
    tasks[7] = pd.DataFrame({"x": [0, 1] * 10, "y": [0, 0, 1, 1] * 5})
    pseudo = NetworkSampler().fit(tasks).sample(5000, random_state=0)
    assert list(pseudo) == ["a", 7]
    assert set(pseudo[7]["x"]) == {0, 1, 2}
    assert (pseudo[7]["x"] == 2).mean() < 0.1


def test_tasks_with_different_categories_get_those_of_all():
    grades = pd.Series(["low", "high"] * 20)
    first, second = ["low", "high"], ["low", "mid", "high"]
    more = grades.where(grades.index > 9, "mid")
    a, b = pd.Categorical(grades, first), pd.Categorical(more, second)
    tasks = {name: pd.DataFrame({"g": c, "x": [0, 1] * 20}) for name, c in (("a", a), ("b", b))}
    for frame in NetworkSampler().fit(tasks).sample(50, random_state=0).values():
        assert frame["g"].cat.categories.tolist() == ["low", "high", "mid"]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("n", [0, 2.5, "many"])
def test_a_wrong_number_of_rows(kind, n):
    with pytest.raises((InputError, InputTypeError), match="`n` must be"):
        sampler_of(kind, mixed()).sample(n)


@pytest.mark.parametrize("kind", BESIDE_NETWORKS)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pd.DataFrame({"a": [1]}), "2 rows or more"),
        (pd.DataFrame(index=range(5)), "one column or more"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "got `a` twice"),
        (pd.DataFrame({"a": [1, np.inf]}), "column `a` must hold finite numbers"),
        (pd.DataFrame({"a": pd.to_datetime(["2020", "2021"])}), "must hold numbers, text"),
        (np.array([["x"], ["y"]]), "an array of numbers"),
        (np.zeros(3), "two dimensions"),
        (None, "`X` must be a DataFrame, or an array"),
        (pd.DataFrame({"a": [[1], [2]]}), "column `a` must hold values that can be compared"),
    ],
)
def test_rows_that_are_not_taken(kind, rows, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        sampler_of(kind, rows)


def test_nominal_neighbors_that_only_change_places_are_reported():
    every = pd.DataFrame(list(itertools.product("abcde", "pqrst", "vwxyz", "klmno")))
    some = every.sample(200, random_state=0)
    with pytest.warns(InputWarning, match=r"hardly any new case.*set `neighbors=\"original\"`"):
        pseudo = Munge(random_state=0).fit(some).sample()
    new = set(map(tuple, pseudo.to_numpy())) - set(map(tuple, some.to_numpy()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = Munge(neighbors="original", random_state=0).fit(some).sample()
        Munge(random_state=0).fit(some.assign(size=np.arange(200.0))).sample()
        Munge(probability=0, random_state=0).fit(some).sample()
    assert len(set(map(tuple, other.to_numpy())) - set(map(tuple, some.to_numpy()))) > 2 * len(new)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0}, "`size` must be a whole number of at least 1"),
        ({"probability": 1.5}, "`probability` must be"),
        ({"local_variance": 0}, "`local_variance` must be a number above 0"),
        ({"neighbors": "nearest"}, "`neighbors` must be"),
        ({"identical": True}, "`identical` must be"),
        ({"random_state": "x"}, "`random_state` must be"),
    ],
)
def test_wrong_parameters_of_munge(options, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        Munge(**options).fit(mixed())


def test_wrong_classes_of_naive_bayes():
    for y, message in (([0, 1], "one class for each row"), ([0.0] * 59 + [np.nan], "missing")):
        with pytest.raises(InputError, match=message):
            NaiveBayesSampler().fit(mixed(), y)


def test_wrong_parameters_of_a_network_sampler():
    with pytest.raises(InputError, match="`bins` must be"):
        NetworkSampler(bins=1).fit(mixed())
    with pytest.raises(InputTypeError, match="`learner` must be one of the learners"):
        NetworkSampler("tabu").fit(mixed())
    with pytest.raises(InputError, match="infinite"):
        NetworkSampler().fit(pd.DataFrame({"a": [1, np.inf, 2, 3], "b": [0, 1, 0, 1]}))
