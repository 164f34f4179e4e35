"""Many updates of words of spins in one launch, of more lattices than there are multiprocessors."""

import pytest

from conncomp.kernels.cuda.models import spin_batches
from conncomp.kernels.cuda.models.spin_batches import SpinBatches
from conncomp.models import Potts
from host_cuda.host_gpu import HostGpu
from models.devices import check_updates_at_once

# Rows that are words, or end in them or in their halves; axes as short as can be.
LATTICES = [
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
@pytest.mark.parametrize(("shape", "q", "periodic"), LATTICES)
def test_batches_go_as_lattices_one_by_one(device, warps, beta, shape, q, periodic, monkeypatch):
    monkeypatch.setattr(spin_batches, "SHARED_BESIDE", -(64 << 10))
    monkeypatch.setattr(spin_batches, "WARPS_OF_MULTIPROCESSOR", warps)
    monkeypatch.setattr(spin_batches, "LEAST_ROWS", 2)
    monkeypatch.setattr(SpinBatches, "most_updates", 5)
    replicas = Potts((8, 8), device=device)._engine.gpu.multiprocessors + 1

    check_updates_at_once(SpinBatches, device, shape, q, periodic, replicas, beta)


def test_lattices_that_are_too_large_narrow_or_few_are_not_taken():
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
