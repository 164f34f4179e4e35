"""Checks what every function on labels is given, and lets it work on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INT32_MAX, shown
from conncomp._arrays import (
    as_cupy,
    as_numpy_and_mask,
    caller_stream,
    check_kind,
    contiguous,
    converted,
    extremes,
    from_cupy,
    library_of,
    on_gpu,
)

Labels = NDArray[Any]
# "auto" is 0, for labels that cannot be those of a graph.
Background = int | Literal["auto"] | None

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Tables have a row for each number up to the largest label. Labels far beyond the number of
# elements, which no labelling gives, would make tables far larger than the labels.
ROWS_PER_ELEMENT = 16
ROWS_ALWAYS = 1 << 24


def where_labels_lie(function: _Function) -> _Function:
    """Let a function of labels on the CPU or of CuPy's work for every library on a GPU.

    It works on the stream that is current in the library of the labels, and the arrays that it
    returns, one or a tuple, become that library's.
    """

    @wraps(function)
    def call(labels: Any, *arguments: Any, **options: Any) -> Any:
        if not on_gpu(labels):
            return function(labels, *arguments, **options)
        library, placed = library_of(labels), as_cupy(labels)
        with caller_stream(library, placed.device.id):
            found = function(placed, *arguments, **options)
            if isinstance(found, tuple):
                return tuple(from_cupy(array, library) for array in found)
            return from_cupy(found, library)

    return cast(_Function, call)


def check_labels(labels: Any, background: Background) -> tuple[Labels, int, int]:
    """Return contiguous labels of int32 or int64, the background (-1: none), and the rows needed.

    Masked labels become background. Labels on the GPU are CuPy's, and stay there; it waits for the
    GPU, to learn the largest.

    Raises
    ------
    TypeError
        If `labels` is not of integers.
    ValueError
        If a label is negative and not background, or far larger than the number of elements, or
        `background` is not 0, -1 or None, or has to be given and is not.
    """
    placed = on_gpu(labels)
    array, mask = (labels, None) if placed else as_numpy_and_mask(labels, "labels")
    if array.size == 0 and array.dtype.kind == "f" and not hasattr(labels, "dtype"):
        array = array.astype(np.int32)  # an empty list
    check_kind(array, "iu", labels, "labels", "of integers")
    ground = _check_background(background, array.ndim)
    present = array if mask is None else array[~mask]
    low, high = _range(present, ground) if present.size else (0, -1)
    if low < (-1 if ground == -1 else 0):
        raise ValueError(f"labels holds {low}; labels are not negative")
    if high >= max(ROWS_PER_ELEMENT * array.size, ROWS_ALWAYS):
        raise ValueError(
            f"labels holds {high}, too large for its {array.size} elements; renumber it first, "
            "with numpy.unique(labels, return_inverse=True)"
        )
    dtype = np.int64 if array.dtype == np.int64 or high > INT32_MAX else np.int32
    empty = -1 if ground is None else ground
    if placed:
        array = array.astype(dtype, order="C", copy=False)
    elif mask is None:
        array = contiguous(array, dtype)
    else:
        array = converted(array, dtype)
        array[mask] = empty
    return array, empty, high + 1


def _check_background(background: Background, ndim: int) -> int | None:
    """Return the background, or None if there is none."""
    if isinstance(background, str) and background == "auto":
        if ndim == 1:
            raise ValueError(
                "labels has one axis, so background has to be given: background=None for labels of "
                "connected_components, where 0 is a component, or background=0 for those of label"
            )
        return 0
    known = background is None or isinstance(background, (int, np.integer))
    if not known or background not in (0, -1, None) or isinstance(background, bool):
        raise ValueError(f"background={shown(background)} must be 0, -1 or None")
    return None if background is None else int(background)


def _range(labels: Any, background: int | None) -> tuple[int, int]:
    """Return the smallest label, or 0 if that is not negative, and the largest."""
    if background != -1 and not isinstance(labels, np.ndarray):
        # As unsigned numbers, negative ones are the largest: one pass finds out about both.
        high = int(labels.view(labels.dtype.str.replace("i", "u")).max())
        if high <= np.iinfo(labels.dtype).max:
            return 0, high
    low, high = extremes(labels)
    return min(low, 0), high
