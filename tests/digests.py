"""Digests of results: whether a change of structure leaves every result as it is, to the last bit.

Run `python tests/digests.py` to compare with `tests/digests.json`, which names the cases that
differ, and `--write` to update it. Digests are of one platform and one set of versions, so they
are made and compared on the same machine, and by hand. Wording, pictures, times and versions are
not part of them.
"""

import argparse
import contextlib
import hashlib
import io
import json
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from rich.progress import track

import bnmtl
from bnmtl import (
    AIC,
    BIC,
    K2,
    ArcPrior,
    BayesNet,
    BDeu,
    BDs,
    EditPrior,
    HillClimbing,
    IdenticalLearner,
    LogLikelihood,
    MixedDirichlet,
    MultitaskLearner,
    MultitaskLearnerCV,
    Orders,
    PairedPrior,
    PooledLearner,
    ReferencePrior,
    SingleTaskLearner,
    active,
    calibration,
    classification,
    confidence,
    data,
    decorate,
    ensembles,
    metrics,
    problems,
    relatedness,
    structures,
    trees,
    validation,
)
from bnmtl.cli.main import main as command_line
from bnmtl.learners import compare
from bnmtl.networks import fit_networks
from bnmtl.tasks import discretize, encode, split

FILE = Path(__file__).with_name("digests.json")
# Keys of run.json that describe the run, not its result, and texts whose wording may change.
_NOT_COMPARED = (
    *("versions", "started", "seconds", "warnings", "verdict", "sure", "layout", "files"),
    *("local_scores", "digests"),
)


def digest(value):
    """A short hash of a value, the same for the same bits."""
    return hashlib.blake2b(repr(plain(value)).encode(), digest_size=8).hexdigest()


def plain(value):
    """A value as nested tuples of text, every number in full."""
    if isinstance(value, BayesNet):
        tables = {variable: value.table(variable) for variable in sorted(value.variables)}
        return "network", plain(value.graph), plain(tables)
    if isinstance(value, nx.DiGraph):
        return "graph", tuple(sorted(value)), tuple(sorted(value.edges))
    if isinstance(value, pd.DataFrame):
        columns = [plain(value[column].to_numpy()) for column in value]
        return "frame", tuple(map(str, value)), tuple(map(str, value.index)), tuple(columns)
    if isinstance(value, pd.Series):
        return "series", tuple(map(str, value.index)), plain(value.to_numpy())
    if isinstance(value, Mapping):
        return "mapping", tuple((str(key), plain(item)) for key, item in value.items())
    if isinstance(value, np.ndarray):
        return "array", value.shape, tuple(map(plain, value.ravel().tolist()))
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    if isinstance(value, float | np.floating):
        return float(value).hex()
    return str(value)


def orders(starts=1, iterations=5):
    """Search over orders, short."""
    return {"search": Orders(starts=starts, iterations=iterations)}


def climb(restarts=3):
    """Hill climbing, short."""
    return {"search": HillClimbing(restarts=restarts)}


def rows():
    """Tables to learn from: related tasks, tasks that lack variables, gaps, birds and cells."""
    asia = problems.sample(problems.deletion("asia", 3, 0.2, random_state=0), 120, random_state=0)
    partial = {name: frame.copy() for name, frame in asia.items()}
    partial["task1"] = partial["task1"].drop(columns="xray")
    partial["task3"] = partial["task3"].drop(columns=["asia", "tub"])
    gaps = {name: frame.astype(object) for name, frame in asia.items()}
    gaps["task2"].iloc[::17, 3] = None
    birds = {name: frame.iloc[:80, :12] for name, frame in data.load("avimedi").items()}
    cells = discretize(data.load("sachs"), bins=3)
    cells = {name: frame.iloc[:40] for name, frame in list(cells.items())[:4]}
    families, bases = {}, problems.unrelated("asia", 2, random_state=0)
    for letter, base in zip("AB", bases.values(), strict=True):
        for name, net in problems.deletion(base, 2, 0.1, random_state=0).items():
            families[f"{letter}{name}"] = net
    families = problems.sample(families, 200, random_state=0)
    found = {"asia": asia, "partial": partial, "gaps": gaps, "birds": birds, "cells": cells}
    return {**found, "families": families}


