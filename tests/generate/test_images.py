"""Images, volumes and fields: what they are known to hold."""

import numpy as np
import pytest
from scipy import ndimage, stats

import conncomp
from conncomp import generate
from conncomp.generate import random
from families import ARRAYS

CROSS = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def components(image, connectivity=None):
    return conncomp.label(image, connectivity=connectivity, return_num=True)[1]


@pytest.mark.parametrize("name", ARRAYS)
def test_same_for_a_seed_on_any_number_of_threads(name):
    made = []
    for threads in (1, 5):
        conncomp.set_num_threads(threads)
        made.append(ARRAYS[name](seed=4))
    np.testing.assert_array_equal(*made)
    assert (made[0] != ARRAYS[name](seed=5)).any()
    assert made[0].dtype == (np.int32 if name == "voronoi" else np.uint8)
    assert made[0].flags.c_contiguous


@pytest.mark.parametrize("shape", [1000, (300, 400), (40, 50, 60), (8, 9, 10, 11)])
def test_random_array(shape):
    image = generate.random_array(shape, 0.3)
    assert image.shape == ((shape,) if isinstance(shape, int) else shape)
    assert set(np.unique(image)) == {0, 1}
    assert stats.binomtest(int(image.sum()), image.size, 0.3).pvalue > 1e-3
    assert generate.random_array(shape, 0).max() == 0
    assert generate.random_array(shape, 1).min() == 1


def test_random_array_of_values_in_blocks():
    image = generate.random_array((23, 31), 0.8, values=5, block=4)
    coarse = generate.random_array((6, 8), 0.8, values=5)
    np.testing.assert_array_equal(image, np.kron(coarse, np.ones((4, 4), np.uint8))[:23, :31])
    counts = np.bincount(generate.random_array(100_000, 0.8, values=4).ravel())
    assert stats.chisquare(counts, 100_000 * np.array([0.2] * 5)).pvalue > 1e-3


def test_parts_of_a_large_random_array_agree():
    size = (1 << 24) + 1000  # more than is drawn at a time
    image = generate.random_array(size, 0.5, values=2)
    np.testing.assert_array_equal(image[:5000], generate.random_array(5000, 0.5, values=2))
    draw = {"start": 1 << 24, "dtype": np.float32, "purpose": random.Purpose.KEEP}
    there = random.uniform(1000, **draw) < 0.5
    draw = {"start": 1 << 24, "purpose": random.Purpose.VALUE}
    np.testing.assert_array_equal(image[1 << 24 :], there * (1 + random.integers(1000, 2, **draw)))


@pytest.mark.parametrize("connectivity", [1, 2])
def test_spiral_is_two_arms(connectivity):
    for size in range(2, 40):
        assert components(generate.patterns.spiral(size), connectivity) == 2
    image = generate.patterns.spiral(33)
    for value in (1, 2):
        arm = image == value
        # One pixel wide: no square of four, and two neighbours at most but for the corner pixel.
        blocks = arm[1:, 1:] & arm[1:, :-1] & arm[:-1, 1:] & arm[:-1, :-1]
        assert not blocks.any()
        around = ndimage.convolve(arm.astype(int), CROSS, mode="constant")
        assert (around[arm] > 2).sum() <= 1


@pytest.mark.parametrize(
    ("shape", "count"), [(1, 1), (8, 4), ((9, 30), 3), ((10, 10), 3), ((21, 21, 21), 6)]
)
def test_rings(shape, count):
    image = generate.patterns.rings(shape)
    if image.ndim == 1:
        assert image.sum() == count
    else:
        assert components(image, 1) == components(image, image.ndim) == count


@pytest.mark.parametrize("shape", [(3, 3), (41, 61), (40, 33), (3, 20), (100, 100)])
def test_maze_is_a_tree(shape):
    image = generate.patterns.maze(shape)
    assert image.shape == shape
    assert components(image, 1) == 1
    passages = (image[1:] & image[:-1]).sum() + (image[:, 1:] & image[:, :-1]).sum()
    assert passages == image.sum() - 1
    assert not image[0].any()
    assert not image[-1].any()
    assert not image[:, 0].any()
    assert not image[:, -1].any()
    assert components(1 - image, 1) == 1  # the walls


