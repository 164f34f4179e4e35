"""The lattices of percolation: cells, what sites and bonds lead to, and what is known at p_c."""

from __future__ import annotations

from functools import cached_property
from math import pi, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, shown
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.lattice import MOST_AXES, Lattice
from conncomp.models._arguments import check_shape
from conncomp.models.lattices import LATTICES as ISING_LATTICES
from conncomp.models.lattices import UnitCell, cell_and_shape, hypercubic, lattice_in_words

SQUARE = "square"  # hypercubic, of as many axes as lengths are given
# Triangular: as an array in which sites (1, 1) apart are neighbours, too.
_TRIANGULAR = UnitCell(
    ((-0.5, sin(pi / 3)), (1.0, 0.0)),
    ((0.0, 0.0),),
    ((0, 0, (1, 0)), (0, 0, (0, 1)), (0, 0, (1, 1))),
)
_OF_ISING = "honeycomb", "kagome", "bcc", "fcc", "diamond"
_CELLS = {SQUARE: hypercubic(2), "triangular": _TRIANGULAR}
_CELLS |= {name: ISING_LATTICES[name] for name in _OF_ISING}
LATTICES = tuple(_CELLS)

# Of the infinite lattice, by name and kind, and number of axes: see `Percolation.critical_p`.
_SINE = 2 * sin(pi / 18)
THRESHOLDS = {
    ("square", "site"): {1: 1.0, 2: 0.59274605, 3: 0.31160768, 4: 0.19688561},
    ("square", "bond"): {1: 1.0, 2: 0.5, 3: 0.24881185, 4: 0.16013122},
    ("triangular", "site"): {2: 0.5},
    ("triangular", "bond"): {2: _SINE},
    ("honeycomb", "site"): {2: 0.69704023},
    ("honeycomb", "bond"): {2: 1 - _SINE},
    ("kagome", "site"): {2: 1 - _SINE},
    ("kagome", "bond"): {2: 0.524404999},
    ("bcc", "site"): {3: 0.2459615},
    ("bcc", "bond"): {3: 0.18028762},
    ("fcc", "site"): {3: 0.19923517},
    ("fcc", "bond"): {3: 0.12016377},
    ("diamond", "site"): {3: 0.4299870},
    ("diamond", "bond"): {3: 0.3895892},
}

# From a site of a cell, a way to a site of the cell that is so many steps farther.
Step = tuple[tuple[int, ...], int]
Kind = tuple[int, list[Step]]


class Geometry:
    """The sites or bonds of a lattice, of which some are occupied; `shape` counts cells."""

    def __init__(self, shape: Any, lattice: str | UnitCell, of_bonds: bool) -> None:
        self.name, self.of_bonds = lattice_in_words(lattice), of_bonds
        self.is_hypercubic = self.name == SQUARE  # cells are sites that have bonds along axes alone
        if self.is_hypercubic:
            self.shape = check_shape(shape)
            self.cell = hypercubic(len(self.shape))
        elif isinstance(lattice, UnitCell) and not lattice.bonds:
            raise ValueError(f"lattice={shown(self.name)} has no bonds")
        else:
            self.cell, self.shape = cell_and_shape(lattice, shape, _CELLS)
        self.sites_of_cell = len(self.cell.sites)
        self.planes = len(self.kinds)  # of words, a bit for each cell, that a configuration has

    def cells(self, periodic: tuple[bool, ...]) -> Lattice:
        """Return the lattice of cells."""
        return Lattice(self.shape, periodic, 2)

    def sites(self, periodic: tuple[bool, ...]) -> Lattice | CellLattice:
        """Return what knows how many sites and bonds there are."""
        if self.is_hypercubic:
            return self.cells(periodic)
        of_cell, bonds, opposite = self.sites_of_cell, self.cell.bonds, (False,) * len(self.shape)
        return CellLattice(self.shape, of_cell, bonds, periodic, opposite, False)

    @cached_property
    def kinds(self) -> list[Kind]:
        """For each element of a cell: a site, and the ways from there, forward ones first."""
        bonds = self.cell.bonds
        if self.of_bonds:
            return [(start, [(step, end)]) for start, end, step in bonds]
        forth = [(start, (step, end)) for start, end, step in bonds]
        back = [(end, (tuple(-n for n in step), start)) for start, end, step in bonds]
        sites, ways = range(self.sites_of_cell), forth + back
        return [(site, [way for begin, way in ways if begin == site]) for site in sites]

    @cached_property
    def structure(self) -> NDArray[np.bool_]:
        """The neighbours of a site, as `conncomp.label` takes them, of cells of one site."""
        steps = np.array([(0,) * len(self.shape), *(step for _, _, step in self.cell.bonds)])
        element = np.zeros((3,) * len(self.shape), bool)
        element[tuple(1 + steps.T)] = element[tuple(1 - steps.T)] = True
        return element

    def edges(self, periodic: tuple[bool, ...]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the sites of bonds, (kinds, cells, 2), and which lead over an open end."""
        cells, axes = np.indices(self.shape).reshape(len(self.shape), -1), range(len(self.shape))
        lengths, is_open = np.array(self.shape)[:, None], ~np.array(periodic)[:, None]
        sites = np.arange(cells.shape[1] * self.sites_of_cell).reshape(*self.shape, -1)
        ends, leaving = [], []
        for start, end, step in self.cell.bonds:
            to = cells + np.array(step)[:, None]
            leaving.append((is_open & ((to < 0) | (to >= lengths))).any(axis=0))
            there = np.roll(sites[..., end], [-n for n in step], axes)
            ends.append(np.stack([sites[..., start], there], -1).reshape(-1, 2))
        return np.stack(ends), np.stack(leaving)


def critical_p(kind: str, ndim: int | None, lattice: str | UnitCell) -> float:
    """Return a threshold of `THRESHOLDS`; without `ndim` that of the plane, if there is one."""
    name = lattice_in_words(lattice)
    known = THRESHOLDS.get((name, kind), {})
    axes = ndim if ndim is not None else 2 if 2 in known else min(known, default=MOST_AXES)
    if axes not in known:
        raise ValueError(
            f"no threshold is known for lattice={shown(name)} with kind={kind!r} in {axes} "
            "dimensions; give p as a number"
        )
    return known[axes]


# Of the square torus in the limit of many sites: `PercolationSweep.threshold` cites the sources.
BALANCE = "balance"
WRAPPING_AT_THRESHOLD = {
    "any": 0.690473724570,
    "axis": 0.521058289249,
    "all": 0.351642853927,
    "cross": 0.309526275430,
}


def crossing_at_threshold(
    lattice: Lattice | CellLattice, geometry: str, event: str, crossing: float | None
) -> float:
    """Return the wrapping probability at p_c: what is given, or else known."""
    if event == BALANCE:
        if lattice.ndim != 2 or not all(lattice.periodic) or crossing is not None:
            raise ValueError(
                'event="balance" is for two periodic axes, and without crossing, which is 1/2'
            )
        return 0.5
    if crossing is None:
        square = lattice.ndim == 2 and len(set(lattice.shape)) == 1
        if not square or not all(lattice.periodic) or geometry != SQUARE:
            raise ValueError(
                "crossing=None is known for two periodic axes of equal length of a square "
                'lattice only; give the wrapping probability at p_c, or take event="balance" in '
                "two dimensions"
            )
        return WRAPPING_AT_THRESHOLD[event]
    value = as_number("crossing", crossing)
    if not 0 < value < 1:
        raise ValueError(f"crossing={shown(crossing)} must be above 0 and below 1")
    return value
