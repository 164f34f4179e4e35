"""A chunk with one layer more of the chunks before it: what lies across its first sides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import as_cupy, on_gpu
from conncomp.chunked.labelling import on_host
from conncomp.chunked.layout import Index, Layout
from conncomp.components._labels import library_at

Layers = dict[int, NDArray[Any]]
INT64_MAX = int(np.iinfo(np.int64).max)


def last_layers(axes: Sequence[int], empty: int, labels: Any) -> Layers:
    """Return the last layer of a chunk along each of some axes, without the axis."""
    whole = without_mask(empty, labels)
    # Copies, as a view would keep the whole chunk in memory.
    return {axis: np.array(on_host(whole[(slice(None),) * axis + (-1,)])) for axis in axes}


def without_mask(empty: int, labels: Any) -> Any:
    """Return labels as an array of NumPy or CuPy, with a value for masked elements."""
    if on_gpu(labels):
        return as_cupy(labels)
    if not isinstance(labels, np.ma.MaskedArray):
        return labels
    check_fits(labels.compressed())
    filled: Any = labels.astype(np.int64)
    return filled.filled(empty)


def check_fits(labels: NDArray[Any], name: str = "labels") -> None:
    """Raise ValueError if one of some labels is too large for int64, which those of rows are."""
    if labels.dtype.kind == "u" and labels.size and labels.max() > INT64_MAX:
        raise ValueError(
            f"{name} holds {labels.max()}, too large for int64; renumber it first, with "
            f"conncomp.relabel_consecutive({name})"
        )


def preceding(layout: Layout, index: Index, most: int) -> dict[Index, Index]:
    """Return the chunks that precede one, by the axes with several chunks along which they do.

    These are `most` at once, at most.
    """
    chunks = {}
    for moves in product((0, -1), repeat=len(layout.crossed)):
        if not 0 < -sum(moves) <= most:
            continue
        for _, other in layout.neighbours(index, (moves,)):
            axes = tuple(k for k, move in zip(layout.crossed, moves, strict=True) if move)
            chunks[axes] = other
    return chunks


def with_layers(empty: int, labels: Any, parts: dict[Index, Layers]) -> Any:
    """Return a chunk with one layer more along the axes where another chunk precedes it.

    `parts` has the `last_layers` of such chunks by these axes; masked elements become `empty`.
    """
    whole = without_mask(empty, labels)
    if not parts:
        return whole
    more = {axes[0] for axes in parts if len(axes) == 1}
    begins = tuple(int(axis in more) for axis in range(whole.ndim))
    shape = tuple(map(sum, zip(begins, whole.shape, strict=True)))
    extended = library_at(whole).empty(shape, whole.dtype)
    extended[tuple(slice(begin, None) for begin in begins)] = whole
    for axes, layers in parts.items():
        place = tuple(
            0 if axis in axes else slice(begin, None) for axis, begin in enumerate(begins)
        )
        inside = tuple(
            -1 if axis in axes else slice(None) for axis in range(whole.ndim) if axis != axes[0]
        )
        extended[place] = library_at(whole).asarray(layers[axes[0]][inside])
    return extended
