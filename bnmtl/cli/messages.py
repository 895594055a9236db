"""Errors of users in terms of the command line: one sentence that names options."""

import contextlib
import os
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar

from bnmtl.errors import InputError, InputTypeError, InputWarning, MissingExtra, Mistake, Words
from bnmtl.wording import either

# Names of parameters in Python -> arguments or options of the commands.
_PLACES = {"paths": "PATH", "scores": "SCORES", "name": "NAME", "store": "STORE", "table": "TABLE"}
_PLACES |= dict.fromkeys(("path", "folder", "network"), "NETWORK")
_PLACES |= dict.fromkeys(("X", "frame", "rows"), "ROWS")
_OPTIONS = {
    "y": "label",
    "bins": "discretize",
    "penalties": "penalty",
    "cv": "folds",
    "n_bootstrap": "bootstrap",
    "task": "task_column",
}


class Option(str):
    """The name of an option, which is not always that of the parameter in Python."""


class _OptionWords(Words):
    """Writes parameters as options of the command line."""

    actions: ClassVar = {
        "ask for more classes": "choose `--strategy bootstrap-lv-ext` or `bootstrap-js`",
        "compare": "`bnmtl relate` compares them",
        "discretize": "discretize it first with `--discretize N`",
        "discretize as learned": "discretize it as for learning, or give {network} in the folder "
        "of its run, whose run.json has the cut points",
        "go on": "`bnmtl library` with the same options goes on",
        "group": "group its values (`--discretize N` does for numbers)",
        "leave doubtful out": "`--threshold 0.5` leaves the doubtful ones out",
        "leave out": "leave the column out with `--ignore C`",
        "leave out there": "leave such columns out with `--ignore C`",
        "no limit": "leave it out for a full search",
        "see skipped": "skipped.csv in STORE lists them",
        "settle more": "More rows or fewer variables (`--ignore`) may settle more of them",
        "show more": "More rows or fewer variables (--ignore) may show more.",
        "write predictions": "`bnmtl library` writes one; a CSV file will do, too",
    }

    def parameter(self, name):
        return _PLACES.get(name, f"`{_option(name)}`")

    def setting(self, name, value):
        return f"`{_option(name)}`" if value is True else f"`{_option(name)} {value}`"

    def value(self, value):
        return str(value)


OPTION_WORDS = _OptionWords()


def _option(name):
    option = name if isinstance(name, Option) else _OPTIONS.get(name, name)
    return f"--{option.replace('_', '-')}"


def in_one_sentence(error, given):
    """Return the message for an error of the user, or None for an internal error.

    Parameters
    ----------
    error : Exception
    given : list of str
        The arguments of the command and its default folder; some of them name files.
    """
    if hasattr(error, "format_message"):  # from the option parser, which typer may vendor
        return _usage_mistake(error)
    if isinstance(error, InputError | InputTypeError | MissingExtra):
        return in_options(error)
    if isinstance(error, OSError) and error.filename is not None and _is_named(error, given):
        return f"`{error.filename}`: {error.strerror}."
    return None


def _is_named(error, given):
    """Whether the file of an error is one that the user named, or lies in such a folder."""
    file = Path(os.path.abspath(str(error.filename)))
    values = (one.partition("=")[2] if one.startswith("--") else one for one in given)
    return any(file.is_relative_to(os.path.abspath(value)) for value in values if value)


def in_options(message):
    """Return the sentence of an error or warning, with options instead of parameters."""
    if not isinstance(message, Mistake):
        return str(message)
    if isinstance(message, InputWarning) and message.argument == "time_limit":
        # The limit of a stage is only a part of the user's time limit.
        message.found = None
    return message.render(OPTION_WORDS)


@contextlib.contextmanager
def renamed(argument, option):
    """Name an option in mistakes raised in the block, instead of an argument in Python."""
    try:
        yield
    except (InputError, InputTypeError) as mistake:
        if mistake.argument == argument:
            mistake.argument = option
        raise


def _missing(parameter):
    """Describe the missing argument or option."""
    if parameter.param_type_name == "option":
        return f"`{parameter.opts[0]} {parameter.metavar}` must be given"
    if parameter.metavar == "PATH":
        return "PATH must name at least one CSV or Parquet file; none was given"
    return f"{parameter.metavar} must be given"


def _usage_mistake(error):
    """Return one sentence for an error raised by the option parser itself."""
    context = getattr(error, "ctx", None)
    command = "bnmtl" if context is None else context.command_path
    remedy = f"see `{command} --help`"
    kind = type(error).__name__
    if kind == "MissingParameter":
        return f"{_missing(error.param)}: {remedy}."
    if kind == "NoSuchOption":
        # An option that begins with the given text is more likely than one with similar letters,
        # and the two dashes make any two options similar.
        begins = {one for one in error.possibilities or () if one.startswith(error.option_name)}
        names = [one.lstrip("-") for one in error.possibilities or ()]
        similar = get_close_matches(error.option_name.lstrip("-"), names, n=1)
        close = sorted(begins) or [f"--{name}" for name in similar]
        closest = f"take {either([f'`{one}`' for one in close])}, or " if close else ""
        return f"`{error.option_name}` is not an option of `{command}`: {closest}{remedy}."
    first = error.message.split(". ")[0].rstrip(".").replace("'", "`")
    return f"{first}: {remedy}."
