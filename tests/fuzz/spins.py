"""Spins of all kinds, on lattices and graphs: energies, clusters and updates by plain arrays.

Spins are vectors here: those of the Ising model have one component, those of Potts' as many as
there are states, of which one is 1.
"""

import math

import numpy as np
from scipy.sparse import coo_array, csgraph

import conncomp
from conncomp import models
from conncomp.generate.random import philox
from conncomp.models import random_couplings, random_fields
from conncomp.models.places import HYPERCUBIC
from models.exact import bonds_by_edge, vectors_of

from ..cell_reference import bonds_of
from . import models_reference as reference
from .models import _drawn, _each, _lattice, check_short_axis, check_trajectory

BORDERS = {True: "periodic", False: "open", "antiperiodic": "antiperiodic"}
TOLERANCE = 1e-4  # sums of vectors are integers in units of 2**-28
UNIT = 2.0**-28  # of couplings and fields, relative to the largest one
COUPLING, FIELD = 26, 28


# ------------------------------------------------------------------------------------ the updates


def check_update(model, kind, strengths, fields, room, *, opposed=False):
    """Make an update; compare what it measures, and what it changes, with plain arrays.

    `strengths` are the couplings of `model.edges`; `room` is for rounding, relative to energies.
    Where bonds or borders are `opposed`, the Ising model measures no clusters.
    """
    (u, v), before = model.edges.T, vectors_of(model)
    products = (before[:, u] * before[:, v]).sum(axis=-1)
    energies = -products @ strengths - before[..., 0] @ fields
    room *= 1 + abs(strengths).sum() + abs(fields).sum()
    is_ising, is_potts = (isinstance(model, each) for each in (models.Ising, models.Potts))
    present = model.measure()
    for found in (model.energy(), present.energy):
        np.testing.assert_allclose(np.ravel(found), energies, atol=room)
    mean = before.mean(axis=1)
    if not is_potts:
        for found in (model.magnetisation(), present.magnetisation):
            np.testing.assert_allclose(np.reshape(found, mean.shape), mean, atol=TOLERANCE)
    active = bonds_by_edge(model)
    assert active.sum() == np.sum(model.bonds())  # none over an open border
    if is_ising:
        satisfied = products * strengths > 0
        chances = np.reshape(model.beta, (-1, 1)) * abs(strengths)
        assert not (active & ~(satisfied & (chances > 0))).any()
        assert active[satisfied & (chances >= 100)].all()
    labels, counts = model.labels(return_num=True)
    clusters = np.reshape(labels, before.shape[:2])
    sizes = _check_labels(clusters, np.ravel(counts), model.edges, active)
    mixed = is_potts and (strengths < 0).any()
    opposed |= bool((strengths < 0).any())
    alike = not fields.any() and not mixed and not (is_ising and opposed)
    measured = alike and kind in ("swendsen_wang", *(["wolff"] if is_ising else []))
    series = getattr(model, kind)(**({"clusters": True} if measured else {}))
    expected = {"energy": energies}
    if is_potts:
        expected["state_counts"] = mean * model.sites
    else:
        expected |= {"magnetisation": mean, "squared_magnetisation": (mean**2).sum(axis=-1)}
    if measured:
        expected |= {"active_bonds": active.sum(axis=1), "clusters": list(map(len, sizes))}
        expected["largest_cluster"] = list(map(max, sizes))
    if measured and is_ising:
        moments = np.array([reference.improved_moments(each, 2) for each in sizes])
        for k, name in enumerate(("squared", "fourth")):
            expected[f"improved_{name}_magnetisation"] = moments[:, k]
    if is_ising and len(set(abs(strengths))) == 1 and not fields.any():
        expected["satisfied_bonds"] = (products * strengths > 0).sum(axis=1)
    for name, values in expected.items():
        found = np.reshape(getattr(series, name)[0], np.shape(values))
        exact = is_ising and name != "energy"
        np.testing.assert_allclose(found, values, atol=1e-12 if exact else max(room, TOLERANCE))
    if kind in ("swendsen_wang", "wolff"):
        least = int(is_ising and not fields.any())
        for old, new, of_replica in zip(before, vectors_of(model), clusters, strict=True):
            check = _check_exchange if mixed else _check_clusters
            touched = check(old, new, of_replica, is_potts)
            assert kind != "wolff" or least <= len(touched) < 2


