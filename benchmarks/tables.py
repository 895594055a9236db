"""The tables of all READMEs and docs, generated from the lines in benchmarks/results.

`python -m benchmarks.tables` writes each table between the comments that name it.
"""

import argparse
import importlib
import re
from functools import cache
from pathlib import Path

from benchmarks import overview, study
from benchmarks.summary import markdown

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
PAGES = (
    *(ROOT / "README.md", ROOT / "docs" / "results.md", FOLDER / "README.md"),
    *sorted(FOLDER.glob("*/README.md")),
)
# Modules of the studies by folder.
STUDIES = {
    "speed": ("speed", "growth", "layouts"),
    "search": ("single", "joint", "tries", "many_tasks", "first_graph"),
    "thesis": (
        *("penalty_curves", "methods", "priors", "one_trial", "training_size"),
        *("penalty_choice", "posterior", "task_number", "selection", "divided"),
    ),
    "birds": ("bird",),
    "predictions": (
        *("good_probabilities", "boosting_steps", "calibration_defaults"),
        *("multinets", "calibrated_arcs", "gaps"),
    ),
    "defaults": (
        *("defaults", "choice", "real_tables", "no_structure", "concentrations", "sure_arcs"),
        *("permuted", "part_concentrations", "cells", "sachs"),
    ),
    "groups": ("groups", "rule", "real_groups"),
    "chain": ("chain",),
    "sharing": ("sharing", "table_weights"),
    "ensembles": ("selection_speed", "ensemble_selection", "modern_library"),
    "decorate": (
        *("weka_peer", "curves", "ensemble_sizes", "other_bases", "imperfections"),
        *("queries", "true_probabilities", "visits", "acquisitions", "imputations"),
        *("few_labels", "margins", "parts"),
    ),
    "trees": ("mob_esp", "forests"),
    "validation": ("network_parts", "tree_parts", "null_p_values"),
    "attack": ("attack",),
}
# Tables of more than one study.
TABLES = {
    "peers": lambda: markdown(
        modules()["search"].beside_pyagrum(measured()["search"], measured()["speed"])
    ),
    "overview": lambda: overview.table(claims()),
}


@cache
def modules():
    """The studies by their names."""
    paths = [f"benchmarks.{folder}.{one}" for folder, names in STUDIES.items() for one in names]
    return {module.NAME: module for module in map(importlib.import_module, paths)}


@cache
def measured():
    """The lines of each study that has lines."""
    found = {name: study.lines_of(module) for name, module in modules().items()}
    return {name: lines for name, lines in found.items() if len(lines)}


@cache
def studies():
    """All tables of the studies, by name."""
    made = {}
    for name, lines in measured().items():
        made |= modules()[name].tables(lines)
    return made


def claims():
    """The claims that the overview shows, by study."""
    shown = {name for _, name in overview.CLAIMS} & set(measured())
    return {name: modules()[name].claims(measured()[name]) for name in shown}


def made(name):
    """The table with the given name."""
    return TABLES[name]() if name in TABLES else studies()[name]


MARKED = re.compile(r"<!-- table: (\w+) -->\n(?:(?!<!-- ).)*<!-- end -->", re.DOTALL)


def with_tables(text):
    """The text of a README with its tables regenerated."""
    return MARKED.sub(lambda at: f"<!-- table: {at[1]} -->\n{made(at[1])}\n<!-- end -->", text)


def main():
    """Write the tables into the READMEs."""
    argparse.ArgumentParser(description="Write the tables into the READMEs.").parse_args()
    for path in PAGES:
        path.write_text(with_tables(path.read_text()))


if __name__ == "__main__":
    main()