def learners():
    """Learners by name, with the tables that they are fitted to."""
    multitask, paired = MultitaskLearner, PairedPrior(0.9)
    choice = {"penalties": [0, 0.9], "random_state": 1, **climb(0)}
    given = dict.fromkeys(["Atask1", "Btask1"], "first") | dict.fromkeys(["Atask2", "Btask2"], 2)
    plain_bdeu = {"score": BDeu(), "structure_prior": None, "parameter_sample_size": 1}
    many = ("asia", "partial", "birds", "cells")
    made = {
        "single": (SingleTaskLearner(random_state=1), many),
        "identical": (IdenticalLearner(random_state=1), many),
        "pooled": (PooledLearner(random_state=1), ("asia", "cells")),
        "multitask": (multitask(random_state=1), many),
        "drop": (multitask(missing="drop", random_state=1), ("gaps",)),
        "state": (multitask(missing="state", random_state=1), ("gaps",)),
        "own tables": (multitask(paired, table_sharing=None, random_state=1), many),
        "edit": (multitask(EditPrior(0.8), random_state=1), many),
        "edit, own": (multitask(EditPrior(0.8), table_sharing=None, random_state=1), many),
        "penalty 0": (multitask(PairedPrior(0), table_sharing=None, random_state=1), many),
        "penalty 1": (multitask(PairedPrior(1), random_state=1), many),
        "bdeu": (multitask(paired, **plain_bdeu, random_state=1), many),
        "climb": (multitask(paired, **climb(), random_state=1), many),
        "climb, own": (multitask(paired, **climb(), table_sharing=None, random_state=1), many),
        "short": (multitask(paired, **orders(), random_state=1), many),
        "exact": (SingleTaskLearner(search="exact", random_state=1), ("asia", "cells")),
        "exact, together": (multitask(search="exact", random_state=1), ("asia",)),
        "exact, identical": (IdenticalLearner(search="exact", random_state=1), ("asia",)),
        "tasks": (
            multitask(PairedPrior(0.9, task_penalty={("task1", "task2"): 0.2}), random_state=1),
            ("asia",),
        ),
        "variables": (
            multitask(PairedPrior(0.9, variable_penalty={("smoke", "bronc"): 0.0}), random_state=1),
            ("asia",),
        ),
        "required": (
            multitask(
                required=[("smoke", "dysp")],
                forbidden={"task1": [("smoke", "lung"), ("lung", "smoke")]},
                tiers=[["smoke"], ["lung", "bronc"]],
                max_parents=2,
                random_state=1,
            ),
            ("asia",),
        ),
        "posterior": (
            MultitaskLearnerCV(validation="posterior", penalties=[0, 0.9, 0.99], random_state=1),
            ("asia", "partial"),
        ),
        "folds": (
            MultitaskLearnerCV(cv=3, penalties=[0, 0.9], table_sharing=None, random_state=1),
            ("asia", "partial", "cells"),
        ),
        "one standard error": (
            MultitaskLearnerCV(
                cv=3, rule="one-standard-error", penalties=[0, 0.9, 1], random_state=1
            ),
            ("asia",),
        ),
        "held out": (
            MultitaskLearnerCV(validation=0.2, penalties=[0, 0.9], random_state=1, **climb()),
            ("asia", "cells"),
        ),
        "reference": (
            multitask(
                structure_prior=ReferencePrior(structures.load("asia").graph, 0.1), random_state=1
            ),
            ("asia",),
        ),
    }
    grouped = ("families",)
    made |= {
        "groups": (multitask(random_state=1), grouped),
        "groups, climb": (multitask(random_state=1, **climb(0)), ("families", "birds")),
        "groups, own tables": (multitask(table_sharing=None, random_state=1), grouped),
        "groups, edit": (multitask(EditPrior(0.9), random_state=1), grouped),
        "groups, bdeu": (multitask(**plain_bdeu, random_state=1), grouped),
        "groups given": (multitask(task_groups=given, random_state=1), grouped),
        "groups, no": (multitask(task_groups=None, random_state=1), grouped),
        "groups, one graph": (IdenticalLearner(task_groups="auto", random_state=1), grouped),
        "groups, folds": (MultitaskLearnerCV(cv=2, **choice), grouped),
        "groups, posterior": (MultitaskLearnerCV(validation="posterior", **choice), grouped),
    }
    for start in ("single-task", "identical", "empty", "orders"):
        made[f"start {start}"] = (multitask(paired, start=start, random_state=1), ("asia",))
    for score in (BDeu(5), BDs(), K2(), BIC(), AIC(), LogLikelihood(), MixedDirichlet((0.1, 1))):
        settings = {"score": score, "structure_prior": ArcPrior(0.05), "max_parents": 3}
        made[f"score {score}"] = (
            multitask(paired, **settings, **orders(), random_state=1),
            ("asia", "partial"),
        )
    return made


