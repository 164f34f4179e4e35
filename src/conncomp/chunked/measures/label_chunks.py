"""Labels in chunks, as functions of them see these: what reads a chunk, calls and merges.

Calls become tasks in Dask arrays (``dask_labels.py``), and are made block by block in files
(``volume_labels.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_batch_axes
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.measures.measuring import Labelling
from conncomp.components._labels import Background, check_background, check_labels

# ``check(array, given, shape)`` raises unless an array beside labels, made of what was given, fits.
Check = Callable[[Any, Any, tuple[int, ...]], None]

MERGED = 32  # results that one call merges


class LabelChunks:
    """Labels in chunks, of one element or more, none below `lowest`; subclasses are their kinds."""

    def __init__(self, array: Any, lengths: Any, background: Background, batch_axes: int) -> None:
        self.array, shape = array, array.shape
        batch = as_batch_axes(batch_axes, len(shape), "labels")
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

    def chunks(self, block: Index) -> list[Index]:
        """Return the indices of the chunks of a block."""
        return [(*block, *k) for k in np.ndindex(*self.layout.counts[len(block) :])]

    def items(self, block: Index) -> NDArray[np.int64]:
        """Return the numbers of the items of a block, in C order."""
        ends = (0,) * (len(self.layout.shape) - len(block))
        place = self.layout.place((*block, *ends))[: len(block)]
        numbers = np.zeros((), np.int64)
        for part, whole in zip(place, self.batch, strict=False):
            numbers = numbers[..., None] * whole + np.arange(part.start, part.stop)
        return numbers.reshape(-1)

    def block_shape(self, block: Index) -> tuple[int, ...]:
        """Return how many items a block has along each batch axis."""
        return tuple(self.layout.lengths[axis][k] for axis, k in enumerate(block))


def kind_of_chunks(labels: Any) -> Any:
    """Return which `LabelChunks` labels are in; Dask is imported for its own arrays only."""
    if hasattr(type(labels), "__dask_graph__"):
        return import_module("conncomp.chunked.measures.dask_labels").DaskLabels
    return import_module("conncomp.chunked.measures.volume_labels").VolumeLabels


def check_second(array: Any, given: Any, shape: tuple[int, ...]) -> None:
    """Raise TypeError or ValueError unless labels are integers, and of the shape of the first."""
    check_labels(array, given, "labels_b")
    if array.shape != shape:
        raise ValueError(
            f"labels_b has shape {array.shape}; it must have that of labels_a, {shape}"
        )
