"""Progress of the compilation of kernels at the first search on a machine."""

from contextlib import contextmanager

from bnmtl._kernels import (
    all_sets,
    climbing,
    coupling,
    dags,
    orders,
    scoring,
    sharing,
    subsets,
    takers,
    terms,
)
from bnmtl._kernels._jit import is_first_run, kernels_within, watched_compilation
from bnmtl._kernels.groups import MOST_EXACT
from bnmtl.priors import EditPrior, PairedPrior
from bnmtl.search.options import Exact, Orders
from bnmtl.search.task_groups import QUICK

# What Python calls in every search of a kind, whatever its size.
_EVERY = (
    climbing.climb,
    climbing.refresh_from,
    climbing.start_at,
    dags.total_score,
    scoring.GAINS_CALLBACK,
    scoring.graph_score,
)
_ORDERS = (
    climbing.draw_near,
    climbing.climb_changed,
    climbing.restart,
    dags.copy_dag,
    climbing.merge,
    orders.climb_from,
    orders.know_families,
    orders.read_order,
    orders.search_orders,
)
_EXACT = (scoring.by_set, subsets.add_scores, subsets.find_sinks)
_COUPLED = (coupling.gather_gains, coupling.optimistic_gains)
_SOLVERS = {PairedPrior: coupling.paired_states, EditPrior: coupling.edit_states}
_SHARED = (all_sets.EXACT_ROW, sharing.GAINS_TOGETHER, sharing.graph_score_together)
_COUPLED_AND_SHARED = (terms.keep, all_sets.shared_value, takers.evidence_of)


def search_kernels(search, prior, n_sharing, finds_groups=False):
    """The kernels that a search calls from Python.

    Parameters
    ----------
    search : Orders, HillClimbing or Exact
    prior : prior or None
        The prior of tasks that are learned together.
    n_sharing : int
        Number of tasks that share tables in the score; 0 if none do.
    finds_groups : bool, default=False
        Whether quick fits of few tasks find groups of tasks first.

    Returns
    -------
    tuple, or None
        None if the prior is not a built-in one with the same penalty for all tasks.
    """
    called, has_many = _EVERY + _of_search(search, n_sharing), n_sharing > MOST_EXACT
    if n_sharing:
        called += _SHARED + (all_sets.PROBABLE_ROW,) * has_many
    if prior is None:
        return called
    if type(prior) not in _SOLVERS or prior.by_task():
        return None
    called += *_COUPLED, _SOLVERS[type(prior)]
    called += (orders.draw_extension,) * isinstance(search, Orders)
    if n_sharing:
        called += (*_COUPLED_AND_SHARED, takers.worth_of if has_many else takers.refresh_child)
    return called + (search_kernels(QUICK, prior, min(n_sharing, 2)) if finds_groups else ())


def _of_search(search, n_sharing):
    """The kernels of a kind of search for one graph."""
    if isinstance(search, Orders):
        return _ORDERS
    if isinstance(search, Exact):
        return _EXACT + (sharing.add_scores_together,) * (n_sharing > 0)
    return (climbing.tabu_walk,) + (climbing.restart,) * (search.restarts > 0)


@contextmanager
def compilation_reported(report, called=None):
    """Report each compiled kernel if this is the first run on the machine.

    Parameters
    ----------
    report : Reporter
        Gets no event while another thread reports.
    called : tuple, default=None
        The kernels that Python will call. None: unknown, so there is no total.
    """
    if not is_first_run():
        yield
        return
    needed = None if called is None else kernels_within(called)
    total, done = None if needed is None else len(needed), set()
    stage = "compiling once (about a minute)"

    def count(function):
        if needed is None or function in needed:
            done.add(function)
            report.offer(stage, done=len(done), total=total)

    report(stage, total=total)
    with watched_compilation(count):
        yield
