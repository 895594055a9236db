"""BIF files of networks: parsing, reading and writing.

The dialect is the Interchange Format for Bayesian Networks 0.15 as written by bnlearn, JavaBayes,
pgmpy and pyAgrum.

Names and states may have blanks, as R's bnlearn writes them. In a list of states and in a row, what
stands between two commas is one state; without commas, words are states. In the head of a
probability block, `|` and `,` are blanks (BIF 0.15), and unquoted words are one name or several,
whichever is declared.
"""

import contextlib
import gzip
import itertools
import os
import re
import zlib
from pathlib import Path
from typing import NamedTuple, NoReturn
from urllib.parse import quote, unquote

import networkx as nx
import numpy as np

from bnmtl.errors import InputError, InputTypeError, warn
from bnmtl.networks.tables import SUM_TOLERANCE, check_table
from bnmtl.wording import Bare, either, listed, type_of
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


class Row(NamedTuple):
    """A statement of a probability block; a `table` or `default` has no labels.

    Labels are lists of words, one for each text between commas.
    """

    labels: list
    values: list
    offset: int


class Family(NamedTuple):
    """A probability block, with names as written."""

    child: str
    parents: tuple
    rows: list
    table: Row | None
    default: Row | None
    offset: int


class _Block(NamedTuple):
    """A probability block before names are known: its head as lists of words, its statements."""

    head: list
    statements: list


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
        self._tokens, self._offsets = self._tokenize()
        self._at = 0

    def fail(self, rule, offset, found=None, **details) -> NoReturn:
        """Raise an error for the line at an offset."""
        with self.located(offset):
            raise InputError(None, rule, found=found, **details)

    @contextlib.contextmanager
    def located(self, offset):
        """Add the file and the line of an offset to mistakes raised in the block."""
        try:
            yield
        except InputError as mistake:
            mistake.file, mistake.line = self.source, self.text.count("\n", 0, offset) + 1
            raise

    def parse(self):
        """Read all blocks and check that their names match."""
        if not self._tokens:
            self.fail("must begin with `network`", 0, "the file is empty")
        self._expect("network", "must begin with {wanted}")
        self._network()
        while self._at < len(self._tokens):
            keyword = self._expect(("variable", "probability"))
            self._variable() if keyword == "variable" else self._probability()
        if not self.variables:
            self.fail("ends a file that declares no variable", len(self.text))
        for block in self._blocks:
            self._add_family(block)
        self._check_names()

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
        tokens, offsets = [], []
        for match in _TOKEN.finditer(self.text):
            if match.lastgroup == "token":
                tokens.append(match[0])
                offsets.append(match.start())
            elif match.lastgroup == "bad":
                unclosed = {'"': "must close its quote", "/": "must close its comment"}
                rule = unclosed.get(match[0], "must not hold the character {bad!r}")
                self.fail(rule, match.start(), bad=match[0])
        return tokens, offsets

    def _take(self):
        if self._at == len(self._tokens):
            self.fail("ends the file in the middle of a block", len(self.text.rstrip()))
        self._at += 1
        return self._tokens[self._at - 1]

    @property
    def _offset(self):
        """Offset of the last token read."""
        return self._offsets[self._at - 1]

    def _expect(self, choices, rule="must continue with {wanted}"):
        choices = (choices,) if isinstance(choices, str) else choices
        token = self._take()
        if token not in choices:
            wanted = Bare(either([f"`{choice}`" for choice in choices]))
            self.fail(rule, self._offset, "{token} was found", wanted=wanted, token=token)
        return token

    def _word(self, what):
        token = self._take()
        word = "" if token in _MARKS else token.strip('"').strip()
        if not word:
            self._refuse(what, "{word} was found", token)
        return word

    def _refuse(self, what, found, word) -> NoReturn:
        remedies = _QUOTE if word in _MARKS else ()
        details = {"what": what, "word": word, "remedies": remedies}
        self.fail("must continue with {what!s}", self._offset, found, **details)

    def _number(self, what):
        word = self._word(what)
        if not _NUMBER.fullmatch(word):
            self._refuse(what, "{word} is not a number", word)
        value = float(word)
        if value < 0:
            self._refuse(what, "{word} is negative", word)
        return value

    def _list(self, close, read, what):
        """Read items up to a closing mark; either all or none are separated by commas."""
        items = [read(what)]
        commas = 0
        while (token := self._take()) != close:
            if token == ",":
                commas += 1
            else:
                self._at -= 1
            items.append(read(what))
        if commas not in (0, len(items) - 1):
            self.fail("must have commas between all values or none", self._offset)
        return items

    def _texts(self, close, what, marks, are_blanks=False):
        """Read texts between marks, up to a closing mark, as lists of words.

        A text must not be empty, unless the marks are blanks. Parentheses nest.
        """
        texts, begin, depth = [], self._at, 0
        while True:
            token = self._take()
            is_end = token == close and not depth
            if is_end or token in marks:
                if begin < self._at - 1:
                    texts.append(self._words(begin, self._at - 1, what))
                elif not are_blanks:
                    self._refuse(what, "{word} was found", token)
                begin = self._at
            elif token in _ENDS:
                self._refuse(what, "{word} was found", token)
            elif close == ")":
                depth += (token == "(") - (token == ")")
            if is_end:
                if not texts:
                    self._refuse(what, "{word} was found", token)
                return texts

    def _words(self, begin, end, what):
        """Return some tokens as words: marks belong to the word beside them."""
        words = []
        for token, start in zip(self._tokens[begin:end], self._offsets[begin:end], strict=True):
            is_quoted, stop = token.startswith('"'), start + len(token)
            text = token.strip('"').strip() if is_quoted else token
            if not text:
                self._refuse(what, "{word} was found", token)
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
        return self.text[self._offsets[start] : self._offset].strip()

    def _unescaped(self, name):
        """Return the original form of an escaped name."""
        try:
            return unquote(name.strip(), errors="surrogatepass")
        except UnicodeDecodeError:
            self.fail("must escape names", self._offset, "{name} is wrong", name=name.strip())

    def _network(self):
        if self._take() != "{" and self._take() != "{":
            rule, found = "must have one name of the network, and then `{{`", "{token} was found"
            remedies, token = "put the name in quotes", self._tokens[self._at - 1]
            self.fail(rule, self._offset, found, remedies=remedies, token=token)
        while self._expect(("property", "}")) == "property":
            self._property()

    def _variable(self):
        what = "the name of a variable"
        start = self._at
        (words,) = self._texts("{", what, ())
        marks = {",", "|"}.intersection(self._tokens[start : self._at])
        if marks or (len(words) > 1 and any(word.is_quoted for word in words)):
            rule = "must declare one variable, with its name in quotes or without"
            self.fail(rule, words[0].start, "{text} was found", text=self._joined(words))
        name, offset = self._joined(words), words[0].start
        if name in self.variables:
            self.fail("declares variable {name} again", offset, name=name)
        states = None
        original_name, original_states = name, None
        while (keyword := self._expect(("type", "property", "}"))) != "}":
            if keyword == "type":
                if states is not None:
                    self.fail("gives variable {name} a second type", self._offset, name=name)
                states = self._states(name)
                continue
            key, _, value = (part.strip() for part in self._property().partition("="))
            if key == NAME_PROPERTY:
                original_name = self._unescaped(value)
            elif key == STATES_PROPERTY:
                original_states = tuple(map(self._unescaped, value.split(",")))
                states_offset = self._offset
        if states is None:
            self.fail("declares variable {name} without a type", offset, name=name)
        if original_states is None:
            original_states = states
        if len(set(original_states)) != len(states) or len(original_states) != len(states):
            rule = "must give {n} different states as {key}"
            self.fail(rule, states_offset, n=len(states), key=STATES_PROPERTY)
        self.variables[name] = Declared(original_name, original_states, states, offset)

    def _states(self, name):
        """Read `discrete [ n ] { states };`."""
        self._expect("discrete", "must have the type {wanted}, the only one that is supported")
        self._expect("[")
        count = self._word("the number of states")
        self._expect("]")
        self._expect("{")
        offset = self._offset
        texts = self._texts("}", f"a state of `{name}`", {","})
        states = self.labels(texts, 1 if count == "1" else None)
        self._expect(";")
        if count != str(len(states)):
            rule, found = "must list {count!s} states of {name}", "it lists {n}"
            # A comma within a state, as in `(0,1]`, makes it two.
            remedies = _QUOTE if any(mark in "".join(states) for mark in "()[]") else ()
            details = {"count": count, "name": name, "n": len(states), "remedies": remedies}
            self.fail(rule, offset, found, **details)
        for state in states:
            if states.count(state) > 1:
                self.fail("lists state {state} of {name} twice", offset, state=state, name=name)
        return states

    def _probability(self):
        self._expect("(")
        # BIF 0.15 ignores `|` and `,` between names.
        head = self._texts(")", "the name of a variable", {",", "|"}, are_blanks=True)
        self._expect("{")
        statements = []
        while (keyword := self._expect(("table", "default", "(", "property", "}"))) != "}":
            start = self._offset
            if keyword == "property":
                self._property()
                continue
            labels = self._texts(")", "a state", {","}) if keyword == "(" else []
            row = Row(labels, self._list(";", self._number, "a probability"), start)
            statements.append((keyword, row))
        self._blocks.append(_Block(head, statements))

    def _add_family(self, block):
        """Check a probability block and add it to the families."""
        offset = block.head[0][0].start
        child, *parents = itertools.chain(*map(self._names, block.head))
        if child in self.families:
            self.fail("begins another probability block of {child}", offset, child=child)
        for parent in parents:
            if parent == child or parents.count(parent) > 1:
                rule = "its own parent" if parent == child else "a parent of {child} twice"
                self.fail("makes {parent} " + rule, offset, parent=parent, child=child)
        rows, once = [], {}
        for keyword, row in block.statements:
            if keyword == "(":
                rows.append(row)
            elif keyword in once:
                rule = "has another {keyword} of {child}"
                self.fail(rule, row.offset, keyword=keyword, child=child)
            else:
                once[keyword] = row
        table, default = once.get("table"), once.get("default")
        if table is not None and (rows or default):
            self.fail("gives {child} a table and other rows besides", table.offset, child=child)
        if not block.statements:
            self.fail("gives {child} no probabilities", offset, child=child)
        self.families[child] = Family(child, tuple(parents), rows, table, default, offset)

    def _names(self, words):
        """Return the variables that a text of a head names, in the one way that is possible."""
        names = []
        for is_quoted, run in itertools.groupby(words, key=lambda word: word.is_quoted):
            run = list(run)
            whole, each = self._joined(run), [word.text for word in run]
            readings = [each] if is_quoted or len(run) == 1 else [[whole], each]
            fitting = [one for one in readings if self.variables.keys() >= set(one)]
            if len(fitting) > 1:
                rule, found = "must name variables in one way", "{whole} may be one or {each}"
                remedies = "put each name into quotes"
                details = {"whole": whole, "each": each, "remedies": remedies}
                self.fail(rule, run[0].start, found, **details)
            if not fitting:
                unknown = [name for name in each if name not in self.variables]
                name = unknown[0] if is_quoted or len(unknown) < len(each) else whole
                self.fail("names {name}, which is not declared", run[0].start, name=name)
            names += fitting[0]
        return names

    def _check_names(self):
        originals = {}
        for name, declared in self.variables.items():
            if name not in self.families:
                rule = "declares {name}, which has no probability block"
                self.fail(rule, declared.offset, name=name)
            if declared.name in originals:
                rule = "declares another variable called {name!r}"
                self.fail(rule, declared.offset, name=declared.name)
            originals[declared.name] = name


