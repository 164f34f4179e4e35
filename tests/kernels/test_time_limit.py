"""`time_limit`: calls that launch kernels again and again are given up."""

from time import sleep

import pytest

from conncomp.kernels import time_limit
from conncomp.kernels.cuda.launcher import Gpu, Kernel, launch

NOTHING = Kernel("nothing", None, lambda *_, **__: None)


class SlowCompiler(Gpu):
    """A GPU whose kernels take long to compile."""

    def __init__(self):
        self._kernels = {}

    def _compile(self, file, names):
        sleep(0.2)
        return [NOTHING.call]


def test_launches_fail_when_it_is_over():
    with time_limit(0.01):
        launch(NOTHING, (1, 1))
        sleep(0.02)
        with pytest.raises(TimeoutError):
            launch(NOTHING, (1, 1))
    launch(NOTHING, (1, 1))


def test_it_is_over_after_an_error():
    with pytest.raises(ZeroDivisionError), time_limit(0):
        raise ZeroDivisionError
    launch(NOTHING, (1, 1))


def test_compiling_takes_no_time_of_it():
    with time_limit(0.1):
        (kernel,) = SlowCompiler().load("a file", ("kernel",))
        launch(kernel, (1, 1))
        sleep(0.2)
        with pytest.raises(TimeoutError):
            launch(kernel, (1, 1))
