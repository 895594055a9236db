"""The table that says at a glance which published claims hold, a column a search."""

import pandas as pd

from benchmarks.summary import markdown

# Figure, claim, study, and the words of its table of claims; {v} is a search and {single} learning
# apart by it. Where a claim does not name a search, it is of S.
CLAIMS = (
    (
        *("2.2, 2.3", "edits fall with the penalty, then rise (tasks that differ)"),
        "penalty_curves",
        "{v}: edits fall with the penalty, and rise again at too high a one, where tasks differ "
        "(p_del > 0)",
    ),
    (
        *("2.2, 2.3", "the same where tasks have one structure"),
        "penalty_curves",
        "{v}: edits fall with the penalty, and rise again at too high a one, where they do not "
        "(p_del 0)",
    ),
    (
        *("2.2, 2.3", "the more alike the tasks, the higher the best penalty"),
        "penalty_curves",
        "{v}: the best penalty is higher for more similar tasks",
    ),
    (
        *("2.2, 2.3", "the more alike the tasks, the larger the gain, usually"),
        "penalty_curves",
        "{v}: more is gained from more similar tasks",
    ),
    (
        *("2.2, 2.3", "edits gain more than the divergence"),
        "penalty_curves",
        "{v}: larger percent reduction of edits than of KL",
    ),
    (
        *("2.2, 2.3", "as much gained where tables have nothing in common"),
        "penalty_curves",
        "{v}: as much gained, two thirds at least, where the tasks' tables have nothing in common "
        "(-IND)",
    ),
    (
        "2.4",
        "the kind of prior matters little (edits)",
        "priors",
        "{v}: priors differ little, edits",
    ),
    (
        *("2.5", "edits 10 % to 54 % below single-task learning", "methods"),
        "multitask {v} below single, edits: both ends of the range reached",
    ),
    (
        *("2.5", "divergence 2 % to 13 % below single-task learning", "methods"),
        "multitask {v} below single, KL (nats): both ends of the range reached",
    ),
    (
        *("2.5", "edits 4 % to 60 % below one structure for all", "methods"),
        "multitask {v} below identical, edits: both ends of the range reached",
    ),
    (
        *("2.5", "divergence 7 % to 32 % below one structure for all", "methods"),
        "multitask {v} below identical, KL (nats): both ends of the range reached",
    ),
    (
        *("2.5", "pooling much worse than one structure (divergence)", "methods"),
        "pooled {v} beside identical {v}, KL (nats)",
    ),
    (
        *("2.5", "pooling much worse than one structure, but on ALARM (edits)", "methods"),
        "pooled {v} beside identical {v}, edits",
    ),
    (
        *("ours", "no harm where tasks share nothing, beside learning alone (edits)", "methods"),
        "multitask {v}: no harm where tasks share nothing (CONTROL), edits above {single}",
    ),
    (
        *("ours", "the same beside learning alone with fewer arcs", "methods"),
        "multitask {v}: no harm where tasks share nothing (CONTROL), edits above sparse S",
    ),
    (
        *("2.7", "the gain shrinks with the rows (edits)", "training_size"),
        "multitask {v}: gain over {single} shrinks with the rows, edits",
    ),
    (
        *("2.7", "as few edits with about half the rows", "training_size"),
        "multitask {v}: rows that {single} needs for as good a mean, edits",
    ),
    (
        *("2.8", "birds, 200 sites: a quick rise with the penalty, then a slow fall", "bird"),
        "BIRD-SITES, 200 sites, Paired/Double: a quick rise, then a slow fall",
    ),
    (
        *("2.9", "birds: better together, less so with more sites", "bird"),
        "BIRD-SITES-4: multitask above single, less with more sites",
    ),
    (
        *("2.9", "birds: with many sites better alone", "bird"),
        "BIRD-SITES-4: with many sites single-task learning is better",
    ),
    (
        *("2.10", "near tasks help, far ones harm (divergence)", "task_number"),
        "{v}, kl, direct: near tasks help, far ones harm",
    ),
    (
        *("2.10", "the direct measure orders tasks as well as the truth", "task_number"),
        "{v}, kl: direct orders as well as true, mean over 1 to 14 others",
    ),
    (
        *("2.10", "the indirect measure does, too", "task_number"),
        "{v}, kl: indirect orders as well as true, mean over 1 to 14 others",
    ),
    (
        *("2.10", "a better choice of the penalty would gain more", "task_number"),
        "{v}, kl: a better choice of the penalty would gain more, mean over 1 to 15 others",
    ),
    (
        *("2.11", "selection better than all tasks (edits)", "selection"),
        "selection below all tasks, edits",
    ),
    (
        *("2.11", "the gain of selection shrinks with the rows (edits)", "selection"),
        "gain of selection over single-task learning shrinks with the rows, edits",
    ),
    (
        *("2.11", "an optimal number adds more than twice as much (edits)", "selection"),
        "an optimal number more than doubles what selection adds to all tasks, all sizes",
    ),
    (
        *("2.12", "a gap in the distances after the second task", "task_number"),
        "{v}: the largest gap in the direct distances is after the second task",
    ),
    (
        *("2.13", "birds, 200 sites: near regions help, far ones harm", "bird"),
        "BIRD-SITES, 200 sites: near regions help, far ones harm",
    ),
    (
        *("2.14", "birds: selection better than all tasks", "bird"),
        "BIRD-SITES: selection above all tasks",
    ),
    (
        *("2.15", "birds: selection better than clusters", "bird"),
        "BIRD-SITES: selection above clustering",
    ),
    (
        *("2.16", "birds, 200 sites: regions join one growing cluster", "bird"),
        "BIRD-SITES, 200 sites: a linear hierarchy, regions join one growing cluster",
    ),
)


def table(made):
    """The overview, from all tables of the studies by name.

    Parameters
    ----------
    made : mapping
        Name -> table as Markdown; a study that has none is left blank.

    Returns
    -------
    str
    """
    rows = []
    for figure, words, study, claim in CLAIMS:
        verdicts = _verdicts(made.get(f"{study}_claims", ""))
        row = {"figure": figure, "claim": words}
        for variant in "TSJ":
            single = "single T" if variant == "T" else "single S"
            name = claim.format(v=variant, single=single)
            own = "{v}" in claim or variant == "S"
            row[variant] = verdicts.get(name, "") if own else ""
        rows.append({**row, "study": f"`{study}`"})
    return markdown(pd.DataFrame(rows))


def _verdicts(text):
    """Claim -> whether it holds, of a table of claims."""
    cells = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return {own[0]: own[-1] for own in cells}
