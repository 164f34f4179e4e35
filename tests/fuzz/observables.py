"""What updates measure besides: structure factors and windings of any lattice, by definition."""

import numpy as np

from conncomp import models
from models.exact import phases_of
from models.percolation_reference import windings_of

from .models import _items
from .spins import random_options
from .target import assert_same


def observables(choices):
    options, _, _ = random_options(choices)
    model, replicas = models.Ising(**options), options["replicas"]
    waves = phases_of(model)
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
        assert_same((np.asarray(wraps), int(rank)), windings_of(model, bonds[k]))
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
