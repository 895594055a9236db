"""One run of `bnmtl learn`: data in, learning, and everything that its folder holds."""

import math
from dataclasses import dataclass
from pathlib import Path

from bnmtl.cli.learner import check_choice, has_folds, learner_asked_for, n_folds
from bnmtl.cli.runs import (
    Clock,
    as_options,
    begin_record,
    check_folds,
    common_parameters,
    read_tasks,
    score_named,
    user_messages,
    warn_of_copies,
    warnings_kept,
    write_record,
)
from bnmtl.cli.time_limit import TimeLimit
from bnmtl.confidence import sure_words
from bnmtl.errors import InputError, warn
from bnmtl.graphs import takes_part
from bnmtl.io.file_sizes import check_file_sizes, check_required
from bnmtl.io.run import RUN_FILE, run_folder
from bnmtl.reports.borrowing import borrowed_record
from bnmtl.reports.gains import NOTHING, held_out_record, sentences
from bnmtl.reports.learned import sharing_counts
from bnmtl.reports.learned import write as write_report
from bnmtl.search import Memory
from bnmtl.wording import count
from bnmtl.writing import file_names

__all__ = ["Result", "run"]

_PICTURES = ("dags.svg", "dags.png", "arcs.png")
_FIXED_FILES = ("arcs.csv", *_PICTURES, "report.html", RUN_FILE)
_CONFIDENCE_FILE = "confidence.csv"
_MOST_PAIRS = 1_000_000
_BORROWED_FILES = ("borrowed.csv", "borrowing.png")
# What is done, as run.json names it, and how much of a time limit each stage gets.
_LEARNING = "learning"
_COMPARING = "comparing on held-out rows"
_REPLICATES = "learning replicates"
_APART = "learning each task alone, to compare"
_DRAWING = "pictures"
_PARTS = {_LEARNING: 4, _COMPARING: 3, _REPLICATES: 3, _APART: 1, _DRAWING: 1}
# Where folds have chosen the penalty, they are not made again.
_PART_OF_KNOWN_FOLDS = 0.2


@dataclass(frozen=True)
class Result:
    """What a run has found; `record` is the contents of run.json.

    With a threshold the learner has the consensus graphs; `confidence` is None without replicates.
    """

    learner: object
    single_task: object
    folder: Path
    record: dict
    confidence: object = None


def run(options, progress=None):
    """Check, learn, and write the folder of one run.

    Parameters
    ----------
    options : Options
    progress : callable, optional
        Gets every `bnmtl.progress.ProgressEvent`.

    Returns
    -------
    Result

    Raises
    ------
    ValueError, TypeError
        For mistakes in the options or the data; nothing is written then.
    """
    clock = Clock()
    parts = _parts(options)
    limit = TimeLimit(options.time_limit, parts)
    _check_threshold(options)
    check_choice(options)
    folder = run_folder(options.out, options.force)
    fixed = (*_FIXED_FILES, _CONFIDENCE_FILE) if options.bootstrap else _FIXED_FILES
    fixed += _BORROWED_FILES if options.table_sharing == "auto" else ()
    folder.reserve(fixed)
    score = score_named(options)
    with warnings_kept() as caught:
        tasks, origin = read_tasks(options)
        files = file_names(tasks.names, ".bif", fixed)
        folder.reserve(files.values())
        common = common_parameters(options, tasks, score, progress)
        clock.lap("reading")
        learner = learner_asked_for(options, tasks, common)
        if _COMPARING in parts and has_folds(learner):
            limit.change(_COMPARING, _PART_OF_KNOWN_FOLDS)
        learner.set_params(limits=learner.limits.replaced(time_limit=limit.of(_LEARNING)))
        check_folds(options.folds, tasks)
        check_required(learner, tasks)
        memory = Memory()
        learner.fit(tasks, memory=memory)
        clock.lap(_LEARNING)
        check_file_sizes(learner.configuration_, tasks, "give a lower {max_cells} or {max_parents}")
        _warn_of_few_rows(learner)
        warn_of_copies(tasks)
        held_out = None
        if _COMPARING in parts:
            held_out = _compared(options, learner, tasks, limit.of(_COMPARING))
        clock.lap(_COMPARING)
        learned, confidence = learner, None
        if _REPLICATES in parts:
            confidence = _replicated(learner, tasks, options, limit.of(_REPLICATES))
            clock.lap(_REPLICATES)
        if options.threshold is not None:
            learner = _agreed(learner, confidence, options.threshold)
        common["limits"] = common["limits"].replaced(time_limit=limit.of(_APART))
        single_task = _apart(tasks, common, memory, progress)
        clock.lap(_APART)
        verdict = _verdict(options, learned, learner, held_out)
        pictures = _draw(learner, confidence, verdict)
        clock.lap(_DRAWING)
        left_out = _BORROWED_FILES if learner.borrowed_.empty else ()
        all_files = [name for name in (*fixed, *files.values()) if name not in left_out]
        record = {
            **begin_record("learn", options, user_messages(caught), all_files),
            **origin,
            **_record(options, learner, single_task, files),
            "held_out": held_out,
        }
        if not learner.borrowed_.empty:
            record["borrowed"] = borrowed_record(learner)
        record["verdict"] = verdict
        record["sure"] = _sure(options, learner, confidence)
        if learned is not learner:
            record |= _as_learned(learned)
        result = Result(learner, single_task, folder.path, record, confidence)
        with folder.writing() as temporary:
            _write(temporary, result, pictures, clock)
    return result


