"""The grammar of BIF: from text to declared variables and blocks of probabilities, with offsets."""

import re
from typing import NamedTuple, NoReturn
from urllib.parse import unquote

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
    """A variable block: names as they were before they were written, and states as written."""

    name: str
    states: tuple
    states_as_written: tuple
    offset: int


class Row(NamedTuple):
    """One statement of a probability block; a `table` or `default` has no labels."""

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
    """A file under the parser; after `parse`, `variables` and `families` hold its blocks by name.

    Parameters
    ----------
    text : str
    source : str
        What errors call the file.
    """

    def __init__(self, text, source):
        self.text = text
        self.source = source
        self.variables = {}
        self.families = {}
        self._tokens, self._offsets = self._tokenize()
        self._at = 0

    def fail(self, message, offset) -> NoReturn:
        """Raise the error of the line that holds an offset."""
        line = self.text.count("\n", 0, offset) + 1
        raise ValueError(f"`{self.source}`, line {line}: {message}.")

    def parse(self):
        """Read all blocks and check that their names fit together."""
        if not self._tokens:
            self.fail("the file is empty", 0)
        self._expect("network", "a BIF file begins with `network`")
        self._network()
        while self._at < len(self._tokens):
            keyword = self._expect(("variable", "probability"))
            self._variable() if keyword == "variable" else self._probability()
        if not self.variables:
            self.fail("the file declares no variable", len(self.text))
        self._check_names()

    def _tokenize(self):
        tokens, offsets = [], []
        for match in _TOKEN.finditer(self.text):
            if match.lastgroup == "token":
                tokens.append(match[0])
                offsets.append(match.start())
            elif match.lastgroup == "bad":
                problem = {'"': "a quote is not closed", "/": "a comment is not closed"}.get(
                    match[0], f"the character {match[0]!r} has no place in a BIF file"
                )
                self.fail(problem, match.start())
        return tokens, offsets

    def _take(self):
        if self._at == len(self._tokens):
            self.fail("the file ends in the middle of a block", len(self.text.rstrip()))
        self._at += 1
        return self._tokens[self._at - 1]

    @property
    def _offset(self):
        """Offset of the token taken last."""
        return self._offsets[self._at - 1]

    def _expect(self, choices, message=None):
        choices = (choices,) if isinstance(choices, str) else choices
        token = self._take()
        if token not in choices:
            wanted = message or f"{' or '.join(f'`{choice}`' for choice in choices)} is expected"
            self.fail(f"{wanted}; `{token}` was found", self._offset)
        return token

    def _word(self, what):
        token = self._take()
        if token in _MARKS:
            self.fail(f"{what} is expected; `{token}` was found", self._offset)
        word = token.strip('"').strip()
        if not word:
            self.fail(f"{what} is empty", self._offset)
        return word

    def _number(self, what):
        word = self._word(what)
        if not _NUMBER.fullmatch(word):
            self.fail(f"{what} is expected; `{word}` is not a number", self._offset)
        value = float(word)
        if value < 0:
            self.fail(f"{what} must not be negative; it is {word}", self._offset)
        return value

    def _list(self, close, read, what):
        """Read items up to a closing mark; commas stand between all of them or between none."""
        items = [read(what)]
        commas = 0
        while (token := self._take()) != close:
            if token == ",":
                commas += 1
            else:
                self._at -= 1
            items.append(read(what))
        if commas not in (0, len(items) - 1):
            self.fail("a comma is missing between two of the values", self._offset)
        return items

    def _property(self):
        """Return the text of a property, without its semicolon."""
        start = self._at
        while (token := self._take()) != ";":
            if token in ("{", "}"):
                self.fail("a property ends in `;`", self._offset)
        return self.text[self._offsets[start] : self._offset].strip()

    def _unescaped(self, name):
        """Return the original of an escaped name."""
        try:
            return unquote(name.strip(), errors="surrogatepass")
        except UnicodeDecodeError:
            self.fail(f"`{name.strip()}` is no escaped name", self._offset)

    def _network(self):
        if self._take() != "{":
            self._expect("{")
        while self._expect(("property", "}")) == "property":
            self._property()

    def _variable(self):
        name = self._word("the name of a variable")
        offset = self._offset
        if name in self.variables:
            self.fail(f"variable `{name}` is declared twice", offset)
        self._expect("{")
        states = None
        original_name, original_states = name, None
        while (keyword := self._expect(("type", "property", "}"))) != "}":
            if keyword == "type":
                if states is not None:
                    self.fail(f"variable `{name}` has two types", self._offset)
                states = self._states(name)
                continue
            key, _, value = (part.strip() for part in self._property().partition("="))
            if key == NAME_PROPERTY:
                original_name = self._unescaped(value)
            elif key == STATES_PROPERTY:
                original_states = tuple(map(self._unescaped, value.split(",")))
                states_offset = self._offset
        if states is None:
            self.fail(f"variable `{name}` has no type", offset)
        if original_states is None:
            original_states = states
        if len(set(original_states)) != len(states) or len(original_states) != len(states):
            self.fail(
                f"`{STATES_PROPERTY}` must give {len(states)} different states", states_offset
            )
        self.variables[name] = Declared(original_name, original_states, states, offset)

    def _states(self, name):
        """Read `discrete [ n ] { states };`."""
        self._expect("discrete", "only discrete variables are supported")
        self._expect("[")
        count = self._word("the number of states")
        self._expect("]")
        self._expect("{")
        offset = self._offset
        states = tuple(self._list("}", self._word, f"a state of `{name}`"))
        self._expect(";")
        if count != str(len(states)):
            self.fail(f"`{name}` must have {count} states; {len(states)} are listed", offset)
        for state in states:
            if states.count(state) > 1:
                self.fail(f"state `{state}` of `{name}` is listed twice", offset)
        return states

    def _probability(self):
        self._expect("(")
        child = self._word("the name of a variable")
        offset = self._offset
        if child in self.families:
            self.fail(f"`{child}` has two probability blocks", offset)
        parents = ()
        if self._expect(("|", ")")) == "|":
            parents = tuple(self._list(")", self._word, "the name of a parent"))
        for parent in parents:
            if parent == child or parents.count(parent) > 1:
                problem = "its own parent" if parent == child else "listed twice as a parent"
                self.fail(f"`{parent}` is {problem}", offset)
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
                self.fail(f"`{child}` has two statements `{keyword}`", start)
        if table is not None and (rows or default):
            self.fail(f"`{child}` has a table and other rows besides", table.offset)
        if not (rows or table or default):
            self.fail(f"`{child}` has no probabilities", offset)
        self.families[child] = Family(child, parents, rows, table, default, offset)

    def _check_names(self):
        for family in self.families.values():
            for name in (family.child, *family.parents):
                if name not in self.variables:
                    self.fail(f"variable `{name}` is not declared", family.offset)
        originals = {}
        for name, declared in self.variables.items():
            if name not in self.families:
                self.fail(f"variable `{name}` has no probability block", declared.offset)
            if declared.name in originals:
                self.fail(f"two variables are called {declared.name!r}", declared.offset)
            originals[declared.name] = name