@pytest.mark.parametrize("shape", [9, (6, 9), (5, 7, 6)])
def test_comb(shape):
    image = generate.patterns.comb(shape)
    if image.ndim > 1:
        assert components(image, 1) == components(image) == 1
        assert components(image[:-1]) == np.prod([-(-n // 2) for n in image.shape[1:]])


def test_hilbert_curve():
    assert generate.patterns.hilbert_curve(0).tolist() == [[1]]
    for order in range(1, 7):
        image = generate.patterns.hilbert_curve(order)
        assert image.shape == (2 ** (order + 1) - 1,) * 2
        assert components(image, 1) == components(image, 2) == 1
        assert image.sum() == 2 * 4**order - 1
        around = ndimage.convolve(image.astype(int), CROSS, mode="constant")
        # A path: two ends, all else has two neighbours.
        assert sorted(around[image == 1])[:3] == [1, 1, 2]
        assert around[image == 1].max() == 2


@pytest.mark.parametrize("shape", [(7, 8), (5, 5), (4, 5, 6), (3, 3, 3)])
def test_checkerboard(shape):
    image = generate.patterns.checkerboard(shape)
    assert image[(0,) * image.ndim] == 1
    assert components(image, 1) == image.sum() == -(-image.size // 2)
    for connectivity in range(2, image.ndim + 1):
        assert components(image, connectivity) == 1


def test_all_equal():
    assert generate.patterns.all_equal((2, 3)).tolist() == [[1] * 3] * 2
    assert generate.patterns.all_equal(4, 0).tolist() == [0] * 4


@pytest.mark.parametrize("shape", [(200, 300), (40, 50, 60)])
def test_blobs(shape):
    for density in (0, 0.25, 1):
        assert generate.blobs(shape, 4, density).mean() == pytest.approx(density, abs=1e-4)
    smooth, rough = (generate.blobs(shape, sigma) for sigma in (4, 0.5))
    assert (np.diff(smooth) != 0).mean() < (np.diff(rough) != 0).mean() / 4
    assert (smooth[0] != smooth[-1]).mean() < 0.2  # periodic
    # The correlation of neighbours, after the filter, is exp(-1 / (4 sigma**2)).
    expected = np.arccos(np.exp(-1 / 64)) / np.pi
    assert (np.diff(smooth) != 0).mean() == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(
    ("shape", "cells"), [((150, 200), 100), ((30, 30, 30), 40), ((20, 20), 100), ((5, 6), 30)]
)
def test_voronoi(shape, cells):
    image = generate.voronoi(shape, cells)
    np.testing.assert_array_equal(np.unique(image), np.arange(1, cells + 1))
    assert cells <= components(image) <= 1.1 * cells
    # Borders half-way between sites make sizes vary, but not without bound.
    assert np.bincount(image.ravel())[1:].max() < 8 * image.size / cells


def test_one_cell_is_everywhere():
    assert set(generate.voronoi((7, 8), 1).ravel()) == {1}


def test_photograph():
    image = generate.photograph((256, 300))
    assert len(np.unique(image)) == 256
    assert 0.01 < (image == 0).mean() < 0.06
    assert 0.01 < (image == 255).mean() < 0.06
    power = np.abs(np.fft.rfft2(image - image.mean())) ** 2
    frequency = np.hypot(np.fft.fftfreq(256)[:, None], np.fft.rfftfreq(300))
    band = (frequency > 0.02) & (frequency < 0.1)
    slope = stats.linregress(np.log(frequency[band]), np.log(power[band])).slope
    assert slope == pytest.approx(-2, abs=0.2)
    assert generate.photograph((1, 1)).shape == (1, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generate.random_array((3, -1)), r"shape\[1\]=-1"),
        (lambda: generate.random_array((3, 4), 1.1), r"density=1\.1"),
        (lambda: generate.random_array((3, 4), values=256), "values=256"),
        (lambda: generate.random_array((3, 4), block=0), "block=0"),
        (lambda: generate.patterns.spiral(1), "size=1"),
        (lambda: generate.patterns.rings((0, 2)), r"shape\[0\]=0"),
        (lambda: generate.patterns.maze((2, 5)), r"shape\[0\]=2"),
        (lambda: generate.patterns.maze((5, 5, 5)), r"shape=\(5, 5, 5\)"),
        (lambda: generate.patterns.comb(()), r"shape=\(\)"),
        (lambda: generate.patterns.hilbert_curve(16), "order=16"),
        (lambda: generate.patterns.all_equal((2, 2), 256), "value=256"),
        (lambda: generate.blobs((5, 5), -1), r"sigma=-1\.0"),
        (lambda: generate.voronoi((5, 5), 26), "cells=26"),
        (lambda: generate.voronoi((5, 5), 0), "cells=0"),
        (lambda: generate.patterns.spiral(10**14), "size=10{14} must be from 2 to 268435456"),
        (lambda: generate.patterns.rings((10**20,)), r"shape\[0\]=10{20} must be at most"),
        (lambda: generate.blobs((2**20,) * 3), r"shape=\(1048576, .* at most"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()
