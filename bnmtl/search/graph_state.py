"""One graph under search: its arcs, the gain of toggling each, and which may be set."""

import numpy as np

from bnmtl._kernels import paths


class UnionScores:
    """Bound scores of one or more tasks, added up over the union of their variables.

    The local score of a child is the sum over the tasks that have it, with its parents cut to those
    that it may have there: the objective of one graph for all tasks, and with a single task that
    task's own score on another index.

    Parameters
    ----------
    bound : list of BoundScore
    positions : list of int array
        Index in the union of each variable of each task.
    usable : list of bool array of shape (n, n)
        [a, b] true where a may be a parent of b in the task, on the union index.
    """

    def __init__(self, bound, positions, usable):
        self.n_variables = len(usable[0])
        self._tasks = []
        for own, at, allowed in zip(bound, positions, usable, strict=True):
            index = np.full(self.n_variables, -1)
            index[at] = np.arange(len(at))
            self._tasks.append((own, at, index, allowed))

    def toggles(self, child, parents):
        """As `BoundScore.toggles`, but what no task may use changes nothing."""
        column = np.zeros(self.n_variables)
        own = 0.0
        for bound, positions, index, usable in self._tasks:
            local_child = int(index[child])
            if local_child < 0:
                continue
            cut = tuple(int(index[parent]) for parent in parents if usable[parent, child])
            toggled = bound.toggles(local_child, cut)
            own += toggled[local_child]
            changes = usable[positions, child] & ~np.isnan(toggled)
            column[positions[changes]] += toggled[changes] - toggled[local_child]
        column += own
        column[child] = own
        return column


class GraphState:
    """A graph under search.

    Parameters
    ----------
    scores : BoundScore or UnionScores
    constraints : Constraints
    matrix : bool array of shape (n, n)
        Adjacency to start from; acyclic and within the constraints. It is copied.
    odds : float array of shape (n, n), default=None
        Structure prior: log prior of the arc less log prior of its absence.
    adjacency, toggles : arrays of shape (n, n), default=None
        Memory to keep the attributes in.

    Attributes
    ----------
    adjacency : bool array of shape (n, n)
    toggles : float array of shape (n, n)
        [a, b] = gain of taking a into the parents of b, or of leaving it out if it is one; nan
        where a may not be a parent of b.
    detours : bool array of shape (n, n)
        [a, b] true where a path of two or more arcs leads from a to b.
    """

    def __init__(self, scores, constraints, matrix, odds=None, adjacency=None, toggles=None):
        n = scores.n_variables
        self.scores = scores
        self.constraints = constraints
        self.may_remove = constraints.may_remove
        self.odds = np.zeros((n, n)) if odds is None else odds
        self.adjacency = np.zeros((n, n), dtype=bool) if adjacency is None else adjacency
        self.toggles = np.empty((n, n)) if toggles is None else toggles
        self._families = np.zeros(n)
        self.reset(matrix)

    @property
    def score(self):
        """Local scores and prior odds of the arcs, summed."""
        return float(self._families.sum() + self.odds[self.adjacency].sum())

    def reset(self, matrix):
        """Make ``matrix`` the graph."""
        self.adjacency[:] = matrix
        for child in range(len(matrix)):
            self._refresh(child)
        self.detours = paths.detours(self.adjacency)

    def set_pair(self, a, b, state):
        """Set the pair's state: 1 is a -> b, -1 is b -> a, 0 is no arc."""
        forward, backward = state == 1, state == -1
        changed = []
        if self.adjacency[a, b] != forward:
            self.adjacency[a, b] = forward
            changed.append(b)
        if self.adjacency[b, a] != backward:
            self.adjacency[b, a] = backward
            changed.append(a)
        for child in changed:
            self._refresh(child)
        self.detours = paths.detours(self.adjacency)

    def may_add(self):
        """[a, b] true where a -> b may be set now, an arc b -> a being turned round."""
        room = self.adjacency.sum(axis=0) < self.constraints.max_parents
        return self.constraints.permitted & ~self.detours.T & room

    def _refresh(self, child):
        parents = tuple(np.flatnonzero(self.adjacency[:, child]).tolist())
        column = self.scores.toggles(child, parents)
        held = self.adjacency[:, child]
        self._families[child] = column[child]
        self.toggles[:, child] = column - column[child]
        self.toggles[:, child] += np.where(held, -self.odds[:, child], self.odds[:, child])


def random_changes(matrix, constraints, rng, n_changes):
    """The graph after that many random legal changes of one arc each: set, removed or turned round.

    Parameters
    ----------
    matrix : bool array of shape (n, n)
    constraints : Constraints
    rng : numpy.random.Generator
    n_changes : int

    Returns
    -------
    bool array of shape (n, n)
    """
    changed = matrix.copy()
    for _ in range(n_changes):
        room = changed.sum(axis=0) < constraints.max_parents
        addable = constraints.permitted & ~paths.detours(changed).T & room & ~changed
        options = np.flatnonzero(addable | (changed & constraints.may_remove))
        if not len(options):
            break
        a, b = divmod(int(options[rng.integers(len(options))]), len(changed))
        changed[a, b] = not changed[a, b]
        changed[b, a] = False
    return changed
