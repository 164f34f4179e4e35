"""The Potts model on a GPU: by Weigel's labellings, and for long as on the CPU, bit for bit."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from conncomp.kernels.cuda.models.words import GpuWordEngine
from conncomp.kernels.cuda.papers import few_cluster
from conncomp.models import ON, XY, Clock, Heisenberg, Ising, Potts
from models.devices import DEVICES, equal_trajectories, on_host
from models.edges_reference import random_regular

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
@pytest.mark.parametrize("activation", [1, 4, "column"])
@pytest.mark.parametrize(
    ("shape", "q", "periodic"),
    [
        ((20, 36), 2, True),
        ((8, 3, 70), 3, (True, False, True)),
        ((5, 1), 4, True),
        ((9, 2), 2, True),
    ],
)
def test_bonds_of_one_site_or_several(device, activation, shape, q, periodic):
    """The same bonds as of 64 sites at a time, and the same counts of them."""
    arguments = {"q": q, "beta": 0.8, "periodic": periodic, "seed": 5, "replicas": 2}
    by_sites = {"labelling": "tiles", "tile": 8, "activation": activation}
    updates = [("swendsen_wang", 2, {"wrapping": True}), ("wolff", 2, {"clusters": True})]
    models = Potts(shape, **arguments), Potts(shape, **arguments, device=device, **by_sites)
    equal_trajectories(models, updates)


# Lattices of the shortest lengths, whose energies tests enumerate, and larger ones.
GROWN = [
    *(((n,), 2, 0.5, True) for n in (1, 2, 3, 8)),
    *((shape, 3, 0.5, periodic) for shape in ((2, 2), (3, 2, 2)) for periodic in (True, False)),
    ((1, 2, 1, 3), 4, 0.7, True),
    ((2, 3), 3, 0.5, True),
    ((4, 4), 2, 0.1, True),
    ((40, 72), 2, 0.88, True),
    ((40, 72), 3, 1.4, (True, False)),
    ((8, 12, 16), 2, 0.45, True),
]


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize(("shape", "q", "beta", "periodic"), GROWN)
def test_clusters_grown_along_wave_fronts(device, shape, q, beta, periodic):
    """Chosen sites of every tile, of few tiles, and of one; of many some share a cluster."""
    arguments = {"q": q, "beta": beta, "periodic": periodic, "seed": 5, "replicas": 3}
    models = (
        Potts(shape, **arguments),
        Potts(shape, **arguments, device=device, labelling="wave-front"),
    )
    halves = tuple(n // 2 if n % 2 == 0 else n for n in shape)
    updates = [
        ("wolff", 4, {}),
        ("few_cluster", 4, {"p_flip": 0.6, "tile": halves}),
        ("few_cluster", 4, {"p_flip": 0.3, "tile": 1}),
        ("metropolis", 1, {}),
        ("few_cluster", 2, {"p_flip": 0.9, "tile": (1, *shape[1:])}),
    ]
    equal_trajectories(models, updates)


@pytest.mark.parametrize("device", ["cuda"])
def test_what_wave_fronts_do_not_do(device):
    model = Potts((8, 8), device=device, labelling="wave-front")
    with pytest.raises(
        ValueError, match=r"'wave-front' grows .* updates them all; use labelling='auto'"
    ):
        model.swendsen_wang()
    with pytest.raises(ValueError, match="and this call measures them all; use labelling='auto'"):
        model.wolff(clusters=True)
    with pytest.raises(TypeError, match="has no option 'tile'"):
        Potts((8, 8), device=device, labelling="wave-front", tile=4)
    with pytest.raises(ValueError, match="activation=2 is not one of None, 1, 4, 'column'"):
        Potts((8, 8), device=device, labelling="tiles", activation=2)
    with pytest.raises(ValueError, match="labelling='wave-front' is not one of 'auto', 'serial'"):
        Potts((8, 8), labelling="wave-front")


@pytest.mark.parametrize(
    ("seeds", "threads"), [(1, 1024), (264, 1024), (400, 672), (800, 320), (10**6, 256)]
)
def test_threads_of_equation_27(seeds, threads):
    """With 2048 threads on each of 132 multiprocessors, in whole warps."""
    gpu = SimpleNamespace(resident_threads=132 * 2048, multiprocessors=132)
    assert few_cluster.threads_of_block(gpu, seeds) == threads


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
    # Four axes have no bricks. Tiles take 102,400 bytes, spins and bonds 24,576.
    free = 126_000
    monkeypatch.setattr("conncomp.kernels.cuda.models.words.MOST_OF_MULTIPROCESSOR", 0)
    with pytest.raises(MemoryError, match=r"shape=\(8, 8, 8, 32\) take 126976 bytes"):
        Potts((8, 8, 8, 32), beta=0.3, device=device)


# Ising models by bricks, by labels of edges, and others that have no words of bits.
TRIANGULAR = {"lattice": "triangular", "beta": 0.6}
ALIKE = [
    *(
        (Ising, shape, {"lattice": lattice, "temperature": 2.1})
        for shape, lattice in (
            *(((150, 100), "triangular"), ((100, 65), "honeycomb"), ((70, 45), "kagome")),
            *(((9, 12, 20), "bcc"), ((130, 2, 20), "diamond"), ((6, 9, 11), "fcc")),
        )
    ),
    *(
        (Ising, shape, {"lattice": name, "coupling": -1.0, "periodic": how, "temperature": 1.9})
        for shape, name in (((40, 70), "square"), ((2, 9, 10), "fcc"), ((33, 20), "honeycomb"))
        for how in (False, True, "antiperiodic")
    ),
    (Ising, random_regular(5000, 4, 1), {"temperature": 2.9}),
    (Potts, (20, 70), {"q": 3, "field": 0.01, **TRIANGULAR}),
    *((XY, shape, {"beta": 0.8, "replicas": 2}) for shape in ((100, 150), (20_000,), (9, 8, 7, 6))),
    *((Heisenberg, shape, {"beta": 0.8, "replicas": 2}) for shape in ((24, 20, 40), (64, 64))),
    *((kind, (9, 70), {**own, **TRIANGULAR}) for kind, own in ((Clock, {"q": 5}), (ON, {"n": 4}))),
    (Heisenberg, (9, 70), TRIANGULAR),
]


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize(("model_type", "shape", "options"), ALIKE)
def test_updates_go_as_on_the_cpu(device, model_type, shape, options):
    models = [model_type(shape, **options, seed=5, device=place) for place in DEVICES]
    assert models[1].device == device
    if model_type is Ising and "lattice" in options:  # by bricks, where bonds lead to neighbours
        assert (models[1]._engine._bricks is None) == (options["lattice"] == "kagome")
    sizes = {"clusters": not {"coupling", "field"} & set(options)}
    updates = [("swendsen_wang", 2, sizes), ("wolff", 2, {}), ("swendsen_wang", 1, {})]
    equal_trajectories(models, [*updates, ("metropolis", 1, {})])
    for told in ("bonds", "labels", "energy"):
        np.testing.assert_array_equal(*(on_host(getattr(model, told)()) for model in models))
    np.testing.assert_array_equal(*(model.measure().records for model in models))


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
    assert isinstance(models[1]._engine, GpuWordEngine)
    equal_trajectories(models, LONG)
