"""Mimics: small fast models of an ensemble, trained on its predictions of pseudo-cases."""

import time
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from bnmtl.classification.columns import is_number, plain, read_columns
from bnmtl.classification.network import NetworkClassifier
from bnmtl.ensembles.compression.munge import Munge
from bnmtl.ensembles.entries import checked_column, pickled_bytes
from bnmtl.errors import MOST_ROWS, InputError, InputTypeError, check_choice, check_whole, located
from bnmtl.progress import Reporter
from bnmtl.seeding import generator, seed_of, seeded
from bnmtl.tasks.encoding import column_of, tasks_of
from bnmtl.tasks.labels import LabelScore
from bnmtl.tasks.tables import matched_rows, plain_table
from bnmtl.threads import fitted_alone
from bnmtl.wording import type_of

_N_HIDDEN = 256
# A pass over the pseudo-cases is an epoch.
MAX_EPOCHS = 200
_PATIENCE = 10
# Log odds beyond would dominate squared errors.
_MOST_CERTAIN = 1e-3
_CHUNK = 20_000


class Encoder:
    """Columns as numbers: nominal ones as one indicator per value, missing numbers as medians.

    Indicators of missing numbers are added where the fitted rows lack some. Values not seen in the
    fit have no indicator. Columns of a frame are sorted by name, so that the order in which they
    are given does not matter.

    Parameters
    ----------
    rows : pandas.DataFrame or numpy.ndarray
        Rows to which it is fitted.
    scaled : bool
        Whether all columns are standardized.
    """

    def __init__(self, rows, scaled):
        names = [str(label) for label in rows.columns] if isinstance(rows, pd.DataFrame) else None
        self._order = slice(None) if names is None else np.argsort(names, kind="stable")
        frame = self._sorted(rows)
        is_numeric = np.array([is_number(dtype) for dtype in frame.dtypes])
        numbers = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        nominal = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        columns = make_column_transformer(
            (numbers, np.flatnonzero(is_numeric)), (nominal, np.flatnonzero(~is_numeric))
        )
        self._pipeline = make_pipeline(columns, *([StandardScaler()] if scaled else []))
        self._pipeline.fit(plain(frame))

    def __call__(self, rows):
        """Encoded rows, float32, shape (n_rows, n_inputs)."""
        frame = self._sorted(rows)
        parts = [
            self._pipeline.transform(plain(frame[at : at + _CHUNK])).astype(np.float32)
            for at in range(0, len(frame), _CHUNK)
        ]
        return np.concatenate(parts)

    def _sorted(self, rows):
        return pd.DataFrame(rows).iloc[:, self._order]


class NetStudent:
    """A neural net of 256 hidden units, trained until it no longer gets closer to the teacher.

    With the target "probability" its output is logistic and the loss is the cross-entropy of the
    teacher's probabilities, with "log-odds" linear and squared. After each epoch its squared error
    to the teacher's probabilities is measured on held-out cases; training ends after 10 epochs
    without improvement, and the best epoch is kept.

    Parameters
    ----------
    encode : Encoder
    target : {"probability", "log-odds"}
    """

    def __init__(self, encode, target):
        self._encode, self._target = encode, target

    def fit(self, rows, p, held_out, seed, report):
        """Train on rows with probabilities.

        Parameters
        ----------
        rows : DataFrame or array, shape (n_rows, n_columns)
        p : numpy.ndarray of float, shape (n_rows,)
        held_out : tuple of rows and probabilities
        seed : int
        report : callable
            Receives the share of the longest possible training after each epoch.
        """
        inputs, targets = self._encode(rows), _targets_of(p, self._target).astype(np.float32)
        cases, truth = self._encode(held_out[0]), held_out[1]
        net_seed = int(generator(seed, "net").integers(2**31))
        net = MLPRegressor(hidden_layer_sizes=(_N_HIDDEN,), random_state=net_seed)
        net.partial_fit(inputs[:2], targets[:2])  # a first step on two rows creates its weights
        if self._target == "probability":
            # The derivative of the squared error of a linear output and that of the cross-entropy
            # of a logistic one are the same difference of output and target.
            net.out_activation_ = "logistic"
        best, since = np.inf, 0
        for epoch in range(MAX_EPOCHS):
            net.partial_fit(inputs, targets)
            layers = [part.copy() for part in (*net.coefs_, *net.intercepts_)]
            error = np.mean((_outputs(layers, cases) - truth) ** 2)
            since += 1
            if error < best:
                best, since, self._layers = error, 0, layers
            report((epoch + 1) / MAX_EPOCHS)
            if since == _PATIENCE:
                break
        return self

    def predict(self, rows):
        """Probabilities, shape (n_rows,)."""
        return _outputs(self._layers, self._encode(rows))


