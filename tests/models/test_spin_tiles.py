"""Updates of words of spins by tiles of rows."""

import numpy as np
import pytest

from conncomp.kernels.cuda.models import spin_tiles
from conncomp.kernels.lattice import Lattice
from conncomp.models import Potts
from conncomp.models.spins import cuda

SMALL = {2: (2, 5), 3: (1, 2, 5), 4: (1, 1, 1, 5)}
WIDE = {2: (3, 6), 3: (0, 1, 6), 4: (1, 0, 1, 6)}
# Lattices that end in a tile and between two, on all axes; of one tile; open and closed ones.
LATTICES = [
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


@pytest.fixture
def by_tiles(monkeypatch):
    monkeypatch.setattr(cuda, "MOST_OF_MULTIPROCESSOR", 0)
    monkeypatch.setattr(spin_tiles, "LEAST_FILLED", 0)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("logs", [SMALL, WIDE, None])
@pytest.mark.parametrize("beta", [0.6, 1.0, 1.6])
@pytest.mark.parametrize(("shape", "q", "periodic", "replicas"), LATTICES)
def test_spins_are_those_of_the_cpu(
    by_tiles, device, logs, beta, shape, q, periodic, replicas, monkeypatch
):
    if logs is not None:
        monkeypatch.setattr(spin_tiles, "LOGS", logs)
    beta *= {2: 0.9, 3: 0.5, 4: 0.35}[len(shape)] * np.log(1 + np.sqrt(q)) / 0.8814
    how = {"beta": beta, "periodic": periodic, "replicas": replicas, "seed": 4}
    right, found = (Potts(shape, q, **how, device=where) for where in ("cpu", device))
    assert found._engine._tiles is not None
    for _ in range(3):
        right.step(), found.step()
        spins = found.spins
        np.testing.assert_array_equal(spins.get() if hasattr(spins, "get") else spins, right.spins)
    records = [model.swendsen_wang(2).records for model in (right, found)]
    np.testing.assert_array_equal(*records)


def test_sites_of_tiles_have_numbers_of_32_bits():
    def takes(shape, replicas=1):
        return spin_tiles.takes(Lattice(shape, (True, True), 2), replicas)

    assert takes((46080, 46080))
    # 2,147,395,600 sites, and 2,155,929,600 with those that the last tiles have beyond the lattice.
    assert not takes((46340, 46340))
    assert takes((128, 128), (1 << 17) - 1)
    assert not takes((128, 128), 1 << 17)
