"""Tests of the study of birds: its problems, on a prepared file written here, and a trial."""

import gzip
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bnmtl import MultitaskLearner, SingleTaskLearner, problems
from bnmtl.data.feederwatch import ATTRIBUTES, REGIONS
from bnmtl.networks import fit_networks
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import study  # noqa: E402
from benchmarks.birds import bird, bird_tables  # noqa: E402
from benchmarks.birds.bird_tables import SAME_REGIONS  # noqa: E402
from benchmarks.birds.bird_tasks import (  # noqa: E402
    FILE,
    PROBLEMS,
    bird_tasks,
    data_file,
    fingerprint,
    train_and_test,
)
from benchmarks.birds.bird_tasks import main as bird_tasks_main  # noqa: E402
from benchmarks.thesis import alone  # noqa: E402
from benchmarks.thesis.penalty_curves import EXPONENTS  # noqa: E402
from benchmarks.variants import THESIS  # noqa: E402

EIGHT = set(REGIONS) - {"canada_prairie"}
FIVE = {"northeast", "southeast", "midwest", "canada_east", "pacific_nw"}


def prepared(n=60):
    """Rows of all regions, n each; n_obs is 7, 8, 10, 14 in turn."""
    rows = []
    for region in REGIONS:
        for k in range(n):
            row = {"region": region, "loc_id": f"{region[::-1]}{k:03}", "state": "US-NY"}
            row |= {"latitude": 40.5, "longitude": -70.5, "n_obs": (7, 8, 10, 14)[k % 4]}
            row |= {"snow_seen": k % 2, "median_effort": (0.001, 1.001, 4.001)[k % 3]}
            row |= {name: list(states)[k % len(states)] for name, states in ATTRIBUTES.items()}
            rows.append({**row, "fed_yr_round": k % 2, "daejun": k % 2, "norcar": int(k < 12)})
    return pd.DataFrame(rows).astype(object)


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, prepared())


def written(folder, table):
    (folder / "multitask").mkdir(exist_ok=True)
    path = folder / "multitask" / "pfw2021_sites_multitask.csv.gz"
    table.to_csv(path, index=False, compression={"method": "gzip", "compresslevel": 1})
    return folder


def test_sites(folder):
    tasks = bird_tasks("BIRD-SITES", folder)
    assert set(tasks) == EIGHT and {len(frame) for frame in tasks.values()} == {60}
    for frame in tasks.values():
        assert set(frame) == {*ATTRIBUTES, "snow_seen", "effort"}
        assert frame["effort"].tolist() == ["<0.6", "0.6-3", ">3"] * 20
    assert encode(tasks).states["cacti_atleast"] == ("none", "some")


def test_species(folder):
    tasks = bird_tasks("BIRD-SPECIES", folder)
    assert set(tasks) == FIVE
    for frame in tasks.values():
        # Three of four rows have 8 records or more; 9 of those have norcar, too few.
        assert frame["records"].tolist() == ["8-9", "10-13", "14+"] * 15
        assert "daejun" in frame and "norcar" not in frame
        assert not set(frame) & {"region", "state", "loc_id", "n_obs", "fed_yr_round", "latitude"}


def test_rows_and_absent_variables_are_those_of_the_region(tmp_path):
    table = prepared()
    plains = table["region"] == "plains"
    table.loc[plains, "dogs"] = [*[1] * 9, *[0] * 51]
    table.loc[plains, "cats"] = [*[1] * 10, *[0] * 50]
    table.loc[table.index[plains][-3:], ["squirrels", "housing_density", "median_effort"]] = ""
    with pytest.warns(UserWarning, match="dropped: 3 of 60 in region `plains`."):
        tasks = bird_tasks("BIRD-SITES", written(tmp_path, table))
    assert len(tasks["plains"]) == 57 and len(tasks["midwest"]) == 60
    assert "dogs" not in tasks["plains"] and "cats" in tasks["plains"]
    assert "dogs" in tasks["midwest"]


@pytest.mark.parametrize("name", PROBLEMS)
def test_order_in_the_file_does_not_matter(folder, name):
    plain = bird_tasks(name, folder)
    again = bird_tasks(name, written(folder, prepared().sample(frac=1, random_state=0)))
    assert list(plain) == list(again)
    for region in plain:
        pd.testing.assert_frame_equal(plain[region], again[region])


