"""One run of `bnmtl predict`: rows in, the same rows with probabilities of a variable out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from bnmtl.io.bif import read_bif
from bnmtl.io.run import RUN_FILE, read_record
from bnmtl.output import OutputFile
from bnmtl.parameters import code_frame
from bnmtl.runs import user_messages, warnings_kept, without_points
from bnmtl.tasks.wording import count, listed, warn

__all__ = ["Result", "run"]


@dataclass(frozen=True)
class Result:
    """What a run has predicted.

    Attributes
    ----------
    target : str
    n_rows : int
    states : pandas.DataFrame
        By state: in how many rows it is predicted, its mean probability, and in how many of the
        rows whose state is known it is.
    n_known : int
        Rows with a state of the target in its own column.
    accuracy, cross_entropy : float
        Over these rows; nats.
    cut_by : pathlib.Path or None
        The run.json whose cut points were used.
    warnings : list of str
    """

    target: str
    n_rows: int
    states: pd.DataFrame
    n_known: int
    accuracy: float
    cross_entropy: float
    cut_by: Path | None
    warnings: list


def run(options):
    """Check, predict, and write the file.

    Parameters
    ----------
    options : PredictOptions

    Returns
    -------
    Result

    Raises
    ------
    ValueError, TypeError
        For mistakes in the options, the network or the rows; nothing is written then.
    """
    from bnmtl.classification import BayesNetClassifier
    from bnmtl.tasks import read

    file = OutputFile(options.out, (".csv", ".csv.gz"), options.force)
    target = options.target
    with warnings_kept() as caught:
        network = read_bif(options.network)
        classifier = BayesNetClassifier.from_network(network, target, options.unseen)
        states = np.array(network.states[target], dtype=object)
        (rows,) = read([options.rows]).values()
        rows.index = range(1, len(rows) + 1)  # as messages count them
        cut, cut_by = _cut(rows, options.network)
        observed = _observed(rows, cut, target)
        names = [f"predicted_{target}", *(f"p_{target}_{state}" for state in states)]
        _check_new_columns(rows, [*observed, *names])
        # Classes are sorted; the states have an order of their own, such as low, middle, high.
        order = np.searchsorted(classifier.classes_, states)
        probabilities = classifier.predict_proba(cut)[:, order]
        if options.unseen == "ignore":
            _warn_of_strangers(cut, network, classifier.blanket_)
        known = _known(cut, target, states)
    written = without_points(rows).assign(**observed)
    written[names[0]] = states[probabilities.argmax(axis=1)]
    written[names[1:]] = probabilities
    file.write(written.to_csv(index=False, lineterminator="\n").encode())
    return Result(
        target,
        len(rows),
        _by_state(states, probabilities, known),
        *_judged(probabilities, known),
        cut_by,
        user_messages(caught),
    )


def _cut(rows, network):
    """Cut numbers where the run that learned the network has cut them; say whose cut points."""
    from bnmtl.tasks import Edges

    folder = Path(network).parent
    try:
        record = read_record(folder)
    except ValueError as error:  # damaged, or another program's
        warn(f"{str(error).removesuffix('.')}, so numbers are not cut by it.")
        record = None
    if record is None or Path(network).name not in record["files"]:
        return rows, None
    cuts = record.get("cut_points", {})
    wanted = {c: cuts[c] for c in rows.columns if c in cuts and is_numeric_dtype(rows[c])}
    return (Edges(wanted).apply(rows), folder / RUN_FILE) if wanted else (rows, None)


def _observed(rows, cut, target):
    """The column of the target by states, where it holds numbers that are cut: {name: column}."""
    if target not in rows.columns or not is_numeric_dtype(rows[target]):
        return {}
    states = cut[target]
    return {} if is_numeric_dtype(states) else {f"observed_{target}": states.astype("string")}


def _check_new_columns(rows, names):
    there = [name for name in names if name in rows.columns]
    if there:
        raise ValueError(
            f"ROWS must not hold columns that are written, and has {listed(there)}; rename or "
            "remove them."
        )


def _warn_of_strangers(rows, network, blanket):
    """Warn of values that are needed and that the network does not know."""
    needed = {name: network.states[name] for name in blanket if name in rows.columns}
    codes = code_frame(rows, needed, complete=False, unseen="ignore")
    strange = {name: (codes[name] < 0) & rows[name].notna().to_numpy() for name in needed}
    lost = [name for name in needed if (codes[name] < 0).all() and strange[name].any()]
    if lost:
        warn(
            f"ROWS: no value of {listed(lost, 'column')} is known to NETWORK, so all are taken as "
            "missing; numbers are cut only where NETWORK is in the folder of its run."
        )
    counts = {name: int(own.sum()) for name, own in strange.items() if name not in lost}
    some = [f"{n} in `{name}`" for name, n in counts.items() if n]
    if some:
        warn(f"ROWS: values that NETWORK does not know are taken as missing: {', '.join(some)}.")


def _known(rows, target, states):
    """Return the position of each row's state, -1 where it is not known."""
    if target not in rows.columns:
        return np.full(len(rows), -1)
    texts = without_points(rows[[target]])[target].astype("string").astype(object)
    known = pd.Index(states).get_indexer(texts)
    strange = texts[(known < 0) & texts.notna().to_numpy()]
    if len(strange):
        warn(
            f"ROWS: column `{target}` holds {listed(sorted(set(strange)))}, which NETWORK does not "
            f"know; the share that is predicted right leaves out {count(len(strange), 'row')}."
        )
    return known


def _by_state(states, probabilities, known):
    predicted = np.bincount(probabilities.argmax(axis=1), minlength=len(states))
    counts = np.bincount(known[known >= 0], minlength=len(states))
    columns = {"predicted": predicted, "mean": probabilities.mean(axis=0), "known": counts}
    return pd.DataFrame(columns, index=states, dtype=object)


def _judged(probabilities, known):
    """Number of rows whose state is known, share of them that is right, and cross-entropy."""
    told = np.flatnonzero(known >= 0)
    if not told.size:
        return 0, np.nan, np.nan
    right = probabilities[told].argmax(axis=1) == known[told]
    with np.errstate(divide="ignore"):
        surprise = -np.log(probabilities[told, known[told]])
    return len(told), float(right.mean()), float(surprise.mean())
