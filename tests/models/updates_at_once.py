"""Many updates of words of spins in one launch, beside those of the CPU, which go one by one."""

import numpy as np

from conncomp.models import Potts, simulate


def on_host(array):
    return array.get() if hasattr(array, "get") else array


def check_updates_at_once(engines, device, shape, q, periodic, replicas, beta=1.0):
    """Compare spins and records; `beta` is in units that suit the number of axes and of states."""
    beta *= {1: 1.5, 2: 0.9, 3: 0.5, 4: 0.35}[len(shape)] * np.log(1 + np.sqrt(q)) / 0.8814

    def made(where, **options):
        how = {"beta": beta, "periodic": periodic, "replicas": replicas, "seed": 4}
        model = Potts(shape, q, **how, device=where)
        assert where == "cpu" or isinstance(model._engine.sweeps, engines)
        model.step(3)
        run = simulate(model, 13, thermalise=2, **options)
        return on_host(model.spins), run.series.records

    for options in ({}, {"measure_every": 3}):
        for right, found in zip(made("cpu", **options), made(device, **options), strict=True):
            np.testing.assert_array_equal(found, right)