def test_where_the_file_is(folder, monkeypatch, tmp_path):
    monkeypatch.delenv("BNMTL_DATA", raising=False)
    both = "^`--data` or the environment variable BNMTL_DATA must name the folder with multitask/"
    with pytest.raises(ValueError, match=f"{both}.*neither is given"):
        data_file()
    with pytest.raises(ValueError, match=f"{both}.*no multitask.* in `nowhere`"):
        bird_tasks("BIRD-SITES", "nowhere")
    monkeypatch.setenv("BNMTL_DATA", str(folder))
    assert len(bird_tasks("BIRD-SITES")) == 8
    with pytest.raises(ValueError, match="nowhere"):
        data_file("nowhere")
    with pytest.raises(ValueError, match="one of BIRD-SITES, BIRD-SPECIES, .*, got 'BIRD'"):
        bird_tasks("BIRD")
    few = written(tmp_path, prepared()[:100])
    with pytest.raises(ValueError, match=r"csv.gz` must have complete rows of `"):
        bird_tasks("BIRD-SITES", few)


def test_the_scripts_show_sizes_or_one_line(tmp_path, monkeypatch, capsys):
    def run(main, *arguments):
        monkeypatch.setattr(sys, "argv", ["script", "--data", *arguments])
        main()

    run(bird_tasks_main, str(written(tmp_path, prepared(1300))))
    assert "  northeast         1300    36" in capsys.readouterr().out
    # The study sets it for its worker processes.
    monkeypatch.setenv("BNMTL_DATA", str(tmp_path))
    for main in (bird_tasks_main, partial(study.main, "benchmarks.birds.bird")):
        with pytest.raises(SystemExit) as refused:
            run(main, "nowhere")
        error = capsys.readouterr().err
        assert refused.value.code == 2 and len(error.splitlines()) == 1
        assert f"there is no {FILE} in `nowhere`" in error


def frames(**n_rows):
    """Regions with rows that all differ, in two columns."""
    tasks = {}
    for region, n in n_rows.items():
        digits = np.divmod(np.arange(n), 50)
        tasks[region] = pd.DataFrame(
            {c: pd.Categorical.from_codes(d, range(50)) for c, d in zip("ab", digits, strict=True)}
        )
    return tasks


def content(frame):
    return [tuple(row) for row in frame[sorted(frame)].astype(int).to_numpy()]


def test_training_and_test_rows_are_all_rows():
    tasks = frames(plains=400, midwest=150, mountain=149)
    train, test = train_and_test(tasks, 100, trial=3)
    assert list(train) == list(test) == ["midwest", "plains"]
    for region in train:
        assert len(train[region]) == 100
        assert list(train[region].dtypes) == list(tasks[region].dtypes)
        rows = content(train[region]) + content(test[region])
        assert sorted(rows) == content(tasks[region])
    larger = train_and_test(tasks, 350, trial=3)[0]
    assert list(larger) == ["plains"]
    assert set(content(train["plains"])) < set(content(larger["plains"]))


def test_what_the_draw_depends_on():
    plains = content(train_and_test(frames(plains=400), 100, 0)[0]["plains"])
    tasks = frames(california=400, plains=400, southeast=300)
    shuffled = {
        region: frame.sample(frac=1, random_state=1)[["b", "a"]]
        for region, frame in reversed(tasks.items())
    }
    train, _ = train_and_test(shuffled, 100, 0)
    assert content(train["plains"]) == plains
    assert content(train["california"]) != plains
    assert content(train_and_test(tasks, 100, 1)[0]["plains"]) != plains
    # A draw, not the first rows in order.
    assert sorted(plains) != content(tasks["plains"])[:100]


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="`n_rows` must be 100 or more, got 99"):
        train_and_test(frames(plains=400), 99, 0)
    with pytest.raises(ValueError, match="leave 50 rows of some region .*got 351; .* has 400"):
        train_and_test(frames(plains=400), 351, 0)


