"""The notebooks: what is saved in them, short cells, prose that fits the package, and they run."""

import ast
import inspect
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import bnmtl
from bnmtl.search.compilation import compile_all

pytestmark = pytest.mark.beside_kernels

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
IMPORTS = {"bnmtl", "numpy", "pandas", "pathlib", "tempfile"}
MOST_LINES, MOST_WORDS = 12, 40  # of a cell of code, of a sentence
# Models of libraries are fitted in the process of the notebook: starting another takes seconds.
# Collections of garbage, of which each notebook starts some, leave out all libraries.
HERE = """import gc

import bnmtl.ensembles.library.workers
from bnmtl.ensembles.compression import mimic
from library_classifiers import run_here

bnmtl.ensembles.library.workers.run = run_here
mimic.MAX_EPOCHS = 10
gc.freeze()
"""
# What tests need not do as often: text of a notebook, and what stands there instead.
LESS_OFTEN = {
    "01_first_networks": {
        "iterations=5": "iterations=1",
        '+= ["cd3cd28_psitect", "cd3cd28_u0126", "pma"]': '= ["cd3cd28", "pma"]',
    },
    "02_how_much_to_share": {
        "iterations=5": "iterations=1",
        "CV(penalties=penalties, **search": "CV(cv=2, penalties=penalties, **search",
        "compare(learner, learner.tasks_)": "compare(learner, learner.tasks_, cv=2)",
        "[0, 0.5, 0.9, 0.99, 0.999, 0.9999, 1] if": "[0, 0.99] if",
        "[0, 0.5, 0.9, 0.99, 0.9999, 1]:": "[0, 0.99, 1]:",
        "compare(one, tasks)": "compare(one, tasks, cv=2)",
        '"arcs": (bnmtl.PairedPrior(0.99), None),': "",
        '"one-standard-error"}': '"one-standard-error", "cv": 2}',
        '+= ["cd3cd28_psitect", "cd3cd28_u0126", "pma"]': '= ["cd3cd28", "pma"]',
    },
    "03_which_tasks_belong_together": {
        "iterations=5": "iterations=1",
        "(3, 20)": "(2, 2)",
        "varies.sum(axis=1) >= 3]": "varies.sum(axis=1) >= 6].iloc[-4:]",
        '"same vegetation": {name: name.split()[1] for name in tasks},': "",
        "truth, 200,": "truth, 50,",
        'unrelated("child", 2': 'unrelated("sachs", 2',
        "[3, 2]": "[2, 1]",
    },
    "04_a_simulation_study": {
        '("child", 200, 5)': '("sachs", 100, 1)',
        "(network, n_tasks=5, random_state=0": "(network, n_tasks=2, random_state=0",
        '[0, 0.9, 0.99, 1], "cv": 3': '[0, 1], "cv": 2',
        "iterations=5": "iterations=1",
        "make(network, n_tasks=5": "make(network, n_tasks=2",
        "2000, random_state=1000": "200, random_state=1000",
    },
    "05_probabilities_to_trust": {
        "iterations=5": "iterations=1",
        "varies = [": "cells = {name: cells[name] for name in ('cd3cd28', 'pma')}\nvaries = [",
    },
    "06_ensembles": {
        "2000, (1000, 3000, 10_000)": "300, (200, 400)",
        "sample(frac=1": "sample(1200",
        "n_jobs=2": "n_jobs=1",
        "for k in (5, 15, 50)": "for k in (5,)",
        '[{"trees": 50}]': '[{"trees": 10}]',
        '{"trees": 100, "features": m} for m in (2, 4, 8)': '{"trees": 10, "features": 4}',
        "(8, 32, 128)": "(2, 4)",
        "for u in (8, 32) for e in (16, 64)": "for u in (4,) for e in (4,)",
        "for c in (1, 10) for gamma in (0.02, 0.1)": "for c in (1,) for gamma in (0.1,)",
        '{"columns": "bins 3"}, {"columns": "bins 5"}': '{"columns": "bins 3"}',
        'cells.drop(columns="PIP2")': 'cells[["condition", "Raf", "Mek", "Plcg", "PIP3", "Erk"]]',
        "Selector(metric": "Selector(metric, bags=3",
    },
    "07_which_sites_next": {
        "(5, 80)": "(3, 15)",
        "MultitaskQuery(n_members=8": "MultitaskQuery(n_members=2",
        "DecorateClassifier(n_estimators=8": "DecorateClassifier(n_estimators=2",
        "ActiveDecorate(n_estimators=8": "ActiveDecorate(n_estimators=2",
        "QueryByBagging(n_estimators=8": "QueryByBagging(n_estimators=2",
    },
    "08_which_model_is_better": {
        "QUICK = True": "few = {'search': bnmtl.Orders(starts=1, iterations=1), 'random_state': 0}",
        "(2, 12) if QUICK else (10, 50)": "(2, 3)",
        '"folds": 5': '"folds": 3',
        '"test_size": 0.5, "rounds": 6': '"test_size": 0.85, "rounds": 3',
        '["FRCO", "TRTR", "PACA", "LUME", "SYAT", "REIG"]': '["FRCO"]',
        "n_estimators=30": "n_estimators=5",
        '["TUME", "PAMA", "SYCA", "ERRU", "SYME", "SYUN"]': '["TUME", "PAMA", "SYCA"]',
        "(bnmtl.MultitaskLearner(random_state=0), ": "(bnmtl.MultitaskLearner(**few), ",
        "bnmtl.SingleTaskLearner(random_state=0))": "bnmtl.SingleTaskLearner(**few))",
        " bnmtl.MultitaskLearner(random_state=0)\n": " bnmtl.MultitaskLearner(**few)\n",
    },
    "09_from_tables_to_a_decision": {
        '"ERRU", "SYME", "SYUN", "SYAT", "CACN", "GAGL"]': '"ERRU", "SYAT"]',
        'Selector("cross_entropy"': 'Selector("cross_entropy", bags=3',
        "cv=5, task_column": "cv=2, task_column",
        '"cv": 5, "test"': '"cv": 2, "test"',
        '{"family": "extra trees", "trees": 100},': "",
        '"n_estimators": 8, "max_iterations": 12': '"n_estimators": 2, "max_iterations": 3',
        "n_members=8": "n_members=2",
        "folds=5": "folds=2",
        '{"family": "networks of all tasks", "shared": False, "penalty": 0.9},': "",
        '"random_state": 0, "n_jobs": 2': '"random_state": 0, "n_jobs": 1',
        "iterations=5": "iterations=1",
    },
}
WITH_OUTPUT = {"06_ensembles"}  # its prose reads numbers from it
# Words that promise, wave hands, or claim what no observation shows.
EMPTY_WORDS = r"simply|obviously|clearly|powerful|seamless\w*|leverag\w*|utili[sz]\w*|proves"

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tree(cell):
    """The syntax tree of a cell without its magics."""
    lines = ["" if line.startswith("%") else line for line in cell.source.splitlines()]
    return ast.parse("\n".join(lines))


