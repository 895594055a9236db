"""Folders from strangers: their run.json, their journals, their links, and names of every kind."""

import contextlib
import copy
import json
import os
import shutil

import networkx as nx
import numpy as np

from benchmarks.attack.leaks import Case, Wrong
from benchmarks.attack.texts import CONTROLS, mutated, same_network
from bnmtl import BayesNet, io, writing
from bnmtl.errors import InputError
from bnmtl.io.run import RUN_FILE, digest, write_record
from bnmtl.writing import OutputFolder, check_complete

ODD = [None, True, 0, -1, 1e300, 10**400, "", "..", "run.json", "../victim", [], {}, [[]], [None]]
ODD += [{"a": {}}, ["x", 1], "/etc/hostname", "a\0b", "x" * 5000, "\ud800", {"": {"": [""]}}]
WORDS = ["NaN", "Infinity", "1e999", "9" * 400, "[" * 2000, '{"a":' * 2000, "null", '"', "\\u0000"]
WORDS += ['"digests": {},', '"tasks": [],', '"files": ["../victim"],', "}{", "\ufeff"]


def network(states=("no", "yes"), names=("a", "b")):
    """A small network."""
    first, second = names
    tables = {first: [0.3, 0.7], second: [[0.2, 0.8], [0.6, 0.4]]}
    return BayesNet(nx.DiGraph([(first, second)]), dict.fromkeys(names, states), tables)


def a_run(path):
    """A folder as `bnmtl learn` writes it, with what readers need."""
    path.mkdir()
    network().to_bif(path / "x.bif")
    (path / "arcs.csv").write_text("from,to\na,b\n")
    files = ["x.bif", "arcs.csv"]
    record = {
        "program": "bnmtl",
        "command": "learn",
        "settings": {"task_column": "t", "group": None, "na": [], "only_na": []},
        "files": sorted([*files, RUN_FILE]),
        "tasks": [{"name": "x", "file": "x.bif", "constant": []}],
        "cut_points": {"a": [0.5]},
        "sha256": [],
    }
    write_record(path, record, {name: digest(path / name) for name in files})


def _changed_value(record, rng):
    """A record in which one value is missing or another one; its digest is not made again."""
    record = copy.deepcopy(record)
    inside, key = {"": record}, ""
    while key == "" or (
        isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8
    ):
        inside = inside[key]
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = keys[rng.integers(len(keys))]
    if rng.random() < 0.2:
        del inside[key]
    else:
        inside[key] = ODD[rng.integers(len(ODD))]
    return record, f"{key} is {inside.get(key) if isinstance(inside, dict) else '...'!r}"[:80]


# What a run in the folder `run` may replace or remove.
LISTED = ["run/x.bif", "run/arcs.csv", f"run/{RUN_FILE}"]


def snapshot(folder):
    """What is in a folder, by path: targets of links, contents of files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def check_kept(before, folder, listed, inside=""):
    """Raise unless all files are as before, except those that a record of a run lists.

    New files must be in the folder `inside`.
    """
    after = snapshot(folder)
    for name in set(after) - set(before):
        if not name.startswith(inside) and not name.startswith(".bnmtl-"):
            raise Wrong(f"{name} was made, which is not in the folder of the run")
    for name, content in before.items():
        is_hidden = name.startswith(".bnmtl-") or "/.bnmtl-" in name
        if name not in listed and not is_hidden and after.get(name) != content:
            gone = "is gone" if name not in after else "was changed"
            raise Wrong(f"{name}, which is not of the run, {gone}")


def _fresh(folder):
    """An empty place with a file of somebody's beside it."""
    place = folder / "place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "victim").write_text("mine")
    a_run(place / "run")
    return place


def _use(run):
    """Read a run and write into its folder; returns the sentence if that was refused."""
    mistakes = []
    for use in (io.read_run, _write_into):
        try:
            use(run)
        except InputError as mistake:
            mistakes.append(mistake)
    for mistake in mistakes:
        raise mistake


def _write_into(run):
    with io.run.run_folder(run, force=True) as output, output.writing() as new:
        (new / "x.bif").write_text("new")
        write_record(new, {"files": ["x.bif", RUN_FILE]}, {})


