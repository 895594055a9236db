"""What the commands are asked for: names, defaults, help, checks of each by itself."""

import inspect
import math
import re
from dataclasses import MISSING, dataclass, field, fields
from typing import Annotated, get_origin

import typer
from typer.models import ArgumentInfo

from bnmtl.errors import InputError
from bnmtl.wording import Bare, either

_OPTION = "option"  # where a field keeps what the option parser needs
# Of words that stand behind an option in the help, or names of options are cut at 80 columns.
_WIDEST = 16


def _argument(metavar, help, check=None):
    """Return a field for an argument, which stands at its place and has no name."""
    return field(metadata={_OPTION: typer.Argument(metavar=metavar, callback=check, help=help)})


def _option(metavar, help, check=None, default=None):
    """Return a field for an option with a value; `check` turns what is typed into the value.

    An option whose default is MISSING has to be given.
    """
    option = typer.Option(metavar=metavar, callback=check, help=help)
    return field(default=default, metadata={_OPTION: option})


def _choice(words, help, default=None):
    """Return a field for an option that is one of a few words, given as in "error|drop"."""
    known = words.split("|")

    def check(option: typer.CallbackParam, text: str | None):
        if text is not None and text not in known:
            raise InputError(option.name, "must be {known:or}", _given(text), known=known)
        return text

    if len(words) > _WIDEST:
        words, help = "WORD", f"One of {either(known)}. {help}"
    return _option(words, help, check, default)


def _whole(least):
    """Return a check that an option is a whole number of at least `least`."""

    def check(option: typer.CallbackParam, text: str | None):
        if text is None:
            return None
        if not re.fullmatch(r"[+-]?[0-9]+", text) or int(text) < least:
            rule = "must be a whole number of at least {least}"
            raise InputError(option.name, rule, _given(text), least=least)
        return int(text)

    return check


def _number(rule, is_right, *words):
    """Return a check that an option is a certain number, or one of some words."""

    def check(option: typer.CallbackParam, text: str | None):
        if text is None or text in words:
            return text
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not is_right(number):
            raise InputError(option.name, f"must be {rule}", _given(text))
        return number

    return check


def _text(rule):
    """Return a check that an option is not blank."""

    def check(option: typer.CallbackParam, text: str | None):
        if text is not None and not text.strip():
            raise InputError(option.name, rule, _given(text))
        return text

    return check


def _given(text):
    return Bare(text if text.strip() else "nothing")


def _force(help):
    """Return a field for the option that allows to replace what is there."""
    return field(default=False, metadata={_OPTION: typer.Option("--force", help=help)})


_FILE, _NAME = _text("must name a file"), _text("must be a name")
_PENALTY = _number("auto or a number from 0 to 1", lambda x: 0 <= x <= 1, "auto")
_CHANCE = _number("auto, none or a number above 0 and below 1", lambda x: 0 < x < 1, "auto", "none")
_SMALL_PENALTY = _number("a number above 0 and below 1", lambda x: 0 < x < 1)
_SHARE = _number("a number above 0 and at most 1", lambda x: 0 < x <= 1)
_SIZE = _number("a number above 0 and at most 1e9", lambda x: 0 < x <= 1e9)
_SMOOTHING = _number("auto or a number above 0 and at most 1e9", lambda x: 0 < x <= 1e9, "auto")
_SECONDS = _number("a number of 0 or more", lambda x: 0 <= x < math.inf)


