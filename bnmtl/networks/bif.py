"""BIF files of networks: parsing, reading and writing.

The dialect is the Interchange Format for Bayesian Networks 0.15 as written by bnlearn, JavaBayes,
pgmpy and pyAgrum.

Names and states may have blanks, as R's bnlearn writes them. In a list of states and in a row, what
stands between two commas is one state; without commas, words are states. In the head of a
probability block, `|` and `,` are blanks (BIF 0.15), and unquoted words are one name or several,
whichever is declared.
"""

import gzip
import itertools
import os
import re
import zlib
from array import array
from pathlib import Path
from typing import NamedTuple, NoReturn
from urllib.parse import quote, unquote

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError, located, warn
from bnmtl.networks.tables import (
    LARGEST_TABLE,
    MOST_AXES,
    SUM_TOLERANCE,
    fits,
    n_cells,
    shown_cells,
)
from bnmtl.reading import Cells, check_text, content_of
from bnmtl.wording import count, either, listed, type_of
from bnmtl.writing import write_whole

NAME_PROPERTY = "bnmtl_name"
STATES_PROPERTY = "bnmtl_states"

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*[\s\S]*?\*/)
    |(?P<token>"[^"\n]*"|[{}()\[\],;|]|(?:(?!//|/\*)[^\s{}()\[\],;|"\x00-\x1f\x7f])+)
    |(?P<bad>.)""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MARKS = frozenset("{}()[],;|")
# Marks that end neither a name nor a state, but a block or a statement.
_ENDS = frozenset("{};")
MOST_STATES = 10_000
# Words and marks of a file. Each takes far more memory than the character that it may be.
MOST_TOKENS = 2**25
_FEW_TOKENS = f"must have at most {MOST_TOKENS:,} words and marks"
_LONGEST_LIST = 100_000
_QUOTE = "put what holds a mark, such as `(0,1]`, in quotes"


class Word(NamedTuple):
    """Text in quotes, or without blanks."""

    text: str
    is_quoted: bool
    start: int
    end: int


class Declared(NamedTuple):
    """A variable block: the original names, and the states as written."""

    name: str
    states: tuple
    states_as_written: tuple
    offset: int


class Statement(NamedTuple):
    """A statement of a probability block; a `table` or `default` has no labels.

    Labels are lists of words, one for each text between commas.
    """

    keyword: str
    labels: list
    values: array
    offset: int


class ProbabilityBlock(NamedTuple):
    """The head of a probability block, with names as written, and the token after its brace."""

    child: str
    parents: tuple
    begin: int
    offset: int


