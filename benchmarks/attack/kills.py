"""Real commands that are killed while they write, and writers of one place at once."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import numpy as np
import pandas as pd

from benchmarks.attack.leaks import Case, Wrong
from bnmtl import ensembles
from bnmtl.cli.main import main
from bnmtl.errors import InputError
from bnmtl.io import read_run
from bnmtl.writing import write_whole

LEARN = (
    "--task-column",
    "t",
    "--folds",
    "0",
    "--bootstrap",
    "0",
    "--penalty",
    "0.5",
    "--jobs",
    "1",
)
LEARN += ("--table-sharing", "none", "--force")
WRITING = 1.5  # seconds that a command writes, pictures included
KILLS = {"SIGKILL": -signal.SIGKILL, "SIGTERM": 128 + signal.SIGTERM}


def rows(path, seed=0, n=60):
    """Write a table of two tasks."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 2, n), "t": np.where(np.arange(n) % 2, "x", "y")})
    frame["b"] = np.where(rng.random(n) < 0.9, frame["a"], 1 - frame["a"])
    frame.to_csv(path, index=False)


def command(*arguments):
    """The exit code and the errors of a command in this process."""
    errors = io.StringIO()
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(errors),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            return end.code, errors.getvalue()


def _succeed(*arguments):
    code, errors = command(*arguments)
    if code != 0:
        raise Wrong(f"`{arguments[0]}` ends with {code}: {errors[:300]}")


def kills(seed, folder):
    """`bnmtl learn --force` into one folder, killed at a random moment of its writing.

    Afterwards readers get the old run, the new one, or one sentence, and the next `--force`
    succeeds and leaves nothing over.
    """
    rng = np.random.default_rng(seed)
    rows(folder / "rows.csv")
    run = folder / "place" / "run"
    mine = run / "mine.txt"
    _learn(folder, run, 0)
    for at in range(10**6):
        kind = list(KILLS)[int(rng.integers(2))]
        after, beside = float(rng.random() * WRITING), bool(rng.random() < 0.5)

        def use(kind=kind, after=after, beside=beside, at=at):
            if beside:
                mine.write_text("mine")
            else:
                mine.unlink(missing_ok=True)
            code, errors = _killed(folder, run, 2 * at + 1, KILLS[kind], after)
            if code not in (0, KILLS[kind]):
                raise Wrong(f"it ends with {code}: {errors[-1500:]}")
            known = (2 * at, 2 * at + 1)
            try:
                found = read_run(run).settings["seed"]
            except InputError:
                found = known[0]
            if found not in known:
                raise Wrong(f"the run is neither the old nor the new one, but {found}")
            _learn(folder, run, 2 * at + 2)
            if read_run(run).settings["seed"] != 2 * at + 2:
                raise Wrong("another run after the next one")
            if [path.name for path in run.parent.iterdir()] != ["run"]:
                raise Wrong(f"left over: {os.listdir(run.parent)}")
            expected = {
                *json.loads((run / "run.json").read_text())["files"],
                *["mine.txt"] * beside,
            }
            if set(os.listdir(run)) != expected:
                raise Wrong(f"other files: {sorted(set(os.listdir(run)) ^ expected)}")
            if beside and mine.read_text() != "mine":
                raise Wrong("a file of the user was changed")

        yield Case(f"{kind} {at} after {after:.3f} s, {'a file' if beside else 'none'} beside", use)


def _learn(folder, run, seed):
    _succeed("learn", folder / "rows.csv", *LEARN, "--out", run, "--seed", seed)


def _killed(folder, run, seed, code, after):
    """Exit code and errors of a command that is killed some time after it has begun to write."""
    number = -code if code < 0 else code - 128
    words = [sys.executable, "-m", "bnmtl", "learn", folder / "rows.csv", *LEARN]
    words += ["--out", run, "--seed", str(seed)]
    # With the place in the code if the interpreter itself fails.
    shown = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=errors, env=shown) as process,
    ):
        while process.poll() is None and not any(
            name.endswith(".new") for home in (run.parent, run) for name in os.listdir(home)
        ):
            time.sleep(0.0005)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        process.send_signal(number)
        process.wait()
        errors.seek(0)
        return process.returncode, errors.read()


def writers(seed, folder):
    """Processes that append to one store, learn into one folder, or write one file, at once."""
    rng = np.random.default_rng(seed)
    ways = [_appending, _learning, _one_file]
    rows(folder / "rows.csv")
    for at in range(10**6):
        own, way = int(rng.integers(2**31)), ways[at % len(ways)]
        place = folder / f"writers-{at}"
        yield Case(
            f"{way.__name__.strip('_')} {own}", lambda w=way, o=own, p=place: w(p, o, folder)
        )


def _forks(works):
    """Do some works in a process each, all started together; returns their exit codes."""
    gate, children = os.pipe(), []
    for work in works:
        child = os.fork()
        if not child:
            code = 1
            try:
                os.close(gate[1])
                os.read(gate[0], 1)
                code = work() or 0
            except InputError:
                code = 2
            finally:
                os._exit(code)
        children.append(child)
    os.close(gate[0])
    os.close(gate[1])
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _appending(place, own, folder, n_processes=3, n_models=8):
    rng = np.random.default_rng(own)
    y = np.array([0, 1] * 5)
    ensembles.PredictionStore(rng.random((1, 10)), y).save(place)

    def work(process):
        store = ensembles.PredictionStore.open(place)
        for model in range(n_models):
            store.append(np.full((1, 10), (1 + process) / 10), [f"p{process}-{model}"])

    codes = _forks([lambda process=process: work(process) for process in range(n_processes)])
    store = ensembles.PredictionStore.open(place)
    found = dict(zip(store.names, np.asarray(store.predictions())[:, 0], strict=True))
    for process, code in enumerate(codes):
        names = [name for name in found if name.startswith(f"p{process}-")]
        if code not in (0, 2) or (code == 0 and len(names) < n_models):
            raise Wrong(f"process {process} ends with {code} and has {len(names)} models")
        if any(abs(found[name] - (1 + process) / 10) > 1e-6 for name in names):
            raise Wrong("models have the predictions of others")


def _learning(place, own, folder):
    def work(seed):
        code, _ = command(
            "learn", folder / "rows.csv", *LEARN, "--out", place / "run", "--seed", seed
        )
        return code

    codes = _forks([lambda seed=seed: work(seed) for seed in (1, 2)])
    if not set(codes) <= {0, 2} or 0 not in codes:
        raise Wrong(f"they end with {codes}")
    found = read_run(place / "run")
    if codes[found.settings["seed"] - 1] != 0:
        raise Wrong("the run is of the command that was refused")
    others = set(os.listdir(place / "run")) ^ set(found.record["files"])
    if others or os.listdir(place) != ["run"]:
        raise Wrong(f"left over: {sorted(others)}, {os.listdir(place)}")


def _one_file(place, own, folder, n_threads=4):
    place.mkdir()
    path = place / "network.bif"
    contents = [bytes([97 + thread]) * 50_000 for thread in range(n_threads)]
    write_whole(path, contents[0])

    def work(content):
        for _ in range(20):
            write_whole(path, content)

    threads = [threading.Thread(target=work, args=[content]) for content in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.read_bytes() not in contents:
            raise Wrong("a torn file")
    if os.listdir(place) != ["network.bif"]:
        raise Wrong(f"left over: {os.listdir(place)}")
