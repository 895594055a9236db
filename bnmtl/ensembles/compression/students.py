"""Students of a mimic: a neural net with early stopping, and any scikit-learn model."""

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bnmtl.classification.base import NetworkClassifier
from bnmtl.classification.columns import is_number, plain
from bnmtl.errors import InputError
from bnmtl.seeding import generator, seeded

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
        steps = [
            (numbers, np.flatnonzero(is_numeric)),
            (nominal, np.flatnonzero(~is_numeric)),
        ]
        columns = make_column_transformer(*steps)
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
        inputs, targets = self._encode(rows), targets_of(p, self._target).astype(np.float32)
        cases, truth = self._encode(held_out[0]), held_out[1]
        net = self._new_net(inputs, targets, int(generator(seed, "net").integers(2**31)))
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

    def _new_net(self, inputs, targets, seed):
        """A net to be trained, with a first step on two rows, which creates its weights."""
        net = MLPRegressor(hidden_layer_sizes=(_N_HIDDEN,), random_state=seed)
        net.partial_fit(inputs[:2], targets[:2])
        if self._target == "probability":
            # The derivative of the squared error of a linear output and that of the cross-entropy
            # of a logistic one are the same difference of output and target.
            net.out_activation_ = "logistic"
        return net


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
        rng = generator(seed, "labels")
        self._model = seeded(self._model, seed)
        if is_classifier(self._model):
            targets = (rng.random(len(p)) < p).astype(int)
            if targets.min() == targets.max():
                rule = "must predict probabilities from which both classes are drawn"
                raise InputError("teacher", rule, found="all labels are the same")
        else:
            targets = targets_of(p, self._target)
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
        return probabilities_of(np.ravel(self._model.predict(inputs)), self._target)


def takes_rows(model):
    """Whether a student reads nominal columns itself."""
    return isinstance(model, NetworkClassifier | Pipeline)


def targets_of(p, target):
    """Numbers that a student learns."""
    return p if target == "probability" else logit(np.clip(p, _MOST_CERTAIN, 1 - _MOST_CERTAIN))


def probabilities_of(outputs, target):
    """Probabilities from outputs of a student."""
    return np.clip(outputs, 0, 1) if target == "probability" else expit(outputs)
