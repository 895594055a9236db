"""What is measured on the libraries of one trial of the study of ensembles.

Each analysis returns a line: values on the test cases, in natural units, by method and metric.
"""

import warnings

import numpy as np

from benchmarks.ensembles.problem_rows import (
    LARGE,
    LARGE_ROWS,
    N_FOLDS,
    QUICK,
    folded_library,
    parts_of,
    plain_library,
)
from bnmtl.calibration import PlattCalibrator
from bnmtl.ensembles import (
    EnsembleSelector,
    PredictionStore,
    Stacking,
    basic_selection,
    best_single,
    mean_of_all,
    model_averaging,
)
from bnmtl.metrics import prediction

METRICS = {
    "accuracy": prediction.accuracy,
    "f_score": prediction.f_score,
    "lift": prediction.lift,
    "roc_area": prediction.roc_area,
    "average_precision": prediction.average_precision,
    "break_even_point": prediction.break_even_point,
    "root_mean_squared_error": prediction.root_mean_squared_error,
    "cross_entropy": prediction.cross_entropy,
}
LOSSES = ("root_mean_squared_error", "cross_entropy")
OPTIONS = {"random_state": 0}
FEWER = {"bags": 2, "max_steps": 5}  # of the quick problem
SHARES = (1.0, 0.8, 0.6, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05)
SIZES = (100, 250, 500, 1000, 2500, 5000, 10_000)
SHOWN_STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)
RMSE = "root_mean_squared_error"


