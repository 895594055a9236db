"""The models of an ensemble as its parameters, and their fits to some of the cases."""

from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import has_fit_parameter

from bnmtl.errors import InputError, InputTypeError
from bnmtl.metrics.classifiers import probabilities_of
from bnmtl.wording import type_of


class Composition(BaseEstimator):
    """Base of ensembles with a parameter ``estimators``: classifiers, or pairs of names and these.

    As in scikit-learn, the models and their parameters are parameters of the ensemble.
    """

    def get_params(self, deep=True):
        """Parameters, with ``deep`` also the models by name and their parameters."""
        found = super().get_params(deep=False)
        for name, model in _named(self.estimators) if deep else ():
            inner = model.get_params() if hasattr(model, "get_params") else {}
            found |= {name: model} | {f"{name}__{key}": value for key, value in inner.items()}
        return found

    def set_params(self, **params):
        """Set parameters, models by name, and parameters of models."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        models = list(_named(self.estimators))
        if any(name in params for name, _ in models):
            new = [(name, params.pop(name, model)) for name, model in models]
            pairs = zip(self.estimators, new, strict=True)
            self.estimators = [one if isinstance(old, tuple) else one[1] for old, one in pairs]
        return super().set_params(**params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        models = [one for _, one in _named(self.estimators) if not _is_left_out(one)]
        inner = [get_tags(one).input_tags for one in models]
        tags.input_tags.sparse = all(one.sparse for one in inner)
        tags.input_tags.allow_nan = all(one.allow_nan for one in inner)
        return tags


def _named(estimators):
    """Pairs of names and models, from a list of them or of models alone."""
    models = estimators if isinstance(estimators, list | tuple) else ()
    kinds = [None if _is_pair(one) else type(one).__name__.lower() for one in models]
    for at, (kind, one) in enumerate(zip(kinds, models, strict=True)):
        if kind is None:
            yield one
        else:
            number = f"-{kinds[:at].count(kind) + 1}" if kinds.count(kind) > 1 else ""
            yield kind + number, one


def _is_pair(one):
    return isinstance(one, tuple) and len(one) == 2


def _is_left_out(model):
    return isinstance(model, str) and model == "drop"


def models_of(ensemble):
    """The checked pairs of names and classifiers, without those that are "drop"."""
    if not isinstance(ensemble.estimators, list | tuple | None):
        rule = "must be a list of classifiers or of pairs (name, classifier)"
        remedies = (
            "give `list(estimators.items())`" if isinstance(ensemble.estimators, dict) else ()
        )
        raise InputTypeError("estimators", rule, type_of(ensemble.estimators), remedies=remedies)
    models = [one for one in _named(ensemble.estimators) if not _is_left_out(one[1])]
    if len(models) < 2:
        rule, remedies = "must be two classifiers or more", "or fit to a PredictionStore"
        raise InputError("estimators", rule, len(models), remedies=remedies)
    names = [name for name, _ in models]
    for name, model in models:
        if (
            isinstance(model, type)
            or not hasattr(model, "fit")
            or not hasattr(model, "predict_proba")
        ):
            rule = "must have `fit` and `predict_proba`"
            remedies = (
                'set a model to "drop" to leave it out' if isinstance(model, str | None) else ()
            )
            raise InputTypeError("estimators", rule, model, remedies=remedies)
        if not isinstance(name, str) or not name or "__" in name:
            rule = "must have names that are text without `__`"
            raise InputError("estimators", rule, name)
        if name in ensemble.get_params(deep=False):
            rule, remedies = "must have other names than parameters", "rename the model"
            raise InputError("estimators", rule, name, remedies=remedies)
        if names.count(name) > 1:
            raise InputError("estimators", "must have different names", name)
    return models


def check_take_weights(models, weights):
    """Raise unless all models take weights of cases."""
    for name, model in models:
        if not has_fit_parameter(model, "sample_weight"):
            rule = "must be None, because the fit of model {name} does not take it"
            raise InputError("sample_weight", rule, remedies="leave the model out", name=name)


def fitted(model, X, y, weights):
    return clone(model).fit(X, y, **({} if weights is None else {"sample_weight": weights}))


def predicted(model, X, y, weights, train, test, classes):
    """The model fitted to some cases, and its predictions of others."""
    weights = None if weights is None else weights[train]
    model = fitted(model, _safe_indexing(X, train), y[train], weights)
    return model, probabilities_of(model, _safe_indexing(X, test), classes)
