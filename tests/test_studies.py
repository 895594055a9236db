"""The studies of related tasks: their parts do what the public functions do, and runs resume."""

import ast
import importlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
from budget import quick_search
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks import claims, record, related, study, summary, tables
from benchmarks.predictions import (
    boosting_steps,
    calibrated_arcs,
    good_probabilities,
    multinets,
    multinets_learners,
)
from benchmarks.record import Results, key_of
from benchmarks.thesis import (
    groups,
    methods,
    penalty_choice,
    penalty_curves,
    pool,
    posterior,
    priors,
    selection,
    task_number,
    training_size,
)
from benchmarks.variants import LEARNERS, SEARCHES, THESIS, Searches
from bnmtl import (
    BayesNet,
    BDeu,
    EditPrior,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    metrics,
    problems,
    relatedness,
    structures,
)
from bnmtl.learners.held_out import held_out_rows, held_out_split
from bnmtl.learners.penalty import penalty_grid
from bnmtl.search import Limits
from bnmtl.search.couplings import Couplings
from bnmtl.search.posterior import log_posterior

pytestmark = pytest.mark.beside_kernels

STUDIES = (
    *(
        boosting_steps,
        calibrated_arcs,
        good_probabilities,
        methods,
        multinets,
        penalty_choice,
        penalty_curves,
    ),
    *(posterior, priors, selection, task_number, training_size),
)


@pytest.fixture(scope="module")
def asia():
    networks = problems.deletion("asia", 3, 0.2, random_state=0)
    return related.Related(networks, 300, 0)


@pytest.mark.parametrize("variant", ["T", "S", "J"])
@pytest.mark.parametrize("penalty", [0.0, 0.9])
def test_searches_find_what_the_learners_find(asia, variant, penalty):
    searches = Searches(asia.tasks, 3)
    solution = searches.solve(variant, PairedPrior(penalty))
    learner = MultitaskLearner(PairedPrior(penalty), **LEARNERS[variant], random_state=3)
    learner.fit(asia.tasks)
    assert solution.score == pytest.approx(learner.score_, rel=1e-12)
    graphs = asia.graphs(solution.matrices)
    assert {t: set(g.edges) for t, g in graphs.items()} == {
        t: set(g.edges) for t, g in learner.configuration_.items()
    }


def test_judged_is_what_the_metrics_give(asia):
    learner = MultitaskLearner(table_sharing=None, **quick_search(), parameter_sample_size=1).fit(
        asia.tasks
    )
    judged = asia.judged(learner.configuration_)
    true = {task: network.graph for task, network in asia.networks.items()}
    assert judged["edits"] == metrics.edit_distance(true, learner.configuration_).tolist()
    assert judged["shd"] == metrics.shd(true, learner.configuration_).tolist()
    rows = problems.sample(asia.networks, related.N_TEST, random_state=related.TEST_SEED)
    divergence = metrics.kl_divergence(asia.networks, learner.networks_, rows)
    assert judged["kl"] == pytest.approx(divergence.tolist(), rel=1e-9)
    assert asia.line(learner.configuration_)["kl"] == pytest.approx(divergence.mean(), abs=1e-6)
    shifted = asia.line(learner.configuration_, asia.networks)
    assert shifted["kl"] == 0.0
    assert shifted["edits"] == pytest.approx(np.mean(judged["edits"]), abs=1e-6)
    assert asia.divergences(learner.networks_) == pytest.approx(judged["kl"], rel=1e-9)


def test_the_thesis_climbs_from_single_task_solutions_and_the_default_is_joint():
    assert SEARCHES["T"] == {"search": "hill-climbing", "start": "single-task"}
    assert SEARCHES["S"] == {"search": "orders", "start": "single-task"}
    default = MultitaskLearner().get_params()
    assert SEARCHES["J"] == {name: default[name] for name in SEARCHES["J"]}


def test_problems_are_those_of_the_thesis():
    assert set(related.FIVE) < set(methods.PROBLEMS)
    independent, shared = (related.networks_of(name, 1) for name in ("ALARM-IND", "ALARM"))
    for task in shared:
        # The same arcs are deleted, the tables differ.
        assert set(independent[task].graph.edges) == set(shared[task].graph.edges)
        assert independent[task] != shared[task]
    control = related.networks_of(related.CONTROL, 0)
    assert len({frozenset(network.graph.edges) for network in control.values()}) == 5
    assert pool.CHANGED[0] == ()
    assert len(set(pool.CHANGED)) == 16 == pool.OTHERS + 1


