"""Seeds from `random_state` that depend on names, never on positions."""

import hashlib
import numbers

import numpy as np
from sklearn.base import clone

from bnmtl.errors import InputTypeError, check_whole
from bnmtl.wording import type_of


def seed_of(random_state):
    """One integer from None, an int or a numpy Generator.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
        None draws fresh entropy; a Generator is advanced by one draw.

    Returns
    -------
    int

    Raises
    ------
    InputTypeError
        For other types.
    InputError
        For a number below 0.

    Examples
    --------
    >>> from bnmtl.seeding import seed_of
    >>> seed_of(7)
    7
    """
    check_seed(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().entropy)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(random_state)


def check_seed(random_state, most=None, takes_legacy=False):
    """Raise unless a value is None, an int or a numpy Generator.

    Parameters
    ----------
    random_state : object
    most : int, default=None
        The largest int; None means unlimited.
    takes_legacy : bool, default=False
        Whether it may also be a numpy RandomState.

    Raises
    ------
    InputTypeError
        For other types.
    InputError
        For an int below 0 or above ``most``.
    """
    kinds = (np.random.Generator, np.random.RandomState)[: 2 if takes_legacy else 1]
    if random_state is None or isinstance(random_state, kinds):
        return
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        # Seeds may have more bits than other whole numbers.
        if random_state < 0 or most is not None:
            check_whole("random_state", random_state, 0, most)
        return
    *others, last = ["None", "an int", *(f"a numpy.random.{kind.__name__}" for kind in kinds)]
    message = f"must be {', '.join(others)} or {last}, got {type_of(random_state)}"
    raise InputTypeError(message, argument="random_state")


def name_hash(*parts):
    """64 bits that depend only on the parts, not on the hash seed of the interpreter."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def generator(seed, *names):
    """The random generator for ``seed`` and some names."""
    return np.random.default_rng([seed, *(name_hash(name) for name in names)])


def drawn_seed(seed, *names):
    """A seed that scikit-learn takes, for ``seed`` and some names."""
    return int(generator(seed, *names).integers(2**31 - 1))


def with_seed(template, seed):
    """A clone of an estimator with all of its ``random_state`` parameters set, nested ones too."""
    found = clone(template)
    return found.set_params(**dict.fromkeys(_random_states(found), seed))


def seeded(template, seed):
    """A clone of an estimator in which ``random_state``, nested ones too, is drawn where None."""
    found = clone(template)
    names = [name for name, value in _random_states(found).items() if value is None]
    return found.set_params(**{name: int(generator(seed, name).integers(2**31)) for name in names})


def _random_states(estimator):
    """Values of the ``random_state`` parameters of an estimator by name, nested ones too."""
    parameters = estimator.get_params().items()
    return {name: value for name, value in parameters if name.split("__")[-1] == "random_state"}
