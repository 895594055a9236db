"""Three searches for configurations at any penalty: the thesis's, a strong one, and joint orders.

T is the search of the thesis: hill climbing with a tabu list and 100 restarts for every task, then
the greedy search over configurations. S searches orders of every task's variables; from there, it
alternates between the greedy search over configurations and searches over the whole graph of one
task. J, bnmtl's default search, does the same from four starts, one of which is a search over
orders shared by the tasks, and keeps the best score.
"""

from bnmtl import BDeu, IdenticalLearner, MultitaskLearnerCV, PooledLearner, SingleTaskLearner
from bnmtl.graphs import graphs_by_task
from bnmtl.progress import Reporter
from bnmtl.search import Limits
from bnmtl.search.effort import Effort
from bnmtl.search.grouped import greedy_path
from bnmtl.search.multitask import STARTS, MultitaskSearch, search_over
from bnmtl.search.options import search_of
from bnmtl.search.problem import TaskProblem, constraints_by_task

# Equivalent sample size of tables and their maximum number of cells.
SAMPLE_SIZE = 1.0
MAX_CELLS = 10_000_000
# Settings of the studies of the thesis, independent of the defaults of the learners.
THESIS = {
    "score": BDeu(1.0),
    "structure_prior": None,
    "parameter_sample_size": SAMPLE_SIZE,
    "limits": Limits(max_cells=MAX_CELLS),
}
# The same settings for learners of several tasks.
TOGETHER = {**THESIS, "table_sharing": None, "task_groups": None}
# Number of folds if the penalty is chosen by cross-validation and not by a single held-out set.
N_FOLDS = 10
# Share of the rows in that set.
VALIDATION = 0.05
# Parameters of the learners for each search.
SEARCHES = {
    "T": {"search": "hill-climbing", "start": "single-task"},
    "S": {"search": "orders", "start": "single-task"},
    "J": {"search": "orders", "start": None},
}
LEARNERS = {variant: {**TOGETHER, **search} for variant, search in SEARCHES.items()}


def learner_of(method, seed):
    """The learner of a method, such as "single T", "multitask S" or "multitask folds"."""
    kind, _, variant = method.partition(" ")
    if variant == "folds":
        return MultitaskLearnerCV(**LEARNERS["J"], cv=N_FOLDS, random_state=seed)
    if kind == "multitask":
        return MultitaskLearnerCV(**LEARNERS[variant], validation=VALIDATION, random_state=seed)
    learners = {"single": SingleTaskLearner, "identical": IdenticalLearner, "pooled": PooledLearner}
    settings = TOGETHER if kind == "identical" else THESIS
    return learners[kind](**settings, search=LEARNERS[variant]["search"], random_state=seed)


def shared_search(learner, tasks):
    """The effort of a learner and its search over configurations with shared tables."""
    effort = learner._effort()
    return effort, search_over(learner._problems(tasks, effort), effort, Reporter(False))


def problems_of(tasks, structure_priors=None):
    """Each task's problem under the settings of the thesis, without constraints on arcs."""
    constraints = constraints_by_task(tasks, (), (), None, None)
    return TaskProblem.of_all(
        tasks, THESIS["score"], constraints, structure_priors, max_cells=MAX_CELLS
    )


class Searches:
    """The three searches on one set of rows; computations shared by them are done once.

    Parameters
    ----------
    tasks : Tasks
    seed : int
    structure_prior : ArcPrior or ReferencePrior, default=None
        The prior of every task.
    memory : Memory, default=None
        Results of searches on the same rows, which are not repeated.
    """

    def __init__(self, tasks, seed, structure_prior=None, memory=None):
        self.tasks = tasks
        self._structure_priors = dict.fromkeys(tasks, structure_prior)
        self._seed, self._memory = seed, memory
        self._searches = {}
        self._solutions = {}

    def search(self, variant):
        """The search over configurations whose starts a variant uses; S and J share one."""
        return self.by(LEARNERS[variant]["search"])

    def by(self, kind):
        """The search over configurations that learns single tasks by the given kind of search."""
        if kind not in self._searches:
            problems = problems_of(self.tasks, self._structure_priors)
            self._searches[kind] = MultitaskSearch(problems, self._effort(kind), Reporter(False))
        return self._searches[kind]

    def solve(self, variant, prior):
        """The best configuration under a prior, as a `Solution`."""
        search, start = self.search(variant), LEARNERS[variant]["start"]
        if search.is_uncoupled(prior):
            return search.solve(prior, {})
        names = STARTS if start is None else (start,)
        found = [self._from(variant, prior, name) for name in names]
        return max(found, key=lambda solution: solution.score)

    def along(self, variant, priors):
        """One `Solution` per prior, by decreasing penalty, starting from single-task graphs.

        With T, every greedy search starts from these. With S, only the search at the smallest
        penalty does; each of the others starts from the result of the previous one.
        """
        search, kind = self.search(variant), LEARNERS[variant]["search"]
        starts = search.starts(priors, ["single-task"])
        if variant == "T":
            return [search.solve(prior, starts) for prior in priors]
        return greedy_path(search, priors, starts, self._effort(kind))

    def graphs(self, solution):
        """The graphs of a solution, by task."""
        return graphs_by_task(self.tasks, solution.matrices)

    def _effort(self, kind):
        return Effort(self._seed, search_of(kind), memory=self._memory)

    def _from(self, variant, prior, start):
        key = (LEARNERS[variant]["search"], repr(prior), start)
        if key not in self._solutions:
            search = self.search(variant)
            self._solutions[key] = search.solve(prior, search.starts([prior], [start]))
        return self._solutions[key]
