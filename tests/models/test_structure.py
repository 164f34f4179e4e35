"""Structure factors and the correlation length: by definition, by enumeration, and exactly."""

import copy
from itertools import product
from math import log, pi, sin, sqrt, tanh

import numpy as np
import pytest

from conncomp import Graph
from conncomp.models import (
    ON,
    XY,
    Clock,
    Heisenberg,
    Ising,
    Potts,
    UnitCell,
    parallel_tempering,
    simulate,
    summarise,
)
from conncomp.models.lattices import LATTICES
from conncomp.models.observables.structure import Structure
from models import alarms
from models.devices import DEVICES, both, on_host
from models.exact import phases_of

LADDER = UnitCell([[1.0]], [[0.0], [0.25]], [(0, 1, [0]), (0, 0, [1]), (1, 1, [1])])

MODELS = {
    "square": lambda **o: Ising((6, 70), beta=0.4, **o),
    "column": lambda **o: Ising((8, 1), lattice="square", beta=0.4, **o),
    "triangular": lambda **o: Ising((4, 66), lattice="triangular", beta=0.25, **o),
    "kagome": lambda **o: Ising((3, 25), lattice="kagome", beta=0.4, periodic=(False, True), **o),
    "ladder": lambda **o: Ising(7, lattice=LADDER, beta=0.4, **o),
    "couplings": lambda **o: Ising((2, 3, 2), lattice="cubic", beta=0.3, coupling=C36, **o),
    "states": lambda **o: Potts((3, 2, 5), 5, beta=0.8, **o),
    "honeycomb states": lambda **o: Potts((3, 4), 3, lattice="honeycomb", beta=0.9, **o),
    "xy": lambda **o: XY((5, 9), beta=0.9, **o),
    "xy honeycomb": lambda **o: XY((3, 4), lattice="honeycomb", beta=1.1, **o),
    "heisenberg": lambda **o: Heisenberg((3, 4, 5), beta=0.6, **o),
    "clock": lambda **o: Clock((4, 5), 5, beta=0.9, **o),
    "o(5)": lambda **o: ON((3, 3), 5, lattice="triangular", beta=1.5, **o),
    "o(4)": lambda **o: ON((3, 4), 4, beta=1.5, **o),
}
C36 = np.linspace(0.5, 1.5, 36)


def numbers_of(model, spins):
    """Return the vectors of which the structure factors are sums of squares."""
    if isinstance(model, Potts):
        q = model.lattice.states
        others = np.arange(q) == spins[..., None]
        return (others - 1 / q) * sqrt(q / (q - 1))
    return spins if isinstance(model, (XY, Heisenberg, Clock, ON)) else spins[..., None]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", MODELS)
def test_sums_are_those_of_the_definition(device, name):
    model = MODELS[name](replicas=2, seed=3, device=device)
    model.step(3)
    spins, sites = on_host(model.spins).reshape(2, model.sites, -1), model.sites
    if not isinstance(model, (XY, Heisenberg, Clock, ON)):
        spins = spins.reshape(2, sites)
    vectors = numbers_of(model, spins)
    labels = on_host(model.labels(numbering="roots")).reshape(2, -1)
    series = model.swendsen_wang(observe="structure", clusters=True)
    waves = phases_of(model)
    assert series.structure.shape == series.improved_structure.shape == (1, 2, len(cells_of(model)))
    for axis in range(len(cells_of(model))):
        of_axis = series.structure[0, :, axis], series.improved_structure[0, :, axis]
        if axis not in waves:
            assert np.isnan(of_axis).all()
            continue
        sums = (waves[axis][:, None] * vectors).sum(axis=1)
        expected = (abs(sums) ** 2).sum(axis=-1) / sites
        np.testing.assert_allclose(of_axis[0], expected, rtol=3e-5, atol=1e-6)
        if isinstance(model, (XY, Heisenberg, Clock, ON)):
            continue
        for replica in range(2):
            sums = np.zeros(sites, complex)
            np.add.at(sums, labels[replica], waves[axis])
            by_clusters = (abs(sums) ** 2).sum() / sites
            np.testing.assert_allclose(of_axis[1][replica], by_clusters, rtol=1e-4, atol=1e-9)


def cells_of(model):
    return model._place.cells.shape


@pytest.mark.parametrize("name", ["xy", "xy honeycomb", "heisenberg", "clock", "o(5)", "o(4)"])
def test_clusters_of_vectors_have_the_mean_of_all_reflections(name):
    """The improved estimator has the mean of the plain one, and less variance."""
    model = MODELS[name](replicas=64, seed=5)
    model.step(20)
    series = model.swendsen_wang(30, observe="structure", clusters=True)
    off = (series.improved_structure - series.structure).mean(axis=(0, 2))
    assert alarms.of_mean(off, 0.0) > alarms.FALSE_ALARM
    squares = series.improved_squared_magnetisation
    off = (squares - series.squared_magnetisation).mean(axis=0)
    assert alarms.of_mean(off, 0.0) > alarms.FALSE_ALARM
    assert 0.1 < squares.max() <= on_host(model.spins).shape[-1]
    assert series.improved_structure.mean() > 0.05


