"""Networks as classifiers where features are missing in predictions, of one table and of tasks.

Run `python -m benchmarks.predictions.gaps` (a quarter of an hour on one core); it needs the
packages of the extra ``bench``. Models learn from complete rows of tables that packages ship. Then
none, a quarter, half or three quarters of the features of other rows are missing at random.
"""

import time

import numpy as np
import pandas as pd
from scipy.special import xlogy
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks import package_tables, study
from benchmarks.claims import OURS, Claim, claims_table
from benchmarks.summary import markdown
from bnmtl import data
from bnmtl.classification import BayesNetClassifier, MultitaskBayesNetClassifier

NAME = "gaps"
SETTINGS = ("table", "rows", "trial", "model")
FIXED = {"most_predicted": 1000}
MISSING = (0, 25, 50, 75)
SHOWN = (0, 50)
TRIALS = {"table": 10, "tasks": 5}
NETWORK, LOGISTIC, FOREST = "network", "logistic regression", "random forest"
ITERATIVE = "logistic regression, iterative imputer"
TOGETHER, POOLED = "networks together", "pooled network with the task"
OF_TABLES = (NETWORK, LOGISTIC, ITERATIVE, FOREST)
OF_TASKS = (TOGETHER, POOLED, LOGISTIC, ITERATIVE, FOREST)
TABLE_ROWS, TASK_ROWS = 100, (40, 150)
TARGET, TASK = "class", "task"


TABLES = ("iris", "wine", "penguins", "Participation", "Hdma", "Computers")
SACHS = "sachs"
# Table -> the column of the task.
TASKS = {
    "Chile": "region",
    "OFP": "region",
    "HI": "region",
    "RetSchool": "region",
    "Benefits": "joblost",
    SACHS: None,
}
# What is read differently from the default of its source.
READ = {
    "Chile": {"label": lambda vote: vote == "Y"},
    "Benefits": {"left_out": ("state", "bluecol")},
}


def plan(quick, trials=None):
    """One case per table, number of rows (of each task, if there are tasks) and trial."""
    if quick:
        return [
            *study.every([NETWORK, LOGISTIC], table=["iris"], rows=[40], trial=[0]),
            *study.every([POOLED, LOGISTIC], table=["sachs"], rows=[40], trial=[0]),
        ]
    n_tables, n_tasks = (trials or n for n in TRIALS.values())
    return [
        *study.every(OF_TABLES, table=TABLES, rows=[TABLE_ROWS], trial=range(n_tables)),
        *study.every(OF_TASKS, table=TASKS, rows=TASK_ROWS, trial=range(n_tasks)),
    ]


def check_needs(cases, lines):
    """Raise ValueError if packages that have the tables are missing."""
    package_tables.check_installed(case["table"] for case in cases)


def read(table):
    """Complete rows: features, the column "class", and the column "task" if there are tasks."""
    if table == SACHS:
        parts = [part.assign(**{TASK: name}) for name, part in data.load(table).items()]
        frame = pd.concat(parts, ignore_index=True)
        is_high = frame["Akt"] > frame["Akt"].median()
        return frame.drop(columns="Akt").assign(**{TARGET: is_high.astype(int)})
    features, labels = package_tables.read(table, complete=True, **READ.get(table, {}))
    frame = features.rename(columns={TASKS[table]: TASK} if table in TASKS else {})
    frame = frame.assign(**{TARGET: labels})
    # Few answers come from one of the regions.
    return frame[frame[TASK] != "M"].reset_index(drop=True) if table == "Chile" else frame


def split(frame, rows, trial):
    """Rows to learn from, the same number of each task and 10 at least to predict, and others."""
    rng = np.random.default_rng([trial, rows])
    task = frame[TASK] if TASK in frame else pd.Series(0, frame.index)
    train, rest = [], []
    for _, part in frame.groupby(task, sort=True):
        order = part.index[rng.permutation(len(part))]
        if len(order) >= rows + 10:
            train.append(order[:rows])
            rest.append(order[rows:])
    rest = np.concatenate(rest)
    rest = rest[rng.permutation(len(rest))[: FIXED["most_predicted"]]]
    return frame.loc[np.concatenate(train)], frame.loc[rest]


def with_gaps(features, percent, trial):
    """Features with missing cells, never the task; more of the same cells with a higher share."""
    uniform = np.random.default_rng([trial, len(features)]).random(features.shape)
    hidden = pd.DataFrame(uniform < percent / 100, features.index, features.columns)
    return features.mask(hidden.assign(**{TASK: False}) if TASK in features else hidden)


def measure(table, rows, trial, wanted):
    """One line per model: log losses by percent of missing features, and seconds."""
    train, test = split(read(table), rows, trial)
    features = test.drop(columns=TARGET)
    parts = {percent: with_gaps(features, percent, trial) for percent in MISSING}
    lines = {}
    for name in wanted:
        began = time.perf_counter()
        model = _MODELS[name](trial)
        model.fit(train.drop(columns=TARGET), train[TARGET])
        losses = {
            f"loss {percent}": round(log_loss(model, part, test[TARGET], len(train)), 5)
            for percent, part in parts.items()
        }
        seconds = round(time.perf_counter() - began, 2)
        n_tasks = train[TASK].nunique() if TASK in train else 1
        lines[name] = {**losses, "n_tasks": n_tasks, "n_predicted": len(test), "seconds": seconds}
    return lines


