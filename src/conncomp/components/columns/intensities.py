"""Images whose values are measured within components, as kernels read them."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp._arrays import as_cupy, as_numpy_and_mask, check_kind
from conncomp.components._labels import Items, as_contiguous, check_place
from conncomp.kernels.cuda.launcher import DType

NUMBERS = "of bool, integers or floating-point numbers of 64 bits or fewer"
REMEDIES = {"biuf": "float", "biu": "'int32'"}  # of sums that need too many bits
KINDS = {"image": ("biuf", NUMBERS)}
KINDS |= dict.fromkeys(("classes", "by"), ("biu", "of bool or integers"))

# Types without a kernel, and one with a kernel that holds all their values.
WIDER = {"i1": "i2", "u4": "i8", "f2": "f4"}
NARROW = ("u1", "u2", "i2")  # whose sums are of 64 bits

# Sums have 128 bits, of which two are left free. Units need more bits than `Units` in
# core/fixed_point.h has above, and no more than are exact twice as far.
SUM_BITS, FEWEST_BITS, MOST_BITS = 126, 43, 84


class Intensities(NamedTuple):
    """Values, contiguous and of a type that kernels know, and what is made of them.

    `dtype` and `given_sums` are the user's types, `sums` that of kernels. The unit of a sum is
    ``2**bits`` times smaller than the largest value.
    """

    values: Any
    dtype: DType
    sums: DType
    given_sums: DType
    bits: int


def check_images(image: Any, items: Items, with_channels: bool) -> tuple[list[Intensities], bool]:
    """Return an image, or those of its channels, and whether its last axis is of channels."""
    if image is None:
        return [], False
    given, shape = _as_array(image, items, "image"), (*items.batch, *items.shape)
    has_channels = given.ndim == len(shape) + 1 and given.shape[:-1] == shape
    if with_channels and has_channels and given.shape[-1] > 0:
        return [check_image(given[..., channel], items) for channel in range(given.shape[-1])], True
    return [_image_of(given, image, items, "image")], False


def check_image(image: Any, items: Items, name: str = "image") -> Intensities:
    """Check the image, or whatever the argument's name is, that lies beside labels."""
    return _image_of(_as_array(image, items, name), image, items, name)


def check_values(array: Any, given: Any, shape: tuple[int, ...], name: str = "image") -> None:
    """Raise TypeError or ValueError unless values are of numbers, and of the shape of labels."""
    kinds, numbers = KINDS[name]
    check_kind(array, kinds, given, name, numbers)
    if array.dtype.itemsize > 8:
        raise TypeError(f"{name} is of dtype {array.dtype}; it must be {numbers}")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; it must have that of labels, {shape}")


def _image_of(given: Any, image: Any, items: Items, name: str) -> Intensities:
    check_values(given, image, (*items.batch, *items.shape), name)
    room = room_of(items.shape)
    dtype = given.dtype.newbyteorder("=")
    values = _as_values(given, dtype, room)
    kind = values.dtype.kind
    if kind != "f" and 8 * values.dtype.itemsize + room > SUM_BITS:
        told = f"{name} is of {dtype} and an item has {items.length} elements"
        remedy = f"pass {name}.astype({REMEDIES[KINDS[name][0]]})"
        raise ValueError(f"{told}, too many for exact sums of so large numbers; {remedy}")
    bits = max(FEWEST_BITS, min(MOST_BITS, SUM_BITS - room))
    return Intensities(values, dtype, _type_of_sums(kind), _type_of_sums(dtype.kind), bits)


def _as_array(image: Any, items: Items, name: str) -> Any:
    placed = items.xp is not np
    check_place(image, placed, name)
    if placed:
        return as_cupy(image)
    given, mask = as_numpy_and_mask(image, name)
    if mask is not None:
        where = f"{name}.mask" if isinstance(image, np.ma.MaskedArray) else "mask"
        told = f"{name} has masked elements or nulls; mask the labels there, which makes them"
        raise ValueError(f"{told} background: numpy.ma.masked_array(labels, {where})")
    return given


def _as_values(given: Any, dtype: DType, room: int) -> Any:
    name = f"{dtype.kind}{dtype.itemsize}"
    wanted = dtype if dtype.kind == "b" else np.dtype(WIDER.get(name, name))
    values = as_contiguous(given, wanted)
    if dtype.kind == "b":
        values = values.view(np.uint8)
    narrow = f"{values.dtype.kind}{values.dtype.itemsize}" in NARROW
    return values if is_narrow(values.dtype, room) or not narrow else values.astype(np.int32)


def room_of(shape: tuple[int, ...]) -> int:
    """Return how many bits a sum of coordinates of an item needs, beside one of values."""
    return prod(shape).bit_length() + max(shape).bit_length()


def is_narrow(dtype: DType, room: int) -> bool:
    """Whether values are of a type whose sums, with so much room beside, have 64 bits."""
    return f"{dtype.kind}{dtype.itemsize}" in NARROW and 8 * dtype.itemsize + room <= 62


@cache
def _type_of_sums(kind: str) -> DType:
    """Return that which NumPy gives for integers; float64 for all floating-point numbers."""
    return np.dtype({"f": np.float64, "u": np.uint64}.get(kind, np.int64))
