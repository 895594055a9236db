"""The learners of the study of good probabilities, with the parameters tried for each.

They are those of the profile "thesis" of `bnmtl.ensembles.build_library` without what it has got
since (`grids.later`), and follow appendix 4.B of the thesis as far as scikit-learn supports it;
`DIFFERENCES` lists the exceptions, including limits that keep the study to hours. Each learner in
`LEARNERS` is a generator of `Model`.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from bnmtl.ensembles.library import settings
from bnmtl.ensembles.library.columns import BINS, SCALED, Columns
from bnmtl.ensembles.library.settings import fits_of

SMALLEST_COST = 1e-3
# Measured on the first draw only, and so not among `LEARNERS`.
TWO_LEVELS = "boosted two-level trees"
TWO_LEVEL_STEPS = tuple(2**k for k in range(1, 11))

_OF_THE_STUDY = {
    "SVMs": ("SVMLight, C 1e-7 - 1e3", "libsvm, C 1e-3 - 1e3, 100,000 iterations at most"),
    "nominal attributes": ("as they are and as 0 and 1", "0 and 1; for naive Bayes also in bins"),
}
DIFFERENCES = (
    *((what, *_OF_THE_STUDY.get(what, texts)) for what, *texts in settings.THESIS_DIFFERENCES),
    ("trials", "five folds of the same 5000 rows", "five draws"),
    ("COVTYPE", "all 581,012 rows", "30,000 of them, drawn evenly; 25,000 test"),
    ("positives of COVTYPE", "said to be the largest class, 36 %", "class 1, 36.3 %; 2 is larger"),
    ("positives of LETTER.p2", "A - M, 53 %", "A - M, which are 49.7 %"),
)
# Learners whose scores are margins or votes, not probabilities.
MARGINS = ("boosted trees", "boosted stumps", "SVMs")


class Model(NamedTuple):
    """A fitted model: scores of the calibration rows, and a function for those of other rows.

    ``methods`` are functions from scores to probabilities without calibration, by name;
    ``calibrated`` says whether calibrators are also fitted to the scores, and ``bounded`` whether
    all possible scores are from 0 to 1. ``score`` takes an array of rows.
    """

    parameters: str
    scores: np.ndarray
    score: Callable
    methods: dict
    calibrated: bool = True
    bounded: bool = True


def itself(scores):
    """Return scores that are already probabilities."""
    return scores


class Scores:
    """Scores of all models of a fit, cached by rows."""

    def __init__(self, trained, rows_of):
        self._trained, self._rows_of = trained, rows_of
        self._known = {}

    def __call__(self, at, rows):
        """Scores of one model."""
        key = rows.tobytes()
        if key not in self._known:
            self._known[key] = self._trained.scores(self._rows_of(rows))
        return self._known[key][at]


def settings_of(learner, n_rows, n_columns):
    """The settings of a learner: those of the profile "thesis", within the limits of the study."""
    if learner == TWO_LEVELS:
        # Weighted, because logistic correction needs boosting without restarts.
        fixed = {"family": "boosted shallow trees", "depth": 2, "resample": False}
        yield from ({**fixed, "steps": steps} for steps in TWO_LEVEL_STEPS)
        return
    columns = Columns({f"x{at}": None for at in range(n_columns)})
    later = list(settings.later(columns))
    for setting in settings.thesis(n_rows, columns):
        if setting["family"] != learner or setting.get("C", 1.0) < SMALLEST_COST:
            continue
        if setting in later:
            continue
        variants = setting.get("score"), setting.get("search"), setting.get("principal")
        if variants in ((None,) * 3, ("default", "default", False)) and setting.get(
            "together", True
        ):
            yield setting


def models_of(learner, views, y, train, calibration, seed):
    """All models of a learner, each as a `Model`."""
    settings = list(settings_of(learner, len(train), views.numbers.shape[1]))
    if learner.startswith("boosted"):
        settings += [{**setting, "loss": "logistic"} for setting in settings]
    for fit in fits_of(settings, len(train), None):
        rows_of = _view(views, fit.form)
        trained = fit.untrained(seed).fit(rows_of(train), y[train])
        scores = Scores(trained, rows_of)
        for at, (member, name) in enumerate(zip(fit.members, fit.names, strict=True)):
            model = _model(fit, at, name, scores, calibration)
            if learner.startswith("boosted"):
                model = _boosted(model, trained.totals[at], member["loss"])
            yield model


def _view(views, form):
    """A function from rows to their features in the form that a learner takes."""
    if form.startswith(BINS):
        frame = views.categories(int(form.removeprefix(BINS)))
        return frame.iloc.__getitem__
    return (views.scaled if form == SCALED else views.numbers).__getitem__


def _model(fit, at, name, scores, calibration):
    """A model whose scores are probabilities, or margins scaled by the calibration rows."""
    first = scores(at, calibration)
    low, high = first.min(), first.max()

    def scaled(scores):
        return np.clip((scores - low) / ((high - low) or 1.0), 0, 1)

    bounded = fit.maker.bounded
    text = name.removeprefix(fit.family).removeprefix(": ")
    methods = {"before": itself if bounded else scaled}
    return Model(text, first, partial(scores, at), methods, bounded=bounded)


def _boosted(model, total, loss):
    """With exponential loss to be calibrated or corrected, with logistic loss as it is."""

    def corrected(scores):
        return expit((2 if loss == "exponential" else 1) * (2 * scores - 1) * total)

    text = model.parameters.replace(f", {loss} loss", "")
    methods = {**model.methods, "logistic correction": corrected}
    if loss == "logistic":
        methods = {"log-loss": corrected}
    return model._replace(parameters=text, methods=methods, calibrated=loss == "exponential")


LEARNERS = {
    learner: partial(models_of, learner)
    for learner in (
        "boosted trees",
        "random forests",
        "SVMs",
        "bagged trees",
        "neural nets",
        "boosted stumps",
        "nearest neighbors",
        "decision trees",
        "logistic regression",
        "naive Bayes",
        "Bayesian network",
        "multi-net",
    )
}
