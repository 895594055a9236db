"""The settings of the profiles of a library: those of appendix 4.B of the thesis, and ours.

`DIFFERENCES` lists where the settings of the studies differ from the appendix, because scikit-learn
does not have a variant or to limit the time. The profile "thesis" also has those of `later`.
"""

import itertools

import numpy as np

from bnmtl.ensembles.library.columns import BINS, CODES, NUMBERS
from bnmtl.ensembles.library.families import N_BAGGED, N_FOREST, N_MODERN
from bnmtl.ensembles.library.networks import TOGETHER

TREE_STEPS = tuple(2**k for k in range(1, 12))
STUMP_STEPS = tuple(2**k for k in range(1, 14))
PRUNING = (0.0, 1e-4, 3e-4, 1e-3, 3e-3)
STYLES = (("gini", None), ("entropy", "Laplace"))
LATER_STYLES = (("gini", "Laplace"), ("entropy", None))
FOREST_FEATURES = (1, 2, 4, 6, 8, 12, 16, 20)
SVM_COSTS = tuple(10.0**k for k in range(-7, 4))
SVM_WIDTHS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.0)
RIDGES = (0.0, *(10.0**k for k in range(-8, 5)))
HIDDEN_UNITS = (1, 2, 4, 8, 32, 128)
MOMENTA = (0.0, 0.2, 0.5, 0.9)
EPOCHS = (1, 2, 4, 8, 16, 32, 64, 128)
N_NEIGHBORS = 26
KERNEL_WIDTHS = tuple(2.0**k for k in range(11))
N_BINS = (3, 5, 8)

THESIS_DIFFERENCES = (
    ("decision trees", "ten styles of IND and C4", "gini; entropy, Laplace leaves; 5 prunings"),
    ("bagged trees", "100 trees of each style", "the same of two styles"),
    ("boosted trees", "each style, 2 - 2048 steps", "gini and entropy; the same steps"),
    ("boosted stumps", "five criteria, resampled", "gini, resampled and weighted; the same steps"),
    ("random forests", "Breiman-Cutler, 1024 trees", "scikit-learn, 1024 trees"),
    ("SVMs", "SVMLight, C 1e-7 - 1e3", "libsvm, the same C, 100,000 iterations at most"),
    ("neural nets", "many epochs", "the same sizes and momenta; eight epochs up to 128"),
    ("logistic regression", "ridge 1e-8 - 1e4, none", "the same"),
    ("nearest neighbors", "26 k, gain ratio, kernels", "the same"),
    ("naive Bayes", "normal, kernel, supervised bins", "normal; 3, 5 and 8 even bins"),
    ("nominal attributes", "as they are and as 0 and 1", "the same"),
)
DIFFERENCES = (
    *THESIS_DIFFERENCES,
    ("Bayesian networks, multi-nets, TAN", "none", "ours; TAN by pyAgrum if it is installed"),
)


def thesis(n_rows, columns):
    """Settings of the appendix, as far as there are such learners here, and more of ours.

    Left out are the tree styles BAYES, C4, MML and SMML with gain ratio, message lengths and
    Bayesian smoothing, three of five criteria of stumps, and kernel estimates and supervised bins
    of naive Bayes.
    """
    forms = (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,)
    yield from _trees(forms, PRUNING, N_BAGGED, STYLES)
    yield from _boosting(forms, TREE_STEPS, ("gini", "entropy"), STUMP_STEPS, (True, False))
    yield from _forests("random forests", forms, columns, FOREST_FEATURES, N_FOREST)
    yield from support_vectors(columns.n_numbers, SVM_COSTS, SVM_COSTS, SVM_WIDTHS)
    yield from _grid("neural nets", units=HIDDEN_UNITS, momentum=MOMENTA, epochs=EPOCHS)
    yield from _grid("logistic regression", ridge=RIDGES)
    numbers = np.unique(np.geomspace(1, n_rows, N_NEIGHBORS).round().astype(int)).tolist()
    yield from _neighbors(("Euclidean", "gain ratio"), numbers, numbers, KERNEL_WIDTHS)
    yield from _naive_bayes(forms, N_BINS)
    yield from _networks(N_BINS, ("default", "BIC", "BDs"), ("default", "hill climbing"))
    yield from _together(columns, N_BINS, ("default", "BIC"))
    for bins, together in itertools.product(N_BINS, (True, False)):
        yield {"family": "multi-net", "columns": f"{BINS} {bins}", "together": together}
    yield from _tree_augmented(N_BINS)
    yield from later(columns)


def later(columns):
    """What the profile "thesis" has beyond the settings of the studies, all of it trees.

    Entropy without smoothing is ID3. Stumps of the second criterion end at 2048 steps, to limit the
    time.
    """
    forms = (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,)
    yield from _trees(forms, PRUNING, N_BAGGED, LATER_STYLES)
    stumps = {"criterion": ("entropy",), "depth": (1,), "steps": TREE_STEPS}
    yield from _grid("boosted shallow trees", columns=forms, **stumps)
    yield from _forests("extra trees", forms, columns, FOREST_FEATURES, N_FOREST)
    yield from _grid("bagged PETs", columns=forms, enhanced=(False, True))
    yield from _grid("MOB-ESP", columns=forms)
    yield from _grid("DECORATE", members=(15, 50))


