"""Summaries printed at the end of commands: tables and lines of text."""

import textwrap
from math import isnan
from typing import NamedTuple

from bnmtl.calibration.quality import verdict
from bnmtl.learners.comparison import WAYS, WAYS_TO_LEARN
from bnmtl.learners.validated import penalty_name
from bnmtl.relatedness.measures import n_nearest, writer
from bnmtl.validation.tables import ALL
from bnmtl.wording import count

_WIDTH = 100
_MOST_ROWS = 20
_WAYS = {"one_group": "one group", "alone": "each alone", "empty": "no arcs"}


class Table(NamedTuple):
    """A table to print.

    Attributes
    ----------
    columns : list of str
    rows : list of list of str
    n_names : int
        Number of leading columns that contain text.
    if_too_wide : Table or None
        Printed instead if the table does not fit.
    """

    columns: list
    rows: list
    n_names: int = 1
    if_too_wide: object = None


def learn(result):
    """Show sizes, scores on held-out rows, the verdict and sharing."""
    from bnmtl.confidence import MEANING

    record = result.record
    held_out = record["held_out"]
    # Scores of interrupted searches are not meaningful.
    is_complete = held_out and not held_out["ended_by"]
    ways = [way for way in WAYS_TO_LEARN if is_complete and way in held_out]
    yield _networks(result, ways)
    if ways:
        yield "Held-out rows: mean log-likelihood of a row in nats, larger is better."
    yield ""
    for sentence in record["verdict"]:
        yield from textwrap.wrap(sentence, _WIDTH)
    if "task_groups" in record:
        yield from textwrap.wrap(record["task_groups"]["sentence"], _WIDTH)
    if result.single_task is None:
        yield "One task: nothing is shared."
    elif record["arcs"]["arcs"]:
        yield from _sharing(record)
    if record["sure"]:
        yield from textwrap.wrap(record["sure"], _WIDTH)
        yield from textwrap.wrap(MEANING, _WIDTH)
    yield _where(result)


def _networks(result, ways):
    """Return the table of the tasks' networks, with the scores of the given ways of learning."""
    from bnmtl.learners.arcs import sharing_kinds

    arcs, held_out = result.learner.arcs_, result.record["held_out"]
    several = result.single_task is not None
    labels = dict(getattr(result.learner, "task_groups_", {}))
    in_groups = len(set(labels.values())) > 1
    in_all = [kind == "all" for kind in sharing_kinds(arcs, labels or None)]
    scores = [_WAYS.get(way, way) for way in ways]
    sizes = ("rows", "variables", "arcs")
    rows, narrow = [], []
    for task in result.record["tasks"]:
        name = [task["name"], *([f"{labels[task['name']]}"] if in_groups else [])]
        row = [f"{task[size]}" for size in sizes]
        row += [f"{(arcs['task'][in_all] == task['name']).sum()}"] if several else []
        means = [f"{held_out['tasks'][task['name']][way]:.2f}" for way in ways]
        rows.append([*name, *row, *means])
        narrow.append([*name, *row[2:], *means])
    names = ["task", *(["group"] if in_groups else [])]
    shared = ["in all"] if several else []
    narrow = Table([*names, "arcs", *shared, *scores], narrow) if in_groups else None
    return Table([*names, *sizes, *shared, *scores], rows, if_too_wide=narrow)


def _sharing(record):
    counts = record["arcs"]
    sole = f", {counts['sole']} possible in one task only" if counts["sole"] else ""
    if "alone" in counts:
        yield from textwrap.wrap(
            f"{count(counts['arcs'], 'arc')}, counted once in each group: {counts['all']} in all "
            f"tasks of the group that could have them, {counts['some']} in some, {counts['one']} "
            f"in one only{sole}, {counts['alone']} of tasks that learn alone.",
            _WIDTH,
        )
    else:
        yield (
            f"{count(counts['arcs'], 'different arc')}: {counts['all']} in all tasks that could "
            f"have them, {counts['some']} in some, {counts['one']} in one only{sole}."
        )
    chosen = "the default" if record["settings"]["penalty"] is None else "as given"
    chosen = WAYS[record["chosen_by"]] if "validation_scores" in record else chosen
    yield (
        f"Penalty {penalty_name(record['penalty'])} (0: arcs are not shared, 1: one graph for "
        f"all), {chosen}."
    )


def relate(result):
    """Show the dissimilarities of all tasks or, if they do not fit, the nearest tasks."""
    table = result.dissimilarity
    write = writer(table.to_numpy())
    nearest = []
    for principal, others in result.order.groupby("principal", sort=False):
        values = others["dissimilarity"].to_numpy()
        n_more = n_nearest(values) - 1
        more = f" and {n_more} more" if n_more else ""
        nearest.append([principal, others["task"].iloc[0] + more, write(values[0])])
    rows = [[name, *map(write, values)] for name, *values in table.itertuples(name=None)]
    narrow = Table(["task", "nearest", "dissimilarity"], nearest, n_names=2)
    yield Table(["task", *table], rows, if_too_wide=narrow)
    yield ""
    for text in (result.record["verdict"], result.record["meaning"]):
        yield from textwrap.wrap(text, _WIDTH)
    yield _where(result)


def predict(result):
    """Show the frequency of each predicted state and, if states are known, the quality."""
    judged = result.judged
    columns = ["state", "predicted", "mean probability", *(["known"] if judged.n_known else [])]
    rows = [
        [state, f"{row.predicted}", f"{row['mean']:.3f}", f"{row.known}"][: len(columns)]
        for state, row in result.states.iterrows()
    ]
    yield Table(columns, rows)
    yield ""
    if len(result.by_task) > 1:
        yield _by_task(result.by_task)
        yield ""
    if judged.n_known:
        yield (
            f"Of {count(judged.n_known, 'row')} whose {result.target} is known, "
            f"{judged.accuracy:.1%} are predicted right; cross-entropy "
            f"{judged.cross_entropy:.3f} nats."
        )
    if result.cut_by is not None:
        yield f"Numeric columns were discretized at the cut points in {result.cut_by}."
    yield f"{count(judged.n_rows, 'row')} written to {result.path}."


