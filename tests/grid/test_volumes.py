"""Volumes where all that touch are neighbours: bundles of rows, a stretch at a time, on the CPU."""

import numpy as np
import pytest
from scipy import ndimage

from conncomp import label, set_num_threads
from reference import consecutive, label_by_neighbour_pairs

# Odd and even numbers of layers and rows, more rows than a stretch has, rows that end where words
# do and beside.
SHAPES = [
    (2, 2, 64),
    (3, 5, 128),
    (5, 4, 191),
    (4, 9, 192),
    (6, 7, 193),
    (3, 140, 65),
    (5, 90, 130),
    (1, 7, 320),
    (4, 3, 1100),
    (3, 2, 4, 129),
    (2, 5, 3, 64),
]
PERIODIC = [False, True, (True, False, False), (False, True, False), (False, False, True)]


def volumes(shape):
    """Yield noise, grains and smooth volumes: where detours are, and where they end."""
    rng = np.random.default_rng(shape)
    for density in (0.02, 0.1, 0.3, 0.7, 0.97):
        yield rng.random(shape) < density
        field = ndimage.gaussian_filter(rng.standard_normal(shape), (*[1] * (len(shape) - 1), 3))
        yield field > np.quantile(field, 1 - density)
        grains = rng.random([-(-length // 3) for length in shape]) < density
        for axis in range(len(shape)):
            grains = np.repeat(grains, 3, axis)
        yield grains[tuple(map(slice, shape))]
        # Elements of layers and of rows in turn have most at bundles' sides.
        yield (rng.random(shape) < density) & (np.indices(shape).sum(axis=0) // 2 % 2 == 0)
        yield (rng.random(shape) < 0.9) & (rng.random((*shape[:-1], 1)) < density)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("periodic", PERIODIC, ids=str)
def test_labels_of_volumes(shape, periodic):
    if np.ndim(periodic):
        periodic = (False,) * (len(shape) - 3) + periodic
    for k, volume in enumerate(volumes(shape)):
        image = volume.astype([np.uint8, np.int16, np.float32, np.float64][k % 4])
        roots = label_by_neighbour_pairs(image, connectivity=image.ndim, periodic=periodic)
        for view in (image, np.repeat(image, 2, axis=-2)[..., ::2, :], np.asfortranarray(image)):
            found = label(view, connectivity=image.ndim, periodic=periodic, numbering="roots")
            np.testing.assert_array_equal(found, roots)
        labels = label(image, connectivity=image.ndim, periodic=periodic)
        np.testing.assert_array_equal(labels, consecutive(roots, first=1))
        items = label(np.stack([image, image]), periodic=periodic, batch_axes=1)
        np.testing.assert_array_equal(items, [labels, labels])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(9, 140, 130), (3, 700, 130)], ids=str)
def test_parts_that_cut_stretches(shape, order):
    """Rows of three words, and several parts, unless helpers have gained nothing of late."""
    rng = np.random.default_rng(shape)
    smooth = ndimage.gaussian_filter(rng.standard_normal(shape), (1, 1, 3))
    volumes = (rng.random(shape) < 0.07, False), (smooth > np.quantile(smooth, 0.8), True)
    for volume, periodic in volumes:
        image = volume if order == "C" else volume.T
        roots = label_by_neighbour_pairs(image, periodic=periodic)
        for threads in (1, 2, 3):
            set_num_threads(threads)
            found = label(image, connectivity=3, periodic=periodic, numbering="roots")
            np.testing.assert_array_equal(found, roots)
            labels = label(image, connectivity=3, periodic=periodic)
            np.testing.assert_array_equal(labels, consecutive(roots, first=1))


@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_a_long_loop_that_cut_stretches(order):
    """There are parts whatever helpers have gained, and more threads than layers of bundles."""
    volume = np.random.default_rng(1).random((3, 10_800, 130), np.float32) < 0.07
    image = volume if order == "C" else volume.T
    set_num_threads(1)
    roots = label(image, connectivity=3, numbering="roots")
    for threads in (2, 3):
        set_num_threads(threads)
        found = label(image, connectivity=3, numbering="roots")
        np.testing.assert_array_equal(found, roots)
