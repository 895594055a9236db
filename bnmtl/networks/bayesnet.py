"""`BayesNet`: a graph with conditional probability tables; it fits, samples and predicts."""

import networkx as nx
import numpy as np
import pandas as pd

from bnmtl.errors import MOST_ROWS, InputError, check_whole, located
from bnmtl.networks import inference
from bnmtl.networks.bif import read_parts, write_parts
from bnmtl.networks.pgmpy import from_pgmpy, to_pgmpy
from bnmtl.networks.tables import (
    check_graph,
    checked_states,
    checked_tables,
    code_frame,
    column_labels,
    estimate,
)
from bnmtl.seeding import seed_of
from bnmtl.wording import count, listed


class BayesNet:
    """A discrete Bayesian network.

    Parameters
    ----------
    graph : networkx.DiGraph
        Acyclic; its nodes are strings. The network keeps a frozen copy.
    states : mapping of str to sequence of str
        The states of each variable, at least one, in the order of the tables.
    tables : mapping of str to array_like
        P(variable | parents), one axis per parent in the order of `parents`, then one for the
        variable itself, along which the probabilities sum to 1 (within 1e-6).

    Attributes
    ----------
    graph : networkx.DiGraph
    variables : tuple of str
        Sorted by name.
    states : dict of str to tuple of str
    tables : dict of str to numpy.ndarray
        Read-only.
    n_parameters : int
        Number of free parameters.

    Raises
    ------
    TypeError
        If the graph is not a DiGraph, states or tables are not mappings, or a node or state is not
        a string.
    ValueError
        If the graph has a cycle, graph, states and tables do not match, or a table has more than
        2**26 cells or 63 variables.

    Examples
    --------
    >>> import networkx as nx
    >>> network = BayesNet(
    ...     nx.DiGraph([("rain", "wet")]),
    ...     {"rain": ("no", "yes"), "wet": ("no", "yes")},
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.25, 0.75]]},
    ... )
    >>> network
    BayesNet(2 variables, 1 arc, 3 parameters)
    >>> network.parents("wet"), network.table("wet")[1]
    (('rain',), array([0.25, 0.75]))
    """

    def __init__(self, graph, states, tables):
        check_graph(graph)
        self._set_graph(graph)
        self.states = checked_states(states, graph)
        self.tables = checked_tables(tables, self._parents, self.states)

    def _set_graph(self, graph):
        self.graph = nx.DiGraph()
        self.graph.add_nodes_from(graph)
        self.graph.add_edges_from(graph.edges)
        nx.freeze(self.graph)
        self.variables = tuple(sorted(graph))
        self._parents = {v: tuple(sorted(self.graph.predecessors(v))) for v in graph}

    @classmethod
    def fit(cls, graph, frame, equivalent_sample_size="auto"):
        """Estimate the tables of a graph from data: their posterior mean.

        With a number, the probability of state k in parent configuration j is
        (N_jk + a_jk) / (N_j + a_j) with a_jk = equivalent_sample_size / (q r), for q parent
        configurations and r states: a BDeu prior. With "auto" the prior is that of
        `bnmtl.MixedDirichlet`: (N_jk + c) / (N_j + r c), averaged over its concentrations c; each
        is weighted by the probability of the counts of the whole table under it.

        Parameters
        ----------
        graph : networkx.DiGraph
            Its nodes are columns of the frame.
        frame : pandas.DataFrame
            One discrete column per variable (see `bnmtl.tasks.encode`); other columns are ignored.
        equivalent_sample_size : float or "auto", default="auto"
            "auto" learns the smoothing from each table and predicts better with few rows. 0 gives
            relative frequencies, and equal probabilities for parent configurations without rows.

        Returns
        -------
        BayesNet

        Raises
        ------
        TypeError
            If an argument has a wrong type, or a node is not a string.
        ValueError
            If a node is not a column, a column cannot be encoded, the equivalent sample size is
            neither "auto" nor a number of 0 or more, or a table would have more than 2**26 cells or
            63 variables; nothing is allocated before.

        References
        ----------
        Heckerman, Geiger, Chickering (1995), "Learning Bayesian networks: the combination of
        knowledge and statistical data", Machine Learning 20, section 2.

        Examples
        --------
        >>> import networkx as nx, pandas as pd
        >>> frame = pd.DataFrame({"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]})
        >>> network = BayesNet.fit(nx.DiGraph([("rain", "wet")]), frame)
        >>> network.table("rain").round(3)
        array([0.536, 0.464])
        >>> BayesNet.fit(network.graph, frame, equivalent_sample_size=1).table("rain")
        array([0.625, 0.375])
        """
        check_graph(graph)
        return cls._estimated(graph, *estimate(graph, frame, equivalent_sample_size))

    @classmethod
    def _estimated(cls, graph, states, tables):
        """A network from checked states and estimated tables, without checking them again."""
        network = cls.__new__(cls)
        network._set_graph(graph)
        network.states, network.tables = states, tables
        return network

    @classmethod
    def from_bif(cls, path):
        """Read a network from a BIF file of this package, bnlearn, JavaBayes, pgmpy or pyAgrum.

        Parameters
        ----------
        path : str or path-like
            A file named `*.bif` or `*.bif.gz`, UTF-8. Its rows are kept exactly if they sum to 1
            within 1e-6, and rescaled with a warning within 1e-3.

        Returns
        -------
        BayesNet

        Raises
        ------
        TypeError, ValueError, OSError
            If `path` is not a path, there is no such file, it is not well-formed, a variable has
            more than 10,000 states, a table would have more than 2**26 cells or 63 variables, or
            all tables more than 2**28 cells; the message names its line. If the file holds more
            than 1 GiB of text once unpacked, or more than 2**25 words and marks.

        Examples
        --------
        >>> from bnmtl import structures
        >>> BayesNet.from_bif(structures.path("asia"))
        BayesNet(8 variables, 8 arcs, 18 parameters)
        """
        return cls(*read_parts(path))

    def to_bif(self, path):
        """Write the network to a BIF file; `from_bif` restores it exactly.

        Parameters
        ----------
        path : str or path-like
            A file named `*.bif` or `*.bif.gz`; an existing one is replaced when all is written.
            Characters that BIF does not allow in names are written as `_`; `from_bif` restores the
            names.

        Raises
        ------
        TypeError, ValueError, OSError
            For other paths, files that cannot be written, and those that `from_bif` would refuse
            as too large.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from bnmtl import structures
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "asia.bif")
        ...     structures.load("asia").to_bif(path)
        ...     BayesNet.from_bif(path) == structures.load("asia")
        True
        """
        write_parts(self, path)

    @classmethod
    def from_pgmpy(cls, model):
        """Convert a pgmpy model.

        Parameters
        ----------
        model : pgmpy.models.DiscreteBayesianNetwork
            With a table for each variable. Names that are not strings become strings.

        Returns
        -------
        BayesNet

        Raises
        ------
        TypeError
            If it is a different kind of model.
        ValueError
            If a table is missing or does not match.

        Examples
        --------
        >>> from bnmtl import structures
        >>> asia = structures.load("asia")
        >>> BayesNet.from_pgmpy(asia.to_pgmpy()) == asia
        True
        """
        return cls(*from_pgmpy(model))

    def to_pgmpy(self):
        """Convert to a pgmpy model, for features that only pgmpy offers.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork

        Examples
        --------
        >>> from bnmtl import structures
        >>> sorted(structures.load("asia").to_pgmpy().nodes)[:2]
        ['asia', 'bronc']
        """
        return to_pgmpy(self)

    def parents(self, variable):
        """Return the parents of a variable, sorted by name.

        Parameters
        ----------
        variable : str

        Returns
        -------
        tuple of str

        Raises
        ------
        ValueError
            If the network has no such variable.

        Examples
        --------
        >>> from bnmtl import structures
        >>> structures.load("asia").parents("either")
        ('lung', 'tub')
        """
        self._check_variable(variable)
        return self._parents[variable]

    def table(self, variable):
        """Return P(variable | parents).

        Parameters
        ----------
        variable : str

        Returns
        -------
        numpy.ndarray
            Read-only; one axis per parent in the order of `parents(variable)`, then one for the
            variable, along which it sums to 1.

        Raises
        ------
        ValueError
            If the network has no such variable.

        Examples
        --------
        >>> from bnmtl import structures
        >>> structures.load("asia").table("lung")
        array([[0.1 , 0.9 ],
               [0.01, 0.99]])
        """
        self._check_variable(variable)
        return self.tables[variable]

    @property
    def n_parameters(self):
        """Number of free parameters: the number of states minus one for each parent configuration.

        Examples
        --------
        >>> from bnmtl import structures
        >>> structures.load("alarm").n_parameters
        509
        """
        return sum(table.size - table.size // table.shape[-1] for table in self.tables.values())

    def log_likelihood(self, frame):
        """Return the log probability of each row.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (n_rows, at least the variables)
            Without missing values; other columns are ignored.

        Returns
        -------
        numpy.ndarray of float, shape (n_rows,)
            In nats; -inf for a row that is impossible under the network.

        Raises
        ------
        ValueError
            If a variable is not a column, a cell is missing, or a state is unknown.

        Examples
        --------
        >>> from bnmtl import structures
        >>> asia = structures.load("asia")
        >>> asia.log_likelihood(asia.sample(2, random_state=0)).round(3)
        array([-2.202, -1.237])
        """
        with located(argument="frame"):
            codes = code_frame(frame, self.states, complete=True)
        return inference.log_joint(self, codes, len(codes[self.variables[0]]))

    def sample(self, n, random_state=None):
        """Draw rows from the network.

        Each variable has a separate random stream, so its values depend only on the seed, its name
        and its ancestors, and a shorter sample is the beginning of a longer one.

        Parameters
        ----------
        n : int
            Number of rows, 0 or more.
        random_state : None, int or numpy.random.Generator, default=None

        Returns
        -------
        pandas.DataFrame, shape (n, n_variables)
            Unordered categorical columns with all states, sorted by name.

        Raises
        ------
        TypeError
            If `n` or `random_state` has a wrong type.
        ValueError
            If `n` is negative.

        Examples
        --------
        >>> from bnmtl import structures
        >>> structures.load("asia").sample(2, random_state=0)["smoke"].tolist()
        ['no', 'no']
        """
        check_whole("n", n, 0, MOST_ROWS, remedy="for example 100")
        codes = inference.sampled_codes(self, n, seed_of(random_state))
        return pd.DataFrame(
            {v: pd.Categorical.from_codes(codes[v], self.states[v]) for v in self.variables},
            index=pd.RangeIndex(n),
        )

    def predict_proba(self, frame, variable):
        """Return the posterior distribution of one variable in each row, given the other columns.

        If the Markov blanket is observed, this is a product over the families of the blanket. If a
        blanket variable is not a column or its cell is missing, it comes from exact inference, once
        for each distinct pattern of observed variables.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns of evidence; a column of the variable itself and columns that are not variables
            are ignored.
        variable : str

        Returns
        -------
        pandas.DataFrame
            The rows of the frame, one column per state, each row summing to 1.

        Raises
        ------
        ValueError
            If there is no such variable, a state is unknown, or the relevant evidence of a row is
            impossible under the network.

        Examples
        --------
        >>> import pandas as pd
        >>> from bnmtl import structures
        >>> asia = structures.load("asia")
        >>> asia.predict_proba(pd.DataFrame({"smoke": ["yes", "no"]}), "lung").round(3)
            yes    no
        0  0.10  0.90
        1  0.01  0.99
        """
        self._check_variable(variable)
        with located(argument="frame"):
            columns = column_labels(frame)
            present = {v: self.states[v] for v in self.variables if v in columns and v != variable}
            codes = code_frame(frame, present, complete=False)
            probabilities = inference.posteriors(self, variable, codes, len(frame))
            inference.check_possible(probabilities, frame.index)
        return pd.DataFrame(probabilities, index=frame.index, columns=list(self.states[variable]))

    def _check_variable(self, variable):
        if not isinstance(variable, str) or variable not in self.states:
            message = f"must be one of {listed(self.variables, 'variable')}, got {variable!r}"
            raise InputError(message, argument="variable")

    def __eq__(self, other):
        if not isinstance(other, BayesNet):
            return NotImplemented
        return (
            self.states == other.states
            and self._parents == other._parents
            and all(np.array_equal(self.tables[v], other.tables[v]) for v in self.variables)
        )

    __hash__ = None

    def __repr__(self):
        variables = count(len(self.variables), "variable")
        arcs = count(self.graph.number_of_edges(), "arc")
        return f"BayesNet({variables}, {arcs}, {count(self.n_parameters, 'parameter')})"
