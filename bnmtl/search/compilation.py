"""Compilation of kernels at the first search on a machine: what it needs, progress, processes."""

import multiprocessing
import sys
import threading
from contextlib import contextmanager

from joblib import cpu_count

from bnmtl._kernels import (
    all_sets,
    climbing,
    coupling,
    dags,
    orders,
    scoring,
    shared_tables,
    sharing,
    subsets,
    task_sets,
    terms,
)
from bnmtl._kernels._jit import (
    compilable,
    compile_now,
    is_first_run,
    is_kept,
    kernels_within,
    name_of,
    uncompiled,
    watched_compilation,
)
from bnmtl._kernels.ahead import Processes, is_worth_it
from bnmtl._kernels.groups import MOST_EXACT
from bnmtl.priors import EditPrior, PairedPrior
from bnmtl.progress import Reporter
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
_COUPLED_AND_SHARED = (terms.keep, all_sets.shared_value, task_sets.evidence_of)


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
        called += (
            *_COUPLED_AND_SHARED,
            task_sets.worth_of if has_many else task_sets.refresh_child,
        )
    return called + (search_kernels(QUICK, prior, min(n_sharing, 2)) if finds_groups else ())


def _of_search(search, n_sharing):
    """The kernels of a kind of search for one graph."""
    if isinstance(search, Orders):
        return _ORDERS
    if isinstance(search, Exact):
        return _EXACT + (sharing.add_scores_together,) * (n_sharing > 0)
    return (climbing.tabu_walk,) + (climbing.restart,) * int(search.restarts > 0)


# What Python calls to estimate tables that tasks share.
SHARED_TABLES = (shared_tables.leave_one_out, shared_tables.add_tables)

# The processes that were started for a search to come, and the lock of whoever starts some.
_STARTED = []
_LOCK = threading.Lock()


def _processes(called, n_jobs=None):
    """Start processes for what has not been compiled yet; None if there is no use in that."""
    known = set(compilable().values())
    lacking = [kernel for kernel in uncompiled(called) if kernel in known and is_kept(kernel)]
    n = cpu_count() if n_jobs is None else n_jobs
    # Programs that embed Python are not an interpreter, and each worker of a pool would start more.
    is_able = sys.executable and not getattr(sys, "frozen", False)
    if n < 2 or not is_able or multiprocessing.parent_process() or not is_worth_it(lacking):
        return None
    return Processes(lacking, n)


@contextmanager
def compiled_ahead(called):
    """Compile kernels in other processes while the block prepares a search.

    The search waits for them; those that are left at the end of the block are ended.

    Parameters
    ----------
    called : iterable
        As returned by `search_kernels`.
    """
    with _LOCK:
        processes = _processes(called)
        if processes is not None:
            _STARTED.append(processes)
    try:
        yield
    finally:
        if processes is not None:
            processes.end()
            with _LOCK:
                _STARTED[:] = [started for started in _STARTED if started is not processes]


def compile_together(called, listener, n_jobs=None):
    """Compile kernels in several processes.

    What they leave, which is all of it on a single core, is compiled when it is called.

    Parameters
    ----------
    called : iterable
        As returned by `search_kernels`.
    listener : callable
        Called with the name of each compiled function.
    n_jobs : int, default=None
        Number of processes; None: as many as there are cores.
    """
    with _LOCK:
        while _STARTED:
            _STARTED.pop().wait(listener)
        processes = _processes(called, n_jobs)
        if processes is not None:
            try:
                processes.wait(listener)
            finally:
                processes.end()


@contextmanager
def compilation_reported(report, called=None, n_jobs=None):
    """Compile kernels, if this is the first run on the machine, and report each.

    Parameters
    ----------
    report : Reporter
        Gets no event while another thread reports.
    called : tuple, default=None
        The kernels that Python will call. None: unknown, so there is no total.
    n_jobs : int, default=None
        As in `compile_together`.
    """
    lacking = None if called is None else uncompiled(called)
    if not (is_first_run() if lacking is None else lacking):
        yield
        return
    needed = None if lacking is None else {name_of(kernel) for kernel in kernels_within(lacking)}
    total, done = None if needed is None else len(needed), set()
    stage = "compiling once (about a minute)"

    def count(name):
        if needed is None or name in needed:
            done.add(name)
            report.offer(stage, done=len(done), total=total)

    report(stage, total=total)
    if lacking:
        compile_together(lacking, count, n_jobs)
    with watched_compilation(lambda function: count(name_of(function))):
        yield


def compile_all(progress=False, n_jobs=None):
    """Compile the kernels of all searches, where that has not been done, and keep them on disk.

    Parameters
    ----------
    progress : bool or callable, default=False
        As in `bnmtl.progress.Reporter`.
    n_jobs : int, default=None
        Number of processes; None: as many as there are cores.

    Returns
    -------
    int
        How many kernels have been compiled.

    Raises
    ------
    OSError
        If no folder for compiled kernels can be written.
    """
    kernels = list(compilable().values())
    if not all(map(is_kept, kernels)):
        raise OSError("No folder for compiled kernels can be written; set NUMBA_CACHE_DIR.")
    lacking = uncompiled(kernels)
    with Reporter(progress) as report, compilation_reported(report, lacking, n_jobs):
        for kernel in uncompiled(lacking):
            compile_now(kernel)
    return len(lacking)
