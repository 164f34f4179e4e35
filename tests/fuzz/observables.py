"""What updates measure besides: structure factors and windings of any lattice, by definition."""

import numpy as np

import conncomp
from conncomp import models

from ..winding_search import hermite
from .choices import Choices
from .ising import random_options
from .models import _items
from .target import assert_same


def observables(data):
    choices = Choices(data)
    conncomp.set_num_threads(1 + choices.below(4))
    options, _, _ = random_options(choices)
    model, replicas = models.Ising(**options), options["replicas"]
    waves = _waves(model)
    alike = options["coupling"] > 0 and "antiperiodic" not in options["periodic"]
    how = {"wrapping": True, "clusters": alike} | ({"observe": "structure"} if waves else {})
    model.step(choices.below(3))
    count = 1 if replicas is None else replicas
    spins = np.reshape(model.spins, (count, -1)).astype(int)
    bonds = np.reshape(model.bonds(), (count, -1))
    labels = np.reshape(model.labels(numbering="roots"), (count, -1))
    series = model.swendsen_wang(**how)
    for k, (wraps, rank) in enumerate(
        zip(_items(series.wraps[0], replicas), _items(series.rank[0], replicas), strict=True)
    ):
        assert_same((np.asarray(wraps), int(rank)), _windings(model, bonds[k]))
    for axis, wave in waves.items():
        found = np.reshape(series.structure[0], (count, -1))[:, axis]
        expected = abs(spins @ wave) ** 2 / model.sites
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
        if not alike:
            continue
        found = np.reshape(series.improved_structure[0], (count, -1))[:, axis]
        for replica in range(count):
            sums = np.zeros(model.sites, complex)
            np.add.at(sums, labels[replica], wave)
            by_clusters = (abs(sums) ** 2).sum() / model.sites
            np.testing.assert_allclose(found[replica], by_clusters, rtol=1e-3, atol=1e-6)


def _waves(model):
    """Return exp(i k.r) of each site, by axes that have a smallest wave vector."""
    cells, reciprocal = model._place.cells, np.linalg.inv(np.array(model.cell.vectors))
    closed = zip(cells.shape, cells.periodic, cells.antiperiodic, strict=True)
    return {
        axis: np.exp(2j * np.pi * (model.coordinates @ reciprocal[:, axis]) / length)
        for axis, (length, is_closed, turns) in enumerate(closed)
        if length > 1 and is_closed and not turns
    }


def _windings(model, active):
    """Return along which axes a cluster wraps, and the highest rank, by displacements."""
    periods, beside = model._place.cells.windings(), [[] for _ in range(model.sites)]
    for bond in np.flatnonzero(active):
        (u, v), far = model.edges[bond], periods[bond]
        beside[u].append((v, far))
        beside[v].append((u, -far))
    axes, rank, at = np.zeros(periods.shape[1], bool), 0, {}
    for first in range(model.sites):
        if first in at:
            continue
        at[first], waiting, vectors = 0 * periods[0] if len(periods) else 0, [first], []
        while waiting:
            site = waiting.pop()
            for to, far in beside[site]:
                if to in at:
                    vectors.append((at[site] + far - at[to]).tolist())
                else:
                    at[to] = at[site] + far
                    waiting.append(to)
        basis = np.array(hermite(vectors, len(axes))).any(axis=1)
        rank = max(rank, int(basis.sum()))
        axes |= np.any([*vectors, 0 * axes], axis=0).astype(bool)
    return axes, rank
