"""The networks that `bnmtl predict` reads: one file, or the folder of a run with one per task."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from bnmtl.cli.columns import check_column, complete_names, read_table, without_points
from bnmtl.cli.options import contradiction
from bnmtl.cli.runs import digest
from bnmtl.errors import InputError, warn
from bnmtl.io.run import na_values_of_run, read_record, read_run
from bnmtl.networks import BayesNet


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

        Returns
        -------
        rows : pandas.DataFrame
        columns : list of str
            The discretized columns.
        """
        from bnmtl.tasks import Edges

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

        Parameters
        ----------
        rows : pandas.DataFrame
        column : str or None
            The value of `--task-column`; None means the column of the run.
        """
        if not self.path.is_dir():
            self._refuse_column(column)
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
            rule, found = "must hold tasks of {path}, {tasks}", "it holds {strange} in {n:row}"
            details = {"remedies": "correct or remove them", "path": self.path}
            details |= {"strange": strange, "n": int(np.isin(names, strange).sum())}
            details["tasks"] = list(self.by_task)
            raise InputError("task_column", rule, found=found, column=column, **details)
        return names

    def _refuse_column(self, column):
        """Raise if a column of tasks is given with a single network."""
        if column is not None:
            rule, found = "must go with the folder of a run", "{network} is one file, {path}"
            raise contradiction("task_column", rule, found, path=self.path)

    def _check_task_column(self, rows, column):
        """Raise unless the column is given and exists in the rows."""
        if column is None:
            rule = "must assign each row to one of the {n:network} of {path}"
            remedies = ("name a column of {rows}", "give one file of the folder as {network}")
            details = {"n": len(self.by_task), "path": self.path}
            raise InputError("task_column", rule, remedies=remedies, **details)
        check_column(rows, column, "task_column", "rows")

    def _warn_of_other_tasks(self, rows):
        """Warn if rows belong to other tasks according to the run's column of tasks."""
        column = self.settings.get("task_column")
        if column not in rows.columns:
            return
        (task,) = (one["name"] for one in self.record["tasks"] if one["file"] == self.path.name)
        n_other = int((without_points(rows[[column]])[column].astype("string") != task).sum())
        if n_other:
            rule = (
                "has {n:row} of {n_rows} with another {run_column} than {task_of_all}, whose "
                "network predicts all"
            )
            remedy = "give the folder {folder} as {network} to predict each by its own network"
            details = {"n": n_other, "n_rows": len(rows), "run_column": column, "task_of_all": task}
            warn("rows", rule, remedies=remedy, folder=self.folder, **details)

    def warn_of_known_rows(self, path):
        """Warn if the file to be predicted, or a copy of it, was used for learning."""
        if self.record is not None and digest(path) in self.record.get("sha256", ()):
            found = "predictions of other rows will be worse"
            warn("rows", "was used for learning {network}", found=found)


def read_networks(path):
    """Read the argument NETWORK.

    Parameters
    ----------
    path : str
        A BIF file or a folder written by `bnmtl learn`.

    Returns
    -------
    LearnedNetworks
    """
    path = Path(path)
    if not path.exists():
        rule, found = "must be a BIF file or a folder of `bnmtl learn`", "{path} does not exist"
        raise InputError("network", rule, found=found, remedies="check the path", path=path)
    if path.is_dir():
        run = read_run(path)
        return LearnedNetworks(run.networks, path, run.record)
    network = BayesNet.from_bif(path)
    try:
        record = read_record(path.parent)
    except InputError as error:  # damaged, or written by another program
        rule = "Numeric columns are not discretized because the run of {network} cannot be read"
        warn(rule=rule, found="{reason}", reason=error)
        record = None
    if record is not None and path.name not in {one.get("file") for one in record["tasks"]}:
        record = None
    return LearnedNetworks({path.stem: network}, path, record)


def _numbers(column):
    """Return a column as numbers, nan for other values; strings are converted one by one."""
    if is_bool_dtype(column):
        return pd.Series(np.nan, index=column.index)
    if not is_numeric_dtype(column):
        column = pd.to_numeric(column.astype("string"), errors="coerce")
    return column.astype(float)
