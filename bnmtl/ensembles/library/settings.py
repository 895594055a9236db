"""Settings of models, checked, named and grouped into fits."""

import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from bnmtl.ensembles.library.columns import BINS, CODES, FRAME
from bnmtl.ensembles.library.families import CHOICES, FAMILIES, FORMS, Family
from bnmtl.ensembles.library.grids import PROFILES
from bnmtl.ensembles.library.networks import TOGETHER
from bnmtl.ensembles.library.trained import Single
from bnmtl.errors import InputError, InputTypeError, check_choice
from bnmtl.wording import type_of

RAW, CALIBRATED = "", " (calibrated)"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of functions, other in each process
_AUGMENTED = "tree-augmented naive Bayes"


@dataclass(frozen=True)
class Fit:
    """One fit, with the models that it gives.

    Attributes
    ----------
    family : str
    form : str
        The form of the columns; see `columns.preparation`.
    members : tuple of dict
        Parameters of each model.
    names : tuple of str
        Names of the models, without calibration.
    estimator : classifier or None
        A classifier of the user, not fitted.
    """

    family: str
    form: str
    members: tuple
    names: tuple
    estimator: Any = None

    @property
    def key(self):
        """Text that tells fits apart; random numbers depend on it."""
        shared = () if self.estimator is not None else FAMILIES[self.family].shared
        fixed = {key: value for key, value in self.members[0].items() if key not in shared}
        return json.dumps([self.family, self.form, fixed], sort_keys=True)

    @property
    def maker(self):
        """The `Family` that makes the models."""
        if self.estimator is None:
            return FAMILIES[self.family]
        return Family(self._make, {}, str, takes_missing=True)

    def untrained(self, seed):
        """The models before training."""
        return self.maker.make(self.members, seed)

    def only(self, names):
        """The same fit with some of its models."""
        kept = [at for at, name in enumerate(self.names) if name in names]
        members, names = ([one[at] for at in kept] for one in (self.members, self.names))
        return Fit(self.family, self.form, tuple(members), tuple(names), self.estimator)

    def _make(self, members, seed):
        estimator = clone(self.estimator)
        parameters = estimator.get_params()
        seeds = {
            name: seed
            for name, value in parameters.items()
            if name.split("__")[-1] == "random_state" and value is None
        }
        return Single(estimator.set_params(**seeds))


def fits_of(profile, n_rows, columns):
    """The fits of a profile or of a list of settings, each with its models.

    Parameters
    ----------
    profile : str, or sequence of dict, classifier or (str, classifier)
    n_rows : int
        Number of training rows.
    columns : Columns or None
        A list of settings without networks of all tasks does not need them.

    Returns
    -------
    list of Fit
    """
    if isinstance(profile, str):
        check_choice("profile", profile, tuple(PROFILES), "a list of settings is possible, too")
        every = PROFILES[profile](n_rows, columns)
        settings = [one for one in every if is_available(one["family"])]
    else:
        settings = _listed(profile)
    found, names, task = {}, set(), None if columns is None else columns.task
    for setting in settings:
        fit = _single(setting, task)
        if fit.names[0] in names:
            rule = "must have different settings"
            raise InputError("profile", rule, found="{name} occurs twice", name=fit.names[0])
        names.add(fit.names[0])
        found.setdefault(fit.key, []).append(fit)
    return [joined(group) for group in found.values()]


def _listed(profile):
    try:
        settings = list(profile)
    except TypeError:
        rule = f"must be one of {', '.join(PROFILES)} or a list of settings"
        raise InputTypeError("profile", rule, type_of(profile)) from None
    if not settings:
        raise InputError("profile", "must have one setting or more", settings)
    return settings


def is_available(family):
    """Whether the package that a family needs is installed."""
    return family != _AUGMENTED or importlib.util.find_spec("pyagrum") is not None


def _single(setting, task):
    """The fit of one model; the column of the tasks is None without tasks."""
    if isinstance(setting, Mapping):
        return _of_family(dict(setting), task)
    name, estimator = _named(setting) if isinstance(setting, tuple) else (None, setting)
    is_fitted_by_instances = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not (is_fitted_by_instances and is_classifier(estimator)):
        rule = "must have settings that are dictionaries with a family, or classifiers"
        given = estimator if isinstance(estimator, str | type) else type_of(estimator)
        raise InputTypeError("profile", rule, given)
    if not hasattr(estimator, "predict_proba"):
        rule, remedies = "must have classifiers with `predict_proba`", "calibrate it first"
        raise InputTypeError("profile", rule, type_of(estimator), remedies=remedies)
    text = _ADDRESS.sub("", " ".join(_text(estimator).split()))
    parameters = {"name": name or text, "classifier": text}
    return Fit(type(estimator).__name__, FRAME, (parameters,), (name or text,), estimator)


