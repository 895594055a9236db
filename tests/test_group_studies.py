"""Studies of groups of tasks and of the score they share: what they generate, count and show."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from small import related

from benchmarks import package_tables
from benchmarks.by_default import CommonConcentrations
from benchmarks.defaults import cells, part_concentrations, permuted
from benchmarks.groups import groups, real_groups, rule
from bnmtl import MultitaskLearner, PairedPrior
from bnmtl.learners import compare
from bnmtl.learners.group_fits import CoupledFits
from bnmtl.search.problem import NoCommonGraph
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels


def test_columns_are_permuted_within_each_task():
    tasks = permuted.permuted_tasks("wine", 0)
    again, other = permuted.permuted_tasks("wine", 0), permuted.permuted_tasks("wine", 1)
    table = package_tables.read("wine")
    sizes = table.labels.value_counts()
    assert {name: len(rows) for name, rows in tasks.items()} == {
        str(label): n for label, n in sizes.items()
    }
    for name, rows in tasks.items():
        assert rows.equals(again[name])
        assert not rows.equals(other[name])
        assert set(rows) == set(table.features)
        assert rows.max().max() < permuted.BINS
        # The same values as before, in another order.
        alcohol = table.features["alcohol"][table.labels.astype(str) == name]
        codes = pd.qcut(table.features["alcohol"], permuted.BINS, duplicates="drop").cat.codes
        expected = codes[alcohol.index].value_counts().sort_index()
        found = rows["alcohol"].value_counts().sort_index()
        assert found.tolist() == expected.tolist()


def test_tables_of_permuted_columns():
    arcs = {"common concentrations": 2.0, "shared tables": 0.5, "own tables": 0.0, "alone": 0.0}
    lines = pd.DataFrame(
        {"table": table, "trial": trial, "learner": learner, "false_arcs": n + trial}
        | {"tasks": 3, "variables": 13}
        for table in ("wine", "pbc")
        for trial in range(2)
        for learner, n in arcs.items()
    )
    table = permuted.tables(lines)["permuted"].splitlines()
    assert [row.split(" | ")[0] for row in table[2:]] == ["| wine", "| pbc", "| all"]
    assert "| 2 | 3 | 13 | 2.50 ± 0.50 | 1.00 ± 0.50 |" in table[2]
    assert table[4].startswith("| all | 4 |  |  | 2.50 ± 0.29 |")


def test_independent_columns_are_flat_in_some_tasks_and_steep_in_others():
    frames = part_concentrations.independent_columns(400, 0)
    most = [
        float(np.mean([column.value_counts(normalize=True).max() for _, column in rows.items()]))
        for rows in frames.values()
    ]
    assert most == sorted(most)
    assert most[0] < 0.25
    assert most[-1] > 0.6


def test_tasks_that_are_steep_or_flat_lose_the_same_arcs():
    networks = part_concentrations._networks("CHILD, steep or flat", 0)
    plain = part_concentrations.networks_of("CHILD", 0)
    assert list(networks) == list(plain)
    for name, network in networks.items():
        assert set(network.graph.edges) == set(plain[name].graph.edges)


def test_tables_of_both_scores():
    lines = pd.DataFrame(
        {"problem": "CHILD", "rows": 250, "trial": trial, "learner": learner}
        | {"edits": edits + trial, "seconds": seconds}
        for trial in range(2)
        for learner, edits, seconds in (("common", 4.0, 2.0), ("own", 3.0, 2.4))
    )
    (_, _, row) = part_concentrations.tables(lines)["part_concentrations"].splitlines()
    assert row == "| CHILD | 250 | 2 | 4.50 ± 0.50 | 3.50 ± 0.50 | -1.00 ± 0.00 | 1.20 |"


def test_the_earlier_score_is_another():
    rows = part_concentrations.independent_columns(60, 1)
    rows = {name: frame.iloc[:, :5] for name, frame in rows.items()}
    before, now = (
        one(random_state=0).fit(rows) for one in (CommonConcentrations, MultitaskLearner)
    )
    assert before.score_ != now.score_


def test_tables_of_the_largest_family():
    lines = pd.DataFrame(
        {"problem": "MILDEW", "rows": 500, "trial": 0, "variant": variant}
        | {"edits": edits, "kl": 1.0, "seconds": seconds}
        for variant, edits, seconds in (
            ("10 per row of the task", 40.0, 2.0),
            ("10 per row of all", 30.0, 3.0),
        )
    )
    rows = cells.tables(lines)["cells"].splitlines()[2:]
    assert rows[1] == "| MILDEW | 500 | 10 per row of all | 1 | 30.00 | 1.00 | 1.50 |"


@pytest.mark.parametrize("kind", groups.KINDS)
def test_kinds_of_groups(kind):
    networks, truth = groups.networks_of(kind, "ASIA", 5)
    assert list(networks) == list(truth)
    sizes = sorted(pd.Series(truth).value_counts(), reverse=True)
    expected = {
        "outlier": [4, 1],
        "two families": [3, 3],
        "unrelated": [1] * 5,
        "few rows, unrelated": [4, 1],
        "four families": [5] * 4,
        "half alike, 2": [2],
        "half alike, 20": [20],
    }
    assert sizes == expected.get(kind, [5])
    arcs = [set(network.graph.edges) for network in networks.values()]
    if kind == "noise":
        assert not any(arcs)
    if kind.startswith("half alike"):
        # ASIA has eight arcs.
        assert {len(one) for one in arcs} == {8}
        assert 3 <= len(set.intersection(*arcs)) <= 5
    again, _ = groups.networks_of(kind, "ASIA", 5)
    assert all(networks[name] == again[name] for name in networks)


def test_learners_of_groups():
    truth = {"a": "A", "b": "A", "c": "B"}
    assert groups._learner("true groups", truth, 0, 3).task_groups == truth
    assert groups._learner("auto", truth, 0, 3).task_groups == "auto"
    small = groups._learner("auto, 0.9", truth, 0, 3)
    assert isinstance(small.prior, PairedPrior)
    assert (small.prior.penalty, small.task_groups) == (0.9, "auto")
    assert groups._learner("one group", truth, 0, 3).task_groups is None
    judged = groups._learner("true groups, U 0.3", truth, 0, 3)
    assert (judged.task_groups, judged.structure_prior) == (truth, None)
    states = itertools.product((0, 1, -1), repeat=3)
    total = sum(math.exp(judged.prior.log_coupling(one)) for one in states)
    assert total == pytest.approx(1)


def test_lines_and_tables_of_groups():
    found = groups.measure("few rows, unrelated", "ASIA", 30, 0, ["alone", "true groups"])
    assert found["true groups"]["is_true"]
    assert found["true groups"]["n_groups"] == 2
    assert found["alone"]["edits_others"] <= found["alone"]["edits"]
    line = {"kind": "outlier", "problem": "CHILD", "rows": 250}
    lines = pd.DataFrame(
        {**line, "trial": trial, "learner": learner, "edits": edits, "edits_others": edits + 1}
        | {"seconds": 2.0 if learner == "auto" else 1.0}
        | {"kl": 0.5, "kl_others": 0.25, "is_true": is_true}
        for trial, is_true in ((0, True), (1, False))
        for learner, edits in (("alone", 9.0), ("auto", 5.0))
    )
    found = groups.tables(lines)
    first, others = found["groups"].splitlines()[2:]
    assert first.startswith(
        "| outlier | CHILD | 250 | first group | 2 | 9.00 ± 0.00; 0.50 ± 0.00 |"
    )
    assert "| 6.00 ± 0.00; 0.25 ± 0.00 |" in others
    assert first.endswith("| 50% |")
    assert "| alone | -4.00 ± 0.00 |" in found["groups_aims"].splitlines()[2]
    assert "auto less one group" not in found["groups_aims"]


def test_a_task_that_does_not_belong_has_other_dependencies():
    frames, rows, _ = real_groups.altered_frames("avimedi", real_groups.AS_IT_IS)
    assert rows is None
    changed, _, odd = real_groups.altered_frames("avimedi", real_groups.RENAMED)
    assert odd == "Co"
    assert changed["Pr"].equals(frames["Pr"])
    assert list(changed["Co"]) == list(frames["Co"])
    assert changed["Co"]["stratum"].equals(frames["Co"]["stratum"])
    # The same columns under other names.
    columns = [sorted(map(tuple, one["Co"].T.to_numpy())) for one in (changed, frames)]
    assert columns[0] == columns[1]
    assert not changed["Co"].equals(frames["Co"])
    # Bins of other columns have other names.
    frames, _, _ = real_groups.altered_frames("Sachs", real_groups.AS_IT_IS)
    changed, _, _ = real_groups.altered_frames("Sachs", real_groups.RENAMED)
    differs = [not changed["pma"][column].equals(frames["pma"][column]) for column in frames["pma"]]
    assert sum(differs) > len(differs) / 2
    for column in frames["pma"]:
        everywhere = set(pd.concat([frame[column] for frame in frames.values()]))
        assert set(changed["pma"][column]) <= everywhere


def test_rows_that_are_held_out_together_share_their_error():
    differences = np.array([1.0, 1.0, 3.0, 3.0])
    single = real_groups._gain(differences, np.arange(4))
    assert single == {"gain": 2.0, "gain error": 0.5}
    assert real_groups._gain(differences, np.array([0, 0, 1, 1])) == {
        "gain": 2.0,
        "gain error": round(np.sqrt(8) / 4, 6),
    }


def test_lines_of_real_tasks_compare_ways_on_the_same_rows(monkeypatch):
    few = dict(list(related().items())[:3])
    frames = {name: frame.iloc[:24, :4].astype("string") for name, frame in few.items()}
    visits = {name: np.arange(24) // 8 for name in frames}
    monkeypatch.setattr(real_groups, "altered_frames", lambda *case: (frames, visits, "task1"))
    monkeypatch.setattr(real_groups, "SEEDS", (0,))
    found = real_groups.measure("ksl", real_groups.RENAMED, ["auto", "one group", "no arcs"])
    assert found["one group"]["over one group"] == 0
    auto = found["auto"]
    for other in ("one group", "no arcs"):
        difference = auto["held_out"] - found[other]["held_out"]
        assert auto[f"over {other}"] == pytest.approx(difference, abs=2e-6)
        by_task = [gain for gain, _ in auto[f"over {other}, by task"].values()]
        assert np.mean(by_task) == pytest.approx(difference, abs=2e-6)
    assert auto["groups"].count(":") == auto["n_tasks"] == 3
    assert (auto["odd"], auto["n_rows"]) == ("task1", 72)
    # Three visits are held out, one after another, by the learner that is asked for.
    scored = real_groups._scored(encode(frames), visits, 0, ["auto"])
    expected = compare(
        MultitaskLearner(task_groups="auto", random_state=0), encode(frames), groups=visits
    )
    np.testing.assert_array_equal(scored["auto"], expected["together"])


def test_tables_of_real_tasks_in_groups():
    lines = pd.DataFrame(
        {"table": "ksl", "altered": altered, "way": way, "held_out": -9.0, "n_rows": 100}
        | {"n_tasks": 2, "n_groups": 2, "groups": "1:1 2:2"}
        | {"odd": "1" if altered == real_groups.RENAMED else None}
        | {f"over {other}": gain for other in ("one group", "alone", "BIC alone", "no arcs")}
        | {f"over {other} error": 0.03 for other in ("one group", "alone", "BIC alone", "no arcs")}
        for altered, gain in ((real_groups.AS_IT_IS, 0.0), (real_groups.RENAMED, 0.2))
        for way in ("auto", "one group, 0.9")
    )
    found = real_groups.tables(lines)
    first, second = found["real_groups"].splitlines()[2:]
    assert first.startswith("| ksl | as it is | 2 | 100 | 2 |  | -9.00 | +0.000 ± 0.030 |")
    assert second.startswith("| ksl | renamed | 2 | 100 | 2 | alone | -9.00 | +0.200 ± 0.030 |")
    assert "| altered | 1 | +0.200 ± 0.030 |" in found["real_groups_pooled"]


@pytest.mark.parametrize("name", rule.RULES)
def test_a_rule_is_changed_only_while_it_is_measured(name, monkeypatch):
    changes = rule.RULES[name]
    before, during = [getattr(*change[:2]) for change in changes], []

    def found(learner, tasks, stopped):
        during.extend(getattr(*change[:2]) for change in changes)
        labels = {task: task[0] for task in tasks}
        return learner.set_params(task_groups=labels)

    monkeypatch.setattr(rule, "keeping_groups", found)
    line = rule.measure("outlier", "ASIA", 20, 0, [name])[name]
    assert (line["n_groups"], line["is_true"]) == (2, True)
    assert [getattr(*change[:2]) for change in changes] == before
    assert all(one is not other for one, other in zip(during, before, strict=True))


def test_rules_are_what_their_names_say(monkeypatch):
    tasks = encode(related())
    problems = MultitaskLearner().problems(tasks, MultitaskLearner().effort())
    values = {}
    for name in ("default", "concentration 0.3", "common concentrations"):
        with monkeypatch.context() as changed:
            for change in rule.RULES[name]:
                changed.setattr(*change)
            value = CoupledFits.value(problems)
            graphs = [np.zeros((6, 6), bool) for _ in range(4)]
            for graph in graphs:
                graph[0, 1] = True
            values[name] = value.of([0, 1, 2, 3], graphs)
    assert len(set(values.values())) == 3


def test_quick_fits_may_do_without_one_graph():
    starts = []

    class Search:
        joint = None

        @property
        def identical(self):
            starts.append("identical")

    with pytest.raises(NoCommonGraph):
        _ = rule.WithoutOneGraph(Search()).identical
    assert starts == []
    assert rule.WithoutOneGraph(Search()).joint is None


def test_the_table_of_rules():
    settings = {"kind": "outlier", "problem": "CHILD", "rows": 250}
    lines = pd.DataFrame(
        [
            {**settings, "trial": 0, "rule": "default", "n_groups": 2, "is_true": True},
            {**settings, "trial": 1, "rule": "default", "n_groups": 3, "is_true": False},
            {**settings, "trial": 0, "rule": "margin 0", "n_groups": 2, "is_true": True},
        ]
    )
    (row,) = rule._compared(lines)
    assert row["default"] == "50%, 2.5 ± 0.5"
    assert row["margin 0"] == "100%, 2.0"
    assert row["trials"] == 2 and row["margin 20"] == ""
