"""The options of the commands: names, defaults, help texts, and checks of single values."""

import contextlib
import inspect
import math
import re
from dataclasses import MISSING, dataclass, field, fields
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


def _argument(metavar, help, check=None):
    """Return a field for a positional argument."""
    return field(metadata={_OPTION: typer.Argument(metavar=metavar, callback=check, help=help)})


def _option(metavar, help, check=None, default=None):
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


def _choice(words, help, default=None):
    """Return a field for an option with a few possible values, written as in "error|drop"."""
    known = words.split("|")
    check = _check("must be {known:or}", lambda text: None, *known, known=known)
    if len(words) > _WIDEST:
        words, help = "WORD", f"One of {either(known)}. {help}"
    return _option(words, help, check, default)


def _whole(least):
    """Return a check that an option is an integer of at least `least`."""

    return _check("must be a whole number of at least {least}", _as_whole(least), least=least)


def _whole_or(word, least):
    """Return a check that an option is a word or an integer of at least `least`."""
    rule = f"must be {word} or a whole number of at least {{least}}"
    return _check(rule, _as_whole(least), word, least=least)


def _as_whole(least):
    def parse(text):
        return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) and int(text) >= least else None

    return parse


def _number(rule, is_right, *words):
    """Return a check that an option is a number for which `is_right` holds, or one of `words`."""

    def parse(text):
        with contextlib.suppress(ValueError):
            return float(text) if is_right(float(text)) else None

    return _check(f"must be {rule}", parse, *words)


def _text(rule):
    """Return a check that an option is not blank."""
    return _check(rule, lambda text: text if text.strip() else None)


def _flag(name, help):
    """Return a field for an option without a value."""
    return field(default=False, metadata={_OPTION: typer.Option(name, help=help)})


def _force(help):
    """Return a field for the option that permits overwriting."""
    return _flag("--force", help)


_FILE, _NAME = _text("must name a file"), _text("must be a name")
_PENALTY = _number("auto or a number from 0 to 1", lambda x: 0 <= x <= 1, "auto")
_CHANCE = _number("auto, none or a number above 0 and below 1", lambda x: 0 < x < 1, "auto", "none")
_SMALL_PENALTY = _number("a number above 0 and below 1", lambda x: 0 < x < 1)
_SHARE = _number("a number above 0 and at most 1", lambda x: 0 < x <= 1)
_SIZE = _number("a number above 0 and at most 1e9", lambda x: 0 < x <= 1e9)
_SMOOTHING = _number("auto or a number above 0 and at most 1e9", lambda x: 0 < x <= 1e9, "auto")
_COUNT = _whole_or("auto", 0)
_KEPT = _number("sweep or a number above 0 and at most 1", lambda x: 0 < x <= 1, "sweep")
_POSITIVE = _number("a number above 0", lambda x: 0 < x < math.inf)
_SECONDS = _number("a number of 0 or more", lambda x: 0 <= x < math.inf)


@dataclass(frozen=True, kw_only=True)
class LearningOptions:
    """The options of the commands that learn networks."""

    paths: tuple[str, ...] = _argument(
        "PATH", "CSV or Parquet files: one per task, or one table of all tasks."
    )
    task_column: str | None = _option("C", "Column with the task of each row.")
    ignore: tuple[str, ...] = _option("C", "Column to leave out; repeatable.", default=())
    missing: str = _choice(
        "error|drop|state",
        "Missing values: raise an error, drop their rows, or treat missing as a state.",
        default="error",
    )
    discretize: int | None = _option("N", "Cut continuous columns into N bins.", _whole(2))
    prior: str = _choice(
        "paired|edit",
        "Prior that couples the tasks: agreement in pairs, or few edits.",
        default="paired",
    )
    penalty: float | str | None = _option(
        "X|auto",
        "How strongly tasks share arcs: 0 not at all, 1 means one graph for all, auto chooses as "
        "--choose says. Default: 0.99 if tasks are scored together (mixed-dirichlet and "
        "--table-sharing auto) and --choose is not given, else auto.",
        _PENALTY,
    )
    score: str = _choice(
        "mixed-dirichlet|bdeu|bds|k2|bic|aic", "Score of a task's graph.", default="mixed-dirichlet"
    )
    table_sharing: str = _choice(
        "auto|none",
        "Whether tasks may share probability tables; auto shares as much as their rows support.",
        default="auto",
    )
    arc_probability: float | str = _option(
        "auto|X|none",
        "Prior probability of an arc; auto expects few arcs, none is uniform over graphs.",
        _CHANCE,
        default="auto",
    )
    equivalent_sample_size: float | None = _option(
        "A", "Equivalent sample size of bdeu and bds (default 1).", _SIZE
    )
    parameter_sample_size: float | str = _option(
        "auto|A",
        "Imaginary rows that smooth the probability tables; auto learns the smoothing from the "
        "data, a number gives each task its own tables.",
        _SMOOTHING,
        default="auto",
    )
    max_parents: int | None = _option("N", "Maximum number of parents of a variable.", _whole(1))
    max_cells: int | None = _option(
        "N",
        "Maximum number of cells in the table of a variable (default: ten per row, at least 1000).",
        _whole(1),
    )
    required: str | None = _option(
        "F", "CSV file of required arcs: columns from, to and, optionally, task.", _FILE
    )
    forbidden: str | None = _option(
        "F", "CSV file of forbidden arcs: the same columns as --required.", _FILE
    )
    tiers: str | None = _option(
        "F",
        "File of tiers, one per line, variables separated by commas; no arc points to an earlier "
        "tier.",
        _FILE,
    )
    search: str | None = _choice(
        "orders|hill-climbing|exact",
        "Search for the graph of one task (default: orders, with --restarts hill-climbing).",
    )
    starts: int | None = _option(
        "N",
        "Starts of a search over orders (default: 5 for up to 100 variables, fewer for more).",
        _whole(1),
    )
    restarts: int | None = _option("N", "Restarts of hill climbing (default 100).", _whole(0))
    time_limit: float | None = _option(
        "S",
        "Time limit of the whole command in seconds; drawing and writing may take a little longer.",
        _SECONDS,
    )
    seed: int = _option("N", "Random seed; the same seed gives the same result.", _whole(0), 0)
    jobs: int | None = _option(
        "N", "Number of threads (default: all); it does not change the result.", _whole(1)
    )
    out: str = _option("DIR", "Output folder.", default="bnmtl-run")
    force: bool = _force("Replace the files of an earlier run in DIR; others stay.")


