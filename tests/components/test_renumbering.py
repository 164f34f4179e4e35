"""Consecutive numbers, against `numpy.unique`."""

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import conncomp

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"]


def numbers_by_unique(labels, background):
    """Return the numbers, and the old labels by number."""
    empty = -1 if background is None else background
    old = [value for value in np.unique(labels).tolist() if background is None or value != empty]
    if background == 0:
        old = [0, *old]
    number = {value: k for k, value in enumerate(old)} | ({-1: -1} if background == -1 else {})
    renumbered = [number[value] for value in labels.reshape(-1).tolist()]
    return np.array(renumbered, np.int32).reshape(labels.shape), np.array(old, labels.dtype)


@st.composite
def any_labels(draw):
    dtype = np.dtype(draw(st.sampled_from(INTEGERS)))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=8))
    limits = np.iinfo(dtype)
    extreme = [limits.min, limits.min + 1, limits.max - 1, limits.max]
    elements = st.sampled_from(extreme) | st.integers(0, 9)
    if dtype.kind == "i":
        elements |= st.integers(-3, -1)
    labels = draw(hnp.arrays(dtype, shape, elements=elements))
    return labels.T if draw(st.booleans()) else labels


@settings(max_examples=120)
@given(any_labels(), st.sampled_from([0, -1, None]))
def test_any_integers(labels, background):
    before = labels.copy()
    expected, expected_old = numbers_by_unique(labels, background)
    numbers, old = conncomp.relabel_consecutive(labels, background=background, return_labels=True)
    np.testing.assert_array_equal(numbers, expected, strict=True)
    np.testing.assert_array_equal(old, expected_old, strict=True)
    np.testing.assert_array_equal(labels, before)
    alone = conncomp.relabel_consecutive(labels, background=background)
    np.testing.assert_array_equal(alone, expected, strict=True)


@st.composite
def batches(draw):
    labels = draw(any_labels())
    mask = draw(st.none() | hnp.arrays(bool, labels.shape))
    return labels if mask is None else np.ma.masked_array(labels, mask)


@settings(max_examples=200)
@given(batches(), st.sampled_from([0, -1, None]), st.integers(0, 2))
def test_items(labels, background, batch_axes):
    """What is masked has no number, wherever it lies: in an item of its own, or everywhere."""
    axes = min(batch_axes, labels.ndim - 1)
    numbers, old = conncomp.relabel_consecutive(
        labels, background=background, batch_axes=axes, return_labels=True
    )
    hidden = -1 if background is None else background
    longest = int(background == 0)
    for item in np.ndindex(labels.shape[:axes]):
        seen = ~np.ma.getmaskarray(labels)[item]
        values = np.asarray(labels)[item]
        expected = np.full(values.shape, hidden, np.int32)
        expected[seen], expected_old = numbers_by_unique(values[seen], background)
        np.testing.assert_array_equal(numbers[item], expected, strict=True)
        np.testing.assert_array_equal(old[item][: len(expected_old)], expected_old)
        assert not old[item][len(expected_old) :].any()
        longest = max(longest, len(expected_old))
    assert old.shape == (*labels.shape[:axes], longest)


@pytest.mark.parametrize("scale", [1, 3, 10**9, -(10**15)])
def test_large_arrays(scale):
    """Few labels and many, in several threads, in a table or hashed."""
    rng = np.random.default_rng(3)
    for labels in (rng.integers(0, 50, (600, 700)), np.repeat(rng.permutation(80_000), 5)):
        labels = labels * scale
        expected, expected_old = numbers_by_unique(labels, 0)
        for threads in (1, 2, 5):
            conncomp.set_num_threads(threads)
            numbers, old = conncomp.relabel_consecutive(labels, background=0, return_labels=True)
            np.testing.assert_array_equal(numbers, expected)
            np.testing.assert_array_equal(old, expected_old)


def test_labels_of_one_slot():
    """They would collide in a hash table with the usual factor, as those of a file might."""
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    labels = (np.arange(1, 100_001, dtype=np.uint64) * np.uint64(inverse)).view(np.int64)
    begin = perf_counter()
    numbers = conncomp.relabel_consecutive(labels, background=None)
    assert perf_counter() - begin < 5  # not 20, or more
    np.testing.assert_array_equal(numbers, np.unique(labels, return_inverse=True)[1])


def test_background_of_a_list():
    with pytest.raises(ValueError, match="background=None for"):
        conncomp.relabel_consecutive([0, 1])
