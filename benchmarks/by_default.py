"""Learners with their defaults, by name; learners of several tasks also without shared tables."""

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
    "together, defaults": lambda seed: MultitaskLearnerCV(table_sharing=None, random_state=seed),
    "one structure, tables shared": lambda seed: IdenticalLearner(random_state=seed),
    "together, tables shared": lambda seed: MultitaskLearner(random_state=seed),
}
