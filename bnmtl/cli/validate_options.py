"""The options of the command that judges models: names, defaults, help."""

from dataclasses import dataclass

from bnmtl.cli.fields import (
    FILE,
    FOLDER,
    NAME,
    SHARE,
    argument,
    choice,
    force,
    na,
    only_na,
    option,
    whole,
)

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
    task_column: str | None = option("C", "Column with the task of each row, such as a region.")
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
        "N", "Cut continuous columns into N bins, for networks and naive-bayes.", whole(2)
    )
    missing: str = choice(
        "error|drop|state",
        "Missing values of features: raise an error, drop their rows, or treat missing as a state "
        "(trees have them as scikit-learn's have).",
        default="error",
    )
    na: tuple[str, ...] = na()
    only_na: tuple[str, ...] = only_na()
    seed: int = option("N", "Random seed; the same seed gives the same result.", whole(0), 0)
    jobs: int | None = option(
        "N", "Number of processes (default: all cores); it does not change the result.", whole(1)
    )
    out: str = option("DIR", "Output folder.", FOLDER, "bnmtl-validate")
    force: bool = force("Replace the files of an earlier run in DIR; others stay.")