class Syntax:
    """The parser of a file; after `parse`, `variables` and `families` contain its blocks by name.

    Parameters
    ----------
    text : str
    source : str
        The name of the file in errors.
    """

    def __init__(self, text, source):
        self.text = text
        self.source = source
        self.variables = {}
        self.families = {}
        self._blocks = []
        self._starts, self._ends = self._tokenize()
        self._at = 0

    def fail(self, message, offset, remedy=None) -> NoReturn:
        """Raise an error for the line at an offset."""
        line = self.text.count("\n", 0, offset) + 1
        raise InputError(message, file=self.source, line=line, remedy=remedy)

    def parse(self):
        """Read all blocks and check that their names match."""
        if not self._starts:
            self.fail("must begin with `network`; the file is empty", 0)
        self._expect("network", "must begin with")
        if self._take() != "{" and self._take() != "{":
            token = self._token(self._at - 1)
            message = f"must have one name of the network, and then `{{`; `{token}` was found"
            self.fail(message, self._offset, "put the name in quotes")
        while self._expect(("property", "}")) == "property":
            self._property()
        while self._at < len(self._starts):
            keyword = self._expect(("variable", "probability"))
            self._variable() if keyword == "variable" else self._probability()
        if not self.variables:
            self.fail("ends a file that declares no variable", len(self.text))
        for head, begin in self._blocks:
            self._add_family(head, begin)
        originals = set()
        for name, declared in self.variables.items():
            if name not in self.families:
                self.fail(f"declares `{name}`, which has no probability block", declared.offset)
            if declared.name in originals:
                self.fail(f"declares another variable called {declared.name!r}", declared.offset)
            originals.add(declared.name)

    def labels(self, texts, n):
        """Return the states that a row or a list names; `n` is how many are expected.

        Texts between commas are states. Without commas, words are, or the whole text if one is
        expected.
        """
        if len(texts) > 1:
            return tuple(map(self._joined, texts))
        (words,) = texts
        if n == 1 and not any(word.is_quoted for word in words):
            return (self._joined(words),)
        return tuple(word.text for word in words)

    def _tokenize(self):
        starts, ends = array("q"), array("q")
        for match in _TOKEN.finditer(self.text):
            if match.lastgroup == "token":
                starts.append(match.start())
                ends.append(match.end())
                if len(starts) > MOST_TOKENS:
                    self.fail(f"{_FEW_TOKENS}; it has more", match.start())
            elif match.lastgroup == "bad":
                unclosed = {'"': "must close its quote", "/": "must close its comment"}
                message = unclosed.get(match[0], f"must not hold the character {match[0]!r}")
                self.fail(message, match.start())
        return starts, ends

    def _token(self, at):
        return self.text[self._starts[at] : self._ends[at]]

    def _take(self):
        if self._at == len(self._starts):
            self.fail("ends the file in the middle of a block", len(self.text.rstrip()))
        self._at += 1
        return self._token(self._at - 1)

    @property
    def _offset(self):
        """Offset of the last token read."""
        return self._starts[self._at - 1]

    def _expect(self, choices, rule="must continue with", more=""):
        choices = (choices,) if isinstance(choices, str) else choices
        token = self._take()
        if token not in choices:
            wanted = either([f"`{choice}`" for choice in choices])
            self.fail(f"{rule} {wanted}{more}; `{token}` was found", self._offset)
        return token

    def _word(self, what):
        token = self._take()
        word = "" if token in _MARKS else token.strip('"').strip()
        if not word:
            self._refuse(what, "was found", token)
        return word

    def _refuse(self, what, found, word) -> NoReturn:
        remedy = _QUOTE if word in _MARKS else None
        self.fail(f"must continue with {what}; `{word}` {found}", self._offset, remedy)

    def _number(self):
        word = self._word("a probability")
        if not _NUMBER.fullmatch(word):
            self._refuse("a probability", "is not a number", word)
        if float(word) < 0:
            self._refuse("a probability", "is negative", word)
        return float(word)

    def _numbers(self):
        """Read probabilities up to a semicolon; either all or none are separated by commas."""
        numbers, commas = array("d", [self._number()]), 0
        while (token := self._take()) != ";":
            if token == ",":
                commas += 1
            else:
                self._at -= 1
            numbers.append(self._number())
        if commas not in (0, len(numbers) - 1):
            self.fail("must have commas between all values or none", self._offset)
        return numbers

    def _texts(self, close, what, marks, are_blanks=False):
        """Read texts between marks, up to a closing mark, as lists of words.

        A text must not be empty, unless the marks are blanks. Parentheses nest.
        """
        texts, first, begin, depth = [], self._at, self._at, 0
        while True:
            token = self._take()
            if self._at - first > _LONGEST_LIST:
                self._refuse(what, f"is word or mark {_LONGEST_LIST + 1:,} of a list", token)
            is_end = token == close and not depth
            if is_end or token in marks:
                if begin < self._at - 1:
                    texts.append(self._words(begin, self._at - 1, what))
                elif not are_blanks:
                    self._refuse(what, "was found", token)
                begin = self._at
            elif token in _ENDS:
                self._refuse(what, "was found", token)
            elif close == ")":
                depth += (token == "(") - (token == ")")
            if is_end:
                if not texts:
                    self._refuse(what, "was found", token)
                return texts

    def _words(self, begin, end, what):
        """Return some tokens as words: marks belong to the word beside them."""
        words = []
        for at in range(begin, end):
            token, start, stop = self._token(at), self._starts[at], self._ends[at]
            is_quoted = token.startswith('"')
            text = token.strip('"').strip() if is_quoted else token
            if not text:
                self._refuse(what, "was found", token)
            if words and not is_quoted and not words[-1].is_quoted and words[-1].end == start:
                words[-1] = Word(words[-1].text + text, False, words[-1].start, stop)
            else:
                words.append(Word(text, is_quoted, start, stop))
        return words

    def _joined(self, words):
        """Return words as one text, with blanks as written; line ends and comments are blanks."""
        if len(words) == 1:
            return words[0].text
        joined = self.text[words[0].start : words[0].end]
        for before, after in itertools.pairwise(words):
            gap = self.text[before.end : after.start]
            is_blank = not gap or (gap.isspace() and len(gap.splitlines()) == 1)
            joined += (gap if is_blank else " ") + self.text[after.start : after.end]
        return joined

    def _property(self):
        """Return the text of a property, without its semicolon."""
        start = self._at
        while (token := self._take()) != ";":
            if token in ("{", "}"):
                self.fail("must end a property with `;`", self._offset)
        return self.text[self._starts[start] : self._offset].strip()

    def _unescaped(self, name):
        """Return the original form of an escaped name."""
        try:
            return unquote(name.strip(), errors="surrogatepass")
        except UnicodeDecodeError:
            self.fail(f"must escape names; `{name.strip()}` is wrong", self._offset)

    def _variable(self):
        what = "the name of a variable"
        start = self._at
        (words,) = self._texts("{", what, ())
        marks = {",", "|"}.intersection(map(self._token, range(start, self._at)))
        name, offset = self._joined(words), words[0].start
        if marks or (len(words) > 1 and any(word.is_quoted for word in words)):
            rule = "must declare one variable, with its name in quotes or without"
            self.fail(f"{rule}; `{name}` was found", offset)
        if name in self.variables:
            self.fail(f"declares variable `{name}` again", offset)
        states = None
        original_name, original_states = name, None
        while (keyword := self._expect(("type", "property", "}"))) != "}":
            if keyword == "type":
                if states is not None:
                    self.fail(f"gives variable `{name}` a second type", self._offset)
                states = self._states(name)
                continue
            key, _, value = (part.strip() for part in self._property().partition("="))
            if key == NAME_PROPERTY:
                original_name = self._unescaped(value)
            elif key == STATES_PROPERTY:
                original_states = tuple(map(self._unescaped, value.split(",")))
                states_offset = self._offset
        if states is None:
            self.fail(f"declares variable `{name}` without a type", offset)
        if original_states is None:
            original_states = states
        n = len(states)
        if len(set(original_states)) != n or len(original_states) != n:
            self.fail(f"must give {n} different states as `{STATES_PROPERTY}`", states_offset)
        self.variables[name] = Declared(original_name, original_states, states, offset)

    def _states(self, name):
        """Read `discrete [ n ] { states };`."""
        self._expect("discrete", "must have the type", ", the only one that is supported")
        self._expect("[")
        count = self._word("the number of states")
        self._expect("]")
        self._expect("{")
        offset = self._offset
        texts = self._texts("}", f"a state of `{name}`", {","})
        states = self.labels(texts, 1 if count == "1" else None)
        self._expect(";")
        if count != str(len(states)):
            # A comma within a state, as in `(0,1]`, makes it two.
            remedy = _QUOTE if any(mark in "".join(states) for mark in "()[]") else None
            message = f"must list {count} states of `{name}`; it lists {len(states)}"
            self.fail(message, offset, remedy)
        if len(states) > MOST_STATES:
            message = f"must list at most {MOST_STATES:,} states of `{name}`; it lists "
            self.fail(f"{message}{len(states):,}", offset, "merge some")
        if len(set(states)) < len(states):
            state = next(state for state in states if states.count(state) > 1)
            self.fail(f"lists state `{state}` of `{name}` twice", offset)
        return states

    def _probability(self):
        self._expect("(")
        # BIF 0.15 ignores `|` and `,` between names.
        head = self._texts(")", "the name of a variable", {",", "|"}, are_blanks=True)
        self._expect("{")
        self._blocks.append((head, self._at))
        # Its statements are read when their number is known, straight into arrays.
        before = "{"
        while (token := self._take()) != "}":
            if token == "property" and before in _ENDS:
                self._property()
                token = ";"
            before = token

    def statements(self, begin):
        """Yield the statements of a probability block from the token after its brace."""
        self._at = begin
        while (keyword := self._expect(("table", "default", "(", "property", "}"))) != "}":
            offset = self._offset
            if keyword == "property":
                self._property()
                continue
            labels = self._texts(")", "a state", {","}) if keyword == "(" else []
            yield Statement(keyword, labels, self._numbers(), offset)

    def _add_family(self, head, begin):
        """Check the head of a probability block, a list of lists of words, and add it."""
        offset = head[0][0].start
        child, *parents = itertools.chain(*map(self._names, head))
        if child in self.families:
            self.fail(f"begins another probability block of `{child}`", offset)
        if child in parents:
            self.fail(f"makes `{child}` its own parent", offset)
        if len(set(parents)) < len(parents):
            twice = next(parent for parent in parents if parents.count(parent) > 1)
            self.fail(f"makes `{twice}` a parent of `{child}` twice", offset)
        self.families[child] = ProbabilityBlock(child, tuple(parents), begin, offset)

    def _names(self, words):
        """Return the variables that a text of a head names, in the one way that is possible."""
        names = []
        for is_quoted, run in itertools.groupby(words, key=lambda word: word.is_quoted):
            run = list(run)
            whole, each = self._joined(run), [word.text for word in run]
            readings = [each] if is_quoted or len(run) == 1 else [[whole], each]
            fitting = [reading for reading in readings if self.variables.keys() >= set(reading)]
            if len(fitting) > 1:
                message = f"must name variables in one way; `{whole}` may be one or {listed(each)}"
                self.fail(message, run[0].start, "put each name into quotes")
            if not fitting:
                unknown = [name for name in each if name not in self.variables]
                name = unknown[0] if is_quoted or len(unknown) < len(each) else whole
                self.fail(f"names `{name}`, which is not declared", run[0].start)
            names += fitting[0]
        return names


