"""Errors and warnings about inputs, and common checks of parameters.

The sentence is written where the error is raised, with the names of parameters in backticks. What
else is known, such as the place of the mistake, is kept as data: `str` puts it before the sentence
and the remedy behind it, and the command line replaces names of parameters by those of options.
"""

import contextlib
import inspect
import math
import numbers
import operator
import warnings

from bnmtl.wording import one_of, printable, shown

_PACKAGE = __name__.partition(".")[0]
# The largest numbers of what is repeated in a search, of members that are fitted, and of cheap
# resamples: beyond them a typing error is more likely than the wish to wait.
MOST_REPEATS, MOST_MEMBERS, MOST_RESAMPLES = 10_000, 100_000, 1_000_000
# More processes than the machines of a cluster have cores.
MOST_JOBS = 1024
# The most cells of a table, and so the most rows that are drawn.
MOST_ROWS = 2**28
# The largest whole number that compiled code can take, and the largest float of round digits.
_LARGEST_WHOLE, _LARGEST_NUMBER = 2**63 - 1, 10**308


class Mistake:
    """A mistake in an input.

    Parameters
    ----------
    message : str
        The sentence without its subject and without a period: "must be above 0, got -1".
    argument : str, default=None
        The parameter with the mistake, the subject of the sentence.
    options : tuple of str, default=()
        Other parameters that the message and the remedy name in backticks.
    file, line, task, column : default=None
        The place of the mistake.
    remedy : str, default=None
        What to do about it.
    cli_remedy : str, default=None
        What to do about it at the command line; None is the same.
    """

    def __init__(
        self,
        message,
        *,
        argument=None,
        options=(),
        file=None,
        line=None,
        task=None,
        column=None,
        remedy=None,
        cli_remedy=None,
    ):
        super().__init__(message)
        self.message, self.argument, self.options = message, argument, tuple(options)
        self.file, self.line, self.task, self.column = file, line, task, column
        self.remedy, self.cli_remedy = remedy, cli_remedy

    def __str__(self):
        argument = None if self.argument is None else f"`{self.argument}`"
        return sentence(self, argument, self.message, self.remedy)

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self):
        return _restored, (type(self), self.__dict__)


def _restored(kind, parts):
    """A mistake from its parts, in another process."""
    mistake = kind(parts["message"])
    mistake.__dict__.update(parts)
    return mistake


def sentence(mistake, argument, message, remedy):
    """Return the sentence of a mistake, with its subject and remedy as given.

    Parameters
    ----------
    mistake : Mistake
        For its place.
    argument : str or None
        The argument as users know it.
    message : str
    remedy : str or None
    """
    parts = []
    if mistake.file is not None:
        line = "" if mistake.line is None else f", line {mistake.line}"
        parts.append(f"file `{mistake.file}`{line}")
    if mistake.task is not None:
        parts.append(f"task `{mistake.task}`")
    if argument is not None:
        parts.append(argument)
    if mistake.column is not None:
        parts.append(f"column `{mistake.column}`")
    text = f"{': '.join(parts)} {message}" if parts else message
    if remedy:
        text += f"{':' if '; ' in message else ';'} {remedy}"
    if "\n" in text:
        # A value is written as its type writes it, tables in several lines.
        text = " ".join(text.split())
    if parts:
        text = text[:1].upper() + text[1:]
    # A name may have characters that a terminal obeys.
    return printable(text if text.endswith(".") else f"{text}.")


class InputError(Mistake, ValueError):
    """An input has an invalid value."""


class InputTypeError(Mistake, TypeError):
    """An input has an invalid type."""


class MissingExtra(Mistake, ImportError):
    """An input needs a package that is not installed."""


class InputWarning(Mistake, UserWarning):
    """An input can be used, with a reservation."""


def warn(message, **parts):
    """Warn about an input at the user's line, the first one up the stack outside this package.

    Accepts the arguments of `InputWarning`.
    """
    frame, level = inspect.currentframe().f_back, 2
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(InputWarning(message, **parts), stacklevel=level)


@contextlib.contextmanager
def located(**parts):
    """Add a place or an argument to mistakes raised in the block, unless they have one.

    Parameters
    ----------
    **parts
        Some of `file`, `line`, `task`, `column` and `argument`.
    """
    try:
        yield
    except (InputError, InputTypeError, MissingExtra) as mistake:
        for name, value in parts.items():
            if getattr(mistake, name) is None:
                setattr(mistake, name, value)
        raise