RESCALED_TOLERANCE = 1e-3
# Cells of a table that only a default fills, since a few words can ask for any number of them.
LARGEST_DEFAULT = 2**22
_TOO_LARGE = {
    "argument": None,
    "rule": "must give {name} a table of at most {most:,} cells over {most_axes} variables",
    "found": "with {n:parent} it would have {cells:.3g} over {axes}",
    "remedies": "remove some parents",
}
_TOO_MANY_DEFAULTS = {
    "argument": None,
    "rule": "must leave at most {most:,} cells of {name} to `default`",
    "found": "with {n:parent} there would be {cells:,}",
    "remedies": "write the rows of {name}",
}
_TOO_MANY_IN_ALL = _TOO_MANY_DEFAULTS | {
    "rule": "must leave at most {most:,} cells of all variables to `default`",
    "found": "with those of {name} there would be {cells:,}",
}


def read_parts(path):
    """Return graph, states and tables of a file; see `BayesNet.from_bif`.

    Names and states are in quotes or without, and may have blanks. In a list of states and in a
    row, what stands between two commas is one state. In a row without commas, words are states, as
    many as there are parents; with one parent the whole text is a state. In the head of a
    probability block, ``|`` and ``,`` are blanks. Words without quotes and marks between them are
    one name or several, whichever is declared; if both are, the file is refused. In a ``table``,
    the child varies slowest and the last parent fastest. A ``default`` fills the rows that are
    missing, up to 2**22 cells of a variable.
    """
    path = _bif_path(path)
    syntax = Syntax(_text(path), str(path))
    syntax.parse()
    graph = _graph(syntax)
    states = {declared.name: declared.states for declared in syntax.variables.values()}
    tables = {}
    n_rescaled = n_defaults = 0
    for family in syntax.families.values():
        rows, n_off, n_filled = _rows(syntax, family, n_defaults)
        n_rescaled += n_off
        n_defaults += n_filled
        child = syntax.variables[family.child].name
        parents = [syntax.variables[parent].name for parent in family.parents]
        table = rows.reshape([len(states[name]) for name in (*parents, child)])
        axes = sorted(range(len(parents)), key=parents.__getitem__)
        tables[child] = table.transpose(*axes, len(parents))
    if n_rescaled:
        rule = "has {n:row} of probabilities that did not sum to 1 within {within:g}"
        details = {"n": n_rescaled, "within": SUM_TOLERANCE}
        warn(None, rule, found="such rows are rescaled", file=path, **details)
    return graph, states, tables


