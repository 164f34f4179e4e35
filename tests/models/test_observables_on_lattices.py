"""Helicity moduli, vortices and windings of clusters on any lattice."""

import tracemalloc
from collections import defaultdict
from math import pi

import numpy as np
import pytest

from conncomp import Graph
from conncomp.models import XY, Heisenberg, Ising, Potts, UnitCell, simulate, summarise
from conncomp.models.lattices import LATTICES
from conncomp.models.observables import helicity, vortices
from conncomp.models.observables.vortices import faces_of, plaquettes
from models.devices import DEVICES, on_host
from models.exact import bonds_by_edge
from models.percolation_reference import windings_of

# ------------------------------------------------------------------------------------ the helicity


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("model_type", "shape"), [(XY, (4, 70)), (XY, (3, 4, 5)), (XY, (6,)), (Heisenberg, (4, 5, 3))]
)
@pytest.mark.parametrize(("periodic", "coupling"), [(True, 1.0), (False, -1.5)])
def test_edges_say_what_words_say(device, model_type, shape, periodic, coupling):
    """Of the same spins, on the same lattice, by kernels of words and by bonds of their own."""
    arguments = {"beta": [0.9, 0.5], "replicas": 2, "seed": 3, "periodic": periodic}
    words = model_type(shape, **arguments, coupling=coupling, device=device)
    words.step(2)
    start = on_host(words.spins)
    couplings = np.full(len(words.edges), coupling)
    observe = ["helicity_modulus"] + ["vortices"] * (model_type is XY and len(shape) == 2)
    edges = model_type(shape, **arguments, coupling=couplings, start=start, device=device)
    expected, series = words.measure(), edges.swendsen_wang(observe=observe)
    np.testing.assert_allclose(
        series.helicity_modulus[0], expected.helicity_modulus, rtol=1e-4, atol=1e-5
    )
    if len(observe) == 2:
        np.testing.assert_array_equal(series.vortices[0], expected.vortices)
        assert series.vortices.min() > 0
    # What is measured anyway is measured once.
    again = words.swendsen_wang(observe=observe)
    assert list(again.observables()) == list(expected.observables())


def twisted_free_energies(model, beta, twists, steps):
    """Return minus ln Z of an XY model of three sites, for twists along a Cartesian axis."""
    edges = model.edges
    classes, displacements = model._place.displacements()
    far = displacements[classes]
    angles = 2 * pi * np.arange(steps) / steps
    free = [np.zeros(()), *np.meshgrid(angles, angles, indexing="ij")]
    found = []
    for axis in range(far.shape[1]):
        of_axis = []
        for twist in twists:
            energy = 0
            for (u, v), d in zip(edges, far[:, axis], strict=True):
                energy = energy - np.cos(free[v] - free[u] + twist * d)
            of_axis.append(-np.log(np.exp(-beta * energy).mean()))
        found.append(of_axis)
    return np.array(found)


def test_helicity_is_the_curvature_of_the_free_energy():
    """By quadrature: on a cell of kagome, of three sites, with weights of Boltzmann."""
    beta, steps, step = 0.8, 24, 1e-3
    grid = 2 * pi * np.arange(steps) / steps
    angles = np.stack(
        [np.zeros((steps, steps)), *np.meshgrid(grid, grid, indexing="ij")], axis=-1
    ).reshape(-1, 1, 1, 3)
    start = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    arguments = {"lattice": "kagome", "beta": beta}
    model = XY((1, 1), **arguments, replicas=len(start), start=start)
    energies, series = model.energy(), model.swendsen_wang(observe="helicity_modulus")
    weights = np.exp(-beta * energies)
    mean = (weights[:, None] * series.helicity_modulus[0]).sum(axis=0) / weights.sum()
    free = twisted_free_energies(model, beta, (-step, 0, step), 64)
    curvature = (free[:, 0] - 2 * free[:, 1] + free[:, 2]) / step**2 / beta / model._place.volume
    np.testing.assert_allclose(mean, curvature, atol=2e-4)
    assert mean.min() > 0.1


