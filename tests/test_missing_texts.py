"""What means missing in tables: one rule for all readers, `--na` and `--only-na`."""

import numpy as np
import pandas as pd
import pytest
import typer
from command import mistake, record
from matplotlib.figure import Figure

from bnmtl import plotting
from bnmtl.cli.library import labelled
from bnmtl.cli.main import app
from bnmtl.cli.options import (
    CalibrateOptions,
    LibraryOptions,
    Options,
    PredictOptions,
    QueryOptions,
    RelateOptions,
    SelectOptions,
    ValidateOptions,
)
from bnmtl.cli.query import read_pool
from bnmtl.cli.select import read_new_cases, read_store
from bnmtl.cli.tables import read_judged_rows, read_table, read_tasks
from bnmtl.ensembles import PredictionStore, build_library
from bnmtl.ensembles.library import workers
from bnmtl.ensembles.library.record import read_skipped, training_rows, write_skipped
from bnmtl.io import read_run
from bnmtl.io.knowledge import read_arcs
from bnmtl.tasks import encode, read
from bnmtl.tasks.files import csv_text, na_values_of

pytestmark = pytest.mark.beside_kernels

# From public reports: NA is Namibia (csvkit 806, OasisLMF 307) and a continent (csvkit 968), and
# pandas loses N/A and others by default (CSV.jl 1077).
WORDS = ["None", "null", "NULL", "n/a", "N/A", "nan"]


@pytest.mark.parametrize("word", WORDS)
def test_words_are_labels_of_a_store_as_for_every_other_reader(tmp_path, word):
    labels = [word, "yes"] * 3
    path = tmp_path / "p.csv"
    pd.DataFrame({"a": 0.25, "y": labels}).to_csv(path, index=False)
    assert read(path)["p"]["y"].tolist() == labels
    store = PredictionStore.from_csv(path)
    assert store.classes.tolist() == sorted({word, "yes"})
    saved = store.save(tmp_path / "store")
    assert saved.classes[saved.part().y].tolist() == labels
    with pytest.raises(ValueError, match="`y` must not be missing; case 0"):
        PredictionStore.from_csv(path, na_values=[word])


def test_stores_are_read_like_other_tables(tmp_path):
    paths = {"hillclimb": tmp_path / "p.csv", "test": tmp_path / "q.csv"}
    paths["hillclimb"].write_text("a,y\n0.1,007\n0.2,7\n.3,True\n")
    paths["test"].write_text("a,y\n0.1,7\n")
    with pytest.raises(ValueError, match="must have two classes in a file"):
        PredictionStore.from_csv(paths)
    paths["hillclimb"].write_text("a,y\n0.1,007\n0.2,7\n")
    # A type is one for all parts, so 7 is text here.
    assert PredictionStore.from_csv(paths).parts["test"].y.tolist() == [1]
    paths["hillclimb"].write_text("a,y\n0.1,NA\n0.2,EU\n")
    with pytest.raises(ValueError, match="`y` must not be missing"):
        PredictionStore.from_csv(paths["hillclimb"])
    assert PredictionStore.from_csv(paths["hillclimb"], na_values=[""]).classes.tolist() == [
        "EU",
        "NA",
    ]
    for text, message in [
        ("a,a,y\n1,2,3\n", "p.csv` must have different column names, got `a` twice"),
        ("a,y\n0.1,1,2\n", "p.csv`, line 2 must have as many fields as the header"),
        ("a,y\n0.1,\xe9\n".encode("latin-1"), "p.csv`, line 2 must be UTF-8 text"),
    ]:
        paths["hillclimb"].write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ValueError, match=message):
            PredictionStore.from_csv(paths["hillclimb"])


def test_every_command_that_reads_tables_has_both_options():
    commands = typer.main.get_command(app).commands
    with_tables = set(commands) - {"structures", "data", "compile"}
    assert len(with_tables) == 8
    for name in with_tables:
        options = {option for parameter in commands[name].params for option in parameter.opts}
        assert {"--na", "--only-na"} <= options, name


