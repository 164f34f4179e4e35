"""The labels of an array, and numbers for them, by the hash tables of the GPU, are NumPy's."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conncomp.kernels.cuda.components import distinct as driver
from conncomp.kernels.cuda.components.rows import FACTOR
from host_cuda.host_gpu import HostGpu

DTYPES = ["i4", "u4", "i8", "u8"]
SEVERAL = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check(labels, bits=None, seed=0, *, fits=True):
    """Compare with NumPy, or see that labels do not fit a table of so many bits."""
    gpu = HostGpu(seed=seed)
    expected, places = np.unique(labels, return_inverse=True)
    before = labels.copy()
    distinct = driver.distinct_labels(gpu, labels, bits)
    if fits:
        np.testing.assert_array_equal(distinct, expected, strict=True)
    else:
        assert distinct is None
    for number in np.int32, np.int64:
        numbers = np.arange(len(expected), dtype=number)[::-1].copy()
        translated = driver.translate_labels(gpu, labels, expected, numbers, bits)
        if fits and len(expected) <= max(1, len(labels) // driver.ELEMENTS_PER_LABEL):
            np.testing.assert_array_equal(translated, numbers[places.reshape(-1)], strict=True)
        else:
            assert translated is None
    np.testing.assert_array_equal(labels, before)


@st.composite
def arrays(draw):
    """Labels near each other, or near the ends of what their dtype can hold."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    limits = np.iinfo(dtype)
    near = st.one_of(*(st.integers(a, a + 3) for a in (limits.min, 0, limits.max - 3)))
    values = draw(hnp.arrays(dtype, st.integers(1, 6), elements=near))
    return np.repeat(values, draw(st.integers(1, 70)))


@SEVERAL
@given(labels=arrays(), seed=st.integers(0, 9))
def test_labels_of_all_sizes(labels, seed):
    check(labels, seed=seed)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", [2, 40, 3000])
def test_many_labels(dtype, values):
    """A block has several with one place in its memory."""
    rng = np.random.default_rng(values)
    names = rng.integers(0, np.iinfo(dtype).max, values, dtype=dtype)
    check(names[rng.integers(0, values, 50_000)], bits=13)


def colliding(count, bits, factor=FACTOR):
    """Return labels of which all have the same slot."""
    inverse = pow(factor, -1, 2**64)
    products = np.uint64(5 << (64 - bits)) + np.arange(count, dtype=np.uint64)
    return (products * np.uint64(inverse)).view(np.int64)


@pytest.mark.parametrize(("count", "fits"), [(100, True), (129, True), (130, False), (500, False)])
def test_labels_with_one_slot(count, fits):
    """The first label needs none, and 128 find one."""
    check(np.tile(colliding(count, 12), 40), bits=12, fits=fits)


def test_labels_with_one_slot_of_the_usual_factor():
    """A file may have them, but does not know the factor of this process."""
    check(np.tile(colliding(500, 12, factor=0x9E3779B97F4A7C15), 40), bits=12)


@pytest.mark.parametrize("bits", [1, 3])
def test_more_labels_than_slots(bits):
    check(np.random.default_rng(0).integers(0, 600, 20_000), bits=bits, fits=False)


def test_each_label_once():
    check(np.arange(10**5)[::-1] * 10**12, bits=15, fits=False)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("values", [1, 1000, 10**6])
def test_on_a_gpu(cupy, dtype, values):
    from conncomp.kernels.cuda.launcher import current_gpu

    rng = np.random.default_rng(values)
    names = rng.integers(0, np.iinfo(dtype).max, values, dtype=dtype)
    labels = names[np.sort(rng.integers(0, values, 2_000_000) // 5)]
    placed = cupy.asarray(labels)
    expected, places = np.unique(labels, return_inverse=True)
    distinct = driver.distinct_labels(current_gpu(), placed)
    np.testing.assert_array_equal(distinct.get(), expected, strict=True)
    numbers = cupy.arange(len(expected))
    translated = driver.translate_labels(current_gpu(), placed, distinct, numbers)
    np.testing.assert_array_equal(translated.get(), places, strict=True)