LEARNED = (
    *("configuration_", "score_", "task_scores_", "arcs_", "networks_", "borrowed_", "start_"),
    *("start_scores_", "penalty_", "validation_scores_", "validation_grid_", "arc_probability_"),
    *("graph_", "task_groups_", "group_gains_", "group_margins_", "alternatives_"),
)


def fitted(learner, tasks):
    """All that a learner has learned."""
    learner.fit(tasks)
    found = {name: getattr(learner, name) for name in LEARNED if hasattr(learner, name)}
    frame = found["configuration_"].to_frame()
    return {**found, "frame": frame}


def in_python(tables):
    """Cases of functions: name -> callable."""
    asia, cells = tables["asia"], tables["cells"]
    quick = MultitaskLearner(PairedPrior(0.9), **climb(0), random_state=0)
    network = structures.load("asia")
    test = problems.sample(problems.deletion("asia", 3, 0.2, random_state=0), 60, random_state=1)
    first = asia["task1"]
    cases = {
        "compare": lambda: compare(quick, asia, cv=3),
        "fit_networks": lambda: fit_networks(dict.fromkeys(asia, network.graph), asia),
        "direct": lambda: relatedness.direct(asia, quick),
        "indirect": lambda: relatedness.indirect(asia, quick, cv=3),
        "shared": lambda: relatedness.shared(asia, quick),
        "confidence": lambda: confidence.arc_confidence(asia, quick, 5, random_state=0),
        "light": lambda: confidence.arc_confidence(cells, quick, 5, random_state=0, light=True),
        "consensus": lambda: confidence.consensus(
            confidence.arc_confidence(asia, quick, 5, random_state=0), 0.5
        ),
        "select": lambda: _attributes(
            relatedness.TaskSelector(quick, "task1", n_tasks="cv").fit(asia),
            ("order_", "n_tasks_", "scores_", "networks_"),
        ),
        "cluster": lambda: _attributes(
            relatedness.TaskClusterer(quick, n_clusters="cv").fit(asia),
            ("labels_", "linkage_", "configuration_"),
        ),
        "sample": lambda: network.sample(50, random_state=3),
        "log_likelihood": lambda: network.log_likelihood(first),
        "query": lambda: network.predict_proba(first.drop(columns=["lung", "xray"]), "tub"),
        "discretize": lambda: discretize(data.load("sachs"), bins=4),
        "split": lambda: split(pd.concat(asia, names=["task"]).reset_index("task"), "task"),
        "encode": lambda: [task.codes for task in encode(asia).values()],
    }
    for name, made in {
        "deletion": lambda: problems.deletion("asia", 3, 0.3, random_state=5),
        "independent": lambda: problems.deletion("asia", 3, 0.3, "independent", random_state=5),
        "components": lambda: problems.components(
            "alarm", problems.ALARM_COMPONENTS, ((), (0,)), random_state=2
        ),
        "perturb": lambda: problems.perturb("asia", 3, 4, random_state=2),
        "unrelated": lambda: problems.unrelated("asia", 3, random_state=2),
        "random_network": lambda: problems.random_network(8, random_state=2),
    }.items():
        cases[f"problem {name}"] = made
    true = problems.deletion("asia", 3, 0.3, random_state=5)
    graphs = {name: bayes_net.graph for name, bayes_net in true.items()}
    learned = dict.fromkeys(graphs, network.graph)
    cases["edit_distance"] = lambda: metrics.edit_distance(graphs, learned)
    cases["shd"] = lambda: metrics.shd(graphs, learned)
    cases["kl"] = lambda: metrics.kl_divergence(true, fit_networks(learned, asia), test)
    for name, model in {
        "classifier": classification.BayesNetClassifier(
            learner=SingleTaskLearner(random_state=0, **climb(0))
        ),
        "multi-net": classification.MultiNetClassifier(learner=quick),
    }.items():
        cases[name] = lambda model=model: _predicted(model, first, test["task1"])
    cases["classifier by task"] = lambda: _by_task(quick, asia, test)
    cases["calibrators"] = lambda: _calibrated()
    cases["evidence"] = lambda: relatedness.evidence(tables["families"], quick)
    return cases | of_the_chain()


