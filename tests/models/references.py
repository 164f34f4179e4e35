"""A reference of each model of spins, and updates held against it, bit for bit."""

from functools import partial

import numpy as np

from conncomp import Graph
from conncomp.models import ON, Ising, Potts
from models.devices import on_host
from models.edges_reference import (
    ReferenceCells,
    ReferenceEdges,
    ReferenceStates,
    ReferenceTwoStates,
)
from models.exact import bonds_by_edge, bonds_of, vectors_of
from models.vector_reference import ReferenceEdgeVectors, ReferenceVectors

RULES = "metropolis", "heat-bath"


def raw(model):
    """Return the spins of each replica: states, or the integers that vectors are."""
    if isinstance(model, (Ising, Potts)):
        return on_host(model.spins).reshape(model.replicas, -1).tolist()
    spins = on_host(model.state().arrays[1])
    if spins.ndim == 3 and isinstance(model, ON):
        return [[tuple(map(int, spin)) for spin in replica] for replica in spins]
    return spins.reshape(model.replicas, -1).tolist()


def references_of(model):
    """Return a reference of each replica of a model, at its spins."""
    couplings, fields = bonds_of(model)
    if isinstance(model, Ising) and model._layout.edges is None:
        kind = partial(ReferenceCells, model)
    elif isinstance(model, (Ising, Potts)):
        kind = ReferenceEdges
        if isinstance(model, Potts):
            kind = ReferenceTwoStates if (couplings < 0).any() else ReferenceStates
            kind = partial(kind, model.lattice.states)
        ends = zip(*model.edges.T.tolist(), couplings.tolist(), strict=True)
        kind = partial(kind, list(ends), fields)
    elif model._layout.edges is None:
        kind = partial(ReferenceVectors, model)
    else:
        own = {name: getattr(model, name) for name in ("q", "n") if hasattr(model, name)}
        cold = type(model)(Graph.from_edges([], [], 1), beta=1.0, start="cold", **own)
        kind = partial(ReferenceEdgeVectors, model, raw(cold)[0][0])
    betas, first = np.broadcast_to(model.beta, model.replicas), model.first_replica
    references = [
        kind(beta, model.seed, first + k, spins)
        for k, (beta, spins) in enumerate(zip(betas.tolist(), raw(model), strict=True))
    ]
    if isinstance(model, (Ising, Potts)):
        # A site of rows that are no multiples of 64 is a bit further on.
        row, place = model._layout.words.shape[-1], np.arange(model.sites)
        for reference in references:
            reference.bits = (place // row * (-(-row // 64) * 64) + place % row).tolist()
    return references


def check_labels(labels, roots, counts, references):
    """Hold labels against the clusters of references, which are in the order of lowest sites."""
    for k, reference in enumerate(references):
        expected = np.zeros((2, len(reference.spins)), int)
        for number, (root, cluster) in enumerate(reference.clusters.items(), 1):
            expected[:, cluster] = [[number], [root]]
        shape = len(references), -1
        np.testing.assert_array_equal(labels.reshape(shape)[k], expected[0])
        np.testing.assert_array_equal(roots.reshape(shape)[k], expected[1])
        assert counts[k] == len(reference.clusters)


def check_updates(model, updates=("swendsen-wang", "swendsen-wang", "wolff")):
    """Hold updates of all replicas, and what is measured of clusters, against references."""
    references, (couplings, fields) = references_of(model), bonds_of(model)
    of_states, tied = isinstance(model, (Ising, Potts)), fields.any()
    alike = not tied and not (of_states and (couplings < 0).any())
    allowed = {"rtol": 1e-7, "atol": 1e-7}
    if not of_states:
        allowed = {"atol": 2e-5 * abs(np.concatenate([couplings, fields, [0]])).max()}
    for update in updates:
        local, wolff, vectors = update in RULES, update == "wolff", vectors_of(model)
        products = (vectors[:, model.edges[:, 0]] * vectors[:, model.edges[:, 1]]).sum(axis=-1)
        energies = -products @ couplings - vectors[..., 0] @ fields
        np.testing.assert_allclose(np.ravel(model.energy()), energies, **allowed)
        measured = alike and not local and (of_states or not wolff)
        if not local:
            active = bonds_by_edge(model).sum(axis=1).tolist()
            labels, counts = model.labels(return_num=True)
            roots = on_host(model.labels(numbering="roots"))
        options = {"clusters": True} if measured else {}
        series = getattr(model, update.replace("-", "_"))(**options)
        np.testing.assert_allclose(np.ravel(series.energy), energies, **allowed)
        if not of_states:
            mean = vectors.mean(axis=1)
            np.testing.assert_allclose(series.magnetisation[0], mean, atol=1e-5)
        if local:
            for reference in references:
                reference.sweep(update)
        else:
            found = [reference.update(wolff) for reference in references]
            assert active == [number for number, _ in found]
            sizes = [each for _, each in found]
            check_labels(on_host(labels), roots, np.ravel(on_host(counts)), references)
        assert raw(model) == [list(reference.spins) for reference in references]
        if measured:
            assert np.ravel(series.active_bonds).tolist() == active
            assert np.ravel(series.clusters).tolist() == list(map(len, sizes))
            assert np.ravel(series.largest_cluster).tolist() == [each[-1] for each in sizes]
            improved = [reference.improved for reference in references]
            if None not in improved:
                found = np.ravel(series.improved_squared_magnetisation)
                np.testing.assert_allclose(found, improved)
