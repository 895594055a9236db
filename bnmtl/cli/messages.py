"""Errors of users in terms of the command line: one sentence that names options."""

import contextlib
import os
import re
from difflib import get_close_matches
from pathlib import Path

from bnmtl.errors import InputError, InputTypeError, MissingExtra, Mistake, sentence
from bnmtl.wording import either

# Names of parameters in Python -> arguments or options of the commands. Others are options of the
# same name.
PLACES = {"paths": "PATH", "scores": "SCORES", "name": "NAME", "store": "STORE", "table": "TABLE"}
PLACES |= dict.fromkeys(("path", "folder", "network"), "NETWORK")
PLACES |= dict.fromkeys(("X", "frame", "rows"), "ROWS")
_OPTIONS = {
    "y": "--label",
    "bins": "--discretize",
    "penalties": "--penalty",
    "cv": "--folds",
    "n_bootstrap": "--bootstrap",
    "task": "--task-column",
}


def _place(name):
    """Return the argument or option for a parameter; names of options are taken as they are."""
    if name.startswith("--"):
        return f"`{name}`"
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    return PLACES.get(name, f"`{option}`")


def in_options(message):
    """Return the sentence of an error or warning, with options instead of parameters.

    Only the names that the mistake lists as its argument and options are replaced, because columns
    may have the name of any parameter.
    """
    if not isinstance(message, Mistake):
        return str(message)
    argument = None if message.argument is None else _place(message.argument)
    names = {message.argument, *message.options}
    remedy = message.remedy if message.cli_remedy is None else message.cli_remedy
    return sentence(
        message, argument, _with_options(message.message, names), _with_options(remedy, names)
    )


def _with_options(text, names):
    """Replace `name` and `name=value` in a text, for these names."""

    def option(found):
        name, value = found.groups()
        if name not in names:
            return found.group()
        if value in (None, "=True"):
            return _place(name)
        return f"`{_place(name).strip('`')} {value[1:].strip(chr(39))}`"

    return text and re.sub(r"`(\w+)(=[^`]*)?`", option, text)


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
    values = (text.partition("=")[2] if text.startswith("--") else text for text in given)
    return any(file.is_relative_to(os.path.abspath(value)) for value in values if value)


@contextlib.contextmanager
def renamed(**options):
    """Name options in mistakes raised in the block, instead of arguments in Python."""
    try:
        yield
    except (InputError, InputTypeError) as mistake:
        mistake.argument = options.get(mistake.argument, mistake.argument)
        raise


def conflict(option, other, message):
    """Return the error that an option is given that does not go with another."""
    return InputError(message, argument=option, options=(other,), remedy="leave one of the two out")


def _usage_mistake(error):
    """Return one sentence for an error raised by the option parser itself."""
    context = getattr(error, "ctx", None)
    command = "bnmtl" if context is None else context.command_path
    remedy = f"see `{command} --help`"
    kind = type(error).__name__
    if kind == "MissingParameter":
        name = error.param.metavar
        if name == "PATH":
            return f"PATH must name at least one CSV or Parquet file; none was given: {remedy}."
        if error.param.param_type_name == "option":
            name = f"`{error.param.opts[0]} {name}`"
        return f"{name} must be given: {remedy}."
    if kind == "NoSuchOption":
        # An option that begins with the given text is more likely than one with similar letters,
        # and the two dashes make any two options similar.
        names = {name.lstrip("-"): name for name in error.possibilities or ()}
        close = sorted(name for name in names.values() if name.startswith(error.option_name))
        if not close:
            similar = get_close_matches(error.option_name.lstrip("-"), names, n=1)
            close = [names[name] for name in similar]
        closest = f"take {either([f'`{name}`' for name in close])}, or " if close else ""
        return f"`{error.option_name}` is not an option of `{command}`: {closest}{remedy}."
    first = error.message.split(". ")[0].rstrip(".").replace("'", "`")
    return f"{first}: {remedy}."
