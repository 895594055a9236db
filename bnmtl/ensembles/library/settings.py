"""Settings of the models of a library: profiles, lists of the user, names of models.

`DIFFERENCES` lists where the settings of the studies differ from the appendix, because scikit-learn
does not have a variant or to limit the time. The profile "thesis" also has those of `later`.
"""

import hashlib
import importlib.util
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from bnmtl.ensembles.library.columns import BINS, CODES, FRAME, NUMBERS
from bnmtl.ensembles.library.families import (
    CHOICES,
    FAMILIES,
    FORMS,
    N_BAGGED,
    N_FOREST,
    N_MODERN,
    TOGETHER,
    Family,
)
from bnmtl.ensembles.library.trained import Single
from bnmtl.errors import InputError, InputTypeError, check_choice
from bnmtl.wording import listed, one_of, type_of

TREE_STEPS = tuple(2**k for k in range(1, 12))
STUMP_STEPS = tuple(2**k for k in range(1, 14))
PRUNING = (0.0, 1e-4, 3e-4, 1e-3, 3e-3)
STYLES = (("gini", None), ("entropy", "Laplace"))
LATER_STYLES = (("gini", "Laplace"), ("entropy", None))
FOREST_FEATURES = (1, 2, 4, 6, 8, 12, 16, 20)
SVM_COSTS = tuple(10.0**k for k in range(-7, 4))
SVM_WIDTHS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
RIDGES = (0.0, *(10.0**k for k in range(-8, 5)))
HIDDEN_UNITS = (1, 2, 4, 8, 32, 128)
MOMENTA = (0.0, 0.2, 0.5, 0.9)
EPOCHS = (1, 2, 4, 8, 16, 32, 64, 128)
N_NEIGHBORS = 26
KERNEL_WIDTHS = tuple(2.0**k for k in range(11))
N_BINS = (3, 5, 8)

THESIS_DIFFERENCES = (
    ("decision trees", "ten styles of IND and C4", "gini; entropy, Laplace leaves; 5 prunings"),
    ("bagged trees", "100 trees of each style", "the same of two styles"),
    ("boosted trees", "each style, 2 - 2048 steps", "gini and entropy; the same steps"),
    ("boosted stumps", "five criteria, resampled", "gini, resampled and weighted; the same steps"),
    ("random forests", "Breiman-Cutler, 1024 trees", "scikit-learn, 1024 trees"),
    ("SVMs", "SVMLight, C 1e-7 - 1e3", "libsvm, the same C, 100,000 iterations at most"),
    ("neural nets", "many epochs", "the same sizes and momenta; eight epochs up to 128"),
    ("logistic regression", "ridge 1e-8 - 1e4, none", "the same"),
    ("nearest neighbors", "26 k, gain ratio, kernels", "the same"),
    ("naive Bayes", "normal, kernel, supervised bins", "normal; 3, 5 and 8 even bins"),
    ("nominal attributes", "as they are and as 0 and 1", "the same"),
)
DIFFERENCES = (
    *THESIS_DIFFERENCES,
    ("Bayesian networks, multi-nets, TAN", "none", "ours; TAN by pyAgrum if it is installed"),
)


def thesis(n_rows, columns):
    """Settings of the appendix, as far as there are such learners here, and more of ours.

    Left out are the tree styles BAYES, C4, MML and SMML with gain ratio, message lengths and
    Bayesian smoothing, three of five criteria of stumps, and kernel estimates and supervised bins
    of naive Bayes.
    """
    forms = (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,)
    yield from _trees(forms, PRUNING, N_BAGGED, STYLES)
    yield from _boosting(forms, TREE_STEPS, ("gini", "entropy"), STUMP_STEPS, (True, False))
    yield from _forests("random forests", forms, columns, FOREST_FEATURES, N_FOREST)
    yield from support_vectors(columns.n_numbers, SVM_COSTS, SVM_COSTS, SVM_WIDTHS)
    yield from _grid("neural nets", units=HIDDEN_UNITS, momentum=MOMENTA, epochs=EPOCHS)
    yield from _grid("logistic regression", ridge=RIDGES)
    numbers = np.unique(np.geomspace(1, n_rows, N_NEIGHBORS).round().astype(int)).tolist()
    yield from _neighbors(("Euclidean", "gain ratio"), numbers, numbers, KERNEL_WIDTHS)
    yield from _naive_bayes(forms, N_BINS)
    yield from _networks(N_BINS, ("default", "BIC", "BDs"), ("default", "hill climbing"))
    yield from _together(columns, N_BINS, ("default", "BIC"))
    for bins, together in itertools.product(N_BINS, (True, False)):
        yield {"family": "multi-net", "columns": f"{BINS} {bins}", "together": together}
    yield from _tree_augmented(N_BINS)
    yield from later(columns)


