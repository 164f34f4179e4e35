"""Bond percolation on lattices: clusters of equal spins, whose thresholds are known."""

import numpy as np
import pytest

from conncomp.models import Ising, Percolation, crossing, jackknife
from conncomp.models.results import Estimate

# M. F. Sykes, J. W. Essam, J. Math. Phys. 5, 1117 (1964), of the first three; R. M. Ziff, P. N.
# Suding, J. Phys. A 30, 5351 (1997), of kagome; C. D. Lorenz, R. M. Ziff, Phys. Rev. E 57, 230
# (1998), of cubic and bcc; X. Xu and others, Front. Phys. 9, 113 (2014), of diamond.
KNOWN = {
    "square": 0.5,
    "triangular": 2 * np.sin(np.pi / 18),
    "honeycomb": 1 - 2 * np.sin(np.pi / 18),
    "kagome": 0.524405,
    "cubic": 0.248812,
    "bcc": 0.180288,
    "diamond": 0.389589,
}


def curve(lattice, length, shares, replicas):
    """Return rows of p, <m^4>/<m^2>^2 over random spins of clusters, and its error."""
    betas = np.repeat(-np.log1p(-shares) / 2, replicas)
    model = Ising(
        length, lattice=lattice, beta=betas, replicas=len(betas), start="cold", seed=length
    )
    drawn = model.swendsen_wang(1, clusters=True)
    moments = drawn.improved_squared_magnetisation, drawn.improved_fourth_magnetisation
    rows = zip(*(moment.reshape(len(shares), replicas) for moment in moments), strict=True)
    ratios = [jackknife(lambda m2, m4: m4 / m2**2, *row, bin_length=10) for row in rows]
    return np.column_stack([shares, ratios])


@pytest.mark.parametrize("lattice", KNOWN)
def test_thresholds_of_bond_percolation(lattice):
    flat = lattice in ("square", "triangular", "honeycomb", "kagome")
    shares = KNOWN[lattice] * np.linspace(0.97, 1.03, 6)
    sizes, replicas = ((20, 40), 700) if flat else ((7, 14), 400)
    curves = {n: curve(lattice, n, shares, replicas) for n in sizes}
    [found] = crossing(curves, degree=3)
    assert found.x.error < 0.006 * KNOWN[lattice]
    assert abs(found.x.value - KNOWN[lattice]) < 4 * found.x.error


# By wrapping, of sites, too: see `Percolation.critical_p` for whose they are. Of three axes, where
# the wrapping probability at p_c is one that another size has measured.
SIZES = {
    "square": (32, 32),
    "triangular": (32, 32),
    "honeycomb": (24, 24),
    "kagome": (18, 18),
    "bcc": (10, 10, 10),
    "fcc": (10, 10, 10),
    "diamond": (8, 8, 8),
}


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["site", "bond"])
@pytest.mark.parametrize("lattice", SIZES)
def test_thresholds_by_wrapping(lattice, kind):
    shape = SIZES[lattice]
    p_c = Percolation.critical_p(kind, len(shape), lattice)
    model = Percolation(shape, kind, lattice=lattice, seed=9)
    sweep = model.sweep(3000, between=(p_c, p_c))
    if len(shape) == 2:
        found = sweep.threshold("balance")
    else:
        larger = Percolation(tuple(2 * n for n in shape), kind, lattice=lattice, seed=9)
        wrapped = larger.sweep(300, between=(p_c, p_c)).wrapping(p_c, "any")
        found = sweep.threshold("any", crossing=wrapped.value)
        slope = found.error / sweep.wrapping(p_c, "any").error
        found = Estimate(found.value, np.hypot(found.error, slope * wrapped.error))
    assert found.error < 0.003 * p_c + 1.2e-3
    assert abs(found.value - p_c) < 4.5 * found.error


def test_an_axis_is_for_one_event():
    sweep = Percolation((8, 8), seed=1).sweep(40)
    assert sweep.threshold(axis=1) != sweep.threshold()
    np.testing.assert_array_equal(sweep.first("axis"), sweep.first("axis", 0))
    for ask in (sweep.threshold, sweep.first, sweep.wrapped):
        for event in ("any", "all", "cross", *(["balance"] if ask == sweep.threshold else [])):
            with pytest.raises(ValueError, match=f"axis=1 is for event=.*event='{event}'; leave"):
                ask(event, axis=1)
    for axis in (2, -1, "x"):
        with pytest.raises((ValueError, TypeError), match="axis="):
            sweep.threshold(axis=axis)
    with pytest.raises(ValueError, match="event="):
        sweep.threshold("none", axis=1)
