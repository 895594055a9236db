"""What an ensemble consists of and how good it is, as tables and in words."""

from dataclasses import dataclass

import pandas as pd

from bnmtl.ensembles.judges import judge_of
from bnmtl.ensembles.selection import library_of

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