RESCALED_TOLERANCE = 1e-3
# Cells of a table that only a default fills, since a few words can ask for any number of them.
LARGEST_DEFAULT = 2**22


def read_parts(path, cells=None):
    """Return graph, states and tables of a file; see `BayesNet.from_bif`.

    Names and states are in quotes or without, and may have blanks. In a list of states and in a
    row, what stands between two commas is one state. In a row without commas, words are states, as
    many as there are parents; with one parent the whole text is a state. In the head of a
    probability block, ``|`` and ``,`` are blanks. Words without quotes and marks between them are
    one name or several, whichever is declared; if both are, the file is refused. In a ``table``,
    the child varies slowest and the last parent fastest. A ``default`` fills the rows that are
    missing, up to 2**22 cells of a variable. `cells` counts those of networks that are read
    together.
    """
    path, cells = _bif_path(path), Cells() if cells is None else cells
    syntax = Syntax(_text(path), str(path))
    syntax.parse()
    graph = _graph(syntax)
    originals = {name: declared.name for name, declared in syntax.variables.items()}
    states = {declared.name: declared.states for declared in syntax.variables.values()}
    tables = {}
    n_rescaled = n_defaults = 0
    for family in syntax.families.values():
        rows, n_off, n_filled = _rows(syntax, family, n_defaults, cells)
        n_rescaled += n_off
        n_defaults += n_filled
        child, *parents = (originals[name] for name in (family.child, *family.parents))
        table = rows.reshape([len(states[name]) for name in (*parents, child)])
        axes = sorted(range(len(parents)), key=parents.__getitem__)
        tables[child] = table.transpose(*axes, len(parents))
    if n_rescaled:
        off = f"did not sum to 1 within {SUM_TOLERANCE:g}; such rows are rescaled"
        warn(f"has {count(n_rescaled, 'row')} of probabilities that {off}", file=path)
    return graph, states, tables


