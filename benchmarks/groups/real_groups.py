"""Predictions of real tables whose tasks are learned in groups, as they are and altered.

Run `python -m benchmarks.groups.real_groups --data FOLDER` (hours on two cores; `--only ksl` for
one table). Real tables with tasks are learned alone, in one group and in groups found from the
data, and every row is held out once in each of two sets of folds. In the tables of the ditches and
of the rivers, whole ditches and stretches of neighboring sites are held out, too. Beside each table
as it is stand copies in which a task does not belong: its columns have exchanged their names
("renamed"), are permuted ("permuted"), or it is a task of another table ("stranger").
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd

from benchmarks import package_tables, study
from benchmarks.data_folder import data_folder
from benchmarks.defaults import grouped
from benchmarks.defaults.grouped import FEEDERWATCH, SACHS, SHIPPED, grouped_tasks
from benchmarks.defaults.permuted import tasks_of
from benchmarks.summary import markdown, parts
from bnmtl import BIC, MultitaskLearner, PairedPrior, SingleTaskLearner
from bnmtl.learners import compare
from bnmtl.scores import CONCENTRATIONS
from bnmtl.tasks import discretize, encode, split

NAME = "real_groups"
SETTINGS = ("table", "altered", "way")
TAKES_DATA = True
N_FOLDS = 10
# Sets of folds.
SEEDS = (0, 1)
FIXED = {"folds": N_FOLDS, "concentrations": list(CONCENTRATIONS)}
BINS = 3
FEW = 100
FEW_SITES = f"{FEEDERWATCH}, {FEW} sites"
DITCHES, STRETCHES = "pyrifos, whole ditches", "jv73, stretches of a river"
# Most stretches of a river.
N_STRETCHES = 5
# File, column of the tasks, and the first column of counts.
_MORE = {
    "aviurba": ("ecology/ade4_aviurba.csv", "farms", "Sp1"),
    "mite": ("ecology/vegan_mite.csv", "Topo", "Brachy"),
    "ksl": ("ecology/deal_ksl.csv", "Year", None),
    "reinis": ("ecology/deal_reinis.csv", "family", None),
}
PACKAGES = ("bfi", "Crime", "midwest", "OFP", "pbc", "diamonds")
AS_IT_IS = "as it is"
RENAMED, PERMUTED, STRANGER = "renamed", "permuted", "stranger"
# The task that is altered, or the table from which the stranger comes, and its task.
ALTERED = {
    ("avimedi", RENAMED): "Co",
    ("avimedi", STRANGER): (FEW_SITES, "california"),
    ("jv73", RENAMED): "Doubs",
    (SACHS, RENAMED): "pma",
    (SACHS, STRANGER): ("breast cancer", "not"),
    ("breast cancer", RENAMED): "pcr",
    ("breast cancer", STRANGER): (SACHS, "pma"),
    (FEW_SITES, RENAMED): "plains",
    (FEW_SITES, PERMUTED): "midwest",
    ("mite", RENAMED): "Hummock",
    ("ksl", RENAMED): "1",
    ("reinis", RENAMED): "2",
    ("bfi", RENAMED): None,
    ("Crime", RENAMED): None,
    ("midwest", RENAMED): None,
    ("OFP", RENAMED): None,
    ("pbc", RENAMED): None,
}
# Altered tables that nobody had looked at when the rule that judges groups was fixed.
FRESH = {
    ("dune", RENAMED): "NM",
    ("aviurba", RENAMED): "yes",
    ("aviurba", STRANGER): ("mite", "Hummock"),
    ("mite", PERMUTED): "Hummock",
    ("ksl", STRANGER): ("Crime", "west"),
    ("reinis", PERMUTED): "2",
    ("bfi", STRANGER): ("OFP", "west"),
    ("Crime", PERMUTED): "west",
    ("Crime", STRANGER): ("midwest", "IL"),
    ("midwest", PERMUTED): "WI",
    ("midwest", STRANGER): ("pbc", "3.0"),
    ("OFP", STRANGER): ("diamonds", "Fair"),
    ("pbc", PERMUTED): "4.0",
    ("pbc", STRANGER): ("Crime", "other"),
    ("diamonds", RENAMED): "Premium",
}
TABLES = (*grouped.TABLES, FEW_SITES, DITCHES, STRETCHES, *_MORE, *PACKAGES)
WAYS = ("no arcs", "no arcs, own tables", "alone", "BIC alone", "one group", "one group, 0.9")
FOUND = ("auto", "auto, 0.9")
QUICK, N_QUICK = "avimedi, few species", 5


def plan(quick):
    """All tables as they are and altered."""
    if quick:
        return study.every(["auto"], table=[QUICK], altered=[AS_IT_IS])
    cases = [(table, AS_IT_IS) for table in TABLES] + [*ALTERED, *FRESH]
    return [{"table": t, "altered": a, "wanted": [*WAYS, *FOUND]} for t, a in cases]


def check_needs(cases, lines):
    """Raise ValueError if a table or a package is missing."""
    needed = {case["table"] for case in cases}
    package_tables.check_installed(needed & set(PACKAGES))
    if needed - {QUICK, *SHIPPED, *PACKAGES}:
        grouped.folder()


def frames_of(table):
    """The tasks of a table as frames of text by name, and groups of rows or None."""
    if table in PACKAGES:
        frames = tasks_of(table, 0, np.random.default_rng(0), BINS)
    elif table in _MORE:
        frames = _of_file(*_MORE[table])
    elif table == FEW_SITES:
        frames = grouped.sampled(_frames(FEEDERWATCH), FEW)
    else:
        frames = _frames(table.split(",")[0])
    if table == QUICK:
        frames = {task: frame.iloc[:, :N_QUICK] for task, frame in frames.items()}
    frames = {str(task): frame.astype("string") for task, frame in frames.items()}
    return {task: frame.reset_index(drop=True) for task, frame in frames.items()}, _together(table)


def _frames(name):
    return {task: one.frame() for task, one in grouped_tasks(name).items()}


def _of_file(path, group, first_count):
    """Tasks of another file, with counts as presence or absence and other numbers in bins."""
    frame = pd.read_csv(data_folder("the tables", [path]) / path)
    frame[group] = frame[group].astype(str)
    columns = list(frame)
    counts = columns[columns.index(first_count) :] if first_count else []
    frame[counts] = np.where(frame[counts] > 0, "present", "absent")
    if not first_count:
        small = [name for name in frame if frame[name].nunique() <= BINS]
        frame[small] = frame[small].astype(str)
    return discretize(split(frame, group), bins=BINS)


def _together(table):
    """Rows that are held out together, as groups by task."""
    if table not in (DITCHES, STRETCHES):
        return None
    path, task, *_ = grouped.FILES[table.split(",")[0]]
    frame = pd.read_csv(data_folder("the tables", [path]) / path)
    if table == DITCHES:
        return {str(name): part["ditch"].to_numpy() for name, part in frame.groupby(task)}
    # Sites follow each other down the river.
    sizes = frame.groupby(task).size()
    return {
        str(name): np.arange(n) * min(N_STRETCHES, n) // n for name, n in sizes.to_dict().items()
    }


def altered_frames(table, altered):
    """Frames in which one task does not belong, groups of rows, and that task."""
    frames, rows = frames_of(table)
    if altered == AS_IT_IS:
        return frames, rows, None
    rng = np.random.default_rng(0)
    task = (ALTERED | FRESH)[table, altered]
    if altered == STRANGER:
        other, of_other = task
        names = list(next(iter(frames.values())))
        stranger = frames_of(other)[0][of_other]
        chosen = [column for column in stranger if stranger[column].nunique() > 1][: len(names)]
        renamed = dict(zip(chosen, names, strict=False))
        frames["stranger"] = _with_states_of(frames, stranger[chosen].rename(columns=renamed))
        return frames, rows, "stranger"
    # The first task of tables whose tasks have no names worth mentioning.
    task = task or min(frames)
    changed = frames[task]
    if altered == PERMUTED:
        order = {column: rng.permutation(len(changed)) for column in changed}
        frames[task] = pd.DataFrame({c: changed[c].to_numpy()[order[c]] for c in changed})
        return frames, rows, task
    # Columns with as many states exchange their names, states in their order.
    states = _states(frames)
    sizes = {column: len(states[column]) for column in changed}
    renamed = {}
    for size in dict.fromkeys(sizes.values()):
        alike = [column for column in changed if sizes[column] == size]
        for column, name in zip(alike, rng.permutation(alike), strict=True):
            renamed[name] = changed[column].map(
                dict(zip(states[column], states[name], strict=True))
            )
    frames[task] = pd.DataFrame(renamed)[list(changed)].astype("string")
    return frames, rows, task


def _states(frames):
    """The sorted states of every column over all tasks."""
    everything = pd.concat(frames.values())
    return {column: sorted(set(everything[column].dropna())) for column in everything}


def _with_states_of(frames, stranger):
    """A task of another table with the states of the columns whose names it has."""
    found, states = {}, _states(frames)
    for column in stranger:
        codes = stranger[column].astype("category").cat.codes.to_numpy(int)
        named = np.array(states[column])[codes % len(states[column])]
        found[column] = pd.Series(named, dtype="string")
    return pd.DataFrame(found)


def measure(table, altered, wanted):
    """One line per way to learn: mean log-likelihood of a held-out row, and gains over others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frames, rows, odd = altered_frames(table, altered)
        tasks = encode(frames, missing="state")
        scored = [_scored(tasks, rows, seed, wanted) for seed in SEEDS]
        by_way = {way: np.mean([one[way] for one in scored], axis=0) for way in scored[0]}
        groups = {}
        for way in set(wanted) & set(FOUND):
            groups[way] = _learner(way, 0).fit(tasks).task_groups_
    owner = np.repeat(tasks.names, [task.n_rows for task in tasks.values()])
    sites = np.arange(len(owner)) if rows is None else _sites(tasks, rows)
    found = {}
    for way in wanted:
        line = {"held_out": round(float(by_way[way].mean()), 6), "n_rows": len(owner)}
        line |= {"n_tasks": len(tasks), "odd": odd}
        for other in ("no arcs", "alone", "BIC alone", "one group"):
            if other in by_way:
                difference = by_way[way] - by_way[other]
                key = f"over {other}"
                line |= _gain(difference, sites, key)
                if way in FOUND:
                    line[f"{key}, by task"] = {
                        task: list(_gain(difference[owner == task], sites[owner == task]).values())
                        for task in tasks
                    }
        if way in groups:
            line["groups"] = " ".join(f"{task}:{label}" for task, label in groups[way].items())
            line["n_groups"] = int(groups[way].nunique())
        found[way] = line
    return found


