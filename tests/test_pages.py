"""Every page shows names as they are, and takes none of them for markup."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import bnmtl
from bnmtl.reports.page import TEMPLATES as environment

pytestmark = pytest.mark.beside_kernels
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "b", "br", "span"),
    *("div", "figure", "img", "table", "tr", "th", "td", "details", "summary", "strong", "code"),
}
TEMPLATES = {
    name.removesuffix(".html"): environment.loader.get_source(environment, name)[0]
    for name in environment.list_templates()
}
ATTRIBUTES = {
    *("lang", "charset", "name", "http-equiv", "content", "class", "style", "title", "open"),
    *("width", "height", "alt", "src"),
}


ESC = "\x1b[31m\u202e"  # lets a terminal write in red, and from the right


def hostile(what):
    """A name that ends an attribute or a tag, and runs code, wherever it is not escaped."""
    return (
        f"{what}<img src=x onerror=alert(1)>\"'></script><script>alert(1)</script>&amp;{{x}}{ESC}"
    )


def shown_as(name):
    """How a page shows a name: its control characters are escaped."""
    return name.replace(ESC, r"\x1b[31m\u202e")


YES, HI, EAST, WEST = map(hostile, ("yes", "hi", "east", "west"))
ANSWER, COLUMN, PLACE, SCORE = map(hostile, ("answer", "column", "place", "score"))
MODELS = hostile("model1"), hostile("model2")
FILE = "<img src=x onerror=alert(1)>'&amp;{x}.csv"  # a name of a file has no slash
LEARN = (FILE, "--task-column", PLACE, "--jobs", 1)
FAST = ("--folds", 0, "--bootstrap", 0, "--penalty", 0.5, "--table-sharing", "none")
SCORES = ("--score", SCORE, "--label", ANSWER, "--positive", YES, "--task-column", PLACE)
SELECT = ("--label", ANSWER, "--metric", "accuracy", "--bags", 4, "--max-steps", 3)
QUERY = ("--label", ANSWER, "--n", 8, "--strategy", "random", "--jobs", 1)
JUDGE = ("--label", ANSWER, "--model", "forest", "--folds", 2, "--rounds", 1)

# The pages by template: the command, and the names that its page must show.
PAGES = {
    "learned": (("learn", *LEARN, *FAST), (EAST, WEST, ANSWER, COLUMN, PLACE, FILE)),
    "related": (("relate", *LEARN, "--folds", 0), (EAST, WEST, PLACE, FILE)),
    "calibrated": (("calibrate", FILE, *SCORES), (SCORE, ANSWER, YES, EAST, WEST, FILE)),
    "selected": (("select", FILE, *SELECT), (ANSWER, *MODELS, FILE)),
    "queried": (("query", FILE, *QUERY), (ANSWER, COLUMN, PLACE, YES, HI, EAST, FILE)),
    "validated": (("validate", *LEARN, *JUDGE), (ANSWER, PLACE, EAST, WEST, FILE)),
    "structures": (("validate", *LEARN, "--folds", 2, "--rounds", 2), (EAST, WEST, PLACE, FILE)),
}
# Sections of the page of `bnmtl learn` that need other options.
SECTIONS = {
    "groups of tasks": (
        ("learn", *LEARN, *FAST[:4], "--penalty", 0.5, "--task-groups", "auto"),
        (EAST, WEST, f"tried ({EAST}; {WEST})"),
    ),
}


POLICY = ('http-equiv="Content-Security-Policy"', "default-src 'none'", "base-uri 'none'")


def test_every_page_is_listed():
    pages = [name for name, text in TEMPLATES.items() if '{% extends "base.html" %}' in text]
    assert sorted(pages) == sorted(PAGES)


def test_templates_escape_all_text():
    assert environment.autoescape is True
    for name, text in TEMPLATES.items():
        assert not re.search(r"\bsafe\b|\bautoescape\b", text), name


def test_tags_are_in_templates_only():
    tags = "|".join(sorted(TAGS))
    for path in Path(bnmtl.__file__).parent.rglob("*.py"):
        text = path.read_text()
        assert not re.search(rf"</?({tags})( [a-z-]+=[^>]*)?>|\bMarkup\b", text), path


def table(page):
    """The rows that a command reads, with hostile names of columns, tasks, states and models."""
    rng = np.random.default_rng(0)
    is_yes = np.arange(60) % 5 < 2
    answer = pd.Series(np.where(is_yes, YES, "no"))
    frame = pd.DataFrame(
        {
            ANSWER: answer.where(np.arange(60) < 12) if page == "queried" else answer,
            COLUMN: np.where(is_yes ^ (rng.random(60) < 0.15), HI, "lo"),
            PLACE: np.where(np.arange(60) % 2, EAST, WEST),
        }
    )
    scores = {name: 0.4 * is_yes + 0.5 * rng.random(60) for name in MODELS}
    if page == "selected":
        return frame[[ANSWER]].assign(**scores)
    return frame.assign(**({SCORE: scores[MODELS[0]]} if page == "calibrated" else {}))


class Reader(HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.shown, self.pictures = set(), set(), [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        known = dict(attributes)
        self.shown += [known[name] for name in ("alt", "title") if name in known]
        if tag == "img":
            self.pictures.append(known["src"])

    def handle_data(self, text):
        self.shown.append(text)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [*PAGES, *SECTIONS])
def test_hostile_names_are_text(call, monkeypatch, page):
    command, names = (PAGES | SECTIONS)[page]
    table(page).to_csv(FILE, index=False)
    monkeypatch.setattr("bnmtl.plotting.png", lambda *_: b"")
    # A page shows no folder of this machine, wherever its files are.
    given = [Path.cwd() / part if part == FILE else part for part in command]
    code, out, err = call(*given, "--out", Path.cwd() / "run")
    assert code == 0, err
    assert "\x1b" not in out + err
    found = Reader(Path("run/report.html").read_text())
    assert found.tags <= TAGS and found.attributes <= ATTRIBUTES
    shown = "\n".join(found.shown)
    assert [name for name in names if shown_as(name) not in shown] == []
    text = Path("run/report.html").read_text()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert all(part in text for part in POLICY) and "<script" not in text
    assert str(Path.cwd()) not in text and str(Path.home()) not in text
    assert "&lt;" not in shown and "&amp;amp;" not in shown
    for source in found.pictures:
        kind, _, content = source.partition(";base64,")
        assert kind == "data:image/svg+xml"
        for one in ElementTree.fromstring(base64.b64decode(content)).iter():
            assert not re.search("script|image|foreign", str(one.tag))
            assert not [name for name in one.attrib if name.startswith("on")]