def test_stiffness_of_cold_spins_is_that_of_the_bonds():
    """Of equal spins, half of the sum of squares of bonds' lengths, a volume."""
    for name, expected in (("square", 1), ("triangular", 3 / 3**0.5), ("honeycomb", 1 / 3**0.5)):
        model = XY((4, 5), lattice=name, beta=1.0, start="cold")
        modulus = model.swendsen_wang(observe="helicity_modulus").helicity_modulus
        np.testing.assert_allclose(modulus, expected, rtol=1e-6)


def test_summaries_and_series_have_them():
    run = simulate(
        XY((4, 4), lattice="triangular", beta=[0.5, 2.0], replicas=2, seed=1),
        200,
        observe=["helicity_modulus", "vortices", "structure"],
        wrapping=True,
    )
    hot, cold = run.summarise()
    assert hot.helicity_modulus.value < cold.helicity_modulus.value
    assert hot.vortices.value > cold.vortices.value
    assert hot.correlation_ratio.value < cold.correlation_ratio.value
    assert hot.wrapping.cross.value < cold.wrapping.cross.value
    names = {"helicity_modulus", "vortices", "structure", "wraps", "rank"}
    assert names <= set(run.series.observables())
    pytest.importorskip("xarray")
    assert names <= set(run.to_xarray())


# ---------------------------------------------------------------------------------------- vortices


@pytest.mark.parametrize(
    ("name", "corners"),
    [("square", [4]), ("triangular", [3, 3]), ("honeycomb", [6]), ("kagome", [3, 3, 6])],
)
def test_plaquettes_are_the_faces(name, corners):
    assert sorted(map(len, faces_of(LATTICES[name]))) == corners
    place = XY((3, 4), lattice=name, beta=1.0)._place
    bonds = {tuple(sorted(bond)) for bond in place.ends().T.tolist()}
    sides = defaultdict(int)
    for sites in plaquettes(place):
        assert len(sites) == 12
        for k in range(sites.shape[1]):
            for u, v in zip(sites[:, k - 1].tolist(), sites[:, k].tolist(), strict=True):
                sides[tuple(sorted((u, v)))] += 1
    assert set(sides) == bonds
    assert set(sides.values()) == {2}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["square", "triangular", "honeycomb", "kagome"])
