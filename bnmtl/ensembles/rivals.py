"""Simpler ways to combine the models of a store, to compare ensemble selection with."""

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from bnmtl.ensembles.additions import happened
from bnmtl.ensembles.entries import SCALE, mean_prediction, weighted_probabilities, whole_numbers
from bnmtl.ensembles.judges import Judge, judge_of, stratified_folds
from bnmtl.ensembles.selection import FAMILY, EnsembleSelector, candidates_of, check_store
from bnmtl.ensembles.store import HILLCLIMB
from bnmtl.errors import InputError, check_number
from bnmtl.metrics.cases import checked_weights
from bnmtl.seeding import check_seed, seed_of

# Exponents of the likelihood that are tried for tempered averaging.
TEMPERATURES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
_N_FOLDS = 5


class WeightedEnsemble:
    """A weighted mean of the models of a store.

    Attributes
    ----------
    weights_ : pandas.Series by model
        They sum to 1.
    entropy_ : float
        Entropy of the weights in nats: 0 if one model has all the weight, the logarithm of the
        number of models if all have the same.
    temperature_ : float
        1 without tempering.
    """

    def __init__(self, store, weights, temperature=1.0):
        check_store(store)
        check_number("temperature", temperature, above=0)
        weights = checked_weights(weights, store.n_models, "model")
        self.store_, self.temperature_ = store, temperature
        self.weights_ = pd.Series(weights, pd.Index(store.names, name="model"), name="weight")
        positive = self.weights_[self.weights_ > 0]
        self.entropy_ = float(-(positive * np.log(positive)).sum())

    def predict_proba(self, part):
        """Probabilities of the classes, of a part or of new cases.

        Parameters
        ----------
        part : str, or mapping of str to array-like
            As in `EnsembleSelector.predict_proba`.

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        return weighted_probabilities(self.store_, self.weights_, part)


def model_averaging(
    store,
    metric="cross_entropy",
    prior=None,
    temperature=None,
    random_state=None,
    greater_is_better=None,
):
    """Bayesian model averaging: weights are posterior probabilities of the models.

    The likelihood of a model is that of the labels of the part "hillclimb" under its predictions.
    Its mean logarithm is the cross-entropy, so this is averaging for the cross-entropy; for another
    metric the weights are tempered.

    Parameters
    ----------
    store : PredictionStore
    metric : str, callable or mapping, default="cross_entropy"
        As in `EnsembleSelector`: what a temperature is chosen for.
    prior : array-like of shape (n_models,), default=None
        Prior weights; None is equal weights.
    temperature : float or "cv", default=None
        The log likelihood is divided by it, so that weights are spread over more models. "cv"
        chooses from 1 to 1000 by the metric on five folds, or fewer if a class has fewer cases.
        None is 1, which gives posterior probabilities, for the cross-entropy, and "cv" for any
        other metric, for which a number is an error.
    random_state : None, int or numpy.random.Generator, default=None
        For the folds.
    greater_is_better : bool, default=None
        As in `EnsembleSelector`.

    Returns
    -------
    WeightedEnsemble

    Raises
    ------
    TypeError, ValueError
        For fewer than two models, and arguments out of range.

    References
    ----------
    Domingos (2000), "Bayesian averaging of classifiers and the overfitting problem", ICML.

    Examples
    --------
    >>> from bnmtl.ensembles import PredictionStore
    >>> store = PredictionStore([[0.9, 0.2, 0.6], [0.6, 0.4, 0.4]], [1, 0, 1])
    >>> model_averaging(store).weights_.round(3).tolist()
    [0.75, 0.25]
    """
    check_store(store)
    check_seed(random_state)
    cases = store.part(HILLCLIMB, labels=True)
    judge = judge_of(metric, store, greater_is_better=greater_is_better)
    is_likelihood = isinstance(judge, Judge) and judge.known == "cross_entropy"
    if temperature is None:
        temperature = 1.0 if is_likelihood else "cv"
    if not (isinstance(temperature, str) and temperature == "cv"):
        check_number("temperature", temperature, above=0, remedy='"cv" chooses it')
        if not is_likelihood:
            message = (
                "must be None or 'cv' for another metric than the cross-entropy, "
                f"got {temperature!r}"
            )
            raise InputError(message, argument="temperature")
    with np.errstate(divide="ignore"):
        log_prior = np.log(checked_weights(prior, store.n_models, "model", "prior"))
    models = whole_numbers(store.predictions())
    weights = checked_weights(cases.weights, len(cases.y))
    logs = np.log(happened(models, cases.y) / SCALE) * weights
    if temperature == "cv":
        seed, remedy = seed_of(random_state), "give a number for `temperature`"
        folds = stratified_folds("store", cases.y, _N_FOLDS, seed, remedy, groups=cases.groups)
        temperature = _best_temperature(models, judge, folds, weights, logs, log_prior)
    posterior = _posterior(log_prior, logs.sum(axis=1), temperature)
    return WeightedEnsemble(store, posterior, float(temperature))


def _posterior(log_prior, log_likelihood, temperature):
    logs = log_prior + log_likelihood / temperature
    return np.exp(logs - logsumexp(logs))


def _best_temperature(models, judge, folds, weights, logs, log_prior):
    """The temperature with the best score on folds; the first among ties."""
    scores = np.zeros(len(TEMPERATURES))
    for train, test in folds:
        likelihood = logs[:, train].sum(axis=1) * (weights.sum() / weights[train].sum())
        for number, temperature in enumerate(TEMPERATURES):
            shares = _posterior(log_prior, likelihood, temperature)
            mean = mean_prediction(models[:, test], shares)
            scores[number] += judge.at(test).of(mean) * weights[test].sum()
    return TEMPERATURES[int(scores.argmax())]


def best_single(store, metric="cross_entropy", greater_is_better=None):
    """The model with the best score on the part "hillclimb", as an ensemble of one.

    Of models with equal scores, that with the better cross-entropy, then the first by name.

    Parameters
    ----------
    store : PredictionStore
    metric : str, callable or mapping, default="cross_entropy"
        As in `EnsembleSelector`.
    greater_is_better : bool, default=None
        As in `EnsembleSelector`.

    Returns
    -------
    WeightedEnsemble
    """
    check_store(store)
    return WeightedEnsemble(store, _single(store, metric, greater_is_better, store.names))


def best_of_families(store, metric="cross_entropy", greater_is_better=None):
    """The best model of each family on the part "hillclimb".

    Parameters
    ----------
    store : PredictionStore
        With a column "family" in its settings.
    metric : str, callable or mapping, default="cross_entropy"
        As in `EnsembleSelector`.
    greater_is_better : bool, default=None
        As in `EnsembleSelector`.

    Returns
    -------
    dict of str to WeightedEnsemble
    """
    check_store(store)
    if FAMILY not in store.settings:
        raise InputError("must have the column `family` in its settings", argument="store")
    families = store.settings[FAMILY].astype(str)
    return {
        family: WeightedEnsemble(store, _single(store, metric, greater_is_better, names))
        for family, names in families.groupby(families).groups.items()
    }


def _single(store, metric, greater_is_better, names):
    """Weights of 1 for the best of some models and of 0 for others; ties as in a selection."""
    distinct, candidates = candidates_of(store, metric, greater_is_better, names)
    return (np.array(store.names) == distinct[candidates.ranking[0]]).astype(float)


def mean_of_all(store):
    """The mean of all models with equal weights.

    Parameters
    ----------
    store : PredictionStore

    Returns
    -------
    WeightedEnsemble
    """
    check_store(store)
    return WeightedEnsemble(store, np.full(store.n_models, 1 / store.n_models))


def basic_selection(store, metric="cross_entropy", max_steps=200, greater_is_better=None):
    """Forward selection without replacement, initial models and bags.

    Parameters
    ----------
    store : PredictionStore
    metric : str, callable or mapping, default="cross_entropy"
        As in `EnsembleSelector`.
    max_steps : int, default=200
    greater_is_better : bool, default=None
        As in `EnsembleSelector`.

    Returns
    -------
    EnsembleSelector
        Fitted.

    References
    ----------
    Niculescu-Mizil (2008), section 4.1.
    """
    options = {"initial": 0, "bags": 1, "bag_fraction": 1.0, "replacement": False}
    options |= {"max_steps": max_steps, "greater_is_better": greater_is_better}
    return EnsembleSelector(metric, **options).fit(store)
