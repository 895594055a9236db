"""Bias, variance and noise of a classifier, which add up to its error exactly."""

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, check_choice, check_flag, warn
from bnmtl.metrics.cases import checked_table, predicted_classes
from bnmtl.validation.rounds import check_rounds
from bnmtl.wording import count, listed

_LOSSES = ("zero_one", "kohavi_wolpert", "squared")


def bias_variance(rounds, loss=None, truth=None, by_case=False):
    """Decompose the error over rounds into bias, variance and noise.

    Parameters
    ----------
    rounds : Rounds
    loss : {"zero_one", "kohavi_wolpert", "squared"}, default=None
        None is all three.

        - "zero_one": errors, after Domingos. The main prediction of a case is its most frequent
          one, the bias whether it is wrong, the variance the share of rounds that deviate from it.
          Where the main prediction is right, variance adds errors (``variance``), where it is
          wrong, deviations to the right class take some away (``variance_of_biased``, below 0).
        - "kohavi_wolpert": errors, with the squared bias of the shares of rounds that say each
          class and with their variance, estimated without bias. A bias can be below 0.
        - "squared": squared error of the probabilities, summed over classes, in the same way.
    truth : array-like of numbers, shape (n_cases, n_classes), default=None
        True probabilities of the classes of each case; columns of a frame are found by name.
        Without them noise counts as bias. With them errors are those of labels drawn from
        ``truth``, and those of the rounds do not count.
    by_case : bool, default=False
        Whether cases have a row each; otherwise means over cases, and over those of each task.

    Returns
    -------
    pandas.DataFrame
        One row for each loss, and for each case, or for all and each task, where there are tasks.
        Columns: error, which is the sum of bias, variance, variance_of_biased and noise;
        error_of_mean, the loss of the mean (squared loss) or of the main prediction; and n_rounds
        or n_cases.

    Warns
    -----
    InputWarning
        If some cases were predicted by fewer than two rounds; they are left out.

    Raises
    ------
    ValueError
        For an unknown ``loss``, a ``truth`` of another shape, or without a case that two rounds
        have predicted.

    References
    ----------
    Domingos (2000), "A unified bias-variance decomposition and its applications", ICML; Kohavi &
    Wolpert (1996), "Bias plus variance decomposition for zero-one loss functions", ICML.

    Examples
    --------
    >>> from bnmtl.validation import Rounds
    >>> p = [[[0.9, 0.1]], [[0.8, 0.2]], [[0.3, 0.7]], [[0.6, 0.4]]]
    >>> found = bias_variance(Rounds(p, ["b"], ["a", "b"], [[0]] * 4))
    >>> found.loc["zero_one", ["error", "bias", "variance_of_biased"]].tolist()
    [0.75, 1.0, -0.25]
    """
    check_rounds("rounds", rounds)
    check_choice("loss", loss, (*_LOSSES, None))
    check_flag("by_case", by_case)
    truth = _truth_of(rounds, truth)
    n_rounds = rounds.is_predicted.sum(axis=0)
    kept = np.flatnonzero(n_rounds >= 2)
    if not len(kept):
        message = "must have cases that two rounds have predicted"
        raise InputError(message, argument="rounds", remedy="more rounds")
    if len(kept) < len(n_rounds):
        message = (
            f"has {count(len(n_rounds) - len(kept), 'case')} that fewer than two rounds have "
            "predicted; they are left out"
        )
        warn(message, argument="rounds")
    parts = {}
    for name in _LOSSES if loss is None else [loss]:
        cases = _PARTS[name](rounds.predictions[:, kept], n_rounds[kept], truth[kept])
        cases = pd.DataFrame(cases, index=pd.Index(kept, name="case"))
        by_cases = cases.assign(n_rounds=n_rounds[kept])
        parts[name] = by_cases if by_case else _means(cases, rounds, kept)
    if loss is not None:
        return parts[loss]
    found = pd.concat(parts, names=["loss"])
    return found if by_case or rounds.task is not None else found.droplevel(1)


