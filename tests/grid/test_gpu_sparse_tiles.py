"""Sparse tiles of the default for large images on a GPU."""

import numpy as np
import pytest

from changing_memory import label_while_changed
from conncomp import generate
from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements, tiled_quads
from gpu_arrays import check_bricks, without_limits

every_size = without_limits({tiled_elements: "MOST", tiled_quads: "MOST"}, tiled_bricks.plan_of)


def check(image, connectivity, periodic=False, seed=0, background=0):
    """Compare labels; return which tiles were labelled as sparse ones."""
    return check_bricks(image, connectivity, periodic, seed, background)["sparse"].copy()


def noise(seed, shape, density):
    return np.random.default_rng(seed).random(shape) < density


@pytest.mark.parametrize("density", [0.03, 0.07, 0.12, 0.17])
@pytest.mark.parametrize("shape", [(64, 256), (192, 384), (200, 300)])
def test_noise(shape, density):
    seed = int(1000 * density) + shape[0]
    image = noise(seed, shape, density)
    value = (1, 255, 37)[seed % 3]
    for connectivity in (1, 2):
        periodic = (bool(seed & 1), bool(seed & 2))
        written = check((image * value).astype(np.uint8), connectivity, periodic, seed)
        assert written.sum() == (shape[0] // 64) * (shape[1] // 128)


@pytest.mark.parametrize(
    ("connectivity", "elements"),
    [(2, [(15, 3), (16, 4), (16, 5), (15, 6)]), (1, [(15, 3), (16, 3), (16, 4), (16, 5), (15, 5)])],
)
def test_roots_put_under_others_by_another_warp(connectivity, elements):
    """A warp then has fewer roots than none."""
    image = np.zeros((64, 256), np.uint8)
    image[tuple(np.transpose(elements))] = 1
    assert check(image, connectivity).all()


@pytest.mark.parametrize("dtype", [np.int32, np.float64, np.int16])
def test_types(dtype):
    image = noise(3, (128, 256), 0.08).astype(dtype)
    assert check(image, 2).all()
    assert check(dtype(3) - 2 * image, 1, background=3).all()


def test_tiles_that_are_not_sparse():
    """Beside those that are: of several values, full, or with more than there is room for."""
    image = noise(5, (512, 1152), 0.06).astype(np.uint8)
    image[:64, 128:256] *= np.random.default_rng(5).integers(1, 3, (64, 128), np.uint8)
    image[64:128, 256:384] = 1
    image[128:192, 128:256:4] = 1
    image[192:256, 384:512] *= 2
    image[448:, :128] = 0
    image[448:451, :128:2] = 1  # of these, all may get other labels
    for connectivity in (1, 2):
        written = check(image, connectivity).reshape(8, 9)
        assert not written[[0, 1, 2, 7], [1, 2, 1, 0]].any()
        assert written.sum() == 68


def test_images_that_are_not_sparse():
    for image in (
        noise(1, (128, 256), 0.5),
        np.ones((128, 256)),
        generate.patterns.rings((128, 256)),
    ):
        assert not check(image.astype(np.uint8), 2).any()
    assert check(np.zeros((128, 256), np.uint8), 2).all()
    assert not check(np.zeros((128, 256), np.uint8), 2, background=1).any()


def test_patterns():
    """Long paths, unions of many, and components in all tiles."""
    y, x = np.indices((192, 384))
    diagonals = ((x + y) % 16 == 3) | ((x - y) % 32 == 5)
    hooks = (y % 8 == 0) & (x % 8 < 3) | (y % 8 == 1) & (x % 8 == 3)
    steps = (x + 2 * y) % 24 < 2
    points = (x % 128 % 127 == 0) & (y % 3 == 0)
    for image in (diagonals, hooks, steps, points, points | diagonals):
        for connectivity in (1, 2):
            check(image.astype(np.uint8), connectivity)


@pytest.mark.parametrize("at", range(1, 3))
def test_changes_between_launches(at):
    """Of values, and of labels that are entries: any answer, but no access out of bounds."""
    label_while_changed(noise(2, (128, 256), 0.1).astype(np.uint8), at, 3, 2)
