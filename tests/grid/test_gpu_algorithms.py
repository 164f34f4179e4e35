"""GPU algorithms on arrays against a flood fill, on bonds against SciPy's components."""

from collections import Counter
from itertools import cycle, product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from changing_memory import ChangingGpu
from conncomp import Workspace, generate, label
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.cuda.grid import tiled_elements, tiled_quads
from conncomp.kernels.cuda.grid.image import EVERY_RULE, RANKS, VALUE_CTYPES, Image
from conncomp.kernels.cuda.launcher import launch
from conncomp.kernels.cuda.papers import hawick_arrays, tiles
from conncomp.kernels.links import equal_values
from conncomp.kernels.neighbourhood import Neighbourhood
from dealt import SOAK, dealt
from gpu_arrays import describe, describe_bonds, fill, label_on_gpu
from hard_images import HARD_IMAGES, roots_of, settings_of
from host_cuda.host_gpu import HostGpu
from reference import consecutive, label_by_bonds, label_by_flood_fill, label_by_neighbour_pairs

ON_GPU = ALGORITHMS["cuda"]
VARIANTS = {
    "label-equivalence": [
        {"block": (16, 16)},
        {"block": (16, 16), "cells": 4},
        {"block": (32, 32)},
        {"block": (32, 32), "cells": 4},
        {"first": "blocks"},
        {"block": (16, 16), "cells": 4, "first": "blocks", "lower": "store"},
        {"lower": "store"},
    ],
    "neighbour-propagation": [{"block": (16, 16)}, {"block": (32, 32)}],
    "local-propagation": [
        {"block": (32, 6)},
        {"block": (32, 32)},
        {"cells": 4},
        {"block": (32, 32), "cells": 4},
    ],
}
WAYS = [{"local": local, "merge": merge} for local in tiles.LOCAL for merge in tiles.MERGE]
FORESTS = list(product(("size", "index"), ("kept", "compressed")))
VARIANTS["tiles"] = [
    *WAYS[1:],
    *({"tile": side} for side in (4, 8)),
    *({"sites": sites} for sites in (1, "column")),
    {"tile": 4, "merge": "relaxation"},
    *({"local": "union-find", "trees": trees, "paths": paths} for trees, paths in FORESTS),
    {"trees": "size", "tile": 4},
]
CASES = [(name, {}) for name in ON_GPU]
CASES += [(name, options) for name, variants in VARIANTS.items() for options in variants]
# Those that find links in ways of their own.
LINK_CASES = [(name, {}) for name in ON_GPU if name != "tiles"]
LINK_CASES += [("tiles", options) for options in (*WAYS, {"trees": "size", "tile": 4})]
SHAPES_OF_BONDS = [(1,), (2,), (70,), (1, 5), (16, 16), (17, 33), (40, 2), (1, 8, 9), (9, 10, 7)]
# How small tiles are sewn.
SEWN = [{"tile": 4, "merge": merge} for merge in tiles.MERGE] + [{"tile": 4, "trees": "size"}]


def labels_it(algorithm, image):
    """Whether an algorithm labels arrays of so many dimensions."""
    return algorithm != "tiles" or np.count_nonzero(np.array(image.shape) > 1) <= 3


@pytest.mark.parametrize(
    ("algorithm", "options", "name"), dealt(CASES, HARD_IMAGES, forms=2), ids=str
)
def test_hard_images(algorithm, options, name):
    image = HARD_IMAGES[name]
    if not labels_it(algorithm, image):
        with pytest.raises(ValueError, match=f"algorithm='{algorithm}' .* has shape"):
            fill(HostGpu(), algorithm, describe(image), **options)
        return
    for seed, (connectivity, periodic) in enumerate(settings_of(image)):
        described = describe(image, 0, connectivity, periodic)
        roots = fill(HostGpu(seed=seed), algorithm, described, **options)
        np.testing.assert_array_equal(roots, roots_of(name, connectivity, periodic))


@pytest.mark.soak
@pytest.mark.parametrize("name", HARD_IMAGES)
def test_hard_images_as_large_ones(monkeypatch, name):
    monkeypatch.setattr(tiled_elements, "MOST", 0)
    monkeypatch.setattr(tiled_quads, "MOST", 0)
    test_hard_images("auto", {}, name)


