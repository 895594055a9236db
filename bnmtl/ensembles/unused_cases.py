"""How good an ensemble is on cases on which it was not selected, beside the best single model."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles.entries import checked_column, coded, entered
from bnmtl.ensembles.judges import judge_of, stratified_folds, title_of
from bnmtl.ensembles.rivals import WeightedEnsemble, best_of_families, best_single, mean_of_all
from bnmtl.ensembles.selection import BEST, ENSEMBLE, FAMILY, MEAN
from bnmtl.ensembles.store import HILLCLIMB, Part, PredictionStore
from bnmtl.errors import InputError, check_whole
from bnmtl.progress import Reporter
from bnmtl.seeding import generator, seed_of

RIVAL = "strongest simple rival"
RIVAL_OF_FOLDS = f"{RIVAL}, chosen by folds"
_REPLICATES = 200
_UNUSED = "unused"
_FAMILY, _MEAN_OF_FAMILIES = "best model of {}", "mean of the best models of the families"


class Rival(NamedTuple):
    """The strongest of the simple rivals of an ensemble, on unused cases.

    Rivals are the best model of each family, their mean and that of all models; without families in
    the settings of the store, the best single model and the mean of all.

    Attributes
    ----------
    name : str
        By folds, that of the rival which is best over all of them.
    score : float
        Of a rival chosen on other cases than those of the score: by folds, each fold has its own.
    gain : float
        By how much the ensemble is better; negative if it is worse.
    standard_error : float
        Of the gain.
    """

    name: str
    score: float
    gain: float
    standard_error: float


@dataclass(frozen=True)
class UnusedCases:
    """Scores on cases that were not used for selection.

    Attributes
    ----------
    metric : str
    table : pandas.DataFrame
        The number of cases, and the scores of the ensemble, the best single model and, unless only
        some models predict them, the mean of all models and the strongest simple rival: one row for
        the part, or one per fold.
    part : str or None
        The name of the cases; None for folds over the cases of selection.
    selected : float
        The score of the ensemble on the cases on which it was selected.
    scores : pandas.Series
        The mean scores over the rows of the table, by method.
    gain : float
        By how much the ensemble is better than the best single model; negative if it is worse.
    standard_error : float
        Of the gain.
    optimism : float
        By how much the score on the cases of selection is better than that on unused cases.
    rival : Rival
        The simple rival that is best on the other folds or, for a part, on the cases of selection.
    tasks : pandas.DataFrame or None
        For each task, the number of its cases and the scores of the same methods on them, for folds
        without the rival; NaN where the metric needs more cases or classes, or gives no number for
        the predictions of a method. None without tasks.
    """

    metric: str
    table: pd.DataFrame
    part: str | None
    selected: float
    scores: pd.Series
    gain: float
    standard_error: float
    optimism: float
    rival: Rival
    tasks: pd.DataFrame | None = None

    @classmethod
    def on_part(cls, selector, part="test"):
        """Score a fitted selector on a part of its store.

        The standard error is that of 200 bootstrap replicates of the cases of each class.

        Parameters
        ----------
        selector : EnsembleSelector
        part : str, default="test"
            A part with labels.

        Returns
        -------
        UnusedCases
        """
        check_is_fitted(selector)
        store = selector.store_
        cases, ensembles = store.part(part, labels=True), _ensembles(selector, store)
        predictions = {name: _of_part(ensemble, part) for name, ensemble in ensembles.items()}
        rivals, judge = _rivals(selector, store), _judge_of(selector, store, HILLCLIMB)
        strongest = max(rivals, key=lambda name: judge.of(_of_part(rivals[name], HILLCLIMB)))
        predictions[RIVAL] = _of_part(rivals[strongest], part)
        rival = strongest, predictions[RIVAL]
        return cls._on(selector, cases, predictions, part, rival)

    @classmethod
    def on_cases(cls, selector, predictions, y, part="test", task=None):
        """Score a fitted selector on cases that only some models of its store predict.

        The mean of all models is left out, because it needs all of them, and the best single model
        is the rival. The standard error is that of `on_part`.

        Parameters
        ----------
        selector : EnsembleSelector
        predictions : DataFrame or mapping of str to array-like
            By the name of the model, as in the store, for those with positive weight and the best
            single model; `LibraryEnsemble.predict_models` makes them.
        y : array-like of shape (n_cases,)
            Labels.
        part : str, default="test"
            A name for the cases.
        task : array-like of shape (n_cases,), default=None
            The task of each case.

        Returns
        -------
        UnusedCases

        Raises
        ------
        TypeError, ValueError
            If predictions are missing or invalid, and for labels that the store does not have.
        """
        check_is_fitted(selector)
        store, weights = selector.store_, selector.weights_
        best = _best_single(selector, store).weights_.idxmax()
        if best not in predictions:
            message = f"must have the best single model, too; `{best}` is missing"
            raise InputError(message, argument="predictions")
        names = sorted({best, *weights.index[weights > 0]})
        codes = coded(part, y, store.classes)
        entries = entered("predictions", predictions, names, len(store.classes), len(codes))
        task = None if task is None else checked_column("task", part, task, len(codes))
        cases = Part((entries,), codes, task=task)
        models = dict(zip(names, entries, strict=True))
        scored = {ENSEMBLE: _of_part(selector, models), BEST: models[best]}
        return cls._on(selector, cases, scored, part, (BEST, models[best]))

    @classmethod
    def _on(cls, selector, cases, predictions, part, rival):
        """Score predictions of some cases, with the standard error of bootstrap replicates."""
        judge, y = _judge_of(selector, selector.store_, cases), cases.y
        rng = generator(seed_of(selector.random_state), "replicates")
        by_class = [np.flatnonzero(y == code) for code in np.unique(y)]
        compared = predictions[ENSEMBLE], predictions[BEST], rival[1]
        values = []
        for _ in range(_REPLICATES):
            drawn = [rng.choice(of_class, len(of_class)) for of_class in by_class]
            at = np.sort(np.concatenate(drawn))
            drawn_judge = judge.at(at)
            values.append([drawn_judge.of(p[at]) for p in compared])
        row = {"cases": len(y), **_scored(judge, predictions)}
        table, values = pd.DataFrame([row], pd.Index([part], name="part")), np.array(values)
        errors = np.std(values[:, :1] - values[:, 1:], axis=0, ddof=1)
        score = judge.of(rival[1])
        gain = judge.of(predictions[ENSEMBLE]) - score
        found = Rival(rival[0], *map(float, (judge.natural(score), gain, errors[1])))
        tasks = None if cases.task is None else _by_task(judge, cases.task, predictions)
        return cls._of(selector, judge, table, part, float(errors[0]), found, tasks)

    @classmethod
    def by_folds(cls, selector, n_folds=5):
        """Repeat the selection without each fold of the cases, and score it on the fold.

        The best single model is that of the same cases. Selections use fewer cases than that of the
        selector, so the scores are slightly too low. The standard error takes into account that
        they overlap. The rival of a fold is the best one on the other folds, so that neither the
        ensemble nor its rival is chosen by the cases that judge it.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted.
        n_folds : int, default=5
            Fewer if a class has fewer cases. Folds do not divide groups of the store.

        Returns
        -------
        UnusedCases

        Raises
        ------
        ValueError
            If a class has only one case.

        References
        ----------
        Nadeau & Bengio (2003), "Inference for the generalization error", Machine Learning 52.
        """
        check_is_fitted(selector)
        check_whole("n_folds", n_folds, least=2)
        store, seed = selector.store_, seed_of(selector.random_state)
        part = store.part(HILLCLIMB)
        folds = stratified_folds(
            "store", part.y, n_folds, seed, "add cases", store.classes, part.groups
        )
        n_folds = len(folds)
        rows, gains, by_rival, pooled = [], [], [], {}
        with Reporter(selector.progress) as report:
            for number, (rest, fold) in enumerate(folds):
                progress = _progress(report, number, n_folds, selector.bags)
                again = clone(selector).set_params(random_state=seed, progress=progress)
                split = _split(store, rest, fold)
                judge = _judge_of(selector, split, _UNUSED)
                ensembles = _ensembles(again.fit(split), split).items()
                predictions = {name: _of_part(ensemble, _UNUSED) for name, ensemble in ensembles}
                for name, p in predictions.items():
                    pooled.setdefault(name, np.empty((len(part.y), *p.shape[1:])))[fold] = p
                rows.append({"cases": len(fold), **_scored(judge, predictions)})
                value = judge.of(predictions[ENSEMBLE])
                gains.append(value - judge.of(predictions[BEST]))
                rivals = _rivals(selector, split).items()
                scored = {name: judge.of(_of_part(model, _UNUSED)) for name, model in rivals}
                by_rival.append({ENSEMBLE: value, **scored})
        table = pd.DataFrame(rows, pd.RangeIndex(1, n_folds + 1, name="fold"))
        rival, chosen = _strongest(judge, pd.DataFrame(by_rival))
        table[RIVAL_OF_FOLDS] = judge.natural(chosen)
        tasks = None
        if part.task is not None:
            tasks = _by_task(_judge_of(selector, store, HILLCLIMB), part.task, pooled)
        return cls._of(selector, judge, table, None, _error_of_folds(gains), rival, tasks)

    @classmethod
    def _of(cls, selector, judge, table, part, standard_error, rival, tasks):
        scores, sign = table.drop(columns="cases").mean(), judge.natural(1)
        return cls(
            title_of(judge),
            table,
            part,
            selector.score_,
            scores,
            gain=float(sign * (scores[ENSEMBLE] - scores[BEST])),
            standard_error=standard_error,
            optimism=float(sign * (selector.score_ - scores[ENSEMBLE])),
            rival=rival,
            tasks=tasks,
        )

    def __str__(self):
        words = self.gain_in_words(), self.rival_in_words(), self.optimism_in_words()
        return "\n".join(words)

    def gain_in_words(self):
        """Say how good the ensemble is, and by how much better than the best single model."""
        n_cases = self.table["cases"].sum()
        if self.part is None:
            where = (
                f"By {len(self.table)} folds over the {n_cases} hill-climbing cases, each scored "
                "by what was selected on the other folds"
            )
        else:
            where = f"On the {n_cases} cases of the part {self.part}, which were not used"
        said = f"{where}, {self.metric} of the ensemble is {self.scores[ENSEMBLE]:.4f}"
        if round(abs(self.gain), 4) == 0:
            return f"{said}, the same as that of the best single model."
        word = "better" if self.gain > 0 else "worse"
        chance = ", which may be chance" if abs(self.gain) < 2 * self.standard_error else ""
        return (
            f"{said}, {abs(self.gain):.4f} ± {self.standard_error:.4f} (standard error) {word} "
            f"than that of the best single model, {self.scores[BEST]:.4f}{chance}."
        )

    def rival_in_words(self):
        """Say whether the ensemble is better than the strongest simple rival."""
        name, score, gain, error = self.rival
        rival, which = f"the {name}, the {RIVAL} ({score:.4f}),", ""
        if self.part is None:
            rival = f"the {RIVAL_OF_FOLDS} ({score:.4f}),"
            which = f" Over all folds the strongest is the {name}."
        if round(abs(gain), 4) == 0:
            words = f"not better than {rival} but as good"
        else:
            words = "better" if gain > 0 else "worse"
            words = f"{words} than {rival} by {abs(gain):.4f} ± {error:.4f}"
            if abs(gain) <= 2 * error:
                words += ", which is not more than chance"
        pays = "" if gain > 2 * error else ": the library does not pay here"
        return f"The ensemble is {words}{pays}.{which}"

    def optimism_in_words(self):
        """Say how far the score on the cases of selection can be trusted."""
        said = f"On the cases of selection the ensemble has {self.selected:.4f}"
        if round(self.optimism, 4) <= 0:
            return f"{said}, which is not too optimistic here."
        return f"{said}, which is {self.optimism:.4f} too optimistic."


def _progress(report, number, n_folds, bags):
    """A function that reports bags of one fold as steps of all folds."""

    def progress(event):
        if event.stage == "bags":
            report("unused cases", None, number * bags + event.done, n_folds * bags)

    return progress


def _split(store, rest, fold):
    """A store with some cases for selection and others that are not used."""
    part, places = store.part(HILLCLIMB), {HILLCLIMB: rest, _UNUSED: fold}

    def divided(values):
        return None if values is None else {name: values[at] for name, at in places.items()}

    models = store.predictions()
    return PredictionStore(
        {name: models[:, at] for name, at in places.items()},
        divided(store.classes[part.y]),
        store.names,
        weights=divided(part.weights),
        settings=store.settings,
        groups=divided(part.groups),
    )


def _ensembles(selector, store):
    return {ENSEMBLE: selector, BEST: _best_single(selector, store), MEAN: mean_of_all(store)}


def _best_single(selector, store):
    return best_single(store, selector.metric, selector.greater_is_better)


def _judge_of(selector, store, part):
    return judge_of(selector.metric, store, part, selector.greater_is_better)


def _rivals(selector, store):
    """Simple rivals by name, chosen on the cases of selection."""
    rivals = {MEAN: mean_of_all(store)}
    if FAMILY not in store.settings:
        return {BEST: _best_single(selector, store), **rivals}
    best = best_of_families(store, selector.metric, selector.greater_is_better)
    if len(best) > 1:
        weights = sum(model.weights_ for model in best.values()) / len(best)
        rivals[_MEAN_OF_FAMILIES] = WeightedEnsemble(store, weights.to_numpy())
    return {_FAMILY.format(family): model for family, model in best.items()} | rivals


def _strongest(judge, values):
    """The `Rival` of values by fold, best on the other folds for each, and its values."""
    rivals = values.drop(columns=ENSEMBLE)
    others = (rivals.sum() - rivals) / (len(rivals) - 1)
    chosen = [rivals.loc[fold, name] for fold, name in others.idxmax(axis=1).items()]
    gains = values[ENSEMBLE] - chosen
    score = float(judge.natural(np.mean(chosen)))
    error = _error_of_folds(gains)
    return Rival(rivals.mean().idxmax(), score, float(gains.mean()), error), np.array(chosen)


def _error_of_folds(gains):
    """Standard error of the mean of gains on folds whose selections share cases."""
    n_folds = len(gains)
    return float(np.sqrt(np.var(gains, ddof=1) * (1 / n_folds + 1 / (n_folds - 1))))


def _of_part(ensemble, part):
    """Predictions of a part, or by those of models, as judges take them."""
    p = ensemble.predict_proba(part)
    return p[:, 1] if p.shape[1] == 2 else p


def _by_task(judge, tasks, predictions):
    """Scores by task; NaN where the metric gives no number."""
    rows = {}
    for task in np.unique(tasks):
        at = np.flatnonzero(tasks == task)
        rows[task], of_task = {"cases": len(at)}, judge.at(at)
        for name, p in predictions.items():
            try:
                rows[task] |= _scored(of_task, {name: p[at]})
            except ValueError:
                rows[task][name] = np.nan
    return pd.DataFrame.from_dict(rows, "index").rename_axis("task")


def _scored(judge, predictions):
    return {name: judge.natural(judge.of(p)) for name, p in predictions.items()}