def _truth_of(rounds, truth):
    """Probabilities of the classes of each case: the given ones, or 1 for its label."""
    if truth is None:
        return np.eye(len(rounds.classes))[rounds.codes]
    if isinstance(truth, pd.DataFrame):
        truth = _by_class(truth, rounds.classes)
    truth = checked_table("truth", truth, ("cases", "classes"))
    expected = rounds.predictions.shape[1:]
    if truth.shape != expected:
        message = (
            f"must have one row for each case and a column for each class, {expected}, got "
            f"{truth.shape!r}"
        )
        raise InputError(message, argument="truth")
    sums = truth.sum(axis=1)
    if (truth < 0).any() or (abs(sums - 1) > 1e-6).any():
        raise InputError("must be probabilities that sum to 1 in each row", argument="truth")
    return truth / sums[:, None]


def _by_class(truth, classes):
    """Columns in the order of the classes that they are named for; unnamed ones as they are."""
    names, labels = [str(name) for name in truth], [str(label) for label in classes]
    if sorted(names) != sorted(labels):
        if isinstance(truth.columns, pd.RangeIndex):
            return truth
        lacking = next((label for label in labels if label not in names), None)
        found = "it has others, too" if lacking is None else f"`{lacking}` is missing"
        message = f"must have one column for each class, {listed(labels)}; {found}"
        raise InputError(message, argument="truth")
    return truth.iloc[:, [names.index(label) for label in labels]]


def _means(cases, rounds, kept):
    """Means over all cases; and over those of each task, where there are tasks."""
    found = cases.mean().to_frame("all").T.assign(n_cases=len(cases))
    if rounds.task is None:
        return found
    by_task = cases.groupby(rounds.task[kept])
    return pd.concat([found, by_task.mean().assign(n_cases=by_task.size())]).rename_axis("task")


def _votes(predictions):
    """Share of the rounds that say each class, shape (n_cases, n_classes)."""
    is_said = ~np.isnan(predictions[:, :, 0])
    said = np.where(is_said, predicted_classes(np.nan_to_num(predictions)), -1)
    counts = np.stack([(said == k).sum(axis=0) for k in range(predictions.shape[2])], axis=1)
    return counts / is_said.sum(axis=0)[:, None]


def _zero_one(predictions, n_rounds, truth):
    """Domingos's parts of the errors."""
    p, rows = _votes(predictions), np.arange(len(truth))
    main, best = p.argmax(axis=1), truth.argmax(axis=1)
    is_biased = main != best
    variance = 1 - p[rows, main]
    # Of the deviations from a wrong main prediction, those to the right class are correct.
    gained = np.where(is_biased, p[rows, best], 0.0)
    expected = p[rows, best] * (1 - truth[rows, best])
    others = (p * truth).sum(axis=1) - p[rows, best] * truth[rows, best]
    return {
        "error": 1 - (p * truth).sum(axis=1),
        "bias": is_biased.astype(float),
        "variance": np.where(is_biased, 0.0, variance),
        "variance_of_biased": -gained,
        "noise": expected - others,
        "error_of_mean": 1 - truth[rows, main],
    }


def _kohavi_wolpert(predictions, n_rounds, truth):
    """Kohavi & Wolpert's parts of the errors, estimated without bias."""
    p = _votes(predictions)
    spread = (p * (1 - p)).sum(axis=1) / (n_rounds - 1)
    return {
        "error": 1 - (p * truth).sum(axis=1),
        "bias": (((truth - p) ** 2).sum(axis=1) - spread) / 2,
        "variance": (1 - (p**2).sum(axis=1)) / 2 * n_rounds / (n_rounds - 1),
        "variance_of_biased": np.zeros(len(p)),
        "noise": (1 - (truth**2).sum(axis=1)) / 2,
        "error_of_mean": 1 - truth[np.arange(len(p)), p.argmax(axis=1)],
    }


def _squared(predictions, n_rounds, truth):
    """Parts of the squared error of the probabilities."""
    mean = np.nanmean(predictions, axis=0)
    spread = np.nanmean((predictions - mean) ** 2, axis=0).sum(axis=1)
    noise = (truth * (1 - truth)).sum(axis=1)
    from_truth = ((mean - truth) ** 2).sum(axis=1)
    return {
        "error": from_truth + spread + noise,
        "bias": from_truth - spread / (n_rounds - 1),
        "variance": spread * n_rounds / (n_rounds - 1),
        "variance_of_biased": np.zeros(len(mean)),
        "noise": noise,
        "error_of_mean": from_truth + noise,
    }


_PARTS = {"zero_one": _zero_one, "kohavi_wolpert": _kohavi_wolpert, "squared": _squared}