def _text(path):
    """Return the text of a file, or raise an error with the line that is not text."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unusable(path, error) from None
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            rule, found = "must be compressed by gzip", "it is damaged or not: {error!s}"
            raise InputError(None, rule, found=found, file=path, error=error) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(None, "must be text in UTF-8", file=path, line=line) from None


def _bif_path(path):
    if not isinstance(path, str | os.PathLike):
        rule, remedies = "must be a path", "for example 'asia.bif'"
        raise InputTypeError("path", rule, type_of(path), remedies=remedies)
    path = Path(path)
    if not path.name.endswith((".bif", ".bif.gz")):
        raise InputError("path", "must end in .bif or .bif.gz", listed([path]))
    return path


def _unusable(path, error):
    """Return an error of the same type that names the user's file instead of a temporary one."""
    return type(error)(error.errno, error.strerror or str(error), str(path))


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
        syntax.fail("closes the cycle {cycle!s}", last, cycle=" -> ".join([*cycle, cycle[0]]))
    return graph


def _rows(syntax, family, n_defaults):
    """Return the probabilities of a block, and the numbers of rescaled rows and default cells.

    The probabilities have the shape (q, r); the last parent varies fastest. `n_defaults` is the
    number of cells that defaults fill in the blocks before.
    """
    parent_states = [syntax.variables[parent].states_as_written for parent in family.parents]
    n_states = len(syntax.variables[family.child].states)
    sizes = [*map(len, parent_states), n_states]
    details = {"name": family.child, "n": len(parent_states)}
    with syntax.located(family.offset):
        n_rows = check_table(sizes, **_TOO_LARGE, **details) // n_states
    if family.table is not None:
        _check_count(syntax, family.table, n_rows * n_states)
        # In the standard the child varies slowest and the last parent fastest.
        rows = np.array(family.table.values).reshape(n_states, n_rows).T
        return *_checked(syntax, family, rows, itertools.repeat(family.table)), 0
    at = _positions(syntax, family, parent_states)
    n_left = n_rows - len(at)
    if family.default is None:
        if n_left:
            _refuse_missing(syntax, family, parent_states, at, n_left)
        rows, n_off = _checked(syntax, family, [row.values for row in family.rows], family.rows)
        return rows[np.argsort(at)], n_off, 0
    _check_count(syntax, family.default, n_states)
    n_filled = n_left * n_states
    with syntax.located(family.offset):
        check_table([n_filled], **_TOO_MANY_DEFAULTS, most=LARGEST_DEFAULT, **details)
        check_table([n_defaults + n_filled], **_TOO_MANY_IN_ALL, **details)
    statements = [*family.rows, *[family.default] * (n_left > 0)]
    given, n_off = _checked(syntax, family, [row.values for row in statements], statements)
    rows = np.empty((n_rows, n_states))
    rows[:] = given[-1]
    rows[at] = given[: len(at)]
    return rows, n_off, n_filled


