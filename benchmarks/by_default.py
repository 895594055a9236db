"""Learners with their defaults, by name, and earlier defaults.

Learners of several tasks are also without shared tables, and in one group of tasks.
"""

from bnmtl import (
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PooledLearner,
    SingleTaskLearner,
)

# Keys are the names in result lines.
LEARNERS = {
    "alone, defaults": lambda seed: SingleTaskLearner(random_state=seed),
    "pooled, defaults": lambda seed: PooledLearner(random_state=seed),
    "one structure, defaults": lambda seed: IdenticalLearner(table_sharing=None, random_state=seed),
    "together, defaults": lambda seed: MultitaskLearnerCV(
        table_sharing=None, task_groups=None, random_state=seed
    ),
    "one structure, tables shared": lambda seed: IdenticalLearner(random_state=seed),
    "together, tables shared": lambda seed: MultitaskLearner(task_groups=None, random_state=seed),
    "groups found, tables shared": lambda seed: MultitaskLearner(random_state=seed),
}


class CommonConcentrations(MultitaskLearner):
    """The score in which all tasks with a family have the same concentrations, an earlier one."""

    _part_concentration = None


# Concentrations of the default score before 1e3, 1e4 and 1e5 were added.
UP_TO_100 = (0.01, 0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0)
