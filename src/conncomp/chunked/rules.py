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
from conncomp.kernels.neighbourhood import Step, steps_along


@dataclass(frozen=True, slots=True)
class Rules:
    """What is connected in an array of chunks."""

    question: Question  # asked of the whole array
    shape: tuple[int, ...]  # of the labels of the whole array
    crossed: tuple[int, ...]  # the axes along which there are several chunks
    links: Links  # of values of the array's dtype
    compares_values: bool = True  # whether foreground may be of several values
    planes: bool = False  # whether chunks are bonds of bool, with an axis ahead for their axes

    @property
    def item_size(self) -> int:
        """How many elements an item has."""
        return prod(self.shape[self.question.batch_axes :])

    @property
    def closed(self) -> tuple[bool, ...]:
        """For each axis of an item, whether it is periodic within a chunk."""
        return tuple(
            periodic and self.question.batch_axes + k not in self.crossed
            for k, periodic in enumerate(self.question.neighbourhood.periodic)
        )

    @property
    def label_type(self) -> np.dtype[Any]:
        """The dtype of labels, as `label` chooses it."""
        lowest = 0 if self.question.consecutive else -1
        return as_label_type(self.question.dtype, self.item_size, lowest)


class StepAcross(NamedTuple):
    """How a step leads from a part of a side to one of another chunk."""

    near: tuple[slice, ...]  # from which elements of the part
    far: tuple[slice, ...]  # to which of the other one, once that is turned along periodic axes
    turned: tuple[int, ...]
    turns: tuple[int, ...]


class Crossing(NamedTuple):
    """How steps lead from a chunk to another one, in a direction."""

    bit: int  # of the side that they leave by; that of the other chunk differs in its last bit
    parts: tuple[Any, Any]  # of the sides of both, next to each other
    steps: tuple[StepAcross, ...]


@lru_cache(maxsize=64)
def crossings_of(rules: Rules) -> dict[Step, Crossing]:
    """Return the crossings by direction, which has a move for each axis of `crossed`.

    Of a direction and its opposite one is there, and of a step and its opposite.
    """
    shape, crossed, batch = rules.shape, rules.crossed, rules.question.batch_axes
    axes = tuple(k for k, length in enumerate(shape[batch:]) if length > 1)
    moves: dict[Step, set[Step]] = {}
    for backward in steps_along(rules.question.neighbourhood, axes).backward:
        step = [0] * len(shape)
        for axis, move in zip(axes, backward, strict=True):
            step[batch + axis] = move
        choices = ((0, step[axis]) if step[axis] else (0,) for axis in crossed)
        for direction in product(*choices):
            if any(direction):
                sign = -1 if direction > (0,) * len(direction) else 1
                key = tuple(sign * move for move in direction)
                moves.setdefault(key, set()).add(tuple(sign * move for move in step))
    return {direction: _crossing(rules, direction, moves[direction]) for direction in sorted(moves)}


def _crossing(rules: Rules, direction: Step, steps: set[Step]) -> Crossing:
    first = next(j for j, move in enumerate(direction) if move)
    over = dict(zip(rules.crossed, direction, strict=True))
    over = {axis: move for axis, move in over.items() if move}
    along = [axis for axis in range(len(rules.shape)) if axis != rules.crossed[first]]

    def part(sign: int) -> tuple[Any, ...]:
        ends = {axis: 0 if sign * move < 0 else -1 for axis, move in over.items()}
        # The dots make an array of what is left of no axis.
        return (*(ends.get(axis, slice(None)) for axis in along), ...)

    closed = (False,) * rules.question.batch_axes + rules.closed
    within = [axis for axis in along if axis not in over]
    across = []
    for step in sorted(steps):
        turned = tuple(k for k, axis in enumerate(within) if closed[axis] and step[axis])
        left = [0 if closed[axis] else step[axis] for axis in within]
        near = tuple(slice(max(-move, 0), -move if move > 0 else None) for move in left)
        far = tuple(slice(max(move, 0), move if move < 0 else None) for move in left)
        across.append(StepAcross(near, far, turned, tuple(-step[within[k]] for k in turned)))
    return Crossing(2 * first + (direction[first] > 0), (part(1), part(-1)), tuple(across))


@lru_cache(maxsize=64)
def question_of_chunk(rules: Rules, alone: bool) -> Question:
    """Return what is asked of a chunk: of whole items, or to number what others may go on with."""
    closed = rules.question.closed_along(rules.closed)
    if alone:
        return replace(closed, dtype=rules.label_type, counted=True)
    return replace(closed, consecutive=True, dtype=None, counted=True)


class _Shaped(NamedTuple):
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
    """Do the same for `label_bonds`; bonds of bool have one chunk along the axis ahead."""
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
