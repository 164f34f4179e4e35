"""The question to an array in chunks: who is connected, over which sides, and how labels are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp._label_output import as_label_type
from conncomp.chunked.layout import Layout
from conncomp.grid._arguments import question_of_bonds, question_of_image
from conncomp.grid._values import describe_values
from conncomp.grid.array import Question
from conncomp.kernels.links import Links, bonds_of_axes

Lengths = Sequence[Sequence[int]]  # of chunks along each axis


@dataclass(frozen=True, slots=True)
class Rules:
    """The question to an array in chunks, resolved for its shape and dtype."""

    question: Question  # asked of the whole array
    shape: tuple[int, ...]  # of the labels of the whole array
    crossed: tuple[int, ...]  # the axes along which there are several chunks
    links: Links  # of values of the array's dtype
    label_type: np.dtype[Any]  # as `label` chooses it
    compares_values: bool = True  # whether foreground may be of several values
    planes: bool = False  # whether chunks are bonds of bool, with an axis ahead for their axes

    @property
    def item_size(self) -> int:
        """The number of elements of an item."""
        return prod(self.shape[self.question.batch_axes :])

    @property
    def closed(self) -> tuple[bool, ...]:
        """For each axis of an item, whether it is periodic within a chunk."""
        axes = enumerate(self.question.neighbourhood.periodic, self.question.batch_axes)
        return tuple(periodic and axis not in self.crossed for axis, periodic in axes)


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
    chunks: Lengths, kind: np.dtype[Any], device: str = "cpu", /, **arguments: Any
) -> tuple[Layout, Rules]:
    """Check the arguments of `label` for an array in chunks."""
    image = _Shaped(tuple(map(sum, chunks)), np.dtype(kind))
    question = question_of_image(image, device=device, **arguments)
    links = describe_values(np.zeros(1, kind), question.background, None, question.tolerance)[1]
    one_value = image.dtype.kind == "b" and links.background is not None
    return _rules(chunks, question, links, compares_values=not one_value)


def rules_of_bonds(
    chunks: Lengths, kind: np.dtype[Any], device: str = "cpu", /, **arguments: Any
) -> tuple[Layout, Rules]:
    """Do the same for `label_bonds`; bonds of bool have one chunk along the axis ahead."""
    bonds = _Shaped(tuple(map(sum, chunks)), np.dtype(kind))
    question = question_of_bonds(bonds, device=device, **arguments)
    planes = bonds.dtype == np.bool_
    shape = bonds.shape[planes:]
    links = bonds_of_axes(len(shape) - question.batch_axes)
    return _rules(chunks[planes:], question, links, planes=planes)


def _rules(chunks: Lengths, question: Question, links: Links, **more: bool) -> tuple[Layout, Rules]:
    lengths = tuple(tuple(int(length) for length in axis if length) for axis in chunks)
    batch, shape = question.batch_axes, tuple(map(sum, chunks))
    layout = Layout(lengths, (False,) * batch + question.neighbourhood.periodic, batch)
    kind = as_label_type(question.dtype, prod(shape[batch:]), 0 if question.consecutive else -1)
    return layout, Rules(question, shape, layout.crossed, links, kind, **more)
