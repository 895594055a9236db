"""DECORATE in plain loops, with the random numbers of the package."""

import numpy as np
import pandas as pd
from sklearn.base import clone

from bnmtl.seeding import generator


def marginal_case_columns(frame, n, seed):
    """Artificial cases of a frame: {column: list of cells}."""
    found = {}
    for name in frame:
        rng, cells = generator(seed, "column", name), frame[name].dropna().tolist()
        if isinstance(frame[name].dtype, pd.CategoricalDtype) or isinstance(cells[0], str):
            is_declared = isinstance(frame[name].dtype, pd.CategoricalDtype)
            values = (
                frame[name].cat.categories.tolist() if is_declared else list(dict.fromkeys(cells))
            )
            counts = [cells.count(value) + 1 for value in values]
            shares = [count / sum(counts) for count in counts]
            found[name] = [values[at] for at in rng.choice(len(values), size=n, p=shares)]
        else:
            numbers = mean_and_deviation(cells)
            drawn = numbers[0] + numbers[1] * rng.standard_normal(n)
            is_whole = all(cell == int(cell) for cell in cells)
            found[name] = [float(np.rint(one)) if is_whole else one for one in drawn]
    return found


def mean_and_deviation(cells):
    """With n - 1."""
    mean = sum(cells) / len(cells)
    return mean, (sum((cell - mean) ** 2 for cell in cells) / max(1, len(cells) - 1)) ** 0.5


def decorated(estimator, X, y, draw, seed, n_estimators=15, max_iterations=50, size=1.0):
    """Members of algorithm 2 on an array with labels 0, 1, ..., all of which every member knows."""

    def mean_of(members, rows):
        return sum(member.predict_proba(rows) for member in members) / len(members)

    def member_of(rows, labels, trial):
        member = clone(estimator)
        if "random_state" in member.get_params():
            drawn = int(generator(seed, "member", trial).integers(2**31 - 1))
            member.set_params(random_state=drawn)
        return member.fit(rows, labels)

    members, trials = [member_of(X, y, 1)], 1
    error = np.mean(mean_of(members, X).argmax(axis=1) != y)
    while len(members) < n_estimators and trials < max_iterations:
        trials += 1
        n_rows = max(1, int(size * len(X)))
        rows = draw(n_rows, int(generator(seed, "cases", trials).integers(2**63)))
        uniform, labels = generator(seed, "labels", trials).random(len(rows)), []
        for p, u in zip(mean_of(members, rows), uniform, strict=True):
            zero = [k for k in range(len(p)) if p[k] == 0]
            shares = [float(k in zero) if zero else 1 / p[k] for k in range(len(p))]
            at = 0
            while u * sum(shares) >= sum(shares[: at + 1]):
                at += 1
            labels.append(at)
        new = member_of(np.concatenate([X, rows]), np.concatenate([y, labels]), trials)
        new_error = np.mean(mean_of([*members, new], X).argmax(axis=1) != y)
        if new_error <= error:
            members, error = [*members, new], new_error
    return members, trials