def test_the_studies_have_their_sizes():
    curves = pd.DataFrame(penalty_curves.plan(False)).explode("wanted")
    assert curves["wanted"].value_counts().to_dict() == {"T": 320, "S": 320, "J": 160}
    assert len(penalty_curves.EXPONENTS) == 12
    assert len(penalty_curves.FEW) == 6
    assert set(penalty_curves.FEW) < set(penalty_curves.EXPONENTS)
    cases = pd.DataFrame(methods.plan(False)).explode("wanted")
    assert (cases.groupby(["problem", "wanted"]).size() == 20).all()
    assert len(cases) == 6 * 16 * 20
    sizes = pd.DataFrame(training_size.plan(False)).explode("wanted")
    assert sizes["wanted"].value_counts().to_dict() == {
        **dict.fromkeys(["single T", "multitask T", "single S", "multitask S"], 70),
        "multitask J": 25,
    }
    assert len(pd.DataFrame(priors.plan(False)).explode("wanted")) == 5 * 20 * 4
    assert len(pd.DataFrame(selection.plan(False)).explode("wanted")) == 5 * 10 * 12
    assert len(pd.DataFrame(task_number.plan(False)).explode("wanted")) == 2 * 20 * 4
    assert len(good_probabilities.plan(False)) == 8 * 5 * (10 + 2) + 8  # trees of two levels
    assert len(pd.DataFrame(calibrated_arcs.plan(False)).explode("wanted")) == 4 * 10 * 3
    assert len(pd.DataFrame(multinets.plan(False)).explode("wanted")) == 6 * 2 * 10 * (6 + 6 + 4)


@pytest.mark.parametrize("module", STUDIES, ids=lambda module: module.NAME)
def test_more_trials_or_fewer_can_be_asked_for(module):
    for n_trials in (2, 30):
        cases = pd.DataFrame(module.plan(False, n_trials)).explode("wanted")
        assert set(cases["trial"]) == set(range(n_trials))
        # Of every variant.
        by_variant = cases.groupby("wanted")["trial"].nunique()
        assert (by_variant == n_trials).all()


@pytest.mark.parametrize("module", STUDIES, ids=lambda module: module.NAME)
def test_no_case_is_planned_twice(module):
    for quick in (False, True):
        keys = [
            key_of({**{k: v for k, v in case.items() if k != "wanted"}, "last": one})
            for case in module.plan(quick)
            for one in case["wanted"]
        ]
        assert len(set(keys)) == len(keys)
        for case in module.plan(quick):
            assert set(module.SETTINGS[:-1]) <= set(case)


class Counting:
    """A study that counts how often it measures."""

    NAME, SETTINGS, FIXED = "counting", ("trial", "method"), {"n_rows": 9}
    calls = 0

    @staticmethod
    def plan(quick, trials=None):
        n_trials = 1 if quick else trials or 3
        return [{"trial": trial, "wanted": ["a", "b"]} for trial in range(n_trials)]

    @classmethod
    def measure(cls, trial, wanted):
        cls.calls += len(wanted)
        return {method: {"value": trial} for method in wanted}


@pytest.fixture
def repository(monkeypatch, tmp_path):
    """A repository with code in a commit, in place of this one."""
    place = tmp_path / "repository" / "benchmarks"
    place.mkdir(parents=True)
    monkeypatch.setattr(record, "__file__", str(place / "record.py"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], cwd=place.parent, check=True)
    (place / "old.py").write_text("")
    subprocess.run([*git, "add", "."], cwd=place.parent, check=True)
    subprocess.run([*git, "commit", "-qm", "one"], cwd=place.parent, check=True)
    # They are computed once per process.
    record.circumstances.cache_clear()
    yield place.parent
    record.circumstances.cache_clear()


