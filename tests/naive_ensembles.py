"""Naive twins: selection that scores every candidate by the metric itself, and munging in loops."""

import numpy as np

from bnmtl.metrics import prediction

LOSSES = ("root_mean_squared_error", "cross_entropy")


def selected(predictions, y, metric, n_steps, replacement=True, weights=None):
    """Names and values of the members of one ensemble without a start; name -> predictions."""
    function, sign = getattr(prediction, metric), -1 if metric in LOSSES else 1
    names, members, values = sorted(predictions), [], []
    twins = {a for a in names for b in names if b < a and (predictions[a] == predictions[b]).all()}
    for _ in range(n_steps):
        found = {}
        for name in names:
            if name in twins or (name in members and not replacement):
                continue
            mean = np.mean([predictions[one] for one in [*members, name]], axis=0)
            loss = prediction.cross_entropy(y, mean, weights=weights)
            value = sign * function(y, mean, weights=weights)
            found[name] = (-value, name not in members, loss, name)
        if not found:
            break
        members.append(min(found, key=found.get))
        values.append(-sign * found[members[-1]][0])
    return members, values


def munged(cases, draws, local_variance, skip, original):
    """Rows after one pass of munging: lists of numbers, nominal codes (-1 = missing), in loops.

    `cases` and `draws` are those of `bnmtl.ensembles.compression.munge`.
    """
    start = [
        (row.tolist(), codes.tolist())
        for row, codes in zip(cases.numbers, cases.codes, strict=True)
    ]
    now = [(list(numbers), list(codes)) for numbers, codes in start]
    ranges = [high - low for low, high in zip(cases.low, cases.high, strict=True)]
    for e in range(len(now)):
        among = start if original else now
        distances = {f: _distance(among[e], among[f], ranges) for f in range(len(now)) if f != e}
        if skip:
            distances = {f: d for f, d in distances.items() if d > 0}
        if not distances:
            continue
        nearest = min(distances.values())
        ties = [f for f, d in distances.items() if d <= nearest * (1 + 1e-12)]
        partner = ties[int(draws.ties[e] * len(ties))]
        _exchange(now[e], now[partner], e, draws, cases, local_variance)
    return [numbers for numbers, _ in now], [codes for _, codes in now]


def _distance(one, other, ranges):
    total = sum(a != b for a, b in zip(one[1], other[1], strict=True))
    for a, b, width in zip(one[0], other[0], ranges, strict=True):
        if np.isnan(a) or np.isnan(b):
            total += np.isnan(a) != np.isnan(b)
        elif width > 0:
            total += ((a - b) / width) ** 2
    return total


def _exchange(one, other, e, draws, cases, local_variance):
    for at, (a, b) in enumerate(zip(one[0], other[0], strict=True)):
        if not draws.numeric[e, at]:
            continue
        if np.isnan(a) or np.isnan(b):
            one[0][at], other[0][at] = b, a
            continue
        sd = abs(a - b) / local_variance
        values = [b + sd * draws.normals[e, 0, at], a + sd * draws.normals[e, 1, at]]
        if cases.whole[at]:
            values = [round(value) for value in values]
        values = [min(max(value, cases.low[at]), cases.high[at]) for value in values]
        one[0][at], other[0][at] = values
    for at, (a, b) in enumerate(zip(one[1], other[1], strict=True)):
        if draws.nominal[e, at]:
            one[1][at], other[1][at] = b, a
