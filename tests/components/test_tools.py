"""Sizes, members, histogram, selection and statistics, against plain NumPy and scikit-image."""

from dataclasses import astuple

import cc3d
import dask.array
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from skimage.measure import regionprops

import conncomp
from components.test_words import rows_of_labels
from conncomp import _array_storage

LABELS = hnp.arrays(
    st.sampled_from(["u1", "i2", "i4", "u4", "i8", "u8", ">i4"]),
    hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=7),
    elements=st.integers(0, 9),
)
BACKGROUND = st.sampled_from([0, None])


def rows_of(labels, background):
    """Return the flat indices of each label that is a component."""
    present = np.unique(labels)
    return {int(k): np.flatnonzero(labels == k) for k in present if background is None or k != 0}


@given(LABELS | rows_of_labels(), BACKGROUND)
def test_sizes_members_histogram(labels, background):
    rows = rows_of(labels, background)
    sizes = conncomp.component_sizes(labels, background=background)
    assert len(sizes) == (labels.max() + 1 if labels.size else 0)
    assert {k: int(n) for k, n in enumerate(sizes) if n} == {k: len(r) for k, r in rows.items()}

    indptr, indices = conncomp.component_members(labels, background=background)
    assert len(indptr) == len(sizes) + 1
    for k in range(len(sizes)):
        np.testing.assert_array_equal(indices[indptr[k] : indptr[k + 1]], rows.get(k, []))

    values, counts = conncomp.size_histogram(labels, background=background)
    expected = np.unique([len(r) for r in rows.values()], return_counts=True)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(counts, expected[1])


@given(LABELS, BACKGROUND, st.integers(0, 12))
def test_selection(labels, background, k):
    rows = rows_of(labels, background)
    empty = 0 if background == 0 else -1
    order = sorted(rows, key=lambda label: (-len(rows[label]), label))

    largest = conncomp.largest_components(labels, k, background=background)
    kept = np.isin(labels, order[:k])
    np.testing.assert_array_equal(largest, np.where(kept, labels.astype(int), empty))

    pruned = conncomp.remove_small_components(labels, k, background=background)
    kept = np.isin(labels, [label for label in order if len(rows[label]) >= k])
    np.testing.assert_array_equal(pruned, np.where(kept, labels.astype(int), empty))

    expected = np.full(labels.shape, empty)
    for number, label in enumerate(order, start=background == 0):
        expected[labels == label] = number
    np.testing.assert_array_equal(conncomp.sort_by_size(labels, background=background), expected)


@given(LABELS, BACKGROUND)
def test_statistics(labels, background):
    rows = rows_of(labels, background)
    statistics = conncomp.component_statistics(labels, background=background)
    np.testing.assert_array_equal(statistics.labels, list(rows))
    for i, members in enumerate(rows.values()):
        at = np.stack(np.unravel_index(members, labels.shape), axis=1)
        assert statistics.sizes[i] == len(at)
        np.testing.assert_array_equal(statistics.bounding_boxes[i].T, [at.min(0), at.max(0) + 1])
        np.testing.assert_allclose(statistics.centroids[i], at.mean(0))
        covariance = np.cov(at.T, bias=True).reshape(labels.ndim, labels.ndim)
        np.testing.assert_allclose(statistics.moments[i], covariance, atol=1e-12)
        box = labels[statistics.slices(i)]
        assert np.count_nonzero(box == statistics.labels[i]) == len(at)