def _text(path):
    """Return the text of a file, or raise an error with the line that is not text."""
    try:
        with located(file=path):
            content = content_of(path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        message = f"must be compressed by gzip; it is damaged or not: {error}"
        raise InputError(message, file=path) from None
    except OSError as error:
        # The user's file instead of a temporary one.
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("must be text in UTF-8", file=path, line=line) from None


def _bif_path(path):
    if not isinstance(path, str | os.PathLike):
        message = f"must be a path, got {type_of(path)}"
        raise InputTypeError(message, argument="path", remedy="for example 'asia.bif'")
    path = Path(path)
    if not path.name.endswith((".bif", ".bif.gz")):
        raise InputError(f"must end in .bif or .bif.gz, got {listed([path])}", argument="path")
    return path


def _graph(syntax):
    """Return the graph described by the headers of the probability blocks."""
    graph = nx.DiGraph()
    graph.add_nodes_from(declared.name for declared in syntax.variables.values())
    for key, family in syntax.families.items():
        child = syntax.variables[key].name
        graph.add_edges_from((syntax.variables[parent].name, child) for parent in family.parents)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [tail for tail, _ in nx.find_cycle(graph)]
        keys = {declared.name: key for key, declared in syntax.variables.items()}
        last = max(syntax.families[keys[name]].offset for name in cycle)
        syntax.fail(f"closes the cycle {' -> '.join([*cycle, cycle[0]])}", last)
    return graph


def _rows(syntax, family, n_defaults, cells):
    """Return the probabilities of a block, and the numbers of rescaled rows and default cells.

    The probabilities have the shape (q, r); the last parent varies fastest. `n_defaults` is the
    number of cells that defaults fill in the blocks before.
    """
    parent_states = [syntax.variables[parent].states_as_written for parent in family.parents]
    n_states = len(syntax.variables[family.child].states)
    sizes = [*map(len, parent_states), n_states]
    _check_size(syntax, family, sizes, cells)
    n_rows = n_cells(sizes) // n_states
    given = _Given(syntax, family, parent_states, n_states)
    if given.table is not None:
        _check_count(syntax, given.table, n_rows * n_states)
        # In the standard the child varies slowest and the last parent fastest.
        rows = np.array(given.table.values).reshape(n_states, n_rows).T
        return *_checked(syntax, family, rows, itertools.repeat(given.table.offset)), 0
    at = np.array(given.places, dtype=np.int64)
    n_left = n_rows - len(at)
    if given.default is None:
        if n_left:
            _refuse_missing(syntax, family, parent_states, given.places, n_left)
        rows = np.array(given.values).reshape(n_rows, n_states)
        rows, n_off = _checked(syntax, family, rows, given.offsets)
        return rows[np.argsort(at)], n_off, 0
    _check_count(syntax, given.default, n_states)
    n_filled = n_left * n_states
    _check_default(syntax, family, n_filled, n_defaults)
    if n_left:
        given.values.extend(given.default.values)
        given.offsets.append(given.default.offset)
    found = np.array(given.values).reshape(-1, n_states)
    found, n_off = _checked(syntax, family, found, given.offsets)
    rows = np.empty((n_rows, n_states))
    rows[:] = found[-1]
    rows[at] = found[: len(at)]
    return rows, n_off, n_filled


def _check_size(syntax, family, sizes, cells):
    """Raise if the table of a block would be too large, or that of all blocks together."""
    remedy = "remove some parents"
    if not fits(sizes):
        with_parents = f"with {count(len(sizes) - 1, 'parent')}"
        message = (
            f"must give `{family.child}` a table of at most {LARGEST_TABLE:,} cells over "
            f"{MOST_AXES} variables; {with_parents} it would have {shown_cells(sizes):.3g} over "
            f"{len(sizes)}"
        )
        syntax.fail(message, family.offset, remedy)
    try:
        cells.add(n_cells(sizes))
    except InputError as error:
        syntax.fail(error.message, family.offset, remedy)


def _check_default(syntax, family, n_filled, n_defaults):
    """Raise if `default` would fill too many cells of a variable, or of all variables so far."""
    remedy = f"write the rows of `{family.child}`"
    if n_filled > LARGEST_DEFAULT:
        message = (
            f"must leave at most {LARGEST_DEFAULT:,} cells of `{family.child}` to `default`; "
            f"with {count(len(family.parents), 'parent')} there would be {n_filled:,}"
        )
        syntax.fail(message, family.offset, remedy)
    if n_defaults + n_filled > LARGEST_TABLE:
        message = (
            f"must leave at most {LARGEST_TABLE:,} cells of all variables to `default`; with those "
            f"of `{family.child}` there would be {n_defaults + n_filled:,}"
        )
        syntax.fail(message, family.offset, remedy)


class _Given:
    """The statements of a block: its table or default, and of its rows the places and values."""

    def __init__(self, syntax, family, parent_states, n_states):
        self.table = self.default = None
        self.values, self.places, self.offsets = array("d"), array("q"), array("q")
        place_of = _places(syntax, family, parent_states)
        known = set()
        for statement in syntax.statements(family.begin):
            keyword, offset = statement.keyword, statement.offset
            if keyword != "(":
                if getattr(self, keyword) is not None:
                    syntax.fail(f"has another `{keyword}` of `{family.child}`", offset)
                setattr(self, keyword, statement)
            if self.table is not None and (self.default or self.offsets or keyword == "("):
                rule = f"gives `{family.child}` a table and other rows besides"
                syntax.fail(rule, self.table.offset)
            if keyword == "(":
                place, labels = place_of(statement)
                if place in known:
                    syntax.fail(f"repeats row ({', '.join(labels)}) of `{family.child}`", offset)
                known.add(place)
                _check_count(syntax, statement, n_states)
                self.places.append(place)
                self.offsets.append(offset)
                self.values.extend(statement.values)
        if self.table is None and self.default is None and not self.offsets:
            syntax.fail(f"gives `{family.child}` no probabilities", family.offset)


def _places(syntax, family, parent_states):
    """A function that returns the index of a row by its labels, and the labels."""
    indices = [{state: i for i, state in enumerate(states)} for states in parent_states]

    def place_of(row):
        labels, at = syntax.labels(row.labels, len(indices)), 0
        if len(labels) != len(indices):
            wanted = f"{count(len(indices), 'parent state')} in a row of `{family.child}`"
            syntax.fail(f"must name {wanted}; it names {len(labels)}", row.offset)
        for label, parent, index in zip(labels, family.parents, indices, strict=True):
            if label not in index:
                message = f"must name a state of `{parent}`, {listed(index)}; `{label}` is not one"
                syntax.fail(message, row.offset)
            at = at * len(index) + index[label]
        return at, labels

    return place_of


def _refuse_missing(syntax, family, parent_states, at, n_left):
    """Raise an error that names the first row that a block lacks."""
    known = set(at)
    first = next(number for number in itertools.count() if number not in known)
    labels = []
    for states in reversed(parent_states):
        first, digit = divmod(first, len(states))
        labels.insert(0, states[digit])
    row = f"a row ({', '.join(labels)}) or a default"
    missing = f"{n_left} of {count(n_left + len(at), 'row')} are missing"
    syntax.fail(f"must give `{family.child}` {row}; {missing}", family.offset)


def _check_count(syntax, row, n_values):
    if len(row.values) != n_values:
        syntax.fail(f"must give {n_values} probabilities; it gives {len(row.values)}", row.offset)


def _checked(syntax, family, rows, offsets):
    """Return rows, and how many were rescaled; raise if sums are too far from 1."""
    sums = rows.sum(axis=1)
    deviations = np.abs(sums - 1)
    wrong = np.flatnonzero(~(deviations <= RESCALED_TOLERANCE))
    if wrong.size:
        offset = next(itertools.islice(offsets, int(wrong[0]), None))
        rule = f"must give `{family.child}` probabilities that sum to 1"
        syntax.fail(f"{rule}; they sum to {sums[wrong[0]]:.6g}", offset)
    off = deviations > SUM_TOLERANCE
    if off.any():
        rows = np.where(off[:, None], rows / sums[:, None], rows)
    return rows, int(off.sum())


def write_parts(network, path):
    """Write graph, states and tables of a network to a file; see `BayesNet.to_bif`."""
    path = _bif_path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"`path` must lie in an existing folder, got `{path}`; the folder `{path.parent}` does "
            "not exist, so make it first."
        )
    content = _readable(network, _bif_text(network)).encode("ascii")
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    write_whole(path, content)


