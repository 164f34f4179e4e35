"""Labels in chunks, as functions of them see these: what reads a chunk, calls and merges.

``dask_labels.py`` has those in Dask arrays, whose calls become tasks; ``volume_labels.py`` those in
files, whose calls are made block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_batch_axes
from conncomp._arrays import check_kind
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.measures.measuring import Labelling
from conncomp.components._labels import Background, check_background
from conncomp.components.columns.intensities import NUMBERS

# ``check(array, given, shape)`` raises unless an array of the library of labels, made of what was
# given, is what it is to be, and of their shape.
Check = Callable[[Any, Any, tuple[int, ...]], None]

MERGED = 32  # results that one call merges


class LabelChunks:
    """Labels in chunks, of one element or more.

    Parameters
    ----------
    given : dask.array.Array or VolumeFile
    background : {"auto", 0, -1, None}
    batch_axes : int
    *token : object
        What is done with the labels: all that names of tasks depend on.

    Attributes
    ----------
    array : dask.array.Array or VolumeFile
    labelling : Labelling
    lowest : int
        No label is lower.
    layout : Layout
    """

    def __init__(self, given: Any, background: Background, batch_axes: int, *token: Any) -> None:
        self.array = self.checked(given)
        shape = self.array.shape
        batch = as_batch_axes(batch_axes, len(shape), "labels")
        empty, self.lowest = check_background(background, shape[:batch], shape[batch:])
        self.labelling = Labelling(None if background is None else empty, batch)
        self.layout = Layout(self.lengths(), (False,) * len(shape), batch)

    @staticmethod
    def checked(given: Any, name: str = "labels") -> Any:
        """Return labels as an array of integers in chunks; raise TypeError if they are none."""
        raise NotImplementedError

    @staticmethod
    def of_mask(given: Any, connectivity: float | None, batch_axes: int) -> Any:
        """Return the labels of a mask."""
        raise NotImplementedError

    @staticmethod
    def of_no_element(function: Any, given: Any, *arguments: Any, **options: Any) -> Any:
        """Return what a function of labels in memory returns of none."""
        raise NotImplementedError

    def lengths(self) -> tuple[tuple[int, ...], ...]:
        """Return the lengths of the chunks along each axis."""
        raise NotImplementedError

    def chunk(self, index: Index) -> Any:
        """Return what stands for a chunk."""
        raise NotImplementedError

    @staticmethod
    def beside(name: str, given: Any, labels: Any, check: Check) -> Any:
        """Return another array in the chunks of labels, which is checked before it is cut."""
        raise NotImplementedError

    def chunk_beside(self, other: Any, index: Index) -> Any:
        """Return what stands for a chunk of what `beside` returned."""
        raise NotImplementedError

    def call(self, name: str, index: Index, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function, now or later, as ``engine.py`` says."""
        raise NotImplementedError

    def merged(self, name: str, block: Index, parts: Sequence[Any], merge: Any) -> Any:
        """Return several parts merged to one, in a tree, or what stands for that."""
        height = 0
        while height == 0 or len(parts) > 1:
            groups = range(0, len(parts), MERGED)
            parts = [
                self.call(f"{name}-{height}", (*block, k), merge, *parts[group : group + MERGED])
                for k, group in enumerate(groups)
            ]
            height += 1
        return parts[0]

    def map(self, name: str, dtype: Any, function: partial[Any], after: Any) -> Any:
        """Return labels that a function makes of each chunk and a result of its block.

        A result is a list, of what concerns each item.
        """
        raise NotImplementedError

    def columns(self, name: str, dtype: Any, function: Callable[..., Any], of_blocks: Any) -> Any:
        """Return an array of one axis, of unknown length, for each item."""
        raise NotImplementedError

    def column(self, name: str, dtype: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return an array of one axis, of unknown length."""
        raise NotImplementedError

    def fields(
        self, name: str, made: Any, like: Mapping[str, Any], missing: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return an array for each field of what is made.

        Parameters
        ----------
        name : str
        made : object
            Has the fields, or stands for what has them.
        like : mapping
            By the names of fields, arrays that have their dtypes and shapes, with no row.
        missing : sequence of str, optional
            Fields that have no rows; of the others the number of rows is not known.
        """
        raise NotImplementedError

    @property
    def batch(self) -> tuple[int, ...]:
        """The lengths of the batch axes."""
        return self.layout.shape[: self.labelling.batch_axes]

    def blocks(self) -> Iterable[Index]:
        """Yield the index along the batch axes of each block of chunks that have the same items."""
        return np.ndindex(*self.layout.counts[: len(self.batch)])

    def chunks(self, block: Index) -> list[Index]:
        """Return the indices of the chunks of a block."""
        return [(*block, *k) for k in np.ndindex(*self.layout.counts[len(block) :])]

    def items(self, block: Index) -> NDArray[np.int64]:
        """Return the numbers of the items of a block, in C order."""
        ends = (0,) * (len(self.layout.shape) - len(block))
        starts = self.layout.start((*block, *ends))
        lengths = self.block_shape(block)
        numbers = np.zeros((), np.int64)
        for start, length, whole in zip(starts, lengths, self.batch, strict=False):
            numbers = numbers[..., None] * whole + np.arange(start, start + length)
        return numbers.reshape(-1)

    def block_shape(self, block: Index) -> tuple[int, ...]:
        """Return how many items a block has along each batch axis."""
        return tuple(self.layout.lengths[axis][k] for axis, k in enumerate(block))


def kind_of_chunks(labels: Any) -> type[LabelChunks]:
    """Return which kind of chunks labels are in; Dask is imported for its own arrays only."""
    if hasattr(type(labels), "__dask_graph__"):
        name = "conncomp.chunked.measures.dask_labels", "DaskLabels"
    else:
        name = "conncomp.chunked.measures.volume_labels", "VolumeLabels"
    kind: type[LabelChunks] = getattr(import_module(name[0]), name[1])
    return kind


def check_image(array: Any, given: Any, shape: tuple[int, ...]) -> None:
    """Raise TypeError or ValueError unless an image is of numbers, and of the shape of labels."""
    check_kind(array, "biuf", given, "image", NUMBERS)
    if array.dtype.itemsize > 8:
        raise TypeError(f"image is of dtype {array.dtype}; it must be {NUMBERS}")
    if array.shape != shape:
        raise ValueError(f"image has shape {array.shape}; it must have that of labels, {shape}")
