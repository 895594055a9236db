"""Interrupts by Ctrl-C, also those that callbacks from C swallow."""

import _thread
import contextlib
import sys
import threading

# Seconds until an interrupt that was swallowed is sent again.
_AGAIN_AFTER = 0.1


@contextlib.contextmanager
def interrupts_heard():
    """Raise KeyboardInterrupt for every interrupt within the block.

    While kernels are compiled, on the first start, an interrupt may reach a Python function that
    compiled code has called. No exception passes through there: Python prints it and goes on,
    often into an error of the compiler that was cut short.

    Raises
    ------
    KeyboardInterrupt
        Where an interrupt was swallowed: in place of the error that it led to, or a moment later.
    """
    swallowed = []
    show = sys.unraisablehook

    def hear(unraisable):
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            show(unraisable)
            return
        again = threading.Timer(_AGAIN_AFTER, _thread.interrupt_main)
        again.daemon = True
        swallowed.append(again)
        again.start()

    sys.unraisablehook = hear
    try:
        yield
    except Exception:
        if swallowed:
            raise KeyboardInterrupt from None
        raise
    finally:
        sys.unraisablehook = show
        for again in swallowed:
            again.cancel()
