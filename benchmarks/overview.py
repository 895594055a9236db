"""The overview of the published claims that hold, with one column per search."""

from benchmarks.summary import markdown

# (Figure, study) -> names of its claims without the search -> wording in the overview.
CLAIMS = {
    ("2.2, 2.3", "penalty_curves"): {
        "differing": "edits fall with the penalty, then rise (tasks that differ)",
        "alike": "the same if all tasks have one structure",
        "best penalty": "the more similar the tasks, the higher the best penalty",
        "gain": "the more similar the tasks, the larger the gain, usually",
        "edits and kl": "edits gain more than the divergence",
        "IND": "the gain is as large if tables are unrelated",
    },
    ("2.4", "priors"): {"edits": "the kind of prior matters little (edits)"},
    ("2.5", "methods"): {
        "single, edits": "edits 10 % to 54 % below single-task learning",
        "single, kl": "divergence 2 % to 13 % below single-task learning",
        "identical, edits": "edits 4 % to 60 % below one structure for all",
        "identical, kl": "divergence 7 % to 32 % below one structure for all",
        "pooled, kl": "pooling much worse than one structure (divergence)",
        "pooled, edits": "pooling much worse than one structure, except on ALARM (edits)",
    },
    ("ours", "methods"): {
        "no harm, single": "no harm if tasks share nothing, compared with learning alone (edits)",
        "no harm, sparse": "the same compared with learning alone with fewer arcs",
    },
    ("2.7", "training_size"): {
        "gain, edits": "the gain shrinks with the rows (edits)",
        "rows, edits": "as few edits with about half the rows",
    },
    ("2.8", "bird"): {
        "BIRD-SITES, 200, Paired/Double: rise": (
            "birds, 200 sites: a quick rise with the penalty, then a slow fall"
        )
    },
    ("2.9", "bird"): {
        "BIRD-SITES-4: more sites": "birds: better together, less so with more sites",
        "BIRD-SITES-4: many sites": "birds: with many sites better alone",
    },
    ("2.10", "task_number"): {
        "kl, direct: near": "near tasks help, far ones harm (divergence)",
        "kl, direct: order": "the direct measure orders tasks as well as the truth",
        "kl, indirect: order": "the indirect measure does, too",
        "kl, shared: order": "the measure by shared tables, which is ours, does, too",
        "room": "a better choice of the penalty would gain more",
    },
    ("2.11", "selection"): {
        "selection, all tasks, edits": "selection better than all tasks (edits)",
        "selection shrinks, edits": "the gain of selection shrinks with the rows (edits)",
        "doubled": "an optimal number adds more than twice as much (edits)",
    },
    ("2.12", "task_number"): {"gap": "a gap in the distances after the second task"},
    ("2.13", "bird"): {
        "BIRD-SITES, 200: near": "birds, 200 sites: near regions help, far ones harm"
    },
    ("2.14", "bird"): {
        "BIRD-SITES: selection, all tasks": "birds: selection better than all tasks"
    },
    ("2.15", "bird"): {
        "BIRD-SITES: selection, clustering": "birds: selection better than clusters"
    },
    ("2.16", "bird"): {
        "BIRD-SITES, 200: linear": "birds, 200 sites: regions join one growing cluster"
    },
}


def table(claims):
    """The overview, from the claims of the studies.

    Parameters
    ----------
    claims : mapping
        Name of a study -> its claims; the cells of other studies are blank.

    Returns
    -------
    str
    """
    verdicts = {
        (study, one.name): one.verdict() for study, of_study in claims.items() for one in of_study
    }
    rows = []
    for (figure, study), named in CLAIMS.items():
        for name, words in named.items():
            found = {search: verdicts.get((study, f"{name} {search}"), "") for search in "TSJ"}
            rows.append({"figure": figure, "claim": words, **found, "study": f"`{study}`"})
    return markdown(rows)