def _positions(syntax, family, parent_states):
    """Return the index of each row of a block, by its labels."""
    positions = [{state: i for i, state in enumerate(states)} for states in parent_states]
    n_states = len(syntax.variables[family.child].states)
    found = {}
    for row in family.rows:
        labels = syntax.labels(row.labels, len(positions))
        at = _position(syntax, family, labels, row.offset, positions)
        if at in found:
            rule, labels = "repeats row ({labels!s}) of {child}", ", ".join(labels)
            syntax.fail(rule, row.offset, labels=labels, child=family.child)
        _check_count(syntax, row, n_states)
        found[at] = row
    return list(found)


def _position(syntax, family, labels, offset, positions):
    """Return the index of the row for a tuple of parent states."""
    if len(labels) != len(positions):
        rule, found = "must name {wanted:parent state} in a row of {child}", "it names {named}"
        details = {"wanted": len(positions), "named": len(labels), "child": family.child}
        syntax.fail(rule, offset, found, **details)
    at = 0
    for label, parent, position in zip(labels, family.parents, positions, strict=True):
        if label not in position:
            rule, found = "must name a state of {parent}, {states}", "{label} is not one"
            details = {"parent": parent, "states": list(position), "label": label}
            syntax.fail(rule, offset, found, **details)
        at = at * len(position) + position[label]
    return at