@st.composite
def kernel_types(draw, ranks):
    """Return a value type, a rank and an index type: all of each, but not all combinations."""
    value_type, rank, index = "u1", 2, np.int32
    match draw(st.integers(0, 2)):
        case 0:
            value_type = draw(st.sampled_from(list(VALUE_CTYPES)))
        case 1:
            rank = draw(st.sampled_from(ranks))
        case 2:
            index = np.int64
    return value_type, rank, index


@st.composite
def images(draw, value_type, rank):
    ndim = draw(st.sampled_from({2: [1, 2], 3: [3], 6: [4, 5, 6]}[rank]))
    longest = [0, 200, 40, 12, 6, 4, 3][ndim]
    shape = draw(st.tuples(*[st.one_of(st.integers(1, 3), st.integers(1, longest))] * ndim))
    dtypes = {"u1": ["?", "i1", "u1"]}.get(value_type, [value_type])
    dtypes += [value_type.replace("u", "i")]
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    pool = [0, 1, 2, 3]
    if dtype.kind == "f":
        one_ulp_off = np.nextafter(dtype.type(1), dtype.type(2))
        pool = [0, -0.0, 1, one_ulp_off, np.nan, np.inf, np.finfo(dtype).smallest_subnormal]
    elif dtype.kind != "b":
        info = np.iinfo(dtype)
        pool = [0, info.max, info.min, info.max // 2 + 1]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pool = np.array(pool[: draw(st.integers(2, len(pool)))], dtype)
    image = rng.choice(pool, shape)
    image[rng.random(shape) < draw(st.sampled_from([0, 0.3, 0.5]))] = 0
    layout = draw(st.sampled_from(["as it is", "fortran", "steps", "reversed", "broadcast"]))
    if layout == "fortran":
        return np.asfortranarray(image)
    if layout == "steps":
        return image.repeat(2, -1)[..., ::2]
    if layout == "reversed":
        return image[(slice(None, None, -1),) * ndim]
    return np.broadcast_to(image[:1], shape) if layout == "broadcast" else image


@pytest.mark.parametrize("algorithm", [name for name in ON_GPU if name != "auto"])
@given(data=st.data())
@settings(max_examples=200)
def test_equals_flood_fill(algorithm, data):
    value_type, rank, index = data.draw(
        kernel_types(tiles.RANKS if algorithm == "tiles" else RANKS)
    )
    image = data.draw(images(value_type, rank))
    background = data.draw(st.sampled_from([0, 1, -1, 0.5, np.nan]))
    connectivity = data.draw(st.integers(1, image.ndim))
    periodic = data.draw(st.lists(st.booleans(), min_size=image.ndim, max_size=image.ndim))
    gpu = HostGpu(seed=data.draw(st.integers(0, 1000)))
    described = describe(image, background, connectivity, periodic)
    assert described.links.value_type == value_type
    options = {}
    if algorithm == "tiles":  # small ones, so that there are some
        options = data.draw(st.sampled_from(SEWN))
    roots = fill(gpu, algorithm, described, index, **options)
    expected = label_by_flood_fill(image, background, connectivity, periodic)
    np.testing.assert_array_equal(roots, expected)


# Every rule and value type, every rank and index type, but not all combinations.
LINK_TYPES = [(links.rule, links.value_type, 2, np.int32) for links in EVERY_RULE]
LINK_TYPES += [
    (rule, "u1", *kind)
    for rule in ("equal", "within", "bonds")
    for kind in ((3, np.int32), (6, np.int32), (2, np.int64))
]


def dealt_types():
    """Return all of them for the default; of those above bytes fewer for each of the others.

    Kernels meet a type where they ask the rule, in code that all algorithms share. The others see
    equal values of all types in `test_equals_flood_fill`; those within a tolerance are dealt out,
    as are ranks and types of indices among the rules.
    """
    wide = [kind for kind in LINK_TYPES if kind[0] == "within" and kind[1] != "u1"]
    plain = [kind for kind in LINK_TYPES if kind[1:] == ("u1", 2, np.int32)]
    shaped = [kind for kind in LINK_TYPES if kind[1] == "u1" and kind not in plain]
    others = [name for name in ON_GPU if name != "auto"]
    share = 2 if SOAK else 3
    for k, name in enumerate(others):
        yield from ((name, *kind) for kind in plain + shaped[k % share :: share] + wide[k::3])
    yield from (("auto", *kind) for kind in LINK_TYPES)


DEALT_TYPES = list(dealt_types())

# Whether arrays of wide values come one by one or several at once, as each has kernels of its own.
ONE_BY_ONE = dict(zip(VALUE_CTYPES, cycle((True, False))))


@st.composite
def shapes(draw, value_type, rank):
    """Return the shape of some arrays, of two axes for wide values, and how many are batch axes."""
    wide = value_type != "u1"
    ndim = 2 if wide else draw(st.sampled_from({2: [1, 2], 3: [3], 6: [4, 5, 6]}[rank]))
    longest, most = {1: (90, 300), 2: (30, 300), 3: (9, 300)}.get(ndim, (4, 100))
    if wide:
        batch = () if ONE_BY_ONE[value_type] else (draw(st.integers(2, 3)),)
    else:
        batch = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    item = []
    for axis in range(ndim):
        shortest = 2 if wide or (rank >= 3 and axis < 4) else 1  # others are of a lower rank
        room = most // prod((*batch, *item))
        item.append(max(shortest, min(draw(st.integers(shortest, longest)), room)))
    return (*batch, *draw(st.permutations(item))), len(batch)


@st.composite
def neighbourhoods(draw, ndim):
    """Return a connectivity, or a symmetric structuring element."""
    if draw(st.booleans()):
        return {"connectivity": draw(st.integers(1, ndim))}
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    chosen = rng.random((3,) * ndim) < draw(st.sampled_from([0, 0.1, 0.3, 0.6, 1]))
    return {"structure": chosen | np.flip(chosen)}


def values_and_tolerances(dtype):
    """Return values at the ends of a dtype, and tolerances of at least 1 or above 0."""
    if dtype.kind == "b":
        return [0, 1], []
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        ends = [low, low + 1, low + 3, high // 2, high // 2 + 1, high - 2, high]
        span = high - low
        return ends, [1, 1.5, 2, 3, high // 2, high, high + 1, span - 2, span, 2**64, np.inf]
    info = np.finfo(dtype)
    tiny, step, largest = (float(x) for x in (info.smallest_subnormal, info.eps, info.max))
    values = [0, -0.0, tiny, -tiny, 1, 1 + step, 0.1, 0.3, largest, -largest]
    values += [np.inf, -np.inf, np.nan]
    return values, [tiny, 2 * tiny, step, 0.1, 0.2, 1, largest, 2 * largest, np.inf]


def unpack(bonds, ndim):
    """Return bonds of bool, with a plane for each of the first `ndim` bits."""
    return np.stack([bonds >> axis & 1 for axis in range(ndim)]).astype(bool)


@st.composite
def linked_arrays(draw, rule, value_type, rank):
    """Return an `Image` with roots of its items, by any link rule."""
    shape, batch_axes = draw(shapes(value_type, rank))
    ndim = len(shape) - batch_axes
    periodic = draw(st.lists(st.booleans(), min_size=ndim, max_size=ndim))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    layout = draw(st.sampled_from(["as it is", "fortran", "reversed"]))
    if rule == "bonds":
        packed = draw(st.booleans())
        share = draw(st.sampled_from([0.1, 0.3, 0.5]))
        bonds = rng.random((8 if packed else ndim, *shape)) < share
        if packed:
            bonds = np.packbits(bonds, 0, "little")[0]
        elif layout == "fortran":  # the bonds of a site beside each other
            bonds = np.moveaxis(np.moveaxis(bonds, 0, -1).copy(), -1, 0)
        if layout == "reversed":
            bonds = np.flip(bonds)
        planes = unpack(bonds, ndim) if packed else bonds
        lattices = describe_bonds(bonds, periodic, batch_axes)
        return lattices, label_by_bonds(planes, periodic, batch_axes)
    dtypes = {value_type, value_type.replace("u", "i")}
    if (rule, value_type) == ("equal", "u1"):
        dtypes.add("?")
    dtype = np.dtype(draw(st.sampled_from(sorted(dtypes))))
    ends, tolerances = values_and_tolerances(dtype)
    options = {"tolerance": draw(st.sampled_from(tolerances)) if rule == "within" else 0}
    options |= draw(neighbourhoods(ndim))
    if draw(st.booleans()):
        values = np.array(draw(st.lists(st.sampled_from(ends), min_size=2)), dtype)
    else:  # noise that many tolerances leave in pieces
        values = np.arange(draw(st.integers(2, 12))).astype(dtype)
    image = rng.choice(values, shape)
    if layout != "as it is":
        image = np.asfortranarray(image) if layout == "fortran" else np.flip(image)
    options["background"] = draw(st.sampled_from([0, 1, np.nan, image.flat[0].item()]))
    options |= {"periodic": periodic, "batch_axes": batch_axes}
    return describe(image, **options), label_by_flood_fill(image, **options)


@pytest.mark.parametrize(("algorithm", "rule", "value_type", "rank", "index"), DEALT_TYPES)
@given(data=st.data())
@settings(max_examples=30)
def test_equals_reference_by_any_rule(algorithm, rule, value_type, rank, index, data):
    if algorithm == "tiles" and rank not in tiles.RANKS:
        return
    described, expected = data.draw(linked_arrays(rule, value_type, rank))
    assert (described.links.rule, described.links.value_type) == (rule, value_type)
    options = {}
    if algorithm == "tiles":
        options = data.draw(st.sampled_from(SEWN))
    gpu = HostGpu(seed=data.draw(st.integers(0, 1000)))
    roots = fill(gpu, algorithm, described, index, **options)
    np.testing.assert_array_equal(roots, expected)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("algorithm", ON_GPU)
@pytest.mark.parametrize("shape", [(130, 70), (17, 19, 23), (4097,), (3, 3001)])
def test_larger_images(algorithm, shape):
    image = np.random.default_rng(len(shape)).integers(0, 3, shape, np.uint8)
    for connectivity, periodic in settings_of(image):
        roots = fill(HostGpu(), algorithm, describe(image, 0, connectivity, periodic))
        expected = label_by_neighbour_pairs(image, 0, connectivity, periodic)
        np.testing.assert_array_equal(roots, expected)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("name", ["noise", "empty", "checkerboard in 3-D", "one"])
@pytest.mark.parametrize("algorithm", ON_GPU)
def test_numbering_and_count(algorithm, name):
    image, workspace = HARD_IMAGES[name], Workspace()
    roots = label_by_flood_fill(image)
    for index in (np.int32, np.int64):
        for numbering, right in (("roots", roots), ("consecutive", consecutive(roots, 1))):
            labels = np.full(image.shape, -7, index)
            task = numbering, algorithm, True, workspace
            num = label_on_gpu(HostGpu(), describe(image), labels, *task)
            np.testing.assert_array_equal(labels, right)
            assert num.shape == (1,)
            assert num == len(np.unique(roots[roots >= 0]))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4)])
