"""`bnmtl predict`: its probabilities are those of the network, and rows come back as they were."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import frame, listing, mistake, record

from bnmtl import BayesNet, structures
from bnmtl.cli import learn
from bnmtl.cli.options import Options
from bnmtl.tasks import Edges, read

pytestmark = pytest.mark.beside_kernels

PREDICT = ("predict", "asia.bif", "rows.csv", "--target", "bronc", "--out", "out.csv")
NEW = ["predicted_bronc", "p_bronc_yes", "p_bronc_no"]


@pytest.fixture
def asia(tmp_path):
    """A network and rows with gaps, as files; returns the network and the rows as they are read."""
    shutil.copy(structures.path("asia"), tmp_path / "asia.bif")
    network = structures.load("asia")
    rows = network.sample(40, random_state=0)
    rng = np.random.default_rng(0)
    for column in rows:
        rows.loc[rng.random(40) < 0.2, column] = None
    rows.insert(2, "visits", pd.array([None, *range(39)], dtype="Int64"))
    rows.insert(0, "ward", [f"{i:03}" for i in range(40)])
    rows["weight"] = np.linspace(-1, 1, 40) ** 3
    rows.to_csv(tmp_path / "rows.csv", index=False, lineterminator="\n")
    return network, read(tmp_path / "rows.csv")["rows"]


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Folder of a run that discretized `h` and `k`, which has many whole numbers; and its rows."""
    folder = tmp_path_factory.mktemp("learned")
    rng = np.random.default_rng(1)
    rows = frame(0, 300).drop(columns="c")
    rows = rows.assign(h=rows["a"] + rng.normal(size=300), k=400 * rows["b"])
    rows["k"] += rng.integers(0, 600, 300)
    rows.to_csv(folder / "raw.csv", index=False)
    quick = {"restarts": 0, "discretize": 3, "folds": 0, "bootstrap": 0}
    learn.run(Options(paths=(str(folder / "raw.csv"),), out=str(folder / "run"), **quick))
    return folder / "run", rows


def predicted(path, names=NEW):
    """The columns that were added, those of probabilities by state."""
    table = pd.read_csv(path, dtype={names[0]: str})
    assert list(table)[-len(names) :] == names
    return table[names[0]], table[names[1:]]


def assert_predictions(path, expected, target):
    states = [str(state) for state in expected.columns]
    names = [f"predicted_{target}", *(f"p_{target}_{state}" for state in states)]
    best, p = predicted(path, names)
    assert np.allclose(p, expected, rtol=1e-12)
    assert best.tolist() == [states[i] for i in expected.to_numpy().argmax(axis=1)]


def test_probabilities_are_those_of_the_network(call, asia, tmp_path):
    network, rows = asia
    code, _, err = call(*PREDICT)
    assert (code, err) == (0, "")
    assert_predictions(tmp_path / "out.csv", network.predict_proba(rows, "bronc"), "bronc")
    assert listing(tmp_path) == ["asia.bif", "out.csv", "rows.csv"]


def test_rows_come_back_as_they_were(call, asia, tmp_path):
    assert call(*PREDICT)[0] == 0
    before = (tmp_path / "rows.csv").read_text().splitlines()
    after = (tmp_path / "out.csv").read_text().splitlines()
    assert after[0] == ",".join([before[0], *NEW])
    assert [line.rsplit(",", 3)[0] for line in after] == before
    assert ",3," in before[5] and before[1].startswith("000,")


def test_the_column_of_the_target_is_not_evidence(call, asia, tmp_path):
    assert call(*PREDICT)[0] == 0
    _, rows = asia
    for i, other in enumerate((rows.assign(bronc="perhaps"), rows.drop(columns="bronc"))):
        other.to_csv(tmp_path / "other.csv", index=False)
        out = f"out{i}.csv"
        code, text, err = call(*PREDICT[:2], "other.csv", *PREDICT[3:-1], out)
        assert code == 0 and "known" not in text
        assert err.count("holds `perhaps`, which NETWORK does not know") == 1 - i
        pd.testing.assert_frame_equal(
            predicted(tmp_path / out)[1], predicted(tmp_path / "out.csv")[1]
        )