def _attributes(fitted, names):
    return {name: getattr(fitted, name) for name in names}


def _predicted(model, train, test):
    model.fit(train.drop(columns="lung"), train["lung"])
    gaps = test.drop(columns=["lung", "smoke"])
    whole = model.predict_proba(test.drop(columns="lung"))
    return whole, model.predict_proba(gaps.assign(smoke=None)[list(test.columns.drop("lung"))])


def _by_task(learner, train, test):
    train, test = (
        {name: rows.assign(t=name) for name, rows in one.items()} for one in (train, test)
    )
    together = pd.concat(train.values(), ignore_index=True)
    model = classification.MultitaskBayesNetClassifier(task_column="t", learner=learner)
    model.fit(together.drop(columns="lung"), together["lung"])
    return [model.predict_proba(rows) for rows in test.values()]


def _calibrated():
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 2, 300)
    y = (rng.random(300) < scores**2).astype(int)
    group = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    found = {}
    for name in ("PlattCalibrator", "IsotonicCalibrator"):
        found[name] = getattr(calibration, name)().fit(scores, y).predict(scores)
    several = calibration.MultitaskPlattCalibrator().fit(scores, y, group)
    return {**found, "several": several.predict(scores, group)}


LIBRARY = [
    {"family": "networks of all tasks"},
    {"family": "Bayesian network"},
    {"family": "logistic regression", "ridge": 1.0},
    {"family": "decision trees", "alpha": 0.001},
]


def sites():
    """Sites of two regions with a bird to predict, in random order."""
    table = pd.concat(data.load("avimedi"), names=["region"]).reset_index("region")
    table = table.sample(frac=1, random_state=0).reset_index(drop=True)
    return table[["region", "stratum", "TUME", "PAMA", "ERRU", "SYME", "SYCA"]]


