"""Large volumes of bytes of one value that touch at corners on a GPU, by bundles of rows."""

import numpy as np
import pytest

from changing_memory import label_while_changed
from conncomp import Workspace, generate, label
from conncomp.kernels.cuda.grid import bundle_tiles, tiled_bricks, tiled_elements
from dealt import SOAK
from gpu_arrays import check_bricks, describe, label_on_gpu, modules_of_first_call, without_limits
from hard_images import HARD_IMAGES, placed
from host_cuda.host_gpu import HostGpu
from reference import label_by_neighbour_pairs

# Tiles that are whole, cut off along each axis, and of rows whose labels are written one by one.
SHAPES = [(32, 32, 128), (20, 35, 100), (33, 17, 67), (9, 40, 131), (50, 9, 70)]
DENSITIES = [0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1]

every_size = without_limits({tiled_elements: "MOST", bundle_tiles: "LEAST"}, tiled_bricks.plan_of)


def check(image, seed=0, background=0, expected=None, numberings=("roots", "consecutive")):
    """Compare labels; return whether they were made by bundles."""
    ways = []
    for numbering in numberings:
        if expected is None or numbering == "consecutive":
            expected = label(image, background=background, connectivity=3, numbering=numbering)
        table = check_bricks(image, 3, False, seed, background, expected, numbering=numbering)
        ways.append(bool(table["elsewhere"][0]))
    assert len(set(ways)) == 1
    return ways[0]


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise(shape):
    random = np.random.default_rng(shape)
    for seed, density in enumerate(DENSITIES):
        value = random.choice([1, 37, 255])
        image = ((random.random(shape) < density) * value).astype(np.uint8)
        assert check(image, seed)
        assert check(image == 0, seed, 1)


def test_views():
    whole = np.random.default_rng(8).random((40, 44, 150)) < 0.12
    for seed, view in enumerate((np.s_[1:, 3:, 5:], np.s_[::2, ::-1, ::-1], np.s_[:, ::2, 9:])):
        assert check(whole[view], seed)
        assert check(whole.swapaxes(0, 1)[view], seed)


@pytest.mark.parametrize("name", sorted(HARD_IMAGES))
def test_hard_images(name):
    """Long paths, and unions of many, where eight tiles meet."""
    image = HARD_IMAGES[name]
    if image.ndim not in (2, 3):
        return
    for axis in (0, 2) if SOAK else (2 * (sorted(HARD_IMAGES).index(name) % 2),):
        hard = np.expand_dims(image, axis) if image.ndim == 2 else np.moveaxis(image, 0, axis)
        whole = placed(hard != 0, (36, 38, 140), (16, 16, 64))
        assert check(whole, axis, expected=label_by_neighbour_pairs(whole, 0, 3, False))


