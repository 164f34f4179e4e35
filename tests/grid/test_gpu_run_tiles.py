"""Large volumes of bytes along faces on a GPU, by runs of tiles, on the host executor."""

from itertools import product

import numpy as np
import pytest

from changing_memory import label_while_changed
from conncomp import Workspace, generate, label
from conncomp.kernels.cuda.grid import run_tiles, tiled_elements
from dealt import SOAK
from gpu_arrays import describe, label_on_gpu, noise_of_kinds, without_limits
from hard_images import HARD_IMAGES, placed
from host_cuda.host_gpu import SANITIZER, HostGpu
from reference import label_by_neighbour_pairs

# Tiles that are whole, cut off along each axis, and of rows whose labels are written one by one.
SHAPES = [(16, 16, 64), (32, 32, 128), (20, 35, 100), (33, 17, 67), (9, 40, 131), (50, 8, 33)]
NUMBERINGS = "roots", "consecutive"
ROUNDS = 6 if SANITIZER is None else 2

every_size = without_limits(
    {tiled_elements: "MOST", run_tiles: "LEAST_FILLED"}, run_tiles.can_label
)


def check(image, seed=0, background=0, expected=None):
    """Compare labels of both numberings, and the number of components."""
    described = describe(image, background, 1)
    assert run_tiles.can_label(described.geometry, described.links, np.dtype(np.int32))
    for k, numbering in enumerate(NUMBERINGS):
        if expected is None or k == 1:
            expected, count = label(
                image, background=background, connectivity=1, numbering=numbering, return_num=True
            )
        else:
            count = len(np.unique(expected[expected >= 0]))
        gpu, found = HostGpu(seed=seed, multiprocessors=1), np.full(image.shape, -7, np.int32)
        num = label_on_gpu(gpu, described, found, numbering, "auto", True, Workspace())
        np.testing.assert_array_equal(found, expected)
        assert num == count
        assert gpu.launched == (3, 5)[k]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise(shape):
    random = np.random.default_rng(shape)
    for seed in range(ROUNDS):
        check(noise_of_kinds(random, shape), seed, int(random.choice([0, 0, 1, 9])))


def test_views():
    random = np.random.default_rng(8)
    whole = noise_of_kinds(random, (40, 44, 150))
    for seed, view in enumerate((np.s_[1:, 3:, 5:], np.s_[::2, ::-1, ::-1], np.s_[:, ::2, ::2])):
        check(whole[view], seed)
        check(whole.T[view[::-1]], seed)


@pytest.mark.parametrize("name", sorted(HARD_IMAGES))
def test_hard_images(name):
    """Long paths, and unions of many, where eight tiles meet."""
    image = HARD_IMAGES[name].astype(np.uint8)
    if image.ndim not in (2, 3):
        return
    ways = list(product(range(3), (1, -1)))
    dealt = sorted(HARD_IMAGES).index(name) % len(ways)
    for axis, step in ways if SOAK else ways[dealt : dealt + 1]:
        hard = np.moveaxis(image, 0, -1) if axis == 2 and image.ndim == 3 else image
        if image.ndim == 2:
            hard = np.expand_dims(image, axis)
        turned = hard[::step, ::step, ::step]
        whole = placed(turned, (36, 38, 140), (16, 16, 64))
        check(whole, axis, expected=label_by_neighbour_pairs(whole, 0, 1, False))


