"""False arcs found between independent columns.

Run `python -m benchmarks.defaults.no_structure` (hours on two cores; `--trials 2` for a first
look). Learns independent columns of several kinds alone, as two and five tasks together, with one
structure, by the consensus of bootstrap replicates and by a classifier. Tasks have separate tables
and a penalty chosen by folds or, as by default, share tables ("shared"); the previous defaults
("BDeu, uniform") and BIC serve as baselines. Two cases are harder: duplicated rows, and columns of
noise beside a real structure. Columns of equally likely states also have many rows, with the
default score and with concentrations up to 100. "told" is whether `bnmtl learn`, and `bnmtl relate`
for five tasks, would report that something was found.
"""

import numpy as np
import pandas as pd

from benchmarks import study
from benchmarks.by_default import UP_TO_100
from benchmarks.defaults.no_structure_tables import (
    BESIDE_ALARM,
    FLAT,
    FLAT_LEARNERS,
    MANY_ROWS,
    TWICE,
    draw,
    more_pictures,
    tables,
)
from bnmtl import (
    BIC,
    BDeu,
    HillClimbing,
    IdenticalLearner,
    MixedDirichlet,
    MultitaskLearner,
    MultitaskLearnerCV,
    PairedPrior,
    SingleTaskLearner,
    structures,
)
from bnmtl.classification import BayesNetClassifier, MultiNetClassifier
from bnmtl.cli.relate import FOLDS, PENALTY
from bnmtl.confidence import arc_confidence, consensus
from bnmtl.graphs import compelled_arcs
from bnmtl.learners import compare
from bnmtl.learners.adapted import as_chosen
from bnmtl.learners.base import auto_prior
from bnmtl.learners.comparison import held_out_record, of_arcs
from bnmtl.scores import CONCENTRATIONS
from bnmtl.tasks import encode

NAME = "no_structure"
SETTINGS = ("kind", "columns", "rows", "trial", "learner")
__all__ = ["draw", "independent_columns", "measure", "more_pictures", "plan", "tables"]
COLUMNS = (30, 100)
# The two harder cases have fewer.
N_TRIALS = 20
ROWS = (10, 20, 60, 500)
N_BOOTSTRAP = 30
FIXED = {"n_bootstrap": N_BOOTSTRAP, "concentrations": list(CONCENTRATIONS)}
EARLIER = {"concentrations": list(UP_TO_100)}
# Number of trials, and numbers of rows.
HARDER = {TWICE: (2, (10, 20, 60)), BESIDE_ALARM: (5, (10, 20, 60, 500))}
# Number of trials with many rows of equally likely states, by number of rows.
N_MANY = {2000: 3, 20_000: 3}
KINDS = ("three equal", "two equal", "rare", "skewed four", "ordered")
# Earlier variants, without large concentrations.
SMALLER = {"score": MixedDirichlet((0.01, 0.05, 0.2, 0.5, 1.0))}
UNTIL_100 = {"score": MixedDirichlet(UP_TO_100)}
OLD = {"score": BDeu(), "structure_prior": None, "parameter_sample_size": 1}
LEARNERS = (
    "alone",
    "two together",
    "five together",
    "one structure, five",
    "shared: two together",
    "shared: five together",
    "shared: one structure, five",
    "consensus",
    "classifier",
    "BDeu, uniform: alone",
    "BDeu, uniform: two together",
    "BIC: alone",
    "concentrations up to 1: alone",
    "concentrations up to 1: one structure, five",
)
# The defaults; with 100 columns, the other learners are run in the first trials only.
BY_DEFAULT = (
    "alone",
    *(learner for learner in LEARNERS if learner.startswith("shared: ")),
    *("consensus", "classifier"),
)
# In the first trials of 30 independent columns only: the learners of `bnmtl relate`, the consensus
# of replicates that `bnmtl learn` makes of two tasks, one network for each state of a column, and
# one structure that expects a tenth of a parent for each task instead of for all tasks together.
EACH = "one structure, a tenth for each of five"
MULTINET = "classifier of a network a class"
MORE = ("relate, direct", "relate, indirect", "consensus, two together", MULTINET, EACH)
N_MORE = 3
# Trials in which "told" is measured for shared tables.
N_COMPARED = 3


