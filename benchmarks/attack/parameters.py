"""Odd values of every parameter of the estimators and functions."""

import contextlib
import decimal
import fractions
import inspect
import io
import itertools

import numpy as np
import pandas as pd

from benchmarks.attack.frames import N, base, good_labels
from benchmarks.attack.leaks import Case

MUST_FAIL_FOR_WHOLE = {
    "array",
    "array one",
    "array 0d",
    "NA",
    "NaT",
    "fraction",
    "Fraction",
    "Decimal",
    "complex",
    "bytes",
    "object",
    "dict",
    "set",
    "list",
    "tuple",
    "nan",
    "inf",
    "series",
    "frame",
    "type",
    "np.float fraction",
    "huge",
    "enormous",
    "digits",
    "np.datetime",
}
# Whole numbers that have no natural maximum: limits, of which more is no limit, and seeds.
WITHOUT_MAXIMUM = {
    "random_state",
    "max_cells",
    "max_families",
    "max_memory",
    "max_parents",
    "max_depth",
    "patience",
    "max_steps",
    "min_samples_leaf",
    "min_samples_split",
    "max_leaf_nodes",
    "n_jobs",
    "last",
    "n_labels",
    "n_more",
    "max_iterations",
}


def odd_values():
    """{name: value}."""
    return {
        "None": None,
        "text": "x",
        "empty": "",
        "digits": "1",
        "minus": -1,
        "zero": 0,
        "one": 1,
        "half": 0.5,
        "fraction": 1.5,
        "nan": float("nan"),
        "inf": float("inf"),
        "huge": 10**12,
        "enormous": 10**30,
        "huge float": 1e300,
        "True": True,
        "list": [],
        "list one": [1],
        "tuple": (1, 2),
        "set": {1},
        "dict": {},
        "dict one": {"a": 1},
        "array": np.array([1, 2]),
        "array one": np.array([3]),
        "array 0d": np.array(3),
        "array empty": np.array([]),
        "array texts": np.array(["a", "b"]),
        "series": pd.Series([1, 2]),
        "frame": pd.DataFrame({"a": [1, 2]}),
        "np.int": np.int64(3),
        "np.uint8": np.uint8(3),
        "np.float": np.float64(0.5),
        "np.float fraction": np.float32(1.5),
        "np.bool": np.bool_(True),
        "np.str": np.str_("x"),
        "np.datetime": np.datetime64("2020-01-01"),
        "NA": pd.NA,
        "NaT": pd.NaT,
        "Fraction": fractions.Fraction(3, 2),
        "Decimal": decimal.Decimal("1.5"),
        "complex": 1j,
        "bytes": b"x",
        "object": object(),
        "function": lambda *a, **k: None,
        "type": int,
        "generator": (at for at in range(3)),
        "nested": [[1, 2], [3]],
        "text many": ["a", "b"],
        "int negative np": np.int64(-5),
        "range": range(3),
        "interval": pd.Interval(0, 1),
        "estimator": __import__("sklearn.naive_bayes", fromlist=["x"]).GaussianNB(),
        "Ellipsis": ...,
        "NotImplemented": NotImplemented,
    }