@pytest.fixture
def table(tmp_path):
    """A table with two words for missing values and two that are values; the path."""
    rng = np.random.default_rng(0)
    a = rng.choice(["None", "null", "?", "NA"], 60)
    rows = pd.DataFrame({"a": a, "b": np.where(a == "None", "x", "y"), "c": rng.choice([1, 2], 60)})
    rows["y"] = np.where(np.arange(60) % 4, np.where(a == "None", "N/A", "yes"), "-")
    rows.to_csv(tmp_path / "t.csv", index=False)
    return str(tmp_path / "t.csv")


def learned(path, **options):
    tasks, _ = read_tasks(Options(paths=(path,), missing="state", **options))
    return list(tasks.states["a"])


def related(path, **options):
    tasks, _ = read_tasks(RelateOptions(paths=(path,), missing="state", **options))
    return list(tasks.states["a"])


def of(rows):
    """Values of the column a as states, and one of missing values."""
    return list(encode(rows[["a", "b"]], missing="state").states["a"])


def options_of(kind, **fields):
    def states(path, **options):
        fields_ = {key: path if value is None else value for key, value in fields.items()}
        return of(read_table(path, kind(**fields_, **options)))

    return states


def pooled(path, **options):
    option = "only_na" if "only_na" in options else "na"
    options[option] = (*options.get(option, ()), "-")  # no label
    pool = read_pool(QueryOptions(table=path, label="y", **options), "random")
    assert pool.y.isna().sum() == 15 and set(pool.y.dropna()) == {"N/A", "yes"}
    return of(pool.rows)


def of_library(path, **options):
    X, _, _ = labelled(LibraryOptions(table=path, label="y", **options))
    return of(X)


READERS = {
    "learn": learned,
    "relate": related,
    "predict": options_of(PredictOptions, network="n", rows=None, target="a", out="o"),
    "calibrate": options_of(CalibrateOptions, scores=None, score="p"),
    "library": of_library,
    "select": options_of(SelectOptions, store="s", metric="m"),
    "query": pooled,
    "validate": lambda path, **options: of(
        read_judged_rows(ValidateOptions(table=path, **options))
    ),
}


@pytest.mark.parametrize("command", READERS)
def test_na_adds_and_only_na_replaces(command, table):
    states = READERS[command]
    assert states(table) == ["?", "None", "null", "missing"]
    assert states(table, na=("?", "null")) == ["None", "missing"]
    assert states(table, only_na=("?",)) == ["NA", "None", "null", "missing"]
    assert states(table, only_na=("?", "null")) == ["NA", "None", "missing"]


@pytest.mark.parametrize(
    "line",
    [
        "learn t.csv",
        "relate t.csv",
        "calibrate t.csv --label y --score c",
        "library t.csv --label y",
        "select t.csv --metric accuracy",
        "query t.csv --label y",
        "validate t.csv --label y",
        "validate t.csv",
        "predict net.bif t.csv --target a --out o.csv",
    ],
)
def test_only_one_of_the_two_can_be_given(call, table, tmp_path, line):
    (tmp_path / "net.bif").write_text(NETWORK)
    error = mistake(call(*line.split(), "--na", "?", "--only-na", "null"))
    assert "`--na` must not go with `--only-na`, got '?'; that replaces all texts" in error
    pd.read_csv(table).to_parquet(tmp_path / "t.parquet")
    for option in ("--na", "--only-na"):
        error = mistake(call(*line.replace("t.csv", "t.parquet").split(), option, "?"))
        assert f"`{option}` must be left out for Parquet files, which mark missing" in error


NETWORK = (
    "network n { }\nvariable a { type discrete [ 2 ] { None, null }; }\n"
    "variable b { type discrete [ 2 ] { x, y }; }\n"
    "probability ( a ) { table 0.5, 0.5; }\n"
    "probability ( b | a ) { (None) 1.0, 0.0; (null) 0.0, 1.0; }\n"
)


def test_python_readers_refuse_texts_for_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": ["NA", "x"]}).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")["a"]["a"].tolist() == ["NA", "x"]
    with pytest.raises(ValueError, match="`na_values` must be left out for Parquet files"):
        read(tmp_path / "a.parquet", na_values=["?"])


# --- what a run has on record