def of_the_chain():
    """Cases of everything that consumes the predictions of networks: name -> callable."""
    table = sites()
    X, y = table.drop(columns="SYCA"), table["SYCA"].astype(str)
    known, new = slice(0, 90), slice(90, 150)
    task, few = {"task_column": "region"}, {"random_state": 0}
    together = classification.MultitaskBayesNetClassifier(
        learner=MultitaskLearner(**climb(0), **few), **task
    )

    def predicted(model):
        return model.fit(X[known], y[known]).predict_proba(X[new])

    def selected(profile, **options):
        test = {"test": (X[new], y[new])}
        store = ensembles.build_library(X[known], y[known], profile, **test, **options, **few)
        selector = ensembles.EnsembleSelector("cross_entropy", bags=3, **few).fit(store)
        refitted = selector.refit(X[known], y[known])
        unused = ensembles.UnusedCases.on_part(selector)
        return {
            "models": store.names,
            "predictions": [store.predictions(part) for part in store.parts],
            "weights": selector.weights_,
            "refit": refitted.predict_proba(X[new]),
            "unused": unused.scores,
            "stacking": ensembles.Stacking().fit(store).predict_proba("test"),
            "mean": ensembles.mean_of_all(store).predict_proba("test"),
        }

    def validated():
        plan = {"scheme": "kfold", "rounds": 1, "folds": 3, "task": X["region"][:150], **few}
        forest, birds = trees.MOBESP(n_estimators=3, **few), X.drop(columns=["region", "stratum"])
        made = {
            "together": validation.predict_rounds(together, X[:150], y[:150], **plan),
            "trees": validation.predict_rounds(forest, birds[:150], y[:150], **plan),
        }
        return {
            "together": made["together"].predictions,
            "trees": made["trees"].predictions,
            "compared": list(validation.compare(*made.values(), "squared_error", **few)),
        }

    def asked():
        labels = y.where(y.index < 60)
        query = active.MultitaskQuery(n_members=3, **few)
        features = X.drop(columns="region")
        strategy = active.ActiveDecorate(**task, **few)
        options = {"batch_size": 4, "return_utilities": True}
        return {
            "together": query.query(features, labels, X["region"], **options),
            "decorate": strategy.query(X, labels, **options),
        }

    members = {"n_estimators": 3, "max_iterations": 4, **few}
    models = {
        "together": together,
        "calibrated": calibration.CalibratedClassifier(together, cv=3, **task),
        "DECORATE": decorate.DecorateClassifier(**members, **task),
        "DECORATE of networks": decorate.DecorateClassifier(together, **members, **task),
        "DECORATE by networks": decorate.DecorateClassifier(generator="network", **members, **task),
        "mimic": ensembles.Mimic(together, sampler=ensembles.NaiveBayesSampler(), **task, **few),
    }
    return {
        **{f"chain {name}": lambda one=one: predicted(one) for name, one in models.items()},
        "chain library, folds": lambda: selected(LIBRARY, cv=3, **task),
        "chain library, share": lambda: selected(LIBRARY, hillclimb=0.3, **task),
        "chain library, one task": lambda: selected(LIBRARY[1:], cv=3),
        "chain validation": validated,
        "chain queries": asked,
    }


# Command lines: of `learn` and `relate` on the tables that are written first, then what follows.
COMMANDS = {
    "learn": "learn asia.csv --task-column task --out learn",
    "learn, own": "learn asia.csv --task-column task --table-sharing none --out own",
    "learn, bdeu": "learn asia.csv --task-column task --score bdeu --arc-probability none "
    "--equivalent-sample-size 5 --prior edit --penalty 0.8 --out bdeu",
    "learn, chosen": "learn task1.csv task2.csv --penalty auto --choose posterior --bootstrap 0 "
    "--folds 0 --out chosen",
    "learn, gaps": "learn gaps.csv --task-column task --missing state --search hill-climbing "
    "--restarts 5 --bootstrap 4 --folds 3 --out gaps",
    "learn, cells": "learn cells.csv --task-column condition --discretize 3 --threshold 0.5 "
    "--bootstrap 20 --folds 0 --out cells",
    "learn, known": "learn asia.csv --task-column task --required required.csv --tiers tiers.csv "
    "--max-parents 2 --bootstrap 0 --folds 0 --out known",
    "learn, one structure": "learn asia.csv --task-column task --penalty 1 --folds 3 --out one",
    "relate": "relate asia.csv --task-column task --principal task1 --out near",
    "relate, indirect": "relate asia.csv --task-column task --relatedness indirect --out losses",
    "relate, shared": "relate asia.csv --task-column task --relatedness shared --out tables",
    "predict": "predict learn asia.csv --task-column task --target lung --out predicted.csv",
    "predict, file": "predict learn/task1.bif task1.csv --target dysp --out one.csv",
    "predict, cut": "predict cells cells.csv --task-column condition --target Erk --out erk.csv",
    "calibrate": "calibrate predicted.csv --label lung --score p_lung_yes --positive yes "
    "--task-column task --out calibrated",
    "calibrate, apply": "calibrate predicted.csv --score p_lung_yes --task-column task "
    "--apply calibrated --out again",
    "learn, groups": "learn families.csv --task-column task --bootstrap 4 --folds 2 --out groups",
    "select": "select library --metric cross-entropy --test later.csv --predict later.csv "
    "--out selected",
    "validate": "validate sites.csv --label SYCA --task-column region --folds 2 --rounds 1 "
    "--out judged",
    "query": "query all.csv --label SYCA --task-column region --n 3 --out next",
    "structures": "structures asia --out asia.bif",
    "data": "data avimedi --out birds.csv",
}