def log_loss(model, rows, y, n):
    """Mean negative log probability of the true class, at least 1 / (n + 2) before it is scaled."""
    p = np.maximum(model.predict_proba(rows), 1 / (n + 2))
    p /= p.sum(axis=1, keepdims=True)
    truth = y.to_numpy()[:, None] == np.asarray(model.classes_)[None, :]
    return float(-xlogy(truth, p).sum(axis=1).mean())


class _Filled:
    """A classifier of numbers and indicators, with imputed cells."""

    def __init__(self, model, imputer=None):
        self._model, self._imputer = model, imputer or SimpleImputer()

    def fit(self, X, y):
        """Fit imputer, indicators and classifier."""
        numbers = X.select_dtypes("number").columns.difference([TASK]).tolist()
        nominal = X.columns.difference(numbers).tolist()
        most = SimpleImputer(strategy="most_frequent")
        indicators = make_pipeline(most, OneHotEncoder(handle_unknown="ignore"))
        columns = make_column_transformer(
            (make_pipeline(self._imputer, StandardScaler()), numbers),
            (indicators, nominal),
            sparse_threshold=0,
        )
        self._pipeline = make_pipeline(columns, self._model).fit(_plain(X), y)
        self.classes_ = self._pipeline.classes_

    def predict_proba(self, X):
        """Probabilities of all classes."""
        return self._pipeline.predict_proba(_plain(X))


def _plain(X):
    """Columns of text as objects with NaN where they are missing."""
    texts = X.columns.difference(X.select_dtypes("number").columns)
    return X.astype(dict.fromkeys(texts, object)).where(X.notna(), np.nan)


_MODELS = {
    NETWORK: lambda trial: BayesNetClassifier(unseen="ignore", random_state=trial),
    TOGETHER: lambda trial: MultitaskBayesNetClassifier(
        task_column=TASK, unseen="ignore", random_state=trial
    ),
    POOLED: lambda trial: BayesNetClassifier(unseen="ignore", random_state=trial),
    LOGISTIC: lambda trial: _Filled(LogisticRegression(max_iter=2000)),
    ITERATIVE: lambda trial: _Filled(LogisticRegression(max_iter=2000), IterativeImputer()),
    FOREST: lambda trial: _Filled(RandomForestClassifier(500, random_state=trial)),
}


def tables(lines):
    """Mean losses by share of missing features, over tables and by table, and the claims."""
    if not len(lines):
        return {}
    found = {}
    for name, part, models in _parts(lines):
        found[f"gaps_{name}"] = markdown(_of_means(part, models))
        found[f"gaps_{name}_each"] = markdown(_by_table(part, models))
    found["gaps_claims"] = claims_table(claims(lines))
    return found


def _parts(lines):
    """The lines of single tables and of tasks, with the names of their models."""
    is_single = lines["n_tasks"] == 1
    for name, part, models in (
        ("tables", lines[is_single], OF_TABLES),
        ("tasks", lines[~is_single], OF_TASKS),
    ):
        if len(part):
            yield name, part, [one for one in models if one in set(part["model"])]


def _losses(lines, rows, percent):
    """Mean loss over trials, tables by models."""
    some = lines[lines["rows"] == rows]
    return some.pivot_table(index="table", columns="model", values=f"loss {percent}")


def _of_means(lines, models):
    found = []
    for rows in sorted(lines["rows"].unique()):
        for percent in MISSING:
            losses = _losses(lines, rows, percent)
            row = {"rows": rows, "missing": f"{percent} %"}
            found.append(row | {name: f"{losses[name].mean():.3f}" for name in models})
    return pd.DataFrame(found)


def _by_table(lines, models):
    found = []
    for rows in sorted(lines["rows"].unique()):
        whole, half = (_losses(lines, rows, percent) for percent in SHOWN)
        for table in dict.fromkeys(lines["table"]):
            row = {"table": table, "rows": rows}
            for name in models:
                row[name] = f"{whole.loc[table, name]:.3f}, {half.loc[table, name]:.3f}"
            found.append(row)
    return pd.DataFrame(found)


def claims(lines):
    """Who has the smaller log loss, on how many tables and on average."""
    for name, part, models in _parts(lines):
        ours = NETWORK if name == "tables" else TOGETHER
        for rows in sorted(part["rows"].unique()):
            for percent in SHOWN:
                losses = _losses(part, rows, percent)
                for other in models:
                    if other == ours or ours not in losses:
                        continue
                    wins = int((losses[ours] < losses[other]).sum())
                    means = f"{losses[ours].mean():.3f} against {losses[other].mean():.3f}"
                    yield Claim(
                        f"{ours} before {other}, {rows} rows, {percent} % missing",
                        OURS,
                        f"{means}, better on {wins} of {len(losses)}",
                        bool(losses[ours].mean() < losses[other].mean()),
                    )


if __name__ == "__main__":
    study.main(__spec__.name)