def independent_columns(kind, n_columns, n_rows, random_state):
    """A frame of independent categorical columns.

    Parameters
    ----------
    kind : str
        One of `FLAT`, or of `KINDS`: three or two equally likely states; 0 / 1, where the
        probability of 1 is drawn from 0.02 to 0.3 for each column; four states with probabilities
        0.7, 0.2, 0.07 and 0.03; five ordered states with probabilities 0.4, 0.3, 0.15, 0.1 and
        0.05.
    n_columns, n_rows : int
    random_state : int or sequence of int
    """
    rng = np.random.default_rng(random_state)
    columns = {}
    for at in range(n_columns):
        if kind == "rare":
            chance = rng.uniform(0.02, 0.3)
            chances = [1 - chance, chance]
        else:
            chances = {
                "three equal": [1 / 3] * 3,
                **{name: [1 / n] * n for name, n in FLAT.items()},
                "skewed four": [0.7, 0.2, 0.07, 0.03],
                "ordered": [0.4, 0.3, 0.15, 0.1, 0.05],
            }[kind]
        codes = rng.choice(len(chances), n_rows, p=chances)
        states = [str(state) for state in range(len(chances))]
        columns[f"x{at:03d}"] = pd.Categorical.from_codes(codes, states, ordered=kind == "ordered")
    return pd.DataFrame(columns)


def plan(quick, trials=None):
    """All cases, trial by trial."""
    if quick:
        wanted = ["alone", "two together"]
        return study.every(wanted, kind=["rare"], columns=[30], rows=[20], trial=[0])
    kinds = dict.fromkeys((*KINDS, *HARDER, *FLAT))
    trial, rows = range(min(trials or N_TRIALS, N_TRIALS)), (*ROWS, *MANY_ROWS)
    return study.every(_wanted, trial=trial, columns=COLUMNS, kind=kinds, rows=rows)


def _wanted(trial, columns, kind, rows):
    if rows in MANY_ROWS:
        return FLAT_LEARNERS if kind in FLAT and columns == 30 and trial < N_MANY[rows] else []
    if kind not in KINDS and kind not in HARDER:
        return []
    n_trials, sizes = HARDER.get(kind, (N_TRIALS, ROWS))
    if trial >= n_trials or rows not in sizes or (kind in HARDER and columns > 30):
        return []
    wanted = LEARNERS if columns == 30 or trial < N_MORE else BY_DEFAULT
    is_first = kind in KINDS and columns == 30 and trial < N_MORE
    return [*wanted, *(MORE if is_first else ())]


def measure(kind, columns, rows, trial, wanted):
    """One line per learner: false arcs per network, those in all tasks, and the compelled ones."""
    frames = frames_of(kind, columns, rows, trial)
    return {learner: line_of(learner, frames, trial) for learner in wanted}


