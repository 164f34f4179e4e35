"""The kinds of updates of spins that are vectors."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conncomp.models.potts.updates import make_at_once
from conncomp.models.protocol import make_each
from conncomp.models.vectors.measurements import VectorMeasurements

UPDATES = ("swendsen-wang", "wolff", "metropolis")


class Vectors(Protocol):
    """What an update has to do with of a model."""

    updates: int
    _engine: Any
    _spins: Any
    _new_spins: Any

    def _strengths(self) -> Any: ...
    def _local_engine(self) -> tuple[Any, Any]: ...
    def _series(self, records: NDArray[np.int64], clusters: bool) -> VectorMeasurements: ...
    def _as_series(self, records: NDArray[np.int64]) -> NDArray[np.int64]: ...


class ClusterUpdate:
    """Reflects clusters in a mirror that is drawn: each with probability one half, or one of them.

    Parameters
    ----------
    model : Vectors
    update : {"swendsen-wang", "wolff"}
    clusters : bool
        Whether to measure them.

    Attributes
    ----------
    options : dict
        Which kind it is, as JSON has it.
    """

    def __init__(self, model: Vectors, update: str, clusters: bool) -> None:
        self._model, self._clusters, self._one = model, clusters, update == "wolff"
        self.options: dict[str, Any] = {"update": update, "clusters": clusters}
        self._strengths = model._strengths()

    def __call__(self, number: int, record: Any = None) -> None:
        """Make the update of this number, and measure into a record unless that is None."""
        self.repeat(range(number, number + 1), None if record is None else record[np.newaxis])

    def repeat(self, numbers: range, records: Any = None, every: int = 1) -> None:
        """Make updates, of which the first of each `every` measures into the next record."""
        model = self._model
        # Only engines of lattices on a GPU have them, and only of small ones.
        sweeps = getattr(model._engine, "sweeps", None)
        if sweeps is None:
            make_each(self._change, numbers, records, every)
            return

        def sweep(numbers: range, records: Any, before: int) -> None:
            how = {"every": every, "one": self._one, "clusters": self._clusters}
            model._new_spins[...] = model._spins
            sweeps.sweep(model._new_spins, numbers, self._strengths, records, before=before, **how)
            _take_new(model, numbers[-1])

        make_at_once(sweep, sweeps.most_updates, numbers, records, every)

    def _change(self, number: int, record: Any) -> None:
        """Make the update of this number from spins to others beside them."""
        model = self._model
        if record is not None:
            model._engine.count(model._spins, record)
        spins = model._spins, model._new_spins
        sizes = record if self._clusters else None
        model._engine.reflect(*spins, number, self._strengths, self._one, sizes)
        _take_new(model, number)

    def read(self, records: NDArray[np.int64]) -> VectorMeasurements:
        """Return what was measured, of records of shape (rows, replicas, fields)."""
        return self._model._series(self._model._as_series(records), self._clusters)


class LocalUpdate:
    """Offers each site another spin.

    Parameters
    ----------
    model : Vectors

    Attributes
    ----------
    options : dict
        Which kind it is, as JSON has it.
    """

    def __init__(self, model: Vectors) -> None:
        self._model = model
        self.options: dict[str, Any] = {"update": "metropolis", "clusters": False}
        self._engine, self._temperatures = model._local_engine()

    def __call__(self, number: int, record: Any = None) -> None:
        """Make the update of this number, and measure into a record unless that is None."""
        model = self._model
        if record is not None:
            model._engine.count(model._spins, record)
        self._engine.offer(model._spins, model._new_spins, number, self._temperatures, "metropolis")
        _take_new(model, number)

    def read(self, records: NDArray[np.int64]) -> VectorMeasurements:
        """Return what was measured, of records of shape (rows, replicas, fields)."""
        return self._model._series(self._model._as_series(records), False)


def _take_new(model: Vectors, number: int) -> None:
    """Let the new spins be those after the update of this number: no signal comes between."""
    model._spins, model._new_spins, model.updates = model._new_spins, model._spins, number
