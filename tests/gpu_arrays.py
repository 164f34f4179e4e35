"""Arrays as the drivers of GPU algorithms take them."""

import numpy as np
import pytest

from conncomp._algorithms import choose_algorithm
from conncomp.grid._values import describe_bonds as sites_and_links
from conncomp.grid._values import describe_values
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.answers import fill_on_gpu
from conncomp.grid.array import Question
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.neighbourhood import Neighbourhood
from host_cuda.host_gpu import HostGpu
from reference import consecutive, label_by_neighbour_pairs, wrapping_axes


def describe(
    image,
    background=0,
    connectivity=None,
    periodic=False,
    structure=None,
    tolerance=0,
    batch_axes=0,
):
    """Return an `Image`."""
    values, links = describe_values(image, background, None, tolerance)
    ndim = image.ndim - batch_axes
    closed = tuple(wrapping_axes(ndim, periodic))
    if structure is None:
        neighbourhood = Neighbourhood(connectivity or ndim, None, closed)
    else:
        neighbourhood = Neighbourhood(None, np.ascontiguousarray(structure, bool).tobytes(), closed)
    return Image(values, links, neighbourhood, batch_axes)


def describe_bonds(bonds, periodic=False, batch_axes=0):
    """Return an `Image` of lattices, whose bonds are given as to `label_bonds`."""
    sites, links = sites_and_links(bonds, batch_axes)
    closed = tuple(wrapping_axes(sites.ndim - batch_axes, periodic))
    return Image(sites, links, Neighbourhood(1, None, closed), batch_axes)


def label_on_gpu(gpu, image, labels, numbering, algorithm, return_num, workspace, **options):
    """Fill `labels`; return how many components each item has, if `return_num`."""
    chosen = choose_algorithm(ALGORITHMS, "cuda", algorithm).check_options(options)
    question = Question(
        Neighbourhood(1, None, ()),
        consecutive=numbering == "consecutive",
        counted=return_num,
        device="cuda",
        algorithm=algorithm,
        options=tuple(chosen.items()),
    )
    return fill_on_gpu(question, gpu, image, labels, workspace)


def fill(gpu, algorithm, image, index=np.int32, **options):
    """Return the roots within items, which begin as something else."""
    roots = np.full(image.values.shape, -7, index)
    label_on_gpu(gpu, image, roots, "roots", algorithm, False, None, **options)
    return roots


def check_bricks(image, connectivity, periodic=False, seed=0, background=0, expected=None, **asked):
    """Check labels by bricks; return the table of their work."""
    numbering = asked.get("numbering", "roots")
    if expected is None:
        expected = label_by_neighbour_pairs(image, background, connectivity, periodic)
    described = describe(image, background, connectivity, periodic)
    gpu, workspace = HostGpu(seed=seed, multiprocessors=1), Workspace()
    labels = np.full(image.shape, -7, np.int32)
    num = label_on_gpu(gpu, described, labels, numbering, "auto", True, workspace)
    np.testing.assert_array_equal(labels, expected)
    by_number = numbering == "consecutive"
    assert num == len(np.unique(expected[expected >= by_number]))
    kind = described.geometry, described.links, labels.dtype, 1, by_number
    plan = tiled_bricks.plan_of(*kind)
    return workspace.take_struct(gpu, tiled_bricks.TABLE, plan.table, plan.by_word)


def check_both_numberings(
    gpu, image, connectivity, periodic=False, background=0, indices=(np.int32, np.int64)
):
    expected = label_by_neighbour_pairs(image, background, connectivity, periodic)
    described = describe(image, background, connectivity, periodic)
    for numbering, index in zip(("roots", "consecutive"), indices, strict=True):
        labels = np.full(image.shape, -7, index)
        num = label_on_gpu(gpu, described, labels, numbering, "auto", True, Workspace())
        wanted = expected if numbering == "roots" else consecutive(expected, 1)
        np.testing.assert_array_equal(labels, wanted)
        assert num == len(np.unique(expected[expected >= 0]))


def check_written_one_by_one(gpu, image, expected, numbering="roots", **asked):
    """Check labels in memory that begins where several at once are aligned, and beside."""
    memory = np.full(image.size + 1, -7, np.int32)
    for start in (0, 1):
        labels = memory[start : start + image.size].reshape(image.shape)
        described = describe(image, **asked)
        label_on_gpu(gpu, described, labels, numbering, "auto", False, Workspace())
        np.testing.assert_array_equal(labels, expected)


def modules_of_first_call(image):
    """Return the modules that a first call for roots loads at once, and those it loads besides."""
    gpu = HostGpu()
    at_once, besides = [], []

    def load_at_once(groups):
        at_once.extend(groups)
        HostGpu.load_at_once(gpu, groups)

    def load(file, names, shared_percent=None):
        if (file, names) not in at_once:
            besides.append((file, names))
        return HostGpu.load(gpu, file, names, shared_percent)

    gpu.load_at_once, gpu.load = load_at_once, load
    out = np.empty(image.shape, np.int32)
    label_on_gpu(gpu, describe(image), out, "roots", "auto", False, Workspace())
    return at_once, besides


def noise_of_kinds(random, shape, batch_axes=0, stretch=100, values_of_blocks=4):
    """Return noise of any density: of one value, of many, of two in some places, or of blocks."""
    image = random.random(shape) < random.choice([0.02, 0.1, 0.3, 0.5, 0.9, 1])
    kind, x = random.integers(4), np.arange(shape[-1])
    if kind == 1:
        image = image * random.integers(1, random.choice([3, 200]), shape)
    elif kind == 2:
        few = x % stretch < stretch * 4 // 5
        image = image * np.where(few, 255, random.integers(1, 3, shape))
    elif kind == 3:
        items, sides = shape[:batch_axes], shape[batch_axes:]
        counts = *items, *(length // 5 + 1 for length in sides)
        blocks = random.integers(0, values_of_blocks, counts)
        block = np.ones((1,) * len(items) + (5,) * len(sides), int)
        image = np.kron(blocks, block)[tuple(map(slice, shape))]
    return image.astype(np.uint8)


def without_limits(limits, *caches):
    """Return a fixture by which drivers leave no image to others, however small it is.

    `limits` are the names of their limits, by module, and `caches` hold who was chosen by them.
    """

    @pytest.fixture(autouse=True)
    def every_size(monkeypatch):
        for module, name in limits.items():
            monkeypatch.setattr(module, name, 0)
        for chosen in caches:
            chosen.cache_clear()
        yield
        for chosen in caches:
            chosen.cache_clear()

    return every_size
