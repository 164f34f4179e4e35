"""Couplings and fields that are drawn: their distributions, and what they depend on."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from conncomp.generate.random import philox
from conncomp.models import Ising, SpinGlass, random_couplings, random_fields
from models import alarms

COUPLING, FIELD = 26, 28


def drawn(seed, sample, index, purpose):
    """Return the two numbers of 52 bits that decide, above 0 and below 1."""
    words = [int(word) for word in philox(seed, (index, sample << 8, 0, purpose))]
    halves = (words[0] | words[1] << 32, words[2] | words[3] << 32)
    return [((half >> 12) + 0.5) / 2**52 for half in halves]


@pytest.mark.parametrize(
    ("draw", "purpose"), [(random_couplings, COUPLING), (random_fields, FIELD)]
)
def test_numbers_are_those_of_seed_sample_and_place(draw, purpose):
    seed, sample = 2**40 + 5, 7
    places = [drawn(seed, sample, k, purpose)[0] for k in range(40)]
    signs = draw(40, "pm", seed=seed, sample=sample)
    assert signs.tolist() == [-1.0 if place < 0.5 else 1.0 for place in places]
    numbers = draw((4, 10), "gaussian", seed=seed, sample=sample)
    np.testing.assert_allclose(numbers.ravel(), stats.norm.ppf(places), rtol=1e-12)
    # A part is the beginning of the whole.
    np.testing.assert_array_equal(draw(9, "gaussian", seed=seed, sample=sample), numbers.flat[:9])


def test_shares_and_moments():
    couplings = random_couplings(200_000, positive=0.7, dilution=0.25, seed=3)
    assert set(np.unique(couplings)) == {-1.0, 0.0, 1.0}
    assert alarms.of_mean(couplings == 0, 0.25) > alarms.FALSE_ALARM
    assert alarms.of_mean(couplings[couplings != 0] > 0, 0.7) > alarms.FALSE_ALARM
    fields = random_fields(200_000, seed=3)
    assert stats.kstest(fields, "norm").pvalue > alarms.FALSE_ALARM
    for other in (
        random_couplings(200_000, "gaussian", seed=3),
        random_fields(200_000, seed=4),
        random_fields(200_000, seed=3, sample=1),
    ):
        assert alarms.of_mean(other * fields, 0.0) > alarms.FALSE_ALARM


@pytest.mark.parametrize(
    "options", [{}, {"positive": 0.8}, {"dilution": 0.3}, {"kind": "gaussian", "dilution": 0.1}]
)
def test_spin_glasses_draw_the_same(options):
    kind = options.pop("kind", "pm")
    glass = SpinGlass((50,), kind, beta=1.0, seed=9, first_sample=4, samples=2, **options)
    for k in range(2):
        couplings = random_couplings(50, kind, seed=9, sample=4 + k, **options)
        np.testing.assert_allclose(glass.couplings[k, 0], couplings, atol=1e-8)


def test_many_numbers_take_no_memory_but_their_own():
    tracemalloc.start()
    many = random_couplings((2, 500_000), dilution=0.1, seed=1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2 * many.nbytes
    with pytest.raises(MemoryError, match=r"size=549755813888.* take 4398046511104 bytes"):
        random_fields(1 << 39)


def test_fields_and_couplings_act():
    """On the Ising model as on a spin glass."""
    shape, beta = (6, 6), 0.5
    plain = Ising(shape, beta=beta)
    couplings = random_couplings((2, 36), dilution=0.2, seed=1, sample=2)
    field = 0.7 * random_fields(shape, seed=1, sample=2)
    glass = SpinGlass(shape, couplings.reshape(2, *shape), beta=beta, field=field, seed=3)
    # Of the glass bond (axis, site) leads to the next site.
    sites = np.arange(36).reshape(shape)
    joined = {}
    for axis in range(2):
        for site, to in zip(sites.ravel(), np.roll(sites, -1, axis).ravel(), strict=True):
            joined[frozenset((int(site), int(to)))] = couplings[axis, site]
    own = [joined[frozenset(edge)] for edge in plain.edges.tolist()]
    ising = Ising(shape, beta=beta, coupling=own, field=field, start=glass.spins)
    assert ising.energy() == pytest.approx(glass.energy(), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: random_couplings((1 << 20, 1 << 20)), r"fewer than 2\*\*40 numbers"),
        (lambda: random_couplings(3, positive=1.5), "positive=1.5 must be from 0 to 1"),
        (lambda: random_couplings(3, "gaussian", positive=0.5), "positive=0.5 is for kind="),
        (lambda: random_couplings(3, dilution=1.0), "dilution=1.0 must be 0 or more, and below 1"),
        (lambda: random_fields(3, sample=1 << 24), "sample=16777216"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
