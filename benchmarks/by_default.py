"""Learners with their defaults, by name; those of several tasks with tables of their own, too."""

from bnmtl import (
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    PooledLearner,
    SingleTaskLearner,
)

# Under the names that lines have.
LEARNERS = {
    "alone, defaults": lambda seed: SingleTaskLearner(random_state=seed),
    "pooled, defaults": lambda seed: PooledLearner(random_state=seed),
    "one structure, defaults": lambda seed: IdenticalLearner(table_sharing=None, random_state=seed),
    "together, defaults": lambda seed: MultitaskLearnerCV(table_sharing=None, random_state=seed),
    "one structure, tables shared": lambda seed: IdenticalLearner(random_state=seed),
    "together, tables shared": lambda seed: MultitaskLearner(random_state=seed),
}
