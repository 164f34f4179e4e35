"""Batches of small images on a GPU, a block an item, on the host executor: labels are the CPU's."""

import numpy as np
import pytest

from conncomp import Workspace, generate, label
from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cuda.grid import item_runs, tiled_elements, tiled_quads
from gpu_arrays import (
    check_written_one_by_one,
    describe,
    label_on_gpu,
    noise_of_kinds,
    without_limits,
)
from host_cuda.host_gpu import SANITIZER, HostGpu

SHARED = 200_000  # bytes of a multiprocessor: enough for all items here
# One word a row, several, and rows whose labels are written one by one.
SHAPES = [(3, 4, 3), (2, 9, 31), (2, 17, 32), (1, 40, 64), (3, 20, 67), (2, 33, 100), (1, 90, 260)]
# Each of the views four times, or once for a sanitizer, which looks at accesses.
ROUNDS = 20 if SANITIZER is None else 5
VIEWS = [np.s_[:], np.s_[:, :, ::2], np.s_[:, 1:, 1:], np.s_[:, ::-1], np.s_[:, :, ::-1]]

every_size = without_limits({tiled_quads: "MOST", item_runs: "LEAST_WORDS"}, item_runs.can_label)


def noise(random, shape):
    return noise_of_kinds(random, shape, batch_axes=1, stretch=50, values_of_blocks=3)


def check(image, seed=0, index=np.int32, shared=SHARED, **asked):
    gpu = HostGpu(seed=seed, multiprocessors=2 + seed % 7, shared_memory=shared)
    asked = {"batch_axes": image.ndim - 2, "connectivity": 1 + seed % 2, **asked}
    labels = np.full(image.shape, -7, index)
    described = describe(image, **asked)
    assert item_runs.can_label(described.geometry, described.links, shared)
    num = label_on_gpu(gpu, described, labels, "consecutive", "auto", True, Workspace())
    expected, counts = label(image, return_num=True, **asked)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(num, np.ravel(counts))
    assert gpu.launched == 1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise(shape):
    random = np.random.default_rng(shape)
    for seed in range(ROUNDS):
        image = noise(random, (shape[0], shape[1] + 1, 2 * shape[2]))[:, : shape[1], : shape[2]]
        background = int(random.choice([0, 0, 1, 9]))
        check(image[VIEWS[seed % len(VIEWS)]], seed, INDEX_TYPES[seed % 2], background=background)


def test_patterns():
    spiral = generate.patterns.spiral(110)
    checkerboard = (np.indices((60, 130)).sum(0) % 2).astype(np.uint8)
    for seed, image in enumerate(
        (
            spiral,
            (spiral == 1).astype(np.uint8),
            generate.patterns.comb((70, 150)).astype(np.uint8),
            generate.patterns.comb((150, 70)).T.copy().astype(np.uint8),
            generate.patterns.rings((80, 150)).astype(np.uint8),
            checkerboard,
            checkerboard + 1,
            np.ones((70, 70), np.uint8),
            np.zeros((20, 140), bool),
        )
    ):
        for connectivity in (1, 2):
            check(np.stack([image, image[::-1]]), seed, connectivity=connectivity)


@pytest.mark.parametrize("at", [0, 30, 31, 32, 62])
def test_every_small_square(at):
    """All images of 3 x 3, and of 2 x 2 of three values, within words and across them."""
    bits = np.indices((2,) * 9).reshape(3, 3, -1).transpose(2, 0, 1)
    digits = np.indices((3,) * 4).reshape(2, 2, -1).transpose(2, 0, 1)
    for squares in (bits, digits):
        image = np.zeros((len(squares), 3, 70), np.uint8)
        side = squares.shape[1]
        image[:, :side, at : at + side] = squares
        for connectivity in (1, 2):
            check(image, at, connectivity=connectivity)


def test_the_largest_items():
    """Of as many words as there may be, and of as many runs: two for each two elements."""
    random = np.random.default_rng(2)
    values = random.integers(1, 200, (1, 256, 256)).astype(np.uint8)  # more than 32 bits number
    for image in (random.random((1, 256, 256)) < 0.5, values, np.ones((1, 2048, 5), np.uint8)):
        check(image, 1)


def test_labels_that_are_written_one_by_one():
    image = noise(np.random.default_rng(5), (2, 30, 64))
    asked = {"batch_axes": 1, "connectivity": 2}
    gpu, expected = HostGpu(shared_memory=SHARED), label(image, **asked)
    check_written_one_by_one(gpu, image, expected, "consecutive", **asked)


def test_who_is_taken(monkeypatch):
    for module, is_this in (tiled_elements, 0), (tiled_quads, 0), (item_runs, 1):
        monkeypatch.setattr(module, "fill_labels", lambda *call, is_this=is_this: is_this)

    def taken(image, shared=SHARED, numbering="consecutive", **asked):
        labels = np.empty(image.shape, np.int32)
        described = describe(image, **{"batch_axes": 1, **asked})
        gpu = HostGpu(shared_memory=shared)
        return bool(label_on_gpu(gpu, described, labels, numbering, "auto", True, Workspace()))

    image = np.ones((4, 32, 64), np.uint8)
    needed = item_runs.WORD_BYTES * 64 + 2 * 2048 + item_runs.RESERVED
    assert taken(image, needed)
    for other, asked in (
        (image, {}),
        (image == 1, {}),
        (image, {"structure": np.ones((3, 3))}),
        (image, {"connectivity": 1}),
    ):
        assert taken(other, **asked)
    for other, asked in (
        (image, {"shared": needed - 1}),
        (image, {"numbering": "roots"}),
        (image.astype(np.int32), {}),
        (image.reshape(4, 4, 8, 64), {}),
        (image, {"connectivity": 1, "periodic": (True, False)}),
        (image, {"structure": np.eye(3)}),
        (image, {"connectivity": 1, "tolerance": 1}),
    ):
        assert not taken(other, **asked)
    assert [taken(image[:items]) for items in (1, 4)] == [True, True]
    monkeypatch.setattr(tiled_quads, "MOST", 4096)  # a multiprocessor, of two
    assert [taken(image[:items]) for items in (3, 4)] == [False, True]
    monkeypatch.setattr(tiled_quads, "MOST", 2048)
    assert [taken(np.ones((1, height, 64), np.uint8)) for height in (64, 65)] == [False, True]
    monkeypatch.setattr(item_runs, "LEAST_WORDS", 64)
    item_runs.can_label.cache_clear()
    assert [taken(image[:, first:]) for first in (0, 1)] == [True, False]