def test_a_second_run_measures_only_what_is_missing(repository, tmp_path):
    results = study.results_of(Counting, tmp_path)
    results.add(trial=1, method="b", value=7)
    cases = study.missing_of(Counting, results, quick=False)
    assert [case["wanted"] for case in cases] == [["a", "b"], ["a"], ["a", "b"]]
    study.run(Counting, results, cases, n_jobs=1)
    assert Counting.calls == 5
    again = study.results_of(Counting, tmp_path)
    assert study.missing_of(Counting, again, quick=False) == []
    lines = [json.loads(line) for line in (tmp_path / "counting.jsonl").read_text().splitlines()]
    assert len(lines) == 6
    assert lines[0]["key"] == key_of({"method": "b", "trial": 1, "n_rows": 9})
    assert len({line["key"] for line in lines}) == 6
    assert len(study.missing_of(Counting, again, quick=False, trials=1)) == 0
    more = study.missing_of(Counting, again, quick=False, trials=5)
    assert [case["trial"] for case in more] == [3, 4]
    frame = study.lines_of(Counting, tmp_path)
    assert frame.query("trial == 1 and method == 'b'")["value"].tolist() == [7]


def test_lines_made_with_other_constants_do_not_count(repository, tmp_path):
    few = Results("rows", ("trial",), tmp_path, {"n_rows": 10})
    few.add(trial=0, value=1)
    many = Results("rows", ("trial",), tmp_path, {"n_rows": 20})
    assert few.has(trial=0) and not many.has(trial=0)
    many.add(trial=0, value=2)
    many.add(trial=0, value=3)
    for n_rows, value in ((10, 1), (20, 3)):
        current = Results("rows", ("trial",), tmp_path, {"n_rows": n_rows}).current()
        assert [line["value"] for line in current] == [value]


def test_lines_with_earlier_constants_are_shown_until_they_are_measured_again(repository, tmp_path):
    earlier, other = {"n_rows": 10, "seed": 1}, {"n_rows": 10, "seed": 2}
    for fixed, trials in ((earlier, (0, 1)), (other, (2,))):
        for trial in trials:
            Results("rows", ("trial",), tmp_path, fixed).add(trial=trial, value=fixed["n_rows"])
    arguments = "rows", ("trial",), tmp_path, {"n_rows": 20, "seed": 1}, {"n_rows": 10}
    now = Results(*arguments)
    assert not now.has(trial=0)
    now.add(trial=0, value=20)
    again = Results(*arguments)
    assert again.has(trial=0) and not again.has(trial=1)
    assert {line["trial"]: line["value"] for line in again.current()} == {0: 20, 1: 10}
    assert len(again.lines) == 4


@pytest.mark.parametrize(
    "name", [f"{folder}.{name}" for folder, names in tables.STUDIES.items() for name in names]
)
def test_the_lines_that_are_there_count(name):
    assert study.results_of(importlib.import_module(f"benchmarks.{name}")).current()


def test_a_case_for_each_combination():
    assert study.every("ab", trial=range(2), rows=[5]) == [
        {"trial": trial, "rows": 5, "wanted": ["a", "b"]} for trial in range(2)
    ]


def test_lines_without_a_constant_do_not_count(repository, tmp_path):
    Results("rows", ("trial",), tmp_path).add(trial=0, value=1)
    now = Results("rows", ("trial",), tmp_path, {"sizes": (1, 2)})
    assert not now.has(trial=0) and now.current() == []
    now.add(trial=0, value=2)
    again = Results("rows", ("trial",), tmp_path, {"sizes": (1, 2)})
    assert again.has(trial=0) and [line["value"] for line in again.current()] == [2]
    again.forget(trial=0)
    assert [line["value"] for line in again.lines] == [1]


def test_lines_of_another_study_come_from_the_same_folder(tmp_path):
    class Beside(Counting):
        NAME = "beside"
        BESIDE = (Counting, lambda lines: lines[lines["method"] == "a"].assign(method="c"))

    study.results_of(Beside, tmp_path).add(trial=0, method="b", value=1)
    assert study.lines_of(Beside, tmp_path)["method"].tolist() == ["b"]
    for method in "ab":
        study.results_of(Counting, tmp_path).add(trial=0, method=method, value=2)
    assert study.lines_of(Beside, tmp_path)["method"].tolist() == ["b", "c"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--trials", "0"], "must be a whole number of at least 1, got '0'"),
        (["--trials", "many"], "must be a whole number of at least 1, got 'many'"),
        (["--jobs", "0"], "must be a whole number of at least 1, got '0'"),
        (["--trials", "-1"], "must be a whole number of at least 1, got '-1'"),
        (["--trials", "2", "--quick"], "not allowed with argument --trials"),
    ],
)
def test_arguments_that_cannot_be_end_in_one_sentence(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as end:
        study.main("benchmarks.thesis.methods", arguments)
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]


