"""Posterior predictive checks: do the pairs of variables look as the learned networks say?"""

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from bnmtl.errors import MOST_MEMBERS, InputError, InputTypeError, check_whole, located
from bnmtl.networks import BayesNet
from bnmtl.networks.inference import sampled_codes
from bnmtl.networks.tables import code_frame
from bnmtl.progress import Reporter
from bnmtl.seeding import generator, seed_of
from bnmtl.tasks.encoding import named_frames
from bnmtl.wording import listed, type_of


def predictive_check(networks, tasks, n=200, random_state=None, progress=False):
    """Compare the observed frequencies of pairs of values with those of rows drawn from a network.

    For each pair of variables the distance is Pearson's chi-squared of the observed table from the
    mean table of drawn data of the same size, with the same cells missing. Pairs whose distance is
    large beside those of the drawn data are dependent in a way that the network does not have.

    Parameters
    ----------
    networks : BayesNet or mapping task -> BayesNet
        Such as ``learner.networks_``.
    tasks : DataFrame, or mapping task -> DataFrame
        The rows, by the same names.
    n : int, default=200
        Number of data sets that are drawn, at least 20.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.
    progress : False, True or callable, default=False
        True shows a bar; a callable receives each `bnmtl.progress.ProgressEvent`.

    Returns
    -------
    pandas.DataFrame
        One row for each task and pair of variables, the worst first: task, first, second; distance,
        and the mean distance of drawn data, expected; p, the share of drawn data as far away (if
        none is, the tail of a gamma distribution with their mean and variance), and p_corrected for
        the number of pairs (Benjamini & Hochberg); the pair of values that adds
        most to the distance, first_value and second_value, with its observed frequency and that of
        drawn data, frequency and drawn_frequency.

    Raises
    ------
    TypeError, ValueError
        For tasks without a network, rows with other columns or values, and parameters out of range.

    Notes
    -----
    Data are drawn from the tables of the network, which were fitted to the same rows, and not from
    a posterior of tables. So the check is lenient where there is an arc: it finds what is missing.

    References
    ----------
    A. Gelman, X.-L. Meng, H. Stern (1996), "Posterior predictive assessment of model fitness via
    realized discrepancies", Statistica Sinica 6.

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import BayesNet, structures
    >>> rows = structures.load("asia").sample(500, random_state=0)[["bronc", "dysp", "smoke"]]
    >>> graph = nx.DiGraph([("smoke", "bronc")])
    >>> graph.add_node("dysp")
    >>> worst = predictive_check(BayesNet.fit(graph, rows), rows, random_state=0).iloc[0]
    >>> worst["first"], worst["second"], bool(worst["p_corrected"] < 0.05)
    ('bronc', 'dysp', True)
    """
    check_whole("n", n, least=20, most=MOST_MEMBERS)
    networks = {"task1": networks} if isinstance(networks, BayesNet) else networks
    is_mapping = isinstance(networks, Mapping)
    if not is_mapping or not all(isinstance(network, BayesNet) for network in networks.values()):
        message = f"must be a BayesNet or a mapping of tasks to these, got {type_of(networks)}"
        raise InputTypeError(message, argument="networks")
    networks = {str(name): network for name, network in networks.items()}
    frames, seed = named_frames(tasks), seed_of(random_state)
    lacking = [name for name in frames if name not in networks]
    if lacking:
        message = f"must have a network for each task, {listed(frames)}; `{lacking[0]}` has none"
        raise InputError(message, argument="networks")
    parts, total = [], n * len(frames)
    with Reporter(progress) as report:
        for number, (name, frame) in enumerate(frames.items()):
            with located(task=name):
                pairs = _Pairs(networks[name], frame)
            tables = []
            for at in range(n):
                tables.append(pairs.drawn(seed_of(generator(seed, "replicate", name, at))))
                report("drawn data", name, number * n + at + 1, total)
            parts.append(pairs.compared(np.stack(tables)).assign(task=name))
    found = pd.concat(parts, ignore_index=True)
    known = found["p"].notna()
    found["p_corrected"] = np.nan
    if known.any():
        found.loc[known, "p_corrected"] = stats.false_discovery_control(found.loc[known, "p"])
    excess = found["distance"] / found["expected"]
    order = np.lexsort((-excess.fillna(0), found["p"].fillna(2)))
    columns = ["task", *_COLUMNS]
    columns.insert(columns.index("p") + 1, "p_corrected")
    return found.iloc[order].reset_index(drop=True)[columns]


