"""The house rules that a machine can keep: who imports whom, and what may stand where."""

import ast
import configparser
import functools
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from benchmarks import house

pytestmark = pytest.mark.beside_kernels
ROOT = Path(__file__).resolve().parent.parent

# What each room may import of the package, besides itself and what is open to all. Data flows one
# way: frames, tasks, counts, scores, search, configurations, networks; imports point to what stands
# before.
OPEN = {"errors": {"wording"}, "wording": set()}
for room in ("seeding", "processes", "progress", "threads", "reading", "writing"):
    OPEN[room] = {"errors", "wording"}
OPEN["processes"] |= {"progress"}
ROOMS = {"_kernels": set(), "tasks": set(), "graphs": {"_kernels"}}
ROOMS["scores"] = ROOMS["priors"] = {"_kernels", "tasks", "graphs"}
ROOMS["search"] = {"scores", "priors", *ROOMS["scores"]}
ROOMS["networks"] = {"_kernels", "graphs", "tasks", "scores"}
ROOMS["io"] = {"graphs", "tasks", "networks"}
ROOMS["structures"] = {"networks", "io"}
ROOMS["data"] = {"tasks"}
ROOMS["metrics"] = {"graphs", "networks", "tasks"}
ROOMS["problems"] = {"graphs", "networks", "tasks", "structures"}
ROOMS["learners"] = {"search", *ROOMS["search"], "networks"}
ROOMS["relatedness"] = ROOMS["confidence"] = {"learners", *ROOMS["learners"], "metrics"}
# Where learned networks become classifiers: the one door to the rooms downstream, which see arrays
# of predictions and never a graph.
ROOMS["classification"] = {"tasks", "networks", "learners"}
ROOMS["calibration"] = {"metrics", "tasks"}
ROOMS["ensembles"] = {"metrics", "classification", "calibration"}
ROOMS["decorate"] = {"metrics", "tasks", "classification"}
ROOMS["trees"] = {"metrics", "tasks"}
ROOMS["validation"] = {"metrics", "tasks", "classification", "ensembles", "trees"}
ROOMS["active"] = {"metrics", "tasks", "classification", "calibration", "decorate", "trees"}
# Learners, scores and searches are settings of the networks in a library, and its families of trees
# stand in two rooms of their kind.
ROOMS["ensembles"] |= {"tasks", "scores", "search", "learners", "decorate", "trees"}
# What a person sees stands above all of it, and nobody imports it.
for room in ("plotting", "reports", "cli"):
    ROOMS[room] = set(ROOMS)
ROOMS["__main__"] = {"cli"}
MOST_FILES = 12
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc"}


def sources():
    """Every Python file of the package as (room, path)."""
    for folder, prefix in [("bnmtl", ""), ("structures", "structures"), ("data", "data")]:
        for path in sorted((ROOT / folder).rglob("*.py")):
            room = prefix or path.relative_to(ROOT / folder).parts[0].removesuffix(".py")
            yield room, path


@functools.cache
def tree_of(path):
    """The syntax tree of a file."""
    return ast.parse(path.read_text())


@functools.cache
def imports(path):
    """Dotted names that a file imports, those inside functions included."""
    return tuple(_imports(path))


def _imports(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_of(name):
    """The room of the package that an imported name belongs to, if any."""
    parts = name.split(".")
    return parts[1] if parts[0] == "bnmtl" and len(parts) > 1 else None


@pytest.mark.parametrize(("room", "path"), list(sources()), ids=str)
def test_imports_point_the_right_way(room, path):
    if room == "__init__":
        return
    reached = {rooms_of(name) for name in imports(path)} - {None, room, "__version__"}
    # `from bnmtl import X` names a room or the version, never a public name of the top level.
    allowed = OPEN[room] if room in OPEN else ROOMS[room] | (set(OPEN) - {room})
    if room == "_kernels":
        allowed = set()
    assert reached <= allowed, f"{path} imports {sorted(reached - allowed)}"


def test_every_room_is_listed():
    assert {room for room, _ in sources()} - {"__init__"} <= {*ROOMS, *OPEN}


def test_rooms_do_not_import_each_other_in_circles():
    imported = nx.DiGraph((room, other) for room, others in ROOMS.items() for other in others)
    assert nx.is_directed_acyclic_graph(imported)


def test_few_files_are_beside_the_rooms():
    assert len(list((ROOT / "bnmtl").glob("*.py"))) <= MOST_FILES


def only_in(library, allowed):
    for _, path in sources():
        if any(name.split(".")[0] == library for name in imports(path)):
            assert path.relative_to(ROOT).as_posix() in allowed, path


def test_numba_is_imported_in_one_file():
    only_in("numba", {"bnmtl/_kernels/_jit.py"})


def test_pgmpy_is_imported_in_one_file():
    only_in("pgmpy", {"bnmtl/networks/pgmpy.py"})


def test_opt_einsum_is_imported_in_one_file():
    only_in("opt_einsum", {"bnmtl/networks/contraction.py"})


def test_jinja2_is_imported_in_one_file():
    only_in("jinja2", {"bnmtl/reports/page.py"})


def test_matplotlib_is_imported_only_for_plotting():
    files = (ROOT / "bnmtl" / "plotting").glob("*.py")
    only_in("matplotlib", {path.relative_to(ROOT).as_posix() for path in files})


def test_command_line_libraries_are_imported_only_to_read_options():
    only_in("typer", {"bnmtl/cli/main.py", "bnmtl/cli/options.py"})


def test_no_print_outside_the_command_line():
    for _, path in sources():
        if path == ROOT / "bnmtl" / "cli" / "main.py":
            continue
        calls = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))
        assert not any(isinstance(c.func, ast.Name) and c.func.id == "print" for c in calls), path


def test_no_module_without_a_job():
    for _, path in sources():
        assert path.stem not in FORBIDDEN_NAMES
        documentation = ast.get_docstring(tree_of(path))
        assert documentation, f"{path} does not say its job in its first line"


# Where a whole is read more easily than its parts: `path: function` or `path`, and why.
LONGER = set()


def test_functions_and_modules_can_be_seen_whole():
    """At most 60 lines of code in a function and 900 lines in a module."""
    files = house.sources() | house.sources(folder="structures") | house.sources(folder="data")
    long = {path for path, text in files.items() if text.count("\n") > 900}
    for path, text in files.items():
        long |= {f"{path}: {name}" for name, n_lines in house.functions(text) if n_lines > 60}
    assert long == LONGER


def test_all_packages_are_installed():
    """setup.cfg names every package folder: what it forgets is missing from a wheel."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "bnmtl").rglob("__init__.py")
    }
    assert listed == found | {"bnmtl.structures", "bnmtl.data"}


def test_importing_the_package_is_light():
    """`import bnmtl` loads none of the heavy libraries."""
    heavy = {"sklearn", "matplotlib", "pgmpy", "numba", "pandas", "scipy"}
    code = f"import sys, bnmtl; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_learning_does_not_load_pictures_or_pgmpy():
    heavy = {"matplotlib", "pgmpy"}
    code = f"import sys, bnmtl.learners; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    import bnmtl

    for name in bnmtl.__all__:
        assert getattr(bnmtl, name) is not None
    assert callable(bnmtl.search.neighborhood.best_states)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bnmtl.nothing  # noqa: B018