@pytest.mark.parametrize("algorithm", ON_GPU)
def test_no_elements(algorithm, shape):
    image = describe(np.zeros(shape))
    num = label_on_gpu(HostGpu(), image, np.zeros(shape, np.int32), "roots", algorithm, True, None)
    assert num == 0


@pytest.mark.parametrize(
    ("fill_roots", "kernel", "image", "most"),
    [
        (hawick_arrays.fill_by_equivalence, "equivalence_scan", generate.patterns.spiral(64), 3),
        (hawick_arrays.fill_along_rows, "propagate_along", generate.patterns.comb((64, 64)), 3 * 4),
        (
            hawick_arrays.fill_in_blocks,
            "propagate_in_blocks",
            generate.patterns.all_equal((64, 64)),
            5,
        ),
    ],
    ids=["label-equivalence", "directional-propagation", "local-propagation"],
)
def test_few_sweeps(fill_roots, kernel, image, most, monkeypatch):
    """Labels go as far in a sweep as the algorithm promises, which results do not show."""
    due = Counter()

    def count_and_launch(launched, *arguments, **options):
        if launched.name == kernel:
            *_, last_change, sweep = arguments
            due[kernel] += last_change[0] >= sweep - 1
        launch(launched, *arguments, **options)

    monkeypatch.setattr(hawick_arrays, "launch", count_and_launch)
    roots = np.full(image.size, -7, np.int32)
    fill_roots(HostGpu(), describe(image, connectivity=1), roots, Workspace())
    expected = label_by_flood_fill(image, connectivity=1)
    np.testing.assert_array_equal(roots.reshape(image.shape), expected)
    assert 1 < due[kernel] <= most


