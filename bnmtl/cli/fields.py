"""Fields of the options of commands: help texts, checks of single values, and their declaration."""

import contextlib
import inspect
import math
import re
from dataclasses import MISSING, field, fields
from typing import Annotated, get_origin

import typer
from typer.models import ArgumentInfo

from bnmtl.cli.messages import Option
from bnmtl.errors import InputError
from bnmtl.wording import Bare, either

_OPTION = "option"  # key of the field metadata for the option parser
# Maximum width of the values shown after an option in the help; if wider, 80 columns do not
# suffice for the names of options.
_WIDEST = 16


def argument(metavar, help, check=None):
    """Return a field for a positional argument."""
    return field(metadata={_OPTION: typer.Argument(metavar=metavar, callback=check, help=help)})


def option(metavar, help, check=None, default=None):
    """Return a field for an option with a value; `check` converts the given text to the value.

    An option whose default is MISSING is required.
    """
    option = typer.Option(metavar=metavar, callback=check, help=help)
    return field(default=default, metadata={_OPTION: option})


def _check(rule, parse, *words, **details):
    """Return a check of the given text: one of `words`, or text for which `parse` is not None."""

    def check(option: typer.CallbackParam, text: str | None):
        value = text if text is None or text in words else parse(text)
        if text is not None and value is None:
            given = Bare(text if text.strip() else "nothing")
            raise InputError(Option(option.name), rule, given, **details)
        return value

    return check


def choice(words, help, default=None):
    """Return a field for an option with a few possible values, written as in "error|drop"."""
    known = words.split("|")
    check = _check("must be {known:or}", lambda text: None, *known, known=known)
    if len(words) > _WIDEST:
        words, help = "WORD", f"One of {either(known)}. {help}"
    return option(words, help, check, default)


def whole(least):
    """Return a check that an option is an integer of at least `least`."""

    return _check("must be a whole number of at least {least}", _as_whole(least), least=least)


def whole_or(word, least):
    """Return a check that an option is a word or an integer of at least `least`."""
    rule = f"must be {word} or a whole number of at least {{least}}"
    return _check(rule, _as_whole(least), word, least=least)


def _as_whole(least):
    def parse(text):
        return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) and int(text) >= least else None

    return parse


def number(rule, is_right, *words):
    """Return a check that an option is a number for which `is_right` holds, or one of `words`."""

    def parse(text):
        with contextlib.suppress(ValueError):
            return float(text) if is_right(float(text)) else None

    return _check(f"must be {rule}", parse, *words)


def text(rule):
    """Return a check that an option is not blank."""
    return _check(rule, lambda text: text if text.strip() else None)


def flag(name, help):
    """Return a field for an option without a value."""
    return field(default=False, metadata={_OPTION: typer.Option(name, help=help)})


def na(known="empty cells, NA and NaN"):
    """Return a field for the option that adds to what means missing in CSV files."""
    return option(
        "TEXT", f"Text that means missing in CSV files, beside {known}; repeatable.", default=()
    )


def only_na(known="empty cells, NA and NaN"):
    """Return a field for the option that replaces what means missing in CSV files."""
    return option(
        "TEXT",
        f"Text that means missing in CSV files, in place of {known}; repeatable.",
        default=(),
    )


def force(help):
    """Return a field for the option that permits overwriting."""
    return flag("--force", help)


FILE, FOLDER, NAME = map(text, ("must name a file", "must name a folder", "must be a name"))
# A file, or one of these words; `./one` is a file with such a name.
GROUPS_WORDS = ("auto", "one")
GROUPS = text("must be auto, one or the name of a file")
PENALTY = number("auto or a number from 0 to 1", lambda x: 0 <= x <= 1, "auto")
CHANCE = number("auto, none or a number above 0 and below 1", lambda x: 0 < x < 1, "auto", "none")
SMALL_PENALTY = number("a number above 0 and below 1", lambda x: 0 < x < 1)
SHARE = number("a number above 0 and at most 1", lambda x: 0 < x <= 1)
SIZE = number("a number above 0 and at most 1e9", lambda x: 0 < x <= 1e9)
SMOOTHING = number("auto or a number above 0 and at most 1e9", lambda x: 0 < x <= 1e9, "auto")
COUNT = whole_or("auto", 0)
KEPT = number("sweep or a number above 0 and at most 1", lambda x: 0 < x <= 1, "sweep")
POSITIVE = number("a number above 0", lambda x: 0 < x < math.inf)
SECONDS = number("a number of 0 or more", lambda x: 0 <= x < math.inf)


def inputs_of(options):
    """Return the files and folders that a command reads, as its options name them."""
    named = [getattr(options, one.name) for one in fields(options) if _is_input(one, options)]
    paths = [one if isinstance(one, tuple) else (one,) for one in named if one is not None]
    return [path for one in paths for path in one]


def _is_input(one, options):
    check = one.metadata[_OPTION].callback
    if check is GROUPS:
        return getattr(options, one.name) not in GROUPS_WORDS
    return _is_argument(one) or (one.name != "out" and check is FILE)


def takes_options(kind, after=None):
    """Decorate a command that takes a dataclass so that it is called with the fields instead.

    Arguments come first, then the options defined by the class and those it inherits, each in the
    order of definition; ``after`` names an inherited option after which the class's own are listed.
    """
    known = {one.name: one for one in fields(kind)}
    arguments = [name for name, one in known.items() if _is_argument(one)]
    defined = inspect.get_annotations(kind)
    inherited = [name for name in known if name not in defined]
    before = inherited[: inherited.index(after) + 1] if after else []
    order = dict.fromkeys([*arguments, *before, *defined, *known])

    def decorate(function):
        def command(**given):
            # The option parser may pass None for a repeatable option that is not given.
            lists = {name: tuple(given[name] or ()) for name in given if _is_list(known[name])}
            return function(kind(**{**given, **lists}))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = inspect.Signature([_parameter(known[name]) for name in order])
        return command

    return decorate


def _is_argument(one):
    return isinstance(one.metadata[_OPTION], ArgumentInfo)


def _is_list(one):
    return get_origin(one.type) is tuple


def _parameter(one):
    """Return the parameter that declares a field to the option parser, which passes text."""
    typed = list[str] if _is_list(one) else bool if one.type is bool else str | None
    default = inspect.Parameter.empty if one.default is MISSING else one.default
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[typed, one.metadata[_OPTION]],
    )