def test_predict_reads_new_rows_as_the_run_read_its_tables(call, table, tmp_path):
    quick = ("--missing", "drop", "--folds", 0, "--bootstrap", 0, "--ignore", "y")
    assert call("learn", table, "--only-na", "?", *quick, "--out", "run")[0] == 0
    run = read_run(tmp_path / "run")
    assert run.na_values == ("?",) and record(tmp_path / "run")["settings"]["only_na"] == ["?"]
    assert run.networks["t"].states["a"] == ("NA", "None", "null")
    new = tmp_path / "new.csv"
    new.write_text("a,b,c\n?,x,1\nNA,?,2\nnull,?,?\n")
    assert read(new, na_values=run.na_values)["new"]["a"].tolist()[1:] == ["NA", "null"]
    predict = ("predict", "run", "new.csv", "--target", "a", "--out", "out.csv", "--force")
    code, out, _ = call(*predict)
    assert code == 0 and "Of 2 rows whose a is known" in out
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.split(",")[:3] for line in lines[1:]] == [
        ["?", "x", "1"],
        ["NA", "?", "2"],
        ["null", "?", "?"],
    ]
    assert "Of 1 row whose a is known" in call(*predict, "--na", "null")[1]
    # Of --only-na, ? is a value that the network does not know.
    assert call(*predict, "--only-na", "NA")[0] == 2
    assert "Of 1 row whose a is known" in call(*predict, "--only-na", "NA", "--unseen", "ignore")[1]
    pd.DataFrame({"a": ["NA"], "b": ["x"], "c": [1]}).to_parquet(tmp_path / "new.parquet")
    assert "Of 1 row whose" in call("predict", "run", "new.parquet", *predict[3:])[1]


def test_runs_of_before_read_as_they_did(tmp_path):
    assert na_values_of() == ("", "NA", "NaN")
    assert na_values_of(["?"]) == ("", "NA", "NaN", "?")
    assert na_values_of((), ["?"]) == ("?",)


def test_calibrators_are_applied_to_scores_read_as_those_of_the_fit(call, tmp_path, monkeypatch):
    monkeypatch.setattr(plotting, "calibration_panel", lambda *_, **__: Figure(figsize=(1, 1)))
    rng = np.random.default_rng(0)
    cases = pd.DataFrame({"p": rng.random(60).round(2), "town": rng.choice(["NA", "None"], 60)})
    cases["y"] = np.where(rng.random(60) < cases["p"], "TRUE", "FALSE")
    cases.loc[:3, "y"] = "?"
    cases.to_csv(tmp_path / "cases.csv", index=False)
    fit = ("calibrate", "cases.csv", "--label", "y", "--score", "p", "--task-column", "town")
    assert call(*fit, "--only-na", "?", "--out", "fitted")[0] == 0
    assert {task["name"] for task in record(tmp_path / "fitted")["tasks"]} == {"NA", "None"}
    scores = pd.read_csv(tmp_path / "fitted" / "scores.csv", keep_default_na=False)
    assert scores["y"].tolist() == cases["y"].tolist()
    apply = ("calibrate", "cases.csv", "--score", "p", "--task-column", "town", "--force")
    assert call(*apply, "--apply", "fitted", "--out", "one")[::2] == (0, "")
    assert call(*apply, "--apply", "one", "--out", "two")[::2] == (0, "")
    written = [(tmp_path / name / "scores.csv").read_text() for name in ("one", "two")]
    assert written[0] == written[1] and ",NA,?," in written[0]
    # NA names a town only where it does not mean missing.
    assert "it is not in row" in mistake(call(*apply, "--apply", "one", "--only-na", "NA"))


def trained_here(function, tasks, arguments_of, *_):
    """Models of a library without another process, whose start takes seconds."""
    for task in tasks:
        yield workers.Done(task, function(*arguments_of(task)), None, 0.0)


def test_a_library_reads_new_cases_as_its_table(table, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "run", trained_here)
    table_options = LibraryOptions(table=table, label="b", only_na=("?", "-"))
    X, y, _ = labelled(table_options)
    store = build_library(X, y, [{"family": "naive Bayes"}], out=tmp_path / "store", random_state=0)
    store.library.with_na_values(store.path, na_values_of((), ("?", "-")))
    again = PredictionStore.open(tmp_path / "store")
    assert again.library.na_values == ("?", "-") and again.library == store.library
    options = SelectOptions(store=str(tmp_path / "store"), metric="accuracy", predict=table)
    rows = read_new_cases(options, again).tables["rows"]
    assert rows["a"].isna().equals(X["a"].isna()) and "NA" in set(rows["a"])
    # A library of before has none on record.
    text = (tmp_path / "store" / "library.json").read_text()
    (tmp_path / "store" / "library.json").write_text(text.replace('"na_values"', '"na_value"'))
    with pytest.raises(ValueError, match="must be as it was written"):
        PredictionStore.open(tmp_path / "store")


