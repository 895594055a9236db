"""Phrases that read as translated are kept out of the texts of the project."""

import ast
import functools
import io
import re
import tokenize
from pathlib import Path

import pytest

pytestmark = pytest.mark.beside_kernels

ROOT = Path(__file__).parent.parent
FOLDERS = ("bnmtl", "structures", "data", "benchmarks", "docs", "notebooks", "tests")
NAMED = (ast.ClassDef, ast.FunctionDef)
# What to write instead stands beside it.
PHRASES = {
    r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more|better|worse|nearer)\w": "is not a",
    r"\bbut for\b": "except for",
    r"\banew\b": "again",
    r"\b(?:is|are) told\b": "is reported",
    r"\btold by\b": "reported by",
    r"\btell(?:s|ing)? apart\b": "distinguish",
    r"\b(?:is|are) had by\b": "comes from",
    r"\bhas no say\b|\bno say in\b": "does not affect",
    r"\bwhat (?:becomes|has become|has come|came) of\b": "how ... is handled",
    r"\bthere where\b": "where",
    r"\bwhichever way\b": "in either direction",
    r"\bin vain\b": "without improvement",
    r"\bfor sure\b": "significantly",
    r"\bsurer\b": "more certain",
    r"\bhoped for (?:is|are|was|were)\b": "the goal was",
    r"\bstrongest rival\b": "strongest baseline",
    r"\ba user's own\b": "custom",
    r"\bas good as missing\b": "treated as missing",
    r"\bof another type\b": "has a wrong type",
    r"\bout of its range\b": "out of range",
    r"\blengths that differ\b": "different lengths",
    r"\bthe larger the better\b": "larger is better",
    r"\bthe others(?: being)? given\b": "given the others",
    r"\bnot known to pyplot\b": "not registered in pyplot",
    r"\bas a rule\b": "usually",
    r"\bthe more so\b": "above all",
    r"\bin the stead of\b": "instead of",
}


def texts():
    """All files that people read, relative to the project's folder."""
    found = [path for path in ROOT.glob("*.md")]
    for folder in FOLDERS:
        for kind in ("*.py", "*.md", "*.ipynb"):
            found += sorted((ROOT / folder).rglob(kind))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


@functools.cache
def text_of(path):
    """The text of a file; of tests, which quote bad examples, only what is written for readers."""
    text = path.read_text(encoding="utf-8")
    is_test = path.suffix == ".py" and path.is_relative_to(ROOT / "tests")
    return prose(text) if is_test else text


def prose(source):
    """Docstrings, names of functions and classes, and comments of Python code."""
    parts = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, *NAMED)):
            parts.append(ast.get_docstring(node) or "")
        if isinstance(node, NAMED):
            parts.append(node.name.replace("_", " "))
    return ";".join([*parts, comments(source)])


def comments(source):
    """The comments of Python code; those on neighboring lines stay together."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    kept = (tokenize.COMMENT, tokenize.NL)
    return "".join(token.string if token.type in kept else ";" for token in tokens)


def matches(phrase, text):
    """Where a phrase stands, lines joined as a reader joins them."""
    joined = re.sub(r"\s*\n[\s#>\"]*", " ", text)
    return [
        joined[max(0, m.start() - 30) : m.end() + 30] for m in re.finditer(phrase, joined, re.I)
    ]


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_text_has(phrase):
    files = texts()
    assert len(files) > 200
    found = {
        str(path.relative_to(ROOT)): where
        for path in files
        if (where := matches(phrase, text_of(path)))
    }
    assert not found, f"write {PHRASES[phrase]!r}"


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("It is no graph.", True),
        ("If the graph is\n        no DAG", True),
        ("There is no graph.", False),
        ("It is no longer there.", False),
        ("It is not a graph.", False),
    ],
)
def test_the_first_phrase(text, has):
    assert bool(matches(next(iter(PHRASES)), text)) == has


@pytest.mark.parametrize(
    ("source", "has"),
    [
        ('"""It is no graph."""', True),
        ("def test_it_is_no_graph(): ...", True),
        ("# A comment on two lines is\n# no graph.", True),
        ("x = 1  # it is\ny = 2  # no graph", False),
        ("x = 'it is no graph'", False),
    ],
)
def test_prose_of_tests(source, has):
    assert bool(matches(next(iter(PHRASES)), prose(source))) == has
