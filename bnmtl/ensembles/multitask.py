"""Ensemble selection for several tasks, whose ensembles learn from the cases of each other."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bnmtl.ensembles.entries import SCALE
from bnmtl.ensembles.folds import stratified_folds
from bnmtl.ensembles.judges import Judge, MixedJudge, judge_of, scale_of
from bnmtl.ensembles.means import mean_prediction
from bnmtl.ensembles.selection import Library, distinct_models
from bnmtl.ensembles.selector import EnsembleSelector, check_store, weights_of
from bnmtl.ensembles.store import HILLCLIMB
from bnmtl.errors import InputError, InputTypeError, check_number, warn
from bnmtl.metrics.prediction import cross_entropy
from bnmtl.progress import Reporter
from bnmtl.seeding import seed_of
from bnmtl.wording import type_of

# Shares that are tried for "cv"; the smallest wins ties.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
_N_FOLDS = 5


class MultitaskEnsembleSelector(BaseEstimator):
    """Select one ensemble per task from the same models, with the help of the other tasks.

    In each step of a task the model joins that makes a mean of normalized scores best: that of the
    members on the cases of the task, with the weight 1 - share, and the mean over all tasks of that
    of the same members on their cases, with the weight share.

    Parameters
    ----------
    share : "cv" or float, default="cv"
        0 selects for each task alone, 1 selects one ensemble for all. "cv" chooses from 0, 0.1,
        0.25, 0.5, 0.75 and 1 by five folds over the cases, which keep groups of the store whole.
        That is thirty more selections for each task. A metric of yours is called for each candidate
        on each task in each step of each bag, up to millions of times: give `share`, or fewer
        `bags` and `max_steps`, unless the metric is one of those that are fast in
        `EnsembleSelector`.
    metric, initial, bags, bag_fraction, prune, max_steps, patience, replacement, random_state, \
n_jobs, progress, greater_is_better
        As in `EnsembleSelector`.

    Attributes
    ----------
    weights_ : pandas.DataFrame, models x tasks
        Columns sum to 1.
    ensembles_ : dict of str to EnsembleSelector
        The selector of each task, whose store has the cases of that task. Its scores are the means
        described above, so that 0 is the base rate and 1 the best single model.
    share_ : float
    share_scores_ : pandas.Series by share
        Mean over folds and tasks of the normalized score, if "cv" chose; else empty.
    classes_ : numpy.ndarray of shape (n_classes,)
    store_ : PredictionStore

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for arguments out of range, fewer than two models, a store without tasks, and
        tasks with one class.

    Examples
    --------
    >>> from bnmtl.ensembles import PredictionStore
    >>> rng = np.random.default_rng(0)
    >>> y, tasks = rng.integers(2, size=120), np.repeat(["north", "south"], 60)
    >>> noise = rng.normal(size=(8, 120)) * rng.uniform(1, 4, size=(8, 1))
    >>> store = PredictionStore(1 / (1 + np.exp(-(2 * y - 1 + noise))), y, task=tasks)
    >>> selector = MultitaskEnsembleSelector(share=0.5, bags=2, random_state=0).fit(store)
    >>> selector.weights_.sum().round(6).to_dict()
    {'north': 1.0, 'south': 1.0}
    """

    def __init__(
        self,
        share="cv",
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
        self.share = share
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

    def fit(self, store):
        """Select an ensemble for each task on the part "hillclimb".

        Parameters
        ----------
        store : PredictionStore
            With tasks.

        Returns
        -------
        MultitaskEnsembleSelector
        """
        check_store(store)
        if self.share != "cv":
            check_number("share", self.share, least=0, most=1, remedies='"cv" chooses it')
        self._template().check()
        seed, cases = seed_of(self.random_state), store.part(HILLCLIMB, labels=True)
        names, models = distinct_models(store)
        tasks = _Tasks.of(store, self.metric, models, self.greater_is_better)
        with Reporter(self.progress) as report:
            self._choose(tasks, models, cases, seed, report)
            self.ensembles_ = {
                task: self._template().select(
                    store.of_task(task),
                    names,
                    tasks.library(models, task, self.share_),
                    seed,
                    report,
                )
                for task in tasks.cases
            }
        columns = {task: one.weights_ for task, one in self.ensembles_.items()}
        self.weights_ = pd.DataFrame(columns).rename_axis(columns="task")
        self.classes_, self.store_ = store.classes, store
        return self

    def _template(self):
        """A selector of one task with the same parameters."""
        parameters = self.get_params(deep=False)
        del parameters["share"], parameters["progress"]
        return EnsembleSelector(**parameters)

    def _choose(self, tasks, models, cases, seed, report):
        """Set the share, if necessary by folds over the cases."""
        self.share_, self.share_scores_ = self.share, pd.Series(dtype=float)
        if self.share != "cv":
            return
        names = [f"{task}\x1f{label}" for task, label in zip(cases.task, cases.y, strict=True)]
        strata = np.unique(names, return_inverse=True)[1]
        if np.bincount(strata).min() < 2:
            rule = "can be chosen by folds only if every task has two cases of each class"
            raise InputError("share", rule, remedies="give a number from 0 to 1")
        remedies = "give a number for `share`"
        folds = stratified_folds("store", strata, _N_FOLDS, seed, remedies, groups=cases.groups)
        scores = pd.Series(0.0, pd.Index(SHARES, name="share"))
        splits = [(a, b, share) for a, b in folds for share in SHARES]
        for done, (train, test, share) in enumerate(splits):
            report("share", None, done, len(splits))
            scores[share] += self._held_out(tasks, models, train, test, share, seed) / len(folds)
        self.share_, self.share_scores_ = float(scores.idxmax()), scores

    def _held_out(self, tasks, models, train, test, share, seed):
        """Mean over tasks of the normalized scores of held-out cases."""
        template, values = self._template(), []
        fitted, judged = tasks.at(train), tasks.at(test)
        prune = 1.0 if template.prune == "sweep" else template.prune
        for task in tasks.cases:
            library = fitted.library(models[:, train], task, share)
            weights = weights_of(template.paths(library, prune, seed), len(models))
            alone = judged.library(models[:, test], task, 0.0)
            values.append(alone.judge.of(mean_prediction(alone.models, weights)))
        return np.mean(values)

    def predict_proba(self, part, task=None):
        """Probabilities of the classes, of each case by the ensemble of its task.

        Parameters
        ----------
        part : str, or mapping of str to array-like
            As in `EnsembleSelector.predict_proba`.
        task : array-like of shape (n_cases,), default=None
            The task of each case; None is that in the store.

        Returns
        -------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        check_is_fitted(self)
        if task is None:
            task = self.store_.part(part).task if isinstance(part, str) else None
        if task is None:
            raise InputError("task", "must be given for cases whose tasks are not in the store")
        task = np.asarray(task).astype(str)
        unknown = sorted(set(task.tolist()) - set(self.ensembles_))
        if unknown:
            rule = "must be tasks of the store, {known}"
            raise InputError("task", rule, unknown[0], known=list(self.ensembles_))
        if isinstance(part, str):
            entries = self.store_.predictions(part).astype(float)
            part = dict(zip(self.store_.names, entries, strict=True))
        elif not isinstance(part, dict | pd.DataFrame):
            rule = "must be a part of the store or a mapping of models to predictions"
            raise InputTypeError("part", rule, type_of(part))
        numbers = {len(part[name]) for name in part} - {len(task)}
        if numbers:
            rule = "must be one task per case, {n}"
            raise InputError("task", rule, len(task), n=min(numbers))
        found = np.empty((len(task), len(self.classes_)))
        for name in sorted(set(task)):
            at = task == name
            rows = {model: np.asarray(part[model])[at] for model in part}
            found[at] = self.ensembles_[name].predict_proba(rows)
        return found