def test_tables_of_predictions_may_have_words_as_labels(tmp_path):
    rows = pd.DataFrame({"a": [0.2, 0.7], "b": [0.1, 0.9], "y": ["None", "null"]})
    rows.to_csv(tmp_path / "p.csv", index=False)
    options = SelectOptions(store=str(tmp_path / "p.csv"), metric="accuracy")
    assert read_store(options).classes.tolist() == ["None", "null"]


# --- what is written is read again


def test_names_of_arcs_may_be_words_that_mean_missing(tmp_path):
    tasks = encode(pd.DataFrame({"NA": [0, 1, 1], "None": [0, 1, 0]}))
    (tmp_path / "arcs.csv").write_text("from,to\nNA,None\n")
    assert read_arcs(tmp_path / "arcs.csv", tasks) == [("NA", "None")]


ODD = [*WORDS, "NA", "NaN", "", " a", "a", "a\rb", "a\nb", 'q"q', "x,y", "1", "1.0", "007"]


def test_labels_tasks_and_folds_of_a_store_are_read_as_they_were(tmp_path):
    y = ODD * 2
    p = np.full((2, len(y), len(ODD)), 1 / len(ODD))
    settings = [{"family": "None", "note": "NA"}, {"family": "a\rb", "note": "x"}]
    folds = ["01", "1"] * len(ODD)
    store = PredictionStore(p, y, ["None", "NA"], task=y, folds=folds, settings=settings)
    again = store.save(tmp_path / "store")
    assert again.classes[again.part().y].tolist() == y == again.part().task.tolist()
    assert again.part().folds.tolist() == folds
    assert again.names == store.names and again.settings.equals(store.settings)
    store = PredictionStore([[0.5, 0.5]], [0, 1], folds=[3, 10])
    assert store.save(tmp_path / "other").part().folds.tolist() == [3, 10]


@pytest.mark.parametrize("odd", ["", "None", "_"])
def test_rows_of_a_library_are_read_as_they_were(tmp_path, odd, monkeypatch):
    monkeypatch.setattr(workers, "run", trained_here)
    X = pd.DataFrame({"a": [odd, None, "x", "_"] * 5, "b": [1, 2, np.nan, 4] * 5})
    y = np.array([odd, "", "yes"])[[0, 2] * 10 if odd == "" else [1, 0] * 10]
    settings = [{"family": "naive Bayes"}]
    store = build_library(X, y, settings, out=tmp_path / "store", random_state=0)
    again, labels, *_ = training_rows(store)
    assert again["a"].fillna("gap").tolist() == X["a"].fillna("gap").tolist()
    assert np.array_equal(again["b"].to_numpy(float), X["b"], equal_nan=True)
    assert labels.tolist() == y.tolist()


def test_models_that_were_skipped_keep_their_names(tmp_path):
    line = {"model": "None", "family": "NA", "reason": "null", "seconds": 1.5}
    skipped = pd.DataFrame([line]).reindex(columns=list(read_skipped(None)))
    write_skipped(tmp_path, skipped)
    found = read_skipped(tmp_path)
    assert found.loc[0, ["model", "family", "reason"]].tolist() == ["None", "NA", "null"]
    assert found.loc[0, "seconds"] == 1.5 and found["time_limit"].isna().all()


def test_whatever_is_written_as_csv_is_read_again(tmp_path):
    frame = pd.DataFrame({"a": [text for text in ODD if text == text.strip()], "b": "k"})
    (tmp_path / "a.csv").write_text(csv_text(frame), encoding="utf-8", newline="")
    assert read(tmp_path / "a.csv", na_values=())["a"]["a"].tolist() == frame["a"].tolist()
    assert csv_text(frame[:3]).splitlines()[1] == "None,k"
