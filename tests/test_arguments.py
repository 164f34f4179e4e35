"""What checks of arguments leave alone: the errors of signal handlers that run meanwhile."""

import signal

import numpy as np
import pytest

from conncomp import _arguments

CHECKS = {
    "as_integer": lambda: _arguments.as_integer("n", 5),
    "as_integer, NumPy": lambda: _arguments.as_integer("n", np.int64(5)),
    "as_number": lambda: _arguments.as_number("x", 5.0),
    "as_number, NumPy": lambda: _arguments.as_number("x", np.float32(5)),
    "as_bool": lambda: _arguments.as_bool("b", True),
    "as_bool, NumPy": lambda: _arguments.as_bool("b", np.True_),
    "check_choice": lambda: _arguments.check_choice("c", "one", ("two", "one")),
    "check_range": lambda: _arguments.check_range("n", 5, 0, 9),
}


def call_until_alarm(check):
    """Call again and again; what a handler raises soon ends it."""
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    while True:
        check()


@pytest.mark.parametrize("check", CHECKS)
def test_what_a_signal_handler_raises_comes_out(check):
    def interrupt(number, frame):
        raise TimeoutError

    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(300):
            with pytest.raises(TimeoutError):
                call_until_alarm(CHECKS[check])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
