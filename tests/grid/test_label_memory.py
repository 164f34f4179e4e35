"""What `label` needs beyond its input and its output."""

import sys

import pytest

from measured_command import in_python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")

# Input and output exist, touched, before the call, and a small call has loaded everything. The
# difference between what is resident then and the peak afterwards is what the call itself took.
# (getrusage would not do: its peak includes that of the process that started this one.)
SCRIPT = """
import numpy as np
import conncomp

def memory(name):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(name))

size = 1 << 24
shape = {shape}
image = {image}
out = np.full(shape, -7, np.int32)
conncomp.label(np.ones((70, 70, 70), image.dtype))
before = memory("VmRSS")
conncomp.label(image, periodic=True, connectivity={connectivity}, out=out)
print((memory("VmHWM") - before) / size)
"""


@pytest.mark.parametrize("connectivity", [1, 3])
@pytest.mark.parametrize(
    "image",
    [
        "np.random.default_rng(0).integers(0, 2, shape, np.uint8)",
        "np.random.default_rng(0).integers(0, 9, shape, np.uint8)",
        "np.arange(size, dtype=np.float64).reshape(shape)",
        "np.arange(size, dtype=np.float64).reshape(shape).T",
    ],
    ids=["random bits", "random values", "all different", "all different, transposed"],
)
def test_less_than_eight_bytes_an_element(image, connectivity):
    assert bytes_an_element((256, 256, 256), image, connectivity) < 8


@pytest.mark.parametrize(
    ("shape", "image"),
    [
        ((1 << 23, 2), "np.arange(size, dtype=np.int32).reshape(shape)"),
        ((1 << 22, 2, 2), "np.arange(size, dtype=np.float32).reshape(shape)"),
        ((1 << 24,), "np.arange(2 * size, dtype=np.float32)[::2]"),
    ],
    ids=["two columns", "four columns", "every second element"],
)
def test_long_rows_are_gathered_by_stretches(shape, image):
    assert bytes_an_element(shape, image, "len(shape)") < 8


def test_row_alone():
    """Bits of contacts are kept where there are other rows alone."""
    image = "np.random.default_rng(0).integers(1, 200, shape, np.uint8)"
    assert bytes_an_element((1, 1 << 24), image, 1) < 5.5


def bytes_an_element(shape, image, connectivity):
    script = SCRIPT.format(shape=shape, image=image, connectivity=connectivity)
    return float(in_python(script, check=True).stdout)
