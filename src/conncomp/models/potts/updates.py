"""The kinds of updates of the Potts model: each is a class, and a name in `KINDS`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, check_range, shown
from conncomp.kernels.lattice import Lattice
from conncomp.models._arguments import MOST_SITES, as_tuple
from conncomp.models._probabilities import CERTAIN, as_fixed_point
from conncomp.models.observables.windings import check_wrapping
from conncomp.models.potts.measurements import Measurements
from conncomp.models.potts.probabilities import acceptances
from conncomp.models.protocol import make_each


class ChosenSites(NamedTuple):
    """Which clusters may flip: those of one chosen site in each tile.

    Attributes
    ----------
    tile : tuple of int
        The lengths of a tile.
    p_flip : int
        The probability that a cluster with chosen sites flips, times 2**64.
    """

    tile: tuple[int, ...]
    p_flip: int


class Asked(NamedTuple):
    """What a user asks for of an update, but for its kind: see `Potts.updater`."""

    tile: int | Sequence[int] | None
    p_flip: float | None
    clusters: bool
    wrapping: bool


class Spins(Protocol):
    """What an update has to do with of a `Potts`."""

    lattice: Lattice
    replicas: int
    updates: int
    _engine: Any
    _betas: NDArray[np.float64]
    _words: Any
    _new_words: Any

    @property
    def _gain(self) -> float: ...
    def _bond_probabilities(self) -> Any: ...
    def _local_engine(self) -> tuple[Any, Any]: ...
    def _series(self, records: NDArray[np.int64], *measured: bool) -> Measurements: ...
    def _as_series(self, records: NDArray[np.int64]) -> NDArray[np.int64]: ...


class PottsUpdate(ABC):
    """An update that writes new spins beside the old ones, which it measures.

    Parameters
    ----------
    model : Spins
    asked : Asked

    Attributes
    ----------
    options : dict
        Which kind it is, as JSON has it.
    """

    name: ClassVar[str]

    def __init__(self, model: Spins, asked: Asked) -> None:
        self._model, self._clusters, self._wrapping = model, asked.clusters, asked.wrapping
        self.options: dict[str, Any] = {
            "update": self.name,
            "clusters": asked.clusters,
            "wrapping": asked.wrapping,
        }
        if asked.wrapping:
            check_wrapping(model.lattice, model.replicas)
        self._take_tile(asked)

    def _take_tile(self, asked: Asked) -> None:
        """Take `tile` and `p_flip`, which most kinds do not have."""
        if asked.tile is not None or asked.p_flip is not None:
            raise ValueError('tile and p_flip are for update="few-cluster" only')

    def __call__(self, number: int, record: Any = None) -> None:
        """Make the update of this number, and measure into a record unless that is None."""
        self._change(number, record)
        self._take_new(number)

    def _take_new(self, number: int) -> None:
        """Let the new spins be those after the update of this number: no signal comes between."""
        model = self._model
        model._words, model._new_words, model.updates = model._new_words, model._words, number

    @abstractmethod
    def _change(self, number: int, record: Any) -> None:
        """Write the new spins of the update of this number, and measure the old ones."""

    def read(self, records: NDArray[np.int64]) -> Measurements:
        """Return what was measured, of records of shape (rows, replicas, fields)."""
        model, measured = self._model, (self._clusters, self._bonds_measured, self._wrapping)
        return model._series(model._as_series(records), *measured)

    @property
    def _bonds_measured(self) -> bool:
        return self._clusters or self._wrapping


def make_at_once(
    sweep: Callable[..., None], most: int, numbers: range, records: Any, every: int
) -> None:
    """Do as ``make_updates``, at most so many by a call ``sweep(numbers, records, before)``.

    The first of its records is of the last update that measured, if updates have been made `before`
    these since.
    """
    for begin in range(0, len(numbers), most):
        of_call = numbers[begin : begin + most]
        sweep(of_call, None if records is None else records[begin // every :], begin % every)


class SwendsenWang(PottsUpdate):
    """Each cluster takes a new state, any of q."""

    name = "swendsen-wang"
    _chosen: ChosenSites | None = None

    def __init__(self, model: Spins, asked: Asked) -> None:
        super().__init__(model, asked)
        self._probabilities = model._bond_probabilities()

    def repeat(self, numbers: range, records: Any = None, every: int = 1) -> None:
        """Make updates, of which the first of each `every` measures into the next record."""
        model, one_by_one = self._model, self._clusters or self._wrapping or len(numbers) < 2
        # Only engines of lattices on a GPU have them, and only of small ones.
        sweeps = None if one_by_one or self._chosen else getattr(model._engine, "sweeps", None)
        if sweeps is None:
            make_each(self, numbers, records, every)
            return

        def sweep(numbers: range, records: Any, before: int) -> None:
            how = {"every": every, "before": before}
            model._new_words[...] = model._words
            sweeps.sweep(model._new_words, numbers, self._probabilities, records, **how)
            self._take_new(numbers[-1])

        make_at_once(sweep, sweeps.most_updates, numbers, records, every)

    def _change(self, number: int, record: Any) -> None:
        model = self._model
        measures = (False, False) if record is None else (self._clusters, self._wrapping)
        of_clusters = self._probabilities, self._chosen, record, *measures
        model._engine.update(model._words, model._new_words, number, *of_clusters)

    @property
    def _bonds_measured(self) -> bool:
        return self._chosen is None or super()._bonds_measured


class Wolff(SwendsenWang):
    """The cluster of one chosen site takes another state."""

    name = "wolff"

    def _take_tile(self, asked: Asked) -> None:
        super()._take_tile(asked)
        self._chosen = ChosenSites(self._model.lattice.shape, CERTAIN)


class FewCluster(SwendsenWang):
    """The clusters of one chosen site in each tile take another state, each with `p_flip`."""

    name = "few-cluster"

    def _take_tile(self, asked: Asked) -> None:
        if asked.tile is None or asked.p_flip is None:
            raise ValueError('update="few-cluster" needs tile and p_flip')
        tile = _check_tile(asked.tile, self._model.lattice.shape)
        self._chosen = ChosenSites(tile, as_fixed_point(_check_p_flip(asked.p_flip)))
        self.options |= {"tile": list(tile), "p_flip": float(asked.p_flip)}


class LocalUpdate(PottsUpdate):
    """Each site in turn is offered another state, on any edges."""

    def __init__(self, model: Spins, asked: Asked) -> None:
        super().__init__(model, asked)
        self._take_engine(model)

    def _take_engine(self, model: Spins) -> None:
        self._engine, self._temperatures = model._local_engine()

    def _change(self, number: int, record: Any) -> None:
        model = self._model
        if record is not None:
            model._engine.count(model._words, record)
        spins = model._words, model._new_words
        self._engine.offer(*spins, number, self._temperatures, self.name)


class HeatBath(LocalUpdate):
    """Each site in turn takes a state with the probability that it has, given its neighbours."""

    name = "heat-bath"


class EdgeMetropolis(LocalUpdate):
    """Each site in turn is offered another state."""

    name = "metropolis"


class Metropolis(LocalUpdate):
    """The same by words, 64 sites at once."""

    name = "metropolis"

    def _take_engine(self, model: Spins) -> None:
        table = acceptances(model._betas, model._gain, model.lattice)
        self._acceptance = model._engine.xp.asarray(table)

    def _change(self, number: int, record: Any) -> None:
        model = self._model
        model._engine.metropolis(model._words, model._new_words, number, self._acceptance, record)


KINDS: dict[str, type[PottsUpdate]] = {
    kind.name: kind for kind in (SwendsenWang, Wolff, FewCluster, Metropolis, HeatBath)
}
ON_EDGES: dict[str, type[PottsUpdate]] = {
    kind.name: kind for kind in (SwendsenWang, Wolff, EdgeMetropolis, HeatBath)
}
UPDATES = tuple(KINDS)


def check_measures(update: str, clusters: bool, wrapping: bool) -> None:
    """Raise ValueError if updates of a kind that has no clusters are to measure them."""
    if (clusters or wrapping) and issubclass(KINDS[update], LocalUpdate):
        name = "clusters" if clusters else "wrapping"
        raise ValueError(f'{name}=True is not for update="{update}", which has none')


def _check_tile(tile: int | Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    given = as_tuple(tile, len(shape), "tile")
    edges = tuple(check_range("tile", edge, 1, MOST_SITES) for edge in given)
    if len(edges) != len(shape) or any(n % edge for n, edge in zip(shape, edges, strict=True)):
        raise ValueError(f"tile={shown(tile)} must divide the lattice, which has shape {shape}")
    return edges


def _check_p_flip(p_flip: Any) -> float:
    value = as_number("p_flip", p_flip)
    if not 0 < value < 1:
        raise ValueError(f"p_flip={shown(p_flip)} must be above 0 and below 1")
    if as_fixed_point(value) == 0:
        raise ValueError(f"p_flip={shown(p_flip)} must be 2**-64 or more; no cluster would flip")
    return value
