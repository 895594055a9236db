"""Damaged text: BIF files, CSV tables, and the files that say what is known of arcs and tasks."""

import gzip

import numpy as np
import pandas as pd

from benchmarks.attack.leaks import Case, Wrong
from bnmtl import BayesNet, structures, tasks
from bnmtl.io.knowledge import read_arcs, read_task_groups, read_tiers
from bnmtl.tasks.files import csv_text

N_CHANGES = 4
CONTROLS = ["\x00", "\x1b[31m", "\x07", "\u202e", "\ufeff", "\ufffd", "\x85", "\u2028", "\ud800"]
NUMBERS = [
    "1e999",
    "-0",
    "nan",
    "inf",
    "0x10",
    "1_000",
    "\u0661",
    "9" * 400,
    "1e-400",
    "+1",
    ".5",
    "5.",
]
MARKS = ['"', "'", "{", "}", "(", ")", "[", "]", "|", ";", ",", "//", "/*", "*/", "\\", "\n", "\t"]
WORDS = {
    "BIF": [
        *("network", "variable", "probability", "property", "type discrete", "table", "default"),
        *("[ 1000000000 ]", "[ 0 ]", "[ -1 ]", "( a | b, c )", "%", "%zz", "%00", "property "),
        *("bnmtl_name = ;", "bnmtl_states = a,b;", "{}", "}" * 50, "(" * 50),
    ],
    "CSV": [
        *(",,", '""', '"a\nb"', "NA", "NaN", "=1+1", "@x", "\r", "\r\n", ",", "a,a", "a" * 20_000),
        *("True", "007", "1e5", "-", "1e309", "0.1", "inf"),
    ],
    "arcs and tiers": [
        *("from", "to", "task", "group", "a", "b", "zz", "x,y", "[", "]", "[[", '{"a":', "null"),
        *("1", "-1", "[" * 3000, '"a"', ",,,"),
    ],
}


def mutated(text, words, rng):
    """A text with some random changes."""
    for _ in range(rng.integers(1, N_CHANGES + 1)):
        text = _changed(text, words, rng)
    return text


def _changed(text, words, rng):
    a, b, c = sorted(rng.integers(0, len(text) + 1, 3))
    piece = str(rng.choice([rng.choice(NUMBERS), rng.choice(MARKS), rng.choice(words)]))
    if rng.random() < 0.1:
        piece = CONTROLS[rng.integers(len(CONTROLS))]
    near = min(b, a + int(rng.integers(1, 12)))
    return (
        text[:a] + piece + text[a:],
        text[:a] + piece + text[near:],
        text[:a] + text[near:],
        text[:a] + text[b:c] + text[a:b] + text[c:],
        text[:a],
        text + text[a:near],
        text[:near] + text[a:],
    )[int(rng.integers(7))]


def _write(path, text, rng):
    """Write a text as UTF-8, or sometimes in another way."""
    content = text.encode("utf-8", "surrogatepass")
    way = rng.random()
    if way < 0.05:
        content = text.encode("utf-16", "surrogatepass")
    elif way < 0.1:
        content = content.replace(b"a", b"\xff")
    if path.suffix == ".gz":
        content = gzip.compress(content)
        if way > 0.8:
            at = int(rng.integers(len(content)))
            content = content[:at] + content[at + int(rng.integers(0, 3)) :]
    path.write_bytes(content)


def bif(seed, folder):
    """Damaged BIF files: refused, or the network can be written and read again."""
    rng = np.random.default_rng(seed)
    names = ("asia", "sachs", "asia")
    text = structures.path(names[seed % 3]).read_text()
    path = folder / ("n.bif.gz" if seed % 5 == 0 else "n.bif")

    def read(changed, rng):
        _write(path, changed, rng)
        network = BayesNet.from_bif(path)
        again = folder / "again.bif"
        network.to_bif(again)
        same_network(network, BayesNet.from_bif(again))

    while True:
        changed, own = mutated(text, WORDS["BIF"], rng), np.random.default_rng(rng.integers(2**31))
        yield Case(short(changed, text), lambda changed=changed, own=own: read(changed, own))


def short(changed, text):
    """Where a text differs from another one."""
    at = next((i for i, (a, b) in enumerate(zip(changed, text, strict=False)) if a != b), len(text))
    return f"at {at}: {changed[max(0, at - 20) : at + 40]!r}"


def same_network(network, again):
    """Raise unless two networks are the same and their tables are probabilities."""
    if network != again:
        raise Wrong("another network after it was written and read again")
    for variable in network.states:
        table = network.table(variable)
        if not (np.isfinite(table).all() and (table >= 0).all() and np.allclose(table.sum(-1), 1)):
            raise Wrong(f"the table of {variable!r} has no probabilities")


def csv(seed, folder):
    """Damaged CSV tables: refused, or the tables can be written and read again."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    frame = pd.DataFrame({"t": rng.choice(["x", "y"], n), "a": rng.integers(0, 3, n)})
    frame["b"] = rng.choice(["u", 'v"w', "w,x", ""], n)
    frame["c"] = np.round(rng.random(n), 3)
    suffix = (".csv", ".tsv", ".csv.gz")[seed % 3]
    text = csv_text(frame)
    if suffix == ".tsv":
        text = text.replace(",", "\t")
    path, again = folder / f"rows{suffix}", folder / "again.csv"

    def read(changed, column, rng):
        _write(path, changed, rng)
        found = tasks.read(path, task_column=column)
        if column is None:  # types are inferred over all tasks together
            again.write_text(csv_text(found["rows"]), encoding="utf-8", newline="")
            if not found["rows"].equals(tasks.read(again)["again"]):
                raise Wrong("another table after it was written and read again")

    while True:
        changed, own = mutated(text, WORDS["CSV"], rng), np.random.default_rng(rng.integers(2**31))
        column = "t" if rng.random() < 0.5 else None
        call = lambda changed=changed, column=column, own=own: read(changed, column, own)  # noqa: E731
        yield Case(short(changed, text), call)


KNOWN = {
    "arcs.csv": (read_arcs, "from,to,task\na,b,x\nb,c,\nc,a,y\n"),
    "more.csv": (read_arcs, "from,to\na,b\nb,c\n"),
    "tiers.txt": (read_tiers, "a\nb,c\n"),
    "tiers.json": (read_tiers, '[["a"], ["b", "c"]]\n'),
    "groups.csv": (read_task_groups, "task,group\nx,1\ny,2\n"),
}


def knowledge(seed, folder):
    """Damaged files of arcs, tiers and groups of tasks."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": [0, 1] * 3, "b": [0, 1, 1] * 2, "c": [0, 0, 1] * 2})
    encoded = tasks.encode({"x": frame, "y": frame})

    def read(name, changed, rng):
        _write(folder / name, changed, rng)
        KNOWN[name][0](folder / name, encoded)

    while True:
        name = str(rng.choice(list(KNOWN)))
        text, own = KNOWN[name][1], np.random.default_rng(rng.integers(2**31))
        changed = mutated(text, WORDS["arcs and tiers"], rng)
        call = lambda name=name, changed=changed, own=own: read(name, changed, own)  # noqa: E731
        yield Case(f"{name}, {short(changed, text)}", call)
