"""What is exactly known of Potts models, by ways that are independent of each other."""

from decimal import Decimal, localcontext
from math import log, sqrt

import numpy as np
import pytest

from models.exact import DIGITS, critical_energy, graphs, levels, log_chain, log_kaufman, moments

BETAS = [0.05, 0.5, log(1 + sqrt(2)), 1.3]


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize(
    "shape", [(4, 4), (1, 1), (1, 2), (2, 2), (2, 5), (5, 2), (3, 3), (3, 5), (1, 7)]
)
def test_kaufman_is_the_sum_over_all_spins(shape, beta):
    np.testing.assert_allclose(
        moments(log_kaufman(*shape), beta), levels(shape, 2).moments(beta), rtol=1e-11, atol=1e-12
    )


def test_density_of_states_of_beale():
    """The lowest levels of 32 x 32: P. D. Beale, Phys. Rev. Lett. 76, 78 (1996).

    A level lies 2 unsatisfied bonds above the one before. At a weight of 10^-6 a bond the numbers
    of configurations stand beside each other in the digits of Z.
    """
    weight, multiplicities = Decimal("1e-6"), []
    with localcontext(prec=DIGITS):
        remaining = (log_kaufman(32, 32)(-weight.ln()) + 2 * 32**2 * weight.ln()).exp()
        for _ in range(7):
            multiplicities.append(int(remaining + Decimal("1e-9")))
            remaining = (remaining - multiplicities[-1]) / weight**2
    assert multiplicities == [2, 0, 2048, 4096, 1057792, 4218880, 371621888]


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize(("length", "q"), [(1, 2), (1, 5), (2, 3), (3, 2), (7, 3), (6, 4)])
def test_chain_is_the_sum_over_all_spins(length, q, periodic):
    for beta in BETAS:
        np.testing.assert_allclose(
            moments(log_chain(length, q, periodic), beta),
            levels((length,), q, periodic).moments(beta),
            rtol=1e-11,
            atol=1e-12,
        )


@pytest.mark.parametrize(("shape", "q"), [((3, 3), 2), ((3, 3), 3), ((2, 3), 4), ((1, 2), 5)])
def test_graphs_have_the_moments_of_the_spins(shape, q):
    """Active bonds are p of the satisfied ones; the weights of all graphs sum to Z."""
    for beta in BETAS:
        of_graphs, of_spins = graphs(shape), levels(shape, q)
        p = 1 - np.exp(-beta)
        probabilities = of_graphs.probabilities(beta, q)
        mean, variance = of_spins.moments(beta)
        active = probabilities @ of_graphs.active
        assert active == pytest.approx(p * mean)
        assert probabilities @ (of_graphs.active - active) ** 2 == pytest.approx(
            p**2 * variance + p * (1 - p) * mean
        )


def test_critical_energy_is_that_of_the_infinite_torus():
    """The energy of L x L is off by one power of L; two lengths leave L^-3."""
    beta = log(1 + sqrt(2))
    small, large = (-moments(log_kaufman(n, n), beta).mean / n**2 for n in (32, 64))
    assert 2 * large - small == pytest.approx(critical_energy(2), abs=1e-5)
