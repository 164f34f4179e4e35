"""Percolation on a GPU: what the CPU has, bit for bit."""

import numpy as np
import pytest

from conncomp.models import Percolation, base
from conncomp.models.percolation.measurements import (
    CLASSES,
    CLUSTERS,
    LARGEST,
    RECORD_LENGTH,
    SQUARES,
    _record_sizes,
)
from host_cuda.host_gpu import HostGpu
from host_cupy import place_on_host
from models.conftest import HAS_GPU
from models.devices import on_host


@pytest.fixture(autouse=True)
def gpu_without_gpu(monkeypatch):
    """Let the host executor take the place of a GPU where there is none."""
    if HAS_GPU:
        return
    gpu = HostGpu()
    monkeypatch.setattr(base, "current_gpu", lambda: gpu)


@pytest.mark.soak(gate="values")
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
    compare(shape, kind=kind, periodic=periodic, p=p, replicas=2)


def compare(shape, **arguments):
    """Hold configurations, labels and records of a GPU against those of the CPU."""
    models = [Percolation(shape, seed=4, **arguments, device=device) for device in ("cpu", "cuda")]
    for _ in range(2):
        expected, measured = (model.measure() for model in models)
        drawn = [m.bonds() if m.kind == "bond" else m.occupied() for m in models]
        np.testing.assert_array_equal(on_host(drawn[1]), drawn[0])
        np.testing.assert_array_equal(on_host(models[1].labels()), models[0].labels())
        for name, values in expected.observables().items():
            np.testing.assert_array_equal(measured.observables()[name], values, name)
        np.testing.assert_array_equal(measured.records, expected.records)
        for model in models:
            model.step()
    return measured


@pytest.mark.parametrize("kind", ["site", "bond"])
@pytest.mark.parametrize(
    ("shape", "periodic"),
    [
        *[((4, 5, 6, 7), True), ((2, 1, 2, 3), True), ((3, 4, 5, 64), (True, False, True, False))],
        *[((64, 4), True), ((1, 4), True), ((2, 2), True), ((7, 1, 3), True), ((5,), True)],
        *[((1,), True), ((1, 1), (True, False)), ((3, 2), False), ((1000, 3), (False, True))],
    ],
)
def test_lattices_that_do_not_fill_bricks(shape, periodic, kind):
    for p in ("critical", 0.0, 0.8, 1.0):
        compare(shape, kind=kind, periodic=periodic, p=p, replicas=5)
    compare(shape, kind=kind, periodic=periodic, p=0.6)


@pytest.mark.parametrize("shape", [(70, 130), (12, 64), (2, 4), (1, 3), (1, 1), (3, 3)])
@pytest.mark.parametrize("periodic", [True, (False, True), False])
def test_triangular_lattices(shape, periodic):
    for p in ("critical", 0.0, 0.7, 1.0):
        compare(shape, lattice="triangular", periodic=periodic, p=p, replicas=5)


def test_windings_by_labels():
    """Of many tiny lattices: all kinds of windings, in replicas with clusters of several ranks."""
    for arguments, ranks in [
        ({"shape": (3, 4), "lattice": "triangular", "p": 0.45}, 3),
        ({"shape": (3, 2, 3, 2), "p": 0.4}, 5),
        ({"shape": (2, 3, 2, 2), "kind": "bond", "p": 0.3}, 5),
    ]:
        measured = compare(**arguments, replicas=2000)
        assert len(set(measured.rank.tolist())) == ranks
        assert len(np.unique(measured.wraps, axis=0)) > ranks


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        ((9, 70), {"lattice": "triangular", "replicas": 3}),
        ((3, 4, 5, 6), {"p": 0.3, "periodic": (True, False, True, True)}),
        ((2, 3, 2, 2), {"kind": "bond", "p": 0.3, "replicas": 50}),
        ((5, 3), {"p": 0.0, "replicas": 2}),
    ],
)
def test_labels_by_kernels(monkeypatch, shape, arguments):
    """All on arrays of a stand-in for CuPy, which the kernels of labels and windings fill."""
    place_on_host(monkeypatch)
    compare(shape, **arguments)


def test_squares_of_sizes_beyond_two_limbs():
    """Sizes of which no lattice of a test has any: squares of up to 80 bits."""
    sizes = np.array([[0, (1 << 40) - 1, 1 << 39, 65536], [0, 3, (1 << 32) + 12345, 0]])
    record = np.zeros((2, RECORD_LENGTH), np.int64)
    _record_sizes(sizes, record)
    squares = [[size * size for size in row] for row in sizes.tolist()]
    for limb in range(2):
        expected = [sum(s >> 32 if limb else s & 0xFFFFFFFF for s in row) for row in squares]
        assert record[:, SQUARES + limb].tolist() == expected
    assert record[:, LARGEST].tolist() == [(1 << 40) - 1, (1 << 32) + 12345]
    assert record[:, CLUSTERS].tolist() == [3, 2]
    assert [np.flatnonzero(row).tolist() for row in record[:, CLASSES:]] == [[16, 39], [1, 32]]
    assert record[0, CLASSES + 39] == 2


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        ((2048, 2048), {"lattice": "triangular"}),
        ((1500, 1100), {"lattice": "triangular", "periodic": (True, False), "replicas": 3}),
        ((40, 36, 33, 30), {}),
        ((24, 24, 24, 24), {"kind": "bond", "replicas": 2}),
        ((1 << 20, 4), {"p": 0.7}),
        ((3, 4, 5, 6), {"replicas": 4000}),
    ],
)
def test_large_lattices_that_do_not_fill_bricks(shape, arguments):
    compare(shape, **arguments)


def test_sweeps_are_of_the_cpu():
    with pytest.raises(ValueError, match="sweeps run on the CPU"):
        Percolation((64, 64), device="cuda").sweep(1)
