"""Vectors and Potts' states on graphs and lattices: energies and clusters against sums."""

import numpy as np

import conncomp
from conncomp import models
from conncomp.generate.random import philox
from conncomp.models import random_couplings, random_fields

from .choices import Choices
from .ising_graphs import _check_labels
from .models import _drawn, _each, _items, check_trajectory

TOLERANCE = 1e-4  # sums of vectors are integers in units of 2**-28
COUPLING, FIELD = 26, 28


def spins_on_edges(data):
    choices = Choices(data)
    conncomp.set_num_threads(1 + choices.below(4))
    make = choices.pick([models.Clock, models.ON, models.Heisenberg, models.XY, models.Potts])
    options, fields = _options(choices, make)
    model = make(**options)
    replicas, couplings = options["replicas"], options["coupling"]
    ends = model.edges
    strengths = np.full(len(ends), couplings) if np.ndim(couplings) == 0 else couplings
    kinds = ["swendsen_wang", "wolff", "metropolis"] + ["heat_bath"] * (make is models.Potts)
    mixed = make is models.Potts and bool((strengths < 0).any())
    for kind in ("swendsen_wang", choices.pick(kinds)):
        before = _vectors(model, replicas)
        products = (before[:, ends[:, 0]] * before[:, ends[:, 1]]).sum(axis=-1)
        energies = -products @ strengths - before[..., 0] @ fields
        room = TOLERANCE * (1 + abs(strengths).sum() + abs(fields).sum())
        assert np.allclose(np.reshape(model.energy(), -1), energies, atol=room)
        bonds = np.array(_items(model.bonds(), replicas)).reshape(len(before), -1)
        labels, counts = model.labels(return_num=True)
        clusters = np.reshape(labels, (len(before), model.sites))
        sizes = _check_labels(clusters, np.reshape(counts, -1), ends, bonds)
        measured = kind == "swendsen_wang" and not fields.any() and not mixed
        asked = {"clusters": True} if measured else {}
        series = getattr(model, kind)(**asked)
        assert np.allclose(np.reshape(series.energy[0], -1), energies, atol=room)
        _check_means(series, before, make)
        if measured:
            assert np.reshape(series.active_bonds[0], -1).tolist() == bonds.sum(axis=1).tolist()
            assert np.reshape(series.clusters[0], -1).tolist() == [len(each) for each in sizes]
            assert np.reshape(series.largest_cluster[0], -1).tolist() == list(map(max, sizes))
        after = _vectors(model, replicas)
        if kind not in ("swendsen_wang", "wolff"):
            continue
        if mixed:
            _check_exchanges(before, after, clusters, kind)
        else:
            _check_clusters(before, after, clusters, kind, make is models.Potts)
    check_trajectory(choices, make, options, lambda model: [model.spins])


def _vectors(model, replicas):
    """Return spins as vectors, of Potts unit ones of as many components as there are states."""
    spins = np.array(_items(model.spins, replicas))
    if isinstance(model, models.Potts):
        return np.eye(model.lattice.states)[spins.reshape(len(spins), model.sites)]
    return spins.reshape(len(spins), model.sites, -1)


def _check_means(series, before, make):
    mean = before.mean(axis=1)
    if make is models.Potts:
        assert np.allclose(np.reshape(series.state_counts[0], mean.shape), mean * before.shape[1])
    else:
        assert np.allclose(np.reshape(series.magnetisation[0], mean.shape), mean, atol=TOLERANCE)


def _check_clusters(before, after, labels, kind, of_states):
    """Clusters change as a whole, vectors by one mirror; of Wolff's update one does, or none."""
    for old, new, of_replica in zip(before, after, labels, strict=True):
        moved = new - old
        far = np.linalg.norm(moved, axis=-1)
        touched = np.unique(of_replica[far > 1e-3])
        assert kind != "wolff" or len(touched) < 2
        if of_states:
            assert all(np.ptp(new[of_replica == k], axis=0).max() == 0 for k in touched)
        elif far.max() > 0.1:  # what is shorter says too little of the mirror
            normal = moved[far.argmax()] / far.max()
            reflected = old - 2 * np.outer(old @ normal, normal)
            assert all(
                np.allclose(*(x[of_replica == k] for x in (new, reflected)), atol=1e-3)
                for k in touched
            )


def _check_exchanges(before, after, labels, kind):
    """Two states are exchanged, in clusters as wholes; of Wolff's update in one, or in none."""
    for old, new, of_replica in zip(before, after, labels, strict=True):
        old, new = old.argmax(axis=-1), new.argmax(axis=-1)
        moved = old != new
        states = np.unique([old[moved], new[moved]])
        assert len(states) in (0, 2)
        assert (old[moved] + new[moved] == states.sum()).all()
        touched = np.unique(of_replica[moved])
        assert kind != "wolff" or len(touched) < 2
        assert moved[np.isin(of_replica, touched)].all()


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