def _check_labels(labels, counts, ends, bonds):
    """Check clusters against components of active bonds; return their sizes."""
    sizes = []
    for of_replica, count, active in zip(labels, counts, bonds, strict=True):
        u, v = ends[active].T
        shape = (len(of_replica),) * 2
        known, expected = csgraph.connected_components(coo_array((u >= 0, (u, v)), shape), False)
        assert count == known
        # Both number components by their first vertices.
        assert of_replica.tolist() == (expected + 1).tolist()
        sizes.append(np.bincount(expected).tolist())
    return sizes


def _check_clusters(old, new, labels, of_states):
    """Clusters change as a whole, vectors by one mirror; return which do."""
    moved = new - old
    far = np.linalg.norm(moved, axis=-1)
    touched = np.unique(labels[far > 1e-3])
    if of_states:
        assert all(np.ptp(new[labels == k], axis=0).max() == 0 for k in touched)
    elif far.max() > 0.1:  # what is shorter says too little of the mirror
        normal = moved[far.argmax()] / far.max()
        reflected = old - 2 * np.outer(old @ normal, normal)
        for k in touched:
            np.testing.assert_allclose(new[labels == k], reflected[labels == k], atol=1e-3)
    return touched


def _check_exchange(old, new, labels, of_states):
    """Two states are exchanged, in clusters as wholes; return in which."""
    old, new = old.argmax(axis=-1), new.argmax(axis=-1)
    moved = old != new
    states = np.unique([old[moved], new[moved]])
    assert len(states) in (0, 2)
    assert (old[moved] + new[moved] == states.sum()).all()
    touched = np.unique(labels[moved])
    assert moved[np.isin(labels, touched)].all()
    return touched


def _read(model):
    return [model.spins, np.asarray(model.energy()), np.asarray(model.magnetisation())]


def _check_first(model, options, shape):
    """Check the shape of spins, their lengths, and those that are told."""
    spins, replicas, start = model.spins, options["replicas"], options["start"]
    assert spins.shape == (shape if replicas is None else (replicas, *shape))
    vectors = vectors_of(model)
    assert abs((vectors**2).sum(axis=-1) - 1).max() < TOLERANCE
    if isinstance(start, str):
        assert start == "hot" or (vectors[..., 0] == 1).all()
    else:
        start = np.reshape(start, (-1, *vectors.shape[1:]))
        unit = start / np.linalg.norm(start, axis=-1, keepdims=True)
        assert abs(vectors - unit).max() < TOLERANCE


# ------------------------------------------------------------------------------- Ising, on lattices


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
    """Return arguments of an Ising model, its cell, and the shape of its spins."""
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


def ising(choices):
    options, cell, shape = random_options(choices)
    model = models.Ising(**options)
    assert model.spins.dtype == np.int8
    _check_first(model, options, shape)
    borders = [BORDERS[border] for border in options["periodic"]]
    sign = 1 if options["coupling"] > 0 else -1
    expected = [(u, v, sign * s) for u, v, s, _ in bonds_of(cell, options["shape"], borders)]
    found = np.column_stack([model.edges, model.signs]).tolist()
    assert sorted(_sorted(*bond) for bond in found) == sorted(_sorted(*bond) for bond in expected)
    strengths = abs(options["coupling"]) * model.signs
    opposed = sign < 0 or "antiperiodic" in borders
    for _ in range(1 + choices.below(2)):
        kind = choices.pick(["swendsen_wang", "wolff"])
        check_update(model, kind, strengths, np.zeros(model.sites), 1e-12, opposed=opposed)
    if options["lattice"] in HYPERCUBIC:
        check_short_axis(choices, models.Ising, options, ["metropolis", "heat_bath"])
    check_trajectory(choices, models.Ising, options, _read)


