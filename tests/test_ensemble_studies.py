"""Studies of ensembles: their library, the exchange with AutoGluon, the checks before times."""

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest

from benchmarks import study
from benchmarks.ensembles import (
    autogluon_environment,
    autogluon_peer,
    modern_library,
    modern_tables,
    selection_speed,
)
from benchmarks.ensembles.library import FAMILIES, made_library
from bnmtl.ensembles import PredictionStore
from bnmtl.ensembles.additions import Additions, additions_of
from bnmtl.ensembles.judges import BINARY
from bnmtl.ensembles.library import workers
from bnmtl.ensembles.selection import library_of

pytestmark = pytest.mark.beside_kernels

# Mean of all models; the error of AutoGluon's metrics is 0 at the optimum.
INVENTED = """
import numpy as np

class EnsembleSelection:
    def __init__(self, ensemble_size, problem_type, metric):
        self.metric = metric

    def fit(self, predictions, labels):
        self.weights_ = np.full(len(predictions), 1 / len(predictions))
        self.train_score_ = self.metric(labels, np.mean(predictions, axis=0))
"""
METRICS = """
import numpy as np

def log_loss(y, p):
    return -np.log(np.where(y == 1, p, 1 - p)).mean()

def accuracy(y, p):
    return 1 - ((p >= 0.5) == y).mean()
"""


