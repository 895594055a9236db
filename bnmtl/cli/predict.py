"""Predictions by learned networks: `bnmtl predict`."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from bnmtl.cli.messages import conflict
from bnmtl.cli.options import inputs_of
from bnmtl.cli.runs import Table, user_messages, warnings_kept
from bnmtl.cli.tables import (
    as_written,
    check_column,
    check_new_columns,
    complete_names,
    na_values,
    read_table,
    without_points,
)
from bnmtl.errors import InputError, InputTypeError, located, warn
from bnmtl.io.run import (
    RUN_FILE,
    digest,
    is_as_written,
    na_values_of_run,
    read_record,
    read_run,
)
from bnmtl.networks import BayesNet
from bnmtl.networks.inference import markov_blanket
from bnmtl.networks.tables import code_frame
from bnmtl.tasks import Edges
from bnmtl.tasks.files import csv_text, warn_of_formulas
from bnmtl.wording import count, listed
from bnmtl.writing import OutputFile


@dataclass(frozen=True)
class LearnedNetworks:
    """Networks and the record of the run that learned them.

    Attributes
    ----------
    by_task : dict of str to BayesNet
        A single network is named like its file.
    path : pathlib.Path
        The path as given.
    record : dict or None
        The run.json of the run, or None for a network outside the folder of a run.
    """

    by_task: dict
    path: Path
    record: dict | None

    @property
    def folder(self):
        """The folder of the run."""
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def settings(self):
        return {} if self.record is None else self.record["settings"]

    @property
    def na_values(self):
        """What meant missing in the tables of the run."""
        return na_values_of_run(self.settings)

    def read_rows(self, options):
        """Read the rows of a command; as in learning, the column of tasks is read as text."""
        as_text = {options.task_column, self.settings.get("task_column")}
        return read_table(options.rows, options, as_text, self.na_values)

    def cut(self, rows):
        """Discretize columns with the cut points of the run; values that are not numbers stay text.

        Returns the rows, and the names of the discretized columns.
        """
        cuts = {} if self.record is None else self.record.get("cut_points", {})
        numbers = {c: _numbers(rows[c]) for c in rows.columns if c in cuts}
        columns = [c for c, values in numbers.items() if values.notna().any()]
        found = Edges({c: cuts[c] for c in columns}).apply(rows.assign(**numbers)[columns])
        for column in columns:
            strange = numbers[column].isna() & rows[column].notna()
            if strange.any():
                texts = found[column].astype("string")
                found[column] = texts.where(~strange, rows[column].astype("string"))
        return rows.assign(**found), columns

    def tasks_of(self, rows, column):
        """Return the task of each row, or None if one network predicts all rows.

        The column is by default that of the run.
        """
        if not self.path.is_dir():
            if column is not None:
                message = f"must go with the folder of a run; `network` is one file, `{self.path}`"
                raise conflict("task_column", "network", message)
            self._warn_of_other_tasks(rows)
            return None
        column_of_run = self.settings.get("task_column")
        if column is None and column_of_run in rows.columns:
            column = column_of_run
        if column is None and len(self.by_task) == 1:
            return None
        self._check_task_column(rows, column)
        names = complete_names(rows[column], "task_column")
        strange = sorted(set(names) - set(self.by_task))
        if strange:
            message = (
                f"must hold tasks of `{self.path}`, {listed(self.by_task)}; it holds "
                f"{listed(strange)} in {count(int(np.isin(names, strange).sum()), 'row')}"
            )
            raise InputError(
                message, argument="task_column", column=column, remedy="correct or remove them"
            )
        return names

    def _check_task_column(self, rows, column):
        """Raise unless the column is given and exists in the rows."""
        if column is None:
            networks = count(len(self.by_task), "network")
            raise InputError(
                f"must assign each row to one of the {networks} of `{self.path}`",
                argument="task_column",
                options=("rows", "network"),
                remedy="name a column of `rows`, or give one file of the folder as `network`",
            )
        check_column(rows, column, "task_column", "rows")

    def _warn_of_other_tasks(self, rows):
        """Warn if rows belong to other tasks according to the run's column of tasks."""
        column = self.settings.get("task_column")
        if column not in rows.columns:
            return
        tasks = {task["file"]: task["name"] for task in self.record["tasks"]}
        task = tasks[self.path.name]
        n_other = int((without_points(rows[[column]])[column].astype("string") != task).sum())
        if n_other:
            message = (
                f"has {count(n_other, 'row')} of {len(rows)} with another `{column}` than "
                f"`{task}`, whose network predicts all"
            )
            remedy = (
                f"give the folder `{self.folder}` as `network` to predict each by its own network"
            )
            warn(message, argument="rows", options=("network",), remedy=remedy)

    def warn_of_known_rows(self, path):
        """Warn if the file to be predicted, or a copy of it, was used for learning."""
        if self.record is not None and digest(path) in self.record.get("sha256", ()):
            message = "was used for learning `network`; predictions of other rows will be worse"
            warn(message, argument="rows", options=("network",))