def _sorted(u, v, sign):
    return min(u, v), max(u, v), sign


# --------------------------------------------------------------------------------- Ising, on graphs


def ising_graphs(choices):
    options, expected, fields = _graph_options(choices)
    model = models.Ising(**options)
    assert model.edges.tolist() == [list(pair) for pair in expected]
    strengths = np.array(list(expected.values()))
    assert model.signs.tolist() == np.sign(strengths).tolist()
    for kind in ("swendsen_wang", choices.pick(["swendsen_wang", "wolff"])):
        check_update(model, kind, strengths, fields, 8 * UNIT)
    check_update(model, choices.pick(["metropolis", "heat_bath"]), strengths, fields, 8 * UNIT)
    check_trajectory(choices, models.Ising, options, lambda model: [model.spins])


def _graph_options(choices):
    """Return arguments of a model, the couplings of its pairs, and its fields."""
    vertices, rng = 1 + choices.below(140), choices.generator()
    count = choices.pick([2 * vertices, 0, vertices // 2, 4 * vertices])
    u, v = rng.integers(0, vertices, (2, count))
    u, v = np.minimum(u, v)[u != v], np.maximum(u, v)[u != v]
    kind = choices.pick(["one", "many", "signs", "below"])
    couplings = {
        "one": np.ones(len(u)),
        "many": rng.normal(size=len(u)),
        "signs": rng.choice([-0.5, 0.0, 0.5], len(u)),
        "below": np.full(len(u), -2.0),
    }[kind]
    drawn = _drawn(choices)
    graph = conncomp.Graph.from_edges(u, v, vertices)
    order = np.arange(len(u))
    if choices.flag():  # rows, which the couplings follow
        order = np.argsort(u, kind="stable")
        graph = conncomp.Graph.from_csr(graph.indptr, graph.indices)
    fields = choices.pick([None, 0.5, rng.normal(size=vertices)])
    options = {
        "shape": graph,
        "beta": _each(choices, [0.4, 0.0, 0.2, 1.5, 400.0], drawn["replicas"]),
        "coupling": {"one": 1.0, "below": -2.0}.get(kind, couplings[order]),
        "field": fields,
        **drawn,
    }
    sums = {}
    for pair, coupling in zip(zip(u.tolist(), v.tolist(), strict=True), couplings, strict=True):
        sums[pair] = sums.get(pair, 0.0) + coupling
    merged = {pair: sums[pair] for pair in sorted(sums) if sums[pair] != 0}
    return options, merged, np.broadcast_to(0.0 if fields is None else fields, vertices)


# ----------------------------------------------------------------------------- vectors, on lattices


def vectors(choices):
    make = choices.pick([models.XY, models.Heisenberg])
    components = 2 if make is models.XY else 3
    lengths, drawn = _lattice(choices, most_axes=4), _drawn(choices)
    start = choices.pick(["hot", "cold", "given"])
    if start == "given":
        drawn["replicas"] = None  # a start of all replicas has an axis more than that of others
        start = choices.generator().normal(size=(*lengths, components))
    options = {
        "shape": lengths,
        "beta": _each(choices, [0.9, 0.0, 1e-9, 3.0, 400.0, 1e6], drawn["replicas"]),
        "coupling": choices.pick([1.0, -1.0, 0.5]),
        "periodic": [choices.flag() for _ in lengths],
        "start": start,
        **drawn,
    }
    model = make(**options)
    _check_first(model, options, (*lengths, components))
    bonds = bonds_of(models.lattices.LATTICES[HYPERCUBIC[len(lengths) - 1]], lengths,
                     [BORDERS[closed] for closed in options["periodic"]])  # fmt: skip
    pairs = sorted(tuple(sorted(ends)) for *ends, _, _ in bonds)
    assert sorted(tuple(sorted(ends)) for ends in model.edges.tolist()) == pairs
    strengths = np.full(len(pairs), options["coupling"])
    for _ in range(1 + choices.below(2)):
        kind = choices.pick(["swendsen_wang", "wolff"])
        check_update(model, kind, strengths, np.zeros(model.sites), TOLERANCE)
    check_short_axis(choices, make, options, ["metropolis"])
    check_trajectory(choices, make, options, _read)


# -------------------------------------------------------------------------- any spins, on any bonds


def spins_on_edges(choices):
    make = choices.pick([models.Clock, models.ON, models.Heisenberg, models.XY, models.Potts])
    options, fields = _options(choices, make)
    model = make(**options)
    strengths = np.broadcast_to(options["coupling"], len(model.edges))
    kinds = ["swendsen_wang", "wolff", "metropolis"] + ["heat_bath"] * (make is models.Potts)
    for kind in ("swendsen_wang", choices.pick(kinds)):
        check_update(model, kind, strengths, fields, TOLERANCE)
    check_trajectory(choices, make, options, lambda model: [model.spins])


def _options(choices, make):
    drawn, rng = _drawn(choices), choices.generator()
    own = {
        models.Clock: {"q": choices.pick([2, 3, 6, 100])},
        models.ON: {"n": choices.pick([4, 5, 8])},
        models.Potts: {"q": choices.pick([3, 2, 20])},
    }.get(make, {})
    if choices.flag():
        lattice = choices.pick(["triangular", "kagome", "honeycomb"])
        place = {
            "shape": (choices.pick([3, 1, 2, 4]), choices.pick([3, 1, 2])),
            "lattice": lattice,
            "coupling": 1.0,
        }
        sites = len(models.Ising(place["shape"], lattice=lattice, beta=1.0).coordinates)
    else:
        sites = 2 + choices.below(100)
        u, v = np.unique(np.sort(rng.integers(0, sites, (2 * sites, 2))), axis=0).T
        graph = conncomp.Graph.from_edges(u[u != v], v[u != v], sites)
        place = {"shape": graph, "coupling": _couplings(choices, graph.num_arcs)}
    fields = np.zeros(sites)
    if choices.flag():
        seed, sample = choices.pick([0, 2**64 - 1, 7]), choices.pick([0, 2**24 - 1])
        fields = random_fields(sites, "pm", seed=seed, sample=sample)
        _check_signs(fields, FIELD, seed, sample)
        own["field"] = fields.reshape(sites) if "lattice" not in place else None
        if own["field"] is None:
            own["field"], fields = 0.5, np.full(sites, 0.5)
    beta = _each(choices, [0.9, 0.0, 0.3, 3.0, 400.0], drawn["replicas"])
    return {**place, **own, "beta": beta, **drawn}, fields


def _couplings(choices, count):
    kind = choices.pick(["one", "signs", "many"])
    if kind == "one":
        return 1.0
    seed, sample = choices.pick([0, 2**64 - 1, 7]), choices.pick([0, 2**24 - 1])
    if kind == "signs":
        couplings = random_couplings(count, seed=seed, sample=sample)
        _check_signs(couplings, COUPLING, seed, sample)
    else:
        couplings = random_couplings(count, "gaussian", seed=seed, sample=sample)
    return couplings * choices.pick([1, -1])


def _check_signs(signs, purpose, seed, sample):
    index = np.arange(len(signs), dtype=np.uint64), sample << 8
    high = philox(seed, (*index, 0, purpose))[1]
    assert signs.tolist() == np.where(np.asarray(high) >> 31 == 1, 1.0, -1.0).tolist()