SMALL_STUDY = """
'A study that counts rows.'

import pandas as pd
from matplotlib.figure import Figure

NAME, SETTINGS, JOBS = "rows", ("trial", "method"), 1


def plan(quick, trials=None):
    return [{"trial": trial, "wanted": ["a", "b"]} for trial in range(1 if quick else trials or 3)]


def measure(trial, wanted):
    return {method: {"value": 10 * trial + 7} for method in wanted}


def tables(lines):
    return {"rows_table": f"values: {lines['value'].tolist()}"}


def draw(lines):
    return Figure(figsize=(len(lines), 1))
"""


def test_a_quick_run_leaves_other_results_alone(monkeypatch, capsys, tmp_path):
    (tmp_path / "small_study.py").write_text(SMALL_STUDY)
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "out"
    (out / "quick" / "rows").mkdir(parents=True)
    # Its own earlier lines are measured again, as those of other runs are not.
    for folder in (out, out / "quick" / "rows"):
        (folder / "rows.jsonl").write_text('{"trial": 0, "method": "a", "commit": "x"}\n')
    study.main("small_study", ["--quick", "--out", str(out)])
    assert sorted(path.name for path in out.iterdir()) == ["quick", "rows.jsonl"]
    assert json.loads((out / "rows.jsonl").read_text())["commit"] == "x"
    made = sorted(path.name for path in (out / "quick" / "rows").iterdir())
    assert made == ["rows.jsonl", "rows.png"]
    assert "values: [7, 7]" in capsys.readouterr().out
    assert [case["n_tasks"] for case in selection.plan(quick=True)] == [3]


def test_new_code_marks_a_commit_as_changed(repository):
    place, tmp_path = repository / "benchmarks", repository
    clean = record.commit()
    assert clean.isalnum()
    (place / "lines.jsonl").write_text("")
    assert record.commit() == clean
    (place / "new.py").write_text("")
    assert record.commit() == f"{clean}+"
    (place / "new.py").unlink()
    for folder in ("bnmtl", "bnmtl/search", "data", "structures", "benchmarks/thesis"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "new.py").write_text("")
        assert record.commit() == f"{clean}+"
        (tmp_path / folder / "new.py").unlink()
    assert record.commit() == clean