@pytest.mark.parametrize(
    ("algorithm", "options", "shape"), dealt(LINK_CASES, SHAPES_OF_BONDS, soaked=1), ids=str
)
@pytest.mark.parametrize("periodic", [False, True])
def test_bonds(shape, periodic, algorithm, options):
    """Bonds as bits of bytes; those beyond an item's axes mean nothing."""
    rng = np.random.default_rng(len(shape))
    bonds = sum((rng.random(shape) < 0.4).astype(np.uint8) << bit for bit in range(8))
    expected = label_by_bonds(unpack(bonds, len(shape)), periodic)
    lattice = describe_bonds(bonds, periodic)
    for index in (np.int32, np.int64) if SOAK else (np.int64 if periodic else np.int32,):
        roots = fill(HostGpu(), algorithm, lattice, index, **options)
        np.testing.assert_array_equal(roots, expected)


@pytest.mark.parametrize("options", [*WAYS, {"sites": "column"}], ids=str)
@pytest.mark.parametrize(("shape", "side"), [((70, 131), 64), ((20, 17, 33), 16)])
def test_largest_tiles(shape, side, options):
    image = np.random.default_rng(side).integers(0, 3, shape, np.uint8)
    for connectivity, periodic in ((1, True), (len(shape), False)):
        described = describe(image, 0, connectivity, periodic)
        roots = fill(HostGpu(), "tiles", described, tile=side, **options)
        expected = label_by_neighbour_pairs(image, 0, connectivity, periodic)
        np.testing.assert_array_equal(roots, expected)


