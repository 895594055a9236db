"""Naive twins of the selection of ensembles: every candidate is scored by the metric itself."""

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
