"""The layout of an array in chunks, and the neighbours of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, product
from math import prod
from operator import add

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.neighbourhood import Step

Index = tuple[int, ...]  # of a chunk, along each axis
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """The chunks of an array, none of which is empty."""

    lengths: tuple[Shape, ...]  # of the chunks along each axis
    periodic: tuple[bool, ...]  # False for batch axes
    batch_axes: int = 0  # ahead, of separate arrays, the items

    @cached_property
    def shape(self) -> Shape:
        """The shape of the array."""
        return tuple(sum(lengths) for lengths in self.lengths)

    @cached_property
    def counts(self) -> Shape:
        """The number of chunks along each axis."""
        return tuple(len(lengths) for lengths in self.lengths)

    @cached_property
    def crossed(self) -> Shape:
        """The axes of items along which there are several chunks."""
        return tuple(k for k in range(self.batch_axes, len(self.counts)) if self.counts[k] > 1)

    @cached_property
    def _starts(self) -> tuple[Shape, ...]:
        return tuple(tuple(accumulate(lengths, initial=0))[:-1] for lengths in self.lengths)

    def indices(self) -> Iterator[Index]:
        """Yield the index of each chunk, in C order."""
        return product(*map(range, self.counts))

    def start(self, index: Index) -> Shape:
        """Return where a chunk begins in the array."""
        return tuple(starts[k] for starts, k in zip(self._starts, index, strict=True))

    def chunk_shape(self, index: Index) -> Shape:
        """Return the shape of a chunk."""
        return tuple(lengths[k] for lengths, k in zip(self.lengths, index, strict=True))

    def place(self, index: Index) -> tuple[slice, ...]:
        """Return where a chunk lies."""
        parts = zip(self.start(index), self.chunk_shape(index), strict=True)
        return tuple(slice(begin, begin + length) for begin, length in parts)

    def sides(self, index: Index) -> int:
        """Return the sides of a chunk beyond which there is another one, as bits.

        Bit 2 j is the first side along the axis ``crossed[j]``, bit 2 j + 1 the last one.
        """
        bits = 0
        for j, axis in enumerate(self.crossed):
            closed, k = self.periodic[axis], index[axis]
            bits |= (closed or k > 0) << 2 * j
            bits |= (closed or k + 1 < self.counts[axis]) << 2 * j + 1
        return bits

    def neighbours(self, index: Index, directions: tuple[Step, ...]) -> list[tuple[Step, Index]]:
        """Return which of some directions lead from a chunk to another one, and to which."""
        inside = all(0 < index[axis] < self.counts[axis] - 1 for axis in self.crossed)
        found = []
        every = _moves(directions, self.crossed, len(index))
        for direction, moves in zip(directions, every, strict=True):
            other = tuple(map(add, index, moves))
            if not inside:
                axes = zip(other, self.counts, self.periodic, strict=True)
                other = tuple(k % count if closed else k for k, count, closed in axes)
                if not all(0 <= k < count for k, count in zip(other, self.counts, strict=True)):
                    continue
            found.append((direction, other))
        return found

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return prod(self.counts)


def items_at(place: tuple[slice, ...], batch: Shape) -> NDArray[np.int64]:
    """Return the numbers of the items at a place, in C order, given the lengths of batch axes."""
    numbers = np.zeros((), np.int64)
    for part, length in zip(place, batch, strict=False):
        numbers = numbers[..., None] * length + np.arange(part.start, part.stop)
    return numbers.reshape(-1)


@lru_cache(maxsize=64)
def _moves(directions: tuple[Step, ...], crossed: Index, ndim: int) -> tuple[Index, ...]:
    """Return how far directions along some axes lead along each axis of the array."""
    places = {axis: j for j, axis in enumerate(crossed)}
    wanted = [places.get(axis, len(crossed)) for axis in range(ndim)]
    return tuple(tuple((*direction, 0)[place] for place in wanted) for direction in directions)