def _parts(options):
    """Return the stages that the options ask for, with their parts of a time limit."""
    left_out = [_COMPARING] if options.folds == 0 else []
    left_out += [] if options.bootstrap else [_REPLICATES]
    return {stage: part for stage, part in _PARTS.items() if stage not in left_out}


def _compared(options, learner, tasks, seconds):
    """Return how well held-out rows are predicted."""
    from bnmtl.learners import compare

    of_learning = learner.limits
    # Not a copy: what the fit has held out need not be held out again.
    learner.set_params(limits=of_learning.replaced(time_limit=seconds))
    try:
        return held_out_record(compare(learner, tasks, n_folds(options, learner, tasks)))
    finally:
        learner.set_params(limits=of_learning)


def _warn_of_few_rows(learner):
    """Say which tasks have too few rows for what is learned."""
    tasks = learner.tasks_
    few = [name for name, task in tasks.items() if task.n_rows < task.n_variables]
    if few:
        warn(
            rule="There are fewer rows than variables in {few:task} ({n} of {n_tasks})",
            remedies=("leave variables out with {ignore}", "gather more rows"),
            few=few,
            n=len(few),
            n_tasks=len(tasks),
        )
    networks = learner.networks_
    rich = [name for name in tasks if networks[name].n_parameters > tasks[name].n_rows]
    if rich:
        warn(
            rule="There are more parameters than rows in {rich:network} ({n} of {n_tasks})",
            remedies=("leave variables out with {ignore}", "gather more rows"),
            rich=rich,
            n=len(rich),
            n_tasks=len(tasks),
        )


def _apart(tasks, common, memory, progress):
    """Return the tasks learned one by one, None if there is only one."""
    from bnmtl.learners import SingleTaskLearner

    if len(tasks) == 1:
        return None
    if progress is not None:
        common = {**common, "progress": lambda event: progress(_renamed(event))}
    return SingleTaskLearner(**common).fit(tasks, memory=memory)


def _check_threshold(options):
    if options.threshold is not None and not options.bootstrap:
        raise InputError(
            "threshold",
            "must go with replicates",
            found="{bootstrap=0} makes none",
            remedies="leave one of the two out",
        )


def _replicated(learner, tasks, options, seconds):
    """Return how sure each arc is."""
    from bnmtl.confidence import arc_confidence
    from bnmtl.learners.derived import as_chosen

    learner = as_chosen(learner).set_params(limits=learner.limits.replaced(time_limit=None))
    return arc_confidence(tasks, learner, options.bootstrap, light=True, time_limit=seconds)


def _agreed(learner, confidence, threshold):
    """Return the learner with the graphs that the replicates agree on."""
    from bnmtl.confidence import consensus
    from bnmtl.learners.derived import family_limits, with_graphs

    graphs = consensus(confidence, threshold, by="edge", may_have=family_limits(learner))
    return with_graphs(learner, graphs)


def _sure(options, learner, confidence):
    """Return in a sentence how many arcs are well supported; "" where replicates tell nothing."""
    if confidence is None:
        return ""
    required = {
        (name, *arc)
        for name, graph in learner.required_graphs(learner.tasks_).items()
        for arc in graph.edges
    }
    is_consensus = options.threshold is not None
    return sure_words(learner.arcs_, confidence, options.bootstrap, required, is_consensus)


def _verdict(options, learned, shown, held_out):
    """Return in sentences what was found, and of which graphs that is said."""
    limits = learned.ended_by_, options.max_cells if learned.left_out_ else None
    told = sentences(held_out, len(learned.arcs_), *limits)
    if learned is shown:
        return told
    shown_instead = [
        f"Shown are consensus graphs, with the edges that {_share(options.threshold)} the "
        f"replicates have: {count(len(shown.arcs_), 'arc')} in place of {len(learned.arcs_)}.",
        "Held-out rows were predicted by the graphs as they were learned, before the consensus.",
    ]
    # That nothing was found is said before anything else.
    return [*told, *shown_instead] if told[0].startswith(NOTHING) else [*shown_instead, *told]


