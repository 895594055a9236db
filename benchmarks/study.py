"""What the studies of related tasks share: resumable runs on all cores, and figures and tables.

A study is a module with

- ``NAME``, ``SETTINGS``, the names of the values that tell its lines apart, ``FIXED``, what else
  they depend on, and ``DPI``, of its picture,
- ``plan(quick)``, its cases: dictionaries of arguments for ``measure``, each with the list of the
  lines' last setting under "wanted",
- ``measure(wanted, **case)``, which gives a line for each that is wanted, by its name,
- ``draw(lines)``, a matplotlib figure, and ``tables(lines)``, text by name,
- ``NEEDS_DATA`` where the data are no part of the project: a function that raises ValueError where
  they are not to be found.

`main` runs what is missing, tells the time it took and draws. With ``--quick`` a small part is run
anew in results/quick, for a test that all of it works.
"""

import argparse
import importlib
import os
import shutil
import time
import warnings
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.record import FOLDER, Results

PICTURES = Path(__file__).parent / "pictures"


def results_of(study, folder=FOLDER):
    """The results of a study in a folder."""
    return Results(study.NAME, study.SETTINGS, folder, study.FIXED)


def lines_of(study, folder=FOLDER):
    """The lines of a study as a data frame, one for each of its settings."""
    return pd.DataFrame(results_of(study, folder).current())


def missing_of(study, results, quick, trials=None):
    """Cases with what is not yet measured of them."""
    cases = []
    for case in study.plan(quick):
        if trials is not None and case["trial"] >= trials:
            continue
        settings = {name: value for name, value in case.items() if name != "wanted"}
        last = study.SETTINGS[-1]
        wanted = [one for one in case["wanted"] if not results.has(**settings, **{last: one})]
        if wanted:
            cases.append({**settings, "wanted": wanted})
    return cases


def run(study, results, cases, n_jobs):
    """Measure cases, several at a time; every line is written when its case is done."""

    def quietly(case):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            began = time.perf_counter()
            found = study.measure(**case)
            return case, found, time.perf_counter() - began

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    ]
    with Progress(*columns) as progress:
        bar = progress.add_task(f"{study.NAME}: lines", total=sum(len(c["wanted"]) for c in cases))
        done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(quietly)(case) for case in cases
        )
        for case, found, seconds in done:
            settings = {name: value for name, value in case.items() if name != "wanted"}
            for last, line in found.items():
                results.add(
                    **settings,
                    **{study.SETTINGS[-1]: last},
                    **line,
                    seconds_of_case=round(seconds, 2),
                )
            progress.advance(bar, len(found))


def main(name):
    """The command line of the study in the module of that name."""
    study = importlib.import_module(f"benchmarks.{name}")
    parser = argparse.ArgumentParser(description=study.__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=-1, help="cases at a time; all cores")
    parser.add_argument("--trials", type=int, help="only the first so many trials")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the results")
    parser.add_argument("--quick", action="store_true", help="a small part, in results/quick")
    if hasattr(study, "NEEDS_DATA"):
        parser.add_argument("--data", help="folder of the data; BNMTL_DATA if not given")
    arguments = parser.parse_args()
    if hasattr(study, "NEEDS_DATA"):
        if arguments.data:
            # Read by the processes that measure, too.
            os.environ["BNMTL_DATA"] = arguments.data
        try:
            study.NEEDS_DATA()
        except ValueError as error:
            parser.exit(2, f"{error}\n")
    folder, pictures = arguments.out, arguments.out
    if arguments.quick:
        folder = pictures = FOLDER / "quick" / study.NAME
        shutil.rmtree(folder, ignore_errors=True)
    elif folder == FOLDER:
        pictures = PICTURES
    results = results_of(study, folder)
    cases = missing_of(study, results, arguments.quick, arguments.trials)
    began = time.perf_counter()
    run(study, results, cases, arguments.jobs)
    spent = time.perf_counter() - began
    print(f"{study.NAME}: {len(cases)} cases in {spent / 60:.1f} minutes")
    lines = lines_of(study, folder)
    pictures.mkdir(parents=True, exist_ok=True)
    study.draw(lines).savefig(pictures / f"{study.NAME}.png", dpi=study.DPI)
    for name, text in study.tables(lines).items():
        print(f"\n{name}\n\n{text}")