@pytest.fixture
def invented_package(tmp_path, monkeypatch):
    """A package with the names of AutoGluon in the path of a new process."""
    folder = tmp_path / "autogluon" / "core" / "models" / "greedy_ensemble"
    folder.mkdir(parents=True)
    (folder / "ensemble_selection.py").write_text(INVENTED)
    (tmp_path / "autogluon" / "core" / "metrics.py").write_text(METRICS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(autogluon_peer, "python_of", lambda folder: sys.executable)


def test_the_library_is_like_a_real_one():
    predictions, y = made_library(0, 100, 400)
    again, _ = made_library(0, 100, 400)
    assert (predictions == again).all() and (predictions != made_library(1, 100, 400)[0]).any()
    assert predictions.shape == (100, 400) and sum(one.share for one in FAMILIES) == 1
    scores = PredictionStore(predictions, y).score("roc_area")
    assert scores.min() < 0.7 < 0.8 < scores.max() < 0.95
    assert 10 < sum(len(np.unique(one)) <= 21 for one in predictions) < 50
    correlation = np.corrcoef(predictions)
    assert np.quantile(correlation, 0.9) > np.quantile(correlation, 0.1) + 0.3


def test_a_quick_run_measures_a_step_of_each_metric(tmp_path, capsys):
    study.main("benchmarks.ensembles.selection_speed", ["--quick", "--out", str(tmp_path)])
    lines = study.lines_of(selection_speed, tmp_path / "quick" / "selection_speed")
    assert lines["metric"].tolist() == list(BINARY)
    assert (lines["ratio"] > 1).all()
    assert "| ROC area |  | " in capsys.readouterr().out


def test_both_packages_select_from_the_same_library(invented_package):
    line = selection_speed.measure(["cross_entropy", "accuracy"], "autogluon", 30, 80)
    for metric, found in line.items():
        predictions, y = made_library(selection_speed.SEED, 30, 80)
        mean = selection_speed.reached(metric, np.full(30, 1 / 30), predictions, y)
        assert found["autogluon_score"] == pytest.approx(mean, abs=1e-5)
        assert found["autogluon_chosen"] == 30 > found["chosen"]
        assert found["ratio"] == pytest.approx(found["autogluon"] / found["ours"], rel=0.9)
    lines = pd.DataFrame(
        [{"study": "autogluon", "metric": metric, **found} for metric, found in line.items()]
    )
    assert "| log loss | " in selection_speed.tables(lines)["selection_speed_autogluon"]


def test_a_quick_run_compares_a_library_with_rivals(tmp_path, capsys, monkeypatch):
    def run(function, tasks, arguments_of, *_):
        for task in tasks:
            yield workers.Done(task, function(*arguments_of(task)), None, 0.0)

    monkeypatch.setattr(workers, "run", run)
    for name, (kind, *rest) in list(modern_library.SIMPLE.items()):
        if "trees" in name or "forest" in name:
            monkeypatch.setitem(modern_library.SIMPLE, name, (partial(kind.func, 5), *rest))
    options = ["--quick", "--jobs", "1", "--out", str(tmp_path)]
    study.main("benchmarks.ensembles.modern_library", options)
    lines = study.lines_of(modern_library, tmp_path / "quick" / "modern_library")
    assert lines["library"].tolist() == ["modern, 5 folds", "rivals"]
    assert (lines["seconds"] > 0).all() and set(lines["classes"]) == {3}
    library, rivals = lines["cross_entropy"]
    assert list(rivals) == [*modern_library.SIMPLE, "mean of the five"]
    assert library["selection"] < np.log(3) > rivals["logistic regression"] > 0
    assert sum(lines["weights"][0].values()) == pytest.approx(1, abs=1e-3)
    out = capsys.readouterr().out
    assert "| quick | 120 | 3 | 1 | " in out and f"| {library['selection']:.3f} | " in out


def test_tables_of_a_library_beside_its_rivals():
    def line(table, split, library, value, rows):
        names = ("selection", "best single model", "mean of all models", *modern_library.SIMPLE)
        losses = dict.fromkeys((*names, "mean of the five"), value)
        scores = {"cross_entropy": losses, "accuracy": losses, "rows": rows, "classes": 2}
        weights = {"weights": {"a": 1.0}, "seconds_by_family": {"a": 2.0}}
        seconds = 3.0 if library == "modern, 5 folds" else 6.0
        return {"table": table, "split": split, "library": library, "seconds": seconds} | (
            scores | weights
        )

    values = {"modern, 5 folds": 0.0, "small, 5 folds": 0.15, "small, a fifth": 0.2}
    values |= {"modern, a fifth": 0.0, "rivals": 0.1}
    lines = pd.DataFrame(
        [
            line(table, split, library, round(0.3 + value + 0.01 * rows / 1000, 3), rows)
            for table, rows in (("few", 500), ("some", 600), ("many", 2000))
            for split in (0, 1)
            for library, value in values.items()
        ]
    )
    for at, loss in ((0, 0.295), (1, 0.45), (3, 0.301)):
        lines.at[at, "cross_entropy"] = {**lines["cross_entropy"][at], "selection": loss}
    half = line("few", 2, "modern, 5 folds", 0.1, 500)  # a split that the others do not have
    found = modern_tables.tables(pd.concat([lines, pd.DataFrame([half])], ignore_index=True))
    assert (
        "| few | 500 | 2 | 2 | **0.300** | 0.303 | 0.453 | 0.505 | 0.405 | 0.405 | 0.5 |"
        in (found["modern_library"])
    )
    assert (
        "| small, a fifth | 3 | 0.510 | 51.0 % | 0.202 ± 0.002 | 3 of 3 |"
        in (found["modern_library_means"])
    )
    said = found["modern_library_claims"]
    assert "| modern with 5 folds beats small with a fifth held out | our own | 0.202 ± " in said
    assert "| with 5 folds modern beats small | our own | 0.151 ± 0.001 (p 0.000), 3 of 3" in said
    assert "| 5 folds beat a fifth held out, of small | our own | 0.051 ± 0.001 " in said
    assert "| 5 folds beat a fifth held out, of modern | our own | 0.001 ± 0.001 (p 0.423)" in said
    assert (
        "| the same on tables of fewer than 1000 rows | our own | 0.203 ± 0.003 (p 0.008)" in said
    )
    time = "time of small with a fifth held out | our own | 0.5 times, 0.5 to 0.5 | no |"
    assert time in said
    assert "small, both with 5 folds | our own | 0.5 times, 0.5 to 0.5 | yes |" in said


def test_an_error_that_is_not_the_metric_ends_the_comparison():
    selection_speed.check_error("accuracy", 0.8, 0.2)
    with pytest.raises(ValueError, match=r"reports 0.21 for accuracy, the metric says 0.199"):
        selection_speed.check_error("accuracy", 0.8, 0.21)


def test_other_scores_than_those_of_the_metric_are_not_timed():
    _, library = library_of(PredictionStore(*made_library(0, 20, 50)), "cross_entropy")
    fast = additions_of(library.judge, library.models)
    plain, allowed = Additions(library.judge, library.models), np.ones(20, bool)
    for at in (3, 5):
        fast.add(at)
        plain.add(at)
    expected = plain.scores()
    selection_speed.check_scores("cross_entropy", fast, expected, allowed)
    with pytest.raises(ValueError, match="differ from the metric"):
        selection_speed.check_scores("cross_entropy", fast, expected + 1e-6, allowed)
    fast.leading = lambda allowed: np.where(expected < expected.max(), expected, -np.inf)
    with pytest.raises(ValueError, match="differ from the metric"):
        selection_speed.check_scores("cross_entropy", fast, expected, allowed)


def test_without_autogluon_the_study_ends_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv(autogluon_environment.VARIABLE, str(tmp_path))
    cases = selection_speed.plan(quick=False)
    with pytest.raises(ValueError, match="`python -m .*autogluon_environment` installs it"):
        selection_speed.check_needs(cases, [])
    selection_speed.check_needs(cases[:1], [])
    python = autogluon_environment.python_of(tmp_path)
    python.parent.mkdir()
    python.touch()
    selection_speed.check_needs(cases, [])


def test_a_process_that_ends_is_an_error(invented_package):
    with autogluon_peer.AutoGluon(np.full((2, 4), 0.5), np.array([0, 1, 0, 1])) as peer:
        assert peer.select("accuracy", 1)["error"] == 0.5
        with pytest.raises(RuntimeError, match="ended with the code 1"):
            peer.select("roc_area", 1)


def test_the_environment_is_made_by_its_interpreter(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(autogluon_environment.venv, "create", lambda *a, **o: commands.append(a))
    monkeypatch.setattr(
        autogluon_environment.subprocess, "run", lambda command, **o: commands.append(command)
    )
    autogluon_environment.main(["--folder", str(tmp_path)])
    (made,), command = commands
    assert made == tmp_path
    assert command[0] == autogluon_environment.python_of(tmp_path)
    assert command[-1] == autogluon_environment.PACKAGE
