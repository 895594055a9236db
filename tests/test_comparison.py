"""Together, alone and no arcs on held-out rows: the same as learning again without each fold."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from small import CLIMB, ONE_GROUP, related

from bnmtl import (
    BayesNet,
    BDeu,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
)
from bnmtl.learners import compare, comparison, gain
from bnmtl.learners.task_groups import GroupsByData
from bnmtl.search import Limits
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

AUTO = {**CLIMB, "score": None, "structure_prior": "auto"}


def parts(tasks, scored, fold):
    """The rows that a fold learns from and those that it holds out, by task."""
    train, test = {}, {}
    for name, frame in tasks.items():
        rows = scored[(scored["task"] == name) & (scored["fold"] == fold)]["row"]
        test[name] = frame.iloc[rows]
        train[name] = frame.drop(index=frame.index[rows])
    return train, test


def categorical(tasks):
    """States of all rows, so that folds know them."""
    return {name: frame.astype("category") for name, frame in tasks.items()}


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"score": BDeu(1)}, marks=pytest.mark.beside_kernels),
        pytest.param({"validation": "posterior", "cv": None}, marks=pytest.mark.beside_kernels),
        {},
    ],
)
def test_folds_of_a_fit_are_used_again_only_by_the_same_learner(changed):
    tasks = encode(dict(list(related().items())[:2]))
    settings = {**AUTO, "penalties": [0.0, 0.9], "cv": 3}
    learner = MultitaskLearnerCV(**ONE_GROUP, **settings).fit(tasks)
    learner.set_params(**changed, n_jobs=1)
    expected = compare(MultitaskLearnerCV(**ONE_GROUP, **{**settings, **changed}), tasks, cv=3)
    stages, events = ["comparing on held-out rows"] if changed else [], []
    learner.set_params(progress=events.append)
    pd.testing.assert_frame_equal(compare(learner, tasks, cv=3), expected)
    assert [event.stage for event in events if event.done == 0] == stages
    if "validation" in changed:
        # A later fit that holds nothing out forgets the folds of the one before.
        pd.testing.assert_frame_equal(compare(learner.fit(tasks), tasks, cv=3), expected)


def test_folds_of_a_fit_are_handed_over_to_a_comparison_with_another_limit():
    tasks, events = encode(dict(list(related().items())[:2])), []
    settings = {**AUTO, "penalties": [0.0, 0.9], "cv": 3, "limits": Limits(time_limit=1000)}
    learner = MultitaskLearnerCV(**ONE_GROUP, **settings).fit(tasks)
    expected = compare(learner, tasks, cv=3)
    learner.set_params(progress=events.append)
    scored = comparison.compare_within(learner, tasks, 3, 0.0)
    pd.testing.assert_frame_equal(scored, expected)
    assert scored.attrs["ended_by"] == () and not events
    with pytest.warns(UserWarning, match="`time_limit` ended a search"):
        other = comparison.compare_within(learner, tasks, 2, 0.0)
    assert other.attrs["ended_by"] == ("time_limit",)
    assert learner.limits.time_limit == 1000


@pytest.mark.slow_without_jit
@pytest.mark.filterwarnings("ignore:.time_limit. ended a search")
def test_folds_that_a_time_limit_cut_short_are_not_used_again():
    tasks = encode(related())
    settings = {**AUTO, "penalties": [0.0, 0.9], "cv": 3, **ONE_GROUP}
    learner = MultitaskLearnerCV(limits=Limits(time_limit=0), **settings).fit(tasks)
    scored = compare(learner.set_params(limits=Limits()), tasks, cv=3)
    assert scored.attrs["ended_by"] == ()
    pd.testing.assert_frame_equal(scored, compare(MultitaskLearnerCV(**settings), tasks, cv=3))


@pytest.mark.parametrize("settings", [CLIMB, AUTO, {**AUTO, "parameter_sample_size": 2}])
def test_alone_and_empty_are_learned_without_the_fold(settings):
    tasks = categorical(related())
    scored = compare(SingleTaskLearner(**settings), tasks, cv=3)
    assert list(scored) == ["task", "row", "fold", "empty", "alone"]
    size = settings.get("parameter_sample_size", "auto")
    for fold in range(3):
        train, test = parts(tasks, scored, fold)
        learner = SingleTaskLearner(**settings).fit(train)
        for name in tasks:
            of_fold = scored[(scored["task"] == name) & (scored["fold"] == fold)]
            expected = learner.networks_[name].log_likelihood(test[name])
            assert of_fold["alone"].to_numpy() == pytest.approx(np.asarray(expected))
            graph = learner.configuration_[name].copy()
            graph.remove_edges_from(list(graph.edges))
            empty = BayesNet.fit(graph, train[name], size).log_likelihood(test[name])
            assert of_fold["empty"].to_numpy() == pytest.approx(np.asarray(empty))


@pytest.mark.slow_without_jit
def test_alone_is_the_same_whatever_it_is_compared_with():
    """Tasks that share tables expect fewer arcs together; each of them by itself does not."""
    tasks = dict(list(related().items())[:3])
    expected = compare(SingleTaskLearner(**AUTO), tasks, cv=2)
    for learner in (MultitaskLearner(**AUTO), MultitaskLearnerCV(penalties=[0.9], **AUTO)):
        scored = compare(learner.set_params(task_groups=None), tasks, cv=2)
        pd.testing.assert_series_equal(scored["alone"], expected["alone"])
    assert (expected["alone"] != expected["empty"]).any()


def test_every_row_is_held_out_once_and_small_tasks_one_row_at_a_time():
    tasks = related()
    tasks["task2"] = tasks["task2"].iloc[:4]
    scored = compare(SingleTaskLearner(**AUTO), tasks, cv=6)
    for name, frame in tasks.items():
        of_task = scored[scored["task"] == name]
        assert of_task["row"].tolist() == list(range(len(frame)))
        assert (of_task["fold"].value_counts() <= np.ceil(len(frame) / 6)).all()
    assert compare(SingleTaskLearner(**AUTO), tasks)["fold"].nunique() == 10
    few = {name: frame.iloc[:5] for name, frame in tasks.items()}
    assert compare(SingleTaskLearner(**AUTO), few)["fold"].nunique() == 5


def test_together_is_learned_without_the_fold():
    """One start and the greedy search alone: what folds do, and what may be asked of a learner."""
    tasks = categorical(related())
    settings = {**AUTO, "start": "single-task"}
    learner = MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **settings)
    scored = compare(learner, tasks, cv=3)
    assert (scored["penalty"] == 0.9).all()
    agreeing = []
    for fold in range(3):
        train, test = parts(tasks, scored, fold)
        fitted = MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **settings).fit(train)
        for name in tasks:
            of_fold = scored[(scored["task"] == name) & (scored["fold"] == fold)]["together"]
            expected = np.asarray(fitted.networks_[name].log_likelihood(test[name]))
            agreeing.append(np.allclose(of_fold, expected))
    # Searches over one task at a time, which folds leave out, may find another graph.
    assert np.mean(agreeing) >= 0.5


@pytest.mark.slow_without_jit
def test_the_other_folds_choose_the_penalty():
    tasks = dict(list(related().items())[:3])
    learner = MultitaskLearnerCV(penalties=[0, 0.9, 0.9999], cv=3, **ONE_GROUP, **AUTO)
    scored = compare(learner, tasks, cv=3)
    assert scored.groupby("fold")["penalty"].nunique().eq(1).all()
    at = {
        penalty: compare(
            MultitaskLearnerCV(penalties=[penalty], cv=3, **ONE_GROUP, **AUTO), tasks, cv=3
        )
        for penalty in (0, 0.9, 0.9999)
    }
    for fold in range(3):
        means = {
            penalty: table[table["fold"] != fold].groupby("task", observed=True)["together"].mean()
            for penalty, table in at.items()
        }
        best = max(means, key=lambda penalty: means[penalty].mean())
        assert (scored["penalty"][scored["fold"] == fold] == best).all()
    again = compare(learner.fit(tasks), tasks, cv=3)
    pd.testing.assert_frame_equal(again, scored)


def test_one_standard_error_never_takes_a_smaller_penalty():
    penalties = {
        rule: compare(
            MultitaskLearnerCV(
                penalties=[0, 0.5, 0.9, 0.999], cv=4, rule=rule, **ONE_GROUP, **AUTO
            ),
            related(),
            cv=4,
        )["penalty"]
        for rule in ("best", "one-standard-error")
    }
    assert (penalties["one-standard-error"] >= penalties["best"]).all()
    assert (penalties["one-standard-error"] > penalties["best"]).any()


@pytest.mark.slow_without_jit
def test_graphs_that_fit_noise_lose_on_rows_they_have_not_seen():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.integers(0, 3, (60, 15))).add_prefix("x").astype("category")
    learner = SingleTaskLearner(**{**AUTO, "structure_prior": None})
    scored = compare(learner, {"one": noise}, cv=5)
    difference, error = gain(scored, "alone", "empty")
    assert difference < -2 * error
    whole = learner.fit({"one": noise}).networks_["one"]
    # Their own rows they fit better, of course.
    assert whole.log_likelihood(noise).mean() > scored["empty"].mean()


def test_penalty_0_is_alone_and_one_task_has_nothing_to_share():
    learner = MultitaskLearner(PairedPrior(0), **ONE_GROUP, **AUTO)
    scored = compare(learner, related(), cv=3)
    assert scored["together"].to_numpy() == pytest.approx(scored["alone"].to_numpy())
    one = compare(MultitaskLearnerCV(**ONE_GROUP, **AUTO), {"one": related()["task1"]}, cv=3)
    assert one["together"].to_numpy() == pytest.approx(one["alone"].to_numpy())


def test_the_order_of_what_is_given_does_not_matter():
    tasks = related()
    learner = MultitaskLearner(PairedPrior(0.9), **ONE_GROUP, **AUTO)
    plain = compare(learner, tasks, cv=3)
    turned = compare(
        learner, {name: tasks[name][tasks[name].columns[::-1]] for name in reversed(tasks)}, cv=3
    )
    both = plain.merge(turned, on=["task", "row"], suffixes=("", "_too"))
    assert len(both) == len(plain)
    for way in ("together", "alone", "empty"):
        assert both[way].to_numpy() == pytest.approx(both[f"{way}_too"].to_numpy())
    parallel = compare(
        MultitaskLearner(PairedPrior(0.9), n_jobs=2, **ONE_GROUP, **AUTO), tasks, cv=3
    )
    pd.testing.assert_frame_equal(plain, parallel)


@pytest.mark.parametrize("cv", [1, 0, 2.5, True, "five", 151])
def test_folds_out_of_range(cv):
    error = TypeError if cv is True or cv == "five" else ValueError
    with pytest.raises(error, match="`cv` must be None or a whole number from 2 to 150"):
        compare(SingleTaskLearner(**AUTO), related(), cv=cv)


def test_other_learners_and_tables_without_prior():
    with pytest.raises(TypeError, match="got IdenticalLearner"):
        compare(IdenticalLearner(), related())
    with pytest.raises(ValueError, match="`parameter_sample_size` must be above 0"):
        compare(SingleTaskLearner(parameter_sample_size=0), related())


def test_gain_is_the_mean_difference_with_its_standard_error():
    scored = pd.DataFrame({"alone": [-1.0, -2.0, -4.0], "empty": [-2.0, -2.5, -3.0]})
    difference, error = gain(scored, "alone", "empty")
    assert difference == pytest.approx(0.5 / 3)
    assert error == pytest.approx(np.std([1, 0.5, -1], ddof=1) / np.sqrt(3))
    assert gain(scored.iloc[:1], "alone", "empty") == (1.0, 0.0)


def test_what_run_json_keeps():
    scored = pd.DataFrame(
        {
            "task": pd.Categorical(["a", "a", "b"]),
            "row": [0, 1, 0],
            "fold": [0, 1, 0],
            "empty": [-3.0, -3.0, -6.0],
            "alone": [-2.0, -3.0, -5.0],
            "together": [-1.0, -3.0, -5.0],
        }
    )
    record = comparison.held_out_record(scored)
    assert record["folds"] == 2
    assert (record["together"], record["alone"], record["empty"]) == (-3.0, -10 / 3, -4.0)
    assert record["tasks"]["a"] == {"together": -2.0, "alone": -2.5, "empty": -3.0}
    assert list(record["differences"]) == ["together - alone", "together - empty", "alone - empty"]
    assert record["differences"]["together - empty"] == list(gain(scored, "together", "empty"))
    alone = comparison.held_out_record(scored.drop(columns="together"))
    assert list(alone["differences"]) == ["alone - empty"] and "together" not in alone


def test_tasks_that_pay_for_learning_together_are_named():
    rng = np.random.default_rng(0)
    gains = {"a": 0.5, "b": -0.6, "c": 0.0}
    rows = [
        {"task": name, "fold": 0, "empty": -9.0, "alone": -5.0}
        | {"together": -5.0 + gains[name] + 0.1 * noise}
        for name in gains
        for noise in rng.normal(size=40)
    ]
    lone = {"task": "d", "fold": 0, "empty": -9.0, "alone": -5.0, "together": -8.0}
    record = comparison.held_out_record(pd.DataFrame([*rows, lone]))
    assert list(record["worse_together"]) == ["b"]
    difference, error = record["worse_together"]["b"]
    assert (difference, error) == (pytest.approx(-0.6, abs=0.05), pytest.approx(0.016, abs=0.006))
    *_, last = comparison.sentences(record, 3)
    assert last.startswith("Learning together is worse than alone for b (")
    alone = pd.DataFrame(rows).drop(columns="together")
    assert comparison.held_out_record(alone)["worse_together"] == {}


def record(over_empty, over_alone=None):
    if over_alone is None:
        return {"differences": {"alone - empty": over_empty}}
    return {"differences": {"together - empty": over_empty, "together - alone": over_alone}}


@pytest.mark.parametrize(
    "held_out, n_arcs, words",
    [
        (None, 3, "No rows were held out"),
        (record([0.5, 0.1]), 0, "Nothing was found: no arc was learned"),
        (record([0.1, 0.2]), 3, "Nothing was found: on held-out rows"),
        (record([-4.0, 0.2], [1.0, 0.1]), 3, "Nothing was found: on held-out rows"),
        (record([1.0, 0.1], [0.3, 0.1]), 3, "together helped: +0.30 ± 0.10"),
        (record([1.0, 0.1], [-0.3, 0.1]), 3, "did not help: \u22120.30 ± 0.10"),
        (
            record([1.0, 0.1], [0.15, 0.1]),
            3,
            "unclear whether learning together helped: +0.15 ± 0.10",
        ),
        (record([1.0, 0.1], [0.0, 0.0]), 3, "together made no difference"),
    ],
)
def test_sentences(held_out, n_arcs, words):
    found = comparison.sentences(held_out, n_arcs)
    assert words in " ".join(found)
    assert ("Nothing was found" in " ".join(found)) == words.startswith("Nothing")


@pytest.mark.parametrize(
    ("at_command_line", "more", "max_cells", "relate"),
    [
        (False, "fewer variables may show", "`max_cells=8`", "(`bnmtl.relatedness` compares them)"),
        (
            True,
            "fewer variables (--ignore) may show",
            "`--max-cells 8`",
            "(`bnmtl relate` compares them)",
        ),
    ],
)
def test_remedies_are_in_the_words_of_the_user(at_command_line, more, max_cells, relate):
    sentences = partial(comparison.sentences, at_command_line=at_command_line)
    unclear, worse = record([1.0, 0.1], [0.15, 0.1]), record([1.0, 0.1], [-0.3, 0.1])
    for held_out, n_arcs in ((unclear, 3), (unclear, 0), (record([0.1, 0.2]), 3)):
        assert more in " ".join(sentences(held_out, n_arcs))
    assert max_cells in sentences(unclear, 0, max_cells=8)[0]
    assert relate in sentences(worse, 3)[1]


def test_tables_that_help_without_arcs_are_reported():
    shared = {**record([0.0, 0.0], [0.4, 0.1]), "shares_tables": True}
    first, second = comparison.sentences(shared, 0)
    assert first.startswith("Nothing was found: no arc was learned.")
    assert second == (
        "Sharing tables still helped: +0.40 ± 0.10 nats per row against each task alone."
    )
    too_little = record([0.0, 0.0], [0.15, 0.1])
    for other in ({**shared, "shares_tables": False}, {**shared, **too_little}):
        assert comparison.sentences(other, 0) == [first]
    assert comparison.sentences({**shared, "ended_by": ["time_limit"]}, 0) == [first]


@pytest.mark.parametrize(
    "learner",
    [
        SingleTaskLearner(**AUTO),
        pytest.param(
            MultitaskLearner(task_groups=None, **AUTO), marks=pytest.mark.slow_without_jit
        ),
        pytest.param(
            MultitaskLearnerCV(penalties=[0, 0.9], cv=2, **ONE_GROUP, **AUTO),
            marks=pytest.mark.beside_kernels,
        ),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings("ignore:.time_limit. ended a search")
def test_folds_that_were_cut_short_give_no_verdict(learner):
    tasks = encode(related())
    fitted = clone(learner).fit(tasks)
    assert compare(fitted, tasks, cv=2).attrs["ended_by"] == ()
    scored = compare(clone(learner).set_params(limits=Limits(time_limit=0)).fit(tasks), tasks, cv=2)
    assert scored.attrs["ended_by"] == ("time_limit",)
    sentences = comparison.sentences(comparison.held_out_record(scored), 3)
    assert (
        len(sentences) == 1
        and "ended early" in sentences[0]
        and "Nothing was found" not in sentences[0]
    )
    assert ("penalty" in sentences[0]) == isinstance(learner, MultitaskLearnerCV)


def test_what_was_not_looked_for_is_not_called_missing():
    (sentence,) = comparison.sentences(record([0.0, 0.0]), 0, ("time_limit",))
    assert "Nothing was found" not in sentence and "more time" in sentence


@pytest.mark.parametrize(
    "difference, error, text",
    [
        (0.5, 0.1, "+0.50 ± 0.10"),
        (-0.5, 0.012, "\u22120.50 ± 0.01"),
        (0.0123, 0.0031, "+0.012 ± 0.003"),
        (0.0123, 1e-9, "+0.0123 ± 0.0000"),
        (0.0, 0.0, "+0.00 ± 0.00"),
        (-12.0, 3.4, "\u221212.00 ± 3.40"),
    ],
)
def test_differences_have_as_many_digits_as_their_errors_need(difference, error, text):
    assert comparison.value(difference, error) == text


def test_a_requested_start_must_exist():
    """No single graph meets the constraints of all tasks, and no other start was requested."""
    tasks = related()
    first, second, *_ = tasks
    required = {first: [("x1", "x2")], second: [("x2", "x1")]}
    for tables in (ONE_GROUP, {"task_groups": None}):
        learner = MultitaskLearner(
            PairedPrior(0.9), start="identical", required=required, **tables, **AUTO
        )
        with pytest.raises(ValueError, match="a single graph for all tasks|make them agree"):
            compare(learner, tasks, cv=3)


SEPARATE = {**AUTO, "table_sharing": None, "prior": PairedPrior(0.9)}


def test_groups_of_tasks_have_one_group_beside_them():
    tasks = related()
    learner = MultitaskLearner(task_groups=None, **SEPARATE)
    one = compare(learner, tasks, cv=2)
    assert "one_group" not in one
    pairs = dict(zip(tasks, "abab", strict=True))
    scored = compare(MultitaskLearner(task_groups=pairs, **SEPARATE), tasks, cv=2)
    assert list(scored)[3:] == ["empty", "alone", "one_group", "together", "penalty"]
    assert scored["one_group"].tolist() == one["together"].tolist()
    assert scored["alone"].tolist() == one["alone"].tolist()
    for label in "ab":
        names = [name for name in tasks if pairs[name] == label]
        part = compare(learner, {name: tasks[name] for name in names}, cv=2)
        together = scored["together"][scored["task"].isin(names)]
        assert together.tolist() == pytest.approx(part["together"].tolist())
    assert (scored["together"] != scored["one_group"]).any()
    kept = comparison.held_out_record(scored)
    assert kept["one_group"] == pytest.approx(scored["one_group"].mean())
    assert list(kept["differences"])[:2] == ["together - one_group", "together - alone"]


def test_tasks_that_are_groups_of_their_own_are_learned_alone():
    tasks = related()
    scored = compare(MultitaskLearner(task_groups={n: n for n in tasks}, **SEPARATE), tasks, cv=2)
    assert scored["together"].tolist() == pytest.approx(scored["alone"].tolist())
    assert (scored["one_group"] != scored["alone"]).any()
    one = dict.fromkeys(tasks, "all")
    scored = compare(MultitaskLearner(task_groups=one, **SEPARATE), tasks, cv=2)
    assert scored["together"].tolist() == scored["one_group"].tolist()
    assert "one_group" not in comparison.held_out_record(scored)


@pytest.mark.slow_without_jit
def test_groups_are_found_again_from_the_rows_of_each_fold(monkeypatch):
    tasks, calls = dict(list(related().items())[:3]), []
    find = GroupsByData.find

    def kept(self):
        problem = self._problems[0]
        calls.append(problem.log_posterior(np.zeros_like(problem.constraints.required)))
        return find(self)

    monkeypatch.setattr(GroupsByData, "find", kept)
    learner = MultitaskLearner(task_groups="auto", **SEPARATE).fit(tasks)
    scored = compare(learner, tasks, cv=2)
    on_all, *on_folds = calls
    # Halves of the rows, and not the same ones.
    assert len(set(on_folds)) == len(on_folds) == 2
    assert all(0.4 < value / on_all < 0.6 for value in on_folds)
    unfitted = compare(MultitaskLearner(task_groups="auto", **SEPARATE), tasks, cv=2)
    pd.testing.assert_frame_equal(scored, unfitted)


def test_one_group_is_left_out_if_constraints_exclude_it():
    tasks = related()
    names = list(tasks)
    constraints = {
        "required": {names[0]: [("x1", "x2")]},
        "forbidden": {names[1]: [("x1", "x2"), ("x2", "x1")]},
    }
    groups = dict(zip(names, "abbb", strict=True))
    settings = {**SEPARATE, "prior": PairedPrior(1), **constraints}
    scored = compare(MultitaskLearner(task_groups=groups, **settings), tasks, cv=2)
    assert "one_group" not in scored and np.isfinite(scored["together"]).all()