def frames_of(kind, columns, rows, trial):
    """The rows of five tasks."""
    frames = {}
    for task in range(5):
        seed = [trial, task, columns, rows]
        if kind == BESIDE_ALARM:
            noise = independent_columns("three equal", 40, rows, seed)
            alarm = structures.load("alarm").sample(rows, random_state=np.random.default_rng(seed))
            frames[f"task{task + 1}"] = pd.concat([alarm, noise], axis=1)
        elif kind == TWICE:
            half = independent_columns("three equal", columns, rows // 2, seed)
            frames[f"task{task + 1}"] = pd.concat([half, half], ignore_index=True)
        else:
            frames[f"task{task + 1}"] = independent_columns(kind, columns, rows, seed)
    return frames


def line_of(learner, frames, trial):
    """The line of one learner."""
    name, _, how = learner.rpartition(": ")
    settings = {
        "": {},
        "shared": {},
        "BDeu, uniform": OLD,
        "BIC": {"score": BIC(), "structure_prior": None},
        "concentrations up to 1": SMALLER,
        "concentrations up to 100": UNTIL_100,
        "concentrations up to 100, shared": UNTIL_100,
    }[name]
    settings = {**settings, "random_state": trial}
    if how in ("alone", "consensus", "classifier", MULTINET):
        frames = dict(list(frames.items())[:1])
    elif how.endswith("two together"):
        frames = dict(list(frames.items())[:2])
    tasks = encode(frames)
    if how == "consensus":
        climb = SingleTaskLearner(search=HillClimbing(restarts=5), **settings)
        return counted(consensus(arc_confidence(tasks, climb, N_BOOTSTRAP), by="edge"))
    if how == "consensus, two together":
        choosing = MultitaskLearnerCV(table_sharing=None, task_groups=None, **settings)
        chosen = as_chosen(choosing.fit(tasks))
        return counted(consensus(arc_confidence(tasks, chosen, N_BOOTSTRAP, light=True)))
    if how == EACH:
        settings["structure_prior"] = auto_prior(MixedDirichlet(), _n_varying(tasks))
    if how == "classifier":
        target = max(v for v in tasks.variables if v not in tasks[tasks.names[0]].constant)
        model = BayesNetClassifier(target, SingleTaskLearner(**settings)).fit(*frames.values())
        return counted({"task1": model.network_.graph})
    if how == MULTINET:
        return counted(networks_by_class(*frames.values(), settings))
    fitted = _learner(name, how, settings).fit(tasks)
    line = counted(fitted.configuration_)
    is_asked = name == "" or (name == "shared" and trial < N_COMPARED)
    is_asked = is_asked and len(next(iter(frames.values()))) not in MANY_ROWS
    if is_asked and how not in ("one structure, five", EACH):
        n_folds = FOLDS["direct"] if how == "relate, direct" or name == "shared" else None
        is_found, _ = of_arcs(held_out_record(compare(fitted, tasks, n_folds)))
        line["told"] = int(is_found and line["false_arcs"] > 0)
    return line


def networks_by_class(frame, settings):
    """A graph for each state of the column whose rarest state is the most frequent."""

    def rarest(column):
        counts = frame[column].value_counts()
        return counts[counts > 0].min() * (np.count_nonzero(counts) > 1)

    target = max(frame, key=rarest)
    learner = MultitaskLearner(task_groups=None, **settings)
    model = MultiNetClassifier(target, learner).fit(frame)
    return {label: network.graph for label, network in model.networks_.items()}


def _n_varying(tasks):
    """Number of variables that vary in a task."""
    return len({v for task in tasks.values() for v in task.variables if v not in task.constant})


def _learner(name, how, settings):
    if how in ("alone", "relate, indirect"):
        return SingleTaskLearner(**settings)
    shares_tables = name.endswith("shared")
    settings = {**settings, "table_sharing": "auto" if shares_tables else None}
    if how in ("one structure, five", EACH):
        return IdenticalLearner(**settings)
    settings["task_groups"] = None
    if how == "relate, direct":
        return MultitaskLearner(PairedPrior(PENALTY), **settings)
    if shares_tables:
        return MultitaskLearner(**settings)
    if name == "BDeu, uniform":
        # The previous default chose the penalty by ten folds, which takes too long here.
        return MultitaskLearner(PairedPrior(0.99), **settings)
    return MultitaskLearnerCV(**settings)


def counted(graphs):
    """Count false arcs: those of columns named x and three digits, which are independent."""
    false = {name: [arc for arc in g.edges if _is_false(arc)] for name, g in graphs.items()}
    everywhere = set.intersection(*(set(arcs) for arcs in false.values()))
    compelled = [
        sum(arc in set(compelled_arcs(graph)) for arc in false[name])
        for name, graph in graphs.items()
    ]
    return {
        "false_arcs": round(float(np.mean([len(arcs) for arcs in false.values()])), 4),
        "in_all_tasks": len(everywhere) if len(graphs) > 1 else None,
        "compelled": round(float(np.mean(compelled)), 4),
    }


def _is_false(arc):
    return any(name[0] == "x" and name[1:].isdigit() for name in arc)


if __name__ == "__main__":
    study.main(__spec__.name)
