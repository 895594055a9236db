"""Networks of all tasks together: `bnmtl learn`."""

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from bnmtl import plotting
from bnmtl.cli.learner import (
    check_choosing,
    common_parameters,
    has_folds,
    kernels_needed,
    learner_asked_for,
    n_folds,
    score_named,
)
from bnmtl.cli.messages import conflict
from bnmtl.cli.runs import FolderResult, Picture, Table, TimeLimit, new_run, where, wrapped
from bnmtl.cli.tables import check_folds, read_tasks, warn_of_copies, warn_of_order
from bnmtl.confidence import MEANING, arc_confidence, consensus, sure_words, with_confidence
from bnmtl.errors import warn
from bnmtl.graphs import takes_part
from bnmtl.io.run import check_file_sizes, check_required
from bnmtl.learners import SingleTaskLearner
from bnmtl.learners.adapted import as_chosen, family_limits, with_graphs
from bnmtl.learners.arcs import sharing_counts, sharing_kinds
from bnmtl.learners.comparison import (
    NOTHING_FOUND,
    WAYS,
    WAYS_TO_LEARN,
    compare_within,
    held_out_record,
    nothing_found,
    sentences,
)
from bnmtl.learners.task_groups import group_sentence
from bnmtl.learners.validated import penalty_name
from bnmtl.networks.shared_tables import borrowed_record
from bnmtl.reports.learned import draw_penalties
from bnmtl.reports.learned import write as write_report
from bnmtl.search import Memory
from bnmtl.search.compilation import compiled_ahead
from bnmtl.wording import count, listed
from bnmtl.writing import file_names

_FIXED_FILES = ("arcs.csv", "dags.svg", "dags.png", "arcs.png", "report.html")
_CONFIDENCE_FILE = "confidence.csv"
MOST_PAIRS = 1_000_000
_BORROWED_FILES = ("borrowed.csv", "borrowing.png")
_GAINS_FILE = "group-gains.png"
# Stages, as named in run.json, and their shares of a time limit.
_LEARNING = "learning"
_COMPARING = "comparing on held-out rows"
_REPLICATES = "learning replicates"
_ALONE = "learning each task alone, to compare"
_DRAWING = "pictures"
_PARTS = {_LEARNING: 4, _COMPARING: 3, _REPLICATES: 3, _ALONE: 1, _DRAWING: 1}
# If folds have chosen the penalty, their results are reused.
_PART_OF_KNOWN_FOLDS = 0.2


class Found(NamedTuple):
    """The results of learning.

    Attributes
    ----------
    learned : Learner
        The fitted learner.
    shown : Learner
        The same learner or, with a threshold, the learner with consensus graphs.
    held_out : dict or None
        Comparison on held-out rows; None if no rows were held out.
    confidence : pandas.DataFrame or None
        Confidence of each arc; None without replicates.
    single_task : SingleTaskLearner or None
        The tasks learned one by one; None for a single task.
    """

    learned: object
    shown: object
    held_out: dict | None
    confidence: object
    single_task: object


@dataclass(frozen=True)
class Result(FolderResult):
    """The result of a run; attributes as in `Found`, and `learner` is `Found.shown`."""

    learner: object
    single_task: object
    confidence: object


def run(options, progress=None):
    """Learn the networks of all tasks; see `bnmtl.cli`."""
    limit = TimeLimit(options.time_limit, _PARTS)
    for stage, n in ((_COMPARING, options.folds), (_REPLICATES, options.bootstrap)):
        if n == 0:
            del limit.parts[stage]
    if options.threshold is not None and not options.bootstrap:
        message = "must go with replicates; `bootstrap='0'` makes none"
        raise conflict("threshold", "bootstrap", message)
    check_choosing(options)
    fixed = _fixed_files(options)
    score, kernels = score_named(options), kernels_needed(options)
    with new_run("learn", options, fixed) as run, compiled_ahead(kernels):
        tasks, origin = read_tasks(options)
        files = file_names(tasks.names, ".bif", fixed)
        run.folder.reserve(files.values())
        common = common_parameters(options, tasks, score, progress)
        run.lap("reading")
        found = _found(options, tasks, common, limit, run)
        verdict, is_nothing = _verdict(options, found)
        pictures = _pictures(found.shown, found.confidence, is_nothing)
        entries = {**origin, **_record(options, found, files, verdict)}
        page = partial(_write_page, found=found)
        record = run.write(entries, _contents(found, files), pictures, page, _layout)
    shown = found.shown, found.single_task, found.confidence
    return Result(*shown, folder=run.folder.path, record=record)


