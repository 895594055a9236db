"""Learners whose tasks learn from each other in groups, given or found from the data."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from budget import NO_JIT

from bnmtl import (
    BDeu,
    HillClimbing,
    MultitaskLearner,
    PairedPrior,
    SingleTaskLearner,
    problems,
)
from bnmtl.learners.adapted import as_chosen, with_graphs
from bnmtl.learners.arcs import counted_in_groups, sharing_counts, sharing_kinds
from bnmtl.learners.task_groups import group_sentence
from bnmtl.reports.learned import groups_of_tasks

QUICK = {"search": HillClimbing(restarts=0), "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    """Three related tasks, and one that has nothing to do with them."""
    networks = dict(problems.deletion("asia", 3, 0.05, "shared", random_state=0))
    networks["zz"] = list(problems.unrelated("asia", 2, random_state=1).values())[1]
    return problems.sample(networks, 100 if NO_JIT else 300, random_state=0)


def arcs_of(learner, names):
    return {name: set(learner.configuration_[name].edges) for name in names}


@pytest.fixture(scope="module")
def found(rows):
    return MultitaskLearner(task_groups="auto", **QUICK).fit(rows)


@pytest.mark.slow_without_jit
def test_groups_given_are_separate_fits_with_tables_of_all(rows):
    groups = {"task1": "A", "task2": "B", "task3": "A", "zz": "B"}
    both = MultitaskLearner(task_groups=groups, **QUICK).fit(rows)
    scores = 0.0
    for names in (["task1", "task3"], ["task2", "zz"]):
        some = {name: rows[name] for name in names}
        part = MultitaskLearner(task_groups=None, **QUICK).fit(some)
        assert arcs_of(part, names) == arcs_of(both, names)
        scores += part.score_
        strengths = both.arcs_[both.arcs_["task"].isin(names)]["strength"].reset_index(drop=True)
        assert np.allclose(strengths, part.arcs_["strength"])
    assert both.score_ == pytest.approx(scores, abs=1e-6)
    assert both.task_groups_.to_dict() == groups
    assert both.start_.keys() == both.start_scores_.keys() == {"A", "B"}
    assert set(both.borrowed_["source"]) == set(rows)


@pytest.mark.slow_without_jit
def test_names_that_are_exchanged_do_not_bind_tasks():
    """Rare and even columns under one name would gain from arcs that give each its own evenness."""
    rng = np.random.default_rng(4)

    def rows():
        drawn = (rng.random((400, 8)) < [0.5, 0.05, 0.5, 0.1] * 2).astype(int)
        for child, repeats in ((2, 0.7), (4, 0.7), (6, 0.7), (3, 0.5), (5, 0.5)):
            kept = rng.random(400) < repeats
            drawn[kept, child] = drawn[kept, child - 2]
        return drawn

    names = np.random.default_rng(54).permutation(8)
    frames = {"one": rows(), "renamed": rows()[:, names]}
    frames = {task: pd.DataFrame(one).add_prefix("v").astype(str) for task, one in frames.items()}
    learner = MultitaskLearner(task_groups="auto", search="hill-climbing", random_state=0)
    assert learner.fit(frames).task_groups_.tolist() == [1, 2]
    assert learner.group_margins_.min() > 5


@pytest.mark.parametrize("score", [None, BDeu()])
def test_one_group_is_the_learner_without_groups_and_groups_of_one_learn_alone(rows, score):
    one = MultitaskLearner(score=score, task_groups=dict.fromkeys(rows, 7), **QUICK).fit(rows)
    without = MultitaskLearner(score=score, task_groups=None, **QUICK).fit(rows)
    assert one.score_ == without.score_
    assert arcs_of(one, rows) == arcs_of(without, rows)
    assert one.start_ == without.start_
    assert set(one.task_groups_) == {7}
    assert set(without.task_groups_) == {1}
    each = MultitaskLearner(score=score, task_groups={n: n for n in rows}, **QUICK).fit(rows)
    alone = SingleTaskLearner(score=score, **QUICK).fit(rows)
    assert each.score_ == pytest.approx(alone.score_, abs=1e-9)
    assert arcs_of(each, rows) == arcs_of(alone, rows)


@pytest.mark.slow_without_jit
def test_an_unrelated_task_is_found(rows, found):
    assert found.task_groups_.to_dict() == {"task1": 1, "task2": 1, "task3": 1, "zz": 2}
    gains = found.group_gains_
    assert np.allclose(gains, gains.T, equal_nan=True)
    related = ["task1", "task2", "task3"]
    assert (gains.loc[related, related].to_numpy()[~np.eye(3, dtype=bool)] > 5).all()
    assert (found.group_margins_ > 5).all()
    assert found.alternatives_["value"].is_monotonic_decreasing
    given = MultitaskLearner(task_groups=found.task_groups_.to_dict(), **QUICK).fit(rows)
    assert arcs_of(given, rows) == arcs_of(found, rows)
    assert as_chosen(found).task_groups == found.task_groups_.to_dict()


@pytest.mark.slow_without_jit
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_groups_do_not_depend_on_the_order_of_tasks_nor_on_jobs(rows, found, n_jobs):
    turned = dict(reversed(rows.items()))
    other = MultitaskLearner(task_groups="auto", n_jobs=n_jobs, **QUICK).fit(turned)
    assert other.task_groups_.to_dict() == found.task_groups_.to_dict()
    gains = found.group_gains_.loc[other.group_gains_.index, other.group_gains_.columns]
    assert np.allclose(gains, other.group_gains_, equal_nan=True)
    assert arcs_of(other, rows) == arcs_of(found, rows)


@pytest.mark.parametrize("score", [None, BDeu()])
@pytest.mark.parametrize("prior", [None, PairedPrior(0.5)])
def test_two_copies_of_a_task_are_one_group(rows, score, prior):
    copies = {"a": rows["task1"], "b": rows["task1"]}
    learner = MultitaskLearner(prior, score, task_groups="auto", **QUICK).fit(copies)
    assert learner.task_groups_.tolist() == [1, 1]


def test_one_task_is_its_own_group(rows):
    learner = MultitaskLearner(task_groups="auto", **QUICK).fit({"task1": rows["task1"]})
    assert learner.task_groups_.to_dict() == {"task1": 1}


@pytest.mark.slow_without_jit
def test_tasks_that_must_differ_do_not_share_a_group(rows):
    """Under a penalty of 1 a required and a forbidden arc contradict each other."""
    arc = ("smoke", "lung")
    constraints = {"required": {"task1": [arc]}, "forbidden": {"task2": [arc, arc[::-1]]}}
    learner = MultitaskLearner(PairedPrior(1), task_groups="auto", **constraints, **QUICK)
    labels = learner.fit(rows).task_groups_
    assert labels["task1"] != labels["task2"]
    assert np.isnan(learner.group_gains_.loc["task1", "task2"])


def test_scores_of_other_graphs_are_those_of_the_groups(rows, found):
    again = with_graphs(found, found.configuration_)
    assert again.score_ == pytest.approx(found.score_, abs=1e-6)
    empty = {
        name: nx.empty_graph(graph.nodes, nx.DiGraph)
        for name, graph in found.configuration_.items()
    }
    assert with_graphs(found, empty).score_ < found.score_


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("car", "`task_groups` must be 'auto', None or a mapping task -> label, got 'car'"),
        (3, "`task_groups` must be 'auto', None or a mapping task -> label, got 3"),
        ({"task1": 1, "task2": 1, "task3": 2}, "Task `zz`: `task_groups` names no group"),
        ({"task9": 1}, "`task_groups` .*task9"),
        (
            pd.Series({"task1": 1}),
            "`task_groups` must be 'auto', .* got Series; give its `to_dict\\(\\)`.",
        ),
        ({1: "x", "1": "y"}, "`task_groups` must name every task once; `1` is there twice"),
        (
            {"task1": 1, "task2": [1], "task3": 1, "zz": 1},
            r"Task `task2`: `task_groups` must have hashable labels, .* got \[1\]",
        ),
        *(
            (
                {"task1": 1, "task2": missing, "task3": missing, "zz": 1},
                "Task `task2`: `task_groups` must have a label for every task, got",
            )
            for missing in (None, float("nan"), pd.NA)
        ),
    ],
)
def test_mistakes(rows, value, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MultitaskLearner(task_groups=value, **QUICK).fit(rows)


def test_rows_of_no_structure_stay_one_group():
    rng = np.random.default_rng(0)
    tasks = {f"t{s}": pd.DataFrame(rng.integers(0, 3, (60, 6))).add_prefix("x") for s in range(3)}
    learner = MultitaskLearner(task_groups="auto", **QUICK).fit(tasks)
    assert set(learner.task_groups_) == {1}
    assert not len(learner.arcs_)


def test_arcs_are_counted_within_groups(rows):
    groups = {"task1": "A", "task2": "A", "task3": "A", "zz": "B"}
    learner = MultitaskLearner(task_groups=groups, **QUICK).fit(rows)
    arcs = learner.arcs_
    for parent, child, task, n in zip(
        arcs["from"], arcs["to"], arcs["task"], arcs["n_tasks"], strict=True
    ):
        members = [name for name in groups if groups[name] == groups[task]]
        graphs = [learner.configuration_[name] for name in members]
        assert n == sum(graph.has_edge(parent, child) for graph in graphs)
    assert set(arcs["n_tasks_possible"][arcs["task"] == "zz"]) == {1}
    kinds = pd.Series(sharing_kinds(arcs, learner.task_groups_))
    assert set(kinds[arcs["task"] == "zz"]) == {"alone"}
    counts = sharing_counts(arcs, learner.task_groups_)
    assert counts["alone"] == (arcs["task"] == "zz").sum() > 0
    of_three = arcs[arcs["task"] != "zz"].drop_duplicates(["from", "to"])
    assert counts["arcs"] == counts["alone"] + len(of_three)
    assert counts["all"] == (of_three["n_tasks"] == of_three["n_tasks_possible"]).sum()
    # Counted again in other groups: all together, as by a learner without groups.
    together = counted_in_groups(arcs, learner.configuration_, dict.fromkeys(groups, 1))
    assert together["n_tasks_possible"].max() == 4
    again = counted_in_groups(together, learner.configuration_, groups)
    pd.testing.assert_frame_equal(again, arcs)
    assert sharing_counts(arcs, dict.fromkeys(groups, 1)).keys() == sharing_counts(arcs).keys()


PLACES = {"alps": 1, "corsica": 2, "provence": 2}


@pytest.mark.parametrize(
    ("labels", "margins", "sentence"),
    [
        (
            PLACES,
            [42.3, 60, 55],
            "corsica and provence learn from each other; alps learns alone (42 nats speak against "
            "joining).",
        ),
        (PLACES, None, "corsica and provence learn from each other; alps learns alone."),
        (
            PLACES,
            [np.nan, 9, 9],
            "corsica and provence learn from each other; alps learns alone.",
        ),
        (
            PLACES,
            [3, 9, 9],
            "corsica and provence learn from each other; alps learns alone, but the data do not "
            "tell whether this is right.",
        ),
        (
            dict.fromkeys(PLACES, 1),
            [4.9, 9, 9],
            "alps, corsica and provence learn from each other, but the data do not tell whether "
            "alps belongs with them.",
        ),
        (
            dict.fromkeys(PLACES, 1),
            [4.9, 1, 9],
            "alps, corsica and provence learn from each other, but the data do not tell whether "
            "alps and corsica belong with them.",
        ),
        (
            dict.fromkeys(PLACES, 1),
            [0, 1, 2],
            "alps, corsica and provence learn from each other, but the data do not tell whether "
            "they belong together.",
        ),
        (
            {"alps": 1, "corsica": 2, "provence": 3},
            [20, 12, 31],
            "alps, corsica and provence learn alone (at least 12 nats speak against joining).",
        ),
        ({"alps": 1}, [np.nan], ""),
        ({f"t{s}": 1 for s in range(9)}, [9] * 9, "All 9 tasks learn from each other."),
        (
            {f"t{s}": s // 9 for s in range(18)},
            [9] * 17 + [1],
            "t0, t1, t2, t3, t4 and 4 more learn from each other; t9, t10, t11, t12, t13 and 4 "
            "more learn from each other, but the data do not tell whether t17 belongs with them.",
        ),
    ],
)
def test_a_sentence_says_which_tasks_learn_from_each_other(labels, margins, sentence):
    learner = SimpleNamespace(task_groups="auto", task_groups_=pd.Series(labels), tasks_={})
    if margins is not None:
        learner.group_margins_ = pd.Series(margins, index=list(labels), dtype=float)
    assert group_sentence(learner) == sentence


def test_a_sentence_does_not_claim_to_know_the_group_of_a_task_with_few_rows():
    sizes = {"alps": 30, "corsica": 30, "provence": 9}
    learner = SimpleNamespace(
        task_groups="auto",
        task_groups_=pd.Series(PLACES),
        group_margins_=pd.Series([42.3, 60, np.nan], index=list(PLACES)),
        tasks_={name: SimpleNamespace(n_rows=n) for name, n in sizes.items()},
    )
    assert group_sentence(learner) == (
        "corsica and provence learn from each other, but the data do not tell whether provence "
        "belongs with them; alps learns alone (42 nats speak against joining)."
    )
    learner.tasks_["corsica"].n_rows = 5
    assert "whether they belong together; alps" in group_sentence(learner)
    learner.task_groups = PLACES
    del learner.group_margins_
    assert group_sentence(learner) == (
        "corsica and provence learn from each other; alps learns alone."
    )


def test_many_groups_are_summed_up():
    labels = pd.Series({f"t{s}": s // 2 for s in range(20)})
    given = SimpleNamespace(task_groups=labels.to_dict(), task_groups_=labels)
    assert group_sentence(given).endswith("; 6 more groups have 12 tasks in all.")
    assert group_sentence(given).count("learn from each other") == 4
    assert group_sentence(SimpleNamespace(task_groups=None)) == ""


def test_the_report_compares_partitions_and_names_tasks_with_few_rows():
    """The task with few rows is first and joins the second group, which shifts the labels."""
    labels = pd.Series({"a": 1, "b": 2, "c": 1, "d": 1})
    tried = pd.DataFrame(
        [[pd.NA, 1, 2, 2, 20.0], [pd.NA, 1, 1, 1, 12.5]], columns=[*labels.index, "value"]
    ).astype(dict.fromkeys(labels.index, "Int64"))
    learner = SimpleNamespace(
        task_groups="auto",
        task_groups_=labels,
        group_margins_=pd.Series([np.nan, 8, 9, np.nan], index=labels.index),
        group_gains_=pd.DataFrame(1.0, index=labels.index, columns=labels.index),
        alternatives_=tried,
        tasks_={name: SimpleNamespace(n_rows=5 if name == "a" else 50) for name in labels.index},
    )
    found = groups_of_tasks(learner)
    assert found["next_best"] == {"tasks": "b, c, d", "difference": 7.5}
    assert [row[1:] for row in found["rows"] if "too few rows" in row] == [("a", "too few rows")]
    learner.alternatives_ = tried[1:]
    assert groups_of_tasks(learner)["next_best"] is None
