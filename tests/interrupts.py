"""What ends a call as Ctrl-C does, by a signal after some time."""

import signal
from contextlib import contextmanager

import pytest

SIGNALS = {signal.ITIMER_REAL: signal.SIGALRM, signal.ITIMER_PROF: signal.SIGPROF}


@contextmanager
def interrupted_after(seconds, timer=signal.ITIMER_REAL):
    """Expect that what is still at work after so many seconds ends with KeyboardInterrupt."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(SIGNALS[timer], interrupt)
    try:
        signal.setitimer(timer, seconds)
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(SIGNALS[timer], before)
