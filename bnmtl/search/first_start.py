"""Report the kernels that the first search on a machine compiles."""

from contextlib import contextmanager

from bnmtl._kernels import (
    cache,
    changes,
    climbing,
    coupling,
    dags,
    merging,
    orders,
    scoring,
    sharing,
    takers,
)
from bnmtl._kernels._jit import is_first_run, kernels_within, watched_compilation
from bnmtl._kernels.groups import MOST_EXACT

# What Python calls in every search of a kind, whatever its size.
_ORDERS = (
    changes.draw_near,
    climbing.climb,
    climbing.climb_changed,
    climbing.refresh_from,
    climbing.restart,
    climbing.start_at,
    dags.copy_dag,
    dags.total_score,
    merging.merge,
    orders.climb_from,
    orders.know_families,
    orders.read_order,
    orders.search_orders,
    scoring.GAINS_CALLBACK,
    scoring.graph_score,
)
_COUPLED = (
    coupling.gather_gains,
    coupling.optimistic_gains,
    coupling.paired_states,
    orders.draw_extension,
)
_SHARED = (sharing.EXACT_ROW, sharing.GAINS_TOGETHER, sharing.graph_score_together)
_COUPLED_AND_SHARED = (cache.keep, sharing.shared_value, takers.evidence_of)


def order_kernels(is_coupled, n_sharing):
    """The kernels that a search over orders calls from Python.

    Parameters
    ----------
    is_coupled : bool
        Whether tasks are learned together, under a `PairedPrior`.
    n_sharing : int
        Number of tasks that share tables in the score; 0 if none do.

    Returns
    -------
    tuple
    """
    called = _ORDERS + _COUPLED * is_coupled
    if n_sharing == 0:
        return called
    has_many = n_sharing > MOST_EXACT
    called += _SHARED + (sharing.PROBABLE_ROW,) * has_many
    if is_coupled:
        called += (*_COUPLED_AND_SHARED, takers.worth_of if has_many else takers.refresh_child)
    return called


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
    stage = "compiling, on the first run only"

    def count(function):
        if needed is None or function in needed:
            done.add(function)
            report.offer(stage, done=len(done), total=total)

    report(stage, total=total)
    with watched_compilation(count):
        yield
