"""Which elements of neighbouring chunks are linked, and so which of their components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import as_label_type
from conncomp._core import native
from conncomp.chunked.layout import Layout
from conncomp.grid._arguments import question_of_bonds, question_of_image
from conncomp.grid._values import describe_values
from conncomp.grid.question import Question
from conncomp.grid.runs import KeptRuns
from conncomp.kernels.links import Links, bonds_of_axes
from conncomp.kernels.neighbourhood import Step, steps_along


@dataclass(frozen=True, slots=True)
class Rules:
    """What is connected in an array of chunks."""

    question: Question  # asked of the whole array
    shape: tuple[int, ...]  # of the labels of the whole array
    crossed: tuple[int, ...]  # the axes along which there are several chunks
    links: Links  # of values of the array's dtype
    label_type: np.dtype[Any]  # as `label` chooses it
    compares_values: bool = True  # whether foreground may be of several values
    planes: bool = False  # whether chunks are bonds of bool, with an axis ahead for their axes

    @property
    def item_size(self) -> int:
        """How many elements an item has."""
        return prod(self.shape[self.question.batch_axes :])

    @property
    def closed(self) -> tuple[bool, ...]:
        """For each axis of an item, whether it is periodic within a chunk."""
        axes = enumerate(self.question.neighbourhood.periodic, self.question.batch_axes)
        return tuple(periodic and axis not in self.crossed for axis, periodic in axes)


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
    return _rules(chunks, question, links, compares_values=not one_value)


def rules_of_bonds(
    chunks: Sequence[Sequence[int]], kind: np.dtype[Any], device: str = "cpu", /, **arguments: Any
) -> tuple[Layout, Rules]:
    """Do the same for `label_bonds`; bonds of bool have one chunk along the axis ahead."""
    bonds = _Shaped(tuple(map(sum, chunks)), np.dtype(kind))
    question = question_of_bonds(bonds, device=device, **arguments)
    planes = bonds.dtype == np.bool_
    shape = bonds.shape[planes:]
    links = bonds_of_axes(len(shape) - question.batch_axes)
    return _rules(chunks[planes:], question, links, planes=planes)


def _rules(
    chunks: Sequence[Sequence[int]], question: Question, links: Links, **more: bool
) -> tuple[Layout, Rules]:
    lengths = tuple(tuple(int(length) for length in axis if length) for axis in chunks)
    batch, shape = question.batch_axes, tuple(map(sum, chunks))
    layout = Layout(lengths, (False,) * batch + question.neighbourhood.periodic, batch)
    kind = as_label_type(question.dtype, prod(shape[batch:]), 0 if question.consecutive else -1)
    return layout, Rules(question, shape, layout.crossed, links, kind, **more)


class Face(NamedTuple):
    """One side of a chunk; arrays lack the axis that leads to it."""

    ids: NDArray[np.int32]  # which component of the report, -1 for the background
    # Values, or for bonds whether there is one to the next chunk; one entry without axes for all
    # foreground, if that is of one value; or None.
    compared: NDArray[Any] | None


class Report(NamedTuple):
    """What other chunks have to know of one. Arrays of components have those on faces, in order."""

    roots: NDArray[np.int64]  # flat index in the whole array of the first element in this chunk
    labels: NDArray[np.int64]  # in this chunk
    segments: NDArray[np.int64]  # where that element lies, as segment_axis says
    touched: NDArray[np.uint64]  # bits of sides, as of Layout.sides
    faces: dict[int, Face]  # beyond which there is another chunk, by the number of their bit
    counts: NDArray[np.int64]  # of components, on faces or not, that begin in each segment
    sizes: NDArray[np.int64] = np.zeros(0, np.int64)  # of parts in the chunk; empty unless wanted
    # components on no face that may be among the largest of all; empty unless wanted
    inner_roots: NDArray[np.int64] = np.zeros(0, np.int64)
    inner_sizes: NDArray[np.int64] = np.zeros(0, np.int64)
    runs: KeptRuns | None = None  # kept if they are no larger than the values, in this process

    def __reduce__(self) -> Any:
        return (Report, (*self[:-1], None))


def linked_roots(links: Links, crossing: Crossing, one: Report, other: Report) -> NDArray[np.int64]:
    """Return distinct pairs of roots that links between two chunks unite, as two rows."""
    faces = one.faces[crossing.bit], other.faces[crossing.bit ^ 1]
    sides = list(zip(faces, crossing.parts, strict=True))
    here, there = (face.ids[part] + np.int32(1) for face, part in sides)  # 0 is background now
    near, far = (
        face.compared
        if face.compared is None or face.compared.ndim < face.ids.ndim
        else face.compared[part]
        for face, part in sides
    )
    if near is not None and far is not None:
        if near.ndim == far.ndim == 0:
            here, near, far = here * np.int32(_are_linked(links, near, far)), None, None
        else:
            near, far = np.broadcast_to(near, here.shape), np.broadcast_to(far, there.shape)
    others = len(other.roots) + 1
    codes = []
    for step in crossing.steps:
        ids, reached, values = here[step.near], there, far
        if step.turned:
            reached = np.roll(there, step.turns, step.turned)
            values = None if far is None else np.roll(far, step.turns, step.turned)
        reached = reached[step.far]
        if near is not None or values is not None:
            own = None if near is None else near[step.near]
            linked = _are_linked(links, own, None if values is None else values[step.far])
            ids = np.where(linked, ids, np.int32(0))
        runs = native.pair_runs(ids.reshape(-1), reached.reshape(-1)).reshape(-1, 3)
        codes.append(runs[:, 0] * others + runs[:, 1])
    pairs = np.unique(np.concatenate(codes))
    return np.stack([one.roots[pairs // others - 1], other.roots[pairs % others - 1]])


def _are_linked(links: Links, near: Any, far: Any) -> Any:
    """Return which elements are linked to those in their places; the first chunk has bonds."""
    if links.rule == "bonds":
        return far if near is None else near
    if links.rule == "equal":
        return near == far
    with np.errstate(invalid="ignore", over="ignore"):
        if near.dtype.kind == "f":
            near, far = near.astype(np.float64), far.astype(np.float64)
            return (near == far) | (abs(near - far) <= links.limit)
        unsigned = np.dtype(f"u{near.dtype.itemsize}")
        high, low = np.maximum(near, far), np.minimum(near, far)
        # Unsigned numbers wrap around to the difference, which always fits.
        return high.astype(unsigned) - low.astype(unsigned) <= unsigned.type(links.limit)