def test_patterns():
    z, y, x = np.indices((36, 40, 140))
    for seed, image in enumerate(
        (
            generate.patterns.checkerboard((33, 20, 70)),
            generate.patterns.checkerboard((33, 20, 70)) + 1,
            generate.patterns.rings((36, 40, 90)),
            np.ones((17, 33, 65)),
            np.zeros((17, 33, 65)),
            (x + 2 * y + 3 * z) % 24 < 3,
            (x % 2 == 0) | (y == 39) & (z == 35),
            (y % 2 == 0) & ((z + y // 2) % 2 == 0) | (x == 139),
            (z % 2 == 0) | (x == 0) & (z % 4 == 1) | (x == 139) & (z % 4 == 3),
        )
    ):
        check(image.astype(np.uint8), seed)


@pytest.mark.parametrize("axis", range(3))
def test_one_value_beside_several(axis):
    """A layer of several values at the border of a tile that has one, and the other way round."""
    side = run_tiles.SIDES[2 - axis]
    for layer in (side - 1, side):
        image = np.zeros((36, 36, 132), np.uint8)
        whole, thin = [slice(None)] * 3, [slice(None)] * 3
        whole[axis] = slice(side, None) if layer < side else slice(0, side)
        thin[axis] = layer
        image[tuple(whole)] = 1
        image[tuple(thin)] = np.random.default_rng(layer).integers(1, 3, image[tuple(thin)].shape)
        check(image, layer)


def test_as_many_runs_as_elements():
    """More than are numbered by 32 bits, and as many as there can be."""
    random = np.random.default_rng(2)
    image = np.zeros((20, 20, 130), np.uint8)
    image[:16, :16, :64] = random.integers(1, 200, (16, 16, 64))
    image[:16, :16, 64:128] = 1 + np.indices((16, 16, 64)).sum(0) % 2
    image[16:] = random.integers(1, 3, (4, 20, 130))
    check(image)
    check(image, 1, 77)


@pytest.mark.parametrize("at", [0, 30, 31, 32, 62, 63])
def test_every_small_cube(at):
    """All volumes of 2 x 2 x 2 of two values, within words and tiles and across them."""
    digits = np.indices((3,) * 8).reshape(2, 2, 2, -1)
    chosen = np.random.default_rng(at).permutation(digits.shape[-1])[:400]
    image = np.zeros((40, 64, 70), np.uint8)
    places = np.indices((13, 21)).reshape(2, -1).T * 3
    for (z, y), k in zip(places, chosen[: len(places)], strict=True):
        image[z : z + 2, y : y + 2, at : at + 2] = digits[..., k]
    check(image, at)


def test_who_is_taken(monkeypatch):
    def taken(image, index=np.int32, **asked):
        described = describe(image, **{"connectivity": 1, **asked})
        return run_tiles.can_label(described.geometry, described.links, np.dtype(index))

    image = np.zeros((16, 32, 64), np.uint8)
    assert taken(image)
    assert taken(image == 1)
    assert taken(image[None, ::2])
    assert not taken(image, index=np.int64)
    assert not taken(image, connectivity=2)
    assert not taken(image, connectivity=3)
    assert not taken(image, periodic=True)
    assert not taken(image, periodic=(False, False, True))
    assert not taken(image, tolerance=1)
    assert not taken(image, structure=np.ones((3, 3, 3)))
    assert not taken(image, batch_axes=1)
    assert not taken(image.astype(np.int32))
    assert not taken(image[0])
    assert not taken(image.reshape(2, 8, 32, 64))
    monkeypatch.setattr(run_tiles, "LEAST_FILLED", 0.5)
    run_tiles.can_label.cache_clear()
    assert [taken(image[:length]) for length in (7, 8)] == [False, True]


def test_small_volumes_are_left_to_elements(monkeypatch):
    for module, is_this in (tiled_elements, 0), (run_tiles, 1):
        monkeypatch.setattr(module, "fill_labels", lambda *call, is_this=is_this: is_this)
    monkeypatch.setattr(tiled_elements, "MOST", 16 * 32 * 64)
    image = np.zeros((17, 32, 64), np.uint8)
    found = np.empty(image.shape, np.int32)
    asked = found, "roots", "auto", True, Workspace()
    taken = [
        label_on_gpu(HostGpu(multiprocessors=1), describe(part, connectivity=1), *asked)
        for part in (image, image[1:])
    ]
    assert taken == [1, 0]


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize("at", range(1, 5))
def test_changes_between_launches(at, numbering):
    """Of values, and of labels that are entries: any answer, but no access out of bounds."""
    if at > 2 and numbering == "roots":
        return
    first = np.random.default_rng(2).integers(0, 4, (20, 20, 70)).astype(np.uint8)
    label_while_changed(first, at, 3 if numbering == "roots" else 5, 1, numbering)
