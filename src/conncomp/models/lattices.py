"""Lattices by name: their unit cells, and where the Ising model orders on them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, log, sqrt
from typing import Any

import numpy as np

from conncomp._arguments import as_integer, as_sequence, check_choice, check_range, shown
from conncomp._arrays import as_numpy
from conncomp.kernels.cells import MOST_CELL_SITES, MOST_KINDS, Bond, CellLattice
from conncomp.kernels.lattice import MOST_AXES
from conncomp.models._arguments import as_tuple, check_shape

Vector = tuple[float, ...]


@dataclass(frozen=True)
class UnitCell:
    """The cell that a lattice repeats: its sites, its bonds, and where they lie.

    Parameters
    ----------
    vectors : sequence of sequence of float, shape (d, d)
        From a cell to the next one along each of 1 to 4 axes.
    sites : sequence of sequence of float, shape (b, d)
        Where the sites of a cell lie, 1 to 8 of them.
    bonds : sequence of (int, int, sequence of int)
        From a site of a cell to a site of the cell that is so many steps of -1, 0 or 1 farther
        along each axis; each bond once, and none from a site to itself.

    Examples
    --------
    A ladder: two sites a cell, side by side.

    >>> from conncomp.models import Ising, UnitCell
    >>> ladder = UnitCell([[1.0]], [[0.0], [0.0]], [(0, 1, [0]), (0, 0, [1]), (1, 1, [1])])
    >>> Ising(16, lattice=ladder, temperature=2.0).spins.shape
    (16, 2)
    """

    vectors: tuple[Vector, ...]
    sites: tuple[Vector, ...]
    bonds: tuple[Bond, ...]

    def __post_init__(self) -> None:
        vectors = _points("vectors", self.vectors)
        ndim = len(vectors)
        if not 1 <= ndim <= MOST_AXES or any(len(vector) != ndim for vector in vectors):
            raise ValueError(
                f"vectors={shown(self.vectors)} must be 1 to {MOST_AXES} vectors of as many numbers"
            )
        sites = _points("sites", self.sites)
        if not 1 <= len(sites) <= MOST_CELL_SITES or any(len(site) != ndim for site in sites):
            raise ValueError(
                f"sites={shown(self.sites)} must be 1 to {MOST_CELL_SITES} places of {ndim} numbers"
            )
        bonds = tuple(_bond(bond, len(sites), ndim) for bond in as_sequence("bonds", self.bonds))
        back = ((end, start, tuple(-n for n in step)) for start, end, step in bonds)
        if len(set(map(min, bonds, back))) != len(bonds):
            raise ValueError(f"bonds={shown(self.bonds)} has a bond twice; give each one once")
        for name, value in (("vectors", vectors), ("sites", sites), ("bonds", bonds)):
            object.__setattr__(self, name, value)
        closed = (True,) * ndim
        kinds = CellLattice((1,) * ndim, len(sites), bonds, closed, closed, False).kinds
        if len(kinds) > MOST_KINDS:
            raise ValueError(
                f"bonds={shown(self.bonds)} are of {len(kinds)} kinds, more than {MOST_KINDS}; "
                "give the lattice as a Graph"
            )


def _points(name: str, given: Any) -> tuple[Vector, ...]:
    array = as_numpy(given, name)
    if array.dtype.kind not in "iuf" or array.ndim != 2:
        raise ValueError(f"{name}={shown(given)} must be vectors of as many numbers each")
    points = tuple(tuple(map(float, row)) for row in array.tolist())
    if not all(isfinite(number) for row in points for number in row):
        raise ValueError(f"{name}={shown(given)} must be finite")
    return points


def _bond(given: Any, sites: int, ndim: int) -> Bond:
    ends = as_sequence("a bond", given)
    if len(ends) != 3:
        raise ValueError(f"a bond, {shown(given)}, must be two sites and the steps between cells")
    start, end = (check_range("a bond's site", site, 0, sites - 1) for site in ends[:2])
    step = tuple(as_integer("a bond's step", n) for n in as_sequence("a bond's steps", ends[2]))
    if len(step) != ndim or any(abs(n) > 1 for n in step):
        raise ValueError(f"a bond, {shown(given)}, must have {ndim} steps of -1, 0 or 1")
    if start == end and not any(step):
        raise ValueError(f"a bond, {shown(given)}, leads from a site to itself")
    return start, end, step


def lattice_in_words(lattice: Any) -> str:
    """Return the name of a lattice, or its cell as text; a TypeError says what it must be."""
    if isinstance(lattice, UnitCell):
        return json.dumps([lattice.vectors, lattice.sites, lattice.bonds])
    if not isinstance(lattice, str):
        raise TypeError(f"lattice={shown(lattice)} must be the name of a lattice, or a UnitCell")
    return lattice


def cell_and_shape(
    lattice: str | UnitCell, shape: Any, known: Mapping[str, UnitCell]
) -> tuple[UnitCell, tuple[int, ...]]:
    """Return a cell, perhaps known by name, and how many there are along each axis."""
    if isinstance(lattice, str):
        check_choice("lattice", lattice, tuple(known))
    cell = lattice if isinstance(lattice, UnitCell) else known[lattice]
    axes, name = len(cell.vectors), lattice_in_words(lattice)
    lengths = check_shape(as_tuple(shape, axes))
    if len(lengths) != axes:
        raise ValueError(f"shape={shown(shape)} must have {axes} axes for lattice={shown(name)}")
    check_shape((*lengths[:-1], lengths[-1] * len(cell.sites)))
    return cell, lengths


def hypercubic(ndim: int) -> UnitCell:
    """Return the cell of the chain, the square lattice, the cubic one, and that of four axes."""
    unit = tuple(tuple(map(float, row)) for row in np.eye(ndim))
    bonds = tuple((0, 0, tuple(map(int, row))) for row in np.eye(ndim))
    return UnitCell(unit, ((0.0,) * ndim,), bonds)


def _steps(*steps: tuple[int, ...], ends: tuple[int, int] = (0, 0)) -> tuple[Bond, ...]:
    return tuple((*ends, step) for step in steps)


_HIGH = sqrt(3) / 2
_FCC = ((0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0))
_UNIT = (1, 0, 0), (0, 1, 0), (0, 0, 1)

LATTICES = {
    "chain": hypercubic(1),
    "square": hypercubic(2),
    "cubic": hypercubic(3),
    "hypercubic": hypercubic(4),
    "triangular": UnitCell(
        ((0.5, _HIGH), (1.0, 0.0)), ((0.0, 0.0),), _steps((1, 0), (0, 1), (1, -1))
    ),
    "honeycomb": UnitCell(
        ((_HIGH, 1.5), (2 * _HIGH, 0.0)),
        ((0.0, 0.0), (_HIGH, 0.5)),
        ((0, 1, (0, 0)), *_steps((0, 1), (1, 0), ends=(1, 0))),
    ),
    "kagome": UnitCell(
        ((1.0, 2 * _HIGH), (2.0, 0.0)),
        ((0.0, 0.0), (1.0, 0.0), (0.5, _HIGH)),
        (
            *((0, 1, (0, 0)), (1, 2, (0, 0)), (0, 2, (0, 0))),
            *((1, 0, (0, 1)), (2, 0, (1, 0)), (2, 1, (1, -1))),
        ),
    ),
    "bcc": UnitCell(
        ((-0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0.5, 0.5, -0.5)),
        ((0.0, 0.0, 0.0),),
        _steps(*_UNIT, (1, 1, 1)),
    ),
    "fcc": UnitCell(_FCC, ((0.0, 0.0, 0.0),), _steps(*_UNIT, (1, -1, 0), (1, 0, -1), (0, 1, -1))),
    "diamond": UnitCell(
        _FCC,
        ((0.0, 0.0, 0.0), (0.25, 0.25, 0.25)),
        ((0, 1, (0, 0, 0)), *_steps(*_UNIT, ends=(1, 0))),
    ),
}

# Of a coupling of 1: see `Ising.critical_temperature`.
CUBIC_BETA = 0.221654626
CRITICAL = {
    "square": 2 / log(1 + sqrt(2)),
    "triangular": 4 / log(3),
    "honeycomb": 2 / log(2 + sqrt(3)),
    "kagome": 4 / log(3 + 2 * sqrt(3)),
    "cubic": 1 / CUBIC_BETA,
    "bcc": 1 / 0.1573725,
}
