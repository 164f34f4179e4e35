"""Batches: what a tool gives for all items together is what it gives for each alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import conncomp
from conncomp.components import _labels

DTYPES = ["u1", "i2", "i4", "u4", "i8", "u8", ">i4"]


@st.composite
def batches(draw):
    """Draw labels, a background, and batch axes; the labels may be masked."""
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=5, min_side=0, max_side=5))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    background = draw(st.sampled_from([0, -1, None]))
    lowest = -1 if background == -1 and dtype.kind == "i" else 0
    labels = draw(hnp.arrays(dtype, shape, elements=st.integers(lowest, 9)))
    if draw(st.booleans()):
        labels = labels.T
    if draw(st.booleans()):
        labels = np.ma.masked_array(labels, draw(hnp.arrays(bool, labels.shape)))
    return labels, background, draw(st.integers(0, labels.ndim - 1))


def items_of(labels, batch_axes):
    """Give the index of each item, and the item."""
    for item in np.ndindex(labels.shape[:batch_axes]):
        yield item, labels[item]


def stacked(function, labels, batch_axes, background):
    """Return what a function that gives an array of an item's shape gives for each."""
    out = np.empty(labels.shape, function(labels, background=background).dtype)
    for item, alone in items_of(labels, batch_axes):
        out[item] = function(alone, background=background)
    return out


@settings(max_examples=150)
@given(batches())
def test_sizes_and_members(batch):
    labels, background, axes = batch
    sizes = conncomp.component_sizes(labels, background=background, batch_axes=axes)
    indptr, indices = conncomp.component_members(labels, background=background, batch_axes=axes)
    rows = len(conncomp.component_sizes(labels, background=background))
    assert sizes.shape == (*labels.shape[:axes], rows)
    assert indptr.shape == (*labels.shape[:axes], rows + 1)
    assert len(indices) == sizes.sum()
    end = 0
    for item, alone in items_of(labels, axes):
        expected = conncomp.component_sizes(alone, background=background)
        expected = np.pad(expected, (0, rows - len(expected)))
        np.testing.assert_array_equal(sizes[item], expected)
        begins, members = conncomp.component_members(alone, background=background)
        np.testing.assert_array_equal(indptr[item][: len(begins)] - end, begins)
        assert (indptr[item][len(begins) :] == end + len(members)).all()
        np.testing.assert_array_equal(indices[end : end + len(members)], members)
        end += len(members)


@settings(max_examples=150)
@given(batches())
def test_histogram(batch):
    labels, background, axes = batch
    sizes, counts = conncomp.size_histogram(labels, background=background, batch_axes=axes)
    alone = {
        item: dict(zip(*map(np.ndarray.tolist, histogram), strict=True))
        for item, of_item in items_of(labels, axes)
        for histogram in [conncomp.size_histogram(of_item, background=background)]
    }
    assert sizes.tolist() == sorted(set().union(*alone.values()))
    assert counts.shape == (*labels.shape[:axes], len(sizes))
    for item, histogram in alone.items():
        assert counts[item].tolist() == [histogram.get(size, 0) for size in sizes.tolist()]


def test_histogram_of_large_components():
    labels = np.repeat([[[1, 2, 3]], [[3, 3, 1]]], [70_000, 2, 1], axis=2)
    sizes, counts = conncomp.size_histogram(labels, batch_axes=1)
    assert sizes.tolist() == [1, 2, 70_000, 70_002]
    assert counts.tolist() == [[1, 1, 1, 0], [1, 0, 0, 1]]


@settings(max_examples=150)
@given(batches())
def test_statistics(batch):
    labels, background, axes = batch
    together = conncomp.component_statistics(labels, background=background, batch_axes=axes)
    assert together.batch.shape == (len(together.labels), axes)
    assert together.batch.dtype == np.int64
    row = 0
    for item, alone in items_of(labels, axes):
        expected = conncomp.component_statistics(alone, background=background)
        rows = slice(row, row + len(expected.labels))
        assert (together.batch[rows] == item).all()
        for name in ("labels", "sizes", "bounding_boxes", "centroids", "moments"):
            np.testing.assert_array_equal(
                getattr(together, name)[rows], getattr(expected, name), strict=True
            )
        row = rows.stop
    assert row == len(together.labels)


SELECTIONS = {
    "largest": lambda labels, **options: conncomp.largest_components(labels, 2, **options),
    "not one": lambda labels, **options: conncomp.largest_components(labels, 0, **options),
    "all": lambda labels, **options: conncomp.largest_components(labels, 10**30, **options),
    "not small": lambda labels, **options: conncomp.remove_small_components(labels, 3, **options),
    "sorted": conncomp.sort_by_size,
}


@pytest.mark.parametrize("name", SELECTIONS)
@given(batch=batches())
def test_selection(name, batch):
    labels, background, axes = batch
    together = SELECTIONS[name](labels, background=background, batch_axes=axes)
    expected = stacked(SELECTIONS[name], labels, axes, background)
    np.testing.assert_array_equal(together, expected, strict=True)


@given(batches())
def test_colours(batch):
    labels, background, axes = batch
    together = conncomp.colour_components(labels, background=background, batch_axes=axes)
    assert together.shape == (*labels.shape, 3)
    for item, alone in items_of(labels, axes):
        expected = conncomp.colour_components(alone, background=background)
        np.testing.assert_array_equal(together[item], expected)