def records(seed, folder):
    """Runs whose run.json has other values or other text; the digests are made again, or not."""
    rng = np.random.default_rng(seed)

    def use(change):
        place = _fresh(folder)
        run = place / "run"
        text = (run / RUN_FILE).read_text()
        (run / "mine.txt").write_text("mine")
        changed = change(text)
        if isinstance(changed, dict):
            digests = changed.pop("digests", None)
            digests = digests if isinstance(digests, dict) else {}
            try:
                write_record(run, changed, digests)
            except (ValueError, TypeError):  # not JSON, so nobody can write it
                return
        else:
            (run / RUN_FILE).write_bytes(changed.encode("utf-8", "surrogatepass"))
        before = snapshot(place)
        try:
            _use(run)
        finally:
            check_kept(before, place, LISTED, "run/")

    a_run_text = _a_text(folder)
    while True:
        if rng.random() < 0.6:
            changed, what = _changed_value(json.loads(a_run_text), rng)
            change = lambda text, changed=changed: copy.deepcopy(changed)  # noqa: E731
        else:
            changed = mutated(a_run_text, WORDS, rng)
            what = f"text of {len(changed)} characters"
            change = lambda text, changed=changed: changed  # noqa: E731
        yield Case(what, lambda change=change: use(change))


def _a_text(folder):
    place = _fresh(folder)
    return (place / "run" / RUN_FILE).read_text()


# Names in journals: some that look like those of a run, of which a journal holds most, and others.
PLAIN = ["a", "b/c", "mine.txt", "x.bif", RUN_FILE, "arcs.csv", "link/b", "a/b", "deep/er"]
STRANGE = ["victim", "../victim", "../b", "link/victim", ".", "..", "", "/", "a/../../victim"]
STRANGE += [".bnmtl-journal.json", ".bnmtl-aside/a", "A", "a\0b", "x" * 300, "\ud800", "b\\c"]
STRANGE += ["link", "run.json/a", "../../b", "link/../../b"]
# Files in the hidden folder.
THEIRS = ["a", "x.bif", "mine.txt", "victim", "b", "link/b", "link/victim", "deep/er", "b/c"]


def _place_of_strangers(place, rng):
    """Fill a place with hidden folders, links, journals and files as no run leaves them."""
    run, what = place / "run", []
    (run / "mine.txt").write_text("mine")
    for _ in range(rng.integers(0, 4)):
        other = run / str(rng.choice(["link", "b", "a", "x.bif", "pipe", "deep/er"]))
        other.parent.mkdir(exist_ok=True)
        if os.path.lexists(other):
            continue
        kind = int(rng.integers(4))
        what.append(f"{other.name} is {('a link', 'dangling', 'a pipe', 'a folder')[kind]}")
        if kind < 2:
            other.symlink_to(".." if kind == 0 else "nowhere")
        elif kind == 2:
            os.mkfifo(other)
        else:
            other.mkdir()
            (other / "mine").write_text("mine")
    for home, suffix in ((place, "new"), (place, "old"), (run, "new")):
        if rng.random() < 0.6:
            hidden = writing._hidden(home, run, suffix)
            what.append(f"{suffix} in {home.name}: {_hidden_one(hidden, place, rng)}")
    if rng.random() < 0.2:
        writing._hidden(place, run, "lock").symlink_to("victim")
        what.append("the lock is a link")
    if rng.random() < 0.1:
        shutil.rmtree(run)
        what.append("no run")
    return "; ".join(what) or "nothing odd"


_KEYS = ("old", "new")


def fill(folder, names):
    """Write small files with some names, of those that can stand beside each other."""
    for name in names:
        with contextlib.suppress(OSError):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("theirs")


