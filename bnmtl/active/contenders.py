"""Pairs of a strategy that asks for labels and a classifier that learns from them."""

import inspect
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from sklearn.base import is_classifier

from bnmtl.decorate.artificial import take
from bnmtl.decorate.committee import fitted_or_constant
from bnmtl.errors import InputError, InputTypeError
from bnmtl.seeding import generator, with_seed
from bnmtl.wording import type_of

_SEEDS = 2**31 - 1
# Arguments of a query that the experiment sets.
_OURS = {"X", "y", "batch_size", "return_utilities"}


class Contender(NamedTuple):
    """What is compared in an experiment.

    Parameters
    ----------
    strategy : scikit-learn estimator with ``query(X, y, batch_size=...)``
    predictor : classifier or "own"
        "own" is the committee of the strategy.
    arguments : mapping
        Further arguments of ``query``.
    """

    strategy: object
    predictor: object
    arguments: dict

    def seeded(self, seed, first_labels, n_classes):
        """The strategy and the predictor of one step, with seeds.

        Parameters
        ----------
        seed : tuple
            An int, and names of the trial and the step.
        first_labels : numpy.ndarray of int
            Those of the first sample, from which the minority class is known.
        n_classes : int

        Returns
        -------
        (strategy, predictor)
        """
        drawn = int(generator(*seed).integers(_SEEDS))
        strategy = with_seed(self.strategy, drawn)
        parameters = strategy.get_params(deep=False)
        if "minority_class" in parameters and parameters["minority_class"] is None:
            counts = np.bincount(first_labels, minlength=n_classes)
            strategy.set_params(minority_class=int(counts.argmin()))
        if isinstance(self.predictor, str):
            return strategy, strategy.committee()
        return strategy, with_seed(self.predictor, drawn)

    def ask(self, strategy, predictor, X, y, batch_size):
        """Rows to label next."""
        arguments = dict(self.arguments)
        if isinstance(self.predictor, str):
            arguments["committee"] = predictor
        rows = np.asarray(strategy.query(X, y, batch_size=batch_size, **arguments))
        is_new = rows.dtype.kind in "iu" and len(set(rows.tolist())) == len(rows) == batch_size
        if not is_new or not np.isnan(y[rows]).all():
            rule = "must return {n} different rows without a label"
            raise InputError("strategies", rule, rows.tolist(), n=batch_size)
        return rows


def read_contenders(strategies, predictor):
    """Contenders by name.

    Parameters
    ----------
    strategies : mapping
        As in `run_experiment`.
    predictor : classifier or "own"
        For strategies that are not given with one.

    Returns
    -------
    dict of str to Contender
    """
    if not hasattr(strategies, "items") or not len(strategies):
        rule = "must be a mapping from names to strategies"
        raise InputTypeError("strategies", rule, type_of(strategies))
    return {str(name): _contender(str(name), one, predictor) for name, one in strategies.items()}


def _contender(name, given, predictor):
    strategy, predictor, arguments = _parts(name, given, predictor)
    is_estimator = hasattr(strategy, "get_params") and not isinstance(strategy, type)
    if not is_estimator or not hasattr(strategy, "query"):
        rule = "{name} must be a scikit-learn estimator with a method `query`"
        raise InputTypeError("strategies", rule, type_of(strategy), name=name)
    _check_arguments(name, strategy, arguments)
    if isinstance(predictor, str):
        if predictor != "own":
            raise InputError("predictor", 'must be a classifier or "own"', predictor)
        if not hasattr(strategy, "committee"):
            rule = "{name} has no committee that could predict"
            remedies = "give a pair of a strategy and a classifier"
            raise InputError("strategies", rule, remedies=remedies, name=name)
    elif not (hasattr(predictor, "predict_proba") and is_classifier(predictor)):
        rule = 'must be a classifier with `predict_proba` or "own"'
        raise InputTypeError("predictor", rule, type_of(predictor))
    return Contender(strategy, predictor, arguments)


def _parts(name, given, predictor):
    if not isinstance(given, tuple):
        return given, predictor, {}
    if not 1 <= len(given) <= 3:
        rule = "{name} must be a strategy, or a tuple of it, a classifier, and arguments"
        raise InputError("strategies", rule, len(given), name=name)
    defaults = (None, predictor, {})
    return (*given, *defaults[len(given) :])


def _check_arguments(name, strategy, arguments):
    """Raise unless the query of a strategy takes further arguments."""
    if not isinstance(arguments, Mapping):
        rule = "must give the arguments of `query` of {name} as a mapping"
        raise InputTypeError("strategies", rule, type_of(arguments), name=name)
    taken = inspect.signature(strategy.query).parameters
    takes_any = any(one.kind is one.VAR_KEYWORD for one in taken.values())
    for one in arguments:
        if one in _OURS or not (takes_any or one in taken):
            rule = "must give only arguments that `query` of {name} takes"
            found = "the experiment sets {one}" if one in _OURS else "it has no {one}"
            raise InputError("strategies", rule, found=found, name=name, one=str(one))


def labels_of(codes, labeled):
    """Codes of the labeled rows, NaN for the others."""
    y = np.full(len(codes), np.nan)
    y[labeled] = codes[labeled]
    return y


def fitted(predictor, X, codes, labeled):
    """A predictor fitted to the labeled rows."""
    rows = np.sort(np.asarray(labeled))
    X, y = take(X, rows), codes[rows]
    # A committee knows what to do with one class, and is asked for its members.
    if hasattr(predictor, "member_probabilities"):
        return predictor.fit(X, y)
    return fitted_or_constant(predictor, X, y)
