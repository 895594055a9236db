"""The parser of BIF: from text to declared variables and probability blocks, with offsets."""

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


class Declared(NamedTuple):
    """A variable block: the original names, and the states as written."""

    name: str
    states: tuple
    states_as_written: tuple
    offset: int


class Row(NamedTuple):
    """A statement of a probability block; a `table` or `default` has no labels."""

    labels: tuple
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
        self._tokens, self._offsets = self._tokenize()
        self._at = 0

    def fail(self, rule, offset, found=None, **details) -> NoReturn:
        """Raise an error for the line at an offset."""
        line = self.text.count("\n", 0, offset) + 1
        raise InputError(None, rule, found=found, file=self.source, line=line, **details)

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
        self._check_names()

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
        self.fail("must continue with {what!s}", self._offset, found, what=what, word=word)

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
        if self._take() != "{":
            self._expect("{")
        while self._expect(("property", "}")) == "property":
            self._property()

    def _variable(self):
        name = self._word("the name of a variable")
        offset = self._offset
        if name in self.variables:
            self.fail("declares variable {name} again", offset, name=name)
        self._expect("{")
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
        states = tuple(self._list("}", self._word, f"a state of `{name}`"))
        self._expect(";")
        if count != str(len(states)):
            rule, found = "must list {count!s} states of {name}", "it lists {n}"
            self.fail(rule, offset, found, count=count, name=name, n=len(states))
        for state in states:
            if states.count(state) > 1:
                self.fail("lists state {state} of {name} twice", offset, state=state, name=name)
        return states

    def _probability(self):
        self._expect("(")
        child = self._word("the name of a variable")
        offset = self._offset
        if child in self.families:
            self.fail("begins another probability block of {child}", offset, child=child)
        parents = ()
        if self._expect(("|", ")")) == "|":
            parents = tuple(self._list(")", self._word, "the name of a parent"))
        for parent in parents:
            if parent == child or parents.count(parent) > 1:
                rule = "its own parent" if parent == child else "a parent of {child} twice"
                self.fail("makes {parent} " + rule, offset, parent=parent, child=child)
        self._expect("{")
        rows, table, default = [], None, None
        while (keyword := self._expect(("table", "default", "(", "property", "}"))) != "}":
            start = self._offset
            if keyword == "property":
                self._property()
                continue
            labels = tuple(self._list(")", self._word, "a state")) if keyword == "(" else ()
            row = Row(labels, self._list(";", self._number, "a probability"), start)
            if keyword == "(":
                rows.append(row)
            elif keyword == "table" and table is None:
                table = row
            elif keyword == "default" and default is None:
                default = row
            else:
                self.fail("has another {keyword} of {child}", start, keyword=keyword, child=child)
        if table is not None and (rows or default):
            self.fail("gives {child} a table and other rows besides", table.offset, child=child)
        if not (rows or table or default):
            self.fail("gives {child} no probabilities", offset, child=child)
        self.families[child] = Family(child, parents, rows, table, default, offset)

    def _check_names(self):
        for family in self.families.values():
            for name in (family.child, *family.parents):
                if name not in self.variables:
                    self.fail("names {name}, which is not declared", family.offset, name=name)
        originals = {}
        for name, declared in self.variables.items():
            if name not in self.families:
                rule = "declares {name}, which has no probability block"
                self.fail(rule, declared.offset, name=name)
            if declared.name in originals:
                rule = "declares another variable called {name!r}"
                self.fail(rule, declared.offset, name=declared.name)
            originals[declared.name] = name
