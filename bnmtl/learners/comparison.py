"""Learning together, each task alone and no arcs, compared on held-out rows."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_whole
from bnmtl.learners.baselines import SingleTaskLearner
from bnmtl.learners.fold_scores import penalty_scores, score_folds
from bnmtl.learners.held_out import check_sample_size, default_folds, most_folds
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.learners.penalty import best_penalty, chosen_penalty
from bnmtl.learners.task_groups import AUTO
from bnmtl.learners.validated import MultitaskLearnerCV
from bnmtl.progress import Reporter
from bnmtl.tasks import encode
from bnmtl.wording import type_of

# Number of standard errors above which a difference counts.
SURE = 2.0
_ROUNDING = 1e-9


def compare(learner, tasks, cv=None, groups=None):
    """Score every row by networks learned from the other folds.

    Structures, probability tables, the penalty and the groups of tasks of a fold do not use its
    held-out rows: if folds choose the penalty, only the other folds choose it, and groups that are
    not given are found again. The searches of a fold use less effort than
    `fit`.

    Parameters
    ----------
    learner : SingleTaskLearner, MultitaskLearner or MultitaskLearnerCV
        If it was fitted to the same rows, the folds of the fit are reused, unless a time limit cut
        one short.
    tasks : mapping name -> DataFrame, list of DataFrame, Tasks or DataFrame
    cv : int, default=None
        Number of folds; tasks with fewer rows hold out one row at a time. None is 10, or the rows
        of the largest task if they are fewer.
    groups : mapping name -> array-like with a name per row, default=None
        Rows of a task that are held out together, such as the visits to a site: a row is then
        predicted without the other rows of its group. Every task needs two groups; a task with
        fewer groups than folds holds out one group at a time. None holds out single rows; a row
        and its copies stay together.

    Returns
    -------
    pandas.DataFrame
        One row for each row of the data: task, row (its position), its group if ``groups`` are
        given, fold, and the log-likelihood in nats under empty graphs (``empty``), under graphs of
        the task alone (``alone``) and, for the multitask learners, under those learned together
        (``together``), with the ``penalty`` used. If the learner has ``task_groups``, tasks learn
        from each other in groups under ``together``, with "auto" in the groups found from the other
        folds, and ``one_group`` is under graphs that all tasks learn together, unless constraints
        exclude it. If tasks share tables, they do so everywhere except under ``alone``.
        ``attrs["ended_by"]`` names the limits that ended searches of folds early, which makes the
        table unreliable; ``attrs["chooses"]`` is whether folds choose among penalties;
        ``attrs["worse_together"]`` names the tasks for which learning together is worse than alone
        by more than two standard errors, with the difference and its standard error.

    Raises
    ------
    InputTypeError
        For another learner.
    InputError
        If ``cv`` is out of range, the learner's ``parameter_sample_size`` is 0, or ``groups`` are
        not one name per row of each task.

    Examples
    --------
    >>> from bnmtl import MultitaskLearner, structures
    >>> from bnmtl.learners import compare, gain
    >>> asia = structures.load("asia")
    >>> rows = [asia.sample(100, random_state=seed) for seed in range(3)]
    >>> scored = compare(MultitaskLearner(random_state=0), rows, cv=5)
    >>> difference, standard_error = gain(scored, "together", "empty")
    >>> bool(difference > 2 * standard_error)
    True
    """
    if not isinstance(learner, (SingleTaskLearner, MultitaskLearner)):
        rule = "must be a SingleTaskLearner, a MultitaskLearner or a MultitaskLearnerCV"
        raise InputTypeError("learner", rule, type_of(learner))
    learner.check_parameters()
    check_sample_size(learner.parameter_sample_size)
    tasks = encode(tasks, missing=learner.missing)
    remedy = "give no more than the rows of the largest task, where copies count once"
    if groups is not None:
        groups = _checked_groups(groups, tasks)
        remedy = "give no more than the groups of the task that has the most"
    check_whole("cv", cv, 2, most_folds(tasks, groups), optional=True, remedies=remedy)
    n_folds = default_folds(tasks, leave_one_out=True, groups=groups) if cv is None else int(cv)
    with Reporter(learner.progress) as report:
        folds, penalties = _folds(learner, tasks, n_folds, groups, report)
    table = _table(tasks, folds, penalties, _chosen(learner, folds, penalties))
    if groups is not None:
        pairs = zip(table["task"], table["row"], strict=True)
        table.insert(2, "group", [groups[task][row] for task, row in pairs])
    table.attrs["ended_by"] = tuple(sorted(set().union(*(fold.ended_by for fold in folds))))
    table.attrs["shares_tables"] = learner.shares_tables(tasks)
    table.attrs["chooses"] = len(penalties) > 1
    table.attrs["worse_together"] = worse_together(table)
    return table


def gain(scored, better, worse):
    """Mean gain in the log-likelihood of a row by one way to learn over another.

    Parameters
    ----------
    scored : pandas.DataFrame
        The result of `compare`, or some of its rows.
    better, worse : {"together", "one_group", "alone", "empty"}

    Returns
    -------
    difference, standard_error : float
        Mean over rows of the difference of log-likelihoods, in nats, and the standard error of this
        mean. Rows that were held out in one group count as dependent, and others as independent.
    """
    differences = (scored[better] - scored[worse]).to_numpy()
    n, mean = len(differences), float(differences.mean())
    sums = differences - mean
    if "group" in scored:
        keys = [scored["task"].astype(str), scored["group"]]
        sums = pd.Series(sums, scored.index).groupby(keys).sum().to_numpy()
    if len(sums) < 2:
        return mean, 0.0
    correction = len(sums) / (len(sums) - 1)
    return mean, math.sqrt(correction * float((sums**2).sum())) / n


def worse_together(scored):
    """Tasks for which learning together is worse than learning alone by two standard errors.

    Parameters
    ----------
    scored : pandas.DataFrame
        The result of `compare`.

    Returns
    -------
    dict task -> list of float
        The difference and its standard error, in nats per row; empty if tasks were not learned
        together. Tasks with one row are left out.
    """
    if "together" not in scored:
        return {}
    of_tasks = scored.groupby("task", observed=True, sort=False)
    found = {
        str(name): list(gain(rows, "together", "alone")) for name, rows in of_tasks if len(rows) > 1
    }
    return {name: pair for name, pair in found.items() if pair[0] < -max(SURE * pair[1], _ROUNDING)}


def _checked_groups(groups, tasks):
    """The groups of rows of each task as text, two groups at least."""
    if not isinstance(groups, Mapping):
        rule = "must be a mapping of tasks to arrays with a name per row"
        raise InputTypeError("groups", rule, type_of(groups))
    for name in [*tasks, *groups]:
        if name not in groups or name not in tasks:
            rule = "must have the names of the tasks, each with an array"
            found = "the data have no such task" if name in groups else "it is missing"
            raise InputError("groups", rule, found=found, task=name)
    checked = {}
    for name, task in tasks.items():
        rule, given = "must be one name per row, {n}", np.asarray(groups[name])
        details = {"task": name, "n": task.n_rows}
        if given.shape != (task.n_rows,):
            found, remedies = "its shape is {shape!s}", "drop rows with missing values before"
            raise InputError(
                "groups", rule, found=found, remedies=remedies, shape=given.shape, **details
            )
        if pd.isna(given).any():
            found, row = "that of row {row} is missing", int(pd.isna(given).argmax())
            raise InputError("groups", rule, found=found, remedies="fill it", row=row, **details)
        checked[name] = given.astype(str)
        if (checked[name] == checked[name][0]).all():
            rule = "must divide the rows of every task into two groups or more"
            raise InputError("groups", rule, found="it has one", **details)
    return checked


def _folds(learner, tasks, n_folds, groups, report):
    """The scored folds and their penalties, the largest first."""
    priors, given, posterior, beside = {}, None, None, False
    effort = learner.effort()
    # The groups that were found from all rows must not be used.
    chooses = isinstance(learner, MultitaskLearnerCV)
    if chooses and learner.task_groups != AUTO and groups is None:
        known = learner.known_folds(tasks, n_folds)
        if known is not None:
            return known, list(learner.validation_scores_.index[::-1])
    if isinstance(learner, MultitaskLearner):
        problems = learner.problems(tasks, effort)
        given = learner.given_starts(tasks, problems)
        priors = learner.possible_priors(problems, effort)
        beside = learner.task_groups is not None and len(tasks) > 1
    if chooses and learner.way_of_choosing() == "posterior":
        posterior = learner.posterior
    stage = "comparing on held-out rows"
    done = report.of_part(stage, 0, n_folds)
    done(0)
    values = list(priors.values())
    folds = score_folds(
        learner,
        tasks,
        n_folds,
        values,
        effort,
        done,
        given,
        posterior=posterior,
        one_group=beside,
        row_groups=groups,
    )
    learner.warn_of_limits(effort)
    return folds, list(priors)


def _chosen(learner, folds, penalties):
    """Index of the penalty of each fold, chosen without its held-out rows."""
    if len(penalties) < 2:
        return [0] * len(folds)
    if folds[0].log_posterior is not None:
        return [best_penalty(fold.log_posterior) for fold in folds]
    scores = penalty_scores(folds)
    others = [np.delete(scores, at, axis=1) for at in range(len(folds))]
    return [chosen_penalty(scores, learner.rule) for scores in others]


def _table(tasks, folds, penalties, best):
    """All held-out rows, in the order of the data; ``best`` is the penalty's index by fold."""
    parts, has_one_group = [], all(fold.one_group is not None for fold in folds)
    for at, fold in enumerate(folds):
        part = {"task": np.array(tasks.names, dtype=object)[fold.task], "row": fold.row, "fold": at}
        part.update(empty=fold.empty, alone=fold.alone)
        if penalties:
            if has_one_group:
                part.update(one_group=fold.one_group[best[at]])
            part.update(together=fold.together[best[at]], penalty=penalties[best[at]])
        parts.append(pd.DataFrame(part))
    table = pd.concat(parts, ignore_index=True)
    table["task"] = pd.Categorical(table["task"], categories=list(tasks.names))
    return table.sort_values(["task", "row"], ignore_index=True)
