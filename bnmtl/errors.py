"""Errors and warnings about inputs, which contain their parts as data, and common checks.

A mistake names its place (file, line, task, column), the argument, the rule, the given value and
the remedies. Python and the command line render the same parts, each with its own `Words`. The
texts are templates: `{name}` denotes the detail with that name or, if there is none, the parameter,
and `{name=value}` a parameter with a value. Texts are shown in backticks (`{name!s}`: without),
lists as lists of them (`{names:task}`: with a noun), `{n:row}` is a number of rows, `{names:or}`
the possible values of a parameter, and another mistake is a clause of the sentence.

Names and other text of users are details, never parts of a template, in which their braces would
have a meaning. A text that is `Bare` is not a template: it is shown as it is.
"""

import contextlib
import inspect
import math
import numbers
import operator
import os
import string
import warnings
from typing import ClassVar

from bnmtl.wording import Bare, count, either, listed


class NOTHING:
    """In place of the given value if a message shows none: a class is pickled by its name."""


class Action(str):
    """The name of a remedy; `Words.actions` says how users carry it out."""


_PACKAGE = __name__.partition(".")[0]


class Words:
    """Rendering of parameters, their values and remedies for users of Python."""

    # Templates by the name of the `Action`.
    actions: ClassVar = {
        "ask for more classes": "use `BootstrapLVExt` or `BootstrapJS`",
        "compare": "`bnmtl.relatedness` compares them",
        "discretize": "discretize it first, for example with `bnmtl.tasks.discretize`",
        "discretize as learned": "discretize it at the cut points used for learning, with "
        "`Edges.apply`",
        "go on": "`build_library` with the same arguments goes on",
        "group": "group its values (`bnmtl.tasks.discretize` does for numbers)",
        "leave doubtful out": "`bnmtl.confidence.consensus` leaves the doubtful ones out",
        "leave out": "leave the column out",
        "leave out there": "leave such columns out of that task (a task may lack variables)",
        "no limit": "leave it None for a full search",
        "see skipped": "`skipped` of the store lists them",
        "settle more": "More rows or fewer variables may settle more of them",
        "show more": "More rows or fewer variables may show more.",
        "write predictions": "`build_library` and `PredictionStore.save` write one",
    }

    def parameter(self, name):
        """Render the name of a parameter."""
        return f"`{name}`"

    def setting(self, name, value):
        """Render a parameter with its value."""
        return f"`{name}={value!r}`"

    def value(self, value):
        """Render a possible value of a parameter."""
        return repr(value)

    def remedy(self, remedy):
        """Return the template of a remedy."""
        return self.actions[remedy] if isinstance(remedy, Action) else remedy


class _Template(string.Formatter):
    """Fills the template of one mistake."""

    def __init__(self, words, details):
        self._words, self._details = words, details

    def get_field(self, name, args, kwargs):
        if name in self._details:
            return self._details[name], name
        parameter, is_set, value = name.partition("=")
        if is_set:
            value = {"None": None, "True": True, "False": False}.get(value, value)
            return Bare(self._words.setting(parameter, value)), name
        return Bare(self._words.parameter(parameter)), name

    def format_field(self, value, spec):
        if spec == "or":
            return either([self._words.value(one) for one in value])
        if isinstance(value, Mistake):
            return value.clause(self._words)
        is_noun = len(spec) > 2 and spec.replace(" ", "").isalpha()
        if isinstance(value, list | tuple):
            return listed(value, spec if is_noun else "")
        if isinstance(value, str | os.PathLike) and not isinstance(value, Bare):
            return f"`{value}`"
        return count(value, spec) if is_noun else format(value, spec)

    def convert_field(self, value, conversion):
        return Bare(super().convert_field(value, conversion)) if conversion else value


