"""Which elements of neighbouring chunks are linked, and how a chunk alone is labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp._arrays import as_label_type
from conncomp.chunked.layout import Layout
from conncomp.grid._values import describe_values
from conncomp.grid.question import Question, question_of_bonds, question_of_image
from conncomp.kernels.links import Links, joined_by_bonds
from conncomp.kernels.neighbourhood import Neighbourhood, Step, steps_along


@dataclass(frozen=True, slots=True)
class Rules:
    """What is connected in an array of chunks."""

    question: Question  # asked of the whole array
    shape: tuple[int, ...]  # of the labels of the whole array
    crossed: tuple[int, ...]  # the axes along which there are several chunks
    links: Links  # of values of the array's dtype
    compares_values: bool = True  # whether foreground may be of several values
    # whether chunks are bonds of bool, with an axis ahead for those of each axis
    planes: bool = False

    @property
    def batch_axes(self) -> int:
        """That of the question."""
        return self.question.batch_axes

    @property
    def item_size(self) -> int:
        """How many elements an item has."""
        return prod(self.shape[self.batch_axes :])

    @property
    def closed(self) -> tuple[bool, ...]:
        """For each axis of an item, whether it is periodic within a chunk."""
        return tuple(
            periodic and self.batch_axes + k not in self.crossed
            for k, periodic in enumerate(self.question.neighbourhood.periodic)
        )

    @property
    def label_type(self) -> np.dtype[Any]:
        """The dtype of labels, as `label` chooses it."""
        lowest = 0 if self.question.consecutive else -1
        return as_label_type(self.question.dtype, self.item_size, lowest)

    @property
    def moves(self) -> dict[Step, tuple[Step, ...]]:
        """The steps that lead from a chunk to another one, by the direction of that.

        Of a step and its opposite one is there. A direction has a move for each axis of `crossed`.
        """
        return _moves(self.question.neighbourhood, self.batch_axes, self.shape, self.crossed)

    @property
    def directions(self) -> tuple[Step, ...]:
        """Those of `moves`."""
        return tuple(self.moves)


@lru_cache(maxsize=64)
def _moves(
    neighbourhood: Neighbourhood, batch_axes: int, shape: tuple[int, ...], crossed: tuple[int, ...]
) -> dict[Step, tuple[Step, ...]]:
    axes = tuple(k for k, length in enumerate(shape[batch_axes:]) if length > 1)
    moves: dict[Step, set[Step]] = {}
    for backward in steps_along(neighbourhood, axes).backward:
        step = [0] * len(shape)
        for axis, move in zip(axes, backward, strict=True):
            step[batch_axes + axis] = move
        over = [j for j, axis in enumerate(crossed) if step[axis]]
        for chosen in product((False, True), repeat=len(over)):
            direction = [0] * len(crossed)
            for j, crosses in zip(over, chosen, strict=True):
                direction[j] = step[crossed[j]] if crosses else 0
            if not any(direction):
                continue
            sign = -1 if tuple(direction) > (0,) * len(direction) else 1
            key = tuple(sign * move for move in direction)
            moves.setdefault(key, set()).add(tuple(sign * move for move in step))
    return {direction: tuple(sorted(steps)) for direction, steps in sorted(moves.items())}


@lru_cache(maxsize=64)
def question_of_chunk(rules: Rules, alone: bool) -> Question:
    """Return what is asked of a chunk: of whole items, or to number what others may go on with."""
    closed = rules.question.closed_along(rules.closed)
    if alone:
        return replace(closed, dtype=rules.label_type, counted=True)
    return replace(closed, consecutive=True, dtype=None, counted=True)


class _Shaped(NamedTuple):
    """What is known of an array in chunks."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def rules_of_image(
    chunks: Sequence[Sequence[int]], kind: np.dtype[Any], device: str = "cpu", /, **arguments: Any
) -> tuple[Layout, Rules]:
    """Check the arguments of `label` for an array in chunks of some lengths along each axis."""
    image = _Shaped(tuple(map(sum, chunks)), np.dtype(kind))
    question = question_of_image(image, device=device, **arguments)
    links = describe_values(np.zeros(1, kind), question.background, None, question.tolerance)[1]
    one_value = image.dtype.kind == "b" and links.background is not None
    layout = _layout(chunks, question)
    return layout, Rules(question, image.shape, layout.crossed, links, not one_value)


def rules_of_bonds(
    chunks: Sequence[Sequence[int]], kind: np.dtype[Any], device: str = "cpu", /, **arguments: Any
) -> tuple[Layout, Rules]:
    """Do what `rules_of_image` does, for `label_bonds`.

    Bonds of bool have one chunk along their first axis, which is not one of the lattice.
    """
    bonds = _Shaped(tuple(map(sum, chunks)), np.dtype(kind))
    question = question_of_bonds(bonds, device=device, **arguments)
    planes = bonds.dtype == np.bool_
    shape = bonds.shape[planes:]
    links = joined_by_bonds(tuple((0, 1 << k) for k in range(len(shape) - question.batch_axes)))
    layout = _layout(chunks[planes:], question)
    return layout, Rules(question, shape, layout.crossed, links, planes=planes)


def _layout(chunks: Sequence[Sequence[int]], question: Question) -> Layout:
    lengths = tuple(tuple(int(length) for length in axis if length) for axis in chunks)
    batch = question.batch_axes
    return Layout(lengths, (False,) * batch + question.neighbourhood.periodic, batch)