def _readable(network, text):
    """Return the text of a file, or raise if `read_parts` would refuse it as too large."""
    for variable, states in network.states.items():
        if len(states) > MOST_STATES:
            message = f"must have at most {MOST_STATES:,} states in a file, got {len(states):,}"
            raise InputError(message, column=variable, remedy="merge some")
    Cells().add(sum(table.size for table in network.tables.values()))
    check_text(len(text))
    if len(text) > MOST_TOKENS:
        n_tokens = sum(found.lastgroup == "token" for found in _TOKEN.finditer(text))
        if n_tokens > MOST_TOKENS:
            message = f"{_FEW_TOKENS}; that of this network would have {n_tokens:,}"
            raise InputError(f"A BIF file {message}", remedy="remove some arcs")
    return text


def _bif_text(network):
    """Return the whole file."""
    states = network.states
    variables = list(network.graph)
    # pgmpy treats names that differ only in case as one variable.
    names = _written(variables, _variable_name, str.lower)
    written_states = {variable: _written(states[variable], _name, str) for variable in variables}
    lines = ["network unknown {", "}"]
    for variable in variables:
        labels = written_states[variable]
        lines.append(f"variable {names[variable]} {{")
        lines.append(f"  type discrete [ {len(labels)} ] {{ {', '.join(labels.values())} }};")
        if names[variable] != variable:
            lines.append(f"  property {NAME_PROPERTY} = {_escaped(variable)};")
        if list(labels.values()) != list(labels):
            originals = ", ".join(_escaped(state) for state in labels)
            lines.append(f"  property {STATES_PROPERTY} = {originals};")
        lines.append("}")
    for variable in variables:
        parents = network.parents(variable)
        rows = network.table(variable).reshape(-1, len(states[variable])).tolist()
        if parents:
            given = ", ".join(names[parent] for parent in parents)
            lines.append(f"probability ( {names[variable]} | {given} ) {{")
            labels = itertools.product(*(written_states[parent].values() for parent in parents))
            lines.extend(
                f"  ({', '.join(label)}) {', '.join(map(repr, row))};"
                for label, row in zip(labels, rows, strict=True)
            )
        else:
            lines.append(f"probability ( {names[variable]} ) {{")
            lines.append(f"  table {', '.join(map(repr, rows[0]))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _written(originals, clean, key):
    """Map names to distinct names that are valid in BIF; valid names do not change.

    Two written names are the same when their `key` is.
    """
    written = {}
    taken = set()
    for original in originals:
        if clean(original) == original and key(original) not in taken:
            written[original] = original
            taken.add(key(original))
    for original in originals:
        if original in written:
            continue
        candidate = base = clean(original)
        number = itertools.count(2)
        while key(candidate) in taken:
            candidate = f"{base}_{next(number)}"
        written[original] = candidate
        taken.add(key(candidate))
    return {original: written[original] for original in originals}


def _name(original):
    """Return a name without characters that are invalid in BIF; `//` would begin a comment."""
    return re.sub(r"[^A-Za-z0-9_.+\-<>=/]|/(?=/)", "_", original) or "_"


def _variable_name(original):
    """Return a name for a header line, where pgmpy reads `table1` as a keyword and a number."""
    return re.sub(r"(table|default)(?=[0-9eE.+-])", r"\1_", _name(original))


def _escaped(original):
    return quote(original, safe="", errors="surrogatepass")