def test_columns_that_lack_are_missing(call, asia, tmp_path):
    network, rows = asia
    rest = rows.drop(columns=["smoke", "dysp", "xray"])
    rest.to_csv(tmp_path / "rows.csv", index=False)
    code, _, err = call(*PREDICT)
    assert code == 0
    # xray is not in the blanket.
    message = "ROWS has no columns `dysp`, `smoke`; treated as missing in all rows."
    assert err == f"warning: {message}\n"
    assert_predictions(tmp_path / "out.csv", network.predict_proba(rest, "bronc"), "bronc")


def test_the_summary(call, asia, tmp_path):
    network, rows = asia
    code, out, _ = call(*PREDICT)
    assert code == 0
    p = network.predict_proba(rows, "bronc")
    known = rows["bronc"].dropna()
    best = p.idxmax(axis=1)
    right = (best[known.index] == known).mean()
    surprise = -np.mean([np.log(p.loc[i, state]) for i, state in known.items()])
    table, rest = out.split("\n\n")
    assert rest == (
        f"Of {len(known)} rows whose bronc is known, {right:.1%} are predicted right; "
        f"cross-entropy {surprise:.3f} nats.\n40 rows written to out.csv.\n"
    )
    assert [line.split() for line in table.splitlines()[1:]] == [
        [state, str((best == state).sum()), f"{p[state].mean():.3f}", str((known == state).sum())]
        for state in ("yes", "no")
    ]


@pytest.mark.parametrize("gaps", [False, True])
def test_numeric_columns_are_discretized_as_for_learning(call, learned, tmp_path, gaps):
    folder, rows = learned
    rows = rows[1:]  # a copy of the training rows causes a warning
    if gaps:
        rows = rows.astype({"a": "Int64", "k": "Int64"})
        rows.loc[::3, "a"] = rows.loc[1::4, "k"] = pd.NA
        rows.loc[::5, "h"] = np.nan
    rows.to_csv(tmp_path / "raw.csv", index=False)
    network = BayesNet.from_bif(folder / "raw.bif")
    cuts = {"h": network.states["h"], "k": network.states["k"]}
    assert all(states[0].startswith("below_") for states in cuts.values())
    for target in ("a", "h"):
        command = ("predict", folder / "raw.bif", "raw.csv", "--target", target)
        code, out, err = call(*command, "--out", f"{target}.csv")
        assert (code, err) == (0, "")
        words = "Numeric columns were discretized at the cut points in"
        assert f"\n{words} {folder / 'run.json'}.\n" in out
        known = rows[target].notna().sum()
        assert f"Of {known} rows whose {target} is known" in out
        cut = Edges(record(folder)["cut_points"]).apply(read(tmp_path / "raw.csv")["raw"])
        expected = network.predict_proba(cut, target)
        assert_predictions(tmp_path / f"{target}.csv", expected, target)
        table = pd.read_csv(tmp_path / f"{target}.csv")
        assert ("observed_h" in table) == (target == "h") and "observed_a" not in table
    # The states of a discretized target, by which its probabilities are calibrated.
    assert table["observed_h"].dropna().tolist() == cut["h"].dropna().astype(str).tolist()
    state = network.states["h"][0]
    options = ("--label", "observed_h", "--score", f"p_h_{state}", "--positive", state)
    assert call("calibrate", "h.csv", *options)[0] == 0
    table.to_csv(tmp_path / "again.csv", index=False)
    err = mistake(call("predict", folder / "raw.bif", "again.csv", *command[3:], "--out", "x.csv"))
    assert (
        "ROWS must not have columns that will be written; it has `observed_h`, `predicted_h`" in err
    )
    before = (tmp_path / "raw.csv").read_text().splitlines()
    after = (tmp_path / "a.csv").read_text().splitlines()
    assert [line.rsplit(",", 3)[0] for line in after] == before


