"""Pairs of replicas: overlaps, Houdayer's moves, exchanges of temperatures, means over disorder."""

from dataclasses import replace

import numpy as np
import pytest

from conncomp.generate.random import philox
from conncomp.models import (
    Kawasaki,
    SpinGlass,
    overlap_distribution,
    parallel_tempering,
    summarise_overlaps,
)
from conncomp.models.spin_glass import pairs as pairs_module
from models import alarms
from models.alarms import FALSE_ALARM
from models.devices import on_host
from models.test_spin_glass import DEVICES, exact_mean

BETAS = [0.3, 0.8]


def build(shape, couplings="pm", beta=BETAS, **options):
    given = {"samples": 2, "copies": 2, "seed": 11, **options}
    return SpinGlass(shape, couplings, beta=beta, **given)


def cluster_of(differ, site, periodic):
    """Return the sites that a chosen one is connected with, by a search."""
    found, waiting = {site}, [site]
    while waiting:
        at = waiting.pop()
        for axis, length in enumerate(differ.shape):
            for way in (-1, 1):
                to = at[axis] + way
                if not 0 <= to < length and not periodic[axis]:
                    continue
                other = (*at[:axis], to % length, *at[axis + 1 :])
                if differ[other] and other not in found:
                    found.add(other)
                    waiting.append(other)
    return tuple(np.array(sorted(found)).T)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("shape", "periodic"), [((9, 8), (True, True)), ((5, 4, 6), (True, False, True))]
)
def test_moves_flip_the_cluster_of_a_site_that_is_drawn(shape, periodic, device, monkeypatch):
    monkeypatch.setattr(pairs_module, "SITES_TOGETHER", 2 * np.prod(shape))
    first = 59
    model = build(shape, periodic=periodic, first_replica=first, device=device)
    sweeps = build(shape, periodic=periodic, first_replica=first)
    model.step(houdayer=True)
    sweeps.step()
    wanted, before = sweeps.spins, sweeps.energy()
    for a, b in ((0, 1), (2, 3), (4, 5), (6, 7)):
        differ = wanted[a] != wanted[b]
        index = first + a << 40
        low, high, _, _ = philox(11, (index & 0xFFFFFFFF, index >> 32, 1, 27))
        rank = (int(low) | int(high) << 32) * int(differ.sum()) >> 64
        site = tuple(int(k) for k in np.argwhere(differ)[rank])
        cluster = cluster_of(differ, site, periodic)
        wanted[a][cluster], wanted[b][cluster] = wanted[b][cluster], wanted[a][cluster]
    np.testing.assert_array_equal(on_host(model.spins), wanted)
    after = model.energy()
    assert (after != before).any()
    np.testing.assert_array_equal(after[::2] + after[1::2], before[::2] + before[1::2])


def test_replicas_that_are_equal_stay():
    model = build((4, 4), start="cold", beta=[50.0], couplings=np.ones((2, 4, 4)))
    model.step(3, houdayer=True)
    assert (model.spins == 1).all()


