"""Updates of words of spins: many in one launch, by boxes or batches of lattices, and by tiles."""

import numpy as np
import pytest

from conncomp.kernels.cuda.models import spin_batches, spin_sweeps, spin_tiles, words
from conncomp.kernels.cuda.models.spin_batches import SpinBatches
from conncomp.kernels.cuda.models.spin_sweeps import SpinSweeps
from conncomp.kernels.lattice import Lattice
from conncomp.models import XY, Potts, simulate
from host_cuda.host_gpu import HostGpu
from models.devices import both, check_updates_at_once


def check(taken, device, shape, q, periodic, replicas, beta=1.0):
    """Hold updates of Potts models against the CPU's; `beta` suits the axes and the states."""
    beta *= {1: 1.5, 2: 0.9, 3: 0.5, 4: 0.35}[len(shape)] * np.log(1 + np.sqrt(q)) / 0.8814
    how = {"beta": beta, "periodic": periodic, "replicas": replicas, "seed": 4}
    check_updates_at_once(taken, both(device, Potts, shape, q, **how))


def by(*kinds):
    return lambda engine: isinstance(engine.sweeps, kinds)


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
    check(by(SpinBatches, SpinSweeps), device, shape, q, periodic, replicas)


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
    models = both(device, kind, (8, 8), seed=1)
    records = [simulate(model, 9, measure_every=1 << 31).series.records for model in models]
    np.testing.assert_array_equal(*records)


@pytest.mark.parametrize("device", ["cuda"])
def test_lattices_of_one_block_have_no_counters(device, monkeypatch):
    """Which would take as much memory as the spins of a million small ones."""
    monkeypatch.setattr(spin_sweeps, "LEAST_BOX", 64)
    monkeypatch.setattr(spin_sweeps, "THREADS", 128)
    many, one = Potts((8, 8), replicas=9, device=device), Potts((8, 130), device=device)
    assert many._engine.sweeps._arrived.size == 0
    assert one._engine.sweeps._arrived.size > 0


# ---------------------------------------------------------------------------------------- batches

# More lattices than there are multiprocessors, of rows that are words, or end in them or in their
# halves; axes as short as can be.
BATCHES = [
    ((24, 64), 2, True),
    ((64, 32), 2, (True, False)),
    ((24, 70), 2, True),
    ((20, 33), 3, (True, False)),
    ((9, 96), 10, True),
    ((5, 4, 70), 2, (False, True, True)),
    ((7, 6, 16), 2, True),
    ((90,), 2, True),
    ((1, 64), 2, True),
    ((3, 2, 3, 17), 3, True),
]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("warps", [1, 1 << 10])
@pytest.mark.parametrize("beta", [0.6, 1.0, 1.6])
@pytest.mark.parametrize(("shape", "q", "periodic"), BATCHES)
def test_batches_go_as_lattices_one_by_one(device, warps, beta, shape, q, periodic, monkeypatch):
    monkeypatch.setattr(spin_batches, "SHARED_BESIDE", -(64 << 10))
    monkeypatch.setattr(spin_batches, "WARPS_OF_MULTIPROCESSOR", warps)
    monkeypatch.setattr(spin_batches, "LEAST_ROWS", 2)
    monkeypatch.setattr(SpinBatches, "most_updates", 5)
    replicas = Potts((8, 8), device=device)._engine.gpu.multiprocessors + 1
    check(by(SpinBatches), device, shape, q, periodic, replicas, beta)


def test_batches_that_are_too_large_narrow_or_few_are_not_taken():
    gpu = HostGpu(multiprocessors=8, shared_memory=64 << 10)
    assert spin_batches.takes(gpu, Potts((64, 64)).lattice, 9)
    assert not spin_batches.takes(gpu, Potts((64, 64)).lattice, 8)
    assert not spin_batches.takes(gpu, Potts((8, 8, 8)).lattice, 9)
    assert not spin_batches.takes(gpu, Potts((200, 200)).lattice, 9)
    large = HostGpu(multiprocessors=8, shared_memory=228 << 10)
    assert spin_batches.takes(large, Potts((128, 128)).lattice, 9)
    assert not spin_batches.takes(large, Potts((2000, 20)).lattice, 9)  # lanes without sites
    # Few rows are few warps, which label one word after the other.
    assert spin_batches.takes(large, Potts((2048,), beta=1).lattice, 9)
    assert not spin_batches.takes(large, Potts((2080,), beta=1).lattice, 9)
    assert spin_batches.takes(large, Potts((16, 256)).lattice, 9)
    assert not spin_batches.takes(large, Potts((8, 4096)).lattice, 9)


# ------------------------------------------------------------------------------------------ tiles

SMALL = {2: (2, 5), 3: (1, 2, 5), 4: (1, 1, 1, 5)}
WIDE = {2: (3, 6), 3: (0, 1, 6), 4: (1, 0, 1, 6)}
# Lattices that end in a tile and between two, on all axes; of one tile; open and closed ones.
TILED = [
    ((24, 130), 2, True, 1),
    ((24, 128), 2, True, 2),
    ((21, 96), 3, (True, False), 2),
    ((3, 70), 2, (False, True), 1),
    ((9, 64), 10, True, 1),
    ((6, 9, 64), 2, True, 1),
    ((3, 4, 33), 2, (False, True, True), 3),
    ((4, 4, 70), 4, (True, False, False), 1),
    ((2, 3, 5, 40), 2, True, 2),
    ((1, 2, 3, 33), 3, True, 1),
]


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("logs", [SMALL, WIDE, None])
@pytest.mark.parametrize("beta", [0.6, 1.0, 1.6])
@pytest.mark.parametrize(("shape", "q", "periodic", "replicas"), TILED)
def test_tiles_go_as_the_cpu(device, logs, beta, shape, q, periodic, replicas, monkeypatch):
    monkeypatch.setattr(words, "MOST_OF_MULTIPROCESSOR", 0)
    monkeypatch.setattr(spin_tiles, "LEAST_FILLED", 0)
    monkeypatch.setattr(spin_tiles, "LOGS", logs or spin_tiles.LOGS)
    tiled = lambda engine: isinstance(engine._finders[0], spin_tiles.TileFinder)  # noqa: E731
    check(tiled, device, shape, q, periodic, replicas, beta)


def test_sites_of_tiles_have_numbers_of_32_bits():
    def takes(shape, replicas=1):
        return spin_tiles.takes(Lattice(shape, (True, True), 2), replicas)

    assert takes((46080, 46080))
    # 2,147,395,600 sites, and 2,155,929,600 with those that the last tiles have beyond the lattice.
    assert not takes((46340, 46340))
    assert takes((128, 128), (1 << 17) - 1)
    assert not takes((128, 128), 1 << 17)