def test_numbers_without_cut_points(call, learned, tmp_path):
    folder, rows = learned
    shutil.copy(folder / "raw.bif", tmp_path / "lone.bif")
    (tmp_path / "run.json").write_text("{}")  # another program's
    rows.to_csv(tmp_path / "raw.csv", index=False)
    rows.drop(columns="h").to_csv(tmp_path / "whole.csv", index=False)
    before = listing(tmp_path)
    options = ("--target", "b", "--out", "out.csv")
    remedy = "or give NETWORK in the folder of its run, whose run.json has the cut points.\n"
    err = mistake(call("predict", "lone.bif", "raw.csv", "--target", "a", "--out", "out.csv"))
    assert "ROWS: column `h` is continuous (300 distinct values); discretize it " in err
    assert err.endswith(remedy)
    err = mistake(call("predict", "lone.bif", "whole.csv", *options))
    assert "ROWS: column `k` must hold states that the network knows (`below_" in err
    assert err.endswith(remedy)
    assert listing(tmp_path) == before
    code, _, err = call("predict", "lone.bif", "whole.csv", *options, "--unseen", "ignore")
    assert code == 0
    strange, lost = err.splitlines()
    assert strange == (
        "warning: Numeric columns are not discretized because the run of NETWORK cannot be read; "
        "file `run.json` must be written by bnmtl; it is of another program."
    )
    assert lost.startswith(
        "warning: ROWS has only values of column `k` that NETWORK does not know, treated as missing"
    )
    (tmp_path / "run.json").write_text("{")
    err = call("predict", "lone.bif", "whole.csv", *options, "--unseen", "ignore", "--force")[2]
    assert "run.json` must be a JSON file; it is damaged (" in err.splitlines()[0]


def test_a_network_that_was_changed_is_one_of_its_own(call, learned, tmp_path):
    """Its run may have discretized other states."""
    folder, rows = learned
    shutil.copytree(folder, tmp_path / "run")
    with (tmp_path / "run/raw.bif").open("a") as file:
        file.write("\n")
    rows.drop(columns=["h", "k"]).to_csv(tmp_path / "whole.csv", index=False)
    code, _, err = call("predict", "run/raw.bif", "whole.csv", "--target", "b", "--out", "out.csv")
    assert code == 0 and err.startswith(
        "warning: Numeric columns are not discretized because NETWORK was changed after its run, "
        "that of `run`.\n"
    )


def test_values_that_the_network_does_not_know(call, asia, tmp_path):
    network, rows = asia
    rows.loc[3, "smoke"] = "sometimes"
    rows.loc[4, "xray"] = "blurred"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    err = mistake(call(*PREDICT))
    assert err.endswith(
        "column `smoke` must hold states that the network knows (`yes`, `no`), got `sometimes`; "
        "correct them, or treat them as missing with `--unseen ignore`.\n"
    )
    code, _, err = call(*PREDICT, "--unseen", "ignore")
    assert code == 0
    # Only of columns that the prediction goes by.
    message = (
        "warning: ROWS has values that NETWORK does not know, treated as missing; 1 in `smoke`.\n"
    )
    assert err == message
    rows = rows.replace({"sometimes": None, "blurred": None})
    assert_predictions(tmp_path / "out.csv", network.predict_proba(rows, "bronc"), "bronc")


def test_labels_that_the_network_does_not_know_are_reported(call, asia, tmp_path):
    rows = asia[1]
    known = rows["bronc"].notna().sum()
    rows.loc[:1, "bronc"] = ["YES", "NO"]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    code, out, err = call(*PREDICT)
    assert code == 0 and f"Of {known - 2} rows whose bronc is known" in out
    assert err == (
        "warning: ROWS: column `bronc` holds `NO`, `YES`, which NETWORK does not know; accuracy "
        "and cross-entropy are computed without 2 rows.\n"
    )


def test_compressed_output(call, asia, tmp_path):
    assert call(*PREDICT)[0] == 0
    assert call(*PREDICT[:-1], "out.csv.gz")[0] == 0
    plain = (tmp_path / "out.csv").read_bytes()
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == plain