def test_a_missing_package_is_reported_before_anything_runs(
    repository, monkeypatch, capsys, tmp_path
):
    """After whether the code is that of a commit."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as end:
        study.main("benchmarks.thesis.methods", ["--out", str(tmp_path / "out"), "--trials", "1"])
    assert end.value.code == 2
    assert "`pyagrum` is needed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "script",
    [
        *("thesis.methods", "defaults.sachs", "search.single"),
        *("search.joint", "speed.growth", "speed.speed", "search.tries"),
    ],
)
def test_nothing_is_measured_by_code_that_is_in_no_commit(
    script, repository, monkeypatch, capsys, tmp_path
):
    # Should anything be measured after all, then not for hours.
    monkeypatch.setattr(study, "run", lambda *arguments: pytest.fail("measured"))
    record.exit_if_changed()
    (repository / "benchmarks" / "old.py").write_text("changed = True")
    with pytest.raises(SystemExit) as end:
        study.main(f"benchmarks.{script}", ["--out", str(tmp_path)])
    assert end.value.code == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("`benchmarks/old.py` has changes that are in no commit")
    assert sentence.endswith("; commit first.")


def test_lines_of_a_commit_with_changes_are_measured_again(repository, tmp_path):
    def results():
        return Results("some", ("trial",), tmp_path)

    new = repository / "benchmarks" / "new.py"
    new.write_text("")
    for trial in range(2):
        results().add(trial=trial, made_from="changes")
    new.unlink()
    record.circumstances.cache_clear()
    results().add(trial=0, made_from="commit")
    assert results().has(trial=0) and not results().has(trial=1)
    # What there is stays in the tables until then, and is not there twice afterwards.
    assert [line["made_from"] for line in results().lines] == ["changes", "commit"]
    # Several lines of one case are replaced once.
    again = results()
    again.add(trial=1, made_from="commit", penalty=0.5)
    again.add(trial=1, made_from="commit", penalty=0.9)
    assert [line.get("penalty") for line in results().lines] == [None, 0.5, 0.9]


def test_lines_name_the_versions_that_matter():
    versions = record.circumstances()["versions"]
    assert {"numpy", "pandas", "scikit-learn", "scipy", "numba"} <= set(versions)
    assert versions["scipy"] == scipy.__version__


# Studies of the defaults themselves.
OF_DEFAULTS = (
    *(
        "bases",
        "by_default",
        "choice",
        "chosen_sparsity",
        "concentrations",
        "corrected",
        "defaults",
    ),
    *(
        "first_graph",
        "good_learners",
        "imputations",
        "no_structure",
        "real_tables",
        "sharing",
        "many_tasks",
        "network_parts",
        "sure_arcs",
    ),
    *("table_weights", "visits", "ways"),
    *("cells", "groups", "rule", "real_groups", "divided", "part_concentrations", "permuted"),
)


def test_studies_of_the_thesis_do_not_depend_on_defaults():
    learners = {
        *("SingleTaskLearner", "IdenticalLearner", "PooledLearner"),
        *("MultitaskLearner", "MultitaskLearnerCV"),
    }
    found = 0
    for path in sorted(Path(record.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or path.stem in ("speed", *OF_DEFAULTS):
                continue
            name = ast.unparse(call.func)
            where = f"{path.name}, line {call.lineno}: {ast.unparse(call)}"
            given = {one.arg for one in call.keywords}
            if name in learners:
                # None is the name of what stands behind two stars.
                assert None in given, where
                found += 1
            elif name == "HeldOut":
                assert len(call.args) == 3, where
            elif name == "BayesNet.fit":
                assert "equivalent_sample_size" in given, where
            elif name == "TaskProblem.of_all":
                assert "max_cells" in given, where
    assert found > 15
    for parameters in (*LEARNERS.values(), calibrated_arcs.FIXED_PARAMETERS):
        assert THESIS.items() <= parameters.items()
    for parameters in LEARNERS.values():
        assert parameters["table_sharing"] is None
    score, *rest = THESIS.values()
    assert isinstance(score, BDeu) and score.equivalent_sample_size == 1.0
    assert rest == [None, 1.0, Limits(max_cells=10_000_000)]
    for method in methods.METHODS:
        if method.split()[0] in ("single", "identical", "pooled", "multitask"):
            learner = methods.learner_of(method, 0)
            assert THESIS.items() <= learner.get_params(deep=False).items()
            assert learner.table_sharing is None
            if "multitask" in method:
                assert (learner.cv is None) != (learner.validation is None)


@pytest.mark.parametrize("kind", ["nets of one structure", "nets together"])
def test_nets_of_the_thesis_have_separate_tables(kind):
    frame = structures.load("asia").sample(60, random_state=0)
    nets = multinets_learners.KINDS[kind](frame.drop(columns="bronc"), frame["bronc"], 0)
    assert nets.at(None).learner_.table_sharing is None


def test_confidence_of_arcs_is_measured_with_separate_tables(monkeypatch):
    learners = []

    def fit(learner, tasks):
        learners.append(learner)
        learner.penalty_ = 0.9
        return learner

    monkeypatch.setattr(MultitaskLearnerCV, "fit", fit)
    monkeypatch.setattr(calibrated_arcs, "counted", lambda *given: {})
    monkeypatch.setattr(
        calibrated_arcs,
        "arc_confidence",
        lambda tasks, learner, *given, **settings: learners.append(learner),
    )
    calibrated_arcs.measure("ALARM", 0, ["together", "shared"])
    assert [learner.table_sharing for learner in learners] == [None, None, "auto"]


def test_reductions_and_tests_over_trials():
    rng = np.random.default_rng(0)
    other = rng.normal(10, 1, 20)
    ours = other - 2 + rng.normal(0, 0.5, 20)
    assert summary.reduction(ours, other) == pytest.approx(100 * (1 - ours.mean() / other.mean()))
    assert summary.paired_p(ours, other) == pytest.approx(stats.ttest_rel(ours, other).pvalue)
    assert summary.reduction_text(ours, other) == "20 %"
    noisy = other + rng.normal(0, 5, 20)
    p_value = stats.ttest_rel(noisy, other).pvalue
    assert 0.1 < p_value < 1
    assert summary.paired_p(noisy, other) == pytest.approx(p_value)
    assert "n.s." in summary.reduction_text(noisy, other)
    assert summary.paired_p(other, other) == 1.0
    assert summary.mean_and_error([1.0, 2.0, 3.0], 1) == "2.0 ± 0.6"


def test_a_trial_that_lacks_one_method_is_left_out_of_its_pairs_only():
    lines = pd.DataFrame(
        [
            (trial, method, 10.0 * trial + at)
            for trial in range(4)
            for at, method in enumerate("xyz")
        ]
        + [(4, "x", 500.0), (5, "y", -70.0)],
        columns=["trial", "method", "edits"],
    )
    wide = summary.by_trial(lines, "method", "edits")
    assert wide["x"].notna().sum() == 5
    assert summary.paired(wide["x"], wide["z"]).shape == (2, 4)
    assert summary.reduction(wide["x"], wide["z"]) == pytest.approx(100 * (1 - 15 / 17))
    assert summary.paired_p(wide["x"], wide["x"]) == 1.0
    assert summary.paired_p(wide["x"], wide["y"]) == 0.0
    assert summary.mean_and_error(wide["z"]) == summary.mean_and_error([2.0, 12.0, 22.0, 32.0])


def test_lists_become_rows():
    lines = pd.DataFrame({"trial": [0, 1], "x": [[0, 1], [0, 1]], "y": [[5, 6], [7, 8]]})
    rows = summary.exploded(lines, ["x", "y"])
    assert rows[["trial", "x", "y"]].to_numpy().tolist() == [
        [0, 0, 5],
        [0, 1, 6],
        [1, 0, 7],
        [1, 1, 8],
    ]


def test_a_group_of_the_pool_is_learned_once_and_as_the_learner_does():
    network = problems.random_network(6, random_state=0)
    networks = problems.perturb(network, 3, 2, random_state=0)
    tasks = related.Related(networks, 400, 0).tasks
    (rows,) = held_out_rows(tasks, 0.05, None, 0)
    train, test = held_out_split(tasks, rows)
    train_pool = pool.Pool(train, "T", 0)
    one = train_pool.learned(["task3", "task1"])
    assert train_pool.learned(["task1", "task3"]) is one
    at = one.penalties.index(0.9)
    learner = MultitaskLearner(PairedPrior(0.9), **LEARNERS["T"], random_state=0)
    learner.fit({name: train[name].frame() for name in ("task1", "task3")})
    assert {t: set(g.edges) for t, g in one.graphs[at].items()} == {
        t: set(g.edges) for t, g in learner.configuration_.items()
    }
    held_out = pool.held_out_of(train, test)
    chosen = one.chosen({name: held_out[name] for name in ("task1", "task3")})
    means = [
        np.mean(
            [
                BayesNet.fit(g, train[t]).log_likelihood(test[t].frame()).mean()
                for t, g in graphs.items()
            ]
        )
        for graphs in one.graphs
    ]
    assert chosen is one.graphs[int(np.argmax(np.array(means) >= max(means) - 1e-9))]


def test_the_posterior_of_the_study_is_the_learners(asia):
    learner = MultitaskLearnerCV(**LEARNERS["S"], validation="posterior", random_state=3)
    learner.fit(asia.tasks)
    found = {one.penalty: one for one in posterior.candidates(posterior.Paths(asia.tasks, 3), "")}
    scores = learner.validation_scores_
    assert list(found) == scores.index[::-1].tolist()
    assert found[0.0].log_posterior == pytest.approx(scores[0.0], abs=1e-6)
    # The learner searches more, so it may do better, but hardly by much.
    gaps = [scores[penalty] - one.log_posterior for penalty, one in found.items()]
    assert max(map(abs, gaps)) < 10
    names = ("finer grid", "directions apart", "arc probability")
    n_candidates = {
        name: len(list(posterior.candidates(posterior.Paths(asia.tasks, 3), name)))
        for name in names
    }
    assert n_candidates == {"finer grid": 50, "directions apart": 60, "arc probability": 75}


@pytest.mark.parametrize("prior", [PairedPrior(0.99), EditPrior(0.9)])
def test_an_arc_probability_for_each_task(prior):
    networks = problems.perturb(problems.random_network(6, random_state=0), 3, 2, random_state=0)
    tasks = related.Related(networks, 100, 0).tasks
    assert not any(task.constant for task in tasks.values())
    couplings = Couplings(prior, Searches(tasks, 0).search("S").joint)
    # With as many arcs in every task, one probability for all is the best for each.
    matrices = np.zeros((3, 6, 6), bool)
    matrices[0, 0, 1] = matrices[1, 2, 1] = matrices[2, 3, 4] = True
    plain = log_posterior(couplings, matrices, -5.0)
    by_task = posterior.log_posterior_by_task(couplings, matrices, -5.0)
    assert by_task == pytest.approx(plain, abs=1e-3)
    matrices[0, 0, 2:] = True
    plain = log_posterior(couplings, matrices, -5.0)
    assert posterior.log_posterior_by_task(couplings, matrices, -5.0) > plain + 0.1
    matrices[:, 5, 4] = [True, False, False]
    identical = Couplings(PairedPrior(1.0), Searches(tasks, 0).search("S").joint)
    assert posterior.log_posterior_by_task(identical, matrices, 0.0) == -np.inf


def test_groups_are_those_of_the_relatedness_room():
    network = problems.random_network(6, random_state=1)
    tasks = related.Related(problems.perturb(network, 4, 2, random_state=1), 400, 0).tasks
    groupings = groups.Groupings(tasks, "T", 0)
    train = groupings.train
    assert {task.n_rows for task in train.values()} == {400 - 20 - 20}
    learner = MultitaskLearner(PairedPrior(0.9), **LEARNERS["T"], random_state=0)
    frames = {name: task.frame() for name, task in train.items()}
    pd.testing.assert_frame_equal(groupings.distances, relatedness.direct(frames, learner))
    selector = relatedness.TaskSelector(learner, "task3", n_tasks=2).fit(frames)
    assert selector.order_ == list(groupings.distances["task3"].drop("task3").sort_values().index)
    at = penalty_grid(None).index(0.9)
    selected = groupings.pool.learned(["task3", *selector.order_[:2]]).graphs[at]
    assert set(selected["task3"].edges) == set(selector.configuration_["task3"].edges)
    clusterer = relatedness.TaskClusterer(learner, n_clusters=2).fit(frames)
    scores = [score for _, score in groupings.by_clusters(groupings.distances)]
    assert len(scores) == 4 and max(scores) < 0
    for _, members in clusterer.labels_.groupby(clusterer.labels_):
        learned = groupings.pool.learned(members.index).graphs[at]
        for name in members.index:
            assert set(learned[name].edges) == set(clusterer.configuration_[name].edges)


def test_no_difference_must_be_shown():
    near = np.random.default_rng(0).normal(0, 0.1, 20)
    near -= near.mean()
    assert claims.alike(near, 0.2) == claims.alike(near, 0.2, is_harm=True) == "yes"
    assert claims.alike(10 * near, 0.2) == claims.alike(10 * near, 0.2, is_harm=True)
    assert claims.alike(10 * near, 0.2) == "not decided"
    assert claims.alike(near + 1, 0.2) == claims.alike(near + 1, 0.2, is_harm=True) == "no"
    assert claims.alike(near - 1, 0.2) == "no"
    assert claims.alike(near - 1, 0.2, is_harm=True) == "yes"
    # It differs from 0, but perhaps not by more than the margin.
    assert claims.alike(near + 0.18, 0.2) == claims.alike(near + 0.22, 0.2) == "not decided"
    assert claims.alike(near[:4], 0.2) == "too few trials"
    assert claims.alike(np.zeros(5), 0.1) == "yes" and claims.alike(np.ones(5), 0.1) == "no"


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=3, max_size=9, unique=True), st.floats(0.01, 1))
def test_equivalence_is_a_confidence_interval_within_the_margin(differences, margin):
    differences = np.array(differences)
    error = stats.sem(differences)
    low, high = stats.t.interval(0.9, len(differences) - 1, differences.mean(), error)
    assume(min(abs(high - margin), abs(low + margin)) > 1e-9)
    assert summary.is_within(differences, margin) == (-margin < low and high < margin)
    assert summary.is_less(differences, margin) == (high < margin)
