"""Lattices of any unit cell, as kernels take them: see ``kernels/core/cell_lattice.h``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout
from conncomp.kernels.lattice import LATTICE, MOST_AXES, WORD, Lattice

MOST_KINDS, MOST_CELL_SITES = 16, 8

_KIND = np.dtype([("step", "i4", MOST_AXES - 1), ("shift", "i4"), ("sites", "u8", MOST_CELL_SITES)])
# ``CellLattice`` of ``core/cell_lattice.h``.
CELL_LATTICE = layout(
    ("lattice", LATTICE), ("antiperiodic cell kinds negative", "i4"), ("kind", (_KIND, MOST_KINDS))
)

Bond = tuple[int, int, tuple[int, ...]]


class Kind(NamedTuple):
    """Bonds from `sites` of each cell: `step` rows back along earlier axes, `shift` along rows."""

    step: tuple[int, ...]
    shift: int
    sites: tuple[int, ...]


class _Geometry(NamedTuple):
    shape: tuple[int, ...]
    cell: int
    bonds_of_cell: tuple[Bond, ...]
    periodic: tuple[bool, ...]
    antiperiodic: tuple[bool, ...]
    negative: bool


class CellLattice(_Geometry):
    """Cells side by side, and the bonds between their sites.

    Each cell has `cell` sites. `bonds_of_cell` lead from a site of a cell to one of the cell some
    steps of -1, 0 or 1 farther. Axes are `periodic`, some of these `antiperiodic`; with `negative`,
    different spins satisfy a bond.
    """

    states = 2
    planes = 1

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_mixed(self) -> bool:
        """Whether different spins satisfy a bond."""
        return self.negative or any(self.antiperiodic)

    @cached_property
    def of_sites(self) -> Lattice:
        """The lattice of sites, whose rows are words, with those of a cell side by side."""
        *rows, last = self.shape
        return Lattice((*rows, last * self.cell), self.periodic, self.states)

    @property
    def sites(self) -> int:
        """The number of sites."""
        return prod(self.shape) * self.cell

    @property
    def words(self) -> int:
        """The number of words of the spins."""
        return self.of_sites.words

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of bonds; the first one is that along the row."""
        sites: dict[tuple[tuple[int, ...], int], list[int]] = {((0,) * (self.ndim - 1), 1): []}
        for bond in self.bonds_of_cell:
            step, shift, site = self._towards_earlier_rows(bond)
            sites.setdefault((step, shift), []).append(site)
        first, *others = sites
        return tuple(Kind(*key, tuple(sorted(sites[key]))) for key in (first, *sorted(others)))

    @cached_property
    def bonds(self) -> int:
        """The number of bonds; axes of length 1 or 2 count as on a torus."""
        return sum(int(of_kind.sum()) for of_kind in map(self.sites_of_kind, self.kinds))

    def sites_of_kind(self, kind: Kind) -> NDArray[np.bool_]:
        """Return which sites have a bond of a kind, as an array of shape ``(*shape, cell)``."""
        have = np.zeros((*self.shape, self.cell), bool)
        have[..., list(kind.sites)] = True
        for axis in range(self.ndim):
            if not self.periodic[axis]:
                have &= ~self._leaves(kind, axis)
        return have

    def ends_of_kind(self, kind: Kind, *, everywhere: bool = False) -> NDArray[Any]:
        """Return the two sites of each bond of a kind, as `ends`; `everywhere` of each site."""
        dtype, shape = self._index, (*self.shape, self.cell)
        have = np.ones(shape, bool) if everywhere else self.sites_of_kind(kind)
        to: NDArray[Any] = np.zeros((1,) * (self.ndim + 1), dtype)
        for axis, length in enumerate(self.shape):
            to = to * dtype.type(length) + (self._target(kind, axis) % length).astype(dtype)
        ends = (np.arange(self.cell) + kind.shift) % self.cell
        to = np.broadcast_to(to * dtype.type(self.cell) + ends.astype(dtype), have.shape)
        return np.stack([np.flatnonzero(have).astype(dtype), to[have]])

    def ends(self) -> NDArray[Any]:
        """Return the two sites of each bond, kind by kind, (2, bonds)."""
        ends = np.empty((2, self.bonds), self._index)
        end = 0
        for kind in self.kinds:
            of_kind = self.ends_of_kind(kind)
            begin, end = end, end + of_kind.shape[1]
            ends[:, begin:end] = of_kind
        return ends

    @property
    def _index(self) -> np.dtype[Any]:
        return np.dtype(np.int32 if self.sites < 1 << 31 else np.int64)

    def steps(self) -> NDArray[np.int32]:
        """Return how many cells bonds lead farther along each axis, as `ends`, (bonds, ndim)."""
        return self._of_bonds(self._moves)

    def windings(self, *, everywhere: bool = False) -> NDArray[np.int32]:
        """Return how many periods bonds lead over the ends of each axis; see `ends_of_kind`."""
        return self._of_bonds(
            lambda kind, axis: self._target(kind, axis) // self.shape[axis], everywhere=everywhere
        )

    def kinds_of_bonds(self) -> NDArray[np.int32]:
        """Return which kind each bond is of, and which site of a cell has it, (bonds, 2)."""
        numbers = self.kinds.index, lambda kind: np.arange(self.cell)
        return self._of_bonds(lambda kind, column: numbers[column](kind), 2)

    def signs(self) -> NDArray[np.int8]:
        """Return 1 for each bond that equal spins satisfy, -1 for the others, as `ends`."""
        signs = []
        for kind in self.kinds:
            differ = np.full((*self.shape, self.cell), self.negative)
            for axis in range(self.ndim):
                if self.antiperiodic[axis]:
                    differ ^= self._leaves(kind, axis)
            have = self.sites_of_kind(kind)
            signs.append(np.where(differ[have], np.int8(-1), np.int8(1)))
        return np.concatenate(signs)

    @cached_property
    def struct(self) -> Any:
        """``CellLattice`` of ``core/cell_lattice.h``, a `numpy.void`."""
        before, kinds = MOST_AXES - self.ndim, np.zeros(MOST_KINDS, _KIND)
        closed = (1 << before + k for k, turns in enumerate(self.antiperiodic) if turns)
        for record, kind in zip(kinds, self.kinds, strict=False):
            record["step"][before:] = kind.step
            record["shift"] = kind.shift
            for phase in range(self.cell):
                places = (p for p in range(WORD) if (phase + p) % self.cell in kind.sites)
                record["sites"][phase] = sum(1 << p for p in places)
        numbers = sum(closed), self.cell, len(self.kinds), self.negative
        return np.array((self.of_sites.struct, *numbers, kinds), CELL_LATTICE)[()]

    def _of_bonds(
        self, number: Callable[[Kind, int], Any], columns: int = 0, *, everywhere: bool = False
    ) -> NDArray[np.int32]:
        """Return numbers of each bond, given those of a kind, column by column."""
        found = []
        for kind in self.kinds:
            shape = *self.shape, self.cell
            have = np.ones(shape, bool) if everywhere else self.sites_of_kind(kind)
            of_kind = [
                np.broadcast_to(np.asarray(number(kind, column), np.int32), shape)[have]
                for column in range(columns or self.ndim)
            ]
            found.append(np.stack(of_kind, axis=1))
        return np.concatenate(found)

    def _towards_earlier_rows(self, bond: Bond) -> tuple[tuple[int, ...], int, int]:
        start, end, step = bond
        along = end - start + self.cell * step[-1]
        rows = step[:-1]
        if (rows, -along) < ((0,) * len(rows), 0):
            return rows, along, start
        return tuple(-n for n in rows), -along, end

    def _moves(self, kind: Kind, axis: int) -> Any:
        """Return how many cells bonds of a kind move along an axis, by site of the cell."""
        if axis < self.ndim - 1:
            return kind.step[axis]
        return (np.arange(self.cell) + kind.shift) // self.cell

    def _target(self, kind: Kind, axis: int) -> Any:
        """Return to which cell along an axis bonds of a kind lead, beyond its ends, too."""
        places = np.arange(self.shape[axis]).reshape(-1, *(1,) * (self.ndim - axis))
        return places + self._moves(kind, axis)

    def _leaves(self, kind: Kind, axis: int) -> NDArray[np.bool_]:
        """Return which sites' bonds of a kind lead over an end of an axis."""
        to = self._target(kind, axis)
        leaves: NDArray[np.bool_] = (to < 0) | (to >= self.shape[axis])
        return np.broadcast_to(leaves, (*self.shape, self.cell))
