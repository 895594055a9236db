"""Results of searches for graphs of single tasks, stored for identical searches."""


class Memory:
    """Stored graphs of single tasks, by everything that they depend on.

    This includes the name, rows, score and structure prior of the task, the constraints and limits,
    the search with its options, the seed and the start graph, so one memory may be used for any
    number of learners and tables. Results of searches ended by a time limit are not stored.

    Examples
    --------
    >>> from bnmtl import IdenticalLearner, SingleTaskLearner, structures
    >>> from bnmtl.search import Memory
    >>> rows = [structures.load("asia").sample(200, random_state=seed) for seed in range(2)]
    >>> memory = Memory()
    >>> first = SingleTaskLearner(random_state=0).fit(rows, memory=memory)
    >>> len(memory)
    2
    >>> again = SingleTaskLearner(random_state=0).fit(rows, memory=memory)
    >>> again.families_["asked"] < first.families_["asked"]
    True
    """

    def __init__(self):
        self._found = {}

    def __len__(self):
        return len(self._found)

    def find(self, problem, start, effort):
        """The stored result of a search; None if there is none.

        Parameters
        ----------
        problem : TaskProblem
        start : bool array of shape (n, n)
        effort : Effort

        Returns
        -------
        bool array of shape (n, n) or None
        """
        return self._found.get(_key(problem, start, effort))

    def keep(self, problem, start, effort, matrix):
        """Store the result of a search; arguments as in `find`."""
        self._found[_key(problem, start, effort)] = matrix


def _key(problem, start, effort):
    search = type(effort.search).__name__, *sorted(effort.search.get_params().items())
    return problem.identity, start.tobytes(), search, effort.seed, effort.max_families
