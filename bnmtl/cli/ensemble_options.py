"""The options of the commands about ensembles: names, defaults, help."""

from dataclasses import MISSING, dataclass

from bnmtl.cli.fields import (
    COUNT,
    FILE,
    FOLDER,
    KEPT,
    NAME,
    POSITIVE,
    SHARE,
    SMALL_PENALTY,
    argument,
    choice,
    flag,
    force,
    na,
    only_na,
    option,
    whole,
)

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
    na: tuple[str, ...] = na()
    only_na: tuple[str, ...] = only_na()
    hillclimb: float | None = option(
        "X",
        "Share of the rows that is held out of training, for calibration and selection (default "
        "0.2 with --profile small and thesis); not with --cv.",
        SMALL_PENALTY,
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
    keep_models: bool = flag("--keep-models", "Keep the trained models in STORE.")
    seed: int = option("N", "Random seed; the same seed gives the same models.", whole(0), 0)
    jobs: int | None = option("N", "Number of processes (default: all cores).", whole(1))
    out: str = option("STORE", "Folder of the library.", FOLDER, "bnmtl-library")
    force: bool = force(
        "Replace another library in STORE, at once; an interrupted build goes on without it."
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
    na: tuple[str, ...] = na(_OF_LIBRARY)
    only_na: tuple[str, ...] = only_na(_OF_LIBRARY)
    bags: int = option("N", "Bags of models, whose ensembles are averaged.", whole(1), 20)
    bag_fraction: float = option("X", "Share of the models in each bag.", SHARE, 0.5)
    initial: int | str = option(
        "auto|N",
        "Number of the best models with which a bag starts; auto is the number up to 25 with the "
        "best mean.",
        COUNT,
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
    no_replacement: bool = flag("--no-replacement", "Let each model join a bag only once.")
    seed: int = option("N", "Random seed; the same seed gives the same result.", whole(0), 0)
    jobs: int | None = option(
        "N", "Number of threads (default: all); it does not change the result.", whole(1)
    )
    out: str = option("DIR", "Output folder.", FOLDER, "bnmtl-select")
    force: bool = force("Replace the files of an earlier run in DIR; others stay.")