@pytest.mark.parametrize("device", DEVICES)
def test_clusters_of_states_have_the_mean_of_all_their_states(device):
    """Of all states that the clusters could take, each as often: exactly."""
    for model in (
        Ising((2, 3), lattice="triangular", beta=0.5, seed=2, device=device),
        Potts((2, 3), 3, beta=1.2, seed=4, device=device),
    ):
        labels = on_host(model.labels(numbering="roots")).reshape(-1)
        improved = model.swendsen_wang(observe="structure", clusters=True).improved_structure[0]
        roots = np.unique(labels)
        q = getattr(model.lattice, "states", 2)
        waves, means = phases_of(model), np.zeros(2)
        assert 1 < len(roots) < 7
        for states in product(range(q), repeat=len(roots)):
            of_sites = np.array(states)[np.searchsorted(roots, labels)]
            spins = of_sites if isinstance(model, Potts) else 1 - 2 * of_sites
            vectors = numbers_of(model, spins)
            for axis, wave in waves.items():
                means[axis] += (abs((wave[:, None] * vectors).sum(axis=0)) ** 2).sum()
        means /= q ** len(roots) * model.sites
        np.testing.assert_allclose(improved, means, rtol=1e-4, atol=1e-9)


def test_means_are_those_of_enumeration():
    model = Ising((3, 3), lattice="triangular", beta=0.2, replicas=400, seed=1)
    edges, waves = model.edges, phases_of(model)
    spins = np.array(list(product((1, -1), repeat=9)))
    weights = np.exp(0.2 * (spins[:, edges[:, 0]] * spins[:, edges[:, 1]]).sum(axis=1))
    model.step(20)
    series = model.swendsen_wang(25, observe="structure", clusters=True)
    for axis, wave in waves.items():
        factors = abs(spins @ wave) ** 2 / 9
        expected = (weights * factors).sum() / weights.sum()
        for observed in (series.structure, series.improved_structure):
            assert alarms.of_mean(observed[..., axis].mean(axis=0), expected) > alarms.FALSE_ALARM


@pytest.mark.parametrize("kind", ["words", "edges"])
def test_length_of_a_ring_is_that_of_its_transfer_matrix(kind):
    """Correlations of a ring are (t^r + t^(L - r)) / (1 + t^L), t = tanh(beta)."""
    length, beta = 12, 0.6
    coupling = 1.0 if kind == "words" else np.ones(length)
    model = Ising(length, lattice="chain", beta=beta, coupling=coupling, replicas=50, seed=9)
    t, far = tanh(beta), np.arange(length)
    correlations = (t**far + t ** (length - far)) / (1 + t**length)
    step = 2 * sin(pi / length)
    factor = (correlations * np.cos(2 * pi * far / length)).sum()
    expected = sqrt(correlations.sum() / factor - 1) / step
    model.step(30)
    for clusters in (False, True):
        series = model.swendsen_wang(400, observe=["structure"], clusters=clusters)
        [summary] = summarise(series, beta)
        xi, ratio = summary.correlation_length, summary.correlation_ratio
        assert abs(xi.value - expected) < 5 * xi.error < 0.25
        assert abs(ratio.value - xi.value / length) < 1e-12
    # In the long chain it is that of exponentials.
    assert abs(expected + 1 / log(t)) < 0.3


@pytest.mark.parametrize("name", ["square", "triangular", "fcc", "diamond"])
def test_lengths_are_in_the_unit_of_coordinates(name):
    """A cell with vectors of any length has lengths as large, on any lattice."""
    summaries, known, scales = [], LATTICES[name], (1.0, 0.1, 20.0)
    for scale in scales:
        vectors, sites = (scale * np.array(points) for points in (known.vectors, known.sites))
        cell = UnitCell(vectors, sites, known.bonds)
        model = Ising(10, lattice=cell, beta=0.12, seed=9)
        summaries += summarise(model.swendsen_wang(50, observe="structure", clusters=True), 0.12)
    for scale, summary in zip(scales, summaries, strict=True):
        lengths = summary.correlation_length.value, summaries[0].correlation_length.value
        assert abs(lengths[0] / lengths[1] / scale - 1) < 1e-6
        ratios = summary.correlation_ratio.value, summaries[0].correlation_ratio.value
        assert abs(ratios[0] / ratios[1] - 1) < 1e-6


