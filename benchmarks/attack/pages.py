"""Names that are markup, quotes or control characters on every page: they are text there."""

import contextlib
import os
import warnings
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pandas as pd

from benchmarks.attack.kills import command
from benchmarks.attack.leaks import Case, Wrong

PAYLOADS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "</title><h1>x</h1>",
    "</style><style>*{display:none}</style>",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[",
    "&lt;b&gt;",
    "&#60;b&#62;",
    "&amp;amp;",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{x}",
    "%s%n",
    "javascript:alert(1)",
    "' onmouseover='alert(1)",
    '" style="x',
    "`${1}`",
    "\x1b[31mred",
    "\x00",
    "\x07\x08",
    "\u202egnp",
    "\u2028",
    "\ufeff",
    "\x85",
    "$\\frac{1}{0}$",
    "$x",
    "\\",
    "=1+1",
    "@sum",
    "a" * 300,
    "\U0001f426",
    "\u0301",
]
FAST = ("--folds", 0, "--bootstrap", 0, "--penalty", 0.5, "--table-sharing", "none", "--jobs", 1)


def _names(payload):
    """Names in a fixed order, whatever the payload, because the order decides between ties."""
    kinds = ("answer", "column", "place", "score", "yes", "hi", "east", "west", "model1", "model2")
    return {kind: f"{kind}{payload}" for kind in kinds}


def _commands(names):
    """The commands that write a page, by name."""
    answer, place = names["answer"], names["place"]
    judge = ("--label", answer, "--model", "forest", "--folds", 2, "--rounds", 1, "--jobs", 1)
    scored = ("--score", names["score"], "--label", answer, "--positive", names["yes"])
    return {
        "learn": ("--task-column", place, *FAST),
        "relate": ("--task-column", place, "--folds", 0, "--jobs", 1),
        "calibrate": (*scored, "--task-column", place),
        "select": ("--label", answer, "--metric", "accuracy", "--bags", 4, "--max-steps", 3),
        "query": ("--label", answer, "--n", 8, "--strategy", "random", "--jobs", 1),
        "validate": ("--task-column", place, *judge),
        "validate structures": ("--task-column", place, "--folds", 2, "--rounds", 2, "--jobs", 1),
    }


def _rows(page, names):
    """The table that a command reads."""
    rng = np.random.default_rng(0)
    is_yes = np.arange(60) % 5 < 2
    answer = pd.Series(np.where(is_yes, names["yes"], "no"))
    frame = pd.DataFrame(
        {
            names["answer"]: answer.where(np.arange(60) < 12) if page == "query" else answer,
            names["column"]: np.where(is_yes ^ (rng.random(60) < 0.15), names["hi"], "lo"),
            names["place"]: np.where(np.arange(60) % 2, names["east"], names["west"]),
        }
    )
    models = {names[model]: 0.4 * is_yes + 0.5 * rng.random(60) for model in ("model1", "model2")}
    if page == "select":
        return frame[[names["answer"]]].assign(**models)
    return frame.assign(
        **({names["score"]: models[names["model1"]]} if page == "calibrate" else {})
    )


class _Structure(HTMLParser):
    """How often each tag with its attributes is on a page, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.shown = Counter(), []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags[tag, tuple(sorted(name for name, _ in attributes))] += 1
        self.shown += [value for name, value in attributes if name in ("alt", "title")]

    def handle_data(self, text):
        self.shown.append(text)


def _page(page, payload, folder):
    """The page of a command about names with a payload, or None if it refuses them."""
    names, home = _names(payload), folder / "home-of-a-user"
    home.mkdir(exist_ok=True)
    rows = home / "rows.csv"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(rows)
    _rows(page, names).to_csv(rows, index=False)
    out = home / "run"
    arguments = (*page.split()[:1], rows, *_commands(names)[page], "--out", out, "--force")
    code, errors = command(*arguments)
    if code == 2:
        if errors.count("\n") != 1 or not errors.startswith("bnmtl: "):
            raise Wrong(f"not one line: {errors[:200]!r}")
        return None
    if code != 0:
        raise Wrong(f"ends with {code}: {errors[:200]!r}")
    if any(ord(sign) < 32 and sign != "\n" for sign in errors):
        raise Wrong(f"control characters on the terminal: {errors[:200]!r}")
    return (out / "report.html").read_text(encoding="utf-8")


def pages(seed, folder):
    """Each page with each payload has the elements that it has with harmless names."""
    rng = np.random.default_rng(seed)
    harmless = {}

    def use(page, payload):
        if page not in harmless:
            harmless[page] = _Structure(_page(page, "", folder)).tags
        text = _page(page, payload, folder)
        if text is None:
            return
        found = _Structure(text)
        others = {tag for tag in found.tags if tag not in harmless[page]}
        if others:
            raise Wrong(f"{page} has other elements: {sorted(others)[:5]}")
        if "home-of-a-user" in text:
            raise Wrong(f"{page} shows the path of a folder of the user")
        if payload.isprintable() and payload not in "".join(found.shown):
            raise Wrong(f"{page} does not show {payload!r}")

    names = list(_commands(_names("")))
    while True:
        for page in names:
            some = rng.choice(PAYLOADS, rng.integers(1, 4), replace=False)
            payload = "".join(map(str, some))
            yield Case(f"{page}: {payload[:80]!r}", lambda p=page, q=payload: use(p, q))


def options(seed, folder):
    """Options of all commands with odd values: one line, or a run."""
    from dataclasses import fields

    from bnmtl.cli import options as declared

    rng = np.random.default_rng(seed)
    kinds = {
        "learn": declared.Options,
        "relate": declared.RelateOptions,
        "calibrate": declared.CalibrateOptions,
        "select": declared.SelectOptions,
        "query": declared.QueryOptions,
        "validate": declared.ValidateOptions,
    }
    odd = [
        "",
        " ",
        "-1",
        "0",
        "1",
        "2",
        "0.5",
        "1e9",
        "1e999",
        "nan",
        "inf",
        "x",
        "a,b",
        "rows.csv",
    ]
    odd += [
        "\x1b[31m",
        "\u0661",
        "9" * 400,
        "..",
        "/",
        "none",
        "auto",
        "1_0",
        "0x1",
        "--force",
        "=",
    ]

    def use(page, name, value, is_flag):
        names = _names("")
        os.chdir(folder)
        _rows(page, names).to_csv("rows.csv", index=False)
        arguments = (page, "rows.csv", *_commands(names)[page], "--out", "run", "--force")
        arguments += (f"--{name.replace('_', '-')}", *([] if is_flag else [value]))
        with warnings.catch_warnings(action="ignore"):
            code, errors = command(*arguments)
        if code == 2 and (errors.count("\n") != 1 or not errors.startswith("bnmtl: ")):
            raise Wrong(f"not one line: {errors[:300]!r}")
        if code not in (0, 2):
            raise Wrong(f"ends with {code}: {errors[:300]!r}")
        if any(ord(sign) < 32 and sign != "\n" for sign in errors):
            raise Wrong(f"control characters on the terminal: {errors[:200]!r}")

    while True:
        page = str(rng.choice(list(kinds)))
        some = [one for one in fields(kinds[page]) if one.name not in ("out", "force", "tables")]
        one = some[int(rng.integers(len(some)))]
        value, is_flag = str(rng.choice(odd)), one.type is bool or one.default is False
        call = lambda p=page, n=one.name, v=value, f=is_flag: use(p, n, v, f)  # noqa: E731
        yield Case(f"{page} --{one.name} {value[:40]!r}", call)
