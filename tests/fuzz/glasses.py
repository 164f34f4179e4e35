"""Spin glasses: energies, overlaps, moves and trajectories against plain loops."""

import math
from functools import partial

import numpy as np

from conncomp import models

from .models import _drawn, _each, _items, _lattice, check_trajectory
from .target import assert_same


def spin_glass(choices):
    lengths = _lattice(choices, most_axes=4)
    drawn = _drawn(choices)
    rng = choices.generator()
    size = len(lengths), *lengths
    couplings = choices.pick(["pm", "gaussian", rng.integers(-2, 3, size), rng.normal(size=size)])
    options = {
        "shape": lengths,
        "couplings": couplings,
        "beta": _each(choices, [0.5, 0.0, 2.0, 1e6], drawn["replicas"]),
        "periodic": choices.pick([True, False]),
        "update": choices.pick(["metropolis", "heat-bath"]),
        "field": choices.pick([None, 0.5, rng.normal(size=lengths)]),
        **drawn,
    }
    if isinstance(couplings, str):
        options["dilution"] = choices.pick([0, 0.3])
    model = models.SpinGlass(**options)
    model.step(choices.below(3))
    spins = np.array(_items(model.spins, drawn["replicas"]), int)
    acting = model.couplings[0]
    if not isinstance(couplings, str):
        for axis in range(len(lengths)):
            ends = np.moveaxis(acting[axis], axis, 0)
            given = np.moveaxis(couplings[axis], axis, 0)
            inside = len(given) if options["periodic"] and len(given) > 1 else len(given) - 1
            assert np.allclose(ends[:inside], given[:inside], rtol=1e-7, atol=1e-7)
    wanted = [_energy(replica, acting, options["field"]) for replica in spins]
    energies = np.reshape(model.energy(), -1)
    if options["periodic"] and 1 in lengths:  # bonds with oneself do not act
        energies, wanted = energies - model._bonds.constant[0], np.array(wanted)
    assert np.allclose(energies, wanted, rtol=1e-6, atol=1e-6)
    assert np.allclose(np.reshape(model.magnetisation(), -1), spins.reshape(len(spins), -1).mean(1))
    check_trajectory(choices, models.SpinGlass, options, lambda model: [model.spins])
    if not isinstance(couplings, str) and len(lengths) < 4:
        _check_short_axis(rng, options)
    _check_pairs(choices, partial(models.SpinGlass, lengths, copies=2, beta=[0.4, 0.9], seed=3))


def _check_short_axis(rng, options):
    """Bonds of sites to themselves, of an axis of length 1 in front, change no spin."""
    lengths, couplings, field = (options[name] for name in ("shape", "couplings", "field"))
    loops = rng.normal(size=(1, 1, *lengths))
    beside = {**options, "shape": (1, *lengths)}
    beside["couplings"] = np.concatenate([loops, couplings[:, None]])
    beside["field"] = field if np.ndim(field) == 0 else field[None]
    plain, longer = (models.SpinGlass(**given) for given in (options, beside))
    for model in (plain, longer):
        model.step(3)
    assert_same(longer.spins.reshape(plain.spins.shape), plain.spins)
    constant = -loops.sum() if options["periodic"] else 0
    assert np.allclose(longer.energy(), plain.energy() + constant, rtol=1e-6, atol=1e-6)


def _energy(spins, couplings, field):
    bonds = sum((J * spins * np.roll(spins, -1, axis)).sum() for axis, J in enumerate(couplings))
    return -bonds - (0 if field is None else (field * spins).sum())


def _check_pairs(choices, make):
    model, sweeps = make(), make()
    updates = choices.below(3)
    for each in (model, sweeps):
        each.step(updates)
    overlaps, spins = model.overlaps(), model.spins.astype(int).reshape(4, -1)
    q = spins[::2] * spins[1::2]
    assert_same([overlaps.overlap], [q.mean(axis=1)])
    assert np.all(np.abs(overlaps.link_overlap[np.isfinite(overlaps.link_overlap)]) <= 1)
    model.step(houdayer=True)
    sweeps.step()
    # Sweeps go on from the same spins, and where replicas differ a move leaves as it is.
    before, after = (each.spins.astype(int).reshape(4, -1) for each in (sweeps, model))
    assert_same([after[::2] * after[1::2]], [before[::2] * before[1::2]])
    assert (
        (before != after).any(axis=1) == np.repeat((before[::2] != before[1::2]).any(1), 2)
    ).all()
    total = [np.reshape(each.energy(), (2, 2)).sum(axis=1) for each in (sweeps, model)]
    assert math.isclose(total[0].sum(), total[1].sum(), abs_tol=1e-6)
