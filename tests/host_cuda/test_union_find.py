"""`find`, `hook`, `hook_lowest` and `unite` as CUDA kernels run them, against SciPy."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from conncomp.kernels.cuda.launcher import launch
from dealt import examples
from host_cuda.host_gpu import HERE, HostGpu

JUMPS = ["kMultiple", "kSingle", "kNone", "kIntermediate", "kLeading"]
TYPES = ["int32_t", "int64_t"]


@pytest.fixture(scope="module")
def gpu():
    return HostGpu(include=HERE / "kernels", resident_threads=512)


@pytest.fixture(scope="module")
def kernels(gpu):
    names = [f"unite_edges<{t}, conncomp::Jump::{jump}>" for t in TYPES for jump in JUMPS]
    defaults = "unite_edges_default", "unite_edges_lowest", "find_roots"
    names += [f"{name}<{t}>" for name in defaults for t in TYPES]
    names += ["unite_edges<int32_t, conncomp::Jump::kNone, false>"]
    return dict(zip(names, gpu.load("forest.cuh", tuple(names)), strict=True))


def smallest_members(count, edges):
    ones = np.ones(len(edges), dtype=bool)
    matrix = coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(count, count))
    components, labels = connected_components(matrix, directed=False)
    smallest = np.full(components, count)
    np.minimum.at(smallest, labels, np.arange(count))
    return smallest[labels]


def random_edges(seed, dtype):
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 800))
    edges = generator.integers(0, count, (int(generator.integers(0, 2 * count)), 2))
    if seed % 2:  # long paths
        edges[:, 1] = np.clip(edges[:, 0] + generator.integers(-2, 3, len(edges)), 0, count - 1)
    return count, np.ascontiguousarray(edges, dtype=dtype)


def run(gpu, unite, find, count, edges):
    parent = np.arange(count, dtype=edges.dtype)
    launch(unite, (gpu.blocks(len(edges), 96), 96), parent, edges, len(edges))
    launch(find, (gpu.blocks(count, 96), 96), parent, count)
    return parent


@pytest.mark.parametrize("ctype", TYPES)
@pytest.mark.parametrize("jump", [*JUMPS, None])
def test_random_edges(gpu, kernels, jump, ctype):
    find = kernels[f"find_roots<{ctype}>"]
    unite = kernels[
        f"unite_edges<{ctype}, conncomp::Jump::{jump}>" if jump else f"unite_edges_default<{ctype}>"
    ]
    for seed in range(examples(60)):
        count, edges = random_edges(seed, ctype[:-2])
        parent = run(gpu, unite, find, count, edges)
        np.testing.assert_array_equal(parent, smallest_members(count, edges), err_msg=f"{seed=}")


@pytest.mark.parametrize("ctype", TYPES)
def test_lowest(gpu, kernels, ctype):
    """Of each set one root is left, and each other one was told of once."""
    for seed in range(examples(60)):
        count, edges = random_edges(seed, ctype[:-2])
        parent, unions = np.arange(count, dtype=edges.dtype), np.zeros(1, np.int64)
        unite, grid = kernels[f"unite_edges_lowest<{ctype}>"], (gpu.blocks(len(edges), 96), 96)
        launch(unite, grid, parent, edges, len(edges), unions)
        launch(kernels[f"find_roots<{ctype}>"], (gpu.blocks(count, 96), 96), parent, count)
        np.testing.assert_array_equal(parent, smallest_members(count, edges), err_msg=f"{seed=}")
        assert unions == count - len(np.unique(parent))


def test_lost_link_is_caught(gpu, kernels):
    unite = kernels["unite_edges<int32_t, conncomp::Jump::kNone, false>"]
    find = kernels["find_roots<int32_t>"]
    wrong = 0
    for seed in range(60):
        count, edges = random_edges(seed, "int32")
        parent = run(gpu, unite, find, count, edges)
        wrong += not np.array_equal(parent, smallest_members(count, edges))
    assert wrong > 0
