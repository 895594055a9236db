"""Phrases that read as translated are kept out of the texts of the project."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.beside_kernels

ROOT = Path(__file__).parent.parent
FOLDERS = ("bnmtl", "structures", "data", "benchmarks", "docs", "notebooks")
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
        if (where := matches(phrase, path.read_text(encoding="utf-8")))
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
