"""Who is whose neighbour in an array: a symmetric set of steps, and which axes are periodic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
Strides = tuple[int, ...]
Step = tuple[int, ...]  # -1, 0 or 1 along each axis


class Neighbourhood(NamedTuple):
    """What a caller says of neighbours.

    They differ along up to `connectivity` axes; or, if that is None, `structure` has the bytes of a
    symmetric structuring element of booleans, ``(3,) * ndim``, whose centre does not count. Axes
    that are `periodic` close on themselves.
    """

    connectivity: int | None
    structure: bytes | None
    periodic: tuple[bool, ...]

    def count(self, axes: tuple[int, ...]) -> int:
        """Return how many neighbours an element has along some axes, as of `steps_along`."""
        if self.structure is None:
            assert self.connectivity is not None
            moves = range(1, min(self.connectivity, len(axes)) + 1)
            return sum(comb(len(axes), k) << k for k in moves)
        present = _along(self.structure, self.periodic, axes)
        return int(np.count_nonzero(present)) - int(present[(1,) * present.ndim])


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps to neighbours along the axes that a kernel takes.

    `backward` has one of each pair of opposite steps, in lexical order: that to an element before.
    `connectivity` is that of just these steps, but for axes put ahead, or None. `steps_along` keeps
    them, so what is derived can be kept by identity.
    """

    backward: tuple[Step, ...]
    periodic: tuple[bool, ...]
    connectivity: int | None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.periodic)

    @cached_property
    def most_moves(self) -> int:
        """The most axes that a step moves along."""
        return max((sum(map(abs, step)) for step in self.backward), default=0)

    @cached_property
    def straight(self) -> tuple[bool, ...]:
        """For each axis, whether elements next to each other along it are neighbours."""
        units = (tuple(-int(k == axis) for k in range(self.ndim)) for axis in range(self.ndim))
        return tuple(unit in self.backward for unit in units)

    @cached_property
    def packed(self) -> NDArray[np.int8]:
        """`backward` as an array of shape (steps, ndim)."""
        return np.array(self.backward, np.int8).reshape(len(self.backward), self.ndim)

    @cached_property
    def bits(self) -> NDArray[np.uint32]:
        """The steps both ways as bits, numbered as in ``core/neighbourhood.h``."""
        words = np.zeros((3**self.ndim + 31) // 32, np.uint32)
        for step in self.backward:
            for sign in (1, -1):
                code = 0
                for move in step:
                    code = 3 * code + sign * move + 1
                words[code // 32] |= np.uint32(1 << code % 32)
        return words


@lru_cache(maxsize=1024)
def steps_along(neighbourhood: Neighbourhood, axes: tuple[int, ...], ahead: int = 0) -> Steps:
    """Return the steps along some axes, in that order; the others must be of length 1.

    A step along an axis of length 1 leads out of the array; along a periodic one it leads nowhere,
    so that what else the step does counts. So many axes of length 1 are put ahead.
    """
    connectivity, structure, periodic = neighbourhood
    if structure is None:
        assert connectivity is not None
        kept = _within_connectivity(len(axes), connectivity)
        known: int | None = min(connectivity, len(axes)) or None
    else:
        moves = (tuple(map(int, at)) for at in np.argwhere(_along(structure, periodic, axes)) - 1)
        kept = {step for step in moves if step < (0,) * len(axes)}
        most_moves = max((sum(map(abs, step)) for step in kept), default=0)
        known = most_moves if kept and kept == _within_connectivity(len(axes), most_moves) else None
    none = (0,) * ahead
    return Steps(
        tuple(sorted((*none, *step) for step in kept)),
        (*(False,) * ahead, *(periodic[k] for k in axes)),
        known,
    )


def _within_connectivity(ndim: int, connectivity: int) -> set[Step]:
    """Return the backward steps that move along up to `connectivity` axes."""
    steps = set()
    for moves in range(1, min(connectivity, ndim) + 1):
        for axes in combinations(range(ndim), moves):
            for later in product((-1, 1), repeat=moves - 1):
                step = [0] * ndim
                for axis, move in zip(axes, (-1, *later), strict=True):
                    step[axis] = move
                steps.add(tuple(step))
    return steps


def _along(structure: bytes, closed: tuple[bool, ...], axes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a structuring element without the other axes, which are of length 1."""
    ndim = len(closed)
    present = np.frombuffer(structure, bool).reshape((3,) * ndim)
    left_out = [k for k in range(ndim) if k not in axes]
    for k in left_out:
        # Each way along a periodic axis of length 1 leads to the same element.
        present = np.any(present if closed[k] else present.take([1], k), k, keepdims=True)
    return present.transpose(*axes, *left_out).reshape((3,) * len(axes))