def _share(threshold):
    return "all of" if threshold == 1 else f"{100 * threshold:g} % or more of"


def _as_learned(learned):
    """Return what run.json says of graphs in whose place a consensus is shown."""
    return {
        "learned_arcs": {
            name: sorted(map(list, graph.edges)) for name, graph in learned.configuration_.items()
        },
        "learned_scores": {name: _finite(score) for name, score in learned.task_scores_.items()},
    }


def _renamed(event):
    return event._replace(stage=f"{event.stage}, to compare")


def _record(options, learner, single_task, files):
    """Return what run.json says of the networks."""
    record = {
        "replicates": options.bootstrap,
        "tasks": [_task_record(name, learner, single_task, file) for name, file in files.items()],
        "score": _finite(learner.score_),
        "local_scores": learner.families_,
    }
    if single_task is not None:
        record["arcs"] = sharing_counts(learner.arcs_)
        record["start"] = learner.start_
        record["start_scores"] = {
            name: _finite(score) for name, score in learner.start_scores_.items()
        }
        record["penalty"] = getattr(learner, "penalty_", learner.used_prior().penalty)
    if hasattr(learner, "validation_scores_"):
        record["chosen_by"] = learner.chosen_by_
        record["validation_scores"] = [
            {
                "penalty": row.Index,
                "score": _finite(row.score),
                "standard_error": _finite(row.standard_error),
            }
            for row in learner.validation_grid_.itertuples()
        ]
    return record


def _task_record(name, learner, single_task, file):
    graph = learner.configuration_[name]
    record = {
        "name": name,
        "file": file,
        "rows": learner.tasks_[name].n_rows,
        "variables": learner.tasks_[name].n_variables,
        "constant": [variable for variable in graph if not takes_part(graph, variable)],
        "arcs": graph.number_of_edges(),
        "score": _finite(learner.task_scores_[name]),
    }
    if single_task is not None:
        record["single_task_score"] = _finite(single_task.task_scores_[name])
    return record


def _finite(number):
    """Return a number that JSON can hold; None for infinite ones."""
    return float(number) if math.isfinite(number) else None


def _draw(learner, confidence, verdict):
    from bnmtl import plotting

    graphs, note = learner.configuration_, None
    if verdict[0].startswith(NOTHING) and len(learner.arcs_):
        note = f"{NOTHING}: these arcs predict no better than none."
    pictures = {
        "dags": plotting.dags(graphs, confidence=confidence, signs=learner.arcs_, note=note),
        "arcs": plotting.arcs(learner.configuration_, confidence, note),
    }
    if not learner.borrowed_.empty:
        pictures["borrowing"] = plotting.borrowing(learner)
    return pictures


def _write(folder, result, pictures, clock):
    """Write all files of a run."""
    from bnmtl import plotting
    from bnmtl.confidence import with_confidence

    learner, record = result.learner, result.record
    for task in record["tasks"]:
        learner.networks_[task["name"]].to_bif(folder / task["file"])
    arcs = with_confidence(learner.arcs_, result.confidence)
    arcs.to_csv(folder / "arcs.csv", index=False)
    if result.confidence is not None:
        _write_confidence(folder / _CONFIDENCE_FILE, result.confidence)
    (folder / "dags.svg").write_text(plotting.svg(pictures["dags"]), encoding="utf-8")
    (folder / "dags.png").write_bytes(plotting.png(pictures["dags"]))
    (folder / "arcs.png").write_bytes(plotting.png(pictures["arcs"]))
    if "borrowing" in pictures:
        learner.borrowed_.to_csv(folder / "borrowed.csv", index=False)
        (folder / "borrowing.png").write_bytes(plotting.png(pictures["borrowing"]))
    record["layout"] = pictures["dags"].get_label()
    clock.lap("files")
    write_report(
        folder / "report.html",
        learner,
        None if "learned_arcs" in record else result.single_task,
        settings=as_options(record["settings"]),
        messages=record["warnings"],
        times=clock.laps,
        pictures={name: pictures[name] for name in ("dags", "borrowing") if name in pictures},
        confidence=result.confidence,
        held_out=record["held_out"],
        verdict=record["verdict"],
        sure=record["sure"],
    )
    clock.lap("report")
    write_record(folder, record, clock)


def _write_confidence(path, confidence):
    """Write all pairs; of too many for a file to open, those that some replicate has."""
    if len(confidence) > _MOST_PAIRS:
        confidence = confidence[confidence["edge"] > 0]
    names = {"parent": "from", "child": "to", "arc": "confidence", "edge": "edge_confidence"}
    confidence.rename(columns=names).to_csv(path, index=False)
