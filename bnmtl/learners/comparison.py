"""Learning together, each task alone and no arcs, compared on held-out rows, and in sentences."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bnmtl.errors import InputError, InputTypeError, check_whole
from bnmtl.learners.adapted import changed
from bnmtl.learners.baselines import SingleTaskLearner
from bnmtl.learners.held_out import (
    check_sample_size,
    default_folds,
    most_folds,
    penalty_scores,
    score_folds,
)
from bnmtl.learners.multitask import MultitaskLearner
from bnmtl.learners.validated import MultitaskLearnerCV, best_penalty, chosen_penalty
from bnmtl.progress import Reporter
from bnmtl.tasks import encode
from bnmtl.wording import all_of, type_of

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
        kinds = "a SingleTaskLearner, a MultitaskLearner or a MultitaskLearnerCV"
        message = f"must be {kinds}, got {type_of(learner)}"
        raise InputTypeError(message, argument="learner")
    learner._check_parameters()
    check_sample_size(learner.parameter_sample_size)
    tasks = encode(tasks, missing=learner.missing)
    remedy = "give no more than the rows of the largest task, where copies count once"
    if groups is not None:
        groups = _checked_groups(groups, tasks)
        remedy = "give no more than the groups of the task that has the most"
    check_whole("cv", cv, 2, most_folds(tasks, groups), optional=True, remedy=remedy)
    return _compared(learner, tasks, cv, groups, learner if groups is None else None)


def compare_within(learner, tasks, cv, time_limit):
    """`compare` for a learner that was fitted to these tasks, with another limit on time.

    Parameters
    ----------
    learner : SingleTaskLearner, MultitaskLearner or MultitaskLearnerCV
        Fitted; folds of the fit are reused.
    tasks : Tasks
    cv : int or None
    time_limit : float or None
        In seconds.
    """
    limits = learner._used_limits().replaced(time_limit=time_limit)
    return _compared(changed(learner, limits=limits), tasks, cv, None, learner)


def _compared(learner, tasks, cv, groups, fitted):
    """`compare` for checked arguments; it reuses the folds of a fitted learner that match."""
    n_folds = default_folds(tasks, leave_one_out=True, groups=groups) if cv is None else int(cv)
    found = fitted._known_folds(tasks, n_folds) if isinstance(fitted, MultitaskLearnerCV) else None
    if found is None:
        with Reporter(learner.progress) as report:
            found = _folds(learner, tasks, n_folds, groups, report)
    folds, penalties = found
    table = _table(tasks, folds, penalties, _chosen(learner, folds, penalties))
    if groups is not None:
        pairs = zip(table["task"], table["row"], strict=True)
        table.insert(2, "group", [groups[task][row] for task, row in pairs])
    table.attrs["ended_by"] = tuple(sorted(set().union(*(fold.ended_by for fold in folds))))
    table.attrs["shares_tables"] = learner._shares_tables(tasks)
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
        message = f"must be a mapping of tasks to arrays with a name per row, got {type_of(groups)}"
        raise InputTypeError(message, argument="groups")
    for name in [*tasks, *groups]:
        if name not in groups or name not in tasks:
            found = "the data have no such task" if name in groups else "it is missing"
            message = f"must have the names of the tasks, each with an array; {found}"
            raise InputError(message, argument="groups", task=name)
    checked = {}
    for name, task in tasks.items():
        given, about = np.asarray(groups[name]), {"argument": "groups", "task": name}
        if given.shape != (task.n_rows,):
            message = f"must be one name per row, {task.n_rows}; its shape is {given.shape}"
            raise InputError(message, **about, remedy="drop rows with missing values before")
        if pd.isna(given).any():
            row = int(pd.isna(given).argmax())
            message = f"must be one name per row, {task.n_rows}; that of row {row} is missing"
            raise InputError(message, **about, remedy="fill it")
        checked[name] = given.astype(str)
        if (checked[name] == checked[name][0]).all():
            message = "must divide the rows of every task into two groups or more; it has one"
            raise InputError(message, **about)
    return checked


def _folds(learner, tasks, n_folds, groups, report):
    """The scored folds and their penalties, the largest first."""
    effort, priors, options = learner._effort(), {}, {"row_groups": groups}
    if isinstance(learner, MultitaskLearner):
        problems = learner._problems(tasks, effort)
        priors = learner._possible_priors(problems)
        options["given"] = learner._given_starts(tasks, problems)
        options["one_group"] = learner.task_groups is not None and len(tasks) > 1
    if isinstance(learner, MultitaskLearnerCV) and learner.validation == "posterior":
        options["posterior"] = learner._posterior
    done = report.of_part("comparing on held-out rows", 0, n_folds)
    done(0)
    folds = score_folds(learner, tasks, n_folds, list(priors.values()), effort, done, **options)
    learner._warn_of_limits(effort)
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


# Descriptions of the values of `chosen_by_`.
WAYS = {
    "cv": "chosen by held-out rows",
    "one-standard-error": "the largest within one standard error of the best by held-out rows",
    "posterior": "chosen by its posterior",
    "held-out rows": "chosen by rows held out once",
}
# Ways to learn, as named in the results of `bnmtl.learners.compare`.
WAYS_TO_LEARN = ("together", "one_group", "alone", "empty")
NOTHING_FOUND = "Nothing was found"
# Advice, in Python and at the command line.
_MORE = {
    False: "More rows or fewer variables may show more.",
    True: "More rows or fewer variables (--ignore) may show more.",
}
_COMPARE = {
    False: "`bnmtl.relatedness` compares them",
    True: "`bnmtl relate` compares them",
}


def held_out_record(scored):
    """Means and differences of the ways to learn, over all rows and by task.

    Parameters
    ----------
    scored : pandas.DataFrame
        The result of `bnmtl.learners.compare`.

    Returns
    -------
    dict
        "folds"; the mean nats per row of each way under its name, without "one_group" if one group
        was found in every fold; "differences" with keys like "together - alone" and values
        [difference, standard error]; "tasks", the means by task;
        "worse_together", the tasks for which learning together is worse than alone by more than two
        standard errors, as task -> [difference, standard error];
        "ended_by", the limits that ended searches early; "shares_tables", whether tasks shared
        tables when learned together and without arcs; and "chooses", whether the penalty was chosen
        separately for each fold.
    """
    ways = [way for way in WAYS_TO_LEARN if way in scored]
    if "one_group" in ways and scored["one_group"].equals(scored["together"]):
        ways.remove("one_group")
    pairs = [(a, b) for at, a in enumerate(ways) for b in ways[at + 1 :]]
    by_task = scored.groupby("task", observed=True)[ways].mean()
    return {
        "folds": int(scored["fold"].nunique()),
        **{way: float(scored[way].mean()) for way in ways},
        "differences": {f"{a} - {b}": list(gain(scored, a, b)) for a, b in pairs},
        "tasks": {name: {way: float(row[way]) for way in ways} for name, row in by_task.iterrows()},
        "worse_together": worse_together(scored),
        "ended_by": list(scored.attrs.get("ended_by", ())),
        "shares_tables": bool(scored.attrs.get("shares_tables", False)),
        "chooses": bool(scored.attrs.get("chooses", False)),
    }


def of_arcs(record):
    """Whether the arcs predict held-out rows better than no arcs, and a sentence about it.

    Parameters
    ----------
    record : dict
        The result of `held_out_record`.

    Returns
    -------
    is_found : bool
        By more than one standard error.
    sentence : str
    """
    differences = record["differences"]
    way = "together" if "together - empty" in differences else "alone"
    difference, error = differences[f"{way} - empty"]
    if difference <= error:
        return False, (
            f"{NOTHING_FOUND}: on held-out rows the learned arcs predict no better than no arcs "
            f"({value(difference, error)} nats per row)."
        )
    size = value(difference, error, False)
    return True, f"On held-out rows the learned arcs gain {size} nats per row over no arcs."


def nothing_found(record, n_arcs, ended_by=(), max_cells=None):
    """Whether no arc was found, or the arcs predict held-out rows no better than no arcs.

    False if searches ended early or families were excluded, because it is then unknown.

    Parameters
    ----------
    record, n_arcs, ended_by, max_cells
        As those of `sentences`.

    Returns
    -------
    bool
    """
    if not n_arcs:
        return not ended_by and max_cells is None
    return record is not None and not record.get("ended_by") and not of_arcs(record)[0]


def sentences(record, n_arcs, ended_by=(), max_cells=None, at_command_line=False):
    """Sentences about the arcs found and the gain from sharing.

    Parameters
    ----------
    record : dict or None
        The result of `held_out_record`; None if no rows were held out.
    n_arcs : int
        Number of arcs of the learned networks.
    ended_by : tuple of str, default=()
        Limits that ended the search early; arcs it did not reach may exist.
    max_cells : int, optional
        The limit on cells of a table, if it excluded families.
    at_command_line : bool, default=False
        Whether to name options of commands instead of parameters.

    Returns
    -------
    list of str

    Examples
    --------
    >>> record = {"differences": {"alone - empty": [0.5, 0.1]}}
    >>> sentences(record, 3)
    ['On held-out rows the learned arcs gain 0.50 ± 0.10 nats per row over no arcs.']
    """
    more = _MORE[at_command_line]
    if not n_arcs and ended_by:
        return ["The search ended before it found an arc; more time may show some."]
    if not n_arcs and max_cells is not None:
        limit = f"--max-cells {max_cells}" if at_command_line else f"max_cells={max_cells}"
        found = f"No arc was learned, and `{limit}` kept out families that might have had one"
        return [f"{found}; raise it."]
    if not n_arcs:
        nothing = f"{NOTHING_FOUND}: no arc was learned. {more}"
        return list(filter(None, [nothing, _gain_of_tables(record)]))
    if record is None:
        return ["No rows were held out, so the gain from the arcs is unknown."]
    if record.get("ended_by"):
        chosen = ", and the penalty chosen by it is unreliable" if record.get("chooses") else ""
        unknown = f"Cross-validation ended early, so the gain from the arcs is unknown{chosen}"
        return [f"{unknown}; give more time."]
    is_found, first = of_arcs(record)
    if not is_found:
        return [f"{first} {more}"]
    if "together - alone" not in record["differences"]:
        return [first]
    found = [first, _gain_of_sharing(record, at_command_line)]
    worse = record.get("worse_together", {})
    if worse:
        named = all_of([f"{name} ({value(*numbers)})" for name, numbers in worse.items()])
        found.append(f"Learning together is worse than alone for {named}, in nats per row.")
    return found


def _gain_of_sharing(record, at_command_line):
    """A sentence on learning together against each task alone."""
    difference, error = record["differences"]["together - alone"]
    size = f"{value(difference, error)} nats per row against each task alone"
    if max(abs(difference), error) < _ROUNDING:
        return "Learning the tasks together made no difference."
    if difference > SURE * error:
        return f"Learning the tasks together helped: {size}."
    if difference < -SURE * error:
        return (
            f"Learning the tasks together did not help: {size}; tasks may have little in common "
            f"({_COMPARE[at_command_line]})."
        )
    return f"It is unclear whether learning together helped: {size}. {_MORE[at_command_line]}"


def _gain_of_tables(record):
    """A sentence on the gain from shared tables without arcs; empty if there is none."""
    if record is None or record.get("ended_by") or not record.get("shares_tables"):
        return ""
    difference, error = record["differences"].get("together - alone", (0.0, 0.0))
    if difference <= max(SURE * error, _ROUNDING):
        return ""
    size = value(difference, error)
    return f"Sharing tables still helped: {size} nats per row against each task alone."


def value(difference, error, signed=True):
    """A difference with its standard error, as text; small errors are shown with more digits."""
    digits = 2 if error == 0 else min(max(2, math.ceil(-math.log10(error))), 4)
    # Avoid minus zero.
    difference = round(float(difference), digits) + 0.0
    shown = f"{difference:+.{digits}f}" if signed else f"{difference:.{digits}f}"
    return f"{shown.replace('-', chr(0x2212))} ± {error:.{digits}f}"