class Mistake:
    """A problem with an input, in parts.

    Parameters
    ----------
    argument : str, default=None
        The parameter with the problem.
    rule : str
        The rule that it violates: a template, or `Bare`.
    given : object, default=nothing
        The given value, shown by its `repr`.
    found : str, default=None
        A description of the problem in place of `given`: a template, or `Bare`.
    remedies : str, Action or sequence of these, default=()
        Alternative remedies: templates, or actions for which `Words` have templates.
    file, line, task, column : default=None
        The place of the problem.
    **details
        Values used in the templates.
    """

    def __init__(
        self,
        argument=None,
        rule="",
        given=NOTHING,
        found=None,
        remedies=(),
        *,
        file=None,
        line=None,
        task=None,
        column=None,
        **details,
    ):
        super().__init__()
        self.argument, self.rule, self.given, self.found = argument, rule, given, found
        self.remedies = (remedies,) if isinstance(remedies, str) else tuple(remedies)
        self.file, self.line, self.task, self.column = file, line, task, column
        self.details = details

    def __str__(self):
        return self.render(Words())

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self):
        return type(self), (), self.__dict__

    @property
    def args(self):
        """Arguments of a mistake with the same text, for tools that rebuild exceptions from them.

        Pickling keeps the parts; these arguments contain only the text, as a template.
        """
        text = str(self).removesuffix(".")
        return None, text.replace("{", "{{").replace("}", "}}")

    def render(self, words):
        """Return the message in one sentence, rendered for Python or for a command."""
        clause = self.clause(words)
        if self._subject(words):
            clause = clause[:1].upper() + clause[1:]
        return f"{clause}."

    def clause(self, words):
        """Return the message as a part of a sentence."""

        def filled(template):
            if isinstance(template, Bare):
                return template
            return _Template(words, self.details).format(template)

        subject = self._subject(words)
        text = f"{subject} {filled(self.rule)}" if subject else filled(self.rule)
        if self.given is not NOTHING:
            text += f", got {self.given!r}"
        if self.found is not None:
            text += f"; {filled(self.found)}"
        if self.remedies:
            remedies = ", or ".join(filled(words.remedy(remedy)) for remedy in self.remedies)
            text += f"{'; ' if self.found is None else ': '}{remedies}"
        return text

    def _subject(self, words):
        """Render the place and the argument."""
        parts = []
        if self.file is not None:
            line = "" if self.line is None else f", line {self.line}"
            parts.append(f"file `{self.file}`{line}")
        if self.task is not None:
            parts.append(f"task `{self.task}`")
        if self.argument is not None:
            parts.append(words.parameter(self.argument))
        if self.column is not None:
            parts.append(f"column `{self.column}`")
        return ": ".join(parts)


class InputError(Mistake, ValueError):
    """An input has an invalid value."""


class InputTypeError(Mistake, TypeError):
    """An input has an invalid type."""


class MissingExtra(Mistake, ImportError):
    """An input needs a package that is not installed."""


class InputWarning(Mistake, UserWarning):
    """An input can be used, with a reservation."""


def warn(*parts, **details):
    """Warn about an input at the user's line, the first one up the stack outside this package.

    Accepts the arguments of `InputWarning`.
    """
    frame, level = inspect.currentframe().f_back, 2
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(InputWarning(*parts, **details), stacklevel=level)


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


def check_whole(argument, value, least=None, most=None, optional=False, remedies=()):
    """Raise unless a value is a whole number from `least` to `most`, inclusive.

    Parameters
    ----------
    argument : str
    value : object
    least, most : int, default=None
        None means unlimited.
    optional : bool, default=False
        Whether it may be None.
    remedies : str or sequence of str, default=()
        Advice in the error.

    Raises
    ------
    InputTypeError
        If it is not a number.
    InputError
        If it is a number out of range.
    """
    limits = {"least": least, "most": most}
    _check(numbers.Integral, "a whole number", argument, value, limits, optional, remedies)


def check_number(
    argument, value, least=None, above=None, most=None, below=None, optional=False, remedies=()
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
    remedies : str or sequence of str, default=()
        Advice in the error.

    Raises
    ------
    InputTypeError
        If it is not a number.
    InputError
        If it is a number out of range.
    """
    limits = {"least": least, "above": above, "most": most, "below": below}
    _check(numbers.Real, "a number", argument, value, limits, optional, remedies)


# How a value keeps a limit, and the rule.
_LIMITS = {
    "least": (operator.ge, "of at least {least}"),
    "above": (operator.gt, "above {above}"),
    "most": (operator.le, "of at most {most}"),
    "below": (operator.lt, "below {below}"),
}


def _check(kind, noun, argument, value, limits, optional, remedies):
    """Raise unless a value is a finite number of a kind and keeps the limits that there are."""
    if optional and value is None:
        return
    given = {name: limit for name, limit in limits.items() if limit is not None}
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    is_right = is_number and isinstance(value, kind) and math.isfinite(value)
    if is_right and all(_LIMITS[name][0](value, limit) for name, limit in given.items()):
        return
    said = " and ".join(_LIMITS[name][1] for name in given).replace("and of", "and")
    if {"least", "most"} <= set(given):
        said = "from {least} to {most}"
    rule = f"must be {'None or ' if optional else ''}{noun} {said}".rstrip()
    error = InputError if is_number else InputTypeError
    raise error(argument, rule, value, remedies=remedies, **limits)


def check_jobs(n_jobs):
    """Raise unless `n_jobs` is a number of processes as joblib takes it: not 0, or None.

    Parameters
    ----------
    n_jobs : object
    """
    remedies = "-1 is all cores"
    check_whole("n_jobs", n_jobs, optional=True, remedies=remedies)
    if n_jobs == 0:
        raise InputError("n_jobs", "must not be 0", remedies=remedies)


def check_choice(argument, value, choices, remedies=()):
    """Raise InputError unless a value is one of the choices, which may include None.

    Parameters
    ----------
    argument : str
    value : object
    choices : sequence
    remedies : str or sequence of str, default=()
        Advice in the error.
    """
    is_simple = value is None or isinstance(value, str | numbers.Real)
    if not is_simple or value not in choices:
        raise InputError(
            argument, "must be {choices:or}", value, remedies=remedies, choices=choices
        )
