"""What searches for the graphs of single tasks have found, kept for others that ask the same."""


class Memory:
    """Graphs of single tasks by all that they depend on.

    That is the task's name, rows, score and structure prior, what constraints and limits allow, the
    search with its options, the seed and the graph to start from; so one memory may serve any
    number of learners and tables. What a time limit has cut short is not kept.

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
        """The graph that a search has found, None if nobody has made it.

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
        """Keep the graph that a search has found; arguments as in `find`."""
        self._found[_key(problem, start, effort)] = matrix


def _key(problem, start, effort):
    search = type(effort.search).__name__, *sorted(effort.search.get_params().items())
    return problem.identity, start.tobytes(), search, effort.seed, effort.max_families