def values(y, p, metrics=METRICS):
    """Metrics of predictions, rounded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # predictions near 0 or 1 are clipped
        return {name: round(float(METRICS[name](y, p)), 6) for name in metrics}


def selector_of(problem, metric, **options):
    """A selector with the options of the study."""
    fewer = FEWER if problem == QUICK else {}
    return EnsembleSelector(metric, **OPTIONS | fewer | options)


class Library:
    """A store with test cases, divided into raw and calibrated models.

    Parameters
    ----------
    store : PredictionStore
    problem : str
    test : slice, default=slice(None)
        The test cases among those of the part "test".
    """

    def __init__(self, store, problem, test=slice(None)):
        self.store, self.problem = store, problem
        self.y = store.parts["test"].y[test]
        self.test = test

    def subset(self, kind):
        """The models of a kind: raw, calibrated or both."""
        if kind == "both":
            return self.store
        chosen = self.store.settings["calibrated"].astype(bool) == (kind == "calibrated")
        return self.store.subset(list(self.store.settings.index[chosen]))

    def p(self, ensemble, part="test"):
        """Predictions of an ensemble for the test cases."""
        return ensemble.predict_proba(part)[self.test, 1]

    def single(self, store, metric):
        """The value of the model that is best on the cases of hill climbing."""
        return values(self.y, self.p(best_single(store, metric)), [metric])[metric]

    def selected(self, store, metric, metrics=None, **options):
        """Values of an ensemble selected for a metric."""
        p = self.p(selector_of(self.problem, metric, **options).fit(store))
        found = values(self.y, p, metrics or [metric])
        return found if metrics else found[metric]


def methods(problem, trial):
    """Tables 4.1 and 4.5: selection, averaging and the best single model, from three libraries."""
    store, library = _plain(problem, trial)
    found = {"models": store.n_models, "base_rate": round(float(library.y.mean()), 6)}
    for kind in ("raw", "calibrated", "both"):
        models = library.subset(kind)
        average = values(library.y, library.p(model_averaging(models)))
        selected = {metric: library.selected(models, metric, METRICS) for metric in METRICS}
        found[kind] = {
            "selected": selected,
            "averaged": average,
            "single": {metric: library.single(models, metric) for metric in METRICS},
        }
    found["others"] = _others(library)
    found["optimum"] = _optimum(library)
    found["trajectories"] = {
        name: _trajectory(library, replacement)
        for name, replacement in (("with replacement", True), ("without replacement", False))
    }
    return found


def small(problem, trial):
    """Selection, averaging and the best single model of a small library, on the same rows."""
    store, library = _plain(problem, trial, "small")
    return {
        "models": store.n_models,
        "selected": {metric: library.selected(store, metric) for metric in METRICS},
        "averaged": values(library.y, library.p(model_averaging(store))),
        "single": {metric: library.single(store, metric) for metric in METRICS},
    }


def _plain(problem, trial, profile=None, n_train=None):
    """The plain library of a trial with its test cases, which follow those for hill climbing."""
    store = plain_library(problem, trial, profile, n_train)
    return store, Library(store, problem, slice(len(parts_of(problem, trial).more[1]), None))


def _others(library):
    """Values of further rivals that do not depend on the metric, or are chosen for it."""
    store = library.store
    rivals = {
        "mean of all": mean_of_all(store),
        "stacking, linear": Stacking(random_state=0).fit(store),
        "stacking, logistic": Stacking(method="logistic", random_state=0).fit(store),
    }
    found = {name: values(library.y, library.p(rival)) for name, rival in rivals.items()}
    found["basic selection"] = {
        metric: values(library.y, library.p(basic_selection(store, metric)), [metric])[metric]
        for metric in METRICS
    }
    return found


def _optimum(library):
    """The best test value of any model, for each metric."""
    predictions = library.store.predictions("test")[:, library.test]
    found = {}
    for metric, function in METRICS.items():
        every = [function(library.y, p) for p in predictions.astype(float)]
        found[metric] = round(float(min(every) if metric in LOSSES else max(every)), 6)
    return found


def _trajectory(library, replacement):
    """Test error by number of steps, from one bag of all models without a start."""
    options = {"bags": 1, "bag_fraction": 1.0, "initial": 0, "replacement": replacement}
    selector = selector_of(library.problem, RMSE, **options)
    selector.fit(library.store)
    members = selector.trajectory_["model"]
    test = library.store.subset(list(dict.fromkeys(members)))
    rows = dict(zip(test.names, test.predictions("test")[:, library.test], strict=True))
    total, found = np.zeros(len(library.y)), {}
    for step, name in enumerate(members, 1):
        total += rows[name]
        if step in SHOWN_STEPS:
            found[step] = values(library.y, total / step, [RMSE])[RMSE]
    return {
        "steps": list(found),
        "hillclimb": [
            round(float(selector.trajectory_["score"].iloc[step - 1]), 6) for step in found
        ],
        "test": list(found.values()),
    }


def sizes(problem, trial):
    """Figure 4.2: selection with and without bags and the best single model, by number of cases.

    Large libraries are trained on fewer rows, and have no selection from the most cases.
    """
    n_train = LARGE_ROWS if trial in LARGE and problem != QUICK else None
    store, library = _plain(problem, trial, n_train=n_train)
    n_more = len(parts_of(problem, trial).more[1])
    y = np.concatenate([store.parts["hillclimb"].y, store.parts["test"].y[:n_more]])
    raw = library.subset("raw")
    p = np.concatenate([raw.predictions("hillclimb"), raw.predictions("test")[:, :n_more]], axis=1)
    test = raw.predictions("test")[:, library.test]
    order = np.random.default_rng([trial, 42]).permutation(len(y))
    found = {} if n_train is None else {"models": store.n_models, "n_train": n_train}
    for size in SIZES if n_train is None else SIZES[:-1]:
        if size <= len(y):
            at = np.sort(order[:size])
            again = recalibrated(p[:, at], y[at], test, library.y, raw.names)
            found[str(size)] = _by_bags(Library(again, problem))
    return found


def recalibrated(p, y, test, test_y, names):
    """A store of raw models and of the same ones calibrated on some cases."""
    hillclimb, tests = [p], [test]
    calibrators = [PlattCalibrator().fit(one.astype(float), y) for one in p]
    for models, rows in ((hillclimb, p), (tests, test)):
        pairs = zip(calibrators, rows, strict=True)
        models.append(np.stack([platt.predict(one.astype(float)) for platt, one in pairs]))
    predictions = {"hillclimb": np.concatenate(hillclimb), "test": np.concatenate(tests)}
    every = [*names, *(f"{name} (calibrated)" for name in names)]
    return PredictionStore(predictions, {"hillclimb": y, "test": test_y}, names=every)


def _by_bags(library):
    """Selection with and without bags and the best single model, each for its metric."""
    return {
        "bags": {metric: library.selected(library.store, metric) for metric in METRICS},
        "no bags": {
            metric: library.selected(library.store, metric, bags=1, bag_fraction=1.0)
            for metric in METRICS
        },
        "single": {metric: library.single(library.store, metric) for metric in METRICS},
    }


def pruning(problem, trial):
    """Figures 4.4 and 4.5: selection from shares of the library, with and without bags."""
    store, library = _plain(problem, trial)
    variants = {"bags": {}, "no bags": {"bags": 1, "bag_fraction": 1.0}}
    return {
        name: {
            metric: [library.selected(store, metric, prune=share, **options) for share in SHARES]
            for metric in METRICS
        }
        for name, options in variants.items()
    }


def folds(problem, trial):
    """Tables 4.2 - 4.4: the same with embedded cross-validation, and its two halves."""
    store = folded_library(problem, trial)
    library = Library(store, problem)
    selectors = {metric: selector_of(problem, metric).fit(store) for metric in METRICS}
    found = {
        "models": store.n_models,
        "selected": {
            metric: values(library.y, library.p(selector)) for metric, selector in selectors.items()
        },
        "averaged": values(library.y, library.p(model_averaging(store))),
        "single": {metric: library.single(store, metric) for metric in METRICS},
        "more cases": [],
        "siblings": [],
    }
    fold = store.parts["hillclimb"].folds
    for number in range(N_FOLDS):
        # All cases for the selection, but one sibling of each model for the prediction.
        one = f"sibling{number + 1}"
        found["more cases"].append(
            {
                metric: values(library.y, library.p(selector, one), [metric])[metric]
                for metric, selector in selectors.items()
            }
        )
        # The cases of one fold for the selection, but all siblings for the prediction.
        at = fold == number
        predictions = {
            "hillclimb": store.predictions()[:, at],
            "test": store.predictions("test"),
        }
        y = {"hillclimb": store.parts["hillclimb"].y[at], "test": store.parts["test"].y}
        part = Library(PredictionStore(predictions, y, names=store.names), problem)
        found["siblings"].append({metric: part.selected(part.store, metric) for metric in METRICS})
    return found
