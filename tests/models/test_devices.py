"""The Potts model on a GPU: by Weigel's labellings, and for long as on the CPU, bit for bit."""

from itertools import product

import numpy as np
import pytest

from conncomp.models import Potts
from conncomp.models.potts.cuda import Engine


def on_host(array):
    return array.get() if hasattr(array, "get") else array


def equal_trajectories(models, updates):
    """Assert that models have the same records and spins after each of some updates."""
    for name, number, options in updates:
        records = [getattr(model, name)(number, **options).records for model in models]
        spins = [on_host(model.spins) for model in models]
        for k in range(1, len(models)):
            np.testing.assert_array_equal(records[k], records[0])
            np.testing.assert_array_equal(spins[k], spins[0])


COMBINATIONS = list(product(("self-labelling", "bfs", "union-find"), ("sewing", "relaxation")))
SHORT = [
    ("swendsen_wang", 2, {"clusters": True}),
    ("wolff", 2, {}),
    ("few_cluster", 2, {"p_flip": 0.6, "tile": 4}),
    ("swendsen_wang", 2, {"wrapping": True}),
    ("wolff", 1, {"clusters": True, "wrapping": True}),
]


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize(("local", "merge"), COMBINATIONS)
@pytest.mark.parametrize("shape", [(20, 36), (8, 12, 16)])
def test_tiles_of_weigel(device, local, merge, shape):
    arguments = {"beta": 0.9 if len(shape) == 2 else 0.45, "seed": 5, "replicas": 2}
    by_tiles = {"labelling": "tiles", "local": local, "merge": merge, "tile": 8}
    equal_trajectories(
        [Potts(shape, **arguments), Potts(shape, **arguments, device=device, **by_tiles)], SHORT
    )


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": (8, 8), "labelling": "serial"}, "labelling='serial' runs on the CPU"),
        ({"shape": (8, 8), "labelling": "tiles", "tile": 5}, "tile=5"),
        ({"shape": (4, 4, 4, 4), "labelling": "tiles", "beta": 0.3}, "up to three axes"),
    ],
)
def test_labellings_that_are_refused(device, arguments, message):
    with pytest.raises(ValueError, match=message):
        Potts(**arguments, device=device)


@pytest.mark.parametrize("device", ["cuda"])
def test_lattice_that_does_not_fit(device, monkeypatch):
    free = 10**6
    monkeypatch.setattr("host_cuda.host_gpu.HostGpu.free_memory", lambda gpu: free)
    monkeypatch.setattr("conncomp.kernels.cuda.launcher.Gpu.free_memory", lambda gpu: free)
    with pytest.raises(MemoryError, match=r"shape=\(4000, 4000\) take \d+ bytes.*1000000 free"):
        Potts((4000, 4000), device=device)


LONG = [
    ("swendsen_wang", 100, {}),
    ("swendsen_wang", 20, {"clusters": True}),
    ("wolff", 50, {}),
    ("few_cluster", 20, {"p_flip": 0.5, "tile": 16}),
    ("metropolis", 20, {}),
    ("swendsen_wang", 20, {"wrapping": True}),
    ("wolff", 5, {"wrapping": True, "clusters": True}),
    ("swendsen_wang", 20, {}),
]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("shape", "q", "beta", "periodic", "replicas"),
    [
        ((1024, 1024), 2, "critical", True, None),
        ((512, 512), 3, "critical", True, None),
        ((512, 496), 4, "critical", (False, True), None),
        ((1200, 1008), 17, 1.6, True, None),
        ((96, 80, 112), 2, "critical", True, None),
        ((64, 64, 48), 3, 0.55, (True, False, True), None),
        ((1 << 18,), 2, 2.0, True, None),
        ((16, 16, 32, 48), 2, 0.3, True, None),
        ((64, 64), 2, "critical", True, 300),
    ],
)
def test_long_runs_are_those_of_the_cpu(shape, q, beta, periodic, replicas):
    arguments = {"periodic": periodic, "replicas": replicas, "seed": 77}
    models = [Potts(shape, q, beta, **arguments, device=device) for device in ("cpu", "cuda")]
    assert isinstance(models[1]._engine, Engine)
    equal_trajectories(models, LONG)