@pytest.mark.parametrize("kind", ["pm", "gaussian"])
def test_energies_with_moves_are_those_of_enumeration(kind):
    betas = np.array([0.2, 0.5])
    model = build((3, 4), kind, beta=betas, samples=1, copies=512)
    model.step(40, houdayer=True)
    means = np.zeros(model.replicas)
    for _ in range(10):
        model.step(2, houdayer=True)
        means += model.energy() / 10
    for replicas, expected in zip(means.reshape(2, -1), exact_mean(model, betas), strict=True):
        # Pairs depend on each other.
        samples = replicas.reshape(-1, 2).mean(axis=1)
        assert alarms.of_mean(samples, expected) > FALSE_ALARM


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dilution", [0, 0.4])
@pytest.mark.parametrize(
    ("shape", "periodic"), [((9,), True), ((4, 6), (False, True)), ((3, 4, 2), True)]
)
def test_overlaps_are_those_of_the_spins(shape, periodic, dilution, device):
    model = build(shape, periodic=periodic, dilution=dilution, device=device)
    model.step(2)
    measured, spins, couplings = model.overlaps(), on_host(model.spins).astype(int), model.couplings
    np.testing.assert_array_equal(measured.beta, [*BETAS, *BETAS])
    np.testing.assert_array_equal(measured.sample, [0, 0, 1, 1])
    for k, (a, b) in enumerate(measured.replicas):
        assert (a, b) == (2 * k, 2 * k + 1)
        q = spins[a] * spins[b]
        assert measured.overlap[k] == q.mean()
        there = couplings[k // 2] != 0
        products = [q * np.roll(q, -1, axis) for axis in range(len(shape))]
        assert measured.link_overlap[k] == pytest.approx(np.stack(products)[there].mean())
        for axis, length in enumerate(shape):
            angles = 2 * np.pi * np.indices(shape)[axis] / length
            factor = abs((q * np.exp(1j * angles)).sum()) ** 2 / q.size
            assert measured.structure[k, axis] == pytest.approx(factor, abs=1e-9)


# ------------------------------------------------------------------------------------- tempering


@pytest.mark.parametrize("houdayer", [False, True])
def test_exchanges_leave_the_distribution(houdayer):
    betas = np.array([0.2, 0.4, 0.7])
    model = build((3, 4), "gaussian", beta=betas, samples=1, copies=256)
    parallel_tempering(model, 30, houdayer=houdayer)
    tempering = parallel_tempering(model, 10, sweeps_between=2, houdayer=houdayer)
    assert tempering.series.energy.shape == (10, 768)
    np.testing.assert_array_equal(tempering.beta, np.tile(betas, 256))
    assert (tempering.acceptance > 0.1).all()
    means = tempering.series.energy.mean(axis=0).reshape(256, 3)
    for samples, expected in zip(means.T, exact_mean(model, betas), strict=True):
        assert alarms.of_mean(samples, expected) > FALSE_ALARM
    # Replicas exchange within a ladder, and all of a ladder are measured.
    assert (tempering.replicas.reshape(10, 256, 3) % 256 == np.arange(256)[:, None]).all()
    assert (np.sort(tempering.replicas, axis=1) == np.arange(768)).all()
    assert np.unique(tempering.replicas[:, 0]).size > 1


@pytest.mark.parametrize("device", DEVICES)
def test_tempering_goes_on_and_is_the_same_on_all_devices(device):
    options = {"couplings": "gaussian", "samples": 3, "copies": 2, "beta": [0.2, 0.5, 0.9, 1.4]}
    model, other = build((4, 3, 2), **options), build((4, 3, 2), **options, device=device)
    whole = parallel_tempering(model, 6, houdayer=True)
    parts = [parallel_tempering(other, rounds, houdayer=True) for rounds in (2, 4)]
    np.testing.assert_array_equal(on_host(other.spins), model.spins)
    np.testing.assert_array_equal(other.beta, model.beta)
    energies = np.concatenate([part.series.energy for part in parts])
    np.testing.assert_array_equal(energies, whole.series.energy)
    alone = build((4, 3, 2), **{**options, "samples": 1}, first_sample=2, first_replica=16)
    tempering = parallel_tempering(alone, 6, houdayer=True)
    np.testing.assert_array_equal(alone.spins, model.spins[16:])
    np.testing.assert_array_equal(tempering.series.energy, whole.series.energy[:, 16:])


def test_samples_have_means_of_their_own():
    model = build((4, 4, 4), samples=3)
    measured = []
    for _ in range(20):
        model.step(2)
        measured.append(model.overlaps())
    squares = []
    for number in range(3):
        alone = [each.of_sample(number) for each in measured]
        assert {k for each in alone for k in each.sample.tolist()} == {number}
        of_sample = summarise_overlaps(alone, (4, 4, 4))
        assert [row.samples for row in of_sample] == [1, 1]
        assert of_sample[0].squared_overlap.error > 0
        squares.append([row.squared_overlap.value for row in of_sample])
        found = overlap_distribution(alone, model.beta[0], bins=10)
        assert abs(found.density.sum() * 0.2 - 1) < 1e-12
    of_all = [row.squared_overlap.value for row in summarise_overlaps(measured, (4, 4, 4))]
    np.testing.assert_allclose(np.mean(squares, axis=0), of_all)
    with pytest.raises(ValueError, match="number=3 is none of the samples: 0, 1, 2"):
        measured[0].of_sample(3)
    with pytest.raises(TypeError, match=r"number=0\.5 must be an integer"):
        measured[0].of_sample(0.5)


def test_those_who_watch_see_pairs_of_all_temperatures():
    model, seen = build((4, 4)), []
    parallel_tempering(model, 3, watch=lambda model: seen.append(model.overlaps()))
    assert len(seen) == 3
    for each in seen:
        np.testing.assert_array_equal(each.beta, [*BETAS, *BETAS])


# ------------------------------------------------------------------------------ means over disorder


def test_means_over_disorder():
    """At infinite temperature overlaps are normal, but for 1 / N, and sites independent."""
    shape = (4, 4, 4)
    model = SpinGlass(shape, "pm", beta=[0.0, 1.5], samples=300, copies=4, update="heat-bath")
    model.step(60)
    measured = []
    for _ in range(4):
        model.step(5)
        measured.append(model.overlaps())
    hot, cold = summarise_overlaps(measured, shape)
    assert (hot.beta, hot.samples, cold.beta) == (0.0, 300, 1.5)

    def is_near(estimate, expected):
        return abs(estimate.value - expected) < 5 * estimate.error

    assert is_near(hot.squared_overlap, 1 / 64)
    assert is_near(hot.binder_ratio, 1 / 64)
    assert is_near(hot.link_overlap, 0)
    assert hot.squared_overlap.error == pytest.approx(2**0.5 / 64 / 2400**0.5, rel=0.3)
    assert cold.correlation_ratio.value > 0.3
    assert cold.binder_ratio.value > 0.3
    q = np.stack([each.overlap[each.beta == 1.5] for each in measured])
    assert cold.squared_overlap.value == pytest.approx((q**2).mean())
    assert cold.binder_ratio.value == pytest.approx((3 - (q**4).mean() / (q**2).mean() ** 2) / 2)


@pytest.mark.parametrize(
    "changes",
    [
        # Not as many pairs at each temperature; then not of each sample; then of another one.
        {"beta": np.repeat([0.2, 1.5], [6, 2]), "sample": np.repeat([0, 1], 4)},
        {"beta": np.tile([0.2, 1.5], 4), "sample": np.repeat([0, 1], [2, 6])},
        {"sample": np.repeat([0, 2], 4)},
        # In another order of each sample.
        {
            "beta": np.array([1.5, 1.5, 0.2, 0.2, 0.2, 0.2, 1.5, 1.5]),
            "sample": np.repeat([0, 1], 4),
        },
    ],
)
def test_means_are_of_as_many_pairs_at_each_temperature(changes):
    measured = build((4, 4), beta=[0.2, 1.5], copies=4).overlaps()
    assert summarise_overlaps([measured], (4, 4))[0].samples == 2
    other = replace(measured, **changes)
    with pytest.raises(ValueError, match="there must be as many at each of"):
        summarise_overlaps([measured, other], (4, 4))
    if changes["sample"].max() == 2:
        return  # of a model of other samples
    with pytest.raises(ValueError, match="there must be as many at each of"):
        summarise_overlaps([other], (4, 4))


# ---------------------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    ("beta", "message"),
    [
        # A beta of each replica: those of the first copies are 0.2 and 0.2.
        ([0.2, 1.0, 0.2, 1.0] * 2, "beta=0.2 twice among replicas that exchange"),
        ([0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 1.0, 1.0], "beta=0.2 twice"),
        ([0.2, 0.2, 1.0, 1.0, 0.2, 0.2, 0.9, 0.9], r"beta=\[0.2, 1.0\] and of beta=\[0.2, 0.9\]"),
    ],
)
def test_ladders_that_temper_nothing(beta, message):
    model = build((4, 4), beta=beta, replicas=8)
    with pytest.raises(ValueError, match=message):
        parallel_tempering(model, 3)
    assert model.updates == 0


def test_pairs_that_are_missing():
    model = SpinGlass((4, 4), beta=1.0)
    for call in (lambda: model.step(houdayer=True), lambda: model.updater(houdayer=True)):
        with pytest.raises(ValueError, match="houdayer=True needs two replicas of a sample"):
            call()
    with pytest.raises(ValueError, match=r"overlaps needs two replicas .* choose copies=2"):
        model.overlaps()
    with pytest.raises(ValueError, match="there must be two or more to exchange"):
        parallel_tempering(build((4, 4), beta=[1.0]), 1)
    with pytest.raises(TypeError, match="must be a Potts, Ising, XY or Heisenberg model"):
        parallel_tempering(Kawasaki(4, replicas=2), 1)
    with pytest.raises(ValueError, match="measured is empty"):
        summarise_overlaps([], (4, 4))


def test_overlaps_of_another_shape():
    measured = [SpinGlass((4, 4), beta=[0.5, 1.0], copies=2).overlaps()]
    with pytest.raises(ValueError, match=r"shape=\(4, 4, 4\) must have the axes of the model, 2"):
        summarise_overlaps(measured, (4, 4, 4))
