"""Groups of tasks learned together, each once, and their scores on held-out rows."""

from bnmtl.learners.adapted import changed, for_tasks, single_task
from bnmtl.learners.held_out import by_learner
from bnmtl.search import Memory
from bnmtl.tasks import Tasks


class Groups:
    """Learners fitted to groups of tasks on the same rows, each group once.

    Parameters
    ----------
    learner : Learner
        For groups of several tasks; a single task is learned by the same single-task search. Its
        ``random_state`` is an int.
    tasks, whole : Tasks
        The training rows, and the same tasks with all rows.
    report : Reporter
        Used instead of the learner's ``progress``.
    """

    def __init__(self, learner, tasks, whole, report):
        # Here groups are given to it, one at a time.
        has_groups = learner.task_groups is not None
        self.learner = changed(learner, task_groups=None) if has_groups else learner
        self.tasks = tasks
        self._whole = whole
        self.report = report
        self._fitted = {}
        self.memory = Memory()

    def fitted(self, names):
        """The learner fitted to some tasks, with names in any order."""
        wanted = set(names)
        names = tuple(name for name in self.tasks if name in wanted)
        if names not in self._fitted:
            learner = changed(self.learner) if len(names) > 1 else single_task(self.learner)
            self._fitted[names] = self.fit(learner, names)
        return self._fitted[names]

    def fit(self, learner, names=None):
        """Fit a learner with the same single-task search, by default to all tasks."""
        names = self.tasks.names if names is None else names
        rows, whole = (Tasks(tasks[name] for name in names) for tasks in (self.tasks, self._whole))
        if len(names) < len(self.tasks):
            learner = for_tasks(learner, whole)
        learner.check_parameters()
        return learner.fit_rows(rows, whole, self.report, memory=self.memory)

    def held_out_score(self, names, name, test):
        """Mean log-likelihood of the held-out rows of a task that is learned with other tasks.

        Parameters
        ----------
        names : iterable of str
            The group, including the task itself.
        name : str
        test : Task
            Its held-out rows.

        Returns
        -------
        float
            In nats per row.
        """
        learner = self.fitted(names)
        held_out = by_learner(learner, learner.tasks_, Tasks([test]))
        return held_out.means(learner.configuration_)[name]