def _hidden_one(hidden, place, rng):
    """Make what stands at a hidden name; returns what."""
    kind = rng.random()
    if kind < 0.15:
        hidden.symlink_to(place)
        return "a link"
    if kind < 0.2:
        hidden.write_text("a file")
        return "a file"
    hidden.mkdir()
    fill(hidden, map(str, rng.choice(THEIRS, 3, replace=False)))
    if rng.random() < 0.3:
        (hidden / ".bnmtl-aside").symlink_to(place)
    if rng.random() < 0.2:
        a_run(hidden / "inside")
        (hidden / RUN_FILE).write_text((hidden / "inside" / RUN_FILE).read_text())
    journal = {key: [str(one) for one in rng.choice(PLAIN, rng.integers(3))] for key in _KEYS}
    if rng.random() < 0.4:
        journal[_KEYS[int(rng.integers(2))]].append(str(rng.choice(STRANGE)))
    text = json.dumps(journal) if rng.random() < 0.8 else mutated(json.dumps(journal), WORDS, rng)
    if kind > 0.3:
        (hidden / ".bnmtl-journal.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    return f"journal {text[:100]}" if kind > 0.3 else "no journal"


def journals(seed, folder):
    """Hidden folders, journals and links by strangers, at the names that writers use."""
    rng = np.random.default_rng(seed)
    while True:
        own = int(rng.integers(2**31))

        def use(own=own):
            place = _fresh(folder)
            what = _place_of_strangers(place, np.random.default_rng(own))
            before = snapshot(place)
            try:
                _use(place / "run")
            finally:
                try:
                    check_kept(before, place, LISTED, "run/")
                except Wrong as wrong:
                    raise Wrong(f"{wrong}: {what}") from None

        yield Case(f"journals {own}", use)


def names(seed, folder):
    """Tasks, variables and states with names of every kind: files differ, networks come back."""
    rng = np.random.default_rng(seed)
    characters = [*"aAbB._-+/\\ \"'{}|;,()%=\u00e9\u0301\u00df\u4e2d\u0130\u0131\u017f", *CONTROLS]

    def a_name():
        base = "".join(rng.choice(characters, rng.integers(1, 6)))
        return base * int(rng.choice([1, 1, 1, 1, 400]))

    def use(some, states, variables):
        files = writing.file_names(some, ".bif", reserved=["run.json"])
        folded = {writing._folded(name) for name in files.values()}
        if len(folded) < len(set(some)) or any(len(os.fsencode(f)) > 255 for f in files.values()):
            raise Wrong(f"names of files that are not different or too long: {files!r}"[:200])
        target = folder / next(iter(files.values()))
        made = network(states, variables)
        try:
            made.to_bif(target)
            same_network(made, BayesNet.from_bif(target))
        finally:
            target.unlink(missing_ok=True)

    while True:
        some = [a_name() for _ in range(rng.integers(1, 6))]
        states, variables = ([a_name() + "1", a_name() + "2"] for _ in range(2))
        call = lambda some=some, s=states, v=variables: use(some, s, v)  # noqa: E731
        yield Case(f"{some[:2]!r} {states!r} {variables!r}"[:150], call)


def paths(seed, folder):
    """Output folders and files with paths that lead nowhere, or to something else."""
    rng = np.random.default_rng(seed)
    parts = ["a", "b", "..", ".", "", "link", "file", "pipe", "loop", "run", "x" * 256, "a\0b"]
    parts += ["\ud800", "a/" * 2100, "\u00e9", " ", "~", "-", "CON", "a\nb", "link2"]

    def use(name, force):
        place = _fresh(folder)
        (place / "file").write_text("mine")
        os.mkfifo(place / "pipe")
        for link, target in (("loop", "loop"), ("link", "run"), ("link2", "nowhere")):
            (place / link).symlink_to(target)
        before = snapshot(place)
        path = f"{place}/{name}"
        mistakes = []
        for call in (
            lambda: _write_new(path, force),
            lambda: check_complete(path, lambda _: None),
            lambda: io.read_run(path),
            lambda: network().to_bif(path + ".bif"),
        ):
            try:
                call()
            except InputError as mistake:
                mistakes.append(mistake)
        inside = os.path.realpath(path) if "\0" not in path and "\ud800" not in path else ""
        is_run = inside == os.path.realpath(place / "run")
        check_kept(before, place, LISTED * is_run)
        for mistake in mistakes:
            raise mistake

    while True:
        name = "/".join(map(str, rng.choice(parts, rng.integers(1, 4))))
        if os.path.normpath(name).startswith(".."):
            continue
        force = bool(rng.random() < 0.5)
        yield Case(f"{name[:60]!r}, force={force}", lambda n=name, f=force: use(n, f))


def _write_new(path, force):
    earlier = io.run._files_of_run
    with OutputFolder(path, force, earlier, last=RUN_FILE) as output, output.writing() as new:
        (new / "x.bif").write_text("new")
        write_record(new, {"files": ["x.bif", RUN_FILE]}, {})