def test_patterns():
    """Of diagonals in all directions, of points, and of rows that bundles bring together."""
    z, y, x = np.indices((36, 40, 140))
    for seed, image in enumerate(
        (
            *((x + dy * y + dz * z) % 9 == 0 for dy in (-1, 1, 2) for dz in (-1, 1, 3)),
            (x - y == 40) & (z == y) | (x + y == 100) & (z + y == 35),
            (x % 2 == 0) & (y % 2 == 0) & (z % 2 == 0),
            (x % 3 == 0) & ((y + z) % 3 == 0),
            (x // 2 + y + z) % 4 == 0,
            (y % 4 == 1) | (z % 4 == 2) & (x % 64 == 63),
            (z % 3 == 0) | (x == 0) & (z % 6 == 1) | (x == 139) & (z % 6 == 4),
            generate.patterns.rings((36, 40, 90)),
            np.ones((17, 33, 65)),
            np.zeros((17, 33, 65)),
        )
    ):
        assert check(image.astype(np.uint8), seed)


@pytest.mark.parametrize("at", [(14, 14, 30), (15, 15, 63), (7, 16, 31), (15, 6, 64)])
def test_every_pair(at):
    """Two elements, one step apart or two, wherever they lie in bundles, words and tiles."""
    image, expected = np.zeros((18, 20, 72), np.uint8), np.full((18, 20, 72), -1, np.int32)
    index = np.arange(image.size).reshape(image.shape)
    for step in np.indices((3, 5, 5)).reshape(3, -1).T[12:] - (0, 2, 2):
        other = tuple(np.add(at, step))
        touches = np.abs(step).max() <= 1
        image[at] = image[other] = 1
        expected[at], expected[other] = index[at], index[other]
        if touches:
            expected[at] = expected[other] = min(index[at], index[other])
        assert check(image, expected=expected, numberings=("roots",))
        image[other], expected[other] = 0, -1


def test_several_values():
    """In the sample, in one tile, and each in a tile of its own: then bricks label the volume."""
    random = np.random.default_rng(4)
    noise = random.integers(0, 3, (20, 35, 140)).astype(np.uint8)
    assert not check(noise)
    assert not check(noise, background=9)
    few = np.zeros((20, 35, 140), np.uint8)
    few[3, 4, 5:9] = 3
    few[19, 34, 137:] = 3
    for seed in range(3):
        assert check(few, seed)
    for other in (3, 4, 8), (19, 34, 139):
        changed = few.copy()
        changed[other] = 7
        # A sample may see both.
        for seed in range(3):
            assert not check(changed, seed)
    few[3, 4, 5:9] = 4
    assert not check(few)


def test_turns_begin_anew():
    """Blocks of bricks take tiles in turn, in each call from the first one on."""
    gpu, workspace = HostGpu(multiprocessors=1), Workspace()
    for seed in range(2):
        noise = np.random.default_rng(seed).integers(0, 3, (20, 35, 140)).astype(np.uint8)
        labels = np.full(noise.shape, -7, np.int32)
        label_on_gpu(gpu, describe(noise, 0, 3), labels, "roots", "auto", False, workspace)
        expected = label(noise, connectivity=3, numbering="roots")
        np.testing.assert_array_equal(labels, expected)


def test_who_is_asked(monkeypatch):
    def asks(image, index=np.int32, consecutive=False, **asked):
        described = describe(image, **asked)
        kind = described.geometry, described.links, np.dtype(index)
        return tiled_bricks.plan_of(*kind, 1, consecutive).instead is not None

    image = np.zeros((20, 35, 140), np.uint8)
    assert asks(image)
    assert asks(image == 1)
    assert not asks(image, index=np.int64)
    assert asks(image, consecutive=True)
    assert not asks(image, connectivity=1)
    assert not asks(image, connectivity=2)
    assert not asks(image, periodic=True)
    assert not asks(image, tolerance=1)
    assert not asks(image, structure=np.indices((3, 3, 3))[0] == 1)
    assert not asks(image, batch_axes=1)
    assert not asks(image.astype(np.int32))
    assert not asks(image[0])
    assert not asks(image[:, :8])  # whose tiles are of another form
    monkeypatch.setattr(bundle_tiles, "LEAST", image.size)
    tiled_bricks.plan_of.cache_clear()
    assert [asks(image[first:]) for first in (0, 1)] == [True, False]


def test_modules_of_a_first_call_are_compiled_at_once():
    at_once, besides = modules_of_first_call(np.zeros((20, 35, 140), np.uint8))
    assert len(at_once) == 4
    assert besides == []


@pytest.mark.soak
@pytest.mark.parametrize("numbering", ["roots", "consecutive"])
@pytest.mark.parametrize("at", range(1, 11))
def test_changes_between_launches(at, numbering):
    """Of values, and of labels that are entries: any answer, but no access out of bounds."""
    launches = 7 if numbering == "roots" else 11
    if at >= launches:
        return
    first = (np.random.default_rng(2).random((20, 35, 70)) < 0.1).astype(np.uint8)
    label_while_changed(first, at, launches, 3, numbering)