def _sites(tasks, rows):
    """The number of the group of each row."""
    names = [f"{task} {name}" for task in tasks for name in rows[task]]
    return np.unique(names, return_inverse=True)[1]


def _gain(differences, sites, key="gain"):
    """Mean difference of a row, with an error for rows that are held out together."""
    n = len(differences)
    sums = np.bincount(sites, differences - differences.mean())
    error = np.sqrt((sums**2).sum()) / n
    return {key: round(float(differences.mean()), 6), f"{key} error": round(float(error), 6)}


def _learner(way, seed):
    prior = PairedPrior(0.9) if way.endswith("0.9") else None
    return MultitaskLearner(prior, task_groups="auto", random_state=seed)


def _scored(tasks, rows, seed, wanted):
    """Log-likelihood of every row under networks learned without its fold, by way to learn."""
    against = partial(compare, tasks=tasks, groups=rows)
    by_default = against(_learner("auto", seed))
    found = {"auto": by_default["together"], "one group": by_default["one_group"]}
    found |= {"alone": by_default["alone"], "no arcs": by_default["empty"]}
    if "auto, 0.9" in wanted:
        looser = against(_learner("auto, 0.9", seed))
        found |= {"auto, 0.9": looser["together"], "one group, 0.9": looser["one_group"]}
    if "BIC alone" in wanted:
        bic = SingleTaskLearner(score=BIC(), structure_prior=None, random_state=seed)
        found["BIC alone"] = against(bic)["alone"]
    if "no arcs, own tables" in wanted:
        found["no arcs, own tables"] = against(SingleTaskLearner(random_state=seed))["empty"]
    return {way: scored.to_numpy() for way, scored in found.items()}