def test_parquet_gives_the_same(call, learned, tmp_path):
    pytest.importorskip("pyarrow")
    folder, rows = learned
    rows = rows.astype({"k": float}).assign(huge=1e300, when=pd.Timestamp("2020-01-02"))
    rows.loc[7, "k"] = np.nan
    rows = rows[rows.index != 5]  # an index that is not kept in CSV
    rows.to_parquet(tmp_path / "raw.parquet")
    rows.astype({"k": "Int64"}).to_csv(tmp_path / "raw.csv", index=False)
    for kind in ("parquet", "csv"):
        command = ("predict", folder / "raw.bif", f"raw.{kind}", "--target", "b")
        assert call(*command, "--out", f"{kind}.csv")[0] == 0
    assert (tmp_path / "parquet.csv").read_text() == (tmp_path / "csv.csv").read_text()


def test_an_existing_file_is_replaced_by_force_alone(call, asia, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    err = mistake(call(*PREDICT))
    assert err.endswith(
        "must be a new file, got `out.csv`, which exists; remove it first, or set `--force`.\n"
    )
    for wrong in (("--unseen", "x"), ("--target", "x")):
        mistake(call(*PREDICT, "--force", *wrong))
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert call(*PREDICT, "--force")[0] == 0
    assert (tmp_path / "out.csv").read_text().startswith("ward,")
    assert listing(tmp_path) == ["asia.bif", "out.csv", "rows.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "NETWORK must be given: see `bnmtl predict --help`.\n"),
        (["asia.bif"], "ROWS must be given: see"),
        (["asia.bif", "rows.csv", "--out", "out.csv"], "`--target V` must be given: see"),
        (["asia.bif", "rows.csv", "--target", "bronc"], "`--out F` must be given: see"),
        ([*PREDICT[1:], "rows.csv"], "unexpected extra argument(s) (rows.csv)"),
        ([*PREDICT[1:], "--target", "x"], "`--target` must be one of variables `asia`,"),
        ([*PREDICT[1:], "--target", ""], "`--target` must be a name, got nothing"),
        (
            [*PREDICT[1:], "--traget", "x"],
            "not an option of `bnmtl predict`: take `--target`, or see",
        ),
        ([*PREDICT[1:], "--unseen", "drop"], "`--unseen` must be error or ignore, got drop"),
        ([*PREDICT[1:], "--out", ""], "`--out` must name a file, got nothing.\n"),
        ([*PREDICT[1:], "--out", "x.txt"], "must end in .csv or .csv.gz, got 'x.txt'.\n"),
        ([*PREDICT[1:], "--out", "folder.csv"], "`folder.csv`; choose another name.\n"),
        *(
            ([*PREDICT[1:], "--out", out, "--force"], "must be another file than the input, got")
            for out in ("rows.csv", "./rows.csv", "link.csv")
        ),
        (
            [*PREDICT[1:], "--out", "nowhere/out.csv"],
            "`--out` must be a file that can be written, got `nowhere/out.csv` (No such file or "
            "directory); choose another place.\n",
        ),
        ([*PREDICT[1:], "--out", "rows.csv/x.csv"], "`rows.csv/x.csv` (Not a directory)"),
        ([*PREDICT[1:], "--out", "/proc/x.csv"], "`/proc/x.csv` ("),
        ([*PREDICT[1:], "--out", f"{'x' * 300}.csv"], "x.csv` (File name too long)"),
    ],
)
def test_a_mistake_in_the_options_is_one_line(call, asia, tmp_path, arguments, message):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to("rows.csv")
    before = listing(tmp_path)
    assert message in mistake(call("predict", *arguments))
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("network", "rows", "message"),
    [
        ("rows.csv", "asia.bif", "NETWORK must end in .bif or .bif.gz, got `rows.csv`"),
        ("", "rows.csv", "NETWORK must name a file, got nothing.\n"),
        ("asia.bif", " ", "ROWS must name a file, got nothing.\n"),
        ("nowhere.bif", "rows.csv", "of `bnmtl learn`; `nowhere.bif` does not exist: check the"),
        ("torn.bif", "rows.csv", "`torn.bif`, line 3"),
        ("lone.bif", "rows.csv", "NETWORK must have variables besides the target; it has none."),
        ("asia.bif", "nowhere.csv", "File `nowhere.csv` does not exist; check the path.\n"),
        ("asia.bif", ".", "`.` is a directory"),
        ("asia.bif", "asia.bif", "File `asia.bif` must have one of the extensions .csv,"),
        ("asia.bif", "empty.csv", "`empty.csv` must have a header line and rows; it is empty"),
        ("asia.bif", "header.csv", "`header.csv` must have rows below its header; it has none"),
        (
            "asia.bif",
            "other.csv",
            "must have at least one of the columns `asia`, `dysp`, `either`,",
        ),
        (
            "asia.bif",
            "done.csv",
            "ROWS must not have columns that will be written; it has `p_bronc_n",
        ),
        (
            "asia.bif",
            "endless.csv",
            "`smoke` holds infinite values; replace them, or leave the co",
        ),
    ],
)
def test_a_mistake_in_the_files_is_one_line(call, asia, tmp_path, network, rows, message):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("smoke,dysp\n")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "endless.csv").write_text("smoke,dysp\n1,yes\ninf,no\n")
    (tmp_path / "done.csv").write_text("smoke,p_bronc_no\nyes,0.5\n")
    (tmp_path / "torn.bif").write_text("network x {\n}\nvariable {\n")
    lone = asia[0].graph.subgraph(["bronc"]).copy()
    BayesNet(lone, {"bronc": ("a", "b")}, {"bronc": [0.5, 0.5]}).to_bif(tmp_path / "lone.bif")
    before = listing(tmp_path)
    assert message in mistake(call("predict", network, rows, *PREDICT[3:]))
    assert listing(tmp_path) == before


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that cannot be read")
def test_a_network_that_cannot_be_read_is_one_line(call, asia, tmp_path):
    """Nobody may read the beginning of this file, not even the administrator."""
    (tmp_path / "odd.bif").symlink_to("/proc/self/mem")
    reason = "bnmtl: `odd.bif`: Input/output error.\n"
    assert mistake(call("predict", "odd.bif", *PREDICT[2:])) == reason


