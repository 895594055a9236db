"""The options of the command that asks for labels: names, defaults, help."""

from dataclasses import MISSING, dataclass

from bnmtl.cli.fields import (
    FILE,
    FOLDER,
    NAME,
    argument,
    choice,
    force,
    na,
    only_na,
    option,
    whole,
)

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
    task_column: str | None = option("C", "Column with the task of each row, such as a region.")
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
    na: tuple[str, ...] = na()
    only_na: tuple[str, ...] = only_na()
    seed: int = option("N", "Random seed; the same seed gives the same rows.", whole(0), 0)
    jobs: int | None = option(
        "N", "Number of processes (default: all cores); it does not change the result.", whole(1)
    )
    out: str = option("DIR", "Output folder.", FOLDER, "bnmtl-query")
    force: bool = force("Replace the files of an earlier run in DIR; others stay.")
