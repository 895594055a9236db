"""Searches and limits as objects that learners take."""

import inspect
import pickle
from functools import partial

import networkx as nx
import pytest
from sklearn.base import clone
from small import ONE_GROUP, related

import bnmtl
from bnmtl import (
    BDeu,
    Exact,
    HillClimbing,
    IdenticalLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
    Orders,
    PairedPrior,
    PooledLearner,
    SingleTaskLearner,
    relatedness,
)
from bnmtl.confidence import arc_stability
from bnmtl.errors import InputError, InputTypeError
from bnmtl.search import Limits
from bnmtl.search.options import search_of

pytestmark = pytest.mark.beside_kernels

LEARNERS = (
    SingleTaskLearner,
    IdenticalLearner,
    PooledLearner,
    MultitaskLearner,
    MultitaskLearnerCV,
)
OPTIONS = (Orders(starts=2), HillClimbing(restarts=3, tabu=0), Exact(), Limits(max_cells=9))


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_options_are_values(options):
    assert clone(options) == options == pickle.loads(pickle.dumps(options))
    assert eval(repr(options), {**vars(bnmtl.search), "bnmtl": bnmtl}) == options
    assert all(options != other for other in OPTIONS if other is not options)
    assert options != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(options)
    with pytest.raises(TypeError, match="positional|no arguments"):
        type(options)(5)


def test_options_of_one_kind_differ_by_what_they_hold():
    assert Orders(starts=2) != Orders(starts=3) != Orders()
    assert Orders(starts=2).replaced(tabu=1) == Orders(starts=2, tabu=1)
    assert Limits(time_limit=1) != Limits(time_limit=2)


def test_learners_keep_what_they_are_given():
    search, limits = Orders(starts=3), Limits(max_families=100)
    for kind in LEARNERS:
        learner = kind(search=search, limits=limits)
        assert learner.search is search and learner.limits is limits
        assert kind().search == "orders" and kind().limits is None
        other = clone(learner).set_params(search__starts=4, limits__max_families=7)
        assert (other.search.starts, other.limits.max_families) == (4, 7)
        assert (search.starts, limits.max_families) == (3, 100)


@pytest.mark.parametrize(
    ("word", "options"),
    [("orders", Orders()), ("hill-climbing", HillClimbing()), ("exact", Exact())],
)
def test_words_mean_the_defaults(word, options):
    assert search_of(word) == options
    tasks = dict(list(related().items())[:2])
    one, other = (
        MultitaskLearner(search=search, **ONE_GROUP, random_state=0).fit(tasks)
        for search in (word, options)
    )
    assert one.score_ == other.score_
    assert one.configuration_.to_frame().equals(other.configuration_.to_frame())


@pytest.mark.parametrize("kind", LEARNERS)
def test_what_follows_prior_and_score_is_given_by_name(kind):
    parameters = inspect.signature(kind).parameters
    positional = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    expected = ["prior", "score"] if issubclass(kind, MultitaskLearner) else ["score"]
    assert positional == expected
    assert set(parameters) == set(kind().get_params(deep=False))


def test_an_option_of_a_word_is_refused():
    for learner in (SingleTaskLearner(), MultitaskLearner(PairedPrior(0.9))):
        with pytest.raises(InputTypeError, match=r"`search__starts` .* `search=Orders\(starts="):
            learner.set_params(search__starts=5)
        with pytest.raises(InputTypeError, match=r"`limits__time_limit` .* `limits=Limits\(time"):
            learner.set_params(limits__time_limit=5)
        with pytest.raises(ValueError, match="Invalid parameter 'seach'"):
            learner.set_params(seach__starts=5)
    # Together with the search that it belongs to it can be set.
    learner = SingleTaskLearner().set_params(search=Orders(), search__starts=5)
    assert learner.search == Orders(starts=5)


