"""The two defaults for any arrays on a GPU, large ones and small ones, on arrays of many tiles."""

import numpy as np
import pytest

from conncomp import Workspace, generate, label
from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements, tiled_quads
from conncomp.kernels.cuda.grid.image import Geometry
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Neighbourhood, steps_along
from dealt import SOAK
from gpu_arrays import check_both_numberings, check_written_one_by_one, describe, label_on_gpu
from host_cuda.host_gpu import HostGpu
from reference import label_by_neighbour_pairs

# Tiles as on a GPU, and others: whose, and the logarithms of their parts along each axis, from the
# last one.
TILES = {
    "usual": (tiled_bricks, {1: (7, 0, 0), 2: (4, 3, 0), 3: (4, 2, 2)}),
    "small": (tiled_bricks, {1: (5, 0, 0), 2: (2, 3, 0), 3: (2, 2, 1)}),
    "narrow": (tiled_bricks, {1: (6, 0, 0), 2: (1, 5, 0), 3: (1, 2, 3)}),
    "elements": (tiled_elements, {1: (9, 0, 0), 2: (5, 4, 0), 3: (5, 2, 2)}),
    "few elements": (tiled_elements, {1: (6, 0, 0), 2: (3, 3, 0), 3: (2, 2, 2)}),
}
# Shapes, each with two dtypes. Rows that lie at multiples of some bytes are read by words: each
# dtype has such ones and others. Arrays of as many axes share what is compiled for them.
SHAPES = {
    (3000,): (np.float64, np.uint8),
    (700, 5): (np.int32, np.float64),
    (75, 320): (np.float16, np.uint8),
    (135, 97): (np.float16, np.uint8),
    (17, 19, 70): (np.int32, np.uint8),
    (9, 20, 96): (np.int32, np.uint8),
    (3, 5, 30, 40): (np.float64, np.uint8),
}


@pytest.fixture(params=TILES)
def tiles(request, monkeypatch):
    """A kind of tiles; arrays are large enough for them on a GPU of one multiprocessor."""
    default, logs = TILES[request.param]
    monkeypatch.setattr(tiled_elements, "MOST", 2**31 if default is tiled_elements else 0)
    monkeypatch.setattr(tiled_quads, "MOST", 0)
    if logs != default.LOGS:
        monkeypatch.setattr(default, "LOGS", logs)
        monkeypatch.setattr(tiled_bricks, "FIXED", ())
    default.plan_of.cache_clear()
    yield request.param
    default.plan_of.cache_clear()


