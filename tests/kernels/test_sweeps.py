"""The host's side of sweeps until one changes nothing."""

import numpy as np
import pytest

from conncomp.kernels.cuda.core.sweeps import sweep_until_settled


@pytest.mark.parametrize("changing", [0, 1, 7, 8, 9, 20])
@pytest.mark.parametrize("batch", [1, 2, 8])
def test_count(changing, batch):
    """Sweeps that change anything are counted; those of their batch, and one at least, follow."""
    last_change, numbers = np.array([-1]), []

    def sweep(number):
        numbers.append(number)
        if number < changing:
            last_change[0] = number

    assert sweep_until_settled(sweep, last_change, batch) == changing
    assert numbers == list(range(batch * (changing // batch + 1)))


def test_nothing_due():
    assert sweep_until_settled(lambda _: None, np.array([-2])) == 0
