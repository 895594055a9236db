"""What the command line tells users of their mistakes: one sentence that names options."""

import linecache
import re

_RUN = "or give NETWORK in the folder of its run, whose run.json tells how to cut numbers"
_ROWS = "`(?:X|frame)`(?: of task `.*?`)?"
# What messages for users of Python name in their own way, and the options that do the same here.
_IN_OPTIONS = tuple(
    (re.compile(pattern), option)
    for pattern, option in (
        # Of `predict`, which neither cuts nor leaves out.
        (rf"^({_ROWS}: column .* is continuous .*); discretize .*", rf"\1; cut it, {_RUN}."),
        (rf"^({_ROWS}: column .* knows \(`below_.*\), got `-?[0-9.].*)\.$", rf"\1, {_RUN}."),
        (r"`unseen='ignore'`", "`--unseen ignore`"),
        (rf"^({_ROWS}: column .*) or leave (?:the column|it) out", r"\1 or remove the column"),
        (rf"^({_ROWS} must have columns among the )features of the fit", r"\1variables of NETWORK"),
        (r"`bnmtl\.tasks\.discretize`", "`--discretize N`"),
        (r"`missing='(drop|state)'`", r"`--missing \1`"),
        (r"or leave (the column|it) out", r"or leave \1 out with `--ignore C`"),
        (r"leave (it|them) out of that task \(.*?\)", r"leave \1 out with `--ignore C`"),
        (r"^`bins`(?= must )", "`--discretize`"),
        (r"^`paths`(?= must )", "PATH"),
        (r"^`name`(?= must )", "NAME"),
        (r"^`path`(?= must )", "NETWORK"),
        (r"^`(?:network|folder)`(?= must )", "NETWORK"),
        (r"^`target`(?= must )", "`--target`"),
        (r"^`X`(?=:? (?:column|must|has) )|^`frame`(?= of task )", "ROWS"),
        (r"`max_parents`=(\d+)", r"`--max-parents \1`"),
        (r"`max_cells`=(\d+)", r"`--max-cells \1`"),
        (r"raise `max_cells`, set `max_parents`", "raise it, set `--max-parents`"),
        # A stage has only a part of the time that was asked for.
        (r"`time_limit`=\S+;", "`--time-limit`;"),
        (r"Replicates were ended by `time_limit`", "Replicates were ended by `--time-limit`"),
        (r"Raise `time_limit` or leave it None", "Raise it or leave it out"),
        (r"^`search='(\w+)'`", r"`--search \1`"),
        (r"`?search='(orders)'`?", r"`--search \1`"),
        # Not what a column, task or file of that name is called by.
        (
            r"(?<!olumn )(?<!ask )(?<!ile )(?<!, )`(required|forbidden|tiers)`"
            r"(?= (?:and|arc|gives?|holds?|in one|names?|must be acyclic)\b)",
            r"`--\1`",
        ),
        (
            r"cannot be parted into `cv`=(\d+) folds; ask for fewer",
            r"are too few for the \1 folds of `--relatedness indirect`; ask for fewer with "
            "`--folds`, take direct, or leave the task out",
        ),
        (r'start from "identical" or lower the penalty', "give a lower `--penalty`"),
    )
)


def told(error):
    """Return what to tell a user whose mistake it is; None for an error inside bnmtl."""
    if hasattr(error, "format_message"):  # of the option parser, which typer may carry itself
        return _usage_mistake(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"`{error.filename}`: {error.strerror}."
    # What bnmtl refuses, it refuses by a `raise` of its own; a ValueError out of numpy is a bug.
    if isinstance(error, ValueError | TypeError | ImportError | OSError):
        trace = error.__traceback__
        while trace.tb_next is not None:
            trace = trace.tb_next
        line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.split(".")[0] == "bnmtl" and line.lstrip().startswith("raise"):
            return in_options(str(error))
    return None


def in_options(message):
    """Name the options of the command line where a message names parameters of Python."""
    for pattern, option in _IN_OPTIONS:
        message = pattern.sub(option, message)
    return message


def _missing(parameter):
    """Say what is missing, an argument or an option."""
    if parameter.param_type_name == "option":
        return f"`{parameter.opts[0]} {parameter.metavar}` must be given"
    if parameter.metavar == "PATH":
        return "PATH must name at least one CSV or Parquet file; none was given"
    return f"{parameter.metavar} must be given"


def _usage_mistake(error):
    """Return one sentence for what the option parser refuses by itself."""
    context = getattr(error, "ctx", None)
    command = "bnmtl" if context is None else context.command_path
    remedy = f"see `{command} --help`"
    kind = type(error).__name__
    if kind == "MissingParameter":
        return f"{_missing(error.param)}: {remedy}."
    if kind == "NoSuchOption":
        # An option that begins with what was typed is likelier than one of similar letters.
        begins = [one for one in error.possibilities or () if one.startswith(error.option_name)]
        close = (begins or error.possibilities or ())[:1]
        closest = "".join(f"take `{one}`, or " for one in close)
        return f"`{error.option_name}` is no option of `{command}`: {closest}{remedy}."
    first = error.message.split(". ")[0].rstrip(".").replace("'", "`")
    return f"{first}: {remedy}."
