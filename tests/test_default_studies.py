"""The studies that chose the defaults: what they generate, count and try; and noise itself."""

import functools
import itertools
import math
import re
from functools import partial

import matplotlib.pyplot as plt
import naive
import naive_tables
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from small import ONE_GROUP, related

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.defaults import (
    choice,
    concentrations,
    defaults,
    no_structure_tables,
    real_tables,
    sure_arcs,
)
from benchmarks.defaults.chosen_sparsity import GRID, chosen_parents, side_by_side
from benchmarks.defaults.corrected import climbed_graphs
from benchmarks.defaults.grouped import grouped_tasks
from benchmarks.defaults.no_structure import KINDS, counted, independent_columns, line_of
from benchmarks.defaults.sure_arcs import draw as draw_sure
from benchmarks.defaults.sure_arcs import tables as sure_tables
from benchmarks.defaults.ways import choices, expecting
from benchmarks.predictions.calibrated_arcs import cases
from bnmtl import (
    BDeu,
    MixedDirichlet,
    MultitaskLearner,
    PairedPrior,
    SingleTaskLearner,
    problems,
)
from bnmtl.confidence import MEANING
from bnmtl.graphs import adjacency
from bnmtl.learners import compare
from bnmtl.learners.fold_scores import Fold
from bnmtl.networks.smoothing import posterior_mean
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels


@pytest.fixture(autouse=True)
def closed():
    """Leave no figure open, whatever a study has drawn."""
    yield
    plt.close("all")


@pytest.mark.parametrize("kind", dict.fromkeys((*KINDS, *no_structure_tables.FLAT)))
def test_columns_are_independent_with_the_states_that_are_named(kind):
    frame = independent_columns(kind, 4, 20_000, 1)
    assert list(frame) == ["x000", "x001", "x002", "x003"]
    shares = {name: column.value_counts(normalize=True) for name, column in frame.items()}
    expected = {
        "three equal": [1 / 3] * 3,
        "two equal": [1 / 2] * 2,
        "four equal": [1 / 4] * 4,
        "eight equal": [1 / 8] * 8,
        "twenty equal": [1 / 20] * 20,
        "skewed four": [0.7, 0.2, 0.07, 0.03],
        "ordered": [0.4, 0.3, 0.15, 0.1, 0.05],
    }
    for share in shares.values():
        if kind == "rare":
            assert 0.015 < share["1"] < 0.32
        else:
            shares_by_state = share[frame["x000"].cat.categories].to_numpy()
            assert shares_by_state == pytest.approx(expected[kind], abs=0.02)
    assert (frame["x000"].cat.ordered) == (kind == "ordered")
    table = pd.crosstab(frame["x000"], frame["x001"], normalize=True).to_numpy()
    product = np.outer(table.sum(axis=1), table.sum(axis=0))
    assert table == pytest.approx(product, abs=0.01)
    assert independent_columns(kind, 4, 50, 3).equals(independent_columns(kind, 4, 50, 3))


def test_arcs_of_columns_of_noise_are_counted():
    chain = nx.DiGraph([("x001", "x002"), ("A", "B"), ("A", "x003")])
    other = nx.DiGraph([("x001", "x002"), ("x004", "x002")])
    for graph in (chain, other):
        graph.add_nodes_from(["x001", "x002", "x003", "x004", "A", "B"])
    found = counted({"one": chain, "two": other})
    assert found == {"false_arcs": 2.0, "in_all_tasks": 1, "compelled": 1.0}
    assert counted({"one": chain})["in_all_tasks"] is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", ["alone", "five together", "one structure, five"])
def test_next_to_nothing_is_found_in_noise(kind, learner):
    """A small part of the study; the old defaults find dozens of arcs in the same columns."""
    frames = {f"task{task}": independent_columns(kind, 10, 60, [0, task]) for task in range(5)}
    assert line_of(learner, frames, 0)["false_arcs"] <= 0.5


@pytest.mark.parametrize("learner", ["alone", "two together", "relate, direct", "relate, indirect"])
def test_results_for_a_structure_are_reported(learner):
    frames = dict(list(related().items())[:2])
    assert line_of(learner, frames, 0)["told"] == 1
    assert "told" not in line_of(f"BIC: {learner}", frames, 0)


