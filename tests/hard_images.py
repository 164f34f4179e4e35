"""Images that are hard to label, and their roots."""

from functools import cache

import numpy as np

from conncomp import generate
from reference import label_by_flood_fill

HARD_IMAGES = {
    "spiral": generate.patterns.spiral(37),
    "spiral backwards": generate.patterns.spiral(37)[::-1, ::-1],
    "comb": generate.patterns.comb((41, 35)),
    "comb turned": generate.patterns.comb((41, 35)).T,
    "rings": generate.patterns.rings((33, 70)),
    "shells": generate.patterns.rings((9, 10, 11)),
    "maze": generate.patterns.maze((35, 37)),
    "hilbert": generate.patterns.hilbert_curve(5)[:-1, 1:],
    "checkerboard": generate.patterns.checkerboard((35, 33)),
    "checkerboard in 3-D": generate.patterns.checkerboard((5, 6, 7)),
    "points": generate.patterns.checkerboard((3, 4, 3, 5)) == 0,
    "noise": generate.random_array((67, 33), 0.592746),
    "noise of two values": generate.random_array((65, 19), 0.9, values=2),
    "noise in 3-D": generate.random_array((9, 17, 11), 0.4),
    "noise in 5-D": generate.random_array((3, 1, 4, 3, 2, 5), 0.5),
    "noise in 6-D": generate.random_array((2, 3, 2, 3, 2, 3), 0.4),
    "line": generate.random_array((301,), 0.7),
    "column": generate.random_array((301, 1), 0.7),
    "rows of three": generate.random_array((101, 3), 0.5),
    "all equal": generate.patterns.all_equal((40, 33)),
    "empty": generate.patterns.all_equal((40, 33), 0),
    "one": np.ones((1, 1), np.uint8),
    "one of background": np.zeros((1,), np.uint8),
}


@cache
def roots_of(name, connectivity, periodic):
    return label_by_flood_fill(HARD_IMAGES[name], 0, connectivity, periodic)


def settings_of(image):
    """Return some connectivities and periodicities, all where there are few."""
    axes = tuple(k % 2 == 0 for k in range(image.ndim))
    for connectivity in {1, (image.ndim + 1) // 2, image.ndim}:
        for periodic in (False, True, axes):
            yield connectivity, periodic


def placed(hard, shape, middle):
    """Return a hard image around a point of an array, cut off where it does not fit."""
    whole = np.zeros(shape, np.uint8)
    begin = [max(0, at - n // 2) for at, n in zip(middle, hard.shape, strict=True)]
    corner = tuple(slice(at, at + n) for at, n in zip(begin, hard.shape, strict=True))
    whole[corner] = hard[tuple(slice(0, n) for n in whole[corner].shape)]
    return whole
