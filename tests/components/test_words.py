"""Rows of many words of labels, as the CPU takes them, against plain NumPy and whole numbers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conncomp
from changing_memory import written_by_another_thread

COLUMNS = ("labels", "sizes", "bounding_boxes", "centroids", "moments", "batch")


@st.composite
def rows_of_labels(draw):
    """Draw labels of which the last axis is long, one comes back often, and few numbers occur."""
    shape = *draw(st.lists(st.integers(1, 3), max_size=3)), draw(st.integers(1, 300))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = random.integers(0, draw(st.integers(1, 6)), shape, endpoint=True)
    labels[random.random(shape) < draw(st.sampled_from([0, 0.5, 0.95]))] = draw(st.integers(0, 2))
    apart = draw(st.sampled_from([1, 1, 1000]))
    return (labels * apart).astype(draw(st.sampled_from(["i4", "i8", "u2"])))


def covariance(first, second):
    """Return that of two lists of coordinates."""
    size = len(first)
    products = sum(map(int.__mul__, first, second))
    return float(size * products - sum(first) * sum(second)) / (float(size) * float(size))


def statistics_of(labels, background):
    """Return the columns of statistics, made of Python's integers but for the last division."""
    present = [int(k) for k in np.unique(labels) if background is None or k != background]
    columns = {name: [] for name in COLUMNS}
    for label in present:
        places = [at.tolist() for at in np.nonzero(labels == label)]
        size, sums = len(places[0]), [sum(along) for along in places]
        columns["labels"].append(label)
        columns["sizes"].append(size)
        columns["bounding_boxes"].append([[min(along), max(along) + 1] for along in places])
        columns["centroids"].append([total / size for total in sums])
        columns["moments"].append(
            [[covariance(first, second) for second in places] for first in places]
        )
    return columns


@settings(max_examples=150)
@given(rows_of_labels(), st.sampled_from([0, None]), st.booleans())
def test_statistics(labels, background, moments):
    statistics = conncomp.component_statistics(labels, moments=moments, background=background)
    for name, column in statistics_of(labels, background).items():
        measured = getattr(statistics, name)
        if name == "moments" and not moments:
            assert measured.shape == (0, labels.ndim, labels.ndim)
        elif name != "batch" and column:
            np.testing.assert_array_equal(measured, column)


def test_large_arrays_in_parts():
    """Parts of threads join in the middle of components, and labels far apart are ranked."""
    image = np.random.default_rng(0).random((50, 90, 100)) < 0.4
    labels = conncomp.label(image, connectivity=1)
    roots = conncomp.label(image, connectivity=1, numbering="roots")
    conncomp.set_num_threads(1)
    plain = conncomp.component_statistics(labels)
    for threads, background in product((1, 2, 5), (0, -1)):
        conncomp.set_num_threads(threads)
        given = labels if background == 0 else roots
        statistics = conncomp.component_statistics(given, background=background)
        for name in COLUMNS[1:]:
            np.testing.assert_array_equal(getattr(statistics, name), getattr(plain, name))
    first = np.unique(labels.ravel(), return_index=True)[1][1:]
    np.testing.assert_array_equal(statistics.labels, first)


@pytest.mark.parametrize("shape", [(2, 120, 301), (300, 301), (90_001,)])
@pytest.mark.parametrize("others", [0, 1, 2000])
def test_points_of_which_some_have_more_elements(shape, others):
    """Most labels, or all, are one element, which no sums are made of; some have another one."""
    random = np.random.default_rng(others)
    labels = np.zeros(np.prod(shape), np.int32)
    labels[::3] = 1 + random.permutation(len(labels[::3]))
    labels[1 : 3 * others : 9] = labels[: 3 * others : 9]  # side by side
    labels[2:others:3] = random.integers(1, labels.max(), others // 3)
    present, inverse = np.unique(labels, return_inverse=True)
    places = np.array(np.unravel_index(np.arange(len(labels)), shape))
    sizes = np.bincount(inverse)
    sums = [np.bincount(inverse, along).astype(int) for along in places]
    for threads in (1, 2):
        conncomp.set_num_threads(threads)
        statistics = conncomp.component_statistics(labels.reshape(shape), background=0)
        np.testing.assert_array_equal(statistics.labels, present[1:])
        np.testing.assert_array_equal(statistics.sizes, sizes[1:])
        for k, first in enumerate(places):
            np.testing.assert_array_equal(statistics.centroids[:, k], (sums[k] / sizes)[1:])
            for j, second in enumerate(places):
                products = np.bincount(inverse, first * second).astype(int)
                expected = (sizes * products - sums[k] * sums[j]) / (sizes * sizes).astype(float)
                np.testing.assert_array_equal(statistics.moments[:, k, j], expected[1:])
            low, high = np.full(len(sizes), labels.size), np.zeros(len(sizes), int)
            np.minimum.at(low, inverse, first)
            np.maximum.at(high, inverse, first + 1)
            boxes = np.stack([low, high], 1)[1:]
            np.testing.assert_array_equal(statistics.bounding_boxes[:, k], boxes)


def test_moments_that_are_left_out():
    labels = np.array([[[1, 1, 0]], [[0, 2, 2]]])
    for options in ({}, {"batch_axes": 1}):
        plain = conncomp.component_statistics(labels, **options)
        without = conncomp.component_statistics(labels, moments=False, **options)
        for name in ("labels", "sizes", "bounding_boxes", "centroids", "batch"):
            np.testing.assert_array_equal(getattr(without, name), getattr(plain, name))
        assert without.moments.shape == (0, *plain.moments.shape[1:])


def test_labels_that_another_thread_changes():
    """What a call returns is then undefined; it ends, and the next one is right."""
    conncomp.set_num_threads(2)
    random = np.random.default_rng(3)
    many = random.integers(0, 60_000, (200, 400)).astype(np.int32)
    few = random.integers(0, 3, many.shape).astype(np.int32)
    expected = conncomp.component_statistics(few)
    labels = many.copy()
    with written_by_another_thread((labels, [many, few, many % 7])):
        for _ in range(200):
            conncomp.component_sizes(labels)
            conncomp.component_members(labels)
            conncomp.component_statistics(labels)
            conncomp.component_statistics(labels, background=-1, moments=False)
            conncomp.remove_small_components(labels, 3)
            conncomp.sort_by_size(labels)
    labels[...] = few
    statistics = conncomp.component_statistics(labels)
    np.testing.assert_array_equal(statistics.moments, expected.moments)
