"""Slabs of a volume that come one after another, as pieces of about the same size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import as_numpy_and_mask, check_kind
from conncomp._lazy import function_for, laid_beside


@dataclass(frozen=True)
class Slab:
    """Consecutive slices of a volume along its first axis."""

    values: NDArray[Any]  # masked, if some elements are
    image: NDArray[Any] | None  # of the same shape: what is measured within components
    ahead: int = 0  # how many slices at the beginning were the last of the slab before: 0 or 1

    def __len__(self) -> int:
        """How many slices are new."""
        return len(self.values) - self.ahead

    def part(self, begin: int, end: int, ahead: int = 0) -> Slab:
        """Return some of the slices."""
        image = None if self.image is None else self.image[begin:end]
        return Slab(self.values[begin:end], image, ahead)

    def copy(self) -> Slab:
        """Return the same in memory that nobody else has."""
        image = None if self.image is None else self.image.copy()
        return Slab(self.values.copy(), image, self.ahead)


def pieces_of(slabs: Iterator[Any], size: int | None, least: int = 1) -> Iterator[Slab]:
    """Yield the slices of all slabs, as many at once as have `size` elements, fewer at the end.

    There are `least` slices at once, however large they are, but at the end. Each piece begins with
    the last slice of the piece before. If there is no size, slabs are yielded as they come, after
    the two slices where two of them meet. What has to wait for more is copied: whoever makes slabs
    may fill the same array again.
    """
    waiting, ahead = list[Slab](), 0
    for slab in _checked(slabs):
        length = max(least, size // prod(slab.values.shape[1:])) if size else 1
        begin = 0
        if waiting:
            begin = min(len(slab), length + ahead - _slices(waiting))
            waiting.append(slab.part(0, begin))
            if _slices(waiting) < length + ahead:
                waiting[-1] = waiting[-1].copy()
                continue
            yield _joined(waiting, ahead)
            ahead = 1
        if size is None:
            length = max(1, len(slab) - begin)
        while len(slab) - begin >= length:
            yield slab.part(begin - ahead, begin + length, ahead)
            begin, ahead = begin + length, 1
        waiting = [slab.part(begin - ahead, len(slab)).copy()]
    if _slices(waiting) > ahead:
        yield _joined(waiting, ahead)


def _slices(parts: list[Slab]) -> int:
    """Return how many slices parts have together, new or not."""
    return sum(len(part.values) for part in parts)


def _joined(parts: list[Slab], ahead: int) -> Slab:
    """Return slabs that follow each other as one."""
    if len(parts) == 1:
        return replace(parts[0], ahead=ahead)
    values = [part.values for part in parts]
    masked = any(isinstance(array, np.ma.MaskedArray) for array in values)
    images = [part.image for part in parts if part.image is not None]
    return Slab(
        (np.ma.concatenate if masked else np.concatenate)(values),
        np.concatenate(images) if images else None,
        ahead,
    )


def _checked(slabs: Iterator[Any]) -> Iterator[Slab]:
    first, axes = None, None
    for number, given in enumerate(slabs):
        slab = _as_slab(given, f"slabs[{number}]", axes)
        if first is None:
            first, array = slab, given[0] if isinstance(given, tuple) else given
            axes = None if function_for(array, "in_order") is None else array[:0].copy()
        _check_alike(slab, first, f"slabs[{number}]")
        yield slab


def _as_slab(given: Any, name: str, axes: Any) -> Slab:
    """Return a slab with its axes in the order of those of an array of xarray, if there is one."""
    in_order = function_for(axes, "in_order")
    if not isinstance(given, tuple):
        named = given if in_order is None else in_order(axes, given, name, "slabs[0]", 1)
        return Slab(_as_values(named, name), None)
    if len(given) != 2:
        raise ValueError(
            f"{name} is a tuple of {len(given)}; a slab is an array, or a tuple of an array and "
            "the image to measure"
        )
    named, image = given
    if in_order is not None:
        named = in_order(axes, named, f"{name}[0]", "slabs[0]", 1)
    values = _as_values(named, f"{name}[0]")
    image = _as_values(laid_beside(named, image, f"{name}[1]", f"{name}[0]"), f"{name}[1]")
    if isinstance(image, np.ma.MaskedArray):
        raise ValueError(f"{name}[1], an image, has masked elements; mask those of the slab")
    if image.shape != values.shape:
        raise ValueError(
            f"{name} has an image of shape {image.shape}; it must have that of the slab, "
            f"{values.shape}"
        )
    return Slab(values, image)


def _as_values(given: Any, name: str) -> NDArray[Any]:
    values, mask = as_numpy_and_mask(given, name)
    check_kind(values, "biuf", given, name, "of bool, integer or floating dtype")
    if values.ndim == 0:
        raise ValueError(f"{name} is a scalar; it must have one dimension or more")
    if values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}; it must have a slice or more")
    return values if mask is None else np.ma.masked_array(values, mask)


def _check_alike(slab: Slab, first: Slab, name: str) -> None:
    """Raise unless a slab can follow the first one."""
    if slab.values.shape[1:] != first.values.shape[1:]:
        raise ValueError(
            f"{name} has shape {slab.values.shape}, but slabs[0] {first.values.shape}; all axes "
            "but the first must be of the same length"
        )
    if (slab.image is None) != (first.image is None):
        raise ValueError(f"only one of slabs[0] and {name} has an image; all must, or none")
    for array, model in ((slab.values, first.values), (slab.image, first.image)):
        if array is not None and model is not None and array.dtype != model.dtype:
            raise ValueError(
                f"{name} is of dtype {array.dtype}, but slabs[0] of {model.dtype}; they must be of "
                "one dtype"
            )