def _fixed_files(options):
    """Return the names of the files that may be written, except those of networks."""
    confidence = (_CONFIDENCE_FILE,) if options.bootstrap else ()
    borrowed = _BORROWED_FILES if options.table_sharing == "auto" else ()
    gains = (_GAINS_FILE,) if options.task_groups == "auto" else ()
    return (*_FIXED_FILES, *confidence, *borrowed, *gains)


def _found(options, tasks, common, limit, run):
    """Learn, compare, and learn replicates and each task alone, as required by the options."""
    memory, progress = Memory(), common["progress"]
    learned = shown = _learned(options, tasks, common, limit, memory)
    run.lap(_LEARNING)
    _warn_of_few_rows(learned)
    warn_of_copies(tasks)
    warn_of_order(tasks)
    held_out = confidence = None
    if _COMPARING in limit.parts:
        held_out = _compared(options, learned, tasks, limit.of(_COMPARING))
    run.lap(_COMPARING)
    if _REPLICATES in limit.parts:
        chosen = as_chosen(learned)
        chosen = chosen.set_params(limits=chosen.limits.replaced(time_limit=None))
        confidence = arc_confidence(
            tasks, chosen, options.bootstrap, light=True, time_limit=limit.of(_REPLICATES)
        )
        run.lap(_REPLICATES)
    if options.threshold is not None:
        may_have = family_limits(learned)
        graphs = consensus(confidence, options.threshold, by="edge", may_have=may_have)
        shown = with_graphs(learned, graphs)
    limits = common["limits"].replaced(time_limit=limit.of(_ALONE))
    single_task = _learned_alone(tasks, {**common, "limits": limits}, memory, progress)
    run.lap(_ALONE)
    return Found(learned, shown, held_out, confidence, single_task)


def _learned(options, tasks, common, limit, memory):
    """Return the fitted learner that the options describe; its networks must not be too large."""
    learner = learner_asked_for(options, tasks, common)
    if _COMPARING in limit.parts and has_folds(learner):
        limit.parts[_COMPARING] = _PART_OF_KNOWN_FOLDS
    learner.set_params(limits=learner.limits.replaced(time_limit=limit.of(_LEARNING)))
    check_folds(options.folds, tasks)
    check_required(learner, tasks)
    learner.fit(tasks, memory=memory)
    check_file_sizes(learner.configuration_, tasks, "give a lower `max_cells` or `max_parents`")
    return learner


def _warn_of_few_rows(learner):
    """Warn about tasks that have too few rows for what is learned."""
    tasks, networks = learner.tasks_, learner.networks_
    few = [name for name, task in tasks.items() if task.n_rows < task.n_variables]
    rich = [name for name in tasks if networks[name].n_parameters > tasks[name].n_rows]
    for names, rule in (
        (few, f"There are fewer rows than variables in {listed(few, 'task')}"),
        (rich, f"There are more parameters than rows in {listed(rich, 'network')}"),
    ):
        if names:
            warn(
                f"{rule} ({len(names)} of {len(tasks)})",
                options=("ignore",),
                remedy="leave variables out with `ignore`, or gather more rows",
            )


def _compared(options, learner, tasks, seconds):
    """Return the comparison on held-out rows."""
    cv = n_folds(options, learner, tasks)
    return held_out_record(compare_within(learner, tasks, cv, seconds))


def _learned_alone(tasks, common, memory, progress):
    """Return the tasks learned one by one, or None for a single task."""
    if len(tasks) == 1:
        return None
    if progress:
        common["progress"] = lambda event: progress(
            event._replace(stage=f"{event.stage}, to compare")
        )
    return SingleTaskLearner(**common).fit(tasks, memory=memory)


