"""Many updates of words of spins in one launch, by blocks that have boxes of a lattice."""

import numpy as np
import pytest

from conncomp.kernels.cuda.models import spin_sweeps
from conncomp.kernels.cuda.models.spin_batches import SpinBatches
from conncomp.kernels.cuda.models.spin_sweeps import SpinSweeps
from conncomp.models import XY, Potts, simulate
from host_cuda.host_gpu import HostGpu
from models.devices import check_updates_at_once

# Boxes of whole rows and of parts of them, that divide a lattice or do not; blocks of one replica
# and of several; axes as short as can be.
LATTICES = [
    ((24, 130), 2, True, 1),
    ((20, 13), 3, (True, False), 2),
    ((300,), 2, True, 1),
    ((90,), 5, False, 2),
    ((1, 64), 2, True, 4),
    ((7, 6, 40), 2, True, None),
    ((5, 4, 70), 2, (False, True, False), 1),
    ((2, 3, 1, 33), 4, True, 1),
    ((3, 2, 3, 9), 2, (False, True, True, False), 2),
    # More than there are blocks at once, with rows that are too short for batches.
    ((12, 8, 9), 2, (False, True, True), 9),
    ((5, 4, 15), 3, True, 9),
    ((3, 2, 3, 9), 3, True, 9),
]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("least", [32, 1 << 20])
@pytest.mark.parametrize("clusters", [(4,), (0,)])
@pytest.mark.parametrize(("shape", "q", "periodic", "replicas"), LATTICES)
def test_many_updates_at_once_go_as_one_by_one(
    device, least, clusters, shape, q, periodic, replicas, monkeypatch
):
    monkeypatch.setattr(spin_sweeps, "LEAST_BOX", least)
    monkeypatch.setattr(spin_sweeps, "LEAST_SHARED", 64 << 10)
    monkeypatch.setattr(spin_sweeps, "THREADS", 128)
    monkeypatch.setattr(spin_sweeps, "BLOCKS_OF_MULTIPROCESSOR", 2)
    monkeypatch.setattr(spin_sweeps, "LEAST_OF_MANY", least)
    monkeypatch.setattr(spin_sweeps.SpinSweeps, "most_updates", 5)
    monkeypatch.setattr(spin_sweeps, "CLUSTERS", clusters)

    engines = SpinBatches, SpinSweeps
    check_updates_at_once(engines, device, shape, q, periodic, replicas)


@pytest.mark.parametrize(
    ("shape", "blocks", "extent"),
    [
        ((128, 128), 16, (16, 64)),
        ((32, 32, 32), 16, (8, 8, 32)),
        ((512, 512), 132, (32, 64)),
        ((100, 70), 4, (25, 70)),
        ((300,), 3, (128,)),
        ((5,), 9, (5,)),
    ],
)
def test_boxes_are_cut_where_they_are_longest(shape, blocks, extent):
    plan = spin_sweeps._cut(shape, blocks)
    assert plan.extent == extent
    assert plan.parts <= blocks
    assert plan.parts == np.prod([-(-n // edge) for n, edge in zip(shape, extent, strict=True)])


def test_lattices_that_are_too_large_are_not_taken(monkeypatch):
    monkeypatch.setattr(spin_sweeps, "THREADS", 128)
    model = Potts((30, 40), seed=1)
    gpu = HostGpu()
    assert spin_sweeps.takes(gpu, model.lattice, 1)
    assert spin_sweeps.takes(gpu, model.lattice, 100)
    assert not spin_sweeps.takes(gpu, Potts((400, 400), seed=1).lattice, 1)


@pytest.mark.parametrize("device", ["cuda"])
def test_blocks_wait_in_the_grid_where_clusters_are_refused(device, monkeypatch):
    """As in a part of a GPU, or a small one, that has few multiprocessors side by side."""
    launched = []

    class RefusedError(Exception):
        pass

    def launch(kernel, *arguments, **options):
        launched.append(kernel.name)
        if kernel.name == "sweep_in_cluster":
            raise RefusedError
        launch_by_gpu(kernel, *arguments, **options)

    launch_by_gpu = spin_sweeps.launch
    monkeypatch.setattr(spin_sweeps, "launch", launch)
    monkeypatch.setattr(spin_sweeps, "LEAST_BOX", 64)
    monkeypatch.setattr(spin_sweeps, "THREADS", 128)
    monkeypatch.setattr(spin_sweeps, "BLOCKS_OF_MULTIPROCESSOR", 2)
    model, other = Potts((8, 130), seed=1, device=device), Potts((8, 130), seed=1, device="cpu")
    monkeypatch.setattr(type(model._engine.gpu), "refusals", (RefusedError,))
    for _ in range(2):
        np.testing.assert_array_equal(
            model.swendsen_wang(3).records, other.swendsen_wang(3).records
        )
    assert launched == ["sweep_in_cluster", "sweep_spins", "sweep_spins"]
    monkeypatch.setattr(type(model._engine.gpu), "refusals", ())
    with pytest.raises(RefusedError):
        Potts((8, 130), seed=1, device=device).step(2)


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("kind", [Potts, XY])
def test_updates_that_measure_may_be_far_apart(device, kind):
    right, found = (kind((8, 8), seed=1, device=where) for where in ("cpu", device))
    records = [simulate(model, 9, measure_every=1 << 31).series.records for model in (right, found)]
    np.testing.assert_array_equal(*records)


@pytest.mark.parametrize("device", ["cuda"])
def test_lattices_of_one_block_have_no_counters(device, monkeypatch):
    """Which would take as much memory as the spins of a million small ones."""
    monkeypatch.setattr(spin_sweeps, "LEAST_BOX", 64)
    monkeypatch.setattr(spin_sweeps, "THREADS", 128)
    many, one = Potts((8, 8), replicas=9, device=device), Potts((8, 130), device=device)
    assert many._engine.sweeps._arrived.size == 0
    assert one._engine.sweeps._arrived.size > 0
