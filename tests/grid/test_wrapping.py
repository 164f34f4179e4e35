"""Windings against a search with displacements, known paths, and Euler's formula."""

from pathlib import Path

import numpy as np
import pytest

import conncomp
from conncomp.grid import array
from conncomp.grid import wrapping as module
from conncomp.kernels.cuda.launcher import launch
from conncomp.kernels.seams import LATTICE, MOST_CLOSED
from dealt import SOAK
from host_cuda.host_gpu import HostGpu
from winding_search import bond_windings, hermite, search

KERNELS = Path(__file__).parent / "kernels"
DEVICES = ["cpu", "host"]


@pytest.fixture(params=DEVICES)
def wrapping_on(request, monkeypatch):
    """Return `component_wrapping` and `cluster_wrapping` on the CPU, or by kernels for a GPU."""
    if request.param == "host":
        for user in (array, module):
            monkeypatch.setattr(user, "current_gpu", lambda: HostGpu(multiprocessors=1))
        monkeypatch.setattr(array, "choose_device", lambda device, *others: device or "cuda")
        monkeypatch.setattr(array, "move_to_gpu", lambda xp, array, wait: array)
        monkeypatch.setattr(module, "move_from_gpu", lambda array: array)
    return conncomp.component_wrapping, conncomp.cluster_wrapping


def check(wrapping, bases, ndim):
    expected = np.array(bases, np.int64).reshape(-1, ndim, ndim)
    np.testing.assert_array_equal(wrapping.vectors, expected)
    np.testing.assert_array_equal(wrapping.axes, expected.any(1))
    np.testing.assert_array_equal(wrapping.rank, expected.any(2).sum(1))
    np.testing.assert_array_equal(wrapping.wrapping, np.flatnonzero(expected.any((1, 2))))
    assert wrapping.counts == len(expected)


@pytest.mark.parametrize("seed", range(60))
def test_lattices(seed):
    """Any vectors at once; 16 threads a block, more blocks than one."""
    random = np.random.default_rng(seed)
    reach = int(random.choice([1, 3, 12, 100]))
    vectors = np.zeros((int(random.integers(1, 40)), MOST_CLOSED), np.int32)
    used = int(random.integers(1, MOST_CLOSED + 1))
    vectors[:, :used] = random.integers(-reach, reach + 1, (len(vectors), used))
    if random.random() < 0.5:  # of a lower rank
        pair = random.integers(-reach, reach + 1, (2, MOST_CLOSED))
        vectors = (random.integers(-2, 3, (len(vectors), 2)) @ pair).astype(np.int32)
    of_root, made = np.full(1, -1, np.int32), np.zeros(1, np.int32)
    lattices = random.integers(-9, 9, (1, LATTICE))  # who makes one clears it
    (kernel,) = HostGpu(include=KERNELS, seed=seed).load("add_windings.cuh", ("add_windings",))
    launch(kernel, (3, 16), vectors.reshape(-1), len(vectors), of_root, lattices, made)
    assert (of_root[0], made[0]) == (0, 1)
    basis = lattices[0, 1:].reshape(MOST_CLOSED, MOST_CLOSED).tolist()
    rows = [row for row in basis if any(row)]
    rows += [[0] * MOST_CLOSED] * (MOST_CLOSED - len(rows))
    assert rows == hermite(vectors.tolist(), MOST_CLOSED)


def random_shape(random):
    ndim = int(random.integers(1, 5))
    return tuple(random.choice([1, 2, 3, 4, 5, 7], ndim).tolist())


def steps_of(structure):
    return [tuple(step) for step in (np.argwhere(structure) - 1).tolist() if any(step)]


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("seed", range(150 if SOAK else 60))
def test_images(wrapping_on, seed):
    """Any shape, with lengths of 1, 2 and 3 among them, any neighbourhood and values."""
    random = np.random.default_rng(seed)
    shape = random_shape(random)
    image = random.integers(0, 1 + random.integers(1, 4), shape, np.uint8)
    periodic = tuple(random.random(len(shape)) < 0.7)
    options = {}
    if random.random() < 0.4:
        structure = random.random((3,) * len(shape)) < 0.3
        structure |= np.flip(structure)
        options["structure"] = structure
    else:
        connectivity = int(random.integers(1, len(shape) + 1))
        options["connectivity"] = connectivity
        structure = np.abs(np.indices((3,) * len(shape)) - 1).sum(0) <= connectivity
    tolerance = int(random.integers(0, 2))
    bases = search(
        shape,
        steps_of(structure),
        periodic,
        lambda at: image[at] != 0,
        lambda at, to, step: abs(int(image[at]) - int(image[to])) <= tolerance,
    )
    wrapping = wrapping_on[0](image, periodic=periodic, tolerance=tolerance, **options)
    check(wrapping, bases, len(shape))
    options |= {"tolerance": tolerance, "return_num": True, "device": "cpu"}
    assert len(wrapping.axes) == conncomp.label(image, periodic=periodic, **options)[1]


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("seed", range(60 if SOAK else 24))
def test_bonds(wrapping_on, seed):
    random = np.random.default_rng(seed)
    shape = random_shape(random)
    ndim = len(shape)
    bonds = random.random((ndim, *shape)) < random.choice([0.3, 0.5, 0.8])
    periodic = tuple(random.random(ndim) < 0.8)
    bases = bond_windings(bonds, periodic)
    packed = sum(plane.astype(np.uint8) << k for k, plane in enumerate(bonds))
    for given in bonds, packed:
        check(wrapping_on[1](given, periodic=periodic), bases, ndim)