def _verdict(options, found):
    """Return sentences on the result and on the graphs shown, and whether nothing was found."""
    learned, shown = found.learned, found.shown
    max_cells = options.max_cells if learned.left_out_ else None
    known = found.held_out, len(learned.arcs_), learned.ended_by_, max_cells
    messages, is_nothing = sentences(*known, at_command_line=True), nothing_found(*known)
    if learned is shown:
        return messages, is_nothing
    threshold = options.threshold
    share = "all of" if threshold == 1 else f"{100 * threshold:g} % or more of"
    shown_instead = [
        f"Shown are consensus graphs, with the edges that {share} the replicates have: "
        f"{count(len(shown.arcs_), 'arc')} in place of {len(learned.arcs_)}.",
        "Held-out rows were predicted by the graphs as they were learned, before the consensus.",
    ]
    # If nothing was found, that comes first.
    return ([*messages, *shown_instead] if is_nothing else [*shown_instead, *messages]), is_nothing


def _sure(options, found):
    """Return a sentence on the number of well-supported arcs, or "" without evidence on it."""
    learner, confidence = found.shown, found.confidence
    if confidence is None:
        return ""
    graphs = learner._required_graphs(learner.tasks_)
    required = {(name, *arc) for name, graph in graphs.items() for arc in graph.edges}
    is_consensus = options.threshold is not None
    settings = options.bootstrap, required, is_consensus, True
    return sure_words(learner.arcs_, confidence, *settings)


def _record(options, found, files, verdict):
    """Return the entries of run.json about the networks."""
    learned, learner, single_task = found.learned, found.shown, found.single_task
    record = {
        "replicates": options.bootstrap,
        "tasks": [_task_record(name, learner, single_task, file) for name, file in files.items()],
        "score": _finite(learner.score_),
        "local_scores": learner.families_,
    }
    if single_task is not None:
        record["arcs"] = sharing_counts(learner.arcs_, getattr(learner, "task_groups_", None))
        if learner.task_groups is not None:
            record["task_groups"] = _groups_record(learner)
        record |= _start_record(learner)
        record["penalty"] = getattr(learner, "penalty_", learner._used_prior().penalty)
    if hasattr(learner, "validation_scores_"):
        record["chosen_by"] = learner.chosen_by_
        grid = learner.validation_grid_[["score", "standard_error"]].to_dict("index")
        record["validation_scores"] = [
            {"penalty": penalty, **_all_finite(values)} for penalty, values in grid.items()
        ]
    record["held_out"] = found.held_out
    if not learner.borrowed_.empty:
        record["borrowed"] = borrowed_record(learner.borrowed_)
    record |= {"verdict": verdict, "sure": _sure(options, found)}
    if learned is not learner:  # a consensus is shown instead
        graphs = learned.configuration_
        record["learned_arcs"] = {name: sorted(map(list, g.edges)) for name, g in graphs.items()}
        record["learned_scores"] = _all_finite(learned.task_scores_)
    return record


def _task_record(name, learner, single_task, file):
    graph, task = learner.configuration_[name], learner.tasks_[name]
    record = {
        "name": name,
        "file": file,
        "rows": task.n_rows,
        "variables": task.n_variables,
        "constant": [variable for variable in graph if not takes_part(graph, variable)],
        "arcs": graph.number_of_edges(),
        "score": _finite(learner.task_scores_[name]),
    }
    if single_task is not None:
        record["single_task_score"] = _finite(single_task.task_scores_[name])
    return record


def _start_record(learner):
    """Return the best start and the scores of all, by group of tasks if there are several."""
    start, scores = learner.start_, learner.start_scores_
    if not isinstance(start, dict):
        return {"start": start, "start_scores": _all_finite(scores)}
    return {
        "start": {str(label): name for label, name in start.items()},
        "start_scores": {str(label): _all_finite(of_starts) for label, of_starts in scores.items()},
    }


def _groups_record(learner):
    """Return the groups of tasks and, if they were found, what speaks for them."""
    record = {
        # Labels of groups are text if they are from a file, otherwise numbers.
        "of": {
            name: label if isinstance(label, str) else int(label)
            for name, label in learner.task_groups_.items()
        },
        "sentence": group_sentence(learner),
    }
    if hasattr(learner, "group_gains_"):
        gains, alternatives = learner.group_gains_, learner.alternatives_
        record["gains"] = {name: _all_finite(row) for name, row in gains.iterrows()}
        record["margins"] = _all_finite(learner.group_margins_)
        labels = alternatives[list(learner.tasks_)]
        record["alternatives"] = [
            {"of": groups.dropna().to_dict(), "value": _finite(alternatives["value"][at])}
            for at, groups in labels.iterrows()
        ]
    return record


def _all_finite(numbers):
    return {name: _finite(number) for name, number in numbers.items()}


