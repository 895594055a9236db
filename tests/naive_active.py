"""Utilities of active learning in plain loops."""

from math import log


def entropy(shares):
    return -sum(p * log(p) for p in shares if p > 0)


def mean_of(members, case, weights):
    """Weighted mean distribution of one case."""
    total, n_classes = sum(weights), len(members[0][case])
    return [
        sum(w * one[case][k] for w, one in zip(weights, members, strict=True)) / total
        for k in range(n_classes)
    ]


def votes_of(members, case, weights):
    """Weighted shares of the votes for one case; the first of the best classes has the vote."""
    shares = [0.0] * len(members[0][case])
    for weight, one in zip(weights, members, strict=True):
        shares[list(one[case]).index(max(one[case]))] += weight / sum(weights)
    return shares


def one_minus_margin(shares):
    first, second = sorted(shares)[-1], sorted(shares)[-2]
    return 1 - (first - second)


def spread(members, case, weights):
    """Mean Kullback-Leibler divergence of the members from their mean."""
    mean, found = mean_of(members, case, weights), 0.0
    for weight, one in zip(weights, members, strict=True):
        terms = [p * log(p / m) for p, m in zip(one[case], mean, strict=True) if p > 0]
        found += weight / sum(weights) * sum(terms)
    return found


def local_variance(members, case, minority, least):
    p = [member[case][minority] for member in members]
    mean = sum(p) / len(p)
    return sum((q - mean) ** 2 for q in p) / max(mean, least)


def class_variance(members, case):
    found = []
    for k in range(len(members[0][case])):
        p = [member[case][k] for member in members]
        mean = sum(p) / len(p)
        found.append(sum((q - mean) ** 2 for q in p) / len(p))
    return sum(found) / len(found)
