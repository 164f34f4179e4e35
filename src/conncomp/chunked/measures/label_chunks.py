"""Labels in chunks: which chunks and items there are. Subclasses read chunks, call and merge.

Calls become tasks in Dask arrays (``dask_labels.py``), and are made block by block in files
(``volume_labels.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from conncomp._arguments import as_batch_axes
from conncomp.chunked.layout import Index, Layout, items_at
from conncomp.chunked.measures.numbered import Integers, Labelling
from conncomp.chunked.tree import Function
from conncomp.components._labels import Background, check_background

Lengths = tuple[tuple[int, ...], ...]  # of chunks along each axis
MERGED = 32  # results that one call merges


class LabelChunks:
    """Labels in chunks, of one element or more, none below `lowest`; subclasses are their kinds."""

    of_no_element: ClassVar[Function]  # for Dask arrays alone: a volume in files has elements

    def __init__(
        self, array: Any, lengths: Lengths, background: Background, batch_axes: int
    ) -> None:
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
