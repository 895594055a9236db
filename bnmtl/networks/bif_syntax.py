"""The parser of BIF: from text to declared variables and probability blocks, with offsets.

Names and states may have blanks, as R's bnlearn writes them. In a list of states and in a row, what
stands between two commas is one state; without commas, words are states. In the head of a
probability block, `|` and `,` are blanks (BIF 0.15), and unquoted words are one name or several,
whichever is declared.
"""

import contextlib
import itertools
import re
from typing import NamedTuple, NoReturn
from urllib.parse import unquote

from bnmtl.errors import InputError
from bnmtl.wording import Bare, either

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