def _finite(number):
    """Return a finite number, which JSON can represent, or None."""
    return float(number) if math.isfinite(number) else None


def _pictures(learner, confidence, is_nothing):
    """Return the pictures to draw."""
    graphs, note = learner.configuration_, None
    if is_nothing and len(learner.arcs_):
        note = f"{NOTHING_FOUND}: these arcs predict no better than none."
    groups = getattr(learner, "task_groups_", None)
    shown = {"confidence": confidence, "note": note, "task_groups": groups}
    dags = partial(plotting.dags, graphs, signs=learner.arcs_, **shown)
    pictures = {
        "dags": Picture(dags, ("dags.svg", "dags.png")),
        "arcs": Picture(partial(plotting.arcs, graphs, **shown), ("arcs.png",)),
    }
    if hasattr(learner, "group_gains_"):
        gains = partial(plotting.gains, learner.group_gains_, learner.task_groups_)
        pictures["gains"] = Picture(gains, (_GAINS_FILE,))
    if not learner.borrowed_.empty:
        borrowing = partial(plotting.borrowing, learner)
        pictures["borrowing"] = Picture(borrowing, ("borrowing.png",))
    if hasattr(learner, "validation_scores_"):
        pictures["penalties"] = Picture(partial(draw_penalties, learner))
    return pictures


def _layout(figures):
    """The entry of run.json about the layout of the graphs."""
    return {} if figures["dags"] is None else {"layout": figures["dags"].get_label()}


def _contents(found, files):
    """Return the contents of the files of tables and networks by file name."""
    learner, confidence = found.shown, found.confidence
    contents = {file: learner.networks_[name] for name, file in files.items()}
    contents["arcs.csv"] = with_confidence(_arcs(learner), confidence)
    if confidence is not None:
        contents[_CONFIDENCE_FILE] = _pairs(confidence)
    if not learner.borrowed_.empty:
        contents["borrowed.csv"] = learner.borrowed_
    return contents


def _arcs(learner):
    """Return the table of arcs, with the groups of tasks unless all learn from each other."""
    if learner.task_groups is None:
        return learner.arcs_
    after = list(learner.arcs_).index("task") + 1
    table = learner.arcs_.copy()
    table.insert(after, "task_group", table["task"].map(learner.task_groups_.to_dict()))
    return table


def _pairs(confidence):
    """Return all pairs; if there are too many for a readable file, only pairs in a replicate."""
    if len(confidence) > MOST_PAIRS:
        confidence = confidence[confidence["edge"] > 0]
    names = {"parent": "from", "child": "to", "arc": "confidence", "edge": "edge_confidence"}
    return confidence.rename(columns=names)


def _write_page(path, record, found, figures, settings, times):
    write_report(
        path,
        found.shown,
        found.single_task if found.shown is found.learned else None,
        settings=settings,
        messages=record["warnings"],
        times=times,
        pictures=figures,
        confidence=found.confidence,
        held_out=found.held_out,
        verdict=record["verdict"],
        sure=record["sure"],
    )


_WAYS = {"one_group": "one group", "alone": "each alone", "empty": "no arcs"}


def summary(result):
    """Show sizes, scores on held-out rows, the verdict and sharing."""
    record = result.record
    held_out = record["held_out"]
    # Scores of interrupted searches are not meaningful.
    is_complete = held_out and not held_out["ended_by"]
    ways = [way for way in WAYS_TO_LEARN if is_complete and way in held_out]
    yield _networks(result, ways)
    if ways:
        yield "Held-out rows: mean log-likelihood of a row in nats, larger is better."
    yield ""
    yield from wrapped(*record["verdict"])
    if "task_groups" in record:
        yield from wrapped(record["task_groups"]["sentence"])
    if result.single_task is None:
        yield "One task: nothing is shared."
    elif record["arcs"]["arcs"]:
        yield from _sharing(record)
    if record["sure"]:
        yield from wrapped(record["sure"], MEANING)
    yield where(result)


def _networks(result, ways):
    """Return the table of the tasks' networks, with the scores of the given ways of learning."""
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
        yield from wrapped(
            f"{count(counts['arcs'], 'arc')}, counted once in each group: {counts['all']} in all "
            f"tasks of the group that could have them, {counts['some']} in some, {counts['one']} "
            f"in one only{sole}, {counts['alone']} of tasks that learn alone."
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
