"""Which elements of neighbouring chunks are linked, and how a chunk alone is labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arrays import check_kind
from conncomp.chunked.layout import Layout
from conncomp.grid._arguments import check_batch_axes, check_neighbourhood, check_periodic
from conncomp.grid._values import describe_values
from conncomp.grid.bonds import check_lattice
from conncomp.kernels.links import Links, joined_by_bonds
from conncomp.kernels.neighbourhood import Neighbourhood, Step


@dataclass(frozen=True)
class Rules:
    """What is connected in an array of chunks.

    Attributes
    ----------
    shape : tuple of int
        Of the labels of the whole array.
    batch_axes : int
    crossed : tuple of int
        The axes along which there are several chunks, as of the `Layout`.
    neighbourhood : Neighbourhood
        Along the axes after the batch axes.
    links : Links
    compares_values : bool
        Whether foreground may be of several values.
    planes : bool
        Whether chunks are bonds of bool, with an axis ahead that has a plane for each axis.
    choices : mapping
        Further arguments of `label` or `label_bonds` for a chunk.
    """

    shape: tuple[int, ...]
    batch_axes: int
    crossed: tuple[int, ...]
    neighbourhood: Neighbourhood
    links: Links
    compares_values: bool
    planes: bool = False
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def item_size(self) -> int:
        """How many elements an item has."""
        return prod(self.shape[self.batch_axes :])

    @property
    def closed(self) -> tuple[bool, ...]:
        """For each axis of an item, whether it is periodic within a chunk."""
        return tuple(
            periodic and self.batch_axes + k not in self.crossed
            for k, periodic in enumerate(self.neighbourhood.periodic)
        )

    @cached_property
    def moves(self) -> dict[Step, tuple[Step, ...]]:
        """The steps that lead from a chunk to another one, by the direction of that.

        Of a step and its opposite one is there. A direction has a move for each of the axes
        `crossed`, a step one for each axis of the array.
        """
        item = self.shape[self.batch_axes :]
        axes = tuple(k for k, length in enumerate(item) if length > 1)
        moves: dict[Step, set[Step]] = {}
        for backward in self.neighbourhood.steps(axes).backward:
            step = [0] * len(self.shape)
            for axis, move in zip(axes, backward, strict=True):
                step[self.batch_axes + axis] = move
            over = [j for j, axis in enumerate(self.crossed) if step[axis]]
            for chosen in product_of_choices(len(over)):
                direction = [0] * len(self.crossed)
                for j, crosses in zip(over, chosen, strict=True):
                    direction[j] = step[self.crossed[j]] if crosses else 0
                if not any(direction):
                    continue
                sign = -1 if tuple(direction) > (0,) * len(direction) else 1
                key = tuple(sign * move for move in direction)
                moves.setdefault(key, set()).add(tuple(sign * move for move in step))
        return {direction: tuple(sorted(steps)) for direction, steps in sorted(moves.items())}

    @cached_property
    def directions(self) -> tuple[Step, ...]:
        """Those of `moves`."""
        return tuple(self.moves)


def product_of_choices(count: int) -> list[tuple[bool, ...]]:
    """Return all ways to answer so many questions by yes or no."""
    return [tuple(bool(bits >> k & 1) for k in range(count)) for bits in range(1 << count)]


def rules_of_image(
    chunks: Sequence[Sequence[int]],
    dtype: np.dtype[Any],
    *,
    background: float | None = None,
    connectivity: float | None = None,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int = 0,
    **choices: Any,
) -> tuple[Layout, Rules]:
    """Check the arguments of `label` for an array in chunks.

    Parameters
    ----------
    chunks : sequence of sequence of int
        For each axis the lengths of the chunks along it; those of length 0 are left out.
    dtype : dtype
        Of the array.
    background, connectivity, structure, tolerance, periodic, batch_axes
        As of `label`.
    **choices
        Further arguments of `label` for each chunk, such as ``algorithm`` and ``device``.

    Returns
    -------
    layout : Layout
    rules : Rules

    Raises
    ------
    TypeError, ValueError
        As `label`.
    """
    shape = tuple(map(sum, chunks))
    probe = np.empty((1,) * len(shape), dtype)
    check_kind(probe, "biuf", probe, "label_image", "of bool, integer or floating dtype")
    batch = check_batch_axes(batch_axes, len(shape), "label_image")
    item = "an item of label_image" if batch else "label_image"
    neighbourhood = check_neighbourhood(connectivity, structure, periodic, shape[batch:], item)
    probe.fill(0)
    links = describe_values(probe, background, None, tolerance)[1]
    one_value = dtype.kind == "b" and links.background is not None
    layout = _layout(chunks, neighbourhood.periodic, batch)
    choices |= {"background": background, "tolerance": tolerance}
    choices |= {"connectivity": connectivity, "structure": structure}
    rules = Rules(
        shape, batch, layout.crossed, neighbourhood, links, not one_value, choices=choices
    )
    return layout, rules


def rules_of_bonds(
    chunks: Sequence[Sequence[int]],
    dtype: np.dtype[Any],
    *,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int = 0,
    **choices: Any,
) -> tuple[Layout, Rules]:
    """Check the arguments of `label_bonds` for bonds in chunks.

    As `rules_of_image`; bonds of bool have one chunk along their first axis, which is not one of
    the lattice.
    """
    probe: NDArray[Any] = np.broadcast_to(np.zeros((), dtype), tuple(map(sum, chunks)))
    shape, batch = check_lattice(probe, batch_axes)
    planes = np.dtype(dtype) == np.bool_
    item = "a lattice of bonds" if batch else "the lattice of bonds"
    closed = check_periodic(periodic, len(shape) - batch, item)
    links = joined_by_bonds(tuple((0, 1 << k) for k in range(len(shape) - batch)))
    layout = _layout(chunks[planes:], closed, batch)
    neighbourhood = Neighbourhood(1, None, closed)
    rules = Rules(shape, batch, layout.crossed, neighbourhood, links, True, planes, choices=choices)
    return layout, rules


def _layout(chunks: Sequence[Sequence[int]], periodic: tuple[bool, ...], batch_axes: int) -> Layout:
    lengths = tuple(tuple(int(length) for length in axis if length) for axis in chunks)
    return Layout(lengths, (False,) * batch_axes + periodic, batch_axes)