def _outputs(layers, inputs):
    """Probabilities by a net with one hidden layer of rectified units, and log odds as output."""
    first, second, hidden_bias, bias = layers
    parts = []
    for at in range(0, len(inputs), _CHUNK):
        hidden = inputs[at : at + _CHUNK] @ first
        hidden += hidden_bias
        np.maximum(hidden, 0, out=hidden)
        parts.append((hidden @ second + bias)[:, 0])
    return expit(np.concatenate(parts).astype(float))


class ModelStudent:
    """A scikit-learn regressor of the teacher's probabilities, or a classifier of drawn labels.

    Parameters
    ----------
    model : estimator
        It is not changed.
    encode : Encoder or None
        None hands rows over as they are.
    target : {"probability", "log-odds"}
    """

    def __init__(self, model, encode, target):
        self._model, self._encode, self._target = clone(model), encode, target

    def fit(self, rows, p, held_out, seed, report):
        """As `NetStudent.fit`; without early stopping."""
        self._model = seeded(self._model, seed)
        if is_classifier(self._model):
            targets = (generator(seed, "labels").random(len(p)) < p).astype(int)
            if targets.min() == targets.max():
                message = (
                    "must predict probabilities from which both classes are drawn; all labels are "
                    "the same"
                )
                raise InputError(message, argument="teacher")
        else:
            targets = _targets_of(p, self._target)
        self._model.fit(self._inputs(rows), targets)
        report(1)
        return self

    def _inputs(self, rows):
        return rows if self._encode is None else self._encode(rows)

    def predict(self, rows):
        """Probabilities, shape (n_rows,)."""
        inputs = self._inputs(rows)
        if is_classifier(self._model):
            return self._model.predict_proba(inputs)[:, 1]
        outputs = np.ravel(self._model.predict(inputs))
        return np.clip(outputs, 0, 1) if self._target == "probability" else expit(outputs)


def _targets_of(p, target):
    """Numbers that a student learns."""
    return p if target == "probability" else logit(np.clip(p, _MOST_CERTAIN, 1 - _MOST_CERTAIN))


_SIZES = (4000, 10_000, 25_000, 50_000, 100_000, 200_000, 400_000)
_HELD_OUT = 0.2
_TIMED = 10_000


