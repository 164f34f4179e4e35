"""Measurements of a field, and of the domains that a threshold makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import field as of
from conncomp.kernels.field import FieldLattice
from conncomp.models.protocol import Floats, Integers


@dataclass(frozen=True)
class DomainMeasurements:
    """Measurements of a field, in each of several updates.

    Cells above the threshold are one phase, all others the other one; a domain is a component of
    either, whose cells are connected by their faces. An update measures the field that it finds.

    Attributes
    ----------
    records : ndarray of int64, shape (updates, fields) or (updates, replicas, fields)
        What was counted. A present state has no axis for updates.
    lattice : FieldLattice

    Notes
    -----
    All sums are of integers, so that they are the same on every device: values and energies of
    cells are cut to 62 - log2(cells) binary digits after the point, 38 for 4096 x 4096 cells. So
    means are too small by less than a unit of the last digit.
    """

    records: Integers
    lattice: FieldLattice

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name.

        >>> from conncomp.models import CahnHilliard
        >>> list(CahnHilliard((8, 8)).measure().observables())[:4]
        ['energy', 'mean', 'interface', 'domain_size']
        """
        of_cells = "energy", "mean", "interface", "domain_size"
        of_phases = "components", "largest_component", "phase_cells", "weighted_size"
        return {name: getattr(self, name) for name in (*of_cells, *of_phases, "size_histogram")}

    @property
    def energy(self) -> Floats:
        """The free energy: the sum over all cells."""
        return self._sum(of.ENERGY)

    @property
    def mean(self) -> Floats:
        """The mean of the field, which updates conserve but for rounding."""
        return self._sum(of.VALUE) / self.lattice.cells

    @property
    def interface(self) -> Floats:
        """The number of faces between cells of different phases, for each cell."""
        return self.records[..., of.FACES] / self.lattice.cells

    @property
    def domain_size(self) -> Floats:
        """The mean chord of the domains: how far it is along an axis from interface to interface.

        The number of axes over `interface`, times ``dx``; infinite without an interface. Unlike
        mean sizes of components it means the same whether domains are droplets or percolate.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(self.lattice.ndim * self.lattice.dx / self.interface)

    @property
    def components(self) -> Integers:
        """The number of components above the threshold and of those not, along the last axis."""
        return self.records[..., of.COMPONENTS : of.LARGEST]

    @property
    def largest_component(self) -> Integers:
        """The cells of the largest component of each phase, along the last axis."""
        return self.records[..., of.LARGEST : of.CELLS]

    @property
    def phase_cells(self) -> Integers:
        """The cells of each phase, along the last axis."""
        return self.records[..., of.CELLS : of.SQUARES]

    @property
    def weighted_size(self) -> Floats:
        """The mean size of the component of a cell, of each phase; nan where it has no cell."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.records[..., of.SQUARES : of.HISTOGRAM] / self.phase_cells)

    @property
    def size_histogram(self) -> Integers:
        """The components of each phase with 2^k to 2^(k + 1) - 1 cells, (..., 2, bins)."""
        shape = *self.records.shape[:-1], of.PHASES, self.lattice.bins
        return self.records[..., of.HISTOGRAM :].reshape(shape)

    def _sum(self, entry: int) -> Floats:
        parts = np.ldexp(self.records[..., entry + 1].astype(np.float64), -self.lattice.part_bits)
        return np.asarray(self.records[..., entry] + parts)