def test_old_defaults_did_find_arcs_in_noise():
    frames = {"one": independent_columns("three equal", 12, 60, 0)}
    assert line_of("BDeu, uniform: alone", frames, 0)["false_arcs"] > 4


def test_every_way_takes_the_penalty_that_it_says():
    penalties = [1.0, 0.999, 0.99, 0.9, 0.0]
    scores = np.array([[-3.0, -3.2], [-2.0, -2.6], [-2.1, -2.3], [-2.1, -2.2], [-5.0, -5.0]])
    posterior = np.array([-9.0, -1.0, -4.0, -3.0, 0.0])
    found = choices(penalties, posterior, scores)
    assert found["cv"] == 3  # the largest mean, -2.15
    assert found["posterior"] == 4
    # Within one standard error of -2.15 are 0.999 (-2.3, error 0.25), 0.99 and 0.9.
    assert found["one-standard-error"] == 1
    assert found["posterior within one error"] == 1
    assert found["penalty 0.99"] == 2 and found["penalty 1"] == 0


def test_expected_parents_make_an_arc_prior_for_each_task():
    tasks = encode(related())
    assert expecting(tasks, None) is None
    priors = expecting(tasks, 0.1)
    assert priors["task1"].probability == pytest.approx(0.02)
    assert expecting(tasks, 10)["task1"].probability == 0.5


@pytest.mark.parametrize("score", [BDeu(), MixedDirichlet()])
def test_a_family_pays_for_the_number_of_sets_of_its_size(score):
    """On four variables the climb ends in the best of all graphs."""
    columns = ["x1", "x2", "x3", "x4"]
    frames = {name: frame[columns] for name, frame in list(related().items())[:2]}
    found = climbed_graphs(encode(frames), score, 0)
    for name, frame in frames.items():

        @functools.cache
        def family(child, parents, frame=frame):
            n_sets = math.comb(3, len(parents))
            return score.local_score(child, parents, frame) - math.log(n_sets)

        def posterior(matrix, family=family):
            parents = [tuple(itertools.compress(columns, held)) for held in matrix.T]
            return sum(map(family, columns, parents))

        best = max(map(posterior, naive.all_dags(4)))
        assert posterior(adjacency(found[name], columns)) == pytest.approx(best)


def test_tables_of_the_shipped_birds():
    tasks = grouped_tasks("avimedi")
    assert tasks.names == ("Co", "Pr") and sum(task.n_rows for task in tasks.values()) == 302
    with pytest.raises(ValueError, match="neither is given|there is no"):
        grouped_tasks("dune", "/nowhere")


def test_tables_of_defaults():
    variants = ["BIC, uniform: alone", "MixedDirichlet, f = 0.1: alone", "BDeu, f = 1: together"]
    lines = pd.DataFrame(
        [
            {"problem": "ALARM", "rows": 250, "trial": trial, "variant": variant, "edits": edits}
            for trial in range(2)
            for variant, edits in zip(variants, (9.0, 4.0 + trial, 2.0), strict=True)
        ]
        + [{"problem": "noise: rare", "rows": 20, "trial": 0, "variant": variants[1]}]
    )
    lines.loc[lines["problem"] == "noise: rare", "false_arcs"] = 0.25
    tables = defaults.tables(lines)
    assert "| ALARM | 250 | 2 | 9.00 ± 0.00 |" in tables["defaults_alone"]
    assert "4.50 ± 0.50" in tables["defaults_alone"]
    assert "2.00 ± 0.00" in tables["defaults_together"]
    assert "| noise: rare | 20 | 1 |" in tables["defaults_noise_alone"]
    assert "0.25" in tables["defaults_noise_alone"]
    assert len(defaults.draw(lines).axes) == 2


def test_choice_by_folds_and_default_are_compared_on_the_same_rows():
    """The second trial has no line of a chosen sparsity and does not count."""
    values = {
        "f = 0.1: alone": 4,
        "chosen: alone": 6,
        "f = 0.1: together": 1,
        "chosen: together": 2,
    }
    lines = pd.DataFrame(
        [
            {"problem": "ALARM", "rows": 250, "trial": trial, "edits": value + 10 * trial}
            | {"variant": f"MixedDirichlet, {variant}"}
            for trial in range(2)
            for variant, value in values.items()
            if trial == 0 or "chosen" not in variant
        ]
    )
    table = defaults.tables(lines)["defaults_chosen"]
    assert table.splitlines()[2:] == ["| ALARM | 250 | 1 | 4.00 | 6.00 | 1.00 | 2.00 |"]