@pytest.mark.parametrize(("trees", "paths"), FORESTS)
@pytest.mark.parametrize(
    ("shape", "batch_axes"), [((70, 131), 0), ((3, 40, 33), 1), ((20, 17, 33), 0), ((9, 300), 0)]
)
def test_groups_of_tiles(shape, batch_axes, trees, paths):
    """Seams of several levels, in each of which steps lead to other groups, too."""
    image = np.random.default_rng(7).integers(0, 2, shape, np.uint8)
    rank = len(shape) - batch_axes
    for connectivity, periodic in ((1, True), (rank, False), (rank, True)):
        described = describe(image, None, connectivity, periodic, batch_axes=batch_axes)
        options = {"tile": 4, "trees": trees, "paths": paths}
        roots = fill(HostGpu(seed=3), "tiles", described, **options)
        items = image if batch_axes else image[None]
        expected = [label_by_neighbour_pairs(item, None, connectivity, periodic) for item in items]
        np.testing.assert_array_equal(roots if batch_axes else roots[None], expected)


def sewn(image, monkeypatch, **options):
    """Return roots, and the forest that sewing by size has made."""
    forests = []

    def noted(kernel, grid, *arguments, **options):
        if kernel.name == "collect_trees":
            forests.append(arguments[1].copy())
        launch(kernel, grid, *arguments, **options)

    monkeypatch.setattr(tiles, "launch", noted)
    roots = np.full(image.size, -7, np.int32)
    described = describe(image, connectivity=1)
    options = {"tile": 4, "trees": "size", **options}
    tiles.fill_roots(HostGpu(), described, roots, Workspace(), **options)
    return roots, forests[0]


