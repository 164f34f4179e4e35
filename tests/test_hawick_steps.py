"""The steps that the documentation draws of Kernels A to D are those of the kernels."""

import sys

import numpy as np
import pytest

from conncomp import Workspace
from conncomp._algorithms import Task
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.cuda.core.sweeps import counted_sweeps
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.links import equal_values
from conncomp.kernels.neighbourhood import Neighbourhood
from host_cuda.host_gpu import HostGpu
from pages import ROOT
from reference import label_by_flood_fill

sys.path.append(str(ROOT / "docs"))

from figures import hawick

KERNELS = {
    "neighbour-propagation": hawick.kernel_a,
    "local-propagation": hawick.kernel_b,
    "directional-propagation": hawick.kernel_c,
    "label-equivalence": lambda mesh: (labels for *_, labels in hawick.kernel_d(mesh)),
}


def flood_filled(mesh):
    return label_by_flood_fill(mesh.astype("u1"), 9, 1)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(8))
def test_steps_end_in_components(name, seed):
    """Of random meshes, and labels never rise from step to step."""
    mesh = np.random.default_rng(seed).random((7, 9)) < 0.55
    before = hawick.first(mesh)
    for labels in KERNELS[name](mesh):
        assert (labels <= before).all()
        before = labels
    np.testing.assert_array_equal(before, flood_filled(mesh))


@pytest.mark.parametrize("name", KERNELS)
def test_the_mesh_of_the_page(name):
    *_, labels = KERNELS[name](hawick.MESH)
    np.testing.assert_array_equal(labels, hawick.final(hawick.MESH))
    np.testing.assert_array_equal(labels, flood_filled(hawick.MESH))


def test_first_steps_by_hand():
    """Worked out with a pencil, for a path that turns around a corner."""
    path = np.array([[0, 0, 1], [1, 1, 1]], bool)
    a = [labels.tolist() for labels in hawick.kernel_a(path)]
    assert a == [[[0, 0, 2], [3, 3, 2]], [[0, 0, 2], [3, 2, 2]], [[0, 0, 2], [2, 2, 2]]]
    b = [labels.tolist() for labels in hawick.kernel_b(path, 2)]
    assert b == [[[0, 0, 2], [3, 3, 2]], [[0, 0, 2], [2, 2, 2]]]
    right, left, down, up, *_ = (labels.tolist() for labels in hawick.kernel_c(path))
    assert right == [[0, 0, 2], [3, 3, 3]]
    assert left == right
    assert down == up == [[0, 0, 2], [3, 3, 2]]
    (scanned, analysed, labels), *_ = hawick.kernel_d(path)
    assert scanned.tolist() == [[0, 0, 2], [3, 3, 2]]
    assert analysed.tolist() == labels.tolist() == [[0, 0, 2], [3, 3, 2]]


@pytest.mark.parametrize("name", ["neighbour-propagation", "label-equivalence"])
def test_kernels_take_no_more_sweeps(name):
    """Threads that run one after another see what others have written, and never go behind."""
    gpu, mesh = HostGpu(), hawick.MESH.astype("u1")
    image = Image(mesh, equal_values("u1", b"\xff"), Neighbourhood(1, None, (False, False)))
    roots = np.empty(mesh.shape, np.int32)
    with counted_sweeps() as sweeps:
        ALGORITHMS["cuda"][name].fill(image, Task(gpu, roots, Workspace(), False, False))
    np.testing.assert_array_equal(roots, hawick.final(hawick.MESH))
    assert 0 < sum(sweeps) <= len([*KERNELS[name](hawick.MESH)])
