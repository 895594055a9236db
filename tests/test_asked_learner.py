"""Which learner the options of `bnmtl learn` ask for, and how many folds judge it."""

import pytest
from command import frame

from bnmtl import EditPrior, MultitaskLearner, MultitaskLearnerCV, SingleTaskLearner
from bnmtl.cli.learner import check_choosing, has_folds, learner_asked_for, n_folds
from bnmtl.cli.options import Options
from bnmtl.scores import BDeu
from bnmtl.tasks import encode

TASKS = encode({"north": frame(0), "south": frame(1)})


def asked(common=None, tasks=TASKS, **options):
    options = Options(paths=("north.csv",), **options)
    learner = learner_asked_for(options, tasks, common or {})
    return learner, n_folds(options, learner, tasks)


def test_by_default_tables_are_shared_and_nothing_is_chosen():
    learner, folds = asked()
    assert type(learner) is MultitaskLearner and learner.table_sharing == "auto"
    assert learner.prior.penalty == MultitaskLearner()._used_prior().penalty == 0.99
    assert folds == 5
    assert isinstance(asked(prior="edit")[0].prior, EditPrior)
    assert asked(folds=7)[1] == 7


@pytest.mark.parametrize(
    "options, common, chooses, folds",
    [
        ({"penalty": "auto"}, {}, True, None),
        ({"choose": "cv"}, {}, True, None),
        ({"choose": "posterior"}, {}, False, 5),
        ({"table_sharing": "none"}, {}, True, None),
        ({"table_sharing": "none", "choose": "posterior"}, {}, False, None),
        # Tasks that are scored one by one need a penalty that is chosen.
        ({"score": "bdeu"}, {"score": BDeu()}, True, None),
    ],
)
def test_what_is_not_scored_together_or_asked_to_be_chosen_is_chosen(
    options, common, chooses, folds
):
    learner, found = asked(common, **options)
    assert type(learner) is MultitaskLearnerCV
    assert has_folds(learner) == chooses and found == folds


def test_a_given_penalty_and_one_task():
    learner, folds = asked(penalty=0.5, table_sharing="none")
    assert learner.prior.penalty == 0.5 and learner.table_sharing is None and folds is None
    with pytest.warns(UserWarning, match="leave out `penalty`"):
        one, folds = asked(tasks=encode({"north": frame(0)}), penalty="auto")
    assert type(one) is SingleTaskLearner and folds is None
    with pytest.raises(ValueError, match="`choose` must go with `penalty='auto'`"):
        check_choosing(Options(paths=("north.csv",), choose="cv", penalty=0.5))
    with pytest.raises(ValueError, match="`folds` must be 2 or more"):
        asked(choose="cv", folds=1)
