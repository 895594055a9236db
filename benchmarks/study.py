"""Infrastructure of the studies: resumable runs on all cores, figures and tables.

A study is a module with

- ``NAME`` and ``SETTINGS``, the names of the values that identify its lines,
- ``FIXED`` (optional), other values on which the lines depend,
- ``EARLIER`` (optional), earlier values of some of these; lines with them are shown until they are
  measured again,
- ``JOBS`` (optional), the number of parallel cases; default: the number of cores,
- ``plan(quick, trials)``, its cases: dictionaries of arguments for ``measure``, each with a list
  of values of the last setting under "wanted"; ``trials`` replaces the number of trials, None
  means the study's own number,
- ``measure(wanted, **case)``, which returns one line per wanted value, as a dictionary,
- ``tables(lines)``, which returns texts by name,
- ``draw(lines)`` (optional), which returns a matplotlib figure, and ``more_pictures(lines)``
  (optional), which returns figures by name; ``DPI`` if it is not 100,
- ``check_needs(cases, lines)`` (optional), which raises ValueError if something that cases need is
  missing, or if the data differ from those of the existing lines,
- ``TAKES_DATA`` (optional), set if the data are not part of the project,
- ``FILES`` (optional), other files that it reads: for the name of an option that gives one, the
  environment variable that replaces it, and help,
- ``BESIDE`` (optional), if tables and pictures also show lines of another study in the same folder:
  its module, and a function that selects and adapts its lines.

`main` runs the missing cases, prints the time and draws. It requires that all code is committed.
With ``--quick``, a small part is run again in the subfolder quick of the results, with any code,
as a smoke test: every line of a study runs, with searches that stop early and small pictures.
"""

import argparse
import contextlib
import importlib
import inspect
import io
import itertools
import os
import shutil
import time
import warnings
from pathlib import Path
from unittest import mock

import pandas as pd
from joblib import Parallel, delayed
from PIL import Image
from rich.progress import track

from benchmarks.record import FOLDER, Results, exit_if_changed
from bnmtl.ensembles.library import workers
from bnmtl.learners import validated
from bnmtl.search import hill_climbing, orders

PICTURES = Path(__file__).parent / "pictures"
# Of a quick run: most restarts, or iterations without a better score, of a search; dots per inch.
QUICK_STEPS, QUICK_DPI = 2, 25
QUICK_PENALTIES = (0.0, 0.9, 1.0)


def results_of(study, folder=FOLDER):
    """The results of a study in a folder."""
    values = (getattr(study, name, None) for name in ("FIXED", "EARLIER"))
    return Results(study.NAME, study.SETTINGS, folder, *values)


def lines_of(study, folder=FOLDER):
    """The lines of a study as a data frame, one for each of its settings."""
    lines = with_plain_strings(pd.DataFrame(results_of(study, folder).current()))
    if len(lines) and hasattr(study, "BESIDE"):
        other, added = study.BESIDE
        beside = lines_of(other, folder)
        if len(beside):
            lines = pd.concat([lines, added(beside)], ignore_index=True)
    return lines


def with_plain_strings(lines):
    """A data frame with strings of Python: comparing those of pandas takes twice as long.

    Names of columns are looked up faster, too, and rows taken faster from few blocks of columns.
    """
    # A copy joins the columns of one type.
    lines = lines.astype(dict.fromkeys(lines.select_dtypes("str"), object)).copy()
    lines.columns = lines.columns.astype(object)
    return lines


def every(wanted, **values):
    """One case per combination of values of the settings; the first setting varies slowest.

    ``wanted`` may be a function of the settings; cases of which nothing is wanted are omitted.
    """
    cases = [
        dict(zip(values, combination, strict=True))
        for combination in itertools.product(*values.values())
    ]
    found = [
        case | {"wanted": list(wanted(**case) if callable(wanted) else wanted)} for case in cases
    ]
    return [case for case in found if case["wanted"]]


def missing_of(study, results, quick, trials=None, only=None):
    """Cases with their missing measurements; ``only`` is a value of the first setting."""
    plan = study.plan(quick) if trials is None else study.plan(quick, trials)
    first = study.SETTINGS[0]
    if only is not None:
        known = [str(case[first]) for case in plan]
        plan = [case for case in plan if str(case[first]) == only]
        if not plan:
            names = ", ".join(dict.fromkeys(known))
            raise ValueError(f"`--only` must be a {first}, one of {names}, got {only!r}")
    cases = []
    for case in plan:
        settings = {name: value for name, value in case.items() if name != "wanted"}
        last = study.SETTINGS[-1]
        wanted = [one for one in case["wanted"] if not results.has(**settings, **{last: one})]
        if wanted:
            cases.append({**settings, "wanted": wanted})
    return cases


