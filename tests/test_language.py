"""Phrases that read as translated are kept out of texts, and vague words out of names."""

import ast
import functools
import io
import json
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
    r"\b(?:is|are|be|been|was|were) told\b": "is reported",
    r"\btold (?:by|of)\b": "reported by",
    r"\b(?:tell(?:s|ing)?|told) apart\b": "distinguish",
    r"\btell(?:s|ing)? (?:of|little|nothing)\b": "reports",
    r"\binform(?:s|ing)? (?:each other|one another)\b": "learn from each other",
    r"\b(?:has|have|had) cut\b(?! short)": "discretized",
    r"\bnumbers? (?:is|are|was|were|that learning has) cut\b": "are discretized",
    r"\bwords of (?:its|their|his|your) own\b": "in a separate warning",
    r"\bwhat comes of\b": "the effect of",
    r"\b(?:that|which) comes? later\b": "new",
    r"\bothers than (?:those|the)\b": "not",
    r"\blooks? better than (?:it is|they are)\b": "looks too good",
    r"\bno more[.;,]": "not ... any more",
    r"\bis what \S+ was learned from\b": "was used for learning",
    r"\bas so many\b": "with this number of",
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
# As first or last words of names.
VAGUE = {
    *("apart", "demands", "derived", "met", "own", "parted", "remembered", "settling"),
    *("strangers", "taking", "told"),
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
    """What people read of a file: the prose of code and the cells of notebooks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return ";".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return prose(text, quotes=path == Path(__file__)) if path.suffix == ".py" else text


@functools.cache
def tree_of(source):
    """The syntax tree of Python code."""
    return ast.parse(source)


def prose(source, quotes=False):
    """Strings, names of functions and classes, and comments of Python code.

    Of a file that quotes bad examples, only docstrings of the strings.
    """
    parts, tree = [comments(source)], tree_of(source)
    for node in ast.walk(tree):
        if isinstance(node, NAMED):
            parts.append(node.name.replace("_", " "))
        if quotes and isinstance(node, (ast.Module, *NAMED)):
            parts.append(ast.get_docstring(node) or "")
        elif not quotes and isinstance(node, ast.JoinedStr):
            parts.append(ast.unparse(node))
        elif not quotes and isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts.append(node.value)
    return ";".join(parts)


def comments(source):
    """The comments of Python code; those on neighboring lines stay together."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    kept = (tokenize.COMMENT, tokenize.NL)
    return "".join(token.string if token.type in kept else ";" for token in tokens)


def matches(phrase, text):
    """Where a text has a phrase, which may go over several lines."""
    line = in_one_line(text)
    return [line[max(0, m.start() - 30) : m.end() + 30] for m in re.finditer(phrase, line, re.I)]


@functools.cache
def in_one_line(text):
    return re.sub(r"\s*\n[\s#>\"]*", " ", text)


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
        ("x = 'it is ' \\\n 'no graph'", True),
        ("x = f'{it} is ' \\\n 'no graph'", True),
    ],
)
def test_prose_of_code(source, has):
    assert bool(matches(next(iter(PHRASES)), prose(source))) == has


def test_a_file_of_bad_examples_is_read_without_them():
    source = '"""It is no graph."""\nx = "it is no tree"  # it is no path'
    assert len(matches(next(iter(PHRASES)), prose(source))) == 3
    assert len(matches(next(iter(PHRASES)), prose(source, quotes=True))) == 2


def names_in(tree):
    """Names that Python code gives: definitions, parameters, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname


def words_at_the_ends(name):
    """The first and last word of a name such as `own_tables`, `OWN_TABLES` or `OwnTables`."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return {word.lower() for word in (*words[:1], *words[-1:])}


@pytest.mark.parametrize("folder", ["bnmtl", "benchmarks", "tests"])
def test_names_say_something_to_a_stranger(folder):
    found = set()
    for path in sorted((ROOT / folder).rglob("*.py")):
        names = {path.stem, *names_in(tree_of(path.read_text(encoding="utf-8")))}
        found |= {(path.name, name) for name in names if words_at_the_ends(name) & VAGUE}
    assert not found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own", {"own"}),
        ("_own_tables", {"own", "tables"}),
        ("OWN_TABLES", {"own", "tables"}),
        ("PairsMet", {"pairs", "met"}),
        ("known_folds", {"known", "folds"}),
        ("_2", set()),
    ],
)
def test_words_at_the_ends(name, words):
    assert words_at_the_ends(name) == words
