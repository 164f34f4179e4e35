"""Runs of an array on the CPU, of which labels are written later: drives ``runs.h``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import new_array
from conncomp._core import native
from conncomp.grid.array import Array
from conncomp.grid.runs import described

LARGEST = np.iinfo(np.int32).max


class KeptRuns:
    """The components of an array that is one item of up to 2**31 - 1 elements, and not empty.

    They are numbered from 1, in the order of their first elements.

    Parameters
    ----------
    array : Array
        In main memory.

    Attributes
    ----------
    shape : tuple of int
    roots : ndarray of int32
        The index of the first element of each component.
    nbytes : int
        Of memory.
    one_value : bool
        Whether all foreground is known to be of one value.
    """

    def __init__(self, array: Array) -> None:
        data, links, grid, self._order = described(array)
        self.shape = array.shape
        self._runs = native.KeptRuns(data, links, grid)
        self.roots: NDArray[np.int32] = self._runs.roots()
        self.nbytes: int = self._runs.bytes
        self.one_value: bool = self._runs.one_value

    def side(self, axis: int, last: bool) -> NDArray[np.int32]:
        """Return the number of each element on a side, 0 for the background, without its axis."""
        ahead, after = self.shape[:axis], self.shape[axis + 1 :]
        if axis not in self._order:  # the side is the array
            numbers = self.write(np.arange(len(self.roots) + 1, dtype=np.int32))
            return numbers.reshape(ahead + after)
        order = [k for k in self._order if k != axis]
        numbers = np.empty([self.shape[k] for k in order], np.int32)
        self._runs.write_side(self._order.index(axis), last, numbers.reshape(-1))
        return numbers.transpose(np.argsort(order)).reshape(ahead + after)

    def write(
        self, table: NDArray[np.int32], out: NDArray[np.int32] | None = None
    ) -> NDArray[np.int32]:
        """Return an array with an entry of a table for the number of each element.

        Parameters
        ----------
        table : ndarray of int32
            For the background and each component.
        out : ndarray of int32, optional
            What is returned, such as a part of a larger array.
        """
        if out is None:
            out = new_array(np, self.shape, np.int32)
        self._runs.write(*self._placed(table, out))
        return out

    def _placed(
        self, table: NDArray[np.int32], out: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], list[int], int]:
        """Return what the native method takes; raise ValueError if it does not fit."""
        if out.shape != self.shape or out.dtype != np.int32 or len(table) != len(self.roots) + 1:
            raise ValueError("a table or an array is not that of these runs")
        strides = [out.strides[k] // out.itemsize for k in self._order]
        return table, strides, out.__array_interface__["data"][0]


class Placed(NamedTuple):
    """Runs and a table, as of `KeptRuns.write`, and the part of a larger array that they fill."""

    runs: KeptRuns
    table: NDArray[np.int32]
    out: NDArray[np.int32]


def write_together(parts: Sequence[Placed]) -> None:
    """Write labels of several parts of an array, in about the order in which they lie there.

    This takes half of the time of one part after the other, as memory goes.
    """
    native.write_runs_together(
        [(part.runs._runs, *part.runs._placed(part.table, part.out)) for part in parts]
    )