def tables(lines):
    """Gains over one group and over each task alone, pooled ones, and what groups are found."""
    return {
        "real_groups": markdown(_of_tables(lines)),
        "real_groups_pooled": markdown(_pooled(lines)),
    }


def _text(line, key, digits=3):
    if pd.isna(line.get(key)):
        return ""
    return f"{line[key]:+.{digits}f} ± {line[f'{key} error']:.{digits}f}"


def _cases(lines):
    for altered in (AS_IT_IS, RENAMED, PERMUTED, STRANGER):
        for case, group in parts(lines, table=TABLES, altered=[altered]):
            yield case, group.set_index("way")


def _of_tables(lines):
    for case, by_way in _cases(lines):
        row, auto = dict(case), by_way.loc["auto"]
        row |= {"tasks": auto["n_tasks"], "rows": auto["n_rows"], "groups": int(auto["n_groups"])}
        row["odd one"] = _company(auto)
        row["nats a row, auto"] = f"{auto['held_out']:.2f}"
        for other in ("one group", "alone", "BIC alone", "no arcs"):
            row[f"auto over {other}"] = _text(auto, f"over {other}")
        for way in ("one group, 0.9", "auto, 0.9"):
            found = by_way.loc[way] if way in by_way.index else {}
            row[f"{way} over one group"] = _text(found, "over one group")
        separate = (
            by_way.loc["no arcs, own tables"] if "no arcs, own tables" in by_way.index else {}
        )
        row["no arcs: own tables over shared"] = _text(separate, "over no arcs")
        yield row