def test_tables_of_noise():
    rows = [
        {
            "kind": "rare",
            "columns": 30,
            "rows": n_rows,
            "trial": trial,
            "learner": learner,
            "false_arcs": 1.0 * trial,
            "in_all_tasks": None if learner == "alone" else 0,
            "compelled": 0.0,
            "told": None if trial == 0 else trial - 1,
        }
        for learner in ("alone", "five together")
        for n_rows in (10, 20)
        for trial in range(3)
    ]
    lines = pd.DataFrame(rows)
    tables = no_structure_tables.tables(lines)
    assert "| 30 | rare | 20 | 3 | 1.00 ± 0.58 |" in tables["no_structure"]
    claims = tables["no_structure_claims"]
    assert "| independent columns | alone | 1.00 ± 0.37 | 1.00 | 1.00 |  | 0.00 |" in claims
    together = "five together | 1.00 ± 0.37 | 1.00 | 1.00 | 0.00 | 0.00 |"
    assert f"| independent columns | {together}" in claims
    harder = pd.concat([lines, lines.assign(kind=no_structure_tables.TWICE)])
    both = no_structure_tables.tables(harder)["no_structure_claims"]
    assert f"| independent columns | {together}" in both
    assert f"| three equal, every row twice | {together}" in both
    assert tables["no_structure_told"].endswith("| 20 | 1 of 2 |  |  |  | 1 of 2 |  |  |")
    assert no_structure_tables.draw(lines).axes
    assert not no_structure_tables.more_pictures(lines)


def test_tables_of_noise_with_many_rows():
    few = ["kind", "columns", "rows", "trial", "learner", "false_arcs", "in_all_tasks", "compelled"]
    values = [
        ["eight equal", 30, n_rows, trial, learner, arcs + trial, None, 0.0]
        for n_rows in (500, 2000)
        for trial in range(2)
        for learner, arcs in (("alone", 0), ("concentrations up to 100: alone", 3))
    ]
    lines = pd.DataFrame(values, columns=few)
    tables = no_structure_tables.tables(lines)
    row = "| 2000 | 8 | 3.50 ± 0.50 (2) | 0.50 ± 0.50 (2) |  |  |"
    assert tables["no_structure_flat"].splitlines()[2:] == [row]
    assert "| 30 | eight equal | 500 | 2 | 0.50" in tables["no_structure"]
    assert "2000" not in tables["no_structure"] + tables["no_structure_in_short"]
    assert [
        axes.get_title()
        for axes in no_structure_tables.more_pictures(lines)["no_structure_flat"].axes
    ] == ["2,000 rows"]


@pytest.mark.parametrize("how", ["alone", "five together"])
def test_large_concentrations_are_tried_with_many_rows(monkeypatch, how):
    """A variant up to 100 learns what that score learns, with tables that are shared or not."""
    frames = {f"task{task}": independent_columns("eight equal", 4, 400, task) for task in range(5)}
    seen = []

    def remember(learner, tasks):
        seen.append(learner)
        return learner

    for learner in (SingleTaskLearner, MultitaskLearner):
        monkeypatch.setattr(learner, "fit", remember)
        monkeypatch.setattr(learner, "configuration_", {"task1": nx.DiGraph()}, raising=False)
    shared = "" if how == "alone" else ", shared"
    line_of(f"concentrations up to 100{shared}: {how}", frames, 0)
    assert type(seen[0]) is (SingleTaskLearner if how == "alone" else MultitaskLearner)
    assert seen[0].score.concentrations == UP_TO_100
    assert how == "alone" or seen[0].table_sharing == "auto"


def test_tables_of_concentrations():
    lines = pd.DataFrame(
        [
            {"problem": "CHILD", "rows": 250, "trial": trial, "variant": f"{how}, {score}"}
            | {"edits": edits + trial * (score == "up to 1e5"), "seconds": seconds}
            for trial in range(2)
            for how in ("alone", "together")
            for score, edits, seconds in (("up to 100", 4.0, 2.0), ("up to 1e5", 5.0, 2.2))
        ]
    )
    table = concentrations.tables(lines)["concentrations"]
    row = "| CHILD | 250 | alone | 2 | 4.00 ± 0.00 | 5.50 ± 0.50 | 1.50 ± 0.50 (n.s.) | 1.10 |"
    assert table.splitlines()[2] == row
    assert len(table.splitlines()) == 4


