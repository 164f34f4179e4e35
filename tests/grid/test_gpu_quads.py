"""Images of bytes on a GPU by quads, on the host executor: labels are those of a flood fill."""

import numpy as np
import pytest

from conncomp import Workspace, generate, label
from conncomp.kernels.cuda.grid import tiled_elements, tiled_quads
from gpu_arrays import check_both_numberings, check_written_one_by_one, describe, label_on_gpu
from hard_images import HARD_IMAGES, roots_of
from host_cuda.host_gpu import SANITIZER, HostGpu
from reference import label_by_neighbour_pairs

# From part of a tile to several tiles along both axes.
SHAPES = [(3, 64), (33, 70), (75, 200), (50, 129), (17, 259), (100, 66)]
# A whole image, an odd one, one whose rows begin anywhere, one against the order, and columns.
VIEWS = [np.s_[:, :], np.s_[1:, 1:], np.s_[:, :-3], np.s_[::-1, ::-1], np.s_[:, ::2]]


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Leave no image to others, however small it is."""
    monkeypatch.setattr(tiled_quads, "LEAST_FILLED", 0)
    monkeypatch.setattr(tiled_elements, "fill_labels", None)
    tiled_quads.can_label.cache_clear()
    yield
    tiled_quads.can_label.cache_clear()
    tiled_quads.plan_of.cache_clear()


def noise(random, shape):
    """Return noise of any density: of one value, of several, or of several in some places."""
    image = random.random(shape) < random.choice([0.02, 0.1, 0.3, 0.4, 0.6, 0.9])
    kind, x = random.integers(5), np.arange(shape[-1])
    if kind == 1:
        image = image * random.integers(1, 3, shape)
    elif kind == 2:
        image = image * (1 + (x >= shape[-1] // 2))
    elif kind == 3:
        image = image * np.where(x % 50 < 40, 255, random.integers(1, 3, shape))
    elif kind == 4:
        blocks = random.integers(0, 3, [length // 5 + 1 for length in shape])
        image = np.kron(blocks, np.ones((5,) * len(shape), int))[tuple(map(slice, shape))]
    return image.astype(np.uint8)


def check(image, seed=0, background=0):
    check_both_numberings(HostGpu(seed=seed), image, 2, background=background)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise(shape):
    random = np.random.default_rng(shape)
    # A sanitizer looks at accesses, each of which one round has.
    for seed, view in enumerate(VIEWS * (3 if SANITIZER is None else 1)):
        image = noise(random, (shape[0] + 1, 2 * shape[1]))[: shape[0]]
        check(image[view], seed, background=int(random.choice([0, 0, 1, 9])))


def test_patterns():
    spiral = generate.patterns.spiral(110)
    checkerboard = (np.indices((60, 130)).sum(0) % 2).astype(np.uint8)
    for image in (
        spiral,  # of two values, where each element is a node
        (spiral == 1).astype(np.uint8),
        generate.patterns.comb((70, 150)).astype(np.uint8),
        generate.patterns.rings((80, 150)).astype(np.uint8),
        checkerboard,
        checkerboard + 1,
        np.ones((70, 70), np.uint8),
        np.zeros((20, 140), bool),
    ):
        check(image)


def test_every_small_square():
    """All images of 3 x 3, and of 2 x 2 of three values, each in the middle of others."""
    bits = np.indices((2,) * 9).reshape(3, 3, -1).transpose(2, 0, 1)
    digits = np.indices((3,) * 4).reshape(2, 2, -1).transpose(2, 0, 1)
    for squares, across in ((bits, 32), (digits, 9)):
        side = squares.shape[1] + 1
        down = len(squares) // across
        image = np.zeros((down, side, across, side), np.uint8)
        image[:, 1:, :, 1:] = squares.reshape(down, across, side - 1, side - 1).transpose(
            0, 2, 1, 3
        )
        check(image.reshape(down * side, across * side))
        check(np.ascontiguousarray(image.reshape(down * side, across * side)[1:, 1:]))


def test_hard_images():
    for name, image in HARD_IMAGES.items():
        if image.dtype.itemsize > 1:
            continue
        described = describe(image)
        if not tiled_quads.can_label(described.geometry, described.links):
            continue
        labels = np.full(image.shape, -7, np.int32)
        label_on_gpu(HostGpu(), described, labels, "roots", "auto", False, None)
        np.testing.assert_array_equal(labels, roots_of(name, None, False))


@pytest.mark.parametrize(
    ("numbering", "words"), [("roots", 2048), ("consecutive", 2048), ("consecutive", 0)]
)
def test_items(numbering, words, monkeypatch):
    """Each is labelled as if alone, in several tiles; words are numbered in blocks, or not."""
    monkeypatch.setattr(tiled_quads, "MOST_WORDS_IN_BLOCK", words)
    tiled_quads.plan_of.cache_clear()
    random = np.random.default_rng(3)
    for shape in (5, 40, 70), (2, 3, 21, 67):
        batch_axes = len(shape) - 2
        image = np.stack([noise(random, shape[-2:]) for _ in range(np.prod(shape[:-2]))])
        image = image.reshape(shape)
        asked = {"batch_axes": batch_axes, "connectivity": 2}
        labels = np.full(shape, -7, np.int32)
        num = label_on_gpu(
            HostGpu(), describe(image, **asked), labels, numbering, "auto", True, Workspace()
        )
        expected, counts = label(image, numbering=numbering, return_num=True, **asked)
        np.testing.assert_array_equal(labels, expected)
        np.testing.assert_array_equal(num, counts.ravel())


def test_labels_that_are_written_one_by_one():
    image = noise(np.random.default_rng(5), (70, 130))
    check_written_one_by_one(HostGpu(), image, label_by_neighbour_pairs(image))


def test_two_quads_of_a_thread(monkeypatch):
    monkeypatch.setattr(tiled_quads, "FEW_TILES", 0)
    monkeypatch.setattr(tiled_quads, "MOST_WORDS_IN_BLOCK", 0)
    tiled_quads.plan_of.cache_clear()
    check(noise(np.random.default_rng(6), (100, 150)))
    tiled_quads.plan_of.cache_clear()


def test_who_is_taken(monkeypatch):
    monkeypatch.setattr(tiled_elements, "fill_labels", lambda *call: "elements")
    monkeypatch.setattr(tiled_quads, "fill_labels", lambda *call: "quads")

    def taken(image, **asked):
        labels = np.empty(image.shape, np.int32)
        described = describe(image, **asked)
        return label_on_gpu(HostGpu(), described, labels, "roots", "auto", True, Workspace())

    image = np.ones((40, 80), np.uint8)
    assert taken(image) == taken(image == 1) == taken(image.view(np.int8)) == "quads"
    assert taken(image, structure=np.ones((3, 3))) == "quads"
    for other, asked in (
        (image.astype(np.int32), {}),
        (image[None, :1], {}),
        (image.reshape(4, 10, 80), {}),
        (image, {"periodic": (True, False)}),
        (image, {"structure": np.eye(3)}),
        (image, {"connectivity": 1}),
        (image, {"tolerance": 1}),
    ):
        assert taken(other, **asked) == "elements"
    gpu = HostGpu()
    monkeypatch.setattr(tiled_quads, "MOST", -(-image.size // gpu.multiprocessors) - 1)
    assert taken(image) == "elements"
    monkeypatch.setattr(tiled_quads, "MOST", -(-image.size // gpu.multiprocessors))
    assert taken(image) == "quads"
    monkeypatch.setattr(tiled_quads, "LEAST_FILLED", 0.9)
    tiled_quads.can_label.cache_clear()
    assert taken(image) == "elements"
