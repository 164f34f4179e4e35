"""A model of no physics, with whatever the protocol of models allows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from conncomp.models import ModelState


@dataclass(frozen=True)
class Mean:
    records: Any
    doubled: bool

    def observables(self):
        return {"mean": self.records[..., 0], "ticks": self.records[..., 1].astype(np.int64)}


class Drift:
    """Fields that drift by what a generator draws: float64 records, arrays of three dtypes."""

    device = "cpu"

    def __init__(self, replicas=2, seed=1, first_replica=0, speed=(1.0, 2.0)):
        self.replicas, self.seed, self.first_replica = replicas, seed, first_replica
        self.updates = 0
        self._field = np.zeros((replicas, 4, 5))
        self._counts = np.zeros(3, np.int16)
        self._flags = np.zeros((2, 0), bool)
        self._speed = np.array(speed)

    def step(self, n=1):
        update = self.updater()
        for _ in range(n):
            update(self.updates + 1)

    def measure(self):
        return Mean(self._record(), False)

    def labels(self, *, numbering="consecutive", return_num=False):
        raise NotImplementedError

    def parameters(self):
        shape = list(self._field.shape[1:])
        plain = {"model": "Drift", "shape": shape, "seed": self.seed, "replicas": self.replicas}
        return {**plain, "speed": self._speed.copy()}

    def state(self):
        arrays = self._field, self._counts, self._flags
        return ModelState(self.updates, tuple(array.copy() for array in arrays))

    def restore(self, state):
        self.updates = state.updates
        self._field, self._counts, self._flags = (array.copy() for array in state.arrays)

    def _record(self):
        means = self._field.mean(axis=(1, 2))
        return np.stack([means, np.full(len(means), float(self._counts[0]))], axis=-1)

    def updater(self, *, doubled=False):
        return DriftUpdate(self, doubled)

    def new_records(self, n):
        return np.zeros((n, self.replicas, 2))


class DriftUpdate:
    def __init__(self, model, doubled):
        self._model, self._doubled = model, doubled
        self.options = {"doubled": bool(doubled)}

    def __call__(self, number, record=None):
        model = self._model
        if record is not None:
            record[:] = model._record() * (1 + self._doubled)
        noise = np.random.default_rng((model.seed, number)).normal(size=model._field.shape)
        model._field = model._field + model._speed[:, None, None] * noise
        model._counts[0] += 1
        model.updates = number

    def read(self, records):
        return Mean(records, self._doubled)
