"""Models on a GPU beside those of the CPU, which go the same way."""

import numpy as np

from conncomp.models import Potts, simulate

DEVICES = ["cpu", "cuda"]


def on_host(array):
    """Return an array of whichever device in main memory."""
    return array.get() if hasattr(array, "get") else array


def equal_trajectories(models, updates):
    """Assert that models have the same records and spins after each of some updates."""
    for name, number, options in updates:
        records = [getattr(model, name)(number, **options).records for model in models]
        spins = [on_host(model.spins) for model in models]
        for k in range(1, len(models)):
            np.testing.assert_array_equal(records[k], records[0])
            np.testing.assert_array_equal(spins[k], spins[0])


def check_updates_at_once(taken, device, shape, q, periodic, replicas, beta=1.0):
    """Hold updates of an engine against the CPU's; `beta` suits the number of axes and states."""
    beta *= {1: 1.5, 2: 0.9, 3: 0.5, 4: 0.35}[len(shape)] * np.log(1 + np.sqrt(q)) / 0.8814

    def made(where, **options):
        how = {"beta": beta, "periodic": periodic, "replicas": replicas, "seed": 4}
        model = Potts(shape, q, **how, device=where)
        assert where == "cpu" or taken(model._engine)
        model.step(3)
        run = simulate(model, 13, thermalise=2, **options)
        return on_host(model.spins), run.series.records

    for options in ({}, {"measure_every": 3}):
        for right, found in zip(made("cpu", **options), made(device, **options), strict=True):
            np.testing.assert_array_equal(found, right)
