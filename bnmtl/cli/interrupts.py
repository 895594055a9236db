"""Handle Ctrl-C, including interrupts swallowed in callbacks from C."""

import _thread
import contextlib
import sys
import threading

# Seconds until a swallowed interrupt is sent again.
_AGAIN_AFTER = 0.1


@contextlib.contextmanager
def interrupts_heard():
    """Raise KeyboardInterrupt for every interrupt within the block.

    While kernels are being compiled in the first run, an interrupt may occur in a Python function
    called by compiled code. Exceptions cannot propagate there: Python prints the exception and
    continues, and the interrupted compiler often raises another error.

    Raises
    ------
    KeyboardInterrupt
        If an interrupt was swallowed: instead of the error caused by it, or shortly afterwards.
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
