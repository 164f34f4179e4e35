"""The runs of an array on the CPU, kept to write labels from them later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._array_storage import new_array
from conncomp._core import native
from conncomp.grid.array import Array
from conncomp.grid.on_cpu import NativeImage

# The most elements of an array for `KeptRuns`.
LARGEST = np.iinfo(np.int32).max
Numbers = NDArray[np.int32]


class KeptRuns:
    """The components of an array: one item, not empty, of up to `LARGEST` elements.

    Components are numbered from 1, in the order of their first elements, whose indices are `roots`;
    `one_value` is whether all foreground is known to have one value.
    """

    def __init__(self, array: Array) -> None:
        image = NativeImage(array)
        self.shape, self._order = array.values.shape, image.order
        self._runs = native.KeptRuns(image.address, image.rule, image.grid)
        self.roots: Numbers = self._runs.roots()
        self.nbytes: int = self._runs.bytes
        self.one_value: bool = self._runs.one_value

    def side(self, axis: int, last: bool) -> Numbers:
        """Return the numbers of the elements on a side, 0 for background, without its axis."""
        ahead, after = self.shape[:axis], self.shape[axis + 1 :]
        if axis not in self._order:  # of length 1: the side is the whole array
            numbers = self.write(np.arange(len(self.roots) + 1, dtype=np.int32))
            return numbers.reshape(ahead + after)
        order = [k for k in self._order if k != axis]
        numbers = np.empty([self.shape[k] for k in order], np.int32)
        self._runs.write_side(self._order.index(axis), last, numbers.reshape(-1))
        return numbers.transpose(np.argsort(order)).reshape(ahead + after)

    def write(self, table: Numbers, out: Numbers | None = None) -> Numbers:
        """Return ``table[numbers]`` for the numbers of all elements, in `out` if given."""
        if out is None:
            out = new_array(np, self.shape, np.int32)
        self._runs.write(*self._placed(table, out))
        return out

    def _placed(self, table: Numbers, out: Numbers) -> tuple[Numbers, list[int], int]:
        """Return table, strides in elements and address for native calls; check that they fit."""
        if out.shape != self.shape or out.dtype != np.int32 or len(table) != len(self.roots) + 1:
            raise ValueError("a table or an array is not that of these runs")
        strides = [out.strides[k] // out.itemsize for k in self._order]
        return table, strides, out.__array_interface__["data"][0]


class Placed(NamedTuple):
    """Arguments of `KeptRuns.write`; `out` is a part of a larger array."""

    runs: KeptRuns
    table: Numbers
    out: Numbers


def write_together(parts: Sequence[Placed]) -> None:
    """Call `KeptRuns.write` for parts of an array together, in memory order: twice as fast."""
    placed = [(runs._runs, *runs._placed(table, out)) for runs, table, out in parts]
    native.write_runs_together(placed)