def small(n_rows, columns):
    """About 75 settings that differ from each other, for minutes."""
    forms = (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,)
    yield from _trees(forms, (0.0, 1e-3, 3e-3), N_BAGGED, STYLES)
    yield from _boosting(forms, (2, 8, 32, 128), ("gini",), (2, 8, 32, 128, 512), (False,))
    yield from _forests("random forests", forms, columns, (1, 2, 4, 8), N_FOREST // 4)
    yield from support_vectors(columns.n_numbers, (0.01, 1.0), (1.0, 100.0), (0.01, 0.05, 0.1))
    yield from _grid("neural nets", units=(2, 8, 32), momentum=(0.9,), epochs=(4, 16, 64))
    yield from _grid("logistic regression", ridge=(0.0, 0.1, 1.0, 10.0, 100.0))
    numbers = np.unique(np.geomspace(1, n_rows, 9).round().astype(int)).tolist()
    yield from _neighbors(("Euclidean",), numbers, numbers[2:7], (4.0, 16.0, 64.0))
    yield from _naive_bayes(forms, N_BINS)
    yield from _networks((5,), ("default", "BIC"), ("default",))
    yield from _together(columns, (5,), ("default", "BIC"))
    yield {"family": "multi-net", "columns": f"{BINS} 5", "together": True}
    yield from _tree_augmented((5,))


def modern(n_rows, columns):
    """About 30 settings of the families that are best on tables today, and of networks."""
    yield from _grid("gradient boosting", rate=(0.1,), leaf=(20,), steps=(25, 50, 100, 200))
    yield from _grid("gradient boosting", rate=(0.05,), leaf=(5,), steps=(25, 50, 100, 200))
    for form in (NUMBERS, CODES) if columns.sizes.any() else (NUMBERS,):
        width = columns.n_numbers if form == NUMBERS else len(columns.categories)
        features, trees = {"features": (max(1, round(width**0.5)),)}, {"trees": (N_MODERN,)}
        yield from _grid("random forests", columns=(form,), **features, **trees)
        yield from _grid("extra trees", columns=(form,), **features, leaf=(1, 3), **trees)
    yield from _grid("logistic regression", ridge=(0.1, 1.0, 10.0, 100.0))
    gamma = (1 / columns.n_numbers,)
    yield from _grid("SVMs", kernel=("rbf",), gamma=gamma, C=(0.1, 1.0, 10.0))
    yield from _networks((5,), ("default",), ("default",))
    yield from _together(columns, (5,), ("default",))
    yield {"family": "multi-net", "columns": f"{BINS} 5", "together": True}


PROFILES = {"modern": modern, "small": small, "thesis": thesis}


def _grid(family, **values):
    for combination in itertools.product(*values.values()):
        yield {"family": family, **dict(zip(values, combination, strict=True))}


def _styled(family, styles, **values):
    for criterion, smoothing in styles:
        yield from _grid(family, criterion=(criterion,), smoothing=(smoothing,), **values)


def _trees(forms, alphas, n_bagged, styles):
    yield from _styled("decision trees", styles, columns=forms, alpha=alphas)
    yield from _styled("bagged trees", styles, columns=forms, trees=(n_bagged,))


def _boosting(forms, tree_steps, criteria, stump_steps, resampling):
    yield from _grid("boosted trees", columns=forms, criterion=criteria, steps=tree_steps)
    yield from _grid("boosted stumps", columns=forms, resample=resampling, steps=stump_steps)


def _forests(family, forms, columns, numbers, trees):
    for form in forms:
        width = columns.n_numbers if form == NUMBERS else len(columns.categories)
        kept = [number for number in numbers if number <= width]
        yield from _grid(family, columns=(form,), features=kept, trees=(trees,))


def support_vectors(n_numbers, costs, radial_costs, widths):
    """Linear, polynomial and radial kernels."""
    yield from _grid("SVMs", kernel=("linear",), C=costs)
    gamma = 1 / n_numbers
    yield from _grid("SVMs", kernel=("poly",), degree=(2, 3), gamma=(gamma,), C=costs)
    yield from _grid("SVMs", kernel=("rbf",), gamma=widths, C=radial_costs)


def _neighbors(distances, uniform, weighted, widths):
    for distance in distances:
        for weights, numbers in (
            ("uniform", uniform),
            ("distance", weighted),
            ("kernel", widths),
        ):
            fixed = {"distance": (distance,), "weights": (weights,)}
            yield from _grid("nearest neighbors", **fixed, number=numbers)


def _naive_bayes(forms, bins):
    for form in forms:
        yield {"family": "naive Bayes", "columns": form, "kind": "Gaussian"}
    for number in bins:
        yield {"family": "naive Bayes", "columns": f"{BINS} {number}", "kind": "multinomial"}


def _networks(bins, scores, searches):
    forms = tuple(f"{BINS} {number}" for number in bins)
    fixed = {"columns": forms, "score": scores, "search": searches}
    yield from _grid("Bayesian network", **fixed, principal=(False, True))


def _together(columns, bins, scores):
    """Networks of all tasks, if there are tasks, with shared tables and with separate ones.

    Only the default score has shared tables. Separate tables have the penalty 0.9, because 0.99
    would bind their arcs too strongly.
    """
    if columns.task is None:
        return
    forms = tuple(f"{BINS} {number}" for number in bins)
    shared = {"score": ("default",), "penalty": (0.9, 0.99), "shared": (True,)}
    separate = {"score": scores, "penalty": (0.9,), "shared": (False,)}
    yield from _grid(TOGETHER, columns=forms, **shared)
    yield from _grid(TOGETHER, columns=forms, **separate)


def _tree_augmented(bins):
    for number in bins:
        yield {"family": "tree-augmented naive Bayes", "columns": f"{BINS} {number}"}