def read_networks(path):
    """Read the argument NETWORK, a BIF file or a folder written by `bnmtl learn`."""
    path = Path(path)
    if not path.exists():
        message = f"must be a BIF file or a folder of `bnmtl learn`; `{path}` does not exist"
        raise InputError(message, argument="network", remedy="check the path")
    if path.is_dir():
        run = read_run(path)
        return LearnedNetworks(run.networks, path, run.record)
    record, reason = None, ""
    try:
        record = read_record(path.parent, "network")
    except InputError as error:  # damaged, or written by another program
        reason = f"the run of `network` cannot be read; {str(error)[:1].lower()}{str(error)[1:]}"
    if record is not None and path.name not in [task.get("file") for task in record["tasks"]]:
        record = None
    if record is not None and not is_as_written(path, record):
        record, reason = None, f"`network` was changed after its run, that of `{path.parent}`"
    network = BayesNet.from_bif(path)
    if reason:
        warn(f"Numeric columns are not discretized because {reason}", options=("network",))
    return LearnedNetworks({path.stem: network}, path, record)


def _numbers(column):
    """Return a column as numbers, nan for other values; strings are converted one by one."""
    if is_bool_dtype(column):
        return pd.Series(np.nan, index=column.index)
    if not is_numeric_dtype(column):
        column = pd.to_numeric(column.astype("string"), errors="coerce")
    return column.astype(float)


# A column of the tasks that no table has by chance.
_TASK = "task of the row"


