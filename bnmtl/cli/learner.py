"""The learner that the options of `learn` and `relate` describe, and its folds."""

from dataclasses import fields
from pathlib import Path

from bnmtl import scores
from bnmtl.cli.messages import conflict
from bnmtl.cli.options import GROUPS_WORDS
from bnmtl.cli.runs import fit_parameters
from bnmtl.errors import InputError, located, warn
from bnmtl.io.knowledge import read_arcs, read_task_groups, read_tiers
from bnmtl.learners import MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner
from bnmtl.learners.held_out import most_folds
from bnmtl.learners.multitask import PENALTY
from bnmtl.priors import ArcPrior, EditPrior, PairedPrior
from bnmtl.search import HillClimbing, Limits, Orders
from bnmtl.search.compilation import SHARED_TABLES, search_kernels
from bnmtl.search.options import search_of
from bnmtl.wording import listed

_PRIORS = {"paired": PairedPrior, "edit": EditPrior}
# Options that couple tasks.
_COUPLING = ("prior", "penalty", "choose", "table_sharing", "task_groups")
# Default if tasks are scored together, which takes longer.
_FOLDS_TO_COMPARE = 5


def score_named(options):
    """Return the score named by the options."""
    name, size = options.score, options.equivalent_sample_size
    if name in ("bdeu", "bds"):
        sized = scores.BDeu if name == "bdeu" else scores.BDs
        return sized(1.0 if size is None else size)
    if size is not None:
        argument = "equivalent_sample_size"
        message = f"must go with `score='bdeu'` or `score='bds'`; {name} has none"
        raise InputError(message, argument=argument, options=("score",), remedy="leave it out")
    if name == "mixed-dirichlet":
        return scores.MixedDirichlet()
    return {"k2": scores.K2, "bic": scores.BIC, "aic": scores.AIC}[name]()


def common_parameters(options, tasks, score, progress):
    """Return the parameters shared by all learners of a run."""
    chance = options.arc_probability
    is_number = chance not in ("auto", "none")
    return {
        "score": score,
        "required": _read_known(options, "required", read_arcs, tasks) or (),
        "forbidden": _read_known(options, "forbidden", read_arcs, tasks) or (),
        "tiers": _read_known(options, "tiers", read_tiers, tasks),
        "search": _search(options),
        "structure_prior": ArcPrior(chance) if is_number else None if chance == "none" else "auto",
        "max_parents": options.max_parents,
        "limits": Limits(max_cells=options.max_cells),
        "parameter_sample_size": options.parameter_sample_size,
        **fit_parameters(options, progress),
    }


def kernels_needed(options):
    """Return the kernels that a run calls, as far as they are known before data are read."""
    is_alone = len(options.paths) == 1 and options.task_column is None
    shares_tables = options.table_sharing == "auto" and not is_alone
    prior = None if is_alone else _PRIORS[options.prior](penalty=PENALTY)
    # More kernels are needed for many tasks.
    n_sharing = 2 * (shares_tables and options.score == "mixed-dirichlet")
    finds_groups = options.task_groups == "auto" and not is_alone
    needed = search_kernels(_search(options), prior, n_sharing, finds_groups)
    return needed + SHARED_TABLES * shares_tables


def _read_known(options, name, read, tasks):
    """Return the knowledge in the file of an option, or None if the option is not given."""
    path = getattr(options, name)
    if path is None:
        return None
    with located(argument=name):
        return read(path, tasks)


def _search(options):
    """Return the search described by the options."""
    search = options.search
    if search is None:
        search = "orders" if options.restarts is None else "hill-climbing"
    for option, needed in (("starts", "orders"), ("restarts", "hill-climbing")):
        if getattr(options, option) is not None and search != needed:
            message = f"belongs to `search={needed!r}`; the search is {search}"
            raise conflict(option, "search", message)
    if options.restarts is not None:
        return HillClimbing(restarts=options.restarts)
    return search_of(search) if options.starts is None else Orders(starts=options.starts)


def learner_at(penalty, prior, table_sharing, common, task_groups=None):
    """Return an unfitted learner of several tasks, given the values of the options.

    ``common`` are the parameters shared by all learners of the run; ``task_groups`` is None, "auto"
    or a dict task -> str.
    """
    sharing = None if table_sharing == "none" else table_sharing
    prior = _PRIORS[prior](penalty=penalty)
    return MultitaskLearner(prior=prior, table_sharing=sharing, task_groups=task_groups, **common)


def learner_asked_for(options, tasks, common):
    """Return an unfitted learner for the tasks; ``common`` as in `learner_at`."""
    if len(tasks) == 1:
        _warn_of_one_task(options)
        return SingleTaskLearner(**common)
    asked = options.prior, options.table_sharing, common, _task_groups(options, tasks)
    if options.penalty not in (None, "auto"):
        return learner_at(options.penalty, *asked)
    fixed = learner_at(PENALTY, *asked)
    if options.penalty is None and options.choose is None and fixed._scores_together(tasks):
        return fixed
    parameters = {"table_sharing": fixed.table_sharing, "task_groups": fixed.task_groups}
    parameters |= {**_choosing(options), **common}
    return MultitaskLearnerCV(prior=_PRIORS[options.prior](), **parameters)


def _task_groups(options, tasks):
    """Return the groups of tasks: None is one group, "auto" finds them, a dict is from a file."""
    if options.task_groups in GROUPS_WORDS:
        return None if options.task_groups == "one" else options.task_groups
    path = Path(options.task_groups)
    if not path.suffix and not path.exists():
        rule = "must be auto, one or a file with the columns task,group"
        raise InputError(f"{rule}, got {options.task_groups!r}", argument="task_groups")
    with located(argument="task_groups"):
        return read_task_groups(options.task_groups, tasks)


def _warn_of_one_task(options):
    """Warn about options that couple tasks, if they are not the default."""
    defaults = {option.name: option.default for option in fields(options)}
    given = [name for name in _COUPLING if getattr(options, name) != defaults[name]]
    if given:
        message = "Options about several tasks have no effect on one"
        warn(message, options=given, remedy=f"leave out {listed(given, limit=None)}")


def _choosing(options):
    """Return the parameters that define how the penalty is chosen."""
    if options.choose == "posterior":
        return {"validation": "posterior"}
    if options.folds is not None and options.folds < 2:
        message = f"must be 2 or more where folds choose the penalty, got {options.folds!r}"
        raise InputError(
            message,
            argument="folds",
            options=("choose", "penalty"),
            remedy="add `choose='posterior'`, or give `penalty`",
        )
    rule = "one-standard-error" if options.choose == "one-standard-error" else "best"
    return {"cv": options.folds, "rule": rule}


def has_folds(learner):
    """Whether folds choose the penalty, so that the comparison can reuse them."""
    return isinstance(learner, MultitaskLearnerCV) and learner._way_of_choosing() != "posterior"


def n_folds(options, learner, tasks):
    """Return the number of folds; None means ten."""
    if options.folds is not None or has_folds(learner) or not learner._scores_together(tasks):
        return options.folds
    return min(_FOLDS_TO_COMPARE, most_folds(tasks))


def check_choosing(options):
    """Raise InputError if both a penalty and a way to choose it are given."""
    if options.choose is not None and options.penalty not in (None, "auto"):
        message = "must go with `penalty='auto'`; a penalty is given"
        raise conflict("choose", "penalty", message)
