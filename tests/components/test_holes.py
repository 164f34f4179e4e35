"""Holes filled, against SciPy for masks and flood fills for labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

import conncomp

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=7)


def structure_of_holes(ndim, connectivity):
    """Return the complementary structuring element."""
    return ndimage.generate_binary_structure(ndim, ndim if connectivity == 1 else 1)


def filled_by_scipy(labels, background, connectivity, max_size):
    """Fill each component of the background, found and surrounded by SciPy's means."""
    structure = structure_of_holes(labels.ndim, connectivity)
    holes, count = ndimage.label(labels == background, structure)
    result = labels.astype(np.int64)
    for hole in range(1, count + 1):
        inside = holes == hole
        at_border = any(
            inside.take([0, -1], axis).any() for axis in range(labels.ndim) if labels.size
        )
        around = np.unique(labels[ndimage.binary_dilation(inside, structure) & ~inside])
        small = max_size is None or inside.sum() <= max_size
        if not at_border and len(around) == 1 and small:
            result[inside] = around[0]
    return result


@given(hnp.arrays(bool, SHAPES), st.data())
def test_masks(mask, data):
    connectivity = data.draw(st.integers(1, mask.ndim) | st.none())
    structure = structure_of_holes(mask.ndim, connectivity or mask.ndim)
    if mask.size:
        expected = ndimage.binary_fill_holes(mask, structure)
        filled = conncomp.fill_holes(mask, connectivity=connectivity)
        np.testing.assert_array_equal(filled, expected, strict=True)
    axes = data.draw(st.integers(0, mask.ndim - 1))
    together = conncomp.fill_holes(mask, batch_axes=axes)
    assert together.dtype == bool
    assert together.shape == mask.shape
    for item in np.ndindex(mask.shape[:axes]):
        np.testing.assert_array_equal(together[item], conncomp.fill_holes(mask[item]))


@given(
    hnp.arrays(st.sampled_from(["u1", "i4", "i8", ">i2"]), SHAPES, elements=st.integers(0, 3)),
    st.data(),
)
def test_labels(labels, data):
    options = {
        "connectivity": data.draw(st.integers(1, labels.ndim) | st.none()),
        "max_size": data.draw(st.integers(0, 5) | st.none()),
    }
    expected = filled_by_scipy(labels, 0, **options)
    filled = conncomp.fill_holes(labels, background=0, **options)
    np.testing.assert_array_equal(filled, expected)
    assert filled.dtype == (np.int64 if labels.dtype == np.int64 else np.int32)
    roots = conncomp.fill_holes(labels.astype(int) - 1, background=-1, **options)
    np.testing.assert_array_equal(roots, expected - 1)
    np.testing.assert_array_equal(conncomp.fill_holes(labels, background=None), labels)
    axes = data.draw(st.integers(0, labels.ndim - 1))
    together = conncomp.fill_holes(labels, background=0, batch_axes=axes)
    for item in np.ndindex(labels.shape[:axes]):
        alone = conncomp.fill_holes(labels[item], background=0)
        np.testing.assert_array_equal(together[item], alone)


def test_rings():
    """Rings of several labels, large enough for several threads."""
    rows, columns = np.indices((400, 300))
    distance = np.hypot(rows % 50 - 25, columns % 50 - 25).astype(int)
    number = 1 + rows // 50 * 6 + columns // 50
    labels = np.where((distance > 10) & (distance < 18), number, 0)
    labels[20:30, 70:80] = 200  # another component inside one of them
    expected = filled_by_scipy(labels, 0, 2, None)
    for threads in (1, 2):
        conncomp.set_num_threads(threads)
        np.testing.assert_array_equal(conncomp.fill_holes(labels), expected)
        np.testing.assert_array_equal(
            conncomp.fill_holes(labels != 0), ndimage.binary_fill_holes(labels)
        )
    assert (expected[25, 25], expected[18, 75], expected[20, 70]) == (1, 0, 200)


def test_holes_of_a_mask_by_size():
    mask = np.ones((5, 12), bool)
    mask[1:4, 1:4] = mask[2, 6] = mask[0, 9] = False
    filled = conncomp.fill_holes(mask, max_size=1)
    assert np.argwhere(filled != mask).tolist() == [[2, 6]]
    assert np.argwhere(~conncomp.fill_holes(mask, max_size=9)).tolist() == [[0, 9]]
    np.testing.assert_array_equal(conncomp.fill_holes(mask, max_size=10**30)[1:], True)


def test_inputs_stay_as_they_are():
    labels = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], np.int32)
    for given_labels in (labels, labels != 0):
        before = given_labels.copy()
        filled = conncomp.fill_holes(given_labels)
        np.testing.assert_array_equal(given_labels, before)
        assert filled.all()
        assert not np.may_share_memory(filled, given_labels)
    masked = np.ma.masked_array(np.ones((3, 3), bool), labels == 0)
    assert conncomp.fill_holes(masked).all()
    assert (conncomp.fill_holes(np.ma.masked_array(labels + 4, labels == 0))[1, 1]) == 5


@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        (True, {}, ValueError, "labels is a scalar"),
        (3, {}, ValueError, "labels is a scalar"),
        ([0, 1], {}, ValueError, "background=None for"),
        ([[1, 0]], {"connectivity": 0}, ValueError, "connectivity=0"),
        ([[True]], {"connectivity": 3}, ValueError, "connectivity=3 .* number of axes, 2"),
        ([[True]], {"background": -1}, ValueError, "background=-1, but labels is of bool"),
        ([[True]], {"background": 7}, ValueError, "background=7"),
        ([[True]], {"batch_axes": 2}, ValueError, "batch_axes=2"),
    ],
)
def test_bad_input(labels, options, error, message):
    with pytest.raises(error, match=message):
        conncomp.fill_holes(labels, **options)
