"""Decomposable network scores of families and graphs."""

import functools
import math
import warnings

import numpy as np
import pandas as pd
from scipy.special import gammaln, logsumexp, xlogy
from sklearn.base import BaseEstimator

from bnmtl._kernels import terms
from bnmtl.errors import InputError, InputTypeError, check_number, located
from bnmtl.graphs import check_dag
from bnmtl.scores.bound import BoundTasks
from bnmtl.tasks import encode
from bnmtl.tasks.encoding import column_names
from bnmtl.wording import listed

# With larger equivalent sample sizes, differences of log-gammas are lost to rounding.
_LARGEST_SIZE = 10**9
# Cells of a family; floats, which count them, end at 1e308.
_MOST_CELLS = 1e300
_SMALLEST_SIZE = 1e-9
# Concentrations of the mixture: from nearly deterministic to uniform tables. The largest one must
# not be much smaller than the number of rows per cell of a table without parents. Otherwise a table
# with many parents, whose cells have few rows each, encodes equally likely states better, and
# columns of noise get arcs.
CONCENTRATIONS = (0.01, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 1e3, 1e4, 1e5)


class Score(BaseEstimator):
    """A decomposable score: the score of a graph is the sum of the local scores of its families.

    Larger is better for every score. Parameter counts come from the declared states of a variable,
    never from the observed states.

    Attributes
    ----------
    is_score_equivalent : bool
        Whether graphs of one equivalence class always have the same score. If not, the score
        prefers one member of a class, and directions that data cannot determine are always learned
        the same way.
    """

    is_score_equivalent = True
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
            Weight of each row, at least 0; None counts every row once.

        Returns
        -------
        float
            Natural logarithm; larger is better.

        Raises
        ------
        InputError
            If a variable is not a column, a parent occurs twice or is the child, the family has
            more than 1e300 joint states, or a weight is negative.

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
        if isinstance(parents, str):
            message = f"must be an iterable of variables, got {parents!r}"
            raise InputTypeError(message, argument="parents", remedy=f"write [{parents!r}]")
        family = [str(child), *map(str, parents)]
        return self._local_scores([family], frame, weights)[0]

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
            Natural logarithm; larger is better.

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
        families = [list(map(str, [node, *graph.predecessors(node)])) for node in graph.nodes]
        return float(sum(self._local_scores(families, frame, weights))) if families else 0.0

    def bind(self, task):
        """Return this score on the codes of one task, a `BoundScore`."""
        return self.bind_all([task]).of(0)

    def bind_all(self, tasks, **limits):
        """Return this score on the codes of several tasks, a `BoundTasks`."""
        self._check()
        kind, size, concentrations = self._settings
        return BoundTasks(tasks, kind, size, concentrations=concentrations, **limits)

    def _local_scores(self, families, frame, weights):
        """Scores of families, lists of a child and its parents, in the order of the variables."""
        self._check()
        for child, *parents in families:
            if len({child, *parents}) <= len(parents):
                message = f"must be distinct and without the child `{child}`, got {parents!r}"
                raise InputError(message, argument="parents", remedy="name every parent once")
        task = _encoded(frame, set().union(*families))
        weights = _checked_weights(weights, task.n_rows)
        if weights is None:
            local_score = self.bind(task).local_score
        else:
            local_score = functools.partial(_weighted_score, *self._settings, task, weights)
        indexed = sorted(_indexed(family, task) for family in families)
        return [local_score(child, parents) for child, *parents in indexed]

    def _check(self):
        """Raise InputError or InputTypeError for a parameter out of range."""

    @property
    def _settings(self):
        """The kind of score, its equivalent sample size and its concentrations."""
        concentrations = tuple(map(float, getattr(self, "concentrations", ())))
        return self._kind, float(getattr(self, "equivalent_sample_size", 1.0)), concentrations


class _EquivalentSampleSize(Score):
    def __init__(self, equivalent_sample_size=1.0):
        self.equivalent_sample_size = equivalent_sample_size

    def _check(self):
        size, limits = self.equivalent_sample_size, {"above": 0, "most": _LARGEST_SIZE}
        check_number("equivalent_sample_size", size, **limits, remedy="1 is a good default")


