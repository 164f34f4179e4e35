"""Random structures, tolerances, batches and bonds on a GPU, against the CPU."""

import numpy as np
import pytest

from conncomp import Workspace, label, label_bonds
from conncomp.kernels.cuda.grid import tiled_elements, tiled_quads
from conncomp.kernels.cuda.launcher import import_cupy

pytestmark = pytest.mark.gpu

# Lengths of an item by its number of axes: from less than a brick to several tiles.
LONGEST = {1: 20000, 2: 400, 3: 90, 4: 20}
TYPES = ("?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")


@pytest.fixture(scope="module")
def cupy():
    return import_cupy()


@pytest.fixture(params=["as it is", "bricks", "elements"])
def default(request, monkeypatch):
    """Let the default take bricks for arrays of any size, or elements."""
    if request.param == "as it is":
        return
    most = 0 if request.param == "bricks" else 1 << 40
    monkeypatch.setattr(tiled_elements, "MOST", most)
    monkeypatch.setattr(tiled_quads, "MOST", 0)


def random_shape(rng):
    ndim = int(rng.choice([1, 2, 2, 2, 3, 3, 4]))
    batch = tuple(int(n) for n in rng.integers(1, 5, rng.integers(0, 3)))
    item = tuple(int(np.exp(rng.uniform(0, np.log(LONGEST[ndim])))) for _ in range(ndim))
    return batch, item


def random_neighbourhood(rng, ndim):
    if rng.random() < 0.4:
        return {"connectivity": int(rng.integers(1, ndim + 1))}
    structure = rng.random((3,) * ndim) < rng.choice([0.1, 0.5, 0.9])
    return {"structure": structure | structure[(slice(None, None, -1),) * ndim]}


def random_image(rng, shape):
    kind = np.dtype(str(rng.choice(TYPES)))
    image = rng.integers(0, int(rng.choice([2, 3, 8, 100])), shape).astype(kind)
    if kind.kind in "iu" and rng.random() < 0.5:  # the ends of its range
        ends = np.iinfo(kind)
        image[rng.random(shape) < 0.2] = ends.max
        image[rng.random(shape) < 0.2] = ends.min
    if kind.kind == "f":
        image[rng.random(shape) < 0.05] = np.nan
        image[rng.random(shape) < 0.05] = -np.inf
    return image


@pytest.mark.parametrize("seed", range(40))
def test_label(cupy, default, seed):
    rng, workspace = np.random.default_rng(seed), Workspace()
    for _ in range(10):
        batch, item = random_shape(rng)
        image = random_image(rng, batch + item)
        asked = random_neighbourhood(rng, len(item))
        asked["periodic"] = [bool(axis) for axis in rng.integers(0, 2, len(item))]
        asked["batch_axes"] = len(batch)
        asked["numbering"] = str(rng.choice(["consecutive", "roots"]))
        if image.dtype != bool and rng.random() < 0.6:
            asked["tolerance"] = float(rng.choice([0, 1, 2.5, 200]))
        right, num = label(image, return_num=True, **asked)
        placed = cupy.asarray(image)
        labels, counts = label(placed, return_num=True, workspace=workspace, **asked)
        np.testing.assert_array_equal(labels.get(), right, err_msg=str((image.shape, asked)))
        np.testing.assert_array_equal(cupy.asarray(counts).get(), num)


@pytest.mark.parametrize("seed", range(20))
def test_bonds(cupy, default, seed):
    rng, workspace = np.random.default_rng(seed), Workspace()
    for _ in range(10):
        batch, item = random_shape(rng)
        bonds = rng.random((len(item), *batch, *item)) < rng.choice([0.1, 0.3, 0.5, 0.9])
        if rng.random() < 0.5:
            shifts = np.arange(len(item), dtype=np.uint8).reshape(-1, *(1,) * (bonds.ndim - 1))
            bonds = np.bitwise_or.reduce(bonds.astype(np.uint8) << shifts)
        asked = {
            "periodic": [bool(axis) for axis in rng.integers(0, 2, len(item))],
            "batch_axes": len(batch),
            "numbering": str(rng.choice(["consecutive", "roots"])),
        }
        right, num = label_bonds(bonds, return_num=True, **asked)
        placed = cupy.asarray(bonds)
        labels, counts = label_bonds(placed, return_num=True, workspace=workspace, **asked)
        np.testing.assert_array_equal(labels.get(), right, err_msg=str((bonds.shape, asked)))
        np.testing.assert_array_equal(cupy.asarray(counts).get(), num)