def test_a_vortex_is_one(device, name):
    """Angles around the middle of a plaquette, on an open lattice, and those of all spins alike."""
    arguments = {"lattice": name, "beta": 1.0, "periodic": False, "device": device}
    if name == "square":
        arguments["coupling"] = np.ones(2 * 7 * 8 - 15)
    model = XY((7, 8), **arguments, start="cold")
    assert model.swendsen_wang(observe="vortices").vortices.tolist() == [0]
    places = model.coordinates
    for sites in plaquettes(model._place):
        middle = places[sites[len(sites) // 2]].mean(axis=0)
        for turns in (1, -1):
            away = (places - middle) * (1, turns)
            start = away.reshape(*model.angles.shape, 2)
            one = XY((7, 8), **arguments, start=start)
            assert one.swendsen_wang(observe="vortices").vortices.tolist() == [1]


def test_lattices_without_plaquettes():
    crossing = UnitCell(
        np.eye(2), [[0.0, 0.0]], [(0, 0, s) for s in ([1, 0], [0, 1], [1, 1], [1, -1])]
    )
    beside = UnitCell(np.eye(2), [[0.0, 0.0], [0.5, 0.5]], [(0, 0, [1, 0]), (0, 0, [0, 1])])
    on_top = UnitCell(
        np.eye(2), [[0, 0], [0.5, 0]], [(0, 1, [0, 0]), (0, 0, [1, 0]), (0, 0, [0, 1])]
    )
    strips = UnitCell(np.eye(2), [[0.0, 0.0]], [(0, 0, [1, 0])])
    for cell in (crossing, beside, on_top, strips):
        with pytest.raises(ValueError, match="whose bonds do not cross"):
            XY((4, 4), lattice=cell, beta=1.0).swendsen_wang(observe="vortices")
    for arguments, match in (
        ({"shape": (3, 3, 3)}, "lattices of two axes, and not 3"),
        ({"shape": (4, 4), "periodic": ("antiperiodic", True)}, "without antiperiodic axes"),
        ({"shape": Graph.from_edges([0], [1])}, "vortices is measured on lattices"),
    ):
        with pytest.raises(ValueError, match=match):
            XY(**arguments, beta=1.0).swendsen_wang(observe="vortices")
    series = XY((4, 4), lattice="triangular", beta=1.0).swendsen_wang()
    for name in ("vortices", "helicity_modulus"):
        with pytest.raises(ValueError, match=f"update with observe='{name}'"):
            getattr(series, name)
    with pytest.raises(ValueError, match="update with wrapping=True"):
        _ = series.wraps


# ---------------------------------------------------------------------------------------- windings

LADDER = UnitCell([[1.0]], [[0.0], [0.25]], [(0, 1, [0]), (0, 0, [1]), (1, 1, [1])])
MODELS = {
    "triangular": lambda **o: Ising((3, 4), lattice="triangular", beta=0.35, **o),
    "kagome": lambda **o: Ising((2, 5), lattice="kagome", beta=0.6, **o),
    "open": lambda **o: Ising((5, 3), lattice="triangular", beta=0.5, periodic=(True, False), **o),
    "ladder": lambda **o: Ising(5, lattice=LADDER, beta=0.9, **o),
    "one cell": lambda **o: Ising((1, 2), lattice="honeycomb", beta=0.7, **o),
    "couplings": lambda **o: Ising((4, 4), beta=0.6, coupling=np.linspace(0.5, 1.5, 32), **o),
    "turned": lambda **o: Ising((4, 3), beta=0.5, periodic=("antiperiodic", True), **o),
    "bcc": lambda **o: Ising((2, 3, 3), lattice="bcc", beta=0.2, **o),
    "square": lambda **o: Ising((5, 66), beta=0.45, **o),
    "states": lambda **o: Potts((3, 4), 3, lattice="honeycomb", beta=1.4, **o),
    "xy": lambda **o: XY((4, 5), beta=1.2, **o),
    "xy triangular": lambda **o: XY((3, 5), lattice="triangular", beta=0.9, **o),
    "heisenberg": lambda **o: Heisenberg((3, 2, 4), beta=1.0, **o),
}


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", MODELS)
def test_windings_are_those_of_a_search(device, name):
    model = MODELS[name](replicas=6, seed=2, device=device)
    found = set()
    model.step(4)
    for _ in range(3):
        bonds = bonds_by_edge(model)
        series = model.swendsen_wang(wrapping=True)
        for replica in range(6):
            axes, rank = windings_of(model, bonds[replica])
            assert series.wraps[0, replica].tolist() == axes
            assert series.rank[0, replica] == rank
            found.add(rank)
    assert max(found) > 0
    [summary] = summarise(series, model.beta)
    assert abs(summary.wrapping.any_axis.value - series.wraps.any(axis=-1).mean()) < 1e-12


def test_windings_on_graphs_are_refused():
    ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    for make in (Ising, Potts, XY):
        with pytest.raises(ValueError, match="wrapping is measured on lattices"):
            make(ring, beta=0.3).swendsen_wang(wrapping=True)
    with pytest.raises(ValueError, match="wrapping=True is for update="):
        XY((4, 4)).updater(update="wolff", wrapping=True)


@pytest.mark.parametrize(
    ("name", "module"), [("helicity_modulus", helicity), ("vortices", vortices)]
)
def test_memory_of_many_replicas_is_that_of_one(monkeypatch, name, module):
    monkeypatch.setattr(module, "TOGETHER", 1 << 12)
    many, one = (
        XY(20, lattice="triangular", beta=0.7, seed=1, replicas=replicas)
        for replicas in (200, None)
    )
    updates = [model.updater(observe=name) for model in (many, one)]
    records = [update.new_records(1)[0] for update in updates]
    tracemalloc.start()
    try:
        updates[0](1, records[0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20
    updates[1](1, records[1])
    np.testing.assert_array_equal(records[0][0], records[1][0])


@pytest.mark.parametrize("observe", ["structure", "helicity_modulus"])
def test_cells_without_volume_are_refused(observe):
    flat = UnitCell([[0.1, 0.3], [0.2, 0.6]], [[0.0, 0.0]], [(0, 0, (1, 0)), (0, 0, (0, 1))])
    model = XY((4, 4), lattice=flat, beta=0.5)
    model.swendsen_wang(1, wrapping=True)
    with pytest.raises(ValueError, match="span no volume; give it independent ones"):
        model.updater(observe=observe)