def _refuse_missing(syntax, family, parent_states, at, n_left):
    """Raise an error that names the first row that a block lacks."""
    known = set(at)
    first = next(number for number in itertools.count() if number not in known)
    labels = []
    for states in reversed(parent_states):
        first, digit = divmod(first, len(states))
        labels.insert(0, states[digit])
    syntax.fail(
        "must give {child} a row ({labels!s}) or a default",
        family.offset,
        "{missing} of {n:row} are missing",
        child=family.child,
        labels=", ".join(labels),
        missing=n_left,
        n=n_left + len(at),
    )


def _check_count(syntax, row, n_values):
    if len(row.values) != n_values:
        rule, found = "must give {wanted} probabilities", "it gives {n}"
        syntax.fail(rule, row.offset, found, wanted=n_values, n=len(row.values))


def _checked(syntax, family, rows, statements):
    """Return rows, and how many were rescaled; raise if sums are too far from 1."""
    rows = np.asarray(rows)
    sums = rows.sum(axis=1)
    deviations = np.abs(sums - 1)
    wrong = np.flatnonzero(~(deviations <= RESCALED_TOLERANCE))
    if wrong.size:
        statement = next(itertools.islice(statements, int(wrong[0]), None))
        rule, found = "must give {child} probabilities that sum to 1", "they sum to {total:.6g}"
        syntax.fail(rule, statement.offset, found, child=family.child, total=sums[wrong[0]])
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
    content = _bif_text(network).encode("ascii")
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    write_whole(path, content)


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
