"""Formatting of lists, counts, types, alternatives and names in messages."""

import re

# Control characters except for tabs and line feeds, marks that change the direction of text, lone
# surrogates, and what XML does not allow.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text):
    r"""Return a text with its control characters escaped, for terminals, pages and pictures.

    Examples
    --------
    >>> from bnmtl.wording import printable
    >>> print(printable("r\u00e9d\x1b[31m"))
    réd\x1b[31m
    """
    return _CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], str(text))


_LONGEST = 200


def either(texts):
    """Format alternatives: a, b or c."""
    *first, last = texts
    return f"{', '.join(first)} or {last}" if first else last


def all_of(texts):
    """Format an enumeration: a, b and c."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def one_of(values):
    """Format the possible values of a parameter: 'a', 'b' or None."""
    return either([repr(value) for value in values])


def listed(names, noun="", limit=10):
    """Format names for a message: columns `a`, `b` and 3 more (`limit=None`: all of them)."""
    names = list(names)
    noun = f"{noun}s " if noun and len(names) != 1 else f"{noun} " if noun else ""
    shown = ", ".join(f"`{name}`" for name in names[:limit])
    more = f" and {len(names) - limit} more" if limit and len(names) > limit else ""
    return f"{noun}{shown}{more}"


def count(n, noun):
    """Format a number with its noun: 1 row, 2 rows."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def type_of(value):
    """Describe the type of a given object: str, None, the class DataFrame."""
    if value is None:
        return "None"
    is_class = isinstance(value, type)
    return f"the class {value.__name__}" if is_class else type(value).__name__


def shown(value):
    """Format a given value: as Python writes it, or its type where that is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of thousands of digits.
        return type_of(value)
    return text if len(text) <= _LONGEST and "\n" not in text else type_of(value)