def test_trees_are_balanced_by_size(monkeypatch):
    """A part that lies before a larger one becomes its child, and the labels are as ever."""
    image = np.zeros((4, 16), np.uint8)
    image[0, 4:] = 1  # three tiles, of which the last two are sewn first
    roots, forest = sewn(image, monkeypatch)
    assert forest[[4, 8, 12]].tolist() == [8, -3, 8]
    assert set(roots[4:16]) == {4}


def test_paths_are_compressed(monkeypatch):
    image = (np.random.default_rng(2).random((80, 80)) < 0.62).astype(np.uint8)
    steps = {}
    for paths in ("kept", "compressed"):
        roots, forest = sewn(image, monkeypatch, paths=paths)
        np.testing.assert_array_equal(roots, label_by_flood_fill(image, connectivity=1).ravel())
        at, steps[paths] = np.arange(image.size), 0
        while (inner := forest[at] >= 0).any():
            at, steps[paths] = np.where(inner, forest[at], at), steps[paths] + inner.sum()
    assert steps["compressed"] < 0.95 * steps["kept"]


@pytest.mark.parametrize(("algorithm", "options"), CASES, ids=str)
def test_small_images(algorithm, options):
    for shape, connectivity, periodic in (((19, 21), 1, True), ((40, 35), 2, False)):
        image = np.random.default_rng(4).integers(0, 3, shape, np.uint8)
        gpu = HostGpu(resident_threads=64)  # so that a block has several pieces of work
        roots = fill(gpu, algorithm, describe(image, 0, connectivity, periodic), **options)
        expected = label_by_flood_fill(image, 0, connectivity, periodic)
        np.testing.assert_array_equal(roots, expected)


@pytest.mark.parametrize(("algorithm", "options"), LINK_CASES, ids=str)
def test_small_batches(algorithm, options):
    rng = np.random.default_rng(5)
    diagonal = {"structure": np.eye(3)[::-1], "periodic": (True, False)}
    for shape, batch_axes, links in (
        ((3, 2, 9, 21), 2, {"tolerance": 1, "connectivity": 1, "periodic": True}),
        ((4, 19, 6), 1, {"tolerance": 2, **diagonal}),
        ((2, 7, 8), 1, diagonal),
    ):
        image = rng.integers(0, 9, shape, np.uint8)
        described = describe(image, batch_axes=batch_axes, **links)
        roots = fill(HostGpu(resident_threads=64), algorithm, described, **options)
        expected = label_by_flood_fill(image, batch_axes=batch_axes, **links)
        np.testing.assert_array_equal(roots, expected)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("tolerance", [0, 1])
@pytest.mark.parametrize(("algorithm", "options"), [case for case in CASES if case[0] != "auto"])
def test_background_is_no_lower_label(algorithm, options, tolerance):
    """Values change once labels are given: what was background links to foreground by then."""
    first = generate.random_array((40, 35), 0.5)
    image = first.copy()

    def change(launch):
        if launch == 1:
            image[...] = 1

    described = describe(image, connectivity=1, tolerance=tolerance)
    roots = fill(ChangingGpu(change), algorithm, described, **options)
    np.testing.assert_array_equal(roots < 0, first == 0)
    if algorithm != "tiles":  # which unites foreground through what was background
        np.testing.assert_array_equal(roots, label_by_flood_fill(first, connectivity=1))


@pytest.mark.parametrize(
    ("algorithm", "options", "error", "message"),
    [
        ("label-equivalence", {"cells": 4}, ValueError, r"cells=4 .* block=\(32, 6\)"),
        ("tiles", {"sites": 1, "tile": 64}, ValueError, "sites=1 and tile=64 make 4096 threads"),
        ("tiles", {"sites": 4, "local": "bfs"}, ValueError, "sites=4 is for .*'bfs'"),
        (
            "tiles",
            {"local": "bfs", "merge": "relaxation", "paths": "kept"},
            ValueError,
            "paths='kept' is for local='union-find' or merge='sewing', not 'bfs' and 'relaxation'",
        ),
    ],
)
def test_wrong_options(algorithm, options, error, message):
    with pytest.raises(error, match=message):
        fill(HostGpu(), algorithm, describe(np.ones((3, 4))), **options)


