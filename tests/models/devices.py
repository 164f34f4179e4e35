"""Models on a GPU beside those of the CPU, which go the same way."""

import numpy as np

from conncomp.models import simulate

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


def both(device, make, *given, **arguments):
    """Return two models with the same parameters, on the CPU and on a device."""
    return [make(*given, **arguments, device=place) for place in ("cpu", device)]


def equal_steps(models, *numbers):
    """Assert that models are in the same state, and measure the same, after some updates each."""
    for number in numbers:
        for model in models:
            model.step(number)
        for one, other in zip(*(model.state().arrays for model in models), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(*(model.measure().records for model in models))


def check_updates_at_once(taken, models, *wanted):
    """Hold updates of an engine that is `taken` against the CPU's."""
    assert taken(models[1]._engine)
    start = models[0].state()
    for options in wanted or ({}, {"measure_every": 3}):
        for model in models:
            model.restore(start)
        equal_steps(models, 3)
        runs = [simulate(model, 13, thermalise=2, **options) for model in models]
        np.testing.assert_array_equal(*(run.series.records for run in runs))
        equal_steps(models, 0)