@pytest.mark.parametrize("name", ["triangular", "bcc", "fcc"])
def test_lengths_of_free_fields_depend_on_no_size(name):
    """As their structure factors are inverse to a mass and what bonds have for |k|^2."""
    found = []
    for length in (2, 3, 8, 20):
        model = Ising(length, lattice=name, beta=0.1)
        factors = Structure(model._state, clusters=False).reader
        waves = 2 * np.pi * np.linalg.inv(np.array(model.cell.vectors)).T / length
        bonds = np.array([step for _, _, step in model.cell.bonds]) @ np.array(model.cell.vectors)
        squares = (2 - 2 * np.cos(bonds @ waves.T)).sum(axis=0)
        squares *= len(waves) / (bonds**2).sum()  # as |k|^2 where that is small
        at = [np.asarray(1 / (1 + square)) for square in squares]
        model.swendsen_wang(1, observe="structure")
        structure = {"structure": np.stack(at), "squares": np.asarray(1 / model.sites)}
        length_of, *means = factors.estimates(structure)["correlation_length"]
        found.append(float(length_of(*means)))
    assert found == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("name", MODELS)
def test_series_of_both_devices_are_equal(name, device):
    models = both(device, MODELS[name], replicas=3, seed=6)
    how = {"observe": "structure", "clusters": True}
    np.testing.assert_array_equal(*(model.swendsen_wang(4, **how).records for model in models))


def test_measuring_changes_no_spin():
    plain, watched = (Potts((6, 6), 3, seed=4) for _ in range(2))
    plain.swendsen_wang(5)
    series = watched.swendsen_wang(5, observe="structure", clusters=True, wrapping=True)
    np.testing.assert_array_equal(plain.spins, watched.spins)
    assert "improved_structure" in series.observables()
    assert series.wraps.shape == (5, 2)
    for other in (copy.copy(watched), copy.deepcopy(watched)):
        again = other.swendsen_wang(2, observe="structure")
        assert again.structure.shape == (2, 2)


def test_all_kinds_of_updates_measure_them():
    for update in ("swendsen-wang", "wolff", "few-cluster", "metropolis"):
        how = {"tile": 4, "p_flip": 0.5} if update == "few-cluster" else {}
        run = simulate(Potts((8, 8), seed=1), 20, update=update, observe="structure", **how)
        assert run.series.structure.shape == (20, 2)
        assert run.parameters["observe"] == ["structure"]
        assert run.summarise()[0].correlation_length.value != 0
    for update in ("swendsen-wang", "wolff", "metropolis"):
        run = simulate(XY((4, 4), seed=1), 20, update=update, observe="structure")
        assert run.series.structure.shape == (20, 2)


def test_files_have_them(tmp_path):
    xarray = pytest.importorskip("xarray")
    model = Ising((4, 6), beta=[0.3, 0.4], replicas=2, seed=2)
    run = simulate(model, 30, observe=["structure"], clusters=True, output=tmp_path / "series.h5")
    dataset = run.to_xarray()
    assert isinstance(dataset, xarray.Dataset)
    assert dataset.structure.dims == ("update", "replica", "structure_2")


def test_tempering_has_them_by_temperature():
    betas = [0.05, 0.25, 0.6]
    model = Ising((6, 6), beta=betas, replicas=3, seed=8)
    tempering = parallel_tempering(model, 300, observe="structure")
    means = tempering.series.structure.mean(axis=(0, 2))
    assert tempering.series.structure.shape == (300, 3, 2)
    assert means[0] < means[1]
    assert means[2] < means[1]  # what is ordered has no wave


def test_bad_input():
    model = Potts((4, 4))
    for observe, error, match in (
        ("structures", ValueError, "observe='structures' is not one of 'structure'"),
        (["structure", "structure"], ValueError, "twice"),
        (3, TypeError, "observe=3"),
        ([2], ValueError, "observe=2 is not one of"),
        ("vortices", ValueError, "is for the XY model, and not the Potts"),
        ("helicity_modulus", ValueError, "is for XY and Heisenberg"),
    ):
        with pytest.raises(error, match=match):
            model.swendsen_wang(observe=observe)
    with pytest.raises(ValueError, match=r"periodic, and shape=\(4, 4\) has none"):
        Potts((4, 4), periodic=False).swendsen_wang(observe="structure")
    with pytest.raises(ValueError, match="periodic, and shape"):
        Ising((4, 4), periodic="antiperiodic").swendsen_wang(observe="structure")
    ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.raises(ValueError, match="structure is measured on lattices, and a graph"):
        Ising(ring, beta=0.3).swendsen_wang(observe="structure")
    series = model.swendsen_wang()
    with pytest.raises(ValueError, match=r"update with observe='structure'$"):
        _ = series.structure
    with pytest.raises(ValueError, match="update with observe='structure', clusters=True"):
        _ = model.swendsen_wang(observe="structure").improved_structure
    assert summarise(series, 0.4)[0].correlation_length is None