# Of a pair of variables.
_COLUMNS = ["first", "second", "distance", "expected", "p"]
_COLUMNS += ["first_value", "second_value", "frequency", "drawn_frequency"]


class _Pairs:
    """Tables of all pairs of variables of a task, and of data drawn from its network."""

    def __init__(self, network, frame):
        self._network = network
        self._names = sorted(network.states)
        codes = code_frame(frame, network.states, complete=False)
        self._codes = np.stack([codes[name] for name in self._names])
        self._sizes = np.array([len(network.states[name]) for name in self._names])
        self._starts = np.concatenate([[0], np.cumsum(self._sizes)[:-1]])
        self._observed = self._tables(self._codes)

    def _tables(self, codes):
        """How often each pair of values occurs together, for all values of all variables."""
        n_values = int(self._sizes.sum())
        indicators = np.zeros((codes.shape[1], n_values), dtype=np.float32)
        for start, column in zip(self._starts, codes, strict=True):
            known = np.flatnonzero(column >= 0)
            indicators[known, start + column[known]] = 1
        return (indicators.T @ indicators).astype(float)

    def drawn(self, seed):
        """The tables of drawn rows, with the cells missing that are missing in the data."""
        drawn = sampled_codes(self._network, self._codes.shape[1], seed)
        codes = np.stack([drawn[name] for name in self._names])
        return self._tables(np.where(self._codes < 0, -1, codes))

    def compared(self, drawn):
        """One row per pair of variables."""
        n, total = len(drawn), drawn.sum(axis=0)
        mean = total / n
        observed = self._distances(self._observed, mean)
        # Each drawn table is compared with the mean of the others.
        distances = np.stack([self._distances(table, (total - table) / (n - 1)) for table in drawn])
        n_as_far = (distances >= observed * (1 - 1e-9)).sum(axis=0)
        p = np.where(n_as_far, (1 + n_as_far) / (n + 1), _tail(observed, distances))
        rows = []
        for (i, first), (j, second) in itertools.combinations(enumerate(self._names), 2):
            numbers = observed[i, j], distances[:, i, j].mean(), p[i, j]
            rows.append((first, second, *numbers, *self._worst_values(i, j, mean)))
        return pd.DataFrame(rows, columns=_COLUMNS)

    def _cells(self, table, expected):
        """What each pair of values adds to the distance; half a row stands for none."""
        return (table - expected) ** 2 / np.maximum(expected, 0.5)

    def _distances(self, table, expected):
        """Distances of all pairs of variables."""
        cells = self._cells(table, expected)
        by_first = np.add.reduceat(cells, self._starts, axis=0)
        return np.add.reduceat(by_first, self._starts, axis=1)

    def _worst_values(self, i, j, mean):
        """The two values that add most, and their observed and drawn frequency."""
        block = tuple(slice(self._starts[at], self._starts[at] + self._sizes[at]) for at in (i, j))
        observed, drawn = self._observed[block], mean[block]
        at = np.unravel_index(self._cells(observed, drawn).argmax(), observed.shape)
        first, second = (self._network.states[self._names[v]] for v in (i, j))
        n = observed.sum()
        frequencies = (observed[at] / n, drawn[at] / n) if n else (np.nan, np.nan)
        return first[at[0]], second[at[1]], *frequencies


def _tail(observed, drawn):
    """Chances of more than the observed distances, by gamma distributions like those drawn.

    Shares of a few hundred drawn data are too coarse for the correction of thousands of pairs.
    """
    n, mean, variance = len(drawn), drawn.mean(axis=0), drawn.var(axis=0, ddof=1)
    usable = (mean > 0) & (variance > 0)
    shape = np.divide(mean**2, variance, out=np.ones_like(mean), where=usable)
    scale = np.divide(variance, mean, out=np.ones_like(mean), where=usable)
    tail = stats.gamma.sf(observed, shape, scale=scale)
    return np.where(usable, np.minimum(tail, 1 / (n + 1)), 1 / (n + 1))
