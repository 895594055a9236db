"""Seeds from `random_state` that depend on names, never on positions."""

import hashlib
import numbers

import numpy as np

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
    if random_state is None:
        return int(np.random.SeedSequence().entropy)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        check_whole("random_state", random_state, 0)
        return int(random_state)
    rule = "must be None, an int or a numpy.random.Generator"
    raise InputTypeError("random_state", rule, type_of(random_state))


def name_hash(*parts):
    """64 bits that depend only on the parts, not on the hash seed of the interpreter."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def generator(seed, *names):
    """The random generator for ``seed`` and some names."""
    return np.random.default_rng([seed, *(name_hash(name) for name in names)])
