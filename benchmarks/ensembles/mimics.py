"""How well, how fast and how small models are that mimic a selected ensemble (thesis, 4.4)."""

from sklearn.ensemble import RandomForestRegressor

from benchmarks.ensembles.analyses import RMSE, selector_of, values
from benchmarks.ensembles.problem_rows import QUICK, parts_of, plain_library
from bnmtl.ensembles import (
    MarginalSampler,
    Mimic,
    Munge,
    NaiveBayesSampler,
    NetworkSampler,
    best_of_families,
    best_single,
)

SIZES = (4000, 10_000, 25_000, 50_000, 100_000)
LARGEST = (200_000, 400_000)  # in the first trial only
# ADULT is said to compress badly. All columns of NURSERY are nominal and no row occurs twice, so
# neighbors mostly exchange their only difference.
OTHERS = ("ADULT", "NURSERY")
OTHER_SIZE = (50_000,)


def sizes_of(problem, trial):
    """Numbers of pseudo-cases."""
    if problem == QUICK:
        return (100, 200)
    return SIZES + (LARGEST if trial == 0 else ())


def mimic(problem, trial):
    """Tables 4.6 - 4.8: errors, seconds and bytes of the ensemble, its mimic and single models."""
    parts = parts_of(problem, trial)
    store = plain_library(problem, trial)
    selector = selector_of(problem, RMSE).fit(store)
    teacher = selector.refit(*parts.train, hillclimb=parts.hillclimb)
    X, y = parts.test
    found = {
        "ensemble": values(y, teacher.predict_proba(X)[:, 1], [RMSE])[RMSE],
        "models": teacher.n_models_,
        "single": _tested(store, best_single(store, RMSE), len(y), y),
        "net": _tested(store, best_of_families(store, RMSE)["neural nets"], len(y), y),
    }
    for name, (student, sampler, sizes) in _variants(problem, trial).items():
        model = Mimic(teacher, student, sampler, sizes, random_state=trial, patience=None)
        # Neither the members nor the pseudo-cases know the cases of hill climbing.
        model.fit(parts.train[0], held_out=parts.hillclimb[0])
        found[name] = _measured(model, X, y)
    return found


def _variants(problem, trial):
    """Students and samplers by name; the controls for the problems that compress badly."""
    every = sizes_of(problem, trial)
    found = {"mimic": (None, Munge(), every)}
    if problem not in (*OTHERS, QUICK):
        return found
    size = OTHER_SIZE if problem in OTHERS else every[:1]
    forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=trial, n_jobs=-1)
    return found | {
        "forest": (forest, Munge(), size),
        "original neighbors": (None, Munge(neighbors="original"), size),
        "network data": (None, NetworkSampler(), size),
        "naive Bayes data": (None, NaiveBayesSampler(), size),
        "marginal data": (None, MarginalSampler(), size),
    }


def _measured(model, X, y):
    """Errors by number of pseudo-cases, that of the best fidelity, costs of teacher and student."""
    sizes = model.learning_curve_["size"]
    staged = zip(sizes, model.staged_predict_proba(X), strict=True)
    return {
        "errors": {str(size): values(y, p[:, 1], [RMSE])[RMSE] for size, p in staged},
        "seconds": {name: round(float(value), 5) for name, value in model.seconds_.items()},
        "bytes": {name: int(value) for name, value in model.bytes_.items()},
        "fidelity": round(model.fidelity_, 6),
        "size": model.size_,
    }


def _tested(store, ensemble, n_test, y):
    """Test error of a model of the store; the test cases are the last of the part."""
    p = ensemble.predict_proba("test")[-n_test:, 1]
    return values(y, p, [RMSE])[RMSE]