def test_unknown_options_are_refused_as_scikit_learn_does():
    with pytest.raises(ValueError, match="Invalid parameter 'restarts' for estimator Orders"):
        SingleTaskLearner(search=Orders()).set_params(search__restarts=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_start'"):
        SingleTaskLearner(n_start=5)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"search": Orders}, TypeError, "or one of them with its options, got <class"),
        ({"search": None}, TypeError, "`search` must be 'orders', 'hill-climbing' or 'exact'"),
        ({"limits": 60}, TypeError, "`limits` must be a `Limits` or None, got 60"),
        ({"search": Orders(starts=1.5)}, ValueError, "`starts` must be None or a whole number"),
        ({"search": Orders(iterations="x")}, TypeError, "`iterations` must be None or a whole"),
        ({"limits": Limits(max_cells=True)}, TypeError, "`max_cells` must be None or a whole"),
    ],
)
def test_options_are_checked_by_fit(parameters, error, words):
    with pytest.raises(error, match=words):
        SingleTaskLearner(**parameters).fit(related())


GROUPED, CHOOSING = MultitaskLearner(n_jobs=0), MultitaskLearnerCV(n_jobs=0)
WITHOUT_SMOOTHING = SingleTaskLearner(parameter_sample_size=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (MultitaskLearner(PairedPrior(2)).fit, "`penalty` must be a number from 0 to 1"),
        (MultitaskLearnerCV(PairedPrior(reversal=3)).fit, "`reversal` must be 1 or 2"),
        (SingleTaskLearner(BDeu(-1)).fit, "`equivalent_sample_size` must be a number above 0"),
        (IdenticalLearner(start={"t": nx.DiGraph()}).fit, "`start` of IdenticalLearner must be"),
        (partial(relatedness.direct, learner=GROUPED), "`n_jobs` must not be 0"),
        (partial(relatedness.shared, learner=GROUPED), "`n_jobs` must not be 0"),
        (partial(relatedness.evidence, learner=CHOOSING), "`n_jobs` must not be 0"),
        (partial(relatedness.indirect, learner=GROUPED), "`n_jobs` must not be 0"),
        (partial(relatedness.indirect, learner=WITHOUT_SMOOTHING), "`parameter_sample_size` must"),
        (relatedness.TaskClusterer(GROUPED).fit, "`n_jobs` must not be 0"),
        (relatedness.TaskSelector(CHOOSING, "t").fit, "`n_jobs` must not be 0"),
        (
            partial(arc_stability, learner=SingleTaskLearner(), compare={"other": GROUPED}),
            "`n_jobs` must not be 0",
        ),
        (partial(BDeu(-1).local_score, "a", []), "`equivalent_sample_size` must be a number"),
        (partial(BDeu().local_score, "a", ["b", "b"]), "`parents` must be distinct"),
    ],
)
def test_parameters_are_checked_before_the_data(call, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        call(None)


@pytest.mark.parametrize("kind", [SingleTaskLearner, IdenticalLearner, PooledLearner])
@pytest.mark.parametrize("search", ["exact", Exact()])
def test_a_start_that_exact_search_replaces_is_refused(kind, search):
    graph = nx.DiGraph([("x1", "x2")])
    with pytest.raises(InputError, match="`start` has no effect with `search='exact'`, which"):
        kind(search=search, start=graph).fit(related())
    kind(start=graph)._check_parameters()


@pytest.mark.filterwarnings("ignore:.time_limit. ended a search")
@pytest.mark.parametrize("kind", [SingleTaskLearner, IdenticalLearner, PooledLearner])
def test_an_exact_search_that_is_cut_short_keeps_the_start(kind):
    graph, limits = nx.DiGraph([("x1", "x2")]), Limits(time_limit=0)
    tasks = dict(list(related().items())[:2])
    learner = kind(search="exact", start=graph, limits=limits).fit(tasks)
    assert all(set(found.edges) == set(graph.edges) for found in learner.configuration_.values())


def test_configurations_start_from_a_graph_beside_exact_search():
    tasks = dict(list(related().items())[:2])
    graph = nx.DiGraph([("x1", "x2")])
    learner = MultitaskLearner(search="exact", start=graph, table_sharing=None).fit(tasks)
    assert learner.start_ == "given"
