"""Interrupts that a callback from C swallows are raised all the same."""

import ctypes
import signal
import sys
import time

import pytest

from bnmtl.cli.main import interrupts_heard
from bnmtl.errors import InputError
from bnmtl.writing import ENDING

pytestmark = pytest.mark.beside_kernels


def swallow(error):
    """Raise an error where no exception passes: within a function that C calls."""

    @ctypes.CFUNCTYPE(None)
    def callback():
        raise error

    callback()


@pytest.fixture(autouse=True)
def _default_handler():
    # Where the suite runs in the background, shells have its processes ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_error_after_a_swallowed_interrupt_is_the_interrupt(capsys):
    with pytest.raises(KeyboardInterrupt), interrupts_heard():
        swallow(KeyboardInterrupt())
        raise RuntimeError("no compiled object yet")
    time.sleep(0.3)  # It is not sent once more when the block has ended.
    assert capsys.readouterr().err == ""


def test_a_swallowed_interrupt_is_sent_again(capsys):
    with pytest.raises(KeyboardInterrupt), interrupts_heard():
        swallow(KeyboardInterrupt())
        for _ in range(1000):
            time.sleep(0.01)
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_other_errors_stay_what_they_are():
    before, shown = sys.unraisablehook, []
    sys.unraisablehook = shown.append
    try:
        with pytest.raises(RuntimeError), interrupts_heard():
            swallow(ValueError("of a callback"))
            raise RuntimeError
        assert [unraisable.exc_type for unraisable in shown] == [ValueError]
        assert sys.unraisablehook == shown.append
    finally:
        sys.unraisablehook = before


@pytest.mark.parametrize(("name", "expected"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_that_end_a_program_are_like_ctrl_c(call, monkeypatch, name, expected):
    sent = getattr(signal, name)
    # Where the suite runs after `nohup`, the signal is ignored.
    hung_up = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    before = {number: signal.getsignal(number) for number in ENDING}

    def ended(_):
        signal.raise_signal(sent)
        time.sleep(5)
        raise AssertionError

    monkeypatch.setattr("bnmtl.cli.predict.run", ended)
    try:
        code, out, err = call("predict", "a.bif", "rows.csv", "--target", "a", "--out", "p.csv")
        assert {number: signal.getsignal(number) for number in ENDING} == before
    finally:
        signal.signal(signal.SIGHUP, hung_up)
    assert (code, out) == (expected, "")
    assert err == "bnmtl: interrupted; no half-written file is left.\n"


def test_an_ignored_signal_stays_ignored(call, monkeypatch):
    """As after `nohup`."""

    def hung_up(_):
        signal.raise_signal(signal.SIGHUP)
        raise InputError("must end here")

    monkeypatch.setattr("bnmtl.cli.predict.run", hung_up)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        code, _, err = call("predict", "network.bif", "rows.csv", "--target", "a", "--out", "p.csv")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert code == 2 and "must end here" in err
