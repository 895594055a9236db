"""Forward selection: models join an ensemble one at a time, and what happened at each step."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bnmtl.ensembles.additions import additions_of, happened, residual_products, uses_products
from bnmtl.ensembles.entries import SCALE, whole_numbers
from bnmtl.ensembles.judges import Judge, judge_of
from bnmtl.metrics.prediction import cross_entropy

MOST_INITIAL = 25


@dataclass(frozen=True)
class Library:
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

    @classmethod
    def of(cls, models, judge, y, weights=None):
        """A library whose ties are decided by the cross-entropy of the same cases."""
        return cls(
            models, judge, Judge("cross_entropy", cross_entropy, -1, y, weights, "cross_entropy")
        )

    def at(self, cases):
        """The library on some of the cases."""
        return Library(self.models[:, cases], self.judge.at(cases), self.truth.at(cases))

    @cached_property
    def ranking(self):
        """Places of the models from the best to the worst, by their own scores."""
        scores = np.array([self.judge.of(one / SCALE) for one in self.models])
        order = np.argsort(-scores, kind="stable")
        # Models with equal scores are ordered by cross-entropy, then by name.
        starts = np.flatnonzero(np.diff(scores[order], prepend=np.inf))
        for group in np.split(order, starts[1:]):
            if len(group) > 1:
                losses = [-self.truth.of(self.models[at] / SCALE) for at in group]
                group[:] = group[np.argsort(losses, kind="stable")]
        return order

    @cached_property
    def products(self):
        """The `residual_products` of the models if the judge uses them, else None."""
        return residual_products(self.judge, self.models) if uses_products(self.judge) else None

    def best(self, share):
        """Places of the best share of the models, sorted."""
        return np.sort(self.ranking[: max(1, int(np.ceil(share * len(self.models) - 1e-9)))])


def library_of(store, metric, greater_is_better=None):
    """Names of the different models of a store, sorted, and their library."""
    names, models = distinct_models(store)
    cases = store.part("hillclimb", labels=True)
    judge = judge_of(metric, store, greater_is_better=greater_is_better)
    return names, Library.of(models, judge, cases.y, cases.weights)


def distinct_models(store):
    """Names of the different models of a store, sorted, and their predictions times SCALE."""
    entries, known, places = store.predictions(), set(), []
    for at in sorted(range(store.n_models), key=lambda at: store.names[at]):
        content = entries[at].tobytes()
        if content not in known:
            known.add(content)
            places.append(at)
    return [store.names[at] for at in places], whole_numbers(entries[places])


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


def grow(library, chosen, initial, max_steps, patience, replacement):
    """Select an ensemble from some models of a library.

    Parameters
    ----------
    library : Library
    chosen : int array
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
        Its members are places in the library.
    """
    part = Library(library.models[chosen], library.judge, library.truth)
    products = None if library.products is None else library.products[np.ix_(chosen, chosen)]
    additions = additions_of(part.judge, part.models, products)
    members, scores = [], []
    if initial != 0:
        ranking = library.ranking[np.isin(library.ranking, chosen)]
        members, scores = _initial(part, additions, initial, np.searchsorted(chosen, ranking))
    n_initial = len(members)
    best, length = max(scores, default=-np.inf), n_initial
    for _ in range(max_steps):
        allowed = np.ones(len(chosen), bool)
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
    return Path(chosen[members], np.array(padded), n_initial, length)


def _initial(library, additions, initial, order):
    """The first members in an order from the best, and the score of all of them together."""
    n = min(len(order), MOST_INITIAL if initial == "auto" else initial)
    total, values = np.zeros(library.models.shape[1:], np.int64), []
    for count, at in enumerate(order[:n], 1):
        total += library.models[at]
        values.append(library.judge.of(total / (SCALE * count)))
    if initial == "auto":
        n = int(np.argmax(values)) + 1
    for at in order[:n]:
        additions.add(at)
    return order[:n].tolist(), [values[n - 1]]


def _next(library, additions, allowed, members):
    """The model that makes the ensemble best: ties go to members, then to the smaller loss."""
    scores = additions.leading(allowed)
    best = np.flatnonzero(scores >= scores.max() - additions.margin(scores.max()))
    if len(best) > 1 and not additions.is_exact:
        best = _largest(best, additions.values_with(best))
    again = best[np.isin(best, members)]
    best = again if len(again) else best
    if len(best) > 1:
        best = _of_least_loss(library, additions, best)
    return int(best[0])


def _of_least_loss(library, additions, places):
    """Those of some models with which the cross-entropy becomes smallest."""
    sums, n = additions.total + library.models[places], additions.n_members + 1
    likely = happened(sums, library.truth.y, n) / (SCALE * n)
    weights = 1.0 if library.truth.weights is None else library.truth.weights
    logs = (np.log(likely) * weights).sum(axis=1)
    near = places[logs >= logs.max() - 1e-10 * max(1.0, abs(logs.max()))]
    return _largest(near, [library.truth.of(additions.mean_with(at)) for at in near])


def _largest(places, values):
    """The places with exactly the largest value."""
    return places[np.asarray(values) == max(values)]


FAMILY = "family"
_MOST_NAMED = 8
_ENSEMBLE, _BEST, _MEAN = "ensemble", "best single model", "mean of all models"


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
        parts = ["hillclimb"] + ([part] if part not in (None, "hillclimb") else [])
        scores = {one: _scores(selector, one) for one in parts}
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
        ensemble, best = self.scores.loc[[_ENSEMBLE, _BEST], self.scores.columns[0]]
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
            score = self.scores.loc[_ENSEMBLE, selected]
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
            "chosen": grouped.agg(lambda one: int((one > 0).sum())),
            "weight": grouped.sum(),
        }
    )
    return found.sort_values("weight", ascending=False, kind="stable")


def _scores(selector, part):
    store = selector.store_
    judge = judge_of(selector.metric, store, part, selector.greater_is_better)
    names, library = library_of(store, selector.metric, selector.greater_is_better)
    best = store.names.index(names[library.ranking[0]])
    predictions, ensemble = store.predictions(part), selector.predict_proba(part)
    ensemble = ensemble[:, 1] if store.is_binary else ensemble
    values = {_ENSEMBLE: ensemble, _BEST: predictions[best], _MEAN: predictions.mean(axis=0)}
    return pd.Series({name: judge.natural(judge.of(p)) for name, p in values.items()})
