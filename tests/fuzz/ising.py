"""The Ising model on any lattice: bonds, energies, clusters and updates against plain loops."""

import math

import numpy as np
from scipy.sparse import coo_array, csgraph

import conncomp
from conncomp import models
from conncomp.models.places import HYPERCUBIC

from ..cell_reference import bonds_of
from ..reference import number_items
from . import models_reference as reference
from .choices import Choices
from .models import _drawn, _each, _items, check_short_axis, check_trajectory
from .target import assert_same

BORDERS = {True: "periodic", False: "open", "antiperiodic": "antiperiodic"}


def _cell(choices):
    """Return a name, or a cell of a few random bonds."""
    name = choices.pick([*models.lattices.LATTICES, None])
    if name is not None and choices.flag():
        return name
    axes, sites, rng = 1 + choices.below(2), 1 + choices.below(4), choices.generator()
    ends = rng.integers(0, sites, (4, 2)).tolist()
    steps = rng.integers(-1, 2, (4, axes)).tolist()
    bonds = {}
    for (start, end), step in zip(ends, steps, strict=True):
        if start != end or any(step):
            both = (start, end, tuple(step)), (end, start, tuple(-n for n in step))
            bonds[min(both)] = max(both)
    return models.UnitCell(np.eye(axes), rng.random((sites, axes)), list(bonds.values()))


def random_options(choices):
    """Return arguments of a model, its cell, and the shape of its spins."""
    lattice = _cell(choices)
    cell = models.lattices.LATTICES[lattice] if isinstance(lattice, str) else lattice
    lengths, drawn = [], _drawn(choices)
    for _ in cell.vectors:
        longest = max(1, 160 // math.prod(lengths) // len(cell.sites))
        lengths.append(min(choices.pick([3, 1, 2, 4, 5, 22, 33, 64, 65, 130]), longest))
    options = {
        "shape": tuple(lengths),
        "lattice": lattice,
        "beta": _each(choices, [0.4, 0.0, 0.2, 1.5, 400.0], drawn["replicas"]),
        "coupling": choices.pick([1.0, -1.0, 0.5, -2.0]),
        "periodic": [choices.pick(list(BORDERS)) for _ in lengths],
        **drawn,
    }
    sites = (*lengths, len(cell.sites)) if len(cell.sites) > 1 else tuple(lengths)
    start = choices.pick(["hot", "cold", "given"])
    if start == "given":
        given = sites if drawn["replicas"] is None else (drawn["replicas"], *sites)
        start = choices.generator().choice([-1, 1], given).astype(choices.pick("ibq"))
    return options | {"start": start}, cell, sites


def ising(data):
    choices = Choices(data)
    conncomp.set_num_threads(1 + choices.below(4))
    options, cell, shape = random_options(choices)
    model = models.Ising(**options)
    _check_first(model, options, shape)
    bonds = _check_bonds(model, cell, options)
    for _ in range(1 + choices.below(2)):
        _check_update(choices, model, options, bonds)
    if options["lattice"] in HYPERCUBIC:
        check_short_axis(choices, models.Ising, options, ["metropolis", "heat_bath"])

    def read(model):
        return [model.spins, np.asarray(model.energy()), np.asarray(model.magnetisation())]

    check_trajectory(choices, models.Ising, options, read)


def _check_first(model, options, shape):
    spins = model.spins
    replicas, start = options["replicas"], options["start"]
    assert spins.shape == (shape if replicas is None else (replicas, *shape))
    assert spins.dtype == np.int8
    assert (abs(spins) == 1).all()
    assert isinstance(start, str) or (spins == start).all()
    assert not isinstance(start, str) or start == "hot" or (spins == 1).all()


def _check_bonds(model, cell, options):
    """Return the ends of bonds, and the signs of their couplings."""
    borders = [BORDERS[border] for border in options["periodic"]]
    sign = 1 if options["coupling"] > 0 else -1
    expected = [(u, v, sign * s) for u, v, s, _ in bonds_of(cell, options["shape"], borders)]
    bonds = np.column_stack([model.edges, model.signs]).tolist()
    assert sorted(_sorted(*bond) for bond in bonds) == sorted(_sorted(*bond) for bond in expected)
    return np.array(bonds, int).reshape(-1, 3)


def _sorted(u, v, sign):
    return min(u, v), max(u, v), sign


def _check_update(choices, model, options, bonds):
    """Make an update, and compare what it measured, and what it changed, with plain arrays."""
    replicas, (u, v, signs) = options["replicas"], bonds.T
    strengths = abs(options["coupling"]) * np.broadcast_to(options["beta"], replicas or 1)
    wolff = choices.flag()
    alike = options["coupling"] > 0 and "antiperiodic" not in options["periodic"]
    before = np.array(_items(model.spins, replicas), int).reshape(len(strengths), -1)
    drawn = np.array(_items(model.bonds(), replicas))
    labels, counts = model.labels(return_num=True)
    labels = np.reshape(labels, before.shape)
    present = _items(model.measure().energy, replicas)
    update = model.wolff if wolff else model.swendsen_wang
    rows = update(clusters=alike).observables()
    rows = {name: _items(values[0], replicas) for name, values in rows.items()}
    after = np.array(_items(model.spins, replicas), int).reshape(before.shape)
    for k, spins in enumerate(before):
        satisfied = signs * spins[u] * spins[v] > 0
        active = drawn[k]
        assert not (active & ~satisfied).any()
        assert strengths[k] or not active.any()
        assert strengths[k] < 100 or (active == satisfied).all()
        roots = _roots(len(spins), u[active], v[active])
        sizes = reference.cluster_sizes(roots)
        assert_same(
            (labels[k], np.reshape(counts, -1)[k]),
            (number_items(roots)[0], len(sizes)),
        )
        energy = -abs(options["coupling"]) * (signs * spins[u] * spins[v]).sum()
        states = [int((spins == s).sum()) for s in (1, -1)]
        expected = {
            "satisfied_bonds": satisfied.sum(),
            "energy": energy,
            "magnetisation": reference.magnetisation(states),
            "active_bonds": active.sum(),
        }
        if alike:
            squares, fourths = reference.improved_moments(sizes, 2)
            expected |= {"clusters": len(sizes), "largest_cluster": max(sizes)}
            expected["improved_squared_magnetisation"] = squares
            expected["improved_fourth_magnetisation"] = fourths
        for name in expected.keys() & rows.keys():
            np.testing.assert_allclose(rows[name][k], expected[name], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(present[k], energy)
        changed = spins != after[k]
        assert reference.is_function_of(changed, roots)
        assert not wolff or len(np.unique(roots[changed])) == 1


def _roots(sites, u, v):
    """Return the first site of the cluster of each."""
    graph = coo_array((np.ones(len(u)), (u, v)), (sites, sites))
    labels = csgraph.connected_components(graph, directed=False)[1]
    _, first, of_sites = np.unique(labels, return_index=True, return_inverse=True)
    return first[of_sites]