class Judged(NamedTuple):
    """Quality of the predictions of some rows.

    Attributes
    ----------
    n_rows : int
    n_known : int
        Number of rows whose state of the target is known.
    accuracy, cross_entropy : float
        Over these rows, nan if there are none; cross-entropy in nats.
    """

    n_rows: int
    n_known: int
    accuracy: float
    cross_entropy: float


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes
    ----------
    target : str
    states : pandas.DataFrame
        For each state: number of rows for which it is predicted, its mean probability, and number
        of rows for which it is the known state.
    judged : Judged
        Quality over all rows.
    by_task : dict of str to Judged
        Quality by task; empty if one network predicts all rows.
    cut_by : pathlib.Path or None
        The run.json whose cut points were used.
    path : str
        The written file.
    warnings : list of str
    """

    target: str
    states: pd.DataFrame
    judged: Judged
    by_task: dict
    cut_by: Path | None
    path: str
    warnings: list


def run(options):
    """Predict rows and write them to a file; see `bnmtl.cli`."""
    target = options.target
    file = OutputFile(options.out, (".csv", ".csv.gz"), options.force, inputs_of(options))
    with warnings_kept() as caught:
        networks = read_networks(options.network)
        rows = networks.read_rows(options)
        rows.index = range(1, len(rows) + 1)  # messages count rows from 1
        parts = _parts(networks, networks.tasks_of(rows, options.task_column), len(rows))
        cut, cut_columns = networks.cut(rows)
        classifier = _classifier(parts, options)
        # The states of the target in all networks, in the order of the networks.
        states = dict.fromkeys(state for part in parts for state in part.network.states[target])
        states = np.array(list(states), dtype=object)
        observed = {}
        if target in cut_columns:
            observed = {f"observed_{target}": cut[target].where(cut[target].isin(states))}
        names = [f"predicted_{target}", *(f"p_{target}_{state}" for state in states)]
        check_new_columns(rows, [*observed, *names], "rows")
        probabilities = _predict(classifier, cut, parts, states, options)
        known = _known(cut, target, states)
        networks.warn_of_known_rows(options.rows)
        columns = [states[probabilities.argmax(axis=1)], *probabilities.T]
        predicted = dict(zip(names, columns, strict=True))
        written = as_written(rows, na_values(options, networks.na_values))
        written = written.assign(**observed, **predicted)
        warn_of_formulas([written])
    file.write(csv_text(written).encode())
    judged = {part.task: _judged(probabilities[part.rows], known[part.rows]) for part in parts}
    return Result(
        target,
        _by_state(states, probabilities, known),
        _judged(probabilities, known),
        {} if None in judged else judged,
        networks.folder / RUN_FILE if cut_columns else None,
        options.out,
        user_messages(caught),
    )


class _Part(NamedTuple):
    """The rows (a mask) that a network predicts; the task is None for all rows."""

    task: str | None
    network: object
    rows: np.ndarray


def _parts(networks, tasks, n_rows):
    if tasks is None:
        (network,) = networks.by_task.values()
        return [_Part(None, network, np.ones(n_rows, dtype=bool))]
    present = [name for name in networks.by_task if name in set(tasks)]
    return [_Part(name, networks.by_task[name], tasks == name) for name in present]


def _classifier(parts, options):
    from bnmtl.classification import BayesNetClassifier, MultitaskBayesNetClassifier

    target, unseen = options.target, options.unseen
    by_task = {part.task: part.network for part in parts}
    if None in by_task:
        return BayesNetClassifier.from_network(by_task[None], target, unseen)
    how = {"task_column": _TASK, "unseen": unseen}
    return MultitaskBayesNetClassifier.from_networks(by_task, target, **how)


def _predict(classifier, table, parts, states, options):
    """Return the probability of each state in each row."""
    probabilities = np.empty((len(table), len(states)))
    # Classes are sorted by name, states by meaning, such as low, middle, high.
    order = np.searchsorted(classifier.classes_, states)
    for part in parts:
        rows = table[part.rows]
        try:
            if options.unseen == "ignore":
                rows = _without_unseen(rows, part, options.target)
            rows = rows if part.task is None else rows.assign(**{_TASK: part.task})
            probabilities[part.rows] = classifier.predict_proba(rows)[:, order]
        except (InputError, InputTypeError) as mistake:
            # This command has neither of the options that the advice for learning names.
            if "discretize" in mistake.options:
                mistake.cli_remedy = (
                    "discretize it as for learning, or give NETWORK in the folder of its run, "
                    "whose run.json has the cut points"
                )
            elif "ignore" in mistake.options:
                mistake.cli_remedy = None
            raise
    return probabilities


def _without_unseen(rows, part, target):
    """Return the rows of a part with the Markov blanket of the target as categories.

    Values unknown to the network become missing, and a warning reports their number.
    """
    blanket = sorted(markov_blanket(part.network.graph, target))
    needed = {v: part.network.states[v] for v in blanket if v in rows.columns}
    with located(argument="rows", task=part.task):
        codes = code_frame(rows, needed, complete=False, unseen="ignore")
    unknown = {name: column < 0 for name, column in codes.items()}
    counts = {name: int((unknown[name] & rows[name].notna()).sum()) for name in needed}
    lost = [name for name, n in counts.items() if n and unknown[name].all()]
    if lost:
        message = (
            f"has only values of {listed(lost, 'column')} that `network` does not know, treated as "
            "missing; numeric columns are discretized only if `network` is in the folder of its run"
        )
        warn(message, argument="rows", task=part.task, options=("network",))
    some = [f"{n} in `{name}`" for name, n in counts.items() if n and name not in lost]
    if some:
        message = f"has values that `network` does not know, treated as missing; {', '.join(some)}"
        warn(message, argument="rows", task=part.task, options=("network",))
    return rows.assign(**{v: pd.Categorical.from_codes(codes[v], needed[v]) for v in needed})


def _known(rows, target, states):
    """Return the index of each row's state, or -1 if it is unknown."""
    if target not in rows.columns:
        return np.full(len(rows), -1)
    texts = without_points(rows[[target]])[target].astype("string").astype(object)
    known = pd.Index(states).get_indexer(texts)
    strange = texts[(known < 0) & texts.notna().to_numpy()]
    if len(strange):
        message = (
            f"holds {listed(sorted(set(strange)))}, which `network` does not know; accuracy and "
            f"cross-entropy are computed without {count(len(strange), 'row')}"
        )
        warn(message, argument="rows", column=target, options=("network",))
    return known


def _by_state(states, probabilities, known):
    predicted = np.bincount(probabilities.argmax(axis=1), minlength=len(states))
    counts = np.bincount(known[known >= 0], minlength=len(states))
    columns = {"predicted": predicted, "mean": probabilities.mean(axis=0), "known": counts}
    return pd.DataFrame(columns, index=states, dtype=object)


def _judged(probabilities, known):
    labeled = np.flatnonzero(known >= 0)
    if not labeled.size:
        return Judged(len(known), 0, np.nan, np.nan)
    right = probabilities[labeled].argmax(axis=1) == known[labeled]
    with np.errstate(divide="ignore"):
        surprise = -np.log(probabilities[labeled, known[labeled]])
    return Judged(len(known), len(labeled), float(right.mean()), float(surprise.mean()))


def summary(result):
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
    if not any(of_task.n_known for of_task in judged.values()):
        columns = columns[:2]
    rows = []
    for name, (n_rows, n_known, accuracy, cross_entropy) in judged.items():
        good = [f"{accuracy:.1%}", f"{cross_entropy:.3f}"] if n_known else ["", ""]
        rows.append([name, f"{n_rows}", f"{n_known}", *good][: len(columns)])
    return Table(columns, rows)
