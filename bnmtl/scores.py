"""Decomposable network scores: public score objects, and scores bound to the codes of one task."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator

from bnmtl._kernels import scoring
from bnmtl.graphs import check_dag
from bnmtl.tasks import encode

# Floats that one bound score keeps before it starts its cache anew: 128 MiB.
CACHED_FLOATS = 1 << 24


class Score(BaseEstimator):
    """A decomposable score: the score of a graph is the sum of the local scores of its families.

    Larger is better for every score. Parameter counts come from the declared states of a variable,
    never from the states that happen to occur.
    """

    _kind = None

    def local_score(self, child, parents, frame, weights=None):
        """Score one family.

        Parameters
        ----------
        child : str
            Column of ``frame``.
        parents : iterable of str
            Columns of ``frame``; their order does not matter.
        frame : pandas.DataFrame of shape (n_rows, n_variables)
            Discrete columns; categorical columns declare their states.
        weights : array-like of shape (n_rows,), default=None
            How often each row counts, at least 0; None counts every row once.

        Returns
        -------
        float
            Natural logarithm, the larger the better.

        Raises
        ------
        ValueError
            If a variable is not a column, a parent occurs twice or is the child, or a weight is
            negative.

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl import BDeu
        >>> frame = pd.DataFrame({"rain": [0, 0, 1, 1], "wet": [0, 0, 1, 1]})
        >>> score = BDeu()
        >>> alone = score.local_score("wet", [], frame)
        >>> round(score.local_score("wet", ["rain"], frame) - alone, 3)
        2.002
        """
        task = _encoded(frame)
        index = {variable: at for at, variable in enumerate(task.variables)}
        if isinstance(parents, str):
            raise TypeError(
                f"`parents` must be an iterable of variables, got the string {parents!r}; write "
                f"[{parents!r}]."
            )
        family = _family(str(child), [str(parent) for parent in parents], index)
        return self._of_family(task, _checked_weights(weights, task.n_rows), *family)

    def score(self, graph, frame, weights=None):
        """Score a graph: the sum of the local scores of its families.

        Parameters
        ----------
        graph : networkx.DiGraph
            Acyclic; its nodes are columns of ``frame``.
        frame : pandas.DataFrame of shape (n_rows, n_variables)
        weights : array-like of shape (n_rows,), default=None

        Returns
        -------
        float
            Natural logarithm, the larger the better.

        Examples
        --------
        >>> import networkx as nx
        >>> import pandas as pd
        >>> from bnmtl import BIC
        >>> frame = pd.DataFrame({"rain": [0, 0, 1, 1], "wet": [0, 0, 1, 1]})
        >>> round(BIC().score(nx.DiGraph([("rain", "wet")]), frame), 3)
        -4.852
        """
        check_dag(graph, "graph")
        task = _encoded(frame)
        checked = _checked_weights(weights, task.n_rows)
        index = {variable: at for at, variable in enumerate(task.variables)}
        families = ([node, *graph.predecessors(node)] for node in graph.nodes)
        indexed = sorted(_family(child, parents, index) for child, *parents in families)
        return float(sum(self._of_family(task, checked, *family) for family in indexed))

    def bind(self, task, candidates=None, max_parents=None):
        """Return this score on the codes of one task, a `BoundScore`."""
        self._check()
        return BoundScore(self, task, candidates, max_parents)

    def _of_family(self, task, weights, child, *parents):
        """Score a family given by index, the parents sorted."""
        self._check()
        return scoring.family_score(
            task.codes,
            weights,
            task.arities,
            child,
            np.array(parents, np.int64),
            self._kind,
            float(self._sample_size),
            float(weights.sum()),
        )

    def _check(self):
        """Raise ValueError for a parameter out of range."""

    @property
    def _sample_size(self):
        return getattr(self, "equivalent_sample_size", 1.0)


class _EquivalentSampleSize(Score):
    def __init__(self, equivalent_sample_size=1.0):
        self.equivalent_sample_size = equivalent_sample_size

    def _check(self):
        value = self.equivalent_sample_size
        if not (isinstance(value, (int, float, np.number)) and 0 < value < np.inf):
            raise ValueError(
                f"`equivalent_sample_size` must be a finite number above 0, got {value!r}; "
                "1 is a good default."
            )


class BDeu(_EquivalentSampleSize):
    """Bayesian Dirichlet score with a uniform prior over the joint distribution.

    Score equivalent: graphs of one equivalence class score alike. Every cell of a family with q
    parent configurations and r states gets the pseudo-count alpha / (q r).

    Parameters
    ----------
    equivalent_sample_size : float, default=1.0
        Total pseudo-count alpha of each family. Large values are a trap: on 1000 rows of ALARM the
        best-scoring graph is about 10 edits from the truth at 1, about 20 at 5 and about 40 at 10.

    References
    ----------
    Heckerman, Geiger & Chickering (1995), Learning Bayesian networks: the combination of knowledge
    and statistical data; Buntine (1991).

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import BDeu
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(BDeu().local_score("a", ["b"], frame), 4)
    -3.1781
    """

    _kind = scoring.BDEU


class BDs(_EquivalentSampleSize):
    """Bayesian Dirichlet sparse score: BDeu that ignores parent configurations that never occur.

    Not score equivalent.

    Parameters
    ----------
    equivalent_sample_size : float, default=1.0
        Total pseudo-count of each family, spread over the parent configurations that occur.

    References
    ----------
    Scutari (2016), An empirical-Bayes score for discrete Bayesian networks.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import BDs
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(BDs().local_score("a", ["b"], frame), 4)
    -3.1781
    """

    _kind = scoring.BDS


class K2(Score):
    """Bayesian Dirichlet score with pseudo-count 1 in every cell; not score equivalent.

    References
    ----------
    Cooper & Herskovits (1992), A Bayesian method for the induction of probabilistic networks.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import K2
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(K2().local_score("a", [], frame), 4)
    -2.4849
    """

    _kind = scoring.K2


class BIC(Score):
    """Log-likelihood less half the logarithm of the number of rows per free parameter.

    Score equivalent; equals minus the description length (MDL).

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import BIC
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(BIC().local_score("a", [], frame), 4)
    -2.4588
    """

    _kind = scoring.BIC


class AIC(Score):
    """Log-likelihood less one per free parameter; score equivalent.

    References
    ----------
    Akaike (1974), A new look at the statistical model identification.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import AIC
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(AIC().local_score("a", [], frame), 4)
    -2.9095
    """

    _kind = scoring.AIC


class LogLikelihood(Score):
    """Log-likelihood at its maximum, without any price for parameters.

    For tests and reports: as the score of a search it always wants more arcs, and the learners
    refuse it without ``max_parents``. Score equivalent.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import LogLikelihood
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(LogLikelihood().local_score("a", [], frame), 4)
    -1.9095
    """

    _kind = scoring.LOG_LIKELIHOOD


class BoundScore:
    """A score on the codes of one task, with a cache of everything it has computed.

    Parameters
    ----------
    score : Score
    task : bnmtl.tasks.Task
    candidates : bool array of shape (n, n), default=None
        [a, b] true where a may ever be a parent of b; None allows every other variable.
    max_parents : int, default=None
    """

    def __init__(self, score, task, candidates=None, max_parents=None):
        n = task.n_variables
        self.n_variables = n
        self._score = score
        self._task = task
        self._weights = np.ones(task.n_rows)
        self._candidates = ~np.eye(n, dtype=bool) if candidates is None else candidates
        self._max_parents = n if max_parents is None else max_parents
        self._cache = {}

    def local_score(self, child, parents):
        """Score of the family of ``child``, by index; ``parents`` in any order."""
        held = tuple(sorted(int(parent) for parent in parents))
        column = self._cache.get((child, held))
        if column is not None:
            return float(column[child])
        return self._score._of_family(self._task, self._weights, child, *held)

    def score(self, matrix):
        """Score of the graph with adjacency ``matrix``."""
        return float(
            sum(self.local_score(b, np.flatnonzero(matrix[:, b])) for b in range(self.n_variables))
        )

    def toggles(self, child, parents):
        """Scores of the family with each candidate toggled.

        Parameters
        ----------
        child : int
        parents : tuple of int, sorted

        Returns
        -------
        float array of shape (n,)
            [v] is the score with v toggled, nan where v may not be; [child] the family's own score.
            Shared with the cache: not to be written to.
        """
        column = self._cache.get((child, parents))
        if column is None:
            if len(self._cache) * self.n_variables > CACHED_FLOATS:
                self._cache.clear()
            column = self._cache[child, parents] = self._toggled(child, parents)
        return column

    def _toggled(self, child, parents):
        wanted = self._candidates[:, child].copy()
        held = np.array(parents, np.int64)
        if len(parents) >= self._max_parents:
            wanted[:] = False
        wanted[held] = True
        column = np.empty(self.n_variables)
        scoring.toggle_scores(
            self._task.codes,
            self._weights,
            self._task.arities,
            child,
            held,
            wanted,
            self._score._kind,
            float(self._score._sample_size),
            column,
        )
        column.flags.writeable = False
        return column


def _encoded(frame):
    """One frame as a task; what a search would warn of does not concern a score."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return encode({"frame": frame})["frame"]


def _family(child, parents, index):
    """The family as indices, the child first and the parents sorted."""
    for name in (child, *parents):
        if name not in index:
            raise ValueError(
                f"`frame` must have a column for every variable of the family, {name!r} is "
                f"missing; the columns are {', '.join(sorted(index))}."
            )
    if child in parents or len(set(parents)) < len(parents):
        raise ValueError(
            f"`parents` must be distinct and without the child {child!r}, got {parents}; "
            "name every parent once."
        )
    return [index[child], *sorted(index[parent] for parent in parents)]


def _checked_weights(weights, n_rows):
    """Weights as a float array; None counts every row once."""
    if weights is None:
        return np.ones(n_rows)
    try:
        array = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(
            f"`weights` must be {n_rows} numbers, one a row, got {weights!r}."
        ) from None
    if array.shape != (n_rows,):
        raise ValueError(
            f"`weights` must be {n_rows} numbers, one a row of `frame`, got an array of shape "
            f"{array.shape}."
        )
    wrong = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if len(wrong):
        raise ValueError(
            f"`weights` must be finite and at least 0, got {array[wrong[0]]} for row {wrong[0]}."
        )
    if not array.any():
        raise ValueError("`weights` must not all be 0; give at least one row a weight.")
    return array