def _by_task(judged):
    """Return each task's number of rows and, if states are known, the quality."""
    columns = ["task", "rows", "known", "right", "cross-entropy"]
    if not any(one.n_known for one in judged.values()):
        columns = columns[:2]
    rows = []
    for name, one in judged.items():
        good = [f"{one.accuracy:.1%}", f"{one.cross_entropy:.3f}"] if one.n_known else ["", ""]
        rows.append([name, f"{one.n_rows}", f"{one.n_known}", *good][: len(columns)])
    return Table(columns, rows)


def calibrate(result):
    """Show the quality of the probabilities of each method."""
    measures = result.measures
    rows = [[name, *(f"{one:.4f}" for one in values)] for name, *values in measures.itertuples()]
    yield Table(["method", *measures], rows)
    yield ""
    yield verdict(result.record)
    yield _where(result)


def apply(result):
    """Show the mean of each column of probabilities."""
    rows = [[name, f"{mean:.3f}"] for name, mean in result.columns.mean().items()]
    yield Table(["column", "mean probability"], rows)
    yield ""
    yield f"{count(len(result.columns), 'row')} written to {result.folder / 'scores.csv'}."


def select(result):
    """Show scores of the ensemble and of simpler ones, and what was chosen."""
    rows = [
        [name, *("" if isnan(one) else f"{one:.4f}" for one in values)]
        for name, *values in result.scores.itertuples()
    ]
    yield Table([result.record["metric"], *result.scores], rows)
    yield ""
    if result.tasks is not None:
        tasks = [
            [str(name), f"{n_cases:.0f}", *("" if isnan(one) else f"{one:.4f}" for one in values)]
            for name, n_cases, *values in result.tasks.itertuples()
        ]
        narrow = Table(["task", "unused cases", *result.tasks.columns[1:3]], [t[:4] for t in tasks])
        yield Table(["task", "unused cases", *result.tasks.columns[1:]], tasks, if_too_wide=narrow)
        yield ""
    for sentence in result.record["verdict"]:
        yield from textwrap.wrap(sentence, _WIDTH)
    yield _where(result)


def library(result):
    """Show the models by family, and how to go on."""
    store = result.store
    metric, title, best = "roc_area", "ROC area", "max"
    if not store.is_binary:
        metric, title, best = "cross_entropy", "cross-entropy", "min"
    table = store.settings.assign(score=store.score(metric).to_numpy())
    rows = [
        [
            name,
            str(len(group)),
            f"{group['seconds'].sum() / 2:.0f}",
            f"{group['score'].agg(best):.4f}",
        ]
        for name, group in table.groupby("family", sort=False)
    ]
    lacking = set(store.skipped["family"]) - set(table["family"])
    rows += [[name, "0", "", ""] for name in sorted(lacking)]
    yield Table(["family", "models", "seconds", f"best {title}"], rows)
    yield ""
    raw = int((~table["calibrated"].astype(bool)).sum())
    total = len(store.library.models)
    if result.n_before == total:
        yield "The library was complete; nothing was trained."
    elif result.n_before:
        yield f"{result.n_before} of {count(total, 'setting')} were there from an earlier run."
    yield (
        f"{count(store.n_models, 'model')} in {result.folder}: {count(raw, 'setting')}, raw and "
        f"calibrated; the {title} is that on the cases of selection."
    )
    yield f"Next: bnmtl select {result.folder} --metric {metric.replace('_', '-')}"


def query(result):
    """Show the first rows to label next, and what their labels are worth."""
    from bnmtl.cli.query import NEW_COLUMNS

    shown = result.queries[:_MOST_ROWS]
    given = [name for name in shown if name not in NEW_COLUMNS]
    names = [result.record["settings"]["task_column"], *given[:2]]
    names = list(dict.fromkeys(name for name in names if name is not None))
    rows = [
        [f"{rank}", *map(str, cells), str(predicted), f"{p:.2f}", reason]
        for rank, cells, predicted, p, reason in zip(
            shown["rank"],
            shown[names].itertuples(index=False, name=None),
            shown["predicted"],
            shown["probability"],
            shown["reason"],
            strict=True,
        )
    ]
    yield Table(["rank", *names, "predicted", "p", "reason"], rows, n_names=len(names) + 4)
    yield ""
    for sentence in result.record["verdict"]:
        yield from textwrap.wrap(sentence, _WIDTH)
    yield _where(result)


def validate(result):
    """Show the measures of each model over all rows, and which is better."""
    measures = result.measures[result.measures["task"] == ALL]
    wide = measures.pivot(index="model", columns="metric", values="value")
    names = list(dict.fromkeys(measures["metric"]))
    rows = [
        [model, *(_unless_missing(wide.loc[model, name]) for name in names)]
        for model in measures["model"].unique()
    ]
    titles = [name.replace("_", " ") for name in names]
    narrow = Table(["model", *titles[:3]], [row[:4] for row in rows])
    yield Table(["model", *titles], rows, if_too_wide=narrow)
    yield ""
    for sentence in result.record["verdict"]:
        yield from textwrap.wrap(sentence, _WIDTH)
    yield _where(result)


def _unless_missing(value):
    return "" if isnan(value) else f"{value:.4f}"


def _where(result):
    return f"{len(result.record['files'])} files in {result.folder}; begin with report.html."