class BDeu(_EquivalentSampleSize):
    """Bayesian Dirichlet score with a uniform prior over the joint distribution.

    Score equivalent: graphs of one equivalence class have the same score. Every cell of a family
    with q parent configurations and r states gets the pseudo-count alpha / (q r).

    Parameters
    ----------
    equivalent_sample_size : float, default=1.0
        Total pseudo-count alpha of each family. Large values add false arcs: on 1000 rows of ALARM
        the best-scoring graph is about 10 edits from the truth at 1, about 20 at 5 and about 40 at
        10.

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

    _kind = terms.BDEU


class BDs(_EquivalentSampleSize):
    """Bayesian Dirichlet sparse score: BDeu that ignores parent configurations that never occur.

    Not score equivalent.

    Parameters
    ----------
    equivalent_sample_size : float, default=1.0
        Total pseudo-count of each family, spread over the observed parent configurations.

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

    is_score_equivalent = False
    _kind = terms.BDS


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

    is_score_equivalent = False
    _kind = terms.K2


class MixedDirichlet(Score):
    """Evidence of a family averaged over the concentrations of its Dirichlet prior.

    The log of the mean, over concentrations c, of the evidence under a Dirichlet prior with
    pseudo-count c in every cell of the table. Small concentrations dominate for nearly
    deterministic tables, large ones for uniform tables. Parent configurations that never occur
    contribute nothing.

    Not score equivalent: it prefers some members of an equivalence class to others.

    Parameters
    ----------
    concentrations : sequence of float, default=(.01, .05, .2, .5, 1, 2, 5, 20, 100, 1e3, 1e4, 1e5)
        Pseudo-counts of a cell, with equal prior probability, common to all rows of a table. (1,)
        is `K2`. With many rows, columns of equally likely states get false arcs if the largest one
        is too small.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import K2, MixedDirichlet
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(MixedDirichlet().local_score("a", ["b"], frame), 4)
    -2.4551
    >>> MixedDirichlet((1,)).local_score("a", ["b"], frame) == K2().local_score("a", ["b"], frame)
    True
    """

    is_score_equivalent = False
    _kind = terms.MIXTURE

    def __init__(self, concentrations=CONCENTRATIONS):
        self.concentrations = concentrations

    def _check(self):
        values = self.concentrations
        about = {"argument": "concentrations", "remedy": "leave them out for the default"}
        if isinstance(values, str) or not np.iterable(values):
            raise InputTypeError(f"must be a sequence of numbers, got {values!r}", **about)
        if not len(list(values)):
            raise InputError(f"must hold at least one number, got {values!r}", **about)
        for at, value in enumerate(values):
            name = f"concentrations[{at}]"
            check_number(name, value, above=_SMALLEST_SIZE, most=_LARGEST_SIZE)


class BIC(Score):
    """Log-likelihood minus half the logarithm of the number of rows for each free parameter.

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

    _kind = terms.BIC


class AIC(Score):
    """Log-likelihood minus one for each free parameter; score equivalent.

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

    _kind = terms.AIC


class LogLikelihood(Score):
    """Maximum log-likelihood, without a penalty for parameters.

    For tests and reports: as the score of a search it always prefers more arcs, and the learners
    reject it without ``max_parents``. Score equivalent.

    Examples
    --------
    >>> import pandas as pd
    >>> from bnmtl import LogLikelihood
    >>> frame = pd.DataFrame({"a": ["x", "x", "y"], "b": ["u", "v", "v"]})
    >>> round(LogLikelihood().local_score("a", [], frame), 4)
    -1.9095
    """

    _kind = terms.LOG_LIKELIHOOD