def run(study, results, cases, n_jobs):
    """Measure cases in parallel; the lines of a case are written when it is done."""

    def quietly(case):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            began = time.perf_counter()
            found = study.measure(**case)
            return case, found, time.perf_counter() - began

    done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(quietly)(case) for case in cases
    )
    for case, found, seconds in track(done, f"{study.NAME}: cases", total=len(cases)):
        settings = {name: value for name, value in case.items() if name != "wanted"}
        for last, line in found.items():
            settings[study.SETTINGS[-1]] = last
            results.add(**settings, **line, seconds_of_case=round(seconds, 2))


@contextlib.contextmanager
def stopping_early():
    """A context with few restarts of hill climbing, and of searches over orders by default, and few
    penalties to choose from.

    Models of libraries are fitted in this process: to start others takes longer than few fits.
    """
    whole = hill_climbing.search

    def climb(state, rng, budget, restarts, *others, **named):
        return whole(state, rng, budget, min(restarts, QUICK_STEPS), *others, **named)

    def fit(function, tasks, arguments_of, *_, **__):
        for task in tasks:
            began = time.perf_counter()
            result = function(*arguments_of(task))
            yield workers.Done(task, result, None, time.perf_counter() - began)

    with (
        mock.patch.object(workers, "run", fit),
        mock.patch.object(hill_climbing, "search", climb),
        mock.patch.object(validated, "DEFAULT_PENALTIES", QUICK_PENALTIES),
        mock.patch.object(orders, "MOST_STARTS", 1),
        mock.patch.object(orders, "MOST_ITERATIONS", QUICK_STEPS),
    ):
        yield


def figures_of(study, lines):
    """All pictures of a study, by name."""
    figures = {study.NAME: study.draw(lines)} if hasattr(study, "draw") else {}
    return figures | getattr(study, "more_pictures", lambda lines: {})(lines)


def save(figure, path, dpi=100):
    """Write a figure as a PNG file with a palette, which has a third of the size."""
    content = io.BytesIO()
    figure.savefig(content, dpi=dpi)
    picture = Image.open(content).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def _at_least_1(text):
    """Parse an integer of at least 1 from the command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def main(name, arguments=None):
    """The command line of the study in the module with the given full name.

    Parameters
    ----------
    name : str
    arguments : list of str, default=None
        Default: those of the command line.
    """
    study = importlib.import_module(name)
    parser = argparse.ArgumentParser(description=study.__doc__.split("\n")[0])
    parser.add_argument(
        "--jobs", type=_at_least_1, default=getattr(study, "JOBS", -1), help="cases at a time"
    )
    parser.add_argument("--only", help=f"cases of one {study.SETTINGS[0]}")
    parser.add_argument("--out", type=Path, help="folder of results and picture")
    either = parser.add_mutually_exclusive_group()
    if "trials" in inspect.signature(study.plan).parameters:
        either.add_argument("--trials", type=_at_least_1, help="of every variant, fewer or more")
    either.add_argument("--quick", action="store_true", help="a small part, in a folder quick")
    if hasattr(study, "TAKES_DATA"):
        parser.add_argument("--data", help="folder of the data; BNMTL_DATA if not given")
    files = getattr(study, "FILES", {})
    for option, (variable, words) in files.items():
        parser.add_argument(f"--{option}", help=f"{words}; {variable} if not given")
    arguments = parser.parse_args(arguments)
    variables = {"data": "BNMTL_DATA"} | {option: one for option, (one, _) in files.items()}
    for option, variable in variables.items():
        if getattr(arguments, option, None):
            # An environment variable, because worker processes read it, too.
            os.environ[variable] = getattr(arguments, option)
    folder, pictures = arguments.out or FOLDER, arguments.out or PICTURES
    if arguments.quick:
        folder = pictures = folder / "quick" / study.NAME
        shutil.rmtree(folder, ignore_errors=True)
    results = results_of(study, folder)
    trials = getattr(arguments, "trials", None)
    try:
        cases = missing_of(study, results, arguments.quick, trials, arguments.only)
        if cases and not arguments.quick:
            exit_if_changed()
        getattr(study, "check_needs", lambda cases, lines: None)(cases, results.lines)
    except ValueError as error:
        parser.exit(2, f"{error}\n")
    began = time.perf_counter()
    with stopping_early() if arguments.quick else contextlib.nullcontext():
        run(study, results, cases, arguments.jobs)
    spent = time.perf_counter() - began
    print(f"{study.NAME}: {len(cases)} cases in {spent / 60:.1f} minutes")
    results.compress()
    lines = lines_of(study, folder)
    pictures.mkdir(parents=True, exist_ok=True)
    dpi = QUICK_DPI if arguments.quick else getattr(study, "DPI", 100)
    for name, figure in figures_of(study, lines).items():
        save(figure, pictures / f"{name}.png", dpi)
    for name, text in study.tables(lines).items():
        print(f"\n{name}\n\n{text}")
