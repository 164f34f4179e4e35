"""Percolation on a GPU: what the CPU has, bit for bit."""

import numpy as np
import pytest

from conncomp.models import Percolation, _percolation_cuda, simulate
from host_cuda.host_gpu import AVAILABLE, HostGpu
from models.conftest import HAS_GPU


@pytest.fixture(autouse=True)
def gpu_without_gpu(monkeypatch):
    """Let the host executor take the place of a GPU where there is none."""
    if HAS_GPU:
        return
    if not AVAILABLE:
        pytest.skip("there is neither a GPU nor what the host executor needs")
    gpu = HostGpu()
    monkeypatch.setattr(_percolation_cuda, "current_gpu", lambda: gpu)


def on_host(array):
    return array.get() if hasattr(array, "get") else array


@pytest.mark.parametrize("kind", ["site", "bond"])
@pytest.mark.parametrize(
    ("shape", "periodic", "p"),
    [
        ((70, 200), True, "critical"),
        ((33, 65), (True, False), 0.52),
        ((64, 64), False, 0.61),
        ((64, 128), True, 1.0),
        ((64, 128), True, 0.0),
        ((9, 14, 20), True, "critical"),
        ((9, 14, 20), (False, True, False), 0.3),
        ((6000,), True, 0.9),
    ],
)
def test_as_on_the_cpu(shape, periodic, p, kind):
    arguments = {"kind": kind, "periodic": periodic, "p": p, "replicas": 2, "seed": 4}
    models = [Percolation(shape, **arguments, device=device) for device in ("cpu", "cuda")]
    for _ in range(2):
        expected, measured = (model.measure() for model in models)
        drawn = [model.bonds() if kind == "bond" else model.occupied() for model in models]
        np.testing.assert_array_equal(on_host(drawn[1]), drawn[0])
        for name, values in expected.observables().items():
            np.testing.assert_array_equal(measured.observables()[name], values, name)
        np.testing.assert_array_equal(measured.records, expected.records)
        for model in models:
            model.step()


def test_simulate():
    runs = [
        simulate(Percolation((24, 40), seed=3, device=device), 5, measure_every=2)
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_array_equal(runs[0].series.records, runs[1].series.records)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": (4, 4, 4, 8)}, r"device='cuda' takes .* not shape=\(4, 4, 4, 8\)"),
        ({"shape": (64, 4)}, r"device='cuda' takes .* not shape=\(64, 4\)"),
        ({"shape": (64, 64), "lattice": "triangular"}, "lattice='triangular'; use device='cpu'"),
    ],
)
def test_lattices_that_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Percolation(**arguments, device="cuda")


def test_sweeps_are_of_the_cpu():
    with pytest.raises(ValueError, match="sweeps run on the CPU"):
        Percolation((64, 64), device="cuda").sweep(1)
