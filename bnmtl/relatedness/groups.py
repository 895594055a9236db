"""Groups of tasks learned together, each group once, and how well they predict held-out rows."""

from sklearn.base import clone

from bnmtl.held_out import HeldOut
from bnmtl.learners.derived import apart, for_tasks
from bnmtl.tasks import Tasks

__all__ = ["Groups"]


class Groups:
    """Learners fitted to groups of tasks on the same rows; none is fitted twice.

    Parameters
    ----------
    learner : MultitaskLearner or MultitaskLearnerCV
        For groups of several tasks; a task alone is learned by the same single-task search.
    tasks : Tasks
    """

    def __init__(self, learner, tasks):
        self._learner = learner
        self._tasks = tasks
        self._fitted = {}
        self._known = {}

    def fitted(self, names):
        """The learner fitted to some tasks, whatever the order of their names."""
        wanted = set(names)
        names = tuple(name for name in self._tasks if name in wanted)
        if names not in self._fitted:
            tasks = Tasks(self._tasks[name] for name in names)
            learner = clone(self._learner) if len(names) > 1 else apart(self._learner)
            learner = for_tasks(learner, tasks)
            learner._known = self._known
            self._fitted[names] = learner.fit(tasks)
        return self._fitted[names]

    def held_out_score(self, names, name, test):
        """Mean log-likelihood of a task's held-out rows where it is learned with other tasks.

        Parameters
        ----------
        names : iterable of str
            The group, the task itself included.
        name : str
        test : Task
            Its held-out rows.

        Returns
        -------
        float
            In nats per row.
        """
        graph = self.fitted(names).configuration_[name]
        size = self._learner.parameter_sample_size
        return HeldOut(self._tasks[name], test, size).mean(graph)