def noise(seed, shape, dtype):
    """Return noise of any density: of one value, of two, of one in each part, or of two in some."""
    random = np.random.default_rng(seed)
    image = random.random(shape) < random.choice([0.02, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9])
    kind, x = random.integers(4), np.arange(shape[-1])
    if kind == 1:
        image = image * random.integers(1, 3, shape)
    elif kind == 2:
        image = image * (1 + (x >= shape[-1] // 2))
    elif kind == 3:
        image = image * np.where(x % 50 < 40, 1, random.integers(1, 3, shape))
    # In most words of the last two, both values joined by "or" are the first one.
    values = np.array([[0, 1, 2], [0, 3, 1], [0, 255, 128]])[random.integers(3)]
    return values[image.astype(int)].astype(dtype)


def check(image, connectivity, periodic, seed=0, background=0, indices=(np.int32, np.int64)):
    gpu = HostGpu(seed=seed, multiprocessors=1)
    check_both_numberings(gpu, image, connectivity, periodic, background, indices)


def index_of(shape):
    """Return the types of roots and of numbers: of all at once there is too much to compile."""
    return [(np.int64, np.int32)[len(shape) % 2]] * 2


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("seed", range(4 if SOAK else 2))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_noise(tiles, shape, seed):
    dtype = SHAPES[shape][seed % 2]
    # Each kind of tiles sees arrays of its own.
    seed += 4 * (list(TILES).index(tiles) + len(TILES) * list(SHAPES).index(shape))
    random = np.random.default_rng(seed)
    connectivity = random.choice([len(shape), random.integers(1, len(shape) + 1)])
    periodic = [bool(axis) for axis in random.random(len(shape)) < 0.3]
    check(noise(seed, shape, dtype), int(connectivity), periodic, seed, indices=index_of(shape))


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("image", ["spiral", "rings", "comb", "maze", "hilbert"])
def test_patterns(tiles, image):
    made = {
        "spiral": lambda: generate.patterns.spiral(200),
        "rings": lambda: generate.patterns.rings((140, 270)),
        "comb": lambda: generate.patterns.comb((150, 280)),
        "maze": lambda: generate.patterns.maze((141, 271)),
        "hilbert": lambda: generate.patterns.hilbert_curve(7),
    }[image]()
    for connectivity in (1, 2):
        check(made, connectivity, periodic=False)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("connectivity", [1, 2, 3])
def test_more_pairs_than_there_is_room_for(tiles, connectivity):
    """Rows of points between full rows, and planes of them: a run touches sixteen others."""
    points = np.arange(200) % 2
    full = np.ones_like(points)
    rows = np.stack([full, points] * 40)
    bundles = np.stack([full, full, points, 0 * points] * 20)
    planes = np.stack([bundles, bundles, rows, 0 * rows] * 3)[:, :48]  # of several tiles each way
    for image in (rows, bundles, planes):
        check(image.astype(np.uint8), min(connectivity, image.ndim), periodic=False)


@pytest.mark.parametrize("tiles", ["usual", "small"], indirect=True)
def test_more_pairs_between_tiles_than_there_is_room_for(tiles):
    """Noise of two values without background: a brick has many contacts in tiles beside its own."""
    image = np.random.default_rng(1).integers(1, 3, (40, 40, 140))
    check(image.astype(np.uint8), 3, periodic=False, background=99)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("shape", [(70,), (21, 61), (9, 13, 21), (3, 5, 6, 7)])
def test_zeros_that_are_foreground(tiles, shape):
    """With a background that there is none of: what is beside the array is no neighbour."""
    seed = (list(TILES).index(tiles) + len(shape)) % 3
    (dtype, *_), *_ = (SHAPES[other] for other in SHAPES if len(other) == len(shape))
    image = np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)
    for connectivity in {1, len(shape)}:
        check(image, connectivity, False, seed, background=99, indices=index_of(shape))


# Values that two bits tell apart, that differ in several bits, and that only a comparison does.
VALUES = [(1, 2, 3), (7, 1000), (128, 255), (4, 5, 6, 7), (5, 9, 300), (2**31 - 1, 2**31 - 2, 0)]


@pytest.mark.parametrize("tiles", ["small"], indirect=True)
@pytest.mark.parametrize("shape", [(75, 140), (9, 20, 40)])
def test_tiles_of_different_values(tiles, shape):
    """Tiles of one value beside such as have some of them or all, which are compared by planes."""
    random = np.random.default_rng(len(shape))
    # Each side has a plane of its own meaning; bricks of one value each.
    beside = random.integers(1, 3, shape) + 4 * (np.arange(shape[-1]) >= 64)
    bricks = random.choice([4, 8], [-(-n // 4) for n in shape])
    for axis in range(len(shape)):
        bricks = bricks.repeat(4 if len(shape) == 3 else 8, axis)
    images = [beside, bricks[tuple(slice(n) for n in shape)]]
    for values in VALUES:
        image = random.choice(values, shape)
        image[..., 20:60] = values[0]
        image[:3, ..., 60:] = values[-1]
        image[..., 100:][random.random(image[..., 100:].shape) < 0.4] = 0
        images.append(image)
    for seed, image in enumerate(images):
        for connectivity, background in ((1, 99), (len(shape), 0)):
            check(image.astype(np.int32), connectivity, seed % 2 == 0, seed, background)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 1, 2), (0, 2, 1), (1, 2, 0), (2, 1, 0)])
def test_corners_at_ends(tiles, axes):
    """Elements that touch at corners only, across the end of an axis that cuts off a tile."""
    image = np.zeros((70, 52), np.uint8)
    image[4::4, -1] = image[3:-1:4, 0] = 1
    for plane in (image, image[:, ::-1]):
        given = plane if len(axes) == 2 else np.stack([plane, 0 * plane, 0 * plane])
        check(np.ascontiguousarray(given.transpose(axes)), len(axes), periodic=True)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("most", [1, 3])
def test_many_words_in_a_chunk(tiles, monkeypatch, most):
    """As in an array of more words than threads that count roots."""
    monkeypatch.setattr("conncomp.kernels.cuda.core.numbering.MOST_CHUNKS", most)
    for seed, density in enumerate((0.02, 0.2, 0.5)):
        check(generate.random_array((130, 300), density, seed=seed), 2, False, seed)


@pytest.mark.parametrize("tiles", ["usual", "small"], indirect=True)
@pytest.mark.parametrize("shape", [(4, 100, 330), (3, 12, 40, 70)], ids=str)
@pytest.mark.parametrize("most", [0, 4096])
def test_items(tiles, monkeypatch, shape, most):
    """Each is numbered from 1, by a block or by all."""
    monkeypatch.setattr(tiled_bricks, "LEAST_OF_ITEM", 1)
    monkeypatch.setattr(tiled_bricks, "MOST_OF_ITEM", most)
    image = np.stack([noise(seed, shape[1:], np.uint8) for seed in range(shape[0])])
    asked = {"batch_axes": 1, "connectivity": len(shape) - 1}
    labels, gpu = np.full(shape, -7, np.int32), HostGpu(multiprocessors=1)
    num = label_on_gpu(
        gpu, describe(image, **asked), labels, "consecutive", "auto", True, Workspace()
    )
    expected, counts = label(image, return_num=True, **asked)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(num, counts)


@pytest.mark.parametrize(
    "shape", [(10**6,), (1000, 1000), (1081, 1923), (130, 130, 130), (1300, 1300, 1300)]
)
@pytest.mark.parametrize(
    ("links", "least", "most"),
    [(Links("equal", "u1"), 0.5, 1.3), (Links("within", "u1", limit=1), 0.5, 4.6)],
)
def test_memory(shape, links, least, most):
    """So many bytes for each element, beside values and labels as large as they must be."""
    strides = tuple(np.cumprod((1, *shape[:0:-1]))[::-1].tolist())
    ndim = len(shape)
    steps = steps_along(Neighbourhood(ndim, None, (False,) * ndim), tuple(range(ndim)))
    geometry = Geometry(shape, strides, steps, 1, 0)
    index = np.dtype(np.int64 if np.prod(shape) >= 2**31 else np.int32)
    plan = tiled_bricks.plan_of(geometry, links, index, 132, consecutive=True)
    fields = [*plan.table.values(), *plan.by_word.values()]
    needed = sum(field[0] * field[1].itemsize for field in fields if isinstance(field, tuple))
    assert least * np.prod(shape) < needed < most * np.prod(shape)


@pytest.mark.parametrize("offset", range(3))
def test_alignment(offset):
    """Rows that are read by chunks or not, and written by twos or not."""
    image = generate.random_array((70, 320), 0.5, seed=offset)[
        :, offset : offset + 260 + offset % 2
    ]
    gpu = HostGpu(multiprocessors=1)
    check_written_one_by_one(gpu, image, label_by_neighbour_pairs(image))