def test_a_row_that_is_impossible_is_named(call, asia, tmp_path):
    (tmp_path / "rows.csv").write_text("asia,either,lung\nyes,yes,yes\nyes,no,yes\n")
    assert mistake(call(*PREDICT, "--target", "tub")) == (
        "bnmtl: ROWS must hold evidence that is possible under the network; it is not in 1 of the "
        "rows, the first of them 2: correct or remove such rows.\n"
    )


def test_warnings_of_the_network_are_reported_in_one_line(call, asia, tmp_path):
    text = (tmp_path / "asia.bif").read_text()
    (tmp_path / "asia.bif").write_text(text.replace("0.01, 0.99;", "0.01, 0.9901;", 1))
    code, _, err = call(*PREDICT)
    assert code == 0
    assert (
        err.startswith("warning: File `asia.bif` has 1 row of probabilities")
        and err.count("\n") == 1
    )


@pytest.mark.parametrize("moment", ["bnmtl.cli.predict.read_networks", "os.replace"])
def test_an_interrupt_leaves_nothing_half_written(call, asia, tmp_path, monkeypatch, moment):
    def interrupt(*_):
        raise KeyboardInterrupt

    (tmp_path / "out.csv").write_text("mine")
    monkeypatch.setattr(moment, interrupt)
    code, out, err = call(*PREDICT, "--force")
    assert (code, out) == (130, "")
    assert err == "bnmtl: interrupted; no half-written file is left.\n"
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert listing(tmp_path) == ["asia.bif", "out.csv", "rows.csv"]


def test_a_full_disk_is_reported_with_the_given_file(call, asia, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert mistake(call(*PREDICT)) == "bnmtl: `out.csv`: No space left on device.\n"
    assert listing(tmp_path) == ["asia.bif", "rows.csv"]


def test_an_internal_error_is_not_reported_as_a_mistake(call, asia, tmp_path, monkeypatch):
    monkeypatch.setattr("bnmtl.cli.predict.without_points", lambda _: np.zeros(3) + np.zeros(4))
    with pytest.raises(ValueError, match="broadcast"):
        call(*PREDICT)
    assert listing(tmp_path) == ["asia.bif", "rows.csv"]