def test_folds_choose_no_arcs_for_noise_and_some_for_a_structure():
    chosen = {}
    columns = ["x1", "x2", "x3", "x4"]
    for name, frames in {
        "noise": {f"task{t}": independent_columns("rare", 4, 60, [1, t]) for t in range(2)},
        "structure": {name: frame[columns] for name, frame in list(related().items())[:2]},
    }.items():
        chosen[name] = chosen_parents(encode(frames), MixedDirichlet(), PairedPrior(0.99), 0)
    assert chosen["noise"] == {"together": 0, "alone": 0}
    assert all(n_parents in GRID[1:] for n_parents in chosen["structure"].values())


def test_sparsity_is_chosen_with_the_penalty_and_alone_by_the_other_folds():
    """One row a fold: fold 0 alone likes the second sparsity, the others the first or no arcs."""

    def fold(at, empty, alone, together, log_posterior):
        rows = np.array([at])
        together = np.reshape(together, (-1, 1)).astype(float)
        return Fold(
            np.zeros(1, int), rows, together, np.array([alone]), np.array([empty]), log_posterior
        )

    sparse = [fold(at, -5.0, (-1.0, -6.0, -3.0)[at], [-4, -3], np.array([2, 1])) for at in range(3)]
    dense = [fold(at, -5.0, (-2.0, -4.0, -9.0)[at], [-2, -1], np.array([0, 3])) for at in range(3)]
    penalties, folds = side_by_side([([1.0, 0.5], sparse), ([1.0, 0.5], dense)])
    assert penalties == [1.0, 1.0, 0.5, 1.0, 0.5]
    for of_fold in folds:
        assert of_fold.together[:, 0].tolist() == [-5, -4, -3, -2, -1]
        assert of_fold.log_posterior.tolist() == [-math.inf, 2, 1, 0, 3]
    # Means of the other two folds, for no arcs, sparse and dense: -5, -4.5, -6.5; -5, -2, -5.5;
    # -5, -3.5, -3.
    assert [float(of_fold.alone[0]) for of_fold in folds] == [-1.0, -6.0, -9.0]


def test_tables_of_choices_and_real_tables():
    lines = pd.DataFrame(
        [
            {
                **{"problem": "INSURANCE", "rows": n_rows, "trial": trial, "way": way},
                **{"edits": edits, "kl": 0.5, "seconds_of_path": 1.0, "seconds_of_folds": 3.0},
            }
            for n_rows in (250, 1000)
            for trial in range(2)
            for way, edits in (("alone", 20.0), ("cv", 16.0), ("posterior", 17.0))
        ]
    )
    tables = choice.tables(lines)
    assert "20.00 ± 0.00 | 17.00 ± 0.00 | 16.00 ± 0.00" in tables["choice_edits"]
    assert tables["choice_rows"].splitlines()[2].endswith("| 3.0 |")
    paired = "| INSURANCE | 250 | 2 |  | -4.00 ± 0.00 | -1.00 ± 0.00 |"
    assert tables["choice_paired"].splitlines()[2].startswith(paired)
    assert len(choice.draw(lines).axes) == 2
    others = ("empty", "bic", "alone", "own", "own_empty")
    gains = {f"over_{name}": 0.5 for name in others}
    errors = {f"over_{name}_error": 0.1 for name in others}
    line = {"table": "dune", "score": "MixedDirichlet", "parents": 0.1, "held_out": -3.0}
    lines = pd.DataFrame(
        [
            {**line, **gains, **errors, "way": way, "n_rows": 20, "empty": -4.0}
            for way in ("alone", "cv", real_tables.TABLES_OF_1, real_tables.SHARED)
        ]
    )
    shown = real_tables.tables(lines)
    assert "| dune | cv | -3.00 | +0.50 ± 0.10 |" in shown["real_tables_default"]
    assert "| dune | MixedDirichlet | 0.1 | +0.50 ± 0.10 |" in shown["real_tables"]
    smoothing = "| dune | -3.00 | -3.00 | -0.50 ± 0.10 | -3.50 | -4.00 |"
    assert smoothing in shown["real_tables_smoothing"]
    sharing = "| dune | -3.00 | +0.50 ± 0.10 | -4.00 | +0.50 ± 0.10 | -3.50 | +0.50 ± 0.10 |"
    assert sharing in shown["real_tables_sharing"]
    short = shown["real_tables_in_short"].splitlines()
    assert len(short) == 3 and short[2].startswith("| dune meadow plants under four kinds")
    assert "| 20 | +0.50 ± 0.10 | +0.50 ± 0.10 |" in short[2]
    assert real_tables.draw(lines).axes


