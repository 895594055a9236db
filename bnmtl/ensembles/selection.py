"""Ensemble selection: an ensemble for one metric, chosen from a library of models."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles.additions import additions_of, happened, residual_products, uses_products
from bnmtl.ensembles.entries import SCALE, mean_prediction, weighted_probabilities, whole_numbers
from bnmtl.ensembles.judges import Judge, judge_of, stratified_folds
from bnmtl.ensembles.library.refit import LibraryEnsemble
from bnmtl.ensembles.store import HILLCLIMB, PredictionStore
from bnmtl.errors import (
    MOST_MEMBERS,
    InputError,
    InputTypeError,
    check_flag,
    check_jobs,
    check_number,
    check_whole,
)
from bnmtl.metrics.prediction import cross_entropy
from bnmtl.progress import Reporter
from bnmtl.seeding import generator, seed_of
from bnmtl.threads import fitted_alone
from bnmtl.wording import type_of

MOST_INITIAL = 25
SHARES = (1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05)
_N_FOLDS = 5


@dataclass(frozen=True)
class Candidates:
    """Distinct models, sorted by name, on the cases on which an ensemble is selected.

    Attributes
    ----------
    models : int32 array of shape (n_models, n_cases) or (n_models, n_cases, n_classes)
        Predictions times SCALE.
    judge : Judge or MixedJudge
    truth : Judge
        Cross-entropy, which decides ties.
    """

    models: np.ndarray
    judge: object
    truth: Judge

    def at(self, cases):
        """The candidates on some of the cases."""
        return Candidates(self.models[:, cases], self.judge.at(cases), self.truth.at(cases))

    @cached_property
    def ranking(self):
        """Places of the models from the best to the worst, by their own scores."""
        scores = np.array([self.judge.of(model / SCALE) for model in self.models])
        order = np.argsort(-scores, kind="stable")
        # Models with equal scores are ordered by cross-entropy, then by name.
        starts = np.flatnonzero(np.diff(scores[order], prepend=np.inf))
        for tied in np.split(order, starts[1:]):
            if len(tied) > 1:
                losses = [-self.truth.of(self.models[at] / SCALE) for at in tied]
                tied[:] = tied[np.argsort(losses, kind="stable")]
        return order

    @cached_property
    def products(self):
        """The `residual_products` of the models if the judge uses them, else None."""
        return residual_products(self.judge, self.models) if uses_products(self.judge) else None


def candidates_of(store, metric, greater_is_better=None, names=None):
    """Names of different models of a store, sorted, and the models as `Candidates`.

    They are all models, or those with some names; of models with the same predictions the first.
    """
    part, entries, first = store.part(HILLCLIMB), store.predictions(), {}
    places = {name: at for at, name in enumerate(store.names)}
    for name in sorted(places if names is None else names):
        first.setdefault(entries[places[name]].tobytes(), name)
    judge = judge_of(metric, store, greater_is_better=greater_is_better)
    truth = Judge("cross_entropy", cross_entropy, -1, part.y, part.weights, "cross_entropy")
    found = list(first.values())
    models = whole_numbers(entries[[places[name] for name in found]])
    return found, Candidates(models, judge, truth)


@dataclass(frozen=True)
class Path:
    """The members of an ensemble in the order in which they joined.

    Attributes
    ----------
    members : int array of shape (n_steps,)
    scores : float array of shape (n_steps,)
        What the judge says of the first one, two, ... members; nan for parts of the initial models.
    n_initial : int
    length : int
        The best prefix.
    """

    members: np.ndarray
    scores: np.ndarray
    n_initial: int
    length: int

    def counts(self, n_models):
        """How often each model is in the best prefix."""
        return np.bincount(self.members[: self.length], minlength=n_models)


def grow(candidates, bag, initial, max_steps, patience, replacement):
    """Select an ensemble from some of the candidates.

    Parameters
    ----------
    candidates : Candidates
    bag : int array
        Places of the models to select from, sorted.
    initial : int or "auto"
        Number of the best models that are members from the beginning.
    max_steps : int
        Number of models that join.
    patience : int or None
        Number of steps without a better score after which selection ends.
    replacement : bool
        Whether a model may join again.

    Returns
    -------
    Path
        Its members are places among the candidates.
    """
    part = Candidates(candidates.models[bag], candidates.judge, candidates.truth)
    products = None if candidates.products is None else candidates.products[np.ix_(bag, bag)]
    additions = additions_of(part.judge, part.models, products)
    members, scores = [], []
    if initial != 0:
        ranking = candidates.ranking[np.isin(candidates.ranking, bag)]
        members, scores = _initial(part, additions, initial, np.searchsorted(bag, ranking))
    n_initial = len(members)
    best, length = max(scores, default=-np.inf), n_initial
    for _ in range(max_steps):
        allowed = np.ones(len(bag), bool)
        if not replacement:
            allowed[members] = False
        if not allowed.any() or (patience is not None and len(members) - length >= patience):
            break
        at = _next(part, additions, allowed, members)
        additions.add(at)
        members.append(at)
        scores.append(additions.value())
        if scores[-1] > best:
            best, length = scores[-1], len(members)
    padded = [np.nan] * (len(members) - len(scores)) + scores
    return Path(bag[members], np.array(padded), n_initial, length)


def _initial(candidates, additions, initial, order):
    """The first members in an order from the best, and the score of all of them together."""
    n = min(len(order), MOST_INITIAL if initial == "auto" else initial)
    total, values = np.zeros(candidates.models.shape[1:], np.int64), []
    for count, at in enumerate(order[:n], 1):
        total += candidates.models[at]
        values.append(candidates.judge.of(total / (SCALE * count)))
    if initial == "auto":
        n = int(np.argmax(values)) + 1
    for at in order[:n]:
        additions.add(at)
    return order[:n].tolist(), [values[n - 1]]


def _next(candidates, additions, allowed, members):
    """The model that makes the ensemble best: ties go to members, then to the smaller loss."""
    scores = additions.leading(allowed)
    best = np.flatnonzero(scores >= scores.max() - additions.margin(scores.max()))
    if len(best) > 1 and not additions.is_exact:
        best = _largest(best, additions.values_with(best))
    if len(best) > 1:
        again = best[np.isin(best, members)]
        best = again if len(again) else best
    if len(best) > 1:
        best = _of_least_loss(candidates, additions, best)
    return int(best[0])


def _of_least_loss(candidates, additions, places):
    """Those of some models with which the cross-entropy becomes smallest."""
    sums, n = additions.total + candidates.models[places], additions.n_members + 1
    truth = candidates.truth
    likely = happened(sums, truth.y, n) / (SCALE * n)
    weights = 1.0 if truth.weights is None else truth.weights
    logs = (np.log(likely) * weights).sum(axis=1)
    near = places[logs >= logs.max() - 1e-10 * max(1.0, abs(logs.max()))]
    return _largest(near, [truth.of(additions.mean_with(at)) for at in near])


def _largest(places, values):
    """The places with exactly the largest value."""
    return places[np.asarray(values) == max(values)]


class EnsembleSelector(BaseEstimator):
    """Select an ensemble from a library of models, for one metric.

    The ensemble starts with the best models. In each step the model joins that makes the mean of
    the members' predictions best, even if it is worse than before; the same model may join again.
    The best prefix is kept. This is repeated for bags of models, and the ensembles of all bags are
    averaged. With one bag of all models, and ``initial`` 0 or "auto", the ensemble is never worse
    than the best single model on the cases of selection; with bags it can be.

    Parameters
    ----------
    metric : str, callable or mapping of str to float, default="cross_entropy"
        accuracy, f_score, lift, roc_area, average_precision, eleven_point_average_precision,
        break_even_point, root_mean_squared_error, cross_entropy, brier_score or another metric of
        `bnmtl.metrics.prediction`, by its name (hyphens may replace underscores) or as a function.
        The name of a scorer of scikit-learn, such as "neg_log_loss", or of a function of
        `sklearn.metrics` that takes probabilities, such as "log_loss" (of names in both, that of
        this package), or the scorer or function itself. Any other function (y, p), together with
        `greater_is_better`; y are positions in the classes. A mapping gives the weights of
        normalized scores; a metric on which no model beats the base rate is left out. With more
        than two classes: accuracy, cross_entropy, root_mean_squared_error, brier_score,
        squared_error, calibration_error, lift_chart_area, a scorer or a function. The ten names
        here, log loss and area under the ROC curve are much faster.
    initial : "auto" or int, default="auto"
        Number of the best models with which a bag starts; "auto" is the number up to 25 with the
        best mean.
    bags : int, default=20
        Number of bags.
    bag_fraction : float, default=0.5
        Share of the models in each bag, above 0.
    prune : float or "sweep", default=1.0
        Share of the models, the best by their own scores, that may be selected at all. "sweep"
        chooses from 1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1 and 0.05 by five folds over the cases,
        or fewer if a class has fewer cases.
    max_steps : int, default=200
        Number of steps in each bag.
    patience : int, default=None
        Number of steps without a better score after which a bag ends; None takes all steps.
    replacement : bool, default=True
        Whether a model may join more than once.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, the result depends only on the store and the parameters, but not on the order
        of the models.
    n_jobs : int, default=None
        Number of threads, as in joblib; None is 1. It does not affect the result.
    progress : bool or callable, default=False
        True shows a progress bar; a callable receives a named tuple (stage, task, done, total,
        score).
    greater_is_better : bool, default=None
        Whether larger values of a function of yours are better; None for all other metrics, whose
        direction is known.

    Attributes
    ----------
    weights_ : pandas.Series by model
        Share of each model in the ensemble; they sum to 1.
    counts_ : pandas.DataFrame of int, models x bags
        How often each model is in the ensemble of each bag.
    trajectory_ : pandas.DataFrame
        One row per bag and step: the model that joined, the score, whether the row is in the best
        prefix and, with ``monitor``, the score on that part. Scores are in natural units.
    n_models_ : int
        Number of different models; models with the same predictions count as the first by name.
    initial_ : list of int
        Number of initial models of each bag.
    prune_ : float
        The share of the models that may be selected.
    prune_scores_ : pandas.Series by share
        Mean scores over folds with ``prune="sweep"``; else empty.
    score_ : float
        The score of the ensemble on the cases on which it was selected, which is too optimistic.
    classes_ : numpy.ndarray of shape (n_classes,)
    store_ : PredictionStore

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for parameters out of range, metrics that need predicted labels, a function
        without a direction, and fewer than two models.

    References
    ----------
    Niculescu-Mizil (2008), chapter 4; Caruana, Niculescu-Mizil, Crew & Ksikes (2004), "Ensemble
    selection from libraries of models", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> noise = rng.normal(size=(30, 200)) * rng.uniform(1, 4, size=(30, 1))
    >>> store = PredictionStore(1 / (1 + np.exp(-(2 * y - 1 + noise))), y)
    >>> selector = EnsembleSelector("roc_area", random_state=0).fit(store)
    >>> bool(selector.score_ > store.score("roc_area").max())
    True
    """

    def __init__(
        self,
        metric="cross_entropy",
        initial="auto",
        bags=20,
        bag_fraction=0.5,
        prune=1.0,
        max_steps=200,
        patience=None,
        replacement=True,
        random_state=None,
        n_jobs=None,
        progress=False,
        greater_is_better=None,
    ):
        self.metric = metric
        self.initial = initial
        self.bags = bags
        self.bag_fraction = bag_fraction
        self.prune = prune
        self.max_steps = max_steps
        self.patience = patience
        self.replacement = replacement
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.greater_is_better = greater_is_better

    @fitted_alone
    def fit(self, store, *, monitor=None):
        """Select an ensemble on the part "hillclimb".

        Parameters
        ----------
        store : PredictionStore
        monitor : str, default=None
            A part with labels whose scores are added to ``trajectory_``.

        Returns
        -------
        EnsembleSelector
        """
        check_store(store)
        self._check()
        seed = seed_of(self.random_state)
        names, candidates = candidates_of(store, self.metric, self.greater_is_better)
        with Reporter(self.progress) as report:
            self._choose_share(candidates, store.part(HILLCLIMB).groups, seed, report)
            paths = self._paths(candidates, self.prune_, seed, report)
        self._publish(store, names, candidates, paths)
        if monitor is not None:
            judge = judge_of(self.metric, store, monitor, self.greater_is_better)
            self.trajectory_[monitor] = _monitored(store, monitor, judge, names, paths)
        return self

    def _check(self):
        """Raise unless the parameters are valid."""
        if not (isinstance(self.initial, str) and self.initial == "auto"):
            check_whole("initial", self.initial, least=0, remedy='"auto" chooses it')
        check_whole("bags", self.bags, least=1, most=MOST_MEMBERS)
        check_number("bag_fraction", self.bag_fraction, above=0, most=1)
        if not (isinstance(self.prune, str) and self.prune == "sweep"):
            check_number("prune", self.prune, above=0, most=1, remedy='"sweep" chooses it')
        check_whole("max_steps", self.max_steps, least=1, most=MOST_MEMBERS)
        check_whole("patience", self.patience, least=1, optional=True)
        check_jobs(self.n_jobs)
        check_flag("replacement", self.replacement)

    def _choose_share(self, candidates, groups, seed, report):
        """Set the share of the models that may be selected."""
        self.prune_, self.prune_scores_ = self.prune, pd.Series(dtype=float)
        if not (isinstance(self.prune, str) and self.prune == "sweep"):
            return
        remedy, y = "give a number for `prune`", candidates.truth.y
        splits = stratified_folds("store", y, _N_FOLDS, seed, remedy, groups=groups)
        scores = pd.Series(0.0, pd.Index(SHARES, name="share"))
        for at, (train, test) in enumerate(splits):
            part, rest = candidates.at(train), candidates.at(test)
            for number, share in enumerate(SHARES):
                report("pruning", None, at * len(SHARES) + number, len(splits) * len(SHARES))
                paths = self._paths(part, share, seed)
                mean = mean_prediction(rest.models, weights_of(paths, len(rest.models)))
                scores[share] += rest.judge.of(mean) / len(splits)
        self.prune_ = float(scores.idxmax())  # the first, and so the largest, among ties
        self.prune_scores_ = candidates.judge.natural(scores)

    def _paths(self, candidates, share, seed, report=None):
        """One `Path` per bag, from the best share of the models."""
        kept = np.arange(len(candidates.models))
        if share < 1:
            n_kept = max(1, int(np.ceil(share * len(kept) - 1e-9)))
            kept = np.sort(candidates.ranking[:n_kept])
        size = max(1, round(self.bag_fraction * len(kept)))
        rngs = generator(seed, "bags").spawn(self.bags)
        bags = [np.sort(rng.choice(kept, size, replace=False)) for rng in rngs]
        options = self.initial, self.max_steps, self.patience, self.replacement
        done = [0]

        def run(bag):
            path = grow(candidates, bag, *options)
            done[0] += 1
            if report is not None:
                report("bags", None, done[0], len(bags))
            return path

        return Parallel(self.n_jobs, prefer="threads")(delayed(run)(bag) for bag in bags)

    def _publish(self, store, names, candidates, paths):
        """Set what is learned."""
        index, judge = pd.Index(store.names, name="model"), candidates.judge
        counts = np.stack([path.counts(len(names)) for path in paths], axis=1)
        counts = pd.DataFrame(counts, pd.Index(names, name="model")).rename_axis(columns="bag")
        weights = weights_of(paths, len(names))
        of_names = pd.Series(weights, names)
        self.weights_ = of_names.reindex(index, fill_value=0.0).rename("weight")
        self.counts_ = counts.reindex(index, fill_value=0)
        self.trajectory_ = pd.concat(
            [
                pd.DataFrame(
                    {
                        "bag": bag,
                        "step": np.arange(1, len(path.members) + 1),
                        "model": np.array(names, dtype=object)[path.members],
                        "score": [judge.natural(score) for score in path.scores],
                        "kept": np.arange(len(path.members)) < path.length,
                    }
                )
                for bag, path in enumerate(paths)
            ],
            ignore_index=True,
        )
        self.n_models_, self.initial_ = len(names), [path.n_initial for path in paths]
        self.score_ = judge.natural(judge.of(mean_prediction(candidates.models, weights)))
        self.classes_, self.store_ = store.classes, store

    def predict_proba(self, part):
        """Probabilities of the classes by the ensemble.

        Parameters
        ----------
        part : str, or mapping of str to array-like
            A part of the store, or predictions by the name of the model, as in the store, for the
            models with positive weight.

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)

        Raises
        ------
        TypeError, ValueError
            For an unknown part, and predictions that are missing or invalid.
        """
        check_is_fitted(self)
        return weighted_probabilities(self.store_, self.weights_, part)

    def refit(self, X, y, *, hillclimb=None, groups=None, check=True):
        """Train the models of positive weight again, for predictions of new rows.

        Their seeds are those of the library, so that on the same rows they are the same models.

        Parameters
        ----------
        X, y
            The rows from which `build_library` built the store.
        hillclimb : (X, y), default=None
            The cases of hill climbing, if `build_library` was given them.
        groups : array-like of shape (n_rows,), default=None
            The groups of the rows, if `build_library` was given them.
        check : bool, default=True
            Whether to raise if a model predicts the cases of hill climbing differently than in the
            store. False allows other rows, with the weights as they are.

        Returns
        -------
        LibraryEnsemble
            A classifier of rows with the columns of ``X``.

        Raises
        ------
        TypeError, ValueError
            If `build_library` did not make the models, or the rows are others.
        """
        check_is_fitted(self)
        options = {"check": check, "n_jobs": self.n_jobs, "progress": self.progress}
        ensemble = LibraryEnsemble(self.store_, self.weights_, **options)
        return ensemble.fit(X, y, hillclimb=hillclimb, groups=groups)

    def report(self, part=None):
        """Which models were chosen, and how good the ensemble is.

        Parameters
        ----------
        part : str, default=None
            A part with labels; None is "test" if there is one, else only "hillclimb".

        Returns
        -------
        SelectionReport
        """
        check_is_fitted(self)
        return SelectionReport.of(self, part)


def check_store(store):
    """Raise unless it is a store with at least two models."""
    if not isinstance(store, PredictionStore):
        message = f"must be a PredictionStore, got {type_of(store)}"
        remedy = "`PredictionStore(predictions, y)` makes one"
        raise InputTypeError(message, argument="store", remedy=remedy)
    if store.n_models < 2:
        raise InputError(f"must have two models or more, got {store.n_models!r}", argument="store")


def weights_of(paths, n_models):
    """Mean over bags of the share of each model."""
    return np.mean([path.counts(n_models) / path.length for path in paths], axis=0)


def _monitored(store, part, judge, names, paths):
    """Scores on another part of the first one, two, ... members of all paths."""
    places = {name: at for at, name in enumerate(store.names)}
    models = whole_numbers(store.predictions(part)[[places[name] for name in names]])
    values = []
    for path in paths:
        sums = np.cumsum(models[path.members], axis=0, dtype=np.int64)
        for count, total in enumerate(sums, 1):
            values.append(judge.natural(judge.of(total / (SCALE * count))))
    return values


FAMILY = "family"
ENSEMBLE, BEST, MEAN = "ensemble", "best single model", "mean of all models"
_MOST_NAMED = 8


@dataclass(frozen=True)
class SelectionReport:
    """The parts of a report of an `EnsembleSelector`; ``str`` renders them in words.

    Attributes
    ----------
    metric : str
    families : pandas.DataFrame by family
        Number of models in the library and in the ensemble, and the weight in the ensemble. Without
        a column "family" in the settings of the store, every model is its own family.
    scores : pandas.DataFrame
        Of the ensemble, the model that is best on the cases of selection, and the mean of all
        models, on those cases and on another part.
    smaller_is_better : bool
    """

    metric: str
    families: pd.DataFrame
    scores: pd.DataFrame
    smaller_is_better: bool = False

    @classmethod
    def of(cls, selector, part=None):
        """The report of a fitted selector, with the scores on a part with labels."""
        store = selector.store_
        if part is None and "test" in store.parts and store.parts["test"].y is not None:
            part = "test"
        parts = [HILLCLIMB] + ([part] if part not in (None, HILLCLIMB) else [])
        scores = {name: _scores(selector, name) for name in parts}
        judge = judge_of(selector.metric, store, greater_is_better=selector.greater_is_better)
        is_loss = judge.natural(1) < 0
        return cls(judge.name, families_of(selector), pd.DataFrame(scores), is_loss)

    def chosen_in_words(self):
        """Say which families were chosen, and whether a single model is better than all of them."""
        chosen = self.families[self.families["weight"] > 0]
        families = [f"{name} ({_percent(weight)})" for name, weight in chosen["weight"].items()]
        more = len(families) - _MOST_NAMED
        families = families[:_MOST_NAMED] + ([f"and {more} more"] if more > 0 else [])
        said = (
            f"The ensemble has {int(chosen['chosen'].sum())} of "
            f"{int(self.families['models'].sum())} models: {', '.join(families)}."
        )
        ensemble, best = self.scores.loc[[ENSEMBLE, BEST], self.scores.columns[0]]
        is_worse = ensemble > best if self.smaller_is_better else ensemble < best
        if not is_worse:
            return said
        return (
            f"{said} On the cases of selection the best single model is better, {best:.4f} against "
            f"{ensemble:.4f}, as can be with bags or a start of several models."
        )

    def __str__(self):
        selected, other = self.scores.columns[0], self.scores.columns[-1]
        ensemble, best, mean = self.scores[other]
        lines = [
            self.chosen_in_words(),
            f"On the part {other}, {self.metric} is {ensemble:.4f}; the best single model has "
            f"{best:.4f}, the mean of all models {mean:.4f}.",
        ]
        if other != selected:
            score = self.scores.loc[ENSEMBLE, selected]
            lines.append(f"On the cases of selection the ensemble has {score:.4f}.")
        return "\n".join(lines)


def _percent(weight):
    return f"{weight:.0%}" if weight > 0.005 else "below 1%"


def families_of(selector):
    """The weight of each family, and the numbers of its models.

    Parameters
    ----------
    selector : EnsembleSelector or WeightedEnsemble

    Returns
    -------
    pandas.DataFrame by family
        As `SelectionReport.families`.
    """
    weights = selector.weights_
    settings = selector.store_.settings
    family = settings[FAMILY].astype(str) if FAMILY in settings else pd.Series(weights.index)
    table = pd.DataFrame({"weight": weights.to_numpy(), FAMILY: family.to_numpy()})
    grouped = table.groupby(FAMILY)["weight"]
    found = pd.DataFrame(
        {
            "models": grouped.size(),
            "chosen": grouped.agg(lambda of_family: int((of_family > 0).sum())),
            "weight": grouped.sum(),
        }
    )
    return found.sort_values("weight", ascending=False, kind="stable")


def _scores(selector, part):
    """Scores of the ensemble, the best single model and the mean of all on a part."""
    store = selector.store_
    judge = judge_of(selector.metric, store, part, selector.greater_is_better)
    names, candidates = candidates_of(store, selector.metric, selector.greater_is_better)
    best = store.names.index(names[candidates.ranking[0]])
    predictions, ensemble = store.predictions(part), selector.predict_proba(part)
    ensemble = ensemble[:, 1] if store.is_binary else ensemble
    values = {ENSEMBLE: ensemble, BEST: predictions[best], MEAN: predictions.mean(axis=0)}
    return pd.Series({name: judge.natural(judge.of(p)) for name, p in values.items()})
