"""Measurements of a spin glass, and rounds: sweeps with exchanges of temperatures, and overlaps.

A round's record has a row for each place (sample, temperature, copy), in the order that the model
was given, of the replica that is there now; the first rows have the overlaps of pairs, too. So
series are by temperature however replicas exchange.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.lattice import Lattice
from conncomp.models.base import Update
from conncomp.models.protocol import Floats, Integers
from conncomp.models.spin_glass.pairs import Overlaps
from conncomp.models.thermal import LEVEL, exchange, places_as_given

# The fields of a record: unsatisfied bonds or, where couplings are numbers, minus the energy; and
# the spins that are up.
ENERGY, UP, FIELDS = 0, 1, 2


@dataclass(frozen=True)
class GlassMeasurements:
    """Measurements at one moment, or before each of several sweeps.

    Attributes
    ----------
    records : ndarray of int64, shape (..., 2)
        What was counted.
    lattice : Lattice
    unit, offset : float, or ndarray of float64 of shape (replicas,)
        The energy is the first number of a record, times `unit`, and `offset`.
    """

    records: Integers
    lattice: Lattice
    unit: Any
    offset: Any

    @property
    def energy(self) -> Floats:
        """The energy of the whole lattice, -sum of J s s - sum of h s."""
        return np.asarray(self.records[..., ENERGY] * self.unit + self.offset, np.float64)

    @property
    def magnetisation(self) -> Floats:
        """The mean spin, from -1 to 1."""
        sites = self.lattice.sites
        return np.asarray((2 * self.records[..., UP] - sites) / sites, np.float64)

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name."""
        return {"energy": self.energy, "magnetisation": self.magnetisation}


# After those of `GlassMeasurements`, the bits of numbers of float64: overlap, link overlap, and a
# structure factor for each axis.
OVERLAP, LINK, STRUCTURE = FIELDS, FIELDS + 1, FIELDS + 2


@dataclass(frozen=True)
class GlassSeries(GlassMeasurements):
    """Measurements of rounds, at all temperatures in their order.

    Attributes
    ----------
    records : ndarray of int64, shape (rounds, replicas, fields)
        What was counted.
    lattice, unit, offset
        As of `GlassMeasurements`.
    beta : ndarray of float64, shape (replicas,)
        The inverse temperatures: of each sample as they were given, with those of copies side by
        side.
    pair_beta : ndarray of float64, shape (pairs,)
    pair_sample : ndarray of int64, shape (pairs,)
        Of each pair of copies; without pairs overlaps were not measured.
    """

    beta: Floats
    pair_beta: Floats
    pair_sample: Integers

    @property
    def overlap(self) -> Floats:
        """The mean of q_i = s_i s_i' over the sites, for each pair."""
        return self._of_pairs(OVERLAP)

    @property
    def link_overlap(self) -> Floats:
        """The mean of q_i q_j over the bonds, for each pair."""
        return self._of_pairs(LINK)

    @property
    def structure(self) -> Floats:
        """Structure factors at the smallest wave vectors, (rounds, pairs, ndim)."""
        fields = range(STRUCTURE, STRUCTURE + self.lattice.ndim)
        return np.stack(list(map(self._of_pairs, fields)), axis=-1)

    def overlaps(self) -> list[Overlaps]:
        """Return the overlaps of each round, as `SpinGlass.overlaps`."""
        pairs = np.full((len(self.pair_beta), 2), -1, np.int32)
        rounds = zip(self.overlap, self.link_overlap, self.structure, strict=True)
        return [Overlaps(self.pair_beta, self.pair_sample, pairs, *each) for each in rounds]

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name."""
        observables = {**super().observables(), "beta": self.beta}
        if len(self.pair_beta):
            names = "pair_beta", "pair_sample", "overlap", "link_overlap", "structure"
            observables |= {name: getattr(self, name) for name in names}
        return observables

    def _of_pairs(self, field: int) -> Floats:
        if not len(self.pair_beta):
            raise ValueError("overlaps were not measured; update with overlaps=True")
        return np.ascontiguousarray(self.records[:, : len(self.pair_beta), field]).view(np.float64)


class GlassRound(Update):
    """An update that measures in the order of temperatures, and exchanges these."""

    def __init__(self, model: Any, options: dict[str, Any]) -> None:
        super().__init__(model, options)
        self._overlaps = options["overlaps"]
        self._places()

    def new_records(self, n: int) -> Integers:
        """Return records, all 0, in main memory."""
        fields = STRUCTURE + self.model.lattice.ndim if self._overlaps else FIELDS
        return np.zeros((n, self.model.replicas, fields), np.int64)

    def __call__(self, number: int, record: Any = None) -> None:
        """Make an update, and measure into a record unless that is None."""
        model, state = self.model, self.model._state
        if record is not None:
            self.measure(record)
        before = vars(state).copy()
        try:
            model._advance(number, houdayer=self.options["houdayer"])
            if self.options["tempering"]:
                exchange(model, model._ladders(), self.present()[:, LEVEL], 1)
        except BaseException:
            # The sweep is taken back with the exchange, so that both are made again.
            vars(state).update(before)
            raise

    def read(self, records: Integers) -> GlassSeries:
        """Return the measurements in records, (rows, replicas, fields)."""
        model, places = self.model, self._places()
        pairs = np.zeros(0), np.zeros(0, np.int64)
        if self._overlaps:
            present = model.overlaps()
            pairs = present.beta, present.sample
        of_places = model._energy_unit()[places], model._energy_offset()[places]
        return GlassSeries(records, model.lattice, *of_places, model._state.betas[places], *pairs)

    def _places(self) -> Integers:
        """Return the replica of each place."""
        model = self.model
        ladders = model._ladders()[:, places_as_given(model)]
        grid = ladders.reshape(model.samples, model.copies, -1).swapaxes(1, 2)
        return np.asarray(grid.reshape(-1), np.int64)

    def present(self) -> Any:
        """Return what is counted of the present state, in the order of replicas."""
        return Update(self.model, {}).present()

    def measure(self, record: Integers) -> None:
        """Measure the present state into a record, in the order of temperatures."""
        record[:, :FIELDS] = self.present()[self._places()]
        if not self._overlaps:
            return
        overlaps = self.model.overlaps()
        columns = [overlaps.overlap, overlaps.link_overlap, *overlaps.structure.T]
        numbers = np.ascontiguousarray(np.stack(columns, axis=1), np.float64)
        record[: len(numbers), OVERLAP:] = numbers.view(np.int64)