def test_tile_that_is_too_large():
    with pytest.raises(ValueError, match="tile=32 makes 32768 sites in 3 dimensions"):
        fill(HostGpu(), "tiles", describe(np.ones((3, 4, 5))), tile=32)


def test_too_many_axes():
    describe(np.zeros((2, 2, 1, 2, 2, 2, 1, 2)))
    with pytest.raises(ValueError, match=r"image has 7 axes that are longer than 1.* up to 6"):
        describe(np.zeros((2,) * 7))
    records = np.zeros(4, np.dtype([("pad", "u1"), ("value", "u2")]))
    with pytest.raises(ValueError, match=r"strides \(3,\).* item size, 2"):
        Image(records["value"], equal_values("u2", None), Neighbourhood(1, None, (False,)))


@pytest.mark.gpu
class TestOnGpu:
    """The public function, on a GPU."""

    @pytest.mark.parametrize("name", HARD_IMAGES)
    @pytest.mark.parametrize(("algorithm", "options"), CASES, ids=str)
    def test_hard_images(self, cupy, algorithm, options, name):
        image = HARD_IMAGES[name]
        if not labels_it(algorithm, image):
            return
        for connectivity, periodic in settings_of(image):
            shared = {"connectivity": connectivity, "periodic": periodic, "return_num": True}
            for numbering in ("roots", "consecutive"):
                labels, num = label(
                    cupy.asarray(image),
                    numbering=numbering,
                    algorithm=algorithm,
                    **shared,
                    **options,
                )
                right, right_num = label(image, numbering=numbering, **shared)
                np.testing.assert_array_equal(labels.get(), right)
                assert int(num) == right_num
                assert isinstance(num, int) == (numbering == "consecutive")

    @pytest.mark.parametrize("algorithm", ON_GPU)
    def test_every_dtype_and_layout(self, cupy, algorithm):
        rng = np.random.default_rng(1)
        for dtype in "?bBhHiIqQefd":
            image = cupy.asarray(rng.integers(0, 3, (60, 1, 50)).astype(dtype))
            if dtype in "efd":
                image[3, 0, 4:40] = cupy.nan
                image[5] = -0.0
            wide = cupy.broadcast_to(image, (2, 60, 1, 50))
            for view in (image, image.T, image[::-2, :, ::3], wide):
                for background in (0, 1, -1, np.nan):
                    for index in (np.int32, np.int64):
                        labels = label(view, background, algorithm=algorithm, dtype=index)
                        right = label(view.get(), background)
                        np.testing.assert_array_equal(labels.get(), right)

    @pytest.mark.parametrize("name", HARD_IMAGES)
    def test_hard_images_as_large_ones(self, cupy, monkeypatch, name):
        monkeypatch.setattr(tiled_elements, "MOST", 0)
        monkeypatch.setattr(tiled_quads, "MOST", 0)
        self.test_hard_images(cupy, "auto", {}, name)

    def test_every_dtype_and_layout_as_large_ones(self, cupy, monkeypatch):
        monkeypatch.setattr(tiled_elements, "MOST", 0)
        monkeypatch.setattr(tiled_quads, "MOST", 0)
        self.test_every_dtype_and_layout(cupy, "auto")

    @pytest.mark.parametrize("algorithm", ON_GPU)
    @pytest.mark.parametrize("shape", [(2000, 1500), (120, 130, 110), (20, 1, 30, 2, 25, 10)])
    def test_large_images(self, cupy, algorithm, shape):
        image = np.random.default_rng(2).integers(0, 3, shape, np.uint8)
        if not labels_it(algorithm, image):
            return
        placed, workspace = cupy.asarray(image), Workspace()
        for connectivity, periodic in settings_of(image):
            options = {"connectivity": connectivity, "periodic": periodic}
            labels = label(placed, algorithm=algorithm, workspace=workspace, **options)
            np.testing.assert_array_equal(labels.get(), label(image, **options))

    def test_numpy_there_and_back(self):
        image = HARD_IMAGES["noise"]
        right, right_num = label(image, return_num=True)
        labels, num = label(image, return_num=True, device="cuda")
        assert isinstance(num, int)
        assert isinstance(labels, np.ndarray)
        np.testing.assert_array_equal(labels, right)
        assert num == right_num
        out = np.empty(image.shape, np.int64)
        assert label(image.astype(np.longdouble), out=out, device="cuda") is out
        np.testing.assert_array_equal(out, right)
        roots, num = label(image.T, device="cuda", numbering="roots", return_num=True)
        np.testing.assert_array_equal(roots, label(image.T, numbering="roots"))
        assert isinstance(num, int)

    def test_torch(self):
        torch = pytest.importorskip("torch")
        image = HARD_IMAGES["noise"]
        right, right_num = label(image, numbering="roots", return_num=True)
        placed = torch.tensor(image).cuda()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            out = torch.empty(image.shape, dtype=torch.int32, device="cuda")
            labels = label(placed, numbering="roots", out=out)
            fresh, num = label(placed > 0, numbering="roots", return_num=True)
        stream.synchronize()
        assert labels is out
        assert type(fresh) is type(num) is torch.Tensor
        np.testing.assert_array_equal(labels.cpu().numpy(), right)
        np.testing.assert_array_equal(fresh.cpu().numpy(), right)
        assert int(num) == right_num

    @pytest.mark.parametrize("algorithm", [name for name in ON_GPU if ON_GPU[name].capturable])
    def test_captured_in_a_cuda_graph(self, cupy, algorithm):
        image = HARD_IMAGES["noise"]
        right, right_num = label(image, connectivity=1, numbering="roots", return_num=True)
        placed, workspace = cupy.asarray(image), Workspace()
        out = cupy.empty(image.shape, np.int32)
        stream = cupy.cuda.Stream(non_blocking=True)

        def call():
            return label(
                placed,
                connectivity=1,
                algorithm=algorithm,
                numbering="roots",
                return_num=True,
                out=out,
                workspace=workspace,
            )[1]

        with stream:
            call()
            stream.synchronize()
            used = cupy.get_default_memory_pool().used_bytes()
            stream.begin_capture()
            num = call()
            captured = stream.end_capture()
            assert cupy.get_default_memory_pool().used_bytes() == used
            for _ in range(3):
                out.fill(-7)
                captured.launch(stream)
                np.testing.assert_array_equal(out.get(), right)
                assert int(num) == right_num

    def test_errors(self, cupy):
        image = cupy.zeros((3, 4))
        with pytest.raises(ValueError, match="device='cpu', but label_image lies in GPU memory"):
            label(image, device="cpu")
        with pytest.raises(TypeError, match="out must lie in GPU memory"):
            label(image, out=np.empty((3, 4), np.int32))
        with pytest.raises(TypeError, match="label_image is of dtype complex64"):
            label(image.astype(np.complex64))
        with pytest.raises(ValueError, match="algorithm='runs'"):
            label(image, algorithm="runs")
        with pytest.raises(TypeError, match="no option 'size'; it has block, cells, first, lower"):
            label(image, algorithm="label-equivalence", size=3)
        with pytest.raises(ValueError, match="image has 7 axes"):
            label(cupy.zeros((2,) * 7))
        with pytest.raises(ValueError, match="out shares memory with the input"):
            label(integers := cupy.zeros((3, 4), np.int32), out=integers)

    def test_out_of_memory(self, cupy):
        pool = cupy.cuda.MemoryPool()  # with nothing kept of earlier calls
        with cupy.cuda.using_allocator(pool.malloc):
            image = cupy.ones((300, 300), np.uint8)
            pool.set_limit(size=pool.total_bytes() + 1)
            with pytest.raises(MemoryError, match=r"allocating [0-9,]+ bytes"):
                label(image)
        assert label(image, return_num=True)[1] == 1

    def test_kernel_times(self, cupy):
        from conncomp.diagnostics import kernel_times

        with kernel_times() as times:
            label(cupy.asarray(HARD_IMAGES["noise"]), algorithm="label-equivalence")
        phases = [name for name in times if name.startswith("equivalence")]
        wanted = ["start", "scan", "analyse", "relabel"]
        assert phases == [f"equivalence_{phase}" for phase in wanted]
        assert all(0 < seconds < 1 for seconds in times.values())