def test_colours_of_many_labels():
    """More than the common colours in one item, few in another, and labels beyond its elements."""
    crowded = np.concatenate([[a, b] for a in range(1, 31) for b in range(1, 31)])
    labels = np.stack([crowded, np.minimum(crowded, 2), crowded * 1000])
    together = conncomp.colour_components(labels, background=0, batch_axes=1)
    for item, alone in zip(together, labels, strict=True):
        np.testing.assert_array_equal(item, conncomp.colour_components(alone, background=0))


EVERY = [
    conncomp.component_sizes,
    conncomp.component_members,
    conncomp.size_histogram,
    conncomp.component_statistics,
    conncomp.colour_components,
    *SELECTIONS.values(),
]


REFUSED = [
    ([[1, 2]], 2, ValueError, "batch_axes=2 must be from 0 to 1: labels has 2 axes, and an item"),
    ([1, 2], 1, ValueError, "batch_axes=1 must be from 0 to 0"),
    (3, 1, ValueError, "batch_axes=1 must be from 0 to 0"),
    ([[1, 2]], np.True_, TypeError, r"batch_axes=(np\.)?True_? must be an integer"),
    ([[1, 2]], 1, ValueError, r"each item of labels has one axis, so background has to be gi"),
    ([[[1, -2]]], 1, ValueError, "labels holds -2"),
    (
        np.full((4096, 1, 1), 2**20),
        1,
        ValueError,
        "labels holds 1048576, too large for 4096 items of 1 elements; renumber them",
    ),
]


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize(("labels", "batch_axes", "error", "message"), REFUSED)
def test_bad_batch_axes(function, labels, batch_axes, error, message):
    with pytest.raises(error, match=message):
        function(labels, batch_axes=batch_axes)


def test_background_of_items_of_two_axes_is_0():
    labels = np.array([[[1, 0, 1]], [[0, 0, 1]]])
    assert conncomp.component_sizes(labels, batch_axes=1).tolist() == [[0, 2], [0, 1]]


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (2, 3, 0), (0, 0, 0)])
@pytest.mark.parametrize("axes", [1, 2])
def test_nothing(shape, axes):
    labels, options = np.zeros(shape, np.uint8), {"background": 0, "batch_axes": axes}
    batch = shape[:axes]
    assert conncomp.component_sizes(labels, **options).shape == (*batch, 0)
    indptr, indices = conncomp.component_members(labels, **options)
    assert (indptr.shape, indices.shape) == ((*batch, 1), (0,))
    sizes, counts = conncomp.size_histogram(labels, **options)
    assert (sizes.shape, counts.shape) == ((0,), (*batch, 0))
    assert conncomp.component_statistics(labels, **options).batch.shape == (0, axes)
    for function in SELECTIONS.values():
        assert function(labels, **options).shape == shape
    assert conncomp.colour_components(labels, **options).shape == (*shape, 3)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_items_together_need_64_bits(monkeypatch, dtype):
    """The dtype of results is that of an item's labels, whatever all items together need."""
    labels = np.random.default_rng(0).integers(0, 9, (40, 5, 6)).astype(dtype)
    expected = {name: f(labels, batch_axes=1) for name, f in SELECTIONS.items()}
    monkeypatch.setattr(_labels, "INT32_MAX", 150)
    assert _labels.check_items(labels, 0, 1).labels.dtype == np.int64
    for name, function in SELECTIONS.items():
        assert expected[name].dtype == dtype
        np.testing.assert_array_equal(function(labels, batch_axes=1), expected[name], strict=True)


@pytest.mark.parametrize("threads", [1, 2])
def test_labels_of_many_images(threads):
    conncomp.set_num_threads(threads)
    images = np.random.default_rng(1).random((300, 20, 30)) < 0.5
    labels = np.stack([conncomp.label(image) for image in images])
    sizes = conncomp.component_sizes(labels, batch_axes=1)
    assert (sizes.sum(axis=1) == images.sum(axis=(1, 2))).all()
    kept = conncomp.largest_components(labels, 1, batch_axes=1)
    assert ((kept > 0).sum(axis=(1, 2)) == sizes.max(axis=1)).all()
    for item in (0, 299):
        alone = conncomp.component_statistics(labels[item])
        together = conncomp.component_statistics(labels, batch_axes=1)
        rows = together.batch[:, 0] == item
        np.testing.assert_array_equal(together.moments[rows], alone.moments)


def test_labels_are_left_as_they_are():
    for dtype in ("u1", "i4", "i8"):
        labels = np.random.default_rng(2).integers(0, 9, (7, 4, 5)).astype(dtype)
        before = labels.copy()
        for function in EVERY:
            function(labels, batch_axes=1)
            np.testing.assert_array_equal(labels, before)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_no_elements_that_cannot_be_written(shape, dtype):
    labels = np.zeros(shape, dtype)
    labels.flags.writeable = False
    options = {"background": 0, "batch_axes": 1}
    assert conncomp.component_sizes(labels, **options).shape == (shape[0], 0)
    assert conncomp.largest_components(labels, 1, **options).shape == shape
    assert conncomp.sort_by_size(labels, **options).shape == shape
    assert len(conncomp.component_statistics(labels, **options).labels) == 0
    assert len(conncomp.contacts(labels, **options).pairs) == 0
