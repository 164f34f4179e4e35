"""Spins that are vectors: energies, clusters and updates against plain arrays."""

import numpy as np

import conncomp
from conncomp import models

from ..reference import label_by_bonds, number_items
from .choices import Choices
from .models import _drawn, _each, _items, _lattice, check_short_axis, check_trajectory
from .target import assert_same

TOLERANCE = 1e-4  # sums are of integers in units of 2**-28


def vectors(data):
    choices = Choices(data)
    conncomp.set_num_threads(1 + choices.below(4))
    make = choices.pick([models.XY, models.Heisenberg])
    options = _options(choices, 2 if make is models.XY else 3)
    model = make(**options)
    _check_first(model, options)
    for _ in range(1 + choices.below(2)):
        _check_update(choices, model, options)
    check_short_axis(choices, make, options, ["metropolis"])

    def read(model):
        return [model.spins, np.asarray(model.energy()), np.asarray(model.magnetisation())]

    check_trajectory(choices, make, options, read)


def _options(choices, components):
    lengths, drawn = _lattice(choices, most_axes=4), _drawn(choices)
    start = choices.pick(["hot", "cold", "given"])
    if start == "given":
        drawn["replicas"] = None  # a start of all replicas has an axis more than that of others
        start = choices.generator().normal(size=(*lengths, components))
    return {
        "shape": lengths,
        "beta": _each(choices, [0.9, 0.0, 1e-9, 3.0, 400.0, 1e6], drawn["replicas"]),
        "coupling": choices.pick([1.0, -1.0, 0.5]),
        "periodic": [choices.flag() for _ in lengths],
        "start": start,
        **drawn,
    }


def _check_first(model, options):
    spins, start = model.spins, options["start"]
    assert spins.shape[-len(options["shape"]) - 1 : -1] == options["shape"]
    assert abs((spins**2).sum(axis=-1) - 1).max() < TOLERANCE
    if isinstance(start, str):
        assert start == "hot" or (spins[..., 0] == 1).all()
    else:
        unit = start / np.linalg.norm(start, axis=-1, keepdims=True)
        assert abs(spins - unit).max() < TOLERANCE


def _products(spins, options):
    """Return the products of the spins that bonds join, and where there are bonds, by axis."""
    products, there = [], []
    for axis, closed in enumerate(options["periodic"]):
        products.append((spins * np.roll(spins, -1, axis)).sum(axis=-1))
        exists = np.ones(options["shape"], bool)
        if not closed:
            np.moveaxis(exists, axis, 0)[-1] = False
        there.append(exists)
    return np.array(products), np.array(there)


def _check_update(choices, model, options):
    """Make an update, and compare what it measured, and what it changed, with plain arrays."""
    replicas, wolff = options["replicas"], choices.flag()
    before, present = _items(model.spins, replicas), _items(model.measure().energy, replicas)
    drawn = _items(model.bonds(), replicas, axis=1)
    labels, counts = model.labels(return_num=True)
    labels, counts = _items(labels, replicas), np.reshape(counts, -1)
    rows = (model.wolff() if wolff else model.swendsen_wang(clusters=True)).observables()
    rows = {name: _items(values[0], replicas) for name, values in rows.items()}
    for k, (spins, after) in enumerate(zip(before, _items(model.spins, replicas), strict=True)):
        products, there = _products(spins, options)
        assert not (drawn[k] & ~there).any()
        energy = -options["coupling"] * products[there].sum()
        mean = spins.reshape(-1, spins.shape[-1]).mean(axis=0)
        expected = {
            "energy": energy,
            "magnetisation": mean,
            "squared_magnetisation": (mean**2).sum(),
        }
        right, number = number_items(label_by_bonds(drawn[k], options["periodic"]))
        assert_same((labels[k], counts[k]), (right, number))
        sizes = np.bincount(right.ravel())[1:]
        expected |= {"active_bonds": drawn[k].sum(), "clusters": number}
        expected["largest_cluster"] = sizes.max()
        for name in expected.keys() & rows.keys():
            np.testing.assert_allclose(rows[name][k], expected[name], atol=TOLERANCE)
        np.testing.assert_allclose(present[k], energy, atol=TOLERANCE)
        changed = (abs(spins - after) > 1e-3).any(axis=-1)
        touched = np.unique(right[changed])
        assert not wolff or len(touched) < 2
        # Spins in a cluster that is reflected move along one line.
        moved = (after - spins)[np.isin(right, touched)]
        assert np.linalg.matrix_rank(moved, tol=1e-3) < 2
