"""Checks what every function on labels is given, and lets it work on items and on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from math import inf, prod
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import (
    INDEX_TYPES,
    INT32_MAX,
    as_batch_axes,
    as_number,
    as_sequence,
    check_dimensions,
    shown,
)
from conncomp._array_storage import contiguous, converted, extremes
from conncomp._arrays import (
    as_cupy,
    as_numpy_and_mask,
    caller_stream,
    check_gpu,
    check_kind,
    in_library,
    library_of,
    on_gpu,
)
from conncomp._containers import AxisLengths, function_for
from conncomp._core import native
from conncomp._memory import check_memory
from conncomp.kernels.cuda.components.tables import combine_labels
from conncomp.kernels.cuda.launcher import current_gpu

Labels = NDArray[Any]
Shape = tuple[int, ...]
Spacing = tuple[float, ...]  # the distance of neighbouring elements along each axis of an item
# "auto" is 0, for labels that cannot be those of a graph.
Background = int | Literal["auto"] | None

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Tables have a row for each number up to the largest label: labels far beyond the number of
# elements would make them far larger than the labels.
ROWS_PER_ELEMENT = 16
ROWS_ALWAYS = 1 << 24

# Bounds of products of lengths: times numbers of elements, they still fit floating point.
TINY, HUGE = 1e-280, 1e280


def where_labels_lie(function: _Function) -> _Function:
    """Let a function of labels of NumPy or CuPy work for every library, there and on its stream."""
    name = function.__name__.removeprefix("_")

    @wraps(function)
    def call(labels: Any, *arguments: Any, **options: Any) -> Any:
        if (other := function_for(labels, name)) is not None:
            given = signature(function).bind(labels, *arguments, **options)
            given.apply_defaults()
            return other(*given.args, **given.kwargs)
        library = library_of(labels)
        if not on_gpu(labels):
            return in_library(function(labels, *arguments, **options), library)
        placed = as_cupy(labels)
        with caller_stream(library, placed.device.id):
            return in_library(function(placed, *arguments, **options), library)

    return cast(_Function, call)


@dataclass(frozen=True)
class Items:
    """Labels of one array or of many, numbered so that one table has a row for each component.

    Label k of item n is ``n * rows + k`` in `labels`, contiguous, int32 or int64, of shape (*batch,
    *shape); else it is `background`, or -1 if there is none. Labels in results are of `dtype`.
    """

    labels: Labels
    background: int
    rows: int
    batch: Shape
    shape: Shape
    dtype: np.dtype[Any]

    @property
    def count(self) -> int:
        """The number of items."""
        return prod(self.batch)

    @property
    def all_rows(self) -> int:
        """The number of rows of all items."""
        return self.count * self.rows

    @property
    def length(self) -> int:
        """The number of elements of an item."""
        return prod(self.shape)

    @property
    def xp(self) -> Any:
        """NumPy or CuPy, the library of `labels`."""
        return library_at(self.labels)

    @property
    def described(self) -> tuple[Labels, int, int, Shape]:
        """The arguments of kernels for GPUs."""
        return self.labels, self.background, self.all_rows, self.shape

    @property
    def flat(self) -> tuple[Labels, Shape, int]:
        """The arguments of native code."""
        return self.labels.reshape(-1), self.shape, self.background

    @property
    def numbered(self) -> tuple[Labels, int, int, int]:
        """Labels, their background, and how many numbers and items there are."""
        return self.labels, self.background, self.all_rows, self.count


def library_at(array: Any) -> Any:
    """Return NumPy or CuPy, whichever an array is of."""
    return np if isinstance(array, np.ndarray) else current_gpu().xp


def as_contiguous(array: Any, dtype: np.dtype[Any]) -> Any:
    """Return an array of NumPy or CuPy in C order and of a dtype, itself if it is so."""
    on_cpu = isinstance(array, np.ndarray)
    return contiguous(array, dtype) if on_cpu else array.astype(dtype, order="C", copy=False)


def check_spacing(spacing: Any, ndim: int) -> Spacing:
    """Return the distance of neighbouring elements along each axis; 1 by default."""
    if spacing is None:
        return (1.0,) * ndim
    if isinstance(spacing, AxisLengths) and len(spacing) > ndim:
        spacing = spacing[-ndim:]  # without that of batch axes
    if isinstance(spacing, (str, bytes)) or not hasattr(spacing, "__iter__"):
        lengths = [as_number("spacing", spacing)] * ndim
    else:
        given = as_sequence("spacing", spacing)
        if len(given) != ndim:
            told = f"spacing={shown(spacing)} has {len(given)} lengths; it must"
            raise ValueError(f"{told} have one for each of the {ndim} axes of an item of labels")
        lengths = [as_number(f"spacing[{k}]", length) for k, length in enumerate(given)]
    if not all(0 < length < inf for length in lengths):
        raise ValueError(f"spacing={shown(spacing)} must be positive and finite")
    small, large = min(lengths, default=1.0), max(lengths, default=1.0)
    if not all(TINY < product < HUGE for product in (small * small, large * large, prod(lengths))):
        told = f"spacing={shown(spacing)}: volumes and moments have no room in floating point"
        raise ValueError(f"{told}; use another unit")
    return tuple(lengths)


def as_integers(labels: Any, name: str = "labels") -> tuple[Any, NDArray[np.bool_] | None]:
    """Return labels as an array of integers, of NumPy or CuPy, and which are masked."""
    given, mask = (labels, None) if on_gpu(labels) else as_numpy_and_mask(labels, name)
    if given.size == 0 and given.dtype.kind == "f" and not hasattr(labels, "dtype"):
        given = given.astype(np.int32)  # an empty list
    if given.dtype.kind not in "iu":
        check_labels(given, labels, name)
    return given, mask


def check_labels(array: Any, given: Any, name: str = "labels") -> None:
    """Raise TypeError unless `array`, made of what the user gave as labels, is of integers."""
    made = {"b": ", as conncomp.label makes of a mask", "f": ", as .astype(int) makes"}
    check_kind(array, "iu", given, name, f"of integers{made.get(array.dtype.kind, '')}")


def check_items(
    labels: Any, background: Background, batch_axes: Any, name: str = "labels", largest: Any = None
) -> Items:
    """Check labels, as `component_sizes` says, and number the components of all items apart.

    Masked labels become background. Labels on the GPU are CuPy's, and stay there; it waits for the
    GPU, to learn the largest, unless that is given. Then labels are from 0 to it.
    """
    placed = on_gpu(labels)
    given, mask = as_integers(labels, name)
    axes = as_batch_axes(batch_axes, given.ndim, name)
    batch, shape = given.shape[:axes], given.shape[axes:]
    empty, lowest = check_background(background, batch, shape)
    if not placed and not given.flags.c_contiguous:
        what = f"a contiguous copy of {name}, of shape {given.shape},"
        check_memory(what, given.size * INDEX_TYPES[given.dtype == np.int64].itemsize)
    present = given if mask is None else given[~mask]
    low, high = (0, -1) if largest is None else (0, largest)
    if largest is None and present.size:
        low, high = _range(present, lowest)
    if low < lowest:
        raise ValueError(f"{name} holds {low}; labels are not negative")
    _check_rows(high, batch, given.size, name)
    dtype = INDEX_TYPES[given.dtype == np.int64 or high > INT32_MAX]
    if mask is None:
        array = as_contiguous(given, dtype)
    else:
        array = converted(given, dtype)
        array[mask] = empty
    items = Items(array, empty, high + 1, batch, shape, dtype)
    return _number_apart(items, given) if axes else items


def check_place(image: Any, placed: bool, name: str = "image", labels: str = "labels") -> None:
    """Raise unless an image lies where labels do, on the current GPU if they are `placed`."""
    if on_gpu(image) != placed:
        places = "GPU memory", "main memory"
        told = f"{name} lies in {places[placed]}, but {labels} in {places[not placed]}"
        raise TypeError(f"{told}; copy one of them to where the other one is")
    if placed:
        check_gpu(as_cupy(image), name)


def as_mask(labels: Any) -> Any:
    """Return labels of bool as an array, masked ones False; None if they are of another type."""
    if type(labels) is np.ndarray or on_gpu(labels):
        return labels if labels.dtype.kind == "b" else None
    given, hidden = as_numpy_and_mask(labels, "labels")
    if given.dtype.kind != "b":
        return None
    return given if hidden is None else given & ~hidden


def check_mask(mask: Any, background: Background) -> None:
    """Raise unless a mask, given as labels, has axes and False for background."""
    check_dimensions(mask.ndim)
    if not (isinstance(background, str) and background == "auto"):
        check_background(background, (), mask.shape)
        if background != 0:
            told = f"background={shown(background)}, but labels is of bool"
            raise ValueError(f"{told}, whose background is False; leave background out")


def _number_apart(items: Items, given: Labels) -> Items:
    """Give each item numbers of its own, in a copy of the labels where they are still `given`."""
    labels, background, rows = items.labels, items.background, items.rows
    if labels.size == 0:  # which shares no memory with anything, however it was made
        return items
    dtype = INDEX_TYPES[items.all_rows > INT32_MAX]
    private = labels.dtype == dtype and not items.xp.may_share_memory(labels, given)
    combined = labels if private else items.xp.empty(labels.shape, dtype)
    if isinstance(labels, np.ndarray):
        flat = labels.reshape(-1), combined.reshape(-1)
        native.combine_labels(flat[0], items.length, background, rows, flat[1])
    else:
        combine_labels(current_gpu(), labels, items.length, background, rows, combined)
    return replace(items, labels=combined)


def items_of_rows(items: Items, rows: Any) -> tuple[Any, Any]:
    """Return the item of each row, as indices along the batch axes, and the label in the item."""
    batch = library_at(rows).empty((len(rows), len(items.batch)), np.int64)
    if not items.batch:
        return batch, rows
    number = rows // max(items.rows, 1)
    labels = rows - number * items.rows
    for axis in reversed(range(len(items.batch))):
        batch[:, axis] = number % items.batch[axis]
        number = number // items.batch[axis]
    return batch, labels


def most_rows(elements: int) -> int:
    """Return how many rows a table for labels of so many elements may have."""
    return max(ROWS_PER_ELEMENT * elements, ROWS_ALWAYS)


def _check_rows(high: int, batch: Shape, elements: int, name: str) -> None:
    items = prod(batch)
    if (high + 1) * items > most_rows(elements):
        what, given = f"its {elements} elements; renumber it", name
        if batch:
            what = f"{items} items of {elements // items} elements; renumber them"
            given = f"{name}, batch_axes={len(batch)}"
        told = f"{name} holds {high}, too large for {what} first"
        raise ValueError(f"{told}, with conncomp.relabel_consecutive({given})")


def check_background(background: Background, batch: Shape, shape: Shape) -> tuple[int, int]:
    """Return the background, -1 if there is none, and the lowest number that labels may be."""
    if isinstance(background, str) and background == "auto":
        if len(shape) == 1:
            subject = "each item of labels" if batch else "labels"
            of_graph = "background=None for labels of connected_components, where 0 is a component"
            told = f"{subject} has one axis, so background has to be given: {of_graph}"
            raise ValueError(f"{told}, or background=0 for those of label")
        return 0, 0
    known = background is None or isinstance(background, (int, np.integer))
    if not known or background not in (0, -1, None) or isinstance(background, bool):
        raise ValueError(f"background={shown(background)} must be 0, -1 or None")
    return (-1, 0) if background is None else (int(background), int(background))


def _range(labels: Any, lowest: int) -> tuple[int, int]:
    """Return the smallest label, or 0 if that is not negative, and the largest."""
    if lowest == 0 and not isinstance(labels, np.ndarray):
        # As unsigned numbers, negative ones are the largest: one pass finds out about both.
        high = int(labels.view(labels.dtype.str.replace("i", "u")).max())
        if high <= np.iinfo(labels.dtype).max:
            return 0, high
    low, high = extremes(labels)
    return min(low, 0), high
