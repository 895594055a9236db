"""The options of the commands that learn, relate, predict and calibrate: names, defaults, help."""

from dataclasses import MISSING, dataclass

from bnmtl.cli.fields import (
    CHANCE,
    FILE,
    FOLDER,
    GROUPS,
    NAME,
    PENALTY,
    SECONDS,
    SHARE,
    SIZE,
    SMALL_PENALTY,
    SMOOTHING,
    argument,
    choice,
    force,
    na,
    only_na,
    option,
    whole,
)
from bnmtl.errors import InputError


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
    na: tuple[str, ...] = na()
    only_na: tuple[str, ...] = only_na()
    discretize: int | None = option("N", "Cut continuous columns into N bins.", whole(2))
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
    seed: int = option("N", "Random seed; the same seed gives the same result.", whole(0), 0)
    jobs: int | None = option(
        "N", "Number of threads (default: all); it does not change the result.", whole(1)
    )
    out: str = option("DIR", "Output folder.", FOLDER, "bnmtl-run")
    force: bool = force("Replace the files of an earlier run in DIR; others stay.")


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
        SMALL_PENALTY,
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
    out: str = option("DIR", "Output folder.", FOLDER, "bnmtl-relate")


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
    na: tuple[str, ...] = na("what did when NETWORK was learned")
    only_na: tuple[str, ...] = only_na("what did when NETWORK was learned")
    force: bool = force("Replace F if it exists.")


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
    na: tuple[str, ...] = na("empty cells, NA and NaN (with --apply: what did in RUN)")
    only_na: tuple[str, ...] = only_na("empty cells, NA and NaN (with --apply: what did in RUN)")
    out: str = option("DIR", "Output folder.", FOLDER, "bnmtl-calibrate")
    force: bool = force("Replace the files of an earlier run in DIR; others stay.")


def contradiction(option, rule, found, *given, **details):
    """Return the error for two options of which only one can be used."""
    remedy = "leave one of the two out"
    return InputError(option, rule, *given, found=found, remedies=remedy, **details)
