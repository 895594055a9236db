"""The tables of all READMEs and docs, made from the lines in benchmarks/results.

`python -m benchmarks.tables` writes them in, each between the comments that name it.
"""

import argparse
import importlib
import re
from functools import cache
from pathlib import Path

from benchmarks import overview, study
from benchmarks.search import single, single_tables
from benchmarks.speed import speed
from benchmarks.summary import markdown

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md", *sorted(FOLDER.glob("*/README.md")))
# Modules of the studies by folder.
STUDIES = {
    "speed": ("speed", "growth", "layouts"),
    "search": ("single", "joint", "tries", "many_tasks", "first_graph"),
    "thesis": (
        *("penalty_curves", "methods", "priors", "one_trial", "training_size"),
        *("penalty_choice", "posterior", "task_number", "selection"),
    ),
    "birds": ("bird",),
    "predictions": ("good_probabilities", "boosting_steps", "multinets", "calibrated_arcs"),
    "defaults": ("defaults", "choice", "real_tables", "no_structure", "sure_arcs", "sachs"),
    "sharing": ("sharing", "table_weights"),
}
# Of more than one study.
TABLES = {
    "peers": lambda: markdown(
        single_tables.beside_pyagrum(study.lines_of(single), study.lines_of(speed))
    ),
    "overview": lambda: overview.table(studies()),
}


@cache
def studies():
    """All tables of the studies, by name."""
    made = {}
    for folder, modules in STUDIES.items():
        for name in modules:
            module = importlib.import_module(f"benchmarks.{folder}.{name}")
            lines = study.lines_of(module)
            if len(lines):
                made.update(module.tables(lines))
    return made


def made(name):
    """The table of that name."""
    return TABLES[name]() if name in TABLES else studies()[name]


MARKED = re.compile(r"<!-- table: (\w+) -->\n(?:(?!<!-- ).)*<!-- end -->", re.DOTALL)


def with_tables(text):
    """A README with its tables made again."""
    return MARKED.sub(lambda at: f"<!-- table: {at[1]} -->\n{made(at[1])}\n<!-- end -->", text)


def main():
    """Write the tables into the READMEs."""
    argparse.ArgumentParser(description="Write the tables into the READMEs.").parse_args()
    for path in PAGES:
        path.write_text(with_tables(path.read_text()))


if __name__ == "__main__":
    main()
