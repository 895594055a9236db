"""The attack: how many cases of bad input, kills and races there are, and how many fail.

Run `python -m benchmarks.attack.attack` (an hour of two cores), or `--trials 1` for a tenth. A case
fails if it does not end in the right result or in one sentence of ours: an exception in the words
of another package, a warning in them, nonsense that is accepted, another file that was changed, a
call that goes on, a process that ends, or gigabytes of memory. What is refused is not a failure.
"""

import contextlib
import functools
import itertools
import tempfile
from pathlib import Path

import pandas as pd

from benchmarks import study
from benchmarks.attack import binaries, folders, frames, kills, leaks, pages, parameters, texts
from benchmarks.summary import markdown, present

NAME = "attack"
SETTINGS = ("kind", "batch")
JOBS = 2
N_BATCHES = 10
SHOWN = 200  # characters of an example


def _parts(cases):
    """Cases of a part of all combinations, as those of a batch."""
    return lambda batch, folder: cases(batch, batch, N_BATCHES)


# Cases of a batch, how many of them (None is all), how many in a quick run, and seconds for one.
KINDS = {
    "odd frames and labels": (_parts(frames.cases), None, 40, 10),
    "odd parameters": (_parts(parameters.cases), None, 20, 10),
    "BIF files": (texts.bif, 1500, 30, 10),
    "CSV tables": (texts.csv, 1000, 30, 10),
    "files of arcs, tiers and groups": (texts.knowledge, 500, 20, 10),
    "Parquet tables": (binaries.parquet, 1000, 20, 10),
    "rounds in .npz files": (binaries.rounds, 1000, 20, 10),
    "stores of predictions": (binaries.stores, 600, 20, 10),
    "bombs": (binaries.bombs, 12, 0, 20),
    "run.json": (folders.records, 400, 20, 10),
    "journals and links": (folders.journals, 1000, 30, 10),
    "names of tasks, variables, states": (folders.names, 300, 20, 10),
    "paths of outputs": (folders.paths, 300, 20, 10),
    "markup in names, on every page": (pages.pages, 28, 0, 120),
    "options of commands": (pages.options, 60, 2, 120),
    "kills while a command writes": (kills.kills, 20, 0, 180),
    "writers of one place at once": (kills.writers, 12, 1, 120),
}


def plan(quick, trials=None):
    """One case per kind, with its batches."""
    n = 1 if quick else trials or N_BATCHES
    return [
        {"kind": kind, "wanted": list(range(n)), **({"is_quick": True} if quick else {})}
        for kind, (_, _, n_quick, _) in KINDS.items()
        if n_quick or not quick
    ]


def measure(kind, wanted, is_quick=False):
    """One line per batch: the number of cases, and the failures."""
    cases, n, n_quick, seconds = KINDS[kind]
    lines = {}
    for batch in wanted:
        with tempfile.TemporaryDirectory(prefix="attack-") as place:
            folder = Path(place)
            some = functools.partial(_some, cases, batch, folder, n_quick if is_quick else n)
            # Some odd values of `out` are names of files.
            with contextlib.chdir(folder):
                n_cases, found = leaks.leaks(some, seconds)
        found = {name: text.replace(place, "FOLDER") for name, text in found.items()}
        first = next(iter(found.items()), None)
        lines[batch] = {
            "cases": n_cases,
            "failures": len(found),
            "first": first and f"{first[0][:SHOWN]}: {first[1][:SHOWN]}",
        }
    return lines


def _some(cases, batch, folder, n):
    return itertools.islice(cases(batch, folder), n)


def tables(lines):
    """Cases and failures by kind, with one example of a failure."""
    if not len(lines):
        return {}
    rows = []
    for kind in present(lines, "kind", KINDS):
        part = lines[lines["kind"] == kind].sort_values("batch")
        examples = part["first"].dropna()
        rows.append(
            {
                "kind": kind,
                "cases": f"{part['cases'].sum():,}",
                "failures": f"{part['failures'].sum():,}",
                "an example": _as_cell(examples.iloc[0]) if len(examples) else "",
            }
        )
    total = [f"{lines[name].sum():,}" for name in ("cases", "failures")]
    rows.append({"kind": "all", "cases": total[0], "failures": total[1], "an example": ""})
    return {"attack": markdown(pd.DataFrame(rows))}


def _as_cell(text):
    """A text as code in a cell of a table."""
    text = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    return f"`{text.replace('`', chr(39)).replace('|', '/')}`"


if __name__ == "__main__":
    study.main(__spec__.name)