@dataclass(frozen=True, kw_only=True)
class LearningOptions:
    """What the commands that learn networks are asked for; the names are those of their options."""

    paths: tuple[str, ...] = _argument("PATH", "CSV or Parquet files: one per task, or one table.")
    task_column: str | None = _option("C", "Column that tells the task of a row.")
    ignore: tuple[str, ...] = _option("C", "Column to leave out; repeatable.", default=())
    missing: str = _choice(
        "error|drop|state",
        "Missing values: refuse, drop their rows, or a state of theirs.",
        default="error",
    )
    discretize: int | None = _option("N", "Cut continuous columns into N bins.", _whole(2))
    prior: str = _choice(
        "paired|edit", "What ties the tasks: agreement in pairs, or few edits.", default="paired"
    )
    penalty: float | str | None = _option(
        "X|auto",
        "How alike arcs are to be: 0 not at all, 1 one graph for all, auto as --choose says; if "
        "not given 0.99 where tasks are scored together (by mixed-dirichlet, --table-sharing auto) "
        "and --choose is not given, else auto.",
        _PENALTY,
    )
    score: str = _choice(
        "mixed-dirichlet|bdeu|bds|k2|bic|aic", "Score of a task's graph.", default="mixed-dirichlet"
    )
    table_sharing: str = _choice(
        "auto|none",
        "Whether tasks may have probability tables in common: auto, as far as their rows ask for "
        "it.",
        default="auto",
    )
    arc_probability: float | str = _option(
        "auto|X|none",
        "Prior probability of an arc: auto expects few, none has no preference.",
        _CHANCE,
        default="auto",
    )
    equivalent_sample_size: float | None = _option("A", "Of bdeu and bds (default 1).", _SIZE)
    parameter_sample_size: float | str = _option(
        "auto|A",
        "Imaginary rows that smooth the probability tables, each task's own then; auto: as many as "
        "the data ask for.",
        _SMOOTHING,
        default="auto",
    )
    max_parents: int | None = _option("N", "Most parents of a variable.", _whole(1))
    max_cells: int | None = _option(
        "N", "Largest table of a variable (default: ten cells a row, and at least 1000).", _whole(1)
    )
    required: str | None = _option(
        "F", "CSV of arcs that must be there: columns from, to, (task).", _FILE
    )
    forbidden: str | None = _option(
        "F", "CSV of arcs that must not be there: columns as above.", _FILE
    )
    tiers: str | None = _option(
        "F", "Tiers, a line each, variables separated by commas: no arc goes back.", _FILE
    )
    search: str | None = _choice(
        "orders|hill-climbing|exact",
        "Search for a graph of one task; orders, but hill-climbing with --restarts.",
    )
    starts: int | None = _option(
        "N", "Starts of a search over orders; 5 for up to 100 variables, fewer for more.", _whole(1)
    )
    restarts: int | None = _option("N", "Restarts of hill climbing; 100.", _whole(0))
    time_limit: float | None = _option(
        "S",
        "Seconds for the whole command; drawing and writing may take a little longer.",
        _SECONDS,
    )
    seed: int = _option("N", "The same seed gives the same result.", _whole(0), default=0)
    jobs: int | None = _option("N", "Threads, which change no result; all if not given.", _whole(1))
    out: str = _option("DIR", "Folder to write.", default="bnmtl-run")
    force: bool = _force("Replace the files of an earlier run in DIR; others stay.")


@dataclass(frozen=True, kw_only=True)
class Options(LearningOptions):
    """What `bnmtl learn` is asked for."""

    choose: str | None = _choice(
        "cv|one-standard-error|posterior",
        "What chooses the penalty: the best prediction of held-out rows, the largest penalty "
        "within a standard error of it, or the posterior of the penalty; cv if not given.",
    )
    folds: int | None = _option(
        "K",
        "Folds in which rows are held out, to choose and to compare; if not given 5 where no folds "
        "choose and tasks are scored together, else 10; 0 compares nothing.",
        _whole(0),
    )
    bootstrap: int = _option(
        "N", "Replicates that tell how sure each arc is; 0 leaves them out.", _whole(0), default=30
    )
    threshold: float | None = _option(
        "T",
        "Show and write the graphs of the arcs that this share of the replicates has, above 0, "
        "at most 1.",
        _SHARE,
    )