def test_statistics_against_others():
    volume = np.random.default_rng(0).random((60, 70, 80)) < 0.2
    labels = conncomp.label(volume, connectivity=1)
    statistics = conncomp.component_statistics(labels)
    of_cc3d = cc3d.statistics(labels.astype(np.uint32))
    np.testing.assert_array_equal(statistics.sizes, of_cc3d["voxel_counts"][1:])
    np.testing.assert_allclose(statistics.centroids, of_cc3d["centroids"][1:], rtol=1e-6)
    for i, region in enumerate(regionprops(labels)[:200]):
        box = np.array(region.bbox).reshape(2, 3).T
        np.testing.assert_array_equal(statistics.bounding_boxes[i], box)
    for threads in (1, 3):
        conncomp.set_num_threads(threads)
        repeated = conncomp.component_statistics(labels)
        np.testing.assert_array_equal(repeated.moments, statistics.moments)
        np.testing.assert_array_equal(
            conncomp.component_sizes(labels), np.r_[0, statistics.sizes], strict=True
        )


def test_moments_are_exact():
    """The variance of 0 ... n - 1 is (n² - 1) / 12; float64 sums of squares would lose digits."""
    n = 3_000_001
    statistics = conncomp.component_statistics(np.ones(n, np.uint8), background=None)
    assert statistics.moments[0, 0, 0] == (n**2 - 1) / 12
    assert statistics.centroids[0, 0] == (n - 1) / 2


def test_large_sizes():
    labels = np.repeat([[1, 2, 3, 4]], [70_000, 70_000, 2, 300_000], axis=1)
    assert list(conncomp.component_sizes(labels)) == [0, 70_000, 70_000, 2, 300_000]
    sizes, counts = conncomp.size_histogram(labels)
    assert (list(sizes), list(counts)) == ([2, 70_000, 300_000], [1, 2, 1])
    ranks = conncomp.sort_by_size(labels)
    assert [int(ranks[0, i]) for i in (0, 70_000, 140_000, 140_002)] == [2, 3, 4, 1]


def test_layouts():
    labels = np.arange(24).reshape(4, 6)
    for view in (labels[::-1, ::2], labels.T, np.asfortranarray(labels)):
        expected = conncomp.component_sizes(view.copy())
        np.testing.assert_array_equal(conncomp.component_sizes(view), expected)
        plain = conncomp.component_statistics(np.ascontiguousarray(view))
        np.testing.assert_array_equal(
            conncomp.component_statistics(view).centroids, plain.centroids
        )


EVERY = [
    conncomp.component_sizes,
    conncomp.component_members,
    conncomp.size_histogram,
    conncomp.component_statistics,
    conncomp.sort_by_size,
    lambda labels, **options: conncomp.largest_components(labels, 1, **options),
    lambda labels, **options: conncomp.remove_small_components(labels, 1, **options),
]


def all_arrays(result):
    """Return what a function of `EVERY` gave, as a tuple of arrays."""
    if isinstance(result, conncomp.results.ComponentStatistics):
        return astuple(result)[:-1]  # the last one is the spacing
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("function", EVERY)
def test_labels_of_one_axis_may_be_those_of_a_graph(function):
    """Whether 0 is a component or the background cannot be seen: it is not guessed."""
    _, of_graph = conncomp.connected_components(conncomp.Graph.from_edges([1], [2], 4))
    of_image = conncomp.label([0, 1, 1, 0, 1])
    for labels in (of_graph, of_image, of_graph.tolist(), of_image[:0]):
        with pytest.raises(ValueError, match=r"background=None for .* background=0 "):
            function(labels)
        for background in (0, None):
            function(labels, background=background)
    for shape in [(1, 5), (5, 1)]:
        for result, expected in zip(
            all_arrays(function(of_image.reshape(shape))),
            all_arrays(function(of_image.reshape(shape), background=0)),
            strict=True,
        ):
            np.testing.assert_array_equal(result, expected)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", ">i4"])
@pytest.mark.parametrize("background", [0, -1, None])
def test_masked_labels_are_background(function, dtype, background):
    rng = np.random.default_rng(0)
    labels, mask = rng.integers(0, 9, (20, 20)), rng.random((20, 20)) < 0.3
    masked = np.ma.masked_array(labels.astype(dtype), mask)
    labels[mask] = -1 if background is None else background
    # With None there is no background but the mask, which -1 says for plain labels.
    expected = function(labels, background=-1 if background is None else background)
    for result, plain in zip(
        all_arrays(function(masked, background=background)), all_arrays(expected), strict=True
    ):
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, plain)
    np.testing.assert_array_equal(masked.mask, mask)