def _company(line):
    """Whether the task that does not belong learns alone."""
    if line["odd"] is None or pd.isna(line["odd"]):
        return ""
    labels = dict(pair.rsplit(":", 1) for pair in line["groups"].split(" ") if ":" in pair)
    odd = labels.get(line["odd"])
    return "alone" if list(labels.values()).count(odd) == 1 else "not alone"


def _pooled(lines):
    """Mean gains over tables: those as they are, and the altered ones."""
    cases = pd.Series(zip(lines["table"], lines["altered"], strict=True), lines.index)
    for title, wanted in (
        (AS_IT_IS, [(table, AS_IT_IS) for table in TABLES]),
        ("altered", list(ALTERED)),
        ("altered, first looked at when the rule was fixed", list(FRESH)),
    ):
        chosen = lines[cases.isin(wanted)]
        if chosen.empty:
            continue
        row = {"tables": title, "number": chosen.groupby(["table", "altered"]).ngroups}
        for way in ("auto", "auto, 0.9", "one group, 0.9"):
            of_way = chosen[chosen["way"] == way]
            for other in ("one group", "alone"):
                gains, errors = of_way[f"over {other}"], of_way[f"over {other} error"]
                row[f"{way} over {other}"] = ""
                if len(gains):
                    # Alterations of a table share rows, so their errors add up.
                    of_tables = errors.groupby(of_way["table"]).sum()
                    error = np.sqrt((of_tables**2).sum()) / len(errors)
                    row[f"{way} over {other}"] = f"{gains.mean():+.3f} ± {error:.3f}"
        yield row


if __name__ == "__main__":
    study.main(__spec__.name)