def test_sizes_leave_the_regions_meant():
    """As many regions as the study plans at every size, by the rows that they really have."""
    rows = {
        "BIRD-SITES": dict(northeast=2886, southeast=1975, midwest=1866, canada_east=1342)
        | dict(pacific_nw=834, mountain=673, plains=576, california=506),
        "BIRD-SPECIES": dict(northeast=1260, southeast=950, midwest=731, canada_east=400)
        | dict(pacific_nw=269),
    }
    meant = {"BIRD-SITES": [8, 8, 8, 4, 4], "BIRD-SPECIES": [5, 5, 4, 3]}
    for small, large in SAME_REGIONS.items():
        # Those that the larger problem is left with at its largest sizes.
        left = sorted(rows[large], key=rows[large].get)[-meant[large][-1] :]
        assert set(PROBLEMS[small].regions) == set(left)
        rows[small] = {region: rows[large][region] for region in left}
        meant[small] = [len(left)] * len(PROBLEMS[small].sizes)
        n_sizes = meant[large].count(len(left))
        assert PROBLEMS[small].sizes == PROBLEMS[large].sizes[:-n_sizes]
    for name, problem in PROBLEMS.items():
        assert set(rows[name]) == set(problem.regions)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tasks = {
                region: pd.DataFrame({"a": pd.Categorical(["x"] * n)})
                for region, n in rows[name].items()
            }
            sizes = [len(train_and_test(tasks, n, 0)[0]) for n in problem.sizes]
        assert sizes == meant[name]


def test_a_trial_is_measured_as_the_learners_would(monkeypatch):
    networks = problems.perturb(problems.random_network(5, random_state=0), 3, 1, random_state=0)
    tasks = problems.sample(networks, 160, random_state=0)
    monkeypatch.setattr(bird, "bird_tasks", lambda name: tasks)
    monkeypatch.setattr(bird, "fingerprint", lambda: "these")
    wanted = ["single", "multitask", "Paired/Double", *bird_tables.GROUPED]
    wanted += [*bird_tables.BY_DEFAULT, *bird_tables.OTHER_ORDERS]
    lines = bird.measure("BIRD-SITES", 100, 0, wanted)
    assert list(lines) == wanted and {line["data"] for line in lines.values()} == {"these"}
    train, test = train_and_test(tasks, 100, 0)
    learner = SingleTaskLearner(**THESIS, random_state=0).fit(train)
    for name, network in learner.networks_.items():
        mean = network.log_likelihood(test[name]).mean()
        assert lines["single"]["regions"][name] == pytest.approx(mean, abs=1e-6)
    assert lines["single"]["nats"] == pytest.approx(
        np.mean(list(lines["single"]["regions"].values())), abs=1e-6
    )
    learner = MultitaskLearner(random_state=0).fit(train)
    for name, network in learner.networks_.items():
        mean = network.log_likelihood(test[name]).mean()
        assert lines[bird_tables.TOGETHER]["regions"][name] == pytest.approx(mean, abs=1e-6)
    for name, network in fit_networks(alone.empty(encode(train)), train).items():
        mean = network.log_likelihood(test[name]).mean()
        assert lines[bird_tables.EMPTY_SHARED]["regions"][name] == pytest.approx(mean, abs=1e-6)
    # Nothing shared is single-task learning; the order of the penalties is that of the study.
    curve = lines["Paired/Double"]["curve"]
    assert len(curve) == len(EXPONENTS) and curve[0] == pytest.approx(lines["single"]["nats"])
    selection, optimal = lines["selection"], lines["optimal number"]
    for name, values in selection["curves"].items():
        assert len(values) == 3
        assert selection["regions"][name] in values
        assert optimal["regions"][name] == max(values)
        assert all(np.array(selection["optimal_curves"][name]) >= np.array(values))
    assert lines["optimal clusters"]["nats"] >= lines["clustering"]["nats"]
    assert len(lines["all tasks"]["distances"]) == 3


def test_lines_of_other_data_are_not_added_to(monkeypatch, tmp_path):
    monkeypatch.delenv("BNMTL_DATA", raising=False)
    bird.check_needs([], [{"data": "those"}])
    with pytest.raises(ValueError, match="neither is given"):
        bird.check_needs([{}], [])
    hashes = []
    for row in "12":
        file = tmp_path / row / FILE
        file.parent.mkdir(parents=True)
        file.write_bytes(gzip.compress(f"a\n{row}\n".encode()))
        monkeypatch.setenv("BNMTL_DATA", str(tmp_path / row))
        hashes.append(fingerprint())
    assert hashes[0] != hashes[1]
    bird.check_needs([{}], [{"data": hashes[1]}])
    with pytest.raises(ValueError, match="were measured on other data than .* with `--out`"):
        bird.check_needs([{}], [{"data": hashes[1]}, {"data": hashes[0]}])
