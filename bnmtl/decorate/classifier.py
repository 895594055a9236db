"""DECORATE: ensembles whose members learn from artificial cases labeled against the ensemble."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from bnmtl.classification import NetworkSampler
from bnmtl.classification.columns import rows_like
from bnmtl.decorate.artificial import (
    Artificial,
    check_generator,
    generator_of,
    in_proportion,
    learns,
    stacked,
    take,
    unlabeled_rows,
)
from bnmtl.decorate.committee import Committee, about_member, check_estimator, diversity
from bnmtl.decorate.inputs import columns_of
from bnmtl.errors import (
    MOST_MEMBERS,
    InputError,
    InputTypeError,
    check_choice,
    check_number,
    check_whole,
    located,
    warn,
)
from bnmtl.metrics.cases import checked_weights
from bnmtl.metrics.prediction import accuracy, squared_error
from bnmtl.seeding import generator, seed_of, with_seed
from bnmtl.tasks import split
from bnmtl.tasks.encoding import column_of, tasks_of
from bnmtl.threads import fitted_alone
from bnmtl.wording import listed, type_of


class ByTask(Artificial):
    """Cases of several tasks.

    The tasks have the same shares of the artificial cases as of the weights. Cases of a task depend
    on nothing but the cases of this task, unless networks are learned together. Of a single task
    they are drawn as without a column of tasks.

    Parameters
    ----------
    kind, X, columns, weights, seed, unlabeled
        As in `generator_of`, X with the column of the tasks.
    task_column : str or int

    Raises
    ------
    TypeError, ValueError
        As `generator_of`; for tasks with too few cases, without unlabeled ones if they are drawn,
        and without other columns.
    """

    def __init__(self, kind, X, columns, weights, seed, task_column, unlabeled=None):
        check_generator(kind, unlabeled)
        self._X = X
        self._parts = _parts(X, columns, weights, task_column)
        total = np.array([part.weights.sum() for part in self._parts.values()])
        self._shares = total / total.sum()
        kind = NetworkSampler() if isinstance(kind, str) and kind == "network" else kind
        for name, part in self._parts.items() if learns(kind) else ():
            if len(part.X) < 2:
                raise InputError(
                    "must have two cases or more for a `generator` that learns; it has one",
                    task=name,
                    options=("generator",),
                    remedy="add cases, or leave the task out, or set `generator='marginals'`",
                )
        if isinstance(kind, NetworkSampler) and len(self._parts) > 1:
            self._generators = _Together(kind, self._parts, seed)
        else:
            if unlabeled is not None:
                unlabeled = unlabeled_rows(unlabeled, X, columns)
            self._generators = _Alone(kind, self._parts, seed, task_column, unlabeled)

    def draw(self, n, seed):
        """Draw ``n`` cases, sorted by task."""
        numbers = generator(seed, "tasks").multinomial(n, self._shares).tolist()
        counts = {name: n for name, n in zip(self._parts, numbers, strict=True) if n}
        drawn = self._generators.draw(counts, seed)
        # The task, and gaps in columns that are empty in the task, are those of its first case.
        first = np.repeat([self._parts[name].first for name in counts], list(counts.values()))
        rest = pd.DataFrame(take(self._X, first))
        ends = np.cumsum(list(counts.values()))
        tables = []
        for name in counts:
            own = (column for _, column in pd.DataFrame(drawn[name]).items())
            tables.append(dict(zip(self._parts[name].positions, own, strict=True)))
        columns = []
        for at, (_, column) in enumerate(rest.items()):
            cells = [
                table[at] if at in table else column[end - n : end]
                for table, end, n in zip(tables, ends, counts.values(), strict=True)
            ]
            columns.append(pd.concat(cells, ignore_index=True))
        return rows_like(self._X, columns)


class _Part(NamedTuple):
    """The cases of a task, without the column of the tasks and columns that are empty there."""

    X: object
    columns: list
    weights: np.ndarray
    first: int
    positions: list


def _parts(X, columns, weights, task_column):
    """The `_Part` of each task, sorted by name."""
    frame = pd.DataFrame(X).reset_index(drop=True)
    if frame.shape[1] < 2:
        message = f"must have another column beside `{task_column}`"
        raise InputError(message, argument="X", remedy="add features")
    parts = {}
    for name, cases in split(frame, frame.columns[column_of(X, task_column)]).items():
        if not cases.shape[1]:
            message = "must have a value in some column"
            raise InputError(message, task=name, remedy="leave the task out")
        rows = cases.index.to_numpy()
        positions = [frame.columns.get_loc(label) for label in cases]
        cases = _like(X, cases)
        read = columns_of(cases, [not columns[at].is_numeric for at in positions])
        parts[name] = _Part(cases, read, weights[rows], rows[0], positions)
    return parts


def _like(X, frame):
    """Rows of a frame, of the same kind as X."""
    return frame.reset_index(drop=True) if isinstance(X, pd.DataFrame) else frame.to_numpy()


def _seeds(names, seed):
    """A seed for each task; that of a single one is the given one."""
    if len(names) == 1:
        return dict.fromkeys(names, seed)
    return {name: int(generator(seed, "task", name).integers(2**63)) for name in names}


class _Alone:
    """A generator for each task."""

    def __init__(self, kind, parts, seed, task_column, unlabeled):
        others = dict.fromkeys(parts)
        if unlabeled is not None:
            others = _unlabeled_by_task(unlabeled, parts, task_column)
        self._names, self._generators = list(parts), {}
        seeds = _seeds(self._names, seed)
        for name, part in parts.items():
            cases = part.X, part.columns, part.weights
            with located(task=name):
                self._generators[name] = generator_of(kind, *cases, seeds[name], others[name])

    def draw(self, counts, seed):
        """Draw numbers of cases by task."""
        seeds, drawn = _seeds(self._names, seed), {}
        for name, n in counts.items():
            with located(task=name):
                drawn[name] = self._generators[name].draw(n, seeds[name])
        return drawn


class _Together:
    """Networks of all tasks, learned together."""

    def __init__(self, sampler, parts, seed):
        seeds, frames = _seeds(list(parts), seed), {}
        for name, part in parts.items():
            cases = in_proportion(part.X, part.weights, seeds[name])
            if not isinstance(cases, pd.DataFrame):
                cases = pd.DataFrame(cases, columns=[str(at) for at in part.positions])
            frames[name] = cases
        self._sampler = with_seed(sampler, seed).fit(frames)

    def draw(self, counts, seed):
        """Draw numbers of cases by task."""
        most = max(counts.values())
        drawn = self._sampler.sample(most, random_state=generator(seed, "network"))
        return {name: drawn[name][:n] for name, n in counts.items()}


def _unlabeled_by_task(unlabeled, parts, task_column):
    """The unlabeled cases of each task, with the columns of its cases."""
    with located(argument="unlabeled"):
        task = tasks_of(unlabeled, task_column)
    lacking = [name for name in parts if name not in task]
    if lacking:
        raise InputError(
            f"must have rows of each task with labeled cases; there are none of {listed(lacking)}",
            argument="unlabeled",
            options=("generator",),
            remedy="add some, or choose another `generator`",
        )
    frame = pd.DataFrame(unlabeled)
    return {
        name: _like(unlabeled, frame.iloc[task == name, part.positions])
        for name, part in parts.items()
    }


# A tree of scikit-learn that errs on average as often as J48, the C4.5 of Weka.
_J48 = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=0.003)
#: Arguments of `DecorateClassifier` by name: those of Weka, and those of the thesis, which replaces
#: probabilities of 0 by a small number that it does not give.
SETTINGS = {
    "weka": {"estimator": _J48, "n_estimators": 15, "max_iterations": 50, "zero": "uniform"},
    "thesis": {"estimator": _J48, "n_estimators": 15, "max_iterations": 50, "zero": 1e-6},
}


class DecorateClassifier(Committee):
    """Diverse ensemble creation by oppositional relabeling of artificial training examples.

    The first member is fitted to the training cases. Each further one is fitted to these and to
    artificial cases, whose labels are drawn with probabilities inversely proportional to those of
    the ensemble so far. It stays if the error of the ensemble on the training cases does not grow.
    The ensemble predicts the mean of its members' probabilities.

    It improves on its tree but seldom on a random forest. On ten tables with 30 and 100 labels its
    accuracy was 1.5 and 2.7 points above that of its tree, 2.0 and 2.7 points below that of a
    forest, and above the forest's on one table; `bnmtl.trees.EnhancedBaggedPETs` had the lowest log
    loss (`python -m benchmarks.decorate.few_labels`). Take a forest to predict, and DECORATE for
    members that a forest cannot have, such as networks, or for a committee that must disagree, as
    in `bnmtl.active.ActiveDecorate`.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``predict_proba``. Decision trees of scikit-learn receive numbers, one indicator per
        nominal value; missing numbers are left to the tree, a missing nominal cell is a value.
        Others receive frames as they are. A `bnmtl.classification.BayesNetClassifier` needs
        ``unseen="ignore"`` where columns are numbers, because artificial ones may be new. None is
        ``DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)``, which made better
        ensembles than a full tree. `fit` sets all of its ``random_state`` parameters. `SETTINGS`
        has the arguments of Weka and of the thesis.
    n_estimators : int, default=15
        Number of members at which the search for further ones ends.
    max_iterations : int, default=50
        Number of fits after which it ends, too.
    artificial_size : float, default=1.0
        Number of artificial cases per training case, at least one case in all.
    generator : str, callable or object, default="marginals"
        How artificial cases are drawn.

        - "marginals": columns are independent; numbers are normal (whole if all in the column are
          whole), nominal values have their frequencies plus 1, over the declared categories or the
          observed values; no cell is missing.
        - "uniform": columns are independent; numbers between the smallest and the largest, each
          nominal value with the same probability.
        - "pool": from 10 n cases that "marginals" drew once, with repetition.
        - "unlabeled": from ``unlabeled`` of the fit, with repetition.
        - "network": from a Bayesian network learned from the training cases
          (`bnmtl.classification.NetworkSampler`).
        - a function (X, n, rng) that returns n rows; or an object with ``fit(X)`` and
          ``sample(n, random_state)``, such as the samplers of `bnmtl.ensembles`.

        Networks and objects learn from n cases, each repeated or left out in proportion to its
        ``sample_weight``. A function receives the cases with a weight above 0 as they are.
        With ``task_column``, all of this is done for each task, without the column, except that
        networks are learned together: their tasks share values, as they share tables.
    zero : "uniform" or float, default="uniform"
        If the ensemble gives a class the probability 0: "uniform" draws a label among these
        classes; a number replaces the 0.
    reject : {"error", "squared"}, callable or None, default="error"
        What must not grow: the share of errors, the squared error of the probabilities summed over
        classes, or any function (y, P, sample_weight), smaller is better. None keeps all members.
    categorical_features : "from_dtype", None, mask, positions or names, default="from_dtype"
        The nominal columns, as in `sklearn.ensemble.HistGradientBoostingClassifier`. "from_dtype":
        categories, text and booleans of a frame. The column of the tasks is nominal in any case.
    task_column : str or int, default=None
        The column of `X` that names the task of each row: its name in a frame, or its position in
        an array. Each artificial case is then drawn for one task, from the cases of this task, and
        the tasks have the same shares of artificial cases as of the weights of cases. A column
        that is empty in all rows of a task stays empty in its artificial cases. The members get
        the column, too, and predict rows of new tasks by their rules: a tree as rows of none of its
        tasks, a `bnmtl.classification.MultitaskBayesNetClassifier` as its ``unknown_task`` says.
    random_state : None, int or numpy.random.Generator, default=None
        With an int, results depend only on data and parameters.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
    estimators_ : list of classifiers
        Trees of scikit-learn expect encoded rows. A single `DummyClassifier` if there is one class.
    errors_ : pandas.DataFrame
        One row per trial: whether the member was accepted, and the error and `diversity` on the
        training cases of the ensemble with it.
    n_trials_ : int
        Number of fitted classifiers.
    n_features_in_ : int
    feature_names_in_ : numpy.ndarray of str
        Defined if `X` has column names, all of them text.

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for parameters out of range, an ``estimator`` without ``predict_proba``, weights
        it does not take, artificial cases with other columns or text among numbers, ``unlabeled``
        without the generator that takes them, a ``reject`` that returns no number; for a table
        without the column of the tasks or with gaps in it, and tasks with too few cases for the
        generator; as in scikit-learn for invalid `X` and `y`.

    References
    ----------
    Melville (2005), "Creating diverse ensemble classifiers to reduce supervision", chapter 3,
    algorithm 2; section 4.6 for "uniform", "pool" and "unlabeled"; section 7.1 for "squared".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecorateClassifier(random_state=0).fit(X[::5], y[::5])
    >>> len(model.estimators_), bool(model.score(X, y) > 0.9)
    (15, True)
    """

    def __init__(
        self,
        estimator=None,
        n_estimators=15,
        max_iterations=50,
        artificial_size=1.0,
        generator="marginals",
        zero="uniform",
        reject="error",
        categorical_features="from_dtype",
        task_column=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_iterations = max_iterations
        self.artificial_size = artificial_size
        self.generator = generator
        self.zero = zero
        self.reject = reject
        self.categorical_features = categorical_features
        self.task_column = task_column
        self.random_state = random_state

    @fitted_alone
    def fit(self, X, y, sample_weight=None, *, unlabeled=None):
        """Fit the members one after another.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)
        y : array-like of labels, shape (n_cases,)
        sample_weight : array-like of numbers, shape (n_cases,), default=None
            Number of times each case counts, also in the statistics of artificial cases, which
            count once each. Fractions may have any scale.
        unlabeled : pandas.DataFrame or array-like, shape (n_unlabeled, n_columns), default=None
            Cases from which ``generator="unlabeled"`` draws, with the column of the tasks if there
            is one. Cases of tasks that `X` lacks are not drawn.

        Returns
        -------
        DecorateClassifier
        """
        self._check_parameters()
        X, y, weights = self._read(X, y, sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        columns = self._encode_columns(X, self.categorical_features, self.task_column)
        seed = seed_of(self.random_state)
        cases = self.generator, X, columns, weights, seed
        if self.task_column is None:
            artificial = generator_of(*cases, unlabeled)
        else:
            artificial = ByTask(*cases, self.task_column, unlabeled)
        weights = None if sample_weight is None else weights
        training = _Training(self, artificial, X, y, codes, weights)
        self.estimators_, rows = training.grown(seed)
        self.errors_ = pd.DataFrame(rows, columns=["trial", "accepted", "error", "diversity"])
        self.n_trials_ = len(rows)
        return self

    def staged_predict_proba(self, X):
        """Probabilities by the first member, the first two, ...

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_cases, n_columns)

        Yields
        ------
        numpy.ndarray of float, shape (n_cases, n_classes)
        """
        total = 0.0
        for number, p in enumerate(self.member_probabilities(X), 1):
            total = total + p
            yield total / number

    def _default_estimator(self):
        return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)

    def _read_rows(self, X):
        X = super()._read_rows(X)
        if self.task_column is not None:
            tasks_of(X, self.task_column)  # A gap is an error, whatever the members make of it.
        return X

    def _read(self, X, y, sample_weight):
        """Checked rows, labels and weights of the cases with a weight above 0."""
        X, y = self._read_cases(X, y)
        weights = checked_weights(sample_weight, len(y), of="row", name="sample_weight")
        if (weights == 0).any():
            at = np.flatnonzero(weights)
            X, y, weights = take(X, at), y[at], weights[at]
        estimator = self._default_estimator() if self.estimator is None else self.estimator
        if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
            message = f"must take `sample_weight` in its `fit`, got {type_of(self.estimator)}"
            raise InputError(message, argument="estimator", remedy="give no weights")
        return X, y, weights

    def _check_parameters(self):
        check_estimator(self.estimator)
        check_whole("n_estimators", self.n_estimators, least=1, most=MOST_MEMBERS)
        check_whole("max_iterations", self.max_iterations, least=1, most=MOST_MEMBERS)
        if self.n_estimators > self.max_iterations:
            most = self.max_iterations
            message = f"is less than `n_estimators` members; there will be {most} at most"
            warn(message, argument="max_iterations", options=("n_estimators",))
        check_number("artificial_size", self.artificial_size, above=0)
        if not (isinstance(self.zero, str) and self.zero == "uniform"):
            remedy = '"uniform" draws among the classes with probability 0'
            check_number("zero", self.zero, above=0, below=1, remedy=remedy)
        if self.reject is not None and not callable(self.reject):
            check_choice("reject", self.reject, ("error", "squared"))


class _Training:
    """The growth of one ensemble.

    Parameters
    ----------
    model : DecorateClassifier
    artificial : object with ``draw(n, seed)``
    X : pandas.DataFrame or numpy.ndarray
    y, codes : numpy.ndarray of shape (n_cases,)
        Labels, and their positions in the classes.
    weights : numpy.ndarray of float or None
    """

    def __init__(self, model, artificial, X, y, codes, weights):
        self._model, self._artificial = model, artificial
        self._y, self._codes, self._weights = y, codes, weights
        self._inputs = model._inputs_of(X)
        self._n_artificial = max(1, int(model.artificial_size * len(y)))

    def grown(self, seed):
        """The members, and number, acceptance, error and diversity of each trial."""
        model, classes = self._model, self._model.classes_
        members = [self._fitted(seed, 1)]
        known = [model._probabilities_by(members[0], self._inputs)]
        error = self._error(known)
        rows = [(1, True, error, 0.0)]
        while (
            len(members) < model.n_estimators
            and len(rows) < model.max_iterations
            and len(classes) > 1
        ):
            trial = len(rows) + 1
            member = self._fitted(seed, trial, members)
            candidate = [*known, model._probabilities_by(member, self._inputs)]
            new_error = self._error(candidate)
            accepted = model.reject is None or new_error <= error
            spread = diversity(np.stack(candidate), weights=self._weights)
            rows.append((trial, bool(accepted), new_error, spread))
            if accepted:
                members.append(member)
                known, error = candidate, new_error
        return members, rows

    def _fitted(self, seed, trial, members=()):
        """A member fitted to the cases and, after the first, to artificial ones."""
        model, inputs, y, weights = self._model, self._inputs, self._y, self._weights
        if members:
            draws = int(generator(seed, "cases", trial).integers(2**63))
            drawn = self._artificial.inputs(self._n_artificial, draws, model._encode)
            classes = model.classes_
            with about_member("must predict artificial cases, whose values may be new"):
                known = [model._probabilities_by(member, drawn) for member in members]
            mean = np.mean(known, axis=0)
            labels = opposite_labels(mean, model.zero, generator(seed, "labels", trial))
            inputs, y = stacked(inputs, drawn), np.concatenate([y, classes[labels]])
            if weights is not None:
                weights = np.concatenate([weights, np.ones(self._n_artificial)])
        options = {} if weights is None else {"sample_weight": weights}
        return model._member(seed, trial, inputs, y, **options)

    def _error(self, known):
        """What must not grow, of an ensemble."""
        reject, mean = self._model.reject, np.mean(known, axis=0)
        if callable(reject):
            return _checked_error(reject(self._y, mean, self._weights))
        if reject == "squared":
            return squared_error(self._codes, mean, self._weights)
        return 1 - accuracy(self._codes, mean, self._weights)


def _checked_error(found):
    """What a function of the user returned, if it is a number."""
    try:
        error = float(found) if np.ndim(found) == 0 else None
    except (TypeError, ValueError):
        error = None
    if error is None:
        raise InputTypeError(f"must return a number, got {type_of(found)}", argument="reject")
    if np.isnan(error):
        raise InputError(f"must return a number, got {error!r}", argument="reject")
    return error


def opposite_labels(p, zero, rng):
    """Draw labels with probabilities inversely proportional to those of an ensemble.

    Parameters
    ----------
    p : numpy.ndarray of float, shape (n_cases, n_classes)
    zero : "uniform" or float
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (n_cases,)
        Positions of classes.
    """
    if not isinstance(zero, str):
        p = np.where(p == 0, zero, p)
        p = p / p.sum(axis=1, keepdims=True)
    # Ratios to the smallest probability, because inverses of tiny ones are infinite.
    smallest, impossible = p.min(axis=1, keepdims=True), p == 0
    inverse = np.divide(smallest, p, out=impossible.astype(float), where=smallest > 0)
    if p.shape[1] == 2:
        inverse = p[:, ::-1]  # the same, without rounding
    shares = np.cumsum(inverse, axis=1)
    return (rng.random(len(p))[:, None] * shares[:, -1:] >= shares).sum(axis=1)