def check_whole(argument, value, least=None, most=None, optional=False, **parts):
    """Raise unless a value is a whole number from `least` to `most`, inclusive.

    Parameters
    ----------
    argument : str
    value : object
    least, most : int, default=None
        None means unlimited, as far as it has at most 64 bits.
    optional : bool, default=False
        Whether it may be None.
    **parts
        Further parts of the error, such as a `remedy`.

    Raises
    ------
    InputTypeError
        If it is not a number.
    InputError
        If it is a number out of range.
    """
    if not isinstance(value, numbers.Integral) or value <= (most or _LARGEST_WHOLE):
        # Maxima against typing errors are only named where they help.
        most = None if most and most >= MOST_REPEATS else most
    elif most is None:
        most = _LARGEST_WHOLE
    limits = {"least": least, "most": most}
    _check(numbers.Integral, "a whole number", argument, value, limits, optional, parts)


def check_number(
    argument, value, least=None, above=None, most=None, below=None, optional=False, **parts
):
    """Raise unless a value is a finite number between limits.

    Parameters
    ----------
    argument : str
    value : object
    least, most : float, default=None
        Inclusive limits; None means unlimited.
    above, below : float, default=None
        Exclusive limits.
    optional : bool, default=False
        Whether it may be None.
    **parts
        Further parts of the error, such as a `remedy`.

    Raises
    ------
    InputTypeError
        If it is not a number.
    InputError
        If it is a number out of range.
    """
    limits = {"least": least, "above": above, "most": most, "below": below}
    _check(numbers.Real, "a number", argument, value, limits, optional, parts)


# How a value keeps a limit, and the rule.
_LIMITS = {
    "least": (operator.ge, "of at least"),
    "above": (operator.gt, "above"),
    "most": (operator.le, "of at most"),
    "below": (operator.lt, "below"),
}


def _check(kind, noun, argument, value, limits, optional, parts):
    """Raise unless a value is a finite number of a kind and keeps the limits that there are."""
    if optional and value is None:
        return
    given = {name: limit for name, limit in limits.items() if limit is not None}
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    # Arrays of fractions of the standard library would be arrays of objects.
    is_number = is_whole or (
        isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational)
    )
    is_finite = is_number and (abs(value) < _LARGEST_NUMBER if is_whole else math.isfinite(value))
    is_right = is_finite and isinstance(value, kind)
    if is_right and all(_LIMITS[name][0](value, limit) for name, limit in given.items()):
        return
    if {"least", "most"} <= set(given):
        rule = f"from {given['least']} to {given['most']}"
    else:
        rule = " and ".join(f"{_LIMITS[name][1]} {limit}" for name, limit in given.items())
        rule = rule.replace("and of", "and")
    message = f"must be {'None or ' if optional else ''}{noun} {rule}".rstrip()
    error = InputError if is_number else InputTypeError
    raise error(f"{message}, got {shown(value)}", argument=argument, **parts)


def check_jobs(n_jobs):
    """Raise unless `n_jobs` is a number of processes as joblib takes it: not 0, or None.

    Parameters
    ----------
    n_jobs : object
    """
    remedy = "-1 is all cores"
    check_whole("n_jobs", n_jobs, most=MOST_JOBS, optional=True, remedy=remedy)
    if n_jobs == 0:
        raise InputError("must not be 0", argument="n_jobs", remedy=remedy)


def check_flag(argument, value):
    """Raise InputTypeError unless a value is True or False, of Python or of numpy.

    Parameters
    ----------
    argument : str
    value : object
    """
    # Numpy is not imported here, because `--help` does not need it.
    is_of_numpy = getattr(value, "shape", None) == () and str(value.dtype) == "bool"
    if not (isinstance(value, bool) or is_of_numpy):
        raise InputTypeError(f"must be True or False, got {shown(value)}", argument=argument)


def check_choice(argument, value, choices, **parts):
    """Raise InputError unless a value is one of the choices, which may include None.

    Parameters
    ----------
    argument : str
    value : object
    choices : sequence
    **parts
        Further parts of the error, such as a `remedy`.
    """
    is_simple = value is None or isinstance(value, str | numbers.Real)
    if not is_simple or value not in choices:
        message = f"must be {one_of(choices)}, got {shown(value)}"
        raise InputError(message, argument=argument, **parts)