def write_inputs(folder, tables):
    """Files for the commands."""
    for name in ("asia", "gaps", "families"):
        parts = [frame.assign(task=task) for task, frame in tables[name].items()]
        pd.concat(parts).to_csv(folder / f"{name}.csv", index=False)
    for task in ("task1", "task2"):
        tables["asia"][task].to_csv(folder / f"{task}.csv", index=False)
    cells = data.load("sachs")
    parts = [frame.head(40).assign(condition=name) for name, frame in list(cells.items())[:4]]
    pd.concat(parts).to_csv(folder / "cells.csv", index=False)
    table = sites()
    table[:90].to_csv(folder / "sites.csv", index=False)
    table[90:150].to_csv(folder / "later.csv", index=False)
    table.assign(SYCA=table["SYCA"].where(table.index < 60)).to_csv(folder / "all.csv", index=False)
    options = {"cv": 3, "task_column": "region", "random_state": 0, "out": folder / "library"}
    X, y = table[:90].drop(columns="SYCA"), table["SYCA"][:90].astype(str)
    ensembles.build_library(X, y, LIBRARY, **options)
    (folder / "required.csv").write_text("from,to\nsmoke,dysp\n")
    (folder / "tiers.csv").write_text("smoke\nlung,bronc\n")


def run_command(folder, line):
    """Run a command in a folder and give digests of the files that it has written."""
    out = folder / line.split("--out ")[1].split()[0]
    printed = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            command_line(line.split())
        except SystemExit as end:
            code = end.code
    if code:
        raise RuntimeError(f"`bnmtl {line}` ended with {code}: {printed.getvalue()}")
    files = sorted(out.iterdir()) if out.is_dir() else [out]
    return {path.name: _content(path) for path in files if path.suffix in (".csv", ".bif", ".json")}


def _content(path):
    if path.suffix == ".csv":
        table = pd.read_csv(path, dtype=str)
        varying = [name for name in ("seconds", "bytes") if name in table]
        return table.drop(columns=varying) if varying else path.read_text()
    if path.suffix != ".json":
        return path.read_text()
    record = json.loads(path.read_text())
    return {key: value for key, value in record.items() if key not in _NOT_COMPARED}


def cases(folder):
    """Every case: name -> callable that gives its result."""
    tables = rows()
    found = {
        f"{name}: {table}": lambda learner=learner, table=table: fitted(learner, tables[table])
        for name, (learner, names) in learners().items()
        for table in names
    }
    found |= in_python(tables)
    write_inputs(folder, tables)
    for name, line in COMMANDS.items():
        found[f"bnmtl {name}"] = lambda line=line: run_command(folder, line)
    return found


def main():
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write digests.json again")
    parser.add_argument("--only", help="cases whose names contain this")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, result in track(cases(Path(folder)).items(), disable=not sys.stderr.isatty()):
            if arguments.only and arguments.only not in name:
                continue
            value = result()
            parts = value if isinstance(value, Mapping) else {"value": value}
            found[name] = {part: digest(content) for part, content in parts.items()}
    if arguments.write:
        kept = known if arguments.only else {}
        FILE.write_text(json.dumps(kept | found, indent=1) + "\n")
    differing = [
        f"{name}: {part}"
        for name, parts in found.items()
        for part, new_digest in parts.items()
        if known.get(name, {}).get(part) != new_digest
    ]
    print(f"bnmtl {bnmtl.__version__}: {len(found)} cases, {len(differing)} parts that differ")
    print("\n".join(differing))
    return 1 if differing and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())
