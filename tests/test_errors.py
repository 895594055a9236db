"""Mistakes hold parts, say one sentence in the words of Python or of a command, and pickle."""

import json
import pickle
import warnings
from typing import ClassVar

import numpy as np
import pytest

from bnmtl.errors import (
    Action,
    InputError,
    InputTypeError,
    InputWarning,
    MissingExtra,
    Words,
    check_choice,
    check_number,
    check_whole,
    located,
    warn,
)
from bnmtl.wording import type_of

pytestmark = pytest.mark.beside_kernels


class Options(Words):
    """Words of a command, for the tests."""

    def parameter(self, name):
        return f"`--{name.replace('_', '-')}`"

    def setting(self, name, value):
        return f"`--{name.replace('_', '-')} {value}`"

    def value(self, value):
        return str(value)

    actions: ClassVar = {"leave out": "leave it out with `--ignore C`"}


MISTAKE = InputError(
    "max_parents",
    "must be {least} or more where {search=exact} is asked for with {penalties}",
    0,
    remedies=(Action("leave out"), "group the states of {names:variable}"),
    task="north",
    least=2,
    names=["a", "b"],
)


def test_one_sentence_in_two_kinds_of_words():
    assert str(MISTAKE) == (
        "Task `north`: `max_parents` must be 2 or more where `search='exact'` is asked for with "
        "`penalties`, got 0; leave the column out, or group the states of variables `a`, `b`."
    )
    assert MISTAKE.render(Options()) == (
        "Task `north`: `--max-parents` must be 2 or more where `--search exact` is asked for with "
        "`--penalties`, got 0; leave it out with `--ignore C`, or group the states of variables "
        "`a`, `b`."
    )


def test_a_mistake_inside_another_is_a_clause_in_the_same_words():
    rule, remedy = "Nothing is shared, since the file is damaged", "give {penalties}"
    outer = InputWarning(rule=rule, found="{reason}", remedies=remedy, reason=MISTAKE)
    for words in (Words(), Options()):
        inner = MISTAKE.render(words).removesuffix(".").replace("Task", "task", 1)
        given = words.parameter("penalties")
        assert outer.render(words) == f"{rule}; {inner}: give {given}."


@pytest.mark.parametrize("kind", [InputError, InputTypeError, InputWarning, MissingExtra])
@pytest.mark.parametrize("given", [[3], []])
def test_mistakes_pickle(kind, given):
    mistake = kind("x", "must be {n:row}", *given, file="a.csv", line=4, n=2)
    again = pickle.loads(pickle.dumps(mistake))
    assert type(again) is kind and str(again) == str(mistake)
    assert vars(again) == vars(mistake)


@pytest.mark.parametrize("kind", [InputError, InputTypeError, InputWarning, MissingExtra])
def test_mistakes_are_rebuilt_from_their_arguments(kind):
    """As by pytest-xdist, which sends warnings with simple arguments to another process."""
    first = kind("x", "must be {n:row} {{", "{y}", remedies=Action("leave out"), column="c", n=2)
    with pytest.raises(kind) as caught, located(task="{0}"):
        raise first
    for mistake in (caught.value, kind(None, "must be"), kind()):
        again = kind(*json.loads(json.dumps(mistake.args)))
        assert str(again) == str(mistake)
        assert again.args == mistake.args
        assert vars(pickle.loads(pickle.dumps(again))) == vars(again)


def test_what_users_wrote_is_never_a_template():
    mistake = InputError("{x}", "must hold {name}", "{name}", task="{y}", column="{0}", name="{z}")
    assert str(mistake) == "Task `{y}`: `{x}`: column `{0}` must hold `{z}`, got '{name}'."


def test_details():
    def message(rule, **details):
        return str(InputError(None, rule, **details))

    assert message("{n:row} {m:complete row}", n=1, m=np.int64(2)) == "1 row 2 complete rows."
    assert message("{x:.3g} {x:g} {n:,} {n}", x=0.12345, n=1000) == "0.123 0.12345 1,000 1000."
    assert message("{name} {name!s} {kind}", name="a", kind=type_of([])) == "`a` a list."
    assert (
        message("{names} {names:or}", names=("a", "b", None))
        == "`a`, `b`, `None` 'a', 'b' or None."
    )
    assert message("{search=None} {missing=drop}") == "`search=None` `missing='drop'`."


def test_places():
    def message(**parts):
        return str(InputError(**parts))

    assert message(rule="must be", file="f", line=2) == "File `f`, line 2 must be."
    assert message(argument="a", rule="must be", column="c") == "`a`: column `c` must be."
    assert message(rule="is", task="t", found="it is", remedies="go") == "Task `t` is; it is: go."


def test_places_are_added_on_the_way_up():
    with (
        pytest.raises(InputError, match=r"^File `f`: task `t`: column `c` must be\.$"),
        located(file="f", column="other"),
        located(task="t"),
    ):
        raise InputError(None, "must be", column="c")


def test_warnings_point_to_the_line_of_the_user():
    with pytest.warns(InputWarning, match=r"^`x` is 3 rows\.$") as caught:
        exec(compile("warn('x', 'is {n:row}', n=3)", "user.py", "exec"), {"warn": warn})
    assert caught[0].filename == "user.py"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            warn("x", "is")


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
            check_choice("way", wrong, ("a", None), remedies="be kind")
