"""The options of all commands: names, defaults, help, and checks of single values."""

import contextlib
import inspect
import math
import re
from dataclasses import MISSING, dataclass, field, fields
from typing import Annotated, get_origin

import typer

from bnmtl.errors import InputError
from bnmtl.wording import either

# Maximum width of the values shown after an option in the help; if wider, 80 columns do not
# suffice for the names of options.
_WIDEST = 16


def option(metavar, help, check=None, default=None, kind=typer.Option):
    """Return a field for an option; `check` converts the given text to the value.

    An option whose default is MISSING is required; an option whose type is bool takes no value.
    """
    declared = {"metavar": metavar, "help": help, "callback": check}
    return field(default=default, metadata={"kind": kind, "declared": declared})


def argument(metavar, help, check=None):
    """Return a field for a positional argument."""
    return option(metavar, help, check, MISSING, typer.Argument)


def choice(words, help, default=None):
    """Return a field for an option with a few possible values, written as in "error|drop"."""
    known = words.split("|")
    check = value(f"must be {either(known)}", str, known.__contains__)
    if len(words) > _WIDEST:
        words, help = "WORD", f"One of {either(known)}. {help}"
    return option(words, help, check, default)


def value(rule, kind, is_right, *words):
    """Return a check of the given text: one of `words`, or a value of a kind that is right.

    The types of typer check choices and limits, too, but what they say depends on its version: in
    some, the given value is missing.
    """

    def check(option: typer.CallbackParam, text: str | None):
        if text is None or text in words:
            return text
        with contextlib.suppress(ValueError):
            if is_right(kind(text)):
                return kind(text)
        given = text if text.strip() else "nothing"
        raise InputError(f"{rule}, got {given}", argument=option.opts[0])

    return check


def number(limits, is_right, *words):
    """Return a check that an option is a number within limits, or one of `words`."""
    return value(f"must be {either([*words, f'a number {limits}'])}", float, is_right, *words)


def whole(least, *words):
    """Return a check that an option is an integer of at least `least`, or one of `words`."""
    rule = f"must be {either([*words, f'a whole number of at least {least}'])}"
    return value(rule, _integer, lambda n: n >= least, *words)


def _integer(text):
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    raise ValueError


FILE = value("must name a file", str, str.strip)
FOLDER = value("must name a folder", str, str.strip)
NAME = value("must be a name", str, str.strip)
# A file, or one of these words; `./one` is a file with such a name.
GROUPS_WORDS = ("auto", "one")
GROUPS = value("must be auto, one or the name of a file", str, str.strip)
PENALTY = number("from 0 to 1", lambda x: 0 <= x <= 1, "auto")
CHANCE = number("above 0 and below 1", lambda x: 0 < x < 1, "auto", "none")
OPEN_UNIT_INTERVAL = number("above 0 and below 1", lambda x: 0 < x < 1)
SHARE = number("above 0 and at most 1", lambda x: 0 < x <= 1)
KEPT = number("above 0 and at most 1", lambda x: 0 < x <= 1, "sweep")
SIZE = number("above 0 and at most 1e9", lambda x: 0 < x <= 1e9)
SMOOTHING = number("above 0 and at most 1e9", lambda x: 0 < x <= 1e9, "auto")
POSITIVE = number("above 0", lambda x: 0 < x < math.inf)
SECONDS = number("of 0 or more", lambda x: 0 <= x < math.inf)

# Options of several commands: value in the help, help and check. A command may give other words
# for those in braces.
_SHARED = {
    "task_column": ("C", "Column with the task of each row, such as a region."),
    "na": ("TEXT", "Text that means missing in CSV files, beside {known}; repeatable."),
    "only_na": ("TEXT", "Text that means missing in CSV files, in place of {known}; repeatable."),
    "seed": ("N", "Random seed; the same seed gives the same {result}.", whole(0)),
    "jobs": ("N", "Number of {workers}; it does not change the result.", whole(1)),
    "out": ("DIR", "Output folder.", FOLDER),
    "force": (None, "Replace the files of an earlier run in DIR; others stay."),
}
_WORDS = {
    "known": "empty cells, NA and NaN",
    "result": "result",
    "workers": "processes (default: all cores)",
}
_THREADS = "threads (default: all)"


