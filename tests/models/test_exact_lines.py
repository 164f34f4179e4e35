"""Exact energies and magnetisations: against known values, series, enumeration and simulations."""

from math import log, pi, sqrt, tanh

import numpy as np
import pytest
from scipy import special

from conncomp.cli.simulate._exact import (
    SITES,
    ising_energy,
    ising_magnetisation,
    nishimori_temperature,
    universal_jump,
)
from conncomp.models import Ising, SpinGlass, simulate
from models import alarms

# At T_c of infinite lattices, a site: R. M. F. Houtappel, Physica 16, 425 (1950), of the triangular
# and the honeycomb lattice; K. Kano, S. Naya, Prog. Theor. Phys. 10, 158 (1953), of kagome.
CRITICAL_ENERGIES = {
    "square": -sqrt(2),
    "triangular": -2.0,
    "honeycomb": -2 / sqrt(3),
    "kagome": -(1 + 2 * sqrt(3)) / 3,
}
COORDINATION = {"square": 4, "triangular": 6, "honeycomb": 3, "kagome": 4}
FRUSTRATED = {"triangular": -1.0, "kagome": -2 / 3}  # ground states of antiferromagnets


@pytest.mark.parametrize("lattice", SITES)
def test_energies_at_known_temperatures(lattice):
    critical, bonds = Ising.critical_temperature(lattice), COORDINATION[lattice] / 2
    known = CRITICAL_ENERGIES[lattice]
    assert float(ising_energy(lattice, critical)) == pytest.approx(known, abs=1e-6)
    assert float(ising_energy(lattice, 2.5 * critical, 2.5)) == pytest.approx(2.5 * known, abs=1e-5)
    assert float(ising_energy(lattice, 0.0)) == pytest.approx(-bonds)
    assert float(ising_energy(lattice, 1e4)) == pytest.approx(-bonds / 1e4, rel=1e-3)
    lowest = FRUSTRATED.get(lattice, -bonds)
    assert float(ising_energy(lattice, 0.05, -1.0)) == pytest.approx(lowest, abs=1e-9)


def test_energies_of_the_square_lattice_are_those_of_onsager():
    """By elliptic integrals: eq. 116 of L. Onsager, Phys. Rev. 65, 117 (1944)."""
    temperatures = np.array([0.7, 1.5, 2.2, 2.3, 3.0, 8.0])
    k = 2 / temperatures
    modulus = 2 * np.sinh(k) / np.cosh(k) ** 2
    elliptic = special.ellipk(modulus**2)
    known = -1 / np.tanh(k) * (1 + 2 / pi * (2 * np.tanh(k) ** 2 - 1) * elliptic)
    np.testing.assert_allclose(ising_energy("square", temperatures), known, atol=1e-9)


@pytest.mark.parametrize("lattice", [name for name in SITES if name != "square"])
def test_critical_energies_are_those_of_simulations(lattice):
    """Extrapolated from two sizes, as the energy of a torus is off by 1/L."""
    means, errors = [], []
    for length in (16, 32):
        model = Ising(length, lattice=lattice, replicas=32, seed=4)
        energies = simulate(model, 600, thermalise=100).series.energy.mean(axis=0) / model.sites
        means.append(energies.mean())
        errors.append(energies.std() / sqrt(len(energies)))
    error = sqrt(4 * errors[1] ** 2 + errors[0] ** 2)
    assert error < 0.01
    assert abs(2 * means[1] - means[0] - CRITICAL_ENERGIES[lattice]) < 4 * error


@pytest.mark.parametrize("coupling", [1.0, -1.0])
@pytest.mark.parametrize("lattice", SITES)
def test_energies_are_those_of_simulations(lattice, coupling):
    """Far from the transition, where a torus of eight cells a side is as good as infinite."""
    temperature = 2.2 * Ising.critical_temperature(lattice)
    arguments = {"coupling": coupling, "temperature": temperature, "replicas": 100, "seed": 2}
    model = Ising((12, 12), lattice=lattice, **arguments)
    series = simulate(model, 150, thermalise=20, update="heat-bath").series
    energies = series.energy.mean(axis=0) / model.sites
    expected = float(ising_energy(lattice, temperature, coupling))
    assert alarms.of_mean(energies, expected) > alarms.FALSE_ALARM
    assert energies.std() / 10 < 0.005


@pytest.mark.parametrize("lattice", ["square", "triangular", "honeycomb"])
def test_magnetisations(lattice):
    critical, neighbours = Ising.critical_temperature(lattice), COORDINATION[lattice]
    assert float(ising_magnetisation(lattice, 0.0)) == 1
    # At low temperatures single spins are turned.
    cold = 0.25 * critical
    assert float(1 - ising_magnetisation(lattice, cold)) == pytest.approx(
        2 * np.exp(-2 * neighbours / cold), rel=0.02
    )
    near = float(ising_magnetisation(lattice, critical * (1 - 1e-9)))
    nearer = float(ising_magnetisation(lattice, critical * (1 - 1e-9 / 256)))
    assert nearer / near == pytest.approx(1 / 2, rel=0.02)  # an exponent of 1/8
    assert ising_magnetisation(lattice, critical * np.array([1.0001, 2.0])).tolist() == [0, 0]
    model = Ising((32, 32), lattice=lattice, temperature=0.8 * critical, replicas=50, start="cold")
    series = simulate(model, 60, thermalise=30).series
    measured = abs(series.magnetisation).mean(axis=0)
    expected = float(ising_magnetisation(lattice, 0.8 * critical))
    assert measured.mean() == pytest.approx(expected, abs=0.003)


def test_nishimori_line_and_universal_jump():
    temperature = nishimori_temperature(0.9)
    assert tanh(1 / temperature) == pytest.approx(0.8)
    assert nishimori_temperature((1 + 1 / sqrt(2)) / 2) == pytest.approx(2 / log(3 + 2 * sqrt(2)))
    assert float(universal_jump(pi)) == pytest.approx(2)
    model = SpinGlass((8, 8), positive=0.9, temperature=[temperature], samples=400, seed=1)
    model.step(60)
    energies = np.zeros(400)
    for _ in range(30):
        model.step(2)
        energies += model.energy().reshape(-1) / 128 / 30
    assert alarms.of_mean(energies, -0.8) > alarms.FALSE_ALARM
    assert energies.std() / 20 < 0.01