def test_what_a_mask_hides_is_not_checked():
    masked = np.ma.masked_array([[2**40, -7, 1]], [[True, True, False]])
    assert conncomp.component_sizes(masked).tolist() == [0, 1]
    all_masked = np.ma.masked_array([[3, 4]], True)
    assert conncomp.component_sizes(all_masked).tolist() == []


@pytest.mark.parametrize("function", EVERY)
def test_labels_that_are_none(function):
    with pytest.raises(TypeError, match="labels is a NoneType; it must be of integers"):
        function(None)


@pytest.mark.parametrize("function", [conncomp.component_members, conncomp.sort_by_size])
def test_labels_that_are_not_computed_yet(function):
    """The others take them: see ``chunked/test_dask_components.py`` and ``_measures.py``."""
    with pytest.raises(TypeError, match=r"labels is a.* Array of dask.*\.compute\(\)"):
        function(dask.array.zeros((2, 2), int))


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        (np.array([[1, -2]], np.int8), {}, ValueError, "labels holds -2"),
        (np.array([1, -2], ">i4"), {"background": None}, ValueError, "labels holds -2"),
        ([1, -2], {"background": -1}, ValueError, "labels holds -2"),
    ],
)
def test_bad_labels(function, labels, options, error, message):
    with pytest.raises(error, match=message):
        function(labels, **options)


SMALL_LABELS = hnp.arrays("i4", (3, 4), elements=st.integers(0, 5), fill=st.nothing())


@given(SMALL_LABELS, BACKGROUND, st.integers(0, 5) | st.none(), st.integers(0, 5), st.booleans())
def test_components_of_some_sizes(labels, background, least, most, inverted):
    """A band of sizes, or what is outside of it."""
    empty = 0 if background == 0 else -1
    kept = [
        label
        for label, members in rows_of(labels, background).items()
        if ((least or 0) <= len(members) <= most) != inverted
    ]
    pruned = conncomp.remove_small_components(
        labels, least, max_size=most, invert=inverted, background=background
    )
    expected = np.where(np.isin(labels, kept), labels.astype(int), empty)
    np.testing.assert_array_equal(pruned, expected)


@given(SMALL_LABELS, st.integers(0, 5), st.integers(0, 5) | st.none(), st.booleans(), st.data())
def test_small_components_of_masks(labels, least, most, inverted, data):
    mask = labels > 2
    axes = data.draw(st.integers(0, mask.ndim - 1))
    connectivity = data.draw(st.integers(1, mask.ndim - axes) | st.none())
    options = {"max_size": most, "invert": inverted}
    pruned = conncomp.remove_small_components(
        mask, least, connectivity=connectivity, batch_axes=axes, **options
    )
    assert pruned.dtype == bool
    for item in np.ndindex(mask.shape[:axes]):
        components = conncomp.label(mask[item], connectivity=connectivity)
        kept = conncomp.remove_small_components(components, least, background=0, **options)
        np.testing.assert_array_equal(pruned[item], kept != 0)


def test_small_components_of_a_masked_mask():
    masked = np.ma.masked_array([True, True, True], [False, True, False])
    assert conncomp.remove_small_components(masked, 2).tolist() == [False] * 3
    assert conncomp.remove_small_components(masked, max_size=1).tolist() == [True, False, True]


