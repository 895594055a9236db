"""A minute of the attack: bad input ends in a sentence of ours, and what is judged so is right."""

import itertools
import json
import os
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.attack import attack, folders, leaks
from benchmarks.attack.leaks import Case, Wrong, leak
from bnmtl import writing
from bnmtl.errors import InputError
from bnmtl.io import read_run

pytestmark = [
    pytest.mark.beside_kernels,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="cases are done by forks"),
]

# How many cases of which kinds are cheap.
FEW = {
    "odd frames and labels": 100,
    "odd parameters": 60,
    "BIF files": 60,
    "CSV tables": 100,
    "files of arcs, tiers and groups": 100,
    "Parquet tables": 150,
    "rounds in .npz files": 150,
    "stores of predictions": 80,
    "run.json": 40,
    "journals and links": 60,
    "names of tasks, variables, states": 40,
    "paths of outputs": 40,
}


@pytest.mark.parametrize("kind", FEW)
def test_bad_input_ends_in_a_sentence(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases, _, _, seconds = attack.KINDS[kind]
    n_cases, found = leaks.leaks(lambda: spread(cases, kind, tmp_path), seconds)
    assert n_cases == FEW[kind] and found == {}


def spread(cases, kind, folder):
    """Some cases of batch 0; of all combinations, those far from each other."""
    step = 37 if kind.startswith("odd") else 1
    return itertools.islice(cases(0, folder), 0, step * FEW[kind], step)


def test_kinds_that_are_not_cheap_run_in_the_study():
    slow = {
        *("bombs", "markup in names, on every page", "options of commands"),
        *("kills while a command writes", "writers of one place at once"),
    }
    assert set(attack.KINDS) == {*FEW, *slow}


PLAIN, STRANGE = st.sampled_from(folders.PLAIN), st.sampled_from(folders.STRANGE) | st.text()
NAMES = st.lists(PLAIN, max_size=2) | st.tuples(PLAIN, STRANGE).map(list)


@settings(max_examples=80)
@given(old=NAMES, new=NAMES)
def test_no_journal_moves_what_is_not_of_the_run(tmp_path_factory, old, new):
    place = folders._fresh(tmp_path_factory.mktemp("journal"))
    run, hidden = place / "run", writing._hidden(place, place / "run", "new")
    (run / "mine.txt").write_text("mine")
    (run / "link").symlink_to("..")
    hidden.mkdir()
    folders.fill(hidden, folders.THEIRS)
    text = json.dumps({"old": old, "new": new})
    (hidden / ".bnmtl-journal.json").write_text(text)
    before = folders.snapshot(place)
    try:
        read_run(run)
    except InputError as mistake:
        assert leaks.of_error(mistake) is None
    folders.check_kept(before, place, folders.LISTED, "run/")


def failing(error):
    def call():
        raise error

    return call


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (failing(InputError("must be 1, got 2", argument="x")), None),
        (failing(InputError("must be 1")), "no name: 'must be 1.'"),
        (failing(InputError("must be\n1", argument="x")), "not one sentence"),
        (failing(KeyError("x")), "KeyError at "),
        (failing(Wrong("other rows")), "wrong: other rows"),
        (failing(FileNotFoundError(2, "No such file", "x")), None),
        (lambda: warnings.warn("x", RuntimeWarning, stacklevel=1), "warning RuntimeWarning: 'x'"),
        (lambda: time.sleep(5), "more than 0.2 s"),
        (lambda: None, None),
    ],
)
def test_what_a_leak_is(call, expected):
    found = leak(Case("x", call), seconds=0.2)
    assert found == expected or found.startswith(expected)
    assert leak(Case("x", lambda: None, must_fail=True)) == "accepted"


def test_a_case_that_ends_the_process_or_hangs_in_it_is_one_that_fails(monkeypatch):
    def deaf():
        import signal

        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(30)

    def cases():
        yield Case("right", lambda: None)
        yield Case("ends", lambda: os._exit(3))
        yield Case("hangs", deaf)
        yield Case("wrong", failing(KeyError("x")))

    monkeypatch.setattr(leaks, "GRACE", 0.3)
    n_cases, found = leaks.leaks(cases, seconds=0.1)
    assert n_cases == 4 and set(found) == {"ends", "hangs", "wrong"}
    assert found["ends"] == "ends the process with 3" and found["hangs"] == "hangs"


def test_cases_that_cannot_be_made_are_an_error():
    def cases():
        yield Case("right", lambda: None)
        raise KeyError("no more")

    with pytest.raises(RuntimeError, match="the cases end after 1"):
        leaks.leaks(cases)


def test_a_file_of_the_user_that_was_changed_is_noticed(tmp_path):
    place = folders._fresh(tmp_path)
    before = folders.snapshot(place)
    (place / "run/x.bif").write_text("new")
    folders.check_kept(before, place, ["run/x.bif"])
    (place / "victim").unlink()
    with pytest.raises(Wrong, match="victim, which is not of the run, is gone"):
        folders.check_kept(before, place, ["run/x.bif"])
    (place / "other").write_text("new")
    with pytest.raises(Wrong, match="other was made, which is not in the folder of the run"):
        folders.check_kept(before, place, ["run/x.bif"], "run/")
