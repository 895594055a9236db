"""The learner that the options of `bnmtl learn` ask for, and how many folds it is judged by."""

from bnmtl.cli.runs import prior_class, table_sharing
from bnmtl.errors import InputError
from bnmtl.learners.held_out import most_folds

__all__ = ["check_choice", "has_folds", "learner_asked_for", "n_folds"]

# Where tasks are scored together, which takes longer.
_FOLDS_TO_COMPARE = 5


def learner_asked_for(options, tasks, common):
    """Return an unfitted learner for some tasks; ``common`` are the parameters that all have."""
    from bnmtl.learners import MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner
    from bnmtl.learners.multitask import PENALTY

    if len(tasks) == 1:
        return SingleTaskLearner(**common)
    prior, common = prior_class(options.prior), {**common, "table_sharing": table_sharing(options)}
    penalty = options.penalty
    if penalty is None and options.choose is None:
        fixed = MultitaskLearner(prior=prior(penalty=PENALTY), **common)
        if fixed.scores_together(tasks):
            return fixed
    if penalty is None or penalty == "auto":
        return MultitaskLearnerCV(prior=prior(), **_choosing(options), **common)
    return MultitaskLearner(prior=prior(penalty=penalty), **common)


def _choosing(options):
    """Return the parameters of the way in which the penalty is chosen."""
    if options.choose == "posterior":
        return {"validation": "posterior"}
    if options.folds is not None and options.folds < 2:
        raise InputError(
            "folds",
            "must be 2 or more where folds choose the penalty",
            options.folds,
            remedies=("add {choose=posterior}", "give {penalty}"),
        )
    rule = "one-standard-error" if options.choose == "one-standard-error" else "best"
    return {"cv": options.folds, "rule": rule}


def has_folds(learner):
    """Say whether folds choose the penalty, so that they are there to compare, too."""
    from bnmtl.learners import MultitaskLearnerCV

    return isinstance(learner, MultitaskLearnerCV) and learner.way_of_choosing() != "posterior"


def n_folds(options, learner, tasks):
    """Return the number of folds; None is ten."""
    if options.folds is not None or has_folds(learner) or not learner.scores_together(tasks):
        return options.folds
    return min(_FOLDS_TO_COMPARE, most_folds(tasks))


def check_choice(options):
    """Raise ValueError where a way of choosing is asked for, and a penalty is given."""
    if options.choose is not None and options.penalty not in (None, "auto"):
        raise InputError(
            "choose",
            "must go with {penalty=auto}",
            found="a penalty is given",
            remedies="leave one of the two out",
        )