def test_no_arcs_have_the_tables_of_what_they_are_held_against(monkeypatch):
    tasks = problems.sample(problems.deletion("asia", 2, 0.3, random_state=0), 40, random_state=0)
    tasks, in_halves = encode(tasks), partial(compare, cv=2)
    monkeypatch.setattr(real_tables, "compare", in_halves)
    rival = in_halves(SingleTaskLearner(random_state=0), tasks)
    line = real_tables.with_tables_shared(tasks, None, None, rival)
    shared = in_halves(MultitaskLearner(random_state=0), tasks)
    separate = in_halves(MultitaskLearner(**ONE_GROUP, random_state=0), tasks)
    gain = shared["together"] - shared["empty"]
    assert line["over_empty"] == pytest.approx(gain.mean(), abs=1e-6)
    assert line["over_empty_error"] == pytest.approx(gain.sem(), abs=1e-6)
    for name, other in (("own", separate["together"]), ("own_empty", separate["empty"])):
        gain = shared["together"] - other
        assert line[f"over_{name}"] == pytest.approx(gain.mean(), abs=1e-6)
    assert abs(line["over_own_empty"] - line["over_empty"]) > 0.001
    # A table of equal counts shows which concentrations smooth it.
    counts = np.array([[30, 31]])
    smoothed = naive_tables.averaged_table(counts, UP_TO_100)
    with real_tables.concentrations_up_to_100():
        assert posterior_mean(counts, "auto") == pytest.approx(smoothed, rel=1e-9)
        learner = MultitaskLearner(score=MixedDirichlet(UP_TO_100), random_state=0)
        earlier = in_halves(learner, tasks)["together"]
    assert posterior_mean(counts, "auto") != pytest.approx(smoothed, rel=1e-9)
    assert line["over_up_to_100"] == pytest.approx((shared["together"] - earlier).mean(), abs=1e-6)
    table = {"table": "dune", "score": "MixedDirichlet", "parents": 0.1, "way": real_tables.SHARED}
    shown = real_tables.tables(pd.DataFrame([{**table, **line}]))["real_tables_concentrations"]
    gain = f"{line['over_up_to_100']:+.3f} ± {line['over_up_to_100_error']:.3f}"
    assert shown.splitlines()[2].endswith(f"| {gain} |")


def test_tables_of_sure_arcs():
    pairs = [0] * 31
    pairs[24], pairs[30] = 4, 2
    kinds = {"pairs": pairs, "true": [n // 2 for n in pairs]}
    lines = pd.DataFrame(
        [
            {
                **{"problem": "ALARM", "rows": 250, "trial": trial, "method": "single"},
                **{"arc": kinds, "edge": kinds},
            }
            for trial in range(2)
        ]
    )
    (table,) = sure_tables(lines).values()
    assert "0.50 ± 0.00 (8)" in table and "0.50 ± 0.00 (4)" in table
    assert draw_sure(lines).axes


def test_what_is_said_of_confidences_is_what_was_measured():
    # Of one task and of several, by default.
    lines = study.lines_of(sure_arcs).query("method != 'together'")
    shares = {(kind, share): [] for kind in ("edge", "arc") for share in (1, 0.8)}
    for _, group in lines.groupby(["rows", "problem", "method"]):
        for kind, share in shares:
            confidence, y, weights = cases(group, kind)
            low, high = (1, 1) if share == 1 else (0.75, 0.85)
            near = (confidence >= low - 1e-9) & (confidence <= high + 1e-9)
            # A few pairs say little.
            if weights[near].sum() > 10:
                shares[kind, share].append(np.average(y[near], weights=weights[near]))
    said = re.findall(r"(\d+) to (\d+) %", MEANING)
    measured = [
        (f"{100 * min(values):.0f}", f"{100 * max(values):.0f}") for values in shares.values()
    ]
    assert said == measured