@pytest.mark.parametrize(("rows", "turns"), [(5, 1), (7, 3), (12, 5), (30, 7)])
def test_helices(wrapping_on, rows, turns):
    """A line that goes `turns` times along the columns while it goes once along the rows."""
    columns = 2 * turns + 2
    image = np.zeros((rows * 3 * turns, columns), bool)
    at = 0
    for step in range(turns * columns):
        down = (step + 1) * len(image) // (turns * columns)
        image[at : down + 1, step % columns] = True
        image[down % len(image), step % columns] = True
        at = down
    wrapping = wrapping_on[0](image, connectivity=1)
    assert wrapping.wrapping.tolist() == [0]
    assert wrapping.bases[0].tolist() == [[1, turns], [0, 0]]


@pytest.mark.parametrize("winds", [1, 2, 9, 64])
def test_snakes(wrapping_on, winds):
    """A snake that goes around and around along the columns, and closes, or not, by the rows."""
    rows, columns = 4 * winds, 8
    image = np.zeros((rows, columns), bool)
    for turn in range(winds):
        image[4 * turn, :5] = image[4 * turn : 4 * turn + 3, 4] = True
        image[4 * turn + 2, 4:] = image[4 * turn + 2, 0] = True
        image[4 * turn + 2 : 4 * turn + 5, 0] = True
    for closes in (False, True):
        wrapping = wrapping_on[0](image, connectivity=1, periodic=(closes, True))
        assert len(wrapping.axes) == 1
        expected = [[[1, winds], [0, 0]]] if closes else []
        assert wrapping.bases.tolist() == expected


@pytest.mark.parametrize("strides", ["reversed", "transposed", "every other"])
def test_strides(wrapping_on, strides):
    random = np.random.default_rng(3)
    image = random.random((24, 22)) < 0.6
    view = {"reversed": image[::-1], "transposed": image.T, "every other": image[::2, ::2]}[strides]
    expected = wrapping_on[0](np.ascontiguousarray(view), connectivity=1)
    wrapping = wrapping_on[0](view, connectivity=1)
    np.testing.assert_array_equal(wrapping.vectors, expected.vectors)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("seed", range(20))
def test_batches(wrapping_on, seed):
    """Items as if alone, at any distances in memory, of values and of bonds."""
    random = np.random.default_rng(seed)
    shape = tuple(random.choice([1, 2, 3, 6], random.integers(1, 4)).tolist())
    batch = tuple(random.choice([1, 2, 3], random.integers(1, 3)).tolist())
    periodic = tuple(random.random(len(shape)) < 0.8)
    doubled = (*batch[:-1], 2 * batch[-1], *shape)
    images = random.random(doubled)[(slice(None),) * (len(batch) - 1) + (slice(None, None, 2),)]
    bonds = random.random((len(shape), *batch, *shape)) < 0.5
    for wrap, given, item_of in (
        (wrapping_on[0], images < 0.6, lambda n: (images < 0.6)[n]),
        (wrapping_on[0], (images * 3).astype(int), lambda n: (images * 3).astype(int)[n]),
        (wrapping_on[1], bonds, lambda n: bonds[(slice(None), *n)]),
    ):
        together = wrap(given, periodic=periodic, batch_axes=len(batch))
        alone = [wrap(item_of(n), periodic=periodic) for n in np.ndindex(batch)]
        assert together.counts.shape == batch
        assert together.counts.ravel().tolist() == [int(one.counts) for one in alone]
        np.testing.assert_array_equal(together.axes, np.concatenate([one.axes for one in alone]))
        np.testing.assert_array_equal(together.bases, np.concatenate([one.bases for one in alone]))


