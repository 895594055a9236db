"""Mistakes: one sentence, their parts as data, in other processes and at the command line."""

import json
import pickle
import warnings

import numpy as np
import pytest

from bnmtl.cli.messages import in_options
from bnmtl.errors import (
    InputError,
    InputTypeError,
    InputWarning,
    MissingExtra,
    check_choice,
    check_flag,
    check_number,
    check_whole,
    located,
    warn,
)
from bnmtl.wording import count, listed, one_of, type_of

pytestmark = pytest.mark.beside_kernels
KINDS = (InputError, InputTypeError, InputWarning, MissingExtra)
MISTAKE = InputError(
    "must be 2 or more where `search='exact'` is asked for with `penalties`, got 0",
    argument="max_parents",
    options=("search", "penalties"),
    task="north",
    remedy="set `penalties`",
    cli_remedy="leave it out with `--ignore C`",
)


def test_one_sentence_for_python_and_for_the_command_line():
    assert str(MISTAKE) == (
        "Task `north`: `max_parents` must be 2 or more where `search='exact'` is asked for with "
        "`penalties`, got 0; set `penalties`."
    )
    assert in_options(MISTAKE) == (
        "Task `north`: `--max-parents` must be 2 or more where `--search exact` is asked for with "
        "`--penalty`, got 0; leave it out with `--ignore C`."
    )


def test_names_that_are_not_listed_stay_as_they_are():
    """A column may have the name of any parameter."""
    message = "must hold labels; `penalty`, `search=1` and `y` are others"
    mistake = InputError(message, argument="y", column="penalty", remedy="see `search`")
    expected = "`--label`: column `penalty` must hold labels; `penalty`, `search=1` and `--label`"
    assert in_options(mistake) == f"{expected} are others: see `search`."
    assert in_options(UserWarning("`penalty`")) == "`penalty`"


def test_a_remedy_without_one_for_the_command_line_is_for_both():
    mistake = InputError("is given", argument="table_sharing", remedy="set `table_sharing=True`")
    assert in_options(mistake) == "`--table-sharing` is given; set `--table-sharing`."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a", "{0}", "{x!r}", "%s", "`"])
def test_mistakes_pickle_whatever_their_names_are(kind, name):
    mistake = kind(f"must be `{name}`", argument=name, column=name, file="a.csv", line=4)
    again = pickle.loads(pickle.dumps(mistake))
    assert type(again) is kind and str(again) == str(mistake)
    assert vars(again) == vars(mistake) and again.args == mistake.args
    assert str(mistake) == f"File `a.csv`, line 4: `{name}`: column `{name}` must be `{name}`."
    # As by pytest-xdist, which sends warnings with simple arguments to another process.
    assert kind(*json.loads(json.dumps(mistake.args))).message == mistake.message


def test_places():
    def message(text, **parts):
        return str(InputError(text, **parts))

    assert message("must be", file="f", line=2) == "File `f`, line 2 must be."
    assert message("must be", argument="a", column="c") == "`a`: column `c` must be."
    assert message("is; it is", task="t", remedy="go") == "Task `t` is; it is: go."
    assert message("rows are lost") == "rows are lost."


def test_places_are_added_on_the_way_up():
    with (
        pytest.raises(InputError, match=r"^File `f`: task `t`: column `c` must be\.$"),
        located(file="f", column="other"),
        located(task="t"),
    ):
        raise InputError("must be", column="c")


def test_warnings_point_to_the_line_of_the_user():
    with pytest.warns(InputWarning, match=r"^`x` is 3\.$") as caught:
        exec(compile("warn('is 3', argument='x')", "user.py", "exec"), {"warn": warn})
    assert caught[0].filename == "user.py"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            warn("is", argument="x")


def test_words():
    assert (count(1, "row"), count(np.int64(2), "complete row")) == ("1 row", "2 complete rows")
    assert one_of(("a", "b", None)) == "'a', 'b' or None"
    assert listed(["a"], "column") == "column `a`" and listed("ab", "column") == "columns `a`, `b`"
    assert listed("abc", limit=2) == "`a`, `b` and 1 more"
    assert [type_of(value) for value in ([], None, str)] == ["list", "None", "the class str"]


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (0, {"least": 1}, "a whole number of at least 1, got 0"),
        (7, {"least": 1, "most": 5}, "a whole number from 1 to 5, got 7"),
        (7, {"most": 5}, "a whole number of at most 5, got 7"),
        (1.5, {}, "a whole number, got 1.5"),
        ("1", {"least": 1, "optional": True}, "None or a whole number of at least 1, got '1'"),
        (True, {"least": 0}, "a whole number of at least 0, got True"),
        (None, {"least": 0}, "a whole number of at least 0, got None"),
    ],
)
def test_whole_numbers(value, limits, message):
    with pytest.raises((InputError, InputTypeError)) as error:
        check_whole("n", value, **limits)
    assert str(error.value) == f"`n` must be {message}."
    is_number = isinstance(value, int | float) and value is not True
    assert type(error.value) is (InputError if is_number else InputTypeError)


@pytest.mark.parametrize(
    ("value", "limits"),
    [(1, {"least": 1}), (np.int64(5), {"least": 1, "most": 5}), (None, {"optional": True})],
)
def test_right_whole_numbers(value, limits):
    check_whole("n", value, **limits)


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (0, {"above": 0}, "a number above 0, got 0"),
        (1, {"above": 0, "below": 1}, "a number above 0 and below 1, got 1"),
        (1.5, {"least": 0, "most": 1}, "a number from 0 to 1, got 1.5"),
        (1.5, {"above": 0, "most": 1}, "a number above 0 and at most 1, got 1.5"),
        (float("nan"), {"optional": True}, "None or a number, got nan"),
        ("1", {"least": 0}, "a number of at least 0, got '1'"),
    ],
)
def test_numbers(value, limits, message):
    with pytest.raises((InputError, InputTypeError)) as error:
        check_number("x", value, **limits)
    assert str(error.value) == f"`x` must be {message}."
    assert type(error.value) is (InputTypeError if value == "1" else InputError)


@pytest.mark.parametrize(
    ("value", "limits"),
    [(0, {"least": 0}), (np.float32(0.5), {"above": 0, "below": 1}), (None, {"optional": True})],
)
def test_right_numbers(value, limits):
    check_number("x", value, **limits)


def test_choices():
    check_choice("way", None, ("a", None))
    check_choice("way", np.int64(2), (1, 2))
    for wrong in ("c", ["a"], np.array([1, 2])):
        with pytest.raises(InputError, match=r"^`way` must be 'a' or None, got .*; be kind\.$"):
            check_choice("way", wrong, ("a", None), remedy="be kind")


@pytest.mark.parametrize("value", [True, False, np.True_, np.array(False)], ids=repr)
def test_right_flags(value):
    check_flag("force", value)


@pytest.mark.parametrize("value", [1, 0.0, "yes", None, np.int64(1), np.array([True])], ids=repr)
def test_flags(value):
    with pytest.raises(InputTypeError, match="^`force` must be True or False, got "):
        check_flag("force", value)
