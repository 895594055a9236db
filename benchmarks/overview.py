"""The table that says at a glance which published claims hold, a column a search."""

from benchmarks.summary import markdown

# Figure and study; claims in words, and as they stand in its table of claims: {v} is a search and
# {single} learning apart by it. Where a claim does not name a search, it is of S.
CLAIMS = {
    ("2.2, 2.3", "penalty_curves"): {
        "edits fall with the penalty, then rise (tasks that differ)": (
            "{v}: edits fall with the penalty, and rise again at too high a one, where tasks "
            "differ (p_del > 0)"
        ),
        "the same where tasks have one structure": (
            "{v}: edits fall with the penalty, and rise again at too high a one, where they do "
            "not (p_del 0)"
        ),
        "the more alike the tasks, the higher the best penalty": (
            "{v}: the best penalty is higher for more similar tasks"
        ),
        "the more alike the tasks, the larger the gain, usually": (
            "{v}: more is gained from more similar tasks"
        ),
        "edits gain more than the divergence": "{v}: larger percent reduction of edits than of KL",
        "as much gained where tables have nothing in common": (
            "{v}: as much gained, two thirds at least, where the tasks' tables have nothing in "
            "common (-IND)"
        ),
    },
    ("2.4", "priors"): {
        "the kind of prior matters little (edits)": "{v}: priors differ little, edits",
    },
    ("2.5", "methods"): {
        "edits 10 % to 54 % below single-task learning": (
            "multitask {v} below single, edits: both ends of the range reached"
        ),
        "divergence 2 % to 13 % below single-task learning": (
            "multitask {v} below single, KL (nats): both ends of the range reached"
        ),
        "edits 4 % to 60 % below one structure for all": (
            "multitask {v} below identical, edits: both ends of the range reached"
        ),
        "divergence 7 % to 32 % below one structure for all": (
            "multitask {v} below identical, KL (nats): both ends of the range reached"
        ),
        "pooling much worse than one structure (divergence)": (
            "pooled {v} beside identical {v}, KL (nats)"
        ),
        "pooling much worse than one structure, but on ALARM (edits)": (
            "pooled {v} beside identical {v}, edits"
        ),
    },
    ("ours", "methods"): {
        "no harm where tasks share nothing, beside learning alone (edits)": (
            "multitask {v}: no harm where tasks share nothing (CONTROL), edits above {single}"
        ),
        "the same beside learning alone with fewer arcs": (
            "multitask {v}: no harm where tasks share nothing (CONTROL), edits above sparse S"
        ),
    },
    ("2.7", "training_size"): {
        "the gain shrinks with the rows (edits)": (
            "multitask {v}: gain over {single} shrinks with the rows, edits"
        ),
        "as few edits with about half the rows": (
            "multitask {v}: rows that {single} needs for as good a mean, edits"
        ),
    },
    ("2.8", "bird"): {
        "birds, 200 sites: a quick rise with the penalty, then a slow fall": (
            "BIRD-SITES, 200 sites, Paired/Double: a quick rise, then a slow fall"
        ),
    },
    ("2.9", "bird"): {
        "birds: better together, less so with more sites": (
            "BIRD-SITES-4: multitask above single, less with more sites"
        ),
        "birds: with many sites better alone": (
            "BIRD-SITES-4: with many sites single-task learning is better"
        ),
    },
    ("2.10", "task_number"): {
        "near tasks help, far ones harm (divergence)": (
            "{v}, kl, direct: near tasks help, far ones harm"
        ),
        "the direct measure orders tasks as well as the truth": (
            "{v}, kl: direct orders as well as true, mean over 1 to 14 others"
        ),
        "the indirect measure does, too": (
            "{v}, kl: indirect orders as well as true, mean over 1 to 14 others"
        ),
        "a better choice of the penalty would gain more": (
            "{v}, kl: a better choice of the penalty would gain more, mean over 1 to 15 others"
        ),
    },
    ("2.11", "selection"): {
        "selection better than all tasks (edits)": "selection below all tasks, edits",
        "the gain of selection shrinks with the rows (edits)": (
            "gain of selection over single-task learning shrinks with the rows, edits"
        ),
        "an optimal number adds more than twice as much (edits)": (
            "an optimal number more than doubles what selection adds to all tasks, all sizes"
        ),
    },
    ("2.12", "task_number"): {
        "a gap in the distances after the second task": (
            "{v}: the largest gap in the direct distances is after the second task"
        ),
    },
    ("2.13", "bird"): {
        "birds, 200 sites: near regions help, far ones harm": (
            "BIRD-SITES, 200 sites: near regions help, far ones harm"
        ),
    },
    ("2.14", "bird"): {
        "birds: selection better than all tasks": "BIRD-SITES: selection above all tasks",
    },
    ("2.15", "bird"): {
        "birds: selection better than clusters": "BIRD-SITES: selection above clustering",
    },
    ("2.16", "bird"): {
        "birds, 200 sites: regions join one growing cluster": (
            "BIRD-SITES, 200 sites: a linear hierarchy, regions join one growing cluster"
        ),
    },
}


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
    for (figure, study), claims in CLAIMS.items():
        verdicts = _verdicts(made.get(f"{study}_claims", ""))
        for words, claim in claims.items():
            row = {"figure": figure, "claim": words}
            for variant in "TSJ":
                single = "single T" if variant == "T" else "single S"
                own = "{v}" in claim or variant == "S"
                name = claim.format(v=variant, single=single)
                row[variant] = verdicts.get(name, "") if own else ""
            rows.append({**row, "study": f"`{study}`"})
    return markdown(rows)


def _verdicts(text):
    """Claim -> whether it holds, of a table of claims."""
    cells = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return {own[0]: own[-1] for own in cells}