class Mimic(LabelScore, ClassifierMixin, BaseEstimator):
    """Compress a classifier: train a student on pseudo-cases labeled by the teacher.

    Pseudo-cases are drawn from the cases of the fit, which should be the training cases of the
    teacher. The student learns the teacher's probabilities; it never sees the true classes. A
    student is trained for each number of pseudo-cases, from the smallest; the one that is closest
    to the teacher on held-out real cases predicts. More pseudo-cases often do not help.

    Parameters
    ----------
    teacher : classifier
        Fitted, with ``predict_proba`` and two classes.
    student : regressor or classifier, default=None
        None is a neural net of 256 hidden units on standardized inputs, one per number and per
        value of a nominal column, with a logistic output for the target "probability". After each
        epoch it is compared with the teacher on held-out cases; training ends after 10 epochs
        without improvement, or 200, and the best epoch is kept. Any other student is trained
        without held-out cases. Labels of a classifier are drawn from the teacher's probabilities.
        Nominal columns of a frame are one-hot encoded, and missing numbers replaced by medians with
        an indicator, except for a `sklearn.pipeline.Pipeline` and the classifiers of
        `bnmtl.classification`, which receive the rows as they are.
    sampler : sampler, default=None
        With ``fit(X, y)`` and ``sample(n, random_state)``, such as `NetworkSampler`; None is
        `Munge`. It is fitted with the classes that the teacher predicts.
    sizes : int or sequence of int
        Increasing numbers of pseudo-cases, by default from 4000 to 400000. The cases of a smaller
        number are among those of a larger one.
    target : {"probability", "log-odds"}, default="probability"
        What a regressor learns; log odds of probabilities nearer than 0.001 to 0 or 1 are cut off
        there.
    random_state : None, int or numpy.random.Generator, default=None
        Also seeds a student without a seed.
    progress : bool or callable, default=False
        True shows a progress bar; a callable receives a named tuple (stage, task, done, total,
        score). The steps are pseudo-cases.
    patience : int or None, default=2
        Number of sizes without a better fidelity after which no larger ones are tried, nor labeled
        by the teacher. None tries all.
    task_column : str or int, default=None
        The column that names the task of each row, or its position in an array. Pseudo-cases are
        then drawn within each task, in proportion to its rows, by a sampler for each.

    Attributes
    ----------
    classes_ : numpy.ndarray, shape (2,)
        Those of the teacher.
    learning_curve_ : pandas.DataFrame
        One row per number of pseudo-cases that was tried: size, fidelity, seconds (of training).
    size_ : int
        The number of pseudo-cases with the best fidelity, the smallest among ties.
    fidelity_ : float
        That of the size: mean squared difference of the probabilities of teacher and student on
        the held-out cases; 0 is a perfect copy. It is slightly too low, because the size is chosen
        on these cases, and the default student stops on them. On training rows of the teacher it
        can be much larger than on other rows, so give rows that the teacher has not seen as
        ``held_out``, if there are some.
    seconds_ : pandas.Series
        Of "teacher" and "student": seconds to predict 10,000 cases, the shortest of several runs.
    bytes_ : pandas.Series
        Of "teacher" and "student": bytes of the pickled model; nan if it cannot be pickled.
    n_features_in_ : int

    Raises
    ------
    TypeError, ValueError
        In ``fit``: for a teacher that is not a fitted classifier of two classes, other arguments
        out of range, rows that a sampler or a student does not take, and tasks with one row
        besides those held out. In predictions: for rows with other columns.

    References
    ----------
    Niculescu-Mizil (2008), section 4.4; Bucila, Caruana & Niculescu-Mizil (2006), "Model
    compression", KDD.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> teacher = RandomForestClassifier(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> mimic = Mimic(teacher, sizes=(500, 2000), random_state=0).fit(X)
    >>> bool(mimic.bytes_["student"] < mimic.bytes_["teacher"] / 10)
    True
    >>> mimic.learning_curve_["size"].tolist(), mimic.size_
    ([500, 2000], 2000)
    """

    def __init__(
        self,
        teacher,
        student=None,
        sampler=None,
        sizes=_SIZES,
        target="probability",
        random_state=None,
        progress=False,
        patience=2,
        task_column=None,
    ):
        self.teacher = teacher
        self.student = student
        self.sampler = sampler
        self.sizes = sizes
        self.target = target
        self.random_state = random_state
        self.progress = progress
        self.patience = patience
        self.task_column = task_column

    @fitted_alone
    def fit(self, X, y=None, *, held_out=None, groups=None):
        """Draw and label pseudo-cases, and train the students.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)
            Training cases of the teacher.
        y : object, default=None
            Not used, because the teacher labels all cases; scikit-learn passes it.
        held_out : pandas.DataFrame or array-like, shape (n_held_out, n_columns), default=None
            Real cases on which the student is compared with the teacher; their classes are not
            needed. None keeps a random fifth of X from the sampler.
        groups : array-like of shape (n_rows,), default=None
            The group of each row, such as a patient: the fifth is one of whole groups. Only without
            ``held_out``.

        Returns
        -------
        Mimic
        """
        sizes = self._check()
        X = plain_table(X)
        names = [column.name for column in read_columns(X)]
        X, seed = matched_rows("X", X, names), seed_of(self.random_state)
        if self.task_column is not None:
            tasks_of(X, self.task_column)  # Rows that are held out must name their task, too.
        if held_out is None:
            rows, held_out = _split(X, groups, seed)
        elif groups is not None:
            message = "must be None with `held_out`"
            remedy = "hold out whole groups yourself"
            raise InputError(message, argument="groups", options=("held_out",), remedy=remedy)
        else:
            rows, held_out = X, matched_rows("held_out", held_out, names)
        if not len(held_out):
            raise InputError("must have one row or more; it has none", argument="held_out")
        with Reporter(self.progress) as report:
            pseudo = self._drawn(rows, sizes[-1], seed, report)
            truth = self.teacher.predict_proba(held_out)[:, 1]
            seconds = self._train(X, sizes, pseudo, (held_out, truth), seed, report)
        self.classes_ = np.asarray(self.teacher.classes_)
        self.n_features_in_, self._names = len(names), names
        self._chosen = int(self.learning_curve_["fidelity"].argmin())  # the first among ties
        self.size_ = int(self.learning_curve_["size"].iloc[self._chosen])
        self.fidelity_ = float(self.learning_curve_["fidelity"].iloc[self._chosen])
        student = self._students[self._chosen]
        student_seconds = _seconds(student.predict, pseudo[:_TIMED])
        self.seconds_ = pd.Series({"teacher": seconds, "student": student_seconds})
        n_bytes = {"teacher": pickled_bytes(self.teacher), "student": pickled_bytes(student)}
        self.bytes_ = pd.Series(n_bytes, dtype=float)
        return self

    def _check(self):
        """The checked sizes."""
        check_choice("target", self.target, ("probability", "log-odds"))
        check_whole("patience", self.patience, least=1, optional=True, remedy="None tries all")
        _check_teacher(self.teacher)
        student, is_model = self.student, isinstance(self.student, BaseEstimator)
        has_labels = is_model and is_classifier(student)
        if student is not None and not (has_labels or (is_model and is_regressor(student))):
            message = f"must be a regressor, a classifier or None, got {type_of(student)}"
            raise InputTypeError(message, argument="student")
        if has_labels and self.target != "probability":
            message = f'must be "probability" for a classifier, got {self.target!r}'
            remedy = "labels are drawn from probabilities"
            raise InputError(message, argument="target", remedy=remedy)
        for name in ("fit", "sample", "get_params"):
            if self.sampler is not None and not hasattr(self.sampler, name):
                given = type_of(self.sampler)
                message = f"must be an estimator with the methods fit and sample, got {given}"
                raise InputTypeError(message, argument="sampler", remedy="for example Munge()")
        sizes = list(self.sizes) if isinstance(self.sizes, Iterable) else [self.sizes]
        for size in sizes:
            check_whole("sizes", size, least=2, most=MOST_ROWS)
        if not sizes or sizes != sorted(set(sizes)):
            raise InputError(f"must be increasing numbers, got {self.sizes!r}", argument="sizes")
        return sizes

    def _drawn(self, rows, n, seed, report):
        """Pseudo-cases in random order, so that any part of them is a random choice."""
        most_probable = np.asarray(self.teacher.predict_proba(rows)).argmax(axis=1)
        if self.task_column is None:
            pseudo = self._sampled(rows, most_probable, n, seed, report)
        else:
            pseudo = self._drawn_by_task(rows, most_probable, n, seed, report)
        order = generator(seed, "order").permutation(n)
        if hasattr(pseudo, "iloc"):
            return pseudo.iloc[order].reset_index(drop=True)
        return pseudo[order]

    def _drawn_by_task(self, rows, most_probable, n, seed, report):
        """Pseudo-cases of each task from its rows, in proportion to their number."""
        tasks, at = tasks_of(rows, self.task_column), column_of(rows, self.task_column)
        names, task, counts = np.unique(tasks, return_inverse=True, return_counts=True)
        is_frame, frame = isinstance(rows, pd.DataFrame), pd.DataFrame(rows)
        label, by_task = frame.columns[at], []
        # Sums are rounded, not sizes, which might not have the right sum.
        sizes = np.diff(np.rint(counts.cumsum() / counts.sum() * n).astype(int), prepend=0)
        for code, (name, size) in enumerate(zip(names, sizes, strict=True)):
            cases = frame[task == code]
            if len(cases) < 2:
                message = "must have two rows or more besides those held out; it has one"
                remedy = "leave it out, or add rows"
                raise InputError(message, argument="X", task=name, remedy=remedy)
            if size == 0:
                continue
            rest = cases.drop(columns=label)
            rest = rest if is_frame else rest.to_numpy()
            with located(task=name):
                drawn = self._sampled(rest, most_probable[task == code], size, seed, report, name)
            drawn = pd.DataFrame(drawn).reset_index(drop=True)
            # The column has the values of the rows, so that teacher and student know them.
            of_task = cases.iloc[np.zeros(size, int), at].array
            drawn.insert(at, label, of_task, allow_duplicates=True)
            by_task.append(drawn if is_frame else drawn.to_numpy())
        return pd.concat(by_task, ignore_index=True) if is_frame else np.concatenate(by_task)

    def _sampled(self, rows, labels, n, seed, report, task=None):
        """Pseudo-cases by a sampler that is fitted to some rows, of a task or of all."""
        sampler = Munge() if self.sampler is None else clone(self.sampler)
        if "progress" in sampler.get_params():
            sampler.set_params(
                progress=lambda event: report(event.stage, task, event.done, event.total)
            )
        rng = generator(seed, "pseudo-cases", *(() if task is None else (task,)))
        pseudo = sampler.fit(rows, labels).sample(int(n), rng)
        if len(pseudo) != n:
            message = f"must draw as many rows as it is asked for, {n}, got {len(pseudo)!r}"
            raise InputError(message, argument="sampler")
        return pseudo

    def _train(self, X, sizes, pseudo, held_out, seed, report):
        """Train students until larger sizes do not help; the teacher's seconds per 10,000 cases."""
        self._students, curve, total, before = [], [], sum(sizes), 0
        make, p, seconds = self._maker(X), np.empty(0), np.inf
        for size in sizes:

            def report_share(share, before=before, size=size):
                report("training", None, before + round(share * size), total)

            # Labels can take much longer than the student, so no more than needed are made.
            new, fastest = self._labels(pseudo, len(p), size, report)
            p, seconds = np.concatenate([p, new]), min(seconds, fastest)
            start = time.perf_counter()
            student = make().fit(pseudo[:size], p, held_out, seed, report_share)
            took = time.perf_counter() - start
            before += size
            report("training", None, before, total)
            fidelity = float(np.mean((student.predict(held_out[0]) - held_out[1]) ** 2))
            curve.append((size, fidelity, took))
            self._students.append(student)
            best = int(np.argmin([error for _, error, _ in curve]))
            if self.patience is not None and len(curve) - 1 - best >= self.patience:
                report("labels", None, len(pseudo), len(pseudo))
                report("training", None, total, total)
                break
        self.learning_curve_ = pd.DataFrame(curve, columns=["size", "fidelity", "seconds"])
        return seconds

    def _labels(self, pseudo, begin, end, report):
        """The teacher's probabilities of some pseudo-cases, and its seconds per 10,000 cases."""
        p, seconds = np.empty(end - begin), np.inf
        for at in range(begin, end, _TIMED):
            report("labels", None, at, len(pseudo))
            part = pseudo[at : min(at + _TIMED, end)]
            start = time.perf_counter()
            p[at - begin : at - begin + len(part)] = self.teacher.predict_proba(part)[:, 1]
            # As for the student, the shortest run counts: the first one may be slow.
            seconds = min(seconds, (time.perf_counter() - start) / len(part) * _TIMED)
        report("labels", None, end, len(pseudo))
        return p, seconds

    def _maker(self, X):
        """A function that makes an untrained student."""
        if self.student is None:
            encode = Encoder(X, scaled=True)
            return lambda: NetStudent(encode, self.target)
        reads_nominal = isinstance(self.student, NetworkClassifier | Pipeline)
        is_encoded = isinstance(X, pd.DataFrame) and not reads_nominal
        encode = Encoder(X, scaled=False) if is_encoded else None
        return lambda: ModelStudent(self.student, encode, self.target)

    def predict_proba(self, X):
        """Probabilities of the classes by the student.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)

        Returns
        -------
        numpy.ndarray of float, shape (n_rows, 2)
        """
        check_is_fitted(self)
        rows = matched_rows("X", X, self._names)
        return self._probabilities(self._students[self._chosen], rows)

    def staged_predict_proba(self, X):
        """Probabilities by the student of each size that was tried, from the smallest.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)

        Yields
        ------
        numpy.ndarray of float, shape (n_rows, 2)
        """
        check_is_fitted(self)
        rows = matched_rows("X", X, self._names)
        for student in self._students:
            yield self._probabilities(student, rows)

    def predict(self, X):
        """The more probable class of each row; of equally probable ones the first.

        Parameters
        ----------
        X : pandas.DataFrame or array-like, shape (n_rows, n_columns)

        Returns
        -------
        numpy.ndarray, shape (n_rows,)
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _probabilities(self, student, rows):
        p = student.predict(rows)
        return np.stack([1 - p, p], axis=1)


def _check_teacher(teacher):
    """Raise unless it is a fitted classifier of two classes with probabilities."""
    if not hasattr(teacher, "predict_proba"):
        message = f"must be a classifier with predict_proba, got {type_of(teacher)}"
        raise InputTypeError(message, argument="teacher")
    classes = getattr(teacher, "classes_", None)
    if classes is None:
        message = "must be fitted; it has no classes_"
        raise InputError(message, argument="teacher", remedy="call its fit first")
    if len(classes) != 2:
        message = f"must have two classes, got {len(classes)!r}"
        remedy = "compress one model for each class against the others"
        raise InputError(message, argument="teacher", remedy=remedy)


def _split(X, groups, seed):
    """The cases for the sampler, in their order, and the others: about a fifth, of whole groups."""
    n_rows = len(X)
    n_held_out, rng = max(1, round(_HELD_OUT * n_rows)), generator(seed, "held out")
    is_held_out = np.zeros(n_rows, dtype=bool)
    if groups is None:
        is_held_out[rng.choice(n_rows, n_held_out, replace=False)] = True
        return X[~is_held_out], X[is_held_out]
    groups = checked_column("groups", "X", groups, n_rows)
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        message = f"must name two groups or more, got {len(names)!r}"
        remedy = "give `held_out`"
        raise InputError(message, argument="groups", options=("held_out",), remedy=remedy)
    order = rng.permutation(len(names))
    before = np.append(0, np.bincount(group)[order].cumsum())[:-1]
    # The last one of all is never held out.
    is_held_out = np.isin(group, order[:-1][before[:-1] < n_held_out])
    return X[~is_held_out], X[is_held_out]


def _seconds(predict, rows):
    """Seconds per 10,000 cases, the shortest of three runs."""
    runs = []
    for _ in range(3):
        start = time.perf_counter()
        predict(rows)
        runs.append(time.perf_counter() - start)
    return min(runs) / len(rows) * _TIMED