def shared(name, default=None, **words):
    """Return a field for an option of several commands."""
    metavar, help, *check = _SHARED[name]
    return option(metavar, help.format(**_WORDS | words), *check, default=default)


def inputs_of(options):
    """Return the files and folders that a command reads, as its options name them."""
    paths = []
    for option in fields(options):
        given, check = getattr(options, option.name), option.metadata["declared"]["callback"]
        is_file = check is FILE and option.name != "out"
        is_file |= check is GROUPS and given not in GROUPS_WORDS
        if given is not None and (is_file or _is_argument(option)):
            paths += [given] if isinstance(given, str) else given
    return paths


def takes_options(kind, after=None):
    """Decorate a command that takes a dataclass so that it is called with the fields instead.

    Arguments come first, then the options defined by the class and those it inherits, each in the
    order of definition; ``after`` names an inherited option after which the class's own are listed.
    """
    known = {option.name: option for option in fields(kind)}
    arguments = [name for name, option in known.items() if _is_argument(option)]
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


def _is_argument(option):
    return option.metadata["kind"] is typer.Argument


def _is_list(option):
    return get_origin(option.type) is tuple


def _parameter(option):
    """Return the parameter that declares a field to the option parser, which passes text."""
    is_flag = option.type is bool
    # Without its name, a flag would have an opposite, such as --no-force.
    names = [f"--{option.name.replace('_', '-')}"] if is_flag else []
    declared = option.metadata["kind"](*names, **option.metadata["declared"])
    typed = list[str] if _is_list(option) else bool if is_flag else str | None
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if option.default is MISSING else option.default,
        annotation=Annotated[typed, declared],
    )


@dataclass(frozen=True, kw_only=True)
class LearningOptions:
    """The options of the commands that learn networks."""

    paths: tuple[str, ...] = argument(
        "PATH", "CSV or Parquet files: one per task, or one table of all tasks."
    )
    task_column: str | None = option("C", "Column with the task of each row.")
    ignore: tuple[str, ...] = option("C", "Column to leave out; repeatable.", default=())
    missing: str = choice(
        "error|drop|state",
        "Missing values: raise an error, drop their rows, or treat missing as a state.",
        default="error",
    )
    na: tuple[str, ...] = shared("na", ())
    only_na: tuple[str, ...] = shared("only_na", ())
    discretize: int | None = option("N", "Discretize continuous columns into N bins.", whole(2))
    prior: str = choice(
        "paired|edit",
        "Prior that couples the tasks: agreement in pairs, or few edits.",
        default="paired",
    )
    penalty: float | str | None = option(
        "X|auto",
        "How strongly tasks share arcs: 0 not at all, 1 means one graph for all, auto chooses as "
        "--choose says. Default: 0.99 if tasks are scored together (mixed-dirichlet and "
        "--table-sharing auto) and --choose is not given, else auto.",
        PENALTY,
    )
    score: str = choice(
        "mixed-dirichlet|bdeu|bds|k2|bic|aic", "Score of a task's graph.", default="mixed-dirichlet"
    )
    table_sharing: str = choice(
        "auto|none",
        "Whether tasks may share probability tables; auto shares as much as their rows support.",
        default="auto",
    )
    arc_probability: float | str = option(
        "auto|X|none",
        "Prior probability of an arc; auto expects few arcs, none is uniform over graphs.",
        CHANCE,
        default="auto",
    )
    equivalent_sample_size: float | None = option(
        "A", "Equivalent sample size of bdeu and bds (default 1).", SIZE
    )
    parameter_sample_size: float | str = option(
        "auto|A",
        "Imaginary rows that smooth the probability tables; auto learns the smoothing from the "
        "data, a number gives each task its own tables.",
        SMOOTHING,
        default="auto",
    )
    max_parents: int | None = option("N", "Maximum number of parents of a variable.", whole(1))
    max_cells: int | None = option(
        "N",
        "Maximum number of cells in the table of a variable (default: ten per row, at least 1000).",
        whole(1),
    )
    required: str | None = option(
        "F", "CSV file of required arcs: columns from, to and, optionally, task.", FILE
    )
    forbidden: str | None = option(
        "F", "CSV file of forbidden arcs: the same columns as --required.", FILE
    )
    tiers: str | None = option(
        "F",
        "File of tiers, one per line, variables separated by commas; no arc points to an earlier "
        "tier.",
        FILE,
    )
    search: str | None = choice(
        "orders|hill-climbing|exact",
        "Search for the graph of one task (default: orders, with --restarts hill-climbing).",
    )
    starts: int | None = option(
        "N",
        "Starts of a search over orders (default: 5 for up to 100 variables, fewer for more).",
        whole(1),
    )
    restarts: int | None = option("N", "Restarts of hill climbing (default 100).", whole(0))
    time_limit: float | None = option(
        "S",
        "Time limit of the whole command in seconds; drawing and writing may take a little longer.",
        SECONDS,
    )
    seed: int = shared("seed", 0)
    jobs: int | None = shared("jobs", workers=_THREADS)
    out: str = shared("out", "bnmtl-run")
    force: bool = shared("force", False)