def later(columns):
    """What the profile "thesis" has beyond the settings of the studies, all of it trees.

    Entropy without smoothing is ID3. Stumps of the second criterion end at 2048 steps, to limit the
    time.
    """
    forms = (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,)
    yield from _trees(forms, PRUNING, N_BAGGED, LATER_STYLES)
    stumps = {"criterion": ("entropy",), "depth": (1,), "steps": TREE_STEPS}
    yield from _grid("boosted shallow trees", columns=forms, **stumps)
    yield from _forests("extra trees", forms, columns, FOREST_FEATURES, N_FOREST)
    yield from _grid("bagged PETs", columns=forms, enhanced=(False, True))
    yield from _grid("MOB-ESP", columns=forms)
    yield from _grid("DECORATE", members=(15, 50))


def small(n_rows, columns):
    """About 75 settings that differ from each other, for minutes."""
    forms = (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,)
    yield from _trees(forms, (0.0, 1e-3, 3e-3), N_BAGGED, STYLES)
    yield from _boosting(forms, (2, 8, 32, 128), ("gini",), (2, 8, 32, 128, 512), (False,))
    yield from _forests("random forests", forms, columns, (1, 2, 4, 8), N_FOREST // 4)
    yield from support_vectors(columns.n_numbers, (0.01, 1.0), (1.0, 100.0), (0.01, 0.05, 0.1))
    yield from _grid("neural nets", units=(2, 8, 32), momentum=(0.9,), epochs=(4, 16, 64))
    yield from _grid("logistic regression", ridge=(0.0, 0.1, 1.0, 10.0, 100.0))
    numbers = np.unique(np.geomspace(1, n_rows, 9).round().astype(int)).tolist()
    yield from _neighbors(("Euclidean",), numbers, numbers[2:7], (4.0, 16.0, 64.0))
    yield from _naive_bayes(forms, N_BINS)
    yield from _networks((5,), ("default", "BIC"), ("default",))
    yield from _together(columns, (5,), ("default", "BIC"))
    yield {"family": "multi-net", "columns": f"{BINS} 5", "together": True}
    yield from _tree_augmented((5,))


def modern(n_rows, columns):
    """About 30 settings of the families that are best on tables today, and of networks."""
    yield from _grid("gradient boosting", rate=(0.1,), leaf=(20,), steps=(25, 50, 100, 200))
    yield from _grid("gradient boosting", rate=(0.05,), leaf=(5,), steps=(25, 50, 100, 200))
    for form in (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,):
        width = columns.n_numbers if form == NUMBERS else len(columns.categories)
        features, trees = {"features": (max(1, round(width**0.5)),)}, {"trees": (N_MODERN,)}
        yield from _grid("random forests", columns=(form,), **features, **trees)
        yield from _grid("extra trees", columns=(form,), **features, leaf=(1, 3), **trees)
    yield from _grid("logistic regression", ridge=(0.1, 1.0, 10.0, 100.0))
    gamma = (1 / columns.n_numbers,)
    yield from _grid("SVMs", kernel=("rbf",), gamma=gamma, C=(0.1, 1.0, 10.0))
    yield from _networks((5,), ("default",), ("default",))
    yield from _together(columns, (5,), ("default",))
    yield {"family": "multi-net", "columns": f"{BINS} 5", "together": True}


PROFILES = {"modern": modern, "small": small, "thesis": thesis}


def _grid(family, **values):
    for combination in itertools.product(*values.values()):
        yield {"family": family, **dict(zip(values, combination, strict=True))}


def _styled(family, styles, **values):
    for criterion, smoothing in styles:
        yield from _grid(family, criterion=(criterion,), smoothing=(smoothing,), **values)


def _trees(forms, alphas, n_bagged, styles):
    yield from _styled("decision trees", styles, columns=forms, alpha=alphas)
    yield from _styled("bagged trees", styles, columns=forms, trees=(n_bagged,))


def _boosting(forms, tree_steps, criteria, stump_steps, resampling):
    yield from _grid("boosted trees", columns=forms, criterion=criteria, steps=tree_steps)
    yield from _grid("boosted stumps", columns=forms, resample=resampling, steps=stump_steps)


def _forests(family, forms, columns, numbers, trees):
    for form in forms:
        width = columns.n_numbers if form == NUMBERS else len(columns.categories)
        kept = [number for number in numbers if number <= width]
        yield from _grid(family, columns=(form,), features=kept, trees=(trees,))


def support_vectors(n_numbers, costs, radial_costs, widths):
    """Linear, polynomial and radial kernels."""
    yield from _grid("SVMs", kernel=("linear",), C=costs)
    gamma = 1 / n_numbers
    yield from _grid("SVMs", kernel=("poly",), degree=(2, 3), gamma=(gamma,), C=costs)
    yield from _grid("SVMs", kernel=("rbf",), gamma=widths, C=radial_costs)


def _neighbors(distances, uniform, weighted, widths):
    for distance in distances:
        for weights, numbers in (
            ("uniform", uniform),
            ("distance", weighted),
            ("kernel", widths),
        ):
            fixed = {"distance": (distance,), "weights": (weights,)}
            yield from _grid("nearest neighbors", **fixed, number=numbers)


def _naive_bayes(forms, bins):
    for form in forms:
        yield {"family": "naive Bayes", "columns": form, "kind": "Gaussian"}
    for number in bins:
        yield {"family": "naive Bayes", "columns": f"{BINS} {number}", "kind": "multinomial"}


def _networks(bins, scores, searches):
    forms = tuple(f"{BINS} {number}" for number in bins)
    fixed = {"columns": forms, "score": scores, "search": searches}
    yield from _grid("Bayesian network", **fixed, principal=(False, True))


def _together(columns, bins, scores):
    """Networks of all tasks, if there are tasks, with shared tables and with separate ones.

    Only the default score has shared tables. Separate tables have the penalty 0.9, because 0.99
    would bind their arcs too strongly.
    """
    if columns.task is None:
        return
    forms = tuple(f"{BINS} {number}" for number in bins)
    shared = {"score": ("default",), "penalty": (0.9, 0.99), "shared": (True,)}
    separate = {"score": scores, "penalty": (0.9,), "shared": (False,)}
    yield from _grid(TOGETHER, columns=forms, **shared)
    yield from _grid(TOGETHER, columns=forms, **separate)


def _tree_augmented(bins):
    for number in bins:
        yield {"family": "tree-augmented naive Bayes", "columns": f"{BINS} {number}"}


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
        members = tuple(self.members[at] for at in kept)
        return replace(self, members=members, names=tuple(self.names[at] for at in kept))

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
        remedy = "a list of settings is possible, too"
        check_choice("profile", profile, tuple(PROFILES), remedy=remedy)
        every = PROFILES[profile](n_rows, columns)
        settings = [setting for setting in every if is_available(setting["family"])]
    else:
        try:
            settings = list(profile)
        except TypeError:
            names = ", ".join(PROFILES)
            message = f"must be one of {names} or a list of settings, got {type_of(profile)}"
            raise InputTypeError(message, argument="profile") from None
        if not settings:
            raise InputError(f"must have one setting or more, got {settings!r}", argument="profile")
    fits, names, task = [], set(), None if columns is None else columns.task
    for setting in settings:
        fits.append(_single(setting, task))
        (name,) = fits[-1].names
        if name in names:
            message = f"must have different settings; `{name}` occurs twice"
            raise InputError(message, argument="profile")
        names.add(name)
    return joined(fits)


def is_available(family):
    """Whether the package that a family needs is installed."""
    return family != _AUGMENTED or importlib.util.find_spec("pyagrum") is not None


def _single(setting, task):
    """The fit of one model; the column of the tasks is None without tasks."""
    if isinstance(setting, Mapping):
        return _of_family(dict(setting), task)
    name, estimator = _checked_pair(setting) if isinstance(setting, tuple) else (None, setting)
    is_fitted_by_instances = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not (is_fitted_by_instances and is_classifier(estimator)):
        given = repr(estimator) if isinstance(estimator, str | type) else type_of(estimator)
        message = (
            f"must have settings that are dictionaries with a family, or classifiers, got {given}"
        )
        raise InputTypeError(message, argument="profile")
    if not hasattr(estimator, "predict_proba"):
        message = f"must have classifiers with `predict_proba`, got {type_of(estimator)}"
        raise InputTypeError(message, argument="profile", remedy="calibrate it first")
    # Not abbreviated, as `repr` of scikit-learn is.
    is_of_sklearn = isinstance(estimator, BaseEstimator)
    text = estimator.__repr__(N_CHAR_MAX=float("inf")) if is_of_sklearn else repr(estimator)
    text = _ADDRESS.sub("", " ".join(text.split()))
    parameters = {"name": name or text, "classifier": text}
    return Fit(type(estimator).__name__, FRAME, (parameters,), (name or text,), estimator)


def _checked_pair(setting):
    """A pair of a name and a classifier."""
    if len(setting) != 2:
        message = f"must have pairs of a name and a classifier, got {len(setting)!r}"
        raise InputTypeError(message, argument="profile")
    name = setting[0]
    if not isinstance(name, str) or not name or name.endswith(CALIBRATED):
        message = (
            "must have names that are strings, not empty, and do not end in "
            f"`{CALIBRATED.strip()}`, got {name!r}"
        )
        raise InputTypeError(message, argument="profile")
    return setting


def _of_family(setting, task):
    family = setting.pop("family", None)
    if family not in FAMILIES:
        message = f"must have settings with one of the families {listed(FAMILIES)}, got {family!r}"
        raise InputError(message, argument="profile")
    if not is_available(family):
        message = f"must have only families whose packages are installed; `{family}` is of pyAgrum"
        raise InputError(message, argument="profile", remedy="run `pip install pyagrum`")
    known = FAMILIES[family]
    if family == TOGETHER and task is None:
        message = f"must have only families that need no tasks; `{family}` needs them"
        remedy = "name the column of the tasks by `task_column`"
        raise InputError(message, argument="profile", options=("task_column",), remedy=remedy)
    form = setting.pop("columns", None)
    for name in setting:
        if name not in known.parameters:
            names = list(known.parameters) or ["columns"]
            message = f"must have only the parameters {listed(names)} for `{family}`, got {name!r}"
            raise InputError(message, argument="profile")
    # Numbers of numpy as those of Python.
    plain = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in setting.items()
    }
    parameters = {**known.parameters, **plain}
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
        named = [f"{BINS} 5" if possible == BINS else possible for possible in forms]
        message = f"must have {one_of(named)} as the columns of `{family}`, got {form!r}"
        raise InputError(message, argument="profile")
    return f"{BINS} 5" if form == BINS else form