def resolved(name):
    """The object of a dotted name such as bnmtl.metrics.shd; None if bnmtl does not have it."""
    first, *rest = name.split(".")
    found = bnmtl if first == "bnmtl" else None
    for part in rest:
        found = getattr(found, part, None)
    return found


def prose(path):
    """The text of a notebook without its headings, by paragraph and item of a list."""
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    parts = re.split(r"\n\s*\n|\n(?=- )", "\n\n".join(texts))
    return [" ".join(part.split()) for part in parts if not part.lstrip().startswith("#")]


def sentences(paragraph):
    return re.split(r"(?<=[.:;?!])\s+(?=[A-Z*`\[])", paragraph)


def test_the_readme_names_them_all():
    text = (ROOT / "README.md").read_text()
    assert len(NOTEBOOKS) >= 7
    assert [path.name for path in NOTEBOOKS if f"notebooks/{path.name}" not in text] == []


@each
def test_nothing_needless_is_saved(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    # nbformat gives a new id to a second cell of the same id.
    ids = re.findall(r'^   "id": "(.+?)"', path.read_text(), flags=re.MULTILINE)
    assert ids == [cell.id for cell in notebook.cells]
    for cell in notebook.cells:
        assert not cell.metadata, cell.id
        if path.stem not in WITH_OUTPUT:
            assert not cell.get("outputs"), f"{cell.id}: clear all outputs before saving"
            assert cell.get("execution_count") is None, cell.id


@each
def test_output_that_is_saved_is_that_of_one_run(path):
    cells = code_cells(read(path))
    if path.stem not in WITH_OUTPUT:
        return
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert all(output.get("name", "stdout") == "stdout" for output in outputs)
    for cell in cells:
        is_shown = isinstance(tree(cell).body[-1], ast.Expr)
        assert bool(cell.outputs) == is_shown, f"{cell.id}: run all cells before saving"


@each
def test_cells_are_short_and_hold_no_algorithms(path):
    cells = code_cells(read(path))
    assert "QUICK = True" in cells[0].source
    for cell in cells:
        assert len(cell.source.splitlines()) <= MOST_LINES, cell.id
        for node in ast.walk(tree(cell)):
            kind = type(node).__name__
            assert kind not in ("FunctionDef", "ClassDef", "Lambda", "While"), (cell.id, kind)


@each
def test_they_import_little(path):
    for cell in code_cells(read(path)):
        for node in ast.walk(tree(cell)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= IMPORTS, cell.id


@each
def test_whatever_is_random_has_a_seed(path):
    calls = [
        (cell.id, ast.unparse(node.func), {keyword.arg for keyword in node.keywords}, node.args)
        for cell in code_cells(read(path))
        for node in ast.walk(tree(cell))
        if isinstance(node, ast.Call)
    ]
    seeded = 0
    for cell, name, keywords, positional in calls:
        callee = resolved(name)
        known = [] if callee is None else list(inspect.signature(callee).parameters)
        given = {*known[: len(positional)], *keywords}
        # A learner that is handed over has a seed itself.
        draws = "random_state" in known and "learner" not in given
        if draws or name.endswith(".sample"):
            assert "random_state" in given, (cell, name)
            seeded += 1
    assert seeded


@each
def test_prose_leads_from_cell_to_cell(path):
    cells = read(path).cells
    assert cells[0].cell_type == "markdown" and cells[0].source.startswith("# ")
    assert cells[-1].cell_type == "markdown"
    kinds = "".join(cell.cell_type[0] for cell in cells)
    assert "ccc" not in kinds, "three cells of code without a word between them"


@each
def test_prose_is_plain(path):
    for paragraph in prose(path):
        for sentence in sentences(paragraph):
            assert len(sentence.split()) <= MOST_WORDS, sentence
        empty = re.search(rf"\b({EMPTY_WORDS})\b", paragraph, flags=re.IGNORECASE)
        assert not empty, f"{empty and empty[0]!r} in: {paragraph}"
        assert paragraph.isascii() and "!" not in paragraph, paragraph
        assert not re.search(r"\b(\w+) \1\b", paragraph), f"a word twice in: {paragraph}"


@each
def test_prose_names_what_there_is(path):
    rooms = [bnmtl, *filter(inspect.ismodule, (getattr(bnmtl, name) for name in bnmtl.__all__))]
    text = "\n".join(prose(path))
    for quoted in re.findall(r"`([^`]+)`", text):
        name = re.match(r"[\w.]+", quoted)
        name = name[0].rstrip(".") if name else ""
        if name.startswith("bnmtl"):
            assert resolved(name) is not None, quoted
        elif re.fullmatch(r"([A-Z][a-z]+){2,}(CV)?", name):
            assert any(hasattr(room, name) for room in rooms), quoted
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (path.parent / link).is_file(), link


@pytest.fixture(scope="module")
def notebook_runner(tmp_path_factory):
    """One kernel for all notebooks, because each start takes seconds; inner loops are compiled."""
    compile_all()
    folder = tmp_path_factory.mktemp("kernel")
    resources = {"metadata": {"path": str(folder)}}
    runner = NotebookClient(nbformat.v4.new_notebook(), timeout=180, resources=resources)
    paths = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    ipython = str(tmp_path_factory.mktemp("ipython"))
    environment = os.environ | {"IPYTHONDIR": ipython, "PYTHONPATH": paths}
    with runner.setup_kernel(env=environment):
        yield runner


def run(notebook, runner):
    """Execute all cells, with no names of the notebook before."""
    runner.nb = notebook
    runner.reset_execution_trackers()
    before = (HERE, "%reset -f")
    cells = [*map(nbformat.v4.new_code_cell, before), *code_cells(notebook)]
    for index, cell in enumerate(cells):
        runner.execute_cell(cell, index)


@each
def test_they_run_without_a_complaint(path, notebook_runner):
    notebook = read(path)
    for often, less_often in LESS_OFTEN.get(path.stem, {}).items():
        (cell,) = [cell for cell in code_cells(notebook) if often in cell.source]
        cell.source = cell.source.replace(often, less_often)
    for cell in code_cells(notebook):
        cell.source = cell.source.replace('["retina"]', '["png"]')
    run(notebook, notebook_runner)
    for cell in code_cells(notebook):
        complaints = [out.text for out in cell.outputs if out.get("name") == "stderr"]
        assert not complaints, f"{cell.id}: {complaints[0]}"
        if cell.source.splitlines()[-1].startswith("bnmtl.plotting."):
            assert "image/png" in cell.outputs[-1].data, f"{cell.id} shows no picture"
    folder = Path(notebook_runner.resources["metadata"]["path"])
    assert not list(folder.iterdir()), "files that are left behind"
