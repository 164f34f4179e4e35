"""The interface of all models, which `simulate` uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_UPDATES = (1 << 32) - 1  # what a counter of random numbers has room for

# The version of which random numbers a model draws for what: raise it with any change of that, as
# checkpoints of another version would go on differently, and are refused.
CONTRACT = 3


class ModelSeries(Protocol):
    """The measurements of a model, at one moment or in a series of updates."""

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name: arrays, of which a series has its updates first."""


Measured = TypeVar("Measured", bound=ModelSeries, covariant=True)


class ModelState(NamedTuple):
    """The state of a model.

    Attributes
    ----------
    updates : int
        How many updates were made.
    arrays : tuple of ndarray
        All that updates change, C-contiguous, in memory of the CPU, as the model holds it; opaque.
    """

    updates: int
    arrays: tuple[NDArray[Any], ...]


@runtime_checkable
class ModelUpdate(Protocol[Measured]):
    """One kind of a model's updates.

    ``update(number, record)`` makes update ``number``, which is ``model.updates + 1`` and then the
    model's ``updates``. It measures the state that it finds into a record, which is 0, unless that
    is None. An update that is interrupted leaves the state and ``updates`` as they were. A kind
    with records of its own has ``new_records(n)``. A kind that makes many updates at once has
    ``most``, their number, and ``sweep(numbers, records, every, before)``; its first record is that
    of the last update that measured if ``before`` updates were made since.
    """

    @property
    def options(self) -> Mapping[str, Any]:
        """The kind of update: values that JSON has, the same for all ways to write them."""

    def __call__(self, number: int, record: Any = None) -> None:
        """Make an update."""

    def read(self, records: NDArray[Any]) -> Measured:
        """Return what was measured, given records of this kind, (rows, replicas, ...)."""


def make_updates(update: Any, numbers: range, records: Any = None, every: int = 1) -> None:
    """Make updates from ``model.updates + 1`` on; the first of each `every` fills a record."""
    # A user's own update need not have `most`: see `ModelUpdate`.
    most = getattr(update, "most", 1) if len(numbers) > 1 else 1
    if most > 1:
        for begin in range(0, len(numbers), most):
            rest = None if records is None else records[begin // every :]
            update.sweep(numbers[begin : begin + most], rest, every, begin % every)
        return
    for made, number in enumerate(numbers):
        measures = records is not None and made % every == 0
        update(number, records[made // every] if measures else None)


@runtime_checkable
class Model(Protocol[Measured]):
    """A model whose updates are a function of parameters and seed alone, and so can be repeated.

    Attributes
    ----------
    updates : int
        How many updates were made.
    replicas : int
        How many independent lattices run side by side.
    first_replica : int
        The number of the first replica, by which random numbers are drawn.
    seed : int
    device : {"cpu", "cuda"}
    """

    updates: int
    replicas: int
    first_replica: int
    seed: int
    device: str

    def step(self, n: int = 1) -> None:
        """Make so many of the model's usual updates, without measuring."""

    def measure(self) -> Measured:
        """Return what is measured of the present state."""

    def labels(self, *, numbering: str = "consecutive", return_num: bool = False) -> Any:
        """Return the labels of the components of the present state."""

    def parameters(self) -> dict[str, Any]:
        """Return which model it is: ``model`` (its name), ``shape``, ``seed``, ``replicas``, ...

        Values are those of JSON or arrays with a value per replica. Files have a dataset for each
        array, and checkpoints its SHA-256.
        """

    def state(self) -> ModelState:
        """Return a copy of all that updates change."""

    def restore(self, state: ModelState) -> None:
        """Go to where a model with the same parameters stood.

        The state may come from a stranger's file: arrays of shapes, dtypes or values that no state
        has raise ValueError, and leave the model as it was.
        """

    @property
    def updater(self) -> Callable[..., ModelUpdate[Measured]]:
        """The method that returns a kind of updates, and takes options by name that it checks."""

    def new_records(self, n: int) -> Any:
        """Return n records, all 0: int64 or float64, on the device, (n, replicas, fields)."""


@runtime_checkable
class SummarisedModel(Protocol):
    """A model that says which means and errors follow from a series of a simulation."""

    @staticmethod
    def summaries(series: Any, parameters: Mapping[str, Any]) -> list[Any]:
        """Return the means and errors of `Simulation.summarise`.

        ``parameters`` are those of `Model.parameters` before the first update, with arrays and
        ``measure_every``.
        """