def _text(estimator):
    """A classifier and its parameters as text, not abbreviated."""
    if isinstance(estimator, BaseEstimator):
        return estimator.__repr__(N_CHAR_MAX=float("inf"))
    return repr(estimator)


def _named(setting):
    """A pair of a name and a classifier."""
    if len(setting) != 2:
        rule = "must have pairs of a name and a classifier"
        raise InputTypeError("profile", rule, len(setting))
    name = setting[0]
    if not isinstance(name, str) or not name or name.endswith(CALIBRATED):
        rule = "must have names that are strings, not empty, and do not end in {end}"
        raise InputTypeError("profile", rule, name, end=CALIBRATED.strip())
    return setting


def _of_family(setting, task):
    family = setting.pop("family", None)
    if family not in FAMILIES:
        rule = "must have settings with one of the families {families}"
        raise InputError("profile", rule, family, families=list(FAMILIES))
    if not is_available(family):
        rule, found = (
            "must have only families whose packages are installed",
            "{family} is of pyAgrum",
        )
        remedies = "run `pip install pyagrum`"
        raise InputError("profile", rule, found=found, remedies=remedies, family=family)
    known = FAMILIES[family]
    if family == TOGETHER and task is None:
        rule, found = "must have only families that need no tasks", "{family} needs them"
        remedies = "name the column of the tasks by {task_column}"
        raise InputError("profile", rule, found=found, remedies=remedies, family=family)
    form = setting.pop("columns", None)
    for name in setting:
        if name not in known.parameters:
            rule = "must have only the parameters {names} for {family}"
            names = list(known.parameters) or ["columns"]
            raise InputError("profile", rule, name, names=names, family=family)
    parameters = {**known.parameters, **{name: _plain(one) for name, one in setting.items()}}
    for name in setting:
        _check_value(family, name, parameters, known.parameters[name])
    if family == TOGETHER:
        parameters["task_column"] = task
    form = _checked_form(family, FORMS.get(parameters.get("kind"), known.forms), form)
    return Fit(family, form, (parameters,), (_name(family, form, known, parameters),))


def _checked_form(family, forms, form):
    """The form of the columns of a setting; None is the first that is possible."""
    form = forms[0] if form is None else form
    if form not in forms and not (BINS in forms and _is_binned(form)):
        rule = "must have {forms:or} as the columns of {family}"
        named = [f"{one} 5" if one == BINS else one for one in forms]
        raise InputError("profile", rule, form, forms=named, family=family)
    return f"{BINS} 5" if form == BINS else form


def _plain(value):
    """A number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _check_value(family, name, parameters, default):
    """Raise unless a parameter is one of its choices, or a number like its default."""
    value, place = parameters[name], {"parameter": name, "family": family}
    if name in CHOICES:
        if value not in CHOICES[name]:
            rule = "must have one of {choices} as {parameter} of {family}"
            raise InputError("profile", rule, value, choices=list(CHOICES[name]), **place)
    elif name == "penalty":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= 1:
            rule = "must have a number from 0 to 1 as {parameter} of {family}"
            raise InputError("profile", rule, value, **place)
    elif isinstance(default, int | float):
        is_width = parameters.get("weights") == "kernel"
        is_whole = isinstance(default, int) and not is_width
        is_number = isinstance(value, int if is_whole else int | float)
        if not is_number or isinstance(value, bool) or not is_whole <= value < np.inf:
            rule = "must have a number, 0 or more, as {parameter} of {family}"
            if is_whole:
                rule = "must have a whole number, 1 or more, as {parameter} of {family}"
            raise InputError("profile", rule, value, **place)


def _is_binned(form):
    kind, _, number = str(form).partition(" ")
    return kind == BINS and number.isdigit() and int(number) > 1


def _name(family, form, known, parameters):
    """The name of a model, without calibration."""
    text = {CODES: CODES}.get(form, "")
    if form.startswith(BINS):
        text = f"{form.removeprefix(BINS).strip()} bins"
    parts = [part for part in (known.describe(parameters), text) if part]
    return f"{family}: {', '.join(parts)}" if parts else family


def digest_of(fits):
    """A hash of all settings."""
    settings = [[fit.key, fit.names, fit.members] for fit in fits]
    content = json.dumps(settings, sort_keys=True).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def joined(group):
    """Fits that differ only in shared parameters as one."""
    first = group[0]
    members, names = tuple(fit.members[0] for fit in group), tuple(fit.names[0] for fit in group)
    return Fit(first.family, first.form, members, names, first.estimator)
