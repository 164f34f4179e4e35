"""The Ising model on graphs, with couplings and fields: energies and clusters against sums."""

import numpy as np
from scipy.sparse import coo_array, csgraph

import conncomp
from conncomp import models

from .choices import Choices
from .models import _drawn, _each, _items, check_trajectory


def ising_graphs(data):
    choices = Choices(data)
    conncomp.set_num_threads(1 + choices.below(4))
    options, (u, v), couplings, fields = _options(choices)
    model = models.Ising(**options)
    replicas = options["replicas"]
    expected = _merged(u, v, couplings)
    assert model.edges.tolist() == [list(pair) for pair in expected]
    strengths = np.array(list(expected.values()))
    assert model.signs.tolist() == np.sign(strengths).tolist()
    ends = np.array(list(expected), int).reshape(-1, 2)
    rounding = 2.0**-28 * (np.abs(strengths).sum() + np.abs(fields).sum() + 1) * 8
    for wolff in (False, choices.flag()):
        spins = np.array(_items(model.spins, replicas), int).reshape(-1, model.sites)
        satisfied = strengths * spins[:, ends[:, 0]] * spins[:, ends[:, 1]]
        energies = -satisfied.sum(axis=1) - spins @ fields
        for found in (model.energy(), model.measure().energy):
            assert np.allclose(np.reshape(found, -1), energies, rtol=1e-7, atol=rounding)
        assert np.allclose(np.reshape(model.magnetisation(), -1), spins.mean(axis=1))
        bonds = np.array(_items(model.bonds(), replicas)).reshape(len(spins), -1)
        assert not (bonds & (satisfied < 0)).any()
        labels, counts = model.labels(return_num=True)
        sizes = _check_labels(np.reshape(labels, spins.shape), np.reshape(counts, -1), ends, bonds)
        measures = bool((strengths > 0).all()) and not fields.any()
        series = (model.wolff if wolff else model.swendsen_wang)(clusters=measures)
        if measures:
            largest = [max(each) for each in sizes]
            assert np.reshape(series.clusters[0], -1).tolist() == [len(each) for each in sizes]
            assert np.reshape(series.largest_cluster[0], -1).tolist() == largest
            assert np.reshape(series.active_bonds[0], -1).tolist() == bonds.sum(axis=1).tolist()
        assert np.allclose(np.reshape(series.energy[0], -1), energies, rtol=1e-7, atol=rounding)
        after = np.array(_items(model.spins, replicas), int).reshape(spins.shape)
        _check_flips(spins * after, np.reshape(labels, spins.shape), wolff)
    measured = float(np.ravel(model.energy())[0])
    rule = choices.pick(["metropolis", "heat_bath"])
    series = getattr(model, rule)()
    assert np.allclose(np.ravel(series.energy)[0], measured, rtol=1e-7, atol=rounding)
    check_trajectory(choices, models.Ising, options, lambda model: [model.spins])


def _options(choices):
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
    given = np.zeros(vertices) if fields is None else np.broadcast_to(fields, vertices)
    return options, (u, v), couplings, given


def _merged(u, v, couplings):
    """Return the couplings of pairs that are coupled, in order of pairs."""
    sums = {}
    for pair, coupling in zip(zip(u.tolist(), v.tolist(), strict=True), couplings, strict=True):
        sums[pair] = sums.get(pair, 0.0) + coupling
    return {pair: sums[pair] for pair in sorted(sums) if sums[pair] != 0}


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


def _check_flips(changed, labels, wolff):
    """Clusters change as a whole; of Wolff's update one does, or none."""
    for of_replica, clusters in zip(changed, labels, strict=True):
        flipped = [bool(of_replica[clusters == c][0] < 0) for c in np.unique(clusters)]
        for c, is_flipped in zip(np.unique(clusters), flipped, strict=True):
            assert ((of_replica[clusters == c] < 0) == is_flipped).all()
        assert not wolff or sum(flipped) <= 1