@dataclass(frozen=True, kw_only=True)
class Options(LearningOptions):
    """The options of `bnmtl learn`."""

    choose: str | None = _choice(
        "cv|one-standard-error|posterior",
        "How to choose the penalty: best prediction of held-out rows, largest penalty within one "
        "standard error of the best, or posterior of the penalty (default cv).",
    )
    folds: int | None = _option(
        "K",
        "Folds of the cross-validation that chooses the penalty and compares. Default: 5 if folds "
        "do not choose the penalty and tasks are scored together, else 10; 0 skips the comparison.",
        _whole(0),
    )
    bootstrap: int = _option(
        "N", "Replicates that show how sure each arc is; 0 skips them.", _whole(0), default=30
    )
    threshold: float | None = _option(
        "T",
        "Show and write consensus graphs: the arcs in this share of the replicates, above 0 and at "
        "most 1.",
        _SHARE,
    )


@dataclass(frozen=True, kw_only=True)
class RelateOptions(LearningOptions):
    """The options of `bnmtl relate`: those of `learn`, except for these."""

    relatedness: str = _choice(
        "direct|indirect|shared",
        "direct: edits between structures learned together (the share of pairs of variables that "
        "differ, if tasks do not vary in the same variables). indirect: nats per row that a task "
        "loses with the structure of another task. shared: how probably their tables differ.",
        default="direct",
    )
    penalty: float | None = _option(
        "X",
        "Penalty of direct and shared, above 0 and below 1 (default 0.9). It acts by log(1 - X): "
        "0.9 is weak, 0.99 twice as strong, 0.999 three times.",
        _SMALL_PENALTY,
    )
    table_sharing: str = _choice(
        "auto|none",
        "Whether tasks may share probability tables while they are learned; shared always shares "
        "them.",
        default="none",
    )
    prior: str | None = _choice(
        "paired|edit",
        "Prior of direct and shared that couples the tasks: agreement in pairs, or few edits "
        "(default paired).",
    )
    folds: int | None = _option(
        "K",
        "Folds of the cross-validation that tests whether the arcs predict anything (default 5), "
        "and of indirect (default 10); 0 skips the test, but indirect needs folds.",
        _whole(0),
    )
    principal: tuple[str, ...] = _option(
        "T",
        "Principal task: the others are ordered by their distance to it; repeatable (default: "
        "every task in turn).",
        default=(),
    )
    out: str = _option("DIR", "Output folder.", default="bnmtl-relate")


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The options of `bnmtl predict`."""

    network: str = _argument(
        "NETWORK",
        "BIF file, or folder of `bnmtl learn` to predict each row by the network of its task.",
        _FILE,
    )
    rows: str = _argument(
        "ROWS", "CSV or Parquet file; variables without a column are treated as missing.", _FILE
    )
    target: str = _option(
        "V",
        "Variable to predict; its own column, if there is one, is used only to judge predictions.",
        _NAME,
        MISSING,
    )
    out: str = _option(
        "F", "CSV file to write: the rows with predictions and probabilities.", _FILE, MISSING
    )
    task_column: str | None = _option(
        "C",
        "Column with the task of each row, if NETWORK is a folder (default: that of `bnmtl "
        "learn`).",
        _NAME,
    )
    unseen: str = _choice(
        "error|ignore",
        "Values that the network does not know: raise an error, or treat them as missing.",
        default="error",
    )
    force: bool = _force("Replace F if it exists.")


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions:
    """The options of `bnmtl calibrate`."""

    scores: str = _argument("SCORES", "CSV or Parquet file: one row per case.", _FILE)
    label: str | None = _option(
        "Y",
        "Column of labels; rows without a label are calibrated by the others. Required unless "
        "--apply is given.",
        _NAME,
    )
    score: str = _option("P", "Column of scores, probabilities or not.", _NAME, MISSING)
    positive: str | None = _option(
        "VALUE", "Label whose probability the score is (default: 1 or True).", _NAME
    )
    group: str | None = _option(
        "C", "Column of groups; each gets its own sigmoid, close to that of all rows.", _NAME
    )
    apply: str | None = _option(
        "RUN", "Folder of an earlier run: apply its calibrators to scores without labels.", _FILE
    )
    out: str = _option("DIR", "Output folder.", default="bnmtl-calibrate")
    force: bool = _force("Replace the files of an earlier run in DIR; others stay.")


@dataclass(frozen=True, kw_only=True)
class LibraryOptions:
    """The options of `bnmtl library`."""

    table: str = _argument("TABLE", "CSV or Parquet file: one row per case.", _FILE)
    label: str = _option("Y", "Column of labels, of two classes.", _NAME, MISSING)
    profile: str = _choice(
        "small|thesis",
        "Which models: about 150 in minutes, or about 1000 in hours (default small).",
        "small",
    )
    test: str | None = _option(
        "TABLE", "Further cases to predict, with the columns of TABLE; labels are optional.", _FILE
    )
    hillclimb: float = _option(
        "X",
        "Share of the rows that is held out of training, for calibration and selection; not used "
        "with --cv.",
        _SMALL_PENALTY,
        0.2,
    )
    cv: int | None = _option(
        "K",
        "Embedded cross-validation: each model is trained K times, and all rows are used for "
        "calibration and selection (default: no).",
        _whole(2),
    )
    time_limit: float | None = _option(
        "S", "Seconds after which a model is skipped (default: no limit).", _POSITIVE
    )
    max_memory: float | None = _option(
        "GB",
        "Gigabytes that all processes together may have; a model that needs more than its share "
        "is skipped (default: no limit).",
        _POSITIVE,
    )
    keep_models: bool = _flag("--keep-models", "Keep the trained models in STORE.")
    seed: int = _option("N", "Random seed; the same seed gives the same models.", _whole(0), 0)
    jobs: int | None = _option("N", "Number of processes (default: all cores).", _whole(1))
    out: str = _option("STORE", "Folder of the library.", default="bnmtl-library")
    force: bool = _force("Replace another library in STORE.")


@dataclass(frozen=True, kw_only=True)
class SelectOptions:
    """The options of `bnmtl select`."""

    store: str = _argument(
        "STORE",
        "Folder with the predictions of many models, or CSV or Parquet file: one column per model "
        "with the probability of the second of two labels, sorted, and one with the labels.",
        _FILE,
    )
    metric: str = _option(
        "M",
        "What the ensemble is selected for: accuracy, f-score, lift, roc-area, average-precision, "
        "break-even-point, root-mean-squared-error or cross-entropy.",
        _NAME,
        MISSING,
    )
    label: str | None = _option("Y", "Column of labels of a CSV file (default y).", _NAME)
    test: str | None = _option(
        "CSV",
        "Further cases, with the columns of STORE, to see how good the ensemble is (default: the "
        "part test of STORE, or five folds).",
        _FILE,
    )
    predict: str | None = _option(
        "ROWS", "New cases to predict, with one column per model; others are kept.", _FILE
    )
    bags: int = _option("N", "Bags of models, whose ensembles are averaged.", _whole(1), 20)
    bag_fraction: float = _option("X", "Share of the models in each bag.", _SHARE, 0.5)
    initial: int | str = _option(
        "auto|N",
        "Number of the best models with which a bag starts; auto is the number up to 25 with the "
        "best mean.",
        _COUNT,
        "auto",
    )
    prune: float | str = _option(
        "X|sweep",
        "Share of the models, the best ones, that may be selected at all; sweep chooses it by five "
        "folds.",
        _KEPT,
        1.0,
    )
    max_steps: int = _option("N", "Number of models that join each bag.", _whole(1), 200)
    patience: int | None = _option(
        "N",
        "Steps without a better score after which a bag ends (default: it takes all steps).",
        _whole(1),
    )
    no_replacement: bool = _flag("--no-replacement", "Let each model join a bag only once.")
    seed: int = _option("N", "Random seed; the same seed gives the same result.", _whole(0), 0)
    jobs: int | None = _option(
        "N", "Number of threads (default: all); it does not change the result.", _whole(1)
    )
    out: str = _option("DIR", "Output folder.", default="bnmtl-select")
    force: bool = _force("Replace the files of an earlier run in DIR; others stay.")


def contradiction(option, rule, found, *given, **details):
    """Return the error for two options of which only one can be used."""
    remedy = "leave one of the two out"
    return InputError(option, rule, *given, found=found, remedies=remedy, **details)


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
