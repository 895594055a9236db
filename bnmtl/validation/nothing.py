"""What knowing no features would have predicted: the shares of the classes."""

import numpy as np

from bnmtl.validation.rounds import Rounds


def class_shares(rounds):
    """Rounds of a classifier that knows how frequent the classes are, and nothing else.

    Parameters
    ----------
    rounds : Rounds
        Whose training cases it has; the shares are those of the case's task, where there are tasks.

    Returns
    -------
    Rounds
        Each class counts one case more than there are, so that no probability is 0.
    """
    onehot = np.eye(len(rounds.classes))[rounds.codes]
    names = np.zeros(len(rounds.y)) if rounds.task is None else rounds.task
    predictions = np.full(rounds.predictions.shape, np.nan)
    full = np.empty(predictions.shape[1:])
    for name in np.unique(names):
        cases = np.flatnonzero(names == name)
        predictions[:, cases] = _shares(rounds.in_bag[:, cases] @ onehot[cases])[:, None]
        full[cases] = _shares(onehot[cases].sum(axis=0))
    predictions[~rounds.is_predicted] = np.nan
    fitted = rounds.in_bag, full, rounds.task, rounds.n_train, rounds.group
    return Rounds(predictions, rounds.y, rounds.classes, *fitted)


def _shares(counts):
    return (counts + 1) / (counts + 1).sum(axis=-1, keepdims=True)