def _check_value(family, name, parameters, default):
    """Raise unless a parameter is one of its choices, or a number like its default."""
    value, rule = parameters[name], None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name in CHOICES:
        if value not in CHOICES[name]:
            rule = f"one of {listed(CHOICES[name])}"
    elif name == "penalty":
        if not is_number or not 0 <= value <= 1:
            rule = "a number from 0 to 1"
    elif isinstance(default, int) and parameters.get("weights") != "kernel":
        if not is_number or isinstance(value, float) or value < 1:
            rule = "a whole number, 1 or more,"
    elif isinstance(default, int | float) and (not is_number or not 0 <= value < np.inf):
        rule = "a number, 0 or more,"
    if rule is not None:
        message = f"must have {rule} as `{name}` of `{family}`, got {value!r}"
        raise InputError(message, argument="profile")


def _is_binned(form):
    kind, _, number = str(form).partition(" ")
    return kind == BINS and number.isdigit() and int(number) > 1


def _name(family, form, known, parameters):
    """The name of a model, without calibration."""
    text = CODES if form == CODES else ""
    if form.startswith(BINS):
        text = f"{form.removeprefix(BINS).strip()} bins"
    parts = [part for part in (known.describe(parameters), text) if part]
    return f"{family}: {', '.join(parts)}" if parts else family


def digest_of(fits):
    """A hash of all settings."""
    settings = [[fit.key, fit.names, fit.members] for fit in fits]
    content = json.dumps(settings, sort_keys=True).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def joined(fits):
    """Fits of one model each, where those that differ only in shared parameters are one."""
    by_key = {}
    for fit in fits:
        by_key.setdefault(fit.key, []).append(fit)
    return [
        replace(
            alike[0],
            members=tuple(fit.members[0] for fit in alike),
            names=tuple(fit.names[0] for fit in alike),
        )
        for alike in by_key.values()
    ]
