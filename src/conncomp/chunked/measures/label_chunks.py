"""Labels in chunks: which chunks and items there are, and the labels of one, numbered.

`LabelChunks` has two kinds, which read chunks, call and merge: calls become tasks in Dask arrays
(``dask_labels.py``), and are made block by block in files (``volume_labels.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_batch_axes
from conncomp._arrays import as_cupy, on_gpu
from conncomp.chunked.labelling import side_of, unmasked
from conncomp.chunked.layout import Index, Layout, items_at
from conncomp.chunked.tree import Function
from conncomp.components._labels import Background, check_background
from conncomp.components.renumbering import relabel_consecutive

Integers = NDArray[np.int64]
Labels = NDArray[Any]  # of NumPy or CuPy
Layers = dict[int, Labels]  # by the axis that a layer lacks
Lengths = tuple[tuple[int, ...], ...]  # of chunks along each axis
INT64_MAX = int(np.iinfo(np.int64).max)
MERGED = 32  # results that one call merges


class Labelling(NamedTuple):
    """The meaning of labels in chunks: which label is no component, and which axes are separate."""

    background: int | None
    batch_axes: int

    @property
    def empty(self) -> int:
        """The number that stands for no component: the background, or -1 if there is none."""
        return -1 if self.background is None else self.background


class LabelChunks:
    """Labels in chunks, of one element or more, none below `lowest`; subclasses are their kinds."""

    of_no_element: ClassVar[Function]  # for Dask arrays alone: a volume in files has elements

    def __init__(self, array: Any, lengths: Lengths, background: Background, axes: int) -> None:
        self.array, shape = array, array.shape
        batch = as_batch_axes(axes, len(shape), "labels")
        empty, self.lowest = check_background(background, shape[:batch], shape[batch:])
        self.labelling = Labelling(None if background is None else empty, batch)
        self.layout = Layout(lengths, (False,) * len(shape), batch)

    @property
    def batch(self) -> tuple[int, ...]:
        """The lengths of the batch axes."""
        return self.layout.shape[: self.labelling.batch_axes]

    def blocks(self) -> Iterable[Index]:
        """Yield the index along the batch axes of each block of chunks that have the same items."""
        return np.ndindex(*self.layout.counts[: len(self.batch)])

    def indices(self, block: Index) -> list[Index]:
        """Return the indices of the chunks of a block."""
        return [(*block, *k) for k in np.ndindex(*self.layout.counts[len(block) :])]

    def items(self, block: Index) -> Integers:
        """Return the numbers of the items of a block, in C order."""
        ends = (0,) * (len(self.layout.shape) - len(block))
        return items_at(self.layout.place((*block, *ends)), self.batch)

    def block_shape(self, block: Index) -> tuple[int, ...]:
        """Return how many items a block has along each batch axis."""
        return tuple(self.layout.lengths[axis][k] for axis, k in enumerate(block))


class Numbered(NamedTuple):
    """Labels of a chunk, renumbered within each item."""

    numbers: Labels  # where the labels lie
    old: Integers  # the label of each number, a row for each item
    empty: int  # the number that stands for no component


def number_chunk(labelling: Labelling, labels: Labels, name: str = "labels") -> Numbered:
    """Renumber the labels of a chunk; raise ValueError if one is negative or not of int64."""
    given = as_cupy(labels) if on_gpu(labels) else labels
    numbers, old = relabel_consecutive(given, return_labels=True, **labelling._asdict())
    old = unmasked(old).reshape(prod(labels.shape[: labelling.batch_axes]), -1)
    if old.size and old.min() < 0:
        raise ValueError(f"{name} holds {old.min()}; labels are not negative")
    check_fits(old, name)
    return Numbered(numbers, old.astype(np.int64), labelling.empty)


def check_fits(labels: Labels, name: str = "labels") -> None:
    """Raise ValueError if one of some labels is too large for int64, which those of rows are."""
    if labels.dtype.kind == "u" and labels.size and labels.max() > INT64_MAX:
        told = f"{name} holds {labels.max()}, too large for int64"
        raise ValueError(f"{told}; renumber it first, with conncomp.relabel_consecutive({name})")


def without_mask(empty: int, labels: Labels) -> Any:
    """Return labels as an array of NumPy or CuPy, with `empty` for masked elements."""
    if on_gpu(labels):
        return as_cupy(labels)
    if not isinstance(labels, np.ma.MaskedArray):
        return labels
    check_fits(labels.compressed())
    return np.ma.filled(labels.astype(np.int64), empty)


def last_layers(axes: Sequence[int], empty: int, labels: Labels) -> Layers:
    """Return the last layer of a chunk along each of some axes, without the axis."""
    whole = without_mask(empty, labels)
    # Copies, as a view would keep the whole chunk in memory.
    return {axis: np.array(unmasked(side_of(whole, axis, True))) for axis in axes}


def preceding(layout: Layout, index: Index, most: int) -> dict[Index, Index]:
    """Return the chunks that precede one along up to `most` axes at once, by these axes."""
    all_moves = product((0, -1), repeat=len(layout.crossed))
    moves = tuple(each for each in all_moves if 0 < -sum(each) <= most)
    return {
        tuple(axis for axis, move in zip(layout.crossed, each, strict=True) if move): other
        for each, other in layout.neighbours(index, moves)
    }


def rows_of_items(batch: Integers, shape: Sequence[int]) -> Integers:
    """Return the rows, among the items of a chunk, of indices along its batch axes."""
    rows = np.zeros(len(batch), np.int64)
    for k, length in zip(batch.T, shape, strict=False):
        rows = rows * length + k
    return rows


def items_along(items: Integers, batch: Index) -> Integers:
    """Return the numbers of items as indices along the batch axes."""
    if not batch:
        return np.empty((len(items), 0), np.int64)
    return np.stack(np.unravel_index(items, batch), axis=-1).astype(np.int64)
