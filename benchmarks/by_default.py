"""Learners with all their defaults, by name."""

from bnmtl import IdenticalLearner, MultitaskLearnerCV, PooledLearner, SingleTaskLearner

LEARNERS = {
    "alone": lambda seed: SingleTaskLearner(random_state=seed),
    "pooled": lambda seed: PooledLearner(random_state=seed),
    "one structure": lambda seed: IdenticalLearner(random_state=seed),
    "together": lambda seed: MultitaskLearnerCV(random_state=seed),
}