@dataclass(frozen=True, kw_only=True)
class Options(LearningOptions):
    """The options of `bnmtl learn`."""

    task_groups: str = option(
        "auto|one|F",
        "Which tasks learn from each other: groups that are found from the data, one group of all, "
        "or those of a CSV file with columns task and group (./auto is a file called auto).",
        GROUPS,
        default="auto",
    )
    choose: str | None = choice(
        "cv|one-standard-error|posterior",
        "How to choose the penalty: best prediction of held-out rows, largest penalty within one "
        "standard error of the best, or posterior of the penalty (default cv).",
    )
    folds: int | None = option(
        "K",
        "Folds of the cross-validation that chooses the penalty and compares. Default: 5 if folds "
        "do not choose the penalty and tasks are scored together, else 10; 0 skips the comparison.",
        whole(0),
    )
    bootstrap: int = option(
        "N", "Replicates that show how sure each arc is; 0 skips them.", whole(0), default=30
    )
    threshold: float | None = option(
        "T",
        "Show and write consensus graphs: the arcs in this share of the replicates, above 0 and at "
        "most 1.",
        SHARE,
    )


@dataclass(frozen=True, kw_only=True)
class RelateOptions(LearningOptions):
    """The options of `bnmtl relate`: those of `learn`, except for these."""

    relatedness: str = choice(
        "direct|indirect|shared|evidence",
        "direct: edits between structures learned together (the share of pairs of variables that "
        "differ, if tasks do not vary in the same variables). indirect: nats per row that a task "
        "loses with the structure of another task. shared: how probably their tables differ. "
        "evidence: by how many nats their arcs gain less together than those of the best pair.",
        default="direct",
    )
    penalty: float | None = option(
        "X",
        "Penalty of direct and shared (default 0.9) and of evidence (default 0.99), above 0 and "
        "below 1. It acts by log(1 - X): 0.9 is weak, 0.99 twice as strong, 0.999 three times.",
        OPEN_UNIT_INTERVAL,
    )
    table_sharing: str | None = choice(
        "auto|none",
        "Whether tasks may share probability tables while they are learned (default auto for "
        "evidence, else none); the tables that shared compares are always shared.",
    )
    prior: str | None = choice(
        "paired|edit",
        "Prior of direct and shared that couples the tasks: agreement in pairs, or few edits "
        "(default paired).",
    )
    folds: int | None = option(
        "K",
        "Folds of the cross-validation that tests whether the arcs predict anything (default 5), "
        "and of indirect (default 10); 0 skips the test, but indirect needs folds.",
        whole(0),
    )
    principal: tuple[str, ...] = option(
        "T",
        "Principal task: the others are ordered by their distance to it; repeatable (default: "
        "every task in turn).",
        default=(),
    )
    out: str = shared("out", "bnmtl-relate")


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The options of `bnmtl predict`."""

    network: str = argument(
        "NETWORK",
        "BIF file, or folder of `bnmtl learn` to predict each row by the network of its task.",
        FILE,
    )
    rows: str = argument(
        "ROWS", "CSV or Parquet file; variables without a column are treated as missing.", FILE
    )
    target: str = option(
        "V",
        "Variable to predict; its own column, if there is one, is used only to judge predictions.",
        NAME,
        MISSING,
    )
    out: str = option(
        "F", "CSV file to write: the rows with predictions and probabilities.", FILE, MISSING
    )
    task_column: str | None = option(
        "C",
        "Column with the task of each row, if NETWORK is a folder (default: that of `bnmtl "
        "learn`).",
        NAME,
    )
    unseen: str = choice(
        "error|ignore",
        "Values that the network does not know: raise an error, or treat them as missing.",
        default="error",
    )
    na: tuple[str, ...] = shared("na", (), known="what did when NETWORK was learned")
    only_na: tuple[str, ...] = shared("only_na", (), known="what did when NETWORK was learned")
    force: bool = option(None, "Replace F if it exists.", default=False)


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions:
    """The options of `bnmtl calibrate`."""

    scores: str = argument("SCORES", "CSV or Parquet file: one row per case.", FILE)
    label: str | None = option(
        "Y",
        "Column of labels; rows without a label are calibrated by the others. Required unless "
        "--apply is given.",
        NAME,
    )
    score: str = option("P", "Column of scores, probabilities or not.", NAME, MISSING)
    positive: str | None = option(
        "VALUE", "Label whose probability the score is (default: 1, True, true or TRUE).", NAME
    )
    task_column: str | None = option(
        "C",
        "Column with the task of each row; each task gets its own sigmoid, close to that of all "
        "rows.",
        NAME,
    )
    group: str | None = option(
        "C",
        "Column of groups, such as patients, whose rows are calibrated by those of other groups.",
        NAME,
    )
    method: tuple[str, ...] = option(
        "WORD",
        "Method of calibration, one of auto, platt, beta, isotonic, temperature; repeatable "
        "(default: auto and isotonic). platt is a sigmoid of the scores; auto is platt or, for "
        "probabilities that it fits better, beta.",
        default=(),
    )
    apply: str | None = option(
        "RUN", "Folder of an earlier run: apply its calibrators to scores without labels.", FILE
    )
    na: tuple[str, ...] = shared(
        "na", (), known="empty cells, NA and NaN (with --apply: what did in RUN)"
    )
    only_na: tuple[str, ...] = shared(
        "only_na", (), known="empty cells, NA and NaN (with --apply: what did in RUN)"
    )
    out: str = shared("out", "bnmtl-calibrate")
    force: bool = shared("force", False)


# What means missing unless --na and --only-na say it.
_OF_LIBRARY = "empty cells, NA and NaN (for a library, the same as when it was built)"


@dataclass(frozen=True, kw_only=True)
class LibraryOptions:
    """The options of `bnmtl library`."""

    table: str = argument("TABLE", "CSV or Parquet file: one row per case.", FILE)
    label: str = option("Y", "Column of labels, of two classes or more.", NAME, MISSING)
    task_column: str | None = option(
        "C",
        "Column with the task of each row, such as a region: a category for all models except "
        "networks of all tasks, which are learned together.",
        NAME,
    )
    profile: str = choice(
        "modern|small|thesis",
        "modern has about 45 models of gradient boosting, extra trees and others, small about 150, "
        "thesis about 1200 (most of appendix 4.B), which take hours (default modern).",
        "modern",
    )
    test: str | None = option(
        "TABLE", "Further cases to predict, with the columns of TABLE; labels are optional.", FILE
    )
    na: tuple[str, ...] = shared("na", ())
    only_na: tuple[str, ...] = shared("only_na", ())
    hillclimb: float | None = option(
        "X",
        "Share of the rows that is held out of training, for calibration and selection (default "
        "0.2 with --profile small and thesis); not with --cv.",
        OPEN_UNIT_INTERVAL,
    )
    cv: int | None = option(
        "K",
        "Embedded cross-validation: each model is trained K times, and all rows are used for "
        "calibration and selection (default 5 with --profile modern, fewer if a class has fewer "
        "rows, unless --hillclimb is given; else no).",
        whole(2),
    )
    calibration: str = choice(
        "auto|platt|beta|isotonic|temperature",
        "How models are calibrated, as by `bnmtl calibrate` (default auto).",
        "auto",
    )
    group: str | None = option(
        "C",
        "Column of groups, such as patients, whose rows are never divided between folds, or "
        "training and hill climbing.",
    )
    time_limit: float | None = option(
        "S", "Seconds after which a model is skipped (default: no limit).", POSITIVE
    )
    max_memory: float | None = option(
        "GB",
        "Gigabytes that all processes together may have; a model that needs more than its share "
        "is skipped (default: no limit).",
        POSITIVE,
    )
    keep_models: bool = option(None, "Keep the trained models in STORE.", default=False)
    seed: int = shared("seed", 0, result="models")
    jobs: int | None = option("N", "Number of processes (default: all cores).", whole(1))
    out: str = option("STORE", "Folder of the library.", FOLDER, "bnmtl-library")
    force: bool = option(
        None,
        "Replace another library in STORE, at once; an interrupted build goes on without it.",
        default=False,
    )


@dataclass(frozen=True, kw_only=True)
class SelectOptions:
    """The options of `bnmtl select`."""

    store: str = argument(
        "STORE",
        "Folder with the predictions of many models, or CSV or Parquet file: one column per model "
        "with the probability of the second of two labels, sorted, and one with the labels.",
        FILE,
    )
    metric: str = option(
        "M",
        "What the ensemble is selected for: accuracy, f-score, lift, roc-area, average-precision, "
        "eleven-point-average-precision, break-even-point, root-mean-squared-error, brier-score or "
        "cross-entropy; or another metric of probabilities of bnmtl or scikit-learn, such as "
        "neg-brier-score.",
        NAME,
        MISSING,
    )
    label: str | None = option("Y", "Column of labels of a CSV file (default y).", NAME)
    task_column: str | None = option(
        "C",
        "Column with the task of each row of a CSV file, to see the scores on each task; a folder "
        "knows its tasks.",
        NAME,
    )
    group: str | None = option(
        "C",
        "Column of groups of a CSV file, such as patients, whose rows are never divided between "
        "folds; a folder knows its groups.",
    )
    test: str | None = option(
        "TABLE",
        "Further cases, to see how good the ensemble is: with the columns of STORE or, if it is a "
        "folder of `bnmtl library`, of its table; the chosen models are trained again then "
        "(default: the part test of STORE, or five folds).",
        FILE,
    )
    predict: str | None = option(
        "ROWS",
        "New cases to predict, with one column per model or, if STORE is a folder of `bnmtl "
        "library`, the columns of its table; others are kept.",
        FILE,
    )
    na: tuple[str, ...] = shared("na", (), known=_OF_LIBRARY)
    only_na: tuple[str, ...] = shared("only_na", (), known=_OF_LIBRARY)
    bags: int = option("N", "Bags of models, whose ensembles are averaged.", whole(1), 20)
    bag_fraction: float = option("X", "Share of the models in each bag.", SHARE, 0.5)
    initial: int | str = option(
        "auto|N",
        "Number of the best models with which a bag starts; auto is the number up to 25 with the "
        "best mean.",
        whole(0, "auto"),
        "auto",
    )
    prune: float | str = option(
        "X|sweep",
        "Share of the models, the best ones, that may be selected at all; sweep chooses it by five "
        "folds.",
        KEPT,
        1.0,
    )
    max_steps: int = option("N", "Number of models that join each bag.", whole(1), 200)
    patience: int | None = option(
        "N",
        "Steps without a better score after which a bag ends (default: it takes all steps).",
        whole(1),
    )
    no_replacement: bool = option(None, "Let each model join a bag only once.", default=False)
    seed: int = shared("seed", 0)
    jobs: int | None = shared("jobs", workers=_THREADS)
    out: str = shared("out", "bnmtl-select")
    force: bool = shared("force", False)


STRATEGIES = (
    *("active-decorate", "active-decorate-js", "margin", "query-by-bagging", "query-by-boosting"),
    *("bootstrap-lv", "bootstrap-lv-ext", "bootstrap-js", "multitask", "random"),
)


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """The options of `bnmtl query`."""

    table: str = argument("TABLE", "CSV or Parquet file: one row per case.", FILE)
    label: str = option(
        "Y", "Column of labels; rows in which it is empty can be asked for.", NAME, MISSING
    )
    task_column: str | None = shared("task_column")
    n: int = option("N", "Number of rows to ask for.", whole(1), 10)
    strategy: str | None = choice(
        "|".join(STRATEGIES),
        "multitask learns networks of all tasks together, and is the default with --task-column; "
        "without it the default is active-decorate; margin asks where a random forest is least "
        "decided. All but multitask treat the task as a feature; active-decorate and "
        "active-decorate-js draw their artificial cases by task.",
    )
    ignore: tuple[str, ...] = option(
        "C", "Column that is not a feature, such as an identifier; repeatable.", default=()
    )
    exclude: str | None = option(
        "F",
        "Table of rows that must not be asked for: those that agree with a row of F in all columns "
        "that both tables have, such as an identifier.",
        FILE,
    )
    cost: str | None = option("C", "Column with the cost of each label, above 0.", NAME)
    map: str | None = option("X,Y", "Two columns, such as coordinates, over which to draw a map.")
    na: tuple[str, ...] = shared("na", ())
    only_na: tuple[str, ...] = shared("only_na", ())
    seed: int = shared("seed", 0, result="rows")
    jobs: int | None = shared("jobs")
    out: str = shared("out", "bnmtl-query")
    force: bool = shared("force", False)


MODELS = ("network", "together", "mob-esp", "eb-pets", "b-pets", "forest", "naive-bayes")


@dataclass(frozen=True, kw_only=True)
class ValidateOptions:
    """The options of `bnmtl validate`."""

    table: str = argument("TABLE", "CSV or Parquet file: one row per case.", FILE)
    label: str | None = option(
        "Y",
        "Column of labels to predict. Without it the learned structures are judged: how well they "
        "predict held-out rows, and how stable their arcs are.",
        NAME,
    )
    model: tuple[str, ...] = option(
        "WORD",
        f"Model to judge, one of {', '.join(MODELS)}; repeatable (default: network and forest, and "
        "with --task-column also together). network learns each task alone, together learns all "
        "tasks at once; the others have the task as a feature.",
        default=(),
    )
    task_column: str | None = shared("task_column")
    group: str | None = option(
        "C",
        "Column of groups, such as patients, whose rows are never divided between training and "
        "test.",
    )
    ignore: tuple[str, ...] = option(
        "C", "Column to leave out, such as an identifier; repeatable.", default=()
    )
    scheme: str | None = choice(
        "bootstrap|kfold|holdout",
        "How training rows are drawn: as many as there are, with repetition (the others are "
        "predicted); all but a fold; all but a random share (default kfold, because networks "
        "learned from repeated rows are worse). Without --label: bootstrap for the stability of "
        "arcs instead of halves.",
    )
    rounds: int | None = option(
        "N",
        "Number of bootstraps or shares held out (default 50), of cross-validations (default 5), "
        "or without --label of replicates (default 50).",
        whole(1),
    )
    folds: int | None = option(
        "K",
        "Number of folds of kfold, or of held-out rows without --label (default 10, or as many as "
        "the rows of a class, or the groups, allow).",
        whole(2),
    )
    test_size: float | None = option("X", "Share of the rows of holdout (default 0.1).", SHARE)
    discretize: int | None = option(
        "N", "Discretize continuous columns into N bins, for networks and naive-bayes.", whole(2)
    )
    missing: str = choice(
        "error|drop|state",
        "Missing values of features: raise an error, drop their rows, or treat missing as a state "
        "(trees have them as scikit-learn's have).",
        default="error",
    )
    na: tuple[str, ...] = shared("na", ())
    only_na: tuple[str, ...] = shared("only_na", ())
    seed: int = shared("seed", 0)
    jobs: int | None = shared("jobs")
    out: str = shared("out", "bnmtl-validate")
    force: bool = shared("force", False)