def _jobs():
    """{name: (base arguments, call of arguments, names of the odd ones)}."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    from bnmtl import (
        HillClimbing,
        IdenticalLearner,
        MultitaskLearner,
        MultitaskLearnerCV,
        Orders,
        PooledLearner,
        SingleTaskLearner,
        active,
        calibration,
        classification,
        confidence,
        decorate,
        ensembles,
        learners,
        metrics,
        plotting,
        priors,
        problems,
        relatedness,
        scores,
        structures,
        tasks,
        trees,
        validation,
    )
    from bnmtl.search import Limits

    rng = np.random.default_rng(0)
    numbers, mixed = base("numbers", rng), base("mixed", rng)
    labels = good_labels(numbers)
    mixed_labels = good_labels(mixed)
    two = {"one": mixed, "two": base("mixed", rng)}
    quick = HillClimbing(restarts=0)
    single = SingleTaskLearner(search=quick, random_state=0)
    several = MultitaskLearner(search=quick, random_state=0)
    found = {}

    def estimator(make, use, **given):
        names = [name for name in inspect.signature(make.__init__).parameters if name != "self"]
        found[make.__name__] = (
            given,
            (lambda make=make, use=use, **kw: use(make(**kw))),
            names,
            make,
        )

    def function(call, names=None, label=None, **given):
        every = names or list(inspect.signature(call).parameters)
        found[label or call.__name__] = given, call, every, call

    def fits(X, y):
        return lambda made: made.fit(X, y).predict_proba(X)

    def learner_fit(made):
        return made.fit(two)

    for make in (SingleTaskLearner, IdenticalLearner, PooledLearner, MultitaskLearner):
        estimator(make, learner_fit, search=quick, random_state=0)
    estimator(
        MultitaskLearnerCV, learner_fit, search=quick, random_state=0, penalties=[0.5, 0.9], cv=2
    )
    estimator(Orders, lambda made: SingleTaskLearner(search=made, random_state=0).fit(mixed))
    estimator(
        HillClimbing,
        lambda made: SingleTaskLearner(search=made, random_state=0).fit(mixed),
        restarts=1,
    )
    estimator(
        Limits, lambda made: SingleTaskLearner(search=quick, limits=made, random_state=0).fit(mixed)
    )
    for make in (scores.BDeu, scores.BDs, scores.MixedDirichlet):
        estimator(
            make, lambda made: SingleTaskLearner(made, search=quick, random_state=0).fit(mixed)
        )
    for make in (priors.ArcPrior,):
        estimator(
            make,
            lambda made: SingleTaskLearner(search=quick, structure_prior=made, random_state=0).fit(
                mixed
            ),
        )
    for make in (priors.EditPrior, priors.PairedPrior):
        estimator(make, lambda made: MultitaskLearner(made, search=quick, random_state=0).fit(two))
    estimator(
        priors.ReferencePrior,
        lambda made: SingleTaskLearner(search=quick, structure_prior=made, random_state=0).fit(
            mixed
        ),
        graph=__import__("networkx").DiGraph([("a", "b")]),
    )

    for make in (
        classification.BayesNetClassifier,
        classification.MultiNetClassifier,
        classification.MultitaskBayesNetClassifier,
    ):
        estimator(
            make,
            fits(mixed, mixed_labels),
            learner=single if make is classification.BayesNetClassifier else several,
        )
    estimator(classification.NetworkSampler, lambda made: made.fit(mixed).sample(3), learner=single)
    estimator(
        classification.NetworkImputer,
        lambda made: made.fit(mixed).transform(mixed),
        learner=SingleTaskLearner(search=quick, missing="drop"),
    )
    estimator(trees.ProbabilityTree, fits(numbers, labels))
    for make in (trees.BaggedPETs, trees.EnhancedBaggedPETs, trees.MOBESP):
        estimator(make, fits(numbers, labels), n_estimators=2, random_state=0)
    estimator(
        decorate.DecorateClassifier,
        fits(mixed, mixed_labels),
        n_estimators=2,
        max_iterations=2,
        random_state=0,
    )
    for make in (active.BaggingCommittee, active.BoostingCommittee, active.TreeCommittee):
        estimator(make, fits(mixed, mixed_labels), n_estimators=2, random_state=0)
    estimator(
        active.SingleClassifier,
        fits(mixed, mixed_labels),
        estimator=DecisionTreeClassifier(),
        random_state=0,
    )
    asked = pd.Series(mixed_labels, dtype=object)
    asked[3:8] = None
    for make in (
        active.RandomQuery,
        active.MarginSampling,
        active.QueryByBagging,
        active.QueryByBoosting,
        active.ActiveDecorate,
        active.ActiveDecorateJS,
        active.BootstrapJS,
        active.BootstrapLV,
        active.BootstrapLVExt,
    ):
        given = {"random_state": 0}
        if "n_estimators" in inspect.signature(make.__init__).parameters:
            given["n_estimators"] = 2
        if make is active.MarginSampling:
            given["estimator"] = DecisionTreeClassifier()
        estimator(make, lambda made: made.query(mixed, asked), **given)
        function(
            lambda make=make, given=given, **kw: make(**given).query(**kw),
            ["candidates", "batch_size"],
            f"{make.__name__}.query",
            X=mixed,
            y=asked,
        )
    halves = ["s", "t"] * (N // 2)
    estimator(
        active.MultitaskQuery,
        lambda made: made.query(mixed, asked, halves),
        n_members=2,
        random_state=0,
    )
    function(
        lambda **kw: active.MultitaskQuery(n_members=2, random_state=0).query(mixed, asked, **kw),
        ["task", "candidates", "batch_size", "cost"],
        "MultitaskQuery.query",
        task=halves,
    )
    observed = np.ones((N, 3), dtype=bool)
    observed[:6, 1] = False
    for make, method, given in (
        (active.RandomAcquisition, "acquire", {}),
        (active.ErrorSampling, "acquire", {}),
        (active.GODA, "acquire", {"n_imputations": 1, "n_candidates": 1}),
        (active.ExpectedUtility, "acquire_cells", {"n_candidates": 1, "n_values": 1}),
    ):
        estimator(
            make,
            lambda made, method=method: getattr(made, method)(
                mixed, mixed_labels, observed, batch_size=1
            ),
            random_state=0,
            **given,
        )
        function(
            lambda make=make, method=method, given=given, **kw: getattr(
                make(random_state=0, **given), method
            )(mixed, mixed_labels, **kw),
            ["observed", "batch_size", "cost"],
            f"{make.__name__}.{method}",
            observed=observed,
            batch_size=1,
        )
    estimator(
        calibration.AdaBoostM1,
        fits(numbers, labels),
        estimator=DecisionTreeClassifier(max_depth=1),
        n_estimators=2,
        random_state=0,
    )
    estimator(calibration.CalibratedClassifier, fits(numbers, labels), estimator=GaussianNB(), cv=2)
    for make in (
        calibration.PlattCalibrator,
        calibration.TemperatureCalibrator,
        calibration.IsotonicCalibrator,
    ):
        estimator(make, lambda made: made.fit(np.linspace(0.1, 0.9, N), np.arange(N) % 2))
    estimator(
        calibration.MultitaskPlattCalibrator,
        lambda made: made.fit(np.linspace(0.1, 0.9, N), np.arange(N) % 2, task=halves),
    )
    pairs = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
    estimator(ensembles.Stacking, fits(numbers, labels), estimators=pairs, cv=2)
    function(
        ensembles.blending,
        ["estimators", "method", "share", "random_state", "n_jobs", "sample_weight", "groups"],
        estimators=pairs,
        X=numbers,
        y=labels,
        share=0.4,
    )
    p = np.random.default_rng(0).uniform(0.1, 0.9, (4, N))
    y = np.arange(N) % 2
    store = ensembles.PredictionStore(p, y)
    estimator(
        ensembles.EnsembleSelector,
        lambda made: made.fit(store),
        bags=2,
        max_steps=5,
        random_state=0,
    )
    for call in (
        ensembles.basic_selection,
        ensembles.best_single,
        ensembles.best_of_families,
        ensembles.model_averaging,
        ensembles.mean_of_all,
    ):
        function(call, label=call.__name__, store=store)
    function(ensembles.PredictionStore, label="PredictionStore", predictions=p, y=y)
    function(
        ensembles.WeightedEnsemble, label="WeightedEnsemble", store=store, weights=np.full(4, 0.25)
    )
    estimator(ensembles.Munge, lambda made: made.fit(mixed).sample(3), size=1, random_state=0)
    teacher = DecisionTreeClassifier(random_state=0).fit(numbers, labels)
    estimator(
        ensembles.Mimic,
        lambda made: made.fit(numbers, labels),
        teacher=teacher,
        student=DecisionTreeClassifier(),
        sizes=(20,),
        random_state=0,
    )
    for make in (
        ensembles.MarginalSampler,
        ensembles.NaiveBayesSampler,
        ensembles.Munge,
        classification.NetworkSampler,
    ):
        fitted = (
            (make(random_state=0) if make is classification.NetworkSampler else make()).fit(
                numbers, labels
            )
            if make is not ensembles.Munge
            else make(1).fit(numbers)
        )
        function(
            lambda fitted=fitted, **kw: fitted.sample(**kw),
            ["n", "random_state"],
            f"{make.__name__}.sample",
            n=3,
        )
    network = structures.load("asia")
    function(lambda **kw: network.sample(**kw), ["n", "random_state"], "BayesNet.sample", n=3)
    function(
        lambda **kw: network.predict_proba(**kw),
        ["evidence", "target"]
        if "evidence" in inspect.signature(network.predict_proba).parameters
        else list(inspect.signature(network.predict_proba).parameters),
        "BayesNet.predict_proba",
        frame=network.sample(5, 0),
        variable="bronc",
    )
    for call, given in (
        (problems.random_network, {"n_variables": 3}),
        (problems.perturb, {"network": network, "n_tasks": 2}),
        (problems.deletion, {"network": network, "n_tasks": 2}),
        (problems.unrelated, {"network": network, "n_tasks": 2}),
    ):
        function(
            call,
            [name for name in inspect.signature(call).parameters if name != "network"],
            **given,
        )
    problem = problems.perturb(network, n_tasks=2, random_state=0)
    function(problems.sample, problem=problem, n_rows=5)
    function(tasks.discretize, tasks={"one": numbers.astype(float) + 0.5})
    function(tasks.encode, tasks=two)
    function(tasks.split, frame=mixed, column="c")
    for call in (relatedness.direct, relatedness.evidence, relatedness.shared):
        function(call, tasks=two, learner=several)
    function(relatedness.indirect, tasks=two, learner=several, cv=2)
    function(learners.compare, label="learners.compare", learner=several, tasks=two, cv=2)
    function(confidence.arc_confidence, tasks=two, learner=several, n_bootstrap=2)
    function(confidence.arc_stability, tasks=two, learner=several, n=2)
    function(
        confidence.predictive_check, networks=several.fit(two).networks_, tasks=several.tasks_, n=20
    )
    function(
        validation.predict_rounds,
        estimator=GaussianNB(),
        X=numbers,
        y=labels,
        rounds=2,
        random_state=0,
    )
    rounds = validation.predict_rounds(GaussianNB(), numbers, labels, rounds=5, random_state=0)
    function(validation.bootstrap_error, rounds=rounds, n_resamples=20)
    function(validation.bias_variance, rounds=rounds)
    function(
        validation.compare, label="validation.compare", first=rounds, second=rounds, n_resamples=20
    )
    function(validation.jackknife, data=rounds, n_samples=20) if False else function(
        validation.jackknife, data=[1, 0, 1, 1], statistic=np.mean, n_samples=20
    )
    function(validation.voters_error, n_voters=3, error=0.3)
    function(
        validation.forest_bound,
        forest=trees.BaggedPETs(2, random_state=0).fit(numbers, labels),
        X=numbers,
        y=labels,
    )
    function(decorate.diversity, ensemble=np.tile([0.4, 0.6], (2, N, 1)))
    curves = pd.DataFrame(
        {
            "strategy": ["s"] * 4,
            "fold": 0,
            "repeat": 0,
            "n_labels": [1, 2, 3, 4],
            "error": [0.5, 0.4, 0.3, 0.2],
        }
    )
    for call in (active.forecast, active.improvement, active.data_utilization):
        given = {"curves": curves, "n_labels": 2, "n_more": 2, "reference": "s"}
        names = list(inspect.signature(call).parameters)
        function(call, **{name: value for name, value in given.items() if name in names})
    function(
        active.run_experiment,
        strategies={"random": active.RandomQuery(random_state=0)},
        data={"d": (numbers, labels)},
        predictor=DecisionTreeClassifier(),
        first=5,
        n_labels=7,
        cv=2,
        random_state=0,
    )
    function(
        ensembles.build_library,
        [
            name
            for name in inspect.signature(ensembles.build_library).parameters
            if name not in ("out", "profile")
        ],
        X=pd.concat([numbers] * 2),
        y=labels * 2,
        profile="fast",
        time_limit=0.01,
        random_state=0,
    ) if "fast" in str(inspect.signature(ensembles.build_library)) else None
    for name in dir(metrics.prediction):
        call = getattr(metrics.prediction, name)
        if (
            name.startswith("_")
            or not inspect.isfunction(call)
            or call.__module__ != metrics.prediction.__name__
        ):
            continue
        names = list(inspect.signature(call).parameters)
        if names[:2] == ["y", "p"]:
            function(call, label=f"metrics.{name}", y=y, p=p[0])
    function(calibration.reliability, y=y, p=p[0])
    function(calibration.learning_curve, scores=p[0], y=y, test_scores=p[1], test_y=y, n_draws=2)
    function(plotting.reliability, label="plotting.reliability", y=y, p=p[0])
    function(plotting.calibration_panel, y=y, predictions={"m": p[0]})
    function(
        plotting.dags,
        [name for name in inspect.signature(plotting.dags).parameters],
        configuration=several.configuration_,
    )
    function(plotting.arrange, configuration=several.configuration_)
    function(plotting.arcs, configuration=several.configuration_)
    function(
        plotting.compare,
        label="plotting.compare",
        true=several.configuration_,
        learned=several.configuration_,
    )
    function(plotting.penalties, validation_scores={0.5: -3.0, 0.9: -2.0})
    function(
        plotting.relatedness,
        label="plotting.relatedness",
        dissimilarity=pd.DataFrame([[0.0, 0.5], [0.5, 0.0]], index=["a", "b"], columns=["a", "b"]),
    )
    function(
        plotting.distances,
        dissimilarity=pd.DataFrame([[0.0, 0.5], [0.5, 0.0]], index=["a", "b"], columns=["a", "b"]),
        principal="a",
    )
    function(
        plotting.dendrogram,
        linkage_or_table=pd.DataFrame(
            [[0.0, 0.5], [0.5, 0.0]], index=["a", "b"], columns=["a", "b"]
        ),
    )
    function(
        plotting.method_scatter, table=pd.DataFrame({"u": [1.0, 2], "v": [2.0, 1]}), x="u", y="v"
    )
    function(
        plotting.error_by_diversity, table=pd.DataFrame({"diversity": [1.0, 2], "error": [2.0, 1]})
    )
    function(plotting.strategy_curves, curves=curves)
    return found


def cases(seed, part, n_parts):
    """Every n_parts-th case, from one of them on."""
    return itertools.islice(_all_cases(), part, None, n_parts)


def _all_cases():
    for name, (given, call, names, made) in _jobs().items():
        signature = {}
        with contextlib.suppress(TypeError, ValueError):
            signature = inspect.signature(made).parameters
        for parameter in names:
            default = (
                signature[parameter].default if parameter in signature else given.get(parameter)
            )
            current = given.get(parameter, default)
            is_whole = any(
                isinstance(value, int) and not isinstance(value, bool)
                for value in (default, current)
            )
            for kind, value in odd_values().items():
                must_fail = (
                    is_whole and kind in MUST_FAIL_FOR_WHOLE and parameter not in ("metric", "d")
                )
                if kind in ("huge", "enormous") and parameter in WITHOUT_MAXIMUM:
                    must_fail = False
                if kind == "array 0d" or (parameter == "cv" and kind in ("list", "dict", "set")):
                    must_fail = must_fail and kind == "array 0d"
                if isinstance(current, float) or isinstance(default, float):
                    must_fail = kind in {
                        "array",
                        "NA",
                        "NaT",
                        "complex",
                        "bytes",
                        "object",
                        "dict",
                        "set",
                        "list",
                        "tuple",
                        "series",
                        "type",
                        "nan",
                    }
                if parameter in ("missing_label",):
                    must_fail = False
                if parameter == "random_state" and kind not in {
                    "array",
                    "NA",
                    "bytes",
                    "dict",
                    "fraction",
                    "object",
                }:
                    must_fail = False

                def run(call=call, given=given, parameter=parameter, value=value):
                    if inspect.isgenerator(value):
                        value = (at for at in range(3))
                    with (
                        contextlib.redirect_stderr(io.StringIO()),
                        contextlib.redirect_stdout(io.StringIO()),
                    ):
                        call(**{**given, parameter: value})

                yield Case(f"{name}, {parameter}={kind}", run, must_fail, (parameter,))
            if is_whole and parameter not in ("random_state", "d", "last"):

                def accepts(call=call, given=given, parameter=parameter):
                    with (
                        contextlib.redirect_stderr(io.StringIO()),
                        contextlib.redirect_stdout(io.StringIO()),
                    ):
                        try:
                            call(**{**given, parameter: 2})
                        except Exception:
                            return
                        try:
                            call(**{**given, parameter: np.int64(2)})
                        except Exception as error:
                            raise AssertionError(f"refused: {error}") from None

                yield Case(f"{name}, {parameter}=np.int64(2)", accepts, False, (parameter,))