def euler_characteristic(black):
    """Return V - E + F of the sites, bonds and full squares of a torus."""
    down, right = np.roll(black, -1, 0), np.roll(black, -1, 1)
    edges = np.count_nonzero(black & down) + np.count_nonzero(black & right)
    faces = np.count_nonzero(black & down & right & np.roll(right, -1, 0))
    return np.count_nonzero(black) - edges + faces


def rank_2(wrapping):
    return int((wrapping.bases[:, -1] != 0).any())


@pytest.mark.parametrize("seed", range(40))
def test_torus(wrapping_on, seed):
    """n4(black) - n8(white) - (V - E + F) is +1 if black has a cross, -1 if white has one."""
    random = np.random.default_rng(seed)
    shape = tuple(random.choice([1, 2, 3, 5, 16, 33, 70], 2).tolist())
    black = random.random(shape) < random.choice([0.3, 0.5, 0.59, 0.7])
    wrap = wrapping_on[0]
    of_black, of_white = wrap(black, connectivity=1), wrap(~black, connectivity=2)
    left = len(of_black.axes) - len(of_white.axes) - euler_characteristic(black)
    assert left == rank_2(of_black) - rank_2(of_white)


@pytest.mark.parametrize("size", [512, 2048, 4096])
def test_large_torus(size):
    for seed, density in enumerate((0.4, 0.5927, 0.5927, 0.62)):
        black = np.random.default_rng(seed).random((size, size)) < density
        of_black = conncomp.component_wrapping(black, connectivity=1)
        of_white = conncomp.component_wrapping(~black, connectivity=2)
        left = len(of_black.axes) - len(of_white.axes) - euler_characteristic(black)
        assert left == rank_2(of_black) - rank_2(of_white)


@pytest.mark.gpu
def test_torus_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    for seed, density in enumerate((0.4, 0.5927, 0.5927, 0.62)):
        black = cupy.random.default_rng(seed).random((4096, 4096), dtype=cupy.float32) < density
        of_black = conncomp.component_wrapping(black, connectivity=1)
        of_white = conncomp.component_wrapping(~black, connectivity=2)
        left = len(of_black.axes) - len(of_white.axes) - euler_characteristic(black.get())
        assert left == rank_2(of_black) - rank_2(of_white)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(40))
def test_on_a_gpu(seed):
    cupy = pytest.importorskip("cupy")
    random = np.random.default_rng(seed)
    shape = random_shape(random)
    image = random.random(shape) < random.choice([0.3, 0.5, 0.6])
    bonds = random.random((len(shape), *shape)) < 0.5
    for wrap, given in ((conncomp.component_wrapping, image), (conncomp.cluster_wrapping, bonds)):
        expected, wrapping = wrap(given), wrap(cupy.asarray(given))
        moved = wrap(given, device="cuda")
        for part in ("axes", "wrapping", "bases", "counts"):
            on_gpu = getattr(wrapping, part)
            assert isinstance(on_gpu, cupy.ndarray)
            np.testing.assert_array_equal(on_gpu.get(), getattr(expected, part))
            np.testing.assert_array_equal(getattr(moved, part), getattr(expected, part))


def test_threads():
    random = np.random.default_rng(5)
    image = random.random((4, 300, 300)) < 0.35
    results = []
    for threads in (1, 2, 7):
        conncomp.set_num_threads(threads)
        results.append(conncomp.component_wrapping(image, connectivity=1))
    conncomp.set_num_threads(2)
    for wrapping in results[1:]:
        np.testing.assert_array_equal(wrapping.vectors, results[0].vectors)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (4, 0, 2)])
def test_empty(shape):
    wrapping = conncomp.component_wrapping(np.zeros(shape))
    assert wrapping.axes.shape == (0, len(shape))
    assert wrapping.vectors.shape == (0, len(shape), len(shape))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label_image": np.zeros((2,) * 5)}, "periodic closes 5 axes; up to 4"),
        ({"label_image": np.zeros((1,) * 11), "periodic": False}, "label_image has 11 axes"),
        ({"label_image": np.zeros((3, 3)), "periodic": (True,)}, "periodic"),
        ({"label_image": np.zeros((3, 3)), "connectivity": 3}, "connectivity=3"),
        ({"label_image": np.zeros((3, 3)), "tolerance": -1}, "tolerance=-1"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        conncomp.component_wrapping(**arguments)


def test_errors_of_bonds():
    with pytest.raises(ValueError, match="bonds has 7 axes"):
        conncomp.cluster_wrapping(np.zeros((7,) + (1,) * 7, bool), periodic=False)
    with pytest.raises(TypeError, match="bonds"):
        conncomp.cluster_wrapping(np.zeros((2, 3, 3)))
