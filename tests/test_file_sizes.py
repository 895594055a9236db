"""Files of networks that nobody could read are refused before anything is learned or written."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from command import mistake

import bnmtl
from bnmtl.io import run
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels


def table(n_columns, n_states, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, n_states, (n_rows, n_columns))).add_prefix("v")
    return frame.astype(str).apply(lambda column: "s" + column)


@pytest.mark.parametrize("n_states, n_parents", [(2, 1), (2, 9), (3, 6), (4, 5), (5, 2)])
@pytest.mark.parametrize("n_rows", [40, 4000])
def test_sizes_are_about_right(tmp_path, n_states, n_parents, n_rows):
    frame = table(n_parents + 1, n_states, n_rows)
    child = f"v{n_parents}"
    graph = nx.DiGraph([(f"v{i}", child) for i in range(n_parents)])
    bnmtl.BayesNet.fit(graph, frame).to_bif(tmp_path / "one.bif")
    size = (tmp_path / "one.bif").stat().st_size
    expected = sum(run.file_bytes(graph, encode({"one": frame})["one"]).values())
    overhead = 60 * (n_parents + 1)
    assert size / 1.6 < expected + overhead < size * 1.6


@pytest.fixture
def files(tmp_path):
    """A table of 92 rows and arcs that ask for 4 ** 12 cells."""
    table(13, 4, 92).to_csv(tmp_path / "north.csv", index=False)
    arcs = [f"v{i},v12" for i in range(11)]
    (tmp_path / "arcs.csv").write_text("\n".join(["from,to", *arcs]))
    return tmp_path


def test_required_arcs_whose_tables_would_fill_a_disk(call, files):
    err = mistake(call("learn", "north.csv", "--required", "arcs.csv", "--out", "run"))
    assert "must stay below 100 MB" in err and "`v12` given 11 parents in task `north`" in err
    assert "16,777,216 cells for 92 rows: require fewer arcs into it." in err
    assert not (files / "run").exists()


def test_sizes_beyond_floats_are_shown():
    states = [f"s{at:02d}" for at in range(100)]
    frame = pd.DataFrame({f"v{i}": pd.Categorical(states[:20], states) for i in range(161)})
    task = encode({"wide": frame})
    graph = nx.DiGraph((f"v{i}", "v160") for i in range(160))
    message = r"about \d\.\de\+97 MB, .* `v160` given 160 parents .* has 1\.0e\+322 cells for 20 "
    with pytest.raises(ValueError, match=message):
        run.check_file_sizes({"wide": graph}, task, "give fewer")


@pytest.mark.parametrize("relatedness", ["direct", "indirect"])
def test_relate_refuses_them_too(call, files, relatedness):
    table(13, 4, 92, seed=1).to_csv(files / "south.csv", index=False)
    options = ("--required", "arcs.csv", "--relatedness", relatedness, "--out", "near")
    err = mistake(call("relate", "north.csv", "south.csv", *options))
    assert "must stay below 100 MB" in err and "require fewer arcs into it." in err
    assert not (files / "near").exists()


def test_a_table_that_is_too_large_in_python():
    graph = nx.DiGraph([(f"v{i}", "v12") for i in range(11)])
    with pytest.raises(ValueError, match="that of `v12` with its 11 parents would have 2.44e"):
        bnmtl.BayesNet.fit(graph, table(13, 5, 92))


def test_a_raised_limit(call, files, monkeypatch):
    """Families that were found are bounded by the user's own limit; their files are, too."""
    monkeypatch.setattr(run, "MOST_BYTES", 170)
    frame = table(3, 2, 60)
    frame["v2"] = frame["v0"]
    frame.to_csv(files / "same.csv", index=False)
    options = ("--max-cells", "100000", "--restarts", "0", "--bootstrap", "0")
    err = mistake(call("learn", "same.csv", *options, "--out", "run"))
    assert "must stay below 0 MB" in err and "give a lower `--max-cells` or `--max-parents`" in err
    assert not (files / "run").exists()


def test_what_is_learned_by_default_stays_small(call, files):
    fast = ("--restarts", "0", "--bootstrap", "0", "--folds", "0")
    assert call("learn", "north.csv", *fast, "--arc-probability", "none", "--out", "run")[0] == 0
    assert (files / "run" / "north.bif").stat().st_size < 1_000_000
