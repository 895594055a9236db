"""`bnmtl learn --bootstrap` and `--threshold`: what the folder says of how sure arcs are."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from command import frame, listing, mistake, record
from pictures import texts
from small import noise

import bnmtl
from bnmtl import HillClimbing, plotting
from bnmtl.cli import learn
from bnmtl.cli.options import Options
from bnmtl.confidence import MEANING, arc_confidence, consensus, sure_words
from bnmtl.io import read_run
from bnmtl.learners.adapted import as_chosen, family_limits, with_graphs
from bnmtl.learners.arcs import sharing_counts
from bnmtl.networks import fit_networks
from bnmtl.search import Limits
from bnmtl.wording import count

pytestmark = pytest.mark.beside_kernels

CLIMB = {"search": HillClimbing(restarts=0), "random_state": 0}
FAST = ("--restarts", "0", "--bootstrap", "5", "--folds", "2")


@pytest.fixture
def files(tmp_path):
    for seed, name in enumerate(("north", "south")):
        frame(seed).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.mark.drawn
@pytest.mark.parametrize("penalty", ["0.9", "auto"])
def test_confidences_are_those_of_the_library(call, files, few_penalties, penalty):
    code, out, err = call(
        *("learn", "north.csv", "south.csv", *FAST, "--task-groups", "one"),
        *("--penalty", penalty, "--bootstrap", "3", "--out", "run"),
    )
    assert (code, err) == (0, "")
    assert MEANING.split()[0] in out
    assert "3 replicates cannot tell which arcs are well supported; learn 20 or more" in out
    run = read_run(files / "run")
    assert run.record["replicates"] == 3
    prior = bnmtl.PairedPrior(run.record["penalty"])
    learner = bnmtl.MultitaskLearner(prior, task_groups=None, **CLIMB)
    tasks = {"north": frame(0), "south": frame(1)}
    expected = arc_confidence(tasks, learner, 3, light=True)
    expected = expected.astype({"task": str, "parent": str, "child": str})
    written = pd.read_csv(files / "run" / "confidence.csv")
    assert list(written) == ["task", "from", "to", "confidence", "edge_confidence"]
    assert np.array_equal(written.to_numpy(), expected.to_numpy())
    arcs = pd.read_csv(files / "run" / "arcs.csv")
    both = arcs.merge(written, on=["task", "from", "to"], suffixes=("", "_too"))
    assert len(both) >= 4
    assert (both["confidence"] == both["confidence_too"]).all()
    assert (both["edge_confidence"] == both["edge_confidence_too"]).all()
    assert (arcs["tau_b"] > 0).all()  # a, b and c go together
    page = (files / "run" / "report.html").read_text()
    assert "How sure an arc is" in page and "rise together" in page


def test_of_too_many_pairs_those_that_a_replicate_joins(call, files, monkeypatch):
    monkeypatch.setattr("bnmtl.cli.learn.MOST_PAIRS", 1)
    assert call("learn", "north.csv", *FAST, "--out", "run")[0] == 0
    written = pd.read_csv(files / "run" / "confidence.csv")
    assert 0 < len(written) < len(frame(0).columns) * (len(frame(0).columns) - 1)
    assert (written["edge_confidence"] > 0).all()


def test_one_task_and_no_replicates(call, files):
    assert call("learn", "north.csv", *FAST, "--out", "one")[0] == 0
    assert "confidence.csv" in listing(files / "one")
    fast = ("--restarts", "0", "--bootstrap", "0", "--folds", "0")
    code, out, _ = call("learn", "north.csv", *fast, "--out", "none")
    assert code == 0 and "replicates" not in out
    assert "confidence.csv" not in listing(files / "none")
    arcs = pd.read_csv(files / "none" / "arcs.csv")
    assert arcs[["confidence", "edge_confidence"]].isna().all(axis=None)
    assert record(files / "none")["replicates"] == 0
    assert "How sure" not in (files / "none" / "report.html").read_text()


def test_a_threshold_makes_everything_the_consensus(monkeypatch, files):
    monkeypatch.chdir(files)
    paths = ("north.csv", "south.csv")
    options = {"paths": paths, "restarts": 0, "bootstrap": 5, "penalty": 0.9, "folds": 2}
    options["task_groups"] = "one"
    learned = learn.run(Options(**options, out="all"))
    result = learn.run(Options(**options, threshold=1.0, out="sure"))
    graphs = consensus(learned.confidence, 1.0, by="edge")
    run = read_run(files / "sure")
    fitted = fit_networks(graphs, learned.learner.tasks_)
    for name, graph in graphs.items():
        assert set(run.configuration[name].edges) == set(graph.edges)
        assert run.networks[name] == fitted[name]
    arcs = pd.read_csv(files / "sure" / "arcs.csv")
    assert (arcs["edge_confidence"] == 1).all()
    assert {(a, b, t) for t, g in graphs.items() for a, b in g.edges} == set(
        zip(arcs["from"], arcs["to"], arcs["task"], strict=True)
    )
    assert run.record["arcs"] == sharing_counts(arcs)
    assert [task["arcs"] for task in run.record["tasks"]] == [
        graph.number_of_edges() for graph in graphs.values()
    ]
    assert run.record["learned_arcs"] == {
        name: sorted(map(list, graph.edges))
        for name, graph in learned.learner.configuration_.items()
    }
    assert set(run.record["learned_scores"]) == {"north", "south"}
    assert "learned_arcs" not in record(files / "all")
    shown, whose, *rest = run.record["verdict"]
    assert shown.startswith("Shown are consensus graphs, with the edges that all of the replicates")
    assert whose.startswith("Held-out rows were predicted by the graphs as they were learned")
    assert rest == record(files / "all")["verdict"]
    page = (files / "sure" / "report.html").read_text()
    assert shown in page and "Against learning each task alone" not in page
    assert result.learner.configuration_ is not learned.learner.configuration_


def test_arcs_that_had_to_be_there_are_not_called_well_supported(call, files):
    (files / "arcs.csv").write_text("from,to\na,b\n")
    options = ("--restarts", "0", "--bootstrap", "20", "--folds", "0", "--required", "arcs.csv")
    code, out, _ = call("learn", "north.csv", *options)
    assert code == 0
    run = read_run(files / "bnmtl-run")
    arcs = pd.read_csv(files / "bnmtl-run" / "arcs.csv")
    assert set(arcs.query("`from` == 'a' and to == 'b'")["confidence"]) == {1.0}
    assert f"of {count(len(arcs) - 1, 'arc')} " in run.record["sure"]
    assert run.record["sure"] in " ".join(out.split())
    assert run.record["sure"] in (files / "bnmtl-run" / "report.html").read_text()


def test_words_on_how_sure_arcs_are():
    arcs = pd.DataFrame({"from": ["a", "b", "c"], "to": ["b", "c", "d"], "task": "t"})
    shares = pd.DataFrame({"task": "t", "parent": arcs["from"], "child": arcs["to"], "arc": 0.4})

    def words(*edges, **settings):
        return sure_words(arcs, shares.assign(edge=edges), **settings)

    assert words(1.0, 0.96, 0.95) == (
        "3 of 3 arcs are well supported (at least 95 % of the replicates join their two "
        "variables); none is doubtful (fewer than half do)."
    )
    some = words(1.0, 0.7, 0.4)
    assert some.startswith("1 of 3 arcs is well supported") and "; 1 is doubtful" in some
    assert "More rows or fewer variables may settle more of them" in some
    assert some.endswith("; `bnmtl.confidence.consensus` leaves the doubtful ones out.")
    assert "consensus" not in words(1.0, 0.7, 0.4, is_consensus=True)
    assert "consensus" not in words(1.0, 0.7, 0.6)
    some = words(1.0, 0.7, 0.4, at_command_line=True)
    assert "More rows or fewer variables (`--ignore`) may settle more of them" in some
    assert some.endswith("; `--threshold 0.5` leaves the doubtful ones out.")
    few = {"n_bootstrap": 19, "at_command_line": True}
    assert words(1.0, 1.0, 1.0, **few).endswith("learn 20 or more (`--bootstrap`).")
    assert words(1.0, 1.0, 1.0, n_bootstrap=19).endswith("learn 20 or more (`n_bootstrap`).")
    assert words(0.6, 0.7, 0.8).startswith("None of 3 arcs is well supported")
    assert words(1.0, 0.7, 0.4, required={("t", "a", "b")}).startswith("None of 2 arcs")
    assert words(1.0, 1.0, 1.0, n_bootstrap=19).startswith("19 replicates cannot tell")
    assert words(1.0, 1.0, 1.0, n_bootstrap=20).startswith("3 of 3 arcs")
    assert sure_words(arcs[:0], shares.assign(edge=1.0)) == ""
    cut_short = shares.assign(edge=1.0)
    cut_short.attrs["ended_by"] = ("time_limit",)
    assert "the confidence of arcs is unknown" in sure_words(arcs, cut_short)


def test_replicates_have_copied_rows_once():
    """Ten columns of noise, each row twice: a half of all rows would have both of some."""
    rows = noise(30, 10).set_axis(list("abcdefghij"), axis=1).astype(str)
    twice = pd.concat([rows, rows], ignore_index=True)
    learner = bnmtl.SingleTaskLearner(**CLIMB)
    once = arc_confidence(rows, learner, 10, random_state=1)
    assert arc_confidence(twice, learner, 10, random_state=1).equals(once)
    bootstrap = arc_confidence(twice, learner, 10, random_state=1, subsample=None)
    assert bootstrap.equals(arc_confidence(rows, learner, 10, random_state=1, subsample=None))


def copied_noise():
    """Rows of columns that depend on nothing, each row twice, which have arcs all the same."""
    rows = noise(20, 12).set_axis(list("abcdefghijkl"), axis=1)
    return pd.concat([rows, rows])


@pytest.mark.drawn
@pytest.mark.parametrize(
    "options", [{}, {"threshold": 0.5, "required": "required.csv"}], ids=["learned", "consensus"]
)
def test_pictures_of_arcs_that_predict_nothing_say_so(tmp_path, monkeypatch, options):
    """Of noise no replicate has an arc, except one that must be there."""
    copied_noise().to_csv(tmp_path / "noise.csv", index=False)
    (tmp_path / "required.csv").write_text("from,to\na,b\n")
    monkeypatch.chdir(tmp_path)
    result = learn.run(
        Options(paths=("noise.csv",), restarts=0, bootstrap=5, folds=4, out="run", **options)
    )
    learner, confidence = result.learner, result.confidence
    assert result.record["verdict"][0].startswith("Nothing was found: on held-out rows")
    assert len(learner.arcs_) == len(pd.read_csv(tmp_path / "run" / "arcs.csv")) > 0
    note = "Nothing was found: these arcs predict no better than none."
    graphs, signs = learner.configuration_, learner.arcs_
    for name, figure in {
        "arcs.png": plotting.arcs(graphs, confidence, note),
        "dags.png": plotting.dags(graphs, confidence=confidence, signs=signs, note=note),
    }.items():
        assert note in texts(figure)
        assert (tmp_path / "run" / name).read_bytes() == plotting.png(figure)


def test_a_limit_that_keeps_all_families_out_is_reported(call, files):
    code, out, err = call("learn", "north.csv", "--max-cells", "2", *FAST, "--out", "run")
    assert code == 0 and "`--max-cells` excluded families of more than 2 cells" in err
    assert "Nothing was found" not in out
    assert "No arc was learned, and `--max-cells 2` kept out families" in out


@pytest.mark.drawn
def test_that_nothing_was_found_comes_before_the_consensus(monkeypatch, files):
    copied_noise().to_csv(files / "noise.csv", index=False)
    monkeypatch.chdir(files)
    options = {"restarts": 0, "bootstrap": 5, "folds": 4, "threshold": 0.5}
    consensus_graphs = "Shown are consensus graphs"
    for name, first, second in (
        ("noise", "Nothing was found", consensus_graphs),
        ("north", consensus_graphs, "Held-out rows were predicted by the graphs as they were"),
    ):
        result = learn.run(Options(paths=(f"{name}.csv",), **options, out=name))
        verdict = result.record["verdict"]
        assert verdict[0].startswith(first) and verdict[1].startswith(second)
        assert len(verdict) == 3
        # Neither picture has a note: of noise no arc is left.
        plain = plotting.arcs(result.learner.configuration_, result.confidence)
        assert (files / name / "arcs.png").read_bytes() == plotting.png(plain)


def test_options_that_contradict_each_other_or_are_out_of_range(call, files):
    err = mistake(call("learn", "north.csv", "--bootstrap", "0", "--threshold", "0.5"))
    assert "`--threshold` must go with replicates; `--bootstrap 0` makes none" in err
    for threshold in ("0", "1.1", "half"):
        err = mistake(call("learn", "north.csv", "--threshold", threshold))
        assert "`--threshold` must be a number above 0 and at most 1" in err
    assert "whole number of at least 0" in mistake(call("learn", "north.csv", "--bootstrap", "-1"))
    assert mistake(call("relate", "north.csv", "south.csv", "--bootstrap", "3"))


def test_learners_as_chosen():
    tasks = [frame(0), frame(1)]
    chosen = bnmtl.MultitaskLearnerCV(penalties=[0.5, 0.9], cv=2, task_groups=None, **CLIMB).fit(
        tasks
    )
    learner = as_chosen(chosen)
    assert type(learner) is bnmtl.MultitaskLearner and not hasattr(learner, "penalty_")
    assert learner.prior.penalty == chosen.penalty_
    single = bnmtl.SingleTaskLearner(**CLIMB, max_parents=2).fit(tasks)
    assert type(as_chosen(single)) is bnmtl.SingleTaskLearner
    assert as_chosen(single).get_params() == single.get_params()


@pytest.mark.parametrize("several", [True, False])
def test_a_learner_given_its_graphs_is_as_it_was(several):
    tasks = [frame(0), frame(1).assign(d=0)] if several else frame(0)
    with pytest.warns(UserWarning, match="only one state") if several else nullcontext():
        kind = bnmtl.MultitaskLearner if several else bnmtl.SingleTaskLearner
        learner = kind(**CLIMB).fit(tasks)
    same = with_graphs(learner, learner.configuration_)
    assert same.score_ == pytest.approx(learner.score_)
    assert same.task_scores_.equals(learner.task_scores_)
    pd.testing.assert_frame_equal(same.arcs_, learner.arcs_)
    assert same.networks_ == learner.networks_
    empty = with_graphs(learner, {})
    assert empty.arcs_.empty and empty.score_ < learner.score_
    assert not learner.arcs_.empty


@pytest.mark.parametrize("table_sharing", [None, "auto"])
def test_one_structure_pays_its_prior_once(table_sharing):
    tasks = [frame(seed) for seed in range(3)]
    settings = {**CLIMB, "score": None, "parameter_sample_size": "auto"}
    learner = bnmtl.IdenticalLearner(**settings, table_sharing=table_sharing).fit(tasks)
    assert learner.graph_.edges
    same = with_graphs(learner, learner.configuration_)
    assert same.score_ == pytest.approx(learner.score_)
    assert same.task_scores_.equals(learner.task_scores_)
    empty = with_graphs(learner, {})
    assert not empty.graph_.edges and -np.inf < empty.score_ < learner.score_
    # One structure that the first task has not.
    others = dict(list(learner.configuration_.items())[1:])
    assert with_graphs(learner, others).score_ == -np.inf


@pytest.mark.filterwarnings("ignore:.max_cells. excluded families")
def test_consensus_makes_no_family_that_the_learner_would_not():
    learner = bnmtl.SingleTaskLearner(**CLIMB, max_parents=2).fit(frame(0))
    rows = [("task1", parent, "d", 1.0, 1.0) for parent in "abc"]
    sure = pd.DataFrame(rows, columns=["task", "parent", "child", "arc", "edge"])
    graphs = consensus(sure, 0.5, may_have=family_limits(learner))
    assert set(graphs["task1"].edges) == {("a", "d"), ("b", "d")}
    small = bnmtl.SingleTaskLearner(**CLIMB, limits=Limits(max_cells=4)).fit(frame(0))
    graphs = consensus(sure, 0.5, may_have=family_limits(small))
    assert set(graphs["task1"].edges) == {("a", "d")}


def test_consensus_has_all_required_arcs():
    """A table of all three parents is larger than the limit, and was asked for."""
    required = [("a", "d"), ("b", "d"), ("c", "d")]
    learner = bnmtl.SingleTaskLearner(**CLIMB, required=required, limits=Limits(max_cells=4)).fit(
        frame(0)
    )
    rows = [("task1", "a", "b", 1.0, 1.0), *(("task1", *arc, 1.0, 1.0) for arc in required)]
    sure = pd.DataFrame(rows, columns=["task", "parent", "child", "arc", "edge"])
    graphs = consensus(sure, 0.5, may_have=family_limits(learner))
    assert set(graphs["task1"].edges) == {("a", "b"), *required}
    more = bnmtl.SingleTaskLearner(**CLIMB, required=required[:2], limits=Limits(max_cells=4)).fit(
        frame(0)
    )
    graphs = consensus(sure, 0.5, may_have=family_limits(more))
    assert set(graphs["task1"].edges) == {("a", "b"), *required[:2]}


def test_light_replicates_keep_to_a_time_limit():
    learner = bnmtl.SingleTaskLearner(random_state=0)
    with pytest.warns(UserWarning, match="Replicates were ended by `time_limit`") as caught:
        arc_confidence(frame(0), learner, 3, light=True, time_limit=0)
    assert len(caught) == 1
    with pytest.raises(ValueError, match="`time_limit` must be None or a number of at least 0"):
        arc_confidence(frame(0), learner, 3, time_limit=-1)


def test_replicates_of_noise_agree_on_nothing():
    rng = np.random.default_rng(0)
    tasks = [pd.DataFrame(rng.integers(0, 3, (60, 15))).rename(columns=str) for _ in range(2)]
    learner = bnmtl.MultitaskLearner(random_state=0, table_sharing=None, task_groups=None)
    sure = consensus(arc_confidence(tasks, learner, 20, light=True), 0.5, by="edge")
    assert sum(graph.number_of_edges() for graph in sure.values()) <= 1