class _Tasks:
    """The cases, judges and scales of several tasks.

    Parameters
    ----------
    cases : dict of str to int array
        By task, sorted.
    judges : dict of str to Judge or MixedJudge
    scales : dict of str to (float, float)
        Values of the judges that are normalized to 0 and to 1.
    teachers : list of str
        The tasks from which others learn: those where a model beats the base rate.
    truth : Judge
        Cross-entropy of all cases.
    """

    def __init__(self, cases, judges, scales, teachers, truth):
        self.cases, self.judges, self.scales = cases, judges, scales
        self.teachers, self.truth = teachers, truth

    @classmethod
    def of(cls, store, metric, models, greater_is_better=None):
        """The tasks of a store."""
        part = store.part(HILLCLIMB)
        if part.task is None:
            remedies = "give `task` to the PredictionStore"
            raise InputError("store", "must have the task of every case", remedies=remedies)
        judge = judge_of(metric, store, greater_is_better=greater_is_better)
        cases, judges, scales, teachers = {}, {}, {}, []
        for task in sorted(set(part.task)):
            at = cases[task] = np.flatnonzero(part.task == task)
            if len(set(part.y[at])) < len(store.classes):
                rule = "must have cases of all classes"
                raise InputError(rule=rule, task=task, remedies="leave the task out")
            judges[task] = judge.at(at)
            base, best = 0.0, 1.0  # a mean of several metrics is normalized
            if isinstance(judge, Judge):
                predictions = models[:, at] / SCALE
                base, best = scale_of(judges[task], predictions, len(store.classes))
            if best > base:
                teachers.append(task)
            else:
                best = base + 1
                rule = "has no model that beats the base rate, so other tasks do not learn from it"
                warn(rule=rule, task=task)
            scales[task] = base, best
        truth = Judge("cross_entropy", cross_entropy, -1, part.y, part.weights, "cross_entropy")
        return cls(cases, judges, scales, teachers, truth)

    def at(self, chosen):
        """The same tasks with some of the cases, sorted."""
        cases, judges = {}, {}
        for task, places in self.cases.items():
            cases[task] = np.flatnonzero(np.isin(chosen, places))
            judges[task] = self.judges[task].at(np.searchsorted(places, chosen[cases[task]]))
        return _Tasks(cases, judges, self.scales, self.teachers, self.truth.at(chosen))

    def library(self, models, task, share):
        """The library from which the ensemble of one task is selected."""
        shares = {one: share / len(self.teachers) for one in self.teachers}
        # Not 1 minus their sum, which is rounded: with share 1 all tasks have the same library.
        shares[task] = shares.get(task, 0.0) + (1 - share if self.teachers else 1.0)
        shares = {one: weight for one, weight in shares.items() if weight > 0}
        names = sorted(shares)
        used = np.sort(np.concatenate([self.cases[one] for one in names]))
        judge = MixedJudge(
            tuple(self.judges[one] for one in names),
            tuple(shares[one] for one in names),
            tuple(self.scales[one] for one in names),
            tuple(np.searchsorted(used, self.cases[one]) for one in names),
        )
        truth = self.truth.at(used)
        weights = truth.weights
        # With those of a single task, ties are decided as for the task alone, to the last bit.
        if len(names) > 1:
            weights = np.ones(len(used)) if weights is None else weights.copy()
            for one in names:
                inside = np.searchsorted(used, self.cases[one])
                weights[inside] *= shares[one] / weights[inside].sum()
        return Library.of(models[:, used], judge, truth.y, weights)
