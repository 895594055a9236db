"""Speed of ensemble selection beside AutoGluon, and of a step for each metric.

Run `python -m benchmarks.ensembles.selection_speed` (a quarter of an hour, one thread; `--only
step` for the part without AutoGluon, whose environment is made by `autogluon_environment.py`).
Both sides get the same predictions in the same run, in turns, after a first call that does not
count, and scores are compared before times are.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import study
from benchmarks.ensembles import autogluon_peer
from benchmarks.ensembles.library import made_library
from benchmarks.summary import markdown
from benchmarks.timing import median, rounded, timed
from bnmtl.ensembles import EnsembleSelector, PredictionStore
from bnmtl.ensembles.additions import Additions, additions_of
from bnmtl.ensembles.judges import BINARY
from bnmtl.ensembles.selection import candidates_of
from bnmtl.metrics import prediction

NAME = "selection_speed"
SETTINGS = ("study", "models", "cases", "metric")
# One at a time, because seconds are measured.
JOBS = 1
SEED = 0
STEPS = 100
REPEATS = 3
# Members when a step is timed, and calls in one timing, since one takes less than a millisecond.
MEMBERS = 10
CALLS = 10
BESIDE_AUTOGLUON = ("cross_entropy", "roc_area", "accuracy")
TITLES = {
    "cross_entropy": "log loss",
    "f_score": "F-score",
    "roc_area": "ROC area",
    "eleven_point_average_precision": "eleven-point average precision",
    "root_mean_squared_error": "squared error",
}


def select(metric, predictions, y):
    """One ensemble from arrays of predictions: no start, one bag of all models."""
    options = {"initial": 0, "bags": 1, "bag_fraction": 1.0, "max_steps": STEPS}
    return EnsembleSelector(metric, **options).fit(PredictionStore(predictions, y))


def reached(metric, weights, predictions, y):
    """Score of a weighted mean of predictions."""
    mean = np.clip(weights @ predictions.astype(float), 0, 1)
    return getattr(prediction, metric)(y, mean)


def measure_autogluon(metric, n_models, n_cases):
    """Selection in both packages: scores, numbers of models and seconds."""
    predictions, y = made_library(SEED, n_models, n_cases)
    # Rounded as in a store, so that both see equal numbers.
    predictions = PredictionStore(predictions, y).predictions()
    times = []
    with autogluon_peer.AutoGluon(predictions, y) as peer:
        peer.select(metric, 2)
        select(metric, predictions, y)
        for _ in range(REPEATS):
            theirs = peer.select(metric, STEPS)
            ours, seconds = timed(select, metric, predictions, y)
            times.append((seconds, theirs["seconds"]))
    their_score = reached(metric, theirs["weights"], predictions, y)
    check_error(metric, their_score, theirs["error"])
    times = np.array(times)
    ratios = times[:, 1] / times[:, 0]
    return {
        "score": rounded(ours.score_),
        "autogluon_score": rounded(their_score),
        "chosen": int((ours.weights_ > 0).sum()),
        "autogluon_chosen": int((theirs["weights"] > 0).sum()),
        "ours": median(times[:, 0]),
        "autogluon": median(times[:, 1]),
        "ratio": median(ratios),
        "least_ratio": rounded(ratios.min()),
        "repeats": REPEATS,
        "autogluon_version": theirs["version"],
    }


def check_error(metric, score, error):
    """Raise unless AutoGluon, which rounds to six digits, reports the same value of the metric."""
    expected = score if metric == "cross_entropy" else 1 - score
    if not np.isclose(error, expected, rtol=0, atol=2e-6):
        raise ValueError(f"AutoGluon reports {error} for {metric}, the metric says {expected}.")


def measure_step(metric, n_models, n_cases):
    """The step after ten members, and the metric itself called for each model."""
    store = PredictionStore(*made_library(SEED, n_models, n_cases))
    _, library = candidates_of(store, metric)
    products, once = timed(lambda: library.products)
    fast = additions_of(library.judge, library.models, products)
    plain = Additions(library.judge, library.models)
    allowed = np.ones(len(library.models), bool)
    for _ in range(MEMBERS):
        at = int(np.argmax(fast.leading(allowed)))
        fast.add(at)
        plain.add(at)
    check_scores(metric, fast, plain.scores(), allowed)
    times = []
    for _ in range(REPEATS):
        _, steps = timed(lambda: [fast.leading(allowed) for _ in range(CALLS)])
        times.append((steps / CALLS, timed(plain.scores)[1]))
    times = np.array(times)
    return {
        "once": rounded(once) if products is not None else 0.0,
        "step": median(times[:, 0]),
        "plain": median(times[:, 1]),
        "ratio": median(times[:, 1] / times[:, 0]),
        "repeats": REPEATS,
    }


def check_scores(metric, fast, expected, allowed):
    """Raise unless fast scores are those of the metric, and the best is among the leading ones."""
    leading = fast.leading(allowed)
    best = np.flatnonzero(expected == expected.max())
    if not np.allclose(fast.scores(), expected, rtol=1e-9) or np.isinf(leading[best]).any():
        raise ValueError(f"The scores of {metric} differ from the metric.")


STUDIES = {"autogluon": measure_autogluon, "step": measure_step}


def plan(quick):
    """Cases: three metrics beside AutoGluon, a step of each metric."""
    if quick:
        return study.every(BINARY, study=["step"], models=[60], cases=[200])
    size = {"models": 2000, "cases": 1000}
    return [
        {"study": "step", **size, "wanted": list(BINARY)},
        # One case per metric, so that a line is written when it is measured.
        *({"study": "autogluon", **size, "wanted": [metric]} for metric in BESIDE_AUTOGLUON),
    ]


def check_needs(cases, lines):
    """Raise ValueError if AutoGluon is needed and missing."""
    if any(case["study"] == "autogluon" for case in cases):
        autogluon_peer.require()


def measure(wanted, study, models, cases):
    """One line per metric, with one thread."""
    with threadpool_limits(1):
        return {
            metric: {"threads": 1, **STUDIES[study](metric, models, cases)} for metric in wanted
        }


def tables(lines):
    """The comparison with AutoGluon, and steps by metric."""
    forms = {"autogluon": _beside_autogluon, "step": _step}
    made = {}
    for name, row in forms.items():
        group = lines[lines["study"] == name].to_dict("records")
        if group:
            made[f"{NAME}_{name}"] = markdown([row(line) for line in group])
    return made


def _title(metric):
    return TITLES.get(metric, metric.replace("_", " "))


def _beside_autogluon(line):
    return {
        "metric": _title(line["metric"]),
        "bnmtl (s)": f"{line['ours']:.3g}",
        "AutoGluon (s)": f"{line['autogluon']:.3g}",
        "times faster": f"{line['ratio']:.0f}",
        "least of the repeats": f"{line['least_ratio']:.0f}",
        "score": f"{line['score']:.5f}",
        "AutoGluon's score": f"{line['autogluon_score']:.5f}",
        "models chosen": f"{line['chosen']:.0f}",
        "by AutoGluon": f"{line['autogluon_chosen']:.0f}",
    }


# What a step was to cost, from measurements in plain numpy on another machine; later metrics had no
# aim.
_AIMS = {
    "accuracy": 1.6,
    "f_score": 1.6,
    "lift": 4.3,
    "roc_area": 9.5,
    "average_precision": 15,
    "break_even_point": 4.3,
    "root_mean_squared_error": 0.015,
    "cross_entropy": 4.2,
}


def _step(line):
    return {
        "metric": _title(line["metric"]),
        "once (s)": f"{line['once']:.2g}" if line["once"] else "",
        "step (ms)": f"{1000 * line['step']:.3g}",
        "aim (ms)": f"{_AIMS[line['metric']]:g}" if line["metric"] in _AIMS else "",
        "metric for each model (ms)": f"{1000 * line['plain']:.3g}",
        "times faster": f"{line['ratio']:.0f}",
    }


if __name__ == "__main__":
    study.main(__spec__.name)