def _weighted_score(kind, sample_size, concentrations, task, weights, child, parents):
    """Local score with a weight for every row: the plain formulas."""
    r = float(task.arities[child])
    q = float(np.prod(task.arities[parents], dtype=float))
    used = weights > 0
    codes, weights = task.codes[:, used], weights[used]
    _, configuration = np.unique(codes[parents], axis=1, return_inverse=True)
    configuration = configuration.reshape(-1)
    n_jk = np.zeros((configuration.max() + 1, int(r)))
    np.add.at(n_jk, (configuration, codes[child]), weights)
    n_j = n_jk.sum(axis=1)
    if kind == terms.MIXTURE:
        evidences = [_dirichlet_evidence(n_jk, n_j, c, c * r) for c in concentrations]
        return float(logsumexp(evidences) - math.log(len(evidences)))
    if kind <= terms.K2:
        occurring = len(n_j) if kind == terms.BDS else q
        a_jk = 1.0 if kind == terms.K2 else sample_size / (occurring * r)
        return _dirichlet_evidence(n_jk, n_j, a_jk, a_jk * r)
    likelihood = float(xlogy(n_jk, n_jk).sum() - xlogy(n_j, n_j).sum())
    prices = {terms.BIC: math.log(weights.sum()) / 2, terms.AIC: 1.0, terms.LOG_LIKELIHOOD: 0.0}
    return likelihood - prices[kind] * q * (r - 1)


def _dirichlet_evidence(n_jk, n_j, a_jk, a_j):
    """Log evidence of the counts of a table under one pseudo-count per cell."""
    return float(log_rising(a_jk, n_jk).sum() - log_rising(a_j, n_j).sum())


def log_rising(a, n):
    """Log gamma of a + n less that of a, arrays that broadcast; see the kernel of this name."""
    a, n = np.asarray(a, float), np.asarray(n, float)
    # The next term of Stirling's series is below 1e-17.
    large = np.maximum(a, terms.LARGE_PSEUDO_COUNT)
    x = large + n
    series = (1 / x - 1 / large) / 12 - (1 / x**3 - 1 / large**3) / 360
    direct = n * (np.log(x) - 1) + (large - 0.5) * np.log1p(n / large) + series
    return np.where(a < terms.LARGE_PSEUDO_COUNT, gammaln(a + n) - gammaln(a), direct)


def _encoded(frame, wanted):
    """A set of columns as a task, without the warnings that only concern a search."""
    if isinstance(frame, pd.DataFrame):
        with located(argument="frame"):
            names = column_names(frame)
        lacking = sorted(wanted - set(names))
        if lacking:
            rule = "must have a column for every variable of the family"
            message = f"{rule}; `{lacking[0]}` is missing"
            remedy = f"the columns are {listed(sorted(names))}"
            raise InputError(message, argument="frame", remedy=remedy)
        frame = frame.iloc[:, [at for at, name in enumerate(names) if name in wanted]]
        gaps = frame.columns[frame.isna().to_numpy().any(axis=0)]
        if len(gaps):
            remedy = "fill them, or drop their rows"
            raise InputError(
                "must have no missing values", argument="frame", column=gaps[0], remedy=remedy
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return encode({"frame": frame})["frame"]


def _indexed(family, task):
    """The family as indices: the child first, then the sorted parents."""
    child, *parents = family
    indices = [task.index[child], *sorted(task.index[parent] for parent in parents)]
    if math.prod(task.arities[indices].tolist()) > _MOST_CELLS:
        rule = f"must have at most {_MOST_CELLS:.0e} joint states with `{child}`"
        message = f"{rule}; there are {len(parents)} parents"
        raise InputError(message, argument="parents", remedy="name fewer")
    return indices


def _checked_weights(weights, n_rows):
    """Weights as a float array; None stays None."""
    if weights is None:
        return None
    rule = f"must be {n_rows} numbers, one for each row"
    try:
        array = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputTypeError(f"{rule}, got {weights!r}", argument="weights") from None
    if array.shape != (n_rows,):
        raise InputError(f"{rule}; the shape is {array.shape}", argument="weights")
    for row in np.flatnonzero(~np.isfinite(array) | (array < 0)):
        message = f"must be finite and at least 0; row {row} has {array[row]}"
        raise InputError(message, argument="weights")
    if not array.any():
        remedy = "give at least one row a weight"
        raise InputError("must not all be 0", argument="weights", remedy=remedy)
    return array
