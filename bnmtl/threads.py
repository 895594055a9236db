"""Estimators are fitted by one thread at a time."""

import functools
import os
import threading

from bnmtl.wording import type_of

# The thread that fits an estimator, by the identity of the estimator. Nothing is kept in it, so
# that it can be copied, cloned and pickled as before.
_FITTING = {}
_LOCK = threading.Lock()


def _forget():
    """Start without fits, because threads of the parent do not go on in a forked process."""
    global _LOCK
    _FITTING.clear()
    _LOCK = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def fitted_alone(fit):
    """Let a method `fit` raise RuntimeError while another thread fits the same estimator.

    Otherwise attributes of both fits would be mixed. A fit may call that of its base class.

    Parameters
    ----------
    fit : callable
        The method.

    Returns
    -------
    callable
    """

    @functools.wraps(fit)
    def alone(self, *args, **kwargs):
        thread, key = threading.get_ident(), id(self)
        with _LOCK:
            is_outer = key not in _FITTING
            if _FITTING.setdefault(key, thread) != thread:
                raise RuntimeError(
                    f"this {type_of(self)} is being fitted by another thread; give each thread an "
                    "estimator of its own, as `sklearn.base.clone` makes it."
                )
        try:
            return fit(self, *args, **kwargs)
        finally:
            if is_outer:
                with _LOCK:
                    _FITTING.pop(key, None)

    return alone
