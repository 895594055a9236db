"""Processes and clusters instead of threads learn the same, and share nothing by accident."""

import pickle
import time
import warnings

import joblib
import numpy as np
import pytest
import reference

from bnmtl import BDeu, MultitaskLearner, MultitaskLearnerCV, Orders, PairedPrior, SingleTaskLearner
from bnmtl._kernels import trees
from bnmtl._kernels._jit import Arrays
from bnmtl.confidence import arc_confidence
from bnmtl.search import Limits
from bnmtl.search.effort import Effort, in_parallel
from bnmtl.tasks import encode

pytestmark = pytest.mark.beside_kernels

QUICK = {"search": Orders(starts=2, iterations=5), "random_state": 0}
LEARNERS = [
    SingleTaskLearner(**QUICK),
    MultitaskLearner(PairedPrior(0.9), table_sharing=None, **QUICK),
    MultitaskLearnerCV(penalties=[0, 0.9, 1], cv=3, table_sharing=None, **QUICK),
]


def tasks():
    """Three parts of the cells of Sachs et al., as sampled in the reference."""
    frame = reference.frame("sachs")
    return {name: frame.iloc[at::3].reset_index(drop=True) for at, name in enumerate("abc")}


def result(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(tasks())
    return learner.configuration_.to_frame().to_numpy().tolist(), learner.score_


@pytest.fixture(scope="module")
def expected():
    """What threads learn."""
    return [result(learner) for learner in LEARNERS]


def test_calls_share_the_time_that_is_left():
    """What one leaves goes to those after it; with two workers two run at a time."""

    def seconds(effort):
        return round(effort.deadline - time.time(), 1)

    shares = {}
    for n_jobs in (1, 2):
        effort = Effort(seed=0, n_jobs=n_jobs, deadline=time.time() + 12)
        shares[n_jobs] = list(in_parallel(seconds, [()] * 4, effort))
    assert shares[1] == pytest.approx([3, 4, 6, 12], abs=0.5)
    assert shares[2] == pytest.approx([6, 6, 12, 12], abs=0.5)
    odd = list(in_parallel(seconds, [()] * 3, Effort(seed=0, n_jobs=2, deadline=time.time() + 12)))
    assert odd == pytest.approx([6, 6, 12], abs=0.5)
    assert list(in_parallel(lambda effort: effort.deadline, [()], Effort(seed=0))) == [None]


def test_processes_learn_what_threads_learn(expected):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert [result(learner) for learner in LEARNERS] == expected


def test_a_cluster_learns_what_one_machine_learns(expected):
    """Two workers of dask, the extra [dask], to which everything is sent, in this process."""
    distributed = pytest.importorskip("dask.distributed")
    options = {"processes": False, "protocol": "tcp", "dashboard_address": None}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert [result(learner) for learner in LEARNERS] == expected


def test_processes_count_the_replicates_that_threads_count():
    expected = arc_confidence(tasks(), LEARNERS[0], n_bootstrap=3)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert arc_confidence(tasks(), LEARNERS[0], n_bootstrap=3).equals(expected)


def test_limits_that_end_a_search_elsewhere_are_reported():
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.warns(UserWarning, match="`max_families` ended a search .* it was 20"),
    ):
        SingleTaskLearner(**QUICK, limits=Limits(max_families=20)).fit(tasks())


def test_a_score_that_was_sent_counts_for_itself():
    """Kernels work with addresses: a copy has its own cache and memory."""
    task = encode({"a": reference.frame("asia")})["a"]
    score = BDeu().bind(task)
    score.local_score(1, [0, 2])
    copy = pickle.loads(pickle.dumps(score))
    assert copy.local_score(1, [0, 2]) == score.local_score(1, [0, 2])
    assert np.array_equal(copy.gains(3, [4]), score.gains(3, [4]), equal_nan=True)
    assert copy.engine.cache is not score.engine.cache


def test_arrays_for_kernels_are_checked_and_stay_where_they_are():
    tree = trees.new_tree(1, np.zeros((3, 3), dtype=bool), 10)
    with pytest.raises(TypeError, match="cannot be copied or sent"):
        pickle.dumps(tree)
    with pytest.raises(TypeError, match="roots: int32 of 1 dimensions, not .*int64.* of 1"):
        tree.replaced(roots=np.zeros(3, np.int32))
    with pytest.raises(TypeError, match="gains: float64 of 2 dimensions"):
        tree.replaced(gains=np.zeros((3, 4)).T)
    with pytest.raises(TypeError, match="used: int64 of 2 dimensions"):
        tree.replaced(used=np.zeros((2, 1), np.int64))
    assert isinstance(tree.replaced(roots=np.zeros(3, np.int64)), Arrays)