@pytest.mark.parametrize("shape", [(9,), (1, 7), (6, 7), (3, 4, 5)])
@pytest.mark.parametrize("k", [0, 1, 3, 10**30])
def test_the_largest_of_a_mask(shape, k):
    mask = np.random.default_rng(k % 97).random(shape) < 0.4
    for connectivity in (None, 1):
        labels = conncomp.label(mask, connectivity=connectivity)
        expected = conncomp.largest_components(labels, k, background=0) > 0
        kept = conncomp.largest_components(mask, k, connectivity=connectivity)
        assert kept.dtype == bool
        np.testing.assert_array_equal(kept, expected)
    rows = conncomp.largest_components(np.stack([mask, ~mask]), k, batch_axes=1)
    np.testing.assert_array_equal(rows[0], conncomp.largest_components(mask, k))
    np.testing.assert_array_equal(rows[1], conncomp.largest_components(~mask, k))


def test_one_component_is_kept_by_default():
    assert conncomp.largest_components([[1, 0, 2, 2]]).tolist() == [[0, 0, 2, 2]]
    hidden = np.ma.masked_array([True, True, False, True, True, True], [0, 0, 0, 0, 1, 0])
    assert conncomp.largest_components(hidden).tolist() == [True, True] + 4 * [False]
    organs = [True, False, True, True]
    assert conncomp.largest_components(organs, by=[3, 0, 4, 4]).tolist() == organs


@pytest.mark.parametrize("function", EVERY[-2:])
@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([[1, 2]], {"connectivity": 1}, "connectivity=1 is for masks"),
        ([[True]], {"connectivity": 3}, "connectivity=3 must be from 1 to"),
        ([True], {"background": None}, "background=None, but labels is of bool"),
        (True, {}, "labels is a scalar"),
    ],
)
def test_bad_masks(function, labels, options, message):
    with pytest.raises(ValueError, match=message):
        function(labels, **options)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.eye(2) == 1, "labels is of dtype bool; it must be of integers, as conncomp.label make"),
        (np.eye(2), r"labels is of dtype float64; it must be of integers, as .astype\(int\) makes"),
        (np.eye(2, dtype="U1"), "labels is of dtype <U1; it must be of integers$"),
    ],
)
def test_what_is_no_label_says_how_to_make_some(labels, message):
    with pytest.raises(TypeError, match=message):
        conncomp.component_sizes(labels)


def test_what_is_missing_or_has_no_axes():
    with pytest.raises(ValueError, match="neither min_size nor max_size is given"):
        conncomp.remove_small_components([[1, 2]])
    with pytest.raises(ValueError, match="labels is a scalar"):
        conncomp.component_statistics(np.int64(3))


@pytest.mark.parametrize("shape", [(1, 300), (300, 1), (17, 19), (5, 6, 7), (2,) * 9])
def test_conversions_in_pieces(monkeypatch, shape):
    """As for large arrays: layouts, byte orders and dtypes that are converted piece by piece."""
    monkeypatch.setattr(_array_storage, "PIECE_HERE", 64)
    image = np.random.default_rng(0).integers(0, 3, shape)
    labels = conncomp.label(image, dtype=np.int64)
    sizes = conncomp.component_sizes(labels, background=0)
    for turned in (labels.astype(">i8"), labels.astype("i2"), np.asfortranarray(labels)):
        np.testing.assert_array_equal(conncomp.component_sizes(turned, background=0), sizes)
    for turned in (image.astype(">i4"), np.asfortranarray(image)):
        np.testing.assert_array_equal(conncomp.label(turned, dtype="u2"), labels)
        out = np.empty(shape, np.uint16)
        np.testing.assert_array_equal(conncomp.label(turned, out=out), labels)
    src, dst = np.random.default_rng(1).integers(0, 99, (2, 400))
    graph = conncomp.Graph.from_edges(src.astype(">u2"), dst[::-1].astype(np.int8), 99)
    right = conncomp.connected_components(conncomp.Graph.from_edges(src, dst[::-1], 99))[1]
    np.testing.assert_array_equal(conncomp.connected_components(graph)[1], right)


def test_places_of_members_are_of_numpy_s_int64():
    """Print without a dtype, as those of C++'s long long would not."""
    indptr, _ = conncomp.component_members(np.array([[1, 1, 0]]))
    assert indptr.dtype is np.dtype(np.int64)
