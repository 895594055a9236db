"""The cases of the parts of a store."""

from dataclasses import dataclass

import numpy as np

from bnmtl.errors import InputError


@dataclass(frozen=True)
class Part:
    """The cases of one part of a store.

    Attributes
    ----------
    batches : tuple of float32 array of shape (n_models, n_cases) or (n_models, n_cases, n_classes)
        Predictions, in memory or `OnDisk`.
    y : int array of shape (n_cases,) or None
        Positions in the classes of the store.
    weights, folds, task, groups : array of shape (n_cases,) or None
    """

    batches: tuple
    y: np.ndarray | None
    weights: np.ndarray | None = None
    folds: np.ndarray | None = None
    task: np.ndarray | None = None
    groups: np.ndarray | None = None

    @property
    def n_cases(self):
        """Number of cases."""
        return self.batches[0].shape[1] if self.y is None else len(self.y)


def check_same_cases(first, other):
    """Raise unless two stores have the same parts and cases."""
    same = list(first.parts) == list(other.parts) and np.array_equal(first.classes, other.classes)
    for part, one in first.parts.items() if same else ():
        again = other.parts[part]
        same &= one.n_cases == again.n_cases and all(
            (getattr(one, name) is None) == (getattr(again, name) is None)
            and np.array_equal(getattr(one, name), getattr(again, name))
            for name in ("y", "weights", "folds", "task", "groups")
        )
    if not same:
        rule = "must have the same parts, labels, weights, folds, task and groups"
        raise InputError("stores", rule, found="they differ")