@dataclass(frozen=True, kw_only=True)
class RelateOptions(LearningOptions):
    """The options of `bnmtl relate`: those of `learn`, except for these."""

    relatedness: str = _choice(
        "direct|indirect|shared",
        "Edits between structures learned together (where tasks differ in what varies: the share "
        "of pairs of variables that differ), nats per row that one task's rows lose with another's "
        "structure, or how probably their tables differ.",
        default="direct",
    )
    penalty: float | None = _option(
        "X",
        "Of direct and shared, above 0, below 1; 0.9 if not given. What counts is log(1 - X): 0.9 "
        "is small, 0.99 twice as much, 0.999 three times.",
        _SMALL_PENALTY,
    )
    table_sharing: str = _choice(
        "auto|none",
        "Whether tasks may have probability tables in common while they are learned; shared always "
        "shares them.",
        default="none",
    )
    prior: str | None = _choice(
        "paired|edit",
        "Of direct and shared, what ties the tasks: agreement in pairs, or few edits; paired if "
        "not given.",
    )
    folds: int | None = _option(
        "K",
        "Folds in which rows are held out, to tell whether the arcs predict anything and for "
        "indirect, 10 there and else 5 if not given; 0 leaves it out, except for indirect.",
        _whole(0),
    )
    principal: tuple[str, ...] = _option(
        "T",
        "Task that the others are ordered by their distance to; repeatable; every task in turn if "
        "not given.",
        default=(),
    )
    out: str = _option("DIR", "Folder to write.", default="bnmtl-relate")


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """What `bnmtl predict` is asked for."""

    network: str = _argument(
        "NETWORK",
        "BIF file of a network, or folder of `bnmtl learn`, where each row is predicted by the "
        "network of its task.",
        _FILE,
    )
    rows: str = _argument(
        "ROWS", "CSV or Parquet file; variables without a column are taken as missing.", _FILE
    )
    target: str = _option(
        "V",
        "Variable to predict; its column, if there, only tells how many are right.",
        _NAME,
        MISSING,
    )
    out: str = _option(
        "F",
        "CSV file to write: the rows, with the prediction and all probabilities.",
        _FILE,
        MISSING,
    )
    task_column: str | None = _option(
        "C",
        "Column that tells the task of a row, if NETWORK is a folder; that of `bnmtl learn` if not "
        "given.",
        _NAME,
    )
    unseen: str = _choice(
        "error|ignore",
        "Values that the network does not know: refuse, or take them as missing.",
        default="error",
    )
    force: bool = _force("Replace F if it is there.")


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions:
    """What `bnmtl calibrate` is asked for."""

    scores: str = _argument("SCORES", "CSV or Parquet file: a row a case.", _FILE)
    label: str | None = _option(
        "Y",
        "Column of labels; rows without a label are calibrated by the others. Must be given but "
        "with --apply.",
        _NAME,
    )
    score: str = _option("P", "Column of scores, probabilities or others.", _NAME, MISSING)
    positive: str | None = _option(
        "VALUE", "The label whose probability the score is; 1 or True if not given.", _NAME
    )
    group: str | None = _option(
        "C", "Column of groups, which get sigmoids of their own, near that of all.", _NAME
    )
    apply: str | None = _option(
        "RUN",
        "Folder that an earlier run has written: take its calibrators, for scores without labels.",
        _FILE,
    )
    out: str = _option("DIR", "Folder to write.", default="bnmtl-calibrate")
    force: bool = _force("Replace the files of an earlier run in DIR; others stay.")


def contradiction(option, rule, found, *given, **details):
    """Return the mistake of two options of which one has no use for the other."""
    remedy = "leave one of the two out"
    return InputError(option, rule, *given, found=found, remedies=remedy, **details)


def takes_options(kind, after=None):
    """Let a command that takes an object of a dataclass be called with its fields instead.

    Arguments come first, then the options that the class writes down itself and those that it
    inherits, each in their order; ``after`` names an inherited option that its own ones follow.
    """
    known = {one.name: one for one in fields(kind)}
    arguments = [name for name, one in known.items() if _is_argument(one)]
    own = inspect.get_annotations(kind)
    inherited = [name for name in known if name not in own]
    before = inherited[: inherited.index(after) + 1] if after else []
    order = dict.fromkeys([*arguments, *before, *own, *known])

    def decorate(function):
        def command(**given):
            # The option parser may give None where an option that is repeatable is not given.
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
    """Return the parameter that tells the option parser of a field: what is typed is text."""
    typed = list[str] if _is_list(one) else bool if one.type is bool else str | None
    default = inspect.Parameter.empty if one.default is MISSING else one.default
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[typed, one.metadata[_OPTION]],
    )
